//! The crates of the host lie above one another: each may use those below it and no other. Libraries
//! know nothing of the command line.

#[path = "common/environment.rs"]
mod environment;

use std::process::Command;

use environment::root;

/// From the lowest to the highest.
const LAYERS: [&str; 12] = [
    "gramer-machine",
    "gramer-graph",
    "gramer-pattern",
    "gramer-engine",
    "gramer-picture",
    "gramer-accelerator",
    "gramer-gpu",
    "gramer-many",
    "gramer-cluster",
    "gramer",
    "gramer-laboratory",
    "gramer-cli",
];
/// What only the command line may use.
const OF_THE_COMMAND_LINE: [&str; 5] =
    ["clap", "clap_complete", "clap_mangen", "comfy-table", "indicatif"];

/// Libraries that name no option of the command line, and their files that give arguments to another
/// program or are about the program `gramer`.
const LIBRARIES: [&str; 8] =
    ["graph", "pattern", "engine", "picture", "accelerator", "many", "cluster", "laboratory"];
const OF_OTHER_PROGRAMS: [&str; 10] = [
    "accelerator/src/emulated/mod.rs",
    "accelerator/src/xclbin/build.rs",
    "accelerator/src/launch/setup.rs",
    "accelerator/src/xclbin/mod.rs",
    "laboratory/src/explore/mod.rs",
    "laboratory/src/explore/parameter.rs",
    "laboratory/src/explore/sample.rs",
    "laboratory/src/explore/simulator.rs",
    "laboratory/src/paper/waits.rs",
    "laboratory/src/paper/sampling.rs",
];

#[test]
fn libraries_name_no_option_and_print_nothing() {
    let host = root().join("host");
    let mut folders: Vec<_> = LIBRARIES.iter().map(|name| host.join(name).join("src")).collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // A module's tests in a file of their own.
            if path.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let own = text.split("#[cfg(test)]").next().unwrap();
            let shown = path.strip_prefix(&host).unwrap().to_str().unwrap().to_string();
            for (number, line) in own.lines().enumerate() {
                let line = line.trim_start();
                if line.starts_with("//") {
                    continue;
                }
                let option = line
                    .match_indices("--")
                    .any(|(at, _)| line[at + 2..].starts_with(|c: char| c.is_ascii_lowercase()));
                assert!(
                    !option || OF_OTHER_PROGRAMS.contains(&shown.as_str()),
                    "{shown}:{}: a library names an option: {line}",
                    number + 1
                );
                // What a fault of ours says before the program ends is the one exception.
                let prints = ["println!", "print!("].iter().any(|word| line.contains(word));
                assert!(
                    !prints || shown == "graph/src/panics.rs",
                    "{shown}:{}: a library prints: {line}",
                    number + 1
                );
            }
        }
    }
    assert!(files > 50);
}

#[test]
fn no_crate_depends_on_one_above_it() {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut seen = 0;
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let Some(level) = LAYERS.iter().position(|layer| *layer == name) else { continue };
        seen += 1;
        for dependency in package["dependencies"].as_array().unwrap() {
            // Tests may use what they like.
            if dependency["kind"] == "dev" {
                continue;
            }
            let used = dependency["name"].as_str().unwrap();
            if let Some(other) = LAYERS.iter().position(|layer| *layer == used) {
                assert!(other < level, "{name} depends on {used}, which is above it");
            }
            assert!(
                name == "gramer-cli" || !OF_THE_COMMAND_LINE.contains(&used),
                "{name} is a library and depends on {used}"
            );
        }
    }
    assert_eq!(seen, LAYERS.len());
}

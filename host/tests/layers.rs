//! The crates of the host lie above one another: each may use those below it and no other. Libraries
//! know nothing of the command line.

use std::path::Path;
use std::process::Command;

use environment::root;
use gramer_testing::environment;

/// From the lowest to the highest.
const LAYERS: [&str; 14] = [
    "gramer-machine",
    "gramer-base",
    "gramer-graph",
    "gramer-pattern",
    "gramer-engine",
    "gramer-cpu",
    "gramer-picture",
    "gramer-accelerator",
    "gramer-gpu",
    "gramer-crew",
    "gramer-cluster",
    "gramer",
    "gramer-cli",
    "gramer-laboratory",
];
/// What only the crates of programs may use.
const OF_THE_COMMAND_LINE: [&str; 6] =
    ["clap", "clap_complete", "clap_mangen", "comfy-table", "indicatif", "tracing-subscriber"];

/// Libraries that name no option of the command line, and their files that give arguments to another
/// program or are about the program `gramer`.
///
/// The laboratory is the program `gramer-lab`: its commands are no library.
const LIBRARIES: [&str; 12] = [
    "machine",
    "base",
    "graph",
    "pattern",
    "engine",
    "cpu",
    "picture",
    "accelerator",
    "gpu",
    "crew",
    "cluster",
    "laboratory",
];
const OF_OTHER_PROGRAMS: [&str; 12] = [
    "accelerator/src/emulated/mod.rs",
    "accelerator/src/xclbin/build.rs",
    "accelerator/src/launch/folder.rs",
    "accelerator/src/xclbin/mod.rs",
    "laboratory/src/explore/mod.rs",
    "laboratory/src/explore/parameter.rs",
    "laboratory/src/explore/sample.rs",
    "laboratory/src/explore/simulator.rs",
    "laboratory/src/paper/lab.rs",
    "laboratory/src/paper/waits.rs",
    "laboratory/src/paper/sampling.rs",
    // Properties of CSS begin as options do.
    "picture/src/page.rs",
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
                if !path.ends_with("laboratory/src/commands") {
                    folders.push(path);
                }
                continue;
            }
            let rust = path.extension().is_some_and(|end| end == "rs");
            // A module's tests in their own file.
            if !rust || path.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("#![cfg(test)]") {
                continue;
            }
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
                let prints = ["println!", "print!("].iter().any(|word| line.contains(word));
                assert!(!prints, "{shown}:{}: a library prints: {line}", number + 1);
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
                matches!(name, "gramer-cli" | "gramer-laboratory")
                    || !OF_THE_COMMAND_LINE.contains(&used),
                "{name} is a library and depends on {used}"
            );
        }
    }
    assert_eq!(seen, LAYERS.len());
}

/// All text of the Rust files under a folder, without other packages.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let package = path.join("Cargo.toml").is_file();
        if path.is_dir() && !package && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *text += &std::fs::read_to_string(&path).unwrap();
        }
    }
}

/// Whether a crate's name stands in a text, as a word.
fn names(text: &str, name: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        !part(text[..at].chars().next_back()) && !part(text[at + name.len()..].chars().next())
    })
}

#[test]
fn no_crate_depends_on_what_it_does_not_use() {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (mut seen, mut idle) = (0, vec![]);
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let (mut own, mut all) = (String::new(), String::new());
        sources(&folder.join("src"), &mut own);
        sources(folder, &mut all);
        for dependency in package["dependencies"].as_array().unwrap() {
            let renamed = dependency["rename"].as_str();
            let used = renamed.or(dependency["name"].as_str()).unwrap().replace('-', "_");
            // The library of a program counts as the program if it has no other source.
            let text = if dependency["kind"] == "dev" || own.is_empty() { &all } else { &own };
            seen += 1;
            if !names(text, &used) {
                idle.push(format!("{name} depends on {used} and doesn't use it"));
            }
        }
    }
    assert!(idle.is_empty(), "{}", idle.join("\n"));
    assert!(seen > 100, "{seen}");
}

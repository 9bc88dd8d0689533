//! The crates of the host lie above one another: each may use those below it and no other. Libraries
//! know nothing of the command line.

#[path = "common/environment.rs"]
mod environment;

use std::process::Command;

use environment::root;

/// From the lowest to the highest.
const LAYERS: [&str; 9] = [
    "gramer-machine",
    "gramer-graph",
    "gramer-pattern",
    "gramer-engine",
    "gramer-accelerator",
    "gramer-gpu",
    "gramer",
    "gramer-laboratory",
    "gramer-cli",
];
/// What only the command line may use.
const OF_THE_COMMAND_LINE: [&str; 5] =
    ["clap", "clap_complete", "clap_mangen", "comfy-table", "indicatif"];

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

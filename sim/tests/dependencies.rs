//! The emulator must not be able to compute a result with the engines that it is checked against.

use std::process::Command;

/// The crates that a build of a package contains.
fn crates(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--locked", "--offline", "--package", package])
        .args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .output()
        .expect("cargo runs");
    let text = String::from_utf8(output.stdout).expect("cargo prints text");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_string())).collect()
}

#[test]
fn the_emulator_does_not_contain_the_mining_engines() {
    let emulator = crates("gramer-sim");
    assert!(emulator.iter().any(|name| name == "gramer-machine"), "{emulator:?}");
    assert!(!emulator.iter().any(|name| name == "gramer"), "{emulator:?}");
    // The program that runs graphs on the core reads them with the host, so the name is right.
    assert!(crates("gramer-laboratory").iter().any(|name| name == "gramer"));
}

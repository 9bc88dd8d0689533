//! Files are written by `gramer_base::output`, which replaces nothing unasked. What writes in another way writes no
//! file that a user names, and is listed here with the reason.

use std::path::{Path, PathBuf};

use environment::root;
use gramer_testing::environment;

/// What opens a file for writing, gives it another name, or replaces one unasked.
const CALLS: [&str; 13] = [
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "hard_link(",
    "File::create(",
    "File::create_new(",
    "File::options(",
    "OpenOptions",
    "NamedTempFile",
    "persist(",
    "generate_to(",
    "image::write(",
    "write_own(",
];

/// Sources that may.
const OTHERS: [(&str, &str); 20] = [
    ("host/accelerator/src/emulated/resident.rs", "a private temporary folder"),
    ("host/accelerator/src/launch/folder.rs", "a private temporary folder"),
    ("host/accelerator/src/launch/setup.rs", "a private temporary folder"),
    ("host/gpu/src/program.rs", "a cache, by the hash of its content"),
    ("host/graph/src/image/mod.rs", "the library's own function, which says that it replaces"),
    ("host/base/src/input.rs", "opens for reading"),
    ("host/base/src/output/leftover.rs", "the way of all outputs"),
    ("host/base/src/output/mod.rs", "the way of all outputs"),
    ("host/base/src/output/stream.rs", "a pipe or a device"),
    ("host/base/src/standard_output.rs", "appends what drivers print to a log"),
    ("host/laboratory/src/explore/simulator.rs", "a cache, by the hash of its content"),
    (
        "host/laboratory/src/paper/published.rs",
        "a test, which redraws plots of the repository when asked",
    ),
    ("host/laboratory/src/paper/waits.rs", "a temporary folder"),
    ("host/laboratory/src/paper_gpu/unfinished.rs", "a state, which is checked before"),
    ("sim/src/cache.rs", "a cache, by the hash of its content"),
    ("sim/src/compile.rs", "a private temporary folder"),
    ("sim/src/emulator/main.rs", "appends to a log"),
    ("sim/src/model/build.rs", "a cache, by the hash of its content"),
    ("sim/src/verilated.rs", "a private temporary folder"),
    ("host/cli/build.rs", "the folder of Cargo's for a build"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["target", "tests", "examples", "benches", "testing"].contains(&name) {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

#[test]
fn outputs_are_written_in_one_way() {
    let root = root();
    let mut files = vec![];
    ["host", "sim"].iter().for_each(|folder| sources(&root.join(folder), &mut files));
    assert!(files.len() > 200);
    let mut seen = [false; OTHERS.len()];
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let shown = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let listed = OTHERS.iter().position(|(other, _)| *other == shown);
        for (number, line) in own.lines().enumerate() {
            let code = line.trim_start();
            // Files without a name of the module `budget`.
            let code = code.replace("ArrayFile::create(", "");
            let Some(call) = CALLS.iter().find(|call| code.contains(**call)) else { continue };
            if code.starts_with("//") {
                continue;
            }
            match listed {
                Some(at) => seen[at] = true,
                None => panic!(
                    "{shown}:{}: `{call}` writes a file: use gramer_base::output, or say here why not",
                    number + 1
                ),
            }
        }
    }
    for ((other, _), seen) in OTHERS.iter().zip(seen) {
        assert!(seen, "{other} writes nothing");
    }
}

//! The image and the in-streams of the set core are those that `scripts/set_model.py` writes, byte for byte. That
//! script was written from docs/reference/set-core.md alone.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Edges of a graph as text.
fn text(edges: impl IntoIterator<Item = (u32, u32)>) -> String {
    edges.into_iter().fold(String::new(), |mut text, (u, v)| {
        let _ = writeln!(text, "{u} {v}");
        text
    })
}

fn complete(n: u32) -> String {
    text((0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))))
}

/// Runs a program in a folder; what it prints on standard error if it fails.
fn run(program: &str, words: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(words).current_dir(folder).output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn image_and_in_streams_are_those_of_the_reference_model() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let script = root.join("scripts/set_model.py");
    let (script, machine) = (script.to_str().unwrap(), root.join("machines/set.yaml"));
    let karate = std::fs::read_to_string(root.join("docs/pictures/karate.txt")).unwrap();
    let graphs = [complete(5), complete(17), complete(254), karate];
    for (at, graph) in graphs.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("g.txt"), graph).unwrap();
        let words = ["g.txt", "--image-out", "model.image", "--in-stream-out", "model.stream"];
        run("python3", &[&["-B", script], &words[..]].concat(), folder.path()).unwrap();
        let words = ["simulate", "clique", "-k", "3", "g.txt", "--machine"];
        let outputs = ["--image-out", "image", "--in-stream-out", "stream"];
        let words = [&words[..], &[machine.to_str().unwrap()], &outputs].concat();
        run(env!("CARGO_BIN_EXE_gramer-lab"), &words, folder.path()).unwrap();
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert!(read("image") == read("model.image"), "graph {at}: the images differ");
        for cluster in ["stream.0", "stream.1"] {
            let own = read(cluster);
            assert!(own.len() % 64 == 0 && own.len() >= 128, "{cluster}: whole beats");
            assert!(own == read(&format!("model.{cluster}")), "graph {at}: {cluster} differs");
        }
        let again = run(env!("CARGO_BIN_EXE_gramer-lab"), &words, folder.path()).unwrap_err();
        assert!(again.contains("image: is there already"), "{again}");
    }
}

#[test]
fn only_the_set_core_has_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("g.txt"), complete(4)).unwrap();
    let words = ["simulate", "clique", "-k", "3", "g.txt", "--machine"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let machine = root.join("machines/small.yaml");
    let words = [&words[..], &[machine.to_str().unwrap(), "--image-out", "i"]].concat();
    let said = run(env!("CARGO_BIN_EXE_gramer-lab"), &words, folder.path()).unwrap_err();
    assert!(said.contains("--image-out and --in-stream-out are of the set core"), "{said}");
}

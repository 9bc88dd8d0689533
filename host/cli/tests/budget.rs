//! `gramer mine --memory`: graphs that are larger than the memory that a run may take, and images with
//! compressed rows, which give the same answers.

use std::path::Path;
use std::process::Command;

/// A run that must succeed.
fn gramer(args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_gramer")).args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {stderr}");
    output.stdout
}

/// Standard error of a run that must fail with this code.
fn fails(args: &[&str], code: i32) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gramer")).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The counts of an answer in JSON.
fn counts(answer: &[u8]) -> serde_json::Value {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap();
    assert_eq!(answer["complete"], true, "{answer}");
    answer["results"].clone()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn answers_are_the_same_with_little_memory_and_compressed_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (plain, packed, input) = (path("p.gramer"), path("c.gramer"), path("i.gramer"));
    gramer(&["graph", "generate", "rmat", "--scale", "9", "--edge-factor", "6", &plain]);
    gramer(&["graph", "convert", "--compress", &plain, &packed]);
    gramer(&["graph", "convert", "--order", "input", &plain, &input]);
    let sizes = [&plain, &packed].map(|file| std::fs::metadata(file).unwrap().len());
    assert!(2 * sizes[1] < sizes[0], "{sizes:?}");
    for task in [
        &["clique", "-k", "3"][..],
        &["clique", "-k", "4"],
        &["clique", "-k", "6"],
        &["clique", "-k", "3", "--up-to", "5"],
        &["clique", "--maximum"],
        &["clique", "--maximal"],
        &["motif", "-k", "3"],
        &["motif", "-k", "4"],
        &["motif", "-k", "4", "--induced", "edge"],
        &["motif", "-k", "5"],
        &["match", "--pattern", "house"],
        &["match", "--pattern", "house", "--induced", "vertex"],
    ] {
        let mine = |graph: &str, more: &[&str]| {
            let all = [&["mine"], task, &["--json", graph], more].concat();
            counts(&gramer(&all))
        };
        let expected = mine(&plain, &[]);
        assert_eq!(mine(&packed, &[]), expected, "{task:?}");
        for graph in [&plain, &packed, &input] {
            for threads in ["1", "3"] {
                let limited = ["--memory", "32M", "--threads", threads, "--spill", &path("")];
                assert_eq!(mine(graph, &limited), expected, "{task:?} {graph}");
            }
        }
    }
    // Nothing stays in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn lists_are_the_same_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (plain, packed) = (path("p.gramer"), path("c.gramer"));
    gramer(&["graph", "generate", "er", "--vertices", "80", "--edges", "700", &plain]);
    gramer(&["graph", "convert", "--compress", &plain, &packed]);
    let lists = [(&plain, None), (&packed, None), (&plain, Some("64M")), (&packed, Some("64M"))];
    let lists = lists.map(|(graph, memory)| {
        let limit = memory.map_or(vec![], |memory| vec!["--memory", memory]);
        let args = ["mine", "clique", "-k", "4", graph, "--list", "-", "--list-format", "tsv"];
        let found = String::from_utf8(gramer(&[&args[..], &limit].concat())).unwrap();
        let mut lines: Vec<String> = found.lines().map(String::from).collect();
        lines.sort_unstable();
        lines
    });
    assert!(lists[0].len() > 50, "{}", lists[0].len());
    assert!(lists.iter().all(|list| *list == lists[0]));
}

#[test]
fn edge_labels_and_ids_stay_beside_compressed_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (text, packed, back) = (path("g.lg"), path("c.gramer"), path("back.lg"));
    let generated = ["graph", "generate", "er", "--vertices", "40", "--edges", "200"];
    let labels = ["--vertex-labels", "3", "--edge-labels", "4", &text];
    gramer(&[&generated[..], &labels].concat());
    gramer(&["graph", "convert", "--compress", &text, &packed]);
    gramer(&["graph", "convert", &packed, &back]);
    assert_eq!(std::fs::read(&text).unwrap(), std::fs::read(&back).unwrap());
}

#[test]
fn what_has_no_bound_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (text, image) = (path("g.txt"), path("g.gramer"));
    std::fs::write(&text, "0 1\n1 2\n2 0\n").unwrap();
    gramer(&["graph", "convert", &text, &image]);
    let none = path("none.gramer");
    let triangles = ["mine", "clique", "-k", "3"];
    for (args, code, message) in [
        (
            vec![&text, "--memory", "1G"],
            1,
            "g.txt: memory is limited, and only the file of an image",
        ),
        (vec!["-", "--memory", "1G"], 1, "only the file of an image"),
        (vec![&image, "--memory", "1M"], 1, "takes at least 25M of memory"),
        (vec![&image, "--memory", "much"], 2, "a size is a number"),
        (vec![&none, "--spill", "."], 2, "--spill goes with --memory"),
        (
            vec![&none, "--memory", "1G", "--spill", "/none"],
            2,
            "--spill /none: there is no such folder",
        ),
        (vec![&none, "--memory", "1G", "--per", "vertex"], 2, "--memory goes with neither --per"),
        (vec![&none, "--memory", "1G", "--estimate", "1%"], 2, "neither --per nor --estimate"),
        (
            vec![&none, "--memory", "1G", "--device", "reference"],
            2,
            "unexpected argument '--memory'",
        ),
    ] {
        let stderr = fails(&[&triangles[..], &args].concat(), code);
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
    let fsm = ["mine", "fsm", "--support", "2", "--max-vertices", "2", &none, "--memory", "1G"];
    let stderr = fails(&fsm, 1);
    assert!(stderr.contains("keeps to no limit of memory for the task"), "{stderr}");
    let stderr = fails(&["graph", "convert", "--compress", &image, &path("x.txt")], 2);
    assert!(stderr.contains("--compress goes with images"), "{stderr}");
}

//! `--filter` and the least support of motifs: their answers, its messages, and where else the text may stand.

use std::path::PathBuf;
use std::process::{Command, Output};

use gramer_testing::environment;
use gramer_testing::schema::check_answer;
use serde_json::Value;

/// A folder with two triangles that share an edge, and labels: numbers and texts.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"));
        folder.write("diamond.txt", "0 1\n0 2\n1 2\n1 3\n2 3\n");
        folder.write("labels.txt", "0 1\n1 2\n2 1\n3 3\n");
        folder.write("names.csv", "id,label\n0,red\n1,blue\n2,red\n3,green\n");
        folder
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn gramer(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
        command.current_dir(self.0.path()).args(words).output().expect("gramer runs")
    }

    /// Exit code and last message of a mining command.
    fn refused(&self, words: &[&str]) -> (i32, String) {
        let output = self.gramer(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().expect("it ends"), said)
    }
}

const CLIQUES: [&str; 6] = ["mine", "clique", "-k", "3", "diamond.txt", "--device=reference"];

#[test]
fn a_filtered_answer_has_the_filter_in_it() {
    let folder = Folder::new();
    let filter = "--filter=label(u)!=label(v)";
    let output =
        folder.gramer(&[&CLIQUES[..], &["--labels=labels.txt", filter, "--json"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    check_answer(&answer);
    assert_eq!((&answer["total"], &answer["filter"]), (&1.into(), &"label(u) != label(v)".into()));
    // Labels that are text are compared with each other, not with numbers.
    let named = [&CLIQUES[..], &["--vertex-table=names.csv", filter]].concat();
    let output = folder.gramer(&named);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        table.starts_with("cliques of 3 vertices (vertex-induced) with label(u) != label(v)\n")
    );
    assert!(table.contains("total 1;"), "{table}");
    let numbers = ["--vertex-table=names.csv", "--filter=degree(u) > 1, label(u) == 2"];
    let (code, said) = folder.refused(&[&CLIQUES[..], &numbers].concat());
    assert!(code == 2 && said.contains("--filter has `label(u) == 2`"), "{said}");
    assert!(said.contains("the labels of the graph are text"), "{said}");
}

#[test]
fn a_wrong_filter_is_refused_at_its_character_in_commands_and_jobs() {
    let folder = Folder::new();
    let (code, said) = folder.refused(&[&CLIQUES[..], &["--filter=degree(u) => 3"]].concat());
    let what = "character 11: `=` is not `==`, `!=`, `<`, `<=`, `>` or `>=`";
    assert!(code == 2 && said.contains(what), "{said}");
    let job = |filter: &str| {
        let text =
            format!("task: motif\nk: 3\ngraph: diamond.txt\ndevice: reference\nfilter: {filter}\n");
        folder.write("job.yaml", &text);
        folder.gramer(&["run", "job.yaml"])
    };
    let output = job("degree(u) >= 3 or");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("job.yaml:5: ") && said.contains("character 18: "), "{said}");
    assert!(String::from_utf8_lossy(&job("degree(u) >= 2").stdout).contains("total 4;"));
}

/// Whether the emulator and the Xilinx Runtime are here; says that the test is skipped if not.
fn has_emulator() -> bool {
    let emulator = gramer::accelerator::xclbin::build::find_emulator();
    let missing = emulator.map_err(|e| e.to_string()).and_then(|_| environment::runtime()).err();
    missing.as_ref().inspect(|missing| environment::skip(environment::XRT, missing)).is_none()
}

/// The functional emulator gives the answers of algorithm 1.
#[test]
fn the_accelerator_filters_as_algorithm_1_does() {
    if !has_emulator() {
        return;
    }
    let folder = Folder::new();
    // Numbers of labels aren't their places among the labels.
    folder.write("scattered.txt", "0 5\n1 9\n2 5\n3 7\n");
    let answer = |task: &str, device: &str, filter: &str| {
        let words = [
            "mine",
            task,
            "-k=3",
            "diamond.txt",
            "--labels=scattered.txt",
            "--json",
            "--device",
            device,
        ];
        let output = folder.gramer(&[&words[..], &["--filter", filter]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        (answer["results"].clone(), answer["total"].clone())
    };
    let mut totals = vec![];
    for task in ["clique", "motif"] {
        for filter in ["label(u) != label(v)", "label(v) > 5 or degree(v) >= 3", "degree(u) > 1"] {
            let (reference, total) = answer(task, "reference", filter);
            assert_eq!(answer(task, "emulator:small:functional", filter).0, reference, "{filter}");
            totals.push(total);
        }
    }
    assert_eq!(totals, [1, 1, 2, 2, 1, 4]);
}

/// Programs of `Filter` and `Aggregate_filter` that the paper's three applications lack.
const GROWN: [(&str, &[&str]); 6] = [
    // Without triangles on the way: the dictionary of the core is the filter.
    ("5", &["--filter=pattern != triangle"]),
    ("4", &["--filter=pattern == triangle or size != 3, pattern != 4-clique"]),
    // Different degrees up to three vertices.
    ("4", &["--filter=size > 3 or degree(u) != degree(v)"]),
    ("4", &["--filter=size < 4 or degree(u) > 4, pattern != wedge or size < 3"]),
    ("5", &["--support=25"]),
    ("4", &["--support=25", "--filter=pattern != 3-star"]),
];

/// Counts and lists of the functional model, and of the simulated cores of machine `small` and of the paper.
#[test]
fn motifs_grow_alike_on_algorithm_1_and_on_the_core() {
    if !has_emulator() {
        return;
    }
    let folder = Folder::new();
    let generate = ["graph", "generate", "rmat", "--scale=5", "--edge-factor=3", "rmat.txt"];
    let made = folder.gramer(&generate);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let answer = |device: &str, k: &str, options: &[&str]| {
        let words = ["mine", "motif", "-k", k, "rmat.txt", "--device", device, "--json"];
        let list = ["--list=list.tsv", "--force"];
        let output = folder.gramer(&[&words[..], &list, options].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let list = std::fs::read_to_string(folder.path("list.tsv")).unwrap();
        let mut lines: Vec<String> = list.lines().map(String::from).collect();
        lines.sort_unstable();
        (answer["results"].clone(), answer["total"].as_u64().unwrap(), lines)
    };
    for (k, options) in GROWN {
        let (all, expected) = (answer("reference", k, &[]), answer("reference", k, options));
        assert!(expected.1 > 0 && expected.1 < all.1, "{options:?} decides nothing");
        let words = options.iter().any(|option| option.contains("degree"));
        let paper = if words { &[][..] } else { &["emulator"] };
        for device in ["emulator:small:functional", "emulator:small"].iter().chain(paper) {
            assert!(answer(device, k, options) == expected, "{device}, {options:?}");
        }
    }
}

#[test]
fn patterns_and_supports_are_refused_where_they_mean_nothing() {
    let folder = Folder::new();
    let motifs = |device: &str, more: &[&str]| {
        let words = ["mine", "motif", "-k", "3", "diamond.txt", "--device", device];
        folder.refused(&[&words[..], more].concat())
    };
    let (code, said) = motifs("cpu", &["--support=2"]);
    assert!(
        code == 2 && said.contains("with a least support; choose --device reference"),
        "{said}"
    );
    let (code, said) = motifs("reference", &["--support=0"]);
    assert!(code == 2 && said.contains("support is 0, but must be at least 1"), "{said}");
    let (code, said) = motifs("reference", &["--support=2", "--induced=edge"]);
    assert!(code == 2 && said.contains("leave --support out"), "{said}");
    let (code, said) = motifs("reference,reference", &["--support=2"]);
    assert!(code == 2 && said.contains("answers it only as a whole"), "{said}");
    let (code, said) = motifs("reference", &["--filter=pattern != trangle"]);
    assert!(code == 2 && said.contains("character 12: ") && said.contains("triangle?"), "{said}");
    let (code, said) = folder.refused(&[&CLIQUES[..], &["--filter=pattern != wedge"]].concat());
    assert!(code == 2 && said.contains("--filter compares `pattern`"), "{said}");
    let json = folder.gramer(&[
        "mine",
        "motif",
        "-k=3",
        "diamond.txt",
        "--device=reference",
        "--json",
        "--support=2",
    ]);
    let answer: Value = serde_json::from_slice(&json.stdout).unwrap();
    check_answer(&answer);
    assert_eq!((&answer["support"], &answer["total"]), (&2.into(), &4.into()));
}

#[test]
fn what_can_t_be_filtered_says_what_can() {
    let folder = Folder::new();
    let filter = "--filter=degree(u) > 1";
    let on = |device: &str, more: &[&str]| {
        let words = ["mine", "clique", "-k", "3", "diamond.txt", "--device", device, filter];
        folder.refused(&[&words[..], more].concat())
    };
    let (code, said) = on("cpu", &[]);
    assert_eq!(code, 2);
    assert!(said.contains("does not answer it with a filter; choose --device reference"), "{said}");
    let (code, said) = on("emulator", &[]);
    assert!(
        code == 2 && said.contains("has no room for a filter (`applications.filter_words` is 0)"),
        "{said}"
    );
    for more in ["--checkpoint=kept", "--distribute", "--per=vertex", "--estimate=5", "--up-to=4"] {
        let (code, said) = on("reference", &[more]);
        assert!(code == 2 && said.contains("cannot be used with"), "{said}");
    }
    for words in [
        &["clique", "--maximum"][..],
        &["clique", "--maximal"],
        &["motif", "-k", "3", "--per=vertex"],
    ] {
        let (code, said) = folder.refused(&[&["mine"], words, &["diamond.txt", filter]].concat());
        assert!(code == 2 && said.contains("cannot be used with"), "{words:?}: {said}");
    }
    let (code, said) = on("cpu", &["--memory=1G"]);
    assert!(code == 2 && said.contains("leave --filter out"), "{said}");
    let labels = [&CLIQUES[..], &["--filter=label(u) == label(v)"]].concat();
    let (code, said) = folder.refused(&labels);
    assert!(code == 2 && said.contains("give them by --labels"), "{said}");
}

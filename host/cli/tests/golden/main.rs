//! The golden matrix: every task in every form on six small graphs and on every device, against `golden.tsv`.
//!
//! A cell is the program's answer in a few words, or its exit code with the classes of the methods' reasons.
//! Emulated devices add their cycles. Counts are compared with brute force as well.
//!
//! | variable | does |
//! |---|---|
//! | `GRAMER_BLESS=1` | rewrites the file |
//! | `GRAMER_GOLDEN=all` | asks emulated devices for lists too, and on all graphs |
//! | `GRAMER_GOLDEN_PROGRAM` | names another build of the program, which is compared with the same file |
//! | `GRAMER_GOLDEN_FILE` | names another file |

mod cells;
mod questions;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cells::Runner;
use gramer_testing::environment;
use gramer_testing::golden::{Table, is_blessed};
use gramer_testing::truth::{Counts, Small};
use questions::{Form, Question, by_force, files, questions};

/// The columns of the file.
const DEVICES: [&str; 6] =
    ["cpu", "reference", "gpu:portable", "cpu,cpu", "emulator:small", "emulator:set-small"];

fn table() -> Table {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join("golden.tsv");
    let path = std::env::var_os("GRAMER_GOLDEN_FILE").map_or(own, PathBuf::from);
    Table { path, question: &["task", "form", "graph"], engines: &DEVICES }
}

/// The forms and the graphs that a device is asked for.
struct Extent {
    forms: Vec<Form>,
    graphs: Option<&'static [&'static str]>,
}

impl Extent {
    fn whole() -> Self {
        Extent { forms: Form::ALL.to_vec(), graphs: None }
    }

    /// Each emulated run takes about a second.
    fn emulated() -> Self {
        match std::env::var("GRAMER_GOLDEN").as_deref() {
            Ok("all") => Extent { forms: vec![Form::Count, Form::List], graphs: None },
            _ => Extent { forms: vec![Form::Count], graphs: Some(&["cliques", "labelled"]) },
        }
    }
}

/// The answer by brute force, found once for all devices and forms.
fn truth(question: &Question, graph: &str, small: &Small) -> Counts {
    static KNOWN: Mutex<Option<HashMap<(String, String), Counts>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (question.name.clone(), graph.to_string());
    let known = known.get_or_insert_default().entry(key);
    known.or_insert_with(|| by_force(&question.task, small)).clone()
}

/// A row's question and the device's cell.
type Answer = (Vec<String>, String);

/// The cells of a device. `around` has the words in front of the program and those behind its options.
fn answers(device: &str, extent: &Extent, around: [&[&str]; 2]) -> Vec<Answer> {
    let folder = tempfile::tempdir().unwrap();
    let graphs = files(folder.path());
    let runner = Runner { device, around, folder: folder.path() };
    let mut found = vec![];
    for question in questions(folder.path()) {
        for form in &extent.forms {
            // A refusal that doesn't depend on the graph is asked once.
            let mut refused: Option<String> = None;
            for (name, small, path) in &graphs {
                if extent.graphs.is_some_and(|some| !some.contains(name)) {
                    continue;
                }
                let row = [&question.name, form.name(), name].map(String::from).to_vec();
                if let Some(text) = &refused {
                    found.push((row, text.clone()));
                    continue;
                }
                let cell = runner.cell(&question, *form, path);
                if let Some(counts) = cell.counts {
                    let right = truth(&question, name, small);
                    assert_eq!(counts, right, "{device}: {row:?}: {}", cell.text);
                }
                refused = cell.for_all.then(|| cell.text.clone());
                found.push((row, cell.text));
            }
        }
    }
    found
}

fn check(device: &str, extent: &Extent) {
    table().check(device, &answers(device, extent, [&[], &[]]));
}

#[test]
fn cpu() {
    check("cpu", &Extent::whole());
}

#[test]
fn reference() {
    check("reference", &Extent::whole());
}

#[test]
fn two_of_the_cpu() {
    check("cpu,cpu", &Extent::whole());
}

#[test]
fn gpu() {
    let folder = tempfile::tempdir().unwrap();
    let graphs = files(folder.path());
    let mut probe = Command::new(cells::program());
    probe.args(["mine", "clique", "-k", "3", "--device", "gpu:portable", &graphs[0].2]);
    let probe = probe.output().unwrap();
    if !probe.status.success() {
        let said = String::from_utf8_lossy(&probe.stderr).trim().to_string();
        return environment::skip(environment::OPENCL, &said);
    }
    check("gpu:portable", &Extent::whole());
}

/// Whether devices can be emulated here; says what is missing.
fn emulates() -> bool {
    let emulator = gramer::accelerator::xclbin::build::find_emulator().map_err(|e| e.to_string());
    let verilator = Command::new("verilator").arg("--version").output();
    let missing = match emulator.and_then(|_| environment::runtime()) {
        Err(missing) => missing,
        Ok(_) if verilator.is_err() => "there is no verilator (scripts/setup-rtl.sh)".into(),
        Ok(_) => return true,
    };
    environment::skip(environment::XRT, &missing);
    false
}

#[test]
fn emulated_paper_core() {
    if emulates() {
        check("emulator:small", &Extent::emulated());
    }
}

#[test]
fn emulated_set_core() {
    if emulates() {
        check("emulator:set-small", &Extent::emulated());
    }
}

/// Two ranks have no column: they answer as the CPU engine does, or refuse.
#[test]
fn two_ranks_of_mpi() {
    if !cfg!(feature = "mpi") {
        return environment::skip_here("this build has no feature mpi (make test-cluster)");
    }
    if is_blessed() {
        return;
    }
    let extent = Extent { forms: vec![Form::Count, Form::Kept], graphs: None };
    let mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"];
    let rows = table().read().into_iter();
    let alone: BTreeMap<Vec<String>, String> =
        rows.map(|(row, mut cells)| (row, cells.remove(0))).collect();
    let mut answered = 0;
    for (row, cell) in answers("cpu", &extent, [&mpirun, &["--distribute"]]) {
        if !cell.starts_with("exit ") {
            assert_eq!(cell, alone[&row], "{row:?}");
            answered += 1;
        }
    }
    assert!(answered > 100, "{answered}");
}

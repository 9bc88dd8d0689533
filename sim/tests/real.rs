//! Real graphs on the paper's machine: counts equal those of other programs
//! (`ground_truth.tsv`), in both orders of comparison, and cycles stay below their budgets.
//!
//! The graphs are looked for in `$GRAMER_DATA`, else in `../shared/data` beside the repository.
//! The long runs are ignored by default; `make check-rtl` runs them.

mod support;

use std::path::PathBuf;

use gramer::graph::read::{ReadOptions, read_graph};
use gramer_machine::Accelerator;
use gramer_sim::image::Csr;
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{Application, Settings, Simulation, run, whole_units};

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("GRAMER_DATA")
        .map_or_else(|| support::root().join("../shared/data"), PathBuf::from);
    if folder.join("ground_truth.tsv").exists() {
        return Some(folder);
    }
    assert!(
        std::env::var("GRAMER_REQUIRE_DATA").as_deref() != Ok("1"),
        "GRAMER_REQUIRE_DATA=1, but there is no {}/ground_truth.tsv",
        folder.display()
    );
    eprintln!("skipped: no real graphs in {} (set GRAMER_DATA)", folder.display());
    None
}

/// Known counts of a graph: `(task, count)`.
fn truth(folder: &std::path::Path, graph: &str) -> Vec<(String, u64)> {
    let text = std::fs::read_to_string(folder.join("ground_truth.tsv")).unwrap();
    text.lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|row| row[0] == graph)
        .filter_map(|row| Some((row[1].to_string(), row[2].parse().ok()?)))
        .collect()
}

/// Runs one task in both orders; every count that is known must be equal, and at least one is.
fn check(graph: &str, file: &str, clique: bool, k: u32, budget: Option<u64>) {
    check_on("accelerator.yaml", false, graph, file, clique, k, budget);
}

/// [`check`] on another machine, with the least recently used line replaced if `lru`.
fn check_on(
    machine: &str,
    lru: bool,
    graph: &str,
    file: &str,
    clique: bool,
    k: u32,
    budget: Option<u64>,
) {
    let Some(folder) = data() else { return };
    if support::no_verilator() {
        return;
    }
    let a = Accelerator::read(support::root().join(machine)).unwrap();
    let known = truth(&folder, graph);
    let context = gramer::Context::default();
    let loaded =
        read_graph(&folder.join(graph).join(file), &ReadOptions::default(), &context).unwrap();
    let prepared = gramer::prepare::renumber(&loaded, &context).unwrap();
    let view = prepared.view();
    let csr =
        Csr { offsets: view.offsets.to_vec(), edges: view.neighbours.to_vec(), labels: vec![] };
    let library = model::build(&a, Build { fast: true, ..Build::default() }).unwrap();
    let (dictionary, patterns) = if clique { (vec![], 1) } else { support::motifs(k as usize) };
    let names: Vec<Vec<String>> = if clique {
        let mut names =
            vec![format!("{k}-clique"), format!("{k}-motif:{k}-clique (vertex-induced)")];
        if k == 3 {
            names.push("triangle".into());
        }
        vec![names]
    } else {
        gramer::pattern::Dictionary::of(k as usize)
            .patterns()
            .iter()
            .map(|p| vec![format!("{k}-motif:{} (vertex-induced)", gramer::pattern::name(p))])
            .collect()
    };
    let mut before: Option<Vec<u64>> = None;
    for ascending in [false, true] {
        let settings = Settings {
            application: if clique { Application::Clique } else { Application::Motif },
            k,
            ascending,
            stealing: true,
            lru,
            slots: a.machine.slots,
            lambda_eighths: 8,
            tau: None,
            capacity: 1.0,
            on_chip: None,
            dictionary: dictionary.clone(),
            patterns,
            list: None,
        };
        let mut core = Model::load(&library).unwrap();
        let units = whole_units(&csr);
        let outcome = run(&a, &mut core, &csr, &units, &settings, &Simulation::of(&a)).unwrap();
        assert_eq!(outcome.status, 0);
        let mut compared = 0;
        for (names, &count) in names.iter().zip(&outcome.counts) {
            for (task, expected) in known.iter().filter(|(task, _)| names.contains(task)) {
                assert_eq!(count, *expected, "{graph}: {task}");
                compared += 1;
            }
        }
        assert!(compared > 0, "{graph}: no count of {names:?} is known");
        if let Some(before) = &before {
            assert_eq!(before, &outcome.counts, "{graph}: the two orders differ");
        }
        before = Some(outcome.counts.clone());
        let order = if ascending { "ascending" } else { "descending" };
        eprintln!("{graph} k = {k}, {order}: {} cycles, {compared} counts", outcome.cycles);
        if let (false, Some(budget)) = (ascending, budget) {
            assert!(outcome.cycles < budget, "{} cycles, budget {budget}", outcome.cycles);
        }
    }
}

const CITESEER: (&str, &str) = ("citeseer", "citeseer.edgelist");
const P2P_04: (&str, &str) = ("p2p-gnutella04", "p2p-gnutella04.txt.zst");
const P2P_08: (&str, &str) = ("p2p-gnutella08", "p2p-gnutella08.txt.zst");
const ASTRO: (&str, &str) = ("ca-astroph", "ca-AstroPh.txt.zst");

#[test]
fn short_runs() {
    check(CITESEER.0, CITESEER.1, true, 3, None);
    check(CITESEER.0, CITESEER.1, true, 4, None);
    check(CITESEER.0, CITESEER.1, true, 5, None);
    check(CITESEER.0, CITESEER.1, false, 3, None);
    check(CITESEER.0, CITESEER.1, false, 4, Some(1_600_000));
    for k in 3..=5 {
        check(P2P_04.0, P2P_04.1, true, k, None);
        check(P2P_08.0, P2P_08.1, true, k, None);
    }
}

/// The baseline of figure 12: the counts are the same, whatever the memory.
#[test]
#[ignore = "a build of its own: make check-rtl"]
fn uniform_memory() {
    check_on("machines/uniform.yaml", true, CITESEER.0, CITESEER.1, false, 4, None);
    check_on("machines/uniform.yaml", true, P2P_08.0, P2P_08.1, true, 3, None);
}

#[test]
#[ignore = "minutes: make check-rtl"]
fn long_runs() {
    check(CITESEER.0, CITESEER.1, false, 5, None);
    check(P2P_04.0, P2P_04.1, false, 3, None);
    check(P2P_08.0, P2P_08.1, false, 3, None);
    check(P2P_04.0, P2P_04.1, false, 4, Some(12_400_000));
    check(P2P_08.0, P2P_08.1, false, 4, Some(12_400_000));
    check(ASTRO.0, ASTRO.1, true, 3, Some(3_600_000));
    check(ASTRO.0, ASTRO.1, true, 4, Some(52_000_000));
    check(ASTRO.0, ASTRO.1, false, 3, Some(15_800_000));
}

//! Real graphs on a machine: counts equal those of other programs (`ground_truth.tsv`), in both
//! orders of comparison, and cycles stay below their budgets.

use gramer::Task;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern::{Dictionary, Pattern, name};
use gramer::task::Induced;
use gramer_machine::Accelerator;
use gramer_sim::image::Csr;
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{Application, Settings, Simulation, run, whole_units};

use gramer_testing::environment::{self, data};
use gramer_testing::ground_truth;

/// Known counts of a graph's cliques and vertex-induced patterns of `k` vertices.
fn known(folder: &std::path::Path, graph: &str, k: u32) -> Vec<(Pattern, u64)> {
    let text = std::fs::read_to_string(folder.join("ground_truth.tsv")).unwrap();
    let rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[0] == graph)
        .filter_map(|row| Some((ground_truth::counted(row[1]).unwrap()?, row[2].parse().unwrap())))
        .filter(|((task, pattern), _)| {
            pattern.vertices() == k as usize
                && !matches!(task, Task::Motif { induced: Induced::Edge, .. })
        })
        .map(|((_, pattern), count)| (pattern.canonical().0, count))
        .collect()
}

/// Runs one task in both orders; every count that is known must be equal, and at least one is.
pub fn check(graph: &str, file: &str, clique: bool, k: u32, budget: Option<u64>) {
    check_on("accelerator.yaml", false, graph, file, clique, k, budget);
}

/// [`check`] on the model with assertions, whose registers begin with random values; slower.
pub fn check_asserting(graph: &str, file: &str, clique: bool, k: u32) {
    let build = Build::default();
    check_build("accelerator.yaml", build, false, graph, file, clique, k, None);
}

/// [`check`] on another machine, with the least recently used line replaced if `lru`.
pub fn check_on(
    machine: &str,
    lru: bool,
    graph: &str,
    file: &str,
    clique: bool,
    k: u32,
    budget: Option<u64>,
) {
    let build = Build { fast: true, ..Build::default() };
    check_build(machine, build, lru, graph, file, clique, k, budget);
}

#[allow(clippy::too_many_arguments)]
fn check_build(
    machine: &str,
    build: Build,
    lru: bool,
    graph: &str,
    file: &str,
    clique: bool,
    k: u32,
    budget: Option<u64>,
) {
    let Some(folder) = data() else { return };
    if super::no_verilator() {
        return;
    }
    let a = Accelerator::read(environment::root().join(machine)).unwrap();
    let known = known(&folder, graph, k);
    let context = gramer::Context::default();
    let loaded =
        read_graph(&folder.join(graph).join(file), &ReadOptions::default(), &context).unwrap();
    let prepared = gramer::prepare::renumber(&loaded, &context).unwrap();
    let view = prepared.view();
    let csr =
        Csr { offsets: view.offsets.to_vec(), edges: view.neighbours.to_vec(), labels: vec![] };
    let library = model::build(&a, build).unwrap();
    let (dictionary, patterns) = if clique { (vec![], 1) } else { super::motifs(k as usize) };
    let mined = match clique {
        true => vec![Pattern::clique(k as usize)],
        false => Dictionary::of(k as usize).patterns().to_vec(),
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
            filter: vec![],
            select: false,
        };
        let mut core = Model::load(&library).unwrap();
        let units = whole_units(&csr);
        let outcome = run(&a, &mut core, &csr, &units, &settings, &Simulation::of(&a)).unwrap();
        assert_eq!(outcome.status, 0);
        let mut compared = 0;
        for (pattern, &count) in mined.iter().zip(&outcome.counts) {
            let pattern = pattern.canonical().0;
            for (_, expected) in known.iter().filter(|(known, _)| *known == pattern) {
                assert_eq!(count, *expected, "{graph}: {}", name(&pattern));
                compared += 1;
            }
        }
        assert!(compared > 0, "{graph}: no count of {k} vertices is known");
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

/// Graphs: their folder, and the file in it.
pub const CITESEER: (&str, &str) = ("citeseer", "citeseer.edgelist");
pub const P2P_04: (&str, &str) = ("p2p-gnutella04", "p2p-gnutella04.txt.zst");
pub const P2P_08: (&str, &str) = ("p2p-gnutella08", "p2p-gnutella08.txt.zst");
pub const ASTRO: (&str, &str) = ("ca-astroph", "ca-AstroPh.txt.zst");

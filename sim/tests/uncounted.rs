//! A machine without performance counters against the same one with them: results, order of records and
//! cycles of the search are equal, the report is shorter, and nothing is reported that wasn't counted.

mod support;

use gramer_machine::Accelerator;
use gramer_sim::image::Csr;
use gramer_sim::model::Model;
use gramer_sim::run::{Application, DONE, Outcome, Settings, Simulation, run, whole_units};
use support::{compare, core, instance, motifs, random_graph, settings};

/// Cycles of the report that a counter takes: question, answer and its place in a beat.
const CYCLES_A_COUNTER: u64 = 3;

/// A task by its number: each application, some of them listed.
fn task(a: &Accelerator, graph: &mut Csr, seed: u64) -> Settings {
    let k = 3 + (seed % 2) as u32;
    let mut s = match seed % 3 {
        0 => settings(a, Application::Clique, k + 1),
        1 => {
            let (dictionary, patterns) = motifs(k as usize);
            Settings { dictionary, patterns, ..settings(a, Application::Motif, k) }
        }
        _ => {
            let labels = 1 << a.applications.label_bits;
            graph.labels = (0..graph.vertices() as u32).map(|v| v % labels).collect();
            let entries = a.applications.dictionary_entries as u16;
            let dictionary = (0..entries).map(|key| 0x8000 | (key % 8)).collect();
            Settings { dictionary, patterns: 8, ..settings(a, Application::Fsm, 3) }
        }
    };
    s.list = (seed % 4 < 2).then_some(u32::MAX);
    s.ascending = seed % 5 == 0;
    s.tau = (seed % 2 == 0).then_some(0.5);
    s
}

fn outcome(a: &Accelerator, model: &mut Model, graph: &Csr, s: &Settings, seed: u64) -> Outcome {
    let units = whole_units(graph);
    let simulation = Simulation { seed, max_cycles: 5_000_000, ..Simulation::of(a) };
    let outcome = run(a, model, graph, &units, s, &simulation).unwrap();
    assert_eq!((outcome.status, outcome.next_unit), (DONE, units.len() as u64), "seed {seed}");
    compare(a, graph, &units, s, &outcome).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    outcome
}

#[test]
fn results_and_cycles_of_the_search_are_those_with_counters() {
    let Some((counted, counted_library)) = core("machines/small.yaml") else { return };
    let (uncounted, uncounted_library) = core("machines/uncounted.yaml").unwrap();
    let (mut with, mut without) = (instance(&counted_library), instance(&uncounted_library));
    let fewer = u64::from(counted.counter_values() - uncounted.counter_values());
    let mut listed = 0;
    for seed in 0..24 {
        let mut graph = random_graph(&mut fastrand::Rng::with_seed(seed), 60).ranked();
        let s = task(&counted, &mut graph, seed);
        let one = outcome(&counted, &mut with, &graph, &s, seed);
        let other = outcome(&uncounted, &mut without, &graph, &s, seed);
        assert_eq!(one.counts, other.counts, "seed {seed}");
        assert_eq!(one.records, other.records, "seed {seed}: in the order in which they came");
        listed += one.records.len();
        let names: Vec<&str> = other.counters.keys().map(String::as_str).collect();
        assert_eq!(names, ["bank.beats", "core.cycles", "core.saturated", "core.work_units"]);
        for name in names {
            assert_eq!(one.counters[name], other.counters[name], "seed {seed}: {name}");
        }
        // Beats that the report no longer sends are saved beside the cycles of their counters.
        let saved = one.cycles - other.cycles;
        let least = CYCLES_A_COUNTER * fewer;
        assert!((least..2 * least).contains(&saved), "seed {seed}: {saved} cycles, not {least}");
        eprintln!("seed {seed}: {} and {} cycles", one.cycles, other.cycles);
    }
    assert!(listed > 100, "{listed} records");
}

//! The whole core against algorithm 1: results, embeddings and candidates by depth, exactly.
//!
//! `GRAMER_SEED=N cargo test -p gramer-sim --test core random_` repeats one case;
//! `GRAMER_CASES=N` sets how many are drawn.

mod support;

use gramer_machine::Accelerator;
use gramer_sim::image::{Csr, Unit};
use gramer_sim::model::Model;
use gramer_sim::run::{Application, Outcome, Settings, Simulation, run, whole_units};
use support::{Found, algorithm_1, core, instance, motifs, random_graph};

fn settings(a: &Accelerator, application: Application, k: u32) -> Settings {
    Settings {
        application,
        k,
        ascending: false,
        stealing: true,
        lru: false,
        slots: a.machine.slots,
        lambda_eighths: 8,
        tau: None,
        capacity: 1.0,
        dictionary: vec![],
        patterns: 1,
    }
}

fn compare(
    a: &Accelerator,
    graph: &Csr,
    units: &[Unit],
    s: &Settings,
    outcome: &Outcome,
) -> Result<(), String> {
    let expected = algorithm_1(a, graph, units, s);
    let got = Found {
        counts: outcome.counts.clone(),
        candidates: outcome.sums("pu.candidates"),
        embeddings: outcome.sums("pu.embeddings"),
    };
    if got == expected {
        Ok(())
    } else {
        Err(format!("algorithm 1: {expected:?}\nthe core:    {got:?}"))
    }
}

#[test]
fn a_triangle_is_found() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let graph = Csr::new(3, &[(0, 1), (1, 2), (0, 2)], vec![]);
    let s = settings(&a, Application::Clique, 3);
    let mut model = instance(&library);
    let simulation = Simulation { max_cycles: 100_000, ..Simulation::of(&a) };
    let outcome = run(&a, &mut model, &graph, &whole_units(&graph), &s, &simulation).unwrap();
    assert_eq!(outcome.counts, [1]);
    assert_eq!(outcome.status, 0);
    compare(&a, &graph, &whole_units(&graph), &s, &outcome).unwrap();
}

/// A case is a function of its seed alone.
fn random_case(
    a: &Accelerator,
    model: &mut Model,
    seed: u64,
    most_vertices: usize,
) -> Result<Outcome, String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut graph = random_graph(&mut rng, most_vertices).ranked();
    let application = [Application::Clique, Application::Motif, Application::Fsm][rng.usize(0..3)];
    let k = match application {
        Application::Clique => rng.u32(3..=12),
        Application::Motif => {
            if graph.edges.len() > 300 {
                rng.u32(3..=4)
            } else {
                rng.u32(3..=5)
            }
        }
        Application::Fsm => rng.u32(2..=3),
    };
    let mut s = settings(a, application, k);
    match application {
        Application::Clique => {}
        Application::Motif => {
            (s.dictionary, s.patterns) = motifs(k as usize);
        }
        Application::Fsm => {
            // Any entries will do: the core looks them up and does not ask what they mean.
            let bits = 3 + 3 * a.applications.label_bits;
            let known = rng.f64();
            s.patterns = rng.u32(1..=20);
            s.dictionary = (0..1u32 << bits)
                .map(|_| u16::from(rng.f64() < known) << 15 | rng.u32(0..s.patterns) as u16)
                .collect();
            graph.labels =
                (0..graph.vertices()).map(|_| rng.u32(0..1 << a.applications.label_bits)).collect();
        }
    }
    s.ascending = rng.bool();
    s.stealing = rng.bool();
    s.lru = rng.bool();
    s.slots = rng.u32(1..=a.machine.slots);
    s.lambda_eighths = rng.u32(0..=64);
    s.tau = rng.bool().then(|| rng.f64());
    s.capacity = if rng.bool() { 1.0 } else { rng.f64() };
    // Lists are cut into several units at random.
    let mut units = vec![];
    for whole in whole_units(&graph) {
        let mut first = 0;
        while first < whole.limit && rng.u32(0..3) == 0 {
            let limit = rng.u32(first + 1..=whole.limit);
            units.push(Unit { first, limit, ..whole });
            first = limit;
        }
        if first < whole.limit || whole.limit == 0 {
            units.push(Unit { first, ..whole });
        }
    }
    rng.shuffle(&mut units);
    let mut simulation = Simulation { seed, max_cycles: 20_000_000, ..Simulation::of(a) };
    simulation.timing.latency = rng.u64(1..=120);
    simulation.timing.cycles_a_beat = rng.u64(1..=4);
    simulation.timing.back_pressure = [0, 2, 3, 10][rng.usize(0..4)];
    simulation.back_pressure = [0, 2, 3, 10][rng.usize(0..4)];
    let outcome = run(a, model, &graph, &units, &s, &simulation)
        .map_err(|e| format!("{e:#} ({application:?}, k {k}, {} vertices)", graph.vertices()))?;
    if outcome.status != 0 {
        return Err(format!("status {}", outcome.status));
    }
    compare(a, &graph, &units, &s, &outcome).map_err(|e| {
        format!("{e}\n{application:?}, k {k}, {} vertices, {s:?}", graph.vertices())
    })?;
    Ok(outcome)
}

/// What the cases of a run must have met together, or they were too tame to prove anything.
const CORNERS: [&str; 11] = [
    "pu.steals",
    "pu.idle_memory",
    "pu.idle_no_work",
    "partition.vertex_high_hits",
    "partition.vertex_low_hits",
    "partition.vertex_misses",
    "partition.vertex_conflicts",
    "partition.edge_high_hits",
    "partition.edge_low_hits",
    "partition.edge_misses",
    "partition.edge_conflicts",
];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn random_cases(machine: &str, cases: u64, most_vertices: usize, test: &str) {
    let Some((a, library)) = core(machine) else { return };
    let (from, cases) = match number("GRAMER_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("GRAMER_CASES").unwrap_or(cases)),
    };
    let mut model = instance(&library);
    let mut met = [0; CORNERS.len()];
    let mut deepest = 0;
    for seed in from..from + cases {
        // The same instance runs them all: each starts clean after the one before.
        match random_case(&a, &mut model, seed, most_vertices) {
            Ok(outcome) => {
                for (sum, name) in met.iter_mut().zip(CORNERS) {
                    *sum += outcome.sum(name);
                }
                let embeddings = outcome.sums("pu.embeddings");
                deepest = deepest.max(embeddings.iter().rposition(|&e| e > 0).unwrap_or(0) + 1);
            }
            Err(error) => panic!(
                "seed {seed}: {error}\nrepeat with: GRAMER_SEED={seed} cargo test -p gramer-sim \
                 --test core {test}"
            ),
        }
    }
    if cases >= 100 {
        let missed: Vec<_> = CORNERS.iter().zip(met).filter(|(_, sum)| *sum == 0).collect();
        assert!(missed.is_empty(), "corners that no case met: {missed:?}");
        assert!(deepest >= 7, "the deepest embedding had {deepest} vertices");
    }
    eprintln!("{cases} cases on {machine}: {:?}", CORNERS.iter().zip(met).collect::<Vec<_>>());
}

#[test]
fn random_tasks() {
    random_cases("machines/small.yaml", 1000, 60, "random_tasks");
}

#[test]
fn the_same_run_takes_the_same_cycles() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let graph = random_graph(&mut fastrand::Rng::with_seed(7), 80).ranked();
    let s = settings(&a, Application::Clique, 4);
    let simulation = Simulation { back_pressure: 3, ..Simulation::of(&a) };
    let units = whole_units(&graph);
    let once = run(&a, &mut instance(&library), &graph, &units, &s, &simulation).unwrap();
    let twice = run(&a, &mut instance(&library), &graph, &units, &s, &simulation).unwrap();
    assert_eq!(once, twice);
}

#[test]
fn an_axi_error_is_reported_with_its_address_and_the_next_run_is_clean() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let graph = random_graph(&mut fastrand::Rng::with_seed(3), 80).ranked();
    let mut s = settings(&a, Application::Clique, 3);
    s.tau = Some(0.0);
    let mut simulation = Simulation { max_cycles: 5_000_000, ..Simulation::of(&a) };
    let units = whole_units(&graph);
    let mut model = instance(&library);
    let clean = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
    compare(&a, &graph, &units, &s, &clean).unwrap();
    simulation.timing.fail_at = Some(5);
    let failed = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
    assert_eq!(failed.status, 3);
    assert!(failed.error_address >= 0x40_0000_0000 && failed.error_address % 64 == 0);
    simulation.timing.fail_at = None;
    let again = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
    assert_eq!((again.status, &again.counts), (0, &clean.counts));
}

#[test]
fn random_tasks_on_the_paper_s_machine() {
    random_cases("accelerator.yaml", 100, 400, "random_tasks_on_the_paper_s_machine");
}

//! The whole core against algorithm 1: results, embeddings and candidates by depth, exactly.
//!
//! `GRAMER_SEED=N cargo test -p gramer-sim --test core random_` repeats one case; with
//! `GRAMER_CASES=M` it is the first of M (`make test-long`). `GRAMER_CASES=M` alone sets how many are
//! drawn, `GRAMER_CANDIDATES=N` how large they may be. A message of failure has `GRAMER_INITIAL=N`
//! too: the seed of the registers' content before the reset.

mod support;

use gramer::pattern::Filter;
use gramer_machine::{Accelerator, LAMBDA_MAX, LAMBDA_STEPS};
use gramer_sim::image::{Csr, Unit};
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{
    ABORTED, Application, DONE, ERROR, FULL, Outcome, Record, Settings, Simulation, run,
    whole_units,
};
use support::filters::{random_filter, words};
use support::{
    algorithm_1, compare, compare_filtered, core, environment, filtered_algorithm_1, instance,
    motifs, random_graph, settings, sorted,
};

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

/// The model has each function of a clock once for all PUs, for all partitions and for all columns of a
/// crossbar, and clears nothing that waits for a flag: else it would be slow, which no other test would
/// notice.
#[test]
fn the_model_s_sources_are_improved() {
    let Some((_, library)) = core("machines/small.yaml") else { return };
    let head = regex_lite::Regex::new(
        r"^VL_INLINE_OPT void \w+_(pu|partition|crossbar_column__\w+?)(___nba_\w+?__BRA__)\d+(__KET__\w+)\(\w+\* vlSelf\) \{",
    )
    .unwrap();
    let cleared = regex_lite::Regex::new(r"(VL_ZERO_W\(\d+, | )__Vdlyvval__\w+(\)| = 0);").unwrap();
    let (mut defined, mut waiting) = (std::collections::BTreeMap::new(), false);
    for entry in std::fs::read_dir(library.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "cpp") {
            let text = std::fs::read_to_string(&path).unwrap();
            waiting |= text.contains(" __Vdlyvval__");
            // Of megabytes, only the lines that may match.
            let mut clears = text.lines().filter(|line| line.contains("__Vdlyvval__"));
            assert!(!clears.any(|line| cleared.is_match(line)), "{}", path.display());
            let heads = text.lines().filter(|line| line.ends_with('{'));
            for found in heads.filter_map(|line| head.captures(line)) {
                let name = [&found[1], &found[2], &found[3]].concat();
                *defined.entry(name).or_insert(0) += 1;
            }
        }
    }
    assert!(waiting);
    assert!(
        ["pu_", "partition_", "crossbar_column_"]
            .iter()
            .all(|m| defined.keys().any(|n| n.starts_with(m)))
    );
    assert!(defined.values().all(|&copies| copies == 1), "{defined:#?}");
}

/// What a case runs.
struct Case {
    graph: Csr,
    settings: Settings,
    units: Vec<Unit>,
    simulation: Simulation,
    /// The user's filter, whose words the settings have.
    filter: Option<Filter>,
}

/// A case is a function of its generator's seed alone.
fn draw(a: &Accelerator, rng: &mut fastrand::Rng, most_vertices: usize) -> Case {
    let mut graph = random_graph(rng, most_vertices).ranked();
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
    lighten(a, &graph, &mut s);
    s.stealing = rng.bool();
    s.lru = rng.bool();
    s.slots = rng.u32(1..=a.machine.slots);
    s.lambda_eighths = rng.u32(0..=LAMBDA_MAX * LAMBDA_STEPS);
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
    let mut simulation = Simulation {
        seed: rng.u64(..),
        max_cycles: number("GRAMER_MAX_CYCLES").unwrap_or(20_000_000),
        ..Simulation::of(a)
    };
    simulation.timing.latency = rng.u64(1..=120);
    simulation.timing.cycles_a_beat = rng.u64(1..=4);
    simulation.timing.back_pressure = [0, 2, 3, 10][rng.usize(0..4)];
    simulation.back_pressure = [0, 2, 3, 10][rng.usize(0..4)];
    // With back-pressure the banks also answer in any order; from the seed, so that no draw moves.
    simulation.timing.reorder = simulation.timing.back_pressure > 0 && simulation.seed % 4 > 0;
    Case { graph, settings: s, units, simulation, filter: None }
}

/// [`draw`] with a filter in a third of the cases, if the machine has room for one. A fourth of the motif dictionaries
/// select: they lack some of the keys, of any size.
fn draw_filtered(a: &Accelerator, rng: &mut fastrand::Rng, most_vertices: usize) -> Case {
    let mut case = draw(a, rng, most_vertices);
    let mut rng = fastrand::Rng::with_seed(case.simulation.seed);
    case.filter = random_filter(&mut rng, a);
    if let Some(filter) = &case.filter {
        case.settings.filter = words(a, filter);
        if case.graph.labels.is_empty() {
            let most = 1 << a.applications.label_bits;
            case.graph.labels = (0..case.graph.vertices()).map(|_| rng.u32(0..most)).collect();
        }
    }
    case.settings.select = rng.u32(0..4) == 0;
    if case.settings.select && case.settings.application == Application::Motif {
        let known = (1.0 + rng.f64()) / 2.0;
        for entry in &mut case.settings.dictionary {
            *entry = *entry & 0x7fff | u16::from(rng.f64() < known) << 15;
        }
    }
    case
}

/// Takes vertices off the pattern until algorithm 1 checks at most 20,000 candidates: of 1,000
/// tasks of the small machine 28 have more, and these took three quarters of the simulated cycles.
/// `GRAMER_CANDIDATES` is another limit: `make check-rtl` runs the tasks as they were drawn.
fn lighten(a: &Accelerator, graph: &Csr, s: &mut Settings) {
    let units = whole_units(graph);
    let candidates = |s: &Settings| algorithm_1(a, graph, &units, s).candidates.iter().sum::<u64>();
    let most = number("GRAMER_CANDIDATES").unwrap_or(20_000);
    while s.k > 3 && candidates(s) > most {
        s.k -= 1;
        if s.application == Application::Motif {
            (s.dictionary, s.patterns) = motifs(s.k as usize);
        }
    }
}

/// One run to its end; one in three lists its embeddings.
fn random_case(
    a: &Accelerator,
    model: &mut Model,
    seed: u64,
    most_vertices: usize,
) -> Result<Outcome, String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let Case { graph, mut settings, units, simulation, filter } =
        draw_filtered(a, &mut rng, most_vertices);
    settings.list = (rng.u32(0..3) == 0).then_some(u32::MAX);
    let text = filter.as_ref().map_or("no filter".into(), ToString::to_string);
    let what = || {
        let (application, vertices) = (settings.application, graph.vertices());
        format!("{application:?}, k {}, {vertices} vertices, {text}", settings.k)
    };
    let outcome = run(a, model, &graph, &units, &settings, &simulation)
        .map_err(|e| format!("{e:#} ({})", what()))?;
    if (outcome.status, outcome.next_unit) != (DONE, units.len() as u64) {
        return Err(format!("status {}, next unit {}", outcome.status, outcome.next_unit));
    }
    compare_filtered(a, &graph, &units, &settings, filter.as_ref(), &outcome)
        .map_err(|e| format!("{e}\n{}, {settings:?}", what()))?;
    Ok(outcome)
}

/// One task in as many runs as it takes: the result area is small, the host stops runs at random,
/// and reads fail. Together the runs must give what one run gives, and those that stopped after
/// their units must have done exactly these.
fn random_stops(a: &Accelerator, model: &mut Model, seed: u64) -> Result<[u64; 4], String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let Case { graph, mut settings, units, mut simulation, filter } =
        draw_filtered(a, &mut rng, number("GRAMER_VERTICES").unwrap_or(60) as usize);
    // Listing is cheap enough to be drawn in any case; a small area is not.
    let lists = rng.u32(0..4) > 0;
    let mut area = rng.u32(0..60);
    let mut met = [0; 4]; // runs by status
    let (mut counts, mut records) = (vec![0; settings.patterns as usize], vec![]);
    let mut from = 0;
    let error = |what: String| Err(what);
    let mut failures = 0;
    loop {
        settings.list = lists.then_some(area);
        simulation.abort = (rng.bool() && failures < 6).then(|| (rng.u64(0..8000), rng.u32(1..=2)));
        simulation.timing.fail_at = (rng.bool() && failures < 6).then(|| rng.u64(0..60));
        let left = &units[from..];
        let outcome = match run(a, model, &graph, left, &settings, &simulation) {
            Ok(outcome) => outcome,
            Err(e) => return error(format!("{e:#}")),
        };
        let next = outcome.next_unit as usize;
        met[outcome.status as usize] += 1;
        if next > left.len() || next < left.len() && outcome.status == DONE {
            return error(format!("status {}, next unit {next} of {}", outcome.status, left.len()));
        }
        let whole = outcome.status == DONE
            || outcome.status == ABORTED && simulation.abort.is_some_and(|(_, word)| word == 1);
        let filter = filter.as_ref();
        if whole
            && let Err(e) = compare_filtered(a, &graph, &left[..next], &settings, filter, &outcome)
        {
            return error(format!("status {}: {e}", outcome.status));
        }
        if outcome.status == ERROR {
            failures += 1;
            if simulation.timing.fail_at.is_none() || next != 0 {
                return error(format!("an error out of nowhere, next unit {next}"));
            }
        } else if whole || lists {
            for record in outcome.records.iter().filter(|r| (r.ordinal as usize) < next) {
                records.push(Record { ordinal: record.ordinal + from as u32, ..record.clone() });
                counts[record.pattern as usize] += u64::from(lists);
            }
            if !lists {
                counts.iter_mut().zip(&outcome.counts).for_each(|(sum, count)| *sum += count);
            }
            from += next;
            failures += u32::from(outcome.status == ABORTED);
            if outcome.status == FULL && next == 0 {
                area = area * 4 + 4;
            }
        } else {
            failures += 1; // counts of a run that was killed are void: again
        }
        if outcome.status == DONE {
            break;
        }
    }
    settings.list = lists.then_some(0);
    let expected = filtered_algorithm_1(a, &graph, &units, &settings, filter.as_ref());
    if counts != expected.counts || sorted(&records) != expected.records {
        return error(format!(
            "together: {counts:?} and {} records, not {:?} and {}",
            records.len(),
            expected.counts,
            expected.records.len()
        ));
    }
    Ok(met)
}

#[test]
fn random_tasks_that_are_stopped_and_continued() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    stopped_cases(&a, &library, 200, "random_tasks_that_are_stopped_and_continued");
}

fn stopped_cases(a: &Accelerator, library: &std::path::Path, most: u64, test: &str) {
    let (from, cases) = seeds(most);
    let mut model = instance(library);
    let mut met = [0; 4];
    for seed in from..from + cases {
        fresh(library, &mut model, seed);
        match random_stops(a, &mut model, seed) {
            Ok(runs) => met.iter_mut().zip(runs).for_each(|(sum, n)| *sum += n),
            Err(error) => panic!(
                "seed {seed}: {error}\nrepeat with: GRAMER_INITIAL={} GRAMER_SEED={seed} cargo test \
                 -p gramer-sim --test core {test}",
                model.seed
            ),
        }
    }
    eprintln!("{cases} cases; runs done, full, aborted, failed: {met:?}");
    assert!(cases < most || met.iter().all(|&n| n >= 25), "{met:?}");
}

/// A complete graph of 40 vertices: a task that does not end in a test's time.
fn long_task(a: &Accelerator) -> (Csr, Settings, Vec<Unit>) {
    let all: Vec<(u32, u32)> = (0..40).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    let graph = Csr::new(40, &all, vec![]);
    let units = whole_units(&graph);
    (graph, settings(a, Application::Clique, 12), units)
}

/// From the word to the last beat: the poll's 4,096 cycles, the accesses in flight and the report.
#[test]
fn a_run_is_stopped_at_once() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let (graph, s, units) = long_task(&a);
    let mut simulation = Simulation { max_cycles: 60_000, ..Simulation::of(&a) };
    simulation.abort = Some((50_000, 2));
    let outcome = run(&a, &mut instance(&library), &graph, &units, &s, &simulation).unwrap();
    assert_eq!(outcome.status, ABORTED);
    assert!(outcome.cycles < 50_000 + 4096 + 1000, "{} cycles", outcome.cycles);
    // Descending: units from the front are small, and those that ended are known to have.
    assert!(outcome.next_unit > 0 && outcome.next_unit < 40, "next unit {}", outcome.next_unit);
}

/// Nothing is explored any more once a record has found no room.
#[test]
fn a_run_whose_records_do_not_fit_ends_at_once() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let (graph, mut s, units) = long_task(&a);
    (s.k, s.ascending) = (5, true); // the first unit alone has 82,251 cliques
    s.list = Some(40);
    let simulation = Simulation { max_cycles: 60_000, ..Simulation::of(&a) };
    let outcome = run(&a, &mut instance(&library), &graph, &units, &s, &simulation).unwrap();
    assert_eq!((outcome.status, outcome.records.len()), (FULL, 80));
    assert_eq!(outcome.next_unit, 0);
}

/// Units that are in progress are finished, none is begun, and what was done is exact.
#[test]
fn a_run_is_stopped_after_its_units() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let (graph, mut s, units) = long_task(&a);
    s.k = 4;
    let mut simulation = Simulation { max_cycles: 3_000_000, ..Simulation::of(&a) };
    let mut model = instance(&library);
    let whole = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
    simulation.abort = Some((whole.cycles / 4, 1));
    let outcome = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
    assert_eq!(outcome.status, ABORTED);
    assert!(outcome.cycles < whole.cycles && outcome.next_unit < 40, "{}", outcome.next_unit);
    compare(&a, &graph, &units[..outcome.next_unit as usize], &s, &outcome).unwrap();
}

/// The largest embeddings of the machine, and their records: one beat to 14 vertices, two above. The
/// units are of the last vertex of a clique and one neighbour, since a whole one of 16 vertices has
/// 65,535 cliques.
#[test]
fn cliques_of_13_to_16_vertices() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let mut model = instance(&library);
    let task = |vertices: u32| {
        let all: Vec<(u32, u32)> =
            (0..vertices).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
        let unit = Unit { start: vertices - 1, first: vertices - 2, limit: vertices - 1 };
        (Csr::new(vertices as usize, &all, vec![]), [unit])
    };
    for (k, vertices, cliques) in [(13, 14, 12), (14, 15, 13), (15, 16, 14), (16, 16, 1)] {
        let (graph, units) = task(vertices);
        let s = Settings { list: Some(100), ..settings(&a, Application::Clique, k) };
        let simulation = Simulation { max_cycles: 2_000_000, ..Simulation::of(&a) };
        let outcome = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
        assert_eq!((outcome.status, outcome.records.len()), (DONE, cliques), "k = {k}");
        compare(&a, &graph, &units, &s, &outcome).unwrap();
        eprintln!("k = {k}: {} cycles, {cliques} cliques", outcome.cycles);
    }
    // A record of two beats is written whole or not at all.
    let mut s = settings(&a, Application::Clique, 15);
    s.list = Some(7);
    let (graph, units) = task(16);
    let outcome = run(&a, &mut model, &graph, &units, &s, &Simulation::of(&a)).unwrap();
    assert_eq!((outcome.status, outcome.records.len(), outcome.next_unit), (FULL, 3, 0));
}

/// The in-stream pauses within the dictionary, and the out-stream within records and report.
#[test]
fn streams_may_pause_anywhere() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let mut model = instance(&library);
    // Two records of 4 vertices share a beat: the last of an odd number goes out by itself, and the counts
    // wait behind it.
    let mut odd = vec![];
    for (seed, vertices) in [(7, 30), (1, 12)] {
        let graph = random_graph(&mut fastrand::Rng::with_seed(seed), vertices).ranked();
        let mut before: Option<Outcome> = None;
        for pause in [0, 40, 300] {
            let mut s = settings(&a, Application::Motif, 4);
            (s.dictionary, s.patterns) = motifs(4);
            s.list = Some(u32::MAX);
            let units = whole_units(&graph);
            let simulation = Simulation {
                in_pause: pause,
                out_pause: pause,
                max_cycles: 5_000_000,
                ..Simulation::of(&a)
            };
            let outcome = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
            compare(&a, &graph, &units, &s, &outcome).unwrap();
            assert!(outcome.records.len() > 10, "{} records", outcome.records.len());
            if let Some(before) = before {
                assert!(outcome.cycles > before.cycles, "a pause costs nothing");
            }
            odd.push(outcome.records.len() % 2 == 1);
            before = Some(outcome);
        }
    }
    assert!(odd.contains(&true) && odd.contains(&false), "records: {odd:?}");
}

/// The last unit is handed on to an idle core in the cycle in which the stream ends: the end of the
/// run is taken back.
#[test]
fn a_unit_that_comes_as_the_stream_ends_is_mined() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let graph = Csr::new(6, &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4), (4, 5)], vec![]);
    let s = settings(&a, Application::Clique, 3);
    let mut model = instance(&library);
    let all = whole_units(&graph);
    for units in [&all[5..], &all[..1], &all] {
        for in_pause in [0, 500] {
            let simulation =
                Simulation { spread: true, in_pause, max_cycles: 100_000, ..Simulation::of(&a) };
            let outcome = run(&a, &mut model, &graph, units, &s, &simulation).unwrap();
            assert_eq!((outcome.status, outcome.next_unit), (DONE, units.len() as u64));
            compare(&a, &graph, units, &s, &outcome).unwrap();
        }
    }
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

/// As many cases as must meet them.
const ENOUGH: u64 = 50;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// An instance runs 50 cases: each starts clean after the one before. Then comes another, whose
/// registers begin with other values.
fn fresh(library: &std::path::Path, model: &mut Model, seed: u64) {
    if seed % 50 == 0 && number("GRAMER_INITIAL").is_none() {
        *model = Model::start(library, initial(seed), &[]).unwrap();
    }
}

/// The seed of the registers' first values for a case: a model takes 1 to 2^31 - 1, and those of `make
/// test-long` are times.
fn initial(seed: u64) -> u32 {
    1 + (seed / 50 % (i32::MAX as u64)) as u32
}

#[test]
fn every_seed_of_a_case_has_first_values() {
    for (seed, expected) in
        [(0, 1), (50, 2), (99, 2), (50 * (i32::MAX as u64 - 1), i32::MAX as u32)]
    {
        assert_eq!(initial(seed), expected, "seed {seed}");
    }
    for seed in [17_955_742_147_600, u64::MAX] {
        assert!((1..=i32::MAX as u32).contains(&initial(seed)), "seed {seed}");
    }
}

/// The first seed of a test's random cases and their number, which is `cases` unless something else
/// is requested.
fn seeds(cases: u64) -> (u64, u64) {
    match (number("GRAMER_SEED"), number("GRAMER_CASES")) {
        (Some(seed), asked) => (seed, asked.unwrap_or(1)),
        (None, asked) => (0, asked.unwrap_or(cases)),
    }
}

fn random_cases(machine: &str, cases: u64, most_vertices: usize, test: &str) {
    let Some((a, library)) = core(machine) else { return };
    random_cases_on(&a, &library, cases, most_vertices, test, |_| Ok(()));
}

/// Whether the case of a seed has a filter, or a dictionary that selects, without which it would have other counts.
fn decides(a: &Accelerator, seed: u64, most_vertices: usize, outcome: &Outcome) -> [bool; 2] {
    let mut rng = fastrand::Rng::with_seed(seed);
    let Case { graph, settings, units, filter, .. } = draw_filtered(a, &mut rng, most_vertices);
    let differs = |settings: &Settings, filter: Option<&Filter>| {
        filtered_algorithm_1(a, &graph, &units, settings, filter).counts != outcome.counts
    };
    let unfiltered = Settings { filter: vec![], ..settings.clone() };
    let unselected = Settings { select: false, ..settings.clone() };
    [
        filter.is_some() && differs(&unfiltered, None),
        settings.select && differs(&unselected, filter.as_ref()),
    ]
}

/// `also` is a further check of an outcome.
fn random_cases_on(
    a: &Accelerator,
    library: &std::path::Path,
    cases: u64,
    most_vertices: usize,
    test: &str,
    also: impl Fn(&Outcome) -> Result<(), String>,
) {
    let (from, cases) = seeds(cases);
    let most_vertices = number("GRAMER_VERTICES").map_or(most_vertices, |n| n as usize);
    let mut model = instance(library);
    let mut met = [0; CORNERS.len()];
    let (mut deepest, mut decided) = (0, [0; 2]);
    for seed in from..from + cases {
        fresh(library, &mut model, seed);
        let found = random_case(a, &mut model, seed, most_vertices);
        match found.and_then(|outcome| also(&outcome).map(|()| outcome)) {
            Ok(outcome) => {
                for (sum, name) in met.iter_mut().zip(CORNERS) {
                    *sum += outcome.sum(name);
                }
                let cases = decides(a, seed, most_vertices, &outcome);
                decided.iter_mut().zip(cases).for_each(|(sum, case)| *sum += u32::from(case));
                let embeddings = outcome.sums("pu.embeddings");
                deepest = deepest.max(embeddings.iter().rposition(|&e| e > 0).unwrap_or(0) + 1);
            }
            Err(error) => panic!(
                "seed {seed}: {error}\nrepeat with: GRAMER_INITIAL={} GRAMER_SEED={seed} cargo test \
                 -p gramer-sim --test core {test}",
                model.seed
            ),
        }
    }
    if cases >= ENOUGH {
        let missed: Vec<_> = CORNERS.iter().zip(met).filter(|(_, sum)| *sum == 0).collect();
        assert!(missed.is_empty(), "corners that no case met: {missed:?}");
        assert!(deepest >= 7, "the deepest embedding had {deepest} vertices");
        let filters = a.applications.filter_words > 0;
        let [filtered, selected] = decided;
        assert_eq!(filtered > 0, filters, "cases in which a filter decides: {filtered}");
        assert!(selected > 0, "no case in which the dictionary decides");
    }
    let name = &a.machine.name;
    eprintln!("{cases} cases on {name}: {:?}", CORNERS.iter().zip(met).collect::<Vec<_>>());
}

#[test]
fn random_tasks() {
    random_cases("machines/small.yaml", 300, 60, "random_tasks");
}

/// What a fixed task costs, to the cycle: hits, misses, steals, waits. A change of the core that
/// changes any of it shows in sim/tests/counters.tsv; `GRAMER_BLESS=1` rewrites that file.
#[test]
fn counters_are_as_last_seen() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    counters_are(&a, &library, "sim/tests/counters.tsv", "counters_are_as_last_seen");
}

fn counters_are(a: &Accelerator, library: &std::path::Path, file: &str, test: &str) {
    let path = support::root().join(file);
    let mut model = instance(library);
    let mut text = String::from("task\tcounter\tvalues\n");
    for seed in 0..40 {
        let mut rng = fastrand::Rng::with_seed(1000 + seed);
        let mut case = draw(a, &mut rng, 400);
        if case.settings.application == Application::Motif {
            case.settings.k = 3;
            (case.settings.dictionary, case.settings.patterns) = motifs(3);
        }
        case.settings.slots = a.machine.slots - (seed % 2) as u32;
        case.settings.stealing = seed % 4 != 0;
        case.settings.tau = None;
        if seed % 5 == 0 {
            case.settings.lambda_eighths = 0; // by rank alone: lines of one vertex tie
        }
        case.settings.capacity = [0.1, 0.5, 1.0][seed as usize % 3];
        case.simulation.timing.latency = 56;
        case.simulation.timing.back_pressure = 0;
        case.simulation.timing.reorder = false;
        case.simulation.back_pressure = 0;
        let outcome =
            run(a, &mut model, &case.graph, &case.units, &case.settings, &case.simulation)
                .unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        for name in outcome.counters.keys() {
            text += &format!("{seed}\t{name}\t{:?}\n", outcome.sums(name));
        }
    }
    if std::env::var("GRAMER_BLESS").as_deref() == Ok("1") {
        std::fs::write(&path, &text).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let different: Vec<_> =
        text.lines().zip(before.lines()).filter(|(now, before)| now != before).take(5).collect();
    assert!(
        text == before,
        "seed 0: now and before: {different:?}\nif that is what was meant: GRAMER_BLESS=1 cargo \
         test -p gramer-sim --test core {test}, and look at the diff"
    );
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
    assert_eq!((failed.status, failed.next_unit), (ERROR, 0));
    assert!(failed.cycles < clean.cycles, "the run goes on after an error");
    assert!(failed.error_address >= 0x40_0000_0000 && failed.error_address % 64 == 0);
    simulation.timing.fail_at = None;
    let again = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
    assert_eq!((again.status, &again.counts), (DONE, &clean.counts));
}

/// A machine whose counts have 8 bits: a count that doesn't fit stays at 255, and the result says
/// so, whether it was one PU's or only the sum's.
#[test]
fn counts_stay_at_their_largest_value_and_say_so() {
    let Some((a, library)) = core("machines/saturating.yaml") else { return };
    let most = (1u64 << a.applications.count_bits) - 1;
    let mut model = instance(&library);
    let mut met = [0; 3]; // fits, does not, and the largest value itself
    let star: Vec<(u32, u32)> = (1..=most as u32).map(|v| (0, v)).collect();
    let exact = Csr::new(star.len() + 1, &star, vec![0; star.len() + 1]);
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut case = draw(&a, &mut rng, 60);
        if seed == 0 {
            // As many edges as a count can hold, and one unit each.
            case.graph = exact.clone();
            case.units = whole_units(&exact);
            case.settings = settings(&a, Application::Fsm, 2);
            case.settings.dictionary = vec![0x8000; a.applications.dictionary_entries as usize];
        }
        let (graph, units, s) = (&case.graph, &case.units, &case.settings);
        let outcome = run(&a, &mut model, graph, units, s, &case.simulation)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        let truth = algorithm_1(&a, graph, units, s).counts;
        let capped: Vec<u64> = truth.iter().map(|&count| count.min(most)).collect();
        assert_eq!(outcome.counts, capped, "seed {seed}");
        assert_eq!(outcome.saturated, truth.iter().any(|&count| count > most), "seed {seed}");
        met[usize::from(outcome.saturated)] += 1;
        met[2] += usize::from(truth.contains(&most));
    }
    assert!(met.iter().all(|&n| n > 0) && met[1] >= 5, "{met:?}");
}

#[test]
fn random_tasks_without_compaction() {
    random_cases("machines/uncompacted.yaml", 120, 60, "random_tasks_without_compaction");
}

/// `small.yaml` with other values.
fn small_with(name: &str, other: &str) -> Option<(Accelerator, std::path::PathBuf)> {
    if support::no_verilator() {
        return None;
    }
    let text = format!("base: small.yaml\n{other}\n");
    let path = support::root().join(format!("machines/{name}.yaml"));
    let a = Accelerator::parse(&text, &path).unwrap();
    let library = model::build(&a, Build::default()).unwrap();
    Some((a, library))
}

/// The small machine with the paper's connectivity check.
fn small_candidate() -> Option<(Accelerator, std::path::PathBuf)> {
    small_with("small_candidate", "machine: {name: small_candidate, check: candidate}")
}

/// Memories for filters of up to four words, and in long tests of one.
#[test]
fn random_tasks_with_short_filters() {
    for words in [4, 1].into_iter().take(environment::most_cases(1)) {
        let other = format!("applications: {{filter_words: {words}}}");
        let Some((a, library)) = small_with("small_filter", &other) else { return };
        random_cases_on(&a, &library, 120, 60, "random_tasks_with_short_filters", |_| Ok(()));
    }
}

/// With the paper's check every candidate's record is read once, and that of every unit's start.
#[test]
fn random_tasks_with_the_candidate_s_lists() {
    let Some((a, library)) = small_candidate() else { return };
    let test = "random_tasks_with_the_candidate_s_lists";
    random_cases_on(&a, &library, 150, 60, test, |outcome| {
        let candidates: u64 = outcome.sums("pu.candidates").iter().sum();
        let [records, units] = ["pu.vertex_accesses", "core.work_units"].map(|n| outcome.sum(n));
        match records == candidates + units {
            true => Ok(()),
            false => Err(format!("{records} records of {candidates} candidates, {units} units")),
        }
    });
}

#[test]
fn random_tasks_with_the_candidate_s_lists_that_are_stopped() {
    let Some((a, library)) = small_candidate() else { return };
    stopped_cases(&a, &library, 200, "random_tasks_with_the_candidate_s_lists_that_are_stopped");
}

#[test]
fn counters_with_the_candidate_s_lists_are_as_last_seen() {
    let Some((a, library)) = small_candidate() else { return };
    let test = "counters_with_the_candidate_s_lists_are_as_last_seen";
    counters_are(&a, &library, "sim/tests/candidate_counters.tsv", test);
}

#[test]
fn random_tasks_on_the_paper_s_machine() {
    random_cases("accelerator.yaml", 50, 400, "random_tasks_on_the_paper_s_machine");
}

/// The largest motifs that the paper's machine counts: a dictionary of 2^15 entries.
#[test]
fn motifs_of_six_vertices_on_the_paper_s_machine() {
    let Some((a, library)) = core("accelerator.yaml") else { return };
    assert_eq!(a.applications.max_motif, 6);
    let mut model = instance(&library);
    let (mut patterns_met, mut rng) =
        (std::collections::BTreeSet::new(), fastrand::Rng::with_seed(6));
    for case in 0..12 {
        let vertices = rng.u32(8..=24);
        let edges: Vec<(u32, u32)> = (0..rng.u32(vertices..=3 * vertices))
            .map(|_| (rng.u32(0..vertices), rng.u32(0..vertices)))
            .collect();
        let graph = Csr::new(vertices as usize, &edges, vec![]).ranked();
        let (dictionary, patterns) = motifs(6);
        let ascending = case % 2 == 1;
        let s = Settings { ascending, dictionary, patterns, ..settings(&a, Application::Motif, 6) };
        let units = whole_units(&graph);
        let simulation = Simulation { max_cycles: 10_000_000, ..Simulation::of(&a) };
        let outcome = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
        compare(&a, &graph, &units, &s, &outcome).unwrap_or_else(|e| panic!("case {case}: {e}"));
        let met = outcome.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        patterns_met.extend(met.map(|(number, _)| number));
    }
    assert!(patterns_met.len() > 60, "{} of 112 patterns", patterns_met.len());
}

/// The small machine with stamps so short that its memories age their weights every few dozen
/// accesses: results stay, and so do nearly all hits.
#[test]
fn weights_are_aged_many_times() {
    let Some((long, library)) = core("machines/small.yaml") else { return };
    let text = "base: small.yaml\nmachine: {name: small_aged}\nmemory: {stamp_bits: 6}\n";
    let path = support::root().join("machines/small_aged.yaml");
    let short = Accelerator::parse(text, &path).unwrap();
    let aged = model::build(&short, Build::default()).unwrap();
    let (mut long_model, mut short_model) = (instance(&library), instance(&aged));
    let (from, cases) = seeds(40);
    for seed in from..from + cases {
        random_case(&short, &mut short_model, seed, 60)
            .unwrap_or_else(|e| panic!("seed {seed} with short stamps: {e}"));
    }
    for (lru, lambda) in [(true, 1), (false, 1), (false, LAMBDA_MAX)] {
        let graph = random_graph(&mut fastrand::Rng::with_seed(3), 400).ranked();
        let s = Settings {
            lru,
            lambda_eighths: lambda * LAMBDA_STEPS,
            ..settings(&long, Application::Clique, 4)
        };
        let units = whole_units(&graph);
        let simulation = Simulation { max_cycles: 10_000_000, ..Simulation::of(&long) };
        let before = run(&long, &mut long_model, &graph, &units, &s, &simulation).unwrap();
        let after = run(&short, &mut short_model, &graph, &units, &s, &simulation).unwrap();
        compare(&short, &graph, &units, &s, &after).unwrap();
        let beats = [&before, &after].map(|o| o.sum("bank.beats"));
        let cycles = [before.cycles, after.cycles];
        eprintln!("lru {lru}, λ {lambda}: beats {beats:?}, cycles {cycles:?}");
        // They were aged: each sweep holds its memory.
        assert!(lambda == 1 && !lru || cycles[1] > cycles[0], "{cycles:?}");
        assert!(beats[1].abs_diff(beats[0]) * 50 <= beats[0], "{beats:?}");
    }
}

/// The small machine with its scratchpads as more sets of the caches. All is low-priority there.
#[test]
fn random_tasks_in_a_uniform_memory() {
    if support::no_verilator() {
        return;
    }
    let text = "base: small.yaml\nmachine: {name: small_uniform}\n\
                memory: {layout: uniform, vertex_cache_bytes: 256, edge_cache_bytes: 512}\n";
    let path = support::root().join("machines/small_uniform.yaml");
    let a = Accelerator::parse(text, &path).unwrap();
    assert_eq!(a.scratchpad_lines(), (0, 0));
    let library = model::build(&a, Build::default()).unwrap();
    let mut model = instance(&library);
    let mut met = [0; 3];
    // The benches of the partition and of this memory have what is particular to it.
    let (from, cases) = seeds(60);
    for seed in from..from + cases {
        let outcome = random_case(&a, &mut model, seed, 60)
            .unwrap_or_else(|e| panic!("seed {seed} in a uniform memory: {e}"));
        for kind in ["vertex", "edge"] {
            for (sum, name) in met.iter_mut().zip(["high_hits", "low_hits", "misses"]) {
                *sum += outcome.sum(&format!("partition.{kind}_{name}"));
            }
        }
    }
    assert_eq!(met[0], 0, "hits in a scratchpad that isn't there");
    assert!(cases < ENOUGH || met[1] > 0 && met[2] > 0, "low-priority hits, misses: {met:?}");
}

/// Registers between the regions of the die change the time alone: whole runs, and runs that are
/// stopped, fail or have no room.
#[test]
fn random_tasks_with_registers_between_regions() {
    if support::no_verilator() {
        return;
    }
    // Each number of registers is another model. One register is simpler than two: left to long tests, while two
    // registers get its tasks.
    let (mut from, cases) = seeds(if environment::long() { 25 } else { 50 });
    let mut met = [0; 4];
    for stages in if environment::long() { 1 } else { 2 }..=2u64 {
        let text = format!(
            "base: small.yaml\nmachine: {{name: small_slr{stages}, slr_registers: {stages}}}\n"
        );
        let path = support::root().join("machines/small_slr.yaml");
        let a = Accelerator::parse(&text, &path).unwrap();
        let library = model::build(&a, Build::default()).unwrap();
        let mut model = instance(&library);
        if number("GRAMER_SEED").is_none() {
            from = 1000 * stages; // other tasks for each number of registers
        }
        for seed in from..from + cases {
            random_case(&a, &mut model, seed, 60)
                .unwrap_or_else(|e| panic!("seed {seed}, {stages} registers: {e}"));
        }
        for seed in from..from + cases {
            let runs = random_stops(&a, &mut model, seed)
                .unwrap_or_else(|e| panic!("seed {seed}, stopped, {stages} registers: {e}"));
            met.iter_mut().zip(runs).for_each(|(sum, n)| *sum += n);
        }
    }
    assert!(cases < 25 || met.iter().all(|&n| n >= 4), "runs by status: {met:?}");
}

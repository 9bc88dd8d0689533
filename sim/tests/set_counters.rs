//! What fixed tasks cost the set core, to the cycle: lines, steps, conflicts, waits of each PU and partition, with
//! the image loaded and with the one that is there. A change of the core that changes any of it shows in
//! sim/tests/set_counters.tsv; `GRAMER_BLESS=1` rewrites that file. Faults that change speed alone are noticed here. And
//! the same tasks do the same after a reset in the middle of another run, with other first values of registers, and on
//! Verilator's unchanged output.

use std::fmt::Write as _;

use gramer::Graph;
use gramer::accelerator::set::image::{SetImage, Words};
use gramer::accelerator::set::motifs5;
use gramer::accelerator::set::plan::image::PlanImage;
use gramer::accelerator::set::plan::units as plan_units;
use gramer::accelerator::set::plan::words::Program;
use gramer::accelerator::set::units::{Arrange, Operation, deal, units};
use gramer::accelerator::set::wedges::image::WedgeImage;
use gramer::accelerator::set::wedges::{Shape, units as wedge_units};
use gramer::engine::Units;
use gramer::pattern::Pattern;
use gramer::task::Induced;
use gramer_machine::{Accelerator, named::named};
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{DONE, Outcome, Simulation};
use gramer_sim::set::{Run, run};
use gramer_testing::environment;
use gramer_testing::graphs::{pairs, ranked};

/// A task as a cluster is sent it.
struct Task {
    name: String,
    image: Vec<u8>,
    stream: Vec<u8>,
    wait: bool,
}

/// A random graph of `n` vertices, or with `hubs` of them that are next to most others.
fn graph(seed: u64, n: u64, per_cent: u32, hubs: u64) -> Graph {
    let mut rng = fastrand::Rng::with_seed(seed);
    ranked(&pairs(n, |_, v| rng.u32(0..100) < if v < hubs { 80 } else { per_cent }))
}

/// Cliques, and the sums of 4-motifs, by themselves and in one run.
fn set_tasks(machine: &Accelerator) -> Vec<Task> {
    let cliques = |k| Operation::Cliques { k };
    let operations = [
        vec![cliques(3)],
        vec![cliques(4)],
        vec![cliques(6)],
        vec![Operation::Paths],
        vec![cliques(4), Operation::Paths],
    ];
    let graphs = [graph(1, 60, 20, 0), graph(2, 90, 30, 0), graph(3, 200, 2, 2)];
    let mut tasks = vec![];
    for (at, graph) in graphs.iter().enumerate() {
        for operations in &operations {
            let view = graph.view();
            let lists = operations.iter().map(|o| o.lists()).max_by_key(|l| *l as u8).unwrap();
            let image = SetImage::new(view, lists, 1).unwrap();
            let work = units(view, &image, operations, Units::All);
            let arrange = [Arrange::ByAddress, Arrange::ByWork][at % 2];
            let dealt = deal(machine, operations, work, 1, arrange);
            tasks.push(Task {
                name: format!("graph {at} {operations:?}").replace('\t', " "),
                image: image.bytes().to_vec(),
                stream: dealt[0].whole(),
                wait: dealt[0].wait,
            });
        }
    }
    tasks
}

/// Patterns by their names, with their edges.
const PATTERNS: [(&str, &[(usize, usize)]); 4] = [
    ("diamond", &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
    ("4-cycle", &[(0, 1), (1, 2), (2, 3), (3, 0)]),
    ("tailed triangle", &[(0, 1), (1, 2), (2, 0), (2, 3)]),
    ("house", &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]),
];

/// Search plans of small patterns.
fn plan_tasks(machine: &Accelerator) -> Vec<Task> {
    let graphs = [graph(4, 24, 30, 0), graph(5, 60, 3, 2)];
    let mut tasks = vec![];
    for (at, graph) in graphs.iter().enumerate() {
        for (name, edges) in PATTERNS {
            let vertices = edges.iter().map(|&(u, v)| u.max(v) + 1).max().unwrap();
            for induced in [Induced::Vertex, Induced::Edge] {
                let pattern = Pattern::from_edges(vertices, edges);
                let program = Program::counting(&pattern, induced, 7).unwrap();
                let image = PlanImage::new(graph.view(), program.order()).unwrap();
                let pus = machine.machine.processing_units;
                let work = plan_units::units(graph.view(), Units::All, &image, &program, pus);
                let dealt = plan_units::deal(machine, (&program, &image), work, 1);
                tasks.push(Task {
                    name: format!("plan {at} {name} {induced:?}"),
                    image: image.bytes().to_vec(),
                    stream: dealt[0].whole(),
                    wait: true,
                });
            }
        }
    }
    tasks
}

/// Houses, 5-cycles and the sums for 5-motifs.
fn wedge_tasks(machine: &Accelerator) -> Vec<Task> {
    let graphs = [graph(6, 40, 30, 0), graph(7, 150, 3, 2), graph(8, 400, 1, 1)];
    let mut tasks = vec![];
    for (at, graph) in graphs.iter().enumerate() {
        for shape in [Shape::House, Shape::FiveCycle] {
            let image = WedgeImage::new(graph.view()).unwrap();
            let work = wedge_units::units(machine, graph.view(), Units::All, &image, shape);
            let dealt = wedge_units::deal(machine, shape, work, 1);
            tasks.push(Task {
                name: format!("wedges {at} {shape:?}"),
                image: image.bytes().to_vec(),
                stream: dealt[0].whole(),
                wait: true,
            });
        }
        let image = WedgeImage::new(graph.view()).unwrap();
        let work = motifs5::units::units(machine, graph.view(), &image, 1);
        tasks.push(Task {
            name: format!("wedges {at} motifs5"),
            image: image.bytes().to_vec(),
            stream: motifs5::units::deal(machine, work, 1)[0].whole(),
            wait: true,
        });
    }
    tasks
}

/// Runs each task twice, with its image loaded and with the one that is there; `name` is of the record.
fn compare(tasks: fn(&Accelerator) -> Vec<Task>, name: &str, test: &str) {
    let machine = named("set-small").unwrap().unwrap();
    if model::verilator().is_none() {
        return environment::skip(environment::RTL, "there is no verilator");
    }
    let library = model::build(&machine, Build::default()).unwrap();
    let mut core = Model::load(&library).unwrap();
    let simulation = Simulation { max_cycles: 5_000_000, ..Simulation::of(&machine) };
    let mut text = String::from("task\tcounter\tvalues of each\n");
    for task in tasks(&machine) {
        for load in [true, false] {
            let job = Run { image: &task.image, stream: &task.stream, load, wait: task.wait };
            let what = format!("{}{}", task.name, if load { ", loaded" } else { "" });
            let outcome = run(&machine, &mut core, &job, &simulation)
                .unwrap_or_else(|e| panic!("{what}: {e:#}"));
            assert_eq!(outcome.status, DONE, "{what}");
            // From start to done: the core's own cycles end before it settles and reports.
            let _ = writeln!(text, "{what}\tcycles\t[{}]", outcome.cycles);
            for (counter, units) in &outcome.counters {
                let values: Vec<u64> = units.iter().flatten().copied().collect();
                let _ = writeln!(text, "{what}\t{counter}\t{values:?}");
            }
        }
    }
    let path = environment::root().join("sim/tests").join(name);
    if std::env::var("GRAMER_BLESS").as_deref() == Ok("1") {
        std::fs::write(&path, &text).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let different: Vec<_> =
        text.lines().zip(before.lines()).filter(|(now, before)| now != before).take(5).collect();
    assert!(
        text == before,
        "seed 0: now and before: {different:?}\nif that is what was meant: GRAMER_BLESS=1 cargo test -p gramer-sim \
         --test set_counters {test}, and look at the diff"
    );
}

#[test]
fn counters_of_sets_are_as_last_seen() {
    compare(set_tasks, "set_counters.tsv", "counters_of_sets_are_as_last_seen");
}

#[test]
fn counters_of_plans_are_as_last_seen() {
    compare(plan_tasks, "set_plan_counters.tsv", "counters_of_plans_are_as_last_seen");
}

#[test]
fn counters_of_wedges_are_as_last_seen() {
    compare(wedge_tasks, "set_wedge_counters.tsv", "counters_of_wedges_are_as_last_seen");
}

/// All tasks of the set core, and the small machine's model; `None` without Verilator.
fn all_tasks() -> Option<(Accelerator, std::path::PathBuf, Vec<Task>)> {
    let machine = named("set-small").unwrap().unwrap();
    if model::verilator().is_none() {
        environment::skip(environment::RTL, "there is no verilator");
        return None;
    }
    let library = model::build(&machine, Build::default()).unwrap();
    let tasks = [set_tasks, plan_tasks, wedge_tasks].iter().flat_map(|of| of(&machine)).collect();
    Some((machine, library, tasks))
}

/// What a task's run with a load of its image gives, with waits for memory and streams in every third.
fn loaded(
    machine: &Accelerator,
    core: &mut Model,
    (number, task): (usize, &Task),
    max_cycles: Option<u64>,
) -> anyhow::Result<Outcome> {
    let of = Simulation::of(machine);
    let mut s = Simulation { max_cycles: max_cycles.unwrap_or(5_000_000), ..of };
    if number % 3 == 2 {
        (s.back_pressure, s.timing.back_pressure, s.timing.reorder) = (3, 3, true);
    }
    let job = Run { image: &task.image, stream: &task.stream, load: true, wait: task.wait };
    run(machine, core, &job, &s)
}

fn equal(what: &str, expected: &Outcome, found: &Outcome) {
    let of = |o: &Outcome| (o.status, o.cycles, o.counts.clone(), o.counters.clone());
    assert!(of(expected) == of(found), "{what}: {:?} became {:?}", of(expected), of(found));
}

/// From the first cycles of a run to its report.
#[test]
fn a_run_after_a_reset_in_the_middle_of_another_is_clean() {
    let Some((machine, library, tasks)) = all_tasks() else { return };
    let mut model = Model::load(&library).unwrap();
    for at in tasks.iter().enumerate() {
        let (number, task) = at;
        let mut first = Model::load(&library).unwrap();
        let expected = loaded(&machine, &mut first, at, None).unwrap();
        assert_eq!(expected.status, DONE, "{}", task.name);
        let cut = expected.cycles * (number as u64 % 10 + 1) / 11;
        // Both begin with a reset, after which the map is cleared before its first use.
        model.fresh = true;
        let error = loaded(&machine, &mut model, at, Some(cut)).unwrap_err().to_string();
        assert!(error.starts_with("no end after"), "{error}");
        model.fresh = true;
        let again = loaded(&machine, &mut model, at, None).unwrap();
        equal(&format!("{} after a reset", task.name), &expected, &again);
    }
}

/// Registers may begin with any value. In long tests: what improves the model's sources changes nothing, which
/// takes a second model.
#[test]
fn other_models_of_the_set_core_do_the_same() {
    let Some((machine, library, tasks)) = all_tasks() else { return };
    let mut models = vec![];
    if environment::long() {
        let raw = model::build(&machine, Build { raw: true, ..Build::default() }).unwrap();
        assert_ne!(raw, library);
        models.push(("raw".to_string(), Model::load(&raw).unwrap()));
    }
    for seed in 2..5 {
        models.push((format!("GRAMER_INITIAL={seed}"), Model::start(&library, seed, &[]).unwrap()));
    }
    let mut core = Model::load(&library).unwrap();
    for at in tasks.iter().enumerate().step_by(3) {
        let expected = loaded(&machine, &mut core, at, None).unwrap();
        for (name, model) in &mut models {
            let found = loaded(&machine, model, at, None).unwrap();
            equal(&format!("{name}: {}", at.1.name), &expected, &found);
        }
    }
}

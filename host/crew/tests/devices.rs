//! Mixes of devices against one: the CPU engine, algorithm 1, and any OpenCL device (the one that
//! GRAMER_GPU_DEVICE names, by default the portable one); devices that fail on the way.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_cpu::Cpu;
use gramer_crew::Crew;
use gramer_engine::metrics::Value;
use gramer_engine::reference::Reference;
use gramer_engine::{
    Ask, Choices, Device, DeviceGraph, Division, Engine, EngineExt, Failure, Needs, Outcome, Plan,
    PreparedGraph, Query, Reply, Run, Scheme, Share, Sink, Units,
};
use gramer_gpu::{ClassShape, Fault, Gpu, Settings, Strategy};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::prepare::renumber;
use gramer_graph::{Builder, Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Measure, SizeLimit, Task};
use gramer_testing::environment;
use gramer_testing::sinks::Sets;

fn gpu(strategy: Option<Strategy>) -> Option<Gpu> {
    open(Settings { strategy, ..Settings::default() })
}

fn open(settings: Settings) -> Option<Gpu> {
    let name = std::env::var("GRAMER_GPU_DEVICE").unwrap_or_else(|_| "gpu:portable".into());
    let cache = Some(std::env::temp_dir().join("gramer-gpu-tests"));
    let checked = name == "gpu:portable";
    match Gpu::open(&name, &Settings { cache, checked, ..settings }) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            environment::skip(environment::OPENCL, &error.to_string());
            None
        }
    }
}

fn graph(labelled: bool) -> Graph {
    let model = Model::Rmat { scale: 7, edge_factor: 5, a: 0.57, b: 0.19, c: 0.19 };
    let labels = labelled.then_some(Labels { count: 3, exponent: 0.5 });
    let recipe = Recipe { model, seed: 11, vertex_labels: labels, edge_labels: None };
    let context = Context::default();
    renumber(&generate(&recipe, &context).unwrap(), &context).unwrap()
}

fn cliques() -> impl Iterator<Item = Task> {
    (3..=5).map(|k| Task::Clique { k })
}

fn motifs() -> Vec<Task> {
    let of = |k| [Induced::Vertex, Induced::Edge].map(|induced| Task::Motif { k, induced });
    [of(3), of(4)].concat()
}

fn matches(labelled: bool) -> Vec<Task> {
    let mut patterns: Vec<Pattern> = ["edge", "wedge", "4-path", "diamond", "house"]
        .iter()
        .map(|name| gramer_pattern::named(name).unwrap())
        .collect();
    if labelled {
        for pattern in &mut patterns {
            (0..pattern.vertices()).for_each(|v| pattern.set_vertex_label(v, v as u32 % 2));
        }
    } else {
        patterns.push(Pattern::from_edges(1, &[]));
    }
    let of = |pattern: &Pattern| {
        [(Induced::Edge, false), (Induced::Vertex, true)].map(|(induced, mappings)| Task::Match {
            pattern: pattern.clone(),
            induced,
            mappings: mappings.then_some(Mappings::Isomorphism),
        })
    };
    patterns.iter().flat_map(of).collect()
}

/// The same answer as the CPU engine's, and every device named.
fn agrees(crew: &Crew, graph: &Graph, task: &Task, devices: usize) {
    let context = Context::with_threads(2);
    let right = Cpu.run(graph, task, None, &context).unwrap();
    let answer = crew.run(graph, task, None, &context).unwrap();
    assert!(answer.complete && answer.share.is_none() && answer.sums.is_none(), "{task:?}");
    assert_eq!(answer.results, right.results, "{}: {task:?}", crew.name());
    assert_eq!(answer.rows, right.rows);
    assert_eq!(answer.devices.len(), devices);
    assert!(answer.devices.iter().all(|d| d.get("share.busy").is_some()));
    let parts = |name: &str| -> Vec<f64> {
        let part = |d: &gramer_engine::DeviceMetrics| d.get(name).and_then(Value::number);
        answer.devices.iter().filter_map(part).collect()
    };
    let (portions, candidates) = (parts("share.portions"), parts("share.candidates"));
    // What takes no time each device does whole.
    let shared = match candidates.len() {
        0 => portions.iter().sum(),
        _ => candidates.iter().sum::<f64>(),
    };
    let none = candidates.len() == devices && shared == 0.0;
    assert!(none || (shared - 1.0).abs() < 1e-9, "{portions:?}, {candidates:?}");
    assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
}

#[test]
fn two_of_a_kind_answer_as_one() {
    let both = Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]);
    assert_eq!(both.name(), "cpu,cpu");
    let (plain, labelled) = (graph(false), graph(true));
    let sizes = Task::CliqueSizes { smallest: 3, largest: 20 };
    let more = [sizes, Task::MaximalCliques, Task::Motif { k: 5, induced: Induced::Vertex }];
    for task in cliques().chain(motifs()).chain(matches(false)).chain(more) {
        agrees(&both, &plain, &task, 2);
    }
    let limit = SizeLimit::MaxVertices(3);
    let fsm = Task::Fsm { limit, support: 20, measure: Measure::Embeddings };
    for task in matches(true).into_iter().chain([fsm]) {
        agrees(&both, &labelled, &task, 2);
    }
    for empty in [Builder::new().build(), {
        let mut alone = Builder::new();
        alone.vertex_range(0..3);
        alone.build()
    }] {
        agrees(&both, &empty, &Task::Clique { k: 3 }, 2);
        agrees(&both, &empty, &Task::Motif { k: 4, induced: Induced::Vertex }, 2);
    }
}

/// A graph on which the phases of a closed form are worth it to be shared.
#[test]
fn closed_forms_are_shared_phase_by_phase() {
    let model = Model::Rmat { scale: 12, edge_factor: 12, a: 0.57, b: 0.19, c: 0.19 };
    let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
    let context = Context::with_threads(3);
    let large = generate(&recipe, &context).unwrap();
    let three = Crew::new(vec![Box::new(Cpu), Box::new(Cpu), Box::new(Cpu)]);
    let diamond = gramer_pattern::named("diamond").unwrap();
    // On a busy machine one may have done all before another asks.
    let mut took_part = 0;
    for task in [
        Task::Motif { k: 5, induced: Induced::Vertex },
        Task::Match { pattern: diamond, induced: Induced::Vertex, mappings: None },
    ] {
        let right = Cpu.run(&large, &task, None, &context).unwrap();
        let answer = three.run(&large, &task, None, &context).unwrap();
        assert_eq!(answer.results, right.results, "{task:?}");
        let share =
            |d: &gramer_engine::DeviceMetrics| d.get("share.candidates").and_then(Value::number);
        let parts: Vec<f64> = answer.devices.iter().filter_map(share).collect();
        assert_eq!(parts.len(), 3, "{parts:?}");
        took_part = took_part.max(parts.iter().filter(|part| **part > 0.0).count());
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{parts:?}");
    }
    assert!(took_part > 1, "no member shared anything");
}

#[test]
fn different_kinds_follow_one_rule() {
    let mixed = Crew::new(vec![Box::new(Cpu), Box::new(Reference::default())]);
    let query = Query::new(Task::Clique { k: 3 });
    assert_eq!(mixed.plan(&Ask::new(&query)).unwrap().scheme, Scheme::Ids { ascending: false });
    let plain = graph(false);
    for task in cliques().chain([3, 4].map(|k| Task::Motif { k, induced: Induced::Vertex })) {
        agrees(&mixed, &plain, &task, 2);
    }
    let limit = SizeLimit::MaxVertices(3);
    let fsm = Task::Fsm { limit, support: 20, measure: Measure::Embeddings };
    let text = mixed.run(&plain, &fsm, None, &Context::default()).unwrap_err().to_string();
    assert!(text.contains("devices of one kind"), "{text}");
}

#[test]
fn an_opencl_device_beside_others() {
    let (Some(one), Some(two), Some(three)) = (gpu(None), gpu(None), gpu(None)) else { return };
    let twice = Crew::new(vec![Box::new(one), Box::new(two)]);
    let mixed = Crew::new(vec![Box::new(three), Box::new(Cpu)]);
    let (plain, labelled) = (graph(false), graph(true));
    // More sizes than there are, and the smallest alone of none.
    let sizes =
        [(3, 9), (15, 16)].map(|(smallest, largest)| Task::CliqueSizes { smallest, largest });
    for task in cliques().chain(sizes).chain(motifs()).chain(matches(false)) {
        agrees(&twice, &plain, &task, 2);
        if !matches!(task, Task::CliqueSizes { .. }) {
            agrees(&mixed, &plain, &task, 2);
        }
    }
    for task in matches(true) {
        agrees(&twice, &labelled, &task, 2);
        agrees(&mixed, &labelled, &task, 2);
    }
}

/// Several devices of one kind take the same tasks in turn; those that differ share by portions.
#[test]
fn cliques_by_opencl_devices_together() {
    let model = Model::ErdosRenyiEdges { vertices: 90, edges: 1800 };
    let recipe = Recipe { model, seed: 5, vertex_labels: None, edge_labels: None };
    let context = Context::default();
    let dense = renumber(&generate(&recipe, &context).unwrap(), &context).unwrap();
    let small = vec![ClassShape::parse("1:32:1:8")];
    // Larger roots are replaced by their arcs where cliques are large, else they are in global memory.
    for (devices, classes) in [(2, vec![]), (3, small.clone())] {
        for pivots in [Some(false), Some(true)] {
            let settings = Settings { classes: classes.clone(), pivots, ..Settings::default() };
            let open = || Some(Box::new(open(settings.clone())?) as Box<dyn Engine>);
            let Some(all) = (0..devices).map(|_| open()).collect() else { return };
            let crew = Crew::new(all);
            let prepared = crew.prepare(&dense, &context).unwrap();
            for k in [4, 5, 6, 7, 8, 5] {
                let task = Task::Clique { k };
                let right = Cpu.run(&dense, &task, None, &context).unwrap();
                let answer = prepared.run(&task, Units::All, None, &context).unwrap();
                assert_eq!(answer.results, right.results, "{devices} {pivots:?} {k}");
                assert!(answer.complete && right.results[0].count > 0, "{k}");
                for device in &answer.devices {
                    // A run of portions says how many runs it was.
                    assert!(device.get("share.runs").is_none(), "{device:?}");
                    let part = device.get("share.portions").and_then(Value::number);
                    assert_eq!(part, Some(1.0 / devices as f64));
                }
            }
            let stopped = Context::default();
            stopped.cancel.cancel();
            let outcome = prepared.run(&Task::Clique { k: 6 }, Units::All, None, &stopped).unwrap();
            assert!(!outcome.complete && outcome.results.iter().all(|r| r.count == 0));
        }
    }
    let settings = [vec![], small].map(|classes| Settings { classes, ..Settings::default() });
    let unlike = settings.map(|settings| Some(Box::new(open(settings)?) as Box<dyn Engine>));
    let Some(unlike) = unlike.into_iter().collect() else { return };
    let unlike = Crew::new(unlike);
    let answer = unlike.run(&dense, &Task::Clique { k: 5 }, None, &context).unwrap();
    assert_eq!(
        answer.results,
        Cpu.run(&dense, &Task::Clique { k: 5 }, None, &context).unwrap().results
    );
    assert!(answer.devices.iter().all(|device| device.get("share.runs").is_some()));
}

/// As with `gpu:0,0,0,0`, by the strategies for which several GPUs are measured.
#[test]
fn four_times_an_opencl_device() {
    let (plain, labelled) = (graph(false), graph(true));
    let limit = SizeLimit::MaxEdges(3);
    let frequent = Task::Fsm { limit, support: 20, measure: Measure::Mni };
    let motifs = Task::Motif { k: 4, induced: Induced::Vertex };
    for strategy in [None, Some(Strategy::Table)] {
        // Tables fill what they are given.
        let settings = Settings { strategy, memory: Some(16 << 20), ..Settings::default() };
        let device = || Some(Box::new(open(settings.clone())?) as Box<dyn Engine>);
        let devices = (0..4).map(|_| device());
        let Some(devices) = devices.collect() else { return };
        let four = Crew::new(devices);
        for task in matches(true) {
            agrees(&four, &labelled, &task, 4);
        }
        if strategy.is_none() {
            [Task::Clique { k: 5 }, motifs.clone()]
                .iter()
                .for_each(|t| agrees(&four, &plain, t, 4));
            let right = Cpu.run(&labelled, &frequent, None, &Context::default()).unwrap();
            let answer = four.run(&labelled, &frequent, None, &Context::default()).unwrap();
            assert!(answer.results == right.results && answer.devices.len() == 4);
        }
    }
}

/// Every strategy of a GPU, with shares that leave gaps, is the sum of its shares.
#[test]
fn shares_of_an_opencl_device_add_up() {
    let plain = graph(false);
    let view = plain.view();
    let context = Context::with_threads(2);
    let units: Vec<_> = Units::All.iter(view).collect();
    let shares: Vec<Share> = (0..3)
        .map(|at| {
            let own: Vec<_> = units.iter().copied().skip(at).step_by(3).collect();
            Share::of(view, &own).unwrap()
        })
        .chain([Share::default()])
        .collect();
    for strategy in [Strategy::Local, Strategy::Formula, Strategy::Plan, Strategy::Wide] {
        let Some(gpu) = gpu(Some(strategy)) else { return };
        for by_ids in [false, true] {
            let prepared = gpu.prepare(&plain, &context).unwrap();
            let division = Division {
                terms: Needs::SHARE | Needs::BY_IDS,
                scheme: Scheme::Ids { ascending: false },
            };
            let division = by_ids.then_some(&division);
            let run = |task: &Task, share| {
                let units = Units::Share(share);
                let query = Query::new(task.clone());
                prepared.counts(&query, &Run { units, division, ..Run::new(&context) })
            };
            let six = [Task::Clique { k: 6 }];
            for task in cliques().chain(six).chain(motifs()).chain(matches(false)) {
                if gpu.plan(&Ask::new(&Query::new(task.clone()))).is_err() {
                    continue;
                }
                if strategy == Strategy::Wide && matches!(task, Task::Clique { k: 5.. }) {
                    continue;
                }
                // There `wide` alone has motifs.
                if by_ids && strategy != Strategy::Wide && matches!(task, Task::Motif { .. }) {
                    let text = run(&task, &shares[0]).unwrap_err().to_string();
                    assert!(text.contains("with devices of another kind"), "{text}");
                    continue;
                }
                let parts = shares.iter().map(|share| run(&task, share).unwrap());
                let sum = Outcome::merge(&task, &plain, parts).unwrap();
                let right = Cpu.run(&plain, &task, None, &context).unwrap();
                assert_eq!(sum.results, right.results, "{strategy:?} {by_ids}: {task:?}");
            }
        }
    }
    let Some(gpu) = gpu(None) else { return };
    let limit = SizeLimit::MaxVertices(3);
    let fsm = Task::Fsm { limit, support: 20, measure: Measure::Embeddings };
    let prepared = gpu.prepare(&plain, &context).unwrap();
    let text = prepared.run(&fsm, Units::Share(&shares[0]), None, &context).unwrap_err();
    assert!(text.to_string().contains("in shares"), "{text}");
}

#[test]
fn lists_are_those_of_one_device() {
    let plain = graph(false);
    let context = Context::with_threads(2);
    let mut mixes: Vec<Crew> = vec![
        Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]),
        Crew::new(vec![Box::new(Reference::default()), Box::new(Cpu)]),
    ];
    const REFERENCE: usize = 1;
    const GPU_AND_CPU: usize = 2;
    if let (Some(one), Some(two), Some(three)) = (gpu(None), gpu(None), gpu(None)) {
        mixes.push(Crew::new(vec![Box::new(one), Box::new(Cpu)]));
        mixes.push(Crew::new(vec![Box::new(two), Box::new(three)]));
    }
    let diamond = Task::Match {
        pattern: gramer_pattern::named("diamond").unwrap(),
        induced: Induced::Vertex,
        mappings: None,
    };
    for task in [Task::Clique { k: 4 }, Task::Motif { k: 3, induced: Induced::Vertex }, diamond] {
        let right = Sets::default();
        Cpu.run(&plain, &task, Some(&right), &context).unwrap();
        let right = right.listed();
        assert!(right.values().all(|&times| times == 1));
        for (at, crew) in mixes.iter().enumerate() {
            let query = Query::new(task.clone());
            if crew.plan(&Ask::new(&query)).is_err() {
                assert_eq!(at, REFERENCE, "{}: {task:?}", crew.name());
                continue;
            }
            let listed = Sets::default();
            let outcome = crew.run(&plain, &task, Some(&listed), &context);
            if at == GPU_AND_CPU && matches!(task, Task::Motif { .. }) {
                let text = outcome.unwrap_err().to_string();
                assert!(text.contains("divides it in different ways"), "{text}");
                continue;
            }
            let outcome = outcome.unwrap();
            assert!(outcome.complete);
            assert_eq!(listed.listed(), right, "{}: {task:?}", crew.name());
        }
    }
}

/// Stops the list after some embeddings.
struct Few(AtomicUsize);

impl Sink for Few {
    fn embedding(&self, _: &Pattern, _: &[VertexId]) -> ControlFlow<()> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            ..10 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

#[test]
fn a_stop_ends_all_devices() {
    let both = Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]);
    let (plain, context) = (graph(false), Context::with_threads(2));
    let few = Few(AtomicUsize::new(0));
    let outcome = both.run(&plain, &Task::Clique { k: 3 }, Some(&few), &context).unwrap();
    assert!(!outcome.complete);
    context.cancel.cancel();
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let outcome = both.run(&plain, &task, None, &context).unwrap();
    assert!(!outcome.complete && outcome.results.iter().all(|r| r.count == 0));
}

/// What the CPU engine says to a question, of shares alone.
fn in_shares(ask: &Ask<'_>) -> Choices {
    match ask.terms.has(Needs::PEERS) {
        true => Choices::default(),
        false => Cpu.choose(ask),
    }
}

/// A device that is lost after some runs, or never comes up.
#[derive(Clone)]
struct Lost {
    after: usize,
    runs: Arc<AtomicUsize>,
}

impl Lost {
    fn after(after: usize) -> Self {
        Lost { after, runs: Arc::default() }
    }
}

impl Engine for Lost {
    fn device(&self) -> Device {
        Device::named("lost")
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        in_shares(ask)
    }

    fn prepare(&self, graph: &Graph, context: &Context) -> Result<PreparedGraph> {
        if self.after == 0 {
            return Err(Error::Device("it is not there".into()));
        }
        let held = OnLost { of: self.clone(), inner: Cpu.prepare(graph, context)? };
        Ok(PreparedGraph::new(self.clone(), graph, held))
    }
}

struct OnLost {
    of: Lost,
    inner: PreparedGraph,
}

impl DeviceGraph for OnLost {
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let outcome = self.inner.answer(query, plan, run)?;
        // It fails with the work done, so that an answer that counted it would be too large.
        match self.of.runs.fetch_add(1, Ordering::Relaxed) + 1 < self.of.after {
            true => Ok(outcome),
            false => Err(Error::Device("it fell off the bus".into()).into()),
        }
    }
}

#[test]
fn the_others_finish_what_a_lost_device_had() {
    let plain = graph(false);
    let context = Context::with_threads(2);
    for after in [0, 1, 3] {
        for task in [Task::Clique { k: 4 }, Task::Motif { k: 4, induced: Induced::Vertex }] {
            let crew = Crew::new(vec![Box::new(Lost::after(after)), Box::new(Cpu)]);
            let prepared = crew.prepare(&plain, &context).unwrap();
            let right = Cpu.run(&plain, &task, None, &context).unwrap();
            // How far the lost one comes depends on the other; in some run it is lost.
            let mut lost = false;
            for _ in 0..20 {
                let answer = prepared.run(&task, Units::All, None, &context).unwrap();
                assert!(answer.complete);
                assert_eq!(answer.results, right.results, "{after}: {task:?}");
                lost |= answer.warnings.iter().any(|w| w.starts_with("lost: it "));
            }
            assert!(lost, "{after}: {task:?}");
        }
    }
}

/// A device that idles until it is stopped, and then reports it in one of two ways.
#[derive(Clone, Copy)]
struct Asleep {
    fails: bool,
}

impl Engine for Asleep {
    fn device(&self) -> Device {
        Device::named("asleep")
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        in_shares(ask)
    }

    fn prepare(&self, graph: &Graph, _: &Context) -> Result<PreparedGraph> {
        Ok(PreparedGraph::new(*self, graph, *self))
    }
}

impl DeviceGraph for Asleep {
    fn answer(&self, _: &Query, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let begun = std::time::Instant::now();
        while !run.context.cancel.is_cancelled() {
            assert!(begun.elapsed().as_secs() < 120, "no member takes over");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        match self.fails {
            true => Err(Error::Interrupted.into()),
            false => Ok(Outcome::new(vec![], false).into()),
        }
    }
}

#[test]
fn what_a_device_is_too_slow_with_another_takes_over() {
    let plain = graph(false);
    let context = Context::with_threads(2);
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let right = Cpu.run(&plain, &task, None, &context).unwrap();
    for fails in [false, true] {
        let crew = Crew::new(vec![Box::new(Asleep { fails }), Box::new(Cpu)]);
        let prepared = crew.prepare(&plain, &context).unwrap();
        // The one that sleeps may find that all is done; in some run it has a portion.
        let had_a_portion = (0..20).any(|_| {
            let answer = prepared.run(&task, Units::All, None, &context).unwrap();
            assert!(answer.complete && answer.warnings.is_empty(), "{:?}", answer.warnings);
            assert_eq!(answer.results, right.results);
            let device = &answer.devices[0];
            let Some(Value::Share { part, .. }) = device.get("share.portions") else { panic!() };
            assert!(*part == 0.0);
            device.get("share.runs") == Some(&Value::Count(1))
        });
        assert!(had_a_portion);
    }
}

/// Frequent patterns by both measures: devices of one kind share the candidates of each level.
#[test]
fn frequent_patterns_level_by_level() {
    let labelled = graph(true);
    let tasks = [
        (SizeLimit::MaxEdges(3), 12, Measure::Mni),
        (SizeLimit::MaxVertices(3), 9, Measure::Mni),
        (SizeLimit::MaxVertices(3), 20, Measure::Embeddings),
    ];
    let tasks = tasks.map(|(limit, support, measure)| Task::Fsm { limit, support, measure });
    let context = Context::with_threads(2);
    let mut mixes = vec![(2, Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]))];
    if let (Some(one), Some(two), Some(three)) = (gpu(None), gpu(None), gpu(None)) {
        mixes.push((3, Crew::new(vec![Box::new(one), Box::new(two), Box::new(three)])));
    }
    let by_tables = |count| tables(count).map(|crew| (count, crew));
    mixes.extend([2, 3].into_iter().filter_map(by_tables));
    for (devices, crew) in &mixes {
        for task in &tasks {
            let right = Cpu.run(&labelled, task, None, &context).unwrap();
            assert!(right.results.len() > 5, "{}", right.results.len());
            let prepared = crew.prepare(&labelled, &context).unwrap();
            // Again on the same devices.
            for _ in 0..2 {
                let answer = prepared.run(task, Units::All, None, &context).unwrap();
                assert_eq!(answer.results, right.results, "{}: {task:?}", crew.name());
                assert!(answer.complete && answer.warnings.is_empty());
                assert_eq!(answer.devices.len(), *devices);
            }
            // Tables have all the memory.
            drop(prepared);
            let empty = Builder::new().build();
            assert!(crew.run(&empty, task, None, &context).unwrap().results.is_empty());
        }
        // Candidates, or rows of tables.
        let share = |d: &gramer_engine::DeviceMetrics| {
            let part = d.get("share.candidates").or_else(|| d.get("share.portions"));
            part.and_then(Value::number)
        };
        let answer = crew.run(&labelled, &tasks[0], None, &context).unwrap();
        let sum: f64 = answer.devices.iter().filter_map(share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
}

/// So many devices with the strategy `table`, which fills what it is given.
fn tables(count: usize) -> Option<Crew> {
    let memory = Some(8 << 20);
    let settings = || Settings { strategy: Some(Strategy::Table), memory, ..Settings::default() };
    let device = || Some(Box::new(open(settings())?) as Box<dyn Engine>);
    (0..count).map(|_| device()).collect::<Option<_>>().map(Crew::new)
}

/// Each device has its own rows; an image met by two devices counts once.
#[test]
fn devices_with_tables_have_rows_each() {
    let labelled = graph(true);
    let context = Context::with_threads(2);
    let (Some(one), Some(three)) = (tables(1), tables(3)) else { return };
    let images = Task::Fsm { limit: SizeLimit::MaxEdges(3), support: 12, measure: Measure::Mni };
    let limit = SizeLimit::MaxVertices(4);
    let embeddings = Task::Fsm { limit, support: 40, measure: Measure::Embeddings };
    let calls = |outcome: &Outcome| -> Vec<f64> {
        let rows = |d: &gramer_engine::DeviceMetrics| d.get("groups.asked").and_then(Value::number);
        outcome.devices.iter().map(|d| rows(d).unwrap_or(0.0)).collect()
    };
    for task in [images, embeddings] {
        let right = Cpu.run(&labelled, &task, None, &context).unwrap();
        let alone = one.run(&labelled, &task, None, &context).unwrap();
        let shared = three.run(&labelled, &task, None, &context).unwrap();
        assert!(right.results.len() > 10 && shared.complete);
        assert_eq!((&alone.results, &shared.results), (&right.results, &right.results), "{task:?}");
        // All three have met rows.
        assert!(calls(&shared).iter().all(|&asked| asked > 0.0), "{:?}", calls(&shared));
        let part =
            |d: &gramer_engine::DeviceMetrics| d.get("share.portions").and_then(Value::number);
        let parts: Vec<f64> = shared.devices.iter().filter_map(part).collect();
        assert!(parts.len() == 3 && (parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{parts:?}");
        // A run that was stopped reports no level twice.
        let stopped = Context::with_threads(2);
        stopped.cancel.cancel();
        match three.run(&labelled, &task, None, &stopped) {
            Ok(outcome) => assert!(!outcome.complete && outcome.results.is_empty()),
            Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
        }
        // The others don't wait for one that has no room, and the message is its own.
        let little = |memory| {
            let settings =
                Settings { strategy: Some(Strategy::Table), memory, ..Settings::default() };
            Box::new(open(settings).expect("it was there")) as Box<dyn Engine>
        };
        let unlike = Crew::new(vec![little(Some(8 << 20)), little(Some(4 << 10))]);
        let text = unlike.run(&labelled, &task, None, &context).unwrap_err().to_string();
        assert!(text.contains("the setting `memory` at least"), "{text}");
    }
}

/// Who is lost within a level of tables leaves all rows to the others.
#[test]
fn a_device_with_tables_is_lost_among_others() {
    let labelled = graph(true);
    let context = Context::with_threads(2);
    let task = Task::Fsm { limit: SizeLimit::MaxEdges(3), support: 12, measure: Measure::Mni };
    let right = Cpu.run(&labelled, &task, None, &context).unwrap();
    let mut lost = 0;
    for call in [60, 200, 700] {
        let fault = Some(Fault { call, code: -5, lasting: true });
        let (strategy, memory) = (Some(Strategy::Table), Some(8 << 20));
        let settings = Settings { strategy, memory, ..Settings::default() };
        let Some(whole) = open(settings.clone()) else { return };
        let Some(fails) = open(Settings { fault, ..settings }) else { return };
        let both = Crew::new(vec![Box::new(fails), Box::new(whole)]);
        let answer = both.run(&labelled, &task, None, &context).unwrap();
        assert!(answer.complete);
        assert_eq!(answer.results, right.results, "call {call}");
        lost += answer.warnings.len();
    }
    assert!(lost > 0);
}

/// If a device is lost in the middle of a level, the others finish it without waiting.
#[test]
fn a_device_is_lost_among_levels() {
    let labelled = graph(true);
    let context = Context::with_threads(2);
    let limit = SizeLimit::MaxEdges(3);
    let task = Task::Fsm { limit, support: 12, measure: Measure::Mni };
    let right = Cpu.run(&labelled, &task, None, &context).unwrap();
    let Some(_) = gpu(None) else { return };
    for (call, reached) in [(40, true), (150, false)] {
        // How much it has to do depends on the others, and on how many calls a level takes it: in some run it gets
        // to the first number, and on some devices to the second.
        let lost = (0..20).any(|_| {
            let fault = Some(Fault { call, code: -5, lasting: true });
            let fails = open(Settings { fault, ..Settings::default() }).expect("it was there");
            let (one, two) = (gpu(None).expect("as above"), gpu(None).expect("as above"));
            let crew = Crew::new(vec![Box::new(one), Box::new(fails), Box::new(two)]);
            let answer = crew.run(&labelled, &task, None, &context).unwrap();
            assert!(answer.complete);
            assert_eq!(answer.results, right.results);
            let warnings = &answer.warnings;
            assert!(warnings.len() < 2, "{warnings:?}");
            assert!(warnings.iter().all(|w| w.contains("the other devices did its work")));
            !warnings.is_empty()
        });
        assert!(lost || !reached, "at call {call}");
    }
    // A stop while one waits for the others.
    let stopped = Context::with_threads(2);
    stopped.cancel.cancel();
    let both = Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]);
    match both.run(&labelled, &task, None, &stopped) {
        Ok(outcome) => assert!(!outcome.complete),
        Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
    }
}

#[test]
fn without_any_device_left_the_run_fails() {
    let plain = graph(false);
    let context = Context::with_threads(2);
    let task = Task::Clique { k: 4 };
    for after in [0, 1, 2] {
        let crew = Crew::new(vec![Box::new(Lost::after(after)), Box::new(Lost::after(after))]);
        let error = crew.run(&plain, &task, None, &context).unwrap_err();
        assert!(matches!(error, Error::Device(_)), "{error}");
        assert!(error.to_string().contains("lost ("), "{error}");
    }
    // Lines that were written can't be taken back.
    let crew = Crew::new(vec![Box::new(Lost::after(1)), Box::new(Lost::after(1))]);
    let error = crew.run(&plain, &task, Some(&Sets::default()), &context).unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error}");
}

#[test]
fn what_is_no_sum_is_refused_by_name() {
    let crew = Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]);
    let refused =
        |crew: &Crew, task| crew.plan(&Ask::new(&Query::new(task))).unwrap_err().to_string();
    let text = refused(&crew, Task::MaximumClique);
    assert!(
        text.contains("maximum clique") && text.contains("answers it only as a whole"),
        "{text}"
    );
    let limit = SizeLimit::MaxEdges(2);
    let mni = Task::Fsm { limit, support: 1, measure: Measure::Mni };
    let error = crew.run(&graph(true), &mni, Some(&Sets::default()), &Context::default());
    let text = error.unwrap_err().to_string();
    assert!(text.contains("doesn't divide it"), "{text}");
    let mixed = Crew::new(vec![Box::new(Reference::default()), Box::new(Cpu)]);
    let text = refused(&mixed, Task::MaximalCliques);
    assert!(text.contains("`reference` has no method"), "{text}");
}

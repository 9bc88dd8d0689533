//! Subgraph matching against a search that tries every choice of vertices.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use gramer::cpu::Cpu;
use gramer::cpu::execute_plan;
use gramer::engine::interpreter::interpret;
use gramer::engine::{EngineExt, Outcome, Sink, Units};
use gramer::graph::{Builder, NO_LABEL, VertexId, View};
use gramer::plan::search::SearchPlan;
use gramer::task::{Induced, Mappings};
use gramer::{Context, Error, Graph, Pattern, Task};
use gramer_testing::sinks::Collect;

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What a random case may have.
#[derive(Debug, Clone, Copy)]
struct Shape {
    vertices: u64,
    density: u64,
    labels: u64,
    edge_labels: u64,
    pattern: u64,
    wildcards: u64,
}

fn random_graph(random: &mut Random, shape: Shape) -> Graph {
    let mut b = Builder::new();
    for v in 0..shape.vertices {
        match shape.labels {
            0 => b.vertex(v),
            labels => b.labelled_vertex(v, random.below(labels) as u32),
        }
    }
    for v in 0..shape.vertices {
        for u in 0..v {
            if random.chance(shape.density) {
                match shape.edge_labels {
                    0 => b.edge(u, v),
                    labels => b.labelled_edge(u, v, random.below(labels) as u32),
                }
            }
        }
    }
    b.build()
}

/// A connected pattern: a random tree with a few edges more.
fn random_pattern(random: &mut Random, shape: Shape) -> Pattern {
    let n = 1 + random.below(shape.pattern) as usize;
    let mut p = Pattern::new(n);
    for v in 1..n {
        p.add_edge(v, random.below(v as u64) as usize);
    }
    for v in 1..n {
        for u in 0..v {
            if random.chance(25) {
                p.add_edge(u, v);
            }
        }
    }
    if shape.labels > 0 && random.chance(85) {
        for v in 0..n {
            let any = random.chance(shape.wildcards);
            p.set_vertex_label(v, if any { NO_LABEL } else { random.below(shape.labels) as u32 });
        }
    }
    // A graph that happens to have no edge has no edge labels either.
    if shape.edge_labels > 0 && random.chance(85) {
        for (u, v) in p.edges() {
            let any = random.chance(shape.wildcards);
            let label = random.below(shape.edge_labels) as u32;
            p.set_edge_label(u, v, if any { NO_LABEL } else { label });
        }
    }
    p
}

/// An image: its vertices and its edges.
type Subgraph = (Vec<VertexId>, Vec<(VertexId, VertexId)>);

fn image(pattern: &Pattern, mapping: &[VertexId]) -> Subgraph {
    let mut vertices = mapping.to_vec();
    vertices.sort_unstable();
    let mut edges: Vec<(VertexId, VertexId)> = pattern
        .edges()
        .iter()
        .map(|&(i, j)| (mapping[i].min(mapping[j]), mapping[i].max(mapping[j])))
        .collect();
    edges.sort_unstable();
    (vertices, edges)
}

/// Every mapping, by trying all.
fn every_mapping(graph: View<'_>, pattern: &Pattern, induced: Induced) -> Vec<Vec<VertexId>> {
    fn extend(
        graph: View<'_>,
        pattern: &Pattern,
        induced: Induced,
        mapping: &mut Vec<VertexId>,
        all: &mut Vec<Vec<VertexId>>,
    ) {
        let v = mapping.len();
        if v == pattern.vertices() {
            all.push(mapping.clone());
            return;
        }
        for x in 0..graph.vertices() as VertexId {
            let fits = |wanted: u32, label: u32| wanted == NO_LABEL || wanted == label;
            let good = !mapping.contains(&x)
                && fits(pattern.vertex_label(v), graph.vertex_label(x))
                && (0..v).all(|u| {
                    match (pattern.edge_label(u, v), graph.edge_label(mapping[u], x)) {
                        (None, there) => there.is_none() || induced == Induced::Edge,
                        (Some(_), None) => false,
                        (Some(wanted), Some(label)) => fits(wanted, label),
                    }
                });
            if good {
                mapping.push(x);
                extend(graph, pattern, induced, mapping, all);
                mapping.pop();
            }
        }
    }
    let mut all = vec![];
    extend(graph, pattern, induced, &mut vec![], &mut all);
    all
}

fn mine(
    graph: &Graph,
    pattern: &Pattern,
    induced: Induced,
    mappings: bool,
    sink: Option<&dyn Sink>,
    threads: usize,
) -> gramer::Result<Outcome> {
    let task = Task::Match {
        pattern: pattern.clone(),
        induced,
        mappings: mappings.then_some(Mappings::Isomorphism),
    };
    Cpu.run(graph, &task, sink, &Context::with_threads(threads))
}

/// All ways to ask, against all mappings.
fn check(graph: &Graph, pattern: &Pattern) {
    for induced in [Induced::Edge, Induced::Vertex] {
        let mut mappings = every_mapping(graph.view(), pattern, induced);
        mappings.sort_unstable();
        let images: BTreeSet<Subgraph> = mappings.iter().map(|m| image(pattern, m)).collect();
        check_plans(graph, pattern, induced, &mappings, images.len());
        for threads in [1, 3] {
            let case = || format!("{pattern:?} {induced} {threads} threads\n{graph:?}");
            let count = |all: bool, sink: Option<&Collect>| {
                let sink = sink.map(|s| s as &dyn Sink);
                let outcome = mine(graph, pattern, induced, all, sink, threads).unwrap();
                assert!(outcome.complete);
                assert_eq!(outcome.results.len(), 1);
                assert_eq!(&outcome.results[0].pattern, pattern);
                outcome.results[0].count
            };
            assert_eq!(count(true, None), mappings.len() as u128, "mappings of {}", case());
            assert_eq!(count(false, None), images.len() as u128, "occurrences of {}", case());
            let listed = Collect::default();
            assert_eq!(count(true, Some(&listed)), mappings.len() as u128);
            let mut listed = listed.0.into_inner().unwrap();
            listed.sort_unstable();
            assert_eq!(listed, mappings, "list of the mappings of {}", case());
            let listed = Collect::default();
            assert_eq!(count(false, Some(&listed)), images.len() as u128, "{}", case());
            let listed = listed.0.into_inner().unwrap();
            assert_eq!(listed.len(), images.len());
            assert!(listed.iter().all(|m| mappings.binary_search(m).is_ok()));
            let met: BTreeSet<Subgraph> = listed.iter().map(|m| image(pattern, m)).collect();
            assert_eq!(met, images, "list of the occurrences of {}", case());
        }
    }
}

/// The plan for any graph, as the interpreter and the CPU engine execute it, after a way through its
/// serialised form.
fn check_plans(
    graph: &Graph,
    pattern: &Pattern,
    induced: Induced,
    mappings: &[Vec<VertexId>],
    occurrences: usize,
) {
    for (all, emit) in [(true, false), (true, true), (false, true)] {
        if !all && gramer::plan::symmetry::ambiguous(pattern) {
            continue;
        }
        let made = SearchPlan::of(pattern, induced, all, emit);
        let text = serde_json::to_string(&made).unwrap();
        let plan: SearchPlan = serde_json::from_str(&text).unwrap();
        assert_eq!(plan, made);
        let mut met = vec![];
        let interpreted = interpret(&plan, graph.view(), |mapping| {
            met.push(mapping.to_vec());
            ControlFlow::Continue(())
        });
        let interpreted = interpreted.unwrap();
        let case = || format!("{induced} all {all} emit {emit}\n{text}\n{graph:?}");
        let factor = if emit { 1 } else { plan.factor };
        let expected = if all { mappings.len() } else { occurrences };
        assert_eq!(interpreted * factor, expected as u128, "{}", case());
        if emit {
            met.sort_unstable();
            assert_eq!(met.len(), expected, "{}", case());
            assert!(met.iter().all(|m| mappings.binary_search(m).is_ok()), "{}", case());
            assert!(met.windows(2).all(|two| two[0] != two[1]), "{}", case());
        }
        let listed = Collect::default();
        let sink = emit.then_some(&listed as &dyn Sink);
        let executed =
            execute_plan(graph, &plan, Units::All, sink, &Context::with_threads(2)).unwrap();
        assert_eq!(executed, (interpreted, true), "{}", case());
        if emit {
            let mut listed = listed.0.into_inner().unwrap();
            listed.sort_unstable();
            assert_eq!(listed, met, "{}", case());
        }
    }
}

fn check_many(seed: u64, cases: u64, shape: impl Fn(&mut Random) -> Shape) {
    for case in 0..cases {
        let mut random = Random(seed << 32 | case);
        let shape = shape(&mut random);
        let graph = random_graph(&mut random, shape);
        let mut pattern = random_pattern(&mut random, shape);
        if !graph.has_edge_labels() && pattern.has_edge_labels() {
            let labels = pattern.vertex_labels().to_vec();
            pattern = Pattern::from_edges(pattern.vertices(), &pattern.edges());
            labels.iter().enumerate().for_each(|(v, &label)| pattern.set_vertex_label(v, label));
        }
        check(&graph, &pattern);
    }
}

#[test]
fn unlabelled_patterns_as_by_trying_everything() {
    check_many(1, 600, |r| Shape {
        vertices: 1 + r.below(9),
        density: 10 + r.below(80),
        labels: 0,
        edge_labels: 0,
        pattern: 5,
        wildcards: 0,
    });
}

#[test]
fn labelled_patterns_as_by_trying_everything() {
    check_many(2, 1000, |r| Shape {
        vertices: 2 + r.below(14),
        density: 10 + r.below(60),
        labels: 1 + r.below(4),
        edge_labels: 0,
        pattern: 6,
        wildcards: 0,
    });
}

#[test]
fn edge_labels_and_wildcards_as_by_trying_everything() {
    check_many(3, 1500, |r| Shape {
        vertices: 2 + r.below(9),
        density: 20 + r.below(60),
        labels: r.below(4),
        edge_labels: r.below(4),
        pattern: 5,
        wildcards: r.below(101),
    });
}

#[test]
fn larger_patterns_as_by_trying_everything() {
    check_many(4, 150, |r| Shape {
        vertices: 8 + r.below(10),
        density: 15 + r.below(20),
        labels: 4 + r.below(3),
        edge_labels: r.below(2),
        pattern: 9,
        wildcards: r.below(10),
    });
}

#[test]
fn stars_whose_leaves_share_candidates() {
    // Leaves of two labels and none, over two edge labels: the formulas of the last vertices.
    let mut random = Random(99);
    for _ in 0..300 {
        let shape =
            Shape { vertices: 7, density: 70, labels: 2, edge_labels: 2, pattern: 0, wildcards: 0 };
        let graph = random_graph(&mut random, shape);
        let leaves = 2 + random.below(4) as usize;
        let mut star = Pattern::new(leaves + 1);
        for leaf in 1..=leaves {
            star.add_edge(0, leaf);
            star.set_edge_label(0, leaf, random.below(2) as u32);
            let wild = random.chance(30);
            star.set_vertex_label(leaf, if wild { NO_LABEL } else { random.below(2) as u32 });
        }
        check(&graph, &star);
    }
}

fn labelled_path() -> Graph {
    let mut b = Builder::new();
    for (id, label) in [(0, 1), (1, 7), (2, 1), (3, 2)] {
        b.labelled_vertex(id, label);
    }
    for v in 1..4 {
        b.edge(v - 1, v);
    }
    b.build()
}

#[test]
fn an_occurrence_with_wildcards_is_counted_once() {
    // 1 - * - *: on 1 - 7 - 1 from either end, and on 7 - 1 - 2 not at all.
    let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    wedge.set_vertex_label(0, 1);
    let count = |mappings| {
        let outcome = mine(&labelled_path(), &wedge, Induced::Edge, mappings, None, 1).unwrap();
        outcome.results[0].count
    };
    assert_eq!(count(true), 2);
    assert_eq!(count(false), 1);
}

#[test]
fn labels_that_the_graph_lacks_are_refused() {
    let mut b = Builder::new();
    b.edge(0, 1);
    b.edge(1, 2);
    let graph = b.build();
    let message = |pattern: &Pattern| {
        let error = mine(&graph, pattern, Induced::Edge, false, None, 1).unwrap_err();
        assert!(matches!(error, Error::Usage(_)));
        error.to_string()
    };
    let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    wedge.set_vertex_label(0, 1);
    assert!(message(&wedge).contains("asks for vertex labels, but the graph has none"));
    let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    wedge.set_edge_label(0, 1, 0);
    wedge.set_edge_label(1, 2, 5);
    assert!(message(&wedge).contains("2 different edge labels"));
    // One label for all edges says nothing.
    wedge.set_edge_label(1, 2, 0);
    assert_eq!(mine(&graph, &wedge, Induced::Edge, false, None, 1).unwrap().results[0].count, 1);
    // An edge, and any third vertex.
    let apart = Pattern::from_edges(3, &[(0, 1)]);
    assert_eq!(mine(&graph, &apart, Induced::Edge, false, None, 1).unwrap().results[0].count, 2);
}

#[test]
fn a_label_that_no_vertex_has_gives_none() {
    let mut edge = Pattern::from_edges(2, &[(0, 1)]);
    edge.set_vertex_label(0, 12345);
    let outcome = mine(&labelled_path(), &edge, Induced::Edge, true, None, 2).unwrap();
    assert_eq!((outcome.results[0].count, outcome.complete), (0, true));
}

/// A sink that stops after a number of embeddings.
struct First(AtomicUsize, usize);

impl Sink for First {
    fn embedding(&self, _: &Pattern, _: &[VertexId]) -> ControlFlow<()> {
        match self.0.fetch_add(1, Ordering::Relaxed) + 1 < self.1 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

fn complete_graph(vertices: u64) -> Graph {
    let mut b = Builder::new();
    for v in 0..vertices {
        for u in 0..v {
            b.edge(u, v);
        }
    }
    b.build()
}

#[test]
fn a_sink_that_has_enough_ends_the_run() {
    for threads in [1, 2] {
        let sink = First(AtomicUsize::new(0), 1000);
        let pattern = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
        let graph = complete_graph(60);
        let outcome = mine(&graph, &pattern, Induced::Edge, true, Some(&sink), threads).unwrap();
        assert!(!outcome.complete);
        let met = sink.0.into_inner() as u128;
        assert_eq!(outcome.results[0].count, met);
        assert!((1000..1000 + threads as u128).contains(&met));
    }
}

#[test]
fn a_stop_ends_a_long_run_soon() {
    // 10-cycles with a chord in the complete graph of 60 vertices: some 10^16 mappings.
    let graph = complete_graph(60);
    let mut pattern = Pattern::from_edges(10, &[]);
    for v in 0..10 {
        pattern.add_edge(v, (v + 1) % 10);
    }
    pattern.add_edge(0, 3);
    let context = Context::with_threads(2);
    let cancel = context.cancel.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        cancel.cancel();
        std::time::Instant::now()
    });
    let task =
        Task::Match { pattern, induced: Induced::Edge, mappings: Some(Mappings::Isomorphism) };
    let outcome = Cpu.run(&graph, &task, None, &context).unwrap();
    let late = stopper.join().unwrap().elapsed();
    assert!(!outcome.complete);
    assert!(late < std::time::Duration::from_millis(500), "{late:?} late");
}

#[test]
fn numbers_beyond_64_bits_are_exact() {
    // Stars in the complete graph: the centre, then the leaves one after the other.
    let graph = complete_graph(1000);
    let star = |leaves: usize| {
        Pattern::from_edges(leaves + 1, &(1..=leaves).map(|l| (0, l)).collect::<Vec<_>>())
    };
    let falling: u128 = (0..=10u128).map(|i| 1000 - i).product();
    let count =
        |all| mine(&graph, &star(10), Induced::Edge, all, None, 2).unwrap().results[0].count;
    assert_eq!(count(true), falling);
    assert_eq!(count(false), falling / (1..=10u128).product::<u128>());
    // With 15 leaves there are 10^48 mappings: refused, not wrapped around. Occurrences fit.
    let occurrences = (0..15u128).fold(1000, |c, i| c * (999 - i) / (i + 1));
    let outcome = mine(&graph, &star(15), Induced::Edge, false, None, 2).unwrap();
    assert_eq!(outcome.results[0].count, occurrences);
    let error = mine(&graph, &star(15), Induced::Edge, true, None, 2).unwrap_err();
    assert!(error.to_string().contains("more than 128 bits"), "{error}");
}

/// Changes a number, or leaves out or repeats an element, at a random place of a JSON value.
fn spoil(value: &mut serde_json::Value, random: &mut Random) {
    fn places(value: &serde_json::Value, path: String, all: &mut Vec<String>) {
        match value {
            serde_json::Value::Array(items) => {
                all.push(path.clone());
                let each = items.iter().enumerate();
                each.for_each(|(i, item)| places(item, format!("{path}/{i}"), all));
            }
            serde_json::Value::Object(fields) => {
                let each = fields.iter();
                each.for_each(|(name, field)| places(field, format!("{path}/{name}"), all));
            }
            _ => all.push(path),
        }
    }
    let mut all = vec![];
    places(value, String::new(), &mut all);
    let at = &all[random.below(all.len() as u64) as usize];
    match value.pointer_mut(at).unwrap() {
        serde_json::Value::Array(items) if items.is_empty() => items.push(0.into()),
        serde_json::Value::Array(items) => {
            let from = random.below(items.len() as u64) as usize;
            let item = items.remove(from);
            if random.chance(50) {
                items.extend([item.clone(), item]);
            }
        }
        serde_json::Value::Bool(flag) => *flag = !*flag,
        other => *other = random.below(6).into(),
    }
}

/// A plan that was changed is refused, or both executors come to an end with it. Its counts may be
/// anything.
#[test]
fn spoilt_plans_are_refused_or_run() {
    let graph = random_graph(
        &mut Random(77),
        Shape { vertices: 9, density: 60, labels: 2, edge_labels: 0, pattern: 5, wildcards: 0 },
    );
    let (mut refused, mut ran) = (0, 0);
    for case in 0..4000 {
        let mut random = Random(8 << 32 | case);
        let labels = [0, 2][random.below(2) as usize];
        let shape =
            Shape { vertices: 9, density: 60, labels, edge_labels: 0, pattern: 6, wildcards: 20 };
        let pattern = random_pattern(&mut random, shape);
        let induced = [Induced::Vertex, Induced::Edge][random.below(2) as usize];
        let (all, emit) = (random.chance(50), random.chance(50));
        let made = SearchPlan::of(&pattern, induced, all, emit);
        let mut value = serde_json::to_value(&made).unwrap();
        (0..=random.below(2)).for_each(|_| spoil(&mut value, &mut random));
        let Ok(plan) = serde_json::from_value::<SearchPlan>(value) else {
            refused += 1;
            continue;
        };
        ran += 1;
        let _ = interpret(&plan, graph.view(), |_| ControlFlow::Continue(()));
        let listed = Collect::default();
        let sink = emit.then_some(&listed as &dyn Sink);
        let _ = execute_plan(&graph, &plan, Units::All, sink, &Context::with_threads(1));
    }
    assert!(refused > 1000 && ran > 500, "{refused} refused, {ran} run");
}

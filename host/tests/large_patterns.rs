//! Matching of patterns of 17 to 32 vertices, planted in random graphs, against a search that tries every
//! choice of vertices, and against the interpreter of plans.

use std::ops::ControlFlow;

use gramer::cpu::Cpu;
use gramer::engine::interpreter::interpret;
use gramer::engine::{EngineExt, Sink};
use gramer::graph::{Builder, NO_LABEL, VertexId, View};
use gramer::plan::search::SearchPlan;
use gramer::plan::symmetry::ambiguous;
use gramer::task::{Induced, Mappings};
use gramer::{Context, Graph, Pattern, Task};
use gramer_testing::sinks::Collect;

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn label(&mut self, of: u32) -> u32 {
        self.below(of.max(1) as usize) as u32
    }
}

/// Labels that pattern and graph have; 0 for none.
#[derive(Clone, Copy)]
struct Labels {
    vertices: u32,
    edges: u32,
}

/// A connected pattern: a random tree with a few edges more, every vertex next to one before it.
fn pattern(random: &mut Random, n: usize, labels: Labels) -> Pattern {
    let mut p = Pattern::new(n);
    for v in 1..n {
        p.add_edge(v, v - 1 - random.below(v.min(6)));
    }
    for _ in 0..random.below(n) {
        let (u, v) = (random.below(n), random.below(n));
        if u != v {
            p.add_edge(u, v);
        }
    }
    let mut label = |of: u32| match random.below(20) {
        0 => NO_LABEL,
        _ => random.label(of),
    };
    for v in (0..n).filter(|_| labels.vertices > 0) {
        p.set_vertex_label(v, label(labels.vertices));
    }
    for (u, v) in p.edges().into_iter().filter(|_| labels.edges > 0) {
        p.set_edge_label(u, v, label(labels.edges));
    }
    p
}

/// A graph with copies of the pattern, which may share vertices, and a few edges besides that leave the last
/// copy as it is.
fn planted(random: &mut Random, pattern: &Pattern, labels: Labels, copies: usize) -> Graph {
    let n = pattern.vertices();
    let vertices = n + 2 + random.below(n / 2);
    let mut of_vertex: Vec<u32> = (0..vertices).map(|_| random.label(labels.vertices)).collect();
    let mut edges = std::collections::BTreeMap::new();
    let mut places: Vec<usize> = (0..vertices).collect();
    for _ in 0..copies {
        for at in 0..random.below(n) {
            places.swap(at, at + random.below(n - at));
        }
        places.rotate_left(random.below(n));
        for v in (0..n).filter(|&v| pattern.vertex_label(v) != NO_LABEL) {
            of_vertex[places[v]] = pattern.vertex_label(v);
        }
        for (u, v) in pattern.edges() {
            let (a, b) = (places[u].min(places[v]), places[u].max(places[v]));
            let wanted = pattern.edge_label(u, v).unwrap_or(NO_LABEL);
            let label = edges.entry((a, b)).or_insert(0);
            if wanted != NO_LABEL {
                *label = wanted;
            }
        }
    }
    for _ in 0..random.below(vertices) {
        let (u, v) = (places[n + random.below(vertices - n)], random.below(vertices));
        if u != v {
            edges.entry((u.min(v), u.max(v))).or_insert(random.label(labels.edges));
        }
    }
    let mut builder = Builder::new();
    for (v, &label) in of_vertex.iter().enumerate() {
        match labels.vertices {
            0 => builder.vertex(v as u64),
            _ => builder.labelled_vertex(v as u64, label),
        }
    }
    for (&(u, v), &label) in &edges {
        match labels.edges {
            0 => builder.edge(u as u64, v as u64),
            _ => builder.labelled_edge(u as u64, v as u64, label),
        }
    }
    builder.build()
}

/// All mappings, by trying every graph vertex for each pattern vertex; `None` where there are more than `most`.
fn mappings(
    graph: View<'_>,
    pattern: &Pattern,
    induced: Induced,
    most: usize,
) -> Option<Vec<Vec<VertexId>>> {
    let mut partial: Vec<Vec<VertexId>> = vec![vec![]];
    for v in 0..pattern.vertices() {
        let mut longer = vec![];
        for mapping in &partial {
            for x in (0..graph.vertices() as VertexId).filter(|x| !mapping.contains(x)) {
                let fits = |wanted, label| wanted == NO_LABEL || wanted == label;
                let edge =
                    |u: usize| match (pattern.edge_label(u, v), graph.edge_label(mapping[u], x)) {
                        (None, there) => there.is_none() || induced == Induced::Edge,
                        (Some(_), None) => false,
                        (Some(wanted), Some(label)) => fits(wanted, label),
                    };
                if fits(pattern.vertex_label(v), graph.vertex_label(x)) && (0..v).all(edge) {
                    longer.push([mapping.as_slice(), &[x]].concat());
                }
            }
        }
        if longer.len() > most {
            return None;
        }
        partial = longer;
    }
    partial.sort_unstable();
    Some(partial)
}

/// Most mappings, or beginnings of some, with which a case is compared: what tries everything is slow.
const MOST: usize = 10_000;

/// All ways to ask for the pattern, against all mappings; how many these are.
fn check(graph: &Graph, pattern: &Pattern, induced: Induced, case: &str) -> Option<usize> {
    let expected = mappings(graph.view(), pattern, induced, MOST)?;
    let mine = |all: bool, sink: Option<&dyn Sink>, threads: usize| {
        let task = Task::Match {
            pattern: pattern.clone(),
            induced,
            mappings: all.then_some(Mappings::Isomorphism),
        };
        let outcome = Cpu.run(graph, &task, sink, &Context::with_threads(threads)).unwrap();
        assert!(outcome.complete, "{case}");
        outcome.results[0].count
    };
    assert_eq!(mine(true, None, 2), expected.len() as u128, "{case}");
    let listed = Collect::default();
    assert_eq!(mine(true, Some(&listed), 1), expected.len() as u128, "{case}");
    let mut listed = listed.0.into_inner().unwrap();
    listed.sort_unstable();
    assert_eq!(listed, expected, "{case}");
    // An occurrence is a set of edges, for which one mapping stands.
    let image = |mapping: &[VertexId]| {
        let edge =
            |(u, v): (usize, usize)| [mapping[u].min(mapping[v]), mapping[u].max(mapping[v])];
        let mut edges: Vec<_> = pattern.edges().into_iter().map(edge).collect();
        edges.sort_unstable();
        edges
    };
    let mut images: Vec<_> = expected.iter().map(|m| image(m)).collect();
    images.sort_unstable();
    images.dedup();
    assert_eq!(mine(false, None, 1), images.len() as u128, "{case}");
    for (all, emit) in [(true, false), (true, true), (false, true)] {
        if !all && ambiguous(pattern) {
            continue;
        }
        let text = serde_json::to_string(&SearchPlan::of(pattern, induced, all, emit)).unwrap();
        let plan: SearchPlan = serde_json::from_str(&text).unwrap();
        let counted = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
        let each = if emit { 1 } else { plan.factor };
        let wanted = if all { expected.len() } else { images.len() };
        assert_eq!(counted * each, wanted as u128, "all {all} emit {emit} {case}");
    }
    Some(expected.len())
}

/// In how many of the cases the pattern was found, and in how many of them more than once.
fn check_many(seed: u64, labels: Labels, induced: Induced) -> [usize; 2] {
    let mut all = [0; 2];
    for case in 0..CASES {
        let mut random = Random(seed << 32 | case);
        let n = 17 + random.below(16);
        let pattern = pattern(&mut random, n, labels);
        // One copy may add an edge to another.
        let copies = if induced == Induced::Edge { 2 } else { 1 };
        let graph = planted(&mut random, &pattern, labels, copies);
        let case = format!("seed {seed}, case {case}: {pattern:?}");
        if let Some(found) = check(&graph, &pattern, induced, &case) {
            assert!(found > 0, "what was planted is there: {case}");
            all[0] += 1;
            all[1] += usize::from(found > 1);
        }
    }
    all
}

/// Random patterns of each kind.
const CASES: u64 = 12;

#[test]
fn planted_patterns_are_found() {
    for (seed, labels, induced) in [
        (1, Labels { vertices: 9, edges: 0 }, Induced::Edge),
        (2, Labels { vertices: 5, edges: 4 }, Induced::Edge),
        (3, Labels { vertices: 7, edges: 0 }, Induced::Vertex),
        (4, Labels { vertices: 0, edges: 8 }, Induced::Edge),
        (5, Labels { vertices: 0, edges: 0 }, Induced::Vertex),
    ] {
        let [found, several] = check_many(seed, labels, induced);
        assert!(found > 10 && several > 0, "seed {seed}: {found} found, {several} more than once");
    }
}

/// Numbers with a formula: what plans multiply is more than 64 bits hold.
#[test]
fn large_patterns_with_known_numbers() {
    let mut star = Builder::new();
    let mut ring = Builder::new();
    let mut complete = Builder::new();
    for v in 0..34u64 {
        ring.edge(v, (v + 1) % 34);
        if v > 0 {
            star.edge(0, v);
        }
        for u in 0..v {
            complete.edge(u, v);
        }
    }
    let [star, ring, complete] = [star, ring, complete].map(Builder::build);
    let choose = |n: u128, k: u128| (0..k).fold(1, |c, i| c * (n - i) / (i + 1));
    let factorial = |n: u128| (1..=n).product::<u128>();
    for (graph, name, all, expected) in [
        (&star, "31-star", false, choose(33, 31)),
        (&star, "20-star", true, factorial(33) / factorial(13)),
        (&ring, "32-path", false, 34),
        (&ring, "32-path", true, 68),
        (&complete, "32-clique", false, choose(34, 32)),
        (&complete, "20-clique", true, factorial(34) / factorial(14)),
        (&ring, "32-cycle", false, 0),
    ] {
        let pattern = gramer::pattern::named(name).unwrap();
        let task = Task::Match {
            pattern,
            induced: Induced::Edge,
            mappings: all.then_some(Mappings::Isomorphism),
        };
        let outcome = Cpu.run(graph, &task, None, &Context::with_threads(1)).unwrap();
        assert_eq!(outcome.results[0].count, expected, "{name}");
    }
}

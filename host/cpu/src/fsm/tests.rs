//! Both measures against brute force on random small graphs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Mutex;

use crate::Job;
use gramer_base::context::Context;
use gramer_engine::{Outcome, Sink, Units};
use gramer_graph::{Builder, Graph, VertexId, View};
use gramer_pattern::task::{Measure, SizeLimit};
use gramer_pattern::{Pattern, automorphism_orbits};

fn job<'a>(sink: &'a ListSink, context: &'a Context) -> Job<'a> {
    Job { units: Units::All, sink: Some(sink), context, others: None }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ x >> 31) % n
    }
}

/// A graph with up to `edges` edges; 0 for `classes` or `labels` means none.
fn random_graph(
    random: &mut Random,
    vertices: u64,
    edges: u64,
    classes: u64,
    labels: u64,
) -> Graph {
    let mut b = Builder::new();
    for v in 0..vertices {
        if classes > 0 {
            b.labelled_vertex(v, 10 * random.below(classes) as u32);
        } else {
            b.vertex(v);
        }
    }
    for _ in 0..edges {
        let (u, v) = (random.below(vertices), random.below(vertices));
        if labels > 0 {
            b.labelled_edge(u, v, 3 * random.below(labels) as u32);
        } else {
            b.edge(u, v);
        }
    }
    b.build()
}

/// Counts of all patterns of 2 to `max` vertices by the rule, from all subsets of the vertices.
fn embeddings_by_force(graph: View<'_>, max: usize, support: u64) -> BTreeMap<Pattern, u128> {
    let mut counts: BTreeMap<Pattern, u128> = BTreeMap::new();
    for set in 0u32..1 << graph.vertices() {
        if (2..=max as u32).contains(&set.count_ones()) {
            let vertices: Vec<VertexId> =
                (0..graph.vertices() as u32).filter(|v| set >> v & 1 == 1).collect();
            let p = Pattern::of_embedding(graph, &vertices);
            if p.is_connected() {
                *counts.entry(p.canonical().0).or_default() += 1;
            }
        }
    }
    let mut reported: BTreeMap<Pattern, u128> = BTreeMap::new();
    for size in 2..=max {
        let all: Vec<_> = counts.iter().filter(|(p, _)| p.vertices() == size).collect();
        for (p, &count) in all {
            let subs_reported = size == 2
                || (0..size).all(|out| {
                    let rest: Vec<usize> = (0..size).filter(|&v| v != out).collect();
                    let sub = p.induced(&rest);
                    !sub.is_connected() || reported.contains_key(&sub.canonical().0)
                });
            if subs_reported && count >= u128::from(support) {
                reported.insert(p.clone(), count);
            }
        }
    }
    reported
}

/// Support and number of occurrences by pattern, from all sets of edges that `keep` takes.
fn supports_by_force(
    graph: View<'_>,
    keep: impl Fn(usize, usize) -> bool,
) -> BTreeMap<Pattern, (u128, u128)> {
    let edges: Vec<(u32, u32)> = (0..graph.vertices() as u32)
        .flat_map(|u| graph.neighbours(u).iter().map(move |&v| (u, v)))
        .filter(|(u, v)| u < v)
        .collect();
    let mut images: BTreeMap<Pattern, (Vec<BTreeSet<u32>>, u128)> = BTreeMap::new();
    for set in 1u32..1 << edges.len() {
        let chosen: Vec<(u32, u32)> =
            (0..edges.len()).filter(|&e| set >> e & 1 == 1).map(|e| edges[e]).collect();
        let vertices: Vec<u32> =
            chosen.iter().flat_map(|&(u, v)| [u, v]).collect::<BTreeSet<_>>().into_iter().collect();
        if !keep(vertices.len(), chosen.len()) {
            continue;
        }
        let place = |v: u32| vertices.iter().position(|&w| w == v).unwrap();
        let mut p = Pattern::new(vertices.len());
        for (i, &v) in vertices.iter().enumerate() {
            if graph.vertex_labels.is_some() {
                p.set_vertex_label(i, graph.vertex_label(v));
            }
        }
        for &(u, v) in &chosen {
            p.add_edge(place(u), place(v));
            if graph.edge_labels.is_some() {
                p.set_edge_label(place(u), place(v), graph.edge_label(u, v).unwrap());
            }
        }
        if !p.is_connected() {
            continue;
        }
        let (canonical, order) = p.canonical();
        let entry =
            images.entry(canonical).or_insert_with(|| (vec![BTreeSet::new(); vertices.len()], 0));
        for (set, &at) in entry.0.iter_mut().zip(&order) {
            set.insert(vertices[at]);
        }
        entry.1 += 1;
    }
    images
        .into_iter()
        .map(|(p, (images, occurrences))| {
            let n = p.vertices();
            let support = automorphism_orbits(&p)
                .into_iter()
                .map(|orbit| {
                    (0..n)
                        .filter(|w| orbit >> w & 1 == 1)
                        .flat_map(|w| &images[w])
                        .collect::<BTreeSet<_>>()
                        .len()
                })
                .min()
                .unwrap();
            (p, (support as u128, occurrences))
        })
        .collect()
}

/// Keeps what it is given.
#[derive(Default)]
struct ListSink(Mutex<Vec<(Pattern, Vec<VertexId>)>>);

impl Sink for ListSink {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        self.0.lock().unwrap().push((pattern.clone(), vertices.to_vec()));
        ControlFlow::Continue(())
    }
}

fn by_pattern(outcome: &Outcome) -> BTreeMap<Pattern, u128> {
    assert!(outcome.complete);
    let map: BTreeMap<_, _> =
        outcome.results.iter().map(|r| (r.pattern.clone(), r.count)).collect();
    assert_eq!(map.len(), outcome.results.len(), "a pattern is reported twice");
    for two in outcome.results.windows(2) {
        let key = |r: &gramer_engine::Count| {
            (r.pattern.vertices(), r.pattern.edge_count(), std::cmp::Reverse(r.count))
        };
        assert!((key(&two[0]), &two[0].pattern) < (key(&two[1]), &two[1].pattern));
    }
    map
}

#[test]
fn embeddings_agree_with_brute_force() {
    let mut random = Random(1);
    for round in 0..1500 {
        let vertices = 2 + random.below(8);
        let edges = random.below(3 * vertices);
        let (classes, labels) = (random.below(4), [0, 0, 1, 3][random.below(4) as usize]);
        let graph = random_graph(&mut random, vertices, edges, classes, labels);
        let max = 2 + random.below(7) as usize;
        let support = [1, 1, 2, 3, 5][random.below(5) as usize];
        let threads = 1 + random.below(4) as usize;
        let sink = ListSink::default();
        let outcome = super::run(
            &graph,
            SizeLimit::MaxVertices(max),
            support,
            Measure::Embeddings,
            job(&sink, &Context::with_threads(threads)),
        )
        .unwrap();
        let expected = embeddings_by_force(graph.view(), max, support);
        assert_eq!(by_pattern(&outcome), expected, "round {round}");
        let mut listed: BTreeMap<Pattern, u128> = BTreeMap::new();
        let mut sets = BTreeSet::new();
        for (pattern, mut vertices) in sink.0.into_inner().unwrap() {
            assert_eq!(Pattern::of_embedding(graph.view(), &vertices), pattern);
            *listed.entry(pattern).or_default() += 1;
            vertices.sort_unstable();
            assert!(sets.insert(vertices), "an embedding is listed twice");
        }
        assert_eq!(listed, expected, "round {round}");
    }
}

#[test]
fn supports_agree_with_brute_force() {
    let mut random = Random(2);
    for round in 0..1500 {
        let vertices = 2 + random.below(7);
        let edges = random.below(11);
        let (classes, labels) = (random.below(4), [0, 0, 1, 3][random.below(4) as usize]);
        let graph = random_graph(&mut random, vertices, edges, classes, labels);
        let most = 1 + random.below(5) as usize;
        let limit = match random.below(2) {
            0 => SizeLimit::MaxEdges(most),
            _ => SizeLimit::MaxVertices(most + 1),
        };
        let support = [1, 1, 2, 3][random.below(4) as usize];
        let threads = 1 + random.below(4) as usize;
        let sink = ListSink::default();
        let context = Context::with_threads(threads);
        let outcome =
            super::run(&graph, limit, support, Measure::Mni, job(&sink, &context)).unwrap();
        let keep = |vertices: usize, edges: usize| match limit {
            SizeLimit::MaxEdges(most) => edges <= most,
            SizeLimit::MaxVertices(most) => vertices <= most,
        };
        let mut forced = supports_by_force(graph.view(), keep);
        forced.retain(|_, (forced_support, _)| *forced_support >= u128::from(support));
        let expected: BTreeMap<Pattern, u128> =
            forced.iter().map(|(p, &(support, _))| (p.clone(), support)).collect();
        assert_eq!(by_pattern(&outcome), expected, "round {round}");
        let mut listed: BTreeMap<Pattern, u128> = BTreeMap::new();
        for (pattern, _) in sink.0.into_inner().unwrap() {
            *listed.entry(pattern).or_default() += 1;
        }
        let occurrences: BTreeMap<Pattern, u128> =
            forced.into_iter().map(|(p, (_, occurrences))| (p, occurrences)).collect();
        assert_eq!(listed, occurrences, "round {round}");
    }
}

/// GAMMA's algorithm 2, word by word: a table of instances, of which those of infrequent patterns go before each
/// extension by an edge.
fn instances_by_force(graph: View<'_>, max: usize, support: u64) -> BTreeMap<Pattern, u128> {
    type Edges = BTreeSet<(u32, u32)>;
    let edges: Edges = (0..graph.vertices() as u32)
        .flat_map(|v| graph.neighbours(v).iter().map(move |&u| (v, u)))
        .filter(|(v, u)| v < u)
        .collect();
    let pattern = |instance: &Edges| {
        let vertices: Vec<u32> = instance
            .iter()
            .flat_map(|&(u, v)| [u, v])
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let place = |v: u32| vertices.iter().position(|&w| w == v).unwrap();
        let mut p = Pattern::new(vertices.len());
        for (i, &v) in vertices.iter().enumerate() {
            if graph.vertex_labels.is_some() {
                p.set_vertex_label(i, graph.vertex_label(v));
            }
        }
        for &(u, v) in instance {
            p.add_edge(place(u), place(v));
            if graph.edge_labels.is_some() {
                p.set_edge_label(place(u), place(v), graph.edge_label(u, v).unwrap());
            }
        }
        p.canonical().0
    };
    let mut table: BTreeSet<Edges> = edges.iter().map(|&edge| Edges::from([edge])).collect();
    let mut found = BTreeMap::new();
    for size in 1..=max {
        let mut counts: BTreeMap<Pattern, u128> = BTreeMap::new();
        table.iter().for_each(|instance| *counts.entry(pattern(instance)).or_default() += 1);
        counts.retain(|_, count| *count >= u128::from(support));
        table.retain(|instance| counts.contains_key(&pattern(instance)));
        found.extend(counts);
        if size < max {
            let meets = |instance: &Edges, (u, v): (u32, u32)| {
                instance.iter().any(|&(a, b)| [a, b].contains(&u) || [a, b].contains(&v))
            };
            table = table
                .iter()
                .flat_map(|instance| {
                    let more =
                        edges.iter().filter(|&&e| !instance.contains(&e) && meets(instance, e));
                    more.map(|&e| instance.iter().copied().chain([e]).collect())
                })
                .collect();
        }
    }
    found
}

#[test]
fn instances_agree_with_brute_force() {
    let mut random = Random(7);
    let mut beyond = 0;
    for round in 0..500 {
        let vertices = 2 + random.below(8);
        let edges = random.below(12);
        let (classes, labels) = (random.below(4), [0, 0, 1, 3][random.below(4) as usize]);
        let graph = random_graph(&mut random, vertices, edges, classes, labels);
        let max = 1 + random.below(4) as usize;
        let support = [1, 2, 3, 5][random.below(4) as usize];
        let sink = ListSink::default();
        let context = Context::with_threads(1 + random.below(3) as usize);
        let limit = SizeLimit::MaxEdges(max);
        let outcome =
            super::run(&graph, limit, support, Measure::Instances, job(&sink, &context)).unwrap();
        let expected = instances_by_force(graph.view(), max, support);
        assert_eq!(by_pattern(&outcome), expected, "round {round}");
        let mut listed: BTreeMap<Pattern, u128> = BTreeMap::new();
        for (pattern, _) in sink.0.into_inner().unwrap() {
            *listed.entry(pattern).or_default() += 1;
        }
        assert_eq!(listed, expected, "round {round}");
        // A pattern with an edge of a kind that is infrequent by itself.
        let kinds: BTreeSet<&Pattern> = expected.keys().filter(|p| p.edge_count() == 1).collect();
        beyond += expected
            .keys()
            .filter(|p| {
                p.edges().into_iter().any(|(i, j)| {
                    let mut edge = p.induced(&[i, j]);
                    edge = edge.canonical().0;
                    !kinds.contains(&edge)
                })
            })
            .count();
    }
    assert!(beyond > 0, "no round extends by an infrequent edge");
}

/// Several processes give the result of one, however candidates are divided.
#[test]
fn minimum_image_support_in_several_processes() {
    let mut random = Random(11);
    let mut frequent = 0;
    for round in 0..12 {
        let graph = random_graph(&mut random, 60, 150, 1 + round % 3, round % 2 * 2);
        let limit = [SizeLimit::MaxEdges(4), SizeLimit::MaxVertices(4)][round as usize % 2];
        let context = Context::with_threads(1 + round as usize % 2);
        let whole = super::run(
            &graph,
            limit,
            8,
            Measure::Mni,
            Job { units: Units::All, sink: None, context: &context, others: None },
        );
        let whole = whole.unwrap();
        let together = crate::peers::Threads::new(3);
        let all: Vec<Outcome> = std::thread::scope(|scope| {
            let run = || super::run_together(&graph, limit, 8, &together, &context).unwrap();
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(run)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|outcome| *outcome == whole), "{round}");
        frequent += whole.results.iter().filter(|found| found.pattern.edge_count() > 2).count();
    }
    assert!(frequent > 20, "{frequent}");
}

/// Domains are for the next level.
#[test]
fn processes_tell_no_domains_of_the_last_level() {
    let graph = random_graph(&mut Random(5), 60, 150, 2, 0);
    let context = Context::with_threads(1);
    let told = crate::peers::CountingPeer::default();
    let outcome = super::run_together(&graph, SizeLimit::MaxEdges(3), 8, &told, &context).unwrap();
    let of = |edges| outcome.results.iter().filter(|c| c.pattern.edge_count() == edges).count();
    // A number and a support each, and of a domain a word for each of at most 60 vertices' 64 bits.
    let bytes = told.bytes.into_inner().unwrap();
    assert_eq!((bytes.len(), bytes[0], bytes[1]), (2, of(2) * (12 + 3 * 8), of(3) * 12));
    assert!(of(3) > 3, "{}", of(3));
}

//! Numbers near and above 64 and 128 bits, against closed forms in 256 bits: an answer is given whenever it fits.

use ethnum::U256;
use gramer_base::Context;
use gramer_base::context::Notes;
use gramer_base::error::Error;
use gramer_cpu::Cpu;
use gramer_engine::per::Per;
use gramer_engine::{Engine, EngineExt, Outcome, Share, Units};
use gramer_graph::{Builder, Graph};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Task};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// C(n, k).
fn choose(n: u64, k: u64) -> U256 {
    (0..k).fold(U256::ONE, |ways, i| ways * U256::from(n.saturating_sub(i)) / U256::from(i + 1))
}

fn fits(number: U256) -> Option<u128> {
    u128::try_from(number).ok()
}

/// All pairs of `hubs` vertices with `leaves` others.
fn bipartite(hubs: u64, leaves: u64, labelled: bool) -> Graph {
    let mut builder = Builder::new();
    for leaf in hubs..hubs + leaves {
        (0..hubs).for_each(|hub| builder.edge(hub, leaf));
    }
    for v in (0..hubs + leaves).filter(|_| labelled) {
        builder.vertex_label(v, 1);
    }
    builder.build()
}

/// The same as a pattern.
fn biclique(hubs: usize, leaves: usize, labelled: bool) -> Pattern {
    let edges: Vec<_> =
        (hubs..hubs + leaves).flat_map(|leaf| (0..hubs).map(move |hub| (hub, leaf))).collect();
    let mut pattern = Pattern::from_edges(hubs + leaves, &edges);
    for v in (0..hubs + leaves).filter(|_| labelled) {
        pattern.set_vertex_label(v, 1);
    }
    pattern
}

/// Pairs of vertices that are not adjacent, all others are.
fn cocktail_party(pairs: u64) -> Graph {
    let mut builder = Builder::new();
    for v in 0..2 * pairs {
        (0..v).filter(|u| u / 2 != v / 2).for_each(|u| builder.edge(u, v));
    }
    builder.vertex_range(0..2 * pairs);
    builder.build()
}

fn run(graph: &Graph, task: &Task) -> Result<Outcome, Error> {
    Cpu.run(graph, task, None, &Context::with_threads(2))
}

fn matching(graph: &Graph, pattern: &Pattern, induced: Induced, mappings: bool) -> Option<u128> {
    let task = Task::Match {
        pattern: pattern.clone(),
        induced,
        mappings: mappings.then_some(Mappings::Isomorphism),
    };
    match run(graph, &task) {
        Ok(outcome) => Some(outcome.results[0].count),
        Err(Error::Unsupported(what)) => {
            let of = if mappings { "mappings" } else { "occurrences" };
            assert_eq!(what, format!("the number of {of} needs more than 128 bits"));
            None
        }
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]
    #[test]
    fn stars_in_a_star(leaves in 3u64..300_000, rays in 3usize..12, labelled: bool) {
        let graph = bipartite(1, leaves, labelled);
        let star = biclique(1, rays, labelled);
        let expected = choose(leaves, rays as u64);
        prop_assert_eq!(matching(&graph, &star, Induced::Edge, false), fits(expected));
        let automorphisms = (1..=rays as u128).product::<u128>();
        let mappings = expected.checked_mul(U256::from(automorphisms)).and_then(fits);
        prop_assert_eq!(matching(&graph, &star, Induced::Edge, true), mappings);
    }

    #[test]
    fn bicliques_in_a_biclique(
        hubs in 2u64..4, leaves in 5u64..1_200, rays in 4usize..12, labelled: bool,
    ) {
        let graph = bipartite(hubs, leaves, labelled);
        let pattern = biclique(2, rays, labelled);
        // Either side of the pattern on either side of the graph.
        let expected = choose(hubs, 2) * choose(leaves, rays as u64)
            + choose(leaves, 2) * choose(hubs, rays as u64);
        prop_assert_eq!(matching(&graph, &pattern, Induced::Edge, false), fits(expected));
    }

    #[test]
    fn shares_of_matches_add_up(leaves in 50_000u64..200_000, rays in 6usize..10, parts in 2usize..6) {
        let graph = bipartite(1, leaves, false);
        let task = Task::Match {
            pattern: biclique(1, rays, false),
            induced: Induced::Edge,
            mappings: None,
        };
        let context = Context::with_threads(2);
        let prepared = Cpu.prepare(&graph, &context).unwrap();
        let parts: Result<Vec<Outcome>, Error> = Share::split(graph.view(), parts)
            .iter()
            .map(|share| {
                let part = prepared.run(&task, Units::Share(share), None, &context)?;
                // As it travels.
                let text = serde_json::to_string(&part).unwrap();
                Ok(serde_json::from_str(&text).unwrap())
            })
            .collect();
        let merged = parts.and_then(|parts| Outcome::merge(&task, &graph, parts));
        let found = merged.ok().map(|outcome| outcome.results[0].count);
        prop_assert_eq!(found, fits(choose(leaves, rays as u64)));
    }

    #[test]
    fn cliques_of_cocktail_parties(pairs in 3u64..170) {
        let graph = cocktail_party(pairs);
        let begun = Instant::now();
        let found = run(&graph, &Task::MaximalCliques);
        // A search of all of them would not end.
        prop_assert!(begun.elapsed() < Duration::from_secs(20));
        match (found, pairs) {
            (Ok(outcome), ..128) => {
                prop_assert_eq!(outcome.counts().sum::<u128>(), 1 << pairs);
            }
            (Err(Error::Unsupported(what)), 128..) => {
                prop_assert!(what.contains("maximal cliques needs more than 128 bits"));
            }
            (other, _) => panic!("{pairs} pairs: {other:?}"),
        }
        let size = pairs.min(60);
        let expected = choose(pairs, size) * (U256::ONE << size as u32);
        let task = Task::CliqueSizes { smallest: size as usize, largest: size as usize };
        let found = run(&graph, &task).ok().and_then(|outcome| outcome.counts().next());
        prop_assert_eq!(found, fits(expected));
    }
}

#[test]
fn known_numbers() {
    let graph = bipartite(1, 200_000, false);
    let star = biclique(1, 8, false);
    // Python: math.comb(200000, 8).
    let known = Some(63_483_175_114_270_158_998_767_235_727_249_975_000);
    assert_eq!(matching(&graph, &star, Induced::Edge, false), known);
    assert_eq!(matching(&graph, &star, Induced::Edge, true), None);
}

/// Vertex-induced motifs of six vertices with more edges than a star has, and the stars.
fn six(graph: &Graph) -> (Vec<u128>, usize) {
    let notes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&notes);
    let context = Context {
        notes: Notes::to(move |_| _ = counter.fetch_add(1, Relaxed)),
        ..Context::with_threads(2)
    };
    let task = Task::Motif { k: 6, induced: Induced::Vertex };
    let outcome = Cpu.run(graph, &task, None, &context).unwrap();
    (outcome.results.iter().map(|r| r.count).collect(), notes.load(Relaxed))
}

#[test]
fn motifs_of_six_at_hubs_whose_fifth_power_needs_more_than_64_bits() {
    // From 7,132 leaves on.
    let (counts, notes) = six(&bipartite(1, 7_132, false));
    assert_eq!(counts.iter().filter(|&&n| n > 0).collect::<Vec<_>>(), [&153_555_847_926_198_696]);
    assert_eq!(notes, 0);
}

#[test]
fn numbers_per_vertex_fit_though_their_sum_does_not() {
    // K130: C(130, 63) cliques fit 128 bits, and so does what each vertex has of them; 63 times as many don't.
    let mut builder = Builder::new();
    (0..130u64).for_each(|v| (0..v).for_each(|u| builder.edge(u, v)));
    let graph = builder.build();
    let context = Context::with_threads(2);
    let prepared = Cpu.prepare(&graph, &context).unwrap();
    let task = Task::CliqueSizes { smallest: 63, largest: 63 };
    let outcome = prepared.run_per(&task, Per::Vertex, &context).unwrap();
    assert_eq!(outcome.rows[0].count, fits(choose(130, 63)).unwrap());
    assert_eq!(outcome.columns[0].counts.get(0), fits(choose(129, 62)).unwrap());
}

/// One size of many may be too large for 128 bits; the others have their numbers.
#[test]
fn sizes_of_cliques_that_fit_are_counted_beside_those_that_do_not() {
    let vertices = 140u64;
    let mut builder = Builder::new();
    for v in 0..vertices {
        (0..v).for_each(|u| builder.edge(u, v));
    }
    let task = Task::CliqueSizes { smallest: 3, largest: 150 };
    let outcome = run(&builder.build(), &task).unwrap();
    let count = |k| u128::try_from(choose(vertices, k)).unwrap_or(Outcome::SATURATED);
    let expected: Vec<u128> = (3..=vertices).map(count).collect();
    assert!(outcome.complete && expected.contains(&Outcome::SATURATED));
    assert_eq!(outcome.counts().collect::<Vec<_>>(), expected);
    let first = (3..).find(|&k| count(k) == Outcome::SATURATED).unwrap();
    let sizes = format!("of {first} to {} vertices", vertices - first);
    assert!(outcome.warnings[0].contains(&sizes), "{:?}", outcome.warnings);
}

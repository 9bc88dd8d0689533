//! Motifs: every connected pattern of k vertices.
//!
//! Counting visits embeddings of k − 2 vertices only and solves the equations of
//! [`gramer_pattern::plan::motif`]; listing visits every embedding.

mod collisions;
mod edges;
mod five;
mod neighbourhood;

use std::ops::ControlFlow;

use crate::{Count, Outcome, Sink};
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_graph::{VertexId, View};
use gramer_pattern::plan::motif::{MotifPlan, copies};
use gramer_pattern::task::Induced;
use gramer_pattern::{Dictionary, Pattern};

use super::{Resident, census, clique, cycle};

pub(super) fn run(
    graph: &Resident<'_>,
    k: usize,
    induced: Induced,
    sink: Option<&dyn Sink>,
    context: &Context,
) -> Result<Outcome> {
    let (counts, complete) = match sink {
        None => {
            let (counts, complete) = vertex_induced(graph, k, context);
            match induced {
                Induced::Vertex => (counts, complete),
                Induced::Edge => (edge_induced(k, &counts), complete),
            }
        }
        Some(sink) => list(graph, k, induced, sink, context),
    };
    let patterns = Dictionary::of(k).patterns().iter();
    let results =
        patterns.zip(counts).map(|(p, count)| Count { pattern: p.clone(), count }).collect();
    Ok(Outcome { results, complete, ..Outcome::default() })
}

/// The number of one pattern of 3 to 6 vertices, and whether the run was finished.
pub(super) fn one(
    graph: &Resident<'_>,
    pattern: &Pattern,
    induced: Induced,
    context: &Context,
) -> (u128, bool) {
    let k = pattern.vertices();
    let (counts, complete) = vertex_induced(graph, k, context);
    let counts = match induced {
        Induced::Vertex => counts,
        Induced::Edge => edge_induced(k, &counts),
    };
    let number = Dictionary::of(k).number(pattern.bits() as u32).expect("it is connected");
    (counts[number], complete)
}

/// Vertex-induced counts by number of the pattern, and whether the run was finished. The
/// equations need all sums, so a run that was not finished gives zeros.
fn vertex_induced(graph: &Resident<'_>, k: usize, context: &Context) -> (Vec<u128>, bool) {
    let zeros = || (vec![0; Dictionary::of(k).patterns().len()], false);
    if k == 3 {
        // Pairs of neighbours: those that are adjacent are in triangles, three in each.
        let (triangles, complete) = clique::count(graph, k, context);
        let view = graph.graph.view();
        let pairs = |v| (view.degree(v) as u128 * (view.degree(v) as u128).saturating_sub(1)) / 2;
        let wedges: u128 = (0..view.vertices() as VertexId).map(pairs).sum();
        return if complete { (vec![wedges - 3 * triangles, triangles], true) } else { zeros() };
    }
    if k == 5 {
        let (cliques, complete) = clique::count(graph, k, context);
        let (cycles, whole) = cycle::five(graph.graph.view(), context);
        if !(complete && whole) {
            return zeros();
        }
        let (counts, complete) = five::edge_induced(graph.graph.view(), cycles, cliques, context);
        return if complete { (induced_from_edges(k, &counts), true) } else { zeros() };
    }
    by_equations(graph, k, context)
}

/// Vertex-induced counts by the equations of [`MotifPlan`].
fn by_equations(graph: &Resident<'_>, k: usize, context: &Context) -> (Vec<u128>, bool) {
    let plan = MotifPlan::of(k);
    let zeros = || (vec![0; Dictionary::of(k).patterns().len()], false);
    let (sums, complete) = sums(graph.graph.view(), k, plan, context);
    if !complete {
        return zeros();
    }
    let (cliques, complete) = clique::count(graph, k, context);
    if !complete {
        return zeros();
    }
    let mut cycles = 0;
    if !plan.left_over().is_empty() {
        let complete;
        (cycles, complete) = match k {
            4 => cycle::four(graph.graph.view(), context),
            5 => cycle::five(graph.graph.view(), context),
            _ => {
                let (smaller, complete) = smaller_counts(graph, context);
                if !complete {
                    return zeros();
                }
                cycle::six(graph.graph.view(), context, smaller)
            }
        };
        if !complete {
            return zeros();
        }
    }
    (plan.solve(&sums, cliques, |_| cycles), true)
}

/// The edge-induced numbers of all patterns of 2 to 5 vertices, and whether the run was finished.
fn smaller_counts(
    graph: &Resident<'_>,
    context: &Context,
) -> (impl Fn(&Pattern) -> u128 + use<>, bool) {
    let edges = graph.graph.edges() as u128;
    let mut by_size = vec![];
    let mut complete = true;
    for k in 3..=5 {
        let (counts, whole) = vertex_induced(graph, k, context);
        complete &= whole;
        by_size.push(edge_induced(k, &counts));
    }
    let count = move |p: &Pattern| match p.vertices() {
        2 => edges,
        k => {
            let number = Dictionary::of(k).number(p.bits() as u32).expect("it is connected");
            by_size[k - 3][number]
        }
    };
    (count, complete)
}

/// From vertex-induced to edge-induced counts: every embedding holds the patterns that its edges
/// can be thinned out to.
fn edge_induced(k: usize, counts: &[u128]) -> Vec<u128> {
    let copies = copies(k);
    let inside = |p: usize| counts.iter().zip(copies).map(|(&n, c)| n * c[p] as u128).sum();
    (0..counts.len()).map(inside).collect()
}

/// From edge-induced to vertex-induced counts: what lies in patterns with more edges is taken away.
fn induced_from_edges(k: usize, counts: &[u128]) -> Vec<u128> {
    let copies = copies(k);
    let mut induced = counts.to_vec();
    // Patterns are sorted by edges, so those with more come first here.
    for p in (0..counts.len()).rev() {
        let inside: u128 =
            (p + 1..counts.len()).map(|host| induced[host] * u128::from(copies[host][p])).sum();
        induced[p] -= inside;
    }
    induced
}

/// The sums A of the plan's equations.
fn sums(graph: View<'_>, k: usize, plan: &MotifPlan, context: &Context) -> (Vec<u128>, bool) {
    let make = || (vec![0u128; plan.sums()], [0u32; 1 << census::MAX_SIZE]);
    let (states, complete) =
        census::run(graph, k - 2, context, make, |(sums, outside), frontier, last| {
            frontier.outside(last, outside);
            for term in plan.terms(frontier.bits_with(last)) {
                let first = outside[term.first as usize] as u64;
                if first == 0 {
                    continue;
                }
                let pairs = if term.first == term.second {
                    first * (first - 1) / 2
                } else {
                    first * outside[term.second as usize] as u64
                };
                sums[term.sum as usize] += pairs as u128;
            }
            ControlFlow::Continue(())
        });
    let mut sums = vec![0; plan.sums()];
    for (state, _) in &states {
        for (sum, part) in sums.iter_mut().zip(state) {
            *sum += part;
        }
    }
    (sums, complete)
}

/// Visits every embedding.
fn list(
    graph: &Resident<'_>,
    k: usize,
    induced: Induced,
    sink: &dyn Sink,
    context: &Context,
) -> (Vec<u128>, bool) {
    let dictionary = Dictionary::of(k);
    let patterns = dictionary.patterns();
    let make = || (vec![0u128; patterns.len()], Vec::with_capacity(k));
    let (states, complete) =
        census::run(graph.graph.view(), k, context, make, |(counts, members), frontier, last| {
            if context.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            members.clear();
            members.extend_from_slice(&frontier.members);
            members.push(last);
            let mut emit = |bits: u32| {
                let Some(number) = dictionary.number(bits) else {
                    return ControlFlow::Continue(());
                };
                counts[number] += 1;
                let order = &dictionary.order(bits)[..k];
                let embedding: Vec<VertexId> = order.iter().map(|&v| members[v as usize]).collect();
                sink.embedding(&patterns[number], &embedding)
            };
            let all = frontier.bits_with(last);
            match induced {
                Induced::Vertex => emit(all),
                Induced::Edge => {
                    // Each connected subset of the edges is an occurrence of its own.
                    let mut kept = all;
                    while kept != 0 {
                        emit(kept)?;
                        kept = (kept - 1) & all;
                    }
                    ControlFlow::Continue(())
                }
            }
        });
    let mut counts = vec![0; patterns.len()];
    for (state, _) in &states {
        for (count, part) in counts.iter_mut().zip(state) {
            *count += part;
        }
    }
    (counts, complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    /// Edges as drawn, a part of them joined to few vertices so that these become hubs.
    fn graph(edges: &[(u64, u64)], hubs: u64) -> gramer_graph::Graph {
        let mut builder = Builder::new();
        for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
            builder.edge(u, v);
            if hubs > 0 && (u + v) % 3 == 0 && u != v % hubs {
                builder.edge(u, v % hubs);
            }
        }
        builder.build()
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
        #[test]
        fn closed_forms_of_five_agree_with_the_equations(
            edges in proptest::collection::vec((0u64..40, 0u64..40), 1..260),
            hubs in 0u64..4,
            threads in 1usize..4,
        ) {
            let graph = graph(&edges, hubs);
            let context = Context::with_threads(threads);
            let resident = Resident::new(&graph);
            let by_forms = vertex_induced(&resident, 5, &context);
            proptest::prop_assert_eq!(by_forms, by_equations(&resident, 5, &context));
        }
    }

    #[test]
    fn closed_forms_of_five_with_many_hubs() {
        // 150 vertices next to each of 140 others: more hubs than have a bit, and rows that are
        // searched, looked up and scanned.
        let mut builder = Builder::new();
        for hub in 0..140u64 {
            for v in 0..150u64 {
                if (hub * 7 + v * 13) % 11 != 0 {
                    builder.edge(hub, 1000 + v);
                }
            }
            builder.edge(hub, (hub + 1) % 140);
        }
        for leaf in 0..3000u64 {
            builder.edge(0, 5000 + leaf);
            builder.edge(5000 + leaf, 5000 + (leaf * 31 + 7) % 3000 + u64::from(leaf == 0));
        }
        let graph = builder.build();
        let context = Context::with_threads(2);
        let resident = Resident::new(&graph);
        let sums = vertex_induced(&resident, 5, &context);
        assert!(sums.1);
        assert_eq!(sums, by_equations(&resident, 5, &context));
    }
}

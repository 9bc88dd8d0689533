//! Motifs: every connected pattern of k vertices.
//!
//! Counting visits embeddings of k − 2 vertices only and solves the equations of
//! [`gramer_pattern::plan::motif`]; listing visits every embedding.

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

/// Vertex-induced counts by number of the pattern, and whether the run was finished. The
/// equations need all sums, so a run that was not finished gives zeros.
fn vertex_induced(graph: &Resident<'_>, k: usize, context: &Context) -> (Vec<u128>, bool) {
    let plan = MotifPlan::of(k);
    let zeros = || (vec![0; Dictionary::of(k).patterns().len()], false);
    let (sums, complete) = sums(graph.graph.view(), k, plan, context);
    if !complete {
        return zeros();
    }
    // A graph with so many 6-cliques would have 2^42 edges.
    let (cliques, complete) = clique::count(graph, k, context).expect("they fit 128 bits");
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

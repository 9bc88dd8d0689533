//! Motifs: every connected pattern of k vertices.
//!
//! Counting visits embeddings of k − 2 vertices only and solves the equations of
//! [`gramer_pattern::plan::motif`]; listing visits every embedding.

mod collisions;
mod edges;
mod five;
mod leaves;
mod neighbourhood;
mod six;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::{Outcome, Sink};
use gramer_graph::{VertexId, View};
use gramer_pattern::closing::equations::{by_pattern, counts, vertex_induced};
use gramer_pattern::closing::forms::{edge_induced, vertex_induced as vertex_induced_from};
use gramer_pattern::closing::{Closing, Sums};
use gramer_pattern::plan::homomorphism::Shape;
use gramer_pattern::plan::motif::MotifPlan;
use gramer_pattern::task::Induced;
use gramer_pattern::{Dictionary, Pattern};
use tracing::info;

use super::reach::{Form, by_form};
use super::{Job, Resident, clique, cycle};
pub(super) use edges::EdgeCounts;
use leaves::HubsOfLeaves;

/// Counts of the whole graph by closed forms, where there are some.
pub(super) fn forms(graph: &Resident, k: usize, induced: Induced, job: Job<'_>) -> Result<Outcome> {
    let (counts, complete) = whole(graph, k, job)?;
    let counts = if induced == Induced::Edge { edge_induced(k, &counts) } else { counts };
    Ok(Outcome::new(by_pattern(k, counts), complete))
}

/// Counts by the equations, or of a share the sums that enter them.
pub(super) fn equations(
    graph: &Resident,
    k: usize,
    induced: Induced,
    job: Job<'_>,
) -> Result<Outcome> {
    info!(k, "motifs are solved for from sums over edges, the cliques and the cycles");
    let mut sums = vec![];
    let complete = add_sums(graph, k, job, &mut sums);
    if complete && job.units.share().is_some() {
        // The equations are solved when the sums of all units are there.
        let sums = Some(Sums { closing: Closing::MotifEquations { k }, values: sums });
        return Ok(Outcome { complete, sums, ..Outcome::default() });
    }
    let counts = if complete { counts(k, induced, &sums) } else { zeros(k) };
    Ok(Outcome::new(by_pattern(k, counts), complete))
}

/// Counts by a visit of every embedding, which the sink gets.
pub(super) fn census(graph: &Resident, k: usize, induced: Induced, job: Job<'_>) -> Outcome {
    let (counts, complete) = list(graph, k, induced, job.sink.unwrap_or(&NoSink), job);
    Outcome::new(by_pattern(k, counts), complete)
}

/// Sink for embeddings that are only counted.
pub(super) struct NoSink;

impl Sink for NoSink {
    fn embedding(&self, _pattern: &Pattern, _vertices: &[VertexId]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The number of one pattern of 3 to 6 vertices, and whether the run was finished.
pub(super) fn one(
    graph: &Resident,
    pattern: &Pattern,
    induced: Induced,
    job: Job<'_>,
) -> Result<(u128, bool)> {
    let k = pattern.vertices();
    if is_by_part(k, induced)
        && job.context.budget.is_none()
        && let Some(found) =
            six::occurrences(graph, pattern, || smaller_edge_induced(graph, job), job)?
    {
        return Ok(found);
    }
    let (counts, complete) = whole(graph, k, job)?;
    let counts = match induced {
        Induced::Vertex => counts,
        Induced::Edge => edge_induced(k, &counts),
    };
    let number = Dictionary::of(k).number(pattern.bits() as u32).expect("it is connected");
    Ok((counts[number], complete))
}

/// Whether a part of the closed forms may give the number of a pattern of this size.
fn is_by_part(k: usize, induced: Induced) -> bool {
    k == 6 && induced == Induced::Edge
}

/// Estimated cost of [`one`] for six vertices, in elements visited; `None` where closed forms aren't the way.
pub(super) fn cost_of_one(
    view: View<'_>,
    shape: &Shape,
    pattern: &Pattern,
    induced: Induced,
) -> Option<f64> {
    let part = is_by_part(pattern.vertices(), induced)
        .then(|| six::cost_of_part(view, shape, pattern))
        .flatten();
    part.or_else(|| six::cost(view, shape))
}

/// Vertex-induced counts of the whole graph by number of the pattern, and whether the run was
/// finished; zeros if not. Closed forms need sums over all edges first, so shares go without them; `job` has
/// all units, and may have other processes.
fn whole(graph: &Resident, k: usize, job: Job<'_>) -> Result<(Vec<u128>, bool)> {
    let (context, view) = (job.context, graph.graph.view());
    if k == 6
        && context.budget.is_none()
        && job.others.is_none()
        && let Some(hubs) = HubsOfLeaves::new(view, six::MOST_NEIGHBOURS, k - 1)
    {
        let found = by_leaves(&hubs, k, context)?;
        let complete = found.is_some();
        return Ok((found.unwrap_or_else(|| zeros(k)), complete));
    }
    // Those of six vertices are counted in phases that depend on the graph.
    let _plan = if k < 6 { context.progress.plan(|| parts(k, view, context)) } else { None };
    let found = match k {
        3 => {
            // Pairs of neighbours: those that are adjacent are in triangles, three in each.
            let (triangles, complete) = clique::count(graph, k, job)?;
            let wedges: u128 = (0..view.vertices() as VertexId)
                .map(|v| view.degree(v) as u128)
                .map(|degree| degree * degree.saturating_sub(1) / 2)
                .sum();
            complete.then(|| vec![wedges - 3 * triangles, triangles])
        }
        // Its closed forms need sums per edge.
        5 if context.budget.is_none() => {
            let sums = graph.orient_beside(context, || five::all_but_cliques(view, job));
            let (cliques, complete) = clique::count(graph, k, job)?;
            sums.filter(|_| complete).map(|mut sums| {
                sums.cliques = cliques;
                let counts = sums.edge_induced().expect("they are sums of a graph");
                vertex_induced_from(k, &counts).expect("they are those of a graph")
            })
        }
        // It lists the common neighbours of all edges.
        6 if context.budget.is_none() => {
            match six::vertex_induced(graph, || smaller_edge_induced(graph, job), job)? {
                six::CountEnd::All(counts) => Some(counts),
                six::CountEnd::Stopped => None,
                six::CountEnd::Small => by_equations(graph, k, job),
                six::CountEnd::Large(reason) => {
                    note(k, &reason, context);
                    by_equations(graph, k, job)
                }
            }
        }
        _ => by_equations(graph, k, job),
    };
    let complete = found.is_some();
    Ok((found.unwrap_or_else(|| zeros(k)), complete))
}

/// Counts from graphs in which hubs have few leaves; `None` if the run was cancelled.
fn by_leaves(hubs: &HubsOfLeaves<'_>, k: usize, context: &Context) -> Result<Option<Vec<u128>>> {
    info!(k, "motifs are counted in graphs with few leaves of the hubs");
    let samples = hubs.samples(k);
    let _plan = context.progress.plan(|| vec![1.0; samples.len()]);
    let mut numbers = BTreeMap::new();
    for leaves in samples {
        let graph = hubs.with(&leaves, context)?;
        let (counts, complete) = whole(&Resident::new(&graph), k, Job::whole(context))?;
        if !complete {
            return Ok(None);
        }
        numbers.insert(leaves, counts);
    }
    let counts = hubs.counts(numbers);
    Ok(Some(counts.ok_or_else(|| {
        Error::Unsupported("the number of motifs needs more than 108 bits".into())
    })?))
}

/// Warns that a far slower method is used.
fn note(k: usize, reason: &str, context: &Context) {
    context.notes.add(&format!(
        "the motifs of {k} vertices are counted by a visit to every connected set of {} vertices, which may take \
         very long, because {reason}",
        k - 2
    ));
}

/// Expected nanoseconds of counting the motifs of three, four and five vertices.
fn of_smaller(graph: View<'_>, shape: &Shape) -> [f64; 3] {
    [2.0 * shape.cycle_steps, 10.0 * shape.cycle_steps, five::parts(graph).iter().sum()]
}

/// Expected parts of the time of the phases in which [`whole`] counts up to five vertices.
fn parts(k: usize, graph: View<'_>, context: &Context) -> Vec<f64> {
    match k {
        3 => vec![1.0],
        5 if context.budget.is_none() => five::parts(graph),
        // Sums over edges, cliques, cycles: much the same in social, citation, web and random graphs.
        _ => vec![47.0, 25.0, 28.0],
    }
}

/// Edge-induced counts of the patterns of 3, 4 and 5 vertices; `None` if the run was not finished.
fn smaller_edge_induced(graph: &Resident, job: Job<'_>) -> Result<Option<[Vec<u128>; 3]>> {
    let mut all = [vec![], vec![], vec![]];
    for (k, counts) in (3..).zip(&mut all) {
        let (found, complete) = whole(graph, k, job)?;
        if !complete {
            return Ok(None);
        }
        *counts = edge_induced(k, &found);
    }
    Ok(Some(all))
}

/// Vertex-induced counts of the whole graph by the equations of [`MotifPlan`].
fn by_equations(graph: &Resident, k: usize, job: Job<'_>) -> Option<Vec<u128>> {
    // Of six vertices, the sets of four take nearly all of the time.
    let of_six = || [&[90.0, 2.0, 4.0][..], &[0.5; 8]].concat();
    let _plan = if k == 6 { job.context.progress.plan(of_six) } else { None };
    info!(k, "motifs are solved for from sums over edges, the cliques and the cycles");
    let mut sums = vec![];
    add_sums(graph, k, job, &mut sums).then(|| vertex_induced(k, &sums))
}

/// Result of an unfinished run: the equations need all sums.
fn zeros(k: usize) -> Vec<u128> {
    vec![0; Dictionary::of(k).patterns().len()]
}

/// Adds to `all` what the vertex-induced counts follow from: the plan's sums, the cliques, what the
/// number of k-cycles follows from. Each is a sum over units. Says whether the run was finished.
fn add_sums(graph: &Resident, k: usize, job: Job<'_>, all: &mut Vec<u128>) -> bool {
    let plan = MotifPlan::of(k);
    let view = graph.graph.view();
    let mut add = |(sums, complete): (Vec<u128>, bool)| {
        all.extend(sums);
        complete
    };
    let one = |(sum, complete)| (vec![sum], complete);
    let sums = graph.orient_beside(job.context, || sums(view, k, plan, job));
    // A graph with too many 6-cliques would have 2^42 edges.
    if !add(sums) || !add(one(clique::count(graph, k, job).expect("they fit 128 bits"))) {
        return false;
    }
    match k {
        _ if plan.left_over().is_empty() => true,
        4 => add(one(cycle::four(view, job))),
        5 => {
            let (sums, complete) = cycle::five(view, job);
            add((sums.into(), complete))
        }
        _ => {
            let entries = job.units.iter(view).map(|unit| unit.range().len() as u128).sum();
            add(one(cycle::six(view, job)))
                && add((vec![entries], true))
                && (3..=5).all(|k| add_sums(graph, k, job, all))
        }
    }
}

/// The sums A of the plan's equations.
fn sums(graph: View<'_>, k: usize, plan: &MotifPlan, job: Job<'_>) -> (Vec<u128>, bool) {
    by_form!(graph.vertices(), super::census::BYTES, F => sums_by::<F>(graph, k, plan, job))
}

fn sums_by<F: Form>(
    graph: View<'_>,
    k: usize,
    plan: &MotifPlan,
    job: Job<'_>,
) -> (Vec<u128>, bool) {
    let make = || (vec![0u128; plan.sums()], [0u32; 1 << super::census::MAX_SIZE]);
    let ran =
        super::census::run::<F, _>(graph, k - 2, job, make, |(sums, outside), frontier, last| {
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
    let sums = ran.sums(|states| {
        let mut sums = vec![0; plan.sums()];
        for (state, _) in &states {
            for (sum, part) in sums.iter_mut().zip(state) {
                *sum += part;
            }
        }
        Ok(sums)
    });
    sums.unwrap_or_default()
}

/// Visits every embedding; counts by number of the pattern, and whether the run was finished.
pub(super) fn list(
    graph: &Resident,
    k: usize,
    induced: Induced,
    sink: &dyn Sink,
    job: Job<'_>,
) -> (Vec<u128>, bool) {
    let view = graph.graph.view();
    by_form!(view.vertices(), super::census::BYTES, F => list_by::<F>(view, k, induced, sink, job))
}

fn list_by<F: Form>(
    graph: View<'_>,
    k: usize,
    induced: Induced,
    sink: &dyn Sink,
    job: Job<'_>,
) -> (Vec<u128>, bool) {
    let context = job.context;
    let dictionary = Dictionary::of(k);
    let patterns = dictionary.patterns();
    let make = || (vec![0u128; patterns.len()], Vec::with_capacity(k));
    let ran =
        super::census::run::<F, _>(graph, k, job, make, |(counts, members), frontier, last| {
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
                    // Each connected subset of the edges is its own occurrence.
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
    for (state, _) in &ran.states {
        for (count, part) in counts.iter_mut().zip(state) {
            *count += part;
        }
    }
    (counts, ran.complete)
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
        fn closed_forms_agree_with_the_equations(
            edges in proptest::collection::vec((0u64..40, 0u64..40), 1..260),
            hubs in 0u64..4,
            threads in 1usize..4,
        ) {
            let graph = graph(&edges, hubs);
            let context = Context::with_threads(threads);
            let resident = Resident::new(&graph);
            for k in [3, 5, 6] {
                let (by_forms, complete) = whole(&resident, k, Job::whole(&context)).unwrap();
                proptest::prop_assert!(complete);
                proptest::prop_assert_eq!(Some(by_forms), by_equations(&resident, k, Job::whole(&context)));
            }
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
        #[test]
        fn few_leaves_give_the_counts_with_many(
            edges in proptest::collection::vec((0u64..12, 0u64..12), 1..30),
            leaves in proptest::collection::vec(12u64..40, 1..4),
            threads in 1usize..3,
        ) {
            let mut builder = Builder::new();
            edges.iter().filter(|(u, v)| u != v).for_each(|&(u, v)| builder.edge(u, v));
            // Those of another vertex are left as they are.
            (0..3).for_each(|leaf| builder.edge(11, 50 + leaf));
            for (hub, &leaves) in (0..).zip(&leaves) {
                (0..leaves).for_each(|leaf| builder.edge(hub, 100 * (hub + 1) + leaf));
            }
            let graph = builder.build();
            let context = Context::with_threads(threads);
            for k in [3, 5, 6] {
                // A hub has up to eleven neighbours more.
                let hubs = HubsOfLeaves::new(graph.view(), 20, k - 1);
                let Some(hubs) = hubs else {
                    let most = (0..graph.view().vertices() as VertexId).map(|v| graph.view().degree(v)).max();
                    proptest::prop_assert!(most <= Some(20) || leaves.iter().any(|&n| n < 15));
                    continue;
                };
                let resident = Resident::new(&graph);
                let expected = by_equations(&resident, k, Job::whole(&context));
                proptest::prop_assert_eq!(by_leaves(&hubs, k, &context).unwrap(), expected);
            }
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
        let (counts, complete) = whole(&resident, 5, Job::whole(&context)).unwrap();
        assert!(complete);
        assert_eq!(Some(counts), by_equations(&resident, 5, Job::whole(&context)));
    }
}

//! Subgraph matching: the occurrences of one pattern.
//!
//! # What is counted
//! A *mapping* takes the vertices of the pattern to different vertices of the graph, edges to
//! edges, and, if vertex-induced, non-edges to non-edges. Vertices and edges with a label go to
//! ones with the same label; those without (wildcards, and all of an unlabelled pattern) go to any.
//!
//! An *occurrence* is a subgraph of the graph: its vertices, and the edges that are images of the
//! pattern's. Mappings with the same image are one occurrence. Without wildcards beside labels
//! these are the mappings that the pattern's automorphisms lead to, and there are as many
//! occurrences as mappings divided by automorphisms. With them it may be more: the wedge
//! `1 – * – *` has two mappings onto a wedge whose ends both have label 1, and one onto a wedge
//! where only one has; either is one occurrence.
//!
//! # How
//! 1. Candidates of each pattern vertex, by label, degree and neighbourhood ([`space`]).
//! 2. An order from a cost model over the candidates ([`gramer_pattern::plan::matching_order`]), conditions
//!    that break the symmetry ([`gramer_pattern::plan::symmetry`]), and the plan ([`plan`]).
//! 3. Depth-first search by intersection of sorted lists, with jumps back over vertices that have
//!    no part in a failure ([`search`]), in parallel over work units.

mod formula;
mod memo;
mod method;
mod occurrence;
mod search;
mod space;
#[cfg(test)]
mod tests;

use crate::work::{Groups, Units};
use crate::{Count, Open, Outcome, Sink};
use ethnum::U256;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, Label, NO_LABEL, VertexId};
use gramer_pattern::plan::matching_order::Estimates;
use gramer_pattern::plan::planner::Planner;
use gramer_pattern::plan::search::{SearchPlan, Then, bits};
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::Induced;
use gramer_pattern::{MAX_VERTICES, Pattern, automorphism_count};
use tracing::info;

use super::number::Number;
use super::{Job, Resident, Starts, sets};
use method::Method;
use occurrence::Representative;
use search::Search;
use space::Space;

/// Counts the mappings or the occurrences of `pattern`; see the module for what they are. Each is
/// handed to `sink`, if there is one: for an occurrence, one of its mappings.
///
/// Edge labels are ignored where the graph has none and the pattern's are all the same: some
/// programs write a label 0 for every edge.
///
/// # Errors
/// [`Error::Usage`] if the pattern asks for labels that the graph doesn't have, or is empty or
/// disconnected; [`Error::Unsupported`] if the number needs more than 128 bits.
pub(super) fn run(
    resident: &Resident<'_>,
    pattern: &Pattern,
    induced: Induced,
    mappings: bool,
    job: Job<'_>,
) -> Result<Outcome> {
    let graph = resident.graph;
    let asked = comparable(graph, pattern)?;
    if let Some(outcome) = without_search(resident, pattern, &asked, induced, mappings, job)? {
        return Ok(outcome);
    }
    info!(
        way = Method::Search.name(),
        listed = job.sink.is_some(),
        share = job.units.share().is_some(),
        limited = job.context.budget.is_some(),
        labels = asked.has_vertex_labels() || asked.has_edge_labels(),
        "no other way can do this, or none is cheaper"
    );
    let (sum, each, complete) = match search(graph, pattern, &asked, induced, mappings, job) {
        Ok(found) => found,
        // Stopped before the search began: nothing found so far.
        Err(Error::Interrupted) => (U256::ZERO, 1, false),
        Err(error) => return Err(error),
    };
    let divisor = U256::from(each);
    let count = u128::try_from(sum / divisor).map_err(|_| too_many(mappings))?;
    // Only the sum over all units is a multiple.
    let rest = (sum % divisor).as_u128();
    let open = (each > 1 && job.units.share().is_some()).then_some(Open::Mappings { rest, each });
    let results = vec![Count { pattern: pattern.clone(), count }];
    let devices = vec![Method::Search.metrics()];
    Ok(Outcome { results, complete, open, devices, ..Outcome::default() })
}

/// The answer where all occurrences of an unlabelled pattern are only counted and a search is not
/// the best way to their number.
fn without_search(
    resident: &Resident<'_>,
    given: &Pattern,
    pattern: &Pattern,
    induced: Induced,
    mappings: bool,
    job: Job<'_>,
) -> Result<Option<Outcome>> {
    let labels = pattern.has_vertex_labels() || pattern.has_edge_labels();
    // Other ways make tables that grow with the edges.
    let limited = job.context.budget.is_some();
    if job.sink.is_some() || job.units.share().is_some() || labels || limited {
        return Ok(None);
    }
    let estimates = unlabelled(resident.graph, pattern);
    let search = SearchPlan::estimated(pattern, induced, &estimates).cost as f64;
    let Some((count, complete, method)) = method::count(resident, pattern, induced, search, job)?
    else {
        return Ok(None);
    };
    info!(way = method.name(), cost_of_search = search, "the pattern was counted without a search");
    let each = if mappings { automorphism_count(pattern) } else { 1 };
    let count = count.checked_mul(each).ok_or_else(|| too_many(true))?;
    let results = vec![Count { pattern: given.clone(), count }];
    let devices = vec![method.metrics()];
    Ok(Some(Outcome { results, complete, devices, ..Outcome::default() }))
}

/// What the cost model knows of an unlabelled pattern: degrees alone.
fn unlabelled(graph: &Graph, pattern: &Pattern) -> Estimates {
    let n = pattern.vertices();
    let view = graph.view();
    let (mut arcs, mut walks) = (0.0, 0.0);
    for v in 0..view.vertices() as VertexId {
        let degree = view.degree(v) as f64;
        arcs += degree;
        walks += degree * degree;
    }
    let vertices = (view.vertices() as f64).max(1.0);
    Estimates {
        candidates: vec![vertices; n],
        reach: vec![[arcs / vertices; MAX_VERTICES]; n],
        biased: vec![[walks / f64::max(arcs, 1.0); MAX_VERTICES]; n],
    }
}

/// The pattern with the labels that can be compared with the graph's.
pub(super) fn comparable(graph: &Graph, pattern: &Pattern) -> Result<Pattern> {
    if pattern.vertices() == 0 || !pattern.is_connected() {
        return Err(Error::usage("the pattern must have a vertex and be connected"));
    }
    if pattern.has_vertex_labels() && !graph.has_vertex_labels() {
        return Err(Error::usage(
            "the pattern asks for vertex labels, but the graph has none: give the graph labels \
             (the setting `labels`), or take the labels out of the pattern",
        ));
    }
    if !pattern.has_edge_labels() || graph.has_edge_labels() {
        return Ok(pattern.clone());
    }
    let mut labels: Vec<Label> = pattern
        .edges()
        .iter()
        .filter_map(|&(i, j)| pattern.edge_label(i, j))
        .filter(|&l| l != NO_LABEL)
        .collect();
    labels.sort_unstable();
    labels.dedup();
    if labels.len() > 1 {
        return Err(Error::usage(format!(
            "the pattern asks for {} different edge labels, but the edges of the graph have none: \
             give a graph with edge labels, or take them out of the pattern",
            labels.len()
        )));
    }
    let mut plain = Pattern::from_edges(pattern.vertices(), &pattern.edges());
    for v in (0..pattern.vertices()).filter(|_| pattern.has_vertex_labels()) {
        plain.set_vertex_label(v, pattern.vertex_label(v));
    }
    Ok(plain)
}

/// The number of mappings found, by how many each occurrence was counted, and whether the search went
/// to its end. Embeddings go to the sink under the name of `given`, the pattern as it was asked for.
fn search(
    graph: &Graph,
    given: &Pattern,
    pattern: &Pattern,
    induced: Induced,
    mappings: bool,
    job: Job<'_>,
) -> Result<(U256, u128, bool)> {
    let Job { sink, context, .. } = job;
    let induced = induced == Induced::Vertex;
    let mut space = Space::new(graph.view(), pattern, induced, &context.cancel)?;
    if (0..pattern.vertices()).any(|v| space.candidates(v) == 0) {
        return Ok((U256::ZERO, 1, true));
    }
    let estimates = estimates(pattern, &space);
    let apart = !mappings && ambiguous(pattern);
    let emit = sink.is_some() || apart;
    let plan =
        Planner { pattern, space: &space, estimates: &estimates, induced }.best(mappings, emit);
    let representative = apart.then(|| {
        let order: Vec<usize> = plan.steps.iter().map(|step| step.vertex).collect();
        Representative::new(graph.view(), pattern, &order)
    });
    let found = execute(&plan, &mut space, given, representative.as_ref(), job)?;
    let (count, complete) = (found.0.ok_or_else(|| too_many(mappings))?, found.1);
    Ok(if emit {
        (count, 1, complete)
    } else if mappings {
        let count = count.checked_mul(U256::from(plan.factor));
        (count.ok_or_else(|| too_many(true))?, 1, complete)
    } else {
        // The counted automorphisms are a divisor of all.
        (count, plan.automorphisms / plan.factor, complete)
    })
}

fn too_many(mappings: bool) -> Error {
    let what = if mappings { "mappings" } else { "occurrences" };
    Error::Unsupported(format!("the number of {what} needs more than 128 bits"))
}

/// Executes a plan that was made for any graph over some units: the mappings that it counts, before
/// its factor, and whether the search went to its end. What a [`Then::Emit`] meets goes to `sink`.
///
/// # Errors
/// [`Error::Unsupported`] if the number needs more than 128 bits, [`Error::Interrupted`].
pub fn execute_plan(
    graph: &Graph,
    plan: &SearchPlan,
    units: Units<'_>,
    sink: Option<&dyn Sink>,
    context: &Context,
) -> Result<(u128, bool)> {
    units.check(graph.view())?;
    execute_named(graph, plan, &plan.pattern, Job { units, sink, context, others: None })
}

/// The same, with embeddings handed on under the name of `given`, the pattern as it was asked for.
pub(super) fn execute_named(
    graph: &Graph,
    plan: &SearchPlan,
    given: &Pattern,
    job: Job<'_>,
) -> Result<(u128, bool)> {
    let mut space = Space::of_plan(graph.view(), plan);
    let (count, complete) = execute(plan, &mut space, given, None, job)?;
    let count = count.and_then(|count| u128::try_from(count).ok());
    Ok((count.ok_or_else(|| too_many(true))?, complete))
}

/// The number of mappings that a plan counts, `None` if it needs more than 256 bits, and whether the search went to
/// its end.
fn execute(
    plan: &SearchPlan,
    space: &mut Space<'_>,
    given: &Pattern,
    representative: Option<&Representative<'_>>,
    job: Job<'_>,
) -> Result<(Option<U256>, bool)> {
    let lists = space.build_lists(plan, &job.context.cancel)?;
    let space = &*space;
    let units = units(plan, space, &lists, job);
    let search = Execution { plan, space, lists: &lists, given, representative, job };
    let (count, complete) = search.run::<u128>(&units);
    if count.is_some() {
        return Ok((count, complete));
    }
    info!("the pattern is searched again with 256 bits: its mappings need more than 128");
    Ok(search.run::<U256>(&units))
}

/// What a search needs, whatever the width of its numbers.
struct Execution<'a> {
    plan: &'a SearchPlan,
    space: &'a Space<'a>,
    lists: &'a [Option<usize>],
    given: &'a Pattern,
    representative: Option<&'a Representative<'a>>,
    job: Job<'a>,
}

impl Execution<'_> {
    /// The number of mappings, `None` if the type has too few bits, and whether all units were finished.
    fn run<N: Number>(&self, units: &Groups) -> (Option<U256>, bool) {
        let Execution { plan, space, lists, given, representative, job } = *self;
        let Job { sink, context, .. } = job;
        let ran = job.run(
            units,
            || Search::<N>::new(plan, space, lists, given, sink, representative, context),
            |search, unit| search.unit(unit.start, unit.first..unit.limit),
        );
        ran.total(|search| (search.count != N::MAX).then_some(search.count))
    }
}

/// The estimates of a candidate space.
fn estimates(pattern: &Pattern, space: &Space<'_>) -> Estimates {
    let n = pattern.vertices();
    let mut estimates = Estimates {
        candidates: (0..n).map(|v| space.candidates(v) as f64).collect(),
        reach: vec![[0.0; MAX_VERTICES]; n],
        biased: vec![[0.0; MAX_VERTICES]; n],
    };
    for u in 0..n {
        for w in bits(pattern.neighbours(u)) {
            let size = space.size(u, w);
            if size.entries > 0.0 {
                estimates.reach[u][w] = size.entries / estimates.candidates[u];
                estimates.biased[u][w] = size.squares / size.entries;
            }
        }
    }
    estimates
}

/// Work units: a candidate of the first vertex, and a range of the list that the last step after
/// it goes through.
fn units(plan: &SearchPlan, space: &Space<'_>, numbers: &[Option<usize>], job: Job<'_>) -> Groups {
    let root = &plan.steps[0];
    let next = match root.then.last() {
        Some(Then::Step(step)) => Some(&plan.steps[*step]),
        _ => None,
    };
    let lists = next.and_then(|step| {
        let set = step.source.as_ref()?.set;
        numbers[set].filter(|_| plan.sets[set].borrowed()).map(|lists| space.lists(lists))
    });
    let after = next.and_then(|step| {
        step.sets.iter().find_map(|&set| numbers[set]).map(|lists| space.lists(lists))
    });
    let weight = |start: VertexId| match (lists, after) {
        (Some(lists), Some(after)) => {
            lists.of(start).iter().map(|&p| 1 + after.of(p).len() as u64).sum()
        }
        (Some(lists), None) => lists.of(start).len() as u64,
        (None, _) => 1,
    };
    let length = |start: VertexId| lists.map_or(1, |lists| lists.of(start).len());
    let starts = match space.ids(root.vertex) {
        Some(ids) => Starts::numbered(space.graph, ids),
        None => Starts::vertices(space.graph),
    };
    starts.units(job, length, weight)
}

//! Subgraph matching: the occurrences of one pattern.
//!
//! # What is counted
//! A *mapping* takes the vertices of the pattern to different vertices of the graph, edges to
//! edges, and, if vertex-induced, non-edges to non-edges; otherwise only pairs that the pattern forbids to join. Vertices and edges with a label go to
//! ones with the same label; those without (wildcards, and all of an unlabelled pattern) go to any.
//!
//! An *occurrence* is a subgraph of the graph: its vertices, the edges that are images of the
//! pattern's, and the pairs that must not be joined. Mappings with the same image are one occurrence. Without wildcards beside labels
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

pub(super) mod components;
mod formula;
mod marks;
mod memo;
mod method;
mod occurrence;
pub(super) mod repeats;
mod search;
mod sides;
mod space;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Arc;

use ethnum::U256;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::work::{Groups, Units};
use gramer_engine::{Count, Outcome, Sink};
use gramer_graph::{Graph, VertexId};
use gramer_pattern::closing::{Closing, Sums, labels};
use gramer_pattern::plan::matching_order::Estimates;
use gramer_pattern::plan::planner::Planner;
use gramer_pattern::plan::search::{NextStep, SearchPlan, bits};
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::Induced;
use gramer_pattern::{MAX_VERTICES, Pattern, automorphism_count};
use tracing::{debug, info};

use super::number::Number;
use super::{Job, Resident, StartVertices, motif, sets};
use method::{Method, MethodChoice};
use occurrence::Representative;
use search::{Allowance, Search};
use space::Space;

/// Counts the mappings or the occurrences of `pattern`; see the module for what they are. Each is
/// handed to `sink`, if there is one: for an occurrence, one of its mappings.
///
/// Edge labels are ignored where the graph has none and the pattern's are all the same: some
/// programs write a label 0 for every edge.
///
/// # Errors
/// [`Error::Usage`] if the pattern asks for labels that the graph doesn't have, or is empty;
/// [`Error::Unsupported`] if the number needs more than 128 bits.
pub(super) fn run(
    resident: &Resident,
    pattern: &Pattern,
    induced: Induced,
    mappings: bool,
    job: Job<'_>,
) -> Result<Outcome> {
    let graph = &resident.graph;
    let asked = comparable(graph, pattern)?;
    let most = match without_search(resident, pattern, &asked, induced, mappings, job)? {
        CountingMethod::Count(outcome) => return Ok(*outcome),
        CountingMethod::Search { most } => most,
    };
    info!(
        way = Method::Search.name(),
        listed = job.sink.is_some(),
        share = job.units.share().is_some(),
        limited = job.context.budget.is_some(),
        labels = asked.has_vertex_labels() || asked.has_edge_labels(),
        "no other way can do this, or none is cheaper"
    );
    let found = search(graph, pattern, &asked, induced, mappings, (most, job));
    let (sum, each, complete) = match found {
        Ok(Some(found)) => found,
        Ok(None) => {
            info!(way = Method::Motifs.name(), "the search takes longer than to count all motifs");
            let (count, complete) = motif::one(resident, &asked, induced, job)?;
            return counted((count, complete, Method::Motifs), pattern, mappings);
        }
        // Stopped before the search began: nothing found so far.
        Err(Error::Interrupted) => (U256::ZERO, 1, false),
        Err(error) => return Err(error),
    };
    let divisor = U256::from(each);
    let count = u128::try_from(sum / divisor).map_err(|_| too_many(mappings))?;
    // Only the sum over all units is a multiple.
    let rest = (sum % divisor).as_u128();
    let sums = || Sums { closing: Closing::Mappings { each }, values: vec![rest] };
    let sums = (each > 1 && job.units.share().is_some()).then(sums);
    let results = vec![Count { pattern: pattern.clone(), count }];
    let devices = vec![Method::Search.metrics()];
    Ok(Outcome { results, complete, sums, devices, ..Outcome::default() })
}

/// The answer of a way other than a search.
fn counted(
    (count, complete, method): (u128, bool, Method),
    pattern: &Pattern,
    mappings: bool,
) -> Result<Outcome> {
    let each = if mappings { automorphism_count(pattern) } else { 1 };
    let count = count.checked_mul(each).ok_or_else(|| too_many(true))?;
    let results = vec![Count { pattern: pattern.clone(), count }];
    let devices = vec![method.metrics()];
    Ok(Outcome { results, complete, devices, ..Outcome::default() })
}

/// Counting method of a pattern.
enum CountingMethod {
    /// Counted without a search.
    Count(Box<Outcome>),
    /// By a search; with `most`, only if it visits no more elements than that.
    Search { most: Option<f64> },
}

/// The answer where all occurrences of an unlabelled pattern are only counted and a search is not
/// the best way to their number.
fn without_search(
    resident: &Resident,
    given: &Pattern,
    pattern: &Pattern,
    induced: Induced,
    mappings: bool,
    job: Job<'_>,
) -> Result<CountingMethod> {
    let plain =
        !pattern.has_vertex_labels() && !pattern.has_edge_labels() && !pattern.has_absences();
    // Other ways make tables that grow with the edges.
    let limited = job.context.budget.is_some();
    if job.sink.is_some() || job.units.share().is_some() || !plain || limited {
        return Ok(CountingMethod::Search { most: None });
    }
    let estimates = unlabelled(&resident.graph, pattern);
    let search = SearchPlan::estimated(pattern, induced, &estimates).cost as f64;
    let found = match method::count(resident, pattern, induced, search, job)? {
        MethodChoice::Search { most } => return Ok(CountingMethod::Search { most }),
        MethodChoice::Count(count, complete, method) => (count, complete, method),
    };
    let way = found.2.name();
    info!(way, cost_of_search = search, "the pattern was counted without a search");
    counted(found, given, mappings).map(|outcome| CountingMethod::Count(Box::new(outcome)))
}

/// Estimates for an unlabelled pattern, from degrees alone.
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
    if pattern.vertices() == 0 {
        return Err(Error::usage("the pattern must have a vertex"));
    }
    labels::comparable(pattern, graph.has_vertex_labels(), graph.has_edge_labels())
}

/// Returns the number of mappings found, the mappings per occurrence, and whether the search is complete. Embeddings
/// go to the sink under the name of `given`, the requested pattern. `None` if the search would visit more than `most`
/// elements.
fn search(
    graph: &Graph,
    given: &Pattern,
    pattern: &Pattern,
    induced: Induced,
    mappings: bool,
    (most, job): (Option<f64>, Job<'_>),
) -> Result<Option<(U256, u128, bool)>> {
    let Job { sink, context, .. } = job;
    let induced = induced == Induced::Vertex;
    let mut space = Space::new(graph.view(), pattern, induced, &context.cancel)?;
    if (0..pattern.vertices()).any(|v| space.candidates(v) == 0) {
        return Ok(Some((U256::ZERO, 1, true)));
    }
    let estimates = estimates(pattern, &space);
    let apart = !mappings && ambiguous(pattern);
    // A sink that only counts needs no embeddings, unless one stands for several mappings that differ.
    let counter = sink.filter(|sink| sink.only_counts() && !apart);
    let emit = sink.is_some() && counter.is_none() || apart;
    let limit = sink.and_then(|sink| sink.limit());
    let planner = Planner { pattern, space: &space, estimates: &estimates, induced, limit };
    let plan = planner.best(mappings, emit);
    let representative = apart.then(|| {
        let order: Vec<usize> = plan.steps.iter().map(|step| step.vertex).collect();
        Representative::new(graph.view(), pattern, &order)
    });
    let limit = limit.map_or(U256::MAX, U256::from);
    let (factor, each) = match mappings {
        true => (plan.factor, 1),
        // The counted automorphisms are a divisor of all.
        false => (1, plan.automorphisms / plan.factor),
    };
    let enough = limit.saturating_mul(each.into()).saturating_add(U256::from(factor - 1));
    let enough = enough / U256::from(factor);
    let ends = Ends { most, counter: counter.map(|counter| (counter, enough)) };
    let job = Job { sink: sink.filter(|_| counter.is_none()), ..job };
    let found = execute(&plan, &mut space, given, representative.as_ref(), ends, job)?;
    let Some(found) = found else { return Ok(None) };
    let (count, complete) = (found.0.ok_or_else(|| too_many(mappings))?, found.1);
    if let Some(counter) = counter {
        let number = count.saturating_mul(factor.into()) / U256::from(each);
        counter.embeddings(u64::try_from(number.min(limit)).unwrap_or(u64::MAX));
        return Ok(Some((number.min(limit), 1, complete && number <= limit)));
    }
    Ok(Some(if emit {
        // Of the last ones that several threads meet at once, the sink takes up to its limit.
        (count.min(limit), 1, complete && count <= limit)
    } else {
        let count = count.checked_mul(U256::from(factor));
        (count.ok_or_else(|| too_many(true))?, each, complete)
    }))
}

fn too_many(mappings: bool) -> Error {
    let what = if mappings { "mappings" } else { "occurrences" };
    Error::Unsupported(format!("the number of {what} needs more than 128 bits"))
}

/// Executes a plan that was made for any graph over some units: the mappings that it counts, before
/// its factor, and whether the search went to its end. What a [`NextStep::Emit`] meets goes to `sink`.
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

/// Executes a plan; embeddings go to the sink under the name of `given`, the requested pattern.
pub(super) fn execute_named(
    graph: &Graph,
    plan: &SearchPlan,
    given: &Pattern,
    job: Job<'_>,
) -> Result<(u128, bool)> {
    let mut space = Space::of_plan(graph.view(), plan);
    let found = execute(plan, &mut space, given, None, Ends::default(), job)?;
    let (count, complete) = found.expect("only an allowance ends a search");
    let count = count.and_then(|count| u128::try_from(count).ok());
    Ok((count.ok_or_else(|| too_many(true))?, complete))
}

/// Sampling rate: one in this many of the pairs of first vertices, or of the first vertices where other parts of the pattern
/// hang on these, tells whether a search keeps to its allowance.
const SAMPLE: u32 = 64;

/// What ends a search before it has met everything.
#[derive(Clone, Copy, Default)]
struct Ends<'a> {
    /// Elements that it may visit; beyond them it has no result.
    most: Option<f64>,
    /// A sink that only counts, and the number of mappings at which the search ends.
    counter: Option<(&'a dyn Sink, U256)>,
}

/// The number of mappings that a plan counts, `None` if it needs more than 256 bits, and whether the search went to
/// its end; nothing if it would visit more than `most` elements.
fn execute(
    plan: &SearchPlan,
    space: &mut Space<'_>,
    given: &Pattern,
    representative: Option<&Representative<'_>>,
    ends: Ends<'_>,
    job: Job<'_>,
) -> Result<Option<(Option<U256>, bool)>> {
    let Ends { most, counter } = ends;
    let lists = space.build_lists(plan, &job.context.cancel)?;
    let space = &*space;
    let search = Execution { plan, space, lists: &lists, given, representative, counter, job };
    if most.is_some_and(|most| search.exceeds(most)) {
        return Ok(None);
    }
    let units = units(plan, space, &lists, job);
    let allowance = most.map(Allowance::new);
    let (count, complete) = search.run::<u128>(&units, allowance.as_ref(), 1);
    if !complete && allowance.is_some_and(|allowance| allowance.is_spent()) {
        return Ok(None);
    }
    if count.is_some() {
        return Ok(Some((count, complete)));
    }
    info!("the pattern is searched again with 256 bits: its mappings need more than 128");
    Ok(Some(search.run::<U256>(&units, None, 1)))
}

/// Parameters of a search, for any width of its numbers.
struct Execution<'a> {
    plan: &'a SearchPlan,
    space: &'a Space<'a>,
    lists: &'a [Option<usize>],
    given: &'a Pattern,
    representative: Option<&'a Representative<'a>>,
    counter: Option<(&'a dyn Sink, U256)>,
    job: Job<'a>,
}

impl Execution<'_> {
    /// The number of mappings, `None` if the type has too few bits, and whether all units were finished. One of `every`
    /// parts of the work is done.
    fn run<N: Number>(
        &self,
        units: &Groups,
        allowance: Option<&Allowance>,
        every: u32,
    ) -> (Option<U256>, bool) {
        let Execution { plan, space, lists, given, representative, counter, job } = *self;
        let Job { sink, context, .. } = job;
        let search = || {
            let search = Search::new(plan, space, lists, given, sink, representative, context);
            let search = search.allowed(allowance);
            match counter {
                Some((_, enough)) => search.until(N::saturating_from(enough)),
                None => search,
            }
        };
        let ran = job.run(units, search, |search: &mut Search<'_, N>, unit| {
            let next = match every {
                1 => search.unit(unit.start, unit.first..unit.limit),
                _ if !self.divides_first() => match unit.start % every == every / 2 {
                    true => search.unit(unit.start, unit.first..unit.limit),
                    false => ControlFlow::Continue(()),
                },
                _ => (unit.first..unit.limit)
                    .filter(|p| (unit.start.wrapping_add(*p)) % every == every / 2)
                    .try_for_each(|p| search.unit(unit.start, p..p + 1)),
            };
            if let Some((counter, _)) = counter
                && search.count > N::ZERO
            {
                counter.embeddings(0);
            }
            next
        });
        let elements = ran.states.iter().map(Search::visited).sum::<u64>();
        debug!(elements, estimated = plan.cost, "elements visited by the search");
        ran.total(|search| (search.count != N::MAX).then_some(search.count))
    }

    /// Whether all work below a first vertex is divided by the positions in its list.
    fn divides_first(&self) -> bool {
        matches!(self.plan.steps[0].then[..], [NextStep::Step(_)])
    }

    /// Whether a sample visits more elements than its share of `most`.
    fn exceeds(&self, most: f64) -> bool {
        let context = Context { progress: Arc::default(), ..self.job.context.clone() };
        let job = Job { context: &context, ..self.job };
        let units = units(self.plan, self.space, self.lists, job);
        let allowance = Allowance::new(most / f64::from(SAMPLE));
        Execution { job, ..*self }.run::<u128>(&units, Some(&allowance), SAMPLE);
        allowance.is_spent()
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

/// Work units: a candidate of the first vertex, and a range of the list that the last step after it goes through.
fn units(plan: &SearchPlan, space: &Space<'_>, numbers: &[Option<usize>], job: Job<'_>) -> Groups {
    let root = &plan.steps[0];
    let next = match root.then.last() {
        Some(NextStep::Step(step)) => Some(&plan.steps[*step]),
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
        Some(ids) => StartVertices::numbered(space.graph, ids),
        None => StartVertices::vertices(space.graph),
    };
    starts.units(job, length, weight)
}

//! Homomorphisms and edge isomorphisms: mappings that may take several vertices of a pattern to one of the graph.
//!
//! The candidates and the search are those of isomorphisms, along another plan ([`gramer_pattern::plan::repeats`]).
//! Homomorphisms of small unlabelled patterns are counted by tables where that is cheaper ([`crate::homomorphism`]).

use std::ops::Range;

use ethnum::U256;
use gramer_base::error::{Error, Result};
use gramer_engine::{Count, Outcome};
use gramer_graph::VertexId;
use gramer_pattern::plan::planner::Planner;
use gramer_pattern::plan::search::{Source, Step, bits};
use gramer_pattern::task::Mappings;
use gramer_pattern::{Pattern, VertexSet};
use tracing::info;

use super::method::{DECOMPOSED, Method, SEARCH_STEP};
use super::search::{Conclusion, Search};
use super::space::Space;
use super::{Ends, comparable, estimates, execute, too_many, unlabelled};
use crate::homomorphism::{self, CountFailure};
use crate::number::Number;
use crate::{Job, Resident};

/// Counts the mappings of a kind; each is handed to the sink, if there is one.
///
/// # Errors
/// As [`super::run`].
pub(crate) fn run(
    resident: &Resident,
    pattern: &Pattern,
    mappings: Mappings,
    job: Job<'_>,
) -> Result<Outcome> {
    let asked = comparable(&resident.graph, pattern)?;
    let (count, complete, method) = match by_tables(resident, &asked, mappings, job)? {
        Some((count, complete)) => (count, complete, Method::Homomorphisms),
        None => {
            let (count, complete) = match search(resident, pattern, &asked, mappings, job) {
                // Stopped before the search began: nothing found so far.
                Err(Error::Interrupted) => (U256::ZERO, false),
                found => found?,
            };
            let count = u128::try_from(count).map_err(|_| too_many(true))?;
            (count, complete, Method::Search)
        }
    };
    let results = vec![Count { pattern: pattern.clone(), count }];
    Ok(Outcome { results, complete, devices: vec![method.metrics()], ..Outcome::default() })
}

/// The number of homomorphisms of an unlabelled pattern, and whether the run is complete, where tables are expected to
/// be cheaper than a search.
fn by_tables(
    resident: &Resident,
    pattern: &Pattern,
    mappings: Mappings,
    job: Job<'_>,
) -> Result<Option<(u128, bool)>> {
    let plain =
        !pattern.has_vertex_labels() && !pattern.has_edge_labels() && !pattern.has_absences();
    // Tables grow with the edges.
    let limited = job.context.budget.is_some();
    let part = job.sink.is_some() || job.units.share().is_some();
    let small = (2..=DECOMPOSED).contains(&pattern.vertices());
    if mappings != Mappings::Homomorphism || !plain || limited || part || !small {
        return Ok(None);
    }
    let estimates = unlabelled(&resident.graph, pattern);
    let space = gramer_pattern::plan::candidates::ByLabel::new(pattern);
    let planner =
        Planner { pattern, space: &space, estimates: &estimates, induced: false, limit: None };
    let search = planner.mapping(mappings, false).cost as f64;
    match homomorphism::number_within(resident, pattern, search * SEARCH_STEP, job) {
        Ok(count) => Ok(count.map(|count| (count, true))),
        Err(CountFailure::Stopped) => Ok(Some((0, false))),
        Err(CountFailure::Overflow) => Err(too_many(true)),
        Err(CountFailure::Failed(error)) => Err(error),
    }
}

/// The number of mappings by a search, up to the limit of the sink, and whether it is complete.
fn search(
    resident: &Resident,
    given: &Pattern,
    pattern: &Pattern,
    mappings: Mappings,
    job: Job<'_>,
) -> Result<(U256, bool)> {
    let Job { sink, context, .. } = job;
    let mut space = Space::of_mappings(resident.graph.view(), pattern, mappings, &context.cancel)?;
    if (0..pattern.vertices()).any(|v| space.candidates(v) == 0) {
        return Ok((U256::ZERO, true));
    }
    let estimates = estimates(pattern, &space);
    let counter = sink.filter(|sink| sink.only_counts());
    let emit = sink.is_some() && counter.is_none();
    let limit = sink.and_then(|sink| sink.limit());
    let planner = Planner { pattern, space: &space, estimates: &estimates, induced: false, limit };
    let plan = planner.mapping(mappings, emit);
    info!(%mappings, listed = sink.is_some(), cost = plan.cost, "mappings are met by a search");
    let limit = limit.map_or(U256::MAX, U256::from);
    let ends = Ends { most: None, counter: counter.map(|counter| (counter, limit)) };
    let job = Job { sink: sink.filter(|_| counter.is_none()), ..job };
    let found = execute(&plan, &mut space, given, None, ends, job)?;
    let (count, complete) = found.expect("only an allowance ends a search");
    let count = count.ok_or_else(|| too_many(true))?;
    if let Some(counter) = counter {
        counter.embeddings(u64::try_from(count.min(limit)).unwrap_or(u64::MAX));
    }
    // Of the last ones that several threads meet at once, the sink takes up to its limit.
    Ok((count.min(limit), complete && count <= limit))
}

impl<'a, N: Number> Search<'a, N> {
    /// The vertices whose images a candidate must not have, so that its edges differ from the earlier ones.
    pub(super) fn forbidden(&self, source: &Source) -> VertexSet {
        let meet = source.edges.iter().filter(|e| self.images[e.near] == self.images[e.first]);
        meet.fold(0, |all, e| all | 1 << e.second)
    }

    /// Tries the candidates in a range that keep the edges of the pattern apart.
    #[inline(never)]
    pub(super) fn try_apart(
        &mut self,
        step: &'a Step,
        source: &'a Source,
        range: Range<usize>,
    ) -> Conclusion<N> {
        let forbidden = self.forbidden(source);
        self.try_each(step, source, range, |search, image: VertexId| {
            bits(forbidden).any(|u| search.images[u] == image)
        })
    }
}

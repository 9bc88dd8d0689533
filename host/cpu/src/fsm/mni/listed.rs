//! Domains from the occurrences that a device lists.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::{VertexId, View};

use super::classes::Classes;
use super::confirm::{is_exact, make_consistent};
use super::domain::Domain;
use super::level::Frequent;
use super::{CandidateResult, PeerLevel, SupportedPattern, smallest};
use crate::fsm::code::Small;
use crate::fsm::images::{ListedCandidate, Lister};
use crate::fsm::labels::Labels;
use gramer_engine::frequent::exchange::Ranges;

/// A graph whose occurrences are listed.
pub(super) struct ListedGraph<'a> {
    graph: View<'a>,
    labels: &'a Labels,
    rows: &'a Classes,
    /// By vertex of the graph: its number among the classes.
    numbers: Vec<u32>,
    wanted: usize,
}

impl<'a> ListedGraph<'a> {
    pub(super) fn new(
        graph: View<'a>,
        labels: &'a Labels,
        rows: &'a Classes,
        wanted: usize,
    ) -> Self {
        let mut next = rows.start.clone();
        let number = |v: VertexId| {
            let next = &mut next[labels.class(graph, v) as usize];
            *next += 1;
            *next - 1
        };
        let numbers = (0..graph.vertices() as VertexId).map(number).collect();
        ListedGraph { graph, labels, rows, numbers, wanted }
    }

    /// The frequent ones of the candidates that are this process's; `None` if the run was stopped.
    ///
    /// # Errors
    /// Those of `list` and of other processes.
    pub(super) fn level(
        &self,
        candidates: &[Small],
        here: Option<PeerLevel<'_>>,
        inherit: impl Fn(&Small) -> Option<Vec<Domain>>,
        list: &mut Lister<'_>,
        context: &Context,
    ) -> Result<Option<Vec<CandidateResult<SupportedPattern>>>> {
        context.progress.begin(candidates.len() as u64);
        let (together, level) = here.map_or((None, 0), |(with, level)| (Some(with), level));
        let mut ranges = Ranges::new(together, level, candidates.len());
        let mut found = vec![];
        while let Some(range) = ranges.take()? {
            for at in range {
                // A range of others has no more than there are.
                let Some(code) = candidates.get(at) else { break };
                if context.cancel.is_cancelled() {
                    return Ok(None);
                }
                if let Some(mut domains) = inherit(code) {
                    let Some(support) = self.examine(code, &mut domains, list)? else {
                        return Ok(None);
                    };
                    if support >= self.wanted {
                        let domains = domains.into_iter().map(Arc::new).collect();
                        found.push((at, (Frequent { code: *code, domains }, support as u128)));
                    }
                }
                context.progress.add(1);
            }
        }
        Ok(Some(found))
    }

    /// A candidate's support, or some number below the one that is wanted if it is; `None` if the run was stopped.
    /// The domains, upper bounds before and after, become smaller.
    fn examine(
        &self,
        code: &Small,
        domains: &mut [Domain],
        list: &mut Lister<'_>,
    ) -> Result<Option<usize>> {
        if !make_consistent(self.rows, code, domains, self.wanted) {
            return Ok(Some(0));
        }
        let most = smallest(domains.iter());
        if is_exact(code) {
            return Ok(Some(most));
        }
        let n = code.n();
        let orbits = code.canonical().orbits.map(usize::from);
        let of = |i: usize| self.rows.of(code.class(i));
        let confirmed: Vec<Domain> = (0..n).map(|i| Domain::empty(of(i))).collect();
        let confirmed = Mutex::new(confirmed);
        let enough = AtomicBool::new(false);
        let found = |vertices: &[VertexId]| {
            let mut confirmed = confirmed.lock().unwrap_or_else(PoisonError::into_inner);
            for (&orbit, &v) in orbits.iter().zip(vertices) {
                confirmed[orbit].insert(self.numbers[v as usize]);
            }
            // More images wouldn't change the smallest number.
            let all = orbits[..n].iter().all(|&orbit| confirmed[orbit].size >= most);
            enough.fetch_or(all, Ordering::Relaxed);
            !all
        };
        let bounds = &*domains;
        let may = |i: usize, v: VertexId| {
            let number = self.numbers[v as usize];
            of(i).contains(&number) && bounds[i].has(number)
        };
        let images: Vec<usize> = domains.iter().map(|domain| domain.size).collect();
        let pattern = code.to_pattern(self.labels, self.graph);
        let whole = list(&ListedCandidate {
            pattern: &pattern,
            images: &images,
            may: &may,
            found: &found,
        })?;
        if enough.into_inner() {
            return Ok(Some(most));
        }
        if !whole {
            return Ok(None);
        }
        let confirmed = confirmed.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (domain, &orbit) in domains.iter_mut().zip(&orbits) {
            *domain = confirmed[orbit].clone();
        }
        Ok(Some(smallest(domains.iter())))
    }
}

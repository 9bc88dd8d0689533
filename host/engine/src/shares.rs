//! Outcomes of shares of a task, and how they become that of the whole.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use gramer_graph::Graph;
use gramer_graph::error::{Error, Result};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Measure, Task, parts_reported};

use crate::cpu::motif_counts;
use crate::{Count, Open, Outcome, Share, Sink, Units, formulas};

/// Whether a task can be done on these units with this sink; for every engine to ask before it runs.
///
/// # Errors
/// [`Error::Usage`] for units that the graph doesn't have; [`Error::Unsupported`] for a share of
/// frequent subgraph mining by minimum-image support or of the largest clique, and for a list of a share's frequent patterns.
pub fn check(graph: &Graph, task: &Task, units: Units<'_>, sink: Option<&dyn Sink>) -> Result<()> {
    units.check(graph.view())?;
    match units {
        Units::All => Ok(()),
        Units::Share(_) => divisible(task, sink.is_some()),
    }
}

/// Whether a task, with or without a list, is the sum of its shares.
///
/// # Errors
/// [`Error::Unsupported`] with the reason, as [`check`].
pub fn divisible(task: &Task, listed: bool) -> Result<()> {
    match task {
        Task::Fsm { measure: Measure::Mni, .. } => Err(Error::Unsupported(
            "minimum-image support counts the different vertices of the whole graph, so it is not \
             the sum of shares: mine all units, or take the measure embeddings"
                .into(),
        )),
        Task::MaximumClique => Err(Error::Unsupported(
            "the largest clique of the graph is not the sum of those of shares: mine all units"
                .into(),
        )),
        Task::Fsm { .. } if listed => Err(Error::Unsupported(
            "which patterns are frequent is known when all shares are merged, so a share can't list \
             their embeddings: list those of all units"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// The order of frequent patterns: smaller ones first (by vertices, then edges), more frequent ones
/// first among those of one size, then by canonical form.
pub fn sort(results: &mut [Count]) {
    results.sort_by_cached_key(|r| {
        (r.pattern.vertices(), r.pattern.edge_count(), Reverse(r.count), r.pattern.clone())
    });
}

impl Outcome {
    /// Joins the outcomes of disjoint shares of one task, all of the same engine with the same
    /// settings on the same graph in the same order. Counts add up, and so do what devices measured;
    /// embeddings that were listed are those of all lists together. Outcomes of merges can be merged.
    ///
    /// The result is that of the whole graph once the shares are all of its units
    /// ([`Outcome::share`] is `None` then); before, its counts are those of the share that they are
    /// together. Of [`Task::Fsm`] by embeddings a share has all its patterns; which of them are
    /// frequent is decided here when all are there.
    ///
    /// ```
    /// use gramer_engine::{Engine, Outcome, cpu::Cpu, work::{Share, Units}};
    /// use gramer_graph::{Builder, Context};
    /// use gramer_pattern::task::{Induced, Task};
    ///
    /// let mut builder = Builder::new();
    /// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)] {
    ///     builder.edge(u, v);
    /// }
    /// let graph = builder.build();
    /// let (context, task) = (Context::default(), Task::Motif { k: 4, induced: Induced::Vertex });
    /// let prepared = Cpu.prepare(&graph, &context)?;
    /// let shares = Share::split(graph.view(), 3);
    /// let parts: Vec<Outcome> = shares
    ///     .iter()
    ///     .map(|share| prepared.run(&task, Units::Share(share), None, &context))
    ///     .collect::<Result<_, _>>()?;
    /// let merged = Outcome::merge(&task, &graph, parts)?;
    /// assert_eq!(merged, prepared.run(&task, Units::All, None, &context)?);
    /// # Ok::<(), gramer_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] for no outcome, for shares that overlap, for one of the whole graph beside
    /// others, and for outcomes of different engines or tasks where that shows.
    pub fn merge(
        task: &Task,
        graph: &Graph,
        outcomes: impl IntoIterator<Item = Outcome>,
    ) -> Result<Outcome> {
        let mut outcomes = outcomes.into_iter();
        let Some(mut merged) = outcomes.next() else {
            return Err(Error::usage("there is no outcome to merge"));
        };
        for outcome in outcomes {
            merged.add(outcome)?;
        }
        merged.close(task, graph)?;
        Ok(merged)
    }

    /// Adds the outcome of another share.
    fn add(&mut self, other: Outcome) -> Result<()> {
        // A share without units adds nothing, even to the whole.
        let empty = |outcome: &Outcome| outcome.share.as_ref().is_some_and(Share::is_empty);
        if empty(&other) && other.complete {
            return Ok(());
        }
        if empty(self) && self.complete {
            *self = other;
            return Ok(());
        }
        let (Some(mine), Some(theirs)) = (self.share.take(), other.share) else {
            return Err(Error::usage("an outcome of the whole graph is merged with no other"));
        };
        self.share = Some(mine.union(theirs)?);
        self.complete &= other.complete;
        match (&mut self.open, other.open) {
            // What can't be closed says nothing.
            (open, _) if !self.complete => *open = None,
            (None, None) => {}
            (Some(Open::Motifs { sums }), Some(Open::Motifs { sums: others }))
                if sums.len() == others.len() =>
            {
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum = sum.checked_add(other).ok_or_else(too_large)?;
                }
            }
            (Some(Open::Formulas { sums }), Some(Open::Formulas { sums: others })) => {
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum = sum.checked_add(other).ok_or_else(too_large)?;
                }
            }
            (Some(Open::Mappings { sum, each }), Some(Open::Mappings { sum: s, each: e }))
                if *each == e =>
            {
                *sum = sum.checked_add(s).ok_or_else(too_large)?;
            }
            _ => return Err(unlike()),
        }
        let mut places: HashMap<Pattern, usize> =
            self.results.iter().enumerate().map(|(i, r)| (r.pattern.clone(), i)).collect();
        for Count { pattern, count } in other.results {
            match places.get(&pattern) {
                Some(&at) => {
                    let sum = &mut self.results[at].count;
                    *sum = sum.checked_add(count).ok_or_else(too_large)?;
                }
                None => {
                    places.insert(pattern.clone(), self.results.len());
                    self.results.push(Count { pattern, count });
                }
            }
        }
        let mut larger: BTreeMap<usize, u128> = self.larger_cliques.drain(..).collect();
        for (size, count) in other.larger_cliques {
            let sum = larger.entry(size).or_default();
            *sum = sum.checked_add(count).ok_or_else(too_large)?;
        }
        self.larger_cliques = larger.into_iter().collect();
        self.warnings.extend(other.warnings);
        for device in other.devices {
            if !self.devices.iter_mut().any(|d| d.join(&device)) {
                self.devices.push(device);
            }
        }
        Ok(())
    }

    /// Makes it the outcome of the whole graph if its share is that.
    fn close(&mut self, task: &Task, graph: &Graph) -> Result<()> {
        match task {
            // A share has no sizes above its largest, so others come later.
            Task::CliqueSizes { .. } | Task::MaximalCliques => {
                self.results.sort_by_key(|r| r.pattern.vertices())
            }
            Task::Fsm { .. } => sort(&mut self.results),
            // Only those that occur are there.
            Task::Motif { k: 7.., .. } => {
                self.results.sort_by_key(|r| (r.pattern.edge_count(), r.pattern.bits()))
            }
            _ => {}
        }
        match (&self.open, &mut self.results[..]) {
            (Some(Open::Mappings { sum, each }), [only]) => only.count = sum / u128::from(*each),
            (Some(Open::Mappings { .. }), _) => return Err(unlike()),
            _ => {}
        }
        if !self.share.as_ref().is_some_and(|share| share.is_all(graph.view())) {
            return Ok(());
        }
        self.share = None;
        match (task, self.open.take()) {
            (Task::Motif { k, induced }, Some(Open::Motifs { sums })) => {
                self.results = motif_counts(*k, *induced, &sums).ok_or_else(unlike)?;
            }
            (Task::Motif { k, induced }, Some(Open::Formulas { sums })) => {
                self.results = formulas::motifs(*k, *induced, &sums).ok_or_else(unlike)?;
            }
            (_, Some(Open::Motifs { .. } | Open::Formulas { .. })) => return Err(unlike()),
            (Task::Fsm { support, measure: Measure::Embeddings, .. }, _) => {
                let mut reported = HashSet::new();
                // Smaller ones come first.
                self.results.retain(|Count { pattern, count }| {
                    let frequent =
                        *count >= u128::from(*support) && parts_reported(pattern, &reported);
                    if frequent {
                        reported.insert(pattern.clone());
                    }
                    frequent
                });
            }
            _ => {}
        }
        Ok(())
    }
}

fn too_large() -> Error {
    Error::Unsupported("the number needs more than 128 bits".into())
}

fn unlike() -> Error {
    Error::usage("the outcomes are of different tasks or engines, and don't add up")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{DeviceMetrics, Value};
    use crate::work::WorkUnit;

    #[test]
    fn outcomes_come_back_from_text_with_all_their_digits() {
        let results = vec![Count { pattern: Pattern::clique(3), count: u128::MAX }];
        let mut outcome = Outcome::new(results, true);
        outcome.larger_cliques = vec![(17, u128::from(u64::MAX) + 1)];
        outcome.share = Some(
            Share::new(std::iter::once(0..4), [WorkUnit { start: 5, first: 1, limit: 2 }]).unwrap(),
        );
        let mut metrics = DeviceMetrics::of("card");
        metrics.headline("run.seconds", "s", Value::Seconds(0.25));
        metrics.detail("cache.hits", "", Value::Counts(vec![u64::MAX, 0]));
        outcome.devices.push(metrics);
        for open in [
            None,
            Some(Open::Motifs { sums: vec![u128::MAX - 1] }),
            Some(Open::Formulas { sums: [0, 1, 2, 3, 4, 5, 6, u128::MAX] }),
            Some(Open::Mappings { sum: u128::MAX, each: 12 }),
        ] {
            outcome.open = open;
            let text = serde_json::to_string(&outcome).unwrap();
            assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome, "{text}");
        }
    }
}

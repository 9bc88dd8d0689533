//! Outcomes of shares of a task, and their merge into the outcome of the whole.

use std::collections::{BTreeMap, HashMap};

use gramer_base::error::{Error, Result};
use gramer_graph::{Graph, View};
use gramer_pattern::Pattern;
use gramer_pattern::closing::{results, too_large, unlike};
use gramer_pattern::task::Task;

use crate::work::WorkUnit;
use crate::{Count, Outcome, Row, Share, Subject, Units};

impl Units<'_> {
    /// Returns these units without those of a share.
    ///
    /// ```
    /// use gramer_engine::work::{Share, Units, WorkUnit};
    ///
    /// let mut builder = gramer_graph::Builder::new();
    /// (1..4).for_each(|leaf| builder.edge(0, leaf));
    /// let graph = builder.build();
    /// let half = Share::new([1..3], [WorkUnit { start: 0, first: 0, limit: 2 }])?;
    /// let rest = Units::All.without(graph.view(), &half)?;
    /// assert_eq!(rest, Share::new([3..4], [WorkUnit { start: 0, first: 2, limit: 3 }])?);
    /// # Ok::<(), gramer_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] for units that the graph doesn't have.
    pub fn without(self, view: View<'_>, other: &Share) -> Result<Share> {
        self.check(view)?;
        Units::Share(other).check(view)?;
        let (mut whole, mut parts): (Vec<std::ops::Range<_>>, _) = (vec![], vec![]);
        let mut theirs = Units::Share(other).iter(view).peekable();
        // Those of one vertex.
        let mut holes: Vec<WorkUnit> = vec![];
        for unit in self.iter(view) {
            if holes.first().is_none_or(|hole| hole.start != unit.start) {
                holes.clear();
            }
            while let Some(hole) = theirs.next_if(|hole| hole.start <= unit.start) {
                if hole.start == unit.start {
                    holes.push(hole);
                }
            }
            let all = WorkUnit::whole(view, unit.start);
            if holes.is_empty() && unit == all {
                match whole.last_mut().filter(|last| last.end == unit.start) {
                    Some(last) => last.end += 1,
                    None => whole.push(unit.start..unit.start + 1),
                }
                continue;
            }
            let mut at = unit.first;
            let end = WorkUnit { first: unit.limit, ..unit };
            for hole in holes.iter().chain([&end]) {
                let limit = hole.first.min(unit.limit);
                if at < limit {
                    parts.push(WorkUnit { start: unit.start, first: at, limit });
                }
                at = at.max(hole.limit);
            }
        }
        Share::new(whole, parts)
    }
}

impl Outcome {
    /// Joins the outcomes of disjoint shares of one task, all of the same engine with the same
    /// settings on the same graph in the same order. Counts add up, and so do what devices measured;
    /// listed embeddings are those of all lists together. Merged outcomes can be merged further.
    ///
    /// The result is that of the whole graph once the shares are all of its units
    /// ([`Outcome::share`] is `None` then); before, its counts are those of the share that they are
    /// together. Of [`Task::Fsm`] by embeddings a share has all its patterns; which of them are
    /// frequent is decided here when all are there.
    ///
    /// ```
    /// use gramer_cpu::Cpu;
    /// use gramer_engine::{Engine, Outcome, work::{Share, Units}};
    /// use gramer_base::Context;
    /// use gramer_graph::Builder;
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
    /// # Ok::<(), gramer_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] for no outcome, for overlapping shares, for one of the whole graph together with others, and
    /// for outcomes of visibly different engines or tasks.
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

    /// The part of a stopped run that is finished: an outcome that is complete, of the units that were
    /// done to their end. `None` where the engine doesn't know which these are.
    ///
    /// # Errors
    /// [`Error::Usage`] for units that the graph doesn't have.
    pub fn finished(mut self, view: View<'_>) -> Result<Option<Outcome>> {
        if self.complete {
            return Ok(Some(self));
        }
        let Some(rest) = self.rest.take() else { return Ok(None) };
        let units = self.share.as_ref().map_or(Units::All, Units::Share);
        self.share = Some(units.without(view, &rest)?);
        self.complete = true;
        Ok(Some(self))
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
        let left = |complete, rest| if complete { Some(Share::default()) } else { rest };
        let rests = (left(self.complete, self.rest.take()), left(other.complete, other.rest));
        self.complete &= other.complete;
        self.rest = match rests {
            (Some(mine), Some(theirs)) if !self.complete => Some(mine.union(theirs)?),
            _ => None,
        };
        match (&mut self.sums, other.sums) {
            // What can't be closed says nothing.
            (sums, _) if !self.complete => *sums = None,
            (None, None) => {}
            (Some(sums), Some(others)) => sums.add(&others)?,
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
        let mut rows: BTreeMap<Subject, u128> =
            self.rows.drain(..).map(|row| (row.of, row.count)).collect();
        for Row { of, count } in other.rows {
            let sum = rows.entry(of).or_default();
            *sum = sum.checked_add(count).ok_or_else(too_large)?;
        }
        self.rows = rows.into_iter().map(|(of, count)| Row { of, count }).collect();
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
        results::arrange(task, &mut self.results);
        let whole = self.share.as_ref().is_some_and(|share| share.is_all(graph.view()));
        if let Some(sums) = &mut self.sums {
            sums.close(task, whole, &mut self.results)?;
        }
        if whole {
            (self.share, self.sums) = (None, None);
            results::apply_threshold(task, &mut self.results);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{DeviceMetrics, Value};
    use crate::work::WorkUnit;
    use gramer_pattern::closing::{Closing, Sums};

    #[test]
    fn what_is_left_and_what_is_taken_are_all() {
        let mut builder = gramer_graph::Builder::new();
        (1..=40).for_each(|leaf| builder.edge(0, leaf));
        (1..10).for_each(|leaf| builder.edge(leaf, leaf + 1));
        // Vertices without edges have a unit, too.
        builder.vertex_range(41..50);
        let graph = builder.build();
        let view = graph.view();
        let shares = Share::split(view, 9);
        assert!(shares.len() > 5);
        for chosen in 0..1u32 << shares.len() {
            let taken = (0..shares.len()).filter(|i| chosen >> i & 1 == 1);
            let taken =
                taken.fold(Share::default(), |sum, i| sum.union(shares[i].clone()).unwrap());
            let left = Units::All.without(view, &taken).unwrap();
            // They don't overlap, or there would be no union.
            assert!(left.clone().union(taken.clone()).unwrap().is_all(view));
            assert_eq!(Units::Share(&left).without(view, &taken).unwrap(), left);
            assert!(Units::Share(&left).without(view, &left).unwrap().is_empty());
            assert_eq!(Units::All.without(view, &left).unwrap().is_all(view), left.is_empty());
        }
    }

    #[test]
    fn of_a_stopped_run_the_finished_part_is_kept() {
        let graph = gramer_graph::Builder::new();
        let graph = {
            let mut builder = graph;
            (1..=8).for_each(|leaf| builder.edge(0, leaf));
            builder.build()
        };
        let view = graph.view();
        let share = |from, to| Share::new(std::iter::once(from..to), []).unwrap();
        let of = |share: Share, complete, rest| {
            let results = vec![Count { pattern: Pattern::clique(3), count: 1 }];
            Outcome { share: Some(share), rest, ..Outcome::new(results, complete) }
        };
        let task = Task::Clique { k: 3 };
        let merge = |a: &Outcome, b: &Outcome| {
            Outcome::merge(&task, &graph, [a.clone(), b.clone()]).unwrap()
        };
        let done = of(share(0, 2), true, None);
        let stopped = of(share(2, 6), false, Some(share(4, 5)));
        let unknown = of(share(6, 8), false, None);
        let both = merge(&done, &stopped).finished(view).unwrap().unwrap();
        let ranges = Share::new([0..4, 5..6], []).unwrap();
        assert_eq!((both.share, both.complete, both.rest), (Some(ranges), true, None));
        let again = of(share(6, 9), false, Some(share(8, 9)));
        let both = merge(&stopped, &again);
        assert_eq!(both.rest, Some(Share::new([4..5, 8..9], []).unwrap()));
        assert_eq!(merge(&stopped, &unknown).finished(view).unwrap(), None);
        assert_eq!(merge(&unknown, &done).finished(view).unwrap(), None);
    }

    #[test]
    fn outcomes_come_back_from_text_with_all_their_digits() {
        let results = vec![Count { pattern: Pattern::clique(3), count: u128::MAX }];
        let mut outcome = Outcome::new(results, true);
        outcome.push(Subject::Clique(17), u128::from(u64::MAX) + 1);
        outcome.share = Some(
            Share::new(std::iter::once(0..4), [WorkUnit { start: 5, first: 1, limit: 2 }]).unwrap(),
        );
        let mut metrics = DeviceMetrics::of("card");
        metrics.headline("run.seconds", "s", Value::Seconds(0.25));
        metrics.detail("cache.hits", "", Value::Counts(vec![u64::MAX, 0]));
        outcome.devices.push(metrics);
        let sums = |closing, value| Some(Sums { closing, values: vec![0, value] });
        for sums in [
            None,
            sums(Closing::MotifEquations { k: 5 }, u128::MAX - 1),
            sums(Closing::MotifForms { k: 4 }, u128::MAX),
            sums(Closing::Mappings { each: u128::MAX }, 12),
        ] {
            outcome.sums = sums;
            let text = serde_json::to_string(&outcome).unwrap();
            assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome, "{text}");
        }
    }
}

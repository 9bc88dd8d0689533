//! Tasks that several devices of one kind do together, which have the same lists of tasks.

use std::sync::PoisonError;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::{Count, Outcome, Peers};
use gramer_pattern::task::{Induced, Task};
use gramer_pattern::{Dictionary, Pattern};

use super::{ResidentGraph, made, unfinished};
use crate::cycles::Cycles;
use crate::formula;
use crate::local::{self, Depth};
use crate::resident::SUMS;

/// Returns `None` if the other devices were cancelled.
fn unless_stopped<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(Error::Interrupted) => Ok(None),
        other => other.map(Some),
    }
}

/// Numbers as [`Peers::join`] has them.
fn numbers_of(bytes: &[u8]) -> Vec<u128> {
    bytes.as_chunks().0.iter().map(|&bytes| u128::from_le_bytes(bytes)).collect()
}

impl ResidentGraph {
    /// Cliques of four vertices and more that other devices of this kind count as well: all get the count, or their own
    /// if they stop. Also the device's part of the work.
    pub(in crate::engine) fn cliques_together(
        &self,
        k: usize,
        together: &dyn Peers,
        context: &Context,
    ) -> Result<(Outcome, f64)> {
        let roots = self.roots(k)?;
        let part = &self.parts[Depth::of(k) as usize];
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        self.resident.begin()?;
        let kept = (self.number, &mut *part);
        let done = local::count_together(&self.resident, roots, k, kept, together, context);
        let done = unless_stopped(done)?.unwrap_or(false);
        let mut count = if done || k < 6 { self.resident.read()?[0] } else { 0 };
        let done = done && !self.resident.was_stopped();
        let mut complete = false;
        if done {
            let own = count.to_le_bytes().to_vec();
            if let Some(all) = unless_stopped(together.join(usize::MAX, own))? {
                count = numbers_of(&all.concat()).iter().sum();
                complete = true;
            }
        }
        let own = part.as_ref().map_or(0.0, |part| part.member().part());
        let counts = vec![Count { pattern: Pattern::clique(k), count }];
        Ok((Outcome::new(counts, complete), own))
    }

    /// Runs tasks that one device finishes earlier than several in shares: triangles, and motifs of three and five
    /// vertices. All devices get the counts and their part of the work.
    pub(in crate::engine) fn alone(
        &self,
        task: &Task,
        together: &dyn Peers,
        context: &Context,
    ) -> Result<(Outcome, f64)> {
        let patterns = match task {
            Task::Motif { k, .. } => Dictionary::of(*k).patterns().to_vec(),
            _ => vec![Pattern::clique(3)],
        };
        let of = |counts: &[u128], complete| {
            let results = patterns.iter().cloned().zip(counts);
            let results = results.map(|(pattern, &count)| Count { pattern, count });
            Outcome::new(results.collect(), complete)
        };
        let none = of(&vec![0; patterns.len()], false);
        let Some(member) = unless_stopped(local::member(self.number, 0, together))? else {
            return Ok((none, 0.0));
        };
        let mut own = vec![];
        if member.own == 0 {
            let outcome = match task {
                Task::Motif { k, induced } => self.motifs(*k, *induced, None, context)?,
                _ => self.cliques(3, None, context)?,
            };
            if !outcome.complete {
                return Ok((outcome, 1.0));
            }
            own = outcome.results.iter().flat_map(|r| r.count.to_le_bytes()).collect();
        }
        let found = match unless_stopped(together.join(usize::MAX, own))? {
            Some(all) => of(&numbers_of(&all.concat()), true),
            None => none,
        };
        Ok((found, if member.own == 0 { 1.0 } else { 0.0 }))
    }

    /// Motifs of four vertices that other devices of this kind count as well: all get the counts. Also the device's part of the work.
    pub(in crate::engine) fn motifs_of_four_together(
        &self,
        induced: Induced,
        together: &dyn Peers,
        context: &Context,
    ) -> Result<(Outcome, f64)> {
        let (resident, roots) = (&self.resident, self.roots(4)?);
        let cycles = made(&self.cycles, || Cycles::new(resident))?;
        let edges = self.triangles_of_arcs()?;
        let member = match unless_stopped(roots.member(resident, self.number, together))? {
            Some(member) => member,
            None => return Ok((unfinished(4), 0.0)),
        };
        let mut kept = self.own_cycles.lock().unwrap_or_else(PoisonError::into_inner);
        let own = match &*kept {
            Some((of, own)) if *of == member => own,
            _ => &kept.insert((member, cycles.of_member(resident, member, roots.work())?)).1,
        };
        let sums = formula::four_of_member(resident, roots, own, edges, member, context)?;
        let Some(sums) = sums else { return Ok((unfinished(4), member.part())) };
        let said = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        let Some(all) = unless_stopped(together.join(usize::MAX, said))? else {
            return Ok((unfinished(4), member.part()));
        };
        let mut sums = [0u128; SUMS];
        for own in &all {
            for (sum, own) in sums.iter_mut().zip(numbers_of(own)) {
                *sum += own;
            }
        }
        Ok((self.motifs_of(4, induced, &sums)?, member.part()))
    }
}

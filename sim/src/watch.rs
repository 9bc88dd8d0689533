//! Liveness: ends a run without progress, with the state of every part.

use anyhow::{Result, bail};
use gramer_machine::{Accelerator, Core, layout};

use crate::ddr::Ddr;
use crate::model::Model;

/// Counters of a PU that only grow with progress of an embedding. Cycles and accesses don't count: a PU that waits
/// or repeats requests forever makes no progress.
const STEPS: [&str; 5] =
    ["candidates", "embeddings", "extensions", "entries_scanned", "slots_freed"];
/// Counters of progress of the set core: units, and the lines, steps, sets and entries read for them.
const SET_STEPS: [&str; 7] =
    ["units", "members", "lines_answered", "steps", "level_sets", "level_rows", "map_entries"];
/// Cycles between two checks.
const EVERY: u64 = 1024;
/// Maximum of consecutive accesses of a PU before one of its counters grows: a vertex record, the binary search of its
/// list, and a few repeated look-ups.
const ACCESSES: u64 = 64;

/// Watches a core for progress: a beat of a stream, a register write, or an extension, candidate, scanned entry or
/// finished tree of a PU. The limit follows from memory and machine. Inactive for machines without performance
/// counters, where progress is not visible.
#[derive(Debug)]
pub struct Watch {
    limit: u64,
    /// First counter and number of counters.
    steps: Vec<(u32, u32)>,
    /// Transfers and steps at the last check with progress.
    seen: Option<(u64, u64)>,
    moved: u64, // its cycle
    next: u64,
}

impl Watch {
    /// Creates a watch of one core of the machine; `held` if its streams have random back-pressure.
    ///
    /// # Panics
    /// If the machine's PUs have counters, but lack one that every such machine has.
    pub fn new(a: &Accelerator, ddr: &Ddr, held: bool) -> Self {
        let wanted = if a.core == Core::Set { &SET_STEPS[..] } else { &STEPS };
        let steps: Vec<(u32, u32)> = layout::positions(&a.counters.pu, a.machine.depth)
            .into_iter()
            .filter(|(name, _, _)| wanted.contains(name))
            .map(|(_, first, count)| (first, count))
            .collect();
        let steps = if a.machine.performance_counters { steps } else { vec![] };
        assert!(
            steps.len() == wanted.len() || !a.machine.performance_counters,
            "every machine's PUs that count, count {wanted:?}"
        );
        let (tokens, whole) = match &a.set {
            // The image is loaded, and the map is cleared.
            Some(set) => (set.answers, set.partition_lines * a.machine.partitions + set.map_words),
            None => {
                let (vertex_sets, edge_sets) = a.cache_sets();
                // What takes its time before and after the search: sets that are forgotten, counters
                // that are cleared and added up.
                let whole = vertex_sets.max(edge_sets) + a.applications.pattern_counters;
                (a.machine.slots, whole)
            }
        };
        let tokens = u64::from(a.machine.processing_units * tokens);
        let whole = u64::from(whole);
        let streams = 4096 * if held { 4 } else { 1 };
        let limit = ACCESSES * ddr.longest_access(tokens) + whole + streams;
        Watch { limit, steps, seen: None, moved: 0, next: 0 }
    }

    /// Extends the limit by this many cycles.
    pub fn allow(&mut self, cycles: u64) {
        self.limit += cycles;
    }

    /// Maximum of cycles without progress.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Checks the core in the cycle `now`; `handed` is the number of transfers at its ports,
    /// without polls.
    ///
    /// # Errors
    /// If there was no progress for [`Watch::limit`] cycles; the message has the state of every part.
    pub fn look(&mut self, now: u64, handed: u64, model: &Model, ddr: &Ddr) -> Result<()> {
        if now < self.next || self.steps.is_empty() {
            return Ok(());
        }
        self.next = now + EVERY;
        let mut steps = 0u64;
        for &(first, count) in &self.steps {
            // Before the run the counters hold anything.
            steps = steps.wrapping_add(model.sum(".i_pu", "counters_q", first, count)?);
        }
        if self.seen != Some((handed, steps)) {
            (self.seen, self.moved) = (Some((handed, steps)), now);
            return Ok(());
        }
        if now - self.moved > self.limit {
            bail!(
                "no progress from cycle {} to {now}, though the memory and the machine need at most \
                 {} cycles for any step; {handed} transfers at the ports, {steps} steps of the PUs. \
                 Parts that are not empty or idle:\n{}{}",
                self.moved,
                self.limit,
                model.state(),
                ddr.state().trim_end()
            );
        }
        Ok(())
    }
}

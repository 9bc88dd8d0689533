//! Activity of each PU over time: its counters, sampled every N cycles of a run. Without a timeline nothing is
//! sampled.

use anyhow::Result;
use gramer_machine::{Accelerator, Core, layout};
use serde_json::json;

use crate::model::Model;

/// Initial cycles of a window.
const EVERY: u64 = 256;
/// Maximum of windows. Beyond it, pairs are merged and further windows are twice as long, so a run of any length takes
/// constant space and little time.
const MOST: usize = 256;
/// States of a PU and the counters of their cycles. A core that doesn't count busy cycles is busy in all cycles not
/// counted as idle, including the summation at the end.
const STATES: [(&str, &str); 4] = [
    ("busy", "port_busy"),
    ("waiting_for_memory", "idle_memory"),
    ("waiting_inside", "idle_inside"),
    ("no_work", "idle_no_work"),
];

/// Events of the on-chip memories that are counted in each window, over all partitions. A core without such a counter has
/// no such events.
const EVENTS: [&str; 6] = [
    "vertex_high_hits",
    "vertex_low_hits",
    "vertex_misses",
    "edge_high_hits",
    "edge_low_hits",
    "edge_misses",
];
/// Maximum of events of a kind per cycle: no machine has more partitions.
const EVENTS_A_CYCLE: u64 = 64;

/// Activity of the PUs of a core in each window of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// States of a PU: at most one per cycle, and none before the search starts. While the core sends its results,
    /// the PU has no work.
    pub states: Vec<&'static str>,
    /// Cycles of each window, in order; their sum is the run.
    pub windows: Vec<u64>,
    /// Cycles by PU, state and window.
    pub spent: Vec<Vec<Vec<u64>>>,
    /// Hits and misses of the on-chip memories, by name and window.
    pub events: Vec<(&'static str, Vec<u64>)>,
}

impl Timeline {
    /// Returns the timeline as JSON.
    pub fn json(&self) -> serde_json::Value {
        let events: serde_json::Map<_, _> =
            self.events.iter().map(|(name, counts)| ((*name).into(), json!(counts))).collect();
        json!({
            "states": self.states,
            "windows": self.windows,
            "spent": self.spent,
            "events": events,
        })
    }
}

/// Recorder of a run's timeline, if requested.
#[derive(Debug, Default)]
pub struct Recording {
    sampler: Option<Sampler>,
    timeline: Option<Timeline>,
}

impl Recording {
    /// Creates a recorder for one run of a core of this machine, if it is `wanted` and the machine's PUs have counters.
    pub fn new(a: &Accelerator, wanted: bool) -> Self {
        let wanted = wanted && a.machine.performance_counters;
        Recording { sampler: wanted.then(|| Sampler::new(a)), timeline: None }
    }

    /// Samples the core in cycle `now`, given its start, its end and the beats of the out-stream so
    /// far.
    ///
    /// # Errors
    /// If the model doesn't expose the counters.
    pub fn look(
        &mut self,
        now: u64,
        (started, done): (bool, bool),
        beats: usize,
        model: &Model,
    ) -> Result<()> {
        if let Some(sampler) = self.sampler.as_mut().filter(|_| started) {
            sampler.look(now, beats, model)?;
        }
        if let Some(sampler) = self.sampler.take_if(|_| done) {
            self.timeline = Some(sampler.finish(now, model)?);
        }
        Ok(())
    }

    /// Timeline of a finished run.
    pub fn finished(self) -> Option<Timeline> {
        self.timeline
    }

    /// The same, by reference.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_ref()
    }
}

/// Part of a core that has counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A PU, by number.
    Pu(usize),
    /// All partitions of the on-chip memory.
    Partitions,
}

impl Part {
    /// Value of a counter; the sum over all partitions.
    fn sum(self, model: &Model, counter: u32) -> Result<u64> {
        match self {
            Part::Pu(pu) => model.sum(&format!("[{pu}].i_pu"), "counters_q", counter, 1),
            Part::Partitions => model.sum("i_partition", "counters_q", counter, 1),
        }
    }
}

/// Sampler of one core's counters during a run.
#[derive(Debug)]
pub struct Sampler {
    /// Counter of a PU by state; `None` for the remaining cycles.
    counters: Vec<Option<u32>>,
    /// Whether beats of the out-stream mark the end of the search: true for the set core, while the paper's core lists
    /// embeddings earlier.
    ends_with_output: bool,
    timeline: Timeline,
    /// Counter values at the end of the last window, by PU and state.
    seen: Vec<Vec<u64>>,
    /// Counter of a partition by event, and the sum of its values at the end of the last window.
    event_counters: Vec<(u32, u64)>,
    every: u64,
    /// Last cycle of the last window; `None` before the first sample.
    from: Option<u64>,
    ended: bool,
}

impl Sampler {
    /// Creates a sampler for one run of a core of this machine.
    pub fn new(a: &Accelerator) -> Self {
        let at = layout::positions(&a.counters.pu, a.machine.depth);
        let counter =
            |wanted: &str| at.iter().find(|(name, ..)| *name == wanted).map(|&(_, first, _)| first);
        let known = STATES.iter().map(|&(state, name)| (state, counter(name)));
        let known = known.filter(|&(state, counter)| counter.is_some() || state == "busy");
        let (states, counters): (Vec<_>, Vec<_>) = known.unzip();
        let pus = a.machine.processing_units as usize;
        let of_partition = match a.core {
            Core::Paper => layout::positions(&a.counters.partition, a.machine.depth),
            Core::Set => vec![],
        };
        let event = |event: &&'static str| {
            let found = of_partition.iter().find(|(name, ..)| name == event);
            found.map(|&(_, first, _)| (*event, first))
        };
        let events: Vec<(&'static str, u32)> = EVENTS.iter().filter_map(event).collect();
        Sampler {
            ends_with_output: a.core == Core::Set,
            seen: vec![vec![0; counters.len()]; pus],
            event_counters: events.iter().map(|&(_, first)| (first, 0)).collect(),
            timeline: Timeline {
                spent: vec![vec![vec![]; counters.len()]; pus],
                states,
                windows: vec![],
                events: events.iter().map(|&(name, _)| (name, vec![])).collect(),
            },
            counters,
            every: EVERY,
            from: None,
            ended: false,
        }
    }

    /// Samples the core in cycle `now` of a started run, after `beats` beats of the out-stream.
    ///
    /// # Errors
    /// If the model doesn't expose the counters.
    pub fn look(&mut self, now: u64, beats: usize, model: &Model) -> Result<()> {
        let from = *self.from.get_or_insert(now);
        let ends = self.ends_with_output && beats > 0;
        if self.ended || (now < from + self.every && !ends) {
            return Ok(());
        }
        self.ended = ends;
        self.window(now, &mut |part, counter| part.sum(model, counter))
    }

    /// Ends the timeline in cycle `now`.
    ///
    /// # Errors
    /// If the model doesn't expose the counters.
    pub fn finish(mut self, now: u64, model: &Model) -> Result<Timeline> {
        if !self.ended && self.from.is_some_and(|from| from < now) {
            self.window(now, &mut |part, counter| part.sum(model, counter))?;
        }
        Ok(self.timeline)
    }

    /// Ends a window in cycle `now`; `read` returns a counter of a part.
    fn window(&mut self, now: u64, read: &mut dyn FnMut(Part, u32) -> Result<u64>) -> Result<()> {
        let cycles = now - self.from.unwrap_or(now);
        let pus = self.seen.iter_mut().zip(&mut self.timeline.spent).enumerate();
        for (pu, (seen, spent)) in pus {
            let mut spared = cycles;
            for ((counter, seen), spent) in self.counters.iter().zip(seen).zip(&mut *spent) {
                let Some(counter) = *counter else {
                    spent.push(0);
                    continue;
                };
                let value = read(Part::Pu(pu), counter)?;
                // Until the core has cleared it, it holds what it held before the run.
                let grown = value.checked_sub(*seen).filter(|&grown| grown <= cycles);
                (*seen, spared) = match grown {
                    Some(grown) => (value, spared.saturating_sub(grown)),
                    None => (0, spared),
                };
                spent.push(grown.unwrap_or(0));
            }
            for (spent, counter) in spent.iter_mut().zip(&self.counters) {
                if let (None, Some(last)) = (counter, spent.last_mut()) {
                    *last = spared;
                }
            }
        }
        for ((counter, seen), (_, counts)) in
            self.event_counters.iter_mut().zip(&mut self.timeline.events)
        {
            let value = read(Part::Partitions, *counter)?;
            let grown = value.checked_sub(*seen).filter(|&n| n <= EVENTS_A_CYCLE * cycles);
            *seen = if grown.is_some() { value } else { 0 };
            counts.push(grown.unwrap_or(0));
        }
        self.timeline.windows.push(cycles);
        self.from = Some(now);
        if self.timeline.windows.len() > MOST {
            self.every *= 2;
            halve(&mut self.timeline.windows);
            self.timeline.spent.iter_mut().flatten().for_each(halve);
            self.timeline.events.iter_mut().for_each(|(_, counts)| halve(counts));
        }
        Ok(())
    }
}

/// Adds up pairs of consecutive numbers.
fn halve(values: &mut Vec<u64>) {
    *values = values.chunks(2).map(|pair| pair.iter().sum()).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_machine::named;

    fn machine(name: &str) -> Accelerator {
        named::named(name).unwrap().unwrap()
    }

    #[test]
    fn windows_are_joined_and_nothing_is_lost() {
        let a = machine("small");
        let mut sampler = Sampler::new(&a);
        sampler.from = Some(0);
        let pus = a.machine.processing_units as usize;
        // A PU that is busy in every cycle, and no work for the others.
        let busy = sampler.counters[0].unwrap();
        let none = sampler.counters[3].unwrap();
        let mut now = 0;
        for _ in 0..5 * MOST {
            now += sampler.every;
            let read = &mut |part, counter| {
                let counts = match part {
                    Part::Pu(pu) => counter == if pu == 0 { busy } else { none },
                    Part::Partitions => true,
                };
                Ok(if counts { now } else { 0 })
            };
            sampler.window(now, read).unwrap();
            assert!(sampler.timeline.windows.len() <= MOST);
        }
        let Timeline { states, windows, spent, events } = sampler.timeline;
        assert_eq!(events.iter().map(|(name, _)| *name).collect::<Vec<_>>(), EVENTS);
        assert!(events.iter().all(|(_, counts)| *counts == windows), "one a cycle");
        assert_eq!(states, ["busy", "waiting_for_memory", "waiting_inside", "no_work"]);
        assert_eq!(windows.iter().sum::<u64>(), now);
        assert!(windows.len() > MOST / 4 && windows[0] > EVERY);
        assert_eq!(spent.len(), pus);
        assert_eq!(spent[0][0], windows);
        assert_eq!(spent[pus - 1][3], windows);
        assert!(spent[0][3].iter().chain(&spent[pus - 1][0]).all(|&n| n == 0));
    }

    #[test]
    fn what_a_counter_held_before_the_run_is_no_time() {
        let mut sampler = Sampler::new(&machine("small"));
        sampler.from = Some(0);
        for (now, value) in [(256, 1 << 40), (512, 100), (768, 300)] {
            sampler.window(now, &mut |_, _| Ok(value)).unwrap();
        }
        assert_eq!(sampler.timeline.spent[0][0], [0, 100, 200]);
    }

    #[test]
    fn the_set_core_is_busy_where_it_is_not_idle() {
        let mut sampler = Sampler::new(&machine("set-small"));
        assert_eq!(sampler.timeline.states, ["busy", "waiting_for_memory", "no_work"]);
        sampler.from = Some(0);
        let memory = sampler.counters[1].unwrap();
        sampler.window(256, &mut |_, at| Ok(if at == memory { 56 } else { 100 })).unwrap();
        assert_eq!(sampler.timeline.spent[1], [[100], [56], [100]]);
    }
}

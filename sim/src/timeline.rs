//! What each PU does over time: its counters, read every N cycles while a run goes on. A run that
//! doesn't ask reads nothing.

use anyhow::Result;
use gramer_machine::{Accelerator, Core, layout};
use serde_json::json;

use crate::model::Model;

/// Cycles of the first windows.
const EVERY: u64 = 256;
/// Most windows. When there are more, two become one and further ones are twice as long, so a run of any
/// length takes the same room, and little time.
const MOST: usize = 256;
/// What a PU may be doing, and the counter of its cycles. A core that doesn't count busy cycles is busy in
/// all that it doesn't count as idle, also while it adds up its sums at the end.
const STATES: [(&str, &str); 4] = [
    ("busy", "port_busy"),
    ("waiting_for_memory", "idle_memory"),
    ("waiting_inside", "idle_inside"),
    ("no_work", "idle_no_work"),
];

/// What the PUs of a core did in each window of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// What a PU may be doing; it does one of them in a cycle, and none before the search begins. While the core
    /// sends its results it has no work.
    pub states: Vec<&'static str>,
    /// Cycles of each window, in order; together the run.
    pub windows: Vec<u64>,
    /// For each PU and each state the cycles in each window.
    pub spent: Vec<Vec<Vec<u64>>>,
}

impl Timeline {
    /// As JSON, with its parts under their names.
    pub fn json(&self) -> serde_json::Value {
        json!({ "states": self.states, "windows": self.windows, "spent": self.spent })
    }
}

/// A timeline in the making: of a run that asked for one, from its start to its end.
#[derive(Debug, Default)]
pub struct Recording {
    sampler: Option<Sampler>,
    timeline: Option<Timeline>,
}

impl Recording {
    /// For one run of a core of this machine, if it is `wanted` and the machine's PUs count what they do.
    pub fn new(a: &Accelerator, wanted: bool) -> Self {
        let wanted = wanted && a.machine.performance_counters;
        Recording { sampler: wanted.then(|| Sampler::new(a)), timeline: None }
    }

    /// Looks at the core in cycle `now`: whether it was started and is done, and how many beats of the
    /// out-stream came.
    ///
    /// # Errors
    /// If the model doesn't show the counters.
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

    /// The samples of a finished run.
    pub fn finished(self) -> Option<Timeline> {
        self.timeline
    }

    /// The same while the run is kept.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_ref()
    }
}

/// Reads the counters of one core while it runs.
#[derive(Debug)]
pub struct Sampler {
    /// Its counter in a PU, by state; none for what is left over.
    counters: Vec<Option<u32>>,
    /// The set core sends nothing before its search ends, and the paper's core lists embeddings.
    ends_with_output: bool,
    timeline: Timeline,
    /// What the counters held at the end of the last window, by PU and state.
    seen: Vec<Vec<u64>>,
    every: u64,
    /// The cycle in which the last window ended; none before the first look.
    from: Option<u64>,
    ended: bool,
}

impl Sampler {
    /// For one run of a core of this machine.
    pub fn new(a: &Accelerator) -> Self {
        let at = layout::positions(&a.counters.pu, a.machine.depth);
        let counter =
            |wanted: &str| at.iter().find(|(name, ..)| *name == wanted).map(|&(_, first, _)| first);
        let known = STATES.iter().map(|&(state, name)| (state, counter(name)));
        let known = known.filter(|&(state, counter)| counter.is_some() || state == "busy");
        let (states, counters): (Vec<_>, Vec<_>) = known.unzip();
        let pus = a.machine.processing_units as usize;
        Sampler {
            ends_with_output: a.core == Core::Set,
            seen: vec![vec![0; counters.len()]; pus],
            timeline: Timeline {
                spent: vec![vec![vec![]; counters.len()]; pus],
                states,
                windows: vec![],
            },
            counters,
            every: EVERY,
            from: None,
            ended: false,
        }
    }

    /// Looks at the core in cycle `now` of a run that has been started; `beats` of the out-stream came.
    ///
    /// # Errors
    /// If the model doesn't show the counters.
    pub fn look(&mut self, now: u64, beats: usize, model: &Model) -> Result<()> {
        let from = *self.from.get_or_insert(now);
        let ends = self.ends_with_output && beats > 0;
        if self.ended || (now < from + self.every && !ends) {
            return Ok(());
        }
        self.ended = ends;
        self.window(now, &mut |pu, counter| {
            model.sum(&format!("[{pu}].i_pu"), "counters_q", counter, 1)
        })
    }

    /// Ends in cycle `now`.
    ///
    /// # Errors
    /// If the model doesn't show the counters.
    pub fn finish(mut self, now: u64, model: &Model) -> Result<Timeline> {
        if !self.ended && self.from.is_some_and(|from| from < now) {
            self.window(now, &mut |pu, counter| {
                model.sum(&format!("[{pu}].i_pu"), "counters_q", counter, 1)
            })?;
        }
        Ok(self.timeline)
    }

    /// Ends a window in cycle `now`; `read` gives a counter of a PU.
    fn window(&mut self, now: u64, read: &mut dyn FnMut(usize, u32) -> Result<u64>) -> Result<()> {
        let cycles = now - self.from.unwrap_or(now);
        let pus = self.seen.iter_mut().zip(&mut self.timeline.spent).enumerate();
        for (pu, (seen, spent)) in pus {
            let mut spared = cycles;
            for ((counter, seen), spent) in self.counters.iter().zip(seen).zip(&mut *spent) {
                let Some(counter) = *counter else {
                    spent.push(0);
                    continue;
                };
                let value = read(pu, counter)?;
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
        self.timeline.windows.push(cycles);
        self.from = Some(now);
        if self.timeline.windows.len() > MOST {
            self.every *= 2;
            halve(&mut self.timeline.windows);
            self.timeline.spent.iter_mut().flatten().for_each(halve);
        }
        Ok(())
    }
}

/// Makes one number of two that follow each other.
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
            let read = &mut |pu, counter| {
                Ok(if counter == if pu == 0 { busy } else { none } { now } else { 0 })
            };
            sampler.window(now, read).unwrap();
            assert!(sampler.timeline.windows.len() <= MOST);
        }
        let Timeline { states, windows, spent } = sampler.timeline;
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

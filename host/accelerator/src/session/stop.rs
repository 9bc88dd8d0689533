//! Early ends of a run: the host's conditions, the words at the abort address, and the wait for kernels that may not end
//! by themselves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gramer_base::context::Cancel;
use gramer_base::error::{Error, Result};
use opencl3::event::Event;

use super::compute_unit::ComputeUnit;
use super::transfer::{failed, write};
use crate::image::LINE;

/// Time that units in progress have to finish after Ctrl-C, before the core is stopped at once.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long a core may take to stop.
pub(super) const STOPS_WITHIN: Duration = Duration::from_secs(5);
/// Words at the abort address. Nobody has written one yet: [`UNKNOWN`].
pub(super) const CLEAR: u32 = 0;
pub(super) const STOP_AFTER_UNITS: u32 = 1;
pub(super) const STOP_AT_ONCE: u32 = 2;
pub(super) const UNKNOWN: u32 = u32::MAX;
/// A pause between looks at running kernels is this part of the time that they have run.
const PAUSES: u32 = 8;
const LEAST_PAUSE: Duration = Duration::from_micros(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// When a pass ends early.
pub(super) struct Stop<'a> {
    pub(super) cancel: &'a Cancel,
    /// The sink has enough, or a compute unit failed.
    pub(super) raised: AtomicBool,
    pub(super) time_limit: Option<Duration>,
}

impl Stop<'_> {
    pub(super) fn asked(&self) -> bool {
        self.cancel.is_cancelled() || self.raised.load(Ordering::Relaxed)
    }
}

/// A wait for the kernels of one compute unit or several, of which cores are stopped on request.
pub(super) struct Wait<'a> {
    stop: &'a Stop<'a>,
    begun: Instant,
    asked: Option<Instant>,
    late: bool,
}

impl<'a> Wait<'a> {
    pub(super) fn new(stop: &'a Stop<'a>) -> Self {
        Wait { stop, begun: Instant::now(), asked: None, late: false }
    }

    /// Time since the wait began.
    pub(super) fn took(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Sleeps until the next look: longer, the longer the kernels run, so that their end is noticed soon.
    pub(super) fn pause(&self) {
        std::thread::sleep((self.took() / PAUSES).clamp(LEAST_PAUSE, LONGEST_PAUSE));
    }

    /// Looks whether the kernels of a unit have ended, and tells its core to stop where that is requested.
    pub(super) fn look(
        &mut self,
        unit: &mut ComputeUnit,
        events: &[Event],
        name: &str,
    ) -> Result<bool> {
        let stop = self.stop;
        let mut running = false;
        for event in events {
            match event.command_execution_status() {
                Ok(status) if status.0 < 0 => {
                    return Err(failed(name, "running the kernels", status.0));
                }
                Ok(status) => running |= status.0 > 0,
                Err(e) => return Err(failed(name, "running the kernels", e.0)),
            }
        }
        let given_up = self.asked.is_some_and(|a| a.elapsed() > GRACE + STOPS_WITHIN);
        if self.late && (!running || given_up) {
            let limit = stop.time_limit.unwrap_or_default().as_secs();
            let stopped = if running { " and don't stop" } else { "" };
            return Err(Error::Device(format!(
                "{name}: the kernels took longer than the time limit of {limit} s{stopped}; \
                 cut the work into more runs (the setting `runs`), or raise the setting `time_limit`"
            )));
        }
        if !running {
            return Ok(true);
        }
        if given_up {
            return Err(Error::Device(format!(
                "{name}: the kernels run for {:.0} s and don't stop: the device hangs; \
                 reset it (`xbutil reset`)",
                self.begun.elapsed().as_secs_f64()
            )));
        }
        self.late |= stop.time_limit.is_some_and(|limit| self.begun.elapsed() > limit);
        if self.asked.is_none() && (self.late || stop.asked()) {
            self.asked = Some(Instant::now());
        }
        if let Some(asked) = self.asked {
            let at_once =
                self.late || stop.raised.load(Ordering::Relaxed) || asked.elapsed() > GRACE;
            let word = if at_once { STOP_AT_ONCE } else { STOP_AFTER_UNITS };
            if word > unit.told {
                unit.tell(word, name)?;
            }
        }
        Ok(false)
    }
}

impl ComputeUnit {
    /// Writes the word at the abort address.
    fn tell(&mut self, word: u32, name: &str) -> Result<()> {
        let mut line = [0; LINE];
        line[..4].copy_from_slice(&word.to_le_bytes());
        write(&self.control, &mut self.abort, 0, &line, &mut self.moved)
            .map_err(|e| failed(name, "writing the abort word", e))?;
        self.told = word;
        Ok(())
    }

    /// Clears the word at the abort address, unless it is clear.
    pub(super) fn clear_abort(&mut self, name: &str) -> Result<()> {
        if self.told == CLEAR { Ok(()) } else { self.tell(CLEAR, name) }
    }

    /// Waits for the kernels and stops the core on request; gives the word that was left at the abort address.
    pub(super) fn wait(&mut self, stop: &Stop<'_>, events: &[Event], name: &str) -> Result<u32> {
        let mut wait = Wait::new(stop);
        while !wait.look(self, events, name)? {
            wait.pause();
        }
        Ok(self.told)
    }
}

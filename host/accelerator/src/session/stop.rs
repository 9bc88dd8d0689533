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
/// Words at the abort address.
pub(super) const STOP_AFTER_UNITS: u32 = 1;
pub(super) const STOP_AT_ONCE: u32 = 2;

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

impl ComputeUnit {
    /// Waits for the kernels and stops the core on request; gives the word
    /// that was left at the abort address.
    pub(super) fn wait(&mut self, stop: &Stop<'_>, events: &[Event], name: &str) -> Result<u32> {
        let begun = Instant::now();
        let (mut told, mut asked, mut pause) = (0, None, Duration::from_micros(20));
        let mut late = false;
        loop {
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
            let given_up = asked.is_some_and(|a: Instant| a.elapsed() > GRACE + STOPS_WITHIN);
            if late && (!running || given_up) {
                let limit = stop.time_limit.unwrap_or_default().as_secs();
                let stopped = if running { " and don't stop" } else { "" };
                return Err(Error::Device(format!(
                    "{name}: the kernels took longer than the time limit of {limit} s{stopped}; \
                     cut the work into more runs (the setting `runs`), or raise the setting `time_limit`"
                )));
            }
            if !running {
                return Ok(told);
            }
            if given_up {
                return Err(Error::Device(format!(
                    "{name}: the kernels run for {:.0} s and don't stop: the device hangs; \
                     reset it (`xbutil reset`)",
                    begun.elapsed().as_secs_f64()
                )));
            }
            late |= stop.time_limit.is_some_and(|limit| begun.elapsed() > limit);
            if asked.is_none() && (late || stop.asked()) {
                asked = Some(Instant::now());
            }
            if let Some(asked) = asked {
                let at_once =
                    late || stop.raised.load(Ordering::Relaxed) || asked.elapsed() > GRACE;
                let word = if at_once { STOP_AT_ONCE } else { STOP_AFTER_UNITS };
                if word > told {
                    let mut line = [0; LINE];
                    line[..4].copy_from_slice(&word.to_le_bytes());
                    write(&self.control, &mut self.abort, 0, &line, &mut self.moved)
                        .map_err(|e| failed(name, "writing the abort word", e))?;
                    told = word;
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }
}

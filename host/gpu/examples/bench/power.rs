//! The energy of rows by the card's own counter.

use std::path::Path;
use std::time::{Duration, Instant};

use gramer_gpu::energy::{EnergyCounter, LIBRARY};

use crate::Failure;

/// How long a row repeats: the counter is updated about every 100 ms.
const LEAST: Duration = Duration::from_secs(2);

/// Counter of a card, and its power while nothing runs, with the engine open.
pub struct Meter {
    counter: EnergyCounter,
    idle: f64,
}

impl Meter {
    /// Opens the counter of a card, which must have the device's name or a part of it, and measures its idle power.
    pub fn open(card: u32, device: &str) -> Result<Self, Failure> {
        let counter = EnergyCounter::open(Path::new(LIBRARY), card)?;
        let own = counter.name();
        if !device.contains(own) && !own.contains(device) {
            return Err(format!("--energy {card} is {own}, but the tasks run on {device}").into());
        }
        let begun = (Instant::now(), counter.millijoules()?);
        std::thread::sleep(LEAST);
        let joules = 1e-3 * (counter.millijoules()? - begun.1) as f64;
        let idle = joules / begun.0.elapsed().as_secs_f64();
        println!("the card takes {idle:.1} W while nothing runs");
        Ok(Meter { counter, idle })
    }

    /// Fields of the results' head.
    pub fn head(&self) -> String {
        format!(", \"idle_watts\": {:.1}", self.idle)
    }

    /// Repeats a task; fields of its row: energy of a run in mJ and mean power in W, of the whole card.
    pub fn row(
        &self,
        graph: &str,
        task: &str,
        mut run: impl FnMut() -> Result<(), Failure>,
    ) -> Result<String, Failure> {
        let (begun, before, mut runs) = (Instant::now(), self.counter.millijoules()?, 0u32);
        while runs == 0 || begun.elapsed() < LEAST {
            run()?;
            runs += 1;
        }
        let (seconds, after) = (begun.elapsed().as_secs_f64(), self.counter.millijoules()?);
        let millijoules = (after - before) as f64;
        let (each, watts) = (millijoules / f64::from(runs), 1e-3 * millijoules / seconds);
        println!("{graph} {task}: {each:.3} mJ a run, {watts:.1} W in {runs} runs");
        Ok(format!(", \"energy_mj\": {each:.4}, \"watts\": {watts:.1}, \"energy_runs\": {runs}"))
    }
}

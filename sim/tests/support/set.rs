//! What all tests of the set core as a whole have in common.

use std::ops::Range;
use std::path::PathBuf;

use gramer_machine::{Accelerator, named::named};
use gramer_sim::model::{self, Build};
use gramer_sim::run::Simulation;

use gramer_testing::environment;

/// The model of a machine, or `None` after saying what is missing.
pub fn library(machine: &Accelerator) -> Option<PathBuf> {
    if model::verilator().is_none() {
        environment::skip(environment::RTL, "there is no verilator");
        return None;
    }
    Some(model::build(machine, Build::default()).unwrap())
}

/// The small machine with sums of 8 bits and a single bank of the map.
#[allow(dead_code)]
pub fn narrow() -> Accelerator {
    let mut machine = named("set-small").unwrap().unwrap();
    machine.applications.count_bits = 8;
    let set = machine.set.as_mut().unwrap();
    (set.map_words, set.map_banks, set.reached) = (set.map_words * set.map_banks, 1, 128);
    machine
}

/// A simulation that is held back at random, with answers in any order.
pub fn held(machine: &Accelerator, seed: u64) -> Simulation {
    let mut s = Simulation { seed, max_cycles: 20_000_000, ..Simulation::of(machine) };
    if seed % 2 == 1 {
        s.back_pressure = 3;
        s.timing.back_pressure = 3;
        s.timing.reorder = true;
    }
    s
}

/// Seeds of random graphs: those of every commit, or others, from `GRAMER_SEED` on: of `GRAMER_GRAPHS` graphs one in `of`.
#[allow(dead_code)]
pub fn seeds(usual: Range<u64>, of: u64) -> Range<u64> {
    let number = |name| {
        let value = std::env::var(name).ok()?;
        Some(value.parse::<u64>().unwrap_or_else(|_| panic!("{name}={value} is not a number")))
    };
    let first = number("GRAMER_SEED").unwrap_or(0) + usual.start;
    let graphs = number("GRAMER_GRAPHS").map_or(usual.end - usual.start, |graphs| graphs / of);
    first..first + graphs
}

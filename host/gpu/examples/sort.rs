//! GAMMA's external sort by itself (Hu et al., section 6.2): numbers of 64 bits, which the device's memory has no room for
//! at once, and how often each occurs, beside a sort on the host. Several devices share it.
//!
//! usage: sort DEVICE[,DEVICE…] NUMBERS [--different N] [--memory SIZE] [--host-memory SIZE] [--spill FOLDER]

#[path = "common/mod.rs"]
mod common;

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_gpu::Gpu;
use gramer_gpu::primitives::count_numbers;

const USAGE: &str = "sort DEVICE[,DEVICE…] NUMBERS [--different N] [--memory SIZE] [--host-memory SIZE] \
                     [--spill FOLDER]";

/// The number at a place: no two places of 2^64 have the same (the finalizer of SplitMix64).
fn mixed(at: u64) -> u64 {
    let mut number = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Writes how long both sorts took, and how many segments there were, with tabs between. Numbers are all different,
/// or have at most this many values. Both have to say the same.
pub fn run(words: &[String], out: &mut dyn Write) -> Result<()> {
    let arguments = common::Arguments::of(words, USAGE, &["different"])?;
    let numbers: u64 = arguments.second(USAGE)?;
    let different: u64 = arguments.value("different")?.unwrap_or(u64::MAX);
    if different == 0 {
        return Err(Error::usage(format!("--different can't be 0\nusage: {USAGE}")));
    }
    let gpus = arguments.gpus()?;
    let gpus: Vec<&Gpu> = gpus.iter().collect();
    let all = || (0..numbers).map(|at| mixed(mixed(at) % different));
    let mut right: Vec<u64> = all().collect();
    let begun = Instant::now();
    right.sort_unstable();
    let host = begun.elapsed();
    let (mut at, mut same) = (0, true);
    let begun = Instant::now();
    let took = count_numbers(&gpus, all(), &Context::default(), |number, times| {
        // A run of equal numbers that ends where it should.
        let end = at + times as usize;
        let own =
            right.get(at..end).is_some_and(|own| own[0] == number && own[own.len() - 1] == number);
        same = same && own && right.get(end).is_none_or(|&next| next > number);
        at = end;
    })?;
    let device = begun.elapsed();
    if !same || at != right.len() {
        return Err(Error::Device("the device counted otherwise than the host".into()));
    }
    let (limit, peak) = gpus[0].memory()?;
    let line = format!(
        "{numbers} numbers\tdevice {:.3} s\thost, one thread {:.3} s\t{} segments\t{} merges\t{peak} of {limit} bytes",
        device.as_secs_f64(),
        host.as_secs_f64(),
        took.sorted,
        took.merges
    );
    common::say(out, &line)
}

fn main() -> ExitCode {
    common::ends(run)
}

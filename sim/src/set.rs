//! In-streams on a cluster of the set core (`docs/reference/set-core.md`).

use anyhow::{Context as _, Result, ensure};
use gramer_machine::Accelerator;
use gramer_machine::set::OPERATIONS;

use crate::ddr::{Buffers, Ddr};
use crate::drive::{Job, drive};
use crate::model::Model;
use crate::run::{DONE, Outcome, Simulation, decode};

/// Bytes of a line and of a beat.
const LINE: usize = 64;
/// Address of the image in a channel's bank: not 0 and distinct, so that a wrong address is detected.
fn address(channel: u64) -> u64 {
    0x40_0000_0000 * (channel + 1)
}

/// A run of one cluster.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The graph's image, whole lines.
    pub image: &'a [u8],
    /// Header and units, whole beats.
    pub stream: &'a [u8],
    /// Loads the image; otherwise the image of an earlier run of this model is used.
    pub load: bool,
    /// Starts no unit before the whole image is loaded.
    pub wait: bool,
}

/// Runs an in-stream. The sums are in `counts` of the outcome.
///
/// # Errors
/// If an assertion or a protocol check fails, counters contradict each other, the run makes no progress, or
/// the limit of cycles is reached.
pub fn run(a: &Accelerator, model: &mut Model, job: &Run<'_>, s: &Simulation) -> Result<Outcome> {
    list(a, model, job, None, s)
}

/// Runs an in-stream with a listing search plan: `listed` are the vertices of an embedding and the capacity in
/// beats.
///
/// # Errors
/// As [`run`].
pub fn list(
    a: &Accelerator,
    model: &mut Model,
    job: &Run<'_>,
    listed: Option<(u32, u32)>,
    s: &Simulation,
) -> Result<Outcome> {
    ensure!(a.set.is_some(), "machine {} has no set core", a.machine.name);
    let lines = |bytes: &[u8]| -> Vec<[u8; LINE]> {
        bytes.chunks_exact(LINE).map(|line| line.try_into().expect("64 bytes")).collect()
    };
    let stream = lines(job.stream);
    let head = head(a, &stream);
    ensure!(stream.len() > head, "the in-stream has a header and a beat of units at least");
    let image_lines = if job.load { job.image.len() / LINE } else { 0 };
    let channels = a.core_ports();
    let mut parts = parts(job.image, channels as usize);
    // The abort word follows the part of channel 0.
    let abort_word = address(0) + parts[0].len() as u64;
    parts[0].extend([0; LINE]);
    let mut memory = Buffers::new((0..).map(address).zip(parts).collect());
    let mut ddr = Ddr::new(channels as usize, 1, 0, s.timing.clone());
    ddr.connect(&[0], channels);
    let value = |name: &str| match name {
        "flags" => u64::from(job.wait),
        "image_lines" => image_lines as u64,
        "abort" => abort_word,
        "result_beats" => listed.map_or(0, |(_, beats)| beats.into()),
        bank => bank.strip_prefix("bank").and_then(|b| b.parse().ok()).map_or(0, address),
    };
    let driven = Job { arguments: &value, stream: &stream, head, abort_word };
    let driven = drive(a, model, &mut memory, &mut ddr, &driven, s)?;
    let outcome = decode(a, a.set_sums(), listed, driven)?;
    check(&outcome, image_lines as u64, (stream.len() - head) as u64)
        .with_context(|| format!("counters {:?}", outcome.counters))?;
    Ok(outcome)
}

/// Shares an image out over the channels: line n goes to channel n mod `channels`.
fn parts(image: &[u8], channels: usize) -> Vec<Vec<u8>> {
    let mut parts = vec![vec![]; channels];
    for (at, line) in image.chunks(LINE).enumerate() {
        parts[at % channels].extend(line);
    }
    parts
}

/// Number of beats before those of units: header and words of a search plan.
fn head(a: &Accelerator, stream: &[[u8; LINE]]) -> usize {
    let field = |name: &str| {
        let field = a.streams.input.field("plan", name);
        stream.first().zip(field).map_or(0, |(header, field)| field.get(&header[..4]))
    };
    let planned =
        OPERATIONS.get(field("operation") as usize).is_some_and(|(name, _)| *name == "plan");
    if planned { 1 + field("k") as usize } else { 1 }
}

/// Checks the invariants of every run.
fn check(outcome: &Outcome, image_lines: u64, beats: u64) -> Result<()> {
    if outcome.status != DONE {
        return Ok(());
    }
    let sum = |name: &str| outcome.sum(name);
    let (asked, answered) = (sum("pu.lines_requested"), sum("pu.lines_answered"));
    ensure!(asked == answered, "{asked} lines were requested, {answered} answered");
    let read = sum("partition.lines");
    ensure!(read == answered, "{read} lines were read, {answered} answered");
    let (begun, ended) = (sum("core.work_units"), sum("pu.units"));
    ensure!(begun == ended, "{begun} units were handed out, {ended} ended");
    let loaded = sum("bank.beats");
    ensure!(loaded >= image_lines, "{loaded} beats came for {image_lines} lines");
    let places = 8 * beats;
    ensure!(outcome.next_unit == places, "done at unit {} of {places}", outcome.next_unit);
    Ok(())
}

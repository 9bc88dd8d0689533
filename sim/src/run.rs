//! A task on a graph, directly on the core.
//!
//! This module parses the out-stream independently of the host's reader (`gramer_accelerator::stream`): this crate,
//! which holds the emulated device, shares no code with the host that it is compared with; it checks the stream
//! against the traffic at the ports; and it returns the counters of each unit, of which the host has only sums.
//! `sim/tests/formats.rs` reads the same beats with both.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use gramer_machine::{
    Accelerator, ENTRIES_A_LINE, ENTRY_BYTES, RECORD_BYTES, RECORDS_A_LINE, Section, layout,
};

use crate::ddr::{Buffers, Ddr, Timing};
use crate::drive::{Driven, Job, drive};
use crate::image::{Csr, UNITS_A_BEAT, Unit, in_stream};
use crate::model::Model;
use crate::timeline::Timeline;

/// Application of the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Application {
    /// Clique finding.
    Clique,
    /// Motif counting.
    Motif,
    /// Labelled patterns of one size, extended only through known ones.
    Fsm,
}

/// Share of the graph on chip, given explicitly instead of by τ and capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnChip {
    /// Vertex lines below it are high-priority; at most the capacity of the scratchpads.
    pub vertex_bound: u64,
    /// Edge lines below it are high-priority; at most the capacity of the scratchpads.
    pub edge_bound: u64,
    /// Cache sets in use of each vertex memory, 1 to all.
    pub vertex_sets: u64,
    /// Cache sets in use of each edge memory, 1 to all.
    pub edge_sets: u64,
}

/// Task and run-time settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The application.
    pub application: Application,
    /// Vertices of an embedding.
    pub k: u32,
    /// Compares ids by ascending rank instead of descending.
    pub ascending: bool,
    /// Work stealing inside a PU.
    pub stealing: bool,
    /// Least recently used instead of equation (2).
    pub lru: bool,
    /// Slots in use, 1 to all.
    pub slots: u32,
    /// λ in the steps of [`gramer_machine::lambda_steps`].
    pub lambda_eighths: u32,
    /// τ, or `None` for the paper's min(50 %, memory / (2 (V + E))).
    pub tau: Option<f64>,
    /// Share of the scratchpads and of the caches' sets in use, up to 1.
    pub capacity: f64,
    /// Overrides `tau` and `capacity`.
    pub on_chip: Option<OnChip>,
    /// Pattern number by adjacency bits (and labels); bit 15: known.
    pub dictionary: Vec<u16>,
    /// Number of pattern counters.
    pub patterns: u32,
    /// Lists the embeddings, with room for this many beats of records.
    pub list: Option<u32>,
    /// Words of the filter, at most 8; empty without one.
    pub filter: Vec<u64>,
    /// Drops motifs that the dictionary lacks.
    pub select: bool,
}

/// Settings of the simulation.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The memory.
    pub timing: Timing,
    /// Seed of the random back-pressure.
    pub seed: u64,
    /// Holds a stream or the control port back in one of this many clocks; 0: never.
    pub back_pressure: u32,
    /// Cycles between two beats of the in-stream, in addition to back-pressure.
    pub in_pause: u64,
    /// Cycles between two beats of the out-stream, in addition to back-pressure.
    pub out_pause: u64,
    /// Sends each work unit as the last one of a separate beat: the last unit is dispatched as the stream ends.
    pub spread: bool,
    /// Ends the in-stream after this many beats, without TLAST.
    pub cut: Option<usize>,
    /// Cycles from a reset to the first run. On a card, many pass before the host starts it.
    pub rest: u64,
    /// Limit of cycles of a run.
    pub max_cycles: u64,
    /// Updates a progress line on standard error, if it is a terminal, every N cycles; 0: never.
    pub progress: u64,
    /// Cycle in which the host writes the abort word, and its value.
    pub abort: Option<(u64, u32)>,
    /// Samples the PUs' counters during the run, for [`Outcome::timeline`].
    pub timeline: bool,
}

impl Simulation {
    /// The memory of `accelerator.yaml` without back-pressure.
    pub fn of(accelerator: &Accelerator) -> Self {
        Simulation {
            timing: Timing::of(accelerator),
            seed: 0,
            back_pressure: 0,
            in_pause: 0,
            out_pause: 0,
            spread: false,
            cut: None,
            rest: 0,
            max_cycles: 10_000_000_000,
            progress: 0,
            abort: None,
            timeline: false,
        }
    }
}

/// Status: every unit was explored.
pub const DONE: u32 = 0;
/// Status: the records don't fit.
pub const FULL: u32 = 1;
/// Status: the host set the abort word.
pub const ABORTED: u32 = 2;
/// Status: a read was answered with an error.
pub const ERROR: u32 = 3;
/// Status: an argument is out of range; the run did not start.
pub const REFUSED: u32 = 4;
/// Status: the in-stream had no last beat.
pub const CUT: u32 = 5;
/// Cycles without a beat after which a core ends its in-stream.
pub const STREAM_WAIT: u64 = 1 << 18;

/// Name of a status of the core.
pub fn status_name(status: u32) -> &'static str {
    match status {
        DONE => "done",
        FULL => "full",
        ABORTED => "aborted",
        ERROR => "error",
        REFUSED => "refused",
        CUT => "cut",
        _ => "unknown",
    }
}

/// A listed embedding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Position of its unit in the run.
    pub ordinal: u32,
    /// Number of its pattern.
    pub pattern: u32,
    /// Its vertices, in the order in which they were added.
    pub ids: Vec<u32>,
}

/// Results of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Embeddings of each pattern number.
    pub counts: Vec<u64>,
    /// [`DONE`], [`FULL`], [`ABORTED`], [`ERROR`], [`REFUSED`] or [`CUT`].
    pub status: u32,
    /// First unit to resume from: all units before it are finished.
    pub next_unit: u64,
    /// Listed embeddings in the order of arrival; those of units from `next_unit` on are incomplete.
    pub records: Vec<Record>,
    /// Whether a count is saturated.
    pub saturated: bool,
    /// Address of the failed access, or offset of the refused argument.
    pub error_address: u64,
    /// Counters by `section.name`: values for each unit of the section.
    pub counters: BTreeMap<String, Vec<Vec<u64>>>,
    /// Cycles from start to done, as seen at the control port.
    pub cycles: u64,
    /// For each beat of work units: cycles from the start until the core took it.
    pub taken: Vec<u64>,
    /// Timeline of the PUs, if [`Simulation::timeline`] is set.
    pub timeline: Option<Timeline>,
}

impl Outcome {
    /// Sum of a counter over the units of its section; only the first value of a counter with several.
    pub fn sum(&self, name: &str) -> u64 {
        self.counters[name].iter().map(|values| values[0]).sum()
    }

    /// Sums of a counter with several values.
    pub fn sums(&self, name: &str) -> Vec<u64> {
        let units = &self.counters[name];
        (0..units[0].len()).map(|i| units.iter().map(|values| values[i]).sum()).collect()
    }

    /// Checks the invariants of every run.
    ///
    /// # Errors
    /// Names the counters that contradict each other.
    pub fn check(&self) -> Result<()> {
        if !self.counters.contains_key("pu.slots_freed") {
            return Ok(()); // a machine without performance counters
        }
        for kind in ["vertex", "edge"] {
            let parts = ["high_hits", "low_hits", "misses"];
            let served: u64 =
                parts.iter().map(|p| self.sum(&format!("partition.{kind}_{p}"))).sum();
            let asked = self.sum(&format!("pu.{kind}_accesses"));
            ensure!(served == asked, "{kind}: hits + misses = {served}, accesses = {asked}");
        }
        let freed = self.sum("pu.slots_freed");
        let begun = self.sum("core.work_units") + self.sum("pu.steals");
        ensure!(freed == begun, "slots freed = {freed}, work units + steals = {begun}");
        Ok(())
    }
}

/// Computes the on-chip share of a graph with this many vertices and edge entries (two per edge): bounds by
/// section 2 of the design, sets by the capacity.
///
/// # Errors
/// If `settings.on_chip` exceeds the machine.
pub fn on_chip(
    a: &Accelerator,
    vertices: usize,
    entries: usize,
    settings: &Settings,
) -> Result<OnChip> {
    let (all_vertex_sets, all_edge_sets) = a.cache_sets();
    let Some(asked) = settings.on_chip else {
        let (vertex_bound, edge_bound) = bounds(a, vertices, entries, settings);
        let in_use = |sets: u32| ((f64::from(sets) * settings.capacity).floor() as u64).max(1);
        let (vertex_sets, edge_sets) = (in_use(all_vertex_sets), in_use(all_edge_sets));
        return Ok(OnChip { vertex_bound, edge_bound, vertex_sets, edge_sets });
    };
    let (vertex_lines, edge_lines) = a.scratchpad_lines();
    for (what, value, low, high) in [
        ("the vertex bound", asked.vertex_bound, 0, vertex_lines),
        ("the edge bound", asked.edge_bound, 0, edge_lines),
        ("the number of vertex sets", asked.vertex_sets, 1, all_vertex_sets),
        ("the number of edge sets", asked.edge_sets, 1, all_edge_sets),
    ] {
        ensure!(
            (low..=u64::from(high)).contains(&value),
            "{what} is {value}, but must be {low} to {high} on machine {}",
            a.machine.name
        );
    }
    // The core loads whole prefixes: a bound beyond the graph's end would load what isn't there.
    Ok(OnChip {
        vertex_bound: asked.vertex_bound.min(vertices.div_ceil(RECORDS_A_LINE as usize) as u64),
        edge_bound: asked.edge_bound.min(entries.div_ceil(ENTRIES_A_LINE as usize) as u64),
        ..asked
    })
}

/// Lines below which data is high-priority (vertices, edges), section 2 of the design.
fn bounds(a: &Accelerator, vertices: usize, entries: usize, s: &Settings) -> (u64, u64) {
    let (vertex_lines, edge_lines) = a.scratchpad_lines();
    let (v, e) = (vertices as f64, entries as f64);
    let m = &a.memory;
    let partitions = f64::from(a.machine.partitions);
    let memory = partitions
        * (f64::from(m.vertex_scratchpad_bytes + m.vertex_cache_bytes) / f64::from(RECORD_BYTES)
            + f64::from(m.edge_scratchpad_bytes + m.edge_cache_bytes) / f64::from(ENTRY_BYTES))
        * s.capacity;
    let tau = s.tau.unwrap_or_else(|| (memory / (2.0 * (v + e))).min(0.5));
    // A line is high-priority if its first item is.
    let lines = |items: f64, a_line: u32, most: u32| {
        ((items * tau).floor() / f64::from(a_line))
            .ceil()
            .min((f64::from(most) * s.capacity).floor()) as u64
    };
    (lines(v, RECORDS_A_LINE, vertex_lines), lines(e, ENTRIES_A_LINE, edge_lines))
}

/// Base addresses of the banks, distinct so that a mix-up is detected.
fn base(bank: usize) -> u64 {
    0x40_0000_0000 * (bank as u64 + 1)
}

/// Memory contents and in-stream of a run.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The banks' contents.
    pub banks: Vec<Vec<u8>>,
    /// Byte offset at which the edges begin in each bank.
    pub edge_base: u64,
    /// Header, dictionary, scratchpad lines, work units: the in-stream.
    pub stream: Vec<[u8; 64]>,
    /// Number of its beats before those of work units.
    pub head: usize,
}

impl Inputs {
    /// Builds both with the writers of this crate.
    fn of(
        a: &Accelerator,
        graph: &Csr,
        units: &[Unit],
        on_chip: &OnChip,
        settings: &Settings,
        spread: bool,
    ) -> Self {
        let (banks, edge_base) = graph.banks(a);
        let stream = in_stream(
            &settings.filter,
            &settings.dictionary,
            settings.patterns,
            &graph.vertex_lines()[..on_chip.vertex_bound as usize],
            &graph.edge_lines()[..on_chip.edge_bound as usize],
            units,
            spread,
        );
        let a_beat = if spread { 1 } else { UNITS_A_BEAT };
        let head = stream.len() - units.len().div_ceil(a_beat).max(1);
        Inputs { banks, edge_base, stream, head }
    }
}

/// Runs a task from reset to done.
///
/// # Errors
/// If an assertion or a protocol check fails, counters contradict each other, the run makes no progress
/// ([`Watch`](crate::watch::Watch); the message has the state of every part), or the limit of cycles is
/// reached.
pub fn run(
    accelerator: &Accelerator,
    model: &mut Model,
    graph: &Csr,
    units: &[Unit],
    settings: &Settings,
    simulation: &Simulation,
) -> Result<Outcome> {
    let on_chip = on_chip(accelerator, graph.vertices(), graph.edges.len(), settings)?;
    let inputs = Inputs::of(accelerator, graph, units, &on_chip, settings, simulation.spread);
    run_inputs(accelerator, model, inputs, &on_chip, settings, simulation)
}

/// [`run`] with given memory contents and in-stream; `on_chip` is the result of [`on_chip`].
///
/// # Errors
/// As [`run`].
pub fn run_inputs(
    a: &Accelerator,
    model: &mut Model,
    inputs: Inputs,
    on_chip: &OnChip,
    settings: &Settings,
    simulation: &Simulation,
) -> Result<Outcome> {
    let Inputs { mut banks, edge_base, stream, head } = inputs;
    let bank_count = banks.len();
    // The abort word follows the graph in bank 0.
    let abort_word = base(0) + banks[0].len() as u64;
    banks[0].extend([0; 64]);
    let mut memory =
        Buffers::new(banks.into_iter().enumerate().map(|(b, c)| (base(b), c)).collect());
    let mut ddr = Ddr::new(bank_count, 1, 0, simulation.timing.clone());
    let flags = u64::from(settings.ascending)
        | u64::from(settings.stealing) << 1
        | u64::from(settings.lru) << 2
        | u64::from(settings.list.is_some()) << 3
        | u64::from(!settings.filter.is_empty()) << 4
        | u64::from(settings.select) << 5;
    let value = |name: &str| match name {
        "application" => settings.application as u64,
        "k" => u64::from(settings.k),
        "flags" => flags,
        "slots" => u64::from(settings.slots),
        "lambda_eighths" => u64::from(settings.lambda_eighths),
        "vertex_bound" => on_chip.vertex_bound,
        "edge_bound" => on_chip.edge_bound,
        "vertex_sets" => on_chip.vertex_sets,
        "edge_sets" => on_chip.edge_sets,
        "result_beats" => u64::from(settings.list.unwrap_or(0)),
        "abort" => abort_word,
        "edge_base" => edge_base,
        bank => bank.strip_prefix("bank").and_then(|b| b.parse().ok()).map_or(0, base),
    };
    let job = Job { arguments: &value, stream: &stream, head, abort_word };
    let driven = drive(a, model, &mut memory, &mut ddr, &job, simulation)?;
    let listed = settings.list.map(|beats| (settings.k, beats));
    let outcome = decode(a, settings.patterns, listed, driven)?;
    outcome.check()?;
    Ok(outcome)
}

/// Results of a run, checked against the traffic at the ports.
///
/// # Errors
/// As [`read_stream`], and if a bank's counter differs from its delivered beats.
pub(crate) fn decode(
    a: &Accelerator,
    patterns: u32,
    listed: Option<(u32, u32)>,
    driven: Driven,
) -> Result<Outcome> {
    let Driven { out, cycles, taken, beats, timeline } = driven;
    let outcome = read_stream(a, patterns, listed, &out)?;
    for (b, beats) in beats.iter().enumerate() {
        let counted = outcome.counters["bank.beats"][b][0];
        ensure!(counted == *beats, "bank {b}: {counted} beats counted, {beats} delivered");
    }
    Ok(Outcome { cycles, taken, timeline, ..outcome })
}

/// Parses the out-stream: records of `listed` (their vertices, and beats of the area), counts, status, counters. The
/// number of cycles is not part of it.
///
/// # Errors
/// If it has a wrong length, or a number of records other than in its status.
pub fn read_stream(
    a: &Accelerator,
    patterns: u32,
    listed: Option<(u32, u32)>,
    out: &[[u8; 64]],
) -> Result<Outcome> {
    let words: Vec<u64> = out
        .iter()
        .flat_map(|beat| beat.chunks_exact(8))
        .map(|w| u64::from_le_bytes(w.try_into().expect("8 bytes")))
        .collect();
    let count_words = patterns.max(1).next_multiple_of(8) as usize;
    let depth = a.machine.depth;
    let tail = count_words + 8 + a.counter_values().next_multiple_of(8) as usize;
    ensure!(words.len() >= tail, "{} words came, at least {tail} must", words.len());
    let (head, words) = words.split_at(words.len() - tail);
    let (k, area) = listed.unwrap_or((0, 0));
    ensure!(head.len() <= area as usize * 8, "{} beats of records, not {area}", head.len() / 8);
    let records = records(head, k as usize);
    ensure!(
        records.len() as u64 == words[count_words + 3],
        "{} records came, {} were counted",
        records.len(),
        words[count_words + 3]
    );
    let mut counters: BTreeMap<String, Vec<Vec<u64>>> = BTreeMap::new();
    let mut at = count_words + 8; // after counts and status
    for Section { name: section, counters: list, units } in a.sections() {
        let values = layout::values(list, depth) as usize;
        for (name, first, count) in layout::positions(list, depth) {
            let rows = (0..units as usize)
                .map(|u| {
                    let from = at + u * values + first as usize;
                    words[from..from + count as usize].to_vec()
                })
                .collect();
            counters.insert(format!("{section}.{name}"), rows);
        }
        at += values * units as usize;
    }
    Ok(Outcome {
        counts: words[..patterns as usize].to_vec(),
        status: words[count_words] as u32,
        saturated: words[count_words] >> 32 & 1 == 1,
        error_address: words[count_words + 1],
        next_unit: words[count_words + 2],
        records,
        counters,
        cycles: 0,
        taken: vec![],
        timeline: None,
    })
}

/// Parses the records; skips empty positions.
fn records(words: &[u64], k: usize) -> Vec<Record> {
    let size = match k {
        0..=6 => 8,
        7..=14 => 16,
        _ => 32,
    };
    let words: Vec<u32> = words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect();
    words
        .chunks_exact(size)
        .filter(|record| record[1] != u32::MAX)
        .map(|record| Record {
            ordinal: record[0],
            pattern: record[1],
            ids: record[2..2 + k].to_vec(),
        })
        .collect()
}

/// One unit per vertex with its whole list; hubs come last.
pub fn whole_units(graph: &Csr) -> Vec<Unit> {
    (0..graph.vertices() as u32)
        .map(|start| Unit { start, first: 0, limit: graph.list(start).len() as u32 })
        .collect()
}

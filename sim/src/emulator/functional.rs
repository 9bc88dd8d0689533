//! Functional model of the core (`hls/core_model.hpp`).

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use gramer_machine::{Accelerator, LAMBDA_MAX, LAMBDA_STEPS, Layout, layout};
use gramer_sim::ddr::Contents;

use crate::memory::Memory;

/// Mirrors `gramer::CoreMachine`.
#[repr(C)]
struct Machine {
    processing_units: u32,
    partitions: u32,
    banks: u32,
    depth: u32,
    label_bits: u32,
    count_bits: u32,
    core_counters: u32,
    pu_counters: u32,
    partition_counters: u32,
    bank_counters: u32,
    work_units: u32,
    saturated: u32,
    extensions: u32,
    entries_scanned: u32,
    candidates: u32,
    embeddings: u32,
    slots: u32,
    max_motif: u32,
    lambda_most: u32,
    uniform: u32,
    vertex_lines: u32,
    edge_lines: u32,
    vertex_sets: u32,
    edge_sets: u32,
    filter_words: u32,
    offsets: [u32; 9],
}

/// Mirrors `gramer::CoreArguments`.
#[repr(C)]
struct Arguments {
    application: u32,
    k: u32,
    flags: u32,
    result_beats: u32,
    slots: u32,
    lambda: u32,
    vertex_bound: u32,
    vertex_sets: u32,
    edge_sets: u32,
    edge_bound: u64,
    abort: u64,
    edge_base: u64,
    bank: [u64; 4],
}

type Line = [u32; 16];

unsafe extern "C" {
    fn functional_run(
        machine: *const Machine,
        arguments: *const Arguments,
        stream: *const Line,
        beats: u64,
        read: extern "C" fn(*mut c_void, u64, *mut Line),
        take: extern "C" fn(*mut c_void, *const Line, u64),
        context: *mut c_void,
    );
}

/// State of the callbacks.
struct Context<'a> {
    memory: &'a Mutex<Memory>,
    out: Vec<[u8; 64]>,
    /// The first read outside of device memory.
    outside: Option<u64>,
}

extern "C" fn read(context: *mut c_void, address: u64, line: *mut Line) {
    // SAFETY: `functional_run` passes on the context that it was given.
    let context = unsafe { &mut *context.cast::<Context<'_>>() };
    let memory = context.memory.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = memory.line(address).unwrap_or_else(|| {
        context.outside.get_or_insert(address);
        [0; 64]
    });
    let mut words: Line = [0; 16];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
    }
    // SAFETY: `functional_run` has room for a line there, which may not hold anything yet: no reference to it is made.
    unsafe { line.write(words) }
}

extern "C" fn take(context: *mut c_void, beats: *const Line, count: u64) {
    // SAFETY: as above, and `functional_run` passes an array of `count` lines.
    let (context, beats) = unsafe {
        (&mut *context.cast::<Context<'_>>(), std::slice::from_raw_parts(beats, count as usize))
    };
    context.out.extend(beats.iter().map(|line| {
        let mut bytes = [0; 64];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(line) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }));
}

impl Machine {
    fn of(a: &Accelerator) -> Self {
        let depth = a.machine.depth;
        let position = |list, name: &str| {
            layout::positions(list, depth).into_iter().find(|(n, ..)| *n == name).map_or(0, |p| p.1)
        };
        let [core, pu, partition, bank] =
            a.sections().map(|section| layout::values(section.counters, depth));
        Machine {
            processing_units: a.machine.processing_units,
            partitions: a.machine.partitions,
            banks: a.memory.ddr_banks,
            depth,
            label_bits: a.applications.label_bits,
            count_bits: a.applications.count_bits,
            core_counters: core,
            pu_counters: pu,
            partition_counters: partition,
            bank_counters: bank,
            work_units: position(&a.counters.core, "work_units"),
            saturated: position(&a.counters.core, "saturated"),
            extensions: position(&a.counters.pu, "extensions"),
            entries_scanned: position(&a.counters.pu, "entries_scanned"),
            candidates: position(&a.counters.pu, "candidates"),
            embeddings: position(&a.counters.pu, "embeddings"),
            slots: a.machine.slots,
            max_motif: a.applications.max_motif,
            lambda_most: LAMBDA_MAX * LAMBDA_STEPS,
            uniform: u32::from(a.memory.layout == Layout::Uniform),
            vertex_lines: a.scratchpad_lines().0,
            edge_lines: a.scratchpad_lines().1,
            vertex_sets: a.cache_sets().0,
            edge_sets: a.cache_sets().1,
            filter_words: a.applications.filter_words,
            offsets: [
                "application",
                "k",
                "flags",
                "slots",
                "lambda_eighths",
                "vertex_bound",
                "edge_bound",
                "vertex_sets",
                "edge_sets",
            ]
            .map(|name| a.offset(name).unwrap_or(0)),
        }
    }
}

impl Arguments {
    /// Builds the arguments from their values by name.
    fn of(value: impl Fn(&str) -> u64, banks: u32) -> Self {
        Arguments {
            application: value("application") as u32,
            k: value("k") as u32,
            flags: value("flags") as u32,
            result_beats: value("result_beats") as u32,
            slots: value("slots") as u32,
            lambda: value("lambda_eighths") as u32,
            vertex_bound: value("vertex_bound") as u32,
            vertex_sets: value("vertex_sets") as u32,
            edge_sets: value("edge_sets") as u32,
            edge_bound: value("edge_bound"),
            abort: value("abort"),
            edge_base: value("edge_base"),
            bank: std::array::from_fn(|b| {
                if (b as u32) < banks { value(&format!("bank{b}")) } else { 0 }
            }),
        }
    }
}

/// Converts beats to the words of the model.
fn words(stream: &[[u8; 64]]) -> Vec<Line> {
    let word = |beat: &[u8; 64], i: usize| {
        u32::from_le_bytes(beat[4 * i..4 * i + 4].try_into().expect("4 bytes"))
    };
    stream.iter().map(|beat| std::array::from_fn(|i| word(beat, i))).collect()
}

/// Returns the out-stream of a run with these arguments and this in-stream.
///
/// # Errors
/// If the core would read outside of device memory, or a counter has another name.
pub fn run(
    a: &Accelerator,
    value: impl Fn(&str) -> u64,
    stream: &[[u8; 64]],
    memory: &Mutex<Memory>,
) -> Result<Vec<[u8; 64]>> {
    let machine = Machine::of(a);
    let arguments = Arguments::of(value, machine.banks);
    let words = words(stream);
    let head: u64 = 1 + (0..3).map(|i| u64::from(words[0][i])).sum::<u64>();
    ensure!(head <= words.len() as u64, "the header announces more beats than come");
    let mut context = Context { memory, out: vec![], outside: None };
    // SAFETY: the structures mirror those of the model, the stream has as many beats as said, and
    // the context outlives the call.
    unsafe {
        functional_run(
            &machine,
            &arguments,
            words.as_ptr(),
            words.len() as u64,
            read,
            take,
            (&raw mut context).cast(),
        );
    }
    if let Some(address) = context.outside {
        anyhow::bail!("a read at {address:#x}, outside of device memory");
    }
    Ok(context.out)
}

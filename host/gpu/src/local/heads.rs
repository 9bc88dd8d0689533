//! Triangles counted at the head of their lowest arc (`kernels/heads.cl`).
//!
//! A number is looked up for each pair of targets of a vertex, where [`super::count`] looks up the lists of all
//! targets of a root: on the random graph of 2^20 vertices 1.2 thousand million of them for 4.3.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use gramer_graph::context::Context;
use gramer_graph::error::Result;

use super::COMMON;
use super::roots::{List, WHOLE};
use crate::device::{Arg, Device};
use crate::program::Program;
use crate::resident::Resident;
use crate::slices::Slices;

const HEADS: &str = include_str!("../../kernels/heads.cl");

/// Heads of up to so many targets, and how a work-group is shared out among them.
struct Class {
    targets: usize,
    lanes: usize,
    heads: usize,
}

/// In order of size; heads with more targets than the last one's search them in global memory.
const CLASSES: [Class; 3] = [
    Class { targets: 128, lanes: 64, heads: 2 },
    Class { targets: 512, lanes: 256, heads: 1 },
    Class { targets: 2048, lanes: 512, heads: 1 },
];
/// Lanes that share a head with more targets.
const LANES_ABOVE: usize = 512;
/// Least and most lanes that read a list together.
const TILE: (usize, usize) = (4, 32);
/// Parts of the work for each compute unit, about, and lookups that are worth one.
const PARTS_EACH: u64 = 16;
const LEAST: u64 = 8192;
/// Most parts of a head.
const MOST_PARTS: u64 = u16::MAX as u64;

/// The heads of a graph as tasks, by class.
pub(crate) struct Heads {
    lists: Vec<List>,
    /// By list: lanes that read a list of targets together.
    tiles: Vec<usize>,
}

impl Heads {
    /// The vertices with arcs from and to them; `None` where the rows of both directions would take more than a third
    /// of the memory that is left.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] where the tasks have no room.
    pub fn new(graph: &Resident) -> Result<Option<Self>> {
        let (device, by) = (&graph.device, &graph.by);
        if 12 * (by.offsets.len() + by.neighbours.len()) as u64 > device.budget.free() {
            return Ok(None);
        }
        // Lookups, and a step for each list.
        let mut work = vec![0u64; by.vertices()];
        for tail in 0..by.vertices() {
            let targets = by.targets(tail);
            for (&head, behind) in targets.iter().zip((1..=targets.len() as u64).rev()) {
                work[head as usize] += behind;
            }
        }
        let total: u64 = work.iter().sum();
        let share = (total / (PARTS_EACH * device.limits.units as u64)).max(LEAST);
        let mut tasks = vec![vec![]; CLASSES.len() + 1];
        let mut lengths = vec![(0u64, 0u64); CLASSES.len() + 1];
        for (head, &work) in work.iter().enumerate() {
            let targets = by.out_degree(head) as usize;
            if work == 0 || targets == 0 {
                continue;
            }
            let at = class_of(targets);
            let tails = u64::from(by.degree(head)) - targets as u64;
            let parts = work.div_ceil(share).min(tails).clamp(1, MOST_PARTS);
            let weight = work as f32 / parts as f32;
            lengths[at] = (lengths[at].0 + work, lengths[at].1 + tails);
            let task = |part| (weight, [head as u32, part as u32 | (parts as u32) << 16]);
            tasks[at].extend((0..parts).map(task));
        }
        debug_assert_eq!(WHOLE, 1 << 16, "a whole task is one part");
        let tiles = lengths.into_iter().map(|(work, tails)| tile(work, tails)).collect();
        let lists = tasks.into_iter().map(|tasks| List::new(device, tasks));
        Ok(Some(Heads { lists: lists.collect::<Result<_>>()?, tiles }))
    }

    /// Queues the count of the triangles into sum 0; `false` once the run was asked to stop.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Device`], [`gramer_graph::Error::Unsupported`] where the rows have no room.
    pub fn count(&self, graph: &Resident, context: &Context) -> Result<bool> {
        let (device, rows) = (&graph.device, graph.full()?);
        let total = self.lists.iter().map(|list| list.works.total()).sum();
        let mut slices = Slices::new(device, context, total);
        // The classes with the largest heads first: what comes last ends together.
        for (at, list) in self.lists.iter().enumerate().rev().filter(|l| !l.1.tasks.is_empty()) {
            let shape = shape(device, at);
            let program = program(device, at, shape, self.tiles[at])?;
            let args = |range: &Range<usize>| {
                [
                    Arg::Buffer(graph.oriented.offsets.raw()),
                    Arg::Buffer(graph.oriented.ends.raw()),
                    Arg::Buffer(rows.offsets.raw()),
                    Arg::Buffer(rows.ends.raw()),
                    Arg::Buffer(list.buffer.raw()),
                    Arg::U32(range.start as u32),
                    Arg::U32(range.len() as u32),
                    Arg::U32(graph.by.vertices() as u32),
                    Arg::U32(graph.oriented.ends.len() as u32),
                    Arg::Buffer(graph.sums.raw()),
                    Arg::Buffer(graph.fault.raw()),
                ]
            };
            let done = slices.run(&list.works, |range| {
                let groups = range.len().div_ceil(shape.1);
                device.launch(&program, "heads", &args(&range), groups, shape.0 * shape.1)
            })?;
            if !done {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn class_of(targets: usize) -> usize {
    CLASSES.iter().position(|class| targets <= class.targets).unwrap_or(CLASSES.len())
}

/// Lanes of a head, and heads of a work-group.
fn shape(device: &Device, class: usize) -> (usize, usize) {
    let (lanes, heads) = CLASSES.get(class).map_or((LANES_ABOVE, 1), |c| (c.lanes, c.heads));
    let all = device.lanes(lanes * heads);
    let heads = (all / lanes).max(1);
    (all / heads, heads)
}

/// Lanes for lists of this length: so many that most of them have something to read.
fn tile(work: u64, tails: u64) -> usize {
    ((work / tails.max(1)) as usize).next_power_of_two().clamp(TILE.0, TILE.1)
}

fn program(
    device: &Device,
    class: usize,
    (lanes, heads): (usize, usize),
    tile: usize,
) -> Result<Arc<Program>> {
    let mut defines = String::new();
    let mut line =
        |name: &str, value: usize| writeln!(defines, "#define {name} {value}").expect("text");
    line("T", lanes);
    line("R", heads);
    // A processor takes lanes one after the other.
    line("TILE", if device.limits.portable { 1 } else { tile.min(lanes) });
    let mut name = String::from("heads");
    let room = |table: usize| 4 * heads * table + 8 * lanes * heads <= device.limits.local;
    // Twice as many entries as there may be targets. A processor clears a large table longer than it searches.
    let most = if device.limits.portable { CLASSES.len() - 1 } else { CLASSES.len() };
    let table = CLASSES[..most].get(class).map(|c| 2 * c.targets).filter(|&table| room(table));
    if let Some(table) = table {
        line("HASH", table);
        line("HASH_BITS", table.ilog2() as usize);
        write!(name, " of {}", table / 2).expect("text");
    }
    device.program(&name, &[COMMON, &defines, HEADS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_and_have_tables() {
        assert!(CLASSES.is_sorted_by_key(|class| class.targets));
        for class in &CLASSES {
            assert!(class.targets.is_power_of_two() && 8 * class.targets <= 16 << 10);
        }
        assert_eq!([class_of(1), class_of(128), class_of(129), class_of(2049)], [0, 0, 1, 3]);
    }

    #[test]
    fn short_lists_have_few_lanes() {
        assert_eq!([tile(0, 0), tile(10, 10), tile(90, 10), tile(1000, 10)], [4, 4, 16, 32]);
    }
}

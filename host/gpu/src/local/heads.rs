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
use crate::device::{Arg, Device};
use crate::graph::ByDegree;
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::Resident;
use crate::slices::{Slices, Works};

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
const PARTS_EACH: u64 = 32;
const LEAST: u64 = 2048;
/// What a span costs, in lookups.
const SPAN: u64 = 16;

/// A task: a head, the first of its spans and the one behind the last; the fourth word is none.
type Task = [u32; 4];

/// The heads of a graph as tasks, by class.
pub(crate) struct Heads {
    lists: Vec<List>,
    /// What lists have behind a head, head by head: first place, and the one behind the last.
    spans: Buffer<[u32; 2]>,
}

/// Heads of a class, those with the most work first.
struct List {
    works: Works,
    buffer: Buffer<Task>,
    /// Lanes that read a span together.
    tile: usize,
}

/// Lookups of a graph, one for each pair of targets of a vertex.
fn lookups(by: &ByDegree) -> u64 {
    let pairs = |v: usize| u64::from(by.out_degree(v)) * (u64::from(by.out_degree(v)).max(1) - 1) / 2;
    (0..by.vertices()).map(pairs).sum()
}

impl Heads {
    /// The vertices with arcs from and to them; `None` where spans would take more than a third of the memory that is
    /// left.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] where the tasks have no room.
    pub fn new(graph: &Resident) -> Result<Option<Self>> {
        let (device, by) = (&graph.device, &graph.by);
        if 12 * by.neighbours.len() as u64 > device.budget.free() {
            return Ok(None);
        }
        let (ends, spans) = spans(by);
        let total = lookups(by) + SPAN * spans.len() as u64;
        let share = (total / (PARTS_EACH * device.limits.units as u64)).max(LEAST);
        let mut tasks: Vec<Vec<(u64, Task)>> = vec![vec![]; CLASSES.len() + 1];
        let mut lengths = vec![(0u64, 0u64); CLASSES.len() + 1];
        let mut begin = 0;
        for (head, &end) in ends.iter().enumerate() {
            let targets = by.out_degree(head) as usize;
            if targets > 0 && end > begin {
                let at = class_of(targets);
                // Cut where the work of a part is reached.
                let (mut from, mut work) = (begin, 0u64);
                for (next, span) in (begin + 1..).zip(&spans[begin as usize..end as usize]) {
                    let length = u64::from(span[1] - span[0]);
                    work += length + SPAN;
                    lengths[at] = (lengths[at].0 + length, lengths[at].1 + 1);
                    if work >= share || next == end {
                        tasks[at].push((work, [head as u32, from, next, 0]));
                        (from, work) = (next, 0);
                    }
                }
            }
            begin = end;
        }
        let place = device.place();
        let list = |(mut tasks, (length, spans)): (Vec<(u64, Task)>, (u64, u64))| {
            tasks.sort_by(|a, b| b.0.cmp(&a.0));
            let works = Works::new(tasks.iter().map(|task| task.0 as f64));
            let tasks: Vec<Task> = tasks.into_iter().map(|task| task.1).collect();
            Ok(List { works, buffer: Buffer::of(&place, &tasks, "tasks")?, tile: tile(length, spans) })
        };
        let lists = tasks.into_iter().zip(lengths).map(list).collect::<Result<_>>()?;
        Ok(Some(Heads { lists, spans: Buffer::of(&place, &spans, "what lists have behind heads")? }))
    }

    /// Queues the count of the triangles into sum 0; `false` once the run was asked to stop.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Device`].
    pub fn count(&self, graph: &Resident, context: &Context) -> Result<bool> {
        let device = &graph.device;
        let total = self.lists.iter().map(|list| list.works.total()).sum();
        let mut slices = Slices::new(device, context, total);
        // The classes with the largest heads first: what comes last ends together.
        for (at, list) in self.lists.iter().enumerate().rev().filter(|l| l.1.works.len() > 0) {
            let shape = shape(device, at);
            let program = program(device, at, shape, list.tile)?;
            let args = |range: &Range<usize>| {
                [
                    Arg::Buffer(graph.oriented.offsets.raw()),
                    Arg::Buffer(graph.oriented.ends.raw()),
                    Arg::Buffer(list.buffer.raw()),
                    Arg::Buffer(self.spans.raw()),
                    Arg::U32(range.start as u32),
                    Arg::U32(range.len() as u32),
                    Arg::U32(graph.by.vertices() as u32),
                    Arg::U32(graph.oriented.ends.len() as u32),
                    Arg::U32(self.spans.len() as u32),
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

/// What lists have behind each head, by head, and where those of a head end. Empty ones are left out, and those of
/// vertices without a target.
fn spans(by: &ByDegree) -> (Vec<u32>, Vec<[u32; 2]>) {
    let vertices = by.vertices();
    // A list's last target has nothing behind it.
    let inner = |v: usize| by.targets(v).split_last().map_or(&[][..], |(_, inner)| inner);
    let wanted = |head: u32| by.out_degree(head as usize) > 0;
    let mut next = vec![0u32; vertices + 1];
    for tail in 0..vertices {
        inner(tail).iter().filter(|&&head| wanted(head)).for_each(|&head| next[head as usize + 1] += 1);
    }
    (0..vertices).for_each(|v| next[v + 1] += next[v]);
    let mut spans = vec![[0; 2]; next[vertices] as usize];
    let mut begin = 0;
    for tail in 0..vertices {
        let end = begin + by.out_degree(tail);
        for (&head, place) in inner(tail).iter().zip(begin + 1..).filter(|arc| wanted(*arc.0)) {
            let at = &mut next[head as usize];
            spans[*at as usize] = [place, end];
            *at += 1;
        }
        begin = end;
    }
    // Each has moved to where the next one's begin.
    next.truncate(vertices);
    (next, spans)
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

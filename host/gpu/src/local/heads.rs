//! Triangles counted at the head of their lowest arc (`kernels/heads.cl`).
//!
//! A number is looked up for each pair of targets of a vertex, where [`super::count`] looks up the lists of all
//! targets of a root: on the random graph of 2^20 vertices 1.2 thousand million of them for 4.3.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use gramer_base::context::Context;
use gramer_base::error::Result;

use super::COMMON;
use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::Resident;
use crate::slices::{PrefixWork, Slices};

const HEADS: &str = include_str!("../../kernels/heads.cl");

/// Heads of up to this many targets, and how a work-group is shared out among them.
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
/// Bits of the bitmap that rejects numbers: of the random graph of 2^20 vertices the last 32,768 are all but a few of those
/// that are looked up.
const RESIDUES: usize = 1 << 15;
/// Lanes that share a head with more targets.
const LANES_ABOVE: usize = 512;
/// Minimum and maximum of lanes that read a list together.
const TILE: (usize, usize) = (4, 16);
/// Parts of the work for each compute unit, about, and the work of one at least: in sixteen lookups.
const PARTS_EACH: u64 = 32;
const LEAST: u64 = 128;
/// Lookups that work is counted in.
const SIXTEEN: u64 = 16;
/// Lanes that read a list of targets for its spans, and those of a work-group.
const SPAN_LANES: usize = 8;
const GROUP: usize = 128;

/// A task: a head, the first of its spans and the one behind the last; the fourth word is unused.
type Task = [u32; 4];

/// The heads of a graph as tasks, by class.
pub(crate) struct Heads {
    lists: Vec<List>,
    /// What lists have behind a head, head by head: first place, and the one behind the last.
    spans: Buffer<[u32; 2]>,
}

/// Heads of a class, those with the most work first.
struct List {
    works: PrefixWork,
    buffer: Buffer<Task>,
    /// Lanes that read a span together.
    tile: usize,
}

impl Heads {
    /// The vertices with arcs from and to them; `None` where spans would take more than an eighth of the memory that is
    /// left.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] where the tasks have no room.
    pub fn new(graph: &Resident) -> Result<Option<Self>> {
        let (device, by) = (&graph.device, &graph.by);
        // They stay with the graph: other tasks need room as well.
        if 32 * by.neighbours.len() as u64 > device.budget.free() {
            return Ok(None);
        }
        let tails = |head: usize| match by.out_degree(head) {
            0 => 0,
            targets => by.degree(head) - targets,
        };
        let mut begins = Vec::with_capacity(by.vertices() + 1);
        let mut begin = 0;
        for head in 0..by.vertices() {
            begins.push(begin);
            begin += tails(head);
        }
        begins.push(begin);
        let (spans, work) = written(graph, &begins)?;
        let total: u64 = work.iter().map(|&work| u64::from(work)).sum();
        let share = (total / (PARTS_EACH * device.limits.units as u64)).max(LEAST);
        let mut tasks: Vec<Vec<(u32, Task)>> = vec![vec![]; CLASSES.len() + 1];
        let mut lengths = vec![(0u64, 0u64); CLASSES.len() + 1];
        for (head, &work) in work.iter().enumerate().filter(|head| *head.1 > 0) {
            let at = class_of(by.out_degree(head) as usize);
            let (first, all) = (u64::from(begins[head]), u64::from(tails(head)));
            lengths[at] = (lengths[at].0 + u64::from(work), lengths[at].1 + all);
            let parts = u64::from(work).div_ceil(share).min(all);
            let place = |part: u64| (first + all * part / parts) as u32;
            let task = |part| (work / parts as u32, [head as u32, place(part), place(part + 1), 0]);
            tasks[at].extend((0..parts).map(task));
        }
        let place = device.place();
        let list = |(mut tasks, (work, spans)): (Vec<(u32, Task)>, (u64, u64))| {
            tasks.sort_by_key(|task| std::cmp::Reverse(task.0));
            let works = PrefixWork::new(
                tasks.iter().map(|task| SIXTEEN as f64 * (f64::from(task.0) + 1.0)),
            );
            let tasks: Vec<Task> = tasks.into_iter().map(|task| task.1).collect();
            Ok(List {
                works,
                buffer: Buffer::of(&place, &tasks, "tasks")?,
                tile: tile(work, spans),
            })
        };
        let lists = tasks.into_iter().zip(lengths).map(list).collect::<Result<_>>()?;
        Ok(Some(Heads { lists, spans }))
    }

    /// Queues the count of the triangles into sum 0; `false` once the run was cancelled.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
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
                    Arg::Buffer(graph.fault().raw()),
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

/// What lists have behind each head, whose spans begin at these places, and what they are for each head in sixteen
/// lookups.
fn written(graph: &Resident, begins: &[u32]) -> Result<(Buffer<[u32; 2]>, Vec<u32>)> {
    let (device, place) = (&graph.device, graph.device.place());
    let (vertices, all) = (begins.len() - 1, begins[begins.len() - 1]);
    let lanes = if device.limits.portable { 1 } else { SPAN_LANES };
    let defines = format!("#define SPANS {lanes}\n#define SIXTEEN {SIXTEEN}\n");
    let program = device.program("spans of heads", &[COMMON, &defines, HEADS])?;
    let spans = Buffer::new(&place, all as usize, "what lists have behind heads")?;
    let next = Buffer::of(&place, begins, "places of spans")?;
    let sums = Buffer::<u32>::new(&place, vertices, "the work of heads")?;
    sums.zero(&device.queue)?;
    let args = [
        Arg::Buffer(graph.oriented.offsets.raw()),
        Arg::Buffer(graph.oriented.ends.raw()),
        Arg::Buffer(next.raw()),
        Arg::Buffer(sums.raw()),
        Arg::Buffer(spans.raw()),
        Arg::U32(vertices as u32),
        Arg::U32(graph.oriented.ends.len() as u32),
        Arg::U32(all),
        Arg::Buffer(graph.fault().raw()),
    ];
    let group = device.lanes(GROUP);
    device.launch(&program, "head_spans", &args, (lanes * vertices).div_ceil(group), group)?;
    let mut work = vec![0; vertices];
    sums.read(&device.queue, &mut work)?;
    Ok((spans, work))
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

/// Lanes for this many spans of this much work, such that most of them have something to read.
fn tile(work: u64, spans: u64) -> usize {
    // A span is one itself.
    let lookups = SIXTEEN * work.saturating_sub(spans) / spans.max(1);
    (lookups as usize).next_power_of_two().clamp(TILE.0, TILE.1)
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
    let mut residues = "";
    let room = |table: usize| heads * (4 * table + RESIDUES / 8 + 8 * lanes) <= device.limits.local;
    // Twice as many entries as there may be targets. A processor clears a large table longer than it searches.
    let most = if device.limits.portable { CLASSES.len() - 1 } else { CLASSES.len() };
    let table = CLASSES[..most].get(class).map(|c| 2 * c.targets).filter(|&table| room(table));
    if let Some(table) = table {
        line("HASH", table);
        line("HASH_BITS", table.ilog2() as usize);
        line("RESIDUES", RESIDUES);
        residues = super::RESIDUES;
        write!(name, " of {}", table / 2).expect("text");
    }
    device.program(&name, &[COMMON, &defines, residues, HEADS])
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
        assert_eq!([tile(0, 0), tile(10, 10), tile(14, 10), tile(1000, 10)], [4, 4, 8, 16]);
    }
}

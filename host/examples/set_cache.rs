//! Lines that a cluster of the set core reads from its bank for a graph beyond its memory: by segments, as it is built, and by the
//! cache that it was designed with (`docs/decisions/segments.md`).
//!
//! `set_cache MACHINE FILE…` prints for each graph and task the lines of the whole image, those of a cluster's segments, and
//! those that a cluster with a pad and a cache would read: the first lines of the image stay on chip, the others
//! go through a cache of 16 ways that drops what was used least recently; all are means over the clusters. Of each
//! of them two orders of the roots: that of segments, where each cluster has those that are near each other, and the
//! heaviest first, dealt in turn. The lists are those that the core reads; eight PUs take a line each in turn.

#[path = "common/rows.rs"]
mod rows;

use anyhow::Result;
use gramer::Graph;
use gramer::accelerator::set::image::{Lists, SetImage, Words, lines_of};
use gramer::accelerator::set::segments::{Segments, near};
use gramer::accelerator::set::units::{Operation, roots_of};
use gramer::engine::Units;
use gramer::graph::{VertexId, View};
use gramer_machine::Accelerator;
use gramer_machine::set::LINE_QUARTERS;

const WAYS: usize = 16;
/// Lines of a MiB.
const MIB: u32 = 1 << 14;

/// Sets of lines, the one that was used last first.
struct Cache {
    sets: Vec<Vec<u32>>,
    pad: u32,
    misses: u64,
}

impl Cache {
    fn new(pad: u32, lines: u32) -> Self {
        Cache { sets: vec![vec![]; (lines as usize / WAYS).max(1)], pad, misses: 0 }
    }

    fn read(&mut self, line: u32) {
        if line < self.pad {
            return;
        }
        let at = line as usize % self.sets.len();
        let set = &mut self.sets[at];
        match set.iter().position(|&held| held == line) {
            Some(place) => set[..=place].rotate_right(1),
            None => {
                self.misses += 1;
                set.truncate(WAYS - 1);
                set.insert(0, line);
            }
        }
    }
}

/// The first line of a list, and its lines.
type Span = (u32, u32);

/// The lines of a root's lists, in the order in which a PU streams them.
fn lists(view: View<'_>, image: &SetImage, operation: Operation, root: VertexId) -> Vec<Span> {
    let row = view.neighbours(root);
    let before = row.partition_point(|&u| u < root);
    let span = |v: VertexId| {
        let block = image.block(v);
        let quarters = match operation {
            Operation::Cliques { .. } => block.up,
            _ => block.all,
        };
        (block.address / LINE_QUARTERS, lines_of(block.address, quarters))
    };
    let members = match operation {
        // The first one has no member before it.
        Operation::Cliques { .. } => row[..before].get(1..).unwrap_or_default(),
        _ => &row[before..],
    };
    std::iter::once(root).chain(members.iter().copied()).map(span).filter(|(_, n)| *n > 0).collect()
}

/// Lines that a cluster reads with so much of its memory for the first lines and for a cache: the pad once, and
/// misses.
fn moved(
    machine: &Accelerator,
    (view, image, operation): (View<'_>, &SetImage, Operation),
    roots: &[VertexId],
    (pad, lines): (u32, u32),
) -> u64 {
    let mut cache = Cache::new(pad.min(image.lines()), lines);
    let mut left = roots.iter().map(|&root| lists(view, image, operation, root));
    // Of each PU the lists of its root, and where it is in them.
    let mut at = vec![(Vec::<Span>::new(), 0, 0); machine.machine.processing_units as usize];
    let mut busy = true;
    while busy {
        busy = false;
        for (own, list, line) in &mut at {
            if *list == own.len() {
                let Some(next) = left.next() else { continue };
                (*own, *list, *line) = (next, 0, 0);
            }
            busy = true;
            let Some(&(first, lines)) = own.get(*list) else { continue };
            cache.read(first + *line);
            *line += 1;
            if *line == lines {
                (*list, *line) = (*list + 1, 0);
            }
        }
    }
    u64::from(cache.pad) + cache.misses
}

fn row(machine: &Accelerator, name: &str, graph: &Graph, operation: Operation) -> Result<()> {
    let (what, kept) = match operation {
        Operation::Cliques { k } => (format!("{k}-cliques"), Lists::Up),
        _ => ("paths".to_string(), Lists::Both),
    };
    let view = graph.view();
    let image = SetImage::new(view, kept, 2)?;
    let clusters = machine.kernels.compute_units as usize;
    let mut loaded = 0;
    for mut segments in Segments::parts(machine, view, operation, Units::All, clusters) {
        while let Some(segment) = segments.next()? {
            loaded += u64::from(segment.image.lines());
        }
    }
    let loaded = loaded / clusters as u64;
    let mut place = vec![0; view.vertices()];
    (0u32..).zip(near(view)).for_each(|(at, v)| place[v as usize] = at);
    let mut roots: Vec<VertexId> = roots_of(view, operation, Units::All).map(|(v, _)| v).collect();
    let work =
        |v| lists(view, &image, operation, v).iter().map(|(_, n)| u64::from(*n)).sum::<u64>();
    roots.sort_by_cached_key(|&v| (std::cmp::Reverse(work(v)), place[v as usize]));
    let by_work: Vec<Vec<VertexId>> =
        (0..clusters).map(|at| roots[at..].iter().copied().step_by(clusters).collect()).collect();
    roots.sort_by_key(|&v| place[v as usize]);
    let (all, mut done) = (roots.iter().map(|&v| work(v)).sum::<u64>(), 0);
    let mut by_near = vec![vec![]; clusters];
    for root in roots {
        by_near[(done * clusters as u64 / all) as usize].push(root);
        done += work(root);
    }
    let of = (view, &image, operation);
    let mean = |dealt: &[Vec<VertexId>], sizes| {
        dealt.iter().map(|roots| moved(machine, of, roots, sizes)).sum::<u64>() / clusters as u64
    };
    let cells: Vec<String> = [(3 * MIB, MIB), (0, 4 * MIB), (4 * MIB, MIB)]
        .into_iter()
        .flat_map(|sizes| [&by_near, &by_work].map(|dealt| mean(dealt, sizes)))
        .map(|lines| lines.to_string())
        .collect();
    println!("{name}\t{what}\t{}\t{loaded}\t{}", image.lines(), cells.join("\t"));
    Ok(())
}

fn main() -> Result<()> {
    rows::each(
        "graph\ttask\twhole image\tsegments\t3 + 1 MiB, near\tby work\t0 + 4 MiB, near\tby work\t4 + 1 MiB, \
         near\tby work",
        row,
    )
}

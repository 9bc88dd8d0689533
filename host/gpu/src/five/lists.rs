//! Lists of common neighbours.

use gramer_base::error::{Error, Result};

use super::orders::{ArcOrder, ArcRows, Orders};
use super::{FiveRun, GROUP, Tasks, most_groups};
use crate::device::{Arg, Device};
use crate::lanes::LANES;
use crate::memory::Buffer;
use crate::resident::Resident;

/// Lists of common neighbours, and the tasks that read them.
pub(super) struct Lists<'a> {
    /// By arc: its lower end, its triangles, and the start of its list.
    pub sources: Buffer<u32>,
    pub places: Buffer<u32>,
    pub lists: Buffer<u32>,
    pub words: u32,
    /// Positions of the common neighbours among the neighbours of lower ends and of upper ends, two in a word; of one entry
    /// without room.
    pub positions: [Buffer<u32>; 2],
    pub arcs: Tasks<'a>,
    /// Number of arcs at the front that get a large work-group each.
    pub heavy: usize,
    /// Largest degree whose counters fit into local memory; 0 without positions.
    pub local: u32,
}

/// Triangles of each arc, and the size of their lists.
pub(super) struct Triangles {
    /// By arc.
    pub by_arc: Vec<u32>,
    /// Sum of `by_arc`: words of the lists.
    words: u32,
    /// Largest degree whose counters fit into local memory; 0 without room for positions.
    local: u32,
}

impl Triangles {
    /// Reads the triangles of each arc.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where their lists have no room, [`Error::Device`].
    pub fn read(graph: &Resident, edges: &Buffer<u32>) -> Result<Self> {
        let (device, by) = (&graph.device, &graph.by);
        let arcs = graph.oriented.ends.len();
        let mut triangles = vec![0u32; arcs];
        edges.read(&device.queue, &mut triangles)?;
        // A graph without arcs has room for one.
        triangles.truncate(by.neighbours.len() / 2);
        let free = device.budget.free();
        let words = room(&triangles, free).ok_or_else(|| {
            let words: u64 = triangles.iter().map(|&t| u64::from(t)).sum();
            Error::Unsupported(format!(
                "the GPU has no room for the lists of common neighbours that motifs of five vertices by \
                 formula take: {} bytes, of which half of the {free} that are free may be used; give the setting `memory` more, or \
                 leave out the setting `strategy`",
                4 * words,
            ))
        })?;
        Ok(Triangles { by_arc: triangles, words, local: local_degree(device, words, free) })
    }

    /// Bytes of the lists, their positions, and three words for each arc.
    pub fn bytes(&self) -> u64 {
        let lists = 4 * u64::from(self.words) * if self.local > 0 { 2 } else { 1 };
        lists + 12 * self.by_arc.len() as u64
    }

    /// Number of triangles of the graph.
    pub fn of_graph(&self) -> u128 {
        u128::from(self.words) / 3
    }
}

/// The lists' room: the words that they take, or `None` where they don't fit into half of what is free.
fn room(triangles: &[u32], free: u64) -> Option<u32> {
    let words: u64 = triangles.iter().map(|&t| u64::from(t)).sum();
    u32::try_from(words).ok().filter(|_| 4 * words <= free / 2)
}

impl FiveRun<'_> {
    /// Lists the common neighbours of the ends of each arc.
    pub(super) fn lists<'b>(&self, orders: &'b Orders) -> Result<Option<Lists<'b>>> {
        let (device, by) = (self.device(), &self.graph.by);
        let Triangles { words, local, .. } = self.triangles;
        let (ArcRows { sources, places }, ArcOrder { order, heavy }) =
            (orders.rows(), orders.arcs());
        let arcs = Tasks::new(device, order)?;
        // The copies queue: the kernels in flight do not use these buffers.
        let place = device.place_beside()?;
        let position = || {
            let entries = if local > 0 { words } else { 1 };
            Buffer::new(&place, entries.div_ceil(2) as usize, "positions of common neighbours")
        };
        let lists = Lists {
            positions: [position()?, position()?],
            local,
            sources: Buffer::of(&place, sources, "the arcs' sources")?,
            places: Buffer::of(&place, places, "places of lists")?,
            lists: Buffer::new(&place, words as usize, "common neighbours")?,
            words,
            arcs,
            heavy: *heavy,
        };
        let full = self.graph.full()?;
        let oriented = &self.graph.oriented;
        let [vertices, _] = self.graph.sizes();
        let done = self.launch(
            "five_lists",
            lists.arcs.all(4 * most_groups(device), LANES),
            |tasks, part| {
                let mut args: Vec<Arg> =
                    [&full.offsets, &full.ends, &lists.sources, &oriented.ends]
                        .into_iter()
                        .chain([self.edges, &lists.places, tasks])
                        .map(|buffer| Arg::Buffer(buffer.raw()))
                        .collect();
                args.extend(part);
                args.extend([vertices, Arg::U32(by.neighbours.len() as u32), Arg::U32(words)]);
                args.push(Arg::Buffer(lists.lists.raw()));
                args.extend(lists.positions.each_ref().map(|b| Arg::Buffer(b.raw())));
                args.extend([Arg::U32(lists.local), Arg::Buffer(self.graph.fault().raw())]);
                args
            },
        )?;
        if !done {
            // What kernels use stays until they have ended.
            device.finish()?;
        }
        Ok(done.then_some(lists))
    }
}

/// Largest degree whose counters of [`FiveRun::wheels`] fit into local memory; 0 if the positions have no room beside lists of
/// `words` words.
fn local_degree(device: &Device, words: u32, free: u64) -> u32 {
    let sums = 2 * 8 * device.lanes(GROUP);
    let counters = device.limits.local.saturating_sub(sums + 256) / 2;
    // Lists and positions together take no more than the lists alone may.
    if 8 * u64::from(words) <= free / 2 { counters.min(usize::from(u16::MAX)) as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_take_half_of_what_is_free() {
        assert_eq!(room(&[3, 0, 5], 64), Some(8));
        assert_eq!(room(&[3, 0, 5], 63), None);
        // Places are words of 32 bits.
        assert_eq!(room(&[u32::MAX, 1], u64::MAX), None);
    }
}

//! Lists of common neighbours, and tasks.

use gramer_base::error::{Error, Result};

use super::{FiveRun, GROUP};
use crate::device::{Arg, Device};
use crate::lanes::LANES;
use crate::memory::Buffer;
use crate::slices::PrefixWork;

/// Lists of common neighbours, and what tasks are.
pub(super) struct Lists {
    /// By arc: its lower end, its triangles, and the start of its list.
    pub sources: Buffer<u32>,
    pub places: Buffer<u32>,
    pub lists: Buffer<u32>,
    pub words: u32,
    /// Positions of the common neighbours among the neighbours of lower ends and of upper ends, two in a word; of one entry
    /// without room.
    pub positions: [Buffer<u32>; 2],
    /// Arcs in triangles, by falling number of them.
    pub arcs: Tasks,
    /// Largest degree whose counters fit into local memory; 0 without positions.
    pub local: u32,
    /// Number by arc.
    pub numbers: Vec<u32>,
    pub triangles: u128,
}

/// The triangles of each arc, and what their lists take.
pub(super) struct Numbers {
    /// By arc.
    triangles: Vec<u32>,
    /// Sum of `triangles`: words of the lists.
    words: u32,
    /// Largest degree whose counters fit into local memory; 0 without room for positions.
    local: u32,
}

impl Numbers {
    /// Bytes of the lists, their positions, and what is kept by arc.
    pub fn bytes(&self) -> u64 {
        let lists = 4 * u64::from(self.words) * if self.local > 0 { 2 } else { 1 };
        lists + 12 * self.triangles.len() as u64
    }
}

/// Tasks by falling work.
pub(super) struct Tasks {
    pub buffer: Buffer<u32>,
    pub works: PrefixWork,
}

impl Tasks {
    pub fn new(device: &Device, mut tasks: Vec<(f64, u32)>) -> Result<Self> {
        tasks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ids: Vec<u32> = tasks.iter().map(|task| task.1).collect();
        Tasks::sorted(device, &ids, tasks.into_iter().map(|task| task.0))
    }

    /// Creates slices from sorted tasks.
    pub fn sorted(device: &Device, ids: &[u32], works: impl Iterator<Item = f64>) -> Result<Self> {
        let works = PrefixWork::new(works.map(|work| work + 1.0));
        // Kernels before them are still running.
        Ok(Tasks { buffer: Buffer::of(&device.place_beside()?, ids, "tasks")?, works })
    }
}

/// Positions of non-zero numbers, largest first, ties by position. (Numbers of triangles are small: to
/// compare arcs took longer than a GPU needs to count.)
fn falling(numbers: &[u32]) -> Vec<u32> {
    let most = numbers.iter().max().map_or(0, |&most| most as usize);
    let mut next = vec![0usize; most + 1];
    numbers.iter().for_each(|&n| next[n as usize] += 1);
    next[0] = 0;
    let mut all = 0;
    for here in next.iter_mut().rev() {
        all += std::mem::replace(here, all);
    }
    let mut places = vec![0; all];
    for (&n, place) in numbers.iter().zip(0..).filter(|(n, _)| **n != 0) {
        places[next[n as usize]] = place;
        next[n as usize] += 1;
    }
    places
}

/// The lists' room: the words that they take, or `None` where they don't fit into half of what is free.
fn room(triangles: &[u32], free: u64) -> Option<u32> {
    let words: u64 = triangles.iter().map(|&t| u64::from(t)).sum();
    u32::try_from(words).ok().filter(|_| 4 * words <= free / 2)
}

impl FiveRun<'_> {
    /// Reads the triangles of each arc.
    pub(super) fn numbers(&self) -> Result<Numbers> {
        let (device, by) = (self.device(), &self.graph.by);
        let arcs = self.graph.oriented.ends.len();
        let mut triangles = vec![0u32; arcs];
        self.edges.read(&device.queue, &mut triangles)?;
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
        Ok(Numbers { triangles, words, local: self.local_degree(words, free) })
    }

    /// Lists the common neighbours of the ends of each arc.
    pub(super) fn lists(&self, numbers: Numbers) -> Result<Option<Lists>> {
        let (device, by) = (self.device(), &self.graph.by);
        let Numbers { triangles, words, local } = numbers;
        let places: Vec<u32> = triangles
            .iter()
            .scan(0u32, |next, &t| {
                *next += t;
                Some(*next - t)
            })
            .collect();
        let sources: Vec<u32> = (0..by.vertices() as u32)
            .flat_map(|v| std::iter::repeat_n(v, by.out_degree(v as usize) as usize))
            .collect();
        let falling = falling(&triangles);
        let works = falling.iter().map(|&arc| f64::from(triangles[arc as usize]).powi(2));
        let arcs = Tasks::sorted(device, &falling, works)?;
        // Kernels are running that need none of this.
        let place = device.place_beside()?;
        let position = || {
            let entries = if local > 0 { words } else { 1 };
            Buffer::new(&place, entries.div_ceil(2) as usize, "positions of common neighbours")
        };
        let lists = Lists {
            positions: [position()?, position()?],
            local,
            sources: Buffer::of(&place, &sources, "the arcs' sources")?,
            places: Buffer::of(&place, &places, "places of lists")?,
            lists: Buffer::new(&place, words as usize, "common neighbours")?,
            words,
            arcs,
            numbers: triangles,
            triangles: u128::from(words) / 3,
        };
        let full = self.graph.full()?;
        let oriented = &self.graph.oriented;
        let [vertices, _] = self.graph.sizes();
        let done = self.launch(
            "five_lists",
            (&lists.arcs, 4 * self.most_groups(), LANES),
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

    /// Largest degree whose counters of [`FiveRun::wheels`] fit into local memory, if the positions have room beside lists of
    /// so many words; else 0.
    fn local_degree(&self, words: u32, free: u64) -> u32 {
        let device = self.device();
        let sums = 2 * 8 * device.lanes(GROUP);
        let counters = device.limits.local.saturating_sub(sums + 256) / 2;
        // Lists and positions together take no more than the lists alone may.
        if 8 * u64::from(words) <= free / 2 {
            counters.min(usize::from(u16::MAX)) as u32
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_come_by_falling_numbers_of_triangles() {
        assert_eq!(falling(&[0, 3, 1, 0, 3, 7, 1]), [5, 1, 4, 2, 6]);
        assert!(falling(&[0, 0]).is_empty() && falling(&[]).is_empty());
    }

    #[test]
    fn lists_take_half_of_what_is_free() {
        assert_eq!(room(&[3, 0, 5], 64), Some(8));
        assert_eq!(room(&[3, 0, 5], 63), None);
        // Places are words of 32 bits.
        assert_eq!(room(&[u32::MAX, 1], u64::MAX), None);
    }
}

//! Task orders and per-arc arrays for the kernels of [`super`]. They need no device, so that host threads can make
//! them while kernels run.

use std::sync::OnceLock;

use gramer_base::error::Result;
use gramer_base::parallel::beside;

use crate::device::Device;
use crate::graph::ByDegree;
use crate::memory::Buffer;
use crate::slices::PrefixWork;

/// Work of a part of a root in that of the tallies that each part makes anew, and parts of all roots for each work-group.
const EDGES_TO_TALLY: f64 = 4.0;
const PARTS: f64 = 4.0;

/// Largest number of triangles of an arc for a small work-group. With 64 or 128 an H200 takes up to 3 % longer.
const FEW_TRIANGLES: u32 = 256;

/// Tasks by falling work.
pub(super) struct Order {
    /// A word or more for each task.
    words: Vec<u32>,
    pub works: PrefixWork,
}

impl Order {
    /// Of tasks with their works, ties by number.
    fn new(mut tasks: Vec<(f64, u32)>) -> Self {
        tasks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let words = tasks.iter().map(|task| task.1).collect();
        Order::sorted(words, tasks.into_iter().map(|task| task.0))
    }

    /// Of sorted tasks.
    fn sorted(words: Vec<u32>, works: impl Iterator<Item = f64>) -> Self {
        Order { words, works: PrefixWork::new(works.map(|work| work + 1.0)) }
    }

    /// Copies the tasks to the device without waiting for kernels in flight.
    pub fn copy(&self, device: &Device) -> Result<Buffer<u32>> {
        Buffer::of(&device.place_beside()?, &self.words, "tasks")
    }
}

/// Order of the vertices, from the graph alone.
pub(super) struct RootOrder {
    /// Steps to the ends of the paths of two edges from each vertex.
    wedges: Vec<f64>,
    /// Vertices of two neighbours and more, by falling number of these steps.
    pub order: Order,
}

impl RootOrder {
    pub fn new(by: &ByDegree) -> Self {
        let row = |v: usize| &by.neighbours[by.offsets[v] as usize..by.offsets[v + 1] as usize];
        let steps = |v: usize| row(v).iter().map(|&u| f64::from(by.degree(u as usize))).sum();
        let wedges: Vec<f64> = (0..by.vertices()).map(steps).collect();
        let roots = (0..by.vertices()).filter(|&v| by.degree(v) > 1);
        let order = Order::new(roots.map(|v| (wedges[v], v as u32)).collect());
        RootOrder { wedges, order }
    }
}

/// Lower end of each arc, and start of its list.
pub(super) struct ArcRows {
    pub sources: Vec<u32>,
    pub places: Vec<u32>,
}

/// Arcs in triangles, by falling number of them.
pub(super) struct ArcOrder {
    pub order: Order,
    /// Number of arcs with more than [`FEW_TRIANGLES`] triangles; they come first.
    pub heavy: usize,
}

/// Orders that depend on the triangles of each arc. Each is made on first use.
pub(super) struct Orders<'a> {
    by: &'a ByDegree,
    pub roots: &'a RootOrder,
    triangles: &'a [u32],
    /// Work-groups that share the edges among common neighbours.
    groups: usize,
    rows: OnceLock<ArcRows>,
    arcs: OnceLock<ArcOrder>,
    edges: OnceLock<Order>,
    cycles: OnceLock<Order>,
}

impl<'a> Orders<'a> {
    pub fn new(
        by: &'a ByDegree,
        roots: &'a RootOrder,
        triangles: &'a [u32],
        groups: usize,
    ) -> Self {
        let (rows, arcs, edges, cycles) = Default::default();
        Orders { by, roots, triangles, groups, rows, arcs, edges, cycles }
    }

    /// Makes all orders on two threads, the ones used first at the front.
    pub fn make(&self, threads: usize) {
        let others = || {
            self.rows();
            self.edges();
            self.cycles();
        };
        beside(threads, others, || _ = self.arcs());
    }

    pub fn rows(&self) -> &ArcRows {
        self.rows.get_or_init(|| {
            let (by, triangles) = (self.by, self.triangles);
            let mut sources = Vec::with_capacity(triangles.len());
            for v in 0..by.vertices() {
                sources.extend(std::iter::repeat_n(v as u32, by.out_degree(v) as usize));
            }
            let place = |next: &mut u32, &t: &u32| {
                *next += t;
                Some(*next - t)
            };
            let mut places = Vec::with_capacity(triangles.len());
            places.extend(triangles.iter().scan(0, place));
            ArcRows { sources, places }
        })
    }

    pub fn arcs(&self) -> &ArcOrder {
        self.arcs.get_or_init(|| {
            let of = |&arc: &u32| self.triangles[arc as usize];
            let words = falling(self.triangles);
            let heavy = words.partition_point(|arc| of(arc) > FEW_TRIANGLES);
            let works = PrefixWork::new(words.iter().map(|arc| f64::from(of(arc)).powi(2) + 1.0));
            ArcOrder { order: Order { words, works }, heavy }
        })
    }

    /// Parts of vertices (vertex, part | parts << 16) for the edges among the common neighbours of pairs.
    pub fn edges(&self) -> &Order {
        self.edges.get_or_init(|| {
            let by = self.by;
            // Lists are as long as those at the root, which are read half on average, and the edges have two ends.
            let mut works = vec![0.0; by.vertices()];
            let arcs = (0..by.vertices()).flat_map(|v| {
                let above = by.split[v] as usize..by.offsets[v + 1] as usize;
                by.neighbours[above].iter().map(move |&u| (v, u as usize))
            });
            for ((v, u), &triangles) in arcs.zip(self.triangles) {
                let work = f64::from(triangles).powi(2) / 4.0;
                works[v] += work;
                works[u] += work;
            }
            let tasks = parts(&works, &self.roots.wedges, self.groups);
            let words = tasks.iter().flat_map(|task| task.1).collect();
            Order::sorted(words, tasks.iter().map(|task| task.0))
        })
    }

    /// Vertices with a neighbour below them, for the pairs of paths from them.
    pub fn cycles(&self) -> &Order {
        self.cycles.get_or_init(|| {
            let by = self.by;
            let below = |v: usize| &by.neighbours[by.offsets[v] as usize..by.split[v] as usize];
            let edges: Vec<f64> = (0..by.vertices())
                .scan(0.0, |sum, v| {
                    *sum += below(v).len() as f64;
                    Some(*sum)
                })
                .collect();
            let mean = by.neighbours.len() as f64 / by.vertices().max(1) as f64;
            let weight = |v: usize| {
                let paths: f64 = below(v).iter().map(|&b| f64::from(by.degree(b as usize))).sum();
                paths + (paths * mean).min(edges[v])
            };
            // With one neighbour below, all pairs meet there, and the sum of these has them.
            let roots = (0..by.vertices()).filter(|&v| !below(v).is_empty());
            Order::new(roots.map(|v| (weight(v), v as u32)).collect())
        })
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

/// Parts of roots by falling work: vertex, part | parts << 16. Roots without `works` have none.
fn parts(works: &[f64], wedges: &[f64], groups: usize) -> Vec<(f64, [u32; 2])> {
    let least = works.iter().sum::<f64>() / (PARTS * groups as f64);
    let mut tasks = vec![];
    for (v, (&work, &tally)) in works.iter().zip(wedges).enumerate() {
        let parts = (work / (EDGES_TO_TALLY * tally).max(least).max(1.0)).ceil() as u32;
        let parts = parts.min(u32::from(u16::MAX));
        let own = |part| (tally + work / f64::from(parts), [v as u32, part | parts << 16]);
        tasks.extend((0..parts).map(own));
    }
    tasks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    tasks
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
    fn heavy_roots_have_parts() {
        // Without triangles, light, and heavy with a small and with a large tally.
        let tasks = parts(&[0.0, 8.0, 800.0, 800.0], &[5.0, 1.0, 10.0, 100.0], 2);
        let of = |v| tasks.iter().filter(move |(_, [root, _])| *root == v).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(|v| of(v).len()), [0, 1, 4, 2]);
        assert!(tasks.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        let shares: Vec<u32> = of(2).iter().map(|(_, [_, share])| *share).collect();
        assert_eq!(shares, [4 << 16, 1 | 4 << 16, 2 | 4 << 16, 3 | 4 << 16]);
    }
}

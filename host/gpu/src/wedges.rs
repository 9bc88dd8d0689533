//! Minimum-image supports of edges and of paths of two edges, for all labels at once (`kernels/wedges.cl`).
//!
//! Which vertices are images follows from the labels around each vertex and around its neighbours, so that there is
//! no candidate to make, to look for or to keep domains of: of 29 labels there are 12,615 paths.

use std::cmp::Ordering;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::parallel::on_threads;
use gramer_engine::Count;
use gramer_engine::frequent::candidates::{LabelKinds, part};
use gramer_graph::Label;
use gramer_pattern::Pattern;

use crate::by_label::ByLabel;
use crate::device::{Arg, Device};
use crate::memory::Buffer;

const COMMON: &str = include_str!("../kernels/common.clh");
const WEDGES: &str = include_str!("../kernels/wedges.cl");

/// Lanes of a work-group.
const LANES: usize = 64;
/// Maximum number of labels: bits of a word.
const KINDS: usize = 64;
/// Work-groups for each compute unit, about.
const GROUPS: usize = 16;

/// The supports of all edges and paths of two edges.
pub(crate) struct Supports<'a> {
    labelled: LabelKinds,
    labels: &'a [Label],
    counts: Vec<u32>,
}

/// Whether a graph's supports can be counted so: without labels of edges, and with few enough of vertices.
pub(crate) fn fits(device: &Device, by: &ByLabel) -> bool {
    let kinds = by.labels().len();
    let local = 4 * (kinds + 2 * kinds * kinds + 5 * kinds + 1);
    by.edge_labels.is_none() && kinds <= KINDS && local <= device.limits.local
}

impl<'a> Supports<'a> {
    /// Counts them.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub fn new(device: &Device, by: &'a ByLabel, labelled: LabelKinds) -> Result<Self> {
        let labels = by.labels();
        let (kinds, lanes, place) = (labels.len(), device.lanes(LANES), device.place());
        let sources = [COMMON, &format!("#define KINDS {kinds}\n#define LANES {lanes}\n"), WEDGES];
        let program = device.program(&format!("wedges of {kinds}"), &sources)?;
        let mut firsts: Vec<u32> = by.classes().iter().map(|class| class.first).collect();
        let vertices = by.vertices();
        firsts.push(vertices as u32);
        let each = vertices.div_ceil(GROUPS * device.limits.units).max(1) as u32;
        let mut tasks = vec![];
        for (kind, class) in (0..).zip(by.classes()) {
            for first in (0..class.size).step_by(each as usize) {
                tasks.push([kind, class.first + first, each.min(class.size - first)]);
            }
        }
        let mut counts = vec![0u32; kinds * kinds * (2 * kinds + 1)];
        let firsts = Buffer::of(&place, &firsts, "the first vertices of labels")?;
        let near = Buffer::<[u64; 2]>::new(&place, vertices, "the labels around vertices")?;
        let all = Buffer::<u32>::new(&place, counts.len(), "supports")?;
        let [offsets, targets, ..] = by.args();
        let args = [
            offsets,
            targets,
            Arg::Buffer(firsts.raw()),
            Arg::U32(vertices as u32),
            Arg::Buffer(near.raw()),
        ];
        all.zero(&device.queue)?;
        device.launch(&program, "nearby", &args, vertices.div_ceil(lanes), lanes)?;
        let list = Buffer::of(&place, tasks.as_flattened(), "tasks")?;
        let args = [
            offsets,
            targets,
            Arg::Buffer(firsts.raw()),
            Arg::Buffer(near.raw()),
            Arg::Buffer(list.raw()),
            Arg::Buffer(all.raw()),
        ];
        device.launch(&program, "wedges", &args, tasks.len(), lanes)?;
        all.read(&device.queue, &mut counts)?;
        Ok(Supports { labelled, labels, counts })
    }

    fn one(&self, a: usize, b: usize) -> u32 {
        self.counts[a * self.labels.len() + b]
    }

    /// Of three labels; the paths' ends follow their middles.
    fn two(&self, ends: bool, [a, b, c]: [usize; 3]) -> u32 {
        let kinds = self.labels.len();
        self.counts[kinds * kinds * (1 + usize::from(ends) * kinds) + (a * kinds + b) * kinds + c]
    }

    /// The edges with at least `support`.
    pub fn edges(&self, support: u64) -> Vec<Count> {
        let kinds = self.labels.len();
        let pairs = (0..kinds).flat_map(|a| (a..kinds).map(move |b| (a, b)));
        let found = pairs.filter_map(|(a, b)| {
            let count = self.one(a, b).min(self.one(b, a));
            let kind = (self.labels[a], self.labels[b], gramer_graph::NO_LABEL);
            let pattern = || self.labelled.edge(kind).canonical().0;
            (count > 0 && u64::from(count) >= support)
                .then(|| Count { pattern: pattern(), count: count.into() })
        });
        found.collect()
    }

    /// The paths of two edges with at least `support`.
    pub fn paths(&self, support: u64, context: &Context) -> Vec<Count> {
        /// Paths that are worth a thread.
        const PATHS: usize = 2048;
        let kinds = self.labels.len();
        let all = kinds * kinds * (kinds + 1) / 2;
        let threads = context.threads().min(all / PATHS).max(1);
        let orders = Orders::new(self.labelled);
        let parts = on_threads(threads, |thread| {
            let mut found = vec![];
            for middle in part(kinds, thread, threads) {
                for a in 0..kinds {
                    for b in a..kinds {
                        let ends =
                            self.two(true, [a, middle, b]).min(self.two(true, [b, middle, a]));
                        let count = ends.min(self.two(false, [middle, a, b]));
                        if count > 0 && u64::from(count) >= support {
                            let [middle, a, b] = [middle, a, b].map(|kind| self.labels[kind]);
                            let pattern = orders.path(middle, a, b);
                            found.push(Count { pattern, count: count.into() });
                        }
                    }
                }
            }
            found
        });
        parts.into_iter().flatten().collect()
    }
}

/// Canonical forms of labelled paths of two edges. Which vertex comes where follows from how the labels compare, so
/// that it is found once for each way in which they may.
struct Orders {
    labelled: LabelKinds,
    /// By what the middle is to the first end, the first end to the second, and the middle to the second.
    orders: Vec<[usize; 3]>,
}

impl Orders {
    fn new(labelled: LabelKinds) -> Self {
        let mut orders = vec![[0, 1, 2]; 27];
        for labels in (0..27).map(|n| [n / 9, n / 3 % 3, n % 3]) {
            let [middle, a, b] = labels;
            let order = plain(labelled, labels).canonical().1;
            orders[Self::at(middle, a, b)] = [order[0], order[1], order[2]];
        }
        Orders { labelled, orders }
    }

    fn at(middle: Label, a: Label, b: Label) -> usize {
        let way = |a: Label, b: Label| match a.cmp(&b) {
            Ordering::Less => 0,
            Ordering::Equal => 1,
            Ordering::Greater => 2,
        };
        way(middle, a) + 3 * way(a, b) + 9 * way(middle, b)
    }

    /// The form of the path between a and b.
    fn path(&self, middle: Label, a: Label, b: Label) -> Pattern {
        let order = &self.orders[Self::at(middle, a, b)];
        let labels = [middle, a, b];
        let mut pattern = Pattern::new(3);
        let place = |vertex: usize| order.iter().position(|&v| v == vertex).expect("all have one");
        pattern.add_edge(place(0), place(1));
        pattern.add_edge(place(0), place(2));
        for (at, &vertex) in order.iter().enumerate().filter(|_| self.labelled.vertices) {
            pattern.set_vertex_label(at, labels[vertex]);
        }
        pattern
    }
}

/// The path with its middle first.
fn plain(labelled: LabelKinds, labels: [Label; 3]) -> Pattern {
    let mut pattern = Pattern::from_edges(3, &[(0, 1), (0, 2)]);
    for (vertex, label) in labels.into_iter().enumerate().filter(|_| labelled.vertices) {
        pattern.set_vertex_label(vertex, label);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_paths_are_canonical() {
        let labelled = LabelKinds { vertices: true, edges: false };
        let orders = Orders::new(labelled);
        for labels in (0..125).map(|n| [n / 25 * 7, n / 5 % 5 * 7, n % 5 * 7]) {
            let [middle, a, b] = labels;
            let right = plain(labelled, labels).canonical().0;
            assert_eq!(orders.path(middle, a, b), right, "{labels:?}");
        }
        let bare = LabelKinds { vertices: false, edges: false };
        assert_eq!(Orders::new(bare).path(0, 0, 0), plain(bare, [0; 3]).canonical().0);
    }
}

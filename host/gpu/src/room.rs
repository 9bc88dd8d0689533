//! How much device memory a task takes at least, over all buffers that it has at a time.
//!
//! Strategies use all free memory for buffers that may also be small, so a refused buffer says little about the memory
//! that would suffice. The sizes here are bounds from the graph's sizes: with this much memory no buffer of the task is
//! refused. Sizes that follow from the answer alone (the lists of five-vertex formulas, the domains of frequent
//! patterns) are not included.

use gramer_graph::Graph;
use gramer_pattern::task::{Measure, SizeLimit, Task};

use crate::device::Limits;
use crate::graph::ByDegree;
use crate::search::{COLUMNS, Steps};
use crate::{Strategy, local, search, wide};

/// Bytes of sums, control blocks, plans and tests, all together.
const SMALL: u64 = 96 << 10;

/// Properties of a resident graph on which buffer sizes depend.
pub(crate) struct Sizes<'a> {
    pub graph: &'a Graph,
    pub by: &'a ByDegree,
    pub limits: Limits,
    pub steps: Steps,
}

impl Sizes<'_> {
    /// Bytes that a task takes by a strategy; `listed` if embeddings are.
    pub fn least(&self, task: &Task, strategy: Strategy, listed: bool) -> u64 {
        // Buffers that another strategy has left on the device do not count.
        self.rows() + SMALL + self.of_task(task, strategy, listed)
    }

    fn vertices(&self) -> u64 {
        self.by.vertices() as u64
    }

    /// Entries of rows: each edge twice.
    fn entries(&self) -> u64 {
        self.by.neighbours.len() as u64
    }

    /// Rows of arcs and of all edges, and degrees.
    fn rows(&self) -> u64 {
        4 * (3 * self.vertices() + 2) + 6 * self.entries()
    }

    fn of_task(&self, task: &Task, strategy: Strategy, listed: bool) -> u64 {
        use Strategy::{Formula, Local, Wide};
        match (task, strategy) {
            (Task::Clique { k }, Local) => self.cliques(*k),
            (Task::CliqueSizes { largest, .. }, Local) => {
                self.cliques(3) + self.cliques(4) + self.cliques(*largest)
            }
            (Task::Motif { k, .. }, Formula) => {
                let own = 4 * self.vertices() + 2 * self.entries() + self.cycles();
                let own = own + (3..=*k).map(|k| self.cliques(k)).sum::<u64>();
                // Without room for lists of common neighbours, motifs of five are counted by exploration.
                if *k == 5 { own + self.wide(5, false) } else { own }
            }
            (Task::Clique { k }, Wide) => self.wide(*k, true),
            (Task::Motif { k, .. }, _) if strategy == Wide => self.wide(*k, false),
            (Task::Clique { k } | Task::Motif { k, .. }, _) => self.search(*k, listed),
            (Task::CliqueSizes { largest, .. }, _) => self.search(*largest, listed),
            (Task::Match { pattern, .. }, _) => self.search(pattern.vertices(), listed),
            (Task::Fsm { limit, measure, .. }, _) => {
                let most = match limit {
                    SizeLimit::MaxVertices(most) => *most,
                    SizeLimit::MaxEdges(most) => most + 1,
                };
                let lists = if listed { self.search(most, true) } else { 0 };
                lists
                    + match measure {
                        Measure::Mni => self.domains(most),
                        Measure::Embeddings | Measure::Instances => self.search(most, listed),
                        // No method of a GPU counts graphs.
                        Measure::Transactions => 0,
                    }
            }
            _ => 0,
        }
    }

    /// Cliques by bitmaps: tasks and weights of roots, the walks of a group, rows of roots with many targets.
    fn cliques(&self, k: usize) -> u64 {
        let (vertices, units) = (self.vertices(), self.limits.units as u64);
        if k == 3 {
            // Spans of heads, or roots.
            return 32 * vertices + 4 * self.entries() + 1024 * units;
        }
        let span = (0..self.by.vertices()).map(|v| self.by.out_degree(v)).max().unwrap_or(0);
        let walks = if k > 6 { local::walk_bytes(span as usize, k) } else { 0 };
        let tasks = 32 * vertices + 1024 * units + walks;
        match local::slot_bytes(span as usize, self.limits) {
            0 => tasks,
            // Arcs of large roots take up to three quarters of the free memory.
            slot => 4 * (tasks + slot),
        }
    }

    /// Tasks of 4-cycles.
    fn cycles(&self) -> u64 {
        let wedges: u64 =
            (0..self.by.vertices()).map(|v| u64::from(self.by.degree(v)).pow(2)).sum();
        let windows = self.vertices() / 4096 + 2;
        let with_windows = wedges.div_ceil(256).min(self.vertices());
        4 * self.vertices() + 16 * (with_windows * windows + 32 * self.limits.units as u64)
    }

    /// Exploration without a plan. A dictionary of codes takes a quarter of what is free at most, and no more than
    /// the counters that it replaces.
    fn wide(&self, k: usize, cliques: bool) -> u64 {
        wide::least_bytes(k, cliques)
    }

    /// A search by a plan of this many vertices: labels, the candidates of one group, a ring that an embedding of the
    /// longest row fits into. What is free at first is divided among them.
    fn search(&self, vertices: usize, listed: bool) -> u64 {
        let longest = u64::from(self.by.longest.max(1)) * 4 * vertices as u64;
        let labels = 4 * self.vertices() + 8 * self.entries();
        let signatures = match self.steps.signatures || self.steps.order == search::Order::Paper {
            true => (4 * COLUMNS as u64 + vertices as u64) * self.vertices(),
            false => 0,
        };
        let ring = if listed { longest } else { 0 };
        labels + signatures + 2 * (longest + ring)
    }

    /// Frequent patterns by minimum images: rows by label, what is around vertices, the domains of a candidate.
    fn domains(&self, vertices: usize) -> u64 {
        let labels = self.graph.view().vertex_labels.unwrap_or_default();
        let mut kinds = labels.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        let kinds = kinds.len().clamp(1, 64) as u64;
        let rows = 24 * self.vertices() + 8 * self.entries();
        let supports = 4 * kinds * kinds * (2 * kinds + 1) + 12 * 1024 * self.limits.units as u64;
        let domain = 8 * 1024 + vertices as u64 * self.vertices().div_ceil(8);
        rows + supports + 6 * domain
    }
}

//! Work of the units of a task, and slices of them.
//!
//! The work of a slice is what algorithm 1 does in it: candidates that it tests, and lists that it walks. For three vertices
//! it follows from positions in sorted lists, for cliques from those of fewer vertices; larger motifs are explored on the CPU.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_engine::WorkUnit;
use gramer_engine::reference::{Comparison, work_of_clique_entries, work_of_units};
use gramer_graph::{Graph, VertexId, View};
use gramer_pattern::task::Task;

/// Cost of a unit or a slice beyond its candidates and lists, in candidates.
pub(super) const FIXED: u64 = 16;
/// Most work that is explored on the CPU.
const MOST: u64 = 3_000_000_000;
/// Most cliques of a vertex that are searched for.
const MOST_CLIQUES: u64 = 3_000_000_000;
/// Units that a thread takes at a time.
const BATCH: usize = 64;

/// Work of a task's units in an order of comparison.
pub struct TaskWork<'a> {
    view: View<'a>,
    task: Task,
    comparison: Comparison,
    context: &'a Context,
    /// Work of each unit.
    units: Vec<u64>,
    /// Work of each entry of the lists that were cut.
    cut: Mutex<HashMap<VertexId, Arc<Vec<u64>>>>,
}

impl<'a> TaskWork<'a> {
    /// Counts the work of all units.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a task that isn't cliques or motifs, or is too large to be explored;
    /// [`Error::Interrupted`].
    pub fn new(
        graph: &'a Graph,
        task: &Task,
        comparison: Comparison,
        context: &'a Context,
    ) -> Result<Self> {
        let view = graph.view();
        let (Task::Clique { k } | Task::Motif { k, .. }) = task else {
            return Err(Error::Unsupported(format!("{} can't be sampled", task.name())));
        };
        let task = task.clone();
        let (units, cut) = (vec![], Mutex::default());
        let mut work = TaskWork { view, task, comparison, context, units, cut };
        let units = match (k, &work.task) {
            (3, _) => work.by_positions(),
            (_, Task::Clique { .. }) => work.by_cliques()?,
            _ => work.explored()?,
        };
        work.units = units.into_iter().map(|own| own + FIXED).collect();
        Ok(work)
    }

    /// Its order of comparison.
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// Work of all units.
    pub fn whole(&self) -> u64 {
        self.units.iter().sum()
    }

    /// Work of a unit.
    pub fn of(&self, v: VertexId) -> u64 {
        self.units[v as usize]
    }

    /// Whether lists of all vertices of an embedding are walked.
    fn walks_all(&self) -> bool {
        matches!(self.task, Task::Motif { .. })
    }

    /// Candidates and lists of an entry of the list of `v`, given its position there and the position of `v` in
    /// the list of the entry's vertex `u`; embeddings of three vertices.
    fn of_entry(&self, v: VertexId, u: VertexId, at: usize, back: usize) -> u64 {
        if !self.comparison.before(v, u) {
            return 0;
        }
        let beyond = |list: VertexId, at: usize| match self.comparison {
            Comparison::Ascending => self.view.degree(list) - at - 1,
            Comparison::Descending => at,
        };
        let all = if self.walks_all() { 1 + beyond(u, back) } else { 0 };
        (2 + beyond(v, at) + all) as u64
    }

    /// Work of each unit for embeddings of three vertices.
    fn by_positions(&self) -> Vec<u64> {
        // Vertices are taken in order, so each finds itself in a list at the place after the last that was found there.
        let mut places = vec![0u32; self.view.vertices()];
        (0..self.view.vertices() as VertexId)
            .map(|v| {
                let mut sum = 1;
                for (at, &u) in self.view.neighbours(v).iter().enumerate() {
                    let back = &mut places[u as usize];
                    sum += self.of_entry(v, u, at, *back as usize);
                    *back += 1;
                }
                sum
            })
            .collect()
    }

    /// Work of each unit, by algorithm 1.
    fn explored(&self) -> Result<Vec<u64>> {
        let sum = AtomicU64::new(0);
        self.in_batches(BATCH, |batch| {
            let whole = |v| WorkUnit::whole(self.view, v as VertexId);
            let units: Vec<WorkUnit> = batch.map(whole).collect();
            let of_batch = self.explore(&units)?;
            let own: u64 = of_batch.iter().sum();
            if sum.fetch_add(own, Ordering::Relaxed) + own > MOST {
                let why = format!("its units have more work than {MOST} candidates and lists");
                return Err(Error::Unsupported(why));
            }
            Ok(of_batch)
        })
    }

    /// Work of each unit for cliques. The vertices with most work may follow each other, so that each is a batch.
    fn by_cliques(&self) -> Result<Vec<u64>> {
        self.in_batches(1, |batch| {
            batch.map(|v| Ok(1 + self.count_entries(v as VertexId)?.iter().sum::<u64>())).collect()
        })
    }

    /// Work of all units, which threads count in batches.
    fn in_batches(
        &self,
        size: usize,
        count: impl Fn(Range<usize>) -> Result<Vec<u64>> + Sync,
    ) -> Result<Vec<u64>> {
        let units = self.view.vertices();
        let next = AtomicUsize::new(0);
        let parts = on_threads(self.context.threads(), |_| {
            let mut found = vec![];
            loop {
                let from = next.fetch_add(size, Ordering::Relaxed);
                if from >= units {
                    return Ok(found);
                }
                found.push((from, count(from..(from + size).min(units))?));
            }
        });
        let mut all = vec![0; units];
        for part in parts {
            let part: Vec<(usize, Vec<u64>)> = part?;
            for (from, of_batch) in part {
                all[from..from + of_batch.len()].copy_from_slice(&of_batch);
            }
        }
        Ok(all)
    }

    fn explore(&self, units: &[WorkUnit]) -> Result<Vec<u64>> {
        work_of_units(self.view, &self.task, self.comparison, units, self.context)
    }

    /// Work of each entry of a vertex's list.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn entries(&self, v: VertexId) -> Result<Arc<Vec<u64>>> {
        let known = || self.cut.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = known().get(&v) {
            return Ok(entries.clone());
        }
        let entries = Arc::new(self.count_entries(v)?);
        known().insert(v, entries.clone());
        Ok(entries)
    }

    fn count_entries(&self, v: VertexId) -> Result<Vec<u64>> {
        let list = self.view.neighbours(v);
        match self.task {
            Task::Clique { k: 3 } | Task::Motif { k: 3, .. } => Ok(list
                .iter()
                .enumerate()
                .map(|(at, &u)| {
                    let back = self.view.neighbours(u).binary_search(&v).unwrap_or(0);
                    self.of_entry(v, u, at, back)
                })
                .collect()),
            Task::Clique { k } => {
                let (view, order, most) = (self.view, self.comparison, MOST_CLIQUES);
                work_of_clique_entries(view, k, order, v, most, self.context)
            }
            _ => {
                let slice = |first| WorkUnit { start: v, first, limit: first + 1 };
                let slices: Vec<WorkUnit> = (0..list.len() as u32).map(slice).collect();
                // Each slice walks the list once more.
                Ok(self.explore(&slices)?.into_iter().map(|own| own.saturating_sub(1)).collect())
            }
        }
    }

    /// Work of a slice.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn of_slice(&self, slice: WorkUnit) -> Result<u64> {
        let entries = self.entries(slice.start)?;
        Ok(entries[slice.range()].iter().sum::<u64>() + 1 + FIXED)
    }

    /// A unit cut into slices of at most this much work, or of one entry, with the work of each.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn slices(&self, v: VertexId, most: u64) -> Result<Vec<Slice>> {
        if self.of(v) <= most {
            return Ok(vec![Slice { unit: WorkUnit::whole(self.view, v), work: self.of(v) }]);
        }
        let mut slices: Vec<Slice> = vec![];
        for (at, &own) in self.entries(v)?.iter().enumerate() {
            match slices.last_mut() {
                Some(last) if last.work + own <= most => {
                    last.unit.limit += 1;
                    last.work += own;
                }
                _ => {
                    let unit = WorkUnit { start: v, first: at as u32, limit: at as u32 + 1 };
                    slices.push(Slice { unit, work: own + 1 + FIXED });
                }
            }
        }
        Ok(slices)
    }
}

/// Part of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The unit, or a part of its list.
    pub unit: WorkUnit,
    /// Its work.
    pub work: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::generate::{Model, Recipe, generate};
    use gramer_pattern::task::Induced;

    fn graph(edges: u64) -> Graph {
        let model = Model::ErdosRenyiEdges { vertices: 60, edges };
        let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
        generate(&recipe, &Context::default()).unwrap()
    }

    const ORDERS: [Comparison; 2] = [Comparison::Ascending, Comparison::Descending];

    #[test]
    fn positions_and_cliques_give_the_work_of_algorithm_1() {
        let (graph, context) = (graph(400), Context::default());
        for task in [Task::Clique { k: 3 }, Task::Motif { k: 3, induced: Induced::Vertex }] {
            for comparison in ORDERS {
                let work = TaskWork::new(&graph, &task, comparison, &context).unwrap();
                assert_eq!(work.by_positions(), work.explored().unwrap());
            }
        }
        for (k, comparison) in [4, 5].iter().flat_map(|&k| ORDERS.map(|o| (k, o))) {
            let task = Task::Clique { k };
            let work = TaskWork::new(&graph, &task, comparison, &context).unwrap();
            assert_eq!(work.by_cliques().unwrap(), work.explored().unwrap());
        }
    }

    #[test]
    fn slices_have_the_work_of_their_unit() {
        let (graph, context) = (graph(400), Context::default());
        let tasks = [
            Task::Clique { k: 3 },
            Task::Motif { k: 3, induced: Induced::Vertex },
            Task::Clique { k: 4 },
            Task::Motif { k: 4, induced: Induced::Vertex },
        ];
        for (task, comparison) in tasks.iter().flat_map(|t| ORDERS.map(|o| (t, o))) {
            let work = TaskWork::new(&graph, task, comparison, &context).unwrap();
            for v in 0..60 {
                let slices = work.slices(v, FIXED + 12).unwrap();
                let entries: u32 = slices.iter().map(|s| s.unit.limit - s.unit.first).sum();
                assert_eq!(entries as usize, graph.view().degree(v));
                let own = slices.iter().map(|s| s.work - FIXED - 1).sum::<u64>();
                assert_eq!(own, work.of(v) - FIXED - 1);
                let few = |s: &Slice| s.work <= FIXED + 12 || s.unit.limit == s.unit.first + 1;
                assert!(slices.iter().all(few));
            }
        }
    }
}

//! The work of single units.

use std::ops::ControlFlow;

use super::{Cliques, Comparison, Explorer, Motifs, Primitives};
use crate::WorkUnit;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::{VertexId, View};
use gramer_pattern::task::{Induced, Task};

/// Candidates that algorithm 1 tests and lists that it walks in each of some units: cliques and vertex-induced motifs.
///
/// # Errors
/// [`Error::Unsupported`] for other tasks; [`Error::Interrupted`].
///
/// # Examples
/// ```
/// use gramer_base::Context;
/// use gramer_engine::WorkUnit;
/// use gramer_engine::reference::{Comparison, work_of_units};
/// use gramer_graph::Builder;
/// use gramer_pattern::task::Task;
///
/// // A triangle. The root 0 has the candidates 1 and 2, the edge 0-1 the candidate 2, and the edge 0-2 none; each of the three
/// // walks the root's list.
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (0, 2), (1, 2)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let unit = WorkUnit::whole(graph.view(), 0);
/// let task = Task::Clique { k: 3 };
/// let context = Context::default();
/// let work = work_of_units(graph.view(), &task, Comparison::Ascending, &[unit], &context)?;
/// assert_eq!(work, [3 + 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn work_of_units(
    view: View<'_>,
    task: &Task,
    comparison: Comparison,
    units: &[WorkUnit],
    context: &Context,
) -> Result<Vec<u64>> {
    match task {
        Task::Clique { k } => explore(view, Cliques::new(*k), comparison, units, context),
        Task::Motif { k, induced: Induced::Vertex } => {
            explore(view, Motifs::new(*k), comparison, units, context)
        }
        other => Err(Error::Unsupported(format!(
            "the work of units of {} is not counted: algorithm 1 does cliques and vertex-induced motifs",
            other.name()
        ))),
    }
}

fn explore<P: Primitives>(
    view: View<'_>,
    primitives: P,
    comparison: Comparison,
    units: &[WorkUnit],
    context: &Context,
) -> Result<Vec<u64>> {
    let mut explorer = Explorer::new(view, comparison, primitives, context);
    let mut before = 0;
    units
        .iter()
        .map(|unit| match explorer.run_units(std::slice::from_ref(unit)) {
            ControlFlow::Continue(()) => {
                let c = explorer.counters();
                let all = c.candidates_by_depth.iter().sum::<u64>() + c.extensions;
                Ok(all - std::mem::replace(&mut before, all))
            }
            ControlFlow::Break(_) => Err(Error::Interrupted),
        })
        .collect()
}

/// The work of [`work_of_units`] in cliques of `k` vertices, for each entry of the list of `v`, without the walk of that list
/// itself. Algorithm 1 tests, for each clique of fewer vertices, the part of the first vertex's list beyond the last vertex;
/// this function finds these cliques by intersection and adds up the lengths.
///
/// # Errors
/// [`Error::Unsupported`] if `v` has more than `most` cliques of 3 to `k` - 1 vertices; [`Error::Interrupted`].
///
/// # Examples
/// ```
/// use gramer_base::Context;
/// use gramer_engine::reference::{Comparison, work_of_clique_entries};
/// use gramer_graph::Builder;
///
/// // A triangle, as there.
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (0, 2), (1, 2)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let context = Context::default();
/// let work = work_of_clique_entries(graph.view(), 3, Comparison::Ascending, 0, 1000, &context)?;
/// assert_eq!(work, [3, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn work_of_clique_entries(
    view: View<'_>,
    k: usize,
    comparison: Comparison,
    v: VertexId,
    most: u64,
    context: &Context,
) -> Result<Vec<u64>> {
    let list = view.neighbours(v);
    let sets = vec![vec![]; k.saturating_sub(3)];
    let mut search = EntrySearch { view, k, comparison, list, sets, cliques: 0 };
    let mut all = Vec::with_capacity(list.len());
    for (at, &u) in list.iter().enumerate() {
        context.cancel.check()?;
        all.push(if comparison.before(v, u) { search.of_entry(at) } else { 0 });
        if search.cliques > most {
            return Err(Error::Unsupported(format!(
                "vertex {v} has more than {most} cliques of up to {} vertices",
                k - 1
            )));
        }
    }
    Ok(all)
}

/// A search for the cliques of a vertex, which are positions in its list.
struct EntrySearch<'a> {
    view: View<'a>,
    k: usize,
    comparison: Comparison,
    list: &'a [VertexId],
    /// Positions that enlarge the cliques of 2, 3 and more vertices.
    sets: Vec<Vec<u32>>,
    /// Cliques of at least 3 vertices.
    cliques: u64,
}

impl EntrySearch<'_> {
    /// Work of an embedding whose last vertex is at a position, without larger ones: the list is walked, and what lies beyond
    /// the last vertex is tested.
    fn of_last(&self, at: usize) -> u64 {
        let beyond = match self.comparison {
            Comparison::Ascending => self.list.len() - at - 1,
            Comparison::Descending => at,
        };
        1 + beyond as u64
    }

    /// Work of an entry: it is tested itself.
    fn of_entry(&mut self, at: usize) -> u64 {
        let own = 1 + self.of_last(at);
        if self.k == 3 {
            return own;
        }
        let beyond = match self.comparison {
            Comparison::Ascending => at + 1..self.list.len(),
            Comparison::Descending => 0..at,
        };
        let mut set = std::mem::take(&mut self.sets[0]);
        set.clear();
        let (first, list) = (beyond.start, &self.list[beyond]);
        common(list, self.view.neighbours(self.list[at]), |at| set.push((first + at) as u32));
        let larger = self.of_set(&set, 3);
        self.sets[0] = set;
        own + larger
    }

    /// Work of the cliques of `size` vertices whose last vertex is in a set, and of larger ones.
    fn of_set(&mut self, set: &[u32], size: usize) -> u64 {
        self.cliques += set.len() as u64;
        let mut work = set.iter().map(|&at| self.of_last(at as usize)).sum();
        if size + 1 == self.k {
            return work;
        }
        let mut larger = std::mem::take(&mut self.sets[size - 2]);
        for (i, &at) in set.iter().enumerate() {
            let beyond = match self.comparison {
                Comparison::Ascending => &set[i + 1..],
                Comparison::Descending => &set[..i],
            };
            larger.clear();
            let list = self.view.neighbours(self.list[at as usize]);
            let ids = beyond.iter().map(|&at| self.list[at as usize]);
            common_of(ids, list, |i| larger.push(beyond[i]));
            work += self.of_set(&larger, size + 1);
        }
        self.sets[size - 2] = larger;
        work
    }
}

/// Calls `found` with the positions in `a` of what is in both lists, which are sorted.
fn common(a: &[VertexId], b: &[VertexId], mut found: impl FnMut(usize)) {
    if a.len() <= b.len() {
        return common_of(a.iter().copied(), b, found);
    }
    let mut from = 0;
    for &id in b {
        from = reach(a, from, id);
        if a.get(from) == Some(&id) {
            found(from);
        }
    }
}

/// The same, of a list that is the shorter one.
fn common_of(a: impl Iterator<Item = VertexId>, b: &[VertexId], mut found: impl FnMut(usize)) {
    let mut from = 0;
    for (at, id) in a.enumerate() {
        from = reach(b, from, id);
        match b.get(from) {
            Some(&other) if other == id => found(at),
            Some(_) => {}
            None => return,
        }
    }
}

/// The first position from `from` on of an entry of at least `id`, by steps that double.
fn reach(list: &[VertexId], from: usize, id: VertexId) -> usize {
    let (mut low, mut step) = (from, 1);
    while low + step <= list.len() && list[low + step - 1] < id {
        low += step;
        step *= 2;
    }
    let high = list.len().min(low + step);
    low + list[low..high].partition_point(|&other| other < id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::generate::{Model, Recipe, generate};

    #[test]
    fn entries_have_the_work_of_algorithm_1() {
        let context = Context::default();
        for (seed, edges) in [(1, 200), (2, 700), (3, 1500)] {
            let model = Model::ErdosRenyiEdges { vertices: 60, edges };
            let recipe = Recipe { model, seed, vertex_labels: None, edge_labels: None };
            let graph = generate(&recipe, &context).unwrap();
            let view = graph.view();
            for k in 3..=6 {
                for comparison in [Comparison::Ascending, Comparison::Descending] {
                    for v in 0..60 {
                        let slice = |first| WorkUnit { start: v, first, limit: first + 1 };
                        let slices: Vec<_> = (0..view.degree(v) as u32).map(slice).collect();
                        let task = Task::Clique { k };
                        let explored =
                            work_of_units(view, &task, comparison, &slices, &context).unwrap();
                        let explored: Vec<u64> = explored.iter().map(|own| own - 1).collect();
                        let most = u64::MAX;
                        let found =
                            work_of_clique_entries(view, k, comparison, v, most, &context).unwrap();
                        assert_eq!(found, explored, "{k} {comparison:?} {v}");
                    }
                }
            }
        }
    }

    #[test]
    fn common_entries_of_lists_of_any_lengths() {
        let (all, even): (Vec<u32>, Vec<u32>) = ((0..100).collect(), (0..200).step_by(2).collect());
        let few = [3, 4, 50, 98, 99, 300];
        for (a, b) in
            [(&all[..], &even[..]), (&all, &few), (&few, &all), (&few, &even), (&[], &all)]
        {
            let mut found = vec![];
            common(a, b, |at| found.push(a[at]));
            let expected: Vec<u32> = a.iter().copied().filter(|id| b.contains(id)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn too_many_cliques_are_refused() {
        let mut builder = gramer_graph::Builder::new();
        for (u, v) in (0..8u32).flat_map(|u| (0..u).map(move |v| (u, v))) {
            builder.edge(u.into(), v.into());
        }
        let (graph, context) = (builder.build(), Context::default());
        let work = |most| {
            let ascending = Comparison::Ascending;
            work_of_clique_entries(graph.view(), 4, ascending, 0, most, &context)
        };
        assert!(work(21).is_ok());
        assert!(work(20).unwrap_err().to_string().contains("more than 20 cliques"));
    }
}

//! Frequent patterns of several graphs, by the number of graphs that contain a pattern.
//!
//! The graphs (*transactions*) are parts of one graph: the upper 32 bits of a vertex's id say which. The support of an
//! edge-induced pattern is the number of graphs with at least one occurrence (Yan and Han, *gSpan*, 2002). Taking an
//! edge away never lowers it, so patterns grow by one edge a level, and a candidate is searched in those graphs alone
//! that contain all its connected patterns with one edge fewer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_graph::{Graph, VertexId, View};
use gramer_pattern::task::SizeLimit;

use super::code::{MAX, Small};
use super::labels::Labels;
use super::mni::{Kind, extend};

/// Graphs with classes of vertices.
struct Transactions<'a> {
    view: View<'a>,
    labels: &'a Labels,
    /// By vertex.
    classes: Vec<u32>,
    /// The vertices, graph by graph, and where those of each graph begin.
    vertices: Vec<VertexId>,
    begins: Vec<usize>,
}

impl<'a> Transactions<'a> {
    fn new(graph: &'a Graph, labels: &'a Labels) -> Self {
        let view = graph.view();
        let all = 0..graph.vertices() as VertexId;
        let classes = all.clone().map(|v| labels.class(view, v)).collect();
        // Names are texts: then there is one graph.
        let named = graph.names().vertices.is_some();
        let of = |v: VertexId| if named { 0 } else { graph.original_id(v) >> 32 };
        let mut vertices: Vec<VertexId> = all.collect();
        vertices.sort_by_key(|&v| of(v));
        let mut begins: Vec<usize> = (0..vertices.len())
            .filter(|&at| at == 0 || of(vertices[at - 1]) != of(vertices[at]))
            .collect();
        begins.push(vertices.len());
        Transactions { view, labels, classes, vertices, begins }
    }

    fn vertices(&self, transaction: u32) -> &[VertexId] {
        let at = transaction as usize;
        &self.vertices[self.begins[at]..self.begins[at + 1]]
    }

    /// The patterns of one edge with the graphs that have them, and their kinds in both directions.
    fn single_edges(&self, wanted: usize, context: &Context) -> Result<(Vec<Frequent>, Vec<Kind>)> {
        let mut looks = CancelPoll::new(&context.cancel);
        let mut of_kind: FxHashMap<Kind, Vec<u32>> = FxHashMap::default();
        for transaction in 0..self.begins.len() as u32 - 1 {
            for &v in self.vertices(transaction) {
                let row = self.view.row(v);
                looks.check(1 + row.len())?;
                for at in row {
                    let ends = [v, self.view.neighbours[at]].map(|end| self.classes[end as usize]);
                    let kind = (ends[0], ends[1], self.labels.entry(self.view, at));
                    let transactions = of_kind.entry(kind).or_default();
                    if transactions.last() != Some(&transaction) {
                        transactions.push(transaction);
                    }
                }
            }
        }
        of_kind.retain(|_, transactions| transactions.len() >= wanted);
        let mut kinds: Vec<Kind> = of_kind.keys().copied().collect();
        kinds.sort_unstable();
        let level = kinds.iter().filter(|(a, b, _)| a <= b).map(|&(a, b, label)| {
            let mut edge = Small::EMPTY;
            edge.push(a);
            edge.push(b);
            edge.set_edge(0, 1, label);
            let transactions = of_kind[&(a, b, label)].clone();
            Frequent { code: edge.canonical().code, transactions }
        });
        Ok((level.collect(), kinds))
    }

    /// Whether a graph contains a pattern, whose vertices are placed in this order.
    fn contains(&self, transaction: u32, code: &Small, order: &[usize]) -> bool {
        let mut image = [0; MAX];
        self.vertices(transaction).iter().any(|&v| {
            image[order[0]] = v;
            self.classes[v as usize] == code.class(order[0])
                && self.complete(code, order, 1, &mut image)
        })
    }

    /// Whether the images of `order[..at]` can be completed to an occurrence.
    fn complete(
        &self,
        code: &Small,
        order: &[usize],
        at: usize,
        image: &mut [VertexId; MAX],
    ) -> bool {
        let Some(&v) = order.get(at) else { return true };
        let mut earlier = order[..at].iter().copied().filter(|&u| code.edge(u, v) != 0);
        let Some(anchor) = earlier.next() else { return false };
        let others: Vec<usize> = earlier.collect();
        self.view.row(image[anchor]).any(|entry| {
            let w = self.view.neighbours[entry];
            let fits = self.classes[w as usize] == code.class(v)
                && self.labels.entry(self.view, entry) == code.edge(anchor, v)
                && order[..at].iter().all(|&u| image[u] != w)
                && others.iter().all(|&u| self.has_edge(image[u], w, code.edge(u, v)));
            fits && {
                image[v] = w;
                self.complete(code, order, at + 1, image)
            }
        })
    }

    fn has_edge(&self, u: VertexId, w: VertexId, label: u32) -> bool {
        let row = self.view.row(u);
        let found = self.view.neighbours[row.clone()].binary_search(&w);
        found.is_ok_and(|at| self.labels.entry(self.view, row.start + at) == label)
    }
}

/// A frequent pattern with the graphs that contain it, ascending.
struct Frequent {
    code: Small,
    transactions: Vec<u32>,
}

/// The frequent patterns with their supports, by level, and whether the run went to its end; if not, only whole levels
/// are there.
///
/// # Errors
/// None of this module's own.
pub(super) fn mine(
    graph: &Graph,
    labels: &Labels,
    limit: SizeLimit,
    support: u64,
    context: &Context,
) -> Result<(Vec<(Small, u128)>, bool)> {
    let (max_vertices, max_edges) = match limit {
        SizeLimit::MaxVertices(n) => (n, n * (n - 1) / 2),
        SizeLimit::MaxEdges(n) => (n + 1, n),
    };
    let wanted = usize::try_from(support).unwrap_or(usize::MAX);
    let all = Transactions::new(graph, labels);
    let (mut level, kinds) = match all.single_edges(wanted, context) {
        Ok(first) => first,
        Err(Error::Interrupted) => return Ok((vec![], false)),
        Err(error) => return Err(error),
    };
    let mut found: Vec<(Small, u128)> = vec![];
    for edges in 1..=max_edges {
        found.extend(level.iter().map(|f| (f.code, f.transactions.len() as u128)));
        if edges == max_edges || level.is_empty() {
            break;
        }
        let codes: Vec<Small> = level.iter().map(|f| f.code).collect();
        let candidates = extend(&codes, &kinds, max_vertices);
        match all.frequent(&candidates, &level, wanted, context) {
            Some(next) => level = next,
            None => return Ok((found, false)),
        }
    }
    Ok((found, true))
}

impl Transactions<'_> {
    /// The frequent ones of some candidates, in their order; `None` if the run was stopped.
    fn frequent(
        &self,
        candidates: &[Small],
        level: &[Frequent],
        wanted: usize,
        context: &Context,
    ) -> Option<Vec<Frequent>> {
        let known: FxHashMap<Small, usize> =
            level.iter().enumerate().map(|(at, f)| (f.code, at)).collect();
        context.progress.begin(candidates.len() as u64);
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<(usize, Frequent)>> = Mutex::default();
        on_threads(context.threads().min(candidates.len()).max(1), |_| {
            while !context.cancel.is_cancelled() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(&code) = candidates.get(at) else { break };
                if let Some(transactions) =
                    self.transactions_of(&code, level, &known, wanted, context)
                {
                    let frequent = Frequent { code, transactions };
                    found.lock().unwrap_or_else(|e| e.into_inner()).push((at, frequent));
                }
                context.progress.add(1);
            }
        });
        let mut found = found.into_inner().unwrap_or_else(|e| e.into_inner());
        found.sort_by_key(|(at, _)| *at);
        (!context.cancel.is_cancelled()).then(|| found.into_iter().map(|(_, f)| f).collect())
    }

    /// The graphs that contain a candidate, unless they are too few.
    fn transactions_of(
        &self,
        code: &Small,
        level: &[Frequent],
        known: &FxHashMap<Small, usize>,
        wanted: usize,
        context: &Context,
    ) -> Option<Vec<u32>> {
        let mut common: Option<Vec<u32>> = None;
        for (i, j) in code.edge_list() {
            let mut smaller = *code;
            smaller.set_edge(i, j, 0);
            // A vertex without another edge leaves with this one.
            let kept: Vec<usize> = (0..code.n()).filter(|&v| smaller.degree(v) > 0).collect();
            let smaller = smaller.induced(&kept);
            if !smaller.is_connected() {
                continue;
            }
            let own = &level[*known.get(&smaller.canonical().code)?].transactions;
            match &mut common {
                Some(common) => common.retain(|transaction| own.binary_search(transaction).is_ok()),
                None => common = Some(own.clone()),
            }
        }
        let common = common?;
        let order = order(code);
        let mut transactions = vec![];
        for (at, &transaction) in common.iter().enumerate() {
            if transactions.len() + common.len() - at < wanted || context.cancel.is_cancelled() {
                return None;
            }
            if self.contains(transaction, code, &order) {
                transactions.push(transaction);
            }
        }
        (transactions.len() >= wanted).then_some(transactions)
    }
}

/// An order of the vertices, each next to an earlier one: those with most earlier neighbours first.
fn order(code: &Small) -> Vec<usize> {
    let first = (0..code.n()).max_by_key(|&v| code.degree(v)).unwrap_or(0);
    let mut order = vec![first];
    while order.len() < code.n() {
        let earlier = |v: usize| order.iter().filter(|&&u| code.edge(u, v) != 0).count();
        let rest = (0..code.n()).filter(|v| !order.contains(v));
        match rest.max_by_key(|&v| earlier(v)) {
            Some(next) => order.push(next),
            None => break,
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::Job;
    use gramer_graph::prepare::renumber;
    use gramer_graph::{Builder, Label};
    use gramer_pattern::Pattern;
    use gramer_pattern::task::Measure;

    /// One graph: labels of vertices, and edges with labels.
    type One = (Vec<Label>, Vec<(usize, usize, Label)>);

    fn together(graphs: &[One]) -> Graph {
        let mut builder = Builder::new();
        for (t, (labels, edges)) in (0u64..).zip(graphs) {
            let id = |v: usize| t << 32 | v as u64;
            for (v, &label) in labels.iter().enumerate() {
                builder.labelled_vertex(id(v), label);
            }
            for &(u, v, label) in edges {
                builder.labelled_edge(id(u), id(v), label);
            }
        }
        builder.build()
    }

    fn mined(
        graph: &Graph,
        limit: SizeLimit,
        support: u64,
        threads: usize,
    ) -> BTreeMap<Pattern, u128> {
        let context = Context::with_threads(threads);
        let measure = Measure::Transactions;
        let found = crate::fsm::run(graph, limit, support, measure, Job::whole(&context)).unwrap();
        assert!(found.complete);
        found.results.into_iter().map(|count| (count.pattern, count.count)).collect()
    }

    /// The connected patterns of up to `most` edges of one graph, from all sets of its edges.
    fn patterns((labels, edges): &One, most: u32) -> BTreeSet<Pattern> {
        let sets = (1u32..1 << edges.len()).filter(|set| set.count_ones() <= most);
        let pattern = |set: u32| {
            let chosen = || edges.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1);
            let used: BTreeSet<usize> = chosen().flat_map(|(_, &(u, v, _))| [u, v]).collect();
            let place = |v: usize| used.iter().position(|&own| own == v).unwrap();
            let mut pattern = Pattern::new(used.len());
            for &v in &used {
                pattern.set_vertex_label(place(v), labels[v]);
            }
            for (_, &(u, v, label)) in chosen() {
                pattern.add_edge(place(u), place(v));
                pattern.set_edge_label(place(u), place(v), label);
            }
            pattern
        };
        let connected = sets.map(pattern).filter(Pattern::is_connected);
        connected.map(|pattern| pattern.canonical().0).collect()
    }

    #[test]
    fn supports_are_those_of_all_sets_of_edges() {
        let mut state = 7u64;
        let mut below = |n: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for trial in 0..40 {
            let graphs: Vec<One> = (0..3 + below(4))
                .map(|_| {
                    let n = 2 + below(4) as usize;
                    let labels = (0..n).map(|_| 5 + below(2) as Label).collect();
                    let pairs = (0..n).flat_map(|v| (0..v).map(move |u| (u, v)));
                    let chosen: Vec<(usize, usize)> = pairs.filter(|_| below(3) > 0).collect();
                    (
                        labels,
                        chosen.into_iter().map(|(u, v)| (u, v, 3 + below(2) as Label)).collect(),
                    )
                })
                .collect();
            let mut supports: BTreeMap<Pattern, u128> = BTreeMap::new();
            for pattern in graphs.iter().flat_map(|graph| patterns(graph, 4)) {
                *supports.entry(pattern).or_default() += 1;
            }
            let graph = together(&graphs);
            if graph.edges() == 0 {
                continue;
            }
            let ranked = renumber(&graph, &Context::default()).unwrap();
            for support in 1..4 {
                let expected = |fits: &dyn Fn(&Pattern) -> bool| -> BTreeMap<Pattern, u128> {
                    let frequent = supports.iter().filter(|(p, n)| **n >= support && fits(p));
                    frequent.map(|(pattern, n)| (pattern.clone(), *n)).collect()
                };
                let by_edges = expected(&|_| true);
                let limit = SizeLimit::MaxEdges(4);
                assert_eq!(
                    mined(&graph, limit, support as u64, 1),
                    by_edges,
                    "{trial}: {graphs:?}"
                );
                assert_eq!(
                    mined(&ranked, limit, support as u64, 2),
                    by_edges,
                    "{trial}: {graphs:?}"
                );
                let by_vertices = expected(&|pattern| pattern.vertices() <= 3);
                let limit = SizeLimit::MaxVertices(3);
                assert_eq!(mined(&graph, limit, support as u64, 1), by_vertices, "{trial}");
            }
        }
    }

    #[test]
    fn the_example_of_three_graphs() {
        let graph = together(&[
            (vec![1, 2, 4], vec![(0, 1, 7), (1, 2, 8)]),
            (vec![2, 4, 5], vec![(0, 1, 8), (0, 2, 9)]),
            (vec![1, 2, 4], vec![(0, 1, 7), (1, 2, 8), (0, 2, 9)]),
        ]);
        let found = mined(&graph, SizeLimit::MaxEdges(7), 2, 1);
        let shapes: Vec<(usize, usize, u128)> =
            found.iter().map(|(p, n)| (p.vertices(), p.edge_count(), *n)).collect();
        assert_eq!(shapes.len(), 3, "{found:?}");
        assert!(
            shapes.contains(&(2, 1, 2))
                && shapes.contains(&(2, 1, 3))
                && shapes.contains(&(3, 2, 2))
        );
        // A file of one graph contains each of its patterns once.
        let one = together(&[(vec![1, 2], vec![(0, 1, 7)])]);
        assert_eq!(
            mined(&one, SizeLimit::MaxEdges(2), 1, 1).into_values().collect::<Vec<_>>(),
            [1]
        );
        assert!(mined(&one, SizeLimit::MaxEdges(2), 2, 1).is_empty());
    }
}

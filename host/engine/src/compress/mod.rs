//! A smaller graph with the same information: cliques of k vertices, each replaced by one vertex adjacent to its
//! members (Ferraz et al., "DuMato", appendix A).
//!
//! An edge is shared if it is in more than one clique of k vertices. A clique that is replaced loses its edges
//! that are not shared, and costs a vertex and k edges: what that gains is its rank, and every clique of
//! rank 1 and above is replaced. Shared edges stay, so that no clique depends on another.
//!
//! No list of cliques is made, of which there are many: an edge that is not shared is in one clique, which is
//! searched for among the common neighbours of its ends.

mod text;

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::{Error, Result};
use gramer_graph::{Graph, VertexId, View};
use gramer_pattern::task::Task;

use crate::Engine;
use crate::per::Per;

pub use text::{read, write};

/// Minimum size of a clique that a vertex can replace with a gain: k (k − 1) / 2 > k + 1.
pub const LEAST: usize = 4;
/// Most, as small patterns have.
pub const MOST: usize = gramer_pattern::SMALL_VERTICES;

/// A replaced clique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliqueReplacement {
    /// Gain: removed edges, less a vertex and its edges.
    pub rank: u64,
    /// Ascending.
    pub vertices: Vec<VertexId>,
}

/// Result of a compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressionResult {
    /// Vertices of a clique.
    pub k: usize,
    /// Cliques of k vertices in the graph.
    pub cliques: u128,
    /// Replaced cliques, by descending rank, then by their vertices.
    pub replaced: Vec<CliqueReplacement>,
    /// Remaining edges, (u, v) with u < v, ascending by v, then by u.
    pub edges: Vec<(VertexId, VertexId)>,
    /// Sum of the ranks: by so much there are fewer vertices and edges.
    pub score: u64,
}

/// Replaces cliques of `k` vertices, which `engine` counts by edge.
///
/// ```
/// use gramer_engine::compress::compress;
/// use gramer_cpu::Cpu;
/// use gramer_base::Context;
/// use gramer_graph::Builder;
///
/// let mut builder = Builder::new();
/// for v in 0..5 {
///     (0..v).for_each(|u| builder.edge(u, v));
/// }
/// let graph = builder.build();
/// // Ten edges become five, and a vertex.
/// let compressed = compress(&Cpu, &graph, 5, &Context::default())?;
/// assert_eq!((compressed.replaced.len(), compressed.score), (1, 4));
/// assert!(compressed.edges.is_empty());
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] for a k out of [`LEAST`] to [`MOST`]; [`Error::Unsupported`] for a graph with edge labels;
/// [`Error::Interrupted`].
pub fn compress(
    engine: &dyn Engine,
    graph: &Graph,
    k: usize,
    context: &Context,
) -> Result<CompressionResult> {
    if !(LEAST..=MOST).contains(&k) {
        return Err(Error::usage(format!(
            "cliques of {LEAST} to {MOST} vertices are replaced, not of {k}: smaller ones gain nothing"
        )));
    }
    if graph.has_edge_labels() {
        return Err(Error::Unsupported(
            "the edges that replace a clique can't keep the labels of its edges: leave edge labels out with the \
             setting `edge_labels`"
                .into(),
        ));
    }
    let task = Task::Clique { k };
    let found = engine.prepare(graph, context)?.run_per(&task, Per::Edge, context)?;
    if !found.complete {
        return Err(Error::Interrupted);
    }
    let counts: Vec<u8> = found.columns[0].counts.iter().map(|n| n.min(2) as u8).collect();
    let cliques = found.results.first().map_or(0, |result| result.count);
    let mut own = EdgeFacts::new(graph.view(), k, counts);
    let mut replaced = vec![];
    let mut looks = CancelPoll::new(&context.cancel);
    let view = graph.view();
    for v in 0..view.vertices() as VertexId {
        for at in 0..own.lower(v) {
            looks.check(1)?;
            let edge = own.first[v as usize] + at;
            if own.counts[edge] == 1 && !own.seen[edge] {
                let vertices = own.clique(view.neighbours(v)[at], v, &mut looks)?;
                replaced.extend(own.ranked(vertices));
            }
        }
    }
    replaced.sort_by(|a, b| b.rank.cmp(&a.rank).then_with(|| a.vertices.cmp(&b.vertices)));
    let edges =
        crate::per::edges(view).zip(&own.gone).filter(|edge| !*edge.1).map(|e| e.0).collect();
    let score = replaced.iter().map(|clique| clique.rank).sum();
    Ok(CompressionResult { k, cliques, replaced, edges, score })
}

/// The edges and facts about them, in the order of [`crate::per::edges`].
struct EdgeFacts<'a> {
    view: View<'a>,
    k: usize,
    /// By vertex: its first edge to a smaller one.
    first: Vec<usize>,
    /// In how many cliques each edge is: none, one, or more.
    counts: Vec<u8>,
    /// Whether its clique has been found, and whether it is removed.
    seen: Vec<bool>,
    gone: Vec<bool>,
}

impl<'a> EdgeFacts<'a> {
    fn new(view: View<'a>, k: usize, counts: Vec<u8>) -> Self {
        let mut first = Vec::with_capacity(view.vertices());
        let mut edges = 0;
        for v in 0..view.vertices() as VertexId {
            first.push(edges);
            edges += view.neighbours(v).partition_point(|&u| u < v);
        }
        assert_eq!(edges, counts.len(), "a count for each edge");
        let (seen, gone) = (vec![false; edges], vec![false; edges]);
        EdgeFacts { view, k, first, counts, seen, gone }
    }

    /// Number of smaller neighbours.
    fn lower(&self, v: VertexId) -> usize {
        let next = self.first.get(v as usize + 1).copied().unwrap_or(self.counts.len());
        next - self.first[v as usize]
    }

    /// The edge of two vertices that is in a clique of k.
    fn edge(&self, u: VertexId, v: VertexId) -> Option<usize> {
        let (u, v) = (u.min(v), u.max(v));
        let at = self.view.neighbours(v)[..self.lower(v)].binary_search(&u).ok()?;
        Some(self.first[v as usize] + at).filter(|&edge| self.counts[edge] > 0)
    }

    /// The clique of k that an edge is in; no vertex has to be tried that isn't in another one with both.
    fn clique(
        &self,
        u: VertexId,
        v: VertexId,
        looks: &mut CancelPoll<'_>,
    ) -> Result<Vec<VertexId>> {
        let near = |w: &VertexId| self.edge(u, *w).is_some() && self.edge(v, *w).is_some();
        let candidates: Vec<VertexId> =
            self.view.neighbours(u).iter().copied().filter(near).collect();
        let mut chosen = vec![u, v];
        let found = self.extend(&mut chosen, &candidates, looks)?;
        assert!(found, "an edge that is counted once has a clique");
        chosen.sort_unstable();
        Ok(chosen)
    }

    /// Adds candidates that are adjacent to all chosen ones until there are k. Returns whether there are enough.
    fn extend(
        &self,
        chosen: &mut Vec<VertexId>,
        candidates: &[VertexId],
        looks: &mut CancelPoll<'_>,
    ) -> Result<bool> {
        let missing = self.k - chosen.len();
        if missing == 0 {
            return Ok(true);
        }
        for (at, &w) in candidates.iter().enumerate() {
            let rest = &candidates[at + 1..];
            if rest.len() + 1 < missing {
                break;
            }
            looks.check(1 + rest.len())?;
            let next: Vec<VertexId> =
                rest.iter().copied().filter(|&x| self.edge(w, x).is_some()).collect();
            chosen.push(w);
            if self.extend(chosen, &next, looks)? {
                return Ok(true);
            }
            chosen.pop();
        }
        Ok(false)
    }

    /// The clique with its rank, if that is 1 at least; its own edges then go.
    fn ranked(&mut self, vertices: Vec<VertexId>) -> Option<CliqueReplacement> {
        let pairs = vertices.iter().enumerate();
        let edges = pairs.flat_map(|(at, &v)| vertices[..at].iter().map(move |&u| (u, v)));
        let own: Vec<usize> = edges
            .map(|(u, v)| self.edge(u, v).expect("its vertices are neighbours"))
            .filter(|&edge| self.counts[edge] == 1)
            .collect();
        own.iter().for_each(|&edge| self.seen[edge] = true);
        let rank = (own.len() as u64).checked_sub(self.k as u64 + 1).filter(|&rank| rank > 0)?;
        own.iter().for_each(|&edge| self.gone[edge] = true);
        Some(CliqueReplacement { rank, vertices })
    }
}

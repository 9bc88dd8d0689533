//! Motifs of a graph with a hub of many leaves, from graphs with few of these.
//!
//! The leaves of a vertex, neighbours without another neighbour, are alike, and a connected set of three or more vertices
//! with j of them contains the vertex. A pattern thus has Σ C(ℓ, j) a(j) occurrences where the vertex has ℓ leaves, with
//! numbers a(0) to a(k − 1) that don't depend on ℓ. They are the differences of the counts with 0 to k − 1 leaves
//! (Newton's forward differences).

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::{Builder, Graph, Order, VertexId, View};

use crate::number::choices;

/// Largest count: sums of multiples of counts, as in edge-induced counts, then fit 128 bits.
const MOST: u128 = u128::MAX >> 20;

/// A graph with one vertex of too many neighbours, most of which are leaves.
pub(super) struct HubOfLeaves<'g> {
    view: View<'g>,
    hub: VertexId,
    leaves: usize,
}

impl<'g> HubOfLeaves<'g> {
    /// The graph, if exactly one of its vertices has more than `most` neighbours, but not without all leaves except `few`.
    pub fn new(view: View<'g>, most: usize, few: usize) -> Option<Self> {
        let mut hubs = (0..view.vertices() as VertexId).filter(|&v| view.degree(v) > most);
        let (hub, None) = (hubs.next()?, hubs.next()) else { return None };
        let leaves = view.neighbours(hub).iter().filter(|&&v| view.degree(v) == 1).count();
        let fits = leaves > few && view.degree(hub) - leaves + few <= most;
        fits.then_some(HubOfLeaves { view, hub, leaves })
    }

    /// The graph with so few leaves of the hub.
    ///
    /// # Errors
    /// As [`Builder::build_in`].
    pub fn with(&self, leaves: usize, context: &Context) -> Result<Graph> {
        let HubOfLeaves { view, hub, .. } = *self;
        let mut builder = Builder::new();
        let mut left = leaves;
        for v in 0..view.vertices() as VertexId {
            for &u in view.neighbours(v).iter().take_while(|&&u| u < v) {
                let leaf = (u == hub && view.degree(v) == 1) || (v == hub && view.degree(u) == 1);
                if leaf && left == 0 {
                    continue;
                }
                left -= usize::from(leaf);
                builder.edge(v.into(), u.into());
            }
        }
        builder.build_in(Order::RankOn1, context)
    }

    /// The counts of the graph from those with 0, 1, 2 … leaves; `None` if they need too many bits.
    pub fn counts(&self, mut samples: Vec<Vec<u128>>) -> Option<Vec<u128>> {
        let mut counts = vec![0u128; samples.first()?.len()];
        for j in 0.. {
            let ways = u128::try_from(choices(self.leaves as u64, j, true)).ok();
            for (count, &number) in counts.iter_mut().zip(samples.first()?) {
                if number > 0 {
                    *count =
                        count.checked_add(ways?.checked_mul(number)?).filter(|&sum| sum <= MOST)?;
                }
            }
            if samples.len() == 1 {
                return Some(counts);
            }
            for i in 1..samples.len() {
                let (before, after) = samples.split_at_mut(i);
                for (x, &y) in before[i - 1].iter_mut().zip(&after[0]) {
                    *x = y.checked_sub(*x)?;
                }
            }
            samples.pop();
        }
        None
    }
}

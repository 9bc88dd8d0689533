//! Motifs of a graph with hubs of many leaves, from graphs with few of these.
//!
//! The leaves of a vertex, neighbours without another neighbour, are alike, and a connected set of three or more vertices
//! with j of them contains the vertex. A pattern thus has Σ C(ℓ, j) a(j) occurrences where the vertex has ℓ leaves, with
//! numbers a(0) to a(k − 1) that don't depend on ℓ. They are the differences of the counts with 0 to k − 1 leaves
//! (Newton's forward differences). Of several hubs there is a number for each of them, and a set of k vertices has room
//! for all hubs with leaves in it and for these.

use std::collections::BTreeMap;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::{Builder, Graph, Order, VertexId, View};

use crate::number::choices;

/// Largest count: sums of multiples of counts, as in edge-induced counts, then fit 128 bits.
const MOST: u128 = u128::MAX >> 20;

/// Maximum number of hubs: three have 35 graphs with up to five leaves.
const MOST_HUBS: usize = 3;

/// A graph with few vertices of too many neighbours, most of which are leaves.
pub(super) struct HubsOfLeaves<'g> {
    view: View<'g>,
    /// With the number of leaves of each.
    hubs: Vec<(VertexId, usize)>,
}

/// Numbers of leaves, by hub.
pub(super) type Leaves = Vec<usize>;

impl<'g> HubsOfLeaves<'g> {
    /// The graph, if one to three of its vertices have more than `most` neighbours, but not without all leaves except
    /// `few`.
    pub fn new(view: View<'g>, most: usize, few: usize) -> Option<Self> {
        let hubs = (0..view.vertices() as VertexId).filter(|&v| view.degree(v) > most);
        let hubs: Vec<VertexId> = hubs.take(MOST_HUBS + 1).collect();
        if hubs.is_empty() || hubs.len() > MOST_HUBS {
            return None;
        }
        let with_leaves = |&hub: &VertexId| {
            let leaves = view.neighbours(hub).iter().filter(|&&v| view.degree(v) == 1).count();
            let fits = leaves > few && view.degree(hub) - leaves + few <= most;
            fits.then_some((hub, leaves))
        };
        let hubs = hubs.iter().map(with_leaves).collect::<Option<_>>()?;
        Some(HubsOfLeaves { view, hubs })
    }

    /// Numbers of leaves that sets of `k` vertices may have, ascending.
    pub fn samples(&self, k: usize) -> Vec<Leaves> {
        let mut all = vec![vec![]];
        for _ in &self.hubs {
            let longer = |of: &Leaves| {
                let of = of.clone();
                (0..k).map(move |leaves| [&of[..], &[leaves]].concat())
            };
            all = all.iter().flat_map(longer).collect();
            // With the hubs of these leaves.
            all.retain(|of| of.iter().map(|&n| n + usize::from(n > 0)).sum::<usize>() <= k);
        }
        all
    }

    /// The graph with so few leaves of each hub.
    ///
    /// # Errors
    /// As [`Builder::build_in`].
    pub fn with(&self, leaves: &Leaves, context: &Context) -> Result<Graph> {
        let view = self.view;
        let mut builder = Builder::new();
        let mut left = leaves.clone();
        for v in 0..view.vertices() as VertexId {
            for &u in view.neighbours(v).iter().take_while(|&&u| u < v) {
                let is_leaf_of = |hub: VertexId| {
                    (u == hub && view.degree(v) == 1) || (v == hub && view.degree(u) == 1)
                };
                if let Some(at) = self.hubs.iter().position(|&(hub, _)| is_leaf_of(hub)) {
                    if left[at] == 0 {
                        continue;
                    }
                    left[at] -= 1;
                }
                builder.edge(v.into(), u.into());
            }
        }
        builder.build_in(Order::RankOn1, context)
    }

    /// The counts of the graph from those with [few leaves](HubsOfLeaves::samples); `None` if they need too many bits.
    pub fn counts(&self, mut samples: BTreeMap<Leaves, Vec<u128>>) -> Option<Vec<u128>> {
        let all: Vec<Leaves> = samples.keys().cloned().collect();
        for hub in 0..self.hubs.len() {
            let most = all.iter().map(|of| of[hub]).max()?;
            for least in 1..=most {
                // From the most leaves down, so that the differences of fewer leaves are still the last ones.
                for of in all.iter().rev().filter(|of| of[hub] >= least) {
                    let mut fewer = of.clone();
                    fewer[hub] -= 1;
                    let fewer = samples[&fewer].clone();
                    for (x, y) in samples.get_mut(of)?.iter_mut().zip(fewer) {
                        *x = x.checked_sub(y)?;
                    }
                }
            }
        }
        let mut counts = vec![0u128; samples.values().next()?.len()];
        for (of, numbers) in &samples {
            let ways = of.iter().zip(&self.hubs).try_fold(1u128, |ways, (&j, &(_, leaves))| {
                let chosen = u128::try_from(choices(leaves as u64, j as u64, true)).ok()?;
                ways.checked_mul(chosen)
            });
            for (count, &number) in counts.iter_mut().zip(numbers) {
                if number > 0 {
                    *count =
                        count.checked_add(ways?.checked_mul(number)?).filter(|&sum| sum <= MOST)?;
                }
            }
        }
        Some(counts)
    }
}

#[cfg(test)]
mod tests {
    use gramer_pattern::task::Induced;

    use super::super::{NoSink, by_leaves, list};
    use super::*;
    use crate::{Job, Resident};

    #[test]
    fn few_leaves_give_the_counts_of_a_visit_to_every_set() {
        // Two adjacent hubs with leaves, one of them in a triangle, and a path that ends at a vertex with leaves.
        let mut builder = Builder::new();
        [(0, 1), (0, 2), (1, 2), (1, 3), (3, 4)].iter().for_each(|&(u, v)| builder.edge(u, v));
        [(0, 14), (1, 11), (4, 2)].iter().for_each(|&(hub, leaves)| {
            (0..leaves).for_each(|leaf| builder.edge(hub, 100 * (hub + 1) + leaf));
        });
        let graph = builder.build();
        let context = Context::with_threads(2);
        let job = Job::whole(&context);
        for k in [4, 5, 6] {
            let hubs = HubsOfLeaves::new(graph.view(), 10, k - 1).expect("both hubs have leaves");
            let sets = list(&Resident::new(&graph), k, Induced::Vertex, &NoSink, job);
            assert!(sets.1 && sets.0.iter().any(|&count| count > 0));
            assert_eq!(by_leaves(&hubs, k, &context).unwrap(), Some(sets.0), "{k}");
        }
    }

    #[test]
    fn a_set_of_vertices_has_room_for_its_hubs_and_leaves() {
        let of = |hubs: usize| {
            let mut builder = Builder::new();
            for hub in 0..hubs as u64 {
                (0..9).for_each(|leaf| builder.edge(hub, 10 + 10 * hub + leaf));
            }
            let graph = builder.build();
            HubsOfLeaves::new(graph.view(), 8, 5).map(|hubs| hubs.samples(6).len())
        };
        assert_eq!([1, 2, 3].map(of), [Some(6), Some(17), Some(35)]);
        assert_eq!([0, 4].map(of), [None, None]);
    }
}

//! The policies for pages, and the scores of those that are chosen once.

use gramer_base::choice::Choice;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::prepare::{by_occurrence, on_k};
use gramer_graph::{Graph, Order};

use crate::device::Device;
use crate::graph::ByDegree;
use crate::table::host_buffer::is_zero_copy;

/// Which pages are copied to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// The hottest.
    #[default]
    Heat,
    /// Pages that the last extension read most.
    Recent,
    /// Pages with the lists of the vertices of highest rank, Rank(ON_1), chosen once.
    Rank,
    /// None: all are read in the host's memory.
    Cold,
    /// Pages needed by most waiting elements: an element waits until all of its pages are copied, and nothing is
    /// read from the host's memory.
    Defer,
}

impl Access {
    /// Handling of cold pages: if kernels can't read the host's memory, elements wait for pages.
    pub(in crate::table) fn on(self, device: &Device) -> Self {
        match self {
            Access::Heat if !is_zero_copy(device.place().context) => Access::Defer,
            asked => asked,
        }
    }

    /// Scores of pages that are chosen once, of 2^`bits` entries of the lists at `offsets`; none for other policies.
    /// Pages of a vertex of higher Rank(ON_1) score higher, as do the first pages of a list (GRAMER's high-priority
    /// prefix).
    ///
    /// # Errors
    /// [`gramer_base::Error::Interrupted`].
    pub(in crate::table) fn scores(
        self,
        graph: &Graph,
        by: &ByDegree,
        (offsets, bits): (&[u32], u32),
        context: &Context,
    ) -> Result<Vec<f64>> {
        if self != Access::Rank {
            return Ok(vec![]);
        }
        if graph.order() == Order::RankOn1 {
            return Ok(scores(by.rank.iter().copied(), offsets, bits));
        }
        let order = by_occurrence(&on_k(graph.view(), 1, context)?, context)?;
        Ok(scores(order.into_iter().map(|v| by.rank[v as usize]), offsets, bits))
    }
}

impl Choice for Access {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Access::Heat, "heat", "The pages with the greatest access heat"),
        (Access::Recent, "recent", "The pages that the last extension read most"),
        (Access::Rank, "rank", "The pages of the vertices with the greatest ON_1, chosen once"),
        (Access::Cold, "cold", "No page"),
        (
            Access::Defer,
            "defer",
            "Pages that are waited for: the device reads no memory of the host",
        ),
    ];
}

/// Scores pages by their first place in the lists of `vertices`, one after another; the least is 1.
fn scores(vertices: impl Iterator<Item = u32>, offsets: &[u32], bits: u32) -> Vec<f64> {
    let entries = offsets.last().map_or(0, |&end| end as usize);
    let pages = entries.div_ceil(1 << bits);
    let (mut score, mut left) = (vec![0.0; pages], pages);
    for v in vertices {
        let [from, to] = [offsets[v as usize], offsets[v as usize + 1]];
        // An empty list lies on no page.
        let list = if from < to { from >> bits..((to - 1) >> bits) + 1 } else { 0..0 };
        for page in list {
            let score = &mut score[page as usize];
            if *score == 0.0 {
                *score = left as f64;
                left -= 1;
            }
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use gramer_graph::Builder;
    use gramer_graph::prepare::renumber;

    use super::*;
    use crate::graph::Numbering;

    #[test]
    fn pages_are_scored_in_the_order_of_the_lists() {
        // Lists of 1, 5, 0 and 4 entries, on pages of two.
        let offsets = [0, 1, 6, 6, 10];
        assert_eq!(scores([3, 2, 1, 0].into_iter(), &offsets, 1), [3.0, 2.0, 1.0, 5.0, 4.0]);
        assert_eq!(scores([0, 1, 2, 3].into_iter(), &offsets, 1), [5.0, 4.0, 3.0, 2.0, 1.0]);
        assert!(scores([0].into_iter(), &[0, 0], 1).is_empty());
    }

    /// Vertex 4 has two neighbours, of degree 3, and outranks vertex 0 with three leaves.
    #[test]
    fn vertices_are_ranked_by_on_1_and_not_by_degree() {
        let mut builder = Builder::new();
        for (u, v) in [(0, 1), (0, 2), (0, 3), (4, 5), (4, 6), (5, 7), (5, 8), (6, 9), (6, 10)] {
            builder.edge(u, v);
        }
        let (graph, context) = (builder.build(), Context::default());
        let pages = |graph: &Graph| {
            let by = ByDegree::new(graph, Numbering::Degree, &context).unwrap();
            let score = Access::Rank.scores(graph, &by, (&by.offsets, 0), &context).unwrap();
            let mut pages: Vec<usize> = (0..score.len()).collect();
            pages.sort_by(|&a, &b| score[b].total_cmp(&score[a]));
            pages
        };
        // By degree: leaves, 4, 0, 5, 6.
        let expected = [7..9, 12..18, 9..12, 0..7];
        assert_eq!(pages(&graph), expected.into_iter().flatten().collect::<Vec<_>>());
        // Ties of a graph in the order of rank: 5, 6, 0.
        let ranked = renumber(&graph, &context).unwrap();
        assert_eq!(pages(&ranked), (7..18).chain(0..7).collect::<Vec<_>>());
    }
}

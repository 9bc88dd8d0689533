//! Graphs whose input has an order that is better kept: roads, grids and meshes list vertices that are close together
//! one after another. Without hubs, Rank(ON_1) only scatters them.

use tracing::info;

use super::prepare::renumber;
use super::{AskedOrder, Builder, Graph, Order, VertexId, View};
use gramer_base::context::Context;
use gramer_base::error::Result;

/// Maximum number of neighbours of a vertex in a graph without hubs.
pub const FLAT: usize = 16;
/// Number of vertices below which all rows fit a cache, and any order is as good.
const LEAST: usize = if cfg!(test) { 64 } else { 1 << 16 };
/// Part of the vertices that neighbours of a vertex are close in: random numbers are close in one of 32 cases.
const CLOSE: usize = 64;
/// Distance between two rows of the sample.
const SAMPLE: usize = 16;

impl View<'_> {
    /// Whether no vertex has more than [`FLAT`] neighbours.
    pub fn is_flat(&self) -> bool {
        self.offsets.windows(2).all(|of| of[1] - of[0] <= FLAT as u64)
    }

    /// Whether the graph has no hubs and no labels, and neighbours have numbers close together.
    pub fn is_local(&self) -> bool {
        self.vertex_labels.is_none()
            && self.edge_labels.is_none()
            && self.vertices() >= LEAST
            && self.is_flat()
            && are_close(self.vertices(), |v| self.neighbours(v as VertexId))
    }
}

impl Graph {
    /// The graph in an order that it doesn't have. `None` if it has it, or keeps its own.
    pub(crate) fn ordered(&self, asked: AskedOrder, context: &Context) -> Result<Option<Self>> {
        let AskedOrder { order, keep_local } = asked;
        if order == Order::Input || self.order() == order {
            return Ok(None);
        }
        if keep_local && self.view().is_local() {
            info!("the order of the input is kept: no hubs, and neighbours are close together");
            return Ok(None);
        }
        renumber(self, context).map(Some)
    }
}

impl Builder {
    /// Keeps the order of the input where the graph [is local](View::is_local), whichever order is asked for.
    pub fn keep_local_order(&mut self) {
        self.keeps_local = true;
    }
}

/// Whether most entries of rows are close to the vertices of the rows.
pub(super) fn are_close<'a>(vertices: usize, row: impl Fn(usize) -> &'a [VertexId]) -> bool {
    let (mut close, mut all) = (0, 0);
    for v in (0..vertices).step_by(SAMPLE) {
        let row = row(v);
        all += row.len();
        close += row.iter().filter(|&&u| (u as usize).abs_diff(v) <= vertices / CLOSE).count();
    }
    vertices >= LEAST && 2 * close > all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of 2,000 vertices with chords, each vertex under the number `place` gives it.
    fn ring(place: impl Fn(u64) -> u64, hub: u64, order: Order, threads: usize) -> Graph {
        let mut builder = Builder::new();
        builder.keep_local_order();
        for v in 0..2000 {
            builder.edge(place(v), place((v + 1) % 2000));
            builder.edge(place(v), place((v * v + 3) % 20 / 10 + (v + 2) % 1998));
        }
        (0..hub).for_each(|v| builder.edge(place(0), place(7 * v + 5)));
        builder.build_in(order, &Context::with_threads(threads)).unwrap()
    }

    #[test]
    fn an_order_is_kept_if_neighbours_are_close_and_there_is_no_hub() {
        for threads in [1, 3] {
            let kept = ring(|v| v, 0, Order::RankOn1, threads);
            let expected = ring(|v| v, 0, Order::Input, threads);
            assert!(kept.view().is_local());
            assert_eq!(kept.order(), Order::Input);
            assert_eq!(kept.view().neighbours, expected.view().neighbours);
            let scattered = ring(|v| v * 1201 % 2000, 0, Order::RankOn1, threads);
            assert_eq!(scattered.order(), Order::RankOn1);
            let with_hub = ring(|v| v, 30, Order::RankOn1, threads);
            assert_eq!(with_hub.order(), Order::RankOn1);
        }
        let given = ring(|v| v, 0, Order::Input, 1);
        let ranked = renumber(&given, &Context::default()).unwrap();
        assert_eq!(ranked.order(), Order::RankOn1);
        let labelled = given.with_vertex_labels(Some(vec![1; 2000]));
        assert!(!labelled.view().is_local());
    }

    #[test]
    fn an_empty_builder_gives_an_empty_graph() {
        let graph = Builder::new().build();
        assert_eq!((graph.vertices(), graph.edges()), (0, 0));
        assert!(!graph.view().is_local());
    }
}

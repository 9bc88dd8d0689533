//! Houses and 5-cycles by the map, in two passes over the wedges of a root, its paths of two edges
//! (`docs/reference/set-core.md`, section *Wedges*).
//!
//! | module | content |
//! |---|---|
//! | [`banks`] | the banks of the map |
//! | [`image`] | layout of a graph for wedges |
//! | [`run`] | runs of a graph |
//! | [`units`] | roots, cut where they reach too many vertices, and the streams of several clusters |

use gramer_machine::Accelerator;
use gramer_pattern::task::Induced;
use gramer_pattern::{Pattern, named};

use super::numbers::{FIVE_CYCLES, HOUSES, SUM_DEGREES, SUM_EMBEDDINGS, SUM_PAIRS, SUM_TRIANGLES};
use super::sums::Total;

pub mod banks;
pub mod image;
pub mod run;
pub mod units;

/// What is counted, edge-induced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A square with a triangle on one of its edges.
    House,
    /// A cycle of five vertices.
    FiveCycle,
}

impl Shape {
    /// The shape that a pattern is, on a machine that counts it so.
    pub fn of(machine: &Accelerator, pattern: &Pattern, induced: Induced) -> Option<Self> {
        let labels = pattern.has_vertex_labels() || pattern.has_edge_labels();
        if !machine.has_wedges() || induced != Induced::Edge || pattern.vertices() != 5 || labels {
            return None;
        }
        let canonical = pattern.canonical().0;
        let is = |name| named(name).is_some_and(|named| named.canonical().0 == canonical);
        match () {
            () if is("house") => Some(Shape::House),
            () if is("5-cycle") => Some(Shape::FiveCycle),
            () => None,
        }
    }

    /// Its operation.
    pub(super) fn number(self) -> u64 {
        match self {
            Shape::House => HOUSES,
            Shape::FiveCycle => FIVE_CYCLES,
        }
    }

    /// Occurrences, from the sums of all clusters over all roots. Of some roots there may be more to take off than
    /// there is.
    ///
    /// # Panics
    /// If the sums aren't those of all roots.
    pub fn occurrences(self, total: &Total) -> u128 {
        let found = total[SUM_EMBEDDINGS];
        match self {
            // Each diamond is met at its four outer edges, where the triangle's third vertex is one of the square's.
            Shape::House => found - 4 * total[SUM_PAIRS],
            // Of the pairs of wedges a–b–c, a–e–d over each edge c–d those are too many that meet.
            Shape::FiveCycle => found - (total[SUM_DEGREES] - 3 * total[SUM_TRIANGLES]) / 2,
        }
    }
}

#[cfg(test)]
mod tests;

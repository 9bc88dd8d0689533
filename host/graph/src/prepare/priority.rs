//! τ and the priority bounds.

use gramer_machine::{ENTRY_BYTES, RECORD_BYTES};

use crate::View;
use gramer_base::error::{Error, Result};

const VERTEX_RECORD: u64 = RECORD_BYTES as u64;
const EDGE_ENTRY: u64 = ENTRY_BYTES as u64;

/// On-chip capacity of a machine, in vertex records (16 bytes) and edge entries (4 bytes), over all memory
/// partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacities {
    /// Vertex records in the high-priority scratchpads.
    pub vertex_scratchpad: u64,
    /// Vertex records in the low-priority caches.
    pub vertex_cache: u64,
    /// Edge entries in the high-priority scratchpads.
    pub edge_scratchpad: u64,
    /// Edge entries in the low-priority caches.
    pub edge_cache: u64,
}

impl Capacities {
    /// The machine of the paper: 8 partitions, each with 128 KiB of scratchpad and as much cache
    /// for vertices, and twice that for edges; 6 MiB in all.
    pub const PAPER: Capacities = Capacities::with_bytes(6 << 20);

    /// A machine with `bytes` of on-chip data, divided as the paper's: a third for vertices, two
    /// thirds for edges, half of each scratchpad and half cache.
    pub const fn with_bytes(bytes: u64) -> Self {
        let (vertices, edges) = (bytes / 6 / VERTEX_RECORD, bytes / 3 / EDGE_ENTRY);
        Capacities {
            vertex_scratchpad: vertices,
            vertex_cache: vertices,
            edge_scratchpad: edges,
            edge_cache: edges,
        }
    }

    /// All items on the chip, of high and low priority: the memory in the equation of τ.
    pub fn items(&self) -> u64 {
        self.vertex_scratchpad + self.vertex_cache + self.edge_scratchpad + self.edge_cache
    }
}

/// Which vertices and edges have high priority, section IV-B and VI-A of the paper. In the order
/// of Rank(ON_1) they are prefixes: a vertex is high if and only if its number is below
/// `vertex_bound`, an edge entry if and only if its index is below `edge_bound`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Priority {
    /// min(50 %, memory / (2 (V + E))), or the requested value; 0 to 1.
    pub tau: f64,
    /// min(⌊τV⌋, vertex records that the scratchpads hold).
    pub vertex_bound: u64,
    /// min(⌊τE⌋, edge entries that the scratchpads hold). E counts the entries of the edge
    /// array, two an undirected edge.
    pub edge_bound: u64,
}

impl Priority {
    /// The bounds for a graph on a machine; `tau` overrides the equation.
    ///
    /// # Errors
    /// [`Error::Usage`] if `tau` is not from 0 to 1.
    pub fn of(view: View<'_>, machine: &Capacities, tau: Option<f64>) -> Result<Self> {
        let (vertices, entries) = (view.vertices() as u64, view.neighbours.len() as u64);
        let (tau, share): (f64, Box<dyn Fn(u64) -> u64>) = match tau {
            Some(tau) if (0.0..=1.0).contains(&tau) => {
                (tau, Box::new(move |items| (tau * items as f64).floor() as u64))
            }
            Some(tau) => {
                return Err(Error::usage(format!("tau is {tau}, but must be from 0 to 1")));
            }
            None => {
                // In whole numbers, so that no rounding moves a bound.
                let memory = machine.items() as u128;
                let twice = 2 * (vertices as u128 + entries as u128);
                let (over, under) = if 2 * memory >= twice { (1, 2) } else { (memory, twice) };
                let share = move |items: u64| (items as u128 * over / under) as u64;
                (over as f64 / under as f64, Box::new(share))
            }
        };
        Ok(Priority {
            tau,
            vertex_bound: share(vertices).min(machine.vertex_scratchpad),
            edge_bound: share(entries).min(machine.edge_scratchpad),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A view of the given size; the bounds depend on nothing else.
    fn priority(vertices: usize, entries: usize, tau: Option<f64>) -> Result<Priority> {
        let (offsets, neighbours) = (vec![0; vertices + 1], vec![0; entries]);
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: None,
            edge_labels: None,
        };
        Priority::of(view, &Capacities::PAPER, tau)
    }

    #[test]
    fn the_papers_machine_holds_what_its_table_says() {
        let m = Capacities::PAPER;
        assert_eq!(m.vertex_scratchpad, 8 * (128 << 10) / 16);
        assert_eq!(m.vertex_cache, 8 * (128 << 10) / 16);
        assert_eq!(m.edge_scratchpad, 8 * (256 << 10) / 4);
        assert_eq!(m.edge_cache, 8 * (256 << 10) / 4);
        assert_eq!(m.items(), 1_179_648);
    }

    #[test]
    fn a_small_graph_has_half_of_itself_in_high_priority() {
        let p = priority(3_265, 9_073, None).unwrap();
        assert_eq!((p.tau, p.vertex_bound, p.edge_bound), (0.5, 1_632, 4_536));
        assert_eq!(priority(0, 0, None).unwrap().vertex_bound, 0);
    }

    #[test]
    fn a_large_graph_gets_the_share_that_fits() {
        // τ = 1179648 / (2 · 4000000) = 0.147456.
        let p = priority(1_000_000, 3_000_000, None).unwrap();
        assert_eq!((p.vertex_bound, p.edge_bound), (65_536, 442_368));
        assert!((p.tau - 0.147456).abs() < 1e-12);
        // τ is exactly one half where memory = V + E.
        let p = priority(179_648, 1_000_000, None).unwrap();
        assert_eq!((p.tau, p.vertex_bound, p.edge_bound), (0.5, 65_536, 500_000));
    }

    #[test]
    fn tau_can_be_chosen_within_its_range() {
        let p = priority(1_000, 5_000, Some(0.05)).unwrap();
        assert_eq!((p.vertex_bound, p.edge_bound), (50, 250));
        for wrong in [-0.1, 1.5, f64::NAN] {
            let message = priority(10, 10, Some(wrong)).unwrap_err().to_string();
            assert!(message.contains("must be from 0 to 1"), "{message}");
        }
    }
}

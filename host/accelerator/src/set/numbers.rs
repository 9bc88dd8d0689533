//! Numbers of the set core's operations and sums in streams and headers.

/// Numbers of the operations and sums, by the names of [`gramer_machine::set`].
mod number {
    use gramer_machine::set::{OPERATIONS, SUM_NAMES};

    pub const fn operation(name: &str) -> u64 {
        find(&OPERATIONS, name) as u64
    }

    pub const fn sum(name: &str) -> usize {
        find(&SUM_NAMES, name)
    }

    const fn find(names: &[(&str, &str)], name: &str) -> usize {
        let mut at = 0;
        while !same(names[at].0.as_bytes(), name.as_bytes()) {
            at += 1;
        }
        at
    }

    const fn same(a: &[u8], b: &[u8]) -> bool {
        if a.len() != b.len() {
            return false;
        }
        let mut at = 0;
        while at < a.len() {
            if a[at] != b[at] {
                return false;
            }
            at += 1;
        }
        true
    }
}

/// The operation that counts cliques.
pub const CLIQUES: u64 = number::operation("cliques");
/// The operation that sums over edges.
pub const EDGES: u64 = number::operation("edges");
/// The operation that counts 4-cycles too.
pub const PATHS: u64 = number::operation("paths");
/// The operation that executes the words of a search plan.
pub const PLAN: u64 = number::operation("plan");
/// The operation that multiplies triangles and 4-cycles on edges.
pub const HOUSES: u64 = number::operation("houses");
/// The operation that counts 5-cycles.
pub const FIVE_CYCLES: u64 = number::operation("five_cycles");
/// The operation that sums products for 5-motifs.
pub const MOTIFS5: u64 = number::operation("motifs5");
/// Position of the number of cliques.
pub const SUM_CLIQUES: usize = number::sum("cliques");
/// Position of Σ t over edges.
pub const SUM_TRIANGLES: usize = number::sum("triangles");
/// Position of Σ t (t − 1) / 2 over edges.
pub const SUM_PAIRS: usize = number::sum("pairs");
/// Position of Σ t (deg u + deg v) over edges.
pub const SUM_DEGREES: usize = number::sum("degrees");
/// Position of the number of 4-cycles.
pub const SUM_CYCLES: usize = number::sum("cycles");
/// Position of the paths of 2 that were counted for them.
pub const SUM_PATHS: usize = number::sum("paths");
/// Position of the marked neighbours.
pub const SUM_MARKS: usize = number::sum("marks");

/// Position of the sum of a search plan.
pub const SUM_EMBEDDINGS: usize = number::sum("embeddings");

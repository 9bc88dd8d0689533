//! From the sums of the set core to counts of patterns, by the equations of [`MotifPlan`].

use gramer_engine::Units;
use gramer_graph::View;
use gramer_machine::set::SUMS_MOST;
use gramer_pattern::closing::forms;
use gramer_pattern::plan::motif::MotifPlan;

use super::numbers::{SUM_CLIQUES, SUM_CYCLES, SUM_DEGREES, SUM_PAIRS, SUM_TRIANGLES};

/// The sums of all clusters and runs of a task; those that a machine doesn't have are 0.
pub type Total = [u128; SUMS_MOST as usize];

/// The sums of a run, which has as many as its machine.
pub fn total_of(counts: &[u64]) -> Total {
    std::array::from_fn(|sum| counts.get(sum).copied().unwrap_or(0).into())
}

/// What degrees alone say of a graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Degrees {
    /// Σ C(deg, 2) over vertices.
    pub wedges: u128,
    /// Σ C(deg, 3) over vertices.
    pub stars: u128,
    /// Σ (deg u − 1)(deg v − 1) over edges.
    pub paths: u128,
}

impl Degrees {
    /// Those of a graph.
    pub fn of(view: View<'_>) -> Self {
        Degrees::of_units(view, Units::All)
    }

    /// Those of a share: a vertex is the unit's that has the last position of its list, an edge its first
    /// vertex'.
    pub fn of_units(view: View<'_>, units: Units<'_>) -> Self {
        let mut sums = Degrees::default();
        for unit in units.iter(view) {
            let v = unit.start;
            if (unit.limit as usize) < view.degree(v) {
                continue;
            }
            let d = view.degree(v) as u128;
            sums.wedges += d * d.saturating_sub(1) / 2;
            sums.stars += d * d.saturating_sub(1) * d.saturating_sub(2) / 6;
            let row = view.neighbours(v);
            let after = &row[row.partition_point(|&u| u < v)..];
            let others: u64 = after.iter().map(|&u| view.degree(u) as u64 - 1).sum();
            sums.paths += u128::from(others) * d.saturating_sub(1);
        }
        sums
    }
}

/// The sums of the closed formulas, of a share or of all: those of shares add up.
pub fn formulas(total: &Total, degrees: &Degrees) -> forms::Sums {
    let t = total[SUM_TRIANGLES];
    [
        total[SUM_CLIQUES],
        total[SUM_CYCLES],
        t,
        total[SUM_PAIRS],
        total[SUM_DEGREES] - 4 * t,
        degrees.paths,
        degrees.stars,
        degrees.wedges,
    ]
}

/// Vertex-induced counts of the motifs of 3 vertices, by number in their dictionary. `triangles` is
/// the number of 3-cliques.
pub fn motifs3(triangles: u128, degrees: &Degrees) -> Vec<u128> {
    let plan = MotifPlan::of(3);
    // One vertex is left of a wedge without its ends: each pair of its neighbours is a term.
    let mut sums = vec![0; plan.sums()];
    for term in plan.terms(0) {
        sums[term.sum as usize] += degrees.wedges;
    }
    plan.solve(&sums, triangles, |_| 0)
}

/// Vertex-induced counts of the motifs of 4 vertices, by number in their dictionary, from a run of
/// cliques with k = 4 and of paths.
pub fn motifs4(total: &Total, degrees: &Degrees) -> Vec<u128> {
    let plan = MotifPlan::of(4);
    let [t, pairs] = [total[SUM_TRIANGLES], total[SUM_PAIRS]];
    let squares = 2 * pairs + t; // Σ t²
    let near = total[SUM_DEGREES] - 2 * t; // Σ t (deg u − 1 + deg v − 1)
    let mut sums = vec![0; plan.sums()];
    // What is left are edges uv: t vertices are next to both ends, deg u − 1 − t to u alone.
    for term in plan.terms(1) {
        sums[term.sum as usize] += match (term.first, term.second) {
            (3, 3) => pairs,
            (1, 3) => near - 2 * squares, // with (2, 3), which belongs to the same sum
            (1, 2) => degrees.paths + squares - near,
            // C(deg u − 1 − t, 2), with (2, 2): Σ C(deg u − 1, 2) over edges is 3 Σ C(deg, 3).
            (1, 1) => 3 * degrees.stars + squares + t - near,
            _ => 0,
        };
    }
    plan.solve(&sums, total[SUM_CLIQUES], |_| total[SUM_CYCLES])
}

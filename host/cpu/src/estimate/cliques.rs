//! Cliques: arcs of the oriented graph are drawn, and those with this arc first are counted.
//!
//! An arc from a start vertex to a target has r vertices that both ends lead to, and so at most
//! C(r, k − 2) cliques. Arcs are drawn by this weight, so that a sample — the count of an arc over
//! its probability — is never more than the sum of the weights.

use chacha20::ChaCha8Rng;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_pattern::Pattern;

use super::super::clique::local::Local;
use super::super::clique::pivot::{self, Leaves};
use super::super::oriented::Oriented;
use super::super::{Job, Resident, StartVertices, run_units};
use super::CumulativeWeights;
use gramer_engine::estimate::{Precision, SampleSink, SampledCounts, Sampler, estimate, unit};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(super) fn run(
    graph: &Resident,
    k: usize,
    precision: Precision,
    context: &Context,
) -> Result<SampledCounts> {
    let oriented = graph.oriented(context)?;
    let arcs = Arcs::new(graph, oriented, k, context)?;
    Ok(estimate(vec![Pattern::clique(k)], &arcs, precision, context))
}

struct Arcs<'a> {
    oriented: &'a Oriented,
    k: usize,
    /// By arc: the most cliques that it can be the first of.
    weights: CumulativeWeights,
    /// The start vertex of an arc is the last whose first arc isn't after it.
    context: &'a Context,
}

impl<'a> Arcs<'a> {
    fn new(
        graph: &Resident,
        oriented: &'a Oriented,
        k: usize,
        context: &'a Context,
    ) -> Result<Self> {
        let common: Vec<AtomicU32> =
            std::iter::repeat_with(|| AtomicU32::new(0)).take(oriented.arcs()).collect();
        let list = |n| oriented.targets(n).len();
        let units = StartVertices::numbered(graph.graph.view(), &oriented.vertex).units(
            Job::whole(context),
            list,
            |n| (list(n) as u64).pow(2),
        );
        let (_, complete) = run_units(
            &units,
            context,
            || Local::new(false),
            |local, unit| {
                local.enter(oriented, unit.start);
                let (first, width) = (oriented.row(unit.start).start, local.width());
                for at in unit.range() {
                    let row = &local.rows()[at * width..(at + 1) * width];
                    let size = row.iter().map(|word| word.count_ones()).sum();
                    common[first + at].store(size, Relaxed);
                }
                ControlFlow::Continue(())
            },
        );
        if !complete {
            context.cancel.check()?;
        }
        let most = |common: u32| {
            let common = f64::from(common);
            (0..k - 2).map(|i| (common - i as f64).max(0.0) / (i + 1) as f64).product::<f64>()
        };
        let weights =
            CumulativeWeights::new(common.iter().map(|common| most(common.load(Relaxed))));
        Ok(Arcs { oriented, k, weights, context })
    }

    /// The start vertex of an arc.
    fn start(&self, arc: usize) -> u32 {
        let (mut from, mut to) = (0, self.oriented.vertices() as u32);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.oriented.row(middle).start <= arc { from = middle } else { to = middle }
        }
        from
    }
}

impl Sampler for Arcs<'_> {
    type State = (Local, Leaves);

    fn state(&self) -> Self::State {
        (Local::new(true), Leaves::new(self.k..self.k + 1, self.oriented.degeneracy()))
    }

    fn draw(
        &self,
        (local, leaves): &mut Self::State,
        rng: &mut ChaCha8Rng,
        samples: u64,
        take: &mut SampleSink<'_>,
    ) {
        if self.weights.total() == 0.0 {
            return;
        }
        /// Draws that are sorted together, so that a start vertex is entered once for all of its arcs.
        const TOGETHER: u64 = 1 << 14;
        let mut left = samples;
        let mut arcs = vec![];
        while left > 0 {
            let now = left.min(TOGETHER);
            left -= now;
            arcs.clear();
            arcs.extend((0..now).map(|_| self.weights.at(unit(rng))));
            arcs.sort_unstable();
            let mut known: Option<(usize, f64)> = None;
            for &arc in &arcs {
                let value = match known {
                    Some((last, value)) if last == arc => value,
                    _ => {
                        let start = self.start(arc);
                        local.enter(self.oriented, start);
                        let at = arc - self.oriented.row(start).start;
                        leaves.clear();
                        pivot::count_with(local, at, leaves, &self.context.cancel);
                        // Up to C(degeneracy, k - 2) fits by far.
                        let count =
                            leaves.counts(false).map_or(f64::MAX, |counts| counts[0] as f64);
                        count * self.weights.total() / self.weights.weight(arc)
                    }
                };
                known = Some((arc, value));
                if !take(&[(0, value)]) {
                    return;
                }
            }
        }
    }
}

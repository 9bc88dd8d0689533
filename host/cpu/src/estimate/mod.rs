//! Estimates of the CPU engine: unbiased samples, one way of drawing them for each task.

mod cliques;
mod matches;
mod motifs;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_pattern::task::Task;

use super::Resident;
use gramer_engine::estimate::{Precision, SampledCounts};

/// Estimates cliques of k vertices, motifs or matches.
///
/// # Errors
/// [`Error::Usage`] as the exact task; [`Error::Unsupported`] for occurrences of a pattern whose
/// number doesn't follow from that of its mappings.
pub(super) fn run(
    graph: &Resident,
    task: &Task,
    precision: Precision,
    context: &Context,
) -> Result<SampledCounts> {
    let found = match task {
        Task::Clique { k } => cliques::run(graph, *k, precision, context),
        Task::Motif { k, induced } => Ok(motifs::run(graph, *k, *induced, precision, context)),
        Task::Match { pattern, induced, mappings } => {
            matches::run(graph, pattern, *induced, mappings.is_some(), precision, context)
        }
        _ => Err(Error::Unsupported(format!("no sample is made for the task {}", task.name()))),
    };
    match found {
        Err(Error::Interrupted) => Ok(SampledCounts::default()),
        other => other,
    }
}

/// Weights to draw by.
struct CumulativeWeights {
    /// Sums of the weights up to and with each item.
    until: Vec<f64>,
}

impl CumulativeWeights {
    fn new(weights: impl Iterator<Item = f64>) -> Self {
        let sum = |sum: &mut f64, weight: f64| {
            *sum += weight;
            Some(*sum)
        };
        CumulativeWeights { until: weights.scan(0.0, sum).collect() }
    }

    /// The sum of all weights.
    fn total(&self) -> f64 {
        self.until.last().copied().unwrap_or(0.0)
    }

    fn weight(&self, at: usize) -> f64 {
        self.until[at] - if at == 0 { 0.0 } else { self.until[at - 1] }
    }

    /// The item that a number in [0, 1) selects, never one of weight 0.
    fn at(&self, unit: f64) -> usize {
        let wanted = unit * self.total();
        let at = self.until.partition_point(|&until| until <= wanted);
        // Rounding may lead to the end.
        at.min(self.until.partition_point(|&until| until < self.total()))
    }
}

//! SGSI's join (Zeng et al., GSI and its successor): a table of partial matches is joined with the candidates
//! of the next vertex, by Prealloc-Combine over PCSR, within a budget of device memory.
//!
//! | module | what it holds |
//! |---|---|
//! | `settings` | how it is done |
//! | `pcsr` | neighbours by the label of the edge, in segments |
//! | `query` | a pattern's order, candidates and lists |
//! | `store` | segments on the device |
//! | `room` | how the budget is divided |
//! | `layers` | rows by length, and the model of the costs |
//! | `run` | level by level, batch by batch |
//! | `batch` | one batch of rows |

mod batch;
mod layers;
mod pcsr;
mod query;
mod room;
mod run;
mod settings;
mod store;

use std::sync::Arc;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_graph::Graph;

use crate::device::Device;
use crate::graph::ByDegree;
use crate::search::Steps;
use crate::signature::SignatureTable;
use crate::table::{Ablation, TableSettings};

pub use layers::Layers;
pub use settings::{FirstEdge, Join, JoinSettings, Rows};

pub(crate) use query::{LabelCounts, MatchQuery, order_of, sizes};

use layers::Costs;
use query::Lists;
use run::{JoinRun, KeptBuffers};

const COMMON: &str = include_str!("../../kernels/common.clh");
const SHARED: &str = include_str!("../../kernels/join.clh");
const JOIN: &str = include_str!("../../kernels/join.cl");
const SCANS: &str = include_str!("../../kernels/join_scan.cl");
const LAYERS: &str = include_str!("../../kernels/join_layers.cl");

/// Sums of a run, as in `join.clh`.
const SUMS: usize = 5;

/// State shared by the joins of a graph: edges by label, measured costs of the device, and what stays there, so that a
/// query finds signatures and PCSR.
#[derive(Default)]
pub(crate) struct Joins {
    lists: Lists,
    costs: Option<Costs>,
    signatures: SignatureTable,
    kept: KeptBuffers,
}

/// Target of a join.
pub(crate) struct Target<'a> {
    pub device: &'a Arc<Device>,
    pub by: &'a ByDegree,
    pub graph: &'a Graph,
    pub settings: &'a TableSettings,
    pub steps: Steps,
    pub labels: &'a LabelCounts,
}

/// Totals of a run in addition to the kernels' sums.
#[derive(Debug, Clone, Default)]
struct RunTotals {
    /// Launches by level, those of the levels below left out.
    launches: Vec<u64>,
    /// Lengths of all buffers.
    allocated: u64,
    /// Rows of all tables.
    rows: u64,
    batches: u64,
    /// Segments that early ends left out.
    skipped: u64,
    /// Rows by layer.
    layers: [u64; 4],
}

impl Joins {
    /// Frees the device's memory.
    pub fn release(&mut self) {
        (self.signatures, self.kept) = Default::default();
    }

    /// Counts the embeddings of a query, from these roots or from all; the flag says whether the run is complete.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the budget is too small, [`Error::Device`].
    pub fn count(
        &mut self,
        target: &Target<'_>,
        asked: &MatchQuery<'_>,
        roots: Option<&[u32]>,
        context: &Context,
        metrics: &mut DeviceMetrics,
    ) -> Result<(u128, bool)> {
        let kept = self.signatures.is_kept() || self.kept.is_some();
        let counted = self.count_with(target, asked, roots, context, metrics, true);
        match counted {
            // It may do without what is kept.
            Err(Error::Unsupported(_)) if kept || self.signatures.is_kept() => {
                self.release();
                self.count_with(target, asked, roots, context, metrics, false)
            }
            counted => counted,
        }
    }

    fn count_with(
        &mut self,
        target: &Target<'_>,
        asked: &MatchQuery<'_>,
        roots: Option<&[u32]>,
        context: &Context,
        metrics: &mut DeviceMetrics,
        keep: bool,
    ) -> Result<(u128, bool)> {
        let query = query::Query::new(target, asked, &mut self.signatures, keep)?;
        if query.candidates.iter().any(|c| c.iter().all(|&word| word == 0)) {
            return Ok((0, true));
        }
        let kept = std::mem::take(&mut self.kept);
        let mut run = JoinRun::new(target, &mut self.lists, kept, &query, &mut self.costs)?;
        let begun = run.begin(roots);
        let complete = run.all(&begun, context);
        // A run that failed may have left kernels in the queue that use the buffers.
        if complete.is_err() {
            let _ = target.device.finish();
        }
        let complete = complete?;
        let sums = run.sums()?;
        run.report(metrics, &sums);
        self.kept = run.keep();
        Ok((sums[0], complete))
    }
}

/// Compiler options for mechanisms that are left out.
fn left_out(without: &Ablation) -> String {
    let mut defines = String::new();
    for (name, set) in [("NO_SETS", without.sets), ("NO_CACHE", without.write_cache)] {
        if set {
            defines.push_str(&format!("#define {name}\n"));
        }
    }
    defines
}

impl JoinRun<'_> {
    /// Reports the work of the run.
    fn report(&self, metrics: &mut DeviceMetrics, sums: &[u128; SUMS]) {
        let count = |n: u128| Value::Count(n.min(u64::MAX.into()) as u64);
        let did = &self.did;
        for (level, &launches) in did.launches.iter().enumerate() {
            metrics.detail(format!("join.launches.{}", level + 1), "", Value::Count(launches));
        }
        metrics.detail("join.batches", "", Value::Count(did.batches));
        metrics.detail("join.rows", "", Value::Count(did.rows));
        metrics.detail("join.allocated", "", Value::Count(did.allocated));
        metrics.detail("join.loads", "", count(sums[1]));
        metrics.detail("join.stores", "", count(sums[2]));
        metrics.detail("join.chained", "", count(sums[3]));
        metrics.detail("join.tested", "", count(sums[4]));
        metrics.detail("join.segments", "", Value::Setting(self.store.most_segments() as u64));
        metrics.detail("join.segments.loaded", "", Value::Count(self.store.loaded));
        metrics.detail("join.segments.skipped", "", Value::Count(did.skipped));
        let signatures = self.query.signatures as u64;
        metrics.detail("join.signatures.segments", "", Value::Setting(signatures));
        metrics.detail("join.overflowing", "", Value::Setting(self.store.overflowing()));
        for (name, rows) in ["warp", "warps", "block", "device"].iter().zip(did.layers) {
            metrics.detail(format!("join.layer.{name}"), "", Value::Count(rows));
        }
    }
}

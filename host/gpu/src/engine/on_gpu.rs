//! A graph for a GPU, in each of the forms that methods ask for.

use std::sync::OnceLock;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::memory::Phase;
use gramer_engine::method::run_plan;
use gramer_engine::{DeviceGraph, Failure, Outcome, Plan, Query, Reply, Run};
use gramer_graph::Graph;

use super::Gpu;
use super::methods::METHODS;
use super::on_device::{ResidentGraph, made};
use crate::Strategy;
use crate::graph::{ByDegree, Numbering};
use crate::program::CompilerStop;
use crate::resident::Resident;
use crate::stop::RunGuard;
use crate::table::OnDemandGraph;

/// Representations of a graph on the device, each created on first use.
pub struct GpuGraph {
    gpu: Gpu,
    graph: Graph,
    /// In the memory of the device, by [`Numbering::Degree`] and by [`Numbering::Ids`].
    resident: [OnceLock<ResidentGraph>; 2],
    /// Representation for the strategy `table`.
    table: OnceLock<OnDemandGraph>,
}

impl GpuGraph {
    /// Creates it without uploading anything.
    pub(super) fn new(gpu: &Gpu, graph: &Graph) -> Self {
        GpuGraph {
            gpu: gpu.clone(),
            graph: graph.clone(),
            resident: Default::default(),
            table: OnceLock::new(),
        }
    }

    /// The graph in the memory of the device, for a task by a strategy.
    fn resident(&self, strategy: Strategy, query: &Query, run: &Run<'_>) -> Result<&ResidentGraph> {
        let (by_ids, context) = (run.by_ids(), run.context);
        let numbering = if by_ids { Numbering::Ids } else { Numbering::Degree };
        made(&self.resident[usize::from(by_ids)], || {
            let _phase = Phase::begin(&"bringing the graph to the GPU");
            let _heeding = CompilerStop::begin(&context.cancel);
            let _watched = RunGuard::begin(&context.cancel, None)?;
            let device = self.gpu.device()?;
            device.budget.take_refusal();
            let resident = Resident::new(device.clone(), &self.graph, numbering, context);
            let resident = match (resident, device.budget.take_refusal()) {
                // A refusal of the graph names what the whole task takes.
                (Err(_), Some(refusal)) => {
                    let by = ByDegree::new(&self.graph, numbering, context)?;
                    let sizes = self.gpu.sizes(&self.graph, &by)?;
                    let first = self.gpu.first(&query.task, strategy);
                    return Err(refusal.error(sizes.least(&query.task, first, query.list)));
                }
                (resident, _) => resident?,
            };
            Ok(ResidentGraph::new(&self.gpu, resident, numbering, &self.graph))
        })
    }

    /// The graph as tables extend it.
    pub(super) fn table(&self, context: &Context) -> Result<&OnDemandGraph> {
        made(&self.table, || {
            let _phase = Phase::begin(&"bringing the graph to the GPU");
            let _heeding = CompilerStop::begin(&context.cancel);
            let _watched = RunGuard::begin(&context.cancel, None)?;
            OnDemandGraph::new(&self.gpu, &self.graph, context)
        })
    }

    /// Answers a question by a strategy other than `table`.
    pub(super) fn by(
        &self,
        strategy: Strategy,
        query: &Query,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        let on = match self.resident(strategy, query, run) {
            Err(Error::Interrupted) => return Ok(Outcome::new(vec![], false).into()),
            on => on?,
        };
        Ok(on.answer(strategy, &query.task, run)?.into())
    }
}

impl DeviceGraph for GpuGraph {
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        run_plan(METHODS, query, self, plan, run)
    }
}

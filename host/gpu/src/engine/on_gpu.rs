//! A graph for a GPU, in each of the forms that methods ask for.

use std::sync::OnceLock;

use gramer_engine::method::run_plan;
use gramer_engine::{Engine, Failure, Found, Plan, Prepared, Query, Run};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_graph::memory::Phase;

use super::Gpu;
use super::methods::METHODS;
use super::on_device::{OnDevice, made};
use crate::Strategy;
use crate::graph::{ByDegree, Numbering};
use crate::program::Heeding;
use crate::resident::Resident;
use crate::stop::Watched;
use crate::table::OnTable;

/// The forms, each made when a method first needs it.
pub struct OnGpu<'a> {
    gpu: &'a Gpu,
    graph: &'a Graph,
    /// In the memory of the device, by [`Numbering::Degree`] and by [`Numbering::Ids`].
    resident: [OnceLock<OnDevice<'a>>; 2],
    /// As the strategy `table` has it.
    table: OnceLock<OnTable<'a>>,
}

impl<'a> OnGpu<'a> {
    /// Nothing is on the device yet.
    pub(super) fn new(gpu: &'a Gpu, graph: &'a Graph) -> Self {
        OnGpu { gpu, graph, resident: Default::default(), table: OnceLock::new() }
    }

    /// The graph in the memory of the device, for a task by a strategy.
    fn resident(&self, strategy: Strategy, query: &Query, run: &Run<'_>) -> Result<&OnDevice<'a>> {
        let (by_ids, context) = (run.by_ids(), run.context);
        let numbering = if by_ids { Numbering::Ids } else { Numbering::Degree };
        made(&self.resident[usize::from(by_ids)], || {
            let _phase = Phase::begin(&"bringing the graph to the GPU");
            let _heeding = Heeding::begin(&context.cancel);
            let _watched = Watched::begin(&context.cancel, None)?;
            let device = self.gpu.device()?;
            device.budget.take_refusal();
            let resident = Resident::new(device.clone(), self.graph, numbering, context);
            let resident = match (resident, device.budget.take_refusal()) {
                // A refusal of the graph names what the whole task takes.
                (Err(_), Some(refusal)) => {
                    let by = ByDegree::new(self.graph, numbering, context)?;
                    let sizes = self.gpu.sizes(self.graph, &by)?;
                    return Err(refusal.error(sizes.least(&query.task, strategy, query.list)));
                }
                (resident, _) => resident?,
            };
            Ok(OnDevice::new(self.gpu, resident, numbering, self.graph))
        })
    }

    /// The graph as tables extend it.
    pub(super) fn table(&self, context: &Context) -> Result<&OnTable<'a>> {
        made(&self.table, || {
            let _phase = Phase::begin(&"bringing the graph to the GPU");
            let _heeding = Heeding::begin(&context.cancel);
            let _watched = Watched::begin(&context.cancel, None)?;
            OnTable::new(self.gpu, self.graph, self.gpu.of_tables(), context)
        })
    }

    /// Answers a question by a strategy other than `table`.
    pub(super) fn by(
        &self,
        strategy: Strategy,
        query: &Query,
        run: &Run<'_>,
    ) -> Result<Found, Failure> {
        let on = self.resident(strategy, query, run)?;
        Ok(on.answer(strategy, &query.task, run)?.into())
    }
}

impl Prepared for OnGpu<'_> {
    fn engine(&self) -> &dyn Engine {
        self.gpu
    }

    fn graph(&self) -> &Graph {
        self.graph
    }

    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Found, Failure> {
        run_plan(METHODS, query, self, plan, run)
    }
}

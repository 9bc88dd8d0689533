//! A graph for a GPU, in each of the forms that methods ask for.

use std::sync::OnceLock;

use gramer_engine::method::run_plan;
use gramer_engine::{Engine, Failure, Found, Plan, Prepared, Query, Run};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::Result;

use super::Gpu;
use super::methods::METHODS;
use super::on_device::{OnDevice, made};
use crate::Strategy;
use crate::graph::Numbering;
use crate::program::Heeding;
use crate::resident::Resident;
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

    /// The graph in the memory of the device.
    pub(super) fn resident(&self, by_ids: bool, context: &Context) -> Result<&OnDevice<'a>> {
        let numbering = if by_ids { Numbering::Ids } else { Numbering::Degree };
        made(&self.resident[usize::from(by_ids)], || {
            let _heeding = Heeding::begin(&context.cancel);
            let device = self.gpu.device()?.clone();
            let resident = Resident::new(device, self.graph, numbering, context)?;
            Ok(OnDevice::new(self.gpu, resident, numbering, self.graph))
        })
    }

    /// The graph as tables extend it.
    pub(super) fn table(&self, context: &Context) -> Result<&OnTable<'a>> {
        made(&self.table, || {
            let _heeding = Heeding::begin(&context.cancel);
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
        let on = self.resident(run.by_ids(), run.context)?;
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

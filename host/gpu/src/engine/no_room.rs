//! A graph that the device has no room for, which is told once the task is known.

use gramer_engine::{Engine, Outcome, Prepared, Sink, Units};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_pattern::task::Task;

use super::Gpu;
use crate::Strategy;
use crate::graph::{ByDegree, Numbering};
use crate::memory::Refusal;

/// A graph that isn't on the device.
pub(super) struct NoRoom<'a> {
    pub gpu: &'a Gpu,
    pub graph: &'a Graph,
    pub numbering: Numbering,
    /// Of the buffer that had no room.
    pub refusal: Refusal,
}

impl Prepared for NoRoom<'_> {
    fn run(
        &self,
        task: &Task,
        _units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        self.gpu.supports(task, Some(self.graph))?;
        let strategy = if sink.is_some() { Strategy::Plan } else { self.gpu.strategy(task)? };
        let by = ByDegree::new(self.graph, self.numbering, context)?;
        let least = self.gpu.sizes(self.graph, &by)?.least(task, strategy, sink.is_some());
        Err(self.refusal.error(least))
    }
}

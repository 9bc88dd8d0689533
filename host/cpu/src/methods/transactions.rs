//! Frequent patterns of several graphs.

use gramer_base::error::Result;
use gramer_pattern::task::{Measure, Task};

use super::{Cpu, Resident, fsm, job};
use gramer_engine::method::{Failure, Fit, Method, Plan, Reply, Run};
use gramer_engine::query::{Ask, Needs, Query};
use gramer_engine::reason::Reason;

/// Frequent patterns by the number of graphs that contain them, level by level.
pub(super) struct FrequentTransactions;

impl Method<Cpu> for FrequentTransactions {
    fn name(&self) -> &'static str {
        "frequent-transactions"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::VERTEX_LABELS | Needs::EDGE_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        matches!(ask.query.task, Task::Fsm { measure: Measure::Transactions, .. }).into()
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Fsm { limit, support, measure } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(fsm::run(&on.graph, limit, support, measure, job(run))?.into())
    }
}

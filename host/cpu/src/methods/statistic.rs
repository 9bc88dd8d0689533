//! Methods that compute a statistic.

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_pattern::{Statistic, Task};

use super::{Cpu, Resident, unless_stopped};
use gramer_engine::Outcome;
use gramer_engine::method::{Failure, Fit, Method, Plan, Reply, Run};
use gramer_engine::query::{Ask, Needs, Query};

/// Method that computes one statistic.
pub(super) struct StatisticMethod {
    /// The name of the method.
    pub name: &'static str,
    pub statistic: Statistic,
    /// Whether it has numbers per vertex or per edge.
    pub per: Needs,
    /// Whether the order of the vertices is without influence on its speed.
    pub any_order: bool,
    /// Computes the lines, and columns if they are wanted.
    pub compute: fn(&Resident, bool, &Context) -> Result<Outcome>,
}

impl Method<Cpu> for StatisticMethod {
    fn name(&self) -> &'static str {
        self.name
    }

    fn offers(&self, _: &Cpu) -> Needs {
        self.per
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        matches!(ask.query.task, Task::Statistic(statistic) if statistic == self.statistic).into()
    }

    fn any_order(&self, _: &Ask<'_>) -> bool {
        self.any_order
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let columns = query.answer.per().is_some();
        Ok(unless_stopped((self.compute)(on, columns, run.context))?.into())
    }
}

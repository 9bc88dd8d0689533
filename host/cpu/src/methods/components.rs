//! Patterns of several components.

use gramer_engine::method::{Failure, Fit, Method, Plan, Reply, Run};
use gramer_engine::query::{Answer, Ask, Needs, Query};
use gramer_engine::reason::Reason;
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::Task;

use super::job;
use crate::matching::components;
use crate::{Cpu, Resident};

/// Occurrences of a pattern of several components: the products of theirs, less the patterns in which they meet.
pub struct Components;

impl Method<Cpu> for Components {
    fn name(&self) -> &'static str {
        "components"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::VERTEX_LABELS | Needs::EDGE_LABELS | Needs::ABSENT | Needs::COMPONENTS
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let Task::Match { pattern, induced, mappings } = &ask.query.task else {
            return Fit::No(Reason::Task);
        };
        if pattern.is_connected() || ask.query.answer != Answer::Counts {
            return Fit::No(Reason::Task);
        }
        let (most, n) = (components::most(*induced), pattern.vertices());
        let why = if n > most {
            format!(
                "counts {induced}-induced patterns of several components of up to {most} vertices, not {n}"
            )
        } else if pattern.absences_between_components().len() > components::MOST_BETWEEN {
            format!(
                "counts patterns of several components with up to {} pairs between them that must not be joined",
                components::MOST_BETWEEN
            )
        } else if mappings.is_none() && ambiguous(pattern) {
            "counts patterns of several components with wildcards next to labels only by mappings (the setting \
             `mappings`)"
                .into()
        } else {
            return Fit::Yes;
        };
        Fit::No(Reason::Pattern(why))
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Match { pattern, induced, mappings } = &query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(components::run(on, pattern, *induced, mappings.is_some(), job(run))?.into())
    }
}

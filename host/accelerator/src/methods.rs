//! The methods of the paper's core, and the view of a core that methods get.

use gramer_base::error::Result;
use gramer_engine::method::{Fit, Kit, Method, Methods, choose};
use gramer_engine::reason::Reason;
use gramer_engine::reference::Comparison;
use gramer_engine::{Ask, Choices, Failure, Needs, Plan, Query, Reply, Run, Scheme};
use gramer_machine::Core;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

use crate::PaperCoreGraph;
use crate::filter;
use crate::set::methods::SetCore;
use crate::settings::Settings;
use crate::table::FSM_VERTICES;

/// The paper's core: its machine and the order in which ids are compared.
pub(crate) struct PaperCore {
    machine: gramer_machine::Accelerator,
    comparison: Comparison,
}

impl Kit for PaperCore {
    type DeviceGraph = PaperCoreGraph;
    const KIND: &'static str = "paper's core";
}

/// The choices of a machine's core for a question.
pub fn choose_on(
    machine: &gramer_machine::Accelerator,
    settings: &Settings,
    ask: &Ask<'_>,
) -> Choices {
    let machine = machine.clone();
    match machine.core {
        Core::Paper => {
            choose(METHODS, ask, &PaperCore { machine, comparison: settings.comparison })
        }
        Core::Set => choose(crate::set::methods::METHODS, ask, &SetCore { machine }),
    }
}

/// The table.
pub(crate) const METHODS: &Methods<PaperCore> = &[&Cliques, &Motifs, &Frequent];

/// What all passes of the core offer: units are those of algorithm 1.
fn offers(core: &PaperCore) -> Needs {
    let by_ids = match core.comparison {
        Comparison::Descending => Needs::BY_IDS,
        Comparison::Ascending => Needs::NONE,
    };
    by_ids | Needs::LIST | Needs::SHARE
}

/// The same with a user's filter, for which a machine must have [words](holds).
fn offers_filters(core: &PaperCore) -> Needs {
    offers(core) | Needs::FILTER | Needs::VERTEX_LABELS
}

/// Whether a filter has room in the machine.
fn holds(ask: &Ask<'_>, core: &PaperCore) -> Fit {
    let words = ask.query.filter.as_ref().map_or(0, filter::length);
    match core.machine.applications.filter_words as usize {
        0 if words > 0 => Fit::No(Reason::Pattern(
            "has no room for a filter (`applications.filter_words` is 0)".into(),
        )),
        most if words > most => Fit::No(Reason::Pattern(format!(
            "takes filters of up to {most} words; this one has {words} (one per comparison, two if u and v can't be \
             exchanged in its condition)"
        ))),
        _ => Fit::Yes,
    }
}

/// Cliques of k vertices.
struct Cliques;

impl Method<PaperCore> for Cliques {
    fn name(&self) -> &'static str {
        "cliques"
    }

    fn offers(&self, core: &PaperCore) -> Needs {
        offers_filters(core)
    }

    fn fit(&self, ask: &Ask<'_>, core: &PaperCore) -> Fit {
        match ask.query.task {
            Task::Clique { k } => Fit::within("cliques", k, 3, core.machine.machine.depth as usize)
                .and(|| holds(ask, core)),
            _ => Fit::No(Reason::Task),
        }
    }

    fn scheme(&self, _: &Ask<'_>, core: &PaperCore) -> Scheme {
        core.comparison.scheme()
    }

    fn run(
        &self,
        query: &Query,
        on: &PaperCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        on.run(query, run)
    }
}

/// Vertex-induced motifs.
struct Motifs;

impl Method<PaperCore> for Motifs {
    fn name(&self) -> &'static str {
        "motifs"
    }

    fn offers(&self, core: &PaperCore) -> Needs {
        offers_filters(core) | Needs::SUPPORT
    }

    fn fit(&self, ask: &Ask<'_>, core: &PaperCore) -> Fit {
        match ask.query.task {
            Task::Motif { induced: Induced::Edge, .. } => Fit::No(Reason::Induced(Induced::Edge)),
            Task::Motif { k, .. } => {
                Fit::within("motifs", k, 3, core.machine.applications.max_motif as usize)
                    .and(|| holds(ask, core))
                    // What a pattern's embeddings are is known when all shares are merged.
                    .and(|| Fit::not_together(ask, Needs::SUPPORT | Needs::SHARE))
            }
            _ => Fit::No(Reason::Task),
        }
    }

    fn scheme(&self, _: &Ask<'_>, core: &PaperCore) -> Scheme {
        core.comparison.scheme()
    }

    fn run(
        &self,
        query: &Query,
        on: &PaperCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        on.run(query, run)
    }
}

/// Frequent patterns by embeddings, one pass for each size.
struct Frequent;

impl Method<PaperCore> for Frequent {
    fn name(&self) -> &'static str {
        "frequent"
    }

    fn offers(&self, core: &PaperCore) -> Needs {
        offers(core) | Needs::VERTEX_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, _: &PaperCore) -> Fit {
        match ask.query.task {
            Task::Fsm {
                measure: measure @ (Measure::Mni | Measure::Transactions | Measure::Instances),
                ..
            } => Fit::No(Reason::Measure(measure)),
            Task::Fsm { limit: SizeLimit::MaxVertices(n), .. } => {
                // Which patterns are frequent is known when all shares are merged.
                Fit::within("labelled patterns", n, 2, FSM_VERTICES)
                    .and(|| Fit::not_together(ask, Needs::LIST | Needs::SHARE))
                    .and(|| Fit::not_together(ask, Needs::SHARE | Needs::BY_IDS))
            }
            _ => Fit::No(Reason::Task),
        }
    }

    fn scheme(&self, _: &Ask<'_>, core: &PaperCore) -> Scheme {
        core.comparison.scheme()
    }

    fn run(
        &self,
        query: &Query,
        on: &PaperCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        on.run(query, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_machine::named::named;

    #[test]
    fn tasks_beyond_the_machine_are_refused_with_the_limit() {
        let small = named("small").unwrap().unwrap();
        let said = |machine: &gramer_machine::Accelerator, task: Task| {
            let query = Query::new(task);
            let ask = Ask::new(&query);
            let choices = choose_on(machine, &Settings::default(), &ask);
            choices.first("small", &ask).err().map_or(String::new(), |error| error.to_string())
        };
        let (vertex, edge) = (Induced::Vertex, Induced::Edge);
        let fsm = |limit, measure| Task::Fsm { limit, support: 1, measure };
        for (task, part) in [
            (Task::Motif { k: 6, induced: vertex }, "motifs of 3 to 5, not 6"),
            (Task::Motif { k: 3, induced: edge }, "no edge-induced"),
            (Task::MaximalCliques, "maximal cliques"),
            (fsm(SizeLimit::MaxVertices(4), Measure::Embeddings), "of 2 to 3, not 4"),
            (fsm(SizeLimit::MaxEdges(2), Measure::Mni), "does not support the measure mni"),
        ] {
            let text = said(&small, task);
            assert!(text.contains(part) && text.contains("`small`"), "{text}");
        }
        let paper = named("paper").unwrap().unwrap();
        let filtered = |machine: &gramer_machine::Accelerator, text: &str| {
            let filter = Some(text.parse().unwrap());
            let query = Query::new(Task::Clique { k: 3 }).filter(filter);
            let ask = Ask::new(&query);
            let choices = choose_on(machine, &Settings::default(), &ask);
            choices.first("it", &ask).err().map_or(String::new(), |error| error.to_string())
        };
        let long = "label(u) == 1 or label(v) == 2, label(u) == 2 or label(v) == 3";
        assert_eq!(filtered(&small, long), "");
        let words = filtered(&small, &format!("{long}, degree(u) > 3"));
        assert!(words.contains("up to 8 words; this one has 9"), "{words}");
        assert!(filtered(&paper, "degree(u) > 3").contains("`applications.filter_words`"));
        let mut shallow = small.clone();
        shallow.machine.depth = 8;
        assert_eq!(said(&shallow, Task::Clique { k: 8 }), "");
        assert!(said(&shallow, Task::Clique { k: 9 }).contains("of 3 to 8, not 9"));
        for task in [
            Task::Clique { k: 16 },
            Task::Motif { k: 5, induced: vertex },
            fsm(SizeLimit::MaxVertices(3), Measure::Embeddings),
        ] {
            assert_eq!(said(&small, task), "");
        }
    }
}

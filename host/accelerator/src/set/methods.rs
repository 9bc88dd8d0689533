//! The methods of the set core, in order of preference.

use gramer_base::error::Result;
use gramer_engine::method::{Fit, Kit, Method, Methods};
use gramer_engine::reason::Reason;
use gramer_engine::{Ask, Failure, Needs, Plan, Query, Reply, Run, Scheme};
use gramer_machine::Accelerator;
use gramer_machine::set::K_RANGE;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

use super::frequent::FrequentRequest;
use super::matches::{Match, has_plans, lists};
use super::tasks::SetTask;
use crate::SetCoreGraph;

/// The set core of a machine.
pub(crate) struct SetCore {
    /// The machine.
    pub machine: Accelerator,
}

impl SetCore {
    /// Vertices of the largest pattern of a plan; 1 without plans.
    fn placed(&self) -> usize {
        self.machine.set.as_ref().map_or(0, |set| set.plan_levels as usize) + 1
    }
}

impl Kit for SetCore {
    type DeviceGraph = SetCoreGraph;
    const KIND: &'static str = "set core";
}

/// The table.
pub(crate) const METHODS: &Methods<SetCore> =
    &[&Frequent, &Matches, &ListedCliques, &Cliques, &Motifs, &Motifs5];

/// Frequent patterns: candidates of the host, each a plan that counts or lists.
struct Frequent;

impl Method<SetCore> for Frequent {
    fn name(&self) -> &'static str {
        "frequent"
    }

    fn offers(&self, core: &SetCore) -> Needs {
        let list = if lists(&core.machine) { Needs::LIST } else { Needs::NONE };
        list | Needs::PEERS | Needs::VERTEX_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, core: &SetCore) -> Fit {
        let Task::Fsm { limit, measure, .. } = ask.query.task else { return Fit::No(Reason::Task) };
        let largest = match limit {
            SizeLimit::MaxVertices(n) => n,
            SizeLimit::MaxEdges(n) => n + 1,
        };
        if !has_plans(&core.machine) {
            return Fit::No(Reason::Task);
        }
        // Minimum images are those of listed occurrences.
        let counted = !matches!(measure, Measure::Transactions | Measure::Instances);
        if !counted || measure == Measure::Mni && !lists(&core.machine) {
            return Fit::No(Reason::Measure(measure));
        }
        Fit::within("patterns", largest, 2, core.placed())
            .and(|| Fit::not_together(ask, Needs::LIST | Needs::PEERS))
    }

    fn scheme(&self, _: &Ask<'_>, _: &SetCore) -> Scheme {
        Scheme::Levels
    }

    fn run(
        &self,
        query: &Query,
        on: &SetCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        let asked = FrequentRequest::of(&query.task).ok_or(Failure::Retreat(Reason::Task))?;
        on.in_session(|resident, session, settings| {
            resident.frequent(session, settings, asked, (run.sink, run.peers), run.context)
        })
    }
}

/// Matches of a pattern by the words of a plan, or by the map of wedges.
struct Matches;

impl Method<SetCore> for Matches {
    fn name(&self) -> &'static str {
        "matches"
    }

    fn offers(&self, core: &SetCore) -> Needs {
        let list = if lists(&core.machine) { Needs::LIST } else { Needs::NONE };
        list | Needs::SHARE | Needs::VERTEX_LABELS | Needs::EDGE_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, core: &SetCore) -> Fit {
        if !matches!(ask.query.task, Task::Match { .. }) || !has_plans(&core.machine) {
            return Fit::No(Reason::Task);
        }
        if ask.needs().has(Needs::LIST | Needs::SHARE) {
            return Fit::No(Reason::Needs(Needs::LIST | Needs::SHARE));
        }
        // It has no plan for these.
        let open = ask.needs().common(Needs::ABSENT | Needs::COMPONENTS);
        if !open.is_none() {
            return Fit::No(Reason::Needs(open));
        }
        match Match::of(&core.machine, &ask.query.task, ask.query.list) {
            Ok(_) => Fit::Yes,
            Err(what) => Fit::No(Reason::Pattern(what)),
        }
    }

    fn run(
        &self,
        query: &Query,
        on: &SetCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        on.matches(query, run)
    }
}

/// Cliques that are listed, as matches.
struct ListedCliques;

impl Method<SetCore> for ListedCliques {
    fn name(&self) -> &'static str {
        "listed-cliques"
    }

    fn offers(&self, core: &SetCore) -> Needs {
        // Which unit a clique is of depends on the plan, and other engines share cliques by another scheme.
        if lists(&core.machine) { Needs::LIST } else { Needs::NONE }
    }

    fn fit(&self, ask: &Ask<'_>, core: &SetCore) -> Fit {
        match ask.query.task {
            Task::Clique { k } if ask.query.list => {
                Fit::within("listed cliques", k, 3, core.placed())
            }
            _ => Fit::No(Reason::Task),
        }
    }

    fn run(
        &self,
        query: &Query,
        on: &SetCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        on.matches(query, run)
    }
}

/// Answers a task of sums.
fn sums(query: &Query, on: &SetCoreGraph, run: &Run<'_>) -> Result<Reply, Failure> {
    let task = SetTask::of(&query.task).ok_or(Failure::Retreat(Reason::Task))?;
    on.in_session(|resident, session, settings| {
        resident.sums(session, settings, task, run.units, run.context)
    })
}

/// Cliques of one size or several, by intersections of lists.
struct Cliques;

impl Method<SetCore> for Cliques {
    fn name(&self) -> &'static str {
        "cliques"
    }

    fn offers(&self, _: &SetCore) -> Needs {
        Needs::SHARE | Needs::BY_IDS
    }

    fn fit(&self, ask: &Ask<'_>, _: &SetCore) -> Fit {
        let (_, most) = K_RANGE;
        match ask.query.task {
            Task::Clique { k } => Fit::within("cliques", k, 3, most as usize),
            Task::CliqueSizes { .. } if ask.terms.has(Needs::BY_IDS) => {
                Fit::No(Reason::Needs(Needs::BY_IDS))
            }
            Task::CliqueSizes { largest, .. } => Fit::within("cliques", largest, 3, most as usize),
            _ => Fit::No(Reason::Task),
        }
    }

    fn run(
        &self,
        query: &Query,
        on: &SetCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        sums(query, on, run)
    }
}

/// Vertex-induced motifs of 3 and 4 vertices, by sums over roots.
struct Motifs;

impl Method<SetCore> for Motifs {
    fn name(&self) -> &'static str {
        "motifs"
    }

    fn offers(&self, _: &SetCore) -> Needs {
        Needs::SHARE
    }

    fn fit(&self, ask: &Ask<'_>, _: &SetCore) -> Fit {
        match ask.query.task {
            Task::Motif { induced: Induced::Edge, .. } => Fit::No(Reason::Induced(Induced::Edge)),
            Task::Motif { k, .. } => Fit::within("motifs", k, 3, 4),
            _ => Fit::No(Reason::Task),
        }
    }

    fn run(
        &self,
        query: &Query,
        on: &SetCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        sums(query, on, run)
    }
}

/// Vertex-induced motifs of 5 vertices: cliques, then two runs over the image of wedges.
struct Motifs5;

impl Method<SetCore> for Motifs5 {
    fn name(&self) -> &'static str {
        "motifs5"
    }

    fn offers(&self, _: &SetCore) -> Needs {
        Needs::NONE
    }

    fn fit(&self, ask: &Ask<'_>, core: &SetCore) -> Fit {
        match ask.query.task {
            Task::Motif { induced: Induced::Edge, .. } => Fit::No(Reason::Induced(Induced::Edge)),
            Task::Motif { k, .. } if core.machine.has_wedges() => Fit::within("motifs", k, 5, 5),
            _ => Fit::No(Reason::Task),
        }
    }

    fn run(
        &self,
        query: &Query,
        on: &SetCoreGraph,
        _: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure> {
        sums(query, on, run)
    }
}

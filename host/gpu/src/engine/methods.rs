//! The methods of the GPU engine, in order of preference: a strategy each, and frequent patterns.

use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};
use gramer_engine::method::{Fit, Kit, Method, Methods, choose};
use gramer_engine::reason::Reason;
use gramer_engine::{Ask, Choices, Failure, Needs, Outcome, Plan, Query, Reply, Run, Scheme};
use gramer_pattern::task::{Induced, Measure, Task};
use gramer_pattern::{MAX_VERTICES, SMALL_VERTICES};

use super::on_gpu::GpuGraph;
use crate::{Join, Order, Settings, Strategy, wide};

/// Methods know only the settings, since they are chosen before a device is opened.
impl Kit for Settings {
    type DeviceGraph = GpuGraph;
    const KIND: &'static str = "gpu";
}

/// The table.
pub(super) const METHODS: &Methods<Settings> =
    &[&Local, &Formula, &Wide, &Search, &Frequent, &Table];

impl Settings {
    /// The choices for a question with these settings; opens no device.
    pub fn choose(&self, ask: &Ask<'_>) -> Choices {
        choose(METHODS, ask, self)
    }
}

/// Labels of both kinds.
const LABELS: Needs = Needs::VERTEX_LABELS.and(Needs::EDGE_LABELS);

/// Whether the user named a strategy other than this one.
fn named(settings: &Settings, own: Strategy) -> Fit {
    match settings.strategy {
        Some(strategy) if strategy != own => Fit::No(Reason::NotNamed),
        _ => Fit::Yes,
    }
}

/// Peers on GPUs count by the same lists of tasks, which devices of other hardware cut otherwise.
fn twins(ask: &Ask<'_>) -> Fit {
    match ask.terms.has(Needs::PEERS) && !ask.terms.has(Needs::TWINS) {
        true => Fit::No(Reason::Needs(Needs::PEERS)),
        false => Fit::not_together(ask, Needs::PEERS | Needs::SHARE),
    }
}

/// Motifs of up to 8 vertices, edge-induced ones of up to 6.
fn motifs(k: usize, induced: Induced, least: usize, most: usize) -> Fit {
    match induced {
        Induced::Vertex => Fit::within("motifs", k, least, most),
        Induced::Edge => Fit::within("edge-induced motifs", k, least, most.min(6)),
    }
}

/// The scheme of a strategy: shares of another order of vertices have other embeddings.
fn scheme(method: &'static str, ask: &Ask<'_>, settings: &Settings) -> Scheme {
    if ask.terms.has(Needs::BY_IDS) {
        return Scheme::Ids { ascending: false };
    }
    let order = settings.steps.order;
    // The paper's order follows from the numbers of candidates, which these change for joins of tables.
    let signatures = settings.strategy == Some(Strategy::Table)
        && settings.steps.signatures
        && order == Order::Paper;
    let signatures = signatures.then(|| ("signatures", "on".to_string()));
    let order = ("order", order.name().to_string());
    Scheme::own::<Settings>(method, std::iter::once(order).chain(signatures))
}

/// Bitmaps of oriented neighbourhoods, for cliques.
struct Local;

impl Method<Settings> for Local {
    fn name(&self) -> &'static str {
        Strategy::Local.name()
    }

    fn offers(&self, _: &Settings) -> Needs {
        Needs::SHARE | Needs::BY_IDS | Needs::PEERS | Needs::TWINS
    }

    fn fit(&self, ask: &Ask<'_>, settings: &Settings) -> Fit {
        let task = match ask.query.task {
            Task::Clique { .. } => twins(ask),
            Task::CliqueSizes { largest, .. } => {
                Fit::within("cliques", largest, 3, SMALL_VERTICES).and(|| whole_or_own_share(ask))
            }
            _ => return Fit::No(Reason::Task),
        };
        task.and(|| named(settings, Strategy::Local))
    }

    fn scheme(&self, ask: &Ask<'_>, settings: &Settings) -> Scheme {
        scheme(self.name(), ask, settings)
    }

    fn run(&self, query: &Query, on: &GpuGraph, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        on.by(Strategy::Local, query, run)
    }
}

/// Cliques of several sizes are shared among GPUs alone.
fn whole_or_own_share(ask: &Ask<'_>) -> Fit {
    match ask.terms.common(Needs::BY_IDS | Needs::PEERS) {
        Needs::NONE => Fit::Yes,
        needs => Fit::No(Reason::Needs(needs)),
    }
}

/// Closed formulas over smaller counts, for motifs of three to five vertices.
struct Formula;

impl Method<Settings> for Formula {
    fn name(&self) -> &'static str {
        Strategy::Formula.name()
    }

    fn offers(&self, _: &Settings) -> Needs {
        Needs::SHARE | Needs::PEERS | Needs::TWINS
    }

    fn fit(&self, ask: &Ask<'_>, settings: &Settings) -> Fit {
        let Task::Motif { k, induced } = ask.query.task else { return Fit::No(Reason::Task) };
        motifs(k, induced, 3, 5)
            // The sums of five vertices belong to no share.
            .and(|| match k == 5 && ask.terms.has(Needs::SHARE) {
                true => Fit::No(Reason::Needs(Needs::SHARE)),
                false => twins(ask),
            })
            .and(|| named(settings, Strategy::Formula))
    }

    fn scheme(&self, ask: &Ask<'_>, settings: &Settings) -> Scheme {
        scheme(self.name(), ask, settings)
    }

    fn run(&self, query: &Query, on: &GpuGraph, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        on.by(Strategy::Formula, query, run)
    }
}

/// DuMato's exploration without a plan, for motifs of three to eight vertices and cliques.
struct Wide;

impl Method<Settings> for Wide {
    fn name(&self) -> &'static str {
        Strategy::Wide.name()
    }

    fn offers(&self, _: &Settings) -> Needs {
        Needs::SHARE | Needs::BY_IDS
    }

    fn fit(&self, ask: &Ask<'_>, settings: &Settings) -> Fit {
        let task = match ask.query.task {
            Task::Clique { k } => Fit::within("cliques", k, 3, wide::MOST_VERTICES),
            Task::Motif { k, induced } => motifs(k, induced, 3, wide::MOST_VERTICES),
            _ => return Fit::No(Reason::Task),
        };
        task.and(|| named(settings, Strategy::Wide))
    }

    fn scheme(&self, ask: &Ask<'_>, settings: &Settings) -> Scheme {
        scheme(self.name(), ask, settings)
    }

    fn run(&self, query: &Query, on: &GpuGraph, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        on.by(Strategy::Wide, query, run)
    }
}

/// Depth-first search after a plan, for matches, any pattern and lists. A match that takes long is tried by tables as
/// well, and goes on in the faster way.
struct Search;

impl Method<Settings> for Search {
    fn name(&self) -> &'static str {
        Strategy::Plan.name()
    }

    fn offers(&self, _: &Settings) -> Needs {
        Needs::LIST | Needs::SHARE | Needs::BY_IDS | LABELS
    }

    fn fit(&self, ask: &Ask<'_>, settings: &Settings) -> Fit {
        let by_ids = ask.terms.has(Needs::BY_IDS);
        let task = match &ask.query.task {
            Task::Clique { .. } | Task::Match { .. } => Fit::Yes,
            Task::CliqueSizes { largest, .. } => {
                Fit::within("cliques", *largest, 3, SMALL_VERTICES).and(|| whole_or_own_share(ask))
            }
            // The plans' first vertices aren't those with the largest ids.
            Task::Motif { .. } if by_ids => Fit::No(Reason::Needs(Needs::BY_IDS)),
            Task::Motif { k, .. } => Fit::within("motifs", *k, 3, 6),
            _ => return Fit::No(Reason::Task),
        };
        task.and(|| match by_ids && settings.steps.order == Order::Paper {
            true => Fit::No(Reason::Setting("order")),
            false => named(settings, Strategy::Plan),
        })
    }

    fn scheme(&self, ask: &Ask<'_>, settings: &Settings) -> Scheme {
        scheme(self.name(), ask, settings)
    }

    fn run(&self, query: &Query, on: &GpuGraph, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        on.by(Strategy::Plan, query, run)
    }
}

/// Frequent patterns, level by level: candidates of the host, which searches count or list.
struct Frequent;

impl Method<Settings> for Frequent {
    fn name(&self) -> &'static str {
        "frequent"
    }

    fn offers(&self, _: &Settings) -> Needs {
        Needs::LIST | Needs::PEERS | Needs::TWINS | LABELS
    }

    fn fit(&self, ask: &Ask<'_>, settings: &Settings) -> Fit {
        Fit::from(matches!(ask.query.task, Task::Fsm { .. }))
            .and(|| no_transactions(&ask.query.task))
            .and(|| Fit::not_together(ask, Needs::LIST | Needs::PEERS))
            .and(|| named(settings, Strategy::Plan))
    }

    fn scheme(&self, _: &Ask<'_>, _: &Settings) -> Scheme {
        Scheme::Levels
    }

    fn run(&self, query: &Query, on: &GpuGraph, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        on.by(Strategy::Plan, query, run)
    }
}

/// Refuses the measure that counts graphs.
fn no_transactions(task: &Task) -> Fit {
    match task {
        Task::Fsm { measure: measure @ Measure::Transactions, .. } => {
            Fit::No(Reason::Measure(*measure))
        }
        _ => Fit::Yes,
    }
}

/// GAMMA's embedding tables, extended column by column, for graphs and tables beyond the memory.
struct Table;

impl Method<Settings> for Table {
    fn name(&self) -> &'static str {
        Strategy::Table.name()
    }

    fn offers(&self, _: &Settings) -> Needs {
        Needs::SHARE | Needs::PEERS | Needs::TWINS | LABELS | Needs::REPEATS
    }

    fn fit(&self, ask: &Ask<'_>, settings: &Settings) -> Fit {
        let peers = ask.terms.has(Needs::PEERS);
        let joined =
            settings.strategy == Some(Strategy::Table) && settings.table.join == Join::Prealloc;
        let task = match &ask.query.task {
            Task::Match { mappings: Some(kind), .. } if kind.repeats() && !joined => {
                Fit::No(Reason::Pattern(format!(
                    "counts {} only with the setting `strategy` table and the setting `join` prealloc",
                    kind.plural()
                )))
            }
            Task::Fsm { .. } if ask.terms.has(Needs::SHARE) => Fit::No(Reason::Needs(Needs::SHARE)),
            Task::Fsm { measure: measure @ Measure::Instances, .. } => {
                Fit::No(Reason::Measure(*measure))
            }
            task @ Task::Fsm { .. } => no_transactions(task),
            Task::Clique { .. } | Task::Motif { .. } | Task::Match { .. } if peers => {
                Fit::No(Reason::Needs(Needs::PEERS))
            }
            Task::Clique { .. } => Fit::Yes,
            Task::Motif { k, induced } => motifs(*k, *induced, 3, 8),
            Task::Match { pattern, .. } => {
                Fit::within("patterns", pattern.vertices(), 2, MAX_VERTICES)
            }
            _ => return Fit::No(Reason::Task),
        };
        task.and(|| named(settings, Strategy::Table))
    }

    fn scheme(&self, ask: &Ask<'_>, settings: &Settings) -> Scheme {
        scheme(self.name(), ask, settings)
    }

    fn run(&self, query: &Query, on: &GpuGraph, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let on = match on.table(run.context) {
            Err(Error::Interrupted) => return Ok(Outcome::new(vec![], false).into()),
            on => on?,
        };
        Ok(on.answer(&query.task, run)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(settings: &Settings, task: Task) -> Option<String> {
        let query = Query::new(task);
        let choices = settings.choose(&Ask::new(&query));
        choices.fits.first().map(|plan| plan.method.clone())
    }

    #[test]
    fn a_task_without_a_named_strategy_goes_the_fastest_way() {
        let plain = Settings::default();
        let motif = |k| Task::Motif { k, induced: Induced::Vertex };
        for (task, method) in [
            (Task::Clique { k: 3 }, Some("local")),
            (Task::Clique { k: 16 }, Some("local")),
            (motif(3), Some("formula")),
            (motif(5), Some("formula")),
            (motif(6), Some("wide")),
            (motif(8), Some("wide")),
            (Task::Motif { k: 7, induced: Induced::Edge }, None),
            (Task::MaximalCliques, None),
        ] {
            assert_eq!(first(&plain, task.clone()).as_deref(), method, "{task:?}");
        }
        let table = Settings { strategy: Some(Strategy::Table), ..plain };
        assert_eq!(first(&table, motif(5)).as_deref(), Some("table"));
        assert_eq!(first(&table, Task::CliqueSizes { smallest: 3, largest: 5 }), None);
    }
}

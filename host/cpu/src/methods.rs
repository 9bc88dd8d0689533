//! The methods of the CPU engine, in order of preference.

mod components;
mod core;
mod densest;
mod onion;
mod per_graph;
mod statistic;
mod transactions;
mod truss;

use gramer_base::error::{Error, Result};
use gramer_pattern::task::{Measure, Task};

use super::matching::repeats;
use super::{Cpu, Job, Resident, clique, estimate, fsm, matching, maximal, motif, per};
use gramer_engine::Outcome;
use gramer_engine::method::{Failure, Fit, Kit, Method, Methods, Plan, Reply, Run, Scheme};
use gramer_engine::query::{Answer, Ask, Needs, Query};
use gramer_engine::reason::Reason;

impl Kit for Cpu {
    type DeviceGraph = Resident;
    const KIND: &'static str = "cpu";
}

/// The table.
pub(super) const METHODS: &Methods<Cpu> = &[
    &Cliques,
    &CliqueSizes,
    &MaximumClique,
    &MaximalCliques,
    &MotifForms,
    &MotifEquations,
    &MotifCensus,
    &FrequentEmbeddings,
    &FrequentImages,
    &FrequentInstances,
    &transactions::FrequentTransactions,
    &Matches,
    &components::Components,
    &per_graph::GraphColumns,
    &CliqueColumns,
    &Orbits,
    &core::METHOD,
    &truss::METHOD,
    &densest::METHOD,
    &onion::METHOD,
    &Samples,
];

/// Returns the result, or nothing for a cancelled run.
fn unless_stopped(found: Result<Outcome>) -> Result<Outcome> {
    match found {
        Err(Error::Interrupted) => Ok(Outcome::default()),
        found => found,
    }
}

/// Parameters of a run for the functions of the methods.
fn job<'a>(run: &'a Run<'a>) -> Job<'a> {
    Job { units: run.units, sink: run.sink, context: run.context, others: None }
}

/// Cliques of k vertices: bit matrices of oriented neighbourhoods, enumerated or by pivots, as a sample says; triangles
/// by intersection of rows.
struct Cliques;

impl Method<Cpu> for Cliques {
    fn name(&self) -> &'static str {
        "cliques"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::SHARE | Needs::BY_IDS | Needs::MEMORY
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let is = matches!(ask.query.task, Task::Clique { .. });
        Fit::from(is).and(|| Fit::not_together(ask, Needs::BY_IDS | Needs::MEMORY))
    }

    fn any_order(&self, ask: &Ask<'_>) -> bool {
        // Triangles then use the order by degree.
        matches!(ask.query.task, Task::Clique { k: 3 })
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Clique { k } = query.task else { return Err(Failure::Retreat(Reason::Task)) };
        Ok(match run.by_ids() {
            false => clique::run(on, k, job(run))?.into(),
            true => on.by_ids(run.context)?.cliques(k, job(run))?.into(),
        })
    }
}

/// Cliques of a range of sizes, from one search.
struct CliqueSizes;

impl Method<Cpu> for CliqueSizes {
    fn name(&self) -> &'static str {
        "clique-sizes"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::SHARE | Needs::MEMORY
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        matches!(ask.query.task, Task::CliqueSizes { .. }).into()
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::CliqueSizes { smallest, largest } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(clique::run_sizes(on, smallest, largest, job(run))?.into())
    }
}

/// One of the largest cliques, by branch and bound with colours.
struct MaximumClique;

impl Method<Cpu> for MaximumClique {
    fn name(&self) -> &'static str {
        "maximum-clique"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::MEMORY
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        matches!(ask.query.task, Task::MaximumClique).into()
    }

    fn run(&self, _: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        Ok(clique::run_maximum(on, job(run))?.into())
    }
}

/// Maximal cliques, by Bron and Kerbosch with pivots over a degeneracy order.
struct MaximalCliques;

impl Method<Cpu> for MaximalCliques {
    fn name(&self) -> &'static str {
        "maximal-cliques"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::SHARE | Needs::MEMORY
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        matches!(ask.query.task, Task::MaximalCliques).into()
    }

    fn run(&self, _: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        Ok(maximal::run(on, job(run))?.into())
    }
}

/// The range of k of the motifs.
fn motifs(ask: &Ask<'_>) -> Fit {
    match ask.query.task {
        Task::Motif { k, .. } => Fit::within("motifs", k, 3, 6),
        _ => Fit::No(Reason::Task),
    }
}

/// Motifs of 3, 5 and 6 vertices, by closed forms over vertices and edges.
struct MotifForms;

impl Method<Cpu> for MotifForms {
    fn name(&self) -> &'static str {
        "motif-forms"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::PEERS | Needs::MEMORY
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let of = |k| match k {
            3 => Fit::not_together(ask, Needs::PEERS | Needs::MEMORY),
            // They need sums by edge, or lists of common neighbours.
            5 | 6 if ask.memory.is_some() => Fit::No(Reason::Needs(Needs::MEMORY)),
            5 | 6 => Fit::Yes,
            k => Fit::No(Reason::size("motifs", k, 5, 6)),
        };
        motifs(ask).and(|| match ask.query.task {
            Task::Motif { k, .. } => of(k),
            _ => Fit::No(Reason::Task),
        })
    }

    fn any_order(&self, ask: &Ask<'_>) -> bool {
        matches!(ask.query.task, Task::Motif { k: 3, .. })
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Motif { k, induced } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(on.with_peers(run, |job| motif::forms(on, k, induced, job))?.into())
    }
}

/// Motifs by the equations of [`gramer_pattern::plan::motif`]: embeddings of k − 2 vertices, cliques and cycles.
struct MotifEquations;

impl Method<Cpu> for MotifEquations {
    fn name(&self) -> &'static str {
        "motif-equations"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::SHARE | Needs::PEERS | Needs::MEMORY
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        motifs(ask)
            .and(|| Fit::not_together(ask, Needs::PEERS | Needs::MEMORY))
            .and(|| Fit::not_together(ask, Needs::PEERS | Needs::SHARE))
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Motif { k, induced } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(on.with_peers(run, |job| motif::equations(on, k, induced, job))?.into())
    }
}

/// Motifs by a visit of every embedding.
struct MotifCensus;

impl Method<Cpu> for MotifCensus {
    fn name(&self) -> &'static str {
        "motif-census"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::SHARE | Needs::BY_IDS | Needs::MEMORY
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        motifs(ask).and(|| Fit::not_together(ask, Needs::BY_IDS | Needs::MEMORY))
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Motif { k, induced } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(match run.by_ids() {
            false => motif::census(on, k, induced, job(run)).into(),
            true => on.by_ids(run.context)?.motifs(k, induced, job(run))?.into(),
        })
    }
}

/// Frequent patterns by the number of their vertex-induced embeddings.
struct FrequentEmbeddings;

impl Method<Cpu> for FrequentEmbeddings {
    fn name(&self) -> &'static str {
        "frequent-embeddings"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::SHARE | Needs::VERTEX_LABELS | Needs::EDGE_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        // Which patterns are frequent is known when all shares are merged.
        let is = matches!(ask.query.task, Task::Fsm { measure: Measure::Embeddings, .. });
        Fit::from(is).and(|| Fit::not_together(ask, Needs::LIST | Needs::SHARE))
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Fsm { limit, support, measure } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(fsm::run(&on.graph, limit, support, measure, job(run))?.into())
    }
}

/// Frequent patterns by minimum-image support, level by level.
struct FrequentImages;

impl Method<Cpu> for FrequentImages {
    fn name(&self) -> &'static str {
        "frequent-images"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::PEERS | Needs::VERTEX_LABELS | Needs::EDGE_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let is = matches!(ask.query.task, Task::Fsm { measure: Measure::Mni, .. });
        Fit::from(is).and(|| Fit::not_together(ask, Needs::LIST | Needs::PEERS))
    }

    fn scheme(&self, _: &Ask<'_>, _: &Cpu) -> Scheme {
        Scheme::Levels
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Fsm { limit, support, measure } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(match run.peers {
            Some(peers) => fsm::run_together(&on.graph, limit, support, peers, run.context)?.into(),
            None => fsm::run(&on.graph, limit, support, measure, job(run))?.into(),
        })
    }
}

/// Frequent patterns by the number of their instances, level by level.
struct FrequentInstances;

impl Method<Cpu> for FrequentInstances {
    fn name(&self) -> &'static str {
        "frequent-instances"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::LIST | Needs::PEERS | Needs::VERTEX_LABELS | Needs::EDGE_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let is = matches!(ask.query.task, Task::Fsm { measure: Measure::Instances, .. });
        Fit::from(is).and(|| Fit::not_together(ask, Needs::LIST | Needs::PEERS))
    }

    fn scheme(&self, _: &Ask<'_>, _: &Cpu) -> Scheme {
        Scheme::Levels
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Fsm { limit, support, .. } = query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(fsm::run_instances(&on.graph, limit, support, run.peers, job(run))?.into())
    }
}

/// Occurrences of a pattern: by formulas over smaller patterns and homomorphisms, or by a search, as their costs say.
struct Matches;

impl Method<Cpu> for Matches {
    fn name(&self) -> &'static str {
        "matches"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        let pattern = Needs::VERTEX_LABELS | Needs::EDGE_LABELS | Needs::ABSENT | Needs::REPEATS;
        Needs::LIST | Needs::SHARE | Needs::BY_IDS | Needs::PEERS | Needs::MEMORY | pattern
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        Fit::from(matches!(ask.query.task, Task::Match { .. }))
            .and(|| Fit::not_together(ask, Needs::MEMORY | Needs::VERTEX_LABELS))
            .and(|| Fit::not_together(ask, Needs::MEMORY | Needs::EDGE_LABELS))
            .and(|| Fit::not_together(ask, Needs::MEMORY | Needs::BY_IDS))
            .and(|| Fit::not_together(ask, Needs::MEMORY | Needs::PEERS))
            .and(|| Fit::not_together(ask, Needs::PEERS | Needs::LIST))
            .and(|| Fit::not_together(ask, Needs::PEERS | Needs::SHARE))
            .and(|| Fit::not_together(ask, Needs::REPEATS | Needs::BY_IDS))
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Task::Match { pattern, induced, mappings } = &query.task else {
            return Err(Failure::Retreat(Reason::Task));
        };
        let (induced, all) = (*induced, mappings.is_some());
        Ok(match *mappings {
            Some(kind) if kind.repeats() => {
                on.with_peers(run, |job| repeats::run(on, pattern, kind, job))?.into()
            }
            _ if run.by_ids() => {
                on.by_ids(run.context)?.matches(pattern, induced, all, job(run))?.into()
            }
            _ => on.with_peers(run, |job| matching::run(on, pattern, induced, all, job))?.into(),
        })
    }
}

/// The numbers of cliques that each vertex or edge is in.
struct CliqueColumns;

impl Method<Cpu> for CliqueColumns {
    fn name(&self) -> &'static str {
        "clique-columns"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::PER_VERTEX | Needs::PER_EDGE
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let is = matches!(ask.query.task, Task::Clique { .. } | Task::CliqueSizes { .. });
        Fit::from(is).and(|| of_columns(ask))
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        columns(query, on, run)
    }
}

/// Graphlet degrees: the orbits of motifs of 3 and 4 vertices.
struct Orbits;

impl Method<Cpu> for Orbits {
    fn name(&self) -> &'static str {
        "orbits"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::PER_VERTEX | Needs::PER_EDGE
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let Task::Motif { k, .. } = ask.query.task else { return Fit::No(Reason::Task) };
        of_columns(ask).and(|| Fit::within("motifs", k, 3, 4))
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        columns(query, on, run)
    }
}

/// Whether columns are requested; listing them is the caller's task.
fn of_columns(ask: &Ask<'_>) -> Fit {
    match ask.query.answer {
        Answer::PerVertex | Answer::PerEdge => Fit::Yes,
        Answer::Counts | Answer::PerGraph | Answer::Estimate(_) => Fit::No(Reason::Task),
    }
}

fn columns(query: &Query, on: &Resident, run: &Run<'_>) -> Result<Reply, Failure> {
    let per = query.answer.per().ok_or(Failure::Retreat(Reason::Task))?;
    Ok(per::run(on, &query.task, per, run.context)?.into())
}

/// Estimates from a random sample of cliques, motifs or matches.
struct Samples;

impl Method<Cpu> for Samples {
    fn name(&self) -> &'static str {
        "samples"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::ESTIMATE | Needs::VERTEX_LABELS | Needs::EDGE_LABELS
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let sampled = match ask.query.task {
            Task::Clique { .. } | Task::Match { .. } => Fit::Yes,
            Task::Motif { .. } => motifs(ask),
            _ => Fit::No(Reason::Task),
        };
        match ask.query.answer {
            Answer::Estimate(_) => sampled,
            _ => Fit::No(Reason::Task),
        }
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        let Answer::Estimate(precision) = query.answer else {
            return Err(Failure::Retreat(Reason::Task));
        };
        Ok(Reply::Estimate(estimate::run(on, &query.task, precision, run.context)?))
    }
}

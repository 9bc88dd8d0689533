//! Queries of the joins, drawn from a graph by random walks.

use std::ops::RangeInclusive;
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_cli::report::Tally;
use gramer_cpu::Cpu;
use gramer_engine::{Engine, PreparedGraph, Units};
use gramer_gpu::{Ablation, Gpu, Layers, Settings};
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Task};

use super::gsi::joined;
use super::limits::within;
use super::{Input, Lab};

/// Queries to draw from a graph.
#[derive(Debug, Clone)]
pub(super) struct QuerySet {
    /// Vertices of a query: each size is drawn equally often.
    pub vertices: RangeInclusive<usize>,
    pub number: usize,
    /// Matches of a query; none: at least one.
    pub matches: Option<RangeInclusive<u64>>,
}

impl QuerySet {
    /// As many queries of one size as a quick run has.
    pub const QUICK: QuerySet = QuerySet { vertices: 4..=4, number: 2, matches: None };

    /// The queries of a run: 100 for each graph, as in the paper.
    pub const fn of(vertices: RangeInclusive<usize>) -> Self {
        QuerySet { vertices, number: 100, matches: None }
    }
}

/// Steps of a walk for each vertex of a query, after which another walk is begun.
const PATIENCE: usize = 50;
/// Draws for each query that is wanted, after which a set stays smaller.
const MOST_DRAWS: usize = 200;
/// Time in which the host counts the matches of a query, or it is left out.
const HOST_LIMIT: Duration = Duration::from_millis(200);

/// A query that takes longer on the device, with all mechanisms, is left out; with this many no more are drawn.
const LIMIT: Duration = Duration::from_secs(2);
/// The same of a quick run, on a processor that others use as well.
const QUICK_LIMIT: Duration = Duration::from_secs(60);
const MOST_LEFT_OUT: u64 = 30;

/// A query as the paper makes them: a random walk until this many vertices were visited; these and the edges that were
/// taken, with their labels. It so occurs at least once.
fn query(graph: &Graph, vertices: usize, seed: u64) -> Pattern {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let view = graph.view();
    let mut below = |n: usize| (rng.next_u64() % n.max(1) as u64) as usize;
    loop {
        let mut at = below(graph.vertices()) as VertexId;
        let (mut seen, mut taken): (Vec<VertexId>, Vec<(usize, usize)>) = (vec![at], vec![]);
        for _ in 0..PATIENCE * vertices {
            let row = view.neighbours(at);
            if row.is_empty() || seen.len() == vertices {
                break;
            }
            let next = row[below(row.len())];
            let place = |v: VertexId, seen: &[VertexId]| seen.iter().position(|&s| s == v);
            let from = place(at, &seen).expect("the walk was there");
            let to = place(next, &seen).unwrap_or_else(|| {
                seen.push(next);
                seen.len() - 1
            });
            let edge = (from.min(to), from.max(to));
            if !taken.contains(&edge) {
                taken.push(edge);
            }
            at = next;
        }
        if seen.len() < vertices {
            continue;
        }
        let mut pattern = Pattern::from_edges(vertices, &taken);
        for (at, &v) in seen.iter().enumerate() {
            if let Some(labels) = view.vertex_labels {
                pattern.set_vertex_label(at, labels[v as usize]);
            }
        }
        for &(i, j) in &taken {
            if let Some(label) = view.edge_label(seen[i], seen[j]) {
                pattern.set_edge_label(i, j, label);
            }
        }
        return pattern;
    }
}

fn match_of(graph: &Graph, vertices: usize, seed: u64) -> Task {
    Task::Match {
        pattern: query(graph, vertices, seed),
        induced: Induced::Edge,
        mappings: Some(Mappings::Isomorphism),
    }
}

/// Whether a task has this many matches, and the host counts them in [`HOST_LIMIT`].
fn has_matches(
    prepared: &PreparedGraph,
    task: &Task,
    matches: &RangeInclusive<u64>,
    context: &Context,
) -> Result<bool> {
    let tally = Tally::new(Some(matches.end() + 1));
    let run = |context: &Context| prepared.run(task, Units::All, Some(&tally), context);
    let (outcome, late) = within(Some(HOST_LIMIT), context, run);
    match outcome {
        Ok(outcome) if outcome.complete => {
            let count: u128 = outcome.results.iter().map(|r| r.count).sum();
            Ok((u128::from(*matches.start())..=u128::from(*matches.end())).contains(&count))
        }
        Ok(_) if late || tally.limit_reached() => Ok(false),
        Err(Error::Interrupted) if late => Ok(false),
        Ok(_) => Err(Error::Interrupted),
        Err(error) => Err(error),
    }
}

/// Queries of a graph that take no longer than [`LIMIT`].
pub(super) struct Queries<'a> {
    pub input: &'a Input,
    /// The queries; none where nothing is measured.
    pub tasks: Vec<Task>,
    pub number: usize,
}

impl<'a> Queries<'a> {
    /// Draws the queries of a set. With `--verdicts` no query is drawn, and the number is read from the points.
    pub fn of(lab: &Lab<'_>, input: &'a Input, set: &QuerySet) -> Result<Self> {
        if lab.options.verdicts {
            let number = lab.unfinished.borrow().queries(&input.name);
            return Ok(Queries { input, tasks: vec![], number });
        }
        let (_, settings) = joined("", Ablation::default(), Layers::None);
        let settings = Settings { cache: lab.options.cache.clone(), ..settings };
        let gpu = Gpu::open(&lab.options.device, &settings)?;
        let prepared = gpu.prepare(&input.graph, lab.context)?;
        let on_host = Cpu.prepare(&input.graph, lab.context)?;
        // Builds the programs.
        prepared.run(&match_of(&input.graph, 2, 1), Units::All, None, lab.context)?;
        let (mut tasks, mut left_out, mut drawn) = (vec![], 0, 0);
        let sizes = set.vertices.end() - set.vertices.start() + 1;
        for seed in 1..=set.number * MOST_DRAWS {
            if tasks.len() == set.number || left_out == MOST_LEFT_OUT {
                break;
            }
            lab.context.cancel.check()?;
            if let Some(late) = lab.limits.over() {
                let what =
                    format!("queries of {}, {} of {} drawn", input.name, tasks.len(), set.number);
                lab.late.borrow_mut().push((what, late));
                break;
            }
            drawn = seed;
            let vertices = set.vertices.start() + seed % sizes;
            let task = match_of(&input.graph, vertices, seed as u64);
            if let Some(matches) = &set.matches
                && !has_matches(&on_host, &task, matches, lab.context)?
            {
                continue;
            }
            let run = |context: &Context| prepared.run(&task, Units::All, None, context);
            let limit = if lab.options.quick { QUICK_LIMIT } else { LIMIT };
            match within(Some(limit), lab.context, run) {
                (Ok(outcome), _) if outcome.complete => tasks.push(task),
                (Ok(_), true) | (Err(Error::Interrupted), true) => left_out += 1,
                (Ok(_), false) => return Err(Error::Interrupted),
                (Err(error), _) => return Err(error),
            }
        }
        (lab.tell)(&format!(
            "{}: {} of {drawn} queries kept, {left_out} too long",
            input.name,
            tasks.len()
        ));
        Ok(Queries { input, number: tasks.len(), tasks })
    }

    /// What keeps a query out of a set, for the report.
    pub fn limits() -> String {
        format!(
            "One is left out that takes more than {} s with all mechanisms, or whose matches the host can't count in {} s.",
            LIMIT.as_secs(),
            HOST_LIMIT.as_secs_f64()
        )
    }

    pub fn name(&self) -> String {
        format!("{} queries", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_engine::EngineExt;
    use gramer_graph::generate::{Labels, Model, Recipe, generate};

    fn graph() -> Graph {
        let labels = |count| Some(Labels { count, exponent: 1.0 });
        let model = Model::BarabasiAlbert { vertices: 80, edges_per_vertex: 3 };
        let recipe = Recipe { model, seed: 4, vertex_labels: labels(3), edge_labels: labels(5) };
        generate(&recipe, &Context::default()).unwrap()
    }

    #[test]
    fn queries_occur_and_differ() {
        let graph = graph();
        let mut seen: Vec<Pattern> = vec![];
        for seed in 1..8 {
            let pattern = query(&graph, 5, seed);
            assert!(
                pattern.vertices() == 5 && pattern.has_edge_labels() && !seen.contains(&pattern)
            );
            let task = Task::Match {
                pattern: pattern.clone(),
                induced: Induced::Edge,
                mappings: Some(Mappings::Isomorphism),
            };
            let found = Cpu.run(&graph, &task, None, &Context::default()).unwrap();
            assert!(found.results[0].count > 0, "{seed}");
            seen.push(pattern);
        }
    }

    #[test]
    fn a_query_is_kept_by_its_matches() {
        let (graph, context) = (graph(), Context::default());
        let prepared = Cpu.prepare(&graph, &context).unwrap();
        for seed in 1..8 {
            let task = match_of(&graph, 3, seed);
            let found = Cpu.run(&graph, &task, None, &context).unwrap();
            let count = u64::try_from(found.results[0].count).unwrap();
            let within = |matches| has_matches(&prepared, &task, &matches, &context).unwrap();
            assert!(within(count..=count) && within(1..=count + 5), "{count}");
            assert!(!within(1..=count - 1) && !within(count + 1..=count + 9), "{count}");
        }
    }
}

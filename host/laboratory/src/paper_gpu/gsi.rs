//! GSI and its successor (Zeng et al.): the steps of the join (table 3), and the four layers (table 5).

use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::{Engine, Units};
use gramer_gpu::{
    Ablation, Gpu, Join, JoinSettings, Layers, Order, Rows, Settings, Steps, Strategy,
    TableSettings,
};
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};

use super::limits::within;
use super::point::{NamedSettings, Point, points_file, speed_up};
use super::{Input, Lab};
use crate::paper::report::{Answer, Block, Cases, Claim, Section, far, near};

/// Queries that are drawn from a graph.
#[derive(Clone, Copy)]
pub(super) struct QuerySet {
    /// Vertices of each.
    pub vertices: usize,
    pub number: usize,
}

/// The paper has 100 queries of 12 vertices for each graph.
pub(super) const QUERIES: QuerySet = QuerySet { vertices: 12, number: 10 };
pub(super) const QUICK: QuerySet = QuerySet { vertices: 4, number: 2 };
/// Steps of a walk for each vertex of a query, after which another walk is begun.
const PATIENCE: usize = 50;

/// A query that takes longer with all mechanisms is left out; with this many no more are drawn.
const LIMIT: Duration = Duration::from_secs(2);
/// The same of a quick run, on a processor that others use as well.
const QUICK_LIMIT: Duration = Duration::from_secs(60);
const MOST_LEFT_OUT: u64 = 30;

/// A graph of table 6 of SGSI's paper: its name here, the edges there, and megabytes of the device.
const ENRON: (&str, f64, f64) = ("email-enron", 274_000.0, 661.0);

/// The steps of table 3, with what the paper's graphs gain at least: times as fast, and part of the loads.
const STEPS: [(&str, &str, f64, f64); 3] = [
    ("+DS (PCSR)", "PCSR makes queries at least 1.4 times as fast", 1.4, 0.25),
    ("+PC (Prealloc-Combine)", "Prealloc-Combine makes them at least 1.2 times as fast", 1.2, 0.21),
    (
        "+SO (set operations)",
        "set operations by size make them at least 1.0 times as fast",
        1.0,
        0.05,
    ),
];

/// SGSI's join with some of it left out.
pub(super) fn joined(name: &str, without: Ablation, layers: Layers) -> NamedSettings {
    joined_by(name, without, JoinSettings { layers, ..JoinSettings::default() })
}

fn joined_by(name: &str, without: Ablation, join_settings: JoinSettings) -> NamedSettings {
    let table =
        TableSettings { join: Join::Prealloc, join_settings, without, ..Default::default() };
    let steps = Steps { signatures: true, order: Order::Paper };
    (name.into(), Settings { strategy: Some(Strategy::Table), steps, table, ..Settings::default() })
}

/// GSI-b, then a step more each time; behind them the whole without its write cache.
fn steps() -> Vec<NamedSettings> {
    let none = Ablation::default();
    let so = Ablation { sets: true, write_cache: true, ..none };
    let pc = Ablation { prealloc: true, ..so };
    let all = Ablation { pcsr: true, ..pc };
    let cache = Ablation { write_cache: true, ..none };
    vec![
        joined("GSI-b", all, Layers::None),
        joined(STEPS[0].0, pc, Layers::None),
        joined(STEPS[1].0, so, Layers::None),
        joined(STEPS[2].0, none, Layers::None),
        joined("without write cache", cache, Layers::None),
    ]
}

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

/// Queries of a graph that take no longer than [`limit`].
pub(super) struct Queries<'a> {
    input: &'a Input,
    /// The queries; none where nothing is measured.
    pub tasks: Vec<Task>,
    pub number: usize,
}

impl<'a> Queries<'a> {
    /// Draws the queries of a set. With `--verdicts` no query is drawn, and the number is read from the points.
    pub fn of(lab: &Lab<'_>, input: &'a Input, set: QuerySet) -> Result<Self> {
        if lab.options.verdicts {
            let number = lab.unfinished.borrow().queries(&input.name);
            return Ok(Queries { input, tasks: vec![], number });
        }
        let match_of = |vertices, seed| Task::Match {
            pattern: query(&input.graph, vertices, seed),
            induced: Induced::Edge,
            mappings: true,
        };
        let (_, settings) = joined("", Ablation::default(), Layers::None);
        let settings = Settings { cache: lab.options.cache.clone(), ..settings };
        let gpu = Gpu::open(&lab.options.device, &settings)?;
        let prepared = gpu.prepare(&input.graph, lab.context)?;
        // Builds the programs.
        prepared.run(&match_of(2, 1), Units::All, None, lab.context)?;
        let (mut tasks, mut left_out) = (vec![], 0);
        for seed in 1.. {
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
            let task = match_of(set.vertices, seed);
            let run = |context: &Context| prepared.run(&task, Units::All, None, context);
            match within(Some(limit(lab.options.quick)), lab.context, run) {
                (Ok(outcome), _) if outcome.complete => tasks.push(task),
                (Ok(_), true) | (Err(Error::Interrupted), true) => left_out += 1,
                (Ok(_), false) => return Err(Error::Interrupted),
                (Err(error), _) => return Err(error),
            }
        }
        Ok(Queries { input, number: tasks.len(), tasks })
    }

    pub fn name(&self) -> String {
        format!("{} queries", self.number)
    }
}

fn limit(quick: bool) -> Duration {
    if quick { QUICK_LIMIT } else { LIMIT }
}

pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let set = if lab.options.quick { QUICK } else { QUERIES };
    let queries = lab.labelled.iter().map(|input| Queries::of(lab, input, set));
    let queries: Vec<Queries<'_>> = queries.collect::<Result<_>>()?;
    Ok(vec![table_3(lab, &queries)?, table_4(lab, &queries)?, table_5(lab, &queries)?])
}

/// How queries were made.
fn made(queries: &[Queries<'_>], quick: bool) -> String {
    let each = |q: &Queries<'_>| format!("{} of {}", q.number, q.input.name);
    format!(
        "Queries are random walks to {} vertices, with the edges that were taken and all labels: {}. One that takes more \
         than {} s with all mechanisms is left out, and another drawn; the paper has 100 for each graph.",
        if quick { QUICK.vertices } else { QUERIES.vertices },
        queries.iter().map(each).collect::<Vec<_>>().join(", "),
        limit(quick).as_secs()
    )
}

/// The part of the loads that a step saves.
fn saved(before: Option<&Point>, after: Option<&Point>) -> Option<f64> {
    Some(1.0 - after?.loads? / before?.loads?.max(1.0))
}

/// Table 3.
fn table_3(lab: &Lab<'_>, queries: &[Queries<'_>]) -> Result<Section> {
    let mut faster: [Cases; 3] = Default::default();
    let mut fewer: [Cases; 3] = Default::default();
    for all in queries {
        if all.number == 0 {
            faster.iter_mut().chain(&mut fewer).for_each(|cases| cases.add(None));
            continue;
        }
        let input = all.input;
        let points = lab.compare("table 3", input, (&all.name(), &all.tasks), &steps())?;
        for step in 0..3 {
            let (before, after) = (points[step].as_ref(), points[step + 1].as_ref());
            faster[step].add(speed_up(before, after));
            fewer[step].add(saved(before, after));
        }
    }
    let mut claims = vec![];
    for (step, &(_, claim, times, part)) in STEPS.iter().enumerate() {
        let bar = near(times, 1.0);
        claims.push(Claim {
            place: "GSI, table 3",
            claim,
            bar: format!("from {bar:.2} times on"),
            answer: Answer::Any(faster[step].finding(|t| t >= bar, 2, " times")),
            why: match step {
                0 => "all queries of a graph together",
                _ => "–",
            }
            .into(),
        });
        let bar = near(part, 0.0);
        claims.push(Claim {
            place: "GSI, table 3",
            claim: match step {
                0 => "PCSR saves at least 25 % of the loads",
                1 => "Prealloc-Combine saves at least 21 % of the loads",
                _ => "set operations by size save at least 5 % of the loads",
            },
            bar: format!("from {:.1} % on", 100.0 * bar),
            answer: Answer::Any(fewer[step].finding(|s| s >= bar, 3, " of the loads")),
            why: "–".into(),
        });
    }
    Ok(Section {
        title: "GSI, table 3: the steps of the join".into(),
        blocks: vec![Block::Text(made(queries, lab.options.quick))],
        claims,
    })
}

/// Table 4.
fn table_4(lab: &Lab<'_>, queries: &[Queries<'_>]) -> Result<Section> {
    let (mut faster, mut fewer) = (Cases::default(), Cases::default());
    let search = JoinSettings { rows: Rows::Search, ..JoinSettings::default() };
    let settings = [
        joined_by("binary search", Ablation::default(), search),
        joined("PCSR", Ablation::default(), Layers::None),
    ];
    for all in queries {
        if all.number == 0 {
            faster.add(None);
            fewer.add(None);
            continue;
        }
        let points = lab.compare("table 4", all.input, (&all.name(), &all.tasks), &settings)?;
        faster.add(speed_up(points[0].as_ref(), points[1].as_ref()));
        fewer.add(saved(points[0].as_ref(), points[1].as_ref()));
    }
    let claim = |claim, bar: String, finding, why: &str| Claim {
        place: "GSI, table 4",
        claim,
        bar,
        answer: Answer::Any(finding),
        why: why.into(),
    };
    let (times_bar, part_bar) = (near(1.1, 1.0), near(0.13, 0.0));
    let claims = vec![
        claim(
            "PCSR is at least 1.1 times as fast as a binary search",
            format!("from {times_bar:.2} times on"),
            faster.finding(|t| t >= times_bar, 2, " times"),
            "one lane searches",
        ),
        claim(
            "it saves at least 13 % of the loads",
            format!("from {:.1} % on", 100.0 * part_bar),
            fewer.finding(|s| s >= part_bar, 3, " of the loads"),
            "–",
        ),
    ];
    Ok(Section {
        title: "GSI, table 4: rows by PCSR and by binary search".into(),
        blocks: vec![points_file()],
        claims,
    })
}

/// Tables 5 and 6.
fn table_5(lab: &Lab<'_>, queries: &[Queries<'_>]) -> Result<Section> {
    let (mut cases, mut peaks) = (Cases::default(), Cases::default());
    let none = Ablation::default();
    let settings = [
        joined("a warp for each row", none, Layers::None),
        joined("fixed thresholds", none, Layers::Paper),
        joined("histogram", none, Layers::Histogram),
    ];
    for all in queries {
        if all.number == 0 {
            cases.add(None);
            continue;
        }
        let input = all.input;
        let points = lab.compare("table 5", input, (&all.name(), &all.tasks), &settings)?;
        cases.add(speed_up(points[1].as_ref(), points[2].as_ref()));
        if input.name == ENRON.0 {
            let edges = input.graph.edges() as f64;
            let peak = points[0].as_ref().and_then(|p| p.peak);
            peaks.add(peak.map(|peak| peak / edges * ENRON.1 / 1e6));
        }
    }
    let most = far(ENRON.2, 0.0);
    let memory = Claim {
        place: "SGSI, table 6",
        claim: "GSI takes 661 MB of the device for enron",
        bar: format!("up to {most:.0} MB"),
        answer: Answer::Any(peaks.finding(|mb| mb <= most, 0, " MB")),
        why: "email-enron's peak times the paper's edges over ours".into(),
    };
    let bar = near(1.6, 1.0);
    let claim = Claim {
        place: "SGSI, table 5",
        claim: "thresholds from the histogram are more than 1.6 times as fast as fixed ones",
        bar: format!("from {bar:.2} times on"),
        answer: Answer::Any(cases.finding(|t| t >= bar, 2, " times")),
        why: "the paper's graphs have 10^9 edges and hubs of 10^7, ours hubs of 10^4".into(),
    };
    Ok(Section {
        title: "SGSI, tables 5 and 6: layers and memory".into(),
        blocks: vec![points_file()],
        claims: vec![claim, memory],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_cpu::Cpu;
    use gramer_engine::EngineExt;
    use gramer_graph::generate::{Labels, Model, Recipe, generate};

    #[test]
    fn queries_occur_and_differ() {
        let labels = |count| Some(Labels { count, exponent: 1.0 });
        let model = Model::BarabasiAlbert { vertices: 80, edges_per_vertex: 3 };
        let recipe = Recipe { model, seed: 4, vertex_labels: labels(3), edge_labels: labels(5) };
        let graph = generate(&recipe, &Context::default()).unwrap();
        let mut seen: Vec<Pattern> = vec![];
        for seed in 1..8 {
            let pattern = query(&graph, 5, seed);
            assert!(
                pattern.vertices() == 5 && pattern.has_edge_labels() && !seen.contains(&pattern)
            );
            let task =
                Task::Match { pattern: pattern.clone(), induced: Induced::Edge, mappings: true };
            let found = Cpu.run(&graph, &task, None, &Context::default()).unwrap();
            assert!(found.results[0].count > 0, "{seed}");
            seen.push(pattern);
        }
    }
}

//! Counts of each graph of a file of several.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_engine::method::{Failure, Fit, Method, Plan, Reply, Run};
use gramer_engine::per::{Column, Numbers};
use gramer_engine::query::{Answer, Ask, Needs, Query};
use gramer_engine::{Engine, Outcome, Subject, Units};
use gramer_graph::{VertexId, transactions};
use gramer_pattern::task::Task;

use super::{Cpu, Resident};

/// Each graph is mined by itself, on one thread.
pub(super) struct GraphColumns;

impl Method<Cpu> for GraphColumns {
    fn name(&self) -> &'static str {
        "graph-columns"
    }

    fn offers(&self, _: &Cpu) -> Needs {
        Needs::PER_GRAPH
            | Needs::VERTEX_LABELS
            | Needs::EDGE_LABELS
            | Needs::ABSENT
            | Needs::COMPONENTS
            | Needs::REPEATS
    }

    fn fit(&self, ask: &Ask<'_>, _: &Cpu) -> Fit {
        let task = matches!(
            ask.query.task,
            Task::Clique { .. }
                | Task::CliqueSizes { .. }
                | Task::Motif { .. }
                | Task::Match { .. }
        );
        (task && ask.query.answer == Answer::PerGraph).into()
    }

    fn run(&self, query: &Query, on: &Resident, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        Ok(counts(query, on, run.context)?.into())
    }
}

/// The numbers of the patterns of one graph.
type Lines = Vec<(Subject, u128)>;

fn counts(query: &Query, on: &Resident, context: &Context) -> Result<Outcome> {
    let all = transactions::of(&on.graph);
    context.progress.begin(all.len() as u64);
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Result<Lines>>> = Mutex::default();
    found.lock().unwrap_or_else(|e| e.into_inner()).resize_with(all.len(), || Ok(vec![]));
    let one = Context { cancel: context.cancel.clone(), ..Context::with_threads(1) };
    on_threads(context.threads().min(all.len()).max(1), |_| {
        while !context.cancel.is_cancelled() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((_, vertices)) = all.get(at) else { break };
            let lines = of_one(query, on, vertices, &one);
            found.lock().unwrap_or_else(|e| e.into_inner())[at] = lines;
            context.progress.add(1);
        }
    });
    // Some graphs say nothing of the others.
    if context.cancel.is_cancelled() {
        return Ok(Outcome::default());
    }
    let found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    let found = found.into_iter().collect::<Result<Vec<Lines>>>()?;
    Ok(table(&found))
}

fn of_one(query: &Query, on: &Resident, vertices: &[VertexId], context: &Context) -> Result<Lines> {
    let graph = transactions::alone(&on.graph, vertices);
    let prepared = Cpu.prepare(&graph, context)?;
    let outcome = prepared.run(&query.task, Units::All, None, context)?;
    if !outcome.complete {
        return Err(Error::Interrupted);
    }
    Ok(outcome.lines().map(|line| (line.of.into_owned(), line.count)).collect())
}

/// A column for each pattern that a graph has, and the sums.
fn table(found: &[Lines]) -> Outcome {
    let mut subjects: Vec<&Subject> = vec![];
    for (at, (of, _)) in found.iter().flat_map(|lines| lines.iter().enumerate()) {
        if subjects.get(at) != Some(&of) && !subjects.contains(&of) {
            subjects.push(of);
        }
    }
    let count = |lines: &Lines, of: &Subject| {
        lines.iter().find(|(own, _)| own == of).map_or(0, |(_, count)| *count)
    };
    let mut outcome = Outcome::new(vec![], true);
    for of in subjects {
        let mut counts = Numbers::with_capacity(found.len());
        found.iter().for_each(|lines| counts.push(count(lines, of)));
        outcome.push(of.clone(), counts.sum().unwrap_or(Outcome::SATURATED));
        outcome.columns.push(Column { of: of.clone(), orbit: None, counts });
    }
    outcome
}

#[cfg(test)]
mod tests {
    use gramer_engine::per::Per;
    use gramer_graph::Builder;
    use gramer_pattern::Pattern;

    use super::*;

    /// A triangle, a path of four vertices, a vertex alone, K4.
    fn graphs() -> gramer_graph::Graph {
        let graphs: [&[(u64, u64)]; 4] = [
            &[(0, 1), (1, 2), (0, 2)],
            &[(0, 1), (1, 2), (2, 3)],
            &[],
            &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        ];
        let mut builder = Builder::new();
        for (graph, edges) in (0u64..).zip(graphs) {
            builder.labelled_vertex(graph << 32, 5);
            edges.iter().flat_map(|(u, v)| [*u, *v]).filter(|v| *v > 0).for_each(|v| {
                builder.labelled_vertex(graph << 32 | v, 6);
            });
            edges.iter().for_each(|(u, v)| builder.edge(graph << 32 | u, graph << 32 | v));
        }
        builder.build()
    }

    #[test]
    fn each_graph_has_its_counts() {
        let graph = graphs();
        let labelled = {
            let mut pattern = Pattern::clique(3);
            (0..3).for_each(|v| pattern.set_vertex_label(v, if v == 0 { 5 } else { 6 }));
            pattern
        };
        let induced = gramer_pattern::task::Induced::Edge;
        let matching = |pattern| Task::Match { pattern, induced, mappings: None };
        for (task, expected) in [
            (Task::Clique { k: 3 }, vec![vec![1, 0, 0, 4]]),
            (matching(Pattern::clique(2)), vec![vec![3, 3, 0, 6]]),
            (matching(labelled), vec![vec![1, 0, 0, 3]]),
        ] {
            for threads in [1, 3] {
                let context = Context::with_threads(threads);
                let prepared = Cpu.prepare(&graph, &context).unwrap();
                let outcome = prepared.run_per(&task, Per::Graph, &context).unwrap();
                let columns: Vec<Vec<u128>> =
                    outcome.columns.iter().map(|column| column.counts.iter().collect()).collect();
                assert_eq!(columns, expected, "{task:?}");
                let sums: Vec<u128> = outcome.counts().collect();
                let whole = prepared.run(&task, Units::All, None, &context).unwrap();
                assert_eq!(sums, whole.counts().collect::<Vec<_>>(), "{task:?}");
            }
        }
        let context = Context::with_threads(2);
        let prepared = Cpu.prepare(&graph, &context).unwrap();
        let task = Task::Motif { k: 3, induced: gramer_pattern::task::Induced::Vertex };
        let motifs = prepared.run_per(&task, Per::Graph, &context).unwrap();
        let numbers = |name: &str| -> Vec<u128> {
            let is = |column: &&Column| column.of.name() == name;
            motifs.columns.iter().find(is).unwrap().counts.iter().collect()
        };
        assert_eq!((numbers("wedge"), numbers("triangle")), (vec![0, 2, 0, 0], vec![1, 0, 0, 4]));
    }
}

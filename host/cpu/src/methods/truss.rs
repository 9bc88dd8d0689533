//! Truss numbers, by removal of edges in fewest triangles.

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::{Error, Result};
use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{VertexId, View};
use gramer_pattern::{Statistic, Task};

use super::core::Buckets;
use super::statistic::StatisticMethod;
use super::{Resident, per};
use gramer_engine::per::{Column, Numbers, Per, edges};
use gramer_engine::query::Needs;
use gramer_engine::{Outcome, Subject};

/// Truss numbers. The k-truss is the largest subgraph in which every edge is in k - 2 triangles, and the truss number of
/// an edge is the largest k of a k-truss with it (Cohen, 2008).
pub(super) const METHOD: StatisticMethod = StatisticMethod {
    name: "truss",
    statistic: Statistic::Truss,
    per: Needs::PER_EDGE,
    any_order: false,
    compute,
};

fn compute(on: &Resident, columns: bool, context: &Context) -> Result<Outcome> {
    Ok(answer(&numbers(on, context)?, columns))
}
/// The sizes of the k-trusses in edges, and the truss number of each edge.
fn answer(trusses: &[u32], columns: bool) -> Outcome {
    let mut outcome = Outcome::new(vec![], true);
    let most = trusses.iter().copied().max().unwrap_or(1) as usize;
    let mut sizes = vec![0u128; most + 1];
    trusses.iter().for_each(|&truss| sizes[truss as usize] += 1);
    (0..most).rev().for_each(|k| sizes[k] += sizes[k + 1]);
    for (k, &size) in sizes.iter().enumerate().skip(2) {
        outcome.push(Subject::Name(format!("{k}-truss")), size);
    }
    if columns {
        let counts = Numbers::Narrow(trusses.iter().map(|&truss| truss.into()).collect());
        outcome.columns =
            vec![Column { of: Subject::Name("truss number".into()), orbit: None, counts }];
    }
    outcome
}

/// By edge, in the order of columns, its truss number (Wang and Cheng, 2012). Common neighbours of the ends are looked
/// for from the shorter row, so that all edges together take E^1.5 searches at most.
fn numbers(on: &Resident, context: &Context) -> Result<Vec<u32>> {
    let view = on.graph.view();
    let triangles = per::run(on, &Task::Clique { k: 3 }, Per::Edge, context)?;
    let Some(column) = triangles.columns.first() else { return Err(Error::Interrupted) };
    let ends: Vec<(VertexId, VertexId)> = edges(view).collect();
    if u32::try_from(ends.len()).is_err() {
        return Err(Error::Unsupported(format!(
            "truss numbers are found of graphs of up to {} edges, and this one has {}",
            u32::MAX,
            ends.len()
        )));
    }
    let mut support: Vec<u32> = column.counts.iter().map(|count| count as u32).collect();
    let index = Index::of(view, &ends);
    let mut buckets = Buckets::new(&support);
    let mut gone = zeroed_or_unwind(ends.len());
    let mut looks = CancelPoll::new(&context.cancel);
    for at in 0..ends.len() {
        let edge = buckets.items[at];
        let (u, v) = ends[edge as usize];
        let (short, long) = if view.degree(u) < view.degree(v) { (u, v) } else { (v, u) };
        looks.check(1 + view.degree(short))?;
        gone[edge as usize] = true;
        for place in view.row(short) {
            let own = index.by_entry[place];
            if gone[own as usize] {
                continue;
            }
            let Some(other) = index.edge(view, long, view.neighbours[place]) else { continue };
            if gone[other as usize] {
                continue;
            }
            for third in [own, other] {
                if support[third as usize] > support[edge as usize] {
                    buckets.lower(third, &mut support);
                }
            }
        }
    }
    support.iter_mut().for_each(|number| *number += 2);
    Ok(support)
}

/// The number of the edge of each entry of the rows.
struct Index {
    by_entry: Vec<u32>,
}

impl Index {
    fn of(view: View<'_>, ends: &[(VertexId, VertexId)]) -> Self {
        let mut by_entry = zeroed_or_unwind(view.neighbours.len());
        // Edges ascend by their larger end and then by the smaller one, and so do entries of a row.
        let mut next: Vec<usize> =
            (0..view.vertices() as VertexId).map(|v| view.row(v).start).collect();
        for (edge, &(u, v)) in (0..).zip(ends) {
            for end in [u, v] {
                let place = &mut next[end as usize];
                by_entry[*place] = edge;
                *place += 1;
            }
        }
        Index { by_entry }
    }

    /// The edge between two vertices, if there is one.
    fn edge(&self, view: View<'_>, u: VertexId, v: VertexId) -> Option<u32> {
        let at = view.neighbours(u).binary_search(&v).ok()?;
        Some(self.by_entry[view.row(u).start + at])
    }
}

//! A dense subgraph, by removal of vertices of least degree.

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{VertexId, View};
use gramer_pattern::Statistic;

use super::Resident;
use super::core::Peeling;
use super::statistic::StatisticMethod;
use gramer_engine::per::{Column, Numbers};
use gramer_engine::query::Needs;
use gramer_engine::{Outcome, Subject};

/// The densest of the subgraphs that are left when vertices of least degree go one after the other. Its edges per vertex
/// are at least half of the most that a subgraph has (Charikar, 2000).
pub(super) const METHOD: StatisticMethod = StatisticMethod {
    name: "peeling",
    statistic: Statistic::Densest,
    per: Needs::PER_VERTEX,
    any_order: true,
    compute,
};

fn compute(on: &Resident, columns: bool, context: &Context) -> Result<Outcome> {
    let view = on.graph.view();
    let mut looks = CancelPoll::new(&context.cancel);
    let peeled = Peeling::of(view, &mut looks)?;
    let (members, edges) = densest(view, &peeled.order, &mut looks)?;
    Ok(answer(view.vertices(), members, edges, columns))
}
/// The last vertices of the order that have the most edges per vertex between them, the most vertices of such; and their
/// edges.
fn densest<'a>(
    view: View<'_>,
    order: &'a [VertexId],
    looks: &mut CancelPoll<'_>,
) -> Result<(&'a [VertexId], u64)> {
    let mut there = zeroed_or_unwind(order.len());
    let (mut edges, mut best) = (0u64, (0usize, 0u64));
    for (count, &v) in (1..).zip(order.iter().rev()) {
        looks.check(1 + view.degree(v))?;
        edges += view.neighbours(v).iter().filter(|&&u| there[u as usize]).count() as u64;
        there[v as usize] = true;
        // Vertices are below 2^32 and edges below 2^63.
        if u128::from(edges) * best.0 as u128 >= u128::from(best.1) * count as u128 {
            best = (count, edges);
        }
    }
    Ok((&order[order.len() - best.0..], best.1))
}

fn answer(vertices: usize, members: &[VertexId], edges: u64, columns: bool) -> Outcome {
    let mut outcome = Outcome::new(vec![], true);
    outcome.push(Subject::Name("vertices".into()), members.len() as u128);
    outcome.push(Subject::Name("edges".into()), edges.into());
    if columns {
        let mut is_member = zeroed_or_unwind(vertices);
        members.iter().for_each(|&v| is_member[v as usize] = 1);
        let of = Subject::Name("in the subgraph".into());
        let counts = Numbers::Narrow(is_member);
        outcome.columns = vec![Column { of, orbit: None, counts }];
    }
    outcome
}

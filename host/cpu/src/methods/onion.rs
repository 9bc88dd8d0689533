//! Onion layers, by removal of all vertices of least degree at once.

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{VertexId, View};
use gramer_pattern::Statistic;

use super::Resident;
use super::core::Buckets;
use super::statistic::StatisticMethod;
use gramer_engine::per::{Column, Numbers};
use gramer_engine::query::Needs;
use gramer_engine::{Outcome, Subject};

/// The onion decomposition: in each round go all vertices with at most as many neighbours as the current core, and the
/// layer of a vertex is its round, from 1 (Hébert-Dufresne, Grochow and Allard, 2016).
pub(super) const METHOD: StatisticMethod = StatisticMethod {
    name: "onion",
    statistic: Statistic::Onion,
    per: Needs::PER_VERTEX,
    any_order: true,
    compute,
};

fn compute(on: &Resident, columns: bool, context: &Context) -> Result<Outcome> {
    let layers = layers(on.graph.view(), &mut CancelPoll::new(&context.cancel))?;
    Ok(answer(&layers, columns))
}
/// The number of layers, and the layer of each vertex.
fn answer(layers: &[u32], columns: bool) -> Outcome {
    let mut outcome = Outcome::new(vec![], true);
    let last = layers.iter().copied().max().unwrap_or(0);
    outcome.push(Subject::Name("layers".into()), last.into());
    if columns {
        let counts = Numbers::Narrow(layers.iter().map(|&layer| layer.into()).collect());
        outcome.columns = vec![Column { of: Subject::Name("layer".into()), orbit: None, counts }];
    }
    outcome
}

/// By vertex, its layer. It takes time and memory as vertices and edges.
fn layers(view: View<'_>, poll: &mut CancelPoll<'_>) -> Result<Vec<u32>> {
    let vertices = view.vertices();
    let mut degrees: Vec<u32> = (0..vertices as VertexId).map(|v| view.degree(v) as u32).collect();
    let mut buckets = Buckets::new(&degrees);
    let mut layers = zeroed_or_unwind(vertices);
    let (mut layer, mut end) = (0, 0);
    for at in 0..vertices {
        let v = buckets.items[at];
        let core = degrees[v as usize];
        if at == end {
            // Vertices that come down to the core in this round lie behind this end, and go in the next one.
            (layer, end) = (layer + 1, buckets.end(core));
        }
        layers[v as usize] = layer;
        poll.check(1 + view.degree(v))?;
        for &u in view.neighbours(v) {
            // Others are gone, or of this core at most.
            if degrees[u as usize] > core {
                buckets.lower(u, &mut degrees);
            }
        }
    }
    Ok(layers)
}

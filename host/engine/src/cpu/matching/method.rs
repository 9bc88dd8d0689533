//! Unlabelled patterns that are only counted: whether a search is the best way to their number.

use gramer_graph::error::Result;
use gramer_pattern::Pattern;
use gramer_pattern::plan::homomorphism::Shape;
use gramer_pattern::task::Induced;

use super::too_many;
use crate::cpu::homomorphism::{self, Decomposition, Failed};
use crate::cpu::{Job, Resident, clique, cycle, motif};
use crate::metrics::{DeviceMetrics, Value};

/// Steps of a search cost more than those of a pass over rows: images are looked up, sets are made.
const SEARCH_STEP: f64 = 3.0;
/// What the closed forms of all five-vertex patterns cost beside the triangles and 4-cycles.
const FORMS_OF_FIVE: f64 = 12.0;
/// Most vertices of a pattern that is decomposed: the 8-path has some 200 quotients.
const DECOMPOSED: usize = 8;
/// Most vertices of a motif.
const MOTIF: usize = 6;

/// How a number was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// A search along a plan.
    Search,
    /// The number of cliques.
    Cliques,
    /// Paths of two edges that meet.
    Cycles,
    /// The equations or closed forms that give all motifs of the size.
    Motifs,
    /// Homomorphisms of the pattern's quotients.
    Homomorphisms,
}

impl Method {
    /// What results call it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Search => "search plan",
            Method::Cliques => "cliques",
            Method::Cycles => "cycles",
            Method::Motifs => "motif equations",
            Method::Homomorphisms => "homomorphisms",
        }
    }

    /// The method as a result states it.
    pub fn metrics(self) -> DeviceMetrics {
        let mut metrics = DeviceMetrics::of("cpu");
        metrics.detail("match.method", "", Value::Text(self.name().into()));
        metrics
    }
}

/// The number of mappings or occurrences by another way than a search, with whether it was
/// finished and the way; `None` where the search, of estimated cost `search`, is the best way.
///
/// # Errors
/// As counting cliques.
pub(super) fn count(
    graph: &Resident<'_>,
    pattern: &Pattern,
    induced: Induced,
    search: f64,
    job: Job<'_>,
) -> Result<Option<(u128, bool, Method)>> {
    let k = pattern.vertices();
    let edges = pattern.edge_count();
    if k < 3 {
        return Ok(None);
    }
    if edges == k * (k - 1) / 2 {
        let (count, complete) = clique::count(graph, k, job)?;
        return Ok(Some((count, complete, Method::Cliques)));
    }
    let view = graph.graph.view();
    let ring = edges == k && (0..k).all(|v| pattern.degree(v) == 2);
    if ring && induced == Induced::Edge && (k == 4 || k == 5) {
        let (count, complete) = if k == 4 {
            cycle::four(view, job)
        } else {
            let (pairs, complete) = cycle::five(view, job);
            (if complete { cycle::five_of(pairs) } else { 0 }, complete)
        };
        return Ok(Some((count, complete, Method::Cycles)));
    }
    let shape = homomorphism::shape(view);
    let search = search * SEARCH_STEP;
    let motifs = motifs(k, &shape);
    let decomposition = (induced == Induced::Edge && k <= DECOMPOSED)
        .then(|| Decomposition::new(view, pattern, &shape))
        .flatten()
        .filter(|decomposition| decomposition.cost < search.min(motifs));
    if let Some(decomposition) = decomposition {
        match decomposition.count(view, job) {
            Ok(count) => return Ok(Some((count, true, Method::Homomorphisms))),
            Err(Failed::Stopped) => return Ok(Some((0, false, Method::Homomorphisms))),
            // The number needs more than 128 bits, whatever the way.
            Err(Failed::Overflow) => return Err(too_many(false)),
        }
    }
    if motifs >= search {
        return Ok(None);
    }
    let (count, complete) = motif::one(graph, pattern, induced, job)?;
    Ok(Some((count, complete, Method::Motifs)))
}

/// Estimated cost of all motifs of k vertices.
fn motifs(k: usize, shape: &Shape) -> f64 {
    let steps = shape.triangle_steps + shape.cycle_steps + shape.arcs;
    let reach = shape.walks / shape.arcs.max(1.0);
    match k {
        3 => steps,
        4 => 2.0 * steps,
        5 => FORMS_OF_FIVE * steps,
        // Every connected set of four vertices, and the row of its last one.
        MOTIF => shape.walks * reach * reach / 6.0 * (16.0 + shape.arcs / shape.vertices.max(1.0)),
        _ => f64::INFINITY,
    }
}

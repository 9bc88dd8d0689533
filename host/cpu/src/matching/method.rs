//! Unlabelled patterns that are only counted: whether a search is the best way to their number.

use gramer_base::error::Result;
use gramer_pattern::Pattern;
use gramer_pattern::plan::homomorphism::Shape;
use gramer_pattern::task::Induced;
use tracing::debug;

use super::{sides, too_many};
use crate::clique::almost;
use crate::homomorphism::{self, CountFailure, Decomposition};
use crate::{Job, Resident, clique, cycle, motif};
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_pattern::closing::equations;

/// Steps of a search cost more than those of a pass over rows: images are looked up, sets are made.
pub(super) const SEARCH_STEP: f64 = 3.0;
/// Ratio of the search's estimate to that of closed forms above which no search is tried.
const FAR: f64 = 100.0;
/// Share of the cost of closed forms that a search may take: a sample may be wrong, and a step may take longer (on
/// as-caida 8 ns for K3,3).
const SHARE_OF_FORMS: f64 = 0.55;
/// Cost of the closed forms of all five-vertex patterns relative to triangles and 4-cycles.
const FORMS_OF_FIVE: f64 = 12.0;
/// Paths of two edges that take seconds; with more of them, common neighbours are compared with a search.
const MANY_PATHS: f64 = 1e9;
/// Maximum number of vertices of a pattern that is decomposed: the 8-path has some 200 quotients.
pub(super) const DECOMPOSED: usize = 8;
/// Maximum number of vertices of a motif.
const MOTIF: usize = 6;

/// Method that found a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// A search along a plan.
    Search,
    /// The number of cliques.
    Cliques,
    /// Common neighbours of smaller cliques.
    AlmostCliques,
    /// Common neighbours of two or three vertices.
    Sides,
    /// Paths of two edges that meet.
    Cycles,
    /// The equations or closed forms that give all motifs of the size.
    Motifs,
    /// Homomorphisms of the pattern's quotients.
    Homomorphisms,
}

impl Method {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Search => "search plan",
            Method::Cliques => "cliques",
            Method::AlmostCliques => "common neighbours of cliques",
            Method::Sides => "common neighbours of two or three vertices",
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

/// Result of the choice.
pub(super) enum MethodChoice {
    /// Another way than a search: its number, whether it was finished, and the way.
    Count(u128, bool, Method),
    /// A search; with `most`, unless it would visit more elements than that.
    Search { most: Option<f64> },
}

/// The number of mappings or occurrences by another way than a search, where the search, of estimated cost `search`,
/// is not the best way.
///
/// # Errors
/// As counting cliques.
pub(super) fn count(
    graph: &Resident,
    pattern: &Pattern,
    induced: Induced,
    search: f64,
    job: Job<'_>,
) -> Result<MethodChoice> {
    let k = pattern.vertices();
    let edges = pattern.edge_count();
    if k < 3 {
        return Ok(MethodChoice::Search { most: None });
    }
    if edges == k * (k - 1) / 2 {
        let (count, complete) = clique::count(graph, k, job)?;
        return Ok(MethodChoice::Count(count, complete, Method::Cliques));
    }
    if k >= almost::LEAST && edges + 1 == k * (k - 1) / 2 {
        let (count, complete) = almost_cliques(graph, k, induced, job)?;
        return Ok(MethodChoice::Count(count, complete, Method::AlmostCliques));
    }
    let view = graph.graph.view();
    let ring = edges == k && (0..k).all(|v| pattern.degree(v) == 2);
    if ring && induced == Induced::Edge && (k == 4 || k == 5) {
        let (count, complete) = if k == 4 {
            cycle::four(view, job)
        } else {
            let (pairs, complete) = cycle::five(view, job);
            (if complete { equations::five_cycles(pairs) } else { 0 }, complete)
        };
        return Ok(MethodChoice::Count(count, complete, Method::Cycles));
    }
    let shape = homomorphism::shape(view);
    let search = search * SEARCH_STEP;
    let paths = shape.walks / 2.0;
    if induced == Induced::Edge
        && let Some(sides) = sides::sides(pattern)
        && paths < search.max(MANY_PATHS)
    {
        debug!(search, paths, "estimated elements that a search and common neighbours visit");
        let (count, complete) = sides::count(view, sides, job);
        let count = count.and_then(|count| u128::try_from(count).ok());
        return match count {
            Some(count) => Ok(MethodChoice::Count(count, complete, Method::Sides)),
            None if complete => Err(too_many(false)),
            None => Ok(MethodChoice::Count(0, false, Method::Sides)),
        };
    }
    let forms = (k == MOTIF).then(|| motif::cost_of_one(view, &shape, pattern, induced)).flatten();
    let motifs = motifs(k, &shape, forms);
    debug!(search, motifs, "estimated elements that each way visits");
    let forms = forms.is_some();
    let decomposition = (induced == Induced::Edge && k <= DECOMPOSED)
        .then(|| Decomposition::new(view, pattern, &shape))
        .flatten()
        .inspect(|decomposition| debug!(decomposition.cost, "estimated cost of homomorphisms"))
        .filter(|decomposition| decomposition.cost < search.min(motifs))
        .filter(|decomposition| !forms || decomposition.apexes() <= 1);
    if let Some(decomposition) = decomposition {
        match decomposition.count(graph, job) {
            Ok(count) => return Ok(MethodChoice::Count(count, true, Method::Homomorphisms)),
            Err(CountFailure::Stopped) => {
                return Ok(MethodChoice::Count(0, false, Method::Homomorphisms));
            }
            // The number needs more than 128 bits by every method.
            Err(CountFailure::Overflow) => return Err(too_many(false)),
            Err(CountFailure::Failed(error)) => return Err(error),
        }
    }
    // The estimate of a search of six vertices may be far from its cost, so that a sample says which way is cheaper.
    let tried = forms && job.others.is_none() && search < FAR * motifs;
    if tried || motifs >= search {
        let most = SHARE_OF_FORMS * motifs / SEARCH_STEP;
        return Ok(MethodChoice::Search { most: tried.then_some(most) });
    }
    let (count, complete) = motif::one(graph, pattern, induced, job)?;
    Ok(MethodChoice::Count(count, complete, Method::Motifs))
}

/// The number of cliques of k vertices that lack an edge, and whether the run was finished.
fn almost_cliques(
    graph: &Resident,
    k: usize,
    induced: Induced,
    job: Job<'_>,
) -> Result<(u128, bool)> {
    let (count, complete) = almost::count(graph, k, job)?;
    if induced == Induced::Edge || !complete {
        return Ok((if induced == Induced::Edge { count } else { 0 }, complete));
    }
    // A whole clique has one of them for each of its edges.
    let (cliques, complete) = clique::count(graph, k, job)?;
    let edges = (k * (k - 1) / 2) as u128;
    Ok((if complete { count - edges * cliques } else { 0 }, complete))
}

/// Estimated cost of the equations or closed forms for k vertices; `forms` is that of the closed forms for six.
fn motifs(k: usize, shape: &Shape, forms: Option<f64>) -> f64 {
    let steps = shape.triangle_steps + shape.cycle_steps + shape.arcs;
    let reach = shape.walks / shape.arcs.max(1.0);
    match k {
        3 => steps,
        4 => 2.0 * steps,
        5 => FORMS_OF_FIVE * steps,
        // Otherwise every connected set of four vertices, and the row of its last one.
        MOTIF => forms.unwrap_or_else(|| {
            shape.walks * reach * reach / 6.0 * (16.0 + shape.arcs / shape.vertices.max(1.0))
        }),
        _ => f64::INFINITY,
    }
}

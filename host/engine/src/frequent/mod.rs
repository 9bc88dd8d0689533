//! Frequent patterns on devices that count or list the occurrences of one pattern: candidates are made here, level
//! by level, and the device says how often each occurs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`candidates`] | kinds of edges, and patterns with a vertex or an edge more |
//! | [`exchange`] | levels that are done together with other devices |

pub mod candidates;
pub mod exchange;

use std::collections::HashSet;

use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{SizeLimit, parts_reported};

use crate::cpu::frequent_by_lists;
use crate::{Count, Together};
use candidates::{Labelled, around, kinds, with_vertex};
use exchange::{Exchanged, Ranges};

/// The patterns of up to `max` vertices with at least `support` vertex-induced embeddings all of whose
/// parts are reported, smaller ones first, and whether all of them were counted; if not, only sizes that were counted
/// whole are there. Edges are counted here; `count` counts a larger pattern's embeddings, and says whether it went to
/// the end. With others each counts some of a level's candidates.
///
/// # Errors
/// Those of `count` and `together`, and [`gramer_graph::Error::Interrupted`].
pub fn by_embeddings(
    graph: &Graph,
    max: usize,
    support: u64,
    together: Option<&dyn Together>,
    context: &Context,
    mut count: impl FnMut(&Pattern) -> Result<(u128, bool)>,
) -> Result<(Vec<Count>, bool)> {
    let labelled = Labelled::of(graph);
    let mut kinds = kinds(graph, context)?;
    kinds.retain(|kind| kind.1 >= support);
    let around = around(kinds.iter().map(|kind| kind.0));
    let mut found: Vec<Count> = kinds
        .iter()
        .map(|&(kind, n)| Count { pattern: labelled.edge(kind).canonical().0, count: n.into() })
        .collect();
    let mut reported: HashSet<Pattern> = found.iter().map(|c| c.pattern.clone()).collect();
    let mut level: Vec<Pattern> = found.iter().map(|c| c.pattern.clone()).collect();
    for vertices in 3..=max {
        let mut seen = HashSet::new();
        let mut candidates = vec![];
        for pattern in &level {
            for wider in with_vertex(labelled, pattern, &around) {
                let form = wider.canonical().0;
                if seen.insert(form.clone()) && parts_reported(&form, &reported) {
                    candidates.push(form);
                }
            }
        }
        context.progress.begin(candidates.len() as u64);
        let mut counted = vec![];
        let mut ranges = Ranges::new(together, vertices, candidates.len());
        while let Some(range) = ranges.take()? {
            for candidate in range {
                let (support_here, whole) = match count(&candidates[candidate]) {
                    Err(Error::Interrupted) => (0, false),
                    counted => counted?,
                };
                if !whole {
                    // Of a level that wasn't finished nothing is known.
                    return Ok((found, false));
                }
                if support_here >= u128::from(support) {
                    counted.push(Exchanged { candidate, support: support_here, words: vec![] });
                }
                context.progress.add(1);
            }
        }
        if let Some(together) = together {
            counted = exchange::join(together, vertices, &counted, candidates.len(), |_| 0)?;
        }
        let counts: Vec<Count> = counted
            .iter()
            .map(|one| Count { pattern: candidates[one.candidate].clone(), count: one.support })
            .collect();
        level = counts.iter().map(|count| count.pattern.clone()).collect();
        if level.is_empty() {
            break;
        }
        reported.extend(level.iter().cloned());
        found.extend(counts);
    }
    Ok((found, true))
}

/// A candidate whose occurrences are asked for.
pub struct Wanted<'a> {
    /// Its vertices in any order, with the labels that the graph has.
    pub pattern: &'a Pattern,
    /// By vertex of the pattern: how many vertices of the graph it may go to, at the most.
    pub images: &'a [usize],
    /// Whether a vertex of the pattern may go to a vertex of the graph: occurrences where it doesn't needn't be listed,
    /// since there are none.
    pub may: &'a (dyn Fn(usize, VertexId) -> bool + Sync),
    /// Takes an edge-induced occurrence, the graph's vertices in the order of the pattern's; one of its mappings is
    /// enough, and one that comes again does no harm. `false` once no more are needed.
    pub found: &'a (dyn Fn(&[VertexId]) -> bool + Sync),
}

/// Lists the occurrences of a candidate, and says whether it went to their end or as far as they were needed.
pub type Lister<'a> = dyn FnMut(&Wanted<'_>) -> Result<bool> + 'a;

/// The edge-induced patterns up to a limit whose smallest domain has at least `support` vertices, and whether all of
/// them were examined; if not, only whole levels are there. Domains are bounded and made consistent as the CPU
/// engine does it; those of which that says too little come from the occurrences that `list` gives. With others each
/// examines some of a level's candidates.
///
/// # Errors
/// Those of `list` and `together`.
pub fn by_images(
    graph: &Graph,
    limit: SizeLimit,
    support: u64,
    together: Option<&dyn Together>,
    context: &Context,
    list: &mut Lister<'_>,
) -> Result<(Vec<Count>, bool)> {
    frequent_by_lists(graph, (limit, support), together, context, list)
}

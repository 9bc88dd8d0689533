//! Frequent patterns on devices that count the embeddings of one pattern: candidates are made here, level
//! by level, and the device says how often each occurs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`candidates`] | kinds of edges, and patterns with a vertex or an edge more |
//! | [`exchange`] | levels that are done together with other devices |

pub mod candidates;
pub mod exchange;

use std::collections::HashSet;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::Graph;
use gramer_pattern::Pattern;
use gramer_pattern::task::parts_reported;

use crate::{Count, Peers};
use candidates::{Kind, LabelKinds, around, kinds, with_edge, with_vertex};
use exchange::{FrequentDomains, Ranges};

/// The patterns of up to `max` vertices with at least `support` vertex-induced embeddings all of whose
/// parts are reported, smaller ones first, and whether all of them were counted; if not, only sizes that were counted
/// whole are there. Edges are counted here; `count` counts a larger pattern's embeddings, and says whether it went to
/// the end. With others each counts some of a level's candidates.
///
/// # Errors
/// Those of `count` and `together`, and [`gramer_base::Error::Interrupted`].
pub fn by_embeddings(
    graph: &Graph,
    max: usize,
    support: u64,
    together: Option<&dyn Peers>,
    context: &Context,
    mut count: impl FnMut(&Pattern) -> Result<(u128, bool)>,
) -> Result<(Vec<Count>, bool)> {
    let labelled = LabelKinds::of(graph);
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
        let level_of = Level { number: vertices, support, together, context };
        let Some(counts) = level_of.frequent(candidates, &mut count)? else {
            return Ok((found, false));
        };
        level = counts.iter().map(|count| count.pattern.clone()).collect();
        if level.is_empty() {
            break;
        }
        reported.extend(level.iter().cloned());
        found.extend(counts);
    }
    Ok((found, true))
}

/// The patterns of up to `max` edges with at least `support` instances, which are sets of edges, smaller ones first, and
/// whether all of them were counted (GAMMA's algorithm 2). A pattern is a candidate if it is a frequent one with an edge
/// more, of any kind that the graph has: instances of a pattern may be more than those of its parts. `count` counts the
/// edge-induced occurrences of a pattern, and says whether it went to the end. With others each counts some of a
/// level's candidates.
///
/// # Errors
/// Those of `count` and `together`, and [`gramer_base::Error::Interrupted`].
pub fn by_instances(
    graph: &Graph,
    max: usize,
    support: u64,
    together: Option<&dyn Peers>,
    context: &Context,
    mut count: impl FnMut(&Pattern) -> Result<(u128, bool)>,
) -> Result<(Vec<Count>, bool)> {
    let labelled = LabelKinds::of(graph);
    let kinds: Vec<(Kind, u64)> = kinds(graph, context)?;
    let around = around(kinds.iter().map(|kind| kind.0));
    let mut level: Vec<Count> = kinds
        .iter()
        .filter(|kind| kind.1 >= support)
        .map(|&(kind, n)| Count { pattern: labelled.edge(kind).canonical().0, count: n.into() })
        .collect();
    let mut found = level.clone();
    for edges in 2..=max {
        let mut seen = HashSet::new();
        let mut candidates = vec![];
        for Count { pattern, .. } in &level {
            with_edge(labelled, pattern, &around, usize::MAX, |wider| {
                let form = wider.canonical().0;
                if seen.insert(form.clone()) {
                    candidates.push(form);
                }
            });
        }
        let level_of = Level { number: edges, support, together, context };
        let Some(counts) = level_of.frequent(candidates, &mut count)? else {
            return Ok((found, false));
        };
        if counts.is_empty() {
            break;
        }
        found.extend(counts.iter().cloned());
        level = counts;
    }
    Ok((found, true))
}

/// A level of candidates, and what counts them.
struct Level<'a> {
    /// Vertices or edges of its patterns.
    number: usize,
    support: u64,
    together: Option<&'a dyn Peers>,
    context: &'a Context,
}

impl Level<'_> {
    /// The candidates that are frequent, in their order; none of a level that wasn't finished, of which nothing is
    /// known.
    fn frequent(
        &self,
        candidates: Vec<Pattern>,
        count: &mut impl FnMut(&Pattern) -> Result<(u128, bool)>,
    ) -> Result<Option<Vec<Count>>> {
        self.context.progress.begin(candidates.len() as u64);
        let mut counted = vec![];
        let mut ranges = Ranges::new(self.together, self.number, candidates.len());
        while let Some(range) = ranges.take()? {
            for candidate in range {
                let (support, whole) = match count(&candidates[candidate]) {
                    Err(Error::Interrupted) => (0, false),
                    counted => counted?,
                };
                if !whole {
                    return Ok(None);
                }
                if support >= u128::from(self.support) {
                    counted.push(FrequentDomains { candidate, support, words: vec![] });
                }
                self.context.progress.add(1);
            }
        }
        if let Some(together) = self.together {
            counted = exchange::join(together, self.number, &counted, candidates.len(), |_| 0)?;
        }
        let frequent = counted
            .iter()
            .map(|one| Count { pattern: candidates[one.candidate].clone(), count: one.support });
        Ok(Some(frequent.collect()))
    }
}

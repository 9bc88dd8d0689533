//! Patterns of several components, by inclusion and exclusion over the ways in which components can meet.
//!
//! A pair of mappings, one of a component A and one of the rest B, either has nothing in common, and then it is a
//! mapping of both; or some vertices of A and of B have the same image, and then it is a mapping of the pattern in
//! which those are one. So the mappings of A and B together are the product of both numbers less the mappings of all
//! these patterns, which have fewer components. In a vertex-induced mapping no edge joins A and B, so that patterns
//! with such edges are taken off as well. The mappings that leave one pair of A and B unjoined are those without this
//! condition less those that join it.

use std::collections::HashMap;

use ethnum::U256;
use gramer_base::error::Result;
use gramer_engine::{Count, Outcome};
use gramer_graph::{Label, NO_LABEL};
use gramer_pattern::plan::search::bits;
use gramer_pattern::task::Induced;
use gramer_pattern::{Pattern, automorphism_count};

use super::{comparable, too_many};
use crate::{Job, Resident};

/// Returns the maximum of vertices in a pattern.
pub fn most(induced: Induced) -> usize {
    match induced {
        // Two components of five vertices meet in 1,545 ways.
        Induced::Edge => 10,
        // There is a pattern for each set of edges between two components.
        Induced::Vertex => 6,
    }
}

/// Counts the mappings or the occurrences of a pattern of several components.
///
/// # Errors
/// Those of [`super::run`] on the patterns of one component.
pub fn run(
    on: &Resident,
    given: &Pattern,
    induced: Induced,
    mappings: bool,
    job: Job<'_>,
) -> Result<Outcome> {
    let pattern = comparable(&on.graph, given)?;
    let mut counts = Counts { on, induced, job, known: HashMap::new() };
    let found = counts.mappings(&pattern)?;
    let each = U256::from(if mappings { 1 } else { automorphism_count(&pattern) });
    let count =
        found.map_or(Ok(0), |all| u128::try_from(all / each).map_err(|_| too_many(mappings)))?;
    let results = vec![Count { pattern: given.clone(), count }];
    Ok(Outcome::new(results, found.is_some()))
}

/// Maximum of pairs between components that must not be joined: each doubles the number of patterns.
pub const MOST_BETWEEN: usize = 8;

struct Counts<'a> {
    on: &'a Resident,
    induced: Induced,
    job: Job<'a>,
    /// Mappings of canonical patterns.
    known: HashMap<Pattern, U256>,
}

impl Counts<'_> {
    /// The mappings of a pattern; `None` if the run was stopped.
    fn mappings(&mut self, pattern: &Pattern) -> Result<Option<U256>> {
        let form = pattern.canonical().0;
        if let Some(&known) = self.known.get(&form) {
            return Ok(Some(known));
        }
        let components = form.components();
        let between = form.absences_between_components();
        let found = match components[..] {
            _ if !between.is_empty() => self.unjoined(&form, between[0])?,
            [_] => {
                let outcome = super::run(self.on, &form, self.induced, true, self.job)?;
                outcome.complete.then(|| U256::from(outcome.results[0].count))
            }
            [first, ..] => {
                let rest: Vec<usize> = components[1..].iter().flat_map(|&c| bits(c)).collect();
                let first: Vec<usize> = bits(first).collect();
                self.apart(&form.induced(&first), &form.induced(&rest))?
            }
            [] => Some(U256::ONE),
        };
        if let Some(found) = found {
            self.known.insert(form, found);
        }
        Ok(found)
    }

    /// The mappings of a pattern with the pair (i, j) that must not be joined.
    fn unjoined(&mut self, pattern: &Pattern, (i, j): (usize, usize)) -> Result<Option<U256>> {
        let mut open = pattern.clone();
        open.clear_absent(i, j);
        let mut joined = open.clone();
        joined.add_edge(i, j);
        let (open, joined) = (self.mappings(&open)?, self.mappings(&joined)?);
        Ok(open.zip(joined).map(|(open, joined)| open - joined))
    }

    /// The mappings of two patterns that have nothing in common.
    fn apart(&mut self, first: &Pattern, rest: &Pattern) -> Result<Option<U256>> {
        let (Some(of_first), Some(of_rest)) = (self.mappings(first)?, self.mappings(rest)?) else {
            return Ok(None);
        };
        let mut left = of_first.checked_mul(of_rest).ok_or_else(|| too_many(true))?;
        if left == U256::ZERO {
            return Ok(Some(left));
        }
        let mut meetings: HashMap<Pattern, u64> = HashMap::new();
        for pattern in meeting(first, rest, self.induced) {
            *meetings.entry(pattern.canonical().0).or_default() += 1;
        }
        for (pattern, ways) in meetings {
            let Some(found) = self.mappings(&pattern)? else { return Ok(None) };
            // Each of them is one of the pairs that the product counts.
            left -= found * U256::from(ways);
        }
        Ok(Some(left))
    }
}

/// The patterns in which some vertices of `first` are one with vertices of `rest`, or, if vertex-induced, joined to
/// them: one for each way.
fn meeting(first: &Pattern, rest: &Pattern, induced: Induced) -> Vec<Pattern> {
    let mut all = vec![];
    let mut images = vec![];
    glue(first, rest, induced == Induced::Vertex, &mut images, &mut all);
    all
}

/// Chooses the vertex of `rest`, or none, for each vertex of `first` after those in `images`.
fn glue(
    first: &Pattern,
    rest: &Pattern,
    induced: bool,
    images: &mut Vec<Option<usize>>,
    all: &mut Vec<Pattern>,
) {
    if images.len() < first.vertices() {
        let free = (0..rest.vertices()).filter(|&v| !images.contains(&Some(v))).map(Some);
        for image in free.chain([None]).collect::<Vec<_>>() {
            images.push(image);
            glue(first, rest, induced, images, all);
            images.pop();
        }
        return;
    }
    let apart = images.iter().all(Option::is_none);
    let Some(glued) = glued(first, rest, induced, images) else { return };
    if !induced {
        all.extend((!apart).then_some(glued));
        return;
    }
    let n = rest.vertices();
    let open: Vec<(usize, usize)> = (0..n)
        .filter(|v| !images.contains(&Some(*v)))
        .flat_map(|v| (n..glued.vertices()).map(move |u| (v, u)))
        .collect();
    for joined in u64::from(apart)..1 << open.len() {
        let mut pattern = glued.clone();
        let edges = open.iter().enumerate().filter(|(at, _)| joined >> at & 1 == 1);
        edges.for_each(|(_, &(v, u))| pattern.add_edge(v, u));
        all.push(pattern);
    }
}

/// The pattern in which vertex i of `first` is vertex `images[i]` of `rest`; those without an image come last. `None`
/// if no graph has it: labels differ, or an edge is where there must be none.
fn glued(
    first: &Pattern,
    rest: &Pattern,
    induced: bool,
    images: &[Option<usize>],
) -> Option<Pattern> {
    let n = rest.vertices();
    let alone = images.iter().filter(|image| image.is_none()).count();
    let mut pattern = Pattern::new(n + alone);
    let mut next = n..;
    let place: Vec<usize> =
        images.iter().filter_map(|image| image.or_else(|| next.next())).collect();
    let both = |a: Label, b: Label| match (a, b) {
        (NO_LABEL, label) | (label, NO_LABEL) => Some(label),
        (a, b) => (a == b).then_some(a),
    };
    let mut labels = vec![NO_LABEL; n + alone];
    (0..n).for_each(|v| labels[v] = rest.vertex_label(v));
    for (v, &at) in place.iter().enumerate() {
        labels[at] = both(labels[at], first.vertex_label(v))?;
    }
    for (v, &label) in labels.iter().enumerate().filter(|(_, label)| **label != NO_LABEL) {
        pattern.set_vertex_label(v, label);
    }
    let here = first.edges().into_iter().map(|(i, j)| (place[i], place[j], first.edge_label(i, j)));
    let there = rest.edges().into_iter().map(|(i, j)| (i, j, rest.edge_label(i, j)));
    for (i, j, label) in there.chain(here) {
        let before = pattern.edge_label(i, j).unwrap_or(NO_LABEL);
        let label = both(before, label.unwrap_or(NO_LABEL))?;
        pattern.add_edge(i, j);
        if label != NO_LABEL {
            pattern.set_edge_label(i, j, label);
        }
    }
    if induced {
        for (v, &at) in place.iter().enumerate().filter(|(_, at)| **at < n) {
            let others = place.iter().enumerate().filter(|(u, other)| **other < n && *u != v);
            for (u, &other) in others {
                (first.has_edge(v, u) == rest.has_edge(at, other)).then_some(())?;
            }
        }
    }
    let absent = first.absences().into_iter().map(|(i, j)| (place[i], place[j]));
    for (i, j) in rest.absences().into_iter().chain(absent) {
        (!pattern.has_edge(i, j)).then(|| pattern.set_absent(i, j))?;
    }
    Some(pattern)
}

//! Occurrences of one pattern of six vertices, edge-induced, by a part of the census: where a sum of walks or sides
//! alone gives their number, nothing else is counted.

use gramer_base::error::Result;
use gramer_graph::View;
use gramer_pattern::plan::homomorphism::Shape;
use gramer_pattern::{Dictionary, Pattern};

use super::common::Common;
use super::sides::{self, Selection, Sides};
use super::walks::{self, WalkCounts};
use super::{K, Number, PRISM, SmallerCounts, number, numbers, parts, pays, too_large};
use crate::homomorphism;
use crate::{Job, Resident};

/// Nanoseconds of a step of the sides where only octahedra are counted (0.2 to 0.4 on ca-astroph and R-MAT graphs).
const STEP_OF_OCTAHEDRON: f64 = 0.3;

/// A part of the census.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Sides(Selection),
    Walks,
}

impl Part {
    /// The part that gives the occurrences of a pattern.
    fn of(pattern: &Pattern) -> Option<Part> {
        let octahedron: Vec<(usize, usize)> =
            (1..K).flat_map(|v| (0..v).map(move |u| (u, v))).filter(|(u, v)| u + v != 5).collect();
        let n = Dictionary::of(K).number(pattern.bits() as u32)?;
        if n == number(&octahedron) {
            return Some(Part::Sides(Selection::Octahedron));
        }
        if n == number(&PRISM) {
            return Some(Part::Sides(Selection::Prism));
        }
        let known = numbers(&WalkCounts::default(), &Sides::default());
        known.iter().find(|&&(number, _)| number == n).map(|(_, number)| match number {
            Number::Homomorphisms(_) => Part::Walks,
            Number::Occurrences(_) => Part::Sides(Selection::Census),
        })
    }
}

/// Estimated cost of [`occurrences`] in elements visited; `None` where it isn't the way.
pub(crate) fn cost_of(view: View<'_>, shape: &Shape, pattern: &Pattern) -> Option<f64> {
    if !pays(shape) || too_large(view).is_some() {
        return None;
    }
    let part = Part::of(pattern)?;
    let parts = parts(view, shape);
    Some(match part {
        Part::Sides(Selection::Octahedron) => STEP_OF_OCTAHEDRON * sides::steps(view),
        Part::Sides(_) => parts[2],
        Part::Walks => of_walks(&parts).iter().sum(),
    })
}

/// Of the costs of the census those of the walks: lists, walks, smaller motifs.
fn of_walks(parts: &[f64]) -> Vec<f64> {
    [&parts[..2], &parts[4..7]].concat()
}

/// The number of occurrences of a pattern, and whether the run was finished; `None` if no part of the census gives it.
/// `smaller` is as in [`super::vertex_induced`].
///
/// # Errors
/// As counting cliques.
pub(crate) fn occurrences(
    graph: &Resident,
    pattern: &Pattern,
    smaller: impl FnOnce() -> Result<Option<[Vec<u128>; 3]>>,
    job: Job<'_>,
) -> Result<Option<(u128, bool)>> {
    const STOPPED: Result<Option<(u128, bool)>> = Ok(Some((0, false)));
    let context = job.context;
    let view = graph.graph.view();
    let shape = homomorphism::shape(view);
    if !pays(&shape) || too_large(view).is_some() {
        return Ok(None);
    }
    let Some(part) = Part::of(pattern) else { return Ok(None) };
    let found = match part {
        Part::Sides(selection) => {
            let Some(sides) = sides::count(view, selection, job) else { return STOPPED };
            if selection == Selection::Octahedron {
                return Ok(Some((sides.octahedron, true)));
            }
            numbers(&WalkCounts::default(), &sides)
        }
        Part::Walks => {
            let _plan = context.progress.plan(|| of_walks(&parts(view, &shape)));
            let Some(common) = Common::new(view, context) else {
                return if context.cancel.is_cancelled() { STOPPED } else { Ok(None) };
            };
            let Some(walked) = walks::count(view, &common, job) else { return STOPPED };
            drop(common);
            let Some(counts) = smaller()? else { return STOPPED };
            let found = numbers(&walked, &Sides::default());
            let smaller = SmallerCounts { view, counts };
            let place = |&(n, number): &(usize, Number)| match number {
                Number::Homomorphisms(number) if is(pattern, n) => {
                    Some(smaller.occurrences(pattern, number))
                }
                _ => None,
            };
            return Ok(found.iter().find_map(place).map(|count| (count, true)));
        }
    };
    let count = found.iter().find_map(|&(n, number)| match number {
        Number::Occurrences(count) if is(pattern, n) => Some(count),
        _ => None,
    });
    Ok(count.map(|count| (count, true)))
}

/// Whether a pattern has this number in the dictionary.
fn is(pattern: &Pattern, n: usize) -> bool {
    Dictionary::of(K).number(pattern.bits() as u32) == Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motif;
    use gramer_base::context::Context;
    use gramer_graph::Builder;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
        #[test]
        fn a_part_of_the_census_has_its_number(
            edges in proptest::collection::vec((0u64..90, 0u64..24), 1..900),
            threads in 1usize..4,
        ) {
            let mut builder = Builder::new();
            edges.iter().filter(|(u, v)| u != v).for_each(|&(u, v)| builder.edge(u, v));
            let graph = builder.build();
            let context = Context::with_threads(threads);
            let (resident, job) = (Resident::new(&graph), Job::whole(&context));
            let expected = motif::by_equations(&resident, K, job).unwrap();
            let expected = motif::edge_induced(K, &expected);
            let mut parts = 0;
            for (pattern, &expected) in Dictionary::of(K).patterns().iter().zip(&expected) {
                let smaller = || motif::smaller_edge_induced(&resident, job);
                let found = occurrences(&resident, pattern, smaller, job).unwrap();
                let shape = homomorphism::shape(graph.view());
                let cost = cost_of(graph.view(), &shape, pattern);
                proptest::prop_assert_eq!(cost.is_some(), found.is_some());
                if let Some(found) = found {
                    parts += 1;
                    proptest::prop_assert_eq!(found, (expected, true), "{:?}", pattern.edges());
                }
            }
            proptest::prop_assert_eq!(parts, 21);
        }
    }
}

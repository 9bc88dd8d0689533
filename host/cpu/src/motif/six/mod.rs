//! The 112 patterns of six vertices without a visit to stars and paths.
//!
//! [`MotifSystem`] says what is counted: sums over the cliques, diamonds and 4-cycles ([`dense`]), and
//! the occurrences of 40 patterns. Those of 20 fall apart and are counted as homomorphisms by tables
//! ([`super::super::homomorphism`]); those of the others are sums that are made together ([`walks`],
//! [`sides`]). A homomorphism that takes two vertices to one is a mapping of a
//! smaller pattern, whose number is known by then.

mod common;
mod dense;
mod moments;
mod part;
mod sides;
mod triples;
mod walks;

use gramer_base::error::Result;
use gramer_base::parallel::beside;
use gramer_graph::View;
use gramer_pattern::plan::homomorphism::{Shape, folded};
use gramer_pattern::plan::system::{MOST_VERTICES, MotifSystem, Source};
use gramer_pattern::{Dictionary, Pattern, automorphism_count};

use super::super::homomorphism::{self, CountFailure};
use super::super::reach::fits;
use super::super::sets::intersection_size;
use super::super::{Job, Resident, clique};
use common::Common;
pub(super) use part::{cost_of as cost_of_part, occurrences};
use sides::{Selection, Sides};
use walks::WalkCounts;

/// Vertices of a pattern.
const K: usize = 6;
/// Maximum number of neighbours of a vertex: sums of walks then fit, and a neighbourhood as bits 32 MiB.
pub(super) const MOST_NEIGHBOURS: usize = 1 << 14;
/// Connected sets of four vertices, estimated, from which on this is faster than to visit them.
const SETS: f64 = if cfg!(test) { 0.0 } else { 2e6 };

/// Result of a count.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CountEnd {
    /// Vertex-induced counts by number of the pattern.
    All(Vec<u128>),
    /// The run was cancelled.
    Stopped,
    /// The graph is too small for it to pay.
    Small,
    /// The graph is too large for its numbers, lists and tables; the reason.
    Large(String),
}

/// Why a graph is too large, if it is.
fn too_large(view: View<'_>) -> Option<String> {
    let vertices = view.vertices();
    let most = (0..vertices as u32).map(|v| view.degree(v)).max().unwrap_or(0);
    if vertices > MOST_VERTICES || !fits(vertices, walks::BYTES) {
        Some(format!("the graph has {vertices} vertices, too many for tables by vertex"))
    } else if most > MOST_NEIGHBOURS {
        Some(format!("a vertex has {most} neighbours, more than {MOST_NEIGHBOURS}"))
    } else if view.neighbours.len() > u32::MAX as usize {
        Some("the graph has too many edges for tables by edge".into())
    } else {
        None
    }
}

/// Nanoseconds of the machine on which the phases of [`vertex_induced`] were measured for one in the estimates of smaller
/// patterns.
const SMALLER: f64 = 0.2;

/// Expected nanoseconds of the phases of [`vertex_induced`], from what was measured on social, citation and web graphs:
/// lists of common neighbours, walks, sides, tables, smaller motifs, cliques, tables of triples, sums.
fn parts(view: View<'_>, shape: &Shape) -> Vec<f64> {
    let Shape { walks, cycle_steps, .. } = *shape;
    let smaller = super::of_smaller(view, shape).map(|cost| SMALLER * cost);
    let counted = [8.0 * cycle_steps, 45.0 * walks, 1.3 * sides::steps(view), 20.0 * cycle_steps];
    let cliques = SMALLER * clique::of_size(4, shape);
    let sums = [5.0 * cycle_steps, (3.0 + 4.4 * squares(view)) * walks];
    [&counted[..], &smaller[..], &[cliques], &sums[..]].concat()
}

/// Estimated cost of [`vertex_induced`] in elements visited, about a nanosecond each; `None` where it isn't the way.
pub(super) fn cost(view: View<'_>, shape: &Shape) -> Option<f64> {
    let fits = pays(shape) && too_large(view).is_none();
    fits.then(|| parts(view, shape).iter().sum())
}

/// Whether a graph is large enough for it.
fn pays(shape: &Shape) -> bool {
    let reach = shape.walks / shape.arcs.max(1.0);
    shape.walks * reach * reach / 6.0 >= SETS
}

/// In how many 4-cycles a walk of two steps is, on average over a sample.
fn squares(view: View<'_>) -> f64 {
    let (mut sampled, mut walks, mut squares) = (0usize, 0.0, 0.0);
    homomorphism::sample_arcs(view, |first, middle| {
        let row = view.neighbours(middle);
        // As good as drawn: a multiple of a number without a common divisor with most lengths.
        let last = row[sampled * 7919 % row.len()];
        sampled += 1;
        if last != first {
            let common = intersection_size(view.neighbours(first), view.neighbours(last));
            // An arc stands for the walks that begin with it, and `middle` is common itself.
            walks += row.len() as f64;
            squares += row.len() as f64 * (common - 1) as f64;
        }
    });
    squares / f64::max(walks, 1.0)
}

/// Counts the patterns. `smaller` are the edge-induced counts of those of 3, 4 and 5 vertices, made
/// where they are needed; `None` once the run was cancelled.
///
/// # Errors
/// As counting cliques.
pub(super) fn vertex_induced(
    graph: &Resident,
    smaller: impl FnOnce() -> Result<Option<[Vec<u128>; 3]>>,
    job: Job<'_>,
) -> Result<CountEnd> {
    let context = job.context;
    let view = graph.graph.view();
    let shape = homomorphism::shape(view);
    if !pays(&shape) {
        return Ok(CountEnd::Small);
    }
    if let Some(reason) = too_large(view) {
        return Ok(CountEnd::Large(reason));
    }
    let _plan = context.progress.plan(|| parts(view, &shape));
    // The system is built once per process, by one thread, concurrently with the lists if there are several threads.
    let system = || _ = MotifSystem::of_six();
    let common = beside(context.threads(), system, || Common::new(view, context));
    let Some(common) = common else {
        return Ok(match context.cancel.is_cancelled() {
            true => CountEnd::Stopped,
            false => CountEnd::Large("its edges have too many triangles for lists of them".into()),
        });
    };
    let system = MotifSystem::of_six();
    let patterns = Dictionary::of(K).patterns();
    let Some(special) = specials(view, &common, job) else { return Ok(CountEnd::Stopped) };
    let wanted: Vec<usize> = system
        .sources()
        .filter_map(|source| match source {
            Source::Occurrences(n) if special.iter().all(|&(known, _)| known != n) => Some(n),
            _ => None,
        })
        .collect();
    let by_tables: Vec<&Pattern> = wanted.iter().map(|&n| &patterns[n]).collect();
    let by_tables = match homomorphism::numbers(graph, &by_tables, &shape, job) {
        Ok(numbers) => numbers,
        Err(CountFailure::Stopped) => return Ok(CountEnd::Stopped),
        Err(CountFailure::Failed(error)) => return Err(error),
        Err(CountFailure::Overflow) => {
            return Ok(CountEnd::Large("numbers of homomorphisms need more than 128 bits".into()));
        }
    };
    let Some(smaller) = smaller()? else { return Ok(CountEnd::Stopped) };
    let (cliques, complete) = clique::count(graph, K, job)?;
    if !complete {
        return Ok(CountEnd::Stopped);
    }
    let Some(sums) = dense::sums(view, &common, system, job) else {
        return Ok(CountEnd::Stopped);
    };
    let smaller = SmallerCounts { view, counts: smaller };
    let occurrences = |n: usize| {
        let place = |wanted: &usize| *wanted == n;
        match special.iter().find(|(known, _)| *known == n) {
            Some(&(_, Number::Occurrences(number))) => number,
            Some(&(_, Number::Homomorphisms(number))) => smaller.occurrences(&patterns[n], number),
            None => {
                let at = wanted.iter().position(place).expect("it was counted");
                smaller.occurrences(&patterns[n], by_tables[at])
            }
        }
    };
    let values: Vec<u128> = system
        .sources()
        .map(|source| match source {
            Source::Cliques => cliques,
            Source::Occurrences(n) => occurrences(n),
            Source::Sum(at) => sums[at],
        })
        .collect();
    Ok(CountEnd::All(system.solve(&values)))
}

/// Numbers of smaller patterns.
struct SmallerCounts<'a> {
    view: View<'a>,
    /// Edge-induced, of 3, 4 and 5 vertices.
    counts: [Vec<u128>; 3],
}

impl SmallerCounts<'_> {
    /// The number of occurrences from that of homomorphisms.
    fn occurrences(&self, pattern: &Pattern, homomorphisms: u128) -> u128 {
        let folded: u128 = folded(pattern)
            .iter()
            .map(|(image, ways)| {
                let occurrences = match image.vertices() {
                    2 => self.view.neighbours.len() as u128 / 2,
                    k => {
                        let number = Dictionary::of(k).number(image.bits() as u32);
                        self.counts[k - 3][number.expect("it is connected")]
                    }
                };
                u128::from(*ways) * automorphism_count(image) * occurrences
            })
            .sum();
        (homomorphisms - folded) / automorphism_count(pattern)
    }
}

/// Facts about a pattern.
#[derive(Debug, Clone, Copy)]
enum Number {
    Homomorphisms(u128),
    Occurrences(u128),
}

/// The patterns that are counted together, by number in the dictionary; `None` once the run is asked
/// to stop.
fn specials(view: View<'_>, common: &Common, job: Job<'_>) -> Option<Vec<(usize, Number)>> {
    let walked = walks::count(view, common, job)?;
    let sides = sides::count(view, Selection::Census, job)?;
    Some(numbers(&walked, &sides))
}

/// Numbers by number of their pattern in the dictionary: homomorphisms are of walks, occurrences of sides.
fn numbers(walked: &WalkCounts, sides: &Sides) -> Vec<(usize, Number)> {
    use Number::{Homomorphisms, Occurrences};
    let cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];
    let with = |more: &[(usize, usize)]| [&cycle[..], more].concat();
    let across = [(0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)];
    let square = [(0, 1), (1, 2), (2, 3), (3, 0)];
    let clique = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let known: [(Vec<(usize, usize)>, Number); 20] = [
        (with(&[(0, 5)]), Homomorphisms(walked.tailed_cycle)),
        (with(&[(0, 5), (1, 5)]), Homomorphisms(walked.eared_cycle)),
        (vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], Homomorphisms(walked.six_cycle)),
        (
            vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)],
            Homomorphisms(walked.domino),
        ),
        (vec![(0, 2), (2, 1), (0, 3), (3, 1), (0, 4), (4, 5), (5, 1)], Homomorphisms(walked.theta)),
        ([&square[..], &[(0, 4), (4, 5)]].concat(), Homomorphisms(walked.cycle_and_tail)),
        (
            [&square[..], &[(0, 4), (4, 5), (5, 0)]].concat(),
            Homomorphisms(walked.cycle_and_triangle),
        ),
        ([&square[..], &[(0, 4), (4, 1), (4, 5)]].concat(), Homomorphisms(walked.cycle_and_ear)),
        (
            [&square[..], &[(0, 4), (4, 1), (4, 5), (5, 0)]].concat(),
            Homomorphisms(walked.cycle_and_ears),
        ),
        ([&clique[..], &[(0, 4), (4, 5)]].concat(), Homomorphisms(walked.clique_and_tail)),
        (
            [&clique[..], &[(0, 4), (4, 5), (5, 0)]].concat(),
            Homomorphisms(walked.clique_and_triangle),
        ),
        ([&clique[..], &[(0, 4), (4, 5), (5, 1)]].concat(), Homomorphisms(walked.clique_and_path)),
        (
            vec![(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 4), (4, 5), (5, 3)],
            Homomorphisms(walked.diamond_and_path),
        ),
        (
            vec![(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 1), (3, 5), (5, 2)],
            Homomorphisms(walked.triangle_and_paths),
        ),
        (with(&[(5, 0), (5, 1), (5, 2), (5, 3)]), Homomorphisms(walked.fan_and_path)),
        (with(&[(5, 0), (5, 1), (5, 2), (5, 3), (5, 4)]), Homomorphisms(walked.wheel)),
        ([&across[..], &[(0, 1)]].concat(), Occurrences(sides.bipartite_and_edge)),
        (
            [&clique[..], &[(4, 0), (4, 1), (5, 2), (5, 3), (4, 5)]].concat(),
            Occurrences(sides.clique_and_caps),
        ),
        (across.to_vec(), Occurrences(sides.bipartite)),
        (PRISM.to_vec(), Occurrences(sides.prism)),
    ];
    known.into_iter().map(|(edges, found)| (number(&edges), found)).collect()
}

/// The prism.
const PRISM: [(usize, usize); 9] =
    [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)];

/// Number of a connected pattern of six vertices in the dictionary.
fn number(edges: &[(usize, usize)]) -> usize {
    let bits = Pattern::from_edges(K, edges).bits() as u32;
    Dictionary::of(K).number(bits).expect("it is connected")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_graph::Builder;

    #[test]
    fn walks_of_a_biclique_are_in_as_many_squares_as_it_has_other_middles() {
        let mut builder = Builder::new();
        (0..20).for_each(|u| (0..3).for_each(|v| builder.edge(u, 100 + v)));
        // Walks between the many have three middles, those between the three have twenty.
        let squares = squares(builder.build().view());
        assert!((2.0..19.0).contains(&squares), "{squares}");
        let mut star = Builder::new();
        (1..9).for_each(|leaf| star.edge(0, leaf));
        assert_eq!(super::squares(star.build().view()), 0.0);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
        #[test]
        fn every_number_that_is_counted_together_is_that_of_its_pattern(
            edges in proptest::collection::vec((0u64..18, 0u64..18), 1..110),
            threads in 1usize..4,
        ) {
            let mut builder = Builder::new();
            for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
                builder.edge(u, v);
            }
            let graph = builder.build();
            let (view, context) = (graph.view(), Context::with_threads(threads));
            let resident = Resident::new(&graph);
            let counts = [3, 4, 5].map(|k| {
                super::super::edge_induced(
                    k,
                    &super::super::by_equations(&resident, k, Job::whole(&context)).unwrap(),
                )
            });
            let smaller = SmallerCounts { view, counts };
            let patterns = Dictionary::of(K).patterns();
            let all: Vec<&Pattern> = patterns.iter().collect();
            let shape = homomorphism::shape(view);
            let numbers =
                homomorphism::numbers(&resident, &all, &shape, Job::whole(&context)).unwrap();
            let common = Common::new(view, &context).unwrap();
            let specials = specials(view, &common, Job::whole(&context)).unwrap();
            for (n, number) in specials {
                let expected = smaller.occurrences(&patterns[n], numbers[n]);
                let found = match number {
                    Number::Occurrences(number) => number,
                    Number::Homomorphisms(number) => smaller.occurrences(&patterns[n], number),
                };
                proptest::prop_assert_eq!(found, expected, "{:?}", patterns[n].edges());
            }
        }
    }
}

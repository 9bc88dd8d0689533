//! The 21 patterns of five vertices in closed form.
//!
//! After ESCAPE (Pinar, Seshadhri and Vishal, WWW 2017): every edge-induced number is a sum over
//! vertices, edges and triangles of products of what these are part of — degrees, triangles,
//! 4-cycles, 4-cliques — less the choices where two of the five vertices are one. Neither wedges nor
//! stars are visited, so that a vertex of very many neighbours costs no more than its triangles and
//! 4-cycles do. Four patterns need more than such sums: the 5-cycle ([`super::super::cycle`]),
//! the 5-clique, and those of [`super::collisions`].

use std::ops::ControlFlow;

use gramer_graph::context::Context;
use gramer_graph::{VertexId, View};
use gramer_pattern::{Dictionary, Pattern};

use super::super::{Job, Starts, run_units};
use super::collisions::{self, Hubs, Thirds};
use super::edges::EdgeCounts;
use super::neighbourhood::Neighbourhood;

/// What a look at a pair costs beside a step along a row, and to find an edge.
const PAIR: usize = 2;
const SEARCH: usize = 16;

/// n choose k, for the small k of patterns.
fn choose(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |product, i| product * n.saturating_sub(i) / (i + 1))
}

/// What is summed over vertices, edges and triangles.
#[derive(Debug, Clone, Default)]
struct Sums {
    star: u128,
    fork: u128,
    path: u128,
    tailed: u128,
    cricket: u128,
    bull: u128,
    lollipop: u128,
    butterfly: u128,
    diamond: u128,
    dart: u128,
    kite: u128,
    cycle4: u128,
    banner: u128,
    house: u128,
    gem: u128,
    book: u128,
    wheel: u128,
    clique4: u128,
    clique4_tail: u128,
    clique4_roof: u128,
    nearly_clique: u128,
    collision_edge: u128,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        let Sums { star, fork, path, tailed, cricket, bull, lollipop, butterfly, .. } = other;
        self.star += star;
        self.fork += fork;
        self.path += path;
        self.tailed += tailed;
        self.cricket += cricket;
        self.bull += bull;
        self.lollipop += lollipop;
        self.butterfly += butterfly;
        let Sums { diamond, dart, kite, cycle4, banner, house, gem, book, .. } = other;
        self.diamond += diamond;
        self.dart += dart;
        self.kite += kite;
        self.cycle4 += cycle4;
        self.banner += banner;
        self.house += house;
        self.gem += gem;
        self.book += book;
        let Sums { wheel, clique4, clique4_tail, clique4_roof, nearly_clique, .. } = other;
        self.wheel += wheel;
        self.clique4 += clique4;
        self.clique4_tail += clique4_tail;
        self.clique4_roof += clique4_roof;
        self.nearly_clique += nearly_clique;
        self.collision_edge += other.collision_edge;
    }

    /// The sums over one vertex and the edges to vertices before it.
    fn vertex(&mut self, graph: View<'_>, counts: &EdgeCounts, v: VertexId) {
        let degree = |v: VertexId| graph.degree(v) as u128;
        let d = degree(v);
        self.star += choose(d, 4);
        let (mut ends, mut same, mut triangles, mut cycles) = (0u128, 0u128, 0u128, 0u128);
        let mut tails = 0u128; // over neighbours: triangles with them × their other neighbours
        for arc in graph.row(v) {
            let u = graph.neighbours[arc];
            let (t, c, du) = (counts.triangles(arc) as u128, counts.cycles(arc) as u128, degree(u));
            self.fork += choose(d - 1, 2) * (du - 1);
            ends += du - 1;
            same += choose(du - 1, 2);
            triangles += t;
            cycles += c;
            tails += t * (du - 1);
            if u < v && t > 0 {
                self.bull += t * (d - 2) * (du - 2);
                let pairs = choose(t, 2);
                self.diamond += pairs;
                if pairs > 0 {
                    self.dart += pairs * (d + du - 6);
                }
                self.book += choose(t, 3);
                self.house += c * t;
            }
        }
        let (triangles, cycles) = (triangles / 2, cycles / 2);
        self.path += choose(ends, 2) - same;
        self.cycle4 += cycles;
        if triangles > 0 {
            self.tailed += triangles * (d - 2);
            self.cricket += triangles * choose(d - 2, 2);
            self.lollipop += triangles * ends - tails;
            self.butterfly += choose(triangles, 2);
        }
        if cycles > 0 {
            self.banner += cycles * (d - 2);
        }
    }

    /// The sums over one triangle: by corner its degree, by corner the triangles on the edge
    /// opposite to it, and the 4-cliques that the triangle is in.
    fn triangle(&mut self, degrees: [u128; 3], opposite: [u128; 3], cliques: u128) {
        let [a, b, c] = opposite.map(|t| t - 1);
        let tails = degrees.map(|d| d - 2);
        self.kite += a * tails[0] + b * tails[1] + c * tails[2];
        self.gem += a * b + b * c + c * a;
        if cliques > 0 {
            // Each 4-clique is met in four triangles: a corner is in three of them, an edge in two.
            self.clique4 += cliques;
            self.clique4_tail += cliques * (tails[0] + tails[1] + tails[2] - 3);
            self.clique4_roof += cliques * (a + b + c - 3);
            self.nearly_clique += choose(cliques, 2);
        }
    }
}

/// The edge-induced numbers by number in the dictionary of five; `None` once the run is asked to stop.
/// `cycles` and `cliques` are those of five vertices.
pub(super) fn edge_induced(
    graph: View<'_>,
    cycles: u128,
    cliques: u128,
    context: &Context,
) -> Option<Vec<u128>> {
    let counts = EdgeCounts::new(graph, context)?;
    let hubs = Hubs::new(graph, &context.cancel)?;
    let thirds = Thirds::new(graph, &counts);
    let mut sums = sums(graph, &counts, &hubs, thirds.as_ref(), context)?;
    let (collisions, on_edges) = collisions::of_three(graph, &hubs, thirds.as_ref(), context)?;
    sums.collision_edge += on_edges;
    Some(by_pattern(&sums, counts.all_triangles(), cycles, cliques, collisions))
}

/// All sums, but for [`Sums::collision_edge`] those edges alone that are not chosen in `thirds`, whose
/// lists are set here; `None` once the run is asked to stop.
fn sums(
    graph: View<'_>,
    counts: &EdgeCounts,
    hubs: &Hubs,
    thirds: Option<&Thirds>,
    context: &Context,
) -> Option<Sums> {
    let list = |v: VertexId| graph.degree(v);
    let weight = |v: VertexId| 1 + (graph.degree(v) as u64).pow(2);
    let units = Starts::vertices(graph).units(Job::whole(context), list, weight);
    let (states, complete) = run_units(
        &units,
        context,
        || (Sums::default(), Neighbourhood::new(graph, counts), collisions::Counter::new(graph)),
        |(sums, near, counter), unit| {
            let v = unit.start;
            if unit.first == 0 {
                sums.vertex(graph, counts, v);
            }
            if graph.row(v).all(|arc| counts.triangles(arc) == 0) {
                return ControlFlow::Continue(());
            }
            let part = unit.range();
            near.fill(v, hubs);
            near.triangles(part.clone(), |degrees, opposite, cliques| {
                sums.triangle(degrees, opposite, cliques);
            });
            sums.wheel += near.cycles(part.clone());
            for at in part {
                let u = near.vertex(at);
                let common = near.neighbours(at);
                if u > v || common.is_empty() {
                    continue;
                }
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                let arc = graph.row(v).start + at;
                let t = common.len();
                let common = common.iter().map(|&w| near.vertex(w as usize));
                // Pair by pair, or by the rows of the common neighbours: whatever visits less.
                let pairs = t * (t - 1) / 2 * PAIR + t * SEARCH;
                let by_pairs = thirds.is_some() && pairs < counter.steps(common.clone(), hubs);
                if let Some(thirds) = thirds {
                    thirds.set(arc, common.clone(), by_pairs);
                }
                if !by_pairs && t > 1 {
                    // The edge's own two ends see all of the common neighbours.
                    sums.collision_edge +=
                        counter.pairs_with_a_neighbour(common, hubs) - 2 * choose(t as u128, 2);
                }
            }
            ControlFlow::Continue(())
        },
    );
    complete.then(|| {
        let mut all = Sums::default();
        states.iter().for_each(|(sums, ..)| all.add(sums));
        all
    })
}

/// The numbers from the sums: what is subtracted are the choices where vertices coincide.
fn by_pattern(
    sums: &Sums,
    triangles: u128,
    cycles: u128,
    cliques: u128,
    collisions: u128,
) -> Vec<u128> {
    let (diamond, clique4) = (sums.diamond, sums.clique4 / 4);
    let cycle4 = sums.cycle4 / 4;
    let known: [(&[(usize, usize)], u128); 21] = [
        (&[(0, 1), (0, 2), (0, 3), (0, 4)], sums.star),
        (&[(0, 1), (0, 2), (0, 3), (3, 4)], sums.fork - 2 * sums.tailed),
        (
            &[(0, 1), (1, 2), (2, 3), (3, 4)],
            sums.path - 4 * cycle4 - 2 * sums.tailed - 3 * triangles,
        ),
        (&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], cycles),
        (&[(0, 1), (1, 2), (2, 0), (0, 3), (0, 4)], sums.cricket),
        (&[(0, 1), (1, 2), (2, 0), (0, 3), (1, 4)], sums.bull - 2 * diamond),
        (&[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4)], sums.lollipop - 4 * diamond),
        (&[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4)], sums.banner - 2 * diamond),
        (&[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)], sums.butterfly - 2 * diamond),
        (&[(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (0, 4)], sums.dart),
        (&[(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 4)], sums.kite - 12 * clique4),
        (&[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], sums.house - 4 * diamond),
        (&[(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)], collisions),
        (&[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)], sums.gem - 12 * clique4),
        (&[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)], sums.book),
        (&[(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3)], sums.collision_edge),
        (&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4)], sums.clique4_tail / 3),
        (&[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4), (4, 1)], sums.wheel),
        (&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4), (1, 4)], sums.clique4_roof / 2),
        (
            &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)],
            sums.nearly_clique,
        ),
        (
            &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)],
            cliques,
        ),
    ];
    let dictionary = Dictionary::of(5);
    let mut counts = vec![0; dictionary.patterns().len()];
    for (edges, count) in known {
        let bits = Pattern::from_edges(5, edges).bits() as u32;
        counts[dictionary.number(bits).expect("it is connected")] = count;
    }
    counts
}

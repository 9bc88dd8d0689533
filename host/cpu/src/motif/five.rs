//! The 21 patterns of five vertices in closed form.
//!
//! After ESCAPE (Pinar, Seshadhri and Vishal, WWW 2017): every edge-induced number follows from sums over
//! vertices, edges and triangles ([`gramer_pattern::closing::five`]). Neither wedges nor stars are visited, so that a vertex
//! of very many neighbours costs no more than its triangles and 4-cycles do. Four patterns need more than such sums: the 5-cycle ([`super::super::cycle`]),
//! the 5-clique, and those of [`super::collisions`].

use std::ops::ControlFlow;

use gramer_graph::{VertexId, View};

use super::super::reach::{Form, by_form};
use super::super::{Job, StartVertices, cycle, homomorphism};
use super::collisions::{self, CommonNeighbourLists, Hubs};
use super::edges::EdgeCounts;
use super::neighbourhood::{self, Neighbourhood};
use gramer_pattern::closing::equations;
use gramer_pattern::closing::five::{Sums, choose};

/// Costs of examining a pair and of finding an edge, in steps along a row.
const PAIR: usize = 2;
const SEARCH: usize = 16;

/// The part of an edge, vertex or triangle in the sums.
trait Parts {
    /// The sums over one vertex and the edges to vertices before it.
    fn vertex(&mut self, graph: View<'_>, counts: &EdgeCounts, v: VertexId);

    /// The sums over one triangle: by corner its degree, by corner the triangles on the edge
    /// opposite to it, and the 4-cliques that the triangle is in.
    fn triangle(&mut self, degrees: [u128; 3], opposite: [u128; 3], cliques: u128);
}

impl Parts for Sums {
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
            self.triangles += triangles;
            self.tailed += triangles * (d - 2);
            self.cricket += triangles * choose(d - 2, 2);
            self.lollipop += triangles * ends - tails;
            self.hourglass += choose(triangles, 2);
        }
        if cycles > 0 {
            self.banner += cycles * (d - 2);
        }
    }

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

/// Expected parts of the time of the phases of [`all_but_cliques`] and of counting the cliques, in nanoseconds by
/// what was measured on social, citation and web graphs.
pub(super) fn parts(graph: View<'_>) -> Vec<f64> {
    let shape = homomorphism::shape(graph);
    let (steps, walks) = (1.4 * shape.cycle_steps, shape.walks);
    let mut squares = 0.0;
    let sampled = homomorphism::sample_common(graph, |common| squares += (common * common) as f64);
    let pairs = squares / sampled.max(1) as f64 * shape.arcs;
    // Cycles; triangles, 4-cliques, and both again by edge; pairs of common neighbours; collisions, and those of
    // chosen edges; cliques.
    let cycles = 50.0 * steps * (1.0 + steps / shape.vertices / 5000.0);
    let by_edge = [9.0 * steps, 16.0 * steps, 12.0 * steps];
    let pairs = 3.6 * (pairs + walks);
    [&[cycles], &by_edge[..], &[pairs, 27.0 * walks, 0.0, 0.1 * pairs]].concat()
}

/// Sums for the edge-induced numbers, except 5-cliques; `None` if the run was cancelled.
pub(super) fn all_but_cliques(graph: View<'_>, job: Job<'_>) -> Option<Sums> {
    let (pairs, whole) = cycle::five(graph, job);
    if !whole {
        return None;
    }
    let counts = EdgeCounts::new(graph, job)?;
    let hubs = Hubs::new(graph, job.context)?;
    let thirds = CommonNeighbourLists::new(graph, &counts, job.context);
    if let Some(thirds) = thirds.as_ref().filter(|_| job.others.is_some()) {
        thirds.find(graph, job)?;
    }
    let mut sums = sums(graph, &counts, &hubs, thirds.as_ref(), job)?;
    let (collisions, on_edges) = collisions::of_three(graph, &hubs, thirds.as_ref(), job)?;
    sums.collision_edge += on_edges;
    // Each was met at its three corners.
    sums.triangles /= 3;
    sums.cycles = equations::five_cycles(pairs);
    sums.collisions = collisions;
    Some(sums)
}

/// All sums, but for [`Sums::collision_edge`] those edges alone that are not chosen in `thirds`, whose
/// lists are set here where no other process needs them; `None` once the run was cancelled.
fn sums(
    graph: View<'_>,
    counts: &EdgeCounts,
    hubs: &Hubs,
    thirds: Option<&CommonNeighbourLists>,
    job: Job<'_>,
) -> Option<Sums> {
    by_form!(graph.vertices(), 8, F => sums_by::<F>(graph, counts, hubs, thirds, job))
}

/// Estimates the work of the sums over a vertex: pairs of common neighbours with each neighbour, and the rows of
/// neighbours with which it has any.
fn weight(graph: View<'_>, counts: &EdgeCounts, v: VertexId) -> u64 {
    let degree = graph.degree(v);
    let at_arc = |arc: usize| match counts.triangles(arc) {
        0 => 1,
        t => {
            let u = graph.neighbours[arc];
            let row = graph.degree(u).min(neighbourhood::SEARCH * degree) as u64;
            t.saturating_mul(t).saturating_add(row)
        }
    };
    graph.row(v).map(at_arc).fold(1, u64::saturating_add)
}

fn sums_by<F: Form>(
    graph: View<'_>,
    counts: &EdgeCounts,
    hubs: &Hubs,
    thirds: Option<&CommonNeighbourLists>,
    job: Job<'_>,
) -> Option<Sums> {
    let context = job.context;
    let list = |v: VertexId| graph.degree(v);
    let weight = |v: VertexId| weight(graph, counts, v);
    let units = StartVertices::vertices(graph).units(job, list, weight);
    let ran = job.run(
        &units,
        || {
            let near = Neighbourhood::<F>::new(graph, counts, 2);
            (Sums::default(), near, collisions::Counter::<F>::new(graph, 2))
        },
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
                // Pair by pair, or by the rows of the common neighbours: the way that visits less.
                let pairs = t * (t - 1) / 2 * PAIR + t * SEARCH;
                let by_pairs = thirds.is_some() && pairs < counter.steps(common.clone(), hubs);
                match thirds {
                    Some(thirds) if job.others.is_none() => {
                        thirds.set(arc, common.clone(), by_pairs);
                    }
                    Some(thirds) if by_pairs => thirds.choose(arc),
                    _ => {}
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
    // Each process chooses among the edges of its units, and needs the choices of all.
    let chosen = |_: &[_]| thirds.map_or(vec![], CommonNeighbourLists::write);
    let take = |bytes: &[u8]| match thirds {
        Some(thirds) => thirds.read(bytes),
        None => bytes.is_empty().then_some(()),
    };
    let mut all = Sums::default();
    let (numbers, complete) = ran
        .sums_beside(chosen, take, |states| {
            states.iter().for_each(|(sums, ..)| all.add(sums));
            Ok(all.numbers().map(|sum| *sum))
        })
        .ok()?;
    all.numbers().into_iter().zip(numbers).for_each(|(sum, number)| *sum = number);
    complete.then_some(all)
}

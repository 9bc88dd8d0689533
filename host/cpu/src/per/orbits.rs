//! Graphlet degrees: in how many patterns of 3 or 4 vertices each vertex or edge has each place.
//!
//! The edge-induced numbers are closed forms of degrees, of the triangles and 4-cycles that an edge
//! is in, and of the 4-cliques of [`super::cliques`], as ORCA has them (Hočevar and Demšar, *A
//! combinatorial approach to graphlet counting*, 2014; *Computation of graphlet orbits for nodes and
//! edges in sparse graphs*, 2016). What patterns of more edges hold of those with fewer then gives
//! the vertex-induced ones.

use std::ops::Range;

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_graph::{VertexId, View};
use gramer_pattern::Dictionary;
use gramer_pattern::task::Induced;

use super::super::arcs::{self, Sums};
use super::super::motif::EdgeCounts;
use super::super::reach::by_form;
use super::super::{Job, Resident};
use super::cliques;
use gramer_engine::per::{Column, Numbers, Orbits, Per};
use gramer_engine::{Count, Outcome, Subject};

/// A column for each orbit of the patterns of up to `k` vertices, k 3 or 4.
pub(super) fn run(
    graph: &Resident,
    k: usize,
    induced: Induced,
    per: Per,
    context: &Context,
) -> Result<Outcome> {
    let smallest = if per == Per::Vertex { 2 } else { 3 };
    let sizes: Vec<Orbits> = (smallest..=k).map(|k| Orbits::of(k, per)).collect();
    let parts = Parts::new(graph, k, per, context)?;
    let numbers = parts.numbers(&sizes, induced, per, context)?;
    let all = sizes.iter().flat_map(Orbits::all);
    let columns: Vec<Column> = all
        .zip(numbers)
        .map(|((pattern, orbit), counts)| Column {
            of: Subject::Pattern(pattern.clone()),
            orbit: Some(orbit.clone()),
            counts,
        })
        .collect();
    let mut results = vec![];
    for pattern in Dictionary::of(k).patterns() {
        let mut count = None;
        for column in columns.iter().filter(|c| c.of.pattern() == Some(pattern)) {
            let found = column.occurrences(per).ok_or_else(too_many)?;
            // Every orbit of a pattern says how many there are.
            assert_eq!(*count.get_or_insert(found), found);
        }
        let count = count.expect("a pattern has an orbit");
        results.push(Count { pattern: pattern.clone(), count });
    }
    Ok(Outcome { columns, ..Outcome::new(results, true) })
}

fn too_many() -> Error {
    Error::Unsupported("a count needs more than 128 bits".into())
}

/// Error for a missing number: the run was cancelled, or a sum overflowed.
fn missing(context: &Context) -> Error {
    match context.cancel.check() {
        Err(stopped) => stopped,
        Ok(()) => Error::Unsupported("a number on the way needs more than 64 bits".into()),
    }
}

/// Inputs of the closed forms.
struct Parts<'a> {
    view: View<'a>,
    k: usize,
    counts: EdgeCounts,
    /// By vertex: triangles.
    triangles: Vec<u128>,
    /// By vertex: the sum of the degrees of its neighbours.
    degrees: Vec<u128>,
    /// Over the triangles of a vertex, the other triangles on the opposite edge; over those of an
    /// arc to a smaller vertex, the other triangles on the two other edges.
    others: Vec<u64>,
    /// Over the triangles of an arc to a smaller vertex, the other neighbours of the third vertex.
    thirds: Vec<u64>,
    /// By vertex or edge: 4-cliques.
    cliques: Numbers,
}

impl<'a> Parts<'a> {
    fn new(graph: &'a Resident, k: usize, per: Per, context: &Context) -> Result<Self> {
        let view = graph.graph.view();
        let counts = match k {
            3 => EdgeCounts::of_triangles(view, Job::whole(context)),
            _ => EdgeCounts::new(view, Job::whole(context)),
        };
        let counts = counts.ok_or_else(|| missing(context))?;
        let mut looks = CancelPoll::new(&context.cancel);
        let (mut triangles, mut degrees) = (vec![], vec![]);
        for v in 0..view.vertices() as VertexId {
            looks.check(1 + view.degree(v))?;
            let found: u128 = view.row(v).map(|arc| u128::from(counts.triangles(arc))).sum();
            triangles.push(found / 2);
            degrees.push(view.neighbours(v).iter().map(|&u| view.degree(u) as u128).sum());
        }
        let mut parts = Parts {
            view,
            k,
            counts,
            triangles,
            degrees,
            others: vec![],
            thirds: vec![],
            cliques: Numbers::with_capacity(0),
        };
        if k == 4 {
            let found = match per {
                Per::Vertex => parts.of_vertices(context),
                Per::Edge => parts.of_edges(context),
                Per::Graph => unreachable!("graphs are counted one by one"),
            };
            (parts.others, parts.thirds) = found.ok_or_else(|| missing(context))?;
            let oriented = graph.oriented(context)?;
            parts.cliques = cliques::numbers(graph, oriented, 4..5, per, context)?.remove(0);
        }
        Ok(parts)
    }

    fn of_vertices(&self, context: &Context) -> Option<(Vec<u64>, Vec<u64>)> {
        let others = Sums::new(self.view.vertices(), context);
        let ran = by_form!(self.view.vertices(), arcs::BYTES, F => arcs::triangles::<F, _>(
            self.view,
            Job::whole(context),
            || (),
            |(), vertices, arcs| {
                let [a, b, c] = arcs.map(|arc| self.counts.triangles(arc) - 1);
                for (v, other) in vertices.into_iter().zip([c, b, a]) {
                    others.add(v as usize, other);
                }
            },
        ));
        others.finish().filter(|_| ran.complete).map(|others| (others, vec![]))
    }

    fn of_edges(&self, context: &Context) -> Option<(Vec<u64>, Vec<u64>)> {
        let arcs_in_all = self.view.neighbours.len();
        let (others, thirds) = (Sums::new(arcs_in_all, context), Sums::new(arcs_in_all, context));
        let ran = by_form!(self.view.vertices(), arcs::BYTES, F => arcs::triangles::<F, _>(
            self.view,
            Job::whole(context),
            || (),
            |(), vertices, arcs| {
                let [a, b, c] = arcs.map(|arc| self.counts.triangles(arc) - 1);
                for (arc, other) in arcs.into_iter().zip([b + c, a + c, a + b]) {
                    others.add(arc, other);
                }
                // The arcs are those of v and u, of v and w, and of u and w.
                let [v, u, w] = vertices.map(|v| self.view.degree(v) as u64 - 2);
                for (arc, third) in arcs.into_iter().zip([w, u, v]) {
                    thirds.add(arc, third);
                }
            },
        ));
        others.finish().zip(thirds.finish()).filter(|_| ran.complete)
    }

    /// The columns, in order.
    fn numbers(
        &self,
        sizes: &[Orbits],
        induced: Induced,
        per: Per,
        context: &Context,
    ) -> Result<Vec<Numbers>> {
        let vertices = self.view.vertices();
        // The number of the first edge of each vertex.
        let before =
            |v: usize| self.view.neighbours(v as VertexId).partition_point(|&u| (u as usize) < v);
        let mut first = vec![];
        if per == Per::Edge {
            let mut edges = 0;
            for v in 0..vertices {
                first.push(edges);
                edges += before(v);
            }
        }
        let some = |range: Range<usize>| -> Result<Vec<Numbers>> {
            let mut looks = CancelPoll::new(&context.cancel);
            let columns: usize = sizes.iter().map(|orbits| orbits.all().len()).sum();
            let mut numbers = vec![Numbers::with_capacity(0); columns];
            let mut put = |all: &mut [u128]| {
                for orbits in sizes.iter().filter(|_| induced == Induced::Vertex) {
                    let from = orbits.first();
                    orbits.induce(&mut all[from..from + orbits.all().len()]);
                }
                numbers.iter_mut().zip(&*all).for_each(|(to, &number)| to.push(number));
            };
            for v in range {
                looks.check(1 + self.view.degree(v as VertexId))?;
                match per {
                    Per::Vertex => put(&mut self.vertex(v as VertexId)),
                    Per::Edge => {
                        for at in 0..before(v) {
                            put(&mut self.edge(v as VertexId, at, first[v] + at));
                        }
                    }
                    Per::Graph => unreachable!("graphs are counted one by one"),
                }
            }
            Ok(numbers)
        };
        let threads = context.threads().min(vertices.max(1));
        let each = vertices.div_ceil(threads).max(1);
        let part = |t: usize| (t * each).min(vertices)..((t + 1) * each).min(vertices);
        let mut parts = on_threads(threads, |t| some(part(t))).into_iter();
        let mut all = parts.next().expect("there is a thread")?;
        for part in parts {
            all.iter_mut().zip(part?).for_each(|(to, from)| to.append(from));
        }
        Ok(all)
    }

    /// The edge-induced numbers of a vertex, by orbit.
    fn vertex(&self, v: VertexId) -> [u128; 15] {
        let degree = |v: VertexId| self.view.degree(v) as u128;
        let d = degree(v);
        let triangles = self.triangles[v as usize];
        let mut all = [0; 15];
        all[0] = d;
        // Neighbours of neighbours, this vertex not.
        let ends = self.degrees[v as usize] - d;
        all[1] = ends;
        all[2] = d * d.saturating_sub(1) / 2;
        all[3] = triangles;
        if self.k == 3 {
            return all;
        }
        let (mut cycles, mut walks) = (0, 0);
        for arc in self.view.row(v) {
            let u = self.view.neighbours[arc];
            let (t, of_u) = (u128::from(self.counts.triangles(arc)), degree(u));
            cycles += u128::from(self.counts.cycles(arc));
            // A third vertex, then a fourth that isn't the second; it is this one in a triangle.
            walks += self.degrees[u as usize] - d - (of_u - 1);
            all[6] += (of_u - 1) * of_u.saturating_sub(2) / 2;
            all[9] += self.triangles[u as usize] - t;
            if t > 0 {
                all[10] += t * (of_u - 2);
                all[13] += t * (t - 1) / 2;
            }
        }
        all[4] = walks - 2 * triangles;
        all[5] = if d > 1 { (d - 1) * ends - 2 * triangles } else { 0 };
        all[7] = d * d.saturating_sub(1) * d.saturating_sub(2) / 6;
        all[8] = cycles / 2;
        if triangles > 0 {
            all[11] = triangles * (d - 2);
        }
        all[12] = self.others[v as usize].into();
        all[14] = self.cliques.get(v as usize);
        all
    }

    /// The edge-induced numbers of the edge to the smaller vertex at position `at` in the row of
    /// `v`, by orbit; `edge` is its number.
    fn edge(&self, v: VertexId, at: usize, edge: usize) -> [u128; 12] {
        let arc = self.view.row(v).start + at;
        let u = self.view.neighbours[arc];
        let t = u128::from(self.counts.triangles(arc));
        // The other neighbours of both ends.
        let [a, b] = [v, u].map(|v| self.view.degree(v) as u128 - 1);
        let mut all = [0; 12];
        all[0] = a + b;
        all[1] = t;
        if self.k == 3 {
            return all;
        }
        // From one end on: a third vertex, then a fourth that isn't the end.
        let from = |end: VertexId, other: u128, own: u128| {
            self.degrees[end as usize] - (other + 1) - own - t
        };
        all[2] = from(v, b, a) + from(u, a, b);
        all[3] = a * b - t;
        all[4] = (a * a.saturating_sub(1) + b * b.saturating_sub(1)) / 2;
        all[5] = self.counts.cycles(arc).into();
        all[6] = self.triangles[v as usize] + self.triangles[u as usize] - 2 * t;
        all[7] = self.thirds[arc].into();
        if t > 0 {
            all[8] = t * (a - 1 + b - 1);
            all[9] = self.others[arc].into();
            all[10] = t * (t - 1) / 2;
        }
        all[11] = self.cliques.get(edge);
        all
    }
}

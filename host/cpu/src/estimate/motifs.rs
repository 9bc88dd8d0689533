//! Motifs: connected sets of k vertices are drawn by growing them along random edges.
//!
//! The first edge is drawn by the (k − 2)-th power of the number of edges that leave it. Then one of
//! the edges at the members is drawn, each as likely, and its other end joins; if it is a member
//! already, the sample has found nothing. A set is met in as many orders as its pattern can be grown
//! in, so the weight of a sample is 1 over the probability of its order and over their number.

use chacha20::ChaCha8Rng;
use gramer_base::context::Context;
use gramer_graph::{VertexId, View};
use gramer_pattern::plan::motif::copies;
use gramer_pattern::task::Induced;
use gramer_pattern::{Dictionary, Pattern};

use super::super::Resident;
use super::CumulativeWeights;
use gramer_engine::estimate::{
    Precision, SampleSink, SampledCounts, Sampler, below, estimate, unit,
};
use gramer_engine::per::edges;

pub(super) fn run(
    graph: &Resident,
    k: usize,
    induced: Induced,
    precision: Precision,
    context: &Context,
) -> SampledCounts {
    let view = graph.graph.view();
    let patterns = Dictionary::of(k).patterns();
    let leaving = |(u, v): (VertexId, VertexId)| (view.degree(u) + view.degree(v) - 2) as f64;
    let ends: Vec<(VertexId, VertexId)> = edges(view).collect();
    let weights = CumulativeWeights::new(ends.iter().map(|&edge| leaving(edge).powi(k as i32 - 2)));
    let orders = patterns.iter().map(orders).collect();
    let sets = Sets { view, k, induced, ends, weights, orders };
    estimate(patterns.to_vec(), &sets, precision, context)
}

/// In how many orders a pattern can be grown: an edge, then one vertex at a time.
fn orders(pattern: &Pattern) -> f64 {
    let k = pattern.vertices();
    let mut ways = vec![0.0; 1 << k];
    for set in 0..1usize << k {
        if set.count_ones() == 2 {
            let (i, j) = (set.trailing_zeros() as usize, set.ilog2() as usize);
            ways[set] = f64::from(u8::from(pattern.has_edge(i, j)));
        } else if set.count_ones() > 2 {
            let last = (0..k).filter(|v| set >> v & 1 == 1);
            let last = last.filter(|&v| pattern.neighbours(v) as usize & set != 0);
            ways[set] = last.map(|v| ways[set & !(1 << v)]).sum();
        }
    }
    ways[(1 << k) - 1]
}

struct Sets<'a> {
    view: View<'a>,
    k: usize,
    induced: Induced,
    ends: Vec<(VertexId, VertexId)>,
    weights: CumulativeWeights,
    /// By pattern.
    orders: Vec<f64>,
}

impl Sets<'_> {
    /// A pattern and its weight, unless nothing is found.
    fn one(&self, rng: &mut ChaCha8Rng, members: &mut Vec<VertexId>) -> Option<(u32, f64)> {
        let edge = self.weights.at(unit(rng));
        let (u, v) = self.ends[edge];
        let mut weight = self.weights.total() / self.weights.weight(edge);
        members.clear();
        members.extend([u, v]);
        let mut bits = 1u32;
        let mut arcs = self.view.degree(u) + self.view.degree(v) - 2;
        for size in 2..self.k {
            let mut drawn = below(rng, arcs as u64) as usize;
            let mut next = None;
            for (i, &m) in members.iter().enumerate() {
                let row = self.view.neighbours(m);
                // The first edge isn't drawn again; others may be.
                let but = (size == 2).then(|| members[1 - i]);
                let length = row.len() - usize::from(but.is_some());
                if drawn < length {
                    let skipped = but.is_some_and(|but| drawn >= row.partition_point(|&w| w < but));
                    next = Some(row[drawn + usize::from(skipped)]);
                    break;
                }
                drawn -= length;
            }
            let next = next.expect("as many arcs as the members have");
            if members.contains(&next) {
                return None;
            }
            let mut attached = 0;
            for (i, &m) in members.iter().enumerate() {
                if self.view.has_edge(m, next) {
                    bits |= 1 << (size * (size - 1) / 2 + i);
                    attached += 1;
                }
            }
            weight *= arcs as f64 / f64::from(attached);
            members.push(next);
            arcs = members.iter().map(|&m| self.view.degree(m)).sum();
        }
        Some((bits, weight))
    }
}

impl Sampler for Sets<'_> {
    type State = Vec<VertexId>;

    fn state(&self) -> Self::State {
        Vec::with_capacity(self.k)
    }

    fn draw(
        &self,
        members: &mut Self::State,
        rng: &mut ChaCha8Rng,
        samples: u64,
        take: &mut SampleSink<'_>,
    ) {
        if self.weights.total() == 0.0 {
            return;
        }
        let dictionary = Dictionary::of(self.k);
        let copies = copies(self.k);
        let mut values = vec![];
        for _ in 0..samples {
            values.clear();
            if let Some((bits, weight)) = self.one(rng, members) {
                let number = dictionary.number(bits).expect("it was grown along edges");
                let value = weight / self.orders[number];
                match self.induced {
                    Induced::Vertex => values.push((number, value)),
                    Induced::Edge => values.extend(
                        (copies[number].iter().enumerate())
                            .filter(|&(_, &n)| n > 0)
                            .map(|(p, &n)| (p, value * n as f64)),
                    ),
                }
            }
            if !take(&values) {
                return;
            }
        }
    }
}

//! Matches: mappings are drawn vertex by vertex.
//!
//! The first pattern vertex goes to a vertex of the graph that is drawn by a power of its degree; each
//! of the next to one of the vertices that fit all before it, each as likely, and of the last those
//! that fit are counted. The weight of a sample is the product of the numbers of choices (WanderJoin;
//! Li, Wu, Yi and Zhao, SIGMOD 2016; with the sets of Alley; Kim et al., SIGMOD 2021).

use chacha20::ChaCha8Rng;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::{NO_LABEL, VertexId, View};
use gramer_pattern::plan::search::bits;
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::Induced;
use gramer_pattern::{Pattern, VertexSet, automorphism_count};

use super::super::{Resident, matching};
use super::CumulativeWeights;
use gramer_engine::estimate::{
    Precision, SampleSink, SampledCounts, Sampler, below, estimate, unit,
};

pub(super) fn run(
    graph: &Resident,
    given: &Pattern,
    induced: Induced,
    mappings: bool,
    precision: Precision,
    context: &Context,
) -> Result<SampledCounts> {
    let pattern = matching::comparable(&graph.graph, given)?;
    if !mappings && ambiguous(&pattern) {
        return Err(Error::Unsupported(
            "with wildcards next to labels the number of occurrences doesn't follow from the \
             sampled mappings: count mappings (the setting `mappings`)"
                .into(),
        ));
    }
    let view = graph.graph.view();
    let order = order(&pattern);
    let root = order[0];
    let fits = |v: VertexId| {
        view.degree(v) >= pattern.degree(root) && label_fits(&view, &pattern, root, v)
    };
    let roots: Vec<VertexId> = (0..view.vertices() as VertexId).filter(|&v| fits(v)).collect();
    let power = pattern.degree(root) as i32;
    let weights =
        CumulativeWeights::new(roots.iter().map(|&v| (view.degree(v) as f64).powi(power)));
    let each = if mappings { 1 } else { automorphism_count(&pattern) } as f64;
    let found = Mappings {
        view,
        pattern,
        order,
        induced: induced == Induced::Vertex,
        roots,
        weights,
        each,
    };
    Ok(estimate(vec![given.clone()], &found, precision, context))
}

/// The vertices of the pattern, each next to one before it: those with most neighbours before them
/// first, then those of the largest degree.
fn order(pattern: &Pattern) -> Vec<usize> {
    let n = pattern.vertices();
    let mut order: Vec<usize> = vec![];
    let mut placed: VertexSet = 0;
    while order.len() < n {
        let next = (0..n)
            .filter(|&v| placed >> v & 1 == 0)
            .max_by_key(|&v| {
                let before = (pattern.neighbours(v) & placed).count_ones();
                (before, pattern.degree(v), std::cmp::Reverse(v))
            })
            .expect("one is left");
        placed |= 1 << next;
        order.push(next);
    }
    order
}

fn label_fits(view: &View<'_>, pattern: &Pattern, of: usize, v: VertexId) -> bool {
    let wanted = if pattern.has_vertex_labels() { pattern.vertex_label(of) } else { NO_LABEL };
    wanted == NO_LABEL || wanted == view.vertex_label(v)
}

struct Mappings<'a> {
    view: View<'a>,
    pattern: Pattern,
    order: Vec<usize>,
    induced: bool,
    roots: Vec<VertexId>,
    weights: CumulativeWeights,
    /// Number of mappings per occurrence.
    each: f64,
}

impl Mappings<'_> {
    /// Whether `v` may be the image of pattern vertex `of`, besides the images of those before it.
    fn fits(&self, of: usize, v: VertexId, images: &[Option<VertexId>]) -> bool {
        if self.view.degree(v) < self.pattern.degree(of)
            || !label_fits(&self.view, &self.pattern, of, v)
        {
            return false;
        }
        images.iter().enumerate().all(|(other, &image)| {
            let Some(image) = image else { return true };
            if image == v {
                return false;
            }
            if !self.pattern.has_edge(of, other) {
                return !self.induced || !self.view.has_edge(image, v);
            }
            let wanted = self.pattern.edge_label(of, other).filter(|&label| label != NO_LABEL);
            let row = self.view.row(image);
            match self.view.neighbours(image).binary_search(&v) {
                Ok(at) => wanted.is_none_or(|wanted| {
                    self.view.edge_labels.is_none_or(|all| all[row.start + at] == wanted)
                }),
                Err(_) => false,
            }
        })
    }

    fn one(
        &self,
        rng: &mut ChaCha8Rng,
        images: &mut Vec<Option<VertexId>>,
        fitting: &mut Vec<VertexId>,
    ) -> f64 {
        let root = self.weights.at(unit(rng));
        let mut weight = self.weights.total() / self.weights.weight(root);
        images.clear();
        images.resize(self.order.len(), None);
        images[self.order[0]] = Some(self.roots[root]);
        for &next in &self.order[1..] {
            let before = bits(self.pattern.neighbours(next)).filter_map(|other| images[other]);
            let shortest = before.min_by_key(|&v| self.view.degree(v)).expect("one is before");
            let row = self.view.neighbours(shortest).iter().copied();
            fitting.clear();
            fitting.extend(row.filter(|&v| self.fits(next, v, images)));
            if fitting.is_empty() {
                return 0.0;
            }
            weight *= fitting.len() as f64;
            images[next] = Some(fitting[below(rng, fitting.len() as u64) as usize]);
        }
        weight / self.each
    }
}

impl Sampler for Mappings<'_> {
    type State = (Vec<Option<VertexId>>, Vec<VertexId>);

    fn state(&self) -> Self::State {
        (vec![], vec![])
    }

    fn draw(
        &self,
        (images, fitting): &mut Self::State,
        rng: &mut ChaCha8Rng,
        samples: u64,
        take: &mut SampleSink<'_>,
    ) {
        if self.weights.total() == 0.0 {
            return;
        }
        for _ in 0..samples {
            let value = self.one(rng, images, fitting);
            if !take(&[(0, value)]) {
                return;
            }
        }
    }
}

//! Homomorphisms of a core: a choice of images for its apexes, and below it messages from the
//! leaves of each tree to its root. The message of a node to its parent is, by image of the parent,
//! the number of ways to map the node and all below it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use ethnum::U256;
use gramer_base::context::Cancel;
use gramer_base::memory::filled_or_unwind;
use gramer_graph::{VertexId, View};
use gramer_pattern::plan::homomorphism::{HomomorphismPlan, Node};

use super::{CountFailure, Value, Values};
use crate::number::Number;
use crate::{Job, StartVertices};

/// Cost of a look-up in a short list, in steps along a row.
const LOOKUP: usize = 8;

/// The number of homomorphisms of the core, with `vertices` and `edges` as weights where they are
/// not all 1.
pub(super) fn count<V: Value>(
    graph: View<'_>,
    plan: &HomomorphismPlan,
    vertices: &[Option<Values<V>>],
    edges: &BTreeMap<(usize, usize), Values<V>>,
    job: Job<'_>,
) -> Result<U256, CountFailure> {
    let context = job.context;
    // Threads read the tables, so that they need no count of who holds them.
    let vertices: Vec<Option<&[V]>> =
        vertices.iter().map(|values| values.as_ref().map(|v| v.as_slice())).collect();
    let edges: BTreeMap<(usize, usize), &[V]> =
        edges.iter().map(|(&edge, values)| (edge, values.as_slice())).collect();
    let list = |v: VertexId| match plan.apexes.len() {
        1 => graph.degree(v).min(1),
        _ => graph.degree(v),
    };
    let weight =
        |v: VertexId| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum::<u64>() + 1;
    let units = StartVertices::vertices(graph).units(job, list, weight);
    let ran = job.run(
        &units,
        || Walk {
            graph,
            plan,
            vertices: &vertices,
            edges: &edges,
            cancel: &context.cancel,
            images: vec![0; plan.apexes.len()],
            sums: filled_or_unwind(V::ZERO, graph.vertices()),
            met: vec![],
            total: V::Total::ZERO,
            overflow: false,
        },
        |walk, unit| {
            walk.images[0] = unit.start;
            let weight = V::Total::from(walk.vertex(plan.apexes[0], unit.start));
            let part = unit.range();
            if let Some(number) = walk.level(1, Some(part)) {
                walk.add(number, weight);
            }
            if walk.overflow || context.cancel.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    let (total, complete) = ran.total(|walk| (!walk.overflow).then_some(walk.total));
    // A thread that overflows ends before its units are finished.
    let total = total.ok_or(CountFailure::Overflow)?;
    if complete { Ok(total) } else { Err(CountFailure::Stopped) }
}

/// Images with the number of ways that each stands for.
type Message<V> = Vec<(VertexId, V)>;

/// A thread's state.
struct Walk<'a, V: Value> {
    graph: View<'a>,
    plan: &'a HomomorphismPlan,
    vertices: &'a [Option<&'a [V]>],
    edges: &'a BTreeMap<(usize, usize), &'a [V]>,
    cancel: &'a Cancel,
    /// By place among the apexes.
    images: Vec<VertexId>,
    /// By vertex; zero between messages.
    sums: Vec<V>,
    met: Vec<VertexId>,
    total: V::Total,
    overflow: bool,
}

impl<V: Value> Walk<'_, V> {
    fn vertex(&self, v: usize, image: VertexId) -> V {
        self.vertices[v].map_or(V::ONE, |values| values[image as usize])
    }

    fn add(&mut self, number: V::Total, weight: V::Total) {
        let term = self.product(number, weight);
        self.total = self.sum(self.total, term);
    }

    fn sum<N: Number>(&mut self, a: N, b: N) -> N {
        let (sum, overflow) = a.overflowing_add(b);
        self.overflow |= overflow;
        sum
    }

    fn product<N: Number>(&mut self, a: N, b: N) -> N {
        let (product, overflow) = a.overflowing_mul(b);
        self.overflow |= overflow;
        product
    }

    /// The number of homomorphisms with `level` apexes mapped; of the next one only the positions
    /// `part` of its list are tried. `None` once the run ends.
    fn level(&mut self, level: usize, part: Option<std::ops::Range<usize>>) -> Option<V::Total> {
        if self.overflow || self.cancel.is_cancelled() {
            return None;
        }
        let plan = self.plan;
        let mut product = V::Total::ONE;
        for tree in &plan.trees[level] {
            let number = self.tree(tree);
            if number == V::Total::ZERO {
                return Some(number);
            }
            product = self.product(product, number);
        }
        let Some(&next) = plan.apexes.get(level) else { return Some(product) };
        let near: Vec<usize> =
            (0..level).filter(|&at| plan.core.has_edge(plan.apexes[at], next)).collect();
        let whole = level > 1 || near.len() > 1;
        let candidates = self.candidates(next, &near);
        let range = match part {
            // The list of the second apex is the row of the first, less what weighs nothing.
            Some(part) if !whole => {
                let row = self.graph.neighbours(self.images[0]);
                let after = |at: usize| match row.get(at) {
                    Some(&v) => candidates.partition_point(|&(u, _)| u < v),
                    None => candidates.len(),
                };
                after(part.start)..after(part.end)
            }
            _ => 0..candidates.len(),
        };
        let mut sum = V::Total::ZERO;
        for &(image, weight) in &candidates[range] {
            self.images[level] = image;
            let below = self.level(level + 1, None)?;
            let term = self.product(below, V::Total::from(weight));
            sum = self.sum(sum, term);
        }
        Some(self.product(product, sum))
    }

    /// The vertices next to the images of these apexes, with the weights of `v` and of its edges to
    /// them.
    fn candidates(&mut self, v: usize, apexes: &[usize]) -> Message<V> {
        let graph = self.graph;
        let shortest = *apexes
            .iter()
            .min_by_key(|&&at| graph.degree(self.images[at]))
            .expect("next to an apex");
        let table = |walk: &Self, at: usize| walk.edges.get(&(walk.plan.apexes[at], v)).copied();
        let (first, values) = (self.images[shortest], table(self, shortest));
        let mut found = Message::with_capacity(graph.degree(first));
        for arc in graph.row(first) {
            let image = graph.neighbours[arc];
            let mut weight = self.vertex(v, image);
            if let Some(values) = values {
                weight = self.product(weight, values[arc]);
            }
            if weight != V::ZERO {
                found.push((image, weight));
            }
        }
        for &at in apexes.iter().filter(|&&at| at != shortest) {
            let (row, values) = (graph.row(self.images[at]), table(self, at));
            let mut from = row.start;
            let mut kept = 0;
            for i in 0..found.len() {
                let (image, mut weight) = found[i];
                from += super::super::sets::gallop(&graph.neighbours[from..row.end], image);
                if from == row.end {
                    break;
                }
                if graph.neighbours[from] == image {
                    if let Some(values) = values {
                        weight = self.product(weight, values[from]);
                    }
                    if weight != V::ZERO {
                        found[kept] = (image, weight);
                        kept += 1;
                    }
                }
            }
            found.truncate(kept);
        }
        found
    }

    /// Ways to map a tree.
    fn tree(&mut self, tree: &[Node]) -> V::Total {
        let mut messages: Vec<Option<Message<V>>> = vec![None; tree.len()];
        for (at, node) in tree.iter().enumerate() {
            if !node.apexes.is_empty() {
                messages[at] = Some(self.candidates(node.vertex, &node.apexes));
            }
        }
        for at in 0..tree.len() {
            let message = messages[at].take().expect("a leaf is next to an apex");
            let Some(parent) = tree[at].parent else {
                let mut sum = V::Total::ZERO;
                for &(_, number) in &message {
                    sum = self.sum(sum, V::Total::from(number));
                }
                return sum;
            };
            if message.is_empty() {
                return V::Total::ZERO;
            }
            let (from, to) = (tree[at].vertex, tree[parent].vertex);
            let above = messages[parent].take();
            let fresh = above.is_none();
            let mut next = self.pass(&message, above, from, to);
            if fresh && self.vertices[to].is_some() {
                for (image, number) in &mut next {
                    *number = self.product(*number, self.vertex(to, *image));
                }
            }
            messages[parent] = Some(next);
        }
        unreachable!("the root comes last")
    }

    /// Passes a message to the parent, whose candidates are `above`, or all vertices.
    fn pass(
        &mut self,
        message: &Message<V>,
        above: Option<Message<V>>,
        from: usize,
        to: usize,
    ) -> Message<V> {
        let graph = self.graph;
        let degrees = |list: &Message<V>| list.iter().map(|&(v, _)| graph.degree(v)).sum::<usize>();
        let push = degrees(message);
        let Some(mut above) = above else {
            self.push(message, from, to);
            let mut found = Message::with_capacity(self.met.len());
            for v in self.met.drain(..) {
                found.push((v, std::mem::replace(&mut self.sums[v as usize], V::ZERO)));
            }
            return found;
        };
        let pull = degrees(&above);
        if above.len().saturating_mul(message.len()).saturating_mul(LOOKUP) < push.min(pull) {
            let values = self.edges.get(&(from, to)).copied();
            for (image, number) in &mut above {
                let mut sum = V::ZERO;
                for &(v, ways) in message {
                    let row = graph.row(v);
                    let Ok(at) = graph.neighbours[row.clone()].binary_search(image) else {
                        continue;
                    };
                    let ways = match values {
                        Some(values) => self.product(ways, values[row.start + at]),
                        None => ways,
                    };
                    sum = self.sum(sum, ways);
                }
                *number = self.product(*number, sum);
            }
        } else if push <= pull {
            self.push(message, from, to);
            for (image, number) in &mut above {
                *number = self.product(*number, self.sums[*image as usize]);
            }
            for v in self.met.drain(..) {
                self.sums[v as usize] = V::ZERO;
            }
        } else {
            let values = self.edges.get(&(to, from)).copied();
            for &(v, ways) in message {
                self.sums[v as usize] = ways;
            }
            for (image, number) in &mut above {
                let mut sum = V::ZERO;
                for arc in graph.row(*image) {
                    let mut ways = self.sums[graph.neighbours[arc] as usize];
                    if let (Some(values), true) = (values, ways != V::ZERO) {
                        ways = self.product(ways, values[arc]);
                    }
                    sum = self.sum(sum, ways);
                }
                *number = self.product(*number, sum);
            }
            for &(v, _) in message {
                self.sums[v as usize] = V::ZERO;
            }
        }
        above.retain(|&(_, number)| number != V::ZERO);
        above
    }

    /// Adds a message up at all neighbours of its images.
    fn push(&mut self, message: &Message<V>, from: usize, to: usize) {
        let graph = self.graph;
        let values = self.edges.get(&(from, to)).copied();
        let (mut met, mut overflow) = (std::mem::take(&mut self.met), false);
        for &(v, ways) in message {
            for arc in graph.row(v) {
                let ways = match values {
                    Some(values) => {
                        let (product, over) = ways.overflowing_mul(values[arc]);
                        overflow |= over;
                        product
                    }
                    None => ways,
                };
                let u = graph.neighbours[arc];
                let sum = &mut self.sums[u as usize];
                if *sum == V::ZERO && ways != V::ZERO {
                    met.push(u);
                }
                let (total, over) = sum.overflowing_add(ways);
                overflow |= over;
                *sum = total;
            }
        }
        (self.met, self.overflow) = (met, self.overflow | overflow);
    }
}

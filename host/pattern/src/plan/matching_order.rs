//! In which order a search meets the vertices of a pattern.

use std::collections::HashSet;

use super::search::bits;
use crate::{MAX_VERTICES, Pattern, SMALL_VERTICES, VertexSet, all_vertices};

/// A neighbour that closes a cycle leaves at least this share of the candidates in the estimate:
/// neighbours of neighbours are neighbours far more often than by chance.
const LEAST_CLOSING: f64 = 0.05;

/// What the cost model knows of a pattern in a graph.
#[derive(Debug, Clone)]
pub struct Estimates {
    /// Candidates of each pattern vertex.
    pub candidates: Vec<f64>,
    /// `reach[u][w]`: how many candidates of w a candidate of u is next to, on average over the
    /// candidates of u.
    pub reach: Vec<[f64; MAX_VERTICES]>,
    /// The same where the candidate of u was reached over an edge, so that those with more
    /// neighbours weigh more.
    pub biased: Vec<[f64; MAX_VERTICES]>,
}

impl Estimates {
    /// Expected number of candidates of `w` once the vertices `placed` have their images; `None`
    /// if none of them is its neighbour.
    pub fn extensions(&self, pattern: &Pattern, placed: VertexSet, w: usize) -> Option<f64> {
        let near = pattern.neighbours(w) & placed;
        let reach = if placed.is_power_of_two() { &self.reach } else { &self.biased };
        let share = |of: f64| (of / self.candidates[w].max(1.0)).clamp(LEAST_CLOSING, 1.0);
        let mut us = bits(near).map(|u| reach[u][w]);
        // Of the neighbour with the fewest all are taken, of each other one its share.
        let first = us.next()?;
        let (least, closing) = us.fold((first, 1.0), |(least, closing), of| {
            (least.min(of), closing * share(least.max(of)))
        });
        Some(least * closing)
    }
}

/// Cost of examining one set of vertices with one more vertex, in visited elements of a search.
const LOOK: f64 = 0.5;
/// Most sets of vertices of one size that are looked at further.
const WIDEST: usize = 256;
/// Share of a search that ends early which its order may cost.
const SHARE_OF_LIMITED: f64 = 0.05;

/// An order with a small estimated cost, at most that of any greedy one: the sum over its prefixes of the expected number of
/// partial mappings, weighted with the sets that are intersected there, up to the first prefix
/// that is `closed` — whose remaining vertices are counted without being listed.
///
/// The sum is made small over all connected orders by dynamic programming over sets of vertices. (It
/// would be the least one if the expected number of mappings of a set did not depend on the order in
/// which it was filled.) At most 2^16 sets are looked at, and no more than the search by the greedy order
/// is worth: where there would be, those of each size with the cheapest ways to them. A search that ends after
/// `limit` mappings is worth less.
pub fn matching_order(
    pattern: &Pattern,
    estimates: &Estimates,
    limit: Option<u64>,
    closed: impl Fn(VertexSet) -> bool,
) -> Vec<usize> {
    let n = pattern.vertices();
    let greedy = greedy_order(pattern, estimates, &closed);
    let bound = greedy.cost;
    // What costs more than the greedy order is worth no look. A set is kept with its cheapest prefix
    // alone, whose continuations may all cost more: then the greedy order is the best one known.
    let bound_above = bound * (1.0 + 1e-9);
    let looks = match limit.map(|limit| limit as f64 / greedy.mappings) {
        Some(share) if share < 1.0 => bound * share * SHARE_OF_LIMITED,
        _ => bound,
    } / LOOK;
    let best = if n <= SMALL_VERTICES && looks >= (n << n) as f64 {
        best_prefixes(pattern, estimates, &closed, bound_above)
            .map(|(best, closed_at)| (backwards(&best, closed_at), closed_at))
    } else {
        let width = (looks / (n * n) as f64) as usize;
        narrow(pattern, estimates, &closed, bound_above, width.min(WIDEST))
    };
    let (mut order, closed_at) = best.unwrap_or((greedy.order, greedy.placed));
    // The vertices that are only counted, few candidates first.
    let mut rest: Vec<usize> = (0..n).filter(|v| closed_at >> v & 1 == 0).collect();
    let mut placed = closed_at;
    while !rest.is_empty() {
        let at = (0..rest.len())
            .filter_map(|i| Some((i, estimates.extensions(pattern, placed, rest[i])?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(i, _)| i)
            .expect("the pattern is connected");
        placed |= 1 << rest[at];
        order.push(rest.remove(at));
    }
    order
}

/// The vertices of a set by the cheapest way to it.
fn backwards(best: &[Best], mut placed: VertexSet) -> Vec<usize> {
    let mut order = vec![];
    while placed != 0 {
        let last = best[placed as usize].last;
        order.push(last as usize);
        placed &= !(1 << last);
    }
    order.reverse();
    order
}

/// The cheapest way to a set of vertices.
#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    mappings: f64,
    last: u8,
}

/// By set of vertices the cheapest way there, and the whole or closed set with the least cost; `None`
/// if each costs more than `bound`.
fn best_prefixes(
    pattern: &Pattern,
    estimates: &Estimates,
    closed: &impl Fn(VertexSet) -> bool,
    bound: f64,
) -> Option<(Vec<Best>, VertexSet)> {
    let n = pattern.vertices();
    let all = all_vertices(n);
    let unseen = Best { cost: f64::INFINITY, mappings: 0.0, last: 0 };
    let mut best = vec![unseen; all as usize + 1];
    for v in 0..n {
        let mappings = estimates.candidates[v];
        best[1 << v] = Best { cost: mappings, mappings, last: v as u8 };
    }
    // Supersets are larger numbers.
    let mut end: Option<(VertexSet, f64)> = None;
    for placed in 1..=all {
        let here = best[placed as usize];
        if here.cost > bound || here.cost == f64::INFINITY {
            continue;
        }
        if placed == all || closed(placed) {
            if end.is_none_or(|(_, cost)| here.cost < cost) {
                end = Some((placed, here.cost));
            }
            continue;
        }
        if end.is_some_and(|(_, cost)| here.cost >= cost) {
            continue;
        }
        for w in bits(all & !placed) {
            let Some(extensions) = estimates.extensions(pattern, placed, w) else { continue };
            let mappings = here.mappings * extensions;
            let sets = f64::from((pattern.neighbours(w) & placed).count_ones());
            let cost = here.cost + mappings + here.mappings * sets;
            let next = &mut best[(placed | 1 << w) as usize];
            if cost < next.cost {
                *next = Best { cost, mappings, last: w as u8 };
            }
        }
    }
    let (placed, _) = end?;
    Some((best, placed))
}

/// The best known order of a set of vertices.
#[derive(Clone, Copy)]
struct Prefix {
    placed: VertexSet,
    cost: f64,
    mappings: f64,
    order: [u8; MAX_VERTICES],
}

/// A prefix with one more vertex.
#[derive(Clone, Copy)]
struct Extension {
    cost: f64,
    mappings: f64,
    placed: VertexSet,
    /// Number of the prefix.
    from: u32,
    vertex: u8,
}

/// Of each set the cheapest way to it, and of these ways the `width` cheapest, in order of their costs.
fn cheapest(mut ways: &mut [Extension], width: usize) -> Vec<Extension> {
    let order = |a: &Extension, b: &Extension| {
        a.cost.total_cmp(&b.cost).then(a.placed.cmp(&b.placed)).then(a.from.cmp(&b.from))
    };
    let (mut kept, mut met) = (vec![], HashSet::new());
    while kept.len() < width && !ways.is_empty() {
        // Most ways are never sorted.
        let most = width.saturating_mul(2).min(ways.len());
        if most < ways.len() {
            ways.select_nth_unstable_by(most, order);
        }
        let (next, rest) = ways.split_at_mut(most);
        next.sort_unstable_by(order);
        kept.extend(next.iter().filter(|way| met.insert(way.placed)));
        ways = rest;
    }
    kept.truncate(width);
    kept
}

/// As [`best_prefixes`], but of all sets of a size only the `width` with the cheapest ways are looked at
/// further: the order and the whole or closed set that it fills. `None` also if no order is left.
fn narrow(
    pattern: &Pattern,
    estimates: &Estimates,
    closed: &impl Fn(VertexSet) -> bool,
    bound: f64,
    width: usize,
) -> Option<(Vec<usize>, VertexSet)> {
    // A single way at a time is a greedy one.
    if width < 2 {
        return None;
    }
    let all = all_vertices(pattern.vertices());
    let start = |v: usize| {
        let (mappings, mut order) = (estimates.candidates[v], [0; MAX_VERTICES]);
        order[0] = v as u8;
        Prefix { placed: 1 << v, cost: mappings, mappings, order }
    };
    let mut ways: Vec<Prefix> = bits(all).map(start).collect();
    let mut end: Option<Prefix> = None;
    let mut next: Vec<Extension> = vec![];
    while !ways.is_empty() {
        next.clear();
        for (from, here) in ways.iter().enumerate() {
            let limit = end.map_or(bound, |end| end.cost);
            if here.cost > limit {
                continue;
            }
            if here.placed == all || closed(here.placed) {
                if end.is_none_or(|end| here.cost < end.cost) {
                    end = Some(*here);
                }
                continue;
            }
            for w in bits(all & !here.placed) {
                let Some(extensions) = estimates.extensions(pattern, here.placed, w) else {
                    continue;
                };
                let mappings = here.mappings * extensions;
                let sets = f64::from((pattern.neighbours(w) & here.placed).count_ones());
                let cost = here.cost + mappings + here.mappings * sets;
                if cost <= limit {
                    let (placed, from) = (here.placed | 1 << w, from as u32);
                    next.push(Extension { cost, mappings, placed, from, vertex: w as u8 });
                }
            }
        }
        let grown = |way: Extension| {
            let mut order = ways[way.from as usize].order;
            order[way.placed.count_ones() as usize - 1] = way.vertex;
            Prefix { placed: way.placed, cost: way.cost, mappings: way.mappings, order }
        };
        ways = cheapest(&mut next, width).into_iter().map(grown).collect();
    }
    let end = end?;
    let order = end.order[..end.placed.count_ones() as usize].iter().map(|&v| usize::from(v));
    Some((order.collect(), end.placed))
}

/// An order that goes on with the fewest candidates each time.
pub(super) struct Greedy {
    pub cost: f64,
    /// Expected mappings of the prefix.
    pub mappings: f64,
    /// The vertices up to the first closed prefix.
    pub order: Vec<usize>,
    /// That prefix.
    pub placed: VertexSet,
}

/// The best of the greedy orders.
fn greedy_order(
    pattern: &Pattern,
    estimates: &Estimates,
    closed: &impl Fn(VertexSet) -> bool,
) -> Greedy {
    (0..pattern.vertices())
        .map(|root| greedy_from(root, pattern, estimates, closed))
        .min_by(|a, b| a.cost.total_cmp(&b.cost))
        .expect("a pattern has a vertex")
}

/// The greedy order that begins with `root`.
pub(super) fn greedy_from(
    root: usize,
    pattern: &Pattern,
    estimates: &Estimates,
    closed: &impl Fn(VertexSet) -> bool,
) -> Greedy {
    let n = pattern.vertices();
    let all = all_vertices(n);
    let (mut placed, mut mappings) = (1 << root, estimates.candidates[root]);
    let (mut cost, mut order) = (mappings, vec![root]);
    while placed != all && !closed(placed) {
        let (w, extensions) = (0..n)
            .filter(|w| placed >> w & 1 == 0)
            .filter_map(|w| Some((w, estimates.extensions(pattern, placed, w)?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("the pattern is connected");
        let sets = f64::from((pattern.neighbours(w) & placed).count_ones());
        cost = cost + mappings * extensions + mappings * sets;
        mappings *= extensions;
        placed |= 1 << w;
        order.push(w);
    }
    Greedy { cost, mappings, order, placed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of an order as [`matching_order`] adds it up, all vertices listed.
    fn cost(pattern: &Pattern, estimates: &Estimates, order: &[usize]) -> Option<f64> {
        let (mut placed, mut mappings) = (1 << order[0], estimates.candidates[order[0]]);
        let mut cost = mappings;
        for &w in &order[1..] {
            let extensions = estimates.extensions(pattern, placed, w)?;
            let sets = f64::from((pattern.neighbours(w) & placed).count_ones());
            cost = cost + mappings * extensions + mappings * sets;
            mappings *= extensions;
            placed |= 1 << w;
        }
        Some(cost)
    }

    proptest::proptest! {
        #[test]
        fn no_greedy_order_costs_less(
            number in 0usize..21,
            candidates in proptest::collection::vec(1.0f64..1e5, 5),
            reach in proptest::collection::vec(0.1f64..50.0, 25),
        ) {
            let pattern = &crate::Dictionary::of(5).patterns()[number];
            let mut estimates = even(pattern, &candidates);
            for (at, &reach) in reach.iter().enumerate() {
                estimates.reach[at / 5][at % 5] = reach;
                estimates.biased[at / 5][at % 5] = 1.5 * reach;
            }
            let found = matching_order(pattern, &estimates, None, |_| false);
            let found = cost(pattern, &estimates, &found).unwrap();
            let Greedy { cost: bound, order, placed, .. } = greedy_order(pattern, &estimates, &|_| false);
            proptest::prop_assert_eq!(placed, 31);
            let greedy = cost(pattern, &estimates, &order).unwrap();
            proptest::prop_assert!((greedy - bound).abs() <= 1e-9 * bound);
            proptest::prop_assert!(found <= bound * (1.0 + 1e-9), "{found} {bound}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_narrow_look_finds_the_best_order_if_it_is_wide_and_none_above_its_bound(
            number in 0usize..112,
            candidates in proptest::collection::vec(1.0f64..1e5, 6),
            reach in proptest::collection::vec(0.1f64..50.0, 36),
            width in 2usize..9,
        ) {
            let pattern = &crate::Dictionary::of(6).patterns()[number];
            let mut estimates = even(pattern, &candidates);
            for (at, &reach) in reach.iter().enumerate() {
                estimates.reach[at / 6][at % 6] = reach;
                estimates.biased[at / 6][at % 6] = 1.5 * reach;
            }
            let never = |_| false;
            let bound = greedy_order(pattern, &estimates, &never).cost * (1.0 + 1e-9);
            let of = |order: &[usize]| cost(pattern, &estimates, order).unwrap();
            let narrow = |width| narrow(pattern, &estimates, &never, bound, width);
            let best = best_prefixes(pattern, &estimates, &never, bound);
            let best = best.map(|(best, placed)| of(&backwards(&best, placed)));
            let wide = narrow(usize::MAX).map(|(order, _)| of(&order));
            proptest::prop_assert_eq!(best.is_some(), wide.is_some());
            if let (Some(best), Some(wide)) = (best, wide) {
                proptest::prop_assert!((best - wide).abs() <= 1e-9 * best, "{best} {wide}");
            }
            if let Some((order, placed)) = narrow(width) {
                proptest::prop_assert_eq!(placed, 63);
                proptest::prop_assert!(of(&order) <= bound);
            }
        }
    }

    fn even(pattern: &Pattern, candidates: &[f64]) -> Estimates {
        let n = pattern.vertices();
        Estimates {
            candidates: candidates.to_vec(),
            reach: vec![[3.0; MAX_VERTICES]; n],
            biased: vec![[3.0; MAX_VERTICES]; n],
        }
    }

    #[test]
    fn every_order_is_connected() {
        for pattern in crate::Dictionary::of(6).patterns() {
            let estimates = even(pattern, &[9.0, 5.0, 7.0, 3.0, 8.0, 6.0]);
            for tail in [1, 2, 6] {
                let closed = |placed: VertexSet| placed.count_ones() + tail > 6;
                let order = matching_order(pattern, &estimates, None, closed);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
                let mut placed = 1 << order[0];
                for &v in &order[1..] {
                    assert_ne!(pattern.neighbours(v) & placed, 0, "{pattern:?} {order:?}");
                    placed |= 1 << v;
                }
            }
        }
    }

    #[test]
    fn the_rarest_vertex_comes_first_and_cycles_are_closed_early() {
        let path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        let order = matching_order(&path, &even(&path, &[100.0, 50.0, 2.0]), None, |_| false);
        assert_eq!(order, [2, 1, 0]);
        // A triangle with two tails: the triangle before the tails.
        let bull = Pattern::from_edges(5, &[(0, 1), (0, 2), (1, 2), (0, 3), (1, 4)]);
        let order = matching_order(&bull, &even(&bull, &[90.0; 5]), None, |_| false);
        assert_eq!(order[..3].iter().sum::<usize>(), 3, "{order:?}");
    }
}

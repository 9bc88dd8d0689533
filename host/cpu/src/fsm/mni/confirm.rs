//! The support of one candidate: its domains made consistent, and each image confirmed by an embedding.

use gramer_base::context::Context;

use super::classes::Classes;
use super::domain::Domain;
use crate::fsm::code::{MAX, Small};

/// Buffers of a thread, reused for all candidates.
#[derive(Default)]
pub(super) struct Scratch {
    image: [u32; MAX],
    steps: u64,
}

/// The support of a candidate if it is frequent. The domains, upper bounds before and after,
/// become smaller.
pub(super) fn examine(
    rows: &Classes,
    code: &Small,
    domains: &mut [Domain],
    wanted: usize,
    context: &Context,
    scratch: &mut Scratch,
) -> Option<usize> {
    if !make_consistent(rows, code, domains, wanted) {
        return None;
    }
    let n = code.n();
    if is_exact(code) {
        return domains.iter().map(|d| d.size).min();
    }
    let orbits = code.canonical().orbits;
    let mut confirmed: Vec<Domain> =
        (0..n).map(|i| Domain::empty(rows.of(code.class(i)))).collect();
    let mut heads: Vec<usize> = (0..n).filter(|&i| orbits[i] as usize == i).collect();
    heads.sort_by_key(|&i| domains[i].size);
    let mut support = usize::MAX;
    for &head in &heads {
        let order = search_order(code, domains, head);
        let images: Vec<u32> = domains[head].members().collect();
        for v in images {
            // More images of this vertex wouldn't change the smallest number.
            if confirmed[head].size >= support {
                break;
            }
            if confirmed[head].has(v) {
                continue;
            }
            if context.cancel.is_cancelled() {
                return None;
            }
            scratch.image[order[0]] = v;
            if find(rows, code, domains, &order, 1, context, scratch) {
                for (i, &w) in scratch.image[..n].iter().enumerate() {
                    confirmed[orbits[i] as usize].insert(w);
                }
            } else {
                for i in (0..n).filter(|&i| orbits[i] as usize == head) {
                    domains[i].remove(v);
                }
                if domains[head].size < wanted {
                    return None;
                }
            }
        }
        support = support.min(confirmed[head].size);
    }
    (support >= wanted).then_some(support)
}

/// True if consistent domains are exact: the pattern has no cycle, and any two vertices of a class are adjacent or
/// interchangeable leaves. Images chosen one after the other then differ: each is next to the choice before it, of
/// another class, or one of enough neighbours for all such leaves.
pub(super) fn is_exact(code: &Small) -> bool {
    let n = code.n();
    let alike = |i, j| code.class(i) != code.class(j) || code.edge(i, j) != 0 || twins(code, i, j);
    code.edge_count() + 1 == n && (0..n).all(|i| (0..i).all(|j| alike(i, j)))
}

/// Whether two vertices are leaves of one class at the same vertex, by edges of one label.
fn twins(code: &Small, i: usize, j: usize) -> bool {
    let leaf = |v| {
        let mut near = code.neighbours(v);
        near.next().filter(|_| near.next().is_none())
    };
    code.class(i) == code.class(j)
        && matches!((leaf(i), leaf(j)), (Some(u), Some(w)) if u == w && code.edge(i, u) == code.edge(j, u))
}

/// Removes images with too few neighbours in the domain of a neighbouring vertex (one, or one per twin of it) until
/// nothing changes; returns `false` if a domain becomes too small.
pub(super) fn make_consistent(
    rows: &Classes,
    code: &Small,
    domains: &mut [Domain],
    wanted: usize,
) -> bool {
    let n = code.n();
    // What is bounded by itself for each of several twins holds for all.
    for j in 0..n {
        for i in (0..n).filter(|&i| i != j && twins(code, i, j)) {
            let other = domains[i].clone();
            domains[j].keep(&other);
        }
        if domains[j].size < wanted {
            return false;
        }
    }
    let mut changed: u32 = (1 << n) - 1;
    while changed != 0 {
        let j = changed.trailing_zeros() as usize;
        changed &= changed - 1;
        let needed = 1 + (0..n).filter(|&i| i != j && twins(code, i, j)).count();
        for i in 0..n {
            let label = code.edge(i, j);
            if label == 0 {
                continue;
            }
            let class = code.class(j);
            let mut mine = std::mem::replace(&mut domains[i], Domain::empty(0..0));
            let theirs = &domains[j];
            let fewer = mine.retain(|v| {
                rows.first_neighbours(v, class)
                    .filter(|&at| theirs.has(rows.targets[at]) && rows.label(at) == label)
                    .nth(needed - 1)
                    .is_some()
            });
            domains[i] = mine;
            if domains[i].size < wanted {
                return false;
            }
            if fewer {
                changed |= 1 << i;
            }
        }
    }
    true
}

/// The vertices from `head` on, each next to an earlier one: those with most earlier neighbours
/// first, then those with the fewest images.
fn search_order(code: &Small, domains: &[Domain], head: usize) -> Vec<usize> {
    let mut order = vec![head];
    while order.len() < code.n() {
        let next = (0..code.n())
            .filter(|v| !order.contains(v))
            .map(|v| (order.iter().filter(|&&u| code.edge(u, v) != 0).count(), v))
            .filter(|&(earlier, _)| earlier > 0)
            .max_by_key(|&(earlier, v)| (earlier, std::cmp::Reverse(domains[v].size)));
        order.push(next.expect("a pattern is connected").1);
    }
    order
}

/// Whether the images of `order[..at]` can be completed to an embedding, which is then in
/// `scratch.image`.
fn find(
    rows: &Classes,
    code: &Small,
    domains: &[Domain],
    order: &[usize],
    at: usize,
    context: &Context,
    scratch: &mut Scratch,
) -> bool {
    let Some(&v) = order.get(at) else {
        return true;
    };
    scratch.steps += 1;
    if scratch.steps % 4096 == 0 && context.cancel.is_cancelled() {
        return false;
    }
    let earlier = || order[..at].iter().copied().filter(|&u| code.edge(u, v) != 0);
    let class = code.class(v);
    let (anchor, list) = earlier()
        .map(|u| (u, rows.neighbours(scratch.image[u], class)))
        .min_by_key(|(_, list)| list.len())
        .expect("each vertex is next to an earlier one");
    for position in list {
        let w = rows.targets[position];
        if domains[v].has(w)
            && rows.label(position) == code.edge(anchor, v)
            && order[..at].iter().all(|&u| scratch.image[u] != w)
            && earlier()
                .filter(|&u| u != anchor)
                .all(|u| rows.has_edge(scratch.image[u], w, code.edge(u, v)))
        {
            scratch.image[v] = w;
            if find(rows, code, domains, order, at + 1, context, scratch) {
                return true;
            }
        }
    }
    false
}

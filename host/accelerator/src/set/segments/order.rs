//! Order of roots in segments, in which roots with similar lists are neighbours, and their division among clusters.

use std::cmp::Reverse;
use std::ops::Range;

use gramer_graph::{VertexId, View};
use gramer_machine::ENTRIES_A_LINE;

use crate::set::units::{Operation, cost};

/// A root, and the positions of its list that count.
type Root = (VertexId, Range<u32>);

/// Vertices of a clique from which on the work of its levels is most of a root's.
const LEVELS_FROM: u32 = 5;
/// A root is heavy from this multiple of the mean work on. On web-stanford 2 and 32 balanced 5-cliques no better.
const HEAVY: u128 = 8;

/// Roots in the order of [`near`], cut into `parts` of about the same work.
///
/// # Panics
/// With no parts.
pub(super) fn dealt(
    view: View<'_>,
    operation: Operation,
    mut roots: Vec<Root>,
    parts: usize,
) -> Vec<Vec<Root>> {
    assert!(parts > 0, "roots are dealt to one part at least");
    let mut position = vec![0; view.vertices()];
    for (at, v) in (0u32..).zip(near(view)) {
        position[v as usize] = at;
    }
    roots.sort_by_key(|(root, _)| position[*root as usize]);
    if parts == 1 {
        return vec![roots];
    }
    let before = |v: VertexId| view.neighbours(v).partition_point(|&u| u < v);
    let up: Vec<u32> = (0..view.vertices() as VertexId).map(|v| before(v) as u32).collect();
    let lines = |entries: u32| u64::from(entries.div_ceil(ENTRIES_A_LINE));
    let work = |(root, range): &Root| {
        let (row, own) = (view.neighbours(*root), up[*root as usize]);
        let up = |u: VertexId| lines(up[u as usize]);
        let all = |u: VertexId| lines(view.degree(u) as u32);
        let whole = cost(row, own as usize, operation, up, all);
        match operation {
            // Of a divided list its part.
            Operation::Cliques { .. } => {
                u128::from(whole) * range.len() as u128 / u128::from(own.max(1)) + 1
            }
            _ => u128::from(whole) + 1,
        }
    };
    let each: Vec<u128> = roots.iter().map(work).collect();
    let total: u128 = each.iter().sum();
    // What the levels of large cliques take is known roughly: roots with much of it are dealt there and back, not by
    // place. There are few, so little more is loaded.
    let levels = matches!(operation, Operation::Cliques { k } if k >= LEVELS_FROM);
    let is_heavy = |at: &usize| levels && each[*at] * roots.len() as u128 > HEAVY * total;
    let mut heavy: Vec<usize> = (0..roots.len()).filter(is_heavy).collect();
    heavy.sort_by_key(|&at| Reverse(each[at]));
    let mut part_of = vec![None; roots.len()];
    for (rank, &at) in heavy.iter().enumerate() {
        let place = rank % (2 * parts);
        part_of[at] = Some(place.min(2 * parts - 1 - place));
    }
    let left = total - heavy.iter().map(|&at| each[at]).sum::<u128>();
    let mut dealt = vec![vec![]; parts];
    let mut done = 0;
    for ((root, work), part) in roots.into_iter().zip(each).zip(part_of) {
        let part = part.unwrap_or_else(|| {
            // Where the middle of its work lies.
            let place = (done + work / 2) * parts as u128 / left;
            done += work;
            (place as usize).min(parts - 1)
        });
        dealt[part].push(root);
    }
    dealt
}

/// All vertices: each after the last of its neighbours before it, and next to the others of which that is
/// the last. So a vertex is near those with which it has neighbours in common.
pub fn near(view: View<'_>) -> Vec<VertexId> {
    let n = view.vertices();
    let none = VertexId::MAX;
    // The children of each vertex in a list, the first of them first.
    let (mut child, mut sibling) = (vec![none; n], vec![none; n]);
    let mut roots = vec![];
    for v in (0..n as VertexId).rev() {
        let row = view.neighbours(v);
        match row[..row.partition_point(|&u| u < v)].last() {
            Some(&parent) => {
                sibling[v as usize] = child[parent as usize];
                child[parent as usize] = v;
            }
            None => roots.push(v),
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut stack = roots;
    while let Some(v) = stack.pop() {
        order.push(v);
        if sibling[v as usize] != none {
            stack.push(sibling[v as usize]);
        }
        if child[v as usize] != none {
            stack.push(child[v as usize]);
        }
    }
    order
}

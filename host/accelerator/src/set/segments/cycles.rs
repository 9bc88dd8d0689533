//! 4-cycles of a root whose lists do not fit the memory together, by ranges of their last vertex. A 4-cycle a, b, c, b'
//! has one c, so ranges add up, and each is a unit.

use std::ops::Range;

use gramer_graph::{VertexId, View};

use super::rows::Rows;
use crate::set::image::QUARTER;

/// What a range of a root needs: lists of numbers of rows, where the first row after the lists of all units is 0.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The root's list.
    list: Vec<u32>,
    /// Of each vertex that has an id: of the list of a neighbour after the root what is in the range and in another
    /// of them, for without a second path of 2 there is no cycle.
    rows: Vec<Vec<u32>>,
}

/// The neighbours of a root after it.
fn after(view: View<'_>, root: VertexId) -> &[VertexId] {
    let row = view.neighbours(root);
    &row[row.partition_point(|&v| v < root)..]
}

impl Part {
    /// That of a range; `None` if no cycle ends in it.
    pub fn new(view: View<'_>, root: VertexId, range: &Range<VertexId>) -> Option<Self> {
        let part = |b: VertexId| {
            let list = view.neighbours(b);
            let at = |v: VertexId| list.partition_point(|&u| u < v);
            &list[at(range.start)..at(range.end)]
        };
        let mut seen = vec![0u8; range.len()];
        let place = |c: VertexId| (c - range.start) as usize;
        for &b in after(view, root) {
            for &c in part(b) {
                let seen = &mut seen[place(c)];
                *seen = (*seen + 1).min(2);
            }
        }
        let counts = |c: VertexId| seen[place(c)] == 2;
        let listed = after(view, root).iter().copied();
        let listed: Vec<VertexId> =
            listed.filter(|&b| part(b).iter().any(|&c| counts(c))).collect();
        if listed.is_empty() {
            return None;
        }
        let ends = range.clone().filter(|&c| counts(c));
        let mut named: Vec<VertexId> = listed.iter().copied().chain(ends).collect();
        named.sort_unstable();
        named.dedup();
        let row_of = |v: VertexId| named.partition_point(|&u| u < v) as u32;
        let row = |&v: &VertexId| {
            let list = if listed.binary_search(&v).is_ok() { part(v) } else { &[] };
            list.iter().filter(|&&c| counts(c)).map(|&c| row_of(c)).collect()
        };
        let rows = named.iter().map(row).collect();
        Some(Part { list: listed.iter().map(|&b| row_of(b)).collect(), rows })
    }

    /// Entries of the root's list.
    pub fn length(&self) -> u32 {
        self.list.len() as u32
    }

    /// About how many quarter-lines it takes.
    pub fn quarters(&self) -> u64 {
        let all = self.rows.iter().chain([&self.list]);
        all.map(|list| list.len().div_ceil(QUARTER).max(1) as u64).sum()
    }
}

/// The rows of parts side by side. The first are the roots' lists: they come before all, so that members are
/// after them. A vertex has an id in each part.
pub(super) fn rows(parts: &[Part]) -> Rows {
    let mut rows = Rows::new();
    let mut firsts = vec![];
    let mut first = parts.len() as u32;
    for part in parts {
        firsts.push(first);
        first += part.rows.len() as u32;
    }
    for (part, first) in parts.iter().zip(&firsts) {
        rows.push(part.list.iter().map(|row| row + first));
    }
    for (part, first) in parts.iter().zip(&firsts) {
        part.rows.iter().for_each(|list| rows.push(list.iter().map(|row| row + first)));
    }
    rows
}

/// All vertices after a root in at most this many ranges, at whose ends about as many paths of 2 end as at another's.
/// Only those count that end where another does.
pub(super) fn ranges(view: View<'_>, root: VertexId, count: usize) -> Vec<Range<VertexId>> {
    let all = root + 1..view.vertices() as VertexId;
    let mut ending = vec![0u32; all.len()];
    for &b in after(view, root) {
        let list = view.neighbours(b);
        for &c in &list[list.partition_point(|&u| u <= root)..] {
            ending[(c - all.start) as usize] += 1;
        }
    }
    let paths = |c: VertexId| match ending[(c - all.start) as usize] {
        0 | 1 => 0,
        several => u64::from(several),
    };
    divided(all.clone(), count, paths)
}

/// A range in at most this many of about the same weight each; what has none at its ends is left out.
pub(super) fn divided(
    all: Range<u32>,
    count: usize,
    weight: impl Fn(u32) -> u64,
) -> Vec<Range<u32>> {
    let total: u64 = all.clone().map(&weight).sum();
    let (mut ranges, mut begin, mut done) = (vec![], all.start, 0);
    for at in all.clone() {
        let own = weight(at);
        if own == 0 {
            continue;
        }
        let place = |done: u64| u128::from(done) * count as u128 / u128::from(total);
        let full = place(done + own) > place(done);
        done += own;
        if full {
            ranges.push(begin..at + 1);
            begin = at + 1;
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_divided_by_weight() {
        let weights = [0, 4, 4, 0, 1, 1, 1, 1, 4, 0];
        let divide = |count| divided(10..20, count, |at| weights[at as usize - 10]);
        assert_eq!(divide(4), [10..12, 12..13, 13..18, 18..19]);
        assert_eq!(divide(1), vec![10..19]);
        assert!(divided(3..9, 4, |_| 0).is_empty());
        // One that outweighs the others is a range alone, and there are fewer.
        assert_eq!(divided(0..3, 4, |at| if at == 1 { 90 } else { 1 }), [0..2, 2..3]);
    }
}

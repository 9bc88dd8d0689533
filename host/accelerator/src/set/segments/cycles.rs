//! 4-cycles of a root whose lists have no room beside each other: those whose last vertex is in a range, one
//! range after the other. A 4-cycle a, b, c, b' has one c, so the ranges add up.

use std::ops::Range;

use gramer_graph::{VertexId, View};

use super::rows::Rows;

/// What a range of a root needs: rows, the first of which is the root's list. Of the list of each neighbour
/// after the root it has what is in the range and in another of them: without a second path of 2
/// there is no cycle. `None` if there is none.
pub(super) fn rows(view: View<'_>, root: VertexId, range: &Range<VertexId>) -> Option<Rows> {
    let row = view.neighbours(root);
    let after = &row[row.partition_point(|&v| v < root)..];
    let part = |b: VertexId| {
        let list = view.neighbours(b);
        let at = |v: VertexId| list.partition_point(|&u| u < v);
        &list[at(range.start)..at(range.end)]
    };
    let mut seen = vec![0u8; range.len()];
    let place = |c: VertexId| (c - range.start) as usize;
    for &b in after {
        for &c in part(b) {
            let seen = &mut seen[place(c)];
            *seen = (*seen + 1).min(2);
        }
    }
    let counts = |c: VertexId| seen[place(c)] == 2;
    let listed: Vec<VertexId> =
        after.iter().copied().filter(|&b| part(b).iter().any(|&c| counts(c))).collect();
    if listed.is_empty() {
        return None;
    }
    let ends = range.clone().filter(|&c| counts(c));
    let mut named: Vec<VertexId> = listed.iter().copied().chain(ends).collect();
    named.sort_unstable();
    named.dedup();
    // The root's list comes before all, so that they are after it.
    let row_of = |v: VertexId| 1 + named.partition_point(|&u| u < v) as u32;
    let mut rows = Rows::new();
    rows.push(listed.iter().map(|&b| row_of(b)));
    for &v in &named {
        let list = if listed.binary_search(&v).is_ok() { part(v) } else { &[] };
        rows.push(list.iter().filter(|&&c| counts(c)).map(|&c| row_of(c)));
    }
    Some(rows)
}

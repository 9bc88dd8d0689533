//! One element at a time: what every processor can do, and the searches for lists of very
//! different length.

use super::Uninit;

/// Position of the first element of `set` that is at least `x`, found by doubling steps from the
/// front: as fast as the answer is near.
#[inline]
pub(crate) fn gallop(set: &[u32], x: u32) -> usize {
    let mut step = 1;
    while step < set.len() && set[step] < x {
        step *= 2;
    }
    let from = step / 2;
    let to = set.len().min(step + 1);
    from + set[from..to].partition_point(|&y| y < x)
}

/// Elements of `set` smaller than `bound`.
#[inline]
pub(crate) fn below(set: &[u32], bound: u32) -> &[u32] {
    match set.last() {
        Some(&last) if last >= bound => &set[..set.partition_point(|&x| x < bound)],
        _ => set,
    }
}

/// Keeps those elements of `set` whose `key` isn't in `other`. Keys ascend with the elements.
pub(crate) fn subtract(set: &mut Vec<u32>, other: &[u32], key: impl Fn(u32) -> u32) {
    let mut rest = other;
    set.retain(|&x| {
        let k = key(x);
        rest = &rest[gallop(rest, k)..];
        rest.first() != Some(&k)
    });
}

/// Calls `answer` with each element of a short list and whether the long one contains it.
#[inline]
fn look_up(short: &[u32], long: &[u32], mut answer: impl FnMut(u32, bool)) {
    let mut rest = long;
    for &x in short {
        rest = &rest[gallop(rest, x)..];
        answer(x, rest.first() == Some(&x));
    }
}

/// As [`super::intersect`], for a short and a long list; `out` has room for the short one and one
/// element more. Returns how many elements it wrote.
pub(super) fn search(short: &[u32], long: &[u32], out: &mut [Uninit]) -> usize {
    let mut kept = 0;
    look_up(short, long, |x, found| {
        out[kept].write(x);
        kept += usize::from(found);
    });
    kept
}

/// Number of elements that [`search`] would write.
pub(super) fn search_size(short: &[u32], long: &[u32]) -> usize {
    let mut size = 0;
    look_up(short, long, |_, found| size += usize::from(found));
    size
}

/// As [`super::difference`], for a short a and a long b; room as in [`search`].
pub(super) fn search_difference(short: &[u32], long: &[u32], out: &mut [Uninit]) -> usize {
    let mut kept = 0;
    look_up(short, long, |x, found| {
        out[kept].write(x);
        kept += usize::from(!found);
    });
    kept
}

/// As [`super::intersect`], walking both lists; `out` has room for the shorter one.
///
/// Branches on the data would be guessed wrong half of the time: this writes every element and
/// advances over those that are in both.
#[inline]
pub(super) fn intersect(a: &[u32], b: &[u32], out: &mut [Uninit]) -> usize {
    let (mut i, mut j, mut kept) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        out[kept].write(x);
        kept += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    kept
}

/// |a ∩ b|, walking both lists.
#[inline]
pub(super) fn intersection_size(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut size) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        size += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    size
}

/// As [`super::positions`], for what follows the first `from` elements of the list.
#[inline]
pub(super) fn positions(a: &[u32], b: &[u32], from: usize, bits: &mut [u64]) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        bits[(from + i) / 64] |= u64::from(x == y) << ((from + i) % 64);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

/// As [`super::difference`], walking both lists; `out` has room for a.
#[inline]
pub(super) fn difference(a: &[u32], b: &[u32], out: &mut [Uninit]) -> usize {
    let (mut i, mut j, mut kept) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        out[kept].write(x);
        kept += usize::from(x < y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    for (to, &x) in out[kept..].iter_mut().zip(&a[i..]) {
        to.write(x);
    }
    kept + a.len() - i
}

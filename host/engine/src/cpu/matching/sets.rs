//! Sorted sets: intersection, difference, and their sizes.

/// From this ratio of lengths on, the longer set is searched rather than walked.
const GALLOP: usize = 24;

/// Position of the first element of `set` that is at least `x`, found by doubling steps from the
/// front: as fast as the answer is near.
#[inline]
fn gallop(set: &[u32], x: u32) -> usize {
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
pub(super) fn below(set: &[u32], bound: u32) -> &[u32] {
    match set.last() {
        Some(&last) if last >= bound => &set[..set.partition_point(|&x| x < bound)],
        _ => set,
    }
}

/// Writes a ∩ b to `out`, which is emptied first.
pub(super) fn intersect(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    out.clear();
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    out.reserve(short.len());
    if short.len() * GALLOP < long.len() {
        let mut rest = long;
        for &x in short {
            rest = &rest[gallop(rest, x)..];
            match rest.first() {
                None => break,
                Some(&y) if y == x => out.push(x),
                Some(_) => {}
            }
        }
        return;
    }
    // Branches on the data would be guessed wrong half of the time: write every element and
    // advance over those that are in both.
    let target = out.spare_capacity_mut();
    let (mut i, mut j, mut kept) = (0, 0, 0);
    while i < short.len() && j < long.len() {
        let (x, y) = (short[i], long[j]);
        target[kept].write(x);
        kept += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    // SAFETY: the first `kept` elements were written; `kept` is at most `short.len()`, which is
    // reserved, because it grows only together with `i`.
    unsafe { out.set_len(kept) };
}

/// |a ∩ b|.
pub(super) fn intersection_size(a: &[u32], b: &[u32]) -> usize {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut size = 0;
    if short.len() * GALLOP < long.len() {
        let mut rest = long;
        for &x in short {
            rest = &rest[gallop(rest, x)..];
            match rest.first() {
                None => break,
                Some(&y) => size += usize::from(y == x),
            }
        }
        return size;
    }
    let (mut i, mut j) = (0, 0);
    while i < short.len() && j < long.len() {
        let (x, y) = (short[i], long[j]);
        size += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    size
}

/// Keeps those elements of `set` whose `key` isn't in `other`. Keys ascend with the elements.
pub(super) fn subtract(set: &mut Vec<u32>, other: &[u32], key: impl Fn(u32) -> u32) {
    let mut rest = other;
    set.retain(|&x| {
        let k = key(x);
        rest = &rest[gallop(rest, k)..];
        rest.first() != Some(&k)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    proptest::proptest! {
        #[test]
        fn set_operations_agree_with_the_standard_library(
            a in proptest::collection::btree_set(0u32..400, 0..120),
            b in proptest::collection::btree_set(0u32..400, 0..4),
            c in proptest::collection::btree_set(0u32..400, 0..300),
        ) {
            let list = |s: &BTreeSet<u32>| s.iter().copied().collect::<Vec<u32>>();
            for (x, y) in [(&a, &b), (&b, &c), (&a, &c), (&c, &b), (&c, &a)] {
                let both = list(&(x & y));
                let mut out = vec![7];
                intersect(&list(x), &list(y), &mut out);
                proptest::prop_assert_eq!(&out, &both);
                proptest::prop_assert_eq!(intersection_size(&list(x), &list(y)), both.len());
                let mut left = list(x);
                subtract(&mut left, &list(y), |v| v);
                proptest::prop_assert_eq!(left, list(&(x - y)));
                let bound = both.first().copied().unwrap_or(200);
                let small: Vec<u32> = x.iter().copied().filter(|&v| v < bound).collect();
                let all = list(x);
                proptest::prop_assert_eq!(below(&all, bound), &small[..]);
            }
        }
    }
}

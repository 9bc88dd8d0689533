//! Every kernel against the standard library's sets.

use std::collections::BTreeSet;

use proptest::collection::btree_set;
use proptest::prelude::*;

use super::*;

fn list(s: &BTreeSet<u32>) -> Vec<u32> {
    s.iter().copied().collect()
}

/// Compares every form of every operation on two sets.
fn agree(x: &BTreeSet<u32>, y: &BTreeSet<u32>) -> Result<(), TestCaseError> {
    let (a, b) = (list(x), list(y));
    let (both, left) = (list(&(x & y)), list(&(x - y)));
    let mut out = vec![7];
    intersect(&a, &b, &mut out);
    prop_assert_eq!(&out, &both);
    prop_assert_eq!(intersection_size(&a, &b), both.len());
    difference(&a, &b, &mut out);
    prop_assert_eq!(&out, &left);
    let mut kept = a.clone();
    subtract(&mut kept, &b, |v| v);
    prop_assert_eq!(&kept, &left);
    // Each kernel, also where the sizes would have chosen another way.
    for kernel in Kernel::all() {
        fill(&mut out, a.len().min(b.len()) + PAD, |out| kernel.intersect(&a, &b, out));
        prop_assert_eq!(&out, &both, "{:?}", kernel);
        prop_assert_eq!(kernel.intersection_size(&a, &b), both.len(), "{:?}", kernel);
        fill(&mut out, a.len() + PAD, |out| kernel.intersect_few(&a, &b, out));
        prop_assert_eq!(&out, &both, "{:?}", kernel);
        prop_assert_eq!(kernel.intersection_size_few(&a, &b), both.len(), "{:?}", kernel);
        let mut bits = vec![0; a.len().div_ceil(64)];
        kernel.positions(&a, &b, &mut bits);
        let set = (0..64 * bits.len()).filter(|i| bits[i / 64] >> (i % 64) & 1 == 1);
        prop_assert_eq!(&set.map(|i| a[i]).collect::<Vec<_>>(), &both, "{:?}", kernel);
        fill(&mut out, a.len() + PAD, |out| kernel.difference(&a, &b, out));
        prop_assert_eq!(&out, &left, "{:?}", kernel);
    }
    let bound = both.first().copied().unwrap_or(200);
    prop_assert_eq!(below(&a, bound), &list(&x.range(..bound).copied().collect())[..]);
    // Bits.
    let largest = a.iter().chain(&b).max().map_or(0, |&m| m as usize + 1);
    let (mut in_a, mut in_b) = (Bitmap::new(largest), Bitmap::new(largest));
    in_a.insert_all(&a);
    in_b.insert_all(&b);
    in_b.as_bits().intersect(&a, &mut out);
    prop_assert_eq!(&out, &both);
    in_b.as_bits().difference(&a, &mut out);
    prop_assert_eq!(&out, &left);
    prop_assert_eq!(in_b.as_bits().intersection_size(&a), both.len());
    #[cfg(target_arch = "x86_64")]
    if Kernel::best() == Kernel::Avx512 {
        // A part of each list as well, and what the bits don't reach.
        for list in [0..a.len(), a.len() / 3..a.len() / 2, a.len().saturating_sub(20)..a.len()] {
            let part = &a[list.clone()];
            let expected = part.iter().filter(|&&v| y.contains(&v)).count();
            let beyond: Vec<u32> =
                part.iter().map(|&v| v + 64 * (largest as u32 / 64 + 1)).collect();
            let bits = in_b.as_bits();
            // SAFETY: the processor has AVX-512.
            unsafe {
                prop_assert_eq!(bits.intersection_size_avx512(&a, list.clone()), expected);
                prop_assert_eq!(bits.intersection_size_avx512(&beyond, 0..beyond.len()), 0);
                prop_assert_eq!(leading_avx512(&a, list, bound), below(part, bound).len());
            }
        }
    }
    let bound = bound.min(largest as u32);
    let common = in_a.as_bits().common_below(in_b.as_bits(), bound);
    prop_assert_eq!(common, below(&both, bound).len());
    prop_assert_eq!(in_a.as_bits().common_below(in_b.as_bits(), largest as u32), both.len());
    in_b.clear_all(&b);
    prop_assert_eq!(in_b.as_bits().intersection_size(&(0..largest as u32).collect::<Vec<_>>()), 0);
    Ok(())
}

proptest! {
    #[test]
    fn operations_agree_with_the_standard_library(
        a in btree_set(0u32..400, 0..120),
        b in btree_set(0u32..400, 0..4),
        c in btree_set(0u32..400, 0..300),
    ) {
        for (x, y) in [(&a, &b), (&b, &c), (&a, &c), (&c, &b), (&c, &a), (&c, &c)] {
            agree(x, y)?;
        }
    }

    /// Runs of equal and of missing elements, as long as a block and longer.
    #[test]
    fn operations_agree_on_runs(
        starts in prop::collection::vec((0u32..2000, 1u32..40, 0u8..3), 1..40),
    ) {
        let (mut a, mut b) = (BTreeSet::new(), BTreeSet::new());
        for (start, length, to) in starts {
            if to != 1 { a.extend(start..start + length); }
            if to != 0 { b.extend(start..start + length); }
        }
        agree(&a, &b)?;
        agree(&b, &a)?;
    }
}

/// Values whose sign bit is set compare as numbers too.
#[test]
fn large_numbers_are_not_negative() {
    let a: Vec<u32> = (0..64).map(|i| u32::MAX - 130 + 2 * i).collect();
    let b: Vec<u32> =
        (0..40).map(|i| u32::MAX / 2 - 20 + i).chain((0..64).map(|i| u32::MAX - 100 + i)).collect();
    for kernel in Kernel::all() {
        let expected = scalar::intersection_size(&a, &b);
        assert!(expected > 20);
        assert_eq!(kernel.intersection_size(&a, &b), expected, "{kernel:?}");
    }
}

//! The walk over two lists in blocks, for any width of block.

/// Defines the operations of a kernel from what its processor does with blocks: `LANES`,
/// `Block`, `load(list, at)`, `matches(a, b)` (bit i: whether lane i of a is equal to any lane of
/// b) and `compress(block, mask, out)` (writes the lanes of the mask to the front of `out`, and
/// up to a block of anything behind them). `$features` are the required processor features.
macro_rules! blockwise {
    ($features:literal) => {
        const _: () = assert!(LANES <= super::PAD);

        /// Walks both lists in blocks: `visit` gets the place and content of a block of `a`, which
        /// of its lanes are in the current block of `b`, and whether the block of `a` is left
        /// behind with that. Returns where each list goes on once one has no whole block left.
        #[target_feature(enable = $features)]
        #[inline]
        fn walk(
            a: &[u32],
            b: &[u32],
            mut visit: impl FnMut(usize, Block, usize, bool),
        ) -> (usize, usize) {
            let (mut i, mut j) = (0, 0);
            while i + LANES <= a.len() && j + LANES <= b.len() {
                let block = load(a, i);
                let (a_last, b_last) = (a[i + LANES - 1], b[j + LANES - 1]);
                visit(i, block, matches(block, load(b, j)), a_last <= b_last);
                i += LANES * usize::from(a_last <= b_last);
                j += LANES * usize::from(b_last <= a_last);
            }
            (i, j)
        }

        /// As [`super::intersect`]; `out` has room for the shorter list and [`super::PAD`] more.
        #[target_feature(enable = $features)]
        pub(super) fn intersect(a: &[u32], b: &[u32], out: &mut [Uninit]) -> usize {
            let mut kept = 0;
            let (i, j) = walk(a, b, |_, block, mask, _| {
                compress(block, mask, &mut out[kept..]);
                kept += mask.count_ones() as usize;
            });
            // What was found of a's unfinished block has its mate behind j: it isn't found twice.
            kept + scalar::intersect(&a[i..], &b[j..], &mut out[kept..])
        }

        /// |a ∩ b|.
        #[target_feature(enable = $features)]
        pub(super) fn intersection_size(a: &[u32], b: &[u32]) -> usize {
            let mut size = 0;
            let (i, j) = walk(a, b, |_, _, mask, _| size += mask.count_ones() as usize);
            size + scalar::intersection_size(&a[i..], &b[j..])
        }

        /// As [`super::positions`].
        #[target_feature(enable = $features)]
        pub(super) fn positions(a: &[u32], b: &[u32], bits: &mut [u64]) {
            let (i, j) = walk(a, b, |i, _, mask, _| bits[i / 64] |= (mask as u64) << (i % 64));
            scalar::positions(&a[i..], &b[j..], i, bits);
        }

        /// As [`super::difference`]; `out` has room for a and [`super::PAD`] more.
        #[target_feature(enable = $features)]
        pub(super) fn difference(a: &[u32], b: &[u32], out: &mut [Uninit]) -> usize {
            // `found`: lanes of a's block that are in b's blocks so far.
            let (mut kept, mut found) = (0, 0);
            let (i, j) = walk(a, b, |_, block, mask, left_behind| {
                found |= mask;
                if left_behind {
                    let missing = !found & ((1 << LANES) - 1);
                    compress(block, missing, &mut out[kept..]);
                    kept += missing.count_ones() as usize;
                    found = 0;
                }
            });
            // The rest of the block in which the walk ended, without what was found.
            let whole = if found == 0 { i } else { i + LANES };
            let mut rest = &b[j..];
            for (lane, &x) in a[i..whole].iter().enumerate() {
                rest = &rest[scalar::gallop(rest, x)..];
                if found >> lane & 1 == 0 && rest.first() != Some(&x) {
                    out[kept].write(x);
                    kept += 1;
                }
            }
            kept + scalar::difference(&a[whole..], rest, &mut out[kept..])
        }
    };
}

pub(super) use blockwise;

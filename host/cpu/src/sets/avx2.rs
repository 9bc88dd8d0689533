//! 8 elements at a time, with AVX2.

use std::arch::x86_64::*;

use super::blocks::blockwise;
use super::{Uninit, scalar};

/// Elements of a block.
const LANES: usize = 8;
type Block = __m256i;

blockwise!("avx2,popcnt");

/// By mask of lanes: their numbers first, in order, as bytes.
static COMPRESS: [[u8; LANES]; 1 << LANES] = {
    let mut table = [[0; LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let (mut lane, mut at) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                table[mask][at] = lane as u8;
                at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn load(set: &[u32], at: usize) -> Block {
    let block: &[u32; LANES] = set[at..at + LANES].try_into().expect("a whole block");
    // SAFETY: the block is 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
}

/// Bit i: whether lane i of `a` is equal to any lane of `b`.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn matches(a: Block, b: Block) -> usize {
    // The eight rotations of b: four within its halves, and the same with the halves swapped.
    let swapped = _mm256_permute2x128_si256::<1>(b, b);
    let equal = |x| {
        let one = _mm256_cmpeq_epi32(a, x);
        let two = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b00_11_10_01>(x));
        let three = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b01_00_11_10>(x));
        let four = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b10_01_00_11>(x));
        _mm256_or_si256(_mm256_or_si256(one, two), _mm256_or_si256(three, four))
    };
    let any = _mm256_or_si256(equal(b), equal(swapped));
    _mm256_movemask_ps(_mm256_castsi256_ps(any)) as usize
}

/// Writes the lanes of `block` that `mask` names to the front of `out`, and anything behind them.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn compress(block: Block, mask: usize, out: &mut [Uninit]) {
    let out: &mut [Uninit; LANES] = (&mut out[..LANES]).try_into().expect("room for a block");
    // SAFETY: a row of the table is 8 bytes, the room is 32; neither needs to be aligned.
    unsafe {
        let order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(COMPRESS[mask].as_ptr().cast()));
        let packed = _mm256_permutevar8x32_epi32(block, order);
        _mm256_storeu_si256(out.as_mut_ptr().cast(), packed);
    }
}

//! 16 elements at a time, with AVX-512.

use std::arch::x86_64::*;

use super::blocks::blockwise;
use super::{Uninit, scalar};

/// Elements of a block.
const LANES: usize = 16;
type Block = __m512i;

blockwise!("avx512f,popcnt");

#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn load(set: &[u32], at: usize) -> Block {
    let block: &[u32; LANES] = set[at..at + LANES].try_into().expect("a whole block");
    // SAFETY: the block is 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_epi32(block.as_ptr().cast()) }
}

/// Bit i: whether lane i of `a` is equal to any lane of `b`.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn matches(a: Block, b: Block) -> usize {
    // The sixteen rotations of b: four within its quarters, for each rotation of the quarters.
    let equal = |x| {
        let one = _mm512_cmpeq_epi32_mask(a, x);
        let two = _mm512_cmpeq_epi32_mask(a, _mm512_shuffle_epi32::<0b00_11_10_01>(x));
        let three = _mm512_cmpeq_epi32_mask(a, _mm512_shuffle_epi32::<0b01_00_11_10>(x));
        let four = _mm512_cmpeq_epi32_mask(a, _mm512_shuffle_epi32::<0b10_01_00_11>(x));
        one | two | three | four
    };
    let any = equal(b)
        | equal(_mm512_shuffle_i32x4::<0b00_11_10_01>(b, b))
        | equal(_mm512_shuffle_i32x4::<0b01_00_11_10>(b, b))
        | equal(_mm512_shuffle_i32x4::<0b10_01_00_11>(b, b));
    any as usize
}

/// Writes the lanes of `block` that `mask` names to the front of `out`, and zeros behind them.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn compress(block: Block, mask: usize, out: &mut [Uninit]) {
    let out: &mut [Uninit; LANES] = (&mut out[..LANES]).try_into().expect("room for a block");
    // Packed in a register: the store that packs is slow on some processors.
    let packed = _mm512_maskz_compress_epi32(mask as __mmask16, block);
    // SAFETY: the room is 64 bytes; the store needs no alignment.
    unsafe { _mm512_storeu_epi32(out.as_mut_ptr().cast(), packed) };
}

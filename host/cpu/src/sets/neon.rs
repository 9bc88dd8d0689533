//! 4 elements at a time, with the vector instructions that every 64-bit Arm processor has.

use std::arch::aarch64::*;

use super::blocks::blockwise;
use super::{Uninit, scalar};

/// Elements of a block.
const LANES: usize = 4;
type Block = uint32x4_t;

blockwise!("neon");

/// By mask of lanes: the bytes of these lanes first, in order.
static COMPRESS: [[u8; 4 * LANES]; 1 << LANES] = {
    let mut table = [[0; 4 * LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let (mut lane, mut at) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                let mut byte = 0;
                while byte < 4 {
                    table[mask][4 * at + byte] = (4 * lane + byte) as u8;
                    byte += 1;
                }
                at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

#[target_feature(enable = "neon")]
#[inline]
fn load(set: &[u32], at: usize) -> Block {
    let block: &[u32; LANES] = set[at..at + LANES].try_into().expect("a whole block");
    // SAFETY: the block is 16 bytes.
    unsafe { vld1q_u32(block.as_ptr()) }
}

/// Bit i: whether lane i of `a` is equal to any lane of `b`.
#[target_feature(enable = "neon")]
#[inline]
fn matches(a: Block, b: Block) -> usize {
    const BITS: [u32; LANES] = [1, 2, 4, 8];
    // SAFETY: callers have the feature; the load reads the 16 bytes of the array.
    unsafe {
        let one = vceqq_u32(a, b);
        let two = vceqq_u32(a, vextq_u32::<1>(b, b));
        let three = vceqq_u32(a, vextq_u32::<2>(b, b));
        let four = vceqq_u32(a, vextq_u32::<3>(b, b));
        let any = vorrq_u32(vorrq_u32(one, two), vorrq_u32(three, four));
        vaddvq_u32(vandq_u32(any, vld1q_u32(BITS.as_ptr()))) as usize
    }
}

/// Writes the lanes of `block` that `mask` names to the front of `out`, and anything behind them.
#[target_feature(enable = "neon")]
#[inline]
fn compress(block: Block, mask: usize, out: &mut [Uninit]) {
    let out: &mut [Uninit; LANES] = (&mut out[..LANES]).try_into().expect("room for a block");
    // SAFETY: callers have the feature; a row of the table and the room have 16 bytes each.
    unsafe {
        let order = vld1q_u8(COMPRESS[mask].as_ptr());
        let packed = vqtbl1q_u8(vreinterpretq_u8_u32(block), order);
        vst1q_u32(out.as_mut_ptr().cast(), vreinterpretq_u32_u8(packed));
    }
}

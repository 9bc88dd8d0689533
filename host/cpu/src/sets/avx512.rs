//! 16 elements at a time, with AVX-512.

use std::arch::x86_64::*;
use std::ops::Range;

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

/// Number of elements of a list in an array that are in a set of bits, as [`super::Bits::intersection_size`]; those that
/// the bits don't reach aren't.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub fn marked_size(words: &[u64], array: &[u32], list: Range<usize>) -> usize {
    // Numbers have 32 bits, and so the halves of words that have them are 2^27.
    let bound = _mm512_set1_epi32((2 * words.len()).min(1 << 27) as i32);
    let count = |x: Block, lanes: __mmask16| {
        let at = _mm512_srli_epi32::<5>(x);
        let within = _mm512_mask_cmplt_epu32_mask(lanes, at, bound);
        let none = _mm512_setzero_si512();
        // SAFETY: lanes that are read are below `bound`, the number of halves of the words; others are masked.
        let found =
            unsafe { _mm512_mask_i32gather_epi32::<4>(none, within, at, words.as_ptr().cast()) };
        let first = _mm512_rorv_epi32(found, x);
        _mm512_test_epi32_mask(first, _mm512_set1_epi32(1)).count_ones() as usize
    };
    let (mut at, mut size) = (list.start, 0);
    while at + LANES <= list.end {
        size += count(load(array, at), u16::MAX);
        at += LANES;
    }
    if at < list.end {
        size += count(load_first(&array[..list.end], at), (1 << (list.end - at)) - 1);
    }
    size
}

/// The elements from a place on, fewer than a block; the other lanes are 0.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn load_first(set: &[u32], at: usize) -> Block {
    let rest = &set[at..];
    let lanes = ((1u32 << rest.len().min(LANES)) - 1) as __mmask16;
    // SAFETY: lanes beyond the slice are masked, and so not read.
    unsafe { _mm512_maskz_loadu_epi32(lanes, rest.as_ptr().cast()) }
}

/// Counts the elements of an ascending list in an array below a number. Scans short lists without branches.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub fn leading(array: &[u32], list: Range<usize>, number: u32) -> usize {
    let list = &array[list];
    if list.len() > LANES {
        return list.partition_point(|&x| x < number);
    }
    let lanes = ((1u32 << list.len()) - 1) as __mmask16;
    let number = _mm512_set1_epi32(number as i32);
    _mm512_mask_cmplt_epu32_mask(lanes, load_first(list, 0), number).count_ones() as usize
}

/// Whether a list of up to a block contains a number.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub fn has(list: &[u32], number: u32) -> bool {
    let lanes = ((1u32 << list.len().min(LANES)) - 1) as __mmask16;
    let number = _mm512_set1_epi32(number as i32);
    _mm512_mask_cmpeq_epi32_mask(lanes, load_first(list, 0), number) != 0
}

/// Writes each pair of a list of up to a block: the later element to `later`, the earlier one to `earlier`, both with
/// room for a block behind the pairs. Returns the number of pairs.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub fn pairs(list: &[u32], later: &mut [u32], earlier: &mut [u32]) -> usize {
    /// Elements whose pairs fit a block.
    const FEW: usize = 6;
    let write = |to: &mut [u32], block: Block| {
        let to: &mut [u32; LANES] = (&mut to[..LANES]).try_into().expect("room for a block");
        // SAFETY: the room is 64 bytes; the store needs no alignment.
        unsafe { _mm512_storeu_epi32(to.as_mut_ptr().cast(), block) };
    };
    let all = load_first(list, 0);
    if list.len() <= FEW {
        let of_later = _mm512_setr_epi32(1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 0);
        let of_earlier = _mm512_setr_epi32(0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0);
        write(later, _mm512_permutexvar_epi32(of_later, all));
        write(earlier, _mm512_permutexvar_epi32(of_earlier, all));
        return list.len() * list.len().saturating_sub(1) / 2;
    }
    let mut made = 0;
    for (before, &element) in list.iter().enumerate() {
        write(&mut later[made..], _mm512_set1_epi32(element as i32));
        write(&mut earlier[made..], all);
        made += before;
    }
    made
}

/// As [`super::intersect`], for a short list, whose elements are looked up one after the other; `out` has room for it.
/// Returns how many elements it wrote.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub fn intersect_few(short: &[u32], long: &[u32], out: &mut [Uninit]) -> usize {
    let mut kept = 0;
    look_up(short, long, |x, found| {
        out[kept].write(x);
        kept += usize::from(found);
    });
    kept
}

/// Number of elements that [`intersect_few`] would write.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub fn intersection_size_few(short: &[u32], long: &[u32]) -> usize {
    let mut size = 0;
    look_up(short, long, |_, found| size += usize::from(found));
    size
}

/// Calls `answer` with each element of a short list and whether the other one, walked by the block, contains it.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn look_up(short: &[u32], long: &[u32], mut answer: impl FnMut(u32, bool)) {
    let mut at = 0;
    for &x in short {
        let wanted = _mm512_set1_epi32(x as i32);
        while at + LANES <= long.len() && long[at + LANES - 1] < x {
            at += LANES;
        }
        let found = match long.len() - at {
            LANES.. => _mm512_cmpeq_epi32_mask(load(long, at), wanted),
            left => {
                let lanes = ((1u32 << left) - 1) as __mmask16;
                _mm512_mask_cmpeq_epi32_mask(lanes, load_first(long, at), wanted)
            }
        };
        answer(x, found != 0);
    }
}

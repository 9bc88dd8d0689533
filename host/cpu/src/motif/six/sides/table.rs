//! Of two sets S(b) and S(c), pairs of adjacent vertices with one of each: by the sets' bits, or by a row for each
//! slot of what its set is to every number. Rows of bytes are as short as can be, since a root's rows fill a near
//! cache; roots of many neighbours have rows of 16 bits.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_add_epi64, _mm_and_si128, _mm_sad_epu8, _mm_setzero_si128,
};

use super::{SideState, members, shared};

/// Of two sets S(b) and S(c): pairs of adjacent vertices, one of each; and those of them with the first
/// or the second in both sets, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CrossPairs {
    pub pairs: i64,
    pub with_common: i64,
}

/// Method for counting these.
pub(super) trait PairCounter {
    /// Makes what is needed of the current root.
    fn fill(state: &mut SideState<'_>);

    /// Counts the pairs of the sets of two slots.
    fn across(state: &SideState<'_>, b: usize, c: usize) -> CrossPairs;
}

/// Rows by slot, in the form of the current root's way: in the same memory.
#[derive(Default)]
pub(super) struct Table {
    words: Vec<i16>,
    /// Numbers in a row of words.
    stride: usize,
}

/// Counting without a table.
pub(super) struct Sets;

impl PairCounter for Sets {
    fn fill(_: &mut SideState<'_>) {}

    #[inline(always)]
    fn across(state: &SideState<'_>, b: usize, c: usize) -> CrossPairs {
        let (first, second) = (state.set(b), state.set(c));
        let (mut pairs, mut with_common) = (0, 0);
        for number in members(first, first) {
            pairs += i64::from(shared(state.near(number), second));
        }
        for number in members(first, second) {
            let near = state.near(number);
            with_common += i64::from(shared(near, first) + shared(near, second));
        }
        CrossPairs { pairs, with_common }
    }
}

/// By slot `N` bytes, how many of its set each number is next to, and as many masks, all ones where the number is in
/// the set. For up to `N` numbers, and below 128: two counts add up to a byte then.
pub(super) struct Bytes<const N: usize>;

impl<const N: usize> PairCounter for Bytes<N> {
    fn fill(state: &mut SideState<'_>) {
        let mut words = std::mem::take(&mut state.table.words);
        words.clear();
        words.resize(N * state.vertices.len(), 0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        for (slot, row) in bytes.chunks_exact_mut(2 * N).enumerate() {
            let set = state.set(slot);
            let (next_to, member) = row.split_at_mut(N);
            for (number, (next_to, member)) in
                next_to.iter_mut().zip(member).enumerate().take(state.before.len())
            {
                *next_to = shared(set, state.near(number)) as u8;
                *member = if set[number / 64] >> (number % 64) & 1 == 1 { u8::MAX } else { 0 };
            }
        }
        state.table.words = words;
    }

    #[inline(always)]
    fn across(state: &SideState<'_>, b: usize, c: usize) -> CrossPairs {
        let rows = bytemuck::cast_slice::<_, u8>(&state.table.words).as_chunks::<N>().0;
        let blocks = |row: usize| rows[row].as_chunks::<BLOCK>().0.iter();
        let b = blocks(2 * b).zip(blocks(2 * b + 1));
        let c = blocks(2 * c).zip(blocks(2 * c + 1));
        let mut sums = Sums::default();
        for ((next_to_b, in_b), (next_to_c, in_c)) in b.zip(c) {
            sums.add([next_to_b, in_b, next_to_c, in_c]);
        }
        sums.across()
    }
}

/// Bytes that are looked at together.
const BLOCK: usize = 16;

/// The sums on the way, in two halves each.
#[cfg(target_arch = "x86_64")]
#[derive(Default)]
struct Sums {
    pairs: [i64; 2],
    with_common: [i64; 2],
}

#[cfg(target_arch = "x86_64")]
impl Sums {
    #[inline(always)]
    fn add(&mut self, rows: [&[u8; BLOCK]; 4]) {
        let [next_to_b, in_b, next_to_c, in_c] = rows.map(|row| bytemuck::cast::<_, __m128i>(*row));
        // SAFETY: every processor of this architecture has SSE2.
        unsafe {
            let add = |sum: &mut [i64; 2], bytes: __m128i| {
                let bytes = _mm_sad_epu8(bytes, _mm_setzero_si128());
                *sum = bytemuck::cast(_mm_add_epi64(bytemuck::cast(*sum), bytes));
            };
            let either = _mm_add_epi8(next_to_b, next_to_c);
            add(&mut self.pairs, _mm_and_si128(next_to_b, in_c));
            add(&mut self.with_common, _mm_and_si128(either, _mm_and_si128(in_b, in_c)));
        }
    }

    #[inline(always)]
    fn across(self) -> CrossPairs {
        CrossPairs { pairs: self.pairs.iter().sum(), with_common: self.with_common.iter().sum() }
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[derive(Default)]
struct Sums {
    pairs: i64,
    with_common: i64,
}

#[cfg(not(target_arch = "x86_64"))]
impl Sums {
    #[inline(always)]
    fn add(&mut self, [next_to_b, in_b, next_to_c, in_c]: [&[u8; BLOCK]; 4]) {
        for at in 0..BLOCK {
            self.pairs += i64::from(next_to_b[at] & in_c[at]);
            self.with_common += i64::from((next_to_b[at] + next_to_c[at]) & in_b[at] & in_c[at]);
        }
    }

    #[inline(always)]
    fn across(self) -> CrossPairs {
        CrossPairs { pairs: self.pairs, with_common: self.with_common }
    }
}

/// By slot and number in 16 bits, one behind the other: whether it is in the slot's set, how many of that set it is
/// next to, and their product.
pub(super) struct Words;

impl Words {
    /// A set has fewer members, so that they can be counted in a word.
    pub const MOST: usize = 1 << 14;
    /// Rows are multiples of this, which compilers make wide instructions of.
    const BLOCK: usize = 64;

    /// Numbers in a row.
    pub fn stride(numbers: usize) -> usize {
        numbers.next_multiple_of(Self::BLOCK)
    }

    /// The sum of products of two rows.
    #[inline(always)]
    fn dot(a: &[i16], b: &[i16]) -> i64 {
        let blocks = a.as_chunks::<{ Self::BLOCK }>().0.iter().zip(b.as_chunks().0);
        // One of each two is 0 or 1, so that a block's sum has 20 bits.
        let of_block = |(a, b): (&[i16; Self::BLOCK], &[i16; Self::BLOCK])| {
            let mut sum = 0i32;
            for at in 0..Self::BLOCK {
                sum += i32::from(a[at]) * i32::from(b[at]);
            }
            i64::from(sum)
        };
        blocks.map(of_block).sum()
    }
}

impl PairCounter for Words {
    fn fill(state: &mut SideState<'_>) {
        let stride = Self::stride(state.before.len());
        let mut words = std::mem::take(&mut state.table.words);
        words.clear();
        words.resize(3 * stride * state.vertices.len(), 0);
        for (slot, rows) in words.chunks_exact_mut(3 * stride).enumerate() {
            let set = state.set(slot);
            let (member, rest) = rows.split_at_mut(stride);
            let (next_to, product) = rest.split_at_mut(stride);
            for number in 0..state.before.len() {
                member[number] = (set[number / 64] >> (number % 64) & 1) as i16;
                next_to[number] = shared(set, state.near(number)) as i16;
                product[number] = member[number] * next_to[number];
            }
        }
        (state.table.words, state.table.stride) = (words, stride);
    }

    #[inline(always)]
    fn across(state: &SideState<'_>, b: usize, c: usize) -> CrossPairs {
        let Table { words, stride, .. } = &state.table;
        let row = |slot: usize, at: usize| &words[(3 * slot + at) * stride..][..*stride];
        CrossPairs {
            pairs: Self::dot(row(b, 1), row(c, 0)),
            with_common: Self::dot(row(b, 2), row(c, 0)) + Self::dot(row(b, 0), row(c, 2)),
        }
    }
}

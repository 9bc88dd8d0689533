//! With AVX-512: four lines at a time.
//!
//! Of 64 bytes, where numbers begin and end comes as two vectors of places (`VPCOMPRESSB`). A digit's byte is then as far
//! before its number's end as the digit is worth, and one shuffle (`VPERMB`) puts the digits of eight numbers where three
//! multiplications make values of them.

use std::arch::x86_64::*;
use std::array;

use super::avx2::{BYTES, LINE, Masks, line_by_line};
use super::{DIGITS, PairFacts};

/// Lines whose numbers are made at a time.
const LINES: usize = 4;
/// Maximum number of lines that end in [`BYTES`], none of which is shorter than four bytes.
const MOST_LINES: usize = BYTES / 4;

/// Whether this processor has what [`pair_lines`] is compiled for.
#[inline]
pub fn is_here() -> bool {
    use std::arch::is_x86_feature_detected as has;
    let vectors = has!("avx512f") && has!("avx512bw") && has!("avx512vl");
    let bytes = has!("avx512vbmi") && has!("avx512vbmi2") && has!("avx2");
    vectors && bytes && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

/// As [`super::pair_lines`]. Adds what it sees of the pairs to `seen`.
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub fn pair_lines(
    text: &[u8],
    mut at: usize,
    pairs: &mut Vec<[u32; 2]>,
    seen: &mut PairFacts,
) -> usize {
    let index = vector(&array::from_fn(|at| at as u8));
    let mut regular = Regular::new();
    while let Some(bytes) = text.get(at..at + BYTES + LINE) {
        let bytes: &[u8; BYTES + LINE] = bytes.try_into().expect("as many bytes");
        let all = vector(bytes.first_chunk().expect("as many bytes"));
        let digits = _mm512_sub_epi8(all, _mm512_set1_epi8(b'0' as i8));
        let equal = |byte: u8| _mm512_cmpeq_epi8_mask(all, _mm512_set1_epi8(byte as i8));
        let others = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
        let between = equal(b' ') | equal(b'\t') | equal(b',');
        let line_feeds = equal(b'\n');
        let begins = _mm512_maskz_compress_epi8(!others & (others << 1 | 1), index);
        let ends = _mm512_maskz_compress_epi8(others, index);
        // A number that goes on has no end.
        let lengths = _mm512_sub_epi8(ends, begins);
        let too_long = _mm512_cmpgt_epi8_mask(lengths, _mm512_set1_epi8(DIGITS as i8));
        let out_of_turn =
            _pext_u64(line_feeds, others) ^ _bzhi_u64(0xaaaa_aaaa_aaaa_aaaa, others.count_ones());
        let empty = others & (others << 1 | 1);
        if (others ^ (between | line_feeds)) | out_of_turn | too_long | empty != 0
            || line_feeds == 0
        {
            let before = pairs.len();
            let end = line_by_line(bytes, &Masks { others, between, line_feeds }, pairs);
            pairs[before..].iter().for_each(|&pair| seen.add(pair));
            if end == 0 {
                break;
            }
            at += end;
            continue;
        }
        regular.take(line_feeds.count_ones(), digits, [begins, ends], pairs);
        at += BYTES - line_feeds.leading_zeros() as usize;
    }
    regular.tell(seen);
    at
}

/// Constants and accumulators for lines of exactly two numbers.
struct Regular {
    /// Which of eight numbers a byte is a digit of.
    number: __m512i,
    /// Position of that digit, counted from the number's end.
    behind: __m512i,
    /// The largest numbers so far.
    most: __m256i,
    /// Not 0 once both numbers of a line were equal.
    loops: u8,
}

impl Regular {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new() -> Self {
        Regular {
            number: vector(&array::from_fn(|at| (at / DIGITS) as u8)),
            behind: vector(&array::from_fn(|at| (at % DIGITS).wrapping_sub(DIGITS) as u8)),
            most: _mm256_setzero_si256(),
            loops: 0,
        }
    }

    /// Parses the first lines, given the starts and ends of their numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2,bmi2")]
    fn take(
        &mut self,
        lines: u32,
        digits: __m512i,
        [begins, ends]: [__m512i; 2],
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.reserve(MOST_LINES);
        let (mut which, mut left) = (self.number, lines);
        for four in pairs.spare_capacity_mut()[..MOST_LINES].chunks_exact_mut(LINES) {
            let places = _mm512_add_epi8(_mm512_permutexvar_epi8(which, ends), self.behind);
            let inside = _mm512_cmpge_epi8_mask(places, _mm512_permutexvar_epi8(which, begins));
            let digits = _mm512_maskz_permutexvar_epi8(inside, places, digits);
            let twos = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(1 << 8 | 10));
            let fours = _mm512_madd_epi16(twos, _mm512_set1_epi32(1 << 16 | 100));
            let fours = _mm512_cvtepi32_epi16(fours);
            let eights = _mm256_madd_epi16(fours, _mm256_set1_epi32(1 << 16 | 10_000));
            // SAFETY: four pairs have 32 bytes; the store needs no alignment.
            unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), eights) };
            self.most = _mm256_max_epu32(self.most, eights);
            // The last ones may be of no line that ends here: zeros for what has no end.
            let there = _bzhi_u32(u32::MAX, 2 * left) as u8;
            let other = _mm256_shuffle_epi32::<0b10_11_00_01>(eights);
            self.loops |= _mm256_mask_cmpeq_epi32_mask(there, eights, other);
            if left <= LINES as u32 {
                break;
            }
            left -= LINES as u32;
            which = _mm512_add_epi8(which, _mm512_set1_epi8(2 * LINES as i8));
        }
        // SAFETY: each line has four bytes at least, so that there are at most `MOST_LINES`, and their pairs were written
        // above into the reserved room.
        unsafe { pairs.set_len(pairs.len() + lines as usize) };
    }

    /// Adds what was seen of the pairs.
    #[target_feature(enable = "avx512f")]
    fn tell(&self, seen: &mut PairFacts) {
        let mut all = [0u32; 8];
        // SAFETY: eight numbers have 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(all.as_mut_ptr().cast(), self.most) };
        seen.most = all.into_iter().fold(seen.most, u32::max);
        seen.looped |= self.loops != 0;
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn vector(bytes: &[u8; BYTES]) -> __m512i {
    // SAFETY: the array has 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

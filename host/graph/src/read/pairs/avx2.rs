//! With AVX2: lines one by one, once it is known where they are.

use std::arch::x86_64::*;

use super::DIGITS;

/// Whether this processor has what [`pair_lines`] is compiled for.
#[inline]
pub fn is_here() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("popcnt")
}

/// Bytes that are looked at together.
pub const BYTES: usize = 64;
/// Bytes of the longest line, without its line feed: both numbers and what is between them.
pub const LINE: usize = 16;

/// Which bytes of a line are the eight digits of both numbers, by the lengths of these less 1. There is a zero (0x80)
/// for digits that aren't there, and for those that lie behind [`LINE`].
static PLACES: [[u8; 16]; DIGITS * DIGITS] = {
    let mut places = [[0x80; 16]; DIGITS * DIGITS];
    let (mut first, mut second) = (0, 0);
    while first < DIGITS {
        let mut digit = 0;
        while digit <= first {
            places[first * DIGITS + second][DIGITS - 1 - digit] = (first - digit) as u8;
            digit += 1;
        }
        digit = 0;
        while digit <= second {
            let at = first + 2 + second - digit;
            places[first * DIGITS + second][2 * DIGITS - 1 - digit] =
                if at < LINE { at as u8 } else { 0x80 };
            digit += 1;
        }
        second += 1;
        if second == DIGITS {
            (first, second) = (first + 1, 0);
        }
    }
    places
};

/// A bit for each of 64 bytes.
pub struct Masks {
    /// No digit.
    pub others: u64,
    /// A space, a tab or a comma.
    pub between: u64,
    pub line_feeds: u64,
}

impl Masks {
    /// Whether there are lines of two numbers of up to [`DIGITS`] digits and nothing else, the last of which goes on or not. A
    /// bit is set or not for all of them at once, so that no test per line is needed.
    #[inline(always)]
    pub fn are_regular(&self) -> bool {
        let Masks { others, between, line_feeds } = *self;
        // An odd number of others until here, itself included.
        let odd = (0..6).fold(others, |odd, step| odd ^ odd << (1 << step));
        let in_turn = others & odd == between && others & !odd == line_feeds;
        let empty = others & (others << 1 | 1);
        let two = !others & !others >> 1;
        let four = two & two >> 2;
        let too_long = four & four >> 4 & !others >> DIGITS;
        in_turn && empty | too_long == 0
    }
}

#[target_feature(enable = "avx2")]
fn masks(bytes: &[u8; BYTES + LINE]) -> Masks {
    // SAFETY: the array has 64 bytes at least, 32 for each load; loads need no alignment.
    let halves = unsafe {
        let at = bytes.as_ptr().cast::<__m256i>();
        [_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))]
    };
    let both = |of: [__m256i; 2]| {
        let [low, high] = of.map(|half| _mm256_movemask_epi8(half) as u32);
        u64::from(high) << 32 | u64::from(low)
    };
    let equal = |half, byte: u8| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8));
    let digits = halves.map(|half| {
        let value = _mm256_sub_epi8(half, _mm256_set1_epi8(b'0' as i8));
        _mm256_cmpeq_epi8(_mm256_min_epu8(value, _mm256_set1_epi8(9)), value)
    });
    let between = halves.map(|half| {
        let blanks = _mm256_or_si256(equal(half, b' '), equal(half, b'\t'));
        _mm256_or_si256(blanks, equal(half, b','))
    });
    let line_feeds = halves.map(|half| equal(half, b'\n'));
    Masks { others: !both(digits), between: both(between), line_feeds: both(line_feeds) }
}

/// The numbers of a line that begins here, whose digits lie at these places.
#[target_feature(enable = "avx2")]
fn numbers(line: &[u8; LINE], places: &[u8; 16]) -> [u32; 2] {
    // SAFETY: both arrays have 16 bytes; loads need no alignment.
    let (line, places) =
        unsafe { (_mm_loadu_si128(line.as_ptr().cast()), _mm_loadu_si128(places.as_ptr().cast())) };
    let digits = _mm_shuffle_epi8(_mm_sub_epi8(line, _mm_set1_epi8(b'0' as i8)), places);
    let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(1 << 8 | 10));
    let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
    let fours = _mm_packus_epi32(fours, fours);
    let eights = _mm_madd_epi16(fours, _mm_set1_epi32(1 << 16 | 10_000));
    let both = _mm_cvtsi128_si64(eights) as u64;
    [both as u32, (both >> 32) as u32]
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
pub fn pair_lines(text: &[u8], mut at: usize, pairs: &mut Vec<[u32; 2]>) -> usize {
    // A line that begins within these bytes is read as a whole.
    while let Some(bytes) = text.get(at..at + BYTES + LINE) {
        let bytes = bytes.try_into().expect("as many bytes");
        let masks = masks(bytes);
        let end = match masks.are_regular() {
            true => regular(bytes, &masks, pairs),
            false => line_by_line(bytes, &masks, pairs),
        };
        if end == 0 {
            break;
        }
        at += end;
    }
    at
}

/// A line with its end, of which the others and what comes before it aren't there any more.
struct Line {
    /// Digits of both numbers, less 1.
    first: usize,
    second: usize,
    end: u32,
    pub others: u64,
}

/// The line that begins at `begin`, if its first two others are where numbers end.
#[inline(always)]
fn line(others: u64, begin: u32) -> Line {
    let middle = others.trailing_zeros();
    let behind = others & others.wrapping_sub(1);
    let end = behind.trailing_zeros();
    // Less 1, so that a number without a digit is too long.
    let first = middle.wrapping_sub(begin + 1) as usize;
    let second = end.wrapping_sub(middle + 2) as usize;
    Line { first, second, end, others: behind & behind.wrapping_sub(1) }
}

/// Parses the lines that end here, all of two numbers by the masks, and returns the start of the next line.
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn regular(bytes: &[u8; BYTES + LINE], masks: &Masks, pairs: &mut Vec<[u32; 2]>) -> usize {
    let lines = masks.line_feeds.count_ones() as usize;
    pairs.reserve(lines);
    let (mut others, mut begin, mut taken) = (masks.others, 0, 0);
    for pair in &mut pairs.spare_capacity_mut()[..lines] {
        let Line { first, second, end, others: rest } = line(others, begin);
        if first + second + 3 > LINE {
            break;
        }
        // Neither is more than that, which the compiler doesn't know.
        let (at, places) = (begin as usize % BYTES, (first * DIGITS + second) % PLACES.len());
        let own = bytes[at..at + LINE].try_into().expect("as many bytes");
        pair.write(numbers(own, &PLACES[places]));
        (others, begin) = (rest, end + 1);
        taken += 1;
    }
    // SAFETY: the loop wrote the first `taken` pairs of the reserved room.
    unsafe { pairs.set_len(pairs.len() + taken) };
    begin as usize
}

/// Parses arbitrary text, up to the first line that isn't two numbers.
#[target_feature(enable = "avx2,bmi1,popcnt")]
pub fn line_by_line(bytes: &[u8; BYTES + LINE], masks: &Masks, pairs: &mut Vec<[u32; 2]>) -> usize {
    let (mut others, mut begin) = (masks.others, 0);
    // Two numbers in a row have a separator between them, and a line feed ends the line.
    while others & others.wrapping_sub(1) != 0 {
        let Line { first, second, end, others: rest } = line(others, begin);
        let middle = others.trailing_zeros();
        let expected = masks.between >> middle & masks.line_feeds >> end & 1 != 0;
        if !expected || (first | second) >= DIGITS || first + second + 3 > LINE {
            break;
        }
        let own = bytes[begin as usize..][..LINE].try_into().expect("as many bytes");
        pairs.push(numbers(own, &PLACES[first * DIGITS + second]));
        (others, begin) = (rest, end + 1);
    }
    begin as usize
}

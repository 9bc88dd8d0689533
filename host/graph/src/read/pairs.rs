//! Lines of two short numbers, several at a time.
//!
//! Where 64 bytes of a text are digits, separators and line feeds, masks of a bit per byte say where its lines are. So
//! no line waits for the end of the one before, and both its numbers are made at once, as a vector. What looks
//! otherwise is left to [`super::edges`].

/// Takes lines of exactly two numbers of up to 8 digits, with one separator, from `at` on, and gives where the next
/// line begins. It may stop at any line.
#[inline]
pub(crate) fn pair_lines(text: &[u8], at: usize, pairs: &mut Vec<[u32; 2]>) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx2") && has!("bmi1") && has!("popcnt") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { avx2::pair_lines(text, at, pairs) };
        }
    }
    let _ = (text, pairs);
    at
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// Bytes that are looked at together.
    const BYTES: usize = 64;
    /// Bytes of the longest line, without its line feed: both numbers and what is between them.
    const LINE: usize = 16;
    /// Digits of the longest number.
    const DIGITS: usize = 8;

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
    struct Masks {
        /// No digit.
        others: u64,
        /// A space, a tab or a comma.
        between: u64,
        line_feeds: u64,
    }

    impl Masks {
        /// Whether there are lines of two numbers of up to [`DIGITS`] digits and nothing else, the last of which goes on or not. A
        /// bit is set or not for all of them at once, so that a line needs no question of its own.
        #[inline(always)]
        fn are_regular(&self) -> bool {
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
        // SAFETY: both halves of the first 64 bytes are 32, and no alignment is asked for.
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
        // SAFETY: both arrays are 16 bytes, and no alignment is asked for.
        let (line, places) = unsafe {
            (_mm_loadu_si128(line.as_ptr().cast()), _mm_loadu_si128(places.as_ptr().cast()))
        };
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
        others: u64,
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

    /// Takes the lines that end here where masks say that all are of two numbers, and gives where the next line begins.
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
        // SAFETY: so many pairs were written, in the room behind the others.
        unsafe { pairs.set_len(pairs.len() + taken) };
        begin as usize
    }

    /// The same where there may be anything: up to the first line that isn't of two numbers.
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn line_by_line(bytes: &[u8; BYTES + LINE], masks: &Masks, pairs: &mut Vec<[u32; 2]>) -> usize {
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
}

#[cfg(test)]
mod tests {
    use super::super::edges::pair_line;
    use super::*;

    /// The lines that are taken are those of the slow way.
    fn check(text: &[u8]) -> usize {
        let mut pairs = vec![];
        let end = pair_lines(text, 0, &mut pairs);
        let mut at = 0;
        for pair in &pairs {
            let (u, v, next) = pair_line(text, at).expect("a line of two numbers");
            assert_eq!(
                pair.map(u64::from),
                [u, v],
                "{:?}",
                String::from_utf8_lossy(&text[at..next])
            );
            at = next;
        }
        assert_eq!(at, end);
        pairs.len()
    }

    #[test]
    fn numbers_of_all_lengths() {
        let powers = (0..8).map(|e| 10u32.pow(e));
        let numbers: Vec<u32> =
            powers.flat_map(|p| [p, 2 * p - 1, 9 * p + p / 2, 10 * p - 1]).collect();
        for separator in [" ", "\t", ","] {
            let mut text = String::new();
            for u in &numbers {
                numbers.iter().for_each(|v| text += &format!("{u}{separator}{v}\n"));
            }
            check(text.as_bytes());
            // Lines of 15 digits at the most, so that nothing stops it before the end of the text.
            let lines = || text.lines().filter(|line| line.len() <= 16);
            let short: String = lines().flat_map(|line| [line, "\n"]).collect();
            let taken = check(short.as_bytes());
            if cfg!(target_arch = "x86_64") && is_here() {
                assert!(taken + 20 > lines().count(), "{taken} of {}", lines().count());
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_here() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_here() -> bool {
        false
    }

    #[test]
    fn other_lines_are_left() {
        let plain = "12 345\n".repeat(20);
        let others = [
            "1\n",
            "\n",
            " 1 2\n",
            "1  2\n",
            "1 2 3\n",
            "1 2 \n",
            "1 2\r\n",
            "# 1 2\n",
            "-1 2\n",
            "1 a\n",
            "1:2\n",
            "1/2\n",
            "123456789 1\n",
            "1 123456789\n",
            ",1\n",
            "1,\n",
            "12345678 12345678\n",
            "1 2",
            "\u{e9} 2\n",
        ];
        for other in others {
            for before in 0..8 {
                let before = "7 89\n".repeat(before);
                let taken = check(format!("{before}{other}{plain}").as_bytes());
                assert!(taken <= before.lines().count(), "{other:?} was taken");
            }
        }
    }

    #[test]
    fn any_text_is_read_as_the_slow_way_does() {
        let mut state = 7u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..3000 {
            let bytes = b"0123456789 \n\n \t,\r#x\xff/:";
            let kinds = [12, 14, bytes.len()][random(3)];
            let length = random(300);
            let text: Vec<u8> = (0..length).map(|_| bytes[random(kinds)]).collect();
            check(&text);
        }
    }
}

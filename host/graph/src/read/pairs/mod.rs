//! Lines of two short numbers, several at a time.
//!
//! Where 64 bytes of a text are digits, separators and line feeds, masks of a bit per byte say where its lines are. So
//! no line waits for the end of the one before, and both its numbers are made at once, as a vector. What looks
//! otherwise is left to [`super::edges`].

use crate::build::EdgeBlock;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Digits of the longest number.
const DIGITS: usize = 8;

/// Facts about pairs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairFacts {
    /// The largest number.
    pub most: u32,
    /// Whether both numbers of a pair are equal.
    pub looped: bool,
}

impl PairFacts {
    /// One more pair.
    #[inline]
    pub fn add(&mut self, [u, v]: [u32; 2]) {
        self.most = self.most.max(u).max(v);
        self.looped |= u == v;
    }
}

/// Parses lines of exactly two numbers of up to 8 digits with one separator, from `at` on, and returns the start of the
/// next line. It may stop at any line. Also collects facts on the edges, which saves a second pass.
#[inline]
pub(crate) fn pair_lines(text: &[u8], at: usize, edges: &mut EdgeBlock) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(pairs) = edges.narrow_mut() {
        if avx512::is_here() {
            let (from, mut seen) = (pairs.len(), PairFacts::default());
            // SAFETY: the processor has what the function is compiled for.
            let at = unsafe { avx512::pair_lines(text, at, pairs, &mut seen) };
            edges.looked_at(from, seen.most.into(), seen.looped);
            return at;
        }
        if avx2::is_here() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { avx2::pair_lines(text, at, pairs) };
        }
    }
    let _ = (text, edges);
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::edges::pair_line;

    /// Each way that this processor has takes lines as the slow way does, and sees what there is. Gives how many are taken, by
    /// the way that takes fewest.
    fn check(text: &[u8]) -> usize {
        let mut fewest = usize::MAX;
        #[cfg(target_arch = "x86_64")]
        {
            if avx512::is_here() {
                let (mut pairs, mut seen) = (vec![], PairFacts::default());
                // SAFETY: the processor has what the function is compiled for.
                let end = unsafe { avx512::pair_lines(text, 0, &mut pairs, &mut seen) };
                let mut expected = PairFacts::default();
                pairs.iter().for_each(|&pair| expected.add(pair));
                assert_eq!(seen, expected, "{:?}", String::from_utf8_lossy(text));
                fewest = fewest.min(are_the_first_lines(text, &pairs, end));
            }
            if avx2::is_here() {
                let mut pairs = vec![];
                // SAFETY: the processor has what the function is compiled for.
                let end = unsafe { avx2::pair_lines(text, 0, &mut pairs) };
                fewest = fewest.min(are_the_first_lines(text, &pairs, end));
            }
        }
        let mut edges = EdgeBlock::default();
        let end = pair_lines(text, 0, &mut edges);
        let pairs = edges.narrow_mut().expect("short numbers").clone();
        let mut expected = PairFacts::default();
        pairs.iter().for_each(|&pair| expected.add(pair));
        assert_eq!(edges.largest(), u64::from(expected.most));
        assert_eq!(edges.looped(), expected.looped);
        fewest.min(are_the_first_lines(text, &pairs, end))
    }

    /// Whether these are the pairs of the lines up to there; how many.
    fn are_the_first_lines(text: &[u8], pairs: &[[u32; 2]], end: usize) -> usize {
        let mut at = 0;
        for pair in pairs {
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
            if is_here() {
                assert!(taken + 20 > lines().count(), "{taken} of {}", lines().count());
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    use avx2::is_here;

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
    fn what_has_no_line_in_sight_is_left() {
        for digits in [1, 8, 9, 63, 64, 65, 80, 200] {
            let number = "7".repeat(digits);
            for text in
                [number.clone(), format!("1 {number}"), format!("{number} "), "\n".repeat(digits)]
            {
                assert_eq!(check(format!("{text}{}", "0".repeat(100)).as_bytes()), 0);
            }
        }
        // The longest line, which one of the ways leaves.
        check("12345678 12345678\n".repeat(20).as_bytes());
        check(&"7 7\n".repeat(40).into_bytes());
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

//! The loops of `local.cl` below a pair of targets, written out for a size of clique and a width of
//! rows.
//!
//! Sets are words in their own variables, so that they stay in registers; members of level L are
//! the common neighbours, below all of them, of the L + 2 targets chosen so far. The last level's
//! members are only counted, by the population of their common neighbours.

use std::fmt::Write;

/// Most inner loops that are written out; the number grows with the power of the width. Beyond it
/// `local.cl` keeps sets in arrays.
const MOST_LOOPS: usize = 1000;

/// Maximum number of unrolled levels. With seven levels and rows of four words, the NVIDIA 580.159.04 compiler produced
/// wrong code: 11-clique counts of wiki-vote were 40 % low and differed between runs; with six they were
/// right.
const MOST_LEVELS: usize = 5;

/// The text of the loops for cliques of `k` (5 or more) and rows of `words` words, as a macro `NEST`;
/// `None` if it were too long.
pub(crate) fn nest(k: usize, words: usize) -> Option<String> {
    let levels = k - 4;
    // Ways to choose falling words for the levels, equal ones allowed.
    let loops = (0..levels).fold(1, |c, i| c * (words + i) / (i + 1));
    if loops > MOST_LOOPS || levels > MOST_LEVELS {
        return None;
    }
    let mut text = String::from("#define NEST ");
    level(&mut text, k, 0, words);
    text.push('\n');
    Some(text)
}

/// The loops over the members of level `l`, which lie in the words below `words`.
fn level(text: &mut String, k: usize, l: usize, words: usize) {
    let last = l == k - 5;
    for x in (0..words).rev() {
        write!(
            text,
            "for (uint b{l} = s{l}_{x}; b{l} != 0;) {{ const uint t{l} = top_bit(b{l}); \
             b{l} ^= 1u << t{l}; \
             const __local uint *const r{l} = rows + INDEX(({} + t{l}) * STRIDE, n * STRIDE, 8); ",
            32 * x
        )
        .expect("text");
        if last {
            let sum: Vec<String> =
                (0..=x).map(|y| format!("popcount(s{l}_{y} & r{l}[{y}])")).collect();
            write!(text, "found += {}; }} ", sum.join(" + ")).expect("text");
            continue;
        }
        let inner = l + 1;
        for y in 0..=x {
            write!(text, "const uint s{inner}_{y} = s{l}_{y} & r{l}[{y}]; ").expect("text");
        }
        let sum: Vec<String> = (0..=x).map(|y| format!("popcount(s{inner}_{y})")).collect();
        let needed = k - 4 - l;
        write!(text, "if ({} >= {needed}) {{ ", sum.join(" + ")).expect("text");
        level(text, k, inner, x + 1);
        text.push_str("} } ");
    }
    if last {
        text.push_str("total += found; found = 0; ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_written_out_as_far_as_they_are_few() {
        let text = nest(5, 2).unwrap();
        assert_eq!(text.matches("for (").count(), 2);
        assert_eq!(text.matches("found += ").count(), 2);
        let text = nest(6, 2).unwrap();
        // Words (1, 1), (1, 0), (0, 0).
        assert_eq!(text.matches("found += ").count(), 3);
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(nest(9, 1).is_some() && nest(7, 16).is_some());
        assert!(nest(10, 1).is_none() && nest(8, 16).is_none());
    }
}

//! Counts with their nouns.

use std::fmt::Display;

/// The noun, or the verb, for a count: the first form for one, else the second.
pub fn noun<'n, N: PartialEq + From<u8>>(count: N, one: &'n str, several: &'n str) -> &'n str {
    if count == N::from(1) { one } else { several }
}

/// A count with its noun, or with its verb.
///
/// ```
/// use gramer_base::counted::counted;
///
/// assert_eq!(counted(1u64, "vertex", "vertices"), "1 vertex");
/// assert_eq!(counted(0usize, "vertex", "vertices"), "0 vertices");
/// assert_eq!(counted(2u64, "is left out", "are left out"), "2 are left out");
/// ```
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    several: &str,
) -> String {
    format!("{count} {}", noun(count, one, several))
}

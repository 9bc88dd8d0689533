//! Products that the set core sums up for motifs of 5 vertices (`docs/reference/set-core.md`, section *5-motifs*).

use super::{PRODUCTS, QUARTER_ENTRIES, SIZE_BITS, size_quarters};

/// Of a connected set of three vertices, a and c beside b, the vertices outside it by the neighbours that they have in it: what
/// can be a factor of a product, by its code. The bits of a mask are a, b and c.
pub const FACTORS: [(&str, &[u8]); 12] = [
    ("none", &[]),
    ("a", &[1]),
    ("b", &[2]),
    ("c", &[4]),
    ("ends", &[1, 4]),
    ("one", &[1, 2, 4]),
    ("sides", &[3, 6]),
    ("two", &[3, 5, 6]),
    ("ab", &[3]),
    ("ac", &[5]),
    ("bc", &[6]),
    ("abc", &[7]),
];

/// The products of 5-motifs, by the names of their factors: four at a time, sixteen of a set without an edge a–c, then eight of
/// a triangle. A factor with itself is it times one less.
pub const FACTORS_OF: [[&str; 2]; PRODUCTS as usize] = [
    ["b", "b"],
    ["abc", "ends"],
    ["a", "c"],
    ["ac", "ac"],
    ["b", "ends"],
    ["abc", "sides"],
    ["a", "ab"],
    ["ac", "sides"],
    ["b", "sides"],
    ["abc", "ac"],
    ["ends", "sides"],
    ["bc", "ab"],
    ["b", "ac"],
    ["abc", "abc"],
    ["b", "abc"],
    ["bc", "c"],
    ["abc", "abc"],
    ["abc", "one"],
    ["ab", "ab"],
    ["ac", "ac"],
    ["none", "none"],
    ["abc", "two"],
    ["none", "none"],
    ["bc", "bc"],
];

/// Products of a set without the edge a–c.
pub const PRODUCTS_OPEN: usize = 16;

/// The code of a factor.
///
/// # Panics
/// If no product has that name.
pub fn factor(name: &str) -> u32 {
    FACTORS.iter().position(|(own, _)| *own == name).expect("a factor") as u32
}

/// Multipliers, each of which has a product in a cycle.
const MULTIPLIERS: usize = 4;
/// Bits of a factor's code.
const FACTOR_W: u32 = 4;
/// Sets of three vertices that are in flight between the map and the multipliers.
const TRIPLES: u32 = 16;

/// The numbers of the package that say it.
pub(super) fn numbers(number: &mut impl FnMut(&str, u32, &str)) {
    for (at, row) in FACTORS_OF.chunks(MULTIPLIERS).enumerate() {
        let codes =
            |side| row.iter().rev().fold(0, |all, pair| all << FACTOR_W | factor(pair[side]));
        let what =
            "codes of their factors, one for each multiplier: the first ones, then the second ones";
        let second = MULTIPLIERS as u32 * FACTOR_W;
        number(&format!("PRODUCTS_{at}"), codes(0) | codes(1) << second, what);
    }
    number("PRODUCTS_OPEN", PRODUCTS_OPEN as u32, "of them those of a set that is no triangle");
    number("MULTIPLIERS", MULTIPLIERS as u32, "that have a product each in a cycle");
    number("FACTOR_W", FACTOR_W, "bits of a factor's code");
    for (at, (name, masks)) in (0..).zip(FACTORS) {
        number(&format!("FACTOR_{}", name.to_uppercase()), at, "code of a factor");
        let bits = masks.iter().fold(0, |bits, &mask| bits | 1 << mask);
        number(&format!("MASKS_{at}"), bits, "a bit for each neighbour set that it adds up");
    }
    let most = size_quarters((1 << SIZE_BITS) - 1) * QUARTER_ENTRIES;
    number("NEAR_W", u32::BITS - most.leading_zeros(), "bits of a number of neighbours");
    number("TRIPLES", TRIPLES, "sets that are under way behind the map");
}

//! Random filters of the user's.

use gramer::accelerator::filter::{beat, length};
use gramer::pattern::Filter;
use gramer_machine::Accelerator;

/// A random filter that the machine has room for: `None` for one without a filter program, and in two of three cases.
pub fn random_filter(rng: &mut fastrand::Rng, a: &Accelerator) -> Option<Filter> {
    let most = a.applications.filter_words as usize;
    if most == 0 || rng.u32(..3) > 0 {
        return None;
    }
    loop {
        let conditions: Vec<String> = (0..rng.usize(1..=3)).map(|_| condition(rng, a)).collect();
        // Conditions that no pair meets are refused, those that all meet are not.
        let Ok(filter) = conditions.join(", ").parse::<Filter>() else { continue };
        if length(&filter) <= most {
            return Some(filter);
        }
    }
}

fn condition(rng: &mut fastrand::Rng, a: &Accelerator) -> String {
    let comparisons: Vec<String> = (0..rng.usize(1..=3)).map(|_| comparison(rng, a)).collect();
    comparisons.join(" or ")
}

fn comparison(rng: &mut fastrand::Rng, a: &Accelerator) -> String {
    let (u, v) = if rng.bool() { ("u", "v") } else { ("v", "u") };
    let sign = ["==", "!=", "<", "<=", ">", ">="][rng.usize(..6)];
    let not = if rng.u32(..4) == 0 { "not " } else { "" };
    let (attribute, number) = match rng.bool() {
        true => ("label", rng.u32(..1 << a.applications.label_bits)),
        false => ("degree", rng.u32(..9)),
    };
    match rng.u32(..8) {
        0 => format!("{not}adjacent({u}, {v})"),
        1 => format!("{not}{number} {sign} {attribute}({u})"),
        2 => format!("{not}{attribute}({u}) {sign} {number}"),
        3 => size(rng),
        _ => format!("{not}{attribute}({u}) {sign} {attribute}({v})"),
    }
}

/// A comparison with the size. Most hold for small embeddings, as no larger one is reached otherwise.
fn size(rng: &mut fastrand::Rng) -> String {
    let number = rng.u32(2..13);
    match rng.u32(..8) {
        0 => format!("size > {number}"),
        1 => format!("size < {number}"),
        2 => format!("not size >= {number}"),
        3 => format!("{number} > size"),
        4 => format!("not {number} == size"),
        5 => format!("{number} >= size"),
        _ => format!("size != {number}"),
    }
}

/// The words of a filter, in a graph that has every label of the machine.
pub fn words(a: &Accelerator, filter: &Filter) -> Vec<u64> {
    let labels: Vec<u32> = (0..1 << a.applications.label_bits).collect();
    let words = beat(a, filter, &labels);
    let words = words.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().expect("8 bytes")));
    words.take(length(filter)).collect()
}

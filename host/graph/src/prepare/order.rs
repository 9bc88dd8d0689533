//! The order of vertices by their occurrence numbers.

use std::cmp::Reverse;

use super::fill;
use crate::VertexId;
use gramer_base::context::{Cancel, CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::{collected, with_room, zeroed};

/// Vertices from which on a part for each thread pays.
const MANY: usize = if cfg!(test) { 1 << 6 } else { 1 << 17 };
/// Bits of an occurrence number's significand in a key. Below 2^25 a key is the number.
const DIGITS: u32 = 25;
/// Bits of an occurrence number in a key.
const KEY: u32 = 31;
/// Bits of the key for each pass of the radix sort.
const BITS: u32 = 11;
/// Keys between looks at the stop flag.
const STEP: usize = 1 << 16;

/// The vertices by falling occurrence number, ties by number: element r has rank r.
///
/// # Errors
/// [`gramer_base::Error::Interrupted`] if the run was cancelled.
pub fn by_occurrence(on: &[u128], context: &Context) -> Result<Vec<VertexId>> {
    ranked(on.len(), |v| on[v], context)
}

/// Returns the order of this number of vertices, by their occurrence numbers.
pub(crate) fn ranked(
    vertices: usize,
    on: impl Fn(usize) -> u128 + Sync,
    context: &Context,
) -> Result<Vec<VertexId>> {
    let parts = if vertices < MANY { 1 } else { context.threads() };
    let share = vertices.div_ceil(parts).max(1);
    let mut sorted: Vec<Result<Vec<u64>>> = (0..parts).map(|_| Ok(vec![])).collect();
    fill(
        &mut sorted,
        1,
        context,
        || (),
        |(), part| {
            let own = (part * share).min(vertices)..((part + 1) * share).min(vertices);
            let key = |v: usize| u64::from(!rounded(on(v)) & ((1 << KEY) - 1)) << 32 | v as u64;
            let mut keys = with_room(own.len())?;
            keys.extend(own.map(key));
            by_radix(keys, &context.cancel)
        },
    )?;
    let mut sorted = sorted.into_iter().collect::<Result<Vec<_>>>()?;
    let keys = if parts == 1 { sorted.swap_remove(0) } else { merged(&sorted, context)? };
    let mut order = collected(keys.iter().map(|&key| key as VertexId))?;
    // Numbers of the same key may differ by less than it tells.
    let (mut first, mut looks) = (0, CancelPoll::new(&context.cancel));
    for run in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
        looks.check(run.len())?;
        let part = &mut order[first..first + run.len()];
        if part.len() > 1 && on(part[0] as usize) >> DIGITS != 0 {
            part.sort_unstable_by_key(|&v| (Reverse(on(v as usize)), v));
        }
        first += run.len();
    }
    Ok(order)
}

/// A number rounded down to [`DIGITS`] binary digits and an exponent; monotonic.
fn rounded(on: u128) -> u32 {
    let shift = (128 - on.leading_zeros()).saturating_sub(DIGITS);
    (shift << (DIGITS - 1)) + (on >> shift) as u32
}

/// Radix sort of keys by their upper halves, from the lowest bits; sorts completely if the keys arrive in the order of
/// their lower halves.
fn by_radix(mut keys: Vec<u64>, cancel: &Cancel) -> Result<Vec<u64>> {
    const PASSES: usize = KEY.div_ceil(BITS) as usize;
    let digit = |key: u64, pass: usize| (key >> (32 + pass as u32 * BITS)) as usize % (1 << BITS);
    let mut ends = vec![[0usize; 1 << BITS]; PASSES];
    for part in keys.chunks(STEP) {
        cancel.check()?;
        for &key in part {
            (0..PASSES).for_each(|pass| ends[pass][digit(key, pass)] += 1);
        }
    }
    let mut spare = zeroed(keys.len())?;
    for (pass, ends) in ends.iter_mut().enumerate() {
        let mut before = 0;
        for end in &mut *ends {
            before += std::mem::replace(end, before);
        }
        for part in keys.chunks(STEP) {
            cancel.check()?;
            for &key in part {
                let end = &mut ends[digit(key, pass)];
                spare[*end] = key;
                *end += 1;
            }
        }
        std::mem::swap(&mut keys, &mut spare);
    }
    Ok(keys)
}

/// All keys of sorted parts in order, by ranges of about as many keys each.
fn merged(parts: &[Vec<u64>], context: &Context) -> Result<Vec<u64>> {
    let ranges = 8 * parts.len();
    let sample = |part: &Vec<u64>| -> Vec<u64> {
        (1..ranges).filter_map(|i| part.get(i * part.len() / ranges).copied()).collect()
    };
    let mut borders: Vec<u64> = parts.iter().flat_map(sample).collect();
    borders.sort_unstable();
    let border = |range: usize| match range {
        0 => 0,
        _ => borders.get(range * borders.len() / ranges).copied().unwrap_or(u64::MAX),
    };
    let mut merged: Vec<Vec<u64>> = vec![vec![]; ranges];
    fill(
        &mut merged,
        1,
        context,
        || (),
        |(), range| {
            let bounds =
                [border(range), if range + 1 < ranges { border(range + 1) } else { u64::MAX }];
            let mut keys = vec![];
            for part in parts {
                let [from, to] = bounds.map(|bound| part.partition_point(|&key| key < bound));
                keys.extend_from_slice(&part[from..to]);
            }
            // As many runs as parts, which the stable sort merges.
            keys.sort();
            keys
        },
    )?;
    Ok(merged.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn numbers_of_all_sizes_are_in_order(
            numbers in proptest::collection::vec((proptest::num::u128::ANY, 0u32..128), 0..300),
            few in proptest::bool::ANY,
            threads in 1usize..5,
        ) {
            // Many that differ in their last bits alone, and equal ones.
            let on: Vec<u128> = numbers
                .iter()
                .enumerate()
                .map(|(i, &(n, shift))| match (few, i % 3) {
                    (true, _) => (1 << (shift % 8 + 20)) + (n & 1),
                    (false, 0) => u128::MAX - (n & 3),
                    (false, _) => n >> shift,
                })
                .collect();
            let mut expected: Vec<VertexId> = (0..on.len() as VertexId).collect();
            expected.sort_by_key(|&v| (Reverse(on[v as usize]), v));
            let found = by_occurrence(&on, &Context::with_threads(threads)).unwrap();
            proptest::prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_key_grows_with_its_number() {
        let mut numbers = vec![];
        for bit in 0..128 {
            for near in 0..6 {
                numbers.extend([
                    (1u128 << bit).wrapping_sub(near),
                    (1u128 << bit).wrapping_add(near << (bit / 2)),
                ]);
            }
        }
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|w| rounded(w[0]) <= rounded(w[1])));
        assert_eq!(rounded((1 << DIGITS) - 1) + 1, rounded(1 << DIGITS));
        assert!(rounded(u128::MAX) < 1 << KEY);
    }
}

//! Frequent patterns of a level as bytes, for other processes.
//!
//! For each: the number of its candidate (u32) and its support (u64), then for each of its vertices the
//! domain's bits (u64 each, as many as the vertex's class needs), unless the level is the last one: domains are for
//! the next. All numbers are little-endian. What a candidate is need not be said: all processes have the same ones in
//! the same order.

use std::sync::Arc;

use gramer_base::error::{Error, Result};

use super::classes::Classes;
use super::domain::Domain;
use super::level::Frequent;
use super::{CandidateResult, SupportedPattern};
use crate::fsm::code::Small;

/// Serializes results.
pub(super) fn write(found: &[CandidateResult<SupportedPattern>], last: bool) -> Vec<u8> {
    let mut bytes = vec![];
    for (at, (frequent, support)) in found {
        bytes.extend((*at as u32).to_le_bytes());
        // A number of vertices.
        bytes.extend((*support as u64).to_le_bytes());
        for domain in frequent.domains.iter().filter(|_| !last) {
            // By far the most of it: word by word is several times as fast as byte by byte.
            domain.words().iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        }
    }
    bytes
}

/// Deserializes the results of all processes, in the order of candidates.
///
/// # Errors
/// [`Error::Device`] for bytes of another graph or task.
pub(super) fn read(
    of: (&Classes, &[Small]),
    all: &[Vec<u8>],
    last: bool,
) -> Result<Vec<SupportedPattern>> {
    let mut found: Vec<CandidateResult<SupportedPattern>> = vec![];
    for bytes in all {
        let mut bytes = &bytes[..];
        while !bytes.is_empty() {
            found.push(one(of, last, &mut bytes).ok_or_else(unlike)?);
        }
    }
    found.sort_by_key(|(at, _)| *at);
    match found.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        true => Ok(found.into_iter().map(|(_, found)| found).collect()),
        false => Err(unlike()),
    }
}

fn one(
    (rows, candidates): (&Classes, &[Small]),
    last: bool,
    bytes: &mut &[u8],
) -> Option<CandidateResult<SupportedPattern>> {
    let at = u32::from_le_bytes(*take(bytes)?) as usize;
    let support = u128::from(u64::from_le_bytes(*take(bytes)?));
    let code = *candidates.get(at)?;
    let domain = |i: usize, bytes: &mut &[u8]| {
        let class = rows.of(code.class(i));
        let (words, rest) = bytes.split_at_checked(8 * class.len().div_ceil(64))?;
        *bytes = rest;
        let words = words.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        Domain::with_words(class, words.collect()).map(Arc::new)
    };
    let vertices = if last { 0 } else { code.n() };
    let domains: Option<Vec<_>> = (0..vertices).map(|i| domain(i, bytes)).collect();
    Some((at, (Frequent { code, domains: domains? }, support)))
}

fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(first)
}

fn unlike() -> Error {
    Error::Device(
        "the processes don't mine the same graph: what one has found fits no other".into(),
    )
}

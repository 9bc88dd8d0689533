//! Levels of frequent pattern mining that are done together with other devices: whose candidates are whose,
//! and what was found as bytes.
//!
//! For each pattern: the number of its candidate (u32), its support (u128), and the words of its domains, as
//! many as its candidate says. All numbers are little-endian; all devices have the same candidates in the
//! same order.

use std::ops::Range;

use crate::Peers;
use gramer_base::error::{Error, Result};

/// The candidates of a level that are this device's, range by range; all in one range where it is alone.
pub struct Ranges<'a> {
    together: Option<&'a dyn Peers>,
    level: usize,
    all: usize,
    at_once: bool,
    over: bool,
}

impl<'a> Ranges<'a> {
    /// Creates the exchange for a level of `all` candidates.
    pub fn new(together: Option<&'a dyn Peers>, level: usize, all: usize) -> Self {
        Ranges { together, level, all, at_once: false, over: false }
    }

    /// Adapts the exchange to a device that examines all candidates of a range in one run ([`Peers::at_once`]).
    #[must_use]
    pub fn at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// The next ones; `None` when none are left.
    ///
    /// # Errors
    /// As [`Peers::next`].
    pub fn take(&mut self) -> Result<Option<Range<usize>>> {
        if self.over {
            return Ok(None);
        }
        let range = match self.together {
            Some(together) if self.at_once => together.at_once(self.level, self.all)?,
            Some(together) => together.next(self.level, self.all)?,
            None => {
                self.over = true;
                0..self.all
            }
        };
        Ok(Some(range).filter(|range| !range.is_empty()))
    }
}

/// A frequent pattern and its domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrequentDomains {
    /// Index among the candidates.
    pub candidate: usize,
    /// Support.
    pub support: u128,
    /// Concatenated domains.
    pub words: Vec<u32>,
}

/// Exchanges the results of a level with all members; returns all results in the order of candidates. `words` is the
/// number of words in a candidate's domains.
///
/// # Errors
/// As [`Peers::join`]; [`Error::Device`] for data that fit no candidate.
pub fn join(
    together: &dyn Peers,
    level: usize,
    found: &[FrequentDomains],
    all: usize,
    words: impl Fn(usize) -> usize,
) -> Result<Vec<FrequentDomains>> {
    let mut bytes = vec![];
    for one in found {
        bytes.extend((one.candidate as u32).to_le_bytes());
        bytes.extend(one.support.to_le_bytes());
        bytes.extend(one.words.iter().flat_map(|word| word.to_le_bytes()));
    }
    let mut joined = vec![];
    for bytes in together.join(level, bytes)? {
        let mut bytes = &bytes[..];
        while !bytes.is_empty() {
            joined.push(read(&mut bytes, all, &words).ok_or_else(unlike)?);
        }
    }
    joined.sort_by_key(|one: &FrequentDomains| one.candidate);
    match joined.windows(2).all(|pair| pair[0].candidate < pair[1].candidate) {
        true => Ok(joined),
        false => Err(unlike()),
    }
}

fn read(bytes: &mut &[u8], all: usize, words: impl Fn(usize) -> usize) -> Option<FrequentDomains> {
    let candidate = u32::from_le_bytes(*take(bytes)?) as usize;
    let support = u128::from_le_bytes(*take(bytes)?);
    if candidate >= all {
        return None;
    }
    let words = (0..words(candidate)).map(|_| take(bytes).copied().map(u32::from_le_bytes));
    Some(FrequentDomains { candidate, support, words: words.collect::<Option<_>>()? })
}

fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(first)
}

fn unlike() -> Error {
    Error::Device(
        "the devices don't mine the same graph: what one has found fits no other's candidates"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Peers that return other data than they received.
    struct Other(Vec<u8>);

    impl Peers for Other {
        fn threads(&self) -> usize {
            1
        }

        fn next(&self, _: usize, all: usize) -> Result<Range<usize>> {
            Ok(all..all)
        }

        fn join(&self, _: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
            Ok(vec![self.0.clone(), found])
        }
    }

    #[test]
    fn what_fits_is_sorted_and_what_does_not_is_refused() {
        let own = FrequentDomains { candidate: 2, support: 7, words: vec![1, 2] };
        let mut theirs: Vec<u8> = 1u32.to_le_bytes().to_vec();
        theirs.extend((1u128 << 70).to_le_bytes());
        theirs.extend([5, 0, 0, 0, 6, 0, 0, 0]);
        let join = |other: &[u8], all| {
            join(&Other(other.to_vec()), 2, std::slice::from_ref(&own), all, |_| 2)
        };
        let first = FrequentDomains { candidate: 1, support: 1 << 70, words: vec![5, 6] };
        assert_eq!(join(&theirs, 3).unwrap(), [first, own.clone()]);
        assert!(join(&theirs[..theirs.len() - 1], 3).is_err());
        assert!(join(&theirs, 2).is_err());
        theirs[0] = 2;
        assert!(join(&theirs, 3).is_err());
        assert_eq!(Ranges::new(Some(&Other(vec![])), 2, 3).take().unwrap(), None);
        let mut alone = Ranges::new(None, 2, 3);
        assert_eq!((alone.take().unwrap(), alone.take().unwrap()), (Some(0..3), None));
    }
}

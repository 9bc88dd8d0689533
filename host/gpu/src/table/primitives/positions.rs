//! Places of vertices in an embedding.

use std::ops::{Range, RangeFull};

use gramer_base::error::{Error, Result};

use super::MOST_VERTICES;

/// Vertices of an embedding by their places in it, from 0: the order in which they came.
///
/// ```
/// use gramer_gpu::primitives::Positions;
///
/// let first: Positions = 0.into();
/// assert_eq!(first, Positions::from(0..1));
/// assert_ne!(Positions::from([0, 2]), Positions::from(..));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Positions(Selector);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Selector {
    All,
    Last,
    These(Vec<usize>),
}

impl Positions {
    /// Position of the vertex added last.
    pub fn last() -> Self {
        Positions(Selector::Last)
    }

    /// Positions of the set bits.
    pub(super) fn of_bits(bits: u32) -> Self {
        Positions(Selector::These((0..MOST_VERTICES).filter(|at| bits >> at & 1 == 1).collect()))
    }

    /// Encodes the positions as bits, for an embedding of this size.
    pub(super) fn of(&self, size: usize) -> Result<u32> {
        let refuse = |what: String| Err(Error::usage(what));
        match &self.0 {
            _ if size == 0 => refuse(
                "the first vertex has none before it: its filter can't name positions".into(),
            ),
            Selector::All => Ok((1 << size) - 1),
            Selector::Last => Ok(1 << (size - 1)),
            Selector::These(all) if all.is_empty() => {
                refuse("positions are needed and none is given; `..` names all".into())
            }
            Selector::These(all) => match all.iter().find(|&&at| at >= size) {
                Some(at) => refuse(format!(
                    "the position {at} isn't there: the embedding has {size} vertices, from 0"
                )),
                None => Ok(all.iter().fold(0, |bits, at| bits | 1 << at)),
            },
        }
    }

    /// Encodes the positions as bits, restricted to existing ones.
    pub(super) fn within(&self, size: usize) -> Result<u32> {
        match &self.0 {
            Selector::These(all) => {
                Positions(Selector::These(all.iter().copied().filter(|&at| at < size).collect()))
                    .of(size)
            }
            _ => self.of(size),
        }
    }
}

impl From<usize> for Positions {
    fn from(at: usize) -> Self {
        Positions(Selector::These(vec![at]))
    }
}

impl From<Range<usize>> for Positions {
    fn from(range: Range<usize>) -> Self {
        // What is beyond any embedding is named in the message, and not listed.
        let end = range.end.min(range.start.max(MOST_VERTICES).saturating_add(1));
        Positions(Selector::These((range.start..end).collect()))
    }
}

impl From<RangeFull> for Positions {
    fn from(_: RangeFull) -> Self {
        Positions(Selector::All)
    }
}

impl<const N: usize> From<[usize; N]> for Positions {
    fn from(all: [usize; N]) -> Self {
        let mut all = all.to_vec();
        all.sort_unstable();
        all.dedup();
        Positions(Selector::These(all))
    }
}

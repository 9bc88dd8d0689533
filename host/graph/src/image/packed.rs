//! Compressed rows: degrees, first neighbours and gaps as instantaneous codes in a stream of bits.
//!
//! Rows are coded one after the other in groups of similar size, each of which begins with a word of its
//! own and can be decoded alone. Of a row of vertex v there are
//!
//! 1. its number of neighbours, in the code δ;
//! 2. if there are any, the first neighbour minus v, as a whole number ≥ 0 (2 d, or −2 d − 1 where d is
//!    negative), in the code δ;
//! 3. for each further neighbour, by how much it is larger than the one before, minus 1, in the code ζ₃.
//!
//! Codes are those of `dsi-bitstream`, little-endian: Elias, *Universal codeword sets and representations
//! of the integers*, 1975, for δ; Boldi and Vigna, *Codes for the World Wide Web*, 2005, for ζ.

use std::ops::Range;

use dsi_bitstream::prelude::{
    BitRead, BitSeek, BitWrite, BufBitReader, BufBitWriter, DeltaRead, DeltaWrite, LE,
    MemWordReader, MemWordWriterVec, ZetaRead, ZetaWrite,
};

use crate::{VertexId, View};
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::Result;

/// Entries and rows of a group, of all but the last at least: what is decoded in less than a millisecond.
const GROUP: usize = 1 << 14;

/// Table entry of a group: first row, number of entries in all earlier rows, and first word in the
/// stream.
pub(super) type GroupHead = [u64; 3];

/// The rows of a graph, compressed for an image.
///
/// ```
/// use gramer_base::context::Cancel;
/// use gramer_graph::{Builder, image};
///
/// let mut builder = Builder::new();
/// (0..1000).for_each(|v| builder.edge(v, v + 1));
/// let graph = builder.build();
/// let packed = image::PackedRows::new(&graph, &Cancel::default())?;
/// assert!(packed.bytes() < 4 * 2 * graph.edges());
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PackedRows {
    pub(super) groups: Vec<GroupHead>,
    pub(super) words: Vec<u32>,
}

impl PackedRows {
    /// Compresses the rows of a graph.
    ///
    /// # Errors
    /// [`gramer_base::Error::Interrupted`] once `cancel` is raised.
    pub fn new(graph: &crate::Graph, cancel: &Cancel) -> Result<Self> {
        let view = graph.view();
        let (mut groups, mut words) = (vec![], vec![]);
        let mut first = 0;
        while first < view.vertices() {
            cancel.check()?;
            let (entry, word) = (view.offsets[first], words.len() as u64);
            groups.push([first as u64, entry, word]);
            // By entries and rows, at least one row.
            let full = |v: &usize| view.offsets[*v] as usize - entry as usize + v - first >= GROUP;
            let last = (first + 1..view.vertices()).find(full).unwrap_or(view.vertices());
            encode(view, first..last, &mut words, cancel)?;
            first = last;
        }
        Ok(PackedRows { groups, words })
    }

    /// Bytes that the rows take in an image.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.groups[..]) + size_of_val(&self.words[..])
    }
}

/// Appends the rows of a group to a stream.
fn encode(view: View<'_>, rows: Range<usize>, to: &mut Vec<u32>, cancel: &Cancel) -> Result<()> {
    const MEMORY: &str = "memory takes every word";
    let mut looks = CancelPoll::new(cancel);
    let mut words = vec![];
    let mut bits = BufBitWriter::<LE, _>::new(MemWordWriterVec::new(&mut words));
    for v in rows {
        let row = view.neighbours(v as VertexId);
        looks.check(row.len() + 1)?;
        bits.write_delta(row.len() as u64).expect(MEMORY);
        let Some(&first) = row.first() else { continue };
        let difference = i64::from(first) - v as i64;
        bits.write_delta(((difference << 1) ^ (difference >> 63)) as u64).expect(MEMORY);
        for pair in row.windows(2) {
            bits.write_zeta3(u64::from(pair[1] - pair[0] - 1)).expect(MEMORY);
        }
    }
    bits.flush().expect(MEMORY);
    drop(bits);
    to.extend_from_slice(&words);
    Ok(())
}

/// Message for a stream that encodes no graph.
pub(super) const DAMAGED: &str = "its compressed rows are no rows of a graph";

/// Compressed rows as they lie in an image, with a table that makes sense.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    groups: &'a [GroupHead],
    words: &'a [u32],
    vertices: usize,
    entries: usize,
}

impl<'a> Rows<'a> {
    /// `None` if the table contradicts itself, the stream, or the size of the graph. Each row and entry takes
    /// a bit at least, so that nothing is larger than the stream allows.
    pub fn new(
        groups: &'a [GroupHead],
        words: &'a [u32],
        vertices: usize,
        entries: usize,
    ) -> Option<Self> {
        let rows = Rows { groups, words, vertices, entries };
        let first = if vertices == 0 { None } else { Some(&[0; 3]) };
        let ascends = |from: GroupHead, to: GroupHead| {
            let up = from[0] < to[0] && from[1] <= to[1] && from[2] < to[2];
            up && (to[0] - from[0]).saturating_add(to[1] - from[1])
                <= (to[2] - from[2]).saturating_mul(32)
        };
        let all = (0..groups.len()).all(|group| ascends(groups[group], rows.begin(group + 1)));
        let fits = vertices > 0 || (entries == 0 && words.is_empty());
        (groups.first() == first && all && fits).then_some(rows)
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Start of a group, or end of the last one.
    pub fn begin(&self, group: usize) -> GroupHead {
        let Rows { words, vertices, entries, .. } = *self;
        let end = [vertices as u64, entries as u64, words.len() as u64];
        self.groups.get(group).copied().unwrap_or(end)
    }

    /// Decodes a group: `ends` gets where each of its rows ends, `neighbours` the rows themselves; both are
    /// as long as the table says. What is decoded ascends in each row and is below the number of
    /// vertices.
    ///
    /// # Errors
    /// [`DAMAGED`].
    pub fn decode(
        &self,
        group: usize,
        ends: &mut [u64],
        neighbours: &mut [VertexId],
    ) -> Result<(), &'static str> {
        let ([first_row, first_entry, first_word], [.., end]) =
            (self.begin(group), self.begin(group + 1));
        let words = &self.words[first_word as usize..end as usize];
        // Zeros follow the stream, which are no code.
        let mut bits = Bits::new(MemWordReader::new_inf(words));
        let mut at = 0usize;
        for (v, end_of_row) in (first_row..).zip(ends) {
            let degree = delta(&mut bits)?;
            let row = usize::try_from(degree).ok().and_then(|d| at.checked_add(d));
            let row = row.and_then(|next| neighbours.get_mut(at..next)).ok_or(DAMAGED)?;
            at += row.len();
            *end_of_row = first_entry + at as u64;
            let Some((first, others)) = row.split_first_mut() else { continue };
            let folded = delta(&mut bits)?;
            let difference = (folded >> 1) as i64 ^ -((folded & 1) as i64);
            let value = (v as i64).checked_add(difference).ok_or(DAMAGED)?;
            let mut last = u64::try_from(value).map_err(|_| DAMAGED)?;
            if last >= self.vertices as u64 {
                return Err(DAMAGED);
            }
            *first = last as VertexId;
            for other in others {
                last += zeta(&mut bits)? + 1;
                if last >= self.vertices as u64 {
                    return Err(DAMAGED);
                }
                *other = last as VertexId;
            }
        }
        let used = bits.bit_pos().map_err(|_| DAMAGED)?;
        let whole = at == neighbours.len() && used.div_ceil(32) == words.len() as u64;
        if whole { Ok(()) } else { Err(DAMAGED) }
    }
}

type Bits<'a> = BufBitReader<LE, MemWordReader<u32, &'a [u32], true>>;

/// A number in the code δ, below 2^63. The unary part of a longer one would have more zeros.
#[inline(always)]
fn delta(bits: &mut Bits<'_>) -> Result<u64, &'static str> {
    if bits.peek_bits(6).map_err(|_| DAMAGED)? == 0 {
        return Err(DAMAGED);
    }
    bits.read_delta().map_err(|_| DAMAGED)
}

/// A number in the code ζ₃, below 2^36.
#[inline(always)]
fn zeta(bits: &mut Bits<'_>) -> Result<u64, &'static str> {
    if bits.peek_bits(12).map_err(|_| DAMAGED)? == 0 {
        return Err(DAMAGED);
    }
    bits.read_zeta3().map_err(|_| DAMAGED)
}

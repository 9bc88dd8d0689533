//! graph6 and sparse6, as nauty and NetworkX write them: one graph in a line of printable bytes.

use std::io::{self, BufRead, Write};

use super::Sink;
use super::fields::VertexNumbers;
use crate::Graph;
use gramer_base::counted::counted;
use gramer_base::error::{Result, quote};

const DENSE: &[u8] = b">>graph6<<";
const SPARSE: &[u8] = b">>sparse6<<";

pub(super) fn is_graph6(head: &[u8]) -> bool {
    head.starts_with(DENSE)
}

pub(super) fn is_sparse6(head: &[u8]) -> bool {
    head.starts_with(SPARSE)
}

/// The bytes of the only graph, six bits each, without the head and the mark behind it.
fn sixes(
    input: &mut dyn BufRead,
    sink: &mut Sink<'_>,
    head: &[u8],
    mark: &[u8],
) -> Result<Vec<u8>> {
    let mut lines = sink.lines(input);
    let Some((_, line)) = lines.next()? else { return Err(sink.fault("holds no graph")) };
    let line = line.strip_prefix(head).unwrap_or(line);
    let Some(line) = line.strip_prefix(mark) else {
        return Err(sink.fault_at(1, "a graph of sparse6 begins with `:`"));
    };
    if let Some(byte) = line.iter().find(|byte| !(63..127).contains(*byte)) {
        let what =
            format!("{} is not a byte of this format, which has those from ? to ~", quote([*byte]));
        return Err(sink.fault_at(1, what));
    }
    let bytes = line.to_vec();
    if let Some((line, _)) = lines.next()? {
        let what =
            "a second graph begins here, but one file is one graph; one of them: sed -n 2p FILE";
        return Err(sink.fault_at(line, what));
    }
    if !lines.is_ended() {
        sink.note(crate::read::scan::NO_NEWLINE);
    }
    Ok(bytes)
}

/// The number of vertices, and the bytes behind it.
fn size(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |n, byte| n << 6 | u64::from(byte - 63));
    let (from, length) = match bytes {
        [b'~', b'~', ..] => (2, 6),
        [b'~', ..] => (1, 3),
        _ => (0, 1),
    };
    let (own, rest) = bytes.get(from..)?.split_at_checked(length)?;
    Some((number(own), rest))
}

const CUT: &str = "the number of vertices is cut off";

pub(super) fn read_graph6(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let bytes = sixes(input, sink, DENSE, b"")?;
    let Some((vertices, rest)) = size(&bytes) else { return Err(sink.fault_at(1, CUT)) };
    let bits = u128::from(vertices) * u128::from(vertices.saturating_sub(1)) / 2;
    if bits.div_ceil(6) != rest.len() as u128 {
        let what = format!(
            "a graph of {} has {}, but {}: the file is cut off, or is not graph6",
            counted(vertices, "vertex", "vertices"),
            counted(bits.div_ceil(6), "byte", "bytes"),
            counted(rest.len(), "follows", "follow")
        );
        return Err(sink.fault_at(1, what));
    }
    // The size of the text has been checked against this number.
    let own: Vec<u64> = (0..vertices)
        .map(|v| sink.vertex(itoa::Buffer::new().format(v).as_bytes()))
        .collect::<Result<_>>()?;
    // The columns of the upper triangle, one after the other.
    let mut bit = 0usize;
    for v in 1..own.len() {
        for u in 0..v {
            if (rest[bit / 6] - 63) >> (5 - bit % 6) & 1 == 1 {
                sink.edge(own[u], own[v], None)?;
            }
            bit += 1;
        }
    }
    Ok(())
}

pub(super) fn read_sparse6(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let bytes = sixes(input, sink, SPARSE, b":")?;
    let Some((vertices, rest)) = size(&bytes) else { return Err(sink.fault_at(1, CUT)) };
    let width = width(vertices);
    let mut bits =
        rest.iter().flat_map(|byte| (0..6).rev().map(move |at| u64::from((byte - 63) >> at & 1)));
    let mut v = 0;
    // A bit that goes to the next vertex, and a number: of an end, or of the vertex to go to.
    while let Some(step) = bits.next() {
        let number: Vec<u64> = bits.by_ref().take(width).collect();
        if number.len() < width {
            // The last byte is filled with ones.
            if number.contains(&0) {
                return Err(sink.fault_at(1, "the last edge is cut off"));
            }
            break;
        }
        let number = number.iter().fold(0, |n, bit| n << 1 | bit);
        v += step;
        if number >= vertices || v >= vertices {
            break;
        }
        if number > v {
            v = number;
        } else {
            let ends =
                [number, v].map(|end| sink.vertex(itoa::Buffer::new().format(end).as_bytes()));
            let [source, target] = ends;
            sink.edge(source?, target?, None)?;
        }
    }
    VertexNumbers { first: 0, count: vertices, line: 1 }.declare(sink)
}

/// Bits of a number of a vertex.
fn width(vertices: u64) -> usize {
    (64 - vertices.saturating_sub(1).leading_zeros()).max(1) as usize
}

/// Bits, six to a byte.
struct Bits<'a> {
    out: &'a mut dyn Write,
    byte: u8,
    count: u8,
}

impl Bits<'_> {
    fn push(&mut self, bit: bool) -> io::Result<()> {
        self.byte = self.byte << 1 | u8::from(bit);
        self.count += 1;
        if self.count == 6 {
            self.out.write_all(&[self.byte + 63])?;
            (self.byte, self.count) = (0, 0);
        }
        Ok(())
    }

    fn number(&mut self, number: u64, width: usize) -> io::Result<()> {
        (0..width).rev().try_for_each(|at| self.push(number >> at & 1 == 1))
    }

    /// Begins with the number of vertices.
    fn size(&mut self, vertices: u64) -> io::Result<()> {
        match vertices {
            0..63 => self.number(vertices, 6),
            63..258_048 => self.number(63, 6).and_then(|()| self.number(vertices, 18)),
            _ => self.number(63 << 6 | 63, 12).and_then(|()| self.number(vertices, 36)),
        }
    }
}

pub(super) fn write_graph6(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    out.write_all(DENSE)?;
    let mut bits = Bits { out, byte: 0, count: 0 };
    bits.size(graph.vertices() as u64)?;
    for v in 0..graph.vertices() as u32 {
        let mut neighbours = graph.view().neighbours(v).iter().copied().peekable();
        for u in 0..v {
            bits.push(neighbours.next_if_eq(&u).is_some())?;
        }
    }
    while bits.count > 0 {
        bits.push(false)?;
    }
    writeln!(bits.out)
}

pub(super) fn write_sparse6(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    out.write_all(SPARSE)?;
    out.write_all(b":")?;
    let vertices = graph.vertices() as u64;
    let width = width(vertices);
    let mut bits = Bits { out, byte: 0, count: 0 };
    bits.size(vertices)?;
    let mut at = 0;
    for v in 0..graph.vertices() as u32 {
        for &u in graph.view().neighbours(v).iter().take_while(|&&u| u < v) {
            let v = u64::from(v);
            if v > at + 1 {
                bits.push(true)?;
                bits.number(v, width)?;
                bits.push(false)?;
            } else {
                bits.push(v == at + 1)?;
            }
            at = v;
            bits.number(u.into(), width)?;
        }
    }
    // Ones alone could read as a loop of the last vertex.
    let left = (6 - bits.count) % 6;
    if usize::from(left) > width && vertices == 1 << width && at + 2 == vertices {
        bits.push(false)?;
    }
    while bits.count > 0 {
        bits.push(true)?;
    }
    writeln!(bits.out)
}

//! Formats of `t`, `v` and `e` lines.
//!
//! - GraMi/gSpan `.lg`: `t # 1`, `v id label`, `e u v [label]`.
//! - `.graph` of subgraph-matching programs: `t V E`, `v id label [degree]`, `e u v [label]`; or
//!   `t 0 V` (igraph style), when V is the number of `v` lines. Counts are checked, and whether the
//!   degrees add up to twice the edges.
//!
//! Some programs write `t # 0 0` and `v id label -1`, which say nothing more. A second label of a vertex is
//! refused.
//!
//! Every vertex has a `v` line and exists even without an edge. Either all edges have a label or
//! none has. Labels of edges with decimals are weights (as in GraMi's citeseer): then no edge
//! gets a label. `t # -1` ends a graph; what follows is not read.

use std::collections::HashMap;

use super::chunk::{
    Chunk, Declaration, EdgeLines, FinishContext, Parser, SecondNumber, gather_declared,
};
use super::scan::{self, Digits, Fault, fields, is_comment, is_number, quote};
use crate::{Builder, Label, NO_LABEL};
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// The `t` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// `t # 1`, or no `t` line.
    Number,
    /// `t a b`: V and E, or 0 and V.
    Counts(u64, u64),
}

/// A file of `t`, `v` and `e` lines.
pub(crate) struct Records {
    head: Head,
    /// Line of the `t` line in the file, from 1; 0 without.
    line: u64,
}

impl Records {
    /// The parser for a file whose head this is, and how many bytes of it aren't body.
    pub fn header(head: &[u8]) -> Result<(Self, usize), Fault> {
        for (number, (at, line)) in (1..).zip(scan::lines(head)) {
            if line.is_empty() || is_comment(line) {
                continue;
            }
            let columns: Vec<&[u8]> = fields(line).collect();
            if columns[0] != b"t" {
                return Ok((Records { head: Head::Number, line: 0 }, at));
            }
            let parsed = match columns[1..] {
                [b"#"] | [b"#", _] | [b"#", _, _] => Some(Head::Number),
                [a, b] => scan::count(a).zip(scan::count(b)).map(|(a, b)| Head::Counts(a, b)),
                _ => None,
            };
            let body = super::edges::line_end(head, at);
            return match parsed {
                Some(parsed) => Ok((Records { head: parsed, line: number }, body)),
                None => Err(Fault {
                    at,
                    what: format!(
                        "{} is not a head of a graph: `t # 1` (.lg) or `t V E` is",
                        quote(line)
                    ),
                }),
            };
        }
        Ok((Records { head: Head::Number, line: 0 }, head.len()))
    }

    fn line(&self, line: &[u8], number_of_line: u32, chunk: &mut Chunk) -> Result<(), String> {
        let mut columns = fields(line);
        let kind = columns.next().unwrap_or_default();
        let mut next = || columns.next();
        match kind {
            b"v" => {
                let id = scan::id(next().ok_or("the vertex id is missing")?)?;
                let label = scan::label(next().ok_or("the label is missing (`v id label`)")?)?;
                if let Some(second) = next().filter(|second| *second != b"-1") {
                    let number = scan::count(second)
                        .ok_or_else(|| format!("{} is not a degree", quote(second)))?;
                    chunk.seconds.push(SecondNumber { id, number, line: number_of_line });
                }
                chunk.declared.push(Declaration { id, label, line: number_of_line });
            }
            b"e" => {
                let mut end = || {
                    let end = next().ok_or("an edge needs two vertex ids (`e u v [label]`)");
                    end.map_err(String::from).and_then(scan::id)
                };
                let (u, v) = (end()?, end()?);
                let label = match next() {
                    None => {
                        chunk.first_unlabelled.get_or_insert(number_of_line);
                        0
                    }
                    Some(label) => {
                        chunk.first_labelled.get_or_insert(number_of_line);
                        if is_weight(label) {
                            chunk.first_decimal.get_or_insert(number_of_line);
                            0
                        } else {
                            scan::label(label)?
                        }
                    }
                };
                chunk.edge_lines.record(chunk.edges.len(), number_of_line);
                chunk.edges.push(u, v);
                chunk.edges.labels.push(label);
            }
            // The mark at the end of a gSpan file.
            b"t" if next() == Some(b"#") && next() == Some(b"-1") => {
                chunk.end = Some(number_of_line)
            }
            b"t" => {
                return Err(SECOND_GRAPH.into());
            }
            _ => return Err("lines begin with `v` or `e`".into()),
        }
        match columns.next() {
            None => Ok(()),
            Some(b"-1") if kind == b"v" && columns.next().is_none() => {
                Err(SEVERAL_LABELS.to_string())
            }
            Some(extra) if kind == b"v" && scan::count(extra).is_some() => {
                Err(SEVERAL_LABELS.to_string())
            }
            Some(extra) => Err(format!("{} is too much", quote(extra))),
        }
    }
}

/// A line as programs write it: `v` or `e` and two or three numbers, with one space before each and nothing behind
/// the last.
struct PlainLine {
    kind: u8,
    numbers: [u64; 2],
    third: Option<u64>,
    /// Where the next line begins.
    end: usize,
}

impl PlainLine {
    /// The line that begins at `at`; `None` for any other, which [`Records::line`] reads or refuses.
    #[inline]
    fn at(text: &[u8], at: usize) -> Option<Self> {
        let kind = text[at];
        if !matches!(kind, b'v' | b'e') {
            return None;
        }
        let number = |at: usize| match scan::digits(text, at + 1) {
            Digits::Number(value, end) if text.get(at) == Some(&b' ') => {
                text.get(end).map(|next| (value, end, *next))
            }
            _ => None,
        };
        let (first, end, _) = number(at + 1).filter(|(_, _, next)| *next == b' ')?;
        let (second, mut end, mut next) = number(end)?;
        let mut third = None;
        if next == b' ' {
            let (value, behind, byte) = number(end)?;
            (third, end, next) = (Some(value), behind, byte);
        }
        let label = if kind == b'v' { Some(second) } else { third };
        let fits = label.is_none_or(|label| label < u64::from(NO_LABEL));
        (next == b'\n' && fits).then_some(PlainLine {
            kind,
            numbers: [first, second],
            third,
            end: end + 1,
        })
    }

    /// Adds the line's vertex or edge to a chunk.
    #[inline]
    fn keep(&self, line: u32, chunk: &mut Chunk) {
        let [first, second] = self.numbers;
        if self.kind == b'v' {
            chunk.declared.push(Declaration { id: first, label: second as Label, line });
            if let Some(number) = self.third {
                chunk.seconds.push(SecondNumber { id: first, number, line });
            }
            return;
        }
        match self.third {
            Some(_) => chunk.first_labelled.get_or_insert(line),
            None => chunk.first_unlabelled.get_or_insert(line),
        };
        chunk.edge_lines.record(chunk.edges.len(), line);
        chunk.edges.push(first, second);
        chunk.edges.labels.push(self.third.unwrap_or(0) as Label);
    }
}

/// Whether the label of an edge is a number with decimals.
pub(crate) fn is_weight(label: &[u8]) -> bool {
    is_number(label) && label.iter().any(|b| matches!(b, b'.' | b'e' | b'E'))
}

/// Why a second graph is refused.
pub(crate) const SECOND_GRAPH: &str = "a second graph begins, but this format holds one graph; the setting `format` \
                                       transactions reads several, or split the file at its `t` lines: awk '/^t/ {n++} \
                                       {print > (\"graph\" n \".lg\")}' FILE";

/// Why a vertex of several labels is refused.
pub(crate) const SEVERAL_LABELS: &str = "the vertex has several labels, but one is read; keep one, and write the degree or nothing \
                              behind it";

impl Records {
    /// Checks the numbers behind labels: they are degrees.
    fn check_degrees(&self, chunks: &[Chunk], end: &mut FinishContext) -> Result<()> {
        let seconds =
            || chunks.iter().flat_map(|c| c.seconds.iter().map(move |s| (c.first_line, s)));
        if seconds().next().is_none() {
            return Ok(());
        }
        let edges: u64 = chunks.iter().map(|c| c.edges.len() as u64).sum();
        let sum: u128 = seconds().map(|(_, second)| u128::from(second.number)).sum();
        if sum != 2 * u128::from(edges) || self.head == Head::Number {
            let mut degrees: HashMap<u64, u64> = HashMap::new();
            for chunk in chunks {
                chunk.edges.for_each(|u, v| {
                    [u, v].iter().for_each(|end| *degrees.entry(*end).or_default() += 1)
                });
            }
            let other =
                seconds().find(|(_, s)| degrees.get(&s.id).copied().unwrap_or(0) != s.number);
            if let Some((first_line, &SecondNumber { id, number, line })) = other {
                let (line, degree) =
                    (first_line + u64::from(line), degrees.get(&id).copied().unwrap_or(0));
                if self.head == Head::Number {
                    let what = format!(
                        "{number} is not the degree of vertex {id}, which is {degree}: {SEVERAL_LABELS}"
                    );
                    return Err(end.fault_at(line, what));
                }
                end.notes.push(format!(
                    "the number behind a label is taken as the degree and ignored; at line {line} it is \
                     {number}, but vertex {id} has {}",
                    counted(degree, "edge", "edges")
                ));
            }
        }
        Ok(())
    }
}

impl Parser for Records {
    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        chunk.edge_lines = EdgeLines::with_step(1);
        let (mut at, mut number) = (0, 0);
        while at < text.len() {
            let whole = PlainLine::at(text, at).filter(|_| chunk.end.is_none());
            let end = match whole {
                Some(line) => {
                    line.keep(number, chunk);
                    line.end
                }
                None => {
                    let end = super::edges::line_end(text, at);
                    let line = scan::trim(&text[at..end]);
                    if line.is_empty() || is_comment(line) {
                        (at, number) = (end, number + 1);
                        continue;
                    }
                    if chunk.end.is_some() {
                        chunk.goes_on = true;
                        break;
                    }
                    scan::bare_return(line)
                        .map_or(Ok(()), Err)
                        .and_then(|()| self.line(line, number, chunk))
                        .map_err(|why| Fault {
                            at,
                            what: format!("{} is not a line of a t/v/e graph: {why}", quote(line)),
                        })?;
                    end
                }
            };
            (at, number) = (end, number + 1);
        }
        Ok(())
    }

    fn finish(&self, mut chunks: Vec<Chunk>, end: &mut FinishContext) -> Result<Builder> {
        if let Some(last) = chunks.last().filter(|c| c.goes_on)
            && let Some(line) = last.end
        {
            end.notes.push(format!(
                "line {}, `t # -1`, ends the graph: what follows it is ignored",
                last.first_line + u64::from(line)
            ));
        }
        let vertices: u64 = chunks.iter().map(|c| c.declared.len() as u64).sum();
        let edges: u64 = chunks.iter().map(|c| c.edges.len() as u64).sum();
        match self.head {
            Head::Counts(a, b) if (a, b) == (vertices, edges) || (a, b) == (0, vertices) => {}
            Head::Counts(a, b) => {
                let what = format!(
                    "the head says {} and {}, but {} and {} follow: the file is cut off or its head is wrong",
                    counted(a, "vertex", "vertices"),
                    counted(b, "edge", "edges"),
                    counted(vertices, "`v` line", "`v` lines"),
                    counted(edges, "`e` line", "`e` lines")
                );
                return Err(end.fault_at(self.line, what));
            }
            Head::Number if vertices == 0 => {
                return Err(end.fault("holds no vertex (no line `v id label`)"));
            }
            Head::Number => {}
        }
        let first = |of: fn(&Chunk) -> Option<u32>| {
            chunks.iter().find_map(|c| of(c).map(|line| c.first_line + u64::from(line)))
        };
        let labelled = first(|c| c.first_labelled);
        let unlabelled = first(|c| c.first_unlabelled);
        let decimal = first(|c| c.first_decimal);
        if let (Some(with), Some(without)) = (labelled, unlabelled) {
            let what = format!(
                "this edge has {} label, but the one at line {} has {}: all edges need one, or none",
                if with > without { "a" } else { "no" },
                with.min(without),
                if with > without { "none" } else { "one" },
            );
            return Err(end.fault_at(with.max(without), what));
        }
        // A label 0 on every edge is a placeholder, and means the same as no label.
        let all_zero = chunks.iter().all(|c| c.edges.labels.iter().all(|&l| l == 0));
        if let Some(line) = decimal {
            end.notes.push(format!(
                "the numbers on the edges have decimals (line {line}): they are weights and \
                 ignored, no edge has a label"
            ));
        } else if labelled.is_some() && all_zero {
            end.notes.push("every edge has label 0: edges count as unlabelled".into());
        }
        if labelled.is_none() || decimal.is_some() || all_zero {
            chunks.iter_mut().for_each(|c| c.edges.labels = Vec::new());
        }
        self.check_degrees(&chunks, end)?;
        gather_declared(chunks, end, "`v` line")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a block holds, or what is wrong with it.
    fn content(text: &str) -> Result<String, String> {
        let records = Records { head: Head::Number, line: 0 };
        let mut chunk = Chunk::default();
        records.block(text.as_bytes(), &mut chunk).map_err(|fault| fault.what)?;
        Ok(format!("{chunk:?}"))
    }

    fn field() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => (0u64..200).prop_map(|n| n.to_string()),
            2 => any::<u64>().prop_map(|n| n.to_string()),
            1 => (u32::MAX - 2..=u32::MAX).prop_map(|n| n.to_string()),
            1 => prop::sample::select(vec!["-1", "x", "", "1.5", "18446744073709551616", "0000000000000000007"])
                .prop_map(String::from),
        ]
    }

    proptest! {
        /// A space at a line's end makes it another than a plain one.
        #[test]
        fn plain_lines_are_read_as_all_others(
            lines in prop::collection::vec(
                ("[veeevt#]", prop::collection::vec(field(), 0..5)).prop_map(|(kind, fields)| {
                    fields.iter().fold(kind, |line, field| line + " " + field)
                }), 0..6),
            end in prop::bool::ANY,
        ) {
            let plain = lines.join("\n") + if end { "\n" } else { "" };
            let other = lines.join(" \n") + if end { " \n" } else { " " };
            prop_assert_eq!(content(&plain), content(&other));
        }
    }
}

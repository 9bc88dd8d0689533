//! METIS: `V E [fmt [ncon]]`, then one line of neighbours a vertex, numbered from 1.
//!
//! A blank line is a vertex without neighbours; `%` begins a comment. `fmt` is up to three
//! digits: vertex sizes, vertex weights, edge weights. Weights are whole numbers and the only
//! place of the format where labels can be: the first weight of a vertex becomes its label, the
//! weight of an edge becomes its label. Sizes and further vertex weights are ignored.
//! (METIS 5.1 manual, section 4.1.1.)

use super::chunk::{Chunk, FinishContext, Parser, gather};
use super::scan::{self, Fault, fields, quote};
use crate::Builder;
use crate::build::Pairs;
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// Content of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Metis {
    pub vertices: u64,
    pub edges: u64,
    pub sizes: bool,
    /// Weights of a vertex.
    pub weights: usize,
    pub edge_weights: bool,
    /// Line of the header, from 1.
    pub line: u64,
}

impl Metis {
    /// Reads a header line.
    pub fn parse(line: &[u8], number: u64) -> Option<Self> {
        let columns: Vec<&[u8]> = fields(line).collect();
        let counts: Vec<u64> = columns.iter().map_while(|c| scan::count(c)).collect();
        if counts.len() != columns.len() || !(2..=4).contains(&counts.len()) {
            return None;
        }
        let fmt = columns.get(2).copied().unwrap_or(b"0");
        if fmt.len() > 3 || !fmt.iter().all(|b| matches!(b, b'0' | b'1')) {
            return None;
        }
        let flag =
            |from_right: usize| fmt.len() > from_right && fmt[fmt.len() - 1 - from_right] == b'1';
        let weights = match counts.get(3) {
            Some(&count) => usize::try_from(count).ok()?,
            None => flag(1).into(),
        };
        if flag(1) && weights == 0 || weights > 1024 {
            return None;
        }
        Some(Metis {
            vertices: counts[0],
            edges: counts[1],
            sizes: flag(2),
            weights: if flag(1) { weights } else { 0 },
            edge_weights: flag(0),
            line: number,
        })
    }

    /// The parser for a file whose head this is, and how many bytes of it aren't body.
    pub fn header(head: &[u8]) -> Result<(Self, usize), Fault> {
        for (number, (at, line)) in scan::lines(head).enumerate() {
            if line.is_empty() || line[0] == b'%' {
                continue;
            }
            return match Self::parse(line, number as u64 + 1) {
                Some(metis) => Ok((metis, super::edges::line_end(head, at))),
                None => Err(Fault {
                    at,
                    what: format!("{} is not a METIS header `V E [fmt [ncon]]`", quote(line)),
                }),
            };
        }
        Err(Fault { at: 0, what: "there is no METIS header `V E [fmt [ncon]]`".into() })
    }

    /// Fields before the first neighbour.
    pub fn leading(&self) -> usize {
        usize::from(self.sizes) + self.weights
    }

    fn row(&self, line: &[u8], chunk: &mut Chunk) -> Result<(), String> {
        let row = chunk.rows;
        let mut columns = fields(line);
        // A blank row may leave its weights out.
        let mut label = 0;
        if !line.is_empty() {
            if self.sizes {
                columns.next();
            }
            for i in 0..self.weights {
                let weight = columns.next().ok_or("a vertex weight is missing")?;
                if i == 0 {
                    label = scan::label(weight)?;
                } else if scan::count(weight).is_none() {
                    return Err(format!("{} is not a vertex weight", quote(weight)));
                }
            }
        }
        if self.weights > 0 {
            chunk.row_labels.push(label);
        }
        while let Some(neighbour) = columns.next() {
            let id = scan::id(neighbour)?;
            if id == 0 || id > self.vertices {
                return Err(format!(
                    "neighbour {id} is not between 1 and {}, the number of vertices in the header",
                    self.vertices
                ));
            }
            // The number of the row follows once the rows before this block are known.
            chunk.edges.push(row, id);
            chunk.entries += 1;
            if self.edge_weights {
                let weight = columns.next().ok_or("the weight of the last edge is missing")?;
                chunk.edges.labels.push(scan::label(weight)?);
            }
        }
        Ok(())
    }
}

impl Parser for Metis {
    fn one_edge_a_line(&self) -> bool {
        false
    }

    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        for (number, (at, line)) in scan::lines(text).enumerate() {
            if line.first() == Some(&b'%') {
                continue;
            }
            scan::bare_return(line)
                .map_or(Ok(()), Err)
                .and_then(|()| self.row(line, chunk))
                .map_err(|why| Fault {
                    at,
                    what: format!("{} is not a METIS row: {why}", quote(line)),
                })?;
            if !line.is_empty() {
                chunk.last_row = Some((chunk.rows, number as u64));
            }
            chunk.rows += 1;
        }
        Ok(())
    }

    fn finish(&self, mut chunks: Vec<Chunk>, end: &mut FinishContext) -> Result<Builder> {
        let Metis { vertices, edges, .. } = *self;
        end.check_vertices(vertices, self.line)?;
        let (mut rows, mut entries, mut loops) = (0, 0, 0u64);
        for chunk in &mut chunks {
            if let Some((row, line)) = chunk.last_row
                && rows + row >= vertices
            {
                let what = format!(
                    "this is row {}, but the header (line {}) says {}",
                    rows + row + 1,
                    self.line,
                    counted(vertices, "vertex", "vertices")
                );
                return Err(end.fault_at(chunk.first_line + line, what));
            }
            let id = |row: u64| rows + row + 1;
            match &mut chunk.edges.pairs {
                Pairs::Narrow(pairs) => {
                    for p in pairs {
                        p[0] = id(p[0].into()) as u32;
                        loops += u64::from(p[0] == p[1]);
                    }
                }
                Pairs::Wide(_) => unreachable!("ids are at most the number of vertices"),
                Pairs::Spilled(_) => unreachable!("this format is read without a budget alone"),
            }
            rows += chunk.rows;
            entries += chunk.entries;
        }
        // The last row may be blank and without line end.
        if rows + 1 < vertices {
            let what = format!(
                "the header says {}, but {}: the file is cut off or its header is wrong",
                counted(vertices, "vertex", "vertices"),
                counted(rows, "row follows", "rows follow")
            );
            return Err(end.fault_at(self.line, what));
        }
        // A self loop is listed once, and counted or not.
        let wanted = 2 * u128::from(edges);
        let (found, loops) = (u128::from(entries), u128::from(loops));
        if found != wanted && found + loops != wanted && found != wanted + loops {
            let what = format!(
                "the header says {}, so {wanted} neighbours, but there are {entries}: the file is cut off, its header \
                 is wrong, or an edge is missing in one of its rows",
                counted(edges, "edge", "edges")
            );
            return Err(end.fault_at(self.line, what));
        }
        if self.sizes || self.weights > 1 {
            end.notes.push("only the first weight of a vertex is used, as its label".into());
        }
        let labels: Vec<u32> =
            chunks.iter_mut().flat_map(|c| std::mem::take(&mut c.row_labels)).collect();
        let mut builder = gather(chunks);
        builder.vertex_range(1..vertices + 1);
        if self.weights > 0 {
            for (id, label) in (1..=vertices).zip(labels) {
                builder.vertex_label(id, label);
            }
        }
        Ok(builder)
    }
}

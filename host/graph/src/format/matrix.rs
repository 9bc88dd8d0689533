//! Dense matrices of numbers: entry (i, j) other than zero is an edge. Columns and rows may have names.

use std::io::BufRead;

use super::Sink;
use crate::read::scan;
use gramer_base::counted::counted;
use gramer_base::error::{Result, quote};

/// The fields of a line, without quotes; a separator may end the line.
fn fields(line: &[u8], separator: Option<u8>) -> Vec<Vec<u8>> {
    let line = line.strip_suffix(separator.as_slice()).unwrap_or(line);
    let plain = |field: &[u8]| {
        let field = field.trim_ascii();
        let inner = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
        inner.map_or(field.to_vec(), |inner| {
            String::from_utf8_lossy(inner).replace("\"\"", "\"").into_bytes()
        })
    };
    match separator {
        Some(separator) => line.split(|&byte| byte == separator).map(plain).collect(),
        None => super::fields::words(line).map(plain).collect(),
    }
}

/// A mark that parts the fields of a line; `None` for white space.
fn separator(line: &[u8]) -> Option<u8> {
    [b'\t', b';', b'|', b','].into_iter().find(|mark| line.contains(mark))
}

/// The rows of a matrix.
struct Rows {
    /// The first line, if it holds no row.
    header: Option<Vec<Vec<u8>>>,
    /// Names of rows, if they have some.
    names: Vec<Vec<u8>>,
    columns: u64,
    rows: u64,
    /// Rows and columns of the entries other than zero.
    edges: Vec<[u32; 2]>,
    /// Whether other numbers than 0 and 1 came.
    weighted: bool,
}

impl Rows {
    fn of(input: &mut dyn BufRead, sink: &Sink<'_>) -> Result<Self> {
        let mut lines = sink.lines(input);
        let Some((_, first)) = lines.next()? else {
            return Err(sink.fault("holds no row of a matrix"));
        };
        let by = separator(first);
        let first = fields(first, by);
        let mut all = Rows {
            header: None,
            names: vec![],
            columns: 0,
            rows: 0,
            edges: vec![],
            weighted: false,
        };
        let is_name = |field: &Vec<u8>| !scan::is_number(field);
        let (mut width, mut named) = (0, false);
        // A first line without names is a row.
        let mut row = None;
        match first.iter().any(is_name) && is_header(&first) {
            true => all.header = Some(first),
            false => row = Some(first),
        }
        let mut at = 1;
        loop {
            let fields = match row.take() {
                Some(row) => row,
                None => match lines.next()? {
                    Some((line, text)) => {
                        at = line;
                        fields(text, by)
                    }
                    None => break,
                },
            };
            if all.rows == 0 {
                width = fields.len();
                let beside =
                    |header: &Vec<Vec<u8>>| header[0].is_empty() || header.len() + 1 == width;
                named =
                    fields.first().is_some_and(is_name) || all.header.as_ref().is_some_and(beside);
                all.columns = (width - usize::from(named)) as u64;
            }
            if fields.len() != width {
                let what = format!(
                    "this row has {}, but the first has {width}",
                    counted(fields.len(), "field", "fields")
                );
                return Err(sink.fault_at(at, what));
            }
            all.row(&fields, named).map_err(|what| sink.fault_at(at, what))?;
        }
        Ok(all)
    }

    fn row(&mut self, fields: &[Vec<u8>], named: bool) -> Result<(), String> {
        if named {
            self.names.push(fields[0].clone());
        }
        let row = u32::try_from(self.rows).map_err(|_| "there are more than 2^32 rows")?;
        for (column, field) in (0u32..).zip(&fields[usize::from(named)..]) {
            if !scan::is_number(field) {
                return Err(format!(
                    "{} is not a number: entries of a matrix are 0 or 1",
                    quote(field)
                ));
            }
            if !scan::is_zero(field) {
                self.weighted |= crate::read::whole(field) != Some(1);
                self.edges.push([row, column]);
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// The names of the vertices: of columns, else of rows, else their positions.
    fn vertices(&mut self, sink: &Sink<'_>) -> Result<Vec<Vec<u8>>> {
        let (rows, columns, names) = (self.rows, self.columns, std::mem::take(&mut self.names));
        let Some(mut header) = self.header.take() else {
            let positions = || (0..rows).map(|row| row.to_string().into_bytes()).collect();
            return Ok(if names.is_empty() { positions() } else { names });
        };
        header.drain(..header.len().saturating_sub(columns as usize));
        if header.len() as u64 != columns {
            return Err(sink.fault_at(
                1,
                format!(
                    "names {}, but there are {columns}",
                    counted(header.len(), "column", "columns")
                ),
            ));
        }
        let differs = names.iter().zip(&header).position(|(row, column)| row != column);
        if let Some(at) = differs.filter(|_| !is_counted(&names)) {
            let what = format!(
                "row {} is called {}, but that column {}: rows and columns are of two kinds",
                at + 1,
                quote(&names[at]),
                quote(&header[at])
            );
            return Err(sink.fault(what));
        }
        Ok(header)
    }
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut all = Rows::of(input, sink)?;
    let (rows, columns) = (all.rows, all.columns);
    if rows != columns {
        let what = format!(
            "the matrix has {}, but {}: the file is cut off, or rows and columns are of two kinds",
            counted(rows, "row", "rows"),
            counted(columns, "column", "columns")
        );
        return Err(sink.fault(what));
    }
    let names = all.vertices(sink)?;
    let own: Vec<u64> = names.iter().map(|name| sink.vertex(name)).collect::<Result<_>>()?;
    if sink.vertices() != rows {
        return Err(sink.fault("two columns of the matrix have the same name"));
    }
    let edges = all.edges;
    let mut reversed: Vec<[u32; 2]> = edges.iter().map(|[u, v]| [*v, *u]).collect();
    reversed.sort_unstable();
    let triangle = edges.iter().all(|[u, v]| u <= v) || edges.iter().all(|[u, v]| u >= v);
    if !triangle && reversed != edges {
        sink.directed();
    }
    for [u, v] in edges {
        sink.edge(own[u as usize], own[v as usize], None)?;
    }
    if all.weighted {
        sink.note("each number of the matrix other than zero is an edge: weights are left out");
    }
    Ok(())
}

/// Whether fields, of which some are no numbers, are names of columns: none is a number, or the corner is empty.
fn is_header(fields: &[Vec<u8>]) -> bool {
    fields[0].is_empty() || fields.iter().all(|field| !scan::is_number(field))
}

/// Whether names only count the rows, as R and pandas do.
fn is_counted(names: &[Vec<u8>]) -> bool {
    let counts = |from: u64| (from..).zip(names).all(|(i, name)| scan::count(name) == Some(i));
    counts(0) || counts(1)
}

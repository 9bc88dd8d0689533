//! The shape of a table: what separates its fields, whether its first row names the columns, and which columns hold
//! what.

use std::collections::HashSet;

use csv::ByteRecord;

use super::blanks::has_blanks_around;
use super::column::column;
use super::rows::Rows;
use crate::format::Sink;
use crate::read::names as column_names;
use crate::read::{Columns, Separator, is_number, says_ends, trim, unquoted};
use gramer_base::error::{Result, quote};

/// Rows that show the shape.
pub(in crate::format) const SAMPLE: usize = 100;

/// The shape of a table of edges.
#[derive(Debug)]
pub(in crate::format) struct Shape {
    pub separator: Separator,
    /// Fields of a row.
    pub width: usize,
    /// Whether the first row names the columns.
    pub header: bool,
    /// Columns of both ends, from 0.
    pub ends: (usize, usize),
    /// Column of the label of an edge.
    pub edge_label: Option<usize>,
    /// Column of the weight of an edge.
    pub weight: Option<usize>,
    /// Column of the time of an edge.
    time: Option<usize>,
    /// Whether white space around fields means nothing.
    pub trims: bool,
}

/// The first rows of a table.
pub(in crate::format) struct Sample {
    pub separator: Separator,
    pub rows: Vec<ByteRecord>,
    /// The line of the first row.
    pub line: u64,
    pub trims: bool,
    /// Whether the first row is the names of the columns, which are no line of a text.
    named: bool,
}

impl Sample {
    /// Names of columns and rows below them.
    #[cfg(feature = "columnar")]
    pub fn named(rows: Vec<ByteRecord>) -> Self {
        Sample { separator: Separator::Byte(b','), rows, line: 1, trims: false, named: true }
    }

    /// Finds what separates the fields of a text that begins so.
    pub fn of(sink: &Sink<'_>, text: &[u8]) -> Result<Self> {
        let told = text.strip_prefix(b"sep=").and_then(|rest| rest.first()).copied();
        if let Some(told) = told {
            return Self::by(sink, text, Separator::Byte(told));
        }
        let blanks = Self::by(sink, text, Separator::Blanks)?;
        // Attributes of NetworkX are in braces, with commas between them.
        let last = |row: &ByteRecord| row.get(row.len().max(1) - 1).unwrap_or_default().to_vec();
        let braces = |row: &ByteRecord| last(row).starts_with(b"{") && last(row).ends_with(b"}");
        if !blanks.rows.is_empty() && blanks.rows.iter().all(braces) {
            // Where a mark stands in front of the braces, names may hold blanks.
            let ends = |row: &ByteRecord| row.len() == 3 && braces(row);
            let marked =
                [b'\t', b';', b'|'].map(|byte| Self::by(sink, text, Separator::Byte(byte)));
            let found = marked.into_iter().flatten().find(|sample| sample.rows.iter().all(ends));
            return Ok(found.unwrap_or(blanks));
        }
        let mut others = vec![];
        let mut fault = None;
        for byte in [b'\t', b';', b'|', b','] {
            match Self::by(sink, text, Separator::Byte(byte)) {
                Ok(sample) => others.push(sample),
                // A quote of another separator seems to begin a field, and is never closed.
                Err(error) => fault = Some(error),
            }
        }
        let regular = |sample: &Self| sample.is_regular();
        let says_ends = |sample: &Self| sample.rows.first().is_some_and(says_ends_of);
        let found = others.iter().position(|sample| regular(sample) && says_ends(sample));
        if let Some(at) = found.or_else(|| others.iter().position(regular)) {
            return Ok(others.swap_remove(at));
        }
        match fault {
            None if blanks.is_regular() => Ok(blanks),
            // Rows that differ: what most of them agree on.
            None => Ok(others.into_iter().fold(blanks, |best, sample| {
                if sample.agreed() > best.agreed() { sample } else { best }
            })),
            Some(error) => Err(error),
        }
    }

    fn by(sink: &Sink<'_>, text: &[u8], separator: Separator) -> Result<Self> {
        let mut rest = text;
        let mut rows = Rows::new(&mut rest, separator, sink.path());
        let (mut found, mut first, mut row) = (vec![], 0, ByteRecord::new());
        while found.len() < SAMPLE {
            match rows.next(&mut row) {
                Ok(Some(line)) => {
                    if found.is_empty() {
                        first = line;
                    }
                    found.push(row.clone());
                }
                Ok(None) => break,
                // The quote may be closed behind the sample.
                Err(_) if found.len() > 1 => break,
                Err(error) => return Err(error),
            }
        }
        // The last row of a beginning may be cut off.
        if found.len() > 1 && found.len() < SAMPLE && !text.ends_with(b"\n") && text.len() > CUT {
            found.pop();
        }
        let trims = match separator {
            Separator::Byte(byte) => has_blanks_around(text, byte),
            Separator::Blanks => false,
        };
        Ok(Sample { separator, rows: found, line: first, trims, named: false })
    }

    /// Whether all rows have as many fields, two at least. A first row may have one less, over names of rows; a
    /// separator may end a row.
    fn is_regular(&self) -> bool {
        let width = self.width();
        width > 1
            && self.rows.iter().enumerate().all(|(i, row)| {
                row.len() == width
                    || row.len() == width + 1 && row.get(width) == Some(b"")
                    || i == 0 && self.rows.len() > 1 && row.len() > 1 && row.len() + 1 == width
            })
    }

    /// Rows with as many fields as the second one, if these are two at least.
    fn agreed(&self) -> usize {
        let width = self.width();
        if width < 2 { 0 } else { self.rows.iter().filter(|row| row.len() == width).count() }
    }

    /// Fields of the second row, which is not a header; of the first one if it is the only row.
    fn width(&self) -> usize {
        let row = self.rows.get(1).or(self.rows.first());
        row.map_or(0, |row| match row.len() {
            // A separator ends each row.
            n if n > 2 && self.rows.iter().all(|r| r.len() == n && r.get(n - 1) == Some(b"")) => {
                n - 1
            }
            n => n,
        })
    }

    /// Whether no two rows below the first have the same field in a column.
    fn is_unlike(&self, column: usize) -> bool {
        let mut seen = HashSet::new();
        self.rows.iter().skip(1).all(|row| seen.insert(self.field(row, column)))
    }

    /// The meaning of a field of a row.
    pub fn field<'r>(&self, row: &'r ByteRecord, column: usize) -> &'r [u8] {
        field(row.get(column), self.trims || self.separator == Separator::Blanks)
    }
}

/// Samples of this length or more may end within a row.
const CUT: usize = 64 << 10;

/// A field, empty where the row has none; with `trims` without white space and quotes around it.
#[inline]
pub(super) fn field(field: Option<&[u8]>, trims: bool) -> &[u8] {
    let field = field.unwrap_or_default();
    if trims { unquoted(trim(field)) } else { field }
}

/// Whether a row has usual names of both ends.
fn says_ends_of(row: &ByteRecord) -> bool {
    let line: Vec<&[u8]> = row.iter().collect();
    says_ends(&line.join(&b'\t'))
}

/// Whether a field may be a quantity, a time or nothing: no name.
pub(super) fn is_quantity(field: &[u8]) -> bool {
    let none = ["", "na", "n/a", "nan", "null", "none", "inf", "-inf", "true", "false"];
    let lower = field.to_ascii_lowercase();
    let marks = |b: &u8| b.is_ascii_digit() || b" -+.,:/TZeE%".contains(b);
    is_number(field)
        || none.iter().any(|none| none.as_bytes() == lower)
        || field.first().is_some_and(|b| b.is_ascii_digit() || b"+-.".contains(b))
            && field.iter().all(marks)
        || field.starts_with(b"{") && field.ends_with(b"}")
}

impl Shape {
    /// The shape of the table that begins with these rows. `forced` takes the first two columns where nothing says
    /// otherwise.
    pub fn of(
        sample: &Sample,
        columns: &Columns,
        forced: bool,
        sink: &mut Sink<'_>,
    ) -> Result<Self> {
        let width = sample.width();
        let Some(first) = sample.rows.first() else {
            return Err(sink.fault("holds no edge: every line is blank or a comment"));
        };
        let mut names: Vec<String> = (0..first.len())
            .map(|column| String::from_utf8_lossy(sample.field(first, column)).into_owned())
            .collect();
        let header = sample.named || is_header(sample, &names, columns);
        if header {
            // R writes no name over the names of its rows, no two of which are the same.
            if !sample.named && names.len() + 1 == width && sample.is_unlike(0) {
                names.insert(0, String::new());
            }
        } else {
            names.clear();
        }
        // Without names the first row shows the width.
        let width = if header { width } else { first.len().min(width.max(2)) };
        let mut shape = Shape {
            separator: sample.separator,
            width: width.max(names.len()),
            header,
            ends: (0, 1),
            edge_label: None,
            weight: None,
            time: None,
            trims: sample.trims || sample.separator == Separator::Blanks,
        };
        if shape.width < 2 {
            let shown = quote(first.as_slice());
            let what = format!(
                "{shown} is not an edge line: it has one column, but an edge has two ends, separated by white space, a \
                 comma, `;`, `|` or a tab"
            );
            return Err(sink.fault_at(sample.line, what));
        }
        let told = |name: &Option<String>, setting| {
            let name = name.as_ref();
            name.map(|name| column(&names, name, setting, shape.width, sink)).transpose()
        };
        (shape.weight, shape.time) =
            (told(&columns.weight, "weight")?, told(&columns.time, "time")?);
        shape.edge_label = match &columns.edge_label {
            Some(name) => Some(column(&names, name, "edge_label", shape.width, sink)?),
            None => {
                let plain: Vec<String> = names.iter().map(|n| column_names::plain(n)).collect();
                let free = |at: &usize| !shape.has_value(*at);
                column_names::EDGE_LABELS
                    .iter()
                    .find_map(|usual| plain.iter().position(|own| own == usual).filter(free))
            }
        };
        shape.ends = shape.find_ends(sample, &names, columns, forced, sink)?;
        let (u, v) = shape.ends;
        if let Some(label) = shape.edge_label.filter(|&label| label == u || label == v) {
            let what =
                format!("column {} is the label of an edge, and can't be an end of it", label + 1);
            return Err(sink.fault_at(sample.line, what));
        }
        let twice = |at: &usize| *at == u || *at == v || Some(*at) == shape.edge_label;
        if let Some(value) = shape.weight.filter(twice).or(shape.time.filter(twice)) {
            let what = format!(
                "column {} is named as weight or time, and can't be an end or the label of an edge",
                value + 1
            );
            return Err(sink.usage(what));
        }
        shape.edge_label = shape.edge_label.filter(|_| sink.options().edge_labels);
        if !header && !columns.any() && !forced {
            shape.check_whole(sample, sink)?;
        }
        shape.remark(&names, sample, sink);
        Ok(shape)
    }

    /// Whether a column is named as weight or time.
    fn has_value(&self, column: usize) -> bool {
        Some(column) == self.weight || Some(column) == self.time
    }

    /// The columns of both ends.
    fn find_ends(
        &self,
        sample: &Sample,
        names: &[String],
        columns: &Columns,
        forced: bool,
        sink: &mut Sink<'_>,
    ) -> Result<(usize, usize)> {
        let told = |of: &Option<String>, setting, sink: &mut Sink<'_>| match of {
            None => Ok(None),
            Some(name) => column(names, name, setting, self.width, sink).map(Some),
        };
        let source = told(&columns.source, "source", sink)?;
        let target = told(&columns.target, "target", sink)?;
        let usual = column_names::ends(names);
        match (source, target) {
            (Some(u), Some(v)) if u == v => {
                let what = "the setting `source` and the setting `target` name one column, but an edge has two ends";
                return Err(gramer_base::Error::usage(what));
            }
            (Some(u), Some(v)) => return Ok((u, v)),
            (Some(one), None) | (None, Some(one)) => {
                let other = match usual {
                    Some((u, v)) if one == u => v,
                    Some((u, v)) if one == v => u,
                    _ if self.width == 2 => 1 - one,
                    _ => {
                        let what = "the setting `source` and the setting `target` go together here: the names of the columns \
                                    don't say which is the other end";
                        return Err(gramer_base::Error::usage(what));
                    }
                };
                return Ok(if source.is_some() { (one, other) } else { (other, one) });
            }
            (None, None) => {}
        }
        let rows = &sample.rows[usize::from(self.header)..];
        let fields = |column: usize| rows.iter().map(move |row| sample.field(row, column));
        let quantities = |column: usize| fields(column).all(is_quantity);
        let numbers = |column: usize| fields(column).all(is_number);
        let value = names.len() == 2 && column_names::is_value(&names[0], &names[1]);
        let is_doubtful = self.is_doubtful(sample) && columns.edge_label.is_none();
        // Letters such as x and y name coordinates as well.
        let certain = column_names::usual_ends(names).is_some() || !is_doubtful;
        if let Some(ends) = usual.filter(|ends| certain && ends.1 < self.width) {
            return Ok(ends);
        }
        if names.len() == 3 && names[0].is_empty() && numbers(0) {
            return Ok((1, 2));
        }
        let mut free = (0..self.width)
            .filter(|&column| Some(column) != self.edge_label && !self.has_value(column));
        let ends = (free.next(), free.next());
        if let (Some(u), Some(v)) = ends
            && (forced || !value && !is_doubtful && free.all(quantities))
        {
            return Ok((u, v));
        }
        let shown = quote(sample.rows[0].iter().collect::<Vec<_>>().join(&b' ').as_slice());
        let what = if is_doubtful {
            format!(
                "{shown} may be a vertex with its properties, a row of a matrix, or an edge with a time in front: if two \
                 columns are the ends of an edge, name them with the setting `source` and the setting `target` (1 is \
                 the first column)"
            )
        } else if self.header {
            format!(
                "the columns {shown} don't say which hold the two ends of an edge: name them with the setting `source` and the setting `target`"
            )
        } else {
            format!(
                "{shown} has {} columns, of which more than two hold text: say which two are the ends of an edge with \
                 the setting `source` and the setting `target` (1 is the first column), and which is its label with the setting \
                 `edge_label`",
                self.width
            )
        };
        Err(sink.fault_at(sample.line, what))
    }

    /// Whether rows may be something else than edges: a name and what belongs to it, as vertices with their properties
    /// and rows of a matrix have it, or a time in front of two numbers.
    fn is_doubtful(&self, sample: &Sample) -> bool {
        let rows = &sample.rows[usize::from(self.header)..];
        let fields = |column: usize| rows.iter().map(move |row| sample.field(row, column));
        let quantities = |column: usize| fields(column).all(is_quantity);
        let numbers = |column: usize| fields(column).all(is_number);
        let behind = (1..self.width).all(quantities);
        let time =
            !self.header && quantities(0) && !numbers(0) && !fields(0).any(|f| f.ends_with(b":"));
        self.width > 2 && (!quantities(0) && behind || time && numbers(1) && numbers(2))
    }

    /// Refuses lines of code and the like: brackets that open in one field and close in another.
    fn check_whole(&self, sample: &Sample, sink: &Sink<'_>) -> Result<()> {
        let count = |field: &[u8], marks: &[u8]| field.iter().filter(|b| marks.contains(b)).count();
        for (row, line) in sample.rows.iter().zip(sample.line..) {
            for end in [self.ends.0, self.ends.1] {
                let field = sample.field(row, end);
                let reason = match field {
                    _ if count(field, b"([{") != count(field, b")]}") => "a bracket in it is open",
                    [.., b':'] => "a colon after a vertex begins a list of its neighbours",
                    [_, ..] if field.iter().all(u8::is_ascii_punctuation) => "it has only marks",
                    _ => continue,
                };
                let what = format!(
                    "{} is not an end of an edge: {reason}; if it is a name all the same, say which columns hold the ends \
                     with the setting `source` and the setting `target`",
                    quote(field)
                );
                return Err(sink.fault_at(line, what));
            }
        }
        Ok(())
    }

    /// Adds a note on the interpretation of the columns.
    fn remark(&self, names: &[String], sample: &Sample, sink: &mut Sink<'_>) {
        let line = sample.line;
        let of = |column: usize| match names.get(column).filter(|name| !name.is_empty()) {
            Some(name) => quote(name),
            None => (column + 1).to_string(),
        };
        let (u, v) = self.ends;
        let mut what = match self.header && !sample.named {
            true => format!(
                "line {line} names the columns: {} and {} are the ends of an edge",
                of(u),
                of(v)
            ),
            false => format!("columns {} and {} are the ends of an edge", of(u), of(v)),
        };
        if let Some(label) = self.edge_label {
            what += &format!(", {} is its label", of(label));
        }
        let values = [(self.weight, "weight"), (self.time, "time")];
        for (column, name) in values.iter().filter_map(|(column, name)| Some(((*column)?, name))) {
            what += &format!(", {} is its {name}, which is dropped", of(column));
        }
        let others: Vec<String> = (0..self.width)
            .filter(|&c| c != u && c != v && Some(c) != self.edge_label && !self.has_value(c))
            .map(of)
            .collect();
        match &others[..] {
            [] => {}
            [one] => what += &format!(", {one} is ignored"),
            [.., _] if others.len() > 12 => {
                what += &format!(", {} others are ignored", others.len())
            }
            [most @ .., last] => what += &format!(", {} and {last} are ignored", most.join(", ")),
        }
        if self.header || self.width > 2 {
            sink.note(what);
        }
        if sample.trims {
            sink.note(
                "blanks around fields are dropped; a name with blanks around it belongs in quotes",
            );
        }
    }
}

/// Whether the first row names the columns.
fn is_header(sample: &Sample, names: &[String], columns: &Columns) -> bool {
    let rows = &sample.rows[1..];
    let Columns { source, target, edge_label, label: _, weight, time } = columns;
    let wanted = [source, target, edge_label, weight, time];
    let is_wanted = |name: &String| {
        let plain = column_names::plain(name);
        let same = |wanted: &String| wanted == name || column_names::plain(wanted) == plain;
        !plain.is_empty() && wanted.iter().any(|w| w.as_ref().is_some_and(same))
    };
    if names.iter().any(is_wanted) && !names.iter().any(|name| is_number(name.as_bytes())) {
        return true;
    }
    // Names of columns are no ids of the rows below.
    let again = |name: &String| rows.iter().any(|row| row.iter().any(|f| f == name.as_bytes()));
    let usual = column_names::usual_ends(names);
    if let Some((u, v)) = usual
        && !again(&names[u])
        && !again(&names[v])
    {
        return true;
    }
    let text = |name: &String| !is_number(name.as_bytes());
    let first_is_text = names.iter().all(text) && names.iter().skip(1).all(|name| !name.is_empty());
    // All values are numbers, dates or decimals with a comma, and the name in line 1 is not.
    let column_of_quantities = |column: usize| {
        let name = names[column].as_bytes();
        let mut fields = rows.iter().map(|row| sample.field(row, column));
        let digits = |field: &[u8]| field.iter().any(u8::is_ascii_digit);
        let shows = |f| is_number(f) || !is_quantity(name) && is_quantity(f) && digits(f);
        !name.is_empty() && fields.clone().any(shows) && fields.all(is_quantity)
    };
    let value = names.len() == 2 && column_names::is_value(&names[0], &names[1]);
    let label =
        |name: &String| names.len() > 2 && column_names::is_edge_label(name) && !again(name);
    first_is_text
        && !rows.is_empty()
        && (value || names.iter().any(label) || (0..names.len()).any(column_of_quantities))
}

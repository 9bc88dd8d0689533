//! The shape of a table: what separates its fields, whether its first row names the columns, and which columns hold
//! what.

use std::collections::HashSet;

use super::column::column;
use super::header::{Head, is_quantity};
use super::sample::Sample;
use crate::format::Sink;
use crate::read::names as column_names;
use crate::read::{Columns, Separator, is_number, trim};
use gramer_base::error::{Result, quote};

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
    /// The line with the names of the columns: that of the first row, or of a comment in front of it.
    pub names_line: Option<u64>,
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
        let Some(first) = sample.rows.first() else {
            return Err(sink.fault("holds no edge: every line is blank or a comment"));
        };
        let sif = sif_columns(sample, columns, sink);
        let columns = sif.as_ref().unwrap_or(columns);
        let Head { names, width, header, names_line } = Head::of(sample, columns, forced, sink)?;
        let mut shape = Shape {
            separator: sample.separator,
            width: width.max(names.len()),
            header,
            ends: (0, 1),
            edge_label: None,
            weight: None,
            time: None,
            trims: sample.trims || sample.separator == Separator::Blanks,
            names_line,
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
        if !columns.any() && !forced {
            shape.check_lists(sample, sink)?;
            if !header {
                shape.check_whole(sample, sink)?;
            }
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
        if !self.header && self.width > 2 && fields(1).all(is_arrow) {
            return Ok((0, 2));
        }
        let quantities = |column: usize| fields(column).all(is_quantity);
        let numbers = |column: usize| fields(column).all(is_number);
        let is_value = |u: usize, v: usize| {
            names.get(u).zip(names.get(v)).is_some_and(|(u, v)| column_names::is_value(u, v))
        };
        let fractions = |column: usize| {
            let is =
                |f: &[u8]| is_number(f) && f.contains(&b'.') && column_names::whole(f).is_none();
            fields(column).any(is)
        };
        let letters = usual.is_some_and(|(u, v)| {
            let fractions = fractions(u) || fractions(v);
            column_names::are_letters_of_values(names, (u, v), false, fractions)
        });
        let is_doubtful = letters || self.is_doubtful(sample) && columns.edge_label.is_none();
        // Letters such as x and y name coordinates as well.
        let certain = column_names::usual_ends(names).is_some() && !letters || !is_doubtful;
        if let Some(ends) = usual.filter(|ends| certain && ends.1 < self.width) {
            return match column_names::rivals(names, ends).filter(|_| !forced) {
                Some(what) => Err(sink.fault_at(self.names_line.unwrap_or(sample.line), what)),
                None => Ok(ends),
            };
        }
        if names.len() == 3 && names[0].is_empty() && numbers(0) && !is_value(1, 2) {
            return Ok((1, 2));
        }
        let mut free = (0..self.width)
            .filter(|&column| Some(column) != self.edge_label && !self.has_value(column));
        let ends = free.next().zip(free.next());
        let value = self.header && ends.is_some_and(|(u, v)| is_value(u, v));
        if let Some(ends) = ends
            && (forced || !value && !is_doubtful && free.all(quantities))
        {
            return Ok(ends);
        }
        Err(sink.fault_at(sample.line, self.open_ends(sample, value, is_doubtful)))
    }

    /// Why the columns of the ends are open.
    fn open_ends(&self, sample: &Sample, value: bool, is_doubtful: bool) -> String {
        let shown = quote(sample.rows[0].iter().collect::<Vec<_>>().join(&b' ').as_slice());
        let has = |name: &str| sample.rows[0].iter().any(|field| field == name.as_bytes());
        let texts = sample.rows[0].iter().filter(|field| !trim(field).is_empty()).count();
        if texts == 1 && sample.rows.len() > 1 {
            format!(
                "{shown} has text in one of {} columns: if it is a title, remove all lines above the names of the \
                 columns (tail -n +2 FILE without the first line)",
                self.width
            )
        } else if self.header && has("shared name") && has("shared interaction") {
            "Cytoscape's table of edges has both ends in one column: export the network as GraphML or .cyjs".into()
        } else if value {
            format!("the columns {shown} {}", column_names::OF_VERTICES)
        } else if is_doubtful {
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
        }
    }

    /// Whether rows may be something else than edges: a name and what belongs to it, as vertices with their properties
    /// and rows of a matrix have it, or a time in front of two numbers.
    fn is_doubtful(&self, sample: &Sample) -> bool {
        let rows = &sample.rows[usize::from(self.header)..];
        let fields = |column: usize| rows.iter().map(move |row| sample.field(row, column));
        let quantities = |column: usize| fields(column).all(is_quantity);
        let numbers = |column: usize| fields(column).all(is_number);
        let behind = (1..self.width).all(quantities);
        let is_id = |f: &[u8]| is_number(f) || f.ends_with(b":");
        let time = quantities(0) && !fields(0).any(is_id);
        self.width > 2 && (!quantities(0) && behind || time && numbers(1) && numbers(2))
    }

    /// Refuses lists of vertices in the column of an end: texts that are no vertex, made of others with marks between them.
    fn check_lists(&self, sample: &Sample, sink: &Sink<'_>) -> Result<()> {
        let rows = &sample.rows[usize::from(self.header)..];
        let sources: HashSet<&[u8]> =
            rows.iter().map(|row| sample.field(row, self.ends.0)).collect();
        // Rows that are no lines of a text hold one value a column.
        let lines = sample.lines.iter().skip(usize::from(self.header));
        for (row, line) in rows.iter().zip(lines) {
            let field = sample.field(row, self.ends.1);
            let inner = field.strip_prefix(b"[").and_then(|field| field.strip_suffix(b"]"));
            let parts = inner.unwrap_or(field).split(|byte| b",;| ".contains(byte));
            let mut parts = parts.map(trim).filter(|part| !part.is_empty()).peekable();
            let first = parts.next();
            if parts.peek().is_some()
                && !sources.contains(field)
                && first.into_iter().chain(parts).all(|part| sources.contains(part))
            {
                let what = format!(
                    "{} is a list of vertices, but a row is one edge: write a row for each, or an adjacency list, `a b c` \
                     in each line; if it is a name, say which columns hold the ends with the setting `source` and the \
                     setting `target`",
                    quote(field)
                );
                return Err(sink.fault_at(*line, what));
            }
        }
        Ok(())
    }

    /// Refuses lines of code and the like: brackets that open in one field and close in another.
    fn check_whole(&self, sample: &Sample, sink: &Sink<'_>) -> Result<()> {
        let count = |field: &[u8], marks: &[u8]| field.iter().filter(|b| marks.contains(b)).count();
        for (row, &line) in sample.rows.iter().zip(&sample.lines) {
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
        let of = |column: usize| match names.get(column).filter(|name| !name.is_empty()) {
            Some(name) => quote(name),
            None => (column + 1).to_string(),
        };
        let (u, v) = self.ends;
        let mut what = match self.names_line.filter(|_| !sample.named) {
            Some(line) => format!(
                "line {line} names the columns: {} and {} are the ends of an edge",
                of(u),
                of(v)
            ),
            None => format!("columns {} and {} are the ends of an edge", of(u), of(v)),
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

/// The columns of Cytoscape's simple interaction format (`.sif`), `a type b`, where no setting names any.
fn sif_columns(sample: &Sample, columns: &Columns, sink: &Sink<'_>) -> Option<Columns> {
    let is_sif = sink.path().extension().is_some_and(|extension| extension == "sif");
    let column = |at: &str| Some(at.to_string());
    (is_sif && !columns.any() && sample.width() == 3).then(|| Columns {
        source: column("1"),
        target: column("3"),
        edge_label: column("2"),
        ..Columns::default()
    })
}

/// Whether a field is a mark between two ends: `->`, `--`, `→`.
fn is_arrow(field: &[u8]) -> bool {
    let arrows = ["->", "-->", "=>", "<-", "<--", "<->", "<-->", "--", "---", "-", "→", "←", "↔"];
    arrows.iter().any(|arrow| arrow.as_bytes() == field)
}

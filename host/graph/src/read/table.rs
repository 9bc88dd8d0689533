//! The columns of an edge list: what separates them, what their names are, and which two hold the ids.
//!
//! Two columns of numbers need none of this. Tables of other programs have an index in front, names in a first
//! line, text, dates or nothing in further columns, and separators of other kinds.

use super::edges::begins_as_name;
use super::names::{self, EndColumns};
use super::scan::{self, Fault, fields, is_blank, is_comment, quote};

/// Separator of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// White space, a comma, or both.
    Blanks,
    /// This byte alone; fields may be empty, or in quotes.
    Byte(u8),
}

impl Separator {
    /// The fields of a trimmed line.
    #[inline]
    pub fn split(self, line: &[u8]) -> FieldIter<'_> {
        FieldIter { separator: self, rest: line, pending: !line.is_empty() }
    }
}

/// See [`Separator::split`].
pub(crate) struct FieldIter<'a> {
    separator: Separator,
    rest: &'a [u8],
    /// Whether a further field, possibly empty, follows.
    pending: bool,
}

impl<'a> FieldIter<'a> {
    /// Where the quoted text or the attributes in braces end with which `rest` begins, if it does.
    fn whole(&self) -> Option<usize> {
        match self.rest.first()? {
            b'"' => {
                let mut end = 1;
                loop {
                    end += memchr::memchr(b'"', self.rest.get(end..)?)? + 1;
                    if self.rest.get(end) != Some(&b'"') {
                        return Some(end);
                    }
                    // A doubled quote stands for one.
                    end += 1;
                }
            }
            b'{' if self.rest.ends_with(b"}") => Some(self.rest.len()),
            _ => None,
        }
    }
}

impl<'a> Iterator for FieldIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if !self.pending {
            return None;
        }
        let from = self.whole().unwrap_or(0);
        let ends = |byte: u8| match self.separator {
            Separator::Blanks => is_blank(byte) || byte == b',',
            Separator::Byte(own) => byte == own,
        };
        let end = self.rest[from..].iter().position(|&b| ends(b));
        let Some(end) = end.map(|end| from + end) else {
            self.pending = false;
            return Some(self.rest);
        };
        let (mut field, mut rest) = self.rest.split_at(end);
        match self.separator {
            Separator::Byte(own) => {
                rest = &rest[1..];
                while let [first, tail @ ..] = rest
                    && is_blank(*first)
                    && *first != own
                {
                    rest = tail;
                }
                field = scan::trim(field);
            }
            Separator::Blanks => {
                let mut comma = false;
                while let [first, tail @ ..] = rest {
                    match first {
                        b',' if !comma => comma = true,
                        b if is_blank(*b) => {}
                        _ => break,
                    }
                    rest = tail;
                }
                self.pending = comma || !rest.is_empty();
            }
        }
        self.rest = rest;
        Some(field)
    }
}

/// Lines that show how a table is made.
const SAMPLE: usize = 64;

/// Columns of whole numbers that no edge list has without names.
const TOO_MANY: usize = 6;

/// Layout of an edge list's lines.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub separator: Separator,
    /// Columns of a line.
    pub columns: usize,
    /// Columns of the ids, from 0.
    pub ends: EndColumns,
    /// Notes on the meaning of columns.
    pub notes: Vec<String>,
    /// The line that names the columns.
    pub header: Option<Vec<u8>>,
}

impl Table {
    /// Two columns of ids and nothing else.
    pub fn is_pairs(&self) -> bool {
        self.columns == 2 && self.ends == (0, 1) && self.separator == Separator::Blanks
    }

    /// Ignored columns, for a remark.
    pub fn ignored(&self) -> Option<String> {
        let (u, v) = self.ends;
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for column in (0..self.columns).filter(|&c| c != u && c != v) {
            match runs.last_mut() {
                Some(run) if run.1 == column => run.1 = column + 1,
                _ => runs.push((column + 1, column + 1)),
            }
        }
        let one = runs.len() == 1 && runs[0].0 == runs[0].1;
        let runs: Vec<String> = runs
            .iter()
            .map(
                |&(from, to)| {
                    if from == to { format!("{from}") } else { format!("{from} to {to}") }
                },
            )
            .collect();
        match runs.is_empty() {
            true => None,
            false if one => Some(format!("column {} of the edge list is ignored", runs[0])),
            false => Some(format!("columns {} of the edge list are ignored", runs.join(" and "))),
        }
    }

    /// The table whose first lines these are, and where its first edge line begins. A format that was named
    /// decides what is doubtful: `forced` takes the first two columns.
    pub fn of(head: &[u8], forced: bool) -> Result<(Self, usize), Fault> {
        let mut notes = Vec::new();
        let mut told = None;
        let mut lines = Vec::new();
        let mut comment = None;
        let mut comment_at = 0;
        for (number, (at, line)) in (1..).zip(scan::lines(head)) {
            if line.is_empty() {
                continue;
            }
            if let [b's', b'e', b'p', b'=', separator] = *line
                && lines.is_empty()
            {
                told = Some(separator);
                continue;
            }
            if is_comment(line) {
                if lines.is_empty() {
                    comment = Some((number, &line[1..]));
                    comment_at = at;
                }
                continue;
            }
            lines.push(Line { number, at, text: line });
            if lines.len() > SAMPLE {
                break;
            }
        }
        // Files that were joined repeat the names of the columns.
        if let Some(first) = lines.first().map(|first| first.text) {
            let mut place = 0..;
            lines.retain(|line| place.next() == Some(0) || line.text != first);
        }
        let Some(first) = lines.first() else {
            let separator = Separator::Blanks;
            let plain = Table { separator, columns: 2, ends: (0, 1), notes, header: None };
            return Ok((plain, head.len()));
        };
        let separator = separator(&lines, told);
        let header = names::is_header(first.text, lines.get(1).map(|l| l.text), separator);
        let names = header.then(|| first.text.to_vec());
        let data = &lines[usize::from(header)..];
        let count = |line: &[u8]| separator.split(line).count();
        let columns = data.first().map_or(2, |line| count(line.text));
        let body = data.first().map_or(head.len(), |line| line.at);
        let mut table = Table { separator, columns, ends: (0, 1), notes: vec![], header: names };
        if header {
            let shown = quote(first.text);
            notes.push(format!(
                "line {}, {shown}, is taken as the names of the columns",
                first.number
            ));
            table.by_names(first, data, forced, &mut notes)?;
        } else if let Some((number, names)) = comment {
            table.by_comment(number, scan::trim(names), &mut notes);
            if table.ends == (0, 1) && !forced {
                table.check_comment(comment_at, names)?;
            }
        }
        let has_names = header || table.ends != (0, 1);
        if !has_names && !forced {
            table.check_columns(data)?;
        }
        notes.extend(table.zeros_in_front(data));
        if !has_names && columns > 2 && counts_lines(separator, data) {
            notes.push(
                "column 1 counts the lines and is taken as an id; if it is an index, name the columns in a \
                 first line such as `index source target`"
                    .into(),
            );
        }
        table.notes = notes;
        Ok((table, body))
    }

    /// Refuses columns without names that are more than an edge has, or whose first may be a time.
    fn check_columns(&self, data: &[Line<'_>]) -> Result<(), Fault> {
        let Table { separator, columns, .. } = *self;
        let what = if columns >= TOO_MANY && ids_and_name(separator, data) {
            format!(
                "{} has {columns} columns, but an edge has two ids and perhaps a weight or a time; name \
                 the columns in a first line, with `source` and `target` among them, or, if the first two \
                 are the ids, name the format with the setting `format`",
                quote(data[0].text)
            )
        } else if columns > 2 && has_time_in_front(separator, data) {
            format!(
                "{} may be an edge with a time in front: if columns 2 and 3 are its ends, name them with the setting `source` \
                 and the setting `target`; if the first two are, name the format with the setting `format`",
                quote(data[0].text)
            )
        } else {
            return Ok(());
        };
        Err(Fault { at: data[0].at, what })
    }

    /// A note on ids with zeros in front.
    fn zeros_in_front(&self, data: &[Line<'_>]) -> Option<String> {
        let (u, v) = self.ends;
        let zeros = |line: &Line<'_>| {
            let digits = |field: &&[u8]| field.len() > 1 && field.iter().all(u8::is_ascii_digit);
            let fields = self.separator.split(line.text).enumerate();
            let mut ids = fields.filter(|(at, _)| *at == u || *at == v).map(|(_, id)| id);
            ids.find(|id| digits(id) && id[0] == b'0').map(quote)
        };
        let id = data.iter().find_map(zeros)?;
        Some(format!(
            "ids with zeros in front, such as {id}, are read as numbers; the setting `ids` can be text, which keeps \
             the zeros"
        ))
    }

    /// Selects columns by the names in the first line.
    fn by_names<'a>(
        &mut self,
        header: &Line<'a>,
        data: &[Line<'a>],
        forced: bool,
        notes: &mut Vec<String>,
    ) -> Result<(), Fault> {
        let mut names = names::of(header.text, self.separator);
        if names.len() == 1 {
            names = names::apart(header.text, self.columns).unwrap_or(names);
        }
        self.fit(&mut names, header, data, forced)?;
        if names.len() == self.columns + 1 && names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        if names.len() > self.columns && !data.is_empty() && self.separator != Separator::Blanks {
            self.columns = names.len();
        }
        let refused = |what: String| {
            let what = format!(
                "the columns {} don't say which hold the two ends of an edge{what}: name them with \
                 the setting `source` and the setting `target`",
                quote(header.text)
            );
            Err(Fault { at: header.at, what })
        };
        let first = |line: &Line<'a>| {
            names::unquoted(self.separator.split(line.text).next().unwrap_or_default())
        };
        // Names of rows, as a table of two kinds has them, are no index.
        let named = || data.iter().any(|line| scan::id(first(line)).is_err());
        let has_text = || data.iter().any(|line| !scan::is_number(first(line)));
        let row_names = names[0].is_empty() && named();
        let certain = names::usual_ends(&names).is_some() || !row_names;
        if let Some(ends) = names::ends(&names).filter(|ends| certain && ends.1 < self.columns) {
            if !forced && names::are_letters_of_values(&names, ends, has_text(), false) {
                return refused(String::new());
            }
            if let Some(what) = names::rivals(&names, ends).filter(|_| !forced) {
                return Err(Fault { at: header.at, what });
            }
            notes.extend(names::notes(&names, ends));
            self.ends = ends;
            return Ok(());
        }
        let index = names.len() == 3 && self.columns == 3 && names[0].is_empty() && !row_names;
        if index && !names::is_value(&names[1], &names[2]) {
            self.ends = (1, 2);
            notes.push("column 1 has no name and is taken as an index".into());
            return Ok(());
        }
        if forced {
            return Ok(());
        }
        if let [first, name, ..] = &names[usize::from(names[0].is_empty())..]
            && names::is_value(first, name)
        {
            let what = "is not a vertex; the setting `vertex_table` takes tables of vertices";
            return refused(format!(" ({} {what})", quote(name)));
        }
        let whole = |line: &Line<'_>| {
            let mut rest = self.separator.split(line.text).skip(2);
            rest.any(|field| scan::id(names::unquoted(field)).is_ok())
        };
        let beyond = names::ends(&names).is_some();
        if beyond || self.columns > 2 && (names[0].is_empty() || data.iter().any(whole)) {
            return refused(String::new());
        }
        Ok(())
    }

    /// Fits the columns and their names, where there are fewer names than columns.
    fn fit(
        &mut self,
        names: &mut Vec<String>,
        header: &Line<'_>,
        data: &[Line<'_>],
        forced: bool,
    ) -> Result<(), Fault> {
        let rows = || data.iter().map(|line| line.text);
        let behind = |line: &[u8]| {
            self.separator.split(line).skip(names.len()).all(|field| field.is_empty())
        };
        if names.len() < self.columns && rows().all(behind) {
            // A separator ends each row.
            self.columns = names.len();
        } else if names.len() + 1 == self.columns
            && names::have_names_of_rows(rows(), self.separator)
        {
            // R writes no name over the names of its rows.
            names.insert(0, String::new());
        } else if names.len() < self.columns && !forced {
            let what = names::too_few(header.number, names.len(), self.columns);
            return Err(Fault { at: header.at, what });
        }
        Ok(())
    }

    /// Refuses names between tabs in a comment, one for each of several columns, that don't say which are the ends.
    fn check_comment(&self, at: usize, line: &[u8]) -> Result<(), Fault> {
        let names = names::of(line, Separator::Byte(b'\t'));
        let named = names.len() == self.columns && names.len() > 2 && line.contains(&b'\t');
        if !named || names.iter().any(|name| name.is_empty()) || names::ends(&names) == Some((0, 1))
        {
            return Ok(());
        }
        let what = format!(
            "the columns {} don't say which hold the two ends of an edge: name these with the setting `source` and \
             the setting `target` (1 is the first column)",
            quote(line)
        );
        Err(Fault { at, what })
    }

    /// Selects columns by the names in a comment before the first edge, such as `# FromNodeId ToNodeId`.
    fn by_comment(&mut self, number: u64, line: &[u8], notes: &mut Vec<String>) {
        let names = names::of(line, self.separator);
        if names.len() != self.columns {
            return;
        }
        if let Some(ends) = names::ends(&names).filter(|&ends| ends != (0, 1)) {
            self.ends = ends;
            notes.push(format!(
                "line {number} names columns {} and {} as the ends of the edges",
                ends.0 + 1,
                ends.1 + 1
            ));
        }
    }
}

/// A line of the sample.
struct Line<'a> {
    /// Line number, from 1.
    number: u64,
    at: usize,
    text: &'a [u8],
}

/// Detects the separator of these lines: white space and commas, unless another byte occurs equally often in all.
fn separator(lines: &[Line<'_>], told: Option<u8>) -> Separator {
    if let Some(told) = told.filter(|&byte| !matches!(byte, b',' | b' ')) {
        return Separator::Byte(told);
    }
    let alike = |separator: Separator| {
        let mut counts = lines.iter().map(|line| separator.split(line.text).count());
        let first = counts.next().unwrap_or(0);
        (first > 1 && counts.all(|count| count == first)).then_some(first)
    };
    let unusual = |line: &Line<'_>| {
        let mut columns = fields(line.text);
        let mut ends = [columns.next(), columns.next()].into_iter().flatten();
        ends.any(|field| scan::id(names::unquoted(field)).is_err())
    };
    // Fields of text, and such without any, show in lines that differ.
    let plain = alike(Separator::Blanks).is_some();
    let odd = lines.iter().skip(1).chain(lines.first()).take(1).any(unusual);
    for byte in [b';', b'|', b'\t', b','] {
        let by_blanks = matches!(byte, b'\t' | b',');
        if (by_blanks && !plain || !by_blanks && odd) && alike(Separator::Byte(byte)).is_some() {
            return Separator::Byte(byte);
        }
    }
    Separator::Blanks
}

/// Whether each field of these lines is a whole number, or all but a name at the end.
fn ids_and_name(separator: Separator, lines: &[Line<'_>]) -> bool {
    let columns = |line: &Line<'_>| separator.split(line.text).count();
    let whole = |(at, field): (usize, &[u8]), last| {
        scan::id(field).is_ok() || at == last && begins_as_name(field)
    };
    let fits = |line: &Line<'_>| {
        let last = columns(line).saturating_sub(1);
        separator.split(line.text).enumerate().all(|field| whole(field, last))
    };
    lines.iter().all(fits)
}

/// Whether the first column counts the lines, from 0 or 1, and the third one may be an id.
fn counts_lines(separator: Separator, lines: &[Line<'_>]) -> bool {
    let first = |line: &Line<'_>| scan::id(separator.split(line.text).next().unwrap_or_default());
    let from = lines.first().and_then(|line| first(line).ok()).filter(|&from| from < 2);
    let third = |line: &Line<'_>| {
        separator.split(line.text).nth(2).is_some_and(|field| scan::id(field).is_ok())
    };
    lines.len() > 2
        && from.is_some_and(|from| lines.iter().zip(from..).all(|(l, i)| first(l) == Ok(i)))
        && lines.iter().all(third)
}

/// Whether the first column may be a time: seconds or milliseconds since 1970 that never go down, in front of two columns
/// of smaller numbers with some value in both.
fn has_time_in_front(separator: Separator, lines: &[Line<'_>]) -> bool {
    const TIMES: [std::ops::Range<u64>; 2] =
        [500_000_000..5_000_000_000, 500_000_000_000..5_000_000_000_000];
    let numbers = |line: &Line<'_>| {
        let mut fields = separator.split(line.text).map(|field| scan::id(field).ok());
        Some([fields.next()??, fields.next()??, fields.next()??])
    };
    let Some(rows) = lines.iter().map(numbers).collect::<Option<Vec<_>>>() else { return false };
    let ends = |column: usize| rows.iter().map(move |row| row[column]);
    rows.len() > 1
        && TIMES.iter().any(|times| rows.iter().all(|row| times.contains(&row[0])))
        && rows.is_sorted_by_key(|row| row[0])
        && rows.iter().all(|row| row[1].max(row[2]) < TIMES[0].start)
        && ends(1).any(|end| ends(2).any(|other| end == other))
}

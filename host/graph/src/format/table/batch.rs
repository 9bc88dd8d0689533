//! Rows of a table, one behind the other in one buffer.

/// Rows with their fields.
#[derive(Debug, Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    /// Where each field begins and ends.
    bounds: Vec<(usize, usize)>,
    rows: Vec<Mark>,
}

/// Where a row is.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The first line of the row, from 1.
    line: u64,
    /// Its fields among the bounds.
    first: usize,
    end: usize,
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'b> {
    /// The first line of the row, from 1.
    pub line: u64,
    text: &'b [u8],
    bounds: &'b [(usize, usize)],
}

impl<'b> Row<'b> {
    /// Number of fields.
    #[inline]
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// A field.
    #[inline]
    pub fn get(&self, column: usize) -> Option<&'b [u8]> {
        let &(begin, end) = self.bounds.get(column)?;
        Some(&self.text[begin..end])
    }

    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = &'b [u8]> {
        let text = self.text;
        self.bounds.iter().map(move |&(begin, end)| &text[begin..end])
    }
}

impl Batch {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows in order.
    #[inline]
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|mark| Row {
            line: mark.line,
            text: &self.text,
            bounds: &self.bounds[mark.first..mark.end],
        })
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.text.clear();
        self.bounds.clear();
        self.rows.clear();
    }

    /// Adds a row with these fields.
    pub fn push<'f>(&mut self, line: u64, fields: impl Iterator<Item = &'f [u8]>) {
        let first = self.bounds.len();
        for field in fields {
            let begin = self.text.len();
            self.text.extend_from_slice(field);
            self.bounds.push((begin, self.text.len()));
        }
        self.rows.push(Mark { line, first, end: self.bounds.len() });
    }

    /// Adds whole lines without quotes, as far as they are content, the first of which is line `line`; up to `most` of
    /// them. Returns the number of lines and of their bytes.
    pub fn push_lines(
        &mut self,
        text: &[u8],
        separator: u8,
        line: u64,
        most: usize,
        is_content: impl Fn(u8) -> bool,
    ) -> (usize, usize) {
        let (offset, rows, bounds) = (self.text.len(), self.rows.len(), self.bounds.len());
        let (mut at, mut end, mut first) = (0, 0, bounds);
        if text.first().is_none_or(|&first| !is_content(first)) {
            return (0, 0);
        }
        for mark in memchr::memchr2_iter(separator, b'\n', text) {
            self.bounds.push((offset + at, offset + mark));
            at = mark + 1;
            if text[mark] != b'\n' {
                continue;
            }
            let number = (self.rows.len() - rows) as u64;
            self.rows.push(Mark { line: line + number, first, end: self.bounds.len() });
            (end, first) = (at, self.bounds.len());
            let next = text.get(at).is_none_or(|&first| !is_content(first));
            if next || self.rows.len() - rows == most {
                break;
            }
        }
        self.bounds.truncate(first);
        let end = self.drop_odd_lines(&text[..end], rows, offset);
        self.text.extend_from_slice(&text[..end]);
        (self.rows.len() - rows, end)
    }

    /// Drops lines, and all behind them, with a quote or with a carriage return that doesn't end the line; takes those
    /// returns from the last field. Returns the bytes of the lines that stay.
    fn drop_odd_lines(&mut self, text: &[u8], rows: usize, offset: usize) -> usize {
        let Some(odd) = memchr::memchr2(b'"', b'\r', text) else { return text.len() };
        let ends_line = |at: usize| text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
        let odd = match ends_line(odd) {
            true => memchr::memchr2_iter(b'"', b'\r', &text[odd..])
                .map(|at| odd + at)
                .find(|&at| !ends_line(at)),
            false => Some(odd),
        };
        let last = |batch: &Self, row: usize| batch.bounds[batch.rows[row].end - 1].1 - offset;
        let mut end = text.len();
        if let Some(odd) = odd {
            while self.rows.len() > rows && last(self, self.rows.len() - 1) > odd {
                self.rows.pop();
            }
            let kept = self.rows.len().checked_sub(1).filter(|&last| last >= rows);
            end = kept.map_or(0, |row| last(self, row) + 1);
            self.bounds.truncate(self.rows.last().map_or(0, |mark| mark.end));
        }
        for row in rows..self.rows.len() {
            let field = self.rows[row].end - 1;
            let (begin, close) = self.bounds[field];
            if close > begin && text[close - offset - 1] == b'\r' {
                self.bounds[field].1 -= 1;
            }
        }
        end
    }
}

//! Tables that are drawn with lines, as in Markdown and as programs print them: psql, MySQL, SQLite, Polars,
//! reStructuredText.
//!
//! They become rows of a [table](super::table), a line for each line. Fields stand between bars, or, below a line of
//! dashes with gaps, in its columns.

use std::borrow::Cow;
use std::io::BufRead;
use std::ops::Range;

use super::{Sink, table};
use crate::read::scan::{NO_NEWLINE, TO_UTF8};
use gramer_base::error::{Result, quote};

/// Lines in front of the rule below the names of the columns, or around it.
const HEAD: usize = 3;

/// How fields are parted.
#[derive(Debug, PartialEq)]
enum Layout {
    Bars,
    /// By their places, counted in characters.
    Columns(Vec<Range<usize>>),
}

impl Layout {
    /// The layout of a rule: a line of dashes, with the marks of a table's borders. `None` if it is none.
    fn of_rule(line: &str) -> Option<Self> {
        if !line.chars().all(|c| is_dash(c) || is_bar(c) || is_border(c) || c == ':' || c == ' ') {
            return None;
        }
        let cells = line.split(|c| is_bar(c) || is_border(c)).map(|cell| cell.trim_matches(' '));
        let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        let is_long = |cell: &&str| cell.chars().filter(|&c| is_dash(c)).count() >= 3;
        let barred = line.contains(is_bar) || line.contains(is_border);
        // Markdown needs one dash only.
        let is_markdown = line.starts_with('|') && cells.iter().all(|cell| cell.contains('-'));
        if barred {
            return (cells.len() > 1 && (is_markdown || cells.iter().all(is_long)))
                .then_some(Layout::Bars);
        }
        let mut columns: Vec<Range<usize>> = vec![];
        let mut before = ' ';
        for (at, c) in line.chars().enumerate() {
            match (before, c) {
                (_, ':') => return None,
                (' ', '-' | '=') => columns.push(at..at + 1),
                (_, '-' | '=') => columns.last_mut()?.end = at + 1,
                _ => {}
            }
            before = c;
        }
        (columns.len() > 1).then_some(Layout::Columns(columns))
    }

    /// The fields of a row; `None` if it is no row of the table.
    fn fields<'l>(&self, line: &'l str) -> Option<Vec<Cow<'l, str>>> {
        match self {
            Layout::Bars => {
                let text = line.trim();
                let mut fields = bars(text.strip_prefix(is_bar).unwrap_or(text));
                if fields.len() > 1 && fields.last().is_some_and(|last| last.is_empty()) {
                    fields.pop();
                }
                (text.contains(is_bar)).then_some(fields)
            }
            Layout::Columns(columns) => {
                let places: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
                let place = |at: usize| places.get(at).copied().unwrap_or(line.len());
                // A field may be longer than its dashes, up to the next one.
                let ends = columns.iter().skip(1).map(|next| next.start).chain([usize::MAX]);
                let of = |(column, end): (&Range<usize>, usize)| {
                    Cow::Borrowed(line[place(column.start)..place(end)].trim())
                };
                Some(columns.iter().zip(ends).map(of).collect())
            }
        }
    }
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '=' | '─' | '━' | '═' | '╌' | '╍')
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '│' | '┃' | '║' | '┆' | '┇' | '┊' | '╎')
}

/// Whether a character is where borders meet.
fn is_border(c: char) -> bool {
    c == '+' || !is_dash(c) && !is_bar(c) && ('\u{2500}'..='\u{257f}').contains(&c)
}

/// The texts between bars; a bar behind a backslash is part of a text.
fn bars(text: &str) -> Vec<Cow<'_, str>> {
    let mut fields = vec![];
    let (mut begin, mut before) = (0, ' ');
    for (at, c) in text.char_indices() {
        if is_bar(c) && before != '\\' {
            fields.push(&text[begin..at]);
            begin = at + c.len_utf8();
        }
        before = c;
    }
    fields.push(&text[begin..]);
    let plain = |field: &'_ str| field.contains("\\|").then(|| field.replace("\\|", "|"));
    fields
        .into_iter()
        .map(str::trim)
        .map(|field| plain(field).map_or(Cow::Borrowed(field), Cow::Owned))
        .collect()
}

/// The layout of a text, by the first rule among its first lines.
fn layout(head: &[u8]) -> Option<Layout> {
    let lines = head.split(|&byte| byte == b'\n').map(|line| std::str::from_utf8(line));
    let lines = lines.map(|line| line.map(str::trim_end));
    let mut before = "";
    for (at, line) in lines.filter(|line| *line != Ok("")).take(HEAD).enumerate() {
        let line = line.ok()?;
        match Layout::of_rule(line) {
            Some(Layout::Columns(columns)) => {
                let long = columns.iter().all(|column| column.len() >= 3);
                let found = long || at == 1 && stand_below(&columns, before);
                return found.then_some(Layout::Columns(columns));
            }
            Some(bars) => return Some(bars),
            None => before = line,
        }
    }
    None
}

/// Whether dashes stand below the words of a line, each at least as long as its word.
fn stand_below(columns: &[Range<usize>], names: &str) -> bool {
    let names: Vec<char> = names.chars().collect();
    let blank = |at: usize| names.get(at).is_none_or(|c| *c == ' ');
    columns.iter().all(|column| {
        !blank(column.start) && (column.start == 0 || blank(column.start - 1)) && blank(column.end)
    })
}

/// Whether a text begins as a table that is drawn.
pub(super) fn sniff(head: &[u8]) -> bool {
    // Nearly always the first lines have no such run.
    let dash = |run: &[u8]| memchr::memmem::find(&head[..head.len().min(4096)], run).is_some();
    ([b"--", b"==", b"|-", b"- "].into_iter().any(|run| dash(run)) || dash("─".as_bytes()))
        && layout(head).is_some()
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let Some(layout) = layout(input.fill_buf().map_err(|source| sink.refused(source))?) else {
        return Err(sink.fault(
            "no line of dashes below the names of the columns, as `| --- | --- |`, shows a table",
        ));
    };
    let mut lines = sink.lines(input);
    let mut text: Vec<u8> = vec![];
    let (mut types, mut polars, mut begun) = (false, false, false);
    while let Some((number, line)) = lines.next_whole()? {
        let line = std::str::from_utf8(line).map_err(|_| {
            sink.fault_at(number, format!("{} is not UTF-8; {TO_UTF8}", quote(line)))
        })?;
        let line = line.trim_end();
        text.push(b'\n');
        let rule = Layout::of_rule(line);
        if rule.as_ref().is_some_and(|rule| *rule == Layout::Bars || *rule == layout) {
            // Polars writes the types of the columns below dashes between bars.
            types = polars && line.starts_with(is_bar);
            continue;
        }
        if std::mem::take(&mut types) || line.is_empty() {
            continue;
        }
        if !begun && (line.starts_with('#') || line.starts_with("shape: (")) {
            polars |= line.starts_with('s');
            continue;
        }
        let Some(fields) = layout.fields(line) else {
            if is_footer(line) {
                continue;
            }
            let what = format!("{} is no row of the drawn table", quote(line.as_bytes()));
            return Err(sink.fault_at(number, what));
        };
        if fields.iter().all(|field| matches!(&**field, "…" | "...")) {
            let what = "rows are left out here: print the whole table, or write it as CSV";
            return Err(sink.fault_at(number, what));
        }
        begun = true;
        text.pop();
        append(&mut text, &fields);
        text.push(b'\n');
    }
    let is_ended = lines.is_ended();
    table::read(&mut &text[..], sink)?;
    if !is_ended {
        sink.note(NO_NEWLINE);
    }
    Ok(())
}

/// Whether a line below a table says how many rows it has: `(3 rows)`, `3 rows in set (0.00 sec)`.
fn is_footer(line: &str) -> bool {
    let mut words = line.trim_start_matches('(').split(' ');
    words.next().is_some_and(|word| word.parse::<u64>().is_ok())
        && words.next().is_some_and(|word| word.trim_end_matches(')').starts_with("row"))
}

/// Appends a row of CSV without its end.
fn append(text: &mut Vec<u8>, fields: &[Cow<'_, str>]) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        match field.contains([',', '"', '#', '%']) {
            true => {
                text.extend_from_slice(format!("\"{}\"", field.replace('"', "\"\"")).as_bytes())
            }
            false => text.extend_from_slice(field.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_show_how_fields_are_parted() {
        for rule in ["|---|:-:|", "| --- | --- |", "+----+----+", "-----+----", "╞═════╪════╡"]
        {
            assert_eq!(Layout::of_rule(rule), Some(Layout::Bars), "{rule}");
        }
        assert_eq!(Layout::of_rule("---  ===="), Some(Layout::Columns(vec![0..3, 5..9])));
        for other in ["---", "a-b", "--- a", "|", "| 1 | 2 |", "---\t---", "", "1 --- 2"] {
            assert_eq!(Layout::of_rule(other), None, "{other}");
        }
    }

    #[test]
    fn fields_are_texts_between_bars_or_in_their_columns() {
        let of = |layout: &Layout, line| layout.fields(line).map(|fields| fields.join(";"));
        assert_eq!(of(&Layout::Bars, "| a | b \\| c |").as_deref(), Some("a;b | c"));
        assert_eq!(of(&Layout::Bars, " a | b").as_deref(), Some("a;b"));
        assert_eq!(of(&Layout::Bars, "(3 rows)"), None);
        let columns = Layout::Columns(vec![0..3, 5..9]);
        assert_eq!(of(&columns, "é u  x y z").as_deref(), Some("é u;x y z"));
        assert_eq!(of(&columns, "a").as_deref(), Some("a;"));
    }
}

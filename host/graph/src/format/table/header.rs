//! The names of a table's columns, in its first row or in a comment in front of it.

use csv::ByteRecord;

use super::sample::Sample;
use crate::format::Sink;
use crate::read::names as column_names;
use crate::read::{Columns, is_number};
use gramer_base::error::{Result, quote};

/// What the first row says of the columns.
pub(super) struct Head {
    /// Names of the columns, empty without any.
    pub names: Vec<String>,
    /// Number of columns.
    pub width: usize,
    /// Whether the first row is the names.
    pub header: bool,
    /// The line with the names.
    pub names_line: Option<u64>,
}

impl Head {
    pub fn of(sample: &Sample, columns: &Columns, forced: bool, sink: &Sink<'_>) -> Result<Self> {
        let names = sample.rows.first().map_or(vec![], |first| sample.texts(first));
        let told = forced || columns.source.is_some() || columns.target.is_some();
        if !sample.named && !told {
            check_second(sample, &names, sink)?;
        }
        if sample.named || is_header(sample, &names, columns) {
            return Self::of_names(sample, names, told, sink);
        }
        // Without names the first row shows the width.
        let width = names.len().min(sample.width().max(2));
        // Words of a comment that happen to be as many name no columns.
        let are_names = |names: &[String]| {
            names.len() == width
                && (column_names::ends(names).is_some() || are_told(names, columns))
        };
        let comment = sample.comment.clone().filter(|(_, names)| are_names(names));
        let (names_line, names) = comment.unzip();
        Ok(Head { names: names.unwrap_or_default(), width, header: false, names_line })
    }

    /// The head of a table whose first row is the names.
    fn of_names(
        sample: &Sample,
        mut names: Vec<String>,
        told: bool,
        sink: &Sink<'_>,
    ) -> Result<Self> {
        let mut width = sample.width();
        if names.len() == 1 && !sample.named {
            names = column_names::apart(names[0].as_bytes(), width).unwrap_or(names);
        }
        if names.len() >= width || sample.named {
        } else if sample.is_empty_from(names.len()) {
            width = names.len();
        } else if names.len() + 1 == width && sample.names_of_rows {
            // R writes no name over the names of rows.
            names.insert(0, String::new());
        } else if !told {
            let what = column_names::too_few(sample.line, names.len(), width);
            return Err(sink.fault_at(sample.line, what));
        }
        Ok(Head { names, width, header: true, names_line: Some(sample.line) })
    }
}

/// Refuses a second row that names the columns, which the first one doesn't.
fn check_second(sample: &Sample, names: &[String], sink: &Sink<'_>) -> Result<()> {
    let [first, row, rest @ ..] = &sample.rows[..] else { return Ok(()) };
    let second = sample.texts(row);
    let Some((u, v)) = column_names::are_columns(&second) else { return Ok(()) };
    let first = std::slice::from_ref(first);
    let again = |name: &String| is_field(name, first) || is_field(name, rest);
    let named = column_names::usual_ends(names).is_some();
    if named || rest.is_empty() || again(&second[u]) || again(&second[v]) {
        return Ok(());
    }
    let what = format!(
        "{} looks like the names of the columns: remove what is in front of it",
        quote(row.iter().collect::<Vec<_>>().join(&b' ').as_slice())
    );
    Err(sink.fault_at(sample.lines[1], what))
}

/// Whether a field may be a quantity, a time or nothing: no name.
pub(super) fn is_quantity(field: &[u8]) -> bool {
    let marks = |b: &u8| b.is_ascii_digit() || b" -+.,:/TZeE%".contains(b);
    is_number(field)
        || is_missing(field)
        || !is_dotted(field)
            && field.first().is_some_and(|b| b.is_ascii_digit() || b"+-.".contains(b))
            && field.iter().all(marks)
        || field.starts_with(b"{") && field.ends_with(b"}")
}

/// Whether a field is made of digits and marks: a quantity or an address.
pub(super) fn is_mark(field: &[u8]) -> bool {
    is_quantity(field) || is_dotted(field)
}

/// Whether a field stands for a number that is missing, infinite or only bounded, or for a truth: no name of a column.
fn is_missing(field: &[u8]) -> bool {
    let none = ["", "na", "n/a", "nan", "null", "none", "inf", "-inf", "-", "true", "false"];
    let lower = field.to_ascii_lowercase();
    none.iter().any(|none| none.as_bytes() == lower)
        || matches!(field, [b'<' | b'>' | b'~', bound @ ..] if is_number(bound))
}

/// Whether a field has four parts between dots, as an address of a computer or the number of an enzyme: a name.
fn is_dotted(field: &[u8]) -> bool {
    let part =
        |part: &[u8]| part == b"-" || !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let end = field.iter().position(|b| matches!(b, b':' | b'/')).unwrap_or(field.len());
    field[..end].split(|&b| b == b'.').count() == 4 && field[..end].split(|&b| b == b'.').all(part)
}

/// Whether some row has this field.
fn is_field(name: &str, rows: &[ByteRecord]) -> bool {
    rows.iter().any(|row| row.iter().any(|field| field == name.as_bytes()))
}

/// Whether a setting names one of these columns.
fn are_told(names: &[String], columns: &Columns) -> bool {
    let Columns { source, target, edge_label, label: _, weight, time } = columns;
    let wanted = [source, target, edge_label, weight, time];
    let is_wanted = |name: &String| {
        let plain = column_names::plain(name);
        let same = |wanted: &String| wanted == name || column_names::plain(wanted) == plain;
        !plain.is_empty() && wanted.iter().any(|w| w.as_ref().is_some_and(same))
    };
    names.iter().any(is_wanted)
}

/// Whether the first row names the columns.
fn is_header(sample: &Sample, names: &[String], columns: &Columns) -> bool {
    let rows = &sample.rows[1..];
    if are_told(names, columns) && !names.iter().any(|name| is_number(name.as_bytes())) {
        return true;
    }
    // Names of columns are no ids of the rows below.
    let again = |name: &String| is_field(name, rows);
    let usual = column_names::usual_ends(names);
    if let Some((u, v)) = usual
        && !again(&names[u])
        && !again(&names[v])
    {
        return true;
    }
    if names.len() > 1 && again(&names[0]) && again(&names[1]) {
        return false;
    }
    if rows.len() > 1 && are_numbered(names, rows, sample) {
        return true;
    }
    let text = |name: &String| !is_number(name.as_bytes());
    let first_is_text = names.iter().all(text) && names.iter().skip(1).all(|name| !name.is_empty());
    // All values are numbers, dates or decimals with a comma, and the name in line 1 is not.
    let column_of_quantities = |column: usize| {
        let name = names[column].as_bytes();
        let mut fields = rows.iter().map(|row| sample.field(row, column));
        let digits = |field: &[u8]| field.iter().any(u8::is_ascii_digit);
        let shows = |f| is_number(f) || !is_mark(name) && is_mark(f) && digits(f);
        let letters = name.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
        letters && !is_missing(name) && fields.clone().any(shows) && fields.all(is_mark)
    };
    let value = names.len() == 2 && column_names::is_value(&names[0], &names[1])
        || names.len() > 1 && column_names::are_of_vertex(names) && !again(&names[0]);
    let label =
        |name: &String| names.len() > 2 && column_names::is_edge_label(name) && !again(name);
    first_is_text
        && !rows.is_empty()
        && (value || names.iter().any(label) || (0..names.len()).any(column_of_quantities))
}

/// Whether two columns are named as `user1` and `user2`, over fields that begin otherwise.
fn are_numbered(names: &[String], rows: &[ByteRecord], sample: &Sample) -> bool {
    let Some((u, v)) = column_names::ends(names) else { return false };
    let [first, second] = [u, v].map(|end| column_names::plain(&names[end]));
    let stem: String =
        first.chars().zip(second.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let begins = |field: &String| column_names::plain(field).starts_with(&stem);
    stem.chars().filter(|c| c.is_alphabetic()).count() > 1
        && !rows.iter().flat_map(|row| sample.texts(row)).any(|field| begins(&field))
}

//! Shapes of numbers that would pass for an edge list, and are none: matrices, adjacency lists, lists of LAD.
//!
//! A format that was named is not doubted.

use std::collections::HashMap;

use super::edges::{PAIRS, begins_as_name};
use super::names::{self, says_ends};
use super::scan::{self, Fault, is_blank, is_comment, is_number, is_zero, quote};

/// Refuses a text whose beginning is `head`, all of it if `complete`, if its lines are no edges.
pub(super) fn refuse(head: &[u8], complete: bool) -> Result<(), Fault> {
    let end =
        if complete { head.len() } else { memchr::memrchr(b'\n', head).map_or(0, |at| at + 1) };
    let head = &head[..end];
    let content = |(_, line): &(usize, &[u8])| !line.is_empty() && !is_comment(line);
    let Some((at, first)) = scan::lines(head).find(content) else { return Ok(()) };
    let fault = |at, what: String| Err(Fault { at, what });
    let lines = || scan::lines(head).filter(content).map(|(_, line)| line);
    let first = quote(first);
    // Nearly always an edge is two numbers, and there is nothing to look for.
    if lines().take(SAMPLE).any(|line| scan::fields(line).count() != 2) {
        let lines: Vec<&[u8]> = lines().collect();
        if let Some(size) = matrix(&lines, complete) {
            let last = lines.last().copied().unwrap_or_default();
            let mark = [(b',', ","), (b';', ";"), (b'|', "|")];
            let by = mark.iter().find(|(mark, _)| last.contains(mark));
            let by = by.map_or(String::new(), |(_, mark)| format!(", delimiter=\"{mark}\""));
            let what = format!(
                "{first} begins a matrix ({size}), not a list of edges; in Python: \
                 gramer.Graph.from_scipy(scipy.sparse.csr_array(numpy.loadtxt(FILE{by}))); if it is an edge list, \
                 name the format with the setting `format`"
            );
            return fault(at, what);
        }
        if is_lad(&lines, complete) {
            return fault(
                at,
                format!(
                    "{first} begins lists of LAD (a number of vertices, then `degree neighbour…` for each), \
                     which are not read; make an edge list of them: awk 'NR > 1 {{for (i = 2; i <= NF; i++) \
                     print NR - 2, $i}}' FILE"
                ),
            );
        }
        if is_adjacency(&lines, complete) {
            return fault(
                at,
                format!(
                    "{first} begins adjacency lists (a vertex, then its neighbours), which are not read; \
                     {PAIRS}; if it is something else, name the format with the setting `format`"
                ),
            );
        }
    }
    match lone_mark(head) {
        Some(at) => fault(
            at,
            "a line `#` alone parts vertices from edges, as in the Trivial Graph Format, which is not read; \
             keep the lines behind it: awk 'edges {print $1, $2} $1 == \"#\" {edges = 1}' FILE"
                .into(),
        ),
        None => Ok(()),
    }
}

/// Lines that show what a text is made of.
const SAMPLE: usize = 64;

/// The size of a square matrix whose lines these are, or of a table of zeros and ones.
fn matrix(lines: &[&[u8]], complete: bool) -> Option<String> {
    fn split(line: &[u8]) -> Vec<&[u8]> {
        let apart = |b: &u8| is_blank(*b) || matches!(b, b',' | b';' | b'|');
        line.split(apart).filter(|field| !field.is_empty()).collect()
    }
    let width = split(lines.get(1)?).len();
    // Names of rows and columns, as tables have them.
    let names = split(lines[0]);
    let header = names.len() + 1 >= width && names.iter().all(|name| begins_as_name(name))
        || lines[0].first() == Some(&b',');
    if width < 3 || header && says_ends(lines[0]) {
        return None;
    }
    let rows = &lines[usize::from(header)..];
    // A square matrix has no more lines than columns.
    let square = complete && rows.len() <= width;
    let rows = if square { rows } else { &rows[..rows.len().min(SAMPLE)] };
    let rows: Vec<Vec<&[u8]>> = rows.iter().map(|line| split(line)).collect();
    if rows.iter().any(|row| row.len() != width) {
        return None;
    }
    let named = header && (rows.len() + 1 == width || !is_number(rows.first()?[0]));
    let rows: Vec<&[&[u8]]> = rows.iter().map(|row| &row[usize::from(named)..]).collect();
    let width = width - usize::from(named);
    let fields = || rows.iter().flat_map(|row| row.iter().copied());
    if width < 3 || !fields().all(is_number) {
        return None;
    }
    let square = square && rows.len() == width;
    let binary = fields().all(|field| is_zero(field) || is_one(field));
    let diagonal =
        (rows.iter().enumerate()).all(|(i, row)| row.get(i).is_none_or(|own| is_zero(own)));
    let symmetric = || (0..rows.len()).all(|i| (0..i).all(|j| rows[i].get(j) == rows[j].get(i)));
    let is = square && (binary || diagonal && (width > 3 || symmetric()))
        || !square && rows.len() > 1 && binary && width > 3
        || !complete && diagonal && width > 5;
    is.then(|| if square { format!("{width} x {width}") } else { format!("{width} columns") })
}

/// Whether a number is one, such as `1` or `1.00e+00`.
fn is_one(field: &[u8]) -> bool {
    names::whole(field) == Some(1)
}

/// A first line with the number of vertices, then for each its degree and as many neighbours.
fn is_lad(lines: &[&[u8]], complete: bool) -> bool {
    let Some(vertices) = lines.first().and_then(|line| scan::count(line)) else { return false };
    let rest = &lines[1..];
    let enough = rest.len() as u64 == vertices || !complete && (rest.len() as u64) < vertices;
    let fits = |line: &&[u8]| {
        numbers(line).is_some_and(|row| {
            row[0] == row.len() as u64 - 1 && row[1..].iter().all(|&id| id < vertices)
        })
    };
    rest.len() > 1 && enough && rest.iter().all(fits)
}

/// Lines of a vertex and its neighbours: each vertex has one, and row i lists j where row j lists i.
fn is_adjacency(lines: &[&[u8]], complete: bool) -> bool {
    let mut of: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut pairs = true;
    for line in lines {
        let Some(row) = numbers(line) else { return false };
        pairs &= row.len() == 2;
        let (vertex, mut neighbours) = (row[0], row[1..].to_vec());
        neighbours.sort_unstable();
        let simple = neighbours.windows(2).all(|w| w[0] < w[1]) && !neighbours.contains(&vertex);
        if !simple || of.insert(vertex, neighbours).is_some() {
            return false;
        }
    }
    let mut checked = 0;
    for (vertex, neighbours) in &of {
        for neighbour in neighbours {
            match of.get(neighbour) {
                Some(back) if back.binary_search(vertex).is_ok() => checked += 1,
                None if !complete => {}
                _ => return false,
            }
        }
    }
    checked > 0 && !pairs
}

/// The numbers of a line, if it holds nothing else.
fn numbers(line: &[u8]) -> Option<Vec<u64>> {
    scan::fields(line).map(scan::count).collect()
}

/// Where a line `#` stands alone among lines of content.
fn lone_mark(text: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, b"\n#\n").or(memchr::memmem::find(text, b"\n#\r\n"))?;
    let content = |line: &[u8]| !line.is_empty() && !is_comment(line);
    let mut lines = scan::lines(text).skip_while(|(_, line)| !content(line));
    let (at, _) = lines.find(|(_, line)| *line == b"#")?;
    lines.any(|(_, line)| content(line)).then_some(at)
}

//! Files that look like edge lists but are not: matrices, adjacency lists, LAD, ORCA, the Trivial Graph Format.
//!
//! A format that was named is not doubted.

use std::collections::{HashMap, HashSet};

use super::Format;
use super::edges::begins_as_name;
use super::names::{self, says_ends, unquoted};
use super::scan::{self, is_blank, is_comment, is_number, is_zero};
use crate::format::{has_colons, tgf_shape};

/// The format of a text that may be taken for `format`, and whose beginning is `head`, all of it if `complete`.
pub(super) fn other(format: Format, head: &[u8], complete: bool) -> Format {
    if !matches!(format, Format::Edges | Format::Arabesque | Format::Triples) {
        return format;
    }
    let end =
        if complete { head.len() } else { memchr::memrchr(b'\n', head).map_or(0, |at| at + 1) };
    let head = &head[..end];
    let content = |(_, line): &(usize, &[u8])| !line.is_empty() && !is_comment(line);
    if tgf_shape(head).is_some() || has_lone_mark(head) {
        return Format::Tgf;
    }
    let lines = || scan::lines(head).filter(content).map(|(_, line)| line);
    if complete && is_orca(lines()) {
        return Format::Orca;
    }
    let colon = lines().next().is_some_and(|line| line.contains(&b':'));
    if colon && has_colons(lines()) {
        return Format::AdjList;
    }
    // Nearly always an edge is two numbers, and there is nothing to look for.
    if !lines().take(SAMPLE).any(|line| scan::fields(line).count() != 2) {
        return format;
    }
    let lines: Vec<&[u8]> = lines().collect();
    match () {
        () if is_matrix(&lines, complete) => Format::Matrix,
        () if is_lad(&lines, complete) => Format::Lad,
        () if is_adjacency(&lines, complete) || complete && lists_once(&lines) => Format::AdjList,
        () => format,
    }
}

/// Numbers of vertices and edges, and as many edges between vertices from 0 on. In a small file the last vertex must
/// have an edge: the first line may be one, too.
fn is_orca<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let pair = |line: &[u8]| match numbers(line)?[..] {
        [u, v] => Some((u, v)),
        _ => None,
    };
    let Some((vertices, edges)) = lines.next().and_then(pair) else { return false };
    let (mut count, mut largest) = (0, 0);
    for line in lines {
        let Some((u, v)) = pair(line).filter(|_| count < edges) else { return false };
        largest = largest.max(u).max(v);
        count += 1;
    }
    count == edges && count > 0 && (vertices == largest + 1 || vertices > largest && count >= 16)
}

/// Lines that show what a text is made of.
const SAMPLE: usize = 64;

/// Whether lines are those of a square matrix, or of a table of zeros and ones.
fn is_matrix(lines: &[&[u8]], complete: bool) -> bool {
    matrix(lines, complete).is_some()
}

fn matrix(lines: &[&[u8]], complete: bool) -> Option<()> {
    fn split(line: &[u8]) -> Vec<&[u8]> {
        // Names may hold blanks where a mark parts them.
        let mark = [b',', b';', b'|', b'\t'].into_iter().find(|mark| line.contains(mark));
        let apart = |b: &u8| mark.map_or(is_blank(*b), |mark| *b == mark);
        line.split(apart)
            .map(|field| unquoted(scan::trim(field)))
            .filter(|field| !field.is_empty())
            .collect()
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
    is.then_some(())
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
    // A label may stand in front of the degree.
    let fits = |line: &[u8], at: usize| {
        numbers(line).is_some_and(|row| {
            row.len().checked_sub(at + 1).is_some_and(|behind| row[at] == behind as u64)
                && row[at + 1..].iter().all(|&id| id < vertices)
        })
    };
    rest.len() > 1 && enough && (0..2).any(|at| rest.iter().all(|line| fits(line, at)))
}

/// Lines of a vertex and its neighbours: each vertex has one, and row i lists j where row j lists i.
fn is_adjacency(lines: &[&[u8]], complete: bool) -> bool {
    // Its reader knows no commas: lines with commas are rows of a table.
    if lines.iter().any(|line| line.contains(&b',')) {
        return false;
    }
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

/// Lines of a vertex and neighbours that come later or earlier: each has a line, some with nothing else.
fn lists_once(lines: &[&[u8]]) -> bool {
    // Some vertex is alone in its line.
    if lines.iter().all(|line| line.iter().any(|byte| is_blank(*byte))) {
        return false;
    }
    let words = |line: &&'_ [u8]| -> Vec<Vec<u8>> {
        line.split(|byte| is_blank(*byte))
            .filter(|word| !word.is_empty())
            .map(<[u8]>::to_vec)
            .collect()
    };
    if lines.iter().any(|line| line.contains(&b',')) {
        return false;
    }
    let rows: Vec<Vec<Vec<u8>>> = lines.iter().map(words).collect();
    let vertices: HashSet<&[u8]> = rows.iter().map(|row| row[0].as_slice()).collect();
    let known = |word: &Vec<u8>| vertices.contains(word.as_slice());
    vertices.len() == rows.len()
        && rows.iter().any(|row| row.len() > 2)
        && rows.iter().all(|row| row[1..].iter().all(|word| known(word) && *word != row[0]))
}

/// The numbers of a line, if it holds nothing else.
fn numbers(line: &[u8]) -> Option<Vec<u64>> {
    scan::fields(line).map(scan::count).collect()
}

/// Whether a line `#` stands alone among lines of content.
fn has_lone_mark(text: &[u8]) -> bool {
    if memchr::memmem::find(text, b"\n#\n").or(memchr::memmem::find(text, b"\n#\r\n")).is_none() {
        return false;
    }
    let content = |line: &[u8]| !line.is_empty() && !is_comment(line);
    let mut lines = scan::lines(text).skip_while(|(_, line)| !content(line));
    let Some((at, _)) = lines.find(|(_, line)| *line == b"#") else { return false };
    // Within quotes it is part of a name.
    memchr::memchr_iter(b'"', &text[..at]).count() % 2 == 0 && lines.any(|(_, line)| content(line))
}

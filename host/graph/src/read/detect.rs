//! Which format a text is, by its content.
//!
//! Banners and letters decide at once: `%%MatrixMarket`, and lines of `t`, `v`, `e`. Formats of
//! files of bare numbers are distinguished by their invariants:
//!
//! | format | holds |
//! |---|---|
//! | triples | a first line with one number, then three numbers a line |
//! | METIS | a header `V E [fmt]`; then row i lists j if and only if row j lists i, ids 1 to V |
//! | Arabesque | first numbers 0, 1, 2, …; lines of different lengths (neighbours being vertices), or as METIS where all have the same length above two |
//! | edge list | everything else |
//!
//! What remains ambiguous: lines of two numbers are an edge list even where the first ones count
//! 0, 1, 2, … (as Arabesque, it would be a graph without edges). A tiny edge list may be
//! symmetric by chance in the sense of METIS or Arabesque: it is then read as such, unless
//! its name ends as those of edge lists do. `V 0` followed by blank lines only is METIS where
//! there are V ≥ 2 of them, or the name ends in `.graph`. Bare numbers in a file that ends in
//! `.metis` are always METIS. `--format` overrides all.

use super::Format;
use super::metis::Metis;
use super::scan::{self, fields, is_comment};
use crate::format;

/// Neighbours of a row that are looked up in their own rows.
const CHECKED_OF_A_ROW: usize = 32;

/// The format of a text that begins with `head`; `complete` if that is all of it. `extension`
/// (lower case, without `.gz` or `.zst`) breaks ties.
pub(crate) fn detect(head: &[u8], complete: bool, extension: &str) -> Format {
    let whole = if complete {
        head
    } else {
        &head[..memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1)]
    };
    if let Some(format) = format::sniffed(head) {
        return format;
    }
    // Most texts show what they are in a few lines.
    let lines = scan::lines(whole).map(|(_, line)| line);
    let mut content = content_of(lines.clone());
    let Some(first) = content.next() else { return Format::Edges };
    // A Matrix Market file without its banner would pass for an edge list, and so would METIS
    // with two numbers in each line.
    if let Some(format) = format::read_as(extension) {
        return format;
    }
    let integers = |line: &[u8]| numbers(line).map_or(0, |n| n.len());
    let triple = |second: &[u8]| {
        integers(second) == 3
            || !second.contains(&b',')
                && fields(second).count() == 3
                && !fields(second).all(scan::is_number)
    };
    if integers(first) == 1 && content.next().is_some_and(triple) {
        return Format::Triples;
    }
    let named_edges =
        matches!(extension, "edges" | "edgelist" | "el" | "wel" | "csv" | "tsv" | "txt" | "snap");
    if is_metis(lines.clone(), complete, named_edges, extension == "graph") {
        Format::Metis
    } else if is_arabesque(lines, complete, named_edges) {
        Format::Arabesque
    } else {
        Format::Edges
    }
}

/// The lines that are neither blank nor comments.
fn content_of<'a>(lines: impl Iterator<Item = &'a [u8]>) -> impl Iterator<Item = &'a [u8]> {
    lines.filter(|line| !line.is_empty() && !is_comment(line))
}

/// The numbers of a line that holds nothing but whole numbers and white space.
fn numbers(line: &[u8]) -> Option<Vec<u64>> {
    if line.contains(&b',') { None } else { fields(line).map(scan::count).collect() }
}

/// How often a neighbour j of row i has i among its own, where row j was read.
struct Symmetry {
    agreed: usize,
    checked: usize,
}

impl Symmetry {
    /// Rows of neighbours, numbered as the neighbours are.
    fn of(rows: &[Vec<u64>]) -> Self {
        let mut symmetry = Symmetry { agreed: 0, checked: 0 };
        for (i, row) in rows.iter().enumerate() {
            for &j in row.iter().take(CHECKED_OF_A_ROW) {
                let Some(other) = usize::try_from(j).ok().and_then(|j| rows.get(j)) else {
                    continue;
                };
                symmetry.checked += 1;
                symmetry.agreed += usize::from(j != i as u64 && other.contains(&(i as u64)));
            }
        }
        symmetry
    }

    /// A file with some damage is still of its format; an edge list agrees by chance only.
    fn holds(&self) -> bool {
        2 * self.agreed > self.checked
    }
}

fn is_metis<'a>(
    lines: impl Iterator<Item = &'a [u8]> + Clone,
    complete: bool,
    named_edges: bool,
    named_metis: bool,
) -> bool {
    let mut rows = lines.filter(|line| line.first() != Some(&b'%'));
    let Some(header) = rows.by_ref().find(|line| !line.is_empty()) else { return false };
    if header.contains(&b',') {
        return false;
    }
    let Some(metis) = Metis::parse(header, 0).filter(|m| m.vertices > 0) else { return false };
    // The name says edges, and METIS has no such line: most edge lists show one soon.
    if named_edges && !(1..).zip(rows.clone()).all(|(number, row)| metis_row(&metis, number, row).1)
    {
        return false;
    }
    let rows: Vec<&[u8]> = rows.collect();
    if rows.iter().all(|row| row.is_empty()) {
        let all_there = rows.len() as u64 + 1 >= metis.vertices && !rows.is_empty();
        return complete
            && all_there
            && metis.edges == 0
            && (named_metis || metis.vertices >= 2 && rows.len() as u64 >= metis.vertices);
    }
    let width = |row: &&[u8]| fields(row).count();
    let all_pairs =
        fields(header).count() == 2 && rows.iter().all(|row| row.is_empty() || width(row) == 2);
    // The same number of columns in each line, as in an edge list: only an exact fit counts.
    let exact = all_pairs && (named_edges || metis.edges != metis.vertices);
    if exact && (named_edges || !complete || rows.iter().all(|row| !row.is_empty())) {
        return false;
    }
    // Row 0 stands for the numbers that no row has.
    let mut neighbours = vec![Vec::new()];
    let mut sound = true;
    for (number, row) in (1..).zip(&rows) {
        let (ids, is_sound) = metis_row(&metis, number, row);
        sound &= is_sound;
        neighbours.push(ids);
    }
    if exact {
        let entries: usize = neighbours.iter().map(Vec::len).sum();
        let fits = sound && entries as u128 == 2 * u128::from(metis.edges);
        return fits && Symmetry::of(&neighbours).holds();
    }
    let symmetry = Symmetry::of(&neighbours);
    if symmetry.checked > 0 {
        return symmetry.holds();
    }
    // Rows far apart from each other: then at least their lengths must differ.
    let first = rows.iter().find(|row| !row.is_empty()).map_or(0, width);
    sound && rows.iter().any(|row| width(row) != first) && !named_edges
}

/// The neighbours in a row with this number, from 1, and whether the header allows the row.
fn metis_row(metis: &Metis, number: u64, row: &[u8]) -> (Vec<u64>, bool) {
    let all = numbers(row);
    let is_listed = row.is_empty() || all.is_some() && number <= metis.vertices;
    let entries = all.unwrap_or_default();
    let entries = entries.get(metis.leading()..).unwrap_or_default();
    let step = 1 + usize::from(metis.edge_weights);
    let ids: Vec<u64> = entries.iter().copied().step_by(step).collect();
    let is_sound = is_listed
        && entries.len() % step == 0
        && ids.iter().all(|id| (1..=metis.vertices).contains(id));
    (ids, is_sound)
}

fn is_arabesque<'a>(
    lines: impl Iterator<Item = &'a [u8]> + Clone,
    complete: bool,
    named_edges: bool,
) -> bool {
    let rows: Vec<Vec<u64>> = content_of(lines.clone())
        .enumerate()
        .map_while(|(i, line)| numbers(line).filter(|row| row.len() >= 2 && row[0] == i as u64))
        .collect();
    let Some(widest) = rows.iter().map(Vec::len).max().filter(|&width| width > 2) else {
        return false;
    };
    let same_width = rows.iter().all(|row| row.len() == widest);
    let neighbours: Vec<Vec<u64>> = rows.iter().map(|row| row[2..].to_vec()).collect();
    let symmetry = Symmetry::of(&neighbours);
    if symmetry.checked > 0 && symmetry.holds() {
        return !(same_width && named_edges);
    }
    let known = |id: &u64| !complete || *id < rows.len() as u64;
    rows.len() == content_of(lines).count() && !same_width && neighbours.iter().flatten().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_all(text: &str) -> Format {
        detect(text.as_bytes(), true, "")
    }

    #[test]
    fn edge_lists_stay_edge_lists() {
        for text in [
            "0 1\n",
            "0 1\n1 2\n2 3\n",
            "0 1\n1 2\n2 0\n",
            "# c\n1\t2\n",
            "id_1,id_2\n0,1\n1,2\n",
            "0 1 1.0\n1 2 1.0\n",
            "0 1 5\n1 2 5\n2 0 5\n",
            // METIS or Arabesque by all but the neighbours.
            "3 2\n0 1\n1 2\n",
            "7115 100762\n30 1412\n30 3352\n",
            "5 0\n",
            "1 0\n\n",
            "4 4 0\n1 2 0\n3 4 0\n",
            "1 1 1\n2 2 2\n",
            "2 2\n2 3\n2 4\n3 2\n",
            "1 2 1\n2 1 1\n",
            "0 1 1\n1 2 2\n2 3 3\n3 0 0\n",
            "3 7 1\n3 9 1\n4 4 1\n",
            "7 3\n\n1 2\n2 3\n",
            "10 3 11\n4 5 6\n2 4 7\n",
        ] {
            assert_eq!(detect_all(text), Format::Edges, "{text:?}");
        }
    }

    #[test]
    fn each_format_is_found() {
        for (text, format) in [
            ("t # 1\nv 0 1\n", Format::Lg),
            ("# t 1\nv 0 1\n", Format::Lg),
            ("t 2 1\nv 0 0 1\nv 1 0 1\ne 0 1\n", Format::Tve),
            ("t 0 2\nv 0 0\n", Format::Tve),
            ("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", Format::Mtx),
            ("%%matrixmarket MATRIX coordinate real general\n2 2 1\n2 1 1\n", Format::Mtx),
            ("2\n0 1 0\n1 2 0\n", Format::Triples),
            ("3 2\n2\n1 3\n2\n", Format::Metis),
            ("3 2\n2 \n1 3 \n2 ", Format::Metis),
            ("% c\n3 1\n2\n1\n\n", Format::Metis),
            ("3 1\n\n3\n2\n", Format::Metis),
            ("5 0\n\n\n\n\n\n", Format::Metis),
            ("3 3 0\n2 3\n1 3\n1 2\n", Format::Metis),
            ("3 3\n2 3\n1 3\n1 2\n", Format::Metis),
            ("2 1 11\n7 2 5\n8 1 5\n", Format::Metis),
            ("4 2 100\n1 2\n1 1\n1 4\n1 3\n", Format::Metis),
            // One damaged row, one wrong count: still METIS, so that the fault is named.
            ("4 9\n2 3 4\n1 3 4\n1 2 x\n1 2 3\n", Format::Metis),
            ("4 6\n2 3 4\n1 3 4\n1 2 4\n", Format::Metis),
            ("0 2\n1 2 2\n2 1 1\n", Format::Arabesque),
            ("0 7 1 2\n1 7 0\n2 7 0\n", Format::Arabesque),
            ("0 1 1 2 3\n1 1 0 2 3\n2 1 0 1 3\n3 1 0 1 2\n", Format::Arabesque),
            ("0 7 1 2\n1 7 0\n2 x 0\n", Format::Arabesque),
            ("0 5 1\n1 6 0\n2 5\n", Format::Arabesque),
        ] {
            assert_eq!(detect_all(text), format, "{text:?}");
        }
    }

    #[test]
    fn the_extension_breaks_ties() {
        let cycle = b"4 4\n2 4\n1 3\n2 4\n1 3\n";
        assert_eq!(detect(cycle, true, "graph"), Format::Metis);
        assert_eq!(detect(cycle, true, "txt"), Format::Edges);
        let pair = b"0 1 1\n1 0 0\n";
        assert_eq!(detect(pair, true, ""), Format::Arabesque);
        assert_eq!(detect(pair, true, "edges"), Format::Edges);
        assert_eq!(detect(b"2 2 1\n2 1\n", true, "mtx"), Format::Mtx);
        assert_eq!(detect(b"1 0\n\n", true, "metis"), Format::Metis);
        assert_eq!(detect(b"1000000000 0\n", true, "metis"), Format::Metis);
        assert_eq!(detect(b"t 2 1\nv 0 0\n", true, "metis"), Format::Tve);
    }
}

//! LAD, of subgraph isomorphism: the number of vertices, then for each its degree and its neighbours. With labels,
//! a vertex's label stands in front of its degree.

use std::io::BufRead;

use super::Sink;
use super::fields::{VertexNumbers, number, words};
use gramer_base::counted::counted;
use gramer_base::error::Result;

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut lines = sink.lines(input);
    let Some((line, text)) = lines.next()? else {
        return Err(sink.fault("holds no number of vertices"));
    };
    let count = number(sink, line, Some(text), "number of vertices")?;
    let vertices = VertexNumbers { first: 0, count, line };
    let mut rows: Vec<(u64, Vec<u64>)> = vec![];
    while let Some((line, text)) = lines.next()? {
        let row = words(text).map(|word| number(sink, line, Some(word), "next number"));
        rows.push((line, row.collect::<Result<_>>()?));
    }
    if rows.len() as u64 != count {
        let what = format!(
            "{}, but the lines of {}: the file is cut off, or its head is wrong",
            counted(count, "vertex is declared", "vertices are declared"),
            counted(rows.len(), "follows", "follow")
        );
        return Err(sink.fault_at(line, what));
    }
    let is_degree = |row: &[u64], at: usize| {
        row.len().checked_sub(at + 1).is_some_and(|behind| row[at] == behind as u64)
    };
    let all_degrees = |at: usize| rows.iter().all(|(_, row)| is_degree(row, at));
    let labelled = !all_degrees(0) && all_degrees(1);
    let at = usize::from(labelled);
    if let Some((line, row)) = rows.iter().find(|(_, row)| !is_degree(row, at)) {
        let what = format!(
            "this line has {} behind the degree {}: the file is cut off, or is not LAD",
            counted(row.len().saturating_sub(1), "number", "numbers"),
            row.first().copied().unwrap_or_default()
        );
        return Err(sink.fault_at(*line, what));
    }
    vertices.declare_listed(sink)?;
    for (v, (line, row)) in (0..).zip(&rows) {
        if labelled {
            sink.vertex_label(v, itoa::Buffer::new().format(row[0]).as_bytes())?;
        }
        for &neighbour in &row[at + 1..] {
            vertices.check(sink, *line, neighbour)?;
            sink.edge(v, neighbour, None)?;
        }
    }
    Ok(())
}

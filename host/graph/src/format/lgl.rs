//! LGL of igraph: `# a`, then a line `b` or `b 0.5` for each neighbour of a.

use std::io::BufRead;

use super::Sink;
use super::fields::words;
use crate::read::scan::{self, is_number, quote};
use gramer_base::error::Result;

/// The vertex that a line `# a` begins with.
fn vertex(line: &[u8]) -> Option<&[u8]> {
    let mut words = words(line.strip_prefix(b"#")?);
    words.next().filter(|_| words.next().is_none())
}

/// A neighbour with its weight.
fn neighbour(line: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let mut words = words(line);
    let (name, weight) = (words.next()?, words.next());
    (words.next().is_none() && weight.is_none_or(is_number)).then_some((name, weight))
}

/// Whether a text begins with such lines, and some neighbour has no weight, or one with decimals: an edge has two ids.
pub(super) fn sniff(head: &[u8]) -> bool {
    let end = memchr::memrchr(b'\n', head).map_or(0, |at| at + 1);
    let mut lines = scan::lines(&head[..end]).map(|(_, line)| line).filter(|line| !line.is_empty());
    if lines.next().and_then(vertex).is_none() {
        return false;
    }
    let (mut neighbours, mut alone) = (0, false);
    for line in lines.take(1000) {
        if line[0] == b'#' {
            if vertex(line).is_none() {
                return false;
            }
        } else {
            let Some((name, weight)) = neighbour(line) else { return false };
            // Two fields, and no name.
            if name.iter().any(|byte| b",;|".contains(byte)) {
                return false;
            }
            neighbours += 1;
            alone |= weight.is_none_or(|weight| weight.contains(&b'.'));
        }
    }
    neighbours > 0 && alone
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = sink.lines(input);
    let (mut source, mut weights) = (None, false);
    while let Some((line, text)) = lines.next()? {
        if text[0] == b'#' {
            let Some(name) = vertex(text) else {
                let what = format!("{} is no vertex: `# name`", quote(text));
                return Err(sink.fault_at(line, what));
            };
            source = Some(sink.vertex(name)?);
            continue;
        }
        let (Some(source), Some((name, weight))) = (source, neighbour(text)) else {
            let what =
                format!("{} is no neighbour of a vertex: `name` or `name weight`", quote(text));
            return Err(sink.fault_at(line, what));
        };
        weights |= weight.is_some();
        let target = sink.vertex(name)?;
        sink.edge(source, target, None)?;
    }
    if !lines.is_ended() {
        sink.note(scan::NO_NEWLINE);
    }
    if weights {
        sink.note("weights are left out");
    }
    Ok(())
}

//! Formats of bare numbers are guessed: what a guess implies must hold in the whole file.

use std::path::Path;

use super::Format;
use super::edges::PAIRS;
use crate::Graph;
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result};

/// Whether a format is a guess: neither the beginning of the text shows it, nor the extension of the file.
pub(super) fn is_guess(format: Format, head: &[u8], extension: &str) -> bool {
    let entry = format.entry();
    let shows = entry.sniff.is_some_and(|sniff| sniff(head)) || entry.reads.contains(&extension);
    entry.guess.is_some() && !shows
}

/// Interpretation of a line.
fn lines(format: Format) -> &'static str {
    format.entry().guess.unwrap_or("two ids")
}

/// Names the guess, for a remark.
pub(super) fn note(format: Format) -> String {
    format!("read as {format} ({}); the setting `format` names another", lines(format))
}

/// An error about what was read, with the guess if it is one.
pub(super) fn told(error: Error, format: Format, guessed: bool) -> Error {
    match error {
        Error::Input { place, what } if guessed => Error::input(
            place,
            format!("{what} (read as {format}; the setting `format` names another)"),
        ),
        other => other,
    }
}

/// Remedy for a wrong guess.
pub(super) fn ways(format: Format) -> String {
    format!(
        "tried: edges (lines differ), {format} ({}); name the format with the setting `format`, or, if each line is \
         a vertex and its neighbours, {PAIRS}",
        lines(format)
    )
}

/// Checks a guess against the graph: lists of neighbours have each edge once, or each twice.
///
/// # Errors
/// [`Error::Input`] where they have some once and others twice.
pub(super) fn check(path: &Path, format: Format, graph: &Graph) -> Result<()> {
    let (twice, edges) = (graph.stats().duplicates, graph.edges() as u64);
    let once = match format {
        Format::Metis => false,
        Format::Arabesque => twice == 0,
        _ => return Ok(()),
    };
    if once || twice == edges {
        return Ok(());
    }
    let what = format!(
        "looks like {format}, but of {} {} listed again, where all or none should be; {}",
        counted(edges, "edge", "edges"),
        counted(twice, "is", "are"),
        ways(format)
    );
    Err(Error::input(Place::file(path), what))
}

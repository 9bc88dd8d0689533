//! Words and numbers of a line, for readers of tools' formats.

use super::Sink;
use crate::read::scan::{self, is_blank, quote};
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// The words of a line, parted by white space.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

/// The words of the first line of a head that is neither blank nor begins with one of `comments`.
pub(super) fn first_words<'h>(head: &'h [u8], comments: &[u8]) -> Vec<&'h [u8]> {
    let content = |line: &&[u8]| !line.is_empty() && !comments.contains(&line[0]);
    let first = scan::lines(head).map(|(_, line)| line).find(content);
    first.map_or(vec![], |line| words(line).collect())
}

/// A number of a line; `of` says what it should be.
///
/// # Errors
/// [`Error::Input`](gramer_base::Error::Input) for a missing word and for anything but digits.
pub(super) fn number(sink: &Sink<'_>, line: u64, word: Option<&[u8]>, of: &str) -> Result<u64> {
    let Some(word) = word else { return Err(sink.fault_at(line, format!("the {of} is missing"))) };
    scan::count(word).ok_or_else(|| {
        sink.fault_at(
            line,
            format!("{} is not a whole number, where the {of} should be", quote(word)),
        )
    })
}

/// Vertices numbered by the format: `count` of them, from `first` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct VertexNumbers {
    pub first: u64,
    pub count: u64,
    /// Line that declares their number.
    pub line: u64,
}

impl VertexNumbers {
    /// The vertex of a number.
    ///
    /// # Errors
    /// [`Error::Input`](gramer_base::Error::Input) for a word that is not a number, or out of range.
    pub fn vertex(&self, sink: &mut Sink<'_>, line: u64, word: Option<&[u8]>) -> Result<u64> {
        let number = number(sink, line, word, "number of a vertex")?;
        self.check(sink, line, number)?;
        sink.vertex(itoa::Buffer::new().format(number).as_bytes())
    }

    /// Refuses a number beyond the last vertex.
    pub fn check(&self, sink: &Sink<'_>, line: u64, number: u64) -> Result<()> {
        let VertexNumbers { first, count, line: declared } = self;
        if number >= *first && number - first < *count {
            return Ok(());
        }
        let what = format!(
            "vertex {number} is out of range: line {declared} says {}, numbered from {first}",
            counted(*count, "vertex", "vertices")
        );
        Err(sink.fault_at(line, what))
    }

    /// Declares all of them, once the edges are read: a few bytes can't ask for all memory.
    ///
    /// # Errors
    /// [`Error::Input`](gramer_base::Error::Input) for too many.
    pub fn declare(&self, sink: &mut Sink<'_>) -> Result<()> {
        sink.check_vertices(self.count, sink.edges(), self.line)?;
        self.declare_listed(sink)
    }

    /// As [`VertexNumbers::declare`], for files with an entry for each vertex.
    pub fn declare_listed(&self, sink: &mut Sink<'_>) -> Result<()> {
        for number in self.first..self.first + self.count {
            sink.vertex(itoa::Buffer::new().format(number).as_bytes())?;
        }
        Ok(())
    }
}

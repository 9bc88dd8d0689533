//! Heads of the text formats that are read by blocks of lines.

use super::chunk::Parser;
use super::claims::Claims;
use super::scan::{self, Fault, fields, is_comment};
use super::{arabesque, edges, matrix_market, metis, records, triples};

/// The beginning of a text.
pub(crate) struct Head<'a> {
    pub text: &'a [u8],
    /// Whether the format was named.
    pub forced: bool,
    /// Claims of the text about the graph.
    pub claims: &'a mut Claims,
}

/// A parser, and where its text begins behind the head.
pub(crate) struct Header {
    pub parser: Box<dyn Parser>,
    pub body: usize,
}

/// Reads the head of a text.
pub(crate) type ReadHead = fn(&mut Head<'_>) -> Result<Header, Fault>;

impl Header {
    fn of<P: Parser + 'static>((parser, body): (P, usize)) -> Self {
        Header { parser: Box::new(parser), body }
    }
}

pub(crate) fn edges_header(head: &mut Head<'_>) -> Result<Header, Fault> {
    let (edges, body) = edges::EdgeList::header(head.text, head.forced)?;
    head.claims.first_line = edges.first_numbers(&head.text[body..]);
    Ok(Header::of((edges, body)))
}

pub(crate) fn records_header(head: &mut Head<'_>) -> Result<Header, Fault> {
    records::Records::header(head.text).map(Header::of)
}

pub(crate) fn arabesque_header(head: &mut Head<'_>) -> Result<Header, Fault> {
    Ok(Header::of((arabesque::Arabesque { guessed: !head.forced }, 0)))
}

pub(crate) fn metis_header(head: &mut Head<'_>) -> Result<Header, Fault> {
    metis::Metis::header(head.text).map(Header::of)
}

pub(crate) fn matrix_header(head: &mut Head<'_>) -> Result<Header, Fault> {
    let (matrix, body) = matrix_market::MatrixMarket::header(head.text)?;
    head.claims.directed = head.claims.directed.take().or(matrix.general());
    Ok(Header::of((matrix, body)))
}

pub(crate) fn triples_header(head: &mut Head<'_>) -> Result<Header, Fault> {
    triples::Triples::header(head.text).map(Header::of)
}

/// The first two words of the first line that is neither blank nor a comment.
fn first_words(text: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let content = |(_, line): &(usize, &[u8])| !line.is_empty() && !is_comment(line);
    let (_, line) = scan::lines(text).find(content)?;
    let mut words = fields(line);
    Some((words.next()?, words.next()))
}

/// Whether a text is of `t`, `v` and `e` lines without numbers in its head.
pub(crate) fn is_lg(text: &[u8]) -> bool {
    matches!(first_words(text), Some((b"t", Some(b"#")) | (b"v" | b"e", _)))
}

/// Whether a text is of `t`, `v` and `e` lines with the numbers of vertices and edges in its head.
pub(crate) fn is_tve(text: &[u8]) -> bool {
    matches!(first_words(text), Some((b"t", second)) if second != Some(b"#"))
}

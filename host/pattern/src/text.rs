//! Patterns in one line: `a-b, b-c, c-a`.
//!
//! | written as | means |
//! |---|---|
//! | `a-b` | an edge; `a-b-c` are two |
//! | `a-[7]-b` | an edge with the label 7 |
//! | `a!-b` | a pair that must not be joined |
//! | `a:3` | a vertex with the label 3 |
//! | `a:*`, `a-[*]-b` | any label |
//! | `a` | a vertex by itself |
//!
//! Names of vertices are of letters, digits and `_`. Labels are too, or stand in double quotes (`a:"kinase, human"`,
//! where `\"` and `\\` stand for `"` and `\`). A comma, a semicolon or a line end separates parts; spaces are free.

use gramer_base::error::{Error, Result, quote};
use gramer_graph::{Label, NO_LABEL};

use crate::input::{LabelPlace, LabelText, stand_in};
use crate::{MAX_VERTICES, Pattern, similar};

/// Whether words are meant as a pattern in one line rather than as a name or a path.
pub(crate) fn is_text(words: &str) -> bool {
    let outside: String = words.split('"').step_by(2).collect();
    let links = outside.matches('-').count();
    let signs =
        outside.contains([',', ';', ':', '[', '!', '>', '\n']) && outside.contains(['-', ':']);
    let single = |part: &str| part.trim().chars().count() == 1;
    let is_edge = links == 1 && outside.split('-').all(single) && similar(words).is_empty();
    let is_word = |c: char| is_of_word(c) || c == '-' || c == ' ';
    let is_vertex = single(&outside) && outside.trim().chars().all(is_of_word);
    !outside.contains(['/', '\\', '.', '{'])
        && (signs || is_edge || is_vertex || links > 1 && outside.chars().all(is_word))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A pattern from a line of text, with its labels as written there; see the module.
///
/// ```
/// use gramer_pattern::{Pattern, name, parse_text};
///
/// let (triangle, labels) = parse_text("a-b, b-c, c-a")?;
/// assert_eq!((name(&triangle), labels.len()), ("triangle".into(), 0));
/// let (wedge, _) = parse_text("a:1 -[7]- b - c, a!-c")?;
/// assert_eq!(wedge.edge_label(0, 1), Some(7));
/// assert_eq!(wedge.absences(), [(0, 2)]);
/// let wrong = parse_text("a-b, b-").unwrap_err().to_string();
/// assert!(wrong.contains("character 8: the name of a vertex is missing"), "{wrong}");
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] that names the character.
pub fn parse_text(text: &str) -> Result<(Pattern, Vec<LabelText>)> {
    let mut reader =
        Reader { text, characters: text.chars().collect(), at: 0, parts: Parts::default() };
    reader.read()?;
    reader.pattern()
}

/// The line of text that [`parse_text`] reads as `pattern`, its vertices named by their numbers and its labels by
/// `vertex` and `edge`.
///
/// ```
/// use gramer_pattern::{parse_text, pattern_text};
///
/// let (pattern, _) = parse_text("a:1-b-[2]-c, a!-c, d")?;
/// let number = |label: u32| label.to_string();
/// assert_eq!(pattern_text(&pattern, &number, &number), "0:1, 0-1, 1-[2]-2, 0!-2, 3");
/// # Ok::<(), gramer_base::Error>(())
/// ```
pub fn pattern_text(
    pattern: &Pattern,
    vertex: &dyn Fn(Label) -> String,
    edge: &dyn Fn(Label) -> String,
) -> String {
    let quoted = |label: String| match !label.is_empty() && label.chars().all(is_of_word) {
        true => label,
        false => format!("\"{}\"", label.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    let labels = (0..pattern.vertices()).filter_map(|v| match pattern.vertex_label(v) {
        NO_LABEL => None,
        label => Some(format!("{v}:{}", quoted(vertex(label)))),
    });
    let edges = pattern.edges().into_iter().map(|(i, j)| match pattern.edge_label(i, j) {
        Some(label) if label != NO_LABEL => format!("{i}-[{}]-{j}", quoted(edge(label))),
        _ => format!("{i}-{j}"),
    });
    let absent = pattern.absences().into_iter().map(|(i, j)| format!("{i}!-{j}"));
    let alone = (0..pattern.vertices()).filter(|&v| {
        pattern.degree(v) == 0 && pattern.absent(v) == 0 && pattern.vertex_label(v) == NO_LABEL
    });
    labels
        .chain(edges)
        .chain(absent)
        .chain(alone.map(|v| v.to_string()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A label of the text.
#[derive(Clone, PartialEq)]
enum LabelToken {
    Any,
    Text(String),
}

#[derive(Default)]
struct Parts {
    /// Names of vertices with their labels, in the order of their first place.
    vertices: Vec<(String, Option<LabelToken>)>,
    edges: Vec<(usize, usize, Option<LabelToken>)>,
    absent: Vec<(usize, usize)>,
}

enum Link {
    Edge(Option<LabelToken>),
    Absent,
}

struct Reader<'a> {
    text: &'a str,
    characters: Vec<char>,
    at: usize,
    parts: Parts,
}

impl Reader<'_> {
    fn wrong(&self, at: usize, what: impl std::fmt::Display) -> Error {
        Error::usage(format!("the pattern {}, character {}: {what}", quote(self.text), at + 1))
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn takes(&mut self, c: char) -> bool {
        let is = self.peek() == Some(c);
        self.at += usize::from(is);
        is
    }

    /// Skips spaces; line ends separate parts.
    fn spaces(&mut self) {
        while self.peek().is_some_and(|c| c.is_whitespace() && c != '\n') {
            self.at += 1;
        }
    }

    fn word(&mut self) -> String {
        let rest = &self.characters[self.at..];
        let word: String = rest.iter().take_while(|&&c| is_of_word(c)).collect();
        self.at += word.chars().count();
        word
    }

    fn read(&mut self) -> Result<()> {
        loop {
            self.spaces();
            match self.peek() {
                None => return Ok(()),
                Some(',' | ';' | '\n') => self.at += 1,
                Some(_) => self.chain()?,
            }
        }
    }

    /// `a-b-c`, up to a separator.
    fn chain(&mut self) -> Result<()> {
        let mut from = self.vertex()?;
        loop {
            self.spaces();
            let at = self.at;
            if matches!(self.peek(), None | Some(',' | ';' | '\n')) {
                return Ok(());
            }
            let link = self.link()?;
            self.spaces();
            let to = self.vertex()?;
            self.join(at, from, to, link)?;
            from = to;
        }
    }

    /// `a` or `a:label`.
    fn vertex(&mut self) -> Result<usize> {
        let at = self.at;
        let name = self.word();
        if name.is_empty() {
            let signs = "a-b is an edge, a!-b a pair that must not be joined";
            return Err(match self.peek() {
                None | Some(',' | ';' | '\n') => self.wrong(at, "the name of a vertex is missing"),
                Some(c) => self.wrong(
                    at,
                    format_args!(
                        "{} is not part of the name of a vertex; {signs}",
                        quote(c.to_string())
                    ),
                ),
            });
        }
        let label = match self.takes(':') {
            true => Some(self.label()?),
            false => None,
        };
        let known = self.parts.vertices.iter().position(|(known, _)| *known == name);
        let vertex = known.unwrap_or(self.parts.vertices.len());
        if known.is_none() {
            if vertex == MAX_VERTICES {
                return Err(
                    self.wrong(at, format_args!("a pattern has at most {MAX_VERTICES} vertices"))
                );
            }
            self.parts.vertices.push((name, label));
            return Ok(vertex);
        }
        let before = &self.parts.vertices[vertex].1;
        if label.is_some() && before.is_some() && label != *before {
            return Err(self.wrong(at, format_args!("{} has another label before", quote(&name))));
        }
        if label.is_some() {
            self.parts.vertices[vertex].1 = label;
        }
        Ok(vertex)
    }

    /// `*`, a word, or a text in quotes.
    fn label(&mut self) -> Result<LabelToken> {
        let at = self.at;
        if self.takes('*') {
            return Ok(LabelToken::Any);
        }
        if !self.takes('"') {
            let word = self.word();
            return match word.is_empty() {
                true => Err(self.wrong(
                    at,
                    "a label is missing: a number, a word, * for any, or a text in double quotes",
                )),
                false => Ok(LabelToken::Text(word)),
            };
        }
        let mut label = String::new();
        loop {
            let c = self.peek().ok_or_else(|| self.wrong(at, "the quote is not closed"))?;
            self.at += 1;
            match c {
                '"' => return Ok(LabelToken::Text(label)),
                '\\' if matches!(self.peek(), Some('"' | '\\')) => {
                    label.extend(self.peek());
                    self.at += 1;
                }
                c => label.push(c),
            }
        }
    }

    /// `-`, `-[label]-` or `!-`.
    fn link(&mut self) -> Result<Link> {
        let at = self.at;
        if self.takes('!') {
            return match self.takes('-') {
                true => Ok(Link::Absent),
                false => Err(self.wrong(at, "`!` is followed by `-`: a!-b must not be joined")),
            };
        }
        if !self.takes('-') {
            let what = "an edge `-`, `!-` or a comma is missing here";
            return Err(self.wrong(at, what));
        }
        let directed = matches!(self.peek(), Some('>'));
        let link = match self.takes('[') {
            false => Link::Edge(None),
            true => {
                self.spaces();
                let label = self.label()?;
                self.spaces();
                if !self.takes(']') || !self.takes('-') {
                    return Err(self.wrong(self.at, "the label of an edge is written a-[label]-b, in double quotes if it is not of letters, digits and _"));
                }
                Link::Edge(Some(label))
            }
        };
        match directed || self.peek() == Some('>') {
            true => Err(self.wrong(self.at, "edges have no direction: write a-b")),
            false => Ok(link),
        }
    }

    fn join(&mut self, at: usize, from: usize, to: usize, link: Link) -> Result<()> {
        let names = [from, to].map(|v| self.parts.vertices[v].0.as_str());
        let pair = format!("{}-{}", names[0], names[1]);
        if from == to {
            return Err(self.wrong(at, format_args!("{pair} is a loop")));
        }
        let (i, j) = (from.min(to), from.max(to));
        let joined = self.parts.edges.iter().any(|&(a, b, _)| (a, b) == (i, j));
        let absent = self.parts.absent.contains(&(i, j));
        match (joined, absent, &link) {
            (true, _, Link::Edge(_)) | (_, true, Link::Absent) => {
                Err(self.wrong(at, format_args!("{pair} is repeated")))
            }
            (true, ..) | (_, true, _) => Err(self.wrong(
                at,
                format_args!("{pair} is both an edge and a pair that must not be joined"),
            )),
            _ => {
                match link {
                    Link::Edge(label) => self.parts.edges.push((i, j, label)),
                    Link::Absent => self.parts.absent.push((i, j)),
                }
                Ok(())
            }
        }
    }

    /// The pattern of all parts.
    fn pattern(&self) -> Result<(Pattern, Vec<LabelText>)> {
        let Parts { vertices, edges, absent } = &self.parts;
        if vertices.is_empty() {
            return Err(Error::usage(
                "the pattern is empty: write edges, for example a-b, b-c, c-a",
            ));
        }
        let mut pattern = Pattern::new(vertices.len());
        let mut labels: Vec<LabelText> = vec![];
        let mut number = |place, label: &Option<LabelToken>| match label {
            None | Some(LabelToken::Any) => NO_LABEL,
            Some(LabelToken::Text(text)) => stand_in(&mut labels, place, text),
        };
        for &(i, j, _) in edges {
            pattern.add_edge(i, j);
        }
        for (i, (_, label)) in vertices.iter().enumerate().filter(|(_, (_, label))| label.is_some())
        {
            pattern.set_vertex_label(i, number(LabelPlace::Vertex(i), label));
        }
        for (i, j, label) in edges.iter().filter(|(.., label)| label.is_some()) {
            pattern.set_edge_label(*i, *j, number(LabelPlace::Edge(*i, *j), label));
        }
        for &(i, j) in absent {
            pattern.set_absent(i, j);
        }
        Ok((pattern, labels))
    }
}

#[cfg(test)]
mod tests;

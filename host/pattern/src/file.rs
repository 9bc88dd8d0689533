//! Patterns from files.
//!
//! | written as | example |
//! |---|---|
//! | t/v/e lines, as query sets and `.lg` files have them | `t 3 2`, `v 0 5`, `v 1 *`, `e 0 1 7` |
//! | edges, one per line, with an optional label | `0 1`, `1 2` |
//! | as on the command line ([`parse_text`]) | `a-b, b-c` |
//! | YAML or JSON, as results print a pattern | `{vertices: 3, edges: [[0, 1], [0, 2]]}` |
//!
//! A label of `*` or `-1` (`null` in YAML and JSON) stands for any label. A label that is no number is a text, whose
//! number the graph knows.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::input::{LabelPlace, LabelText, Origin, PatternInput, stand_in};
use super::{MAX_VERTICES, Pattern, parse_text};
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result, quote, said};
use gramer_base::input::check_yaml;
use gramer_graph::{Label, NO_LABEL};

/// A pattern from the bytes of a file; `path` serves for messages only.
///
/// ```
/// use std::path::Path;
///
/// use gramer_pattern::{Pattern, parse_pattern};
///
/// let path = Path::new("square.txt");
/// let square = parse_pattern(b"0 1\n1 2\n2 3\n3 0\n", path)?;
/// assert_eq!(square, Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]));
/// let wrong = parse_pattern(b"0 1\n1 1\n", path).unwrap_err();
/// assert_eq!(wrong.to_string(), "square.txt:2: the edge 1 1 is a loop");
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`] that names the line, for what is no pattern: empty, more than [`MAX_VERTICES`] vertices, unknown or repeated vertices, loops, repeated edges, words that are
/// no numbers; [`Error::Usage`] for a label that is a text, which only [`read_pattern`](crate::read_pattern) takes.
pub fn parse_pattern(bytes: &[u8], path: &Path) -> Result<Pattern> {
    let (pattern, labels) = parse_file(bytes, path)?;
    PatternInput { pattern, labels, origin: Origin::File, other: None }.resolve(None, None)
}

/// As [`parse_pattern`], with the labels as they are written.
pub(crate) fn parse_file(bytes: &[u8], path: &Path) -> Result<(Pattern, Vec<LabelText>)> {
    let whole = |what: String| Error::input(Place::file(path), what);
    let text = std::str::from_utf8(bytes).map_err(|_| whole("this is not text".into()))?;
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().map(str::trim).find(|l| !l.is_empty() && !is_comment(l));
    let Some(first) = first else {
        return Err(whole("the pattern is empty".into()));
    };
    let (pattern, labels) = if is_drawn(first) {
        let lines = text.lines().filter(|line| !is_comment(line.trim()));
        parse_text(&lines.collect::<Vec<_>>().join("\n"))
            .map_err(|error| whole(error.to_string()))?
    } else if first.starts_with('{') || first.contains(':') || first == "---" {
        parse_yaml(text, path)?
    } else {
        parse_lines(text, path)?
    };
    if pattern.vertices() == 0 {
        return Err(whole("the pattern is empty".into()));
    }
    Ok((pattern, labels))
}

/// Whether a line has an edge such as `a-b`. A number's minus sign never follows a word at once.
fn is_drawn(line: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | ']' | '!');
    let mut before = line.chars().zip(line.chars().skip(1));
    !line.starts_with('{') && before.any(|(c, next)| word(c) && next == '-')
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with('%')
}

fn too_large(vertices: usize) -> String {
    format!("the pattern has {vertices} vertices, but at most {MAX_VERTICES} are possible")
}

/// The pattern as results print it, or an entry of `results` that holds it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternDocument {
    vertices: usize,
    edges: Vec<(usize, usize)>,
    #[serde(default)]
    labels: Option<Vec<serde_yaml::Value>>,
    #[serde(default)]
    edge_labels: Option<Vec<serde_yaml::Value>>,
    #[serde(default)]
    absent: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    pattern: PatternDocument,
    #[serde(default, rename = "name")]
    _name: Option<String>,
    #[serde(default, rename = "count")]
    _count: Option<serde_yaml::Value>,
}

fn parse_yaml(text: &str, path: &Path) -> Result<(Pattern, Vec<LabelText>)> {
    let whole = |what: String| Error::input(Place::file(path), what);
    check_yaml(text).map_err(|(line, what)| match line {
        Some(line) => Error::input(Place::line(path, line), what),
        None => whole(what),
    })?;
    let read = match serde_yaml::from_str::<PatternDocument>(text) {
        Ok(written) => Ok(written),
        Err(e) => serde_yaml::from_str::<Entry>(text).map(|entry| entry.pattern).map_err(|_| e),
    };
    let written = read.map_err(|e| match e.location() {
        Some(at) => Error::input(Place::line(path, at.line() as u64), said(&e.to_string())),
        None => whole(said(&e.to_string())),
    })?;
    let PatternDocument { vertices, edges, labels, edge_labels, absent } = written;
    if vertices > MAX_VERTICES {
        return Err(whole(too_large(vertices)));
    }
    for (what, given, expected) in [
        ("labels", labels.as_ref().map(Vec::len), vertices),
        ("edge_labels", edge_labels.as_ref().map(Vec::len), edges.len()),
    ] {
        if given.is_some_and(|given| given != expected) {
            return Err(whole(format!("`{what}` must have {expected} entries")));
        }
    }
    let mut pattern = Pattern::new(vertices);
    for &(i, j) in &edges {
        if i >= vertices || j >= vertices {
            return Err(whole(format!("the edge [{i}, {j}] names a vertex that isn't there")));
        }
        if i == j {
            return Err(whole(format!("the edge [{i}, {j}] is a loop")));
        }
        if pattern.has_edge(i, j) {
            return Err(whole(format!("the edge [{i}, {j}] is repeated")));
        }
        pattern.add_edge(i, j);
    }
    let mut texts = vec![];
    let mut number = |place, label: serde_yaml::Value| match label {
        serde_yaml::Value::Null => Ok(NO_LABEL),
        serde_yaml::Value::String(text) => Ok(stand_in(&mut texts, place, &text)),
        serde_yaml::Value::Number(number) => match number.as_u64().map(Label::try_from) {
            Some(Ok(label)) if label != NO_LABEL => {
                Ok(stand_in(&mut texts, place, &label.to_string()))
            }
            _ => Err(whole(format!("the label {number} is out of range"))),
        },
        _ => Err(whole("a label is a number, a text or null".into())),
    };
    for (i, label) in labels.into_iter().flatten().enumerate() {
        pattern.set_vertex_label(i, number(LabelPlace::Vertex(i), label)?);
    }
    for (&(i, j), label) in edges.iter().zip(edge_labels.into_iter().flatten()) {
        pattern.set_edge_label(i, j, number(LabelPlace::Edge(i, j), label)?);
    }
    for (i, j) in absent {
        if i >= vertices || j >= vertices || i == j || pattern.has_edge(i, j) {
            let what = "is not a pair of `absent`: two vertices without an edge between them";
            return Err(whole(format!("[{i}, {j}] {what}")));
        }
        pattern.set_absent(i, j);
    }
    Ok((pattern, texts))
}

/// One line that counts, with where it is.
struct Line<'a> {
    path: &'a Path,
    number: u64,
    words: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn fault(&self, what: impl Into<String>) -> Error {
        Error::input(Place::line(self.path, self.number), what)
    }

    /// The line for a message, its words one space apart.
    fn quoted(&self) -> String {
        // No more of a long line than is shown.
        quote(self.words[..self.words.len().min(64)].join(" "))
    }

    /// Refuses words from `at` on.
    fn ends(&self, at: usize) -> Result<()> {
        match self.words.get(at) {
            None => Ok(()),
            Some(word) => Err(self.fault(format!("{} is too much", quote(word)))),
        }
    }

    /// The vertex at word `at`.
    fn id(&self, at: usize) -> Result<u64> {
        let Some(word) = self.words.get(at) else {
            return Err(self.fault(format!("{} ends too early", self.quoted())));
        };
        word.parse()
            .map_err(|_| self.fault(format!("{} is not a vertex: a number from 0 on", quote(word))))
    }

    /// The vertex at word `at` of a line that is an edge.
    fn end_vertex(&self, at: usize) -> Result<u64> {
        match self.words.get(at) {
            Some(word) if word.starts_with(char::is_alphabetic) => Err(self.fault(format!(
                "{} is not a vertex: a number from 0 on; write edges between names as `a-b`",
                quote(word)
            ))),
            _ => self.id(at),
        }
    }

    /// The two numbers of a head: V and E, or 0 and V; none in `t # 1`.
    fn counts(&self) -> Result<Option<(u64, u64)>> {
        let wrong = || {
            let what = "is not a head of a pattern: `t V E` or `t # 1`";
            self.fault(format!("{} {what}", self.quoted()))
        };
        match self.words[1..] {
            // Query files of TurboFlux and its kin write `t # 0 0`.
            ["#"] | ["#", _] | ["#", _, _] => Ok(None),
            [a, b] => match (a.parse(), b.parse()) {
                (Ok(a), Ok(b)) => Ok(Some((a, b))),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }

    /// The label at word `at`, if there is one, as written.
    fn label(&self, at: usize) -> Result<Option<&'a str>> {
        let Some(&word) = self.words.get(at) else { return Ok(None) };
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        if digits && word.parse().ok().is_none_or(|label: Label| label == NO_LABEL) {
            let what = format!(
                "{} is not a label: a number below {NO_LABEL}, a text, or * for any",
                quote(word)
            );
            return Err(self.fault(what));
        }
        Ok(Some(word))
    }
}

fn parse_lines(text: &str, path: &Path) -> Result<(Pattern, Vec<LabelText>)> {
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !is_comment(line.trim()))
        .map(|(at, line)| Line {
            path,
            number: at as u64 + 1,
            words: line
                .split(|c: char| c.is_whitespace() || c == ',')
                .filter(|w| !w.is_empty())
                .collect(),
        })
        .collect();
    let records = lines[0].words.first().is_some_and(|w| matches!(*w, "t" | "v" | "e"));
    let mut drawn = PatternLines::default();
    for (nth, line) in lines.iter().enumerate() {
        if records {
            drawn.record(line, nth, lines.get(nth + 1))?;
        } else {
            drawn.edge(line)?;
        }
    }
    if !records {
        drawn.check_first_edge()?;
    }
    drawn.check_counts(&lines[0])?;
    drawn.check_degrees()?;
    if drawn.vertices.len() > MAX_VERTICES {
        return Err(Error::input(Place::file(path), too_large(drawn.vertices.len())));
    }
    drawn.pattern()
}

/// The content of a pattern's lines.
#[derive(Default)]
struct PatternLines<'a> {
    /// The two numbers of the head.
    counts: Option<(u64, u64)>,
    /// Vertices with their labels, by id.
    vertices: BTreeMap<u64, Option<&'a str>>,
    /// Edges with the ids of their ends and their label.
    edges: Vec<(&'a Line<'a>, u64, u64, Option<&'a str>)>,
    /// Degrees of vertices where `v` lines have them.
    degrees: Vec<(&'a Line<'a>, u64, u64)>,
}

impl<'a> PatternLines<'a> {
    /// Refuses a first line that says how many vertices and edges follow, as if it were an edge.
    fn check_first_edge(&self) -> Result<()> {
        let [(line, vertices, edges, None), others @ ..] = &self.edges[..] else { return Ok(()) };
        let mut ids: Vec<u64> = others.iter().flat_map(|&(_, i, j, _)| [i, j]).collect();
        ids.sort_unstable();
        ids.dedup();
        if others.is_empty() || *edges != others.len() as u64 || *vertices != ids.len() as u64 {
            return Ok(());
        }
        let what = "reads as an edge but is the numbers of vertices and edges that follow; put # in front of it, or, if \
                    it is an edge, write its ends the other way round";
        Err(line.fault(format!("{} {what}", line.quoted())))
    }

    /// The line number `nth`, one of `t`, `v` and `e`, before the line `next`.
    fn record(&mut self, line: &'a Line<'a>, nth: usize, next: Option<&Line<'_>>) -> Result<()> {
        match line.words.first().copied() {
            // As in a graph file, this ends the pattern.
            Some("t") if line.words[1..] == ["#", "-1"] => {
                if let Some(next) = next {
                    return Err(next.fault("a pattern ends before this line (`t # -1`)"));
                }
            }
            Some("t") => {
                if nth > 0 {
                    return Err(line.fault("a second pattern begins here; a file holds one"));
                }
                self.counts = line.counts()?;
            }
            Some("v") => {
                let id = line.id(1)?;
                let label = line.label(2)?;
                match line.words.get(3) {
                    // Nothing more, in query files of TurboFlux and its kin.
                    None | Some(&"-1") => {}
                    // The degree, as in query sets.
                    Some(word) => {
                        let number = word.parse().map_err(|_| {
                            line.fault(format!(
                                "{} is not a degree: a number from 0 on",
                                quote(word)
                            ))
                        })?;
                        self.degrees.push((line, id, number));
                    }
                }
                line.ends(4)?;
                if self.vertices.insert(id, label).is_some() {
                    return Err(line.fault(format!("vertex {id} is repeated")));
                }
            }
            Some("e") => {
                line.ends(4)?;
                self.edges.push((line, line.id(1)?, line.id(2)?, line.label(3)?));
            }
            Some(word) => {
                return Err(line.fault(format!("{} is not a kind of line: t, v or e", quote(word))));
            }
            // A line of commas alone.
            None => self.edge(line)?,
        }
        Ok(())
    }

    /// A line of a list of edges, which declares their ends.
    fn edge(&mut self, line: &'a Line<'a>) -> Result<()> {
        if line.words.len() > 3 {
            let what = "is not an edge: two vertices, and an optional label";
            return Err(line.fault(format!("{} {what}", line.quoted())));
        }
        let (u, v) = (line.end_vertex(0)?, line.end_vertex(1)?);
        self.vertices.entry(u).or_default();
        self.vertices.entry(v).or_default();
        self.edges.push((line, u, v, line.label(2)?));
        Ok(())
    }

    /// Refuses a pattern whose numbers of vertices or edges differ from its head.
    fn check_counts(&self, head: &Line<'_>) -> Result<()> {
        let (v, e) = (self.vertices.len() as u64, self.edges.len() as u64);
        match self.counts {
            Some((a, b)) if (a, b) != (v, e) && (a, b) != (0, v) => Err(head.fault(format!(
                "the head says {a} vertices and {b} edges, but {v} `v` lines and {e} `e` lines \
                 follow: the file is cut off or its head is wrong"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses a number behind a label that is not the degree, since it may be another label.
    fn check_degrees(&self) -> Result<()> {
        for &(line, id, number) in &self.degrees {
            let ends = self.edges.iter().flat_map(|&(_, u, v, _)| [u, v]);
            let degree = ends.filter(|&end| end == id).count() as u64;
            if degree != number {
                return Err(line.fault(format!(
                    "the degree of vertex {id} is given as {number}, but {}: write {degree}; if the number is a \
                     second label, keep one label",
                    counted(degree, "edge ends there", "edges end there")
                )));
            }
        }
        Ok(())
    }

    /// The pattern, whose vertices are numbered in the order of their ids.
    fn pattern(self) -> Result<(Pattern, Vec<LabelText>)> {
        let number = |line: &Line<'_>, id: u64| {
            let at = self.vertices.keys().position(|&known| known == id);
            at.ok_or_else(|| line.fault(format!("vertex {id} isn't declared by a `v` line")))
        };
        let mut pattern = Pattern::new(self.vertices.len());
        let mut labels = vec![];
        let mut label_of = |place, text| match text {
            "*" | "-1" => NO_LABEL,
            text => stand_in(&mut labels, place, text),
        };
        for (line, u, v, label) in self.edges {
            let (i, j) = (number(line, u)?, number(line, v)?);
            if i == j {
                return Err(line.fault(format!("the edge {u} {v} is a loop")));
            }
            if pattern.has_edge(i, j) {
                return Err(line.fault(format!("the edge {u} {v} is repeated")));
            }
            pattern.add_edge(i, j);
            if let Some(label) = label {
                pattern.set_edge_label(i, j, label_of(LabelPlace::Edge(i, j), label));
            }
        }
        for (i, label) in self.vertices.values().enumerate() {
            if let Some(label) = label {
                pattern.set_vertex_label(i, label_of(LabelPlace::Vertex(i), label));
            }
        }
        Ok((pattern, labels))
    }
}

#[cfg(test)]
mod tests;

//! A pattern as a user gives it: a file, a name, or a line of text.

use std::path::Path;

use gramer_base::context::Cancel;
use gramer_base::error::{Error, Place, Result, quote};
use gramer_base::input::{MAX_SMALL_FILE, read_small};
use gramer_graph::{Graph, Label, NO_LABEL, Name, Names};

use crate::file::parse_file;
use crate::name::{is_too_large, names, similar};
use crate::text::is_text;
use crate::{MAX_VERTICES, Pattern, named, parse_text};

/// A pattern as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternInput {
    /// The pattern. A label that is no number has one that stands for it, until [`PatternInput::resolve`] knows the
    /// graph.
    pub pattern: Pattern,
    /// Labels as written in a line of text or in a file.
    pub labels: Vec<LabelText>,
    /// What the words are.
    pub origin: Origin,
    /// What the words of a file could be as well.
    pub other: Option<Origin>,
}

/// What a user's words for a pattern are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The path of a file.
    File,
    /// A name, such as `house`.
    Name,
    /// The pattern itself in one line.
    Text,
}

/// A label as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelText {
    /// What has it.
    pub place: LabelPlace,
    /// Its text.
    pub text: String,
    /// The number that stands for it in the pattern.
    pub number: Label,
}

/// What has a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelPlace {
    /// A vertex.
    Vertex(usize),
    /// An edge.
    Edge(usize, usize),
}

/// Adds a label in its written form, and returns its number in the pattern: its own if it is a number, else a stand-in,
/// from the largest down.
pub(crate) fn stand_in(labels: &mut Vec<LabelText>, place: LabelPlace, text: &str) -> Label {
    let same = labels.iter().find(|known| known.text == text);
    let number = match (text.parse::<Label>(), same) {
        (Ok(number), _) if number != NO_LABEL => number,
        (_, Some(same)) => same.number,
        _ => NO_LABEL - 1 - labels.len() as Label,
    };
    labels.push(LabelText { place, text: text.into(), number });
    number
}

/// The labels of a graph that are most similar to an unknown one.
fn alike(text: &str, names: &Names) -> String {
    let lower = text.to_lowercase();
    let most = (lower.chars().count() / 3).max(1);
    let mut near: Vec<(usize, String)> = names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &lower), name.into_owned()))
        .filter(|(distance, name)| *distance <= most && *distance < name.chars().count())
        .collect();
    near.sort();
    match near.iter().take(3).map(|(_, name)| quote(name)).collect::<Vec<_>>() {
        near if near.is_empty() => {
            let some: Vec<String> =
                names.iter().take(8).map(|name| quote(name.as_bytes())).collect();
            let more = if names.len() > some.len() { ", …" } else { "" };
            format!("its labels are {}{more}", some.join(", "))
        }
        near => format!("did you mean {}?", near.join(" or ")),
    }
}

impl From<Pattern> for PatternInput {
    fn from(pattern: Pattern) -> Self {
        PatternInput { pattern, labels: vec![], origin: Origin::Name, other: None }
    }
}

impl PatternInput {
    /// The text that the user wrote for a label of the pattern, or its number.
    pub fn label_name(&self, number: Label) -> Name<'_> {
        match self.labels.iter().find(|label| label.number == number) {
            Some(label) if label.text.parse() != Ok(number) => {
                Name::Text(label.text.as_str().into())
            }
            _ => Name::Number(number.into()),
        }
    }

    /// The pattern with the numbers that a graph gives the labels.
    ///
    /// # Errors
    /// [`Error::Usage`] for a label where the graph has none, and for one that it doesn't have.
    pub fn resolve_in(&self, graph: &Graph) -> Result<Pattern> {
        let lacks = |place: LabelPlace| {
            match place {
            LabelPlace::Vertex(_) => (!graph.has_vertex_labels()).then_some(
                "vertex labels: name a file of labels with the setting `labels`, a table with the setting \
                 `vertex_table`, or take them out of the pattern",
            ),
            LabelPlace::Edge(..) => (!graph.has_edge_labels()).then_some(
                "edge labels: name their column with the setting `edge_label`, or take them out of the pattern",
            ),
        }
        };
        let texts = self.labels.iter().filter(|label| label.text.parse::<Label>().is_err());
        let mut faults = texts.filter_map(|label| Some((&label.text, lacks(label.place)?)));
        if let Some((text, lacks)) = faults.next() {
            let text = quote(text);
            return Err(Error::usage(format!(
                "the pattern asks for the label {text}, but the graph has no {lacks}"
            )));
        }
        let names = graph.names();
        self.resolve(names.vertex_labels.as_deref(), names.edge_labels.as_deref())
    }

    /// The pattern with the numbers that a graph gives the labels: `vertex` and `edge` are its texts of labels, `None`
    /// where they are numbers in the graph as well.
    ///
    /// # Errors
    /// [`Error::Usage`] for a label that the graph doesn't have.
    pub fn resolve(&self, vertex: Option<&Names>, edge: Option<&Names>) -> Result<Pattern> {
        let mut pattern = self.pattern.clone();
        for LabelText { place, text, .. } in &self.labels {
            let (what, names) = match place {
                LabelPlace::Vertex(_) => ("vertex", vertex),
                LabelPlace::Edge(..) => ("edge", edge),
            };
            let number = match names {
                Some(names) => names.number(text).ok_or_else(|| {
                    let near = alike(text, names);
                    Error::usage(format!("the graph has no {what} label {}: {near}", quote(text)))
                }),
                None => text.parse().ok().filter(|&label| label != NO_LABEL).ok_or_else(|| {
                    Error::usage(format!(
                        "the pattern asks for the {what} label {}, but the {what} labels of the graph are numbers \
                         below {NO_LABEL}: write the number",
                        quote(text)
                    ))
                }),
            }?;
            match *place {
                LabelPlace::Vertex(v) => pattern.set_vertex_label(v, number),
                LabelPlace::Edge(u, v) => pattern.set_edge_label(u, v, number),
            }
        }
        Ok(pattern)
    }
}

/// A pattern from a file, by its name (`triangle`, `K3,3`, `5-path`; see [`crate::named`]), or from a line of text
/// ([`parse_text`]). Words that name a file are that file.
///
/// # Errors
/// [`Error::Io`] if a file can't be read, [`Error::Usage`] for words that are none of the three, [`Error::Input`] for a
/// file larger than [`MAX_SMALL_FILE`], [`Error::Interrupted`] once `cancel` is raised; otherwise as [`parse_pattern`](crate::parse_pattern) and
/// [`parse_text`].
pub fn read_pattern(path: &Path, cancel: &Cancel) -> Result<PatternInput> {
    let words = path.to_str();
    let named = words.and_then(named);
    let is_text = words.is_some_and(is_text);
    let other = match (&named, is_text) {
        (Some(_), _) => Some(Origin::Name),
        (None, true) => Some(Origin::Text),
        (None, false) => None,
    };
    // A text may be no path at all, and a folder is no pattern.
    let file = match other.is_none() || path.exists() && !path.is_dir() {
        true => read_small(path, MAX_SMALL_FILE, "pattern", cancel).map(Some),
        false => Ok(None),
    };
    let failed = match file {
        Ok(Some(bytes)) => {
            let (pattern, labels) = parse_file(&bytes, path)?;
            return Ok(PatternInput { pattern, labels, origin: Origin::File, other });
        }
        Ok(None) => None,
        Err(Error::Io { source, action, .. }) => Some((source, action)),
        Err(other) => return Err(other),
    };
    if let Some(pattern) = named {
        return Ok(pattern.into());
    }
    if let (true, Some(text)) = (is_text, words) {
        let (pattern, labels) = parse_text(text)?;
        return Ok(PatternInput { pattern, labels, origin: Origin::Text, other: None });
    }
    match failed {
        Some((source, action)) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(path, action, source))
        }
        _ => {
            let what = unknown(&path.to_string_lossy());
            Err(Error::usage(format!("{}: {what}", Place::file(path))))
        }
    }
}

/// Why words are no pattern.
fn unknown(words: &str) -> String {
    let names = match &similar(words)[..] {
        _ if is_too_large(words) => format!("a pattern has at most {MAX_VERTICES} vertices"),
        [] if words.contains(['-', '–', '—', '=', ':', '(', '[', ' ']) => {
            let what = "names are of letters, digits and _, other labels in double quotes";
            format!("in one line, edges are written a-b, b-c, c-a, or a:label-[label]-b: {what}")
        }
        [] => format!("names are {}; edges are written a-b, b-c, c-a", names().join(", ")),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    format!("there is no such file, and no pattern has this name; {names}")
}

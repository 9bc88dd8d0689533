//! The report for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use gramer_engine::estimate::{CONFIDENCE, Estimate};
use gramer_engine::metrics::{Metric, Timeline, Value};
use gramer_engine::{DeviceMetrics, Outcome, Subject};
use gramer_graph::read::Format;
use gramer_graph::{Graph, Name};
use gramer_pattern::info::Parameter;
use gramer_pattern::name;
use gramer_pattern::task::Induced;
use gramer_picture::per::{ColumnReport, Item, PerReport};

use super::list::text;
use super::shape::Shape;
use super::{Answer, StopReason};
use gramer_base::choice::Choice;

/// The version of the document: it changes where a field goes, or means something else.
const VERSION: u32 = 1;

/// The JSON Schema of the document.
pub const SCHEMA: &str = include_str!("../../../../docs/reference/answer.schema.json");

/// Format of counts in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Counts {
    /// Numbers, of any size
    #[default]
    Number,
    /// Strings of digits
    String,
}

/// A count as the reader wants it.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Integer {
    Number(u128),
    Digits(String),
}

/// A vertex id as the reader wants it. Of 64 bits: a flattened field can't hold a number of 128.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Id {
    Number(u64),
    Digits(String),
    Name(String),
}

impl Counts {
    pub(super) fn of(self, count: impl Into<u128>) -> Integer {
        match self {
            Counts::Number => Integer::Number(count.into()),
            Counts::String => Integer::Digits(count.into().to_string()),
        }
    }

    /// A vertex id: a string only where a double would lose digits of it.
    pub(super) fn id(self, id: u64) -> Id {
        if self.quotes(id) { Id::Digits(id.to_string()) } else { Id::Number(id) }
    }

    /// Whether a vertex id is a string.
    pub(super) fn quotes(self, id: u64) -> bool {
        self == Counts::String && id > EXACT
    }

    /// A vertex by its id: its name, if it has one.
    pub(super) fn named(self, graph: &Graph, id: u64) -> Id {
        match graph.name_of_id(id) {
            Name::Number(id) => self.id(id),
            Name::Text(name) => Id::Name(name.into_owned()),
        }
    }

    /// Appends a vertex by its id.
    pub(super) fn vertex(self, graph: &Graph, id: u64, bytes: &mut Vec<u8>) {
        match graph.name_of_id(id) {
            Name::Number(id) => {
                let quote: &[u8] = if self.quotes(id) { b"\"" } else { b"" };
                bytes.extend_from_slice(quote);
                bytes.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
                bytes.extend_from_slice(quote);
            }
            Name::Text(name) => text(bytes, &name),
        }
    }
}

/// Doubles hold all whole numbers up to here.
const EXACT: u64 = 1 << 53;

impl std::fmt::Display for Integer {
    /// Writes the value in JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Integer::Number(number) => write!(f, "{number}"),
            Integer::Digits(digits) => write!(f, "\"{digits}\""),
        }
    }
}

impl std::fmt::Display for Id {
    /// Writes the value in JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Id::Number(number) => write!(f, "{number}"),
            Id::Digits(digits) => write!(f, "\"{digits}\""),
            Id::Name(name) => write!(f, "{}", serde_json::Value::from(name.as_str())),
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    gramer: &'static str,
    task: &'static str,
    #[serde(flatten)]
    parameters: Parameters,
    /// Not there where the task has no such question.
    #[serde(skip_serializing_if = "Option::is_none")]
    induced: Option<Induced>,
    graph: GraphPart<'a>,
    device: &'a str,
    threads: usize,
    results: Vec<Entry>,
    /// `null`, as all counts, where the run was interrupted before anything was found.
    total: Option<Integer>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    per: Option<PerPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimatePart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<StopReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<Integer>,
    /// Measurements by devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<Device<'a>>,
    /// Notes of the graph reader: guesses, dropped and ignored input.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    /// Warnings of a successful run.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    seconds: Seconds,
}

#[derive(Serialize)]
struct Device<'a> {
    device: &'a str,
    /// By `section.name`.
    metrics: BTreeMap<&'a str, MetricValue>,
}

#[derive(Serialize)]
struct MetricValue {
    value: Number,
    /// Empty where the name says what is counted, and for shares (0 to 1) and text.
    unit: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Integer(Integer),
    Integers(Vec<Integer>),
    Real(f64),
    Text(String),
    Timeline(Timeline),
}

impl<'a> Device<'a> {
    fn of(device: &'a DeviceMetrics, counts: Counts) -> Self {
        let metric = |m: &'a Metric| {
            let value = match &m.value {
                Value::Count(n) => Number::Integer(counts.of(*n)),
                Value::Counts(all) => Number::Integers(all.iter().map(|&n| counts.of(n)).collect()),
                Value::Setting(n) => Number::Integer(Integer::Number((*n).into())),
                Value::Text(text) => Number::Text(text.clone()),
                Value::Timeline(all) => Number::Timeline(all.clone()),
                other => Number::Real(other.number().unwrap_or(f64::NAN)),
            };
            (m.name.as_ref(), MetricValue { value, unit: m.unit.to_string() })
        };
        Device { device: &device.device, metrics: device.metrics.iter().map(metric).collect() }
    }
}

/// Parameters of the task, by option name.
struct Parameters(Vec<(&'static str, Parameter)>);

impl Serialize for Parameters {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[derive(Serialize)]
struct GraphPart<'a> {
    source: &'a str,
    /// The format that it was read in; not there for a graph that was made otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
    vertices: usize,
    edges: usize,
    /// Different vertex labels; 0 without labels.
    labels: usize,
    /// Different edge labels; 0 without labels.
    edge_labels: usize,
}

#[derive(Serialize)]
struct Entry {
    /// `null` for a number that only its name describes.
    pattern: Option<Shape>,
    name: String,
    /// `null` where there is an estimate.
    count: Option<Integer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimatedPart>,
    /// There where the count is what had been found when the run ended early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lower_bound: bool,
}

#[derive(Serialize)]
struct EstimatePart {
    confidence: f64,
    precision: f64,
    seed: u64,
    samples: u64,
    reached: bool,
    total: Option<EstimatedPart>,
}

#[derive(Serialize)]
struct EstimatedPart {
    value: f64,
    interval: Option<[f64; 2]>,
    hits: u64,
}

impl EstimatedPart {
    fn of(estimate: Estimate) -> Self {
        let interval = estimate.interval.map(|(from, to)| [from, to]);
        EstimatedPart { value: estimate.value, interval, hits: estimate.hits }
    }
}

#[derive(Serialize)]
struct PerPart {
    what: &'static str,
    items: usize,
    columns: Vec<ColumnPart>,
}

#[derive(Serialize)]
struct ColumnPart {
    name: String,
    orbit: Option<usize>,
    /// `null` where numbers don't add up to anything.
    sum: Option<Integer>,
    top: Vec<TopPart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    histogram: Vec<BinPart>,
}

#[derive(Serialize)]
struct TopPart {
    #[serde(flatten)]
    item: ItemPart,
    count: Integer,
}

/// A vertex or an edge by its ids, or a graph by its number.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ItemPart {
    Vertex(Id),
    Edge(Id, Id),
    Graph(u64),
}

impl ItemPart {
    fn of(item: Item, graph: &Graph, counts: Counts) -> Self {
        let id = |id| counts.named(graph, id);
        match item {
            Item::Vertex(v) => ItemPart::Vertex(id(v)),
            Item::Edge(u, v) => ItemPart::Edge(id(u), id(v)),
            Item::Graph(number) => ItemPart::Graph(number),
        }
    }
}

#[derive(Serialize)]
struct BinPart {
    from: Integer,
    to: Integer,
    items: u64,
}

impl PerPart {
    fn of(report: &PerReport, graph: &Graph, counts: Counts) -> Self {
        let column = |column: &ColumnReport| ColumnPart {
            name: column.name.clone(),
            orbit: column.orbit.as_ref().map(|orbit| orbit.number),
            sum: column.sum.map(|sum| counts.of(sum)),
            top: (column.top.iter())
                .map(|&(item, count)| TopPart {
                    item: ItemPart::of(item, graph, counts),
                    count: counts.of(count),
                })
                .collect(),
            histogram: (column.histogram.iter())
                .map(|bin| BinPart {
                    from: counts.of(bin.from),
                    to: counts.of(bin.to),
                    items: bin.items,
                })
                .collect(),
        };
        PerPart {
            what: report.per.name(),
            items: report.items,
            columns: report.columns.iter().map(column).collect(),
        }
    }
}

#[derive(Serialize)]
struct Seconds {
    load: f64,
    prepare: f64,
    mine: f64,
    /// Time from the start of mining to the first embedding, if embeddings are visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_embedding: Option<f64>,
}

/// Writes the report as one JSON object and a line end; `docs/reference/json.md` says what is in it.
///
/// # Errors
/// Those of `out`.
pub fn json(report: &Answer<'_>, counts: Counts, out: &mut dyn Write) -> io::Result<()> {
    let (outcome, info) = (report.outcome, report.info());
    let known = |count: u128| (!report.nothing_known()).then(|| counts.of(count));
    let estimated = report.estimated.iter().flat_map(|(_, found)| &found.results);
    let estimated = estimated.map(|(pattern, estimate)| Entry {
        name: name(pattern),
        pattern: Some(Shape::of(pattern, report.graph)),
        count: None,
        estimate: Some(EstimatedPart::of(*estimate)),
        lower_bound: false,
    });
    let lines = outcome.lines().map(|line| Entry {
        name: match line.of.as_ref() {
            // Labels are in the pattern.
            Subject::Pattern(pattern) => name(pattern),
            of => of.name(),
        },
        pattern: match line.of.as_ref() {
            Subject::Pattern(pattern) => Some(Shape::of(pattern, report.graph)),
            &Subject::Clique(vertices) => {
                Some(Shape::Clique { vertices, edges: None, labels: None, edge_labels: None })
            }
            Subject::Name(_) => None,
        },
        count: known(line.count),
        estimate: None,
        lower_bound: report.lower_bounds() || line.count == Outcome::SATURATED,
    });
    let times = report.times;
    let document = Document {
        schema: VERSION,
        gramer: env!("CARGO_PKG_VERSION"),
        task: report.task.name(),
        parameters: Parameters(info.parameters),
        induced: info.induced,
        graph: GraphPart {
            source: report.source,
            format: report.format,
            vertices: report.graph.vertices(),
            edges: report.graph.edges(),
            labels: report.graph.vertex_label_count(),
            edge_labels: report.graph.edge_label_count(),
        },
        device: report.device,
        threads: report.threads,
        results: lines.chain(estimated).collect(),
        total: report
            .total()
            .filter(|&total| report.estimated.is_none() && total != Outcome::SATURATED)
            .and_then(known),
        complete: outcome.complete,
        per: report.per.map(|per| PerPart::of(per, report.graph, counts)),
        estimate: report.estimated.map(|(precision, found)| EstimatePart {
            confidence: CONFIDENCE,
            precision: precision.relative,
            seed: precision.seed,
            samples: found.samples,
            reached: found.reached,
            total: found.total.map(EstimatedPart::of),
        }),
        stopped: report.stopped,
        listed: report.listed.map(|n| counts.of(n)),
        devices: outcome.devices.iter().map(|d| Device::of(d, counts)).collect(),
        notes: report.notes,
        warnings: &outcome.warnings,
        seconds: Seconds {
            load: times.load.as_secs_f64(),
            prepare: times.prepare.as_secs_f64(),
            mine: times.mine.as_secs_f64(),
            first_embedding: times.first.map(|first| first.as_secs_f64()),
        },
    };
    pretty(&document, out)
}

/// Writes a document with a field a line and short arrays of numbers, words or pairs on one, and a line end.
///
/// # Errors
/// Those of `out`.
pub fn pretty(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(document)?;
    // Pairs first, then arrays of pairs.
    let lines = joined(joined(text.lines().map(String::from).collect()));
    writeln!(out, "{}", lines.join("\n"))
}

/// Maximum number of characters of a line of joined ones.
const LINE: usize = 100;

/// The lines of a document, those of each array without others in it as one where that is short. Within a string
/// there is no line end, so that the last character of a line tells what begins there.
fn joined(lines: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(lines.len());
    let mut begun = None;
    for line in lines {
        let closes = matches!(line.trim_start(), "]" | "],");
        if line.ends_with(['[', '{']) {
            begun = line.ends_with('[').then_some(all.len());
        } else if let (true, Some(at)) = (closes, begun.take_if(|_| closes)) {
            let length: usize = all[at..].iter().map(|part| part.trim_start().len() + 1).sum();
            let indented = all[at].len() - all[at].trim_start().len();
            if indented + length < LINE {
                let inside: Vec<&str> =
                    all[at + 1..].iter().map(|part| part.trim_start()).collect();
                let one = format!("{}{}{}", all[at], inside.join(" "), line.trim_start());
                all.truncate(at);
                all.push(one);
                continue;
            }
        } else if matches!(line.trim_start(), "}" | "},") {
            begun = None;
        }
        all.push(line);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_arrays_are_on_one_line_and_nothing_is_lost() {
        let document = serde_json::json!({
            "edges": [[0, 1], [0, 2]],
            "long": (0..200).collect::<Vec<_>>(),
            "pairs": (0..40).map(|n| [n, n + 1]).collect::<Vec<_>>(),
            "names": ["a [", "b {", "], c"],
            "none": [],
            "mixed": [{"x": [1, 2]}, [3, {"y": []}]],
        });
        let mut text = vec![];
        pretty(&document, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
        for line in [
            "  \"edges\": [[0, 1], [0, 2]],\n",
            "    [39, 40]\n",
            "  \"names\": [\"a [\", \"b {\", \"], c\"],\n",
            "      \"x\": [1, 2]\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}

//! Answers as rows with named columns: CSV, TSV, JSON lines and Markdown.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::SerializeMap;

use gramer_engine::Per;
use gramer_engine::estimate::Estimate;
use gramer_graph::Graph;
use gramer_pattern::{Pattern, labelled_name_in, pattern_text};
use gramer_picture::per::{Item, column_name};

use super::json::{Counts, Id, Integer};
use super::{Answer, per};

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowForm {
    /// Columns with this byte between them, quoted where that is necessary.
    Separated(u8),
    /// A JSON object for each row.
    Jsonl,
    /// A table of Markdown.
    Markdown,
    /// A Parquet file.
    #[cfg(feature = "columnar")]
    Parquet,
}

/// One value of a row.
#[derive(Clone, Serialize)]
#[serde(untagged)]
enum Cell {
    Vertex(Id),
    Text(String),
    Count(Integer),
    Number(usize),
    Real(f64),
    Flag(bool),
    /// Not known, or there is no such value.
    None,
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Cell::Vertex(Id::Number(id)) => id.to_string(),
            Cell::Vertex(Id::Digits(text) | Id::Name(text)) | Cell::Text(text) => text.clone(),
            Cell::Count(Integer::Number(number)) => number.to_string(),
            Cell::Count(Integer::Digits(digits)) => digits.clone(),
            Cell::Number(number) => number.to_string(),
            Cell::Real(number) => number.to_string(),
            Cell::Flag(flag) => flag.to_string(),
            Cell::None => String::new(),
        }
    }
}

struct Object<'a>(&'a [String], &'a [Cell]);

impl Serialize for Object<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        self.0
            .iter()
            .zip(self.1)
            .try_for_each(|(name, cell)| object.serialize_entry(name, cell))?;
        object.end()
    }
}

/// Writer of column names, followed by rows with one value per column.
enum Rows<'a> {
    Separated(Box<csv::Writer<&'a mut dyn Write>>),
    Jsonl(Vec<String>, &'a mut dyn Write),
    Markdown(&'a mut dyn Write),
    #[cfg(feature = "columnar")]
    Parquet(Vec<(String, Vec<Cell>)>, &'a mut dyn Write),
}

impl<'a> Rows<'a> {
    fn begin(form: RowForm, columns: Vec<String>, out: &'a mut dyn Write) -> io::Result<Self> {
        Ok(match form {
            RowForm::Separated(delimiter) => {
                let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
                writer.write_record(columns)?;
                Rows::Separated(Box::new(writer))
            }
            RowForm::Jsonl => Rows::Jsonl(columns, out),
            RowForm::Markdown => {
                markdown(&columns, out)?;
                writeln!(out, "|{}", "---|".repeat(columns.len()))?;
                Rows::Markdown(out)
            }
            #[cfg(feature = "columnar")]
            RowForm::Parquet => {
                Rows::Parquet(columns.into_iter().map(|name| (name, vec![])).collect(), out)
            }
        })
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        match self {
            Rows::Separated(writer) => Ok(writer.write_record(cells.iter().map(Cell::text))?),
            Rows::Jsonl(columns, out) => {
                serde_json::to_writer(&mut *out, &Object(columns, cells))?;
                writeln!(out)
            }
            Rows::Markdown(out) => {
                markdown(&cells.iter().map(Cell::text).collect::<Vec<_>>(), *out)
            }
            #[cfg(feature = "columnar")]
            Rows::Parquet(columns, _) => {
                columns.iter_mut().zip(cells).for_each(|((_, all), cell)| all.push(cell.clone()));
                Ok(())
            }
        }
    }

    fn end(self) -> io::Result<()> {
        match self {
            Rows::Separated(mut writer) => writer.flush(),
            Rows::Jsonl(..) | Rows::Markdown(_) => Ok(()),
            #[cfg(feature = "columnar")]
            Rows::Parquet(columns, out) => {
                let columns = columns.into_iter().map(|(name, cells)| (name, values(&cells)));
                gramer_graph::columnar::write_columns(out, columns.collect())
            }
        }
    }
}

/// The values of a column: numbers if all are, texts otherwise.
#[cfg(feature = "columnar")]
fn values(cells: &[Cell]) -> gramer_graph::columnar::Values {
    use gramer_graph::columnar::Values;
    let whole = |cell: &Cell| match cell {
        Cell::Number(number) => Some(Some(*number as u64)),
        Cell::Vertex(Id::Number(number)) => Some(Some(*number)),
        Cell::Count(Integer::Number(number)) => u64::try_from(*number).ok().map(Some),
        Cell::None => Some(None),
        _ => None,
    };
    let real = |cell: &Cell| match cell {
        Cell::Real(number) => Some(Some(*number)),
        Cell::None => Some(None),
        _ => None,
    };
    let flag = |cell: &Cell| match cell {
        Cell::Flag(flag) => Some(Some(*flag)),
        Cell::None => Some(None),
        _ => None,
    };
    let text = |cell: &Cell| match cell {
        Cell::None => None,
        cell => Some(cell.text()),
    };
    let whole = cells.iter().map(whole).collect::<Option<_>>().map(Values::Whole);
    let real = || cells.iter().map(real).collect::<Option<_>>().map(Values::Real);
    let flag = || cells.iter().map(flag).collect::<Option<_>>().map(Values::Flag);
    whole
        .or_else(real)
        .or_else(flag)
        .unwrap_or_else(|| Values::Text(cells.iter().map(text).collect()))
}

fn markdown(texts: &[String], out: &mut dyn Write) -> io::Result<()> {
    let escaped =
        |text: &String| text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ");
    let cells: Vec<String> = texts.iter().map(escaped).collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

/// Writes the rows of an answer: a pattern or a number each; with numbers per vertex or edge, a vertex or an edge each.
///
/// # Errors
/// Those of `out`.
pub fn rows(
    answer: &Answer<'_>,
    form: RowForm,
    counts: Counts,
    out: &mut dyn Write,
) -> io::Result<()> {
    match answer.per {
        Some(numbers) => items(answer, numbers.per, form, counts, out),
        None if answer.estimated.is_some() => estimates(answer, form, out),
        None => lines(answer, form, counts, out),
    }
}

fn owned<const N: usize>(columns: [&str; N]) -> Vec<String> {
    columns.map(String::from).to_vec()
}

/// A pattern as `--pattern` reads it, with the names that the graph has for labels.
fn form_of(pattern: &Pattern, graph: &Graph) -> String {
    let vertex = |label| graph.vertex_label_name(label).to_string();
    let edge = |label| graph.edge_label_name(label).to_string();
    pattern_text(pattern, &vertex, &edge)
}

fn lines(
    answer: &Answer<'_>,
    form: RowForm,
    counts: Counts,
    out: &mut dyn Write,
) -> io::Result<()> {
    // An answer without patterns has the columns of one with patterns.
    let sized = answer.outcome.lines().next().is_none_or(|line| line.of.size().is_some());
    let mut columns = match sized {
        true => owned(["pattern", "vertices", "edges", "form", "count"]),
        false => owned(["name", "count"]),
    };
    let bounds = answer.lower_bounds();
    if bounds {
        columns.push("lower_bound".into());
    }
    let mut rows = Rows::begin(form, columns, out)?;
    for line in answer.outcome.lines() {
        let mut cells = vec![Cell::Text(line.of.name_in(answer.graph))];
        if sized {
            let size = line.of.size();
            cells.push(size.map_or(Cell::None, |(vertices, _)| Cell::Number(vertices)));
            cells.push(size.map_or(Cell::None, |(_, edges)| Cell::Number(edges)));
            let text = line.of.pattern().map(|pattern| form_of(pattern, answer.graph));
            cells.push(text.map_or(Cell::None, Cell::Text));
        }
        cells.push(match answer.nothing_known() {
            true => Cell::None,
            false => Cell::Count(counts.of(line.count)),
        });
        if bounds {
            cells.push(Cell::Flag(true));
        }
        rows.row(&cells)?;
    }
    rows.end()
}

fn estimates(answer: &Answer<'_>, form: RowForm, out: &mut dyn Write) -> io::Result<()> {
    let columns =
        owned(["pattern", "vertices", "edges", "form", "estimate", "from", "to", "samples"]);
    let mut rows = Rows::begin(form, columns, out)?;
    let found = answer.estimated.iter().flat_map(|(_, found)| &found.results);
    for (pattern, Estimate { value, interval, hits }) in found {
        let end = |of: fn(&(f64, f64)) -> f64| {
            interval.as_ref().map_or(Cell::None, |i| Cell::Real(of(i)))
        };
        rows.row(&[
            Cell::Text(labelled_name_in(pattern, answer.graph)),
            Cell::Number(pattern.vertices()),
            Cell::Number(pattern.edge_count()),
            Cell::Text(form_of(pattern, answer.graph)),
            Cell::Real(*value),
            end(|interval| interval.0),
            end(|interval| interval.1),
            Cell::Number(*hits as usize),
        ])?;
    }
    rows.end()
}

/// The numbers of each vertex or edge.
fn items(
    answer: &Answer<'_>,
    of: Per,
    form: RowForm,
    counts: Counts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (graph, columns) = (answer.graph, &answer.outcome.columns);
    let mut names = match of {
        Per::Vertex => owned(["vertex"]),
        Per::Edge => owned(["source", "target"]),
        Per::Graph => owned(["graph"]),
    };
    names.extend(columns.iter().map(|column| match &column.orbit {
        Some(orbit) => format!("{}:{}", column_name(column), orbit.number),
        None => column_name(column),
    }));
    let mut rows = Rows::begin(form, names, out)?;
    for (item, at) in per::in_order(graph, of) {
        let named = |id| Cell::Vertex(counts.named(graph, id));
        let ends = match item {
            Item::Vertex(v) => vec![named(v)],
            Item::Edge(u, v) => vec![named(u), named(v)],
            Item::Graph(number) => vec![Cell::Number(number as usize)],
        };
        let numbers = columns.iter().map(|column| Cell::Count(counts.of(column.counts.get(at))));
        rows.row(&ends.into_iter().chain(numbers).collect::<Vec<_>>())?;
    }
    rows.end()
}

//! Names and labels of any text, through every format that is written: they survive, or the writer refuses them by name.

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;
use crate::read::{VertexTable, read};
use crate::write::write_labels;
use gramer_base::error::quote;

/// Parts of names: separators, quotes, line ends, marks of comments, blanks, and the words of formats.
#[rustfmt::skip]
const PARTS: [&str; 61] = [
    "a", "B", "7", "0", "1.5", "-", "é", "🦀", " ", "  ", "\t", "\n", "\r", "\r\n", ",", ";", "|", ":", "=", "\"", "'",
    "`", "\\", "#", "%", "*", "&", "<", ">", "{", "}", "[", "]", "(", "/", "&amp;", "&#9;", "]]>", "<!--", "sep=;",
    "source", "target", "from", "to", "id", "label", "name", "edge_label", "type", "l", "ellipse", "NA", "null",
    "<html>", "t # 0", "*Edges", "graph [", "\n#\n", "\u{a0}", "\u{feff}", "\u{2028}",
];

/// Control characters and the empty text, which some formats can't hold.
const RARE: [&str; 6] = ["", "\0", "\u{1}", "\u{b}", "\u{c}", "\u{fffe}"];

fn name() -> impl Strategy<Value = String> {
    let part =
        prop_oneof![40 => prop::sample::select(&PARTS[..]), 1 => prop::sample::select(&RARE[..])];
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat())
}

/// The content of a graph: different names, edges, and labels of both if there are some.
#[derive(Debug)]
struct Content {
    names: Vec<String>,
    edges: Vec<(usize, usize)>,
    vertex_labels: Option<Vec<String>>,
    edge_labels: Option<Vec<String>>,
}

fn contents() -> impl Strategy<Value = Content> {
    let names = prop::collection::hash_set(name(), 2..7);
    let labels = |most| prop::option::of(prop::collection::vec(name(), most));
    (names, any::<u32>(), labels(6), labels(15)).prop_map(
        |(names, bits, vertex_labels, edge_labels)| {
            let names: Vec<String> = names.into_iter().collect();
            let pairs = (0..names.len()).flat_map(|v| (0..v).map(move |u| (u, v)));
            // The first two are joined in any case.
            let edges = pairs
                .zip(0..)
                .filter(|(_, at)| *at == 0 || bits >> at & 1 == 1)
                .map(|(pair, _)| pair);
            let edges = edges.collect();
            Content { names, edges, vertex_labels, edge_labels }
        },
    )
}

/// The graph, and whether each of its labels is a text.
fn graph_of(content: &Content) -> Graph {
    let (options, context) = (ReadOptions::default(), Context::with_threads(1));
    let mut sink = Sink::new(Path::new("g"), b"", &options, &context).unwrap();
    let vertices: Vec<u64> =
        content.names.iter().map(|name| sink.vertex(name.as_bytes()).unwrap()).collect();
    for (at, &vertex) in vertices.iter().enumerate() {
        if let Some(labels) = &content.vertex_labels {
            sink.vertex_label(vertex, labels[at].as_bytes()).unwrap();
        }
    }
    for (at, &(u, v)) in content.edges.iter().enumerate() {
        let label = content.edge_labels.as_ref().map(|labels| labels[at].as_bytes());
        sink.edge(vertices[u], vertices[v], label).unwrap();
    }
    let SinkContent { builder, names, .. } = sink.finish().unwrap();
    builder.build().with_names(names)
}

/// Whether a message names one of the texts of a graph.
fn names_one(message: &str, content: &Content) -> bool {
    let labels = [&content.vertex_labels, &content.edge_labels].into_iter().flatten().flatten();
    content.names.iter().chain(labels).any(|text| message.contains(&quote(text)))
}

/// Writes a graph in a format and reads it again, by content and by name.
fn survives(entry: &Entry, content: &Content) -> std::result::Result<(), TestCaseError> {
    let graph = graph_of(content);
    if entry.write.is_none() {
        return Ok(());
    }
    let mut text = vec![];
    if let Err(error) = write_text(&mut text, &graph, entry.format) {
        let message = error.to_string();
        prop_assert!(names_one(&message, content), "{}: {message}", entry.name);
        return Ok(());
    }
    let shown = format!("{}: {}", entry.name, String::from_utf8_lossy(&text));
    let first = (!entry.keeps.ids).then_some(entry.first_id);
    let (mut keeps, mut own) = (entry.keeps, graph.clone());
    if !keeps.texts {
        // Names have numbers there, and so have labels, of which 0 counts as none.
        (keeps.vertex_labels, keeps.edge_labels) = (false, false);
        own = own.with_names(Dictionaries::default());
    }
    let own = super::content(&own, first, keeps);
    // An edge list between names is a table.
    let texts = entry.keeps.texts && graph.names().vertices.is_some();
    let named = if texts && entry.format == Format::Edges { Format::Table } else { entry.format };
    // A few numbers may be of several formats.
    let shows = texts || entry.sniff.is_some();
    for format in [None, Some(named)].into_iter().skip(usize::from(!shows)) {
        let read = parse("g", &text, format)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{shown}")))?;
        prop_assert_eq!(&super::content(&read.graph, None, keeps), &own, "{:?} {}", format, shown);
    }
    Ok(())
}

/// Writes edges and labels as tables, and reads both.
fn survives_tables(content: &Content) -> std::result::Result<(), TestCaseError> {
    let graph = graph_of(content);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let (mut edges, mut labels) = (vec![], vec![]);
    let written = write_text(&mut edges, &graph, Format::Table)
        .and_then(|()| write_labels(&mut labels, &graph));
    if let Err(error) = written {
        prop_assert!(names_one(&error.to_string(), content), "{error}");
        return Ok(());
    }
    std::fs::write(path("edges.csv"), &edges).unwrap();
    std::fs::write(path("labels.csv"), &labels).unwrap();
    let vertex_table = Some(VertexTable { path: path("labels.csv"), id: None, label: None });
    let options = ReadOptions { vertex_table, ..ReadOptions::default() };
    let shown = String::from_utf8_lossy(&labels).into_owned();
    let read = read(&path("edges.csv"), &options, &Context::with_threads(1))
        .map_err(|error| TestCaseError::fail(format!("{error}\n{shown}")))?;
    let keeps = Capabilities { isolated: false, ..ALL };
    prop_assert_eq!(
        super::content(&read.graph, None, keeps),
        super::content(&graph, None, keeps),
        "{}",
        shown
    );
    Ok(())
}

/// Runs a property on random graphs (`PROPTEST_CASES`, 256); returns the smallest one for which it fails.
fn fault(holds: impl Fn(&Content) -> std::result::Result<(), TestCaseError>) -> Option<String> {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&contents(), |content| holds(&content));
    run.err().map(|error| error.to_string())
}

#[test]
fn names_survive_every_format_or_are_refused() {
    let faults: Vec<String> = TABLE
        .iter()
        .filter(is_built)
        .filter_map(|entry| fault(|content| survives(entry, content)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn names_and_labels_survive_tables_or_are_refused() {
    let fault = fault(|content| match content.vertex_labels {
        Some(_) => survives_tables(content),
        None => Ok(()),
    });
    assert!(fault.is_none(), "{}", fault.unwrap_or_default());
}

//! Folders of the Open Graph Benchmark: `edge.csv.gz` beside `num-node-list.csv.gz` and `num-edge-list.csv.gz`.
//!
//! Where these list several graphs, each begins again with vertex 0: as one edge list they would fall together. A
//! folder with one graph is an edge list.

use std::path::{Path, PathBuf};

use super::claims::Claims;
use super::scan;
use super::source::Source;
use super::text::Text;
use super::{Format, ReadOptions};
use crate::format::{Sink, SinkContent};
use gramer_base::context::Context;
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result, quote};

/// The numbers of vertices and of edges of each graph.
struct Sizes {
    vertices: Vec<u64>,
    edges: Vec<u64>,
    /// The file with the numbers of edges.
    path: PathBuf,
}

impl Sizes {
    /// Those of the files in the folder of `path`; `None` unless these are there and list several graphs.
    fn beside(path: &Path, context: &Context) -> Result<Option<Self>> {
        let (Some(vertices), Some(edges)) =
            (list(path, "num-node-list"), list(path, "num-edge-list"))
        else {
            return Ok(None);
        };
        let sizes = Sizes {
            vertices: numbers(&vertices, context)?,
            edges: numbers(&edges, context)?,
            path: edges,
        };
        if sizes.vertices.len() != sizes.edges.len() {
            let what = format!(
                "lists {}, but {} {}: one of the files is cut off",
                counted(sizes.edges.len(), "graph", "graphs"),
                Place::file(&vertices),
                sizes.vertices.len()
            );
            return Err(Error::input(Place::file(&sizes.path), what));
        }
        Ok((sizes.edges.len() > 1).then_some(sizes))
    }
}

/// A file beside another one, compressed or not.
fn list(path: &Path, stem: &str) -> Option<PathBuf> {
    let named = |ending| path.with_file_name(format!("{stem}.{ending}"));
    ["csv.gz", "csv"].map(named).into_iter().find(|path| path.is_file())
}

/// The numbers of a file, one a line.
fn numbers(path: &Path, context: &Context) -> Result<Vec<u64>> {
    let mut text = Vec::new();
    let mut source = Source::open(path, &context.cancel)?;
    while !source.fill(&mut text, super::source::BLOCK)? {}
    let content = (1..).zip(scan::lines(&text)).filter(|(_, (_, line))| !line.is_empty());
    let number = |(number, (_, line)): (u64, (usize, &[u8]))| {
        let what = || format!("{} is not a whole number", quote(line));
        scan::count(line).ok_or_else(|| Error::input(Place::line(path, number), what()))
    };
    content.map(number).collect()
}

/// Reads `edge.csv` or `edge.csv.gz` in such a folder, if it holds several graphs.
///
/// # Errors
/// [`Error::Input`] where the files contradict each other, and as [`super::read`].
pub(super) fn open(path: &Path, options: &ReadOptions, context: &Context) -> Result<Option<Text>> {
    let named = ["edge.csv", "edge.csv.gz"].iter().any(|name| path.ends_with(name));
    if !named || options.format.is_some() || options.columns.any() {
        return Ok(None);
    }
    let Some(sizes) = Sizes::beside(path, context)? else { return Ok(None) };
    let mut source = Source::watched(path, &context.cancel, Some(&context.progress))?;
    let watch = source.watch.take();
    let text = read(source, &sizes, options, context);
    match watch {
        Some(watch) => watch.unchanged(text),
        None => text,
    }
    .map(Some)
}

fn read(source: Source, sizes: &Sizes, options: &ReadOptions, context: &Context) -> Result<Text> {
    let (path, compression) = (source.path.clone(), source.compression);
    let mut sink = Sink::new(&path, b"", options, context)?;
    let mut rest = source.behind(vec![]);
    let mut lines = sink.lines(&mut rest);
    for ((graph, &vertices), &edges) in (0u64..).zip(&sizes.vertices).zip(&sizes.edges) {
        if graph >> 32 != 0 || vertices >> 32 != 0 {
            return Err(sink.fault("graphs and vertices have numbers below 2^32"));
        }
        for edge in 0..edges {
            let Some((line, text)) = lines.next()? else {
                return Err(contradiction(sizes, graph, edges, edge));
            };
            let ends = ends(text).filter(|ends| ends.iter().all(|&end| end < vertices));
            let Some(ends) = ends else {
                let what = format!(
                    "{} is not an edge of graph {graph}, which has {}, numbered from 0",
                    quote(text),
                    counted(vertices, "vertex", "vertices")
                );
                return Err(sink.fault_at(line, what));
            };
            let [source, target] = ends.map(|end| sink.vertex(id(graph, end).as_bytes()));
            sink.edge(source?, target?, None)?;
        }
        sink.check_vertices(vertices, edges, graph + 1)?;
        for vertex in 0..vertices {
            sink.vertex(id(graph, vertex).as_bytes())?;
        }
    }
    if let Some((line, _)) = lines.next()? {
        let listed = counted(sizes.edges.iter().sum::<u64>(), "edge", "edges");
        let what = format!("more lines follow than the {listed} of {}", Place::file(&sizes.path));
        return Err(sink.fault_at(line, what));
    }
    sink.note(format!(
        "{} lists {} graphs: vertex v of graph i, from 0, has the id i × 2^32 + v",
        Place::file(&sizes.path),
        sizes.edges.len()
    ));
    let SinkContent { builder, names, mut notes } = sink.finish()?;
    notes.extend(rest.trailing());
    Ok(Text {
        builder,
        names,
        format: Format::Transactions,
        guessed: false,
        compression,
        bytes: rest.bytes(),
        notes,
        claims: Claims::default(),
        first_loop: None,
        path,
    })
}

/// The id of a vertex of a graph.
fn id(graph: u64, vertex: u64) -> String {
    (graph << 32 | vertex).to_string()
}

/// Both ends of a line `source,target`.
fn ends(line: &[u8]) -> Option<[u64; 2]> {
    let at = memchr::memchr(b',', line)?;
    Some([scan::count(scan::trim(&line[..at]))?, scan::count(scan::trim(&line[at + 1..]))?])
}

fn contradiction(sizes: &Sizes, graph: u64, edges: u64, read: u64) -> Error {
    let what = format!(
        "says that graph {graph} has {}, but {}: a file of the folder is cut off",
        counted(edges, "edge", "edges"),
        counted(read, "follows", "follow")
    );
    Error::input(Place::file(&sizes.path), what)
}

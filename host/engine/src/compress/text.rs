//! The file of a compressed graph: lines of text, each a letter and numbers.

use std::io::{self, BufRead, Write};
use std::path::Path;

use gramer_base::context::{CancelPoll, Context};
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result, quote};
use gramer_graph::{Builder, Graph, Label};

use super::{CompressionResult, LEAST, MOST};

/// Start of the first line.
const MAGIC: &str = "gramer-cliques";
const VERSION: u64 = 1;
/// Longest line: a clique of the largest vertices.
const LONGEST: u64 = 1024;

/// Writes a compressed graph as text. The first line has the version, k, and the numbers of vertices and edges of
/// the graph, of cliques and of edges that stay; then follow `v ID LABEL`, or `v ID` for vertices without
/// edges and label, `c ID …` for each clique and `e ID ID` for each edge. Ids are those of the input.
///
/// # Errors
/// Those of the stream.
pub fn write(out: &mut dyn Write, graph: &Graph, compressed: &CompressionResult) -> io::Result<()> {
    let (view, ids) = (graph.view(), graph.original_ids());
    let CompressionResult { k, replaced, edges, .. } = compressed;
    let (vertices, all) = (graph.vertices(), graph.edges());
    writeln!(out, "{MAGIC} {VERSION} {k} {vertices} {all} {} {}", replaced.len(), edges.len())?;
    for (v, &id) in ids.iter().enumerate() {
        match view.vertex_labels {
            Some(labels) => writeln!(out, "v {id} {}", labels[v])?,
            None if view.degree(v as u32) == 0 => writeln!(out, "v {id}")?,
            None => {}
        }
    }
    for clique in replaced {
        write!(out, "c")?;
        for &v in &clique.vertices {
            write!(out, " {}", ids[v as usize])?;
        }
        writeln!(out)?;
    }
    for &(u, v) in edges {
        writeln!(out, "e {} {}", ids[u as usize], ids[v as usize])?;
    }
    Ok(())
}

/// The numbers of the first line.
struct Head {
    k: usize,
    vertices: u64,
    edges: u64,
    cliques: u64,
    stay: u64,
}

/// Reads what [`write()`] wrote, and restores the graph. `path` is what messages call it.
///
/// # Errors
/// [`Error::Input`] with the line for what is no such file, for one that is cut off and for one whose lines
/// don't make the graph that its first line announces; [`Error::Io`], [`Error::Interrupted`].
pub fn read(input: impl BufRead, path: &Path, context: &Context) -> Result<Graph> {
    let mut looks = CancelPoll::new(&context.cancel);
    let mut builder = Builder::new();
    let mut head = None;
    let (mut cliques, mut stay, mut labelled) = (0, 0, 0u64);
    each_line(input, path, context, |line, text| {
        let wrong =
            |what: &str| Error::input(Place::line(path, line), format!("{}: {what}", quote(text)));
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let Some(Head { k, .. }) = head else {
            head = Some(first_line(&words).map_err(|what| wrong(&what))?);
            return Ok(());
        };
        let (&kind, numbers) = words.split_first().ok_or_else(|| wrong("the line is empty"))?;
        let numbers: Vec<u64> = numbers
            .iter()
            .map(|word| {
                word.parse().map_err(|_| wrong("what follows the letter must be whole numbers"))
            })
            .collect::<Result<_>>()?;
        looks.check(numbers.len() * numbers.len())?;
        match (kind, &numbers[..]) {
            ("v", &[id]) => builder.vertex(id),
            ("v", &[id, label]) => {
                let label = Label::try_from(label).ok().filter(|&l| l != gramer_graph::NO_LABEL);
                let label = label.ok_or_else(|| wrong("a label is at most 4294967294"))?;
                builder.labelled_vertex(id, label);
                labelled += 1;
            }
            ("c", ids) if ids.len() == k => {
                for (at, &v) in ids.iter().enumerate() {
                    ids[..at].iter().for_each(|&u| builder.edge(u, v));
                }
                cliques += 1;
            }
            ("e", &[u, v]) => {
                builder.edge(u, v);
                stay += 1;
            }
            ("c", _) => return Err(wrong(&format!("a clique has {k} vertices here"))),
            _ => {
                return Err(wrong(
                    "a line is v ID, v ID LABEL, c with ids of a clique, or e ID ID",
                ));
            }
        }
        Ok(())
    })?;
    let whole = |what: String| Error::input(Place::file(path), what);
    let head = head.ok_or_else(|| whole("is empty, not a compressed graph".into()))?;
    if (cliques, stay) != (head.cliques, head.stay) {
        return Err(whole(format!(
            "its first line announces {} and {}, and {cliques} and {stay} follow: the file is cut off or was changed",
            counted(head.cliques, "clique", "cliques"),
            counted(head.stay, "edge", "edges")
        )));
    }
    let graph = builder.build_with(context)?;
    let found = (graph.vertices() as u64, graph.edges() as u64);
    if found != (head.vertices, head.edges) || labelled > 0 && labelled != head.vertices {
        return Err(whole(format!(
            "its first line announces a graph of {} and {}, and its lines make one of {} and {}, {labelled} with a label: \
             the file was changed",
            counted(head.vertices, "vertex", "vertices"),
            counted(head.edges, "edge", "edges"),
            found.0,
            found.1
        )));
    }
    Ok(graph)
}

fn first_line(words: &[&str]) -> Result<Head, String> {
    let [MAGIC, version, numbers @ ..] = words else {
        return Err(format!("a compressed graph begins with {MAGIC} and its version"));
    };
    if version.parse() != Ok(VERSION) {
        return Err(format!("it has version {}, and this program reads {VERSION}", quote(version)));
    }
    let numbers: Vec<u64> = numbers.iter().map_while(|word| word.parse().ok()).collect();
    match numbers[..] {
        [k, vertices, edges, cliques, stay] if (LEAST as u64..=MOST as u64).contains(&k) => {
            Ok(Head { k: k as usize, vertices, edges, cliques, stay })
        }
        _ => Err(format!(
            "after the version come five numbers: vertices of a clique ({LEAST} to {MOST}), vertices and edges of \
             the graph, cliques, edges that stay"
        )),
    }
}

/// Calls `f` with the number and the text of each line.
fn each_line(
    mut input: impl BufRead,
    path: &Path,
    context: &Context,
    mut f: impl FnMut(u64, &str) -> Result<()>,
) -> Result<()> {
    let (mut number, mut bytes) = (0, vec![]);
    loop {
        bytes.clear();
        number += 1;
        let read = io::Read::take(&mut input, LONGEST).read_until(b'\n', &mut bytes);
        context.cancel.check()?;
        if read.map_err(|e| Error::io(path, "read", e))? == 0 {
            return Ok(());
        }
        let whole = bytes.pop_if(|b| *b == b'\n').is_some() || (bytes.len() as u64) < LONGEST;
        let text = std::str::from_utf8(&bytes).ok().filter(|_| whole);
        let text = text.ok_or_else(|| {
            let what = format!("{} is not a line of a compressed graph", quote(&bytes));
            Error::input(Place::line(path, number), what)
        })?;
        f(number, text)?;
    }
}

//! What the targets share.

use std::path::Path;
use std::sync::Once;

use gramer_base::Context;
use gramer_graph::read::{Format, ReadOptions, read_bytes};
use gramer_graph::write::write_text;
use gramer_graph::{Graph, image};

/// Reads bytes as this format (`None`: by content). What is accepted must be a sound graph that
/// its image and its text give back.
#[allow(dead_code)]
pub fn read_as(format: Option<Format>, bytes: &[u8]) {
    let Some(graph) = graph_of(format, bytes) else { return };
    check(&graph);
    let mut written = Vec::new();
    image::write_to(&mut written, &graph, "fuzz").expect("memory");
    let back = image::from_bytes(Path::new("fuzz"), &written).expect("our own image");
    assert_eq!(back.view().neighbours, graph.view().neighbours);
    assert_eq!(back.original_ids(), graph.original_ids());
    let mut text = Vec::new();
    write_text(&mut text, &graph, Format::Tve).expect("memory");
    let back = graph_of(Some(Format::Tve), &text).expect("our own text");
    assert_eq!(back.view().neighbours, graph.view().neighbours);
}

/// A table that is accepted gives the same names and as many edges once it is written and read again.
#[allow(dead_code)]
pub fn table_comes_back(bytes: &[u8]) {
    let Some(graph) = graph_of(Some(Format::Table), bytes) else { return };
    if graph.edges() == 0 {
        return;
    }
    let mut text = Vec::new();
    write_text(&mut text, &graph, Format::Table).expect("memory");
    let back = graph_of(Some(Format::Table), &text).expect("our own table");
    assert_eq!(back.edges(), graph.edges());
    for v in 0..graph.vertices() as u32 {
        let name = graph.vertex_name(v).to_string();
        // A vertex with nothing but a loop is left out.
        assert!(graph.view().degree(v) == 0 || back.id_of_name(&name).is_some(), "{name:?}");
    }
}

#[allow(dead_code)]
fn graph_of(format: Option<Format>, bytes: &[u8]) -> Option<Graph> {
    // A header may declare any number of vertices: memory is not what is tested here.
    let options = ReadOptions { format, max_vertices: Some(1 << 16), ..ReadOptions::default() };
    let context = Context::with_threads(1);
    // The crates of Arrow and Parquet may panic: their reader makes it a fault of the file.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| gramer_base::panics::install(|_| std::process::abort()));
    match read_bytes(Path::new("fuzz"), bytes.to_vec(), &options, &context) {
        Ok(loaded) => Some(loaded.graph),
        Err(error) => {
            // The message itself must hold.
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// A sound graph, whose edges are those that were read.
#[allow(dead_code)]
pub fn check(graph: &Graph) {
    check_rows(graph);
    let stats = graph.stats();
    assert_eq!(stats.raw_edges, stats.self_loops + stats.duplicates + graph.edges() as u64);
}

/// Rows ascend, hold no vertex beyond the last one nor their own, and are symmetric.
pub fn check_rows(graph: &Graph) {
    let view = graph.view();
    for v in 0..graph.vertices() as u32 {
        let row = view.neighbours(v);
        assert!(row.is_sorted_by(|a, b| a < b));
        for &u in row {
            assert!(u != v && (u as usize) < graph.vertices());
            assert_eq!(view.edge_label(u, v), view.edge_label(v, u));
            assert!(view.edge_label(u, v).is_some());
        }
    }
}

//! The query sets that come with the real graphs.

use std::io::Read;
use std::path::Path;

use gramer_base::Context;
use gramer_graph::Graph;
use gramer_graph::prepare::renumber;
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_pattern::{Pattern, parse_pattern};

/// A graph, ready for mining.
pub fn graph(path: &Path) -> Graph {
    let context = Context::with_threads(1);
    let graph = read_graph(path, &ReadOptions::default(), &context).expect("a graph");
    renumber(&graph, &context).expect("not interrupted")
}

/// The queries of an archive (`.tar.zst`) by file name without extension, sorted. Those that
/// `wanted` refuses by name aren't parsed.
pub fn queries(archive: &Path, wanted: impl Fn(&str) -> bool) -> Vec<(String, Pattern)> {
    let file = std::fs::File::open(archive).expect("a query set");
    let mut tar = tar::Archive::new(zstd::Decoder::new(file).expect("zstd"));
    let mut queries = vec![];
    for entry in tar.entries().expect("a tar file") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").into_owned();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !entry.header().entry_type().is_file() || !wanted(&name) {
            continue;
        }
        let mut bytes = vec![];
        entry.read_to_end(&mut bytes).expect("its content");
        queries.push((name, parse_pattern(&bytes, &path).expect("a pattern")));
    }
    queries.sort();
    queries
}

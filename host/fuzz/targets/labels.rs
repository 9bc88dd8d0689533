//! Tables of vertex labels. The first byte chooses the column.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use gramer_graph::read::read_labels_from;
use gramer_graph::{Builder, Graph, NO_LABEL};
use libfuzzer_sys::fuzz_target;

static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let mut builder = Builder::new();
    for (u, v) in [(0, 1), (1, 2), (2, 5)] {
        builder.edge(u, v);
    }
    builder.build()
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    let column = Some(usize::from(first % 5)).filter(|&c| c < 4);
    if let Ok((labels, _)) = read_labels_from(Path::new("fuzz"), text, column, &GRAPH) {
        assert_eq!(labels.len(), GRAPH.vertices());
        assert!(labels.iter().all(|&l| l != NO_LABEL));
    }
});

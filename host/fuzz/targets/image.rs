//! Binary images, with plain rows and with compressed ones. So that the fuzzer gets past the checksums, they are made right first: what is
//! left must still be refused or be a sound graph, which every task of the CPU engine can mine,
//! with the counts of the reference engine.
#![no_main]

mod common;

use std::path::Path;

use gramer::cpu::Cpu;
use gramer::engine::reference::Reference;
use gramer::engine::{Engine, EngineExt, Outcome};
use gramer::graph::{Graph, image};
use gramer::prepare::renumber;
use gramer::task::{Induced, Measure, SizeLimit};
use gramer::{Context, Pattern, Task};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("fuzz");
    let _ = image::from_bytes(path, bytes);
    let mut sealed = bytes.to_vec();
    image::seal(&mut sealed);
    let Ok(graph) = image::from_bytes(path, &sealed) else { return };
    common::check_rows(&graph);
    compress(&graph);
    mine(&graph);
});

/// Compressed rows are the same rows.
fn compress(graph: &Graph) {
    let rows = image::PackedRows::new(graph, &Default::default()).expect("nobody interrupts");
    let mut written = Vec::new();
    image::write_packed_to(&mut written, graph, &rows, "").expect("memory");
    let back = image::from_bytes(Path::new("fuzz"), &written).expect("our own image");
    assert_eq!(back.view().offsets, graph.view().offsets);
    assert_eq!(back.view().neighbours, graph.view().neighbours);
    assert_eq!(back.view().edge_labels, graph.view().edge_labels);
}

fn mine(graph: &Graph) {
    let context = Context::with_threads(1);
    let ranked = renumber(graph, &context).expect("nobody interrupts");
    let run = |engine: &dyn Engine, graph: &Graph, task: &Task| -> Outcome {
        engine.run(graph, task, None, &context).expect("a sound graph can be mined")
    };
    let vertices = SizeLimit::MaxVertices(3);
    let fsm = |measure| Task::Fsm { limit: vertices, support: 1, measure };
    let pattern = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
    let compared = [
        Task::Clique { k: 3 },
        Task::Clique { k: 4 },
        Task::Motif { k: 3, induced: Induced::Vertex },
        Task::Motif { k: 4, induced: Induced::Vertex },
        fsm(Measure::Embeddings),
    ];
    for task in &compared {
        let expected = run(&Reference::default(), &ranked, task);
        assert_eq!(run(&Cpu, graph, task).results, expected.results);
        assert_eq!(run(&Cpu, &ranked, task).results, expected.results);
    }
    let others = [
        Task::MaximalCliques,
        fsm(Measure::Mni),
        Task::Match { pattern, induced: Induced::Edge, mappings: None },
    ];
    for task in &others {
        assert_eq!(run(&Cpu, graph, task).results, run(&Cpu, &ranked, task).results);
    }
}

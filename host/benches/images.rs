//! Images with plain and with compressed rows: size, CPU time of one thread to open them and to count
//! 4-cliques.
//!
//! `cargo bench --bench images [-- FILE…]` reads an R-MAT graph that it makes, and the files named. It
//! prints the table of `docs/results/bench/images.csv`.
//!
//! - *checked*, *trusted*: opening the image with all checks, and with `--trust-image`;
//! - *+ 4-cliques*: opening it trusted and mining it;
//! - *in files*: the same with compressed rows decoded into mapped files, as `--memory` does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gramer::base::Budget;
use gramer::cpu::Cpu;
use gramer::engine::EngineExt;
use gramer::graph::generate::{Model, Recipe, generate};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::graph::{Graph, image};
use gramer::prepare::renumber;
use gramer::{Context, Task};

/// CPU time of this thread so far.
fn cpu_time() -> Duration {
    // Field 1 of schedstat is the time on a CPU in nanoseconds.
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|n| n.trim().parse().ok()).unwrap_or(0);
    Duration::from_nanos(nanoseconds)
}

/// CPU milliseconds of a run: the best of several.
fn best<R>(mut run: impl FnMut() -> R) -> f64 {
    const RUNS: usize = 5;
    let one = |_| {
        let begun = cpu_time();
        std::hint::black_box(run());
        (cpu_time() - begun).as_secs_f64() * 1e3
    };
    (0..RUNS).map(one).fold(f64::INFINITY, f64::min)
}

/// What opening and mining an image takes.
struct Measurement {
    bytes: u64,
    checked: f64,
    trusted: f64,
    mined: f64,
    in_files: f64,
    count: u128,
}

fn measure(path: &Path, folder: &Path) -> Measurement {
    let context = Context::with_threads(1);
    let budget = Some(Arc::new(Budget { bytes: 1 << 40, folder: folder.into() }));
    let limited = Context { budget, ..Context::with_threads(1) };
    let open = |verify, context: &Context| {
        let options = ReadOptions { verify, ..ReadOptions::default() };
        read_graph(path, &options, context).expect("an image")
    };
    let mine = |context: &Context| {
        let graph = open(false, context);
        let found = Cpu.run(&graph, &Task::Clique { k: 4 }, None, context).expect("cliques");
        found.results[0].count
    };
    Measurement {
        bytes: std::fs::metadata(path).expect("it was written").len(),
        checked: best(|| open(true, &context)),
        trusted: best(|| open(false, &context)),
        mined: best(|| mine(&context)),
        in_files: best(|| mine(&limited)),
        count: mine(&context),
    }
}

fn compare(name: &str, graph: &Graph) {
    let context = Context::with_threads(1);
    let graph = renumber(graph, &context).expect("nobody interrupts");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = |name: &str| folder.path().join(name);
    let (plain, packed) = (path("plain.gramer"), path("packed.gramer"));
    image::write(&plain, &graph, name).expect("room for the image");
    let pack = || image::PackedRows::new(&graph, &context.cancel).expect("nobody interrupts");
    let packing = best(pack);
    let mut out = std::fs::File::create(&packed).expect("room for the image");
    image::write_packed_to(&mut out, &graph, &pack(), name).expect("room for the image");
    drop(out);
    let (plain, packed) = (measure(&plain, folder.path()), measure(&packed, folder.path()));
    assert_eq!(plain.count, packed.count);
    let per_entry = |bytes: usize| 8.0 * bytes as f64 / graph.view().neighbours.len() as f64;
    let entries = [8 * graph.vertices() + 4 * graph.view().neighbours.len(), pack().bytes()];
    for (rows, m, entries) in [("plain", plain, entries[0]), ("compressed", packed, entries[1])] {
        println!(
            "{name},{rows},{:.2},{:.1},{},{:.2},{:.2},{:.1},{:.1}",
            m.bytes as f64 / 1e6,
            per_entry(entries),
            if rows == "plain" { String::new() } else { format!("{packing:.1}") },
            m.checked,
            m.trusted,
            m.mined,
            m.in_files,
        );
    }
}

fn main() {
    println!(
        "graph,rows,mb,bits_per_entry,compress_ms,checked_ms,trusted_ms,cliques_ms,in_files_ms"
    );
    let files: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|a| a != "--bench").map(PathBuf::from).collect();
    for file in &files {
        let graph = read_graph(file, &ReadOptions::default(), &Context::default());
        let folder = file.parent().and_then(Path::file_name).unwrap_or(file.as_os_str());
        compare(&folder.to_string_lossy(), &graph.expect("a graph"));
    }
    let model = Model::Rmat { scale: 18, edge_factor: 16, a: 0.57, b: 0.19, c: 0.19 };
    let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
    let graph = generate(&recipe, &Context::default()).expect("a graph");
    compare("rmat scale 18", &graph);
}

//! How fast text becomes a graph: CPU seconds of one thread, by stage.
//!
//! `cargo bench --bench load [-- FILE…]` reads graphs that it makes (R-MAT, edges in random
//! order as they were drawn, and sorted), or the files named, which may be compressed.
//!
//! - *parse*: text to pairs of ids, as `parse_only` of the reader does;
//! - *graph*: text to rows in the order of the input, everything that `read` does;
//! - *ready*: text to rows in the order of Rank(ON_1), in which most tasks are mined;
//! - *in turn*: the same by way of the rows in the order of the input, which are renumbered;
//! - *image*: opening the image of the same graph, with and without its checks.
//!
//! The last row is a CSV of 10 million edges between names, up to its rows; `-- names` measures it alone. Below it are
//! the elapsed time with two threads and the peak of memory, which holds the names, the edges and the rows.

#[path = "common/cpu_time.rs"]
mod cpu_time;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gramer::Context;
use gramer::graph::generate::{Model, Recipe, generate};
use gramer::graph::read::{ReadOptions, parse_only, read};
use gramer::graph::write::write_text;
use gramer::graph::{Builder, Graph, Order, image, read::Format};
use gramer::prepare::renumber;

/// CPU seconds of a run: the best mean of three series, each long enough to be no accident.
fn best<R>(mut run: impl FnMut() -> R) -> f64 {
    const SERIES: Duration = Duration::from_millis(200);
    let series = |_| {
        let begun = cpu_time::of_thread();
        let mut runs = 0;
        while runs == 0 || cpu_time::of_thread() - begun < SERIES {
            std::hint::black_box(run());
            runs += 1;
        }
        (cpu_time::of_thread() - begun).as_secs_f64() / f64::from(runs)
    };
    (0..3).map(series).fold(f64::INFINITY, f64::min)
}

fn measure(name: &str, text: &[u8]) {
    let context = Context::with_threads(1);
    let options = ReadOptions::default();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("graph.txt");
    std::fs::write(&path, text).expect("room for the graph");
    let parse = best(|| parse_only(&path, &options, &context).expect("a graph"));
    let whole = best(|| read(&path, &options, &context).expect("a graph"));
    let ranked = ReadOptions { order: Order::RankOn1.into(), ..options.clone() };
    let ready = best(|| read(&path, &ranked, &context).expect("a graph"));
    let in_turn = best(|| {
        let graph = read(&path, &options, &context).expect("a graph").graph;
        renumber(&graph, &context).expect("nobody interrupts")
    });
    let graph = read(&path, &options, &context).expect("a graph").graph;
    let path = folder.path().join("graph.gramer");
    image::write(&path, &graph, name).expect("room for the image");
    let checked = best(|| image::open(&path, true).expect("an image"));
    let trusted = best(|| image::open(&path, false).expect("an image"));
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{name:<28} {megabytes:>8.1} {:>10} {:>8.0} {:>8.0} {:>8.0} {:>8.0} {:>9.2} {:>9.2}",
        graph.edges(),
        megabytes / parse,
        megabytes / whole,
        megabytes / ready,
        megabytes / in_turn,
        checked * 1e3,
        trusted * 1e3,
    );
}

/// A graph's edges in an order without any order, as a crawler would write them.
fn shuffled(graph: &Graph) -> Vec<u8> {
    let mut lines: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut text = Vec::new();
    write_text(&mut text, graph, Format::Edges).expect("memory");
    for line in text.split_inclusive(|&b| b == b'\n') {
        lines.push((xxhash_rust::xxh3::xxh3_64(line), line.to_vec()));
    }
    lines.sort_unstable();
    lines.into_iter().flat_map(|(_, line)| line).collect()
}

/// Measures a CSV of 10 million edges between a million names, once: it is large.
fn measure_names() {
    const EDGES: usize = 10_000_000;
    const NAMES: u64 = 1_000_000;
    let mut state = 1u64;
    let mut name = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Of 7 to 20 bytes, in no order.
        let number = ((state >> 33) % NAMES).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("user_{:x}", number >> (number % 52))
    };
    let mut text = String::from("source,target\n");
    for _ in 0..EDGES {
        text += &format!("{},{}\n", name(), name());
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("names.csv");
    std::fs::write(&path, &text).expect("room for the graph");
    let (context, options) = (Context::with_threads(1), ReadOptions::default());
    let megabytes = text.len() as f64 / 1e6;
    // Its memory isn't the reader's.
    drop(text);
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let seconds = |run: &dyn Fn() -> usize| {
        let begun = cpu_time::of_thread();
        let edges = run();
        ((cpu_time::of_thread() - begun).as_secs_f64(), edges)
    };
    let (parse, _) = seconds(&|| parse_only(&path, &options, &context).expect("a graph"));
    let (whole, edges) =
        seconds(&|| read(&path, &options, &context).expect("a graph").graph.edges());
    println!(
        "{:<28} {megabytes:>8.1} {edges:>10} {:>8.0} {:>8.0}",
        "CSV of names",
        megabytes / parse,
        megabytes / whole
    );
    let begun = Instant::now();
    let two = Context::with_threads(2);
    let edges = read(&path, &options, &two).expect("a graph").graph.edges();
    let elapsed = begun.elapsed().as_secs_f64();
    println!(
        "{:<28} {megabytes:>8.1} {edges:>10} {:>8} {:>8.0}   peak of memory {} MB",
        "the same, two threads",
        "",
        megabytes / elapsed,
        peak()
    );
}

/// The peak of resident memory in megabytes since it was last cleared; 0 where the system doesn't tell.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kibibytes.map_or(0, |number: u64| number * 1024 / 1_000_000)
}

fn main() {
    println!(
        "{:<28} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}",
        "graph", "MB", "edges", "parse", "graph", "ready", "in turn", "image", "trusted"
    );
    println!(
        "{:<28} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}",
        "", "", "", "MB/s", "MB/s", "MB/s", "MB/s", "ms", "ms"
    );
    let files: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|a| a != "--bench").map(PathBuf::from).collect();
    if files == [PathBuf::from("names")] {
        return measure_names();
    }
    for file in &files {
        let bytes = std::fs::read(file).expect("a readable file");
        // Decompressed, so that the reader alone is measured.
        let text = if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            zstd::decode_all(&bytes[..]).expect("zstd")
        } else {
            bytes
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        measure(&name, &text);
    }
    if files.is_empty() {
        let model = Model::Rmat { scale: 18, edge_factor: 16, a: 0.57, b: 0.19, c: 0.19 };
        let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &Context::with_threads(1)).expect("memory");
        let mut text = Vec::new();
        write_text(&mut text, &graph, Format::Edges).expect("memory");
        measure("rmat18, sorted", &text);
        measure("rmat18, shuffled", &shuffled(&graph));
        // Ids of 15 digits, far apart.
        let mut sparse = Builder::new();
        let view = graph.view();
        for u in 0..graph.vertices() as u32 {
            for &v in view.neighbours(u).iter().filter(|&&v| u < v) {
                let far = |id: u32| u64::from(id.wrapping_mul(0x9e37_79b1)) * 100_003;
                sparse.edge(far(u), far(v));
            }
        }
        measure("rmat18, ids of 64 bits", &shuffled(&sparse.build()));
        measure_names();
    }
    std::io::stdout().flush().expect("standard output");
}

//! How fast a graph is prepared: entries of the edge array (directed edges) a second and thread,
//! for ON_1 alone, for ON_1 with renumbering, and for the set core's images of cliques and of motifs.
//!
//! `cargo bench --bench prepare [-- THREADS [SCALE…]]`: R-MAT graphs of 2^SCALE vertices and 16
//! edges per vertex, scales 14, 17 and 20 unless others are given. The best of five runs counts, by
//! the CPU time of the process, so that other load does not show.

#[path = "common/cpu_time.rs"]
mod cpu_time;

use std::time::Instant;

use gramer::accelerator::set::image::{Lists, SetImage};
use gramer::graph::Builder;
use gramer::prepare::{on_k, renumber};
use gramer::{Context, Graph};

fn main() {
    // Cargo adds `--bench`.
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok());
    let threads = numbers.next().unwrap_or(1).max(1);
    let mut scales: Vec<usize> = numbers.collect();
    if scales.is_empty() {
        scales = vec![14, 17, 20];
    }
    let context = Context::with_threads(threads);
    println!("{threads} thread(s); million directed edges a CPU second (a wall second)");
    println!(
        "scale  vertices    entries             ON_1  ON_1 + renumbering    image, cliques     image, motifs"
    );
    for scale in scales {
        let graph = rmat(scale, 16);
        let (vertices, entries) = (graph.vertices(), 2 * graph.edges());
        let rates = |work: &dyn Fn()| {
            let (cpu, wall) = best(work);
            let rate = |seconds: f64| entries as f64 / seconds / 1e6;
            format!("{:.0} ({:.0})", rate(cpu), rate(wall))
        };
        let on_1 = rates(&|| drop(on_k(graph.view(), 1, &context).expect("not interrupted")));
        let both = rates(&|| drop(renumber(&graph, &context).expect("not interrupted")));
        let ranked = renumber(&graph, &context).expect("not interrupted");
        let image = |lists| {
            rates(&|| drop(SetImage::new(ranked.view(), lists, threads).expect("it has room")))
        };
        let (up, motifs) = (image(Lists::Up), image(Lists::Both));
        println!("{scale:5} {vertices:9} {entries:10} {on_1:>16} {both:>19} {up:>17} {motifs:>17}");
    }
}

/// Least CPU and wall seconds of five runs.
fn best(work: &dyn Fn()) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let (cpu, wall) = (cpu_time::of_process(), Instant::now());
        work();
        let cpu = (cpu_time::of_process() - cpu).as_secs_f64();
        best = (best.0.min(cpu), best.1.min(wall.elapsed().as_secs_f64()));
    }
    best
}

/// An R-MAT graph (a, b, c, d = 0.57, 0.19, 0.19, 0.05) whose vertex numbers are mixed, so that
/// they say nothing about degrees.
fn rmat(scale: usize, edges_a_vertex: usize) -> Graph {
    let mut state = 0u64;
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mask = (1u64 << scale) - 1;
    let mix = |v: u64| v.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask;
    let mut builder = Builder::new();
    for _ in 0..edges_a_vertex << scale {
        let (mut u, mut v) = (0, 0);
        for _ in 0..scale {
            let (du, dv) = match random() % 100 {
                0..57 => (0, 0),
                57..76 => (0, 1),
                76..95 => (1, 0),
                _ => (1, 1),
            };
            (u, v) = (u << 1 | du, v << 1 | dv);
        }
        builder.edge(mix(u), mix(v));
    }
    builder.build()
}

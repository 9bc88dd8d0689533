//! CPU time of each step in which the host prepares a task of the set core, from a graph in the order of Rank(ON_1) to the
//! streams of two clusters (`docs/reference/opencl.md`, section *Host time of the set core*).
//!
//! `set_prepare FILE…` prints milliseconds, the best of 40 repetitions on one thread.

#[path = "../benches/common/cpu_time.rs"]
mod cpu_time;

use anyhow::{Context as _, Result};
use gramer::Context;
use gramer::accelerator::set::image::{Lists, SetImage};
use gramer::accelerator::set::units::{Arrange, Operation, deal, longest, units};
use gramer::engine::Units;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare::renumber;
use gramer_machine::named::named;

/// Repetitions of a step.
const TIMES: usize = 40;
/// Clusters that share the units.
const CLUSTERS: usize = 2;

/// Least milliseconds of a step.
fn best<T>(work: impl Fn() -> T) -> (f64, T) {
    let once = || {
        let begun = cpu_time::of_thread();
        let made = std::hint::black_box(work());
        ((cpu_time::of_thread() - begun).as_secs_f64() * 1e3, made)
    };
    (1..TIMES).fold(once(), |(least, _), _| {
        let (took, made) = once();
        (least.min(took), made)
    })
}

fn main() -> Result<()> {
    let context = Context::with_threads(1);
    let machine = named("set").context("a built-in machine")??;
    for file in std::env::args().skip(1) {
        let read = read_graph(file.as_ref(), &ReadOptions::default(), &context)?;
        let (ordered, graph) = best(|| renumber(&read, &context));
        let graph = graph?;
        let view = graph.view();
        println!("{file}\n  {ordered:8.3}  order");
        println!("  {:8.3}  longest list", best(|| longest(view)).0);
        let cliques = |k| vec![Operation::Cliques { k }];
        let motifs = vec![Operation::Cliques { k: 4 }, Operation::Paths];
        for (lists, tasks) in [
            (Lists::Up, vec![cliques(3), cliques(4), cliques(5)]),
            (Lists::Both, vec![cliques(3), motifs]),
        ] {
            println!("  {:8.3}  size, {lists:?}", best(|| SetImage::size_of(view, lists)).0);
            let (took, image) = best(|| SetImage::new(view, lists, 1));
            let image = image?;
            println!("  {took:8.3}  image, {lists:?}");
            for of in tasks {
                let (took, work) = best(|| units(view, &image, &of, Units::All));
                println!("  {took:8.3}  {} units of {of:?}", work.len());
                for arrange in [Arrange::ByAddress, Arrange::ByWork] {
                    let dealt = || deal(&machine, &of, work.clone(), CLUSTERS, arrange);
                    println!("  {:8.3}  streams, {arrange:?}", best(dealt).0);
                }
            }
        }
    }
    Ok(())
}

//! Host time of tasks on a graph that stays on a set core (`docs/reference/opencl.md`, section *Host time of the set core*).
//!
//! `set_resident DEVICE FILE` prints a row a task: content that it built, wrote, loaded and made, and microseconds: preparation,
//! the host's own time, commands in it, and the kernel's cycles at its clock. The program `gramer` is named by `GRAMER`.

use anyhow::{Context as _, Result};
use gramer::accelerator::emulated::EmulatedDevice;
use gramer::accelerator::settings::Settings;
use gramer::engine::{Engine, Units};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare::renumber;
use gramer::task::Induced;
use gramer::{Context, Task};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [device, file] = &words[..] else { anyhow::bail!("give a device and a graph") };
    let context = Context::with_threads(1);
    let graph = renumber(&read_graph(file.as_ref(), &ReadOptions::default(), &context)?, &context)?;
    let prepared = EmulatedDevice::open(device, Settings::default())?.prepare(&graph, &context)?;
    let (clique, motif) = (|k| Task::Clique { k }, |k| Task::Motif { k, induced: Induced::Vertex });
    println!("task\tbuilt\twritten\tloaded\tstreams\tpreparation\thost\tlaunch\tkernel");
    for task in [
        clique(3),
        clique(3),
        clique(3),
        clique(4),
        clique(4),
        motif(3),
        Task::CliqueSizes { smallest: 3, largest: 5 },
        Task::CliqueSizes { smallest: 3, largest: 5 },
        motif(4),
        motif(4),
    ] {
        let outcome = prepared.run(&task, Units::All, None, &context)?;
        let metrics = &outcome.devices[0];
        let count = |name: &str| {
            metrics.count(&format!("residency.{name}")).context("a device without these counters")
        };
        let us = |name: &str| {
            let seconds = metrics.get(name).and_then(gramer::engine::metrics::Value::number);
            format!("{:.0}", 1e6 * seconds.unwrap_or(0.0))
        };
        println!(
            "{task:?}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            count("images_built")?,
            count("images_written")?,
            count("images_loaded")?,
            count("streams_built")?,
            us("transfer.preparation_seconds"),
            us("host.seconds"),
            us("host.launch_seconds"),
            us("run.seconds_at_clock"),
        );
    }
    Ok(())
}

//! A program that uses the library and an emulated device: `embedded DEVICE GRAPH K` prints the motifs of
//! K vertices with their counts, the device's and the CPU's, and one embedding of each.
//!
//! The device is driven by the command `gramer`, which the library finds beside this program, on the `PATH`
//! or by the variable `GRAMER`; this program itself runs once.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use gramer::accelerator::emulated::EmulatedDevice;
use gramer::accelerator::settings::Settings;
use gramer::cpu::Cpu;
use gramer::engine::{EngineExt, Sink};
use gramer::graph::VertexId;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::task::Induced;
use gramer::{Context, Pattern, Task};

/// Keeps the first embedding of each pattern and counts all.
#[derive(Default)]
struct First(Mutex<HashMap<Pattern, (u128, Vec<VertexId>)>>);

impl Sink for First {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let mut seen = self.0.lock().expect("no thread panicked");
        seen.entry(pattern.clone()).or_insert_with(|| (0, vertices.to_vec())).0 += 1;
        ControlFlow::Continue(())
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [device, path, k] = &words[..] else {
        anyhow::bail!("usage: embedded DEVICE GRAPH K, such as emulator:small graph.txt 3");
    };
    let context = Context::default();
    let graph = read_graph(Path::new(path), &ReadOptions::default(), &context)?;
    let task = Task::Motif { k: k.parse().context("K is not a number")?, induced: Induced::Vertex };
    let device = EmulatedDevice::open(device, Settings::default())?;
    let first = First::default();
    let found = device.run(&graph, &task, Some(&first), &context)?;
    let expected = Cpu.run(&graph, &task, None, &context)?;
    ensure!(found.results == expected.results, "the device and the CPU differ");
    let first = first.0.into_inner().expect("no thread panicked");
    for line in &found.results {
        let seen = first.get(&line.pattern);
        let (listed, vertices) = seen.map_or((0, &[][..]), |(count, v)| (*count, &v[..]));
        ensure!(listed == line.count, "{listed} embeddings are listed of {}", line.count);
        let ids: Vec<u64> = vertices.iter().map(|&v| graph.original_id(v)).collect();
        println!("{} {} {ids:?}", gramer::pattern::name(&line.pattern), line.count);
    }
    let cycles = found.devices.first().and_then(|m| m.count("run.cycles")).unwrap_or(0);
    println!("{cycles} cycles by {}", device.helper().display());
    Ok(())
}

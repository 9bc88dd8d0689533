//! The bytes that the host sends to the set core, as files: the image of a graph, and the in-stream of each cluster.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use gramer::accelerator::set::image::{SetImage, Words as _};
use gramer::accelerator::set::tasks::stays;
use gramer::accelerator::set::units::{Arrange, deal, longest, units};
use gramer::base::output::write_output;
use gramer::engine::Units;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare;
use gramer_machine::Accelerator;

use super::check::usage;
use super::{GraphTask, MiningTask, Options, set};

/// Files of the in-streams: the given name with `.0`, `.1`, … appended, one for each cluster.
pub fn in_streams(options: &Options, machine: &Accelerator) -> Vec<PathBuf> {
    let file = |path: &PathBuf, cluster| {
        let mut name = OsString::from(path);
        name.push(format!(".{cluster}"));
        PathBuf::from(name)
    };
    let clusters = 0..machine.kernels.compute_units;
    options
        .in_stream_out
        .iter()
        .flat_map(|path| clusters.clone().map(|at| file(path, at)))
        .collect()
}

/// Writes image and in-streams of a task, and simulates nothing.
///
/// # Errors
/// Tasks that the set core does not support, a graph that has to be cut into segments, and errors of files.
pub fn export(options: &Options, machine: &Accelerator, asked: GraphTask<'_>) -> Result<()> {
    let (task, k, path) = asked;
    let task = set::task(machine, task == MiningTask::Clique, k)?;
    let context = gramer::Context::default();
    let graph = read_graph(path, &ReadOptions::default(), &context)?;
    let graph = prepare::renumber(&graph, &context)?;
    let view = graph.view();
    let size = SetImage::size_of(view, task.lists());
    let name = &machine.machine.name;
    usage(stays(machine, size, longest(view), task)?, || {
        format!("the graph is cut into segments on machine {name}, each with its own image")
    })?;
    let image = SetImage::new(view, task.lists(), 0)?;
    let operations = task.operations();
    let work = units(view, &image, &operations, Units::All);
    let arrange = if options.load { Arrange::ByAddress } else { Arrange::ByWork };
    let clusters = machine.kernels.compute_units as usize;
    let put = |to: &Path, bytes: &[u8]| write_output(to, options.force, |out| out.write_all(bytes));
    if let Some(to) = &options.image_out {
        put(to, image.bytes())?;
    }
    let streams = deal(machine, &operations, work, clusters, arrange);
    for (to, stream) in in_streams(options, machine).iter().zip(&streams) {
        put(to, &stream.whole())?;
    }
    Ok(())
}

//! Checks beyond clap's: ranges that depend on the machine, and options of the other core.

use std::path::Path;

use anyhow::Result;
use gramer::base::output::{check_output, is_one_file};
use gramer_machine::{Accelerator, Core, lambda_range, lambda_steps};

use super::{MiningTask, Options};

/// An option that is out of range or contradicts another.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of the command line where `good` is false.
pub fn usage(good: bool, message: impl FnOnce() -> String) -> Result<()> {
    if good { Ok(()) } else { Err(Usage(message()).into()) }
}

/// Refuses outputs that would replace a file unasked, or an input.
pub fn check_outputs(options: &Options, machine: &Accelerator) -> Result<()> {
    let streams = super::image::in_streams(options, machine);
    let named = [
        ("--list", &options.list),
        ("--trace", &options.trace),
        ("--image-out", &options.image_out),
    ];
    let named = named.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?)));
    let streams = streams.iter().map(|path| ("--in-stream-out", &**path));
    let outputs: Vec<(&str, &Path)> = named.chain(streams).collect();
    usage(!outputs.is_empty() || !options.force, || {
        "--force needs --list, --trace, --image-out or --in-stream-out".into()
    })?;
    let inputs = [options.graph.as_deref(), Some(&*options.machine), options.units.as_deref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    for (at, (name, path)) in outputs.iter().enumerate() {
        check_output(path, options.force, &inputs)?;
        for (other, before) in &outputs[..at] {
            let both = || format!("{other} and {name} name one file; give each its own");
            usage(before != path && !is_one_file(before, path), both)?;
        }
    }
    Ok(())
}

/// Checks what clap can't: ranges that the machine sets.
pub fn check(options: &Options, a: &Accelerator) -> Result<()> {
    let Some(task) = options.task else { return Ok(()) };
    let sums = a.core == Core::Set && matches!(task, MiningTask::Clique | MiningTask::Motif);
    usage(sums || !options.writes_image(), || {
        "--image-out and --in-stream-out are of the set core, for cliques and motifs".into()
    })?;
    if task == MiningTask::Match {
        return check_match(options, a);
    }
    let of_match = options.pattern.is_some() || options.pus.is_some();
    usage(!of_match, || "--pattern and --pus are options of match alone".into())?;
    usage(options.part > 0, || "--part must be at least 1".into())?;
    let in_parts = options.part == 1 || a.core == Core::Set;
    usage(in_parts, || "--part is an option of the set core alone".into())?;
    usage(options.clusters.is_none() || a.core == Core::Set && task != MiningTask::Fsm, || {
        "--clusters is an option of the set core alone".into()
    })?;
    usage(options.clusters != Some(0), || "--clusters must be at least 1".into())?;
    let Some(k) = options.k else { return Ok(()) };
    if a.core == Core::Set {
        return check_set(options, a, task, k);
    }
    usage(!options.load, || format!("--load is of the set core, not of {}", a.machine.name))?;
    let (least, largest) = match task {
        MiningTask::Clique => (3, a.machine.depth),
        MiningTask::Motif => (3, a.applications.max_motif),
        MiningTask::Fsm => (2, 3),
        MiningTask::Match => return Ok(()),
    };
    usage((least..=largest).contains(&k), || {
        format!("-k is {k}, but must be {least} to {largest} on machine {}", a.machine.name)
    })?;
    usage(task == MiningTask::Fsm || options.support.is_none(), || {
        "--support is an option of fsm alone".into()
    })?;
    let slots = options.slots.unwrap_or(a.machine.slots);
    usage((1..=a.machine.slots).contains(&slots), || {
        format!("--slots is {slots}, but must be 1 to {}", a.machine.slots)
    })?;
    usage(lambda_steps(options.lambda).is_some(), || {
        format!("--lambda is {}, but must be {}", options.lambda, lambda_range())
    })?;
    usage(options.tau.is_none_or(|t| (0.0..=1.0).contains(&t)), || "--tau must be 0 to 1".into())?;
    usage(options.capacity > 0.0 && options.capacity <= 1.0, || {
        "--capacity must be above 0 to 1".into()
    })?;
    usage(options.cycles_a_beat != Some(0), || "--cycles-a-beat must be at least 1".into())?;
    usage(options.back_pressure != 1, || {
        "--back-pressure 1 would hold every clock back: 2 or more, or 0 for none".into()
    })
}

/// The same for a set core, which lacks most of the switches.
fn check_set(options: &Options, a: &Accelerator, task: MiningTask, k: u32) -> Result<()> {
    let name = &a.machine.name;
    let (least, largest) = match task {
        MiningTask::Clique => gramer_machine::set::K_RANGE,
        MiningTask::Motif => (3, if a.has_wedges() { 5 } else { 4 }),
        MiningTask::Fsm => {
            return usage(false, || format!("machine {name} doesn't mine labelled patterns"));
        }
        MiningTask::Match => return Ok(()),
    };
    usage((least..=largest).contains(&k), || {
        format!("-k is {k}, but must be {least} to {largest} on machine {name}")
    })?;
    no_switches(options, name)
}

/// The same for a pattern.
fn check_match(options: &Options, a: &Accelerator) -> Result<()> {
    let name = &a.machine.name;
    usage(a.set.as_ref().is_some_and(|set| set.plan_levels > 0), || {
        format!("machine {name} has no set core with search plans, which match needs")
    })?;
    for (option, given) in [("-k", options.k.is_some()), ("--load", options.load)] {
        usage(!given, || format!("{option} is not an option of match"))?;
    }
    usage(options.part > 0 && options.clusters != Some(0), || {
        "--part and --clusters must be at least 1".into()
    })?;
    let all = a.machine.processing_units;
    usage(options.pus.is_none_or(|pus| pus > 0 && all.is_multiple_of(pus)), || {
        format!("--pus must divide the {all} PUs of a cluster of machine {name}")
    })?;
    no_switches(options, name)
}

/// A set core lacks the switches of the paper's core.
fn no_switches(options: &Options, name: &str) -> Result<()> {
    for (option, given) in [
        ("--support", options.support.is_some()),
        ("--list", options.list.is_some()),
        ("--ascending", options.ascending),
        ("--no-stealing", options.no_stealing),
        ("--lru", options.lru),
        ("--slots", options.slots.is_some()),
        ("--lambda", options.lambda != 1.0),
        ("--tau", options.tau.is_some()),
        ("--capacity", options.capacity != 1.0),
        ("--on-chip", options.on_chip.is_some()),
        ("--units", options.units.is_some()),
        ("--accesses", options.accesses),
    ] {
        usage(!given, || {
            format!("{option} is of the paper's core, and machine {name} has a set core")
        })?;
    }
    usage(options.cycles_a_beat != Some(0), || "--cycles-a-beat must be at least 1".into())?;
    usage(options.back_pressure != 1, || "--back-pressure must be 0, or 2 or more".into())
}

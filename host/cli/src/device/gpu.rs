//! GPUs, and whatever else speaks OpenCL.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{ArgMatches, Args, FromArgMatches};

use gramer_engine::Engine;
use gramer_gpu::{
    Access, FirstEdge, Gpu, Join, JoinSettings, Lanes, Layers, Mechanism, Order, Settings, Steps,
    Strategy, TableSettings, Tile, Traversal, default_cache, is_gpu,
};
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::check_new;
use gramer_graph::standard_output;
use gramer_pattern::task::Task;

use super::cpu::check_spill;
use super::{Kind, Opening, size};
use crate::choice::choice;

/// GPUs among the devices.
pub const KIND: Kind = Kind {
    shown: &["gpu[:INDEX|:NAME|:portable]"],
    example: "gpu",
    what: "a GPU through OpenCL, by index or by a part of its name; `portable` is the processor \
           behind OpenCL",
    named: is_gpu,
    options: GpuArgs::augment_args,
    check: |options, task, listed| {
        let args = args(options)?;
        args.check_room(task)?;
        args.settings().check_effect(task, listed)
    },
    kit: |_, matches| {
        let settings = args(matches)?.settings();
        Ok(Box::new(move |ask| settings.choose(ask)))
    },
    open,
};

/// What clap calls the option for a trace.
pub const PROFILE: &str = "profile";

/// How a GPU is used; the answers don't depend on it.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "GPU")]
pub struct GpuArgs {
    /// Device memory that may be used: bytes, or with K, M or G at the end; by default nine tenths
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,

    /// How tasks are done; by default in the way that is known to be the fastest
    #[arg(long, value_parser = choice::<Strategy>(), value_name = "STRATEGY")]
    pub strategy: Option<Strategy>,

    /// In which order the strategy table extends its tables; by default depth
    #[arg(long, value_parser = choice::<Traversal>(), value_name = "ORDER")]
    pub traversal: Option<Traversal>,

    /// Which pages of the graph the strategy table copies to a device that has no room for it; by default
    /// heat
    #[arg(long, value_parser = choice::<Access>(), value_name = "RULE")]
    pub access: Option<Access>,

    /// How the strategy table joins the next vertex of a pattern; by default intersect
    #[arg(long, value_parser = choice::<Join>(), value_name = "JOIN")]
    pub join: Option<Join>,

    /// Which edge of a row says how large its buffer is, with --join prealloc; by default row
    #[arg(long, value_parser = choice::<FirstEdge>(), value_name = "RULE")]
    pub first_edge: Option<FirstEdge>,

    /// How --join prealloc divides rows by their work; by default none
    #[arg(long, value_parser = choice::<Layers>(), value_name = "RULE")]
    pub balance: Option<Layers>,

    /// Parts into which --join prealloc cuts the edges of each label, at least; by default as few as fit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub segments: Option<u32>,

    /// Pairs of a group of PCSR (--join prealloc), 2 to 16; by default 16, which are 128 bytes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=16))]
    pub pairs: Option<u32>,

    /// Mechanisms of the strategy table that are left out, to see what they are worth
    #[arg(long, value_parser = choice::<Mechanism>(), value_name = "NAME,…", value_delimiter = ',')]
    pub without: Vec<Mechanism>,

    /// The host's memory for tables of --traversal breadth, of motifs and of frequent patterns, beyond which they go
    /// to a file; by default half of what is available
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub host_memory: Option<u64>,

    /// Folder of that file, which is gone after the run; by default that for temporary files
    #[arg(long, value_name = "FOLDER")]
    pub spill: Option<PathBuf>,

    /// In a match, find the candidates of each vertex by signatures first, as SGSI does
    #[arg(long)]
    pub signatures: bool,

    /// In a match, the order in which a pattern's vertices get their images; by default by cost
    #[arg(long, value_parser = choice::<Order>(), value_name = "ORDER")]
    pub order: Option<Order>,

    /// Lanes that take an embedding together in the strategy wide; by default 32
    #[arg(long, value_parser = choice::<Tile>(), value_name = "LANES")]
    pub tile: Option<Tile>,

    /// How lanes of a warp exchange values, in the strategy plan, motifs of 5 and cliques of 6 and more [default:
    /// the fastest form that passes a self-test]
    #[arg(long, value_parser = choice::<Lanes>(), value_name = "FORM")]
    pub lanes: Option<Lanes>,

    /// Take the time of each kernel and transfer: totals go to the results, a trace to this file, which must not be there
    /// (JSON, for Perfetto and other viewers of Chromium's traces)
    #[arg(long, id = PROFILE, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    /// Test every index that a kernel uses, which takes longer
    #[arg(long)]
    pub checked: bool,
}

impl GpuArgs {
    /// Refuses what would have no effect.
    fn check(&self) -> Result<()> {
        let tables = [
            ("--traversal", self.traversal.is_some()),
            ("--access", self.access.is_some()),
            ("--host-memory", self.host_memory.is_some()),
            ("--spill", self.spill.is_some()),
            ("--join", self.join.is_some()),
            ("--without", !self.without.is_empty()),
            ("--first-edge", self.first_edge.is_some()),
            ("--balance", self.balance.is_some()),
            ("--segments", self.segments.is_some()),
            ("--pairs", self.pairs.is_some()),
        ];
        let given = |options: &[(&'static str, bool)]| {
            options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
        };
        if let (Some(option), true) = (given(&tables), self.strategy != Some(Strategy::Table)) {
            return Err(Error::usage(format!("{option} goes with --strategy table")));
        }
        let prealloc = self.join == Some(Join::Prealloc);
        if self.signatures && self.strategy == Some(Strategy::Table) && !prealloc {
            return Err(Error::usage(
                "--signatures goes with --join prealloc, or with another strategy than table",
            ));
        }
        if let (Some(option), false) = (given(&tables[6..]), prealloc) {
            return Err(Error::usage(format!("{option} goes with --join prealloc")));
        }
        if let (Some(option), true) = (given(&tables[..4]), prealloc) {
            return Err(Error::usage(format!(
                "{option} goes with --join intersect: the other join keeps no pages and spills nothing"
            )));
        }
        if let Some(one) = self.without.iter().find(|one| one.is_of_join() != prealloc) {
            let other = if prealloc { Join::Intersect } else { Join::Prealloc };
            return Err(Error::usage(format!(
                "--without {} goes with --join {}",
                one.name(),
                other.name()
            )));
        }
        check_spill(self.spill.as_deref())
    }

    /// Refuses room for tables outside the device where a task keeps none there: motifs and frequent patterns always
    /// do.
    fn check_room(&self, task: &Task) -> Result<()> {
        let given =
            [("--host-memory", self.host_memory.is_some()), ("--spill", self.spill.is_some())];
        let breadth = self.traversal == Some(Traversal::Breadth);
        match given.iter().find(|(_, given)| *given) {
            Some((option, _))
                if !breadth && !matches!(task, Task::Motif { .. } | Task::Fsm { .. }) =>
            {
                Err(Error::usage(format!(
                    "{option} goes with --traversal breadth: nothing else leaves the device in the task {}",
                    task.name()
                )))
            }
            _ => Ok(()),
        }
    }

    /// How the device is used, but for what depends on how it is opened.
    fn settings(&self) -> Settings {
        let steps = Steps { signatures: self.signatures, order: self.order.unwrap_or_default() };
        Settings {
            memory: self.memory,
            strategy: self.strategy,
            lanes: self.lanes,
            tile: self.tile,
            steps,
            profile: self.profile.clone(),
            checked: self.checked,
            table: self.table(),
            ..Settings::default()
        }
    }

    /// How the strategy `table` works.
    fn table(&self) -> TableSettings {
        let default = JoinSettings::default();
        TableSettings {
            traversal: self.traversal.unwrap_or_default(),
            access: self.access.unwrap_or_default(),
            host_memory: self.host_memory,
            spill: self.spill.clone(),
            join: self.join.unwrap_or_default(),
            join_settings: JoinSettings {
                first: self.first_edge.unwrap_or_default(),
                layers: self.balance.unwrap_or_default(),
                segments: self.segments.unwrap_or(default.segments),
                pairs: self.pairs.unwrap_or(default.pairs),
            },
            without: self.without.iter().copied().collect(),
        }
    }
}

/// The options, as far as they go together.
fn args(matches: &ArgMatches) -> Result<GpuArgs> {
    let args = GpuArgs::from_arg_matches(matches).map_err(|e| Error::usage(e.to_string()))?;
    args.check()?;
    Ok(args)
}

fn open(
    device: &str,
    opening: Opening,
    matches: &ArgMatches,
    _context: &Context,
) -> Result<Box<dyn Engine>> {
    let args = args(matches)?;
    // Drivers may print lines of their own, which must not get among the results.
    standard_output::keep_for_results()?;
    let profile = &args.profile;
    if profile.is_some() && opening.all > 1 {
        return Err(Error::usage(
            "--profile is the trace of one device: name one alone, or leave it out",
        ));
    }
    if let Some(path) = profile {
        // No --force for a trace: what is there stays.
        check_new(path, &[])?;
    }
    let cache = default_cache();
    let sharing = opening.same as u64;
    let settings = Settings { cache, sharing, stays_open: true, ..args.settings() };
    gramer_gpu::when_late(crate::leave);
    // Its library would close the device on the way out.
    crate::LEAVE_AT_ONCE.store(true, Ordering::Relaxed);
    Ok(Box::new(Gpu::open(device, &settings)?))
}

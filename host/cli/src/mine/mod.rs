//! `gramer mine`: the options that all tasks share, and the run itself.

mod clique;
mod fsm;
mod matching;
mod motif;

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::device::{self, DeviceOptions};
use super::graph_args::GraphArgs;
use crate::command_line::warn;
use crate::report::{Counts, ListFormat, ListWriter, Meter, Report, Stopped, Times, json, table};
use gramer_engine::Sink;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::check_output;
use gramer_graph::prepare;

/// The tasks.
#[derive(Debug, clap::Subcommand)]
pub enum Task {
    /// Cliques of k vertices, or all maximal cliques
    Clique(clique::Args),
    /// Every connected pattern of k vertices, with its count
    Motif(motif::Args),
    /// Frequent labelled patterns
    Fsm(fsm::Args),
    /// The occurrences of a pattern
    Match(matching::Args),
}

impl Task {
    /// Runs the task.
    ///
    /// # Errors
    /// Those of reading, mining and writing.
    pub fn run(self, context: Context) -> Result<()> {
        match self {
            Task::Clique(args) => args.common.run(&args.task()?, None, context),
            Task::Motif(args) => args.common.run(&args.task()?, None, context),
            Task::Fsm(args) => args.common.run(&args.task()?, None, context),
            Task::Match(args) => {
                let task = args.task(&context.cancel)?;
                args.common.run(&task, Some(&args.pattern), context)
            }
        }
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Options that every task has.
#[derive(Debug, clap::Args)]
pub struct Common {
    #[command(flatten)]
    pub graph: GraphArgs,

    /// What mines
    #[arg(long, default_value = "cpu", value_name = "DEVICE", help_heading = "Run")]
    #[arg(help = device::help())]
    pub device: String,

    /// Worker threads; one for each core by default
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(help_heading = "Run")]
    pub threads: Option<u16>,

    /// How results are printed
    #[arg(long, short, value_enum, default_value = "table", help_heading = "Output")]
    pub output: Output,

    /// How JSON has counts: as numbers, or as strings, for readers that lose integers above 2^53
    #[arg(long, value_enum, default_value = "number", value_name = "AS", help_heading = "Output")]
    pub counts: Counts,

    /// The same as `--output json`
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub json: bool,

    /// Write every embedding to FILE, which is there at the end of the run (`-` is standard output
    /// and gets each as it is found; results then go to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub list: Option<PathBuf>,

    /// Format of the list, where the name of FILE doesn't say it (.jsonl, .tsv)
    #[arg(long, value_enum, requires = "list", help_heading = "Output")]
    pub list_format: Option<ListFormat>,

    /// Replace FILE if it is there already
    #[arg(long, requires = "list", help_heading = "Output")]
    pub force: bool,

    /// Stop after N embeddings
    #[arg(long, value_name = "N", requires = "list", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,

    #[command(flatten)]
    pub options: DeviceOptions,
}

impl Common {
    /// `pattern` is the file that the task came from, if any.
    fn run(
        &self,
        task: &gramer_pattern::Task,
        pattern: Option<&Path>,
        mut context: Context,
    ) -> Result<()> {
        task.check()?;
        let list_format = self.check_list(pattern)?;
        let engine = self.options.engine(&self.device, &context)?;
        engine.supports(task, None)?;
        if let Some(threads) = self.threads {
            context.threads = threads.into();
        }

        let begun = Instant::now();
        let loaded = self.graph.load(&context)?;
        let load = begun.elapsed();
        let begun = Instant::now();
        let graph = loaded.guarded(|| prepare::renumber(&loaded, &context))?;
        drop(loaded);
        let prepare = begun.elapsed();

        let list = match &self.list {
            Some(path) => Some(ListWriter::create(path, list_format, self.limit, &graph)?),
            None => None,
        };
        let begun = Instant::now();
        let outcome = {
            let _meter = Meter::new("mining", context.progress.clone());
            let sink = list.as_ref().map(|l| l as &dyn Sink);
            graph.guarded(|| engine.run(&graph, task, sink, &context))?
        };
        let mine = begun.elapsed();
        for warning in &outcome.warnings {
            warn(warning);
        }

        let limited = list.as_ref().is_some_and(|l| l.limit_reached());
        let listed = list.map(ListWriter::finish).transpose()?;
        let stopped = match outcome.complete {
            true => None,
            false if limited => Some(Stopped::Limit),
            false => Some(Stopped::Interrupt),
        };
        let source = self.graph.graph.to_string_lossy();
        let device = engine.name();
        let report = Report {
            task,
            source: &source,
            graph: &graph,
            device: &device,
            threads: context.threads(),
            outcome: &outcome,
            stopped,
            listed,
            times: Times { load, prepare, mine },
        };
        let write = |out: &mut dyn std::io::Write| match self.output {
            Output::Table if !self.json => table(&report, out),
            _ => json(&report, self.counts, out),
        };
        if self.list.as_ref().is_some_and(|path| path.as_os_str() == "-") {
            write(&mut std::io::stderr().lock()).map_err(|e| Error::io("<stderr>", "write", e))?;
        } else {
            super::print(write)?;
        }
        if stopped == Some(Stopped::Interrupt) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Refuses a list that would destroy something, before anything is read; returns its format.
    fn check_list(&self, pattern: Option<&Path>) -> Result<ListFormat> {
        let Some(path) = &self.list else { return Ok(ListFormat::Jsonl) };
        let inputs: Vec<&Path> = self.graph.inputs().chain(pattern).collect();
        check_output(path, self.force, &inputs)?;
        match self.list_format {
            Some(format) => Ok(format),
            None => ListFormat::of(path),
        }
    }
}

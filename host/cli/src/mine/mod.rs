//! `gramer mine`: the options that all tasks share, and the run itself.

mod clique;
mod fsm;
mod matching;
mod motif;

use std::path::PathBuf;
use std::time::Instant;

use super::device::engine;
use super::graph_args::GraphArgs;
use crate::accelerator_args::AcceleratorArgs;
use crate::report::{ListFormat, ListWriter, Meter, Report, Stopped, Times, json, table};
use gramer_engine::Sink;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
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
            Task::Clique(args) => args.common.run(&args.task()?, context),
            Task::Motif(args) => args.common.run(&args.task()?, context),
            Task::Fsm(args) => args.common.run(&args.task()?, context),
            Task::Match(args) => args.common.run(&args.task()?, context),
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

    /// Who mines: `cpu`, `reference` (the paper's algorithm 1, plain and slow),
    /// `emulator[:MACHINE]` (the accelerator, simulated behind the Xilinx Runtime), or
    /// `FILE.xclbin[@INDEX]` (an accelerator that the file programs; see `gramer devices`)
    #[arg(long, default_value = "cpu", value_name = "DEVICE", help_heading = "Run")]
    pub device: String,

    /// Worker threads; one for each core by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(help_heading = "Run")]
    pub threads: Option<u16>,

    /// How results are printed
    #[arg(long, value_enum, default_value = "table", help_heading = "Output")]
    pub output: Output,

    /// Write every embedding to FILE as it is found (`-` is standard output; results then go to
    /// standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub list: Option<PathBuf>,

    /// Format of the list; by default tsv for a FILE that ends so, else jsonl
    #[arg(long, value_enum, requires = "list", help_heading = "Output")]
    pub list_format: Option<ListFormat>,

    /// Stop after N embeddings
    #[arg(long, value_name = "N", requires = "list", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,

    #[command(flatten)]
    pub settings: AcceleratorArgs,
}

impl Common {
    fn run(&self, task: &gramer_pattern::Task, mut context: Context) -> Result<()> {
        task.check()?;
        let engine = engine(&self.device, &(&self.settings).into(), &context)?;
        engine.supports(task, None)?;
        if let Some(threads) = self.threads {
            context.threads = threads.into();
        }

        let begun = Instant::now();
        let loaded = self.graph.load(&context)?;
        let load = begun.elapsed();
        let begun = Instant::now();
        let graph = prepare::renumber(&loaded, &context)?;
        drop(loaded);
        let prepare = begun.elapsed();

        let list = match &self.list {
            Some(path) => {
                let by_name = match path.extension().is_some_and(|e| e == "tsv") {
                    true => ListFormat::Tsv,
                    false => ListFormat::Jsonl,
                };
                let format = self.list_format.unwrap_or(by_name);
                Some(ListWriter::create(path, format, self.limit, &graph)?)
            }
            None => None,
        };
        let begun = Instant::now();
        let outcome = {
            let _meter = Meter::new("mining", context.progress.clone());
            let sink = list.as_ref().map(|l| l as &dyn Sink);
            engine.run(&graph, task, sink, &context)?
        };
        let mine = begun.elapsed();

        let limited = list.as_ref().is_some_and(|l| l.limit_reached());
        let listed = list.map(ListWriter::finish).transpose()?;
        let stopped = match outcome.complete {
            true => None,
            false if limited => Some(Stopped::Limit),
            false => Some(Stopped::Interrupt),
        };
        let source = self.graph.graph.display().to_string();
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
            Output::Table => table(&report, out),
            Output::Json => json(&report, out),
        };
        if self.list.as_ref().is_some_and(|path| path.as_os_str() == "-") {
            write(&mut std::io::stderr().lock()).map_err(|e| Error::io("<stderr>", "write", e))?;
        } else {
            super::print(write)?;
        }
        if stopped == Some(Stopped::Interrupt) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

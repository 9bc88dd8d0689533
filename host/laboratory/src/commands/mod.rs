//! The subcommands of `gramer-lab`.

mod explore;
mod paper;
mod paper_gpu;
mod papers;
mod simulate;

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_cli::{Completions, LONG_VERSION, LogArgs, ManArgs, Program, of_words};

/// Experiments with gramer: variants of the accelerator, and those of the papers.
#[derive(Debug, Parser)]
#[command(
    name = "gramer-lab",
    version,
    long_version = LONG_VERSION,
    disable_help_flag = true,
    max_term_width = 100,
    after_help = "Examples:\n  \
        gramer-lab explore graph.txt --task motif:3 --vary slots=1,2,4,8,16\n  \
        gramer-lab paper --quick\n  \
        gramer-lab simulate clique -k 4 graph.txt"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Simulate a task on variants of the machine: table, CSV, plots
    Explore(Box<explore::Args>),
    /// Repeat the paper's experiments on the simulated machine, as a report
    Paper(paper::Args),
    /// Repeat the experiments of the papers behind the GPU engine, as a report
    PaperGpu(paper_gpu::Args),
    /// Write one table of all experiments of the papers, from both reports
    Papers(papers::Args),
    /// Run a task on the simulated core, without OpenCL: counts, cycles and counters
    Simulate(Box<simulate::Options>),
    /// Print shell completions
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(ManArgs),
}

impl Program for Cli {
    const NAME: &'static str = "gramer-lab";

    fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        // SAFETY: a program reads its words before it starts a thread.
        unsafe { gramer_gpu::platform::ask_for_little(None) }
        of_words(Self::command(), words)
    }

    fn log(&self) -> &LogArgs {
        &self.log
    }

    // A simulation has no point at which it could stop; its outputs appear whole or not at all.
    fn stops_when_asked(&self) -> bool {
        !matches!(self.command, Command::Simulate(_))
    }

    fn run(self, context: Context) -> Result<()> {
        match self.command {
            Command::Explore(args) => args.run(context),
            Command::Paper(args) => args.run(context),
            Command::PaperGpu(args) => args.run(context),
            Command::Papers(args) => args.run(),
            Command::Simulate(options) => options.run(),
            Command::Completions(args) => args.run(Self::NAME, Self::command()),
            Command::Man(args) => args.run(Self::command()),
        }
    }
}

/// The command with all its options.
pub fn command() -> clap::Command {
    Cli::command()
}

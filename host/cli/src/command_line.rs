//! The subcommands of `gramer`.

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use clap::{Args, CommandFactory, FromArgMatches, Parser};

use crate::program::Program;
use crate::{
    devices, endings, generated, graph, log, mine, plan, run, selftest, usage, version, worker,
    xclbin,
};

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::memory::AllocationFailure;

/// Count and list patterns in graphs, exactly.
#[derive(Debug, Parser)]
#[command(
    name = "gramer",
    version,
    long_version = version::LONG,
    disable_help_flag = true,
    max_term_width = 100,
    after_help = "Examples:\n  \
        gramer mine motif -k 4 graph.txt               every 4-vertex pattern with its count\n  \
        gramer mine clique --maximal graph.txt.zst     maximal cliques by size\n  \
        gramer mine fsm --support 100 --max-vertices 3 labelled.lg\n  \
        gramer mine match --pattern query.graph data.graph --list found.jsonl\n  \
        gramer graph convert graph.txt graph.gramer    an image: checked, not parsed\n\n\
        Exit codes: 0 done, 1 failure, 2 wrong usage, 124 time limit reached, 130 interrupted (129 and 143 by the signals\n\
        HUP and TERM), 141 broken pipe."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    #[command(flatten)]
    pub log: log::Args,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Mine a graph
    #[command(subcommand)]
    Mine(Box<mine::Task>),
    /// Run a mining job from a YAML file
    Run(run::Args),
    /// Explain how a pattern is searched, or which methods answer a task
    Plan(plan::Args),
    /// Inspect, convert and generate graphs
    #[command(subcommand)]
    Graph(Box<graph::Command>),
    /// List available devices and why others are unavailable
    Devices(devices::Args),
    /// Test a device against the CPU engine, and measure its memory banks
    Selftest(selftest::Args),
    /// Build and inspect xclbin files
    #[command(subcommand)]
    Xclbin(xclbin::Command),
    /// Have a device open for the program at the other end of standard input
    #[command(hide = true)]
    Worker(worker::Args),
    /// Print shell completions
    Completions(generated::Completions),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(generated::ManArgs),
}

/// Runs the program `gramer`; see [`crate::program::main`].
pub fn main() -> u8 {
    crate::program::main::<Cli>()
}

impl Program for Cli {
    const NAME: &'static str = "gramer";

    fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        let cli = Self::of_words(words)?;
        let device = match &cli.command {
            Command::Mine(task) => task.only_device(),
            _ => None,
        };
        // SAFETY: a program reads its words before it starts a thread.
        unsafe { gramer_gpu::platform::ask_for_little(device) }
        #[cfg(feature = "mpi")]
        // SAFETY: as above.
        unsafe {
            gramer_cluster::mpi::stay_on_host();
        }
        Ok(cli)
    }

    fn log(&self) -> &log::Args {
        &self.log
    }

    fn ending(&self) -> &'static AllocationFailure {
        endings::of(&self.command)
    }

    fn run(self, context: Context) -> Result<()> {
        match self.command {
            Command::Mine(task) => task.run(context),
            Command::Run(args) => args.run(context),
            Command::Plan(args) => args.run(&context),
            Command::Graph(command) => command.run(context),
            Command::Devices(args) => args.run(),
            Command::Selftest(args) => args.run(&context),
            Command::Worker(args) => args.run(&context),
            Command::Xclbin(command) => command.run(&context),
            Command::Completions(args) => args.run(Cli::NAME, generated::command()),
            Command::Man(args) => args.run(generated::command()),
        }
    }
}

impl Cli {
    /// Reads a command line.
    ///
    /// # Errors
    /// What clap refuses.
    pub fn of_words(words: &[OsString]) -> Result<Self, clap::Error> {
        if let Some(cli) = Self::of_task(words) {
            return Ok(cli);
        }
        usage::of_words(Cli::command(), words)
    }

    /// Reads `gramer mine TASK …` with the options of this task alone: to describe those of all commands took 2.1 of
    /// the 5.4 million instructions that the triangles of a small graph took (CiteSeer, from an image). `None` for
    /// other words, and if clap reports anything: help and faults come from the whole command.
    fn of_task(words: &[OsString]) -> Option<Self> {
        // They end with the process: to take them apart is a twentieth of a small run.
        let mut command = ManuallyDrop::new(Self::command_of_task(words)?);
        let matches = ManuallyDrop::new(command.try_get_matches_from_mut(words).ok()?);
        let of_task = matches.subcommand()?.1.subcommand()?.1;
        let log = log::Args::from_arg_matches(of_task).ok()?;
        Some(Cli { command: Command::from_arg_matches(&matches).ok()?, log })
    }

    /// The command with this task alone. The options of all commands are its own, since all words are behind its name: clap
    /// copies global ones, with their values, from command to command, which is a tenth of a small run.
    fn command_of_task(words: &[OsString]) -> Option<clap::Command> {
        let [_, mine, task, ..] = words else { return None };
        let task = mine::Task::command(task.to_str()?).filter(|_| mine == "mine")?;
        let general = log::Args::augment_args(clap::Command::new("general"));
        let general = general.get_arguments().map(|option| option.clone().global(false));
        let task = task.disable_help_flag(true).args(general);
        let mine = clap::Command::new("mine").disable_help_flag(true).subcommand(task);
        Some(clap::Command::new("gramer").disable_help_flag(true).subcommand(mine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_device_that_is_the_only_one_is_known() {
        let of = |line: &str| match Cli::of_words(&words(line)).unwrap().command {
            Command::Mine(task) => task.only_device().map(String::from),
            _ => None,
        };
        let mine = "gramer mine clique -k 3 a.gramer --device";
        assert_eq!(of(&format!("{mine} gpu:1")).as_deref(), Some("gpu:1"));
        assert_eq!(of(&format!("{mine} gpu,cpu")), None);
        assert_eq!(of("gramer devices"), None);
    }

    /// Each option of a task with all that clap knows of it, but for those of all commands, whose place in the
    /// help depends on how many commands there are.
    fn options(mut command: clap::Command, task: &str) -> Vec<String> {
        command.build();
        let mine = command.find_subcommand("mine").unwrap();
        let options = mine.find_subcommand(task).unwrap().get_arguments();
        let own = options.filter(|option| option.get_help_heading() != Some(log::HEADING));
        own.map(|option| format!("{option:?}")).collect()
    }

    #[test]
    fn a_task_read_alone_has_the_options_that_it_has_among_all_commands() {
        let all = Cli::command();
        let mine = all.find_subcommand("mine").unwrap();
        let tasks: Vec<&str> = mine.get_subcommands().map(|task| task.get_name()).collect();
        assert!(tasks.starts_with(&["clique", "motif", "fsm", "match"]), "{tasks:?}");
        for task in &tasks {
            let words = words(&format!("gramer mine {task}"));
            let alone = options(Cli::command_of_task(&words).unwrap(), task);
            let among = options(Cli::command(), task);
            assert!(among.len() > 20);
            assert_eq!(alone, among, "{task}");
        }
        assert!(mine::Task::command("help").is_none());
    }

    #[test]
    fn what_is_read_alone_is_what_all_commands_read() {
        let told = |cli: &Cli| format!("{cli:?}");
        for line in [
            "gramer mine clique -k 4 g.txt --log info --threads 3 --memory 2G --output json",
            "gramer mine motif -k 4 g.txt -vv --color never",
            "gramer mine match -q --pattern triangle g.txt",
        ] {
            let alone = Cli::of_task(&words(line)).unwrap();
            let whole =
                Cli::from_arg_matches(&Cli::command().try_get_matches_from(words(line)).unwrap());
            assert_eq!(told(&alone), told(&whole.unwrap()));
        }
        // A fault, help, and what isn't `mine TASK` are left to the whole command.
        for line in [
            "gramer mine clique -k 4",
            "gramer mine clique --help",
            "gramer mine clique -k 4 g.txt --log loud",
            "gramer mine motiv -k 4 g.txt",
            "gramer mine",
            "gramer --log info mine clique -k 4 g.txt",
            "gramer mine clique -k 4 g.txt -q -v",
            "gramer mine -q clique -k 4 g.txt",
            "gramer graph clique -k 4 g.txt",
        ] {
            assert!(Cli::of_task(&words(line)).is_none(), "{line}");
        }
    }
}

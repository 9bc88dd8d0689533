//! The subcommands, and how the program ends.

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::{devices, explore, graph, mine, paper, run, selftest, xclbin};

use gramer_accelerator::standard_output;
use gramer_graph::context::{Cancel, Context};
use gramer_graph::error::{Error, Result};

/// Count and list patterns in graphs, exactly.
#[derive(Debug, Parser)]
#[command(
    name = "gramer",
    version,
    max_term_width = 100,
    after_help = "Examples:\n  \
        gramer mine motif -k 4 graph.txt               every 4-vertex pattern with its count\n  \
        gramer mine clique --maximal graph.txt.zst     maximal cliques by size\n  \
        gramer mine fsm --support 100 --max-vertices 3 labelled.lg\n  \
        gramer mine match --pattern query.graph data.graph --list found.jsonl\n  \
        gramer graph convert graph.txt graph.gramer    an image that opens at once\n\n\
        Exit codes: 0 done, 1 failure, 2 wrong usage, 130 interrupted."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Mine a graph
    #[command(subcommand)]
    Mine(mine::Task),
    /// Mine as a YAML file says, whose fields are the options of `mine`
    Run(run::Args),
    /// Look at graphs, convert and make them
    #[command(subcommand)]
    Graph(graph::Command),
    /// List the devices that can mine, and say what others lack
    Devices(devices::Args),
    /// Test a device: small graphs against the CPU engine, and the speed of its memory banks
    Selftest(selftest::Args),
    /// Run a task on many variants of the machine, simulated: table, CSV, plots
    Explore(explore::Args),
    /// The paper's experiments on the simulated machine, as a report
    Paper(paper::Args),
    /// Build and look at what programs a device
    #[command(subcommand)]
    Xclbin(xclbin::Command),
}

/// Runs the command line and returns the exit code: 0, 1 for failure, 2 for wrong usage, 130
/// after Ctrl-C.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return usage(&e),
    };
    let code = run_command(cli);
    gramer_accelerator::launch::ends();
    code
}

/// Runs a command and complains of its failure.
fn run_command(cli: Cli) -> ExitCode {
    let context = Context::default();
    stop_on_ctrl_c(context.cancel.clone());
    // A fault of ours must not look like a fault of the user's input.
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match cli.command {
        Command::Mine(task) => task.run(context),
        Command::Run(args) => args.run(context),
        Command::Graph(command) => command.run(context),
        Command::Devices(args) => args.run(),
        Command::Selftest(args) => args.run(&context),
        Command::Explore(args) => args.run(context),
        Command::Paper(args) => args.run(context),
        Command::Xclbin(command) => command.run(),
    }));
    match outcome {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(e)) => {
            complain(&e);
            ExitCode::from(e.exit_code())
        }
        Err(_) => {
            let _ = writeln!(
                std::io::stderr(),
                "gramer: this is a fault in gramer itself, not in what you asked; please report \
                 it with the message above"
            );
            ExitCode::FAILURE
        }
    }
}

/// Prints what clap says: help and version to standard output, faults to standard error.
fn usage(e: &clap::Error) -> ExitCode {
    // Nothing can be done where even this can't be written.
    let _ = e.print();
    ExitCode::from(e.exit_code() as u8)
}

fn complain(e: &Error) {
    let _ = writeln!(std::io::stderr(), "gramer: {e}");
}

/// The first Ctrl-C (or signal to terminate) asks the run to stop, the second ends the program at
/// once.
fn stop_on_ctrl_c(cancel: Cancel) {
    let handler = move || {
        if cancel.is_cancelled() && !gramer_accelerator::launch::give_up() {
            std::process::exit(130);
        }
        cancel.cancel();
    };
    if let Err(e) = ctrlc::set_handler(handler) {
        complain(&Error::Unsupported(format!("Ctrl-C will not stop the run cleanly: {e}")));
    }
}

/// Writes to standard output; a closed pipe is an error like any other.
pub fn print(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let mut text = Vec::new();
    let mut out = standard_output::writer();
    write(&mut text)
        .and_then(|()| out.write_all(&text))
        .and_then(|()| out.flush())
        .map_err(|e| Error::io("<stdout>", "write", e))
}

/// The command as clap knows it, for whoever needs its options.
pub fn command() -> clap::Command {
    Cli::command()
}

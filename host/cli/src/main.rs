//! The command line `gramer`. One file per subcommand.

mod accelerator_args;
mod choice;
mod command_line;
mod device;
mod devices;
mod explore;
mod graph;
mod graph_args;
mod graph_rank;
mod mine;
mod paper;
mod report;
mod run;
mod selftest;
mod xclbin;

use command_line::print;

fn main() -> std::process::ExitCode {
    command_line::main()
}

//! The command line `gramer`, as a library that its program and its tests use. One file per
//! subcommand.

mod choice;
mod cluster;
mod command_line;
mod device;
mod devices;
mod endings;
mod explore;
mod generated;
mod graph;
mod graph_args;
mod graph_compress;
mod graph_rank;
mod hints;
mod limit;
mod log;
mod methods;
mod mine;
mod options;
mod paper;
mod paper_gpu;
mod plan;
pub mod report;
mod run;
mod selftest;
mod signals;
mod usage;
mod version;
mod xclbin;

pub(crate) use command_line::{Cli, LEAVE_AT_ONCE, leave, print};

pub use command_line::main;
pub use generated::command;

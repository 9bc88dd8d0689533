//! The command line `gramer`, one file per subcommand, as a library: its program, its tests and the program
//! `gramer-lab` use it.
//!
//! ```
//! let command = gramer_cli::command();
//! assert!(command.get_subcommands().any(|one| one.get_name() == "mine"));
//! assert_eq!(gramer_cli::time_limit("2m").unwrap().as_secs(), 120);
//! ```

mod choice;
mod cluster;
mod command_line;
mod device;
mod devices;
mod endings;
mod generated;
mod graph;
mod graph_args;
mod graph_compress;
mod graph_info;
mod graph_rank;
mod hints;
mod limit;
mod log;
mod methods;
mod mine;
mod options;
mod output;
mod plan;
mod program;
pub mod report;
mod run;
mod selftest;
mod signals;
mod usage;
mod version;
mod worker;
mod xclbin;

pub(crate) use command_line::Cli;
pub use program::print;
pub(crate) use program::{LEAVE_AT_ONCE, leave};

pub use command_line::main;
pub use generated::{Completions, ManArgs, command};
pub use graph_args::GraphArgs;
pub use log::Args as LogArgs;
pub use mine::time_limit;
pub use options::told;
pub use output::Output;
pub use program::{Program, main as run_program, tell};
pub use usage::{of_words, threads};
pub use version::{COMMIT, LONG as LONG_VERSION};

//! Messages for failed allocations of memory and of threads.

use gramer_base::memory::{AllocationFailure, end_if_refused};
use gramer_base::parallel;

use crate::command_line::Command;
use crate::graph;
use crate::program::warn;

/// Message for commands without an option that saves memory, and before the command line is parsed.
pub static PLAIN: AllocationFailure = AllocationFailure {
    program: "gramer",
    remedy: "raise the memory limit (ulimit -v, ulimit -d)",
};
/// Message for commands with `--threads`.
static THREADS: AllocationFailure = AllocationFailure {
    program: "gramer",
    remedy: "use fewer --threads, or raise the memory limit (ulimit -v, ulimit -d)",
};
/// Message for commands with `--threads` and `--memory`.
static LIMITED: AllocationFailure = AllocationFailure {
    program: "gramer",
    remedy: "use fewer --threads, --memory SIZE, or raise the memory limit (ulimit -v, ulimit -d)",
};

/// Installs the handler that ends the process with one line if memory allocation fails.
pub fn begin() {
    end_if_refused(&PLAIN);
}

/// Sets the remedy in that line for the current command.
pub fn name_options(ending: &'static AllocationFailure) {
    end_if_refused(ending);
}

/// Returns the message for a command of `gramer`.
pub fn of(command: &Command) -> &'static AllocationFailure {
    match command {
        Command::Mine(_) | Command::Run(_) => &LIMITED,
        Command::Graph(command) if matches!(**command, graph::Command::Convert(_)) => &LIMITED,
        Command::Graph(_) => &THREADS,
        _ => &PLAIN,
    }
}

/// Warns where the system refused some of the threads.
pub fn warn_of_threads() {
    if let Some((wanted, given)) = parallel::fewer() {
        warn(&format!(
            "the system gave {given} of {wanted} threads, and the run went on with those; use fewer with the setting \
             `threads`, or raise the limit of processes (ulimit -u, a container's pids limit) or of memory"
        ));
    }
}

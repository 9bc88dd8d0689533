//! The subcommands, and how the program ends.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, CommandFactory, FromArgMatches, Parser};

use crate::{
    cluster, device, devices, endings, explore, generated, graph, log, mine, options, paper,
    paper_gpu, plan, run, selftest, signals, usage, version, xclbin,
};

use gramer_graph::context::{Context, Notes};
use gramer_graph::error::{Error, Result};
use gramer_graph::standard_output;

/// What messages call standard output.
const STDOUT: &str = "<stdout>";

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
    Graph(graph::Command),
    /// List available devices and why others are unavailable
    Devices(devices::Args),
    /// Test a device against the CPU engine, and measure its memory banks
    Selftest(selftest::Args),
    /// Simulate a task on variants of the machine: table, CSV, plots
    Explore(explore::Args),
    /// Repeat the paper's experiments on the simulated machine, as a report
    Paper(paper::Args),
    /// Repeat the experiments of the papers behind the GPU engine, as a report
    PaperGpu(paper_gpu::Args),
    /// Build and inspect xclbin files
    #[command(subcommand)]
    Xclbin(xclbin::Command),
    /// Print shell completions
    Completions(generated::Completions),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(generated::Man),
}

/// Exit code after a broken pipe, as if the signal PIPE had ended the program.
const READER_GONE: u8 = 141;

/// Set once a device doesn't answer, whose library would wait for it again on the way out, or takes long to be closed.
pub static LEAVE_AT_ONCE: AtomicBool = AtomicBool::new(false);

/// The device that `gramer mine` is to open, where its words name one and no other.
fn only_device(words: &[OsString]) -> Option<&str> {
    let mut words = words.iter().skip(1).map(|word| word.to_str().unwrap_or_default());
    let mines = words.next() == Some("mine");
    let mut named = vec![];
    while let Some(word) = words.next() {
        match word.strip_prefix("--device") {
            Some("") => named.extend(words.next()),
            Some(value) => named.extend(value.strip_prefix('=')),
            None => {}
        }
    }
    match named[..] {
        [device] if mines => Some(device),
        _ => None,
    }
}

/// Runs the command line and returns the exit code: 0, 1 for failure, 2 for wrong usage, 130
/// after Ctrl-C (143 and 129 after the signals TERM and HUP), 141 if nobody reads the output.
pub fn main() -> u8 {
    endings::begin();
    let words: Vec<OsString> = std::env::args_os().collect();
    // SAFETY: nothing has started a thread yet.
    unsafe { gramer_gpu::platform::ask_for_little(only_device(&words)) }
    gramer_graph::panics::install(|message| {
        let _ = writeln!(std::io::stderr(), "{message}");
    });
    let code = match Cli::read(&words) {
        Ok(cli) => run_command(cli),
        Err(e) => wrong_usage(e, &words),
    };
    let code = cluster::ends(code);
    gramer_accelerator::launch::ends();
    if LEAVE_AT_ONCE.load(Ordering::Relaxed) {
        let _ = std::io::stdout().flush();
        // SAFETY: the call doesn't return; standard output was flushed, and other output is written whole by now.
        unsafe { libc::_exit(code.into()) }
    }
    code
}

/// Runs a command and complains of its failure.
fn run_command(cli: Cli) -> u8 {
    if let Err(e) = cli.log.begin() {
        return failure(&e);
    }
    endings::name_options(&cli.command);
    let context = Context { notes: Notes::to(note), ..Context::default() };
    if let Err(e) = signals::stop_on(&context.cancel) {
        complain(&Error::Unsupported(format!("Ctrl-C will not stop the run cleanly: {e}")));
    }
    // A fault of ours must not look like a fault of the user's input.
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match cli.command {
        Command::Mine(task) => task.run(context),
        Command::Run(args) => args.run(context),
        Command::Plan(args) => args.run(&context),
        Command::Graph(command) => command.run(context),
        Command::Devices(args) => args.run(),
        Command::Selftest(args) => args.run(&context),
        Command::Explore(args) => args.run(context),
        Command::Paper(args) => args.run(context),
        Command::PaperGpu(args) => args.run(context),
        Command::Xclbin(command) => command.run(&context),
        Command::Completions(args) => args.run(),
        Command::Man(args) => args.run(),
    }));
    match outcome {
        Ok(Ok(())) => {
            endings::warn_of_threads();
            0
        }
        // Rank 0 says it, and all end with its code.
        Ok(Err(e)) if cluster::tells(&e) => e.exit_code(),
        Ok(Err(e)) => failure(&e),
        Err(_) => {
            let _ = writeln!(
                std::io::stderr(),
                "gramer: this is a fault in gramer itself, not in what you asked; please report \
                 it with the message above"
            );
            cluster::aborts(1);
            1
        }
    }
}

/// Complains of a failure and gives its exit code. Whoever reads no further knows that.
fn failure(e: &Error) -> u8 {
    match e {
        Error::Io { path, source, .. }
            if source.kind() == ErrorKind::BrokenPipe && path.as_os_str() == STDOUT =>
        {
            return READER_GONE;
        }
        Error::Interrupted if signals::is_time_up() => complain(&Error::Unsupported(
            "the time limit was reached: there is no whole answer".into(),
        )),
        _ => complain(e),
    }
    match e {
        Error::Interrupted => signals::exit_code(),
        e => e.exit_code(),
    }
}

/// Ends the process of a run that was asked to stop and doesn't come back: no unfinished file stays.
pub fn leave() {
    gramer_graph::output::remove_unfinished();
    let code = failure(&Error::Interrupted);
    cluster::aborts(code);
    gramer_accelerator::launch::ends();
    // SAFETY: it doesn't return; a driver that still runs kernels would have destructors wait for them.
    unsafe { libc::_exit(code.into()) }
}

/// Prints help and version to standard output, faults to standard error.
fn wrong_usage(e: clap::Error, words: &[OsString]) -> u8 {
    let colour = log::Colour::of_words(words);
    if e.use_stderr() {
        let code = e.exit_code() as u8;
        if cluster::rank_0_speaks(words) {
            return code;
        }
        let command = device::command_for(Cli::command(), words);
        let coloured = colour.on(&std::io::stderr());
        let text = usage::text(e, command, words, &own_name(), coloured);
        // Nothing can be done where even this can't be written.
        let _ = write!(std::io::stderr(), "{text}");
        return code;
    }
    let text = e.render();
    let coloured = colour.on(&std::io::stdout());
    let printed = print(|out| match coloured {
        true => write!(out, "{}", text.ansi()),
        false => write!(out, "{text}"),
    });
    printed.map_or_else(|e| failure(&e), |()| 0)
}

/// A line on standard error about the input or the output, unless --quiet.
pub fn print_note(text: &str) {
    if !log::is_quiet() {
        let _ = writeln!(std::io::stderr(), "note: {}", options::told(text));
    }
}

/// A line on standard error about what is done so far, unless --quiet.
pub fn tell(text: &str) {
    if !log::is_quiet() {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// A line on standard error for what didn't keep the command from its end.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}: warning: {}", own_name(), options::told(text));
}

/// A line on standard error for what makes a run slow, while it works.
fn note(text: &str) {
    // On a terminal a progress bar may be there.
    let clear = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(std::io::stderr(), "{clear}note: {}", options::told(text));
}

fn complain(e: &Error) {
    let _ = writeln!(std::io::stderr(), "{}: {}", own_name(), options::told(&e.to_string()));
}

/// What this process calls itself on standard error.
fn own_name() -> String {
    cluster::above_0().map_or("gramer".into(), |rank| format!("gramer: rank {rank}"))
}

/// Writes to standard output; a closed pipe is an error like any other.
pub fn print(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let mut text = Vec::new();
    let mut out = standard_output::writer();
    write(&mut text)
        .and_then(|()| out.write_all(&text))
        .and_then(|()| out.flush())
        .map_err(|e| Error::io(STDOUT, "write", e))
}

impl Cli {
    /// Reads a command line, with the options of the device that it names.
    ///
    /// # Errors
    /// What clap refuses.
    pub fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        if let Some(cli) = Self::of_task(words) {
            return Ok(cli);
        }
        let command = usage::with_negative_numbers(device::command_for(Cli::command(), words));
        Cli::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    /// Reads `gramer mine TASK …` with the options of this task alone: to describe those of all commands took 2.1 of
    /// the 5.4 million instructions that the triangles of a small graph took (CiteSeer, from an image). `None` for
    /// other words, and whenever clap has something to say: help and faults are told by the whole command.
    fn of_task(words: &[OsString]) -> Option<Self> {
        let command = Self::command_of_task(words)?;
        Cli::from_arg_matches(&command.try_get_matches_from(words).ok()?).ok()
    }

    /// The command with this task alone.
    fn command_of_task(words: &[OsString]) -> Option<clap::Command> {
        let [_, mine, task, ..] = words else { return None };
        let task = mine::Task::command(task.to_str()?).filter(|_| mine == "mine")?;
        let mine = clap::Command::new("mine").subcommand(device::task_for(task, words));
        let gramer = clap::Command::new("gramer").disable_help_flag(true);
        Some(log::Args::augment_args(gramer).subcommand(mine))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_device_that_is_the_only_one_is_told_from_the_words() {
        let of = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            only_device(&words).map(String::from)
        };
        assert_eq!(of("gramer mine clique -k 3 a.gramer --device gpu:1").as_deref(), Some("gpu:1"));
        assert_eq!(of("gramer mine --device=gpu clique").as_deref(), Some("gpu"));
        for none in [
            "gramer mine clique",
            "gramer devices --device gpu",
            "gramer mine --device gpu --device cpu",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// Each option of a task with all that clap knows of it, but for those of all commands, whose place in the
    /// help depends on how many commands there are.
    fn options(mut command: clap::Command, task: &str) -> Vec<String> {
        command.build();
        let mine = command.find_subcommand("mine").unwrap();
        let options = mine.find_subcommand(task).unwrap().get_arguments();
        let own = options.filter(|option| !option.is_global_set());
        own.map(|option| format!("{option:?}")).collect()
    }

    #[test]
    fn a_task_read_alone_has_the_options_that_it_has_among_all_commands() {
        let all = Cli::command();
        let mine = all.find_subcommand("mine").unwrap();
        let tasks: Vec<&str> = mine.get_subcommands().map(|task| task.get_name()).collect();
        assert_eq!(tasks, ["clique", "motif", "fsm", "match"]);
        for device in ["", " --device reference", " --device gpu:0", " --device cpu,emulator"] {
            for task in &tasks {
                let words = words(&format!("gramer mine {task}{device}"));
                let alone = options(Cli::command_of_task(&words).unwrap(), task);
                let among = options(device::command_for(Cli::command(), &words), task);
                assert_eq!(alone.len(), among.len(), "{task}{device}");
                assert!(among.len() > 20);
                alone.iter().zip(&among).for_each(|(alone, among)| assert_eq!(alone, among));
            }
        }
        assert!(mine::Task::command("help").is_none());
    }

    #[test]
    fn what_is_read_alone_is_what_all_commands_read() {
        let line = "gramer mine clique -k 4 g.txt --log info --threads 3 --memory 2G --output json";
        let alone = Cli::of_task(&words(line)).unwrap();
        let command = device::command_for(Cli::command(), &words(line));
        let whole = Cli::from_arg_matches(&command.try_get_matches_from(words(line)).unwrap());
        let told = |cli: &Cli| format!("{cli:?}");
        // A fault, help, and what isn't `mine TASK` are left to the whole command.
        assert_eq!(told(&alone), told(&whole.unwrap()));
        for line in [
            "gramer mine clique -k 4",
            "gramer mine clique --help",
            "gramer mine clique -k 4 g.txt --log loud",
            "gramer mine motiv -k 4 g.txt",
            "gramer mine",
            "gramer --log info mine clique -k 4 g.txt",
            "gramer graph clique -k 4 g.txt",
        ] {
            assert!(Cli::of_task(&words(line)).is_none(), "{line}");
        }
    }
}

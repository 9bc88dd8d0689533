//! What the programs of this command line share: how they begin, what they print, and how they end.

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use gramer_base::context::{Context, Notes};
use gramer_base::error::{Error, Result};
use gramer_base::memory::AllocationFailure;
use gramer_base::standard_output;

use crate::{cluster, endings, log, options, signals, usage};

/// A program: the options that it reads, and what it does with them.
pub trait Program: clap::Parser {
    /// Name on standard error.
    const NAME: &'static str;

    /// Reads a command line.
    ///
    /// # Errors
    /// What clap refuses; help and version too.
    fn read(words: &[OsString]) -> Result<Self, clap::Error>;

    /// The options of all commands.
    fn log(&self) -> &log::Args;

    /// Message for a failed memory allocation.
    fn ending(&self) -> &'static AllocationFailure {
        &endings::PLAIN
    }

    /// Whether the first Ctrl-C asks the run to stop; else it ends the program.
    fn stops_when_asked(&self) -> bool {
        true
    }

    /// Runs the command. No thread was started before.
    ///
    /// # Errors
    /// Those of the command.
    fn run(self, context: Context) -> Result<()>;
}

/// Name of standard output in messages.
const STDOUT: &str = "<stdout>";

/// Exit code after a broken pipe, as if the signal PIPE had ended the program.
const READER_GONE: u8 = 141;

/// The name of the program that runs.
static NAME: OnceLock<&str> = OnceLock::new();

/// Set once a device doesn't answer, whose library would wait for it again on the way out, or takes long to be closed.
pub static LEAVE_AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Runs a program and returns the exit code: 0, 1 for failure, 2 for wrong usage, 130
/// after Ctrl-C (143 and 129 after the signals TERM and HUP), 141 for a broken pipe.
pub fn main<P: Program>() -> u8 {
    let _ = NAME.set(P::NAME);
    endings::begin();
    let words: Vec<OsString> = std::env::args_os().collect();
    gramer_base::panics::install(|message| {
        let _ = writeln!(std::io::stderr(), "{message}");
    });
    let code = match P::read(&words) {
        Ok(program) => run(program),
        Err(e) => wrong_usage::<P>(e, &words),
    };
    let code = cluster::ends(code);
    if LEAVE_AT_ONCE.load(Ordering::Relaxed) {
        let _ = std::io::stdout().flush();
        // SAFETY: the call doesn't return; standard output was flushed, and other output is written whole by now.
        unsafe { libc::_exit(code.into()) }
    }
    code
}

/// Runs a command and complains of its failure.
fn run<P: Program>(program: P) -> u8 {
    if let Err(e) = program.log().begin() {
        return failure(&e);
    }
    signals::ignore_size_limits();
    endings::name_options(program.ending());
    let context = Context { notes: Notes::to(note), ..Context::default() };
    gramer_base::output::wait_until(&context.cancel);
    if program.stops_when_asked()
        && let Err(e) = signals::stop_on(&context.cancel)
    {
        complain(&Error::Unsupported(format!("Ctrl-C will not stop the run cleanly: {e}")));
    }
    // A fault of ours must not look like a fault of the user's input.
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| program.run(context)));
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
                "{}: this is a bug in gramer; please report it with the message above",
                own_name()
            );
            cluster::aborts(1);
            1
        }
    }
}

/// Prints a failure and returns its exit code. A broken pipe is not printed: its reader has gone.
fn failure(e: &Error) -> u8 {
    match e {
        Error::Io { path, source, .. }
            if source.kind() == ErrorKind::BrokenPipe && path.as_os_str() == STDOUT =>
        {
            return READER_GONE;
        }
        Error::Interrupted if signals::is_time_up() => complain(&Error::Unsupported(
            "the time limit was reached before the answer was complete".into(),
        )),
        _ => complain(e),
    }
    match e {
        Error::Interrupted => signals::exit_code(),
        e => e.exit_code(),
    }
}

/// Ends the process of a cancelled run that doesn't return; no unfinished file stays.
pub fn leave() {
    gramer_base::output::remove_unfinished();
    let code = failure(&Error::Interrupted);
    cluster::aborts(code);
    // SAFETY: it doesn't return; a driver that still runs kernels would have destructors wait for them.
    unsafe { libc::_exit(code.into()) }
}

/// Prints help and version to standard output, faults to standard error.
fn wrong_usage<P: Program>(e: clap::Error, words: &[OsString]) -> u8 {
    let colour = log::Colour::of_words(words);
    if e.use_stderr() {
        let code = e.exit_code() as u8;
        if cluster::rank_0_speaks(words) {
            return code;
        }
        let coloured = colour.on(&std::io::stderr());
        let text = usage::text(e, P::command(), words, &own_name(), coloured);
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

/// A line of progress on standard error, unless --quiet.
pub fn tell(text: &str) {
    if !log::is_quiet() {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// Prints a warning: the command still succeeds.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}: warning: {}", own_name(), options::told(text));
}

/// Prints a warning about a slow run while it works.
fn note(text: &str) {
    // On a terminal a progress bar may be there.
    let clear = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(std::io::stderr(), "{clear}note: {}", options::told(text));
}

fn complain(e: &Error) {
    let _ = writeln!(std::io::stderr(), "{}: {}", own_name(), options::told(&e.to_string()));
}

/// Name of this process on standard error.
fn own_name() -> String {
    let name = NAME.get().copied().unwrap_or("gramer");
    cluster::above_0().map_or(name.into(), |rank| format!("{name}: rank {rank}"))
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

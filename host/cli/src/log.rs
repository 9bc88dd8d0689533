//! Output on standard error besides errors and warnings: notes, progress, and the log of the libraries.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::choice::choice;
use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result, quote};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::time::uptime;

/// The level where no option names one.
pub const VARIABLE: &str = "GRAMER_LOG";

/// Heading of the options of all commands.
pub const HEADING: &str = "General";

/// Levels of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Off,
    /// Problems that the run recovered from.
    Warn,
    /// Phases with their times, and the chosen algorithms.
    Info,
    /// Parts of phases: passes, slices, threads.
    Debug,
}

impl Choice for Level {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Level::Off, "off", "Nothing"),
        (Level::Warn, "warn", "Problems that the run recovered from"),
        (Level::Info, "info", "Phases with their times, and the chosen algorithms"),
        (Level::Debug, "debug", "Parts of phases: passes, slices, threads"),
    ];
}

/// When help and errors are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Choice for Colour {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Colour::Auto,
            "auto",
            "On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE counts as a terminal",
        ),
        (Colour::Always, "always", "Always"),
        (Colour::Never, "never", "Never"),
    ];
}

/// The options of all commands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub struct Args {
    /// Show neither notes nor progress; errors and warnings stay
    #[arg(long, short, global = true, conflicts_with_all = ["verbose", "log"])]
    quiet: bool,

    /// Log phases, algorithms, progress; -vv logs more
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    verbose: u8,

    /// Log progress to standard error [default: GRAMER_LOG, else off]
    #[arg(long, global = true, value_parser = choice::<Level>(), value_name = "LEVEL")]
    #[arg(conflicts_with = "verbose", hide_short_help = true)]
    log: Option<Level>,

    /// Colours of help and errors [default: auto]
    // Read by `Colour::of_words`, before anything can go wrong with the others.
    #[arg(long, global = true, value_parser = choice::<Colour>(), value_name = "WHEN")]
    #[arg(hide_short_help = true)]
    color: Option<Colour>,

    /// Print help: -h common options, --help all
    #[arg(long, short, global = true, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

/// Whether notes and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);
/// Whether phases are logged, and progress with them.
static VERBOSE: AtomicBool = AtomicBool::new(false);
/// The level of the log.
static LEVEL: OnceLock<Level> = OnceLock::new();

/// Whether notes and progress are left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// The name of the level of the log.
pub fn level() -> &'static str {
    LEVEL.get().copied().unwrap_or(Level::Off).name()
}

/// Whether progress is logged as lines.
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

impl Args {
    /// Begins to log, if options or the variable ask for it.
    ///
    /// # Errors
    /// [`Error::Usage`] for a variable that holds no level.
    pub fn begin(&self) -> Result<()> {
        QUIET.store(self.quiet, Ordering::Relaxed);
        let level = match (self.log, self.verbose) {
            (Some(level), _) => level,
            (None, 0) if self.quiet => Level::Off,
            (None, 0) => of_variable()?,
            (None, 1) => Level::Info,
            (None, _) => Level::Debug,
        };
        let _ = LEVEL.set(level);
        let most = match level {
            Level::Off => return Ok(()),
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
        };
        VERBOSE.store(most >= LevelFilter::INFO, Ordering::Relaxed);
        // No other code of this program sets one.
        let _ = fmt()
            .with_max_level(most)
            .with_writer(io::stderr)
            .with_ansi(false)
            .with_timer(uptime())
            .with_span_events(FmtSpan::CLOSE)
            .log_internal_errors(false)
            .try_init();
        Ok(())
    }
}

fn of_variable() -> Result<Level> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(Level::Off);
    };
    let text = text.to_string_lossy();
    Level::named(&text).ok_or_else(|| {
        let levels: Vec<&str> = Level::ALL.iter().map(|(_, name, _)| *name).collect();
        let what = format!("{VARIABLE}: there is no level {}", quote(text.as_bytes()));
        Error::usage(format!("{what}; the levels are {}", levels.join(", ")))
    })
}

impl Colour {
    /// Value of `--color` on a command line; the last one counts.
    pub fn of_words(words: &[OsString]) -> Self {
        let mut words = words.iter().filter_map(|word| word.to_str()).take_while(|w| *w != "--");
        let mut colour = Colour::default();
        while let Some(word) = words.next() {
            let value = match word.strip_prefix("--color") {
                Some("") => words.next(),
                Some(value) => value.strip_prefix('='),
                None => None,
            };
            colour = value.and_then(Colour::named).unwrap_or(colour);
        }
        colour
    }

    /// Whether a stream has colours.
    pub fn on(self, stream: &impl IsTerminal) -> bool {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match self {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if set("NO_COLOR").is_some() => false,
            Colour::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Colour::Auto => {
                let refused = |name, refusal| set(name).is_some_and(|value| value == refusal);
                stream.is_terminal() && !refused("CLICOLOR", "0") && !refused("TERM", "dumb")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_colour_counts() {
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            Colour::of_words(&words)
        };
        assert_eq!(of("gramer mine"), Colour::Auto);
        assert_eq!(of("gramer --color never mine --color=always"), Colour::Always);
        assert_eq!(of("gramer mine --color sometimes"), Colour::Auto);
        assert_eq!(of("gramer mine -- --color always"), Colour::Auto);
    }
}

//! What the libraries tell of their work, on standard error: `--log LEVEL` or `GRAMER_LOG`.

use std::io;

use crate::choice::choice;
use gramer_graph::choice::Choice;
use gramer_graph::error::{Error, Result, quote};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::time::uptime;

/// Says the level where no option does.
const VARIABLE: &str = "GRAMER_LOG";

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Off,
    /// What went wrong and was made up for.
    Warn,
    /// Phases with their times, and which way was chosen and why.
    Info,
    /// Parts of phases: passes, slices, threads.
    Debug,
}

impl Choice for Level {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Level::Off, "off", "Nothing"),
        (Level::Warn, "warn", "What went wrong and was made up for"),
        (Level::Info, "info", "Phases with their times, and which way was chosen and why"),
        (Level::Debug, "debug", "Parts of phases: passes, slices, threads"),
    ];
}

/// The option of all commands.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Tell on standard error what is done, and why so [default: GRAMER_LOG, else nothing]
    #[arg(long, global = true, value_parser = choice::<Level>(), value_name = "LEVEL", help_heading = "Logs")]
    pub log: Option<Level>,
}

/// Begins to tell, if option or variable ask for it.
///
/// # Errors
/// [`Error::Usage`] for a variable that holds no level.
pub fn begin(option: Option<Level>) -> Result<()> {
    let level = match option {
        Some(level) => level,
        None => of_variable()?,
    };
    let most = match level {
        Level::Off => return Ok(()),
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
    };
    // Nobody but this command line sets one.
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

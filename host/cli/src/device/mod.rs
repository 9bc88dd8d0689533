//! The devices that `--device` can name: one entry of [`KINDS`] for each kind, with its own options.
//!
//! A new kind is a file beside this one with a [`Kind`], and its line in [`KINDS`]. Everything else
//! (help, job files, completions, `mine`, `selftest`) follows from that.

mod accelerator;
mod gpu;

use std::ffi::OsString;

use clap::{ArgMatches, Args, FromArgMatches};

use gramer_engine::Engine;
use gramer_engine::cpu::Cpu;
use gramer_engine::reference::Reference;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};

/// A kind of device.
pub struct Kind {
    /// What it is called in lists of what can be named.
    pub shown: &'static [&'static str],
    /// A name of such a device, for examples.
    pub example: &'static str,
    /// What it is, in a few words.
    pub what: &'static str,
    /// Whether a name is that of such a device.
    pub named: fn(&str) -> bool,
    /// Adds its own options to a command, under a heading of their own.
    pub options: fn(clap::Command) -> clap::Command,
    /// Opens the device with this name. The options are those that [`Kind::options`] added.
    pub open: fn(&str, &ArgMatches, &Context) -> Result<Box<dyn Engine>>,
}

/// All kinds of devices, the default first.
pub const KINDS: &[Kind] = &[
    Kind {
        shown: &["cpu"],
        example: "cpu",
        what: "this host's processor",
        named: |device| device == "cpu",
        options: |command| command,
        open: |_, _, _| Ok(Box::new(Cpu)),
    },
    Kind {
        shown: &["reference"],
        example: "reference",
        what: "the paper's algorithm 1, plain and slow",
        named: |device| device == "reference",
        options: |command| command,
        open: |_, _, _| Ok(Box::new(Reference::default())),
    },
    accelerator::KIND,
    gpu::KIND,
];

/// The kind of the device with a name.
///
/// # Errors
/// [`Error::Usage`] if there is none.
pub fn kind(device: &str) -> Result<&'static Kind> {
    KINDS.iter().find(|kind| (kind.named)(device)).ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().flat_map(|kind| kind.shown).copied().collect();
        let (last, others) = names.split_last().expect("there are kinds");
        Error::usage(format!(
            "no device is called {device:?}: use {}, or {last} (`gramer devices` shows what there is)",
            others.join(", ")
        ))
    })
}

/// The help of `--device`.
pub fn help() -> String {
    let kind = |kind: &Kind| {
        let names: Vec<String> = kind.shown.iter().map(|name| format!("`{name}`")).collect();
        format!("{} ({})", names.join(" or "), kind.what)
    };
    let kinds: Vec<String> = KINDS.iter().map(kind).collect();
    format!("What mines: {}; see `gramer devices`", kinds.join(", "))
}

/// The options of the device that is named beside them: whatever a command has, to be read by the
/// device's kind.
#[derive(Debug, Clone, Default)]
pub struct DeviceOptions(ArgMatches);

impl FromArgMatches for DeviceOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(DeviceOptions(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl Args for DeviceOptions {
    /// None: [`with_options`] adds them once the device is known.
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

impl DeviceOptions {
    /// The engine that `--device` names.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that isn't known, and what opening the device refuses.
    pub fn engine(&self, device: &str, context: &Context) -> Result<Box<dyn Engine>> {
        (kind(device)?.open)(device, &self.0, context)
    }
}

/// What `--device` says on a command line, if it is there.
pub fn of_words(words: &[OsString]) -> Option<&str> {
    let mut words = words.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        match word.strip_prefix("--device") {
            Some("") => return words.next(),
            Some(value) if value.starts_with('=') => return Some(&value[1..]),
            _ => {}
        }
    }
    None
}

/// The commands that take a device, with the options of these kinds besides their own.
fn with_options<'a>(
    command: clap::Command,
    kinds: impl Iterator<Item = &'a Kind> + Clone,
) -> clap::Command {
    let add = move |mut command: clap::Command| {
        for kind in kinds.clone() {
            let own = (kind.options)(clap::Command::new(""));
            for option in own.get_arguments() {
                // Two kinds may have an option of one name.
                if !command.get_arguments().any(|known| known.get_id() == option.get_id()) {
                    command = command.arg(option.clone());
                }
            }
        }
        command
    };
    command
        .mut_subcommand("mine", |mine| mine.mut_subcommands(&add))
        .mut_subcommand("selftest", &add)
}

/// The command as it reads these words: with the options of the device that they name.
pub fn command_for(command: clap::Command, words: &[OsString]) -> clap::Command {
    let named = of_words(words).and_then(|device| kind(device).ok());
    let command = with_options(command, named.into_iter());
    if named.is_some() {
        return command;
    }
    command.mut_subcommand("mine", |mine| {
        mine.mut_subcommands(|task| {
            let name = task.get_name().to_string();
            let after = task.get_after_help().map_or(String::new(), |text| format!("{text}\n\n"));
            let has_some = |kind: &&Kind| {
                (kind.options)(clap::Command::new("")).get_arguments().next().is_some()
            };
            let lines: Vec<String> = KINDS
                .iter()
                .filter(has_some)
                .map(|kind| format!("  gramer mine {name} --device {} --help", kind.example))
                .collect();
            task.after_help(format!("{after}Options of other devices:\n{}", lines.join("\n")))
        })
    })
}

/// The command with the options of all devices.
pub fn command_for_all(command: clap::Command) -> clap::Command {
    with_options(command, KINDS.iter())
}

/// The devices that have this option (`--name`).
pub fn with_option(name: &str) -> impl Iterator<Item = &'static Kind> {
    let name = name.trim_start_matches('-').to_string();
    KINDS.iter().filter(move |kind| {
        let own = (kind.options)(clap::Command::new(""));
        own.get_arguments().any(|option| option.get_long() == Some(&name))
    })
}

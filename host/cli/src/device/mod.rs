//! The devices that `--device` can name: one entry of [`KINDS`] for each kind, with its own options.
//!
//! A new kind is a file beside this one with a [`Kind`], and its line in [`KINDS`]. Everything else
//! (help, job files, completions, `mine`, `selftest`) follows from that.

mod accelerator;
pub mod cpu;
mod gpu;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, FromArgMatches};

use gramer_engine::reference::Reference;
use gramer_engine::{Ask, Choices, Engine, Prepared};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Budget, Graph};
use gramer_many::Many;
use gramer_pattern::Task;

/// What a device is opened for.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// How often this device is named.
    pub same: usize,
    /// How many devices are named in all.
    pub all: usize,
    /// Whether the answer is a page, which shows what a device did over time.
    pub page: bool,
}

/// Opens a device by its name, with its options.
pub type Open = fn(&str, Opening, &ArgMatches, &Context) -> Result<Box<dyn Engine>>;

/// Looks at the options of a device for a task; the flag says whether embeddings are listed.
pub type Check = fn(&ArgMatches, &Task, bool) -> Result<()>;

/// What a device says to a question; see [`Engine::choose`].
pub type Chooser = Box<dyn Fn(&Ask<'_>) -> Choices + Send + Sync>;

/// Has a device answer questions without opening it, by its name and its options.
pub type Kit = fn(&str, &ArgMatches) -> Result<Chooser>;

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
    /// Refuses options that were given and change nothing in how a task is done.
    pub check: Check,
    /// What the device with this name says to questions, unopened.
    pub kit: Kit,
    /// Opens the device with this name. The options are those that [`Kind::options`] added.
    pub open: Open,
}

/// All kinds of devices, the default first.
pub const KINDS: &[Kind] = &[
    cpu::KIND,
    Kind {
        shown: &["reference"],
        example: "reference",
        what: "the paper's algorithm 1, plain and slow",
        named: |device| device == "reference",
        options: |command| command,
        check: |_, _, _| Ok(()),
        kit: |_, _| Ok(Box::new(|ask| Reference::default().choose(ask))),
        open: |_, _, _, _| Ok(Box::new(Reference::default())),
    },
    accelerator::KIND,
    gpu::KIND,
];

/// A number of bytes, with K, M or G for powers of 1,024.
///
/// # Errors
/// What a size is.
pub fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|&n| n > 0);
    let bytes = number.and_then(|n| n.checked_mul(1 << shift));
    bytes
        .ok_or_else(|| "it must be a number of bytes, or one with K, M or G: 4096, 512M, 2G".into())
}

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

/// The devices of a list `A,B,…`. A file's devices are a list of numbers (`FILE.xclbin@0,1`), which
/// belong to the file.
pub fn split(devices: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    for word in devices.split(',') {
        let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        match all.last_mut() {
            Some(file) if number && gramer_accelerator::is_xclbin(file) && file.contains('@') => {
                file.push(',');
                file.push_str(word);
            }
            _ => all.push(word.into()),
        }
    }
    all
}

/// Files that devices of a list are made from: xclbins and descriptions of machines.
pub fn files(devices: &str) -> impl Iterator<Item = PathBuf> {
    split(devices).into_iter().filter_map(|device| accelerator::file(&device))
}

/// The kinds of the devices of a list, each once.
///
/// # Errors
/// As [`kind`].
pub fn kinds(devices: &str) -> Result<Vec<&'static Kind>> {
    let mut kinds: Vec<&Kind> = vec![];
    for device in split(devices) {
        let kind = kind(&device)?;
        if !kinds.iter().any(|known| std::ptr::eq(*known, kind)) {
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

/// The help of `--device`.
pub fn help() -> String {
    let kind = |kind: &Kind| {
        let names: Vec<String> = kind.shown.iter().map(|name| format!("`{name}`")).collect();
        format!("{} ({})", names.join(" or "), kind.what)
    };
    let kinds: Vec<String> = KINDS.iter().map(kind).collect();
    format!(
        "What mines: {}; several, separated by commas, share the work; see `gramer devices`",
        kinds.join(", ")
    )
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
    /// Those of all devices, as they are where none is given.
    pub fn plain() -> Self {
        DeviceOptions(with_options(clap::Command::new(""), KINDS.iter()).get_matches_from([""]))
    }

    /// The file that a device writes beside the answer.
    pub fn profile(&self) -> Option<&Path> {
        self.0.try_get_one::<PathBuf>(gpu::PROFILE).ok().flatten().map(PathBuf::as_path)
    }

    /// What the processor may take, where it mines alone and that is limited: several devices have each a
    /// memory of their own.
    ///
    /// # Errors
    /// [`Error::Usage`] for options that go with others.
    pub fn budget(&self, devices: &str) -> Result<Option<Budget>> {
        if (cpu::KIND.named)(devices) { cpu::budget(&self.0) } else { Ok(None) }
    }

    /// Refuses options of these devices that would change nothing in how a task is done: an answer must not pass
    /// for one that was found in another way. `listed` if embeddings are listed.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the option, and as [`kind`].
    pub fn check(&self, devices: &str, task: &Task, listed: bool) -> Result<()> {
        let kinds = kinds(devices)?;
        // A GPU has an option of that name, for a memory of its own.
        let has_memory = |kind: &&Kind| kind.example == gpu::KIND.example;
        if split(devices).len() > 1
            && !kinds.iter().any(has_memory)
            && cpu::budget(&self.0)?.is_some()
        {
            return Err(Error::usage(format!(
                "--memory is what the processor may take where it mines alone, and --device {devices} names \
                 several: name cpu once, or leave --memory out"
            )));
        }
        kinds.iter().try_for_each(|kind| (kind.check)(&self.0, task, listed))
    }

    /// The engine that `--device` names: one device, or several that share the work; `page` if the answer
    /// is one.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that isn't known, and what opening a device refuses.
    pub fn engine(&self, devices: &str, page: bool, context: &Context) -> Result<Box<dyn Engine>> {
        if let [device] = &split(devices)[..] {
            let alone = Opening { same: 1, all: 1, page };
            return (kind(device)?.open)(device, alone, &self.0, context);
        }
        Ok(Box::new(self.many(devices, page, context)?))
    }

    /// The devices that `--device` names as an engine that answers questions and opens nothing.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that isn't known, and what reading a machine refuses.
    pub fn unopened(&self, devices: &str) -> Result<Box<dyn Engine>> {
        let mut all: Vec<Box<dyn Engine>> = vec![];
        for name in split(devices) {
            let chooser = (kind(&name)?.kit)(&name, &self.0)?;
            all.push(Box::new(Unopened { name, chooser }));
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Box::new(Many::new(all)) })
    }

    /// The same devices, one of them as well, as those that share a task.
    ///
    /// # Errors
    /// As [`DeviceOptions::engine`].
    pub fn many(&self, devices: &str, page: bool, context: &Context) -> Result<Many> {
        let names = split(devices);
        let mut order: Vec<usize> = (0..names.len()).collect();
        let emulated: Vec<bool> = names.iter().map(|name| accelerator::is_emulated(name)).collect();
        if emulated.iter().filter(|is| **is).count() > 1 {
            return Err(Error::usage(format!(
                "--device {devices}: one emulated device at a time; an xclbin of an emulation has \
                 several with FILE.xclbin@0,1"
            )));
        }
        kinds(devices)?;
        // An emulation runs the command once more, in which all others are opened.
        order.sort_by_key(|&at| !emulated[at]);
        let mut opened: Vec<(usize, Box<dyn Engine>)> = vec![];
        for at in order {
            let same = names.iter().filter(|name| **name == names[at]).count();
            let opening = Opening { same, all: names.len(), page };
            let engine = (kind(&names[at])?.open)(&names[at], opening, &self.0, context)?;
            opened.push((at, engine));
        }
        opened.sort_by_key(|(at, _)| *at);
        Ok(Many::new(opened.into_iter().map(|(_, engine)| engine).collect()))
    }
}

/// A device that only answers questions.
struct Unopened {
    name: String,
    chooser: Chooser,
}

impl Engine for Unopened {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        (self.chooser)(ask)
    }

    fn prepare<'a>(&'a self, _: &'a Graph, _: &Context) -> Result<Box<dyn Prepared + 'a>> {
        Err(Error::Device(format!("{} was not opened", self.name)))
    }
}

/// One device of each kind that answers a question, as it is without options.
pub fn able(ask: &Ask<'_>) -> Vec<&'static str> {
    let DeviceOptions(options) = DeviceOptions::plain();
    let answers = |kind: &&Kind| {
        let chooser = (kind.kit)(kind.example, &options);
        chooser.is_ok_and(|chooser| !chooser(ask).fits.is_empty())
    };
    KINDS.iter().filter(answers).map(|kind| kind.example).collect()
}

/// Whether a device of a list is emulated, so that the command runs once more.
pub fn is_emulated(devices: &str) -> bool {
    split(devices).iter().any(|device| accelerator::is_emulated(device))
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

/// A command with the options of these kinds besides its own.
fn with_options<'a>(
    mut command: clap::Command,
    kinds: impl Iterator<Item = &'a Kind>,
) -> clap::Command {
    for kind in kinds {
        let own = (kind.options)(clap::Command::new(""));
        for option in own.get_arguments() {
            // Two kinds may have an option of one name.
            if !command.get_arguments().any(|known| known.get_id() == option.get_id()) {
                command = command.arg(option.clone());
            }
        }
    }
    command
}

/// The commands that take a device, with the options of these kinds besides their own.
fn all_with_options<'a>(
    command: clap::Command,
    kinds: impl Iterator<Item = &'a Kind> + Clone,
) -> clap::Command {
    let add = move |command: clap::Command| with_options(command, kinds.clone());
    command
        .mut_subcommand("mine", |mine| mine.mut_subcommands(&add))
        .mut_subcommand("plan", |plan| plan.mut_subcommands(&add))
        .mut_subcommand("selftest", &add)
}

/// The kinds that these words name.
fn named(words: &[OsString]) -> Option<Vec<&'static Kind>> {
    of_words(words).and_then(|devices| kinds(devices).ok())
}

/// A task as it reads these words: with the options of the device that they name.
pub fn task_for(task: clap::Command, words: &[OsString]) -> clap::Command {
    with_options(task, named(words).unwrap_or_else(|| vec![&KINDS[0]]).into_iter())
}

/// The command as it reads these words: with the options of the device that they name.
pub fn command_for(command: clap::Command, words: &[OsString]) -> clap::Command {
    if let Some(kinds) = named(words) {
        return all_with_options(command, kinds.into_iter());
    }
    // What mines where nothing is named.
    let command = all_with_options(command, KINDS[..1].iter());
    command.mut_subcommand("mine", |mine| {
        mine.mut_subcommands(|task| {
            let name = task.get_name().to_string();
            let after = task.get_after_help().map_or(String::new(), |text| format!("{text}\n\n"));
            let has_some = |kind: &&Kind| {
                (kind.options)(clap::Command::new("")).get_arguments().next().is_some()
            };
            let lines: Vec<String> = KINDS[1..]
                .iter()
                .filter(has_some)
                .map(|kind| format!("  gramer mine {name} --device {} --help", kind.example))
                .collect();
            task.after_long_help(format!("{after}Options of other devices:\n{}", lines.join("\n")))
        })
    })
}

/// The command with the options of all devices.
pub fn command_for_all(command: clap::Command) -> clap::Command {
    all_with_options(command, KINDS.iter())
}

/// The devices that have this option (`--name`).
pub fn with_option(name: &str) -> impl Iterator<Item = &'static Kind> {
    let name = name.trim_start_matches('-').to_string();
    KINDS.iter().filter(move |kind| {
        let own = (kind.options)(clap::Command::new(""));
        own.get_arguments().any(|option| option.get_long() == Some(&name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("3K"), Ok(3072));
        assert_eq!(size("2m"), Ok(2 << 20));
        assert_eq!(size("80G"), Ok(80 << 30));
        for wrong in ["", "K", "0", "-1", "1T", "99999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_belong_to_the_file_before_them() {
        let split = |text| split(text).join(" ");
        assert_eq!(split("gpu:0,gpu:1,cpu"), "gpu:0 gpu:1 cpu");
        assert_eq!(split("a.xclbin@0,2,cpu"), "a.xclbin@0,2 cpu");
        assert_eq!(split("cpu,a.xclbin,0"), "cpu a.xclbin 0");
        assert_eq!(kinds("cpu,gpu:0,gpu,cpu").unwrap().len(), 2);
        for wrong in ["", "cpu,", "cpu,,cpu", "cpu,tpu", "gpu:0,1"] {
            assert!(matches!(kinds(wrong), Err(Error::Usage(_))), "{wrong}");
        }
    }
}

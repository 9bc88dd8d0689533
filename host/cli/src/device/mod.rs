//! The devices that `--device` can name: one entry of [`KINDS`] for each kind.
//!
//! A new kind is a file in this folder with a [`Kind`], and a line in [`KINDS`]. Everything else (help, job files,
//! completions, `mine`, `selftest`) follows from that.

pub mod accelerator;
pub mod cpu;
mod gpu;
mod options;

use std::path::PathBuf;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_crew::Crew;
use gramer_engine::reference::Reference;
use gramer_engine::setting::{SettingInfo, bytes};
use gramer_engine::{Ask, Choices, Device, Engine, PreparedGraph};
use gramer_graph::Graph;
use gramer_pattern::Task;

pub use options::{DeviceOptions, listed, readers_of};

/// Context in which a device is opened.
#[derive(Debug, Clone, Copy)]
pub struct OpenRequest {
    /// Number of times that `--device` names this device.
    pub same: usize,
    /// Number of devices that `--device` names.
    pub all: usize,
    /// Whether the answer is a page, which shows what a device did over time.
    pub page: bool,
}

/// Opens a device by its name, with its options.
pub type OpenDevice = fn(&str, OpenRequest, &DeviceOptions, &Context) -> Result<Box<dyn Engine>>;

/// Checks the options of a device for a task; the flag is true if embeddings are listed.
pub type Check = fn(&DeviceOptions, &Task, bool) -> Result<()>;

/// Function that returns the choices of a device for a question; see [`Engine::choose`].
pub type Chooser = Box<dyn Fn(&Ask<'_>) -> Choices + Send + Sync>;

/// Makes an engine that answers questions without opening the device, from its name and options.
pub type Kit = fn(&str, &DeviceOptions) -> Result<Chooser>;

/// A kind of device.
pub struct Kind {
    /// Names in lists of devices.
    pub shown: &'static [&'static str],
    /// A name of such a device, for examples.
    pub example: &'static str,
    /// Short description.
    pub what: &'static str,
    /// Whether a name is that of such a device.
    pub named: fn(&str) -> bool,
    /// Fields of [`DeviceOptions`] that it reads, besides `set`.
    pub options: &'static [&'static str],
    /// Settings for experiments.
    pub settings: fn() -> Vec<SettingInfo>,
    /// Refuses options that were given and change nothing in how a task is done.
    pub check: Check,
    /// Returns the choices of the device with this name, without opening it.
    pub kit: Kit,
    /// Opens the device with this name.
    pub open: OpenDevice,
}

/// All kinds of devices, the default first.
pub const KINDS: &[Kind] = &[
    cpu::KIND,
    Kind {
        shown: &["reference"],
        example: "reference",
        what: "the paper's algorithm 1, plain and slow",
        named: |device| device == "reference",
        options: &[],
        settings: Vec::new,
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
    bytes(text)
        .ok_or_else(|| "it must be a number of bytes, or one with K, M or G: 4096, 512M, 2G".into())
}

/// The kind of a device, by its name.
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
        "Device to mine on: {}; several, separated by commas, share the work; see `gramer devices`",
        kinds.join(", ")
    )
}

impl DeviceOptions {
    /// Refuses options of these devices that would change nothing in how a task is done: an answer must not pass
    /// for one that was found in another way. `listed` if embeddings are listed.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the option, and as [`kind`].
    pub fn check(&self, devices: &str, task: &Task, listed: bool) -> Result<()> {
        self.check_read(devices)?;
        let kinds = kinds(devices)?;
        // `--memory` is a GPU's own too.
        let is_gpu = |kind: &&Kind| kind.example == gpu::KIND.example;
        if split(devices).len() > 1
            && !kinds.iter().any(is_gpu)
            && (self.memory.is_some() || self.spill.is_some())
        {
            return Err(Error::usage(format!(
                "--memory limits a processor that mines alone, but --device {devices} names \
                 several devices: name cpu once, or leave --memory out"
            )));
        }
        kinds.iter().try_for_each(|kind| (kind.check)(self, task, listed))
    }

    /// The engine that `--device` names: one device, or several that share the work; `page` if the answer
    /// is one.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that isn't known, and what opening a device refuses.
    pub fn engine(&self, devices: &str, page: bool, context: &Context) -> Result<Box<dyn Engine>> {
        self.check_read(devices)?;
        if let [device] = &split(devices)[..] {
            let alone = OpenRequest { same: 1, all: 1, page };
            return (kind(device)?.open)(device, alone, self, context);
        }
        Ok(Box::new(self.crew(devices, page, context)?))
    }

    /// Returns the devices of `--device` as an engine for planning, without opening them.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that isn't known, and what reading a machine refuses.
    pub fn unopened(&self, devices: &str) -> Result<Box<dyn Engine>> {
        let mut all = self.all_unopened(devices)?;
        Ok(if all.len() == 1 { all.remove(0) } else { Box::new(Crew::new(all)) })
    }

    /// Returns the devices of `--device` as a crew that shares a task, even if there is only one.
    ///
    /// # Errors
    /// As [`DeviceOptions::unopened`].
    pub fn crew_unopened(&self, devices: &str) -> Result<Crew> {
        self.all_unopened(devices).map(Crew::new)
    }

    fn all_unopened(&self, devices: &str) -> Result<Vec<Box<dyn Engine>>> {
        self.check_read(devices)?;
        let mut all: Vec<Box<dyn Engine>> = vec![];
        for name in split(devices) {
            let chooser = (kind(&name)?.kit)(&name, self)?;
            all.push(Box::new(PlanningDevice { name, chooser }));
        }
        Ok(all)
    }

    /// Returns the devices of `--device` as a crew that shares a task, even if there is only one.
    ///
    /// # Errors
    /// As [`DeviceOptions::engine`].
    pub fn crew(&self, devices: &str, page: bool, context: &Context) -> Result<Crew> {
        let names = split(devices);
        self.check_read(devices)?;
        let mut opened: Vec<Box<dyn Engine>> = vec![];
        for device in &names {
            let same = names.iter().filter(|name| *name == device).count();
            let opening = OpenRequest { same, all: names.len(), page };
            opened.push((kind(device)?.open)(device, opening, self, context)?);
        }
        Ok(Crew::new(opened))
    }
}

/// A device that chooses methods without being opened.
struct PlanningDevice {
    name: String,
    chooser: Chooser,
}

impl Engine for PlanningDevice {
    fn device(&self) -> Device {
        Device::named(&self.name)
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        (self.chooser)(ask)
    }

    fn prepare(&self, _: &Graph, _: &Context) -> Result<PreparedGraph> {
        Err(Error::Device(format!("{} was not opened", self.name)))
    }
}

/// One device of each kind that answers a question, without options.
pub fn able(ask: &Ask<'_>) -> Vec<&'static str> {
    let options = DeviceOptions::default();
    let answers = |kind: &&Kind| {
        let chooser = (kind.kit)(kind.example, &options);
        chooser.is_ok_and(|chooser| !chooser(ask).fits.is_empty())
    };
    KINDS.iter().filter(answers).map(|kind| kind.example).collect()
}

/// Names as alternatives, as in "cpu, reference or gpu".
pub fn either(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

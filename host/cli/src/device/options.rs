//! The options of devices: the few that users need, and `--set` for the settings of experiments.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gramer_base::Budget;
use gramer_base::error::{Error, Result, quote};
use gramer_engine::setting::SettingInfo;
use gramer_gpu::Strategy;

use super::cpu::budget_of;
use super::{KINDS, Kind, cpu, kinds, size};
use crate::choice::choice;

/// Options of every command with a device. [`Kind::options`] names those that a device reads.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Device")]
pub struct DeviceOptions {
    /// Memory limit, with K, M or G [default: none; of a GPU nine tenths of its memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    #[arg(hide_short_help = true)]
    pub memory: Option<u64>,

    /// Folder for data that has no room in memory, removed after the run [default: that for temporary files]
    #[arg(long, value_name = "FOLDER")]
    #[arg(hide_short_help = true)]
    pub spill: Option<PathBuf>,

    /// Strategy of a GPU [default: the fastest known for the task]
    #[arg(long, value_parser = choice::<Strategy>(), value_name = "STRATEGY")]
    #[arg(hide_short_help = true)]
    pub strategy: Option<Strategy>,

    /// Write a trace of the kernels and transfers of a GPU to a new FILE
    ///
    /// JSON for Perfetto and other viewers of Chromium's traces. Totals go to the results.
    #[arg(long, value_name = "FILE")]
    #[arg(hide_short_help = true)]
    pub profile: Option<PathBuf>,

    /// Setting of a device for experiments, several times for several; `gramer plan --settings` lists them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    #[arg(hide_short_help = true)]
    pub set: Vec<(String, String)>,
}

/// A name and a value of `--set`; hyphens in names stand for underscores.
fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.replace('-', "_"), value.into()))
        }
        _ => Err("it must be NAME=VALUE, for example --set tau=0.1".into()),
    }
}

impl DeviceOptions {
    /// The names and values of `--set`.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.set.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the file that a device writes in addition to the answer.
    pub fn profile(&self) -> Option<&Path> {
        self.profile.as_deref()
    }

    /// Memory limit of the processor, if it mines alone: with several devices, each has its own
    /// memory.
    ///
    /// # Errors
    /// [`Error::Usage`] for options that go with others.
    pub fn budget(&self, devices: &str) -> Result<Option<Budget>> {
        match (cpu::KIND.named)(devices) {
            true => budget_of(self.memory, self.spill.as_deref()),
            false => Ok(None),
        }
    }

    /// Refuses options and settings that none of the devices reads, and a setting that is
    /// given twice.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the option or the setting, and as [`kinds`].
    pub fn check_read(&self, devices: &str) -> Result<()> {
        let kinds = kinds(devices)?;
        let given = [
            ("memory", self.memory.is_some()),
            ("spill", self.spill.is_some()),
            ("strategy", self.strategy.is_some()),
            ("profile", self.profile.is_some()),
        ];
        for (name, _) in given.into_iter().filter(|(_, given)| *given) {
            if !kinds.iter().any(|kind| kind.options.contains(&name)) {
                let readers = KINDS.iter().filter(|kind| kind.options.contains(&name));
                return Err(Error::usage(format!(
                    "--{name} is an option of {}, and --device {devices} doesn't read it: leave it out",
                    named(readers)
                )));
            }
        }
        let known: Vec<SettingInfo> = kinds.iter().flat_map(|kind| (kind.settings)()).collect();
        for (at, (name, _)) in self.set.iter().enumerate() {
            if !known.iter().any(|setting| setting.name == name) {
                return Err(unknown(name, devices, &known));
            }
            if self.set[..at].iter().any(|(other, _)| other == name) {
                return Err(Error::usage(format!("--set {name} is given twice: give it once")));
            }
        }
        Ok(())
    }
}

/// `--device gpu or --device emulator`.
fn named<'a>(kinds: impl Iterator<Item = &'a Kind>) -> String {
    kinds.map(|kind| format!("--device {}", kind.example)).collect::<Vec<_>>().join(" or ")
}

/// Returns the devices that have a setting.
pub fn readers_of(setting: &str) -> impl Iterator<Item = &'static Kind> {
    let has = move |kind: &&Kind| (kind.settings)().iter().any(|known| known.name == setting);
    KINDS.iter().filter(has)
}

/// Reason for refusing a setting: a misspelt name, a setting of another device, or an unknown one.
fn unknown(name: &str, devices: &str, known: &[SettingInfo]) -> Error {
    let others = named(readers_of(name));
    let distance = |setting: &&SettingInfo| strsim::damerau_levenshtein(setting.name, name);
    let nearest =
        known.iter().min_by_key(distance).filter(|near| 3 * distance(near) <= near.name.len() + 1);
    let names: Vec<&str> = known.iter().map(|setting| setting.name).collect();
    let what = match (others.is_empty(), nearest) {
        (false, _) => format!("it is a setting of {others}"),
        (true, Some(near)) => format!("did you mean {}?", near.name),
        (true, None) if known.is_empty() => "the device has no settings".into(),
        (true, None) => format!("its settings are {}", names.join(", ")),
    };
    Error::usage(format!("--set {}: --device {devices} has no such setting; {what}", quote(name)))
}

/// The settings of all devices: a paragraph each with type, default and meaning.
pub fn listed() -> String {
    let mut text =
        String::from("A setting is given with --set NAME=VALUE, in a job below `set`.\n");
    for kind in KINDS {
        let settings = (kind.settings)();
        if settings.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n--device {}:", kind.example);
        for SettingInfo { name, takes, default, meaning } in settings {
            let _ = writeln!(text, "  {name} = {takes} [default: {default}]\n      {meaning}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str], devices: &str) -> String {
        let set = words.iter().map(|word| setting(word).unwrap()).collect();
        let options = DeviceOptions { set, ..DeviceOptions::default() };
        options.check_read(devices).expect_err("it is refused").to_string()
    }

    #[test]
    fn settings_that_nobody_reads_are_refused_with_what_helps() {
        let said = refused(&["tua=0.5"], "emulator");
        assert_eq!(said, "--set `tua`: --device emulator has no such setting; did you mean tau?");
        let said = refused(&["tau=0.5"], "gpu");
        assert!(said.ends_with("it is a setting of --device emulator"), "{said}");
        let said = refused(&["frobnicate=1"], "emulator");
        assert!(said.contains("its settings are comparison, no_stealing, "), "{said}");
        assert!(refused(&["frobnicate=1"], "cpu").ends_with("the device has no settings"));
        assert!(refused(&["tau=0.5", "tau=0.6"], "emulator").contains("given twice"));
        let memory = DeviceOptions { memory: Some(1), ..DeviceOptions::default() };
        let said = memory.check_read("emulator").unwrap_err().to_string();
        assert!(said.contains("an option of --device cpu or --device gpu"), "{said}");
        memory.check_read("emulator,gpu").unwrap();
    }

    #[test]
    fn a_setting_has_a_name_and_a_value() {
        assert_eq!(setting("result-beats=4"), Ok(("result_beats".into(), "4".into())));
        for wrong in ["tau", "=1", "tau=", ""] {
            assert!(setting(wrong).unwrap_err().contains("NAME=VALUE"), "{wrong}");
        }
    }

    #[test]
    fn every_setting_is_listed_once_for_its_device() {
        let text = listed();
        for kind in KINDS {
            let names: Vec<&str> = (kind.settings)().iter().map(|setting| setting.name).collect();
            for (at, name) in names.iter().enumerate() {
                assert!(text.contains(name) && !names[..at].contains(name), "{name}");
            }
        }
    }
}

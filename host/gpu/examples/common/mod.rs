//! What the examples of `gramer_gpu::primitives` share: their arguments, and how they end.

// Each of them uses a part of this.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_gpu::{Gpu, Settings};
use gramer_graph::Graph;
use gramer_graph::read::{ReadOptions, read_graph};

/// Options of each program: sizes, a folder for tables and one for built programs, and whether kernels test their
/// indices.
const OPTIONS: [&str; 5] = ["memory", "host-memory", "spill", "cache", "checked"];

/// The arguments of a program: `DEVICE GRAPH [--NAME VALUE]…`.
pub struct Arguments {
    usage: &'static str,
    device: String,
    graph: PathBuf,
    values: Vec<(String, String)>,
}

impl Arguments {
    /// Takes the arguments after the program's name. `known` are the names of its options.
    ///
    /// # Errors
    /// [`Error::Usage`] with the program's usage.
    pub fn of(words: &[String], usage: &'static str, known: &[&str]) -> Result<Self> {
        let fail = |what: String| Error::usage(format!("{what}\nusage: {usage}"));
        let [device, graph, options @ ..] = words else {
            return Err(fail("a device and a graph are needed".into()));
        };
        let mut values: Vec<(String, String)> = vec![];
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let name = option.strip_prefix("--").unwrap_or_default();
            if !known.contains(&name) && !OPTIONS.contains(&name) {
                return Err(fail(format!("{option} is not an option of this program")));
            }
            if values.iter().any(|(known, _)| known == name) {
                return Err(fail(format!("{option} is given twice")));
            }
            let value = options.next().ok_or_else(|| fail(format!("{option} needs a value")))?;
            values.push((name.into(), value.clone()));
        }
        Ok(Arguments { usage, device: device.clone(), graph: graph.into(), values })
    }

    /// The value of an option.
    ///
    /// # Errors
    /// [`Error::Usage`] for a value that can't be read.
    pub fn value<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        let given = self.values.iter().find(|(known, _)| known == name);
        let parse = |(_, text): &(String, String)| {
            text.parse().map_err(|_| {
                Error::usage(format!("--{name} can't be {text}\nusage: {}", self.usage))
            })
        };
        given.map(parse).transpose()
    }

    /// The second argument, where it is a number and no graph.
    ///
    /// # Errors
    /// [`Error::Usage`] for something else.
    pub fn second(&self, usage: &str) -> Result<u64> {
        let text = self.graph.to_string_lossy();
        text.parse().map_err(|_| Error::usage(format!("{text} is not a number\nusage: {usage}")))
    }

    /// Bytes, with K, M or G.
    fn bytes(&self, name: &str) -> Result<Option<u64>> {
        let Some(text) = self.value::<String>(name)? else { return Ok(None) };
        let digits = text.trim_end_matches(['K', 'M', 'G']);
        let unit = match &text[digits.len()..] {
            "" => 0,
            "K" => 10,
            "M" => 20,
            "G" => 30,
            _ => 64,
        };
        let number: Option<u64> = digits.parse().ok();
        let bytes = number.and_then(|n| n.checked_mul(1u64.checked_shl(unit)?));
        bytes.map(Some).ok_or_else(|| {
            Error::usage(format!(
                "--{name} can't be {text}: give bytes, as 64M\nusage: {}",
                self.usage
            ))
        })
    }

    /// The device, within the budgets that were given.
    ///
    /// # Errors
    /// Errors of [`Gpu::open`].
    pub fn gpu(&self) -> Result<Gpu> {
        self.open(&self.device)
    }

    /// Several devices, with commas between, each within these budgets.
    ///
    /// # Errors
    /// Errors of [`Gpu::open`].
    pub fn gpus(&self) -> Result<Vec<Gpu>> {
        self.device.split(',').map(|name| self.open(name)).collect()
    }

    fn open(&self, device: &str) -> Result<Gpu> {
        let mut settings = Settings {
            memory: self.bytes("memory")?,
            checked: self.value("checked")?.unwrap_or(false),
            cache: self.value("cache")?.or_else(gramer_gpu::default_cache),
            ..Settings::default()
        };
        settings.table.host_memory = self.bytes("host-memory")?;
        settings.table.spill = self.value("spill")?;
        Gpu::open(device, &settings)
    }

    /// The graph.
    ///
    /// # Errors
    /// Errors of [`read_graph`].
    pub fn graph(&self) -> Result<Graph> {
        read_graph(Path::new(&self.graph), &ReadOptions::default(), &Context::default())
    }
}

/// Writes a line of the answer.
///
/// # Errors
/// [`Error::Io`].
pub fn say(out: &mut dyn Write, line: &str) -> Result<()> {
    writeln!(out, "{line}").map_err(|e| Error::io("<stdout>", "write", e))
}

/// Runs a program with the arguments of the process. Errors go to standard error, with exit code 2 for wrong usage
/// and 1 for other failures.
pub fn ends(run: fn(&[String], &mut dyn Write) -> Result<()>) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words, &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // This program's options have the names of the settings.
            let told = error.told(|setting| format!("--{setting}"), |engine| engine.to_string());
            eprintln!("{told}");
            ExitCode::from(error.exit_code())
        }
    }
}

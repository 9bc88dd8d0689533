#![doc = include_str!("../README.md")]
//!
//! `accelerator.yaml` has every size of the machine, its arguments and its counters. This crate is its only reader: it
//! checks the file and generates everything that must agree with it, so that no width, depth, register offset or counter
//! index is written twice.
//!
//! | module | output |
//! |---|---|
//! | [`set`] | sizes and formats of the set core, and its package `gramer_set_pkg` |
//! | [`verilog`] | the SystemVerilog package `gramer_pkg` and the Verilog top `gramer_kernel` for Vitis |
//! | [`header`] | the same numbers for HLS C++ |
//! | [`vitis`] | `kernel.xml` of each kernel, the link configuration, the metadata of an xclbin |
//! | [`layout`] | register offsets and counter positions for programs |
//! | [`named`] | the machines that are built in, by name |
//! | [`kernels`] | kernels, their instances and addresses |
//! | [`streams`] | fields of the streams' beats |
//!
//! [`trust`] decides which programs and cached files may be run or loaded.
//!
//! A description with `base: FILE` (relative to itself) only has the differences.

mod base;
mod check;
pub mod header;
pub mod kernels;
pub mod layout;
pub mod named;
pub mod set;
pub mod streams;
pub mod trust;
pub mod verilog;
pub mod vitis;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use kernels::Kernels;
use streams::Streams;

/// Error of a machine's description.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file can't be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not YAML, lacks a key, or has one that isn't known.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Key, line and remedy.
        what: String,
    },
    /// A value is out of range or contradicts another.
    #[error("{}: {key} is {value}, but {rule}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The key with its section, `machine.slots`.
        key: String,
        /// Value in the file.
        value: String,
        /// Allowed values.
        rule: String,
    },
}

/// A result whose error is [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Which core a machine has.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Core {
    /// That of the paper: one candidate after another (`docs/reference/paper-core.md`).
    #[default]
    Paper,
    /// The set core: lists against lists (`docs/reference/set-core.md`).
    Set,
}

/// A whole description.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Accelerator {
    /// Which core it has. A description without it has the paper's.
    #[serde(default)]
    pub core: Core,
    /// Sizes of the set core; present if and only if `core` is `set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<set::SetCore>,
    /// Processing units and what is in them.
    pub machine: Machine,
    /// On-chip memory and DDR.
    pub memory: Memory,
    /// Limits of the applications.
    pub applications: Applications,
    /// AXI4-Lite arguments, in order.
    pub arguments: Vec<Argument>,
    /// Kernels of a compute unit.
    pub kernels: Kernels,
    /// Streams between them.
    pub streams: Streams,
    /// Counters of the out-stream.
    pub counters: Counters,
}

/// Section `machine`.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name in reports.
    pub name: String,
    /// PUs, 1 to 16, a power of two.
    pub processing_units: u32,
    /// Slots and ancestor buffers a PU, 2 to 32, a power of two.
    pub slots: u32,
    /// Entries of an ancestor buffer, 3 to 16: the vertices of the largest embedding.
    pub depth: u32,
    /// Candidates that the stealing buffer of a PU holds, 2 to 64, a power of two.
    pub stealing_buffer: u32,
    /// An ancestor entry holds the extending vertex and its cursor alone (figure 10 of the paper)
    /// instead of the whole state of the embedding.
    pub compaction: bool,
    /// Whose lists are searched for the edges between a candidate and the embedding. A description without it has the
    /// embedding's.
    #[serde(default)]
    pub check: Check,
    /// Partitions of the on-chip memory, a power of two, 1 to 16, at least [`Memory::ddr_banks`].
    pub partitions: u32,
    /// PUs and partitions count events ([`Counters::pu`], [`Counters::partition`]). A machine without
    /// has fewer registers, and reports the counters of the core and of the banks alone. A description
    /// that doesn't say it has them. The set core always has them.
    #[serde(default = "present")]
    pub performance_counters: bool,
    /// Registers on each path between regions of the die (SLRs): between the PUs, the partitions, the
    /// DDR readers and what the core has once, 0 to 3. A description without it has none.
    #[serde(default)]
    pub slr_registers: u32,
    /// Clock in MHz.
    pub clock_mhz: u32,
    /// FPGA part.
    pub part: String,
}

/// Whose lists the connectivity check reads (section II-B of the paper).
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Those of the embedding's vertices, for the candidate. Its record is read only if the embedding grows.
    #[default]
    Embedding,
    /// The candidate's record and its list, for the embedding's vertices, as in the paper.
    Candidate,
}

impl Check {
    /// The one of this name in a description.
    pub fn named(name: &str) -> Option<Self> {
        serde_yaml::from_str(name).ok()
    }
}

/// How the on-chip memory is divided (section IV of the paper).
#[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// High-priority scratchpad and low-priority cache.
    Locality,
    /// One cache with the bytes of both.
    Uniform,
}

/// What is behind a memory bank in a simulation.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Dram {
    /// Constant latency, a line whenever the bank's port takes one.
    #[default]
    Ideal,
    /// A channel of DDR4-2400: rows, bank groups, refresh.
    Ddr4,
    /// A pseudo-channel of HBM2 at 900 MHz.
    Hbm2,
}

impl Dram {
    /// The one of this name in a description.
    pub fn named(name: &str) -> Option<Self> {
        serde_yaml::from_str(name).ok()
    }
}

/// Section `memory`.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Scratchpad and cache, or cache alone.
    pub layout: Layout,
    /// Ways of the caches: 4.
    pub cache_ways: u32,
    /// High-priority vertex memory of a partition in bytes.
    pub vertex_scratchpad_bytes: u32,
    /// Low-priority vertex memory of a partition in bytes.
    pub vertex_cache_bytes: u32,
    /// High-priority edge memory of a partition in bytes.
    pub edge_scratchpad_bytes: u32,
    /// Low-priority edge memory of a partition in bytes.
    pub edge_cache_bytes: u32,
    /// Lines in flight from DDR for each memory of a partition, a power of two.
    pub misses: u32,
    /// Bits of a reference's stamp, 4 to 32. References of one memory of a partition are told apart
    /// over 2^(`stamp_bits` - 1) accesses at the largest λ and with LRU, over more at a smaller λ;
    /// older ones count as equally old.
    pub stamp_bits: u32,
    /// Memory banks, a power of two: 1 to 4, for a set core to 32.
    pub ddr_banks: u32,
    /// What is behind a bank (model); a description that doesn't say it has constant latency.
    #[serde(default)]
    pub dram: Dram,
    /// Read latency in cycles of a closed row, if nothing else is in flight (model).
    pub ddr_latency_cycles: u32,
    /// Cycles between two beats of a bank's port (model).
    pub ddr_cycles_a_beat: u32,
    /// Bytes of a bank, a multiple of 4096, up to 64 GiB.
    pub bank_bytes: u64,
}

/// Section `applications`.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Applications {
    /// Vertices of the largest pattern that the dictionary knows, 3 to 6.
    pub max_motif: u32,
    /// Bits of a label in frequent subgraph mining, 1 to 8.
    pub label_bits: u32,
    /// Entries of the dictionary of a PU, a power of two.
    pub dictionary_entries: u32,
    /// Pattern counters of a PU, a power of two, at most 32768.
    pub pattern_counters: u32,
    /// Bits of a count, 8 to 64. A count that doesn't fit stays at its largest value, and the
    /// result says so.
    pub count_bits: u32,
    /// Words of a user's filter: a power of two up to 8, or 0 (default) for a core without filters.
    #[serde(default)]
    pub filter_words: u32,
}

/// An AXI4-Lite argument.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Name in Rust, SystemVerilog and `kernel.xml`.
    pub name: String,
    /// In the file alone: it stands for one argument a DDR bank.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_bank: bool,
    /// 32 or 64.
    pub bits: u32,
    /// The memory port that reads or writes the buffer, where the argument is an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// The DDR bank of that buffer, for the first compute unit where each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<u32>,
    /// Each compute unit has its own bank: that of the next is the next one, or as many further as there are
    /// [`set::SetCore::channels`], round and round.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_bank: bool,
    /// Meaning.
    pub what: String,
}

/// A counter or an array of counters.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Counter {
    /// One counter.
    One(String),
    /// A counter with options.
    Many(CounterArray),
}

/// A counter with options.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct CounterArray {
    /// Name.
    pub name: String,
    /// One for each depth, 1 to `machine.depth`.
    pub by_depth: bool,
}

/// Section `counters`.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Once.
    pub core: Vec<Counter>,
    /// Once for each PU, where the machine has [`Machine::performance_counters`].
    pub pu: Vec<Counter>,
    /// Once for each partition, likewise.
    pub partition: Vec<Counter>,
    /// Once for each DDR bank.
    pub bank: Vec<Counter>,
}

/// A section of counters as it stands in the out-stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// `core`, `pu`, `partition` or `bank`.
    pub name: &'static str,
    /// Its counters, in order; none where the machine doesn't count them.
    pub counters: &'a [Counter],
    /// How often it stands there: 1, or once for each PU, partition or bank.
    pub units: u32,
}

/// Defaults of a description.
fn present() -> bool {
    true
}

fn text_of(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })
}

/// Steps of λ of equation (2) from one number to the next.
pub const LAMBDA_STEPS: u32 = 8;
/// Largest λ.
pub const LAMBDA_MAX: u32 = 64;

/// λ as the core takes it, in steps of 1 / [`LAMBDA_STEPS`]; `None` if it is between two steps or
/// not 0 to [`LAMBDA_MAX`].
///
/// ```
/// assert_eq!(gramer_machine::lambda_steps(1.5), Some(12));
/// assert_eq!(gramer_machine::lambda_steps(0.3), None);
/// ```
pub fn lambda_steps(lambda: f64) -> Option<u32> {
    let steps = lambda * f64::from(LAMBDA_STEPS);
    let known = (0.0..=f64::from(LAMBDA_MAX)).contains(&lambda) && steps.fract() == 0.0;
    known.then_some(steps as u32)
}

/// Range of [`lambda_steps`] in words.
pub fn lambda_range() -> String {
    format!("0 to {LAMBDA_MAX} in steps of 1/{LAMBDA_STEPS}")
}

/// Bytes of a line.
pub const LINE_BYTES: u32 = 64;
/// Bytes of a vertex record: edge offset (8), degree (4), label (1), none (3).
pub const RECORD_BYTES: u32 = 16;
/// Bytes of an edge entry, which is a vertex id.
pub const ENTRY_BYTES: u32 = 4;
/// Vertex records in a line.
pub const RECORDS_A_LINE: u32 = LINE_BYTES / RECORD_BYTES;
/// Edge entries in a line.
pub const ENTRIES_A_LINE: u32 = LINE_BYTES / ENTRY_BYTES;
/// Bytes of a word of a filter, whose words come in one beat.
pub const FILTER_WORD_BYTES: u32 = 8;

impl Accelerator {
    /// Reads and checks a description.
    ///
    /// # Errors
    /// [`enum@Error`], which names the file and the key.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::parse(&text_of(path)?, path)
    }

    /// Reads and checks a description that is in memory; `path` is for messages.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use gramer_machine::Accelerator;
    ///
    /// let paper = gramer_machine::named::named("paper").expect("it is built in")?;
    /// let again = Accelerator::parse(&paper.to_yaml(), Path::new("again.yaml"))?;
    /// assert_eq!(again.machine.clock_mhz, paper.machine.clock_mhz);
    /// let wrong = Accelerator::parse("machine: 3", Path::new("wrong.yaml")).unwrap_err();
    /// assert!(wrong.to_string().starts_with("wrong.yaml: "));
    /// # Ok::<(), gramer_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Accelerator::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        Self::parse_with(text, path, &text_of)
    }

    /// As [`Accelerator::parse`]; `base_of` gives the text of a base by its path.
    fn parse_with(
        text: &str,
        path: &Path,
        base_of: &dyn Fn(&Path) -> Result<String>,
    ) -> Result<Self> {
        let format = |what| Error::Format { path: path.to_path_buf(), what };
        let mut accelerator: Accelerator = match base::merged(text, path, base_of)? {
            // Read from the text itself, so that messages have lines.
            None => serde_yaml::from_str(text)
                .map_err(|error| format(check::with_nearest_key(&error)))?,
            // Written and read again, since an error of a value lacks the key.
            Some(value) => serde_yaml::to_string(&value)
                .and_then(|merged| serde_yaml::from_str(&merged))
                .map_err(|error| {
                    format(base::of_text(text, &error, check::with_nearest_key(&error)))
                })?,
        };
        accelerator.expand();
        check::check(&accelerator, path)?;
        Ok(accelerator)
    }

    /// The whole description as YAML, without a base: what [`Accelerator::parse`] reads back as
    /// the same.
    ///
    /// # Panics
    /// Never: a description has no value that YAML can't hold.
    pub fn to_yaml(&self) -> String {
        serde_yaml::to_string(self).expect("plain data")
    }

    /// The SystemVerilog module of the core.
    pub fn core_module(&self) -> &'static str {
        match self.core {
            Core::Paper => "gramer_core",
            Core::Set => "gramer_set_core",
        }
    }

    /// AXI4 read ports of one core: one for each DDR bank in the paper's, one for each channel in a cluster of the
    /// set core.
    pub fn core_ports(&self) -> u32 {
        match self.core {
            Core::Paper => self.memory.ddr_banks,
            Core::Set => self.set.as_ref().map_or(1, |set| set.channels),
        }
    }

    /// The DDR bank of an argument's buffer for compute unit `unit` (from 0); `None` if it is no
    /// address.
    pub fn bank_of(&self, argument: &Argument, unit: u32) -> Option<u32> {
        let step = self.set.as_ref().map_or(1, |set| set.channels);
        let own = if argument.own_bank { unit * step } else { 0 };
        Some((argument.bank? + own) % self.memory.ddr_banks)
    }

    /// Puts one argument a port of the core where `each_bank` stands.
    fn expand(&mut self) {
        let banks = self.core_ports();
        let arguments = std::mem::take(&mut self.arguments);
        self.arguments = arguments
            .into_iter()
            .flat_map(|argument| match argument.each_bank {
                false => vec![argument],
                true => (0..banks.min(check::most_banks(self.core)))
                    .map(|bank| Argument {
                        name: format!("{}{bank}", argument.name),
                        each_bank: false,
                        port: argument.port.as_ref().map(|port| format!("{port}{bank}")),
                        bank: Some(bank),
                        what: format!("{} {bank}", argument.what),
                        ..argument
                    })
                    .collect(),
            })
            .collect();
    }
}

//! Kernels, compute units and addresses of memory banks.

use serde::{Deserialize, Serialize};

use crate::{Accelerator, Argument, layout};

/// First address of the AXI4-Lite blocks, and the bytes that each has.
const CONTROL_BASE: u64 = 0x0180_0000;
const CONTROL_BYTES: u64 = 0x1_0000;
/// Address of bank 0, and the distance of the banks: more than any bank has bytes.
const BANK_BASE: u64 = 0x40_0000_0000;
/// See [`BANK_BASE`].
pub(crate) const BANK_STEP: u64 = 0x10_0000_0000;

/// Section `kernels`.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Kernels {
    /// Instances of each kernel, 1 to 15.
    pub compute_units: u32,
    /// Region of the die (SLR) of compute unit i: element i, round and round. May be empty.
    pub slr: Vec<u32>,
    /// The core.
    pub core: Kernel,
    /// Memory to stream.
    pub fill: Kernel,
    /// Stream to memory.
    pub drain: Kernel,
}

/// How a kernel is written.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// SystemVerilog.
    Rtl,
    /// C++ for high-level synthesis.
    Hls,
}

/// One kernel.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Name, which instances carry with their number.
    pub name: String,
    /// How it is written.
    pub language: Language,
    /// Purpose.
    pub what: String,
    /// AXI4-Lite arguments in order, from 0x10. Those of the core are the section `arguments`:
    /// in the file the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// The stream that it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<StreamPort>,
    /// The stream that it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<StreamPort>,
}

/// A port of a stream.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct StreamPort {
    /// The stream, from section `streams`.
    pub stream: String,
    /// Name of the port.
    pub port: String,
}

/// One instance of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its name, such as `gramer_core_1`.
    pub name: String,
    /// The compute unit, from 0.
    pub unit: u32,
    /// Address of its AXI4-Lite block, which has 64 KiB.
    pub base: u64,
}

impl Accelerator {
    /// The arguments of a kernel, those of the core included.
    pub fn arguments_of<'a>(&'a self, kernel: &'a Kernel) -> &'a [Argument] {
        if kernel.name == self.kernels.core.name { &self.arguments } else { &kernel.arguments }
    }

    /// The arguments of a kernel with their AXI4-Lite offsets.
    pub fn offsets_of<'a>(&'a self, kernel: &'a Kernel) -> Vec<(&'a Argument, u32)> {
        layout::offsets(self.arguments_of(kernel))
    }

    /// The three kernels: core, fill, drain.
    pub fn kernels(&self) -> [&Kernel; 3] {
        [&self.kernels.core, &self.kernels.fill, &self.kernels.drain]
    }

    /// All instances: core 1, core 2, …, then those of fill, then those of drain.
    ///
    /// ```
    /// let paper = gramer_machine::named::named("paper").expect("it is built in")?;
    /// let instances = paper.instances();
    /// assert_eq!(instances.len() as u32, 3 * paper.kernels.compute_units);
    /// assert_eq!(instances[0].name, format!("{}_1", paper.kernels.core.name));
    /// # Ok::<(), gramer_machine::Error>(())
    /// ```
    pub fn instances(&self) -> Vec<Instance<'_>> {
        let units = self.kernels.compute_units;
        let all = self.kernels().into_iter().flat_map(|k| (0..units).map(move |u| (k, u)));
        all.enumerate()
            .map(|(at, (kernel, unit))| Instance {
                kernel,
                name: format!("{}_{}", kernel.name, unit + 1),
                unit,
                base: CONTROL_BASE + CONTROL_BYTES * at as u64,
            })
            .collect()
    }

    /// Name of the emulated platform and device, such as `xilinx_u250_sim_1`.
    pub fn emulated_platform(&self) -> String {
        let part = self.machine.part.trim_start_matches("xc");
        format!("xilinx_{part}_sim_1")
    }

    /// Address of the first byte of a DDR bank in an emulated device.
    pub fn bank_base(&self, bank: u32) -> u64 {
        BANK_BASE + BANK_STEP * u64::from(bank)
    }
}

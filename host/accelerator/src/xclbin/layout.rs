//! Memories, connections and instances: the sections that are arrays of structures.

use super::{Fields, Xclbin, describe, kind, put_text, text};
use gramer_base::error::Result;

/// `mem_data`: a memory that kernels reach.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Memory {
    /// Kind: 1 DDR4, 6 HBM, and others.
    pub kind: u8,
    /// Whether a kernel is connected to it.
    pub used: bool,
    /// Size in KiB.
    pub kib: u64,
    /// First address.
    pub base: u64,
    /// Name, `bank0`.
    pub tag: String,
}

/// `connection`: an argument of an instance and the memory of its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// Position of the argument.
    pub argument: i32,
    /// Position of the instance in [`Xclbin::instances`].
    pub instance: i32,
    /// Position of the memory in [`Xclbin::memories`].
    pub memory: i32,
}

/// `ip_data`: an instance of a kernel, or other logic with registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Kind: 1 for a kernel.
    pub kind: u32,
    /// Bits of that kind: for kernels bits 8 to 15 hold the control protocol.
    pub properties: u32,
    /// Address of the registers.
    pub base: u64,
    /// `kernel:instance` for kernels.
    pub name: String,
}

/// Kind of an [`Instance`] of a kernel.
pub const KERNEL: u32 = 1;
/// Kind of a [`Memory`] of DDR4.
pub const DDR4: u8 = 1;
/// Properties of a kernel that is controlled by ap_ctrl_chain.
pub const AP_CTRL_CHAIN: u32 = 1 << 8;

/// Bytes of `mem_data` and `ip_data`, which follow a count of 8 bytes with its padding, and of
/// `connection`, which follows one of 4.
const MEMORY: usize = 40;
const INSTANCE: usize = 80;
const CONNECTION: usize = 12;
/// Bytes of `clock_freq`, which follows a count of 2.
const CLOCK: usize = 136;
/// The name of the clock that drives `ap_clk`.
const DATA_CLOCK: &str = "DATA_CLK";

impl Xclbin {
    /// The memories; none without the section.
    ///
    /// # Errors
    /// [`gramer_base::Error::Input`] if the section is shorter than its count.
    pub fn memories(&self) -> Result<Vec<Memory>> {
        let rows = self.rows(kind::MEM_TOPOLOGY, 8, MEMORY)?;
        let memory = |row: &[u8]| Memory {
            kind: row[0],
            used: row[1] != 0,
            kib: Fields(row).u64(8),
            base: Fields(row).u64(16),
            tag: text(&row[24..40]),
        };
        Ok(rows.map(memory).collect())
    }

    /// The connections; none without the section.
    ///
    /// # Errors
    /// As [`Xclbin::memories`].
    pub fn connections(&self) -> Result<Vec<Connection>> {
        let rows = self.rows(kind::CONNECTIVITY, 4, CONNECTION)?;
        let connection = |row: &[u8]| Connection {
            argument: Fields(row).i32(0),
            instance: Fields(row).i32(4),
            memory: Fields(row).i32(8),
        };
        Ok(rows.map(connection).collect())
    }

    /// The instances; none without the section.
    ///
    /// # Errors
    /// As [`Xclbin::memories`].
    pub fn instances(&self) -> Result<Vec<Instance>> {
        let rows = self.rows(kind::IP_LAYOUT, 8, INSTANCE)?;
        let instance = |row: &[u8]| Instance {
            kind: Fields(row).u32(0),
            properties: Fields(row).u32(4),
            base: Fields(row).u64(8),
            name: text(&row[16..80]),
        };
        Ok(rows.map(instance).collect())
    }

    /// Names and MHz of the clocks in CLOCK_FREQ_TOPOLOGY; none without the section.
    ///
    /// # Errors
    /// As [`Xclbin::memories`].
    pub fn clock_topology(&self) -> Result<Vec<(String, f64)>> {
        let Some(data) = self.section(kind::CLOCK_FREQ_TOPOLOGY) else { return Ok(vec![]) };
        let count = if data.len() < 2 { 0 } else { usize::from(Fields(data).u16(0)) };
        if data.len() < 2 + count * CLOCK {
            return Err(self.short(kind::CLOCK_FREQ_TOPOLOGY, count));
        }
        let clock = |row: &[u8]| (text(&row[8..]), f64::from(Fields(row).u16(0)));
        Ok(data[2..].chunks_exact(CLOCK).take(count).map(clock).collect())
    }

    /// MHz of `ap_clk`, the clock of the kernels, as the linker left it: it may have lowered the frequency that was
    /// asked for. `None` in emulation and without the section.
    ///
    /// # Errors
    /// As [`Xclbin::memories`].
    pub fn kernel_mhz(&self) -> Result<Option<u32>> {
        if self.mode.is_emulation() {
            return Ok(None);
        }
        // Clock 0 of the linker is DATA_CLK and drives `ap_clk`; KERNEL_CLK drives the second clock that a kernel may
        // have, which ours do not.
        let clocks = self.clock_topology()?;
        Ok(clocks.into_iter().find(|(name, _)| name == DATA_CLOCK).map(|(_, mhz)| mhz as u32))
    }

    /// The rows of a section that begins with their number.
    fn rows(
        &self,
        kind: u32,
        first: usize,
        size: usize,
    ) -> Result<impl Iterator<Item = &[u8]> + use<'_>> {
        let data = self.section(kind).unwrap_or(&[0; 8]);
        let count = if data.len() < first { -1 } else { Fields(data).i32(0) };
        let rows = usize::try_from(count).ok().and_then(|count| {
            Some((count, data.get(first..first.checked_add(count.checked_mul(size)?)?)?))
        });
        match rows {
            Some((_, rows)) => Ok(rows.chunks_exact(size)),
            None => Err(self.short(kind, count)),
        }
    }

    fn short(&self, kind: u32, count: impl std::fmt::Display) -> gramer_base::Error {
        self.wrong(format!(
            "the section {} is damaged: {count} entries don't fit into it",
            describe(kind)
        ))
    }
}

/// The section MEM_TOPOLOGY.
pub fn mem_topology(memories: &[Memory]) -> Vec<u8> {
    let mut bytes = counted(memories.len(), 8);
    for memory in memories {
        let mut row = [0; MEMORY];
        row[0] = memory.kind;
        row[1] = u8::from(memory.used);
        row[8..16].copy_from_slice(&memory.kib.to_le_bytes());
        row[16..24].copy_from_slice(&memory.base.to_le_bytes());
        put_text(&mut row[24..], &memory.tag);
        bytes.extend(row);
    }
    bytes
}

/// The section CONNECTIVITY.
pub fn connectivity(connections: &[Connection]) -> Vec<u8> {
    let mut bytes = counted(connections.len(), 4);
    for c in connections {
        bytes.extend([c.argument, c.instance, c.memory].into_iter().flat_map(i32::to_le_bytes));
    }
    bytes
}

/// The section IP_LAYOUT.
pub fn ip_layout(instances: &[Instance]) -> Vec<u8> {
    let mut bytes = counted(instances.len(), 8);
    for instance in instances {
        let mut row = [0; INSTANCE];
        row[..4].copy_from_slice(&instance.kind.to_le_bytes());
        row[4..8].copy_from_slice(&instance.properties.to_le_bytes());
        row[8..16].copy_from_slice(&instance.base.to_le_bytes());
        put_text(&mut row[16..], &instance.name);
        bytes.extend(row);
    }
    bytes
}

/// A count in its padding.
fn counted(count: usize, bytes: usize) -> Vec<u8> {
    let mut all = (count as i32).to_le_bytes().to_vec();
    all.resize(bytes, 0);
    all
}

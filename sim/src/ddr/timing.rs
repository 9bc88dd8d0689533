//! Timing and faults of the memory.

use gramer_machine::Accelerator;

use crate::dram::Device;

/// Timing and faults of the memory.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Latency in cycles from an accepted address to its beat, if nothing else is in flight and the row is closed.
    pub latency: u64,
    /// The DRAM of each bank; `None`: constant latency.
    pub dram: Option<&'static Device>,
    /// Picoseconds of a cycle.
    pub cycle: u64,
    /// Cycles between two beats of a bank.
    pub cycles_a_beat: u64,
    /// Holds a handshake back in one of this many clocks, at random; 0: never.
    pub back_pressure: u32,
    /// Answers due reads of a port in random order, but in order per id.
    pub reorder: bool,
    /// Access answered with an error, counted over all banks from 0. EXOKAY (illegal for a normal read), SLVERR and
    /// DECERR alternate.
    pub fail_at: Option<u64>,
    /// Access that is never answered: a broken memory, for tests of its detection.
    pub lost_at: Option<u64>,
}

impl Timing {
    /// The memory of a description, without faults.
    pub fn of(a: &Accelerator) -> Self {
        Timing {
            latency: u64::from(a.memory.ddr_latency_cycles),
            dram: Device::of(a.memory.dram),
            cycle: 1_000_000 / u64::from(a.machine.clock_mhz),
            cycles_a_beat: u64::from(a.memory.ddr_cycles_a_beat),
            back_pressure: 0,
            reorder: false,
            fail_at: None,
            lost_at: None,
        }
    }

    /// Cycle in which a line is due whose data leave the DRAM at `end`: what the device doesn't take of the latency is
    /// the way to it and back.
    pub(super) fn due(&self, device: &Device, end: u64) -> u64 {
        let way = (self.latency * self.cycle).saturating_sub(device.closed_read());
        (end + way).div_ceil(self.cycle)
    }
}

//! Positions of arguments and counters.

use crate::{Accelerator, Argument, Counter, Section};

/// First argument of an AXI4-Lite block that Vitis HLS would make.
const FIRST_ARGUMENT: u32 = 0x10;

impl Counter {
    /// The counter's name.
    pub fn name(&self) -> &str {
        match self {
            Counter::One(name) => name,
            Counter::Many(array) => &array.name,
        }
    }

    /// How many values it has: 1, or one for each depth.
    pub fn values(&self, depth: u32) -> u32 {
        match self {
            Counter::Many(array) if array.by_depth => depth,
            _ => 1,
        }
    }
}

/// Position of each counter in its section: name, first value, number of values.
///
/// ```
/// use gramer_machine::{Counter, CounterArray, layout};
///
/// let each = CounterArray { name: "steps".into(), by_depth: true };
/// let counters = [Counter::One("cycles".into()), Counter::Many(each)];
/// assert_eq!(layout::positions(&counters, 4), [("cycles", 0, 1), ("steps", 1, 4)]);
/// assert_eq!(layout::values(&counters, 4), 5);
/// ```
pub fn positions(counters: &[Counter], depth: u32) -> Vec<(&str, u32, u32)> {
    let mut at = 0;
    counters
        .iter()
        .map(|counter| {
            let (first, values) = (at, counter.values(depth));
            at += values;
            (counter.name(), first, values)
        })
        .collect()
}

/// Number of 64-bit values of a section of counters.
pub fn values(counters: &[Counter], depth: u32) -> u32 {
    counters.iter().map(|c| c.values(depth)).sum()
}

/// Arguments with their AXI4-Lite offsets as Vitis HLS places them: a 32-bit scalar takes 8 bytes,
/// a 64-bit one or an address 12.
pub fn offsets(arguments: &[Argument]) -> Vec<(&Argument, u32)> {
    let mut at = FIRST_ARGUMENT;
    arguments
        .iter()
        .map(|argument| {
            let offset = at;
            at += if argument.bits == 32 { 8 } else { 12 };
            (argument, offset)
        })
        .collect()
}

/// What the status `cut` means.
pub const CUT: &str = "the in-stream of the core had no last beat: the kernel gramer_fill has stopped; \
                       reset the device and run again";

impl Accelerator {
    /// The arguments of the core with their AXI4-Lite offsets.
    pub fn offsets(&self) -> Vec<(&Argument, u32)> {
        offsets(&self.arguments)
    }

    /// The AXI4-Lite offset of one argument.
    ///
    /// ```
    /// let paper = gramer_machine::named::named("paper").expect("it is built in")?;
    /// // The first argument of a block that Vitis HLS would make is at 0x10.
    /// let (first, offset) = paper.offsets()[0];
    /// assert_eq!((offset, paper.offset(&first.name)), (0x10, Some(0x10)));
    /// assert_eq!(paper.offset("no_such_argument"), None);
    /// # Ok::<(), gramer_machine::Error>(())
    /// ```
    pub fn offset(&self, name: &str) -> Option<u32> {
        self.offsets().into_iter().find(|(a, _)| a.name == name).map(|(_, offset)| offset)
    }

    /// What it means that a run ended with the status `refused` and this address, which is the offset of
    /// the first argument that the core found out of range.
    pub fn refusal(&self, address: u64) -> String {
        let offset = self.offsets().into_iter().find(|&(_, offset)| u64::from(offset) == address);
        match offset {
            Some((argument, offset)) => format!(
                "the core refused its settings: argument {} (register {offset:#x}) is out of range: {}",
                argument.name, argument.what
            ),
            None => format!(
                "the core refused its settings: what register {address:#x} holds is out of range"
            ),
        }
    }

    /// Bits of an AXI4-Lite address.
    pub fn control_address_bits(&self) -> u32 {
        let end = self.offsets().last().map_or(FIRST_ARGUMENT, |(_, offset)| offset + 12);
        u32::BITS - end.leading_zeros()
    }

    /// Sets of each vertex cache and of each edge cache.
    pub fn cache_sets(&self) -> (u32, u32) {
        let mem = &self.memory;
        let sets = |cache: u32, scratchpad: u32| {
            let bytes = match mem.layout {
                crate::Layout::Locality => cache,
                crate::Layout::Uniform => cache + scratchpad,
            };
            bytes / crate::LINE_BYTES / mem.cache_ways
        };
        (
            sets(mem.vertex_cache_bytes, mem.vertex_scratchpad_bytes),
            sets(mem.edge_cache_bytes, mem.edge_scratchpad_bytes),
        )
    }

    /// Lines that all vertex scratchpads and all edge scratchpads hold; 0 in the uniform layout.
    pub fn scratchpad_lines(&self) -> (u32, u32) {
        if self.memory.layout == crate::Layout::Uniform {
            return (0, 0);
        }
        let lines = |bytes: u32| bytes / crate::LINE_BYTES * self.machine.partitions;
        (lines(self.memory.vertex_scratchpad_bytes), lines(self.memory.edge_scratchpad_bytes))
    }

    /// The sections of the out-stream's counters, in order.
    ///
    /// ```
    /// let mut paper = gramer_machine::named::named("paper").expect("it is built in")?;
    /// assert_eq!(paper.sections()[1].units, paper.machine.processing_units);
    /// paper.machine.performance_counters = false;
    /// assert!(paper.sections()[1].counters.is_empty() && !paper.sections()[3].counters.is_empty());
    /// # Ok::<(), gramer_machine::Error>(())
    /// ```
    pub fn sections(&self) -> [Section<'_>; 4] {
        let (c, m) = (&self.counters, &self.machine);
        let counted = |list| if m.performance_counters { list } else { &[][..] };
        [
            Section { name: "core", counters: &c.core, units: 1 },
            Section { name: "pu", counters: counted(&c.pu), units: m.processing_units },
            Section { name: "partition", counters: counted(&c.partition), units: m.partitions },
            Section { name: "bank", counters: &c.bank, units: self.core_ports() },
        ]
    }

    /// 64-bit values of all sections together.
    pub fn counter_values(&self) -> u32 {
        let depth = self.machine.depth;
        self.sections().iter().map(|s| values(s.counters, depth) * s.units).sum()
    }
}

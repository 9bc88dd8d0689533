//! One device: its kernels, its part of the graph, and the constants of a pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use gramer_base::error::{Error, Result};
use gramer_machine::Accelerator;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as Cl;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::program::Program;

use super::compute_unit::ComputeUnit;
use super::pass::Pass;
use super::places::{CORE, DRAIN, FILL, Places};
use super::stop::UNKNOWN;
use super::transfer::{TransferTotals, buffer, failed, queue, write};
use crate::image::{DeviceImage, LINE};
use crate::runtime;
use crate::settings::Settings;
use crate::stream::Area;
use crate::xclbin::Xclbin;

/// One device. Fields are dropped in this order: what belongs to a context before it.
pub(super) struct Card {
    pub(super) name: String,
    /// Among the runtime's devices.
    pub(super) index: usize,
    pub(super) units: Vec<ComputeUnit>,
    pub(super) graph: Vec<Buffer<u8>>,
    pub(super) head: Option<Buffer<u8>>,
    pub(super) queue: CommandQueue,
    pub(super) places: Arc<Places>,
    pub(super) _program: Program,
    pub(super) context: Cl,
    pub(super) moved: TransferTotals,
}

impl Card {
    pub(super) fn open(
        xclbin: &Xclbin,
        bytes: &[u8],
        machine: &Accelerator,
        places: &Arc<Places>,
        shown: &str,
        index: usize,
    ) -> Result<Self> {
        let handle = runtime::open(index)?;
        let name = format!("{shown}@{index} ({})", handle.found.name);
        let (device, target) = (&handle.found.name, &xclbin.platform);
        if xclbin.mode.is_emulation() != handle.found.emulated
            || handle.found.emulated && !device.is_empty() && device != target
        {
            let kind = if handle.found.emulated { "an emulation" } else { "a card" };
            return Err(Error::Device(format!(
                "{}: it is for {target} ({}), but the device {device} is {kind}; build it for that \
                 platform, or choose another device",
                xclbin.path.display(),
                xclbin.mode
            )));
        }
        let refused = |what: &str, code: i32| failed(&name, what, code);
        let device = handle.device;
        let context = Cl::from_device(&device).map_err(|e| refused("making a context", e.0))?;
        // SAFETY: the device is the context's. What the file has the device do is up to the user, who names it.
        let program = unsafe { Program::create_from_binary(&context, &[device.id()], &[bytes]) };
        let mut program = program.map_err(|e| refused("programming the device", e.0))?;
        program.build(&[device.id()], "").map_err(|e| refused("programming the device", e.0))?;
        let mut units = vec![];
        for unit in 1..=machine.kernels.compute_units {
            let kernel = |of: &gramer_machine::kernels::Kernel| {
                let instance = format!("{0}:{{{0}_{unit}}}", of.name);
                Kernel::create(&program, &instance)
                    .map_err(|e| refused(&format!("opening the kernel {instance}"), e.0))
            };
            let k = &machine.kernels;
            let queue = || queue(&context, &device, &name);
            let transfer = queue()?;
            let buffer = |kernel, argument: &str, bytes| {
                let memory = places.memory_of(kernel, unit - 1, argument)?;
                buffer(&context, &transfer, &name, bytes, memory, places)
            };
            let of_unit = (
                buffer(FILL, "units", LINE as u64)?,
                buffer(DRAIN, "result", LINE as u64)?,
                buffer(CORE, "abort", LINE as u64)?,
            );
            units.push(ComputeUnit {
                kernels: [kernel(&k.drain)?, kernel(&k.core)?, kernel(&k.fill)?],
                queues: [queue()?, queue()?, queue()?],
                transfer,
                control: queue()?,
                units: of_unit.0,
                result: of_unit.1,
                abort: of_unit.2,
                told: UNKNOWN,
                room: (LINE as u64, LINE as u64),
                slots: vec![],
                cycles: 0,
                retries: 0,
                by_pu: BTreeMap::new(),
                moved: TransferTotals::default(),
                on_chip: None,
            });
        }
        Ok(Card {
            units,
            graph: vec![],
            head: None,
            queue: queue(&context, &device, &name)?,
            places: places.clone(),
            _program: program,
            context,
            moved: TransferTotals::default(),
            name,
            index,
        })
    }

    pub(super) fn buffer(&self, bytes: u64, memory: u32) -> Result<Buffer<u8>> {
        buffer(&self.context, &self.queue, &self.name, bytes, memory, &self.places)
    }

    /// Writes the head and sets every argument that stays the same during a pass.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn prepare(
        &mut self,
        machine: &Accelerator,
        pass: &Pass,
        settings: &Settings,
        image: &DeviceImage<'_>,
        bounds: (u64, u64),
        head: &[u8],
        area: &Area,
    ) -> Result<()> {
        self.head = None; // before the next one needs its memory
        let memory = self.places.memory(FILL, "head")?;
        let mut buffer = self.buffer(head.len() as u64, memory)?;
        let (vertex_sets, edge_sets) = machine.cache_sets();
        for unit in &mut self.units {
            unit.reserve_result(area, machine, &self.name, &self.context, &self.places)?;
            unit.set(&self.places, FILL, "head", &buffer.get(), &self.name)?;
            let beats = (head.len() / LINE) as u32;
            unit.set(&self.places, FILL, "head_beats", &beats, &self.name)?;
            unit.set(&self.places, FILL, "units_first", &0u32, &self.name)?;
            for argument in &machine.arguments {
                let value = match argument.name.as_str() {
                    "application" => pass.application.into(),
                    "k" => pass.k.into(),
                    "flags" => settings.flags(pass.list, pass.filter.is_some(), pass.select).into(),
                    "slots" => settings.slots.unwrap_or(machine.machine.slots).into(),
                    "lambda_eighths" => settings.lambda_eighths().into(),
                    "vertex_bound" => bounds.0,
                    "edge_bound" => bounds.1,
                    "vertex_sets" => settings.sets(vertex_sets).into(),
                    "edge_sets" => settings.sets(edge_sets).into(),
                    "result_beats" => area.records.into(),
                    "edge_base" => image.edge_base(),
                    "abort" => {
                        let abort = unit.abort.get();
                        unit.set(&self.places, CORE, "abort", &abort, &self.name)?;
                        continue;
                    }
                    bank => {
                        let at = bank.strip_prefix("bank").and_then(|b| b.parse::<usize>().ok());
                        let buffer = at.and_then(|b| self.graph.get(b)).ok_or_else(|| {
                            Error::Device(format!(
                                "{}: this program doesn't know the core's argument `{bank}`; \
                                 build the xclbin again with this version",
                                self.name
                            ))
                        })?;
                        unit.set(&self.places, CORE, bank, &buffer.get(), &self.name)?;
                        continue;
                    }
                };
                unit.set_scalar(&self.places, CORE, argument, value, &self.name)?;
            }
        }
        let written = write(&self.queue, &mut buffer, 0, head, &mut self.moved);
        written.map_err(|e| failed(&self.name, "writing the scratchpads' contents", e))?;
        self.head = Some(buffer);
        Ok(())
    }
}

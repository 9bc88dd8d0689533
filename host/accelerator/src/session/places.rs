//! Positions of the kernels' arguments, and the memories of buffers.

use std::collections::BTreeMap;
use std::sync::Arc;

use gramer_base::error::{Error, Result};
use gramer_machine::Accelerator;

use crate::xclbin::Xclbin;
use crate::xclbin::metadata::{ArgumentKind, Kernel as Described};

/// The kernels in the order in which they are started, and in
/// [`ComputeUnit::kernels`](super::compute_unit::ComputeUnit).
pub(super) const DRAIN: usize = 0;
pub(super) const CORE: usize = 1;
pub(super) const FILL: usize = 2;

/// The memory of each buffer argument and the position of each argument, by kernel.
pub(super) struct Places {
    /// By compute unit too: they may be connected to different ones.
    pub(super) memories: BTreeMap<(usize, u32, String), u32>,
    pub(super) positions: BTreeMap<(usize, String), u32>,
    /// Bytes of each memory.
    pub(super) bytes: Vec<u64>,
}

impl Places {
    pub(super) fn of(xclbin: &Xclbin, machine: &Accelerator) -> Result<Arc<Self>> {
        let (metadata, memories) = (xclbin.metadata()?, xclbin.memories()?);
        let (instances, connections) = (xclbin.instances()?, xclbin.connections()?);
        let mut places = Places {
            memories: BTreeMap::new(),
            positions: BTreeMap::new(),
            bytes: memories.iter().map(|m| m.kib.saturating_mul(1024)).collect(),
        };
        let kernels = &machine.kernels;
        for (at, kernel) in [(DRAIN, &kernels.drain), (CORE, &kernels.core), (FILL, &kernels.fill)]
        {
            let described: &Described = metadata.kernel(&kernel.name).ok_or_else(|| {
                xclbin.wrong(format!("it has no kernel {}: it is of another design", kernel.name))
            })?;
            for unit in 1..=kernels.compute_units {
                let instance = format!("{}_{unit}", kernel.name);
                if !described.instances.contains(&instance) {
                    return Err(xclbin.wrong(format!("it has no instance {instance}")));
                }
            }
            for argument in machine.arguments_of(kernel) {
                let name = &argument.name;
                let wrong = || {
                    xclbin.wrong(format!(
                        "the kernel {} has no argument {name} as its machine describes it",
                        kernel.name
                    ))
                };
                let found = described.arguments.iter().find(|a| &a.name == name);
                let found = found.ok_or_else(wrong)?;
                let position = found.id.ok_or_else(wrong)?;
                places.positions.insert((at, name.clone()), position);
                if argument.bank.is_none() {
                    continue;
                }
                if found.passed != ArgumentKind::Buffer {
                    return Err(wrong());
                }
                for unit in 0..kernels.compute_units {
                    let instance = format!("{0}:{0}_{1}", kernel.name, unit + 1);
                    let memory = connections.iter().find(|c| {
                        let of = usize::try_from(c.instance).ok().and_then(|i| instances.get(i));
                        of.is_some_and(|i| i.name == instance)
                            && u32::try_from(c.argument) == Ok(position)
                    });
                    let memory =
                        memory.and_then(|c| u32::try_from(c.memory).ok()).ok_or_else(|| {
                            xclbin.wrong(format!(
                                "the argument {name} of the kernel {} is connected to no memory",
                                kernel.name
                            ))
                        })?;
                    places.memories.insert((at, unit, name.clone()), memory);
                }
            }
        }
        Ok(Arc::new(places))
    }

    /// The memory of a buffer argument where all compute units have one.
    pub(super) fn memory(&self, kernel: usize, argument: &str) -> Result<u32> {
        self.memory_of(kernel, 0, argument)
    }

    /// The memory of a buffer argument of a compute unit.
    pub(super) fn memory_of(&self, kernel: usize, unit: u32, argument: &str) -> Result<u32> {
        self.memories.get(&(kernel, unit, argument.to_string())).copied().ok_or_else(|| {
            Error::Device(format!("the machine has no buffer argument `{argument}`"))
        })
    }
}

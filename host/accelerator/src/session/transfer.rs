//! Queues and buffers of a device, and transfers with their messages.

use std::time::{Duration, Instant};

use gramer_base::error::{Error, Result};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as Cl;
use opencl3::device::Device;
use opencl3::error_codes::ClError;
use opencl3::memory::{Buffer, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED as UNDEFINED, ClMem};
use opencl3::types::CL_BLOCKING;

use super::places::Places;
use crate::image::LINE;
use crate::runtime::text;
use crate::xilinx;

/// Bytes transferred in both directions, and the time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TransferTotals {
    pub(super) written: u64,
    pub(super) read: u64,
    pub(super) transfer: Duration,
    pub(super) kernels: Duration,
}

pub(super) fn queue(context: &Cl, device: &Device, name: &str) -> Result<CommandQueue> {
    // SAFETY: the device is the context's. The older call is the one that the Xilinx Runtime
    // implements; the newer one ends in a crash there.
    unsafe { CommandQueue::create(context, device.id(), 0) }
        .map_err(|e| failed(name, "making a queue", e.0))
}

/// A buffer in a memory of the device, of one line at least: OpenCL has no buffer of 0 bytes, and a graph
/// without edges has an empty image. It is put there at once: otherwise the runtime would keep what is written
/// in the host's memory, and move it when a kernel starts.
pub(super) fn buffer(
    context: &Cl,
    queue: &CommandQueue,
    name: &str,
    bytes: u64,
    memory: u32,
    places: &Places,
) -> Result<Buffer<u8>> {
    let bytes = bytes.max(LINE as u64);
    let made = xilinx::buffer(context, bytes, memory).and_then(|buffer| {
        let handle = buffer.get();
        // SAFETY: the array has the one buffer that is announced, and is read before the call returns.
        let moved = unsafe { queue.enqueue_migrate_mem_object(1, &handle, UNDEFINED, &[]) };
        moved.and_then(|event| event.wait()).map_err(|e| e.0)?;
        Ok(buffer)
    });
    made.map_err(|code| {
        let all = places.bytes.get(memory as usize).copied().unwrap_or(0);
        Error::Device(format!(
            "{name}: a buffer of {} does not fit memory bank {memory}, which has {} in all: \
             {}; the engine `cpu` needs none",
            size(bytes),
            size(all),
            text(code)
        ))
    })
}

pub(super) fn failed(name: &str, what: &str, code: i32) -> Error {
    Error::Device(format!("{name}: {what} failed: {}", text(code)))
}

pub(super) fn write(
    queue: &CommandQueue,
    buffer: &mut Buffer<u8>,
    offset: usize,
    data: &[u8],
    moved: &mut TransferTotals,
) -> Result<(), i32> {
    // OpenCL refuses transfers of 0 bytes.
    if data.is_empty() {
        return Ok(());
    }
    // SAFETY: the call returns when `data` has been taken; OpenCL refuses a range beyond the buffer.
    let write = || unsafe { queue.enqueue_write_buffer(buffer, CL_BLOCKING, offset, data, &[]) };
    timed(&mut moved.transfer, write)?;
    moved.written += data.len() as u64;
    Ok(())
}

/// Adds the time that a transfer takes, if it succeeds.
pub(super) fn timed<T>(
    transfer: &mut Duration,
    call: impl FnOnce() -> Result<T, ClError>,
) -> Result<(), i32> {
    let begun = Instant::now();
    call().map_err(|e| e.0)?;
    *transfer += begun.elapsed();
    Ok(())
}

pub(super) fn read(
    queue: &CommandQueue,
    buffer: &Buffer<u8>,
    offset: usize,
    data: &mut [u8],
    moved: &mut TransferTotals,
) -> Result<(), i32> {
    let bytes = data.len() as u64;
    // SAFETY: the call returns when `data` is filled; OpenCL refuses a range beyond the buffer.
    let read = || unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, offset, data, &[]) };
    timed(&mut moved.transfer, read)?;
    moved.read += bytes;
    Ok(())
}

/// Bytes for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

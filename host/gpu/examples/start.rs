//! The least that a process with OpenCL takes on this system: a platform, the first GPU (or device), a context, a queue and
//! a write of four bytes. `scripts/measure.py start` runs it beside a whole mining process.
//!
//! usage: start
//!
//! Prints the milliseconds of each step.

use std::process::ExitCode;
use std::time::Instant;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU, Device};
use opencl3::error_codes::ClError;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::types::{CL_BLOCKING, cl_uint};

/// The steps and the milliseconds of each; `None` if there is no device.
fn steps() -> Result<Option<Vec<(&'static str, f64)>>, ClError> {
    let mut taken = vec![];
    let mut last = Instant::now();
    let mut step = |name| {
        let now = Instant::now();
        taken.push((name, (now - std::mem::replace(&mut last, now)).as_secs_f64() * 1e3));
    };
    let platforms = get_platforms()?;
    step("platforms");
    let of = |kind| platforms.iter().find_map(|p| p.get_devices(kind).ok()?.first().copied());
    let Some(id) = of(CL_DEVICE_TYPE_GPU).or_else(|| of(CL_DEVICE_TYPE_ALL)) else {
        return Ok(None);
    };
    step("devices");
    let context = Context::from_device(&Device::new(id))?;
    step("context");
    // SAFETY: the device is the context's.
    let queue = unsafe { CommandQueue::create(&context, id, 0)? };
    step("queue");
    // SAFETY: a buffer of one number, into which one number is written before the call returns.
    unsafe {
        let mut buffer =
            Buffer::<cl_uint>::create(&context, CL_MEM_READ_WRITE, 1, std::ptr::null_mut())?;
        queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &[7], &[])?;
    }
    step("write");
    Ok(Some(taken))
}

fn main() -> ExitCode {
    match steps() {
        Ok(Some(taken)) => {
            let line: Vec<String> =
                taken.iter().map(|(name, ms)| format!("{name} {ms:.1}")).collect();
            println!("{} ms", line.join(", "));
            ExitCode::SUCCESS
        }
        Ok(None) => {
            eprintln!("start: OpenCL offers no device here");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("start: {error}");
            ExitCode::FAILURE
        }
    }
}

//! Codes of OpenCL as errors with a remedy.

use gramer_base::error::Error;
use opencl3::error_codes::{ClError, error_text};

/// Codes that mean that the device has no room.
pub(crate) const NO_ROOM: [i32; 4] = [-4, -5, -6, -61];

/// A refusal of the runtime while it did `what`, such as `build the program local`.
pub(crate) fn failed(device: &str, what: &str, code: i32) -> Error {
    let remedy = match code {
        code if NO_ROOM.contains(&code) => {
            "the device is out of memory: end other programs on it, or lower the setting `memory`"
        }
        -9999 | -36 | -14 => {
            "the device was lost: look at the system's log, and run `gramer selftest` on it"
        }
        -11 => "the driver refuses a kernel: update it, or use the engine `cpu`",
        -45 | -46 | -48 => "a kernel is missing in the cached program: empty the cache folder",
        _ => "run `gramer selftest` with this device; the engine `cpu` works without it",
    };
    Error::Device(format!("{device}: cannot {what}: {} ({code}); {remedy}", error_text(code)))
}

/// Converts an error of opencl3.
pub(crate) fn refused(device: &str, what: &str) -> impl Fn(ClError) -> Error {
    move |e| failed(device, what, e.0)
}

//! The Xilinx Runtime sleeps for seconds when it loads an emulated device and when it leaves it,
//! where nothing has to be waited for so long. A worker of `gramer` with an emulated device loads this library
//! before the others (`LD_PRELOAD`); nothing that talks to a card does.

use std::ffi::c_uint;
use std::time::Duration;

/// Replaces the C library's `sleep`: a millisecond, so that loops around it still give way.
#[unsafe(no_mangle)]
pub extern "C" fn sleep(_seconds: c_uint) -> c_uint {
    std::thread::sleep(Duration::from_millis(1));
    0
}

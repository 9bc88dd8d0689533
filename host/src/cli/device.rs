//! The engine that `--device` names.

use crate::engine::Engine;
use crate::engine::cpu::Cpu;
use crate::engine::opencl::settings::Settings;
use crate::engine::opencl::{self, Accelerator};
use crate::engine::reference::Reference;
use crate::error::{Error, Result};

/// The engine that `--device` names.
///
/// # Errors
/// [`Error::Usage`] for a name that isn't known, and what opening the device refuses.
pub fn engine(device: &str, settings: &Settings) -> Result<Box<dyn Engine>> {
    if opencl::is_xclbin(device) {
        return Ok(Box::new(Accelerator::open(device, settings.clone())?));
    }
    if *settings != Settings::default() {
        return Err(Error::usage(format!(
            "the options of the accelerator don't go with the device {device:?}"
        )));
    }
    match device {
        "cpu" => Ok(Box::new(Cpu)),
        "reference" => Ok(Box::new(Reference::default())),
        other => Err(Error::usage(format!(
            "no device is called {other:?}: use cpu, reference, or FILE.xclbin[@INDEX] \
             (`gramer devices` shows what there is)"
        ))),
    }
}

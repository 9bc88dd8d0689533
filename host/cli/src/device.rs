//! The engine that `--device` names.

use std::process::exit;

use gramer_accelerator::launch;
use gramer_accelerator::settings::Settings;
use gramer_accelerator::standard_output;
use gramer_accelerator::{self, Accelerator};
use gramer_engine::Engine;
use gramer_engine::cpu::Cpu;
use gramer_engine::reference::Reference;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};

/// The engine that `--device` names. For an emulation, the command runs once more in a process of
/// its own, and this one ends with it.
///
/// # Errors
/// [`Error::Usage`] for a name that isn't known, and what opening the device refuses.
pub fn engine(device: &str, settings: &Settings, context: &Context) -> Result<Box<dyn Engine>> {
    if let Some(accelerator) = accelerator(device, settings, context)? {
        return Ok(Box::new(accelerator));
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
            "no device is called {other:?}: use cpu, reference, emulator[:MACHINE], or \
             FILE.xclbin[@INDEX] (`gramer devices` shows what there is)"
        ))),
    }
}

/// The accelerator that `--device` names, if it names one; as [`engine`].
///
/// # Errors
/// As [`engine`].
pub fn accelerator(
    device: &str,
    settings: &Settings,
    context: &Context,
) -> Result<Option<Accelerator>> {
    let file = match launch::parse(device) {
        Some(request) => match launch::xclbin_of_child() {
            Some(file) => file,
            None => {
                let code = launch::run(&request, &context.cancel)?;
                exit(code.into())
            }
        },
        None if gramer_accelerator::is_xclbin(device) => device.to_string(),
        None => return Ok(None),
    };
    // The runtime's own lines must not get among the results.
    standard_output::keep_for_results()?;
    Accelerator::open(&file, device, settings.clone()).map(Some)
}

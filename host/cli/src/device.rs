//! The engine that `--device` names.

use crate::report::BuildMeter;
use std::process::exit;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::signals;
use gramer_accelerator::launch;
use gramer_accelerator::settings::Settings;
use gramer_accelerator::xclbin::Xclbin;
use gramer_accelerator::{self, Accelerator};
use gramer_engine::Engine;
use gramer_engine::cpu::Cpu;
use gramer_engine::reference::Reference;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::standard_output;

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
    let file = match launch::parse(device)? {
        Some(request) => match launch::xclbin_of_child() {
            Some(file) => file,
            None => {
                let code = launch::run(&request, Some(BuildMeter::show), &context.cancel)?;
                // What it was stopped by is known here.
                let stopped = context.cancel.is_cancelled() && code > 128;
                exit(if stopped { signals::exit_code() } else { code }.into())
            }
        },
        None if gramer_accelerator::is_xclbin(device) => device.to_string(),
        None => return Ok(None),
    };
    // The runtime's own lines must not get among the results.
    standard_output::keep_for_results()?;
    launch::opens(false);
    let accelerator = open(&file, device, settings, context)?;
    launch::opens(true);
    Ok(Some(accelerator))
}

/// Opens the device in a thread of its own: the runtime waits for ever for an emulated one that
/// doesn't come up, and it doesn't hear of Ctrl-C.
fn open(file: &str, device: &str, settings: &Settings, context: &Context) -> Result<Accelerator> {
    let (path, _) = gramer_accelerator::parse(file)?;
    let emulated = Xclbin::read(&path)?.mode.is_emulation();
    let limit = launch::starts_within();
    let (send, receive) = mpsc::channel();
    let (file, name, settings) = (file.to_string(), device.to_string(), settings.clone());
    let thread = std::thread::spawn(move || {
        // Nobody hears of it if it comes too late.
        let _ = send.send(Accelerator::open(&file, &name, settings));
    });
    let begun = Instant::now();
    loop {
        match receive.recv_timeout(Duration::from_millis(10)) {
            Ok(opened) => return opened,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("it sends before it ends"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        let late = emulated && begun.elapsed() > limit;
        if late || context.cancel.is_cancelled() {
            super::LEAVE_AT_ONCE.store(true, Ordering::Relaxed);
            context.cancel.check()?;
            return Err(Error::Device(format!(
                "{device}: the emulated device did not come up within {} s: the program in the \
                 BITSTREAM of {} doesn't answer the Xilinx Runtime",
                limit.as_secs(),
                path.display()
            )));
        }
    }
}

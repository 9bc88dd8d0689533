//! The accelerator: behind an xclbin, or emulated.

use std::any::Any;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use gramer_accelerator::emulated::{EmulatedDevice, Options};
use gramer_accelerator::launch::{self, Request};
use gramer_accelerator::session::MemorySpeed;
use gramer_accelerator::settings::{Settings, TABLE};
use gramer_accelerator::xclbin::Xclbin;
use gramer_accelerator::{self, Accelerator};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result, shown};
use gramer_base::parallel::start;
use gramer_base::standard_output;
use gramer_crew::Crew;
use gramer_crew::order::named;
use gramer_engine::Engine;
use gramer_engine::setting::Setting;

use super::{DeviceOptions, Kind, OpenRequest};
use crate::log;
use crate::program::print_note;
use crate::report::BuildMeter;

/// The accelerator among the devices.
pub const KIND: Kind = Kind {
    shown: &["emulator[:MACHINE]", "FILE.xclbin[@INDEX]"],
    example: "emulator",
    what: "the accelerator: simulated behind the Xilinx Runtime, or on a card that the file programs",
    named: |device| {
        device == "emulator"
            || device.starts_with("emulator:")
            || gramer_accelerator::is_xclbin(device)
    },
    options: &[],
    settings: || TABLE.iter().map(Setting::described).collect(),
    check: |options, task, listed| settings(options)?.check_effect(task, listed),
    kit: |device, options| {
        let (machine, settings) = (gramer_accelerator::machine_of(device)?, settings(options)?);
        Ok(Box::new(move |ask| gramer_accelerator::choose_on(&machine, &settings, ask)))
    },
    open,
};

/// The settings that options ask for.
fn settings(options: &DeviceOptions) -> Result<Settings> {
    let mut settings = Settings::default();
    Setting::apply(TABLE, &mut settings, options.given())?;
    Ok(settings)
}

/// Returns the file behind a device: an xclbin, or the description of an emulated machine.
pub fn file(device: &str) -> Option<PathBuf> {
    if let Some(machine) = device.strip_prefix("emulator:") {
        return Some(machine.strip_suffix(":functional").unwrap_or(machine).into());
    }
    if !gramer_accelerator::is_xclbin(device) {
        return None;
    }
    gramer_accelerator::parse(device).ok().map(|(file, _)| file)
}

/// Opens the accelerator: an emulated one in a worker.
fn open(
    device: &str,
    opening: OpenRequest,
    options: &DeviceOptions,
    context: &Context,
) -> Result<Box<dyn Engine>> {
    let settings = settings(options)?;
    let Some(request) = launch::parse(device)? else {
        return opened(device, device, &settings, context);
    };
    if let Request::File { path, .. } = request {
        // Its simulator is a program by the author of the file.
        print_note(&format!(
            "{} contains a program that emulates the device and runs with your rights: use only \
             files that you trust",
            shown(&path)
        ));
    }
    let own = std::env::current_exe().map_err(|e| Error::io("<self>", "find", e))?;
    let emulated = EmulatedDevice::with_helper(device, settings, own)?.with_options(Options {
        build: Some(BuildMeter::show),
        lines: Some(print_line),
        environment: vec![(log::VARIABLE, log::level().into())],
        timeline: opening.page,
    });
    emulated.start(&context.cancel)?;
    Ok(Box::new(emulated))
}

/// Prints a line of a worker: what it says itself, and what its libraries print where a log is wanted.
fn print_line(line: &str) {
    let own = line.starts_with("note: ") || line.starts_with("gramer: warning: ");
    if own || log::level() != "off" {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

/// Opens a device that a file programs.
pub fn opened(
    file: &str,
    device: &str,
    settings: &Settings,
    context: &Context,
) -> Result<Box<dyn Engine>> {
    // The runtime's own lines must not get among the results.
    standard_output::keep_for_results()?;
    Ok(Box::new(in_time(file, device, settings, context)?))
}

/// Writes and reads about `bytes` bytes in each memory bank of an accelerator, or of those among several devices; see
/// [`Accelerator::memories`].
///
/// # Errors
/// Those of [`Accelerator::memories`], with the name of the device among several.
pub fn memories(engine: &dyn Engine, bytes: u64, context: &Context) -> Result<Vec<MemorySpeed>> {
    let any: &dyn Any = engine;
    if let Some(accelerator) = any.downcast_ref::<Accelerator>() {
        return accelerator.memories(bytes, context);
    }
    if let Some(emulated) = any.downcast_ref::<EmulatedDevice>() {
        return emulated.memories(bytes, context);
    }
    let Some(crew) = any.downcast_ref::<Crew>() else { return Ok(vec![]) };
    let mut all = vec![];
    for (name, device) in crew.devices() {
        all.extend(memories(device, bytes, context).map_err(|error| named(name, error))?);
    }
    Ok(all)
}

/// Opens the device in its own thread: the runtime waits for ever for an emulated device that doesn't come up, and
/// ignores Ctrl-C.
fn in_time(
    file: &str,
    device: &str,
    settings: &Settings,
    context: &Context,
) -> Result<Accelerator> {
    let (path, _) = gramer_accelerator::parse(file)?;
    let emulated = Xclbin::read(&path)?.mode.is_emulation();
    let limit = launch::starts_within();
    let (send, receive) = mpsc::channel();
    let (file, name, settings) = (file.to_string(), device.to_string(), settings.clone());
    let thread = start("that opens the device", move || {
        // A late message is not delivered.
        let _ = send.send(Accelerator::open(&file, &name, settings));
    })?;
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
            crate::LEAVE_AT_ONCE.store(true, Ordering::Relaxed);
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

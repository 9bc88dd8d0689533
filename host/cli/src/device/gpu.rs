//! GPUs and other OpenCL devices.

use std::sync::atomic::Ordering;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::output::check_new;
use gramer_base::standard_output;
use gramer_engine::Engine;
use gramer_engine::setting::Setting;
use gramer_gpu::settings::TABLE;
use gramer_gpu::{Gpu, Settings, default_cache, is_gpu};

use super::cpu::check_spill;
use super::{DeviceOptions, Kind, OpenRequest};

/// GPUs among the devices.
pub const KIND: Kind = Kind {
    shown: &["gpu[:INDEX|:NAME|:portable]"],
    example: "gpu",
    what: "a GPU through OpenCL, by index or by a part of its name; `portable` is the processor \
           behind OpenCL",
    named: is_gpu,
    options: &["memory", "spill", "strategy", "profile"],
    settings: || TABLE.iter().map(Setting::described).collect(),
    check: |options, task, listed| {
        let settings = settings(options)?;
        settings.check_room(task, &given(options))?;
        settings.check_effect(task, listed)
    },
    kit: |_, options| {
        let settings = settings(options)?;
        Ok(Box::new(move |ask| settings.choose(ask)))
    },
    open,
};

/// Settings of a GPU, except those that depend on how it is opened.
///
/// # Errors
/// [`Error::Usage`] for settings without effect next to the others.
fn settings(options: &DeviceOptions) -> Result<Settings> {
    let mut settings = Settings {
        memory: options.memory,
        strategy: options.strategy,
        profile: options.profile.clone(),
        ..Settings::default()
    };
    settings.table.spill = options.spill.clone();
    Setting::apply(TABLE, &mut settings, options.given())?;
    settings.check_together(&given(options))?;
    check_spill(options.spill.as_deref())?;
    Ok(settings)
}

/// Names of the settings that were given.
fn given(options: &DeviceOptions) -> Vec<&str> {
    let names = options.given().map(|(name, _)| name);
    names.chain(options.spill.is_some().then_some("spill")).collect()
}

fn open(
    device: &str,
    opening: OpenRequest,
    options: &DeviceOptions,
    _context: &Context,
) -> Result<Box<dyn Engine>> {
    let settings = settings(options)?;
    // Drivers may print their own lines, which must not get among the results.
    standard_output::keep_for_results()?;
    let profile = &options.profile;
    if profile.is_some() && opening.all > 1 {
        return Err(Error::usage(
            "--profile is the trace of one device: name one alone, or leave it out",
        ));
    }
    if let Some(path) = profile {
        // No --force for a trace: what is there stays.
        check_new(path, &[])?;
    }
    let cache = default_cache();
    let sharing = opening.same as u64;
    let settings = Settings { cache, sharing, stays_open: true, ..settings };
    gramer_gpu::when_late(crate::leave);
    // Its library would close the device on the way out.
    crate::LEAVE_AT_ONCE.store(true, Ordering::Relaxed);
    Ok(Box::new(Gpu::open(device, &settings)?))
}

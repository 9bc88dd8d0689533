//! What every run on a device measures of it, whatever the strategy.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_graph::error::Result;

use super::Gpu;
use crate::calls;
use crate::device::Device;

/// What was counted before a run.
pub(crate) struct Before {
    launches: u64,
    begun: Instant,
    /// Donations of the strategy `wide`.
    pub donations: u64,
}

impl Before {
    pub fn of(device: &Device) -> Self {
        let work = &device.work;
        Before {
            launches: work.launches.load(Relaxed),
            begun: Instant::now(),
            donations: work.donations.load(Relaxed),
        }
    }

    /// What people see first: time, launches, bytes over the bus, memory.
    pub fn headlines(&self, gpu: &Gpu, device: &Device) -> DeviceMetrics {
        let mut metrics = DeviceMetrics::of(&gpu.found.name);
        metrics.headline("run.time", "s", Value::time(self.begun.elapsed()));
        let launches = device.work.launches.load(Relaxed) - self.launches;
        metrics.headline("run.launches", "", Value::Count(launches));
        let (written, read) = device.budget.moved();
        metrics.headline("bus.written", "bytes", Value::Count(written));
        metrics.headline("bus.read", "bytes", Value::Count(read));
        metrics.headline("memory.peak", "bytes", Value::Setting(device.budget.peak()));
        metrics
    }
}

/// Adds the driver, and the times of kernels and transfers if they are asked for; their trace is written.
///
/// # Errors
/// [`gramer_graph::Error::Io`] where the trace can't be written.
pub(crate) fn details(gpu: &Gpu, device: &Device, metrics: &mut DeviceMetrics) -> Result<()> {
    if let Some(spans) = device.calls.take() {
        for (name, (time, calls)) in calls::totals(&spans) {
            metrics.detail(format!("profile.{name}.time"), "s", Value::time(time));
            metrics.detail(format!("profile.{name}.calls"), "", Value::Count(calls));
        }
        if let Some(path) = &gpu.settings.profile {
            // Of several runs the last one stays.
            let own = gpu.traced.load(Relaxed);
            calls::write_trace(path, own, &gpu.found.name, &spans)?;
            gpu.traced.store(true, Relaxed);
        }
    }
    metrics.detail("device.driver", "", Value::Text(gpu.found.driver.clone()));
    Ok(())
}

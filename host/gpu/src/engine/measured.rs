//! Metrics that every strategy measures.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use gramer_base::error::Result;
use gramer_engine::metrics::{DeviceMetrics, Value};

use super::Gpu;
use crate::calls;
use crate::device::Device;

/// Counters before a run.
pub(crate) struct Baseline {
    launches: u64,
    begun: Instant,
    /// Donations of the strategy `wide`.
    pub donations: u64,
}

impl Baseline {
    pub fn of(device: &Device) -> Self {
        let work = &device.work;
        Baseline {
            launches: work.launches.load(Relaxed),
            begun: Instant::now(),
            donations: work.donations.load(Relaxed),
        }
    }

    /// Headline metrics: time, launches, bytes over the bus, memory.
    pub fn headlines(&self, gpu: &Gpu, device: &Device) -> DeviceMetrics {
        let mut metrics = DeviceMetrics::of(&gpu.found().name);
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

/// Adds the driver, and the times of kernels and transfers if they are requested; their trace is written.
///
/// # Errors
/// [`gramer_base::Error::Io`] where the trace can't be written.
pub(crate) fn details(gpu: &Gpu, device: &Device, metrics: &mut DeviceMetrics) -> Result<()> {
    if let Some(spans) = device.calls.take() {
        for (name, (time, calls)) in calls::totals(&spans) {
            metrics.detail(format!("profile.{name}.time"), "s", Value::time(time));
            metrics.detail(format!("profile.{name}.calls"), "", Value::Count(calls));
        }
        if let Some(path) = &gpu.settings().profile {
            // Of several runs the last one stays.
            let traced = &gpu.shared.traced;
            calls::write_trace(path, traced.load(Relaxed), &gpu.found().name, &spans)?;
            traced.store(true, Relaxed);
        }
    }
    metrics.detail("device.driver", "", Value::Text(gpu.found().driver.clone()));
    Ok(())
}

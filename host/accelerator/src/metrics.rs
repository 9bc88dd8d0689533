//! What the accelerator measures of itself during a task.
//!
//! | section | metrics |
//! |---|---|
//! | `device` | the machine and its clock, compute units |
//! | `run` | runs of the kernels, and their cycles |
//! | `vertex`, `edge` | accesses to the two on-chip memories, and what became of them |
//! | `transfer` | data to and from the devices, and how long the host built what a set core is sent |
//! | the core's | each counter of `accelerator.yaml` under its own section and name |
//! | `pu_time` | what the PUs did: shares of their cycles, over all PUs and runs |

use std::collections::BTreeMap;
use std::time::Duration;

use gramer_engine::DeviceMetrics;
use gramer_engine::metrics::Value;

/// What was measured, over all devices of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoreMetrics {
    /// The machine's name.
    pub machine: String,
    /// Compute units that shared the work, over all devices.
    pub compute_units: usize,
    /// PUs of a compute unit.
    pub processing_units: u32,
    /// MHz of the kernels' clock.
    pub clock_mhz: u32,
    /// Runs of the kernels.
    pub runs: u64,
    /// Cycles from start to end of the kernels, summed over the runs of each compute unit.
    pub cycles: Vec<u64>,
    /// The core's counters by `section.name`, summed over units and runs; a value per depth where
    /// there are several.
    pub counters: BTreeMap<String, Vec<u64>>,
    /// Bytes written to devices and read from them.
    pub bytes: (u64, u64),
    /// Time in which data went to and from devices, summed over compute units.
    pub transfer: Duration,
    /// Time in which kernels ran, as the host sees it, summed over compute units.
    pub kernels: Duration,
    /// Time in which the host built the graph's image and the streams, of a set core.
    pub preparation: Duration,
}

impl CoreMetrics {
    fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).and_then(|v| v.first()).copied().unwrap_or(0)
    }

    /// What the PUs did in their cycles, as parts of these. A core that doesn't count busy cycles was busy
    /// in all that it doesn't count as idle.
    fn pu_time(&self, m: &mut DeviceMetrics) {
        let idle = [
            ("pu_time.waiting_for_memory", "pu.idle_memory"),
            ("pu_time.waiting_inside", "pu.idle_inside"),
            ("pu_time.no_work", "pu.idle_no_work"),
        ];
        let idle = idle.into_iter().filter(|(_, counter)| self.counters.contains_key(*counter));
        let idle: Vec<(&str, u64)> = idle.map(|(name, of)| (name, self.counter(of))).collect();
        if idle.is_empty() {
            return;
        }
        let all = self.counter("core.cycles") * u64::from(self.processing_units);
        let rest = all.saturating_sub(idle.iter().map(|(_, n)| n).sum());
        let busy = self.counters.get("pu.port_busy").map_or(rest, |_| self.counter("pu.port_busy"));
        let whole = (busy + idle.iter().map(|(_, n)| n).sum::<u64>()) as f64;
        for (name, n) in [("pu_time.busy", busy)].into_iter().chain(idle) {
            m.headline(name, "cycles", Value::Share { part: n as f64, whole });
        }
    }

    /// As metrics of the device `name`.
    pub fn named(self, name: &str) -> DeviceMetrics {
        let mut m = DeviceMetrics::of(name);
        let longest = self.cycles.iter().copied().max().unwrap_or(0);
        let at_clock = longest as f64 / (f64::from(self.clock_mhz.max(1)) * 1e6);
        m.headline("device.machine", "", Value::Text(self.machine.clone()));
        m.headline("device.compute_units", "", Value::Setting(self.compute_units as u64));
        m.headline("device.clock", "MHz", Value::Setting(self.clock_mhz.into()));
        m.headline("run.runs", "", Value::Count(self.runs));
        // Of the compute unit that took longest.
        m.headline("run.cycles", "cycles", Value::Count(longest));
        m.headline("run.seconds_at_clock", "s", Value::Seconds(at_clock));
        m.detail("run.cycles_by_compute_unit", "cycles", Value::Counts(self.cycles.clone()));
        // The set core has one memory, whose accesses are its own counters.
        let kinds = ["vertex", "edge"].map(|kind| (kind, format!("pu.{kind}_accesses")));
        for (kind, _) in kinds.iter().filter(|(_, name)| self.counters.contains_key(name)) {
            let accesses = self.counter(&format!("pu.{kind}_accesses"));
            m.headline(format!("{kind}.accesses"), "", Value::Count(accesses));
            let parts = ["high_hits", "low_hits", "misses"]
                .map(|part| (part, self.counter(&format!("partition.{kind}_{part}")) as f64));
            let whole = parts.iter().map(|(_, n)| n).sum();
            for (part, n) in parts {
                m.headline(format!("{kind}.{part}"), "", Value::Share { part: n, whole });
            }
        }
        self.pu_time(&mut m);
        let [transfer, kernels] = [self.transfer, self.kernels].map(|t| t.as_secs_f64());
        m.headline("transfer.bytes_to_device", "bytes", Value::Count(self.bytes.0));
        m.headline("transfer.bytes_from_device", "bytes", Value::Count(self.bytes.1));
        m.headline("transfer.seconds", "s", Value::Seconds(transfer));
        m.detail("transfer.kernel_seconds", "s", Value::Seconds(kernels));
        if self.preparation > Duration::ZERO {
            let preparation = self.preparation.as_secs_f64();
            m.detail("transfer.preparation_seconds", "s", Value::Seconds(preparation));
        }
        // Of the time with the device.
        let share = Value::Share { part: transfer, whole: transfer + kernels };
        m.headline("transfer.share", "", share);
        for (name, values) in self.counters {
            m.detail(name, "", Value::Counts(values));
        }
        m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(counters: &[(&str, u64)]) -> DeviceMetrics {
        let counters = counters.iter().map(|&(name, n)| (name.to_string(), vec![n])).collect();
        CoreMetrics { processing_units: 2, counters, ..CoreMetrics::default() }.named("card")
    }

    #[test]
    fn the_time_of_the_pus_is_cut_into_shares() {
        let share = |m: &DeviceMetrics, name: &str| m.get(name).and_then(Value::number);
        // The first core counts each cycle of a PU in one of four ways.
        let of = [
            ("core.cycles", 100),
            ("pu.port_busy", 80),
            ("pu.idle_memory", 60),
            ("pu.idle_inside", 20),
            ("pu.idle_no_work", 40),
        ];
        let m = measured(&of);
        assert_eq!(share(&m, "pu_time.busy"), Some(0.4));
        assert_eq!(share(&m, "pu_time.waiting_for_memory"), Some(0.3));
        assert_eq!(share(&m, "pu_time.waiting_inside"), Some(0.1));
        assert_eq!(share(&m, "pu_time.no_work"), Some(0.2));
        // The set core counts idle ones alone.
        let m = measured(&[("core.cycles", 100), ("pu.idle_memory", 50), ("pu.idle_no_work", 100)]);
        assert_eq!(share(&m, "pu_time.busy"), Some(0.25));
        assert_eq!(share(&m, "pu_time.no_work"), Some(0.5));
        assert_eq!(m.get("pu_time.waiting_inside"), None);
        assert_eq!(measured(&[("core.cycles", 100)]).get("pu_time.busy"), None);
    }
}

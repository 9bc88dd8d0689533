//! Metrics that the accelerator reports for a task.
//!
//! | section | metrics |
//! |---|---|
//! | `device` | the machine and its clock, compute units |
//! | `run` | runs of the kernels, and their cycles |
//! | `vertex`, `edge` | accesses to the two on-chip memories: hits and misses |
//! | `transfer` | data to and from the devices, and the host's time to build a set core's input |
//! | `host` | time of the host for a set core with a resident image, without transfers and waits |
//! | `residency` | what such a task built, wrote and loaded, and launches that were enqueued ahead |
//! | the core's | each counter of `accelerator.yaml` under its own section and name |
//! | `pu_time` | states of the PUs as shares of their cycles, over all PUs and runs; on request, timelines by PU
//! |           | of an emulated device |

use std::collections::BTreeMap;
use std::time::Duration;

use gramer_engine::DeviceMetrics;
use gramer_engine::metrics::{Timeline, Value};

/// What a PU that isn't busy may be doing, and the counter of its cycles.
const IDLE: [(&str, &str); 3] = [
    ("waiting_for_memory", "idle_memory"),
    ("waiting_inside", "idle_inside"),
    ("no_work", "idle_no_work"),
];

/// Content that a set core's task made, wrote or loaded, beyond what was there from earlier tasks on the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Residency {
    /// Images that the host built.
    pub images_built: u64,
    /// Images that were written to the devices' memory.
    pub images_written: u64,
    /// Launches that loaded an image on chip.
    pub images_loaded: u64,
    /// Launches whose units the host made; the other launches take kept ones.
    pub streams_built: u64,
    /// Launches that waited on the device while another one ran.
    pub ahead: u64,
    /// Launches without use for the answer, which no other metric counts.
    pub dropped: u64,
}

impl Residency {
    fn counts(self) -> [(&'static str, u64); 6] {
        [
            ("images_built", self.images_built),
            ("images_written", self.images_written),
            ("images_loaded", self.images_loaded),
            ("streams_built", self.streams_built),
            ("enqueued_ahead", self.ahead),
            ("dropped", self.dropped),
        ]
    }
}

/// Time that a task took the host, apart from waits for kernels and transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostTime {
    /// All of it, preparation included.
    pub all: Duration,
    /// To set arguments and enqueue kernels.
    pub launching: Duration,
}

/// What was measured, over all devices of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoreMetrics {
    /// The machine's name.
    pub machine: String,
    /// Compute units that shared the work, over all devices.
    pub compute_units: usize,
    /// PUs of a compute unit.
    pub processing_units: u32,
    /// MHz of the kernels' clock: that of the device, where it says it.
    pub clock_mhz: u32,
    /// MHz that the machine's description asks for.
    pub described_mhz: u32,
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
    /// The host's own time, of a set core with a resident image.
    pub host: Option<HostTime>,
    /// What a set core's task needed anew.
    pub residency: Residency,
    /// Segments of a graph that was cut for a set core, and the lines of their images; 0 for one that wasn't.
    pub segments: (u64, u64),
    /// Runs of a set core that were begun again with fewer walkers, as a set had no room.
    pub retries: u64,
    /// Counters of PUs with a single value by name, a value a PU; for each compute unit.
    pub by_pu: Vec<BTreeMap<String, Vec<u64>>>,
    /// Timelines of the PUs by compute unit, if the device has them.
    pub timelines: BTreeMap<usize, Timeline>,
}

impl CoreMetrics {
    fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).and_then(|v| v.first()).copied().unwrap_or(0)
    }

    /// What the PUs did in their cycles, as parts of these. A core that doesn't count busy cycles was busy
    /// in all that it doesn't count as idle.
    fn pu_time(&self, m: &mut DeviceMetrics) {
        let idle = IDLE.map(|(state, of)| (format!("pu_time.{state}"), format!("pu.{of}")));
        let idle = idle.into_iter().filter(|(_, counter)| self.counters.contains_key(counter));
        let idle: Vec<(String, u64)> = idle.map(|(name, of)| (name, self.counter(&of))).collect();
        if idle.is_empty() {
            return;
        }
        let all = self.counter("core.cycles") * u64::from(self.processing_units);
        let rest = all.saturating_sub(idle.iter().map(|(_, n)| n).sum());
        let busy = self.counters.get("pu.port_busy").map_or(rest, |_| self.counter("pu.port_busy"));
        let whole = (busy + idle.iter().map(|(_, n)| n).sum::<u64>()) as f64;
        for (name, n) in [("pu_time.busy".to_string(), busy)].into_iter().chain(idle) {
            m.headline(name, "cycles", Value::Share { part: n as f64, whole });
        }
    }

    /// What each PU did, by compute unit: over time, or all of it as one window.
    fn pu_time_by_pu(&mut self, m: &mut DeviceMetrics) {
        for (unit, &cycles) in self.cycles.iter().enumerate() {
            let sampled = self.timelines.remove(&unit);
            let counted = self.by_pu.get(unit).and_then(|counters| totals(counters, cycles));
            let Some(mut timeline) = sampled.or(counted) else { continue };
            timeline.part = "PU".into();
            let name = match self.cycles.len() {
                1 => "pu_time.by_pu".to_string(),
                _ => format!("pu_time.by_pu_of_compute_unit_{}", unit + 1),
            };
            m.detail(name, "cycles", Value::Timeline(timeline));
        }
    }

    /// As metrics of the device `name`.
    pub fn named(mut self, name: &str) -> DeviceMetrics {
        let mut m = DeviceMetrics::of(name);
        let longest = self.cycles.iter().copied().max().unwrap_or(0);
        let at_clock = longest as f64 / (f64::from(self.clock_mhz.max(1)) * 1e6);
        m.headline("device.machine", "", Value::Text(self.machine.clone()));
        m.headline("device.compute_units", "", Value::Setting(self.compute_units as u64));
        m.headline("device.clock", "MHz", Value::Setting(self.clock_mhz.into()));
        if self.clock_mhz != self.described_mhz {
            m.headline("device.described_clock", "MHz", Value::Setting(self.described_mhz.into()));
        }
        m.headline("run.runs", "", Value::Count(self.runs));
        if self.segments.0 > 0 {
            m.headline("run.segments", "", Value::Count(self.segments.0));
            m.headline("run.segment_lines", "", Value::Count(self.segments.1));
        }
        if self.retries > 0 {
            m.headline("run.retries", "", Value::Count(self.retries));
        }
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
        self.pu_time_by_pu(&mut m);
        let [transfer, kernels] = [self.transfer, self.kernels].map(|t| t.as_secs_f64());
        m.headline("transfer.bytes_to_device", "bytes", Value::Count(self.bytes.0));
        m.headline("transfer.bytes_from_device", "bytes", Value::Count(self.bytes.1));
        m.headline("transfer.seconds", "s", Value::Seconds(transfer));
        m.detail("transfer.kernel_seconds", "s", Value::Seconds(kernels));
        if self.preparation > Duration::ZERO {
            let preparation = self.preparation.as_secs_f64();
            m.detail("transfer.preparation_seconds", "s", Value::Seconds(preparation));
        }
        if let Some(host) = self.host {
            m.detail("host.seconds", "s", Value::Seconds(host.all.as_secs_f64()));
            m.detail("host.launch_seconds", "s", Value::Seconds(host.launching.as_secs_f64()));
            for (name, n) in self.residency.counts() {
                m.detail(format!("residency.{name}"), "", Value::Count(n));
            }
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

/// Cycles of each PU by state, from its counters.
fn totals(counters: &BTreeMap<String, Vec<u64>>, cycles: u64) -> Option<Timeline> {
    let idle = IDLE.into_iter().filter_map(|(state, of)| Some((state, counters.get(of)?)));
    let idle: Vec<(&str, &Vec<u64>)> = idle.collect();
    let pus = idle.first()?.1.len();
    let of = |pu: usize| {
        let idle: Vec<u64> = idle.iter().map(|(_, n)| n.get(pu).copied().unwrap_or(0)).collect();
        let rest = cycles.saturating_sub(idle.iter().sum());
        let busy = counters.get("port_busy").and_then(|n| n.get(pu)).copied().unwrap_or(rest);
        std::iter::once(busy).chain(idle).map(|n| vec![n]).collect()
    };
    let states = std::iter::once("busy").chain(idle.iter().map(|(state, _)| *state));
    Some(Timeline {
        states: states.map(|state| state.to_string().into()).collect(),
        windows: vec![cycles],
        spent: (0..pus).map(of).collect(),
        ..Timeline::default()
    })
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

    #[test]
    fn each_pu_has_its_totals_where_nothing_is_known_of_their_time() {
        let of = |pairs: &[(&str, [u64; 2])]| {
            let by_pu = pairs.iter().map(|(name, n)| (name.to_string(), n.to_vec())).collect();
            CoreMetrics { cycles: vec![100], by_pu: vec![by_pu], ..CoreMetrics::default() }
        };
        let timeline = |m: CoreMetrics| match m.named("card").get("pu_time.by_pu") {
            Some(Value::Timeline(timeline)) => timeline.clone(),
            other => panic!("{other:?}"),
        };
        let paper = [
            ("port_busy", [40, 10]),
            ("idle_memory", [30, 0]),
            ("idle_inside", [5, 5]),
            ("idle_no_work", [20, 80]),
        ];
        let found = timeline(of(&paper));
        assert_eq!(found.states, ["busy", "waiting_for_memory", "waiting_inside", "no_work"]);
        assert_eq!((found.windows.clone(), found.part.clone()), (vec![100], "PU".into()));
        assert_eq!(found.spent[1], [[10], [0], [5], [80]]);
        // The set core is busy in what it doesn't count.
        let found = timeline(of(&[("idle_memory", [30, 0]), ("idle_no_work", [20, 80])]));
        assert_eq!(found.spent, [[[50], [30], [20]], [[20], [0], [80]]]);
        // What the device says over time comes before that.
        let mut sampled = of(&paper);
        let spent = vec![vec![vec![1, 2]], vec![vec![3, 4]]];
        let states = vec!["busy".into()];
        let windows = vec![50, 50];
        sampled
            .timelines
            .insert(0, Timeline { states, windows, spent: spent.clone(), ..Timeline::default() });
        assert_eq!(timeline(sampled).spent, spent);
    }
}

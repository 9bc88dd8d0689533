//! Metrics of a simulated run, for tables and plots.

use serde_json::Value;

use super::sample::Estimate;
use super::simulator::PointFile;

/// The counters of a run, summed over their units; of a sampled one its cycles, accesses and hit ratios.
#[derive(Debug, Clone)]
pub struct Measures {
    kept: PointFile,
    /// What a sample estimates.
    estimate: Option<Estimate>,
    clock_mhz: f64,
    processing_units: f64,
}

/// A number of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Cycles from start to done.
    Cycles,
    /// The same in milliseconds at the machine's clock.
    Milliseconds,
    /// Share of vertex accesses that hit on the chip.
    VertexHits,
    /// Share of edge accesses that hit on the chip.
    EdgeHits,
    /// Share of vertex accesses to high-priority data.
    VertexHigh,
    /// Share of edge accesses to high-priority data.
    EdgeHigh,
    /// Vertex accesses.
    VertexAccesses,
    /// Edge accesses.
    EdgeAccesses,
    /// Cycles in which an access of a partition waited for another, both kinds.
    Conflicts,
    /// Share of the PUs' cycles in which they put an access into the crossbar.
    Busy,
    /// Share of the PUs' cycles in which all tokens waited for memory.
    WaitMemory,
    /// Share of the PUs' cycles in which what they had was in their pipelines.
    WaitInside,
    /// Share of the PUs' cycles in which they had no work.
    NoWork,
    /// Steals.
    Steals,
    /// Candidates a cycle.
    CandidatesACycle,
    /// Beats of DDR, all banks.
    Beats,
}

/// Metric, name in files, title of an axis, whether it is a share from 0 to 1.
const TABLE: [(Metric, &str, &str, bool); 16] = [
    (Metric::Cycles, "cycles", "cycles", false),
    (Metric::Milliseconds, "milliseconds", "time in ms", false),
    (Metric::VertexHits, "vertex_hits", "hit ratio of vertices in %", true),
    (Metric::EdgeHits, "edge_hits", "hit ratio of edges in %", true),
    (Metric::VertexHigh, "vertex_high", "high-priority vertex accesses in %", true),
    (Metric::EdgeHigh, "edge_high", "high-priority edge accesses in %", true),
    (Metric::VertexAccesses, "vertex_accesses", "vertex accesses", false),
    (Metric::EdgeAccesses, "edge_accesses", "edge accesses", false),
    (Metric::Conflicts, "conflicts", "conflicts in the crossbar", false),
    (Metric::Busy, "busy", "port busy in %", true),
    (Metric::WaitMemory, "wait_memory", "waits for memory in %", true),
    (Metric::WaitInside, "wait_inside", "waits inside a PU in %", true),
    (Metric::NoWork, "no_work", "no work in %", true),
    (Metric::Steals, "steals", "steals", false),
    (Metric::CandidatesACycle, "candidates_a_cycle", "candidates a cycle", false),
    (Metric::Beats, "ddr_beats", "DDR beats", false),
];

impl Metric {
    /// All of them, in the order of tables.
    pub fn all() -> impl Iterator<Item = Metric> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Metric, &'static str, &'static str, bool) {
        TABLE.iter().find(|row| row.0 == self).expect("the table has all of them")
    }

    /// Name in files.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Title of an axis, with its unit.
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// Whether it is a share from 0 to 1, which tables and plots show in %.
    pub fn is_share(self) -> bool {
        self.row().3
    }
}

impl Measures {
    /// Of a run on a machine with this clock (MHz) and as many PUs.
    pub fn new(kept: PointFile, clock_mhz: u32, processing_units: u32) -> Self {
        let (clock_mhz, processing_units) = (clock_mhz.into(), processing_units.into());
        Measures { kept, estimate: None, clock_mhz, processing_units }
    }

    /// A sample's estimate of a task; all other numbers of the run are unknown.
    pub fn sampled(task: &str, estimate: Estimate, clock_mhz: u32, processing_units: u32) -> Self {
        let kept = PointFile {
            identity: String::new(),
            task: task.into(),
            options: vec![],
            result: serde_json::json!({ "cycles": estimate.cycles.value.round() as u64 }),
        };
        Measures { estimate: Some(estimate), ..Self::new(kept, clock_mhz, processing_units) }
    }

    /// What a sample estimates; `None` where the run was whole.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.estimate.as_ref()
    }

    /// Half of the 95 % interval of sampled cycles; `None` where they were counted.
    pub fn half(&self) -> Option<f64> {
        self.estimate.as_ref().map(|e| e.cycles.half)
    }

    /// The same as a share of the cycles; 0 where they were counted.
    pub fn uncertainty(&self) -> f64 {
        self.half().map_or(0.0, |half| half / self.get(Metric::Cycles))
    }

    /// Cycles of each pass.
    pub fn passes(&self) -> Vec<u64> {
        let passes = self.kept.result["passes"].as_array();
        passes.into_iter().flatten().filter_map(|p| p["cycles"].as_u64()).collect()
    }

    /// The cached result of the run.
    pub fn kept(&self) -> &PointFile {
        &self.kept
    }

    /// Cycles from start to done.
    pub fn cycles(&self) -> u64 {
        self.kept.result["cycles"].as_u64().unwrap_or(0)
    }

    /// Patterns with their counts.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let results = self.kept.result["results"].as_array();
        results
            .into_iter()
            .flatten()
            .map(|r| {
                let name = r["name"].as_str().unwrap_or_default().to_string();
                (name, r["count"].as_u64().unwrap_or(0))
            })
            .collect()
    }

    /// A counter, `section.name`: the sum over its units and the task's passes, for each of its
    /// values.
    pub fn counter(&self, name: &str) -> Vec<u64> {
        let result = &self.kept.result;
        // A task of one pass has them at the top.
        let counters: Vec<&Value> = match result.get("counters") {
            Some(counters) => vec![counters],
            None => {
                result["passes"].as_array().into_iter().flatten().map(|p| &p["counters"]).collect()
            }
        };
        let units = counters.into_iter().filter_map(|c| c[name].as_array());
        let rows = units.flatten().filter_map(Value::as_array);
        let mut sums = vec![];
        for row in rows {
            sums.resize(sums.len().max(row.len()), 0);
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value.as_u64().unwrap_or(0);
            }
        }
        sums
    }

    /// A counter's sum over all units.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        self.counter(name).iter().sum::<u64>() as f64
    }

    /// As [`Measures::sum`], or not a number where the machine doesn't count it.
    fn counted(&self, name: &str) -> f64 {
        let values = self.counter(name);
        if values.is_empty() { f64::NAN } else { values.iter().sum::<u64>() as f64 }
    }

    /// A number of the run; shares from 0 to 1. Not a number where a sample doesn't say it, or the machine
    /// doesn't count it.
    pub fn get(&self, metric: Metric) -> f64 {
        if let Some(estimate) = &self.estimate {
            let share = estimate.shares.iter().find(|(known, _)| *known == metric);
            return match metric {
                Metric::Cycles => self.cycles() as f64,
                Metric::Milliseconds => self.cycles() as f64 / (self.clock_mhz * 1e3),
                Metric::VertexAccesses => estimate.accesses[0],
                Metric::EdgeAccesses => estimate.accesses[1],
                _ => share.map_or(f64::NAN, |(_, ratio)| ratio.value),
            };
        }
        let share = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
        let part = |names: &[&str], accesses: &str| {
            let hits: f64 = names.iter().map(|n| self.counted(&format!("partition.{n}"))).sum();
            share(hits, self.counted(accesses))
        };
        let of_pus =
            |name: &str| share(self.counted(name), self.cycles() as f64 * self.processing_units);
        match metric {
            Metric::Cycles => self.cycles() as f64,
            Metric::Milliseconds => self.cycles() as f64 / (self.clock_mhz * 1e3),
            Metric::VertexHits => {
                part(&["vertex_high_hits", "vertex_low_hits"], "pu.vertex_accesses")
            }
            Metric::EdgeHits => part(&["edge_high_hits", "edge_low_hits"], "pu.edge_accesses"),
            Metric::VertexHigh => part(&["vertex_high_hits"], "pu.vertex_accesses"),
            Metric::EdgeHigh => part(&["edge_high_hits"], "pu.edge_accesses"),
            Metric::VertexAccesses => self.counted("pu.vertex_accesses"),
            Metric::EdgeAccesses => self.counted("pu.edge_accesses"),
            Metric::Conflicts => {
                self.counted("partition.vertex_conflicts")
                    + self.counted("partition.edge_conflicts")
            }
            Metric::Busy => of_pus("pu.port_busy"),
            Metric::WaitMemory => of_pus("pu.idle_memory"),
            Metric::WaitInside => of_pus("pu.idle_inside"),
            Metric::NoWork => of_pus("pu.idle_no_work"),
            Metric::Steals => self.counted("pu.steals"),
            Metric::CandidatesACycle => share(self.counted("pu.candidates"), self.cycles() as f64),
            Metric::Beats => self.counted("bank.beats"),
        }
    }

    /// As [`Measures::get`], with shares in %.
    pub fn shown(&self, metric: Metric) -> f64 {
        self.get(metric) * if metric.is_share() { 100.0 } else { 1.0 }
    }
}

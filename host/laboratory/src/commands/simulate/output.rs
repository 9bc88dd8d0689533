//! Output of `gramer-lab simulate`: counts, cycles and counters as tables or JSON, and listed embeddings.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use gramer::base::output::write_output;
use gramer::graph::Graph;
use gramer_machine::Accelerator;
use gramer_sim::run::{Outcome, Record, status_name};

/// A pass of the core.
pub struct Part {
    /// Vertices of its embeddings.
    pub k: u32,
    /// Results.
    pub outcome: Outcome,
    /// Seconds that it took here.
    pub seconds: f64,
}

/// Everything that a task gave.
pub struct TaskReport<'a> {
    /// The machine.
    pub accelerator: &'a Accelerator,
    /// Hash of the model: Verilator's version, the machine and the sources of the core.
    pub model: &'a str,
    /// Name of the task.
    pub task: String,
    /// Its largest embeddings.
    pub k: u32,
    /// Counts by the name of their pattern.
    pub results: &'a [(String, u64)],
    /// The passes, in order.
    pub parts: &'a [Part],
    /// JSON says when each beat of work units was taken.
    pub taken: bool,
}

/// Adds the PUs' timeline to a pass, if requested.
pub fn add_timeline(pass: &mut serde_json::Value, outcome: &Outcome) {
    if let Some(timeline) = &outcome.timeline {
        pass["timeline"] = timeline.json();
    }
}

impl TaskReport<'_> {
    fn cycles(&self) -> u64 {
        self.parts.iter().map(|part| part.outcome.cycles).sum()
    }

    fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.seconds).sum()
    }

    /// As JSON. A task of one pass has its counters at the top too.
    ///
    /// # Errors
    /// None that this data can cause.
    pub fn json(&self) -> Result<String> {
        let results: Vec<_> = self
            .results
            .iter()
            .map(|(name, count)| serde_json::json!({ "name": name, "count": count }))
            .collect();
        let passes: Vec<_> = self
            .parts
            .iter()
            .map(|Part { k, outcome, seconds }| {
                let mut pass = serde_json::json!({
                    "k": k,
                    "status": status_name(outcome.status),
                    "saturated": outcome.saturated,
                    "records": outcome.records.len(),
                    "cycles": outcome.cycles,
                    "counters": outcome.counters,
                    "seconds": seconds,
                });
                add_timeline(&mut pass, outcome);
                pass
            })
            .collect();
        let mut value = serde_json::json!({
            "machine": self.accelerator.machine.name,
            "model": self.model,
            "task": self.task,
            "k": self.k,
            "results": results,
            "cycles": self.cycles(),
            "passes": passes,
            "seconds": self.seconds(),
            "cycles_per_second": self.cycles() as f64 / self.seconds(),
        });
        if let [part] = self.parts {
            value["counters"] = serde_json::to_value(&part.outcome.counters)?;
            if self.taken {
                value["taken"] = serde_json::to_value(&part.outcome.taken)?;
            }
        }
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    /// As tables for reading.
    pub fn tables(&self) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        for (name, count) in self.results {
            table.add_row([name.clone(), count.to_string()]);
        }
        let mut text = match self.results {
            [] => "no pattern\n".to_string(),
            _ => format!("{table}\n"),
        };
        for part in self.parts {
            if self.parts.len() > 1 {
                let listing = if part.outcome.records.is_empty() { "" } else { ", listing" };
                let _ = write!(text, "\npatterns of {} vertices{listing}:", part.k);
            }
            let _ = writeln!(text, "\n{}", self.part(part));
        }
        text
    }

    fn part(&self, Part { outcome, seconds, .. }: &Part) -> comfy_table::Table {
        let cycles = outcome.cycles;
        let sum = |name: &str| outcome.sum(name);
        let share = |part: u64, whole: u64| 100.0 * part as f64 / (whole.max(1)) as f64;
        let machine = &self.accelerator.machine;
        let candidates: u64 = outcome.sums("pu.candidates").iter().sum();
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let mut row = |name: &str, value: String| {
            table.add_row([name.to_string(), value]);
        };
        row("machine", format!("{}, model {}", machine.name, self.model));
        let saturated = if outcome.saturated { ", a count is at its largest value" } else { "" };
        row("status", format!("{}{saturated}", status_name(outcome.status)));
        row("cycles", cycles.to_string());
        row(
            "time at the machine's clock",
            format!("{:.6} s", cycles as f64 / (f64::from(machine.clock_mhz) * 1e6)),
        );
        row(
            "simulated",
            format!("{seconds:.2} s, {:.0} cycles per second", cycles as f64 / seconds),
        );
        row(
            "candidates",
            format!("{candidates}, {:.3} per cycle", candidates as f64 / cycles.max(1) as f64),
        );
        for name in ["pu.candidates", "pu.embeddings"] {
            let values = outcome.sums(name);
            let used = values.iter().rposition(|&v| v > 0).map_or(0, |at| at + 1);
            row(&format!("{name} by depth"), format!("{:?}", &values[..used]));
        }
        for name in ["core.work_units", "pu.extensions", "pu.entries_scanned", "pu.steals"] {
            row(name, sum(name).to_string());
        }
        for kind in ["vertex", "edge"] {
            let all = sum(&format!("pu.{kind}_accesses"));
            let part = |p: &str| share(sum(&format!("partition.{kind}_{p}")), all);
            row(
                &format!("{kind} accesses"),
                format!(
                    "{all}: {:.2} % high hits, {:.2} % low hits, {:.2} % misses; {} conflicts",
                    part("high_hits"),
                    part("low_hits"),
                    part("misses"),
                    sum(&format!("partition.{kind}_conflicts"))
                ),
            );
        }
        let pus = u64::from(machine.processing_units);
        for name in ["port_busy", "idle_memory", "idle_inside", "idle_no_work"] {
            let units = &outcome.counters[&format!("pu.{name}")];
            let each: Vec<String> =
                units.iter().map(|v| format!("{:.1}", share(v[0], cycles))).collect();
            let all = share(units.iter().map(|v| v[0]).sum(), cycles * pus);
            row(&format!("pu.{name} %"), format!("{all:.1} ({})", each.join(" ")));
        }
        row("DDR beats per bank", format!("{:?}", outcome.counters["bank.beats"].concat()));
        table
    }
}

/// Listed embeddings, a line each: the pattern, then the ids of the graph in the order in which
/// the core added them.
#[derive(Default)]
pub struct Listing {
    text: String,
}

impl Listing {
    /// Adds the records of a pass. `names` are the patterns'; vertices are ranks in `graph`.
    pub fn add(&mut self, records: &[Record], names: &[String], graph: &Graph) {
        for record in records {
            self.text.push_str(&names[record.pattern as usize]);
            for &v in &record.ids {
                let _ = write!(self.text, "\t{}", graph.vertex_name(v));
            }
            self.text.push('\n');
        }
    }

    /// Writes all of it, or nothing. Without `force` it replaces no file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, file: &Path, force: bool) -> Result<()> {
        Ok(write_output(file, force, |out| out.write_all(self.text.as_bytes()))?)
    }
}

/// Prints a text. A reader that has enough of it is no error.
///
/// # Errors
/// If standard output can't be written.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

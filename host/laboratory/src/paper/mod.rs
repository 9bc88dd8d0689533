//! The paper's experiments on our machine, and a report that puts our figures beside its.
//!
//! | module | experiments |
//! |---|---|
//! | `waits` | figure 3: what PUs wait for, and misses of algorithm 1 on a CPU |
//! | `accesses` | figure 5: where accesses go, by algorithm 1 on the CPU |
//! | `heuristic` | figure 8: how well ON_k finds what is accessed most |
//! | `running_times` | table III |
//! | `performance` | what a run takes, and figure 11b: the share of the preparation |
//! | `energy` | figure 11a: an estimate of the energy |
//! | `design` | figures 12 and 13: memory, slots, stealing |
//! | `settings` | figure 14: τ, λ |
//! | `beyond` | what the paper didn't vary: units, partitions, DDR, on-chip memory |
//! | `sampling` | large runs from a part of their work units |
//! | `cells` | points by their settings, figures as text |
//! | `verdict` | the rule of the verdicts |
//! | [`report`] | Markdown, plots, CSV |
//!
//! Verdicts are computed from what was measured. Cycles come from the simulated core, never from a
//! model of it; what is modelled (transfer, set-up) is named so.

mod accesses;
mod beyond;
mod cells;
mod design;
mod energy;
mod heuristic;
mod performance;
#[cfg(test)]
mod published;
pub mod report;
mod running_times;
mod sampling;
mod settings;
mod verdict;
mod waits;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gramer_machine::Accelerator;

use cells::{
    Csv, NOT_RUN, at, axis_names, cycles, doubling, finds_nothing, in_orders, measures, of_task,
    short, shown, speed_up, times, value,
};

use crate::explore::measures::Measures;
use crate::explore::parameter::{Point, Variation, combinations};
use crate::explore::sample::{Sampling, estimate, refusal, work};
use crate::explore::simulator::{Ran, SimulatedTask, Simulator};
use crate::explore::{Measured, described, sweep, task};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::prepare::renumber;
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_pattern::task::Task;
use report::{Answer, Block, Claim, Finding, NOT_MEASURED, PaperReport, Section, Verdict};

/// A graph of the experiments.
#[derive(Debug)]
pub struct Input {
    /// Name in the report.
    pub name: String,
    /// Name in the paper's tables, where it is the same graph or one of its kind.
    pub paper: Option<&'static str>,
    /// In the order of Rank(ON_1).
    pub graph: Graph,
    /// In the order of the file, for the time of the preparation.
    pub raw: Graph,
    /// Motifs of four vertices can be counted in a sensible time.
    pub four_motifs: bool,
    /// Frequent subgraph mining with the paper's support for graphs of this size.
    pub fsm: &'static str,
}

/// What the experiments work with.
pub struct Lab<'a> {
    /// The simulator.
    pub simulator: Simulator,
    /// The machine that is varied.
    pub base: Accelerator,
    /// The graphs.
    pub inputs: Vec<Input>,
    /// A machine that simulates fast, for what needs many runs.
    pub small: Accelerator,
    /// A larger graph, for some of the experiments.
    pub large: Vec<Input>,
    /// Numbers of processing units beyond the paper; each is a model to build.
    pub processing_units: Vec<u32>,
    /// Numbers of partitions, likewise.
    pub partitions: Vec<u32>,
    /// Whether samples are drawn and compared.
    pub sampling: bool,
    /// Small inputs on a small machine: the machinery, not the paper.
    pub quick: bool,
    /// The context.
    pub context: &'a Context,
    /// Where progress is told.
    pub tell: Tell<'a>,
    /// Hash of the base machine's model and of the simulation around it, once a point has run.
    pub model: std::cell::RefCell<String>,
    /// Points that failed, in words.
    pub missing: std::cell::RefCell<Vec<String>>,
    /// Points that were left out because they are too long, in words.
    pub left_out: std::cell::RefCell<BTreeSet<String>>,
}

/// Takes a line for people on how far the experiments are.
pub type Tell<'a> = &'a (dyn Fn(&str) + Sync);

/// What [`run`] is asked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Small inputs and the small machine.
    pub quick: bool,
    /// The machine's description.
    pub machine: Accelerator,
    /// A machine that simulates fast.
    pub small: Accelerator,
    /// Numbers of processing units beyond the paper; each is a model to build.
    pub processing_units: Vec<u32>,
    /// Numbers of partitions, likewise.
    pub partitions: Vec<u32>,
    /// Whether samples are drawn and compared.
    pub sampling: bool,
    /// Folder of the real graphs.
    pub data: Option<PathBuf>,
    /// Folder of the report.
    pub out: PathBuf,
    /// Whether the report is written as an HTML page as well.
    pub html: bool,
    /// Whether the report's files may replace others.
    pub force: bool,
    /// Folder of the points' results.
    pub cache: PathBuf,
    /// Most cycles of a point.
    pub max_cycles: u64,
}

/// Plots and tables of numbers that a report may have.
const PLOTS: [&str; 19] = [
    "beyond-cycles_a_beat",
    "beyond-latency",
    "beyond-memory",
    "beyond-partitions",
    "beyond-processing_units",
    "figure-12-edge_hits-ascending",
    "figure-12-edge_hits-descending",
    "figure-12-speed-ascending",
    "figure-12-speed-descending",
    "figure-12-vertex_hits-ascending",
    "figure-12-vertex_hits-descending",
    "figure-13",
    "figure-14a",
    "figure-14b",
    "figure-3-ascending",
    "figure-3-descending",
    "figure-5-edges",
    "figure-5-vertices",
    "figure-8",
];
const NUMBERS: [&str; 14] = [
    "beyond-cycles_a_beat",
    "beyond-latency",
    "beyond-memory",
    "beyond-partitions",
    "beyond-processing_units",
    "figure-12",
    "figure-13",
    "figure-14a",
    "figure-14b",
    "figure-3",
    "figure-5",
    "figure-8",
    "sampling",
    "table-3",
];

/// Names of the files that a report may have.
pub fn files(html: bool) -> Vec<String> {
    let plots = PLOTS.iter().map(|name| format!("{name}.svg"));
    let numbers = NUMBERS.iter().map(|name| format!("{name}.csv"));
    let pages = [Some(report::REPORT), html.then_some(report::PAGE)].into_iter().flatten();
    pages.map(String::from).chain(plots).chain(numbers).collect()
}

/// Runs all experiments and writes the report. Gives the points that failed.
///
/// # Errors
/// Those of reading, simulating and writing. After [`Error::Interrupted`] the next run goes on with
/// the points that are missing.
pub fn run(options: &Options, context: &Context, tell: Tell<'_>) -> Result<Vec<String>> {
    let simulator = Simulator::new(&options.cache, context.threads(), options.max_cycles)?;
    let (inputs, large) = inputs(options, context)?;
    let lab = Lab {
        simulator,
        base: options.machine.clone(),
        small: options.small.clone(),
        inputs,
        large,
        processing_units: options.processing_units.clone(),
        partitions: options.partitions.clone(),
        sampling: options.sampling,
        quick: options.quick,
        context,
        tell,
        model: Default::default(),
        missing: Default::default(),
        left_out: Default::default(),
    };
    type Experiment = fn(&Lab<'_>) -> Result<Section>;
    let experiments: [(&str, Experiment); 11] = [
        ("figure 3", waits::figure_3),
        ("figure 5", accesses::figure_5),
        ("figure 8", heuristic::figure_8),
        ("table III", running_times::table_3),
        ("figure 11", performance::figure_11),
        ("figure 12", design::figure_12),
        ("figure 13", design::figure_13),
        ("figure 14", settings::figure_14),
        ("beyond the paper", beyond::scaling),
        ("the memory", beyond::memory),
        ("sampling", sampling::sampling),
    ];
    let mut sections = vec![];
    for (name, experiment) in experiments {
        tell(name);
        sections.push(experiment(&lab)?);
    }
    sections.push(synthesis());
    let missing = lab.missing.borrow().clone();
    let report = PaperReport {
        title: "The paper's experiments on this machine".into(),
        opening: opening(&lab),
        sections,
    };
    report.write(&options.out, options.html, options.force)?;
    Ok(missing)
}

fn opening(lab: &Lab<'_>) -> Vec<String> {
    let m = &lab.base.machine;
    let graphs: Vec<String> = lab
        .inputs
        .iter()
        .chain(&lab.large)
        .map(|i| format!("{} ({} vertices, {} edges)", i.name, i.graph.vertices(), i.graph.edges()))
        .collect();
    let mut all = vec![
        format!(
            "Written by `gramer paper`. Cycles are those of the core in SystemVerilog, simulated \
             cycle by cycle with Verilator on the machine `{}` ({} PUs of {} slots, {} partitions, \
             {} MHz) with the memory model of its description; no card was used. Each count was \
             compared with the CPU engine's. Model and simulation: {} (a hash of Verilator's version, \
             the description, `rtl/` and the memory model: with other sources the cycles may be \
             others). Graphs: {}.",
            m.name,
            m.processing_units,
            m.slots,
            m.partitions,
            m.clock_mhz,
            lab.model.borrow(),
            graphs.join(", ")
        ),
        "Two orders of comparison: *ascending* by Rank(ON_1), the paper's, makes the hubs the roots of \
         the largest trees; *descending* is the default here. Each claim is held against both."
            .into(),
        "In the tables *k-CF* is k-clique finding, *k-MC* k-motif counting, *FSM-S* frequent subgraph mining with \
         support S; *asc* and *des* are the orders."
            .into(),
        report::rule(),
    ];
    if lab.quick {
        all.insert(
            0,
            "**A quick run**: random graphs on a small machine, which show that the machinery works. \
             The verdicts below say nothing of the paper."
                .into(),
        );
    }
    let most = lab.simulator.max_cycles();
    let left_out = joined(&lab.left_out.borrow());
    all.push(match lab.sampling {
        true => format!(
            "A point with more than {most} cycles is estimated from a sample of its work units (the last \
             section says how well), and then marked with ≈ and an interval of 95 %; of a sample only \
             the cycles are known. What can't be sampled was not run, and its rows say so: {left_out}."
        ),
        false => format!(
            "A point with more than {most} cycles was not run, since this run draws no samples, and its \
             rows say so: {left_out}."
        ),
    });
    let missing = lab.missing.borrow();
    if !missing.is_empty() {
        all.push(format!("**Points that failed**: {}.", missing.join("; ")));
    }
    all
}

fn joined(all: &BTreeSet<String>) -> String {
    match all.is_empty() {
        true => "nothing".into(),
        false => all.iter().map(String::as_str).collect::<Vec<_>>().join("; "),
    }
}

/// The graphs: small random ones, or those of the paper that are at hand; and larger ones.
fn inputs(options: &Options, context: &Context) -> Result<(Vec<Input>, Vec<Input>)> {
    let input = |name: &str, paper, raw: Graph, four_motifs, fsm| -> Result<Input> {
        let graph = renumber(&raw, context)?;
        Ok(Input { name: name.into(), paper, graph, raw, four_motifs, fsm })
    };
    if options.quick {
        let random = |scale, edge_factor, seed| {
            let labels = Some(Labels { count: 4, exponent: 1.0 });
            let model = Model::Rmat { scale, edge_factor, a: 0.57, b: 0.19, c: 0.19 };
            generate(&Recipe { model, seed, vertex_labels: labels, edge_labels: None }, context)
        };
        let small = vec![
            input("rmat-7", None, random(7, 3, 1)?, true, "fsm:3:20")?,
            input("rmat-8", None, random(8, 2, 2)?, false, "fsm:3:20")?,
        ];
        return Ok((small, vec![]));
    }
    let Some(data) = &options.data else {
        return Err(Error::usage(
            "the real graphs are missing: name their folder with the setting `data` or \
             GRAMER_DATA, or give the setting `quick` for small random ones",
        ));
    };
    let read = |file: &str| {
        let options = ReadOptions { edge_labels: false, ..ReadOptions::default() };
        read_graph(&data.join(file), &options, context)
    };
    let p2p = read("p2p-gnutella08/p2p-gnutella08.txt.zst")?;
    let full = vec![
        input("citeseer", Some("Citeseer"), read("citeseer/citeseer.lg")?, true, "fsm:3:2000")?,
        input("p2p-gnutella08", Some("P2P"), p2p, false, "fsm:3:2000")?,
    ];
    let astro = read("ca-astroph/ca-AstroPh.txt.zst")?;
    Ok((full, vec![input("ca-astroph", Some("Astro"), astro, false, "fsm:3:20000")?]))
}

impl Lab<'_> {
    /// A sweep: `variations` as on the command line of `gramer explore`. Points without a result
    /// are noted, and stay.
    fn sweep(&self, input: &Input, name: &str, variations: &[&str]) -> Result<Vec<Measured>> {
        self.sweep_on(&self.base, input, name, variations)
    }

    /// As [`Lab::sweep`], on variants of another machine.
    fn sweep_on(
        &self,
        base: &Accelerator,
        input: &Input,
        name: &str,
        variations: &[&str],
    ) -> Result<Vec<Measured>> {
        let variations: Vec<Variation> =
            variations.iter().map(|v| Variation::parse(v)).collect::<Result<_>>()?;
        let points: Vec<Point> = combinations(&variations)
            .iter()
            .map(|settings| Point::new(base, input.graph.view(), settings))
            .collect::<Result<_>>()?;
        let (simulated, mined) = task(name)?;
        let tell = self.tell;
        let told = |done: usize, at: usize, ran: &Ran| {
            let what = match ran {
                Ran::Done(kept) => format!("{} cycles", kept.result["cycles"]),
                Ran::Limit => "too many cycles".into(),
                Ran::Failed(said) => said.clone(),
            };
            let settings = described(&points[at].settings);
            let of = points.len();
            tell(&format!("  {} {name} {done}/{of} {settings}: {what}", input.name));
        };
        let mut all =
            sweep(&self.simulator, &input.graph, &simulated, &mined, &points, self.context, &told)?;
        let mut works = None;
        for (point, asked) in all.iter_mut().zip(&points) {
            if let (Ok(measures), true) = (&point.measures, asked.machine == self.base) {
                *self.model.borrow_mut() = measures.kept().identity.clone();
            }
            let Err(said) = &point.measures else { continue };
            let note = format!("{} {name} {}", input.name, described(&point.settings));
            if !point.given_up {
                self.missing.borrow_mut().push(format!("{note}: {said}"));
                continue;
            }
            match self.sampled(input, &simulated, &mined, asked, &mut works)? {
                Ok(measures) => point.measures = Ok(measures),
                Err(why) => drop(self.left_out.borrow_mut().insert(format!("{note} ({why})"))),
            }
        }
        Ok(all)
    }

    /// What a sample says of a point, or why there is none. `works` are the units' work, once they
    /// are known.
    fn sampled(
        &self,
        input: &Input,
        simulated: &SimulatedTask,
        mined: &Task,
        point: &Point,
        works: &mut Option<Vec<u64>>,
    ) -> Result<std::result::Result<Measures, String>> {
        if !self.sampling {
            return Ok(Err("sampling is off".into()));
        }
        if let Some(why) = refusal(point) {
            return Ok(Err(why.into()));
        }
        let mut estimated = || -> Result<Measures> {
            if works.is_none() {
                *works = Some(work(&input.graph, mined, self.context)?);
            }
            let works = works.as_ref().expect("it was just set");
            let (simulator, context, sampling) =
                (&self.simulator, self.context, Sampling::default());
            let s = estimate(simulator, &input.graph, simulated, works, point, &sampling, context)?;
            (self.tell)(&format!("    sampled: {:.0} ± {:.0}", s.cycles, s.half));
            let machine = &point.machine.machine;
            Ok(Measures::sampled(&simulated.name, &s, machine.clock_mhz, machine.processing_units))
        };
        match estimated() {
            Ok(measures) => Ok(Ok(measures)),
            Err(Error::Unsupported(why) | Error::Device(why)) => Ok(Err(why)),
            Err(other) => Err(other),
        }
    }

    /// The graphs with the tasks that are run on each: of the larger ones only 3-CF, which ends in
    /// full.
    fn cases<'b>(&'b self, tasks: &[&'b str]) -> Vec<(&'b Input, &'b str)> {
        let small = self.inputs.iter().flat_map(|i| tasks.iter().map(move |&task| (i, task)));
        small.chain(self.large.iter().map(|i| (i, "clique:3"))).collect()
    }

    /// Slots to sweep over, up to the machine's.
    fn slots(&self) -> String {
        doubling(1, self.base.machine.slots)
    }
}

/// What another kind of run answers.
fn synthesis() -> Section {
    Section {
        title: "Tables II and IV: resources and clock".into(),
        blocks: vec![Block::Text(
            "Resources, clock and power come from synthesis, not from simulation: see \
             [docs/hardware/synthesis.md](../hardware/synthesis.md)."
                .into(),
        )],
        claims: vec![Claim {
            place: "tables II, IV",
            claim: "25.5 % LUT, 13.1 % FF, 65.7 % BRAM at 207 to 213 MHz; compaction doubles the clock",
            bar: String::new(),
            answer: Answer::Any(Finding {
                verdict: Verdict::None(NOT_MEASURED),
                ours: String::new(),
            }),
            why: "a matter of synthesis: docs/hardware/synthesis.md".into(),
        }],
    }
}

/// The folder of the real graphs, if it is named and there.
pub fn data_folder(given: Option<&Path>) -> Option<PathBuf> {
    let folder = given
        .map(Path::to_path_buf)
        .or_else(|| std::env::var_os("GRAMER_DATA").filter(|v| !v.is_empty()).map(PathBuf::from))?;
    folder.is_dir().then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sampled_is_marked() {
        assert_eq!(times(Some((1.234, 0.0)), 2), "1.23");
        assert_eq!(times(Some((1.234, 0.05)), 2), "≈ 1.23 ± 0.05");
        assert_eq!(times(None, 2), "not run");
    }

    #[test]
    fn tasks_are_spelt_out_in_plots() {
        let names = ["clique:5", "motif:3", "fsm:3:2000"].map(of_task);
        assert_eq!(names, ["5-cliques", "3-motifs", "frequent patterns"]);
    }
}

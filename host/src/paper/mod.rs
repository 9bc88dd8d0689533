//! The paper's experiments on our machine, and a report that puts our figures beside its.
//!
//! | module | experiments |
//! |---|---|
//! | `accesses` | figures 3, 5 and 8: where accesses go, by algorithm 1 on the CPU, and what PUs wait for |
//! | `performance` | table III and figure 11: times, and the share of the preparation |
//! | `design` | figures 12, 13 and 14: memory, slots, stealing, τ, λ |
//! | `beyond` | what the paper didn't vary: units, partitions, DDR, on-chip memory |
//! | `sampling` | large runs from a part of their work units |
//! | [`report`] | Markdown, HTML, plots, CSV |
//!
//! Verdicts are computed from what was measured. Cycles come from the simulated core, never from a
//! model of it; what is modelled (transfer, set-up) is named so.

mod accesses;
mod beyond;
mod design;
mod performance;
pub mod report;
mod sampling;

use std::path::{Path, PathBuf};

use gramer_machine::Accelerator;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::{Parameter, Point, Variation, combinations};
use crate::explore::simulator::{Ran, Simulator};
use crate::explore::{Measured, described, sweep, task};
use crate::graph::Graph;
use crate::graph::generate::{Labels, Model, Recipe, generate};
use crate::graph::read::{ReadOptions, read_graph};
use crate::prepare::renumber;
use report::{Block, Report, Section};

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
    /// Graphs that are only sampled.
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
    /// Hash of the base machine's model and of the simulation around it, once a point has run.
    pub model: std::cell::RefCell<String>,
    /// Points without a result, in words.
    pub missing: std::cell::RefCell<Vec<String>>,
}

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
    /// Folder of the points' results.
    pub cache: PathBuf,
    /// Most cycles of a point.
    pub max_cycles: u64,
}

/// Runs all experiments and writes the report. Gives the points that have no result.
///
/// # Errors
/// Those of reading, simulating and writing. After [`Error::Interrupted`] the next run goes on with
/// the points that are missing.
pub fn run(options: &Options, context: &Context) -> Result<Vec<String>> {
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
        model: Default::default(),
        missing: Default::default(),
    };
    type Experiment = fn(&Lab<'_>) -> Result<Section>;
    let experiments: [(&str, Experiment); 11] = [
        ("figure 3", accesses::figure_3),
        ("figure 5", accesses::figure_5),
        ("figure 8", accesses::figure_8),
        ("table III", performance::table_3),
        ("figure 11", performance::figure_11),
        ("figure 12", design::figure_12),
        ("figure 13", design::figure_13),
        ("figure 14", design::figure_14),
        ("beyond the paper", beyond::scaling),
        ("the memory", beyond::memory),
        ("sampling", sampling::sampling),
    ];
    let mut sections = vec![];
    for (name, experiment) in experiments {
        eprintln!("{name}");
        sections.push(experiment(&lab)?);
    }
    sections.push(synthesis());
    let missing = lab.missing.borrow().clone();
    let report = Report {
        title: "The paper's experiments on this machine".into(),
        opening: opening(&lab),
        sections,
    };
    report.write(&options.out)?;
    Ok(missing)
}

fn opening(lab: &Lab<'_>) -> Vec<String> {
    let m = &lab.base.machine;
    let graphs: Vec<String> = lab
        .inputs
        .iter()
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
        "Two orders of comparison: *ascending* by Rank(ON_1) makes the hubs the roots of the \
         largest trees, as the paper's figures suggest; *descending* is the default here. A verdict \
         counts cases: reproduced if the claim holds in all, partly if in some."
            .into(),
    ];
    if lab.quick {
        all.insert(
            0,
            "**A quick run**: random graphs on a small machine, which show that the machinery works. \
             The verdicts below say nothing of the paper."
                .into(),
        );
    }
    let missing = lab.missing.borrow();
    if !missing.is_empty() {
        all.push(format!("Points without a result: {}.", missing.join("; ")));
    }
    all
}

/// The graphs: small random ones, or those of the paper that are at hand; and those to sample.
fn inputs(options: &Options, context: &Context) -> Result<(Vec<Input>, Vec<Input>)> {
    let input = |name: &str, paper, raw: Graph, four_motifs| -> Result<Input> {
        let graph = renumber(&raw, context)?;
        Ok(Input { name: name.into(), paper, graph, raw, four_motifs })
    };
    if options.quick {
        let random = |scale, edge_factor, seed| {
            let labels = Some(Labels { count: 4, exponent: 1.0 });
            let model = Model::Rmat { scale, edge_factor, a: 0.57, b: 0.19, c: 0.19 };
            generate(&Recipe { model, seed, vertex_labels: labels, edge_labels: None }, context)
        };
        let small = vec![
            input("rmat-7", None, random(7, 3, 1)?, true)?,
            input("rmat-8", None, random(8, 2, 2)?, false)?,
        ];
        return Ok((small, vec![]));
    }
    let Some(data) = &options.data else {
        return Err(Error::usage(
            "the real graphs are missing: name their folder with --data or GRAMER_DATA, or give \
             --quick for small random ones",
        ));
    };
    let read = |file: &str| {
        let options = ReadOptions { edge_labels: false, ..ReadOptions::default() };
        read_graph(&data.join(file), &options, context)
    };
    let p2p = read("p2p-gnutella08/p2p-gnutella08.txt.zst")?;
    let full = vec![
        input("citeseer", Some("Citeseer"), read("citeseer/citeseer.lg")?, true)?,
        input("p2p-gnutella08", Some("P2P"), p2p, false)?,
    ];
    let astro = read("ca-astroph/ca-AstroPh.txt.zst")?;
    Ok((full, vec![input("ca-astroph", Some("Astro"), astro, false)?]))
}

impl Lab<'_> {
    /// A sweep: `variations` as on the command line of `gramer explore`. Points without a result
    /// are noted and left out.
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
        let told = |done: usize, at: usize, ran: &Ran| {
            let what = match ran {
                Ran::Done(kept) => format!("{} cycles", kept.result["cycles"]),
                Ran::Limit => "too many cycles".into(),
                Ran::Failed(said) => said.clone(),
            };
            let settings = described(&points[at].settings);
            eprintln!("  {} {name} {done}/{} {settings}: {what}", input.name, points.len());
        };
        let all =
            sweep(&self.simulator, &input.graph, &simulated, &mined, &points, self.context, &told)?;
        for (point, asked) in all.iter().zip(&points) {
            if let (Ok(measures), true) = (&point.measures, asked.machine == self.base) {
                *self.model.borrow_mut() = measures.kept().identity.clone();
            }
            if let Err(said) = &point.measures {
                let settings = described(&point.settings);
                self.missing.borrow_mut().push(format!("{} {name} {settings}: {said}", input.name));
            }
        }
        Ok(all.into_iter().filter(|p| p.measures.is_ok()).collect())
    }

    /// Slots to sweep over, up to the machine's.
    fn slots(&self) -> String {
        doubling(1, self.base.machine.slots)
    }
}

/// `1,2,4,…` up to `last`.
fn doubling(first: u32, last: u32) -> String {
    let all = std::iter::successors(Some(first), |n| Some(n * 2)).take_while(|&n| n <= last);
    all.map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

/// The value of a parameter of a point.
fn value(point: &Measured, parameter: Parameter) -> &str {
    point.settings.iter().find(|s| s.parameter == parameter).map_or("", |s| &s.text)
}

/// The measures of a point that has some.
fn measures(point: &Measured) -> Option<&Measures> {
    point.measures.as_ref().ok()
}

/// The measures of the point with these values.
fn at<'a>(all: &'a [Measured], wanted: &[(Parameter, &str)]) -> Option<&'a Measures> {
    let fits = |p: &&Measured| wanted.iter().all(|&(parameter, text)| value(p, parameter) == text);
    all.iter().find(fits).and_then(measures)
}

/// Rows of a CSV file that holds several sweeps: graph, task, settings, metrics.
struct Csv(String);

impl Csv {
    fn new(settings: &[Parameter]) -> Self {
        let names: Vec<&str> = settings.iter().map(|p| p.name()).collect();
        let metrics: Vec<&str> = Metric::all().map(Metric::name).collect();
        Csv(format!("graph,task,{},{}\n", names.join(","), metrics.join(",")))
    }

    fn add(&mut self, input: &Input, task: &str, settings: &[Parameter], all: &[Measured]) {
        for point in all {
            let Some(measures) = measures(point) else { continue };
            let values: Vec<&str> = settings.iter().map(|&p| value(point, p)).collect();
            let metrics: Vec<String> = Metric::all().map(|m| measures.get(m).to_string()).collect();
            self.0 +=
                &format!("{},{task},{},{}\n", input.name, values.join(","), metrics.join(","));
        }
    }
}

/// Smallest and largest as `1.02 to 1.90`.
fn span(values: &[f64], digits: usize) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values.is_empty() {
        true => "nothing".into(),
        false => format!("{low:.digits$} to {high:.digits$}"),
    }
}

/// Short name of a task, `5-CF`.
fn short(name: &str) -> String {
    task(name).map_or_else(|_| name.into(), |(_, task)| crate::explore::short_name(&task))
}

/// What another kind of run answers.
fn synthesis() -> Section {
    Section {
        title: "Tables II and IV: resources and clock".into(),
        blocks: vec![Block::Text(
            "Resources, clock and power come from synthesis, not from simulation: see \
             [docs/synthesis.md](../synthesis.md)."
                .into(),
        )],
        claims: vec![report::Claim {
            place: "tables II, IV",
            claim: "25.5 % LUT, 13.1 % FF, 65.7 % BRAM at 207 to 213 MHz; compaction doubles the clock",
            verdict: report::Verdict::Open,
            ours: "–".into(),
            why: "a matter of synthesis: docs/synthesis.md".into(),
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

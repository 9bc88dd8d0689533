//! The paper's experiments on our machine, and a report that puts our figures beside its.
//!
//! | module | experiments |
//! |---|---|
//! | `waits` | figure 3: waits of PUs, and cache misses of algorithm 1 on a CPU |
//! | `accesses` | figure 5: distribution of accesses, by algorithm 1 on the CPU |
//! | `heuristic` | figure 8: accuracy of ON_k |
//! | `running_times` | table III |
//! | `performance` | time of a run, and figure 11b: the share of the preparation |
//! | `energy` | figure 11a: an estimate of the energy |
//! | `hierarchies` | figure 12: memory |
//! | `steps` | gains of a hierarchy of figure 12 over another |
//! | `replay` | figure 12 by raw accesses of algorithm 1 |
//! | `design` | figure 13: slots, stealing |
//! | `settings` | figure 14: τ, λ |
//! | `beyond` | beyond the paper: units, partitions, DDR, on-chip memory |
//! | `unit_order` | noise by the order of the work units |
//! | `sampling` | accuracy of samples |
//! | `estimates` | estimates of points by samples |
//! | `sizes` | table III at the sizes of larger graphs |
//! | `inputs` | the graphs |
//! | `lab` | sweeps on the simulated machine |
//! | `checks` | the machine's connectivity check and the paper's |
//! | `cells` | points by their settings, figures as text |
//! | `verdict` | the rule of the verdicts |
//! | `claims` | claims as rows of the report and of claims.csv |
//! | `earlier` | sections of an earlier report, for a run of some experiments |
//! | [`report`] | Markdown, plots, CSV |
//!
//! Verdicts are computed from measurements. Cycles come from the simulated core, never from a model of
//! it; modelled figures (transfer, set-up) are marked.

mod accesses;
mod beyond;
mod cells;
mod checks;
pub(crate) mod claims;
mod design;
pub(crate) mod earlier;
mod energy;
mod estimates;
mod heuristic;
mod hierarchies;
mod inputs;
mod lab;
mod performance;
#[cfg(test)]
mod published;
mod replay;
pub mod report;
mod running_times;
mod sampling;
mod settings;
mod sizes;
mod steps;
mod unit_order;
mod verdict;
mod waits;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gramer_machine::{Accelerator, Check};

pub(crate) use cells::csv_table;
use cells::{
    Csv, NOT_RUN, at, axis_names, cycles, finds_nothing, in_orders, measures, of_task, short,
    speed_up, times, value,
};

use crate::explore::simulator::Simulator;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::Graph;
use report::{Answer, Block, Claim, Finding, NOT_MEASURED, PaperReport, Part, Section, Verdict};

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

/// Context of the experiments.
pub struct Lab<'a> {
    /// The simulator.
    pub simulator: Simulator,
    /// The machine that is varied.
    pub base: Accelerator,
    /// The graphs.
    pub inputs: Vec<Input>,
    /// A machine that simulates fast, for sections with many runs.
    pub small: Accelerator,
    /// A larger graph, for some of the experiments.
    pub large: Vec<Input>,
    /// The graphs of figure 12.
    pub p2p: Vec<Input>,
    /// Graphs of the size of the paper's Mico, for the replay.
    pub mico: Vec<Input>,
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
    /// Sink of progress messages.
    pub tell: Progress<'a>,
    /// Hash of the base machine's model and of the simulation around it, once a point has run.
    pub model: std::cell::RefCell<String>,
    /// Points that failed, in words.
    pub missing: std::cell::RefCell<Vec<String>>,
    /// Points that were left out because they are too long, in words.
    pub left_out: std::cell::RefCell<BTreeSet<String>>,
}

/// Receiver of progress lines of the experiments.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);

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
    /// Names of the experiments to run, of [`experiments`]; none: all. The sections of the others are taken from the
    /// report in `out`.
    pub only: Vec<String>,
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
    /// Simulate nothing: points that the cache lacks are not run.
    pub cached: bool,
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
const NUMBERS: [&str; 29] = [
    "claims",
    "beyond-cycles_a_beat",
    "beyond-latency",
    "beyond-memory",
    "beyond-partitions",
    "beyond-processing_units",
    "figure-11",
    "figure-12",
    "figure-12-gains",
    "figure-12-replay",
    "figure-13",
    "figure-13-speed-up",
    "figure-14a",
    "figure-14b",
    "figure-3",
    "figure-3-accesses",
    "figure-3-waits",
    "figure-5",
    "figure-8",
    "figure-8-cost",
    "sampling",
    "table-3",
    "table-3-kernels",
    "table-3-large",
    "table-3-mico",
    "table-3-passes",
    "table-3-sums",
    "unit-order",
    "unit-order-spread",
];

/// Names of the files that a report may have.
pub fn files(html: bool) -> Vec<String> {
    let plots = PLOTS.iter().map(|name| format!("{name}.svg"));
    let numbers = NUMBERS.iter().map(|name| format!("{name}.csv"));
    let pages = [Some(report::REPORT), html.then_some(report::PAGE)].into_iter().flatten();
    pages.map(String::from).chain(plots).chain(numbers).collect()
}

type Experiment = fn(&Lab<'_>) -> Result<Section>;

/// Name, title of the section, and function.
const EXPERIMENTS: &[(&str, &str, Experiment)] = &[
    ("figure-3", "Figure 3: waits for memory", waits::figure_3),
    ("figure-5", "Figures 4 and 5: extension locality", accesses::figure_5),
    ("figure-8", "Figure 8: ON_k", heuristic::figure_8),
    ("table-3", "Table III: running times", running_times::table_3),
    ("mico", sizes::OF_MICO, sizes::of_mico),
    ("large", sizes::OF_LARGE, sizes::of_large),
    ("figure-11", "Figure 11: energy and preparation", performance::figure_11),
    ("figure-12", "Figure 12: the memory hierarchy", hierarchies::figure_12),
    ("replay", replay::TITLE, replay::replay),
    ("figure-13", "Figure 13: slots and work stealing", design::figure_13),
    ("figure-14", "Figure 14: τ and λ", settings::figure_14),
    ("scaling", "Beyond the paper: processing units and partitions", beyond::scaling),
    ("memory", "Beyond the paper: memory", beyond::memory),
    ("unit-order", "Noise by the order of the work units", unit_order::unit_order),
    ("sampling", "Sampling of large runs", sampling::sampling),
];

/// Names of the experiments.
pub fn experiments() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|(name, ..)| *name)
}

/// Runs the experiments and writes the report. Gives the points that failed.
///
/// # Errors
/// Errors of reading, simulating and writing. After [`gramer_base::Error::Interrupted`] the next run goes on with
/// the points that are missing.
pub fn run(options: &Options, context: &Context, tell: Progress<'_>) -> Result<Vec<String>> {
    let before = match options.only.is_empty() {
        true => None,
        false => Some(earlier::Report::read(&options.out)?),
    };
    let simulator = Simulator::new(&options.cache, context.threads(), options.max_cycles)?;
    let simulator = if options.cached { simulator.cached_alone() } else { simulator };
    let [inputs, large, p2p, mico] = inputs::inputs(options, context)?;
    let lab = Lab {
        simulator,
        base: options.machine.clone(),
        small: options.small.clone(),
        inputs,
        large,
        p2p,
        mico,
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
    let mut parts: Vec<Part> = vec![];
    for &(name, title, experiment) in EXPERIMENTS {
        match &before {
            Some(report) if !options.only.iter().any(|only| only == name) => {
                match report.section(title) {
                    Ok(earlier) => parts.push(Part::Earlier(earlier)),
                    // It stays out of the report, as before.
                    Err(missing) => tell(&missing.to_string()),
                }
            }
            _ => {
                tell(title);
                lab.model.take();
                lab.left_out.take();
                let mut section = experiment(&lab)?;
                section.blocks.extend(last_line(&lab).map(Block::Text));
                parts.push(section.into());
            }
        }
    }
    parts.push(synthesis().into());
    let missing = lab.missing.borrow().clone();
    let report = PaperReport {
        title: "The paper's experiments on this machine".into(),
        opening: opening(&lab),
        parts,
    };
    report.write(&options.out, options.html, options.force)?;
    Ok(missing)
}

/// The last line of a section that simulated: its limit of cycles, the points that were not run, and the model.
fn last_line(lab: &Lab<'_>) -> Option<String> {
    let (model, left_out) = (lab.model.borrow(), lab.left_out.borrow());
    if model.is_empty() {
        return None;
    }
    let most = lab.simulator.max_cycles();
    let left_out = match left_out.is_empty() {
        true => String::new(),
        false => {
            let all: Vec<&str> = left_out.iter().map(String::as_str).collect();
            format!(" Not run: {}.", all.join("; "))
        }
    };
    Some(format!("Points of up to {most} cycles.{left_out} Model: {model}."))
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
            "Written by `gramer-lab paper`. Cycles are those of the core in SystemVerilog, simulated \
             cycle by cycle with Verilator on the machine `{}` ({} PUs of {} slots, {} partitions, \
             {} MHz) with the memory model of its description; no card was used. Each count was \
             compared with the CPU engine's. Its connectivity check searches {}; figures 3, 12 and 14 are also of \
             the other check (column `check`; rows of claims named *candidate*): the paper's reads the candidate's record \
             and list (section II-B). Graphs: {}.",
            m.name,
            m.processing_units,
            m.slots,
            m.partitions,
            m.clock_mhz,
            match m.check {
                Check::Embedding => "the lists of the embedding (`check: embedding`)",
                Check::Candidate => "the list of the candidate (`check: candidate`)",
            },
            graphs.join(", ")
        ),
        "Each claim is compared in two orders: *ascending* by Rank(ON_1), the paper's, makes \
         hubs the roots of the largest trees; *descending* is the default here."
            .into(),
        "*k-CF*: k-clique finding; *k-MC*: k-motif counting; *FSM-S*: frequent subgraph mining \
         with support S."
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
    let limits = "A section ends with its limit of cycles, its points that were not run, which the tables mark as well, \
                  and its model: a hash of Verilator's version, the description, `rtl/` and the memory model.";
    all.push(match lab.sampling {
        true => format!(
            "{limits} Cycles and hit ratios with ≈ and a 95 % interval are estimates from a sample of a point's work; a section \
             measures their accuracy."
        ),
        false => format!("{limits} Sampling was off."),
    });
    let missing = lab.missing.borrow();
    if !missing.is_empty() {
        all.push(format!("**Points that failed**: {}.", missing.join("; ")));
    }
    all
}

/// What another kind of run answers.
fn synthesis() -> Section {
    Section {
        title: "Tables II and IV: resources and clock".into(),
        blocks: vec![Block::Text(
            "Resources, clock and power come from synthesis, not from simulation: see \
             [docs/results/hardware/synthesis.md](../hardware/synthesis.md)."
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
            why: "a matter of synthesis: docs/results/hardware/synthesis.md".into(),
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

//! Accuracy of samples, compared with whole runs.

use gramer_machine::Accelerator;

use super::report::{Answer, Block, Claim, Finding, Section, Verdict};
use super::{Lab, at, short};
use crate::explore::measures::Metric;
use crate::explore::parameter::{Point, Variation};
use crate::explore::sample::{CycleEstimate, SampleSettings, estimate, work};
use crate::explore::task;
use gramer_base::error::Result;
use gramer_graph::generate::{Model, Recipe, generate};
use gramer_graph::prepare::renumber;

use super::Input;

const TITLE: &str = "Sampling of large runs";

/// Points that are estimated and run in full.
pub fn sampling(lab: &Lab<'_>) -> Result<Section> {
    if !lab.sampling {
        let text = "Left out in this run (`--no-sampling`).".into();
        return Ok(Section {
            title: TITLE.into(),
            blocks: vec![Block::Text(text)],
            claims: vec![],
        });
    }
    let tasks: &[&str] = if lab.quick { &["motif:3"] } else { &["motif:3", "clique:4"] };
    let variants: &[&str] = match lab.quick {
        true => &["slots=4", "slots=8"],
        false => &["slots=8", "slots=2", "latency=200"],
    };
    let mut comparison = Comparison::new();
    for (graph_name, model) in models(lab.quick) {
        let recipe = Recipe { model, seed: 5, vertex_labels: None, edge_labels: None };
        let raw = generate(&recipe, lab.context)?;
        let graph = renumber(&raw, lab.context)?;
        let (name, four_motifs) = (graph_name.to_string(), false);
        let input = Input { name, paper: None, graph, raw, four_motifs, fsm: "" };
        for name in tasks {
            for variant in variants {
                comparison.run(lab, &lab.small, &input, name, variant)?;
            }
        }
    }
    // On the machine of the other sections, those that are large enough for its slots.
    for input in &lab.large {
        for name in ["clique:3", "motif:3", "clique:4"] {
            comparison.run(lab, &lab.base, input, name, "order=descending")?;
        }
    }
    let claims = vec![comparison.claim()];
    Ok(Section { title: TITLE.into(), blocks: comparison.blocks(lab), claims })
}

/// The random graphs.
fn models(quick: bool) -> Vec<(&'static str, Model)> {
    let rmat = |scale, edge_factor, a, b| Model::Rmat { scale, edge_factor, a, b, c: b };
    match quick {
        true => vec![("ba-3000", Model::BarabasiAlbert { vertices: 3000, edges_per_vertex: 3 })],
        false => vec![
            ("rmat-13", rmat(13, 3, 0.57, 0.19)),
            ("rmat-14", rmat(14, 2, 0.45, 0.22)),
            ("ba-12000", Model::BarabasiAlbert { vertices: 12_000, edges_per_vertex: 3 }),
            ("er-12000", Model::ErdosRenyiEdges { vertices: 12_000, edges: 40_000 }),
        ],
    }
}

/// Samples beside whole runs, as the cases come.
struct Comparison {
    csv: String,
    rows: Vec<Vec<String>>,
    /// Whether the whole run lies in the sample's interval.
    inside: Vec<bool>,
    /// How far the sample is off, in %.
    off: Vec<f64>,
    /// Cycles that were simulated for the sample, in % of the whole run's.
    simulated: Vec<f64>,
    /// Of the draws of the case that was run last.
    seed: u64,
}

impl Comparison {
    fn new() -> Self {
        Comparison {
            csv: "graph,task,setting,cycles,sampled,half,simulated,inside\n".into(),
            rows: vec![],
            inside: vec![],
            off: vec![],
            simulated: vec![],
            seed: 0,
        }
    }

    /// Runs a case in full and as a sample.
    fn run(
        &mut self,
        lab: &Lab<'_>,
        base: &Accelerator,
        input: &Input,
        name: &str,
        variant: &str,
    ) -> Result<()> {
        let all = lab.sweep_on(base, input, name, &[variant])?;
        // What was sampled itself says nothing.
        let Some(full) = at(&all, &[]).filter(|m| m.half().is_none()) else { return Ok(()) };
        let (simulated, mined) = task(name)?;
        let works = work(&input.graph, &mined, lab.context)?;
        let settings = Variation::parse(variant)?.values;
        let point = Point::new(base, input.graph.view(), &settings)?;
        self.seed += 1;
        let sampling = SampleSettings { seed: self.seed, ..SampleSettings::default() };
        let simulator = &lab.simulator;
        let s =
            estimate(simulator, &input.graph, &simulated, &works, &point, &sampling, lab.context)?;
        let (name_of, cycles, half) = (&input.name, s.cycles, s.half);
        (lab.tell)(&format!("  {name_of} {name} {variant}: {cycles:.0} ± {half:.0}"));
        self.add(&input.name, name, variant, full.get(Metric::Cycles), &s);
        Ok(())
    }

    fn add(&mut self, graph: &str, name: &str, setting: &str, full: f64, s: &CycleEstimate) {
        let within = (full - s.cycles).abs() <= s.half;
        let off = 100.0 * (s.cycles / full - 1.0);
        let simulated = 100.0 * s.simulated as f64 / full;
        self.inside.push(within);
        self.off.push(off);
        self.simulated.push(simulated);
        self.csv += &format!(
            "{graph},{name},{setting},{full},{},{},{},{within}\n",
            s.cycles, s.half, s.simulated
        );
        self.rows.push(vec![
            format!("{graph} {} {setting}", short(name)),
            format!("{full:.0}"),
            format!("{:.0} ± {:.0}", s.cycles, s.half),
            format!("{off:+.1}"),
            format!("{:.1}", 100.0 * s.half / s.cycles),
            if within { "yes" } else { "no" }.into(),
            format!("{simulated:.0}"),
        ]);
    }

    fn blocks(self, lab: &Lab<'_>) -> Vec<Block> {
        let header = [
            "case",
            "cycles",
            "sampled, 95 %",
            "off by %",
            "half interval %",
            "inside",
            "simulated % of it",
        ];
        vec![
            Block::Text(format!(
                "How samples are drawn and what the interval covers is in `host/laboratory/src/explore/sample.rs`. \
                 Here the whole task was run as well: random graphs on machine `{}`, real ones on \
                 machine `{}`.",
                lab.small.machine.name, lab.base.machine.name
            )),
            Block::Table { header: header.map(String::from).to_vec(), rows: self.rows },
            Block::File("sampling.csv".into(), self.csv),
        ]
    }

    fn claim(&self) -> Claim {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
        let worst = self.off.iter().fold(0.0, |w: f64, o| w.max(o.abs()));
        Claim {
            place: "our own",
            claim: "a 95 % interval from a sample holds the cycles of the whole run",
            bar: "if the whole run lies in the interval".into(),
            answer: Answer::Any(Finding {
                verdict: Verdict::of(self.inside.iter().copied()),
                ours: format!(
                    "off by {:+.1} % on average, {worst:.1} % at most; {:.0} % of the cycles simulated",
                    mean(&self.off),
                    mean(&self.simulated)
                ),
            }),
            why: "the graphs are as small as runs in full ask for, and a sample has at least ten \
                  windows of 256 units, so larger ones save more"
                .into(),
        }
    }
}

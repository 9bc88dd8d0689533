//! Accuracy of samples, compared with whole runs.

use gramer_machine::Accelerator;

use super::estimates::{Sampled, in_words, sampled};
use super::report::{Answer, Block, Claim, Finding, ORDERS, Section, Verdict};
use super::{Lab, at, short};
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::Variation;
use crate::explore::sample::SampleSettings;
use crate::explore::sample::windows::Ratio;
use crate::explore::sample::work::TaskWork;
use gramer_base::error::Result;
use gramer_base::parallel::for_items;
use gramer_graph::generate::{Model, Recipe, generate};
use gramer_graph::prepare::renumber;

use super::Input;
use crate::papers::OWN;

const TITLE: &str = "Sampling of large runs";

/// Share of a task's work in the windows of its sample: larger than usual, since the tasks are as small as whole runs need.
const PART: u64 = 6;

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
    let random: Vec<(Input, &[&str])> = models(lab.quick)
        .into_iter()
        .map(|(name, model, tasks)| {
            let recipe = Recipe { model, seed: 5, vertex_labels: None, edge_labels: None };
            let raw = generate(&recipe, lab.context)?;
            let graph = renumber(&raw, lab.context)?;
            let (name, four_motifs) = (name.to_string(), false);
            Ok((Input { name, paper: None, graph, raw, four_motifs, fsm: "" }, tasks))
        })
        .collect::<Result<_>>()?;
    // On the machine of the other sections, those that are large enough for its slots.
    let large = lab.large.iter().map(|i| (i, &["clique:3", "motif:3", "clique:4"][..]));
    let real = large.filter(|_| !lab.quick);
    let small = random.iter().map(|(input, tasks)| (&lab.small, input, *tasks, &["slots=8"][..]));
    let all = small.chain(real.map(|(input, tasks)| (&lab.base, input, tasks, &[][..])));
    let mut cases = vec![];
    for (base, input, tasks, settings) in all {
        for (name, order) in tasks.iter().flat_map(|&name| ORDERS.map(|order| (name, order))) {
            let order = format!("order={order}");
            let variants = [settings, &[order.as_str()]].concat();
            let points = lab.sweep_on(base, input, name, &variants)?;
            // What was sampled itself says nothing.
            if let Some(whole) = at(&points, &[]).filter(|m| m.half().is_none()) {
                let (setting, seed) = (variants.join(" "), cases.len() as u64 + 1);
                cases.push(Case { base, input, name, setting, seed, whole: whole.clone() });
            }
        }
    }
    let mut comparison = Comparison::new();
    for (case, sampled) in cases.iter().zip(estimates(lab, &cases)?) {
        comparison.add(case, sampled);
    }
    let claims = comparison.claims();
    Ok(Section { title: TITLE.into(), blocks: comparison.blocks(lab), claims })
}

/// A point that was run in full.
struct Case<'a> {
    base: &'a Accelerator,
    input: &'a Input,
    name: &'a str,
    /// As on the command line.
    setting: String,
    /// Of its draws.
    seed: u64,
    whole: Measures,
}

/// Estimates of all cases, several at a time.
fn estimates(lab: &Lab<'_>, cases: &[Case<'_>]) -> Result<Vec<Sampled>> {
    let (simulator, context, tell) = (&lab.simulator, lab.context, lab.tell);
    let found = for_items(context.threads(), cases, |_, case| {
        let settings: Vec<&str> = case.setting.split(' ').collect();
        let settings = settings.into_iter().map(Variation::parse).collect::<Result<Vec<_>>>()?;
        let settings: Vec<_> = settings.into_iter().flat_map(|v| v.values).collect();
        let usual = SampleSettings { seed: case.seed, ..SampleSettings::default() };
        let of_work = |work: &TaskWork<'_>| SampleSettings {
            work: usual.work.min(work.whole() / PART),
            ..usual
        };
        let found = sampled(
            (simulator, case.base),
            &case.input.graph,
            (case.name, &settings),
            &of_work,
            context,
        )?;
        tell(&format!(
            "  {} {} {}: {}",
            case.input.name,
            case.name,
            case.setting,
            in_words(&found)
        ));
        Ok(found)
    });
    found.into_iter().collect()
}

/// The random graphs, with their tasks.
fn models(quick: bool) -> Vec<(&'static str, Model, &'static [&'static str])> {
    let rmat = |scale, edge_factor, a, b| Model::Rmat { scale, edge_factor, a, b, c: b };
    let ba = |vertices| Model::BarabasiAlbert { vertices, edges_per_vertex: 3 };
    let er = Model::ErdosRenyiEdges { vertices: 12_000, edges: 40_000 };
    match quick {
        true => vec![("ba-6000", ba(6000), &["motif:3"])],
        false => vec![
            ("rmat-13", rmat(13, 3, 0.57, 0.19), &["motif:3"]),
            ("rmat-14", rmat(14, 2, 0.45, 0.22), &["motif:3"]),
            ("ba-12000", ba(12_000), &["motif:3"]),
            ("er-12000", er, &["motif:3"]),
        ],
    }
}

/// A number of a whole run beside a sample's.
struct Pair {
    whole: f64,
    sampled: Ratio,
}

impl Pair {
    /// Whether the whole run lies in the interval.
    fn inside(&self) -> bool {
        (self.whole - self.sampled.value).abs() <= self.sampled.half
    }
}

/// Samples beside whole runs, as the cases come.
struct Comparison {
    csv: String,
    cycles: Vec<Pair>,
    hits: Vec<Pair>,
    /// Cycles that were simulated for the sample, in % of the whole run's.
    simulated: Vec<f64>,
    /// Tasks that can't be sampled, with the reason.
    refused: Vec<String>,
}

impl Comparison {
    fn new() -> Self {
        let pair = |name: &str| format!("{name},{name}_sampled,{name}_half,{name}_inside");
        let numbers = ["cycles", "vertex_hits", "edge_hits"].map(pair).join(",");
        Comparison {
            csv: format!("graph,task,setting,{numbers},simulated,end\n"),
            cycles: vec![],
            hits: vec![],
            simulated: vec![],
            refused: vec![],
        }
    }

    fn add(&mut self, case: &Case<'_>, sampled: Sampled) {
        let Case { input, name, setting, whole: full, .. } = case;
        let s = match sampled {
            Ok(estimate) => estimate,
            Err(why) => {
                self.refused.push(format!("{} {} {setting} ({why})", input.name, short(name)));
                return;
            }
        };
        let share = |metric| {
            let found = s.shares.iter().find(|(known, _)| *known == metric);
            Pair { whole: full.get(metric), sampled: found.expect("a sample has hits").1 }
        };
        let cycles = Pair { whole: full.get(Metric::Cycles), sampled: s.cycles };
        let hits = [Metric::VertexHits, Metric::EdgeHits].map(share);
        let simulated = 100.0 * s.simulated as f64 / cycles.whole;
        let cell =
            |p: &Pair| format!("{},{},{},{}", p.whole, p.sampled.value, p.sampled.half, p.inside());
        let cells = [&cycles, &hits[0], &hits[1]].map(cell).join(",");
        self.csv += &format!("{},{name},{setting},{cells},{},{}\n", input.name, s.simulated, s.end);
        self.simulated.push(simulated);
        self.cycles.push(cycles);
        self.hits.extend(hits);
    }

    fn blocks(self, lab: &Lab<'_>) -> Vec<Block> {
        let refused = match self.refused.is_empty() {
            true => String::new(),
            false => format!(" Not sampled: {}.", self.refused.join("; ")),
        };
        vec![
            Block::Text(format!(
                "How samples are drawn and what the intervals cover is in `host/laboratory/src/explore/sample.rs`. \
                 Here the whole task was run as well: random graphs on machine `{}`, real ones on \
                 machine `{}`. Windows have a sixth of the work, at most {} million candidates.{refused}",
                lab.small.machine.name,
                lab.base.machine.name,
                SampleSettings::default().work / 1_000_000
            )),
            Block::File("sampling.csv".into(), self.csv),
        ]
    }

    fn claims(&self) -> Vec<Claim> {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
        let most = |v: &[f64]| v.iter().fold(0.0, |most: f64, n| most.max(n.abs()));
        let off = |pairs: &[Pair], of: fn(&Pair) -> f64| -> Vec<f64> {
            pairs.iter().map(|p| 100.0 * of(p)).collect()
        };
        let cycles = off(&self.cycles, |p| p.sampled.value / p.whole - 1.0);
        let hits = off(&self.hits, |p| p.sampled.value - p.whole);
        let claim = |claim, pairs: &[Pair], ours, why: &str| Claim {
            place: OWN,
            claim,
            bar: "if the whole run lies in the interval".into(),
            answer: Answer::Any(Finding {
                verdict: Verdict::of(pairs.iter().map(Pair::inside)),
                ours,
            }),
            why: why.into(),
        };
        vec![
            claim(
                "a 95 % interval from a sample holds the cycles of the whole run",
                &self.cycles,
                format!(
                    "off by {:+.1} % on average, {:.1} % at most; {:.0} % of the cycles simulated",
                    mean(&cycles),
                    most(&cycles),
                    mean(&self.simulated)
                ),
                "the graphs are as small as whole runs need, so larger ones save more",
            ),
            claim(
                "and its hit ratios",
                &self.hits,
                format!("off by {:+.1} points on average, {:.1} at most", mean(&hits), most(&hits)),
                "a window begins far from its predecessor, whose lines it can't use; a whole run of trees that share lines \
                 misses less",
            ),
        ]
    }
}

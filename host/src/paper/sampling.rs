//! Large runs from samples, and how well samples do where the whole can be run.

use super::report::{Block, Claim, Section, Verdict};
use super::{Lab, at, short};
use crate::error::Result;
use crate::explore::measures::Metric;
use crate::explore::parameter::{Point, Variation};
use crate::explore::sample::{Plan, Sampled, estimate, work};
use crate::explore::{described, task};
use crate::graph::generate::{Model, Recipe, generate};
use crate::prepare::renumber;

use super::Input;

const TITLE: &str = "Sampling of large runs";

/// Points that are estimated and run in full, and points that are only estimated.
pub fn sampling(lab: &Lab<'_>) -> Result<Section> {
    let rmat = |scale, edge_factor| Model::Rmat { scale, edge_factor, a: 0.57, b: 0.19, c: 0.19 };
    let models: Vec<(&str, Model)> = match lab.quick {
        true => vec![("ba-3000", Model::BarabasiAlbert { vertices: 3000, edges_per_vertex: 3 })],
        false => vec![
            ("rmat-13", rmat(13, 3)),
            ("rmat-14", rmat(14, 2)),
            ("ba-12000", Model::BarabasiAlbert { vertices: 12_000, edges_per_vertex: 3 }),
            ("er-12000", Model::ErdosRenyiEdges { vertices: 12_000, edges: 40_000 }),
        ],
    };
    let tasks: &[&str] = if lab.quick { &["motif:3"] } else { &["motif:3", "clique:4"] };
    let variants: &[&str] = match lab.quick {
        true => &["slots=4", "slots=8"],
        false => &["slots=8", "slots=2", "latency=200"],
    };
    if !lab.sampling {
        let text = "Left out in this run (`--no-sampling`).".into();
        return Ok(Section {
            title: TITLE.into(),
            blocks: vec![Block::Text(text)],
            claims: vec![],
        });
    }
    let mut csv = String::from("graph,task,setting,cycles,sampled,half,simulated,inside\n");
    let (mut rows, mut inside, mut off, mut saved) = (vec![], vec![], vec![], vec![]);
    let mut add = |graph: &str, name: &str, setting: &str, full: f64, s: &Sampled| {
        let within = (full - s.cycles).abs() <= s.half;
        inside.push(within);
        off.push(100.0 * (s.cycles / full - 1.0));
        saved.push(100.0 * s.simulated as f64 / full);
        csv += &format!(
            "{graph},{name},{setting},{full},{},{},{},{within}\n",
            s.cycles, s.half, s.simulated
        );
        rows.push(vec![
            format!("{graph} {} {setting}", short(name)),
            format!("{full:.0}"),
            format!("{:.0} ± {:.0}", s.cycles, s.half),
            format!("{:+.1}", 100.0 * (s.cycles / full - 1.0)),
            format!("{:.1}", 100.0 * s.half / s.cycles),
            if within { "yes" } else { "no" }.into(),
            format!("{:.0}", 100.0 * s.simulated as f64 / full),
        ]);
    };
    for (at_graph, (graph_name, model)) in models.iter().enumerate() {
        let recipe = Recipe { model: *model, seed: 5, vertex_labels: None, edge_labels: None };
        let raw = generate(&recipe, lab.context)?;
        let graph = renumber(&raw, lab.context)?;
        let input =
            Input { name: graph_name.to_string(), paper: None, graph, raw, four_motifs: false };
        for name in tasks {
            let (simulated, mined) = task(name)?;
            let works = work(&input.graph, &mined, lab.context)?;
            for variant in variants {
                let all = lab.sweep_on(&lab.small, &input, name, &[variant])?;
                let Some(full) = at(&all, &[]) else { continue };
                let settings = Variation::parse(variant)?.values;
                let point = Point::new(&lab.small, input.graph.view(), &settings)?;
                let plan = Plan { seed: at_graph as u64 + 1, ..Plan::default() };
                let s = estimate(
                    &lab.simulator,
                    &input.graph,
                    &simulated,
                    &works,
                    &point,
                    &plan,
                    lab.context,
                )?;
                eprintln!("  {graph_name} {name} {variant}: {:.0} ± {:.0}", s.cycles, s.half);
                add(graph_name, name, variant, full.get(Metric::Cycles), &s);
            }
        }
    }
    let header = [
        "case",
        "cycles",
        "sampled, 95 %",
        "off by %",
        "half interval %",
        "inside",
        "simulated % of it",
    ];
    let mut blocks = vec![
        Block::Text(format!(
            "How samples are drawn and what the interval covers is in `host/src/explore/sample.rs`. \
             Here on machine `{}`, where the whole task was run as well.",
            lab.small.machine.name
        )),
        Block::Table { header: header.map(String::from).to_vec(), rows },
        Block::File("sampling.csv".into(), csv),
    ];
    blocks.extend(large(lab)?);
    let held = inside.iter().filter(|&&i| i).count();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
    let worst = off.iter().fold(0.0, |w: f64, o| w.max(o.abs()));
    let claims = vec![Claim {
        place: "our own",
        claim: "a 95 % interval from a sample holds the cycles of the whole run",
        verdict: match inside.len() {
            0 => Verdict::Open,
            n if held as f64 >= 0.9 * n as f64 => Verdict::Reproduced,
            n if 2 * held >= n => Verdict::Partly,
            _ => Verdict::Not,
        },
        ours: format!(
            "in {held} of {} cases; off by {:+.1} % on average, {worst:.1} % at most; {:.0} % of the \
             cycles simulated",
            inside.len(),
            mean(&off),
            mean(&saved)
        ),
        why: "the interval covers the draws; the first fill of the caches and the end of the run are \
              not in it"
            .into(),
    }];
    Ok(Section { title: TITLE.into(), blocks, claims })
}

/// What is too long to run in full here.
fn large(lab: &Lab<'_>) -> Result<Vec<Block>> {
    const PAPER: [(&str, f64); 1] = [("clique:3", 0.028)];
    let mut rows = vec![];
    for input in &lab.large {
        for (name, paper) in PAPER {
            let (simulated, mined) = task(name)?;
            let works = work(&input.graph, &mined, lab.context)?;
            let settings = Variation::parse("order=descending")?.values;
            let point = Point::new(&lab.base, input.graph.view(), &settings)?;
            let s = estimate(
                &lab.simulator,
                &input.graph,
                &simulated,
                &works,
                &point,
                &Plan::default(),
                lab.context,
            )?;
            eprintln!("  {} {name}: {:.0} ± {:.0}", input.name, s.cycles, s.half);
            let ms = |cycles: f64| cycles / (f64::from(lab.base.machine.clock_mhz) * 1e3);
            rows.push(vec![
                format!("{} {} {}", input.name, short(name), described(&settings)),
                format!("≈ {:.0} ± {:.0}", s.cycles, s.half),
                format!("≈ {:.2} ± {:.2}", ms(s.cycles), ms(s.half)),
                format!("{}", paper * 1e3),
                s.simulated.to_string(),
            ]);
        }
    }
    if rows.is_empty() {
        return Ok(vec![]);
    }
    let header =
        ["case, sampled", "cycles", "kernel ms", "paper: whole run ms", "cycles simulated"];
    Ok(vec![
        Block::Text(
            "On the machine of the other sections; ≈ marks what was sampled. The paper's time \
             contains set-up (9.9 ms for cliques, 31 ms for motifs) and transfer."
                .into(),
        ),
        Block::Table { header: header.map(String::from).to_vec(), rows },
    ])
}

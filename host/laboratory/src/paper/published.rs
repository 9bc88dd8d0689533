//! Each published plot is drawn from the CSV beside it.

use std::fs;
use std::path::{Path, PathBuf};

use gramer_graph::Builder;
use serde_json::json;

use super::Input;
use super::accesses::Locality;
use super::beyond::Curve;
use super::checks::CHECKS;
use super::design::Slots;
use super::heuristic::Accuracies;
use super::hierarchies::{Hierarchies, SETTINGS};
use super::report::{Block, ORDERS};
use super::settings::Curves;
use super::waits::Stalls;
use crate::explore::PointResult;
use crate::explore::measures::Measures;
use crate::explore::parameter::{Parameter, Setting};
use crate::explore::plot::{Plot, Series};
use crate::explore::simulator::PointFile;

/// PUs and slots of the machine that was measured, and its MHz.
const PUS: u32 = 8;
const SLOTS: &str = "16";
const MHZ: u32 = 200;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/paper")
}

/// The rows of a file that are drawn, each by the names of its columns; rows of the paper's connectivity check are not.
fn rows(file: &str) -> Vec<impl Fn(&str) -> String> {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    let mut lines = text.lines().map(cells);
    let header = lines.next().unwrap();
    let check = header.iter().position(|name| name == "check");
    let drawn = lines.filter(|cells| check.is_none_or(|at| cells[at] != CHECKS[1]));
    let row = |cells: Vec<String>| {
        let header = header.clone();
        move |name: &str| cells[header.iter().position(|h| h == name).expect(name)].clone()
    };
    drawn.map(row).collect()
}

/// A run with the numbers of a row.
fn measures(row: &dyn Fn(&str) -> String) -> Measures {
    // A sample leaves some of them out.
    let number = |name: &str| row(name).parse::<f64>().unwrap_or(0.0);
    let part = |share: &str, whole: f64| (number(share) * whole).round() as u64;
    let (cycles, vertices, edges) =
        (number("cycles"), number("vertex_accesses"), number("edge_accesses"));
    let all = cycles * f64::from(PUS);
    let result = json!({
        "cycles": cycles as u64,
        "counters": {
            "pu.vertex_accesses": [[vertices as u64]],
            "partition.vertex_high_hits": [[part("vertex_hits", vertices)]],
            "partition.vertex_low_hits": [[0]],
            "pu.edge_accesses": [[edges as u64]],
            "partition.edge_high_hits": [[part("edge_hits", edges)]],
            "partition.edge_low_hits": [[0]],
            "bank.beats": [[number("ddr_beats") as u64]],
            "pu.port_busy": [[part("busy", all)]],
            "pu.idle_memory": [[part("wait_memory", all)]],
            "pu.idle_inside": [[part("wait_inside", all)]],
            "pu.idle_no_work": [[part("no_work", all)]],
        }
    });
    let kept = PointFile { identity: String::new(), task: row("task"), options: vec![], result };
    Measures::new(kept, MHZ, PUS)
}

/// The sweeps of a file: graph and task with their points, in its order.
fn sweeps(file: &str, parameters: &[Parameter]) -> Vec<(Input, String, Vec<PointResult>)> {
    let mut all: Vec<(Input, String, Vec<PointResult>)> = vec![];
    for row in rows(file) {
        // A hierarchy without λ has none.
        let named = parameters.iter().filter(|p| !row(p.name()).is_empty());
        let setting = |p: &Parameter| Setting::new(*p, &row(p.name())).unwrap();
        let measures = match row("run").as_str() {
            "whole" => Ok(measures(&row)),
            other => Err(other.to_string()),
        };
        let point =
            PointResult { settings: named.map(setting).collect(), measures, given_up: false };
        let (graph, task) = (row("graph"), row("task"));
        match all.last_mut().filter(|(input, of, _)| input.name == graph && *of == task) {
            Some((_, _, points)) => points.push(point),
            None => {
                let empty = || Builder::new().build();
                let input = Input {
                    name: graph,
                    paper: None,
                    graph: empty(),
                    raw: empty(),
                    four_motifs: false,
                    fsm: "",
                };
                all.push((input, task, vec![point]));
            }
        }
    }
    all
}

fn figures_3_12_13() -> Vec<Block> {
    let mut stalls = Stalls::new();
    for (input, task, all) in sweeps("figure-3.csv", &[Parameter::Order, Parameter::Slots]) {
        stalls.case(&input.name, &task, &all);
    }
    let mut hierarchies = Hierarchies::new();
    for (input, task, all) in sweeps("figure-12.csv", &SETTINGS) {
        hierarchies.case(&input, &task, &all);
    }
    let mut slots = Slots::new(["1", "2", "4", "8", SLOTS].map(String::from).to_vec());
    let settings = [Parameter::Order, Parameter::Stealing, Parameter::Slots];
    for (input, task, all) in sweeps("figure-13.csv", &settings) {
        slots.case(&input, &task, &all);
    }
    [stalls.blocks(Stalls::new()), hierarchies.blocks(), slots.blocks()].concat()
}

fn figure_14() -> Vec<Block> {
    let curves = |file: &str, parameter, room, one| {
        let mut curves = Curves::new(parameter, room, one);
        for (input, task, all) in sweeps(file, &[Parameter::Order, room, parameter]) {
            for order in ORDERS {
                let of = |p: &&PointResult| p.settings[0].text == order;
                let points: Vec<PointResult> = all.iter().filter(of).cloned().collect();
                curves.add(&input, &task, order, &points);
            }
        }
        curves
    };
    let tau = curves("figure-14a.csv", Parameter::Tau, Parameter::Caches, "50%");
    let lambda = curves("figure-14b.csv", Parameter::Lambda, Parameter::OnChip, "1");
    [tau.blocks("14a", "τ", "speed, τ = 50 % is 1"), lambda.blocks("14b", "λ", "speed, λ = 1 is 1")]
        .concat()
}

fn beyond() -> Vec<Block> {
    let all = [
        Parameter::ProcessingUnits,
        Parameter::Partitions,
        Parameter::Latency,
        Parameter::CyclesABeat,
        Parameter::Memory,
    ];
    let blocks = all.map(|parameter| {
        let sweeps = sweeps(&format!("beyond-{}.csv", parameter.name()), &[parameter]);
        let values: Vec<&str> = sweeps[0].2.iter().map(|p| p.settings[0].text.as_str()).collect();
        let mut curve =
            Curve::new(parameter, &format!("{}={}", parameter.name(), values.join(",")));
        sweeps.iter().for_each(|(input, task, all)| curve.add(input, task, all));
        curve.blocks()
    });
    blocks.concat()
}

fn figures_5_8() -> Vec<Block> {
    let mut locality = Locality::new();
    let x = |row: &dyn Fn(&str) -> String| row("iteration").parse::<usize>().unwrap() - 1;
    for row in rows("figure-5.csv") {
        for (of, column) in locality.series.iter_mut().zip(["vertices_best", "edges_best"]) {
            add(of, Series::new(&row("graph")), (x(&row), row(column).parse().unwrap(), 0.0));
        }
    }
    let mut accuracies = Accuracies::new();
    for row in rows("figure-8.csv") {
        for k in 0..4 {
            let y = row(&format!("on_{k}")).parse().unwrap();
            add(&mut accuracies.series, Series::new(&format!("ON_{k}")), (x(&row), y, 0.0));
        }
    }
    [locality.blocks(), vec![accuracies.plot("p2p-gnutella08")]].concat()
}

fn add(all: &mut Vec<Series>, series: Series, point: (usize, f64, f64)) {
    match all.iter_mut().find(|s| s.name == series.name && s.panel == series.panel) {
        Some(known) => known.points.push(point),
        None => all.push(Series { points: vec![point], ..series }),
    }
}

/// `GRAMER_REDRAW=1` writes them, and their titles into the report.
#[test]
fn plots_are_drawn_from_the_numbers_beside_them() {
    let blocks = [figures_3_12_13(), figure_14(), beyond(), figures_5_8()].concat();
    let plots: Vec<(String, Plot)> = blocks
        .into_iter()
        .filter_map(|block| match block {
            Block::Plot(name, plot) => Some((name, plot)),
            _ => None,
        })
        .collect();
    let report = folder().join("README.md");
    if std::env::var_os("GRAMER_REDRAW").is_some() {
        let mut text = fs::read_to_string(&report).unwrap();
        for (name, plot) in &plots {
            fs::write(folder().join(format!("{name}.svg")), plot.svg()).unwrap();
            let lines = text.lines().map(|line| match line.ends_with(&format!("]({name}.svg)")) {
                true => format!("![{}]({name}.svg)\n", plot.title),
                false => format!("{line}\n"),
            });
            text = lines.collect();
        }
        fs::write(&report, text).unwrap();
    }
    let report = fs::read_to_string(report).unwrap();
    for (name, plot) in &plots {
        let kept = fs::read_to_string(folder().join(format!("{name}.svg"))).unwrap();
        assert!(kept == plot.svg(), "docs/results/paper/{name}.svg isn't drawn from its numbers");
        assert!(report.contains(&format!("![{}]({name}.svg)", plot.title)), "{name} in the report");
    }
    let drawn = fs::read_dir(folder())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "svg"));
    assert_eq!(drawn.count(), plots.len());
}

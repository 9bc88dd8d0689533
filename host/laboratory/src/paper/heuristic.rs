//! Figure 8: ON_k as a heuristic of where accesses go.

use std::time::Instant;

use super::accesses::{COMPARISONS, MOST, TOP};
use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, near};
use super::{Input, Lab, NOT_RUN};
use crate::explore::plot::{Kind, Plot, Series};
use gramer_engine::Engine;
use gramer_engine::cpu::Cpu;
use gramer_engine::reference::accesses;
use gramer_graph::error::{Error, Result};
use gramer_graph::prepare::locality::accuracy;
use gramer_graph::prepare::on_k;
use gramer_pattern::task::{Induced, Task};

/// How well ON_k finds the vertices of figure 5, and what it costs.
pub fn figure_8(lab: &Lab<'_>) -> Result<Section> {
    let input = lab.inputs.last().expect("there are graphs");
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let (on, cost) = cost(lab, input, &task)?;
    let mut accuracies = Accuracies::new();
    for (which, order) in COMPARISONS.into_iter().enumerate() {
        match accesses(&input.graph, &task, order, MOST, lab.context) {
            Err(Error::Unsupported(_)) => accuracies.not_run(which),
            other => accuracies.add(which, &on, &other?.vertices),
        }
    }
    let claims = vec![accuracies.claim(), cost.claim()];
    let csv = std::mem::take(&mut accuracies.csv);
    let mut blocks = vec![Block::Text(format!(
        "4-MC on {}. Accuracy: how many of the first 5 % by ON_k are among the 5 % that are \
         accessed most. Cost: time to compute ON_k of all vertices.",
        input.name
    ))];
    blocks.extend(accuracies.blocks(&input.name));
    blocks.push(cost.table());
    blocks.push(Block::File("figure-8.csv".into(), csv));
    Ok(Section { title: "Figure 8: ON_k".into(), blocks, claims })
}

/// ON_k of all vertices for k from 0 to 3, and what it took beside a run of the task.
fn cost(lab: &Lab<'_>, input: &Input, task: &Task) -> Result<(Vec<Vec<u128>>, Cost)> {
    let mut on = vec![];
    let mut seconds = vec![];
    for k in 0..4 {
        let begun = Instant::now();
        on.push(on_k(input.graph.view(), k, lab.context)?);
        seconds.push(begun.elapsed().as_secs_f64());
    }
    let begun = Instant::now();
    if !Cpu.run(&input.graph, task, None, lab.context)?.complete {
        return Err(Error::Interrupted);
    }
    Ok((on, Cost { seconds, run: begun.elapsed().as_secs_f64() }))
}

/// Seconds of ON_k, by k, and of the CPU engine's run.
struct Cost {
    seconds: Vec<f64>,
    run: f64,
}

impl Cost {
    fn table(&self) -> Block {
        let header = ["", "ms on this machine", "of ON_1", "of the CPU engine's 4-MC"];
        let rows = self.seconds.iter().enumerate().map(|(k, s)| {
            vec![
                format!("ON_{k}"),
                format!("{:.3}", s * 1e3),
                format!("{:.2}", s / self.seconds[1]),
                format!("{:.4}", s / self.run),
            ]
        });
        Block::Table { header: header.map(String::from).to_vec(), rows: rows.collect() }
    }

    fn claim(&self) -> Claim {
        let costly = near(8500.0, 1.0);
        let of_hops = Cases { values: vec![self.seconds[3] / self.seconds[1]], not_run: 0 };
        Claim {
            place: "figure 8b",
            claim: "more hops cost up to 8500 times as much (k = 3)",
            bar: format!("from {costly:.0} times on"),
            answer: Answer::Any(Finding {
                verdict: of_hops.verdict(|times| times >= costly),
                ours: format!("ON_3 takes {:.0} times as long as ON_1", of_hops.values[0]),
            }),
            why:
                "two and three hops are found here by a search from each vertex that touches each \
                  vertex once"
                    .into(),
        }
    }
}

/// How many of the most accessed vertices ON_k finds, as the orders come.
pub(super) struct Accuracies {
    csv: String,
    rows: Vec<Vec<String>>,
    pub(super) series: Vec<Series>,
    /// Of ON_1, from the second iteration on.
    one: [Cases; 2],
}

impl Accuracies {
    pub(super) fn new() -> Self {
        let csv = "order,iteration,on_0,on_1,on_2,on_3\n".into();
        Accuracies { csv, rows: vec![], series: vec![], one: Default::default() }
    }

    fn not_run(&mut self, which: usize) {
        let mut row = vec![ORDERS[which].to_string()];
        row.resize(6, NOT_RUN.into());
        self.rows.push(row);
        self.one[which].add(None);
    }

    /// ON_k by k and vertex, against the accesses by iteration and vertex.
    fn add(&mut self, which: usize, on: &[Vec<u128>], found: &[Vec<u64>]) {
        let name = ORDERS[which];
        let mut lines: Vec<Series> =
            (0..4).map(|k| Series::of(&format!("ON_{k}"), format!("{name} order"))).collect();
        for (i, counts) in found.iter().enumerate().skip(1) {
            let all: Vec<f64> = on.iter().map(|on| 100.0 * accuracy(on, counts, TOP)).collect();
            let cells: Vec<String> = all.iter().map(|a| format!("{a:.1}")).collect();
            self.csv += &format!("{name},{i},{}\n", cells.join(","));
            self.rows.push([vec![name.into(), i.to_string()], cells].concat());
            // In the first every vertex is read once, so that any choice is right.
            if i > 1 {
                self.one[which].add(Some(all[1]));
            }
            for (line, y) in lines.iter_mut().zip(all) {
                line.points.push((i - 1, y, 0.0));
            }
        }
        self.series.extend(lines);
    }

    pub(super) fn blocks(self, graph: &str) -> [Block; 2] {
        let header = ["order", "iteration", "ON_0 %", "ON_1 %", "ON_2 %", "ON_3 %"];
        [
            Block::Table { header: header.map(String::from).to_vec(), rows: self.rows },
            Block::Plot(
                "figure-8".into(),
                Plot {
                    title: format!("Figure 8a: accuracy of ON_k, 4-motif counting on {graph}"),
                    x_title: "iteration".into(),
                    y_title: "top 5 % found, in %".into(),
                    x: (1..=3).map(|i| i.to_string()).collect(),
                    groups: vec![],
                    kind: Kind::Lines,
                    logarithmic: false,
                    series: self.series,
                },
            ),
        ]
    }

    fn claim(&self) -> Claim {
        let accurate = near(80.0, 0.0);
        let one = self.one.each_ref();
        Claim {
            place: "figure 8a",
            claim: "ON_1 finds over 80 % of the top vertices in all iterations",
            bar: format!("(an iteration from the second on) above {accurate:.0} %"),
            answer: Answer::Each(one.map(|c| c.finding(|share| share > accurate, 1, " %"))),
            why: "the first iteration is no case: algorithm 1 reads every vertex once there, so that \
                  any choice is right. Later a vertex is read where its embeddings are rooted"
                .into(),
        }
    }
}

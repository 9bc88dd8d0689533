//! Table III on random graphs of the sizes of the paper's larger ones, which aren't at hand: estimates by samples.

use gramer_base::error::Result;
use gramer_base::parallel::for_items;
use gramer_graph::generate::{Model, Recipe, generate};
use gramer_graph::prepare::renumber;

use super::estimates::{Sampled, in_words, sampled};
use super::inputs::MICO;
use super::performance::set_up;
use super::report::{Block, ORDERS, Section};
use super::{Input, Lab, NOT_RUN, csv_table, short, times};
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::Variation;
use crate::explore::sample::SampleSettings;
use crate::explore::sample::work::TaskWork;

/// Titles of the sections.
pub(super) const OF_MICO: &str = "Table III at the size of Mico";
pub(super) const OF_LARGE: &str = "Table III at the sizes of Patents, YT and LJ";

/// File of the first section, without ending.
const MICO_FILE: &str = "table-3-mico";

/// Tasks on graphs of Mico's size; on larger ones those of three vertices, whose work follows from positions in lists. Of the
/// paper's other tasks single units have too much work to be counted.
const TASKS: [&str; 3] = ["clique:3", "motif:3", "clique:4"];
const TASKS_OF_LARGE: usize = 2;

/// Random graphs of a size: name, the paper's graph, vertices as a power of two, edges a vertex.
const GRAPHS: [(&str, &str, u32, u64); 3] =
    [("rmat-22-4", "Patents", 22, 4), ("rmat-22-10", "YT", 22, 10), ("rmat-22-16", "LJ", 22, 16)];

/// GRAMER's seconds in the paper's table III: graph, and by task as in [`TASKS`].
const PAPER: [(&str, [f64; 3]); 4] = [
    (MICO, [0.11, 0.36, 6.86]),
    ("Patents", [3.09, 4.17, 3.74]),
    ("YT", [13.01, 16.25, 17.30]),
    ("LJ", [17.81, 29.68, 30.89]),
];

/// Columns of the files.
const COLUMNS: [&str; 15] = [
    "graph",
    "task",
    "order",
    "cycles",
    "cycles_half",
    "vertex_hits",
    "vertex_hits_half",
    "edge_hits",
    "edge_hits_half",
    "vertex_accesses",
    "edge_accesses",
    "share_of_work_in_windows",
    "share_of_cycles_at_the_end",
    "cycles_simulated",
    "paper_ms_less_set_up",
];

/// Cycles and hit ratios on graphs of Mico's size.
pub fn of_mico(lab: &Lab<'_>) -> Result<Section> {
    section(lab, OF_MICO, MICO_FILE, |table| {
        table.graphs(lab, &lab.mico.iter().collect::<Vec<_>>(), &TASKS)
    })
}

/// The same on larger ones.
pub fn of_large(lab: &Lab<'_>) -> Result<Section> {
    section(lab, OF_LARGE, "table-3-large", |table| {
        let made = |&(name, paper, scale, edge_factor): &(&str, _, _, _)| {
            let model = Model::Rmat { scale, edge_factor, a: 0.57, b: 0.19, c: 0.19 };
            let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
            let raw = generate(&recipe, lab.context)?;
            let graph = renumber(&raw, lab.context)?;
            let (name, paper) = (name.to_string(), Some(paper));
            Ok(Input { name, paper, graph, raw, four_motifs: false, fsm: "" })
        };
        let inputs = GRAPHS.iter().filter(|_| !lab.quick).map(made);
        let inputs: Vec<Input> = inputs.collect::<Result<_>>()?;
        table.graphs(lab, &inputs.iter().collect::<Vec<_>>(), &TASKS[..TASKS_OF_LARGE])
    })
}

/// A section whose table is filled by `fill`.
fn section(
    lab: &Lab<'_>,
    title: &str,
    file: &str,
    fill: impl FnOnce(&mut Table) -> Result<()>,
) -> Result<Section> {
    if !lab.sampling {
        let text = "Sampling was off.".into();
        let blocks = vec![Block::Text(text)];
        return Ok(Section { title: title.into(), blocks, claims: vec![] });
    }
    let mut table = Table::default();
    fill(&mut table)?;
    if table.rows.is_empty() {
        let blocks = vec![Block::Text("A quick run has no graph of that size.".into())];
        return Ok(Section { title: title.into(), blocks, claims: vec![] });
    }
    Ok(Section { title: title.into(), blocks: table.blocks(lab, file), claims: vec![] })
}

/// A task on a graph in an order.
struct Case<'a> {
    input: &'a Input,
    name: &'static str,
    order: &'static str,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    numbers: Vec<Vec<String>>,
    graphs: Vec<String>,
}

impl Table {
    /// All tasks on all graphs in both orders, several at a time.
    fn graphs(&mut self, lab: &Lab<'_>, inputs: &[&Input], tasks: &[&'static str]) -> Result<()> {
        if inputs.is_empty() {
            return Ok(());
        }
        for Input { name, graph, .. } in inputs {
            let (vertices, edges) = (graph.vertices(), graph.edges());
            self.graphs.push(format!("{name} ({vertices} vertices, {edges} edges)"));
        }
        let both = |input, name| ORDERS.map(|order| Case { input, name, order });
        let of_graph = |&input| tasks.iter().flat_map(move |&name| both(input, name));
        let cases: Vec<Case<'_>> = inputs.iter().flat_map(of_graph).collect();
        let (core, context, tell) = ((&lab.simulator, &lab.base), lab.context, lab.tell);
        *lab.model.borrow_mut() = lab.simulator.identity(&lab.base, context)?;
        let outcomes = for_items(context.threads(), &cases, |_, &Case { input, name, order }| {
            let settings = Variation::parse(&format!("order={order}"))?.values;
            let usual = |_: &TaskWork<'_>| SampleSettings::default();
            let found = sampled(core, &input.graph, (name, &settings), &usual, context)?;
            tell(&format!("  {} {name} {order}: {}", input.name, in_words(&found)));
            Ok(found)
        });
        let outcomes: Vec<Sampled> = outcomes.into_iter().collect::<Result<_>>()?;
        for (case, outcomes) in cases.chunks(ORDERS.len()).zip(outcomes.chunks(ORDERS.len())) {
            self.add(lab, case, outcomes);
        }
        Ok(())
    }

    /// A task in both orders.
    fn add(&mut self, lab: &Lab<'_>, case: &[Case<'_>], outcomes: &[Sampled]) {
        let Case { input, name, .. } = case[0];
        let at = TASKS.iter().position(|task| *task == name).unwrap_or(0);
        let of = PAPER.iter().find(|(graph, _)| Some(*graph) == input.paper);
        let paper = of.map(|(_, seconds)| seconds[at] * 1e3 - set_up(name));
        let paper = paper.map_or("–".into(), |ms| format!("{ms:.0}"));
        let machine = &lab.base.machine;
        let mut row = vec![format!("{} {}", short(name), input.name)];
        for (Case { order, .. }, outcome) in case.iter().zip(outcomes) {
            let measured = match outcome {
                Ok(estimate) => {
                    let (estimate, pus) = (estimate.clone(), machine.processing_units);
                    Ok(Measures::sampled(name, estimate, machine.clock_mhz, pus))
                }
                Err(why) => Err(why.as_str()),
            };
            let ms = measured.as_ref().ok().map(|m| m.get(Metric::Milliseconds));
            let half = measured.as_ref().ok().map(Measures::uncertainty);
            row.push(times(ms.zip(half).map(|(ms, half)| (ms, ms * half)), 0));
            self.numbers.push(numbers(input, name, order, &measured, &paper));
            if let Err(why) = measured {
                let note = format!("{} {name} order={order} ({why})", input.name);
                lab.left_out.borrow_mut().insert(note);
            }
        }
        row.extend([input.paper.unwrap_or("–").into(), paper]);
        self.rows.push(row);
    }

    fn blocks(self, lab: &Lab<'_>, file: &str) -> Vec<Block> {
        let header = [
            "task",
            "ms ascending",
            "ms descending",
            "the paper's graph of that size",
            "its ms less the set-up",
        ];
        let (graphs, mhz) = (self.graphs.join(", "), lab.base.machine.clock_mhz);
        // The second section refers to the first one.
        let [first, last] = match file == MICO_FILE {
            true => [
                format!(
                    "The paper's graphs aren't at hand. Graphs of their sizes are {graphs} (rmat: random, R-MAT, 0.57, 0.19, \
                     0.19). They have other hubs, so their times have no verdict. All are estimates with 95 % intervals by \
                     samples of about {} million candidates, more where single list entries have much work \
                     (`host/laboratory/src/explore/sample.rs`).",
                    SampleSettings::default().work / 1_000_000
                ),
                format!(
                    "{mhz} MHz. Tasks of the paper that are not run: 5-CF and 4-MC, which take too many cycles for whole runs \
                     and whose units have too much work to be counted for a sample; FSM, which isn't sampled. Nor is the \
                     paper's connectivity check."
                ),
            ],
            false => [
                format!("Samples of {graphs}, as at the size of Mico."),
                "Not run, for the same reasons: 4-CF, 5-CF, 4-MC and FSM.".into(),
            ],
        };
        vec![
            Block::Text(first),
            Block::Table { header: header.map(String::from).to_vec(), rows: self.rows },
            Block::File(format!("{file}.csv"), csv_table(&COLUMNS, &self.numbers)),
            Block::Text(last),
        ]
    }
}

/// A row of the file.
fn numbers(
    input: &Input,
    name: &str,
    order: &str,
    measured: &std::result::Result<Measures, &str>,
    paper: &str,
) -> Vec<String> {
    let mut row = vec![input.name.clone(), name.into(), order.into()];
    match measured.as_ref().ok().and_then(|m| m.estimate()) {
        // All but the paper's time.
        None => row.resize(COLUMNS.len() - 1, NOT_RUN.into()),
        Some(e) => {
            row.extend([format!("{:.0}", e.cycles.value), format!("{:.0}", e.cycles.half)]);
            for metric in [Metric::VertexHits, Metric::EdgeHits] {
                let share = e.shares.iter().find(|(known, _)| *known == metric);
                let cell = |number: Option<f64>| number.map_or("–".into(), |n| format!("{n:.5}"));
                row.extend([cell(share.map(|s| s.1.value)), cell(share.map(|s| s.1.half))]);
            }
            row.extend(e.accesses.map(|n| format!("{n:.0}")));
            row.extend([e.part, e.end].map(|share| format!("{share:.5}")));
            row.push(e.simulated.to_string());
        }
    }
    row.push(paper.into());
    row
}

//! What the paper didn't vary.

use super::report::{Block, Section};
use super::{Csv, Input, Lab, NOT_RUN, at, measures, of_task, short, value};
use crate::explore::Measured;
use crate::explore::measures::Metric;
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Kind, Plot, Series};
use gramer_graph::error::Result;

/// Processing units and partitions.
pub fn scaling(lab: &Lab<'_>) -> Result<Section> {
    let list = |name: &str, values: &[u32]| {
        let values: Vec<String> = values.iter().map(u32::to_string).collect();
        format!("{name}={}", values.join(","))
    };
    let units = list("processing_units", &lab.processing_units);
    let partitions = list("partitions", &lab.partitions);
    let mut blocks = vec![Block::Text(
        "One parameter at a time, the others as in the machine's description. On-chip memory stays \
         the same in all when it is divided among more partitions. A partition reads one DDR bank, \
         so 1 and 2 partitions have as many banks. Descending order."
            .into(),
    )];
    blocks.extend(curve(lab, Parameter::ProcessingUnits, &units)?);
    blocks.extend(curve(lab, Parameter::Partitions, &partitions)?);
    let title = "Beyond the paper: processing units and partitions".into();
    Ok(Section { title, blocks, claims: vec![] })
}

/// DDR latency and bandwidth, bytes on the chip.
pub fn memory(lab: &Lab<'_>) -> Result<Section> {
    let bytes = match lab.quick {
        true => "memory=2K,4K,9K",
        false => "memory=64K,128K,256K,512K,1M,2M,4M,6M",
    };
    let mut blocks = vec![Block::Text(
        "DDR latency is the unloaded one, from an address to its line; a bank gives one 64-byte line \
         in so many cycles (12.8 GB/s at 1 and 200 MHz). On-chip memory is divided as in the \
         paper's machine: a third for vertices, half of each scratchpad."
            .into(),
    )];
    blocks.extend(curve(lab, Parameter::Latency, "latency=50,100,200,400")?);
    blocks.extend(curve(lab, Parameter::CyclesABeat, "cycles_a_beat=1,2,4,8,16")?);
    blocks.extend(curve(lab, Parameter::Memory, bytes)?);
    Ok(Section { title: "Beyond the paper: memory".into(), blocks, claims: vec![] })
}

/// A parameter on all graphs: table, plot and CSV.
fn curve(lab: &Lab<'_>, parameter: Parameter, values: &str) -> Result<[Block; 3]> {
    let mut curve = Curve::new(parameter, values);
    for input in &lab.inputs {
        for task in ["clique:5", "motif:3"] {
            let all = lab.sweep(input, task, &[values])?;
            curve.add(input, task, &all);
        }
    }
    Ok(curve.blocks())
}

/// The speed over the values of a parameter, a line for each task on a graph.
pub(super) struct Curve {
    parameter: Parameter,
    /// Its values.
    texts: Vec<String>,
    csv: Csv,
    rows: Vec<Vec<String>>,
    series: Vec<Series>,
}

impl Curve {
    /// `values` as on the command line of `gramer explore`.
    pub(super) fn new(parameter: Parameter, values: &str) -> Self {
        let texts = values.split_once('=').map_or("", |(_, values)| values);
        Curve {
            parameter,
            texts: texts.split(',').map(String::from).collect(),
            csv: Csv::new(&[parameter]),
            rows: vec![],
            series: vec![],
        }
    }

    /// The runs of a task on a graph.
    pub(super) fn add(&mut self, input: &Input, task: &str, all: &[Measured]) {
        let Curve { parameter, texts, .. } = self;
        self.csv.add(input, task, &[*parameter], all);
        let Some(first) = texts.first().and_then(|t| at(all, &[(*parameter, t)])) else { return };
        let name = format!("{} {}", input.name, short(task));
        let mut points = vec![];
        for point in all {
            let text = value(point, *parameter);
            let mut row = vec![name.clone(), text.to_string()];
            let Some(m) = measures(point) else {
                row.resize(HEADER + 2, NOT_RUN.into());
                self.rows.push(row);
                continue;
            };
            let Some(x) = texts.iter().position(|t| t == text) else { continue };
            let speed = first.get(Metric::Cycles) / m.get(Metric::Cycles);
            points.push((x, speed, 0.0));
            row.extend([m.cycles().to_string(), format!("{speed:.3}")]);
            row.extend(SHARES.map(|(metric, _)| format!("{:.1}", m.shown(metric))));
            self.rows.push(row);
        }
        let name = format!("{}, {}", of_task(task), input.name);
        self.series.push(Series { points, ..Series::new(&name) });
    }

    /// Table, plot and numbers.
    pub(super) fn blocks(self) -> [Block; 3] {
        let Curve { parameter, texts, csv, rows, series } = self;
        let start = ["case", parameter.name(), "cycles", "speed, first = 1"];
        let header = start.into_iter().chain(SHARES.map(|(_, title)| title));
        let file = format!("beyond-{}", parameter.name());
        let first = texts.first().cloned().unwrap_or_default();
        let plot = Plot {
            title: format!("Speed by {}", parameter.title()),
            x_title: parameter.title().into(),
            y_title: format!("speed ({} = {first} is 1)", parameter.name().replace('_', " ")),
            x: texts,
            groups: vec![],
            kind: Kind::Lines,
            logarithmic: false,
            series,
        };
        [
            Block::Table { header: header.map(String::from).collect(), rows },
            Block::Plot(file.clone(), plot),
            Block::File(format!("{file}.csv"), csv.0),
        ]
    }
}

/// Columns after the value of the parameter.
const HEADER: usize = 2 + SHARES.len();

/// Shares in the table.
const SHARES: [(Metric, &str); 5] = [
    (Metric::VertexHits, "vertex hits %"),
    (Metric::EdgeHits, "edge hits %"),
    (Metric::Busy, "port busy %"),
    (Metric::WaitMemory, "waits for memory %"),
    (Metric::NoWork, "no work %"),
];

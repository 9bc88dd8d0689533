//! Parameters that the paper does not vary.

use super::report::{Block, Section};
use super::{Csv, Input, Lab, at, measures, of_task, value};
use crate::explore::PointResult;
use crate::explore::measures::Metric;
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Kind, Plot, Series};
use gramer_base::error::Result;

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
        "DDR latency is the unloaded one, from an address to its line. *Cycles between beats*: a bank gives \
         one 64-byte line in that time (12.8 GB/s at 1 and 200 MHz). On-chip memory is divided as in the \
         paper's machine: a third for vertices, half of each scratchpad."
            .into(),
    )];
    blocks.extend(curve(lab, Parameter::Latency, "latency=50,100,200,400")?);
    blocks.extend(curve(lab, Parameter::CyclesABeat, "cycles_a_beat=1,2,4,8,16")?);
    blocks.extend(curve(lab, Parameter::Memory, bytes)?);
    Ok(Section { title: "Beyond the paper: memory".into(), blocks, claims: vec![] })
}

/// The plot and the CSV of a parameter on all graphs.
fn curve(lab: &Lab<'_>, parameter: Parameter, values: &str) -> Result<[Block; 2]> {
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
    series: Vec<Series>,
}

impl Curve {
    /// `values` as on the command line of `gramer-lab explore`.
    pub(super) fn new(parameter: Parameter, values: &str) -> Self {
        let texts = values.split_once('=').map_or("", |(_, values)| values);
        Curve {
            parameter,
            texts: texts.split(',').map(String::from).collect(),
            csv: Csv::new(&[parameter]),
            series: vec![],
        }
    }

    /// The runs of a task on a graph.
    pub(super) fn add(&mut self, input: &Input, task: &str, all: &[PointResult]) {
        let Curve { parameter, texts, .. } = self;
        self.csv.add(input, task, &[*parameter], all);
        let Some(first) = texts.first().and_then(|t| at(all, &[(*parameter, t)])) else { return };
        let mut points = vec![];
        for point in all {
            let text = value(point, *parameter);
            let (Some(m), Some(x)) = (measures(point), texts.iter().position(|t| t == text)) else {
                continue;
            };
            let speed = first.get(Metric::Cycles) / m.get(Metric::Cycles);
            points.push((x, speed, 0.0));
        }
        let name = format!("{}, {}", of_task(task), input.name);
        self.series.push(Series { points, ..Series::new(&name) });
    }

    /// Plot and numbers.
    pub(super) fn blocks(self) -> [Block; 2] {
        let Curve { parameter, texts, csv, series } = self;
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
        [Block::Plot(file.clone(), plot), Block::File(format!("{file}.csv"), csv.0)]
    }
}

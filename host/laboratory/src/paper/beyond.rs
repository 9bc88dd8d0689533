//! What the paper didn't vary.

use super::report::{Block, Section};
use super::{Csv, Lab, NOT_RUN, at, measures, of_task, short, value};
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
fn curve(lab: &Lab<'_>, parameter: Parameter, values: &str) -> Result<Vec<Block>> {
    let settings = [parameter];
    let mut csv = Csv::new(&settings);
    let (mut rows, mut series) = (vec![], vec![]);
    let texts: Vec<String> =
        values.split_once('=').map_or(vec![], |(_, v)| v.split(',').map(String::from).collect());
    let header = [
        "case",
        parameter.name(),
        "cycles",
        "speed, first = 1",
        "vertex hits %",
        "edge hits %",
        "port busy %",
        "waits for memory %",
        "no work %",
    ];
    for input in &lab.inputs {
        for task in ["clique:5", "motif:3"] {
            let all = lab.sweep(input, task, &[values])?;
            csv.add(input, task, &settings, &all);
            let Some(first) = texts.first().and_then(|t| at(&all, &[(parameter, t)])) else {
                continue;
            };
            let name = format!("{} {}", input.name, short(task));
            let mut points = vec![];
            for point in &all {
                let text = value(point, parameter);
                let Some(m) = measures(point) else {
                    let mut row = vec![name.clone(), text.to_string()];
                    row.resize(header.len(), NOT_RUN.into());
                    rows.push(row);
                    continue;
                };
                let Some(x) = texts.iter().position(|t| t == text) else { continue };
                let speed = first.get(Metric::Cycles) / m.get(Metric::Cycles);
                points.push((x, speed, 0.0));
                rows.push(vec![
                    name.clone(),
                    text.to_string(),
                    m.cycles().to_string(),
                    format!("{speed:.3}"),
                    format!("{:.1}", m.shown(Metric::VertexHits)),
                    format!("{:.1}", m.shown(Metric::EdgeHits)),
                    format!("{:.1}", m.shown(Metric::Busy)),
                    format!("{:.1}", m.shown(Metric::WaitMemory)),
                    format!("{:.1}", m.shown(Metric::NoWork)),
                ]);
            }
            series.push(Series {
                points,
                ..Series::new(&format!("{}, {}", of_task(task), input.name))
            });
        }
    }
    let file = format!("beyond-{}", parameter.name());
    let first = texts.first().cloned().unwrap_or_default();
    let y_title = format!("speed ({} = {first} is 1)", parameter.name().replace('_', " "));
    Ok(vec![
        Block::Table { header: header.map(String::from).to_vec(), rows },
        Block::Plot(
            file.clone(),
            Plot {
                title: format!("Speed by {}", parameter.title()),
                x_title: parameter.title().into(),
                y_title,
                x: texts,
                groups: vec![],
                kind: Kind::Lines,
                logarithmic: false,
                series,
            },
        ),
        Block::File(format!("{file}.csv"), csv.0),
    ])
}

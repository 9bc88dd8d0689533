//! Plans, formulas and exploration without a plan in one system, which DuMato's author names as future work.

use gramer_base::error::Result;
use gramer_gpu::{Settings, Strategy};

use super::Lab;
use super::dumato::motifs;
use super::point::{NamedSettings, shown};
use crate::paper::report::{Block, Section};

/// The strategies, with the largest motifs that each counts.
const STRATEGIES: [(&str, Strategy, usize); 3] =
    [("wide", Strategy::Wide, 8), ("plan", Strategy::Plan, 6), ("formula", Strategy::Formula, 5)];
/// Graphs, with the largest motifs that are counted: each size more takes about a hundred times as long.
const GRAPHS: [(&str, usize); 2] = [("citeseer", 8), ("ca-astroph", 5)];

/// Times of motif counting by strategy and size.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let mut rows = vec![];
    let graphs: &[_] = if lab.options.quick { &[("citeseer", 4)] } else { &GRAPHS };
    for &(graph, largest) in graphs {
        let input = lab.plain(graph);
        for k in 3..=largest {
            let name = format!("motifs of {k}");
            let chosen: Vec<NamedSettings> = STRATEGIES
                .iter()
                .filter(|(_, _, most)| k <= *most)
                .map(|&(name, strategy, _)| {
                    (name.into(), Settings { strategy: Some(strategy), ..Settings::default() })
                })
                .collect();
            let points = lab.compare("paradigms", input, (&name, &[motifs(k)]), &chosen)?;
            let mut row = vec![format!("{}, {name}", input.name)];
            row.extend(points.iter().map(|p| shown(p.as_ref())));
            row.resize(1 + STRATEGIES.len(), "–".into());
            rows.push(row);
        }
    }
    let mut header = vec!["graph, task".to_string()];
    header.extend(STRATEGIES.map(|(name, ..)| format!("{name}, ms")));
    Ok(vec![Section {
        title: "Beyond DuMato: plans, formulas and exploration".into(),
        blocks: vec![
            Block::Text(
                "Motifs counted by DuMato's exploration without a plan (`wide`), by a search after a plan for each \
                 pattern (`plan`, up to six vertices), and by closed formulas (`formula`, up to five). The thesis names the \
                 comparison of both paradigms in one system as future work; it makes no claim."
                    .into(),
            ),
            Block::Table { header, rows },
        ],
        claims: vec![],
    }])
}

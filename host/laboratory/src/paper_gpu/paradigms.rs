//! Plans, formulas and exploration without a plan in one system, which DuMato's author names as future work.

use gramer_base::error::Result;
use gramer_gpu::{Settings, Strategy};
use gramer_pattern::task::Task;

use super::Lab;
use super::dumato::motifs;
use super::point::NamedSettings;
use crate::paper::report::{Block, Section};

/// The strategies, with the largest motifs that each counts.
const STRATEGIES: [(&str, Strategy, usize); 3] =
    [("wide", Strategy::Wide, 8), ("plan", Strategy::Plan, 6), ("formula", Strategy::Formula, 5)];
/// Graphs, with the largest motifs that are counted: each size more takes about a hundred times as long.
const GRAPHS: [(&str, usize); 2] = [("citeseer", 8), ("ca-astroph", 5)];
/// Strategies for cliques, which have no formula, with the largest that each counts within a minute.
const OF_CLIQUES: [(&str, Strategy, usize); 3] =
    [("wide", Strategy::Wide, 6), ("plan", Strategy::Plan, 8), ("local", Strategy::Local, 8)];
const CLIQUES: std::ops::RangeInclusive<usize> = 3..=8;

/// Times of motifs and cliques by strategy and size.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let named = |name: &str, strategy| {
        (name.to_string(), Settings { strategy: Some(strategy), ..Settings::default() })
    };
    let graphs: &[_] = if lab.options.quick { &[("citeseer", 4)] } else { &GRAPHS };
    let chosen = |all: &[(&str, Strategy, usize)], k: usize| -> Vec<NamedSettings> {
        let able = all.iter().filter(|(_, _, most)| k <= *most);
        able.map(|&(name, strategy, _)| named(name, strategy)).collect()
    };
    for &(graph, largest) in graphs {
        for k in 3..=largest {
            let (name, input) = (format!("motifs of {k}"), lab.plain(graph));
            lab.compare("paradigms", input, (&name, &[motifs(k)]), &chosen(&STRATEGIES, k))?;
        }
    }
    let cliques = if lab.options.quick { 3..=4 } else { CLIQUES };
    for k in cliques {
        let (name, input, task) =
            (format!("cliques of {k}"), lab.plain("ca-astroph"), Task::Clique { k });
        lab.compare("paradigms", input, (&name, &[task]), &chosen(&OF_CLIQUES, k))?;
    }
    Ok(vec![Section {
        title: "Beyond DuMato: plans, formulas and exploration".into(),
        blocks: vec![
            Block::Text(
                "Motifs by DuMato's exploration (`wide`), by a plan for each pattern (`plan`) and by closed formulas \
                 (`formula`); cliques also by bitmaps (`local`). The thesis names the comparison as future work."
                    .into(),
            )],
        claims: vec![],
    }])
}

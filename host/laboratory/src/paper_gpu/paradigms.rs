//! Plans, formulas and exploration without a plan in one system, which DuMato's author names as future work.

use gramer_base::error::Result;
use gramer_gpu::{Settings, Strategy};
use gramer_pattern::task::Task;

use super::Lab;
use super::dumato::motifs;
use super::point::{NamedSettings, Point, points_file};
use crate::paper::report::{Block, Section, span};

/// A strategy with its name and the largest size that it counts.
type Named = (&'static str, Strategy, usize);

/// The strategies, with the largest motifs that each counts.
const STRATEGIES: [Named; 3] =
    [("wide", Strategy::Wide, 8), ("plan", Strategy::Plan, 6), ("formula", Strategy::Formula, 5)];
/// Graphs, with the largest motifs that are counted: each size more takes about a hundred times as long.
const GRAPHS: [(&str, usize); 2] = [("citeseer", 8), ("ca-astroph", 5)];
/// Strategies for cliques, which have no formula, with the largest that each counts within a minute.
const OF_CLIQUES: [Named; 3] =
    [("wide", Strategy::Wide, 6), ("plan", Strategy::Plan, 8), ("local", Strategy::Local, 8)];
/// Sizes: the columns of the table.
const SIZES: std::ops::RangeInclusive<usize> = 3..=8;

/// Times of motifs and cliques by strategy and size.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let named = |name: &str, strategy| {
        (name.to_string(), Settings { strategy: Some(strategy), ..Settings::default() })
    };
    let graphs: &[_] = if lab.options.quick { &[("citeseer", 4)] } else { &GRAPHS };
    let chosen = |all: &[Named], k: usize| -> Vec<NamedSettings> {
        let able = all.iter().filter(|(_, _, most)| k <= *most);
        able.map(|&(name, strategy, _)| named(name, strategy)).collect()
    };
    let mut times = Times::default();
    for &(graph, largest) in graphs {
        for k in 3..=largest {
            let (name, input) = (format!("motifs of {k}"), lab.plain(graph));
            let settings = chosen(&STRATEGIES, k);
            let points = lab.compare("paradigms", input, (&name, &[motifs(k)]), &settings)?;
            times.add(["motifs", graph], k, &points);
        }
    }
    let largest = if lab.options.quick { 4 } else { *SIZES.end() };
    for k in 3..=largest {
        let (name, input, task) =
            (format!("cliques of {k}"), lab.plain("ca-astroph"), Task::Clique { k });
        let settings = chosen(&OF_CLIQUES, k);
        let points = lab.compare("paradigms", input, (&name, &[task]), &settings)?;
        times.add(["cliques", "ca-astroph"], k, &points);
    }
    Ok(vec![Section {
        title: "Beyond DuMato: plans, formulas and exploration".into(),
        blocks: times.blocks(),
        claims: vec![],
    }])
}

/// Seconds by kind of task, graph, strategy and size.
#[derive(Default)]
struct Times {
    all: Vec<([String; 3], usize, f64)>,
}

impl Times {
    /// The points of a size; those without a time are left out.
    fn add(&mut self, [kind, graph]: [&str; 2], k: usize, points: &[Option<Point>]) {
        for point in points.iter().flatten().filter(|point| !point.stopped) {
            let of = [kind, graph, &point.setting].map(String::from);
            self.all.push((of, k, point.seconds));
        }
    }

    /// How many times as fast a strategy is as another, wherever both have a time.
    fn ratios(&self, kind: &str, fast: &str, slow: &str) -> String {
        let of = |strategy: &str| {
            let own = self.all.iter().filter(|([k, _, s], ..)| k == kind && s == strategy);
            own.cloned().collect::<Vec<_>>()
        };
        let slow = of(slow);
        let pairs = of(fast).into_iter().flat_map(|([_, graph, _], k, seconds)| {
            let other = slow.iter().find(|([_, g, _], of, _)| *g == graph && *of == k);
            other.map(|(.., other)| other / seconds)
        });
        span(&pairs.collect::<Vec<_>>(), 2)
    }

    fn blocks(&self) -> Vec<Block> {
        let mut header = vec!["ms, by vertices".to_string()];
        header.extend(SIZES.map(|k| k.to_string()));
        let mut names: Vec<&[String; 3]> = vec![];
        for (of, ..) in &self.all {
            if !names.contains(&of) {
                names.push(of);
            }
        }
        let row = |of: &[String; 3]| {
            let cell = |k: usize| {
                let found = self.all.iter().find(|(own, size, _)| own == of && *size == k);
                found.map_or("–".into(), |(.., seconds)| format!("{:.2}", 1e3 * seconds))
            };
            [vec![of.join(" ")], SIZES.map(cell).collect()].concat()
        };
        let rows = names.into_iter().map(row).collect();
        vec![
            Block::Text(
                "Motifs by DuMato's exploration (`wide`), by a plan for each pattern (`plan`) and by closed formulas \
                 (`formula`); cliques also by bitmaps (`local`). The thesis names the comparison as future work."
                    .into(),
            ),
            Block::Table { header, rows },
            Block::Text(format!(
                "Motifs: `formula` is {} times as fast as `wide`, which is {} times as fast as `plan`. Cliques: `local` is \
                 {} times as fast as `plan`, which is {} times as fast as `wide`. Without a time: `formula` ends at 5 \
                 vertices, motifs by `plan` at 6; a size more of ca-astroph's motifs takes a hundred times as long; \
                 cliques of 7 and 8 by `wide` are not part of the experiment.",
                self.ratios("motifs", "formula", "wide"),
                self.ratios("motifs", "wide", "plan"),
                self.ratios("cliques", "local", "plan"),
                self.ratios("cliques", "plan", "wide")
            )),
            points_file(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The published section follows from the published points.
    #[test]
    fn the_published_table_follows_from_its_points() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/paper-gpu");
        let mut times = Times::default();
        for point in super::super::earlier_points(&folder).unwrap() {
            let (kind, k) = point.task.split_once(" of ").unwrap_or_default();
            if point.experiment == "paradigms" {
                times.add([kind, &point.graph], k.parse().unwrap(), &[Some(point.clone())]);
            }
        }
        let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
        for block in times.blocks() {
            let lines = match block {
                Block::Text(text) => vec![text],
                Block::Table { rows, .. } => {
                    rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect()
                }
                _ => vec![],
            };
            for line in lines {
                assert!(page.lines().any(|own| own == line), "not in the page: {line}");
            }
        }
    }
}

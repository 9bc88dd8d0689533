//! DuMato, table 6.3: a depth-first search by each thread (DM_DFS) against one by each warp (DM_WC), without balance.

use gramer_base::error::Result;
use gramer_gpu::{Settings, Tile};
use gramer_pattern::task::Task;

use super::Lab;
use super::dumato::{OFF, motifs, wide};
use super::point::{NamedSettings, at_least, points_file};
use crate::paper::report::{Answer, Cases, Claim, Section, near};

/// Cells of the table on graphs at hand: graph, whether cliques, k, seconds by thread and by warp.
const CELLS: [(&str, bool, usize, f64, f64); 10] = [
    ("citeseer", false, 3, 0.02, 0.01),
    ("citeseer", false, 4, 0.54, 0.04),
    ("citeseer", false, 5, 11.83, 0.91),
    ("citeseer", false, 6, 252.97, 18.09),
    ("ca-astroph", false, 3, 1.79, 0.11),
    ("ca-astroph", false, 4, 590.63, 27.88),
    ("ca-astroph", true, 3, 0.21, 0.01),
    ("ca-astroph", true, 4, 4.35, 0.25),
    ("ca-astroph", true, 5, 48.0, 2.91),
    ("ca-astroph", true, 6, 329.32, 24.66),
];

/// The search by single lanes, and that by warps.
fn searches() -> [NamedSettings; 2] {
    let (name, warps) = wide("by warp".into(), OFF, 0);
    let threads = Settings { tile: Some(Tile::Lane), ..warps.clone() };
    [("by thread".into(), threads), (name, warps)]
}

/// Table 6.3.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let (mut shares, mut faster) = (Cases::default(), Cases::default());
    let cells: &[_] = if lab.options.quick { &CELLS[1..2] } else { &CELLS };
    for &(graph, cliques, k, by_thread, by_warp) in cells {
        let input = lab.plain(graph);
        let (name, task) = match cliques {
            true => (format!("cliques of {k}"), Task::Clique { k }),
            false => (format!("motifs of {k}"), motifs(k)),
        };
        let points = lab.compare("table 6.3", input, (&name, &[task]), &searches())?;
        let ours = |bar| at_least(points[0].as_ref(), points[1].as_ref(), bar);
        let bar = near(by_thread / by_warp, 1.0);
        shares.add(ours(bar).map(|ours| ours / bar));
        faster.add(ours(1.0));
    }
    let claim = |claim, bar: &str, answer, why: &str| Claim {
        place: "DuMato, table 6.3",
        claim,
        bar: bar.into(),
        answer: Answer::Any(answer),
        why: why.into(),
    };
    Ok(vec![Section {
        title: "DuMato, table 6.3: searches by thread and by warp".into(),
        blocks: vec![points_file()],
        claims: vec![
            claim(
                "a warp for each embedding is 2.0 to 21.2 times as fast as a thread",
                "from the thesis' figure on",
                shares.finding(|share| share >= 1.0, 2, " of the bar"),
                "without balance; our threads keep embeddings in local memory",
            ),
            claim(
                "it is faster at all",
                "above 1 time",
                faster.finding(|times| times > 1.0, 2, " times"),
                "–",
            ),
        ],
    }])
}

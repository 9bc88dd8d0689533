//! DuMato, figures 6.2 and 6.6: warps with work over the time of a run.

use gramer_base::error::Result;
use gramer_gpu::{Settings, Tile};
use gramer_pattern::task::Task;

use super::Lab;
use super::dumato::{motifs, wide};
use super::point::{Point, points_file};
use crate::paper::report::{Answer, Cases, Claim, Finding, Section};

/// Part of the time that is most of it.
const MOST: f64 = 0.5;
/// Part of the time that is all of it, less 5 %.
const THROUGHOUT: f64 = 0.95;

/// Smallest step from one point to the next, downwards.
fn falls(points: &[&Option<Point>], of: impl Fn(&Point) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> =
        points.iter().map(|p| p.as_ref().filter(|p| !p.stopped).and_then(&of)).collect();
    values?.windows(2).map(|pair| pair[0] - pair[1]).reduce(f64::min)
}

/// Figures 6.2 and 6.6.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let [mut by_warp, mut virtual_warps, mut active, mut calls] =
        [const { Cases { values: vec![], not_run: 0 } }; 4];
    let tasks =
        [("citeseer", motifs(6)), ("ca-astroph", motifs(4)), ("ca-astroph", Task::Clique { k: 5 })];
    let tasks = if lab.options.quick { &[("citeseer", motifs(4))][..] } else { &tasks };
    for (graph, task) in tasks {
        let of_warps = |percent: u32| wide(format!("{percent} %"), f64::from(percent) / 100.0, 16);
        let (_, half) = of_warps(30);
        let half = Settings { tile: Some(Tile::Sixteen), ..half };
        let cliques = matches!(task, Task::Clique { .. });
        let mut settings = vec![of_warps(10), of_warps(30), of_warps(90)];
        if !cliques {
            settings.push(("16 lanes, 30 %".into(), half));
        }
        let name = match *task {
            Task::Clique { k } => format!("cliques of {k}"),
            Task::Motif { k, .. } => format!("motifs of {k}"),
            _ => unreachable!("there are cliques and motifs"),
        };
        let input = lab.plain(graph);
        let points =
            lab.compare("figure 6.2", input, (&name, std::slice::from_ref(task)), &settings)?;
        if !cliques {
            let above = |p: &Option<Point>| p.as_ref().and_then(|p| p.above);
            by_warp.add(above(&points[1]));
            virtual_warps.add(above(&points[3]));
        }
        let in_turn = [&points[0], &points[1], &points[2]];
        active.add(falls(&in_turn, |p| p.active.map(|share| 100.0 * share)));
        calls.add(falls(&in_turn, |p| p.balances));
    }
    let claim = |place, claim, bar: &str, finding: Finding, why: &str| Claim {
        place,
        claim,
        bar: bar.into(),
        answer: Answer::Any(finding),
        why: why.into(),
    };
    let step = "the smaller step";
    let claims = vec![
        claim(
            "DuMato, figure 6.2",
            "70 % of the warps have work most of the time",
            "over half of it",
            by_warp.finding(|share| share > MOST, 2, " of the time"),
            "motifs, threshold 30 %",
        ),
        claim(
            "DuMato, figure 6.2",
            "throughout, with virtual warps of 16 lanes",
            "95 % of it",
            virtual_warps.finding(|share| share >= THROUGHOUT, 2, " of the time"),
            "–",
        ),
        claim(
            "DuMato, figure 6.6",
            "thresholds of 10, 30 and 90 % keep ever fewer warps at work",
            "if the mean shares fall",
            active.finding(|step| step > 0.0, 2, " points"),
            step,
        ),
        claim(
            "DuMato, figure 6.6",
            "work is moved ever less often with them",
            "if the numbers of calls fall",
            calls.finding(|step| step > 0.0, 0, " calls"),
            step,
        ),
    ];
    Ok(vec![Section {
        title: "DuMato, figures 6.2 and 6.6: activity of warps".into(),
        blocks: vec![points_file()],
        claims,
    }])
}

//! DuMato (Ferraz et al., thesis, chapter 6): balance between warps.

use gramer_gpu::{Balance, Settings, Strategy};
use gramer_graph::error::Result;
use gramer_pattern::task::{Induced, Task};

use super::point::{Named, shown, speed_up};
use super::{Input, Lab};
use crate::paper::report::{Answer, Block, Cases, Claim, Section, near};

/// No warp is without work for long enough: nothing is moved.
const OFF: f64 = 1.0;

/// Table 6.7, motifs of citeseer: k, seconds without balance and with.
const TABLE_6_7: [(usize, f64, f64); 3] = [(5, 0.91, 0.24), (6, 18.09, 0.67), (7, 334.32, 5.06)];
/// Table 6.6: graph, k, seconds with 1 donation and with 16.
const TABLE_6_6: [(&str, usize, f64, f64); 2] =
    [("citeseer", 7, 7.03, 5.06), ("ca-astroph", 5, 147.98, 126.78)];

fn motifs(k: usize) -> Task {
    Task::Motif { k, induced: Induced::Vertex }
}

fn wide(name: String, threshold: f64, donations: u32) -> Named {
    let balance = Balance { threshold, donations };
    (name, Settings { strategy: Some(Strategy::Wide), balance, ..Settings::default() })
}

pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    Ok(vec![on_and_off(lab)?, donations(lab)?, thresholds(lab)?])
}

impl Lab<'_> {
    /// A graph by name; in a quick run the only one.
    fn plain(&self, name: &str) -> &Input {
        let named = self.plain.iter().find(|input| input.name == name);
        named.unwrap_or(&self.plain[0])
    }
}

/// Table 6.7.
fn on_and_off(lab: &Lab<'_>) -> Result<Section> {
    let (mut rows, mut cases, mut bars) = (vec![], Cases::default(), vec![]);
    let input = lab.plain("citeseer");
    let all: &[_] = if lab.options.quick { &TABLE_6_7[..1] } else { &TABLE_6_7 };
    for &(k, without, with) in all {
        let k = if lab.options.quick { 4 } else { k };
        let settings = [wide("off".into(), OFF, 16), wide("on".into(), 0.3, 16)];
        let name = format!("motifs of {k}");
        let points = lab.compare("table 6.7", input, (&name, &[motifs(k)]), &settings)?;
        let ours = speed_up(points[0].as_ref(), points[1].as_ref());
        let bar = near(without / with, 1.0);
        // Of the bar: each case has its own.
        cases.add(ours.map(|ours| ours / bar));
        bars.push(format!("{bar:.2}"));
        rows.push(vec![
            format!("{}, {name}", input.name),
            shown(points[0].as_ref()),
            shown(points[1].as_ref()),
            ours.map_or("–".into(), |ours| format!("{ours:.2}")),
            format!("{:.2}", without / with),
        ]);
    }
    let header = ["graph, task", "off, ms", "on, ms", "times as fast", "in the thesis"];
    let claim = Claim {
        place: "DuMato, table 6.7",
        claim: "moving work between warps makes motifs of citeseer 3.79 to 66.07 times as fast",
        bar: format!("with 5, 6 and 7 vertices from {} times on", bars.join(", ")),
        answer: Answer::Any(cases.finding(|share| share >= 1.0, 2, " of what is asked")),
        why: "our warps end after 20 ms and take the next root from one counter, so that without moving work \
              fewer are idle than in the thesis"
            .into(),
    };
    Ok(Section {
        title: "DuMato, table 6.7: balance off and on".into(),
        blocks: vec![Block::Table { header: header.map(String::from).to_vec(), rows }],
        claims: vec![claim],
    })
}

/// Table 6.6.
fn donations(lab: &Lab<'_>) -> Result<Section> {
    const NUMBERS: [u32; 5] = [1, 8, 16, 32, 64];
    let (mut rows, mut cases) = (vec![], Cases::default());
    let all: &[_] = if lab.options.quick { &TABLE_6_6[..1] } else { &TABLE_6_6 };
    for &(graph, k, one, sixteen) in all {
        let (input, k) = (lab.plain(graph), if lab.options.quick { 4 } else { k });
        let settings = NUMBERS.map(|n| wide(format!("{n} donations"), 0.3, n));
        let name = format!("motifs of {k}");
        let points = lab.compare("table 6.6", input, (&name, &[motifs(k)]), &settings)?;
        let ours = speed_up(points[0].as_ref(), points[2].as_ref());
        cases.add(ours.map(|ours| ours / near(one / sixteen, 1.0)));
        let mut row = vec![format!("{}, {name}", input.name)];
        row.extend(points.iter().map(|p| shown(p.as_ref())));
        row.push(format!("{:.2}", one / sixteen));
        rows.push(row);
    }
    let mut header = vec!["graph, task".to_string()];
    header.extend(NUMBERS.map(|n| format!("{n}, ms")));
    header.push("1 against 16 in the thesis".into());
    let claim = Claim {
        place: "DuMato, table 6.6",
        claim: "16 donations are faster than one: 1.39 and 1.17 times",
        bar: "from the thesis' own figure of this graph on".into(),
        answer: Answer::Any(cases.finding(|share| share >= 1.0, 2, " of what is asked")),
        why: "–".into(),
    };
    Ok(Section {
        title: "DuMato, table 6.6: donations".into(),
        blocks: vec![Block::Table { header, rows }],
        claims: vec![claim],
    })
}

/// Figures 6.5 and 6.6.
fn thresholds(lab: &Lab<'_>) -> Result<Section> {
    const THRESHOLDS: [u32; 5] = [10, 30, 50, 70, 90];
    let (mut rows, mut cases) = (vec![], Cases::default());
    let tasks: &[_] =
        if lab.options.quick { &[("citeseer", 4)] } else { &[("citeseer", 6), ("citeseer", 7)] };
    for &(graph, k) in tasks {
        let input = lab.plain(graph);
        let settings = THRESHOLDS.map(|t| wide(format!("{t} %"), f64::from(t) / 100.0, 16));
        let name = format!("motifs of {k}");
        let points = lab.compare("figure 6.5", input, (&name, &[motifs(k)]), &settings)?;
        let own = points[1].as_ref().map(|p| p.seconds);
        let others = points.iter().enumerate().filter(|(at, _)| *at != 1);
        let least =
            others.filter_map(|(_, p)| Some(p.as_ref()?.seconds)).fold(f64::INFINITY, f64::min);
        // The best of some is not the best of all.
        let all = points.iter().all(Option::is_some);
        cases.add(own.filter(|_| all).map(|own| least / own));
        let mut row = vec![format!("{}, {name}", input.name)];
        row.extend(points.iter().map(|p| shown(p.as_ref())));
        rows.push(row);
    }
    let mut header = vec!["graph, task".to_string()];
    header.extend(THRESHOLDS.map(|t| format!("{t} %, ms")));
    let claim = Claim {
        place: "DuMato, figure 6.5",
        claim: "30 % of the warps without work is the best threshold",
        bar: "if no other threshold is faster".into(),
        answer: Answer::Any(cases.finding(
            |times| times >= 1.0,
            3,
            " times the fastest other's speed",
        )),
        why: "–".into(),
    };
    Ok(Section {
        title: "DuMato, figure 6.5: thresholds".into(),
        blocks: vec![Block::Table { header, rows }],
        claims: vec![claim],
    })
}

//! DuMato (Ferraz et al., thesis, chapter 6): balance between warps, and virtual warps.

use gramer_base::error::Result;
use gramer_gpu::{Balance, Settings, Strategy, Tile};
use gramer_pattern::task::{Induced, Task};

use super::point::{NamedSettings, Point, at_least, points_file, speed_up};
use super::{Input, Lab};
use crate::paper::report::{Answer, Cases, Claim, Section, near};

/// No warp is without work for long enough: nothing is moved.
pub(super) const OFF: f64 = 1.0;

/// Table 6.7, motifs of citeseer: k, seconds without balance and with.
const TABLE_6_7: [(usize, f64, f64); 3] = [(5, 0.91, 0.24), (6, 18.09, 0.67), (7, 334.32, 5.06)];
/// Table 6.6: graph, k, seconds with 1 donation and with 16.
const TABLE_6_6: [(&str, usize, f64, f64); 2] =
    [("citeseer", 7, 7.03, 5.06), ("ca-astroph", 5, 147.98, 126.78)];

/// Table 6.5: graph, k, milliseconds with 32, 16 and 8 lanes.
const TABLE_6_5: [(&str, usize, [f64; 3]); 2] = [
    ("citeseer", 7, [5060.0, 6280.0, 9830.0]),
    ("ca-astroph", 5, [126_770.0, 208_240.0, 391_710.0]),
];

pub(super) fn motifs(k: usize) -> Task {
    Task::Motif { k, induced: Induced::Vertex }
}

pub(super) fn wide(name: String, threshold: f64, donations: u32) -> NamedSettings {
    balanced(name, Balance { threshold, donations, ..Balance::default() })
}

fn balanced(name: String, balance: Balance) -> NamedSettings {
    (name, Settings { strategy: Some(Strategy::Wide), balance, ..Settings::default() })
}

impl Lab<'_> {
    /// A graph by name; in a quick run the only one.
    pub(super) fn plain(&self, name: &str) -> &Input {
        let named = self.plain.iter().find(|input| input.name == name);
        named.unwrap_or(&self.plain[0])
    }
}

/// Table 6.7.
pub fn on_and_off(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let (mut cases, mut bars) = (Cases::default(), vec![]);
    let input = lab.plain("citeseer");
    let all: &[_] = if lab.options.quick { &TABLE_6_7[..1] } else { &TABLE_6_7 };
    for &(k, without, with) in all {
        let k = if lab.options.quick { 4 } else { k };
        let settings = [wide("off".into(), OFF, 16), wide("on".into(), 0.3, 16)];
        let name = format!("motifs of {k}");
        let points = lab.compare("table 6.7", input, (&name, &[motifs(k)]), &settings)?;
        let bar = near(without / with, 1.0);
        let ours = at_least(points[0].as_ref(), points[1].as_ref(), bar);
        // Of the bar: each case has its own.
        cases.add(ours.map(|ours| ours / bar));
        bars.push(format!("{bar:.2}"));
    }
    let claim = Claim {
        place: "DuMato, table 6.7",
        claim: "moving work between warps makes motifs of citeseer 3.79 to 66.07 times as fast",
        bar: format!("from {} times on", bars.join(", ")),
        answer: Answer::Any(cases.finding(|share| share >= 1.0, 2, " of the bar")),
        why: "a run that was stopped is a case if its time alone decides it".into(),
    };
    Ok(vec![Section {
        title: "DuMato, table 6.7: balance off and on".into(),
        blocks: vec![points_file()],
        claims: vec![claim],
    }])
}

/// Table 6.6.
pub fn donations(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let numbers = with(&lab.options.donations, &COMPARED);
    let [one_donation, many] = COMPARED.map(|n| at(&numbers, n));
    let mut cases = Cases::default();
    let all: &[_] = if lab.options.quick { &TABLE_6_6[..1] } else { &TABLE_6_6 };
    for &(graph, k, one, sixteen) in all {
        let (input, k) = (lab.plain(graph), if lab.options.quick { 4 } else { k });
        let settings: Vec<_> =
            numbers.iter().map(|&n| wide(format!("{n} donations"), 0.3, n)).collect();
        let name = format!("motifs of {k}");
        let points = lab.compare("table 6.6", input, (&name, &[motifs(k)]), &settings)?;
        let ours = speed_up(points[one_donation].as_ref(), points[many].as_ref());
        cases.add(ours.map(|ours| ours / near(one / sixteen, 1.0)));
    }
    let claim = Claim {
        place: "DuMato, table 6.6",
        claim: "16 donations are faster than one: 1.39 and 1.17 times",
        bar: "from the thesis' figure on".into(),
        answer: Answer::Any(cases.finding(|share| share >= 1.0, 2, " of the bar")),
        why: "–".into(),
    };
    Ok(vec![Section {
        title: "DuMato, table 6.6: donations".into(),
        blocks: vec![points_file()],
        claims: vec![claim],
    }])
}

/// The thesis' best threshold, in %.
const BEST: u32 = 30;
/// Numbers of donations of which the thesis compares the times.
const COMPARED: [u32; 2] = [1, 16];

/// Values in ascending order, each once, with those that a claim needs.
fn with(values: &[u32], needed: &[u32]) -> Vec<u32> {
    let mut all = [values, needed].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The place of a value that is there.
fn at(values: &[u32], value: u32) -> usize {
    values.binary_search(&value).expect("claims need it")
}

/// Threads of figure 6.4, 32 to a warp.
const THREADS: [usize; 4] = [51_200, 102_400, 204_800, 409_600];

/// A figure that varies thresholds and threads: place, title, experiment, tasks with their size.
type Sweep = (&'static str, &'static str, &'static str, &'static [(&'static str, usize)]);
const MOTIFS: Sweep = (
    "DuMato, figure 6.4",
    "DuMato, figure 6.4: thresholds and threads",
    "figure 6.4",
    &[("citeseer", 6), ("citeseer", 7)],
);
const CLIQUES: Sweep = (
    "DuMato, figure 6.5",
    "DuMato, figure 6.5: thresholds and threads, cliques",
    "figure 6.5",
    &[("ca-astroph", 4), ("ca-astroph", 5)],
);

/// Figure 6.4.
pub fn thresholds(lab: &Lab<'_>) -> Result<Vec<Section>> {
    sweep(lab, MOTIFS, motifs)
}

/// Figure 6.5.
pub fn thresholds_of_cliques(lab: &Lab<'_>) -> Result<Vec<Section>> {
    sweep(lab, CLIQUES, |k| Task::Clique { k })
}

/// Thresholds with the number of warps that the device gets by itself, and with the thesis' numbers.
fn sweep(lab: &Lab<'_>, of: Sweep, task: fn(usize) -> Task) -> Result<Vec<Section>> {
    let (place, title, experiment, tasks) = of;
    let (mut own, mut theirs) = (Cases::default(), Cases::default());
    let thresholds = with(&lab.options.thresholds, &[BEST]);
    let best = at(&thresholds, BEST);
    let tasks = if lab.options.quick { &[("citeseer", 4)] } else { tasks };
    for &(graph, k) in tasks {
        let input = lab.plain(graph);
        let task = task(k);
        let kind = if matches!(task, Task::Clique { .. }) { "cliques" } else { "motifs" };
        let name = format!("{kind} of {k}");
        let mut all = vec![];
        let threads: &[_] = if lab.options.quick { &THREADS[..1] } else { &THREADS };
        for threads in std::iter::once(None).chain(threads.iter().copied().map(Some)) {
            let setting = |&threshold: &u32| {
                let (threads, name) = match threads {
                    None => (None, format!("{threshold} %")),
                    Some(n) => (Some(n / 32), format!("{n} threads, {threshold} %")),
                };
                let threshold = f64::from(threshold) / 100.0;
                balanced(name, Balance { threshold, warps: threads, ..Balance::default() })
            };
            let settings: Vec<_> = thresholds.iter().map(setting).collect();
            let tasks = std::slice::from_ref(&task);
            let points = lab.compare(experiment, input, (&name, tasks), &settings)?;
            match threads {
                None => own.add(lead(&points, best)),
                Some(_) => all.extend(points),
            }
        }
        // 102,400 threads and 30 %.
        theirs.add(if lab.options.quick { None } else { lead(&all, thresholds.len() + best) });
    }
    let claim = |claim, bar: &str, cases: &Cases| Claim {
        place,
        claim,
        bar: bar.into(),
        answer: Answer::Any(cases.finding(|times| times >= 1.0, 3, " times the best other")),
        why: "–".into(),
    };
    Ok(vec![Section {
        title: title.into(),
        blocks: vec![points_file()],
        claims: vec![
            claim(
                "30 % of the warps without work is the best threshold",
                "if no other is faster, with the device's number of threads",
                &own,
            ),
            claim(
                "102,400 threads with 30 % are the best for most",
                "if no other pair is faster",
                &theirs,
            ),
        ],
    }])
}

/// Speed of a point in that of the fastest other; none if one is missing, since the best of some isn't that of all.
fn lead(points: &[Option<Point>], own: usize) -> Option<f64> {
    let seconds: Vec<f64> = points
        .iter()
        .map(|p| p.as_ref().filter(|p| !p.stopped).map(|p| p.seconds))
        .collect::<Option<_>>()?;
    let others = seconds.iter().enumerate().filter(|(at, _)| *at != own);
    let least = others.map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
    Some(least / seconds.get(own)?)
}

/// Table 6.5.
pub fn tiles(lab: &Lab<'_>) -> Result<Vec<Section>> {
    const TILES: [(&str, Tile); 3] =
        [("32", Tile::Warp), ("16", Tile::Sixteen), ("8", Tile::Eight)];
    let mut cases = Cases::default();
    let all: &[_] = if lab.options.quick { &TABLE_6_5[..1] } else { &TABLE_6_5 };
    for &(graph, k, theirs) in all {
        let (input, k) = (lab.plain(graph), if lab.options.quick { 4 } else { k });
        let settings = TILES.map(|(name, tile)| {
            let strategy = Some(Strategy::Wide);
            (
                format!("{name} lanes"),
                Settings { strategy, tile: Some(tile), ..Settings::default() },
            )
        });
        let name = format!("motifs of {k}");
        let points = lab.compare("table 6.5", input, (&name, &[motifs(k)]), &settings)?;
        for at in [1, 2] {
            let bar = near(theirs[at] / theirs[0], 1.0);
            let ours = speed_up(points[at].as_ref(), points[0].as_ref());
            cases.add(ours.map(|ours| ours / bar));
        }
    }
    let claim = Claim {
        place: "DuMato, table 6.5",
        claim: "virtual warps are slower: 1.24 and 1.64 times with 16 lanes, 1.94 and 3.09 times with 8",
        bar: "from the thesis' figure on".into(),
        answer: Answer::Any(cases.finding(|share| share >= 1.0, 2, " of the bar")),
        why: "–".into(),
    };
    Ok(vec![Section {
        title: "DuMato, table 6.5: virtual warps".into(),
        blocks: vec![points_file()],
        claims: vec![claim],
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_user_keep_those_that_claims_need() {
        assert_eq!(with(&[40, 5, 40], &[BEST]), [5, 30, 40]);
        let numbers = with(&[64, 8], &COMPARED);
        assert_eq!(COMPARED.map(|n| at(&numbers, n)), [0, 2]);
        assert_eq!(numbers, [1, 8, 16, 64]);
    }
}

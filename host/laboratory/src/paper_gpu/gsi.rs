//! GSI and its successor (Zeng et al.): the steps of the join (table 3), and the four layers (table 5).

use std::ops::RangeInclusive;

use gramer_base::error::Result;
use gramer_gpu::{
    Ablation, Join, JoinSettings, Layers, Order, Rows, Settings, Steps, Strategy, TableSettings,
};

use super::Lab;
use super::point::{NamedSettings, Point, points_file, speed_up};
use super::queries::{Queries, QuerySet};
use crate::paper::report::{Answer, Block, Cases, Claim, Section, far, near};

/// A graph of table 6 of SGSI's paper: its name here, the edges there, and megabytes of the device.
const ENRON: (&str, f64, f64) = ("email-enron", 274_000.0, 661.0);

/// The steps of table 3, with what the paper's graphs gain at least: times as fast, and part of the loads.
const STEPS: [(&str, &str, f64, f64); 3] = [
    ("+DS (PCSR)", "PCSR makes queries at least 1.4 times as fast", 1.4, 0.25),
    ("+PC (Prealloc-Combine)", "Prealloc-Combine makes them at least 1.2 times as fast", 1.2, 0.21),
    (
        "+SO (set operations)",
        "set operations by size make them at least 1.0 times as fast",
        1.0,
        0.05,
    ),
];

/// SGSI's join with some of it left out.
pub(super) fn joined(name: &str, without: Ablation, layers: Layers) -> NamedSettings {
    joined_by(name, without, JoinSettings { layers, ..JoinSettings::default() })
}

fn joined_by(name: &str, without: Ablation, join_settings: JoinSettings) -> NamedSettings {
    let table =
        TableSettings { join: Join::Prealloc, join_settings, without, ..Default::default() };
    let steps = Steps { signatures: true, order: Order::Paper };
    (name.into(), Settings { strategy: Some(Strategy::Table), steps, table, ..Settings::default() })
}

/// GSI-b, then a step more each time; behind them the whole without its write cache.
fn steps() -> Vec<NamedSettings> {
    let none = Ablation::default();
    let so = Ablation { sets: true, write_cache: true, ..none };
    let pc = Ablation { prealloc: true, ..so };
    let all = Ablation { pcsr: true, ..pc };
    let cache = Ablation { write_cache: true, ..none };
    vec![
        joined("GSI-b", all, Layers::None),
        joined(STEPS[0].0, pc, Layers::None),
        joined(STEPS[1].0, so, Layers::None),
        joined(STEPS[2].0, none, Layers::None),
        joined("without write cache", cache, Layers::None),
    ]
}

/// Vertices of the papers' queries by default.
pub(super) const SIZE: usize = 12;
/// Vertices of a query and its matches, as in the papers.
const VERTICES: RangeInclusive<usize> = 4..=30;
const MATCHES: RangeInclusive<u64> = 1_000..=1_000_000;

pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let set = match lab.options.quick {
        true => QuerySet::QUICK,
        false => QuerySet { matches: Some(MATCHES), ..QuerySet::of(VERTICES) },
    };
    let queries = lab.labelled.iter().map(|input| Queries::of(lab, input, &set));
    let queries: Vec<Queries<'_>> = queries.collect::<Result<_>>()?;
    let made = made(&set, &queries);
    Ok(vec![table_3(lab, &queries, made)?, table_4(lab, &queries)?, table_5(lab, &queries)?])
}

/// How queries were made.
fn made(set: &QuerySet, queries: &[Queries<'_>]) -> String {
    let each = |q: &Queries<'_>| format!("{} of {}", q.number, q.input.name);
    let matches = set.matches.as_ref().map_or_else(String::new, |matches| {
        format!(", and kept with {} to {} matches", matches.start(), matches.end())
    });
    format!(
        "Queries are random walks to {} to {} vertices, each size drawn equally often, with the edges that were taken \
         and all labels{matches}: {}. {}",
        set.vertices.start(),
        set.vertices.end(),
        queries.iter().map(each).collect::<Vec<_>>().join(", "),
        Queries::limits()
    )
}

/// The part of the loads that a step saves.
fn saved(before: Option<&Point>, after: Option<&Point>) -> Option<f64> {
    Some(1.0 - after?.loads? / before?.loads?.max(1.0))
}

/// Table 3.
fn table_3(lab: &Lab<'_>, queries: &[Queries<'_>], made: String) -> Result<Section> {
    let mut faster: [Cases; 3] = Default::default();
    let mut fewer: [Cases; 3] = Default::default();
    for all in queries {
        if all.number == 0 {
            faster.iter_mut().chain(&mut fewer).for_each(|cases| cases.add(None));
            continue;
        }
        let input = all.input;
        let points = lab.compare("table 3", input, (&all.name(), &all.tasks), &steps())?;
        for step in 0..3 {
            let (before, after) = (points[step].as_ref(), points[step + 1].as_ref());
            faster[step].add(speed_up(before, after));
            fewer[step].add(saved(before, after));
        }
    }
    let mut claims = vec![];
    for (step, &(_, claim, times, part)) in STEPS.iter().enumerate() {
        let bar = near(times, 1.0);
        claims.push(Claim {
            place: "GSI, table 3",
            claim,
            bar: format!("from {bar:.2} times on"),
            answer: Answer::Any(faster[step].finding(|t| t >= bar, 2, " times")),
            why: match step {
                0 => "all queries of a graph together",
                1 => "sums of capacities take launches: 294 instead of 100 for a house in citeseer",
                _ => "–",
            }
            .into(),
        });
        let bar = near(part, 0.0);
        claims.push(Claim {
            place: "GSI, table 3",
            claim: match step {
                0 => "PCSR saves at least 25 % of the loads",
                1 => "Prealloc-Combine saves at least 21 % of the loads",
                _ => "set operations by size save at least 5 % of the loads",
            },
            bar: format!("from {:.1} % on", 100.0 * bar),
            answer: Answer::Any(fewer[step].finding(|s| s >= bar, 3, " of the loads")),
            why: "–".into(),
        });
    }
    Ok(Section {
        title: "GSI, table 3: the steps of the join".into(),
        blocks: vec![Block::Text(made)],
        claims,
    })
}

/// Table 4.
fn table_4(lab: &Lab<'_>, queries: &[Queries<'_>]) -> Result<Section> {
    let (mut faster, mut fewer) = (Cases::default(), Cases::default());
    let search = JoinSettings { rows: Rows::Search, ..JoinSettings::default() };
    let settings = [
        joined_by("binary search", Ablation::default(), search),
        joined("PCSR", Ablation::default(), Layers::None),
    ];
    for all in queries {
        if all.number == 0 {
            faster.add(None);
            fewer.add(None);
            continue;
        }
        let points = lab.compare("table 4", all.input, (&all.name(), &all.tasks), &settings)?;
        faster.add(speed_up(points[0].as_ref(), points[1].as_ref()));
        fewer.add(saved(points[0].as_ref(), points[1].as_ref()));
    }
    let claim = |claim, bar: String, finding, why: &str| Claim {
        place: "GSI, table 4",
        claim,
        bar,
        answer: Answer::Any(finding),
        why: why.into(),
    };
    let (times_bar, part_bar) = (near(1.1, 1.0), near(0.13, 0.0));
    let claims = vec![
        claim(
            "PCSR is at least 1.1 times as fast as a binary search",
            format!("from {times_bar:.2} times on"),
            faster.finding(|t| t >= times_bar, 2, " times"),
            "one lane searches",
        ),
        claim(
            "it saves at least 13 % of the loads",
            format!("from {:.1} % on", 100.0 * part_bar),
            fewer.finding(|s| s >= part_bar, 3, " of the loads"),
            "–",
        ),
    ];
    Ok(Section {
        title: "GSI, table 4: rows by PCSR and by binary search".into(),
        blocks: vec![points_file()],
        claims,
    })
}

/// Table 5.
fn table_5(lab: &Lab<'_>, queries: &[Queries<'_>]) -> Result<Section> {
    let mut cases = Cases::default();
    let none = Ablation::default();
    let settings = [
        joined("a warp for each row", none, Layers::None),
        joined("fixed thresholds", none, Layers::Paper),
        joined("histogram", none, Layers::Histogram),
    ];
    for all in queries {
        if all.number == 0 {
            cases.add(None);
            continue;
        }
        let points = lab.compare("table 5", all.input, (&all.name(), &all.tasks), &settings)?;
        cases.add(speed_up(points[1].as_ref(), points[2].as_ref()));
    }
    let bar = near(1.6, 1.0);
    let claim = Claim {
        place: "SGSI, table 5",
        claim: "thresholds from the histogram are more than 1.6 times as fast as fixed ones",
        bar: format!("from {bar:.2} times on"),
        answer: Answer::Any(cases.finding(|t| t >= bar, 2, " times")),
        why: "the paper's graphs have 10^9 edges and hubs of 10^7, ours hubs of 10^4".into(),
    };
    Ok(Section {
        title: "SGSI, table 5: layers".into(),
        blocks: vec![points_file()],
        claims: vec![claim],
    })
}

/// Table 6.
pub fn memory(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let mut peaks = Cases::default();
    let set = match lab.options.quick {
        true => QuerySet::QUICK,
        false => QuerySet::of(SIZE..=SIZE),
    };
    for input in lab.labelled.iter().filter(|input| lab.options.quick || input.name == ENRON.0) {
        let queries = Queries::of(lab, input, &set)?;
        if queries.number == 0 {
            peaks.add(None);
            continue;
        }
        let all = [joined("all", Ablation::default(), Layers::None)];
        let points = lab.compare("table 6", input, (&queries.name(), &queries.tasks), &all)?;
        let peak = points[0].as_ref().and_then(|point| point.peak);
        let edges = input.graph.edges() as f64;
        peaks.add(peak.map(|peak| peak / edges.max(1.0) * ENRON.1 / 1e6));
    }
    let most = far(ENRON.2, 0.0);
    let claim = Claim {
        place: "SGSI, table 6",
        claim: "GSI takes 661 MB of the device for enron",
        bar: format!("up to {most:.0} MB"),
        answer: Answer::Any(peaks.finding(|mb| mb <= most, 0, " MB")),
        why: format!(
            "email-enron's peak times the paper's edges over ours; queries of {SIZE} vertices"
        ),
    };
    Ok(vec![Section {
        title: "SGSI, table 6: memory".into(),
        blocks: vec![points_file()],
        claims: vec![claim],
    }])
}

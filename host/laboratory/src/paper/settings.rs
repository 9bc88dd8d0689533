//! Figure 14: τ and λ.

use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, far, near, span};
use super::{Csv, Lab, at, measures, short, speed_up, times, value};
use crate::explore::Measured;
use crate::explore::measures::Measures;
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Plot, Series};
use gramer_graph::error::Result;

/// τ with caches as large as the scratchpads, and λ.
pub fn figure_14(lab: &Lab<'_>) -> Result<Section> {
    let taus = "tau=1%,5%,10%,20%,50%";
    // The paper's values, and wider ones: towards recency alone.
    let lambdas = "lambda=0.5,1,2,4,8,16,32,64";
    let (share, tasks) = match lab.quick {
        true => ("on_chip=50%", ["clique:4", "motif:3"]),
        false => ("on_chip=10%", ["clique:5", "motif:3"]),
    };
    let tau_settings = [Parameter::Order, Parameter::Caches, Parameter::Tau];
    let lambda_settings = [Parameter::Order, Parameter::OnChip, Parameter::Lambda];
    let (mut tau_csv, mut lambda_csv) = (Csv::new(&tau_settings), Csv::new(&lambda_settings));
    let (mut tau_series, mut lambda_series) = (vec![], vec![]);
    let (mut tau_rows, mut lambda_rows) = (vec![], vec![]);
    // By order: speed at τ = 5 % with that at 50 % as 1, least gain from a τ to the next, speed with
    // each λ other than 1.
    let mut five: [Cases; 2] = Default::default();
    let mut next: [Cases; 2] = Default::default();
    let mut lambda_all: [Cases; 2] = Default::default();
    let (mut tau_names, mut lambda_names) = (vec![], vec![]);
    for (input, task) in lab.cases(&tasks) {
        for (which, order) in ORDERS.iter().enumerate() {
            let in_order = format!("order={order}");
            let name = format!("{} {} {}", input.name, short(task), &order[..3]);
            let all = lab.sweep(input, task, &[&in_order, "caches=tau", taus])?;
            tau_csv.add(input, task, &tau_settings, &all);
            let line = relative(&all, at(&all, &[(Parameter::Tau, "50%")]), Parameter::Tau);
            let speeds: Option<Vec<f64>> = line.iter().map(|(_, s)| s.map(|s| s.0)).collect();
            five[which]
                .add(line.iter().find(|(tau, _)| tau == "5%").and_then(|(_, s)| Some((*s)?.0)));
            next[which]
                .add(speeds.map(|s| {
                    s.windows(2).map(|two| two[1] / two[0]).fold(f64::INFINITY, f64::min)
                }));
            tau_names = line.iter().map(|(tau, _)| tau.clone()).collect();
            tau_rows.push(row(&name, &line));
            tau_series.push(series(&name, &line));
            let all = lab.sweep(input, task, &[&in_order, share, lambdas])?;
            lambda_csv.add(input, task, &lambda_settings, &all);
            let line = relative(&all, at(&all, &[(Parameter::Lambda, "1")]), Parameter::Lambda);
            // λ = 1 is 1 by itself; the paper's go up to 8.
            let of_the_paper = |text: &str| text.parse().is_ok_and(|lambda: f64| lambda <= 8.0);
            for (_, speed) in
                line.iter().filter(|(lambda, _)| lambda != "1" && of_the_paper(lambda))
            {
                lambda_all[which].add(speed.map(|s| s.0));
            }
            lambda_names = line.iter().map(|(lambda, _)| lambda.clone()).collect();
            lambda_rows.push(row(&name, &line));
            lambda_series.push(series(&name, &line));
        }
    }
    let header = |title: &str, names: &[String]| [&[title.to_string()][..], names].concat();
    let plot = |title: &str, x_title: &str, y_title: &str, x: Vec<String>, series| Plot {
        title: title.into(),
        x_title: x_title.into(),
        y_title: y_title.into(),
        x,
        lines: true,
        logarithmic: false,
        series,
    };
    let blocks = vec![
        Block::Text(
            "τ: scratchpads hold the share τ of vertices and edges, caches as much again (at least \
             one set). λ: with as much of the data on the chip as in figure 12; the paper's go up to 8."
                .into(),
        ),
        Block::Table { header: header("speed, τ = 50 % is 1", &tau_names), rows: tau_rows },
        Block::Plot(
            "figure-14a".into(),
            plot("Figure 14a: τ", "τ", "speed, τ = 50 % is 1", tau_names, tau_series),
        ),
        Block::File("figure-14a.csv".into(), tau_csv.0),
        Block::Table { header: header("speed, λ = 1 is 1", &lambda_names), rows: lambda_rows },
        Block::Plot(
            "figure-14b".into(),
            plot("Figure 14b: λ", "λ", "speed, λ = 1 is 1", lambda_names, lambda_series),
        ),
        Block::File("figure-14b.csv".into(), lambda_csv.0),
    ];
    let percent = |bar: f64| 100.0 * bar;
    let (low, high) = (far(0.7169, 1.0), near(0.9159, 1.0));
    let (slow, fast) = (far(0.91, 1.0), far(1.07, 1.0));
    let claims = vec![
        Claim {
            place: "figure 14a",
            claim: "τ = 5 % reaches 71.69 to 91.59 % of the speed at τ = 50 %",
            bar: format!("from {:.1} to {:.1} %", percent(low), percent(high)),
            answer: Answer::Each(five.each_ref().map(|c| Finding {
                verdict: c.verdict(|s| (low..=high).contains(&s)),
                ours: format!(
                    "{} %",
                    span(&c.values.iter().map(|&s| percent(s)).collect::<Vec<_>>(), 1)
                ),
            })),
            why: "at 50 % the caches hold the rest of the data, but it still has to come from DDR once, \
                  which counts in runs as short as these"
                .into(),
        },
        Claim {
            place: "figure 14a",
            claim: "more τ is never slower",
            bar: "if no step to the next τ is slower".into(),
            answer: Answer::Each(
                next.map(|c| c.finding(|gain| gain >= 1.0, 3, " times at the worst step of a case")),
            ),
            why: "–".into(),
        },
        Claim {
            place: "figure 14b",
            claim: "λ from 0.5 to 8 changes speed from 0.91 to 1.07 times",
            bar: format!("(one λ on one graph) from {slow:.3} to {fast:.3} times"),
            answer: Answer::Each(
                lambda_all.map(|c| c.finding(|s| (slow..=fast).contains(&s), 2, " times")),
            ),
            why: "–".into(),
        },
    ];
    Ok(Section { title: "Figure 14: τ and λ".into(), blocks, claims })
}

/// A value of a parameter with its speed and half the interval of that; none where it was not run.
type Relative = (String, Option<(f64, f64)>);

/// The values of a parameter with the speed of each, that of `one` being 1.
fn relative(all: &[Measured], one: Option<&Measures>, parameter: Parameter) -> Vec<Relative> {
    let speed = |point| Some(speed_up(one?, measures(point)?));
    all.iter().map(|p| (value(p, parameter).to_string(), speed(p))).collect()
}

fn series(name: &str, line: &[Relative]) -> Series {
    let points = line.iter().enumerate().filter_map(|(x, (_, speed))| {
        let (y, half) = (*speed)?;
        Some((x, y, half))
    });
    Series { name: name.into(), points: points.collect() }
}

fn row(name: &str, line: &[Relative]) -> Vec<String> {
    [vec![name.to_string()], line.iter().map(|(_, speed)| times(*speed, 3)).collect()].concat()
}

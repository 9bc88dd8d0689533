//! Figure 14: τ and λ.

use super::checks::{CHECKS, of_check};
use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, far, near, span};
use super::{Csv, Input, Lab, at, measures, of_task, speed_up, value};
use crate::explore::PointResult;
use crate::explore::measures::Measures;
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Kind, Plot, Series};
use gramer_base::error::Result;

/// τ with caches as large as the scratchpads, and λ.
pub fn figure_14(lab: &Lab<'_>) -> Result<Section> {
    let taus = "tau=1%,5%,10%,20%,50%";
    // The paper's values, and wider ones: towards recency alone.
    let lambdas = "lambda=0.5,1,2,4,8,16,32,64";
    let (share, tasks) = match lab.quick {
        true => ("on_chip=50%", ["clique:4", "motif:3"]),
        false => ("on_chip=10%", ["clique:5", "motif:3"]),
    };
    let mut tau = Curves::new(Parameter::Tau, Parameter::Caches, "50%");
    let mut lambda = Curves::new(Parameter::Lambda, Parameter::OnChip, "1");
    let mut speeds: [Speeds; 2] = Default::default();
    for (input, task) in lab.cases(&tasks) {
        for (which, order) in ORDERS.iter().enumerate() {
            let in_order = format!("order={order}");
            for (check, speeds) in CHECKS.iter().zip(&mut speeds) {
                let check = format!("check={check}");
                let all = lab.sweep(input, task, &[&check, &in_order, "caches=tau", taus])?;
                speeds.with_tau(which, &tau.add(input, task, order, &all));
                let all = lab.sweep(input, task, &[&check, &in_order, share, lambdas])?;
                speeds.with_lambda(which, &lambda.add(input, task, order, &all));
            }
        }
    }
    let claims = PLACES.iter().zip(&speeds).flat_map(|(places, speeds)| speeds.claims(places));
    let claims = claims.collect();
    let mut blocks = vec![Block::Text(
        "τ: scratchpads hold the share τ of vertices and edges, caches as much again (at least \
         one set). λ: with as much of the data on the chip as in figure 12; the paper's go up to 8."
            .into(),
    )];
    blocks.extend(tau.blocks("14a", "τ", "speed, τ = 50 % is 1"));
    blocks.extend(lambda.blocks("14b", "λ", "speed, λ = 1 is 1"));
    Ok(Section { title: "Figure 14: τ and λ".into(), blocks, claims })
}

/// Places of the claims and the claims, by check.
const PLACES: [([&str; 2], [&str; 3]); 2] = [
    (
        ["figure 14a", "figure 14b"],
        [
            "τ = 5 % reaches 71.69 to 91.59 % of the speed at τ = 50 %",
            "more τ is never slower",
            "λ from 0.5 to 8 changes speed from 0.91 to 1.07 times",
        ],
    ),
    (
        ["figure 14a (candidate)", "figure 14b (candidate)"],
        ["τ = 5 % reaches 71.69 to 91.59 %", "more τ is never slower", "λ: 0.91 to 1.07 times"],
    ),
];

/// Speed over the values of a parameter, a curve for each case.
pub(super) struct Curves {
    parameter: Parameter,
    /// The value whose speed is 1.
    one: &'static str,
    settings: [Parameter; 4],
    csv: Csv,
    /// The parameter's values.
    names: Vec<String>,
    series: Vec<Series>,
}

impl Curves {
    /// `room` is the parameter that says what is on the chip.
    pub(super) fn new(parameter: Parameter, room: Parameter, one: &'static str) -> Self {
        let settings = [Parameter::Check, Parameter::Order, room, parameter];
        let csv = Csv::new(&settings);
        Curves { parameter, one, settings, csv, names: vec![], series: vec![] }
    }

    /// Adds the curve of a case, and gives it. Only those of the first check are drawn.
    pub(super) fn add(
        &mut self,
        input: &Input,
        task: &str,
        order: &str,
        all: &[PointResult],
    ) -> Vec<Relative> {
        self.csv.add(input, task, &self.settings, all);
        let line = relative(all, at(all, &[(self.parameter, self.one)]), self.parameter);
        if of_check(all, CHECKS[1]).is_empty() {
            self.names = line.iter().map(|(value, _)| value.clone()).collect();
            self.series.push(Series {
                points: points(&line),
                ..Series::of(&input.name, format!("{}, {order}", of_task(task)))
            });
        }
        line
    }

    /// Plot and numbers of a figure; `sign` is the parameter's.
    pub(super) fn blocks(self, figure: &str, sign: &str, y_title: &str) -> [Block; 2] {
        let plot = Plot {
            title: format!("Figure {figure}: speed by {sign}"),
            x_title: sign.into(),
            y_title: y_title.into(),
            x: self.names,
            groups: vec![],
            kind: Kind::Lines,
            logarithmic: false,
            series: self.series,
        };
        [
            Block::Plot(format!("figure-{figure}"), plot),
            Block::File(format!("figure-{figure}.csv"), self.csv.0),
        ]
    }
}

/// What the claims are held against, by order.
#[derive(Default)]
struct Speeds {
    /// At τ = 5 %, with that at 50 % as 1.
    five: [Cases; 2],
    /// The least gain from a τ to the next.
    next: [Cases; 2],
    /// With each λ other than 1.
    lambda: [Cases; 2],
}

impl Speeds {
    fn with_tau(&mut self, which: usize, line: &[Relative]) {
        let speeds: Option<Vec<f64>> = line.iter().map(|(_, s)| s.map(|s| s.0)).collect();
        let five = line.iter().find(|(tau, _)| tau == "5%");
        self.five[which].add(five.and_then(|(_, s)| Some((*s)?.0)));
        let least =
            |s: Vec<f64>| s.windows(2).map(|two| two[1] / two[0]).fold(f64::INFINITY, f64::min);
        self.next[which].add(speeds.map(least));
    }

    fn with_lambda(&mut self, which: usize, line: &[Relative]) {
        // λ = 1 is 1 by itself; the paper's go up to 8.
        let of_the_paper = |text: &str| text.parse().is_ok_and(|lambda: f64| lambda <= 8.0);
        for (_, speed) in line.iter().filter(|(lambda, _)| lambda != "1" && of_the_paper(lambda)) {
            self.lambda[which].add(speed.map(|s| s.0));
        }
    }

    fn claims(&self, (places, claims): &([&'static str; 2], [&'static str; 3])) -> Vec<Claim> {
        let percent = |bar: f64| 100.0 * bar;
        let (low, high) = (far(0.7169, 1.0), near(0.9159, 1.0));
        let (slow, fast) = (far(0.91, 1.0), far(1.07, 1.0));
        vec![
            Claim {
                place: places[0],
                claim: claims[0],
                bar: format!("from {:.1} to {:.1} %", percent(low), percent(high)),
                answer: Answer::Each(self.five.each_ref().map(|c| Finding {
                    verdict: c.verdict(|s| (low..=high).contains(&s)),
                    ours: format!(
                        "{} %",
                        span(&c.values.iter().map(|&s| percent(s)).collect::<Vec<_>>(), 1)
                    ),
                })),
                why: match *places == PLACES[0].0 {
                    true => "at 50 % the caches hold the rest of the data, but it still has to come from \
                             DDR once, which counts in runs as short as these"
                        .into(),
                    false => "as above".into(),
                },
            },
            Claim {
                place: places[0],
                claim: claims[1],
                bar: "if no step to the next τ is slower".into(),
                answer: Answer::Each(self.next.each_ref().map(|c| {
                    c.finding(|gain| gain >= 1.0, 3, " times at the worst step of a case")
                })),
                why: "–".into(),
            },
            Claim {
                place: places[1],
                claim: claims[2],
                bar: format!("(one λ on one graph) from {slow:.3} to {fast:.3} times"),
                answer: Answer::Each(
                    self.lambda
                        .each_ref()
                        .map(|c| c.finding(|s| (slow..=fast).contains(&s), 2, " times")),
                ),
                why: "–".into(),
            },
        ]
    }
}

/// A value of a parameter with its speed and half the interval of that; none where it was not run.
pub(super) type Relative = (String, Option<(f64, f64)>);

/// The values of a parameter with the speed of each, that of `one` being 1.
fn relative(all: &[PointResult], one: Option<&Measures>, parameter: Parameter) -> Vec<Relative> {
    let speed = |point| Some(speed_up(one?, measures(point)?));
    all.iter().map(|p| (value(p, parameter).to_string(), speed(p))).collect()
}

fn points(line: &[Relative]) -> Vec<(usize, f64, f64)> {
    let points = line.iter().enumerate().filter_map(|(x, (_, speed))| {
        let (y, half) = (*speed)?;
        Some((x, y, half))
    });
    points.collect()
}

//! Figures 12 and 13: what each part of the design is worth.

use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, Verdict, near, span};
use super::{
    Csv, Input, Lab, at, axis_names, cycles, finds_nothing, of_task, short, shown, speed_up, times,
};
use crate::explore::Measured;
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Kind, Plot, Series};
use gramer_graph::error::Result;

const POLICIES: [&str; 3] = ["uniform-lru", "static-lru", "locality"];

/// What figure 12 plots.
const METRICS: [Metric; 3] = [Metric::VertexHits, Metric::EdgeHits, Metric::Cycles];

/// Uniform LRU, static + LRU and the locality-aware hierarchy with 10 % of the data on chip.
pub fn figure_12(lab: &Lab<'_>) -> Result<Section> {
    let settings = [Parameter::OnChip, Parameter::Order, Parameter::Policy];
    let mut csv = Csv::new(&settings);
    let share = if lab.quick { "50%" } else { "10%" };
    let mut hierarchies = Hierarchies::new();
    for (input, task) in of_hierarchies(lab) {
        let on_chip = format!("on_chip={share}");
        let all = lab.sweep(
            input,
            task,
            &[&on_chip, "order=descending,ascending", "policy=uniform-lru,static-lru,locality"],
        )?;
        csv.add(input, task, &settings, &all);
        hierarchies.case(&input.name, task, &all);
    }
    let claims = hierarchies.claims();
    let mut blocks = hierarchies.blocks(share);
    blocks.push(Block::File("figure-12.csv".into(), csv.0));
    let title = "Figure 12: the memory hierarchy".into();
    Ok(Section { title, blocks, claims })
}

/// The graphs and tasks of figure 12.
fn of_hierarchies<'a>(lab: &'a Lab<'_>) -> Vec<(&'a Input, &'a str)> {
    let mut cases = vec![];
    for input in &lab.inputs {
        cases.extend(["clique:3", "clique:4", "clique:5", "motif:3"].map(|task| (input, task)));
        if input.four_motifs {
            cases.push((input, "motif:4"));
        }
        if input.graph.has_vertex_labels() && !lab.quick {
            cases.push((input, input.fsm));
        }
    }
    cases.extend(lab.large.iter().map(|input| (input, "clique:3")));
    cases
}

/// The three hierarchies side by side, as the cases come.
pub(super) struct Hierarchies {
    rows: Vec<Vec<String>>,
    /// The cases: graph and task.
    names: Vec<String>,
    cases: Vec<[String; 2]>,
    /// By order, [metric](METRICS) and [policy](POLICIES).
    plots: [[[Series; 3]; 3]; 2],
    /// Of static over uniform and of locality over static.
    steps: [Step; 2],
    /// Lines read from DDR, locality over static.
    beats: Vec<f64>,
    /// Whether the one with fewer lines is the faster one.
    agree: Vec<bool>,
}

impl Hierarchies {
    pub(super) fn new() -> Self {
        let plots = ORDERS.map(|_| METRICS.map(|_| POLICIES.map(Series::new)));
        Hierarchies {
            rows: vec![],
            names: vec![],
            cases: vec![],
            plots,
            steps: Default::default(),
            beats: vec![],
            agree: vec![],
        }
    }

    /// The runs of a task on a graph.
    pub(super) fn case(&mut self, graph: &str, task: &str, all: &[Measured]) {
        self.names.push(format!("{graph} {}", short(task)));
        self.cases.push([graph.to_string(), of_task(task)]);
        for (which, order) in ORDERS.iter().enumerate() {
            let found = POLICIES
                .map(|policy| at(all, &[(Parameter::Order, order), (Parameter::Policy, policy)]));
            self.add(which, task, found);
        }
    }

    /// The runs of the case that was named last, by policy.
    fn add(&mut self, which: usize, task: &str, found: [Option<&Measures>; 3]) {
        let nothing = found.iter().any(|&m| finds_nothing(task, m));
        if !nothing {
            for (step, pair) in self.steps.iter_mut().zip(found.windows(2)) {
                step.add(which, pair[0].zip(pair[1]));
            }
            if let [_, Some(fixed), Some(aware)] = found {
                let lines = aware.get(Metric::Beats) / fixed.get(Metric::Beats);
                if !lines.is_nan() {
                    self.beats.push(lines);
                    self.agree.push((lines < 1.0) == (speed_up(fixed, aware).0 > 1.0));
                }
            }
        }
        let case = self.names.len() - 1;
        let note = if nothing { ", no frequent pattern" } else { "" };
        let mut row = vec![format!("{} {}{note}", self.names[case], &ORDERS[which][..3])];
        for metric in [Metric::VertexHits, Metric::EdgeHits] {
            row.extend(found.map(|m| shown(m, metric, 1)));
        }
        row.extend(found.map(cycles));
        row.extend(found.map(|m| shown(m, Metric::Beats, 0)));
        self.rows.push(row);
        for (metric, series) in METRICS.iter().zip(&mut self.plots[which]) {
            for (series, m) in series.iter_mut().zip(found) {
                let point = match *metric {
                    Metric::Cycles => found[0].zip(m).map(|(from, to)| speed_up(from, to)),
                    other => m.map(|m| (m.shown(other), 0.0)),
                };
                series.points.extend(point.map(|(y, half)| (case, y, half)));
            }
        }
    }

    /// The table and the plots, with that share of the data on the chip.
    pub(super) fn blocks(self, share: &str) -> Vec<Block> {
        let header = [
            "case",
            "vertex hits %: uniform",
            "static",
            "locality",
            "edge hits %: uniform",
            "static",
            "locality",
            "cycles: uniform",
            "static",
            "locality",
            "DDR lines: uniform",
            "static",
            "locality",
        ];
        let mut blocks = vec![
            Block::Text(format!(
                "{share} of the graph's lines on the chip (whole cache sets, so the share is rounded), \
                 equally many lines in the three hierarchies; with scratchpads, half of them are \
                 high-priority. λ = 1."
            )),
            Block::Table { header: header.map(String::from).to_vec(), rows: self.rows },
        ];
        let (x, groups) = axis_names(&self.cases);
        for (order, plots) in ORDERS.iter().zip(self.plots) {
            for (metric, series) in METRICS.iter().zip(plots) {
                let (name, y_title) = match metric {
                    Metric::Cycles => ("speed", "speed-up over uniform LRU"),
                    other => (other.name(), other.title()),
                };
                let what = y_title.trim_end_matches(" in %");
                blocks.push(Block::Plot(
                    format!("figure-12-{name}-{order}"),
                    Plot {
                        title: format!(
                            "Figure 12: {what}, {share} of the data on the chip, {order} order"
                        ),
                        x_title: "graph and task".into(),
                        y_title: y_title.into(),
                        x: x.clone(),
                        groups: groups.clone(),
                        kind: Kind::Dots,
                        logarithmic: false,
                        series: series.to_vec(),
                    },
                ));
            }
        }
        blocks
    }

    fn claims(&self) -> Vec<Claim> {
        let [fixed, aware] = &self.steps;
        vec![
            points_claim(
                "static + LRU beats uniform LRU in the vertices' hit ratio by 13 to 37 points",
                13.0,
                &fixed.vertices,
                "here a slot keeps the line that it scans and the records of its embedding, so \
                 accesses that a cache would answer at once never reach it, and hit ratios of all \
                 three are lower"
                    .into(),
            ),
            points_claim(
                "and in the edges' by 8 to 25 points",
                8.0,
                &fixed.edges,
                "as for the vertices".into(),
            ),
            speed_claim(
                "and is 1.60 to 2.95 times as fast",
                1.60,
                &fixed.speed,
                "the slots cover most of the misses' latency (figure 3)".into(),
            ),
            points_claim(
                "locality-aware replacement adds 1.0 to 5.7 points to the vertices' hit ratio of \
                 static + LRU",
                1.0,
                &aware.vertices,
                format!(
                    "of the cases that were run it gains in {}. Equation (2) adds a line's rank (up \
                     to the number of lines) to the accesses since its last reference, so with λ = 1 \
                     a line with a bad rank is the next victim however recently it came, unless it \
                     rests for as many accesses as there are ranks between",
                    gains(&aware.vertices)
                ),
            ),
            points_claim(
                "and 1.1 to 6.1 points to the edges'",
                1.1,
                &aware.edges,
                format!("of the cases that were run it gains in {}", gains(&aware.edges)),
            ),
            speed_claim(
                "and is 1.06 to 1.39 times as fast",
                1.06,
                &aware.speed,
                format!(
                    "it reads {} times as many lines from DDR as LRU does, and in {} of {} cases the \
                     one that reads fewer is the faster one",
                    span(&self.beats, 2),
                    self.agree.iter().filter(|&&a| a).count(),
                    self.agree.len()
                ),
            ),
        ]
    }
}

/// What a hierarchy gains over another, by order.
#[derive(Default)]
struct Step {
    /// Points of the hit ratio.
    vertices: [Cases; 2],
    edges: [Cases; 2],
    /// Times as fast.
    speed: [Cases; 2],
}

impl Step {
    /// A case: the runs with the one and with the other, if there are both.
    fn add(&mut self, order: usize, runs: Option<(&Measures, &Measures)>) {
        let points = |metric| {
            let gain = runs.map(|(from, to)| to.shown(metric) - from.shown(metric));
            // A sample doesn't say it.
            gain.filter(|gain| !gain.is_nan())
        };
        self.vertices[order].add(points(Metric::VertexHits));
        self.edges[order].add(points(Metric::EdgeHits));
        self.speed[order].add(runs.map(|(from, to)| speed_up(from, to).0));
    }
}

/// A claim that a hit ratio grows by at least as many points.
fn points_claim(claim: &'static str, least: f64, cases: &[Cases; 2], why: String) -> Claim {
    let bar = near(least, 0.0);
    let answer = cases.each_ref().map(|c| c.finding(|gain| gain >= bar, 1, " points"));
    let bar = format!("from {bar:.2} points on");
    Claim { place: "figure 12", claim, bar, answer: Answer::Each(answer), why }
}

/// A claim of a speed-up by at least as many times.
fn speed_claim(claim: &'static str, least: f64, cases: &[Cases; 2], why: String) -> Claim {
    let bar = near(least, 1.0);
    let answer = cases.each_ref().map(|c| c.finding(|speed| speed >= bar, 2, " times"));
    let bar = format!("from {bar:.3} times on");
    Claim { place: "figure 12", claim, bar, answer: Answer::Each(answer), why }
}

/// How many cases gain at all, by order.
fn gains(cases: &[Cases; 2]) -> String {
    let [ascending, descending] = cases.each_ref().map(|c| {
        format!("{} of {}", c.values.iter().filter(|&&gain| gain > 0.0).count(), c.values.len())
    });
    format!("{ascending} ascending, {descending} descending")
}

/// Slots, and stealing on and off.
pub fn figure_13(lab: &Lab<'_>) -> Result<Section> {
    let settings = [Parameter::Order, Parameter::Stealing, Parameter::Slots];
    let mut csv = Csv::new(&settings);
    let slots = format!("slots={}", lab.slots());
    let all_in_use = format!("slots={}", lab.base.machine.slots);
    let mut scaling = Slots::new(lab.slots().split(',').map(String::from).collect());
    for (input, task) in lab.cases(&["clique:5", "motif:3"]) {
        // Without stealing only all slots are of interest.
        let orders = "order=descending,ascending";
        let mut all = lab.sweep(input, task, &[orders, "stealing=on", &slots])?;
        all.extend(lab.sweep(input, task, &[orders, "stealing=off", &all_in_use])?);
        csv.add(input, task, &settings, &all);
        scaling.case(input, task, &all);
    }
    let claims = scaling.claims();
    let mut blocks = scaling.blocks();
    blocks.push(Block::File("figure-13.csv".into(), csv.0));
    Ok(Section { title: "Figure 13: slots and work stealing".into(), blocks, claims })
}

/// Speed by slots, and with stealing, as the cases come.
pub(super) struct Slots {
    /// Numbers of slots, each twice the one before.
    all: Vec<String>,
    rows: Vec<Vec<String>>,
    series: Vec<Series>,
    /// What half of the machine's slots, 8 of the paper's 16, reach of linear speed-up. By order; the
    /// paper excepts Citeseer.
    half_of_ideal: [Cases; 2],
    excepted: [Cases; 2],
    /// The gain of the last doubling of the slots, in that of the doubling before.
    last_doubling: [Cases; 2],
    stealing: [Cases; 2],
}

impl Slots {
    pub(super) fn new(all: Vec<String>) -> Self {
        Slots {
            all,
            rows: vec![],
            series: vec![],
            half_of_ideal: Default::default(),
            excepted: Default::default(),
            last_doubling: Default::default(),
            stealing: Default::default(),
        }
    }

    /// The runs of a task on a graph.
    pub(super) fn case(&mut self, input: &Input, task: &str, all: &[Measured]) {
        for (which, order) in ORDERS.iter().enumerate() {
            let name = format!("{} {} {}", input.name, short(task), &order[..3]);
            let line = Series::of(&input.name, format!("{}, {order}", of_task(task)));
            self.add(input, (name, line), which, all);
        }
    }

    /// The runs of a case in one of [`ORDERS`], among those of its sweeps.
    fn add(
        &mut self,
        input: &Input,
        (name, line): (String, Series),
        which: usize,
        points: &[Measured],
    ) {
        let run = |stealing: &str, slots: &str| {
            let wanted = [
                (Parameter::Order, ORDERS[which]),
                (Parameter::Stealing, stealing),
                (Parameter::Slots, slots),
            ];
            at(points, &wanted)
        };
        let many = self.all.len();
        let speedup = |slots: &str| Some(speed_up(run("on", "1")?, run("on", slots)?));
        let ups: Vec<Option<(f64, f64)>> = self.all.iter().map(|s| speedup(s)).collect();
        if let Some(half) = many.checked_sub(2).map(|at| &self.all[at]) {
            let ideal = half.parse::<f64>().unwrap_or(1.0);
            let of_ideal = speedup(half).map(|(up, _)| up / ideal);
            match input.paper {
                Some("Citeseer") => self.excepted[which].add(of_ideal),
                _ => self.half_of_ideal[which].add(of_ideal),
            }
        }
        if many >= 3 {
            // Without the run with one slot, which may be too long.
            let doubling = |from: usize| {
                let (few, more) = (&self.all[from], &self.all[from + 1]);
                Some(speed_up(run("on", few)?, run("on", more)?).0)
            };
            let both = doubling(many - 2).zip(doubling(many - 3));
            self.last_doubling[which].add(both.map(|(last, before)| last / before));
        }
        let gain = run("off", &self.all[many - 1])
            .zip(run("on", &self.all[many - 1]))
            .map(|(off, on)| speed_up(off, on));
        self.stealing[which].add(gain.map(|(g, _)| g));
        let mut row = vec![name.clone()];
        row.extend(ups.iter().map(|&up| times(up, 2)));
        row.push(times(gain, 3));
        self.rows.push(row);
        let points = ups.iter().enumerate().filter_map(|(x, up)| {
            let (y, half) = (*up)?;
            Some((x, y, half))
        });
        self.series.push(Series { points: points.collect(), ..line });
    }

    pub(super) fn blocks(self) -> Vec<Block> {
        let mut header = vec!["speed-up over 1 slot".to_string()];
        header.extend(self.all.iter().map(|s| match s.as_str() {
            "1" => "1 slot".into(),
            more => format!("{more} slots"),
        }));
        header.push("stealing on over off".into());
        vec![
            Block::Table { header, rows: self.rows },
            Block::Plot(
                "figure-13".into(),
                Plot {
                    title: "Figure 13: speed-up by slots, with work stealing".into(),
                    x_title: Parameter::Slots.title().into(),
                    y_title: "speed-up over 1 slot".into(),
                    x: self.all,
                    groups: vec![],
                    kind: Kind::Lines,
                    logarithmic: false,
                    series: self.series,
                },
            ),
        ]
    }

    /// What half of all slots reach of linear speed-up, in one of [`ORDERS`].
    fn linear(&self, which: usize) -> Finding {
        let [others, citeseer] = [&self.half_of_ideal[which], &self.excepted[which]].map(|cases| {
            let missing = match cases.not_run {
                0 => String::new(),
                n => format!(" ({n} not run)"),
            };
            format!("{}{missing}", span(&cases.values, 2))
        });
        Finding {
            verdict: Verdict::None("the paper gives no figure"),
            ours: format!(
                "{others} of linear at half of all slots, {citeseer} on the graph that is excepted"
            ),
        }
    }

    fn claims(&self) -> Vec<Claim> {
        let bar = near(1.32, 1.0);
        let last_doubling = self.last_doubling.each_ref();
        let stealing = self.stealing.each_ref();
        vec![
            Claim {
                place: "figure 13a",
                claim: "nearly linear speed-up to 8 slots on almost all graphs, not on Citeseer",
                bar: String::new(),
                answer: Answer::Each([self.linear(0), self.linear(1)]),
                why: "in ascending order one giant tree occupies a PU while others have nothing to do"
                    .into(),
            },
            Claim {
                place: "figure 13a",
                claim: "from 8 to 16 slots the gain is less",
                bar: "if the last doubling of the slots gains less than the one before".into(),
                answer: Answer::Each(
                    last_doubling.map(|c| c.finding(|gain| gain < 1.0, 2, " of its gain")),
                ),
                why: "the PU's one access a cycle to each memory begins to be busy".into(),
            },
            Claim {
                place: "figure 13b",
                claim: "stealing gives 1.32 to 1.90 times the speed",
                bar: format!("from {bar:.3} times on"),
                answer: Answer::Each(stealing.map(|c| c.finding(|gain| gain >= bar, 3, " times"))),
                why: "stealing here is within a PU, as in the paper. In descending order these graphs \
                      have thousands of units of like size, so slots rarely run dry before the end; in \
                      ascending order single trees are large"
                    .into(),
            },
        ]
    }
}

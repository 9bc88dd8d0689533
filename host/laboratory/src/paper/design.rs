//! Figure 13: slots and work stealing.

use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, Verdict, near, span};
use super::{Csv, Input, Lab, at, csv_table, of_task, short, speed_up, times};
use crate::explore::PointResult;
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Kind, Plot, Series};
use gramer_base::error::Result;

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
    pub(super) fn case(&mut self, input: &Input, task: &str, all: &[PointResult]) {
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
        points: &[PointResult],
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
        let slots: Vec<String> = self.all.iter().map(|slots| format!("slots {slots}")).collect();
        let mut header = vec!["speed-up over 1 slot"];
        header.extend(slots.iter().map(String::as_str));
        header.push("stealing on over off");
        vec![
            Block::File("figure-13-speed-up.csv".into(), csv_table(&header, &self.rows)),
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
                why: "stealing is within a PU, as in the paper. In descending order these graphs \
                 have thousands of similar units, so slots rarely run dry; in ascending order \
                 single trees are large"
                    .into(),
            },
        ]
    }
}

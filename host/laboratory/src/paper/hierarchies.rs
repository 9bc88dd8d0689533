//! Figure 12: uniform LRU, static + LRU and the locality-aware hierarchy, on P2P.

use super::checks::CHECKS;
use super::report::{Answer, Block, Cases, Claim, ORDERS, Section, span};
use super::steps::{FROM, Step, add};
use super::{Csv, Input, Lab, at, axis_names, csv_table, of_task, speed_up};
use crate::explore::PointResult;
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Kind, Plot, Series};
use gramer_base::error::Result;

const POLICIES: [&str; 3] = ["uniform-lru", "static-lru", "locality"];
/// What figure 12 plots.
const METRICS: [Metric; 3] = [Metric::VertexHits, Metric::EdgeHits, Metric::Cycles];
pub(super) const SETTINGS: [Parameter; 6] = [
    Parameter::Check,
    Parameter::OnChip,
    Parameter::Latency,
    Parameter::Order,
    Parameter::Policy,
    Parameter::Lambda,
];
/// Shares of the data on the chip: 10 % in all, and τ of 10 % with a cache of the same capacity.
const SHARES: [&str; 2] = ["10%", "20%"];
/// Latency of the machine's description, at which claims are decided, and others.
const LATENCY: &str = "56";
const LATENCIES: [&str; 3] = [LATENCY, "100", "200"];
/// λ of the claims: the paper compares others with it.
const LAMBDA: &str = "1";
const LAMBDAS: [&str; 3] = [LAMBDA, "2", "4"];
const TASKS: [&str; 4] = ["clique:3", "clique:4", "clique:5", "motif:3"];
/// For the hit ratios by size, section VI-C.
const THREE: &str = "motif:3";
const FOUR: &str = "motif:4";
/// Figures of the paper: points of vertices and of edges, times as fast.
const FIXED: [f64; 3] = [12.96, 8.42, 1.60];
const AWARE: [f64; 3] = [1.01, 1.11, 1.06];

/// The three hierarchies.
pub fn figure_12(lab: &Lab<'_>) -> Result<Section> {
    let mut csv = Csv::new(&SETTINGS);
    let mut all = CHECKS.map(|_| Hierarchies::new());
    for input in &lab.p2p {
        // The whole range of latencies on the graph that figure 5 says is the paper's.
        let latencies = if input.paper.is_some() { &LATENCIES[..] } else { &LATENCIES[..1] };
        // The paper's check on that graph, at the latency of the claims.
        let checks = [Some(latencies), input.paper.map(|_| &LATENCIES[..1])];
        for task in TASKS {
            for ((check, latencies), all) in CHECKS.iter().zip(checks).zip(&mut all) {
                let mut points = vec![];
                for share in SHARES {
                    for latency in latencies.unwrap_or_default() {
                        points.extend(runs(lab, input, task, [check, share, latency])?);
                    }
                }
                csv.add(input, task, &SETTINGS, &points);
                all.case(input, task, &points);
            }
        }
        if input.paper.is_some() && !lab.quick {
            for (check, all) in CHECKS.iter().zip(&mut all) {
                let points = runs_of_four(lab, input, check)?;
                csv.add(input, FOUR, &SETTINGS, &points);
                all.case(input, FOUR, &points);
            }
        }
    }
    let claims = all.iter().zip(&PLACES).flat_map(|(all, places)| all.claims(places));
    let mut claims: Vec<Claim> = claims.collect();
    let why = "10 % on the chip";
    claims.extend(size_claims(&all[0].by_size, "figure 12 (by size)", why));
    let gains = gains(&all);
    let [embedding, _] = all;
    let mut blocks = embedding.blocks();
    blocks.insert(1, gains);
    blocks.push(Block::File("figure-12.csv".into(), csv.0));
    Ok(Section { title: "Figure 12: the memory hierarchy".into(), blocks, claims })
}

/// λ at a latency.
fn lambdas(latency: &str) -> String {
    let all = if latency == LATENCY { &LAMBDAS[..] } else { &LAMBDAS[..1] };
    format!("lambda={}", all.join(","))
}

/// All hierarchies in both orders.
fn runs(
    lab: &Lab<'_>,
    input: &Input,
    task: &str,
    [check, share, latency]: [&str; 3],
) -> Result<Vec<PointResult>> {
    let lambdas = lambdas(latency);
    let [check, share, latency] =
        [format!("check={check}"), format!("on_chip={share}"), format!("latency={latency}")];
    let first = [&*check, &*share, &*latency, "order=ascending,descending"];
    let two = [&first[..], &["policy=uniform-lru,static-lru"]].concat();
    let mut all = lab.sweep(input, task, &two)?;
    let third = [&first[..], &["policy=locality", &*lambdas]].concat();
    all.extend(lab.sweep(input, task, &third)?);
    Ok(all)
}

/// The same of [`FOUR`], with the latency and the λ of the claims alone.
fn runs_of_four(lab: &Lab<'_>, input: &Input, check: &str) -> Result<Vec<PointResult>> {
    let first = [
        &*format!("check={check}"),
        &*format!("on_chip={}", SHARES.join(",")),
        &*format!("latency={LATENCY}"),
        "order=ascending,descending",
    ];
    let mut all =
        lab.sweep(input, FOUR, &[&first[..], &["policy=uniform-lru,static-lru"]].concat())?;
    let lambda = format!("lambda={LAMBDA}");
    all.extend(lab.sweep(input, FOUR, &[&first[..], &["policy=locality", &*lambda]].concat())?);
    Ok(all)
}

/// The three hierarchies beside each other, as the cases come.
pub(super) struct Hierarchies {
    /// The cases of the plots: graph with share, and task.
    cases: Vec<[String; 2]>,
    /// By order, [metric](METRICS) and [policy](POLICIES).
    plots: [[[Series; 3]; 3]; 2],
    /// By share: static over uniform and locality over static, at the latency and λ of the claims.
    steps: [[Step; 2]; 2],
    /// By share, latency and λ.
    variants: Vec<Variant>,
    /// Hit ratio of the vertices with motifs of 3 and of 4, by order and policy.
    by_size: HitsBySize,
}

/// A setting of the memory, on a graph.
struct Variant {
    graph: String,
    share: &'static str,
    latency: &'static str,
    lambda: &'static str,
    steps: [Step; 2],
}

/// Gains of static + LRU over uniform LRU, and of the locality-aware hierarchy over static + LRU.
const GAINS: [&str; 8] = [
    "static: points of vertices",
    "static: points of edges",
    "static: times fewer lines",
    "static: times as fast",
    "LAMH: points of vertices",
    "LAMH: points of edges",
    "LAMH: times fewer lines",
    "LAMH: times as fast",
];

impl Variant {
    /// Number of cases and [`GAINS`], by order.
    fn rows(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> + '_ {
        ORDERS.into_iter().enumerate().filter_map(|(which, order)| {
            let cases = self.steps[0].speed[which].values.len();
            let mut cells = vec![cases.to_string()];
            for step in &self.steps {
                let of = |cases: &[Cases; 2], digits| span(&cases[which].values, digits);
                cells.extend([
                    of(&step.vertices.points, 1),
                    of(&step.edges.points, 1),
                    of(&step.lines, 2),
                    of(&step.speed, 2),
                ]);
            }
            (cases > 0).then_some((order, cells))
        })
    }
}

impl Hierarchies {
    pub(super) fn new() -> Self {
        Hierarchies {
            cases: vec![],
            plots: ORDERS.map(|_| METRICS.map(|_| POLICIES.map(Series::new))),
            steps: Default::default(),
            variants: vec![],
            by_size: Default::default(),
        }
    }

    /// The runs of a task on a graph; claims are held against the graph that the paper has.
    pub(super) fn case(&mut self, input: &Input, task: &str, all: &[PointResult]) {
        for (which, order) in ORDERS.iter().enumerate() {
            for share in SHARES {
                for latency in LATENCIES {
                    for lambda in LAMBDAS {
                        let found = POLICIES.map(|p| find(all, [share, latency, order, p, lambda]));
                        // A point that was not requested is not a case.
                        if let [Some(uniform), Some(fixed), Some(aware)] = found {
                            let variant = self.variant(&input.name, [share, latency, lambda]);
                            add(&mut variant.steps, which, [uniform, fixed, aware]);
                        }
                    }
                }
            }
            for (share, text) in SHARES.iter().enumerate() {
                let found =
                    POLICIES.map(|p| find(all, [text, LATENCY, order, p, LAMBDA]).flatten());
                if input.paper.is_some() {
                    add(&mut self.steps[share], which, found);
                }
                self.plot(which, [format!("{}, {text}", input.name), of_task(task)], found);
            }
        }
        let size = [THREE, FOUR].iter().position(|of_size| *of_size == task);
        if let Some(size) = size.filter(|_| input.paper.is_some()) {
            self.size(size, all);
        }
    }

    fn variant(
        &mut self,
        graph: &str,
        [share, latency, lambda]: [&'static str; 3],
    ) -> &mut Variant {
        let is = |v: &Variant| {
            (&*v.graph, v.share, v.latency, v.lambda) == (graph, share, latency, lambda)
        };
        let at = self.variants.iter().position(is).unwrap_or_else(|| {
            let (graph, steps) = (graph.to_string(), Default::default());
            self.variants.push(Variant { graph, share, latency, lambda, steps });
            self.variants.len() - 1
        });
        &mut self.variants[at]
    }

    fn size(&mut self, size: usize, all: &[PointResult]) {
        for (which, order) in ORDERS.iter().enumerate() {
            for (at, policy) in POLICIES.iter().enumerate() {
                let found = find(all, [SHARES[0], LATENCY, order, policy, LAMBDA]).flatten();
                self.by_size[size][which][at] = found.map(|m| m.shown(Metric::VertexHits));
            }
        }
    }

    fn plot(&mut self, which: usize, case: [String; 2], found: [Option<&Measures>; 3]) {
        let x = self.cases.iter().position(|known| *known == case).unwrap_or_else(|| {
            self.cases.push(case);
            self.cases.len() - 1
        });
        for (metric, series) in METRICS.iter().zip(&mut self.plots[which]) {
            for (series, m) in series.iter_mut().zip(found) {
                let point = match *metric {
                    Metric::Cycles => found[0].zip(m).map(|(from, to)| speed_up(from, to)),
                    other => m.map(|m| (m.shown(other), 0.0)),
                };
                series.points.extend(point.map(|(y, half)| (x, y, half)));
            }
        }
    }

    /// Text and plots.
    pub(super) fn blocks(self) -> Vec<Block> {
        let mut blocks = vec![
            Block::Text(
                "On P2P alone, as the figure's caption says. The paper doesn't name the Gnutella graph; by figure 5 it can \
                 be 08 and not 04, so claims are of 08. \"10 %\" of the data on the chip is read in two ways: 10 % of \
                 the lines in all, half of them in scratchpads; and τ of 10 % with a cache of the same capacity, which \
                 are 20 %. Lines are in whole cache sets, equally many in the three hierarchies. Verdicts are of a DDR \
                 latency of 56 cycles and of λ = 1; figure-12-gains.csv has others, but not every combination. \
                 p2p-gnutella04: latency 56, check *embedding*, no 4-MC. p2p-gnutella08: other latencies with λ = 1 and \
                 *embedding* alone; 4-MC with latency 56 and λ = 1 alone."
                    .into(),
            ),
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
                        title: format!("Figure 12: {what}, {order} order"),
                        x_title: "graph, share on the chip, and task".into(),
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

    /// Rows of [`gains`] with a check.
    fn gains(&self, check: &str) -> Vec<Vec<String>> {
        let rows = self.variants.iter().flat_map(|variant| {
            let Variant { graph, share, latency, lambda, .. } = variant;
            variant.rows().map(move |(order, cells)| {
                let setting = [check, graph, *share, *latency, *lambda, order].map(String::from);
                [setting.to_vec(), cells].concat()
            })
        });
        rows.collect()
    }

    fn claims(&self, (places, texts): &Places) -> Vec<Claim> {
        let mut claims = vec![];
        for (place, [fixed, aware]) in places.iter().zip(&self.steps) {
            claims.extend(fixed.claims(place, FIXED, &texts[0], FROM[0]));
            claims.extend(aware.claims(place, AWARE, &texts[1], FROM[1]));
        }
        claims
    }
}

/// Hit ratios of the vertices in %, by size of motifs (3 and 4 vertices), order and policy.
pub(super) type HitsBySize = [[[Option<f64>; 3]; 2]; 2];

/// Claims of section VI-C: hit ratios from 3-MC to 4-MC.
pub(super) fn size_claims(hits: &HitsBySize, place: &'static str, why: &str) -> [Claim; 2] {
    let claim = |claim, bar: &str, policy: usize, holds: fn(f64) -> bool| {
        let of_order = |order: usize| {
            let mut cases = Cases::default();
            let both = hits[0][order][policy].zip(hits[1][order][policy]);
            cases.add(both.map(|(three, four)| four - three));
            let unit = both.map_or(" points".into(), |(three, four)| {
                format!(" points: {three:.1} to {four:.1} %")
            });
            cases.finding(holds, 1, &unit)
        };
        let answer = Answer::Each([0, 1].map(of_order));
        Claim { place, claim, bar: bar.into(), answer, why: why.into() }
    };
    [
        claim(
            "from 3-MC to 4-MC the vertices' hit ratio grows under LAMH (65.74 to 70.24 %)",
            "if it grows",
            2,
            |points| points > 0.0,
        ),
        claim("and falls under uniform LRU (47.77 to 31.81 %)", "if it falls", 0, |points| {
            points < 0.0
        }),
    ]
}

/// Gains at every latency and λ.
fn gains(all: &[Hierarchies; 2]) -> Block {
    let header = ["check", "graph", "on the chip", "latency", "λ", "order", "cases"];
    let header: Vec<&str> = header.into_iter().chain(GAINS).collect();
    let rows = CHECKS.iter().zip(all).flat_map(|(check, all)| all.gains(check));
    Block::File("figure-12-gains.csv".into(), csv_table(&header, &rows.collect::<Vec<_>>()))
}

/// The runs of a point: none if it isn't among them, and an inner none if it was not run.
fn find<'a>(
    all: &'a [PointResult],
    [share, latency, order, policy, lambda]: [&str; 5],
) -> Option<Option<&'a Measures>> {
    let mut wanted = vec![
        (Parameter::OnChip, share),
        (Parameter::Latency, latency),
        (Parameter::Order, order),
        (Parameter::Policy, policy),
    ];
    if policy == POLICIES[2] {
        wanted.push((Parameter::Lambda, lambda));
    }
    let there = all.iter().any(|p| wanted.iter().all(|&(of, text)| super::value(p, of) == text));
    there.then(|| at(all, &wanted))
}

/// Places of the claims by share, and claims on vertices, edges and speed.
type Places = ([&'static str; 2], [[&'static str; 3]; 2]);

/// By check.
const PLACES: [Places; 2] = [
    (
        ["figure 12 (a tenth)", "figure 12 (a fifth)"],
        [
            [
                "static + LRU beats uniform LRU in the vertices' hit ratio by 12.96 to 37.44 points",
                "and in the edges' by 8.42 to 24.94 points",
                "and is 1.60 to 2.95 times as fast",
            ],
            [
                "locality-aware replacement adds 1.01 to 5.67 points to the vertices' hit ratio of static + LRU",
                "and 1.11 to 6.10 points to the edges'",
                "and is 1.06 to 1.39 times as fast",
            ],
        ],
    ),
    (
        ["figure 12 (a tenth, candidate)", "figure 12 (a fifth, candidate)"],
        [
            ["static: vertices by 12.96", "edges by 8.42", "1.60 times as fast"],
            ["LAMH: vertices by 1.01", "edges by 1.11", "1.06 times as fast"],
        ],
    ),
];

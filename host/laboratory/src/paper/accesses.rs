//! Figures 3, 5 and 8: where accesses go.

use std::process::Command;

use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, Verdict, near, span};
use super::{Csv, Input, Lab, NOT_RUN, at, short, shortened};
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Plot, Series};
use crate::explore::short_name;
use gramer_engine::reference::{Accesses, Comparison, accesses};
use gramer_graph::error::{Error, Result};
use gramer_graph::image;
use gramer_graph::prepare::locality::{share_of_first, share_of_most_accessed};
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

/// The share of vertices and edges in figures 5 and 8.
pub(super) const TOP: f64 = 0.05;
/// Most embeddings of a traced task.
pub(super) const MOST: u64 = 400_000_000;
/// Why a share that could not be another gets no verdict.
const BY_COUNTING: &str = "it follows from the way of counting";
/// By [`ORDERS`].
pub(super) const COMPARISONS: [Comparison; 2] = [Comparison::Ascending, Comparison::Descending];

/// What the PUs wait for, and cache misses of algorithm 1 on a CPU.
pub fn figure_3(lab: &Lab<'_>) -> Result<Section> {
    let settings = [Parameter::Order, Parameter::Slots];
    let mut csv = Csv::new(&settings);
    let all_slots = lab.base.machine.slots.to_string();
    let slots = format!("slots=1,{all_slots}");
    let waits = [Metric::Busy, Metric::WaitMemory, Metric::WaitInside, Metric::NoWork];
    let (mut rows, mut names) = (vec![], vec![]);
    let mut one: [Cases; 2] = Default::default();
    // Of the runs with one slot: the row, waits, accesses and misses.
    let mut alone: Vec<(usize, Waits)> = vec![];
    let mut series =
        ORDERS.map(|_| waits.map(|m| Series { name: m.title().into(), points: vec![] }));
    for (input, task) in lab.cases(&["clique:3", "clique:5", "motif:3"]) {
        let all = lab.sweep(input, task, &["order=descending,ascending", &slots])?;
        csv.add(input, task, &settings, &all);
        names.push(format!("{} {}", input.name, short(task)));
        for (which, order) in ORDERS.iter().enumerate() {
            for slots in ["1", &all_slots] {
                let mut row = vec![
                    format!("{} {} {}", input.name, short(task), &order[..3]),
                    slots.to_string(),
                ];
                let found = at(&all, &[(Parameter::Order, order), (Parameter::Slots, slots)]);
                // A sample knows no waits.
                let Some(m) = found.filter(|m| m.half().is_none()) else {
                    if slots == "1" {
                        one[which].add(None);
                    }
                    row.resize(8, NOT_RUN.into());
                    rows.push(row);
                    continue;
                };
                row.extend(waits.map(|metric| format!("{:.1}", m.shown(metric))));
                let misses = |hits| format!("{:.1}", 100.0 - m.shown(hits));
                row.extend([misses(Metric::VertexHits), misses(Metric::EdgeHits)]);
                if slots == "1" {
                    alone.push((rows.len(), Waits::of(m)));
                    one[which].add(Some(m.shown(Metric::WaitMemory)));
                    for (series, metric) in series[which].iter_mut().zip(waits) {
                        series.points.push((names.len() - 1, m.shown(metric), 0.0));
                    }
                }
                rows.push(row);
            }
        }
    }
    let cases: Vec<Waits> = alone.iter().map(|(_, w)| *w).collect();
    let fitted = Waits::fit(&cases);
    for row in &mut rows {
        row.push("–".into());
    }
    let division = match fitted {
        Some((access, miss, off)) if off < 0.1 => {
            for &(at, w) in &alone {
                let vertex = w.vertex(access, miss);
                let share = 100.0 * vertex / (vertex + w.edge(access, miss));
                *rows[at].last_mut().expect("it was pushed") = format!("{share:.0}");
            }
            format!(
                "The counters don't divide the waits into vertex and edge accesses, but with one slot \
                 each access is waited for alone: {access:.1} cycles an access and {miss:.1} more a \
                 miss give the waits of every case to {:.1} % (least squares), and these times the \
                 vertex accesses and misses are the share in the last column.",
                100.0 * off
            )
        }
        _ => "The counters don't divide the waits into vertex and edge accesses, and no two costs of an \
              access and of a miss give the waits of all cases."
            .into(),
    };
    let header = [
        "case",
        "slots",
        "port busy %",
        "waits for memory %",
        "inside %",
        "no work %",
        "vertex misses %",
        "edge misses %",
        "of the waits for vertices %",
    ];
    let mut blocks = vec![
        Block::Text(format!(
            "The paper counts pipeline stalls of a CPU with VTune. Ours are the PUs' own counters: \
             with one slot nothing hides a memory access, as on a core that waits for it; with all \
             slots most of it is hidden. *Inside* is a token in the PU's own pipeline. Memory on the \
             chip is the whole machine's, so the misses are first touches. {division}"
        )),
        Block::Table { header: header.map(String::from).to_vec(), rows },
    ];
    for (order, series) in ORDERS.iter().zip(series) {
        blocks.push(Block::Plot(
            format!("figure-3-{order}"),
            Plot {
                title: format!("Figure 3: what a PU with one slot does, {order} order"),
                x_title: "graph and task".into(),
                y_title: "share of the cycles in %".into(),
                x: shortened(&names),
                lines: false,
                logarithmic: false,
                series: series.to_vec(),
            },
        ));
    }
    blocks.push(Block::File("figure-3.csv".into(), csv.0));
    blocks.extend(cachegrind(lab)?);
    let claims = vec![Claim {
        place: "figure 3",
        claim: "random accesses take 30 % of a CPU's stalls on the smallest graph, up to 67.9 % on \
                larger ones",
        bar: String::new(),
        answer: Answer::Each(one.map(|c| Finding {
            verdict: Verdict::None("other machines"),
            ours: format!("a PU with one slot waits for memory {} % of its time", span(&c.values, 1)),
        })),
        why: "the paper's is a CPU, by its stalls; ours a PU with one slot whose data are nearly all on \
              the chip, by its cycles: the one can't be held against the other. The nearest to the \
              paper's that is measured here, algorithm 1 in the simulated caches of a CPU like the \
              paper's, hardly misses the last of them on these graphs (below)"
            .into(),
    }];
    Ok(Section { title: "Figure 3: waits for memory".into(), blocks, claims })
}

/// Waits for memory of PUs with one slot, in cycles, and what they waited for.
#[derive(Debug, Clone, Copy)]
struct Waits {
    cycles: f64,
    /// Vertices', edges'.
    accesses: [f64; 2],
    misses: [f64; 2],
}

impl Waits {
    fn of(m: &Measures) -> Self {
        Waits {
            cycles: m.sum("pu.idle_memory"),
            accesses: ["vertex", "edge"].map(|kind| m.sum(&format!("pu.{kind}_accesses"))),
            misses: ["vertex", "edge"].map(|kind| m.sum(&format!("partition.{kind}_misses"))),
        }
    }

    fn vertex(&self, access: f64, miss: f64) -> f64 {
        access * self.accesses[0] + miss * self.misses[0]
    }

    fn edge(&self, access: f64, miss: f64) -> f64 {
        access * self.accesses[1] + miss * self.misses[1]
    }

    /// Cycles of an access and of a miss besides, by least squares over the relative errors, and the
    /// largest of these. `None` for fewer than three cases or where they say nothing.
    fn fit(cases: &[Waits]) -> Option<(f64, f64, f64)> {
        let (mut aa, mut am, mut mm, mut a, mut m) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for w in cases {
            let accesses = (w.accesses[0] + w.accesses[1]) / w.cycles;
            let misses = (w.misses[0] + w.misses[1]) / w.cycles;
            aa += accesses * accesses;
            am += accesses * misses;
            mm += misses * misses;
            a += accesses;
            m += misses;
        }
        let determinant = aa * mm - am * am;
        let (access, miss) = ((a * mm - m * am) / determinant, (m * aa - a * am) / determinant);
        let off =
            |w: &Waits| ((w.vertex(access, miss) + w.edge(access, miss)) / w.cycles - 1.0).abs();
        let worst = cases.iter().map(off).fold(0.0, f64::max);
        let good =
            cases.len() > 2 && [access, miss, worst].iter().all(|n| n.is_finite() && *n >= 0.0);
        good.then_some((access, miss, worst))
    }
}

/// Misses of algorithm 1 in simulated CPU caches, where valgrind is there.
fn cachegrind(lab: &Lab<'_>) -> Result<Vec<Block>> {
    let folder = tempfile::tempdir().map_err(|e| Error::io("<temporary>", "create", e))?;
    let own = std::env::current_exe().map_err(|e| Error::io("<self>", "find", e))?;
    let mut rows = vec![];
    for input in &lab.inputs {
        lab.context.cancel.check()?;
        let file = folder.path().join(format!("{}.gramer", input.name));
        image::write(&file, &input.graph, &input.name)?;
        let output = Command::new("valgrind")
            // The paper's CPU: 32 KB of L1; of its 35 MB of L3, the power of two below.
            .args(["--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64"])
            .args(["--I1=32768,8,64", "--LL=33554432,16,64", "--cachegrind-out-file=/dev/null"])
            .arg(&own)
            .args(["mine", "motif", "-k", "3", "--device", "reference", "--output", "json"])
            .arg(&file)
            .output();
        let Ok(output) = output else {
            return Ok(vec![Block::Text("No valgrind here: misses of a CPU are left out.".into())]);
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let Some(numbers) = cache_summary(&said).filter(|_| output.status.success()) else {
            return Ok(vec![Block::Text("Valgrind could not run the reference engine.".into())]);
        };
        let [refs, first, last] = numbers;
        rows.push(vec![
            input.name.clone(),
            refs.to_string(),
            format!("{:.2}", 100.0 * first as f64 / refs as f64),
            format!("{:.3}", 100.0 * last as f64 / refs as f64),
        ]);
    }
    let header = ["3-MC on", "data accesses", "L1 misses %", "L3 misses %"];
    Ok(vec![
        Block::Text(
            "Algorithm 1 on a CPU (`--device reference`, reading of the graph included) in caches of \
             the paper's CPU, simulated by cachegrind: 32 KB of L1, 32 MB in place of 35 MB of L3."
                .into(),
        ),
        Block::Table { header: header.map(String::from).to_vec(), rows },
    ])
}

/// Data accesses, L1 misses and last-level misses from cachegrind's summary.
fn cache_summary(said: &str) -> Option<[u64; 3]> {
    let number = |name: &str| {
        let line = said.lines().find(|l| l.contains(name))?;
        let text = line.split(name).nth(1)?.trim_start_matches([':', ' ']);
        text.split([' ', '(']).next()?.replace(',', "").parse().ok()
    };
    Some([number("D   refs")?, number("D1  misses")?, number("LLd misses")?])
}

/// Tasks whose accesses are traced, by size.
fn traced(lab: &Lab<'_>, input: &Input) -> Vec<(String, Task)> {
    let k = if input.four_motifs && !lab.quick { 5 } else { 4 };
    let mut all = vec![
        (format!("{k}-MC"), Task::Motif { k, induced: Induced::Vertex }),
        ("5-CF".to_string(), Task::Clique { k: 5 }),
    ];
    if input.graph.view().vertex_labels.is_some() {
        let support = if lab.quick { 20 } else { 2000 };
        let limit = SizeLimit::MaxVertices(3);
        let task = Task::Fsm { limit, support, measure: Measure::Embeddings };
        all.push((short_name(&task), task));
    }
    all
}

/// Share of the accesses that go to the most accessed 5 %.
pub fn figure_5(lab: &Lab<'_>) -> Result<Section> {
    let mut csv = String::from("graph,task,order,iteration,vertex_accesses,edge_accesses,");
    csv += "vertices_best,vertices_by_on_1,edges_best,edges_by_on_1\n";
    let mut series = [vec![], vec![]];
    let mut rows = vec![];
    // Of the motifs, by order: 1 where the share grows with each iteration, and the shares.
    let [mut grows, mut first, mut second, mut edge_first, mut citeseer]: [[Cases; 2]; 5] =
        Default::default();
    // By order and iteration from the third on, for the eye.
    let mut later: [[Cases; 2]; 2] = Default::default();
    for input in &lab.inputs {
        for (name, task) in traced(lab, input) {
            for (which, order) in COMPARISONS.into_iter().enumerate() {
                let label = format!("{} {name} {}", input.name, &ORDERS[which][..3]);
                let found = match accesses(&input.graph, &task, order, MOST, lab.context) {
                    Err(Error::Unsupported(_)) => None,
                    other => Some(other?),
                };
                let motifs = name.ends_with("MC");
                let Some(found) = found else {
                    let mut row = vec![label];
                    row.resize(6, NOT_RUN.into());
                    rows.push(row);
                    if motifs {
                        for cases in [&mut grows, &mut first, &mut second, &mut edge_first] {
                            cases[which].add(None);
                        }
                    }
                    continue;
                };
                let shares = |table: &[Vec<u64>], get: fn(&[u64], f64) -> f64| -> Vec<f64> {
                    let used = table[1..].iter().filter(|t| t.iter().any(|&n| n > 0));
                    used.map(|t| 100.0 * get(t, TOP)).collect()
                };
                let Accesses { vertices, edges } = &found;
                let vertex = shares(vertices, share_of_most_accessed);
                let edge = shares(edges, share_of_most_accessed);
                let vertex_by_rank = shares(vertices, share_of_first);
                let edge_by_rank = shares(edges, share_of_first);
                let order = &ORDERS[which][..3];
                for i in 0..vertex.len().min(edge.len()) {
                    csv += &format!(
                        "{},{name},{order},{},{},{},{},{},{},{}\n",
                        input.name,
                        i + 1,
                        vertices[i + 1].iter().sum::<u64>(),
                        edges[i + 1].iter().sum::<u64>(),
                        vertex[i],
                        vertex_by_rank[i],
                        edge[i],
                        edge_by_rank[i]
                    );
                    rows.push(vec![
                        label.clone(),
                        (i + 1).to_string(),
                        format!("{:.2}", vertex[i]),
                        format!("{:.2}", vertex_by_rank[i]),
                        format!("{:.2}", edge[i]),
                        format!("{:.2}", edge_by_rank[i]),
                    ]);
                }
                if motifs && vertex.len() > 1 {
                    let growing = vertex.windows(2).all(|w| w[1] > w[0]);
                    grows[which].add(Some(f64::from(u8::from(growing))));
                    first[which].add(Some(vertex[0]));
                    second[which].add(Some(vertex[1]));
                    for (later, share) in later[which].iter_mut().zip(&vertex[2..]) {
                        later.add(Some(*share));
                    }
                    edge_first[which].add(Some(edge[0]));
                    if input.paper == Some("Citeseer") {
                        citeseer[which].add(edge.last().copied());
                    }
                }
                for (series, values) in series.iter_mut().zip([&vertex, &edge]) {
                    let points = values.iter().enumerate().map(|(x, &y)| (x, y, 0.0)).collect();
                    series.push(Series { name: label.clone(), points });
                }
            }
        }
    }
    let header = [
        "case",
        "iteration",
        "vertices: best 5 %",
        "first 5 % by ON_1",
        "edges: best 5 %",
        "first 5 % by ON_1",
    ];
    let mut blocks = vec![
        Block::Text(
            "Every access of algorithm 1 counted exactly on the CPU. Iteration i extends embeddings of \
             i vertices. The paper counts an access for each vertex of each embedding; ours are the \
             reads that the algorithm makes, so iteration 1 reads each vertex once. In % of the \
             iteration's accesses."
                .into(),
        ),
        Block::Table { header: header.map(String::from).to_vec(), rows },
    ];
    for (kind, series) in ["vertices", "edges"].into_iter().zip(series) {
        let x = series.iter().map(|s: &Series| s.points.len()).max().unwrap_or(0);
        blocks.push(Block::Plot(
            format!("figure-5-{kind}"),
            Plot {
                title: format!("Figure 5: accesses to the top 5 % of the {kind}"),
                x_title: "iteration (vertices of the extended embeddings)".into(),
                y_title: "share of the accesses in %".into(),
                x: (1..=x).map(|i| i.to_string()).collect(),
                lines: true,
                logarithmic: false,
                series,
            },
        ));
    }
    blocks.push(Block::File("figure-5.csv".into(), csv));
    let (above, reaches) = (near(43.73, 0.0), near(87.80, 0.0));
    let percent = |cases: &Cases| format!("{} %", span(&cases.values, 1));
    let claims = vec![
        Claim {
            place: "figure 5a",
            claim: "for MC, the top 5 % of the vertices take a larger share in each iteration",
            bar: "if the share grows from each iteration to the next".into(),
            answer: Answer::Each(grows.map(|c| Finding {
                verdict: c.verdict(|grows| grows > 0.0),
                ours: String::new(),
            })),
            why: "–".into(),
        },
        Claim {
            place: "figure 5a",
            claim: "below 29.93 % in the first iteration",
            bar: String::new(),
            answer: Answer::Each(first.map(|c| Finding {
                verdict: Verdict::None(BY_COUNTING),
                ours: percent(&c),
            })),
            why: "in our first iteration each vertex is read once".into(),
        },
        Claim {
            place: "figure 5a",
            claim: "over 43.73 % in the second, up to 94.57 % in the fourth",
            bar: format!("from {above:.1} % on in the second"),
            answer: Answer::Each([0, 1].map(|which| Finding {
                verdict: second[which].verdict(|share| share >= above),
                ours: format!(
                    "{} in the second iteration, {} in the third, {} in the fourth",
                    percent(&second[which]),
                    percent(&later[which][0]),
                    percent(&later[which][1])
                ),
            })),
            why: "the shares of our third iteration are like the paper's of its second: it counts an \
                  access for each vertex of each embedding, ours is each read of the algorithm, so \
                  that our first iteration has no locality yet"
                .into(),
        },
        Claim {
            place: "figure 5b",
            claim: "the top 5 % of the edges start at 5 %",
            bar: String::new(),
            answer: Answer::Each(edge_first.map(|c| Finding {
                verdict: Verdict::None(BY_COUNTING),
                ours: percent(&c),
            })),
            why: "in our first iteration each edge is read once".into(),
        },
        Claim {
            place: "figure 5b",
            claim: "and reach 87.80 % on Citeseer",
            bar: format!("from {reaches:.1} % on in the last iteration of MC"),
            answer: Answer::Each(citeseer.map(|c| c.finding(|share| share >= reaches, 1, " %"))),
            why: "–".into(),
        },
    ];
    Ok(Section { title: "Figures 4 and 5: extension locality".into(), blocks, claims })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_divided_by_what_an_access_and_a_miss_cost() {
        let waits = |accesses: [f64; 2], misses: [f64; 2]| Waits {
            cycles: 6.0 * (accesses[0] + accesses[1]) + 50.0 * (misses[0] + misses[1]),
            accesses,
            misses,
        };
        let all = [
            waits([100.0, 50.0], [10.0, 5.0]),
            waits([10.0, 500.0], [1.0, 5.0]),
            waits([300.0, 30.0], [2.0, 2.0]),
        ];
        let (access, miss, off) = Waits::fit(&all).unwrap();
        assert!((access - 6.0).abs() < 1e-6 && (miss - 50.0).abs() < 1e-6 && off < 1e-6);
        assert!((all[0].vertex(access, miss) - 1100.0).abs() < 1e-3);
        assert!(Waits::fit(&all[..2]).is_none() && Waits::fit(&[all[0]; 3]).is_none());
    }

    #[test]
    fn the_summary_of_cachegrind_is_understood() {
        let said = "==1== I refs:        9,000\n==1== D   refs:        1,234,567  (9 rd + 8 wr)\n\
                    ==1== D1  misses:        12,345  (1 rd)\n==1== LLd misses:         678  (2 rd)\n";
        assert_eq!(cache_summary(said), Some([1_234_567, 12_345, 678]));
        assert_eq!(cache_summary("nothing"), None);
    }
}

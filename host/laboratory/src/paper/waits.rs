//! Figure 3: waits of PUs, and misses of algorithm 1 in the caches of a CPU.

use std::process::Command;

use super::checks::{BOTH, CHECKS, accesses, of_check};
use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, Verdict, span};
use super::{Csv, Lab, NOT_RUN, at, axis_names, csv_table, of_task, short};
use crate::explore::PointResult;
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::Parameter;
use crate::explore::plot::{Kind, Plot, Series};
use gramer_base::error::{Error, Result};
use gramer_graph::image;

/// What a PU's cycles are, by its counters.
const WAITS: [Metric; 4] = [Metric::Busy, Metric::WaitMemory, Metric::WaitInside, Metric::NoWork];

/// Waits of the PUs, and cache misses of algorithm 1 on a CPU.
pub fn figure_3(lab: &Lab<'_>) -> Result<Section> {
    let settings = [Parameter::Check, Parameter::Order, Parameter::Slots];
    let mut csv = Csv::new(&settings);
    let slots = format!("slots=1,{}", lab.base.machine.slots);
    let mut stalls = CHECKS.map(|_| Stalls::new());
    for (input, task) in lab.cases(&["clique:3", "clique:5", "motif:3"]) {
        let all = lab.sweep(input, task, &[BOTH, "order=descending,ascending", &slots])?;
        csv.add(input, task, &settings, &all);
        for (check, stalls) in CHECKS.iter().zip(&mut stalls) {
            stalls.case(&input.name, task, &of_check(&all, check));
        }
    }
    let [embedding, candidate] = stalls;
    let claims = vec![
        embedding.claim(),
        Claim {
            place: "figure 3 (candidate)",
            claim: "the same",
            why: "as above".into(),
            ..candidate.claim()
        },
    ];
    let mut blocks = embedding.blocks(candidate);
    blocks.push(Block::File("figure-3.csv".into(), csv.0));
    blocks.extend(accesses(lab)?);
    blocks.extend(cachegrind(lab)?);
    Ok(Section { title: "Figure 3: waits for memory".into(), blocks, claims })
}

/// What the PUs do with one slot, as the cases come.
pub(super) struct Stalls {
    rows: Vec<Vec<String>>,
    /// The cases: graph and task.
    names: Vec<String>,
    cases: Vec<[String; 2]>,
    /// The share of the cycles that a PU with one slot waits for memory, by order.
    one: [Cases; 2],
    /// Of the runs with one slot: the row, and waits, accesses and misses.
    alone: Vec<(usize, MemoryStalls)>,
    /// By order, one of [`WAITS`] each.
    series: [[Series; 4]; 2],
}

impl Stalls {
    pub(super) fn new() -> Self {
        let series =
            ORDERS.map(|_| WAITS.map(|m| Series::new(m.title().trim_end_matches(" in %"))));
        Stalls {
            rows: vec![],
            names: vec![],
            cases: vec![],
            one: Default::default(),
            alone: vec![],
            series,
        }
    }

    /// The runs of a task on a graph.
    pub(super) fn case(&mut self, graph: &str, task: &str, all: &[PointResult]) {
        self.names.push(format!("{graph} {}", short(task)));
        self.cases.push([graph.to_string(), of_task(task)]);
        for (which, order) in ORDERS.iter().enumerate() {
            let found = at(all, &[(Parameter::Order, order), (Parameter::Slots, "1")]);
            self.add(which, found);
        }
    }

    /// A run of the case that was named last.
    fn add(&mut self, which: usize, found: Option<&Measures>) {
        let case = self.names.len() - 1;
        let mut row = vec![format!("{} {}", self.names[case], &ORDERS[which][..3])];
        // A sample knows no waits.
        let Some(m) = found.filter(|m| m.half().is_none()) else {
            self.one[which].add(None);
            row.resize(7, NOT_RUN.into());
            self.rows.push(row);
            return;
        };
        row.extend(WAITS.map(|metric| format!("{:.1}", m.shown(metric))));
        let misses = |hits| format!("{:.1}", 100.0 - m.shown(hits));
        row.extend([misses(Metric::VertexHits), misses(Metric::EdgeHits)]);
        self.alone.push((self.rows.len(), MemoryStalls::of(m)));
        self.one[which].add(Some(m.shown(Metric::WaitMemory)));
        for (series, metric) in self.series[which].iter_mut().zip(WAITS) {
            series.points.push((case, m.shown(metric), 0.0));
        }
        self.rows.push(row);
    }

    /// Divides the waits of the runs with one slot into vertex and edge accesses, in the rows' last
    /// column, and says how.
    fn divide(&mut self) -> String {
        let cases: Vec<MemoryStalls> = self.alone.iter().map(|(_, w)| *w).collect();
        for row in &mut self.rows {
            row.push("–".into());
        }
        match MemoryStalls::fit(&cases) {
            Some((access, miss, off)) if off < 0.1 => {
                for &(at, w) in &self.alone {
                    let vertex = w.vertex(access, miss);
                    let share = 100.0 * vertex / (vertex + w.edge(access, miss));
                    *self.rows[at].last_mut().expect("it was pushed") = format!("{share:.0}");
                }
                format!(
                    "The counters don't divide the waits into vertex and edge accesses, but {access:.1} cycles an access \
                     and {miss:.1} more a miss give the waits of every case to {:.1} % (least squares): the last column of \
                     figure-3-waits.csv.",
                    100.0 * off
                )
            }
            _ => "The counters don't divide the waits into vertex and edge accesses, and no two costs \
                  of an access and of a miss give the waits of all cases."
                .into(),
        }
    }

    /// Text, numbers of both checks, and plots of the first.
    pub(super) fn blocks(mut self, mut candidate: Stalls) -> Vec<Block> {
        let division = self.divide();
        candidate.divide();
        let named = |(check, stalls): (&str, &Stalls)| -> Vec<Vec<String>> {
            stalls.rows.iter().map(|row| [&[check.into()][..], row].concat()).collect()
        };
        let rows: Vec<_> = CHECKS.into_iter().zip([&self, &candidate]).flat_map(named).collect();
        let header = [
            "check",
            "case",
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
                 with one slot nothing hides a memory access, with all slots most of it is \
                 hidden (figure-3.csv). *Inside* is a token in the PU's own pipeline. Misses are first touches. {division}"
            )),
            Block::File("figure-3-waits.csv".into(), csv_table(&header, &rows)),
        ];
        let (x, groups) = axis_names(&self.cases);
        for (order, series) in ORDERS.iter().zip(self.series) {
            blocks.push(Block::Plot(
                format!("figure-3-{order}"),
                Plot {
                    title: format!("Figure 3: what a PU with one slot does, {order} order"),
                    x_title: "graph and task".into(),
                    y_title: "share of the cycles in %".into(),
                    x: x.clone(),
                    groups: groups.clone(),
                    kind: Kind::Stacked,
                    logarithmic: false,
                    series: series.to_vec(),
                },
            ));
        }
        blocks
    }

    fn claim(&self) -> Claim {
        Claim {
            place: "figure 3",
            claim: "random accesses take 30 % of a CPU's stalls on the smallest graph, up to 67.9 % on \
                    larger ones",
            bar: String::new(),
            answer: Answer::Each(self.one.each_ref().map(|c| Finding {
                verdict: Verdict::None("other machines"),
                ours: format!(
                    "a PU with one slot waits for memory {} % of its time",
                    span(&c.values, 1)
                ),
            })),
            why: "not comparable: the paper measures stalls of a CPU, we cycles of a PU with nearly all data \
                  on the chip. On these graphs algorithm 1 hardly misses a CPU's last cache (below)"
                .into(),
        }
    }
}

/// Cycles that PUs with one slot wait for memory, and the accesses and misses that cause them.
#[derive(Debug, Clone, Copy)]
struct MemoryStalls {
    cycles: f64,
    /// Vertices', edges'.
    accesses: [f64; 2],
    misses: [f64; 2],
}

impl MemoryStalls {
    fn of(m: &Measures) -> Self {
        MemoryStalls {
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
    fn fit(cases: &[MemoryStalls]) -> Option<(f64, f64, f64)> {
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
        let off = |w: &MemoryStalls| {
            ((w.vertex(access, miss) + w.edge(access, miss)) / w.cycles - 1.0).abs()
        };
        let worst = cases.iter().map(off).fold(0.0, f64::max);
        let good =
            cases.len() > 2 && [access, miss, worst].iter().all(|n| n.is_finite() && *n >= 0.0);
        good.then_some((access, miss, worst))
    }
}

/// Cache misses of algorithm 1 on a CPU, simulated by cachegrind. Needs valgrind, and `gramer` in the folder of this
/// program.
fn cachegrind(lab: &Lab<'_>) -> Result<Vec<Block>> {
    let folder = tempfile::tempdir().map_err(|e| Error::io("<temporary>", "create", e))?;
    let own = std::env::current_exe().map_err(|e| Error::io("<self>", "find", e))?;
    let gramer = own.with_file_name(format!("gramer{}", std::env::consts::EXE_SUFFIX));
    let left_out =
        |why: &str| Ok(vec![Block::Text(format!("{why}: misses of a CPU are left out."))]);
    if !gramer.is_file() {
        return left_out("The folder of `gramer-lab` holds no `gramer`");
    }
    let mut rows = vec![];
    for input in &lab.inputs {
        lab.context.cancel.check()?;
        let file = folder.path().join(format!("{}.gramer", input.name));
        image::write(&file, &input.graph, &input.name)?;
        let output = Command::new("valgrind")
            // The paper's CPU: 32 KB of L1; of its 35 MB of L3, the power of two below.
            .args(["--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64"])
            .args(["--I1=32768,8,64", "--LL=33554432,16,64", "--cachegrind-out-file=/dev/null"])
            .arg(&gramer)
            .args(["mine", "motif", "-k", "3", "--device", "reference", "--output", "json"])
            .arg(&file)
            .output();
        let Ok(output) = output else {
            return left_out("Valgrind is not installed");
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let Some(numbers) = cache_summary(&said).filter(|_| output.status.success()) else {
            let reason = said.lines().last().unwrap_or_default();
            return left_out(&format!("Valgrind could not run the reference engine ({reason})"));
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
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_divided_by_what_an_access_and_a_miss_cost() {
        let waits = |accesses: [f64; 2], misses: [f64; 2]| MemoryStalls {
            cycles: 6.0 * (accesses[0] + accesses[1]) + 50.0 * (misses[0] + misses[1]),
            accesses,
            misses,
        };
        let all = [
            waits([100.0, 50.0], [10.0, 5.0]),
            waits([10.0, 500.0], [1.0, 5.0]),
            waits([300.0, 30.0], [2.0, 2.0]),
        ];
        let (access, miss, off) = MemoryStalls::fit(&all).unwrap();
        assert!((access - 6.0).abs() < 1e-6 && (miss - 50.0).abs() < 1e-6 && off < 1e-6);
        assert!((all[0].vertex(access, miss) - 1100.0).abs() < 1e-3);
        assert!(
            MemoryStalls::fit(&all[..2]).is_none() && MemoryStalls::fit(&[all[0]; 3]).is_none()
        );
    }

    #[test]
    fn the_summary_of_cachegrind_is_understood() {
        let said = "==1== I refs:        9,000\n==1== D   refs:        1,234,567  (9 rd + 8 wr)\n\
                    ==1== D1  misses:        12,345  (1 rd)\n==1== LLd misses:         678  (2 rd)\n";
        assert_eq!(cache_summary(said), Some([1_234_567, 12_345, 678]));
        assert_eq!(cache_summary("nothing"), None);
    }
}

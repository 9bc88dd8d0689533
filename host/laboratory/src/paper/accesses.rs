//! Figure 5: where accesses go.

use super::cells::in_plots;
use super::report::{Answer, Block, Cases, Claim, Finding, ORDERS, Section, Verdict, near, span};
use super::{Input, Lab, NOT_RUN};
use crate::explore::plot::{Kind, Plot, Series};
use crate::explore::short_name;
use gramer_engine::reference::{Accesses, Comparison, accesses};
use gramer_graph::error::{Error, Result};
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
    let mut locality = Locality::new();
    for input in &lab.inputs {
        for (name, task) in traced(lab, input) {
            for (which, order) in COMPARISONS.into_iter().enumerate() {
                let words = in_plots(&task);
                let case = Case { input, name: &name, words: &words, which };
                match accesses(&input.graph, &task, order, MOST, lab.context) {
                    Err(Error::Unsupported(_)) => locality.not_run(&case),
                    other => locality.add(&case, &Shares::of(&other?)),
                }
            }
        }
    }
    let claims = locality.claims();
    let blocks = locality.blocks();
    Ok(Section { title: "Figures 4 and 5: extension locality".into(), blocks, claims })
}

/// A traced task on a graph in an order of comparison.
struct Case<'a> {
    input: &'a Input,
    name: &'a str,
    /// The task as plots name it.
    words: &'a str,
    /// Of [`ORDERS`].
    which: usize,
}

impl Case<'_> {
    fn label(&self) -> String {
        format!("{} {} {}", self.input.name, self.name, &ORDERS[self.which][..3])
    }

    fn motifs(&self) -> bool {
        self.name.ends_with("MC")
    }
}

/// By iteration, in % of its accesses: what goes to the most accessed 5 %, and to the first 5 % by ON_1.
struct Shares<'a> {
    accesses: &'a Accesses,
    vertex: Vec<f64>,
    vertex_by_rank: Vec<f64>,
    edge: Vec<f64>,
    edge_by_rank: Vec<f64>,
}

impl<'a> Shares<'a> {
    fn of(accesses: &'a Accesses) -> Self {
        let shares = |table: &[Vec<u64>], get: fn(&[u64], f64) -> f64| -> Vec<f64> {
            let used = table[1..].iter().filter(|t| t.iter().any(|&n| n > 0));
            used.map(|t| 100.0 * get(t, TOP)).collect()
        };
        Shares {
            accesses,
            vertex: shares(&accesses.vertices, share_of_most_accessed),
            vertex_by_rank: shares(&accesses.vertices, share_of_first),
            edge: shares(&accesses.edges, share_of_most_accessed),
            edge_by_rank: shares(&accesses.edges, share_of_first),
        }
    }

    /// Iterations, from 0, that read both vertices and edges.
    fn iterations(&self) -> std::ops::Range<usize> {
        0..self.vertex.len().min(self.edge.len())
    }

    /// The four shares of an iteration, vertices first.
    fn at(&self, i: usize) -> [f64; 4] {
        [self.vertex[i], self.vertex_by_rank[i], self.edge[i], self.edge_by_rank[i]]
    }
}

/// What figure 5 shows, as the cases come.
pub(super) struct Locality {
    csv: String,
    rows: Vec<Vec<String>>,
    /// Of vertices, of edges.
    pub(super) series: [Vec<Series>; 2],
    motifs: OfMotifs,
}

/// What the claims are held against: shares of the most accessed 5 % in the motifs' cases, by order.
#[derive(Default)]
struct OfMotifs {
    /// 1 where the vertices' share grows with each iteration.
    grows: [Cases; 2],
    /// The vertices' in the first and in the second iteration.
    first: [Cases; 2],
    second: [Cases; 2],
    /// In those from the third on, for the eye.
    later: [[Cases; 2]; 2],
    /// The edges' in the first iteration, and in the last one on Citeseer.
    edge_first: [Cases; 2],
    citeseer: [Cases; 2],
}

impl OfMotifs {
    fn not_run(&mut self, which: usize) {
        for cases in [&mut self.grows, &mut self.first, &mut self.second, &mut self.edge_first] {
            cases[which].add(None);
        }
    }

    fn add(&mut self, case: &Case<'_>, Shares { vertex, edge, .. }: &Shares<'_>) {
        let which = case.which;
        let growing = vertex.windows(2).all(|w| w[1] > w[0]);
        self.grows[which].add(Some(f64::from(u8::from(growing))));
        self.first[which].add(Some(vertex[0]));
        self.second[which].add(Some(vertex[1]));
        for (later, share) in self.later[which].iter_mut().zip(&vertex[2..]) {
            later.add(Some(*share));
        }
        self.edge_first[which].add(Some(edge[0]));
        if case.input.paper == Some("Citeseer") {
            self.citeseer[which].add(edge.last().copied());
        }
    }

    /// What is said of the vertices.
    fn of_vertices(&self) -> [Claim; 3] {
        let above = near(43.73, 0.0);
        [
            Claim {
                place: "figure 5a",
                claim: "for MC, the top 5 % of the vertices take a larger share in each iteration",
                bar: "if the share grows from each iteration to the next".into(),
                answer: Answer::Each(self.grows.each_ref().map(|c| Finding {
                    verdict: c.verdict(|grows| grows > 0.0),
                    ours: String::new(),
                })),
                why: "–".into(),
            },
            Claim {
                place: "figure 5a",
                claim: "below 29.93 % in the first iteration",
                bar: String::new(),
                answer: by_counting(&self.first),
                why: "in our first iteration each vertex is read once".into(),
            },
            Claim {
                place: "figure 5a",
                claim: "over 43.73 % in the second, up to 94.57 % in the fourth",
                bar: format!("from {above:.1} % on in the second"),
                answer: Answer::Each([0, 1].map(|which| Finding {
                    verdict: self.second[which].verdict(|share| share >= above),
                    ours: format!(
                        "{} in the second iteration, {} in the third, {} in the fourth",
                        percent(&self.second[which]),
                        percent(&self.later[which][0]),
                        percent(&self.later[which][1])
                    ),
                })),
                why: "the shares of our third iteration are like the paper's of its second: it counts an \
                      access for each vertex of each embedding, ours is each read of the algorithm, so \
                      that our first iteration has no locality yet"
                    .into(),
            },
        ]
    }

    /// What is said of the edges.
    fn of_edges(&self) -> [Claim; 2] {
        let reaches = near(87.80, 0.0);
        [
            Claim {
                place: "figure 5b",
                claim: "the top 5 % of the edges start at 5 %",
                bar: String::new(),
                answer: by_counting(&self.edge_first),
                why: "in our first iteration each edge is read once".into(),
            },
            Claim {
                place: "figure 5b",
                claim: "and reach 87.80 % on Citeseer",
                bar: format!("from {reaches:.1} % on in the last iteration of MC"),
                answer: Answer::Each(
                    self.citeseer.each_ref().map(|c| c.finding(|share| share >= reaches, 1, " %")),
                ),
                why: "–".into(),
            },
        ]
    }
}

fn percent(cases: &Cases) -> String {
    format!("{} %", span(&cases.values, 1))
}

fn by_counting(cases: &[Cases; 2]) -> Answer {
    let finding = |c| Finding { verdict: Verdict::None(BY_COUNTING), ours: percent(c) };
    Answer::Each(cases.each_ref().map(finding))
}

impl Locality {
    pub(super) fn new() -> Self {
        let mut csv = String::from("graph,task,order,iteration,vertex_accesses,edge_accesses,");
        csv += "vertices_best,vertices_by_on_1,edges_best,edges_by_on_1\n";
        Locality { csv, rows: vec![], series: Default::default(), motifs: Default::default() }
    }

    fn not_run(&mut self, case: &Case<'_>) {
        let mut row = vec![case.label()];
        row.resize(6, NOT_RUN.into());
        self.rows.push(row);
        if case.motifs() {
            self.motifs.not_run(case.which);
        }
    }

    fn add(&mut self, case: &Case<'_>, shares: &Shares<'_>) {
        let label = case.label();
        let Accesses { vertices, edges } = shares.accesses;
        for i in shares.iterations() {
            let iteration = (i + 1).to_string();
            let [vertex, vertex_by_rank, edge, edge_by_rank] = shares.at(i);
            self.csv += &format!(
                "{},{},{},{iteration},{},{},{vertex},{vertex_by_rank},{edge},{edge_by_rank}\n",
                case.input.name,
                case.name,
                &ORDERS[case.which][..3],
                vertices[i + 1].iter().sum::<u64>(),
                edges[i + 1].iter().sum::<u64>()
            );
            let cells = shares.at(i).map(|share| format!("{share:.2}"));
            self.rows.push([label.clone(), iteration].into_iter().chain(cells).collect());
        }
        if case.motifs() && shares.vertex.len() > 1 {
            self.motifs.add(case, shares);
        }
        for (series, values) in self.series.iter_mut().zip([&shares.vertex, &shares.edge]) {
            let points =
                values[shares.iterations()].iter().enumerate().map(|(x, &y)| (x, y, 0.0)).collect();
            let name = format!("{}, {}", case.words, ORDERS[case.which]);
            series.push(Series { points, ..Series::of(&case.input.name, name) });
        }
    }

    pub(super) fn blocks(self) -> Vec<Block> {
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
                "Every access of algorithm 1 counted exactly on the CPU. Iteration i extends embeddings \
                 of i vertices. The paper counts an access for each vertex of each embedding; ours are \
                 the reads that the algorithm makes, so iteration 1 reads each vertex once. In % of the \
                 iteration's accesses."
                    .into(),
            ),
            Block::Table { header: header.map(String::from).to_vec(), rows: self.rows },
        ];
        for (kind, series) in ["vertices", "edges"].into_iter().zip(self.series) {
            let x = series.iter().map(|s| s.points.len()).max().unwrap_or(0);
            blocks.push(Block::Plot(
                format!("figure-5-{kind}"),
                Plot {
                    title: format!("Figure 5: accesses to the top 5 % of the {kind}"),
                    x_title: "iteration (vertices of the extended embeddings)".into(),
                    y_title: "share of the accesses in %".into(),
                    x: (1..=x).map(|i| i.to_string()).collect(),
                    groups: vec![],
                    kind: Kind::Lines,
                    logarithmic: false,
                    series,
                },
            ));
        }
        blocks.push(Block::File("figure-5.csv".into(), self.csv));
        blocks
    }

    fn claims(&self) -> Vec<Claim> {
        self.motifs.of_vertices().into_iter().chain(self.motifs.of_edges()).collect()
    }
}

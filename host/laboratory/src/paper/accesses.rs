//! Figure 5: where accesses go.

use super::report::{Answer, Block, Cases, Claim, Finding, Section, Verdict, far, near, span};
use super::{Input, Lab};
use crate::explore::plot::{Kind, Plot, Series};
use gramer_base::error::Result;
use gramer_engine::reference::{Occurrences, occurrences};
use gramer_graph::prepare::locality::{share_of_first, share_of_most_accessed};

/// The share of vertices and edges in figures 5 and 8.
pub(super) const TOP: f64 = 0.05;
/// Why a share that could not be another gets no verdict.
const BY_COUNTING: &str = "it follows from the way of counting";
/// Largest embeddings that are counted: on graphs like the paper's small ones, and on larger ones.
pub(super) const LARGEST: [usize; 2] = [5, 3];

/// Share of the accesses that go to the most accessed 5 %.
pub fn figure_5(lab: &Lab<'_>) -> Result<Section> {
    let mut locality = Locality::new();
    let small = lab.inputs.iter().map(|input| (input, LARGEST[0]));
    for (input, largest) in small.chain(lab.large.iter().map(|input| (input, LARGEST[1]))) {
        locality.add(input, &occurrences(&input.graph, largest, lab.context)?);
    }
    let claims = locality.claims();
    let blocks = locality.blocks();
    Ok(Section { title: "Figures 4 and 5: extension locality".into(), blocks, claims })
}

/// What figure 5 shows, as the graphs come.
pub(super) struct Locality {
    csv: String,
    /// Of vertices, of edges.
    pub(super) series: [Vec<Series>; 2],
    /// 1 where the vertices' share grows with each iteration.
    grows: Cases,
    /// The vertices' share by iteration: embeddings of 2, 3, … vertices.
    vertices: [Cases; 4],
    /// The edges' share in the first iteration, and in the last one on Citeseer.
    edges_first: Cases,
    citeseer: Cases,
}

impl Locality {
    pub(super) fn new() -> Self {
        let csv = "graph,iteration,embedding_vertices,embeddings,vertices_best,vertices_by_on_1,edges_best\n";
        Locality {
            csv: csv.into(),
            series: Default::default(),
            grows: Cases::default(),
            vertices: Default::default(),
            edges_first: Cases::default(),
            citeseer: Cases::default(),
        }
    }

    /// The iterations of a graph, in the order of Rank(ON_1).
    fn add(&mut self, input: &Input, all: &[Occurrences]) {
        let share = |counts: &[u64]| 100.0 * share_of_most_accessed(counts, TOP);
        let vertices: Vec<f64> = all.iter().map(|of| share(&of.vertices)).collect();
        let edges: Vec<f64> = all.iter().map(|of| share(&of.edges)).collect();
        for (at, of) in all.iter().enumerate() {
            self.csv += &format!(
                "{},{},{},{},{},{},{}\n",
                input.name,
                at + 1,
                of.size,
                of.embeddings,
                vertices[at],
                100.0 * share_of_first(&of.vertices, TOP),
                edges[at]
            );
            self.vertices[at].add(Some(vertices[at]));
        }
        let growing = vertices.windows(2).all(|w| w[1] > w[0]);
        self.grows.add(Some(f64::from(u8::from(growing))));
        self.edges_first.add(edges.first().copied());
        if input.paper == Some("Citeseer") {
            self.citeseer.add(edges.last().copied());
        }
        for (series, shares) in self.series.iter_mut().zip([vertices, edges]) {
            let points = shares.into_iter().enumerate().map(|(x, y)| (x, y, 0.0)).collect();
            series.push(Series { points, ..Series::new(&input.name) });
        }
    }

    pub(super) fn blocks(self) -> Vec<Block> {
        let mut blocks = vec![Block::Text(
            "Iteration i has the connected vertex-induced embeddings of i + 1 vertices (section II-D: \"the 1st iteration, \
             with all embeddings sized by 2 vertices\"), and each embedding accesses each of its vertices and edges once. \
             The figures thus depend neither on the order of comparison nor on a machine. Shares are in % of an \
             iteration's accesses. ca-astroph has two iterations alone, since algorithm 1 lists every embedding: 9.2 · 10⁸ of 4 \
             vertices and 1.1 · 10¹¹ of 5, of p2p-gnutella08 3.9 · 10⁸ of 5."
                .into(),
        )];
        for (kind, series) in ["vertices", "edges"].into_iter().zip(self.series) {
            let x = series.iter().map(|s| s.points.len()).max().unwrap_or(0);
            blocks.push(Block::Plot(
                format!("figure-5-{kind}"),
                Plot {
                    title: format!("Figure 5: accesses to the top 5 % of the {kind}"),
                    x_title: "iteration (embeddings of one vertex more)".into(),
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
        self.of_vertices().into_iter().chain(self.of_edges()).collect()
    }

    fn of_vertices(&self) -> [Claim; 3] {
        let [first, second, third, fourth] = &self.vertices;
        let (below, above) = (far(29.93, 0.0), near(43.73, 0.0));
        let claim = |claim, bar, finding, why: &str| Claim {
            place: "figure 5a",
            claim,
            bar,
            answer: Answer::Any(finding),
            why: why.into(),
        };
        [
            claim(
                "for MC, the top 5 % of the vertices take a larger share in each iteration",
                "if the share grows from each iteration to the next".into(),
                Finding { verdict: self.grows.verdict(|grows| grows > 0.0), ours: String::new() },
                "–",
            ),
            claim(
                "below 29.93 % in the first iteration",
                format!("up to {below:.2} %"),
                first.finding(|share| share <= below, 2, " %"),
                "–",
            ),
            claim(
                "over 43.73 % in the second, up to 94.57 % in the fourth (on Mico)",
                format!("from {above:.2} % on in the second"),
                Finding {
                    verdict: second.verdict(|share| share >= above),
                    ours: format!(
                        "{} in the second iteration, {} in the third, {} in the fourth",
                        percent(second),
                        percent(third),
                        percent(fourth)
                    ),
                },
                "Mico isn't at hand, so the figure of the fourth iteration is no case",
            ),
        ]
    }

    fn of_edges(&self) -> [Claim; 2] {
        let reaches = near(87.80, 0.0);
        [
            Claim {
                place: "figure 5b",
                claim: "the top 5 % of the edges start at 5 %",
                bar: String::new(),
                answer: Answer::Any(Finding {
                    verdict: Verdict::None(BY_COUNTING),
                    ours: percent(&self.edges_first),
                }),
                why: "an embedding of two vertices is one edge".into(),
            },
            Claim {
                place: "figure 5b",
                claim: "the top 5 % of the edges reach 87.80 % on Citeseer",
                bar: format!("from {reaches:.2} % on in the fourth iteration"),
                answer: Answer::Any(self.citeseer.finding(|share| share >= reaches, 2, " %")),
                why: "the paper traces the memory requests of a program that it doesn't describe; an access \
                      for each edge of each embedding doesn't reach its figure"
                    .into(),
            },
        ]
    }
}

fn percent(cases: &Cases) -> String {
    format!("{} %", span(&cases.values, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    fn input(name: &str) -> Input {
        let empty = || Builder::new().build();
        let paper = (name == "citeseer").then_some("Citeseer");
        Input {
            name: name.into(),
            paper,
            graph: empty(),
            raw: empty(),
            four_motifs: false,
            fsm: "",
        }
    }

    /// The first of 20 vertices has `of` of 100 accesses, and the others equally many.
    fn iteration(size: usize, of: u64) -> Occurrences {
        let mut vertices = vec![(1000 - 10 * of) / 19; 20];
        vertices[0] = 1000 - vertices[1] * 19;
        Occurrences { size, embeddings: 1, edges: vertices.clone(), vertices }
    }

    #[test]
    fn the_first_iteration_has_embeddings_of_two_vertices() {
        let mut locality = Locality::new();
        let shares = [20, 45, 70, 90];
        let all: Vec<_> =
            shares.iter().zip(2..).map(|(&share, size)| iteration(size, share)).collect();
        locality.add(&input("citeseer"), &all);
        // Below the bound of the second iteration.
        locality.add(&input("other"), &[iteration(2, 29), iteration(3, 40)]);
        let words: Vec<String> = locality
            .claims()
            .iter()
            .map(|claim| match &claim.answer {
                Answer::Any(finding) => finding.verdict.to_string(),
                Answer::Each(_) => unreachable!("no order in it"),
            })
            .collect();
        assert_eq!(words[0], "reproduced, 2 of 2");
        assert_eq!(words[1], "reproduced, 2 of 2");
        assert_eq!(words[2], "partly, 1 of 2");
        assert_eq!(words[4], "reproduced, 1 of 1");
        assert!(
            locality.csv.lines().nth(2).unwrap().starts_with("citeseer,2,3,1,4"),
            "{}",
            locality.csv
        );
    }
}

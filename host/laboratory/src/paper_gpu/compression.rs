//! DuMato (thesis, appendix A): edges that compression by cliques removes. It is counted on the CPU.

use gramer_base::error::Result;
use gramer_cpu::Cpu;
use gramer_engine::compress::{CompressionResult, compress};

use super::{COMPRESSION, Lab};
use crate::paper::report::{Answer, Block, Cases, Claim, Section};

/// Table A.1, of ca-astroph: k, cliques, cliques that compress, edges that go. The last two columns are running sums.
const TABLE_A_1: [(usize, u128, u64, u64); 6] = [
    (4, 9_580_415, 412, 412),
    (5, 64_997_961, 1134, 2250),
    (6, 400_401_488, 1710, 5094),
    (7, 2_218_947_958, 2126, 8548),
    (8, 11_088_038_672, 2442, 12_276),
    (9, 50_170_510_922, 2658, 15_384),
];

/// Table A.1.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let input = lab.plain("ca-astroph");
    let mut table = Table::default();
    let all: &[_] = if lab.options.quick { &TABLE_A_1[..2] } else { &TABLE_A_1 };
    for row in all {
        table.add(*row, &compress(&Cpu, &input.graph, row.0, lab.context)?);
    }
    Ok(vec![table.section(&input.name)])
}

/// The table compared with ours.
#[derive(Default)]
struct Table {
    /// Running sums of ours.
    replaced: u64,
    edges: u64,
    csv: String,
    /// 1 where ours is the thesis' number: cliques, cliques that compress, edges.
    equal: [Cases; 3],
}

impl Table {
    fn add(
        &mut self,
        (k, cliques, compressing, removed): (usize, u128, u64, u64),
        ours: &CompressionResult,
    ) {
        let (replaced, score) = (ours.replaced.len() as u64, ours.score);
        self.replaced += replaced;
        self.edges += score;
        let pairs = [
            (ours.cliques == cliques, 0),
            (self.replaced == compressing, 1),
            (self.edges == removed, 2),
        ];
        for (equal, column) in pairs {
            self.equal[column].add(Some(f64::from(u8::from(equal))));
        }
        let numbers = [
            k.to_string(),
            ours.cliques.to_string(),
            replaced.to_string(),
            score.to_string(),
            self.replaced.to_string(),
            self.edges.to_string(),
            cliques.to_string(),
            compressing.to_string(),
            removed.to_string(),
        ];
        self.csv += &format!("{}\n", numbers.join(","));
    }

    fn section(self, graph: &str) -> Section {
        let claim = |claim, column: usize, why: &str| Claim {
            place: "DuMato, table A.1",
            claim,
            bar: "as in the thesis".into(),
            answer: Answer::Any(self.equal[column].finding_count(|equal| equal > 0.0)),
            why: why.into(),
        };
        let sums = "running sums over k";
        let claims = vec![
            claim("cliques of 4 to 9 vertices of ca-astroph", 0, "–"),
            claim("cliques that compress it", 1, sums),
            claim("edges that go", 2, "the thesis' last row, 15384, has two digits exchanged"),
        ];
        let names = "k,cliques,replaced,edges,replaced_sum,edges_sum,thesis_cliques,thesis_compressing,thesis_edges";
        Section {
            title: "DuMato, table A.1: compression by cliques".into(),
            blocks: vec![
                Block::Text(format!(
                    "{graph}, its K-cliques compressed. A clique is replaced where that removes at least \
                     one edge more than it adds. The thesis' columns are compared with running sums of ours."
                )),
                Block::File(COMPRESSION.into(), format!("{names}\n{}", self.csv)),
            ],
            claims,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_graph::Builder;

    #[test]
    fn rows_are_compared_with_running_sums() {
        // Two cliques of five, which share no edge, and one of four: each replaces its edges by as many as it has
        // vertices.
        let mut builder = Builder::new();
        for (first, size) in [(0u64, 5), (5, 5), (10, 4)] {
            for v in first..first + size {
                (first..v).for_each(|u| builder.edge(u, v));
            }
        }
        let graph = builder.build();
        let mut table = Table::default();
        for row in [(4, 11, 1, 1), (5, 2, 3, 9), (6, 1, 3, 9)] {
            table.add(row, &compress(&Cpu, &graph, row.0, &Context::default()).unwrap());
        }
        assert_eq!(table.csv.lines().next().unwrap(), "4,11,1,1,1,1,11,1,1");
        assert_eq!(table.csv.lines().nth(1).unwrap(), "5,2,2,8,3,9,2,3,9");
        let section = table.section("a graph");
        let verdicts: Vec<String> = section
            .claims
            .iter()
            .map(|claim| match &claim.answer {
                Answer::Any(finding) => finding.verdict.to_string(),
                Answer::Each(_) => unreachable!("no order in it"),
            })
            .collect();
        assert_eq!(verdicts, ["partly, 2 of 3", "reproduced, 3 of 3", "reproduced, 3 of 3"]);
    }
}

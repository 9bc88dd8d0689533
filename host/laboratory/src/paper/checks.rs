//! The two connectivity checks: the lists of the embedding are searched for the candidate, or, as in section II-B of the
//! paper, the candidate's record is read and its list is searched.

use std::ops::ControlFlow;

use super::report::{Block, span};
use super::{Input, Lab, at, csv_table};
use crate::explore::measures::Metric;
use crate::explore::parameter::Parameter;
use crate::explore::{PointResult, task};
use gramer_base::error::{Error, Result};
use gramer_engine::reference::{Cliques, Comparison, Explorer, Motifs, Primitives};
use gramer_engine::{Units, WorkUnit};
use gramer_pattern::task::Task;

/// Values of [`Parameter::Check`]; the paper's is the second.
pub(super) const CHECKS: [&str; 2] = ["embedding", "candidate"];
/// Both as a variation.
pub(super) const BOTH: &str = "check=embedding,candidate";
/// Orders of comparison by their names.
pub(super) const ORDERS: [(&str, Comparison); 2] =
    [("ascending", Comparison::Ascending), ("descending", Comparison::Descending)];
/// The tasks of the table of accesses.
const TASKS: [&str; 4] = ["clique:3", "clique:4", "clique:5", "motif:3"];

/// The points with one check.
pub(super) fn of_check(all: &[PointResult], check: &str) -> Vec<PointResult> {
    all.iter().filter(|p| super::value(p, Parameter::Check) == check).cloned().collect()
}

/// Accesses of algorithm 1, which keeps nothing between two embeddings, beside those of the core.
pub(super) fn accesses(lab: &Lab<'_>) -> Result<Vec<Block>> {
    let slots = format!("slots={}", lab.base.machine.slots);
    let mut rows = vec![];
    // The core's accesses to vertices in those of algorithm 1, by check.
    let mut shares: [Vec<f64>; 2] = Default::default();
    for input in &lab.inputs {
        for name in TASKS {
            let all = lab.sweep(input, name, &[BOTH, "order=ascending,descending", &slots])?;
            let (_, mined) = task(name)?;
            for (order, comparison) in ORDERS {
                for (check, shares) in CHECKS.iter().zip(&mut shares) {
                    let [vertices, edges] =
                        algorithm_1(lab, input, &mined, comparison, *check == CHECKS[1])?;
                    let wanted = [(Parameter::Check, *check), (Parameter::Order, order)];
                    let found = at(&all, &wanted).filter(|m| m.half().is_none());
                    let of_core = |metric| found.map_or(f64::NAN, |m| m.get(metric));
                    let core = [Metric::VertexAccesses, Metric::EdgeAccesses].map(of_core);
                    if found.is_some() {
                        shares.push(100.0 * core[0] / vertices as f64);
                    }
                    let core = core.map(|n| if n.is_nan() { String::new() } else { n.to_string() });
                    let first = [&input.name, name, order, check].map(String::from);
                    let raw = [vertices, edges].map(|n| n.to_string());
                    rows.push([&first[..], &raw[..], &core[..]].concat());
                }
            }
        }
    }
    let header = [
        "graph",
        "task",
        "order",
        "check",
        "algorithm_1_vertices",
        "algorithm_1_edges",
        "core_vertices",
        "core_edges",
    ];
    let [embedding, candidate] = shares.map(|all| span(&all, 1));
    Ok(vec![
        Block::Text(format!(
            "The core reads {embedding} % of the records that algorithm 1 reads, with the candidate's lists {candidate} %: \
             it keeps those of the embedding. Of edges algorithm 1 reads entries, the core lines."
        )),
        Block::File("figure-3-accesses.csv".into(), csv_table(&header, &rows)),
    ])
}

/// Accesses of algorithm 1 to vertex records and to entries of lists.
fn algorithm_1(
    lab: &Lab<'_>,
    input: &Input,
    mined: &Task,
    comparison: Comparison,
    candidate: bool,
) -> Result<[u64; 2]> {
    match mined {
        Task::Clique { k } => counted(lab, input, Cliques::new(*k), comparison, candidate),
        Task::Motif { k, .. } => counted(lab, input, Motifs::new(*k), comparison, candidate),
        _ => Err(Error::Unsupported("only accesses of cliques and motifs are counted".into())),
    }
}

fn counted<P: Primitives>(
    lab: &Lab<'_>,
    input: &Input,
    primitives: P,
    comparison: Comparison,
    candidate: bool,
) -> Result<[u64; 2]> {
    let view = input.graph.view();
    let explorer = Explorer::new(view, comparison, primitives, lab.context);
    let mut explorer = if candidate { explorer.with_candidate_check() } else { explorer };
    let units: Vec<WorkUnit> = Units::All.iter(view).collect();
    if let ControlFlow::Break(_) = explorer.run_units(&units) {
        return Err(Error::Interrupted);
    }
    let counters = explorer.counters();
    Ok([&counters.vertex_accesses, &counters.edge_accesses].map(|all| all.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_graph::prepare::renumber;
    use gramer_graph::read::{ReadOptions, read_graph};
    use gramer_testing::environment;

    /// Figures of an independent count of algorithm 1's accesses by the paper's check.
    #[test]
    fn algorithm_1_reads_as_many_records_as_counted_elsewhere() {
        let Some(data) = environment::data() else { return };
        let context = Context::default();
        let file = data.join("p2p-gnutella08/p2p-gnutella08.txt.zst");
        let graph = read_graph(&file, &ReadOptions::default(), &context).unwrap();
        let graph = renumber(&graph, &context).unwrap();
        let view = graph.view();
        let units: Vec<WorkUnit> = Units::All.iter(view).collect();
        let explorer = Explorer::new(view, Comparison::Ascending, Motifs::new(3), &context);
        let mut explorer = explorer.with_candidate_check();
        assert!(explorer.run_units(&units).is_continue());
        assert_eq!(explorer.counters().vertex_accesses.iter().sum::<u64>(), 414_665);
    }
}

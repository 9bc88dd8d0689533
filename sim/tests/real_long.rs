//! Real graphs on the paper's machine, and on the set core's functional model, the runs that take minutes: `make check-rtl`, or
//! `cargo test --release -p gramer-sim --test real_long`. Not among the package's default tests.

mod support;

use gramer::Context;
use gramer::accelerator::set::motifs5::counts;
use gramer::accelerator::set::numbers::SUM_CLIQUES;
use gramer::cpu::Cpu;
use gramer::engine::EngineExt;
use gramer::graph::Order;
use gramer::graph::read::{ReadOptions, read};
use gramer::task::{Induced, Task};
use gramer_machine::named::named;
use gramer_models::motifs5 as reference;

use support::real::{ASTRO, CITESEER, P2P_04, P2P_08, check, check_asserting};

/// Runs of some length with the assertions of the design, which the others leave out to be faster.
#[test]
fn with_assertions() {
    check_asserting(CITESEER.0, CITESEER.1, true, 3);
    check_asserting(CITESEER.0, CITESEER.1, false, 3);
    check_asserting(CITESEER.0, CITESEER.1, false, 4);
    check_asserting(P2P_04.0, P2P_04.1, true, 3);
    check_asserting(P2P_08.0, P2P_08.1, false, 3);
    check_asserting(ASTRO.0, ASTRO.1, true, 3);
}

/// A test for each, so that one can be requested by its name, and what is done stays done when the rest is stopped.
macro_rules! long_runs {
    ($($name:ident: $graph:ident, $clique:literal, $k:literal, $budget:expr;)*) => {
        mod long_runs {
            use super::*;
            $(#[test] fn $name() { check($graph.0, $graph.1, $clique, $k, $budget); })*
        }
    };
}

long_runs! {
    citeseer_5_motifs: CITESEER, false, 5, None;
    p2p_04_3_motifs: P2P_04, false, 3, None;
    p2p_08_3_motifs: P2P_08, false, 3, None;
    p2p_04_4_motifs: P2P_04, false, 4, Some(12_400_000);
    p2p_08_4_motifs: P2P_08, false, 4, Some(12_400_000);
    astro_3_cliques: ASTRO, true, 3, Some(3_600_000);
    astro_4_cliques: ASTRO, true, 4, Some(52_000_000);
    astro_3_motifs: ASTRO, false, 3, Some(15_800_000);
}

/// 5-motifs by the functional model, as four clusters would sum them up: of graphs whose runs on the simulated core take the
/// better part of an hour.
fn motifs5(file: &str) {
    let Some(folder) = support::environment::data() else { return };
    let (context, machine) = (Context::default(), named("set-plans32").unwrap().unwrap());
    let options = ReadOptions { order: Order::RankOn1.into(), ..ReadOptions::default() };
    let graph = read(&folder.join(file), &options, &context).unwrap().graph;
    let known = |task: &Task| -> Vec<u128> {
        let found = Cpu.run(&graph, task, None, &context).unwrap();
        found.results.iter().map(|count| count.count).collect()
    };
    let mut total = reference::totals(&machine, graph.view(), 4).unwrap();
    total[SUM_CLIQUES] = known(&Task::Clique { k: 5 })[0];
    assert_eq!(counts(&total), known(&Task::Motif { k: 5, induced: Induced::Vertex }), "{file}");
}

#[test]
fn astro_5_motifs_by_the_functional_model() {
    motifs5("ca-astroph/ca-AstroPh.txt.zst");
}

#[test]
fn wiki_vote_5_motifs_by_the_functional_model() {
    motifs5("wiki-vote/wiki-vote.txt.zst");
}

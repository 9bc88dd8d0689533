//! Outcomes of shares of a task are, merged, that of the whole: for every task, engine and split.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use gramer::cpu::{Cpu, execute_plan};
use gramer::engine::reference::{Comparison, Reference};
use gramer::engine::{Ask, Engine, EngineExt, Outcome, Query, Share, Sink, Units, WorkUnit};
use gramer::graph::VertexId;
use gramer::pattern::Pattern;
use gramer::plan::search::SearchPlan;
use gramer::task::{Induced, Mappings, Measure, SizeLimit};
use gramer::{Context, Error, Graph, Task};
use gramer_testing::truth::{Labels, PLAIN, Small, config, graphs};
use proptest::prelude::*;
use proptest::sample::Index;

/// Takes every unit of a graph into one of three shares; each list may be cut in two.
fn shares(graph: &Graph, cuts: &[(Index, Index, Index)]) -> Vec<Share> {
    let mut units: [Vec<WorkUnit>; 3] = Default::default();
    for (unit, (at, a, b)) in Units::All.iter(graph.view()).zip(cuts.iter().cycle()) {
        let at = at.index(unit.limit as usize + 1) as u32;
        match at {
            0 => units[a.index(3)].push(unit),
            at if at == unit.limit => units[a.index(3)].push(unit),
            at => {
                units[a.index(3)].push(WorkUnit { limit: at, ..unit });
                units[b.index(3)].push(WorkUnit { first: at, ..unit });
            }
        }
    }
    units.iter().map(|units| Share::of(graph.view(), units).unwrap()).collect()
}

type EmbeddingSet = BTreeSet<(Pattern, Vec<VertexId>)>;

#[derive(Default)]
struct ListSink(Mutex<EmbeddingSet>);

impl Sink for ListSink {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let new = self.0.lock().unwrap().insert((pattern.clone(), vertices.to_vec()));
        assert!(new, "{pattern:?} at {vertices:?} is listed twice");
        ControlFlow::Continue(())
    }
}

/// The merged outcome, each part of which has been to text and back, and what was listed.
fn merged(
    engine: &dyn Engine,
    graph: &Graph,
    task: &Task,
    shares: &[Share],
    list: bool,
) -> (Outcome, EmbeddingSet) {
    let context = Context::with_threads(2);
    let keep = ListSink::default();
    let sink = list.then_some(&keep as &dyn Sink);
    let prepared = engine.prepare(graph, &context).unwrap();
    let mut parts: Vec<Outcome> = shares
        .iter()
        .map(|share| {
            let part = prepared.run(task, Units::Share(share), sink, &context).unwrap();
            assert!(part.complete && part.share.as_ref() == Some(share));
            serde_json::from_str(&serde_json::to_string(&part).unwrap()).unwrap()
        })
        .collect();
    // In two steps and in another order.
    let last = parts.pop().unwrap();
    let first = Outcome::merge(task, graph, parts).unwrap();
    let outcome = Outcome::merge(task, graph, [last, first]).unwrap();
    (answer(outcome), keep.0.into_inner().unwrap())
}

fn whole(engine: &dyn Engine, graph: &Graph, task: &Task, list: bool) -> (Outcome, EmbeddingSet) {
    let keep = ListSink::default();
    let sink = list.then_some(&keep as &dyn Sink);
    let outcome = engine.run(graph, task, sink, &Context::with_threads(2)).unwrap();
    (answer(outcome), keep.0.into_inner().unwrap())
}

/// Without what devices say of themselves: the CPU engine may find the whole in another way than a
/// share.
fn answer(outcome: Outcome) -> Outcome {
    let mut outcome = outcome;
    outcome.devices.clear();
    outcome
}

fn fsm(vertices: usize, support: u64) -> Task {
    let limit = SizeLimit::MaxVertices(vertices);
    Task::Fsm { limit, support, measure: Measure::Embeddings }
}

fn cuts() -> impl Strategy<Value = Vec<(Index, Index, Index)>> {
    prop::collection::vec(any::<(Index, Index, Index)>(), 1..12)
}

fn labelled(largest: usize) -> impl Strategy<Value = Small> {
    prop_oneof![
        graphs(largest, Labels { vertex: 2, edge: 0 }),
        graphs(largest, Labels { vertex: 2, edge: 2 }),
        graphs(largest, PLAIN),
    ]
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn any_split_merges_to_the_whole(
        small in graphs(11, PLAIN),
        cuts in cuts(),
        list in any::<bool>(),
        mappings in any::<bool>(),
    ) {
        let graph = small.graph();
        let shares = shares(&graph, &cuts);
        let mut tasks = vec![Task::MaximalCliques];
        tasks.extend((3..=6).map(|k| Task::Clique { k }));
        for induced in [Induced::Vertex, Induced::Edge] {
            tasks.extend((3..=6).map(|k| Task::Motif { k, induced }));
            for name in ["edge", "wedge", "triangle", "4-cycle", "4-star", "house", "diamond"] {
                let pattern = gramer::pattern::named(name).unwrap();
                tasks.push(Task::Match { pattern, induced, mappings: mappings.then_some(Mappings::Isomorphism) });
            }
        }
        let mut pattern = gramer::pattern::named("4-path").unwrap();
        let (i, j) = (0..4).flat_map(|j| (0..j).map(move |i| (i, j))).find(|&(i, j)| !pattern.has_edge(i, j)).unwrap();
        pattern.set_absent(i, j);
        for mappings in [mappings.then_some(Mappings::Isomorphism), Some(Mappings::Homomorphism), Some(Mappings::EdgeIsomorphism)] {
            tasks.push(Task::Match { pattern: pattern.clone(), induced: Induced::Edge, mappings });
        }
        for task in &tasks {
            // All edge-induced occurrences of six vertices are too many to keep.
            let list = list && !matches!(task, Task::Motif { k: 6, .. });
            prop_assert_eq!(
                merged(&Cpu, &graph, task, &shares, list),
                whole(&Cpu, &graph, task, list),
                "{:?}", task
            );
            for comparison in [Comparison::Ascending, Comparison::Descending] {
                let reference = Reference { comparison };
                let done = !matches!(task, Task::Motif { k: 5.., .. });
                if done && reference.plan(&Ask::new(&Query::new(task.clone()).list(list))).is_ok() {
                    prop_assert_eq!(
                        merged(&reference, &graph, task, &shares, list),
                        whole(&reference, &graph, task, list),
                        "{:?}", task
                    );
                }
            }
        }
    }

    #[test]
    fn frequent_patterns_are_decided_when_all_shares_are_there(
        small in labelled(9),
        cuts in cuts(),
        support in 1..6u64,
        vertices in 2..=5usize,
    ) {
        let graph = small.graph();
        let shares = shares(&graph, &cuts);
        let task = fsm(vertices, support);
        prop_assert_eq!(
            merged(&Cpu, &graph, &task, &shares, false).0,
            whole(&Cpu, &graph, &task, false).0
        );
        let reference = Reference::default();
        prop_assert_eq!(
            merged(&reference, &graph, &task, &shares, false).0,
            whole(&reference, &graph, &task, false).0
        );
    }

    #[test]
    fn labelled_patterns_and_plans_are_matched_in_shares(
        small in labelled(9),
        cuts in cuts(),
        labels in prop::collection::vec(0..3u32, 4),
    ) {
        let graph = small.graph();
        let shares = shares(&graph, &cuts);
        let context = Context::with_threads(2);
        let mut pattern = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        for mappings in [true, false] {
            let plan = SearchPlan::of(&pattern, Induced::Vertex, mappings, false);
            let run = |units| execute_plan(&graph, &plan, units, None, &context).unwrap();
            let sum: u128 = shares.iter().map(|share| run(Units::Share(share)).0).sum();
            prop_assert_eq!(sum, run(Units::All).0);
        }
        if graph.has_vertex_labels() {
            for (v, &label) in labels.iter().enumerate().filter(|(_, l)| **l < 2) {
                pattern.set_vertex_label(v, label);
            }
        }
        for (induced, mappings, list) in [
            (Induced::Edge, None, true),
            (Induced::Vertex, None, false),
            (Induced::Edge, Some(Mappings::Isomorphism), false),
            (Induced::Edge, Some(Mappings::Homomorphism), false),
            (Induced::Edge, Some(Mappings::EdgeIsomorphism), true),
        ] {
            let task = Task::Match { pattern: pattern.clone(), induced, mappings };
            prop_assert_eq!(
                merged(&Cpu, &graph, &task, &shares, list),
                whole(&Cpu, &graph, &task, list)
            );
        }
    }
}

/// A triangle with a tail.
fn kite() -> Graph {
    Small::from_edges(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]).graph()
}

#[test]
fn what_does_not_add_up_is_refused() {
    let graph = kite();
    let context = Context::default();
    let prepared = Cpu.prepare(&graph, &context).unwrap();
    let half = Share::new(std::iter::once(0..2), []).unwrap();
    let rest = Share::new(std::iter::once(2..4), []).unwrap();
    let run = |task: &Task, units| prepared.run(task, units, None, &context).unwrap();
    let triangles = Task::Clique { k: 3 };
    let one = run(&triangles, Units::Share(&half));
    let all = run(&triangles, Units::All);
    let part = Outcome::merge(&triangles, &graph, [one.clone()]).unwrap();
    assert_eq!(part.share.as_ref(), Some(&half), "not all units");
    for wrong in [vec![], vec![one.clone(), one.clone()], vec![one.clone(), all]] {
        assert!(matches!(Outcome::merge(&triangles, &graph, wrong), Err(Error::Usage(_))));
    }
    let motifs = run(&Task::Motif { k: 3, induced: Induced::Vertex }, Units::Share(&rest));
    assert!(Outcome::merge(&triangles, &graph, [one, motifs]).is_err());

    let limit = SizeLimit::MaxEdges(2);
    let mni = Task::Fsm { limit, support: 1, measure: Measure::Mni };
    let refused = prepared.run(&mni, Units::Share(&half), None, &context).unwrap_err();
    assert!(matches!(refused, Error::Unsupported(_)), "{refused}");
    let keep = ListSink::default();
    let refused = prepared.run(&fsm(3, 1), Units::Share(&half), Some(&keep), &context).unwrap_err();
    assert!(
        refused.to_string().contains("with a list of embeddings and in shares at once"),
        "{refused}"
    );
    let beyond = Share::new(std::iter::once(2..5), []).unwrap();
    assert!(prepared.run(&triangles, Units::Share(&beyond), None, &context).is_err());
}

#[test]
fn a_share_that_was_stopped_makes_the_sum_incomplete() {
    let graph = kite();
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let shares = Share::split(graph.view(), 2);
    let stopped = Context::default();
    stopped.cancel.cancel();
    let parts: Vec<Outcome> = shares
        .iter()
        .zip([&Context::default(), &stopped])
        .map(|(share, context)| {
            let prepared = Cpu.prepare(&graph, context).unwrap();
            prepared.run(&task, Units::Share(share), None, context).unwrap()
        })
        .collect();
    let merged = Outcome::merge(&task, &graph, parts).unwrap();
    assert!(!merged.complete && merged.results.iter().all(|r| r.count == 0));
}

//! Ranks as threads of one process: counts, checkpoints, failures, stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gramer_base::budget::Budget;
use gramer_cpu::Cpu;
use gramer_crew::Crew;
use gramer_engine::metrics::Value;
use gramer_engine::reference::Reference;
use gramer_engine::{
    Choices, Device, DeviceGraph, Failure, Plan, PreparedGraph, Reply, Run, Scheme, Units,
};
use gramer_graph::{Builder, VertexId};
use gramer_pattern::task::{Induced, Measure, SizeLimit};
use gramer_testing::sinks::Collect;

use super::*;

/// A ring with chords, and a hub; labels by threes.
fn graph(chord: u64) -> Graph {
    let mut builder = Builder::new();
    for v in 0..200u64 {
        [1, 2, 5, 11, chord].into_iter().for_each(|d| builder.edge(v, (v + d) % 200));
        builder.edge(1000, v);
    }
    for v in (0..200).chain([1000]) {
        builder.vertex_label(v, (v % 3) as u32);
    }
    builder.build()
}

fn tasks() -> Vec<Task> {
    let pattern = gramer_pattern::named("house").unwrap();
    vec![
        Task::Clique { k: 4 },
        Task::CliqueSizes { smallest: 3, largest: 6 },
        Task::MaximalCliques,
        Task::Motif { k: 4, induced: Induced::Vertex },
        Task::Motif { k: 5, induced: Induced::Edge },
        Task::Fsm { limit: SizeLimit::MaxVertices(3), support: 150, measure: Measure::Embeddings },
        Task::Match { pattern, induced: Induced::Edge, mappings: None },
    ]
}

/// Runs `work` on this many ranks, and returns the results of rank 0, then of the others.
fn on_ranks<R: Send>(size: usize, work: impl Fn(&mut Cluster) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let rank = |link| {
            let work = &work;
            scope.spawn(move || {
                let mut cluster = Cluster::new(Box::new(link));
                let done = work(&mut cluster);
                cluster.end(0);
                done
            })
        };
        let ranks: Vec<_> = InProcess::ranks(size).into_iter().map(rank).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// As a plain run gives it.
fn plain(graph: &Graph, task: &Task) -> Outcome {
    said(Cpu.run(graph, task, None, &Context::with_threads(1)).unwrap())
}

/// What of an answer doesn't depend on who has found it.
fn said(mut outcome: Outcome) -> Outcome {
    outcome.devices.clear();
    outcome
}

#[test]
fn any_number_of_ranks_has_the_answer_of_a_plain_run() {
    let graph = graph(17);
    for task in tasks() {
        for size in [1, 2, 4] {
            let mined = on_ranks(size, |cluster| {
                let job =
                    Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: None };
                cluster.mine(&job, &Context::with_threads(1)).unwrap().map(|mined| mined.outcome)
            });
            let mut mined = mined.into_iter();
            let outcome = mined.next().unwrap().unwrap();
            assert_eq!(mined.filter(Option::is_none).count(), size - 1);
            // What engines measure stands behind what is known of their ranks.
            let query = Query::new(task.clone());
            let levels = !Cpu.choose(&Ask::new(&query).terms(Needs::PEERS)).fits.is_empty();
            let name = if levels { "share.candidates" } else { "share.portions" };
            let parts: Vec<f64> = outcome
                .devices
                .iter()
                .filter_map(|device| device.get(name).and_then(Value::number))
                .collect();
            assert_eq!(parts.len(), size, "{task:?}");
            let shared = parts.iter().sum::<f64>();
            // What takes no time each rank does whole.
            assert!(levels && shared == 0.0 || (shared - 1.0).abs() < 1e-9, "{task:?}: {parts:?}");
            assert_eq!(said(outcome), plain(&graph, &task), "{task:?} on {size}");
        }
    }
}

#[test]
fn engines_of_several_kinds_take_the_common_rule() {
    let graph = graph(17);
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let mined = on_ranks(3, |cluster| {
        let reference = Reference::default();
        let engine: &dyn Engine = if cluster.rank() == 1 { &reference } else { &Cpu };
        let job = Job { engine, graph: &graph, task: &task, keeping: None, sink: None };
        cluster.mine(&job, &Context::with_threads(1)).unwrap().map(|mined| mined.outcome)
    });
    let outcome = mined.into_iter().next().unwrap().unwrap();
    assert_eq!(outcome.results, plain(&graph, &task).results);
}

/// The CPU engine by another rule.
struct Other;

impl Engine for Other {
    fn device(&self) -> Device {
        Device::named("other")
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        let mut choices = Cpu.choose(ask);
        for plan in &mut choices.fits {
            let (kind, method, settings) = ("other".into(), plan.method.clone(), vec![]);
            plan.scheme = Scheme::Own { kind, method, settings };
        }
        choices
    }

    fn prepare(&self, graph: &Graph, context: &Context) -> Result<PreparedGraph> {
        let held = Cpu.prepare(graph, context)?;
        Ok(PreparedGraph::new(Other, graph, held))
    }
}

#[test]
fn levels_are_of_engines_of_one_kind() {
    let graph = graph(17);
    let task = Task::Fsm { limit: SizeLimit::MaxEdges(2), support: 20, measure: Measure::Mni };
    let said = on_ranks(2, |cluster| {
        let engine: &dyn Engine = if cluster.rank() == 1 { &Other } else { &Cpu };
        let job = Job { engine, graph: &graph, task: &task, keeping: None, sink: None };
        let error = cluster.mine(&job, &Context::with_threads(1)).map(|_| ()).unwrap_err();
        (cluster.rank() == 0).then(|| error.to_string())
    });
    let text = said[0].as_deref().unwrap();
    assert!(text.contains("devices of one kind"), "{text}");
}

/// A graph on which the phases of a closed form are worth it to be shared.
#[test]
fn ranks_share_the_phases_of_closed_forms() {
    let mut builder = Builder::new();
    for v in 0..1500u64 {
        // Few vertices are next to many.
        (1..30).for_each(|d| builder.edge(v, (v * 31 + d * d * d) % (1 + v % 7 * v / 3 + 40)));
    }
    let graph = builder.build();
    let pattern = gramer_pattern::named("diamond").unwrap();
    let mut took_part = 0;
    for task in [
        Task::Motif { k: 5, induced: Induced::Vertex },
        Task::Match { pattern, induced: Induced::Vertex, mappings: None },
    ] {
        for size in [1, 3, 3] {
            let mined = on_ranks(size, |cluster| {
                let job =
                    Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: None };
                // Ranks may have different numbers of threads.
                let context = Context::with_threads(1 + cluster.rank() % 2);
                cluster.mine(&job, &context).unwrap().map(|mined| mined.outcome)
            });
            let outcome = mined.into_iter().next().unwrap().unwrap();
            let parts: Vec<f64> = outcome
                .devices
                .iter()
                .filter_map(|device| device.get("share.candidates").and_then(Value::number))
                .collect();
            assert_eq!(parts.len(), size, "{parts:?}");
            // On a busy machine one may have done all before another asks.
            took_part = took_part.max(parts.iter().filter(|part| **part > 0.0).count());
            assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{parts:?}");
            assert_eq!(said(outcome), plain(&graph, &task), "{task:?} on {size}");
        }
    }
    assert!(took_part > 1, "no member shared anything");
}

/// The memory of a rank may be limited, which makes its way to an answer another one.
#[test]
fn a_rank_with_little_memory_has_its_share_in_portions() {
    let (graph, task) = (graph(17), Task::Motif { k: 5, induced: Induced::Vertex });
    let mined = on_ranks(2, |cluster| {
        let job = Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: None };
        let mut context = Context::with_threads(1);
        let budget = Budget { bytes: 1 << 30, folder: std::env::temp_dir() };
        context.budget = (cluster.rank() == 1).then(|| Arc::new(budget));
        cluster.mine(&job, &context).unwrap().map(|mined| mined.outcome)
    });
    let outcome = mined.into_iter().next().unwrap().unwrap();
    assert!(outcome.devices[0].get("share.portions").is_some(), "{:?}", outcome.devices);
    assert_eq!(said(outcome), plain(&graph, &task));
}

#[test]
fn the_lists_of_all_ranks_are_that_of_a_plain_run() {
    let (graph, task) = (graph(17), Task::Clique { k: 3 });
    let lists = on_ranks(3, |cluster| {
        let sink = Collect::default();
        let job =
            Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: Some(&sink) };
        cluster.mine(&job, &Context::with_threads(1)).unwrap();
        let list = sink.0.into_inner().unwrap();
        let all = cluster.listed(list.len() as u64).unwrap();
        (cluster.rank(), all, list)
    });
    let whole = Collect::default();
    Cpu.run(&graph, &task, Some(&whole), &Context::with_threads(1)).unwrap();
    let sorted = |mut list: Vec<Vec<VertexId>>| {
        list.iter_mut().for_each(|vertices| vertices.sort_unstable());
        list.sort_unstable();
        list
    };
    let whole = sorted(whole.0.into_inner().unwrap());
    assert_eq!(lists[0].1, whole.len() as u64, "rank 0 knows the number of all");
    let all = lists.into_iter().flat_map(|(_, _, list)| list).collect();
    assert_eq!(sorted(all), whole);
}

/// What a run does first.
type First = dyn Fn(&Context) -> Result<()> + Send + Sync;

/// The CPU engine until it has run so often; then it does something else.
#[derive(Clone)]
struct Until {
    runs: Arc<AtomicUsize>,
    last: usize,
    then: Arc<First>,
}

impl Until {
    fn new(last: usize, then: impl Fn(&Context) -> Result<()> + Send + Sync + 'static) -> Self {
        Until { runs: Arc::default(), last, then: Arc::new(then) }
    }
}

struct UntilOn {
    engine: Until,
    on: PreparedGraph,
}

impl Engine for Until {
    fn device(&self) -> Device {
        Device::named("cpu")
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        // It works in shares alone.
        match ask.terms.has(Needs::PEERS) {
            true => Choices::default(),
            false => Cpu.choose(ask),
        }
    }

    fn prepare(&self, graph: &Graph, context: &Context) -> Result<PreparedGraph> {
        let held = UntilOn { engine: self.clone(), on: Cpu.prepare(graph, context)? };
        Ok(PreparedGraph::new(self.clone(), graph, held))
    }
}

impl DeviceGraph for UntilOn {
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        if self.engine.runs.fetch_add(1, Ordering::Relaxed) >= self.engine.last {
            (self.engine.then)(run.context)?;
        }
        // Others shall have the time to take something.
        std::thread::sleep(Duration::from_millis(2));
        self.on.answer(query, plan, run)
    }
}

/// A device that fails when it is requested the second time, or one that waits until another has failed.
fn lost(fails: bool, gone: &Arc<AtomicBool>) -> Until {
    let gone = gone.clone();
    Until::new(usize::from(fails), move |_: &Context| {
        if fails {
            gone.store(true, Ordering::Relaxed);
            return Err(Error::Device("the card is gone".into()));
        }
        let begun = Instant::now();
        while !gone.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    })
}

#[test]
fn a_device_that_fails_leaves_its_work_to_other_ranks() {
    let (graph, task) = (graph(17), Task::Clique { k: 4 });
    for failing in [0, 1] {
        let gone = Arc::new(AtomicBool::new(false));
        let mined = on_ranks(3, |cluster| {
            let engine = lost(cluster.rank() == failing, &gone);
            let job =
                Job { engine: &engine, graph: &graph, task: &task, keeping: None, sink: None };
            cluster.mine(&job, &Context::with_threads(1)).unwrap().map(|mined| mined.outcome)
        });
        let outcome = mined.into_iter().next().unwrap().unwrap();
        let warning = &outcome.warnings[..];
        let begin = format!("rank {failing} (");
        assert!(
            matches!(warning, [one] if one.starts_with(&begin)
                && one.ends_with("the card is gone; the other ranks did its work")),
            "{warning:?}"
        );
        assert_eq!(outcome.results, plain(&graph, &task).results);
    }
    // Lines of a list cannot be taken back; if all members fail, none is left.
    for (failing, listed) in [(1..2, true), (0..3, false)] {
        let gone = Arc::new(AtomicBool::new(false));
        let errors = on_ranks(3, |cluster| {
            let engine = lost(failing.contains(&cluster.rank()), &gone);
            let gather = Collect::default();
            let sink = listed.then_some(&gather as &dyn Sink);
            let job = Job { engine: &engine, graph: &graph, task: &task, keeping: None, sink };
            cluster.mine(&job, &Context::with_threads(1)).map(|_| ())
        });
        let text = errors[0].as_ref().unwrap_err().to_string();
        assert!(text.starts_with("rank ") && text.ends_with("the card is gone"), "{text}");
        assert!(errors[1..].iter().all(|error| matches!(error, Err(Error::Interrupted))));
    }
}

#[test]
fn ranks_that_do_not_go_together_are_named() {
    let (graphs, tasks) = ([graph(17), graph(18)], [Task::Clique { k: 4 }, Task::Clique { k: 5 }]);
    let gather = Collect::default();
    for (graph, task, listed, part) in [
        (1, 0, false, "its graph is another one than that of rank 0"),
        (0, 1, false, r#"its question is {"task":{"task":"clique","k":5}}"#),
        (0, 0, true, r#""list":true}"#),
    ] {
        let errors = on_ranks(3, |cluster| {
            let other = cluster.rank() == 2;
            let at = |other_at| if other { other_at } else { 0 };
            let sink = (other && listed).then_some(&gather as &dyn Sink);
            let (graph, task) = (&graphs[at(graph)], &tasks[at(task)]);
            let job = Job { engine: &Cpu, graph, task, keeping: None, sink };
            cluster.mine(&job, &Context::with_threads(1)).map(|_| ())
        });
        let text = errors[0].as_ref().unwrap_err().to_string();
        assert!(text.starts_with("rank 2 (") && text.contains(part), "{text}");
    }
}

/// Each rank has its own file, as on machines without a file system in common: one that is changed there.
#[test]
fn an_image_that_is_changed_where_one_rank_has_it_gives_no_answer() {
    for task in [Task::Motif { k: 5, induced: Induced::Vertex }, minimum_image(4)] {
        for changed in [0, 1] {
            let errors = on_ranks(2, |cluster| {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join("g.gramer");
                gramer_graph::image::write(&file, &graph(17), "g").unwrap();
                let graph = gramer_graph::image::open(&file, true).unwrap();
                if cluster.rank() == changed {
                    // The same bytes, so that the time alone tells, which goes in steps of some milliseconds.
                    std::thread::sleep(Duration::from_millis(50));
                    std::fs::write(&file, std::fs::read(&file).unwrap()).unwrap();
                }
                let job =
                    Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: None };
                cluster.mine(&job, &Context::with_threads(1)).map(|_| ())
            });
            let text = errors[0].as_ref().unwrap_err().to_string();
            assert!(text.contains("g.gramer: the image was changed while it was in use"), "{text}");
            assert!(changed == 0 || text.starts_with("rank 1"), "{text}");
            assert!(errors[1].is_err());
        }
    }
}

#[test]
fn what_fails_before_anything_is_mined_ends_the_job() {
    let (graph, task) = (graph(17), Task::Clique { k: 4 });
    let errors = on_ranks(3, |cluster| {
        if cluster.rank() == 1 {
            cluster.failed(&Error::usage("there is no such file"));
            return Ok(());
        }
        let job = Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: None };
        cluster.mine(&job, &Context::with_threads(1)).map(|_| ())
    });
    let error = errors[0].as_ref().unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.exit_code()),
        ("rank 1: there is no such file", 2)
    );
    assert!(matches!(errors[2], Err(Error::Interrupted)));
}

/// A rank that has said what it is, and then nothing.
#[test]
fn a_rank_that_says_nothing_any_more_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, task) = (graph(17), Task::Motif { k: 4, induced: Induced::Vertex });
    let keeping = CheckpointSettings {
        file: folder.path().join("run.json"),
        resume: false,
        interval: Duration::from_secs(60),
    };
    let errors = on_ranks(2, |cluster| {
        let context = Context::with_threads(1);
        if cluster.rank() == 1 {
            let hello =
                message::Hello::new(&Cpu, &graph, Query::new(task.clone()), &context).unwrap();
            cluster.say(0, &Message::Hello(Box::new(hello))).unwrap();
            return Ok(());
        }
        cluster.settings.silence = Duration::from_millis(300);
        let keeping = Some(&keeping);
        let job = Job { engine: &Cpu, graph: &graph, task: &task, keeping, sink: None };
        cluster.mine(&job, &context).map(|_| ())
    });
    let text = errors[0].as_ref().unwrap_err().to_string();
    assert!(text.starts_with("rank 1 (") && text.contains("was silent for 0.3 s"), "{text}");
    // All but what the silent one had.
    let resumed = CheckpointSettings { resume: true, ..keeping.clone() };
    let crew = Crew::new(vec![Box::new(Cpu)]);
    let (outcome, kept) =
        crew.run_kept(&graph, &task, &resumed, &Context::with_threads(1)).unwrap();
    assert_eq!(outcome.results, plain(&graph, &task).results);
    let portions = outcome.devices[0].get("share.portions").and_then(Value::number);
    assert_eq!(portions, Some(1.0), "the rest was mined");
    kept.remove().unwrap();
}

#[test]
fn a_stopped_job_goes_on_with_other_ranks_and_on_one_host() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(17);
    for task in [tasks().remove(0), tasks().remove(3), tasks().remove(5)] {
        let keeping = |resume| CheckpointSettings {
            file: folder.path().join("run.json"),
            resume,
            interval: Duration::ZERO,
        };
        let done = |outcome: &Outcome| match &outcome.share {
            Some(share) => Units::Share(share).iter(graph.view()).count(),
            None if outcome.complete => usize::MAX,
            None => 0,
        };
        let mut before = 0;
        // The third one is stopped by the user of rank 1.
        for (round, size) in [3, 2, 4].into_iter().enumerate() {
            let mined = on_ranks(size, |cluster| {
                let context = Context::with_threads(1);
                let stops = if cluster.rank() == usize::from(round == 2) { 3 } else { usize::MAX };
                let user = context.cancel.clone();
                let engine = Until::new(stops, move |_: &Context| {
                    user.cancel();
                    Ok(())
                });
                let kept = keeping(round > 0);
                let keeping = (cluster.rank() == 0).then_some(&kept);
                let job = Job { engine: &engine, graph: &graph, task: &task, keeping, sink: None };
                cluster.mine(&job, &context).unwrap().map(|mined| mined.outcome)
            });
            let outcome = mined.into_iter().next().unwrap().unwrap();
            assert!(!outcome.complete, "it was stopped");
            let now = done(&outcome);
            assert!(now > before, "{now} after {before}");
            before = now;
        }
        let crew = Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]);
        let context = Context::with_threads(1);
        let (outcome, kept) = crew.run_kept(&graph, &task, &keeping(true), &context).unwrap();
        assert_eq!(outcome.results, plain(&graph, &task).results, "{task:?}");
        // It is of one run at a time.
        drop(kept);
        // The other way round: nothing is left for a job.
        let mined = on_ranks(2, |cluster| {
            let kept = keeping(true);
            let keeping = Some(&kept);
            let job = Job { engine: &Cpu, graph: &graph, task: &task, keeping, sink: None };
            cluster.mine(&job, &Context::with_threads(1)).unwrap().map(|mined| mined.outcome)
        });
        let outcome = mined.into_iter().next().unwrap().unwrap();
        assert_eq!(outcome.results, plain(&graph, &task).results, "{task:?}");
        std::fs::remove_file(folder.path().join("run.json")).unwrap();
    }
}

/// A device that doesn't stop is not waited for.
#[test]
fn a_rank_that_does_not_stop_is_named() {
    let (graph, task) = (graph(17), Task::Clique { k: 4 });
    let release = Arc::new(AtomicUsize::new(0));
    let errors = on_ranks(2, |cluster| {
        let context = Context::with_threads(1);
        cluster.settings.grace = || Duration::from_millis(200);
        if cluster.rank() == 0 {
            let user = context.cancel.clone();
            let engine = Until::new(2, move |_: &Context| {
                user.cancel();
                Ok(())
            });
            let job =
                Job { engine: &engine, graph: &graph, task: &task, keeping: None, sink: None };
            let mined = cluster.mine(&job, &context).map(|_| ());
            release.store(1, Ordering::Relaxed);
            return mined;
        }
        let release = release.clone();
        let engine = Until::new(0, move |_: &Context| {
            while release.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        });
        let job = Job { engine: &engine, graph: &graph, task: &task, keeping: None, sink: None };
        cluster.mine(&job, &context).map(|_| ())
    });
    let text = errors[0].as_ref().unwrap_err().to_string();
    assert!(text.contains("rank 1 (") && text.contains("did not answer"), "{text}");
}

#[test]
fn what_is_no_sum_is_refused() {
    let graph = graph(17);
    for (task, listed) in [
        (Task::MaximumClique, false),
        (Task::Fsm { limit: SizeLimit::MaxEdges(2), support: 1, measure: Measure::Mni }, true),
        (
            Task::Fsm {
                limit: SizeLimit::MaxVertices(3),
                support: 1,
                measure: Measure::Embeddings,
            },
            true,
        ),
    ] {
        let gather = Collect::default();
        let sink = listed.then_some(&gather as &dyn Sink);
        let job = Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink };
        let refused =
            Cluster::new(Box::new(SingleRank)).mine(&job, &Context::default()).unwrap_err();
        assert!(refused.to_string().contains("leave the setting `distribute` out"), "{refused}");
    }
}

fn minimum_image(edges: usize) -> Task {
    Task::Fsm { limit: SizeLimit::MaxEdges(edges), support: 20, measure: Measure::Mni }
}

#[test]
fn minimum_image_supports_are_found_by_levels() {
    let (graph, task) = (graph(17), minimum_image(4));
    let whole = plain(&graph, &task);
    assert!(whole.results.len() > 20, "{}", whole.results.len());
    for (size, threads) in [(1, 1), (2, 1), (4, 2)] {
        let mined = on_ranks(size, |cluster| {
            let job = Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: None };
            cluster.mine(&job, &Context::with_threads(threads)).unwrap().map(|mined| mined.outcome)
        });
        let outcome = mined.into_iter().next().unwrap().unwrap();
        let parts = outcome.devices.iter().map(|device| match device.get("share.candidates") {
            Some(Value::Share { part, whole }) => part / whole,
            other => panic!("{other:?}"),
        });
        assert!((parts.sum::<f64>() - 1.0).abs() < 1e-9, "each candidate once");
        assert_eq!(said(outcome), whole, "on {size}");
    }
}

#[test]
fn levels_stop_when_a_user_wants_it_and_when_an_engine_can_not() {
    let (graph, task) = (graph(17), minimum_image(7));
    for by in [0, 2] {
        let mined = on_ranks(3, |cluster| {
            let context = Context::with_threads(1);
            let cancel = context.cancel.clone();
            if cluster.rank() == by {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(30));
                    cancel.cancel();
                });
            }
            let job = Job { engine: &Cpu, graph: &graph, task: &task, keeping: None, sink: None };
            cluster.mine(&job, &context).unwrap().map(|mined| mined.outcome)
        });
        let outcome = mined.into_iter().next().unwrap().unwrap();
        assert!(!outcome.complete, "it was stopped by rank {by}");
    }
    let errors = on_ranks(2, |cluster| {
        let reference = Reference::default();
        let job = Job { engine: &reference, graph: &graph, task: &task, keeping: None, sink: None };
        let mined = cluster.mine(&job, &Context::with_threads(1)).map(|_| ());
        mined.inspect_err(|error| cluster.failed(error))
    });
    let text = errors[0].as_ref().unwrap_err().to_string();
    assert!(text.contains("reference"), "{text}");
}

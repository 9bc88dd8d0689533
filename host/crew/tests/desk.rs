//! The dealer without devices: it only sees the messages of its members.

use std::time::Duration;

use gramer_base::Error;
use gramer_base::context::{Cancel, Progress};
use gramer_crew::checkpoint::{Checkpoint, CheckpointSettings, Rule};
use gramer_crew::desk::Desk;
use gramer_crew::order::{Answer, Candidates, Job, Turn, Work};
use gramer_crew::phases::PhaseSettings;
use gramer_crew::shares::DealSettings;
use gramer_engine::{Outcome, Query};
use gramer_graph::{Builder, Graph};
use gramer_pattern::Task;

const PHASING: PhaseSettings =
    PhaseSettings { threads: None, runs_cost: false, alike: true, again: true };

struct Fixture {
    graph: Graph,
    query: Query,
    names: Vec<String>,
    progress: Progress,
}

impl Fixture {
    fn new(members: usize) -> Self {
        let graph = Builder::new().build();
        let names = (0..members).map(|member| format!("member {member}")).collect();
        let query = Query::new(Task::MaximumClique);
        Fixture { graph, query, names, progress: Progress::default() }
    }

    fn job(&self) -> Job<'_> {
        Job {
            query: &self.query,
            graph: &self.graph,
            kept: None,
            names: &self.names,
            several: "members",
            progress: &self.progress,
        }
    }
}

fn whole() -> Answer {
    Answer::Found(Box::new(Outcome::new(vec![], true)))
}

fn some(all: usize) -> Candidates {
    Candidates { phase: 1, all, part: false }
}

/// The attempt that a member shall begin, and how many take part.
fn begins(desk: &Desk<'_>, member: usize) -> (u32, usize) {
    match desk.turn(member) {
        Turn::Now(order) => match order.work {
            Work::Phases { attempt, members } => (attempt, members),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_loss_ends_the_attempt_of_all_and_the_others_begin_again() {
    let fixture = Fixture::new(3);
    let desk = Desk::phases(fixture.job(), PHASING);
    assert!((0..3).all(|member| begins(&desk, member) == (0, 3)));
    let taken: Vec<_> = (0..40).map(|at| desk.next((at % 3, 0), some(25)).unwrap()).collect();
    assert_eq!(taken.into_iter().flatten().collect::<Vec<_>>(), (0..25).collect::<Vec<_>>());
    // Results are in the order of the members, not of arrival.
    let rounds = [2, 0, 1].map(|member| desk.put((member, 0), vec![member as u8]).unwrap());
    for round in rounds {
        let joined = desk.joined(round).unwrap().expect("all have said it");
        assert_eq!(*joined, [vec![0], vec![1], vec![2]]);
    }
    let waits = desk.put((0, 0), vec![]).unwrap();
    assert!(desk.joined(waits).unwrap().is_none());
    desk.ended(2, Answer::Failed(Error::Device("it fell off the bus".into())), Duration::ZERO);
    assert!(matches!(desk.joined(waits), Err(Error::Interrupted)));
    assert!(matches!(desk.next((1, 0), some(25)), Err(Error::Interrupted)));
    desk.ended(1, Answer::Failed(Error::Interrupted), Duration::ZERO);
    assert!(matches!(desk.turn(1), Turn::Later(_)), "the first is still at work");
    desk.ended(0, Answer::Failed(Error::Interrupted), Duration::ZERO);
    assert!((0..2).all(|member| begins(&desk, member) == (1, 2)));
    assert!(matches!(desk.turn(2), Turn::Over));
    // Nothing of the first attempt is left.
    assert_eq!(desk.next((0, 1), some(7)).unwrap(), 0..1);
    assert!(desk.put((0, 0), vec![]).is_err());
    (0..2).for_each(|member| desk.ended(member, whole(), Duration::ZERO));
    assert!(desk.is_over() && (0..2).all(|member| matches!(desk.turn(member), Turn::Over)));
    assert_eq!(desk.lost(), [false, false, true]);
    let (outcome, records) = desk.close().unwrap();
    assert!(outcome.complete);
    assert_eq!(outcome.warnings, ["member 2: it fell off the bus; the other members did its work"]);
    assert_eq!(records.iter().map(|record| record.part).collect::<Vec<_>>()[..2], [(1, 7), (0, 7)]);
}

/// With a checkpoint a phase that all have come to the end of is not done again: neither by those that a loss leaves, nor by
/// the next run.
#[test]
fn phases_that_are_kept_are_heard_again() {
    let fixture = Fixture::new(2);
    let folder = tempfile::tempdir().unwrap();
    let (file, interval) = (folder.path().join("run.json"), Duration::ZERO);
    let keeping = CheckpointSettings { file, resume: false, interval };
    let open = || {
        let (graph, task) = (&fixture.graph, &fixture.query.task);
        let rule = Rule { text: "in phases".into(), in_phases: true };
        Checkpoint::open(&keeping, graph, task, rule, &Cancel::default()).unwrap()
    };
    let kept = open();
    let desk = Desk::phases(Job { kept: Some(&kept), ..fixture.job() }, PHASING);
    (0..2).for_each(|member| assert_eq!(begins(&desk, member), (0, 2)));
    assert_eq!(desk.next((0, 0), some(8)).unwrap(), 0..1);
    let first = desk.put((0, 0), vec![1]).unwrap();
    assert!(desk.joined(first).unwrap().is_none());
    desk.put((1, 0), vec![2]).unwrap();
    assert_eq!(*desk.joined(first).unwrap().unwrap(), [[1], [2]]);
    desk.ended(1, Answer::Failed(Error::Device("gone".into())), Duration::ZERO);
    desk.ended(0, Answer::Failed(Error::Interrupted), Duration::ZERO);
    // The one that is left hears the first phase, and has the second to itself; what it finds is kept as well.
    assert_eq!(begins(&desk, 0), (1, 1));
    let hears = |desk: &Desk<'_>, member| {
        assert_eq!(desk.next(member, some(8)).unwrap(), 8..8);
        let heard = desk.put(member, vec![]).unwrap();
        assert_eq!(*desk.joined(heard).unwrap().unwrap(), [[1], [2]]);
    };
    hears(&desk, (0, 1));
    assert_eq!(desk.next((0, 1), Candidates { phase: 2, ..some(3) }).unwrap(), 0..1);
    let second = desk.put((0, 1), vec![3]).unwrap();
    assert_eq!(*desk.joined(second).unwrap().unwrap(), [[3]]);
    desk.ended(0, whole(), Duration::ZERO);
    assert!(desk.close().unwrap().0.complete);
    drop(kept);
    // Another run, of which each member hears both at its own time.
    let kept = open();
    let desk = Desk::phases(Job { kept: Some(&kept), ..fixture.job() }, PHASING);
    (0..2).for_each(|member| assert_eq!(begins(&desk, member), (0, 2)));
    hears(&desk, (0, 0));
    let second = desk.put((0, 0), vec![]).unwrap();
    assert_eq!(*desk.joined(second).unwrap().unwrap(), [[3]]);
    let third = desk.put((0, 0), vec![4]).unwrap();
    hears(&desk, (1, 0));
    desk.put((1, 0), vec![]).unwrap();
    assert!(desk.joined(third).unwrap().is_none());
    desk.put((1, 0), vec![5]).unwrap();
    assert_eq!(*desk.joined(third).unwrap().unwrap(), [[4], [5]]);
    assert_eq!(kept.joins().len(), 3);
}

#[test]
fn one_that_is_left_works_alone_and_without_any_the_run_fails() {
    let fixture = Fixture::new(2);
    let desk = Desk::phases(fixture.job(), PHASING);
    (0..2).for_each(|member| assert_eq!(begins(&desk, member), (0, 2)));
    let gone = || Answer::Failed(Error::Device("gone".into()));
    desk.ended(0, gone(), Duration::ZERO);
    desk.ended(1, whole(), Duration::ZERO);
    let Turn::Now(order) = desk.turn(1) else { panic!("it begins again") };
    assert_eq!(order.work, Work::Alone);
    desk.ended(1, gone(), Duration::ZERO);
    let error = desk.close().unwrap_err();
    assert!(matches!(error, Error::Device(what) if what == "member 1: gone"));
}

#[test]
fn members_that_have_other_candidates_are_named() {
    let fixture = Fixture::new(2);
    let desk = Desk::phases(fixture.job(), PHASING);
    (0..2).for_each(|member| assert_eq!(begins(&desk, member), (0, 2)));
    desk.next((0, 0), some(25)).unwrap();
    let error = desk.next((1, 0), some(24)).unwrap_err();
    assert!(error.to_string().contains("24 candidates of level 1, and others 25"), "{error}");
    // The first failure is the reason, not the members that it stopped.
    desk.ended(1, Answer::Failed(Error::Unsupported("too large".into())), Duration::ZERO);
    desk.ended(0, Answer::Failed(Error::Interrupted), Duration::ZERO);
    let error = desk.close().unwrap_err();
    assert!(matches!(error, Error::Unsupported(what) if what == "member 1: too large"));
}

#[test]
fn a_member_waits_for_a_turn_without_looking() {
    let fixture = Fixture::new(2);
    let dealing =
        DealSettings { portions: 1, alike: false, at_once: false, kept: false, listed: false };
    let desk = Desk::shares(fixture.job(), dealing);
    let order = desk.order(0).expect("there is a portion");
    assert_eq!(order.work, Work::Portions(vec![0]));
    assert!(desk.owes(0) && matches!(desk.turn(1), Turn::Later(None)), "it has no speed yet");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| desk.order(1));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waits.is_finished());
        let gone = Answer::Failed(Error::Device("gone".into()));
        desk.ended(0, gone, Duration::ZERO);
        let order = waits.join().unwrap().expect("the portion is dealt again");
        assert_eq!(order.work, Work::Portions(vec![0]));
        // A stop wakes who waits, and raises the flag of who works.
        desk.stop();
        assert!(order.cancel.is_cancelled() && desk.order(1).is_none());
    });
}

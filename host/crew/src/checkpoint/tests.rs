use super::*;
use crate::Crew;
use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Ask, Engine, EngineExt, Query};
use gramer_graph::{Builder, image};
use gramer_pattern::task::{Induced, Measure, SizeLimit};

fn graph(extra: u64) -> Graph {
    let mut builder = Builder::new();
    for v in 0..30u64 {
        [1, 2, 5].into_iter().for_each(|d| builder.edge(v, (v + d) % 30));
    }
    builder.edge(0, 10 + extra);
    builder.build()
}

fn shares() -> Rule {
    Rule { text: "cpu".into(), in_phases: false }
}

/// A run in phases gets the joins of earlier runs, and its answer equals that of a plain run.
#[test]
fn phases_that_are_done_are_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let keeping =
        |resume| CheckpointSettings { file: file.clone(), resume, interval: Duration::ZERO };
    let (graph, context) = (graph(0), Context::with_threads(2));
    let limit = SizeLimit::MaxEdges(3);
    let task = Task::Fsm { limit, support: 1, measure: Measure::Mni };
    let right = Cpu.run(&graph, &task, None, &context).unwrap();
    assert!(right.results.len() > 3, "{right:?}");
    let two = || Crew::new(vec![Box::new(Cpu), Box::new(Cpu)]);
    let (found, kept) = two().run_kept(&graph, &task, &keeping(false), &context).unwrap();
    assert_eq!((found.results, found.complete), (right.results.clone(), true));
    // A phase for each number of edges beyond one.
    let joins = kept.joins();
    assert_eq!(joins.iter().map(|found| found.len()).collect::<Vec<_>>(), [2, 2]);
    drop(kept);
    // The first phase alone, as if a run had been killed in the second: one device goes on, and finds the same.
    let text = std::fs::read_to_string(&file).unwrap();
    let mut saved: File<Key, Outcome> = serde_json::from_str(&text).unwrap();
    saved.joins.truncate(1);
    assert!(saved.joins[0].iter().any(|one| !one.0.is_empty()));
    let write = |saved: &File<Key, Outcome>| {
        std::fs::write(&file, serde_json::to_string(saved).unwrap()).unwrap();
    };
    write(&saved);
    let one = Crew::new(vec![Box::new(Cpu)]);
    let damaged = one.run_kept(&graph, &task, &keeping(true), &context).unwrap_err();
    assert!(damaged.to_string().contains("is damaged"), "{damaged}");
    saved.checksum = checksum(None, &saved.joins);
    write(&saved);
    let (found, kept) = one.run_kept(&graph, &task, &keeping(true), &context).unwrap();
    assert_eq!((found.results, found.complete), (right.results.clone(), true));
    assert_eq!(kept.joins()[0], joins[0]);
    assert_eq!(kept.joins()[1].len(), 1, "the second phase was found by one");
    drop(kept);
    // What a file says is heard, and nothing is done in its place: a first phase in which nothing was frequent leaves the
    // single edges.
    saved.joins = vec![vec![Digits(vec![])]];
    saved.checksum = checksum(None, &saved.joins);
    write(&saved);
    let (found, kept) = one.run_kept(&graph, &task, &keeping(true), &context).unwrap();
    assert_eq!(found.results, right.results[..1]);
    kept.remove().unwrap();
}

#[test]
fn a_run_goes_on_from_its_file_and_no_other_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let keeping =
        |resume| CheckpointSettings { file: file.clone(), resume, interval: Duration::ZERO };
    let (graph, context) = (graph(0), Context::with_threads(1));
    let task = |k| Task::Motif { k, induced: Induced::Vertex };
    let open = |resume, graph, k, rule: &str| {
        let rule = Rule { text: rule.into(), in_phases: false };
        Checkpoint::open(&keeping(resume), graph, &task(k), rule, &context.cancel)
    };
    let text = open(true, &graph, 4, "cpu").unwrap_err().to_string();
    assert!(text.contains("there is no such checkpoint"), "{text}");

    let shares = Share::split(graph.view(), 3);
    let prepared = Cpu.prepare(&graph, &context).unwrap();
    let run = |share: &Share| prepared.run(&task(4), Units::Share(share), None, &context).unwrap();
    let right = prepared.run(&task(4), Units::All, None, &context).unwrap();
    // Every step by another run.
    for (done, share) in shares.iter().enumerate() {
        let kept = open(done > 0, &graph, 4, "cpu").unwrap();
        let rest = kept.rest().unwrap();
        assert_eq!(rest.is_none(), done == 0);
        kept.add(run(share)).unwrap();
        // What was stopped says nothing.
        kept.add(Outcome::new(vec![], false)).unwrap();
    }
    let kept = open(true, &graph, 4, "cpu").unwrap();
    assert!(kept.rest().unwrap().unwrap().is_empty());
    assert_eq!(kept.outcome().unwrap(), right);
    let second = open(true, &graph, 4, "cpu").unwrap_err();
    assert_eq!(second.exit_code(), 2);
    assert!(second.to_string().contains("run.json: another run uses it"), "{second}");
    // Also after the file was replaced.
    kept.save().unwrap();
    open(true, &graph, 4, "cpu").unwrap_err();
    drop(kept);

    let other = self::graph(1);
    let mut large = Builder::new();
    large.edge(0, 1);
    let large = large.build();
    for (graph, k, rule, parts) in [
        (&other, 4, "cpu", &["another graph of as many vertices and edges"][..]),
        (&large, 4, "cpu", &["of 30 vertices and 91 edges, not 2 and 1"]),
        (&graph, 3, "cpu", &[r#"the task {"task":"motif","k":4"#, r#"not {"task":"motif","k":3"#]),
        (&graph, 3, "ids", &["the task", "by the rule `cpu`, and these by the rule `ids`"]),
    ] {
        let text = open(false, graph, k, rule).unwrap_err().to_string();
        assert!(text.contains("run.json: this checkpoint is of another run: "), "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    let good = std::fs::read_to_string(&file).unwrap();
    for (from, to, part) in [
        (r#""checkpoint":4"#, r#""checkpoint":9"#, "has the format 9"),
        (r#""count":"#, r#""count":1"#, "is damaged: its checksum"),
        (r#""rest":"#, r#""rEst":"#, "is damaged: it isn't as it was written"),
        ("{", "", "this is not a checkpoint"),
        (r#""complete":true"#, r#""complete":false"#, "unfinished work"),
        (r#""share":null"#, r#""share":{"whole":[[0,31]],"parts":[]}"#, "no vertices 0 to 31"),
        (
            &format!(r#""gramer":"{}""#, env!("CARGO_PKG_VERSION")),
            r#""gramer":"0.0.0""#,
            "written by",
        ),
    ] {
        assert!(good.contains(from), "{from}: {good}");
        std::fs::write(&file, good.replacen(from, to, 1)).unwrap();
        let text = open(false, &graph, 4, "cpu").unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    }
    std::fs::write(&file, good).unwrap();
    let kept = open(true, &graph, 4, "cpu").unwrap();
    kept.remove().unwrap();
    kept.remove().unwrap();
    assert!(!file.exists());
}

#[test]
fn what_is_no_sum_and_where_nothing_can_be_written_are_known_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("no/where.json");
    let keeping = CheckpointSettings { file, resume: false, interval: Duration::ZERO };
    let graph = graph(0);
    let query = Query::new(Task::MaximumClique);
    let refused = Crew::new(vec![Box::new(Cpu)]).division_kept(&Ask::new(&query)).unwrap_err();
    assert!(refused.to_string().contains("a checkpoint keeps shares or phases"), "{refused}");
    let only = "only a file can be";
    for (file, reason) in [("-", only), ("/dev/null", only), (".", "is a folder; name a file")] {
        let keeping = CheckpointSettings { file: file.into(), ..keeping.clone() };
        let cancel = Cancel::default();
        let task = Task::Clique { k: 3 };
        let refused = Checkpoint::open(&keeping, &graph, &task, shares(), &cancel);
        let refused = refused.unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        let said = refused.to_string();
        assert!(said.contains(reason), "{file}: {said}");
    }
    let task = Task::Clique { k: 3 };
    let nowhere = Checkpoint::open(&keeping, &graph, &task, shares(), &Cancel::default());
    let nowhere = nowhere.unwrap_err().to_string();
    assert!(nowhere.contains("where.json: cannot create: its folder"), "{nowhere}");
    assert!(nowhere.contains("no: No such file"), "{nowhere}");
}

#[test]
fn a_full_disk_ends_nothing_and_the_last_write_says_so() {
    let graph = graph(0);
    let folder = tempfile::tempdir().unwrap();
    let keeping = CheckpointSettings {
        file: folder.path().join("run.json"),
        resume: false,
        interval: Duration::ZERO,
    };
    let (task, cancel) = (Task::Clique { k: 3 }, Cancel::default());
    let mut kept = Checkpoint::open(&keeping, &graph, &task, shares(), &cancel).unwrap();
    kept.path = "/dev/full".into();
    let share = &Share::split(graph.view(), 2)[0];
    let found = Cpu.prepare(&graph, &Context::default()).unwrap();
    let found = found.run(&task, Units::Share(share), None, &Context::default()).unwrap();
    kept.add(found).unwrap();
    let text = kept.save().unwrap_err().to_string();
    assert!(text.contains("/dev/full: cannot write: No space left"), "{text}");
    kept.path = keeping.file.clone();
    kept.save().unwrap();
    assert!(kept.rest().unwrap().is_some_and(|rest| !rest.is_empty()));
}

/// Whoever puts the image back and goes on would have counts of neither graph.
#[test]
fn nothing_is_kept_of_a_graph_that_was_changed_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (image, file) = (folder.path().join("g.gramer"), folder.path().join("run.json"));
    image::write(&image, &graph(0), "g").unwrap();
    let graph = image::open(&image, true).unwrap();
    let keeping =
        CheckpointSettings { file: file.clone(), resume: false, interval: Duration::ZERO };
    let (task, cancel) = (Task::Clique { k: 3 }, Cancel::default());
    let kept = Checkpoint::open(&keeping, &graph, &task, shares(), &cancel).unwrap();
    let begun = std::fs::read_to_string(&file).unwrap();
    let share = &Share::split(graph.view(), 2)[0];
    let found = Cpu.prepare(&graph, &Context::default()).unwrap();
    let found = found.run(&task, Units::Share(share), None, &Context::default()).unwrap();

    // The same bytes, so that the time alone tells, which goes in steps of some milliseconds.
    std::thread::sleep(Duration::from_millis(50));
    std::fs::write(&image, std::fs::read(&image).unwrap()).unwrap();
    for error in [kept.add(found).unwrap_err(), kept.save().unwrap_err()] {
        let text = error.to_string();
        assert!(text.contains("g.gramer: the image was changed while it was in use"), "{text}");
    }
    assert!(kept.rest().unwrap().is_none(), "none of the work is done");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), begun);
}

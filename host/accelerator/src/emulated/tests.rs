use super::helper::*;
use super::*;
use gramer_engine::metrics::Value;
use gramer_engine::{Outcome, Share, Sink, Units};
use gramer_graph::Builder;
use gramer_graph::VertexId;
use gramer_pattern::Pattern;
use gramer_pattern::task::Task;
use gramer_pattern::task::{Induced, Measure, SizeLimit};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

fn graph() -> Graph {
    let mut builder = Builder::new();
    for (u, v) in [(10, 11), (11, 12), (12, 10), (12, 13)] {
        builder.edge(u, v);
    }
    builder.build()
}

/// A program that takes the place of the helper.
fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join(HELPER);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn device(helper: PathBuf) -> Emulated {
    Emulated::with_helper("emulator:small", Settings::default(), helper).unwrap()
}

#[test]
fn the_helper_is_looked_for_where_it_may_be_and_never_is_this_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["target/examples", "prefix/bin", "prefix/libexec", "path"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    let own = at("target/examples/mine");
    let find = |named: Option<&str>, own: &Path, path: &str| {
        helper_among(named.map(at), Some(own), std::iter::once(at(path)))
    };
    let missing = find(None, &own, "path");
    // Where one is installed, that is found.
    if !INSTALLED.iter().any(|folder| Path::new(folder).join(HELPER).is_file()) {
        let missing = missing.unwrap_err().to_string();
        for word in ["cargo build --release -p gramer-cli", "make install", "GRAMER", "PATH"] {
            assert!(missing.contains(word), "{missing}");
        }
    }
    script(&at("path"), "");
    assert_eq!(find(None, &own, "path").unwrap(), at("path/gramer"));
    script(&at("target"), "");
    assert_eq!(find(None, &own, "path").unwrap(), at("target/gramer"));
    script(&at("prefix/bin"), "");
    assert_eq!(find(None, &at("prefix/libexec/x"), "path").unwrap(), at("prefix/bin/gramer"));
    // A program of the same name is not its own helper.
    assert_eq!(find(None, &at("target/gramer"), "path").unwrap(), at("path/gramer"));
    assert_eq!(find(Some("path/gramer"), &own, "path").unwrap(), at("path/gramer"));
    let wrong = find(Some("none"), &own, "path").unwrap_err().to_string();
    assert!(wrong.contains("GRAMER is ") && wrong.contains("no such file"), "{wrong}");
}

#[test]
fn other_devices_and_shares_of_other_orders_are_refused() {
    let refused =
        |name: &str| Emulated::with_helper(name, Settings::default(), "x".into()).unwrap_err();
    assert!(matches!(refused("cpu"), Error::Usage(_)));
    assert!(refused("emulator:nothing").to_string().contains("there is no machine"));
    let (graph, device) = (graph(), device("/nowhere/gramer".into()));
    let context = Context::default();
    let prepared = device.prepare(&graph, &context).unwrap();
    let task = Task::Clique { k: 3 };
    let share = Share::new(std::iter::once(0..2), []).unwrap();
    let units = Units::Share(&share);
    let refused = prepared.run(&task, units, None, &context).unwrap_err().to_string();
    assert!(refused.contains("in the order of Rank(ON_1) alone"), "{refused}");
    let set = Emulated::with_helper("emulator:set", Settings::default(), "x".into()).unwrap();
    let set = set.prepare(&graph, &context).unwrap().run(&task, units, None, &context);
    let refused = set.unwrap_err().to_string();
    assert!(refused.contains("in the order of Rank(ON_1) alone"), "{refused}");
    let lost = prepared.run(&task, Units::All, None, &context).unwrap_err();
    assert!(lost.to_string().contains("/nowhere/gramer: cannot start"), "{lost}");
}

#[test]
fn an_answer_is_taken_apart_and_a_list_handed_on() {
    let folder = tempfile::tempdir().unwrap();
    let helper = script(
        folder.path(),
        r#"folder=$(dirname "$2"); [ "$1" = run ] && [ -s "$folder/graph.gramer" ] || exit 9
cat > "$folder/answer.json" <<'END'
{"schema":1,"complete":true,"warnings":["w"],"results":[{"pattern":{"vertices":3,"edges":[[0,1],[0,2],[1,2]],
"labels":null,"edge_labels":null},"name":"triangle","count":"340282366920938463463374607431768211455"}],
"devices":[{"device":"d","metrics":{"run.cycles":{"value":"12","unit":"cycles"},
"pu_time.busy":{"value":0.25,"unit":"cycles"},"device.clock":{"value":200,"unit":"MHz"},
"run.seconds_at_clock":{"value":1,"unit":"s"},"pu.steals":{"value":["1","2"],"unit":""},
"device.machine":{"value":"small","unit":""},
"pu_time.by_pu":{"value":{"part":"PU","states":["busy"],"windows":[4],"spent":[[[3]]]},"unit":"cycles"}}}]}
END
echo '{"pattern":"triangle","vertices":[12,10,11]}' > "$folder/list.jsonl""#,
    );
    struct Seen(std::sync::Mutex<Vec<Vec<VertexId>>>);
    impl Sink for Seen {
        fn embedding(&self, _: &Pattern, v: &[VertexId]) -> std::ops::ControlFlow<()> {
            self.0.lock().unwrap().push(v.to_vec());
            std::ops::ControlFlow::Continue(())
        }
    }
    let (graph, seen) = (graph(), Seen(Default::default()));
    let device = device(helper);
    let outcome =
        device.run(&graph, &Task::Clique { k: 3 }, Some(&seen), &Context::default()).unwrap();
    assert_eq!(outcome.results[0].count, u128::MAX);
    assert_eq!(outcome.warnings, ["w"]);
    let ids = |v: &VertexId| graph.original_id(*v);
    let seen = seen.0.into_inner().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].iter().map(ids).collect::<Vec<_>>(), [12, 10, 11]);
    let m = &outcome.devices[0];
    assert_eq!(m.count("run.cycles"), Some(12));
    assert_eq!(m.get("device.clock"), Some(&Value::Setting(200)));
    assert_eq!(m.get("run.seconds_at_clock"), Some(&Value::Seconds(1.0)));
    assert_eq!(m.get("pu_time.busy").and_then(Value::number), Some(0.25));
    assert_eq!(m.get("pu.steals"), Some(&Value::Counts(vec![1, 2])));
    assert!(matches!(m.get("pu_time.by_pu"), Some(Value::Timeline(t)) if t.total(0, 0) == 3));
}

#[test]
fn a_share_goes_to_the_helper_and_its_outcome_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let context = Context::default();
    let graph = gramer_graph::prepare::renumber(&graph(), &context).unwrap();
    let share = Share::new(std::iter::once(0..2), []).unwrap();
    let mut found = Outcome::new(vec![], true);
    found.larger_cliques = vec![(17, u128::MAX)];
    found.share = Some(share.clone());
    let outcome = folder.path().join("outcome.json");
    fs::write(&outcome, serde_json::to_vec(&found).unwrap()).unwrap();
    // What it is asked for is what it was given.
    let helper = script(
        folder.path(),
        &format!(
            r#"folder=$(dirname "$2"); grep -q '"share":"'"$folder"'/share.json"' "$2" || exit 9
cat "$folder/share.json" > {}; cat {} > "$folder/answer.json""#,
            folder.path().join("share.json").display(),
            outcome.display()
        ),
    );
    let device = device(helper);
    let prepared = device.prepare(&graph, &context).unwrap();
    let task = Task::Clique { k: 3 };
    let run = |share| prepared.run(&task, Units::Share(share), None, &context);
    assert_eq!(run(&share).unwrap(), found);
    let text = fs::read(folder.path().join("share.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Share>(&text).unwrap(), share);
    // An outcome of other units is none.
    let other = Share::new(std::iter::once(2..3), []).unwrap();
    let other = run(&other).unwrap_err().to_string();
    assert!(other.contains("isn't understood (its share)"), "{other}");
}

#[test]
fn a_helper_that_fails_is_quoted_and_one_that_goes_on_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, task) = (graph(), Task::Clique { k: 3 });
    let fails = device(script(folder.path(), "echo 'gramer: no room in memory' >&2; exit 1"));
    let context = Context::default();
    let failed = fails.run(&graph, &task, None, &context).unwrap_err().to_string();
    assert!(failed.contains("emulator:small") && failed.ends_with("no room in memory"), "{failed}");
    let other =
        device(script(folder.path(), r#"echo '{"schema":7}' > "$(dirname "$2")/answer.json""#));
    let other = other.run(&graph, &task, None, &context).unwrap_err().to_string();
    assert!(other.contains("isn't understood (its schema)"), "{other}");
    let long = device(script(folder.path(), "sleep 60 & wait; exit 130"));
    let cancel = context.cancel.clone();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            cancel.cancel();
        });
        let stopped = long.run(&graph, &task, None, &context);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    });
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn jobs_have_the_fields_of_tasks() {
    let (graph, device) = (graph(), device("x".into()));
    let folder = tempfile::tempdir().unwrap();
    let prepared = OnHelper { device: &device, graph: &graph, folder };
    let job = |task: &Task| prepared.job(task, None, &Context::default()).unwrap();
    let limit = SizeLimit::MaxVertices(3);
    let fsm = job(&Task::Fsm { limit, support: 9, measure: Measure::Embeddings });
    assert_eq!((&fsm["task"], &fsm["support"]), (&json!("fsm"), &json!(9)));
    assert_eq!((&fsm["max_vertices"], &fsm["measure"]), (&json!(3), &json!("embeddings")));
    let motif = job(&Task::Motif { k: 4, induced: Induced::Vertex });
    assert_eq!((&motif["k"], &motif["induced"]), (&json!(4), &json!("vertex")));
    assert_eq!(
        (&motif["device"], &motif["comparison"]),
        (&json!("emulator:small"), &json!("descending"))
    );
    assert!(!motif.contains_key("slots") && !motif.contains_key("list"));
}

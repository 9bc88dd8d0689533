use super::message::{Load, RunRequest, WireError, WorkerReply, WorkerRequest, WorkerSetup};
use super::*;
use gramer_base::context::Cancel;
use gramer_engine::{DeviceGraph, EngineExt, Outcome, Peers, Query, Run, Share, Sink, Units};
use gramer_graph::{Builder, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::Task;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

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

/// A device whose worker is this program, without an emulation.
fn device(helper: PathBuf) -> EmulatedDevice {
    plain("emulator:small", helper)
}

/// Whether it has a worker.
fn there(device: &EmulatedDevice) -> bool {
    device.free(&Cancel::default()).unwrap().is_some()
}

fn plain(name: &str, helper: PathBuf) -> EmulatedDevice {
    let device = EmulatedDevice::with_helper(name, Settings::default(), helper).unwrap();
    EmulatedDevice { emulation: None, ..device }
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
    let refused = |name: &str| {
        EmulatedDevice::with_helper(name, Settings::default(), "x".into()).unwrap_err()
    };
    assert!(matches!(refused("cpu"), Error::Usage(_)));
    assert!(refused("emulator:nothing").to_string().contains("there is no machine"));
    let folder = tempfile::tempdir().unwrap();
    let (graph, device) = (graph(), device(says(&[], folder.path())));
    let context = Context::default();
    let prepared = device.prepare(&graph, &context).unwrap();
    let task = Task::Clique { k: 3 };
    let share = Share::new(std::iter::once(0..2), []).unwrap();
    let units = Units::Share(&share);
    let refused = prepared.run(&task, units, None, &context).unwrap_err().to_string();
    assert!(refused.contains("in the order of Rank(ON_1) alone"), "{refused}");
    let set = plain("emulator:set", says(&[], folder.path()));
    let set = set.prepare(&graph, &context).unwrap().run(&task, units, None, &context);
    let refused = set.unwrap_err().to_string();
    assert!(refused.contains("in the order of Rank(ON_1) alone"), "{refused}");
    let nowhere = self::device("/nowhere/gramer".into());
    let lost = nowhere.prepare(&graph, &context).err().unwrap();
    assert!(lost.to_string().contains("/nowhere/gramer: cannot start"), "{lost}");
}

/// A worker of one answer: it notes what it is asked, is ready for any graph, and says the same in each run.
fn says(messages: &[WorkerReply], folder: &Path) -> PathBuf {
    let lines: Vec<String> =
        messages.iter().map(|message| serde_json::to_string(message).unwrap()).collect();
    fs::write(folder.join("says"), lines.join("\n") + "\n").unwrap();
    let own = folder.display();
    script(
        folder,
        &format!(
            "echo \"$@\" >> {own}/started\nread -r open\necho \"$open\" > {own}/open\necho '\"Ready\"'\n\
             while read -r run; do case \"$run\" in\n\
             '\"Enough\"') ;;\n\
             *'\"Load\"'*) echo \"$run\" >> {own}/loads; echo '\"Ready\"';;\n\
             *) echo \"$run\" >> {own}/runs; cat {own}/says;;\nesac; done"
        ),
    )
}

struct Seen(std::sync::Mutex<Vec<Vec<VertexId>>>, Option<usize>);

impl Sink for Seen {
    fn embedding(&self, _: &Pattern, v: &[VertexId]) -> std::ops::ControlFlow<()> {
        let mut all = self.0.lock().unwrap();
        all.push(v.to_vec());
        match self.1 == Some(all.len()) {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        }
    }
}

#[test]
fn one_worker_answers_all_runs_on_a_graph_and_a_list_has_the_vertices_of_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph();
    let ordered = gramer_graph::prepare::renumber(&graph, &Context::default()).unwrap();
    let vertex =
        |id| (0..4).find(|&v| ordered.original_id(v) == id).expect("the graph has such a vertex");
    let triangle = gramer_pattern::named("triangle").unwrap();
    let mut found = Outcome::new(vec![], true);
    found.push(gramer_engine::Subject::Clique(17), u128::MAX);
    found.warnings = vec!["w".into()];
    let list = vec![[12, 10, 11].map(vertex).to_vec(), [10, 11, 12].map(vertex).to_vec()];
    let listed = WorkerReply::Listed(triangle, list);
    let device =
        device(says(&[listed, WorkerReply::Found(Box::new(found.clone()))], folder.path()));
    let context = Context::default();
    let prepared = device.prepare(&graph, &context).unwrap();
    for (most, count) in [(None, 2), (Some(1), 1)] {
        let seen = Seen(Default::default(), most);
        let task = Task::Clique { k: 3 };
        let outcome = prepared.run(&task, Units::All, Some(&seen), &context).unwrap();
        assert_eq!((outcome.rows, outcome.complete), (found.rows.clone(), most.is_none()));
        assert_eq!(outcome.warnings, ["w"]);
        let seen = seen.0.into_inner().unwrap();
        let ids = |v: &VertexId| graph.original_id(*v);
        assert_eq!(seen.len(), count);
        assert_eq!(seen[0].iter().map(ids).collect::<Vec<_>>(), [12, 10, 11]);
    }
    // Another graph takes the place of this one, and this one that of the other again.
    let task = Task::Clique { k: 3 };
    let other = device.prepare(&ordered, &context).unwrap();
    for prepared in [&prepared, &other, &prepared, &prepared] {
        prepared.run(&task, Units::All, None, &context).unwrap();
    }
    drop((prepared, other));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("started"), "worker emulator:small\n", "once");
    let opened: WorkerRequest = serde_json::from_str(&read("open")).unwrap();
    let WorkerRequest::Open(opened) = opened else { panic!("{opened:?}") };
    assert_eq!(opened.settings, Settings::default());
    let loads = read("loads");
    let loads: Vec<Load> = loads
        .lines()
        .map(|line| match serde_json::from_str(line).unwrap() {
            WorkerRequest::Load(load) => load,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(loads.len(), 5);
    assert!(loads.iter().all(|load| (load.vertices, load.edges) == (4, 4)));
    // The graph of the worker is there, and no other.
    assert!(there(&device) && loads[4].image.exists() && !loads[3].image.exists());
    drop(device);
    assert!(!loads[4].image.exists(), "nothing is left");
}

#[test]
fn a_share_goes_to_the_worker_and_its_outcome_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let context = Context::default();
    let graph = gramer_graph::prepare::renumber(&graph(), &context).unwrap();
    let share = Share::new(std::iter::once(0..2), []).unwrap();
    let mut found = Outcome::new(vec![], true);
    found.share = Some(share.clone());
    let device = device(says(&[WorkerReply::Found(Box::new(found.clone()))], folder.path()));
    let prepared = device.prepare(&graph, &context).unwrap();
    let task = Task::Clique { k: 3 };
    let run = |share| prepared.run(&task, Units::Share(share), None, &context);
    assert_eq!(run(&share).unwrap(), found);
    // An outcome of other units is invalid.
    let other = Share::new(std::iter::once(2..3), []).unwrap();
    let refused = run(&other).unwrap_err().to_string();
    assert!(refused.contains("an answer for another share"), "{refused}");
    // What it is asked for is what it was given.
    let runs = fs::read_to_string(folder.path().join("runs")).unwrap();
    let shares = runs.lines().map(|line| match serde_json::from_str(line).unwrap() {
        WorkerRequest::Run(run) => run.share.unwrap(),
        other => panic!("{other:?}"),
    });
    assert_eq!(shares.collect::<Vec<_>>(), [share, other]);
}

#[test]
fn a_worker_that_fails_is_quoted_and_one_that_goes_on_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, task) = (graph(), Task::Clique { k: 3 });
    let context = Context::default();
    let fails = device(script(folder.path(), "echo 'gramer: no room in memory' >&2; exit 1"));
    let failed = fails.run(&graph, &task, None, &context).unwrap_err().to_string();
    assert!(failed.contains("emulator:small") && failed.ends_with("no room in memory"), "{failed}");
    let failed = WireError::Unsupported("too large".into());
    let refuses = device(says(&[WorkerReply::Failed(failed)], folder.path()));
    let failed = refuses.run(&graph, &task, None, &context).unwrap_err();
    assert!(matches!(&failed, Error::Unsupported(what) if what == "too large"), "{failed}");
    assert!(there(&refuses), "it goes on with the next question");
    let failed = WireError::Device("it fell off the bus".into());
    let breaks = device(says(&[WorkerReply::Failed(failed)], folder.path()));
    let failed = breaks.run(&graph, &task, None, &context).unwrap_err();
    assert!(matches!(&failed, Error::Device(what) if what == "it fell off the bus"), "{failed}");
    assert!(!there(&breaks), "the device is reopened");
    let other =
        device(script(folder.path(), "read -r open; echo '{\"schema\":7}'; cat > /dev/null"));
    let other = other.run(&graph, &task, None, &context).unwrap_err().to_string();
    assert!(other.contains("isn't understood"), "{other}");
    // One that doesn't hear.
    let deaf = "read -r open; echo '\"Ready\"'; while :; do sleep 0.1; done";
    let long = device(script(folder.path(), deaf));
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

/// A worker that crashes before the device is open is started once more; the reason of a second crash is told.
#[test]
fn a_worker_that_crashes_while_it_opens_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("crashed");
    let starts = |text: &str| text.lines().count();
    let crash = "echo 'binding stream socket: File exists' >&2; exit 1";
    let count = format!("echo start >> {}", mark.display());
    let second = format!("[ \"$(wc -l < {})\" = 1 ] && {{ {crash}; }}", mark.display());
    let opens = format!("{count}\n{second}\nread -r open; echo '\"Ready\"'; cat > /dev/null");
    device(script(folder.path(), &opens)).start(&Cancel::default()).unwrap();
    assert_eq!(starts(&fs::read_to_string(&mark).unwrap()), 2);
    fs::remove_file(&mark).unwrap();
    let crashes = device(script(folder.path(), &format!("{count}\n{crash}")));
    let crashed = crashes.start(&Cancel::default()).unwrap_err().to_string();
    assert!(crashed.contains("ended by a crash, with exit code 1"), "{crashed}");
    assert!(crashed.ends_with("binding stream socket: File exists"), "{crashed}");
    assert_eq!(starts(&fs::read_to_string(&mark).unwrap()), 2);
    // One that says why it fails would say it again.
    fs::remove_file(&mark).unwrap();
    let fails = format!("{count}\necho 'gramer: no such platform' >&2; exit 1");
    device(script(folder.path(), &fails)).start(&Cancel::default()).unwrap_err();
    assert_eq!(starts(&fs::read_to_string(&mark).unwrap()), 1);
}

/// The worker's side, with the CPU engine in the place of a device.
#[test]
fn a_worker_opens_its_device_once_and_answers_runs_and_shares() {
    let folder = tempfile::tempdir().unwrap();
    let graph = gramer_graph::prepare::renumber(&graph(), &Context::default()).unwrap();
    let path = folder.path().join("g.gramer");
    gramer_graph::image::write(&path, &graph, "g").unwrap();
    let opened = |gramer: &str| {
        let (file, settings) = ("x.xclbin".to_string(), Settings::default());
        WorkerRequest::Open(Box::new(WorkerSetup { gramer: gramer.to_string(), file, settings }))
    };
    let load = |edges| WorkerRequest::Load(Load { image: path.clone(), vertices: 4, edges });
    let run = |list, share| {
        let query = Query::new(Task::Clique { k: 3 }).list(list);
        WorkerRequest::Run(Box::new(RunRequest { query, share, ..order() }))
    };
    let serve = |messages: &[WorkerRequest]| {
        let (mut input, output) = (vec![], tempfile::NamedTempFile::new().unwrap());
        messages.iter().for_each(|message| message::write(&mut input, message).unwrap());
        let opens = std::cell::Cell::new(0);
        let open = |_: &WorkerSetup, _: &Context| {
            opens.set(opens.get() + 1);
            Ok(Box::new(gramer_engine::reference::Reference::default()) as Box<dyn Engine>)
        };
        // It ends when the program disconnects, but answers first.
        let input = std::io::BufReader::new(Slow(std::io::Cursor::new(input)));
        let served = serve(input, output.reopen().unwrap(), open, &Context::default());
        let said = fs::read_to_string(output.path()).unwrap();
        let said = said.lines().map(|line| serde_json::from_str(line).unwrap());
        (served, opens.get(), said.collect::<Vec<WorkerReply>>())
    };
    let version = env!("CARGO_PKG_VERSION");
    let shares = Share::split(graph.view(), 2);
    let wrong = Share::new(std::iter::once(0..9), []).unwrap();
    let (_, opens, said) = serve(&[
        opened(version),
        load(4),
        run(false, None),
        run(false, Some(shares[0].clone())),
        run(false, Some(wrong)),
        run(true, None),
        WorkerRequest::Measure(1 << 10),
        load(5),
    ]);
    assert_eq!(opens, 1);
    let [
        WorkerReply::Ready,
        WorkerReply::Ready,
        WorkerReply::Found(whole),
        WorkerReply::Found(part),
        WorkerReply::Failed(WireError::Usage(wrong)),
        WorkerReply::Listed(triangle, all),
        WorkerReply::Found(_),
        WorkerReply::Measured(_),
        WorkerReply::Failed(WireError::Device(other)),
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!((whole.results[0].count, part.share.as_ref()), (1, Some(&shares[0])));
    assert!(wrong.contains("no vertices"), "{wrong}");
    assert_eq!((triangle, all.len()), (&gramer_pattern::named("triangle").unwrap(), 1));
    assert!(other.contains("is another graph"), "{other}");
    for (message, part) in [
        (opened("0.0.0"), "has the library of gramer 0.0.0"),
        (run(false, None), "comes before a device"),
    ] {
        let (served, opens, said) = serve(&[message]);
        served.unwrap();
        let [WorkerReply::Failed(WireError::Device(text))] = &said[..] else { panic!("{said:?}") };
        assert!(text.contains(part) && opens == 0, "{text}");
    }
}

/// A run without anything special.
fn order() -> RunRequest {
    RunRequest {
        query: Query::new(Task::Clique { k: 3 }),
        share: None,
        division: None,
        peers: None,
        limit: None,
        threads: 1,
        watched: false,
    }
}

/// Peers that have found nothing, or have stopped.
struct TestPeers(Option<Error>);

impl Peers for TestPeers {
    fn threads(&self) -> usize {
        3
    }

    fn next(&self, _: usize, all: usize) -> Result<std::ops::Range<usize>> {
        Ok(1..all)
    }

    fn join(&self, level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        match &self.0 {
            Some(_) => Err(Error::Interrupted),
            None => Ok(vec![found, vec![level as u8]]),
        }
    }
}

/// A worker that asks its peers for candidates and results.
#[test]
fn a_worker_reaches_the_peers_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph();
    let candidates = super::message::Candidates { phase: 2, all: 9, at_once: false };
    let text = |message: &WorkerReply| serde_json::to_string(message).unwrap();
    let own = folder.path().display();
    let asks = device(script(
        folder.path(),
        &format!(
            "read -r open; echo '\"Ready\"'; read -r load; echo '\"Ready\"'; read -r run\n\
             echo '{}'; read -r range; echo \"$range\" > {own}/said\n\
             echo '{}'; read -r joined; echo \"$joined\" >> {own}/said\n\
             echo '{}'; cat > /dev/null",
            text(&WorkerReply::Next(candidates)),
            text(&WorkerReply::Join(2, vec![7, 0])),
            text(&WorkerReply::Found(Box::new(Outcome::new(vec![], true)))),
        ),
    ));
    let context = Context::default();
    for stopped in [false, true] {
        let peers = TestPeers(stopped.then_some(Error::Interrupted));
        let resident = asks.prepare(&graph, &context).unwrap();
        let run = Run { peers: Some(&peers), ..Run::new(&context) };
        let plan = gramer_engine::Plan {
            method: "frequent".into(),
            scheme: gramer_engine::Scheme::Levels,
            any_order: false,
        };
        let found = resident.answer(&Query::new(Task::Clique { k: 3 }), &plan, &run);
        let said = fs::read_to_string(folder.path().join("said")).unwrap();
        let said: Vec<WorkerRequest> =
            said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        match stopped {
            false => {
                assert!(found.is_ok(), "{found:?}");
                let joined = WorkerRequest::Joined(vec![vec![7, 0], vec![2]]);
                assert_eq!(said, [WorkerRequest::Range(1..9), joined]);
            }
            true => {
                assert!(
                    matches!(found, Err(gramer_engine::Failure::Error(Error::Interrupted))),
                    "{found:?}"
                );
                assert_eq!(said, [WorkerRequest::Range(1..9), WorkerRequest::Over]);
            }
        }
        drop(resident);
        *asks.free(&Cancel::default()).unwrap() = None;
    }
}

/// Input whose end comes after a while.
struct Slow(std::io::Cursor<Vec<u8>>);

impl std::io::Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(buffer)?;
        if read == 0 {
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(read)
    }
}

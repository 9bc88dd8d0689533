//! Several processes of an MPI job against plain runs: counts, lists, checkpoints, ranks that die, stops.
//! Needs `mpirun` (`make setup-mpi`); run by `make test-cluster`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const GRAMER: &str = env!("CARGO_BIN_EXE_gramer");
/// A job that has lost a rank or was stopped is over within this time.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn plain(words: &[&str]) -> Output {
    command(GRAMER).args(words).output().unwrap()
}

/// `mpirun`, for a machine of few cores and a container whose only user is root.
fn mpirun(options: &[&str]) -> Command {
    let mut job = command("mpirun");
    job.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    job.args(["--oversubscribe", "--bind-to", "none"]).args(options);
    job
}

/// A job of `ranks` ranks.
fn job(ranks: usize, words: &[&str]) -> Command {
    let mut job = mpirun(&["-n", &ranks.to_string(), GRAMER]);
    job.args(words).arg("--distribute");
    job
}

fn run(ranks: usize, words: &[&str]) -> Output {
    job(ranks, words).output().unwrap()
}

/// A random graph, with labels if there should be some.
fn graph(folder: &Path, scale: u32, labels: bool) -> String {
    let path = folder.join(format!("rmat{scale}{labels}.gramer"));
    let (scale, name) = (scale.to_string(), path.to_str().unwrap());
    let mut words = vec!["graph", "generate", "rmat", "--scale", &scale, "--seed", "5", name];
    if labels {
        words.extend(["--vertex-labels", "3"]);
    }
    let output = plain(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    name.into()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", text(&output.stdout), text(&output.stderr)))
}

/// What a run answers: the rows and the total.
fn answer(output: &Output) -> (Value, Value) {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document = document(output);
    assert_eq!(document["complete"], true);
    (document["results"].clone(), document["total"].clone())
}

/// Work that a checkpoint says is done: entries of lists, and vertices without any.
fn done(file: &Path) -> u64 {
    let Ok(text) = fs::read_to_string(file) else { return 0 };
    // Whole or not at all, whenever it is read.
    let saved: Value = serde_json::from_str(&text).unwrap();
    let pairs = |list: &Value, from: usize| -> u64 {
        let length = |e: &Value| e[from + 1].as_u64().unwrap() - e[from].as_u64().unwrap();
        list.as_array().into_iter().flatten().map(length).sum()
    };
    let share = &saved["outcome"]["share"];
    pairs(&share["whole"], 0) + pairs(&share["parts"], 1)
}

#[test]
fn jobs_of_1_2_and_4_ranks_answer_as_a_plain_run_also_over_tcp() {
    let folder = tempfile::tempdir().unwrap();
    let (unlabelled, labelled) = (graph(folder.path(), 8, false), graph(folder.path(), 7, true));
    let hosts = folder.path().join("hosts");
    fs::write(&hosts, "localhost slots=4\n").unwrap();
    let tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--hostfile"];
    let tasks: [&[&str]; 8] = [
        &["clique", "-k", "4", &unlabelled],
        &["clique", "--maximal", &unlabelled],
        &["motif", "-k", "4", &unlabelled],
        &["motif", "-k", "5", &unlabelled, "--device", "cpu,cpu"],
        &["fsm", "--support", "20", "--max-vertices", "3", &labelled],
        &["fsm", "--support", "25", "--measure", "mni", "--max-edges", "3", &labelled],
        &["match", "--pattern", "house", &unlabelled, "--mappings"],
        &["motif", "-k", "3", &unlabelled, "--device", "reference"],
    ];
    for task in tasks {
        let words = [&["mine"], task, &["--json", "--threads", "1"]].concat();
        let whole = answer(&plain(&words));
        for ranks in [1, 2, 4] {
            let output = run(ranks, &words);
            assert_eq!(answer(&output), whole, "{words:?} on {ranks}");
            let devices = document(&output)["devices"].clone();
            let names: Vec<&str> =
                devices.as_array().unwrap().iter().map(|d| d["device"].as_str().unwrap()).collect();
            for rank in 0..ranks {
                let begin = format!("rank {rank} (");
                assert!(names.iter().any(|name| name.starts_with(&begin)), "{names:?}");
            }
        }
        let mut over_tcp = mpirun(&tcp);
        over_tcp.args([hosts.to_str().unwrap(), "-n", "4", GRAMER]).args(&words);
        let output = over_tcp.arg("--distribute").output().unwrap();
        assert_eq!(answer(&output), whole, "{words:?} over TCP");
    }
    // Each takes part where there is enough to do: in portions, or in the phases of closed forms.
    let large = graph(folder.path(), 12, false);
    for (task, name) in
        [(["clique", "-k", "5"], "share.portions"), (["motif", "-k", "5"], "share.candidates")]
    {
        let words = [&["mine"], &task[..], &[&large, "--json"]].concat();
        let output = run(2, &words);
        assert_eq!(answer(&output), answer(&plain(&words)));
        let document = document(&output);
        let devices = document["devices"].as_array().unwrap();
        let parts = devices.iter().filter_map(|d| d["metrics"][name]["value"].as_f64());
        let parts: Vec<f64> = parts.collect();
        assert!(parts.len() == 2 && parts.iter().all(|part| *part > 0.0), "{devices:?}");
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{parts:?}");
    }
}

#[test]
fn without_a_launcher_it_is_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path(), 8, false);
    let words = ["mine", "motif", "-k", "4", &graph, "--json"];
    let output = plain(&[&words[..], &["--distribute"]].concat());
    assert_eq!(answer(&output), answer(&plain(&words)));
    assert_eq!(document(&output)["device"], "cpu");
}

#[test]
fn each_rank_has_a_list_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path(), 9, false);
    let at = |name: &str| folder.path().join(name);
    let sorted = |files: &[PathBuf]| {
        let mut lines: Vec<String> = vec![];
        for file in files {
            let text = fs::read_to_string(file).unwrap();
            // Roles of alike vertices depend on the order of the search.
            lines.extend(text.lines().map(|line| {
                let mut words: Vec<&str> = line.split('\t').collect();
                words[1..].sort_unstable();
                words.join("\t")
            }));
        }
        lines.sort_unstable();
        lines
    };
    let words = ["mine", "clique", "-k", "3", &graph, "--json", "--list"];
    let whole = at("whole.tsv");
    let one = plain(&[&words[..], &[whole.to_str().unwrap()]].concat());
    let list = at("found.tsv");
    let words = [&words[..], &[list.to_str().unwrap()]].concat();
    for ranks in [4, 2] {
        let output = run(ranks, &words);
        assert_eq!(answer(&output), answer(&one));
        assert_eq!(document(&output)["listed"], document(&one)["listed"]);
        let files: Vec<PathBuf> =
            (0..ranks).map(|rank| at(&format!("found.rank-{rank}.tsv"))).collect();
        assert_eq!(sorted(&files), sorted(&[whole.clone()]));
        assert!(!list.exists());
        // They are there now, as files of the user.
        let refused = run(ranks, &words);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        let forced = [&words[..], &["--force"]].concat();
        assert!(run(ranks, &forced).status.success());
        // Those of a larger job would be taken for lists of this one.
        let refused = run(ranks - 1, &forced);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("found.rank-{}.tsv", ranks - 1)), "{said}");
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
    }
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "the graph and the list of the plain run");
}

/// Lines of the program itself; the launcher adds its own.
fn own_lines(output: &Output) -> Vec<String> {
    let said = text(&output.stderr);
    said.lines().filter(|line| line.starts_with("gramer: ")).map(String::from).collect()
}

#[test]
fn what_is_wrong_is_said_once_and_the_job_ends() {
    let folder = tempfile::tempdir().unwrap();
    let good = graph(folder.path(), 8, false);
    let (other, missing) = (graph(folder.path(), 9, false), folder.path().join("missing.txt"));
    let missing = missing.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 7] = [
        (&["clique", "-k", "4", missing], 1, "missing.txt"),
        (&["clique", "-k", "99", &good], 2, "99"),
        (&["clique", "--maximum", &good], 1, "ranks divide it: leave --distribute out"),
        (&["clique", "-k", "4", &good, "--per", "vertex"], 2, "leave --distribute out"),
        (&["clique", "-k", "4", "-"], 2, "standard input reaches one process alone"),
        (&["clique", "-k", "4", &good, "--list", "-"], 2, "name a file"),
        (
            &["clique", "-k", "4", &good, "--checkpoint", missing, "--resume"],
            2,
            "no such checkpoint",
        ),
    ];
    for (words, code, part) in cases {
        let output = run(3, &[&["mine"], words].concat());
        let lines = own_lines(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", text(&output.stderr));
        assert!(lines.len() == 1 && lines[0].contains(part), "{words:?}: {lines:?}");
        assert!(output.stdout.is_empty());
    }
    // What clap refuses, too.
    let output = run(3, &["mine", "clique", "-k", "4", &good, "--limit", "3", "--list", "l.tsv"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr).matches("gramer: ").count(), 1, "{}", text(&output.stderr));

    // Ranks that were given something else.
    let differ = |first: &[&str], second: &[&str]| {
        let common = ["-n", "1", GRAMER, "mine", "clique", "--distribute"];
        let words = [&common[..], first, &[":"], &common[..], second].concat();
        mpirun(&words).output().unwrap()
    };
    for (second, part) in [
        (["-k", "4", &other], "its graph has 512 vertices"),
        (["-k", "5", &good], r#"its question is {"task":{"task":"clique","k":5}}"#),
        (["-k", "4", missing], "missing.txt"),
    ] {
        let begun = Instant::now();
        let output = differ(&["-k", "4", &good], &second);
        let lines = own_lines(&output);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(
            lines.len() == 1 && lines[0].starts_with("gramer: rank 1") && lines[0].contains(part),
            "{lines:?}"
        );
        assert!(begun.elapsed() < ENDS_WITHIN);
    }
    let output =
        differ(&["-k", "4", &good, "--json"], &["-k", "4", &good, "--device", "reference"]);
    let words = ["mine", "clique", "-k", "4", &good, "--json"];
    assert_eq!(answer(&output), answer(&plain(&words)), "of two kinds, by the common rule");
}

/// The process of a rank of a job on this machine.
fn process_of(mpirun: &Child, rank: usize) -> Option<Pid> {
    let wanted = format!("OMPI_COMM_WORLD_RANK={rank}");
    let parent = format!("PPid:\t{}", mpirun.id());
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(number) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let variables = fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_rank = variables.split(|byte| *byte == 0).any(|v| v == wanted.as_bytes());
        if is_rank && status.lines().any(|line| line == parent) {
            return Pid::from_raw(number);
        }
    }
    None
}

/// What ends a job early.
#[derive(Debug, Clone, Copy)]
enum End {
    /// The process of a rank dies.
    Dies(usize),
    /// The user of `mpirun` wants no more.
    CtrlC,
    /// The user of a rank, or the scheduler of the machines, wants no more.
    Signal(usize),
    /// The graph's file is cut off, or rewritten with the same content.
    File { cut: bool },
}

/// Ends a job once its checkpoint has something; `None` if it was faster.
fn ended(ranks: usize, words: &[&str], file: &Path, how: End) -> Option<Output> {
    let before = done(file);
    let mut child = job(ranks, words).spawn().unwrap();
    while done(file) <= before {
        if child.try_wait().unwrap().is_some() {
            // It has removed its file, or has failed.
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let signal = match how {
        End::Dies(rank) => Some((process_of(&child, rank)?, Signal::KILL)),
        End::Signal(rank) => Some((process_of(&child, rank)?, Signal::INT)),
        End::CtrlC => Some((Pid::from_child(&child), Signal::INT)),
        End::File { .. } => None,
    };
    let processes: Vec<Pid> = (0..ranks).filter_map(|rank| process_of(&child, rank)).collect();
    let begun = Instant::now();
    match (how, signal) {
        (End::File { cut }, _) => change(Path::new(words[4]), cut),
        (_, Some((process, signal))) => drop(kill_process(process, signal)),
        (_, None) => {}
    }
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < ENDS_WITHIN, "{how:?}: {:?}", begun.elapsed());
    for process in processes {
        let left = fs::read_to_string(format!("/proc/{}/cmdline", process.as_raw_nonzero()));
        assert!(!left.is_ok_and(|words| words.contains("--distribute")), "{how:?}: one goes on");
    }
    // It may have come to its end in that moment.
    let whole = text(&output.stdout).contains(r#""complete": true"#);
    (!output.status.success() && !whole).then_some(output)
}

/// Cuts a file, or writes it again with the bytes that it has.
fn change(file: &Path, cut: bool) {
    let bytes = fs::read(file).unwrap();
    let opened = fs::File::options().write(true).open(file).unwrap();
    match cut {
        true => opened.set_len(4096).unwrap(),
        false => std::io::Write::write_all(&mut &opened, &bytes).unwrap(),
    }
}

/// A graph that changes in the middle of a job: no answer, and a message with the file's name from some rank.
#[test]
fn an_image_that_is_changed_ends_the_job_in_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    for (cut, part) in [(true, "the image was truncated"), (false, "the image was changed")] {
        let tried = (11..16).find_map(|scale| {
            let _ = fs::remove_file(&file);
            let graph = graph(folder.path(), scale, false);
            let words = ["mine", "motif", "-k", "5", &graph, "--json", "--threads", "1"];
            let kept = ["--checkpoint", file.to_str().unwrap(), "--checkpoint-interval", "0.05"];
            let ended = ended(3, &[&words[..], &kept].concat(), &file, End::File { cut });
            fs::remove_file(&graph).unwrap();
            ended
        });
        let output = tried.expect("some job was long enough");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(part) && said.contains("while it was in use"), "{said}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    }
}

/// How large a graph must be to be ended in the middle depends on the machine.
fn ended_in_the_middle(how: End, check: impl Fn(&Output)) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    for scale in 11..16 {
        // Of one that came to its end in the moment in which it was to be ended.
        let _ = fs::remove_file(&file);
        let graph = graph(folder.path(), scale, false);
        let words = ["mine", "motif", "-k", "5", &graph, "--json", "--threads", "1"];
        let kept = ["--checkpoint", file.to_str().unwrap(), "--checkpoint-interval", "0.05"];
        let words_kept = [&words[..], &kept].concat();
        let Some(output) = ended(3, &words_kept, &file, how) else { continue };
        let said = text(&output.stderr);
        check(&output);
        assert!(done(&file) > 0, "{how:?}: {said}");
        // With another number of ranks, then on one host.
        let resumed = [&words_kept[..], &["--resume"]].concat();
        let again = ended(2, &resumed, &file, End::Signal(0));
        let output = match file.exists() {
            true => plain(&resumed),
            false => run(2, &words),
        };
        assert_eq!(answer(&output), answer(&plain(&words)), "{how:?}, {}", again.is_some());
        assert!(!file.exists(), "nothing is left to be continued");
        return;
    }
    panic!("no job was ended in the middle: {how:?}");
}

#[test]
fn a_rank_that_dies_ends_the_job_which_goes_on_from_its_checkpoint() {
    ended_in_the_middle(End::Dies(1), |output| {
        let said = text(&output.stderr);
        // The launcher says which one it was.
        assert!(said.contains("rank 1 with PID") && said.contains("signal 9"), "{said}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        let lines = own_lines(output);
        let own = matches!(&lines[..], [line] if line.starts_with("gramer: ")
            && line.contains("rank 1 (") && line.contains("did not answer")
            && line.contains("--resume"));
        assert!(own, "{said}");
    });
}

#[test]
fn rank_0_may_die_as_well() {
    ended_in_the_middle(End::Dies(0), |output| {
        let said = text(&output.stderr);
        assert!(said.contains("rank 0 with PID") && said.contains("signal 9"), "{said}");
    });
}

#[test]
fn ctrl_c_ends_all_and_says_what_is_known() {
    ended_in_the_middle(End::CtrlC, |output| {
        assert_eq!(document(output)["complete"], false, "{}", text(&output.stderr));
    });
}

#[test]
fn a_signal_to_one_rank_stops_all_in_an_orderly_way() {
    ended_in_the_middle(End::Signal(2), |output| {
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert_eq!(document(output)["complete"], false);
        assert_eq!(own_lines(output).len(), 1, "{}", text(&output.stderr));
    });
}

#[test]
fn a_time_limit_is_that_of_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path(), 15, false);
    let words = ["mine", "motif", "-k", "5", &graph, "--json", "--time-limit", "1"];
    let begun = Instant::now();
    let output = run(2, &words);
    assert_eq!(output.status.code(), Some(124), "{}", text(&output.stderr));
    assert_eq!(document(&output)["complete"], false);
    assert!(begun.elapsed() < ENDS_WITHIN);
}

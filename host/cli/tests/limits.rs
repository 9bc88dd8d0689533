//! Memory and threads that the system refuses: every task, reader, converter and generator ends with its answer or with one
//! line, at any limit. `make test` runs some of the matrix, `make test-long` all of it (`GRAMER_LIMITS=all`).
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gramer_testing::environment;
use rustix::process::{Resource, Rlimit, getuid, setrlimit};

const MB: u64 = 1 << 20;

/// Command lines whose answer must be that of a run without a limit, or an error.
const CASES: &[&str] = &[
    "graph info --output json g.txt",
    "graph info --output json g.txt.gz",
    "graph info --output json g.txt.zst",
    "graph info --output json g.lg",
    "graph info --output json g.metis",
    "graph info --output json g.mtx",
    "graph info --output json names.txt",
    "graph convert g.txt out.gramer",
    "graph convert g.txt.gz out.gramer",
    "graph convert --compress g.txt out.gramer",
    "graph convert --memory 40M g.txt out.gramer",
    "graph convert g.gramer out.txt",
    "graph generate rmat --scale 16 --edge-factor 8 out.gramer",
    "graph generate er --vertices 20000 --edges 100000 out.txt",
    "graph rank --output json g.gramer",
    "graph compress --cliques 4 g.gramer out.gramer",
    "mine clique -k 5 --json g.gramer",
    "mine clique -k 5 --json packed.gramer",
    "mine clique -k 9 --json g.gramer",
    "mine clique --maximal --json g.gramer",
    "mine clique --maximum --json g.gramer",
    "mine clique -k 4 --per vertex --json g.gramer",
    "mine clique -k 4 --per edge --json g.gramer",
    "mine clique -k 4 --list out.jsonl --json g.gramer",
    "mine clique -k 4 --checkpoint out.point --json g.gramer",
    "mine clique -k 4 --device cpu,cpu --json g.gramer",
    "mine clique -k 4 --to out.html g.gramer",
    "mine motif -k 3 --json g.txt",
    "mine motif -k 3 --json g.gramer",
    "mine motif -k 4 --json g.gramer",
    "mine motif -k 4 --memory 40M --json g.gramer",
    "mine motif -k 4 --device cpu,cpu --json g.gramer",
    "mine motif -k 5 --json g.gramer",
    "mine motif -k 5 --induced edge --json g.gramer",
    "mine motif -k 6 --json small.gramer",
    "mine motif -k 4 --per vertex --json g.gramer",
    "mine motif -k 4 --per edge --json g.gramer",
    "mine motif -k 5 --estimate 5% --seed 1 --json g.gramer",
    "mine motif -k 3 --device reference --json small.gramer",
    "mine fsm --support 20 --max-vertices 3 --json labelled.lg",
    "mine fsm --support 20 --max-vertices 3 --measure mni --json labelled.lg",
    "mine match --pattern house --json g.gramer",
    "mine match --pattern triangle --list out.jsonl --json g.gramer",
    "run job.yaml",
    "devices",
    "plan house",
    "man",
];

/// Memory beyond what the program itself takes, in MB: for `make test` those that refuse different phases.
const SOME: &[u64] = &[0, 4, 40];
const ALL: &[u64] = &[
    0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176,
    192, 224, 256, 320, 400,
];

fn all() -> bool {
    std::env::var_os("GRAMER_LIMITS").is_some_and(|value| value == "all")
}

fn gramer() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
    command.env_remove("GRAMER_LOG");
    command
}

/// Has the child's resource limited.
fn limited(command: &mut Command, resource: Resource, most: u64) {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    // SAFETY: the child makes one system call before it becomes the program.
    unsafe { command.pre_exec(move || setrlimit(resource, limit).map_err(Into::into)) };
}

/// Graphs in several formats.
fn inputs(folder: &Path) {
    let run = |line: &str| {
        let done = gramer().args(line.split(' ')).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    };
    run("graph generate rmat --scale 12 --edge-factor 8 --seed 3 g.gramer");
    run("graph generate rmat --scale 8 --edge-factor 4 --seed 3 small.gramer");
    run("graph generate rmat --scale 9 --edge-factor 4 --vertex-labels 3 --seed 3 labelled.lg");
    run("graph convert --compress g.gramer packed.gramer");
    for name in ["g.txt", "g.lg", "g.metis", "g.mtx"] {
        run(&format!("graph convert g.gramer {name}"));
    }
    let text = std::fs::read_to_string(folder.join("g.txt")).unwrap();
    let zst = zstd::encode_all(text.as_bytes(), 3).unwrap();
    std::fs::write(folder.join("g.txt.zst"), zst).unwrap();
    let edges = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let far: String = edges.map(|line| line.replace(' ', "000000001 ") + "000000001\n").collect();
    std::fs::write(folder.join("names.txt"), far).unwrap();
    let gzip = Command::new("gzip").args(["-k", "g.txt"]).current_dir(folder).status().unwrap();
    assert!(gzip.success());
    let graph = folder.join("g.gramer");
    let job = format!("task: motif\nk: 4\ngraph: {}\noutput: json\n", graph.display());
    std::fs::write(folder.join("job.yaml"), job).unwrap();
}

/// What an answer says, without times and the machine.
fn answer(line: &str, output: &Output) -> String {
    if !line.contains("json ") && !line.starts_with("run") {
        return String::new();
    }
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    ["results", "vertices", "edges", "top"].map(|key| answer[key].to_string()).concat()
}

/// Runs a case in a folder that is its own; the answer, or `None` for the one line of an error.
fn outcome(line: &str, folder: &Path, limit: impl FnOnce(&mut Command)) -> Option<String> {
    let own = tempfile::tempdir_in(folder).unwrap();
    std::fs::set_permissions(own.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let words = line.split(' ').map(|word| match folder.join(word).is_file() {
        true => format!("../{word}"),
        false => word.into(),
    });
    let mut command = gramer();
    command.args(words).current_dir(own.path()).env("TMPDIR", own.path());
    // Drivers abort by themselves.
    command.env("OCL_ICD_VENDORS", own.path());
    let chooses = line.starts_with("mine") || line.starts_with("graph");
    if chooses && !line.contains("--threads") {
        command.args(["--threads", "2"]);
    }
    limit(&mut command);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let said = format!("{line}: {:?}: {stderr}", output.status);
    for word in ["panicked", "fault in gramer", "memory allocation of", "RUST_BACKTRACE"] {
        assert!(!stderr.contains(word), "{said}");
    }
    assert_eq!(output.status.signal(), None, "{said}");
    let left = std::fs::read_dir(own.path()).unwrap().map(|file| file.unwrap().file_name());
    let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
    match output.status.code() {
        Some(0) => {
            assert!(left.iter().all(|name| name.starts_with("out.")), "{left:?}: {said}");
            Some(answer(line, &output))
        }
        Some(1) => {
            assert!(left.iter().all(|name| name == "out.point"), "{left:?}: {said}");
            let errors: Vec<&str> = stderr
                .lines()
                .filter(|l| !l.contains(": warning: ") && !l.starts_with("note: "))
                .collect();
            assert_eq!(errors.len(), 1, "{said}");
            assert!(errors[0].starts_with("gramer: "), "{said}");
            let memory = errors[0].contains("not enough memory") && errors[0].contains("limit");
            let threads = errors[0].contains("refused a thread") && errors[0].contains("limit");
            assert!(memory || threads, "{said}");
            None
        }
        _ => panic!("{said}"),
    }
}

/// Runs `work` on all pairs of cases and limits, on two threads.
fn each(limits: &[u64], work: impl Fn(usize, u64) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= CASES.len() * limits.len() {
                        break;
                    }
                    work(at / limits.len(), limits[at % limits.len()]);
                }
            });
        }
    });
}

/// The least memory, in MB, in which the program starts.
fn least(resource: Resource) -> u64 {
    (1..512)
        .find(|&most| {
            let mut command = gramer();
            limited(command.arg("--version"), resource, most * MB);
            command.output().is_ok_and(|done| done.status.success())
        })
        .expect("it starts with 512 MB")
}

#[test]
fn little_memory_is_an_answer_or_one_line() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path());
    let whole: Vec<_> =
        CASES.iter().map(|case| outcome(case, folder.path(), |_| {}).unwrap()).collect();
    for resource in [Resource::As, Resource::Data] {
        let base = least(resource);
        let (answers, found) = (AtomicUsize::new(0), Mutex::new(vec![]));
        each(if all() { ALL } else { SOME }, |at, more| {
            let (case, most) = (CASES[at], (base + more) * MB);
            let answer = outcome(case, folder.path(), |command| limited(command, resource, most));
            found.lock().unwrap().push((at, more, answer.is_some()));
            if let Some(answer) = answer {
                assert!(answer == whole[at], "{case} with {more} MB more than {base}");
                answers.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Not all are refused, nor all answered.
        let (answers, mut found) = (answers.into_inner(), found.into_inner().unwrap());
        assert!(answers > CASES.len() && answers < found.len(), "{answers} of {}", found.len());
        // More memory may start a further thread, which needs more of it than was added.
        found.sort();
        for pair in found.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            if pair[0].2 && !pair[1].2 {
                let (case, less, more) = (CASES[pair[0].0], pair[0].1, pair[1].1);
                println!("{resource:?}: {case}: an answer with {less} MB, none with {more}");
            }
        }
    }
}

/// Makes the child run as the user `nobody` with a limit of threads.
fn with_threads(command: &mut Command, most: u64) {
    if getuid().is_root() {
        command.uid(65534).gid(65534);
    }
    limited(command, Resource::Nproc, most);
}

#[test]
fn a_run_goes_on_with_the_threads_that_it_gets() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let mut start = gramer();
    with_threads(start.arg("--version").current_dir(folder.path()), 1);
    if !start.output().is_ok_and(|done| done.status.success()) {
        println!("SKIPPED: the user nobody cannot start the program in this folder");
        return;
    }
    inputs(folder.path());
    for case in CASES.iter().step_by(if all() { 1 } else { 3 }) {
        let whole = outcome(case, folder.path(), |_| {}).unwrap();
        let found = outcome(case, folder.path(), |command| with_threads(command, 1));
        // Devices that work together, or for a checkpoint, need a thread each.
        let needs = case.contains("cpu,cpu") || case.contains("--checkpoint");
        assert!(found.map_or(needs, |found| found == whole), "{case}");
    }
    let mut command = gramer();
    command.args(["mine", "motif", "-k", "4", "--threads", "7", "g.gramer"]);
    with_threads(command.current_dir(folder.path()), 1);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("warning: the system gave 1 of 7 threads"), "{said}");
    assert!(said.contains("use fewer with --threads"), "{said}");
}

#[test]
fn a_thousand_threads_in_little_address_space() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path());
    for most in [500, 4_000] {
        let case = "mine motif -k 4 --json g.gramer";
        let whole = outcome(case, folder.path(), |_| {});
        let many = format!("{case} --threads 1000");
        let limit = |command: &mut Command| limited(command, Resource::As, most * MB);
        let found = outcome(&many, folder.path(), limit);
        assert!(found.is_none() || found == whole);
    }
}

#[test]
fn a_refusal_names_size_phase_and_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path());
    let said = (least(Resource::As)..2000).step_by(2).find_map(|most| {
        let mut command = gramer();
        command.args(["mine", "motif", "-k", "5", "g.gramer"]).current_dir(folder.path());
        limited(&mut command, Resource::As, most * MB);
        let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
        said.contains("while mining on the CPU").then_some(said)
    });
    let said = said.expect("mining is refused memory at some limit");
    assert!(said.starts_with("gramer: not enough memory: "), "{said}");
    assert!(
        said.contains("iB were refused while mining on the CPU; use fewer --threads"),
        "{said}"
    );
}

/// PoCL, which ends the process where it is refused memory at its start, is not opened without room for it.
#[test]
fn a_driver_without_address_space_is_refused_with_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    inputs(folder.path());
    let run = |most: Option<u64>| {
        let mut command = gramer();
        let words = ["mine", "clique", "-k", "4", "--device", "gpu:portable", "--json", "g.gramer"];
        command.args(words).current_dir(folder.path());
        command.env("POCL_CACHE_DIR", folder.path().join("pocl"));
        if let Some(most) = most {
            limited(&mut command, Resource::As, most * MB);
        }
        command.output().unwrap()
    };
    let whole = run(None);
    if !whole.status.success() {
        let said = String::from_utf8_lossy(&whole.stderr);
        assert!(said.contains("no OpenCL driver for the processor was found"), "{said}");
        println!("SKIPPED: PoCL is not installed");
        return;
    }
    let results = |output: &Output| {
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["results"].to_string()
    };
    let (mut refused, mut answers) = (0, 0);
    let step = if all() { 4 } else { 20 };
    for most in (least(Resource::As) + 40..640).step_by(step) {
        let output = run(Some(most));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), None, "{most} MB: {stderr}");
        if output.status.success() {
            assert_eq!(results(&output), results(&whole), "{most} MB");
            answers += 1;
        } else {
            assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
            assert!(
                stderr.starts_with("gramer: ") && stderr.contains("limit"),
                "{most} MB: {stderr}"
            );
            refused += u64::from(stderr.contains("OpenCL: no driver is opened in"));
        }
    }
    // On a machine of many processors the driver needs more than the largest limit here.
    assert!(refused > 0 && (answers > 0 || refused > 10), "{refused} refused, {answers} answered");
}

/// An emulation consists of several programs, also third-party ones, which fail in different ways.
#[test]
fn an_emulated_device_without_room_or_processes_is_an_answer_or_one_line() {
    let emulator = gramer::accelerator::xclbin::build::find_emulator().map_err(|e| e.to_string());
    if let Err(missing) = emulator.and_then(|_| environment::runtime()) {
        return environment::skip(environment::XRT, &missing);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    inputs(folder.path());
    let run = |device: &str, limit: &dyn Fn(&mut Command)| {
        let mut command = gramer();
        let words = ["mine", "clique", "-k", "3", "--json", "small.gramer", "--device", device];
        command.args(words).current_dir(folder.path()).env("TMPDIR", folder.path());
        limit(&mut command);
        command.output().unwrap()
    };
    let results = |output: &Output| {
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["results"].to_string()
    };
    let (few, many): (&[u64], &[u64]) = (&[48, 400], &[16, 48, 96, 160, 240, 400, 800, 1600]);
    let beyond = if all() { many } else { few };
    for device in ["emulator:small", "emulator:set-small"] {
        // Its model is built without a limit.
        let whole = run(device, &|_| {});
        assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
        let (mut refused, mut answers) = (0, 0);
        let mut check = |what: &str, output: Output| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let said = format!("{device}, {what}: {:?}: {stderr}", output.status);
            for word in ["panicked", "bug in gramer", "RUST_BACKTRACE", "terminate called"] {
                assert!(!stderr.contains(word), "{said}");
            }
            match output.status.code() {
                Some(0) => {
                    assert_eq!(results(&output), results(&whole), "{said}");
                    answers += 1;
                }
                Some(1) => {
                    // Who has no model of the machine begins to build one.
                    let other = |line: &&str| {
                        !line.contains(": warning: ") && !line.starts_with("building the model")
                    };
                    let errors: Vec<&str> = stderr.lines().filter(other).collect();
                    assert_eq!(errors.len(), 1, "{said}");
                    assert!(errors[0].starts_with("gramer: "), "{said}");
                    // A user who can't read this one's models has nowhere to build one.
                    let reasons = ["limit", "could not build the model"];
                    assert!(reasons.iter().any(|word| errors[0].contains(word)), "{said}");
                    refused += 1;
                }
                _ => panic!("{said}"),
            }
        };
        for resource in [Resource::As, Resource::Data] {
            let base = least(resource);
            for more in beyond {
                let limit = |command: &mut Command| limited(command, resource, (base + more) * MB);
                check(&format!("{resource:?} {more} MB more"), run(device, &limit));
            }
        }
        let mut start = gramer();
        with_threads(start.arg("--version").current_dir(folder.path()), 1);
        let starts = start.output().is_ok_and(|done| done.status.success());
        let processes: &[u64] = match (starts, all()) {
            (false, _) => &[],
            (true, true) => &[1, 4, 8, 16, 24],
            (true, false) => &[4],
        };
        for most in processes {
            let limit = |command: &mut Command| with_threads(command, *most);
            check(&format!("{most} processes"), run(device, &limit));
        }
        assert!(refused > 0, "{device}: nothing was refused");
        println!("{device}: {answers} answers, {refused} refusals");
    }
}

//! End to end through the unmodified Xilinx Runtime: the command line mines on an emulated device
//! and must answer what the CPU engine answers.
//!
//! The tests need the Xilinx Runtime (`scripts/setup-xrt.sh`) and the emulator (`cargo build -p
//! gramer-sim --bin gramer-emulator`, or its path in `GRAMER_EMULATOR`). Without them they say so
//! and pass, unless `GRAMER_REQUIRE_XRT=1`. They set the runtime up by themselves, in a folder of
//! their own, so that nothing but the runtime lies between the two.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use environment::root;
use gramer_testing::environment;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

/// What the device measured.
fn metric<'a>(found: &'a Value, name: &str) -> &'a Value {
    &found["devices"][0]["metrics"][name]["value"]
}

/// Longest that any command here may take.
const LIMIT: Duration = Duration::from_secs(240);

/// What the tests share: the environment of the runtime, and xclbins as they are built.
struct Emulation {
    folder: tempfile::TempDir,
    emulator: PathBuf,
}

impl Emulation {
    /// The environment, or `None` where runtime or emulator are missing.
    fn get() -> Option<&'static Self> {
        static ONE: OnceLock<Result<Emulation, String>> = OnceLock::new();
        let made = ONE.get_or_init(Self::new).as_ref();
        // Each test says by itself that it is skipped.
        made.map_err(|missing| environment::skip(environment::XRT, missing)).ok()
    }

    fn new() -> Result<Self, String> {
        let emulator =
            gramer::accelerator::xclbin::build::find_emulator().map_err(|e| e.to_string())?;
        let libraries = environment::runtime()?;
        // Long names don't fit into the address of a socket.
        let folder = tempfile::Builder::new().prefix("gxt").tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("icd")).unwrap();
        fs::write(at("icd/xilinx.icd"), format!("{}/libxilinxopencl.so.2\n", libraries.display()))
            .unwrap();
        fs::create_dir_all(at("xrt")).unwrap();
        std::os::unix::fs::symlink(libraries, at("xrt/lib")).unwrap();
        let bank = r#"{"Size":"16GB"}"#;
        let device =
            format!(r#"{{"Name":"xilinx_u250_sim_1","DdrBanks":[{}]}}"#, [bank; 4].join(","));
        for (file, devices) in [("emconfig.json", 1), ("two/emconfig.json", 2)] {
            let devices = vec![device.as_str(); devices].join(",");
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            let text = format!(
                r#"{{"Version":{{"FileVersion":"2.0"}},"Platform":{{"Boards":[{{"Devices":[{devices}]}}]}}}}"#
            );
            fs::write(at(file), text).unwrap();
        }
        // The pad keeps the runtime's buffer for calls from growing, which it does wrongly.
        let ini = format!(
            "[Runtime]\nkds=false\ncdma=false\n[Emulation]\npacket_size=1048576\n[Debug]\nzpad={}\n",
            "x".repeat(1_100_000)
        );
        fs::write(at("xrt.ini"), ini).unwrap();
        // The runtime sleeps for seconds where nothing has to be waited for. Its thread that looks after a
        // device does nothing else in a loop: without a nap it takes a processor.
        let sleep = "#include <time.h>\n\
                     unsigned sleep(unsigned s) {\n  \
                     const struct timespec nap = {0, 1000000};\n  \
                     (void)s;\n  nanosleep(&nap, 0);\n  return 0;\n}\n";
        fs::write(at("sleep.c"), sleep).unwrap();
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(at("sleep.so"))
            .arg(at("sleep.c"))
            .output()
            .map_err(|e| format!("there is no C compiler: {e}"))?;
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Ok(Emulation { folder, emulator })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The xclbin of a machine, built when it is first asked for. With
    /// `GRAMER_TEST_FUNCTIONAL=1` the functional model answers instead of the simulated core.
    fn xclbin(&self, machine: &Path, compute_units: u32) -> PathBuf {
        static BUILDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let name = machine.file_stem().unwrap().to_str().unwrap();
        let path = self.path(&format!("{name}-{compute_units}.xclbin"));
        if path.exists() {
            return path;
        }
        let mut build = Command::new(env!("CARGO_BIN_EXE_gramer"));
        build
            .env("GRAMER_EMULATOR", &self.emulator)
            .args(["xclbin", "build", "--machine"])
            .arg(machine)
            .args(["--compute-units", &compute_units.to_string()])
            .arg("-o")
            .arg(&path);
        if std::env::var("GRAMER_TEST_FUNCTIONAL").as_deref() == Ok("1") {
            build.arg("--functional");
        }
        let output = build.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path
    }

    fn small(&self, compute_units: u32) -> PathBuf {
        self.xclbin(&root().join("machines/small.yaml"), compute_units)
    }

    /// The command line with the runtime's environment, in its own session: after a crash the
    /// runtime signals its whole process group.
    fn gramer(&self) -> Command {
        self.with_runtime(Command::new(env!("CARGO_BIN_EXE_gramer")))
    }

    /// A command with the runtime's environment, as [`Emulation::gramer`].
    fn with_runtime(&self, mut command: Command) -> Command {
        command
            .current_dir(self.folder.path())
            .env("OCL_ICD_VENDORS", self.path("icd"))
            .env("XILINX_XRT", self.path("xrt"))
            .env("EMCONFIG_PATH", self.folder.path())
            .env("XRT_INI_PATH", self.path("xrt.ini"))
            .env("XCL_EMULATION_MODE", "hw_emu")
            .env("USER", std::env::var("USER").unwrap_or_else(|_| "root".into()))
            .env("LD_PRELOAD", self.path("sleep.so"))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Mines with JSON results on a device.
    fn mine(&self, device: &Path, words: &[&str]) -> Value {
        let output = run(self
            .gramer()
            .args(["mine"])
            .args(words)
            .arg("--device")
            .arg(device)
            .args(["--output", "json"]));
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{words:?}: {out}\n{err}");
        answer(&out)
    }
}

/// The JSON object in an output to which the runtime may have added lines.
fn answer(out: &str) -> Value {
    let start = out.find("{\n").unwrap_or_else(|| panic!("no JSON in: {out}"));
    let end = out.rfind("\n}").unwrap_or_else(|| panic!("no JSON in: {out}")) + 2;
    serde_json::from_str(&out[start..end]).unwrap_or_else(|e| panic!("{e} in: {out}"))
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Runs a command to its end; one that takes too long is killed with its group.
fn run(command: &mut Command) -> Output {
    finish(command.spawn().unwrap())
}

fn finish(mut child: Child) -> Output {
    let begun = Instant::now();
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = vec![];
            let _ = pipe.map(|mut p| p.read_to_end(&mut bytes));
            bytes
        })
    };
    let out = reader(child.stdout.take().map(|p| Box::new(p) as _));
    let err = reader(child.stderr.take().map(|p| Box::new(p) as _));
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > LIMIT {
            let waits = waits_of(child.id());
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let said = [out, err].map(|pipe| String::from_utf8(pipe.join().unwrap()));
            panic!(
                "a command took longer than {LIMIT:?}; its threads wait in {waits:?}; it said {said:?}"
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

/// The threads of a process by name, with the calls in which they wait.
fn waits_of(process: u32) -> Vec<String> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return vec![] };
    let of = |thread: fs::DirEntry, file| fs::read_to_string(thread.path().join(file));
    let threads = threads.flatten().map(|thread| {
        let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        format!("{} {}", name.trim(), of(thread, "syscall").unwrap_or_default())
    });
    threads.collect()
}

/// Mines on the CPU.
fn cpu(words: &[&str], folder: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gramer"))
        .current_dir(folder)
        .arg("mine")
        .args(words)
        .args(["--output", "json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A random graph in the shared folder, made once.
fn graph(e: &Emulation, name: &str, words: &[&str]) -> String {
    static MAKING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = MAKING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !e.path(name).exists() {
        let made = Command::new(env!("CARGO_BIN_EXE_gramer"))
            .current_dir(e.folder.path())
            .args(["graph", "generate"])
            .args(words)
            .arg(name)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    name.to_string()
}

fn rmat(e: &Emulation) -> String {
    graph(e, "rmat7.gramer", &["rmat", "--scale", "7", "--edge-factor", "5", "--seed", "3"])
}

/// One whose motifs of four vertices take a few seconds on the simulated core.
fn few(e: &Emulation) -> String {
    graph(e, "rmat6.gramer", &["rmat", "--scale", "6", "--edge-factor", "5", "--seed", "3"])
}

#[test]
fn every_application_is_right_on_one_and_two_compute_units() {
    let Some(e) = Emulation::get() else { return };
    for compute_units in [1, 2] {
        let device = e.small(compute_units);
        let output = run(e.gramer().args(["selftest", "--mib", "1", "--device"]).arg(&device));
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{out}\n{err}");
        assert!(out.contains("45 tests passed"), "{out}");
        // A speed for each of the two banks.
        assert_eq!(out.lines().filter(|l| l.contains(".xclbin@0 (xilinx_u250_sim_1)")).count(), 2);
    }
}

#[test]
fn work_cut_into_runs_and_shared_by_two_compute_units_sums_to_the_same() {
    let Some(e) = Emulation::get() else { return };
    let graph = few(e);
    let words = ["motif", "-k", "4", &graph];
    let expected = cpu(&words, e.folder.path());
    for (compute_units, runs) in [(1, 1), (1, 7), (2, 9)] {
        let cut = ["motif", "-k", "4", &graph, "--set", &format!("runs={runs}")];
        let found = e.mine(&e.small(compute_units), &cut);
        assert_eq!(found["results"], expected["results"]);
        assert_eq!((&found["complete"], &found["total"]), (&true.into(), &expected["total"]));
        let metric = |name| metric(&found, name);
        assert_eq!(metric("run.runs"), &runs);
        assert_eq!(metric("device.compute_units"), &compute_units);
        let share = metric("transfer.share").as_f64().unwrap();
        assert!(share > 0.0 && share < 1.0, "{share}");
    }
}

/// Two cards, each with its own emulator, take ranges of the same task.
#[test]
fn two_devices_share_the_work() {
    let Some(e) = Emulation::get() else { return };
    let graph = few(e);
    let words = ["motif", "-k", "4", &graph];
    let expected = cpu(&words, e.folder.path());
    let device = format!("{}@0,1", e.small(1).display());
    let mut command = e.gramer();
    command.env("EMCONFIG_PATH", e.path("two")).arg("mine").args(words);
    let output = run(command.args(["--set", "runs=8", "--output", "json", "--device", &device]));
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{out}\n{err}");
    let found = answer(&out);
    assert_eq!(found["results"], expected["results"]);
    let metric = |name| metric(&found, name);
    assert_eq!((metric("run.runs"), metric("device.compute_units")), (&8.into(), &2.into()));
}

#[test]
fn a_result_area_that_fills_up_loses_and_repeats_nothing() {
    let Some(e) = Emulation::get() else { return };
    let graph = rmat(e);
    let embeddings = |words: &[&str], device: Option<&Path>| {
        let list = e.path(&format!("list-{}.tsv", device.is_some()));
        let list = list.to_str().unwrap();
        let mut all = words.to_vec();
        all.extend(["--list", list]);
        let found = match device {
            Some(device) => e.mine(device, &all),
            None => cpu(&all, e.folder.path()),
        };
        let text = fs::read_to_string(list).unwrap();
        let mut lines: Vec<Vec<String>> = text
            .lines()
            .map(|line| {
                let mut words: Vec<String> = line.split('\t').map(str::to_string).collect();
                words[1..].sort();
                words
            })
            .collect();
        lines.sort();
        (found["results"].clone(), lines, metric(&found, "run.runs").as_u64())
    };
    let words = ["motif", "-k", "3", &graph];
    let expected = embeddings(&words, None);
    // 64 records an area, so that it is full again and again, also within one unit.
    let cut = ["motif", "-k", "3", &graph, "--set", "result_beats=32"];
    let found = embeddings(&cut, Some(&e.small(2)));
    assert_eq!(found.0, expected.0);
    assert!(found.1 == expected.1, "{} and {} lines", found.1.len(), expected.1.len());
    assert!(found.2 > Some(20), "{:?} runs", found.2);
}

#[test]
fn a_graph_is_spread_over_banks_and_one_too_large_is_refused_before_the_start() {
    let Some(e) = Emulation::get() else { return };
    let machine = e.path("banks.yaml");
    let base = root().join("machines/small.yaml");
    // By another name it would be another model, which takes long to build.
    let text = format!("base: {}\nmemory: {{bank_bytes: 524288}}\n", base.display());
    fs::write(&machine, text).unwrap();
    let device = e.xclbin(&machine, 1);
    // 24 bytes per vertex: 750 KB, which neither bank holds alone, and 1.26 MB, which both don't hold.
    for (vertices, fits) in [(31_250u32, true), (52_500, false)] {
        let name = format!("path{vertices}.txt");
        let edges: Vec<String> = (1..vertices).map(|v| format!("{} {v}\n", v - 1)).collect();
        fs::write(e.path(&name), edges.concat()).unwrap();
        let words = ["clique", "-k", "3", &name];
        if fits {
            let found = e.mine(&device, &words);
            assert_eq!((&found["total"], &found["complete"]), (&0.into(), &true.into()));
            continue;
        }
        let output = run(e.gramer().arg("mine").args(words).arg("--device").arg(&device));
        let (_, err) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("the graph needs 615.3 KiB in memory bank 0, but a bank"), "{err}");
        assert!(err.contains("use the CPU engine (--device cpu)"), "{err}");
    }
}

#[test]
fn limits_are_named_with_the_engine_that_can() {
    let Some(e) = Emulation::get() else { return };
    let labelled = graph(
        e,
        "labels.gramer",
        &["er", "--vertices", "60", "--edges", "150", "--seed", "1", "--vertex-labels", "20"],
    );
    let device = e.small(1);
    for (words, part) in [
        (vec!["motif", "-k", "6"], "takes motifs of 3 to 5, not 6"),
        (vec!["motif", "-k", "3", "--induced", "edge"], "counts no edge-induced occurrences"),
        (vec!["clique", "--maximal"], "has no method for this task"),
        (vec!["match", "--pattern", "triangle"], "has no method for this task"),
        (vec!["fsm", "--support", "3"], "vertex labels, and machine small has room for 4"),
    ] {
        let mut command = e.gramer();
        let output =
            run(command.arg("mine").args(&words).arg(&labelled).arg("--device").arg(&device));
        let (_, err) = texts(&output);
        // The number of labels is known once the graph is read.
        let code = if words[0] == "fsm" { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{words:?}: {err}");
        assert!(err.contains(part) && err.contains("--device cpu"), "{words:?}: {err}");
    }
}

#[test]
fn damaged_files_and_other_platforms_are_named() {
    let Some(e) = Emulation::get() else { return };
    let graph = rmat(e);
    let good = fs::read(e.small(1)).unwrap();
    let refused = |name: &str, bytes: &[u8], part: &str| {
        fs::write(e.path(name), bytes).unwrap();
        let words = ["mine", "clique", "-k", "3", &graph, "--device", name];
        let output = run(e.gramer().args(words));
        let (_, err) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {err}");
        assert!(err.contains(part), "{name}: {err}");
    };
    refused("short.xclbin", &good[..good.len() / 2], "truncated");
    let mut other = good.clone();
    other[..8].copy_from_slice(b"xclbin9\0");
    refused("version.xclbin", &other, "another version of the format");
    let mut other = good.clone();
    other[304 + 48..304 + 48 + 9].copy_from_slice(b"other_abc");
    refused("platform.xclbin", &other, "it is for other_abc");
    let mut x = gramer::accelerator::xclbin::Xclbin::parse(&good, Path::new("x")).unwrap();
    for kind in [2, 6, 7, 8, 16] {
        let mut less = x.clone();
        less.sections.retain(|s| s.kind != kind);
        let name = gramer::accelerator::xclbin::describe(kind);
        refused("section.xclbin", &less.to_bytes(), &name);
    }
    x.mode = gramer::accelerator::xclbin::Mode(0);
    refused(
        "card.xclbin",
        &x.to_bytes(),
        "(card), but the device xilinx_u250_sim_1 is an emulation",
    );

    let words = ["mine", "clique", "-k", "3", &graph, "--device", "short.xclbin@7"];
    fs::write(e.path("short.xclbin"), &good).unwrap();
    let output = run(e.gramer().args(words));
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("there is no device 7: 1 were found, counted from 0"), "{err}");
}

#[test]
fn a_run_that_is_stopped_says_what_was_found_and_is_continued_to_the_right_total() {
    let Some(e) = Emulation::get() else { return };
    // How large a graph must be to be stopped in the middle depends on the model's speed.
    for scale in ["7", "9", "11", "13", "15"] {
        let words = ["rmat", "--scale", scale, "--edge-factor", "5", "--seed", "3"];
        let graph = graph(e, &format!("rmat{scale}.gramer"), &words);
        if stopped_and_continued(e, &graph) > 0 {
            return;
        }
    }
    panic!("no run took long enough to be stopped");
}

/// Stops a run up to four times, checks the total in the end, and says how often it was stopped.
fn stopped_and_continued(e: &Emulation, graph: &str) -> u32 {
    let words = ["motif", "-k", "4", graph];
    let expected = cpu(&words, e.folder.path());
    let saved = e.path("stopped.json");
    let mut stops = 0;
    loop {
        let mut command = e.gramer();
        command.arg("mine").args(words).args(["--output", "json", "--checkpoint"]);
        let number = || fs::metadata(&saved).map(|file| file.ino()).ok();
        let before = number();
        let mut child = command.arg(&saved).arg("--device").arg(e.small(1)).spawn().unwrap();
        let mut begun = None;
        if stops < 4 {
            // A run rewrites its checkpoint when it begins to mine.
            let started = Instant::now();
            while number() == before && child.try_wait().unwrap().is_none() {
                assert!(started.elapsed() < LIMIT, "the device doesn't come up");
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(1000));
            hears_of_stops(child.id());
            begun = Some(Instant::now());
            // Once it has ended there is nothing to stop. While the runtime unpacks the binary it
            // ignores INT, in the whole process (`system`).
            let _ = kill_process(Pid::from_child(&child), Signal::TERM);
        }
        let output = finish(child);
        let (out, err) = texts(&output);
        let found = answer(&out);
        if output.status.success() {
            assert_eq!(found["results"], expected["results"]);
            assert_eq!(found["complete"], true);
            assert!(!saved.exists());
            return stops;
        }
        stops += 1;
        assert_eq!(output.status.code(), Some(143), "{out}\n{err}");
        assert_eq!((&found["complete"], &found["stopped"]), (&false.into(), &"interrupt".into()));
        // What a stop near the end leaves undone may have no embedding.
        assert!(found["total"].as_u64() <= expected["total"].as_u64());
        assert!(saved.exists());
        let took = begun.map(|b| b.elapsed());
        assert!(took < Some(Duration::from_secs(20)), "{took:?}");
    }
}

/// Waits until a program has its own way with SIGTERM, or has ended: a busy machine may take longer
/// to start it than it is left alone.
fn hears_of_stops(id: u32) {
    let term = 1_u64 << (Signal::TERM.as_raw() - 1);
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let Some(caught) = caught.filter(|_| !status.contains("State:\tZ")) else { return };
        if u64::from_str_radix(caught.trim(), 16).unwrap() & term != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the program doesn't listen to SIGTERM");
}

/// An xclbin of ours is an ordinary one: a plain C program drives it.
#[test]
fn a_plain_c_program_drives_the_same_xclbin() {
    let Some(e) = Emulation::get() else { return };
    let program = e.path("gramer_opencl");
    let compiled = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(root().join("tests/gramer_opencl.c"))
        .arg("-lOpenCL")
        .output()
        .unwrap();
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        let missing = format!("OpenCL's headers aren't installed (scripts/setup-xrt.sh): {said}");
        return environment::skip(environment::XRT, &missing);
    }
    for (machine, banks) in [(e.small(1), "2"), (e.small(2), "2")] {
        let output = run(e.with_runtime(Command::new(&program)).arg(machine).arg(banks));
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{out}\n{err}");
        assert!(out.contains("status 0, triangles 4"), "{out}");
    }
}

#[test]
fn devices_are_listed_and_what_is_missing_is_named() {
    let list = |command: &mut Command| -> Value {
        let output = run(command.args(["devices", "--json"]));
        assert!(output.status.success(), "{}", texts(&output).1);
        answer(&texts(&output).0)
    };
    // A loader that knows no platform, or no loader at all.
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
    command.env("OCL_ICD_VENDORS", folder.path()).env_remove("XCL_EMULATION_MODE");
    let found = list(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(found["opencl"], Value::Array(vec![]));
    let missing = found["missing"][0].clone();
    let text = format!("{} {}", missing["what"], missing["remedy"]);
    assert!(text.contains("Xilinx Runtime") || text.contains("ocl-icd-libopencl1"), "{text}");
    assert!(found["cpu"]["threads"].as_u64() > Some(0));

    let Some(e) = Emulation::get() else { return };
    let found = list(&mut e.gramer());
    let device = &found["opencl"][0];
    assert_eq!((&device["index"], &device["emulated"]), (&0.into(), &true.into()));
    assert_eq!(device["name"], "xilinx_u250_sim_1");
}

/// The program must start where there is no OpenCL: it opens the library when it is needed.
#[test]
fn the_program_does_not_need_the_library_to_start() {
    let output = match Command::new("readelf").arg("-d").arg(env!("CARGO_BIN_EXE_gramer")).output()
    {
        Ok(output) => output,
        Err(e) => {
            return environment::skip_here(&format!("no readelf: {e}"));
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let needed: Vec<&str> = text.lines().filter(|l| l.contains("(NEEDED)")).collect();
    assert!(needed.iter().any(|l| l.contains("libc.so")), "{text}");
    assert!(!needed.iter().any(|l| l.contains("OpenCL") || l.contains("xilinx")), "{needed:?}");
}

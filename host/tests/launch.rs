//! `--device emulator`: the launcher sets everything up, watches, and leaves nothing behind.
//!
//! The tests need what `tests/opencl.rs` needs, and Verilator for the model of the core.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The small machine, simulated; `None` where something is missing.
fn device() -> Option<String> {
    let runtime = ["/opt/xilinx/xrt/lib", "/usr/lib/x86_64-linux-gnu"]
        .iter()
        .any(|f| Path::new(f).join("libxrt_hwemu.so.2").exists());
    let missing = match gramer::xclbin::build::find_emulator() {
        Err(e) => e.to_string(),
        Ok(_) if !runtime => "the Xilinx Runtime (scripts/setup-xrt.sh) isn't installed".into(),
        Ok(_) if Command::new("verilator").arg("--version").output().is_err() => {
            "there is no verilator (scripts/setup-rtl.sh)".into()
        }
        Ok(_) => return Some(format!("emulator:{}", root().join("machines/small.yaml").display())),
    };
    let required = std::env::var("GRAMER_REQUIRE_XRT").as_deref() == Ok("1");
    assert!(!required, "GRAMER_REQUIRE_XRT=1, but {missing}");
    eprintln!("skipped: {missing}");
    None
}

fn gramer(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A graph, and one that takes minutes to count 5-vertex motifs in.
fn graphs(folder: &Path) -> (String, String) {
    let make = |name: &str, scale: &str, factor: &str| {
        let path = folder.join(name).to_str().unwrap().to_string();
        let words = ["graph", "generate", "rmat", "--scale", scale, "--edge-factor", factor];
        let made = gramer(&words).args(["--seed", "1", &path]).output().unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
        path
    };
    (make("small.gramer", "7", "5"), make("large.gramer", "11", "16"))
}

/// What an emulation has in the system: its folder in /tmp and the processes that name it.
fn left(child: u32) -> Vec<String> {
    let mut found = vec![];
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let mark = format!("GRAMER_LAUNCH_TEST={child}\0");
        if environment.windows(mark.len()).any(|w| w == mark.as_bytes()) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if !line.is_empty() {
                found.push(text(&line).replace('\0', " "));
            }
        }
    }
    found
}

/// A number that no other test of this run has.
fn mark() -> u32 {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    std::process::id() * 100 + NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Starts a long run and waits until its emulator runs; gives the process, its folder and its mark.
#[allow(clippy::zombie_processes)] // `end` waits for it
fn start(device: &str, graph: &str) -> (Child, PathBuf, u32) {
    let mark = mark();
    let words = ["mine", "motif", "-k", "5", graph, "--device", device, "--output", "json"];
    let mut child = gramer(&words).env("GRAMER_LAUNCH_TEST", mark.to_string()).spawn().unwrap();
    let begun = Instant::now();
    loop {
        let folder = left(mark).iter().find_map(|line| {
            let at = line.find("/tmp/gramer-")?;
            Some(PathBuf::from(line[at..].split(['/', ' ']).take(3).collect::<Vec<_>>().join("/")))
        });
        if let Some(folder) = folder
            && folder.join("emulator.pid").exists()
        {
            // The runtime needs a moment to reach the kernels.
            std::thread::sleep(Duration::from_secs(1));
            return (child, folder, mark);
        }
        if begun.elapsed() > Duration::from_secs(400) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("no emulator was started");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for the end, which must come soon, and checks that nothing is left.
fn end(child: Child, folder: &Path, mark: u32, limit: Duration) -> Output {
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    assert!(took < limit, "{took:?}: {}", text(&output.stderr));
    assert!(!folder.exists(), "{} is left", folder.display());
    assert_eq!(left(mark), Vec::<String>::new(), "processes are left");
    output
}

fn kill(signal: &str, pid: &str) {
    assert!(Command::new("kill").args([signal, pid]).status().unwrap().success());
}

#[test]
fn results_are_clean_and_equal_two_at_a_time() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let words = ["mine", "motif", "-k", "3", &graph, "--output", "json"];
    let expected = gramer(&words).output().unwrap();
    let expected: Value = serde_json::from_slice(&expected.stdout).unwrap();
    let start = || gramer(&words).args(["--device", &device]).spawn().unwrap();
    let (one, two) = (start(), start());
    let mut cycles = vec![];
    for child in [one, two] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        // Nothing but the answer is on standard output.
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["results"], expected["results"]);
        assert_eq!(found["device"], device.as_str());
        cycles.push(found["accelerator"]["cycles"].as_u64().unwrap());
    }
    assert!(cycles[0] > 0 && cycles[0] == cycles[1], "{cycles:?}");
}

#[test]
fn a_failure_of_the_child_is_the_launcher_s() {
    let Some(device) = device() else { return };
    let output = gramer(&["mine", "motif", "-k", "6", "none.txt", "--device", &device]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("up to 5 vertices, and k is 6"));
    let output = gramer(&["mine", "motif", "-k", "3", "none.txt", "--device", "emulator:no.yaml"]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no.yaml: cannot read"), "{}", text(&output.stderr));
}

#[test]
fn a_killed_emulator_or_child_ends_the_run_with_a_reason() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(graphs_folder.path());
    let (child, folder, mark) = start(&device, &graph);
    let emulator = std::fs::read_to_string(folder.join("emulator.pid")).unwrap();
    kill("-KILL", emulator.trim());
    let output = end(child, &folder, mark, Duration::from_secs(5));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the emulator ended before it") || said.contains("failed"), "{said}");

    let (child, folder, mark) = start(&device, &graph);
    let own = std::fs::read_dir("/proc").unwrap().flatten().find(|p| {
        std::fs::read_link(p.path().join("exe")).is_ok_and(|exe| exe == folder.join("gramer"))
    });
    kill("-SEGV", own.unwrap().file_name().to_str().unwrap());
    let output = end(child, &folder, mark, Duration::from_secs(5));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the emulated run was ended by signal 11"), "{said}");
}

#[test]
fn ctrl_c_is_passed_on() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(graphs_folder.path());
    let (child, folder, mark) = start(&device, &graph);
    kill("-INT", &child.id().to_string());
    let output = end(child, &folder, mark, Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["complete"], &found["stopped"]), (&false.into(), &"interrupt".into()));
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(graphs_folder.path());
    let (child, folder, mark) = start(&device, &graph);
    kill("-INT", &child.id().to_string());
    std::thread::sleep(Duration::from_millis(50));
    kill("-TERM", &child.id().to_string());
    let output = end(child, &folder, mark, Duration::from_secs(5));
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
}

#[test]
fn what_is_missing_is_named() {
    if device().is_none() {
        return;
    }
    let words = ["mine", "clique", "-k", "3", "none.txt", "--device", "emulator"];
    let output = gramer(&words).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("needs the program unzip: apt-get install unzip"), "{said}");
    let output = gramer(&words).env("GRAMER_EMULATOR", "/nowhere").output().unwrap();
    assert!(text(&output.stderr).contains("there is no such file"));
    assert_eq!(output.status.code(), Some(1));
}

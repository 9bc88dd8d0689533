//! Devices as people meet them: graphs without edges on each, reasons for those that aren't there, and programs that are
//! never run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gramer_testing::environment;
use serde_json::Value;

fn gramer() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gramer"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Why a device isn't there, if it isn't.
fn missing(device: &str) -> Option<String> {
    if device.starts_with("emulator") {
        let emulator = gramer::accelerator::xclbin::build::find_emulator();
        return emulator.map_err(|e| e.to_string()).and_then(|_| environment::runtime()).err();
    }
    let listed = gramer().args(["devices", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let gpus = listed["gpus"].as_array().unwrap();
    let portable = gpus.iter().any(|gpu| gpu["kind"] == "cpu");
    (device.starts_with("gpu") && !portable)
        .then(|| "there is no OpenCL driver for the processor".into())
}

fn has(device: &str) -> bool {
    let missing = missing(device);
    if let Some(missing) = &missing {
        let kind = if device.starts_with("gpu") { environment::OPENCL } else { environment::XRT };
        environment::skip(kind, missing);
    }
    missing.is_none()
}

/// Graphs without edges: no line, only loops, and an image of isolated vertices.
fn edgeless(folder: &Path) -> Vec<PathBuf> {
    let at = |name: &str| folder.join(name);
    fs::write(at("loops.txt"), "5 5\n7 7\n").unwrap();
    fs::write(at("isolated.lg"), "t # 0\nv 0 1\nv 1 2\nv 2 1\n").unwrap();
    vec![at("loops.txt"), at("isolated.lg")]
}

/// What a device answers, or that it doesn't do the task.
fn answer(device: &str, graph: &Path, task: &str) -> Option<Value> {
    let output = gramer()
        .arg("mine")
        .args(task.split(' '))
        .arg(graph)
        .args(["--json", "--device", device])
        .output()
        .unwrap();
    let said = said(&output);
    if matches!(output.status.code(), Some(1 | 2)) && said.contains("--device cpu") {
        return None;
    }
    assert!(output.status.success(), "{device}, {}, {task}: {said}", graph.display());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["complete"], true);
    Some(answer["results"].clone())
}

#[test]
fn graphs_without_edges_are_answered_by_every_device() {
    const TASKS: [&str; 9] = [
        "clique -k 3",
        "clique -k 3 --up-to 5",
        "clique -k 6",
        "motif -k 3",
        "motif -k 4",
        "motif -k 5",
        "match --pattern 4-cycle",
        "fsm --support 1 --max-vertices 3",
        "fsm --support 1 --max-edges 2 --measure mni",
    ];
    let folder = tempfile::tempdir().unwrap();
    let graphs = edgeless(folder.path());
    let devices = ["reference", "emulator:small", "emulator:set-small", "gpu:portable"];
    for device in devices.into_iter().filter(|device| has(device)) {
        let mut answered = 0;
        for graph in &graphs {
            for task in TASKS {
                let Some(found) = answer(device, graph, task) else { continue };
                assert_eq!(Some(found), answer("cpu", graph, task), "{device}: {task}");
                answered += 1;
            }
        }
        assert!(answered >= 6, "{device} answers {answered} of the tasks");
    }
}

/// A copy of the program in a separate folder.
fn copied(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let program = folder.join("gramer");
    fs::copy(env!("CARGO_BIN_EXE_gramer"), &program).unwrap();
    program
}

/// An emulator that leaves a file where it was run.
fn plant(folder: &Path, ran: &Path) {
    let path = folder.join("gramer-emulator");
    fs::write(&path, format!("#!/bin/sh\necho ran >> {}\nexit 1\n", ran.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn planted_programs_are_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let (ran, graph) = (folder.path().join("ran"), folder.path().join("graph.txt"));
    fs::write(&graph, "0 1\n1 2\n2 0\n").unwrap();
    let above = copied(&folder.path().join("own"));
    plant(folder.path(), &ran);
    let beside = copied(&folder.path().join("open"));
    plant(&folder.path().join("open"), &ran);
    fs::set_permissions(folder.path().join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    for program in [&above, &beside] {
        let output = Command::new(program)
            .args(["mine", "clique", "-k", "3", "--device", "emulator:small"])
            .arg(&graph)
            .current_dir(folder.path())
            .env("PATH", "/usr/bin:/bin:.")
            .env_remove("GRAMER_EMULATOR")
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(!ran.exists(), "{}", program.display());
    }
    let output = Command::new(&beside)
        .args(["mine", "clique", "-k", "3", "--device", "emulator:small"])
        .arg(&graph)
        .env("PATH", "/usr/bin:/bin")
        .env_remove("GRAMER_EMULATOR")
        .output()
        .unwrap();
    if environment::runtime().is_ok() {
        let said = said(&output);
        assert!(said.contains("not run: ") && said.contains("can be written by others"), "{said}");
    }
}

#[test]
fn a_relative_folder_for_caches_is_none() {
    if !has("gpu:portable") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("graph.txt"), "0 1\n1 2\n2 0\n").unwrap();
    let output = gramer()
        .args(["mine", "clique", "-k", "4", "graph.txt", "--device", "gpu:portable"])
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", "relative")
        .env("HOME", folder.path().join("home"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    // Neither the program nor the driver keeps anything there.
    assert!(!folder.path().join("relative").exists());
    assert!(folder.path().join("home/.cache/gramer/gpu").is_dir());
}

#[test]
fn a_processor_is_told_from_a_gpu_and_lacking_drivers_are_the_reason() {
    if !has("gpu:portable") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph.txt");
    fs::write(&graph, "0 1\n1 2\n2 0\n").unwrap();
    let run = |device: &str, variables: &[(&str, &str)]| {
        let words = ["mine", "clique", "-k", "3", "--device", device];
        gramer().args(words).arg(&graph).envs(variables.iter().copied()).output().unwrap()
    };
    let listed = gramer().args(["devices", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    if listed["gpus"][0]["kind"] == "cpu" {
        let first = run("gpu:0", &[]);
        assert!(first.status.success());
        let said_of_first = said(&first);
        assert!(
            said_of_first.contains("gpu:0 is not a GPU but a processor behind OpenCL"),
            "{said_of_first}"
        );
        assert!(!said(&run("gpu:portable", &[])).contains("is not a GPU"));
        let none = said(&run("gpu", &[]));
        assert!(
            none.contains("gpu:0 is a processor behind OpenCL") && none.contains("`gpu:portable`"),
            "{none}"
        );
        let shown = gramer().arg("devices").output().unwrap();
        assert!(String::from_utf8_lossy(&shown.stdout).contains("a processor behind OpenCL"));
    }
    // PoCL's folder, which it doesn't name itself.
    for (name, folder) in [("HOME", "/proc"), ("POCL_CACHE_DIR", "/proc/x")] {
        let mut command = gramer();
        command.args(["mine", "clique", "-k", "3", "--device", "gpu:portable"]).arg(&graph);
        command.env("POCL_CACHE_DIR", "").env_remove("XDG_CACHE_HOME").env(name, folder);
        let output = command.output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("its cache folder /proc/"), "{said}");
        assert!(said.contains("POCL_CACHE_DIR") && !said.contains("apt-get"), "{said}");
    }
}

/// In a separate mount namespace.
#[test]
fn a_folder_for_temporary_files_that_runs_no_programs_is_named_or_another_taken() {
    if !has("emulator:small") {
        return;
    }
    if Path::new(env!("CARGO_BIN_EXE_gramer")).starts_with("/tmp") {
        return environment::skip_here("the program lies in /tmp, which this test mounts");
    }
    let folder = tempfile::Builder::new().tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let graph = folder.path().join("graph.txt");
    fs::write(&graph, "0 1\n1 2\n2 0\n").unwrap();
    let run = |temporary: &Path| {
        let script = "mount -t tmpfs -o noexec tmpfs /tmp || exit 99; \"$0\" mine clique -k 3 \"$1\" \
                      --device emulator:small:functional; code=$?; ls -A /tmp >&2; exit $code";
        Command::new("unshare")
            .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_gramer")])
            .arg(&graph)
            .env("TMPDIR", temporary)
            .output()
    };
    let (Ok(refused), Ok(done)) = (run(Path::new("/tmp")), run(folder.path())) else { return };
    if refused.status.code() == Some(99) || said(&refused).contains("unshare failed") {
        return environment::skip_here("no mount namespace can be made");
    }
    let text = said(&refused);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert!(text.contains("/tmp is mounted noexec") && text.contains("TMPDIR"), "{text}");
    assert!(done.status.success(), "{}", said(&done));
    assert!(!said(&done).contains("gramer-emulation"), "it is left in /tmp: {}", said(&done));
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "the graph alone");
}

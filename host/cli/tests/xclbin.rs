//! Containers of programmed devices: what is written is read back, by us and by the runtime's own
//! header; files of others are read; damaged ones are refused.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::cargo_bin_cmd;
use environment::root;
use gramer::accelerator::session::Session;
use gramer::accelerator::xclbin::build::{BuildOptions, build, describe, read_machine};
use gramer::accelerator::xclbin::metadata::ArgumentKind;
use gramer::accelerator::xclbin::{Mode, Section, Xclbin, kind};
use gramer_machine::Accelerator;
use gramer_testing::environment;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

/// A machine by its name or its file in the repository.
fn machine(name: &str) -> Accelerator {
    let file = root().join(name);
    read_machine(Some(if file.is_file() { &file } else { Path::new(name) })).unwrap()
}

/// A program that stands in for the emulator when the model is built.
fn emulator(folder: &Path) -> PathBuf {
    let path = folder.join("gramer-emulator");
    let model = folder.join("libcore.so");
    fs::write(&model, "the model").unwrap();
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *--build-model*) grep -q processing_units \"$2\" || exit 3; \
         echo {};; esac\n",
        model.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn what_is_built_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("small.xclbin");
    let options = BuildOptions {
        compute_units: Some(2),
        emulator: Some(emulator(folder.path())),
        ..BuildOptions::default()
    };
    let built = build(&machine("machines/small.yaml"), &options, &out).unwrap();
    let x = Xclbin::read(&out).unwrap();
    assert_eq!(x, built);
    assert_eq!((x.mode, x.platform.as_str()), (Mode::HW_EMU, "xilinx_u250_sim_1"));

    // The description is in it, with the compute units that were asked for.
    let a = x.machine().unwrap().unwrap();
    assert_eq!((a.machine.name.as_str(), a.kernels.compute_units), ("small", 2));

    let memories = x.memories().unwrap();
    assert_eq!(memories.iter().map(|m| m.tag.as_str()).collect::<Vec<_>>(), ["bank0", "bank1"]);
    assert_eq!(memories[1].kib, a.memory.bank_bytes / 1024);
    assert_eq!(memories[1].base, a.bank_base(1));

    let instances = x.instances().unwrap();
    let names: Vec<&str> = instances.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names[..2], ["gramer_core:gramer_core_1", "gramer_core:gramer_core_2"]);
    assert_eq!(names.len(), 6);
    assert!(instances.windows(2).all(|w| w[0].base < w[1].base), "sorted by address");

    // Every buffer of every instance has a bank, and the numbers fit those of the XML.
    let metadata = x.metadata().unwrap();
    let core = metadata.kernel("gramer_core").unwrap();
    assert_eq!(core.instances, ["gramer_core_1", "gramer_core_2"]);
    assert_eq!(metadata.clocks, [("KERNEL_CLK".to_string(), 200.0)]);
    for (argument, offset) in a.offsets() {
        let found = core.arguments.iter().find(|x| x.name == argument.name).unwrap();
        assert_eq!((found.offset, found.size), (offset.into(), u64::from(argument.bits / 8)));
    }
    let bank1 = core.position("bank1").unwrap() as i32;
    let connections = x.connections().unwrap();
    assert!(connections.iter().any(|c| (c.argument, c.instance, c.memory) == (bank1, 1, 1)));
    for (at, instance) in instances.iter().enumerate() {
        let kernel = metadata.kernel(instance.name.split(':').next().unwrap()).unwrap();
        let buffers = kernel.arguments.iter().filter(|a| a.passed == ArgumentKind::Buffer);
        let mut wanted: Vec<u32> = buffers.map(|a| a.id.unwrap()).collect();
        let own = connections.iter().filter(|c| c.instance == at as i32);
        let mut found: Vec<u32> = own.map(|c| c.argument as u32).collect();
        wanted.sort();
        found.sort();
        assert_eq!(wanted, found, "{}", instance.name);
    }
}

#[test]
fn the_program_in_it_is_whole_and_can_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let emulator = emulator(folder.path());
    let with = |functional| {
        let out = folder.path().join("a.xclbin");
        let emulator = Some(emulator.clone());
        let options = BuildOptions { functional, emulator, force: true, ..BuildOptions::default() };
        let x = build(&machine("machines/small.yaml"), &options, &out).unwrap();
        let bytes = x.section(kind::BITSTREAM).unwrap().to_vec();
        zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap()
    };
    let mut zip = with(false);
    let mut script = String::new();
    let name = "behav_waveform/xsim/launch_hw_emu.sh";
    let mut file = zip.by_name(name).unwrap();
    assert_eq!(file.unix_mode().unwrap() & 0o111, 0o111);
    file.read_to_string(&mut script).unwrap();
    drop(file);
    assert!(script.contains("--machine machine.yaml --model ./libcore.so"), "{script}");
    let mut model = String::new();
    zip.by_name("behav_waveform/xsim/libcore.so").unwrap().read_to_string(&mut model).unwrap();
    assert_eq!(model, "the model");
    let mut text = String::new();
    zip.by_name("behav_waveform/xsim/machine.yaml").unwrap().read_to_string(&mut text).unwrap();
    let inside = Accelerator::parse(&text, Path::new("machine.yaml")).unwrap();
    assert_eq!(inside, machine("machines/small.yaml"));
    let mode = zip.by_name("behav_waveform/xsim/gramer-emulator").unwrap().unix_mode();
    assert_eq!(mode.unwrap() & 0o111, 0o111);

    let mut zip = with(true);
    assert!(zip.by_name("behav_waveform/xsim/libcore.so").is_err());
    let mut script = String::new();
    zip.by_name(name).unwrap().read_to_string(&mut script).unwrap();
    assert!(script.contains("--model functional"), "{script}");
}

#[test]
fn the_same_machine_makes_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let emulator = Some(emulator(folder.path()));
    let options = BuildOptions { emulator, force: true, ..BuildOptions::default() };
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    for path in &paths {
        build(&machine("accelerator.yaml"), &options, path).unwrap();
    }
    assert_eq!(fs::read(&paths[0]).unwrap(), fs::read(&paths[1]).unwrap());
    let other = build(&machine("machines/small.yaml"), &options, &paths[1]).unwrap();
    assert_ne!(Xclbin::read(&paths[0]).unwrap().uuid, other.uuid);
}

/// A file as Vitis writes one for a card: sections that we don't know, a clock section, names.
fn of_vitis() -> Xclbin {
    let mut clocks = 2u16.to_le_bytes().to_vec();
    for (mhz, name) in [(300u16, "DATA_CLK"), (500, "KERNEL_CLK")] {
        let mut row = [0; 136];
        row[..2].copy_from_slice(&mhz.to_le_bytes());
        row[8..8 + name.len()].copy_from_slice(name.as_bytes());
        clocks.extend(row);
    }
    let xml = r#"<?xml version="1.0"?><project name="vadd"><platform vendor="xilinx"><device>
        <core name="OCL"><kernel name="krnl_vadd" language="c">
        <port name="M_AXI_GMEM" mode="master"/>
        <arg name="a" addressQualifier="1" id="0" port="M_AXI_GMEM" size="0x8" offset="0x10"
             hostOffset="0x0" hostSize="0x8" type="const int*" memory=""/>
        <arg name="n" addressQualifier="0" id="1" port="S_AXI_CONTROL" size="0x4" offset="0x1C"
             hostOffset="0x0" hostSize="0x4" type="int"/>
        <instance name="krnl_vadd_1"><addrRemap base="0x1c00000" port="S_AXI_CONTROL"/></instance>
        </kernel></core></device></platform></project>"#;
    let mut x = describe(&machine("accelerator.yaml"), Path::new("vadd.xclbin"));
    x.mode = Mode(0);
    x.platform = "xilinx_u250_gen3x16_xdma_4_1_202210_1".into();
    x.sections.retain(|s| s.kind == kind::MEM_TOPOLOGY);
    let section =
        |kind, name: &str, data: &[u8]| Section { kind, name: name.into(), data: data.to_vec() };
    x.sections.extend([
        section(kind::EMBEDDED_METADATA, "", xml.as_bytes()),
        section(kind::CLOCK_FREQ_TOPOLOGY, "", &clocks),
        section(26, "", &[0; 48]),
        section(99, "later", b"of a later version"),
    ]);
    x
}

#[test]
fn info_shows_files_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vadd.xclbin");
    fs::write(&path, of_vitis().to_bytes()).unwrap();
    let mut shown = cargo_bin_cmd!("gramer");
    shown.args(["xclbin", "info"]).arg(&path).assert().success().stdout(
        contains("card for xilinx_u250_gen3x16_xdma_4_1_202210_1")
            .and(contains("clock KERNEL_CLK: 500 MHz"))
            .and(contains("kind 99 later"))
            .and(contains("ASK_GROUP_TOPOLOGY"))
            .and(contains("kernel krnl_vadd"))
            .and(contains("0x1c ")),
    );
    let output =
        cargo_bin_cmd!("gramer").args(["xclbin", "info", "--json"]).arg(&path).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["kernels"][0]["arguments"][1]["offset"], 0x1c);
    assert_eq!(value["kernels"][0]["arguments"][0]["passed"], "buffer");
    assert_eq!(value["memories"][3]["tag"], "bank3");
    assert_eq!(value["clocks"][1]["mhz"], 500.0);
    assert_eq!(value["machine"], serde_json::Value::Null);
}

/// A file with the sections that `v++` writes for our kernels gets USER_METADATA by `xclbinutil`, as
/// `make xclbin` calls it, and is taken then. Before, the message says how.
#[test]
fn a_linked_file_is_taken_when_its_machine_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let a = machine("accelerator.yaml");
    fs::write(path("machine.yaml"), a.to_yaml()).unwrap();
    for mode in [Mode(0), Mode(4), Mode(5)] {
        let mut linked = describe(&a, &path("linked.xclbin"));
        linked.mode = mode;
        linked.sections.retain(|s| s.kind != kind::USER_METADATA);
        linked.sections.reverse();
        let others = of_vitis().sections.into_iter().filter(|s| linked.section(s.kind).is_none());
        linked.sections.extend(others.collect::<Vec<_>>());
        linked
            .sections
            .insert(0, Section { kind: kind::BITSTREAM, name: String::new(), data: vec![0; 100] });
        // `info` looks into the program of an emulation, which this isn't.
        linked.sections.retain(|s| mode == Mode(0) || s.kind != kind::BITSTREAM);
        fs::write(path("linked.xclbin"), linked.to_bytes()).unwrap();
        let missing = Session::taken(&Xclbin::read(&path("linked.xclbin")).unwrap()).unwrap_err();
        assert!(
            missing.to_string().contains("--add-section USER_METADATA:RAW:machine.yaml"),
            "{missing}"
        );
        if mode == Mode(0) {
            cargo_bin_cmd!("gramer")
                .args(["xclbin", "info"])
                .arg(path("linked.xclbin"))
                .assert()
                .success()
                .stdout(contains("not taken by --device").and(contains("xclbinutil --input FILE")));
        }
        let added = Command::new("python3")
            .arg(root().join("scripts/vitis/mock_tools.py"))
            .args(["xclbinutil", "--input", "linked.xclbin", "--add-section"])
            .args(["USER_METADATA:RAW:machine.yaml", "--output", "gramer.xclbin", "--force"])
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(added.success());
        let x = Xclbin::read(&path("gramer.xclbin")).unwrap();
        assert_eq!(x.sections.len(), linked.sections.len() + 1);
        assert_eq!(Session::taken(&x).unwrap(), a);
        if mode == Mode(0) {
            cargo_bin_cmd!("gramer")
                .args(["xclbin", "info"])
                .arg(path("gramer.xclbin"))
                .assert()
                .success()
                .stdout(
                    contains("it is taken by --device")
                        .and(contains("machine paper"))
                        .and(contains("clock DATA_CLK: 300 MHz"))
                        .and(contains("description asks for 200 MHz")),
                );
            assert_eq!(x.kernel_mhz().unwrap(), Some(300));
        } else {
            assert_eq!(x.kernel_mhz().unwrap(), None, "a simulator has no clock");
        }
    }
}

#[test]
fn a_machine_that_does_not_fit_a_card_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.xclbin");
    let build = |machine: &str, board: &str| {
        let mut command = cargo_bin_cmd!("gramer");
        command.env("GRAMER_EMULATOR", emulator(folder.path()));
        command.args(["xclbin", "build", "--force", "--machine", machine, "--board", board, "-o"]);
        command.arg(&out).assert()
    };
    build("set-plans", "u55c")
        .code(1)
        .stderr(contains("does not fit the Alveo U55C").and(contains("% of the LUT of SLR2")));
    build("set", "u99").code(2).stderr(contains("no board u99; boards: "));
    assert!(!out.exists());
    build("paper", "u250").success().stderr(contains("the fit is in doubt"));
    build("small", "u55c").success().stderr(contains("the area of machine `small` is not known"));
}

#[test]
fn the_command_builds_and_shows() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("small.xclbin");
    let mut command = cargo_bin_cmd!("gramer");
    command
        .env("GRAMER_EMULATOR", emulator(folder.path()))
        .args(["xclbin", "build", "--compute-units", "2", "--machine"])
        .arg(root().join("machines/small.yaml"))
        .arg("-o")
        .arg(&out);
    command.assert().success();
    // Another build would take its place: only if that is asked for.
    let first = fs::read(&out).unwrap();
    command
        .assert()
        .code(2)
        .stderr(contains("small.xclbin: is there already").and(contains("--force")));
    fs::write(&out, "something else").unwrap();
    command.assert().code(2);
    assert_eq!(fs::read(&out).unwrap(), b"something else");
    command.arg("--force").assert().success();
    assert_eq!(fs::read(&out).unwrap(), first);
    cargo_bin_cmd!("gramer").args(["xclbin", "info"]).arg(&out).assert().success().stdout(
        contains("hardware emulation for xilinx_u250_sim_1")
            .and(contains("machine small"))
            .and(contains("gramer_drain_2 at 0x1850000"))
            .and(contains("KERNEL_CLK: 200 MHz")),
    );
}

/// Neither a file of a size that no card has, nor a device without an end, is read whole.
#[test]
fn what_has_no_end_is_not_read_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.xclbin");
    let file = fs::File::create(&large).unwrap();
    (&file).write_all(b"xclbin2\0").unwrap();
    file.set_len((1 << 30) + 1).unwrap();
    let info = |path: &Path| cargo_bin_cmd!("gramer").args(["xclbin", "info"]).arg(path).assert();
    info(&large).code(1).stderr(contains("large.xclbin: the file exceeds 1024 MiB"));
    info(Path::new("/dev/zero")).code(1).stderr(contains("this is not an xclbin"));
}

#[test]
fn a_build_that_cannot_be_done_says_why_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.xclbin");
    let gramer = || {
        let mut command = cargo_bin_cmd!("gramer");
        command.current_dir(folder.path()).args(["xclbin", "build", "-o"]).arg(&out);
        command
    };
    let missing = folder.path().join("nowhere");
    let emulator = emulator(folder.path());
    gramer().env("GRAMER_EMULATOR", &missing).assert().code(1).stderr(contains(format!(
        "GRAMER_EMULATOR is {}, but there is no such file",
        missing.display()
    )));
    fs::write(&emulator, "#!/bin/sh\necho no verilator on the PATH >&2\nexit 1\n").unwrap();
    gramer().env("GRAMER_EMULATOR", &emulator).assert().code(1).stderr(
        contains("no verilator on the PATH").and(contains("could not build the model of machine")),
    );
    // A program that is not an emulator, or that is killed, leaves no message.
    gramer()
        .env("GRAMER_EMULATOR", "/bin/true")
        .assert()
        .code(1)
        .stderr(contains("it doesn't say where the model is; is it gramer-emulator?"));
    fs::write(&emulator, "#!/bin/sh\nkill -9 $$\n").unwrap();
    gramer()
        .env("GRAMER_EMULATOR", &emulator)
        .assert()
        .code(1)
        .stderr(contains("it was ended by signal 9"));
    fs::write(folder.path().join("m.yaml"), "machine: {slots: 5}\n").unwrap();
    gramer().args(["--machine", "m.yaml"]).assert().code(1).stderr(contains("m.yaml: "));
    gramer()
        .args(["--machine", "none.yaml"])
        .assert()
        .code(1)
        .stderr(contains("none.yaml: cannot"));
    gramer().args(["--compute-units", "16"]).assert().code(2);
    assert!(!out.exists());
}

/// While the model is built, Ctrl-C ends the compilers too.
#[test]
fn a_build_is_stopped_with_all_that_it_has_started() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::time::{Duration, Instant};

    let folder = tempfile::tempdir().unwrap();
    let emulator = emulator(folder.path());
    let file = folder.path().join("compiler");
    let script = "#!/bin/sh\necho step translating >&2\nsleep 1000 &\necho $! > compiler\nwait\n";
    fs::write(&emulator, script).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_gramer"))
        .current_dir(folder.path())
        .env("GRAMER_EMULATOR", &emulator)
        .args(["xclbin", "build", "--machine", "small", "-o", "a.xclbin"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
    }
    let stopped = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(stopped.elapsed() < Duration::from_secs(2), "{:?}", stopped.elapsed());
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("building the model of machine small") && said.contains("interrupted"));
    let compiler = fs::read_to_string(&file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", compiler.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert!(!folder.path().join("a.xclbin").exists());
}

/// A zip with these files in place of a bitstream.
fn with_program(x: &Xclbin, files: &[(&str, &str)]) -> Xclbin {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let data = zip.finish().unwrap().into_inner();
    let mut x = x.clone();
    x.sections.push(Section { kind: kind::BITSTREAM, name: String::new(), data });
    x
}

#[test]
fn a_program_in_the_bitstream_is_shown_and_one_that_leaves_its_folder_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.xclbin");
    let x = describe(&machine("small"), &path);
    let script = ("behav_waveform/xsim/launch_hw_emu.sh", "#!/bin/sh\nexit 1\n");
    fs::write(&path, with_program(&x, &[script]).to_bytes()).unwrap();
    cargo_bin_cmd!("gramer").args(["xclbin", "info"]).arg(&path).assert().success().stdout(
        contains("the BITSTREAM is a program, which runs with your rights")
            .and(contains("behav_waveform/xsim/launch_hw_emu.sh")),
    );
    let refused = |x: &Xclbin, part: &str| {
        fs::write(&path, x.to_bytes()).unwrap();
        cargo_bin_cmd!("gramer")
            .args(["mine", "clique", "-k", "3", "none.txt", "--device"])
            .arg(&path)
            .env_remove("XCL_EMULATION_MODE")
            .assert()
            .code(1)
            .stderr(contains(format!("gramer: {}: ", path.display())).and(contains(part)));
    };
    for name in ["../evil", "/etc/evil", "a/../../evil", "a\\..\\evil"] {
        refused(&with_program(&x, &[script, (name, "")]), "which is outside of its folder");
    }
    refused(&with_program(&x, &[("other.sh", "")]), "has no launch_hw_emu.sh");
    refused(&x, "BITSTREAM is missing");
    let mut x = x;
    x.sections.push(Section { kind: kind::BITSTREAM, name: String::new(), data: vec![1; 99] });
    refused(&x, "is not a zip");
}

/// Whatever argument a description lacks, it ends in a message before anything is opened.
#[test]
fn a_description_that_lacks_an_argument_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.xclbin");
    let whole = machine("small");
    let mut missed = 0;
    let mut refused = |a: &Accelerator, name: &str| {
        let mut x = describe(&whole, &path);
        x.mode = Mode(0);
        let section = x.sections.iter_mut().find(|s| s.kind == kind::USER_METADATA).unwrap();
        section.data = a.to_yaml().into_bytes();
        fs::write(&path, x.to_bytes()).unwrap();
        let refused = cargo_bin_cmd!("gramer")
            .args(["mine", "clique", "-k", "3", "none.txt", "--device"])
            .arg(&path)
            .assert()
            .code(1);
        refused.stderr(contains(format!("without `{name}`")).and(contains("panicked").not()));
        missed += 1;
    };
    for at in 0..whole.arguments.len() {
        let mut a = whole.clone();
        let name = a.arguments.remove(at).name;
        refused(&a, &name);
    }
    for at in 0..whole.kernels.fill.arguments.len() {
        let mut a = whole.clone();
        let name = a.kernels.fill.arguments.remove(at).name;
        refused(&a, &name);
    }
    for at in 0..whole.kernels.drain.arguments.len() {
        let mut a = whole.clone();
        let name = a.kernels.drain.arguments.remove(at).name;
        refused(&a, &name);
    }
    assert_eq!(missed, 14 + 5 + 2);
}

#[test]
fn damaged_files_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.xclbin");
    let good = of_vitis().to_bytes();
    let refused = |bytes: &[u8], part: &str| {
        fs::write(&path, bytes).unwrap();
        cargo_bin_cmd!("gramer")
            .args(["xclbin", "info"])
            .arg(&path)
            .assert()
            .code(1)
            .stderr(contains(format!("gramer: {}: ", path.display())).and(contains(part)));
    };
    refused(b"", "this is not an xclbin");
    refused(b"xclbin0\0 and so on", "another version of the format");
    refused(&good[..100], "truncated: 100 bytes, but the head alone has 456");
    refused(&good[..good.len() - 8], "truncated: ");
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    refused(&with(448, &1_000_000u32.to_le_bytes()), "1000000 sections");
    refused(&with(448, &60_000u32.to_le_bytes()), "no room for the headers of 60000 sections");
    refused(&with(456 + 24, &u64::MAX.to_le_bytes()), "section 0 (MEM_TOPOLOGY) lies outside");
    let memories = u64::from_le_bytes(good[480..488].try_into().unwrap()) as usize;
    refused(&with(memories, &77i32.to_le_bytes()), "MEM_TOPOLOGY is damaged: 77 entries");
    refused(&with(memories, &(-1i32).to_le_bytes()), "MEM_TOPOLOGY is damaged: -1 entries");
    let xml = good.windows(5).position(|w| w == b"<?xml").unwrap();
    refused(&with(xml + 30, b"<<<"), "EMBEDDED_METADATA is damaged");
}

/// Whatever the bytes are, reading them ends with an answer or a message.
#[test]
fn random_damage_never_ends_in_a_panic() {
    use chacha20::rand_core::{Rng, SeedableRng};
    let mut rng = chacha20::ChaCha8Rng::seed_from_u64(7);
    let own = describe(&machine("machines/small.yaml"), Path::new("x")).to_bytes();
    let path = Path::new("damaged.xclbin");
    let mut refused = 0;
    for file in [own, of_vitis().to_bytes()] {
        for case in 0..4000 {
            let mut bytes = file.clone();
            if case % 3 == 0 {
                bytes.truncate(rng.next_u64() as usize % file.len());
            }
            for _ in 0..rng.next_u32() % 8 {
                if bytes.is_empty() {
                    break;
                }
                // Half of the damage goes to the headers, where it does most.
                let span = if rng.next_u32() % 2 == 0 { bytes.len().min(800) } else { bytes.len() };
                let at = rng.next_u64() as usize % span;
                bytes[at] = match rng.next_u32() % 3 {
                    0 => 0xff,
                    1 => bytes[at] ^ 1 << (rng.next_u32() % 8),
                    _ => rng.next_u32() as u8,
                };
            }
            let result = Xclbin::parse(&bytes, path).and_then(|x| {
                x.memories()?;
                x.instances()?;
                x.connections()?;
                x.clock_topology()?;
                x.metadata()?;
                x.machine()?;
                Ok(())
            });
            if let Err(e) = result {
                refused += 1;
                assert!(e.to_string().starts_with("damaged.xclbin: "), "{e}");
            }
        }
    }
    assert!(refused > 2000, "{refused} of 8000 refused: the damage was too tame");
}

/// The runtime's own header reads what we write.
#[test]
fn the_header_of_the_runtime_agrees() {
    let include = ["/usr/include/xrt", "/opt/xilinx/xrt/include"].map(Path::new);
    let Some(include) = include.into_iter().find(|p| p.join("xclbin.h").is_file()) else {
        let missing = "xclbin.h (libxrt-dev, scripts/setup-xrt.sh) isn't installed";
        return environment::skip(environment::XRT, missing);
    };
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("dump.c"), folder.path().join("dump"));
    fs::write(&source, DUMP).unwrap();
    let compiled = Command::new("cc")
        .arg("-I")
        .arg(include)
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let x = describe(&machine("machines/small.yaml"), Path::new("x"));
    let file = folder.path().join("x.xclbin");
    fs::write(&file, x.to_bytes()).unwrap();
    let output = Command::new(&program).arg(&file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut expected = format!(
        "xclbin2 {} {} {} {} {}\n",
        -1,
        x.to_bytes().len(),
        x.mode.0,
        x.platform,
        x.sections.len()
    );
    for s in &x.sections {
        expected += &format!("section {} {}\n", s.kind, s.data.len());
    }
    for m in x.memories().unwrap() {
        expected += &format!("memory {} {} {} {} {}\n", m.kind, 1, m.kib, m.base, m.tag);
    }
    for i in x.instances().unwrap() {
        expected += &format!("ip {} {} {} {}\n", i.kind, i.properties, i.base, i.name);
    }
    for c in x.connections().unwrap() {
        expected += &format!("connection {} {} {}\n", c.argument, c.instance, c.memory);
    }
    assert_eq!(text, expected);
}

const DUMP: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <xclbin.h>
static const struct axlf_section_header *find(const struct axlf *x, uint32_t kind) {
    for (uint32_t i = 0; i < x->m_header.m_numSections; i++)
        if (x->m_sections[i].m_sectionKind == kind) return &x->m_sections[i];
    exit(2);
}
int main(int argc, char **argv) {
    static char bytes[1 << 20] __attribute__((aligned(8)));
    FILE *f = fopen(argv[1], "rb");
    fread(bytes, 1, sizeof bytes, f);
    const struct axlf *x = (const struct axlf *)bytes;
    printf("%s %d %lu %u %s %u\n", x->m_magic, x->m_signature_length, x->m_header.m_length,
           x->m_header.m_mode, x->m_header.m_platformVBNV, x->m_header.m_numSections);
    for (uint32_t i = 0; i < x->m_header.m_numSections; i++)
        printf("section %u %lu\n", x->m_sections[i].m_sectionKind, x->m_sections[i].m_sectionSize);
    const struct mem_topology *m =
        (const void *)(bytes + find(x, MEM_TOPOLOGY)->m_sectionOffset);
    for (int i = 0; i < m->m_count; i++)
        printf("memory %u %u %lu %lu %s\n", m->m_mem_data[i].m_type, m->m_mem_data[i].m_used,
               m->m_mem_data[i].m_size, m->m_mem_data[i].m_base_address, m->m_mem_data[i].m_tag);
    const struct ip_layout *l = (const void *)(bytes + find(x, IP_LAYOUT)->m_sectionOffset);
    for (int i = 0; i < l->m_count; i++)
        printf("ip %u %u %lu %s\n", l->m_ip_data[i].m_type, l->m_ip_data[i].properties,
               l->m_ip_data[i].m_base_address, l->m_ip_data[i].m_name);
    const struct connectivity *c = (const void *)(bytes + find(x, CONNECTIVITY)->m_sectionOffset);
    for (int i = 0; i < c->m_count; i++)
        printf("connection %d %d %d\n", c->m_connection[i].arg_index,
               c->m_connection[i].m_ip_layout_index, c->m_connection[i].mem_data_index);
    return 0;
}
"#;

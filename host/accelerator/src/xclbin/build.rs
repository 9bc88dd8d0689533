//! The container of an emulated machine: the sections that the Xilinx Runtime reads, and a program
//! to start in place of a bitstream.

use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use gramer_machine::{Accelerator, named, trust, vitis};
use rustix::process::{Pid, Signal, kill_process_group};
use xxhash_rust::xxh3::xxh3_128;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::layout::{
    AP_CTRL_CHAIN, Connection, DDR4, Instance, KERNEL, Memory, connectivity, ip_layout,
    mem_topology,
};
use super::{Mode, Section, Xclbin, kind};
use gramer_base::context::Cancel;
use gramer_base::error::{Error, Place, Result};
use gramer_base::output::write_output;
use gramer_base::parallel::start_in;

/// Folder inside the zip that the runtime starts the script in.
const FOLDER: &str = "behav_waveform/xsim";
/// The program in that folder that the runtime starts.
pub const SCRIPT: &str = "launch_hw_emu.sh";
/// The machine where none is named.
const DEFAULT_MACHINE: &str = "paper";
/// The program that answers the runtime.
pub const EMULATOR: &str = "gramer-emulator";
/// A larger program is not packed but named by its path.
const MOST_BYTES_PACKED: u64 = 64 << 20;

/// Shows how far the build of a model is.
pub trait BuildSteps {
    /// A step; `of` is how much of it is done, of how much.
    fn step(&mut self, what: &str, of: Option<(u64, u64)>);
    /// A line that the user should see.
    fn note(&mut self, text: &str);
}

/// Begins to show the build of the model of a machine.
pub type ShowBuild = fn(machine: &str) -> Box<dyn BuildSteps>;

/// What is built.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// Instances of each kernel; those of the description if absent.
    pub compute_units: Option<u32>,
    /// With the functional model of the core instead of its simulated hardware.
    pub functional: bool,
    /// Replace an existing file.
    pub force: bool,
    /// The emulator; [`find_emulator`] finds it if absent.
    pub emulator: Option<PathBuf>,
    /// Ends the build of the model.
    pub cancel: Cancel,
    /// Hears of the build of a model that isn't there yet.
    pub show: Option<ShowBuild>,
}

/// Builds the xclbin of a machine and writes it, whole or not at all.
///
/// # Errors
/// Errors of the description, of writing, and [`Error::Unsupported`] if the emulator is missing or
/// can't build the model; [`Error::Interrupted`].
pub fn build(machine: &Accelerator, options: &BuildOptions, out: &Path) -> Result<Xclbin> {
    let mut accelerator = machine.clone();
    if let Some(units) = options.compute_units {
        accelerator.kernels.compute_units = units;
        // The rules of the description hold for it too.
        accelerator = Accelerator::parse(&accelerator.to_yaml(), Path::new("compute_units"))
            .map_err(|e| Error::usage(e.to_string()))?;
    }
    let emulator = match &options.emulator {
        Some(path) => path.clone(),
        None => find_emulator()?,
    };
    let model = match options.functional {
        true => None,
        false => Some(build_model(&emulator, &accelerator, options)?),
    };
    let mut xclbin = describe(&accelerator, out);
    let program = bitstream(&accelerator, &emulator, model.as_deref())?;
    xclbin
        .sections
        .insert(0, Section { kind: kind::BITSTREAM, name: String::new(), data: program });
    identify(&mut xclbin);
    let bytes = xclbin.to_bytes();
    write_output(out, options.force, |file| file.write_all(&bytes))?;
    Ok(xclbin)
}

/// A machine by its name or by the path of its description; without either, the machine of the
/// paper. A bare name is always a built-in machine; `./small` is a file.
///
/// # Errors
/// [`Error::Usage`] for a name that isn't known, [`Error::Input`] with what is wrong with a
/// description.
pub fn read_machine(path: Option<&Path>) -> Result<Accelerator> {
    let path = path.unwrap_or(Path::new(DEFAULT_MACHINE));
    let built_in = path.to_str().and_then(named::named);
    let is_word = path.components().count() == 1 && path.extension().is_none();
    if built_in.is_none() && is_word && !path.exists() {
        let names: Vec<&str> = named::names().map(|(name, _)| name).collect();
        return Err(Error::usage(format!(
            "there is no machine `{0}`: name one of {1}, or the path of a description, such as \
             ./{0}.yaml",
            path.display(),
            names.join(", ")
        )));
    }
    built_in.unwrap_or_else(|| Accelerator::read(path)).map_err(|e| match e {
        gramer_machine::Error::Read { path, source } => Error::io(path, "read", source),
        other => {
            let text = other.to_string();
            let shown = format!("{}: ", path.display());
            let what = text.strip_prefix(&shown).unwrap_or(&text);
            Error::input(Place::file(path), what)
        }
    })
}

/// The xclbin of a machine without a bitstream.
pub fn describe(a: &Accelerator, path: &Path) -> Xclbin {
    let memories: Vec<Memory> = (0..a.memory.ddr_banks)
        .map(|bank| Memory {
            kind: DDR4,
            used: true,
            kib: a.memory.bank_bytes / 1024,
            base: a.bank_base(bank),
            tag: format!("bank{bank}"),
        })
        .collect();
    let (mut instances, mut connections) = (vec![], vec![]);
    for (at, instance) in a.instances().iter().enumerate() {
        instances.push(Instance {
            kind: KERNEL,
            properties: AP_CTRL_CHAIN,
            base: instance.base,
            name: format!("{}:{}", instance.kernel.name, instance.name),
        });
        for (position, argument) in a.arguments_of(instance.kernel).iter().enumerate() {
            if let Some(bank) = a.bank_of(argument, instance.unit) {
                connections.push(Connection {
                    argument: position as i32,
                    instance: at as i32,
                    memory: bank as i32,
                });
            }
        }
    }
    let section = |kind, data| Section { kind, name: String::new(), data };
    let mut xclbin = Xclbin {
        path: path.to_path_buf(),
        time_stamp: 0,
        version: (2, 13, 0),
        mode: Mode::HW_EMU,
        platform: a.emulated_platform(),
        uuid: [0; 16],
        sections: vec![
            section(kind::MEM_TOPOLOGY, mem_topology(&memories)),
            section(kind::IP_LAYOUT, ip_layout(&instances)),
            section(kind::CONNECTIVITY, connectivity(&connections)),
            section(kind::EMBEDDED_METADATA, vitis::metadata(a).into_bytes()),
            section(kind::USER_METADATA, a.to_yaml().into_bytes()),
        ],
    };
    identify(&mut xclbin);
    xclbin
}

/// Gives the file an identity that depends on its sections alone: the same inputs make the same
/// file.
fn identify(xclbin: &mut Xclbin) {
    let bytes: Vec<u8> = xclbin.sections.iter().flat_map(|s| s.data.iter().copied()).collect();
    xclbin.uuid = xxh3_128(&bytes).to_le_bytes();
}

/// The zip that stands in for a bitstream.
fn bitstream(a: &Accelerator, emulator: &Path, model: Option<&Path>) -> Result<Vec<u8>> {
    let read = |path: &Path| std::fs::read(path).map_err(|e| Error::io(path, "read", e));
    let size = std::fs::metadata(emulator).map_err(|e| Error::io(emulator, "read", e))?.len();
    let packed = size <= MOST_BYTES_PACKED;
    let program = match packed {
        true => format!("./{EMULATOR}"),
        false => emulator.display().to_string(),
    };
    let core = if model.is_some() { "./libcore.so" } else { "functional" };
    let script = format!(
        "#!/bin/sh\n# Started by the Xilinx Runtime in place of a simulator.\n\
         cd \"$(dirname \"$0\")\" || exit 1\n\
         # For whoever watches over it.\n\
         [ -z \"$GRAMER_EMULATOR_PID\" ] || echo $$ > \"$GRAMER_EMULATOR_PID\"\n\
         exec \"${{GRAMER_EMULATOR:-{program}}}\" --machine machine.yaml --model {core}\n"
    );
    let mut files = vec![
        (SCRIPT, 0o755, script.into_bytes()),
        ("machine.yaml", 0o644, a.to_yaml().into_bytes()),
    ];
    if let Some(model) = model {
        files.push(("libcore.so", 0o755, read(model)?));
    }
    if packed {
        files.push((EMULATOR, 0o755, read(emulator)?));
    }
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    let failed = |e: zip::result::ZipError| Error::Unsupported(format!("cannot pack: {e}"));
    for (name, mode, data) in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .unix_permissions(mode);
        zip.start_file(format!("{FOLDER}/{name}"), options).map_err(failed)?;
        zip.write_all(&data).map_err(|e| failed(e.into()))?;
    }
    Ok(zip.finish().map_err(failed)?.into_inner())
}

/// Finds the emulator: `GRAMER_EMULATOR`, else beside this program (as [`trust`] has it), else on the `PATH`.
///
/// # Errors
/// [`Error::Unsupported`] with how to get it.
pub fn find_emulator() -> Result<PathBuf> {
    find_emulator_beside(std::env::current_exe().ok().as_deref())
}

/// The same next to another program: the command of the workers, if a program that embeds the library starts them.
///
/// # Errors
/// As [`find_emulator`].
pub(crate) fn find_emulator_beside(program: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("GRAMER_EMULATOR").filter(|p| !p.is_empty()) {
        let path = PathBuf::from(path);
        return match path.is_file() {
            true => Ok(absolute(path)),
            false => Err(Error::Unsupported(format!(
                "GRAMER_EMULATOR is {}, but there is no such file",
                path.display()
            ))),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let search = trust::search(EMULATOR, program, std::env::split_paths(&path));
    let reasons = search.reasons();
    search.found.map(absolute).ok_or_else(|| {
        Error::Unsupported(format!(
            "the emulator `{EMULATOR}` is neither beside gramer nor on the PATH: build it with `cargo build \
             --release -p gramer-sim --bin {EMULATOR}`, or name it in GRAMER_EMULATOR{reasons}"
        ))
    })
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Makes the emulator build the model of the core or find a built one.
fn build_model(emulator: &Path, a: &Accelerator, options: &BuildOptions) -> Result<PathBuf> {
    let (cancel, show) = (&options.cancel, options.show);
    let mut child = Command::new(emulator)
        .args(["--machine", "/dev/stdin", "--build-model"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // The compilers that it starts end with it.
        .process_group(0)
        .spawn()
        .map_err(|e| Error::io(emulator, "start", e))?;
    let (input, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let name = &a.machine.name;
    let (status, printed, said) = std::thread::scope(|scope| -> Result<_> {
        let yaml = a.to_yaml();
        // A program that is no emulator may not read it.
        let write = move || input.map(|mut input| input.write_all(yaml.as_bytes()));
        let written = start_in(scope, "that writes to the emulator", write);
        let printed = start_in(scope, "that reads from the emulator", move || {
            let mut text = vec![];
            let _ = out.map(|mut out| out.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        });
        let said = start_in(scope, "that reads from the emulator", move || {
            steps(err.map(BufReader::new), name, show)
        });
        let threads = written.and_then(|_| Ok((printed?, said?)));
        if threads.is_err() {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        }
        let status = wait(&mut child, cancel);
        let (printed, said) = threads?;
        let text = |thread: std::thread::ScopedJoinHandle<'_, String>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok((status, text(printed), text(said)))
    })?;
    let status = status.map_err(|e| Error::io(emulator, "wait for", e))?;
    cancel.check()?;
    let failed = |why: String| {
        Err(Error::Unsupported(format!(
            "{} could not build the model of machine {name}: {why}",
            emulator.display()
        )))
    };
    let model = PathBuf::from(printed.trim_end());
    match (status.success(), status.signal()) {
        (true, _) if model.is_file() => Ok(model),
        (true, _) => failed("it doesn't say where the model is; is it gramer-emulator?".into()),
        (false, Some(signal)) => failed(format!("it was ended by signal {signal}")),
        (false, None) if said.is_empty() => failed(format!("it ended with {status}")),
        (false, None) => failed(said),
    }
}

/// Waits for the end of a child that leads its group. Once the user wants to stop, all of the group
/// is told to, and killed if it doesn't.
fn wait(child: &mut Child, cancel: &Cancel) -> std::io::Result<ExitStatus> {
    const ENDS_WITHIN: Duration = Duration::from_millis(500);
    let group = Pid::from_child(child);
    let mut told: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            if told.is_some() {
                let _ = kill_process_group(group, Signal::KILL);
            }
            return Ok(status);
        }
        match told {
            None if cancel.is_cancelled() => {
                told = Some(Instant::now());
                let _ = kill_process_group(group, Signal::TERM);
            }
            Some(at) if at.elapsed() > ENDS_WITHIN => {
                let _ = kill_process_group(group, Signal::KILL);
            }
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Shows the steps that the emulator prints; gives its other lines.
fn steps(lines: Option<impl BufRead>, machine: &str, show: Option<ShowBuild>) -> String {
    let mut meter = show.map(|show| show(machine));
    let step = |meter: &mut Option<Box<dyn BuildSteps>>, what: &str, of| {
        if let Some(meter) = meter {
            meter.step(what, of);
        }
    };
    let mut said = vec![];
    for line in lines.into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["step", "translating"] => step(&mut meter, "translating", None),
            ["step", "compiling", done, all] => {
                step(&mut meter, "compiling", done.parse().ok().zip(all.parse().ok()));
            }
            ["step", "linking"] => step(&mut meter, "linking", None),
            ["note", ..] => {
                if let Some(meter) = &mut meter {
                    meter.note(&line["note ".len()..]);
                }
            }
            _ => said.push(line),
        }
    }
    said.join("\n").trim_start_matches("gramer-emulator: ").to_string()
}

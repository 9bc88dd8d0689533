//! The container of an emulated machine: the sections that the Xilinx Runtime reads, and a program
//! to start in place of a bitstream.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gramer_machine::{Accelerator, vitis};
use xxhash_rust::xxh3::xxh3_128;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::layout::{
    AP_CTRL_CHAIN, Connection, DDR4, Instance, KERNEL, Memory, connectivity, ip_layout,
    mem_topology,
};
use super::{Mode, Section, Xclbin, kind};
use gramer_graph::error::{Error, Place, Result};
use gramer_graph::output::write_whole;

/// Folder inside the zip that the runtime starts the script in.
const FOLDER: &str = "behav_waveform/xsim";
/// The program that answers the runtime.
pub const EMULATOR: &str = "gramer-emulator";
/// A larger program is not packed but named by its path.
const MOST_BYTES_PACKED: u64 = 64 << 20;

/// What is built.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// Instances of each kernel; those of the description if absent.
    pub compute_units: Option<u32>,
    /// With the functional model of the core instead of its simulated hardware.
    pub functional: bool,
    /// The emulator; [`find_emulator`] finds it if absent.
    pub emulator: Option<PathBuf>,
}

/// Builds the xclbin of a machine and writes it, whole or not at all. What the emulator says
/// while it builds the model of the core goes to standard error.
///
/// # Errors
/// Those of the description, of writing, and [`Error::Unsupported`] if the emulator is missing or
/// can't build the model.
pub fn build(machine: &Accelerator, options: &BuildOptions, out: &Path) -> Result<Xclbin> {
    let mut accelerator = machine.clone();
    if let Some(units) = options.compute_units {
        accelerator.kernels.compute_units = units;
        // The rules of the description hold for it too.
        accelerator = Accelerator::parse(&accelerator.to_yaml(), Path::new("--compute-units"))
            .map_err(|e| Error::usage(e.to_string()))?;
    }
    let emulator = match &options.emulator {
        Some(path) => path.clone(),
        None => find_emulator()?,
    };
    let model = match options.functional {
        true => None,
        false => Some(build_model(&emulator, &accelerator)?),
    };
    let mut xclbin = describe(&accelerator, out);
    let program = bitstream(&accelerator, &emulator, model.as_deref())?;
    xclbin
        .sections
        .insert(0, Section { kind: kind::BITSTREAM, name: String::new(), data: program });
    identify(&mut xclbin);
    let bytes = xclbin.to_bytes();
    write_whole(out, |file| file.write_all(&bytes))?;
    Ok(xclbin)
}

/// Reads a description of a machine; without a path `accelerator.yaml` of the current folder, and
/// where there is none, the machine of the paper.
///
/// # Errors
/// [`Error::Input`] with what is wrong with it.
pub fn read_machine(path: Option<&Path>) -> Result<Accelerator> {
    const HERE: &str = "accelerator.yaml";
    const PAPER: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../accelerator.yaml"));
    let path = path.unwrap_or(Path::new(HERE));
    let read = match path == Path::new(HERE) && !path.exists() {
        true => Accelerator::parse(PAPER, path),
        false => Accelerator::read(path),
    };
    read.map_err(|e| match e {
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
            if let Some(bank) = argument.bank {
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
        ("launch_hw_emu.sh", 0o755, script.into_bytes()),
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

/// Finds the emulator: `GRAMER_EMULATOR`, else beside this program, else on the `PATH`.
///
/// # Errors
/// [`Error::Unsupported`] with how to get it.
pub fn find_emulator() -> Result<PathBuf> {
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
    let here = std::env::current_exe().ok();
    // Tests and examples are one folder below the programs.
    let beside = here.iter().flat_map(|exe| exe.ancestors().skip(1).take(2).map(PathBuf::from));
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join(EMULATOR))
        .find(|file| file.is_file())
        .map(absolute)
        .ok_or_else(|| {
            Error::Unsupported(format!(
                "the emulator `{EMULATOR}` is neither beside gramer nor on the PATH: build it \
                 with `cargo build --release -p gramer-sim --bin {EMULATOR}`, or name it in \
                 GRAMER_EMULATOR"
            ))
        })
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Has the emulator build the model of the core, or find it in its cache.
fn build_model(emulator: &Path, a: &Accelerator) -> Result<PathBuf> {
    let folder = tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), "create", e))?;
    let machine = folder.path().join("machine.yaml");
    std::fs::write(&machine, a.to_yaml()).map_err(|e| Error::io(&machine, "write", e))?;
    let output = Command::new(emulator)
        .arg("--machine")
        .arg(&machine)
        .arg("--build-model")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| Error::io(emulator, "start", e))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let model = PathBuf::from(text.trim_end());
    if output.status.success() && model.is_file() {
        return Ok(model);
    }
    Err(Error::Unsupported(format!(
        "{} could not build the model of machine {}: its message is above",
        emulator.display(),
        a.machine.name
    )))
}

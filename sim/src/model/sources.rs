//! Inputs of a model, and its name: hashes of sources and options.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use gramer_machine::{Accelerator, Core, verilog};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::Build;
use super::files::files;
use super::settings::TRACING;
use crate::cache::{self, Latest};
use crate::compile::processor;

/// Parameters of a build, in addition to its sources.
const HOW: [&str; 8] = [
    include_str!("build.rs"),
    include_str!("files.rs"),
    include_str!("settings.rs"),
    include_str!("sources.rs"),
    include_str!("../compile.rs"),
    include_str!("../compile/own.rs"),
    include_str!("../instances.rs"),
    include_str!("../verilated.rs"),
];

/// Verilator's lint settings, in the folder of the sources.
pub(super) const LINT: &str = "verilator.vlt";

/// Environment variable: folder used instead of `rtl/`, with the files of the repository's list.
pub(super) const RTL: &str = "GRAMER_RTL";

/// Version of Verilator, or `None` if it is missing.
pub fn verilator() -> Option<String> {
    let output = Command::new(program()?).arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Program that prints Verilator's version. `verilator` is a script that takes ten times as long as the binary it
/// starts, and every run on a model needs the version.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut scripts = std::env::split_paths(&path).map(|folder| folder.join("verilator"));
    let script = scripts.find(|script| script.is_file())?;
    let beside = script.with_file_name("verilator_bin");
    let chosen = std::env::var_os("VERILATOR_BIN").is_some();
    Some(if beside.is_file() && !chosen { beside } else { script })
}

/// Coverage collected while a model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// Lines and branches.
    Lines,
    /// Also whether bits of signals toggled.
    Toggles,
    /// Only how often registers, outputs and enables toggled, for an estimate of the energy.
    Activity,
}

/// Inputs of a model.
pub(super) struct Sources {
    pub rtl: PathBuf,
    /// Files of the core in `rtl`, in compile order.
    pub files: Vec<PathBuf>,
    pub shim: PathBuf,
    pub wrapper: Option<PathBuf>, // of the shim
    /// Header of the code that registers public variables.
    pub header: Option<PathBuf>,
    /// Names and text of these files, one after the other, and their hash.
    pub bytes: Vec<u8>,
    pub content: String,
    pub root: PathBuf,
}

/// Finds the sources of a model.
fn sources(
    core: Core,
    other: Option<&Path>,
    coverage: Option<Coverage>,
    trace: bool,
) -> Result<Sources> {
    let root = cache::sources()?;
    let rtl = other
        .map(Path::to_path_buf)
        .unwrap_or_else(|| std::env::var_os(RTL).map_or(root.join("rtl"), PathBuf::from));
    let shim = root.join("sim/shim/shim.cpp");
    let activity = coverage == Some(Coverage::Activity);
    let header = activity.then(|| root.join("sim/shim/activity.hpp"));
    let wrapper = match (coverage, trace) {
        (Some(Coverage::Activity), _) => Some(root.join("sim/shim/activity.cpp")),
        (Some(_), _) => Some(root.join("sim/shim/coverage.cpp")),
        (None, true) => Some(root.join("sim/shim/trace.cpp")),
        (None, false) => None,
    };
    let files = files(&root, core)?;
    let read: Vec<PathBuf> =
        files.iter().map(|file| rtl.join(file)).chain([rtl.join(LINT)]).collect();
    let mut bytes = vec![];
    for file in read.iter().chain([&shim]).chain(&wrapper).chain(&header) {
        bytes.extend(file.file_name().unwrap_or_default().as_encoded_bytes());
        bytes.extend(fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    let content = format!("{:016x}", xxh3_64(&bytes));
    Ok(Sources { rtl, files, shim, wrapper, header, bytes, content, root })
}

/// Options of a model, without its sources.
pub(super) struct ModelRequest {
    pub core: Core,
    pub coverage: Option<Coverage>,
    pub fast: bool,
    pub trace: bool,
    pub accesses: bool,
    pub raw: bool,
    pub package: String,
    /// Text of all options but `raw`, and its hash.
    pub about: String,
    pub key: String,
}

pub(super) fn asked(accelerator: &Accelerator, options: Build) -> Result<ModelRequest> {
    let coverage = match std::env::var("GRAMER_COVERAGE").as_deref() {
        Ok("lines") => Some(Coverage::Lines),
        Ok("toggles") => Some(Coverage::Toggles),
        Ok("activity") => Some(Coverage::Activity),
        Ok(other) if !other.is_empty() => {
            bail!("GRAMER_COVERAGE is {other:?}, but must be lines, toggles, activity or nothing")
        }
        _ => None,
    };
    let package = verilog::package(accelerator);
    let fast = options.fast || coverage.is_some();
    let trace = options.trace && coverage.is_none();
    let mut about = format!("Build {{ fast: {fast} }}{package}");
    if let Some(coverage) = coverage {
        about += &format!("{coverage:?}");
    }
    if trace {
        about += &TRACING.concat();
    }
    if options.accesses {
        about += "accesses";
    }
    let key = format!("{:016x}", xxh3_64(about.as_bytes()));
    let (accesses, raw) = (options.accesses, options.raw);
    let core = accelerator.core;
    Ok(ModelRequest { core, coverage, fast, trace, accesses, raw, package, about, key })
}

/// Name of a model, with its sources (if available) and the folders that may hold it.
pub(super) struct ModelName {
    /// Hash of the whole model.
    pub hash: String,
    /// Name of its folder.
    pub folder: String,
    pub sources: Result<Sources>,
    pub folders: Vec<PathBuf>,
    /// Messages about skipped folders.
    pub notes: Vec<String>,
}

/// Determines the name of a model. Without Verilator or the sources, it is the last model built from the same
/// description and, if they are available, the same sources.
pub(super) fn name(other: Option<&Path>, asked: &ModelRequest) -> Result<ModelName> {
    // The same model built in another way has another folder, but is no other model.
    let raw = if asked.raw { "-raw" } else { "" };
    let how = [HOW.concat(), processor().concat()].concat();
    let how = format!("{:08x}{raw}", xxh3_64(how.as_bytes()) >> 32);
    let sources = sources(asked.core, other, asked.coverage, asked.trace);
    let (root, mut notes) = (sources.as_ref().ok().map(|s| s.root.as_path()), vec![]);
    let folders = cache::folders(root, &mut |note| notes.push(note.to_string()));
    let version = verilator()
        .context("no verilator on the PATH: `apt-get install verilator`, or scripts/setup-rtl.sh");
    let (content, missing) = match (sources, version) {
        (Ok(sources), Ok(version)) => {
            let mut hash = Xxh3::new();
            for part in [version.as_bytes(), asked.about.as_bytes(), &sources.bytes] {
                hash.update(part);
            }
            let hash = format!("{:016x}", hash.digest());
            let folder = format!("{hash}-{how}");
            return Ok(ModelName { hash, folder, sources: Ok(sources), folders, notes });
        }
        (Ok(sources), Err(missing)) => (Some(sources.content), missing),
        (Err(missing), _) => (None, missing),
    };
    let latest = folders.iter().filter_map(|models| Latest::read(models, &asked.key)).find(|l| {
        let same = other.is_none() && content.as_ref().is_none_or(|content| *content == l.content);
        same && std::env::var_os(RTL).is_none() && l.name.ends_with(&how)
    });
    match latest {
        Some(latest) => Ok(ModelName {
            hash: latest.name.split('-').next().unwrap_or_default().into(),
            folder: latest.name,
            sources: Err(missing),
            folders,
            notes,
        }),
        None => Err(missing),
    }
}

/// Hash of a model's YAML, RTL and shim, and of Verilator's version: everything that affects results, which excludes
/// compilers and their options.
///
/// # Errors
/// If Verilator or the sources are missing, and the model has never been built.
pub fn hash(accelerator: &Accelerator, options: Build) -> Result<String> {
    Ok(name(None, &asked(accelerator, options)?)?.hash)
}

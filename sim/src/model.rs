//! Verilated models, built when they are first needed.

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use gramer_machine::{Accelerator, Core, verilog};
use libloading::Library;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::cache::{self, Latest};
use crate::compile::{self, Translated};
use crate::verilated;

/// Most DDR banks that the pins have room for.
pub const MAX_BANKS: usize = 4;

/// The pins of the core for one clock; mirrored by `sim/shim/shim.cpp`.
#[repr(C)]
#[derive(Clone)]
#[allow(missing_docs)]
pub struct Pins {
    // To the core
    pub reset_n: u8,
    pub awvalid: u8,
    pub wvalid: u8,
    pub bready: u8,
    pub arvalid: u8,
    pub rready: u8,
    pub in_tvalid: u8,
    pub in_tlast: u8,
    pub out_tready: u8,
    pub bank_arready: [u8; MAX_BANKS],
    pub bank_rvalid: [u8; MAX_BANKS],
    pub bank_rid: [u8; MAX_BANKS],
    pub bank_rresp: [u8; MAX_BANKS],
    pub wstrb: u8,
    pub awaddr: u32,
    pub wdata: u32,
    pub araddr: u32,
    pub bank_rdata: [[u8; 64]; MAX_BANKS],
    pub in_tdata: [u8; 64],
    // From the core
    pub awready: u8,
    pub wready: u8,
    pub bvalid: u8,
    pub arready: u8,
    pub rvalid: u8,
    pub in_tready: u8,
    pub out_tvalid: u8,
    pub out_tlast: u8,
    pub bank_arvalid: [u8; MAX_BANKS],
    pub bank_rready: [u8; MAX_BANKS],
    pub bank_arid: [u8; MAX_BANKS],
    pub bank_arlen: [u8; MAX_BANKS],
    pub bank_arsize: [u8; MAX_BANKS],
    pub bank_arburst: [u8; MAX_BANKS],
    pub interrupt: u8,
    pub rdata: u32,
    pub bank_araddr: [u64; MAX_BANKS],
    pub out_tdata: [u8; 64],
}

impl Pins {
    /// All pins low.
    pub fn new() -> Box<Self> {
        // SAFETY: every field is an integer or an array of integers, for which 0 is a value.
        unsafe { Box::new(std::mem::zeroed()) }
    }
}

type Handle = *mut std::ffi::c_void;

/// A running instance of a core.
pub struct Model {
    /// No run has been started since it was reset.
    pub fresh: bool,
    /// Seed of what its registers held before the reset, in a model with assertions.
    pub seed: u32,
    handle: Handle,
    cycle: unsafe extern "C" fn(Handle, *mut Pins) -> i32,
    state: unsafe extern "C" fn(Handle) -> *const c_char,
    sum: unsafe extern "C" fn(Handle, *const c_char, *const c_char, u32, u32) -> i64,
    free: unsafe extern "C" fn(Handle),
    /// Holds the code that the pointers above point to; dropped last.
    _library: Library,
}

impl Model {
    /// Loads a library that [`build`] made and creates an instance. The registers of a model with
    /// assertions begin with values drawn by the seed `GRAMER_INITIAL` (1), so that one that the
    /// reset misses is noticed; those of a fast model begin with 0.
    ///
    /// # Errors
    /// If it can't be loaded or is of another version, or if `GRAMER_INITIAL` is no number from 1 to
    /// 2^31 - 1.
    pub fn load(library: &Path) -> Result<Self> {
        let seed = match std::env::var("GRAMER_INITIAL") {
            Ok(text) => text
                .parse()
                .with_context(|| format!("GRAMER_INITIAL is {text:?}, but must be a number"))?,
            Err(_) => 1,
        };
        Self::start(library, seed, &[])
    }

    /// [`Model::load`] with another seed, and with plusargs (`late=3`) for sources that ask for them.
    ///
    /// # Errors
    /// If it can't be loaded or is of another version, or if the seed is not 1 to 2^31 - 1.
    pub fn start(library: &Path, seed: u32, plusargs: &[&str]) -> Result<Self> {
        // 0 would be the time of day.
        ensure!(
            (1..1 << 31).contains(&seed),
            "the seed of the registers' initial values is {seed}, but must be 1 to 2^31 - 1"
        );
        let plusargs = CString::new(plusargs.join(" "))?;
        // Verilator's generator is one of all instances.
        static STARTING: Mutex<()> = Mutex::new(());
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the library was built from our shim, whose functions have these signatures, and
        // it outlives the pointers.
        unsafe {
            let library = Library::new(library)
                .with_context(|| format!("cannot load the model {}", library.display()))?;
            let size = library.get::<unsafe extern "C" fn() -> u64>(b"model_pins_size")?();
            ensure!(size == size_of::<Pins>() as u64, "the model's pins differ; rebuild it");
            let cycle = *library.get(b"model_cycle")?;
            let free = *library.get(b"model_free")?;
            let state = *library.get(b"model_state")?;
            let sum = *library.get(b"model_sum")?;
            let new =
                library.get::<unsafe extern "C" fn(u32, *const c_char) -> Handle>(b"model_new")?;
            let handle = new(seed, plusargs.as_ptr());
            Ok(Model { fresh: true, seed, handle, cycle, state, sum, free, _library: library })
        }
    }

    /// What the core's parts hold, a line each: of those of [`STATE`] that aren't 0.
    pub fn state(&self) -> String {
        // SAFETY: the handle is live, and the text is until the next call.
        unsafe { CStr::from_ptr((self.state)(self.handle)) }.to_string_lossy().into_owned()
    }

    /// The sum of elements `first` to `first + count - 1` of an array of [`STATE`] over all
    /// instances whose path contains `part`, modulo 2^63.
    ///
    /// # Errors
    /// If there is none.
    pub fn sum(&self, part: &str, name: &str, first: u32, count: u32) -> Result<u64> {
        let (part_text, name_text) = (CString::new(part)?, CString::new(name)?);
        // SAFETY: the handle is live, and both texts are for the call.
        let sum = unsafe {
            (self.sum)(self.handle, part_text.as_ptr(), name_text.as_ptr(), first, count)
        };
        u64::try_from(sum).ok().with_context(|| format!("the model shows no {name} of {part}"))
    }

    /// One clock. Outputs are those before the rising edge, so a transfer happens in this clock
    /// where valid and ready are both 1 in `pins` afterwards.
    ///
    /// # Errors
    /// If an assertion in the design has failed; its message is on standard output.
    pub fn cycle(&mut self, pins: &mut Pins) -> Result<()> {
        // SAFETY: the handle is live until drop, and `pins` has the layout of the shim's struct.
        match unsafe { (self.cycle)(self.handle, pins) } {
            0 => Ok(()),
            _ => bail!(
                "an assertion in the design has failed (its registers began with GRAMER_INITIAL={})",
                self.seed
            ),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the handle came from `model_new` and is freed once.
        unsafe { (self.free)(self.handle) }
    }
}

/// How a model is built.
#[derive(Debug, Clone, Copy, Default)]
pub struct Build {
    /// Leave assertions out: faster, for long runs.
    pub fast: bool,
    /// Write a waveform where `GRAMER_TRACE` names a file (`sim/shim/trace.cpp`); slower.
    pub trace: bool,
    /// Print each access to an on-chip memory on standard error, for `scripts/replay.py`: array, line,
    /// rank, 1 if it is high-priority, 1 if it is in the cache.
    pub accesses: bool,
    /// Compile what Verilator wrote as it is, for comparison ([`verilated::improve`]); slower.
    pub raw: bool,
}

/// What a waveform holds: fields of structs one by one, lines of memory whole (512 bits).
const TRACING: [&str; 4] = ["--trace-fst", "--trace-structs", "--trace-max-width", "512"];

/// Settings of the models beside those of `rtl/verilator.vlt`. Copies of a block into its parent make
/// one huge function of the core, which takes longer to compile and to run. Of the blocks that there
/// are several of, [`crate::instances`] makes one function: for that the inputs that each instance has
/// of its own are public. A public clock would be one clock an instance.
const SETTINGS: &str = "`verilator_config
no_inline -module \"gramer_crossbar\"
no_inline -module \"gramer_crossbar_column\"
no_inline -module \"gramer_partition\"
no_inline -module \"gramer_pu\"
public_flat_rd -module \"gramer_crossbar_column\" -var \"push_i\"
public_flat_rd -module \"gramer_crossbar_column\" -var \"ready_i\"
public_flat_rd -module \"gramer_partition\" -var \"edge_*_i\"
public_flat_rd -module \"gramer_partition\" -var \"fill_*_i\"
public_flat_rd -module \"gramer_partition\" -var \"read_*_i\"
public_flat_rd -module \"gramer_partition\" -var \"vertex_*_i\"
public_flat_rd -module \"gramer_pu\" -var \"edge_*_i\"
public_flat_rd -module \"gramer_pu\" -var \"listed_take_i\"
public_flat_rd -module \"gramer_pu\" -var \"unit_valid_i\"
public_flat_rd -module \"gramer_pu\" -var \"vertex_*_i\"
";

/// What [`Model::state`] shows and [`Model::sum`] reads: modules and their registers.
pub const STATE: [(&str, &[&str]); 10] = [
    ("gramer_core", &["state_q", "sweep_q", "status_q", "pu_busy", "poll_busy", "work_finished"]),
    ("gramer_prefetcher", &["state_q", "at_q"]),
    ("gramer_pu", &["counters_q", "listed_q", "stall_q"]),
    ("gramer_receiver", &["unit_valid_q"]),
    ("gramer_slot_buffer", &["busy_q"]),
    ("gramer_crossbar_column", &["some_q"]),
    ("gramer_miss_unit", &["taken_q"]),
    ("gramer_fifo", &["write_q", "read_q"]),
    ("gramer_axi_reader", &["arvalid_q"]),
    ("gramer_pattern_buffer", &["state_q", "queued_q"]),
];

/// What each PU and each partition has of its own where registers lie between them and the rest.
const OWN: [(&str, &[&str]); 2] = [
    (
        "gramer_pu",
        &[
            "rst_i",
            "clear_i",
            "running_i",
            "kill_i",
            "config_i",
            "unit_i",
            "dictionary_*_i",
            "count_*_i",
            "counter_at_i",
        ],
    ),
    (
        "gramer_partition",
        &["rst_i", "config_i", "forget_i", "forget_set_i", "pad_*_i", "clear_i", "counter_at_i"],
    ),
];

/// Settings of the models of the set core, as [`SETTINGS`].
const SET_SETTINGS: &str = "`verilator_config
no_inline -module \"gramer_set_pu\"
public_flat_rd -module \"gramer_set_pu\" -var \"answer_i\"
public_flat_rd -module \"gramer_set_pu\" -var \"push_i\"
";

/// As [`STATE`], of the set core.
const SET_STATE: [(&str, &[&str]); 2] =
    [("gramer_set_pu", &["counters_q"]), ("gramer_fifo", &["write_q", "read_q"])];

/// The folder of the set core in that of the sources.
const SET: &str = "set";

/// The settings of a core's models; what its state names is public, as is what [`OWN`] names where it
/// applies.
fn settings(accelerator: &Accelerator) -> String {
    let (text, state) = match accelerator.core {
        Core::Paper => (SETTINGS, &STATE[..]),
        Core::Set => (SET_SETTINGS, &SET_STATE[..]),
    };
    let mut text = String::from(text);
    let apart = accelerator.core == Core::Paper && accelerator.machine.slr_registers > 0;
    for (module, names) in OWN.iter().filter(|_| apart) {
        for name in *names {
            text += &format!("public_flat_rd -module \"{module}\" -var \"{name}\"\n");
        }
    }
    for (module, names) in state {
        for name in *names {
            text += &format!("public_flat_rd -module \"{module}\" -var \"{name}\"\n");
        }
    }
    text
}

/// What decides how a model is built, beside what it is built from.
const HOW: [&str; 4] = [
    include_str!("model.rs"),
    include_str!("compile.rs"),
    include_str!("instances.rs"),
    include_str!("verilated.rs"),
];

/// Names another folder of the core's sources.
const RTL: &str = "GRAMER_RTL";

/// The version of Verilator, or `None` if there is none.
pub fn verilator() -> Option<String> {
    let output = Command::new("verilator").arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// What is counted while a model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
    /// Lines, and ways of branches.
    Lines,
    /// Bits of signals too.
    Toggles,
}

/// What a model is built from.
struct Sources {
    rtl: PathBuf,
    shim: PathBuf,
    wrapper: Option<PathBuf>, // of the shim
    /// Names and text of these files, one after the other, and their hash.
    bytes: Vec<u8>,
    content: String,
    root: PathBuf,
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
    let wrapper = match (coverage, trace) {
        (Some(_), _) => Some(root.join("sim/shim/coverage.cpp")),
        (None, true) => Some(root.join("sim/shim/trace.cpp")),
        (None, false) => None,
    };
    let mut files = vec![];
    for folder in [Some(rtl.clone()), (core == Core::Set).then(|| rtl.join(SET))] {
        let Some(folder) = folder else { continue };
        let entries = fs::read_dir(&folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .map(|entry| entry.map(|e| e.path()));
        let mut own = entries.collect::<Result<Vec<_>, _>>()?;
        own.retain(|p| p.extension().is_some_and(|e| e == "sv" || e == "vlt"));
        own.sort();
        files.extend(own);
    }
    let mut bytes = vec![];
    for file in files.iter().chain([&shim]).chain(&wrapper) {
        bytes.extend(file.file_name().unwrap_or_default().as_encoded_bytes());
        bytes.extend(fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    let content = format!("{:016x}", xxh3_64(&bytes));
    Ok(Sources { rtl, shim, wrapper, bytes, content, root })
}

/// What is asked of a model beside its sources.
struct Asked {
    core: Core,
    coverage: Option<Coverage>,
    fast: bool,
    trace: bool,
    accesses: bool,
    raw: bool,
    package: String,
    /// All of this but `raw` as text, and its hash.
    about: String,
    key: String,
}

fn asked(accelerator: &Accelerator, options: Build) -> Result<Asked> {
    let coverage = match std::env::var("GRAMER_COVERAGE").as_deref() {
        Ok("lines") => Some(Coverage::Lines),
        Ok("toggles") => Some(Coverage::Toggles),
        Ok(other) if !other.is_empty() => {
            bail!("GRAMER_COVERAGE is {other:?}, but must be lines, toggles or nothing")
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
    Ok(Asked { core, coverage, fast, trace, accesses, raw, package, about, key })
}

/// A model by its name: which sources, if they are there, and in which folders it may lie.
struct Named {
    /// The hash of the whole model.
    hash: String,
    /// Name of its folder.
    folder: String,
    sources: Result<Sources>,
    folders: Vec<PathBuf>,
}

/// The name of a model. Without Verilator or without the sources it is that of the last one that
/// was built of the same description, and, as far as they are there, of the same sources.
fn name(other: Option<&Path>, asked: &Asked) -> Result<Named> {
    // The same model built in another way has another folder, but is no other model.
    let raw = if asked.raw { "-raw" } else { "" };
    let how = format!("{:08x}{raw}", xxh3_64(HOW.concat().as_bytes()) >> 32);
    let sources = sources(asked.core, other, asked.coverage, asked.trace);
    let folders = cache::folders(sources.as_ref().ok().map(|s| s.root.as_path()));
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
            return Ok(Named { hash, folder, sources: Ok(sources), folders });
        }
        (Ok(sources), Err(missing)) => (Some(sources.content), missing),
        (Err(missing), _) => (None, missing),
    };
    let latest = folders.iter().filter_map(|models| Latest::read(models, &asked.key)).find(|l| {
        let same = other.is_none() && content.as_ref().is_none_or(|content| *content == l.content);
        same && std::env::var_os(RTL).is_none() && l.name.ends_with(&how)
    });
    match latest {
        Some(latest) => Ok(Named {
            hash: latest.name.split('-').next().unwrap_or_default().into(),
            folder: latest.name,
            sources: Err(missing),
            folders,
        }),
        None => Err(missing),
    }
}

/// The hash of a model's YAML, RTL and shim and of Verilator's version: of all that a result can
/// depend on, so not of compilers and their settings.
///
/// # Errors
/// If Verilator or the sources are missing, and the model was never built.
pub fn hash(accelerator: &Accelerator, options: Build) -> Result<String> {
    Ok(name(None, &asked(accelerator, options)?)?.hash)
}

/// How far the build of a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Something that the user should know.
    Note(String),
    /// Verilator translates the sources.
    Translating,
    /// So many files are compiled, of so many.
    Compiling(usize, usize),
    /// The library is linked.
    Linking,
}

/// Hears of the steps of a build; an error ends it.
pub type Tell<'a> = dyn FnMut(Step) -> Result<()> + 'a;

/// [`build_telling`], without steps.
///
/// # Errors
/// As [`build_telling`].
pub fn build(accelerator: &Accelerator, options: Build) -> Result<PathBuf> {
    build_telling(accelerator, options, &mut |_| Ok(()))
}

/// Builds the model of a machine, or finds it in the folders of [`cache::folders`].
///
/// `GRAMER_RTL` names another folder of sources: a copy of `rtl/` with faults (`make mutants`),
/// of which `GRAMER_MUTANT` chooses one when an instance is created.
///
/// `GRAMER_COVERAGE=lines` counts which lines run, and `toggles` also which bits change, in a much
/// larger build (`make coverage`). Assertions are left out then, since their messages would be lines
/// that never run.
///
/// # Errors
/// If Verilator or the C++ compiler is missing or refuses the sources; the message holds their
/// output.
pub fn build_telling(
    accelerator: &Accelerator,
    options: Build,
    tell: &mut Tell<'_>,
) -> Result<PathBuf> {
    build_of(None, accelerator, options, tell)
}

/// [`build`] from another folder of sources, whatever `GRAMER_RTL` says.
///
/// # Errors
/// Those of [`build`].
pub fn build_from(rtl: &Path, accelerator: &Accelerator, options: Build) -> Result<PathBuf> {
    build_of(Some(rtl), accelerator, options, &mut |_| Ok(()))
}

fn build_of(
    other: Option<&Path>,
    accelerator: &Accelerator,
    options: Build,
    tell: &mut Tell<'_>,
) -> Result<PathBuf> {
    let asked = asked(accelerator, options)?;
    let Named { hash, folder, sources, folders } = name(other, &asked)?;
    let mut notes = vec![];
    let mut find = || -> Result<Option<PathBuf>> {
        for models in &folders {
            let at = models.join(&folder);
            if let Some(library) = cache::whole(&at, &mut |note| notes.push(note.to_string()))? {
                return Ok(Some(library));
            }
        }
        Ok(None)
    };
    // Threads of one program wait for the first to build it.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let found = find()?;
    for note in notes {
        tell(Step::Note(note))?;
    }
    let remember = |library: &Path, content: &str| {
        if other.is_none()
            && std::env::var_os(RTL).is_none()
            && let Some(models) = library.parent().and_then(Path::parent)
        {
            let latest = Latest { content: content.into(), name: folder.clone() };
            latest.note(models, &asked.key);
        }
    };
    if let Some(library) = found {
        if let Ok(sources) = &sources {
            remember(&library, &sources.content);
        }
        return Ok(library);
    }
    let sources = sources?;
    let models = cache::writable(&folders)?;
    let folder = models.join(&folder);
    let library = folder.join("libcore.so");
    // Built beside its final place and moved there whole: two builds at a time do no harm.
    let work = tempfile::Builder::new().prefix("building-").tempdir_in(models)?;
    let prefix = format!("V{}_{hash}", accelerator.machine.name);
    tell(Step::Translating)?;
    translate(&sources.rtl, &asked, accelerator, &prefix, work.path())?;
    if !asked.raw {
        verilated::improve(work.path())?;
    }
    let what = Translated {
        folder: work.path(),
        prefix: &prefix,
        shim: sources.wrapper.as_ref().unwrap_or(&sources.shim),
        banks: accelerator.core_ports(),
        trace: asked.trace,
        coverage: asked.coverage.is_some(),
        // It runs a few small tasks: most of its time is this compiler's.
        optimise: if asked.raw { "-O1" } else { "-O2" },
    };
    compile::library(&what, models, tell)?;
    cache::seal(&work.path().join("libcore.so"))?;
    if fs::rename(work.path(), &folder).is_err() {
        // Somebody else was faster.
        ensure!(library.exists(), "cannot put the model into {}", folder.display());
    } else {
        let _ = work.keep();
    }
    remember(&library, &sources.content);
    Ok(library)
}

/// Has Verilator write the C++ of a model into `work`.
fn translate(
    rtl: &Path,
    asked: &Asked,
    accelerator: &Accelerator,
    prefix: &str,
    work: &Path,
) -> Result<()> {
    let Asked { coverage, fast, trace, accesses, ref package, .. } = *asked;
    fs::write(work.join("gramer_pkg.sv"), package)?;
    fs::write(work.join("settings.vlt"), settings(accelerator))?;
    let mut command = compile::start("verilator", work);
    command
        .current_dir(rtl)
        .args(["--cc", "-sv", "-Wall", "-O3"])
        .args(["--top-module", accelerator.core_module(), "--prefix", prefix])
        // The functions of a waveform are long lists, and a compiler's time grows faster than a function.
        .args(["--output-split", "40000", "--output-split-ctrace", "1000"]);
    // What a register holds before its reset must not matter: where assertions are, it is random.
    let unknown = if fast { "fast" } else { "unique" };
    command.args(["--x-assign", unknown, "--x-initial", unknown]);
    if fast {
        command.arg("-DSYNTHESIS");
    } else {
        command.arg("--assert");
    }
    if trace {
        command.args(TRACING);
    }
    if accesses {
        command.arg("-DGRAMER_ACCESSES");
    }
    if coverage.is_some() {
        command.arg("--coverage-line");
    }
    if coverage == Some(Coverage::Toggles) {
        command.arg("--coverage-toggle");
    }
    command.arg("--Mdir").arg(work).arg("verilator.vlt");
    command.arg(work.join("settings.vlt")).arg(work.join("gramer_pkg.sv"));
    command.args(match accelerator.core {
        Core::Paper => &["gramer_types_pkg.sv", "-y", ".", "gramer_core.sv"][..],
        Core::Set => {
            &["set/gramer_set_types_pkg.sv", "-y", ".", "-y", SET, "set/gramer_set_core.sv"]
        }
    });
    compile::check(&mut command, "verilator")
}

//! Verilated models, built on first use.

mod build;
pub mod files;
mod settings;
mod sources;

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use libloading::Library;

pub use build::{Step, StepSink, build, build_from, build_telling};
pub use settings::STATE;
pub use sources::{hash, verilator};

/// Maximum of DDR banks in the pins.
pub const MAX_BANKS: usize = 8;

/// Pins of the core for one clock; mirrored by `sim/shim/shim.cpp`.
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
    pub bank_rlast: [u8; MAX_BANKS],
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

/// Receives the pins of every clock.
pub type Observer = Box<dyn FnMut(&Pins)>;

/// Running instance of a core.
pub struct Model {
    /// Whether no run has been started since the reset.
    pub fresh: bool,
    /// Seed of the registers' initial values, in a model with assertions.
    pub seed: u32,
    observer: Option<Observer>,
    handle: Handle,
    cycle: unsafe extern "C" fn(Handle, *mut Pins) -> i32,
    state: unsafe extern "C" fn(Handle) -> *const c_char,
    sum: unsafe extern "C" fn(Handle, *const c_char, *const c_char, u32, u32) -> i64,
    free: unsafe extern "C" fn(Handle),
    /// Library behind the function pointers above; dropped last.
    _library: Library,
}

impl Model {
    /// Loads a library of [`build()`] and creates an instance. In a model with assertions, registers start with random
    /// values (seed `GRAMER_INITIAL`, default 1), which exposes registers without a reset; in a fast model they
    /// start with 0.
    ///
    /// # Errors
    /// If it can't be loaded or has another version, or if `GRAMER_INITIAL` is not a number from 1 to
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

    /// [`Model::load`] with another seed, and with plusargs (`late=3`) for sources that read them.
    ///
    /// # Errors
    /// If it can't be loaded or has another version, or if the seed is not 1 to 2^31 - 1.
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
            let observer = None;
            let fresh = true;
            Ok(Model { fresh, seed, observer, handle, cycle, state, sum, free, _library: library })
        }
    }

    /// Calls `observer` with the pins of every clock from now on.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// State of the core's parts: the registers of [`STATE`] that aren't 0, one per line.
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
        // SAFETY: the handle is live, and both texts outlive the call.
        let sum = unsafe {
            (self.sum)(self.handle, part_text.as_ptr(), name_text.as_ptr(), first, count)
        };
        u64::try_from(sum).ok().with_context(|| format!("the model shows no {name} of {part}"))
    }

    /// Simulates one clock. Outputs are sampled before the rising edge, so a transfer happens in this clock if valid
    /// and ready are both 1 in `pins` afterwards.
    ///
    /// # Errors
    /// If an assertion in the design has failed; its message is on standard output.
    pub fn cycle(&mut self, pins: &mut Pins) -> Result<()> {
        // SAFETY: the handle is live until drop, and `pins` has the layout of the shim's struct.
        let stopped = unsafe { (self.cycle)(self.handle, pins) };
        if let Some(observer) = &mut self.observer {
            observer(pins);
        }
        match stopped {
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

/// Build options of a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Build {
    /// Omits assertions: faster, for long runs.
    pub fast: bool,
    /// Writes a waveform to the file named by `GRAMER_TRACE` (`sim/shim/trace.cpp`); slower.
    pub trace: bool,
    /// Prints each access to an on-chip memory on standard error, for `scripts/replay.py`: array, line,
    /// rank, 1 if it is high-priority, 1 if it is in the cache.
    pub accesses: bool,
    /// Compiles Verilator's output without changes, for comparison (`verilated::improve`); slower.
    pub raw: bool,
}

//! `gramer-emulator`: the device behind the Xilinx Runtime in hardware emulation.
//!
//! The runtime starts it from inside an xclbin and communicates over a unix socket. The emulator simulates the
//! Verilated core, the data movers and the memory of a machine, all in simulated time.

mod device;
mod functional;
mod memory;
mod movers;
mod protocol;

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use clap::Parser;
use gramer_base::memory::{AllocationFailure, end_if_refused};
use gramer_base::pages::LargeArrays;
use gramer_machine::Accelerator;
use gramer_sim::model::{self, Build, Step};
use prost::Message;
use protocol::{Link, call};

/// The emulated device of an xclbin, started by the Xilinx Runtime. With --build-model it builds
/// the model of a machine's core and prints where it is.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// The machine.
    #[arg(long)]
    machine: PathBuf,
    /// The model of its core, a library that --build-model built, or `functional`.
    #[arg(long, required_unless_present = "build_model")]
    model: Option<PathBuf>,
    /// Build the model of the core, or find it in the cache, and print its path.
    #[arg(long, conflicts_with = "model")]
    build_model: bool,
}

#[global_allocator]
static MEMORY: LargeArrays = LargeArrays;

/// Exit of the emulator if memory allocation fails.
static ENDING: AllocationFailure = AllocationFailure {
    program: "gramer-emulator",
    remedy: "raise the memory limit (ulimit -v, ulimit -d)",
};

fn main() -> ExitCode {
    end_if_refused(&ENDING);
    let options = Options::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be there to read it.
            let _ = writeln!(std::io::stderr(), "gramer-emulator: {error:#}");
            log(&format!("gramer-emulator: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let accelerator = Accelerator::read(&options.machine)?;
    if options.build_model {
        // Only a model that was built for it can write a waveform.
        let trace = std::env::var_os("GRAMER_TRACE").is_some();
        end_with_the_group();
        let build = Build { trace, ..Build::default() };
        let library = model::build_telling(&accelerator, build, &mut tell)?;
        return Ok(writeln!(std::io::stdout(), "{}", library.display())?);
    }
    let library = options.model.clone().context("--model is missing")?;
    let library = match library.as_os_str() == "functional" {
        true => None,
        false => Some(std::path::absolute(&library)?),
    };
    let id = std::env::var("EMULATION_SOCKETID")
        .context("EMULATION_SOCKETID is not set: the Xilinx Runtime starts this program")?;
    let user = std::env::var("USER").context("USER is not set")?;
    capture_output()?;
    let mut link = Link::connect(&Path::new("/tmp").join(user), &id)?;
    let device = device::Device::start(accelerator, library)?;
    while let Some((number, payload)) = link.receive()? {
        serve(&device, &mut link, number, &payload)?;
        if number == call::CLOSE {
            break;
        }
    }
    Ok(())
}

/// Reports the progress of a model's build, in lines that `gramer` parses. The build ends on a broken pipe.
fn tell(step: Step) -> Result<()> {
    let line = match step {
        Step::Note(text) => format!("note {text}"),
        Step::Translating => "step translating".into(),
        Step::Compiling(done, all) => format!("step compiling {done} {all}"),
        Step::Linking => "step linking".into(),
    };
    writeln!(std::io::stderr(), "{line}").context("nobody waits for the model")
}

/// Forwards termination signals to the compilers, if this process leads their group; the build then fails and
/// removes its folder.
fn end_with_the_group() {
    extern "C" fn pass_on(signal: libc::c_int) {
        static PASSED: AtomicBool = AtomicBool::new(false);
        if !PASSED.swap(true, Ordering::Relaxed) {
            // SAFETY: all three calls are async-signal-safe.
            unsafe {
                if libc::getpgrp() == libc::getpid() {
                    libc::kill(0, signal);
                }
            }
        }
    }
    let handler = pass_on as extern "C" fn(libc::c_int);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler makes async-signal-safe calls only.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

/// Answers one request.
fn serve(device: &device::Device, link: &mut Link, number: u32, payload: &[u8]) -> Result<()> {
    match number {
        call::ENVIRONMENT => link.answer(&protocol::Done { ok: true }),
        call::ALLOCATE => {
            let request = protocol::Allocate::decode(payload)?;
            let ok = device.memory().holds(request.address, request.size);
            link.answer(&protocol::Allocated { ok, file: String::new() })
        }
        call::FREE => link.answer(&protocol::Done { ok: true }),
        call::TO_DEVICE => {
            let request = protocol::ToDevice::decode(payload)?;
            let size = request.data.len().min(request.size as usize);
            device.memory().write(request.address + request.seek, &request.data[..size]);
            link.answer(&protocol::Size { size: request.size })
        }
        call::FROM_DEVICE => {
            let request = protocol::FromDevice::decode(payload)?;
            let mut data = vec![0; request.size as usize];
            device.memory().read(request.address + request.skip, &mut data);
            link.answer(&protocol::Data { size: request.size, data })
        }
        call::WRITE_MEMORY => {
            let request = protocol::WriteAt::decode(payload)?;
            device.memory().write(request.address, &request.data);
            link.answer(&protocol::Done { ok: true })
        }
        call::WRITE_CONTROL => {
            let request = protocol::WriteAt::decode(payload)?;
            device.write_control(request.address, &request.data);
            link.answer(&protocol::Done { ok: true })
        }
        call::READ_MEMORY => {
            let request = protocol::ReadAt::decode(payload)?;
            let mut data = vec![0; request.size as usize];
            device.memory().read(request.address, &mut data);
            link.answer(&protocol::Value { ok: true, data })
        }
        call::READ_CONTROL => {
            let request = protocol::ReadAt::decode(payload)?;
            let mut data = vec![];
            for at in (0..request.size.max(4)).step_by(4) {
                data.extend(device.read_control(request.address + u64::from(at)).to_le_bytes());
            }
            data.truncate(request.size as usize);
            link.answer(&protocol::Value { ok: true, data })
        }
        call::TRACE_COUNT => link.answer(&protocol::Size { size: 0 }),
        call::TIME => link.answer(&protocol::Size { size: device.nanoseconds() }),
        call::MESSAGES => {
            let shown = device.messages().into_bytes();
            link.answer(&protocol::Messages { shown, log: vec![], stop: vec![] })
        }
        call::CLOSE => {
            link.answer(&protocol::Done { ok: true })?;
            link.closed();
            match device.failure() {
                Some(reason) => bail!("{reason}"),
                None => Ok(()),
            }
        }
        // Performance monitors and the bus status: there are none.
        _ => link.answer(&()),
    }
}

/// Redirects the output of the design's assertions to a file, which error messages quote.
static OUTPUT: Mutex<Option<File>> = Mutex::new(None);

fn capture_output() -> Result<()> {
    // Here, in the runtime's folder: a temporary folder that the user names may be missing.
    let file = tempfile::tempfile_in(".").context("cannot make a temporary file")?;
    // SAFETY: both descriptors are open, and standard output stays one.
    if unsafe { libc::dup2(file.as_raw_fd(), libc::STDOUT_FILENO) } < 0 {
        bail!("cannot redirect the output: {}", std::io::Error::last_os_error());
    }
    *OUTPUT.lock().expect("nobody holds it yet") = Some(file);
    Ok(())
}

/// Output so far.
fn output() -> String {
    // SAFETY: a null stream means all of them.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let mut text = String::new();
    if let Some(file) = OUTPUT.lock().ok().as_deref_mut().and_then(Option::as_mut) {
        let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
    }
    text
}

/// Index of the runtime's device that this process emulates: the runtime names devices `device1_0_PROCESS`, starting at
/// `device0`.
pub(crate) fn device_number() -> usize {
    let id = std::env::var("EMULATION_SOCKETID").unwrap_or_default();
    let number = id.strip_prefix("device").and_then(|rest| rest.split('_').next()?.parse().ok());
    number.unwrap_or(0)
}

/// Appends a message to the file named by `GRAMER_EMULATOR_LOG`, since the runtime discards the output of this
/// process.
fn log(text: &str) {
    append("GRAMER_EMULATOR_LOG", text);
}

/// Appends a line to the file named by an environment variable, if it is set.
pub(crate) fn append(variable: &str, text: &str) {
    let Some(path) = std::env::var_os(variable) else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = writeln!(file, "{text}");
    }
}

//! Emulated devices: `--device emulator[:MACHINE][:functional]`, which builds what it needs, and
//! `--device FILE.xclbin` of an emulated one, both behind the unmodified Xilinx Runtime.
//!
//! A command (`gramer` itself) runs as a child in a session of its own, with the runtime's environment
//! set up in a private folder. A program that only uses the library takes [`crate::emulated`] instead, which
//! starts that command. This process watches over child and emulator: when one of them
//! dies, the other's group is killed, the reason is printed and nothing is left behind.

mod folder;
mod setup;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::xclbin::Xclbin;
use crate::xclbin::build::ShowBuild;
use gramer_graph::context::Cancel;
use gramer_graph::error::{Error, Result};
use setup::Setup;
use tracing::info;

pub use setup::lacking;

/// Tells a child the xclbin that stands for its `--device emulator`.
const XCLBIN: &str = "GRAMER_EMULATED_XCLBIN";
/// Names the file in which an emulated device says what each PU does over time, where that is wanted.
pub(crate) const TIMELINE: &str = "GRAMER_EMULATOR_TIMELINE";
/// Names the folder in which a child says how far it is, by files with the names below.
const FOLDER: &str = "GRAMER_EMULATED_FOLDER";
/// It opens the device, and has done so.
const OPENING: &str = "opening";
const OPENED: &str = "opened";
/// It has noticed that it shall stop.
const NOTICED: &str = "noticed";
/// It came to its own end.
const END: &str = "end";
/// That the user has set the runtime up for an emulation.
const EMULATION: &str = "XCL_EMULATION_MODE";
/// Names the seconds within which an emulated device must come up.
const STARTS_WITHIN: &str = "GRAMER_EMULATION_STARTS_WITHIN";
/// So many where it isn't set: simulators of others take their time.
const STARTS_WITHIN_SECONDS: u64 = 120;
/// So long a child that opens the device may have no process beside it: its simulator has gone.
const ALONE: Duration = Duration::from_secs(10);
/// So long a child that shall stop may go on opening the device.
const OPENING_STOPS: Duration = Duration::from_millis(700);
/// How long a run that shall stop may go on while its emulator, or the child itself, is frozen (`SIGSTOP`): a
/// frozen process never answers.
const FROZEN_STOPS: Duration = Duration::from_secs(1);
/// How long any run that shall stop may go on: kernels are stopped between two looks at the abort word.
const STOPS_WITHIN: Duration = Duration::from_secs(10);
/// So long the child may go on when its emulator is gone: at the end it has a few things to do.
const WITHOUT_EMULATOR: Duration = Duration::from_secs(3);
/// So long if it has said that it came to its end, or has closed the device: where no library
/// shortens the runtime's naps, it takes some of up to 10 s.
const AT_ITS_END: Duration = Duration::from_secs(60);
/// So long the emulator may take to end when the child has ended.
const EMULATOR_ENDS: Duration = Duration::from_secs(2);
/// The signal that asks a child to stop. While the runtime waits for a program that it started, it
/// ignores that of Ctrl-C.
const STOP: Signal = Signal::TERM;

/// A launcher is at work, and the user wants it to end at once.
static AT_WORK: AtomicBool = AtomicBool::new(false);
static GIVE_UP: AtomicBool = AtomicBool::new(false);

/// Asks a launcher that is at work to kill what it started and to leave nothing behind; whether
/// there is one.
pub fn give_up() -> bool {
    let at_work = AT_WORK.load(Ordering::Relaxed);
    GIVE_UP.store(at_work, Ordering::Relaxed);
    at_work
}

/// What is to be emulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A machine, whose xclbin is built.
    Machine {
        /// Name or description of the machine; see [`crate::xclbin::build::read_machine`].
        machine: Option<PathBuf>,
        /// With the functional model of the core.
        functional: bool,
    },
    /// An xclbin that holds its simulator.
    File {
        /// The file.
        path: PathBuf,
        /// The devices that it programs.
        indices: Vec<usize>,
    },
}

/// What `--device` asks for, if it names an emulation that has to be set up.
///
/// # Errors
/// Those of reading an xclbin.
pub fn parse(device: &str) -> Result<Option<Request>> {
    if let Some(request) = parse_machine(device) {
        return Ok(Some(request));
    }
    let own = std::env::var_os(EMULATION).is_some_and(|mode| !mode.is_empty());
    if own || !crate::is_xclbin(device) {
        return Ok(None);
    }
    let (path, indices) = crate::parse(device)?;
    let emulated = Xclbin::read(&path)?.mode.is_emulation();
    Ok(emulated.then_some(Request::File { path, indices }))
}

fn parse_machine(device: &str) -> Option<Request> {
    let rest = device.strip_prefix("emulator")?;
    if rest.is_empty() {
        return Some(Request::Machine { machine: None, functional: false });
    }
    let rest = rest.strip_prefix(':')?;
    let (machine, functional) = match rest.strip_suffix("functional") {
        Some("") => ("", true),
        Some(machine) if machine.ends_with(':') => (&machine[..machine.len() - 1], true),
        _ => (rest, false),
    };
    let machine = (!machine.is_empty()).then(|| machine.into());
    Some(Request::Machine { machine, functional })
}

/// The xclbin that stands for the emulation, in the child of a launcher.
pub fn xclbin_of_child() -> Option<String> {
    std::env::var(XCLBIN).ok().filter(|path| !path.is_empty())
}

/// Leaves a word for the launcher, if there is one.
fn tell_launcher(what: &str) {
    if let Some(folder) = std::env::var_os(FOLDER) {
        // Nothing can be done where even this can't be written.
        let _ = std::fs::write(Path::new(&folder).join(what), "");
    }
}

/// Tells the launcher, if there is one, that this process comes to its own end: the runtime
/// catches a crash and leaves as if nothing were the matter.
pub fn ends() {
    tell_launcher(END);
}

/// Tells the launcher, if there is one, that this process has been asked to stop and knows it.
pub fn noticed() {
    tell_launcher(NOTICED);
}

/// Tells the launcher, if there is one, that the device is about to be opened, or is open.
pub fn opens(done: bool) {
    tell_launcher(if done { OPENED } else { OPENING });
}

/// How long an emulated device may take to come up.
pub fn starts_within() -> Duration {
    let named = std::env::var(STARTS_WITHIN).ok().and_then(|text| text.parse().ok());
    Duration::from_secs(named.unwrap_or(STARTS_WITHIN_SECONDS))
}

/// The command that runs in an emulation.
#[derive(Debug, Clone)]
pub struct Launched {
    /// The program; a copy of it lies in the private folder. It must open what [`xclbin_of_child`] names.
    pub program: PathBuf,
    /// Its words.
    pub arguments: Vec<OsString>,
    /// Variables of the environment that it finds there.
    pub told: Vec<(&'static str, String)>,
    /// Shows how far the build of a model is.
    pub show: Option<ShowBuild>,
    /// Have the device say what each PU does over time.
    pub timeline: bool,
}

/// Runs a command in an emulation and gives its exit code. A wish to stop is passed on.
///
/// # Errors
/// [`Error::Unsupported`] for what is missing, with how to get it; [`Error::Device`] if emulator
/// or child die; [`Error::Interrupted`] if it was stopped before there were results.
pub fn run(request: &Request, launched: &Launched, cancel: &Cancel) -> Result<u8> {
    let setup = Setup::new(request, launched, cancel)?;
    cancel.check()?;
    let mut device = OsString::from(&setup.xclbin);
    if let Request::File { path, indices } = request {
        device = std::path::absolute(path).map_err(|e| Error::io(path, "find", e))?.into();
        let indices: Vec<String> = indices.iter().map(usize::to_string).collect();
        device.push(format!("@{}", indices.join(",")));
        // Its simulator is a program of whoever made the file.
        let _ = writeln!(
            std::io::stderr(),
            "note: {} holds a program that stands for the device and now runs as you: use only files \
             that you trust",
            path.display()
        );
    }
    info!(folder = %setup.folder().display(), "an emulation is started, with this program as its child");
    let mut command = Command::new(&setup.program);
    command
        .args(&launched.arguments)
        .env(XCLBIN, device)
        .env(FOLDER, setup.folder())
        .envs(launched.told.iter().map(|(name, value)| (name, value)))
        .env_remove(TIMELINE)
        .envs(setup.environment());
    // SAFETY: between fork and exec only two system calls are made, which allocate nothing.
    unsafe {
        command.pre_exec(|| {
            // After a crash the runtime signals its whole process group, which must not be ours.
            rustix::process::setsid()?;
            // If we are killed, so is it.
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            Ok(())
        });
    }
    AT_WORK.store(true, Ordering::Relaxed);
    let mut child = command.spawn().map_err(|e| Error::io(&setup.program, "start", e))?;
    let group = Pid::from_child(&child);
    let outcome = watch(&mut child, &setup, cancel);
    // One that was left before the device was open doesn't know that yet.
    if outcome.is_ok() && (setup.has(OPENED) || !cancel.is_cancelled()) {
        wait_for(|| !setup.emulator_runs(), EMULATOR_ENDS);
    }
    // Whatever is left of the session: the emulator, and what it may have started.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    if let Some(pid) = setup.emulator() {
        let _ = kill_process(pid, Signal::KILL);
        wait_for(|| !setup.emulator_runs(), EMULATOR_ENDS);
    }
    let said = setup.said();
    if GIVE_UP.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let ended = setup.has(END);
    match outcome {
        Ok(status) => match status.code() {
            Some(0) => Ok(0),
            // It hadn't begun to listen, or was killed by the runtime on its way out.
            _ if cancel.is_cancelled() && !ended => Err(Error::Interrupted),
            Some(code) if !ended => {
                Err(died(&format!("ended by a crash, with exit code {code}"), &said))
            }
            Some(code) => {
                let log = setup.log();
                if !log.is_empty() {
                    let _ = writeln!(std::io::stderr(), "gramer: {log}");
                }
                Ok(code as u8)
            }
            None => Err(died(&format!("ended by {}", signal(status)), &said)),
        },
        Err(_) if cancel.is_cancelled() => Err(Error::Interrupted),
        Err(what) => Err(died(&what, &said)),
    }
}

fn signal(status: ExitStatus) -> String {
    match status.signal() {
        Some(number) => format!("signal {number}"),
        None => "an unknown cause".into(),
    }
}

fn died(what: &str, said: &str) -> Error {
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    Error::Device(format!("the emulated run was {what}{said}"))
}

/// Waits for the child. `Err` says why it must be given up.
fn watch(child: &mut Child, setup: &Setup, cancel: &Cancel) -> Result<ExitStatus, String> {
    let own = Pid::from_child(child);
    let (mut asked, mut gone) = (Since::default(), Since::default());
    let (mut company, mut alone, mut frozen) = (false, Since::default(), Since::default());
    for round in 0u64.. {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(e) => return Err(format!("lost: {e}")),
        }
        if GIVE_UP.load(Ordering::Relaxed) {
            return Err("stopped at once".into());
        }
        let opened = setup.has(OPENED);
        let asked = asked.holds_for(cancel.is_cancelled());
        if asked > OPENING_STOPS && !opened {
            return Err("stopped while it opened the device".into());
        }
        // The device may freeze at any time; nobody looks as long as nobody waits for the end.
        let is_frozen = !asked.is_zero() && (is_stopped(own) || setup.emulator_is_stopped());
        if asked > STOPS_WITHIN || frozen.holds_for(is_frozen) > FROZEN_STOPS {
            return Err("stopped, though the emulator didn't answer".into());
        }
        // Until it says that it knows: what it is doing may swallow a signal.
        if cancel.is_cancelled() && !setup.has(NOTICED) {
            let _ = kill_process(own, STOP);
        }
        if !opened && setup.has(OPENING) && round % 20 == 0 {
            let (living, dead) = company_of(own);
            company |= living || dead;
            if alone.holds_for(company && !living && !setup.emulator_runs()) > ALONE {
                return Err(
                    "given up because the simulator ended before the device was open".into()
                );
            }
        }
        let dead = setup.emulator().is_some() && !setup.emulator_runs();
        // Its answers will never come, and the runtime waits for them for ever.
        let orderly = setup.has(END) || setup.closed();
        let patience = if orderly { AT_ITS_END } else { WITHOUT_EMULATOR };
        if gone.holds_for(dead) > patience {
            return Err("given up because the emulator ended before it".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    unreachable!("the rounds don't end")
}

/// Since when something holds.
#[derive(Default)]
struct Since(Option<Instant>);

impl Since {
    /// How long it has held; nothing if it doesn't now.
    fn holds_for(&mut self, holds: bool) -> Duration {
        self.0 = holds.then(|| self.0.unwrap_or_else(Instant::now));
        self.0.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// The state of a process in `/proc` (`R`, `S`, `T`, `Z` …); `None` for a process that isn't there.
fn state_of(pid: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The state follows the name, which is in brackets and may hold anything.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Whether a process was stopped by a signal (or a debugger).
fn is_stopped(pid: Pid) -> bool {
    matches!(state_of(pid), Some('T' | 't'))
}

/// Whether a process that leads its session has others in it: living ones, and ended ones that it
/// hasn't asked for.
fn company_of(leader: Pid) -> (bool, bool) {
    let leader = leader.as_raw_nonzero().get();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|p| p.file_name().to_str()?.parse::<i32>().ok());
    let (mut living, mut dead) = (false, false);
    for number in numbers.filter(|&number| number != leader) {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // The state follows the name, which is in brackets and may hold anything.
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let state = fields.next();
        if fields.nth(2).and_then(|field| field.parse().ok()) == Some(leader) {
            match state {
                Some("Z" | "X") => dead = true,
                _ => living = true,
            }
        }
    }
    (living, dead)
}

fn wait_for(done: impl Fn() -> bool, limit: Duration) {
    let begun = Instant::now();
    while !done() && begun.elapsed() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulation_is_named_with_machine_and_model() {
        let request = |machine: Option<&str>, functional| {
            Some(Request::Machine { machine: machine.map(PathBuf::from), functional })
        };
        let parse = |device: &str| parse(device).unwrap();
        assert_eq!(parse("emulator"), request(None, false));
        assert_eq!(parse("emulator:functional"), request(None, true));
        assert_eq!(parse("emulator:a/b.yaml"), request(Some("a/b.yaml"), false));
        assert_eq!(parse("emulator:b.yaml:functional"), request(Some("b.yaml"), true));
        assert_eq!(parse("emulator:dysfunctional"), request(Some("dysfunctional"), false));
        for other in ["cpu", "emulators", "emulator.yaml"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}

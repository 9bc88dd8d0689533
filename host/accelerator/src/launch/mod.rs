//! `--device emulator[:MACHINE][:functional]`: the accelerator, simulated behind the unmodified
//! Xilinx Runtime.
//!
//! The command runs once more as a child in a session of its own, with the runtime's environment
//! set up in a private folder. This process watches over child and emulator: when one of them
//! dies, the other's group is killed, the reason is printed and nothing is left behind.

mod setup;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use gramer_graph::context::Cancel;
use gramer_graph::error::{Error, Result};
use setup::Setup;

/// Tells a child the xclbin that stands for its `--device emulator`.
const XCLBIN: &str = "GRAMER_EMULATED_XCLBIN";
/// Where a child says that it came to its own end.
const END: &str = "GRAMER_EMULATED_END";
/// So long the child may go on when its emulator is gone: at the end it has a few things to do.
const WITHOUT_EMULATOR: Duration = Duration::from_secs(3);
/// So long if it has said that it came to its end, or has closed the device: where no library
/// shortens the runtime's naps, it takes some of up to 10 s.
const AT_ITS_END: Duration = Duration::from_secs(60);
/// So long the emulator may take to end when the child has ended.
const EMULATOR_ENDS: Duration = Duration::from_secs(2);

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
pub struct Request {
    /// Description of the machine; see [`crate::xclbin::build::read_machine`].
    pub machine: Option<PathBuf>,
    /// With the functional model of the core.
    pub functional: bool,
}

/// What `--device` asks for, if it names an emulation.
pub fn parse(device: &str) -> Option<Request> {
    let rest = device.strip_prefix("emulator")?;
    if rest.is_empty() {
        return Some(Request { machine: None, functional: false });
    }
    let rest = rest.strip_prefix(':')?;
    let (machine, functional) = match rest.strip_suffix("functional") {
        Some("") => ("", true),
        Some(machine) if machine.ends_with(':') => (&machine[..machine.len() - 1], true),
        _ => (rest, false),
    };
    // `small` is machines/small.yaml, unless there is a file of that name.
    let machine = (!machine.is_empty()).then(|| {
        let named = Path::new("machines").join(format!("{machine}.yaml"));
        match !Path::new(machine).exists() && named.exists() {
            true => named,
            false => machine.into(),
        }
    });
    Some(Request { machine, functional })
}

/// The xclbin that stands for the emulation, in the child of a launcher.
pub fn xclbin_of_child() -> Option<String> {
    std::env::var(XCLBIN).ok().filter(|path| !path.is_empty())
}

/// Tells the launcher, if there is one, that this process comes to its own end: the runtime
/// catches a crash and leaves as if nothing were the matter.
pub fn ends() {
    if let Some(path) = std::env::var_os(END) {
        // Nothing can be done where even this can't be written.
        let _ = std::fs::write(path, "");
    }
}

/// Runs this program's command line in an emulation and gives its exit code. Ctrl-C is passed on.
///
/// # Errors
/// [`Error::Unsupported`] for what is missing, with how to get it; [`Error::Device`] if emulator
/// or child die.
pub fn run(request: &Request, cancel: &Cancel) -> Result<u8> {
    let setup = Setup::new(request)?;
    let mut command = Command::new(&setup.program);
    command
        .args(std::env::args_os().skip(1))
        .env(XCLBIN, &setup.xclbin)
        .env(END, setup.end())
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
    if outcome.is_ok() {
        wait_for(|| !setup.emulator_runs(), EMULATOR_ENDS);
    }
    // Whatever is left of the session: the emulator, and what it may have started.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    if let Some(pid) = setup.emulator() {
        let _ = kill_process(pid, Signal::KILL);
        wait_for(|| !setup.emulator_runs(), EMULATOR_ENDS);
    }
    let said = setup.log();
    if GIVE_UP.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    match outcome {
        Ok(status) => match status.code() {
            Some(0) => Ok(0),
            Some(code) if !setup.end().exists() => {
                Err(died(&format!("ended by a crash, with exit code {code}"), &said))
            }
            Some(code) => {
                if !said.is_empty() {
                    eprintln!("gramer: {said}");
                }
                Ok(code as u8)
            }
            None => Err(died(&format!("ended by {}", signal(status)), &said)),
        },
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
    let (mut told, mut gone_since) = (false, None);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(e) => return Err(format!("lost: {e}")),
        }
        if GIVE_UP.load(Ordering::Relaxed) {
            return Err("stopped at once".into());
        }
        if cancel.is_cancelled() && !told {
            told = true;
            let _ = kill_process(Pid::from_child(child), Signal::INT);
        }
        let gone = setup.emulator().is_some() && !setup.emulator_runs();
        gone_since = match gone {
            true => gone_since.or_else(|| Some(Instant::now())),
            false => None,
        };
        // Its answers will never come, and the runtime waits for them for ever.
        let orderly = setup.end().exists() || setup.closed();
        let patience = if orderly { AT_ITS_END } else { WITHOUT_EMULATOR };
        if gone_since.is_some_and(|since: Instant| since.elapsed() > patience) {
            return Err("given up because the emulator ended before it".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
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
            Some(Request { machine: machine.map(PathBuf::from), functional })
        };
        assert_eq!(parse("emulator"), request(None, false));
        assert_eq!(parse("emulator:functional"), request(None, true));
        assert_eq!(parse("emulator:a/b.yaml"), request(Some("a/b.yaml"), false));
        assert_eq!(parse("emulator:b.yaml:functional"), request(Some("b.yaml"), true));
        assert_eq!(parse("emulator:dysfunctional"), request(Some("dysfunctional"), false));
        for other in ["cpu", "emulators", "a.xclbin", "emulator.xclbin"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}

//! Emulated devices: `--device emulator[:MACHINE][:functional]`, which builds what it needs, and
//! `--device FILE.xclbin` of an emulated one, both behind the unmodified Xilinx Runtime.
//!
//! The runtime takes an emulation from the environment of its process. That is the worker of [`crate::emulated`]: it runs in
//! its own session, with the environment that `setup` makes in a private folder. A thread here watches over worker
//! and emulator: when one of them dies, the rest is killed, and nothing is left behind.

mod folder;
mod setup;
mod watch;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::xclbin::Xclbin;
use gramer_base::error::Result;

pub(crate) use setup::Setup;
pub use setup::lacking;
pub(crate) use watch::{Pipes, Watch};

/// Names the file in which an emulated device says what each PU does over time, where that is wanted.
pub(crate) const TIMELINE: &str = "GRAMER_EMULATOR_TIMELINE";
/// That the user has set the runtime up for an emulation.
const EMULATION: &str = "XCL_EMULATION_MODE";
/// Names the seconds within which an emulated device must come up.
const STARTS_WITHIN: &str = "GRAMER_EMULATION_STARTS_WITHIN";
/// Default of [`STARTS_WITHIN`]: simulators of others take their time.
const STARTS_WITHIN_SECONDS: u64 = 120;

/// Workers under watch, and whether the user wants them to end at once.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
static GIVE_UP: AtomicBool = AtomicBool::new(false);

/// Has all workers killed, whose runs then end; whether there is one. A signal's handler may call it.
pub fn give_up() -> bool {
    let at_work = AT_WORK.load(Ordering::Relaxed) > 0;
    GIVE_UP.store(at_work, Ordering::Relaxed);
    at_work
}

/// The machine to emulate.
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

/// How long an emulated device may take to come up.
pub fn starts_within() -> Duration {
    let named = std::env::var(STARTS_WITHIN).ok().and_then(|text| text.parse().ok());
    Duration::from_secs(named.unwrap_or(STARTS_WITHIN_SECONDS))
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

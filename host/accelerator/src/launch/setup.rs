//! The private folder of an emulation, with all files that the Xilinx Runtime looks for.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use gramer_machine::{Accelerator, Core, trust};
use rustix::process::Pid;

use super::folder::{PrivateFolder, folders};
use super::watch::{is_stopped, state_of};
use super::{Request, TIMELINE};
use crate::emulated::Options;
use crate::runtime::Obstacle;
use crate::xclbin::Xclbin;
use crate::xclbin::build::{
    BuildOptions, build, find_emulator, find_emulator_beside, read_machine,
};
use gramer_base::context::Cancel;
use gramer_base::error::{Error, Place, Result};
use gramer_base::output::check_new;
use gramer_base::standard_output;

/// AMD's own installation, which is preferred, and where a distribution puts the libraries.
const AMD: &str = "/opt/xilinx/xrt";
const SYSTEM: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
/// Bytes of a transfer between runtime and emulator.
const PACKET: usize = 1 << 20;
/// Most devices that one emulation has.
const MOST_DEVICES: usize = 16;
/// Names the file of a waveform that the emulator writes.
const TRACE: &str = "GRAMER_TRACE";
/// What the runtime prints, and how many of its last lines a failure quotes.
const RUNTIME_LOG: &str = "runtime.log";
const LINES_QUOTED: usize = 3;

/// A set-up, whose folders are removed when it is dropped.
#[derive(Debug)]
pub struct Setup {
    private: PrivateFolder,
    /// The program in the folder: the runtime puts its own folders beside it.
    pub program: PathBuf,
    /// The xclbin.
    pub xclbin: PathBuf,
    xrt: PathBuf,
    sleep: Option<PathBuf>,
    timeline: bool,
    /// The runtime's sockets, where they aren't in the private folder.
    _sockets: Option<PrivateFolder>,
}

impl Setup {
    /// Builds what is missing and puts everything in its place.
    pub fn new(
        request: &Request,
        (helper, options): (&Path, &Options),
        cancel: &Cancel,
    ) -> Result<Self> {
        let wanted = SetupRequest::of(request)?;
        if let Some(trace) = std::env::var_os(TRACE) {
            check_new(Path::new(&trace), &[])?;
        }
        let libraries = libraries()?;
        if !on_path("unzip") {
            return Err(Error::Unsupported(
                "the Xilinx Runtime needs the program unzip: apt-get install unzip".into(),
            ));
        }
        let emulator = match request {
            Request::Machine { .. } => Some(find_emulator_beside(Some(helper))?),
            // It brings its own; with ours comes the library that shortens naps.
            Request::File { .. } => find_emulator_beside(Some(helper)).ok(),
        };
        let (private, sockets) = folders(&std::env::temp_dir())?;
        let at = |name: &str| private.path().join(name);
        let write = |name: &str, text: &str| {
            fs::write(at(name), text).map_err(|e| Error::io(at(name), "write", e))
        };
        let make =
            |name: &str| fs::create_dir(at(name)).map_err(|e| Error::io(at(name), "create", e));
        make("icd")?;
        write("icd/xilinx.icd", &format!("{}/libxilinxopencl.so.2\n", libraries.display()))?;
        let xrt = match libraries.parent().filter(|_| !SYSTEM.map(Path::new).contains(&&*libraries))
        {
            Some(xrt) => xrt.to_path_buf(),
            None => {
                make("xrt")?;
                let link = at("xrt/lib");
                std::os::unix::fs::symlink(&libraries, &link)
                    .map_err(|e| Error::io(&link, "create", e))?;
                at("xrt")
            }
        };
        write("emconfig.json", &platform(&wanted))?;
        write("xrt.ini", &runtime_settings())?;

        let xclbin = at("device.xclbin");
        if let Some(machine) = &wanted.machine {
            let how = BuildOptions {
                functional: wanted.functional,
                emulator: emulator.clone(),
                cancel: cancel.clone(),
                show: options.build,
                ..BuildOptions::default()
            };
            build(machine, &how, &xclbin)?;
        }

        let program = at("gramer");
        if fs::hard_link(helper, &program).is_err() {
            fs::copy(helper, &program).map_err(|e| Error::io(&program, "write", e))?;
        }
        let sleep = emulator.map(|emulator| emulator.with_file_name("libgramer_sleep.so"));
        let sleep = sleep.filter(|sleep| trust::check(sleep).is_ok());
        let timeline = options.timeline;
        Ok(Setup { private, program, xclbin, xrt, sleep, timeline, _sockets: sockets })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.private.path().join(name)
    }

    /// The environment of the worker.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let path = |name: &str| self.at(name).into_os_string();
        let user = self.private.path().file_name().unwrap_or_default().to_os_string();
        let mut all = vec![
            ("OCL_ICD_VENDORS", path("icd")),
            ("XILINX_XRT", self.xrt.clone().into_os_string()),
            ("EMCONFIG_PATH", self.private.path().as_os_str().to_os_string()),
            ("XRT_INI_PATH", path("xrt.ini")),
            ("XCL_EMULATION_MODE", "hw_emu".into()),
            ("USER", user),
            ("GRAMER_EMULATOR_LOG", path("emulator.log")),
            ("GRAMER_EMULATOR_PID", path("emulator.pid")),
            (standard_output::LOG, path(RUNTIME_LOG)),
        ];
        // The emulator runs in a folder of the runtime's.
        if let Some(trace) = std::env::var_os(TRACE) {
            all.push((TRACE, std::path::absolute(&trace).map_or(trace, Into::into)));
        }
        if self.timeline {
            all.push((TIMELINE, path("timeline.jsonl")));
        }
        if let Some(sleep) = &self.sleep {
            all.push(("LD_PRELOAD", sleep.clone().into_os_string()));
        }
        all
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.private.path()
    }

    /// The emulator's process, once the runtime has started it.
    pub fn emulator(&self) -> Option<Pid> {
        let text = fs::read_to_string(self.at("emulator.pid")).ok()?;
        Pid::from_raw(text.split_whitespace().next()?.parse().ok()?)
    }

    /// Whether it is there and not dead.
    pub fn emulator_runs(&self) -> bool {
        let state = self.emulator().and_then(state_of);
        state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    }

    /// Whether a signal has stopped it.
    pub fn emulator_is_stopped(&self) -> bool {
        self.emulator().is_some_and(is_stopped)
    }

    /// The emulator's message about a failure; empty without one.
    pub fn log(&self) -> String {
        fs::read_to_string(self.at("emulator.log")).unwrap_or_default().trim_end().to_string()
    }

    /// Explanation of a failure: the emulator's message, else the last lines of the runtime.
    pub fn said(&self) -> String {
        let log = self.log();
        if !log.is_empty() {
            return log;
        }
        let text = fs::read(self.at(RUNTIME_LOG)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        match &lines[lines.len().saturating_sub(LINES_QUOTED)..] {
            [] => String::new(),
            lines => format!("the runtime's last words: {}", lines.join("; ")),
        }
    }
}

/// The emulated platform, as the runtime reads it from `emconfig.json`.
fn platform(wanted: &SetupRequest) -> String {
    let bank = r#"{"Size":"16GB"}"#;
    let device =
        format!(r#"{{"Name":"{}","DdrBanks":[{}]}}"#, wanted.platform, [bank; 4].join(","));
    let devices = vec![device; wanted.devices].join(",");
    format!(
        r#"{{"Version":{{"FileVersion":"2.0"}},"Platform":{{"Boards":[{{"Devices":[{devices}]}}]}}}}"#
    )
}

/// The runtime's own settings, `xrt.ini`.
fn runtime_settings() -> String {
    // The runtime loses its buffer for calls when that has to grow: the pad makes it as large
    // as it can become with the first call. The scheduler without kds polls without sleeping,
    // and hangs in copies without cdma=false.
    format!(
        "[Runtime]\nkds=false\ncdma=false\n[Emulation]\npacket_size={PACKET}\n\
         print_infos_in_console=false\n[Debug]\nzpad={}\n",
        "x".repeat(PACKET + PACKET / 16)
    )
}

/// Parameters of the set-up.
struct SetupRequest {
    /// The machine whose xclbin is built; `None` for a file that is there.
    machine: Option<Accelerator>,
    functional: bool,
    /// Name of the emulated devices, and how many there are.
    platform: String,
    devices: usize,
}

impl SetupRequest {
    fn of(request: &Request) -> Result<Self> {
        match request {
            Request::Machine { machine, functional } => {
                let machine = read_machine(machine.as_deref())?;
                if *functional && machine.core == Core::Set {
                    return Err(Error::usage(format!(
                        "machine {} has a set core, which is emulated with its simulated hardware \
                         alone: leave out `:functional`; set-small is the fastest",
                        machine.machine.name
                    )));
                }
                Ok(SetupRequest {
                    functional: *functional,
                    platform: machine.emulated_platform(),
                    devices: 1,
                    machine: Some(machine),
                })
            }
            Request::File { path, indices } => {
                let xclbin = Xclbin::read(path)?;
                if xclbin.machine()?.is_none() {
                    return Err(xclbin.no_machine());
                }
                xclbin.check_program()?;
                let devices = indices.iter().max().map_or(1, |most| most + 1);
                if devices > MOST_DEVICES {
                    return Err(Error::usage(format!(
                        "{}: at most {MOST_DEVICES} devices are emulated, counted from 0",
                        path.display()
                    )));
                }
                let platform = xclbin.platform;
                if !platform.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
                    return Err(Error::input(
                        Place::file(path),
                        "the name of its platform has other characters than letters, digits, _, - \
                         and .",
                    ));
                }
                Ok(SetupRequest { machine: None, functional: false, platform, devices })
            }
        }
    }
}

/// Missing parts of an emulated device, with remedies; empty if it can be used.
pub fn lacking() -> Vec<Obstacle> {
    let missing = |reason: String, remedy: &str| Obstacle {
        what: "emulator".into(),
        reason,
        remedy: remedy.into(),
    };
    let mut all = vec![];
    if let Err(e) = libraries() {
        all.push(missing(e.to_string(), "apt-get install libxrt1 ocl-icd-libopencl1"));
    }
    if !on_path("unzip") {
        all.push(missing("there is no unzip".into(), "apt-get install unzip"));
    }
    if let Err(e) = find_emulator() {
        all.push(missing(e.to_string(), "`make emulator` builds it"));
    }
    // What builds the model of a machine.
    let tools = [("verilator", on_path("verilator")), ("make", on_path("make"))];
    let compiler = ("g++", on_path("g++") || on_path("clang++"));
    for (tool, there) in tools.into_iter().chain([compiler]) {
        if !there {
            let reason = format!(
                "there is no {tool}: only machines whose model was built before, and `:functional` \
                 ones, can be used"
            );
            all.push(missing(reason, &format!("apt-get install {tool}")));
        }
    }
    all
}

/// The folder with the runtime's libraries: that of `XILINX_XRT`, as for a card, else AMD's
/// installation, else the system's.
fn libraries() -> Result<PathBuf> {
    let has = |folder: &PathBuf| {
        ["libxilinxopencl.so.2", "libxrt_hwemu.so.2"].iter().all(|l| folder.join(l).exists())
    };
    if let Some(named) = std::env::var_os("XILINX_XRT").filter(|x| !x.is_empty()) {
        let folder = Path::new(&named).join("lib");
        return match has(&folder) {
            true => Ok(folder),
            false => Err(Error::Unsupported(format!(
                "XILINX_XRT is {}, but there is no Xilinx Runtime with emulation in its lib: \
                 scripts/setup-xrt.sh installs one; leave the variable out to use it",
                Path::new(&named).display()
            ))),
        };
    }
    let amd = Path::new(AMD).join("lib");
    let folders = std::iter::once(amd).chain(SYSTEM.map(PathBuf::from));
    folders.into_iter().find(has).ok_or_else(|| {
        Error::Unsupported(
            "the Xilinx Runtime isn't installed, which an emulated device is behind: \
             scripts/setup-xrt.sh, or apt-get install libxrt1 ocl-icd-libopencl1 unzip"
                .into(),
        )
    })
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

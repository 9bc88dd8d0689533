//! The private folder of an emulation: everything that the Xilinx Runtime looks for.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gramer_machine::{Accelerator, Core};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::Pid;

use super::{Launched, Request, TIMELINE};
use crate::runtime::Missing;
use crate::xclbin::Xclbin;
use crate::xclbin::build::{BuildOptions, build, find_emulator, read_machine};
use gramer_graph::context::Cancel;
use gramer_graph::error::{Error, Place, Result};
use gramer_graph::output::check_new;
use gramer_graph::standard_output;

/// AMD's own installation, which is preferred, and where a distribution puts the libraries.
const AMD: &str = "/opt/xilinx/xrt";
const SYSTEM: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
/// What the folders' names begin with, and the file that marks them and that a launcher locks.
const PREFIX: &str = "gramer-emulation-";
const MARKER: &str = "gramer-emulation";
/// What the marker holds, which nothing else does by chance.
const MARK: &str = "A private folder of `gramer --device emulator`, which removes it at its end. If it \
    was killed, the next one does: nobody holds a lock on this file then.\n";
/// What the emulator adds to its process's number when the runtime closes the device.
const CLOSED: &str = "closed";
/// A folder that is younger may be one whose lock is just being taken.
const SETTLED: Duration = Duration::from_secs(60);
/// Bytes of a transfer between runtime and emulator.
const PACKET: usize = 1 << 20;
/// Most devices that one emulation has.
const MOST_DEVICES: usize = 16;
/// Names the file of a waveform that the emulator writes.
const TRACE: &str = "GRAMER_TRACE";
/// What the runtime prints, and how many of its last lines a failure quotes.
const RUNTIME_LOG: &str = "runtime.log";
const LINES_QUOTED: usize = 3;

/// A folder that is removed when it is dropped.
pub struct Setup {
    folder: tempfile::TempDir,
    /// The program in the folder: the runtime puts its own folders beside it.
    pub program: PathBuf,
    /// The xclbin.
    pub xclbin: PathBuf,
    xrt: PathBuf,
    sleep: Option<PathBuf>,
    timeline: bool,
    /// Held as long as this process lives.
    _lock: File,
}

impl Setup {
    /// Builds what is missing and puts everything in its place.
    pub fn new(request: &Request, launched: &Launched, cancel: &Cancel) -> Result<Self> {
        let wanted = Wanted::of(request)?;
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
            Request::Machine { .. } => Some(find_emulator()?),
            // It brings its own; with ours comes the library that shortens naps.
            Request::File { .. } => find_emulator().ok(),
        };
        // The runtime's sockets are in /tmp/$USER: the folder's name stands for the user, so that
        // runs at the same time don't meet, and all of it goes away with the folder.
        let tmp = Path::new("/tmp");
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(tmp);
        let folder = folder.map_err(|e| Error::io(tmp, "make a folder in", e))?;
        let at = |name: &str| folder.path().join(name);
        let lock = File::create(at(MARKER)).map_err(|e| Error::io(at(MARKER), "create", e))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|e| Error::io(at(MARKER), "lock", e.into()))?;
        (&lock).write_all(MARK.as_bytes()).map_err(|e| Error::io(at(MARKER), "write", e))?;
        sweep(tmp);
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
            let options = BuildOptions {
                functional: wanted.functional,
                emulator: emulator.clone(),
                cancel: cancel.clone(),
                show: launched.show,
                ..BuildOptions::default()
            };
            build(machine, &options, &xclbin)?;
        }

        let program = at("gramer");
        if fs::hard_link(&launched.program, &program).is_err() {
            fs::copy(&launched.program, &program).map_err(|e| Error::io(&program, "write", e))?;
        }
        let sleep = emulator.map(|emulator| emulator.with_file_name("libgramer_sleep.so"));
        let sleep = sleep.filter(|sleep| sleep.is_file());
        let timeline = launched.timeline;
        Ok(Setup { folder, program, xclbin, xrt, sleep, timeline, _lock: lock })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The environment of the child.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let path = |name: &str| self.at(name).into_os_string();
        let user = self.folder.path().file_name().unwrap_or_default().to_os_string();
        let mut all = vec![
            ("OCL_ICD_VENDORS", path("icd")),
            ("XILINX_XRT", self.xrt.clone().into_os_string()),
            ("EMCONFIG_PATH", self.folder.path().as_os_str().to_os_string()),
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
        self.folder.path()
    }

    /// Whether the child has left this word.
    pub fn has(&self, word: &str) -> bool {
        self.at(word).exists()
    }

    /// The emulator's process, once the runtime has started it.
    pub fn emulator(&self) -> Option<Pid> {
        let text = fs::read_to_string(self.at("emulator.pid")).ok()?;
        Pid::from_raw(text.split_whitespace().next()?.parse().ok()?)
    }

    /// Whether the runtime has closed the device, so that the emulator ends as it should.
    pub fn closed(&self) -> bool {
        fs::read_to_string(self.at("emulator.pid")).is_ok_and(|text| text.contains(CLOSED))
    }

    /// Whether it is there and not dead.
    pub fn emulator_runs(&self) -> bool {
        let Some(pid) = self.emulator() else { return false };
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        // The state follows the name, which is in brackets and may hold anything.
        let state = stat.ok().and_then(|s| s.rsplit_once(')').map(|(_, rest)| rest.to_string()));
        state.is_some_and(|rest| !rest.trim_start().starts_with(['Z', 'X']))
    }

    /// What the emulator said of a failure; empty without one.
    pub fn log(&self) -> String {
        fs::read_to_string(self.at("emulator.log")).unwrap_or_default().trim_end().to_string()
    }

    /// What explains a failure: what the emulator said, else the last lines of the runtime.
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
fn platform(wanted: &Wanted) -> String {
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

/// What is asked of the set-up.
struct Wanted {
    /// The machine whose xclbin is built; `None` for a file that is there.
    machine: Option<Accelerator>,
    functional: bool,
    /// Name of the emulated devices, and how many there are.
    platform: String,
    devices: usize,
}

impl Wanted {
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
                Ok(Wanted {
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
                Ok(Wanted { machine: None, functional: false, platform, devices })
            }
        }
    }
}

/// What an emulated device lacks here, with the remedies; empty where it can be used.
pub fn lacking() -> Vec<Missing> {
    let missing = |reason: String, remedy: &str| Missing {
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

/// Removes what launchers of this user have left that were killed: the folders with their marker
/// whose lock nobody holds. Nothing else is touched, whatever it is called.
fn sweep(tmp: &Path) {
    for entry in fs::read_dir(tmp).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a folder was made by a launcher of this user that is gone.
fn is_abandoned(folder: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    // The entry itself, not what a link points to.
    let ours = fs::symlink_metadata(folder).is_ok_and(|m| m.is_dir() && m.uid() == user);
    if !ours {
        return false;
    }
    // Neither through a link, nor waiting for a pipe's other end.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let marker =
        OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(folder.join(MARKER));
    let Ok(mut marker) = marker else { return false };
    let Ok(about) = marker.metadata() else { return false };
    let settled = about.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SETTLED));
    if !about.is_file() || about.uid() != user || about.len() != MARK.len() as u64 || !settled {
        return false;
    }
    let mut text = String::new();
    marker.read_to_string(&mut text).is_ok()
        && text == MARK
        && flock(&marker, FlockOperation::NonBlockingLockExclusive).is_ok()
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Folders that look much like a launcher's, and one that is.
    #[test]
    fn only_folders_with_the_mark_are_swept() {
        let tmp = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * SETTLED;
        let make = |folder: &str, file: &str, text: &str| {
            let folder = tmp.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("data"), "precious").unwrap();
            fs::write(folder.join(file), text).unwrap();
            let file = File::options().write(true).open(folder.join(file)).unwrap();
            file.set_modified(old).unwrap();
            file
        };
        make("gramer-notes", "lock", "");
        make("gramer-emulation-notes", "lock", "");
        make("gramer-emulation-empty", MARKER, "");
        make("gramer-emulation-other", MARKER, &MARK.replace("private", "public "));
        make("other-emulation-x", MARKER, MARK);
        make("elsewhere/gramer", MARKER, MARK);
        symlink(tmp.path().join("elsewhere/gramer"), tmp.path().join("gramer-emulation-link"))
            .unwrap();
        fs::create_dir(tmp.path().join("gramer-emulation-linked")).unwrap();
        symlink(
            tmp.path().join("elsewhere/gramer").join(MARKER),
            tmp.path().join("gramer-emulation-linked").join(MARKER),
        )
        .unwrap();
        make("gramer-emulation-young", MARKER, MARK)
            .set_modified(std::time::SystemTime::now())
            .unwrap();
        let held = make("gramer-emulation-held", MARKER, MARK);
        flock(&held, FlockOperation::LockExclusive).unwrap();
        make("gramer-emulation-gone", MARKER, MARK);
        let names = || {
            let entries = fs::read_dir(tmp.path()).unwrap().flatten();
            let mut names: Vec<String> =
                entries.map(|e| e.file_name().to_str().unwrap().to_string()).collect();
            names.sort();
            names
        };
        let mut expected = names();
        sweep(tmp.path());
        expected.retain(|name| name != "gramer-emulation-gone");
        assert_eq!(names(), expected);
        for folder in ["gramer-notes", "gramer-emulation-notes", "elsewhere/gramer"] {
            let data = fs::read_to_string(tmp.path().join(folder).join("data")).unwrap();
            assert_eq!(data, "precious");
        }
    }
}

//! The private folder of an emulation: everything that the Xilinx Runtime looks for.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::Pid;

use super::Request;
use crate::standard_output;
use crate::xclbin::build::{BuildOptions, build, find_emulator, read_machine};
use gramer_graph::error::{Error, Result};

/// AMD's own installation, which is preferred, and where a distribution puts the libraries.
const AMD: &str = "/opt/xilinx/xrt";
const SYSTEM: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
/// What the folders' names begin with, and the file in them that a launcher holds a lock on.
const PREFIX: &str = "gramer-";
const LOCK: &str = "lock";
/// What the emulator adds to its process's number when the runtime closes the device.
const CLOSED: &str = "closed";
/// A folder that is younger may be one whose lock is just being taken.
const SETTLED: Duration = Duration::from_secs(60);
/// Bytes of a transfer between runtime and emulator.
const PACKET: usize = 1 << 20;

/// A folder that is removed when it is dropped.
pub struct Setup {
    folder: tempfile::TempDir,
    /// The program in the folder: the runtime puts its own folders beside it.
    pub program: PathBuf,
    /// The xclbin.
    pub xclbin: PathBuf,
    xrt: PathBuf,
    sleep: Option<PathBuf>,
    /// Held as long as this process lives.
    _lock: File,
}

impl Setup {
    /// Builds what is missing and puts everything in its place.
    pub fn new(request: &Request) -> Result<Self> {
        let machine = read_machine(request.machine.as_deref())?;
        let libraries = libraries()?;
        if !on_path("unzip") {
            return Err(Error::Unsupported(
                "the Xilinx Runtime needs the program unzip: apt-get install unzip".into(),
            ));
        }
        let emulator = find_emulator()?;
        // The runtime's sockets are in /tmp/$USER: the folder's name stands for the user, so that
        // runs at the same time don't meet, and all of it goes away with the folder.
        let tmp = Path::new("/tmp");
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(tmp);
        let folder = folder.map_err(|e| Error::io(tmp, "make a folder in", e))?;
        let at = |name: &str| folder.path().join(name);
        let lock = File::create(at(LOCK)).map_err(|e| Error::io(at(LOCK), "create", e))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|e| Error::io(at(LOCK), "lock", e.into()))?;
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
        let bank = r#"{"Size":"16GB"}"#;
        let device = format!(
            r#"{{"Version":{{"FileVersion":"2.0"}},"Platform":{{"Boards":[{{"Devices":[{{"Name":"{}","DdrBanks":[{}]}}]}}]}}}}"#,
            machine.emulated_platform(),
            [bank; 4].join(",")
        );
        write("emconfig.json", &device)?;
        // The runtime loses its buffer for calls when that has to grow: the pad makes it as large
        // as it can become with the first call. The scheduler without kds polls without sleeping,
        // and hangs in copies without cdma=false.
        let ini = format!(
            "[Runtime]\nkds=false\ncdma=false\n[Emulation]\npacket_size={PACKET}\n\
             print_infos_in_console=false\n[Debug]\nzpad={}\n",
            "x".repeat(PACKET + PACKET / 16)
        );
        write("xrt.ini", &ini)?;

        let options = BuildOptions {
            functional: request.functional,
            emulator: Some(emulator.clone()),
            ..BuildOptions::default()
        };
        let xclbin = at("device.xclbin");
        let name = machine.machine.name.clone();
        let note = Note::after(Duration::from_secs(2), move || {
            eprintln!("building the model of machine {name}, which takes minutes once");
        });
        build(&machine, &options, &xclbin)?;
        drop(note);

        let program = at("gramer");
        let own = std::env::current_exe().map_err(|e| Error::io("<self>", "find", e))?;
        if fs::hard_link(&own, &program).is_err() {
            fs::copy(&own, &program).map_err(|e| Error::io(&program, "write", e))?;
        }
        let sleep = emulator.with_file_name("libgramer_sleep.so");
        let sleep = sleep.is_file().then_some(sleep);
        Ok(Setup { folder, program, xclbin, xrt, sleep, _lock: lock })
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
            (standard_output::LOG, path("runtime.log")),
        ];
        // The emulator runs in a folder of the runtime's.
        if let Some(trace) = std::env::var_os("GRAMER_TRACE") {
            all.push(("GRAMER_TRACE", std::path::absolute(&trace).map_or(trace, Into::into)));
        }
        if let Some(sleep) = &self.sleep {
            all.push(("LD_PRELOAD", sleep.clone().into_os_string()));
        }
        all
    }

    /// Where the child says that it came to its own end.
    pub fn end(&self) -> PathBuf {
        self.at("end")
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
}

/// Removes what launchers have left that were killed: the folders whose lock nobody holds. What
/// can't be removed is another user's.
fn sweep(tmp: &Path) {
    for entry in fs::read_dir(tmp).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let lock = entry.path().join(LOCK);
        let age = fs::metadata(&lock).and_then(|m| m.modified()).map(|at| at.elapsed());
        let settled = age.is_ok_and(|age| age.is_ok_and(|age| age > SETTLED));
        let abandoned = |lock: File| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if settled && File::open(&lock).is_ok_and(abandoned) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
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

/// Says something if it isn't dropped in time.
struct Note(Option<(mpsc::Sender<()>, std::thread::JoinHandle<()>)>);

impl Note {
    fn after(time: Duration, say: impl FnOnce() + Send + 'static) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            if stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                say();
            }
        });
        Note(Some((stop, thread)))
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

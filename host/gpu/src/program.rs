//! Programs: built from source, or from binaries that an earlier run left in the cache folder.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gramer_base::context::Cancel;
use gramer_base::error::{Error, Result, said};
use gramer_base::parallel::start;
use gramer_machine::trust;
use opencl3::context::Context;
use opencl3::error_codes::ClError;
use opencl3::kernel::Kernel;
use opencl3::program::Program as ClProgram;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::failed;

/// `CL_BUILD_PROGRAM_FAILURE`: the compiler refuses the source.
const BUILD_FAILED: i32 = -11;

/// The language of a program's kernels: 1.2, or 2.0 for sub-groups.
fn options(source: &str) -> &'static str {
    if source.contains("#define LANES_SUBGROUPS\n") { "-cl-std=CL2.0" } else { "-cl-std=CL1.2" }
}

/// Binaries on disk, each under the hash of source, options, device and driver. What can't be read
/// or written is as if it weren't there: the program is then built, which takes a second. A binary is code that
/// runs as this user: a folder or a file that others can write is left alone.
pub(crate) struct Cache {
    folder: Option<PathBuf>,
    identity: String,
    /// Why the folder isn't used.
    refused: Mutex<Option<String>>,
}

impl Cache {
    /// A cache in `folder` (none: programs are built in each run) for the device `identity`.
    pub fn new(folder: Option<PathBuf>, identity: String) -> Self {
        let refused = folder.as_deref().filter(|folder| folder.exists());
        let refused = refused.and_then(|folder| trust::check(folder).err());
        let folder = folder.filter(|_| refused.is_none());
        Cache { folder, identity, refused: Mutex::new(refused) }
    }

    /// A sentence for the user about a folder that isn't used, once.
    pub fn note(&self) -> Option<String> {
        let reason = self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(format!(
            "built GPU programs are not kept, and none is loaded: {reason}; take the others' permission to write \
             (chmod go-w), or name another folder in XDG_CACHE_HOME"
        ))
    }

    /// The name of a program.
    pub fn key(&self, source: &str) -> u64 {
        xxh3_64(format!("{}\n{}\n{source}", options(source), self.identity).as_bytes())
    }

    fn path(&self, key: u64) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key:016x}.bin")))
    }

    /// The binary of this name, if it is whole; another is removed.
    fn read(&self, key: u64) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        if !path.exists() {
            return None;
        }
        trust::check(&path).ok()?;
        let bytes = std::fs::read(&path).ok()?;
        let whole = bytes
            .split_last_chunk::<8>()
            .filter(|(binary, hash)| xxh3_64(binary) == u64::from_le_bytes(**hash))
            .map(|(binary, _)| binary.to_vec());
        if whole.is_none() {
            self.remove(key);
        }
        whole
    }

    /// Keeps a binary: under its name it is whole or not there.
    fn write(&self, key: u64, binary: &[u8]) {
        let (Some(folder), Some(path)) = (&self.folder, self.path(key)) else { return };
        let written = trust::create_private(folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(binary)?;
            file.write_all(&xxh3_64(binary).to_le_bytes())?;
            file.persist(path).map_err(|e| e.error)
        });
        // A folder that can't be written to is no fault: the next run builds again.
        drop(written);
    }

    fn remove(&self, key: u64) {
        if let Some(path) = self.path(key) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns the default folder for binaries: `gramer/gpu` in the user's cache folder.
pub fn default_cache() -> Option<PathBuf> {
    trust::cache("gpu")
}

thread_local! {
    /// Cancellation of the run on this thread.
    static STOP: RefCell<Cancel> = RefCell::default();
}

/// Compilers heed a run's stop flag on this thread until it is dropped.
pub(crate) struct CompilerStop(Cancel);

impl CompilerStop {
    pub fn begin(cancel: &Cancel) -> Self {
        CompilerStop(STOP.replace(cancel.clone()))
    }
}

impl Drop for CompilerStop {
    fn drop(&mut self) {
        STOP.replace(std::mem::take(&mut self.0));
    }
}

/// How often the stop flag is looked at while a compiler is at work.
const LOOK: Duration = Duration::from_millis(20);

/// A compiled program: its binary if one was requested, or why there is none.
type CompileResult = (ClProgram, std::result::Result<Option<Vec<u8>>, ClError>);

/// Builds a program in a separate thread, since a compiler may take seconds and can't be stopped: after cancellation it
/// continues in the background. (PoCL's compiler does half of its work when the binary is requested.)
fn build(
    context: &Context,
    mut program: ClProgram,
    source: &str,
    wanted: bool,
) -> Result<CompileResult> {
    let cancel = STOP.with_borrow(Cancel::clone);
    cancel.check()?;
    let options = options(source);
    // Pointers, which another thread may use: OpenCL's objects are those of the process.
    let devices: Vec<usize> = context.devices().iter().map(|&device| device as usize).collect();
    let (send, built) = channel();
    start("that waits for the driver's compiler", move || {
        let devices: Vec<_> = devices.into_iter().map(|device| device as _).collect();
        let done = program.build(&devices, options).map(|()| {
            // A driver without one has its programs built in each run.
            let binaries = wanted.then(|| program.get_binaries().ok()).flatten();
            binaries.and_then(|all| all.into_iter().next())
        });
        let _ = send.send((program, done));
    })?;
    loop {
        match built.recv_timeout(LOOK) {
            Ok(built) => return Ok(built),
            Err(RecvTimeoutError::Timeout) => cancel.check()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Device("the compiler of the device's driver failed".into()));
            }
        }
    }
}

/// A program of a device with all its kernels.
pub(crate) struct Program {
    name: String,
    /// Arguments belong to a kernel until it is queued: one thread at a time sets them.
    kernels: HashMap<String, Mutex<Kernel>>,
}

impl Program {
    /// Builds the program, and whether that took the cache's binary.
    pub fn make(
        context: &Context,
        device: &str,
        name: &str,
        source: &str,
        key: u64,
        cache: &Cache,
    ) -> Result<(Self, bool)> {
        if let Some(binary) = cache.read(key) {
            match Self::of_binary(context, device, (name, source), &binary) {
                Ok(program) => return Ok((program, true)),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // Another driver wrote it, or it doesn't fit for a reason of this one's.
                Err(_) => cache.remove(key),
            }
        }
        let fail = |code| failed(device, &format!("build the program {name}"), code);
        let program = ClProgram::create_from_source(context, source).map_err(|e| fail(e.0))?;
        let (program, done) = build(context, program, source, cache.folder.is_some())?;
        match done {
            Ok(Some(binary)) => cache.write(key, &binary),
            Ok(None) => {}
            Err(e) => {
                let log = program.get_build_log(context.default_device()).unwrap_or_default();
                let said = said(&log);
                return Err(Error::Device(format!("{}; the compiler says: {said}", fail(e.0))));
            }
        }
        Ok((Self::with_kernels(&program, device, name)?, false))
    }

    /// The compiler's messages on a source that it refuses; none if it accepts it.
    pub fn refusal(context: &Context, device: &str, source: &str) -> Result<Option<String>> {
        let fail = |code| failed(device, "compile a function of the user", code);
        let program = ClProgram::create_from_source(context, source).map_err(|e| fail(e.0))?;
        let (program, done) = build(context, program, source, false)?;
        match done {
            Ok(_) => Ok(None),
            Err(e) if e.0 == BUILD_FAILED => {
                Ok(Some(program.get_build_log(context.default_device()).unwrap_or_default()))
            }
            // The source isn't to blame.
            Err(e) => Err(fail(e.0)),
        }
    }

    fn of_binary(
        context: &Context,
        device: &str,
        (name, source): (&str, &str),
        binary: &[u8],
    ) -> Result<Self> {
        let fail = |code| failed(device, &format!("load the program {name}"), code);
        // SAFETY: the device is the context's. The driver runs what the binary holds: it is of the cache, whose
        // folder only this user and root can write to ([`Cache`]).
        let made = unsafe { ClProgram::create_from_binary(context, context.devices(), &[binary]) };
        let (program, done) = build(context, made.map_err(|e| fail(e.0))?, source, false)?;
        done.map_err(|e| fail(e.0))?;
        Self::with_kernels(&program, device, name)
    }

    fn with_kernels(program: &ClProgram, device: &str, name: &str) -> Result<Self> {
        let fail = |code| failed(device, &format!("make the kernels of {name}"), code);
        let names = program.get_kernel_names().map_err(|e| fail(e.0))?;
        let kernels = names
            .split(';')
            .filter(|kernel| !kernel.is_empty())
            .map(|kernel| {
                let made = Kernel::create(program, kernel).map_err(|e| fail(e.0))?;
                Ok((kernel.to_string(), Mutex::new(made)))
            })
            .collect::<Result<_>>()?;
        Ok(Program { name: name.into(), kernels })
    }

    /// A kernel by name.
    ///
    /// # Panics
    /// If the program has no kernel of this name.
    pub fn kernel(&self, kernel: &str) -> &Mutex<Kernel> {
        self.kernels
            .get(kernel)
            .unwrap_or_else(|| panic!("the program {} has no kernel {kernel}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_cut_or_changed_binary_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(folder.path().join("new")), "device".into());
        let key = cache.key("kernel");
        assert_ne!(key, cache.key("kernel "));
        assert_ne!(key, Cache::new(None, "other".into()).key("kernel"));
        assert!(cache.read(key).is_none());
        cache.write(key, b"binary");
        assert_eq!(cache.read(key).unwrap(), b"binary");
        let path = cache.path(key).unwrap();
        for broken in [&b""[..], b"bina", b"binarx12345678"] {
            std::fs::write(&path, broken).unwrap();
            assert!(cache.read(key).is_none() && !path.exists());
        }
        // Nowhere to write: nothing happens.
        Cache::new(Some("/proc/none".into()), String::new()).write(key, b"binary");
    }

    #[test]
    fn what_others_can_write_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cache");
        let open = || Cache::new(Some(place.clone()), "device".into());
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let cache = open();
        let key = cache.key("kernel");
        cache.write(key, b"binary");
        assert_eq!(std::fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!((open().read(key).as_deref(), open().note()), (Some(&b"binary"[..]), None));
        let path = cache.path(key).unwrap();
        mode(&path, 0o666);
        assert_eq!(open().read(key), None);
        // It is made again in its place.
        open().write(key, b"binary");
        assert!(open().read(key).is_some());
        mode(&place, 0o777);
        let open = open();
        assert_eq!(open.read(key), None);
        let note = open.note().unwrap();
        assert!(note.contains("cache can be written by others (mode 777)"), "{note}");
        assert_eq!(open.note(), None, "once");
        open.write(open.key("other"), b"binary");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1);
    }

    #[test]
    fn nobody_waits_for_a_compiler_once_the_run_is_to_stop() {
        // The driver for the processor: that of a GPU may take less than the first look.
        let Some(handle) = crate::select::portable() else { return };
        let device = crate::device::Device::open(handle, &crate::Settings::default()).unwrap();
        // One that no cache of the driver has.
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let source = format!("kernel void k(global ulong *a) {{ a[get_global_id(0)] = {now}ul; }}");
        let cancel = Cancel::default();
        let heeding = CompilerStop::begin(&cancel);
        let stop = std::thread::spawn({
            let cancel = cancel.clone();
            move || {
                std::thread::sleep(LOOK / 4);
                cancel.cancel();
            }
        });
        let made = device.program("k", &[&source]);
        assert!(matches!(made, Err(Error::Interrupted)));
        stop.join().unwrap();
        drop(heeding);
        assert!(device.program("k", &[&source]).is_ok());
    }
}

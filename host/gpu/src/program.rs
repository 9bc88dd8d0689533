//! Programs: built from source, or from binaries that an earlier run left in the cache folder.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use gramer_graph::error::{Error, Result, said};
use opencl3::context::Context;
use opencl3::kernel::Kernel;
use opencl3::program::Program as ClProgram;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::failed;

/// `CL_BUILD_PROGRAM_FAILURE`: the compiler refuses the source.
const BUILD_FAILED: i32 = -11;

/// The language of a program's kernels: 1.2, but for sub-groups, which compilers know from 2.0 on.
fn options(source: &str) -> &'static str {
    if source.contains("#define LANES_SUBGROUPS\n") { "-cl-std=CL2.0" } else { "-cl-std=CL1.2" }
}

/// Binaries on disk, each under the hash of source, options, device and driver. What can't be read
/// or written is as if it weren't there: the program is then built, which takes a second.
pub(crate) struct Cache {
    folder: Option<PathBuf>,
    identity: String,
}

impl Cache {
    /// A cache in `folder` (none: programs are built in each run) for the device `identity`.
    pub fn new(folder: Option<PathBuf>, identity: String) -> Self {
        Cache { folder, identity }
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
        let written = std::fs::create_dir_all(folder).and_then(|()| {
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

/// The folder that keeps binaries unless another is set: `gramer/gpu` in the user's cache folder.
pub fn default_cache() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(folder.join("gramer").join("gpu"))
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
                // Another driver wrote it, or it doesn't fit for a reason of this one's.
                Err(_) => cache.remove(key),
            }
        }
        let fail = |code| failed(device, &format!("build the program {name}"), code);
        let mut program = ClProgram::create_from_source(context, source).map_err(|e| fail(e.0))?;
        if let Err(e) = program.build(context.devices(), options(source)) {
            let log = program.get_build_log(context.default_device()).unwrap_or_default();
            return Err(Error::Device(format!("{}; the compiler says: {}", fail(e.0), said(&log))));
        }
        if let Some(binary) = program.get_binaries().ok().and_then(|all| all.into_iter().next()) {
            cache.write(key, &binary);
        }
        Ok((Self::with_kernels(&program, device, name)?, false))
    }

    /// What the compiler says of a source that it refuses; none where it takes it.
    pub fn refusal(context: &Context, device: &str, source: &str) -> Result<Option<String>> {
        let fail = |code| failed(device, "compile a function of the user", code);
        let mut program = ClProgram::create_from_source(context, source).map_err(|e| fail(e.0))?;
        match program.build(context.devices(), options(source)) {
            Ok(()) => Ok(None),
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
        // SAFETY: the device is the context's.
        let made = unsafe { ClProgram::create_from_binary(context, context.devices(), &[binary]) };
        let mut program = made.map_err(|e| fail(e.0))?;
        program.build(context.devices(), options(source)).map_err(|e| fail(e.0))?;
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
    /// If the program has none of this name.
    pub fn kernel(&self, kernel: &str) -> &Mutex<Kernel> {
        self.kernels
            .get(kernel)
            .unwrap_or_else(|| panic!("the program {} has no kernel {kernel}", self.name))
    }
}

#[cfg(test)]
mod tests {
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
}

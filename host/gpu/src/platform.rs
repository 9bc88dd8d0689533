//! The devices that OpenCL offers, registered or not.
//!
//! The loader (`libOpenCL.so.1`) knows the drivers that have a file in `/etc/OpenCL/vendors`. A driver
//! may be installed without one: then its library is opened here and queried for its platforms, as the
//! loader would. Its objects work with the loader's functions, which only use the function table at
//! the start of each object (cl_khr_icd).

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use gramer_base::memory::{address_space, has_space, watch_libraries};
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, Device};
use opencl3::platform::{Platform, get_platforms};
use opencl3::types::cl_platform_id;
use serde::Serialize;

use crate::select;

/// Device with a name for `--device`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamedDevice {
    /// Name for `--device`, such as `gpu:0`.
    pub device: String,
    /// Platform, such as `NVIDIA CUDA`.
    pub platform: String,
    /// Name of the device.
    pub name: String,
    /// `gpu`, `cpu` (portable: the host's processor behind OpenCL), or `other`.
    pub kind: &'static str,
    /// Bytes of its memory.
    pub memory: u64,
    /// Compute units.
    pub compute_units: u32,
    /// Version of the driver.
    pub driver: String,
    /// Driver library that was opened directly, because the loader doesn't know it.
    pub unregistered: Option<&'static str>,
}

/// A device and its properties.
pub(crate) struct Handle {
    pub device: Device,
    pub found: NamedDevice,
}

/// Libraries of drivers, and what a registered platform of theirs is called.
const VENDORS: [(&str, &[&str]); 3] = [
    ("NVIDIA", &["libnvidia-opencl.so.1", "/usr/local/nvidia/lib64/libnvidia-opencl.so.1"]),
    ("AMD", &["libamdocl64.so", "/opt/rocm/lib/libamdocl64.so"]),
    ("Intel", &["/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so"]),
];

/// The devices, GPUs first: NVIDIA's before others, those with their own memory before others, then by compute units.
/// Missing parts are returned as well, a sentence each.
pub fn devices() -> (Vec<NamedDevice>, Vec<String>) {
    let (handles, missing) = handles();
    (handles.into_iter().map(|h| h.found).collect(), missing.into_sentences())
}

/// Missing parts of OpenCL on this system, one sentence each.
#[derive(Debug, Default)]
pub(crate) struct Shortcomings {
    /// Why there is no loader, and drivers that offer nothing.
    pub drivers: Vec<String>,
    /// Advice if there is no GPU.
    pub gpu: Option<String>,
}

impl Shortcomings {
    fn into_sentences(self) -> Vec<String> {
        self.drivers.into_iter().chain(self.gpu).collect()
    }
}

/// Only one thread at a time queries drivers: PoCL 3.1 crashes if two start it at once.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The devices of NVIDIA's driver alone, in the order of [`devices`], whose first they are. The loader
/// would open the drivers of all vendors, some of which take a tenth of a second.
pub(crate) fn nvidia() -> Vec<Handle> {
    if no_space().is_some() {
        return vec![];
    }
    let _alone = alone();
    let (vendor, libraries) = VENDORS[0];
    let mut handles = vec![];
    if let Some((_, platforms)) = libraries.iter().find_map(|l| Some((l, open(l)?))) {
        for platform in platforms {
            let name = platform.name().unwrap_or_default();
            let ids = platform.get_devices(CL_DEVICE_TYPE_GPU).unwrap_or_default();
            handles.extend(ids.into_iter().map(|id| handle(Device::new(id), &name, None)));
        }
    }
    handles.retain(|h| h.found.platform.contains(vendor));
    number(&mut handles);
    if let (Some(only), [handle]) = (ONLY.get(), &mut handles[..]) {
        handle.found.device = format!("gpu:{only}");
    }
    handles
}

/// Sorts devices and names them.
fn number(handles: &mut [Handle]) {
    handles.sort_by_key(|h| {
        let integrated = h.device.host_unified_memory().unwrap_or(false);
        let other = !h.found.platform.contains(VENDORS[0].0);
        (h.found.kind != "gpu", other, integrated, std::cmp::Reverse(h.found.compute_units))
    });
    for (i, handle) in handles.iter_mut().enumerate() {
        handle.found.device = format!("gpu:{i}");
    }
}

pub(crate) fn handles() -> (Vec<Handle>, Shortcomings) {
    let _alone = alone();
    let mut lacks = Shortcomings::default();
    if let Some(reason) = no_space() {
        lacks.drivers.push(reason);
        return (vec![], lacks);
    }
    let registered = match get_platforms() {
        Ok(platforms) => platforms,
        Err(e) if e.0 == opencl3::error_codes::DLOPEN_RUNTIME_LOAD_FAILED => {
            let what = "GPUs: there is no OpenCL loader, libOpenCL.so.1; apt-get install \
                        ocl-icd-libopencl1, and the driver of the GPU";
            return (vec![], Shortcomings { drivers: vec![what.into()], gpu: None });
        }
        // The loader found no driver.
        Err(_) => {
            lacks.drivers.extend(not_loaded());
            vec![]
        }
    };
    // The loader has loaded them, and they set handlers of their own.
    watch_libraries();
    let names: Vec<String> = registered.iter().map(label).collect();
    let mut all: Vec<(Platform, Option<&'static str>)> =
        registered.into_iter().map(|p| (p, None)).collect();
    for (vendor, libraries) in VENDORS {
        if names.iter().any(|name| name.contains(vendor)) {
            continue;
        }
        if let Some((library, platforms)) =
            libraries.iter().find_map(|library| Some((*library, open(library)?)))
        {
            all.extend(platforms.into_iter().map(|p| (p, Some(library))));
        }
    }
    watch_libraries();
    let mut handles = vec![];
    for (platform, unregistered) in all {
        let name = platform.name().unwrap_or_default();
        // Its accelerators want an xclbin, which another engine knows about.
        if name.to_lowercase().contains("xilinx") {
            continue;
        }
        match platform.get_devices(CL_DEVICE_TYPE_ALL) {
            Ok(ids) if !ids.is_empty() => {
                handles
                    .extend(ids.into_iter().map(|id| handle(Device::new(id), &name, unregistered)));
            }
            offered => lacks.drivers.push(offers_nothing(&name, offered.err().map(|e| e.0))),
        }
    }
    number(&mut handles);
    if !handles.iter().any(|h| h.found.kind == "gpu") {
        lacks.gpu = Some(
            "GPUs: no OpenCL driver offers one; install the driver of the GPU with its OpenCL part \
             (NVIDIA: libnvidia-opencl1, AMD: rocm-opencl-runtime, Intel: intel-opencl-icd)"
                .into(),
        );
    }
    (handles, lacks)
}

/// Why no driver is opened, where the process has too little address space for one: PoCL 3.1 then ends the process.
fn no_space() -> Option<String> {
    /// Memory of PoCL 3.1 with its compiler, and the stack of the thread that it starts per processor.
    const DRIVER: usize = 288 << 20;
    const THREAD: usize = 10 << 20;
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let needed = DRIVER + THREAD * processors;
    let limit = address_space().filter(|_| !has_space(needed))?;
    Some(format!(
        "OpenCL: no driver is opened in {limit} of address space, of which one needs {} MiB besides the program's: raise \
         the limit (ulimit -v)",
        needed >> 20
    ))
}

/// Drivers that are registered where the loader found none.
fn not_loaded() -> Option<String> {
    let named = std::env::var_os("OCL_ICD_VENDORS").filter(|path| !path.is_empty());
    let folder = named.map_or_else(|| PathBuf::from("/etc/OpenCL/vendors"), PathBuf::from);
    let entries = std::fs::read_dir(&folder).ok()?.flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: Vec<String> = names.filter(|name| name.ends_with(".icd")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "OpenCL: the loader opens none of the drivers in {} ({}): a library of theirs is missing, or memory is \
             refused (ulimit -v)",
            folder.display(),
            names.join(", ")
        )
    })
}

/// Message about a platform without a device.
fn offers_nothing(platform: &str, code: Option<i32>) -> String {
    if let Some(reason) = Some(platform).filter(|name| is_pocl(name)).and(pocl_lacks()) {
        return format!("The OpenCL platform {platform} offers no device: {reason}");
    }
    let code = code.map_or("it lists none".into(), |code| {
        format!("{} ({code})", opencl3::error_codes::error_text(code))
    });
    format!(
        "The OpenCL platform {platform} offers no device: {code}; clinfo of its vendor shows more"
    )
}

/// Sets the folder for the programs that PoCL compiles.
const POCL_CACHE: &str = "POCL_CACHE_DIR";
/// The user's folder for caches.
const XDG_CACHE: &str = "XDG_CACHE_HOME";

/// Whether a platform is PoCL, by its name.
pub(crate) fn is_pocl(platform: &str) -> bool {
    platform == "Portable Computing Language"
}

/// Why PoCL can't keep what it compiles, without which it offers no device and builds nothing.
pub(crate) fn pocl_lacks() -> Option<String> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    // As in its `pocl_cache_init_topdir`.
    let folder = set(POCL_CACHE)
        .or_else(|| set(XDG_CACHE).map(|folder| folder.join("pocl/kcache")))
        .or_else(|| set("HOME").map(|folder| folder.join(".cache/pocl/kcache")))
        .unwrap_or_else(|| "/tmp/pocl/kcache".into());
    let tried = std::fs::create_dir_all(&folder).and_then(|()| tempfile::tempfile_in(&folder));
    tried.err().map(|e| {
        format!(
            "its cache folder {} can't be written ({e}); name one that can in the variable {POCL_CACHE}",
            folder.display()
        )
    })
}

/// Name and vendor of a platform.
fn label(platform: &Platform) -> String {
    format!("{} {}", platform.name().unwrap_or_default(), platform.vendor().unwrap_or_default())
}

fn handle(device: Device, platform: &str, unregistered: Option<&'static str>) -> Handle {
    let kind = match device.dev_type() {
        Ok(t) if t & CL_DEVICE_TYPE_GPU != 0 => "gpu",
        Ok(t) if t & CL_DEVICE_TYPE_CPU != 0 => "cpu",
        _ => "other",
    };
    let found = NamedDevice {
        device: String::new(),
        platform: platform.into(),
        name: device.name().unwrap_or_default(),
        kind,
        memory: device.global_mem_size().unwrap_or(0),
        compute_units: device.max_compute_units().unwrap_or(1),
        driver: device.driver_version().unwrap_or_default(),
        unregistered,
    };
    Handle { device, found }
}

/// Number of channels to a device for NVIDIA's driver, and the variable that sets it (CUDA C++
/// Programming Guide, environment variables; 8 unless set). Each takes 11 to 14 ms to make and to close; the engine
/// has two queues, the second of which only reads.
const CHANNELS: (&str, &str) = ("CUDA_DEVICE_MAX_CONNECTIONS", "2");

/// Which of its devices NVIDIA's driver is to open, in the order of their numbers (CUDA C++ Programming Guide, environment
/// variables; all unless set). With two H100 a whole process that needs one of them took 0.24 to 0.39 s instead of 0.46 to 0.71.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";
/// A folder for each of NVIDIA's GPUs, whose file `information` names the model.
const GPUS: &str = "/proc/driver/nvidia/gpus";
/// Number of the only device that the driver may open.
static ONLY: OnceLock<usize> = OnceLock::new();

/// Asks drivers for no more than the engine uses, unless the user set it: for the first lines of a program. `device` is the only
/// one that the program will open, as [`is_gpu`](crate::is_gpu) has it, if that is known.
///
/// # Safety
/// It sets variables of the environment: no other thread may run.
pub unsafe fn ask_for_little(device: Option<&str>) {
    let mut asked = vec![(CHANNELS.0, CHANNELS.1.to_string())];
    if std::env::var_os(VISIBLE).is_none()
        && let Some(number) = device.and_then(select::index)
        && stands_alone(number, &models(Path::new(GPUS)))
    {
        let _ = ONLY.set(number);
        asked.push((VISIBLE, number.to_string()));
    }
    // PoCL 3.1 ends the process where it is there and empty.
    if std::env::var_os(POCL_CACHE).is_some_and(|folder| folder.is_empty()) {
        // SAFETY: no other thread runs, as the caller promises.
        unsafe { std::env::remove_var(POCL_CACHE) }
    }
    // Drivers would store and load programs in the current folder. The XDG specification says to ignore relative paths.
    if std::env::var_os(XDG_CACHE).is_some_and(|folder| Path::new(&folder).is_relative()) {
        // SAFETY: no other thread runs, as the caller promises.
        unsafe { std::env::remove_var(XDG_CACHE) }
    }
    for (name, value) in asked {
        if std::env::var_os(name).is_none() {
            // SAFETY: no other thread runs, as the caller promises.
            unsafe { std::env::set_var(name, value) }
        }
    }
}

/// The models of NVIDIA's GPUs of this machine; none where the driver doesn't say.
fn models(gpus: &Path) -> Vec<String> {
    let model = |gpu: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(gpu.ok()?.path().join("information")).ok()?;
        let model = text.lines().find_map(|line| line.strip_prefix("Model:"))?;
        Some(model.trim().to_string())
    };
    let all = std::fs::read_dir(gpus).into_iter().flatten().map(model);
    all.collect::<Option<_>>().unwrap_or_default()
}

/// Whether a device may be opened without the others: it is one of several of the same model, whose order is then the same in
/// each of the driver's interfaces.
fn stands_alone(number: usize, models: &[String]) -> bool {
    models.len() > 1 && number < models.len() && models.iter().all(|model| *model == models[0])
}

type Platforms = unsafe extern "C" fn(u32, *mut cl_platform_id, *mut u32) -> i32;
type Address = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// The platforms of a driver's library; `None` where it isn't there or has none.
fn open(library: &str) -> Option<Vec<Platform>> {
    const ENTRY: &CStr = c"clIcdGetPlatformIDsKHR";
    // The library stays open: its platforms are used until the program ends.
    static OPEN: Mutex<Vec<libloading::Library>> = Mutex::new(vec![]);
    // SAFETY: opening runs the initialisers of a driver that the loader would open as well.
    let opened = unsafe { libloading::Library::new(library) }.ok()?;
    // SAFETY: these are the types that cl_khr_icd gives to both functions.
    let entry: Platforms = unsafe {
        match opened.get::<Platforms>(ENTRY.to_bytes_with_nul()) {
            Ok(entry) => *entry,
            Err(_) => {
                let address = *opened.get::<Address>(b"clGetExtensionFunctionAddress\0").ok()?;
                let entry = address(ENTRY.as_ptr());
                if entry.is_null() {
                    return None;
                }
                std::mem::transmute::<*mut c_void, Platforms>(entry)
            }
        }
    };
    let mut count = 0;
    // SAFETY: without room for ids only their number is written.
    let code = unsafe { entry(0, std::ptr::null_mut(), &mut count) };
    if code != 0 || count == 0 {
        return None;
    }
    let mut ids = vec![std::ptr::null_mut(); count as usize];
    // SAFETY: there is room for `count` ids.
    let code = unsafe { entry(count, ids.as_mut_ptr(), &mut count) };
    if code != 0 {
        return None;
    }
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
    Some(ids.into_iter().map(Platform::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_alike_is_opened_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(models(&folder.path().join("none")).is_empty());
        for (gpu, model) in [("0000:01:00.0", "H100"), ("0000:02:00.0", "H100")] {
            let gpu = folder.path().join(gpu);
            std::fs::create_dir(&gpu).unwrap();
            std::fs::write(gpu.join("information"), format!("Model: \t\t {model}\nIRQ: 7\n"))
                .unwrap();
        }
        let alike = models(folder.path());
        assert_eq!(alike, ["H100", "H100"]);
        assert_eq!([0, 1, 2].map(|number| stands_alone(number, &alike)), [true, true, false]);
        let model = |name: &str| name.to_string();
        assert!(!stands_alone(0, &[model("H100"), model("T4")]));
        assert!(!stands_alone(0, &alike[..1]) && !stands_alone(0, &[]));
        std::fs::remove_file(folder.path().join("0000:02:00.0/information")).unwrap();
        assert!(models(folder.path()).is_empty(), "the order of what isn't known isn't known");
    }
}

//! Platforms and devices, and diagnostics if there are none.

use std::path::Path;

use gramer_base::memory::watch_libraries;
use opencl3::device::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, Device,
};
use opencl3::platform::{Platform, get_platforms};

use gramer_base::error::{Error, Result};

/// Codes that say more than their names.
const LIBRARY_MISSING: i32 = opencl3::error_codes::DLOPEN_RUNTIME_LOAD_FAILED;
const NO_PLATFORM: i32 = -1001;
const NO_DEVICE: i32 = -1;

/// One device of a platform.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PlatformDevice {
    /// Platform, such as `Xilinx`.
    pub platform: String,
    /// Index among the accelerators of the Xilinx platform: what follows @; `None` for others.
    pub index: Option<usize>,
    /// Name of the device.
    pub name: String,
    /// `accelerator`, `gpu`, `cpu` or `other`.
    pub kind: &'static str,
    /// Bytes of its memory.
    pub memory: u64,
    /// Version of the driver.
    pub driver: String,
    /// Whether a simulator answers.
    pub emulated: bool,
}

/// A device that can be opened.
pub struct Handle {
    /// The device.
    pub device: Device,
    /// Description.
    pub found: PlatformDevice,
}

/// Why nothing can be used, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Obstacle {
    /// The unusable part.
    pub what: String,
    /// Why.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.what, self.reason, self.remedy)
    }
}

/// The message of a code of the runtime.
pub fn text(code: i32) -> String {
    format!("{} ({code})", opencl3::error_codes::error_text(code))
}

/// All devices of all platforms, and what can't be used.
pub fn devices() -> (Vec<Handle>, Vec<Obstacle>) {
    let missing = |what: &str, reason: String, remedy: &str| Obstacle {
        what: what.into(),
        reason,
        remedy: remedy.into(),
    };
    let platforms = match get_platforms() {
        Ok(platforms) => platforms,
        Err(e) if e.0 == LIBRARY_MISSING => {
            let reason = "there is no OpenCL loader, libOpenCL.so.1".to_string();
            return (vec![], vec![missing("OpenCL", reason, "apt-get install ocl-icd-libopencl1")]);
        }
        Err(e) if e.0 == NO_PLATFORM => vec![],
        Err(e) => {
            let reason = format!("the loader answers {}", text(e.0));
            return (vec![], vec![missing("OpenCL", reason, "install it again")]);
        }
    };
    // The loader has loaded the drivers, and they set handlers of their own.
    watch_libraries();
    let (mut found, mut absent) = (vec![], vec![]);
    let mut has_xilinx = false;
    for platform in platforms {
        let name = platform.name().unwrap_or_default();
        let xilinx = is_xilinx(&name);
        has_xilinx |= xilinx;
        match platform.get_devices(CL_DEVICE_TYPE_ALL) {
            Ok(ids) if !ids.is_empty() => {
                let mut index = 0;
                for id in ids {
                    let handle = handle(&platform, &name, id, &mut index);
                    found.push(handle);
                }
            }
            Ok(_) => absent.push(no_device(&name, NO_DEVICE)),
            Err(e) => absent.push(no_device(&name, e.0)),
        }
    }
    if !has_xilinx {
        absent.push(no_xilinx());
    }
    (found, absent)
}

fn is_xilinx(platform: &str) -> bool {
    platform.to_lowercase().contains("xilinx")
}

fn handle(
    platform: &Platform,
    name: &str,
    id: opencl3::types::cl_device_id,
    index: &mut usize,
) -> Handle {
    let device = Device::new(id);
    let kind = match device.dev_type() {
        Ok(t) if t & CL_DEVICE_TYPE_ACCELERATOR != 0 => "accelerator",
        Ok(t) if t & CL_DEVICE_TYPE_GPU != 0 => "gpu",
        Ok(t) if t & CL_DEVICE_TYPE_CPU != 0 => "cpu",
        _ => "other",
    };
    let xilinx = is_xilinx(name);
    let own = (xilinx && kind == "accelerator").then(|| {
        *index += 1;
        *index - 1
    });
    let driver = match device.driver_version() {
        Ok(version) if !version.is_empty() => version,
        _ => platform.version().unwrap_or_default(),
    };
    let found = PlatformDevice {
        platform: name.to_string(),
        index: own,
        name: device.name().unwrap_or_default(),
        kind,
        memory: device.global_mem_size().unwrap_or(0),
        driver,
        emulated: xilinx && std::env::var_os("XCL_EMULATION_MODE").is_some(),
    };
    Handle { device, found }
}

fn no_device(platform: &str, code: i32) -> Obstacle {
    let (reason, remedy) = match (is_xilinx(platform), std::env::var_os("XCL_EMULATION_MODE")) {
        (true, Some(_)) => (
            "it finds no emulated device".to_string(),
            "put an emconfig.json beside the program, or let the engine `emulator` set it up",
        ),
        (true, None) => (
            "it finds no card".to_string(),
            "is the driver loaded (`xbutil examine`) and the card programmed with its platform? \
             Without a card, use the engine `emulator`",
        ),
        (false, _) => (format!("it has no device: {}", text(code)), "ask its vendor's tools"),
    };
    Obstacle { what: format!("platform {platform}"), reason, remedy: remedy.into() }
}

/// Why the Xilinx platform isn't there.
fn no_xilinx() -> Obstacle {
    let what = "Xilinx Runtime".to_string();
    let installed = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/opt/xilinx/xrt/lib"]
        .into_iter()
        .any(|folder| Path::new(folder).join("libxilinxopencl.so.2").exists());
    let (reason, remedy) = match installed {
        false => (
            "it isn't installed",
            "apt-get install libxrt1, or AMD's own packages for a card (scripts/setup-xrt.sh)",
        ),
        true => (
            "it is installed, but the loader doesn't know it or it doesn't start",
            "put a file with the line libxilinxopencl.so.2 into /etc/OpenCL/vendors/xilinx.icd or \
             into the folder that OCL_ICD_VENDORS names, and set XILINX_XRT (for emulation \
             the engine `emulator` does both)",
        ),
    };
    Obstacle { what, reason: reason.into(), remedy: remedy.into() }
}

/// The accelerator with this index.
///
/// # Errors
/// [`Error::Device`] that lists the devices, or says why there are none.
pub fn open(index: usize) -> Result<Handle> {
    let (devices, missing) = devices();
    let (mut handles, _): (Vec<_>, Vec<_>) =
        devices.into_iter().partition(|d| d.found.index.is_some());
    if let Some(at) = handles.iter().position(|d| d.found.index == Some(index)) {
        return Ok(handles.swap_remove(at));
    }
    let reasons: Vec<String> = missing.iter().map(Obstacle::to_string).collect();
    Err(Error::Device(match handles.len() {
        0 if reasons.is_empty() => "no accelerator was found; `gramer devices` shows more".into(),
        0 => format!("no accelerator was found. {}", reasons.join(". ")),
        n => format!("there is no device {index}: {n} were found, counted from 0"),
    }))
}

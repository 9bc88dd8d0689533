//! Energy by the counter of an NVIDIA GPU, through NVML (`libnvidia-ml.so.1`), which comes with the driver.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::Path;

use gramer_base::error::{Error, Result};
use libloading::{Library, Symbol};

/// NVML's file name.
pub const LIBRARY: &str = "libnvidia-ml.so.1";

type Handle = *mut c_void;
/// Longest name of a device, `NVML_DEVICE_NAME_V2_BUFFER_SIZE`.
const NAME: usize = 96;

/// Counter of the energy of a whole card, since its driver was loaded. NVIDIA updates it about every 100 ms and has it
/// since Volta.
pub struct EnergyCounter {
    device: Handle,
    read: unsafe extern "C" fn(Handle, *mut c_ulonglong) -> c_int,
    name: String,
    /// Behind the function pointer; dropped last.
    _library: Library,
}

/// An error with NVML's code of failure.
fn failed(call: &str, code: c_int) -> Error {
    Error::Device(format!("NVML: {call} failed with code {code}"))
}

impl EnergyCounter {
    /// Opens the counter of card `index`, as `nvidia-smi` numbers them, by the library at this path.
    ///
    /// # Errors
    /// [`Error::Device`] if the library or a function of it is missing, there is no such card, or it has no counter.
    pub fn open(library: &Path, index: u32) -> Result<Self> {
        let no_library = |error| {
            let name = library.display();
            Error::Device(format!("cannot open NVML ({error}): {name} comes with NVIDIA's driver"))
        };
        // SAFETY: NVML's initialisers have no conditions, and the signatures are those of nvml.h.
        unsafe {
            let library = Library::new(library).map_err(no_library)?;
            let start: Symbol<'_, unsafe extern "C" fn() -> c_int> =
                library.get(b"nvmlInit_v2").map_err(no_library)?;
            let find: Symbol<'_, unsafe extern "C" fn(c_uint, *mut Handle) -> c_int> =
                library.get(b"nvmlDeviceGetHandleByIndex_v2").map_err(no_library)?;
            let name: Symbol<'_, unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> c_int> =
                library.get(b"nvmlDeviceGetName").map_err(no_library)?;
            let read = *library.get(b"nvmlDeviceGetTotalEnergyConsumption").map_err(no_library)?;
            let done = |call, code| if code == 0 { Ok(()) } else { Err(failed(call, code)) };
            done("nvmlInit_v2", start())?;
            let mut device = std::ptr::null_mut();
            done("nvmlDeviceGetHandleByIndex_v2", find(index, &mut device))?;
            let mut text = [0 as c_char; NAME];
            // The last byte stays 0.
            done("nvmlDeviceGetName", name(device, text.as_mut_ptr(), NAME as c_uint - 1))?;
            let name = CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned();
            let counter = EnergyCounter { device, read, name, _library: library };
            counter.millijoules()?;
            Ok(counter)
        }
    }

    /// Name of the card.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Energy of the card so far, in mJ.
    ///
    /// # Errors
    /// [`Error::Device`] if the card has no counter or does not answer.
    pub fn millijoules(&self) -> Result<u64> {
        let mut sum = 0;
        // SAFETY: the handle is of this library, which is loaded, and the number is written before it returns.
        match unsafe { (self.read)(self.device, &mut sum) } {
            0 => Ok(sum),
            code => Err(failed("nvmlDeviceGetTotalEnergyConsumption", code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A stand-in for NVML: one card, whose counter grows by 250 mJ with each reading; card 1 has no counter.
    const STAND_IN: &str = r#"
        #include <string.h>
        static unsigned long long sum = 1000;
        int nvmlInit_v2(void) { return 0; }
        int nvmlDeviceGetHandleByIndex_v2(unsigned at, void **device) {
            static int cards[2];
            if (at > 1) return 2;
            *device = &cards[at];
            cards[at] = at;
            return 0;
        }
        int nvmlDeviceGetName(void *device, char *name, unsigned length) {
            strncpy(name, "Stand-in", length);
            return 0;
        }
        int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy) {
            if (*(int *)device) return 3;
            *energy = sum;
            sum += 250;
            return 0;
        }
    "#;

    #[test]
    fn the_counter_is_read_through_the_library() {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("nvml.c"), folder.path().join("nvml.so"));
        std::fs::write(&source, STAND_IN).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
        assert!(compiler.status().unwrap().success());
        let counter = EnergyCounter::open(&library, 0).unwrap();
        assert_eq!(counter.name(), "Stand-in");
        let before = counter.millijoules().unwrap();
        assert_eq!(counter.millijoules().unwrap() - before, 250);
        let error = |index| EnergyCounter::open(&library, index).err().unwrap().to_string();
        assert!(error(1).contains("nvmlDeviceGetTotalEnergyConsumption failed with code 3"));
        assert!(error(2).contains("nvmlDeviceGetHandleByIndex_v2 failed with code 2"));
        let missing = EnergyCounter::open(&folder.path().join("none.so"), 0).err().unwrap();
        assert!(missing.to_string().contains("comes with NVIDIA's driver"), "{missing}");
    }
}

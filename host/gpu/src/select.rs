//! Which device `--device gpu…` names.

use gramer_base::error::{Error, Result};

use crate::platform::{Handle, NamedDevice, Shortcomings, handles, nvidia};

/// Whether `--device` names a GPU: `gpu`, or `gpu:` with an index, a part of a name, or `portable`.
pub fn is_gpu(device: &str) -> bool {
    device == "gpu" || device.starts_with("gpu:")
}

/// The first GPU, or the named one.
///
/// # Errors
/// [`Error::Usage`] for an index or name that no device has, [`Error::Device`] if there is no device.
pub(crate) fn select(device: &str) -> Result<Handle> {
    if let Some(index) = index(device)
        && let name = format!("gpu:{index}")
        && let Some(handle) = nvidia().into_iter().find(|handle| handle.found.device == name)
    {
        return Ok(handle);
    }
    let (mut handles, lacks) = handles();
    let found: Vec<&NamedDevice> = handles.iter().map(|h| &h.found).collect();
    match position(device, &found) {
        Ok(at) => Ok(handles.swap_remove(at)),
        Err(Error::Device(what)) => Err(Error::Device(with_reasons(device, what, lacks))),
        Err(error) => Err(error),
    }
}

/// Why there is no such device: what drivers lack and, where nothing explains it, what to install.
fn with_reasons(device: &str, what: String, lacks: Shortcomings) -> String {
    let portable = device == PORTABLE;
    let install = match portable {
        true if lacks.drivers.is_empty() => {
            Some("PoCL is one: apt-get install pocl-opencl-icd".into())
        }
        true => None,
        false => lacks.gpu,
    };
    let reasons: Vec<String> = std::iter::once(what).chain(lacks.drivers).chain(install).collect();
    reasons.join(". ")
}

/// The processor behind OpenCL.
pub(crate) const PORTABLE: &str = "gpu:portable";

/// The index that a device is named by; that of the first GPU where none is.
pub(crate) fn index(device: &str) -> Option<usize> {
    if device == "gpu" { Some(0) } else { device.strip_prefix("gpu:")?.parse().ok() }
}

/// The device of unit tests: the one that GRAMER_GPU_DEVICE names, by default the portable one. None, said aloud, where there
/// is none.
#[cfg(test)]
pub(crate) fn of_tests() -> Option<Handle> {
    said_aloud(&std::env::var("GRAMER_GPU_DEVICE").unwrap_or_else(|_| PORTABLE.into()))
}

/// The portable device for unit tests that need a processor; none, said aloud, where there is none.
#[cfg(test)]
pub(crate) fn portable() -> Option<Handle> {
    said_aloud(PORTABLE)
}

#[cfg(test)]
fn said_aloud(device: &str) -> Option<Handle> {
    use gramer_testing::environment;
    select(device).map_err(|error| environment::skip(environment::OPENCL, &error.to_string())).ok()
}

fn position(device: &str, found: &[&NamedDevice]) -> Result<usize> {
    let Some(wanted) = device.strip_prefix("gpu:") else {
        return found.iter().position(|f| f.kind == "gpu").ok_or_else(|| {
            let processor = found.iter().find(|f| f.kind == "cpu").map(|cpu| {
                format!(
                    ": {} is a processor behind OpenCL ({}); `{PORTABLE}` runs the same kernels on it",
                    cpu.device, cpu.name
                )
            });
            Error::Device(format!("no GPU was found{}", processor.unwrap_or_default()))
        });
    };
    let names = || {
        let all: Vec<String> = found.iter().map(|f| format!("{} ({})", f.device, f.name)).collect();
        if all.is_empty() {
            "there are none".into()
        } else {
            format!("there are {}", all.join(", "))
        }
    };
    if let Some(index) = index(device) {
        return match index < found.len() {
            true => Ok(index),
            false if found.is_empty() => Err(Error::Device("no OpenCL device was found".into())),
            false => Err(Error::usage(format!("{device}: no such device; {}", names()))),
        };
    }
    if wanted == "portable" {
        let cpu = found.iter().position(|f| f.kind == "cpu");
        return cpu.ok_or_else(|| {
            Error::Device(match gramer_base::memory::address_space() {
                None => "no OpenCL driver for the processor was found".into(),
                Some(space) => format!(
                    "no OpenCL driver for the processor was found in {space} of address space, where one may have no \
                     room: raise the limit (ulimit -v)"
                ),
            })
        });
    }
    let lower = wanted.to_lowercase();
    let fits = |f: &&&NamedDevice| {
        !lower.is_empty() && format!("{} {}", f.platform, f.name).to_lowercase().contains(&lower)
    };
    let at: Vec<&&NamedDevice> = found.iter().filter(fits).collect();
    match at.first() {
        Some(first) => Ok(found.iter().position(|f| f == *first).expect("it is one of them")),
        None => Err(Error::usage(format!("{device}: no device has this name; {}", names()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(device: &str, name: &str, kind: &'static str) -> NamedDevice {
        NamedDevice {
            device: device.into(),
            platform: "Some Platform".into(),
            name: name.into(),
            kind,
            memory: 0,
            compute_units: 1,
            driver: String::new(),
            unregistered: None,
        }
    }

    #[test]
    fn a_device_is_named_by_index_name_or_not_at_all() {
        let all = [
            found("gpu:0", "Fast 9", "gpu"),
            found("gpu:1", "Slow", "gpu"),
            found("gpu:2", "Epyc", "cpu"),
        ];
        let all: Vec<&NamedDevice> = all.iter().collect();
        assert_eq!(
            ["gpu", "gpu:1", "gpu:slow", "gpu:", "gpu:-1"].map(index),
            [Some(0), Some(1), None, None, None]
        );
        assert_eq!(position("gpu", &all).unwrap(), 0);
        assert_eq!(position("gpu:1", &all).unwrap(), 1);
        assert_eq!(position("gpu:slow", &all).unwrap(), 1);
        assert_eq!(position("gpu:portable", &all).unwrap(), 2);
        assert_eq!(position("gpu:epyc", &all).unwrap(), 2);
        assert!(matches!(position("gpu:3", &all), Err(Error::Usage(_))));
        assert!(matches!(position("gpu:", &all), Err(Error::Usage(_))));
        let text = position("gpu:other", &all).unwrap_err().to_string();
        assert!(text.contains("gpu:1 (Slow)"), "{text}");
    }

    #[test]
    fn a_driver_that_offers_nothing_is_the_reason_and_no_installation_is_advised() {
        let said = |device: &str, drivers: &[&str]| {
            let drivers = drivers.iter().map(|text| text.to_string()).collect();
            with_reasons(device, "none".into(), Shortcomings { drivers, gpu: Some("a GPU".into()) })
        };
        assert_eq!(said("gpu:portable", &[]), "none. PoCL is one: apt-get install pocl-opencl-icd");
        assert_eq!(said("gpu:portable", &["PoCL: no cache"]), "none. PoCL: no cache");
        assert_eq!(said("gpu", &["PoCL: no cache"]), "none. PoCL: no cache. a GPU");
    }

    #[test]
    fn the_processor_never_stands_in_for_a_gpu() {
        let cpu = found("gpu:0", "Epyc", "cpu");
        let text = position("gpu", &[&cpu]).unwrap_err().to_string();
        for word in ["no GPU was found", "gpu:0 is a processor behind OpenCL (Epyc)", PORTABLE] {
            assert!(text.contains(word), "{text}");
        }
        assert!(matches!(position("gpu", &[]), Err(Error::Device(_))));
        assert!(is_gpu("gpu") && is_gpu("gpu:1") && !is_gpu("gpux") && !is_gpu("cpu"));
    }
}

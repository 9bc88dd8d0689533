//! Operations of the lanes of a warp: which form of `kernels/lanes.clh` a device takes.
//!
//! A form that a device offers is tried before it is used: a kernel's answers are compared with what they
//! must be. One that can't be built, or whose answers are wrong, isn't taken.

use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};

use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::platform::NamedDevice;

const HEADER: &str = include_str!("../kernels/lanes.clh");
const TRIED: &str = include_str!("../kernels/lanes.cl");

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// Rounds of a trial, and the answers of a lane in each; as in `lanes.cl`.
const ROUNDS: usize = 64;
const ANSWERS: usize = 7;

/// Exchange of values between the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// By instructions of NVIDIA's GPUs.
    Ptx,
    /// By sub-groups of OpenCL.
    Subgroups,
    /// By local memory and barriers.
    Local,
}

impl Choice for Lanes {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Lanes::Ptx, "ptx", "By instructions of NVIDIA's GPUs"),
        (Lanes::Subgroups, "subgroups", "By sub-groups of OpenCL"),
        (Lanes::Local, "local", "By local memory and barriers, on any device"),
    ];
}

/// The form that a device takes, and why not another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    pub lanes: Lanes,
    pub note: Option<String>,
}

impl Form {
    /// Returns the source text to prepend to a kernel that uses it.
    pub fn source(&self) -> String {
        source(self.lanes)
    }

    /// Returns its name, with the fault of the rejected form.
    pub fn said(&self) -> String {
        let name = self.lanes.name();
        self.note.as_ref().map_or(name.into(), |note| format!("{name}: {note}"))
    }
}

/// Returns the source text of a form.
pub(crate) fn source(lanes: Lanes) -> String {
    let define = match lanes {
        Lanes::Ptx => "#define LANES_PTX\n",
        Lanes::Subgroups => "#define LANES_SUBGROUPS\n",
        Lanes::Local => "",
    };
    format!("{define}{HEADER}")
}

/// Form that a device offers in addition to local memory, used if it passes a self-test.
pub(crate) fn offered(found: &NamedDevice, extensions: &str) -> Option<Lanes> {
    let has = |name: &str| extensions.split_whitespace().any(|word| word == name);
    let subgroups = ["cl_khr_subgroups", "cl_khr_subgroup_ballot", "cl_khr_subgroup_shuffle"];
    match found.kind {
        // A processor's lanes run one after the other.
        "gpu" if found.platform.contains("NVIDIA") => Some(Lanes::Ptx),
        "gpu" if subgroups.into_iter().all(has) => Some(Lanes::Subgroups),
        _ => None,
    }
}

/// The form that was requested, or the one that is offered if it is right, else that of local memory.
///
/// # Errors
/// [`Error::Usage`] where the form that was requested isn't right.
pub(crate) fn choose(
    device: &Device,
    asked: Option<Lanes>,
    offered: Option<Lanes>,
) -> Result<Form> {
    let narrow = device.lanes(LANES) < LANES;
    let lanes = match asked.or(offered) {
        None => return Ok(Form { lanes: Lanes::Local, note: None }),
        // Only this form works there, so no self-test is needed.
        Some(lanes) if narrow && (asked.is_none() || lanes == Lanes::Local) => {
            return Ok(Form { lanes: Lanes::Local, note: None });
        }
        Some(lanes) => lanes,
    };
    let wrong = match narrow {
        true => format!("can't be used: its work-groups have fewer than {LANES} lanes"),
        false => match answers(device, lanes) {
            Ok(answers) if answers == right(&given()) => return Ok(Form { lanes, note: None }),
            Ok(_) => "gave wrong answers".to_string(),
            // What its compiler says is for the reader of messages; a note is one line.
            Err(error) => {
                format!("can't be used: {}", error.to_string().lines().next().unwrap_or(""))
            }
        },
    };
    match asked {
        None => Ok(Form { lanes: Lanes::Local, note: Some(format!("{} {wrong}", lanes.name())) }),
        Some(_) => Err(Error::usage(format!(
            "{}: the form {} of lane operations {wrong}; leave out the setting `lanes`",
            device.label(),
            lanes.name()
        ))),
    }
}

/// A number for each lane and round: 0, all bits, single ones, and others.
fn given() -> Vec<u32> {
    let spread = |n: usize| (n as u32).wrapping_mul(0x9e37_79b1).rotate_left(n as u32 % 32);
    (0..ROUNDS * LANES)
        .map(|n| match n / LANES {
            0 => 0,
            1 => u32::MAX,
            2 => 1 << (n % LANES),
            _ => spread(n),
        })
        .collect()
}

/// Expected results of the kernel, lane by lane.
fn right(given: &[u32]) -> Vec<u32> {
    let mut answers = vec![];
    for round in given.chunks_exact(LANES) {
        let turned: Vec<u32> =
            (0..).zip(round).map(|(l, v)| v.rotate_left(v % 7 * (l % 3))).collect();
        let ballot = (0..).zip(&turned).fold(0u32, |bits, (l, v)| bits | (v % 2) << l);
        let mixed = |&v: &u32| if v % 5 == 0 { v ^ 0x5bd1_e995 } else { v };
        let values: Vec<u32> = turned.iter().map(mixed).collect();
        let product = |&v: &u32| u64::from(v) * u64::from(u32::MAX);
        let sum = values.iter().map(product).fold(0, u64::wrapping_add);
        let most = values.iter().copied().max().expect("lanes");
        for lane in 0..LANES {
            let next = values[(lane + 1) % LANES];
            let chosen = values[round[0] as usize % LANES];
            answers.extend([ballot, chosen, sum as u32, (sum >> 32) as u32, next, !next, most]);
        }
    }
    answers
}

/// Results of the device.
fn answers(device: &Device, lanes: Lanes) -> Result<Vec<u32>> {
    let program =
        device.program("lanes", &[&format!("#define LANES {LANES}u\n"), &source(lanes), TRIED])?;
    let place = device.place();
    let given = Buffer::of(&place, &given(), "numbers of lanes")?;
    let room = Buffer::of(&place, &[0u32; LANES], "numbers of lanes")?;
    let answers: Buffer<u32> = Buffer::new(&place, ROUNDS * LANES * ANSWERS, "answers of lanes")?;
    let args = [
        Arg::Buffer(given.raw()),
        Arg::U32(ROUNDS as u32),
        Arg::Buffer(room.raw()),
        Arg::Buffer(answers.raw()),
    ];
    device.launch(&program, "lanes", &args, 1, LANES)?;
    let mut read = vec![0; ROUNDS * LANES * ANSWERS];
    answers.read(&device.queue, &mut read)?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::select::of_tests;

    fn named(platform: &str, kind: &'static str) -> NamedDevice {
        NamedDevice {
            device: "gpu:0".into(),
            platform: platform.into(),
            name: String::new(),
            kind,
            memory: 0,
            compute_units: 1,
            driver: String::new(),
            unregistered: None,
        }
    }

    #[test]
    fn a_device_is_asked_for_what_it_says_it_has() {
        let all = "cl_khr_subgroups cl_khr_subgroup_ballot cl_khr_subgroup_shuffle";
        let nvidia = named("NVIDIA CUDA", "gpu");
        assert_eq!(offered(&nvidia, ""), Some(Lanes::Ptx));
        let other = named("AMD Accelerated Parallel Processing", "gpu");
        assert_eq!(offered(&other, all), Some(Lanes::Subgroups));
        assert_eq!(offered(&other, "cl_khr_subgroups cl_khr_subgroup_ballot_x"), None);
        assert_eq!(offered(&named("Portable Computing Language", "cpu"), all), None);
    }

    /// Every form that the device has gives the right answers, and one that it hasn't isn't taken. The device is
    /// the one that GRAMER_GPU_DEVICE names, by default the portable one.
    #[test]
    fn every_form_gives_the_same_answers() {
        let Some(handle) = of_tests() else { return };
        let offered = offered(&handle.found, &handle.device.extensions().unwrap());
        let device = Device::open(handle, &Settings::default()).unwrap();
        let right = right(&given());
        assert_eq!(answers(&device, Lanes::Local).unwrap(), right, "local");
        let mut had = vec![Lanes::Local];
        for lanes in [Lanes::Ptx, Lanes::Subgroups] {
            let form = choose(&device, Some(lanes), offered);
            match answers(&device, lanes) {
                Ok(answers) if answers == right => {
                    assert_eq!(form.unwrap(), Form { lanes, note: None });
                    had.push(lanes);
                }
                _ => {
                    let said = form.unwrap_err().to_string();
                    assert!(
                        said.contains("setting `lanes`") && said.contains(lanes.name()),
                        "{said}"
                    );
                    let form = choose(&device, None, Some(lanes)).unwrap();
                    assert_eq!(form.lanes, Lanes::Local);
                    assert!(
                        form.said().starts_with(&format!("local: {} ", lanes.name())),
                        "{}",
                        form.said()
                    );
                }
            }
        }
        // What a device says it has must be right, or this program has a fault.
        assert!(offered.is_none_or(|lanes| had.contains(&lanes)), "{offered:?} of {had:?}");
    }
}

//! Why a method doesn't answer a question: data, and the sentence that a user reads.

use serde::Serialize;

use gramer_base::choice::Choice;
use gramer_base::error::Error;
use gramer_pattern::task::{Induced, Measure};

use crate::method::Choices;
use crate::query::{Ask, Needs};

/// Why a method doesn't answer a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The method is for other tasks.
    Task,
    /// Needs that it doesn't meet; several that it meets one by one, but not at once.
    Needs(Needs),
    /// A number is out of its range.
    Size {
        /// Counted quantity.
        what: &'static str,
        /// The number.
        value: u64,
        /// The least that it takes.
        least: u64,
        /// The most that it takes.
        most: u64,
    },
    /// The method does not support these occurrences.
    Induced(Induced),
    /// The method does not support this measure.
    Measure(Measure),
    /// A limit of the device that this pattern exceeds, as in "counts patterns of 3 to 8 vertices, and this one has
    /// 9".
    Pattern(String),
    /// Not enough memory.
    Memory {
        /// Bytes that would do, where that is known.
        needs: Option<u64>,
    },
    /// Sums exceed their width.
    Overflow {
        /// Bits that a sum has.
        bits: u32,
    },
    /// A setting excludes it.
    Setting(&'static str),
    /// Another method was named.
    NotNamed,
    /// One of several devices has this reason.
    Member {
        /// The name of the device.
        device: String,
        /// Reason of that device.
        reason: Box<Reason>,
    },
    /// Several devices don't divide it alike.
    Undivided {
        /// The devices that answer it only as a whole.
        whole: Vec<String>,
    },
}

impl Reason {
    /// Reason for a number out of range.
    pub fn size(what: &'static str, value: usize, least: usize, most: usize) -> Self {
        let [value, least, most] = [value, least, most].map(|number| number as u64);
        Reason::Size { what, value, least, most }
    }

    /// Widens the range of sizes of a reason by another's that continues it.
    fn takes_in(&mut self, other: &Reason) -> bool {
        match (self, other) {
            (
                Reason::Size { what, value, most, .. },
                Reason::Size { what: kind, value: of, least: next, most: last },
            ) if what == kind && value == of && *next <= *most + 1 => {
                *most = (*most).max(*last);
                true
            }
            _ => false,
        }
    }

    /// Distance of the method from an answer: users are shown the nearest reason.
    fn distance(&self) -> u32 {
        match self {
            Reason::Memory { .. } | Reason::Overflow { .. } | Reason::Setting(_) => 0,
            Reason::Size { .. } | Reason::Pattern(_) => 1,
            Reason::Induced(_) | Reason::Measure(_) => 2,
            Reason::Needs(_) | Reason::Undivided { .. } => 3,
            Reason::NotNamed => 4,
            Reason::Task => 5,
            Reason::Member { reason, .. } => reason.distance(),
        }
    }
}

/// Completes the sentence "the device … ".
impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Task => f.write_str("has no method for this task"),
            Reason::Needs(needs) => {
                let phrases: Vec<&str> = needs.phrases().collect();
                let once = if phrases.len() > 1 { " at once" } else { "" };
                write!(f, "does not answer it {}{once}", phrases.join(" and "))
            }
            Reason::Size { what, value, least, most } if least == most => {
                write!(f, "takes {what} of {least}, not {value}")
            }
            Reason::Size { what, value, least, most } => {
                write!(f, "takes {what} of {least} to {most}, not {value}")
            }
            Reason::Induced(induced) => write!(f, "counts no {induced}-induced occurrences"),
            Reason::Measure(measure) => {
                write!(f, "does not support the measure {}", measure.name())
            }
            Reason::Pattern(what) => f.write_str(what),
            Reason::Memory { needs: Some(bytes) } => {
                write!(f, "has no room: {} MB would do", bytes.div_ceil(1 << 20))
            }
            Reason::Memory { needs: None } => f.write_str("has no room"),
            Reason::Overflow { bits } => write!(f, "has sums of more than {bits} bits"),
            Reason::Setting(name) => {
                write!(f, "can't do it with this setting `{name}`: leave it out")
            }
            Reason::NotNamed => f.write_str("is left out: another method was named"),
            Reason::Member { device, reason } => write!(f, "can't: `{device}` {reason}"),
            Reason::Undivided { whole } if whole.is_empty() => {
                f.write_str("divides it in different ways: name one device, or devices of one kind")
            }
            Reason::Undivided { whole } => {
                write!(f, "doesn't divide it: `{}` answers it only as a whole", whole.join("`, `"))
            }
        }
    }
}

/// The reasons of several methods as those of one: needs that all of them lack, or, if one lacks this and another that,
/// all of it at once; sizes that continue each other; each reason once.
fn combined<'a>(reasons: impl Iterator<Item = &'a Reason>) -> Vec<Reason> {
    let mut combined: Vec<Reason> = vec![];
    let (mut common, mut all) = (None::<Needs>, Needs::NONE);
    let mut sizes: Vec<&Reason> = vec![];
    for reason in reasons {
        match reason {
            Reason::Needs(needs) => {
                common = Some(common.map_or(*needs, |common| common.common(*needs)));
                all = all | *needs;
            }
            Reason::Size { .. } => sizes.push(reason),
            _ if combined.contains(reason) => {}
            _ => combined.push(reason.clone()),
        }
    }
    sizes.sort_by_key(|reason| if let Reason::Size { least, .. } = reason { *least } else { 0 });
    for size in sizes {
        if !combined.iter_mut().any(|known| known.takes_in(size)) {
            combined.push(size.clone());
        }
    }
    if let Some(common) = common {
        combined.push(Reason::Needs(if common.is_none() { all } else { common }));
    }
    combined
}

/// The error of a device none of whose methods answers a question: the nearest reasons, each once.
pub fn refusal(device: &str, ask: &Ask<'_>, choices: &Choices) -> Error {
    let distance = choices.not.iter().map(|(_, reason)| reason.distance()).min();
    let is_nearest = |reason: &&Reason| Some(reason.distance()) == distance;
    let nearest = combined(choices.not.iter().map(|(_, reason)| reason).filter(is_nearest));
    let mut reasons: Vec<String> = nearest.iter().map(ToString::to_string).collect();
    if reasons.is_empty() {
        reasons.push(Reason::Task.to_string());
    }
    let task = ask.query.task.info().subject;
    Error::Unsupported(format!("{task}: `{device}` {}", reasons.join("; it also ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_several_methods_are_told_as_one() {
        let told = |reasons: &[Reason]| -> Vec<String> {
            combined(reasons.iter()).iter().map(ToString::to_string).collect()
        };
        let [per, memory, list] =
            [Needs::PER_VERTEX, Needs::MEMORY, Needs::LIST].map(Reason::Needs);
        let once = "does not answer it per vertex and within a memory limit at once";
        assert_eq!(told(&[per.clone(), memory.clone()]), [once]);
        let both = Reason::Needs(Needs::PER_VERTEX | Needs::LIST);
        assert_eq!(told(&[both, list]), ["does not answer it with a list of embeddings"]);
        let motifs = |least, most| Reason::size("motifs", 6, least, most);
        assert_eq!(told(&[motifs(5, 5), motifs(3, 4)]), ["takes motifs of 3 to 5, not 6"]);
        let apart = ["takes motifs of 3, not 6", "takes motifs of 5, not 6"];
        assert_eq!(told(&[motifs(3, 3), motifs(5, 5), motifs(3, 3)]), apart);
    }
}

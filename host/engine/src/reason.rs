//! Why a method doesn't answer a question: data, and the sentence that a user reads.

use serde::Serialize;

use gramer_graph::choice::Choice;
use gramer_graph::error::Error;
use gramer_pattern::task::{Induced, Measure, Task};

use crate::method::Choices;
use crate::query::{Ask, Needs};

/// Why a method doesn't answer a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// It is of other tasks.
    Task,
    /// Needs that it doesn't meet; several that it meets one by one, but not at once.
    Needs(Needs),
    /// A number is out of its range.
    Size {
        /// What is counted.
        what: &'static str,
        /// The number.
        value: u64,
        /// The least that it takes.
        least: u64,
        /// The most that it takes.
        most: u64,
    },
    /// It doesn't know these occurrences.
    Induced(Induced),
    /// It doesn't know this support.
    Measure(Measure),
    /// What it does and this pattern is not, as in "counts patterns of 3 to 8 vertices, and this one has 9".
    Pattern(String),
    /// It has no room.
    Memory {
        /// Bytes that would do, where that is known.
        needs: Option<u64>,
    },
    /// Its sums pass a width.
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
        /// Its reason.
        reason: Box<Reason>,
    },
    /// Several devices divide it in different ways.
    Undivided,
}

impl Reason {
    /// A number that is out of range.
    pub fn size(what: &'static str, value: usize, least: usize, most: usize) -> Self {
        let [value, least, most] = [value, least, most].map(|number| number as u64);
        Reason::Size { what, value, least, most }
    }

    /// How near the method is to an answer: a user mends the nearest reason.
    fn distance(&self) -> u32 {
        match self {
            Reason::Memory { .. } | Reason::Overflow { .. } | Reason::Setting(_) => 0,
            Reason::Size { .. } | Reason::Pattern(_) => 1,
            Reason::Induced(_) | Reason::Measure(_) => 2,
            Reason::Needs(_) => 3,
            Reason::Undivided => 3,
            Reason::NotNamed => 4,
            Reason::Task => 5,
            Reason::Member { reason, .. } => reason.distance(),
        }
    }
}

/// As in "the device … ".
impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Task => f.write_str("has no method for this task"),
            Reason::Needs(needs) => {
                let phrases: Vec<&str> = needs.phrases().collect();
                write!(f, "does not answer it {}", phrases.join(" and "))
            }
            Reason::Size { what, value, least, most } if least == most => {
                write!(f, "takes {what} of {least}, not {value}")
            }
            Reason::Size { what, value, least, most } => {
                write!(f, "takes {what} of {least} to {most}, not {value}")
            }
            Reason::Induced(induced) => write!(f, "knows no {induced}-induced occurrences"),
            Reason::Measure(measure) => write!(f, "knows no support by {}", measure.name()),
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
            Reason::Undivided => f.write_str(
                "have no way in common to divide it: name one device, or devices of one kind",
            ),
        }
    }
}

/// What a task asks for, in a few words.
pub fn described(task: &Task) -> String {
    match task {
        Task::Clique { k } => format!("cliques of {k} vertices"),
        Task::CliqueSizes { smallest, largest } if *largest == usize::MAX => {
            format!("cliques of {smallest} and more vertices")
        }
        Task::CliqueSizes { smallest, largest } => {
            format!("cliques of {smallest} to {largest} vertices")
        }
        Task::MaximalCliques => "maximal cliques".into(),
        Task::MaximumClique => "the maximum clique".into(),
        Task::Motif { k, induced } => format!("{induced}-induced motifs of {k} vertices"),
        Task::Fsm { measure, .. } => {
            format!("frequent patterns by the measure {}", measure.name())
        }
        Task::Match { pattern, induced, .. } => {
            format!("{induced}-induced matches of {} vertices", pattern.vertices())
        }
    }
}

/// The error of a device none of whose methods answers a question: the nearest reasons, each once.
pub fn refusal(device: &str, ask: &Ask<'_>, choices: &Choices) -> Error {
    let nearest = choices.not.iter().map(|(_, reason)| reason.distance()).min();
    let mut reasons: Vec<String> = vec![];
    for (_, reason) in &choices.not {
        let text = reason.to_string();
        if Some(reason.distance()) == nearest && !reasons.contains(&text) {
            reasons.push(text);
        }
    }
    if reasons.is_empty() {
        reasons.push(Reason::Task.to_string());
    }
    let task = described(&ask.query.task);
    Error::Unsupported(format!("{task}: `{device}` {}", reasons.join("; it also ")))
}

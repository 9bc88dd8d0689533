//! Mining tasks as operations of the set core.

use gramer_base::error::{Error, Result};
use gramer_engine::{Count, Outcome};
use gramer_machine::Accelerator;
use gramer_machine::set::MAP_LINES;
use gramer_pattern::closing::{Closing, Sums};
use gramer_pattern::task::{Induced, Task};
use gramer_pattern::{Dictionary, Pattern};

use super::image::{Lists, Size};
use super::motifs5;
use super::numbers::SUM_CLIQUES;
use super::sums::{Degrees, Total, formulas, motifs3, motifs4};
use super::units::Operation;

/// A task that the set core does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTask {
    /// Cliques of k vertices.
    Cliques(u32),
    /// Cliques of the first to the second number of vertices; a pass counts as many sizes as a header has plans.
    CliqueSizes(u32, u32),
    /// Vertex-induced motifs of 3 vertices.
    Motifs3,
    /// Vertex-induced motifs of 4 vertices.
    Motifs4,
    /// Vertex-induced motifs of 5 vertices: cliques of as many, and what [`super::motifs5`] runs.
    Motifs5,
}

impl SetTask {
    /// What a task is here, if it is one of sums.
    pub fn of(task: &Task) -> Option<Self> {
        match *task {
            Task::Clique { k } => Some(SetTask::Cliques(k as u32)),
            Task::CliqueSizes { smallest, largest } => {
                Some(SetTask::CliqueSizes(smallest as u32, largest as u32))
            }
            Task::Motif { k: 3, induced: Induced::Vertex } => Some(SetTask::Motifs3),
            Task::Motif { k: 4, induced: Induced::Vertex } => Some(SetTask::Motifs4),
            Task::Motif { k: 5, induced: Induced::Vertex } => Some(SetTask::Motifs5),
            _ => None,
        }
    }

    /// The tasks that it is made of, one after the other over the same image, each of up to `most` sizes of cliques. A
    /// clique has one vertex more than the `longest` list of neighbours before a vertex at most.
    pub fn passes(self, longest: u32, most: u32) -> Vec<SetTask> {
        match self {
            SetTask::CliqueSizes(smallest, largest) => {
                let largest = largest.min(longest.saturating_add(1)).max(smallest);
                let end = |first: u32| largest.min(first.saturating_add(most - 1));
                let firsts = (smallest..=largest).step_by(most as usize);
                firsts.map(|first| SetTask::CliqueSizes(first, end(first))).collect()
            }
            one => vec![one],
        }
    }

    /// What is done for every root, of a task of one pass; of 5-motifs over the first of their images.
    pub fn operations(self) -> Vec<Operation> {
        match self {
            SetTask::Cliques(k) => vec![Operation::Cliques { k }],
            SetTask::CliqueSizes(smallest, largest) => {
                (smallest..=largest).map(|k| Operation::Cliques { k }).collect()
            }
            SetTask::Motifs3 => vec![Operation::Cliques { k: 3 }],
            SetTask::Motifs4 => vec![Operation::Cliques { k: 4 }, Operation::Paths],
            SetTask::Motifs5 => SetTask::Cliques(5).operations(),
        }
    }

    /// Lists that its image needs.
    pub fn lists(self) -> Lists {
        let both = self.operations().iter().any(|o| o.lists() == Lists::Both);
        if both { Lists::Both } else { Lists::Up }
    }

    /// The answer from the sums of all clusters, of a task of one pass.
    pub fn counts(self, total: &Total, degrees: &Degrees) -> Vec<Count> {
        let of = |k, counts: Vec<u128>| {
            let patterns = Dictionary::of(k).patterns().iter().cloned();
            patterns.zip(counts).map(|(pattern, count)| Count { pattern, count }).collect()
        };
        match self {
            SetTask::Cliques(k) => SetTask::CliqueSizes(k, k).counts(total, degrees),
            // In the order of the header's plans.
            SetTask::CliqueSizes(smallest, largest) => (smallest..=largest)
                .zip(&total[SUM_CLIQUES..])
                .map(|(k, &count)| Count { pattern: Pattern::clique(k as usize), count })
                .collect(),
            SetTask::Motifs3 => of(3, motifs3(total[SUM_CLIQUES], degrees)),
            SetTask::Motifs4 => of(4, motifs4(total, degrees)),
            SetTask::Motifs5 => of(5, motifs5::counts(total)),
        }
    }

    /// What a share of a task of one pass found: a count, or sums of which counts are made when all
    /// shares are there.
    pub fn share(self, total: &Total, degrees: &Degrees) -> Outcome {
        match self {
            SetTask::Cliques(_) | SetTask::CliqueSizes(..) => {
                Outcome::new(self.counts(total, degrees), true)
            }
            SetTask::Motifs3 | SetTask::Motifs4 | SetTask::Motifs5 => {
                // Those of five are counted as a whole.
                let k = if self == SetTask::Motifs3 { 3 } else { 4 };
                let (closing, values) =
                    (Closing::MotifForms { k }, formulas(total, degrees).to_vec());
                let sums = Some(Sums { closing, values });
                Outcome { sums, ..Outcome::new(vec![], true) }
            }
        }
    }
}

/// Whether the whole image of a graph has room in a cluster of the machine, with every root of the task, so
/// that it stays there from run to run. Else the roots are cut into [`super::segments::Segments`]. `size`
/// is that of the image for the task, `longest` the most neighbours that a vertex has before it
/// ([`super::units::longest`]).
///
/// # Errors
/// [`Error::Unsupported`] for a machine without a set core.
pub fn stays(
    machine: &Accelerator,
    size: Option<Size>,
    longest: u32,
    task: SetTask,
) -> Result<bool> {
    let name = &machine.machine.name;
    let none = || Error::Unsupported(format!("machine {name} has no set core"));
    let set = machine.set.as_ref().ok_or_else(none)?;
    let Some(size) = size else { return Ok(false) };
    let mapped = task.lists() == Lists::Both;
    Ok(longest <= set.list_entries()
        && size.quarters <= machine.set_quarters().into()
        // A counter of the map holds a root's level and, above it, up to all entries of the root's block.
        && (!mapped || size.quarters <= set.map_entries().into() && size.longest_block <= MAP_LINES))
}

/// Why a machine doesn't do something, with the engine that does.
pub(super) fn unsupported(machine: &Accelerator, what: &str) -> Error {
    Error::Unsupported(format!("machine {} {what}; use the engine `cpu`", machine.machine.name))
}

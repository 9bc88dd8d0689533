//! Closings: arithmetic from the sums of work units to an answer, independent of engines and graphs.
//!
//! | module | content |
//! |---|---|
//! | [`equations`] | motifs from the equations of [`MotifPlan`](crate::plan::motif::MotifPlan) |
//! | [`forms`] | motifs of three and four vertices in closed form; steps between vertex- and edge-induced counts |
//! | [`five`] | motifs of five vertices in closed form |
//! | [`labels`] | labels of a pattern that can be compared with a graph's |
//! | [`results`] | the order of results and the threshold of frequent patterns |

pub mod equations;
pub mod five;
pub mod forms;
pub mod labels;
pub mod results;

use gramer_base::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::Count;
use crate::task::Task;

/// How sums become counts. Which sums belong together is another question: engines that close in the same way may divide
/// their work differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// Motifs of `k` vertices by [`equations`].
    MotifEquations {
        /// Vertices of a motif.
        k: usize,
    },
    /// Motifs of `k` vertices by [`forms`]; the sums are [`forms::Sums`].
    MotifForms {
        /// Vertices of a motif.
        k: usize,
    },
    /// One sum: the mappings of a pattern beyond those of its count, which is rounded down.
    Mappings {
        /// Mappings of an occurrence.
        each: u128,
    },
}

/// Sums over work units that give counts once all units are in them.
///
/// ```
/// use gramer_pattern::closing::{Closing, Sums};
/// use gramer_pattern::task::{Induced, Task};
///
/// // A triangle with a tail, in two parts: one triangle, five pairs of edges that meet.
/// let closing = Closing::MotifForms { k: 3 };
/// let mut sums = Sums { closing: closing.clone(), values: vec![1, 0, 0, 0, 0, 0, 0, 3] };
/// sums.add(&Sums { closing, values: vec![0, 0, 0, 0, 0, 0, 0, 2] })?;
/// let mut counts = vec![];
/// sums.close(&Task::Motif { k: 3, induced: Induced::Vertex }, true, &mut counts)?;
/// assert_eq!((counts[0].count, counts[1].count), (2, 1));
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// How they become counts.
    pub closing: Closing,
    /// The sums, in the order of the closing.
    pub values: Vec<u128>,
}

impl Sums {
    /// Adds those of other units.
    ///
    /// # Errors
    /// [`unlike`] for sums of another closing, [`too_large`].
    pub fn add(&mut self, other: &Sums) -> Result<()> {
        if self.closing != other.closing || self.values.len() != other.values.len() {
            return Err(unlike());
        }
        for (sum, other) in self.values.iter_mut().zip(&other.values) {
            *sum = sum.checked_add(*other).ok_or_else(too_large)?;
        }
        Ok(())
    }

    /// Computes the known counts of a task from its sums: of the mappings of some units all whole occurrences, of
    /// motifs nothing before the sums are `whole`, those of all units.
    ///
    /// # Errors
    /// [`unlike`] for sums that are not of this task or of no graph, [`too_large`].
    pub fn close(&mut self, task: &Task, whole: bool, counts: &mut Vec<Count>) -> Result<()> {
        match (&self.closing, task) {
            (Closing::Mappings { each }, _) => {
                let ([only], [rest]) = (&mut counts[..], &mut self.values[..]) else {
                    return Err(unlike());
                };
                only.count = only.count.checked_add(*rest / each).ok_or_else(too_large)?;
                *rest %= each;
            }
            (Closing::MotifEquations { k }, Task::Motif { k: of, induced }) if k == of => {
                if whole {
                    let closed = equations::motifs(*k, *induced, &self.values);
                    *counts = closed.ok_or_else(unlike)?;
                }
            }
            (Closing::MotifForms { k }, Task::Motif { k: of, induced }) if k == of => {
                if whole {
                    let sums = self.values.as_slice().try_into().ok();
                    let closed = sums.and_then(|sums| forms::motifs(*k, *induced, sums));
                    *counts = closed.ok_or_else(unlike)?;
                }
            }
            (Closing::MotifEquations { .. } | Closing::MotifForms { .. }, _) => {
                return Err(unlike());
            }
        }
        Ok(())
    }
}

/// A number is too large to be counted.
pub fn too_large() -> Error {
    Error::Unsupported("the number needs more than 128 bits".into())
}

/// Results of parts don't belong together.
pub fn unlike() -> Error {
    Error::usage("the outcomes are of different tasks or engines, and don't add up")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;
    use crate::task::Induced;

    fn sums(closing: Closing, values: &[u128]) -> Sums {
        Sums { closing, values: values.to_vec() }
    }

    #[test]
    fn mappings_of_several_units_are_whole_occurrences_as_soon_as_they_can_be() {
        let pattern = Pattern::clique(3);
        let task = Task::Match { pattern: pattern.clone(), induced: Induced::Edge, mappings: None };
        let each = Closing::Mappings { each: 6 };
        let mut both = sums(each.clone(), &[4]);
        both.add(&sums(each, &[5])).unwrap();
        let mut counts = vec![Count { pattern, count: 7 }];
        both.close(&task, false, &mut counts).unwrap();
        assert_eq!((counts[0].count, &both.values[..]), (8, &[3][..]));
        assert!(both.close(&task, true, &mut vec![]).is_err());
    }

    #[test]
    fn sums_that_do_not_belong_together_are_refused() {
        let (three, four) = (Closing::MotifForms { k: 3 }, Closing::MotifForms { k: 4 });
        let motifs = |k| Task::Motif { k, induced: Induced::Vertex };
        let mut sum = sums(three.clone(), &[1, 0, 0, 0, 0, 0, 0, 5]);
        assert!(sum.add(&sums(four, &[0; 8])).is_err());
        assert!(sum.add(&sums(Closing::MotifEquations { k: 3 }, &[0; 8])).is_err());
        assert!(sum.add(&sums(three.clone(), &[0; 7])).is_err());
        assert!(sum.add(&sums(three.clone(), &[u128::MAX; 8])).is_err());
        for wrong in [motifs(4), Task::Clique { k: 3 }] {
            assert!(sum.close(&wrong, true, &mut vec![]).is_err(), "{wrong:?}");
        }
        let mut counts = vec![];
        sum.close(&motifs(3), false, &mut counts).unwrap();
        assert!(counts.is_empty(), "not all units are in them");
        // More triangles than pairs of edges that meet.
        let mut none = sums(three, &[5, 0, 0, 0, 0, 0, 0, 1]);
        assert!(none.close(&motifs(3), true, &mut counts).is_err());
    }
}

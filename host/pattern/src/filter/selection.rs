//! Conditions on the pattern of an embedding.

use std::fmt;

use super::{Comparison, VertexFacts};
use crate::Pattern;

/// One comparison of a condition on patterns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PatternComparison {
    /// Whether the embedding has this pattern, which must be `true` or `false`.
    Is {
        /// Name as written.
        name: String,
        /// The pattern with this name: connected, in canonical form.
        pattern: Pattern,
        /// `true` for `==`.
        wanted: bool,
    },
    /// A comparison of `size` with a number.
    Size(Comparison),
}

/// Comparisons of which one at least must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PatternCondition(pub(super) Vec<PatternComparison>);

impl PatternCondition {
    /// Its comparisons, one at least.
    pub fn comparisons(&self) -> &[PatternComparison] {
        &self.0
    }

    /// Whether it holds for embeddings of a pattern without labels, in canonical form.
    pub fn holds(&self, pattern: &Pattern) -> bool {
        let (size, none) = (pattern.vertices() as u32, VertexFacts::default());
        self.0.iter().any(|comparison| match comparison {
            PatternComparison::Is { pattern: named, wanted, .. } => (named == pattern) == *wanted,
            PatternComparison::Size(comparison) => comparison.holds(size, none, none, false),
        })
    }
}

impl fmt::Display for PatternComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternComparison::Is { name, wanted: true, .. } => write!(f, "pattern == {name}"),
            PatternComparison::Is { name, wanted: false, .. } => write!(f, "pattern != {name}"),
            PatternComparison::Size(comparison) => write!(f, "{comparison}"),
        }
    }
}

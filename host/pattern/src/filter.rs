//! Conditions on the vertices of an embedding: the `Filter` of algorithm 1, written by a user.
//!
//! ```
//! use gramer_pattern::filter::{Filter, VertexFacts};
//!
//! let filter: Filter = "label(u) != label(v), degree(u) >= 2".parse()?;
//! let [one, other] = [7, 9].map(|label| VertexFacts { label, degree: 2 });
//! assert!(filter.accepts(one, [(other, true)]));
//! assert!(!filter.accepts(one, [(other, true), (one, false)]));
//! # Ok::<(), gramer_base::Error>(())
//! ```
//!
//! # Language
//!
//! A filter is a list of conditions, separated by commas; all must hold. A condition is one comparison or several,
//! joined by `or`. A comparison is `adjacent(u, v)`, or two operands with `==`, `!=`, `<`, `<=`, `>` or `>=` between
//! them; `not` in front negates it. Operands are `label(u)`, `label(v)`, `degree(u)`, `degree(v)`, `size` and numbers.
//!
//! A condition with one of the names `u` and `v` must hold for every vertex of an embedding; one with both for every
//! ordered pair of different vertices. An embedding thus passes or fails whatever the order of its vertices, and every
//! embedding inside one that passes does too: what algorithm 1 accepts is a property of the set of vertices.
//!
//! A condition with `size` is the exception. Algorithm 1 tests it each time that a vertex joins an embedding: for that
//! vertex, for its pairs with the others, or once if it has no names. `size` counts the new vertex; it is 1 for a start
//! vertex. `size < 4 or degree(u) > 10` thus concerns the fourth vertex and later ones, in the order of algorithm 1.
//!
//! So is a condition with `pattern == NAME` or `pattern != NAME`, joined by `or` with others of its kind or with
//! comparisons of `size`. Algorithm 1 tests it on each embedding of 2 vertices or more, all the prefixes included.

mod parser;
mod selection;
#[cfg(test)]
mod tests;

pub use selection::{PatternComparison, PatternCondition};

use std::fmt;

use gramer_graph::Label;
use serde::{Deserialize, Serialize};

use crate::Pattern;

/// A property of a vertex of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// Its label.
    Label,
    /// The number of its neighbours in the graph.
    Degree,
}

/// A name of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variable {
    /// `u`
    U,
    /// `v`
    V,
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// An attribute of a vertex.
    Of(Attribute, Variable),
    /// The number of vertices of the embedding with the new one.
    Size,
    /// A constant.
    Number(u32),
}

/// A relation between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Relation {
    /// Each with its sign.
    const SIGNS: [(Relation, &'static str); 6] = [
        (Relation::Equal, "=="),
        (Relation::NotEqual, "!="),
        (Relation::AtMost, "<="),
        (Relation::AtLeast, ">="),
        (Relation::Less, "<"),
        (Relation::Greater, ">"),
    ];

    /// Whether it holds.
    pub fn holds(self, left: u32, right: u32) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::AtMost => left <= right,
            Relation::Greater => left > right,
            Relation::AtLeast => left >= right,
        }
    }

    /// The relation with its sides exchanged.
    #[must_use]
    pub fn exchanged(self) -> Self {
        match self {
            Relation::Less => Relation::Greater,
            Relation::AtMost => Relation::AtLeast,
            Relation::Greater => Relation::Less,
            Relation::AtLeast => Relation::AtMost,
            same => same,
        }
    }

    /// The relation that holds where this one does not.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Relation::Equal => Relation::NotEqual,
            Relation::NotEqual => Relation::Equal,
            Relation::Less => Relation::AtLeast,
            Relation::AtMost => Relation::Greater,
            Relation::Greater => Relation::AtMost,
            Relation::AtLeast => Relation::Less,
        }
    }
}

/// One comparison of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Two numbers.
    Numbers(Operand, Relation, Operand),
    /// Whether `u` and `v` are neighbours, which must be `true` or `false`.
    Adjacent(bool),
}

impl Comparison {
    /// Whether it is about the vertex of this name.
    pub fn names(self, name: Variable) -> bool {
        match self {
            Comparison::Adjacent(_) => true,
            Comparison::Numbers(left, _, right) => {
                [left, right].iter().any(|side| matches!(side, Operand::Of(_, of) if *of == name))
            }
        }
    }

    /// Whether it compares `size` with a number.
    pub(crate) fn is_of_size(self) -> bool {
        let size = |side| matches!(side, Operand::Size);
        matches!(self, Comparison::Numbers(left, _, right) if size(left) || size(right))
    }

    fn holds(self, size: u32, u: VertexFacts, v: VertexFacts, adjacent: bool) -> bool {
        let value = |side| match side {
            Operand::Number(number) => number,
            Operand::Size => size,
            Operand::Of(attribute, Variable::U) => u.get(attribute),
            Operand::Of(attribute, Variable::V) => v.get(attribute),
        };
        match self {
            Comparison::Adjacent(wanted) => adjacent == wanted,
            Comparison::Numbers(left, relation, right) => relation.holds(value(left), value(right)),
        }
    }
}

/// Comparisons of which one at least must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Condition(Vec<Comparison>);

impl Condition {
    /// Its comparisons, one at least.
    pub fn comparisons(&self) -> &[Comparison] {
        &self.0
    }

    /// Whether it is about pairs of vertices rather than about each vertex.
    pub fn is_of_pairs(&self) -> bool {
        [Variable::U, Variable::V].iter().all(|name| self.0.iter().any(|c| c.names(*name)))
    }

    /// Whether it holds for two vertices in this order, or for the one in both places, in an embedding of `size` vertices.
    pub fn holds(&self, size: u32, u: VertexFacts, v: VertexFacts, adjacent: bool) -> bool {
        self.0.iter().any(|comparison| comparison.holds(size, u, v, adjacent))
    }
}

/// The attributes of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VertexFacts {
    /// Its label.
    pub label: Label,
    /// The number of its neighbours in the graph.
    pub degree: u32,
}

impl VertexFacts {
    fn get(self, attribute: Attribute) -> u32 {
        match attribute {
            Attribute::Label => self.label,
            Attribute::Degree => self.degree,
        }
    }
}

/// A filter of embeddings; see the [module](self).
///
/// Serialised as its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Filter {
    vertices: Vec<Condition>,
    patterns: Vec<PatternCondition>,
}

impl Filter {
    /// Its conditions on vertices.
    pub fn conditions(&self) -> &[Condition] {
        &self.vertices
    }

    /// Its conditions on patterns. Those on vertices may be none if these are some.
    pub fn pattern_conditions(&self) -> &[PatternCondition] {
        &self.patterns
    }

    /// Whether it keeps embeddings of a pattern of 2 vertices or more, without labels and in canonical form.
    pub fn keeps(&self, pattern: &Pattern) -> bool {
        self.patterns.iter().all(|condition| condition.holds(pattern))
    }

    /// Whether a comparison reads this attribute.
    pub fn reads(&self, attribute: Attribute) -> bool {
        let of = |side: &Operand| matches!(side, Operand::Of(a, _) if *a == attribute);
        self.vertices.iter().flat_map(Condition::comparisons).any(|comparison| match comparison {
            Comparison::Numbers(left, _, right) => of(left) || of(right),
            Comparison::Adjacent(_) => false,
        })
    }

    /// Whether the vertices of an embedding that passes still do with one more. `others` are the vertices so far, each with
    /// whether it is a neighbour of the `new` one.
    pub fn accepts(
        &self,
        new: VertexFacts,
        others: impl IntoIterator<Item = (VertexFacts, bool), IntoIter: ExactSizeIterator>,
    ) -> bool {
        let mut others = others.into_iter();
        let size = others.len() as u32 + 1;
        let conditions =
            |of_pairs| self.vertices.iter().filter(move |c| c.is_of_pairs() == of_pairs);
        conditions(false).all(|condition| condition.holds(size, new, new, false))
            && others.all(|(other, adjacent)| {
                conditions(true).all(|condition| {
                    condition.holds(size, new, other, adjacent)
                        && condition.holds(size, other, new, adjacent)
                })
            })
    }
}

impl TryFrom<String> for Filter {
    type Error = gramer_base::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Filter> for String {
    fn from(filter: Filter) -> Self {
        filter.to_string()
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Number(number) => write!(f, "{number}"),
            Operand::Size => f.write_str("size"),
            Operand::Of(attribute, variable) => {
                f.write_str(if *attribute == Attribute::Label { "label" } else { "degree" })?;
                f.write_str(if *variable == Variable::U { "(u)" } else { "(v)" })
            }
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Comparison::Adjacent(true) => f.write_str("adjacent(u, v)"),
            Comparison::Adjacent(false) => f.write_str("not adjacent(u, v)"),
            Comparison::Numbers(left, relation, right) => {
                let sign = Relation::SIGNS.iter().find(|(known, _)| known == relation);
                write!(f, "{left} {} {right}", sign.map_or("", |(_, sign)| sign))
            }
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |comparisons: &mut dyn Iterator<Item = String>| {
            comparisons.collect::<Vec<_>>().join(" or ")
        };
        let vertices =
            self.vertices.iter().map(|c| joined(&mut c.0.iter().map(ToString::to_string)));
        let patterns =
            self.patterns.iter().map(|c| joined(&mut c.0.iter().map(ToString::to_string)));
        f.write_str(&vertices.chain(patterns).collect::<Vec<_>>().join(", "))
    }
}

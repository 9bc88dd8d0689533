//! The plan of a search: a tree of steps, each of which maps one pattern vertex.
//!
//! Whenever the vertices that are left fall into parts that don't depend on each other — no
//! pattern edge, no shared candidate, no condition between them — the numbers of ways to map the
//! parts are multiplied rather than listed together. Parts without an edge inside are closed by a
//! formula. A plan that must hand over every embedding has neither: it is a chain.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use gramer_graph::Label;

use crate::plan::candidates::ByLabel;
use crate::plan::matching_order::Estimates;
use crate::plan::planner::Planner;
use crate::task::Mappings;
use crate::{MAX_VERTICES, Pattern, VertexSet};

/// Version of the serialised form of [`SearchPlan`].
pub const SCHEMA: u32 = 1;

/// Most vertices with different candidates that one formula counts: 52 partitions.
pub(crate) const FORMULA_VERTICES: usize = 5;

/// Most vertices whose images are the key of a kept number.
pub(crate) const MEMO_VERTICES: usize = 8;

/// The members of a set of pattern vertices, ascending.
#[inline]
pub fn bits(mut set: VertexSet) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let v = set.trailing_zeros() as usize;
            set &= set - 1;
            v
        })
    })
}

/// Sets of pattern vertices as lists of their members.
mod members {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::{MAX_VERTICES, VertexSet};

    pub fn serialize<S: Serializer>(set: &VertexSet, serializer: S) -> Result<S::Ok, S::Error> {
        super::bits(*set).collect::<Vec<_>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<VertexSet, D::Error> {
        Vec::<u8>::deserialize(deserializer)?.into_iter().try_fold(0, |set, v| match v {
            v if usize::from(v) < MAX_VERTICES => Ok(set | 1 << v),
            _ => {
                let last = MAX_VERTICES - 1;
                let what = format!("{v} is not a pattern vertex (0 to {last})");
                Err(serde::de::Error::custom(what))
            }
        })
    }
}

/// The neighbours of the image of one vertex over edges with one label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// The vertex whose image was just set.
    pub of: usize,
    /// Label of the edges, or [`gramer_graph::NO_LABEL`] for any.
    pub edge_label: Label,
}

/// A set of candidates that is made once a certain vertex has its image: graph vertices of one
/// class, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateSet {
    /// Number in [`SearchPlan::classes`]: the others are left out.
    pub class: u8,
    /// The set that this one narrows down.
    pub parent: Option<usize>,
    /// What the set is intersected with, or, without a parent, made from.
    pub list: Option<List>,
    /// Vertices whose images' neighbours are taken out (vertex-induced).
    pub subtract: Vec<usize>,
    /// Vertices, all of `class`, whose images have larger ids than what is kept.
    #[serde(with = "members")]
    pub bounds: VertexSet,
    /// All vertices on whose images the set depends.
    #[serde(with = "members")]
    pub reasons: VertexSet,
}

impl CandidateSet {
    /// Whether the set is a part of a list and needs no memory.
    #[inline]
    pub fn borrowed(&self) -> bool {
        self.parent.is_none() && self.subtract.is_empty()
    }
}

/// Where a vertex finds its candidates once its turn comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Number in [`SearchPlan::sets`].
    pub set: usize,
    /// Conditions that the set doesn't know yet: as [`CandidateSet::bounds`].
    #[serde(with = "members")]
    pub bounds: VertexSet,
    /// Vertices placed before that may have a candidate as their image: it is left out.
    pub conflicts: Vec<usize>,
    /// Of edge isomorphisms: what keeps edges to the vertex apart from edges placed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<EdgeConflict>,
    /// All vertices on whose images the number of candidates depends.
    #[serde(with = "members")]
    pub reasons: VertexSet,
}

/// An edge of a vertex and an edge placed before it, which must not go to one edge of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeConflict {
    /// The other end of the vertex's edge.
    pub near: usize,
    /// An end of the other edge; `near` itself where the edges meet there.
    pub first: usize,
    /// The other end of that edge. If `near` and `first` have one image, the vertex must not have the image of this.
    pub second: usize,
}

/// One vertex of the pattern gets its image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The pattern vertex.
    pub vertex: usize,
    /// Its class.
    pub class: u8,
    /// `None` at the root, which takes all candidates of its class.
    pub source: Option<Source>,
    /// The sets to make once the vertex has an image, in order. If one of them is empty, no
    /// mapping is found below.
    pub sets: Vec<usize>,
    /// The parts whose numbers are multiplied; none stand for 1.
    pub then: Vec<NextStep>,
    /// If the number of mappings below depends only on the images of these (at most eight of the
    /// vertices placed before): the key under which it may be kept.
    pub memo: Option<Vec<usize>>,
}

/// The successor of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextStep {
    /// Another step, by number.
    Step(usize),
    /// A formula.
    Formula(Formula),
    /// All vertices have their images.
    Emit,
}

/// The number of ways to map vertices without edges between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// One vertex: the size of its set.
    One(Source),
    /// One vertex, whose set is the intersection of a set with the list of the vertex just
    /// mapped and is needed only here: it is measured, not made.
    Intersection(Source),
    /// Vertices with the same candidates.
    Same {
        /// The candidates.
        source: Source,
        /// How many vertices.
        vertices: usize,
        /// Conditions fix their order: a combination of candidates, not an arrangement.
        ordered: bool,
    },
    /// Vertices whose candidates differ but may coincide: inclusion and exclusion over the
    /// partitions of the vertices.
    Partitions(Partitions),
}

/// Inclusion and exclusion: the number of injective choices from sets S_1 … S_k is the sum over
/// the partitions of {1 … k} of the product over the blocks B of
/// (−1)^(|B|−1) (|B|−1)! |⋂ S_i, i ∈ B|.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partitions {
    /// The different sets.
    pub sources: Vec<Source>,
    /// The intersections needed, as bits of `sources`, each after the one that lacks its lowest
    /// source.
    pub blocks: Vec<u16>,
    /// A coefficient, and the indices in `blocks` of the factors.
    pub terms: Vec<(i64, Vec<usize>)>,
}

/// A plan: the steps with which a device counts or lists a pattern.
///
/// ```
/// use gramer_pattern::{Pattern, plan::search::SearchPlan, task::Induced};
/// let plan = SearchPlan::of(&Pattern::clique(3), Induced::Edge, false, false);
/// let text = serde_json::to_string(&plan)?;
/// assert_eq!(serde_json::from_str::<SearchPlan>(&text)?, plan);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct SearchPlan {
    /// Version of this form: [`SCHEMA`].
    pub schema: u32,
    /// What is searched for.
    pub pattern: Pattern,
    /// Whether non-edges of the pattern must be non-edges of the graph.
    pub induced: bool,
    /// Which mappings it meets or counts.
    #[serde(default, skip_serializing_if = "is_isomorphism")]
    pub mappings: Mappings,
    /// Label of the graph vertices of each class, or [`gramer_graph::NO_LABEL`] for any.
    pub classes: Vec<Label>,
    /// The root first.
    pub steps: Vec<Step>,
    /// The candidate sets that steps make.
    pub sets: Vec<CandidateSet>,
    /// How many mappings each counted one stands for.
    pub factor: u128,
    /// Number of mappings with the same image, which form one occurrence. (Not for patterns that are
    /// [`crate::plan::symmetry::ambiguous`].)
    pub automorphisms: u128,
    /// Estimated cost, in elements visited.
    pub cost: u64,
}

fn is_isomorphism(mappings: &Mappings) -> bool {
    !mappings.repeats()
}

impl Serialize for SearchPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SearchPlan::serialize(self, serializer)
    }
}

/// With [`SearchPlan::check`]: what comes out can be executed.
impl<'de> Deserialize<'de> for SearchPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let plan = SearchPlan::deserialize(deserializer)?;
        plan.check().map_err(|e| D::Error::custom(format!("not a plan: {e}")))?;
        Ok(plan)
    }
}

/// Estimates for a graph of a million vertices.
pub(super) fn typical(n: usize) -> Estimates {
    Estimates {
        candidates: vec![1e6; n],
        reach: vec![[20.0; MAX_VERTICES]; n],
        biased: vec![[200.0; MAX_VERTICES]; n],
    }
}

impl SearchPlan {
    /// The plan for any graph: candidates by label alone, costs of a graph of a million vertices
    /// with 20 neighbours each, or 200 where an edge leads. With `emit` every mapping is met
    /// (of each occurrence one, unless `mappings`); without, they are counted.
    pub fn of(
        pattern: &Pattern,
        induced: crate::task::Induced,
        mappings: bool,
        emit: bool,
    ) -> Self {
        let estimates = typical(pattern.vertices());
        let induced = induced == crate::task::Induced::Vertex;
        Planner {
            pattern,
            space: &ByLabel::new(pattern),
            estimates: &estimates,
            induced,
            limit: None,
        }
        .best(mappings, emit)
    }

    /// The plan that counts, with candidates by label alone and the costs of a given graph.
    pub fn estimated(
        pattern: &Pattern,
        induced: crate::task::Induced,
        estimates: &Estimates,
    ) -> Self {
        let induced = induced == crate::task::Induced::Vertex;
        Planner { pattern, space: &ByLabel::new(pattern), estimates, induced, limit: None }
            .best(false, false)
    }
}

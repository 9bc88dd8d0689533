//! The images in use, one bit for each vertex of the graph.

use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::VertexId;
use gramer_pattern::plan::search::{Formula, NextStep, SearchPlan, Source};

/// Vertices that a candidate is compared with, from which on a look at a bit is cheaper.
const WORTH: usize = 3;
/// Maximum number of vertices of the graph: 32 MiB a thread, or 64 KiB where memory is limited.
const MOST: usize = 1 << 28;
const MOST_IF_LIMITED: usize = 1 << 19;

/// A bit for each image in use, or none at all where a plan compares few images.
///
/// A candidate with a bit is always an image that its vertex conflicts with: the images of neighbours are no
/// candidates, since no vertex is its own neighbour, bounds leave out the images that they are made of, and other
/// vertices share no candidate.
pub(super) struct Marks(Vec<u64>);

impl Marks {
    pub fn new(plan: &SearchPlan, vertices: usize, limited: bool) -> Self {
        let most = if limited { MOST_IF_LIMITED } else { MOST };
        let worth = sources(plan).any(|source| source.conflicts.len() >= WORTH);
        match worth && vertices <= most {
            true => Marks(zeroed_or_unwind(vertices.div_ceil(64))),
            false => Marks(vec![]),
        }
    }

    /// Whether there are bits.
    #[inline(always)]
    pub fn are_kept(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether an image is in use.
    #[inline(always)]
    pub fn has(&self, image: VertexId) -> bool {
        self.0[image as usize / 64] >> (image % 64) & 1 == 1
    }

    #[inline(always)]
    pub fn insert(&mut self, image: VertexId) {
        if let Some(word) = self.0.get_mut(image as usize / 64) {
            *word |= 1 << (image % 64);
        }
    }

    #[inline(always)]
    pub fn remove(&mut self, image: VertexId) {
        if let Some(word) = self.0.get_mut(image as usize / 64) {
            *word &= !(1 << (image % 64));
        }
    }
}

/// The sources of all steps and formulas of a plan.
fn sources(plan: &SearchPlan) -> impl Iterator<Item = &Source> {
    let steps = plan.steps.iter().filter_map(|step| step.source.as_ref());
    steps.chain(formulas(plan).flatten())
}

/// The sources of each formula of a plan.
pub(super) fn formulas(plan: &SearchPlan) -> impl Iterator<Item = &[Source]> {
    plan.steps.iter().flat_map(|step| &step.then).filter_map(|then| match then {
        NextStep::Formula(
            Formula::One(source) | Formula::Intersection(source) | Formula::Same { source, .. },
        ) => Some(std::slice::from_ref(source)),
        NextStep::Formula(Formula::Partitions(partitions)) => Some(&partitions.sources[..]),
        NextStep::Step(_) | NextStep::Emit => None,
    })
}

//! Frequent patterns by minimum-image support on devices that list the occurrences of one pattern.

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::SizeLimit;

use super::labels::Labels;
use super::{mni, results};
use gramer_engine::{Count, Peers};

/// A candidate whose occurrences must be listed.
pub struct ListedCandidate<'a> {
    /// Pattern with vertices in any order, and labels of the graph.
    pub pattern: &'a Pattern,
    /// Maximum number of images, by vertex of the pattern.
    pub images: &'a [usize],
    /// Whether a vertex of the pattern may go to a vertex of the graph: occurrences where it doesn't needn't be listed,
    /// since there are none.
    pub may: &'a (dyn Fn(usize, VertexId) -> bool + Sync),
    /// Callback for an edge-induced occurrence, the graph's vertices in the order of the pattern's. One mapping per
    /// occurrence suffices, and repeated ones are harmless. Returns `false` once no more are needed.
    pub found: &'a (dyn Fn(&[VertexId]) -> bool + Sync),
}

/// Lists the occurrences of a candidate. Returns whether it listed all, or all that were needed.
pub type Lister<'a> = dyn FnMut(&ListedCandidate<'_>) -> Result<bool> + 'a;

/// The edge-induced patterns up to a limit whose smallest domain has at least `support` vertices, and whether all of
/// them were examined; if not, only whole levels are there. Domains are bounded and made consistent as the CPU
/// engine does it; those of which that says too little come from the occurrences that `list` gives. With others each
/// examines some of a level's candidates.
///
/// # Errors
/// Those of `list` and `together`.
pub fn by_images(
    graph: &Graph,
    limit: SizeLimit,
    support: u64,
    together: Option<&dyn Peers>,
    context: &Context,
    list: &mut Lister<'_>,
) -> Result<(Vec<Count>, bool)> {
    let view = graph.view();
    let labels = Labels::new(view);
    let (found, complete) =
        mni::mine_by_lists(view, &labels, (limit, support), together, context, list)?;
    Ok((results(&found, &labels, view), complete))
}

//! 5-motifs of a graph, on devices or on a model of the core.

use gramer_base::error::Result;
use gramer_graph::View;
use gramer_machine::Accelerator;

use super::units::{deal, units};
use crate::set::numbers::SUM_EMBEDDINGS;
use crate::set::plan::run::Runs;
use crate::set::sums::Total;
use crate::set::tasks::unsupported;
use crate::set::wedges::Shape;
use crate::set::wedges::run::{WedgeImages, count};

/// The two runs over the image for wedges: the sums of products, with the edge-induced 5-cycles as embeddings; `None` if they
/// aren't of all roots.
///
/// # Errors
/// As [`Runs::sums`]; [`gramer_base::error::Error::Unsupported`] for a graph that has no room.
pub fn sums(
    runs: &mut dyn Runs,
    (view, images): (View<'_>, &WedgeImages),
) -> Result<Option<Total>> {
    let machine = runs.machine().clone();
    let no_room = || unsupported(&machine, NO_ROOM);
    let found = images.sums(runs, view, None, |machine, image, clusters| {
        deal(machine, units(machine, view, image, clusters), clusters)
    })?;
    let (mut total, complete) = found.ok_or_else(no_room)?;
    if !complete {
        return Ok(None);
    }
    let (five_cycles, complete) =
        count(runs, (view, images), Shape::FiveCycle)?.ok_or_else(no_room)?;
    total[SUM_EMBEDDINGS] = five_cycles;
    Ok(complete.then_some(total))
}

/// Refuses a graph whose image has no room; whether the image was built now.
///
/// # Errors
/// [`gramer_base::error::Error::Unsupported`] then, and what building the image says.
pub fn check_room(machine: &Accelerator, view: View<'_>, images: &WedgeImages) -> Result<bool> {
    let found = images.with(machine, view, |_, built| Ok(built))?;
    found.ok_or_else(|| unsupported(machine, NO_ROOM))
}

const NO_ROOM: &str = "counts motifs of 5 vertices where the graph's image for wedges has room on chip, and this one's has none";

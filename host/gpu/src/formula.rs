//! The strategy `formula`: motifs of three and four vertices from the triangles of each arc, the
//! 4-cliques, the 4-cycles and sums over degrees (PGD, Ahmed et al. 2015; ORCA, Hočevar and Demšar
//! 2014).

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_pattern::closing::forms::Sums;

use crate::cycles::Cycles;
use crate::device::Arg;
use crate::local::{self, Heads, Member, Roots};
use crate::memory::Buffer;
use crate::picked::RootSelection;
use crate::resident::Resident;

const COMMON: &str = include_str!("../kernels/common.clh");
const SUMS: &str = include_str!("../kernels/sums.cl");

/// Lanes of a work-group of `motif_sums`.
const SUM_LANES: usize = 128;
/// Enumeration of triangles.
#[derive(Clone, Copy)]
pub(crate) enum Triangles<'a> {
    /// At their vertices with the smallest number: those of all units or of a share.
    Roots(&'a Roots),
    /// At the heads of their lowest arcs: all of them.
    Heads(&'a Heads),
}

impl Triangles<'_> {
    /// Queues their count into sum 0; `false` once the run was cancelled.
    ///
    /// # Errors
    /// As [`local::count`].
    pub fn count(self, graph: &Resident, context: &Context) -> Result<bool> {
        match self {
            Triangles::Roots(roots) => local::count(graph, roots, 3, None, context),
            Triangles::Heads(heads) => heads.count(graph, context),
        }
    }
}

/// The sums that motifs of three vertices follow from, of all units or of a share, whose triangles these
/// are; `None` once the run was cancelled.
///
/// # Errors
/// As [`local::count`].
pub(crate) fn three(
    graph: &Resident,
    triangles: Triangles<'_>,
    share: Option<&RootSelection>,
    context: &Context,
) -> Result<Option<Sums>> {
    graph.begin()?;
    if share.is_none_or(|share| share.first) {
        queue_sums(graph, None)?;
    }
    if !triangles.count(graph, context)? {
        return Ok(None);
    }
    let sums = whole(graph)?;
    graph.device.finish()?;
    Ok(sums)
}

/// The sums that motifs of four vertices follow from; `None` once the run was cancelled.
///
/// # Errors
/// As [`local::count`].
pub(crate) fn four(
    graph: &Resident,
    roots: &Roots,
    cycles: &Cycles,
    edges: &Buffer<u32>,
    context: &Context,
) -> Result<Option<Sums>> {
    graph.begin()?;
    edges.zero(&graph.device.queue)?;
    if !cycles.count(graph, context)? || !local::count(graph, roots, 4, Some(edges), context)? {
        return Ok(None);
    }
    queue_sums(graph, Some(edges))?;
    whole(graph)
}

/// The sums of the task; `None` if its kernels were stopped.
fn whole(graph: &Resident) -> Result<Option<Sums>> {
    let sums = graph.read()?;
    Ok((!graph.was_stopped()).then_some(sums))
}

/// The part of a share in the sums for four vertices. Cliques and cycles are counted from its roots; what
/// is summed over all arcs and vertices needs the triangles of all arcs, and belongs to the share with
/// the first vertex.
///
/// # Errors
/// As [`local::count`].
pub(crate) fn four_of_share(
    graph: &Resident,
    all: &Roots,
    cycles: &Cycles,
    edges: &Buffer<u32>,
    share: &RootSelection,
    context: &Context,
) -> Result<Option<Sums>> {
    let (roots, cycles) = (all.of_share(graph, share)?, cycles.of_share(graph, share)?);
    if share.first {
        graph.begin()?;
        edges.zero(&graph.device.queue)?;
        if !local::count(graph, all, 3, Some(edges), context)? {
            return Ok(None);
        }
        // The triangles are not requested separately.
        graph.read()?;
    }
    graph.begin()?;
    if share.first {
        queue_sums(graph, Some(edges))?;
    }
    if !cycles.count(graph, context)? || !local::count(graph, &roots, 4, None, context)? {
        graph.device.finish()?;
        return Ok(None);
    }
    whole(graph)
}

/// The part of one of several devices in the sums for four vertices, which add up. `cycles` are its own; the first one counts
/// all 4-cliques, since the triangles of all arcs come with them.
///
/// # Errors
/// As [`local::count`].
pub(crate) fn four_of_member(
    graph: &Resident,
    roots: &Roots,
    cycles: &Cycles,
    edges: &Buffer<u32>,
    member: Member,
    context: &Context,
) -> Result<Option<Sums>> {
    if member.own == 0 {
        return four(graph, roots, cycles, edges, context);
    }
    graph.begin()?;
    if !cycles.count(graph, context)? {
        return Ok(None);
    }
    whole(graph)
}

/// Queues the sums over vertices and, with the triangles of each, over arcs.
fn queue_sums(graph: &Resident, edges: Option<&Buffer<u32>>) -> Result<()> {
    let device = &graph.device;
    let lanes = device.lanes(SUM_LANES);
    let defines =
        format!("#define SUMS {lanes}\n{}", if edges.is_some() { "#define ARCS\n" } else { "" });
    let program = device.program("sums", &[COMMON, &defines, SUMS])?;
    let [vertices, arcs] = graph.sizes();
    let args = [
        Arg::Buffer(graph.oriented.offsets.raw()),
        Arg::Buffer(graph.oriented.ends.raw()),
        Arg::Buffer(graph.degrees()?.raw()),
        Arg::Buffer(edges.map_or(graph.fault().raw(), Buffer::raw)),
        vertices,
        arcs,
        Arg::Buffer(graph.sums.raw()),
        Arg::Buffer(graph.fault().raw()),
    ];
    // Eight lanes per vertex, and some vertices for each.
    let wished = graph.by.vertices().div_ceil(lanes / 8);
    device.launch(&program, "motif_sums", &args, wished.min(8 * device.limits.units), lanes)
}

//! Cliques of roots with few targets, by pivots (`kernels/small_roots.cl`): a warp takes several roots at a time.

use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;

use gramer_base::context::Context;
use gramer_base::error::Result;

use super::TARGETS;
use super::pivots::{Group, binomials};
use super::small_sets::{self, CANDIDATES, SmallSets};
use crate::device::{Arg, Device};
use crate::memory::{Buffer, Place};
use crate::program::Program;
use crate::resident::{Resident, Rows};
use crate::slices::{PrefixWork, Slices};

const COMMON: &str = include_str!("../../kernels/common.clh");
const ROOTS: &str = include_str!("../../kernels/small_roots.cl");

/// Maximum number of targets of a small root.
pub(super) const MOST_TARGETS: usize = CANDIDATES;
/// Entries of the table of a root's targets.
const HASH: usize = 128;
/// Lanes that read a list together.
const TILE: usize = 8;
/// Walkers of a work-group where one is a warp.
const WALKERS: usize = 4;

/// A small root.
#[derive(Debug, Clone, Copy)]
pub(super) struct SmallRoot {
    pub root: u32,
    pub targets: u32,
    /// Its work, in element tests.
    pub tests: f32,
}

/// Small roots of a graph, those with the most targets first.
pub(super) struct SmallRoots {
    roots: Vec<SmallRoot>,
    works: PrefixWork,
    buffer: Buffer<u32>,
}

/// Bytes of local memory of a work-group.
fn local_bytes(sizes: SmallSets, walkers: usize) -> usize {
    4 * walkers * (sizes.words() + HASH + CANDIDATES)
}

impl SmallRoots {
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub fn new(place: &Place<'_>, mut roots: Vec<SmallRoot>) -> Result<Self> {
        roots.sort_by_key(|root| Reverse(root.targets));
        let works = PrefixWork::new(roots.iter().map(|root| f64::from(root.tests) + 1.0));
        let numbers: Vec<u32> = roots.iter().map(|root| root.root).collect();
        let buffer = Buffer::of(place, &numbers, "small roots")?;
        Ok(SmallRoots { roots, works, buffer })
    }

    /// The roots, in their order.
    pub fn roots(&self) -> &[SmallRoot] {
        &self.roots
    }

    /// Every n-th root, from one of the first ones on.
    ///
    /// # Errors
    /// As [`SmallRoots::new`].
    pub fn every(&self, place: &Place<'_>, (from, step): (usize, usize)) -> Result<Self> {
        Self::new(place, self.roots.iter().skip(from).step_by(step).copied().collect())
    }

    /// Queues the count of their cliques of `k` into sum 0; `false` once the run was cancelled.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub fn count(
        &self,
        graph: &Resident,
        rows: &Rows,
        k: usize,
        context: &Context,
    ) -> Result<bool> {
        // Cliques hold k - 1 targets.
        let some = self.roots.partition_point(|root| root.targets as usize >= k - 1);
        if some == 0 {
            return Ok(true);
        }
        let device = &graph.device;
        let sizes = SmallSets::of(1);
        let group = Group::of(device, WALKERS, |walkers| local_bytes(sizes, walkers))?;
        let program = program(device, k, sizes, group)?;
        // Other roots are being weighed, for which this write need not wait.
        let place = device.place_beside()?;
        let binomials = Buffer::of(&place, &binomials(CANDIDATES, k), "binomial coefficients")?;
        let mut slices = Slices::new(device, context, self.works.of(0..some));
        slices.run_some(&self.works, 0..some, |range| {
            let args = [
                Arg::Buffer(rows.offsets.raw()),
                Arg::Buffer(rows.ends.raw()),
                Arg::Buffer(self.buffer.raw()),
                Arg::U32(range.start as u32),
                Arg::U32(range.len() as u32),
                Arg::U32((rows.offsets.len() - 1) as u32),
                Arg::U32(rows.ends.len() as u32),
                Arg::Buffer(binomials.raw()),
                Arg::Buffer(graph.sums.raw()),
                Arg::Buffer(graph.fault().raw()),
            ];
            let groups = range.len().div_ceil(group.walkers * sizes.sets());
            device.launch(&program, "small_roots", &args, groups, group.lanes * group.walkers)
        })
    }
}

/// Builds the program.
///
/// # Errors
/// [`gramer_base::Error::Device`].
fn program(
    device: &Device,
    k: usize,
    sizes: SmallSets,
    Group { lanes, walkers }: Group,
) -> Result<Arc<Program>> {
    let mut defines = String::new();
    let own = [
        ("K", k),
        ("W", 1),
        ("LANES", lanes),
        ("WALKERS", walkers),
        ("TILE", TILE.min(lanes)),
        ("HASH", HASH),
        ("HASH_BITS", HASH.ilog2() as usize),
        ("ENDS", SmallSets::ends(k)),
    ];
    for (name, value) in own.into_iter().chain(sizes.defines()) {
        writeln!(defines, "#define {name} {value}").expect("text");
    }
    let form = device.form()?.source();
    let sources = [COMMON, &defines, &form, TARGETS, small_sets::SOURCE, ROOTS];
    device.program(&format!("small roots of {k}"), &sources)
}

//! Motifs of five vertices by the strategy `formula`: what `kernels/five.cl` sums over arcs, vertices and pairs
//! of vertices, and the closed forms of [`gramer_pattern::closing::five`] (ESCAPE; Pinar, Seshadhri and
//! Vishal, WWW 2017).

mod lists;
mod orders;
mod passes;

use std::cell::RefCell;
use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::beside;
use gramer_pattern::closing::five::Sums;

use crate::device::{Arg, Device};
use crate::lanes::LANES;
use crate::local::{self, Roots};
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::{Resident, SLOTS, wide_sums};
use crate::slices::{PrefixWork, Slices};
use lists::Triangles;
use orders::{Order, Orders, RootOrder};

const COMMON: &str = include_str!("../kernels/common.clh");
const FIVE: &str = include_str!("../kernels/five.cl");
const WHEELS: &str = include_str!("../kernels/wheels.cl");
/// Names and work-group sizes of the kernels of [`WHEELS`]: for arcs of many triangles, and of few.
const LARGE_WHEELS: &str = "#define NAME five_wheels_local\n#define SIZE GROUP\n";
const SMALL_WHEELS: &str = "#define NAME five_wheels_small\n#define SIZE LANES\n";

/// The sums of the kernels, by place.
const NAMES: [&str; 26] = [
    "FORK",
    "ENDS_PAIRS",
    "SAME",
    "TAILED",
    "CRICKET",
    "TRIANGLE_ENDS",
    "TAILS",
    "BUTTERFLY",
    "CYCLES",
    "BANNER",
    "BULL",
    "DIAMOND",
    "DART",
    "BOOK",
    "HOUSE",
    "TRIPLES",
    "ON_EDGES",
    "KITE",
    "GEM",
    "MEETING",
    "CLIQUES",
    "TAIL",
    "ROOF",
    "NEARLY",
    "WHEEL_PAIRS",
    "CYCLE_PAIRS",
];
/// Words of a sum.
const WORDS: usize = 4;

/// Lanes of a work-group that takes a vertex or an arc, and those that take a list.
const GROUP: usize = 256;
const TILE: usize = 8;
/// The same where sums take most registers.
const ROOTS_GROUP: usize = 128;
const ROOTS_TILE: usize = 32;
/// Work-groups of a compute unit.
const GROUPS: usize = 16;

/// Device resources of a run.
struct FiveRun<'a> {
    graph: &'a Resident,
    program: Arc<Program>,
    sums: Buffer<u32>,
    /// Triangles by arc.
    edges: &'a Buffer<u32>,
    triangles: Triangles,
    counters: Counters,
    context: &'a Context,
    /// Tasks of queued kernels.
    queued: RefCell<Vec<Buffer<u32>>>,
}

/// Tasks on the device, by falling work.
struct Tasks<'a> {
    buffer: Buffer<u32>,
    works: &'a PrefixWork,
}

impl<'a> Tasks<'a> {
    fn new(device: &Device, order: &'a Order) -> Result<Self> {
        Ok(Tasks { buffer: order.copy(device)?, works: &order.works })
    }

    /// The grid of all tasks, of at most `groups` work-groups.
    fn all(&self, groups: usize, lanes: usize) -> Grid<'_> {
        self.some(0..self.works.len(), groups, lanes)
    }

    /// The grid of some of the tasks.
    fn some(&self, range: Range<usize>, groups: usize, lanes: usize) -> Grid<'_> {
        Grid { tasks: self, range, groups, lanes }
    }
}

/// Tasks of a kernel, and its work-groups.
struct Grid<'a> {
    tasks: &'a Tasks<'a>,
    range: Range<usize>,
    /// Maximum number of work-groups.
    groups: usize,
    /// Lanes of a work-group.
    lanes: usize,
}

/// Counters of work-groups, two words a vertex for each. They are 0 between kernels; only [`FiveRun::cycles`] does not clear them.
struct Counters {
    buffer: Buffer<u32>,
    groups: usize,
}

impl Counters {
    /// Counters of as many groups as there is room for beside the lists.
    fn new(graph: &Resident, triangles: &Triangles) -> Result<Self> {
        let (device, words) = (&graph.device, 2 * graph.by.vertices());
        let free = device.budget.free().saturating_sub(triangles.bytes());
        let room = (free / 4) as usize / (4 * words.max(1));
        let groups = most_groups(device).min(room).max(1);
        let buffer = Buffer::new(&device.place(), groups * words, "counters of vertices")?;
        buffer.zero(&device.queue)?;
        Ok(Counters { buffer, groups })
    }
}

/// Maximum number of work-groups of a launch.
fn most_groups(device: &Device) -> usize {
    let limits = device.limits;
    GROUPS.min(if limits.portable { 2 } else { GROUPS }) * limits.units
}

/// The sums for motifs of five vertices; `None` once the run was cancelled. The roots are those for
/// triangles and for cliques of five; `edges` has room for a number of each arc.
///
/// # Errors
/// [`Error::Unsupported`] where the lists of common neighbours have no room, [`Error::Device`].
pub(crate) fn sums(
    graph: &Resident,
    [shallow, deep]: [&Roots; 2],
    edges: &Buffer<u32>,
    context: &Context,
) -> Result<Option<Sums>> {
    let (device, by, threads) = (&graph.device, &*graph.by, context.threads());
    let roots = OnceLock::new();
    let of_graph = || RootOrder::new(by);
    let started = beside(
        threads,
        || _ = roots.get_or_init(of_graph),
        || FiveRun::start(graph, shallow, edges, context),
    )?;
    let Some(run) = started else { return Ok(None) };
    let (by_arc, groups) = (&run.triangles.by_arc, run.counters.groups);
    let orders = Orders::new(by, roots.get_or_init(of_graph), by_arc, groups);
    let done = beside(threads, || orders.make(threads), || run.passes(&orders))?;
    if !done {
        return Ok(None);
    }
    let mut found = [0; NAMES.len()];
    wide_sums(&run.sums, &device.queue, &mut found)?;
    graph.check()?;
    let triangles = run.triangles.of_graph();
    drop(run);
    graph.begin()?;
    if !local::count(graph, deep, 5, None, context)? {
        device.finish()?;
        return Ok(None);
    }
    let cliques = graph.read()?[0];
    if graph.was_stopped() {
        return Ok(None);
    }
    closed(graph, &found, triangles, cliques).map(Some).ok_or_else(|| {
        Error::Device(format!(
            "{}: the device returned impossible sums; this is a bug in gramer or the driver",
            device.label()
        ))
    })
}

/// The sums as the closed forms want them, from those of the kernels.
fn closed(graph: &Resident, sums: &[u128], triangles: u128, cliques: u128) -> Option<Sums> {
    let of = |name: &str| sums[NAMES.iter().position(|n| *n == name).expect("it is one of them")];
    let by = &graph.by;
    // Degrees ascend, and most vertices share theirs with others.
    let degrees: Vec<u32> = (0..by.vertices()).map(|v| by.degree(v)).collect();
    let stars = degrees.chunk_by(|a, b| a == b).map(|alike| {
        let d = u128::from(alike[0]);
        let star = d * d.saturating_sub(1) / 2 * d.saturating_sub(2) / 3 * d.saturating_sub(3) / 4;
        alike.len() as u128 * star
    });
    Some(Sums {
        star: stars.sum(),
        fork: of("FORK"),
        path: of("ENDS_PAIRS").checked_sub(of("SAME"))?,
        tailed: of("TAILED"),
        cricket: of("CRICKET"),
        bull: of("BULL"),
        lollipop: of("TRIANGLE_ENDS").checked_sub(of("TAILS"))?,
        hourglass: of("BUTTERFLY"),
        diamond: of("DIAMOND"),
        dart: of("DART"),
        kite: of("KITE"),
        cycle4: of("CYCLES"),
        banner: of("BANNER"),
        house: of("HOUSE"),
        gem: of("GEM"),
        book: of("BOOK"),
        // Each has two pairs of opposite corners, a triangle three arcs.
        wheel: of("WHEEL_PAIRS") / 2,
        clique4: of("CLIQUES") / 3,
        clique4_tail: of("TAIL"),
        // Each of its arcs comes at both of its ends.
        clique4_roof: of("ROOF") / 2,
        nearly_clique: of("NEARLY") / 3,
        collision_edge: of("ON_EDGES"),
        collisions: of("TRIPLES"),
        triangles,
        cycles: of("CYCLE_PAIRS").checked_sub(of("MEETING"))?,
        cliques,
    })
}

fn program(device: &Device) -> Result<Arc<Program>> {
    let mut defines = String::new();
    let mut line =
        |name: &str, value: usize| writeln!(defines, "#define {name} {value}u").expect("text");
    line("GROUP", device.lanes(GROUP));
    line("ROOTS_GROUP", device.lanes(ROOTS_GROUP));
    line("ROOTS_TILE", ROOTS_TILE.min(device.lanes(LANES)));
    line("LANES", device.lanes(LANES));
    line("TILE", TILE.min(device.lanes(LANES)));
    NAMES.iter().zip(0..).for_each(|(name, number)| line(name, number));
    let lanes = device.form()?.source();
    device.program(
        "five",
        &[COMMON, &defines, &lanes, FIVE, LARGE_WHEELS, WHEELS, SMALL_WHEELS, WHEELS],
    )
}

impl<'a> FiveRun<'a> {
    /// Counts the triangles of each arc and allocates the counters; `None` once the run was cancelled.
    fn start(
        graph: &'a Resident,
        shallow: &Roots,
        edges: &'a Buffer<u32>,
        context: &'a Context,
    ) -> Result<Option<Self>> {
        let device = &graph.device;
        graph.begin()?;
        edges.zero(&device.queue)?;
        if !local::count(graph, shallow, 3, Some(edges), context)? {
            return Ok(None);
        }
        graph.read()?;
        let program = program(device)?;
        let sums = Buffer::new(&device.place(), NAMES.len() * SLOTS * WORDS, "sums")?;
        sums.zero(&device.queue)?;
        let triangles = Triangles::read(graph, edges)?;
        let counters = Counters::new(graph, &triangles)?;
        let queued = RefCell::default();
        Ok(Some(FiveRun { graph, program, sums, edges, triangles, counters, context, queued }))
    }

    fn device(&self) -> &Device {
        &self.graph.device
    }

    /// Runs all kernels to their end; `false` once the run was cancelled.
    fn passes(&self, orders: &Orders) -> Result<bool> {
        // Roots first: they need no lists, which the host makes during their kernels. Cycles last: they do not clear the counters.
        let mut done = self.roots(&orders.roots.order)?;
        let lists = if done { self.lists(orders)? } else { None };
        if let Some(lists) = &lists {
            done = self.arcs(lists)?
                && self.wheels(lists)?
                && self.edges(lists, orders.edges())?
                && self.cycles(orders.cycles())?;
        }
        // What kernels use stays until they have ended.
        self.device().finish()?;
        Ok(done && lists.is_some())
    }

    /// Queues a kernel for all tasks of a grid; `false` once the run was cancelled.
    fn launch(
        &self,
        kernel: &str,
        Grid { tasks, range, groups, lanes }: Grid<'_>,
        args: impl Fn(&Buffer<u32>, [Arg; 2]) -> Vec<Arg>,
    ) -> Result<bool> {
        if range.is_empty() {
            return Ok(true);
        }
        let device = self.device();
        let mut slices = Slices::new(device, self.context, tasks.works.of(range.clone()));
        slices.run_some(tasks.works, range, |slice| {
            let part = [Arg::U32(slice.start as u32), Arg::U32(slice.len() as u32)];
            let (args, groups) = (args(&tasks.buffer, part), slice.len().min(groups));
            device.launch(&self.program, kernel, &args, groups, device.lanes(lanes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_put_sums_in_the_order_of_their_places() {
        let lists: Vec<&str> = FIVE.split("const wide own[] = {").skip(1).collect();
        let (mut names, mut singles) = (vec![], vec![]);
        for list in lists {
            let (own, rest) = list.split_once("};").unwrap();
            let first = rest.split_once("PUT(own, ").unwrap().1.split_once(',').unwrap().0;
            let own: Vec<String> = own.split(',').map(|name| name.trim().to_uppercase()).collect();
            if own.len() == 1 {
                singles.push(first);
                continue;
            }
            assert_eq!(own[0], first);
            let at = NAMES.iter().position(|name| *name == first).unwrap();
            assert_eq!(NAMES[at..at + own.len()], own);
            names.extend(own);
        }
        assert_eq!(names.len() + singles.len(), NAMES.len());
        assert_eq!(singles, ["ON_EDGES", "CYCLE_PAIRS"]);
    }
}

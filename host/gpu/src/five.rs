//! Motifs of five vertices by the strategy `formula`: what `kernels/five.cl` sums over arcs, vertices and pairs
//! of vertices, and the closed forms of [`gramer_pattern::closing::five`] (ESCAPE; Pinar, Seshadhri and
//! Vishal, WWW 2017).

use std::fmt::Write;
use std::sync::Arc;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_pattern::closing::five::Sums;

use crate::device::{Arg, Device};
use crate::lanes::LANES;
use crate::local::{self, Roots};
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::{Resident, SLOTS, wide_sums};
use crate::slices::{PrefixWork, Slices};

const COMMON: &str = include_str!("../kernels/common.clh");
const FIVE: &str = include_str!("../kernels/five.cl");

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
    "CLIQUES",
    "TAIL",
    "ROOF",
    "NEARLY",
    "MEETING",
    "WHEEL_PAIRS",
    "CYCLE_PAIRS",
];
/// Words of a sum.
const WORDS: usize = 4;

/// Lanes of a work-group that takes a vertex, of one that takes an arc, and those that take a list.
const GROUP: usize = 128;
const TILE: usize = 8;
/// Work-groups of a compute unit.
const GROUPS: usize = 16;

/// Lists of common neighbours, and what tasks are.
struct Lists {
    /// By arc: its lower end, its triangles, and the start of its list.
    sources: Buffer<u32>,
    places: Buffer<u32>,
    lists: Buffer<u32>,
    words: u32,
    /// Arcs in triangles, by falling number of them, and on the device.
    falling: Vec<u32>,
    arcs: Tasks,
    /// Number by arc.
    numbers: Vec<u32>,
    triangles: u128,
}

/// Tasks by falling work.
struct Tasks {
    buffer: Buffer<u32>,
    works: PrefixWork,
}

impl Tasks {
    fn new(device: &Device, mut tasks: Vec<(f64, u32)>) -> Result<Self> {
        tasks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ids: Vec<u32> = tasks.iter().map(|task| task.1).collect();
        Tasks::sorted(device, &ids, tasks.into_iter().map(|task| task.0))
    }

    /// Creates slices from sorted tasks.
    fn sorted(device: &Device, ids: &[u32], works: impl Iterator<Item = f64>) -> Result<Self> {
        let works = PrefixWork::new(works.map(|work| work + 1.0));
        Ok(Tasks { buffer: Buffer::of(&device.place(), ids, "tasks")?, works })
    }
}

/// Positions of non-zero numbers, largest first, ties by position. (Numbers of triangles are small: to
/// compare arcs took longer than a GPU needs to count.)
fn falling(numbers: &[u32]) -> Vec<u32> {
    let most = numbers.iter().max().map_or(0, |&most| most as usize);
    let mut next = vec![0usize; most + 1];
    numbers.iter().for_each(|&n| next[n as usize] += 1);
    next[0] = 0;
    let mut all = 0;
    for here in next.iter_mut().rev() {
        all += std::mem::replace(here, all);
    }
    let mut places = vec![0; all];
    for (&n, place) in numbers.iter().zip(0..).filter(|(n, _)| **n != 0) {
        places[next[n as usize]] = place;
        next[n as usize] += 1;
    }
    places
}

/// Device resources of a run.
struct FiveRun<'a> {
    graph: &'a Resident,
    program: Arc<Program>,
    sums: Buffer<u32>,
    edges: &'a Buffer<u32>,
    context: &'a Context,
}

/// The lists' room: the words that they take, or `None` where they don't fit into half of what is free.
fn room(triangles: &[u32], free: u64) -> Option<u32> {
    let words: u64 = triangles.iter().map(|&t| u64::from(t)).sum();
    u32::try_from(words).ok().filter(|_| 4 * words <= free / 2)
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
    let run = FiveRun { graph, program, sums, edges, context };
    let Some(lists) = run.lists()? else { return Ok(None) };
    let done = run.arcs(&lists)? && run.roots(&lists)? && run.wheels(&lists)?;
    // What is read waits for the kernels.
    let (triangles, mut found) = (lists.triangles, [0; NAMES.len()]);
    wide_sums(&run.sums, &device.queue, &mut found)?;
    graph.check()?;
    drop(lists);
    if !done || !run.cycles()? {
        device.finish()?;
        return Ok(None);
    }
    wide_sums(&run.sums, &device.queue, &mut found)?;
    graph.check()?;
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
        clique4_roof: of("ROOF"),
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
    line("LANES", device.lanes(LANES));
    line("TILE", TILE.min(device.lanes(LANES)));
    NAMES.iter().zip(0..).for_each(|(name, number)| line(name, number));
    let lanes = device.form()?.source();
    device.program("five", &[COMMON, &defines, &lanes, FIVE])
}

impl FiveRun<'_> {
    fn device(&self) -> &Device {
        &self.graph.device
    }

    /// Maximum number of work-groups of a launch.
    fn most_groups(&self) -> usize {
        let limits = self.device().limits;
        GROUPS.min(if limits.portable { 2 } else { GROUPS }) * limits.units
    }

    /// Counters for groups, this many words each; all 0.
    fn counters(&self, words: usize) -> Result<(Buffer<u32>, usize)> {
        let device = self.device();
        let room = (device.budget.free() / 4) as usize / (4 * words.max(1));
        let groups = self.most_groups().min(room).max(1);
        let counters = Buffer::new(&device.place(), groups * words, "counters of vertices")?;
        counters.zero(&device.queue)?;
        Ok((counters, groups))
    }

    /// Queues a kernel for all tasks; `false` once the run was cancelled.
    fn launch(
        &self,
        kernel: &str,
        (tasks, groups, lanes): (&Tasks, usize, usize),
        args: impl Fn(&Buffer<u32>, [Arg; 2]) -> Vec<Arg>,
    ) -> Result<bool> {
        let device = self.device();
        let mut slices = Slices::new(device, self.context, tasks.works.total());
        let done = slices.run(&tasks.works, |range| {
            let part = [Arg::U32(range.start as u32), Arg::U32(range.len() as u32)];
            let args = args(&tasks.buffer, part);
            device.launch(
                &self.program,
                kernel,
                &args,
                range.len().min(groups),
                device.lanes(lanes),
            )
        })?;
        // Tasks and counters must not be freed before the kernels have used them.
        device.finish()?;
        Ok(done)
    }

    /// Lists the common neighbours of the ends of each arc.
    fn lists(&self) -> Result<Option<Lists>> {
        let (device, by) = (self.device(), &self.graph.by);
        let arcs = self.graph.oriented.ends.len();
        let mut triangles = vec![0u32; arcs];
        self.edges.read(&device.queue, &mut triangles)?;
        // A graph without arcs has room for one.
        triangles.truncate(by.neighbours.len() / 2);
        let free = device.budget.free();
        let words = room(&triangles, free).ok_or_else(|| {
            let words: u64 = triangles.iter().map(|&t| u64::from(t)).sum();
            Error::Unsupported(format!(
                "the GPU has no room for the lists of common neighbours that motifs of five vertices by \
                 formula take: {} bytes, of which half of the {free} that are free may be used; give the setting `memory` more, or \
                 leave out the setting `strategy`",
                4 * words,
            ))
        })?;
        let places: Vec<u32> = triangles
            .iter()
            .scan(0u32, |next, &t| {
                *next += t;
                Some(*next - t)
            })
            .collect();
        let sources: Vec<u32> = (0..by.vertices() as u32)
            .flat_map(|v| std::iter::repeat_n(v, by.out_degree(v as usize) as usize))
            .collect();
        let falling = falling(&triangles);
        let works = falling.iter().map(|&arc| f64::from(triangles[arc as usize]).powi(2));
        let arcs = Tasks::sorted(device, &falling, works)?;
        let place = device.place();
        let lists = Lists {
            sources: Buffer::of(&place, &sources, "the arcs' sources")?,
            places: Buffer::of(&place, &places, "places of lists")?,
            lists: Buffer::new(&place, words as usize, "common neighbours")?,
            words,
            falling,
            arcs,
            numbers: triangles,
            triangles: u128::from(words) / 3,
        };
        let full = self.graph.full()?;
        let oriented = &self.graph.oriented;
        let [vertices, _] = self.graph.sizes();
        let done = self.launch(
            "five_lists",
            (&lists.arcs, 4 * self.most_groups(), LANES),
            |tasks, part| {
                let mut args: Vec<Arg> =
                    [&full.offsets, &full.ends, &lists.sources, &oriented.ends]
                        .into_iter()
                        .chain([self.edges, &lists.places, tasks])
                        .map(|buffer| Arg::Buffer(buffer.raw()))
                        .collect();
                args.extend(part);
                args.extend([vertices, Arg::U32(by.neighbours.len() as u32), Arg::U32(words)]);
                args.extend([&lists.lists, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
                args
            },
        )?;
        Ok(done.then_some(lists))
    }

    /// Sizes as arguments of kernels: vertices, arcs, words of lists.
    fn sizes(&self, lists: &Lists) -> [Arg; 3] {
        let [vertices, arcs] = self.graph.sizes();
        [vertices, arcs, Arg::U32(lists.words)]
    }

    /// The sums over triangles and 4-cliques.
    fn arcs(&self, lists: &Lists) -> Result<bool> {
        let (oriented, degrees) = (&self.graph.oriented, self.graph.degrees()?);
        self.launch("five_arcs", (&lists.arcs, 4 * self.most_groups(), LANES), |tasks, part| {
            let buffers = [&oriented.offsets, &lists.sources, &oriented.ends, degrees, self.edges];
            let all = buffers.into_iter().chain([&lists.places, &lists.lists, tasks]);
            let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
            args.extend(part);
            args.extend(self.sizes(lists));
            args.extend([&self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
            args
        })
    }

    /// The sums over vertices, arcs and pairs of vertices.
    fn roots(&self, lists: &Lists) -> Result<bool> {
        let (by, full, oriented) = (&self.graph.by, self.graph.full()?, &self.graph.oriented);
        let wedges = |v: usize| -> f64 {
            let row = &by.neighbours[by.offsets[v] as usize..by.offsets[v + 1] as usize];
            row.iter().map(|&u| f64::from(by.degree(u as usize))).sum()
        };
        let roots = (0..by.vertices()).filter(|&v| by.degree(v) > 1);
        let tasks =
            Tasks::new(self.device(), roots.map(|v| (4.0 * wedges(v), v as u32)).collect())?;
        let (counters, groups) = self.counters(by.vertices())?;
        self.launch("five_roots", (&tasks, groups, GROUP), |tasks, part| {
            let buffers =
                [&full.offsets, &full.ends, &oriented.offsets, &oriented.ends, self.edges];
            let all = buffers.into_iter().chain([&lists.places, &lists.lists, tasks]);
            let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
            args.extend(part);
            let [vertices, arcs, words] = self.sizes(lists);
            args.extend([vertices, Arg::U32(by.neighbours.len() as u32), arcs, words]);
            args.extend([&counters, &self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
            args
        })
    }

    /// The 4-cycles among the neighbours of vertices.
    fn wheels(&self, lists: &Lists) -> Result<bool> {
        let oriented = &self.graph.oriented;
        // A wheel's spokes are in two triangles at least; its work is the square of these.
        let work = |arc: u32| f64::from(lists.numbers[arc as usize]).powi(2);
        let arcs = lists.falling.iter().take_while(|&&arc| lists.numbers[arc as usize] > 1);
        let both: Vec<u32> = arcs.flat_map(|&arc| [2 * arc, 2 * arc + 1]).collect();
        let tasks = Tasks::sorted(self.device(), &both, both.iter().map(|half| work(half / 2)))?;
        let (counters, groups) = self.counters(self.graph.by.vertices())?;
        self.launch("five_wheels", (&tasks, groups, LANES), |tasks, part| {
            let buffers = [&oriented.offsets, &lists.sources, &oriented.ends, self.edges];
            let all = buffers.into_iter().chain([&lists.places, &lists.lists, tasks]);
            let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
            args.extend(part);
            args.extend(self.sizes(lists));
            args.extend([&counters, &self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
            args
        })
    }

    /// The pairs of paths that are 5-cycles, and those that meet at one vertex.
    fn cycles(&self) -> Result<bool> {
        let (by, full) = (&self.graph.by, self.graph.full()?);
        let below = |v: usize| &by.neighbours[by.offsets[v] as usize..by.split[v] as usize];
        let edges: Vec<f64> = (0..by.vertices())
            .scan(0.0, |sum, v| {
                *sum += below(v).len() as f64;
                Some(*sum)
            })
            .collect();
        let mean = by.neighbours.len() as f64 / by.vertices().max(1) as f64;
        let weight = |v: usize| {
            let paths: f64 = below(v).iter().map(|&b| f64::from(by.degree(b as usize))).sum();
            paths + (paths * mean).min(edges[v])
        };
        // With one neighbour below, all pairs meet there, and the sum of these has them.
        let roots = (0..by.vertices()).filter(|&v| !below(v).is_empty());
        let tasks = Tasks::new(self.device(), roots.map(|v| (weight(v), v as u32)).collect())?;
        let (counters, groups) = self.counters(2 * by.vertices())?;
        let [vertices, _] = self.graph.sizes();
        self.launch("five_cycles", (&tasks, groups, GROUP), |tasks, part| {
            let mut args: Vec<Arg> =
                [&full.offsets, &full.ends, tasks].map(|buffer| Arg::Buffer(buffer.raw())).into();
            args.extend(part);
            args.extend([vertices, Arg::U32(by.neighbours.len() as u32)]);
            args.extend([&counters, &self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
            args
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_come_by_falling_numbers_of_triangles() {
        assert_eq!(falling(&[0, 3, 1, 0, 3, 7, 1]), [5, 1, 4, 2, 6]);
        assert!(falling(&[0, 0]).is_empty() && falling(&[]).is_empty());
    }

    #[test]
    fn lists_take_half_of_what_is_free() {
        assert_eq!(room(&[3, 0, 5], 64), Some(8));
        assert_eq!(room(&[3, 0, 5], 63), None);
        // Places are words of 32 bits.
        assert_eq!(room(&[u32::MAX, 1], u64::MAX), None);
    }

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
        assert_eq!(singles, ["WHEEL_PAIRS", "CYCLE_PAIRS"]);
    }
}

//! The strategy `local`: cliques, and the triangles of each arc, by bitmaps of oriented
//! neighbourhoods (`kernels/local.cl`).
//!
//! Roots are divided into classes by the words that a row of their bitmap takes; each class has a
//! separate kernel, with a number of lanes per root that suits its size. Roots with more targets
//! than the largest class has bits take rows in global memory (`kernels/local_big.cl`).
//!
//! Cliques of many vertices are not met one by one: `kernels/pivots.cl` counts complete sets at once.

mod heads;
mod last_sets;
mod pivots;
mod roots;
mod slots;
mod small_roots;
mod small_sets;
mod together;
mod way;

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use gramer_base::context::Context;
use gramer_base::error::Result;

use crate::device::{Arg, Device};
use crate::lanes::{LANES, Lanes};
use crate::memory::Buffer;
use crate::nest::nest;
use crate::program::Program;
use crate::resident::Resident;
use crate::slices::Slices;
pub(crate) use heads::Heads;
pub(crate) use pivots::walk_bytes;
pub use roots::ClassShape;
pub(crate) use roots::{Depth, Roots};
use roots::{List, PARTS_EACH, Task, WHOLE, most_parts};
use slots::Slots;
pub(crate) use slots::slot_bytes;
pub use small_sets::SmallSets;
pub(crate) use together::{Member, Part, count_together, member};
use way::Method;

const COMMON: &str = include_str!("../../kernels/common.clh");
const TARGETS: &str = include_str!("../../kernels/targets.clh");
const RESIDUES: &str = include_str!("../../kernels/residues.clh");
const LOCAL: &str = include_str!("../../kernels/local.cl");
const BIG: &str = include_str!("../../kernels/local_big.cl");

/// Lanes of a work-group of `local_big`.
const BIG_LANES: usize = 512;
/// Lanes of it that read a row together.
const BIG_TILE: usize = 32;
/// Maximum number of targets of a root that `local_big` looks up in local memory.
const BIG_TARGETS: usize = 1024;

/// Steps of `local_big`, of up to a microsecond each, between two looks whether it is to end.
const LOOK_EACH: usize = 1 << 14;

/// Maximum number of clique vertices without weighing the roots first: the work of one root is
/// then small compared with a slice.
const UNWEIGHED: usize = 5;

/// Vertices of the cliques whose sets are shared out among lanes by triples.
const TRIPLES: usize = 6;

/// For a class: root, element tests, 4-cliques of its graph.
type RootCounts = Vec<(u32, f32, u64)>;

/// Results of kernels in addition to the number of cliques.
#[derive(Clone, Copy)]
enum Extra<'a> {
    Nothing,
    /// The triangles of each arc.
    Edges(&'a Buffer<u32>),
    /// The cliques of each task, by list.
    PerTask(&'a [Buffer<u32>]),
}

/// The program for cliques of `k` in a class, or above all classes. Each class has its own, so that only
/// classes with roots are built: some compilers take seconds for a class.
fn program(
    device: &Device,
    class: Option<&ClassShape>,
    k: usize,
    extra: Extra<'_>,
) -> Result<Arc<Program>> {
    let mut defines = String::new();
    let mut line =
        |name: &str, value: usize| writeln!(defines, "#define {name} {value}").expect("text");
    line("K", k);
    if device.limits.portable {
        line("LOOKS_OFTEN", 1);
    }
    line("LAST", k.saturating_sub(5));
    match extra {
        Extra::Nothing => {}
        Extra::Edges(_) => line("EDGES", 1),
        Extra::PerTask(_) => line("PER_TASK", 1),
    }
    let Some(class) = class else {
        let lanes = device.lanes(BIG_LANES);
        line("BIG", lanes);
        // A processor takes lanes one after the other.
        line("TILE", if device.limits.portable { 1 } else { lanes.min(BIG_TILE) });
        line("LOOK_EACH", LOOK_EACH);
        line("TARGETS", BIG_TARGETS);
        line("HASH", 2 * BIG_TARGETS);
        line("HASH_BITS", BIG_TARGETS.ilog2() as usize + 1);
        return device.program(&format!("local_big of {k}"), &[&defines, COMMON, TARGETS, BIG]);
    };
    line("W", class.words);
    line("T", class.lanes);
    line("R", class.roots);
    line("TILE", class.tile);
    line("HASH", 1 << class.table_bits());
    line("HASH_BITS", class.table_bits() as usize);
    line("RESIDUES", class.residues());
    let mut warps = String::new();
    if k == TRIPLES && class.roots == 1 {
        line("TRIPLES", 1);
        let form = device.form()?;
        if form.lanes == Lanes::Ptx {
            // A warp of a group waits for itself alone.
            line("BLOCK", LANES);
            line("LANES", LANES);
            warps = form.source() + "#define BLOCK_SYNC lanes_sync();\n";
        } else {
            line("BLOCK", class.lanes);
            warps.push_str("#define BLOCK_SYNC barrier(CLK_LOCAL_MEM_FENCE);\n");
        }
    } else if let Some(text) = (k > 4).then(|| nest(k, class.words)).flatten() {
        let sets: Vec<String> = (0..class.words)
            .map(|y| format!("const uint s0_{y} = row[{y}] & other[{y}];"))
            .collect();
        writeln!(defines, "{text}#define SETS {}", sets.join(" ")).expect("text");
    }
    let sources = [&*defines, COMMON, &warps, RESIDUES, TARGETS, LOCAL];
    device.program(&format!("local_{} of {k}", class.words), &sources)
}

/// Queues the count of the cliques of `k` vertices into sum 0, and with `edges` the triangles of each
/// arc; `false` once the run was cancelled.
///
/// # Errors
/// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small.
pub(crate) fn count(
    graph: &Resident,
    roots: &Roots,
    k: usize,
    edges: Option<&Buffer<u32>>,
    context: &Context,
) -> Result<bool> {
    let extra = edges.map_or(Extra::Nothing, Extra::Edges);
    let parts = roots.with_large(k);
    let mut heavy = vec![];
    for &(roots, k) in &parts {
        if k <= UNWEIGHED {
            heavy.push(None);
            continue;
        }
        let Some(weighed) = weighed(graph, roots, k, extra, context)? else { return Ok(false) };
        heavy.push(Some(weighed));
    }
    let any = heavy.iter().any(Option::is_some);
    for (&(roots, k), heavy) in parts.iter().zip(&heavy) {
        let done = match heavy {
            None => run(graph, roots, k, extra, context)?,
            Some(weighed) => weighed.count(graph, k, extra, context)?,
        };
        if !done {
            return Ok(false);
        }
    }
    if any {
        // Its tasks must not be freed before the kernels have read them.
        graph.device.finish()?;
    }
    Ok(true)
}

/// Roots with their weights.
struct Weights {
    /// Weighed roots, the heavy ones cut into parts.
    roots: Roots,
    way: Method,
}

impl Weights {
    /// Queues the count of their cliques of `k`; `false` once the run was cancelled.
    fn count(
        &self,
        graph: &Resident,
        k: usize,
        extra: Extra<'_>,
        context: &Context,
    ) -> Result<bool> {
        let Weights { roots, way } = self;
        match way {
            Method::Sets => run(graph, roots, k, extra, context),
            Method::Pivots => Weights::count_by_pivots(graph, roots, k, context),
        }
    }

    /// Counts by pivoting.
    fn count_by_pivots(
        graph: &Resident,
        roots: &Roots,
        k: usize,
        context: &Context,
    ) -> Result<bool> {
        // Roots above all classes have no rows in local memory.
        let mut above = roots.all();
        above[..roots.classes.len()].fill(0..0);
        Ok(run_some(graph, roots, &above, k, Extra::Nothing, context)?
            && pivots::count(graph, roots, k, context)?)
    }
}

/// The roots with the work that cliques of `k` make there; `None` once the run was cancelled. Roots without a
/// clique of five are left out, and light ones, whose cliques are counted while the others' work is looked at.
///
/// The 5-cliques of a root are the 4-cliques of its graph: the sets that 6-cliques measure. For larger
/// cliques the estimate is a complete graph with as many 4-cliques, which of all graphs has most larger
/// ones (Kruskal and Katona).
fn weighed(
    graph: &Resident,
    roots: &Roots,
    k: usize,
    extra: Extra<'_>,
    context: &Context,
) -> Result<Option<Weights>> {
    let heavy = not_light(&graph.device, roots, k);
    match weights(graph, roots, &heavy, k, extra, context)? {
        Some(found) => by_weights(graph, roots, &found, k).map(Some),
        None => Ok(None),
    }
}

/// Whether cliques of `k` of light roots are counted concurrently with the weighing of others.
fn spares_light(device: &Device, k: usize) -> bool {
    // For larger cliques such a root may be much work, and of pivots every root is a task.
    k == UNWEIGHED + 1 && Method::of(device, k, [f64::INFINITY]) == Method::Sets
}

/// The tasks of each list that are weighed for cliques of `k`: the first ones.
fn not_light(device: &Device, roots: &Roots, k: usize) -> Vec<Range<usize>> {
    /// Element tests of a root without much work: each that hits is an edge, and n edges make n² / 6 sets of four at
    /// most. Lists begin with the most tests. With 1,000 of them two hosts took 3.5 to 4.0 ms for the 6-cliques of ego-twitter on
    /// one H100, and 3.3 to 3.4 with 2,000; those of rmat15 6.2 to 6.5 and 6.7 to 6.8.
    const LIGHT: f32 = 2000.0;
    let some = spares_light(device, k);
    let heavy = |(at, list): (usize, &List)| {
        let light = |&tests: &f32| some && at < roots.classes.len() && tests <= LIGHT;
        0..list.weights.iter().position(light).unwrap_or(list.tasks.len())
    };
    roots.lists.iter().enumerate().map(heavy).collect()
}

/// The 4-cliques of the graphs of these tasks, by list; `None` once the run was cancelled. The cliques of `k` of small roots
/// are counted, and where light roots are spared, those of all other tasks.
fn weights(
    graph: &Resident,
    roots: &Roots,
    weighed: &[Range<usize>],
    k: usize,
    extra: Extra<'_>,
    context: &Context,
) -> Result<Option<Vec<Vec<u32>>>> {
    let device = &graph.device;
    let sums: Vec<Buffer<u32>> = roots
        .lists
        .iter()
        .map(|list| Buffer::new(&device.place(), list.tasks.len(), "weights of tasks"))
        .collect::<Result<_>>()?;
    if !run_some(graph, roots, weighed, 5, Extra::PerTask(&sums), context)? {
        return Ok(None);
    }
    let mark = device.mark()?;
    if let Some(small) = &roots.small
        && !small.count(graph, roots.rows(graph), k, context)?
    {
        return Ok(None);
    }
    if spares_light(device, k) {
        let light = weighed.iter().zip(&roots.lists);
        let light: Vec<_> = light.map(|(heavy, list)| heavy.end..list.tasks.len()).collect();
        if !run_some(graph, roots, &light, k, extra, context)? {
            return Ok(None);
        }
    }
    device.wait(&mark)?;
    if graph.was_stopped() {
        return Ok(None);
    }
    let mut found: Vec<Vec<u32>> = vec![];
    for (which, sum) in weighed.iter().zip(&sums) {
        let mut read = vec![0; which.len()];
        if !read.is_empty() {
            sum.read(device.copies()?, &mut read)?;
        }
        found.push(read);
    }
    Ok(Some(found))
}

/// The roots by the 4-cliques of the graphs of each list's first tasks.
fn by_weights(graph: &Resident, roots: &Roots, found: &[Vec<u32>], k: usize) -> Result<Weights> {
    let device = &graph.device;
    // Root, element tests, 4-cliques of its graph.
    let whole = |(list, found): (&List, &Vec<u32>)| -> RootCounts {
        let tasks = list.tasks.iter().zip(&list.weights).zip(found);
        let mut all: RootCounts =
            tasks.map(|((task, &tests), &found)| (task[0], tests, found.into())).collect();
        if list.tasks.iter().any(|task| task[1] != WHOLE) {
            all.sort_unstable_by_key(|root| root.0);
            all.dedup_by(|part, first| {
                let same = part.0 == first.0;
                if same {
                    (first.1, first.2) = (first.1 + part.1, first.2 + part.2);
                }
                same
            });
        }
        all.retain(|root| root.2 != 0);
        all
    };
    let found: Vec<RootCounts> = roots.lists.iter().zip(found).map(whole).collect();
    let classes = roots.classes.len();
    let sets = found[..classes].iter().flatten().map(|root| sets_of(root.2, k));
    let way = Method::of(device, k, sets);
    let parts = parts_by_work(graph, roots, &found, (k, way)).into_iter();
    let place = device.place_beside()?;
    let lists = parts.map(|parts| List::new(&place, parts)).collect::<Result<_>>()?;
    Ok(Weights { roots: Roots { lists, ..roots.without_lists() }, way })
}

/// The roots of each list as tasks with their weights, the heavy ones cut into parts.
fn parts_by_work(
    graph: &Resident,
    roots: &Roots,
    found: &[RootCounts],
    (k, way): (usize, Method),
) -> Vec<Vec<(f32, Task)>> {
    /// Minimum number of sets for a separate work-group.
    const LEAST: f64 = 65_536.0;
    /// Sets of a part, which take about a second where the device is full.
    const MOST: f64 = 1e8;
    let (device, classes) = (&graph.device, roots.classes.len());
    // States of pivots grow with what sets of four are.
    let work_of = |at: usize, found: u64| match way {
        Method::Pivots if at < classes => found as f64,
        _ => sets_of(found, k),
    };
    let all = found.iter().enumerate();
    let total: f64 = all.map(|(at, l)| l.iter().map(|r| work_of(at, r.2)).sum::<f64>()).sum();
    let (parts_each, least) = match way {
        Method::Pivots => (pivots::PARTS_EACH, LEAST / 16.0),
        Method::Sets => (PARTS_EACH, LEAST),
    };
    // Nobody waits long for a part, which can't be stopped.
    let share = (total / (parts_each * device.limits.units) as f64).clamp(least, MOST);
    let mut lists = vec![];
    for (at, list) in found.iter().enumerate() {
        let mut tasks = vec![];
        for &(root, tests, found) in list {
            let most = match way {
                Method::Pivots if at < classes => pivots::most_parts(roots.targets(graph, root)),
                _ => most_parts(roots.targets(graph, root)),
            };
            let work = work_of(at, found);
            let parts = ((work / share).ceil() as u32).clamp(1, most);
            let weight = (tests + work as f32) / parts as f32;
            tasks.extend((0..parts).map(|part| (weight, [root, part | parts << 16])));
        }
        lists.push(tasks);
    }
    lists
}

/// (k − 2)-cliques of a complete graph with about `found` 4-cliques.
fn sets_of(found: u64, k: usize) -> f64 {
    let found = found as f64;
    if k == 6 || found == 0.0 {
        return found;
    }
    // x (x − 1) (x − 2) (x − 3) = 24 q, nearly.
    let vertices = (24.0 * found).sqrt().sqrt() + 1.5;
    (0..k - 2).map(|i| (vertices - i as f64).max(0.0) / (i + 1) as f64).product()
}

fn run(
    graph: &Resident,
    roots: &Roots,
    k: usize,
    extra: Extra<'_>,
    context: &Context,
) -> Result<bool> {
    run_some(graph, roots, &roots.all(), k, extra, context)
}

/// Some of the tasks, by list.
fn run_some(
    graph: &Resident,
    roots: &Roots,
    which: &[Range<usize>],
    k: usize,
    extra: Extra<'_>,
    context: &Context,
) -> Result<bool> {
    let device = &graph.device;
    let lists = || roots.lists.iter().zip(which).enumerate();
    let total = lists().map(|(_, (list, which))| list.works.of(which.clone())).sum();
    let mut slices = Slices::new(device, context, total);
    // The classes with the largest roots first: what comes last ends together.
    for (at, (list, which)) in lists().rev() {
        if which.is_empty() {
            continue;
        }
        let program = program(device, roots.classes.get(at), k, extra)?;
        let second = match extra {
            Extra::Edges(edges) => edges.raw(),
            Extra::PerTask(sums) => sums[at].raw(),
            Extra::Nothing => graph.fault().raw(),
        };
        let args = |range: &Range<usize>| {
            let rows = roots.rows(graph);
            let [vertices, arcs] = [rows.offsets.len() - 1, rows.ends.len()];
            vec![
                Arg::Buffer(rows.offsets.raw()),
                Arg::Buffer(rows.ends.raw()),
                Arg::Buffer(list.buffer.raw()),
                Arg::U32(range.start as u32),
                Arg::U32(range.len() as u32),
                Arg::U32(vertices as u32),
                Arg::U32(arcs as u32),
                Arg::Buffer(graph.sums.raw()),
                Arg::Buffer(second),
                Arg::Buffer(graph.fault().raw()),
            ]
        };
        let done = match roots.classes.get(at) {
            Some(class) => slices.run_some(&list.works, which.clone(), |range| {
                let groups = range.len().div_ceil(class.roots);
                let lanes = class.lanes * class.roots;
                device.launch(&program, "local_cliques", &args(&range), groups, lanes)
            })?,
            None => {
                let slots = Slots::new(graph, roots.span, which.len())?;
                let done = slices.run_some(&list.works, which.clone(), |range| {
                    let mut args = args(&range);
                    args.extend(slots.args());
                    let groups = slots.groups.min(range.len());
                    device.launch(&program, "local_big", &args, groups, device.lanes(BIG_LANES))
                })?;
                device.finish()?;
                done
            }
        };
        if !done {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_that_of_a_complete_graph() {
        // 20 vertices have 4,845 4-cliques and 15,504 cliques of five.
        let estimate = sets_of(4845, 7);
        assert!((15_000.0..16_000.0).contains(&estimate), "{estimate}");
    }
}

//! The strategy `local`: cliques, and the triangles of each arc, by bitmaps of oriented
//! neighbourhoods (`kernels/local.cl`).
//!
//! Roots are divided into classes by the words that a row of their bitmap takes; each class has a
//! kernel of its own, with as many lanes for a root as its size is worth. Roots with more targets
//! than the largest class has bits take rows in global memory (`kernels/local_big.cl`).

use std::fmt::Write;
use std::sync::Arc;

use gramer_graph::context::Context;
use gramer_graph::error::Result;

use crate::device::{Arg, Device};
use crate::large::Arcs;
use crate::memory::Buffer;
use crate::nest::nest;
use crate::picked::Picked;
use crate::program::Program;
use crate::resident::Resident;
use crate::slices::Slices;

const COMMON: &str = include_str!("../kernels/common.clh");
const LOCAL: &str = include_str!("../kernels/local.cl");
const BIG: &str = include_str!("../kernels/local_big.cl");

/// Lanes of a work-group of `local_big`.
const BIG_LANES: usize = 512;
/// Lanes of it that read a row together.
const BIG_TILE: usize = 32;

/// Largest number of vertices of a clique whose roots aren't weighed first: the work of one root is
/// then small beside a slice.
const UNWEIGHED: usize = 5;

/// A class of roots, and how its kernel shares out the work. All numbers are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassShape {
    /// Words of a row, 1 to 16: roots have up to 32 times as many targets.
    pub words: usize,
    /// Lanes that share a root, up to 512.
    pub lanes: usize,
    /// Roots of a work-group.
    pub roots: usize,
    /// Lanes that read a list together; at most `lanes`.
    pub tile: usize,
}

impl ClassShape {
    /// `WORDS:LANES:ROOTS:TILE`, as bench programs take it.
    ///
    /// # Panics
    /// For anything but four powers of two in their ranges.
    pub fn parse(text: &str) -> Self {
        let numbers: Vec<usize> = text.split(':').filter_map(|n| n.parse().ok()).collect();
        let [words, lanes, roots, tile] = numbers[..] else { panic!("{text:?} isn't W:L:R:T") };
        assert!(numbers.iter().all(|n| n.is_power_of_two()) && words <= 16 && tile <= lanes);
        ClassShape { words, lanes, roots, tile }
    }
}

/// Classes of a device with enough lanes and local memory, in order of size, for cliques of up to four:
/// a root is little work, so that few kernels and full groups count most.
const SHALLOW: [ClassShape; 3] = [
    ClassShape { words: 4, lanes: 64, roots: 2, tile: 16 },
    ClassShape { words: 8, lanes: 256, roots: 1, tile: 32 },
    ClassShape { words: 16, lanes: 512, roots: 1, tile: 32 },
];

/// The same for larger cliques, where the loops below pairs are most of the work.
const DEEP: [ClassShape; 3] = [
    ClassShape { words: 4, lanes: 128, roots: 1, tile: 32 },
    ClassShape { words: 8, lanes: 512, roots: 1, tile: 32 },
    ClassShape { words: 16, lanes: 512, roots: 1, tile: 32 },
];

impl ClassShape {
    /// Entries of the table of targets, as a power of two.
    fn table_bits(self) -> u32 {
        (128 * self.words).min(1024).ilog2()
    }

    /// Bytes of local memory that the most demanding kernel of the class takes.
    fn local_bytes(self) -> usize {
        let targets = 32 * self.words;
        let rows = targets * (self.words | 1);
        let words = (1 << self.table_bits()) + targets + rows + targets + 1;
        4 * self.roots * words + 8 * self.lanes * self.roots
    }
}

/// Roots of a graph by class, those with the most work first. Of deep roots the ones above all classes are
/// replaced by their arcs, and cut into parts where there is no room for that, since one of them can take
/// longer than all the rest.
pub(crate) struct Roots {
    deep: bool,
    /// The classes that the device has room for.
    classes: Vec<ClassShape>,
    /// By class, and those above the largest at the end.
    lists: Vec<List>,
    /// Most targets of a root.
    span: usize,
    /// Work of each root, in element tests; of none where roots were weighed or are a share's.
    tests: Vec<f32>,
    /// The arcs that these roots are, if they aren't the graph's.
    arcs: Option<Arc<Arcs>>,
    /// Arcs of large roots, for cliques of one vertex less.
    large: Option<Box<Roots>>,
}

/// A task: a root, and `part | parts << 16`.
type Task = [u32; 2];

struct List {
    tasks: Vec<Task>,
    /// Work of each task, in element tests.
    weights: Vec<f32>,
    buffer: Buffer<Task>,
}

impl List {
    fn new(device: &Device, tasks: Vec<(f32, Task)>) -> Result<Self> {
        let tasks = by_weight(tasks);
        let weights = tasks.iter().map(|t| t.0).collect();
        let tasks: Vec<Task> = tasks.into_iter().map(|t| t.1).collect();
        let buffer = Buffer::of(&device.place(), &tasks, "tasks")?;
        Ok(List { tasks, weights, buffer })
    }
}

/// Tasks with the heavier ones first, up to an eighth of a weight: in one pass, which takes a tenth of a
/// sort's time.
fn by_weight(tasks: Vec<(f32, Task)>) -> Vec<(f32, Task)> {
    /// The bits of a weight that count: its exponent and three bits more.
    const SHIFT: u32 = 20;
    // Weights are positive: their bits are in their order.
    let bucket = |weight: f32| ((f32::MAX.to_bits() - weight.max(0.0).to_bits()) >> SHIFT) as usize;
    let mut next = vec![0usize; bucket(0.0) + 2];
    tasks.iter().for_each(|t| next[bucket(t.0) + 1] += 1);
    (1..next.len()).for_each(|b| next[b] += next[b - 1]);
    let mut sorted = vec![(0.0, [0; 2]); tasks.len()];
    for task in tasks {
        let at = &mut next[bucket(task.0)];
        sorted[*at] = task;
        *at += 1;
    }
    sorted
}

/// The whole root.
const WHOLE: u32 = 1 << 16;
/// Parts of large roots for each compute unit, about.
const PARTS_EACH: usize = 8;

/// Roots above all classes, cut so that no part is much work beside all of them together. A part makes the
/// rows of its root again, so that there aren't more of them than fill the device. Weights are element
/// tests, and what follows the tests grows with the targets, too.
fn cut(
    graph: &Resident,
    targets: impl Fn(u32) -> usize,
    tasks: Vec<(f32, Task)>,
) -> Vec<(f32, Task)> {
    let work = |(tests, [root, _]): &(f32, Task)| f64::from(*tests) * targets(*root) as f64;
    let total: f64 = tasks.iter().map(work).sum();
    let share = total / (PARTS_EACH * graph.device.limits.units) as f64;
    let parts = |task: &(f32, Task)| {
        let parts =
            ((work(task) / share.max(1.0)).ceil() as u32).clamp(1, most_parts(targets(task.1[0])));
        let (weight, root) = (task.0 / parts as f32, task.1[0]);
        (0..parts).map(move |part| (weight, [root, part | parts << 16]))
    };
    tasks.iter().flat_map(parts).collect()
}

/// A part has at least a pair for each lane.
fn most_parts(targets: usize) -> u32 {
    (targets * (targets - 1) / 2 / 64).clamp(1, u16::MAX.into()) as u32
}

impl Roots {
    /// Whether cliques of `k` are many sets below a pair of targets: such tasks have classes, and
    /// so roots, of their own.
    pub fn deep(k: usize) -> bool {
        k > 4
    }

    /// All roots with at least two targets.
    pub fn new(graph: &Resident, deep: bool) -> Result<Self> {
        let (device, by) = (&graph.device, &graph.by);
        let shapes = match (device.classes.as_slice(), deep) {
            ([], true) => &DEEP,
            ([], false) => &SHALLOW,
            (own, _) => own,
        };
        let classes: Vec<ClassShape> = shapes
            .iter()
            .map(|&class| {
                let lanes = device.lanes(class.lanes * class.roots);
                let roots = (lanes / class.lanes).max(1);
                let lanes = lanes / roots;
                ClassShape { lanes, roots, tile: class.tile.min(lanes), ..class }
            })
            .filter(|class| class.local_bytes() <= device.limits.local)
            .collect();
        let mut all = vec![0f32; by.vertices()];
        let mut large = vec![];
        for (root, work) in all.iter_mut().enumerate() {
            let targets = by.out_degree(root) as usize;
            if targets < 2 {
                continue;
            }
            let tests: u64 =
                by.targets(root).iter().map(|&t| u64::from(by.out_degree(t as usize))).sum();
            *work = tests as f32;
            if class_of(&classes, targets) == classes.len() {
                large.push(root as u32);
            }
        }
        let arcs = if deep { Arcs::new(graph, &large)? } else { None };
        let found = (0..by.vertices() as u32).filter(|&r| by.out_degree(r as usize) >= 2);
        let mut roots = Roots::of(
            graph,
            deep,
            classes,
            None,
            found.map(|r| (r, all[r as usize])),
            arcs.is_some(),
        )?;
        if let Some(arcs) = arcs {
            let all = 0..arcs.sizes.len() as u32;
            roots.large = Some(Box::new(roots.of_arcs(graph, Arc::new(arcs), all)?));
        }
        roots.tests = all;
        Ok(roots)
    }

    /// Roots with their weights, in classes; without those above all classes if `replaced`.
    fn of(
        graph: &Resident,
        deep: bool,
        classes: Vec<ClassShape>,
        arcs: Option<Arc<Arcs>>,
        roots: impl Iterator<Item = (u32, f32)>,
        replaced: bool,
    ) -> Result<Self> {
        let targets = |root: u32| targets_of(graph, arcs.as_deref(), root);
        let mut tasks = vec![vec![]; classes.len() + 1];
        let mut span = 0;
        for (root, tests) in roots {
            let at = class_of(&classes, targets(root));
            if at < classes.len() || !replaced {
                span = span.max(targets(root));
                tasks[at].push((tests, [root, WHOLE]));
            }
        }
        if let Some(large) = tasks.last_mut().filter(|_| deep) {
            *large = cut(graph, targets, std::mem::take(large));
        }
        let list = |tasks| List::new(&graph.device, tasks);
        let lists = tasks.into_iter().map(list).collect::<Result<_>>()?;
        Ok(Roots { deep, classes, lists, span, tests: vec![], arcs, large: None })
    }

    /// Some of the arcs of large roots.
    fn of_arcs(
        &self,
        graph: &Resident,
        arcs: Arc<Arcs>,
        which: impl Iterator<Item = u32>,
    ) -> Result<Self> {
        let sizes = arcs.clone();
        // Each of them tests the rows of its targets, which are about as long as it has targets.
        let weighed = which.filter_map(|at| {
            let size = sizes.sizes[at as usize];
            (size >= 2).then(|| (sizes.first + at, size as f32 * size as f32))
        });
        Roots::of(graph, self.deep, self.classes.clone(), Some(arcs), weighed, false)
    }

    /// Those of a share.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] where the budget has no room.
    pub fn of_share(&self, graph: &Resident, share: &Picked) -> Result<Self> {
        let large = self.large.as_ref().and_then(|large| large.arcs.clone());
        let found = share.roots.iter().copied().filter(|&r| graph.by.out_degree(r as usize) >= 2);
        let weighed = found.map(|root| (root, self.tests[root as usize]));
        let classes = self.classes.clone();
        let mut roots = Roots::of(graph, self.deep, classes, None, weighed, large.is_some())?;
        if let Some(arcs) = large {
            let which =
                share.roots.iter().filter_map(|root| arcs.of_root.get(root).cloned()).flatten();
            roots.large = Some(Box::new(self.of_arcs(graph, arcs.clone(), which)?));
        }
        Ok(roots)
    }

    /// Targets of one of these roots.
    fn targets(&self, graph: &Resident, root: u32) -> usize {
        targets_of(graph, self.arcs.as_deref(), root)
    }
}

/// Targets of a root of the graph, or of an arc.
fn targets_of(graph: &Resident, arcs: Option<&Arcs>, root: u32) -> usize {
    match arcs {
        Some(arcs) => arcs.sizes[(root - arcs.first) as usize] as usize,
        None => graph.by.out_degree(root as usize) as usize,
    }
}

fn class_of(classes: &[ClassShape], targets: usize) -> usize {
    classes.iter().position(|c| targets <= 32 * c.words).unwrap_or(classes.len())
}

/// What kernels leave besides the number of cliques.
#[derive(Clone, Copy)]
enum Extra<'a> {
    Nothing,
    /// The triangles of each arc.
    Edges(&'a Buffer<u32>),
    /// The cliques of each task, by list.
    PerTask(&'a [Buffer<u32>]),
}

/// The program for cliques of `k` in a class, or above all classes. Each class has its own, so that a
/// graph builds what it has roots for: some compilers take seconds for a class.
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
        return device.program(&format!("local_big of {k}"), &[COMMON, &defines, BIG]);
    };
    line("W", class.words);
    line("T", class.lanes);
    line("R", class.roots);
    line("TILE", class.tile);
    line("HASH", 1 << class.table_bits());
    line("HASH_BITS", class.table_bits() as usize);
    if let Some(text) = (k > 4).then(|| nest(k, class.words)).flatten() {
        let sets: Vec<String> = (0..class.words)
            .map(|y| format!("const uint s0_{y} = row[{y}] & other[{y}];"))
            .collect();
        writeln!(defines, "{text}#define SETS {}", sets.join(" ")).expect("text");
    }
    device.program(&format!("local_{} of {k}", class.words), &[COMMON, &defines, LOCAL])
}

/// Queues the count of the cliques of `k` vertices into sum 0, and with `edges` the triangles of each
/// arc; `false` once the run was asked to stop.
///
/// # Errors
/// [`gramer_graph::Error::Device`], [`gramer_graph::Error::Unsupported`] where the budget has no room.
pub(crate) fn count(
    graph: &Resident,
    roots: &Roots,
    k: usize,
    edges: Option<&Buffer<u32>>,
    context: &Context,
) -> Result<bool> {
    let extra = edges.map_or(Extra::Nothing, Extra::Edges);
    let large = roots.large.as_deref().map(|large| (large, k - 1));
    let parts: Vec<(&Roots, usize)> = large.into_iter().chain([(roots, k)]).collect();
    let mut heavy = vec![];
    for &(roots, k) in &parts {
        if k <= UNWEIGHED {
            heavy.push(None);
            continue;
        }
        let Some(roots) = weighed(graph, roots, k, context)? else { return Ok(false) };
        heavy.push(Some(roots));
    }
    let any = heavy.iter().any(Option::is_some);
    if any {
        // Weighing has counted into the sums.
        graph.begin()?;
    }
    for (&(roots, k), heavy) in parts.iter().zip(&heavy) {
        if !run(graph, heavy.as_ref().unwrap_or(roots), k, extra, context)? {
            return Ok(false);
        }
    }
    if any {
        // Its tasks must not be freed before the kernels have read them.
        graph.device.finish()?;
    }
    Ok(true)
}

/// The roots with the work that cliques of `k` make there, the heavy ones cut into parts; `None` once
/// the run was asked to stop. Roots without a clique of five are left out.
///
/// The 5-cliques of a root are the 4-cliques of its graph: the sets that 6-cliques measure. For larger
/// cliques the estimate is a complete graph with as many 4-cliques, which of all graphs has most larger
/// ones (Kruskal and Katona).
fn weighed(graph: &Resident, roots: &Roots, k: usize, context: &Context) -> Result<Option<Roots>> {
    /// Sets that are worth a work-group of their own.
    const LEAST: f64 = 65_536.0;
    let device = &graph.device;
    let sums: Vec<Buffer<u32>> = roots
        .lists
        .iter()
        .map(|list| Buffer::new(&device.place(), list.tasks.len(), "weights of tasks"))
        .collect::<Result<_>>()?;
    if !run(graph, roots, 5, Extra::PerTask(&sums), context)? {
        return Ok(None);
    }
    let mut found: Vec<Vec<u32>> = vec![];
    for (list, sum) in roots.lists.iter().zip(&sums) {
        let mut read = vec![0; list.tasks.len()];
        sum.read(&device.queue, &mut read)?;
        found.push(read);
    }
    // Root, element tests, sets of cliques.
    let whole = |(list, found): (&List, &Vec<u32>)| -> Vec<(u32, f32, f64)> {
        let tasks = list.tasks.iter().zip(&list.weights).zip(found);
        let mut all: Vec<(u32, f32, u64)> =
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
        let sets = all.into_iter().filter(|root| root.2 != 0);
        sets.map(|(root, tests, found)| (root, tests, sets_of(found, k))).collect()
    };
    let work: Vec<Vec<(u32, f32, f64)>> = roots.lists.iter().zip(&found).map(whole).collect();
    let total: f64 = work.iter().flatten().map(|root| root.2).sum();
    let share = (total / (PARTS_EACH * device.limits.units) as f64).max(LEAST);
    let mut lists = vec![];
    for tests_and_sets in &work {
        let mut tasks = vec![];
        for &(root, tests, work) in tests_and_sets {
            let most = most_parts(roots.targets(graph, root));
            let parts = ((work / share).ceil() as u32).clamp(1, most);
            let weight = (tests + work as f32) / parts as f32;
            tasks.extend((0..parts).map(|part| (weight, [root, part | parts << 16])));
        }
        lists.push(List::new(device, tasks)?);
    }
    let (deep, classes) = (roots.deep, roots.classes.clone());
    let (span, arcs) = (roots.span, roots.arcs.clone());
    Ok(Some(Roots { deep, classes, lists, span, tests: vec![], arcs, large: None }))
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
    let device = &graph.device;
    let total = roots.lists.iter().flat_map(|l| &l.weights).map(|&w| f64::from(w) + 1.0).sum();
    let mut slices = Slices::new(device, context, total);
    // The classes with the largest roots first: what comes last ends together.
    for (at, list) in roots.lists.iter().enumerate().rev() {
        if list.tasks.is_empty() {
            continue;
        }
        let program = program(device, roots.classes.get(at), k, extra)?;
        let weight = |task: usize| f64::from(list.weights[task]) + 1.0;
        let second = match extra {
            Extra::Edges(edges) => edges.raw(),
            Extra::PerTask(sums) => sums[at].raw(),
            Extra::Nothing => graph.fault.raw(),
        };
        let args = |range: &std::ops::Range<usize>| {
            let rows = roots.arcs.as_ref().map_or(&graph.oriented, |arcs| &arcs.rows);
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
                Arg::Buffer(graph.fault.raw()),
            ]
        };
        let done = match roots.classes.get(at) {
            Some(class) => slices.run(list.tasks.len(), weight, |range| {
                let groups = range.len().div_ceil(class.roots);
                let lanes = class.lanes * class.roots;
                device.launch(&program, "local_cliques", &args(&range), groups, lanes)
            })?,
            None => {
                let slots = Slots::new(graph, roots.span, list.tasks.len())?;
                let done = slices.run(list.tasks.len(), weight, |range| {
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

/// What `local_big` works in: a slot of global memory for each work-group.
struct Slots {
    groups: usize,
    buffer: Buffer<u32>,
    span: usize,
    slot_words: usize,
}

impl Slots {
    /// Slots for the work-groups that `tasks` are worth, as far as the budget has room for more than one.
    fn new(graph: &Resident, span: usize, tasks: usize) -> Result<Self> {
        let device = &graph.device;
        let slot_words = 4 * span + span * span.div_ceil(32);
        let room = device.budget.free() / 2 / (4 * slot_words as u64);
        let groups = (4 * device.limits.units).min(tasks).min(room as usize).max(1);
        let buffer = Buffer::new(&device.place(), groups * slot_words, "rows of large roots")?;
        Ok(Slots { groups, buffer, span, slot_words })
    }

    fn args(&self) -> [Arg; 3] {
        [
            Arg::Buffer(self.buffer.raw()),
            Arg::U32(self.span as u32),
            Arg::U64(self.slot_words as u64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_fit_into_48_kib_and_ascend() {
        for pair in [SHALLOW, DEEP].iter().flat_map(|c| c.windows(2)) {
            assert!(pair[0].words < pair[1].words);
        }
        for class in SHALLOW.into_iter().chain(DEEP) {
            assert!(class.local_bytes() <= 48 << 10, "{class:?}");
            // The table is at most half full, and has room for a word for each lane.
            assert!(1 << class.table_bits() >= 64 * class.words.min(16));
            assert!(class.lanes <= 1 << class.table_bits());
        }
        assert_eq!(class_of(&DEEP, 128), 0);
        assert_eq!(class_of(&DEEP, 129), 1);
        assert_eq!(class_of(&DEEP, 513), 3);
    }

    #[test]
    fn the_estimate_is_that_of_a_complete_graph() {
        // 20 vertices have 4,845 4-cliques and 15,504 cliques of five.
        let estimate = sets_of(4845, 7);
        assert!((15_000.0..16_000.0).contains(&estimate), "{estimate}");
    }
}

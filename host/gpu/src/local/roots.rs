//! Roots of a graph by the width of their bitmaps' rows, as tasks on the device.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gramer_base::error::Result;

use super::pivots;
use super::small_roots::{MOST_TARGETS, SmallRoot, SmallRoots};
use crate::device::Limits;
use crate::large::Arcs;
use crate::memory::{Buffer, Place};
use crate::picked::RootSelection;
use crate::resident::{Resident, Rows};
use crate::slices::PrefixWork;

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

/// Classes for larger cliques, where the loops below pairs dominate.
const DEEP: [ClassShape; 3] = [
    ClassShape { words: 4, lanes: 128, roots: 1, tile: 32 },
    ClassShape { words: 8, lanes: 512, roots: 1, tile: 32 },
    ClassShape { words: 16, lanes: 512, roots: 1, tile: 32 },
];

impl ClassShape {
    /// Entries of the table of targets, as a power of two.
    pub(super) fn table_bits(self) -> u32 {
        (128 * self.words).min(1024).ilog2()
    }

    /// Bits of the bitmap of targets: few numbers that are no targets have the residue of one.
    pub(super) fn residues(self) -> usize {
        (1024 * self.words).min(8192)
    }

    /// Bytes of local memory that the most demanding kernel of the class takes.
    fn local_bytes(self) -> usize {
        let targets = 32 * self.words;
        let rows = targets * (self.words | 1);
        let residues = self.residues() / 32;
        let words = (1 << self.table_bits()) + residues + targets + rows + targets + 1;
        let bytes = 4 * self.roots * words + 8 * self.lanes * self.roots;
        bytes.max(pivots::local_bytes(self, 1))
    }
}

/// Maximum number of targets of a root that has a class on a device.
pub(super) fn largest(limits: Limits) -> usize {
    let fits = |class: &&ClassShape| class.local_bytes() <= limits.local;
    [SHALLOW, DEEP]
        .iter()
        .map(|all| all.iter().filter(fits).map(|c| 32 * c.words).max().unwrap_or(0))
        .min()
        .unwrap_or(0)
}

/// Sizes of cliques that have the same classes of roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// A root is little work.
    UpToFour,
    /// There are many sets below a pair of targets.
    FiveAndSix,
    /// Roots with few targets are counted by pivots and not weighed.
    SevenOn,
}

impl Depth {
    /// Number of depths.
    pub const COUNT: usize = 3;

    /// The depth of cliques of `k`.
    pub fn of(k: usize) -> Self {
        match k {
            ..5 => Depth::UpToFour,
            5 | 6 => Depth::FiveAndSix,
            _ => Depth::SevenOn,
        }
    }
}

/// Roots of a graph by class, those with the most work first. For cliques of five and more, the ones above all classes are
/// replaced by their arcs, and cut into parts where there is no room for that, since one of them can take
/// longer than all the rest.
pub(crate) struct Roots {
    pub(super) depth: Depth,
    /// The classes that the device has room for.
    pub(super) classes: Vec<ClassShape>,
    /// By class, and those above the largest at the end.
    pub(super) lists: Vec<List>,
    /// Maximum number of targets of a root.
    pub(super) span: usize,
    /// Work of each root, in element tests; of none where roots were weighed or are a share's.
    pub(super) tests: Vec<f32>,
    /// The arcs that these roots are, if they aren't the graph's.
    pub(super) arcs: Option<Arc<Arcs>>,
    /// Roots that lists lack, for cliques of seven vertices and more.
    pub(super) small: Option<SmallRoots>,
    /// Arcs of large roots, for cliques of one vertex less.
    pub(super) large: Option<Box<Roots>>,
    /// Fingerprint of the inputs on which several devices must agree to have the same tasks, computed on first use.
    pub(super) fingerprint: OnceLock<u64>,
}

/// A task: a root, and `part | parts << 16`.
pub(super) type Task = [u32; 2];

pub(super) struct List {
    pub(super) tasks: Vec<Task>,
    /// Work of each task, in element tests.
    pub(super) weights: Vec<f32>,
    /// Weights plus 1, for slices.
    pub(super) works: PrefixWork,
    pub(super) buffer: Buffer<Task>,
}

impl List {
    /// These tasks with their weights, those with the most first; in the same order where they are in it already.
    pub(super) fn new(place: &Place<'_>, tasks: Vec<(f32, Task)>) -> Result<Self> {
        let tasks = by_weight(tasks);
        let weights = tasks.iter().map(|t| t.0).collect();
        let works = PrefixWork::new(tasks.iter().map(|t| f64::from(t.0) + 1.0));
        let tasks: Vec<Task> = tasks.into_iter().map(|t| t.1).collect();
        let buffer = Buffer::of(place, &tasks, "tasks")?;
        Ok(List { tasks, weights, works, buffer })
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
pub(super) const WHOLE: u32 = 1 << 16;
/// Parts of large roots for each compute unit, about.
pub(super) const PARTS_EACH: usize = 8;

/// Roots above all classes, cut so that no part is a large share of their total work. A part makes the rows of its
/// root again, so that there aren't more of them than fill the device. Weights are element tests, and what follows
/// the tests grows with the targets, too.
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
pub(super) fn most_parts(targets: usize) -> u32 {
    (targets * (targets - 1) / 2 / 64).clamp(1, u16::MAX.into()) as u32
}

impl Roots {
    /// Returns the same classes and rows, without tasks.
    pub(super) fn without_lists(&self) -> Self {
        let (depth, classes) = (self.depth, self.classes.clone());
        let (span, arcs) = (self.span, self.arcs.clone());
        Roots {
            depth,
            classes,
            lists: vec![],
            span,
            tests: vec![],
            arcs,
            small: None,
            large: None,
            fingerprint: OnceLock::new(),
        }
    }

    /// All roots with at least two targets.
    pub fn new(graph: &Resident, depth: Depth) -> Result<Self> {
        let (device, by) = (&graph.device, &graph.by);
        let shapes = match (device.classes.as_slice(), depth) {
            ([], Depth::UpToFour) => &SHALLOW,
            ([], Depth::FiveAndSix | Depth::SevenOn) => &DEEP,
            (own, _) => own,
        };
        let mut classes: Vec<ClassShape> = shapes
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
        for (root, work) in all.iter_mut().enumerate() {
            let targets = by.out_degree(root) as usize;
            if targets < 2 {
                continue;
            }
            let tests: u64 =
                by.targets(root).iter().map(|&t| u64::from(by.out_degree(t as usize))).sum();
            *work = tests as f32;
        }
        let (number, arcs) = classes_in_use(graph, depth, &classes)?;
        classes.truncate(number);
        let found = (0..by.vertices() as u32).filter(|&r| by.out_degree(r as usize) >= 2);
        let mut roots = Roots::of(
            graph,
            depth,
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

    /// Roots with the size of the cliques that they count where these roots count cliques of `k`: the arcs of large
    /// roots, whose cliques have a vertex less, come first.
    pub(super) fn with_large(&self, k: usize) -> Vec<(&Roots, usize)> {
        let large = self.large.as_deref().map(|large| (large, k - 1));
        large.into_iter().chain([(self, k)]).collect()
    }

    /// The work of all tasks, in element tests.
    pub fn work(&self) -> f64 {
        self.lists.iter().map(|list| list.works.total()).sum()
    }

    /// Every n-th task of each list, from one of its first ones on; large roots have their own.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub(super) fn every(&self, graph: &Resident, (from, step): (usize, usize)) -> Result<Self> {
        let place = graph.device.place();
        let some = |list: &List| {
            let tasks = list.weights.iter().copied().zip(list.tasks.iter().copied());
            List::new(&place, tasks.skip(from).step_by(step).collect())
        };
        let lists = self.lists.iter().map(some).collect::<Result<_>>()?;
        let small = self.small.as_ref().map(|all| all.every(&place, (from, step))).transpose()?;
        Ok(Roots { lists, small, ..self.without_lists() })
    }

    /// All tasks, by list.
    pub(super) fn all(&self) -> Vec<Range<usize>> {
        self.lists.iter().map(|list| 0..list.tasks.len()).collect()
    }

    /// Roots with their weights, in classes; without those above all classes if `replaced`.
    fn of(
        graph: &Resident,
        depth: Depth,
        classes: Vec<ClassShape>,
        arcs: Option<Arc<Arcs>>,
        roots: impl Iterator<Item = (u32, f32)>,
        replaced: bool,
    ) -> Result<Self> {
        let targets = |root: u32| targets_of(graph, arcs.as_deref(), root);
        let mut tasks = vec![vec![]; classes.len() + 1];
        let by_pivots = depth == Depth::SevenOn && graph.device.pivots != Some(false);
        let (mut span, mut small) = (0, vec![]);
        for (root, tests) in roots {
            let own = targets(root);
            if by_pivots && own <= MOST_TARGETS {
                span = span.max(own);
                small.push(SmallRoot { root, targets: own as u32, tests });
                continue;
            }
            let at = class_of(&classes, own);
            if at < classes.len() || !replaced {
                span = span.max(own);
                tasks[at].push((tests, [root, WHOLE]));
            }
        }
        if let Some(large) = tasks.last_mut().filter(|_| depth != Depth::UpToFour) {
            *large = cut(graph, targets, std::mem::take(large));
        }
        let place = graph.device.place();
        let list = |tasks| List::new(&place, tasks);
        let lists = tasks.into_iter().map(list).collect::<Result<_>>()?;
        let small = by_pivots.then(|| SmallRoots::new(&place, small)).transpose()?;
        Ok(Roots {
            depth,
            classes,
            lists,
            span,
            tests: vec![],
            arcs,
            small,
            large: None,
            fingerprint: OnceLock::new(),
        })
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
        Roots::of(graph, self.depth, self.classes.clone(), Some(arcs), weighed, false)
    }

    /// Roots of a share.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub fn of_share(&self, graph: &Resident, share: &RootSelection) -> Result<Self> {
        let large = self.large.as_ref().and_then(|large| large.arcs.clone());
        let found = share.roots.iter().copied().filter(|&r| graph.by.out_degree(r as usize) >= 2);
        let weighed = found.map(|root| (root, self.tests[root as usize]));
        let classes = self.classes.clone();
        let mut roots = Roots::of(graph, self.depth, classes, None, weighed, large.is_some())?;
        if let Some(arcs) = large {
            let which =
                share.roots.iter().filter_map(|root| arcs.of_root.get(root).cloned()).flatten();
            roots.large = Some(Box::new(self.of_arcs(graph, arcs.clone(), which)?));
        }
        Ok(roots)
    }

    /// The rows of the graph in which these roots are.
    pub(super) fn rows<'a>(&'a self, graph: &'a Resident) -> &'a Rows {
        self.arcs.as_ref().map_or(&graph.oriented, |arcs| &arcs.rows)
    }

    /// Targets of one of these roots.
    pub(super) fn targets(&self, graph: &Resident, root: u32) -> usize {
        targets_of(graph, self.arcs.as_deref(), root)
    }
}

/// How many of the classes are used, the smallest first, and the arcs of the roots above them.
///
/// # Errors
/// [`gramer_base::Error::Device`], [`gramer_base::Error::Interrupted`].
fn classes_in_use(
    graph: &Resident,
    depth: Depth,
    classes: &[ClassShape],
) -> Result<(usize, Option<Arcs>)> {
    let (device, by) = (&graph.device, &graph.by);
    let most = |number: usize| number.checked_sub(1).map_or(1, |last| 32 * classes[last].words);
    let above = |number: usize| -> Vec<u32> {
        let targets = |root: u32| by.out_degree(root as usize) as usize;
        (0..by.vertices() as u32).filter(|&root| targets(root) > most(number)).collect()
    };
    // While walks of few roots run, most of the device is idle: their arcs are in a smaller class.
    if depth == Depth::SevenOn && device.classes.is_empty() {
        for number in 1..classes.len() {
            let large = above(number);
            if large.is_empty() {
                return Ok((number, None));
            }
            if large.len() < device.limits.units
                && let Some(arcs) = Arcs::new(graph, &large)?
                && arcs.sizes.iter().all(|&size| size as usize <= most(number))
            {
                return Ok((number, Some(arcs)));
            }
        }
    }
    let number = classes.len();
    let arcs = if depth == Depth::UpToFour { None } else { Arcs::new(graph, &above(number))? };
    Ok((number, arcs))
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
}

//! The search: one thread's walk along a plan.

use std::ops::{ControlFlow, Range};

use crate::Sink;
use gramer_graph::VertexId;
use gramer_graph::context::Cancel;
use gramer_pattern::plan::search::{
    CandidateSet, Formula, Partitions, SearchPlan, Source, Step, Then, bits,
};
use gramer_pattern::{MAX_VERTICES, Pattern, VertexSet};

use super::occurrence::Representative;
use super::sets;
use super::space::Space;

/// Elements visited between two looks at the stop flag.
const PATIENCE: usize = 1 << 14;
/// Entries of a table of known numbers.
const MEMO_ENTRIES: usize = 1 << 13;
/// Lookups after which a table without use is given up.
const MEMO_TRIAL: u32 = 1 << 12;

/// The result of a part of the search.
#[derive(Debug, Clone, Copy)]
struct Conclusion {
    /// Number of mappings.
    count: u128,
    /// If there are none: vertices whose images rule all mappings out, as bits. While none of
    /// them changes its image, nothing is found here (the failing sets of Han et al., 2019,
    /// and conflict-directed back-jumping before them).
    reasons: VertexSet,
}

/// No conclusion for the vertices above.
const ALL: VertexSet = VertexSet::MAX;

impl Conclusion {
    fn none(reasons: VertexSet) -> Self {
        Conclusion { count: 0, reasons }
    }

    fn some(count: u128) -> Self {
        Conclusion { count, reasons: ALL }
    }
}

/// A table of numbers that were found before, direct-mapped.
#[derive(Default)]
struct Memo {
    entries: Vec<(u64, u128)>,
    lookups: u32,
    hits: u32,
    given_up: bool,
}

/// Never a key: positions are below 2^32 − 1.
const NO_KEY: u64 = u64::MAX;

impl Memo {
    fn place(key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % MEMO_ENTRIES
    }

    fn get(&mut self, key: u64) -> Option<u128> {
        if self.given_up {
            return None;
        }
        if self.entries.is_empty() {
            self.entries.resize(MEMO_ENTRIES, (NO_KEY, 0));
        }
        self.lookups += 1;
        let entry = self.entries[Self::place(key)];
        if entry.0 == key {
            self.hits += 1;
            return Some(entry.1);
        }
        if self.lookups == MEMO_TRIAL && self.hits < MEMO_TRIAL / 16 {
            self.given_up = true;
            self.entries = vec![];
        }
        None
    }

    fn put(&mut self, key: u64, count: u128) {
        if !self.given_up {
            self.entries[Self::place(key)] = (key, count);
        }
    }
}

/// A filled set: where its elements are.
#[derive(Debug, Clone, Copy, Default)]
struct Filled {
    /// Of a borrowed set: the candidate whose list it is.
    of: u32,
    len: usize,
}

/// One thread's state.
pub(super) struct Search<'a> {
    plan: &'a SearchPlan,
    space: &'a Space<'a>,
    /// Number of the lists of each set of the plan that has a list.
    lists: &'a [Option<usize>],
    pattern: &'a Pattern,
    sink: Option<&'a dyn Sink>,
    representative: Option<&'a Representative<'a>>,
    cancel: &'a Cancel,
    /// By pattern vertex: position in its class, and graph vertex.
    positions: [u32; MAX_VERTICES],
    images: [VertexId; MAX_VERTICES],
    filled: Vec<Filled>,
    buffers: Vec<Vec<u32>>,
    blocks: Vec<Vec<u32>>,
    scratch: Vec<u32>,
    memos: Vec<Memo>,
    patience: usize,
    stopped: bool,
    /// Mappings found, and whether they became more than 128 bits hold.
    pub count: u128,
    pub overflow: bool,
}

impl<'a> Search<'a> {
    pub fn new(
        plan: &'a SearchPlan,
        space: &'a Space<'a>,
        lists: &'a [Option<usize>],
        pattern: &'a Pattern,
        sink: Option<&'a dyn Sink>,
        representative: Option<&'a Representative<'a>>,
        cancel: &'a Cancel,
    ) -> Self {
        Search {
            plan,
            space,
            lists,
            pattern,
            sink,
            representative,
            cancel,
            positions: [0; MAX_VERTICES],
            images: [0; MAX_VERTICES],
            filled: vec![Filled::default(); plan.sets.len()],
            buffers: plan.sets.iter().map(|_| vec![]).collect(),
            blocks: vec![],
            scratch: vec![],
            memos: (0..pattern.vertices()).map(|_| Memo::default()).collect(),
            patience: PATIENCE,
            stopped: false,
            count: 0,
            overflow: false,
        }
    }

    /// Searches below candidate `start` of the first vertex, and of the last step after it only
    /// the positions `part` of its list.
    pub fn unit(&mut self, start: u32, part: Range<u32>) -> ControlFlow<()> {
        let root = &self.plan.steps[0];
        self.positions[root.vertex] = start;
        self.images[root.vertex] = self.space.id(root.class, start);
        let found = self.below(root, Some(part));
        self.add(found.count);
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn add(&mut self, count: u128) {
        match self.count.checked_add(count) {
            Some(sum) => self.count = sum,
            None => self.overflow = true,
        }
    }

    /// Notes the cost of some work; now and then looks at the stop flag.
    #[inline]
    fn spend(&mut self, elements: usize) {
        if self.patience <= elements {
            self.patience = PATIENCE;
            self.stopped |= self.cancel.is_cancelled();
        } else {
            self.patience -= elements;
        }
    }

    /// The vertex from whose image a set's list leads, and the number of the lists.
    #[inline]
    fn list(&self, set: usize) -> Option<(usize, usize)> {
        Some((self.plan.sets[set].list?.of, self.lists[set]?))
    }

    /// The elements of a filled set.
    #[inline]
    fn set(&self, set: usize) -> &[u32] {
        let filled = self.filled[set];
        let set = match self.lists[set] {
            Some(lists) if self.plan.sets[set].borrowed() => self.space.lists(lists).of(filled.of),
            _ => &self.buffers[set],
        };
        &set[..filled.len]
    }

    /// `set` without what the conditions `bounds` rule out.
    #[inline]
    fn within<'s>(&self, mut set: &'s [u32], bounds: VertexSet) -> &'s [u32] {
        for u in bits(bounds) {
            set = sets::below(set, self.positions[u]);
        }
        set
    }

    /// The candidates of a source, conflicts included.
    #[inline]
    fn candidates(&self, source: &Source) -> &[u32] {
        self.within(self.set(source.set), source.bounds)
    }

    /// Fills a set and says whether anything is in it.
    fn fill(&mut self, number: usize, set: &CandidateSet) -> bool {
        if set.borrowed() {
            let (u, lists) = self.list(number).expect("a set begins with a list");
            let of = self.positions[u];
            let len = self.within(self.space.lists(lists).of(of), set.bounds).len();
            self.filled[number] = Filled { of, len };
            return len > 0;
        }
        let mut out = std::mem::take(&mut self.buffers[number]);
        let mut work = 1;
        match (set.parent, self.list(number)) {
            (Some(parent), Some((u, lists))) => {
                let a = self.within(self.set(parent), set.bounds);
                let b = self.within(self.space.lists(lists).of(self.positions[u]), set.bounds);
                work += a.len().min(b.len());
                sets::intersect(a, b, &mut out);
            }
            (Some(parent), None) => {
                out.clear();
                out.extend_from_slice(self.within(self.set(parent), set.bounds));
            }
            (None, Some((u, lists))) => {
                let list = self.space.lists(lists).of(self.positions[u]);
                out.clear();
                out.extend_from_slice(self.within(list, set.bounds));
            }
            (None, None) => unreachable!("a set begins with a list"),
        }
        for &u in &set.subtract {
            work += out.len();
            let row = self.space.graph.neighbours(self.images[u]);
            if self.space.is_every_vertex(set.class) {
                sets::difference(&out, row, &mut self.scratch);
                std::mem::swap(&mut out, &mut self.scratch);
            } else {
                sets::subtract(&mut out, row, |p| self.space.id(set.class, p));
            }
        }
        self.spend(work);
        self.filled[number].len = out.len();
        self.buffers[number] = out;
        self.filled[number].len > 0
    }

    /// Everything below a step whose vertex has its image. `part` restricts the last step that
    /// follows to these positions of its list.
    fn below(&mut self, step: &'a Step, part: Option<Range<u32>>) -> Conclusion {
        for &number in &step.sets {
            let set = &self.plan.sets[number];
            if !self.fill(number, set) {
                return Conclusion::none(set.reasons);
            }
        }
        let mut product = 1u128;
        for (i, then) in step.then.iter().enumerate() {
            let found = match then {
                Then::Step(next) => {
                    let last = i + 1 == step.then.len();
                    self.step(&self.plan.steps[*next], part.clone().filter(|_| last))
                }
                Then::Formula(formula) => self.formula(formula),
                Then::Emit => self.emit(),
            };
            if found.count == 0 {
                return found;
            }
            match product.checked_mul(found.count) {
                Some(p) => product = p,
                None => self.overflow = true,
            }
        }
        Conclusion::some(product)
    }

    /// Tries all candidates of a step's vertex, or those at the positions `part` of its list.
    fn step(&mut self, step: &'a Step, part: Option<Range<u32>>) -> Conclusion {
        let key = match &step.memo {
            Some(deciding) if part.is_none() => {
                let key = deciding.iter().fold(0, |k, &u| k << 32 | u64::from(self.positions[u]));
                let memo = &mut self.memos[step.vertex];
                if let Some(count) = memo.get(key) {
                    let reasons = deciding.iter().fold(0, |m, &u| m | 1 << u);
                    return if count == 0 {
                        Conclusion::none(reasons)
                    } else {
                        Conclusion::some(count)
                    };
                }
                Some(key)
            }
            _ => None,
        };
        let found = self.try_all(step, part);
        if let (Some(key), false) = (key, self.stopped) {
            self.memos[step.vertex].put(key, found.count);
        }
        found
    }

    fn try_all(&mut self, step: &'a Step, part: Option<Range<u32>>) -> Conclusion {
        let source = step.source.as_ref().expect("only the root has none");
        let v = step.vertex;
        let len = self.candidates(source).len();
        let range = match part {
            None => 0..len,
            Some(part) => part.start as usize..len.min(part.end as usize),
        };
        let mut count = 0u128;
        let mut reasons = source.reasons;
        for i in range {
            let position = self.set(source.set)[i];
            let image = self.space.id(step.class, position);
            if source.conflicts.iter().any(|&u| self.images[u] == image) {
                continue;
            }
            self.positions[v] = position;
            self.images[v] = image;
            let found = self.below(step, None);
            self.spend(1);
            if found.count > 0 {
                match count.checked_add(found.count) {
                    Some(sum) => count = sum,
                    None => self.overflow = true,
                }
            } else if found.reasons >> v & 1 == 0 {
                // Whatever the image of v, the others rule a mapping out.
                return Conclusion { count, reasons: if count == 0 { found.reasons } else { ALL } };
            } else {
                reasons |= found.reasons;
            }
            if self.stopped {
                return Conclusion { count, reasons: ALL };
            }
        }
        if count > 0 { Conclusion::some(count) } else { Conclusion::none(reasons & !(1 << v)) }
    }

    fn emit(&mut self) -> Conclusion {
        let mapping = &self.images[..self.pattern.vertices()];
        if self.representative.is_some_and(|r| !r.is_chosen(mapping)) {
            // Its occurrence is met elsewhere: no reason to go back.
            return Conclusion { count: 0, reasons: ALL };
        }
        if let Some(sink) = self.sink
            && sink.embedding(self.pattern, mapping).is_break()
        {
            self.stopped = true;
        }
        Conclusion::some(1)
    }

    /// The value of a formula.
    fn formula(&mut self, formula: &'a Formula) -> Conclusion {
        let (count, reasons) = match formula {
            Formula::One(source) => {
                let set = self.candidates(source);
                let used = self.used(source, |class, id| self.holds(set, class, id));
                ((set.len() - used) as u128, source.reasons)
            }
            Formula::Intersection(source) => {
                let set = &self.plan.sets[source.set];
                let (u, lists) = self.list(source.set).expect("an intersection has a list");
                let a = self.set(set.parent.expect("an intersection has a parent"));
                let a = self.within(a, set.bounds);
                let b = self.within(self.space.lists(lists).of(self.positions[u]), set.bounds);
                let size = sets::intersection_size(a, b);
                let used = self
                    .used(source, |class, id| self.holds(a, class, id) && self.holds(b, class, id));
                let work = a.len().min(b.len());
                self.spend(work);
                ((size - used) as u128, source.reasons)
            }
            Formula::Same { source, vertices, ordered } => {
                let set = self.candidates(source);
                let used = self.used(source, |class, id| self.holds(set, class, id));
                let free = (set.len() - used) as u128;
                let mut count = Some(1u128);
                for i in 0..*vertices as u128 {
                    count = match (free.checked_sub(i), count) {
                        (None | Some(0), _) => Some(0),
                        // C(free, i) · (free − i) is C(free, i + 1) · (i + 1).
                        (Some(f), Some(c)) => {
                            c.checked_mul(f).map(|c| if *ordered { c / (i + 1) } else { c })
                        }
                        (_, None) => None,
                    };
                }
                self.overflow |= count.is_none();
                (count.unwrap_or(u128::MAX), source.reasons)
            }
            Formula::Partitions(partitions) => {
                let reasons = partitions.sources.iter().fold(0, |m, s| m | s.reasons);
                (self.partitions(partitions), reasons)
            }
        };
        if count == 0 { Conclusion::none(reasons) } else { Conclusion::some(count) }
    }

    /// How many of the images that `source` must not use pass `holds`.
    fn used(&self, source: &Source, holds: impl Fn(u8, VertexId) -> bool) -> usize {
        let class = self.plan.sets[source.set].class;
        source.conflicts.iter().filter(|&&u| holds(class, self.images[u])).count()
    }

    /// Whether a set of positions of a class holds a graph vertex.
    #[inline]
    fn holds(&self, set: &[u32], class: u8, id: VertexId) -> bool {
        let (Some(&first), Some(&last)) = (set.first(), set.last()) else { return false };
        if id < self.space.id(class, first) || id > self.space.id(class, last) {
            return false;
        }
        set.binary_search_by_key(&id, |&p| self.space.id(class, p)).is_ok()
    }

    fn partitions(&mut self, partitions: &'a Partitions) -> u128 {
        let mut sizes = [0i128; 1 << 5];
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.resize(partitions.blocks.len().max(blocks.len()), vec![]);
        let mut work = 0;
        for (i, &block) in partitions.blocks.iter().enumerate() {
            // Sets become lists of ids without the images in use, so that they can be compared
            // whatever their classes.
            let low = block.trailing_zeros() as usize;
            let source = &partitions.sources[low];
            let class = self.plan.sets[source.set].class;
            let rest = block & (block - 1);
            let (made, next) = blocks.split_at_mut(i);
            let out = &mut next[0];
            if rest == 0 {
                out.clear();
                let set = self.candidates(source);
                work += set.len();
                out.extend(
                    set.iter()
                        .map(|&p| self.space.id(class, p))
                        .filter(|id| !source.conflicts.iter().any(|&u| self.images[u] == *id)),
                );
            } else {
                let at = |wanted: u16| {
                    partitions.blocks[..i].iter().position(|&b| b == wanted).expect("made before")
                };
                sets::intersect(&made[at(rest)], &made[at(block & !rest)], out);
                work += out.len();
            }
            sizes[i] = out.len() as i128;
        }
        self.blocks = blocks;
        self.spend(work);
        let mut sum = Some(0i128);
        for (coefficient, factors) in &partitions.terms {
            let term = factors
                .iter()
                .try_fold(i128::from(*coefficient), |term, &b| term.checked_mul(sizes[b]));
            sum = sum.zip(term).and_then(|(s, t)| s.checked_add(t));
        }
        match sum {
            Some(sum) => u128::try_from(sum).expect("a number of mappings"),
            None => {
                self.overflow = true;
                u128::MAX
            }
        }
    }
}

//! The search: one thread's walk along a plan.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use gramer_base::context::{Cancel, Context};
use gramer_engine::Sink;
use gramer_graph::VertexId;
use gramer_pattern::plan::search::{CandidateSet, NextStep, SearchPlan, Source, Step, bits};
use gramer_pattern::{MAX_VERTICES, Pattern, VertexSet};

use super::marks::Marks;
use super::memo::Memo;
use super::occurrence::Representative;
use super::sets;
use super::space::{Lists, Space};
use crate::number::Number;

/// Elements visited between two looks at the stop flag.
const PATIENCE: usize = 1 << 14;

/// A list is filtered by a row of bits unless it is longer than the row's own list by this factor.
pub(super) const LONGER: usize = 4;

/// Elements that a search may visit before another way is cheaper, for all of its threads together.
#[derive(Debug)]
pub(super) struct Allowance(AtomicI64);

impl Allowance {
    pub fn new(elements: f64) -> Self {
        Allowance(AtomicI64::new(elements as i64))
    }

    /// Whether more than it was visited.
    pub fn is_spent(&self) -> bool {
        self.0.load(Relaxed) < 0
    }

    fn spend(&self, elements: usize) {
        self.0.fetch_sub(elements as i64, Relaxed);
    }
}

/// The result of a part of the search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conclusion<N> {
    /// Number of mappings; the maximum of the type stands for more than it holds.
    pub count: N,
    /// If nothing was found: a failing set, as bits. While the images of its vertices stay the same, this branch has no
    /// mapping (failing sets of Han et al., 2019, after conflict-directed back-jumping).
    pub reasons: VertexSet,
}

/// No conclusion for the vertices above.
const ALL: VertexSet = VertexSet::MAX;

impl<N: Number> Conclusion<N> {
    pub fn none(reasons: VertexSet) -> Self {
        Conclusion { count: N::ZERO, reasons }
    }

    pub fn some(count: N) -> Self {
        Conclusion { count, reasons: ALL }
    }
}

/// A filled set: where its elements are.
#[derive(Debug, Clone, Copy, Default)]
struct SetRange {
    /// Of a borrowed set: the candidate whose list it is.
    of: u32,
    len: usize,
}

/// Properties of a plan's set, computed before the search.
pub(super) struct Access<'a> {
    /// The lists of the set, with the vertex from whose image they lead.
    pub list: Option<(usize, &'a Lists<'a>)>,
    /// Whether the set is a part of a list.
    borrowed: bool,
    /// The vertices of the set's class, as bits.
    pub classmates: VertexSet,
    /// The vertices and lists in all of which a position must be that is in the set, where all of them
    /// have rows of bits; else the set must be searched.
    pub tests: Option<Vec<(usize, &'a Lists<'a>)>>,
}

impl<'a> Access<'a> {
    fn of_all(plan: &SearchPlan, space: &'a Space<'a>, lists: &[Option<usize>]) -> Vec<Self> {
        let mut all: Vec<Access<'a>> = vec![];
        for (number, set) in plan.sets.iter().enumerate() {
            let list = set.list.zip(lists[number]).map(|(l, lists)| (l.of, space.lists(lists)));
            // Parents come before the sets that narrow them down.
            let mut tests = match set.parent {
                Some(parent) => all[parent].tests.clone(),
                None => Some(vec![]),
            };
            if let Some((of, lists)) = list {
                match lists.has_rows() {
                    true => tests.iter_mut().for_each(|tests| tests.push((of, lists))),
                    false => tests = None,
                }
            }
            let classmates = (0..plan.pattern.vertices())
                .filter(|&v| space.class_of(v) == set.class)
                .fold(0, |mates, v| mates | 1 << v);
            let tests = tests.filter(|_| set.subtract.is_empty());
            all.push(Access { list, borrowed: set.borrowed(), classmates, tests });
        }
        all
    }
}

/// One thread's state.
pub(super) struct Search<'a, N> {
    pub(super) plan: &'a SearchPlan,
    pub(super) space: &'a Space<'a>,
    /// By set of the plan.
    pub(super) access: Vec<Access<'a>>,
    pattern: &'a Pattern,
    sink: Option<&'a dyn Sink>,
    representative: Option<&'a Representative<'a>>,
    cancel: &'a Cancel,
    allowance: Option<&'a Allowance>,
    /// By pattern vertex: the number of mappings below its step at which the search may end. All other parts of the
    /// pattern were found where the step is the last one of each step above.
    enough: Vec<N>,
    /// By pattern vertex: position in its class, and graph vertex.
    pub(super) positions: [u32; MAX_VERTICES],
    pub(super) images: [VertexId; MAX_VERTICES],
    /// The images in use, where the plan has many comparisons with them.
    pub(super) marks: Marks,
    filled: Vec<SetRange>,
    buffers: Vec<Vec<u32>>,
    pub(super) blocks: Vec<Vec<u32>>,
    scratch: Vec<u32>,
    memos: Vec<Memo<N>>,
    /// By pattern vertex: how many bits the positions of its candidates have.
    pub(super) widths: Vec<u32>,
    patience: usize,
    looks: u64,
    stopped: bool,
    /// Mappings found; the maximum of the type stands for more than it holds, and ends the search.
    pub count: N,
}

impl<'a, N: Number> Search<'a, N> {
    pub fn new(
        plan: &'a SearchPlan,
        space: &'a Space<'a>,
        lists: &[Option<usize>],
        pattern: &'a Pattern,
        sink: Option<&'a dyn Sink>,
        representative: Option<&'a Representative<'a>>,
        context: &'a Context,
    ) -> Self {
        let width = |v| usize::BITS - space.candidates(v).leading_zeros();
        Search {
            plan,
            space,
            access: Access::of_all(plan, space, lists),
            pattern,
            sink,
            representative,
            cancel: &context.cancel,
            allowance: None,
            enough: vec![N::MAX; pattern.vertices()],
            positions: [0; MAX_VERTICES],
            images: [0; MAX_VERTICES],
            marks: Marks::new(plan, space.graph.vertices(), context.budget.is_some()),
            filled: vec![SetRange::default(); plan.sets.len()],
            buffers: plan.sets.iter().map(|_| vec![]).collect(),
            blocks: vec![],
            scratch: vec![],
            memos: (0..pattern.vertices()).map(|_| Memo::new(context.budget.is_some())).collect(),
            widths: (0..pattern.vertices()).map(width).collect(),
            patience: PATIENCE,
            looks: 0,
            stopped: false,
            count: N::ZERO,
        }
    }

    /// Ends the search once an allowance is spent.
    pub fn allowed(mut self, allowance: Option<&'a Allowance>) -> Self {
        self.allowance = allowance;
        self
    }

    /// Sets the number of mappings at which the search ends.
    pub fn until(mut self, enough: N) -> Self {
        let mut step = Some(0);
        while let Some(at) = step {
            self.enough[self.plan.steps[at].vertex] = enough;
            step = match self.plan.steps[at].then.last() {
                Some(NextStep::Step(next)) => Some(*next),
                _ => None,
            };
        }
        self
    }

    /// About how many elements of sets were visited.
    pub fn visited(&self) -> u64 {
        self.looks * PATIENCE as u64 + (PATIENCE - self.patience) as u64
    }

    /// Searches below candidate `start` of the first vertex, and of the last step after it only
    /// the positions `part` of its list.
    pub fn unit(&mut self, start: u32, part: Range<u32>) -> ControlFlow<()> {
        let root = &self.plan.steps[0];
        self.positions[root.vertex] = start;
        self.images[root.vertex] = self.space.id(root.class, start);
        self.marks.insert(self.images[root.vertex]);
        let found = self.below(root, Some(part));
        self.marks.remove(self.images[root.vertex]);
        self.count = self.count.saturating_add(found.count);
        match self.stopped || self.count >= self.enough[root.vertex] {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Notes the cost of some work; now and then looks at the stop flag.
    #[inline]
    pub(super) fn spend(&mut self, elements: usize) {
        if self.patience <= elements {
            self.patience = PATIENCE;
            self.looks += 1;
            self.stopped |= self.cancel.is_cancelled();
            if let Some(allowance) = self.allowance {
                allowance.spend(PATIENCE);
                self.stopped |= allowance.is_spent();
            }
        } else {
            self.patience -= elements;
        }
    }

    /// The elements of a filled set.
    #[inline]
    pub(super) fn set(&self, set: usize) -> &[u32] {
        let filled = self.filled[set];
        match self.access[set] {
            Access { borrowed: true, list: Some((_, lists)), .. } => {
                &lists.of(filled.of)[..filled.len]
            }
            _ => &self.buffers[set][..filled.len],
        }
    }

    /// Returns the set if it is part of a list, with the lifetime of the lists.
    #[inline]
    fn borrowed(&self, set: usize) -> Option<&'a [u32]> {
        match self.access[set] {
            Access { borrowed: true, list: Some((_, lists)), .. } => {
                let filled = self.filled[set];
                Some(&lists.of(filled.of)[..filled.len])
            }
            _ => None,
        }
    }

    /// `set` without what the conditions `bounds` rule out.
    #[inline]
    pub(super) fn within<'s>(&self, mut set: &'s [u32], bounds: VertexSet) -> &'s [u32] {
        for u in bits(bounds) {
            set = sets::below(set, self.positions[u]);
        }
        set
    }

    /// The candidates of a source, conflicts included.
    #[inline]
    pub(super) fn candidates(&self, source: &Source) -> &[u32] {
        self.within(self.set(source.set), source.bounds)
    }

    /// Fills a set and says whether anything is in it.
    fn fill(&mut self, number: usize, set: &CandidateSet) -> bool {
        if let Access { borrowed: true, list: Some((u, lists)), .. } = self.access[number] {
            let of = self.positions[u];
            let len = self.within(lists.of(of), set.bounds).len();
            self.filled[number] = SetRange { of, len };
            return len > 0;
        }
        let mut out = std::mem::take(&mut self.buffers[number]);
        let mut work = 1;
        match (set.parent, self.access[number].list) {
            (Some(parent), Some((u, lists))) => {
                let a = self.within(self.set(parent), set.bounds);
                let b = lists.of(self.positions[u]);
                work += a.len().min(b.len());
                match lists.row(self.positions[u]) {
                    Some(row) if a.len() <= LONGER * b.len() => row.intersect(a, &mut out),
                    _ => sets::intersect(a, self.within(b, set.bounds), &mut out),
                }
            }
            (Some(parent), None) => {
                out.clear();
                out.extend_from_slice(self.within(self.set(parent), set.bounds));
            }
            (None, Some((u, lists))) => {
                let list = lists.of(self.positions[u]);
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

    /// The vertices whose images are the elements of a set, if all of it is in use: as bits, perhaps with others that have
    /// no image yet.
    #[inline]
    fn users_of_all(&self, number: usize) -> Option<VertexSet> {
        let class = self.plan.sets[number].class;
        let set = self.set(number);
        if set.iter().any(|&p| !self.marks.has(self.space.id(class, p))) {
            return None;
        }
        let images = &self.images[..self.pattern.vertices()];
        let users = |image| (0..).zip(images).filter(move |&(_, &used)| used == image);
        let ids = set.iter().map(|&p| self.space.id(class, p));
        Some(ids.flat_map(users).fold(0, |all, (u, _): (u32, _)| all | 1 << u))
    }

    /// Searches below a step whose vertex has its image. `part` restricts the last step that
    /// follows to these positions of its list.
    fn below(&mut self, step: &'a Step, part: Option<Range<u32>>) -> Conclusion<N> {
        for &number in &step.sets {
            let set = &self.plan.sets[number];
            if !self.fill(number, set) {
                return Conclusion::none(set.reasons);
            }
            if self.marks.are_kept()
                && let Some(users) = self.users_of_all(number)
            {
                return Conclusion::none(set.reasons | users);
            }
        }
        let mut product = N::ONE;
        for (i, then) in step.then.iter().enumerate() {
            let found = match then {
                NextStep::Step(next) => {
                    let last = i + 1 == step.then.len();
                    self.step(&self.plan.steps[*next], part.clone().filter(|_| last))
                }
                NextStep::Formula(formula) => self.formula(formula),
                NextStep::Emit => self.emit(),
            };
            if found.count == N::ZERO {
                return found;
            }
            product = product.saturating_mul(found.count);
        }
        Conclusion::some(product)
    }

    /// Whether the positions of these vertices are a key of a [`Memo`].
    #[inline]
    pub(super) fn fits(&self, deciding: &[usize]) -> bool {
        deciding.len() <= 2 || deciding.iter().map(|&u| self.widths[u]).sum::<u32>() < u128::BITS
    }

    /// Tries all candidates of a step's vertex, or those at the positions `part` of its list.
    fn step(&mut self, step: &'a Step, part: Option<Range<u32>>) -> Conclusion<N> {
        let key = match &step.memo {
            Some(deciding) if part.is_none() && self.fits(deciding) => {
                let append =
                    |key, &u: &usize| key << self.widths[u] | u128::from(self.positions[u]);
                let key = deciding.iter().fold(0, append);
                let memo = &mut self.memos[step.vertex];
                if let Some(count) = memo.get(key) {
                    let reasons = deciding.iter().fold(0, |m, &u| m | 1 << u);
                    return if count == N::ZERO {
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

    fn try_all(&mut self, step: &'a Step, part: Option<Range<u32>>) -> Conclusion<N> {
        let source = step.source.as_ref().expect("only the root has none");
        let len = self.candidates(source).len();
        let range = match part {
            None => 0..len,
            Some(part) => part.start as usize..len.min(part.end as usize),
        };
        if !source.edges.is_empty() {
            return self.try_apart(step, source, range);
        }
        if self.marks.are_kept() {
            return self.try_each(step, source, range, |search, image| search.marks.has(image));
        }
        self.try_each(step, source, range, |search, image| {
            source.conflicts.iter().any(|&u| search.images[u] == image)
        })
    }

    /// Tries the candidates in a range, but those whose image is `taken`.
    #[inline(always)]
    pub(super) fn try_each(
        &mut self,
        step: &'a Step,
        source: &'a Source,
        range: Range<usize>,
        taken: impl Fn(&Self, VertexId) -> bool,
    ) -> Conclusion<N> {
        let v = step.vertex;
        let borrowed = self.borrowed(source.set);
        let mut count = N::ZERO;
        let mut reasons = source.reasons;
        let enough = self.enough[v];
        for i in range {
            let position = match borrowed {
                Some(list) => list[i],
                None => self.buffers[source.set][i],
            };
            let image = self.space.id(step.class, position);
            if taken(self, image) {
                continue;
            }
            self.positions[v] = position;
            self.images[v] = image;
            self.marks.insert(image);
            let found = self.below(step, None);
            self.marks.remove(image);
            self.spend(1);
            if found.count != N::ZERO {
                count = count.saturating_add(found.count);
                self.stopped |= count >= enough;
            } else if found.reasons >> v & 1 == 0 {
                // Whatever the image of v, the others rule a mapping out.
                let reasons = if count == N::ZERO { found.reasons } else { ALL };
                return Conclusion { count, reasons };
            } else {
                reasons |= found.reasons;
            }
            if self.stopped {
                return Conclusion { count, reasons: ALL };
            }
        }
        if count != N::ZERO {
            Conclusion::some(count)
        } else {
            Conclusion::none(reasons & !(1 << v))
        }
    }

    fn emit(&mut self) -> Conclusion<N> {
        let mapping = &self.images[..self.pattern.vertices()];
        if self.representative.is_some_and(|r| !r.is_chosen(mapping)) {
            // Its occurrence is met elsewhere: no reason to go back.
            return Conclusion { count: N::ZERO, reasons: ALL };
        }
        if let Some(sink) = self.sink
            && sink.embedding(self.pattern, mapping).is_break()
        {
            self.stopped = true;
        }
        Conclusion::some(N::ONE)
    }
}

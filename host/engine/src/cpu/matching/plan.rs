//! The plan of a search: a tree of steps, each of which maps one pattern vertex.
//!
//! Whenever the vertices that are left fall into parts that don't depend on each other — no
//! pattern edge, no shared candidate, no condition between them — the numbers of ways to map the
//! parts are multiplied rather than listed together. Parts without an edge inside are closed by a
//! formula. A plan that must hand over every embedding has neither: it is a chain.

use gramer_pattern::plan::matching_order::Estimates;
use gramer_pattern::plan::symmetry::Restrictions;
use gramer_pattern::{MAX_VERTICES, Pattern};

use super::bits;
use super::space::Space;

/// Most vertices with different candidates that one formula counts: 52 partitions.
const FORMULA_VERTICES: usize = 5;

/// A set of candidates that is made once a certain vertex has its image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub class: u8,
    /// The slot that this one narrows down.
    pub parent: Option<usize>,
    /// The vertex whose image was just set, and the lists that lead from it to `class`.
    pub list: Option<(usize, usize)>,
    /// Vertices whose images' neighbours are taken out (vertex-induced).
    pub subtract: Vec<usize>,
    /// Vertices, all of `class`, whose images are larger than what is kept.
    pub bounds: u16,
    /// All vertices on whose images the set depends.
    pub reasons: u16,
}

impl Slot {
    /// Whether the set is a part of a list, so that it needs no space of its own.
    pub fn borrowed(&self) -> bool {
        self.parent.is_none() && self.subtract.is_empty()
    }
}

/// Where a vertex finds its candidates once its turn comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub slot: usize,
    /// Conditions that the slot doesn't know yet.
    pub bounds: u16,
    /// Vertices placed before that may have a candidate as their image.
    pub conflicts: Vec<usize>,
    /// All vertices on whose images the number of candidates depends.
    pub reasons: u16,
}

/// One vertex of the pattern gets its image.
#[derive(Debug)]
pub(super) struct Step {
    pub vertex: usize,
    pub class: u8,
    /// `None` at the root, which takes all candidates of its class.
    pub source: Option<Source>,
    /// The slots to fill once the vertex has an image, in order.
    pub slots: Vec<usize>,
    /// The parts whose numbers are multiplied.
    pub then: Vec<Then>,
    /// If the number of mappings below depends only on the images of these (at most two of the
    /// vertices placed before): the key under which it is kept.
    pub memo: Option<Vec<usize>>,
}

/// What comes after a step.
#[derive(Debug)]
pub(super) enum Then {
    /// Another step, by number.
    Step(usize),
    /// A formula.
    Close(Close),
    /// All vertices have their images.
    Emit,
}

/// The number of ways to map vertices without edges between them.
#[derive(Debug)]
pub(super) enum Close {
    /// One vertex: the size of its set.
    One(Source),
    /// One vertex, whose set is the intersection of a slot with the list of the vertex just
    /// mapped and is needed only here: it is measured, not made.
    Intersection(Source),
    /// Vertices with the same candidates: an arrangement, or a choice if conditions fix their
    /// order.
    Same { source: Source, vertices: usize, ordered: bool },
    /// Vertices whose candidates differ but may coincide: inclusion and exclusion over the
    /// partitions of the vertices.
    Partitions(Partitions),
}

/// Inclusion and exclusion: the number of injective choices from sets S_1 … S_k is the sum over
/// the partitions of {1 … k} of the product over the blocks B of
/// (−1)^(|B|−1) (|B|−1)! |⋂ S_i, i ∈ B|.
#[derive(Debug)]
pub(super) struct Partitions {
    /// The different sets.
    pub sources: Vec<Source>,
    /// The intersections needed, as bits of `sources`, each after the one that lacks its lowest
    /// source.
    pub blocks: Vec<u16>,
    /// A coefficient, and the indices in `blocks` of the factors.
    pub terms: Vec<(i64, Vec<usize>)>,
}

/// A plan.
#[derive(Debug)]
pub(super) struct Plan {
    /// The root first.
    pub steps: Vec<Step>,
    pub slots: Vec<Slot>,
    /// How many mappings each counted one stands for.
    pub factor: u128,
    /// Estimated cost, in elements visited.
    pub cost: f64,
}

/// Whether the vertices outside `placed` can all be counted by formulas, conditions apart.
pub(super) fn closed(pattern: &Pattern, space: &Space<'_>, induced: bool, placed: u16) -> bool {
    let n = pattern.vertices();
    let rest = ((1u32 << n) - 1) as u16 & !placed;
    if rest.count_ones() <= 1 {
        return true;
    }
    for v in bits(rest) {
        let hard = if induced { space.linked(v) } else { pattern.neighbours(v) };
        if hard & rest & !(1 << v) != 0 {
            return false;
        }
    }
    parts(rest, |v| space.overlap(v)).into_iter().all(|part| {
        let first = part.trailing_zeros() as usize;
        part.count_ones() as usize <= FORMULA_VERTICES
            || bits(part).all(|v| {
                pattern.neighbours(v) == pattern.neighbours(first)
                    && space.class(v) == space.class(first)
                    && bits(pattern.neighbours(v))
                        .all(|u| pattern.edge_label(u, v) == pattern.edge_label(u, first))
            })
    })
}

/// The connected parts of `set` under a symmetric relation given as bits.
fn parts(set: u16, related: impl Fn(usize) -> u16) -> Vec<u16> {
    let mut parts = vec![];
    let mut left = set;
    while left != 0 {
        let mut part = 1u16 << left.trailing_zeros();
        loop {
            let grown = bits(part).fold(part, |m, v| m | related(v) & set);
            if grown == part {
                break;
            }
            part = grown;
        }
        left &= !part;
        parts.push(part);
    }
    parts
}

/// Makes plans.
pub(super) struct Planner<'a> {
    pub pattern: &'a Pattern,
    pub space: &'a Space<'a>,
    pub estimates: &'a Estimates,
    pub induced: bool,
    /// Number of the lists of each directed pattern edge.
    pub lists: &'a dyn Fn(usize, usize) -> usize,
}

impl Planner<'_> {
    /// A chain that emits every mapping, or a tree that counts.
    pub fn plan(&self, order: &[usize], restrictions: &Restrictions, emit: bool) -> Plan {
        let mut growth = Growth {
            planner: self,
            order,
            below: &restrictions.below,
            emit,
            steps: vec![],
            slots: vec![],
            cost: 0.0,
        };
        let n = self.pattern.vertices();
        let root = order[0];
        let rest = ((1u32 << n) - 1) as u16 & !(1 << root);
        growth.step(root, rest, 0, &[None; MAX_VERTICES], 1.0);
        let Growth { mut steps, slots, cost, .. } = growth;
        measure_instead_of_making(&mut steps, &slots);
        Plan { steps, slots, factor: restrictions.factor, cost }
    }
}

/// Slots that only one [`Close::One`] right after their making looks at become
/// [`Close::Intersection`]s.
fn measure_instead_of_making(steps: &mut [Step], slots: &[Slot]) {
    let mut uses = vec![0; slots.len()];
    let mut count = |source: &Source| uses[source.slot] += 1;
    for step in steps.iter() {
        step.source.iter().for_each(&mut count);
        for then in &step.then {
            match then {
                Then::Close(
                    Close::One(source) | Close::Intersection(source) | Close::Same { source, .. },
                ) => count(source),
                Then::Close(Close::Partitions(p)) => p.sources.iter().for_each(&mut count),
                Then::Step(_) | Then::Emit => {}
            }
        }
    }
    for slot in slots {
        if let Some(parent) = slot.parent {
            uses[parent] += 1;
        }
    }
    for step in steps {
        for then in &mut step.then {
            if let Then::Close(Close::One(source)) = then {
                let slot = &slots[source.slot];
                let made_here = step.slots.contains(&source.slot);
                if made_here
                    && uses[source.slot] == 1
                    && slot.parent.is_some()
                    && slot.list.is_some()
                    && slot.subtract.is_empty()
                    && source.bounds == 0
                {
                    step.slots.retain(|&s| s != source.slot);
                    *then = Then::Close(Close::Intersection(source.clone()));
                }
            }
        }
    }
}

/// A plan while it grows.
struct Growth<'a> {
    planner: &'a Planner<'a>,
    order: &'a [usize],
    below: &'a [u16],
    emit: bool,
    steps: Vec<Step>,
    slots: Vec<Slot>,
    cost: f64,
}

impl Growth<'_> {
    /// Conditions of `w` against `placed` that don't follow from others of them.
    fn bounds(&self, w: usize, placed: u16) -> u16 {
        let all = self.below[w] & placed;
        bits(all)
            .filter(|&a| !bits(all).any(|b| self.below[b] >> a & 1 == 1))
            .fold(0, |m, a| m | 1 << a)
    }

    /// Vertices that may share their image with `w` unless that is tested.
    fn conflicts(&self, w: usize) -> u16 {
        let planner = self.planner;
        let ordered = (0..self.below.len())
            .filter(|&v| self.below[v] >> w & 1 == 1)
            .fold(self.below[w], |m, v| m | 1 << v);
        planner.space.overlap(w) & !planner.pattern.neighbours(w) & !ordered & !(1 << w)
    }

    /// Non-neighbours of `w` whose images' neighbours must be taken out.
    fn excluded(&self, w: usize) -> u16 {
        if !self.planner.induced {
            return 0;
        }
        self.planner.space.linked(w) & !self.planner.pattern.neighbours(w) & !(1 << w)
    }

    /// Vertices whose images decide which images `w` may have.
    fn depends(&self, w: usize) -> u16 {
        let ordered = (0..self.below.len())
            .filter(|&v| self.below[v] >> w & 1 == 1)
            .fold(self.below[w], |m, v| m | 1 << v);
        self.planner.pattern.neighbours(w) | self.conflicts(w) | ordered | self.excluded(w)
    }

    fn source(&self, w: usize, placed: u16, slot: usize) -> Source {
        let conflicts = self.conflicts(w) & placed;
        let bounds = self.bounds(w, placed) & !self.slots[slot].bounds;
        Source {
            slot,
            bounds,
            conflicts: bits(conflicts).collect(),
            reasons: self.slots[slot].reasons | self.bounds(w, placed) | conflicts,
        }
    }

    /// Adds the step of `v`, with everything after it, and returns its number. `rest` are the
    /// vertices to be mapped below, `slots` the sets that they have so far, `visits` how often the
    /// step is expected to be entered.
    fn step(
        &mut self,
        v: usize,
        rest: u16,
        placed: u16,
        slots: &[Option<usize>; MAX_VERTICES],
        visits: f64,
    ) -> usize {
        let planner = self.planner;
        let number = self.steps.len();
        let source = slots[v].map(|slot| self.source(v, placed, slot));
        let memo = {
            let deciding = bits(rest | 1 << v).fold(0, |m, w| m | self.depends(w)) & placed;
            let worthwhile = deciding != placed && deciding.count_ones() <= 2 && rest != 0;
            (worthwhile && !self.emit).then(|| bits(deciding).collect())
        };
        self.steps.push(Step {
            vertex: v,
            class: planner.space.class(v),
            source,
            slots: vec![],
            then: vec![],
            memo,
        });
        let images = match planner.estimates.extensions(planner.pattern, placed, v) {
            None => planner.estimates.candidates[v],
            Some(extensions) => extensions / f64::from(1 + self.below[v].count_ones()),
        };
        let visits = visits * images;
        self.cost += visits;
        let placed = placed | 1 << v;
        let mut slots = *slots;
        let mut made: Vec<usize> = vec![];
        for w in self.order.iter().copied().filter(|w| rest >> w & 1 == 1) {
            let neighbour = planner.pattern.has_edge(v, w);
            let parent = slots[w];
            let subtract: Vec<usize> = match (neighbour, parent) {
                (true, None) => bits(self.excluded(w) & placed & !(1 << v)).collect(),
                (false, Some(_)) if self.excluded(w) >> v & 1 == 1 => vec![v],
                _ => vec![],
            };
            if !neighbour && subtract.is_empty() {
                continue;
            }
            let bounds = self.bounds(w, placed);
            let reasons = parent.map_or(0, |p| self.slots[p].reasons)
                | subtract.iter().fold(0, |m, &u| m | 1 << u)
                | bounds
                | 1 << v;
            let slot = Slot {
                class: planner.space.class(w),
                parent,
                list: neighbour.then(|| (v, (planner.lists)(v, w))),
                subtract,
                bounds,
                reasons,
            };
            let same = made.iter().copied().find(|&s| self.slots[s] == slot);
            let at = same.unwrap_or_else(|| {
                let length = planner.estimates.biased[v][w];
                if !slot.borrowed() {
                    self.cost += visits * length * 0.5;
                }
                self.slots.push(slot);
                made.push(self.slots.len() - 1);
                self.slots.len() - 1
            });
            slots[w] = Some(at);
        }
        self.steps[number].slots = made;
        let then = self.then(rest, placed, &slots, visits);
        self.steps[number].then = then;
        number
    }

    /// What comes once `placed` have their images and `rest` are left.
    fn then(
        &mut self,
        rest: u16,
        placed: u16,
        slots: &[Option<usize>; MAX_VERTICES],
        visits: f64,
    ) -> Vec<Then> {
        if rest == 0 {
            return if self.emit { vec![Then::Emit] } else { vec![] };
        }
        let (mut formulas, mut steps) = (vec![], vec![]);
        let rests = if self.emit { vec![rest] } else { parts(rest, |v| self.depends(v)) };
        for part in rests {
            if let Some(close) = self.close(part, placed, slots) {
                formulas.push(Then::Close(close));
                continue;
            }
            let v = self.order.iter().copied().find(|v| part >> v & 1 == 1).expect("not empty");
            let before = self.cost;
            let step = self.step(v, part & !(1 << v), placed, slots, visits);
            steps.push((self.cost - before, step));
        }
        // What is cheap first: if it comes out as 0, the rest needn't be looked at.
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        formulas.extend(steps.into_iter().map(|(_, step)| Then::Step(step)));
        formulas
    }

    /// The formula for `part`, if there is one.
    fn close(
        &self,
        part: u16,
        placed: u16,
        slots: &[Option<usize>; MAX_VERTICES],
    ) -> Option<Close> {
        if self.emit {
            return None;
        }
        let pattern = self.planner.pattern;
        let edges = bits(part).any(|v| (pattern.neighbours(v) | self.excluded(v)) & part != 0);
        if edges {
            return None;
        }
        let sources: Vec<Source> = bits(part)
            .map(|w| self.source(w, placed, slots[w].expect("next to a placed vertex")))
            .collect();
        let k = sources.len();
        let same = sources.iter().all(|s| *s == sources[0]);
        let conditions: u32 = bits(part).map(|v| (self.below[v] & part).count_ones()).sum();
        let ordered = conditions as usize == k * (k - 1) / 2;
        let first = sources[0].clone();
        match (k, conditions) {
            (1, _) => Some(Close::One(first)),
            (_, 0) if same => Some(Close::Same { source: first, vertices: k, ordered: false }),
            _ if same && ordered => Some(Close::Same { source: first, vertices: k, ordered: true }),
            (_, 0) if k <= FORMULA_VERTICES => Some(Close::Partitions(partitions(sources))),
            _ => None,
        }
    }
}

/// The terms for vertices with these sources.
fn partitions(members: Vec<Source>) -> Partitions {
    let mut sources: Vec<Source> = vec![];
    let group: Vec<usize> = members
        .into_iter()
        .map(|m| {
            sources.iter().position(|s| *s == m).unwrap_or_else(|| {
                sources.push(m);
                sources.len() - 1
            })
        })
        .collect();
    // Partitions as lists of blocks; a block is (members, sources as bits).
    let mut all: Vec<Vec<(i64, u16)>> = vec![vec![]];
    for &g in &group {
        let mut next = vec![];
        for partition in all {
            for b in 0..partition.len() {
                let mut joined = partition.clone();
                joined[b].0 += 1;
                joined[b].1 |= 1 << g;
                next.push(joined);
            }
            let mut apart = partition;
            apart.push((1, 1 << g));
            next.push(apart);
        }
        all = next;
    }
    let mut sums: std::collections::BTreeMap<Vec<u16>, i64> = Default::default();
    for partition in all {
        let coefficient: i64 = partition
            .iter()
            .map(|&(size, _)| (1..size).product::<i64>() * if size % 2 == 0 { -1 } else { 1 })
            .product();
        let mut key: Vec<u16> = partition.iter().map(|b| b.1).collect();
        key.sort_unstable();
        *sums.entry(key).or_default() += coefficient;
    }
    sums.retain(|_, c| *c != 0);
    let mut blocks: Vec<u16> = sums.keys().flatten().copied().collect();
    for i in 0..blocks.len() {
        let mut smaller = blocks[i];
        while smaller.count_ones() > 1 {
            smaller &= smaller - 1;
            blocks.push(smaller);
        }
    }
    blocks.sort_unstable_by_key(|b| (b.count_ones(), *b));
    blocks.dedup();
    let at = |block: u16| blocks.iter().position(|&b| b == block).expect("every block is listed");
    let terms = sums
        .into_iter()
        .map(|(key, coefficient)| (coefficient, key.into_iter().map(at).collect()))
        .collect();
    Partitions { sources, blocks, terms }
}

/// Directed pattern edges in the sense of the order.
pub(super) fn directed(pattern: &Pattern, order: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = vec![];
    for (i, &u) in order.iter().enumerate() {
        pairs.extend(order[i + 1..].iter().filter(|&&w| pattern.has_edge(u, w)).map(|&w| (u, w)));
    }
    pairs
}

/// The estimates of a candidate space.
pub(super) fn estimates(pattern: &Pattern, space: &Space<'_>) -> Estimates {
    let n = pattern.vertices();
    let mut estimates = Estimates {
        candidates: (0..n).map(|v| space.candidates(v) as f64).collect(),
        reach: vec![[0.0; MAX_VERTICES]; n],
        biased: vec![[0.0; MAX_VERTICES]; n],
    };
    for u in 0..n {
        for w in bits(pattern.neighbours(u)) {
            let size = space.size(u, w);
            if size.entries > 0.0 {
                estimates.reach[u][w] = size.entries / estimates.candidates[u];
                estimates.biased[u][w] = size.squares / size.entries;
            }
        }
    }
    estimates
}

//! Makes search plans: which vertex is mapped next, what its candidates are made of, and which parts
//! are closed by a formula.

use gramer_graph::{Label, NO_LABEL};

use super::candidates::Candidates;
use super::matching_order::{Estimates, greedy_from, matching_order};
use super::search::{
    CandidateSet, FORMULA_VERTICES, Formula, List, MEMO_VERTICES, NextStep, Partitions, SCHEMA,
    SearchPlan, Source, Step, bits,
};
use super::symmetry::Restrictions;
use crate::task::Mappings;
use crate::{MAX_VERTICES, Pattern, VertexSet, all_vertices, automorphism_count};

/// What a plan takes to be made and weighed, in elements that a search visits.
const LOOK: f64 = 20_000.0;

/// Whether the vertices outside `placed` can all be counted by formulas, conditions apart.
pub fn closed(pattern: &Pattern, space: &dyn Candidates, induced: bool, placed: VertexSet) -> bool {
    let rest = all_vertices(pattern.vertices()) & !placed;
    if rest.count_ones() <= 1 {
        return true;
    }
    for v in bits(rest) {
        let hard =
            if induced { space.linked(v) } else { pattern.neighbours(v) | pattern.absent(v) };
        if hard & rest & !(1 << v) != 0 {
            return false;
        }
    }
    parts(rest, |v| space.overlap(v)).into_iter().all(|part| {
        let first = part.trailing_zeros() as usize;
        part.count_ones() as usize <= FORMULA_VERTICES
            || bits(part).all(|v| {
                pattern.neighbours(v) == pattern.neighbours(first)
                    && pattern.absent(v) == pattern.absent(first)
                    && space.class(v) == space.class(first)
                    && bits(pattern.neighbours(v))
                        .all(|u| pattern.edge_label(u, v) == pattern.edge_label(u, first))
            })
    })
}

/// The connected parts of `set` under a symmetric relation given as bits.
fn parts(set: VertexSet, related: impl Fn(usize) -> VertexSet) -> Vec<VertexSet> {
    let mut parts = vec![];
    let mut left = set;
    while left != 0 {
        let mut part = 1 << left.trailing_zeros();
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
///
/// ```
/// use gramer_pattern::{MAX_VERTICES, Pattern};
/// use gramer_pattern::plan::candidates::ByLabel;
/// use gramer_pattern::plan::matching_order::Estimates;
/// use gramer_pattern::plan::planner::Planner;
///
/// let pattern = Pattern::clique(3);
/// let estimates = Estimates {
///     candidates: vec![1000.0; 3],
///     reach: vec![[10.0; MAX_VERTICES]; 3],
///     biased: vec![[10.0; MAX_VERTICES]; 3],
/// };
/// let planner =
///     Planner { pattern: &pattern, space: &ByLabel::new(&pattern), estimates: &estimates, induced: false, limit: None };
/// let plan = planner.best(false, true);
/// assert_eq!(plan.steps.len(), 3, "each triangle is emitted, so each vertex has a step");
/// assert_eq!(plan.automorphisms, 6);
/// ```
pub struct Planner<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Its candidates.
    pub space: &'a dyn Candidates,
    /// What the cost model knows.
    pub estimates: &'a Estimates,
    /// Whether all non-edges must be non-edges, and not only absent pairs.
    pub induced: bool,
    /// After how many mappings the search ends, where that is known.
    pub limit: Option<u64>,
}

impl Planner<'_> {
    /// The label of each class.
    fn classes(&self) -> Vec<Label> {
        let of = |c| (0..self.pattern.vertices()).find(|&v| usize::from(self.space.class(v)) == c);
        (0..).map_while(|c| of(c).map(|v| self.pattern.vertex_label(v))).collect()
    }

    /// A chain that emits every mapping, or a tree that counts; [`Planner::best`] counts the automorphisms.
    pub(super) fn plan(&self, order: &[usize], by: &Restrictions, emit: bool) -> (SearchPlan, f64) {
        let mut growth = PartialPlan {
            planner: self,
            order,
            below: &by.below,
            emit,
            steps: vec![],
            sets: vec![],
            cost: 0.0,
        };
        let root = order[0];
        let rest = all_vertices(self.pattern.vertices()) & !(1 << root);
        growth.step(root, rest, 0, &[None; MAX_VERTICES], 1.0);
        let PartialPlan { mut steps, sets, cost, .. } = growth;
        measure_instead_of_making(&mut steps, &sets);
        let plan = SearchPlan {
            schema: SCHEMA,
            pattern: self.pattern.clone(),
            induced: self.induced,
            mappings: Mappings::Isomorphism,
            classes: self.classes(),
            steps,
            sets,
            factor: by.factor,
            automorphisms: 1,
            cost: cost as u64,
        };
        (plan, cost)
    }
}

/// Slots that only one [`Formula::One`] right after their making looks at become
/// [`Formula::Intersection`]s.
fn measure_instead_of_making(steps: &mut [Step], sets: &[CandidateSet]) {
    let mut uses = vec![0; sets.len()];
    let mut count = |source: &Source| uses[source.set] += 1;
    for step in steps.iter() {
        step.source.iter().for_each(&mut count);
        for then in &step.then {
            match then {
                NextStep::Formula(
                    Formula::One(source)
                    | Formula::Intersection(source)
                    | Formula::Same { source, .. },
                ) => count(source),
                NextStep::Formula(Formula::Partitions(p)) => p.sources.iter().for_each(&mut count),
                NextStep::Step(_) | NextStep::Emit => {}
            }
        }
    }
    sets.iter().filter_map(|set| set.parent).for_each(|parent| uses[parent] += 1);
    for step in steps {
        for then in &mut step.then {
            if let NextStep::Formula(Formula::One(source)) = then {
                let set = &sets[source.set];
                let made_here = step.sets.contains(&source.set);
                if made_here
                    && uses[source.set] == 1
                    && set.parent.is_some()
                    && set.list.is_some()
                    && set.subtract.is_empty()
                    && source.bounds == 0
                {
                    step.sets.retain(|&s| s != source.set);
                    *then = NextStep::Formula(Formula::Intersection(source.clone()));
                }
            }
        }
    }
}

/// Plan under construction.
struct PartialPlan<'a> {
    planner: &'a Planner<'a>,
    order: &'a [usize],
    below: &'a [VertexSet],
    emit: bool,
    steps: Vec<Step>,
    sets: Vec<CandidateSet>,
    cost: f64,
}

impl PartialPlan<'_> {
    /// Conditions of `w` against `placed` that don't follow from others of them.
    fn bounds(&self, w: usize, placed: VertexSet) -> VertexSet {
        let all = self.below[w] & placed;
        bits(all)
            .filter(|&a| !bits(all).any(|b| self.below[b] >> a & 1 == 1))
            .fold(0, |m, a| m | 1 << a)
    }

    /// Vertices that may share their image with `w` unless that is tested.
    fn conflicts(&self, w: usize) -> VertexSet {
        let planner = self.planner;
        let ordered = (0..self.below.len())
            .filter(|&v| self.below[v] >> w & 1 == 1)
            .fold(self.below[w], |m, v| m | 1 << v);
        planner.space.overlap(w) & !planner.pattern.neighbours(w) & !ordered & !(1 << w)
    }

    /// Vertices that are not joined to `w`, whose images' neighbours must be taken out.
    fn excluded(&self, w: usize) -> VertexSet {
        let Planner { pattern, space, induced, .. } = self.planner;
        let excluded = if *induced { !pattern.neighbours(w) } else { pattern.absent(w) };
        space.linked(w) & excluded & !(1 << w)
    }

    /// Vertices whose images decide which images `w` may have.
    fn depends(&self, w: usize) -> VertexSet {
        let ordered = (0..self.below.len())
            .filter(|&v| self.below[v] >> w & 1 == 1)
            .fold(self.below[w], |m, v| m | 1 << v);
        self.planner.pattern.neighbours(w) | self.conflicts(w) | ordered | self.excluded(w)
    }

    fn source(&self, w: usize, placed: VertexSet, set: usize) -> Source {
        let conflicts = self.conflicts(w) & placed;
        let bounds = self.bounds(w, placed) & !self.sets[set].bounds;
        Source {
            set,
            bounds,
            conflicts: bits(conflicts).collect(),
            edges: vec![],
            reasons: self.sets[set].reasons | self.bounds(w, placed) | conflicts,
        }
    }

    /// The vertices whose images decide how many mappings there are below `v`, where these are kept.
    fn memo(&self, v: usize, rest: VertexSet, placed: VertexSet) -> Option<Vec<usize>> {
        let deciding = bits(rest | 1 << v).fold(0, |m, w| m | self.depends(w)) & placed;
        let few = deciding.count_ones() as usize <= MEMO_VERTICES;
        (deciding != placed && few && rest != 0 && !self.emit).then(|| bits(deciding).collect())
    }

    /// Adds the step of `v`, with everything after it, and returns its number. `rest` are the
    /// vertices to be mapped below, `sets` the sets that they have so far, `visits` how often the
    /// step is expected to be entered.
    fn step(
        &mut self,
        v: usize,
        rest: VertexSet,
        placed: VertexSet,
        sets: &[Option<usize>; MAX_VERTICES],
        visits: f64,
    ) -> usize {
        let planner = self.planner;
        let number = self.steps.len();
        let source = sets[v].map(|set| self.source(v, placed, set));
        let memo = self.memo(v, rest, placed);
        // Below each choice of the images that decide it is searched once, however often it is come to.
        let keys = |of: &usize| planner.estimates.candidates[*of];
        let visits = memo.as_ref().map_or(visits, |of| visits.min(of.iter().map(keys).product()));
        self.steps.push(Step {
            vertex: v,
            class: planner.space.class(v),
            source,
            sets: vec![],
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
        let mut sets = *sets;
        let mut made: Vec<usize> = vec![];
        for w in self.order.iter().copied().filter(|w| rest >> w & 1 == 1) {
            let neighbour = planner.pattern.has_edge(v, w);
            let parent = sets[w];
            let subtract: Vec<usize> = match (neighbour, parent) {
                (true, None) => bits(self.excluded(w) & placed & !(1 << v)).collect(),
                (false, Some(_)) if self.excluded(w) >> v & 1 == 1 => vec![v],
                _ => vec![],
            };
            if !neighbour && subtract.is_empty() {
                continue;
            }
            let bounds = self.bounds(w, placed);
            let reasons = parent.map_or(0, |p| self.sets[p].reasons)
                | subtract.iter().fold(0, |m, &u| m | 1 << u)
                | bounds
                | 1 << v;
            let set = CandidateSet {
                class: planner.space.class(w),
                parent,
                list: neighbour.then(|| List {
                    of: v,
                    edge_label: planner.pattern.edge_label(v, w).unwrap_or(NO_LABEL),
                }),
                subtract,
                bounds,
                reasons,
            };
            let same = made.iter().copied().find(|&s| self.sets[s] == set);
            let at = same.unwrap_or_else(|| {
                let length = planner.estimates.biased[v][w];
                if !set.borrowed() {
                    self.cost += visits * length * 0.5;
                }
                self.sets.push(set);
                made.push(self.sets.len() - 1);
                self.sets.len() - 1
            });
            sets[w] = Some(at);
        }
        self.steps[number].sets = made;
        let then = self.then(rest, placed, &sets, visits);
        self.steps[number].then = then;
        number
    }

    /// What comes once `placed` have their images and `rest` are left.
    fn then(
        &mut self,
        rest: VertexSet,
        placed: VertexSet,
        sets: &[Option<usize>; MAX_VERTICES],
        visits: f64,
    ) -> Vec<NextStep> {
        if rest == 0 {
            return if self.emit { vec![NextStep::Emit] } else { vec![] };
        }
        let (mut formulas, mut steps) = (vec![], vec![]);
        let rests = if self.emit { vec![rest] } else { parts(rest, |v| self.depends(v)) };
        for part in rests {
            if let Some(close) = self.close(part, placed, sets) {
                formulas.push(NextStep::Formula(close));
                continue;
            }
            let v = self.order.iter().copied().find(|v| part >> v & 1 == 1).expect("not empty");
            let before = self.cost;
            let step = self.step(v, part & !(1 << v), placed, sets, visits);
            steps.push((self.cost - before, step));
        }
        // What is cheap first: if it comes out as 0, the rest needn't be looked at.
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        formulas.extend(steps.into_iter().map(|(_, step)| NextStep::Step(step)));
        formulas
    }

    /// The formula for `part`, if there is one.
    fn close(
        &self,
        part: VertexSet,
        placed: VertexSet,
        sets: &[Option<usize>; MAX_VERTICES],
    ) -> Option<Formula> {
        if self.emit {
            return None;
        }
        let pattern = self.planner.pattern;
        let edges = bits(part).any(|v| (pattern.neighbours(v) | self.excluded(v)) & part != 0);
        if edges {
            return None;
        }
        let sources: Vec<Source> = bits(part)
            .map(|w| self.source(w, placed, sets[w].expect("next to a placed vertex")))
            .collect();
        let k = sources.len();
        let same = sources.iter().all(|s| *s == sources[0]);
        let conditions: u32 = bits(part).map(|v| (self.below[v] & part).count_ones()).sum();
        let ordered = conditions as usize == k * (k - 1) / 2;
        let first = sources[0].clone();
        match (k, conditions) {
            (1, _) => Some(Formula::One(first)),
            (_, 0) if same => Some(Formula::Same { source: first, vertices: k, ordered: false }),
            _ if same && ordered => {
                Some(Formula::Same { source: first, vertices: k, ordered: true })
            }
            (_, 0) if k <= FORMULA_VERTICES => Some(Formula::Partitions(partitions(sources))),
            _ => None,
        }
    }
}

/// The terms for vertices with these sources.
pub(crate) fn partitions(members: Vec<Source>) -> Partitions {
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

impl Planner<'_> {
    /// The plan with the least estimated cost. With `emit` every mapping is met, of each
    /// occurrence one unless `mappings`; without, mappings are counted, up to the limit by the order that meets them.
    pub fn best(&self, mappings: bool, emit: bool) -> SearchPlan {
        let automorphisms = automorphism_count(self.pattern);
        if !emit && self.limit.is_none() {
            return SearchPlan { automorphisms, ..self.cheapest(automorphisms > 1) };
        }
        let order = matching_order(self.pattern, self.estimates, self.limit, |_| false);
        let restrictions = match mappings {
            true => Restrictions::none(self.pattern.vertices()),
            false => Restrictions::new(self.pattern, &order, VertexSet::MAX),
        };
        SearchPlan { automorphisms, ..self.plan(&order, &restrictions, emit).0 }
    }

    /// The cheapest way to count: with all conditions, with none, or with those of the vertices
    /// that formulas don't count. Without `symmetry` there are no conditions.
    pub(super) fn cheapest(&self, symmetry: bool) -> SearchPlan {
        let n = self.pattern.vertices();
        let all = all_vertices(n);
        let closed = |placed| closed(self.pattern, self.space, self.induced, placed);
        let by_formula = matching_order(self.pattern, self.estimates, None, closed);
        let (mut best, mut least) = self.plan(&by_formula, &Restrictions::none(n), false);
        // The orders were chosen by the cost of a chain of steps. Parts that are counted apart and kept numbers are
        // known once there is a plan. Estimates are not exact, so a greedy order must promise more.
        if least > LOOK * n as f64 {
            for root in 0..n {
                let order = greedy_from(root, self.pattern, self.estimates, &|_| false).order;
                let (plan, cost) = self.plan(&order, &Restrictions::none(n), false);
                if cost < 0.7 * least {
                    (best, least) = (plan, cost);
                }
            }
        }
        if !symmetry {
            return best;
        }
        let mut prefix: VertexSet = 0;
        for &v in &by_formula {
            if prefix != 0 && closed(prefix) {
                break;
            }
            prefix |= 1 << v;
        }
        let listed = matching_order(self.pattern, self.estimates, None, |placed| {
            placed.count_ones() as usize + 1 >= n
        });
        let others = [(&by_formula, prefix), (&by_formula, all), (&listed, all)];
        for (order, conditions) in others {
            let restrictions = Restrictions::new(self.pattern, order, conditions);
            let (plan, cost) = self.plan(order, &restrictions, false);
            if cost < least {
                (best, least) = (plan, cost);
            }
        }
        best
    }
}

//! Frequent patterns by the number of their vertex-induced embeddings.
//!
//! The rule (and why every engine needs one: embedding counts are not anti-monotone): a pattern is
//! reported if its embeddings in the whole graph number at least S and every connected induced
//! sub-pattern with one vertex fewer, of 2 or more vertices, is reported.
//!
//! Any connected induced sub-pattern of a pattern is reached by taking away one vertex at a time
//! without ever disconnecting it. So all of those of a reported pattern are reported, and an
//! enumeration that leaves a branch as soon as the vertices chosen so far don't form a reported
//! pattern still reaches every embedding that matters, in whatever order it adds vertices.
//!
//! Sizes 2 and 3 are counted in closed form. Larger ones are enumerated as ESU does (Wernicke,
//! *Efficient detection of network motifs*, 2006): from the smallest vertex on, a vertex may be
//! added only if it is a neighbour of the last one and of no earlier one, or was already waiting;
//! that reaches each connected set of vertices once. The last two vertices are not enumerated as
//! pairs: see [`Walker::pairs`].
//!
//! Memory: the graph's part with frequent edges, the patterns of one size, and for each thread
//! two words a vertex and a [`Trie`].

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Sink;
use crate::cpu::{Job, Starts, run_units};
use crate::work::{Groups, Units};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{VertexId, View};
use gramer_pattern::Pattern;

use super::code::{MAX, Small};
use super::labels::Labels;
use super::rows::{EdgeKinds, Rows};
use super::tally::Tally;
use super::trie::{Allowed, DEAD, Trie};
use super::triples;

/// The reported patterns of 2 to `max` vertices with their counts, and whether the run went to
/// its end; if not, only sizes that were counted whole are there. Of a share, all patterns that occur:
/// which of them are frequent is known when the shares are together.
///
/// # Errors
/// As [`Rows::new`].
pub(super) fn mine(
    graph: View<'_>,
    labels: &Labels,
    max: usize,
    support: u64,
    job: Job<'_>,
) -> Result<(Vec<(Small, u128)>, bool)> {
    let context = job.context;
    let kinds = EdgeKinds::new(labels);
    let (edges, whole) = count_edges(graph, labels, &kinds, Job { units: Units::All, ..job });
    if !whole {
        return Ok((vec![], false));
    }
    let share = job.units.share().is_some();
    let support = if share { 1 } else { support };
    let rows = match Rows::new(graph, labels, &kinds, &edges, support, max, &context.cancel) {
        Ok(rows) => rows,
        Err(Error::Interrupted) => return Ok((vec![], false)),
        Err(other) => return Err(other),
    };
    let mut allowed: Allowed = vec![FxHashSet::default(); 2];
    let mut found = vec![];
    for size in 2..=max {
        let (counts, whole) = match size {
            2 if share => {
                let (own, whole) = count_edges(graph, labels, &kinds, job);
                (edge_patterns(&kinds, &own), whole)
            }
            2 => (edge_patterns(&kinds, &edges), true),
            3 if !share => triples::count(graph, &rows, labels.classes(), context),
            _ => count_embeddings(graph, &rows, labels.classes(), &allowed, size, job),
        };
        if !whole {
            return Ok((found, false));
        }
        let frequent: Vec<(Small, u128)> = counts
            .into_iter()
            .filter(|&(_, count)| count >= i128::from(support))
            .map(|(code, count)| (code, count as u128))
            .collect();
        if frequent.is_empty() && !share {
            break;
        }
        // An embedding of a share grows from those of its own units, but for its first edge, which is
        // counted with the smaller of its ends.
        allowed.push(match (share, size) {
            (true, 2) => edge_patterns(&kinds, &edges).into_keys().collect(),
            _ => frequent.iter().map(|&(code, _)| code).collect(),
        });
        found.extend(frequent);
    }
    Ok((found, true))
}

/// Counts the edges of each kind.
fn count_edges(graph: View<'_>, labels: &Labels, kinds: &EdgeKinds, job: Job<'_>) -> (Tally, bool) {
    let degree = |v: VertexId| graph.degree(v);
    let units = Starts::vertices(graph).units(job, degree, |v| graph.degree(v) as u64);
    let make = || Tally::new(kinds.bits());
    let (tallies, whole) = run_units(&units, job.context, make, |tally, unit| {
        let v = unit.start;
        let class = labels.class(graph, v);
        let row = graph.row(v);
        for at in row.start + unit.first as usize..row.start + unit.limit as usize {
            let u = graph.neighbours[at];
            if u > v {
                let label = labels.entry(graph, at);
                tally.add(kinds.key(class, labels.class(graph, u), label), 1);
            }
        }
        ControlFlow::Continue(())
    });
    (Tally::sum(kinds.bits(), tallies), whole)
}

fn edge_patterns(kinds: &EdgeKinds, edges: &Tally) -> FxHashMap<Small, i128> {
    edges
        .iter()
        .map(|(key, count)| {
            let (a, b, label) = kinds.of_key(key);
            let mut p = Small::EMPTY;
            p.push(a);
            p.push(b);
            p.set_edge(0, 1, label);
            (p.canonical().code, count)
        })
        .collect()
}

/// One work unit a start vertex and a range of its later neighbours.
fn units(graph: View<'_>, rows: &Rows, job: Job<'_>) -> Groups {
    Starts::numbered(graph, rows.originals()).units(
        job,
        |v| rows.after(v, v).0.len(),
        |v| {
            let near = rows.after(v, v).0;
            let reach: u64 = near.iter().map(|&u| rows.after(u, v).0.len() as u64).sum();
            (near.len() as u64 + 1) * (near.len() as u64 + 1) + reach
        },
    )
}

/// The embeddings of every pattern of `size` vertices, 3 or more, whose sub-patterns are allowed.
fn count_embeddings(
    graph: View<'_>,
    rows: &Rows,
    classes: usize,
    allowed: &Allowed,
    size: usize,
    job: Job<'_>,
) -> (FxHashMap<Small, i128>, bool) {
    let context = job.context;
    let make = || {
        let trie = Trie::new(rows, classes, allowed, size);
        let trie = if job.units.share().is_some() { trie.of_prefixes() } else { trie };
        Walker::new(rows, trie, context)
    };
    let units = units(graph, rows, job);
    let (walkers, whole) = run_units(&units, context, make, |walker, unit| match size {
        // There is no vertex before the last two that a unit doesn't fix.
        3 => walker.unit(&mut Triples, unit.start, unit.range()),
        _ => walker.unit(&mut Counting { last: size - 2 }, unit.start, unit.range()),
    });
    let mut counts: FxHashMap<Small, i128> = FxHashMap::default();
    for walker in walkers {
        let codes = walker.trie.into_codes();
        for (code, count) in codes.into_iter().zip(walker.counts) {
            *counts.entry(code).or_default() += count;
        }
    }
    (counts, whole)
}

/// Hands every embedding of the patterns `codes`, which must be all that [`mine`] reported, to
/// the sink. Returns whether it took all of them.
///
/// # Errors
/// As [`mine`].
pub(super) fn list(
    graph: View<'_>,
    labels: &Labels,
    codes: &[(Small, u128)],
    sink: &dyn Sink,
    context: &Context,
) -> Result<bool> {
    let Some(max) = codes.iter().map(|(code, _)| code.n()).max() else { return Ok(true) };
    let kinds = EdgeKinds::new(labels);
    let mut edges = Tally::new(kinds.bits());
    let mut allowed: Allowed = vec![FxHashSet::default(); max + 1];
    let mut aligned = FxHashMap::default();
    for &(code, count) in codes {
        allowed[code.n()].insert(code);
        if code.n() == 2 {
            edges.add(kinds.key(code.class(0), code.class(1), code.edge(0, 1)), count as i128);
        }
        aligned.insert(code, code.to_pattern(labels, graph).canonical());
    }
    let rows = match Rows::new(graph, labels, &kinds, &edges, 1, max, &context.cancel) {
        Ok(rows) => rows,
        Err(Error::Interrupted) => return Ok(false),
        Err(other) => return Err(other),
    };
    // Deeper than any pattern, so that every pattern has a node.
    let make = || {
        let trie = Trie::new(&rows, labels.classes(), &allowed, max + 1);
        Walker::new(&rows, trie, context)
    };
    let all = Job { units: Units::All, sink: Some(sink), context };
    let (_, whole) = run_units(&units(graph, &rows, all), context, make, |walker, unit| {
        let mut visit = Listing { max, sink, aligned: &aligned };
        walker.unit(&mut visit, unit.start, unit.range())
    });
    Ok(whole)
}

/// What is done with the embeddings that a [`Walker`] reaches.
trait Visit {
    /// Embeddings of this many vertices are visited without what waits to extend them.
    fn largest(&self) -> usize;

    /// `walker` holds an embedding of an allowed pattern, whose node is `node`, and the vertices
    /// `waiting` from this place on that can extend it. Says whether to extend it.
    fn visit(
        &mut self,
        walker: &mut Walker<'_>,
        node: u32,
        waiting: usize,
    ) -> ControlFlow<(), bool>;
}

/// Counts the embeddings that have two vertices more than `last`.
struct Counting {
    last: usize,
}

impl Visit for Counting {
    fn largest(&self) -> usize {
        usize::MAX
    }

    fn visit(
        &mut self,
        walker: &mut Walker<'_>,
        node: u32,
        waiting: usize,
    ) -> ControlFlow<(), bool> {
        if walker.members.len() < self.last {
            return ControlFlow::Continue(true);
        }
        walker.pairs(node, waiting)?;
        ControlFlow::Continue(false)
    }
}

/// Counts the embeddings of three vertices one by one.
struct Triples;

impl Visit for Triples {
    fn largest(&self) -> usize {
        3
    }

    fn visit(
        &mut self,
        walker: &mut Walker<'_>,
        node: u32,
        _waiting: usize,
    ) -> ControlFlow<(), bool> {
        if walker.members.len() == 3 {
            walker.count(node, 1);
        }
        ControlFlow::Continue(true)
    }
}

/// Hands over the embeddings of up to `max` vertices.
struct Listing<'a> {
    max: usize,
    sink: &'a dyn Sink,
    /// By code: the canonical pattern, and which of the code's vertices its vertices are.
    aligned: &'a FxHashMap<Small, (Pattern, Vec<usize>)>,
}

impl Visit for Listing<'_> {
    fn largest(&self) -> usize {
        self.max
    }

    fn visit(
        &mut self,
        walker: &mut Walker<'_>,
        node: u32,
        _waiting: usize,
    ) -> ControlFlow<(), bool> {
        let size = walker.members.len();
        if size >= 2 {
            let (code, order) = walker.trie.code(node);
            let (pattern, places) = &self.aligned[code];
            let mut vertices = [0; MAX];
            for (vertex, &place) in vertices.iter_mut().zip(places) {
                *vertex = walker.rows.original(walker.members[order[place] as usize]);
            }
            self.sink.embedding(pattern, &vertices[..size])?;
        }
        ControlFlow::Continue(true)
    }
}

/// Marks 0: not a neighbour of the embedding. Slots hold nodes; this is none.
const NOT_WAITING: u32 = DEAD;

/// One thread's enumeration.
struct Walker<'a> {
    rows: &'a Rows,
    context: &'a Context,
    trie: Trie<'a>,
    /// The embedding, in the order in which it grew.
    members: Vec<u32>,
    /// By vertex: the labels of its edges to the members, [`Rows::width`] bits each.
    marks: Vec<u64>,
    /// A stack of vertices that wait, each with its node if it were added next.
    waiting: Vec<(u32, u32)>,
    /// By vertex: the node if it waits, while [`Walker::pairs`] runs.
    slots: Vec<u32>,
    /// By node: how many waiting vertices would lead to it.
    alike: Vec<u64>,
    /// By pattern number. Signed, because pairs are first counted as if none were neighbours.
    counts: Vec<i128>,
}

impl<'a> Walker<'a> {
    fn new(rows: &'a Rows, trie: Trie<'a>, context: &'a Context) -> Self {
        Walker {
            rows,
            context,
            trie,
            members: Vec::with_capacity(MAX),
            marks: vec![0; rows.vertices()],
            waiting: vec![],
            slots: vec![NOT_WAITING; rows.vertices()],
            alike: vec![],
            counts: vec![],
        }
    }

    /// Enumerates the embeddings whose smallest vertex is `root` and whose second one is in
    /// `part` of the neighbours after it.
    fn unit(
        &mut self,
        visit: &mut impl Visit,
        root: u32,
        part: std::ops::Range<usize>,
    ) -> ControlFlow<()> {
        let rows = self.rows;
        let node = self.trie.child(Trie::ROOT, 0, rows.class(root));
        let (targets, labels) = rows.after(root, root);
        for (&v, &label) in targets.iter().zip(labels) {
            self.marks[v as usize] = u64::from(label);
            let next = self.trie.child(node, u64::from(label), rows.class(v));
            self.waiting.push((v, next));
        }
        self.members.push(root);
        let done = part.into_iter().try_for_each(|at| self.grow(visit, 0, at));
        self.members.clear();
        self.waiting.clear();
        for &v in targets {
            self.marks[v as usize] = 0;
        }
        done
    }

    /// Adds the waiting vertex at `at`; those from `first` up to it go on waiting.
    fn grow(&mut self, visit: &mut impl Visit, first: usize, at: usize) -> ControlFlow<()> {
        let (v, node) = self.waiting[at];
        if node == DEAD {
            return ControlFlow::Continue(());
        }
        if self.context.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let below = self.waiting.len();
        if self.members.len() + 1 == visit.largest() {
            self.members.push(v);
            let done = visit.visit(self, node, below);
            self.members.pop();
            return done.map_continue(|_| ());
        }
        let rows = self.rows;
        let (targets, labels) = rows.after(v, self.members[0]);
        let shift = self.members.len() as u32 * rows.width;
        for (&u, &label) in targets.iter().zip(labels) {
            let mark = &mut self.marks[u as usize];
            let new = *mark == 0;
            *mark |= u64::from(label) << shift;
            if new {
                let next = self.trie.child(node, u64::from(label) << shift, rows.class(u));
                if next != DEAD {
                    self.waiting.push((u, next));
                }
            }
        }
        for i in first..at {
            let (u, then) = self.waiting[i];
            if then != DEAD {
                let next = self.trie.child(node, self.marks[u as usize], rows.class(u));
                if next != DEAD {
                    self.waiting.push((u, next));
                }
            }
        }
        self.members.push(v);
        let mut done = ControlFlow::Continue(());
        match visit.visit(self, node, below) {
            ControlFlow::Break(()) => done = ControlFlow::Break(()),
            ControlFlow::Continue(false) => {}
            ControlFlow::Continue(true) => {
                let above = self.waiting.len();
                done = (below..above).try_for_each(|next| self.grow(visit, below, next));
            }
        }
        self.members.pop();
        self.waiting.truncate(below);
        let field = ((1 << rows.width) - 1) << shift;
        for &u in targets {
            self.marks[u as usize] &= !field;
        }
        done
    }

    /// Counts all ways to add two vertices to the embedding, without listing them.
    ///
    /// Two waiting vertices are first counted as if none were neighbours: their number by node is
    /// enough for that. Then the edges of each waiting vertex are walked once. One to another
    /// waiting vertex moves that pair to the pattern with that edge; one to a vertex that no
    /// member knows adds that vertex as the last.
    fn pairs(&mut self, node: u32, first: usize) -> ControlFlow<()> {
        let rows = self.rows;
        let root = self.members[0];
        let shift = self.members.len() as u32 * rows.width;
        debug_assert!(node != DEAD);
        let waiting = std::mem::take(&mut self.waiting);
        let mut groups = vec![];
        self.alike.resize(self.alike.len().max(self.trie.len()), 0);
        for &(v, next) in &waiting[first..] {
            self.slots[v as usize] = next;
            if self.alike[next as usize] == 0 {
                groups.push(next);
            }
            self.alike[next as usize] += 1;
        }
        let mut done = ControlFlow::Continue(());
        for &(v, next) in &waiting[first..] {
            if self.context.cancel.is_cancelled() {
                done = ControlFlow::Break(());
                break;
            }
            let (targets, labels) = rows.after(v, root);
            for (&u, &label) in targets.iter().zip(labels) {
                let slot = self.slots[u as usize];
                let mark = self.marks[u as usize];
                let edge = u64::from(label) << shift;
                if slot != NOT_WAITING {
                    if u > v {
                        self.add(next, mark, u, -1);
                        self.add(next, mark | edge, u, 1);
                    }
                } else if mark == 0 {
                    self.add(next, edge, u, 1);
                }
            }
        }
        for (i, &a) in groups.iter().enumerate() {
            let n = i128::from(self.alike[a as usize]);
            for &b in &groups[i..] {
                let m = i128::from(self.alike[b as usize]);
                let (mark, class) = self.trie.last(b);
                let pairs = if a == b { n * (n - 1) / 2 } else { n * m };
                let number = self.trie.child(a, mark, class);
                self.count(number, pairs);
            }
        }
        for group in groups {
            self.alike[group as usize] = 0;
        }
        for &(v, _) in &waiting[first..] {
            self.slots[v as usize] = NOT_WAITING;
        }
        self.waiting = waiting;
        done
    }

    /// Adds to the pattern that `u` with the edges `mark` makes of `node`.
    #[inline]
    fn add(&mut self, node: u32, mark: u64, u: u32, count: i128) {
        let number = self.trie.child(node, mark, self.rows.class(u));
        self.count(number, count);
    }

    #[inline]
    fn count(&mut self, number: u32, count: i128) {
        if number == DEAD {
            return;
        }
        if number as usize >= self.counts.len() {
            self.counts.resize(number as usize + 1, 0);
        }
        self.counts[number as usize] += count;
    }
}

//! The paper's algorithm 1, plain: what the accelerator is compared with.
//!
//! # Which embeddings are visited
//!
//! An embedding is a list of vertices in the order in which they joined. It grows from its root,
//! depth first; the vertices whose lists are walked for more are taken in the order in which they
//! joined. Arabesque's rule of canonicality (SOSP 2015) picks one list for each connected set of
//! vertices. With `<` for the order of comparison ([`Comparison`]), a vertex u that is found in
//! the list of the member at position i may join if
//!
//! 1. root < u,
//! 2. every member after position i is < u,
//! 3. u is no member,
//! 4. no member before position i is next to u (else u is found in that member's list).
//!
//! A vertex that passes 1 to 3, which look at ids only, is a *candidate*; rule 4 is what
//! connectivity is tested for, and the same tests say which later members are next to u. The test
//! of the application (is it a clique, is its pattern allowed) comes last. A clique's candidates
//! come from the root's list only, because a vertex that is first found elsewhere is not next to
//! the root.
//!
//! # What is counted
//!
//! *Depth* is the number of vertices of the embedding that a candidate would make, so the roots
//! are embeddings of depth 1 without candidates. An *access to a vertex* is one record (offset,
//! degree, label) read: that of the member whose list is walked, once a walk, and that of each
//! candidate. An *access to an edge* is one entry of a list visited by a walk, or tested by the
//! binary search for a member in the candidate's list. *Iteration* k are the accesses made while
//! embeddings of k vertices are extended.

mod application;

pub use application::{Application, CliqueFinding, FrequentSubgraphs, MotifCounting};

use std::collections::{BTreeMap, HashSet};
use std::ops::{ControlFlow, Range};

use crate::context::Context;
use crate::engine::{Count, Engine, Outcome, Sink};
use crate::error::{Error, Result};
use crate::graph::{Graph, VertexId, View};
use crate::pattern::{Dictionary, Pattern};
use crate::task::{Induced, Measure, SizeLimit, Task};

/// The order in which ids are compared. Both give the same counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Comparison {
    /// The most valuable vertex of an embedding is its root.
    Ascending,
    /// The least valuable vertex of an embedding is its root: the roots' trees are of more even
    /// size.
    #[default]
    Descending,
}

impl Comparison {
    /// Whether `a` comes before `b`.
    #[inline]
    pub fn before(self, a: VertexId, b: VertexId) -> bool {
        match self {
            Comparison::Ascending => a < b,
            Comparison::Descending => a > b,
        }
    }
}

/// What a run did, by depth (index 0 is unused).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Embeddings that passed every test.
    pub embeddings: Vec<u64>,
    /// Vertices that passed the tests on ids.
    pub candidates: Vec<u64>,
    /// Accesses to vertex records.
    pub vertex_accesses: u64,
    /// Accesses to edge entries.
    pub edge_accesses: u64,
}

impl Counters {
    fn at(list: &mut Vec<u64>, depth: usize) -> &mut u64 {
        if list.len() <= depth {
            list.resize(depth + 1, 0);
        }
        &mut list[depth]
    }
}

/// Exact numbers of accesses, by iteration (index 0 is unused), then by vertex or by entry of the
/// edge array.
#[derive(Debug, Clone, Default)]
pub struct Accesses {
    /// By iteration and vertex.
    pub vertices: Vec<Vec<u64>>,
    /// By iteration and position in the edge array.
    pub edges: Vec<Vec<u64>>,
}

impl Accesses {
    fn row(rows: &mut Vec<Vec<u64>>, iteration: usize, len: usize) -> &mut [u64] {
        while rows.len() <= iteration {
            rows.push(vec![0; len]);
        }
        &mut rows[iteration]
    }
}

/// A start vertex and a range of positions in its list, which the first extension is restricted
/// to; later walks over the start vertex's list see all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkUnit {
    /// The root.
    pub start: VertexId,
    /// Positions in its list.
    pub part: Range<u32>,
}

impl WorkUnit {
    /// One unit for each vertex, with its whole list.
    pub fn whole(view: View<'_>) -> Vec<WorkUnit> {
        (0..view.vertices() as VertexId)
            .map(|start| WorkUnit { start, part: 0..view.degree(start) as u32 })
            .collect()
    }
}

/// A run of algorithm 1 over work units.
pub struct Algorithm1<'a> {
    view: View<'a>,
    comparison: Comparison,
    context: &'a Context,
    /// What was done so far.
    pub counters: Counters,
    /// Accesses one by one, if they are to be kept.
    pub accesses: Option<Accesses>,
    /// Stop after so many embeddings; `None`: no end.
    pub max_embeddings: Option<u64>,
    visited: u64,
}

/// An embedding as an application sees it.
#[derive(Debug)]
pub struct Embedding<'e> {
    /// The members in the order in which they joined.
    pub vertices: &'e [VertexId],
    /// Adjacency bits of the members; see [`Pattern::from_bits`].
    pub bits: u128,
    /// Which earlier members the last one is next to, as bits of their positions.
    pub last_mask: u16,
}

impl<'a> Algorithm1<'a> {
    /// A run on a graph. It stops early, and says so, once `context.cancel` is raised.
    pub fn new(view: View<'a>, comparison: Comparison, context: &'a Context) -> Self {
        let (counters, accesses) = (Counters::default(), None);
        Algorithm1 {
            view,
            comparison,
            context,
            counters,
            accesses,
            max_embeddings: None,
            visited: 0,
        }
    }

    /// Runs the work units one after the other. `Break` says that the run was stopped, by the
    /// application, the limit or Ctrl-C.
    pub fn run(&mut self, units: &[WorkUnit], app: &mut dyn Application) -> ControlFlow<()> {
        self.context.progress.begin(units.len() as u64);
        for unit in units {
            let mut members = vec![unit.start];
            // A root belongs to the unit that holds the start of its list.
            if unit.part.start == 0 {
                *Counters::at(&mut self.counters.embeddings, 1) += 1;
            }
            self.extend(&mut members, 0, Some(unit.part.clone()), app)?;
            self.context.progress.add(1);
        }
        ControlFlow::Continue(())
    }

    fn extend(
        &mut self,
        members: &mut Vec<VertexId>,
        bits: u128,
        part: Option<Range<u32>>,
        app: &mut dyn Application,
    ) -> ControlFlow<()> {
        let size = members.len();
        if size >= app.max_size() {
            return ControlFlow::Continue(());
        }
        let lists = if app.root_list_only() { 1 } else { size };
        for position in 0..lists {
            let row = self.view.row(members[position]);
            self.vertex_access(size, members[position]);
            let part = part
                .as_ref()
                .map_or(row.clone(), |p| row.start + p.start as usize..row.start + p.end as usize);
            for entry in part {
                self.edge_access(size, entry);
                let u = self.view.neighbours[entry];
                if !self.passes_ids(members, position, u) {
                    continue;
                }
                *Counters::at(&mut self.counters.candidates, size + 1) += 1;
                let Some(mask) = self.connectivity(members, position, u) else {
                    continue;
                };
                members.push(u);
                let bits = bits | (mask as u128) << (size * (size - 1) / 2);
                let embedding = Embedding { vertices: members, bits, last_mask: mask };
                let mut flow = ControlFlow::Continue(());
                if app.filter(&embedding) {
                    *Counters::at(&mut self.counters.embeddings, size + 1) += 1;
                    self.visited += 1;
                    flow = app.process(&embedding);
                    if flow.is_continue() && self.is_over() {
                        flow = ControlFlow::Break(());
                    }
                    if flow.is_continue() {
                        flow = self.extend(members, bits, None, app);
                    }
                }
                members.pop();
                flow?;
            }
        }
        ControlFlow::Continue(())
    }

    fn is_over(&self) -> bool {
        self.max_embeddings.is_some_and(|max| self.visited >= max)
            || self.visited % 1024 == 0 && self.context.cancel.is_cancelled()
    }

    /// Rules 1 to 3.
    fn passes_ids(&self, members: &[VertexId], position: usize, u: VertexId) -> bool {
        let before = |v: &VertexId| self.comparison.before(*v, u);
        before(&members[0]) && members[position + 1..].iter().all(before) && !members.contains(&u)
    }

    /// The members that `u`, found in the list of the member at `position`, is next to; `None` if
    /// one of them comes before that (rule 4). The search ends at the first such.
    fn connectivity(&mut self, members: &[VertexId], position: usize, u: VertexId) -> Option<u16> {
        let size = members.len();
        self.vertex_access(size, u);
        let mut mask = 1u16 << position;
        for (i, &v) in members.iter().enumerate() {
            if i != position && self.search(size, u, v) {
                if i < position {
                    return None;
                }
                mask |= 1 << i;
            }
        }
        Some(mask)
    }

    /// Whether the list of `u` holds `v`: a binary search.
    fn search(&mut self, iteration: usize, u: VertexId, v: VertexId) -> bool {
        let mut range = self.view.row(u);
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            self.edge_access(iteration, middle);
            match self.view.neighbours[middle].cmp(&v) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => range.start = middle + 1,
                std::cmp::Ordering::Greater => range.end = middle,
            }
        }
        false
    }

    fn vertex_access(&mut self, iteration: usize, v: VertexId) {
        self.counters.vertex_accesses += 1;
        if let Some(accesses) = &mut self.accesses {
            Accesses::row(&mut accesses.vertices, iteration, self.view.vertices())[v as usize] += 1;
        }
    }

    fn edge_access(&mut self, iteration: usize, entry: usize) {
        self.counters.edge_accesses += 1;
        if let Some(accesses) = &mut self.accesses {
            Accesses::row(&mut accesses.edges, iteration, self.view.neighbours.len())[entry] += 1;
        }
    }
}

/// Runs frequent subgraph mining by occurrences up to `max_size` vertices: one run a size, each
/// with the patterns that were reported at the sizes before (the rule of the accelerator's
/// documentation, section on FSM). `run` makes one run of algorithm 1. Returns the reported
/// patterns by size, canonical, with their counts, and whether all runs were finished.
pub fn frequent_subgraphs<'a>(
    view: View<'a>,
    max_size: usize,
    support: u64,
    mut run: impl FnMut(&mut FrequentSubgraphs<'a>) -> ControlFlow<()>,
) -> (Vec<Count>, bool) {
    let mut results = vec![];
    let mut allowed = HashSet::new();
    for size in 2..=max_size {
        let mut app = FrequentSubgraphs::new(view, size, allowed.clone());
        if run(&mut app).is_break() {
            return (results, false);
        }
        let mut found: Vec<(Pattern, u128)> = app
            .into_counts()
            .into_iter()
            .filter(|(pattern, count)| {
                *count >= support.into()
                    && (size == 2 || sub_patterns(pattern).all(|p| allowed.contains(&p)))
            })
            .collect();
        found.sort_by(|(p, n), (q, m)| {
            (p.edge_count(), std::cmp::Reverse(n), p).cmp(&(
                q.edge_count(),
                std::cmp::Reverse(m),
                q,
            ))
        });
        if found.is_empty() {
            break;
        }
        allowed.extend(found.iter().map(|(p, _)| p.clone()));
        results.extend(found.into_iter().map(|(pattern, count)| Count { pattern, count }));
    }
    (results, true)
}

/// The canonical forms of the connected sub-patterns with one vertex fewer.
fn sub_patterns(pattern: &Pattern) -> impl Iterator<Item = Pattern> + '_ {
    let n = pattern.vertices();
    (0..n).filter_map(move |left_out| {
        let rest: Vec<usize> = (0..n).filter(|&v| v != left_out).collect();
        let rest = pattern.induced(&rest);
        rest.is_connected().then(|| rest.canonical().0)
    })
}

/// The engine `reference`: [`Algorithm1`] on one thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reference {
    /// The order of comparison.
    pub comparison: Comparison,
}

impl Engine for Reference {
    fn name(&self) -> String {
        "reference".into()
    }

    fn supports(&self, task: &Task) -> Result<()> {
        let what = match task {
            Task::Clique { .. }
            | Task::Motif { induced: Induced::Vertex, .. }
            | Task::Fsm {
                limit: SizeLimit::MaxVertices(_), measure: Measure::Embeddings, ..
            } => {
                return Ok(());
            }
            Task::Motif { .. } => "edge-induced motifs",
            Task::Fsm { .. } => "minimum-image support",
            Task::MaximalCliques => "maximal cliques",
            Task::Match { .. } => "matching",
        };
        Err(Error::Unsupported(format!(
            "the device reference (the paper's algorithm 1) doesn't know {what}; use --device cpu"
        )))
    }

    fn run(
        &self,
        graph: &Graph,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        task.check()?;
        self.supports(task)?;
        let view = graph.view();
        let units = WorkUnit::whole(view);
        let mut run = Algorithm1::new(view, self.comparison, context);
        let (results, complete) = match task {
            Task::Clique { k } => {
                let mut app = CliqueFinding::new(*k, sink);
                let flow = run.run(&units, &mut app);
                let pattern = Pattern::clique(*k);
                (vec![Count { pattern, count: app.count }], flow.is_continue())
            }
            Task::Motif { k, .. } => {
                let mut app = MotifCounting::new(*k, sink);
                let flow = run.run(&units, &mut app);
                let patterns = Dictionary::of(*k).patterns().iter().cloned();
                let results =
                    patterns.zip(app.counts).map(|(pattern, count)| Count { pattern, count });
                (results.collect(), flow.is_continue())
            }
            Task::Fsm { limit: SizeLimit::MaxVertices(max), support, .. } => {
                let found = frequent_subgraphs(view, *max, *support, |app| run.run(&units, app));
                match sink {
                    Some(sink) if found.1 => self.list_frequent(view, *max, found.0, sink, context),
                    _ => found,
                }
            }
            _ => unreachable!("supports() refused the task"),
        };
        Ok(Outcome { results, complete, ..Outcome::default() })
    }
}

impl Reference {
    /// Visits the embeddings of the reported patterns once more and hands them over.
    fn list_frequent(
        &self,
        view: View<'_>,
        max: usize,
        reported: Vec<Count>,
        sink: &dyn Sink,
        context: &Context,
    ) -> (Vec<Count>, bool) {
        let allowed = reported.iter().map(|c| c.pattern.clone()).collect();
        let mut app = FrequentSubgraphs::listing(view, max, allowed, sink);
        let flow =
            Algorithm1::new(view, self.comparison, context).run(&WorkUnit::whole(view), &mut app);
        if flow.is_continue() {
            return (reported, true);
        }
        // What was handed over before the end.
        let counts: BTreeMap<Pattern, u128> = app.into_counts().into_iter().collect();
        let listed = |c: Count| {
            let count = counts.get(&c.pattern).copied().unwrap_or(0);
            Count { pattern: c.pattern, count }
        };
        (reported.into_iter().map(listed).collect(), false)
    }
}

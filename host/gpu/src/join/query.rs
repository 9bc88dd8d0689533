//! What a join needs to know of a pattern: the order of its vertices, their candidates, and the lists that
//! linking edges lead along.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gramer_base::error::Result;
use gramer_graph::{Graph, Label, NO_LABEL};
use gramer_pattern::Pattern;
use gramer_pattern::plan::search::SearchPlan;
use gramer_pattern::task::{Induced, Mappings};

use crate::graph::ByDegree;
use crate::plan::{Depth, PlanWords};
use crate::search::{Order, Steps};
use crate::signature::{SignatureTable, join_order};

use super::Target;
use super::pcsr::{Edges, Partition, Shape};

/// A query for matches of a pattern.
pub(crate) struct MatchQuery<'a> {
    pub pattern: &'a Pattern,
    pub induced: Induced,
    pub mappings: Option<Mappings>,
}

impl MatchQuery<'_> {
    /// The mappings that are met; of occurrences some of the isomorphisms.
    fn met(&self) -> Mappings {
        self.mappings.unwrap_or_default()
    }
}

/// Edges that a list is made of: those of a label, all of them, or all with their labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Of(Label),
    All,
    Labelled,
}

/// A list that a linking edge leads along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    /// The column whose vertices have the list; with the kernels' limit of depths added for vertices that
    /// must not be neighbours.
    pub which: u32,
    pub kind: Kind,
    /// Label compared by the kernel.
    pub label: Label,
}

/// A vertex that is joined.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub near: Vec<Link>,
    pub far: Vec<Link>,
}

/// A pattern as joins.
pub(super) struct Query {
    pub plan: PlanWords,
    /// Candidates by depth: a bit per vertex of the graph.
    pub candidates: Vec<Vec<u32>>,
    /// Levels by depth, from 1.
    pub levels: Vec<Level>,
    /// Segments of the table of signatures; 0: candidates are by label and number of neighbours.
    pub signatures: usize,
}

/// Whether a label says which edges.
fn named(label: Label) -> bool {
    label != NO_LABEL
}

/// By pattern vertex the vertices of its label with enough neighbours, a bit each.
fn by_label(graph: &Graph, by: &ByDegree, asked: &MatchQuery<'_>) -> Vec<Vec<u32>> {
    let (pattern, apart) = (asked.pattern, asked.met().separates_neighbours());
    let least = |p: usize| pattern.degree(p).min(if apart { usize::MAX } else { 1 });
    let labels = graph.view().vertex_labels;
    let fits = |p: usize, v: usize| {
        let label = pattern.vertex_label(p);
        by.degree(v) as usize >= least(p)
            && (!named(label) || labels.is_none_or(|l| l[by.vertex[v] as usize] == label))
    };
    (0..pattern.vertices())
        .map(|p| {
            let mut bits = vec![0u32; by.vertices().div_ceil(32).max(1)];
            (0..by.vertices()).filter(|&v| fits(p, v)).for_each(|v| bits[v / 32] |= 1 << (v % 32));
            bits
        })
        .collect()
}

/// Numbers of candidates by pattern vertex.
fn count(bits: &[Vec<u32>]) -> Vec<u32> {
    bits.iter().map(|b| b.iter().map(|word| word.count_ones()).sum()).collect()
}

/// Numbers of vertices with each pattern vertex' label and enough neighbours.
pub(crate) fn sizes(graph: &Graph, by: &ByDegree, asked: &MatchQuery<'_>) -> Vec<u32> {
    count(&by_label(graph, by, asked))
}

/// Numbers of edges by label, once they were counted.
pub(crate) type LabelCounts = OnceLock<HashMap<Label, usize>>;

/// A pattern's plan in the order that is requested; by SGSI's with these numbers of candidates.
pub(crate) fn order_of(
    graph: &Graph,
    asked: &MatchQuery<'_>,
    steps: Steps,
    sizes: &[u32],
    labels: &LabelCounts,
) -> PlanWords {
    let &MatchQuery { pattern, induced, mappings } = asked;
    let repeats = mappings.filter(|kind| kind.repeats());
    match steps.order {
        Order::Cost => PlanWords::new(&match repeats {
            Some(kind) => SearchPlan::of_mappings(pattern, kind, true),
            None => SearchPlan::of(pattern, induced, mappings.is_some(), true),
        }),
        Order::Paper => {
            let all = graph.view().edge_labels.unwrap_or_default();
            let seen = labels.get_or_init(|| {
                let mut seen: HashMap<Label, usize> = HashMap::new();
                all.iter().for_each(|&label| *seen.entry(label).or_default() += 1);
                seen
            });
            let share = |u, v| match pattern.edge_label(u, v) {
                Some(label) if named(label) => {
                    let times = seen.get(&label).copied().unwrap_or(0);
                    times as f64 / all.len().max(1) as f64
                }
                _ => 1.0,
            };
            let order = join_order(pattern, sizes, share);
            match repeats {
                Some(kind) => PlanWords::repeating(pattern, kind, order),
                None => PlanWords::ordered(pattern, induced, mappings.is_some(), order),
            }
        }
    }
}

impl Query {
    /// The query; signatures stay on the device if `keep` is true.
    ///
    /// # Errors
    /// As [`SignatureTable::candidates`].
    pub fn new(
        target: &Target<'_>,
        asked: &MatchQuery<'_>,
        table: &mut SignatureTable,
        keep: bool,
    ) -> Result<Self> {
        let Target { graph, by, steps, settings, .. } = *target;
        let (mut bits, signatures) = match steps.signatures {
            true => table.candidates(target.device, by, graph, asked.pattern, asked.met(), keep)?,
            false => (by_label(graph, by, asked), 0),
        };
        let plan = order_of(graph, asked, steps, &count(&bits), target.labels);
        let candidates = plan.order.iter().map(|&v| std::mem::take(&mut bits[v])).collect();
        let labelled = graph.has_edge_labels();
        let link =
            |which: usize, label: Label| match (named(label) && labelled, settings.without.pcsr) {
                (false, _) => Link { which: which as u32, kind: Kind::All, label: NO_LABEL },
                (true, true) => Link { which: which as u32, kind: Kind::Labelled, label },
                (true, false) => {
                    Link { which: which as u32, kind: Kind::Of(label), label: NO_LABEL }
                }
            };
        let most = plan.limit().depths();
        let level = |depth: &Depth| {
            let columns = |set: u32| (0..most).filter(move |j| set >> j & 1 == 1);
            Level {
                near: columns(depth.near).map(|j| link(j, depth.edge_labels[j])).collect(),
                far: columns(depth.far).map(|j| link(j + most, NO_LABEL)).collect(),
            }
        };
        let levels = plan.depths[1..].iter().map(level).collect();
        Ok(Query { plan, candidates, levels, signatures })
    }

    /// Vertices of the pattern.
    pub fn depths(&self) -> usize {
        self.plan.size()
    }

    /// The kinds of lists, each once.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = vec![];
        for link in self.levels.iter().flat_map(|l| l.near.iter().chain(&l.far)) {
            if !kinds.contains(&link.kind) {
                kinds.push(link.kind);
            }
        }
        kinds
    }

    /// The candidates of a depth, ascending.
    pub fn list(&self, depth: usize) -> Vec<u32> {
        let words = self.candidates[depth].iter().enumerate();
        words
            .flat_map(|(at, &word)| {
                (0..32u32)
                    .filter(move |bit| word >> bit & 1 == 1)
                    .map(move |bit| 32 * at as u32 + bit)
            })
            .collect()
    }
}

/// Edges by kind, cut into segments; those that were made last stay.
#[derive(Default)]
pub(super) struct Lists {
    made: HashMap<Kind, Arc<Partition>>,
    how: Option<(usize, Shape)>,
    /// Labels in the order of the rows.
    labels: Option<Vec<u32>>,
    /// Increases when a list is made anew in another way.
    version: u64,
}

impl Lists {
    /// All that were made.
    pub fn made(&self) -> &HashMap<Kind, Arc<Partition>> {
        &self.made
    }

    /// The number that copies of the lists must have.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Sets the least number of segments and their parameters; lists of other ones are forgotten.
    pub fn keep(&mut self, how: (usize, Shape)) {
        if self.how.replace(how).is_some_and(|own| own != how) {
            self.made.clear();
            self.version += 1;
        }
    }

    /// The edges of a kind in at least as many segments as [`Lists::keep`] was given, of at most `room` words each.
    ///
    /// # Errors
    /// As [`Edges::cut`].
    pub fn get(
        &mut self,
        kind: Kind,
        by: &ByDegree,
        graph: &Graph,
        room: usize,
    ) -> Result<Arc<Partition>> {
        let fits = |p: &&Arc<Partition>| p.segments.iter().all(|s| s.words.len() <= room);
        if let Some(made) = self.made.get(&kind).filter(fits) {
            return Ok(made.clone());
        }
        let labels = match kind {
            Kind::All => &[][..],
            _ => self.labels.get_or_insert_with(|| by.edge_labels(graph)),
        };
        let mut edges = Edges { sources: vec![], ends: vec![], labels: vec![] };
        for v in 0..by.vertices() {
            let row = by.offsets[v] as usize..by.offsets[v + 1] as usize;
            for (e, &end) in row.clone().zip(&by.neighbours[row]) {
                let label = labels.get(e).copied();
                if matches!(kind, Kind::Of(wanted) if label != Some(wanted)) {
                    continue;
                }
                edges.sources.push(v as u32);
                edges.ends.push(end);
                edges.labels.extend(label.filter(|_| kind == Kind::Labelled));
            }
        }
        let (wished, shape) = self.how.expect("the parameters are known");
        let made = Arc::new(edges.cut(wished, room, shape)?);
        let before = self.made.insert(kind, made.clone());
        self.version += u64::from(before.is_some());
        Ok(made)
    }
}

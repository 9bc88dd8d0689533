//! Tasks whose tables are aggregated by pattern: motifs as DuMato's workflow has them (Ferraz et al., Alg. 9), and
//! frequent patterns level by level as GAMMA has them (Hu et al., Alg. 2), by both supports.
//!
//! Both are programs over the [primitives](super::primitives), so that tables of any size and graphs beyond the device's
//! memory are theirs too. Rows are grouped on the device; what is left of that are the groups in the host's memory.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Count, Outcome, Peers};
use gramer_pattern::Pattern;
use gramer_pattern::closing::results;
use gramer_pattern::task::{Induced, Measure as Support, SizeLimit, Task, parts_reported};

use super::OnDemandGraph;
use super::graph::TableGraph;
use super::primitives::{
    EdgeFilter, Filter, Group, GroupKey, GroupingTotals, Groups, Key, LevelPeers, MOST_EDGES,
    Measure, Mining, Table, Workflow,
};
use crate::engine::of_counted;
use crate::graph::ByDegree;
use crate::local::{Member, member};

impl OnDemandGraph {
    /// Motifs and frequent patterns, by aggregation of tables; frequent patterns with others, too.
    ///
    /// # Errors
    /// Errors of the primitives; [`Error::Unsupported`] for shares of frequent patterns.
    pub(super) fn by_pattern(
        &self,
        held: &mut Option<TableGraph>,
        task: &Task,
        (roots, together): (Option<&[u32]>, Option<&dyn Peers>),
        context: &Context,
        metrics: &mut DeviceMetrics,
    ) -> Result<Outcome> {
        // What other tasks left on the device makes room.
        *held = None;
        self.joins.lock().unwrap_or_else(PoisonError::into_inner).release();
        let labels = matches!(task, Task::Fsm { .. });
        let mut mining = self.mining.lock().unwrap_or_else(PoisonError::into_inner);
        if mining.as_ref().is_none_or(|mining| !mining.is_of_task(&self.graph, labels)) {
            *mining = None;
            let by = self.by.clone();
            *mining = Some(Mining::of_task(&self.gpu, &self.graph, by, labels, context)?);
        }
        let mining = mining.as_mut().expect("it was put there");
        mining.begin_task(context);
        if let Some((pages, slots)) = mining.pages() {
            metrics.detail("pages.number", "", Value::Setting(pages as u64));
            metrics.detail("pages.slots", "", Value::Setting(slots as u64));
        }
        let before = mining.exchanged();
        let outcome = match task {
            Task::Motif { k, induced } => motifs(mining, (*k, *induced), roots),
            Task::Fsm { limit, support, measure } => {
                let found = frequent(mining, (*limit, *support, *measure), together);
                if let Ok((outcome, Some(member))) = &found
                    && outcome.complete
                {
                    // Of a stopped run all have the same levels, and none a part of them.
                    let part = Value::Share { part: member.part(), whole: 1.0 };
                    metrics.headline("share.portions", "", part);
                }
                found.map(|found| found.0)
            }
            _ => Err(Error::Unsupported(format!("{} has no patterns to add up", task.name()))),
        };
        let (copied, passes) = mining.exchanged();
        metrics.detail("pages.copied", "", Value::Count(copied - before.0));
        metrics.detail("pages.passes", "", Value::Count(passes - before.1));
        let GroupingTotals { segments, merges, asked, left } = &mining.grouped;
        for (name, count) in [
            ("groups.segments", segments),
            ("groups.merges", merges),
            ("groups.asked", asked),
            ("groups.left", left),
        ] {
            metrics.detail(name, "", Value::Count(count.load(Ordering::Relaxed)));
        }
        outcome
    }
}

/// Connected sets of `k` vertices by pattern, whose vertex with the smallest number is one of `roots`.
///
/// # Errors
/// Errors of the primitives.
fn motifs(
    mining: &Mining,
    (k, induced): (usize, Induced),
    roots: Option<&[u32]>,
) -> Result<Outcome> {
    let workflow = Workflow::new(k).extend(..).filter(Filter::canonical());
    let (groups, complete) = workflow.patterns_from(mining, roots)?;
    let counts: HashMap<Pattern, u128> =
        groups.iter().filter_map(|group| Some((pattern(group)?.clone(), group.value))).collect();
    Ok(of_counted(k, induced, counts, complete))
}

/// Frequent patterns in the order of the other engines. A run that was stopped has those of the levels that are
/// whole. With others each device has the rows that begin with its part of the vertices or edges: a row is made from one
/// that is shorter, so that nothing but groups goes between them.
///
/// # Errors
/// [`Error::Unsupported`] for limits beyond the largest tables, [`Error::Usage`] for a measure that has no such
/// limit, and those of the primitives.
fn frequent(
    mining: &Mining,
    (limit, support, measure): (SizeLimit, u64, Support),
    together: Option<&dyn Peers>,
) -> Result<(Outcome, Option<Member>)> {
    let (mut found, mut own) = (vec![], None);
    let mut by = || {
        let with = together
            .map(|together| DeviceGroup::begin(together, mining.by.as_ref()))
            .transpose()?;
        own = with.map(|with| with.member);
        match (measure, limit) {
            (Support::Embeddings, SizeLimit::MaxVertices(max)) => {
                by_embeddings(mining, max, (support, with), &mut found)
            }
            (Support::Embeddings, SizeLimit::MaxEdges(_)) => {
                Err(Error::usage("measure embeddings needs max-vertices"))
            }
            (Support::Mni, limit) => by_images(mining, limit, (support, with), &mut found),
            (Support::Transactions, _) => {
                Err(Error::usage("a GPU does not count graphs: use the engine `cpu`"))
            }
            (Support::Instances, _) => {
                Err(Error::usage("tables count no instances: take the strategy `plan`"))
            }
        }
    };
    let complete = match by() {
        Ok(()) => true,
        Err(Error::Interrupted) => false,
        Err(error) => return Err(error),
    };
    results::sort(&mut found);
    Ok((Outcome::new(found, complete), own))
}

/// The other devices of a task, and the number of this one.
#[derive(Clone, Copy)]
struct DeviceGroup<'t> {
    together: &'t dyn Peers,
    member: Member,
}

impl<'t> DeviceGroup<'t> {
    /// # Errors
    /// As [`member`].
    fn begin(together: &'t dyn Peers, by: &ByDegree) -> Result<Self> {
        // Devices may be those of several processes, so that no counter tells them apart.
        let number = RandomState::new().build_hasher().finish();
        let same = (by.vertices() as u64) << 32 | by.neighbours.len() as u64;
        Ok(DeviceGroup { together, member: member(number, same, together)? })
    }

    fn at(self, level: usize) -> LevelPeers<'t> {
        LevelPeers { together: self.together, level }
    }
}

/// A level is a number of vertices. A set of vertices extends one with a vertex fewer, whose pattern is a sub-pattern
/// of it: rows of unreported patterns are dropped, since no reported pattern extends them.
fn by_embeddings(
    mining: &Mining,
    max: usize,
    (support, with): (u64, Option<DeviceGroup<'_>>),
    found: &mut Vec<Count>,
) -> Result<()> {
    let mut table = Table::own_vertices(mining, with.map(|with| with.member))?;
    let mut reported = HashSet::new();
    for vertices in 2..=max {
        let (key, measure, canonical) = (Key::Pattern, Measure::Count, Filter::canonical());
        let last = vertices == max;
        let others = with.map(|with| with.at(vertices));
        let groups = if last {
            table.aggregate_extensions_of(others, (.., &canonical), &key, &measure)?
        } else {
            table.extend_vertex(.., &canonical)?;
            table.aggregate_of(others, &key, &measure)?
        };
        let chosen = groups.chosen(|group| {
            group.value >= u128::from(support)
                && pattern(group).is_some_and(|pattern| parts_reported(pattern, &reported))
        });
        let own = report(&groups, |group| chosen.has(group), found);
        reported.extend(own);
        if last || chosen.is_empty() {
            break;
        }
        table.filter(&chosen)?;
    }
    Ok(())
}

/// A level is a number of edges. No part of a pattern has fewer images, so that rows of patterns with too few are
/// dropped.
fn by_images(
    mining: &Mining,
    limit: SizeLimit,
    (support, with): (u64, Option<DeviceGroup<'_>>),
    found: &mut Vec<Count>,
) -> Result<()> {
    let (vertices, edges) = match limit {
        SizeLimit::MaxVertices(n) => (n, n * (n - 1) / 2),
        SizeLimit::MaxEdges(n) => (n + 1, n),
    };
    if edges > MOST_EDGES {
        return Err(Error::Unsupported(format!(
            "the strategy table has patterns of at most {MOST_EDGES} edges by minimum images, and these may have \
             {edges}: take a smaller limit, or leave out the setting `strategy`"
        )));
    }
    let filter = EdgeFilter::canonical().and(EdgeFilter::vertices_at_most(vertices));
    let (key, measure) = (Key::Pattern, Measure::Mni);
    let mut table = Table::own_edges(mining, with.map(|with| with.member))?;
    for level in 1..=edges {
        let last = level == edges;
        let others = with.map(|with| with.at(level));
        let groups = if level == 1 {
            table.aggregate_of(others, &key, &measure)?
        } else if last {
            table.aggregate_extensions_of(others, &filter, &key, &measure)?
        } else {
            table.extend_edge(&filter)?;
            table.aggregate_of(others, &key, &measure)?
        };
        let frequent = groups.at_least(support.into());
        report(&groups, |group| frequent.has(group), found);
        if last || frequent.is_empty() {
            break;
        }
        table.filter(&frequent)?;
    }
    Ok(())
}

/// Adds what is reported of a level; returns its patterns.
fn report(
    groups: &Groups,
    wanted: impl Fn(&Group) -> bool,
    found: &mut Vec<Count>,
) -> Vec<Pattern> {
    let wanted = groups.iter().filter(|group| wanted(group));
    let own: Vec<Count> = wanted
        .filter_map(|group| Some(Count { pattern: pattern(group)?.clone(), count: group.value }))
        .collect();
    let patterns = own.iter().map(|count| count.pattern.clone()).collect();
    found.extend(own);
    patterns
}

fn pattern(group: &Group) -> Option<&Pattern> {
    match &group.by {
        GroupKey::Pattern(pattern) => Some(pattern),
        GroupKey::Number(_) => None,
    }
}

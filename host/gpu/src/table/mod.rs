//! The strategy `table`: GAMMA's embedding tables, extended breadth-first by intersection, within any
//! budget of device memory (Hu et al., "A graph pattern mining framework for large graphs on GPU").
//!
//! | module | what it holds |
//! |---|---|
//! | `graph` | the graph on the device, and how the budget is divided |
//! | `pages` | lists by pages, and which of them are hot |
//! | `host_buffer` | memory of the host that kernels read |
//! | `settings` | how the strategy uses the memories |
//! | `shape` | columns and regions, in the form of kernel arguments |
//! | `run` | extensions one after the other, depth-first |
//! | `whole` | whole columns one after the other, with tables in the host's memory and in a file |
//! | `store` | the segments of such tables |
//! | `sort` | records by key, in core and by merges of segments |
//! | `beside` | tasks handed over by `plan` |
//! | `patterns` | motifs and frequent patterns, by the primitives |
//! | [`primitives`] | extension, aggregation and filtering for programs of users |

mod beside;
mod graph;
mod host_buffer;
mod pages;
mod patterns;
pub mod primitives;
mod run;
mod settings;
mod shape;
mod sort;
mod store;
mod whole;

use std::sync::{Arc, Mutex, PoisonError};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Count, Outcome};
use gramer_graph::{Graph, Label, NO_LABEL};
use gramer_pattern::Pattern;
use gramer_pattern::task::Task;

use crate::Gpu;
use crate::device::Device;
use crate::engine::measured::{self, Baseline};
use crate::graph::{ByDegree, Numbering};
use crate::join::{self, Join, Joins, LabelCounts, MatchQuery, Target};
use crate::picked::RootSelection;
use crate::plan::{Depth, DepthLimit, PlanWords};
use crate::program::{CompilerStop, Program};
use crate::search;
use crate::stop::RunGuard;

use self::graph::{GraphRequest, Lists, SUMS, TableGraph, defines};
use self::primitives::Mining;
use self::run::{TableRun, TableUsage};
use self::shape::next_to_all;
use self::store::Room;

pub use pages::Access;
pub use settings::{Ablation, Mechanism, Merge, TableSettings, Traversal};

const COMMON: &str = include_str!("../../kernels/common.clh");
const SHARED: &str = include_str!("../../kernels/table.clh");
const TABLE: &str = include_str!("../../kernels/table.cl");
const PAGES: &str = include_str!("../../kernels/pages.cl");
const PACK: &str = include_str!("../../kernels/pack.cl");

/// Description of the strategy in answers.
pub(crate) const REASON: &str = "table: embedding tables by column";
const BY_PATTERN: &str = "table: embedding tables, aggregated by pattern";
const JOINED: &str = "table: joins into buffers that were allocated before";

/// Graph that tasks transfer to the device on demand.
pub struct OnDemandGraph {
    gpu: Gpu,
    graph: Graph,
    by: Arc<ByDegree>,
    held: Mutex<Option<TableGraph>>,
    joins: Mutex<Joins>,
    labels: LabelCounts,
    /// Primitives, for tasks that aggregate by pattern.
    mining: Mutex<Option<Mining>>,
}

/// A pattern as steps of extension.
struct Steps {
    wanted: GraphRequest,
    plan: Vec<Depth>,
    first_label: u32,
}

impl Steps {
    fn cliques(k: usize) -> Self {
        let wanted = GraphRequest {
            oriented: true,
            edge_labels: false,
            vertex_labels: false,
            columns: k - 1,
            breadth: false,
            share: false,
            levels: k - 1,
            groups: false,
            warps: None,
            limit: DepthLimit::of(k),
        };
        Steps { wanted, plan: (1..k).map(next_to_all).collect(), first_label: NO_LABEL }
    }

    fn pattern(words: &PlanWords) -> Self {
        let all = &words.depths;
        let named = |label: &Label| *label != NO_LABEL;
        let wanted = GraphRequest {
            oriented: false,
            edge_labels: all.iter().any(|depth| depth.edge_labels.iter().any(named)),
            vertex_labels: all.iter().any(|depth| named(&depth.label)),
            columns: all.len() - 1,
            breadth: false,
            share: false,
            levels: all.len() - 1,
            groups: false,
            warps: None,
            limit: words.limit(),
        };
        Steps { wanted, first_label: all[0].label, plan: all[1..].to_vec() }
    }
}

impl OnDemandGraph {
    /// Numbers the vertices by degree.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for 2³¹ edges and more, [`Error::Interrupted`].
    pub fn new(gpu: &Gpu, graph: &Graph, context: &Context) -> Result<Self> {
        let by = Arc::new(ByDegree::new(graph, Numbering::Degree, context)?);
        Ok(Self::beside(gpu, graph, by))
    }

    /// Memory settings.
    fn settings(&self) -> &TableSettings {
        self.gpu.of_tables()
    }

    fn program(&self, device: &Device, graph: &TableGraph) -> Result<Arc<Program>> {
        let lists = &graph.lists;
        let without = &self.settings().without;
        let mut defines = defines(device, graph.wanted.limit);
        for (name, set) in [
            ("PAGED", matches!(lists, Lists::PagedLists(_))),
            ("DEFER", lists.wait()),
            ("NO_GROUPS", without.groups),
            ("NO_FILTER", without.filter),
            ("PLAIN_LAYOUT", without.layout),
        ] {
            if set {
                defines.push_str(&format!("#define {name}\n"));
            }
        }
        device.program("table", &[COMMON, &defines, SHARED, TABLE, PAGES])
    }

    /// Counts what the steps lead to, from all vertices or from these; the flag says whether the run went to
    /// its end.
    fn count(
        &self,
        held: &mut Option<TableGraph>,
        steps: &Steps,
        roots: Option<&[u32]>,
        context: &Context,
        metrics: &mut DeviceMetrics,
    ) -> Result<(u128, bool)> {
        let device = self.gpu.device()?;
        // The last extension is only counted: with one alone there is no table.
        let breadth = self.settings().traversal == Traversal::Breadth && steps.plan.len() > 1;
        let warps = self.settings().warps;
        let wanted = GraphRequest { breadth, share: roots.is_some(), warps, ..steps.wanted };
        if held.as_ref().is_none_or(|h| h.wanted != wanted) {
            // First out, then in.
            *held = None;
            self.joins.lock().unwrap_or_else(PoisonError::into_inner).release();
            let access = self.settings().access.on(device);
            *held = Some(TableGraph::new(device, &self.by, &self.graph, wanted, access, context)?);
        }
        let graph = held.as_mut().expect("it was put there");
        let program = self.program(device, graph)?;
        graph.begin()?;
        let pack = match breadth {
            false => None,
            true => {
                let scan = format!("#define SCAN {}\n", device.lanes(whole::SCAN));
                Some(device.program("pack", &[COMMON, &scan, PACK])?)
            }
        };
        // What the arena has no room for comes later.
        let most = roots.map_or(0, |roots| roots.len().min(graph.most_roots()));
        let parts: Vec<Option<&[u32]>> = match roots {
            None => vec![None],
            Some(roots) => roots.chunks(most.max(1)).map(Some).collect(),
        };
        context.progress.begin(roots.map_or(graph.vertices, <[u32]>::len) as u64);
        let mut run = TableRun::new(graph, &program, &steps.plan, most, context);
        run.first_label = steps.first_label;
        let mut part = |roots: Option<&[u32]>| {
            let rows = run.begin(roots)?;
            match &pack {
                None => run.all(rows),
                Some(pack) => {
                    let room =
                        Room::of(self.settings().host_memory, self.settings().spill.as_deref());
                    run.whole(rows, pack, &room)
                }
            }
        };
        let complete = parts.into_iter().try_fold(true, |all, roots| match all {
            true => part(roots),
            false => Ok(false),
        });
        let used = run.used;
        // A run that failed may have left kernels in the queue that use the buffers.
        if complete.is_err() {
            let _ = device.finish();
        }
        let complete = complete?;
        let sums = graph.sums()?;
        report(metrics, graph, &sums, used);
        Ok((sums[0], complete))
    }
}

impl OnDemandGraph {
    /// Returns the answer of a run with its measurements.
    fn measured(
        &self,
        before: Baseline,
        reason: &str,
        mut details: DeviceMetrics,
    ) -> Result<DeviceMetrics> {
        let device = self.gpu.device()?;
        let mut metrics = before.headlines(&self.gpu, device);
        metrics.detail("run.strategy", "", Value::Text(reason.into()));
        measured::details(&self.gpu, device, &mut metrics)?;
        metrics.metrics.append(&mut details.metrics);
        Ok(metrics)
    }

    /// Counts a pattern of two vertices and more by the join that is set.
    fn matches(
        &self,
        held: &mut Option<TableGraph>,
        asked: &MatchQuery<'_>,
        roots: Option<&[u32]>,
        context: &Context,
        metrics: &mut DeviceMetrics,
    ) -> Result<(u128, bool)> {
        let steps = self.gpu.steps();
        if self.settings().join == Join::Intersect {
            let sizes = join::sizes(&self.graph, &self.by, asked);
            let plan = join::order_of(&self.graph, asked, steps, &sizes, &self.labels);
            return self.count(held, &Steps::pattern(&plan), roots, context, metrics);
        }
        // What extensions left on the device makes room.
        *held = None;
        let target = Target {
            device: self.gpu.device()?,
            by: &self.by,
            graph: &self.graph,
            settings: self.settings(),
            steps,
            labels: &self.labels,
        };
        let mut joins = self.joins.lock().unwrap_or_else(PoisonError::into_inner);
        joins.count(&target, asked, roots, context, metrics)
    }
}

/// Reports the work of a run.
fn report(metrics: &mut DeviceMetrics, graph: &TableGraph, sums: &[u128; SUMS], used: TableUsage) {
    let count = |n: u128| Value::Count(n.min(u64::MAX.into()) as u64);
    metrics.detail("table.rows", "", count(sums[5]));
    metrics.detail("table.segments", "", Value::Count(used.segments));
    metrics.detail("table.compacted", "", Value::Count(used.compacted));
    metrics.detail("spill.host", "bytes", Value::Count(used.spilled));
    metrics.detail("spill.file", "bytes", Value::Count(used.filed));
    metrics.detail("pool.blocks", "", Value::Count(used.blocks));
    metrics.detail("pool.refills", "", Value::Count(used.refills));
    metrics.detail("elements.tested", "", count(sums[1]));
    metrics.detail("filter.passed", "", count(sums[2]));
    let Lists::PagedLists(paged) = &graph.lists else { return };
    let hits = paged.heat.hits();
    let bytes = 4u64 << paged.bits;
    let share = |part| Value::Share { part, whole: hits.all };
    metrics.detail("pages.number", "", Value::Setting(paged.heat.slot_of.len() as u64));
    metrics.detail("pages.slots", "", Value::Setting(paged.heat.slots() as u64));
    metrics.detail("pages.bytes", "bytes", Value::Setting(bytes));
    metrics.detail("pages.copied", "", Value::Count(paged.copied));
    metrics.detail("pages.passes", "", Value::Count(paged.passes));
    metrics.detail("pages.hot", "bytes", count(4 * sums[3]));
    metrics.detail("pages.cold", "bytes", count(4 * sums[4]));
    metrics.detail("pages.hits", "", share(hits.heat));
    metrics.detail("pages.hits.fixed", "", share(hits.fixed));
    metrics.detail("pages.hits.recent", "", share(hits.recent));
    let [part, whole] = hits.again;
    metrics.detail("pages.again", "", Value::Share { part, whole });
}

impl OnDemandGraph {
    /// Answers a task by embedding tables.
    pub(crate) fn answer(&self, task: &Task, run: &gramer_engine::Run<'_>) -> Result<Outcome> {
        let context = run.context;
        let picked = RootSelection::of(run.units, self.graph.view(), &self.by);
        let roots = picked.as_ref().map(|picked| picked.roots.as_slice());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let _heeding = CompilerStop::begin(&context.cancel);
        let _watched = RunGuard::begin(&context.cancel, None)?;
        let before = Baseline::of(self.gpu.device()?);
        let mut details = DeviceMetrics::default();
        let aggregated = matches!(task, Task::Motif { .. } | Task::Fsm { .. });
        if !aggregated {
            *self.mining.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let one = |pattern: &Pattern, (count, complete)| {
            Outcome::new(vec![Count { pattern: pattern.clone(), count }], complete)
        };
        let mut outcome = match task {
            Task::Motif { .. } | Task::Fsm { .. } => {
                self.by_pattern(&mut held, task, (roots, run.peers), context, &mut details)?
            }
            Task::Match { pattern, induced, mappings } => {
                let compared = search::comparable(&self.graph, pattern, mappings.is_some())?;
                let asked =
                    MatchQuery { pattern: &compared, induced: *induced, mappings: *mappings };
                one(pattern, self.matches(&mut held, &asked, roots, context, &mut details)?)
            }
            Task::Clique { k } => {
                let steps = Steps::cliques(*k);
                let found = self.count(&mut held, &steps, roots, context, &mut details)?;
                one(&Pattern::clique(*k), found)
            }
            _ => {
                return Err(Error::Unsupported(format!("no tables are made for {}", task.name())));
            }
        };
        let joined = matches!(task, Task::Match { .. }) && self.settings().join == Join::Prealloc;
        let reason = match task {
            _ if aggregated => BY_PATTERN,
            _ if joined => JOINED,
            _ => REASON,
        };
        outcome.devices.push(self.measured(before, reason, details)?);
        outcome.warnings.extend(self.gpu.notes());
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use gramer_pattern::plan::search::SearchPlan;
    use gramer_pattern::task::Induced;

    use super::*;

    /// Unused room would reduce the number of pages, and missing labels must not be read.
    #[test]
    fn labels_of_edges_are_wanted_by_patterns_that_have_some() {
        let steps = |pattern: &Pattern| {
            Steps::pattern(&PlanWords::new(&SearchPlan::of(pattern, Induced::Edge, false, true)))
        };
        let wanted = |pattern: &Pattern| {
            let GraphRequest { vertex_labels, edge_labels, .. } = steps(pattern).wanted;
            (vertex_labels, edge_labels)
        };
        let mut pattern = Pattern::clique(3);
        assert_eq!(wanted(&pattern), (false, false));
        (0..3).for_each(|v| pattern.set_vertex_label(v, 7));
        assert_eq!(wanted(&pattern), (true, false));
        [(0, 1), (0, 2), (1, 2)].iter().for_each(|&(u, v)| pattern.set_edge_label(u, v, 1));
        assert_eq!(wanted(&pattern), (true, true));
    }
}

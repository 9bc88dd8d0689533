//! A graph on the device, and each strategy's way to an answer.

mod together;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::frequent::{by_embeddings, by_instances};
use gramer_engine::{Count, EngineExt, Outcome, Peers, Sink};
use gramer_graph::Graph;
use gramer_pattern::closing::forms::Sums;
use gramer_pattern::closing::results;
use gramer_pattern::closing::{self, Closing, forms};
use gramer_pattern::task::{Induced, Measure, SizeLimit};
use gramer_pattern::{Dictionary, Pattern};

use super::Gpu;
use super::trial::TrialRecord;
use crate::by_label::ByLabel;
use crate::cycles::Cycles;
use crate::five;
use crate::formula::{self, Triangles};
use crate::fsm;
use crate::graph::Numbering;
use crate::local::{self, Depth, Heads, Member, Roots};
use crate::memory::Buffer;
use crate::picked::RootSelection;
use crate::resident::Resident;
use crate::search::{self, Labels, Question, Rival};
use crate::table::OnDemandGraph;
use crate::wide::{self, WideTask};

/// A graph on the device, with what tasks derive from it.
pub struct ResidentGraph {
    pub(super) gpu: Gpu,
    pub(super) resident: Resident,
    pub(super) numbering: Numbering,
    /// Tasks share the sums: one runs at a time.
    pub(super) running: Mutex<()>,
    /// By [`Depth`].
    roots: [OnceLock<Roots>; Depth::COUNT],
    /// Its part of them where several devices count together.
    parts: [Mutex<Option<local::Part>>; Depth::COUNT],
    /// The same of the wedges.
    own_cycles: Mutex<Option<(Member, Cycles)>>,
    /// Another one for each graph on a device.
    number: u64,
    /// `None`: they have no room.
    heads: OnceLock<Option<Heads>>,
    cycles: OnceLock<Cycles>,
    edges: OnceLock<Buffer<u32>>,
    pub(super) graph: Graph,
    labels: OnceLock<Labels>,
    by_label: OnceLock<ByLabel>,
    /// Tables, for matches that they count faster.
    pub(super) table: OnDemandGraph,
    pub(super) decided: Mutex<Vec<TrialRecord>>,
}

/// Numbers of graphs on devices.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The value of a cell, made by `make` if it has none.
pub(super) fn made<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    Ok(cell.get().expect("it was set above"))
}

/// The outcome after a stop of other devices: nothing is known.
fn stopped<T>(found: Result<(Vec<T>, bool)>) -> Result<(Vec<T>, bool)> {
    match found {
        Err(Error::Interrupted) => Ok((vec![], false)),
        other => other,
    }
}

impl ResidentGraph {
    /// A graph from which nothing has been derived yet.
    pub(super) fn new(gpu: &Gpu, resident: Resident, numbering: Numbering, graph: &Graph) -> Self {
        let table = OnDemandGraph::beside(gpu, graph, resident.by.clone());
        ResidentGraph {
            gpu: gpu.clone(),
            table,
            decided: Mutex::default(),
            resident,
            numbering,
            running: Mutex::new(()),
            roots: Default::default(),
            parts: Default::default(),
            own_cycles: Mutex::default(),
            number: NUMBERS.fetch_add(1, Relaxed),
            heads: OnceLock::new(),
            cycles: OnceLock::new(),
            edges: OnceLock::new(),
            graph: graph.clone(),
            labels: OnceLock::new(),
            by_label: OnceLock::new(),
        }
    }
}

impl ResidentGraph {
    /// The roots for cliques of `k`.
    fn roots(&self, k: usize) -> Result<&Roots> {
        let depth = Depth::of(k);
        made(&self.roots[depth as usize], || Roots::new(&self.resident, depth))
    }

    /// Calls `count` with the place where the triangles of all units or of a share are counted.
    fn triangles<T>(
        &self,
        share: Option<&RootSelection>,
        count: impl FnOnce(Triangles<'_>) -> Result<T>,
    ) -> Result<T> {
        if share.is_none()
            && let Some(heads) = made(&self.heads, || Heads::new(&self.resident))?
        {
            return count(Triangles::Heads(heads));
        }
        let all = self.roots(3)?;
        let own = share.map(|share| all.of_share(&self.resident, share)).transpose()?;
        count(Triangles::Roots(own.as_ref().unwrap_or(all)))
    }

    pub(super) fn cliques(
        &self,
        k: usize,
        share: Option<&RootSelection>,
        context: &Context,
    ) -> Result<Outcome> {
        let complete = if k == 3 {
            self.triangles(share, |triangles| {
                self.resident.begin()?;
                triangles.count(&self.resident, context)
            })?
        } else {
            let all = self.roots(k)?;
            let own = share.map(|share| all.of_share(&self.resident, share)).transpose()?;
            self.resident.begin()?;
            local::count(&self.resident, own.as_ref().unwrap_or(all), k, None, context)?
        };
        // What was counted before the stop is a lower bound, unless roots were still being weighed.
        let count = if complete || k < 6 { self.resident.read()?[0] } else { 0 };
        let complete = complete && !self.resident.was_stopped();
        Ok(Outcome::new(vec![Count { pattern: Pattern::clique(k), count }], complete))
    }

    /// Counts a pattern by search, and hands what is found to the sink.
    pub(super) fn matches(
        &self,
        pattern: &Pattern,
        induced: Induced,
        mappings: bool,
        part: Part<'_>,
        context: &Context,
    ) -> Result<(Count, bool)> {
        self.matches_or(pattern, induced, mappings, part, None, context)
    }

    /// The same, unless another strategy takes over.
    pub(super) fn matches_or(
        &self,
        pattern: &Pattern,
        induced: Induced,
        mappings: bool,
        part: Part<'_>,
        rival: Option<Rival<'_>>,
        context: &Context,
    ) -> Result<(Count, bool)> {
        let asked = search::comparable(&self.graph, pattern, mappings)?;
        let labels = made(&self.labels, || Labels::new(&self.resident, &self.graph))?;
        let (Part { share, sink }, steps) = (part, self.gpu.steps());
        let question = Question { given: pattern, induced, mappings, sink, share, steps };
        let (count, complete) =
            search::run(&self.resident, &self.graph, labels, &asked, (&question, rival), context)?;
        Ok((Count { pattern: pattern.clone(), count }, complete))
    }

    /// Cliques or motifs by search, pattern by pattern.
    pub(super) fn search(
        &self,
        patterns: &[Pattern],
        induced: Induced,
        part: Part<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let (mut results, mut complete) = (vec![], true);
        for pattern in patterns {
            let found = match complete {
                true => self.matches(pattern, induced, false, part, context)?,
                false => (Count { pattern: pattern.clone(), count: 0 }, false),
            };
            complete &= found.1;
            results.push(found.0);
        }
        Ok(Outcome::new(results, complete))
    }

    /// Frequent patterns, in the order of the CPU engine; of a run that went to its end the sink gets
    /// what they stand for.
    pub(super) fn frequent(
        &self,
        (limit, support, measure): (SizeLimit, u64, Measure),
        sink: Option<&dyn Sink>,
        together: Option<&dyn Peers>,
        context: &Context,
    ) -> Result<Outcome> {
        let (device, graph) = (&self.resident.device, &self.graph);
        let (mut results, mut complete) = match (measure, limit) {
            (Measure::Mni, limit) => {
                let by = made(&self.by_label, || ByLabel::new(device, graph, context))?;
                let fault = self.resident.fault();
                let found =
                    fsm::by_images(device, graph, by, (limit, support), together, fault, context);
                let found = stopped(found)?;
                self.resident.check()?;
                found
            }
            (Measure::Embeddings, SizeLimit::MaxVertices(max)) => {
                // A search's progress is a part of the level's.
                let own = Context { progress: Arc::default(), ..context.clone() };
                stopped(by_embeddings(graph, max, support, together, context, |pattern| {
                    let all = Part { share: None, sink: None };
                    let found = self.matches(pattern, Induced::Vertex, false, all, &own)?;
                    Ok((found.0.count, found.1))
                }))?
            }
            (Measure::Embeddings, SizeLimit::MaxEdges(_)) => {
                return Err(Error::usage("measure embeddings needs max-vertices"));
            }
            (Measure::Instances, SizeLimit::MaxEdges(max)) => {
                let own = Context { progress: Arc::default(), ..context.clone() };
                stopped(by_instances(graph, max, support, together, context, |pattern| {
                    let all = Part { share: None, sink: None };
                    let found = self.matches(pattern, Induced::Edge, false, all, &own)?;
                    Ok((found.0.count, found.1))
                }))?
            }
            (Measure::Instances, SizeLimit::MaxVertices(_)) => {
                return Err(Error::usage("measure instances needs max-edges"));
            }
            (Measure::Transactions, _) => {
                return Err(Error::usage("a GPU does not count graphs: use the engine `cpu`"));
            }
        };
        results::sort(&mut results);
        let induced = if measure == Measure::Embeddings { Induced::Vertex } else { Induced::Edge };
        for Count { pattern, .. } in sink.map_or(&[][..], |_| &results[..]) {
            if complete {
                let part = Part { share: None, sink };
                complete = self.matches(pattern, induced, false, part, context)?.1;
            }
        }
        Ok(Outcome::new(results, complete))
    }

    pub(super) fn wide_cliques(
        &self,
        k: usize,
        part: Part<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let found = self.wide(k, WideTask::Cliques, part, context)?;
        let pattern = Pattern::clique(k);
        let count = found.counts.get(&pattern).copied().unwrap_or(0);
        Ok(Outcome::new(vec![Count { pattern, count }], found.complete))
    }

    pub(super) fn wide_motifs(
        &self,
        k: usize,
        induced: Induced,
        part: Part<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let wide::PatternCounts { counts, complete } =
            self.wide(k, WideTask::Motifs, part, context)?;
        Ok(of_counted(k, induced, counts, complete))
    }

    fn wide(
        &self,
        k: usize,
        wanted: WideTask,
        part: Part<'_>,
        context: &Context,
    ) -> Result<wide::PatternCounts> {
        wide::search(&self.resident, k, wanted, self.gpu.shape(), part.share, context)
    }

    /// Motifs by closed formulas; of a share, the sums that they want.
    pub(super) fn motifs(
        &self,
        k: usize,
        induced: Induced,
        share: Option<&RootSelection>,
        context: &Context,
    ) -> Result<Outcome> {
        if k == 5 {
            return self.motifs_of_five(induced, context);
        }
        let sums = if k == 3 {
            self.triangles(share, |triangles| {
                formula::three(&self.resident, triangles, share, context)
            })?
        } else {
            let all = self.roots(k)?;
            let cycles = made(&self.cycles, || Cycles::new(&self.resident))?;
            let edges = self.triangles_of_arcs()?;
            match share {
                None => formula::four(&self.resident, all, cycles, edges, context)?,
                Some(share) => {
                    let resident = &self.resident;
                    formula::four_of_share(resident, all, cycles, edges, share, context)?
                }
            }
        };
        match (sums, share) {
            (Some(sums), Some(_)) => {
                let sums =
                    closing::Sums { closing: Closing::MotifForms { k }, values: sums.to_vec() };
                Ok(Outcome { sums: Some(sums), ..Outcome::new(vec![], true) })
            }
            (Some(sums), None) => self.motifs_of(k, induced, &sums),
            (None, _) => Ok(unfinished(k)),
        }
    }

    /// Motifs of three or four vertices from the sums of a whole graph.
    fn motifs_of(&self, k: usize, induced: Induced, sums: &Sums) -> Result<Outcome> {
        forms::motifs(k, induced, sums).map(|results| Outcome::new(results, true)).ok_or_else(
            || Error::Device(format!(
                "{}: the device returned impossible sums; this is a bug in gramer or the driver",
                self.gpu.name()
            )),
        )
    }

    /// Room for a number of each arc.
    fn triangles_of_arcs(&self) -> Result<&Buffer<u32>> {
        let arcs = self.resident.oriented.ends.len();
        let place = self.resident.device.place();
        made(&self.edges, || Buffer::new(&place, arcs, "triangles of arcs"))
    }

    /// The same for five vertices, of all units.
    fn motifs_of_five(&self, induced: Induced, context: &Context) -> Result<Outcome> {
        // Arcs that stand for large roots have no triangles of their own.
        let (roots, edges) = ([self.roots(3)?, self.roots(5)?], self.triangles_of_arcs()?);
        let Some(sums) = five::sums(&self.resident, roots, edges, context)? else {
            return Ok(unfinished(5));
        };
        let counts = sums.edge_induced().and_then(|counts| match induced {
            Induced::Edge => Some(counts),
            Induced::Vertex => forms::vertex_induced(5, &counts),
        });
        let counts = counts.ok_or_else(|| {
            Error::Device(format!(
                "{}: the device returned impossible sums; this is a bug in gramer or the driver",
                self.gpu.name()
            ))
        })?;
        Ok(of_patterns(5, Induced::Vertex, counts, true))
    }
}

/// The part of a task that a run does: the roots that count, and who takes embeddings.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) share: Option<&'a RootSelection>,
    pub(super) sink: Option<&'a dyn Sink>,
}

/// The formulas need all sums: a run that was not finished gives zeros.
fn unfinished(k: usize) -> Outcome {
    let zero = |p: &Pattern| Count { pattern: p.clone(), count: 0 };
    Outcome::new(Dictionary::of(k).patterns().iter().map(zero).collect(), false)
}

/// The answer from vertex-induced counts in the order of the dictionary.
fn of_patterns(k: usize, induced: Induced, mut counts: Vec<u128>, complete: bool) -> Outcome {
    if induced == Induced::Edge {
        counts = forms::edge_induced(k, &counts);
    }
    let patterns = Dictionary::of(k).patterns().iter();
    let results = patterns.zip(counts).map(|(p, count)| Count { pattern: p.clone(), count });
    Outcome::new(results.collect(), complete)
}

/// The answer from vertex-induced counts by pattern: up to six vertices all patterns, above those that occur.
pub(crate) fn of_counted(
    k: usize,
    induced: Induced,
    mut counts: HashMap<Pattern, u128>,
    complete: bool,
) -> Outcome {
    if k <= 6 {
        let patterns = Dictionary::of(k).patterns();
        let counts = patterns.iter().map(|p| counts.remove(p).unwrap_or(0)).collect();
        return of_patterns(k, induced, counts, complete);
    }
    let mut results: Vec<Count> =
        counts.into_iter().map(|(pattern, count)| Count { pattern, count }).collect();
    results.sort_by_key(|c| (c.pattern.edge_count(), c.pattern.bits()));
    Outcome::new(results, complete)
}

impl Drop for ResidentGraph {
    fn drop(&mut self) {
        // A run that failed or was stopped may have left kernels in the queue that use the buffers. The driver keeps these as
        // long, so that a program that ends needn't wait.
        if !self.gpu.settings().stays_open {
            let _ = self.resident.device.finish();
        }
    }
}

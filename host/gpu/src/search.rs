//! The strategy `plan`: matching by depth-first search over sorted lists (`kernels/search.cl`).

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::Instant;

use gramer_base::choice::Choice;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::Sink;
use gramer_graph::{Graph, Label, NO_LABEL, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::closing::labels;
use gramer_pattern::plan::search::SearchPlan;
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::Induced;

use crate::Trial;
use crate::device::Arg;
use crate::few;
use crate::lanes::LANES;
use crate::memory::Buffer;
use crate::picked::RootSelection;
use crate::plan::{DepthLimit, PlanWords};
use crate::program::Program;
use crate::resident::Resident;
pub(crate) use crate::signature::COLUMNS;
use crate::signature::{self, Candidates, join_order};

const COMMON: &str = include_str!("../kernels/common.clh");
const SEARCH: &str = include_str!("../kernels/search.cl");
const DONATE: &str = include_str!("../kernels/donate.cl");

/// Words of the control block; as in `search.cl`.
const CONTROL_WORDS: usize = 8;
/// Lanes of the kernels of donations that have one for each group.
const ROLE_LANES: usize = 64;
/// Bytes of the ring that listed embeddings go through.
const RING_BYTES: u64 = 8 << 20;
/// Steps of a group in the first launch, which then grow or shrink to slices of this length.
const FIRST_BUDGET: f64 = 4096.0;
const SLICE_SECONDS: f64 = 0.02;

/// Data of the graph that the search needs in addition to its rows.
pub(crate) struct Labels {
    /// The vertex that each row entry is in.
    sources: Buffer<u32>,
    pub vertices: Option<Buffer<u32>>,
    pub edges: Option<Buffer<u32>>,
    /// Signatures of vertices, computed on first use.
    signatures: OnceLock<Buffer<u32>>,
    /// Share of the edges by label, as [`Order::Paper`] asks for.
    shares: HashMap<Label, f64>,
}

impl Labels {
    /// Uploads them to the device, in its order of vertices.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the budget is too small.
    pub fn new(resident: &Resident, graph: &Graph) -> Result<Self> {
        let (by, view) = (&resident.by, graph.view());
        let place = resident.device.place();
        let sources: Vec<u32> = (0..by.vertices())
            .flat_map(|v| std::iter::repeat_n(v as u32, by.degree(v) as usize))
            .collect();
        let vertices = view.vertex_labels.map(|labels| {
            let labels: Vec<Label> = by.vertex.iter().map(|&v| labels[v as usize]).collect();
            Buffer::of(&place, &labels, "vertex labels")
        });
        let edges =
            view.edge_labels.map(|_| Buffer::of(&place, &by.edge_labels(graph), "edge labels"));
        let mut shares = HashMap::new();
        for &label in view.edge_labels.unwrap_or_default() {
            *shares.entry(label).or_default() += 1.0 / view.neighbours.len() as f64;
        }
        Ok(Labels {
            signatures: OnceLock::new(),
            shares,
            sources: Buffer::of(&place, &sources, "the edges' sources")?,
            vertices: vertices.transpose()?,
            edges: edges.transpose()?,
        })
    }
}

impl Labels {
    fn candidates(&self, resident: &Resident, pattern: &Pattern) -> Result<Candidates> {
        if self.signatures.get().is_none() {
            let _ = self.signatures.set(signature::table(resident, self)?);
        }
        let table = self.signatures.get().expect("it was set above");
        signature::candidates(resident, self, table, pattern)
    }

    /// Share of the edges that have the label of a pattern's edge.
    fn share(&self, pattern: &Pattern, u: usize, v: usize) -> f64 {
        match pattern.edge_label(u, v) {
            Some(label) if label != NO_LABEL => self.shares.get(&label).copied().unwrap_or(0.0),
            _ => 1.0,
        }
    }
}

/// A question about a pattern.
pub(crate) struct Question<'a> {
    /// The pattern as requested, under whose name the sink gets embeddings.
    pub given: &'a Pattern,
    pub induced: Induced,
    pub mappings: bool,
    pub sink: Option<&'a dyn Sink>,
    /// Roots of the run; `None`: all.
    pub share: Option<&'a RootSelection>,
    pub steps: Steps,
}

impl Question<'_> {
    /// Whether a vertex of the graph is a root that counts.
    pub fn counts(&self, v: VertexId, resident: &Resident) -> bool {
        self.share.is_none_or(|share| share.has(v, &resident.by))
    }
}

/// Order in which a pattern's vertices get their images.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// By estimates of a graph of a million vertices.
    #[default]
    Cost,
    /// As SGSI joins (Alg. 1): by the numbers of candidates and the frequencies of edge labels.
    Paper,
}

impl Choice for Order {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Order::Cost, "cost", "By the estimated cost"),
        (Order::Paper, "paper", "As SGSI joins, by candidates and frequencies of edge labels"),
    ];
}

/// Steps of SGSI that a search takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Whether candidates are found by signatures first.
    pub signatures: bool,
    /// The order of a pattern's vertices.
    pub order: Order,
}

/// Checks that the pattern can be searched for here, and returns the labels to compare with the graph's.
///
/// # Errors
/// [`Error::Usage`] if it asks for labels that the graph doesn't have; [`Error::Unsupported`] where
/// wildcards next to labels let mappings have the same image.
pub(crate) fn comparable(graph: &Graph, pattern: &Pattern, mappings: bool) -> Result<Pattern> {
    let (of_vertices, of_edges) = (graph.has_vertex_labels(), graph.has_edge_labels());
    let asked = labels::comparable(pattern, of_vertices, of_edges)?;
    if !mappings && ambiguous(&asked) {
        return Err(Error::Unsupported(
            "with wildcards next to labels, several mappings of this pattern have the same image, \
             which the GPU engine can't distinguish; count mappings, or use the engine `cpu`"
                .into(),
        ));
    }
    Ok(asked)
}

/// Result of counting by a plan: the count and whether the run is complete, or no answer.
pub(crate) type Ask<'a> = dyn FnMut(&PlanWords) -> Result<Option<(u128, bool)>> + 'a;

/// Another strategy that may count instead.
pub(crate) struct Rival<'a> {
    /// The time of the question; none: at once.
    pub trial: Option<Trial>,
    /// Called once, with the plan; an answer ends the search.
    pub ask: &'a mut Ask<'a>,
}

/// Counts the embeddings of a question and hands them to the sink, unless a rival answers; the flag says whether the
/// search is complete.
///
/// # Errors
/// [`Error::Device`], [`Error::Unsupported`] if the budget is too small.
pub(crate) fn run(
    resident: &Resident,
    graph: &Graph,
    labels: &Labels,
    pattern: &Pattern,
    (question, rival): (&Question<'_>, Option<Rival<'_>>),
    context: &Context,
) -> Result<(u128, bool)> {
    if pattern.vertices() == 1 {
        return Ok(few::vertices(resident, graph, pattern, question));
    }
    if resident.by.neighbours.is_empty() {
        return Ok((0, true));
    }
    let steps = question.steps;
    let candidates = match steps.signatures || steps.order == Order::Paper {
        true => Some(labels.candidates(resident, pattern)?),
        false => None,
    };
    if candidates.as_ref().is_some_and(|c| c.sizes.iter().any(|size| size[1] == 0)) {
        return Ok((0, true));
    }
    let plan = match (steps.order, &candidates) {
        (Order::Paper, Some(candidates)) => {
            let sizes: Vec<u32> = candidates.sizes.iter().map(|size| size[1]).collect();
            let order = join_order(pattern, &sizes, |u, v| labels.share(pattern, u, v));
            PlanWords::ordered(pattern, question.induced, question.mappings, order)
        }
        _ => {
            let plan = SearchPlan::of(pattern, question.induced, question.mappings, true);
            PlanWords::new(&plan)
        }
    };
    let candidates = candidates.filter(|_| steps.signatures);
    // Listing two vertices would need the last depth, which edges already are.
    if plan.size() == 2 && question.sink.is_some() {
        return Ok(few::edges(resident, graph, pattern, &plan, question));
    }
    let mut rival = rival.filter(|_| plan.size() > 2);
    if let Some(known) = rival.take_if(|rival| rival.trial.is_none())
        && let Some(answer) = (known.ask)(&plan)?
    {
        return Ok(answer);
    }
    SearchRun::new(resident, labels, &plan, question, candidates)?.all(rival, context)
}

/// Words of a group's state; as in `search.cl`.
fn state_words(limit: DepthLimit) -> usize {
    4 * limit.depths()
}

/// A search on the device.
struct SearchRun<'a> {
    resident: &'a Resident,
    labels: &'a Labels,
    plan: &'a PlanWords,
    question: &'a Question<'a>,
    candidates: Option<Candidates>,
    groups: usize,
    span: usize,
    words: Buffer<u32>,
    control: Buffer<u32>,
    states: Buffer<u32>,
    /// Groups that give work, and at the half those that take some.
    roles: Buffer<u32>,
    lists: Buffer<u32>,
    ring: Buffer<u32>,
    records: usize,
    /// Edges that are tasks, and how many, where they aren't all.
    picked: Option<(Buffer<u32>, usize)>,
}

impl<'a> SearchRun<'a> {
    fn new(
        resident: &'a Resident,
        labels: &'a Labels,
        plan: &'a PlanWords,
        question: &'a Question<'a>,
        candidates: Option<Candidates>,
    ) -> Result<Self> {
        let (device, by) = (&resident.device, &resident.by);
        let place = device.place();
        resident.full()?;
        let span = by.longest.max(1) as usize;
        let picked = question.share.map(|share| share.edges(device, by)).transpose()?;
        let (depths, state_words) = (plan.size(), state_words(plan.limit()));
        // An embedding of the longest list must fit into the ring at once.
        let records = match question.sink {
            Some(_) => {
                let wished = RING_BYTES.min(device.budget.free() / 4) as usize / (4 * depths);
                wished.max(span)
            }
            None => 0,
        };
        let ring = Buffer::new(&place, records * depths, "the ring of embeddings")?;
        let slot = 4 * (depths * span + state_words) as u64;
        let wished = if device.limits.portable { 2 } else { 16 } * device.limits.units;
        let entries = picked.as_ref().map_or(by.neighbours.len(), |p| p.1);
        let tasks = entries.div_ceil(LANES);
        let room = (device.budget.free() / 2 / slot) as usize;
        let groups = wished.min(tasks).min(room).max(1);
        let zeros = vec![0u32; groups * state_words];
        Ok(SearchRun {
            words: Buffer::of(&place, &plan.words(), "the plan")?,
            control: Buffer::new(&place, CONTROL_WORDS, "the control block")?,
            states: Buffer::of(&place, &zeros, "states of searches")?,
            roles: Buffer::new(&place, 2 * groups, "givers and takers of work")?,
            lists: Buffer::new(&place, groups * depths * span, "candidates of searches")?,
            resident,
            labels,
            plan,
            question,
            candidates,
            groups,
            span,
            ring,
            records,
            picked,
        })
    }

    /// Launches slices until all edges are done.
    fn all(mut self, mut rival: Option<Rival<'_>>, context: &Context) -> Result<(u128, bool)> {
        let device = &self.resident.device;
        let listed = self.question.sink.is_some();
        let defines = format!(
            "#define LANES {}\n{}{}{}{}",
            device.lanes(LANES),
            self.plan.limit().define(),
            if listed { "#define LIST\n" } else { "" },
            if self.candidates.is_some() { "#define CANDIDATES\n" } else { "" },
            if self.picked.is_some() { "#define PICKED\n" } else { "" }
        );
        let lanes = device.form()?.source();
        let program = device.program("search", &[COMMON, &defines, &lanes, SEARCH, DONATE])?;
        let entries = self.picked.as_ref().map_or(self.resident.by.neighbours.len(), |p| p.1);
        context.progress.begin(entries as u64);
        self.resident.begin()?;
        let (mut budget, mut next, mut embeddings) = (FIRST_BUDGET, 0u32, 0u128);
        let (mut spent, mut before) = (0.0, 0);
        loop {
            if context.cancel.is_cancelled() {
                let found = before + self.resident.read()?[0];
                return Ok((found.min(self.seen(embeddings)), false));
            }
            let mut control = [0; CONTROL_WORDS];
            control[0] = next;
            self.control.write(&device.queue, &control)?;
            if next as usize >= entries {
                self.donate(&program)?;
            }
            let begun = Instant::now();
            let args = self.args(budget as u32);
            device.launch(&program, "search", &args, self.groups, device.lanes(LANES))?;
            self.control.read(&device.queue, &mut control)?;
            let took = begun.elapsed().as_secs_f64().max(1e-6);
            // One that ended for want of work says little of how much there is time for.
            let longer = if control[7] == 0 { 4.0 } else { 1.0 };
            budget = (budget * (SLICE_SECONDS / took).clamp(0.25, longer)).clamp(16.0, 1e9);
            // Groups that found no edge left have counted on.
            let reached = control[0].min(entries as u32);
            context.progress.add(u64::from(reached - next.min(reached)));
            next = reached;
            if listed {
                let (handed, flow) = self.drain(control[3] as usize)?;
                embeddings += handed;
                if flow.is_break() {
                    self.resident.read()?;
                    return Ok((embeddings, false));
                }
            }
            if control[1] as usize == self.groups {
                return Ok((before + self.resident.read()?[0], true));
            }
            spent += took;
            let due = |trial: Trial| trial.is_due(spent, reached, entries);
            if let Some(rival) = rival.take_if(|rival| rival.trial.is_some_and(due)) {
                // It uses the same sums.
                before += self.resident.read()?[0];
                if let Some(answer) = (rival.ask)(self.plan)? {
                    return Ok(answer);
                }
                self.resident.begin()?;
            }
        }
    }

    /// Queues the division of work among groups that have some and those that have none.
    fn donate(&self, program: &Program) -> Result<()> {
        let device = &self.resident.device;
        let groups = Arg::U32(self.groups as u32);
        let (states, roles) = (self.states.raw(), self.roles.raw());
        let (control, fault) = (self.control.raw(), self.resident.fault().raw());
        let buffers = || (Arg::Buffer(states), Arg::Buffer(control), Arg::Buffer(roles));
        let each = || {
            let (states, control, roles) = buffers();
            [states, groups, control, roles, Arg::Buffer(fault)]
        };
        let lanes = device.lanes(ROLE_LANES);
        device.launch(program, "donate_roles", &each(), self.groups.div_ceil(lanes), lanes)?;
        let (states, control, roles) = buffers();
        let depths = Arg::U32(self.plan.size() as u32);
        let (lists, span) = (Arg::Buffer(self.lists.raw()), Arg::U32(self.span as u32));
        let take = [states, lists, groups, depths, span, control, roles, Arg::Buffer(fault)];
        device.launch(program, "donate_take", &take, self.groups, device.lanes(LANES))?;
        device.launch(program, "donate_keep", &each(), self.groups.div_ceil(lanes), lanes)
    }

    /// The count of a stopped run: a list has the embeddings that were handed on.
    fn seen(&self, embeddings: u128) -> u128 {
        if self.question.sink.is_some() { embeddings } else { u128::MAX }
    }

    fn args(&self, budget: u32) -> Vec<Arg> {
        let resident = self.resident;
        let full = resident.full().expect("it was put there by new");
        let dummy = resident.fault().raw();
        let raw = |labels: &Option<Buffer<u32>>| labels.as_ref().map_or(dummy, Buffer::raw);
        let mut args = vec![
            Arg::Buffer(full.offsets.raw()),
            Arg::Buffer(full.ends.raw()),
            Arg::Buffer(self.labels.sources.raw()),
            Arg::Buffer(raw(&self.labels.vertices)),
            Arg::Buffer(raw(&self.labels.edges)),
            Arg::Buffer(self.words.raw()),
            Arg::U32(self.plan.size() as u32),
            Arg::U32(resident.by.vertices() as u32),
            Arg::U32(resident.by.neighbours.len() as u32),
            Arg::Buffer(self.control.raw()),
            Arg::Buffer(self.states.raw()),
            Arg::Buffer(self.lists.raw()),
            Arg::U32(self.span as u32),
            Arg::U32(budget),
            Arg::Buffer(self.ring.raw()),
            Arg::U32(self.records as u32),
            Arg::Buffer(self.candidates.as_ref().map_or(dummy, |c| c.bits.raw())),
            Arg::Buffer(resident.sums.raw()),
            Arg::Buffer(dummy),
        ];
        if let Some((edges, tasks)) = &self.picked {
            args.extend([Arg::Buffer(edges.raw()), Arg::U32(*tasks as u32)]);
        }
        args
    }

    /// Hands the embeddings in the ring to the sink: how many, and whether it wants more.
    fn drain(&self, records: usize) -> Result<(u128, ControlFlow<()>)> {
        let depths = self.plan.size();
        let mut words = vec![0; records * depths];
        if records == 0 {
            return Ok((0, ControlFlow::Continue(())));
        }
        self.ring.read(&self.resident.device.queue, &mut words)?;
        let sink = self.question.sink.expect("a list has a sink");
        let mut vertices = vec![0; depths];
        for (at, record) in words.chunks_exact(depths).enumerate() {
            for (&v, &number) in self.plan.order.iter().zip(record) {
                vertices[v] = self.resident.by.vertex[number as usize];
            }
            if sink.embedding(self.question.given, &vertices).is_break() {
                return Ok((at as u128 + 1, ControlFlow::Break(())));
            }
        }
        Ok((records as u128, ControlFlow::Continue(())))
    }
}

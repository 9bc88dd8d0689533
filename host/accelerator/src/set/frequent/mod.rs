//! Frequent subgraphs on a core with plans: the host makes candidates, each of which is a plan that counts or lists.
//!
//! By embeddings the core counts each candidate; of candidates with three vertices it counts only the triangles, which
//! it lists at once if they are few. By minimum images it lists the occurrences of candidates whose domains the host
//! cannot derive.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use gramer_base::choice::Choice;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_cpu::Cpu;
use gramer_cpu::images::{ListedCandidate, by_images};
use gramer_engine::frequent::by_embeddings;
use gramer_engine::{Count, EngineExt, Outcome, Peers, Sink, Units};
use gramer_graph::{Graph, Label, NO_LABEL, VertexId, View};
use gramer_pattern::Pattern;
use gramer_pattern::closing::results;
use gramer_pattern::plan::matching_order::Estimates;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

use super::plan::estimates::{LabelPairs, estimates};
use super::plan::run::{PlanImages, PlanInput, Runs};
use super::plan::words::Program;
use super::tasks::unsupported;

/// Labels of a graph whose pairs are counted once for all candidates.
const FEW_LABELS: usize = 1024;
/// Triangles that the host takes one by one: those of more are counted by their labels.
const MOST_TRIANGLES: u64 = 1 << 16;

/// Request for frequent patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrequentRequest {
    /// The largest ones.
    pub limit: SizeLimit,
    /// Least support.
    pub support: u64,
    /// Measure of support.
    pub measure: Measure,
}

impl FrequentRequest {
    /// The request in a task, if it is one for frequent patterns.
    pub fn of(task: &Task) -> Option<Self> {
        match *task {
            Task::Fsm { limit, support, measure } => {
                Some(FrequentRequest { limit, support, measure })
            }
            _ => None,
        }
    }
}

/// Mines frequent patterns, in the order of the CPU engine; of a run that went to its end the sink gets what they stand
/// for. With others each examines some of a level's candidates.
///
/// # Errors
/// Errors of the runs and of `together`.
pub fn mine(
    runs: &mut dyn Runs,
    (graph, images): (&Graph, &PlanImages),
    asked: FrequentRequest,
    (sink, together): (Option<&dyn Sink>, Option<&dyn Peers>),
    context: &Context,
) -> Result<Outcome> {
    let FrequentRequest { limit, support, measure } = asked;
    let mut core = CoreRunner::new(runs, graph, images);
    let found = match (measure, limit) {
        (Measure::Embeddings, SizeLimit::MaxVertices(max)) => {
            by_embeddings(graph, max, support, together, context, |pattern| {
                match context.cancel.is_cancelled() {
                    true => Ok((0, false)),
                    false => core.count(pattern),
                }
            })
        }
        (Measure::Embeddings, SizeLimit::MaxEdges(_)) => {
            return Err(Error::usage("measure embeddings needs max-vertices"));
        }
        (Measure::Transactions | Measure::Instances, _) => {
            let measure = measure.name();
            return Err(Error::usage(format!(
                "the core does not count by the measure {measure}: use the engine `cpu`"
            )));
        }
        (Measure::Mni, limit) => {
            let list = &mut |wanted: &ListedCandidate<'_>| core.list_images(wanted);
            by_images(graph, limit, support, together, context, list)
        }
    };
    let (mut results, mut complete) = match found {
        Err(Error::Interrupted) => (vec![], false),
        found => found?,
    };
    results::sort(&mut results);
    let induced = if measure == Measure::Mni { Induced::Edge } else { Induced::Vertex };
    if let Some(sink) = sink {
        for Count { pattern, .. } in &results {
            complete = complete && core.list(pattern, induced, sink, context)?;
        }
    }
    Ok(Outcome::new(results, complete))
}

/// A graph on the core, with derived data.
struct CoreRunner<'a> {
    runs: &'a mut dyn Runs,
    levels: u32,
    lists: bool,
    graph: &'a Graph,
    images: &'a PlanImages,
    /// Of a graph with few labels: all of their pairs.
    pairs: Option<LabelPairs>,
    /// Edge-induced wedges by their labels, the middle's first, the others in order.
    wedges: Option<HashMap<[Label; 3], u128>>,
    /// Triangles by their labels in order, as far as they were counted.
    triangles: HashMap<[Label; 3], u128>,
    /// Whether these are all; `None` before it was tried.
    all_triangles: Option<bool>,
}

impl<'a> CoreRunner<'a> {
    fn new(runs: &'a mut dyn Runs, graph: &'a Graph, images: &'a PlanImages) -> Self {
        let mut labels = graph.view().vertex_labels.unwrap_or(&[NO_LABEL]).to_vec();
        labels.sort_unstable();
        labels.dedup();
        let pairs = (labels.len() <= FEW_LABELS).then(|| LabelPairs::new(graph.view(), labels));
        let levels = runs.machine().set.as_ref().map_or(0, |set| set.plan_levels);
        let lists = super::matches::lists(runs.machine());
        let (wedges, triangles, all_triangles) = (None, HashMap::new(), None);
        CoreRunner { runs, levels, lists, graph, images, pairs, wedges, triangles, all_triangles }
    }

    fn on(&self) -> PlanInput<'a> {
        PlanInput { view: self.graph.view(), images: self.images, roots: Units::All, may: None }
    }

    /// What a plan's cost model knows of a pattern; nothing of one without labels.
    fn known(&self, pattern: &Pattern) -> Option<Estimates> {
        pattern.has_vertex_labels().then(|| match &self.pairs {
            Some(pairs) => pairs.estimates(pattern),
            None => estimates(self.graph.view(), pattern),
        })
    }

    fn refused(&self) -> impl Fn(String) -> Error + use<> {
        let machine = self.runs.machine().clone();
        move |what| unsupported(&machine, &what)
    }

    /// Vertex-induced embeddings, and whether all were counted.
    fn count(&mut self, pattern: &Pattern) -> Result<(u128, bool)> {
        if pattern.vertices() == 3 {
            return self.triple(pattern);
        }
        self.count_by_plan(pattern)
    }

    fn count_by_plan(&mut self, pattern: &Pattern) -> Result<(u128, bool)> {
        let program = match self.known(pattern) {
            None => Program::counting(pattern, Induced::Vertex, self.levels),
            Some(known) => Program::estimated(pattern, Induced::Vertex, self.levels, &known),
        };
        let program = program.map_err(self.refused())?;
        let (sum, whole) = self.on().count(&mut *self.runs, &program)?;
        Ok((program.occurrences(sum), whole))
    }

    /// A pattern of three vertices: of a wedge all pairs of neighbours, but for those in triangles.
    fn triple(&mut self, pattern: &Pattern) -> Result<(u128, bool)> {
        let middle = (0..3).find(|&v| pattern.degree(v) == 2).expect("it is connected");
        let [a, b, c] =
            [middle, (middle + 1) % 3, (middle + 2) % 3].map(|v| pattern.vertex_label(v));
        let mut labels = [a, b, c];
        labels.sort_unstable();
        let (triangles, whole) = self.triangles(labels)?;
        if pattern.edge_count() == 3 || !whole {
            return Ok((triangles, whole));
        }
        let view = self.graph.view();
        let wedges = self.wedges.get_or_insert_with(|| wedges(view));
        let all = wedges.get(&[a, b.min(c), b.max(c)]).copied().unwrap_or(0);
        // Each vertex of a triangle that has the middle's label is the middle of one.
        let middles = labels.iter().filter(|&&label| label == a).count() as u128;
        Ok((all - middles * triangles, true))
    }

    /// Triangles with these labels, which are in order.
    fn triangles(&mut self, labels: [Label; 3]) -> Result<(u128, bool)> {
        if self.all_triangles.is_none() && self.graph.has_vertex_labels() && self.lists {
            let (all, stopped) = self.list_triangles()?;
            if stopped {
                return Ok((0, false));
            }
            self.all_triangles = Some(all);
        }
        match self.triangles.get(&labels) {
            Some(&known) => return Ok((known, true)),
            None if self.all_triangles == Some(true) => return Ok((0, true)),
            None => {}
        }
        let [a, b, c] = labels;
        let is = |a, b| self.pairs.as_ref().is_none_or(|pairs| pairs.has_edge(a, b));
        if !(is(a, b) && is(b, c) && is(a, c)) {
            return Ok((0, true));
        }
        let mut triangle = Pattern::clique(3);
        if self.graph.has_vertex_labels() {
            (0..3).for_each(|v| triangle.set_vertex_label(v, labels[v]));
        }
        let (count, whole) = self.count_by_plan(&triangle)?;
        if whole {
            self.triangles.insert(labels, count);
        }
        Ok((count, whole))
    }

    /// Lists the triangles of all labels in one launch, unless there are too many; whether these are all, and whether
    /// the run was stopped.
    fn list_triangles(&mut self) -> Result<(bool, bool)> {
        let program = self.listing(&Pattern::clique(3), Induced::Vertex, None)?;
        let view = self.graph.view();
        let found: Mutex<(HashMap<[Label; 3], u128>, u64)> = Mutex::default();
        let take = |vertices: &[VertexId]| {
            let mut labels = [0, 1, 2].map(|v| view.vertex_label(vertices[v]));
            labels.sort_unstable();
            let (counts, all) = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(labels).or_default() += 1;
            *all += 1;
            *all < MOST_TRIANGLES
        };
        let (_, whole) = self.on().list(&mut *self.runs, &program, Some(MOST_TRIANGLES), &take)?;
        let (counts, all) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if whole {
            self.triangles = counts;
        }
        Ok((whole, !whole && all < MOST_TRIANGLES))
    }

    /// Lists the occurrences of a candidate for its domains.
    fn list_images(&mut self, wanted: &ListedCandidate<'_>) -> Result<bool> {
        let mut known = self.known(wanted.pattern);
        if let Some(known) = &mut known {
            // Roots that are in no occurrence are left out.
            known.candidates = wanted.images.iter().map(|&images| images as f64).collect();
        }
        let program = self.listing(wanted.pattern, Induced::Edge, known.as_ref())?;
        let root = program.listed()[1];
        let may = |v: VertexId| (wanted.may)(root, v);
        let on = PlanInput { may: Some(&may), ..self.on() };
        Ok(on.list(&mut *self.runs, &program, None, wanted.found)?.1)
    }

    fn listing(
        &self,
        pattern: &Pattern,
        induced: Induced,
        known: Option<&Estimates>,
    ) -> Result<Program> {
        let program = Program::listing(pattern, (induced, false), self.levels, known);
        program.map_err(self.refused())
    }

    /// Lists what a pattern that was found stands for; whether that went to its end.
    fn list(
        &mut self,
        pattern: &Pattern,
        induced: Induced,
        sink: &dyn Sink,
        context: &Context,
    ) -> Result<bool> {
        if pattern.vertices() < 3 {
            // Labels alone say which edges these are.
            let task = Task::Match { pattern: pattern.clone(), induced, mappings: None };
            return Ok(Cpu.run(self.graph, &task, Some(sink), context)?.complete);
        }
        let program = self.listing(pattern, induced, self.known(pattern).as_ref())?;
        let take = |vertices: &[VertexId]| sink.embedding(pattern, vertices).is_continue();
        Ok(self.on().list(&mut *self.runs, &program, sink.limit(), &take)?.1)
    }
}

/// Pairs of neighbours of a vertex, by its label and theirs, these in order.
fn wedges(view: View<'_>) -> HashMap<[Label; 3], u128> {
    let label = |v: VertexId| view.vertex_labels.map_or(NO_LABEL, |labels| labels[v as usize]);
    let mut wedges: HashMap<[Label; 3], u128> = HashMap::new();
    for v in 0..view.vertices() as VertexId {
        let mut near: Vec<Label> = view.neighbours(v).iter().map(|&u| label(u)).collect();
        near.sort_unstable();
        let groups: Vec<(Label, u128)> =
            near.chunk_by(|a, b| a == b).map(|group| (group[0], group.len() as u128)).collect();
        for (at, &(a, n)) in groups.iter().enumerate() {
            *wedges.entry([label(v), a, a]).or_default() += n * (n - 1) / 2;
            for &(b, m) in &groups[at + 1..] {
                *wedges.entry([label(v), a, b]).or_default() += n * m;
            }
        }
    }
    wedges
}

#[cfg(test)]
mod tests;

//! Matches of a pattern, counted and listed by a core with plans.

use gramer_base::error::{Error, Result};
use gramer_engine::{Count, Outcome, Sink, Units};
use gramer_graph::{Graph, Label, NO_LABEL, VertexId, View};
use gramer_machine::Accelerator;
use gramer_pattern::Pattern;
use gramer_pattern::automorphism_count;
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::{Induced, Task};

use super::plan::estimates::estimates;
use super::plan::image::Order;
use super::plan::run::{PlanImages, PlanInput, Runs};
use super::plan::words::{CountPlan, Program};
use super::tasks::unsupported;
use super::wedges::{self, Shape};

/// Whether a machine's core has plans.
pub(crate) fn has_plans(machine: &Accelerator) -> bool {
    machine.set.as_ref().is_some_and(|set| set.plan_levels > 0)
}

/// True if a machine's core lists: it has plans, and an argument for the room for records.
pub(crate) fn lists(machine: &Accelerator) -> bool {
    has_plans(machine) && machine.arguments.iter().any(|argument| argument.name == "result_beats")
}

/// A match as a core with plans counts or lists it.
#[derive(Debug, Clone)]
pub struct Match {
    program: Program,
    /// The request.
    given: Pattern,
    /// Without labels of edges.
    pattern: Pattern,
    induced: Induced,
    /// Mappings are counted, not occurrences.
    mappings: bool,
    /// The request is for cliques, listed as matches.
    clique: bool,
    lists: bool,
}

impl Match {
    /// What a task is here; `None` for one that is no match, and on a core without plans. Cliques that are listed are
    /// matches, too.
    ///
    /// # Errors
    /// What a machine does and this pattern is not, as in "counts patterns of 3 to 8 vertices, and this one has 9".
    pub fn of(
        machine: &Accelerator,
        task: &Task,
        lists: bool,
    ) -> std::result::Result<Option<Self>, String> {
        let levels = machine.set.as_ref().map_or(0, |set| set.plan_levels);
        let fits = 3..=levels as usize + 1;
        let (given, induced, mappings, clique) = match task {
            Task::Match { pattern, induced, mappings } => {
                (pattern.clone(), *induced, mappings.is_some(), false)
            }
            Task::Clique { k } if lists && fits.contains(k) => {
                (Pattern::clique(*k), Induced::Vertex, false, true)
            }
            _ => return Ok(None),
        };
        if levels == 0 {
            return Ok(None);
        }
        if lists && !self::lists(machine) {
            return Err("counts embeddings and doesn't list them".into());
        }
        let pattern = without_one_edge_label(&given);
        let program = match lists {
            false => Program::counting(&pattern, induced, levels),
            true => Program::listing(&pattern, (induced, mappings), levels, None),
        };
        let program = program?;
        if !mappings && ambiguous(&pattern) {
            return Err(
                "can't distinguish mappings of this pattern with the same image, since it \
                 has vertices with and without labels; it counts mappings"
                    .into(),
            );
        }
        Ok(Some(Match { program, given, pattern, induced, mappings, clique, lists }))
    }

    /// The words for a graph: of a pattern with labels those of the plan that is best there, if the core
    /// takes it.
    fn program_in(&self, view: View<'_>, machine: &Accelerator) -> Program {
        let levels = machine.set.as_ref().map_or(0, |set| set.plan_levels);
        let (pattern, general) = (&self.pattern, || self.program.clone());
        match self.program.order() {
            Order::View => general(),
            Order::Labels => {
                let known = estimates(view, pattern);
                let best = match self.lists {
                    false => Program::estimated(pattern, self.induced, levels, &known),
                    true => {
                        let what = (self.induced, self.mappings);
                        Program::listing(pattern, what, levels, Some(&known))
                    }
                };
                best.unwrap_or_else(|_| general())
            }
        }
    }

    /// The runs that count it with this program, or cheaper ones if all roots are present: with a part of the roots,
    /// the surplus to subtract may be of other roots.
    fn counted(&self, program: Program, machine: &Accelerator, roots: Units<'_>) -> CountPlan {
        let levels = machine.set.as_ref().map_or(0, |set| set.plan_levels);
        let better = CountPlan::of(&self.pattern, self.induced, levels).ok();
        let better = better.filter(|better| better.less.is_some() && roots.share().is_none());
        better.unwrap_or_else(|| CountPlan::from(program))
    }

    /// Counts it by the map, if it is a shape that the core counts so, all roots are there, and the graph has room in that
    /// form.
    fn by_wedges(
        &self,
        runs: &mut dyn Runs,
        (view, images): (View<'_>, &PlanImages),
        roots: Units<'_>,
    ) -> Result<Option<Outcome>> {
        let shape = Shape::of(runs.machine(), &self.pattern, self.induced);
        let Some(shape) = shape.filter(|_| roots.share().is_none()) else { return Ok(None) };
        let found = wedges::run::count(runs, (view, &images.wedges), shape)?;
        let each = if self.mappings { automorphism_count(&self.pattern) } else { 1 };
        Ok(found.map(|(count, complete)| {
            let count = Count { pattern: self.given.clone(), count: count * each };
            Outcome::new(vec![count], complete)
        }))
    }

    /// Refuses a share of it where what the core counts is a part of an occurrence: the counts of shares
    /// would not add up.
    fn divided(&self, program: &Program, machine: &Accelerator) -> Result<()> {
        if self.clique {
            // Which unit a clique is of depends on the plan, and other engines share cliques by another rule.
            let what = "lists cliques whole, and not in shares";
            return Err(unsupported(machine, what));
        }
        if self.mappings || self.lists || program.is_whole() {
            return Ok(());
        }
        let what = "counts this pattern whole, and not in shares";
        Err(unsupported(machine, what))
    }
}

/// A pattern without the label of its edges, if they have no other: some programs write the same one for
/// every edge, and a graph without labels of edges is then meant.
fn without_one_edge_label(pattern: &Pattern) -> Pattern {
    let edges = pattern.edges();
    let labels = edges.iter().filter_map(|&(i, j)| pattern.edge_label(i, j));
    let mut labels: Vec<Label> = labels.filter(|&label| label != NO_LABEL).collect();
    labels.sort_unstable();
    labels.dedup();
    if labels.len() != 1 {
        return pattern.clone();
    }
    let mut plain = Pattern::from_edges(pattern.vertices(), &edges);
    for v in (0..pattern.vertices()).filter(|_| pattern.has_vertex_labels()) {
        plain.set_vertex_label(v, pattern.vertex_label(v));
    }
    plain
}

/// Counts a match from some roots, or lists it into the sink.
///
/// # Errors
/// [`Error::Usage`] for a pattern with labels on a graph without, [`Error::Unsupported`] for a graph or
/// sets without room, [`Error::Device`], [`Error::Interrupted`].
pub(super) fn run(
    runs: &mut dyn Runs,
    (graph, images): (&Graph, &PlanImages),
    (wanted, sink): (&Match, Option<&dyn Sink>),
    roots: Units<'_>,
) -> Result<Outcome> {
    let (view, machine) = (graph.view(), runs.machine().clone());
    if wanted.pattern.has_vertex_labels() && view.vertex_labels.is_none() {
        return Err(Error::usage(
            "the pattern asks for vertex labels, but the graph has none: give the graph labels (the \
             setting `labels`), or take the labels out of the pattern",
        ));
    }
    if wanted.given.has_edge_labels() && graph.has_edge_labels() {
        return Err(unsupported(&machine, "matches patterns without labels of edges"));
    }
    let program = wanted.program_in(view, &machine);
    if roots.share().is_some() {
        wanted.divided(&program, &machine)?;
    }
    let on = PlanInput { view, images, roots, may: None };
    let (count, complete) = match sink {
        Some(sink) => {
            let take =
                |vertices: &[VertexId]| sink.embedding(&wanted.given, vertices).is_continue();
            on.list(runs, &program, sink.limit(), &take)?
        }
        None => {
            if let Some(found) = wanted.by_wedges(runs, (view, images), roots)? {
                return Ok(found);
            }
            let counted = wanted.counted(program, &machine, roots);
            let (less, whole) = match &counted.less {
                Some((_, less)) => on.count(runs, less)?,
                None => (0, true),
            };
            let (sum, complete) = match whole {
                true => on.count(runs, &counted.program)?,
                false => (0, false), // what is too much isn't known
            };
            let count = match wanted.mappings {
                true => counted.mappings(sum, less),
                false => counted.occurrences(sum, less),
            };
            (count, complete)
        }
    };
    Ok(Outcome::new(vec![Count { pattern: wanted.given.clone(), count }], complete))
}

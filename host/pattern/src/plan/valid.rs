//! Checks whether a plan from a file can be executed.

use gramer_graph::NO_LABEL;

use crate::plan::planner::partitions;
use crate::plan::search::{
    FORMULA_VERTICES, Formula, MEMO_VERTICES, NextStep, Partitions, SCHEMA, SearchPlan, Source,
    Step, bits,
};
use crate::{MAX_VERTICES, VertexSet};

/// Fault, with its position in the plan.
type CheckResult = Result<(), String>;

/// Fails with a message unless something holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        if !$holds {
            return Err(format!($($message)*));
        }
    };
}

impl SearchPlan {
    /// Whether every executor can run the plan: numbers of steps, sets, vertices and classes are there
    /// and come in an order in which they are known, every vertex is mapped or counted once, no two
    /// vertices share an image, and formulas over partitions are those of their sources. That the plan
    /// finds what its pattern says is not looked at. A plan is checked when it is deserialised.
    ///
    /// # Errors
    /// What is wrong, with the number of the step or set.
    ///
    /// ```
    /// use gramer_pattern::{Pattern, plan::search::SearchPlan, task::Induced};
    /// let mut plan = SearchPlan::of(&Pattern::clique(3), Induced::Edge, false, true);
    /// assert_eq!(plan.check(), Ok(()));
    /// plan.steps[1].vertex = 7;
    /// assert_eq!(plan.check().unwrap_err(), "steps[1]: vertex 7 of a pattern of 3");
    /// ```
    pub fn check(&self) -> CheckResult {
        let n = self.pattern.vertices();
        ensure!(self.schema == SCHEMA, "schema is {}, but must be {SCHEMA}", self.schema);
        ensure!(
            (1..=n).contains(&self.classes.len()),
            "{} classes of {n} vertices",
            self.classes.len()
        );
        let any = self.classes.iter().filter(|&&label| label == NO_LABEL).count();
        ensure!(any <= 1, "{any} classes of vertices with any label; there is at most one");
        ensure!(
            self.factor > 0 && self.automorphisms > 0,
            "factor and automorphisms must not be 0"
        );
        ensure!((1..=n).contains(&self.steps.len()), "{} steps for {n} vertices", self.steps.len());
        for (number, set) in self.sets.iter().enumerate() {
            let at = |e| format!("sets[{number}]: {e}");
            self.class(set.class).map_err(at)?;
            ensure!(
                set.parent.is_some() || set.list.is_some(),
                "sets[{number}]: neither a parent nor a list"
            );
        }
        let mut walk = Walk {
            plan: self,
            class_of: [None; MAX_VERTICES],
            less: [0; MAX_VERTICES],
            stepped: vec![false; self.steps.len()],
            made: vec![false; self.sets.len()],
            counted: 0,
        };
        ensure!(self.steps[0].source.is_none(), "steps[0]: the root has a source");
        walk.step(0, 0, &[])?;
        if let Some(lost) = walk.stepped.iter().position(|&stepped| !stepped) {
            return Err(format!("steps[{lost}]: no step leads to it"));
        }
        let mapped = self.steps.len() + walk.counted;
        ensure!(mapped == n, "{mapped} of {n} vertices are mapped or counted");
        Ok(())
    }

    fn class(&self, class: u8) -> CheckResult {
        ensure!(usize::from(class) < self.classes.len(), "class {class} of {}", self.classes.len());
        Ok(())
    }
}

/// State of the check on its way through the steps.
struct Walk<'a> {
    plan: &'a SearchPlan,
    /// By pattern vertex, once it has a step.
    class_of: [Option<u8>; MAX_VERTICES],
    /// Vertices whose images are larger.
    less: [VertexSet; MAX_VERTICES],
    stepped: Vec<bool>,
    made: Vec<bool>,
    /// Vertices that formulas count.
    counted: usize,
}

impl Walk<'_> {
    /// A step and all below it. `placed` have their images, and `sets` are made.
    fn step(&mut self, number: usize, placed: VertexSet, sets: &[usize]) -> CheckResult {
        let at = |e| format!("steps[{number}]: {e}");
        let plan = self.plan;
        let Some(step) = plan.steps.get(number) else {
            return Err(format!("there is no steps[{number}]"));
        };
        ensure!(!self.stepped[number], "steps[{number}]: more than one step leads to it");
        self.stepped[number] = true;
        let (v, n) = (step.vertex, plan.pattern.vertices());
        ensure!(v < n, "steps[{number}]: vertex {v} of a pattern of {n}");
        ensure!(self.class_of[v].is_none(), "steps[{number}]: vertex {v} has another step");
        plan.class(step.class).map_err(at)?;
        self.class_of[v] = Some(step.class);
        if let Some(deciding) = &step.memo {
            ensure!(
                deciding.len() <= MEMO_VERTICES,
                "steps[{number}]: a memo of {} vertices",
                deciding.len()
            );
            known(deciding.iter().copied(), placed).map_err(at)?;
        }
        match &step.source {
            Some(source) => {
                self.source(source, placed, sets).map_err(at)?;
                ensure!(
                    plan.sets[source.set].class == step.class,
                    "steps[{number}]: class {}, but its set has another",
                    step.class
                );
                if !plan.mappings.repeats() {
                    self.place(step, source, placed).map_err(at)?;
                }
            }
            None => ensure!(placed == 0, "steps[{number}]: only the root has no source"),
        }
        let placed = placed | 1 << v;
        let mut sets = sets.to_vec();
        for &set in &step.sets {
            self.make(set, v, placed, &sets).map_err(at)?;
            sets.push(set);
        }
        for then in &step.then {
            match then {
                NextStep::Step(next) => self.step(*next, placed, &sets)?,
                NextStep::Formula(formula) => {
                    self.formula(formula, v, placed, &sets).map_err(at)?
                }
                NextStep::Emit => {
                    let all = placed.count_ones() as usize == n && step.then.len() == 1;
                    ensure!(all, "steps[{number}]: a mapping is emitted before it is whole");
                }
            }
        }
        Ok(())
    }

    /// Whether the image of a step's vertex differs from all that were placed before; notes those that
    /// are larger.
    fn place(&mut self, step: &Step, source: &Source, placed: VertexSet) -> CheckResult {
        let plan = self.plan;
        let (mut less, mut apart) = (source.bounds, 0);
        let mut next = Some(source.set);
        while let Some(set) = next {
            less |= plan.sets[set].bounds;
            // No vertex is next to itself.
            apart |= plan.sets[set].list.map_or(0, |list| 1 << list.of);
            next = plan.sets[set].parent;
        }
        less |= bits(less).fold(0, |all, u| all | self.less[u]);
        apart |= less | source.conflicts.iter().fold(0, |all, &u| all | 1 << u);
        let label = plan.classes[usize::from(step.class)];
        for u in bits(placed & !apart) {
            let other = plan.classes[usize::from(self.class_of[u].unwrap_or_default())];
            ensure!(
                label != other && label != NO_LABEL && other != NO_LABEL,
                "vertices {u} and {} may have one image",
                step.vertex
            );
        }
        self.less[step.vertex] = less;
        Ok(())
    }

    /// A set that is made once `vertex`, the last of `placed`, has its image.
    fn make(
        &mut self,
        number: usize,
        vertex: usize,
        placed: VertexSet,
        sets: &[usize],
    ) -> CheckResult {
        let Some(set) = self.plan.sets.get(number) else {
            return Err(format!("there is no sets[{number}]"));
        };
        ensure!(!self.made[number], "sets[{number}] is made twice");
        self.made[number] = true;
        if let Some(parent) = set.parent {
            ensure!(
                sets.contains(&parent),
                "sets[{number}] needs sets[{parent}], which isn't made"
            );
            let same = self.plan.sets[parent].class == set.class;
            ensure!(same, "sets[{number}] and its parent have different classes");
        }
        let here = set.list.is_none_or(|list| list.of == vertex);
        ensure!(here, "sets[{number}] begins with the list of another vertex than {vertex}");
        known(set.subtract.iter().copied(), placed)?;
        self.bounds(set.bounds, set.class, placed)
    }

    fn bounds(&self, bounds: VertexSet, class: u8, placed: VertexSet) -> CheckResult {
        known(bits(bounds), placed)?;
        let same = bits(bounds).all(|u| self.class_of[u] == Some(class));
        ensure!(same, "a condition between vertices of different classes");
        Ok(())
    }

    fn source(&self, source: &Source, placed: VertexSet, sets: &[usize]) -> CheckResult {
        ensure!(sets.contains(&source.set), "sets[{}] isn't made before it is used", source.set);
        self.bounds(source.bounds, self.plan.sets[source.set].class, placed)?;
        known(source.conflicts.iter().copied(), placed)?;
        let ends = source.edges.iter().flat_map(|e| [e.near, e.first, e.second]);
        known(ends, placed)?;
        let different = source.conflicts.iter().fold(0, |all: VertexSet, &u| all | 1 << u);
        let count = source.conflicts.len();
        ensure!(different.count_ones() as usize == count, "a conflict is listed twice");
        Ok(())
    }

    /// A formula after the step of `vertex`.
    fn formula(
        &mut self,
        formula: &Formula,
        vertex: usize,
        placed: VertexSet,
        sets: &[usize],
    ) -> CheckResult {
        self.counted += match formula {
            Formula::One(source) => {
                self.source(source, placed, sets)?;
                1
            }
            Formula::Intersection(source) => {
                self.make(source.set, vertex, placed, sets)?;
                self.source(source, placed, &[source.set])?;
                let set = &self.plan.sets[source.set];
                let measured = set.parent.is_some() && set.list.is_some();
                ensure!(
                    measured && set.subtract.is_empty() && source.bounds == 0,
                    "sets[{}] is no intersection of a set with a list",
                    source.set
                );
                1
            }
            Formula::Same { source, vertices, .. } => {
                self.source(source, placed, sets)?;
                ensure!((1..MAX_VERTICES).contains(vertices), "a formula of {vertices} vertices");
                *vertices
            }
            Formula::Partitions(given) => {
                for source in &given.sources {
                    self.source(source, placed, sets)?;
                }
                members(given)?
            }
        };
        Ok(())
    }
}

/// Whether all of these vertices have their images.
fn known(vertices: impl Iterator<Item = usize>, placed: VertexSet) -> CheckResult {
    for u in vertices {
        ensure!(u < MAX_VERTICES && placed >> u & 1 == 1, "vertex {u} has no image yet");
    }
    Ok(())
}

/// The number of vertices of a formula over partitions, which must be that of its sources: its longest
/// term is the partition into single vertices, so it says which source each vertex has.
fn members(given: &Partitions) -> Result<usize, String> {
    let wrong = || "a formula over partitions that isn't that of its sources".to_string();
    let (_, apart) =
        given.terms.iter().max_by_key(|(_, factors)| factors.len()).ok_or_else(wrong)?;
    if apart.len() > FORMULA_VERTICES {
        return Err(wrong());
    }
    let source = |&block: &usize| {
        let block = *given.blocks.get(block)?;
        let at = block.checked_ilog2().filter(|_| block.is_power_of_two())?;
        given.sources.get(at as usize).cloned()
    };
    let vertices: Vec<Source> =
        apart.iter().map(source).collect::<Option<_>>().ok_or_else(wrong)?;
    // Sources are numbered by their first vertex: a sorted term names them in that order.
    let count = vertices.len();
    if partitions(vertices) == *given { Ok(count) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Induced;
    use crate::{Dictionary, Pattern};

    /// Plans of every connected pattern of up to five vertices, with labels and without.
    fn plans() -> Vec<SearchPlan> {
        let mut plans = vec![];
        let mut add = |pattern: &Pattern| {
            for induced in [Induced::Vertex, Induced::Edge] {
                for (mappings, emit) in [(false, false), (false, true), (true, true)] {
                    plans.push(SearchPlan::of(pattern, induced, mappings, emit));
                }
            }
        };
        for k in 2..=5 {
            for pattern in Dictionary::of(k).patterns() {
                add(pattern);
                for first in [NO_LABEL, 4] {
                    let mut labelled = pattern.clone();
                    (0..k).for_each(|v| labelled.set_vertex_label(v, [first, 7, 8][v % 3]));
                    add(&labelled);
                }
            }
        }
        plans
    }

    #[test]
    fn every_plan_that_is_made_passes() {
        let plans = plans();
        assert!(plans.len() > 500);
        let partitions =
            |then: &NextStep| matches!(then, NextStep::Formula(Formula::Partitions(_)));
        assert!(plans.iter().any(|p| p.steps.iter().any(|s| s.then.iter().any(partitions))));
        for plan in plans {
            assert_eq!(plan.check(), Ok(()), "{plan:#?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        fn of(edges: &[(usize, usize)], emit: bool) -> SearchPlan {
            let vertices = edges.iter().map(|&(u, v)| u.max(v) + 1).max().unwrap();
            let pattern = Pattern::from_edges(vertices, edges);
            SearchPlan::of(&pattern, Induced::Vertex, false, emit)
        }
        let triangle = || of(&[(0, 1), (1, 2), (2, 0)], true);
        let star = || of(&[(0, 1), (0, 2), (0, 3)], false);
        let square = || of(&[(0, 1), (1, 2), (2, 3), (3, 0)], true);
        type Made = fn() -> SearchPlan;
        type Change = fn(&mut SearchPlan);
        let changes: [(Made, Change, &str); 18] = [
            (triangle, |p| p.schema += 1, "schema is 2, but must be 1"),
            (triangle, |p| p.classes.clear(), "0 classes of 3"),
            (triangle, |p| p.classes.push(NO_LABEL), "2 classes of vertices with any label"),
            (triangle, |p| p.factor = 0, "must not be 0"),
            (triangle, |p| p.steps.clear(), "0 steps for 3"),
            (triangle, |p| p.steps[2].vertex = p.steps[1].vertex, "has another step"),
            (triangle, |p| p.steps[1].class = 1, "steps[1]: class 1 of 1"),
            (triangle, |p| p.steps[1].source = None, "steps[1]: only the root has no source"),
            (triangle, |p| p.steps[1].then = vec![NextStep::Step(9)], "there is no steps[9]"),
            (
                triangle,
                |p| p.steps[2].then = vec![NextStep::Step(0)],
                "more than one step leads to it",
            ),
            (triangle, |p| p.steps[1].then = vec![NextStep::Emit], "emitted before it is whole"),
            (triangle, |p| p.steps[0].sets.push(9), "there is no sets[9]"),
            (triangle, |p| p.sets[0].bounds = 1 << 9, "vertex 9 has no image yet"),
            (triangle, |p| p.sets[1].parent = Some(1), "sets[1] needs sets[1], which isn't made"),
            (triangle, |p| p.steps[1].memo = Some(vec![5]), "vertex 5 has no image yet"),
            (triangle, |p| p.steps[0].sets.clear(), "isn't made before it is used"),
            (star, |p| p.steps.last_mut().unwrap().then.clear(), "of 4 vertices are mapped"),
            (
                square,
                |p| {
                    for set in &mut p.sets {
                        set.bounds = 0;
                    }
                    for source in p.steps.iter_mut().filter_map(|s| s.source.as_mut()) {
                        (source.bounds, source.conflicts) = (0, vec![]);
                    }
                },
                "may have one image",
            ),
        ];
        for (plan, change, message) in changes {
            let mut plan = plan();
            assert_eq!(plan.check(), Ok(()));
            change(&mut plan);
            let said = plan.check().unwrap_err();
            assert!(said.contains(message), "{message}: {said}");
            // The same where a plan is read.
            let text = serde_json::to_string(&plan).unwrap();
            let read = serde_json::from_str::<SearchPlan>(&text).unwrap_err().to_string();
            assert!(read.contains(&format!("not a plan: {said}")), "{read}");
        }
    }
}

//! Numbers of homomorphisms, and of mappings and occurrences from them; see
//! [`gramer_pattern::plan::homomorphism`].

mod forest;
mod tables;

use std::collections::BTreeMap;
use std::rc::Rc;

use gramer_graph::View;
use gramer_pattern::plan::homomorphism::{HomomorphismPlan, Shape, Table, quotients};
use gramer_pattern::{Pattern, automorphism_count};

use super::Job;
use super::reach::fits;

/// Bytes of tables that are kept from one pattern to the next.
const KEPT_BYTES: usize = 1 << 29;
/// Bytes per vertex of a thread's own state.
const BYTES: usize = 12;

/// Why there is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// The run was asked to stop.
    Stopped,
    /// A number on the way needs more bits than it has.
    Overflow,
}

/// A method that counts mappings from homomorphisms, with its estimated cost.
pub(super) struct Decomposition {
    /// A plan for each quotient, with its coefficient.
    parts: Vec<(HomomorphismPlan, i64)>,
    automorphisms: u128,
    /// In elements visited.
    pub cost: f64,
}

impl Decomposition {
    /// For a connected unlabelled pattern; `None` where the graph is too large for it.
    pub fn new(graph: View<'_>, pattern: &Pattern, shape: &Shape) -> Option<Self> {
        if !fits(graph.vertices(), BYTES) || graph.neighbours.len() > u32::MAX as usize {
            return None;
        }
        let parts: Vec<_> = quotients(pattern)
            .into_iter()
            .map(|(quotient, c)| (HomomorphismPlan::of(&quotient, shape), c))
            .collect();
        let cost = parts.iter().map(|(plan, _)| plan.cost).sum();
        Some(Decomposition { parts, automorphisms: automorphism_count(pattern), cost })
    }

    /// The number of occurrences.
    pub fn count(&self, graph: View<'_>, job: Job<'_>) -> Result<u128, Failed> {
        let mut homomorphisms = Homomorphisms::new(graph, job);
        let mut sum = 0i128;
        for (plan, coefficient) in &self.parts {
            let number =
                i128::try_from(homomorphisms.count(plan)?).map_err(|_| Failed::Overflow)?;
            sum = number
                .checked_mul((*coefficient).into())
                .and_then(|term| sum.checked_add(term))
                .ok_or(Failed::Overflow)?;
        }
        Ok(u128::try_from(sum).expect("a number of mappings") / self.automorphisms)
    }
}

/// The numbers of homomorphisms of connected patterns, labels not looked at.
///
/// # Errors
/// [`Failed::Overflow`] as well where the graph is too large for a thread's state.
pub(super) fn numbers(
    graph: View<'_>,
    patterns: &[&Pattern],
    shape: &Shape,
    job: Job<'_>,
) -> Result<Vec<u128>, Failed> {
    if !fits(graph.vertices(), BYTES) || graph.neighbours.len() > u32::MAX as usize {
        return Err(Failed::Overflow);
    }
    let mut homomorphisms = Homomorphisms::new(graph, job);
    let plans = patterns.iter().map(|pattern| HomomorphismPlan::of(pattern, shape));
    plans.map(|plan| homomorphisms.count(&plan)).collect()
}

/// What the estimates of cost need to know of a graph: two looks at every vertex, and a sample of
/// its edges.
pub(super) fn shape(graph: View<'_>) -> Shape {
    let (mut walks, mut triangle_steps, mut cycle_steps) = (0.0, 0.0, 0.0);
    for v in 0..graph.vertices() as u32 {
        let degree = graph.degree(v) as f64;
        walks += degree * degree;
        let row = graph.neighbours(v);
        let before = row.partition_point(|&u| u < v) as f64;
        triangle_steps += before * (degree - before);
        cycle_steps += before * (degree - before) + before * before / 2.0;
    }
    let mut common = 0;
    let sampled = sample_common(graph, |of_edge| common += of_edge);
    Shape {
        vertices: graph.vertices() as f64,
        arcs: graph.neighbours.len() as f64,
        walks,
        triangle_steps,
        cycle_steps,
        common: common as f64 / f64::from(sampled.max(1)),
    }
}

/// Hands the number of common neighbours of each edge of a sample to `each`; returns how many edges there are.
pub(super) fn sample_common(graph: View<'_>, mut each: impl FnMut(usize)) -> u32 {
    const SAMPLE: usize = 1 << 10;
    let step = (graph.neighbours.len() / SAMPLE).max(1);
    let (mut sampled, mut source) = (0, 0);
    for arc in (0..graph.neighbours.len()).step_by(step) {
        while graph.row(source).end <= arc {
            source += 1;
        }
        let target = graph.neighbours[arc];
        each(super::sets::intersection_size(graph.neighbours(source), graph.neighbours(target)));
        sampled += 1;
    }
    sampled
}

/// A table of values by vertex or arc.
pub(super) type Values = Rc<Vec<u64>>;

/// Counts homomorphisms; what patterns share is made once.
struct Homomorphisms<'a> {
    graph: View<'a>,
    job: Job<'a>,
    /// Number 0 stands for ones everywhere.
    values: Vec<Values>,
    /// Tables, made from numbers in `values`.
    known: BTreeMap<[usize; 4], usize>,
    turned: Option<Rc<Vec<u32>>>,
}

impl<'a> Homomorphisms<'a> {
    fn new(graph: View<'a>, job: Job<'a>) -> Self {
        Homomorphisms {
            graph,
            job,
            values: vec![Rc::default()],
            known: BTreeMap::new(),
            turned: None,
        }
    }

    fn count(&mut self, plan: &HomomorphismPlan) -> Result<u128, Failed> {
        if self.values.iter().map(|values| values.len() * 8).sum::<usize>() > KEPT_BYTES {
            self.values.truncate(1);
            self.known.clear();
        }
        let mut numbers = vec![0; plan.tables.len()];
        for (at, table) in plan.tables.iter().enumerate().skip(1) {
            numbers[at] = self.table(table, &numbers)?;
        }
        let table = |at: usize| (at != 0).then(|| Rc::clone(&self.values[numbers[at]]));
        let vertices: Vec<Option<Values>> = plan.vertices.iter().map(|&at| table(at)).collect();
        if plan.core.vertices() == 1 {
            return Ok(match &vertices[0] {
                None => self.graph.vertices() as u128,
                Some(values) => values.iter().map(|&v| u128::from(v)).sum(),
            });
        }
        let edges = plan.edges.iter().map(|(&edge, &at)| (edge, table(at).expect("not ones")));
        forest::count(self.graph, plan, &vertices, &edges.collect(), self.job)
    }

    /// The number of a table in `values`, made now if it isn't there.
    fn table(&mut self, table: &Table, numbers: &[usize]) -> Result<usize, Failed> {
        let key = match *table {
            Table::Ones => return Ok(0),
            Table::Leaf { vertex, edge } => [0, numbers[vertex], numbers[edge], 0],
            Table::Ear { vertex, first, second } => {
                [1, numbers[vertex], numbers[first], numbers[second]]
            }
            Table::Product(a, b) => [2, numbers[a], numbers[b], 0],
            Table::Turned(a) => [3, numbers[a], 0, 0],
        };
        if let Some(&number) = self.known.get(&key) {
            return Ok(number);
        }
        let of = |number: usize| (number != 0).then(|| Rc::clone(&self.values[number]));
        let (a, b, c) = (of(key[1]), of(key[2]), of(key[3]));
        let (graph, job) = (self.graph, self.job);
        let made = match table {
            Table::Leaf { .. } => tables::leaf(graph, a.as_deref(), b.as_deref(), job.context)?,
            Table::Ear { .. } => {
                let turned = self.turned()?;
                let [a, b, c] = [&a, &b, &c].map(Option::as_deref);
                tables::ear(graph, &turned, [a, b, c], job)?
            }
            Table::Product(..) => {
                let (a, b) = (a.expect("not ones"), b.expect("not ones"));
                let product = a.iter().zip(b.iter()).map(|(x, y)| x.checked_mul(*y));
                product.collect::<Option<Vec<u64>>>().ok_or(Failed::Overflow)?
            }
            Table::Turned(_) => {
                let a = a.expect("not ones");
                self.turned()?.iter().map(|&back| a[back as usize]).collect()
            }
            Table::Ones => unreachable!("it is number 0"),
        };
        self.values.push(Rc::new(made));
        self.known.insert(key, self.values.len() - 1);
        Ok(self.values.len() - 1)
    }

    fn turned(&mut self) -> Result<Rc<Vec<u32>>, Failed> {
        if let Some(turned) = &self.turned {
            return Ok(Rc::clone(turned));
        }
        let made =
            super::arcs::turned(self.graph, &self.job.context.cancel).ok_or(Failed::Stopped)?;
        let made = Rc::new(made);
        self.turned = Some(Rc::clone(&made));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::interpret;
    use gramer_graph::Builder;
    use gramer_graph::context::Context;
    use gramer_pattern::plan::search::SearchPlan;
    use gramer_pattern::task::Induced;
    use std::ops::ControlFlow;

    /// A connected pattern of `n` vertices: a tree by `parents`, and further edges.
    fn pattern(n: usize, parents: &[usize], more: &[(usize, usize)]) -> Pattern {
        let mut pattern = Pattern::new(n);
        for (v, &parent) in parents.iter().enumerate().take(n).skip(1) {
            pattern.add_edge(v, parent % v);
        }
        for &(u, v) in more.iter().filter(|(u, v)| u % n != v % n) {
            pattern.add_edge(u % n, v % n);
        }
        pattern
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(96))]
        #[test]
        fn decomposition_agrees_with_the_interpreter(
            n in 3usize..9,
            parents in proptest::collection::vec(0usize..8, 8),
            more in proptest::collection::vec((0usize..8, 0usize..8), 0..6),
            edges in proptest::collection::vec((0u64..14, 0u64..14), 1..45),
            hub in proptest::bool::ANY,
            threads in 1usize..3,
        ) {
            let mut builder = Builder::new();
            for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
                builder.edge(u, v);
                if hub && u != 0 {
                    builder.edge(0, u);
                }
            }
            let graph = builder.build();
            let pattern = pattern(n, &parents, &more);
            let context = Context::with_threads(threads);
            let decomposition =
                Decomposition::new(graph.view(), &pattern, &shape(graph.view())).unwrap();
            let counted = decomposition.count(graph.view(), Job::whole(&context)).unwrap();
            let plan = SearchPlan::of(&pattern, Induced::Edge, false, true);
            let met = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
            proptest::prop_assert_eq!(counted, met, "{:?}", pattern);
        }
    }

    #[test]
    fn a_number_that_does_not_fit_is_an_overflow() {
        // A star of 70,000 leaves: walks of a tree with seven leaves pass 2^64 at the hub.
        let mut builder = Builder::new();
        for leaf in 1..70_000u64 {
            builder.edge(0, leaf);
        }
        let graph = builder.build();
        let edges: Vec<_> = (1..8).map(|v| (0, v)).collect();
        let star = Pattern::from_edges(8, &edges);
        let decomposition = Decomposition::new(graph.view(), &star, &shape(graph.view())).unwrap();
        let context = Context::with_threads(1);
        assert_eq!(decomposition.count(graph.view(), Job::whole(&context)), Err(Failed::Overflow));
        context.cancel.cancel();
        let path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
        let decomposition = Decomposition::new(graph.view(), &path, &shape(graph.view())).unwrap();
        assert_eq!(decomposition.count(graph.view(), Job::whole(&context)), Err(Failed::Stopped));
    }
}

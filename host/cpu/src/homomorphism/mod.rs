//! Numbers of homomorphisms, and of mappings and occurrences from them; see
//! [`gramer_pattern::plan::homomorphism`].

mod cliques;
mod forest;
mod tables;

use std::collections::BTreeMap;
use std::rc::Rc;

use ethnum::{I256, U256};
use gramer_base::error::Error;
use gramer_graph::{VertexId, View};
use gramer_pattern::plan::homomorphism::{HomomorphismPlan, Shape, Table, quotients};
use gramer_pattern::{Pattern, automorphism_count};
use tracing::info;

use super::number::Number;
use super::reach::fits;
use super::sets::intersection_size;
use super::{Job, Resident};
use cliques::{CliqueCore, Columns, Place};

/// Bytes of tables that are kept from one pattern to the next.
const KEPT_BYTES: usize = 1 << 29;
/// Bytes per vertex of a thread's own state.
const BYTES: usize = 12;

/// Why there is no number.
#[derive(Debug)]
pub(super) enum CountFailure {
    /// The run was cancelled.
    Stopped,
    /// A number on the way, or the result, needs more bits than it has.
    Overflow,
    /// No other width of numbers would help: memory, threads.
    Failed(Error),
}

impl From<Error> for CountFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => CountFailure::Stopped,
            // Numbers of cliques by vertex or edge of more than 128 bits.
            Error::Unsupported(_) => CountFailure::Overflow,
            error => CountFailure::Failed(error),
        }
    }
}

/// A number of homomorphisms at a vertex or arc.
///
/// All vertices of a pattern but one lead to neighbours of another one's image, so that eight have at most
/// n · d^7 homomorphisms, n vertices of degree d: less than 2^256, as has any part of them. [`U256`] never overflows.
trait Value: Number {
    /// A sum over vertices.
    type Total: Number + From<Self>;
}

impl Value for u64 {
    type Total = u128;
}

impl Value for U256 {
    type Total = U256;
}

/// A method that counts mappings from homomorphisms, with its estimated cost.
pub(super) struct Decomposition {
    /// A plan for each quotient, with its coefficient.
    parts: Vec<(HomomorphismPlan, i64)>,
    /// Cost of each in visited elements.
    costs: Vec<f64>,
    automorphisms: u128,
    /// Their sum.
    pub cost: f64,
}

impl Decomposition {
    /// Decomposes a connected unlabelled pattern; `None` if the graph is too large.
    pub fn new(graph: View<'_>, pattern: &Pattern, shape: &Shape) -> Option<Self> {
        if !fits(graph.vertices(), BYTES) || graph.neighbours.len() > u32::MAX as usize {
            return None;
        }
        let parts: Vec<_> = quotients(pattern)
            .into_iter()
            .map(|(quotient, c)| (HomomorphismPlan::of(&quotient, shape), c))
            .collect();
        let costs: Vec<_> = parts.iter().map(|(plan, _)| cost(plan, shape)).collect();
        let cost = costs.iter().sum();
        Some(Decomposition { parts, costs, automorphisms: automorphism_count(pattern), cost })
    }

    /// Maximum of a part's vertices with enumerated images. With more than one, the cost in skewed graphs far exceeds
    /// the estimate from averages.
    pub fn apexes(&self) -> usize {
        let searched = self.parts.iter().filter(|(plan, _)| CliqueCore::of(plan).is_none());
        searched.map(|(plan, _)| plan.apexes.len()).max().unwrap_or(0)
    }

    /// The number of occurrences.
    ///
    /// # Errors
    /// [`CountFailure::Overflow`] if it needs more than 128 bits.
    pub fn count(&self, graph: &Resident, job: Job<'_>) -> Result<u128, CountFailure> {
        let mut homomorphisms = Homomorphisms::new(graph, job);
        let _plan = job.context.progress.plan(|| self.costs.clone());
        let mut sum = I256::ZERO;
        for (plan, coefficient) in &self.parts {
            // Sums and products modulo 2^256: their result is a number of mappings, with less bits.
            let number = homomorphisms.count(plan)?.as_i256();
            sum = sum.wrapping_add(number.wrapping_mul(I256::from(*coefficient)));
        }
        let occurrences = sum.as_u256() / U256::from(self.automorphisms);
        u128::try_from(occurrences).map_err(|_| CountFailure::Overflow)
    }
}

/// The numbers of homomorphisms of connected patterns, labels not looked at.
///
/// # Errors
/// [`CountFailure::Overflow`] if one needs more than 128 bits, or the graph is too large for a thread's state.
pub(super) fn numbers(
    graph: &Resident,
    patterns: &[&Pattern],
    shape: &Shape,
    job: Job<'_>,
) -> Result<Vec<u128>, CountFailure> {
    let view = graph.graph.view();
    if !fits(view.vertices(), BYTES) || view.neighbours.len() > u32::MAX as usize {
        return Err(CountFailure::Overflow);
    }
    let mut homomorphisms = Homomorphisms::new(graph, job);
    let plans: Vec<_> =
        patterns.iter().map(|pattern| HomomorphismPlan::of(pattern, shape)).collect();
    let _plan = job.context.progress.plan(|| plans.iter().map(|plan| cost(plan, shape)).collect());
    let count =
        |plan| u128::try_from(homomorphisms.count(plan)?).map_err(|_| CountFailure::Overflow);
    plans.iter().map(count).collect()
}

/// The number of homomorphisms of a connected pattern of up to eight vertices, labels not looked at; nothing if that is
/// expected to visit `most` elements or more, or the graph is too large.
///
/// # Errors
/// [`CountFailure::Overflow`] if it needs more than 128 bits.
pub(super) fn number_within(
    graph: &Resident,
    pattern: &Pattern,
    most: f64,
    job: Job<'_>,
) -> Result<Option<u128>, CountFailure> {
    let view = graph.graph.view();
    let shape = shape(view);
    let cost = cost(&HomomorphismPlan::of(pattern, &shape), &shape);
    if cost >= most || !fits(view.vertices(), BYTES) || view.neighbours.len() > u32::MAX as usize {
        return Ok(None);
    }
    Ok(numbers(graph, &[pattern], &shape, job)?.pop())
}

/// Estimated cost of a plan, in elements visited.
fn cost(plan: &HomomorphismPlan, shape: &Shape) -> f64 {
    CliqueCore::of(plan).map_or(plan.cost, |core| plan.cost - plan.core_cost + core.cost(shape))
}

/// Collects the inputs of cost estimates from a graph: two passes over the vertices, and a sample of the
/// edges.
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
    let mut sampled = 0;
    sample_arcs(graph, |source, target| {
        each(intersection_size(graph.neighbours(source), graph.neighbours(target)));
        sampled += 1;
    });
    sampled
}

/// Hands the ends of each arc of a sample to `each`.
pub(super) fn sample_arcs(graph: View<'_>, mut each: impl FnMut(VertexId, VertexId)) {
    const SAMPLE: usize = 1 << 10;
    let step = (graph.neighbours.len() / SAMPLE).max(1);
    let mut source = 0;
    for arc in (0..graph.neighbours.len()).step_by(step) {
        while graph.row(source).end <= arc {
            source += 1;
        }
        each(source, graph.neighbours[arc]);
    }
}

/// A table of values by vertex or arc.
type Values<V> = Rc<Vec<V>>;

/// Counts homomorphisms; what patterns share is made once.
struct Homomorphisms<'a> {
    arcs: Arcs<'a>,
    narrow: Tables<u64>,
    /// Tables for patterns with numbers of more than 64 bits at a vertex.
    wide: Tables<U256>,
}

impl<'a> Homomorphisms<'a> {
    fn new(resident: &'a Resident, job: Job<'a>) -> Self {
        let arcs = Arcs::new(resident, job);
        Homomorphisms { arcs, narrow: Tables::new(), wide: Tables::new() }
    }

    fn count(&mut self, plan: &HomomorphismPlan) -> Result<U256, CountFailure> {
        match self.narrow.count(plan, &mut self.arcs) {
            Err(CountFailure::Overflow) => {
                let vertices = plan.core.vertices();
                info!(core = vertices, "homomorphisms are counted again with 256 bits");
                self.wide.count(plan, &mut self.arcs)
            }
            other => other,
        }
    }
}

/// A graph, with the reverse of each arc and numbers of cliques on demand.
struct Arcs<'a> {
    graph: View<'a>,
    resident: &'a Resident,
    job: Job<'a>,
    turned: Option<Rc<Vec<u32>>>,
    cliques: Columns,
}

impl<'a> Arcs<'a> {
    fn new(resident: &'a Resident, job: Job<'a>) -> Self {
        let (turned, cliques) = (None, Columns::default());
        Arcs { graph: resident.graph.view(), resident, job, turned, cliques }
    }

    fn turned(&mut self) -> Result<Rc<Vec<u32>>, CountFailure> {
        if let Some(turned) = &self.turned {
            return Ok(Rc::clone(turned));
        }
        let made = super::arcs::turned(self.graph, &self.job.context.cancel)
            .ok_or(CountFailure::Stopped)?;
        let made = Rc::new(made);
        self.turned = Some(Rc::clone(&made));
        Ok(made)
    }
}

/// Expected parts of the time of the phases of a plan: a table each that is made from a graph's rows, and the core.
fn phases(plan: &HomomorphismPlan, graph: View<'_>) -> Vec<f64> {
    // The cost of the core holds that of its tables, far less where the core has apexes.
    let arcs = graph.neighbours.len() as f64;
    let tables = plan.tables.iter().filter(|table| made_in_phase(table)).map(|_| arcs);
    let all = tables.clone().sum::<f64>();
    tables.chain([(plan.cost - all).max(arcs)]).collect()
}

/// Whether to make the table is its own phase.
fn made_in_phase(table: &Table) -> bool {
    matches!(table, Table::Leaf { .. } | Table::Ear { .. })
}

/// Tables of values of one width.
struct Tables<V> {
    /// Number 0 stands for ones everywhere.
    values: Vec<Values<V>>,
    /// Tables, made from numbers in `values`.
    known: BTreeMap<[usize; 4], usize>,
}

impl<V: tables::TableValue> Tables<V> {
    fn new() -> Self {
        Tables { values: vec![Rc::default()], known: BTreeMap::new() }
    }

    fn count(
        &mut self,
        plan: &HomomorphismPlan,
        arcs: &mut Arcs<'_>,
    ) -> Result<U256, CountFailure> {
        let context = arcs.job.context;
        let _plan = context.progress.plan(|| phases(plan, arcs.graph));
        if self.values.iter().map(|values| size_of_val(&values[..])).sum::<usize>() > KEPT_BYTES {
            self.values.truncate(1);
            self.known.clear();
        }
        let mut numbers = vec![0; plan.tables.len()];
        for (at, table) in plan.tables.iter().enumerate().skip(1) {
            let known = self.values.len();
            numbers[at] = self.table(table, &numbers, arcs)?;
            if made_in_phase(table) && self.values.len() == known {
                context.progress.begin(0);
            }
        }
        let table = |at: usize| (at != 0).then(|| Rc::clone(&self.values[numbers[at]]));
        let vertices: Vec<Option<Values<V>>> = plan.vertices.iter().map(|&at| table(at)).collect();
        if plan.core.vertices() == 1 {
            return Ok(match &vertices[0] {
                None => U256::from(arcs.graph.vertices() as u64),
                Some(values) => values.iter().map(|&v| v.into()).sum(),
            });
        }
        if let Some(core) = CliqueCore::of(plan) {
            let values = match core.place {
                Place::Nowhere => None,
                Place::Vertex(v) => vertices[v].clone(),
                Place::Edge(ends) => table(plan.edges[&ends]),
            };
            return core.count(values.as_deref().map(Vec::as_slice), arcs);
        }
        let edges = plan.edges.iter().map(|(&edge, &at)| (edge, table(at).expect("not ones")));
        forest::count(arcs.graph, plan, &vertices, &edges.collect(), arcs.job)
    }

    /// The number of a table in `values`, made now if it isn't there.
    fn table(
        &mut self,
        table: &Table,
        numbers: &[usize],
        arcs: &mut Arcs<'_>,
    ) -> Result<usize, CountFailure> {
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
        let (graph, job) = (arcs.graph, arcs.job);
        let made = match table {
            Table::Leaf { .. } => V::leaf(graph, a.as_deref(), b.as_deref(), job.context)?,
            Table::Ear { .. } => {
                let turned = arcs.turned()?;
                let [a, b, c] = [&a, &b, &c].map(Option::as_deref);
                V::ear(graph, &turned, [a, b, c], job)?
            }
            Table::Product(..) => {
                let (a, b) = (a.expect("not ones"), b.expect("not ones"));
                tables::product(&a, &b).ok_or(CountFailure::Overflow)?
            }
            Table::Turned(_) => {
                let a = a.expect("not ones");
                arcs.turned()?.iter().map(|&back| a[back as usize]).collect()
            }
            Table::Ones => unreachable!("it is number 0"),
        };
        self.values.push(Rc::new(made));
        self.known.insert(key, self.values.len() - 1);
        Ok(self.values.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_engine::interpreter::interpret;
    use gramer_graph::{Builder, Graph};
    use gramer_pattern::plan::search::SearchPlan;
    use gramer_pattern::task::Induced;
    use std::ops::ControlFlow;

    /// The graph of these edges, without loops; with `hub`, vertex 0 is a neighbour of each first end, too.
    pub(super) fn graph_of(edges: &[(u64, u64)], hub: bool) -> Graph {
        let mut builder = Builder::new();
        for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
            builder.edge(u, v);
            if hub && u != 0 {
                builder.edge(0, u);
            }
        }
        builder.build()
    }

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
            let graph = graph_of(&edges, hub);
            let pattern = pattern(n, &parents, &more);
            let context = Context::with_threads(threads);
            let decomposition =
                Decomposition::new(graph.view(), &pattern, &shape(graph.view())).unwrap();
            let counted =
                decomposition.count(&Resident::new(&graph), Job::whole(&context)).unwrap();
            let plan = SearchPlan::of(&pattern, Induced::Edge, false, true);
            let met = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
            proptest::prop_assert_eq!(counted, met, "{:?}", pattern);
        }
    }

    /// A graph of the shape of those above: a tree, more edges, and a star of many leaves at a vertex.
    fn graph(edges: &[(u64, u64)], leaves: u64) -> gramer_graph::Graph {
        let mut builder = Builder::new();
        for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
            builder.edge(u, v);
        }
        (0..leaves).for_each(|leaf| builder.edge(0, 1000 + leaf));
        builder.build()
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn wide_tables_give_what_narrow_ones_do(
            n in 3usize..8,
            parents in proptest::collection::vec(0usize..8, 8),
            more in proptest::collection::vec((0usize..8, 0usize..8), 0..6),
            edges in proptest::collection::vec((0u64..16, 0u64..16), 1..70),
            leaves in 0u64..40,
            threads in 1usize..4,
        ) {
            let graph = graph(&edges, leaves);
            let shape = shape(graph.view());
            let plan = HomomorphismPlan::of(&pattern(n, &parents, &more), &shape);
            let context = Context::with_threads(threads);
            let job = Job::whole(&context);
            let resident = Resident::new(&graph);
            let mut arcs = Arcs::new(&resident, job);
            let narrow = Tables::<u64>::new().count(&plan, &mut arcs).unwrap();
            let wide = Tables::<U256>::new().count(&plan, &mut arcs).unwrap();
            proptest::prop_assert_eq!(narrow, wide);
        }
    }

    #[test]
    fn numbers_on_the_way_may_need_more_bits_than_the_answer() {
        // A star of 200,000 leaves: its hub has 2^123 homomorphisms of seven leaves, and 2^18 more of a tree whose
        // leaf has a leaf.
        let graph = graph(&[(0, 1)], 199_999);
        let context = Context::with_threads(2);
        let count = |pattern: &Pattern| {
            let decomposition =
                Decomposition::new(graph.view(), pattern, &shape(graph.view())).unwrap();
            decomposition.count(&Resident::new(&graph), Job::whole(&context))
        };
        let edges: Vec<_> = (1..8).map(|v| (0, v)).collect();
        let star = Pattern::from_edges(8, &edges);
        // Python: math.comb(200000, 7).
        assert_eq!(count(&star).unwrap(), 2_539_415_884_126_750_796_228_557_428_600_000);
        let longer = Pattern::from_edges(8, &[&edges[..6], &[(1, 7)]].concat());
        assert_eq!(count(&longer).unwrap(), 0);
        context.cancel.cancel();
        assert!(matches!(count(&star), Err(CountFailure::Stopped)));
    }
}

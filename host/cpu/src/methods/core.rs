//! Core numbers, by removal of vertices of least degree.

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{VertexId, View};
use gramer_pattern::Statistic;

use super::Resident;
use super::statistic::StatisticMethod;
use gramer_engine::per::{Column, Numbers};
use gramer_engine::query::Needs;
use gramer_engine::{Outcome, Subject};

/// Core numbers. The k-core is the largest subgraph in which every vertex has k neighbours, and the core number of a
/// vertex is the largest k of a k-core with it (Seidman, 1983).
pub(super) const METHOD: StatisticMethod = StatisticMethod {
    name: "core",
    statistic: Statistic::Core,
    per: Needs::PER_VERTEX,
    any_order: true,
    compute,
};

fn compute(on: &Resident, columns: bool, context: &Context) -> Result<Outcome> {
    let peeled = Peeling::of(on.graph.view(), &mut CancelPoll::new(&context.cancel))?;
    Ok(answer(&peeled.cores, columns))
}
/// The sizes of the k-cores, and the core number of each vertex.
fn answer(cores: &[u32], columns: bool) -> Outcome {
    let mut outcome = Outcome::new(vec![], true);
    let degeneracy = cores.iter().copied().max().unwrap_or(0);
    // From the last on: vertices of this core number and above.
    let mut sizes = vec![0u128; degeneracy as usize + 1];
    cores.iter().for_each(|&core| sizes[core as usize] += 1);
    (0..degeneracy as usize).rev().for_each(|k| sizes[k] += sizes[k + 1]);
    for (k, &size) in sizes.iter().enumerate().skip(usize::from(degeneracy > 0)) {
        outcome.push(Subject::Name(format!("{k}-core")), size);
    }
    if columns {
        let counts = Numbers::Narrow(cores.iter().map(|&core| core.into()).collect());
        outcome.columns =
            vec![Column { of: Subject::Name("core number".into()), orbit: None, counts }];
    }
    outcome
}

/// The vertices in the order of their removal, each with at most as many neighbours left as its core number (Batagelj and Zaveršnik,
/// 2003). It takes time and memory as vertices and edges.
pub(super) struct Peeling {
    /// All vertices.
    pub order: Vec<VertexId>,
    /// By vertex, its core number.
    pub cores: Vec<u32>,
}

impl Peeling {
    /// Peels a graph.
    ///
    /// # Errors
    /// [`Interrupted`](gramer_base::Error::Interrupted).
    pub fn of(view: View<'_>, looks: &mut CancelPoll<'_>) -> Result<Self> {
        let vertices = view.vertices();
        let mut degrees: Vec<u32> =
            (0..vertices as VertexId).map(|v| view.degree(v) as u32).collect();
        let mut buckets = Buckets::new(&degrees);
        for at in 0..vertices {
            let v = buckets.items[at];
            looks.check(1 + view.degree(v))?;
            for &u in view.neighbours(v) {
                // Others are gone, or of this core at most.
                if degrees[u as usize] > degrees[v as usize] {
                    buckets.lower(u, &mut degrees);
                }
            }
        }
        Ok(Peeling { order: buckets.items, cores: degrees })
    }
}

/// Items in ascending order of small numbers, which go down one by one.
pub(super) struct Buckets {
    /// All items, by number.
    pub items: Vec<u32>,
    /// By item, its place in `items`.
    places: Vec<u32>,
    /// By number, the place of the first item with it.
    starts: Vec<u32>,
}

impl Buckets {
    /// Creates buckets from the numbers of the items 0, 1, ….
    pub fn new(numbers: &[u32]) -> Self {
        let most = numbers.iter().copied().max().unwrap_or(0) as usize;
        let mut ends = vec![0u32; most + 2];
        numbers.iter().for_each(|&number| ends[number as usize + 1] += 1);
        for number in 0..=most {
            ends[number + 1] += ends[number];
        }
        let starts = ends.clone();
        let (mut items, mut places) =
            (zeroed_or_unwind(numbers.len()), zeroed_or_unwind(numbers.len()));
        for (item, &number) in (0..).zip(numbers) {
            let place = &mut ends[number as usize];
            (items[*place as usize], places[item as usize]) = (item, *place);
            *place += 1;
        }
        Buckets { items, places, starts }
    }

    /// The place after the last item with at most this number, which some item has or had.
    pub fn end(&self, number: u32) -> usize {
        self.starts[number as usize + 1] as usize
    }

    /// Decrements the number of an item, which moves via the front of its bucket into the one below.
    pub fn lower(&mut self, item: u32, numbers: &mut [u32]) {
        let number = &mut numbers[item as usize];
        let first = &mut self.starts[*number as usize];
        let (from, to) = (self.places[item as usize] as usize, *first as usize);
        *first += 1;
        *number -= 1;
        let other = self.items[to];
        self.items.swap(from, to);
        self.places[other as usize] = from as u32;
        self.places[item as usize] = to as u32;
    }
}

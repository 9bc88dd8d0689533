//! What the tests of the core share: the model, random graphs, and algorithm 1 of the host with
//! which the core is compared.
#![allow(dead_code)]

pub mod filters;
pub mod real;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::PathBuf;

use gramer::engine::WorkUnit;
use gramer::engine::reference::{Comparison, Embedding, Explorer, Primitives, Shape, WithFilter};
use gramer::graph::View;
use gramer::pattern::{Dictionary, Filter};
use gramer_machine::Accelerator;
use gramer_sim::image::{Csr, Unit};
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{Application as Core, Outcome, Record, Settings};

pub use gramer_testing::environment::{self, root};

/// Whether Verilator is missing; says that a test is skipped then, unless `GRAMER_REQUIRE_RTL=1`.
pub fn no_verilator() -> bool {
    let missing = model::verilator().is_none();
    if missing {
        let what = "there is no verilator on the PATH (scripts/setup-rtl.sh installs it)";
        environment::skip(environment::RTL, what);
    }
    missing
}

/// A machine and its model, or `None` where Verilator is missing.
pub fn core(machine: &str) -> Option<(Accelerator, PathBuf)> {
    if no_verilator() {
        return None;
    }
    let accelerator = Accelerator::read(root().join(machine)).unwrap();
    let library = model::build(&accelerator, Build::default()).unwrap();
    Some((accelerator, library))
}

/// A fresh instance.
pub fn instance(library: &std::path::Path) -> Model {
    Model::load(library).unwrap()
}

/// The dictionary of the patterns of `k` vertices and their number.
pub fn motifs(k: usize) -> (Vec<u16>, u32) {
    let all = Dictionary::of(k);
    let entry = |bits| all.number(bits).map_or(0, |n| 0x8000 | n as u16);
    ((0..1u32 << (k * (k - 1) / 2)).map(entry).collect(), all.patterns().len() as u32)
}

/// What algorithm 1 and the core are compared by.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
pub struct SimulationResult {
    pub counts: Vec<u64>,
    /// By number of vertices, from 1.
    pub candidates: Vec<u64>,
    pub embeddings: Vec<u64>,
    /// Embeddings of k vertices with the unit that reaches them, if they are listed.
    pub records: Vec<Record>,
}

/// The primitives of the core's applications, in terms of the dictionary that the core gets.
struct OnCore<'a> {
    settings: &'a Settings,
    labels: &'a [u32],
    label_bits: u32,
    counts: Vec<u64>,
    unit: &'a Cell<u32>,
    records: Vec<Record>,
}

impl OnCore<'_> {
    fn entry(&self, embedding: &Embedding) -> u16 {
        let mut key = embedding.bits() as usize;
        if self.settings.application == Core::Fsm {
            for (j, &v) in embedding.vertices().iter().enumerate() {
                key |= (self.labels[v as usize] as usize) << (3 + j as u32 * self.label_bits);
            }
        }
        self.settings.dictionary[key]
    }
}

impl Primitives for OnCore<'_> {
    fn size(&self) -> usize {
        self.settings.k as usize
    }

    fn shape(&self) -> Shape {
        if self.settings.application == Core::Clique { Shape::Complete } else { Shape::Any }
    }

    fn filter(&mut self, embedding: &Embedding) -> bool {
        match self.settings.application {
            Core::Clique => embedding.last_mask().count_ones() as usize + 1 == embedding.size(),
            Core::Motif if !self.settings.select => true,
            _ => embedding.size() == 1 || self.entry(embedding) >> 15 == 1,
        }
    }

    fn process(&mut self, embedding: &Embedding) -> ControlFlow<()> {
        if embedding.size() == self.settings.k as usize {
            let number = match self.settings.application {
                Core::Clique => 0,
                _ => self.entry(embedding) & 0x7fff,
            };
            self.counts[number as usize] += 1;
            if self.settings.list.is_some() {
                self.records.push(Record {
                    ordinal: self.unit.get(),
                    pattern: u32::from(number),
                    ids: embedding.vertices().to_vec(),
                });
            }
        }
        ControlFlow::Continue(())
    }
}

/// Algorithm 1 of the host on the units that the core got.
pub fn algorithm_1(
    a: &Accelerator,
    graph: &Csr,
    units: &[Unit],
    settings: &Settings,
) -> SimulationResult {
    filtered_algorithm_1(a, graph, units, settings, None)
}

/// [`algorithm_1`] with the filter whose words the settings have.
pub fn filtered_algorithm_1(
    a: &Accelerator,
    graph: &Csr,
    units: &[Unit],
    settings: &Settings,
    filter: Option<&Filter>,
) -> SimulationResult {
    assert_eq!(settings.filter.is_empty(), filter.is_none());
    let context = gramer::Context::with_threads(1);
    let view = View {
        offsets: &graph.offsets,
        neighbours: &graph.edges,
        vertex_labels: (!graph.labels.is_empty()).then_some(&graph.labels[..]),
        edge_labels: None,
    };
    let comparison =
        if settings.ascending { Comparison::Ascending } else { Comparison::Descending };
    let whole = |u: &Unit| view.degree(u.start) as u32;
    let units: Vec<WorkUnit> =
        units.iter().map(|u| WorkUnit::from((u.start, u.first, u.limit.min(whole(u))))).collect();
    let at = Cell::new(0);
    let application = OnCore {
        settings,
        labels: &graph.labels,
        label_bits: a.applications.label_bits,
        counts: vec![0; settings.patterns as usize],
        unit: &at,
        records: vec![],
    };
    let application = WithFilter::new(view, filter, application);
    let mut algorithm = Explorer::new(view, comparison, application, &context);
    for (ordinal, unit) in units.iter().enumerate() {
        at.set(ordinal as u32);
        assert!(algorithm.run_units(std::slice::from_ref(unit)).is_continue());
    }
    let counters = algorithm.counters().clone();
    let by_depth = |counter: &[u64]| {
        let mut from_1: Vec<u64> = counter.iter().skip(1).copied().collect();
        from_1.resize(a.machine.depth as usize, 0);
        from_1
    };
    let OnCore { counts, mut records, .. } = algorithm.into_primitives().inner;
    records.sort_unstable();
    SimulationResult {
        counts,
        records,
        candidates: by_depth(&counters.candidates_by_depth),
        embeddings: by_depth(&counters.embeddings_by_depth),
    }
}

/// A task with default settings.
pub fn settings(a: &Accelerator, application: Core, k: u32) -> Settings {
    Settings {
        application,
        k,
        ascending: false,
        stealing: true,
        lru: false,
        slots: a.machine.slots,
        lambda_eighths: 8,
        tau: None,
        capacity: 1.0,
        on_chip: None,
        dictionary: vec![],
        patterns: 1,
        list: None,
        filter: vec![],
        select: false,
    }
}

/// Records in their own order.
pub fn sorted(records: &[Record]) -> Vec<Record> {
    let mut records = records.to_vec();
    records.sort_unstable();
    records
}

/// Compares the machine's report with algorithm 1.
pub fn compare(
    a: &Accelerator,
    graph: &Csr,
    units: &[Unit],
    s: &Settings,
    outcome: &Outcome,
) -> Result<(), String> {
    compare_filtered(a, graph, units, s, None, outcome)
}

/// [`compare`] with a filter.
pub fn compare_filtered(
    a: &Accelerator,
    graph: &Csr,
    units: &[Unit],
    s: &Settings,
    filter: Option<&Filter>,
    outcome: &Outcome,
) -> Result<(), String> {
    let mut expected = filtered_algorithm_1(a, graph, units, s, filter);
    let mut by_depth = [vec![], vec![]];
    if a.machine.performance_counters {
        by_depth = ["pu.candidates", "pu.embeddings"].map(|name| outcome.sums(name));
    } else {
        (expected.candidates, expected.embeddings) = (vec![], vec![]);
    }
    let [candidates, embeddings] = by_depth;
    let got = SimulationResult {
        counts: outcome.counts.clone(),
        candidates,
        embeddings,
        records: sorted(&outcome.records),
    };
    if got == expected {
        Ok(())
    } else {
        Err(format!("algorithm 1: {expected:?}\nthe core:    {got:?}"))
    }
}

/// A random graph: sparse, dense, or with hubs.
pub fn random_graph(rng: &mut fastrand::Rng, most_vertices: usize) -> Csr {
    let n = rng.usize(1..=most_vertices);
    let edges: Vec<(u32, u32)> = match rng.u32(0..4) {
        0 => (0..rng.usize(0..=2 * n))
            .map(|_| (rng.u32(0..n as u32), rng.u32(0..n as u32)))
            .collect(),
        1 => {
            let density = rng.f64();
            let mut edges = vec![];
            let n = n.min(16) as u32; // a clique of 16 has 65,535 embeddings
            for u in 0..n {
                for v in 0..u {
                    if rng.f64() < density {
                        edges.push((u, v));
                    }
                }
            }
            edges
        }
        2 => {
            // A few hubs.
            let hubs = rng.u32(1..=3).min(n as u32);
            (0..rng.usize(0..=3 * n)).map(|_| (rng.u32(0..hubs), rng.u32(0..n as u32))).collect()
        }
        _ => {
            // Preferential attachment.
            let mut ends = vec![0u32];
            let mut edges = vec![];
            for v in 1..n as u32 {
                for _ in 0..rng.u32(1..=3) {
                    let u = ends[rng.usize(0..ends.len())];
                    edges.push((u, v));
                    ends.push(u);
                }
                ends.push(v);
            }
            edges
        }
    };
    Csr::new(n, &edges, vec![])
}

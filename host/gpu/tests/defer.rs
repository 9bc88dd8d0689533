//! Rows that wait until the pages of their lists are on the device, where kernels can't read the host's memory: to be
//! extended, filtered and told apart. With kernels that test their indices.

use gramer_base::context::Context;
use gramer_base::error::Error;
use gramer_cpu::Cpu;
use gramer_engine::EngineExt;
use gramer_gpu::primitives::{
    EdgeFilter, Filter, Groups, Key, Measure, Mining, Positions, Table, Vertices,
};
use gramer_gpu::{Access, Gpu, Settings, Strategy, TableSettings};
use gramer_graph::Graph;
use gramer_graph::generate::Model;
use gramer_pattern::task::{Induced, Measure as Support, SizeLimit, Task};
use gramer_testing::graphs::random;

#[path = "common/answers.rs"]
mod answers;
mod common;

use answers::{answer, number};

fn open(kib: u64) -> Option<Gpu> {
    let access = Access::Defer;
    let table = TableSettings { access, host_memory: Some(0), ..TableSettings::default() };
    common::open(Settings {
        checked: true,
        strategy: Some(Strategy::Table),
        memory: Some(kib << 10),
        table,
        ..Settings::default()
    })
}

/// KiB of the least memory, as the message says that refuses less.
fn least(error: &Error) -> u64 {
    let text = error.to_string();
    let named = text.split("at least ").nth(1).and_then(|t| t.split('K').next());
    named.and_then(|kib| kib.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

fn graph(labels: [u32; 2]) -> Graph {
    // No hubs: the least memory has room for the lists of sixteen vertices.
    random(Model::ErdosRenyiEdges { vertices: 1100, edges: 1500 }, 9, labels)
}

#[test]
fn motifs_and_embeddings_wait_for_pages() {
    let embeddings = |n, support| Task::Fsm {
        limit: SizeLimit::MaxVertices(n),
        support,
        measure: Support::Embeddings,
    };
    for (labels, task) in [
        ([0, 0], Task::Motif { k: 4, induced: Induced::Vertex }),
        ([0, 0], Task::Motif { k: 3, induced: Induced::Edge }),
        ([2, 2], embeddings(3, 20)),
        ([2, 0], embeddings(4, 200)),
    ] {
        let graph = graph(labels);
        let right = answer(&Cpu, &graph, &task).results;
        let Some(gpu) = open(1) else { return };
        let least = least(&gpu.run(&graph, &task, None, &Context::default()).unwrap_err());
        let passes = [0, 3].map(|more| {
            let gpu = open(least + more).expect("there is a device");
            let found = answer(&gpu, &graph, &task);
            assert_eq!(found.results, right, "{least} + {more} {task:?}");
            assert!(number(&found, "pages.slots") < number(&found, "pages.number"));
            assert!(number(&found, "memory.peak") as u64 <= (least + more) << 10);
            number(&found, "pages.passes")
        });
        // With fewer slots more is waited for.
        assert!(passes[0] > passes[1] && passes[1] > 0.0, "{passes:?} {task:?}");
    }
}

/// What a program of a user does, as text.
fn told(mining: &Mining) -> (Vec<Vec<u32>>, Groups) {
    let mut table = Table::vertices(mining, &Filter::degree_at_least(2)).unwrap();
    table.extend_vertex(.., &Filter::canonical()).unwrap();
    table.extend_vertex(.., &Filter::any()).unwrap();
    // Lists are read for the last two.
    table.filter(&Filter::not_adjacent(0)).unwrap();
    table.filter(&Filter::edge_label(Positions::last(), 1)).unwrap();
    let odd =
        Filter::source("bool keep(const embedding *e, uint u) { return degree(e, u) % 2 == 1; }");
    table.filter(&odd).unwrap();
    let groups = table.aggregate(&Key::Pattern, &Measure::Mni).unwrap();
    table.filter(&groups.at_least(2)).unwrap();
    let mut rows: Vec<Vec<u32>> = table.rows().map(|row| row.unwrap()).collect();
    rows.sort_unstable();
    (rows, groups)
}

#[test]
fn programs_of_users_wait_for_pages() {
    let graph = graph([2, 2]);
    let Some(whole) = common::open(Settings { checked: true, ..Settings::default() }) else {
        return;
    };
    let right = told(&Mining::new(&whole, &graph).unwrap());
    assert!(right.0.len() > 20 && right.1.len() > 2);
    let Some(gpu) = open(1) else { return };
    let least = least(&Mining::new(&gpu, &graph).err().unwrap());
    let gpu = open(least).expect("there is a device");
    let mining = Mining::new(&gpu, &graph).unwrap();
    let (pages, slots) = mining.pages().unwrap();
    assert!(slots < pages);
    assert!(told(&mining) == right);

    // What may read lists of vertices that no row has is refused, and a table of edges is.
    let refused = |error: Error, what: &str| {
        let text = error.to_string();
        assert!(text.contains(what) && text.contains("setting `access`"), "{text}");
        assert_eq!(error.exit_code(), 1);
    };
    let mut table = Table::<Vertices>::vertices(&mining, &Filter::any()).unwrap();
    let near =
        Filter::source("bool keep(const embedding *e, uint u) { return adjacent(e, u, u + 1); }");
    refused(table.extend_vertex(.., &near).unwrap_err(), "`adjacent`");
    let label = Key::source("uint key(const embedding *e) { return edge_label(e, 0, 1); }");
    refused(table.aggregate(&label, &Measure::Count).unwrap_err(), "`edge_label`");
    let mut edges = Table::edges(&mining, &EdgeFilter::any()).unwrap();
    refused(edges.extend_edge(&EdgeFilter::any()).unwrap_err(), "tables of edges");
    let images = Task::Fsm { limit: SizeLimit::MaxEdges(2), support: 5, measure: Support::Mni };
    let gpu = open(least).expect("there is a device");
    refused(gpu.run(&graph, &images, None, &Context::default()).unwrap_err(), "minimum images");
}

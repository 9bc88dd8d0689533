//! Every strategy against the CPU engine, on any OpenCL device: the one that GRAMER_GPU_DEVICE names,
//! by default the portable one. Kernels test their indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::metrics::Value;
use gramer_engine::{Engine, EngineExt, Outcome, Share, Units};
use gramer_gpu::{Gpu, Settings, Strategy};
use gramer_graph::generate::Model;
use gramer_graph::read::{ReadOptions, read};
use gramer_graph::{Builder, Graph};
use gramer_pattern::task::{Induced, Task};
use gramer_testing::graphs::{complete, random};

mod common;

use common::open;

fn checked() -> Settings {
    Settings { checked: true, ..Settings::default() }
}

/// Graphs with hubs, dense parts, long rows, and nothing at all.
fn graphs() -> Vec<(String, Graph)> {
    let mut all = vec![];
    for seed in 0..3 {
        let model = Model::ErdosRenyiEdges { vertices: 60, edges: 300 };
        all.push((format!("random {seed}"), random(model, seed, [0, 0])));
        let model = Model::BarabasiAlbert { vertices: 150, edges_per_vertex: 7 };
        all.push((format!("grown {seed}"), random(model, seed, [0, 0])));
        let model = Model::Rmat { scale: 8, edge_factor: 12, a: 0.57, b: 0.19, c: 0.19 };
        all.push((format!("skewed {seed}"), random(model, seed, [0, 0])));
    }
    all.push((
        "dense".into(),
        random(Model::ErdosRenyiProbability { vertices: 90, p: 0.5 }, 4, [0, 0]),
    ));
    let mut star = Builder::new();
    for v in 1..1500 {
        star.edge(0, v);
        if v % 3 == 0 {
            star.edge(v, v - 1);
        }
        if v % 5 == 0 {
            star.edge(1, v);
        }
    }
    all.push(("hub with 1,499 neighbours".into(), star.build()));
    let mut tail = Builder::new();
    for v in 0..40u64 {
        (0..v).for_each(|u| tail.edge(u, v));
        tail.edge(v, 40 + v);
        tail.edge(40 + v, 80 + v);
    }
    all.push(("clique with tails".into(), tail.build()));
    let mut one = Builder::new();
    one.edge(0, 1);
    all.push(("an edge".into(), one.build()));
    let mut none = Builder::new();
    none.vertex_range(0..5);
    all.push(("no edge".into(), none.build()));
    all.push(("nothing".into(), Builder::new().build()));
    all
}

/// Compares the answers to a task.
fn compare(gpu: &Gpu, name: &str, graph: &Graph, task: &Task) {
    let context = Context::default();
    let right = Cpu.run(graph, task, None, &context).unwrap();
    let answer = gpu.run(graph, task, None, &context).unwrap();
    assert!(answer.complete, "{name}: {task:?}");
    assert_eq!(answer.results, right.results, "{name}: {task:?}");
}

#[test]
fn cliques_of_every_size() {
    let Some(gpu) = open(checked()) else { return };
    let all = side_by_side(graphs().into_iter().map(|(_, graph)| graph));
    for k in 3..=5 {
        compare(&gpu, "all graphs", &all, &Task::Clique { k });
    }
    // Large cliques, where they are few.
    let graph = random(Model::ErdosRenyiProbability { vertices: 30, p: 0.8 }, 5, [0, 0]);
    let portable: &[usize] = &[6, 7, 9, 16];
    let all: Vec<usize> = (6..=16).collect();
    for &k in if gpu.found().kind == "gpu" { &all } else { portable } {
        compare(&gpu, "dense", &graph, &Task::Clique { k });
    }
}

/// Both ways of counting cliques of six and more, where lanes have work of very different lengths: deep loops
/// over the sets were compiled wrongly by a driver, which shows on such graphs alone.
#[test]
fn cliques_by_sets_and_by_pivots() {
    let gpu = open(checked()).is_some_and(|gpu| gpu.found().kind == "gpu");
    // Compilers take seconds for each size, and sets that are met one by one grow tenfold with it.
    let (scale, sets, by_pivots): (_, &[usize], &[usize]) =
        if gpu { (10, &[6, 8, 9], &[6, 9, 12]) } else { (9, &[6], &[6, 10, 14]) };
    let skewed =
        random(Model::Rmat { scale, edge_factor: 25, a: 0.57, b: 0.19, c: 0.19 }, 3, [0, 0]);
    for (pivots, sizes) in [(false, sets), (true, by_pivots)] {
        let Some(gpu) = open(Settings { pivots: Some(pivots), ..checked() }) else { return };
        for &k in sizes {
            compare(&gpu, &format!("pivots: {pivots}"), &skewed, &Task::Clique { k });
        }
    }
}

/// The way that is chosen where there are many sets.
#[test]
fn many_sets() {
    let Some(gpu) = open(checked()) else { return };
    let dense = |vertices, p| random(Model::ErdosRenyiProbability { vertices, p }, 11, [0, 0]);
    // On a GPU, and on a processor, more sets than are met one by one.
    let (vertices, k) = if gpu.found().kind == "gpu" { (72, 11) } else { (48, 9) };
    let all = side_by_side([complete(vertices), dense(vertices, 0.9)].into_iter());
    compare(&gpu, "complete", &all, &Task::Clique { k });
    let (vertices, k) = if gpu.found().kind == "gpu" { (400, 8) } else { (120, 7) };
    compare(&gpu, "dense", &dense(vertices, 0.6), &Task::Clique { k });
}

#[test]
fn pivots_of_every_width() {
    let Some(gpu) = open(Settings { pivots: Some(true), ..checked() }) else { return };
    // Complete graphs with rows of 1 to 16 words, and with enough cliques that sums need 128 bits.
    for (vertices, k) in [(40, 7), (130, 9), (270, 16)] {
        let outcome =
            gpu.run(&complete(vertices), &Task::Clique { k }, None, &Context::default()).unwrap();
        let right = choose(u128::from(vertices), k as u128);
        assert_eq!(outcome.results[0].count, right, "{k} of {vertices}");
    }
    // Many pivots above small sets: products of more than 64 bits.
    let sparse = random(Model::ErdosRenyiProbability { vertices: 60, p: 0.5 }, 5, [0, 0]);
    compare(&gpu, "joined", &joined(200, &sparse), &Task::Clique { k: 16 });
    // Walks that take several launches, and heavy roots in parts.
    let model = Model::ErdosRenyiProbability { vertices: 150, p: 0.6 };
    compare(&gpu, "a long walk", &random(model, 7, [0, 0]), &Task::Clique { k: 9 });
    compare(&gpu, "bipartite", &bipartite(200), &Task::Clique { k: 9 });
    compare(&gpu, "tiers", &tiers(), &Task::Clique { k: 9 });
}

/// Sets of up to 200 candidates that need two or three vertices more, whose edges and triangles are counted: below roots of
/// every number of targets, and, of a few vertices next to all others, below their arcs.
#[test]
fn last_vertices_of_wide_sets() {
    let Some(gpu) = open(Settings { pivots: Some(true), ..checked() }) else { return };
    let dense = |vertices, p| random(Model::ErdosRenyiProbability { vertices, p }, 13, [0, 0]);
    let all =
        side_by_side([dense(200, 0.35), joined(2, &dense(90, 0.5)), dense(45, 0.8)].into_iter());
    for k in [6, 7, 9] {
        compare(&gpu, "dense", &all, &Task::Clique { k });
    }
    compare(&gpu, "above all classes", &joined(3, &dense(600, 0.1)), &Task::Clique { k: 6 });
}

/// Adds the edges of a graph whose vertices begin at `first`.
fn add_edges(builder: &mut Builder, graph: &Graph, first: u64) {
    let view = graph.view();
    for u in 0..view.vertices() as u32 {
        for &v in view.neighbours(u).iter().filter(|&&v| u < v) {
            builder.edge(first + u64::from(u), first + u64::from(v));
        }
    }
}

/// A graph and vertices that are joined to all of it and to each other.
fn joined(vertices: u64, graph: &Graph) -> Graph {
    let mut builder = Builder::new();
    add_edges(&mut builder, graph, 0);
    let all = graph.view().vertices() as u64;
    for u in all..all + vertices {
        (0..u).for_each(|v| builder.edge(u, v));
    }
    builder.build()
}

/// One graph of several, without an edge between them: what compilers take time for is then built once.
fn side_by_side(graphs: impl Iterator<Item = Graph>) -> Graph {
    let (mut builder, mut first) = (Builder::new(), 0);
    for graph in graphs {
        add_edges(&mut builder, &graph, first);
        first += graph.view().vertices() as u64;
    }
    builder.build()
}

#[test]
fn rows_of_every_width() {
    let Some(gpu) = open(checked()) else { return };
    // The first vertex of a complete graph leads to all others: 1, 2, 4, 8 and 16 words, and more.
    let all = side_by_side([33, 34, 65, 66, 130, 257, 258, 520].into_iter().map(complete));
    for k in [3, 4] {
        compare(&gpu, "complete", &all, &Task::Clique { k });
    }
    // Out-degrees of more than half the vertices, yet few cliques.
    let all = side_by_side([100, 140, 280].into_iter().map(bipartite));
    for k in [5, 6] {
        compare(&gpu, "bipartite", &all, &Task::Clique { k });
    }
}

/// A complete bipartite graph with `side` vertices a side, and two edges more from each vertex within its side.
fn bipartite(side: u64) -> Graph {
    let mut builder = Builder::new();
    for u in 0..side {
        (0..side).for_each(|v| builder.edge(u, side + v));
        for step in [1, 7] {
            builder.edge(u, (u + step) % side);
            builder.edge(side + u, side + (u + step * step) % side);
        }
    }
    builder.build()
}

/// Vertices next to all of 520, which have a tenth of all edges among them: all of the former have more
/// targets than local memory holds, and hold cliques.
fn tiers() -> Graph {
    let model = Model::ErdosRenyiProbability { vertices: 520, p: 0.1 };
    let among = random(model, 9, [0, 0]);
    let view = among.view();
    let mut builder = Builder::new();
    for u in 0..520u32 {
        view.neighbours(u).iter().for_each(|&v| builder.edge(u64::from(u), u64::from(v)));
        (520..1080).for_each(|v| builder.edge(u64::from(u), v));
    }
    builder.build()
}

/// C(n, k).
fn choose(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |c, i| c * (n - i) / (i + 1))
}

#[test]
fn roots_with_more_targets_than_local_memory_holds() {
    let Some(gpu) = open(checked()) else { return };
    let context = Context::default();
    for (vertices, k) in [(700, 3), (540, 4)] {
        let outcome = gpu.run(&complete(vertices), &Task::Clique { k }, None, &context).unwrap();
        assert_eq!(outcome.results[0].count, choose(u128::from(vertices), k as u128));
    }
    let graph = bipartite(520);
    // Their arcs count as roots; where there is no memory for that they are cut into parts.
    let Some(small) = open(Settings { memory: Some(12 << 20), ..checked() }) else { return };
    for k in [5, 6] {
        compare(&gpu, "bipartite", &graph, &Task::Clique { k });
        compare(&small, "bipartite, little memory", &graph, &Task::Clique { k });
        compare(&gpu, "tiers", &tiers(), &Task::Clique { k });
    }
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    compare(&gpu, "bipartite", &graph, &task);
}

#[test]
fn motifs_by_formulas() {
    let Some(gpu) = open(checked()) else { return };
    for (name, graph) in graphs() {
        for k in [3, 4] {
            for induced in [Induced::Vertex, Induced::Edge] {
                compare(&gpu, &name, &graph, &Task::Motif { k, induced });
            }
        }
    }
    // Several windows of counters: two, with searches, and three, with cursors for as many tasks as fit.
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let model = Model::Rmat { scale: 15, edge_factor: 2, a: 0.57, b: 0.19, c: 0.19 };
    compare(&gpu, "two windows", &random(model, 1, [0, 0]), &task);
    let model = Model::BarabasiAlbert { vertices: 50_000, edges_per_vertex: 2 };
    let graph = random(model, 1, [0, 0]);
    compare(&gpu, "three windows", &graph, &task);
    let Some(small) = open(Settings { memory: Some(10 << 20), ..checked() }) else { return };
    compare(&small, "three windows, little memory", &graph, &task);
}

/// What a run says of its strategy.
fn strategy(outcome: &Outcome) -> String {
    match outcome.devices[0].get("run.strategy") {
        Some(Value::Text(text)) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn motifs_of_five_by_formulas() {
    let Some(gpu) = open(checked()) else { return };
    for (name, graph) in graphs() {
        compare(&gpu, &name, &graph, &Task::Motif { k: 5, induced: Induced::Vertex });
    }
    // A triangle below a vertex that has no other neighbour below.
    let mut above = Builder::new();
    [(0, 1), (1, 2), (2, 0), (0, 3)].into_iter().for_each(|(u, v)| above.edge(u, v));
    for v in 3..8 {
        (3..v).for_each(|u| above.edge(u, v));
        (0..2).filter(|_| v > 3).for_each(|leaf| above.edge(v, 2 * v + leaf));
    }
    let task = Task::Motif { k: 5, induced: Induced::Edge };
    compare(&gpu, "a triangle below", &above.build(), &task);
    let (graph, context) = (bipartite(60), Context::default());
    compare(&gpu, "bipartite", &graph, &Task::Motif { k: 5, induced: Induced::Edge });
    let task = Task::Motif { k: 5, induced: Induced::Vertex };
    let outcome = gpu.run(&graph, &task, None, &context).unwrap();
    assert!(strategy(&outcome).starts_with("formula: "), "{}", strategy(&outcome));
    // A star whose number of 4-sets of leaves needs the second half.
    const LEAVES: u64 = 200_000;
    let mut star = Builder::new();
    (1..=LEAVES).for_each(|leaf| star.edge(0, leaf));
    let counts = gpu.run(&star.build(), &task, None, &context).unwrap().results;
    let most = counts.iter().map(|r| r.count).max().unwrap();
    assert_eq!(most, choose(u128::from(LEAVES), 4));
    assert!(most > u128::from(u64::MAX));
}

#[test]
fn motifs_of_five_around_hubs() {
    let Some(gpu) = open(checked()) else { return };
    let task = Task::Motif { k: 5, induced: Induced::Vertex };
    let inner = random(Model::ErdosRenyiEdges { vertices: 300, edges: 900 }, 5, [0, 0]);
    // The arc between two hubs has 300 triangles: more than a small work-group takes.
    compare(&gpu, "two hubs", &joined(2, &inner), &task);
    // Hubs of 70,000 neighbours: positions among them have more than 16 bits.
    let mut stars = Builder::new();
    add_edges(&mut stars, &joined(2, &inner), 0);
    (302..140_302).for_each(|leaf| stars.edge(leaf, 300 + leaf % 2));
    compare(&gpu, "hubs of 70,000 neighbours", &stars.build(), &task);
}

#[test]
fn motifs_of_five_of_real_graphs() {
    let (Some(data), Some(gpu)) = (common::environment::data(), open(checked())) else { return };
    for file in ["citeseer/citeseer.edgelist", "p2p-gnutella08/p2p-gnutella08.txt.zst"] {
        let loaded = read(&data.join(file), &ReadOptions::default(), &Context::default()).unwrap();
        compare(&gpu, file, &loaded.graph, &Task::Motif { k: 5, induced: Induced::Vertex });
    }
}

#[test]
fn motifs_of_five_without_room_or_in_shares_go_another_way() {
    let context = Context::default();
    let graph = random(Model::ErdosRenyiProbability { vertices: 40, p: 0.6 }, 8, [0, 0]);
    let task = Task::Motif { k: 5, induced: Induced::Vertex };
    let right = Cpu.run(&graph, &task, None, &context).unwrap().results;
    // 468 edges with 14 triangles each: the lists take 26 KB, of which nothing else needs as much, and their positions as
    // much again, for which there is no room at first.
    let named =
        |strategy, kib: u64| open(Settings { strategy, memory: Some(kib << 10), ..checked() });
    let mut ways = vec![];
    for kib in [24, 32, 40, 48, 64, 80, 96, 128, 1024] {
        let Some(gpu) = named(None, kib) else { return };
        let Ok(outcome) = gpu.run(&graph, &task, None, &context) else { continue };
        assert_eq!(outcome.results, right, "{kib} KiB");
        ways.push(strategy(&outcome));
        if ways.len() == 1 {
            let Some(formula) = named(Some(Strategy::Formula), kib) else { return };
            let error = formula.run(&graph, &task, None, &context).unwrap_err().to_string();
            assert!(error.contains("setting `memory`"), "{error}");
        }
    }
    assert!(ways[0].starts_with("wide: "), "{ways:?}");
    assert!(ways.last().unwrap().starts_with("formula: "), "{ways:?}");
    let share = Share::new([0..10, 10..20], []).unwrap();
    for (said, way) in [(None, Some("wide: ")), (Some(Strategy::Formula), None)] {
        let Some(gpu) = named(said, 4096) else { return };
        let prepared = gpu.prepare(&graph, &context).unwrap();
        match (prepared.run(&task, Units::Share(&share), None, &context), way) {
            (Ok(outcome), Some(way)) => assert!(strategy(&outcome).starts_with(way)),
            (Err(error), None) => assert!(error.to_string().contains("in shares"), "{error}"),
            (answer, _) => panic!("{answer:?}"),
        }
    }
}

#[test]
fn sums_beyond_64_bits() {
    let Some(gpu) = open(checked()) else { return };
    // A star whose number of triples of leaves needs the second half.
    const LEAVES: u64 = 5_000_000;
    let mut builder = Builder::new();
    (1..=LEAVES).for_each(|leaf| builder.edge(0, leaf));
    let graph = builder.build();
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let outcome = gpu.run(&graph, &task, None, &Context::default()).unwrap();
    let star = outcome.results.iter().map(|r| r.count).max().unwrap();
    assert_eq!(star, choose(u128::from(LEAVES), 3));
    assert!(star > u128::from(u64::MAX));
}

#[test]
fn the_budget_is_kept_or_the_least_is_named() {
    let graph = random(Model::BarabasiAlbert { vertices: 400, edges_per_vertex: 9 }, 3, [0, 0]);
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let mut refused = 0;
    for kib in [1, 16, 64, 128, 1024] {
        let Some(gpu) = open(Settings { memory: Some(kib << 10), ..checked() }) else { return };
        match gpu.run(&graph, &task, None, &Context::default()) {
            Ok(outcome) => {
                let right = Cpu.run(&graph, &task, None, &Context::default()).unwrap();
                assert_eq!(outcome.results, right.results, "{kib} KiB");
            }
            Err(error) => {
                assert!(error.to_string().contains("setting `memory`"), "{error}");
                assert_eq!(error.exit_code(), 1);
                refused += 1;
            }
        }
        let (limit, peak) = gpu.memory().unwrap();
        assert!(limit == kib << 10 && peak <= limit);
    }
    assert!((1..5).contains(&refused));
}

#[test]
fn a_run_stops_when_it_is_asked_to() {
    let Some(gpu) = open(Settings::default()) else { return };
    // Some 10^10 cliques of nine: a second and more of the fastest GPU.
    let graph = random(Model::ErdosRenyiProbability { vertices: 1000, p: 0.5 }, 3, [0, 0]);
    let context = Context::default();
    let prepared = gpu.prepare(&graph, &context).unwrap();
    let whole = prepared.run(&Task::Clique { k: 3 }, Units::All, None, &context).unwrap();
    let cancel = context.cancel.clone();
    let begun = std::time::Instant::now();
    let stop = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        cancel.cancel();
    });
    match prepared.run(&Task::Clique { k: 9 }, Units::All, None, &context) {
        Ok(part) => assert!(!part.complete),
        // The driver may still have been compiling.
        Err(error) => assert!(matches!(error, gramer_base::Error::Interrupted), "{error}"),
    }
    assert!(begun.elapsed().as_secs_f64() < 5.0);
    stop.join().unwrap();
    assert!(whole.complete);
}

#[test]
fn a_run_that_stopped_compiles_nothing() {
    let Some(gpu) = open(Settings { cache: None, ..Settings::default() }) else { return };
    let (graph, context) = (complete(6), Context::default());
    let prepared = gpu.prepare(&graph, &context).unwrap();
    let before = gpu.programs().unwrap();
    context.cancel.cancel();
    let outcome = prepared.run(&Task::Clique { k: 4 }, Units::All, None, &context);
    let outcome = outcome.unwrap();
    assert!(!outcome.complete && outcome.results.is_empty(), "{outcome:?}");
    assert_eq!(gpu.programs().unwrap(), before);
}

#[test]
fn programs_come_from_the_cache_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let name = std::env::var("GRAMER_GPU_DEVICE").unwrap_or_else(|_| "gpu:portable".into());
    let settings = Settings { cache: Some(folder.path().join("cache")), ..Settings::default() };
    let graph = complete(6);
    let run = || {
        let gpu = Gpu::open(&name, &settings).ok()?;
        let task = Task::Clique { k: 4 };
        let outcome = gpu.run(&graph, &task, None, &Context::default()).unwrap();
        assert_eq!(outcome.results[0].count, 15);
        Some(gpu.programs().unwrap())
    };
    let Some(first) = run() else {
        return common::environment::skip(common::environment::OPENCL, "no device");
    };
    assert_eq!((first, run().unwrap()), ((1, 0), (0, 1)));
    let files: Vec<_> = std::fs::read_dir(folder.path().join("cache")).unwrap().collect();
    assert_eq!(files.len(), 1);
    let path = files[0].as_ref().unwrap().path();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!((run().unwrap(), run().unwrap()), ((1, 0), (0, 1)));
}

//! Plans with labels of vertices: words against what plans mean, the core against its functional model, and
//! queries that come with real graphs against the CPU engine.

use gramer::accelerator::set::plan::estimates::estimates;
use gramer::task::Mappings;
use gramer_testing::query_sets;

use super::*;

/// The graph with one of this many labels at each vertex; a label more that no vertex has.
pub(super) fn labelled(rng: &mut fastrand::Rng, most: u64, labels: u32) -> Graph {
    let (n, share) = (4 + rng.u64(0..most), rng.u32(10..60));
    let mut builder = Builder::new();
    (0..n).for_each(|v| builder.labelled_vertex(v, rng.u32(0..labels) * 3));
    for (u, v) in (0..n).flat_map(|u| (0..u).map(move |v| (u, v))) {
        if rng.u32(0..100) < share {
            builder.edge(u, v);
        }
    }
    renumber(&builder.build(), &Context::with_threads(1)).unwrap()
}

/// A connected pattern of this many vertices whose vertices have labels, some of them none.
fn labelled_pattern(rng: &mut fastrand::Rng, vertices: usize, labels: u32) -> Pattern {
    let mut pattern = pattern(rng, vertices);
    let all = rng.bool();
    for v in 0..vertices {
        if all || rng.u32(0..4) > 0 {
            pattern.set_vertex_label(v, rng.u32(0..labels) * 3 + u32::from(rng.u32(0..40) == 0));
        }
    }
    pattern
}

/// A plan's words, made without the graph or with what is known of it.
fn words(rng: &mut fastrand::Rng, graph: &Graph, pattern: &Pattern, induced: Induced) -> Program {
    match rng.bool() {
        true => Program::counting(pattern, induced, 7).unwrap(),
        false => {
            let known = estimates(graph.view(), pattern);
            Program::estimated(pattern, induced, 7, &known).unwrap()
        }
    }
}

#[test]
fn words_with_labels_count_what_plans_mean() {
    let machine = named("set-small").unwrap().unwrap();
    let mut found = 0;
    for seed in 0..80 {
        let mut rng = fastrand::Rng::with_seed(300 + seed);
        let labels = rng.u32(2..5);
        let graph = labelled(&mut rng, 20, labels);
        let vertices = rng.usize(3..9);
        let pattern = labelled_pattern(&mut rng, vertices, labels);
        for induced in [Induced::Vertex, Induced::Edge] {
            let program = words(&mut rng, &graph, &pattern, induced);
            let clusters = 1 + rng.usize(0..3);
            let counted = program.mappings(sum(&machine, &graph, &program, clusters));
            let plan = SearchPlan::of(&pattern, induced, true, false);
            let mappings = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
            let wanted = mappings * plan.factor;
            assert_eq!(counted, wanted, "seed {seed}, {pattern:?}, {induced:?}");
            found += u32::from(wanted > 0);
        }
    }
    assert!(found > 40, "{found} patterns are in the graphs");
}

#[test]
fn the_core_counts_patterns_with_labels() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let mut found = 0;
    for seed in 0..40 {
        let mut rng = fastrand::Rng::with_seed(700 + seed);
        let labels = rng.u32(1..6);
        let graph = labelled(&mut rng, if seed % 8 == 0 { 150 } else { 30 }, labels);
        let vertices = rng.usize(3..if graph.view().vertices() > 60 { 5 } else { 9 });
        let pattern = labelled_pattern(&mut rng, vertices, labels);
        for induced in [Induced::Vertex, Induced::Edge] {
            let program = words(&mut rng, &graph, &pattern, induced);
            if steps(&machine, &graph, &program) > 3_000 {
                continue;
            }
            let bench = Bench::new(&machine, &graph, &program, 1 + rng.usize(0..2));
            let what = format!("seed {seed}, {pattern:?}, {induced:?}");
            let outcomes = bench.compare(&mut core, &held(&machine, seed), &what);
            found += u32::from(outcomes.iter().any(|o| o.counts[SUM_EMBEDDINGS] > 0));
        }
    }
    assert!(found > 15, "{found} patterns were found");
}

/// The queries of a real graph: its folder and file, and their sets with how many of each are quick to simulate.
type Queries = (&'static str, &'static str, [(&'static str, usize); 3]);

const QUERIES: [Queries; 2] = [
    (
        "sm-yeast",
        "yeast.graph.zst",
        [("query_dense_4_", 2), ("query_dense_8_", 0), ("query_sparse_8_", 0)],
    ),
    (
        "sm-hprd",
        "HPRD.graph.zst",
        [("query_dense_4_", 2), ("query_dense_8_", 1), ("query_sparse_8_", 1)],
    ),
];

/// Queries that come with real graphs, vertex- and edge-induced, with the counts of the CPU engine; prints the
/// cycles. With `GRAMER_QUERIES=N` the first N of each set, and 200 are all of them.
#[test]
fn queries_with_labels_have_the_counts_of_the_cpu_engine() {
    let Some(folder) = environment::data() else {
        return environment::skip(environment::DATA, "there are no real graphs");
    };
    let given = std::env::var("GRAMER_QUERIES").ok();
    let each: Option<usize> = given.map(|n| n.parse().expect("GRAMER_QUERIES is a number"));
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for (name, file, sets) in QUERIES {
        let graph = query_sets::graph(&folder.join(name).join(file));
        let sets = sets.map(|(set, quick)| (set, each.unwrap_or(quick).min(200)));
        let wanted = |query: &str| {
            let number = |set| query.strip_prefix(set)?.parse::<usize>().ok();
            sets.iter().any(|&(set, most)| number(set).is_some_and(|at| (1..=most).contains(&at)))
        };
        let archive = folder.join(name).join("queries_rapids.tar.zst");
        let queries = query_sets::queries(&archive, wanted);
        let all: usize = sets.iter().map(|&(_, most)| most).sum();
        assert_eq!(queries.len(), all, "queries of {name}");
        for (query, pattern) in queries {
            for induced in [Induced::Vertex, Induced::Edge] {
                let what = format!("{name} {query}");
                real_query(&mut core, &machine, &graph, (&what, &pattern, induced));
            }
        }
    }
}

/// Compares a query's count, and prints what it took.
fn real_query(
    core: &mut Model,
    machine: &Accelerator,
    graph: &Graph,
    (name, given, induced): (&str, &Pattern, Induced),
) {
    let mut pattern = Pattern::from_edges(given.vertices(), &given.edges());
    (0..given.vertices()).for_each(|v| pattern.set_vertex_label(v, given.vertex_label(v)));
    let known = estimates(graph.view(), &pattern);
    let program = Program::estimated(&pattern, induced, 7, &known).unwrap();
    let bench = Bench::new(machine, graph, &program, 1);
    let simulation = Simulation { max_cycles: 2_000_000_000, ..held(machine, 0) };
    let outcome = bench.found(core, &simulation);
    let task = Task::Match { pattern, induced, mappings: Some(Mappings::Isomorphism) };
    let known = Cpu.run(graph, &task, None, &Context::with_threads(1)).unwrap().results[0].count;
    assert_eq!(outcome.status, DONE, "{name}");
    let counted = program.mappings(outcome.counts[SUM_EMBEDDINGS].into());
    assert_eq!(counted, known, "{name}, {induced:?}");
    println!("{name}, {induced:?}: {known} mappings, {} cycles", outcome.sum("core.cycles"));
}

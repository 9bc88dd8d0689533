//! Cycles of search plans on real graphs, by state, for the plans in `GRAMER_PLANS`.
//!
//! `GRAMER_PLANS="MACHINE PUS WALKERS GRAPH PART PATTERN…"`, for example `set-plans 8 4 wiki-vote/Wiki-Vote.txt.zst 64 house`:
//! one cluster of this many PUs with this many walkers, and every n-th unit of the graph, so that large ones end.
//! The count is that of the functional model.

use super::*;
use gramer::accelerator::set::image::Words;

/// Edges of a pattern by its name.
fn edges_of(name: &str) -> Vec<(usize, usize)> {
    let cycle = |n: usize| (0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>();
    match name {
        "triangle" => cycle(3),
        "diamond" => [cycle(4), vec![(0, 2)]].concat(),
        "4-cycle" => cycle(4),
        "5-cycle" => cycle(5),
        "house" => [cycle(4), vec![(0, 4), (1, 4)]].concat(),
        _ => panic!("no pattern has the name {name}"),
    }
}

#[test]
fn cycles_of_plans_that_are_asked_for() {
    let Ok(asked) = std::env::var("GRAMER_PLANS") else { return };
    let Some(folder) = environment::data() else {
        return environment::skip(environment::DATA, "there are no real graphs");
    };
    let words: Vec<&str> = asked.split_whitespace().collect();
    let [name, pus, walkers_each, file, part, patterns @ ..] = &words[..] else {
        panic!("GRAMER_PLANS is MACHINE PUS WALKERS GRAPH PART PATTERN…");
    };
    let mut machine = named(name).unwrap().unwrap();
    machine.machine.processing_units = pus.parse().unwrap();
    machine.set.as_mut().unwrap().plan_walkers = walkers_each.parse().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let context = Context::with_threads(1);
    let read = read_graph(&folder.join(file), &ReadOptions::default(), &context).unwrap();
    let graph = renumber(&read, &context).unwrap();
    for name in patterns {
        let edges = edges_of(name);
        let vertices = edges.iter().map(|&(u, v)| u.max(v) + 1).max().unwrap();
        let pattern = Pattern::from_edges(vertices, &edges);
        let program = Program::counting(&pattern, Induced::Edge, 7).unwrap();
        cycles_of(&machine, &mut core, &graph, &program, (name, part.parse().unwrap()));
    }
}

/// Prints what a program takes, on every n-th unit.
fn cycles_of(
    machine: &Accelerator,
    core: &mut Model,
    graph: &Graph,
    program: &Program,
    (name, of): (&str, usize),
) {
    let image = PlanImage::new(graph.view(), program.order()).unwrap();
    let all = units(graph.view(), Units::All, &image, program, walkers(machine, 1));
    let some = all.iter().copied().step_by(of).collect();
    let streams = deal(machine, (program, &image), some, 1);
    let mut stream = streams[0].whole();
    let wanted = loop {
        if let Some(wanted) = reference::run(machine, image.words(), &stream) {
            break wanted;
        }
        assert!(fewer_walkers(machine, &mut stream), "sets have no room");
    };
    let s = Simulation { max_cycles: 2_000_000_000, ..held(machine, 0) };
    let job = Run { image: image.bytes(), stream: &stream, load: true, wait: true };
    let outcome = run(machine, core, &job, &s).unwrap();
    assert_eq!(outcome.status, DONE, "{name}");
    assert_eq!(outcome.counts, wanted.values, "{name}");
    let cycles = outcome.sum("core.cycles") - outcome.sum("core.load_cycles");
    let pus = u64::from(machine.machine.processing_units);
    let of_all = |counter: &str| outcome.sum(counter) as f64 / (cycles * pus) as f64 * 100.;
    let lists = outcome.sum("pu.members");
    println!(
        "{name}: {} counted from 1 of {of} units, {} parts; without loading {cycles} cycles of {pus} PUs: {lists} \
         lists, {:.2} cycles of a PU each, {} lines, {} pairs ({:.1} %); merger: lines {:.1} %, passed {:.1} %, \
         waits for a list {:.1} %, nothing to do {:.1} %",
        wanted.values[SUM_EMBEDDINGS],
        parts(machine, &stream),
        (cycles * pus) as f64 / lists as f64,
        outcome.sum("pu.lines_answered"),
        outcome.sum("pu.steps"),
        of_all("pu.steps"),
        of_all("pu.plan_steps"),
        of_all("pu.plan_passes"),
        of_all("pu.plan_no_line"),
        100. - ["steps", "passes", "no_line"]
            .iter()
            .map(|c| of_all(&format!("pu.plan_{c}")))
            .sum::<f64>(),
    );
}

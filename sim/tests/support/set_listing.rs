//! Plans that list: what the core lists is what its functional model lists with the same bytes, and that is what
//! the plans meet; with a result area that is full again and again, and runs that are stopped.

use gramer::accelerator::set::image::Words;
use gramer_machine::set::RECORD_NARROW;
use gramer_sim::set::list;

use super::*;

/// Embeddings, by pattern vertex, in order.
type Embeddings = Vec<Vec<u32>>;

/// What a plan meets, by its meaning.
fn met(graph: &Graph, pattern: &Pattern, induced: Induced, mappings: bool) -> Embeddings {
    let plan = SearchPlan::of(pattern, induced, mappings, true);
    let mut all = vec![];
    let each = |mapping: &[u32]| {
        all.push(mapping.to_vec());
        ControlFlow::Continue(())
    };
    interpret(&plan, graph.view(), each).unwrap();
    all.sort_unstable();
    all
}

/// Records by pattern vertex, in order.
fn embeddings(program: &Program, image: &PlanImage, records: &[Vec<u32>]) -> Embeddings {
    let (of, order) = (image.vertices(), program.listed());
    let embedding = |record: &Vec<u32>| {
        let mut vertices = vec![u32::MAX; order.len()];
        for (&at, &id) in order.iter().zip(record) {
            vertices[at] = of[id as usize];
        }
        vertices
    };
    let mut all: Embeddings = records.iter().map(embedding).collect();
    all.sort_unstable();
    all
}

fn ids(outcome: &Outcome) -> Embeddings {
    let mut all: Embeddings = outcome.records.iter().map(|record| record.ids.clone()).collect();
    all.sort_unstable();
    all
}

/// Occurrences have one mapping each, which one depends on the plan: the one that comes first.
fn first_of(pattern: &Pattern, found: Embeddings) -> Embeddings {
    let n = pattern.vertices();
    let mut orders: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..n {
        let longer = orders.iter().flat_map(|order| {
            let rest = (0..n).filter(|v| !order.contains(v));
            rest.map(|v| [&order[..], &[v]].concat()).collect::<Vec<_>>()
        });
        orders = longer.collect();
    }
    let same = |order: &&Vec<usize>| {
        (0..n).all(|u| {
            pattern.vertex_label(u) == pattern.vertex_label(order[u])
                && (0..n).all(|v| pattern.has_edge(u, v) == pattern.has_edge(order[u], order[v]))
        })
    };
    let orders: Vec<&Vec<usize>> = orders.iter().filter(same).collect();
    let least = |mapping: Vec<u32>| {
        let images = orders.iter().map(|order| order.iter().map(|&v| mapping[v]).collect());
        images.min().unwrap_or(mapping)
    };
    let mut all: Embeddings = found.into_iter().map(least).collect();
    all.sort_unstable();
    all
}

#[test]
fn words_list_what_plans_meet() {
    let machine = named("set-small").unwrap().unwrap();
    let mut found = 0;
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(2_000 + seed);
        let (graph, pattern) = match rng.bool() {
            true => (random(&mut rng, 16), pattern(&mut rng, 3 + seed as usize % 4)),
            false => {
                let graph = labels::labelled(&mut rng, 16, 3);
                let mut pattern = pattern(&mut rng, 3 + seed as usize % 4);
                (0..pattern.vertices())
                    .for_each(|v| pattern.set_vertex_label(v, rng.u32(0..3) * 3));
                (graph, pattern)
            }
        };
        for (induced, mappings) in
            [(Induced::Vertex, false), (Induced::Edge, false), (Induced::Edge, true)]
        {
            let program = Program::listing(&pattern, (induced, mappings), 7, None).unwrap();
            let bench = Bench::new(&machine, &graph, &program, 1 + rng.usize(0..3));
            let mut records = vec![];
            for stream in &bench.streams {
                records.extend(reference::list(&machine, bench.image.words(), stream).unwrap().1);
            }
            let what = format!("seed {seed}, {pattern:?}, {induced:?}, mappings {mappings}");
            let mut listed = embeddings(&program, &bench.image, &records);
            let mut wanted = met(&graph, &pattern, induced, mappings);
            if !mappings {
                (listed, wanted) = (first_of(&pattern, listed), first_of(&pattern, wanted));
            }
            assert_eq!(listed, wanted, "{what}");
            assert!(listed.windows(2).all(|pair| pair[0] != pair[1]), "twice: {what}");
            found += usize::from(!listed.is_empty());
        }
    }
    assert!(found > 60, "{found} patterns are in the graphs");
}

/// Runs a stream until every unit is done, in an area of this many beats at first, as the host does: what a run lists
/// counts up to its next unit; where that is the first, fewer units are sent or the area grows. Gives what was listed,
/// and how many runs were half full and how many full for good.
fn whole(
    bench: &Bench<'_>,
    core: &mut Model,
    (stream, vertices, mut beats): (&[u8], u32, u32),
    s: &Simulation,
) -> (Embeddings, [u32; 2]) {
    let head = stream.len() - bench.places * 8;
    let (head, mut units) = (&stream[..head], stream[head..].to_vec());
    let (mut all, mut full, mut load, mut most) = (vec![], [0; 2], true, usize::MAX);
    while !units.is_empty() {
        let part = &units[..units.len().min(most)];
        let sent = [head, part].concat();
        let job = Run {
            image: bench.image.bytes(),
            stream: &sent,
            load: std::mem::take(&mut load),
            wait: true,
        };
        let outcome = list(bench.machine, core, &job, Some((vertices, beats)), s).unwrap();
        match outcome.status {
            DONE => assert_eq!(outcome.next_unit as usize, part.len() / 8),
            status => assert_eq!(status, FULL),
        }
        full[usize::from(outcome.next_unit == 0)] += u32::from(outcome.status == FULL);
        if outcome.next_unit == 0 {
            let a_beat = if vertices > RECORD_NARROW { 1 } else { 2 };
            assert_eq!(outcome.records.len(), (beats * a_beat) as usize, "the area is full");
            match part.len() {
                64 => beats *= 4,
                bytes => most = (bytes / 2).next_multiple_of(64),
            }
            continue;
        }
        assert_eq!(outcome.counts[SUM_EMBEDDINGS], outcome.records.len() as u64);
        all.extend(ids(&outcome));
        // A beat again from its beginning: what is done of it is taken out.
        let done = outcome.next_unit as usize * 8;
        units[..done].fill(0);
        units.drain(..done / 64 * 64);
    }
    all.sort_unstable();
    (all, full)
}

/// Many vertices with one label and few neighbours each.
fn sparse(rng: &mut fastrand::Rng) -> Graph {
    let n = rng.u64(300..500);
    let mut builder = Builder::new();
    (0..n).for_each(|v| builder.labelled_vertex(v, 0));
    (0..2 * n).for_each(|_| builder.edge(rng.u64(0..n), rng.u64(0..n)));
    renumber(&builder.build(), &Context::with_threads(1)).unwrap()
}

#[test]
fn the_core_lists_what_its_model_does_whatever_is_full() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let (mut found, mut full) = (0, [0; 2]);
    for seed in 0..32 {
        let mut rng = fastrand::Rng::with_seed(2_100 + seed);
        let labels = 1 + seed as u32 % 4;
        // Of many small units some are in flight while others wait; of a few large ones all are.
        let (graph, most) = match seed % 4 {
            0 => (sparse(&mut rng), 5),
            _ => (labels::labelled(&mut rng, 24, labels), 8),
        };
        let mut pattern = pattern(&mut rng, 3 + seed as usize % (most - 2));
        if labels > 1 {
            (0..pattern.vertices())
                .for_each(|v| pattern.set_vertex_label(v, rng.u32(0..labels) * 3));
        }
        let induced = if rng.bool() { Induced::Edge } else { Induced::Vertex };
        let program = Program::listing(&pattern, (induced, rng.bool()), 7, None).unwrap();
        let most = if seed % 4 == 1 { 150 } else { 6_000 };
        if steps(&machine, &graph, &program) > most {
            continue;
        }
        let bench = Bench::new(&machine, &graph, &program, 1);
        let wanted = reference::list(&machine, bench.image.words(), &bench.streams[0]).unwrap().1;
        let n = pattern.vertices() as u32;
        // Several runs; sometimes a unit has no room even alone.
        let few = if seed % 4 == 1 { rng.u32(1..5) } else { 4 + wanted.len() as u32 / 6 };
        for beats in [few, 1 << 16] {
            let s = held(&machine, seed);
            let (listed, times) = whole(&bench, &mut core, (&bench.streams[0], n, beats), &s);
            let mut wanted = wanted.clone();
            wanted.sort_unstable();
            assert_eq!(listed, wanted, "seed {seed}, {beats} beats, {pattern:?}, {induced:?}");
            assert!(beats < 1 << 16 || times == [0; 2], "seed {seed}: full with room for all");
            (full[0], full[1]) = (full[0] + times[0], full[1] + times[1]);
        }
        found += usize::from(!wanted.is_empty());
    }
    assert!(found > 8, "{found} patterns were found");
    assert!(full[0] > 10 && full[1] > 10, "{full:?} runs were half full, and full for good");
}

/// Runs that are stopped while they list: after the units in progress what was listed is whole; the core is as it was.
#[test]
fn listing_that_is_stopped_is_clean() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let house = Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]);
    let program = Program::listing(&house, (Induced::Edge, false), 7, None).unwrap();
    let graph = random(&mut fastrand::Rng::with_seed(3), 26);
    let bench = Bench::new(&machine, &graph, &program, 1);
    let stream = &bench.streams[0];
    let mut wanted = reference::list(&machine, bench.image.words(), stream).unwrap().1;
    wanted.sort_unstable();
    let job = Run { image: bench.image.bytes(), stream, load: true, wait: true };
    let run = |core: &mut Model, beats, s: &Simulation| {
        list(&machine, core, &job, Some((5, beats)), s).unwrap()
    };
    let whole = run(&mut core, 1 << 16, &held(&machine, 0));
    assert_eq!((whole.status, ids(&whole)), (DONE, wanted.clone()));
    let mut stopped = 0;
    for (at, word) in (0..8).map(|i| (100 + whole.cycles * i / 8, 1 + i as u32 % 2)) {
        let simulation = Simulation { abort: Some((at, word)), ..held(&machine, at) };
        let outcome = run(&mut core, 1 << 16, &simulation);
        if outcome.status == ABORTED && word == 1 {
            let mut part = stream.clone();
            let head = part.len() - bench.places * 8;
            part[head + outcome.next_unit as usize * 8..].fill(0);
            let mut known = reference::list(&machine, bench.image.words(), &part).unwrap().1;
            known.sort_unstable();
            assert_eq!(ids(&outcome), known, "stopped in cycle {at}");
        } else if outcome.status == ABORTED {
            assert_eq!(outcome.next_unit, 0, "stopped at once in cycle {at}");
            let listed = ids(&outcome);
            assert!(listed.iter().all(|record| wanted.binary_search(record).is_ok()));
        }
        stopped += u32::from(outcome.status == ABORTED);
        // Full for good, and all of it, after a run that was stopped.
        let few = run(&mut core, 3, &held(&machine, at + 1));
        assert_eq!((few.status, few.records.len()), (FULL, 6));
        assert_eq!(ids(&run(&mut core, 1 << 16, &held(&machine, at))), wanted, "after cycle {at}");
    }
    assert!(stopped >= 3, "{stopped} runs were stopped");
    // No room at all, and a run that counts with none.
    assert_eq!(run(&mut core, 0, &held(&machine, 0)).status, FULL);
    let counting = Program::counting(&house, Induced::Edge, 7).unwrap();
    let counting = Bench::new(&machine, &graph, &counting, 1);
    counting.compare(&mut core, &held(&machine, 0), "after runs that list");
}

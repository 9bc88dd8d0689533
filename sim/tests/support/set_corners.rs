//! Corners of the set core that random graphs on the small machine leave out: ports with several PUs, lists whose
//! length is in the image, a slow receiver.

use super::*;

/// Two PUs share a port and two partitions answer a PU from each half; no search plans, one bank of the map.
#[test]
fn ports_that_two_pus_share() {
    let mut machine = machine("set");
    machine.machine.name = "set_shared".into();
    (machine.machine.processing_units, machine.machine.partitions) = (4, 4);
    let set = machine.set.as_mut().unwrap();
    (set.unit_queue, set.lists, set.answers) = (4, 8, 4);
    (set.map_words, set.map_banks) = (32_768, 1);
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let mut conflicts = 0;
    for seed in 0..12 {
        let graph = random(&mut fastrand::Rng::with_seed(500 + seed), 70);
        let operations = [Operation::Cliques { k: 4 }, Operation::Paths];
        let arrange = [Arrange::ByAddress, Arrange::ByWork][seed as usize % 2];
        let bench = Bench::new(&machine, &graph, &operations, arrange);
        let outcomes = bench.compare(&mut core, &held(&machine, seed), &format!("{seed}"));
        let found = outcomes.iter().map(|o| u128::from(o.counts[SUM_CLIQUES]));
        assert_eq!(found.sum::<u128>(), cliques(&graph, 4), "{seed}");
        conflicts += outcomes.iter().map(|o| o.sum("partition.conflicts")).sum::<u64>();
    }
    assert!(conflicts > 0, "no PU waited for another");
}

/// Hubs with more neighbours than a unit can name: the core reads the lengths of their lists from the image. One PU gets them
/// one behind the other, so that lines of one are on their way while it asks for the length of the next.
#[test]
fn lists_whose_length_is_in_the_image() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let operations = [Operation::Cliques { k: 4 }, Operation::Paths];
    let field =
        |name: &str, unit: &[u8]| machine.streams.input.field("unit", name).unwrap().get(unit);
    // Four lengths: the last line of a list takes each place of the port once.
    for lines in 0..4 {
        let (hubs, leaves) = (3, 4 * u64::from(QUARTERS_LONG) + 30 + 16 * lines);
        let dense = (hubs..hubs + 40).flat_map(|v| (hubs..v).map(move |u| (u, v)));
        let spokes = (0..hubs).flat_map(|hub| (hubs..=leaves + hubs).map(move |v| (hub, v)));
        let graph = graph(spokes.chain(dense));
        let mut bench = Bench::new(&machine, &graph, &operations, Arrange::ByAddress);
        let (header, units) = bench.streams[0].split_at(64);
        let all = || units.chunks(8).filter(|unit| field("quarters", unit) != 0);
        let long: Vec<_> =
            all().filter(|unit| field("quarters", unit) == u64::from(QUARTERS_LONG)).collect();
        let mut cliques: Vec<_> = all().filter(|unit| field("plan", unit) == 0).collect();
        cliques.sort_by_key(|unit| std::cmp::Reverse(field("quarters", unit)));
        // Cliques of large sets take long: lines of their members wait in the PU's queue when a hub follows.
        let order = [&cliques[..31], &long[..1], &cliques[..3], &long[1..]];
        let mut stream = [header, &order.concat().concat()].concat();
        stream.resize(stream.len().next_multiple_of(64), 0);
        bench.streams = vec![stream];
        let outcome = &bench.compare(&mut core, &held(&machine, lines % 2), "hubs")[0];
        assert!(outcome.counts[SUM_TRIANGLES] > 0 && outcome.counts[SUM_CLIQUES] > 0);
    }
}

/// A receiver that takes a beat only long after the one before: sums wait for the beat that has not left.
#[test]
fn a_slow_receiver_gets_the_same_sums() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let graph = random(&mut fastrand::Rng::with_seed(9), 60);
    let bench = Bench::new(&machine, &graph, &[Operation::Paths], Arrange::ByWork);
    // The first run is longer: the map is cleared after the reset.
    let [_, fast, slow] = [0, 0, 400].map(|pause| {
        let simulation = Simulation { out_pause: pause, ..held(&machine, 0) };
        bench.compare(&mut core, &simulation, &format!("{pause} cycles between beats"))[0].clone()
    });
    // The report begins after the last counted cycle.
    assert_eq!(fast.sum("core.cycles"), slow.sum("core.cycles"));
    assert!(slow.cycles > fast.cycles + 400 * 4);
}

//! Models that count activity: a counter of cycles toggles as often as a sum by hand says, and enables of memories are high
//! as often as the core's own counters say.

use std::collections::BTreeMap;
use std::path::Path;

use gramer::accelerator::set::image::{SetImage, Words};
use gramer::accelerator::set::units::{Arrange, Operation, deal, units};
use gramer::engine::Units;
use gramer_machine::named::named;
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{DONE, Simulation};
use gramer_sim::set::{Run, run};
use gramer_testing::environment;
use gramer_testing::graphs::{pairs, ranked};

/// Activity of a variable: its bits, and what the model counted.
#[derive(Debug, PartialEq, Eq)]
struct Activity {
    bits: u64,
    toggles: u64,
    changes: u64,
    ones: u64,
}

/// A run: its clocks, and its variables by path and name.
type Section = (u64, BTreeMap<String, Activity>);

/// The sections of the only file in a folder.
fn sections(folder: &Path) -> Vec<Section> {
    let files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let mut sections: Vec<Section> = vec![];
    for line in std::fs::read_to_string(&files[0]).unwrap().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if let ["clocks", clocks] = fields[..] {
            sections.push((clocks.parse().unwrap(), BTreeMap::new()));
            continue;
        }
        let [path, name, dimensions, toggles, changes, ones] = fields[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<u64>().unwrap();
        let bits = dimensions.split('x').map(number).product();
        let [toggles, changes, ones] = [toggles, changes, ones].map(number);
        let variables = &mut sections.last_mut().unwrap().1;
        variables.insert(format!("{path}.{name}"), Activity { bits, toggles, changes, ones });
    }
    sections
}

/// Sum of a counted number over variables whose path ends so.
fn sum(section: &Section, end: &str, of: impl Fn(&Activity) -> u64) -> u64 {
    let found: Vec<_> = section.1.iter().filter(|(path, _)| path.ends_with(end)).collect();
    assert!(!found.is_empty(), "no variable {end}");
    found.iter().map(|(_, counted)| of(counted)).sum()
}

/// Clocks in which partitions, the one with a narrow memory too, have a signal high.
fn by_partitions(section: &Section, name: &str) -> u64 {
    let of = |instance| sum(section, &format!(".{instance}.{name}"), |c| c.ones);
    of("i_partition") + of("i_narrow")
}

#[test]
fn toggles_and_enables_are_those_counted_by_hand_and_by_the_core() {
    if model::verilator().is_none() {
        return environment::skip(environment::RTL, "there is no verilator");
    }
    let out = tempfile::tempdir().unwrap();
    // SAFETY: no other thread has been started: this is the only test here.
    unsafe {
        std::env::set_var("GRAMER_COVERAGE", "activity");
        std::env::set_var("GRAMER_COVERAGE_OUT", out.path());
    }
    let machine = named("set-small").unwrap().unwrap();
    let library = model::build(&machine, Build { fast: true, ..Build::default() }).unwrap();
    let mut rng = fastrand::Rng::with_seed(5);
    let graph = ranked(&pairs(60, |_, _| rng.u32(0..100) < 20));
    let operations = [Operation::Cliques { k: 4 }];
    let image = SetImage::new(graph.view(), operations[0].lists(), 1).unwrap();
    let work = units(graph.view(), &image, &operations, Units::All);
    let dealt = deal(&machine, &operations, work, 1, Arrange::ByAddress);
    let (stream, wait) = (dealt[0].whole(), dealt[0].wait);
    let mut core = Model::load(&library).unwrap();
    let simulation = Simulation { rest: 2 * 1024, ..Simulation::of(&machine) };
    let outcomes = [true, false].map(|load| {
        let job = Run { image: image.bytes(), stream: &stream, load, wait };
        run(&machine, &mut core, &job, &simulation).unwrap()
    });
    drop(core);
    let sections = sections(out.path());
    assert_eq!(sections.len(), 2);
    for (section, outcome) in sections.iter().zip(&outcomes) {
        assert_eq!(outcome.status, DONE);
        // The counter begins with 1 and ends with n: 2n - (ones of n) toggles from 0, less that from 0 to 1. After the end
        // it is 1 again.
        let n = outcome.sum("core.cycles");
        let counted = 2 * n - u64::from(n.count_ones()) - 1;
        let back = u64::from((n ^ 1).count_ones());
        let toggles = sum(section, "gramer_set_core.cycles_q", |c| c.toggles);
        assert!([counted, counted + back].contains(&toggles), "{toggles} toggles up to {n}");
        assert_eq!(sum(section, "gramer_set_core.cycles_q", |c| c.bits), 64);
        assert!((n..n + 1000).contains(&section.0), "{} clocks, {n} cycles", section.0);
        // Reads of the partitions, one a port and clock.
        let read = by_partitions(section, "taken_q");
        assert_eq!(read, outcome.sum("partition.lines"));
        let bits: u64 = section.1.values().map(|c| c.bits).sum();
        assert!(bits > 5_000, "{bits} bits are counted");
        for (path, c) in &section.1 {
            assert!(c.changes <= section.0 && c.toggles <= c.bits * c.changes, "{path}: {c:?}");
        }
    }
    // Loading writes lines that the second run has already.
    let writes = |section| by_partitions(section, "write_i");
    assert!(writes(&sections[0]) > 0 && writes(&sections[1]) == 0);
}

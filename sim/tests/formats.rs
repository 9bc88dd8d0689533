//! The formats of memory and streams, written and read twice: by the simulation and by the host. What the
//! one writes must be what the other writes, byte for byte, and both must read the same in an out-stream.

use std::collections::BTreeMap;

use gramer::accelerator::image::DeviceImage;
use gramer::accelerator::stream::{self, Area, Status};
use gramer::engine::WorkUnit;
use gramer::graph::View;
use gramer_machine::Accelerator;
use gramer_sim::image::{Csr, UNITS_A_BEAT, Unit, in_stream};
use gramer_sim::run::{CUT, Outcome, Record, read_stream};
use gramer_testing::environment;

/// Machines of the paper's core: one, two and four banks are among them.
const MACHINES: [&str; 4] = [
    "accelerator.yaml",
    "machines/small.yaml",
    "machines/saturating.yaml",
    "machines/uniform.yaml",
];

fn machine(name: &str) -> Accelerator {
    Accelerator::read(environment::root().join(name)).unwrap()
}

/// A random graph of up to 90 vertices, isolated ones among them, with labels or without.
fn graph(rng: &mut fastrand::Rng) -> Csr {
    let vertices = rng.usize(1..90);
    let end = |rng: &mut fastrand::Rng| rng.u32(0..vertices as u32);
    let edges: Vec<(u32, u32)> = (0..rng.usize(0..300)).map(|_| (end(rng), end(rng))).collect();
    let labels = if rng.bool() { (0..vertices).map(|_| rng.u32(0..5)).collect() } else { vec![] };
    Csr::new(vertices, &edges, labels)
}

fn view(graph: &Csr) -> View<'_> {
    let labels = (!graph.labels.is_empty()).then_some(&graph.labels[..]);
    View {
        offsets: &graph.offsets,
        neighbours: &graph.edges,
        vertex_labels: labels,
        edge_labels: None,
    }
}

#[test]
fn both_write_the_same_banks_and_in_streams() {
    let mut rng = fastrand::Rng::with_seed(11);
    for case in 0..400 {
        let a = machine(MACHINES[case % MACHINES.len()]);
        let graph = graph(&mut rng);
        let mut image = DeviceImage::new(view(&graph), &a);
        if !graph.labels.is_empty() {
            image = image.with_labels(&[0, 1, 2, 3, 4]);
        }
        let (banks, edge_base) = graph.banks(&a);
        assert_eq!(image.edge_base(), edge_base, "case {case}");
        for (bank, own) in banks.iter().enumerate() {
            let mut bytes = vec![0xee; image.bank_bytes(bank) as usize];
            image.bank(bank, 0, &mut bytes);
            // The host's buffers have a line at least.
            let own = if own.is_empty() { &vec![0; 64] } else { own };
            assert_eq!(&bytes, own, "case {case}, bank {bank}");
        }

        let (vertex_lines, edge_lines) = (graph.vertex_lines(), graph.edge_lines());
        let bounds = (rng.usize(..=vertex_lines.len()), rng.usize(..=edge_lines.len()));
        let dictionary: Vec<u16> = (0..rng.usize(0..100)).map(|_| rng.u16(..)).collect();
        let patterns = rng.u32(0..200);
        let units: Vec<Unit> = (0..rng.usize(0..40))
            .map(|_| Unit { start: rng.u32(..), first: rng.u32(..), limit: rng.u32(..) })
            .collect();
        let (vertex_pad, edge_pad) = (&vertex_lines[..bounds.0], &edge_lines[..bounds.1]);
        let words: Vec<u64> = (0..rng.usize(..=8)).map(|_| rng.u64(..)).collect();
        let mut beat: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        beat.resize(64, 0);
        let beat: Option<[u8; 64]> = (!words.is_empty()).then(|| beat.try_into().unwrap());
        let own = in_stream(&words, &dictionary, patterns, vertex_pad, edge_pad, &units, false);
        let bounds = (bounds.0 as u64, bounds.1 as u64);
        let mut theirs = stream::head(&a, beat.as_ref(), &dictionary, patterns, &image, bounds);
        let head = theirs.len() / 64;
        assert_eq!(head + units.len().div_ceil(UNITS_A_BEAT).max(1), own.len(), "case {case}");
        let work: Vec<WorkUnit> = units
            .iter()
            .map(|u| WorkUnit { start: u.start, first: u.first, limit: u.limit })
            .collect();
        theirs.extend(stream::units(&work));
        assert_eq!(theirs, own.concat(), "case {case}");
    }
}

/// A random out-stream with this many records of `k` vertices: place for place as docs/reference/paper-core.md says.
fn out_stream(
    rng: &mut fastrand::Rng,
    a: &Accelerator,
    patterns: u32,
    k: u32,
    records: usize,
) -> Vec<[u8; 64]> {
    let size = if k <= 6 { 8 } else { 16 };
    let mut words: Vec<u32> = vec![];
    for ordinal in 0..records as u32 {
        // Places without a record have this pattern.
        if rng.bool() {
            words.extend([rng.u32(..), u32::MAX]);
            words.resize(words.len().next_multiple_of(size), 7);
        }
        words.extend([ordinal, rng.u32(0..patterns)]);
        words.extend((0..k).map(|_| rng.u32(..)));
        words.resize(words.len().next_multiple_of(size), 7);
    }
    // The last beat of the records is filled up.
    while words.len() % 16 != 0 {
        words.extend([0, u32::MAX]);
        words.resize(words.len().next_multiple_of(size), 0);
    }
    let mut wide: Vec<u64> =
        words.chunks(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32).collect();
    let counts = patterns.max(1).next_multiple_of(8);
    wide.extend((0..counts).map(|_| rng.u64(..)));
    let status = [u64::from(rng.bool()) << 32, rng.u64(..), rng.u64(..), records as u64];
    wide.extend(status.into_iter().chain([0; 4]));
    let values = a.counter_values();
    // Sums of them fit 64 bits.
    wide.extend((0..values.next_multiple_of(8)).map(|_| rng.u64(0..1 << 40)));
    let bytes: Vec<u8> = wide.into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.chunks_exact(64).map(|beat| beat.try_into().unwrap()).collect()
}

#[test]
fn both_read_the_same_in_an_out_stream() {
    let mut rng = fastrand::Rng::with_seed(12);
    for case in 0..200 {
        let a = machine(MACHINES[case % MACHINES.len()]);
        let (patterns, k, records) = (rng.u32(1..60), rng.u32(3..9), rng.usize(0..30));
        let out = out_stream(&mut rng, &a, patterns, k, records);
        let own = read_stream(&a, patterns, Some((k, u32::MAX)), &out).unwrap();
        let area = Area::new(&a, patterns, u32::MAX >> 8);
        let theirs = area.decode(&a, &out.concat(), patterns, k).unwrap();
        let Outcome { counts, status, next_unit, saturated, error_address, .. } = &own;
        assert_eq!((*status, theirs.status), (0, Status::Done), "case {case}");
        assert_eq!(&theirs.counts, counts, "case {case}");
        assert_eq!(
            (theirs.next_unit, theirs.saturated, theirs.error_address),
            (*next_unit, *saturated, *error_address),
            "case {case}"
        );
        let found: Vec<Record> = theirs
            .records
            .into_iter()
            .map(|r| Record { ordinal: r.ordinal, pattern: r.pattern, ids: r.vertices })
            .collect();
        assert_eq!((found.len(), &found), (records, &own.records), "case {case}");
        let sums: BTreeMap<String, Vec<u64>> =
            own.counters.keys().map(|name| (name.clone(), own.sums(name))).collect();
        assert_eq!(theirs.counters, sums, "case {case}");
    }
}

/// The host turns the status of a stream without its last beat into a message that names the kernel.
#[test]
fn a_stream_without_its_last_beat_has_a_message() {
    let a = machine("accelerator.yaml");
    let mut out = out_stream(&mut fastrand::Rng::with_seed(13), &a, 3, 3, 0);
    // Counts take the first beat, the status the second.
    out[1][0] = CUT as u8;
    let results = Area::new(&a, 3, 0).decode(&a, &out.concat(), 3, 3).unwrap();
    assert_eq!(results.status, Status::Cut);
    assert!(results.failure(&a).unwrap().contains("gramer_fill"));
}

//! The streams: head and units, which fill sends, and the result area of drain (`docs/reference/paper-core.md`).

use std::collections::BTreeMap;

use gramer_machine::streams::Stream;
use gramer_machine::{Accelerator, Core, Section, layout};

use super::filter::FIELDS;
use super::image::{DeviceImage, LINE};
use gramer_base::error::Result;
use gramer_engine::work::WorkUnit;
use gramer_graph::VertexId;

/// Dictionary entries in a beat.
const ENTRIES: usize = 32;
/// Units in a beat.
pub const UNITS_A_BEAT: usize = 4;
/// Bit of a dictionary entry: the pattern is known.
pub const KNOWN: u16 = 0x8000;

/// Header, filter, dictionary and scratchpad lines.
pub fn head(
    machine: &Accelerator,
    filter: Option<&[u8; LINE]>,
    dictionary: &[u16],
    patterns: u32,
    image: &DeviceImage<'_>,
    bounds: (u64, u64),
) -> Vec<u8> {
    let stream = &machine.streams.input;
    let mut header = [0; LINE];
    let mut set = |name, value: u64| {
        stream.field("header", name).expect("checked field").set(&mut header, value);
    };
    set("dictionary_beats", dictionary.len().div_ceil(ENTRIES) as u64);
    set("vertex_lines", bounds.0);
    set("edge_lines", bounds.1);
    set("patterns", patterns.into());
    let mut bytes = header.to_vec();
    bytes.extend(filter.into_iter().flatten());
    bytes.extend(dictionary.iter().flat_map(|entry| entry.to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(LINE), 0);
    let mut line = [0; LINE];
    for i in 0..bounds.0 as usize {
        image.vertex_line(i, &mut line);
        bytes.extend(line);
    }
    for i in 0..bounds.1 as usize {
        image.edge_line(i, &mut line);
        bytes.extend(line);
    }
    bytes
}

/// The beats of some units, at least one.
pub fn units(units: &[WorkUnit]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(units.len().div_ceil(UNITS_A_BEAT).max(1) * LINE);
    for unit in units {
        for word in [unit.start, unit.first, unit.limit, 1] {
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes.resize(bytes.len().max(1).next_multiple_of(LINE), 0);
    bytes
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Every unit was explored.
    Done,
    /// The records don't fit into the result area.
    Full,
    /// The abort word was set.
    Aborted,
    /// A memory access was answered with an error.
    Error,
    /// An argument is out of range: nothing was begun.
    Refused,
    /// The in-stream had no last beat.
    Cut,
    /// What no core of this description says.
    Unknown(u32),
}

/// One listed embedding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Position of its unit among those of the run.
    pub ordinal: u32,
    /// Number of the pattern.
    pub pattern: u32,
    /// Its vertices in the order of their positions.
    pub vertices: Vec<VertexId>,
}

/// Takes the records of a run, in any order and from several threads; `false` once no more are needed.
pub type RecordSink<'a> = dyn Fn(&Record) -> Result<bool> + Sync + 'a;

/// What a run left in the result area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results {
    /// Embeddings by pattern number.
    pub counts: Vec<u64>,
    /// Status at the end.
    pub status: Status,
    /// A count is at its largest value, so that it may be wrong.
    pub saturated: bool,
    /// Address of the access that failed, or offset of the argument that was refused.
    pub error_address: u64,
    /// First unit that has to be done again, among those of the run.
    pub next_unit: u64,
    /// The records, without those of units that have to be done again.
    pub records: Vec<Record>,
    /// Those of units that have to be done again.
    pub unfinished: Vec<Record>,
    /// Counters by `section.name`, summed over the units of a section; one value a depth, if several.
    pub counters: BTreeMap<String, Vec<u64>>,
    /// Counters of PUs with a single value, by name: a value a PU.
    pub by_pu: BTreeMap<String, Vec<u64>>,
}

impl Results {
    /// The failure, in words, of a run without results that would fail again.
    pub fn failure(&self, machine: &Accelerator) -> Option<String> {
        match self.status {
            Status::Done | Status::Full | Status::Aborted => None,
            Status::Error => Some(format!(
                "a memory access of the core failed, at address {:#x}",
                self.error_address
            )),
            Status::Refused => Some(machine.refusal(self.error_address)),
            Status::Cut => Some(layout::CUT.to_owned()),
            Status::Unknown(status) => Some(format!(
                "the core ended with status {status}, which its description doesn't know"
            )),
        }
    }
}

/// The shape of the result area of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Beats of records that there is room for.
    pub records: u32,
    counts: u32,
    counters: u32,
}

impl Area {
    /// An area for runs that report `patterns` patterns and list up to `records` beats.
    pub fn new(machine: &Accelerator, patterns: u32, records: u32) -> Self {
        let values = machine.counter_values();
        Area { records, counts: patterns.div_ceil(8).max(1), counters: values.div_ceil(8) }
    }

    /// Beats of the area: that of drain, records, counts, status, counters.
    pub fn beats(&self) -> u32 {
        1 + self.records + self.counts + 1 + self.counters
    }

    /// Number of beats that drain received, and whether some did not fit; from beat 0.
    pub fn summary(machine: &Accelerator, beat: &[u8]) -> (u64, bool) {
        let get = |name| value(&machine.streams.result, "summary", name, beat);
        (get("beats"), get("overflow") == 1)
    }

    /// Reads the stream that drain stored from beat 1 on. `bytes` are all its beats, `k` the
    /// vertices of a listed embedding.
    ///
    /// # Errors
    /// What is wrong, if the beats can't be a stream of this machine.
    pub fn decode(
        &self,
        machine: &Accelerator,
        bytes: &[u8],
        patterns: u32,
        k: u32,
    ) -> Result<Results, String> {
        let beats = bytes.len() / LINE;
        let rest = (self.counts + 1 + self.counters) as usize;
        let Some(records) = beats.checked_sub(rest) else {
            return Err(format!("{beats} beats came, but counts, status and counters have {rest}"));
        };
        let (records, bytes) = bytes.split_at(records * LINE);
        let (counts, bytes) = bytes.split_at(self.counts as usize * LINE);
        let (status, counters) = bytes.split_at(LINE);
        let (counters, by_pu) = read_counters(machine, &words(counters).collect::<Vec<_>>());
        let get = |name| value(&machine.streams.output, "status", name, status);
        let next_unit = get("next_unit");
        let listed = get("records");
        let status = match get("status") as u32 {
            0 => Status::Done,
            1 => Status::Full,
            2 => Status::Aborted,
            3 => Status::Error,
            4 => Status::Refused,
            5 => Status::Cut,
            other => Status::Unknown(other),
        };
        let records = self.read_records(records, k);
        if listed != records.len() as u64 && status == Status::Done {
            let found = records.len();
            return Err(format!("{found} records came, but the status says {listed}"));
        }
        let finished = |r: &Record| status == Status::Done || u64::from(r.ordinal) < next_unit;
        let (records, unfinished) = records.into_iter().partition(finished);
        Ok(Results {
            counts: words(counts).take(patterns as usize).collect(),
            status,
            saturated: get("saturated") == 1,
            error_address: get("error_address"),
            next_unit,
            records,
            unfinished,
            counters,
            by_pu,
        })
    }

    fn read_records(&self, bytes: &[u8], k: u32) -> Vec<Record> {
        let words = match k {
            0..=6 => 8,
            7..=14 => 16,
            _ => 32,
        };
        let word = |record: &[u8], at: usize| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&record[4 * at..4 * at + 4]);
            u32::from_le_bytes(bytes)
        };
        bytes
            .chunks_exact(4 * words)
            .filter(|record| word(record, 1) != u32::MAX)
            .map(|record| Record {
                ordinal: word(record, 0),
                pattern: word(record, 1),
                vertices: (0..k as usize).map(|i| word(record, 2 + i)).collect(),
            })
            .collect()
    }
}

fn value(stream: &Stream, part: &str, name: &str, beat: &[u8]) -> u64 {
    stream.field(part, name).expect("checked field").get(beat)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("8 bytes")))
}

/// Counters by name.
type Counters = BTreeMap<String, Vec<u64>>;

/// Sums over the units of each section, and what each PU counted.
fn read_counters(machine: &Accelerator, words: &[u64]) -> (Counters, Counters) {
    let depth = machine.machine.depth;
    let (mut sums, mut by_pu) = (BTreeMap::new(), BTreeMap::new());
    let mut at = 0;
    for Section { name: section, counters, units } in machine.sections() {
        let values = layout::values(counters, depth) as usize;
        for (name, first, count) in layout::positions(counters, depth) {
            let of = |unit: usize, i: usize| words[at + unit * values + first as usize + i];
            let sum =
                |i: usize| (0..units as usize).map(|unit| of(unit, i)).fold(0, u64::saturating_add);
            if section == "pu" && count == 1 {
                by_pu.insert(name.to_string(), (0..units as usize).map(|u| of(u, 0)).collect());
            }
            sums.insert(format!("{section}.{name}"), (0..count as usize).map(sum).collect());
        }
        at += values * units as usize;
    }
    (sums, by_pu)
}

/// Fields that the code here asks for by name; a description without one can't be driven.
///
/// # Errors
/// Names the field.
pub fn check(machine: &Accelerator) -> Result<(), String> {
    let s = &machine.streams;
    let header: (&str, &[&str]) = match machine.core {
        Core::Paper => ("header", &["dictionary_beats", "vertex_lines", "edge_lines", "patterns"]),
        Core::Set => ("plan", &["operation", "k", "sum"]),
    };
    let filter = if machine.applications.filter_words > 0 { &FIELDS[..] } else { &[] };
    let wanted: [(&str, _, &str, &[&str]); 4] = [
        ("in", &s.input, "filter", filter),
        ("in", &s.input, header.0, header.1),
        (
            "out",
            &s.output,
            "status",
            &["status", "saturated", "error_address", "next_unit", "records"],
        ),
        ("result", &s.result, "summary", &["beats", "overflow"]),
    ];
    for (name, stream, part, fields) in wanted {
        if let Some(field) = fields.iter().find(|f| stream.field(part, f).is_none()) {
            return Err(format!("the machine's stream `{name}` has no field {part}.{field}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xclbin::build::read_machine;
    use gramer_graph::View;

    fn small() -> Accelerator {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        read_machine(Some(&root.join("machines/small.yaml"))).unwrap()
    }

    fn beat(words: [u32; 16]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn the_head_has_header_dictionary_and_lines() {
        let machine = small();
        check(&machine).unwrap();
        let (offsets, neighbours) = (vec![0, 1, 2], vec![1, 0]);
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: None,
            edge_labels: None,
        };
        let image = DeviceImage::new(view, &machine);
        let dictionary: Vec<u16> = (0..40).map(|i| KNOWN | i).collect();
        let bytes = head(&machine, None, &dictionary, 9, &image, (1, 1));
        assert_eq!(bytes.len(), 5 * 64);
        let mut header = [0; 16];
        header[..4].copy_from_slice(&[2, 1, 1, 9]);
        assert_eq!(bytes[..64], beat(header));
        assert_eq!(bytes[64 + 2 * 39..][..4], [39, 0x80, 0, 0]);
        let mut line = [0; 64];
        image.vertex_line(0, &mut line);
        assert_eq!(bytes[192..256], line);
        image.edge_line(0, &mut line);
        assert_eq!(bytes[256..], line);
    }

    #[test]
    fn units_fill_beats_and_there_is_always_one() {
        let unit = WorkUnit { start: 7, first: 1, limit: 5 };
        let bytes = units(&[unit; 5]);
        assert_eq!(bytes.len(), 128);
        assert_eq!(bytes[64..], beat([7, 1, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(units(&[]), [0; 64]);
    }

    /// A stream with these beats of records and this status.
    fn stream(machine: &Accelerator, records: &[Vec<u8>], status: &[(&str, u64)]) -> Vec<u8> {
        let area = Area::new(machine, 9, 0);
        let mut bytes = records.concat();
        for i in 0..area.counts as u64 * 8 {
            bytes.extend((100 + i).to_le_bytes());
        }
        let mut beat = [0; 64];
        for &(name, value) in status {
            machine.streams.output.field("status", name).unwrap().set(&mut beat, value);
        }
        bytes.extend(beat);
        for i in 0..u64::from(area.counters) * 8 {
            bytes.extend((1 + i).to_le_bytes());
        }
        bytes
    }

    #[test]
    fn counts_status_and_counters_are_read() {
        let machine = small();
        let area = Area::new(&machine, 9, 0);
        assert_eq!(area.counts, 2);
        let bytes = stream(&machine, &[], &[("next_unit", 12)]);
        assert_eq!(bytes.len() / 64 + 1, area.beats() as usize);
        let results = area.decode(&machine, &bytes, 9, 4).unwrap();
        assert_eq!(results.counts, (100..109).collect::<Vec<u64>>());
        assert_eq!((results.status, results.next_unit), (Status::Done, 12));
        // The first counter of the core is word 0; the next section begins after its three.
        assert_eq!(results.counters["core.cycles"], [1]);
        let [core, pu] = [0, 1].map(|at| {
            u64::from(layout::values(machine.sections()[at].counters, machine.machine.depth))
        });
        let (first, second) = (core + 1, core + pu + 1);
        assert_eq!(results.counters["pu.extensions"], [first + second]);
        assert_eq!(results.counters["pu.candidates"].len(), 16);
        assert_eq!(results.by_pu["extensions"], [first, second]);
        assert!(!results.by_pu.contains_key("candidates"), "it has a value a depth");
        let short = area.decode(&machine, &bytes[64..], 9, 4).unwrap_err();
        assert!(short.contains("beats came, but counts, status and counters have"), "{short}");
    }

    /// A machine without performance counters sends those of core and banks, and none is made up.
    #[test]
    fn what_a_machine_doesn_t_count_is_not_there() {
        let mut machine = small();
        let beats = Area::new(&machine, 9, 0).beats();
        machine.machine.performance_counters = false;
        let area = Area::new(&machine, 9, 0);
        // Three of the core and two of banks, in place of 2 PUs' and 4 partitions' too.
        assert!(area.counters == 1 && area.beats() < beats);
        let bytes = stream(&machine, &[], &[("next_unit", 12)]);
        let results = area.decode(&machine, &bytes, 9, 4).unwrap();
        let names: Vec<&str> = results.counters.keys().map(String::as_str).collect();
        assert_eq!(names, ["bank.beats", "core.cycles", "core.saturated", "core.work_units"]);
        assert_eq!(results.counters["bank.beats"], [4 + 5]);
        assert!(results.by_pu.is_empty());
    }

    #[test]
    fn a_run_without_results_says_why() {
        let machine = small();
        let area = Area::new(&machine, 9, 0);
        let failure = |status, address| {
            let beats = stream(&machine, &[], &[("status", status), ("error_address", address)]);
            area.decode(&machine, &beats, 9, 3).unwrap().failure(&machine)
        };
        let slots = u64::from(machine.offset("slots").unwrap());
        assert_eq!(
            failure(4, slots).unwrap(),
            "the core refused its settings: argument slots (register 0x28) is out of range: slots in \
             use, 1 to machine.slots"
        );
        assert_eq!(
            failure(4, 4).unwrap(),
            "the core refused its settings: what register 0x4 holds is out of range"
        );
        let read = "a memory access of the core failed, at address 0x1040";
        assert_eq!(failure(3, 0x1040).unwrap(), read);
        assert!(failure(6, 0).unwrap().contains("status 6, which its description doesn't know"));
        for status in 0..3 {
            assert_eq!(failure(status, 0), None);
        }
    }

    #[test]
    fn records_below_the_next_unit_are_kept() {
        let machine = small();
        let none = u32::MAX;
        let two = beat([
            0, 3, 10, 11, 12, none, none, none, //
            2, 1, 20, 21, 22, none, none, none,
        ]);
        let one = beat([
            1, 0, 30, 31, 32, none, none, none, //
            none, none, none, none, none, none, none, none,
        ]);
        let area = Area::new(&machine, 9, 2);
        let status = [("status", 1), ("next_unit", 2), ("records", 3)];
        let bytes = stream(&machine, &[two.clone(), one.clone()], &status);
        let results = area.decode(&machine, &bytes, 9, 3).unwrap();
        let record = |ordinal, pattern, vertices: [u32; 3]| Record {
            ordinal,
            pattern,
            vertices: vertices.to_vec(),
        };
        assert_eq!(results.status, Status::Full);
        assert_eq!(results.records, [record(0, 3, [10, 11, 12]), record(1, 0, [30, 31, 32])]);
        assert_eq!(results.unfinished, [record(2, 1, [20, 21, 22])]);
        // At the end the number of records must be the one that the core counted.
        let bytes = stream(&machine, &[two, one], &[("next_unit", 3), ("records", 4)]);
        let wrong = area.decode(&machine, &bytes, 9, 3).unwrap_err();
        assert_eq!(wrong, "3 records came, but the status says 4");
    }

    #[test]
    fn records_of_more_vertices_take_a_beat_or_two() {
        let machine = small();
        let area = Area::new(&machine, 1, 4);
        let mut words = [u32::MAX; 16];
        words[..10].copy_from_slice(&[5, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let mut bytes = beat(words);
        assert_eq!(area.read_records(&bytes, 8)[0].vertices, [1, 2, 3, 4, 5, 6, 7, 8]);
        words[..2].copy_from_slice(&[9, 0]);
        (2..16).for_each(|i| words[i] = i as u32);
        bytes = beat(words);
        let mut second = [u32::MAX; 16];
        (second[0], second[1]) = (16, 17);
        bytes.extend(beat(second));
        let records = area.read_records(&bytes, 16);
        assert_eq!(records[0].vertices, (2..18).collect::<Vec<u32>>());
    }

    #[test]
    fn the_summary_of_drain_is_read() {
        let mut beat = [0; 64];
        beat[0] = 77;
        beat[8] = 1;
        assert_eq!(Area::summary(&small(), &beat), (77, true));
    }
}

//! What the set core does, from the very bytes that it is given: image, header and units. The sums are
//! those that the core must give, bit by bit; nothing here knows a graph.

use gramer_machine::set::{LAST_ALL, LENGTH_BLOCK, PLANS, QUARTER_ENTRIES, QUARTERS_LONG, SUMS};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use gramer_accelerator::set::memory::{Entry, Memory};
use gramer_accelerator::set::numbers::{
    CLIQUES, EDGES, PATHS, SUM_CLIQUES, SUM_CYCLES, SUM_DEGREES, SUM_MARKS, SUM_PAIRS, SUM_PATHS,
    SUM_TRIANGLES,
};

/// A unit of the in-stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StreamUnit {
    address: u32,
    quarters: u32,
    plan: usize,
    first: usize,
    last: usize,
}

/// What a run gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    /// The sums, each at most what the machine's counts hold.
    pub values: Vec<u64>,
    /// One of them did not fit.
    pub saturated: bool,
    /// Places of the in-stream.
    pub next_unit: u64,
}

/// Runs an in-stream over an image.
///
/// # Panics
/// If the stream isn't whole beats, or a unit leads beyond the image.
pub fn run(machine: &Accelerator, image: &[u32], stream: &[u8]) -> Sums {
    let line = ENTRIES_A_LINE as usize * 4;
    assert_eq!(stream.len() % line, 0, "whole beats");
    let input = &machine.streams.input;
    let field = |part: &str, name: &str, bytes: &[u8]| {
        input.field(part, name).map_or(0, |field| field.get(bytes))
    };
    let (header, units) = stream.split_at(line);
    let plans: Vec<(u64, usize, usize)> = header
        .chunks_exact(4)
        .take(PLANS as usize)
        .map(|p| {
            let [k, sum] = ["k", "sum"].map(|name| field("plan", name, p) as usize);
            (field("plan", "operation", p), k, SUM_CLIQUES + sum)
        })
        .collect();
    let mut state =
        State { memory: Memory::new(image), sums: [0; SUMS as usize], paths: Paths::default() };
    for bytes in units.chunks_exact(8) {
        let unit = StreamUnit {
            address: field("unit", "address", bytes) as u32,
            quarters: field("unit", "quarters", bytes) as u32,
            plan: field("unit", "plan", bytes) as usize,
            first: field("unit", "first", bytes) as usize,
            last: field("unit", "last", bytes) as usize,
        };
        if unit.quarters == 0 {
            continue;
        }
        match plans[unit.plan] {
            (CLIQUES, k, sum) => state.cliques(&unit, k, sum),
            (EDGES, ..) => state.edges(&unit, false),
            (PATHS, ..) => state.edges(&unit, true),
            _ => {}
        }
    }
    Sums::new(machine, &state.sums, units.len())
}

impl Sums {
    /// Those of a run of units of this many bytes; sums that aren't named are 0.
    pub(crate) fn new(machine: &Accelerator, sums: &[u128], bytes: usize) -> Self {
        let most = u64::MAX >> (64 - machine.applications.count_bits.min(64));
        let fit = |&sum: &u128| u64::try_from(sum).unwrap_or(u64::MAX).min(most);
        let mut values: Vec<u64> = sums.iter().map(fit).collect();
        values.resize(machine.set_sums() as usize, 0);
        Sums {
            values,
            saturated: sums.iter().any(|&sum| sum > u128::from(most)),
            next_unit: bytes as u64 / 8,
        }
    }
}

/// Marks and counters by id, and the entries to clear.
#[derive(Default)]
struct Paths {
    marked: Vec<bool>,
    counts: Vec<u32>,
    counted: Vec<u32>,
}

struct State<'a> {
    memory: Memory<'a>,
    sums: [u128; SUMS as usize],
    paths: Paths,
}

impl State<'_> {
    fn cliques(&mut self, unit: &StreamUnit, k: usize, sum: usize) {
        let held: Vec<Entry> = self.memory.list(unit.address, unit.quarters).collect();
        let words = held.len().div_ceil(64);
        let mut rows = vec![0u64; held.len() * words];
        for (i, &member) in held.iter().enumerate() {
            let size = self.memory.size(member, true);
            let mut j = 0;
            for entry in self.memory.list(member.id(), size) {
                while j < i && held[j].id() < entry.id() {
                    j += 1;
                }
                if j < i && held[j].id() == entry.id() {
                    rows[i * words + j / 64] |= 1 << (j % 64);
                }
            }
        }
        let last = if unit.last == LAST_ALL as usize { held.len() } else { unit.last };
        let mut sets = vec![0; words * k];
        let range = unit.first.min(held.len())..last.min(held.len());
        for i in range.filter(|_| k >= 3) {
            sets[..words].copy_from_slice(&rows[i * words..][..words]);
            self.sums[sum] += cliques_in(&rows, words, &mut sets, k - 2);
        }
    }

    /// Edges, and paths of 2 with them.
    fn edges(&mut self, unit: &StreamUnit, paths: bool) {
        let memory = self.memory;
        let quarters = match unit.quarters {
            QUARTERS_LONG => memory.length(unit.address, LENGTH_BLOCK),
            quarters => quarters,
        };
        let Paths { marked, counts, counted } = &mut self.paths;
        let ids = memory.words.len() / QUARTER_ENTRIES as usize;
        marked.resize(ids, false);
        counts.resize(ids, 0);
        let mut degree = 0u128;
        for entry in memory.list(unit.address, quarters) {
            marked[entry.id() as usize] = true;
            degree += 1;
        }
        self.sums[SUM_MARKS] += degree;
        for b in memory.list(unit.address, quarters).filter(|b| b.id() > unit.address) {
            let (mut t, mut other) = (0u128, 0u128);
            for c in memory.list(b.id(), memory.size(b, false)) {
                let id = c.id() as usize;
                other += 1;
                t += u128::from(marked[id]);
                if paths && c.id() > unit.address {
                    self.sums[SUM_CYCLES] += u128::from(counts[id]);
                    self.sums[SUM_PATHS] += 1;
                    if counts[id] == 0 {
                        counted.push(c.id());
                    }
                    counts[id] += 1;
                }
            }
            self.sums[SUM_TRIANGLES] += t;
            self.sums[SUM_PAIRS] += t * t.saturating_sub(1) / 2;
            self.sums[SUM_DEGREES] += t * (degree + other);
        }
        for entry in memory.list(unit.address, quarters) {
            marked[entry.id() as usize] = false;
        }
        for id in counted.drain(..) {
            counts[id as usize] = 0;
        }
    }
}

/// Cliques of `left` vertices in the first of `sets`; deeper levels use those behind it.
fn cliques_in(rows: &[u64], words: usize, sets: &mut [u64], left: usize) -> u128 {
    let (set, deeper) = sets.split_at_mut(words);
    if left <= 1 {
        return set.iter().map(|w| u128::from(w.count_ones())).sum();
    }
    let mut count = 0;
    for w in 0..words {
        let mut rest = set[w];
        while rest != 0 {
            let j = w * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let row = &rows[j * words..][..words];
            let mut size = 0;
            for x in 0..words {
                deeper[x] = set[x] & row[x];
                size += deeper[x].count_ones() as usize;
            }
            if left == 2 {
                count += size as u128;
            } else if size >= left - 1 {
                count += cliques_in(rows, words, deeper, left - 1);
            }
        }
    }
    count
}

//! What the core does for houses and 5-cycles, from the very bytes that it is given: image, header and units. The
//! sums are those that the core must give, bit by bit; nothing here knows a graph.

use gramer_machine::set::{LAST_ALL, MAP_ENTRIES, PADDING, QUARTER_ENTRIES, SUMS, size_quarters};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use crate::Sums;
use gramer_accelerator::set::numbers::{
    FIVE_CYCLES, HOUSES, SUM_CYCLES, SUM_DEGREES, SUM_EMBEDDINGS, SUM_MARKS, SUM_PAIRS, SUM_PATHS,
    SUM_TRIANGLES,
};
use gramer_accelerator::set::wedges::banks::Banks;
use gramer_accelerator::set::wedges::image::Block;

/// A unit of the in-stream.
struct Unit {
    address: u32,
    size: u32,
    first: u32,
    last: u32,
}

/// Runs an in-stream over an image for wedges; `None` if a unit reaches more vertices than a bank has room for.
///
/// # Panics
/// If the stream isn't whole beats or has another operation, or a unit leads beyond the image.
pub fn run(machine: &Accelerator, image: &[u32], stream: &[u8]) -> Option<Sums> {
    let line = ENTRIES_A_LINE as usize * 4;
    assert_eq!(stream.len() % line, 0, "whole beats");
    let field = |part: &str, name: &str, bytes: &[u8]| {
        machine.streams.input.field(part, name).map_or(0, |field| field.get(bytes))
    };
    let (header, units) = stream.split_at(line);
    let operation = field("plan", "operation", &header[..4]);
    assert!([HOUSES, FIVE_CYCLES].contains(&operation), "operation {operation}");
    let set = machine.set.as_ref().expect("a machine with a set core");
    let entries = (set.map_entries() / MAP_ENTRIES * MAP_ENTRIES) as usize;
    let mut state = State {
        image,
        banks: Banks::of(set),
        room: set.reached,
        sums: [0; SUMS as usize],
        marked: vec![false; entries],
        counts: vec![0; entries],
    };
    for bytes in units.chunks_exact(8) {
        let unit = Unit {
            address: field("unit", "address", bytes) as u32,
            size: field("unit", "quarters", bytes) as u32,
            first: field("unit", "first", bytes) as u32,
            last: field("unit", "last", bytes) as u32,
        };
        match operation {
            _ if unit.size == 0 => {}
            HOUSES => state.houses(&unit),
            _ => state.five_cycles(&unit)?,
        }
    }
    Some(Sums::new(machine, &state.sums, units.len()))
}

struct State<'a> {
    image: &'a [u32],
    banks: Banks,
    /// Vertices that a bank can note.
    room: u32,
    sums: [u128; SUMS as usize],
    /// Of the present root, by id.
    marked: Vec<bool>,
    counts: Vec<u32>,
}

impl State<'_> {
    /// The entries of a list.
    fn list(&self, id: u32, size: u32) -> Vec<Block> {
        let from = (id * QUARTER_ENTRIES) as usize;
        let words = &self.image[from..][..(size_quarters(size) * QUARTER_ENTRIES) as usize];
        words.iter().filter(|&&word| word != PADDING).map(|&word| Block::of(word)).collect()
    }

    /// One more wedge to `id`.
    fn wedge(&mut self, id: u32) {
        let count = &mut self.counts[id as usize];
        self.sums[SUM_CYCLES] += u128::from(*count);
        self.sums[SUM_PATHS] += 1;
        *count += 1;
    }

    /// What an edge with `t` triangles adds, whose ends have `degrees` neighbours together.
    fn triangles(&mut self, t: u128, degrees: u128) {
        self.sums[SUM_TRIANGLES] += t;
        self.sums[SUM_PAIRS] += t * t.saturating_sub(1) / 2;
        self.sums[SUM_DEGREES] += t * degrees;
    }

    fn houses(&mut self, unit: &Unit) {
        let root = unit.address;
        let near = self.list(root, unit.size);
        self.sums[SUM_MARKS] += near.len() as u128;
        near.iter().for_each(|b| self.marked[b.id as usize] = true);
        for b in &near {
            for c in self.list(b.id, b.all).iter().filter(|c| c.id != root) {
                self.wedge(c.id);
            }
        }
        for b in near.iter().filter(|b| b.id > root) {
            let list = self.list(b.id, b.all);
            let t = list.iter().filter(|w| self.marked[w.id as usize]).count() as u128;
            let others = list.iter().filter(|w| w.id != root);
            let cycles: u128 = others.map(|w| u128::from(self.counts[w.id as usize]) - 1).sum();
            self.triangles(t, (near.len() + list.len()) as u128);
            self.sums[SUM_EMBEDDINGS] += t * cycles;
        }
        self.marked.fill(false);
        self.counts.fill(0);
    }

    fn five_cycles(&mut self, unit: &Unit) -> Option<()> {
        let root = unit.address;
        let near = self.list(root, unit.size);
        let before = near.iter().filter(|b| b.id < root).count() as u128;
        self.sums[SUM_MARKS] += before;
        let near: Vec<Block> = near.into_iter().filter(|b| b.id > root).collect();
        near.iter().for_each(|b| self.marked[b.id as usize] = true);
        let mut reached = vec![];
        let mut noted = vec![0; self.banks.count()];
        for b in &near {
            let list = self.list(b.id, b.all);
            let mut t = 0;
            for c in list.iter().filter(|c| c.id > root) {
                t += u128::from(self.marked[c.id as usize]);
                let range = self.banks.range(c.id);
                let own = range >= unit.first && (unit.last == LAST_ALL || range < unit.last);
                // Without a neighbour before it there is nothing to add.
                if self.counts[c.id as usize] == 0 && c.up > 0 && own {
                    let noted = &mut noted[self.banks.bank(c.id)];
                    *noted += 1;
                    if *noted > self.room {
                        return None;
                    }
                    reached.push(*c);
                }
                self.wedge(c.id);
            }
            // Of a root in parts the first one has what belongs to the root.
            if unit.first == 0 {
                self.triangles(t, before + 2 * list.len() as u128);
            }
        }
        for c in reached {
            let up = self.list(c.id, c.up);
            let after = up.iter().filter(|d| d.id > root);
            let sum: u128 = after.map(|d| u128::from(self.counts[d.id as usize])).sum();
            self.sums[SUM_EMBEDDINGS] += u128::from(self.counts[c.id as usize]) * sum;
        }
        self.marked.fill(false);
        self.counts.fill(0);
        Some(())
    }
}

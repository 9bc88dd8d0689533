//! What the core does for 5-motifs, from the very bytes that it is given: image, header and units. The sums are those
//! that the core must give, bit by bit; nothing here knows a graph.

use gramer_base::error::Result;
use gramer_engine::Units;
use gramer_graph::View;
use gramer_machine::set::{
    FACTORS, FACTORS_OF, LAST_ALL, LINE_QUARTERS, PADDING, PRODUCTS_OPEN, QUARTER_ENTRIES, SUMS,
    SUMS_MOST, factor, size_quarters,
};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use crate::Sums;
use gramer_accelerator::set::image::Words;
use gramer_accelerator::set::motifs5::units::{deal, units};
use gramer_accelerator::set::numbers::{MOTIFS5, SUM_EMBEDDINGS, SUM_MARKS};
use gramer_accelerator::set::sums::Total;
use gramer_accelerator::set::wedges::image::{Block, WedgeImage};
use gramer_accelerator::set::wedges::{self, Shape};

/// The codes of the factors of each product.
fn factors() -> Vec<[usize; 2]> {
    FACTORS_OF.iter().map(|pair| pair.map(|name| factor(name) as usize)).collect()
}

/// Runs an in-stream over an image for wedges.
///
/// # Panics
/// If the stream isn't whole beats or has another operation, or a unit leads beyond the image.
pub fn run(machine: &Accelerator, image: &[u32], stream: &[u8]) -> Sums {
    let line = ENTRIES_A_LINE as usize * 4;
    assert_eq!(stream.len() % line, 0, "whole beats");
    let field = |part: &str, name: &str, bytes: &[u8]| {
        machine.streams.input.field(part, name).map_or(0, |field| field.get(bytes))
    };
    let (header, units) = stream.split_at(line);
    assert_eq!(field("plan", "operation", &header[..4]), MOTIFS5);
    let ids = image.len() / QUARTER_ENTRIES as usize;
    let sums = [0; SUMS_MOST as usize];
    let mut state = State { image, sums, factors: factors(), near: vec![0; ids] };
    for bytes in units.chunks_exact(8) {
        let size = field("unit", "quarters", bytes) as u32;
        if size > 0 {
            let range = ["first", "last"].map(|name| field("unit", name, bytes) as u32);
            state.unit(field("unit", "address", bytes) as u32, size, range);
        }
    }
    Sums::new(machine, &state.sums, units.len())
}

/// The sums of a graph's two runs over the image for wedges, as this many clusters have them: those of products, with the
/// edge-induced 5-cycles as embeddings.
///
/// # Errors
/// Of a graph that has no such image.
///
/// # Panics
/// If a unit reaches more vertices than a bank has room for.
pub fn totals(machine: &Accelerator, view: View<'_>, clusters: usize) -> Result<Total> {
    let image = WedgeImage::new(view)?;
    let add = |total: &mut Total, values: &[u64]| {
        total.iter_mut().zip(values).for_each(|(sum, &own)| *sum += u128::from(own));
    };
    let (mut total, mut cycles) = (Total::default(), Total::default());
    for stream in deal(machine, units(machine, view, &image, clusters), clusters) {
        add(&mut total, &run(machine, image.words(), &stream.whole()).values);
    }
    let shape = Shape::FiveCycle;
    let work = wedges::units::units(machine, view, Units::All, &image, shape);
    for stream in wedges::units::deal(machine, shape, work, clusters) {
        let found = crate::wedges::run(machine, image.words(), &stream.whole());
        add(&mut cycles, &found.expect("units have room").values);
    }
    total[SUM_EMBEDDINGS] = shape.occurrences(&cycles);
    Ok(total)
}

struct State<'a> {
    image: &'a [u32],
    sums: [u128; SUMS_MOST as usize],
    factors: Vec<[usize; 2]>,
    /// By id, which of a set's vertices it is next to: bit 0 a, 1 b, 2 c.
    near: Vec<u8>,
}

impl State<'_> {
    /// The entries of a list, each with its quarter-line from the beginning of the first line on.
    fn list(&self, id: u32, size: u32) -> Vec<(u32, Block)> {
        let from = (id * QUARTER_ENTRIES) as usize;
        let words = &self.image[from..][..(size_quarters(size) * QUARTER_ENTRIES) as usize];
        let placed = (0..).zip(words).filter(|&(_, &word)| word != PADDING);
        placed
            .map(|(at, &word)| (id % LINE_QUARTERS + at / QUARTER_ENTRIES, Block::of(word)))
            .collect()
    }

    fn set_bit(&mut self, list: &[(u32, Block)], bit: u8, to: bool) {
        for (_, w) in list {
            let near = &mut self.near[w.id as usize];
            *near = *near & !(1 << bit) | u8::from(to) << bit;
        }
    }

    fn unit(&mut self, root: u32, size: u32, [first, last]: [u32; 2]) {
        let of_b = self.list(root, size);
        self.sums[SUM_MARKS] += of_b.len() as u128;
        self.set_bit(&of_b, 1, true);
        for (at, &(quarter, a)) in of_b.iter().enumerate() {
            if quarter < first || (last != LAST_ALL && quarter >= last) {
                continue;
            }
            let of_a = self.list(a.id, a.all);
            self.set_bit(&of_a, 0, true);
            for &(_, c) in &of_b[at + 1..] {
                let of_c = self.list(c.id, c.all);
                self.set_bit(&of_c, 2, true);
                let triangle = of_c.iter().any(|(_, w)| w.id == a.id);
                if !triangle || root < a.id {
                    self.set_of_three([a.id, root, c.id], [&of_a, &of_b, &of_c], triangle);
                }
                self.set_bit(&of_c, 2, false);
            }
            self.set_bit(&of_a, 0, false);
        }
        self.set_bit(&of_b, 1, false);
    }

    /// A connected set of three vertices: those outside it by what they are next to, and their products.
    fn set_of_three(&mut self, set: [u32; 3], lists: [&[(u32, Block)]; 3], triangle: bool) {
        let mut outside = [0u128; 8];
        for (own, list) in lists.iter().enumerate() {
            for (_, w) in list.iter().filter(|(_, w)| !set.contains(&w.id)) {
                let mask = self.near[w.id as usize];
                // Each once, in the list of the first that it is next to.
                if mask.trailing_zeros() as usize == own {
                    outside[usize::from(mask)] += 1;
                }
            }
        }
        let number = |code: usize| -> u128 {
            FACTORS[code].1.iter().map(|&mask| outside[usize::from(mask)]).sum()
        };
        let from = if triangle { PRODUCTS_OPEN } else { 0 };
        let to = if triangle { self.factors.len() } else { PRODUCTS_OPEN };
        for (product, &[one, other]) in self.factors.iter().enumerate().take(to).skip(from) {
            let less = u128::from(one == other);
            self.sums[SUMS as usize + product] += number(one) * number(other).saturating_sub(less);
        }
    }
}

//! Dictionaries of codes: which pattern a code of edges is of, found on the device (`kernels/canon.cl`; DuMato,
//! section 5.2.4).

use gramer_base::error::Result;
use gramer_pattern::Pattern;

use crate::device::{Arg, Device};
use crate::memory::Buffer;

const CANON: &str = include_str!("../kernels/canon.cl");

/// Vertices of the largest graphs that have a dictionary: 2 · 10⁶ codes.
pub(crate) const MOST_VERTICES: usize = 7;
const LANES: usize = 64;

/// The graphs of `k` vertices by code.
pub(crate) struct Canon {
    /// Number of the graph, by code without the pair of the first two vertices, which is always an edge.
    pub numbers: Buffer<u32>,
    /// Minimum code with all pairs, by number.
    pub codes: Vec<u32>,
}

/// Bytes that making a dictionary of `k` vertices takes.
pub(crate) fn bytes(k: usize) -> u64 {
    6 << (k * (k - 1) / 2)
}

/// The least code of each code's graph, by code with all pairs.
fn labels(device: &Device, k: usize) -> Result<Vec<u32>> {
    let codes = 1usize << (k * (k - 1) / 2);
    let place = device.place();
    let labels = Buffer::<u32>::new(&place, codes, "codes of graphs")?;
    let changed = Buffer::<u32>::new(&place, 1, "whether a code changed")?;
    let program = device.program("canon", &[&format!("#define K {k}u\n"), CANON])?;
    let lanes = device.lanes(LANES);
    let groups = codes.div_ceil(lanes).min(if device.limits.portable { 16 } else { 4096 });
    let of = [Arg::Buffer(labels.raw()), Arg::U32(codes as u32)];
    device.launch(&program, "begin", &of, groups, lanes)?;
    loop {
        changed.zero(&device.queue)?;
        let [labels, codes] = of;
        let args = [labels, codes, Arg::Buffer(changed.raw())];
        device.launch(&program, "relabel", &args, groups, lanes)?;
        let mut more = [0];
        changed.read(&device.queue, &mut more)?;
        if more[0] == 0 {
            break;
        }
    }
    let mut found = vec![0; codes];
    labels.read(&device.queue, &mut found)?;
    Ok(found)
}

impl Canon {
    /// The dictionary of `k` vertices, 3 to [`MOST_VERTICES`].
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small, [`gramer_base::Error::Device`].
    pub fn new(device: &Device, k: usize) -> Result<Self> {
        let labels = labels(device, k)?;
        let mut codes: Vec<u32> = vec![];
        let mut number = vec![u32::MAX; labels.len()];
        let numbers: Vec<u32> = (0..labels.len() / 2)
            .map(|code| {
                let least = labels[2 * code + 1];
                let own = &mut number[least as usize];
                if *own == u32::MAX {
                    *own = codes.len() as u32;
                    codes.push(least);
                }
                *own
            })
            .collect();
        Ok(Canon {
            numbers: Buffer::of(&device.place(), &numbers, "the dictionary of codes")?,
            codes,
        })
    }
}

/// The graph of a code with all pairs.
pub(crate) fn graph(k: usize, code: u32) -> Pattern {
    let pairs = (1..k).flat_map(|j| (0..j).map(move |i| (i, j)));
    let edges: Vec<(usize, usize)> =
        pairs.enumerate().filter(|&(at, _)| code >> at & 1 == 1).map(|(_, pair)| pair).collect();
    Pattern::from_edges(k, &edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, select};
    use std::collections::HashMap;

    #[test]
    fn codes_of_one_graph_have_one_number_and_others_another() {
        let Some(handle) = select::portable() else { return };
        let device = Device::open(handle, &Settings::default()).unwrap();
        // Graphs with an edge: 3 of 3 vertices, 10 of 4, 33 of 5, 155 of 6.
        for (k, graphs) in [(3, 3), (4, 10), (5, 33), (6, 155)] {
            let canon = Canon::new(&device, k).unwrap();
            assert_eq!(canon.codes.len(), graphs, "{k}");
            let mut numbers = vec![0; 1 << (k * (k - 1) / 2 - 1)];
            canon.numbers.read(&device.queue, &mut numbers).unwrap();
            let mut seen: HashMap<Pattern, u32> = HashMap::new();
            // All codes up to five vertices, some of six.
            for (code, &number) in numbers.iter().enumerate().step_by(if k == 6 { 37 } else { 1 }) {
                let pattern = graph(k, 2 * code as u32 + 1).canonical().0;
                assert_eq!(graph(k, canon.codes[number as usize]).canonical().0, pattern);
                assert_eq!(*seen.entry(pattern).or_insert(number), number, "{k} {code}");
            }
        }
    }
}

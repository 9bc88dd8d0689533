//! Layout of a prepared graph in the memory banks of a device.
//!
//! Vertex records have 16 bytes (edge offset, degree, label), edge entries 4, both in lines of 64
//! bytes. Line i of an array lies in bank i mod banks, the edge lines after the vertex lines; see
//! section "The core" of `docs/reference/paper-core.md`.

use gramer_machine::{
    Accelerator, ENTRIES_A_LINE, ENTRY_BYTES, LINE_BYTES, RECORD_BYTES, RECORDS_A_LINE,
};

use gramer_base::error::{Error, Result};
use gramer_graph::prepare::{Capacities, Priority};
use gramer_graph::{Label, VertexId, View};

/// Bytes of a line.
pub const LINE: usize = LINE_BYTES as usize;
/// Vertex records in a line.
const RECORDS: usize = RECORDS_A_LINE as usize;
/// Edge entries in a line.
const ENTRIES: usize = ENTRIES_A_LINE as usize;

/// The image of a graph, whose lines are made on demand.
#[derive(Debug, Clone)]
pub struct DeviceImage<'a> {
    view: View<'a>,
    /// Labels as the device knows them, by vertex; none for tasks without labels.
    labels: Option<Vec<u8>>,
    banks: usize,
}

impl<'a> DeviceImage<'a> {
    /// The image for a machine, without labels.
    pub fn new(view: View<'a>, machine: &Accelerator) -> Self {
        DeviceImage { view, labels: None, banks: machine.memory.ddr_banks as usize }
    }

    /// The same with labels, which are numbered from 0 in the order of `labels`.
    ///
    /// # Panics
    /// If a vertex has a label that isn't among them, or there are more than 256.
    pub fn with_labels(mut self, labels: &[Label]) -> Self {
        let number = |v| labels.binary_search(&self.view.vertex_label(v)).expect("all labels");
        let all = (0..self.view.vertices() as VertexId)
            .map(|v| u8::try_from(number(v)).expect("at most 256 labels"));
        self.labels = Some(all.collect());
        self
    }

    /// Lines of the vertex array.
    pub fn vertex_lines(&self) -> usize {
        self.view.vertices().div_ceil(RECORDS)
    }

    /// Lines of the edge array.
    pub fn edge_lines(&self) -> usize {
        self.view.neighbours.len().div_ceil(ENTRIES)
    }

    /// Byte offset of the edge lines in each bank.
    pub fn edge_base(&self) -> u64 {
        (self.vertex_lines().div_ceil(self.banks) * LINE) as u64
    }

    /// Bytes of a bank's part, at least one line: a buffer of no bytes can't be made.
    pub fn bank_bytes(&self, bank: usize) -> u64 {
        let edges = self.edge_lines().saturating_sub(bank).div_ceil(self.banks);
        (self.edge_base() + (edges * LINE) as u64).max(LINE as u64)
    }

    /// Writes the lines of a bank from byte `offset` on, a multiple of 64, into `out`, whose
    /// length is one too.
    pub fn bank(&self, bank: usize, offset: u64, out: &mut [u8]) {
        let edge_base = self.edge_base();
        for (i, line) in out.chunks_exact_mut(LINE).enumerate() {
            let at = offset + (i * LINE) as u64;
            if at < edge_base {
                self.vertex_line((at as usize / LINE) * self.banks + bank, line);
            } else {
                self.edge_line(((at - edge_base) as usize / LINE) * self.banks + bank, line);
            }
        }
    }

    /// One line of vertex records; beyond the array zeros.
    pub fn vertex_line(&self, line: usize, out: &mut [u8]) {
        out.fill(0);
        let first = line * RECORDS;
        for (v, record) in
            (first..self.view.vertices()).zip(out.chunks_exact_mut(RECORD_BYTES as usize))
        {
            let row = self.view.row(v as VertexId);
            record[..8].copy_from_slice(&(row.start as u64).to_le_bytes());
            record[8..12].copy_from_slice(&(row.len() as u32).to_le_bytes());
            record[12] = self.labels.as_ref().map_or(0, |labels| labels[v]);
        }
    }

    /// One line of edge entries; beyond the array zeros.
    pub fn edge_line(&self, line: usize, out: &mut [u8]) {
        out.fill(0);
        let entries = self.view.neighbours.iter().skip(line * ENTRIES);
        for (&u, entry) in entries.zip(out.chunks_exact_mut(ENTRY_BYTES as usize)) {
            entry.copy_from_slice(&u.to_le_bytes());
        }
    }

    /// Lines below which vertices and edges have high priority: a line has it if its first item
    /// does, and the scratchpads hold no more. `capacity` is the share of the on-chip memory in
    /// use, above 0 to 1.
    ///
    /// # Errors
    /// [`Error::Usage`] if `tau` is not from 0 to 1.
    pub fn bounds(
        &self,
        machine: &Accelerator,
        tau: Option<f64>,
        capacity: f64,
    ) -> Result<(u64, u64)> {
        if !(capacity > 0.0 && capacity <= 1.0) {
            return Err(Error::usage(format!("capacity is {capacity}, but must be above 0 to 1")));
        }
        let m = &machine.memory;
        let share = |bytes: u32, item: u32| {
            let all = u64::from(machine.machine.partitions) * u64::from(bytes / item);
            (all as f64 * capacity).floor() as u64
        };
        let (vertex_pad, edge_pad) = machine.scratchpad_lines();
        let (vertex_pad, edge_pad) = (
            (f64::from(vertex_pad) * capacity).floor() as u64,
            (f64::from(edge_pad) * capacity).floor() as u64,
        );
        let capacities = Capacities {
            vertex_scratchpad: share(m.vertex_scratchpad_bytes, RECORD_BYTES),
            vertex_cache: share(m.vertex_cache_bytes, RECORD_BYTES),
            edge_scratchpad: share(m.edge_scratchpad_bytes, ENTRY_BYTES),
            edge_cache: share(m.edge_cache_bytes, ENTRY_BYTES),
        };
        let priority = Priority::of(self.view, &capacities, tau)?;
        Ok((
            priority.vertex_bound.div_ceil(RECORDS as u64).min(vertex_pad),
            priority.edge_bound.div_ceil(ENTRIES as u64).min(edge_pad),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xclbin::build::read_machine;

    fn machine(name: &str) -> Accelerator {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        read_machine(Some(&root.join(name))).unwrap()
    }

    /// A wheel: vertex 0 in the middle, 1 to 20 around it.
    fn wheel() -> (Vec<u64>, Vec<u32>) {
        let mut rows = vec![(1..=20).collect::<Vec<u32>>()];
        for v in 1..=20u32 {
            let mut row = vec![0, v % 20 + 1, (v + 18) % 20 + 1];
            row.sort();
            rows.push(row);
        }
        let mut offsets = vec![0];
        offsets.extend(rows.iter().scan(0, |end, row| {
            *end += row.len() as u64;
            Some(*end)
        }));
        (offsets, rows.concat())
    }

    fn view<'a>(graph: &'a (Vec<u64>, Vec<u32>), labels: Option<&'a [u32]>) -> View<'a> {
        View { offsets: &graph.0, neighbours: &graph.1, vertex_labels: labels, edge_labels: None }
    }

    #[test]
    fn every_record_and_entry_lies_where_the_core_looks_for_it() {
        let graph = wheel();
        let labels: Vec<u32> = (0..21).map(|v| 70 + v % 3).collect();
        let small = machine("machines/small.yaml");
        let image =
            DeviceImage::new(view(&graph, Some(&labels)), &small).with_labels(&[70, 71, 72]);
        // 21 records in 6 lines, 80 entries in 5, over two banks.
        assert_eq!((image.vertex_lines(), image.edge_lines(), image.edge_base()), (6, 5, 192));
        assert_eq!((image.bank_bytes(0), image.bank_bytes(1)), (192 + 192, 192 + 128));
        let banks: Vec<Vec<u8>> = (0..2)
            .map(|b| {
                let mut bytes = vec![0xee; image.bank_bytes(b) as usize];
                // In two pieces, as large graphs are written.
                let (head, tail) = bytes.split_at_mut(128);
                image.bank(b, 0, head);
                image.bank(b, 128, tail);
                bytes
            })
            .collect();
        let line = |i: usize, base: usize| &banks[i % 2][base + i / 2 * 64..][..64];
        for v in 0..21usize {
            let record = &line(v / 4, 0)[v % 4 * 16..][..16];
            let degree = graph.0[v + 1] - graph.0[v];
            let mut expected = graph.0[v].to_le_bytes().to_vec();
            expected.extend((degree as u32).to_le_bytes());
            expected.extend((v as u32 % 3).to_le_bytes());
            assert_eq!(record, expected, "vertex {v}");
        }
        for (e, u) in graph.1.iter().enumerate() {
            assert_eq!(line(e / 16, 192)[e % 16 * 4..][..4], u.to_le_bytes(), "entry {e}");
        }
    }

    #[test]
    fn an_empty_graph_has_an_image() {
        let graph = (vec![0], vec![]);
        let image = DeviceImage::new(view(&graph, None), &machine("machines/small.yaml"));
        assert_eq!((image.bank_bytes(0), image.bank_bytes(1)), (64, 64));
        let mut line = [1; 64];
        image.bank(0, 0, &mut line);
        assert_eq!(line, [0; 64]);
    }

    #[test]
    fn bounds_are_whole_lines_that_the_scratchpads_hold() {
        let graph = wheel();
        let paper = machine("accelerator.yaml");
        let image = DeviceImage::new(view(&graph, None), &paper);
        // Half of 21 vertices and of 80 entries: 10 in 3 lines, 40 in 3.
        assert_eq!(image.bounds(&paper, None, 1.0).unwrap(), (3, 3));
        assert_eq!(image.bounds(&paper, Some(0.0), 1.0).unwrap(), (0, 0));
        assert_eq!(image.bounds(&paper, Some(1.0), 1.0).unwrap(), (6, 5));
        let mut small = machine("machines/small.yaml");
        small.machine.partitions = 2;
        // 2 partitions with 4 and 8 lines.
        let image = DeviceImage::new(view(&graph, None), &small);
        assert_eq!(image.bounds(&small, Some(1.0), 1.0).unwrap(), (6, 5));
        assert_eq!(image.bounds(&small, Some(1.0), 0.25).unwrap(), (2, 4));
        assert!(image.bounds(&small, Some(1.5), 1.0).is_err());
        assert!(image.bounds(&small, None, 0.0).is_err());
        let mut uniform = small.clone();
        uniform.memory.layout = gramer_machine::Layout::Uniform;
        assert_eq!(image.bounds(&uniform, None, 1.0).unwrap(), (0, 0));
    }
}

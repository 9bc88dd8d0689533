//! Memory image of a prepared graph.
//!
//! This is deliberately a second writer of the formats of `gramer_accelerator` (`image`, `stream`): this crate, which
//! holds the emulated device, shares no code with the host that it is compared with, and its tests show that the core
//! accepts the documented formats (`docs/reference/paper-core.md`), not the output of one writer.
//! `sim/tests/formats.rs` compares both. `gramer-lab simulate` uses the host's writer.

use gramer_machine::Accelerator;

/// Graph in compressed sparse rows, renumbered so that vertex 0 has the highest rank.
#[derive(Debug, Clone)]
pub struct Csr {
    /// First position of each vertex' list, and the end of the last.
    pub offsets: Vec<u64>,
    /// Lists, each ascending.
    pub edges: Vec<u32>,
    /// Labels of the vertices, or none.
    pub labels: Vec<u32>,
}

impl Csr {
    /// Builds a graph from edges between vertices below `vertices`; drops loops and duplicates.
    pub fn new(vertices: usize, edges: &[(u32, u32)], labels: Vec<u32>) -> Self {
        let mut lists = vec![vec![]; vertices];
        for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
            lists[u as usize].push(v);
            lists[v as usize].push(u);
        }
        let mut offsets = vec![0];
        let mut all = vec![];
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
            all.extend_from_slice(list);
            offsets.push(all.len() as u64);
        }
        Csr { offsets, edges: all, labels }
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the neighbours of `v`, ascending.
    pub fn list(&self, v: u32) -> &[u32] {
        &self.edges[self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize]
    }

    /// Returns the graph renumbered by Rank(ON_1), ties by old number (equation (1) of the paper).
    pub fn ranked(&self) -> Self {
        let degree = |v: u32| self.list(v).len() as u128;
        let on1: Vec<u128> = (0..self.vertices() as u32)
            .map(|v| degree(v) * self.list(v).iter().map(|&u| degree(u)).sum::<u128>())
            .collect();
        let mut order: Vec<u32> = (0..self.vertices() as u32).collect();
        order.sort_by_key(|&v| (std::cmp::Reverse(on1[v as usize]), v));
        let mut rank = vec![0; order.len()];
        for (r, &v) in order.iter().enumerate() {
            rank[v as usize] = r as u32;
        }
        let edges: Vec<(u32, u32)> = (0..self.vertices() as u32)
            .flat_map(|v| self.list(v).iter().map(move |&u| (v, u)))
            .filter(|(v, u)| v < u)
            .map(|(v, u)| (rank[v as usize], rank[u as usize]))
            .collect();
        let labels = match self.labels.is_empty() {
            true => vec![],
            false => order.iter().map(|&v| self.labels[v as usize]).collect(),
        };
        Csr::new(self.vertices(), &edges, labels)
    }

    /// Vertex records of 16 bytes (edge offset, degree, label) in lines of 64 bytes.
    pub fn vertex_lines(&self) -> Vec<[u8; 64]> {
        let mut bytes = vec![];
        for v in 0..self.vertices() {
            bytes.extend(self.offsets[v].to_le_bytes());
            bytes.extend(((self.offsets[v + 1] - self.offsets[v]) as u32).to_le_bytes());
            bytes.extend(self.labels.get(v).copied().unwrap_or(0).to_le_bytes());
        }
        lines(bytes)
    }

    /// Edge entries of 4 bytes in lines of 64 bytes.
    pub fn edge_lines(&self) -> Vec<[u8; 64]> {
        lines(self.edges.iter().flat_map(|e| e.to_le_bytes()).collect())
    }

    /// Returns the banks' contents (line i of an array in bank i mod banks, edges after vertices) and the byte
    /// offset of the edges in each bank.
    pub fn banks(&self, accelerator: &Accelerator) -> (Vec<Vec<u8>>, u64) {
        let banks = accelerator.memory.ddr_banks as usize;
        let (vertices, edges) = (self.vertex_lines(), self.edge_lines());
        let edge_base = vertices.len().div_ceil(banks) as u64 * 64;
        let contents = (0..banks)
            .map(|b| {
                let mut memory: Vec<u8> =
                    vertices.iter().skip(b).step_by(banks).flatten().copied().collect();
                memory.resize(edge_base as usize, 0);
                memory.extend(edges.iter().skip(b).step_by(banks).flatten());
                memory
            })
            .collect();
        (contents, edge_base)
    }
}

fn lines(mut bytes: Vec<u8>) -> Vec<[u8; 64]> {
    bytes.resize(bytes.len().next_multiple_of(64), 0);
    bytes.chunks_exact(64).map(|c| c.try_into().expect("64 bytes")).collect()
}

/// Work unit: a start vertex with a range of positions in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The start vertex.
    pub start: u32,
    /// First position.
    pub first: u32,
    /// End of the range, exclusive; clipped to the degree.
    pub limit: u32,
}

/// Work units per beat of the in-stream.
pub const UNITS_A_BEAT: usize = 4;

/// Builds the in-stream of a run: header, filter (none without words), dictionary, scratchpad lines, work units. With `spread` each unit is the
/// last one of an otherwise empty beat: legal for the core, but not generated by the host.
pub fn in_stream(
    filter: &[u64],
    dictionary: &[u16],
    patterns: u32,
    vertex_pad: &[[u8; 64]],
    edge_pad: &[[u8; 64]],
    units: &[Unit],
    spread: bool,
) -> Vec<[u8; 64]> {
    let entries: Vec<[u8; 64]> = lines(dictionary.iter().flat_map(|e| e.to_le_bytes()).collect());
    let header = [entries.len() as u32, vertex_pad.len() as u32, edge_pad.len() as u32, patterns];
    let mut beats = lines(header.iter().flat_map(|w| w.to_le_bytes()).collect());
    beats.extend(lines(filter.iter().flat_map(|w| w.to_le_bytes()).collect()));
    beats.extend(entries);
    beats.extend(vertex_pad);
    beats.extend(edge_pad);
    let mut work = lines(
        units
            .iter()
            .flat_map(|u| {
                let empty = if spread { UNITS_A_BEAT - 1 } else { 0 };
                let place = [u.start, u.first, u.limit, 1].map(u32::to_le_bytes).concat();
                [vec![0; empty * place.len()], place].concat()
            })
            .collect(),
    );
    if work.is_empty() {
        work.push([0; 64]); // TLAST needs a beat
    }
    beats.extend(work);
    beats
}

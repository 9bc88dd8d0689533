//! Signatures of vertices and the candidates that they leave (`kernels/signature.cl`), and the order in which
//! SGSI joins a pattern's vertices (Zeng et al., GSI, section 3 and Alg. 1).

use std::ops::Range;
use std::sync::Arc;

use gramer_base::error::Result;
use gramer_graph::{Graph, NO_LABEL};
use gramer_pattern::task::Mappings;
use gramer_pattern::{MAX_VERTICES, Pattern};

use crate::device::{Arg, Device};
use crate::graph::ByDegree;
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::Resident;
use crate::search::Labels;

const COMMON: &str = include_str!("../kernels/common.clh");
const SIGNATURE: &str = include_str!("../kernels/signature.cl");

/// Lanes of a work-group.
const LANES: usize = 64;
/// Words of a signature, pairs of bits in it, and words of a pattern's vertex; as in `signature.cl`.
pub(crate) const COLUMNS: usize = 16;
const GROUPS: u32 = 240;
const NEED_WORDS: usize = 3 + COLUMNS + 3 * MAX_VERTICES;

/// Which vertices may be images of each vertex of a pattern.
pub(crate) struct Candidates {
    /// Candidates by pattern vertex: a bit per vertex of the graph.
    pub bits: Buffer<u32>,
    /// Number of vertices with a fitting signature, and of those that remain, by pattern vertex.
    pub sizes: Vec<[u32; 2]>,
}

/// MurmurHash3 of two words, seed 17.
fn murmur(a: u32, b: u32) -> u32 {
    let mut h = 17u32;
    for word in [a, b] {
        let k = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        h = (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    h ^= 8;
    h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// Whether vertices and edges have labels.
#[derive(Clone, Copy)]
struct LabelUse {
    vertices: bool,
    edges: bool,
}

impl LabelUse {
    fn of(labels: &Labels) -> Self {
        LabelUse { vertices: labels.vertices.is_some(), edges: labels.edges.is_some() }
    }
}

fn program(device: &Device, labelled: LabelUse) -> Result<Arc<Program>> {
    let mut defines = format!("#define LANES {}\n", device.lanes(LANES));
    for (name, there) in [("VERTEX_LABELS", labelled.vertices), ("EDGE_LABELS", labelled.edges)] {
        if there {
            defines.push_str(&format!("#define {name}\n"));
        }
    }
    device.program("signature", &[COMMON, &defines, SIGNATURE])
}

fn graph_args(resident: &Resident, labels: &Labels) -> Result<Vec<Arg>> {
    let rows = resident.full()?;
    let raw = |labels: &Option<Buffer<u32>>| labels.as_ref().map_or(rows.ends.raw(), Buffer::raw);
    Ok(vec![
        Arg::Buffer(rows.offsets.raw()),
        Arg::Buffer(rows.ends.raw()),
        Arg::Buffer(raw(&labels.vertices)),
        Arg::Buffer(raw(&labels.edges)),
        Arg::U32(resident.by.vertices() as u32),
        Arg::U32(0),
    ])
}

/// The signatures of all vertices.
///
/// # Errors
/// [`gramer_base::Error::Unsupported`] if the budget is too small, [`gramer_base::Error::Device`].
pub(crate) fn table(resident: &Resident, labels: &Labels) -> Result<Buffer<u32>> {
    let device = &resident.device;
    let vertices = resident.by.vertices();
    let table = Buffer::new(&device.place(), COLUMNS * vertices, "signatures")?;
    let mut args = graph_args(resident, labels)?;
    args.push(Arg::Buffer(table.raw()));
    let lanes = device.lanes(LANES);
    let program = program(device, LabelUse::of(labels))?;
    device.launch(&program, "signatures", &args, vertices.div_ceil(lanes), lanes)?;
    Ok(table)
}

/// Requirements of a pattern's vertex for mappings of a kind. Kinds of labels that the graph lacks are not required.
fn needs(
    pattern: &Pattern,
    mappings: Mappings,
    vertex: usize,
    labelled: LabelUse,
) -> [u32; NEED_WORDS] {
    let apart = mappings.separates_neighbours();
    let mut words = [0; NEED_WORDS];
    let label = |v: usize| {
        if labelled.vertices { pattern.vertex_label(v) } else { 0 }
    };
    let edge_label = |u: usize, v: usize| {
        if labelled.edges { pattern.edge_label(u, v).unwrap_or(NO_LABEL) } else { 0 }
    };
    words[0] = label(vertex);
    words[1] = pattern.degree(vertex).min(if apart { usize::MAX } else { 1 }) as u32;
    if labelled.vertices && label(vertex) != NO_LABEL {
        words[3] = 1 << (murmur(label(vertex), 0) % 32);
    }
    let mut wanted: Vec<(u32, u32, u32)> = vec![];
    for u in (0..pattern.vertices()).filter(|&u| pattern.has_edge(vertex, u)) {
        let (edge, end) = (edge_label(vertex, u), label(u));
        match wanted.iter_mut().find(|w| (w.0, w.1) == (edge, end)) {
            Some(_) if !apart => continue,
            Some(same) => same.2 += 1,
            None => wanted.push((edge, end, 1)),
        }
        if edge != NO_LABEL && end != NO_LABEL {
            let group = murmur(edge, end) % GROUPS;
            let one = 1u32 << (2 * (group % 16));
            let word = &mut words[4 + group as usize / 16];
            *word |= if *word & one == 0 { one } else { one << 1 };
        }
    }
    words[2] = wanted.len() as u32;
    for (at, (edge, end, count)) in wanted.into_iter().enumerate() {
        words[3 + COLUMNS + 3 * at..][..3].copy_from_slice(&[edge, end, count]);
    }
    words
}

/// The candidates of a pattern's vertices.
///
/// # Errors
/// As [`table`].
pub(crate) fn candidates(
    resident: &Resident,
    labels: &Labels,
    table: &Buffer<u32>,
    pattern: &Pattern,
) -> Result<Candidates> {
    let (device, n) = (&resident.device, pattern.vertices());
    let (place, vertices) = (device.place(), resident.by.vertices());
    let (kind, labelled) = (Mappings::Isomorphism, LabelUse::of(labels));
    let words: Vec<u32> = (0..n).flat_map(|v| needs(pattern, kind, v, labelled)).collect();
    let needs = Buffer::of(&place, &words, "requirements of a pattern")?;
    let bits = Buffer::new(&place, n * vertices.div_ceil(32), "candidates")?;
    bits.zero(&device.queue)?;
    let counts = Buffer::new(&place, 2 * n, "numbers of candidates")?;
    counts.zero(&device.queue)?;
    let program = program(device, LabelUse::of(labels))?;
    let lanes = device.lanes(LANES);
    for v in 0..n {
        let mut args = graph_args(resident, labels)?;
        args.extend([
            Arg::Buffer(table.raw()),
            Arg::U32(vertices.div_ceil(32) as u32),
            Arg::Buffer(needs.raw()),
            Arg::U32(v as u32),
            Arg::Buffer(bits.raw()),
            Arg::Buffer(counts.raw()),
        ]);
        device.launch(&program, "candidates", &args, vertices.div_ceil(lanes), lanes)?;
    }
    let mut sizes = vec![0; 2 * n];
    counts.read(&device.queue, &mut sizes)?;
    Ok(Candidates { bits, sizes: sizes.chunks_exact(2).map(|s| [s[0], s[1]]).collect() })
}

/// Vertices in segments, multiples of 32, whose rows and signatures take no more than this many words.
fn segments(by: &ByDegree, room: usize, labelled: LabelUse) -> Vec<Range<usize>> {
    let entry = 1 + usize::from(labelled.edges);
    let words = |range: Range<usize>| {
        let entries = (by.offsets[range.end] - by.offsets[range.start]) as usize;
        1 + (1 + COLUMNS) * range.len() + entry * entries
    };
    let (mut all, mut from) = (vec![], 0);
    for at in (0..by.vertices()).step_by(32) {
        let to = (at + 32).min(by.vertices());
        if at > from && words(from..to) > room {
            all.push(from..at);
            from = at;
        }
    }
    all.push(from..by.vertices());
    all
}

/// A segment of the graph on the device with the signatures of its vertices.
struct SignatureSegment {
    range: Range<usize>,
    /// Offsets, neighbours and edge labels of the segment, and the labels of all vertices.
    offsets: Buffer<u32>,
    ends: Buffer<u32>,
    edge_labels: Buffer<u32>,
    labels: Arc<Buffer<u32>>,
    table: Buffer<u32>,
}

impl SignatureSegment {
    fn new(
        device: &Device,
        by: &ByDegree,
        range: Range<usize>,
        labels: &Arc<Buffer<u32>>,
        edge_labels: &[u32],
        program: &Program,
    ) -> Result<Self> {
        let place = device.place();
        let entries = by.offsets[range.start] as usize..by.offsets[range.end] as usize;
        let offsets = &by.offsets[range.start..=range.end];
        let offsets: Vec<u32> = offsets.iter().map(|&at| at - entries.start as u32).collect();
        let own = edge_labels.get(entries.clone()).unwrap_or_default();
        let segment = SignatureSegment {
            offsets: Buffer::of(&place, &offsets, "a segment's offsets")?,
            ends: Buffer::of(&place, &by.neighbours[entries], "a segment's edges")?,
            edge_labels: Buffer::of(&place, own, "a segment's edge labels")?,
            labels: labels.clone(),
            table: Buffer::new(&place, COLUMNS * range.len(), "a segment's signatures")?,
            range,
        };
        let lanes = device.lanes(LANES);
        let groups = segment.range.len().div_ceil(lanes);
        device.launch(program, "signatures", &segment.args(), groups, lanes)?;
        Ok(segment)
    }

    fn args(&self) -> Vec<Arg> {
        let rows = [&self.offsets, &self.ends, &*self.labels, &self.edge_labels];
        let mut args: Vec<Arg> = rows.map(|b| Arg::Buffer(b.raw())).to_vec();
        args.extend([self.range.len(), self.range.start].map(|n| Arg::U32(n as u32)));
        args.push(Arg::Buffer(self.table.raw()));
        args
    }
}

/// Signatures that stay on the device between queries (SGSI makes them offline).
#[derive(Default)]
pub(crate) struct SignatureTable {
    /// The only segment of the graph, if it takes no more than [`KEPT`] of the budget.
    kept: Option<SignatureSegment>,
}

/// Share of the free budget that signatures may keep.
const KEPT: u64 = 8;

impl SignatureTable {
    /// True if it holds device memory.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// The candidates of a pattern's vertices, a bit for each vertex, and the number of segments. Signatures of a graph
    /// that is too large for one segment, or all if `keep` is false, are made anew segment by segment (Zeng et al.,
    /// section 6.1).
    ///
    /// # Errors
    /// As [`table`].
    pub fn candidates(
        &mut self,
        device: &Arc<Device>,
        by: &ByDegree,
        graph: &Graph,
        pattern: &Pattern,
        mappings: Mappings,
        keep: bool,
    ) -> Result<(Vec<Vec<u32>>, usize)> {
        let view = graph.view();
        let labelled =
            LabelUse { vertices: view.vertex_labels.is_some(), edges: view.edge_labels.is_some() };
        let (n, place, queue) = (pattern.vertices(), device.place(), &device.queue);
        let needs: Vec<u32> = (0..n).flat_map(|v| needs(pattern, mappings, v, labelled)).collect();
        let needs = Buffer::of(&place, &needs, "requirements of a pattern")?;
        let words = by.vertices().div_ceil(32).max(1);
        let bits = Buffer::<u32>::new(&place, n * words, "candidates")?;
        bits.zero(queue)?;
        let counts = Buffer::<u32>::new(&place, 2 * n, "numbers of candidates")?;
        let (program, lanes) = (program(device, labelled)?, device.lanes(LANES));
        let look = |segment: &SignatureSegment| {
            for v in 0..n {
                let mut args = segment.args();
                args.extend([Arg::U32(words as u32), Arg::Buffer(needs.raw()), Arg::U32(v as u32)]);
                args.extend([Arg::Buffer(bits.raw()), Arg::Buffer(counts.raw())]);
                let groups = segment.range.len().div_ceil(lanes);
                device.launch(&program, "candidates", &args, groups, lanes)?;
            }
            // The segment's buffers are in use until then.
            device.finish()
        };
        let mut number = 1;
        if let Some(kept) = &self.kept {
            look(kept)?;
        } else {
            let own = |labels: &[u32]| by.vertex.iter().map(|&v| labels[v as usize]).collect();
            let labels: Vec<u32> = view.vertex_labels.map(own).unwrap_or_default();
            let labels = Arc::new(Buffer::of(&place, &labels, "vertex labels")?);
            let edge_labels = by.edge_labels(graph);
            let free = device.budget.free();
            let segments = segments(by, free as usize / 8, labelled);
            number = segments.len();
            for range in segments.into_iter().filter(|range| !range.is_empty()) {
                let segment =
                    SignatureSegment::new(device, by, range, &labels, &edge_labels, &program)?;
                look(&segment)?;
                let taken = free - device.budget.free() + 4 * labels.len() as u64;
                if keep && number == 1 && taken <= free / KEPT {
                    self.kept = Some(segment);
                }
            }
        }
        let mut all = vec![0; n * words];
        bits.read(queue, &mut all)?;
        Ok((all.chunks_exact(words).map(<[u32]>::to_vec).collect(), number))
    }
}

/// SGSI's order (Alg. 1): first the vertex with the fewest candidates for each of its edges, then of those next
/// to an earlier one the one with the least score. A score is multiplied by the share of edges with the
/// label that leads there, at each neighbour that is chosen.
pub(crate) fn join_order(
    pattern: &Pattern,
    candidates: &[u32],
    share: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let n = pattern.vertices();
    let mut scores: Vec<f64> =
        (0..n).map(|v| f64::from(candidates[v]) / pattern.degree(v).max(1) as f64).collect();
    let mut order: Vec<usize> = vec![];
    while order.len() < n {
        let near = |v: usize| order.is_empty() || order.iter().any(|&u| pattern.has_edge(u, v));
        let next = (0..n)
            .filter(|v| !order.contains(v) && near(*v))
            .min_by(|&a, &b| scores[a].total_cmp(&scores[b]))
            .expect("a pattern is connected");
        order.push(next);
        for u in (0..n).filter(|&u| pattern.has_edge(next, u)) {
            scores[u] *= share(next, u);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_begins_with_the_fewest_candidates_for_an_edge_and_stays_connected() {
        // 0 – 1 – 2 – 3, and 1 – 3.
        let pattern = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (1, 3)]);
        // Scores 9, 20, 10, 10: then the neighbour of 0.
        assert_eq!(join_order(&pattern, &[9, 60, 20, 20], |_, _| 1.0), [0, 1, 2, 3]);
        // A rare label to 3 makes it come before 2.
        let rare = |u: usize, v: usize| if u.max(v) == 3 { 0.1 } else { 1.0 };
        assert_eq!(join_order(&pattern, &[9, 60, 20, 20], rare), [0, 1, 3, 2]);
    }

    #[test]
    fn the_hash_is_murmurs() {
        // Two words of zeros, and of different ones: not equal, and spread over the pairs.
        let all: std::collections::HashSet<u32> =
            (0..30).flat_map(|a| (0..30).map(move |b| murmur(a, b))).collect();
        assert_eq!(all.len(), 900);
        let groups: std::collections::HashSet<u32> = all.iter().map(|h| h % GROUPS).collect();
        assert!(groups.len() > 225);
    }
}

//! Signatures of vertices and the candidates that they leave (`kernels/signature.cl`), and the order in which
//! SGSI joins a pattern's vertices (Zeng et al., GSI, section 3 and Alg. 1).

use std::sync::Arc;

use gramer_graph::NO_LABEL;
use gramer_graph::error::Result;
use gramer_pattern::Pattern;

use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::Resident;
use crate::search::Labels;

const COMMON: &str = include_str!("../kernels/common.clh");
const SIGNATURE: &str = include_str!("../kernels/signature.cl");

/// Lanes of a work-group.
const LANES: usize = 64;
/// Words of a signature, pairs of bits in it, and words of a pattern's vertex; as in `signature.cl`.
const COLUMNS: usize = 16;
const GROUPS: u32 = 240;
const NEED_WORDS: usize = 3 + COLUMNS + 3 * 16;

/// Which vertices may be images of each vertex of a pattern.
pub(crate) struct Candidates {
    /// By pattern vertex: a bit for each vertex of the graph.
    pub bits: Buffer<u32>,
    /// By pattern vertex: how many have a fitting signature, and how many of those remain.
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

fn program(device: &Device, labels: &Labels) -> Result<Arc<Program>> {
    let mut defines = format!("#define LANES {}\n", device.lanes(LANES));
    for (name, there) in
        [("VERTEX_LABELS", labels.vertices.is_some()), ("EDGE_LABELS", labels.edges.is_some())]
    {
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
    ])
}

/// The signatures of all vertices.
///
/// # Errors
/// [`gramer_graph::Error::Unsupported`] where the budget has no room, [`gramer_graph::Error::Device`].
pub(crate) fn table(resident: &Resident, labels: &Labels) -> Result<Buffer<u32>> {
    let device = &resident.device;
    let vertices = resident.by.vertices();
    let table = Buffer::new(&device.place(), COLUMNS * vertices, "signatures")?;
    let mut args = graph_args(resident, labels)?;
    args.push(Arg::Buffer(table.raw()));
    let lanes = device.lanes(LANES);
    let program = program(device, labels)?;
    device.launch(&program, "signatures", &args, vertices.div_ceil(lanes), lanes)?;
    Ok(table)
}

/// What a pattern's vertex asks for. Labels that the graph doesn't have are asked of none.
fn needs(pattern: &Pattern, vertex: usize, labels: &Labels) -> [u32; NEED_WORDS] {
    let mut words = [0; NEED_WORDS];
    let label = |v: usize| {
        if labels.vertices.is_some() { pattern.vertex_label(v) } else { 0 }
    };
    let edge_label = |u: usize, v: usize| {
        if labels.edges.is_some() { pattern.edge_label(u, v).unwrap_or(NO_LABEL) } else { 0 }
    };
    words[0] = label(vertex);
    words[1] = pattern.degree(vertex) as u32;
    if labels.vertices.is_some() && label(vertex) != NO_LABEL {
        words[3] = 1 << (murmur(label(vertex), 0) % 32);
    }
    let mut wanted: Vec<(u32, u32, u32)> = vec![];
    for u in (0..pattern.vertices()).filter(|&u| pattern.has_edge(vertex, u)) {
        let (edge, end) = (edge_label(vertex, u), label(u));
        match wanted.iter_mut().find(|w| (w.0, w.1) == (edge, end)) {
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
    let words: Vec<u32> = (0..n).flat_map(|v| needs(pattern, v, labels)).collect();
    let needs = Buffer::of(&place, &words, "what a pattern asks for")?;
    let bits = Buffer::new(&place, n * vertices.div_ceil(32), "candidates")?;
    bits.zero(&device.queue)?;
    let counts = Buffer::new(&place, 2 * n, "numbers of candidates")?;
    counts.zero(&device.queue)?;
    let program = program(device, labels)?;
    let lanes = device.lanes(LANES);
    for v in 0..n {
        let mut args = graph_args(resident, labels)?;
        args.extend([
            Arg::Buffer(table.raw()),
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

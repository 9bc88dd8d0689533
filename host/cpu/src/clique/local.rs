//! The part of the graph in which the cliques of one start vertex are.

use super::super::oriented::Oriented;
use super::super::sets;
use super::row::width;

/// The edges among the targets of a start vertex, its *members*, as a matrix of bits. What a
/// thread holds depends on the largest number of members, plus at most [`MOST_VERTICES`] positions.
#[derive(Debug)]
pub(crate) struct Local {
    /// The start vertex that the matrix belongs to.
    start: Option<u32>,
    symmetric: bool,
    members: usize,
    width: usize,
    rows: Vec<u64>,
    /// By number: its position among the members, or [`NONE`], where there is room for it.
    position: Vec<u16>,
}

/// Not a member.
const NONE: u16 = u16::MAX;
/// Maximum number of vertices of a graph for which a thread has the table: it takes 8 MB then, and what is looked up
/// is in the part of those that are peeled late.
const MOST_VERTICES: usize = 1 << 22;

impl Local {
    /// Creates buffers for adjacency matrices of the members; row i has all neighbours of member i, or only smaller
    /// ones.
    pub fn new(symmetric: bool) -> Self {
        Local { start: None, symmetric, members: 0, width: 1, rows: vec![], position: vec![] }
    }

    /// Builds the matrix of `start`, unless it is there already; returns whether it did.
    pub fn enter(&mut self, oriented: &Oriented, start: u32) -> bool {
        if self.start == Some(start) {
            return false;
        }
        self.start = Some(start);
        let targets = oriented.targets(start);
        self.members = targets.len();
        self.width = width(targets.len());
        let width = self.width;
        self.rows.clear();
        self.rows.resize(targets.len() * width, 0);
        match width {
            1 if oriented.vertices() <= MOST_VERTICES => self.look_up::<1>(oriented, targets),
            2 if oriented.vertices() <= MOST_VERTICES => self.look_up::<2>(oriented, targets),
            4 if oriented.vertices() <= MOST_VERTICES => self.look_up::<4>(oriented, targets),
            _ => {
                for (i, &t) in targets.iter().enumerate() {
                    let row = &mut self.rows[i * width..(i + 1) * width];
                    // What `t` leads to is smaller.
                    sets::positions(&targets[..i], oriented.targets(t), row);
                }
            }
        }
        if self.symmetric {
            self.mirror();
        }
        true
    }

    /// Makes rows of `W` words by looking up what members lead to.
    fn look_up<const W: usize>(&mut self, oriented: &Oriented, targets: &[u32]) {
        // One more, so that what is read of the last one is all in the table.
        self.position.resize(oriented.vertices() + 1, NONE);
        for (i, &t) in (0..).zip(targets) {
            self.position[t as usize] = i;
        }
        let (rows, _) = self.rows.as_chunks_mut::<W>();
        #[cfg(target_arch = "x86_64")]
        let vectors = avx512::is_here();
        for (row, list) in rows.iter_mut().zip(oriented.targets_of(targets)) {
            #[cfg(target_arch = "x86_64")]
            if vectors {
                // SAFETY: the processor has the features that the function is compiled for. Targets are vertices, and the
                // table has one position more than vertices.
                *row = unsafe { avx512::row(&self.position, list) };
                continue;
            }
            *row = row_of(&self.position, list);
        }
        for &t in targets {
            self.position[t as usize] = NONE;
        }
    }

    /// Adds to each row the larger members.
    fn mirror(&mut self) {
        let width = self.width;
        for i in 1..self.members {
            let (above, row) = self.rows.split_at_mut(i * width);
            let (word, bit) = (i / 64, 1 << (i % 64));
            for j in super::row::ones(&row[..i.div_ceil(64)]) {
                above[j * width + word] |= bit;
            }
        }
    }

    /// Number of members.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Words of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows, one after the other.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }
}

/// The positions in a list of vertices, as bits: in registers, and without a branch.
fn row_of<const W: usize>(position: &[u16], list: &[u32]) -> [u64; W] {
    let mut words = [0; W];
    for &u in list {
        let position = position[u as usize];
        let bit = 1 << (position % 64);
        for (word, all) in (0..).zip(&mut words) {
            *all |= if position / 64 == word { bit } else { 0 };
        }
    }
    words
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::NONE;

    /// Vertices whose positions are looked up at a time.
    const LANES: usize = 8;

    #[inline]
    pub fn is_here() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx2")
    }

    /// As [`super::row_of`].
    ///
    /// # Safety
    /// There is a position of each vertex in the list, and of the one after it.
    #[target_feature(enable = "avx512f,avx512vl,avx2")]
    pub unsafe fn row<const W: usize>(position: &[u16], list: &[u32]) -> [u64; W] {
        let mut all = [_mm512_setzero_si512(); W];
        let mut rest = list;
        while !rest.is_empty() {
            let lanes = rest.len().min(LANES);
            let there = u8::MAX >> (LANES - lanes);
            // SAFETY: lanes beyond the list aren't read.
            let vertices = unsafe { _mm256_maskz_loadu_epi32(there, rest.as_ptr().cast()) };
            let none = _mm256_set1_epi32(NONE.into());
            // SAFETY: a lane reads the position of a vertex and the one behind it, which the table has by the caller's
            // promise. Indices are below `MOST_VERTICES` and so not negative.
            let both = unsafe {
                _mm256_mmask_i32gather_epi32::<2>(none, there, vertices, position.as_ptr().cast())
            };
            // The first of both is the lane's own, and as wide as NONE.
            let places = _mm512_cvtepu32_epi64(_mm256_and_si256(both, none));
            // A shift by more than 63 gives nothing.
            let bits = _mm512_sllv_epi64(
                _mm512_set1_epi64(1),
                _mm512_and_si512(places, _mm512_set1_epi64(63)),
            );
            let words = _mm512_srli_epi64::<6>(places);
            for (word, all) in (0..).zip(&mut all) {
                let here = _mm512_cmpeq_epi64_mask(words, _mm512_set1_epi64(word));
                *all = _mm512_mask_or_epi64(*all, here, *all, bits);
            }
            rest = &rest[lanes..];
        }
        all.map(|all| _mm512_reduce_or_epi64(all) as u64)
    }
}

#[cfg(test)]
mod tests {
    use gramer_base::context::Context;
    use gramer_graph::Builder;

    use super::*;

    /// Rows by vectors are those by one vertex after the other, of lists of all lengths.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn vectors_find_what_a_loop_finds() {
        if !avx512::is_here() {
            return;
        }
        // Vertices of which every third one has a position: all words and bits of a row of four.
        let position: Vec<u16> =
            (0..770u16).map(|v| if v % 3 == 0 { v / 3 } else { NONE }).collect();
        let last = position.len() as u32 - 2;
        for (from, length) in (0..40).flat_map(|from| (0..40).map(move |length| (from, length))) {
            for step in [1, 3, 19] {
                let list: Vec<u32> =
                    (0..length).map(|i| from + i * step).filter(|&v| v <= last).collect();
                // SAFETY: the processor has what the function is compiled for, and there is a position behind the last one.
                let (one, four) = unsafe {
                    (avx512::row::<1>(&position, &list), avx512::row::<4>(&position, &list))
                };
                assert_eq!(one, row_of::<1>(&position, &list), "{list:?}");
                assert_eq!(four, row_of::<4>(&position, &list), "{list:?}");
            }
        }
        let all: Vec<u32> = (0..=last).collect();
        // SAFETY: as above.
        assert_eq!(unsafe { avx512::row::<4>(&position, &all) }, [u64::MAX; 4]);
    }

    /// Of one, two, four and more words, looked up and compared.
    #[test]
    fn rows_have_the_edges_among_members() {
        let mut widths = [0; 6];
        for (vertices, percent) in [(40, 30), (90, 90), (150, 85), (330, 90), (420, 95), (700, 2)] {
            let draw = |u: u64, v: u64| {
                let mixed =
                    (u << 32 | v).wrapping_add(vertices).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40
            };
            let mut builder = Builder::new();
            builder.vertex_range(0..vertices);
            for u in 0..vertices {
                (0..u).filter(|&v| draw(u, v) % 100 < percent).for_each(|v| builder.edge(u, v));
            }
            let graph = builder.build();
            let context = Context::with_threads(1);
            let oriented = Oriented::by_degeneracy(graph.view(), &context).unwrap();
            let (mut lower, mut both) = (Local::new(false), Local::new(true));
            for start in 0..vertices as u32 {
                assert!(lower.enter(&oriented, start) && both.enter(&oriented, start));
                assert!(!lower.enter(&oriented, start));
                let targets = oriented.targets(start);
                let vertex = |i: usize| oriented.vertex[targets[i] as usize];
                let width = lower.width();
                widths[width.ilog2() as usize] += 1;
                for i in 0..targets.len() {
                    let bit = |local: &Local, j: usize| {
                        local.rows()[i * width + j / 64] >> (j % 64) & 1 == 1
                    };
                    for j in 0..64 * width {
                        let edge = j < targets.len() && graph.view().has_edge(vertex(i), vertex(j));
                        assert_eq!(bit(&both, j), edge);
                        assert_eq!(bit(&lower, j), edge && j < i);
                    }
                }
            }
        }
        assert!(widths[..4].iter().all(|&count| count > 10), "{widths:?}");
    }
}

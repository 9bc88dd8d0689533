//! PCSR: the neighbours of a vertex by the label of the edge (Zeng et al., GSI, section 4, definition 5), cut into
//! segments of equal numbers of edges (section 6.1).
//!
//! A segment of a label's edges is an array of hash groups, then the neighbours, group by group. A group has
//! [`Shape::pairs`] pairs: vertices with where their neighbours begin, and at the end (GID, END), the group
//! that goes on with what this one had no room for, and where the last vertex' neighbours end. A free
//! pair has the offset END, so that a vertex' neighbours always end where the next pair's begin. There are as
//! many groups as vertices: those that overflow take up no more than those that nothing was hashed to.
//!
//! By [`Rows::Search`] a segment is the paper's compressed representation (table 4) instead: its sources in order, their
//! offsets, then the neighbours; a source is found by binary search.
//!
//! Of a label that a quarter of the vertices have, offsets by vertex take less room than groups of 128 bytes,
//! and are one access as well: its segments are dense.

use gramer_base::error::{Error, Result};

use super::settings::Rows;

/// No vertex, no group.
const NONE: u32 = u32::MAX;
/// Words of a segment's description; as in `join.clh`.
pub(super) const SEGMENT_WORDS: usize = 8;
/// Vertices for each vertex of the label from which on a segment is not dense.
const SPARSE: usize = 4;

/// Parameters of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Pairs of a group with the one at its end, 2 to 16 (128 bytes).
    pub pairs: u32,
    /// Whether labels with many vertices have offsets instead of groups.
    pub dense: bool,
    /// How a source is found.
    pub rows: Rows,
}

/// Edges of one label, those of the sources `first` to `last`, as words for the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Groups or offsets, then neighbours, then their labels if they have some.
    pub words: Vec<u32>,
    /// Number of groups, or of sources in order; 0: offsets.
    pub groups: u32,
    /// Minimum and maximum source.
    pub first: u32,
    pub last: u32,
    /// Start of the neighbours in the words, and their number.
    pub ends: u32,
    pub edges: u32,
    /// Groups that go on in another one.
    pub overflowing: u32,
    /// 0: sources in order.
    pairs: u32,
}

/// The edges of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partition {
    pub segments: Vec<Segment>,
    /// Maximum degree.
    pub longest: u32,
}

/// Edges by source, then by end; both ways of each edge of the graph.
pub(super) struct Edges {
    pub sources: Vec<u32>,
    pub ends: Vec<u32>,
    /// Labels, where they were not parted by label.
    pub labels: Vec<u32>,
}

/// The group that a vertex is hashed to; as in `join.clh`.
fn hashed(v: u32, groups: u32) -> u32 {
    ((u64::from(v.wrapping_mul(0x9e37_79b1)) * u64::from(groups)) >> 32) as u32
}

impl Segment {
    /// A segment of the edges in the range, with the given hash.
    fn with_hash(
        edges: &Edges,
        range: std::ops::Range<usize>,
        shape: Shape,
        hash: impl Fn(u32, u32) -> u32,
    ) -> Self {
        let (sources, ends) = (&edges.sources[range.clone()], &edges.ends[range.clone()]);
        let labels = edges.labels.get(range).unwrap_or_default();
        let (first, last) = (sources.first().copied(), sources.last().copied());
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        // Each vertex with its part of the edges.
        let mut rows: Vec<(u32, usize, usize)> = vec![];
        for (at, &v) in sources.iter().enumerate() {
            match rows.last_mut() {
                Some(row) if row.0 == v => row.2 = at + 1,
                _ => rows.push((v, at, at + 1)),
            }
        }
        let span = if rows.is_empty() { 0 } else { (last - first) as usize + 1 };
        let mut segment = Segment {
            words: vec![],
            groups: 0,
            first,
            last,
            ends: 0,
            edges: ends.len() as u32,
            overflowing: 0,
            pairs: shape.pairs,
        };
        if shape.rows == Rows::Search && !rows.is_empty() {
            segment.sort(&rows, ends, labels);
            return segment;
        }
        if shape.dense && rows.len() * SPARSE >= span || rows.is_empty() {
            let mut offsets = vec![0; span + 1];
            rows.iter()
                .for_each(|&(v, from, to)| offsets[(v - first) as usize + 1] = (to - from) as u32);
            (1..offsets.len()).for_each(|at| offsets[at] += offsets[at - 1]);
            segment.ends = offsets.len() as u32;
            segment.words = offsets;
            segment.words.extend_from_slice(ends);
            segment.words.extend_from_slice(labels);
            return segment;
        }
        segment.hash(&rows, ends, labels, hash);
        segment
    }

    /// Sources in order, and their offsets.
    fn sort(&mut self, rows: &[(u32, usize, usize)], ends: &[u32], labels: &[u32]) {
        let sources = rows.iter().map(|row| row.0);
        let offsets = rows.iter().map(|row| row.1 as u32);
        self.words = sources.chain(offsets).chain([ends.len() as u32]).collect();
        (self.groups, self.pairs, self.ends) = (rows.len() as u32, 0, self.words.len() as u32);
        self.words.extend_from_slice(ends);
        self.words.extend_from_slice(labels);
    }

    fn hash(
        &mut self,
        rows: &[(u32, usize, usize)],
        ends: &[u32],
        labels: &[u32],
        hash: impl Fn(u32, u32) -> u32,
    ) {
        let groups = rows.len() as u32;
        let room = self.pairs as usize - 1;
        let mut members: Vec<Vec<usize>> = vec![vec![]; rows.len()];
        for (at, row) in rows.iter().enumerate() {
            members[hash(row.0, groups) as usize].push(at);
        }
        // What a group has no room for goes to one that nothing was hashed to.
        let mut next = vec![NONE; rows.len()];
        let mut free = 0;
        for group in 0..rows.len() {
            let mut from = group;
            while members[from].len() > room {
                let rest = members[from].split_off(room);
                while !members[free].is_empty() {
                    free += 1;
                }
                members[free] = rest;
                next[from] = free as u32;
                self.overflowing += 1;
                from = free;
            }
        }
        let stride = 2 * self.pairs as usize;
        let mut words = vec![NONE; stride * rows.len()];
        let (mut neighbours, mut own) = (Vec::with_capacity(ends.len()), vec![]);
        for (group, members) in members.iter().enumerate() {
            let pairs = &mut words[group * stride..][..stride];
            for (pair, &row) in members.iter().enumerate() {
                let (v, from, to) = rows[row];
                (pairs[2 * pair], pairs[2 * pair + 1]) = (v, neighbours.len() as u32);
                neighbours.extend_from_slice(&ends[from..to]);
                own.extend_from_slice(labels.get(from..to).unwrap_or_default());
            }
            for pair in members.len()..room {
                pairs[2 * pair + 1] = neighbours.len() as u32;
            }
            (pairs[stride - 2], pairs[stride - 1]) = (next[group], neighbours.len() as u32);
        }
        self.groups = groups;
        self.ends = words.len() as u32;
        words.append(&mut neighbours);
        words.append(&mut own);
        self.words = words;
    }

    /// The kernel's description of the segment at `at`: its edges of the label, if the words have labels.
    pub fn described(&self, at: u32, label: u32) -> [u32; SEGMENT_WORDS] {
        [at, self.groups, self.first, self.last, self.ends, self.edges, label, self.pairs]
    }
}

impl Edges {
    /// Splits the lists into parts of equal numbers of edges.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where one alone needs more than `room` words.
    pub fn cut(&self, wished: usize, room: usize, shape: Shape) -> Result<Partition> {
        let all = self.ends.len();
        let (mut run, mut longest) = (0, 0);
        for at in 0..all {
            run = if at > 0 && self.sources[at] == self.sources[at - 1] { run + 1 } else { 1 };
            longest = longest.max(run);
        }
        let mut count = wished.clamp(1, all.max(1));
        loop {
            let segments: Vec<Segment> = (0..count)
                .map(|part| all * part / count..all * (part + 1) / count)
                .map(|range| Segment::with_hash(self, range, shape, hashed))
                .collect();
            let most = segments.iter().map(|s| s.words.len()).max().unwrap_or(0);
            if most <= room {
                return Ok(Partition { segments, longest });
            }
            if count == all.max(1) {
                return Err(Error::Unsupported(format!(
                    "the GPU has no room for a segment of the graph beside tables: {} bytes are \
                     left for it and {} are needed; give the setting `memory` more, or use the \
                     engine `cpu`",
                    4 * room,
                    4 * most
                )));
            }
            count = (2 * count).min(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vertex v of a few has (v mod 5) + 1 neighbours.
    fn edges(vertices: impl Iterator<Item = u32>) -> Edges {
        let (mut sources, mut ends) = (vec![], vec![]);
        for v in vertices {
            for n in 0..=v % 5 {
                sources.push(v);
                ends.push(100 * v + n);
            }
        }
        Edges { sources, ends, labels: vec![] }
    }

    /// A vertex' neighbours as a kernel finds them, and the groups that it reads.
    fn neighbours(segment: &Segment, v: u32, hash: impl Fn(u32, u32) -> u32) -> (Vec<u32>, usize) {
        let list = |from: u32, to: u32| {
            segment.words[(segment.ends + from) as usize..(segment.ends + to) as usize].to_vec()
        };
        if segment.groups == 0 {
            if !(segment.first..=segment.last).contains(&v) {
                return (vec![], 1);
            }
            let at = (v - segment.first) as usize;
            return (list(segment.words[at], segment.words[at + 1]), 1);
        }
        if segment.pairs == 0 {
            let (sources, offsets) = segment.words.split_at(segment.groups as usize);
            return match sources.binary_search(&v) {
                Ok(at) => (list(offsets[at], offsets[at + 1]), 1),
                Err(_) => (vec![], 1),
            };
        }
        let stride = 2 * segment.pairs as usize;
        let (mut group, mut read) = (hash(v, segment.groups), 0);
        loop {
            read += 1;
            let words = &segment.words[group as usize * stride..][..stride];
            for pair in 0..segment.pairs as usize - 1 {
                if words[2 * pair] == v {
                    return (list(words[2 * pair + 1], words[2 * pair + 3]), read);
                }
            }
            group = words[stride - 2];
            if group == NONE {
                return (vec![], read);
            }
        }
    }

    fn expected(v: u32) -> Vec<u32> {
        (0..=v % 5).map(|n| 100 * v + n).collect()
    }

    #[test]
    fn all_vertices_in_one_group_are_found_along_the_chain() {
        let edges = edges((0..100).map(|v| 7 * v));
        let all = 0..edges.ends.len();
        for (pairs, longest) in [(16, 7), (3, 50), (2, 100)] {
            let shape = Shape { pairs, dense: false, rows: Rows::Groups };
            let one = |_, _| 3;
            let segment = Segment::with_hash(&edges, all.clone(), shape, one);
            assert_eq!(segment.overflowing as usize, longest - 1, "{pairs}");
            let mut most = 0;
            for v in 0..100 {
                let (found, read) = neighbours(&segment, 7 * v, one);
                assert_eq!(found, expected(7 * v));
                most = most.max(read);
            }
            assert_eq!(most, longest);
            // One that isn't there is looked for to the end of the chain.
            assert_eq!(neighbours(&segment, 8, one), (vec![], longest));
        }
    }

    #[test]
    fn the_hash_leaves_few_groups_that_overflow_and_dense_labels_have_none() {
        let sparse = edges((0..1000).map(|v| 17 * v));
        let all = 0..sparse.ends.len();
        let shape = Shape { pairs: 16, dense: true, rows: Rows::Groups };
        let segment = Segment::with_hash(&sparse, all.clone(), shape, hashed);
        assert!(segment.groups == 1000 && segment.overflowing == 0);
        let own = Shape { pairs: 2, ..shape };
        let narrow = Segment::with_hash(&sparse, all.clone(), own, hashed);
        let own = Shape { rows: Rows::Search, ..shape };
        let sorted = Segment::with_hash(&sparse, all, own, hashed);
        assert_eq!((sorted.groups, sorted.pairs, sorted.ends), (1000, 0, 2001));
        assert!(narrow.overflowing > 50, "{}", narrow.overflowing);
        let dense = edges((0..1000).map(|v| 3 * v));
        let dense = Segment::with_hash(&dense, 0..dense.ends.len(), shape, hashed);
        assert_eq!((dense.groups, dense.ends), (0, 2999));
        for v in 0..1000 {
            for (segment, step) in [(&segment, 17), (&narrow, 17), (&sorted, 17), (&dense, 3)] {
                assert_eq!(neighbours(segment, step * v, hashed).0, expected(step * v));
                assert_eq!(neighbours(segment, step * v + 1, hashed).0, [0u32; 0]);
            }
        }
    }

    #[test]
    fn segments_have_equal_numbers_of_edges_and_lists_go_on_in_the_next() {
        let edges = edges((0..90).map(|v| 9 * v));
        let shape = Shape { pairs: 4, dense: true, rows: Rows::Groups };
        let partition = edges.cut(7, usize::MAX, shape).unwrap();
        assert_eq!((partition.segments.len(), partition.longest), (7, 5));
        let sizes: Vec<u32> = partition.segments.iter().map(|s| s.edges).collect();
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        let mut across = 0;
        for v in (0..90).map(|v| 9 * v) {
            let parts: Vec<Vec<u32>> =
                partition.segments.iter().map(|s| neighbours(s, v, hashed).0).collect();
            across += usize::from(parts.iter().filter(|p| !p.is_empty()).count() > 1);
            assert_eq!(parts.concat(), expected(v));
        }
        assert!(across > 2, "{across}");
        // As many as fit into the room; a single edge may not.
        let small = edges.cut(1, 60, shape).unwrap();
        assert!(small.segments.len() > 7 && small.segments.iter().all(|s| s.words.len() <= 60));
        let text = edges.cut(1, 2, shape).unwrap_err().to_string();
        assert!(text.contains("8 bytes are left"), "{text}");
        let none = Edges { sources: vec![], ends: vec![], labels: vec![] };
        let none = none.cut(3, 10, shape).unwrap();
        assert_eq!((none.segments.len(), none.segments[0].edges, none.longest), (1, 0, 0));
    }
}

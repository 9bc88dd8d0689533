//! Tables whose rows several devices have: each has those that begin with some of the vertices or edges, and groups are
//! made of the rows of all. Numbers go out as words, little-endian.

use std::collections::{BTreeMap, HashMap};

use gramer_base::error::{Error, Result};
use gramer_engine::Peers;
use gramer_graph::NO_LABEL;
use gramer_pattern::Pattern;

use super::groups::{Group, GroupKey, Groups};
use crate::local::Member;

/// The other devices, and the level of which groups are made.
#[derive(Clone, Copy)]
pub(in crate::table) struct LevelPeers<'t> {
    pub together: &'t dyn Peers,
    pub level: usize,
}

/// Which elements of a table's first column are a device's: every n-th, so that each has as many of every degree.
pub(in crate::table) fn own(member: Option<Member>, all: usize) -> impl Iterator<Item = usize> {
    let Member { own, of } = member.unwrap_or(Member { own: 0, of: 1 });
    (own..all).step_by(of)
}

impl LevelPeers<'_> {
    /// The groups of all devices with the sums of their values.
    ///
    /// # Errors
    /// As [`Peers::join`]; [`Error::Device`] for a message that does not fit the graph.
    pub fn counts(self, own: &Groups) -> Result<Vec<Group>> {
        let mut words = vec![];
        for group in own {
            put(&group.by, &mut words);
            words.extend((0..4).map(|word| (group.value >> (32 * word)) as u32));
        }
        let mut all: HashMap<GroupKey, u128> = HashMap::new();
        self.hear(&words, &mut |words| {
            let by = take(words)?;
            let (value, rest) = words.split_first_chunk::<4>()?;
            *words = rest;
            let value = value.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word));
            let sum = all.entry(by).or_default();
            *sum = sum.checked_add(value)?;
            Some(())
        })?;
        Ok(all.into_iter().map(|(by, value)| Group { by, value }).collect())
    }

    /// The groups of all devices with the least number of different images that a vertex of their pattern has.
    ///
    /// # Errors
    /// As [`LevelPeers::counts`].
    pub fn images(self, own: Said, vertices: usize) -> Result<Vec<Group>> {
        let mut all: HashMap<GroupKey, BTreeMap<u32, Vec<u32>>> = HashMap::new();
        self.hear(&own.end(), &mut |words| {
            let by = take(words)?;
            let ([orbit, number], rest) = words.split_first_chunk()?;
            let (images, rest) = rest.split_at_checked(*number as usize)?;
            *words = rest;
            if images.iter().any(|&v| v as usize >= vertices) {
                return None;
            }
            all.entry(by).or_default().entry(*orbit).or_default().extend_from_slice(images);
            Some(())
        })?;
        let different = |images: &mut Vec<u32>| {
            images.sort_unstable();
            images.dedup();
            images.len() as u128
        };
        let least = |mut orbits: BTreeMap<u32, Vec<u32>>| {
            orbits.values_mut().map(different).min().unwrap_or(0)
        };
        Ok(all.into_iter().map(|(by, orbits)| Group { by, value: least(orbits) }).collect())
    }

    /// Sends these words, and parses the words of all members with `read` until none are left.
    fn hear(self, words: &[u32], read: &mut dyn FnMut(&mut &[u32]) -> Option<()>) -> Result<()> {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for bytes in self.together.join(self.level, bytes)? {
            let (all, rest) = bytes.as_chunks();
            let words: Vec<u32> = all.iter().map(|word| u32::from_le_bytes(*word)).collect();
            let mut left = &words[..];
            let mut whole = rest.is_empty();
            while whole && !left.is_empty() {
                whole = read(&mut left).is_some();
            }
            if !whole {
                return Err(Error::Device(
                    "the devices don't mine the same graph: the rows of one fit no other's".into(),
                ));
            }
        }
        Ok(())
    }
}

/// The images that a device has met, each once: those of an orbit come one after the other.
#[derive(Default)]
pub(in crate::table) struct Said {
    words: Vec<u32>,
    /// The orbit at hand: its pattern, its number, and where the number of its images lies.
    open: Option<(GroupKey, u8, usize)>,
}

impl Said {
    /// One more image.
    pub fn add(&mut self, by: &GroupKey, orbit: u8, image: u32) {
        if !self.open.as_ref().is_some_and(|(of, own, _)| of == by && *own == orbit) {
            put(by, &mut self.words);
            self.words.extend([orbit.into(), 0]);
            self.open = Some((by.clone(), orbit, self.words.len() - 1));
        }
        self.words.push(image);
        if let Some((.., at)) = self.open {
            self.words[at] += 1;
        }
    }

    fn end(self) -> Vec<u32> {
        self.words
    }
}

/// Serializes a group's key: its kind (0: a number, 1: a pattern, 2: a pattern with vertex labels), then the number, or
/// the pattern's vertices with labels and edges with labels.
fn put(by: &GroupKey, words: &mut Vec<u32>) {
    let pattern = match by {
        GroupKey::Number(number) => return words.extend([0, *number]),
        GroupKey::Pattern(pattern) => pattern,
    };
    let edges = pattern.edges();
    let labelled = u32::from(!pattern.vertex_labels().is_empty());
    words.extend([1 + labelled, pattern.vertices() as u32, edges.len() as u32]);
    words.extend((0..pattern.vertices()).map(|v| pattern.vertex_label(v)));
    for (u, v) in edges {
        words.extend([u as u32, v as u32, pattern.edge_label(u, v).unwrap_or(NO_LABEL)]);
    }
}

/// Parses the output of [`put`]; `None` for anything else.
fn take(words: &mut &[u32]) -> Option<GroupKey> {
    let (kind, rest) = words.split_first()?;
    let (first, rest) = rest.split_first()?;
    *words = rest;
    if *kind == 0 {
        return Some(GroupKey::Number(*first));
    }
    let (edges, rest) = words.split_first()?;
    let vertices = *first as usize;
    let (labels, rest) = rest.split_at_checked(vertices)?;
    let (edges, rest) = rest.split_at_checked(3 * *edges as usize)?;
    *words = rest;
    let (edges, _) = edges.as_chunks::<3>();
    let fits = |&[u, v, _]: &[u32; 3]| u != v && u.max(v) < *first;
    if *kind > 2 || vertices > super::MOST_VERTICES || !edges.iter().all(fits) {
        return None;
    }
    let ends: Vec<_> = edges.iter().map(|&[u, v, _]| (u as usize, v as usize)).collect();
    let mut pattern = Pattern::from_edges(vertices, &ends);
    for (v, &label) in labels.iter().enumerate().filter(|_| *kind == 2) {
        pattern.set_vertex_label(v, label);
    }
    for (&(u, v), &[.., label]) in ends.iter().zip(edges).filter(|(_, edge)| edge[2] != NO_LABEL) {
        pattern.set_edge_label(u, v, label);
    }
    Some(GroupKey::Pattern(pattern))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::groups::Key;
    use super::*;

    /// Two devices that have met the same, and something behind it.
    struct Twice(Vec<u8>);

    impl Peers for Twice {
        fn threads(&self) -> usize {
            2
        }

        fn next(&self, _: usize, all: usize) -> Result<Range<usize>> {
            Ok(all..all)
        }

        fn join(&self, _: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
            Ok(vec![found.clone(), [found, self.0.clone()].concat()])
        }
    }

    fn pattern() -> GroupKey {
        let mut pattern = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        pattern.set_vertex_label(2, 7);
        pattern.set_edge_label(0, 1, 5);
        GroupKey::Pattern(pattern)
    }

    #[test]
    fn counts_add_up_and_images_are_counted_once() {
        let twice = Twice(vec![]);
        let others = LevelPeers { together: &twice, level: 1 };
        let group = |by, value| Group { by, value };
        let own = vec![group(pattern(), 1 << 70), group(GroupKey::Number(3), 2)];
        let mut found = others.counts(&Groups::new(&Key::Pattern, own)).unwrap();
        found.sort_by_key(|group| group.value);
        assert_eq!(found, [group(GroupKey::Number(3), 4), group(pattern(), 1 << 71)]);
        let mut said = Said::default();
        for (orbit, image) in [(0, 1), (0, 2), (0, 9), (1, 4), (1, 5)] {
            said.add(&pattern(), orbit, image);
        }
        assert_eq!(others.images(said, 10).unwrap(), [group(pattern(), 2)]);
    }

    #[test]
    fn what_is_of_another_graph_is_refused() {
        let said = |more: &[u32]| {
            let more = more.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (twice, mut said) = (Twice(more), Said::default());
            said.add(&pattern(), 0, 4);
            LevelPeers { together: &twice, level: 1 }.images(said, 5).is_err()
        };
        assert!(!said(&[]));
        // Cut off, an edge to a vertex that isn't there, and an image of no vertex.
        for more in [&[1, 2][..], &[1, 2, 1, 0, 0, 0, 2, 0, 0, 0], &[0, 3, 0, 1, 5]] {
            assert!(said(more), "{more:?}");
        }
        assert!(!said(&[0, 3, 0, 1, 4]));
    }

    #[test]
    fn first_elements_are_divided() {
        let of = |member| own(member, 7).collect::<Vec<_>>();
        assert_eq!(of(None), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(of(Some(Member { own: 1, of: 3 })), [1, 4]);
    }
}

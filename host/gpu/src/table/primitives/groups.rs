//! Aggregation: rows by pattern or by a number, and what is counted of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gramer_graph::NO_LABEL;
use gramer_pattern::{Pattern, SMALL_VERTICES, automorphism_orbits};

use super::mining::Mining;
use super::source::{FunctionRole, Functions};

/// Key of an aggregation (GAMMA, section 4.2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// The pattern of the row, with the labels that the graph has: of a table of vertices the pattern that
    /// they induce, of a table of edges that of the edges. The device writes down each row's pattern and looks it up in a
    /// dictionary; of those that aren't there the host finds the canonical form, once for each way in which one occurs.
    Pattern,
    /// A function `uint key(const embedding *e)` in OpenCL C 1.2, of the whole row. See
    /// [the documentation of this module](super#functions-in-opencl-c).
    Source(String),
}

impl Key {
    /// [`Key::Source`] of this text.
    pub fn source(text: impl Into<String>) -> Self {
        Key::Source(text.into())
    }
}

/// Measure of a group's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// Their number.
    Count,
    /// Minimum-image support, of [`Key::Pattern`] alone: the smallest number of different vertices that a
    /// vertex of the pattern has in these rows. The device sorts pairs of both, so that each is left once.
    Mni,
    /// The sum of a function `ulong value(const embedding *e)` in OpenCL C 1.2, of the whole row.
    Sum(String),
}

impl Measure {
    /// [`Measure::Sum`] of this text.
    pub fn sum(text: impl Into<String>) -> Self {
        Measure::Sum(text.into())
    }
}

/// The common property of the rows of a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupKey {
    /// The canonical form of their pattern.
    Pattern(Pattern),
    /// The value of the function `key`.
    Number(u32),
}

/// Rows with the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The key.
    pub by: GroupKey,
    /// The requested [`Measure`].
    pub value: u128,
}

/// The groups of a table's rows, largest value first, ties by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    key: Key,
    groups: Vec<Group>,
}

impl Groups {
    /// In their order.
    pub(super) fn new(key: &Key, mut groups: Vec<Group>) -> Self {
        groups.sort_by(|a, b| b.value.cmp(&a.value).then_with(|| a.by.cmp(&b.by)));
        Groups { key: key.clone(), groups }
    }

    /// The groups.
    pub fn iter(&self) -> std::slice::Iter<'_, Group> {
        self.groups.iter()
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there was no row.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The value of a pattern, in any order of its vertices; 0 if it is in no row.
    pub fn of_pattern(&self, pattern: &Pattern) -> u128 {
        // No row has as many vertices as larger patterns, which have no canonical form.
        match pattern.vertices() {
            ..=SMALL_VERTICES => self.value(&GroupKey::Pattern(pattern.canonical().0)),
            _ => 0,
        }
    }

    /// The value of a number; 0 if it is in no row.
    pub fn of_number(&self, number: u32) -> u128 {
        self.value(&GroupKey::Number(number))
    }

    fn value(&self, by: &GroupKey) -> u128 {
        self.groups.iter().find(|group| group.by == *by).map_or(0, |group| group.value)
    }

    /// The groups with at least this value: [`Table::filter`](super::Table::filter) keeps their rows.
    pub fn at_least(&self, value: u128) -> Selection {
        self.chosen(|group| group.value >= value)
    }

    /// Selects the groups for which `wanted` is true; [`Table::filter`](super::Table::filter) keeps their rows.
    pub fn chosen(&self, wanted: impl Fn(&Group) -> bool) -> Selection {
        let chosen = self.groups.iter().filter(|&group| wanted(group));
        Selection { key: self.key.clone(), chosen: chosen.map(|group| group.by.clone()).collect() }
    }
}

impl<'a> IntoIterator for &'a Groups {
    type Item = &'a Group;
    type IntoIter = std::slice::Iter<'a, Group>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Groups whose rows are kept (GAMMA's `Filtering` by a pattern table).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub(super) key: Key,
    pub(super) chosen: HashSet<GroupKey>,
}

impl Selection {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    /// Whether rows of this group are kept.
    pub fn has(&self, group: &Group) -> bool {
        self.chosen.contains(&group.by)
    }

    /// Whether no row is kept.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }
}

/// Layout and meaning of the keys of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Whether elements are edges.
    pub edges: bool,
    pub columns: usize,
    pub vertex_labels: bool,
    pub edge_labels: bool,
}

impl Layout {
    pub fn of(mining: &Mining, edges: bool, columns: usize) -> Self {
        let labels = mining.labels();
        let (vertex_labels, edge_labels) = (labels.of_vertices, labels.of_edges);
        Layout { edges, columns, vertex_labels, edge_labels }
    }

    /// Words of the key of a pattern without labels.
    fn shape(&self) -> usize {
        let n = self.columns;
        if self.edges { n.div_ceil(4) } else { (n * (n - 1) / 2).div_ceil(32).max(1) }
    }

    /// Words of the key of a pattern.
    fn words(&self) -> usize {
        let n = self.columns;
        let (vertices, labelled) = if self.edges { (n + 1, n) } else { (n, n * (n - 1) / 2) };
        let labels = if self.vertex_labels { vertices } else { 0 };
        self.shape() + labels + if self.edge_labels { labelled } else { 0 }
    }

    /// Words of a row's key.
    pub fn width(&self, key: &Key) -> usize {
        match key {
            Key::Pattern => self.words(),
            Key::Source(_) => 1,
        }
    }

    /// The pattern that a key stands for, its vertices in the order in which they came.
    fn pattern(&self, key: &[u32]) -> Pattern {
        let n = self.columns;
        let edges: Vec<(usize, usize)> = match self.edges {
            true => (0..n)
                .map(|j| key[j / 4] >> (8 * (j % 4)))
                .map(|ends| ((ends & 15) as usize, (ends >> 4 & 15) as usize))
                .collect(),
            false => pairs(n)
                .enumerate()
                .filter(|&(at, _)| key[at / 32] >> (at % 32) & 1 == 1)
                .map(|(_, pair)| pair)
                .collect(),
        };
        let vertices = match self.edges {
            true => edges.iter().map(|&(u, v)| u.max(v) + 1).max().unwrap_or(0),
            false => n,
        };
        let mut pattern = Pattern::from_edges(vertices, &edges);
        let mut rest = &key[self.shape()..];
        if self.vertex_labels {
            let all = if self.edges { n + 1 } else { n };
            for (at, &label) in rest[..vertices].iter().enumerate() {
                pattern.set_vertex_label(at, label);
            }
            rest = &rest[all..];
        }
        if self.edge_labels {
            let own: Vec<(usize, usize)> = if self.edges { edges } else { pairs(n).collect() };
            for ((u, v), &label) in own.into_iter().zip(rest) {
                if pattern.has_edge(u, v) && label != NO_LABEL {
                    pattern.set_edge_label(u, v, label);
                }
            }
        }
        pattern
    }
}

/// Pairs of vertices in the order of a code's bits.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..n).flat_map(|j| (0..j).map(move |i| (i, j)))
}

/// The meanings of keys, computed once for each key.
pub(super) struct KeyTable<'k> {
    key: &'k Key,
    pub layout: Layout,
    /// By key of a row: its group, and of its vertices the orbit that each is of.
    keys: HashMap<Vec<u32>, (usize, Arc<[u8]>)>,
    groups: HashMap<GroupKey, usize>,
    /// Common key of each group, by its number.
    pub by: Vec<GroupKey>,
}

impl<'k> KeyTable<'k> {
    pub fn new(key: &'k Key, layout: Layout) -> Self {
        KeyTable { key, layout, keys: HashMap::new(), groups: HashMap::new(), by: vec![] }
    }

    /// The number of a row's group, and the orbits of its vertices.
    pub fn group(&mut self, key: &[u32]) -> (usize, &Arc<[u8]>) {
        // The map takes a borrowed key for the search alone: the device may have forgotten it.
        if !self.keys.contains_key(key) {
            let (by, orbits) = match self.key {
                Key::Source(_) => (GroupKey::Number(key[0]), vec![]),
                Key::Pattern => {
                    let pattern = self.layout.pattern(key);
                    let (canonical, order) = pattern.canonical();
                    let mut orbits = vec![0; canonical.vertices()];
                    for (&of_row, orbit) in order.iter().zip(automorphism_orbits(&canonical)) {
                        orbits[of_row] = orbit.trailing_zeros() as u8;
                    }
                    (GroupKey::Pattern(canonical), orbits)
                }
            };
            let group = match self.groups.get(&by) {
                Some(&group) => group,
                None => {
                    self.groups.insert(by.clone(), self.by.len());
                    self.by.push(by);
                    self.by.len() - 1
                }
            };
            self.keys.insert(key.to_vec(), (group, orbits.into()));
        }
        let (group, orbits) = &self.keys[key];
        (*group, orbits)
    }

    /// Common key of a row's group.
    pub fn what(&mut self, key: &[u32]) -> &GroupKey {
        let (group, _) = self.group(key);
        &self.by[group]
    }
}

/// The functions that a key needs.
pub(super) fn functions_of(key: &Key) -> Functions {
    match key {
        Key::Pattern => Functions::default(),
        Key::Source(text) => Functions(vec![(FunctionRole::Key, text.as_str().into())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_for_patterns() {
        let plain = Layout { edges: false, columns: 4, vertex_labels: false, edge_labels: false };
        let square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        assert_eq!(plain.pattern(&[square.bits() as u32]), square);
        let labelled = Layout { vertex_labels: true, edge_labels: true, ..plain };
        assert_eq!((plain.words(), labelled.words()), (1, 1 + 4 + 6));
        let mut key = vec![square.bits() as u32, 5, 6, 7, 8];
        key.extend(
            pairs(4)
                .map(|(i, j)| if square.has_edge(i, j) { (10 * i + j) as u32 } else { NO_LABEL }),
        );
        let pattern = labelled.pattern(&key);
        assert_eq!(pattern.vertex_labels(), [5, 6, 7, 8]);
        assert_eq!((pattern.edge_label(0, 3), pattern.edge_label(2, 1)), (Some(3), Some(12)));
        let one = Layout { columns: 1, ..labelled };
        assert_eq!((one.words(), one.pattern(&[0, 9]).vertex_label(0)), (2, 9));
        // A path of three edges, whose last begins at its first vertex: 0-1, 1-2, 3-0.
        let edges = Layout { edges: true, columns: 3, vertex_labels: true, edge_labels: true };
        assert_eq!(edges.words(), 1 + 4 + 3);
        let path = edges.pattern(&[0x03_21_10, 1, 2, 3, 4, 7, 8, 9]);
        assert_eq!((path.vertices(), path.edges()), (4, vec![(0, 1), (0, 3), (1, 2)]));
        assert_eq!((path.vertex_label(3), path.edge_label(3, 0)), (4, Some(9)));
    }

    #[test]
    fn vertices_that_are_exchanged_share_their_images() {
        let layout = Layout { edges: false, columns: 3, vertex_labels: false, edge_labels: false };
        let mut known = KeyTable::new(&Key::Pattern, layout);
        // Paths 0-1-2 and 1-0-2: the ends are one orbit, the middle another.
        let (first, orbits) = known.group(&[0b101]);
        assert_eq!((orbits[0], orbits[0] != orbits[1]), (orbits[2], true));
        let (second, orbits) = known.group(&[0b011]);
        assert_eq!((first, orbits[1]), (second, orbits[2]));
        assert_ne!(known.group(&[0b111]).0, first);
        assert_eq!(known.by.len(), 2);
    }
}

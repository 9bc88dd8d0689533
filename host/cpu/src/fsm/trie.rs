//! From raw labelled adjacency to pattern numbers, through a tree that remembers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Canonical, MAX, Small};
use super::rows::Rows;

/// Stands for an embedding that can't be part of a frequent one.
pub(super) const DEAD: u32 = u32::MAX;
/// Not looked up yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// Nodes with at most this many possible children find them in an array.
const DENSE_CHILDREN: u64 = 512;
/// Memory for such arrays, in entries.
const DENSE_ENTRIES: usize = 1 << 22;

/// The codes that may be extended, by number of vertices.
pub(super) type CodeSets = Vec<FxHashSet<Small>>;

/// A prefix tree over embeddings in the order in which their vertices were added: a node is a
/// labelled graph with numbered vertices, a child adds a vertex of a class with given edges to
/// the earlier ones. So the canonical code is computed once a node instead of once an embedding.
pub(super) struct Trie<'a> {
    rows: &'a Rows,
    allowed: &'a CodeSets,
    /// Embeddings of this many vertices are only counted: their nodes are pattern numbers.
    depth: usize,
    classes: u64,
    nodes: Vec<Node>,
    tables: Vec<u32>,
    far: FxHashMap<(u32, u32, u64), u32>,
    /// Pattern numbers by code, [`DEAD`] for codes that can't be frequent.
    numbers: FxHashMap<Small, u32>,
    /// Codes by pattern number.
    codes: Vec<Small>,
    /// See [`Trie::of_prefixes`].
    prefixes: bool,
}

struct Node {
    pattern: Small,
    /// Edges of the last vertex: [`Rows::width`] bits for each earlier one.
    mark: u64,
    class: u32,
    /// Position of its children in `tables`; [`DEAD`]: they are in `far`.
    table: u32,
    /// The code, and its vertices as numbers of this graph's.
    code: Small,
    order: [u8; MAX],
}

impl<'a> Trie<'a> {
    /// A tree for embeddings of up to `depth` vertices, those smaller than that being `allowed`.
    pub fn new(rows: &'a Rows, classes: usize, allowed: &'a CodeSets, depth: usize) -> Self {
        let mut trie = Trie {
            rows,
            allowed,
            depth,
            classes: classes as u64,
            nodes: vec![],
            tables: vec![],
            far: FxHashMap::default(),
            numbers: FxHashMap::default(),
            codes: vec![],
            prefixes: false,
        };
        trie.push(Small::EMPTY, Small::EMPTY.canonical(), 0, 0);
        trie
    }

    /// Requires only allowed prefixes of patterns of full depth: in a share, their other sub-patterns may belong to
    /// other shares.
    pub fn of_prefixes(mut self) -> Self {
        self.prefixes = true;
        self
    }

    /// The node of no vertex.
    pub const ROOT: u32 = 0;

    /// Returns the child of `node` for a new vertex of `class` with the edges `mark`: a node, at full depth the number
    /// of a pattern, or [`DEAD`].
    #[inline]
    pub fn child(&mut self, node: u32, mark: u64, class: u32) -> u32 {
        let table = self.nodes[node as usize].table;
        let child = if table != DEAD {
            self.tables[table as usize + (mark * self.classes + u64::from(class)) as usize]
        } else {
            self.far.get(&(node, class, mark)).copied().unwrap_or(UNKNOWN)
        };
        if child == UNKNOWN { self.resolve(node, mark, class) } else { child }
    }

    /// Edges and class of the vertex that was added last.
    pub fn last(&self, node: u32) -> (u64, u32) {
        let node = &self.nodes[node as usize];
        (node.mark, node.class)
    }

    /// The code of a node and the order that leads to it.
    pub fn code(&self, node: u32) -> (&Small, &[u8]) {
        let node = &self.nodes[node as usize];
        (&node.code, &node.order[..node.code.n()])
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The codes by pattern number.
    pub fn into_codes(self) -> Vec<Small> {
        self.codes
    }

    #[cold]
    fn resolve(&mut self, node: u32, mark: u64, class: u32) -> u32 {
        let child = self.make(node, mark, class);
        let table = self.nodes[node as usize].table;
        if table != DEAD {
            let at = table as usize + (mark * self.classes + u64::from(class)) as usize;
            self.tables[at] = child;
        } else {
            self.far.insert((node, class, mark), child);
        }
        child
    }

    fn make(&mut self, node: u32, mark: u64, class: u32) -> u32 {
        let (mut pattern, last) = self.nodes[node as usize].pattern.with_vertex(class);
        let width = self.rows.width;
        for i in 0..last {
            let label = (mark >> (i as u32 * width) & ((1 << width) - 1)) as u32;
            if label == self.rows.forbidden {
                return DEAD;
            }
            if label != 0 {
                pattern.set_edge(i, last, self.rows.label_number(label));
            }
        }
        let size = pattern.n();
        if size == self.depth {
            return self.number(&pattern);
        }
        let canonical = pattern.canonical();
        if size > 1 && !self.allowed[size].contains(&canonical.code) {
            return DEAD;
        }
        self.push(pattern, canonical, mark, class)
    }

    fn push(&mut self, pattern: Small, canonical: Canonical, mark: u64, class: u32) -> u32 {
        let children = self.classes << (self.rows.width * pattern.n() as u32).min(32);
        let dense =
            children <= DENSE_CHILDREN && self.tables.len() + children as usize <= DENSE_ENTRIES;
        let table = if dense {
            self.tables.resize(self.tables.len() + children as usize, UNKNOWN);
            self.tables.len() as u32 - children as u32
        } else {
            DEAD
        };
        let (code, order) = (canonical.code, canonical.order);
        self.nodes.push(Node { pattern, mark, class, table, code, order });
        self.nodes.len() as u32 - 1
    }

    /// The number of a pattern of full depth, [`DEAD`] if a connected sub-pattern with one vertex
    /// fewer isn't allowed.
    fn number(&mut self, pattern: &Small) -> u32 {
        let code = pattern.canonical().code;
        if let Some(&number) = self.numbers.get(&code) {
            return number;
        }
        let n = code.n();
        let alive = self.prefixes
            || (0..n).all(|left_out| {
                let rest: Vec<usize> = (0..n).filter(|&v| v != left_out).collect();
                let sub = code.induced(&rest);
                !sub.is_connected() || self.allowed[n - 1].contains(&sub.canonical().code)
            });
        let number = if alive { self.codes.len() as u32 } else { DEAD };
        if alive {
            self.codes.push(code);
        }
        self.numbers.insert(code, number);
        number
    }
}

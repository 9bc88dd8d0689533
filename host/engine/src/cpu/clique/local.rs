//! The part of the graph in which the cliques of one start vertex are.

use super::super::oriented::Oriented;
use super::super::sets;
use super::row::width;

/// The edges among the targets of a start vertex, its *members*, as a matrix of bits. What a
/// thread holds depends on the largest number of members, not on the graph.
#[derive(Debug)]
pub(crate) struct Local {
    /// The start vertex that the matrix belongs to.
    start: Option<u32>,
    symmetric: bool,
    members: usize,
    width: usize,
    rows: Vec<u64>,
}

impl Local {
    /// For matrices whose row i has the members next to member i, or only the smaller ones.
    pub fn new(symmetric: bool) -> Self {
        Local { start: None, symmetric, members: 0, width: 1, rows: vec![] }
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
        for (i, &t) in targets.iter().enumerate() {
            let row = &mut self.rows[i * width..(i + 1) * width];
            // What `t` leads to is smaller.
            sets::positions(&targets[..i], oriented.targets(t), row);
        }
        if self.symmetric {
            self.mirror();
        }
        true
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

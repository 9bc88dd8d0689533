//! Pairs of pattern vertices whose images must not be joined.

use crate::{Pattern, VertexSet};

impl Pattern {
    /// Forbids an edge between the images of i and j.
    ///
    /// ```
    /// use gramer_pattern::{Pattern, automorphism_count};
    ///
    /// let mut path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
    /// path.set_absent(0, 2);
    /// assert_eq!(path.absences(), [(0, 2)]);
    /// assert_eq!(automorphism_count(&path), 1, "the other end has no such condition");
    /// ```
    ///
    /// # Panics
    /// If i and j are joined or the same.
    pub fn set_absent(&mut self, i: usize, j: usize) {
        assert!(i != j && !self.has_edge(i, j), "{i} and {j} are joined");
        if self.absent.is_empty() {
            self.absent = vec![0; self.vertices()];
        }
        self.absent[i] |= 1 << j;
        self.absent[j] |= 1 << i;
    }

    /// Allows an edge between the images of i and j again.
    pub fn clear_absent(&mut self, i: usize, j: usize) {
        if self.is_absent(i, j) {
            self.absent[i] &= !(1 << j);
            self.absent[j] &= !(1 << i);
        }
        if self.absent.iter().all(|&row| row == 0) {
            self.absent.clear();
        }
    }

    /// Pairs of [`Pattern::absences`] whose vertices are in different components.
    pub fn absences_between_components(&self) -> Vec<(usize, usize)> {
        let components = self.components();
        let apart = |&(i, j): &(usize, usize)| {
            !components.iter().any(|component| component >> i & component >> j & 1 == 1)
        };
        self.absences().into_iter().filter(apart).collect()
    }

    /// Whether the images of i and j must not be joined.
    #[inline]
    pub fn is_absent(&self, i: usize, j: usize) -> bool {
        self.absent(i) >> j & 1 == 1
    }

    /// The vertices to whose images that of `i` must not be joined, as bits.
    #[inline]
    pub fn absent(&self, i: usize) -> VertexSet {
        self.absent.get(i).copied().unwrap_or(0)
    }

    /// Pairs (i, j), i < j, ascending, that must not be joined.
    pub fn absences(&self) -> Vec<(usize, usize)> {
        let n = self.absent.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        pairs.filter(|&(i, j)| self.is_absent(i, j)).collect()
    }

    /// Whether any pair must not be joined.
    pub fn has_absences(&self) -> bool {
        !self.absent.is_empty()
    }

    /// Those of the sub-pattern that `vertices` induce.
    pub(crate) fn induced_absences(&self, vertices: &[usize]) -> Vec<VertexSet> {
        let pairs = || vertices.iter().map(|&old| self.absent(old));
        let of = |row: VertexSet| {
            let places = vertices.iter().enumerate();
            places.fold(0, |set, (new, &old)| set | (row >> old & 1) << new)
        };
        let rows: Vec<VertexSet> = pairs().map(of).collect();
        if rows.iter().all(|&row| row == 0) { vec![] } else { rows }
    }
}

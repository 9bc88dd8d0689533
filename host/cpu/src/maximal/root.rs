//! What surrounds one start vertex.

use std::ops::ControlFlow;

use gramer_graph::View;

use super::super::clique::row::{Row, by_width, ones, width};
use super::super::oriented::Oriented;
use super::super::reach::{Form, NOWHERE, Places};

/// The targets of a start vertex, its *members*, with the edges among them, and what it is excluded by.
///
/// A list of neighbours becomes a row of bits by looking up the place of each entry: a walk along both lists
/// would have the members besides, again for each list.
pub(super) struct Root<'a, F: Form> {
    /// The start vertex that this belongs to.
    start: Option<u32>,
    /// The positions of the members.
    place: Places<'a, F>,
    width: usize,
    /// By member: the members next to it.
    rows: Vec<u64>,
    /// By excluded vertex: the members next to it, of which there are some.
    outside: Vec<u64>,
    /// Whether an excluded vertex is next to all members.
    covered: bool,
}

impl<'a, F: Form> Root<'a, F> {
    pub fn new(oriented: &'a Oriented) -> Self {
        Root {
            start: None,
            place: Places::new(oriented.vertices(), 1),
            width: 1,
            rows: vec![],
            outside: vec![],
            covered: false,
        }
    }

    /// Enters `start`, which has members; returns whether it can have maximal cliques: an excluded vertex next to all
    /// members would extend each of them.
    pub fn enter(&mut self, oriented: &'a Oriented, graph: View<'_>, start: u32) -> bool {
        if self.start != Some(start) {
            self.start = Some(start);
            let members = oriented.targets(start);
            self.width = width(members.len());
            self.place.enter(members);
            by_width!(self.width, R => {
                let none = R::full(0, self.width);
                // Most start vertices are left with that.
                self.covered = self.exclude(oriented, graph, start, &none).is_break();
                if !self.covered {
                    self.connect(oriented, members, &none);
                }
            });
            self.place.leave();
        }
        !self.covered
    }

    /// Excluded from the start: what leads to `start`, since those cliques were or will be found from
    /// there. Ends at the first that is next to all members.
    fn exclude<R: Row>(
        &mut self,
        oriented: &Oriented,
        graph: View<'_>,
        start: u32,
        none: &R,
    ) -> ControlFlow<()> {
        self.outside.clear();
        let members = oriented.targets(start).len();
        for source in oriented.sources(graph, start) {
            // Members come before `start`.
            let row = self.row(oriented.targets(source).iter().take_while(|&&n| n < start), none);
            let near = row.size() as usize;
            if near == members {
                return ControlFlow::Break(());
            }
            // Without members it can't exclude anything further down.
            if near > 0 {
                self.outside.extend_from_slice(row.words());
            }
        }
        ControlFlow::Continue(())
    }

    /// Finds the edges among the members.
    fn connect<R: Row>(&mut self, oriented: &Oriented, members: &[u32], none: &R) {
        let width = self.width;
        self.rows.clear();
        self.rows.resize(members.len() * width, 0);
        for (i, list) in oriented.targets_of(members).enumerate() {
            // What a member leads to is smaller.
            let row = self.row(list.iter(), none);
            let (above, own) = self.rows.split_at_mut(i * width);
            own[..width].copy_from_slice(row.words());
            let (word, bit) = (i / 64, 1 << (i % 64));
            for j in ones(row.words()) {
                above[j * width + word] |= bit;
            }
        }
    }

    /// The members in a list.
    #[inline(always)]
    fn row<'l, R: Row>(&self, list: impl Iterator<Item = &'l u32>, none: &R) -> R {
        let mut row = none.clone();
        let words = row.words_mut();
        for &n in list {
            let at = self.place.of(n);
            let bit = u64::from(at != NOWHERE) << (at % 64);
            // Without a branch, which would be guessed wrong often, where rows have a length known here.
            match words.len().is_power_of_two() {
                true => words[(at as usize / 64) & (words.len() - 1)] |= bit,
                false if at != NOWHERE => words[at as usize / 64] |= bit,
                false => {}
            }
        }
        row
    }

    /// Words of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A row each of the members next to a member, one after the other.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// A row each of the members next to an excluded vertex that isn't one.
    pub fn outside(&self) -> &[u64] {
        &self.outside
    }
}

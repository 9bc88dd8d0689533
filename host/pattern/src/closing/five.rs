//! The 21 patterns of five vertices in closed form.
//!
//! After ESCAPE (Pinar, Seshadhri and Vishal, WWW 2017): every edge-induced number is a sum over
//! vertices, edges and triangles of products of what these are part of — degrees, triangles,
//! 4-cycles, 4-cliques — less the choices where two of the five vertices are one. Four need more than such
//! sums: the 5-cycle, the 5-clique, and the two over pairs of vertices.

use crate::{Dictionary, Pattern};

/// Sums over vertices, edges, triangles and pairs of vertices; each number is one of edge-induced choices, some of
/// which aren't five different vertices.
///
/// ```
/// use gramer_pattern::closing::five::Sums;
///
/// // A star of four leaves is one star, and nothing else.
/// let sums = Sums { star: 1, ..Sums::default() };
/// let counts = sums.edge_induced().unwrap();
/// assert_eq!(counts.iter().sum::<u128>(), 1);
/// // A diamond has bulls that are none.
/// assert!(Sums { diamond: 1, ..Sums::default() }.edge_induced().is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// Over vertices of degree d: C(d, 4).
    pub star: u128,
    /// Over edges both ways, from v to u: C(d_v − 1, 2) · (d_u − 1).
    pub fork: u128,
    /// Over vertices: pairs of their neighbours' other edges, of different neighbours.
    pub path: u128,
    /// Triangles with a tail: over vertices in t triangles, t · (d − 2).
    pub tailed: u128,
    /// Over vertices: t · C(d − 2, 2).
    pub cricket: u128,
    /// Over edges in t triangles: t · (d_u − 2)(d_v − 2).
    pub bull: u128,
    /// Over vertices: triangles × the edges of neighbours outside of both.
    pub lollipop: u128,
    /// Over vertices: C(t, 2).
    pub hourglass: u128,
    /// Over edges: C(t, 2).
    pub diamond: u128,
    /// Over edges: C(t, 2) · (d_u + d_v − 6).
    pub dart: u128,
    /// Over triangles and their corners: (t − 1) of the opposite edge · (d − 2).
    pub kite: u128,
    /// Over vertices: the 4-cycles that each is in, with chords or without.
    pub cycle4: u128,
    /// Over vertices: 4-cycles · (d − 2).
    pub banner: u128,
    /// Over edges: 4-cycles · t.
    pub house: u128,
    /// Over triangles and pairs of their edges: (t − 1)(t′ − 1).
    pub gem: u128,
    /// Over edges: C(t, 3).
    pub book: u128,
    /// Over vertices: the 4-cycles among their neighbours.
    pub wheel: u128,
    /// Over triangles: the 4-cliques that each is in, q.
    pub clique4: u128,
    /// Over triangles: q · (d_u + d_v + d_w − 9).
    pub clique4_tail: u128,
    /// Over triangles: q · (t + t′ + t″ − 6).
    pub clique4_roof: u128,
    /// Over triangles: C(q, 2).
    pub nearly_clique: u128,
    /// Over pairs of vertices with n common neighbours: the edges among these · (n − 2).
    pub collision_edge: u128,
    /// Over pairs of vertices: C(n, 3).
    pub collisions: u128,
    /// Triangles.
    pub triangles: u128,
    /// 5-cycles, with chords or without.
    pub cycles: u128,
    /// 5-cliques.
    pub cliques: u128,
}

/// n choose k, for the small k of patterns.
#[inline]
pub fn choose(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |product, i| product * n.saturating_sub(i) / (i + 1))
}

impl Sums {
    /// The sums, in the order of the fields.
    pub fn numbers(&mut self) -> [&mut u128; 26] {
        [
            &mut self.star,
            &mut self.fork,
            &mut self.path,
            &mut self.tailed,
            &mut self.cricket,
            &mut self.bull,
            &mut self.lollipop,
            &mut self.hourglass,
            &mut self.diamond,
            &mut self.dart,
            &mut self.kite,
            &mut self.cycle4,
            &mut self.banner,
            &mut self.house,
            &mut self.gem,
            &mut self.book,
            &mut self.wheel,
            &mut self.clique4,
            &mut self.clique4_tail,
            &mut self.clique4_roof,
            &mut self.nearly_clique,
            &mut self.collision_edge,
            &mut self.collisions,
            &mut self.triangles,
            &mut self.cycles,
            &mut self.cliques,
        ]
    }

    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: &Sums) {
        let mut other = other.clone();
        for (sum, other) in self.numbers().into_iter().zip(other.numbers()) {
            *sum += *other;
        }
    }

    /// The edge-induced numbers in the order of the dictionary; `None` for numbers that are no sums of a
    /// graph. What is subtracted are the choices where vertices coincide.
    pub fn edge_induced(&self) -> Option<Vec<u128>> {
        let Sums { triangles, cycles, cliques, collisions, diamond, tailed, .. } = *self;
        let (clique4, cycle4) = (self.clique4 / 4, self.cycle4 / 4);
        let less = |sum: u128, coincide: u128| sum.checked_sub(coincide);
        let known: [(&[(usize, usize)], u128); 21] = [
            (&[(0, 1), (0, 2), (0, 3), (0, 4)], self.star),
            (&[(0, 1), (0, 2), (0, 3), (3, 4)], less(self.fork, 2 * tailed)?),
            (
                &[(0, 1), (1, 2), (2, 3), (3, 4)],
                less(self.path, 4 * cycle4 + 2 * tailed + 3 * triangles)?,
            ),
            (&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], cycles),
            (&[(0, 1), (1, 2), (2, 0), (0, 3), (0, 4)], self.cricket),
            (&[(0, 1), (1, 2), (2, 0), (0, 3), (1, 4)], less(self.bull, 2 * diamond)?),
            (&[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4)], less(self.lollipop, 4 * diamond)?),
            (&[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4)], less(self.banner, 2 * diamond)?),
            (&[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)], less(self.hourglass, 2 * diamond)?),
            (&[(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (0, 4)], self.dart),
            (&[(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 4)], less(self.kite, 12 * clique4)?),
            (&[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], less(self.house, 4 * diamond)?),
            (&[(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)], collisions),
            (
                &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)],
                less(self.gem, 12 * clique4)?,
            ),
            (&[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)], self.book),
            (&[(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3)], self.collision_edge),
            (&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4)], self.clique4_tail / 3),
            (&[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4), (4, 1)], self.wheel),
            (
                &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4), (1, 4)],
                self.clique4_roof / 2,
            ),
            (
                &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)],
                self.nearly_clique,
            ),
            (
                &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)],
                cliques,
            ),
        ];
        let dictionary = Dictionary::of(5);
        let mut counts = vec![0; dictionary.patterns().len()];
        for (edges, count) in known {
            let bits = Pattern::from_edges(5, edges).bits() as u32;
            counts[dictionary.number(bits).expect("it is connected")] = count;
        }
        Some(counts)
    }
}

//! Counts of a pattern from the sums of one program, or of two.
//!
//! With t(e) the triangles on an edge e = {u, v}, and c(e) the 4-cycles through it, Σ t(e) c(e) has each house once and
//! each diamond four times: at each of its four outer edges the third vertex of the triangle is on the cycle. c(e) is
//! Σ (|N(v) ∩ N(w)| - 1) over the neighbours w ≠ v of u: one set for each path of two edges, with the end of fewer
//! neighbours as u.

use gramer_pattern::task::Induced;
use gramer_pattern::{Pattern, named};

use super::{Kind, Program, Term, Word};

/// Number of degenerate houses of a diamond: the fifth vertex is one of its four.
const DIAMONDS: u128 = 4;

/// Programs with which the core counts a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountPlan {
    /// The program whose occurrences are those of the pattern.
    pub program: Program,
    /// Factor of a second program, whose count is subtracted.
    pub less: Option<(u128, Program)>,
    automorphisms: u128,
}

impl CountPlan {
    /// The programs that count the occurrences of a pattern from all roots.
    ///
    /// # Errors
    /// As [`Program::of`].
    pub fn of(pattern: &Pattern, induced: Induced, levels: u32) -> Result<Self, String> {
        let program = Program::counting(pattern, induced, levels)?;
        let automorphisms = program.automorphisms;
        let small = pattern.vertices() == 5 && !pattern.has_vertex_labels();
        let house = || named("house").is_some_and(|house| pattern.canonical().0 == house);
        if induced == Induced::Edge && small && levels >= 3 && house() {
            let diamond = Pattern::from_edges(4, &[(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]);
            let less = (DIAMONDS, Program::counting(&diamond, induced, levels)?);
            return Ok(CountPlan { program: house_program(), less: Some(less), automorphisms });
        }
        Ok(CountPlan::from(program))
    }

    /// Occurrences, from the sums of all clusters. With a part of the roots of the one and all of the other it is no more than
    /// there are.
    pub fn occurrences(&self, sum: u128, less: u128) -> u128 {
        let less = self.less.as_ref().map_or(0, |(times, other)| times * other.occurrences(less));
        self.program.occurrences(sum).saturating_sub(less)
    }

    /// Mappings, in the same way.
    pub fn mappings(&self, sum: u128, less: u128) -> u128 {
        self.occurrences(sum, less) * self.automorphisms
    }
}

impl From<Program> for CountPlan {
    fn from(program: Program) -> Self {
        CountPlan { automorphisms: program.automorphisms, program, less: None }
    }
}

/// Σ t(e) c(e). Vertex 0 is the end of e that has fewer neighbours, 1 the other, 2 the cycle's next one.
fn house_program() -> Program {
    const NEAR: u8 = 0; // the neighbours of 0
    const ROOFS: u8 = 1; // those of both ends
    const FAR: u8 = 2; // the neighbours of 1
    let word = |kind, stored, streams| Word {
        kind,
        difference: false,
        pairs: false,
        stored,
        streams,
        to: 0,
        bounds: 0,
        conflicts: 0,
        label: 0,
        term: Term::Sum,
    };
    let make = |stored, of, to| Word { to, ..word(Kind::Make, stored, Some(of)) };
    let count = |stored, streams, term| Word { term, ..word(Kind::Count, stored, streams) };
    // |N(1) ∩ N(2)| has vertex 0, too: so the roofs are taken off once.
    let words = vec![
        make(None, 0, NEAR),
        Word { bounds: 1, ..word(Kind::Walk, Some(NEAR), None) },
        make(Some(NEAR), 1, ROOFS),
        make(None, 1, FAR),
        count(Some(ROOFS), None, Term::First),
        Word { conflicts: 1 << 1, ..word(Kind::Walk, Some(NEAR), None) },
        count(Some(FAR), Some(2), Term::Second),
        count(Some(ROOFS), None, Term::Last),
    ];
    Program {
        words,
        levels: 3,
        least: 2,
        root: None,
        labels: vec![],
        placed: vec![0, 1, 2],
        factor: 1,
        automorphisms: 1,
    }
}

//! Cliques of k vertices that lack an edge, and those that lack none, as subgraphs: k − 2 vertices that are all
//! adjacent, and two more that are adjacent to all of them.
//!
//! A *base* is a clique of k − 2 vertices, an *extension* of it a vertex adjacent to all of its members. A base with e
//! extensions is in e (e − 1) / 2 such subgraphs. Bases belong to their member that is peeled first, the start vertex;
//! the others are targets of it. An extension is a target of the start vertex as well, or a source of it that leads to
//! all other members. Rows of bits have both, a row for each target, so that extensions of a base are the bits that
//! its rows have in common.

use std::ops::{ControlFlow, Range};

use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_base::memory::filled_or_unwind;
use gramer_graph::View;

use super::super::oriented::Oriented;
use super::local::Local;
use super::row::ones;
use super::{Job, Resident, of_size, oriented, planned, units};

/// Minimum number of vertices: below it a base has no vertex but the start vertex and one more.
pub(crate) const LEAST: usize = 5;

/// Number of subgraphs that are a clique of `k` vertices without one edge, and whether the run was finished.
///
/// # Errors
/// Those of orienting the graph.
pub(crate) fn count(graph: &Resident, k: usize, job: Job<'_>) -> Result<(u128, bool)> {
    assert!(k >= LEAST);
    let _plan = planned(graph, job.context, |shape| of_size(k - 1, shape));
    let Some(oriented) = oriented(graph, job.context)? else { return Ok((0, false)) };
    let units = units(graph, oriented, k - 2, job);
    let view = graph.graph.view();
    let ran = job.run(
        &units,
        || Extensions::new(view, oriented),
        |extensions, unit| {
            extensions.enter(unit.start, k - 3);
            extensions.bases(unit.range(), k - 4, &job.context.cancel)
        },
    );
    Ok(ran.sum(|extensions| extensions.sum))
}

/// Candidates for extending the bases of a start vertex.
struct Extensions<'a> {
    view: View<'a>,
    oriented: &'a Oriented,
    /// The edges among the targets.
    local: Local,
    /// By number: its position among the targets, or [`NONE`].
    position: Vec<u32>,
    /// Words of a row.
    width: usize,
    /// A row for each target: the targets adjacent to it, then the sources.
    rows: Vec<u64>,
    /// Extensions of the vertices chosen so far, a set for each level.
    sets: Vec<u64>,
    /// The targets to which a source leads, of each source that leads to enough, one after the other.
    hits: Vec<u32>,
    /// End of the hits of each such source.
    ends: Vec<usize>,
    sum: u128,
}

/// Not a target.
const NONE: u32 = u32::MAX;

impl<'a> Extensions<'a> {
    fn new(view: View<'a>, oriented: &'a Oriented) -> Self {
        Extensions {
            view,
            oriented,
            local: Local::new(true),
            position: filled_or_unwind(NONE, oriented.vertices()),
            width: 0,
            rows: vec![],
            sets: vec![],
            hits: vec![],
            ends: vec![],
            sum: 0,
        }
    }

    /// Makes the rows of `start`, unless they are there; sources that lead to fewer than `least` targets extend no base.
    fn enter(&mut self, start: u32, least: usize) {
        if !self.local.enter(self.oriented, start) {
            return;
        }
        let targets = self.oriented.targets(start);
        for (at, &target) in (0..).zip(targets) {
            self.position[target as usize] = at;
        }
        self.hits.clear();
        self.ends.clear();
        for source in self.oriented.sources(self.view, start) {
            let before = self.hits.len();
            let positions =
                self.oriented.targets(source).iter().map(|&t| self.position[t as usize]);
            self.hits.extend(positions.filter(|&at| at != NONE));
            match self.hits.len() - before >= least {
                true => self.ends.push(self.hits.len()),
                false => self.hits.truncate(before),
            }
        }
        for &target in targets {
            self.position[target as usize] = NONE;
        }
        let own = self.local.width();
        self.width = own + self.ends.len().div_ceil(64);
        self.rows.clear();
        self.rows.resize(targets.len() * self.width, 0);
        let (rows, width) = (&mut self.rows, self.width);
        for (row, members) in rows.chunks_mut(width).zip(self.local.rows().chunks(own)) {
            row[..own].copy_from_slice(members);
        }
        let mut begin = 0;
        for (source, &end) in self.ends.iter().enumerate() {
            let (word, bit) = (own + source / 64, 1 << (source % 64));
            for &at in &self.hits[begin..end] {
                rows[at as usize * width + word] |= bit;
            }
            begin = end;
        }
    }

    /// Adds up the bases of the start vertex, one of the targets at the positions `part`, and `more` targets before
    /// that one.
    fn bases(&mut self, part: Range<usize>, more: usize, cancel: &Cancel) -> ControlFlow<()> {
        self.sets.resize(more * self.width, 0);
        let level = Level { own: self.local.width(), width: self.width, rows: &self.rows };
        for i in part {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            self.sum += level.below(i, level.row(i), &mut self.sets, more, cancel)?;
        }
        ControlFlow::Continue(())
    }
}

/// Data shared by all levels.
struct Level<'a> {
    /// Words of a row that are of targets.
    own: usize,
    width: usize,
    rows: &'a [u64],
}

impl<'a> Level<'a> {
    fn row(&self, target: usize) -> &'a [u64] {
        &self.rows[target * self.width..][..self.width]
    }

    /// The pairs of extensions of all bases that have the vertices chosen so far, whose common extensions are `set`, and
    /// `more` ≥ 1 targets of `set` before `last`.
    fn below(
        &self,
        last: usize,
        set: &[u64],
        sets: &mut [u64],
        more: usize,
        cancel: &Cancel,
    ) -> ControlFlow<(), u128> {
        let mut sum = 0u128;
        for m in ones(&set[..self.own]).take_while(|&m| m < last) {
            let row = self.row(m);
            if more == 1 {
                let both = |(a, b): (&u64, &u64)| u64::from((a & b).count_ones());
                let extensions: u64 = set.iter().zip(row).map(both).sum();
                sum += u128::from(extensions * extensions.saturating_sub(1) / 2);
            } else {
                if cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                let (deeper, others) = sets.split_at_mut(self.width);
                for ((to, a), b) in deeper.iter_mut().zip(set).zip(row) {
                    *to = a & b;
                }
                sum += self.below(m, deeper, others, more - 1, cancel)?;
            }
        }
        ControlFlow::Continue(sum)
    }
}

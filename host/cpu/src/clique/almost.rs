//! Cliques of k vertices that lack an edge, and those that lack none, as subgraphs: k − 2 vertices that are all
//! adjacent, and two more that are adjacent to all of them.
//!
//! A *base* is a clique of k − 2 vertices, an *extension* of it a vertex adjacent to all of its members. A base with e
//! extensions is in e (e − 1) / 2 such subgraphs. Bases belong to their member that is peeled first, the start vertex;
//! the others are targets of it. An extension is a target of the start vertex as well, or a source of it that leads to
//! all other members. Rows of bits have both, a row for each target, so that extensions of a base are the bits that
//! its rows have in common.
//!
//! For [homomorphisms](crate::homomorphism) both extensions may be one vertex: a base counts e² then, at each of its
//! members.

use std::ops::{ControlFlow, Range};

use gramer_base::context::{Cancel, Context};
use gramer_base::error::Result;
use gramer_base::memory::filled_or_unwind;
use gramer_engine::per::Numbers;
use gramer_graph::View;

use super::super::oriented::Oriented;
use super::super::per::sums::Sums;
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
        || (Extensions::new(view, oriented), Pairs::default()),
        |(extensions, pairs), unit| {
            extensions.enter(unit.start, k - 3);
            extensions.bases(unit.range(), k - 4, pairs, &job.context.cancel)
        },
    );
    Ok(ran.sum(|(_, pairs)| pairs.sum))
}

/// By vertex, the sum of e² over the bases of k − 2 vertices that it belongs to, e their extensions; every process of
/// a run counts all of them. `None` if the run was cancelled.
///
/// # Errors
/// Those of orienting the graph; [`Error::Unsupported`] for a sum of more than 128 bits.
///
/// [`Error::Unsupported`]: gramer_base::error::Error::Unsupported
pub(crate) fn squares(graph: &Resident, k: usize, context: &Context) -> Result<Option<Numbers>> {
    assert!(k >= LEAST);
    let _plan = planned(graph, context, |shape| of_size(k - 1, shape));
    let Some(oriented) = oriented(graph, context)? else { return Ok(None) };
    let job = Job::whole(context);
    let units = units(graph, oriented, k - 2, job);
    let view = graph.graph.view();
    let sums = Sums::new(oriented.vertices());
    let ran = job.run(
        &units,
        || (Extensions::new(view, oriented), Squares::default()),
        |(extensions, squares), unit| {
            extensions.enter(unit.start, k - 3);
            let targets = oriented.targets(unit.start);
            squares.by_member.clear();
            squares.by_member.resize(targets.len(), 0);
            squares.sum = 0;
            extensions.bases(unit.range(), k - 4, squares, &context.cancel)?;
            sums.add(unit.start as usize, squares.sum);
            for (&target, &sum) in targets.iter().zip(&squares.by_member) {
                sums.add(target as usize, sum);
            }
            ControlFlow::Continue(())
        },
    );
    if !ran.complete {
        return Ok(None);
    }
    sums.get(oriented.numbers().iter().map(|&n| n as usize)).map(Some)
}

/// Sums over the bases of a start vertex.
trait Tally {
    /// Value of a base with this many extensions.
    fn value(extensions: u64) -> u128;

    /// Adds the value of bases with a target, by its position.
    fn add(&mut self, target: usize, value: u128);

    /// Adds the value of bases of the start vertex.
    fn add_all(&mut self, value: u128);
}

/// Pairs of extensions.
#[derive(Default)]
struct Pairs {
    sum: u128,
}

impl Tally for Pairs {
    #[inline(always)]
    fn value(extensions: u64) -> u128 {
        u128::from(extensions * extensions.saturating_sub(1) / 2)
    }

    #[inline(always)]
    fn add(&mut self, _target: usize, _value: u128) {}

    fn add_all(&mut self, value: u128) {
        self.sum += value;
    }
}

/// Squares of the number of extensions.
#[derive(Default)]
struct Squares {
    by_member: Vec<u128>,
    sum: u128,
}

impl Tally for Squares {
    #[inline(always)]
    fn value(extensions: u64) -> u128 {
        u128::from(extensions).pow(2)
    }

    #[inline(always)]
    fn add(&mut self, target: usize, value: u128) {
        self.by_member[target] += value;
    }

    fn add_all(&mut self, value: u128) {
        self.sum += value;
    }
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
    fn bases<T: Tally>(
        &mut self,
        part: Range<usize>,
        more: usize,
        tally: &mut T,
        cancel: &Cancel,
    ) -> ControlFlow<()> {
        self.sets.resize(more * self.width, 0);
        let level = Level { own: self.local.width(), width: self.width, rows: &self.rows };
        for i in part {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            let value = level.below(i, level.row(i), &mut self.sets, more, (tally, cancel))?;
            tally.add(i, value);
            tally.add_all(value);
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

    /// The value of all bases that have the vertices chosen so far, whose common extensions are `set`, and `more` ≥ 1
    /// targets of `set` before `last`.
    fn below<T: Tally>(
        &self,
        last: usize,
        set: &[u64],
        sets: &mut [u64],
        more: usize,
        (tally, cancel): (&mut T, &Cancel),
    ) -> ControlFlow<(), u128> {
        let mut sum = 0u128;
        for m in ones(&set[..self.own]).take_while(|&m| m < last) {
            let row = self.row(m);
            if more == 1 {
                let both = |(a, b): (&u64, &u64)| u64::from((a & b).count_ones());
                let extensions: u64 = set.iter().zip(row).map(both).sum();
                let value = T::value(extensions);
                tally.add(m, value);
                sum += value;
            } else {
                if cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                let (deeper, others) = sets.split_at_mut(self.width);
                for ((to, a), b) in deeper.iter_mut().zip(set).zip(row) {
                    *to = a & b;
                }
                let value = self.below(m, deeper, others, more - 1, (&mut *tally, cancel))?;
                tally.add(m, value);
                sum += value;
            }
        }
        ControlFlow::Continue(sum)
    }
}

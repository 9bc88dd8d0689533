//! Maximal cliques, by size.
//!
//! Bron and Kerbosch's search with Tomita's pivot, started from every vertex in degeneracy order
//! (Eppstein, Löffler and Strash, 2010). The candidates of a start vertex are its targets in the
//! oriented graph, so the sets of the search are short rows of bits.

use std::ops::{ControlFlow, Range};

use crate::{Count, Outcome, Sink};
use gramer_graph::VertexId;
use gramer_graph::context::{Context, Looks};
use gramer_graph::error::{Error, Result};
use gramer_pattern::{MAX_VERTICES, Pattern};

use super::clique::ones;
use super::oriented::Oriented;
use super::{Job, Resident, Starts, run_units};

/// One entry a size, from 1 to the largest clique.
pub(super) fn run(graph: &Resident<'_>, job: Job<'_>) -> Result<Outcome> {
    let (sizes, complete) = by_size(graph, job)?;
    let by_size = || sizes.iter().copied().enumerate().skip(1);
    let results = by_size()
        .take_while(|&(size, _)| size <= MAX_VERTICES)
        .map(|(size, count)| Count { pattern: Pattern::clique(size), count })
        .collect();
    let larger_cliques = by_size().filter(|&(size, _)| size > MAX_VERTICES).collect();
    Ok(Outcome { results, larger_cliques, complete, ..Outcome::default() })
}

/// Number of maximal cliques by size (index 0 is unused), and whether the run was finished.
fn by_size(graph: &Resident<'_>, job: Job<'_>) -> Result<(Vec<u128>, bool)> {
    let Job { sink, context, .. } = job;
    let oriented = match graph.oriented(&context.cancel) {
        Ok(oriented) => oriented,
        Err(Error::Interrupted) => return Ok((vec![], false)),
        Err(other) => return Err(other),
    };
    let mut looks = Looks::new(&context.cancel);
    let mut sources = vec![vec![]; oriented.vertices()];
    for n in 0..oriented.vertices() as u32 {
        if looks.check(1 + oriented.targets(n).len()).is_err() {
            return Ok((vec![], false));
        }
        for &t in oriented.targets(n) {
            sources[t as usize].push(n);
        }
    }
    let targets = |n: u32| oriented.targets(n).len();
    // Every start vertex has at least one position, since a vertex without targets may still be
    // a maximal clique (an isolated vertex).
    let units = Starts::numbered(graph.graph.view(), &oriented.vertex).units(
        job,
        |n| targets(n).max(1),
        |n| (targets(n) as u64).pow(3) + sources[n as usize].len() as u64 + 1,
    );
    let (states, complete) = run_units(
        &units,
        context,
        || Search::new(oriented, &sources, sink, context),
        |search, unit| search.start(unit.start, unit.range()),
    );
    let mut sizes = vec![0; oriented.degeneracy() + 2];
    for state in &states {
        for (total, count) in sizes.iter_mut().zip(&state.found) {
            *total += count;
        }
    }
    while sizes.len() > 1 && sizes.last() == Some(&0) {
        sizes.pop();
    }
    Ok((sizes, complete))
}

struct Search<'a> {
    oriented: &'a Oriented,
    /// By vertex: those that lead to it.
    sources: &'a [Vec<u32>],
    sink: Option<&'a dyn Sink>,
    context: &'a Context,
    /// By size: maximal cliques found.
    found: Vec<u128>,
    /// By vertex: its position among the targets of the start vertex, or `u32::MAX`.
    position: Vec<u32>,
    /// The targets of the start vertex.
    members: Vec<u32>,
    /// Words a row.
    words: usize,
    /// Row i, for i < members: members next to member i. Then one row for each excluded vertex.
    rows: Vec<u64>,
    /// The clique so far, in the oriented graph's numbers.
    clique: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(
        oriented: &'a Oriented,
        sources: &'a [Vec<u32>],
        sink: Option<&'a dyn Sink>,
        context: &'a Context,
    ) -> Self {
        Search {
            oriented,
            sources,
            sink,
            context,
            found: vec![0; oriented.degeneracy() + 2],
            position: vec![u32::MAX; oriented.vertices()],
            members: vec![],
            words: 0,
            rows: vec![],
            clique: vec![],
        }
    }

    /// Searches the cliques whose last vertex in the order is `start`, along those first branches
    /// whose member has a position in `part`.
    fn start(&mut self, start: u32, part: Range<usize>) -> ControlFlow<()> {
        self.members.clear();
        self.members.extend_from_slice(self.oriented.targets(start));
        let size = self.members.len();
        self.words = size.div_ceil(64);
        self.clique.clear();
        self.clique.push(start);
        if size == 0 {
            // Maximal if nothing leads here either.
            let free = self.sources[start as usize].is_empty();
            return if free { self.report() } else { ControlFlow::Continue(()) };
        }
        for (i, &m) in self.members.iter().enumerate() {
            self.position[m as usize] = i as u32;
        }
        self.rows.clear();
        self.rows.resize(size * self.words, 0);
        for i in 0..size {
            for &u in self.oriented.targets(self.members[i]) {
                let j = self.position[u as usize];
                if j != u32::MAX {
                    let j = j as usize;
                    self.rows[i * self.words + j / 64] |= 1 << (j % 64);
                    self.rows[j * self.words + i / 64] |= 1 << (i % 64);
                }
            }
        }
        // Excluded from the start: what leads to `start`, since those cliques were or will be
        // found from there. A row without members can't exclude anything further down.
        let mut excluded = vec![];
        for &x in &self.sources[start as usize] {
            let row = self.rows.len() / self.words;
            self.rows.resize((row + 1) * self.words, 0);
            let mut any = false;
            for &u in self.oriented.targets(x) {
                let j = self.position[u as usize];
                if j != u32::MAX {
                    self.rows[row * self.words + j as usize / 64] |= 1 << (j % 64);
                    any = true;
                }
            }
            if any {
                excluded.push(row as u32);
            } else {
                self.rows.truncate(row * self.words);
            }
        }
        for &m in &self.members {
            self.position[m as usize] = u32::MAX;
        }
        let mut candidates = vec![!0u64; self.words];
        if size % 64 != 0 {
            candidates[self.words - 1] = (1 << (size % 64)) - 1;
        }
        self.branch(&mut candidates, &mut excluded, Some(part))
    }

    fn row(&self, i: usize) -> &[u64] {
        &self.rows[i * self.words..(i + 1) * self.words]
    }

    /// Extends the clique by the candidates; `part` restricts the first branches.
    fn branch(
        &mut self,
        candidates: &mut [u64],
        excluded: &mut Vec<u32>,
        part: Option<Range<usize>>,
    ) -> ControlFlow<()> {
        if candidates.iter().all(|&w| w == 0) {
            return if excluded.is_empty() { self.report() } else { ControlFlow::Continue(()) };
        }
        if self.context.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        // The pivot leaves the fewest branches: only candidates that aren't next to it.
        let next_to = |row: usize| -> u32 {
            self.row(row).iter().zip(&*candidates).map(|(a, b)| (a & b).count_ones()).sum()
        };
        let pivot = ones(candidates)
            .chain(excluded.iter().map(|&x| x as usize))
            .max_by_key(|&row| next_to(row))
            .expect("there is a candidate");
        let branches: Vec<u64> =
            candidates.iter().zip(self.row(pivot)).map(|(c, p)| c & !p).collect();
        for i in ones(&branches) {
            if part.as_ref().is_none_or(|part| part.contains(&i)) {
                let mut inner: Vec<u64> =
                    candidates.iter().zip(self.row(i)).map(|(c, r)| c & r).collect();
                let next_to_i = |&&x: &&u32| self.row(x as usize)[i / 64] >> (i % 64) & 1 == 1;
                let mut still: Vec<u32> = excluded.iter().filter(next_to_i).copied().collect();
                self.clique.push(self.members[i]);
                self.branch(&mut inner, &mut still, None)?;
                self.clique.pop();
            }
            candidates[i / 64] &= !(1 << (i % 64));
            excluded.push(i as u32);
        }
        ControlFlow::Continue(())
    }

    fn report(&mut self) -> ControlFlow<()> {
        self.found[self.clique.len()] += 1;
        let Some(sink) = self.sink else {
            return ControlFlow::Continue(());
        };
        let mut vertices: Vec<VertexId> =
            self.clique.iter().map(|&n| self.oriented.vertex[n as usize]).collect();
        vertices.sort_unstable();
        sink.embedding(&Pattern::clique(vertices.len().min(MAX_VERTICES)), &vertices)
    }
}

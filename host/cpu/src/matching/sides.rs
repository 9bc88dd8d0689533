//! Complete bipartite patterns with a side of two or three vertices: from the numbers of common neighbours of pairs,
//! and within the neighbourhood of a root, of triples.
//!
//! **Two vertices.** Vertices a and b with c common neighbours are a side of C(c, t) patterns K2,t.
//!
//! **Three vertices.** Let r be the last vertex of an occurrence of K3,t, R its neighbours before it, and S(y) those of
//! R that a vertex y before r is next to. If r is in the side of three, b and c are its other members, and the
//! occurrences are C(|S(b) ∩ S(c)|, t): by a loop over pairs of sets of bits, or over pairs in the columns of R,
//! whichever has fewer steps. If r is in the side of t, three of R are the other side, and with n vertices y next to
//! all three they are in C(n, t − 1). Both sides of K3,3 are alike, so that either sum gives its number, and each root
//! takes the shorter one.
//!
//! Only vertices of the s-core are in occurrences. Threads count how often each number of common neighbours occurs;
//! the binomials are for the end, with 256 bits.

#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use ethnum::U256;
use gramer_base::context::Cancel;
use gramer_base::memory::{filled_or_unwind, zeroed_or_unwind};
use gramer_graph::{VertexId, View};
use gramer_pattern::Pattern;

use crate::cycle::{Paths, reach, visit};
use crate::number::choices;
use crate::reach::{ByVertex, Dense, Form, by_form, parts};
use crate::{Job, StartVertices};

/// Numbers of vertices of the sides of a complete bipartite pattern, if the smaller one has two or three and the other
/// one three or more.
pub(super) fn sides(pattern: &Pattern) -> Option<(usize, usize)> {
    let k = pattern.vertices();
    let far = (0..k).filter(|&v| pattern.has_edge(0, v)).count();
    let complete = (0..k).all(|u| {
        (0..u).all(|v| pattern.has_edge(u, v) == (pattern.has_edge(0, u) != pattern.has_edge(0, v)))
    });
    let (few, many) = (far.min(k - far), far.max(k - far));
    (complete && (2..=3).contains(&few) && many >= 3).then_some((few, many))
}

/// Number of subgraphs with sides of `few` and `many` vertices, as [`sides`] returns them; `None` if it needs more than
/// 256 bits. And whether the run was finished.
pub(super) fn count(
    graph: View<'_>,
    (few, many): (usize, usize),
    job: Job<'_>,
) -> (Option<U256>, bool) {
    let core = Core::of(graph, few);
    let core = core.view(graph);
    match few {
        2 => by_form!(core.vertices(), Paths::<Dense>::BYTES, F => pairs::<F>(core, many, job)),
        _ => triples(core, many, job),
    }
}

/// The vertices that are in a subgraph in which all have this degree, in the order of the graph.
struct Core(Option<(Vec<u64>, Vec<VertexId>)>);

impl Core {
    fn of(graph: View<'_>, least: usize) -> Self {
        let all = 0..graph.vertices() as VertexId;
        let mut degrees = all.clone().map(|v| graph.degree(v) as u32).collect::<Vec<_>>();
        let mut left: Vec<VertexId> =
            all.clone().filter(|&v| (degrees[v as usize] as usize) < least).collect();
        if left.is_empty() {
            return Core(None);
        }
        while let Some(v) = left.pop() {
            for &u in graph.neighbours(v) {
                let degree = &mut degrees[u as usize];
                *degree = degree.saturating_sub(1);
                if *degree as usize + 1 == least {
                    left.push(u);
                }
            }
            degrees[v as usize] = 0;
        }
        let (mut kept, mut numbers) = (0, zeroed_or_unwind::<VertexId>(graph.vertices()));
        let is_kept = |v: VertexId| degrees[v as usize] as usize >= least;
        for v in all.clone().filter(|&v| is_kept(v)) {
            numbers[v as usize] = kept;
            kept += 1;
        }
        let (mut offsets, mut neighbours) = (vec![0], vec![]);
        for v in all.filter(|&v| is_kept(v)) {
            let row = graph.neighbours(v).iter().filter(|&&u| is_kept(u));
            neighbours.extend(row.map(|&u| numbers[u as usize]));
            offsets.push(neighbours.len() as u64);
        }
        Core(Some((offsets, neighbours)))
    }

    fn view<'a>(&'a self, graph: View<'a>) -> View<'a> {
        let plain = View { vertex_labels: None, edge_labels: None, ..graph };
        match &self.0 {
            Some((offsets, neighbours)) => View { offsets, neighbours, ..plain },
            None => plain,
        }
    }
}

/// How often each number of common neighbours occurs.
#[derive(Debug, Default)]
struct Occurrences(Vec<u64>);

impl Occurrences {
    /// Makes room for numbers up to `common`.
    fn reach(&mut self, common: usize) {
        self.0.resize(self.0.len().max(common + 1), 0);
    }

    #[inline(always)]
    fn add(&mut self, common: u32) {
        if common as usize >= self.0.len() {
            self.reach(common as usize);
        }
        self.0[common as usize] += 1;
    }

    /// Adds the numbers at these places, which become zero.
    fn add_all(&mut self, common: &mut [u32], met: &mut Vec<u32>) {
        for at in met.drain(..) {
            self.add(std::mem::take(&mut common[at as usize]));
        }
    }

    /// Sum of the choices of `members` of each number; `None` if it needs more than 256 bits.
    fn choices(&self, members: usize) -> Option<U256> {
        (0..).zip(&self.0).filter(|&(_, &times)| times > 0).try_fold(
            U256::ZERO,
            |sum, (n, &times)| {
                let each = choices(n, members as u64, true);
                sum.checked_add(each.checked_mul(times.into()).filter(|_| each < U256::MAX)?)
            },
        )
    }
}

/// K2,t: paths of two edges from the later vertex of each pair.
fn pairs<F: Form>(graph: View<'_>, many: usize, job: Job<'_>) -> (Option<U256>, bool) {
    let cancel = &job.context.cancel;
    // The ends before a vertex are divided.
    let list = |v: VertexId| if graph.degree(v) < many { 0 } else { v as usize };
    let weight = |v: VertexId| graph.neighbours(v).iter().map(|&x| graph.degree(x) as u64).sum();
    let ran = job.run(
        &StartVertices::vertices(graph).units(job, list, weight),
        || (Occurrences::default(), Paths::<F>::new(graph.vertices(), 1)),
        |(found, paths), unit| {
            let ends = unit.first..unit.limit;
            let over = graph.neighbours(unit.start);
            let reach = || reach(graph, over);
            let visit = |each: &mut dyn FnMut(VertexId)| visit(graph, over, each);
            for part in parts(paths.count.most(), ends, reach, visit) {
                for (i, &x) in over.iter().enumerate() {
                    graph.ask_row_ahead(over, i);
                    let row = graph.neighbours(x);
                    let from =
                        if part.start == 0 { 0 } else { row.partition_point(|&y| y < part.start) };
                    row[from..]
                        .iter()
                        .take_while(|&&y| y < part.end)
                        .for_each(|&y| _ = paths.add(y));
                }
                for &y in paths.ends() {
                    found.add(paths.count.get(y));
                }
                paths.clear();
            }
            match cancel.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
    );
    ran.total(|(found, _)| found.choices(many))
}

/// K3,t: pairs and triples in the neighbourhood of the last vertex.
fn triples(graph: View<'_>, many: usize, job: Job<'_>) -> (Option<U256>, bool) {
    let cancel = &job.context.cancel;
    let before = |v: VertexId| graph.neighbours(v).partition_point(|&u| u < v);
    let list = |v: VertexId| usize::from(before(v) >= 3);
    let weight = |v: VertexId| {
        let before = &graph.neighbours(v)[..before(v)];
        before.iter().map(|&u| graph.degree(u) as u64).sum::<u64>() * before.len() as u64
    };
    let ran = job.run(
        &StartVertices::vertices(graph).units(job, list, weight),
        || Root::new(graph),
        |root, unit| {
            root.enter(unit.start);
            if many > 3 {
                root.threes(cancel)?;
                root.keep(many);
            }
            let (sets, pairs) = (root.steps_of_sets(), root.steps_of_pairs());
            if many == 3 && root.steps_of_threes() < sets.min(pairs) {
                return root.threes(cancel);
            }
            match sets < pairs {
                true => root.sets(cancel),
                false => root.pairs(cancel),
            }
        },
    );
    ran.total(|root: &Root<'_>| {
        let pairs = root.of_pairs.choices(many)?;
        pairs.checked_add(root.of_threes.choices(many - 1)?)
    })
}

/// The vertices before a root that are next to enough of its neighbours before it.
struct Root<'a> {
    graph: View<'a>,
    /// Numbers of common neighbours of pairs with the root, and of triples of its neighbours.
    of_pairs: Occurrences,
    of_threes: Occurrences,
    /// By vertex, [`NONE`] between roots: its number; and of each number the vertex and its steps.
    number: Vec<u32>,
    vertices: Vec<(VertexId, u32)>,
    /// Number of neighbours before the root.
    width: usize,
    /// By number: the neighbours next to it, by their places, from `starts`.
    members: Vec<u32>,
    starts: Vec<usize>,
    /// By place: the numbers next to it.
    columns: Vec<Vec<u32>>,
    /// By number: its members as bits.
    bits: Vec<u64>,
    /// Numbers of common neighbours, zero between calls, and which are not.
    common: Vec<u32>,
    met: Vec<u32>,
}

/// No number.
const NONE: u32 = u32::MAX;

impl<'a> Root<'a> {
    fn new(graph: View<'a>) -> Self {
        Root {
            graph,
            of_pairs: Occurrences::default(),
            of_threes: Occurrences::default(),
            number: filled_or_unwind(NONE, graph.vertices()),
            vertices: vec![],
            width: 0,
            members: vec![],
            starts: vec![],
            columns: vec![],
            bits: vec![],
            common: vec![],
            met: vec![],
        }
    }

    /// Makes `root` the root. Vertices next to fewer than three of the neighbours before it are left out.
    fn enter(&mut self, root: VertexId) {
        let graph = self.graph;
        let row = graph.neighbours(root);
        let before = &row[..row.partition_point(|&u| u < root)];
        self.width = before.len();
        let rows = || {
            before.iter().enumerate().map(|(place, &x)| {
                let row = graph.neighbours(x);
                (place as u32, row.iter().copied().take_while(|&y| y < root))
            })
        };
        // First the sizes by number.
        for y in rows().flat_map(|(_, row)| row) {
            let number = &mut self.number[y as usize];
            if *number == NONE {
                *number = self.vertices.len() as u32;
                self.vertices.push((y, 0));
            }
            self.vertices[*number as usize].1 += 1;
        }
        self.starts.clear();
        self.starts.push(0);
        let mut kept = 0;
        for &(y, size) in &self.vertices {
            let is_kept = size >= 3;
            self.number[y as usize] = if is_kept { kept } else { NONE };
            kept += u32::from(is_kept);
            if is_kept {
                self.starts.push(self.starts[self.starts.len() - 1] + size as usize);
            }
        }
        self.members.clear();
        self.members.resize(self.starts[kept as usize], 0);
        let mut ends = self.starts.clone();
        for (place, row) in rows() {
            for y in row {
                let number = self.number[y as usize];
                if number != NONE {
                    self.members[ends[number as usize]] = place;
                    ends[number as usize] += 1;
                }
            }
        }
        for (y, _) in self.vertices.drain(..) {
            self.number[y as usize] = NONE;
        }
        self.make_columns();
    }

    /// Leaves out the vertices with fewer than `least` members.
    fn keep(&mut self, least: usize) {
        let (mut from, mut to, mut kept) = (0, 0, 0);
        for at in 1..self.starts.len() {
            let end = self.starts[at];
            if end - from >= least {
                self.members.copy_within(from..end, to);
                to += end - from;
                kept += 1;
                self.starts[kept] = to;
            }
            from = end;
        }
        self.starts.truncate(kept + 1);
        self.members.truncate(to);
        self.make_columns();
    }

    fn numbers(&self) -> Range<usize> {
        0..self.starts.len() - 1
    }

    fn members(&self, number: usize) -> &[u32] {
        &self.members[self.starts[number]..self.starts[number + 1]]
    }

    /// Words of a set of neighbours.
    fn words(&self) -> usize {
        self.width.div_ceil(64)
    }

    fn steps_of_sets(&self) -> f64 {
        let numbers = self.numbers().len() as f64;
        numbers * numbers / 2.0 * (1 + self.words()) as f64
    }

    fn steps_of_pairs(&self) -> f64 {
        self.columns[..self.width].iter().map(|column| (column.len() as f64).powi(2)).sum()
    }

    fn steps_of_threes(&self) -> f64 {
        let three = |number: usize| {
            let members = self.members(number).len() as f64;
            members * members * members / 4.0
        };
        self.numbers().map(three).sum()
    }

    /// Pairs by the sets of bits that they have in common.
    fn sets(&mut self, cancel: &Cancel) -> ControlFlow<()> {
        let words = self.words();
        self.bits.clear();
        self.bits.resize(self.numbers().len() * words, 0);
        for number in self.numbers() {
            for at in self.starts[number]..self.starts[number + 1] {
                let place = self.members[at] as usize;
                self.bits[number * words + place / 64] |= 1 << (place % 64);
            }
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { sets_x86_v3(&self.bits, words, &mut self.of_pairs, cancel) };
        }
        sets_portable(&self.bits, words, &mut self.of_pairs, cancel)
    }

    fn make_columns(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.columns.resize(self.columns.len().max(self.width), vec![]);
        for number in self.numbers() {
            for at in self.starts[number]..self.starts[number + 1] {
                self.columns[self.members[at] as usize].push(number as u32);
            }
        }
    }

    /// Pairs by the columns that they have in common.
    fn pairs(&mut self, cancel: &Cancel) -> ControlFlow<()> {
        self.common.resize(self.numbers().len().max(self.common.len()), 0);
        for number in self.numbers() {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            for &place in &self.members[self.starts[number]..self.starts[number + 1]] {
                for &other in &self.columns[place as usize] {
                    if other as usize >= number {
                        break;
                    }
                    count_up(&mut self.common, &mut self.met, other as usize);
                }
            }
            self.of_pairs.add_all(&mut self.common, &mut self.met);
        }
        ControlFlow::Continue(())
    }

    /// Triples of neighbours, from the last of each.
    fn threes(&mut self, cancel: &Cancel) -> ControlFlow<()> {
        /// Most entries of a table, of which a place among `width` has at least one.
        const MOST: usize = if cfg!(test) { 1 << 5 } else { 1 << 22 };
        let most = pair(self.width, 0).min(MOST).max(self.width);
        self.common.resize(self.common.len().max(most), 0);
        for last in 2..self.width {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            let mut from = 1;
            while from < last {
                let mut to = from + 1;
                while to < last && pair(to + 1, 0) - pair(from, 0) <= most {
                    to += 1;
                }
                for &number in &self.columns[last] {
                    let number = number as usize;
                    let members = &self.members[self.starts[number]..self.starts[number + 1]];
                    let first = if from == 1 {
                        0
                    } else {
                        members.partition_point(|&a| (a as usize) < from)
                    };
                    for (i, &a) in members.iter().enumerate().skip(first) {
                        if a as usize >= to {
                            break;
                        }
                        let row = pair(a as usize, 0) - pair(from, 0);
                        for &b in &members[..i] {
                            count_up(&mut self.common, &mut self.met, row + b as usize);
                        }
                    }
                }
                self.of_threes.add_all(&mut self.common, &mut self.met);
                from = to;
            }
        }
        ControlFlow::Continue(())
    }
}

/// The number of the pair of a place and an earlier one.
#[inline(always)]
fn pair(later: usize, earlier: usize) -> usize {
    later * later.saturating_sub(1) / 2 + earlier
}

#[inline(always)]
fn count_up(common: &mut [u32], met: &mut Vec<u32>, at: usize) {
    let count = &mut common[at];
    if *count == 0 {
        met.push(at as u32);
    }
    *count += 1;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn sets_x86_v3(
    bits: &[u64],
    words: usize,
    found: &mut Occurrences,
    cancel: &Cancel,
) -> ControlFlow<()> {
    sets_portable(bits, words, found, cancel)
}

/// Counts the bits that each pair of sets has in common.
#[inline(always)]
fn sets_portable(
    bits: &[u64],
    words: usize,
    found: &mut Occurrences,
    cancel: &Cancel,
) -> ControlFlow<()> {
    found.reach(64 * words);
    for (number, set) in bits.chunks_exact(words.max(1)).enumerate() {
        if cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        if let [set] = set {
            bits[..number].iter().for_each(|other| found.add((set & other).count_ones()));
            continue;
        }
        for other in bits[..number * words].chunks_exact(words.max(1)) {
            let both = set.iter().zip(other).map(|(a, b)| (a & b).count_ones()).sum();
            found.add(both);
        }
    }
    ControlFlow::Continue(())
}

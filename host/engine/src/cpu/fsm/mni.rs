//! Frequent patterns by minimum-image support.
//!
//! The support of an edge-induced pattern is the smallest number of different graph vertices that
//! one of its vertices is mapped to (Bringmann and Nijssen, *What is frequent in a single graph?*,
//! 2008). Taking an edge away never lowers it, so patterns grow by one edge a level, and a
//! candidate is looked at only if all connected patterns with one edge fewer are frequent.
//!
//! A candidate vertex starts with the images that it has in every one of those (its *domain*, an
//! upper bound). Images without a fitting neighbour in the domain of each neighbouring vertex are
//! taken out until nothing changes. Where that isn't exact already, each image is confirmed by
//! finding one embedding through it, which confirms an image of every other vertex as well;
//! vertices of one orbit share their images. A candidate is given up as soon as one domain is
//! smaller than the support asked for.
//!
//! Memory: a copy of the graph, and for each frequent pattern of two levels a bit for each vertex
//! of the class of each of its vertices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use gramer_graph::context::{Cancel, Context, Looks};
use gramer_graph::error::Result;
use gramer_graph::{VertexId, View};
use gramer_pattern::task::SizeLimit;

use super::code::{Canonical, MAX, Small};
use super::labels::Labels;

/// The graph with its vertices numbered by class, so that the neighbours of one class are
/// together in a row and a domain needs the bits of its class only.
struct Classes {
    /// By class: its first vertex; one more at the end.
    start: Vec<u32>,
    offsets: Vec<usize>,
    targets: Vec<u32>,
    /// Parallel to `targets`: the edge's label; empty if there is only one.
    labels: Vec<u32>,
}

impl Classes {
    /// Fails once `cancel` is raised.
    fn new(graph: View<'_>, labels: &Labels, cancel: &Cancel) -> Result<Self> {
        let mut looks = Looks::new(cancel);
        let vertices = graph.vertices();
        let mut class: Vec<u32> = Vec::with_capacity(vertices);
        for v in 0..vertices as VertexId {
            looks.check(1)?;
            class.push(labels.class(graph, v));
        }
        let mut start = vec![0u32; labels.classes() + 1];
        for &c in &class {
            start[c as usize + 1] += 1;
        }
        for c in 0..labels.classes() {
            start[c + 1] += start[c];
        }
        let mut next = start.clone();
        let mut vertex = vec![0 as VertexId; vertices];
        let mut number = vec![0u32; vertices];
        for v in 0..vertices {
            looks.check(1)?;
            let at = &mut next[class[v] as usize];
            vertex[*at as usize] = v as VertexId;
            number[v] = *at;
            *at += 1;
        }
        let mut offsets = Vec::with_capacity(vertices + 1);
        offsets.push(0);
        let mut end = 0;
        for &v in &vertex {
            end += graph.degree(v);
            offsets.push(end);
        }
        // Sources in ascending order fill every row in ascending order.
        let mut cursor = offsets.clone();
        let mut targets = vec![0; end];
        let several = labels.edge_labels() > 1;
        let mut edge_labels = vec![0; if several { end } else { 0 }];
        for (n, &v) in vertex.iter().enumerate() {
            looks.check(1 + graph.degree(v))?;
            for at in graph.row(v) {
                let slot = &mut cursor[number[graph.neighbours[at] as usize] as usize];
                targets[*slot] = n as u32;
                if several {
                    edge_labels[*slot] = labels.entry(graph, at);
                }
                *slot += 1;
            }
        }
        Ok(Classes { start, offsets, targets, labels: edge_labels })
    }

    fn of(&self, class: u32) -> std::ops::Range<u32> {
        self.start[class as usize]..self.start[class as usize + 1]
    }

    /// Positions of the neighbours of `v` of one class.
    #[inline]
    fn neighbours(&self, v: u32, class: u32) -> std::ops::Range<usize> {
        let row = self.offsets[v as usize]..self.offsets[v as usize + 1];
        let targets = &self.targets[row.clone()];
        let class = self.of(class);
        let first = targets.partition_point(|&t| t < class.start);
        let len = targets[first..].partition_point(|&t| t < class.end);
        row.start + first..row.start + first + len
    }

    /// Label of the edge at a position.
    #[inline]
    fn label(&self, at: usize) -> u32 {
        if self.labels.is_empty() { 1 } else { self.labels[at] }
    }

    fn has_edge(&self, u: u32, v: u32, label: u32) -> bool {
        let degree = |v: u32| self.offsets[v as usize + 1] - self.offsets[v as usize];
        let (a, b) = if degree(u) <= degree(v) { (u, v) } else { (v, u) };
        let row = self.offsets[a as usize]..self.offsets[a as usize + 1];
        match self.targets[row.clone()].binary_search(&b) {
            Ok(at) => self.label(row.start + at) == label,
            Err(_) => false,
        }
    }
}

/// Images of a pattern vertex: bits over the vertices of its class.
#[derive(Clone)]
struct Domain {
    first: u32,
    bits: Vec<u64>,
    size: usize,
}

impl Domain {
    fn empty(class: std::ops::Range<u32>) -> Self {
        Domain { first: class.start, bits: vec![0; class.len().div_ceil(64)], size: 0 }
    }

    #[inline]
    fn has(&self, v: u32) -> bool {
        let at = v - self.first;
        self.bits[at as usize / 64] >> (at % 64) & 1 == 1
    }

    fn insert(&mut self, v: u32) {
        let at = v - self.first;
        let word = &mut self.bits[at as usize / 64];
        self.size += (*word >> (at % 64) & 1 == 0) as usize;
        *word |= 1 << (at % 64);
    }

    fn remove(&mut self, v: u32) {
        let at = v - self.first;
        let word = &mut self.bits[at as usize / 64];
        self.size -= (*word >> (at % 64) & 1) as usize;
        *word &= !(1 << (at % 64));
    }

    fn keep(&mut self, other: &Domain) {
        self.size = 0;
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine &= theirs;
            self.size += mine.count_ones() as usize;
        }
    }

    /// Takes out what `keep` doesn't want; says whether anything was.
    fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) -> bool {
        let before = self.size;
        for (w, word) in self.bits.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keep(self.first + 64 * w as u32 + bit) {
                    *word &= !(1 << bit);
                    self.size -= 1;
                }
            }
        }
        self.size < before
    }

    fn members(&self) -> impl Iterator<Item = u32> + '_ {
        super::super::clique::ones(&self.bits).map(|at| self.first + at as u32)
    }
}

/// A frequent pattern with upper bounds of its domains.
struct Frequent {
    code: Small,
    domains: Vec<Arc<Domain>>,
}

/// Class of one end, class of the other, label.
type Kind = (u32, u32, u32);

/// The frequent patterns with their supports, by level, and whether the run went to its end; if
/// not, only whole levels are there.
pub(super) fn mine(
    graph: View<'_>,
    labels: &Labels,
    limit: SizeLimit,
    support: u64,
    context: &Context,
) -> (Vec<(Small, u128)>, bool) {
    let (max_vertices, max_edges) = match limit {
        SizeLimit::MaxVertices(n) => (n, n * (n - 1) / 2),
        SizeLimit::MaxEdges(n) => (n + 1, n),
    };
    let stopped = (vec![], false);
    let Ok(rows) = Classes::new(graph, labels, &context.cancel) else { return stopped };
    let wanted = usize::try_from(support).unwrap_or(usize::MAX);
    let Ok((mut level, kinds)) = single_edges(&rows, labels.classes(), wanted, &context.cancel)
    else {
        return stopped;
    };
    let mut found: Vec<(Small, u128)> =
        level.iter().map(|f| (f.code, smallest(&f.domains) as u128)).collect();
    for _ in 2..=max_edges {
        let known: FxHashMap<Small, usize> =
            level.iter().enumerate().map(|(i, f)| (f.code, i)).collect();
        let candidates = extend(&level, &kinds, max_vertices);
        let examine = |scratch: &mut Scratch, code: &Small| {
            let mut domains = inherit(code, &level, &known, wanted)?;
            let support = examine(&rows, code, &mut domains, wanted, context, scratch)?;
            let domains = domains.into_iter().map(Arc::new).collect();
            Some((Frequent { code: *code, domains }, support as u128))
        };
        let Some(next) = in_parallel(&candidates, context, examine) else {
            return (found, false);
        };
        if next.is_empty() {
            break;
        }
        found.extend(next.iter().map(|(f, support)| (f.code, *support)));
        level = next.into_iter().map(|(f, _)| f).collect();
    }
    (found, true)
}

fn smallest(domains: &[Arc<Domain>]) -> usize {
    domains.iter().map(|d| d.size).min().unwrap_or(0)
}

/// The frequent patterns of one edge, and their kinds in both directions. Fails once `cancel` is
/// raised.
fn single_edges(
    rows: &Classes,
    classes: usize,
    wanted: usize,
    cancel: &Cancel,
) -> Result<(Vec<Frequent>, Vec<Kind>)> {
    let mut looks = Looks::new(cancel);
    let mut domains: FxHashMap<Kind, Domain> = FxHashMap::default();
    for class in 0..classes as u32 {
        for v in rows.of(class) {
            let mut other = 0u32;
            looks.check(1 + rows.offsets[v as usize + 1] - rows.offsets[v as usize])?;
            for at in rows.offsets[v as usize]..rows.offsets[v as usize + 1] {
                // Targets ascend, and so do their classes.
                while rows.targets[at] >= rows.start[other as usize + 1] {
                    other += 1;
                }
                domains
                    .entry((class, other, rows.label(at)))
                    .or_insert_with(|| Domain::empty(rows.of(class)))
                    .insert(v);
            }
        }
    }
    let mut kinds: Vec<Kind> = domains
        .iter()
        .filter(|&(&(a, b, l), d)| d.size >= wanted && domains[&(b, a, l)].size >= wanted)
        .map(|(&kind, _)| kind)
        .collect();
    kinds.sort_unstable();
    let level = kinds
        .iter()
        .filter(|(a, b, _)| a <= b)
        .map(|&(a, b, label)| {
            let mut p = Small::EMPTY;
            p.push(a);
            p.push(b);
            p.set_edge(0, 1, label);
            let Canonical { code, order, .. } = p.canonical();
            let ends = [(a, b, label), (b, a, label)];
            let domain = |i: usize| Arc::new(domains[&ends[order[i] as usize]].clone());
            Frequent { code, domains: vec![domain(0), domain(1)] }
        })
        .collect();
    Ok((level, kinds))
}

/// Every pattern with one edge more, once, in canonical form.
fn extend(level: &[Frequent], kinds: &[Kind], max_vertices: usize) -> Vec<Small> {
    let mut seen: FxHashSet<Small> = FxHashSet::default();
    let mut candidates = vec![];
    let mut add = |p: Small| {
        let code = p.canonical().code;
        if seen.insert(code) {
            candidates.push(code);
        }
    };
    let of_class = |class: u32| {
        let first = kinds.partition_point(|k| k.0 < class);
        kinds[first..].iter().take_while(move |k| k.0 == class)
    };
    for f in level {
        let n = f.code.n();
        let orbits = f.code.canonical().orbits;
        for (i, &head) in orbits[..n].iter().enumerate() {
            // The orbits are those of the canonical form of a canonical form: its own.
            if n < max_vertices.min(MAX) && head as usize == i {
                for &(_, class, label) in of_class(f.code.class(i)) {
                    let (mut p, j) = f.code.with_vertex(class);
                    p.set_edge(i, j, label);
                    add(p);
                }
            }
            for j in (i + 1..n).filter(|&j| f.code.edge(i, j) == 0) {
                for &(_, class, label) in of_class(f.code.class(i)) {
                    if class == f.code.class(j) {
                        let mut p = f.code;
                        p.set_edge(i, j, label);
                        add(p);
                    }
                }
            }
        }
    }
    candidates
}

/// The images that the vertices of a candidate have in all connected patterns with one edge
/// fewer; `None` if one of those isn't frequent, or a domain is too small already.
fn inherit(
    code: &Small,
    level: &[Frequent],
    known: &FxHashMap<Small, usize>,
    wanted: usize,
) -> Option<Vec<Domain>> {
    let n = code.n();
    let mut domains: Vec<Option<Domain>> = vec![None; n];
    for (i, j) in code.edge_list() {
        let mut smaller = *code;
        smaller.set_edge(i, j, 0);
        // A vertex without another edge goes with this one.
        let kept: Vec<usize> = (0..n).filter(|&v| smaller.degree(v) > 0).collect();
        let smaller = smaller.induced(&kept);
        if !smaller.is_connected() {
            continue;
        }
        let Canonical { code: form, order, .. } = smaller.canonical();
        let parent = &level[*known.get(&form)?];
        for (at, domain) in parent.domains.iter().enumerate() {
            let slot = &mut domains[kept[order[at] as usize]];
            match slot {
                Some(mine) => mine.keep(domain),
                None => *slot = Some(Domain::clone(domain)),
            }
            if slot.as_ref().is_some_and(|d| d.size < wanted) {
                return None;
            }
        }
    }
    domains.into_iter().collect()
}

/// What a thread keeps from candidate to candidate.
#[derive(Default)]
struct Scratch {
    image: [u32; MAX],
    steps: u64,
}

/// The support of a candidate if it is frequent. The domains, upper bounds before and after,
/// become smaller.
fn examine(
    rows: &Classes,
    code: &Small,
    domains: &mut [Domain],
    wanted: usize,
    context: &Context,
    scratch: &mut Scratch,
) -> Option<usize> {
    if !make_consistent(rows, code, domains, wanted) {
        return None;
    }
    let n = code.n();
    // Without cycles and with all vertices of different classes, every consistent choice is an
    // embedding.
    let distinct = (0..n).all(|i| (0..i).all(|j| code.class(i) != code.class(j)));
    if distinct && code.edge_count() + 1 == n {
        return domains.iter().map(|d| d.size).min();
    }
    let orbits = code.canonical().orbits;
    let mut confirmed: Vec<Domain> =
        (0..n).map(|i| Domain::empty(rows.of(code.class(i)))).collect();
    let mut heads: Vec<usize> = (0..n).filter(|&i| orbits[i] as usize == i).collect();
    heads.sort_by_key(|&i| domains[i].size);
    let mut support = usize::MAX;
    for &head in &heads {
        let order = search_order(code, domains, head);
        let images: Vec<u32> = domains[head].members().collect();
        for v in images {
            // More images of this vertex wouldn't change the smallest number.
            if confirmed[head].size >= support {
                break;
            }
            if confirmed[head].has(v) {
                continue;
            }
            if context.cancel.is_cancelled() {
                return None;
            }
            scratch.image[order[0]] = v;
            if find(rows, code, domains, &order, 1, context, scratch) {
                for (i, &w) in scratch.image[..n].iter().enumerate() {
                    confirmed[orbits[i] as usize].insert(w);
                }
            } else {
                for i in (0..n).filter(|&i| orbits[i] as usize == head) {
                    domains[i].remove(v);
                }
                if domains[head].size < wanted {
                    return None;
                }
            }
        }
        support = support.min(confirmed[head].size);
    }
    (support >= wanted).then_some(support)
}

/// Takes out images without a neighbour in the domain of each neighbouring vertex, until nothing
/// changes; `false` if a domain becomes too small.
fn make_consistent(rows: &Classes, code: &Small, domains: &mut [Domain], wanted: usize) -> bool {
    let n = code.n();
    let mut changed: u32 = (1 << n) - 1;
    while changed != 0 {
        let j = changed.trailing_zeros() as usize;
        changed &= changed - 1;
        for i in 0..n {
            let label = code.edge(i, j);
            if label == 0 {
                continue;
            }
            let class = code.class(j);
            let mut mine = std::mem::replace(&mut domains[i], Domain::empty(0..0));
            let theirs = &domains[j];
            let fewer = mine.retain(|v| {
                rows.neighbours(v, class)
                    .any(|at| theirs.has(rows.targets[at]) && rows.label(at) == label)
            });
            domains[i] = mine;
            if domains[i].size < wanted {
                return false;
            }
            if fewer {
                changed |= 1 << i;
            }
        }
    }
    true
}

/// The vertices from `head` on, each next to an earlier one: those with most earlier neighbours
/// first, then those with the fewest images.
fn search_order(code: &Small, domains: &[Domain], head: usize) -> Vec<usize> {
    let mut order = vec![head];
    while order.len() < code.n() {
        let next = (0..code.n())
            .filter(|v| !order.contains(v))
            .map(|v| (order.iter().filter(|&&u| code.edge(u, v) != 0).count(), v))
            .filter(|&(earlier, _)| earlier > 0)
            .max_by_key(|&(earlier, v)| (earlier, std::cmp::Reverse(domains[v].size)));
        order.push(next.expect("a pattern is connected").1);
    }
    order
}

/// Whether the images of `order[..at]` can be completed to an embedding, which is then in
/// `scratch.image`.
fn find(
    rows: &Classes,
    code: &Small,
    domains: &[Domain],
    order: &[usize],
    at: usize,
    context: &Context,
    scratch: &mut Scratch,
) -> bool {
    let Some(&v) = order.get(at) else {
        return true;
    };
    scratch.steps += 1;
    if scratch.steps % 4096 == 0 && context.cancel.is_cancelled() {
        return false;
    }
    let earlier = || order[..at].iter().copied().filter(|&u| code.edge(u, v) != 0);
    let class = code.class(v);
    let (anchor, list) = earlier()
        .map(|u| (u, rows.neighbours(scratch.image[u], class)))
        .min_by_key(|(_, list)| list.len())
        .expect("each vertex is next to an earlier one");
    for position in list {
        let w = rows.targets[position];
        if domains[v].has(w)
            && rows.label(position) == code.edge(anchor, v)
            && order[..at].iter().all(|&u| scratch.image[u] != w)
            && earlier()
                .filter(|&u| u != anchor)
                .all(|u| rows.has_edge(scratch.image[u], w, code.edge(u, v)))
        {
            scratch.image[v] = w;
            if find(rows, code, domains, order, at + 1, context, scratch) {
                return true;
            }
        }
    }
    false
}

/// Runs `examine` on every candidate and returns what it found, in the candidates' order, or
/// `None` if the run was stopped.
fn in_parallel<T: Send>(
    candidates: &[Small],
    context: &Context,
    examine: impl Fn(&mut Scratch, &Small) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    context.progress.begin(candidates.len() as u64);
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let one = || {
        let mut scratch = Scratch::default();
        let mut found = vec![];
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(code) = candidates.get(at) else { break };
            let result = examine(&mut scratch, code);
            if context.cancel.is_cancelled() {
                stopped.store(true, Ordering::Relaxed);
                break;
            }
            found.extend(result.map(|r| (at, r)));
            context.progress.add(1);
        }
        found
    };
    let threads = context.threads().min(candidates.len()).max(1);
    let mut all: Vec<(usize, T)> = if threads == 1 {
        one()
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
            handles
                .into_iter()
                .flat_map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    };
    all.sort_by_key(|&(at, _)| at);
    (!stopped.into_inner()).then(|| all.into_iter().map(|(_, r)| r).collect())
}

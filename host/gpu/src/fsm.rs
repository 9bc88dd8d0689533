//! Frequent patterns, level by level: candidates on the host, their supports on the device.
//!
//! By embeddings a level is a number of vertices, and each candidate's vertex-induced embeddings are counted
//! by the strategy `plan`; by minimum images a level is a number of edges, and all candidates of a level are
//! examined together (`domains.rs`).

use std::collections::{BTreeSet, HashMap, HashSet};

use gramer_engine::{Count, Together};
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_graph::{Graph, Label, NO_LABEL, VertexId};
use gramer_pattern::task::{SizeLimit, parts_reported};
use gramer_pattern::{Pattern, automorphism_orbits_chain};

use crate::by_label::ByLabel;
use crate::device::Device;
use crate::domains::{At, Candidate, examine};
use crate::exchange::{self, Exchanged, Ranges};
use crate::memory::Buffer;

/// The label of one end, of the other, and of the edge.
type Kind = (Label, Label, Label);

/// The edges of a graph by kind, the smaller label first; in the order of kinds, which all devices share.
fn kinds(graph: &Graph, context: &Context) -> Result<Vec<(Kind, u64)>> {
    let view = graph.view();
    let label = |v: VertexId| view.vertex_labels.map_or(NO_LABEL, |l| l[v as usize]);
    let mut kinds = HashMap::new();
    for v in 0..view.vertices() as VertexId {
        if v % 4096 == 0 {
            context.cancel.check()?;
        }
        for e in view.row(v) {
            let u = view.neighbours[e];
            if u > v {
                let (a, b) = (label(v).min(label(u)), label(v).max(label(u)));
                *kinds.entry((a, b, view.edge_labels.map_or(NO_LABEL, |l| l[e]))).or_default() += 1;
            }
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_unstable();
    Ok(kinds)
}

/// Patterns with the labels that a graph has.
#[derive(Clone, Copy)]
struct Labelled {
    vertices: bool,
    edges: bool,
}

impl Labelled {
    fn of(graph: &Graph) -> Self {
        Labelled { vertices: graph.has_vertex_labels(), edges: graph.has_edge_labels() }
    }

    fn edge(self, (a, b, label): Kind) -> Pattern {
        let mut pattern = self.wider(&Pattern::new(1), b);
        if self.vertices {
            pattern.set_vertex_label(0, a);
        }
        self.add(&mut pattern, 0, 1, label);
        pattern
    }

    /// The pattern with a vertex more.
    fn wider(self, pattern: &Pattern, label: Label) -> Pattern {
        let n = pattern.vertices();
        let mut wider = Pattern::new(n + 1);
        if self.vertices {
            (0..n).for_each(|v| wider.set_vertex_label(v, pattern.vertex_label(v)));
            wider.set_vertex_label(n, label);
        }
        for (i, j) in pattern.edges() {
            self.add(&mut wider, i, j, pattern.edge_label(i, j).unwrap_or(NO_LABEL));
        }
        wider
    }

    fn add(self, pattern: &mut Pattern, i: usize, j: usize, label: Label) {
        pattern.add_edge(i, j);
        if self.edges {
            pattern.set_edge_label(i, j, label);
        }
    }
}

/// What may lie next to a vertex: by its label, those of the other end and of the edge.
fn around(kinds: impl Iterator<Item = Kind>) -> HashMap<Label, Vec<(Label, Label)>> {
    let mut around: HashMap<Label, Vec<(Label, Label)>> = HashMap::new();
    for (a, b, label) in kinds {
        around.entry(a).or_default().push((b, label));
        if a != b {
            around.entry(b).or_default().push((a, label));
        }
    }
    around.values_mut().for_each(|list| list.sort_unstable());
    around
}

/// The patterns of up to `max` vertices with at least `support` vertex-induced embeddings all of whose
/// parts are reported, and whether all of them were counted. `count` counts a pattern's, and says whether
/// it went to the end. With others each counts some of a level's candidates.
///
/// # Errors
/// Those of `count` and `together`, and [`gramer_graph::Error::Interrupted`].
pub(crate) fn by_embeddings(
    graph: &Graph,
    max: usize,
    support: u64,
    together: Option<&dyn Together>,
    context: &Context,
    mut count: impl FnMut(&Pattern) -> Result<(u128, bool)>,
) -> Result<(Vec<Count>, bool)> {
    let labelled = Labelled::of(graph);
    let mut kinds = kinds(graph, context)?;
    kinds.retain(|kind| kind.1 >= support);
    let around = around(kinds.iter().map(|kind| kind.0));
    let mut found: Vec<Count> = kinds
        .iter()
        .map(|&(kind, n)| Count { pattern: labelled.edge(kind).canonical().0, count: n.into() })
        .collect();
    let mut reported: HashSet<Pattern> = found.iter().map(|c| c.pattern.clone()).collect();
    let mut level: Vec<Pattern> = found.iter().map(|c| c.pattern.clone()).collect();
    for vertices in 3..=max {
        let mut seen = HashSet::new();
        let mut candidates = vec![];
        for pattern in &level {
            for wider in with_vertex(labelled, pattern, &around) {
                let form = wider.canonical().0;
                if seen.insert(form.clone()) && parts_reported(&form, &reported) {
                    candidates.push(form);
                }
            }
        }
        let mut counted = vec![];
        let mut ranges = Ranges::new(together, vertices, candidates.len());
        while let Some(range) = ranges.next()? {
            for candidate in range {
                let (support_here, whole) = count(&candidates[candidate])?;
                if !whole {
                    // Of a level that wasn't finished nothing is known.
                    return Ok((found, false));
                }
                if support_here >= support.into() {
                    counted.push(Exchanged { candidate, support: support_here, words: vec![] });
                }
            }
        }
        if let Some(together) = together {
            counted = exchange::join(together, vertices, &counted, candidates.len(), |_| 0)?;
        }
        let counts: Vec<Count> = counted
            .iter()
            .map(|one| Count { pattern: candidates[one.candidate].clone(), count: one.support })
            .collect();
        level = counts.iter().map(|count| count.pattern.clone()).collect();
        if level.is_empty() {
            break;
        }
        reported.extend(level.iter().cloned());
        found.extend(counts);
    }
    Ok((found, true))
}

/// The pattern with another vertex, in every way that kinds of edges allow.
fn with_vertex(
    labelled: Labelled,
    pattern: &Pattern,
    around: &HashMap<Label, Vec<(Label, Label)>>,
) -> Vec<Pattern> {
    let n = pattern.vertices();
    let labels: BTreeSet<Label> = (0..n)
        .filter_map(|v| around.get(&pattern.vertex_label(v)))
        .flat_map(|list| list.iter().map(|&(other, _)| other))
        .collect();
    let mut all = vec![];
    for label in labels {
        // Vertex by vertex: no edge, or one of each label.
        let mut ways = vec![(labelled.wider(pattern, label), false)];
        for v in 0..n {
            let near = around.get(&pattern.vertex_label(v)).map_or(&[][..], Vec::as_slice);
            let edges: Vec<Label> =
                near.iter().filter(|&&(other, _)| other == label).map(|&(_, edge)| edge).collect();
            for at in 0..ways.len() {
                for &edge in &edges {
                    let mut way = ways[at].0.clone();
                    labelled.add(&mut way, v, n, edge);
                    ways.push((way, true));
                }
            }
        }
        all.extend(ways.into_iter().filter(|way| way.1).map(|way| way.0));
    }
    all
}

/// A frequent pattern of a level with where its domains lie.
struct Known {
    pattern: Pattern,
    domains: Vec<At>,
    /// Its place among the candidates.
    candidate: usize,
}

/// By vertex: the first one of its orbit.
fn orbits(pattern: &Pattern) -> Vec<usize> {
    let colours = vec![0; pattern.vertices()];
    (0..pattern.vertices())
        .map(|v| automorphism_orbits_chain(pattern, &[v], &colours)[0].trailing_zeros() as usize)
        .collect()
}

/// The edge-induced patterns up to a limit whose smallest domain has at least `support` vertices, and
/// whether all of them were examined. With others each examines some of a level's candidates, and all get
/// the domains of those that are frequent.
///
/// # Errors
/// [`gramer_graph::Error::Device`], [`gramer_graph::Error::Unsupported`] where the budget has no room, and
/// those of `together`.
pub(crate) fn by_images(
    device: &Device,
    graph: &Graph,
    by: &ByLabel,
    (limit, support): (SizeLimit, u64),
    together: Option<&dyn Together>,
    fault: &Buffer<u32>,
    context: &Context,
) -> Result<(Vec<Count>, bool)> {
    let (max_vertices, max_edges) = match limit {
        SizeLimit::MaxVertices(n) => (n, n * (n - 1) / 2),
        SizeLimit::MaxEdges(n) => (n + 1, n),
    };
    let labelled = Labelled::of(graph);
    let mut candidates: Vec<Candidate> = kinds(graph, context)?
        .into_iter()
        .map(|(kind, _)| {
            let pattern = labelled.edge(kind).canonical().0;
            Candidate { orbits: orbits(&pattern), pattern, bounds: vec![] }
        })
        .collect();
    let mut around_frequent = HashMap::new();
    let (mut found, mut buffers): (Vec<Count>, Vec<Buffer<u32>>) = (vec![], vec![]);
    for edges in 1..=max_edges {
        context.progress.begin(candidates.len() as u64);
        let examined = Examine { device, by, candidates: &candidates, support, fault, context };
        let Some(mut level) = examined.level(&buffers, together, edges)? else {
            return Ok((found, false));
        };
        if let Some(together) = together {
            level = examined.joined(level, together, edges)?;
        }
        let Level { known, supports, kept } = level;
        let patterns = known.iter().map(|known| known.pattern.clone());
        let counts: Vec<Count> =
            patterns.zip(supports).map(|(pattern, count)| Count { pattern, count }).collect();
        // Of a level that isn't whole nothing is said.
        found.extend(counts);
        if edges == 1 {
            around_frequent = around(known.iter().map(|known| {
                let p = &known.pattern;
                let label = p.edge_label(0, 1).unwrap_or(NO_LABEL);
                (p.vertex_label(0), p.vertex_label(1), label)
            }));
        }
        if known.is_empty() || edges == max_edges {
            break;
        }
        candidates = extended(labelled, &known, &around_frequent, max_vertices);
        buffers = kept;
    }
    Ok((found, true))
}

/// The frequent patterns of a level, their supports, and the buffers of their domains.
struct Level {
    known: Vec<Known>,
    supports: Vec<u128>,
    kept: Vec<Buffer<u32>>,
}

/// Candidates of a level, and what they are examined with.
struct Examine<'a> {
    device: &'a Device,
    by: &'a ByLabel,
    candidates: &'a [Candidate],
    support: u64,
    fault: &'a Buffer<u32>,
    context: &'a Context,
}

impl Examine<'_> {
    /// Those of this device that are frequent; `None` once the run was asked to stop.
    fn level(
        &self,
        buffers: &[Buffer<u32>],
        together: Option<&dyn Together>,
        edges: usize,
    ) -> Result<Option<Level>> {
        let mut level = Level { known: vec![], supports: vec![], kept: vec![] };
        let mut ranges = Ranges::new(together, edges, self.candidates.len());
        while let Some(range) = ranges.next()? {
            let mut rest = &self.candidates[range.clone()];
            let mut first = range.start;
            while !rest.is_empty() {
                let (batch, more) = rest.split_at(fitting(self.device, self.by, rest));
                rest = more;
                let examined = examine(
                    self.device,
                    self.by,
                    batch,
                    buffers,
                    self.support,
                    self.fault,
                    self.context,
                )?;
                let Some((frequent, buffer)) = examined else { return Ok(None) };
                for f in frequent {
                    let at = |&first: &u32| At { buffer: level.kept.len(), first };
                    let domains = f.firsts.iter().map(at).collect();
                    let pattern = batch[f.candidate].pattern.clone();
                    level.known.push(Known { pattern, domains, candidate: first + f.candidate });
                    level.supports.push(f.support.into());
                }
                level.kept.push(buffer);
                first += batch.len();
                self.context.progress.add(batch.len() as u64);
            }
        }
        Ok(Some(level))
    }

    /// What all devices have found of a level, its domains in one buffer.
    fn joined(&self, own: Level, together: &dyn Together, edges: usize) -> Result<Level> {
        let words = |candidate: usize| {
            let Candidate { pattern, orbits, .. } = &self.candidates[candidate];
            self.by.words(pattern, orbits)
        };
        let mut kept = vec![];
        for buffer in &own.kept {
            let mut read = vec![0; buffer.len()];
            buffer.read(&self.device.queue, &mut read)?;
            kept.push(read);
        }
        let found: Vec<Exchanged> = own
            .known
            .iter()
            .zip(own.supports)
            .map(|(known, support)| {
                // The domain of the first orbit comes first, and the others follow.
                let At { buffer, first } = known.domains[0];
                let words = kept[buffer][first as usize..][..words(known.candidate)].to_vec();
                Exchanged { candidate: known.candidate, support, words }
            })
            .collect();
        let all = exchange::join(together, edges, &found, self.candidates.len(), words)?;
        let mut level = Level { known: vec![], supports: vec![], kept: vec![] };
        let mut domains_of_all = vec![];
        for Exchanged { candidate, support, words } in all {
            let Candidate { pattern, orbits, .. } = &self.candidates[candidate];
            let begin = domains_of_all.len() as u32;
            let firsts = self.by.firsts(pattern, orbits);
            let domains = firsts.iter().map(|first| At { buffer: 0, first: begin + first });
            let (pattern, domains) = (pattern.clone(), domains.collect());
            level.known.push(Known { pattern, domains, candidate });
            level.supports.push(support);
            domains_of_all.extend(words);
        }
        // What was this device's own is among them.
        drop(own.kept);
        let place = self.device.place();
        level.kept.push(Buffer::of(&place, &domains_of_all, "domains of frequent patterns")?);
        Ok(level)
    }
}

/// Candidates at the front whose domains fit into a part of the budget; at least one.
fn fitting(device: &Device, by: &ByLabel, candidates: &[Candidate]) -> usize {
    /// Bytes of a candidate's tables and plans.
    const TABLES: usize = 8 * 1024;
    // Domains twice (with what is confirmed), those that are kept, and states of searches.
    let room = device.budget.free() as usize / 6;
    let mut used = 0;
    let fits = |c: &&Candidate| {
        used += 4 * by.words(&c.pattern, &c.orbits) + TABLES;
        used <= room
    };
    candidates.iter().take_while(fits).count().max(1)
}

/// Every pattern with one edge more than those of a level, once, all of whose parts are in the level.
fn extended(
    labelled: Labelled,
    level: &[Known],
    around: &HashMap<Label, Vec<(Label, Label)>>,
    max_vertices: usize,
) -> Vec<Candidate> {
    let known: HashMap<&Pattern, usize> =
        level.iter().enumerate().map(|(at, k)| (&k.pattern, at)).collect();
    let mut seen = HashSet::new();
    let mut candidates = vec![];
    let mut add = |pattern: Pattern| {
        let form = pattern.canonical().0;
        if !seen.insert(form.clone()) {
            return;
        }
        if let Some(bounds) = bounds(labelled, &form, level, &known) {
            candidates.push(Candidate { orbits: orbits(&form), pattern: form, bounds });
        }
    };
    let nothing = vec![];
    for Known { pattern, .. } in level {
        let n = pattern.vertices();
        let heads = orbits(pattern);
        for (v, &head) in heads.iter().enumerate() {
            let near = around.get(&pattern.vertex_label(v)).unwrap_or(&nothing);
            if n < max_vertices && head == v {
                for &(other, edge) in near {
                    let mut wider = labelled.wider(pattern, other);
                    labelled.add(&mut wider, v, n, edge);
                    add(wider);
                }
            }
            for u in (v + 1..n).filter(|&u| !pattern.has_edge(v, u)) {
                for &(_, edge) in near.iter().filter(|k| k.0 == pattern.vertex_label(u)) {
                    let mut closed = pattern.clone();
                    labelled.add(&mut closed, v, u, edge);
                    add(closed);
                }
            }
        }
    }
    candidates
}

/// What bounds the domains of a candidate: those of all connected patterns with one edge fewer; `None` if
/// one of those isn't frequent.
fn bounds(
    labelled: Labelled,
    pattern: &Pattern,
    level: &[Known],
    known: &HashMap<&Pattern, usize>,
) -> Option<Vec<(usize, At)>> {
    let n = pattern.vertices();
    let mut bounds = vec![];
    for (i, j) in pattern.edges() {
        let mut smaller = Pattern::new(n);
        for v in (0..n).filter(|_| labelled.vertices) {
            smaller.set_vertex_label(v, pattern.vertex_label(v));
        }
        for (u, v) in pattern.edges().into_iter().filter(|&edge| edge != (i, j)) {
            labelled.add(&mut smaller, u, v, pattern.edge_label(u, v).unwrap_or(NO_LABEL));
        }
        // A vertex without another edge goes with this one.
        let kept: Vec<usize> = (0..n).filter(|&v| smaller.degree(v) > 0).collect();
        let smaller = smaller.induced(&kept);
        if !smaller.is_connected() {
            continue;
        }
        let (form, order) = smaller.canonical();
        let parent = &level[*known.get(&form)?];
        bounds.extend(parent.domains.iter().zip(&order).map(|(&at, &v)| (kept[v], at)));
    }
    Some(bounds)
}

//! Frequent patterns by minimum images, level by level: candidates on the host, their supports on the device. A level
//! is a number of edges, and all its candidates are examined together (`domains.rs`). (By embeddings they are counted
//! one by one by the strategy `plan`: [`gramer_engine::frequent::by_embeddings`].)

use std::collections::{HashMap, HashSet};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_engine::frequent::candidates::{
    Kind, LabelKinds, around, kinds, orbits, part, with_edge,
};
use gramer_engine::frequent::exchange::{self, FrequentDomains, Ranges};
use gramer_engine::{Count, Peers};
use gramer_graph::{Graph, Label, NO_LABEL};
use gramer_pattern::Pattern;
use gramer_pattern::task::SizeLimit;

use crate::by_label::ByLabel;
use crate::device::Device;
use crate::domains::{Candidate, DomainPlace, examine};
use crate::memory::Buffer;
use crate::wedges::{self, Supports};

/// A frequent pattern of a level, with the places of its domains.
struct LevelPattern {
    pattern: Pattern,
    domains: Vec<DomainPlace>,
    /// Index among the candidates.
    candidate: usize,
}

/// The edge-induced patterns up to a limit whose smallest domain has at least `support` vertices, and
/// whether all of them were examined. With others each examines some of a level's candidates, and all get
/// the domains of those that are frequent.
///
/// # Errors
/// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small, and
/// those of `together`.
pub(crate) fn by_images(
    device: &Device,
    graph: &Graph,
    by: &ByLabel,
    (limit, support): (SizeLimit, u64),
    together: Option<&dyn Peers>,
    fault: &Buffer<u32>,
    context: &Context,
) -> Result<(Vec<Count>, bool)> {
    let (max_vertices, max_edges) = match limit {
        SizeLimit::MaxVertices(n) => (n, n * (n - 1) / 2),
        SizeLimit::MaxEdges(n) => (n + 1, n),
    };
    let labelled = LabelKinds::of(graph);
    let free = |pattern: Pattern| Candidate { orbits: orbits(&pattern), pattern, bounds: vec![] };
    let (mut found, mut buffers): (Vec<Count>, Vec<Buffer<u32>>) = (vec![], vec![]);
    let mut around_frequent = HashMap::new();
    let (mut first, mut candidates) = (1, vec![]);
    let mut counted = max_vertices > 2 && max_edges > 1 && wedges::fits(device, by);
    if let Some(together) = together {
        // Candidates must be the same on all devices.
        counted = together.join(0, vec![u8::from(counted)])?.iter().all(|own| own[..] == [1]);
    }
    if counted {
        let supports = Supports::new(device, by, labelled)?;
        found = supports.edges(support);
        around_frequent = around(found.iter().map(|edge| kind(&edge.pattern)));
        let paths = supports.paths(support, context);
        if max_edges > 2 {
            // Those that are frequent, for their domains.
            candidates = paths.into_iter().map(|path| free(path.pattern)).collect();
            first = 2;
        } else {
            found.extend(paths);
            return Ok((found, true));
        }
    } else {
        let edges = kinds(graph, context)?.into_iter();
        candidates.extend(edges.map(|(kind, _)| free(labelled.edge(kind).canonical().0)));
    }
    for edges in first..=max_edges {
        context.progress.begin(candidates.len() as u64);
        let examined =
            CandidateBatch { device, by, candidates: &candidates, support, fault, context };
        // Computing the domains of paths is faster than exchanging them.
        let together = together.filter(|_| !counted || edges > first);
        let mut level = match examined.level(&buffers, together, edges) {
            Ok(None) | Err(Error::Interrupted) => return Ok((found, false)),
            level => level?.expect("the other case is above"),
        };
        if let Some(together) = together {
            level = examined.joined(level, together, edges, edges < max_edges)?;
        }
        let Level { known, supports, kept } = level;
        let patterns = known.iter().map(|known| known.pattern.clone());
        let counts: Vec<Count> =
            patterns.zip(supports).map(|(pattern, count)| Count { pattern, count }).collect();
        // Incomplete levels are not reported.
        found.extend(counts);
        if edges == 1 {
            around_frequent = around(known.iter().map(|known| kind(&known.pattern)));
        }
        if known.is_empty() || edges == max_edges {
            break;
        }
        candidates = extended(labelled, &known, &around_frequent, max_vertices, context);
        if together.is_some() {
            candidates = dealt(candidates);
        }
        buffers = kept;
    }
    Ok((found, true))
}

/// The kind of a pattern's only edge.
fn kind(edge: &Pattern) -> Kind {
    (edge.vertex_label(0), edge.vertex_label(1), edge.edge_label(0, 1).unwrap_or(NO_LABEL))
}

/// The frequent patterns of a level, their supports, and the buffers of their domains.
struct Level {
    known: Vec<LevelPattern>,
    supports: Vec<u128>,
    kept: Vec<Buffer<u32>>,
}

/// Candidates of a level, with the resources to examine them.
struct CandidateBatch<'a> {
    device: &'a Device,
    by: &'a ByLabel,
    candidates: &'a [Candidate],
    support: u64,
    fault: &'a Buffer<u32>,
    context: &'a Context,
}

impl CandidateBatch<'_> {
    /// Returns this device's frequent candidates; `None` if the run was cancelled.
    fn level(
        &self,
        buffers: &[Buffer<u32>],
        together: Option<&dyn Peers>,
        edges: usize,
    ) -> Result<Option<Level>> {
        let mut level = Level { known: vec![], supports: vec![], kept: vec![] };
        let mut ranges = Ranges::new(together, edges, self.candidates.len()).at_once();
        while let Some(range) = ranges.take()? {
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
                    let at = |&first: &u32| DomainPlace { buffer: level.kept.len(), first };
                    let domains = f.firsts.iter().map(at).collect();
                    let pattern = batch[f.candidate].pattern.clone();
                    level.known.push(LevelPattern {
                        pattern,
                        domains,
                        candidate: first + f.candidate,
                    });
                    level.supports.push(f.support.into());
                }
                level.kept.push(buffer);
                first += batch.len();
                self.context.progress.add(batch.len() as u64);
            }
        }
        Ok(Some(level))
    }

    /// Joins the results of all devices for a level, with its domains in one buffer if another level needs them.
    fn joined(
        &self,
        own: Level,
        together: &dyn Peers,
        edges: usize,
        domains: bool,
    ) -> Result<Level> {
        let words = |candidate: usize| {
            let Candidate { pattern, orbits, .. } = &self.candidates[candidate];
            if domains { self.by.words(pattern, orbits) } else { 0 }
        };
        let mut kept = vec![];
        for buffer in own.kept.iter().filter(|_| domains) {
            let mut read = vec![0; buffer.len()];
            buffer.read(&self.device.queue, &mut read)?;
            kept.push(read);
        }
        let found: Vec<FrequentDomains> = own
            .known
            .iter()
            .zip(own.supports)
            .map(|(known, support)| {
                // The domain of the first orbit comes first, and the others follow.
                let DomainPlace { buffer, first } = known.domains[0];
                let own = kept.get(buffer).map_or(&[][..], |kept| &kept[first as usize..]);
                let words = own[..words(known.candidate)].to_vec();
                FrequentDomains { candidate: known.candidate, support, words }
            })
            .collect();
        let all = exchange::join(together, edges, &found, self.candidates.len(), words)?;
        let mut level = Level { known: vec![], supports: vec![], kept: vec![] };
        let mut domains_of_all = vec![];
        for FrequentDomains { candidate, support, words } in all {
            let Candidate { pattern, orbits, .. } = &self.candidates[candidate];
            let begin = domains_of_all.len() as u32;
            let firsts = self.by.firsts(pattern, orbits);
            let domains =
                firsts.iter().map(|first| DomainPlace { buffer: 0, first: begin + first });
            let (pattern, domains) = (pattern.clone(), domains.collect());
            level.known.push(LevelPattern { pattern, domains, candidate });
            level.supports.push(support);
            domains_of_all.extend(words);
        }
        // What was this device's own is among them.
        drop(own.kept);
        if !domains {
            return Ok(level);
        }
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
    labelled: LabelKinds,
    level: &[LevelPattern],
    around: &HashMap<Label, Vec<(Label, Label)>>,
    max_vertices: usize,
    context: &Context,
) -> Vec<Candidate> {
    /// Patterns and forms that are worth a thread.
    const PATTERNS: usize = 16;
    const FORMS: usize = 256;
    let threads = context.threads().min(level.len() / PATTERNS).max(1);
    let parts = on_threads(threads, |thread| {
        let mut seen = HashSet::new();
        let mut forms = vec![];
        for known in &level[part(level.len(), thread, threads)] {
            with_edge(labelled, &known.pattern, around, max_vertices, |pattern| {
                let form = pattern.canonical().0;
                if seen.insert(form.clone()) {
                    forms.push(form);
                }
            });
        }
        forms
    });
    let mut seen = HashSet::new();
    let forms: Vec<&Pattern> = parts.iter().flatten().filter(|&form| seen.insert(form)).collect();
    let threads = context.threads().min(forms.len() / FORMS).max(1);
    let known: HashMap<&Pattern, usize> =
        level.iter().enumerate().map(|(at, k)| (&k.pattern, at)).collect();
    let parts = on_threads(threads, |thread| {
        let candidate = |&form: &&Pattern| {
            let bounds = bounds(labelled, form, level, &known)?;
            Some(Candidate { orbits: orbits(form), pattern: form.clone(), bounds })
        };
        let forms = &forms[part(forms.len(), thread, threads)];
        forms.iter().filter_map(candidate).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// Reorders candidates so that every range has a similar mix: neighbouring generated candidates are similar and take
/// about as long.
fn dealt<T>(candidates: Vec<T>) -> Vec<T> {
    let all = candidates.len();
    let mut rest: Vec<Option<T>> = candidates.into_iter().map(Some).collect();
    // Steps of the golden section, which leave no gaps: the next number that has no factor in common.
    let step = (all * 618 / 1000..).find(|&step| gcd(step, all) == 1).unwrap_or(1);
    let order = (0..all).map(|at| at * step % all);
    order.filter_map(|at| rest[at].take()).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Bounds of a candidate's domains: the domains of all connected patterns with one edge fewer; `None` if
/// one of those isn't frequent.
fn bounds(
    labelled: LabelKinds,
    pattern: &Pattern,
    level: &[LevelPattern],
    known: &HashMap<&Pattern, usize>,
) -> Option<Vec<(usize, DomainPlace)>> {
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
        // A vertex without another edge is removed with this one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_what_is_dealt_has_its_share_of_each_kind() {
        for all in (0..40).chain([100, 236, 1000]) {
            let mut order = dealt((0..all).collect());
            if all >= 100 {
                let first_half = order[..all / 2].iter().filter(|&&at| at < all / 5).count();
                assert!(first_half.abs_diff(all / 10) <= 3 + all / 100, "{all}: {first_half}");
            }
            order.sort_unstable();
            assert!(order.into_iter().eq(0..all), "{all}");
        }
    }
}

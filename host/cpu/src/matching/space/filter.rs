//! Which graph vertices stay candidates: by label and degree, by the labels of their neighbours, and by
//! rounds of refinement.

use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{Label, NO_LABEL, VertexId, View};
use gramer_pattern::plan::search::bits;
use gramer_pattern::{MAX_VERTICES, Pattern, VertexSet, automorphism_orbits};

use super::Space;
use super::bipartite::Matching;

/// Maximum number of rounds of refinement; what is left after them is found by the search. From the third on, only
/// candidates are looked at that have lost something nearby.
const ROUNDS: usize = 12;
/// Filtering ends after a round that drops less than one candidate in this many.
const WORTHWHILE: usize = 64;

/// The candidates while they are being sorted out.
pub(super) struct Filter<'a> {
    graph: View<'a>,
    pattern: &'a Pattern,
    /// Whether the neighbours of a vertex have different images.
    apart: bool,
    n: usize,
    /// By graph vertex, as bits: the pattern vertices that it is a candidate of. All rules look at
    /// a vertex and its neighbours at once, so that pattern vertices that an automorphism
    /// exchanges always have the same candidates.
    masks: Vec<VertexSet>,
    /// Graph vertices whose mask isn't 0.
    alive: Vec<VertexId>,
    /// The different edge labels that the pattern asks for, ascending.
    edge_labels: Vec<Label>,
    /// By pattern vertex: for each entry of `edge_labels`, as bits, the neighbours over it.
    over: Vec<Vec<VertexSet>>,
}

impl<'a> Filter<'a> {
    /// Candidates by label and degree.
    pub(super) fn new(graph: View<'a>, pattern: &'a Pattern, apart: bool) -> Self {
        let n = pattern.vertices();
        let mut edge_labels: Vec<Label> = pattern
            .edges()
            .iter()
            .map(|&(i, j)| pattern.edge_label(i, j).expect("edge"))
            .filter(|&l| l != NO_LABEL)
            .collect();
        edge_labels.sort_unstable();
        edge_labels.dedup();
        let over = (0..n)
            .map(|u| {
                let with = |label| {
                    (0..n)
                        .filter(move |&w| pattern.edge_label(u, w) == Some(label))
                        .fold(0, |m, w| m | 1 << w)
                };
                edge_labels.iter().map(|&label| with(label)).collect()
            })
            .collect();
        let mut by_label: Vec<(Label, VertexSet)> = vec![];
        let mut any = 0;
        for u in 0..n {
            match pattern.vertex_label(u) {
                NO_LABEL => any |= 1 << u,
                label => match by_label.iter_mut().find(|l| l.0 == label) {
                    Some(l) => l.1 |= 1 << u,
                    None => by_label.push((label, 1 << u)),
                },
            }
        }
        by_label.sort_unstable();
        let mut with_degree: Vec<VertexSet> = vec![0; MAX_VERTICES];
        for (d, mask) in with_degree.iter_mut().enumerate() {
            let least = |u| pattern.degree(u).min(if apart { MAX_VERTICES } else { 1 });
            *mask = (0..n).filter(|&u| least(u) <= d).fold(0, |m, u| m | 1 << u);
        }
        let mut masks = zeroed_or_unwind(graph.vertices());
        let mut alive = vec![];
        for x in 0..graph.vertices() as VertexId {
            let label = graph.vertex_labels.map_or(NO_LABEL, |l| l[x as usize]);
            let named = by_label.binary_search_by_key(&label, |l| l.0).map_or(0, |i| by_label[i].1);
            let mask = (named | any) & with_degree[graph.degree(x).min(MAX_VERTICES - 1)];
            if mask != 0 {
                masks[x as usize] = mask;
                alive.push(x);
            }
        }
        Filter { graph, pattern, apart, n, masks, alive, edge_labels, over }
    }

    /// Every pattern vertex must find, for each group of its neighbours with the same label, as
    /// many neighbours of that label.
    pub(super) fn by_neighbour_labels(&mut self, cancel: &Cancel) -> Result<()> {
        if !self.apart {
            return Ok(());
        }
        let mut groups: Vec<Vec<(VertexSet, u32)>> = vec![vec![]; self.n];
        for (u, groups) in groups.iter_mut().enumerate() {
            let mut left = self.pattern.neighbours(u);
            while left != 0 {
                let label = self.pattern.vertex_label(left.trailing_zeros() as usize);
                let same = bits(left)
                    .filter(|&w| self.pattern.vertex_label(w) == label)
                    .fold(0, |m: VertexSet, w| m | 1 << w);
                left &= !same;
                groups.push((same, same.count_ones()));
            }
            // One neighbour is what refinement tests.
            groups.retain(|g| g.1 > 1);
        }
        // A neighbour serves the group if it is a candidate of any of its members: they differ at
        // most in degree.
        let masks = &self.masks;
        let mut distinct: Vec<(VertexSet, u32)> = groups.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let needs: Vec<Vec<usize>> = groups
            .iter()
            .map(|g| g.iter().map(|g| distinct.binary_search(g).expect("collected")).collect())
            .collect();
        if distinct.is_empty() {
            return Ok(());
        }
        let mut counts = zeroed_or_unwind::<u32>(distinct.len());
        let mut kept = vec![];
        let mut changes = vec![];
        for (i, &x) in self.alive.iter().enumerate() {
            if i % 1024 == 0 {
                cancel.check()?;
            }
            let mut mask = masks[x as usize];
            if bits(mask).any(|u| !needs[u].is_empty()) {
                counts.fill(0);
                for &y in self.graph.neighbours(x) {
                    let there = masks[y as usize];
                    if there != 0 {
                        for (count, group) in counts.iter_mut().zip(&distinct) {
                            *count += u32::from(there & group.0 != 0);
                        }
                    }
                }
                for u in bits(mask) {
                    if needs[u].iter().any(|&g| counts[g] < distinct[g].1) {
                        mask &= !(1 << u);
                    }
                }
            }
            if mask != masks[x as usize] {
                changes.push((x, mask));
            }
            if mask != 0 {
                kept.push(x);
            }
        }
        for (x, mask) in changes {
            self.masks[x as usize] = mask;
        }
        self.alive = kept;
        Ok(())
    }

    /// Drops candidates that can't be part of a mapping because of their neighbours, in rounds: a
    /// candidate of u needs, for the neighbours of u, as many different neighbours that are
    /// candidates of theirs, over edges with the right labels (the semi-perfect matching of
    /// GraphQL; He and Singh, 2008).
    pub(super) fn refine(&mut self, cancel: &Cancel) -> Result<()> {
        let mut matching = Matching::default();
        let mut by_label = vec![];
        let crowded = self.crowded();
        // By graph vertex: whether a neighbour has lost something since it was looked at.
        let mut stale = zeroed_or_unwind::<bool>(self.masks.len());
        for round in 0..ROUNDS {
            let mut dropped = 0;
            let mut before = 0;
            let mut alive = std::mem::take(&mut self.alive);
            for (i, &x) in alive.iter().enumerate() {
                if i % 1024 == 0 {
                    cancel.check()?;
                }
                let old = self.masks[x as usize];
                before += old.count_ones() as usize;
                let again = std::mem::take(&mut stale[x as usize]);
                if round > 1 && !again {
                    continue;
                }
                let mut mask = self.supported(x, old, &mut by_label);
                // Matching costs more; it pays once most candidates without support are gone.
                if mask & crowded != 0 && round > 0 {
                    mask &= !crowded | self.matched(x, mask & crowded, &mut matching);
                }
                if mask == old {
                    continue;
                }
                dropped += (old & !mask).count_ones() as usize;
                self.masks[x as usize] = mask;
                if round > 0 {
                    self.graph.neighbours(x).iter().for_each(|&y| stale[y as usize] = true);
                }
            }
            alive.retain(|&x| self.masks[x as usize] != 0);
            self.alive = alive;
            if round > 0 && dropped * WORTHWHILE <= before {
                break;
            }
        }
        Ok(())
    }

    /// The pattern vertices with two neighbours that may want the same graph vertex. To all others each neighbour
    /// for each of theirs is a different one.
    fn crowded(&self) -> VertexSet {
        let label = |w: usize| self.pattern.vertex_label(w);
        let alike = |a: usize, b: usize| {
            label(a) == label(b) || label(a) == NO_LABEL || label(b) == NO_LABEL
        };
        let near = |u: usize| self.pattern.neighbours(u);
        (0..self.n)
            .filter(|&u| {
                self.apart && bits(near(u)).any(|a| bits(near(u)).any(|b| a < b && alike(a, b)))
            })
            .fold(0, |m, u| m | 1 << u)
    }

    /// The members of `mask` whose every neighbour has a candidate next to x.
    fn supported(&self, x: VertexId, mask: VertexSet, by_label: &mut Vec<VertexSet>) -> VertexSet {
        let mut any = 0;
        if self.edge_labels.is_empty() {
            let wanted = bits(mask).fold(0, |m, u| m | self.pattern.neighbours(u));
            for &y in self.graph.neighbours(x) {
                any |= self.masks[y as usize];
                if wanted & !any == 0 {
                    return mask;
                }
            }
            return bits(mask)
                .filter(|&u| self.pattern.neighbours(u) & !any == 0)
                .fold(0, |m, u| m | 1 << u);
        }
        by_label.clear();
        by_label.resize(self.edge_labels.len(), 0);
        let labels = self.graph.edge_labels.expect("a pattern with edge labels needs them");
        for at in self.graph.row(x) {
            let there = self.masks[self.graph.neighbours[at] as usize];
            any |= there;
            if there != 0
                && let Ok(l) = self.edge_labels.binary_search(&labels[at])
            {
                by_label[l] |= there;
            }
        }
        bits(mask)
            .filter(|&u| {
                self.pattern.neighbours(u) & !any == 0
                    && self.over[u]
                        .iter()
                        .zip(by_label.iter())
                        .all(|(need, have)| need & !have == 0)
            })
            .fold(0, |m, u| m | 1 << u)
    }

    /// The members of `mask` whose neighbours can be matched to different neighbours of x.
    fn matched(&self, x: VertexId, mask: VertexSet, matching: &mut Matching) -> VertexSet {
        let near = |at: usize| self.masks[self.graph.neighbours[at] as usize];
        let mut fits = |u: usize| {
            let neighbours = self.pattern.neighbours(u);
            let labels = self.graph.edge_labels.filter(|_| !self.edge_labels.is_empty());
            let Some(labels) = labels else {
                let serve = self.graph.row(x).map(|at| near(at) & neighbours);
                return matching.saturates(neighbours, serve);
            };
            // Over a label that no edge here asks for, only unlabelled edges go.
            let labelled = self.over[u].iter().fold(0, |m, w| m | w);
            let serve = self.graph.row(x).map(|at| {
                let label = self.edge_labels.binary_search(&labels[at]).ok();
                near(at) & neighbours & (!labelled | label.map_or(0, |l| self.over[u][l]))
            });
            matching.saturates(neighbours, serve)
        };
        bits(mask).filter(|&u| fits(u)).fold(0, |m, u| m | 1 << u)
    }

    /// One class an orbit, or one for all pattern vertices with equal candidates.
    pub(super) fn classes(&self) -> (Vec<u8>, Vec<Option<Vec<VertexId>>>) {
        let orbits = automorphism_orbits(self.pattern);
        let mut class = vec![u8::MAX; self.n];
        let mut classes: Vec<Option<Vec<VertexId>>> = vec![];
        for u in 0..self.n {
            if class[u] != u8::MAX {
                continue;
            }
            let mine: Vec<VertexId> = self
                .alive
                .iter()
                .copied()
                .filter(|&x| self.masks[x as usize] >> u & 1 == 1)
                .collect();
            let number = classes.iter().position(|c| c.as_ref() == Some(&mine));
            let number = number.unwrap_or_else(|| {
                classes.push(Some(mine));
                classes.len() - 1
            });
            for w in bits(orbits[u]) {
                debug_assert!(
                    self.alive.iter().all(|&x| {
                        let mask = self.masks[x as usize];
                        mask >> u & 1 == mask >> w & 1
                    }),
                    "refinement keeps the pattern's symmetry"
                );
                class[w] = number as u8;
            }
        }
        (class, classes)
    }

    /// Counts what the order of matching and the plan are made from.
    pub(super) fn measure(
        &self,
        space: &mut Space<'_>,
        induced: bool,
        cancel: &Cancel,
    ) -> Result<()> {
        if induced {
            space.linked.fill(0);
        }
        // By pattern vertex: how many of its candidates are next to x. Where labels of edges count that depends on
        // the pattern's other vertex, too.
        let mut near = [0u32; MAX_VERTICES];
        let mut lengths = [[0u32; MAX_VERTICES]; MAX_VERTICES];
        let labels = self.graph.edge_labels.filter(|_| !self.edge_labels.is_empty());
        for (i, &x) in self.alive.iter().enumerate() {
            if i % 1024 == 0 {
                cancel.check()?;
            }
            let here = self.masks[x as usize];
            for u in bits(here) {
                space.overlap[u] |= here;
            }
            let mut any = 0;
            for at in self.graph.row(x) {
                let there = self.masks[self.graph.neighbours[at] as usize];
                if there == 0 {
                    continue;
                }
                any |= there;
                let Some(labels) = labels else {
                    bits(there).for_each(|w| near[w] += 1);
                    continue;
                };
                for u in bits(here) {
                    for w in bits(there & self.pattern.neighbours(u)) {
                        let need = self.pattern.edge_label(u, w).expect("neighbours");
                        lengths[u][w] += u32::from(need == NO_LABEL || need == labels[at]);
                    }
                }
            }
            for u in bits(here) {
                if induced {
                    space.linked[u] |= any;
                }
                for w in bits(self.pattern.neighbours(u)) {
                    let length = near[w] + std::mem::take(&mut lengths[u][w]);
                    let length = f64::from(length);
                    space.sizes[u][w].entries += length;
                    space.sizes[u][w].squares += length * length;
                }
            }
            near[..self.n].fill(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_candidate_loses_is_noticed_by_its_neighbours_round_after_round() {
        // A triangle with a tail of nine. The tail's end has no support, then the vertex before it, and so on.
        let mut builder = gramer_graph::Builder::new();
        for v in 0..12 {
            builder.labelled_vertex(v, (v % 3) as Label);
        }
        (1..12).for_each(|v| builder.edge(v - 1, v));
        builder.edge(0, 2);
        let graph = builder.build();
        let mut pattern = Pattern::clique(3);
        (0..3).for_each(|v| pattern.set_vertex_label(v, v as Label));
        let mut filter = Filter::new(graph.view(), &pattern, true);
        filter.refine(&Cancel::default()).unwrap();
        assert_eq!(filter.alive, [0, 1, 2]);
    }
}

//! The candidate space: which graph vertices a pattern vertex may be mapped to, and which of them
//! are neighbours.
//!
//! A candidate is known by its *position* in the ascending list of its class, so that the lists of
//! neighbours hold positions, need no hash tables, and stay sorted by id. Pattern vertices that an
//! automorphism exchanges share a class. Where nothing restricts the candidates — patterns without
//! labels — there is one class of all vertices, positions are ids, and the lists are the rows of
//! the graph itself.

use std::borrow::Cow;

use gramer_graph::context::Cancel;
use gramer_graph::error::Result;
use gramer_graph::{Label, NO_LABEL, VertexId, View};
use gramer_pattern::{MAX_VERTICES, Pattern, automorphism_orbits_chain};

use gramer_pattern::plan::candidates::Candidates;
use gramer_pattern::plan::search::{SearchPlan, bits};

/// Most rounds of refinement; what is left after them is found by the search.
const ROUNDS: usize = 6;
/// A round that drops less than one candidate in so many is the last.
const WORTHWHILE: usize = 64;

/// For each candidate of one class, its neighbours in another: a part of `items`.
pub(super) struct Lists<'g> {
    offsets: Cow<'g, [u64]>,
    items: Cow<'g, [u32]>,
}

impl Lists<'_> {
    #[inline]
    pub fn of(&self, position: u32) -> &[u32] {
        let p = position as usize;
        &self.items[self.offsets[p] as usize..self.offsets[p + 1] as usize]
    }
}

/// Sizes of the lists of one directed pattern edge.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ListSize {
    /// Sum of the lengths.
    pub entries: f64,
    /// Sum of the squared lengths.
    pub squares: f64,
}

/// Candidates of every pattern vertex; see the module.
pub(super) struct Space<'g> {
    pub graph: View<'g>,
    /// Class of each pattern vertex.
    class: Vec<u8>,
    /// Ids by position; `None` for the class of all vertices.
    classes: Vec<Option<Vec<VertexId>>>,
    /// For each pattern vertex, as bits: those that share a candidate with it.
    overlap: Vec<u16>,
    /// For each pattern vertex, as bits: those with a candidate next to one of its own.
    linked: Vec<u16>,
    /// By pattern vertex and neighbour.
    sizes: Vec<[ListSize; MAX_VERTICES]>,
    lists: Vec<Lists<'g>>,
    /// What each entry of `lists` is: from class, to class, edge label.
    keys: Vec<(u8, u8, Label)>,
}

impl<'g> Space<'g> {
    /// Finds the candidates. `pattern` must ask for no kind of label that the graph doesn't have.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Interrupted`].
    pub fn new(graph: View<'g>, pattern: &Pattern, induced: bool, cancel: &Cancel) -> Result<Self> {
        let n = pattern.vertices();
        if !pattern.has_vertex_labels() && !pattern.has_edge_labels() {
            let all = ((1u32 << n) - 1) as u16;
            let entries = graph.neighbours.len() as f64;
            let squares =
                graph.offsets.windows(2).map(|w| (w[1] - w[0]) as f64).map(|d| d * d).sum();
            return Ok(Space {
                graph,
                class: vec![0; n],
                classes: vec![None],
                overlap: vec![all; n],
                linked: vec![all; n],
                sizes: vec![[ListSize { entries, squares }; MAX_VERTICES]; n],
                lists: vec![],
                keys: vec![],
            });
        }
        let mut filter = Filter::new(graph, pattern);
        filter.by_neighbour_labels(cancel)?;
        filter.refine(cancel)?;
        let (class, classes) = filter.classes();
        let mut space = Space {
            graph,
            class,
            classes,
            overlap: vec![0; n],
            linked: vec![((1u32 << n) - 1) as u16; n],
            sizes: vec![[ListSize::default(); MAX_VERTICES]; n],
            lists: vec![],
            keys: vec![],
        };
        filter.measure(&mut space, induced, cancel)?;
        Ok(space)
    }

    /// The candidates by label alone, in the classes of a plan.
    pub fn of_plan(graph: View<'g>, plan: &SearchPlan) -> Self {
        let n = plan.pattern.vertices();
        let mut class = vec![0; n];
        for step in &plan.steps {
            class[step.vertex] = step.class;
        }
        // A vertex that a formula counts has no step, but the class of its set.
        let unlabelled =
            plan.classes.iter().all(|&label| label == NO_LABEL) && !plan.pattern.has_edge_labels();
        let members = |&label: &Label| {
            let every = 0..graph.vertices() as VertexId;
            every.filter(|&x| label == NO_LABEL || graph.vertex_label(x) == label).collect()
        };
        let classes = match unlabelled {
            true => vec![None],
            false => plan.classes.iter().map(members).map(Some).collect(),
        };
        Space {
            graph,
            class,
            classes,
            overlap: vec![u16::MAX; n],
            linked: vec![u16::MAX; n],
            sizes: vec![],
            lists: vec![],
            keys: vec![],
        }
    }

    /// Makes the lists that the sets of a plan are made from, and returns the number of the lists of
    /// each set that has one. Sets of the same classes share their lists.
    pub fn build_lists(
        &mut self,
        plan: &SearchPlan,
        cancel: &Cancel,
    ) -> Result<Vec<Option<usize>>> {
        let keys: Vec<Option<(u8, u8, Label)>> = plan
            .sets
            .iter()
            .map(|set| set.list.map(|l| (self.class[l.of], set.class, l.edge_label)))
            .collect();
        let mut wanted: Vec<(u8, u8, Label)> = keys.iter().copied().flatten().collect();
        wanted.sort_unstable_by_key(|k| (k.1, k.0, k.2));
        wanted.dedup();
        let mut position: Vec<u32> = vec![];
        let mut last = None;
        for (from, to, label) in wanted {
            cancel.check()?;
            let lists = match (&self.classes[from as usize], &self.classes[to as usize]) {
                (None, None) => Lists {
                    offsets: Cow::Borrowed(self.graph.offsets),
                    items: Cow::Borrowed(self.graph.neighbours),
                },
                (Some(sources), Some(targets)) => {
                    position.resize(self.graph.vertices(), u32::MAX);
                    if last != Some(to) {
                        if let Some(old) = last.and_then(|c: u8| self.classes[c as usize].as_ref())
                        {
                            for &x in old {
                                position[x as usize] = u32::MAX;
                            }
                        }
                        for (p, &x) in targets.iter().enumerate() {
                            position[x as usize] = p as u32;
                        }
                        last = Some(to);
                    }
                    lists_between(self.graph, sources, targets, &position, label)
                }
                _ => unreachable!("either all classes are of all vertices or none is"),
            };
            self.lists.push(lists);
            self.keys.push((from, to, label));
        }
        let number = |key| self.keys.iter().position(|&k| k == key).expect("just made");
        Ok(keys.into_iter().map(|key| key.map(number)).collect())
    }

    /// The lists with this number; see [`Space::build_lists`].
    #[inline]
    pub fn lists(&self, number: usize) -> &Lists<'g> {
        &self.lists[number]
    }

    /// Number of candidates of a pattern vertex.
    pub fn candidates(&self, v: usize) -> usize {
        self.classes[self.class[v] as usize].as_ref().map_or(self.graph.vertices(), Vec::len)
    }

    /// The candidates of a pattern vertex by position; `None` for all vertices.
    pub fn ids(&self, v: usize) -> Option<&[VertexId]> {
        self.classes[self.class[v] as usize].as_deref()
    }

    /// The graph vertex at a position of a class.
    #[inline]
    pub fn id(&self, class: u8, position: u32) -> VertexId {
        match &self.classes[class as usize] {
            None => position,
            Some(ids) => ids[position as usize],
        }
    }

    /// Whether a class has all vertices, so that positions are ids.
    #[inline]
    pub fn is_every_vertex(&self, class: u8) -> bool {
        self.classes[class as usize].is_none()
    }

    /// Sizes of the lists from the candidates of `u` to those of its neighbour `w`.
    pub fn size(&self, u: usize, w: usize) -> ListSize {
        self.sizes[u][w]
    }
}

impl Candidates for Space<'_> {
    fn class(&self, v: usize) -> u8 {
        self.class[v]
    }

    fn overlap(&self, v: usize) -> u16 {
        self.overlap[v]
    }

    fn linked(&self, v: usize) -> u16 {
        self.linked[v]
    }
}

fn lists_between<'g>(
    graph: View<'_>,
    sources: &[VertexId],
    targets: &[VertexId],
    position: &[u32],
    label: Label,
) -> Lists<'g> {
    let mut offsets = Vec::with_capacity(sources.len() + 1);
    let mut items = vec![];
    offsets.push(0);
    for &x in sources {
        let row = graph.row(x);
        match graph.edge_labels.filter(|_| label != NO_LABEL) {
            None if targets.len() * 8 < row.len() => {
                let row = &graph.neighbours[row];
                items.extend(
                    (0u32..)
                        .zip(targets)
                        .filter_map(|(p, y)| row.binary_search(y).is_ok().then_some(p)),
                );
            }
            None => {
                let row = graph.neighbours[row].iter().map(|&y| position[y as usize]);
                items.extend(row.filter(|&p| p != u32::MAX));
            }
            Some(labels) => {
                let row = graph.neighbours[row.clone()].iter().zip(&labels[row]);
                let row = row.filter(|&(_, &l)| l == label).map(|(&y, _)| position[y as usize]);
                items.extend(row.filter(|&p| p != u32::MAX));
            }
        }
        offsets.push(items.len() as u64);
    }
    Lists { offsets: offsets.into(), items: items.into() }
}

/// The candidates while they are being sorted out.
struct Filter<'a> {
    graph: View<'a>,
    pattern: &'a Pattern,
    n: usize,
    /// By graph vertex, as bits: the pattern vertices that it is a candidate of. All rules look at
    /// a vertex and its neighbours at once, so that pattern vertices that an automorphism
    /// exchanges always have the same candidates.
    masks: Vec<u16>,
    /// Graph vertices whose mask isn't 0.
    alive: Vec<VertexId>,
    /// The different edge labels that the pattern asks for, ascending.
    edge_labels: Vec<Label>,
    /// By pattern vertex: for each entry of `edge_labels`, as bits, the neighbours over it.
    over: Vec<Vec<u16>>,
}

impl<'a> Filter<'a> {
    /// Candidates by label and degree.
    fn new(graph: View<'a>, pattern: &'a Pattern) -> Self {
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
        let mut by_label: Vec<(Label, u16)> = vec![];
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
        let mut with_degree: Vec<u16> = vec![0; MAX_VERTICES];
        for (d, mask) in with_degree.iter_mut().enumerate() {
            *mask = (0..n).filter(|&u| pattern.degree(u) <= d).fold(0, |m, u| m | 1 << u);
        }
        let mut masks = vec![0; graph.vertices()];
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
        Filter { graph, pattern, n, masks, alive, edge_labels, over }
    }

    /// Every pattern vertex must find, for each group of its neighbours with the same label, as
    /// many neighbours of that label.
    fn by_neighbour_labels(&mut self, cancel: &Cancel) -> Result<()> {
        let mut groups: Vec<Vec<(u16, u32)>> = vec![vec![]; self.n];
        for (u, groups) in groups.iter_mut().enumerate() {
            let mut left = self.pattern.neighbours(u);
            while left != 0 {
                let label = self.pattern.vertex_label(left.trailing_zeros() as usize);
                let same = bits(left)
                    .filter(|&w| self.pattern.vertex_label(w) == label)
                    .fold(0u16, |m, w| m | 1 << w);
                left &= !same;
                groups.push((same, same.count_ones()));
            }
            // One neighbour is what refinement tests.
            groups.retain(|g| g.1 > 1);
        }
        // A neighbour serves the group if it is a candidate of any of its members: they differ at
        // most in degree.
        let masks = &self.masks;
        let mut distinct: Vec<(u16, u32)> = groups.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let needs: Vec<Vec<usize>> = groups
            .iter()
            .map(|g| g.iter().map(|g| distinct.binary_search(g).expect("collected")).collect())
            .collect();
        if distinct.is_empty() {
            return Ok(());
        }
        let mut counts = vec![0u32; distinct.len()];
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
    fn refine(&mut self, cancel: &Cancel) -> Result<()> {
        let mut matching = Matching::default();
        for round in 0..ROUNDS {
            let mut dropped = 0;
            let mut before = 0;
            let alive = std::mem::take(&mut self.alive);
            let mut kept = Vec::with_capacity(alive.len());
            for (i, &x) in alive.iter().enumerate() {
                if i % 1024 == 0 {
                    cancel.check()?;
                }
                let old = self.masks[x as usize];
                let mut mask = self.supported(x, old);
                // Matching costs more; it pays once most candidates without support are gone.
                if mask != 0 && round > 0 {
                    mask = self.matched(x, mask, &mut matching);
                }
                before += old.count_ones() as usize;
                dropped += (old & !mask).count_ones() as usize;
                self.masks[x as usize] = mask;
                if mask != 0 {
                    kept.push(x);
                }
            }
            self.alive = kept;
            if round > 0 && dropped * WORTHWHILE <= before {
                break;
            }
        }
        Ok(())
    }

    /// The members of `mask` whose every neighbour has a candidate next to x.
    fn supported(&self, x: VertexId, mask: u16) -> u16 {
        let mut any = 0;
        if self.edge_labels.is_empty() {
            for &y in self.graph.neighbours(x) {
                any |= self.masks[y as usize];
            }
            return bits(mask)
                .filter(|&u| self.pattern.neighbours(u) & !any == 0)
                .fold(0, |m, u| m | 1 << u);
        }
        let mut by_label = [0u16; 128];
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
                    && self.over[u].iter().zip(&by_label).all(|(need, have)| need & !have == 0)
            })
            .fold(0, |m, u| m | 1 << u)
    }

    /// The members of `mask` whose neighbours can be matched to different neighbours of x.
    fn matched(&self, x: VertexId, mask: u16, matching: &mut Matching) -> u16 {
        matching.near.clear();
        for at in self.graph.row(x) {
            let there = self.masks[self.graph.neighbours[at] as usize];
            if there != 0 {
                let label = match self.graph.edge_labels {
                    Some(labels) if !self.edge_labels.is_empty() => {
                        self.edge_labels.binary_search(&labels[at]).unwrap_or(usize::MAX)
                    }
                    _ => usize::MAX,
                };
                matching.near.push((there, label));
            }
        }
        bits(mask)
            .filter(|&u| {
                let neighbours = self.pattern.neighbours(u);
                // Over a label that no edge here asks for, only unlabelled edges go.
                let labelled = self.over[u].iter().fold(0, |m, w| m | w);
                matching.saturates(neighbours, |there, label| {
                    let over = self.over[u].get(label).copied().unwrap_or(0);
                    there & neighbours & (!labelled | over)
                })
            })
            .fold(0, |m, u| m | 1 << u)
    }

    /// One class an orbit, or one for all pattern vertices with equal candidates.
    fn classes(&self) -> (Vec<u8>, Vec<Option<Vec<VertexId>>>) {
        let colours = vec![0; self.n];
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
            for w in bits(automorphism_orbits_chain(self.pattern, &[u], &colours)[0]) {
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
    fn measure(&self, space: &mut Space<'_>, induced: bool, cancel: &Cancel) -> Result<()> {
        if induced {
            space.linked.fill(0);
        }
        let mut lengths = [[0u32; MAX_VERTICES]; MAX_VERTICES];
        for (i, &x) in self.alive.iter().enumerate() {
            if i % 1024 == 0 {
                cancel.check()?;
            }
            let here = self.masks[x as usize];
            for u in bits(here) {
                space.overlap[u] |= here;
                lengths[u] = [0; MAX_VERTICES];
            }
            let mut any = 0;
            for at in self.graph.row(x) {
                let there = self.masks[self.graph.neighbours[at] as usize];
                if there == 0 {
                    continue;
                }
                any |= there;
                let label = match self.graph.edge_labels {
                    Some(labels) if !self.edge_labels.is_empty() => labels[at],
                    _ => NO_LABEL,
                };
                for u in bits(here) {
                    for w in bits(there & self.pattern.neighbours(u)) {
                        let need = self.pattern.edge_label(u, w).expect("neighbours");
                        lengths[u][w] += u32::from(need == NO_LABEL || need == label);
                    }
                }
            }
            for u in bits(here) {
                if induced {
                    space.linked[u] |= any;
                }
                for w in bits(self.pattern.neighbours(u)) {
                    let length = f64::from(lengths[u][w]);
                    space.sizes[u][w].entries += length;
                    space.sizes[u][w].squares += length * length;
                }
            }
        }
        Ok(())
    }
}

/// Bipartite matching of a pattern vertex's neighbours with those of a graph vertex.
#[derive(Default)]
struct Matching {
    /// The candidates near by: mask and number of the edge label.
    near: Vec<(u16, usize)>,
    /// Per entry of `near`: the pattern vertices that it may stand for, and the one it does.
    may: Vec<u16>,
    owner: Vec<u8>,
}

impl Matching {
    /// Whether all of `wanted` get different entries of `near`.
    fn saturates(&mut self, wanted: u16, may: impl Fn(u16, usize) -> u16) -> bool {
        let size = wanted.count_ones() as usize;
        self.may.clear();
        // More than `size` entries that serve the same vertices are never needed.
        let mut counts = [0usize; MAX_VERTICES];
        for &(there, label) in &self.near {
            let serves = may(there, label);
            if serves != 0 {
                let mut needed = false;
                for w in bits(serves) {
                    counts[w] += 1;
                    needed |= counts[w] <= size;
                }
                if needed {
                    self.may.push(serves);
                }
            }
        }
        // Whoever has `size` choices finds one whatever the others take.
        if bits(wanted).any(|w| counts[w] == 0) {
            return false;
        }
        let scarce = bits(wanted).filter(|&w| counts[w] < size).fold(0u16, |m, w| m | 1 << w);
        self.owner.clear();
        self.owner.resize(self.may.len(), u8::MAX);
        bits(scarce).all(|w| {
            let mut seen = [false; MAX_VERTICES];
            self.augment(w, &mut seen)
        })
    }

    /// Looks for an entry for `w`, moving others. `seen` holds the vertices already moved.
    fn augment(&mut self, w: usize, seen: &mut [bool; MAX_VERTICES]) -> bool {
        seen[w] = true;
        for i in 0..self.may.len() {
            if self.may[i] >> w & 1 == 0 {
                continue;
            }
            let owner = self.owner[i];
            if owner == u8::MAX || (!seen[owner as usize] && self.augment(owner as usize, seen)) {
                self.owner[i] = w as u8;
                return true;
            }
        }
        false
    }
}

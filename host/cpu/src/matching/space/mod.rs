//! The candidate space: which graph vertices a pattern vertex may be mapped to, and which of them
//! are neighbours.
//!
//! A candidate is known by its *position* in the ascending list of its class, so that the lists of
//! neighbours hold positions, need no hash tables, and stay sorted by id. Pattern vertices that an
//! automorphism exchanges share a class. Where nothing restricts the candidates — patterns without
//! labels — there is one class of all vertices, positions are ids, and the lists are the rows of
//! the graph itself.

mod bipartite;
mod filter;
mod rows;

use std::borrow::Cow;

use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_base::memory::filled_or_unwind;
use gramer_graph::{Label, NO_LABEL, VertexId, View};
use gramer_pattern::plan::candidates::Candidates;
use gramer_pattern::plan::search::SearchPlan;
use gramer_pattern::task::Mappings;
use gramer_pattern::{MAX_VERTICES, Pattern, VertexSet, all_vertices};

use super::marks::formulas;
use super::sets::Bits;
use filter::Filter;
use rows::Rows;

/// Maximum number of entries of the tables from graph vertices to positions.
const PLACES: usize = 1 << 20;
/// In such a table: not a candidate of the class.
const NOWHERE: u32 = u32::MAX;

/// For each candidate of one class, its neighbours in another: a part of `items`.
pub(super) struct Lists<'g> {
    offsets: Cow<'g, [u64]>,
    items: Cow<'g, [u32]>,
    /// The lists as bits, if that is faster.
    rows: Option<Rows>,
}

impl Lists<'_> {
    /// The list as bits.
    #[inline]
    pub fn row(&self, position: u32) -> Option<Bits<'_>> {
        Some(self.rows.as_ref()?.of(position))
    }

    /// Whether there are such rows.
    pub fn has_rows(&self) -> bool {
        self.rows.is_some()
    }

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
    overlap: Vec<VertexSet>,
    /// For each pattern vertex, as bits: those with a candidate next to one of its candidates.
    linked: Vec<VertexSet>,
    /// By pattern vertex and neighbour.
    sizes: Vec<[ListSize; MAX_VERTICES]>,
    lists: Vec<Lists<'g>>,
    /// Key of each entry of `lists`: from class, to class, edge label.
    keys: Vec<(u8, u8, Label)>,
    /// By class and graph vertex, where that pays: its position, or [`NOWHERE`].
    places: Vec<u32>,
    /// Where a class begins in `places`; [`usize::MAX`] for those without a table.
    tables: Vec<usize>,
}

impl<'g> Space<'g> {
    /// Finds the candidates. `pattern` must ask for no kind of label that the graph doesn't have.
    ///
    /// # Errors
    /// [`gramer_base::Error::Interrupted`].
    pub fn new(graph: View<'g>, pattern: &Pattern, induced: bool, cancel: &Cancel) -> Result<Self> {
        Space::filtered(graph, pattern, induced, Mappings::Isomorphism, cancel)
    }

    /// The same for edge-induced mappings of a kind.
    pub fn of_mappings(
        graph: View<'g>,
        pattern: &Pattern,
        mappings: Mappings,
        cancel: &Cancel,
    ) -> Result<Self> {
        Space::filtered(graph, pattern, false, mappings, cancel)
    }

    fn filtered(
        graph: View<'g>,
        pattern: &Pattern,
        induced: bool,
        mappings: Mappings,
        cancel: &Cancel,
    ) -> Result<Self> {
        let n = pattern.vertices();
        if !pattern.has_vertex_labels() && !pattern.has_edge_labels() {
            let all = all_vertices(n);
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
                places: vec![],
                tables: vec![],
            });
        }
        let mut filter = Filter::new(graph, pattern, mappings.separates_neighbours());
        filter.by_neighbour_labels(cancel)?;
        filter.refine(cancel)?;
        let (class, classes) = filter.classes();
        let mut space = Space {
            graph,
            class,
            classes,
            overlap: vec![0; n],
            linked: vec![all_vertices(n); n],
            sizes: vec![[ListSize::default(); MAX_VERTICES]; n],
            lists: vec![],
            keys: vec![],
            places: vec![],
            tables: vec![],
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
            overlap: vec![VertexSet::MAX; n],
            linked: vec![VertexSet::MAX; n],
            sizes: vec![],
            lists: vec![],
            keys: vec![],
            places: vec![],
            tables: vec![],
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
        let mut budget = Rows::budget(plan.cost);
        self.find_places(plan);
        for (from, to, label) in wanted {
            cancel.check()?;
            let lists = match (&self.classes[from as usize], &self.classes[to as usize]) {
                (None, None) => Lists {
                    offsets: Cow::Borrowed(self.graph.offsets),
                    items: Cow::Borrowed(self.graph.neighbours),
                    rows: None,
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
                    let mut lists = lists_between(self.graph, sources, targets, &position, label);
                    lists.rows = Rows::new(&lists, sources.len(), targets.len(), &mut budget);
                    lists
                }
                _ => unreachable!("either all classes are of all vertices or none is"),
            };
            self.lists.push(lists);
            self.keys.push((from, to, label));
        }
        let number = |key| self.keys.iter().position(|&k| k == key).expect("just made");
        Ok(keys.into_iter().map(|key| key.map(number)).collect())
    }

    /// Makes the tables of positions in the classes of formulas, if the search visits enough for that.
    fn find_places(&mut self, plan: &SearchPlan) {
        let mut looked_up: Vec<u8> =
            formulas(plan).flatten().map(|source| plan.sets[source.set].class).collect();
        looked_up.sort_unstable();
        looked_up.dedup();
        let vertices = self.graph.vertices();
        let entries = looked_up.len() * vertices;
        if entries > PLACES
            || entries as u64 > plan.cost
            || self.classes.iter().any(Option::is_none)
        {
            return;
        }
        self.places = filled_or_unwind(NOWHERE, entries);
        self.tables = vec![usize::MAX; self.classes.len()];
        for (number, class) in looked_up.into_iter().enumerate() {
            self.tables[usize::from(class)] = number * vertices;
            for (p, &x) in (0..).zip(self.classes[usize::from(class)].iter().flatten()) {
                self.places[number * vertices + x as usize] = p;
            }
        }
    }

    /// The position of a graph vertex in a class, if it is a candidate there.
    #[inline]
    pub fn place(&self, class: u8, id: VertexId) -> Option<u32> {
        if let Some(&table) = self.tables.get(usize::from(class))
            && let Some(&p) = self.places.get(table.saturating_add(id as usize))
        {
            return (p != NOWHERE).then_some(p);
        }
        match &self.classes[usize::from(class)] {
            None => Some(id),
            Some(ids) => ids.binary_search(&id).ok().map(|p| p as u32),
        }
    }

    /// Whether [`Space::place`] needs no search in the classes of formulas.
    pub fn has_places(&self) -> bool {
        !self.places.is_empty()
    }

    /// The class of a pattern vertex.
    #[inline]
    pub fn class_of(&self, v: usize) -> u8 {
        self.class[v]
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

    fn overlap(&self, v: usize) -> VertexSet {
        self.overlap[v]
    }

    fn linked(&self, v: usize) -> VertexSet {
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
    Lists { offsets: offsets.into(), items: items.into(), rows: None }
}

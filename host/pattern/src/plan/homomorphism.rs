//! Counting a pattern from numbers of homomorphisms.
//!
//! A homomorphism takes the vertices of a pattern to vertices of the graph, edges to edges, and may
//! take several vertices to one. What it doesn't have to keep apart it needn't look at together: a
//! pattern that falls apart at a vertex or an edge is counted part by part. The mappings of a
//! pattern, which do keep its vertices apart, are a sum over homomorphisms of its [`quotients`]
//! (Lovász; Curticapean, Dell and Marx, STOC 2017).
//!
//! [`HomomorphismPlan`] says how the homomorphisms of one pattern are counted. A vertex with one
//! neighbour, or with two that are adjacent, is summed out beforehand, for all images of those at
//! once: a [`Table`]. What is left, the core, is counted below each choice of images for its
//! *apexes*, whose removal leaves a forest, by messages from the leaves of each tree to its root.

mod quotients;

use std::collections::BTreeMap;

use super::search::bits;
use crate::{Pattern, VertexSet, all_vertices};
pub use quotients::{folded, quotients};

/// Numbers by vertex or by arc (a vertex with one of its neighbours) of the graph, made from
/// others, which are given by their place in [`HomomorphismPlan::tables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// 1 everywhere.
    Ones,
    /// At vertex x: the sum over its neighbours y of `vertex` at y times `edge` at x → y.
    Leaf {
        /// By vertex.
        vertex: usize,
        /// By arc.
        edge: usize,
    },
    /// At arc x → y: the sum over the common neighbours z of `vertex` at z, `first` at x → z and
    /// `second` at y → z.
    Ear {
        /// By vertex.
        vertex: usize,
        /// By arc.
        first: usize,
        /// By arc.
        second: usize,
    },
    /// The product of two tables of a kind.
    Product(usize, usize),
    /// The transpose: at arc x → y another table's value at y → x.
    Turned(usize),
}

/// A vertex of a tree of the core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The core's vertex.
    pub vertex: usize,
    /// Place of its parent in the tree, which comes later; `None` for the root, the last.
    pub parent: Option<usize>,
    /// The apexes that it is next to, by their place among the apexes.
    pub apexes: Vec<usize>,
}

/// How the homomorphisms of a pattern are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct HomomorphismPlan {
    /// [`Table::Ones`] first, every other after those that it is made from.
    pub tables: Vec<Table>,
    /// What is left once tables stand for the rest.
    pub core: Pattern,
    /// By vertex of the core: its table.
    pub vertices: Vec<usize>,
    /// The tables of edges u–v of the core, for the arcs from the image of u to that of v, where
    /// they are not all 1; both ways.
    pub edges: BTreeMap<(usize, usize), usize>,
    /// Vertices of the core that get their images one after the other, each next to one before.
    pub apexes: Vec<usize>,
    /// By number of apexes that must have their images: the trees that are counted then.
    pub trees: Vec<Vec<Vec<Node>>>,
    /// Estimated cost, in elements visited.
    pub cost: f64,
    /// The core's part of it.
    pub core_cost: f64,
}

/// What the estimate of costs knows of a graph.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Number of vertices.
    pub vertices: f64,
    /// Twice the number of edges.
    pub arcs: f64,
    /// Sum of the squares of the degrees.
    pub walks: f64,
    /// Steps to find all triangles.
    pub triangle_steps: f64,
    /// Steps to find all 4-cycles.
    pub cycle_steps: f64,
    /// Common neighbours of two adjacent vertices, on average.
    pub common: f64,
}

impl Shape {
    /// A graph of a million vertices with 20 neighbours each, or 200 where an edge leads, as
    /// [`super::search::SearchPlan::of`] has it.
    pub const TYPICAL: Shape = Shape {
        vertices: 1e6,
        arcs: 2e7,
        walks: 4e9,
        triangle_steps: 4e8,
        cycle_steps: 8e8,
        common: 10.0,
    };
}

impl HomomorphismPlan {
    /// The plan for a connected pattern; labels are ignored.
    ///
    /// # Panics
    /// If the pattern is empty.
    pub fn of(pattern: &Pattern, shape: &Shape) -> Self {
        let mut work = Elimination::new(pattern, shape);
        work.run();
        work.finish()
    }
}

/// A pattern while vertices are summed out.
struct Elimination<'a> {
    shape: &'a Shape,
    pattern: Pattern,
    alive: VertexSet,
    tables: Vec<Table>,
    vertices: Vec<usize>,
    /// By (u, v), u < v: table of the arcs from u to v.
    edges: BTreeMap<(usize, usize), usize>,
    cost: f64,
}

impl<'a> Elimination<'a> {
    fn new(pattern: &Pattern, shape: &'a Shape) -> Self {
        let n = pattern.vertices();
        Elimination {
            shape,
            pattern: Pattern::from_edges(n, &pattern.edges()),
            alive: all_vertices(n),
            tables: vec![Table::Ones],
            vertices: vec![0; n],
            edges: BTreeMap::new(),
            cost: 0.0,
        }
    }

    fn near(&self, v: usize) -> VertexSet {
        self.pattern.neighbours(v) & self.alive
    }

    fn table(&mut self, table: Table) -> usize {
        self.tables.iter().position(|t| *t == table).unwrap_or_else(|| {
            self.cost += match table {
                Table::Ones => 0.0,
                Table::Leaf { .. } | Table::Product(..) | Table::Turned(_) => self.shape.arcs,
                Table::Ear { .. } => self.shape.triangle_steps,
            };
            self.tables.push(table);
            self.tables.len() - 1
        })
    }

    fn product(&mut self, a: usize, b: usize) -> usize {
        match (a, b) {
            (0, other) | (other, 0) => other,
            _ => self.table(Table::Product(a.min(b), a.max(b))),
        }
    }

    /// The table of the arcs from `u` to `v`.
    fn arcs(&mut self, u: usize, v: usize) -> usize {
        match self.edges.get(&(u.min(v), u.max(v))).copied().unwrap_or(0) {
            table if u < v || self.is_even(table) => table,
            table => self.table(Table::Turned(table)),
        }
    }

    /// Whether a table of arcs has the same both ways.
    fn is_even(&self, table: usize) -> bool {
        match self.tables[table] {
            Table::Ones => true,
            Table::Ear { first, second, .. } => first == second,
            Table::Product(a, b) => self.is_even(a) && self.is_even(b),
            Table::Leaf { .. } | Table::Turned(_) => false,
        }
    }

    /// 1 where an edge's table isn't 1 everywhere.
    fn decorated(&self, u: usize, v: usize) -> usize {
        usize::from(self.edges.get(&(u.min(v), u.max(v))).is_some_and(|&table| table != 0))
    }

    /// Sums out vertices while possible. Of the next candidates, the one with the fewest tables goes first:
    /// its table is one that other patterns have, too, and where much is put together is what is left.
    fn run(&mut self) {
        while self.alive.count_ones() > 1 {
            let leaves = bits(self.alive).filter(|&v| self.near(v).count_ones() == 1);
            let leaf = leaves.min_by_key(|&v| {
                let u = self.near(v).trailing_zeros() as usize;
                usize::from(self.vertices[v] != 0) + self.decorated(u, v)
            });
            if let Some(v) = leaf {
                let u = self.near(v).trailing_zeros() as usize;
                let edge = self.arcs(u, v);
                let table = self.table(Table::Leaf { vertex: self.vertices[v], edge });
                self.vertices[u] = self.product(self.vertices[u], table);
                self.alive &= !(1 << v);
                continue;
            }
            let ears = bits(self.alive).filter_map(|v| {
                let mut two = bits(self.near(v));
                let (a, b) = (two.next()?, two.next()?);
                (two.next().is_none() && self.pattern.has_edge(a, b)).then_some((v, a, b))
            });
            let ear = ears.min_by_key(|&(v, a, b)| {
                let edges = self.decorated(a, v) + self.decorated(b, v);
                usize::from(self.vertices[v] != 0) + edges
            });
            let Some((v, a, b)) = ear else { break };
            let (first, second) = (self.arcs(a, v), self.arcs(b, v));
            let table = self.table(Table::Ear { vertex: self.vertices[v], first, second });
            let old = self.edges.get(&(a, b)).copied().unwrap_or(0);
            let both = self.product(old, table);
            self.edges.insert((a, b), both);
            self.alive &= !(1 << v);
        }
    }

    fn finish(mut self) -> HomomorphismPlan {
        let kept: Vec<usize> = bits(self.alive).collect();
        let core = self.pattern.induced(&kept);
        let mut edges = BTreeMap::new();
        for (i, &u) in kept.iter().enumerate() {
            for (j, &v) in kept.iter().enumerate() {
                if core.has_edge(i, j) {
                    let table = self.arcs(u, v);
                    if table != 0 {
                        edges.insert((i, j), table);
                    }
                }
            }
        }
        let (apexes, cost) = match core.vertices() {
            1 => (vec![0], self.shape.vertices),
            _ => cheapest_apexes(&core, self.shape),
        };
        let trees = trees(&core, &apexes).expect("apexes leave a forest");
        HomomorphismPlan {
            tables: self.tables,
            vertices: kept.iter().map(|&v| self.vertices[v]).collect(),
            core,
            edges,
            apexes,
            trees,
            cost: self.cost + cost,
            core_cost: cost,
        }
    }
}

/// The apexes with the least estimated cost.
fn cheapest_apexes(core: &Pattern, shape: &Shape) -> (Vec<usize>, f64) {
    let mut best: Option<(Vec<usize>, f64)> = None;
    let mut chosen = vec![];
    extend(core, shape, &mut chosen, &mut best);
    best.expect("all vertices but one leave a forest")
}

fn extend(
    core: &Pattern,
    shape: &Shape,
    chosen: &mut Vec<usize>,
    best: &mut Option<(Vec<usize>, f64)>,
) {
    if let Some(trees) = trees(core, chosen).filter(|_| !chosen.is_empty()) {
        let cost = cost(core, shape, chosen, &trees);
        if best.as_ref().is_none_or(|(_, least)| cost < *least) {
            *best = Some((chosen.clone(), cost));
        }
        return;
    }
    for v in 0..core.vertices() {
        let next = chosen.is_empty() || chosen.iter().any(|&u| core.has_edge(u, v));
        if next && !chosen.contains(&v) {
            chosen.push(v);
            extend(core, shape, chosen, best);
            chosen.pop();
        }
    }
}

/// Elements visited below all images of the apexes.
fn cost(core: &Pattern, shape: &Shape, apexes: &[usize], trees: &[Vec<Vec<Node>>]) -> f64 {
    let reach = shape.walks / shape.arcs.max(1.0);
    // Members of a set that are adjacent to this many apexes.
    let set = |near: usize| match near {
        0 => (reach * reach).min(shape.vertices),
        1 => reach,
        n => shape.common / f64::from(1 << (n - 2).min(8)),
    };
    let mut images = 1.0;
    let mut cost = 0.0;
    for (level, &apex) in apexes.iter().enumerate() {
        let near = apexes[..level].iter().filter(|&&u| core.has_edge(u, apex)).count();
        images *= match level {
            0 => shape.vertices,
            1 => shape.arcs / shape.vertices.max(1.0),
            _ => set(near),
        };
        cost += images;
        for tree in &trees[level + 1] {
            for node in tree.iter() {
                let Some(parent) = node.parent else { continue };
                let from = set(node.apexes.len());
                let push = if node.apexes.is_empty() {
                    (from * reach).min(shape.arcs)
                } else {
                    from * reach
                };
                let pull = match tree[parent].apexes.len() {
                    0 => f64::INFINITY,
                    near => (set(near) * reach).min(set(near) * from * 8.0),
                };
                let each = if level == 0 && node.apexes.len() == 1 {
                    // Exact: all walks of two edges.
                    shape.walks / shape.vertices.max(1.0)
                } else {
                    push.min(pull)
                };
                cost += images * each;
            }
        }
    }
    cost
}

/// The trees that are left without the apexes, by the number of apexes that must have images;
/// `None` if what is left is no forest.
fn trees(core: &Pattern, apexes: &[usize]) -> Option<Vec<Vec<Vec<Node>>>> {
    let all = all_vertices(core.vertices());
    let mut rest = apexes.iter().fold(all, |rest, &v| rest & !(1 << v));
    let mut found = vec![vec![]; apexes.len() + 1];
    while rest != 0 {
        // The tree of the first vertex, and from which it is met.
        let mut met: Vec<(usize, Option<usize>)> = vec![(rest.trailing_zeros() as usize, None)];
        rest &= rest - 1;
        let mut at = 0;
        while at < met.len() {
            let (v, from) = met[at];
            for u in bits(core.neighbours(v)).filter(|&u| !apexes.contains(&u) && Some(u) != from) {
                if rest >> u & 1 == 0 {
                    return None;
                }
                rest &= !(1 << u);
                met.push((u, Some(v)));
            }
            at += 1;
        }
        // The root is where the most meets: the middle, next to no apex if there is such a vertex.
        let members: Vec<usize> = met.iter().map(|&(v, _)| v).collect();
        let inside = |v: usize| bits(core.neighbours(v)).filter(|u| members.contains(u)).count();
        let near = |v: usize| apexes.iter().filter(|&&a| core.has_edge(a, v)).count();
        let root = *members
            .iter()
            .max_by_key(|&&v| (inside(v), near(v), std::cmp::Reverse(v)))
            .expect("a tree has a vertex");
        let mut order = vec![(root, None)];
        let mut at = 0;
        while at < order.len() {
            let (v, from) = order[at];
            for u in bits(core.neighbours(v)).filter(|u| members.contains(u) && Some(*u) != from) {
                order.push((u, Some(v)));
            }
            at += 1;
        }
        order.reverse();
        let tree: Vec<Node> = order
            .iter()
            .map(|&(v, from)| Node {
                vertex: v,
                parent: from.map(|u| order.iter().position(|o| o.0 == u).expect("a member")),
                apexes: (0..apexes.len()).filter(|&a| core.has_edge(apexes[a], v)).collect(),
            })
            .collect();
        // A leaf without an apex would have all vertices for candidates.
        let leaf = |at: usize| !tree.iter().any(|node| node.parent == Some(at));
        if (0..tree.len()).any(|at| leaf(at) && tree[at].apexes.is_empty()) {
            return None;
        }
        let level = tree.iter().flat_map(|node| node.apexes.iter().map(|a| a + 1)).max()?;
        found[level].push(tree);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dictionary;

    const SHAPE: Shape = Shape {
        vertices: 1e4,
        arcs: 2e5,
        walks: 1e7,
        triangle_steps: 1e6,
        cycle_steps: 2e6,
        common: 8.0,
    };

    #[test]
    fn what_is_bare_goes_first_and_tables_that_are_even_are_not_turned() {
        // A triangle with three leaves at a corner, and two triangles that share a corner with a leaf: all that has to
        // be found is how many triangles each edge is in.
        let leaves = Pattern::from_edges(6, &[(0, 1), (1, 2), (2, 0), (0, 3), (0, 4), (0, 5)]);
        let bows =
            Pattern::from_edges(6, &[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0), (0, 5)]);
        for pattern in [leaves, bows] {
            let plan = HomomorphismPlan::of(&pattern, &SHAPE);
            assert_eq!(plan.core.vertices(), 1);
            let ears = plan.tables.iter().filter(|table| matches!(table, Table::Ear { .. }));
            let bare = Table::Ear { vertex: 0, first: 0, second: 0 };
            assert_eq!(ears.collect::<Vec<_>>(), [&bare]);
            assert!(!plan.tables.iter().any(|table| matches!(table, Table::Turned(_))));
        }
        // A triangle on an edge of a triangle: its table isn't the same both ways.
        let on_edge = Pattern::from_edges(
            6,
            &[(0, 1), (1, 2), (2, 0), (0, 3), (3, 1), (3, 4), (4, 0), (4, 5), (5, 0)],
        );
        let plan = HomomorphismPlan::of(&on_edge, &SHAPE);
        assert!(plan.tables.iter().any(|table| matches!(table, Table::Turned(_))), "{plan:?}");
    }

    #[test]
    fn every_pattern_has_a_plan_and_most_small_ones_need_no_core() {
        let mut without = vec![];
        for k in 1..=6 {
            let plans: Vec<HomomorphismPlan> = Dictionary::of(k)
                .patterns()
                .iter()
                .map(|p| HomomorphismPlan::of(p, &SHAPE))
                .collect();
            for plan in &plans {
                let nodes: usize = plan.trees.iter().flatten().map(Vec::len).sum();
                assert_eq!(nodes + plan.apexes.len(), plan.core.vertices());
                assert!(plan.cost.is_finite());
            }
            without.push(plans.iter().filter(|plan| plan.core.vertices() == 1).count());
        }
        assert_eq!(without, [1, 1, 2, 4, 11, 35]);
    }
}

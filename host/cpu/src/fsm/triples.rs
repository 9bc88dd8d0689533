//! Patterns of three vertices in closed form.
//!
//! Pairs of neighbours of a vertex are counted by their kinds from how many neighbours of each
//! kind it has; triangles are enumerated, once each. A wedge is induced unless its ends are
//! neighbours, so every triangle takes back the three pairs that it was counted as.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::reach::{Form, NeighbourTable, by_form};
use crate::{Job, StartVertices, run_units};
use gramer_base::context::Context;
use gramer_engine::work::Units;
use gramer_graph::View;

use super::code::Small;
use super::rows::Rows;
use super::tally::{Tally, bits_for};

/// A neighbour's kind is its class and the label of the edge to it; a triple's key packs the
/// class of the first vertex with the kinds of the other two and, for triangles, the label of the
/// edge between those.
struct Keys {
    class_bits: u32,
    label_bits: u32,
}

impl Keys {
    fn kind_bits(&self) -> u32 {
        self.class_bits + self.label_bits
    }

    fn wedge_bits(&self) -> u32 {
        self.class_bits + 2 * self.kind_bits()
    }

    fn triangle_bits(&self) -> u32 {
        self.wedge_bits() + self.label_bits
    }

    #[inline]
    fn kind(&self, class: u32, label: u32) -> u64 {
        u64::from(class) << self.label_bits | u64::from(label)
    }

    #[inline]
    fn wedge(&self, centre: u32, a: u64, b: u64) -> u128 {
        let (a, b) = (u128::from(a.min(b)), u128::from(a.max(b)));
        (u128::from(centre) << self.kind_bits() | a) << self.kind_bits() | b
    }

    #[inline]
    fn triangle(&self, first: u32, a: u64, b: u64, between: u32) -> u128 {
        let key = u128::from(first) << self.kind_bits() | u128::from(a);
        (key << self.kind_bits() | u128::from(b)) << self.label_bits | u128::from(between)
    }

    /// Centre and kinds of a wedge's key.
    fn of_wedge(&self, key: u128) -> (u32, u64, u64) {
        let kind = |key: u128| (key & ((1 << self.kind_bits()) - 1)) as u64;
        ((key >> (2 * self.kind_bits())) as u32, kind(key >> self.kind_bits()), kind(key))
    }

    /// Class and label of a kind.
    fn of_kind(&self, kind: u64) -> (u32, u32) {
        ((kind >> self.label_bits) as u32, (kind & ((1 << self.label_bits) - 1)) as u32)
    }
}

/// Counts of a thread.
struct Counter<'a, F: Form> {
    wedges: Tally,
    triangles: Tally,
    /// The label of the edge to the first vertex of the triangles at hand, or 0.
    stamp: NeighbourTable<'a, u32, F>,
    kinds: Vec<u64>,
}

/// The vertex-induced embeddings of every pattern of three vertices whose edges are all frequent,
/// and whether the count went to its end.
pub(super) fn count(
    graph: View<'_>,
    rows: &Rows,
    classes: usize,
    context: &Context,
) -> (FxHashMap<Small, i128>, bool) {
    by_form!(rows.vertices(), 4, F => count_by::<F>(graph, rows, classes, context))
}

fn count_by<F: Form>(
    graph: View<'_>,
    rows: &Rows,
    classes: usize,
    context: &Context,
) -> (FxHashMap<Small, i128>, bool) {
    let keys = Keys {
        class_bits: bits_for(classes.saturating_sub(1)),
        label_bits: bits_for(rows.edge_labels() + 1),
    };
    let after = |v: u32| rows.after(v, v).0.len();
    // A vertex's pairs are counted with the first part of its list; triangles need it in parts.
    let job = Job { units: Units::All, sink: None, context, others: None };
    let units = StartVertices::numbered(graph, rows.originals()).units(
        job,
        |v| after(v).max(1),
        |v| {
            let near = rows.after(v, v).0.iter().map(|&u| after(u) as u64).sum::<u64>();
            near + rows.degree(v) as u64
        },
    );
    let make = || Counter::<F> {
        wedges: Tally::new(keys.wedge_bits()),
        triangles: Tally::new(keys.triangle_bits()),
        stamp: NeighbourTable::new(rows.vertices(), 0, 1),
        kinds: vec![],
    };
    let (counters, whole) = run_units(&units, context, make, |counter, unit| {
        if unit.first == 0 {
            counter.pairs(rows, &keys, unit.start);
        }
        counter.triangles(rows, &keys, unit.start, unit.first..unit.limit, context)
    });
    let (wedges, triangles): (Vec<_>, Vec<_>) =
        counters.into_iter().map(|c| (c.wedges, c.triangles)).unzip();
    let mut wedges = Tally::sum(keys.wedge_bits(), wedges);
    let triangles = Tally::sum(keys.triangle_bits(), triangles);
    (patterns(rows, &keys, &mut wedges, &triangles), whole)
}

impl<'a, F: Form> Counter<'a, F> {
    /// Counts the pairs of neighbours of `v` that frequent edges lead to.
    fn pairs(&mut self, rows: &Rows, keys: &Keys, v: u32) {
        let (targets, labels) = rows.row(v);
        self.kinds.clear();
        self.kinds.extend(
            targets
                .iter()
                .zip(labels)
                .filter(|&(_, &label)| label != rows.forbidden)
                .map(|(&u, &label)| keys.kind(rows.class(u), label)),
        );
        self.kinds.sort_unstable();
        let groups: Vec<(u64, i128)> =
            self.kinds.chunk_by(|a, b| a == b).map(|g| (g[0], g.len() as i128)).collect();
        for (i, &(a, n)) in groups.iter().enumerate() {
            self.wedges.add(keys.wedge(rows.class(v), a, a), n * (n - 1) / 2);
            for &(b, m) in &groups[i + 1..] {
                self.wedges.add(keys.wedge(rows.class(v), a, b), n * m);
            }
        }
    }

    /// Counts the triangles whose smallest vertex is `u` and whose second is in `part` of the
    /// neighbours after `u`.
    fn triangles(
        &mut self,
        rows: &'a Rows,
        keys: &Keys,
        u: u32,
        part: std::ops::Range<u32>,
        context: &Context,
    ) -> ControlFlow<()> {
        let (targets, labels) = rows.after(u, u);
        if targets.is_empty() {
            return ControlFlow::Continue(());
        }
        let stamps = labels;
        self.stamp.enter(targets, |at| stamps[at]);
        let part = part.start as usize..part.end as usize;
        for (&v, &uv) in targets[part.clone()].iter().zip(&labels[part]) {
            if context.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            let a = keys.kind(rows.class(v), uv);
            let (others, labels) = rows.after(v, v);
            for (&w, &vw) in others.iter().zip(labels) {
                let uw = self.stamp.get(w, |at| stamps[at]);
                if uw != 0 {
                    let b = keys.kind(rows.class(w), uw);
                    self.triangles.add(keys.triangle(rows.class(u), a, b, vw), 1);
                }
            }
        }
        self.stamp.leave();
        ControlFlow::Continue(())
    }
}

/// Converts keys to patterns, and subtracts the pairs of the triangles.
fn patterns(
    rows: &Rows,
    keys: &Keys,
    wedges: &mut Tally,
    triangles: &Tally,
) -> FxHashMap<Small, i128> {
    let mut found: FxHashMap<Small, i128> = FxHashMap::default();
    let frequent = |label: u32| label != rows.forbidden;
    for (key, count) in triangles.iter() {
        let between = (key & ((1 << keys.label_bits) - 1)) as u32;
        let (u, a, b) = keys.of_wedge(key >> keys.label_bits);
        let ((v, uv), (w, uw)) = (keys.of_kind(a), keys.of_kind(b));
        // Each corner with the edges to the other two.
        let corners =
            [(u, (v, uv), (w, uw)), (v, (u, uv), (w, between)), (w, (u, uw), (v, between))];
        for (centre, (c, to_c), (d, to_d)) in corners {
            if frequent(to_c) && frequent(to_d) {
                let key = keys.wedge(centre, keys.kind(c, to_c), keys.kind(d, to_d));
                wedges.add(key, -count);
            }
        }
        if frequent(uv) && frequent(uw) && frequent(between) {
            let pattern = triple(rows, u, (v, uv), (w, uw), between);
            *found.entry(pattern).or_default() += count;
        }
    }
    for (key, count) in wedges.iter() {
        let (centre, a, b) = keys.of_wedge(key);
        let pattern = triple(rows, centre, keys.of_kind(a), keys.of_kind(b), 0);
        *found.entry(pattern).or_default() += count;
    }
    found
}

/// The code of a triple; `between` is 0 for a wedge.
fn triple(rows: &Rows, u: u32, v: (u32, u32), w: (u32, u32), between: u32) -> Small {
    let mut p = Small::EMPTY;
    for class in [u, v.0, w.0] {
        p.push(class);
    }
    p.set_edge(0, 1, rows.label_number(v.1));
    p.set_edge(0, 2, rows.label_number(w.1));
    if between != 0 {
        p.set_edge(1, 2, rows.label_number(between));
    }
    p.canonical().code
}

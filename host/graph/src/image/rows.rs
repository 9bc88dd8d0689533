//! Whether the rows of an image are those of a graph.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::{Label, VertexId, View};
use gramer_base::budget::SinglePass;
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::Result;

const DESCENDS: &str = "a row doesn't ascend";
const OWN: &str = "a row holds its own vertex";
const FOREIGN: &str = "a neighbour is not a vertex";
const ONE_SIDED: &str = "an edge is in the row of only one of its vertices";

/// Checks that each row ascends strictly and holds only other vertices of the graph, and that both rows of an edge hold
/// it, with the same label. Returns the first fault. The pass releases the pages of a mapped file behind it.
///
/// An ascending row has each neighbour once. So each edge is added once, in the row of its smaller vertex, and
/// subtracted once, in that of the larger one, and the total is 0. The added numbers are hashes with random keys:
/// one-sided edges cancel only by chance, in about one of 2^57 images. This takes one pass over all entries, in order.
pub(super) fn wrong_rows(view: View<'_>, cancel: &Cancel) -> Result<Option<&'static str>> {
    match view.edge_labels {
        Some(labels) => wrong_labelled(view, labels, cancel),
        None => wrong_plain(view, cancel),
    }
}

/// Returns the fault of a single row.
fn wrong_row(
    ascends: bool,
    holds_own: bool,
    row: &[VertexId],
    vertices: usize,
) -> Option<&'static str> {
    // The last entry of a row that ascends is its largest.
    let foreign = row.last().is_some_and(|&u| u as usize >= vertices);
    match (ascends, holds_own, foreign) {
        (false, _, _) => Some(DESCENDS),
        (_, true, _) => Some(OWN),
        (_, _, true) => Some(FOREIGN),
        _ => None,
    }
}

/// Check without edge labels. The hash of an edge is the product of those of its vertices, so a row needs one hash per
/// entry, and none per edge.
fn wrong_plain(view: View<'_>, cancel: &Cancel) -> Result<Option<&'static str>> {
    let keys = Keys::new();
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512dq") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { avx512::wrong_plain(view, &keys, cancel) };
        }
    }
    by_entries(view, &keys, cancel)
}

fn by_entries(view: View<'_>, keys: &Keys, cancel: &Cancel) -> Result<Option<&'static str>> {
    let mut looks = CancelPoll::new(cancel);
    let mut pass = SinglePass::from(view.neighbours, 0);
    let mut edges = 0u64;
    for v in 0..view.vertices() as VertexId {
        let row = view.neighbours(v);
        looks.check(1 + row.len())?;
        pass.reach(view.offsets[v as usize] as usize);
        // Rows are short, and no branch tells where in them the larger neighbours begin.
        let (mut ascends, mut own, mut last, mut sum) = (true, false, -1, 0u64);
        for &u in row {
            ascends &= i64::from(u) > last;
            own |= u == v;
            last = i64::from(u);
            sum = sum.wrapping_add(negated(keys.of_vertex(u), u < v));
        }
        if let Some(what) = wrong_row(ascends, own, row, view.vertices()) {
            return Ok(Some(what));
        }
        edges = edges.wrapping_add(sum.wrapping_mul(keys.of_vertex(v)));
    }
    Ok((edges != 0).then_some(ONE_SIDED))
}

fn wrong_labelled(
    view: View<'_>,
    labels: &[Label],
    cancel: &Cancel,
) -> Result<Option<&'static str>> {
    let keys = Keys::new();
    let mut looks = CancelPoll::new(cancel);
    let (mut edges, mut labelled) = (0u64, 0u64);
    for v in 0..view.vertices() as VertexId {
        let row = view.neighbours(v);
        looks.check(1 + row.len())?;
        let number = |u: VertexId| keys.of_edge(u64::from(u.min(v)) << 32 | u64::from(u.max(v)));
        let (mut ascends, mut own, mut last) = (true, false, -1);
        for (&u, &label) in row.iter().zip(&labels[view.row(v)]) {
            ascends &= i64::from(u) > last;
            own |= u == v;
            last = i64::from(u);
            let edge = number(u);
            edges = edges.wrapping_add(negated(edge, u < v));
            let both = keys.of_edge(edge ^ u64::from(label));
            labelled = labelled.wrapping_add(negated(both, u < v));
        }
        if let Some(what) = wrong_row(ascends, own, row, view.vertices()) {
            return Ok(Some(what));
        }
    }
    Ok(match (edges, labelled) {
        (0, 0) => None,
        (0, _) => Some("an edge has another label in each of its rows"),
        _ => Some(ONE_SIDED),
    })
}

/// The number, or what comes to 0 with it if `is`.
#[inline]
fn negated(number: u64, is: bool) -> u64 {
    let ones = u64::from(is).wrapping_neg();
    (number ^ ones).wrapping_sub(ones)
}

/// Numbers of edges and vertices, others in each run.
struct Keys {
    mask: u64,
    factors: [u64; 2],
}

impl Keys {
    fn new() -> Self {
        let state = RandomState::new();
        let factors = [state.hash_one(1) | 1, state.hash_one(2) | 1];
        Keys { mask: state.hash_one(0), factors }
    }

    /// The number of an edge: a product of 128 bits, whose halves are put onto each other.
    #[inline]
    fn of_edge(&self, edge: u64) -> u64 {
        let product = u128::from(edge ^ self.mask) * u128::from(self.factors[0]);
        product as u64 ^ (product >> 64) as u64
    }

    /// The number of a vertex: two products of 64 bits, each mixed into itself (after Steele, Lea and Flood, *Fast
    /// Splittable Pseudorandom Number Generators*, 2014).
    #[inline]
    fn of_vertex(&self, v: VertexId) -> u64 {
        let mix = |x: u64, factor: u64, bits: u32| {
            let product = x.wrapping_mul(factor);
            product ^ product >> bits
        };
        mix(mix(u64::from(v) ^ self.mask, self.factors[0], 32), self.factors[1], 29)
    }
}

/// 8 entries at a time.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::*;

    const LANES: usize = 8;

    /// As [`by_entries`].
    #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
    pub fn wrong_plain(
        view: View<'_>,
        keys: &Keys,
        cancel: &Cancel,
    ) -> Result<Option<&'static str>> {
        let mut looks = CancelPoll::new(cancel);
        let mut pass = SinglePass::from(view.neighbours, 0);
        let mask = _mm512_set1_epi64(keys.mask as i64);
        let [first, second] = keys.factors.map(|factor| _mm512_set1_epi64(factor as i64));
        let mut edges = _mm512_setzero_si512();
        for v in 0..view.vertices() as VertexId {
            let row = view.neighbours(v);
            looks.check(1 + row.len())?;
            pass.reach(view.offsets[v as usize] as usize);
            let own = _mm256_set1_epi32(v as i32);
            let (mut descends, mut owns, mut sums) = (0, 0, _mm512_setzero_si512());
            // The first entry has no predecessor.
            let mut behind = !1;
            for (part, at) in row.chunks(LANES).zip((0..).step_by(LANES)) {
                let lanes = ((1u32 << part.len()) - 1) as __mmask8;
                // SAFETY: all lanes that are read lie in the row. Masked ones are not read: those beyond the part, and the
                // one before the row.
                let (entries, before) = unsafe {
                    (
                        _mm256_maskz_loadu_epi32(lanes, part.as_ptr().cast()),
                        _mm256_maskz_loadu_epi32(
                            lanes & behind,
                            row.as_ptr().wrapping_add(at).wrapping_sub(1).cast(),
                        ),
                    )
                };
                descends |= _mm256_mask_cmple_epu32_mask(lanes & behind, entries, before);
                behind = !0;
                owns |= _mm256_mask_cmpeq_epi32_mask(lanes, entries, own);
                let number = _mm512_xor_si512(_mm512_cvtepu32_epi64(entries), mask);
                let number = _mm512_mullo_epi64(number, first);
                let number = _mm512_xor_si512(number, _mm512_srli_epi64::<32>(number));
                let number = _mm512_mullo_epi64(number, second);
                let number = _mm512_xor_si512(number, _mm512_srli_epi64::<29>(number));
                let smaller = _mm256_mask_cmplt_epu32_mask(lanes, entries, own);
                sums = _mm512_mask_sub_epi64(sums, smaller, sums, number);
                sums = _mm512_mask_add_epi64(sums, lanes & !smaller, sums, number);
            }
            if let Some(what) = wrong_row(descends == 0, owns != 0, row, view.vertices()) {
                return Ok(Some(what));
            }
            let number = _mm512_set1_epi64(keys.of_vertex(v) as i64);
            edges = _mm512_add_epi64(edges, _mm512_mullo_epi64(sums, number));
        }
        Ok((_mm512_reduce_add_epi64(edges) != 0).then_some(ONE_SIDED))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Builder;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]
        /// Rows of a graph, some of whose entries become others: what is found is what is wrong, by every way.
        #[test]
        fn every_way_finds_what_is_wrong(
            edges in proptest::collection::vec((0u64..60, 0u64..60), 1..400),
            changed in proptest::collection::vec((0usize..800, 0u32..66), 0..3),
            hub in proptest::bool::ANY,
        ) {
            let mut builder = Builder::new();
            builder.vertex_range(0..60);
            for &(u, v) in &edges {
                builder.edge(u, if hub { v % 5 } else { v });
            }
            let graph = builder.build();
            let (offsets, mut neighbours) =
                (graph.view().offsets.to_vec(), graph.view().neighbours.to_vec());
            for (at, to) in changed {
                if let Some(entry) = neighbours.get_mut(at) {
                    *entry = to;
                }
            }
            let view = View { offsets: &offsets, neighbours: &neighbours, ..graph.view() };
            let row = |v: u32| view.neighbours(v);
            let arcs: BTreeSet<(u32, u32)> =
                (0..60).flat_map(|v| row(v).iter().map(move |&u| (v, u))).collect();
            let first = (0..60).find_map(|v| {
                let ascends = row(v).windows(2).all(|w| w[0] < w[1]);
                match (ascends, row(v).contains(&v), row(v).iter().any(|&u| u >= 60)) {
                    (false, _, _) => Some(DESCENDS),
                    (true, true, _) => Some(OWN),
                    (true, false, true) => Some(FOREIGN),
                    (true, false, false) => None,
                }
            });
            let lone = arcs.iter().any(|&(v, u)| !arcs.contains(&(u, v)));
            let expected = first.or(lone.then_some(ONE_SIDED));
            let cancel = Cancel::default();
            proptest::prop_assert_eq!(by_entries(view, &Keys::new(), &cancel).unwrap(), expected);
            proptest::prop_assert_eq!(wrong_rows(view, &cancel).unwrap(), expected);
            let labels = vec![7; neighbours.len()];
            let labelled = View { edge_labels: Some(&labels), ..view };
            proptest::prop_assert_eq!(wrong_rows(labelled, &cancel).unwrap(), expected);
        }
    }
}

//! From one level of frequent patterns to the candidates of the next, each with the domains that it
//! inherits.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::Result;

use super::classes::Classes;
use super::domain::Domain;
use crate::fsm::code::{Canonical, MAX, Small};

/// A frequent pattern with upper bounds of its domains.
pub(super) struct Frequent {
    pub(super) code: Small,
    pub(super) domains: Vec<Arc<Domain>>,
}

/// Class of one end, class of the other, label.
pub(in crate::fsm) type Kind = (u32, u32, u32);

/// The frequent patterns of one edge, and their kinds in both directions. Fails once `cancel` is
/// raised.
pub(super) fn single_edges(
    rows: &Classes,
    classes: usize,
    wanted: usize,
    cancel: &Cancel,
) -> Result<(Vec<Frequent>, Vec<Kind>)> {
    let mut looks = CancelPoll::new(cancel);
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
pub(in crate::fsm) fn extend(level: &[Small], kinds: &[Kind], max_vertices: usize) -> Vec<Small> {
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
    for pattern in level {
        let n = pattern.n();
        let orbits = pattern.canonical().orbits;
        for (i, &head) in orbits[..n].iter().enumerate() {
            // The orbits are those of the canonical form of a canonical form: its own.
            if n < max_vertices.min(MAX) && head as usize == i {
                for &(_, class, label) in of_class(pattern.class(i)) {
                    let (mut p, j) = pattern.with_vertex(class);
                    p.set_edge(i, j, label);
                    add(p);
                }
            }
            for j in (i + 1..n).filter(|&j| pattern.edge(i, j) == 0) {
                for &(_, class, label) in of_class(pattern.class(i)) {
                    if class == pattern.class(j) {
                        let mut p = *pattern;
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
pub(super) fn inherit(
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
        // A vertex without another edge is removed with this one.
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

//! The vertices of a search that are counted rather than listed.

use ethnum::{I256, U256};
use gramer_graph::VertexId;
use gramer_pattern::plan::search::{Formula, Partitions, Source, bits};

use super::search::{Conclusion, LONGER, Search};
use super::sets;
use crate::number::{Number, choices};

/// Elements of a list whose marks are looked at in the time that a conflict is searched for.
const SCANNED: usize = 8;
/// Elements that a search visits in the time that a conflict is searched for.
const LOOK_UP: usize = 4;

impl<'a, N: Number> Search<'a, N> {
    /// The value of a formula.
    pub(super) fn formula(&mut self, formula: &'a Formula) -> Conclusion<N> {
        let (count, reasons) = match formula {
            Formula::One(source) => (N::from(self.free(source) as u64), source.reasons),
            Formula::Intersection(source) => {
                (N::from(self.intersection(source) as u64), source.reasons)
            }
            Formula::Same { source, vertices, ordered } => {
                (ways(self.free(source), *vertices, *ordered), source.reasons)
            }
            Formula::Partitions(partitions) => {
                let found = match &partitions.sources[..] {
                    [a, b] if partitions.terms.len() == 2 => self.different(a, b),
                    _ => None,
                };
                match found.unwrap_or_else(|| self.partitions(partitions)) {
                    Ok(count) => (count, partitions.sources.iter().fold(0, |m, s| m | s.reasons)),
                    Err(source) => (N::ZERO, source.reasons),
                }
            }
        };
        if count == N::ZERO { Conclusion::none(reasons) } else { Conclusion::some(count) }
    }

    /// Number of unused candidates of a source.
    fn free(&mut self, source: &Source) -> usize {
        if !source.edges.is_empty() {
            return self.free_apart(source);
        }
        let set = self.candidates(source);
        let (len, conflicts) = (set.len(), source.conflicts.len());
        let (used, work) = match self.is_scanned(set, source) {
            true => (self.marked(source, set).count(), len / 4),
            false => {
                let used = |&&u: &&usize| {
                    let place = self.place(source, self.images[u], u);
                    place.is_some_and(|p| self.holds(source.set, set, p))
                };
                (source.conflicts.iter().filter(used).count(), LOOK_UP * conflicts)
            }
        };
        self.spend(work);
        len - used
    }

    /// Number of candidates of a source that keep its edges apart.
    fn free_apart(&mut self, source: &Source) -> usize {
        let forbidden = self.forbidden(source);
        let set = self.candidates(source);
        // Of several vertices with one image the first stands for it.
        let first = |u: usize| {
            !bits(forbidden).take_while(|&v| v < u).any(|v| self.images[v] == self.images[u])
        };
        let inside = |u: usize| {
            self.place(source, self.images[u], u).is_some_and(|p| self.holds(source.set, set, p))
        };
        let used = bits(forbidden).filter(|&u| first(u) && inside(u)).count();
        let free = set.len() - used;
        self.spend(LOOK_UP * source.edges.len());
        free
    }

    /// Whether a look at the marks of a list's elements is cheaper than a search for each conflict of a source.
    #[inline]
    fn is_scanned(&self, list: &[u32], source: &Source) -> bool {
        self.marks.are_kept() && list.len() <= SCANNED * source.conflicts.len()
    }

    /// The elements of a list, positions of a source's class, whose vertices are in use.
    #[inline]
    fn marked<'s>(&'s self, source: &Source, list: &'s [u32]) -> impl Iterator<Item = u32> + 's {
        let class = self.plan.sets[source.set].class;
        list.iter().copied().filter(move |&p| self.marks.has(self.space.id(class, p)))
    }

    /// The size of an intersection that isn't made, without what is in use.
    fn intersection(&mut self, source: &Source) -> usize {
        let set = &self.plan.sets[source.set];
        let (u, lists) = self.access[source.set].list.expect("an intersection has a list");
        let parent = set.parent.expect("an intersection has a parent");
        let a = self.within(self.set(parent), set.bounds);
        let b = lists.of(self.positions[u]);
        let work = a.len().min(b.len());
        let row = lists.row(self.positions[u]);
        let size = match row {
            Some(row) if a.len() <= LONGER * b.len() => row.intersection_size(a),
            _ => sets::intersection_size(a, self.within(b, set.bounds)),
        };
        let used = |&&u: &&usize| {
            self.place(source, self.images[u], u).is_some_and(|p| {
                let in_b = match row {
                    Some(row) => row.contains(p),
                    None => b.binary_search(&p).is_ok(),
                };
                in_b && self.holds(parent, a, p)
            })
        };
        let short = if a.len() <= b.len() { a } else { b };
        let (used, looks) = match size {
            0 => (0, 0),
            _ if self.is_scanned(short, source) => {
                let other = if a.len() <= b.len() { b } else { a };
                let both = |p: &u32| other.binary_search(p).is_ok();
                (self.marked(source, short).filter(both).count(), short.len() / 4)
            }
            _ => {
                let conflicts = source.conflicts.iter();
                (conflicts.filter(used).count(), LOOK_UP * source.conflicts.len())
            }
        };
        self.spend(work + looks);
        size - used
    }

    /// The position of the image of `u` among the candidates of a source's class.
    #[inline]
    fn place(&self, source: &Source, image: VertexId, u: usize) -> Option<u32> {
        match self.access[source.set].classmates >> u & 1 == 1 {
            true => Some(self.positions[u]),
            false => self.space.place(self.plan.sets[source.set].class, image),
        }
    }

    /// Whether `set`, the beginning of the set of this number, holds a position.
    #[inline]
    fn holds(&self, number: usize, set: &[u32], position: u32) -> bool {
        // What conditions rule out comes after the last element.
        if set.last().is_none_or(|&last| last < position) {
            return false;
        }
        match &self.access[number].tests {
            Some(tests) => tests.iter().all(|&(u, lists)| {
                lists.row(self.positions[u]).expect("it has rows").contains(position)
            }),
            None => set.binary_search(&position).is_ok(),
        }
    }

    /// In how many ways two vertices get different candidates of two sources, or a source without an unused
    /// candidate; `None` if their candidates can't be compared quickly.
    fn different<'s>(&mut self, a: &'s Source, b: &'s Source) -> Option<Result<N, &'s Source>> {
        let free_a = self.free(a);
        if free_a == 0 {
            return Some(Err(a));
        }
        let free_b = self.free(b);
        if free_b == 0 {
            return Some(Err(b));
        }
        let (class_a, class_b) = (self.plan.sets[a.set].class, self.plan.sets[b.set].class);
        let (in_a, in_b) = (self.candidates(a), self.candidates(b));
        let ids = |id: VertexId| (self.space.place(class_a, id), self.space.place(class_b, id));
        let scanned = self.is_scanned(if in_a.len() <= in_b.len() { in_a } else { in_b }, a);
        let both = if scanned && (class_a == class_b || self.space.has_places()) {
            // The unused elements of the shorter set alone.
            let (some, class, number, set, of) = match in_a.len() <= in_b.len() {
                true => (in_a, class_a, b.set, in_b, class_b),
                false => (in_b, class_b, a.set, in_a, class_a),
            };
            let inside = |&&p: &&u32| {
                let id = self.space.id(class, p);
                let place = || if class == of { Some(p) } else { self.space.place(of, id) };
                !self.marks.has(id) && place().is_some_and(|p| self.holds(number, set, p))
            };
            some.iter().filter(inside).count()
        } else {
            let both = if class_a == class_b {
                sets::intersection_size(in_a, in_b)
            } else if in_a.len() <= in_b.len() {
                self.common(in_a, class_a, b.set, in_b, class_b)?
            } else {
                self.common(in_b, class_b, a.set, in_a, class_a)?
            };
            let others = b.conflicts.iter().filter(|u| !a.conflicts.contains(u));
            let used = |&&u: &&usize| match ids(self.images[u]) {
                (Some(p), Some(q)) => self.holds(a.set, in_a, p) && self.holds(b.set, in_b, q),
                _ => false,
            };
            match both {
                0 => 0,
                both => both - a.conflicts.iter().chain(others).filter(used).count(),
            }
        };
        let work = in_a.len().min(in_b.len());
        self.spend(work);
        let pairs = free_a as u128 * free_b as u128 - both as u128;
        Some(Ok(N::saturating_from(pairs.into())))
    }

    /// Number of elements of `some`, positions of one class, in a set of another class.
    fn common(&self, some: &[u32], class: u8, number: usize, set: &[u32], of: u8) -> Option<usize> {
        if !self.space.has_places() {
            return None;
        }
        let inside = |&&p: &&u32| {
            let place = self.space.place(of, self.space.id(class, p));
            place.is_some_and(|p| self.holds(number, set, p))
        };
        Some(some.iter().filter(inside).count())
    }

    /// In how many ways vertices get different candidates of their sources, or a source without an unused candidate.
    fn partitions<'s>(&mut self, partitions: &'s Partitions) -> Result<N, &'s Source> {
        let mut sizes = [0i128; 1 << 5];
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.resize(partitions.blocks.len().max(blocks.len()), vec![]);
        let mut work = 0;
        for (i, &block) in partitions.blocks.iter().enumerate() {
            // Sets become lists of ids without the images in use, so that they can be compared
            // whatever their classes.
            let low = block.trailing_zeros() as usize;
            let source = &partitions.sources[low];
            let rest = block & (block - 1);
            let (made, next) = blocks.split_at_mut(i);
            let out = &mut next[0];
            if rest == 0 {
                work += self.unused(source, out);
                if out.is_empty() {
                    self.blocks = blocks;
                    self.spend(work);
                    return Err(source);
                }
            } else {
                let at = |wanted: u16| {
                    partitions.blocks[..i].iter().position(|&b| b == wanted).expect("made before")
                };
                let (rest, single) = (&made[at(rest)], &made[at(block & !rest)]);
                // Most sets have no element in common.
                if rest.is_empty()
                    || rest[0] > single[single.len() - 1]
                    || single[0] > rest[rest.len() - 1]
                {
                    out.clear();
                } else {
                    sets::intersect(rest, single, out);
                }
                work += 1 + out.len();
            }
            sizes[i] = out.len() as i128;
        }
        self.blocks = blocks;
        self.spend(work);
        let narrow = partitions.terms.iter().try_fold(0i128, |sum, (coefficient, factors)| {
            let term = factors
                .iter()
                .try_fold(i128::from(*coefficient), |term, &b| term.checked_mul(sizes[b]))?;
            sum.checked_add(term)
        });
        let sum = narrow.map(I256::from).unwrap_or_else(|| {
            // At most five sizes below 2^32 are multiplied.
            let term = |(coefficient, factors): &(i64, Vec<usize>)| -> I256 {
                factors.iter().fold(I256::from(*coefficient), |term, &b| term * sizes[b])
            };
            partitions.terms.iter().map(term).sum()
        });
        Ok(N::saturating_from(U256::try_from(sum).expect("a number of mappings")))
    }

    /// Writes the ids of a source's candidates that are not in use to `out`; returns how many elements were visited.
    fn unused(&self, source: &Source, out: &mut Vec<VertexId>) -> usize {
        let class = self.plan.sets[source.set].class;
        let set = self.candidates(source);
        let ids = set.iter().map(|&p| self.space.id(class, p));
        out.clear();
        if self.marks.are_kept() {
            out.extend(ids.filter(|&id| !self.marks.has(id)));
            return set.len();
        }
        out.extend(ids.filter(|id| !source.conflicts.iter().any(|&u| self.images[u] == *id)));
        set.len() * (1 + source.conflicts.len())
    }
}

/// Number of choices among `free` vertices, in all orders, or in one if they are `ordered`.
#[inline]
fn ways<N: Number>(free: usize, vertices: usize, ordered: bool) -> N {
    let free = free as u64;
    let mut count = 1u128;
    for i in 0..vertices as u64 {
        // C(free, i) · (free − i) is C(free, i + 1) · (i + 1).
        match count.checked_mul(free.saturating_sub(i).into()) {
            Some(product) if ordered => count = product / u128::from(i + 1),
            Some(product) => count = product,
            None => return N::saturating_from(choices(free, vertices as u64, ordered)),
        }
    }
    N::saturating_from(count.into())
}

//! The sums of all visited sets from sums of products of numbers of neighbours.
//!
//! A term of an equation is a product of two numbers of vertices that are next to *exactly* some
//! members of a set. Each of them is a sum, with signs, of numbers of vertices that are next to *at
//! least* some members. So instead of every term of every set it is enough to add up the products of
//! the latter by kind of set: 48 multiplications per set without a branch, and no table of terms.

use gramer_pattern::plan::system::MotifSystem;

/// Adjacency bits of r, o, p, q in this order, by [`Kind`].
const BITS: [u32; KINDS] = [0b01_1110, 0b11_1110, 0b11_1111];
const KINDS: usize = 3;

/// Subsets of r = 1, o = 2, p = 4, q = 8.
const SUBSETS: usize = 16;
/// Those without q, which are the same for many sets, and those with it.
const HALF: usize = SUBSETS / 2;

/// Subgraph of the four vertices of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Cycle,
    Diamond,
    Clique,
}

/// By subset without q, or with it: how many vertices are next to all of it. Of the empty subset it
/// is 1.
pub(super) type SubsetCounts = [u32; HALF];

/// The sets of one r, o and p and of one kind: their number, and by subset with q the sum of
/// neighbours.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Group {
    sets: u32,
    sum: SubsetCounts,
}

type Products = [[u64; HALF]; HALF];

/// Sums of products by kind; neither of the vertices of a product has more than 2^14 neighbours.
#[derive(Debug)]
pub(super) struct Moments {
    /// Of two subsets without q, of one without and one with q, of two with q.
    recent: [[Products; 3]; KINDS],
    /// Sets since `recent` was added to `all`.
    sets: u64,
    all: [[[u128; SUBSETS]; SUBSETS]; KINDS],
}

impl Moments {
    /// Sets between flushes. A product is at most 2^28; for this number of sets, plus those of one more root and p (at
    /// most 2^28), sums fit into 64 bits.
    const MOST_SETS: u64 = 1 << 34;

    pub fn new() -> Self {
        Moments {
            recent: [[[[0; HALF]; HALF]; 3]; KINDS],
            sets: 0,
            all: [[[0; SUBSETS]; SUBSETS]; KINDS],
        }
    }

    /// Adds what there is of a set that isn't the same for its whole group.
    #[inline(always)]
    pub fn add(&mut self, kind: Kind, group: &mut Group, with_q: SubsetCounts) {
        // A product of two is the same in both orders: of the second half with the first, that in the
        // other order is enough.
        let (first, second) = self.recent[kind as usize][2].split_at_mut(HALF / 2);
        for (products, &a) in first.iter_mut().zip(&with_q[..HALF / 2]) {
            for (product, &b) in products.iter_mut().zip(&with_q) {
                *product += u64::from(a) * u64::from(b);
            }
        }
        for (products, &a) in second.iter_mut().zip(&with_q[HALF / 2..]) {
            for (product, &b) in products[HALF / 2..].iter_mut().zip(&with_q[HALF / 2..]) {
                *product += u64::from(a) * u64::from(b);
            }
        }
        group.sets += 1;
        group.sum.iter_mut().zip(&with_q).for_each(|(sum, &near)| *sum += near);
    }

    /// Adds what is the same for the sets of a group.
    #[inline(always)]
    pub fn close(&mut self, kind: Kind, group: &Group, without_q: SubsetCounts) {
        if group.sets == 0 {
            return;
        }
        let [both, across, _] = &mut self.recent[kind as usize];
        let each = without_q.map(|near| near * group.sets);
        for (i, &a) in without_q.iter().enumerate() {
            for j in 0..HALF {
                both[i][j] += u64::from(a) * u64::from(each[j]);
                across[i][j] += u64::from(a) * u64::from(group.sum[j]);
            }
        }
        self.sets += u64::from(group.sets);
    }

    /// Flushes the recent sums before they can overflow; must be called at least after the sets of each root and p.
    #[inline]
    pub fn keep_small(&mut self) {
        if self.sets > Self::MOST_SETS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for (all, [both, across, with_q]) in self.all.iter_mut().zip(&mut self.recent) {
            for i in 0..HALF {
                for j in 0..HALF {
                    all[i][j] += u128::from(std::mem::take(&mut both[i][j]));
                    all[i][HALF + j] += u128::from(std::mem::take(&mut across[i][j]));
                    all[HALF + i][HALF + j] += u128::from(std::mem::take(&mut with_q[i][j]));
                }
            }
        }
        self.sets = 0;
    }

    /// Adds the sums that the terms of a system have over all sets.
    pub fn add_to(mut self, sums: &mut [u128], system: &MotifSystem) {
        self.flush();
        for (kind, all) in self.all.iter().enumerate() {
            let product = |first: usize, second: usize| -> i128 {
                let (first, second) = (exactly(kind, first), exactly(kind, second));
                let by_first = first.iter().enumerate().filter(|&(_, &a)| a != 0);
                by_first
                    .flat_map(|(i, &a)| {
                        second.iter().enumerate().map(move |(j, &b)| (i.min(j), i.max(j), a * b))
                    })
                    .map(|(i, j, factor)| i128::from(factor) * all[i][j] as i128)
                    .sum()
            };
            for term in system.terms(BITS[kind]) {
                let (first, second) = (usize::from(term.first), usize::from(term.second));
                let pairs = if first == second {
                    // Each number less itself: of pairs of two different vertices.
                    let alone: i128 = exactly(kind, first)
                        .iter()
                        .zip(&all[0])
                        .map(|(&a, &sum)| i128::from(a) * sum as i128)
                        .sum();
                    (product(first, second) - alone) / 2
                } else {
                    product(first, second)
                };
                sums[usize::from(term.sum)] += u128::try_from(pairs).expect("a number of pairs");
            }
        }
    }
}

/// By subset: the factor with which those next to all of it count for the vertices outside that are
/// next to exactly the members `subset`. The factor of the empty subset takes away members.
fn exactly(kind: usize, subset: usize) -> [i64; SUBSETS] {
    let mut factors = [0; SUBSETS];
    for larger in (subset..SUBSETS).filter(|larger| larger & subset == subset) {
        factors[larger] = if (larger ^ subset).count_ones() % 2 == 0 { 1 } else { -1 };
    }
    factors[0] = -(seen_by_members(kind).iter().filter(|&&seen| seen == subset).count() as i64);
    factors
}

/// By member of a set of a kind: which of the others it is next to.
fn seen_by_members(kind: usize) -> [usize; 4] {
    let mut seen = [0; 4];
    let pairs = (1..4).flat_map(|i| (0..i).map(move |j| (i, j)));
    for (at, (i, j)) in pairs.enumerate().filter(|(at, _)| BITS[kind] >> at & 1 == 1) {
        debug_assert_eq!(at, i * (i - 1) / 2 + j);
        seen[i] |= 1 << j;
        seen[j] |= 1 << i;
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds one set, term by term, given the number of vertices outside that are next to exactly the members
    /// of each subset.
    fn add_directly(sums: &mut [u128], system: &MotifSystem, kind: Kind, exactly: &[u32]) {
        for term in system.terms(BITS[kind as usize]) {
            let first = u64::from(exactly[usize::from(term.first)]);
            let second = u64::from(exactly[usize::from(term.second)]);
            sums[usize::from(term.sum)] += u128::from(match term.first == term.second {
                true => first * first.saturating_sub(1) / 2,
                false => first * second,
            });
        }
    }

    proptest::proptest! {
        #[test]
        fn sums_of_products_give_what_the_terms_of_each_set_add_up_to(
            groups in proptest::collection::vec(
                (
                    0usize..3,
                    proptest::array::uniform8(0u32..40),
                    proptest::collection::vec(proptest::array::uniform8(0u32..40), 1..5),
                ),
                1..6,
            ),
            flushed in proptest::bool::ANY,
        ) {
            let system = MotifSystem::of_six();
            let (mut expected, mut found) = (vec![0; system.sums()], vec![0; system.sums()]);
            let mut moments = Moments::new();
            for (kind, totals, sets) in groups {
                let kind = [Kind::Cycle, Kind::Diamond, Kind::Clique][kind];
                let members = seen_by_members(kind as usize);
                let (mut group, mut without_q) = (Group::default(), SubsetCounts::default());
                for set in sets {
                    // By subset: vertices outside next to exactly these. Those without q are the
                    // same in the whole group, and some of them are next to q as well.
                    let mut exactly = [0u32; SUBSETS];
                    for subset in 0..HALF {
                        let with_q = match subset {
                            0 => set[0],
                            _ => set[subset] % (totals[subset] + 1),
                        };
                        exactly[HALF | subset] = with_q;
                        exactly[subset] = totals[subset].saturating_sub(with_q);
                    }
                    add_directly(&mut expected, system, kind, &exactly);
                    let near = |subset: usize| {
                        let outside = (1..SUBSETS).filter(|s| s & subset == subset);
                        let inside = members.iter().filter(|&&s| s & subset == subset).count();
                        outside.map(|s| exactly[s]).sum::<u32>() + inside as u32
                    };
                    let with_q = std::array::from_fn(|at| near(HALF | at));
                    without_q = std::array::from_fn(|at| if at == 0 { 1 } else { near(at) });
                    moments.add(kind, &mut group, with_q);
                }
                moments.close(kind, &group, without_q);
                if flushed {
                    moments.flush();
                }
            }
            moments.add_to(&mut found, system);
            proptest::prop_assert_eq!(found, expected);
        }
    }
}

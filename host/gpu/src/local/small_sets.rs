//! Small sets of a walk by pivots (`kernels/small_sets.clh`).

use crate::lanes::LANES;

pub(super) const SOURCE: &str = include_str!("../../kernels/small_sets.clh");

/// Maximum number of candidates.
pub(super) const CANDIDATES: usize = SmallSets::CANDIDATES;
/// Entries of a pool besides those of waiting states: for the states below one that is taken alone, and for the leaves of two
/// rounds.
const SPARE: usize = CANDIDATES + 2 * LANES;

/// Sizes of a walker's local memory for small sets (`kernels/small_sets.clh`).
///
/// ```
/// let sizes = gramer_gpu::SmallSets::of(4);
/// assert!(sizes.sets() > 1 && sizes.waiting() >= sizes.sets());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SmallSets {
    /// Sets that are collected before their states are examined.
    sets: usize,
    /// Entries of the pool.
    pool: usize,
}

impl SmallSets {
    /// Maximum number of candidates of a small set, and of targets of a small root (`kernels/small_roots.cl`).
    pub const CANDIDATES: usize = 32;

    /// Maximum number of candidates of a set whose edges and triangles one lane counts, where three more vertices are needed.
    pub const LEAF: usize = 8;

    /// Maximum number of candidates of a larger set whose triangles all lanes of a walker count.
    const LAST: usize = 64;

    /// Maximum number of vertices that a clique of `k` still needs where a set is counted by its edges and triangles. On an
    /// H200 that takes a half and a third from the time of the 7- and 9-cliques of R-MAT 15; those of ego-twitter take up to 3
    /// and 7 % longer. 12-cliques of R-MAT 15 would take a tenth less, those of ego-twitter a tenth more, so that their kernels
    /// have no such sets.
    pub fn ends(k: usize) -> usize {
        if k < 10 { 3 } else { 1 }
    }

    /// For rows of this many words. On an H200 4 and 8 sets took up to a tenth longer, 1 set up to 70 %; with 12 sets and
    /// 240 entries states are often taken alone. Rows of 16 words leave less local memory.
    pub fn of(words: usize) -> Self {
        match words {
            ..16 => SmallSets { sets: 6, pool: 352 },
            _ => SmallSets { sets: 2, pool: 208 },
        }
    }

    /// Sets that are collected before their states are examined.
    pub fn sets(self) -> usize {
        self.sets
    }

    /// Most states that wait before one is taken alone.
    pub fn waiting(self) -> usize {
        self.pool - SPARE
    }

    /// Maximum number of candidates of a set whose triangles a walker counts (`kernels/last_sets.clh`): the pool has room for
    /// their numbers behind the sets that are collected, while no state waits.
    pub fn last(self) -> usize {
        Self::LAST.min(self.pool - self.sets)
    }

    /// Words of local memory: the neighbours of each candidate, and the pool.
    pub(super) fn words(self) -> usize {
        self.sets * CANDIDATES + 2 * self.pool
    }

    /// Definitions of the kernel.
    pub(super) fn defines(self) -> [(&'static str, usize); 6] {
        [
            ("LEAF", Self::LEAF),
            ("SMALL", CANDIDATES),
            ("SMALL_SETS", self.sets),
            ("SMALL_POOL", self.pool),
            ("SMALL_WAITING", self.waiting()),
            ("SMALL_WORDS", self.words()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::pivots::binomials;
    use super::*;
    use crate::Settings;
    use crate::device::{Arg, Device};
    use crate::lanes::{Lanes, source};
    use crate::memory::Buffer;
    use crate::select::of_tests;

    const COMMON: &str = include_str!("../../kernels/common.clh");
    /// A group collects sets of the same candidates, each with one held vertex more, and adds up their cliques.
    const TRIAL: &str = "
__kernel LANES_KERNEL __attribute__((reqd_work_group_size(LANES, 1, 1)))
void trial(__global const uint *restrict given, const uint candidates, const uint held, const uint pivots,
           __global const ulong2 *restrict binomials, __global ulong *restrict sums, __global uint *restrict fault) {
    __local uint rows[32 * STRIDE], room[SMALL_WORDS];
    LANES_ROOM
    const uint lane = get_local_id(0);
    for (uint i = lane; i < 32; i += LANES)
        rows[i * STRIDE] = given[i];
    lanes_sync();
    const uint set[W] = {candidates};
    for (uint number = 0; number < SMALL_SETS; number++)
        collect_set(set, held + number, pivots, number, rows, lane, room);
    ulong2 counted = 0;
    const uint states = small_sets(SMALL_SETS, lane, room, binomials, &counted, fault LANES_ARGUMENTS);
    const ulong low = lanes_sum(counted.x), high = lanes_sum(counted.y);
    if (lane == 0) {
        sums[0] = low;
        sums[1] = high;
        sums[2] = states;
    }
}
";
    const K: usize = 12;

    /// Cliques of each size among these candidates.
    fn cliques(near: &[u32], candidates: u32, held: usize, found: &mut [u64]) {
        found[held] += 1;
        for i in (0..32).filter(|i| candidates >> i & 1 != 0) {
            let later = u32::MAX.checked_shl(i + 1).unwrap_or(0);
            cliques(near, candidates & near[i as usize] & later, held + 1, found);
        }
    }

    /// Random neighbours of 32 vertices: `share` of 8 edges are there.
    fn random(share: u32, seed: u64) -> Vec<u32> {
        let mut near = vec![0u32; 32];
        let mut state = seed;
        for (i, j) in (0..32).flat_map(|j| (0..j).map(move |i| (i, j))) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            if (state >> 33) as u32 % 8 < share {
                near[i] |= 1 << j;
                near[j] |= 1 << i;
            }
        }
        near
    }

    #[test]
    fn lanes_count_the_cliques_of_collected_sets() {
        let Some(handle) = of_tests() else { return };
        let device =
            Device::open(handle, &Settings { checked: true, ..Settings::default() }).unwrap();
        let place = device.place();
        let table = binomials(32, K);
        let binomial = |n: usize, i: usize| if i < K { table[n * K + i][0] } else { 0 };
        let ways = Buffer::of(&place, &table, "binomial coefficients").unwrap();
        let fault = Buffer::of(&place, &[0u32; 2], "faults").unwrap();
        // Where there is room for few states, lanes wait and states are taken alone.
        let few = SmallSets { sets: 6, pool: SPARE + 6 };
        for (lanes, sizes, ends) in [(8, SmallSets::of(4), 3), (32, few, 3), (8, few, 1)] {
            let mut defines = String::new();
            for (name, value) in [("K", K), ("W", 1), ("LANES", lanes), ("ENDS", ends)]
                .into_iter()
                .chain(sizes.defines())
            {
                writeln!(defines, "#define {name} {value}").unwrap();
            }
            let form = source(Lanes::Local);
            let text = [COMMON, &defines, &form, SOURCE, TRIAL];
            let program = device.program("small sets", &text).unwrap();
            let mut cases = vec![
                (4, u32::MAX, 1, 0),
                (6, u32::MAX, 1, 2),
                (7, 0x00ff_ffff, 2, 3),
                (8, 0xffff, 1, 0),
                (0, 0x3ff, 4, 5),
            ];
            // The last of them needs two vertices more; of complete sets branches have one candidate less.
            let leaf = SmallSets::LEAF as u32;
            for size in [2, 3, 4, leaf - 1, leaf, leaf + 1, leaf + 2, 2 * leaf, 32] {
                let held = (K - 2 - sizes.sets) as u32;
                let all = u32::MAX >> (32 - size);
                let densest = if size > 16 { 6 } else { 8 };
                cases.extend(
                    (0..4).map(|pivots| (densest - pivots, all.rotate_left(3), held, pivots)),
                );
            }
            for (share, candidates, held, pivots) in cases {
                let near = random(share, u64::from(share));
                let given = Buffer::of(&place, &near, "neighbours").unwrap();
                let sums = Buffer::of(&place, &[0u64; 3], "sums").unwrap();
                let args = [
                    Arg::Buffer(given.raw()),
                    Arg::U32(candidates),
                    Arg::U32(held),
                    Arg::U32(pivots),
                    Arg::Buffer(ways.raw()),
                    Arg::Buffer(sums.raw()),
                    Arg::Buffer(fault.raw()),
                ];
                device.launch(&program, "trial", &args, 1, lanes).unwrap();
                let mut found = [0; 3];
                sums.read(&device.queue, &mut found).unwrap();
                let mut faults = [0; 2];
                fault.read(&device.queue, &mut faults).unwrap();
                assert_eq!(faults[0], 0);
                let mut all = vec![0; 33];
                cliques(&near, candidates, 0, &mut all);
                let of_set = |held: usize| -> u64 {
                    let need = K - 1 - held;
                    (0..=need).map(|size| all[size] * binomial(pivots as usize, need - size)).sum()
                };
                let expected: u64 =
                    (0..sizes.sets).map(|number| of_set(held as usize + number)).sum();
                let case = format!(
                    "{lanes} lanes, {sizes:?}, {ends}, {share}, {candidates:x}, {held}, {pivots}"
                );
                assert_eq!(found[..2], [expected, 0], "{case}");
                assert!(found[2] >= sizes.sets as u64, "{case}: {} states", found[2]);
            }
        }
    }
}

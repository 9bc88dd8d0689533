//! Sets of a walk by pivots whose cliques need two or three vertices more (`kernels/last_sets.clh`).

pub(super) const SOURCE: &str = include_str!("../../kernels/last_sets.clh");

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::pivots::binomials;
    use super::super::small_sets::{self, SmallSets};
    use super::*;
    use crate::Settings;
    use crate::device::{Arg, Device};
    use crate::lanes::{Lanes, source};
    use crate::memory::Buffer;
    use crate::select::of_tests;

    const COMMON: &str = include_str!("../../kernels/common.clh");
    /// A walker adds the cliques of one set to a sum whose low word is all ones.
    const TRIAL: &str = "
__kernel LANES_KERNEL __attribute__((reqd_work_group_size(LANES, 1, 1)))
void trial(__global const uint *restrict given, __global const uint *restrict candidates, const uint need,
           const uint pivots, __global ulong *restrict sums) {
    __local uint rows[32 * W * STRIDE], room[SMALL_WORDS];
    LANES_ROOM
    const uint lane = get_local_id(0);
    for (uint i = lane; i < 32 * W * W; i += LANES)
        rows[i / W * STRIDE + i % W] = given[i];
    for (uint i = lane; i < SMALL_WORDS; i += LANES)
        room[i] = 0x5bd1e995u + i;
    lanes_sync();
    uint set[W], size = 0;
    for (uint x = 0; x < W; x++) {
        set[x] = candidates[x];
        size += popcount(set[x]);
    }
    ulong2 counted = 0;
    if (lane == 0)
        counted.x = 0xffffffffffffffff;
    count_last(set, size, need, pivots, rows, lane, room, &counted);
    lanes_sync();
    // What was collected lies in front.
    uint changed = 0;
    for (uint i = lane; i < SMALL_WORDS; i += LANES)
        if (i < POOL_REST + SMALL_SETS && room[i] != 0x5bd1e995u + i)
            changed = 1;
    const uint any = lanes_ballot(changed != 0);
    const ulong low = lanes_sum(counted.x & 0xffffffff), middle = lanes_sum(counted.x >> 32);
    const ulong high = lanes_sum(counted.y);
    if (lane == 0) {
        sums[0] = low;
        sums[1] = middle;
        sums[2] = high;
        sums[3] = any;
    }
}
";

    /// Cliques of 0 to 3 vertices among these candidates.
    fn cliques(near: &[Vec<bool>], candidates: &[usize]) -> [u64; 4] {
        let mut found = [1, candidates.len() as u64, 0, 0];
        for (at, &i) in candidates.iter().enumerate() {
            for (next, &j) in candidates.iter().enumerate().skip(at + 1) {
                if near[i][j] {
                    found[2] += 1;
                    let third = candidates[next + 1..].iter();
                    found[3] += third.filter(|&&k| near[i][k] && near[j][k]).count() as u64;
                }
            }
        }
        found
    }

    /// Random numbers below 8.
    fn eighths(seed: u64) -> impl FnMut() -> u32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 33) as u32 % 8
        }
    }

    #[test]
    fn lanes_count_edges_and_triangles() {
        let Some(handle) = of_tests() else { return };
        let settings = Settings { checked: true, ..Settings::default() };
        let device = Device::open(handle, &settings).unwrap();
        let place = device.place();
        for (lanes, words) in [(1, 4), (32, 1), (8, 2)] {
            let sizes = SmallSets::of(words);
            let mut defines = String::new();
            let own = [("K", 8), ("W", words), ("LANES", lanes), ("ENDS", 3)];
            for (name, value) in own.into_iter().chain(sizes.defines()) {
                writeln!(defines, "#define {name} {value}").unwrap();
            }
            let form = source(Lanes::Local);
            let text = [COMMON, &defines, &form, small_sets::SOURCE, SOURCE, TRIAL];
            let program = device.program("last sets", &text).unwrap();
            let n = 32 * words;
            // Of each vertex and each edge some eighths are there; no set is larger than the pool.
            for (edges, members) in [(4, 8), (6, 5), (7, 3), (8, 8), (2, 1), (0, 4), (5, 0)] {
                let mut random = eighths(u64::from(edges + members) + n as u64);
                let mut near = vec![vec![false; n]; n];
                for (i, j) in (0..n).flat_map(|j| (0..j).map(move |i| (i, j))) {
                    let is = random() < edges;
                    (near[i][j], near[j][i]) = (is, is);
                }
                let mut candidates: Vec<usize> = (0..n).filter(|_| random() < members).collect();
                candidates.truncate(sizes.last());
                let word = |is: &dyn Fn(usize) -> bool, x: usize| -> u32 {
                    (0..32).map(|bit| u32::from(is(32 * x + bit)) << bit).sum()
                };
                let mut given = vec![];
                for row in &near {
                    given.extend((0..words).map(|x| word(&|j| row[j], x)));
                }
                let set: Vec<u32> =
                    (0..words).map(|x| word(&|j| candidates.contains(&j), x)).collect();
                let given = Buffer::of(&place, &given, "rows").unwrap();
                let set = Buffer::of(&place, &set, "a set").unwrap();
                let found = cliques(&near, &candidates);
                for (need, pivots) in
                    [2, 3].into_iter().flat_map(|n| [0, 1, 2, 3, 400].map(|p| (n, p)))
                {
                    let sums = Buffer::of(&place, &[0u64; 4], "sums").unwrap();
                    let args = [
                        Arg::Buffer(given.raw()),
                        Arg::Buffer(set.raw()),
                        Arg::U32(need as u32),
                        Arg::U32(pivots as u32),
                        Arg::Buffer(sums.raw()),
                    ];
                    device.launch(&program, "trial", &args, 1, lanes).unwrap();
                    let mut counted = [0; 4];
                    sums.read(&device.queue, &mut counted).unwrap();
                    let ways = binomials(pivots, 4);
                    let right: u64 = (0..=need)
                        .map(|size| found[size] * ways[pivots * 4 + need - size][0])
                        .sum();
                    let all = (0..).zip(&counted[..3]);
                    let all: u128 = all.map(|(at, &part)| u128::from(part) << (32 * at)).sum();
                    let case = format!(
                        "{lanes} lanes, {words} words, {edges}, {members}, {need}, {pivots}"
                    );
                    assert_eq!(all, u128::from(u64::MAX) + u128::from(right), "{case}");
                    assert_eq!(counted[3], 0, "{case}");
                }
            }
        }
    }
}

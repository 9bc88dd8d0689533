// Cliques of K of roots with at most SMALL targets, by pivots (`small_sets.clh`): a walker takes SMALL_SETS roots at a time,
// whose targets are sets of candidates.
//
// The host sets K, W (1: a set is a word), LANES and WALKERS as for `pivots.cl`, TILE (lanes that read a list), HASH and
// HASH_BITS (the table of a root's targets), and the sizes of `small_sets.clh`.

#define T (LANES * WALKERS)

__kernel LANES_KERNEL __attribute__((reqd_work_group_size(T, 1, 1)))
void small_roots(__global const uint *restrict offsets, __global const uint *restrict targets,
                 __global const uint *restrict roots, const uint first, const uint number, const uint vertices,
                 const uint arcs, __global const ulong2 *restrict binomials, __global uint *restrict sums,
                 __global uint *restrict fault) {
    __local uint small[WALKERS * SMALL_WORDS], tables[WALKERS * HASH], lists[WALKERS * SMALL];
    LANES_ROOM

    const uint lane = get_local_id(0) % LANES, own = get_local_id(0) / LANES;
    const uint walker = get_group_id(0) * WALKERS + own, from = walker * SMALL_SETS;
    __local uint *const room = small + own * SMALL_WORDS;
    __local uint *const table = tables + own * HASH, *const ids = lists + own * SMALL;
    const uint taken = from < number ? min(number - from, (uint)SMALL_SETS) : 0;
    for (uint at = 0; at < taken; at++) {
        const uint root = INDEX(roots[first + from + at], vertices, 74);
        const uint begin = offsets[root], n = INDEX(offsets[root + 1] - begin, SMALL + 1, 75);
        __local uint *const near = room + at * SMALL;
        for (uint i = lane; i < HASH; i += LANES)
            table[i] = 0;
        for (uint i = lane; i < n; i += LANES) {
            ids[i] = targets[INDEX(begin + i, arcs, 76)];
            near[i] = 0;
        }
        lanes_sync();
        for (uint i = lane; i < n; i += LANES)
            put_target(table, ids[i], i);
        lanes_sync();
        const uint last = n == 0 ? 0 : ids[n - 1];
        for (uint i = lane / TILE; i + 1 < n; i += LANES / TILE) {
            const uint source = INDEX(ids[i], vertices, 77);
            const uint end = INDEX(offsets[source + 1], arcs + 1, 78);
            uint found = 0;
            for (uint e = offsets[source] + lane % TILE; e < end; e += TILE) {
                const uint id = targets[e];
                if (id > last)
                    break;
                const uint j = find_target(table, ids, id);
                if (j == NO_TARGET)
                    continue;
                found |= 1u << j;
                atomic_or(near + j, 1u << i);
            }
            if (found != 0)
                atomic_or(near + i, found);
        }
        if (lane == 0) {
            room[POOL_SETS + at] = n == 32 ? 0xffffffffu : (1u << n) - 1;
            room[POOL_REST + at] = at << 11;
        }
        lanes_sync();
    }
    ulong2 counted = 0;
    if (taken > 0)
        small_sets(taken, lane, room, binomials, &counted, fault LANES_ARGUMENTS);
    add_counted(counted, lane, sums + 4 * (walker % SLOTS) LANES_ARGUMENTS);
}

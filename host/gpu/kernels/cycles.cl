// Cycles of four vertices, each counted at its highest vertex v: for each wedge v – u – w with u and w
// below v, the wedges to the same w met before make a cycle each.
//
// `cycles_hash` keeps the numbers of wedges in a table, for vertices with few wedges; `cycles_dense` has
// a counter for each w of a window, for the others. Vertices below `least` have one neighbour: no wedge
// goes through them.

#ifdef HASH_LANES
// A group of HASH_LANES per vertex, whose number is the task; the table has CYCLE_TABLE entries, 2 to the power of CYCLE_BITS.
__kernel __attribute__((reqd_work_group_size(HASH_LANES, 1, 1)))
void cycles_hash(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                 __global const uint *restrict tasks, const uint first, const uint count,
                 const uint vertices, const uint entries, const uint least,
                 __global uint *restrict sums, __global uint *restrict fault) {
    __local uint keys[CYCLE_TABLE];
    __local uint counts[CYCLE_TABLE];
    __local uint found;
    const uint lane = get_local_id(0);
    for (uint i = lane; i < CYCLE_TABLE; i += HASH_LANES) {
        keys[i] = 0;
        counts[i] = 0;
    }
    if (lane == 0)
        found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint v = INDEX(tasks[first + get_group_id(0)], vertices, 31);
    uint total = 0;
    const uint end = offsets[v + 1];
    // Eight lanes per list: most are short.
    const uint begin = lower_bound(neighbours, offsets[v], end, least);
    for (uint a = begin + lane / 8; a < end; a += HASH_LANES / 8) {
        const uint u = neighbours[a];
        if (u > v)
            break;
        const uint stop = INDEX(offsets[u + 1], entries + 1, 32);
        for (uint e = offsets[u] + lane % 8; e < stop; e += 8) {
            const uint w = neighbours[e];
            if (w >= v)
                break;
            uint at = (w * 0x9e3779b1u) >> (32 - CYCLE_BITS);
            for (;;) {
                const uint old = atomic_cmpxchg(keys + at, 0u, w + 1);
                if (old == 0 || old == w + 1)
                    break;
                at = (at + 1) & (CYCLE_TABLE - 1);
            }
            total += atomic_inc(counts + at);
        }
    }
    atomic_add(&found, total);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && found != 0)
        add_wide(sums + 4 * (SLOTS * CYCLES_SUM + get_group_id(0) % SLOTS), found, 0);
}

#else
// A group per (v, from, to, place): the ends w in [from, to), a window of them at a time. Counters are halves of a word as
// long as no vertex has 65,536 neighbours. Each lane keeps a cursor in each list: CYCLE_TILE words
// a list, from `place` on. If that is NO_PLACE, each window begins with a search in each list.
__kernel __attribute__((reqd_work_group_size(DENSE, 1, 1)))
void cycles_dense(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                  __global const uint4 *restrict tasks, const uint first, const uint count,
                  const uint vertices, const uint entries, const uint least,
                  __global uint *restrict sums, __global uint *restrict fault,
                  __global uint *restrict cursors, const uint places) {
    __local uint counts[WINDOW_WORDS];
    __local ulong totals[DENSE];
    const uint lane = get_local_id(0);
    const uint4 task = tasks[first + get_group_id(0)];
    const uint v = INDEX(task.x, vertices, 33);
    const uint begin = lower_bound(neighbours, offsets[v], offsets[v + 1], least);
    const uint end = lower_bound(neighbours, begin, offsets[v + 1], v);
    ulong total = 0;
    for (uint from = task.y; from < task.z; from += COUNTERS * WINDOW_WORDS) {
        const uint to = min(from + COUNTERS * WINDOW_WORDS, task.z);
        const uint used = (to - from + COUNTERS - 1) / COUNTERS;
        for (uint i = lane; i < used; i += DENSE)
            counts[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint a = begin + lane / CYCLE_TILE; a < end; a += DENSE / CYCLE_TILE) {
            uint e = NO_PLACE, place = 0;
            if (task.w != NO_PLACE)
                place = INDEX(task.w + CYCLE_TILE * (a - begin) + lane % CYCLE_TILE, places, 196);
            if (task.w != NO_PLACE && from != task.y) {
                e = cursors[place];
                // The list has no further end, or none in this window.
                if (e == NO_PLACE || neighbours[INDEX(e, entries, 197)] >= to)
                    continue;
            }
            const uint u = neighbours[a];
            const uint stop = INDEX(offsets[u + 1], entries + 1, 34);
            if (e == NO_PLACE) {
                e = from == 0 ? offsets[u] : lower_bound(neighbours, offsets[u], stop, from);
                e += lane % CYCLE_TILE;
            }
            for (; e < stop; e += CYCLE_TILE) {
                const uint w = neighbours[e];
                if (w >= to)
                    break;
                const uint at = w - from;
#if COUNTERS == 2
                const uint shift = 16 * (at & 1);
                total += atomic_add(counts + INDEX(at / 2, WINDOW_WORDS, 35), 1u << shift) >> shift & 0xffff;
#else
                total += atomic_inc(counts + INDEX(at, WINDOW_WORDS, 35));
#endif
            }
            if (task.w != NO_PLACE)
                cursors[place] = e < stop ? e : NO_PLACE;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    totals[lane] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = DENSE / 2; step != 0; step /= 2) {
        if (lane < step)
            totals[lane] += totals[lane + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && totals[0] != 0)
        add_wide(sums + 4 * (SLOTS * CYCLES_SUM + get_group_id(0) % SLOTS), totals[0], 0);
}
#endif

// Triangles at the head of their lowest arc.
//
// The host sets T (lanes that share a head), R (heads of a work-group), TILE (lanes that read one list together) and
// HASH and HASH_BITS (size of the table of targets, a power of two; without them the targets are searched).
//
// A triangle u < v < w is met at v, which has a table of its targets: in the list of each u with an arc to v the
// targets behind v are looked up. Lists are read from their ends, so that nobody has to find v in them. That looks up
// a number for each pair of targets of a vertex; a table of the targets of u would have the lists of all its targets
// looked up, which are longer, since arcs lead to vertices with more neighbours.

#ifdef HASH
// A table of numbers, each and 1; 0 is none. At most half full.
inline void put_number(volatile __local uint *table, uint number) {
    uint at = (number * 0x9e3779b1u) >> (32 - HASH_BITS);
    while (atomic_cmpxchg(table + at, 0u, number + 1) != 0)
        at = (at + 1) & (HASH - 1);
}

inline uint has_number(__local const uint *table, uint number) {
    uint at = (number * 0x9e3779b1u) >> (32 - HASH_BITS);
    uint found = table[at];
    while (found != 0 && found != number + 1) {
        at = (at + 1) & (HASH - 1);
        found = table[at];
    }
    return found != 0;
}
#endif

__kernel __attribute__((reqd_work_group_size(T * R, 1, 1)))
void heads(__global const uint *restrict offsets, __global const uint *restrict targets,
           __global const uint *restrict row_offsets, __global const uint *restrict rows,
           __global const uint2 *restrict tasks, const uint first, const uint count, const uint vertices,
           const uint arcs, __global uint *restrict sums, __global uint *restrict fault) {
    __local ulong totals[T * R];
    const uint lane = get_local_id(0) % T;
    const uint place = get_local_id(0) / T;
    const uint number = get_group_id(0) * R + place;
    uint head = 0, begin = 0, n = 0, from = 0, to = 0;
    if (number < count) {
        const uint2 task = tasks[first + number];
        const uint part = task.y & 0xffff, parts = task.y >> 16;
        head = INDEX(task.x, vertices, 81);
        begin = offsets[head];
        n = offsets[head + 1] - begin;
        // Rows are sorted: those with an arc to the head come before its targets.
        const uint row = row_offsets[head];
        const uint tails = row_offsets[head + 1] - row - n;
        from = row + (uint)((ulong)tails * part / parts);
        to = row + (uint)((ulong)tails * (part + 1) / parts);
    }
#ifdef HASH
    __local uint tables[R][HASH];
    __local uint *const table = tables[place];
    for (uint i = lane; i < HASH; i += T)
        table[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < n; i += T)
        put_number(table, targets[INDEX(begin + i, arcs, 82)]);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    ulong total = 0;
    for (uint i = from + lane / TILE; i < to; i += T / TILE) {
        const uint tail = INDEX(rows[INDEX(i, 2 * arcs, 83)], vertices, 84);
        const uint low = offsets[tail], high = INDEX(offsets[tail + 1], arcs + 1, 85);
        for (uint back = lane % TILE + 1; back <= high - low; back += TILE) {
            const uint id = targets[high - back];
            if (id <= head)
                break;
#ifdef HASH
            total += has_number(table, id);
#else
            const uint at = lower_bound(targets, begin, begin + n, id);
            total += at < begin + n && targets[at] == id;
#endif
        }
    }
    totals[get_local_id(0)] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint by = T / 2; by != 0; by /= 2) {
        if (lane < by)
            totals[get_local_id(0)] += totals[get_local_id(0) + by];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_local_id(0) == 0) {
        ulong all = 0;
        for (uint r = 0; r < R; r++)
            all += totals[r * T];
        if (all != 0)
            add_wide(sums + 4 * (get_group_id(0) % SLOTS), all, 0);
    }
}

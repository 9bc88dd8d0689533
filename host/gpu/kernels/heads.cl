// Triangles at the head of their lowest arc.
//
// In `heads` the host sets T (lanes that share a head), R (heads of a work-group), TILE (lanes that read one list together) and
// HASH and HASH_BITS (size of the table of targets, a power of two; without them the targets are searched), and with
// them RESIDUES (`residues.clh`). Behind a head whose number is among the last RESIDUES the bitmap is exact.
//
// A triangle u < v < w is met at v, which has a table of its targets: what the list of each u with an arc to v has
// behind v is looked up in it. Such a span is its first place and the one behind its last. That looks up a number for
// each pair of targets of a vertex; a table of the targets of u would have the lists of all its targets looked up,
// which are longer, since arcs lead to vertices with more neighbours.

#ifdef SPANS
// Writes down where spans lie: SPANS lanes take the list of a vertex. `next` has the place of each head's next span;
// of heads without a target nothing is looked up. `work` adds up what they are, in SIXTEEN lookups, a span itself
// being as much.
__kernel void head_spans(__global const uint *restrict offsets, __global const uint *restrict targets,
                         volatile __global uint *next, volatile __global uint *work,
                         __global uint2 *restrict spans, const uint vertices, const uint arcs,
                         const uint all_spans, __global uint *restrict fault) {
    const uint tail = get_global_id(0) / SPANS;
    if (tail >= vertices)
        return;
    const uint end = INDEX(offsets[tail + 1], arcs + 1, 86);
    for (uint e = offsets[tail] + get_global_id(0) % SPANS; e < end; e += SPANS) {
        const uint head = INDEX(targets[e], vertices, 87);
        if (offsets[head] == offsets[head + 1])
            continue;
        spans[INDEX(atomic_inc(next + head), all_spans, 88)] = (uint2)(e + 1, end);
        atomic_add(work + head, 1 + (end - e) / SIXTEEN);
    }
}
#else

#ifdef HASH
// A table of numbers plus 1; 0 is an empty slot. At most half full.
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
           __global const uint4 *restrict tasks, __global const uint2 *restrict spans, const uint first,
           const uint count, const uint vertices, const uint arcs, const uint all_spans,
           __global uint *restrict sums, __global uint *restrict fault) {
    __local ulong totals[T * R];
    const uint lane = get_local_id(0) % T;
    const uint place = get_local_id(0) / T;
    const uint number = get_group_id(0) * R + place;
    uint begin = 0, n = 0, from = 0, to = 0;
#ifdef HASH
    bool exact = false;
#endif
    if (number < count) {
        const uint4 task = tasks[first + number];
        begin = offsets[INDEX(task.x, vertices, 81)];
        n = offsets[task.x + 1] - begin;
        from = task.y;
        to = task.z;
#ifdef HASH
        exact = task.x + RESIDUES >= vertices;
#endif
    }
#ifdef HASH
    __local uint tables[R][HASH], bitmaps[R][RESIDUES / 32];
    __local uint *const table = tables[place];
    __local uint *const residues = bitmaps[place];
    for (uint i = lane; i < RESIDUES / 32; i += T)
        residues[i] = 0;
    for (uint i = lane; i < HASH && !exact; i += T)
        table[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < n; i += T) {
        const uint target = targets[INDEX(begin + i, arcs, 82)];
        put_residue(residues, target);
        if (!exact)
            put_number(table, target);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    ulong total = 0;
    // The next span is on its way while this one is looked up.
    uint i = from + lane / TILE;
    uint2 next = i < to ? spans[INDEX(i, all_spans, 83)] : (uint2)(0, 0);
    while (i < to) {
        const uint2 span = next;
        i += T / TILE;
        if (i < to)
            next = spans[INDEX(i, all_spans, 84)];
#ifdef HASH
        if (exact) {
            uint found = 0;
#pragma unroll 4
            for (uint e = span.x + lane % TILE; e < span.y; e += TILE)
                found += has_residue(residues, targets[INDEX(e, arcs, 85)]);
            total += found;
            continue;
        }
#endif
        for (uint e = span.x + lane % TILE; e < span.y; e += TILE) {
            const uint id = targets[INDEX(e, arcs, 85)];
#ifdef HASH
            if (has_residue(residues, id) != 0)
                total += has_number(table, id);
#else
            const uint at = lower_bound(targets, begin, begin + n, id);
            total += at < begin + n && targets[at] == id;
#endif
        }
    }
    totals[get_local_id(0)] = total;
    ADD_LANES(totals, lane, T)
    ADD_ROOTS(totals, T, R, sums)
}
#endif

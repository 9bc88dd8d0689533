// As local.cl, for roots with more targets than fit into local memory: rows lie in global memory, a slot for each
// work-group, and so does the table of more than TARGETS targets.
//
// The host sets TARGETS, HASH and HASH_BITS (`targets.clh`). The lanes look at the host's word each LOOK_EACH steps.
//
// `slots` holds for each group 4 · span words of table and span · words of rows; `words` = ⌈span / 32⌉.

__kernel __attribute__((reqd_work_group_size(BIG, 1, 1)))
void local_big(__global const uint *restrict offsets, __global const uint *restrict targets,
               __global const uint2 *restrict tasks, const uint first, const uint count,
               const uint vertices, const uint arcs, __global uint *restrict sums,
               __global uint *restrict edges, __global uint *restrict fault,
               __global uint *slots, const uint span, const ulong slot_words) {
    __local ulong totals[BIG];
    __local uint near[HASH], ids[TARGETS];
#if K > 3
    __local uint ended;
    uint steps = 0;
#endif
    const uint lane = get_local_id(0);
    volatile __global uint *const table = slots + get_group_id(0) * slot_words;
    volatile __global uint *const rows = table + 4 * span;
    ulong all = 0;
    // Tables are as large as the root needs: a power of two, at most half full.
    for (uint number = get_group_id(0); number < count; number += get_num_groups(0)) {
        const uint2 task = tasks[first + number];
        const uint root = INDEX(task.x, vertices, 21);
        const uint part = task.y & 0xffff, parts = task.y >> 16;
        const uint begin = offsets[root];
        const uint n = INDEX(offsets[root + 1] - begin, span + 1, 22);
        const uint w = (n + 31) / 32;
        uint bits = 1;
        while ((1u << bits) < 2 * n)
            bits += 1;
        const uint mask = (1u << bits) - 1;
        const bool is_near = n <= TARGETS;
        for (uint i = lane; i < (is_near ? HASH : mask + 1); i += BIG)
            if (is_near)
                near[i] = 0;
            else
                table[i] = 0;
        for (uint i = lane; i < n * w; i += BIG)
            rows[i] = 0;
#if K > 3
        // For all lanes alike, since they wait for each other.
        if (lane == 0)
            ended = stopped(fault);
#endif
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        for (uint i = lane; i < n; i += BIG) {
            if (is_near) {
                ids[i] = targets[begin + i];
                put_target(near, ids[i], i);
                continue;
            }
            uint at = (targets[begin + i] * 0x9e3779b1u) >> (32 - bits);
            while (atomic_cmpxchg(table + at, 0u, i + 1) != 0)
                at = (at + 1) & mask;
        }
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        ulong total = 0;
        for (uint i = lane / 32; i + 1 < n; i += BIG / 32) {
            const uint source = INDEX(targets[begin + i], vertices, 23);
            const uint end = INDEX(offsets[source + 1], arcs + 1, 24);
            for (uint e = offsets[source] + lane % 32; e < end; e += 32) {
                const uint id = targets[e];
                uint j;
                if (is_near) {
                    j = find_target(near, ids, id);
                } else {
                    uint at = (id * 0x9e3779b1u) >> (32 - bits);
                    j = table[at];
                    while (j != 0 && targets[begin + j - 1] != id) {
                        at = (at + 1) & mask;
                        j = table[at];
                    }
                    j -= 1;
                }
                if (j == NO_TARGET)
                    continue;
#if K == 3
                total += 1;
#else
                atomic_or(rows + INDEX(j * w + i / 32, n * w, 25), 1u << (i % 32));
#endif
#ifdef EDGES
                atomic_inc(edges + begin + i);
                atomic_inc(edges + begin + j);
                atomic_inc(edges + e);
#endif
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
#if K > 3
        // TILE lanes take a word of a row, and each of them every TILE-th word of the sets below it, so that
        // a row is read by neighbours together. Sets are not kept: their members are met in words that all
        // lanes of a tile compute, since lanes can't tell each other anything without a barrier.
        __global const uint *const restrict row = (__global const uint *)rows;
        const uint own = lane % TILE;
        // Nothing bounds what lies below an item: between items and, of large cliques, between steps the lanes look
        // whether they are to end.
        bool go_on = !ended;
        for (uint item = lane / TILE + BIG / TILE * part; item < n * w && go_on; item += BIG / TILE * parts) {
            if (STOPPED_OFTEN || (++steps % LOOK_EACH == 0 && stopped(fault)))
                break;
            const uint j = item / w, word = item % w;
#if K == 4
            // Rows of four members are on their way together.
            for (uint x = own; x <= word; x += TILE) {
                const uint mine = row[j * w + x];
                uint bits = row[item], found = 0;
                while (bits != 0) {
                    uint others[4];
#pragma unroll
                    for (uint b = 0; b < 4; b++) {
                        const uint i = 32 * word + 31 - clz(bits & -bits);
                        others[b] = bits == 0 ? 0 : row[i * w + x];
                        bits &= bits - 1;
                    }
#pragma unroll
                    for (uint b = 0; b < 4; b++)
                        found += popcount(mine & others[b]);
                }
                total += found;
            }
#else
            for (uint bits = row[item]; bits != 0 && go_on; bits &= bits - 1) {
                const uint i = 32 * word + top_bit(bits & -bits);
                // The set of a level is what the rows of its members have in common. Of each level: the word
                // whose members are met, those that are left of it, and the lane's word of the set.
                uint members[LAST + 3], at[LAST + 1], left[LAST + 1], mine[LAST + 1];
                uint level = 0;
                members[0] = j * w;
                members[1] = i * w;
                at[0] = word;
                left[0] = row[j * w + word] & row[i * w + word];
                mine[0] = own <= word ? row[j * w + own] & row[i * w + own] : 0;
                for (;;) {
                    if (++steps % LOOK_EACH == 0 && stopped(fault)) {
                        go_on = false;
                        break;
                    }
                    if (left[level] == 0) {
                        if (at[level] == 0) {
                            if (level == 0)
                                break;
                            level -= 1;
                            continue;
                        }
                        at[level] -= 1;
                        uint set = 0xffffffff;
                        for (uint m = 0; m < level + 2; m++)
                            set &= row[members[m] + at[level]];
                        left[level] = set;
                        continue;
                    }
                    const uint bit = top_bit(left[level]);
                    left[level] ^= 1u << bit;
                    const uint y = at[level];
                    const uint by = INDEX((32 * y + bit) * w, n * w, 26);
                    if (level == LAST) {
                        if (w <= TILE) {
                            if (own <= y)
                                total += popcount(mine[level] & row[by + own]);
                            continue;
                        }
                        for (uint x = own; x <= y; x += TILE) {
                            uint set = row[by + x];
                            for (uint m = 0; m < level + 2; m++)
                                set &= row[members[m] + x];
                            total += popcount(set);
                        }
                        continue;
                    }
                    members[level + 2] = by;
                    at[level + 1] = y;
                    left[level + 1] = left[level] & row[by + y];
                    mine[level + 1] = own <= y && own < w ? mine[level] & row[by + own] : 0;
                    level += 1;
                }
            }
#endif
        }
#endif
#ifdef PER_TASK
        totals[lane] = total;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            ulong sum = 0;
            for (uint i = 0; i < BIG; i++)
                sum += totals[i];
            edges[first + number] = (uint)min(sum, (ulong)0xffffffff);
        }
#endif
        all += total;
        // The slot is used again.
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    }
#ifndef PER_TASK
    totals[lane] = all;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        ulong sum = 0;
        for (uint i = 0; i < BIG; i++)
            sum += totals[i];
        if (sum != 0)
            add_wide(sums + 4 * (get_group_id(0) % SLOTS), sum, 0);
    }
#endif
}

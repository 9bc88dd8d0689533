// As local.cl, for roots with more targets than fit into local memory: table, rows and sets lie in
// global memory, a slot for each work-group, and sets have as many words as the root needs.
//
// `slots` holds for each group: 4 · span words of table, span · words of rows, and 13 sets of
// `words` words for each lane, interleaved by lane; `words` = ⌈span / 32⌉ + 1.

__kernel __attribute__((reqd_work_group_size(BIG, 1, 1)))
void local_big(__global const uint *restrict offsets, __global const uint *restrict targets,
               __global const uint2 *restrict tasks, const uint first, const uint count,
               const uint vertices, const uint arcs, __global uint *restrict sums,
               __global uint *restrict edges, __global uint *restrict fault,
               __global uint *slots, const uint span, const uint words, const ulong slot_words) {
    __local ulong totals[BIG];
    const uint lane = get_local_id(0);
    volatile __global uint *const table = slots + get_group_id(0) * slot_words;
    volatile __global uint *const rows = table + 4 * span;
    __global uint *const sets = (__global uint *)(rows + (ulong)span * words);
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
        for (uint i = lane; i <= mask; i += BIG)
            table[i] = 0;
        for (uint i = lane; i < n * w; i += BIG)
            rows[i] = 0;
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (uint i = lane; i < n; i += BIG) {
            uint at = (targets[begin + i] * 0x9e3779b1u) >> (32 - bits);
            while (atomic_cmpxchg(table + at, 0u, i + 1) != 0)
                at = (at + 1) & mask;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        ulong total = 0;
        for (uint i = lane / 32; i + 1 < n; i += BIG / 32) {
            const uint source = INDEX(targets[begin + i], vertices, 23);
            const uint end = INDEX(offsets[source + 1], arcs + 1, 24);
            for (uint e = offsets[source] + lane % 32; e < end; e += 32) {
                const uint id = targets[e];
                uint at = (id * 0x9e3779b1u) >> (32 - bits);
                uint j = table[at];
                while (j != 0 && targets[begin + j - 1] != id) {
                    at = (at + 1) & mask;
                    j = table[at];
                }
                if (j == 0)
                    continue;
                j -= 1;
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
        // A lane takes a word of a row; below each of its bits, sets of falling size.
        for (uint item = lane + BIG * part; item < n * w; item += BIG * parts) {
            const uint j = item / w, word = item % w;
            for (uint bits = rows[item]; bits != 0; bits &= bits - 1) {
                const uint i = 32 * word + top_bit(bits & -bits);
#if K == 4
                for (uint x = 0; x <= word; x++)
                    total += popcount(rows[j * w + x] & rows[i * w + x]);
#else
                for (uint x = 0; x < w; x++)
                    sets[x * BIG + lane] = x <= word ? rows[j * w + x] & rows[i * w + x] : 0;
                // Level 0 is the pair's set; the last one is only measured.
                uint level = 0, top[LAST + 1];
                top[0] = word + 1;
                for (;;) {
                    __global uint *const set = sets + level * words * BIG + lane;
                    while (top[level] != 0 && set[(top[level] - 1) * BIG] == 0)
                        top[level] -= 1;
                    if (top[level] == 0) {
                        if (level == 0)
                            break;
                        level -= 1;
                        continue;
                    }
                    const uint at = top[level] - 1;
                    const uint bit = top_bit(set[at * BIG]);
                    set[at * BIG] ^= 1u << bit;
                    const uint by = INDEX((32 * at + bit) * w, n * w, 26);
                    if (level == LAST) {
                        for (uint x = 0; x <= at; x++)
                            total += popcount(set[x * BIG] & rows[by + x]);
                        continue;
                    }
                    for (uint x = 0; x <= at; x++)
                        set[words * BIG + x * BIG] = set[x * BIG] & rows[by + x];
                    level += 1;
                    top[level] = at + 1;
                }
#endif
            }
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
    totals[lane] = all;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        ulong sum = 0;
        for (uint i = 0; i < BIG; i++)
            sum += totals[i];
        if (sum != 0)
            add_wide(sums + 4 * (get_group_id(0) % SLOTS), sum, 0);
    }
}

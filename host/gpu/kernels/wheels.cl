// Kernel NAME with work-groups of SIZE lanes: wheels (see `five.cl`) with counters in local memory, two 16-bit counters in a
// word, indexed by the position among the neighbours of v. v has at most `most` neighbours.
__kernel __attribute__((reqd_work_group_size(SIZE, 1, 1)))
void NAME(__global const uint *restrict offsets, __global const uint *restrict neighbours,
          __global const uint *restrict starts, __global const uint *restrict sources,
          __global const uint *restrict targets, __global const uint *restrict edges,
          __global const uint *restrict places, __global const uint *restrict lists,
          __global const ushort *restrict at_sources, __global const ushort *restrict at_targets,
          __global const uint *restrict tasks, const uint first, const uint count,
          const uint vertices, const uint arcs, const uint words, const uint least, const uint most,
          __local uint *tally, __global uint *restrict sums, __global uint *restrict fault) {
    __local ulong low[SIZE], high[SIZE];
    const uint lane = get_local_id(0), tile = lane / TILE, in_tile = lane % TILE;
    WHEEL_SUMS;
    for (uint i = lane; i < most / 2 + 1; i += SIZE)
        tally[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_WHEEL
        // The arcs from v begin behind its neighbours below.
        const uint below = degree - (starts[v + 1] - starts[v]);
        const uint corner = turned ? lower_bound(neighbours, offsets[v], offsets[v + 1], a) - offsets[v]
                                   : below + arc - starts[v];
        const uint begin = places[arc];
        __global const ushort *const at_v = turned ? at_targets : at_sources;
        ulong own = 0;
        for (uint i = begin + tile; i < begin + t; i += SIZE / TILE) {
            const uint b = lists[INDEX(i, words, 127)];
            const uint vb = INDEX(b > v ? starts[v] + at_v[i] - below : arc_of(starts, targets, b, v), arcs, 128);
            __global const ushort *const at_b = b > v ? at_sources : at_targets;
            const uint end = places[vb] + edges[vb];
            for (uint e = places[vb] + in_tile; e < end; e += TILE) {
                const uint at = at_b[INDEX(e, words, 129)];
                if (at >= corner)
                    break;
                const uint shift = at % 2 * 16;
                own += atomic_add(tally + at / 2, 1u << shift) >> shift & 0xffff;
            }
        }
        more(&wheel_pairs, own);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = begin + lane; i < begin + t && at_v[i] < corner; i += SIZE) {
            const uint at = at_v[i], c = lists[i];
            const ulong q = tally[at / 2] >> at % 2 * 16 & 0xffff;
            PUT_TRIANGLE(q, c > v ? starts[v] + at - below : arc_of(starts, targets, c, v))
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lane; i < (corner + 1) / 2; i += SIZE)
            tally[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    PUT_WHEELS(SIZE);
}
#undef NAME
#undef SIZE

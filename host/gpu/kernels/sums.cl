// The sums of the closed formulas for motifs, over arcs (u, v) with t triangles and over vertices of
// degree d:
//   0  Σ t                     1  Σ t (t − 1) / 2          2  Σ t (d_u + d_v − 4)
//   3  Σ (d_u − 1)(d_v − 1)    4  Σ d (d − 1)(d − 2) / 6   5  Σ d (d − 1) / 2
// Without ARCS only the last two. Each is 128 bits, in SLOTS parts.

typedef struct {
    ulong lo, hi;
} wide;

inline void more(wide *sum, ulong lo, ulong hi) {
    sum->lo += lo;
    sum->hi += hi + (sum->lo < lo ? 1 : 0);
}

inline void product(wide *sum, ulong a, ulong b) {
    more(sum, a * b, mul_hi(a, b));
}

__kernel __attribute__((reqd_work_group_size(SUMS, 1, 1)))
void motif_sums(__global const uint *restrict offsets, __global const uint *restrict targets,
                __global const uint *restrict degrees, __global const uint *restrict edges,
                const uint vertices, const uint arcs, __global uint *restrict sums,
                __global uint *restrict fault) {
    __local ulong low[SUMS], high[SUMS];
    const uint lane = get_local_id(0);
    wide sum[6];
    for (int i = 0; i < 6; i++)
        sum[i].lo = sum[i].hi = 0;
    const uint tile = (get_group_id(0) * SUMS + lane) / 8;
    const uint tiles = get_num_groups(0) * SUMS / 8;
    for (uint u = tile; u < vertices; u += tiles) {
        const ulong d = degrees[u];
        if (lane % 8 == 0 && d > 1) {
            const ulong pairs = d * (d - 1) / 2;
            more(&sum[5], pairs, 0);
            if (pairs % 3 == 0)
                product(&sum[4], pairs / 3, d - 2);
            else
                product(&sum[4], pairs, (d - 2) / 3);
        }
#ifdef ARCS
        const uint end = INDEX(offsets[u + 1], arcs + 1, 41);
        for (uint e = offsets[u] + lane % 8; e < end; e += 8) {
            const ulong other = degrees[INDEX(targets[e], vertices, 42)];
            const ulong t = edges[e];
            product(&sum[3], d - 1, other - 1);
            if (t != 0) {
                more(&sum[0], t, 0);
                more(&sum[1], t * (t - 1) / 2, 0);
                product(&sum[2], t, d + other - 4);
            }
        }
#endif
    }
    for (int i = 0; i < 6; i++) {
        low[lane] = sum[i].lo;
        high[lane] = sum[i].hi;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = SUMS / 2; step != 0; step /= 2) {
            if (lane < step) {
                const ulong lo = low[lane] + low[lane + step];
                high[lane] += high[lane + step] + (lo < low[lane] ? 1 : 0);
                low[lane] = lo;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lane == 0 && (low[0] != 0 || high[0] != 0))
            add_wide(sums + 4 * (SLOTS * (MOTIF_SUMS + i) + get_group_id(0) % SLOTS), low[0], high[0]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

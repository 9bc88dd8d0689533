// Minimum-image supports of edges and of paths of two edges, all labels at once and without a candidate.
//
// Vertices are numbered by label, so that a label is a class of numbers that follow each other; the host sets KINDS,
// the number of classes (64 at most), and LANES. `firsts` has the first vertex of each class, and the number of all.
// `near` has two words of 64 bits for each vertex: the classes of which it has a neighbour, and of which it has two.
//
// For classes a, b and c, `counts` has
//   ones[a][b]         vertices of a with a neighbour in b: an edge's images,
//   centres[a][b][c]   vertices of a with a neighbour in b and another one in c, b <= c: those of a path's middle,
//   ends[a][b][c]      vertices of a with a neighbour in b that has another neighbour in c: those of its end.

#define ONES 0
#define CENTRES (KINDS * KINDS)
#define ENDS (KINDS * KINDS * (KINDS + 1))

// A lane for each vertex.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void nearby(__global const uint *restrict offsets, __global const uint *restrict targets,
            __global const uint *restrict firsts, const uint vertices, __global ulong2 *restrict near) {
    const uint v = get_global_id(0);
    if (v >= vertices)
        return;
    ulong one = 0, two = 0;
    const uint end = offsets[v + 1];
    uint kind = 0;
    for (uint e = offsets[v]; e < end;) {
        const uint target = targets[e];
        // Classes aren't empty: the first one that begins behind the target is the next.
        kind = lower_bound(firsts, kind, KINDS, target + 1) - 1;
        const uint after = lower_bound(targets, e + 1, end, firsts[kind + 1]);
        one |= (ulong)1 << kind;
        if (after - e > 1)
            two |= (ulong)1 << kind;
        e = after;
    }
    near[v] = (ulong2)(one, two);
}

// A task: class, first vertex, number of vertices. A work-group takes the vertices one after the other.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void wedges(__global const uint *restrict offsets, __global const uint *restrict targets,
            __global const uint *restrict firsts, __global const ulong2 *restrict near,
            __global const uint *restrict tasks, volatile __global uint *counts) {
    __local uint ones[KINDS], centres[KINDS * KINDS], ends[KINDS * KINDS];
    // By class of neighbours: the classes that they have a neighbour in, and two, in two halves each.
    __local uint reached[4 * KINDS];
    __local uint starts[KINDS + 1];
    const uint lane = get_local_id(0);
    const uint kind = tasks[3 * get_group_id(0)], first = tasks[3 * get_group_id(0) + 1];
    const uint count = tasks[3 * get_group_id(0) + 2];
    for (uint i = lane; i < KINDS; i += LANES)
        ones[i] = 0;
    for (uint i = lane; i < KINDS * KINDS; i += LANES)
        centres[i] = ends[i] = 0;
    for (uint i = lane; i <= KINDS; i += LANES)
        starts[i] = firsts[i];
    for (uint v = first; v < first + count; v++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lane; i < 4 * KINDS; i += LANES)
            reached[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong2 own = near[v];
        for (uint e = offsets[v] + lane; e < offsets[v + 1]; e += LANES) {
            const uint u = targets[e];
            uint low = 0, high = KINDS;
            while (high - low > 1) {
                const uint middle = (low + high) / 2;
                if (starts[middle] <= u)
                    low = middle;
                else
                    high = middle;
            }
            const ulong2 others = near[u];
            const uint4 halves = (uint4)((uint)others.x, (uint)(others.x >> 32), (uint)others.y, (uint)(others.y >> 32));
            volatile __local uint *const sum = reached + 4 * low;
            if ((halves.x & ~sum[0]) != 0)
                atomic_or(sum, halves.x);
            if ((halves.y & ~sum[1]) != 0)
                atomic_or(sum + 1, halves.y);
            if ((halves.z & ~sum[2]) != 0)
                atomic_or(sum + 2, halves.z);
            if ((halves.w & ~sum[3]) != 0)
                atomic_or(sum + 3, halves.w);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lane; i < KINDS; i += LANES)
            ones[i] += own.x >> i & 1;
        // A pair of classes is always the same lane's.
        for (uint i = lane; i < KINDS * KINDS; i += LANES) {
            const uint b = i / KINDS, c = i % KINDS;
            if ((own.x >> b & 1) == 0)
                continue;
            if (b <= c)
                centres[i] += (b == c ? own.y : own.x) >> c & 1;
            // A neighbour in b has this vertex as its neighbour: of its own class it needs two.
            const uint at = 4 * b + (c == kind ? 2 : 0);
            const ulong there = (ulong)reached[at + 1] << 32 | reached[at];
            ends[i] += there >> c & 1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < KINDS; i += LANES)
        if (ones[i] != 0)
            atomic_add(counts + ONES + kind * KINDS + i, ones[i]);
    for (uint i = lane; i < KINDS * KINDS; i += LANES) {
        if (centres[i] != 0)
            atomic_add(counts + CENTRES + kind * KINDS * KINDS + i, centres[i]);
        if (ends[i] != 0)
            atomic_add(counts + ENDS + kind * KINDS * KINDS + i, ends[i]);
    }
}

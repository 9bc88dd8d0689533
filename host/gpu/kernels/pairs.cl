// The common targets of the two ends of arcs, in ascending order: rows of their own for roots that have too
// many targets. With FILL they are written behind the rows of the graph, else only counted.
//
// A pair is (root, place of the arc). Each lane of a group takes a stretch of the shorter list and looks for
// its members in the longer one.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void pairs(__global const uint *restrict offsets, __global const uint *restrict targets,
           __global const uint2 *restrict arcs_of, const uint count, const uint vertices, const uint arcs,
           __global uint *restrict sizes, __global uint *restrict ends, __global uint *restrict fault) {
    __local uint found[LANES];
    __local uint ended;
    const uint lane = get_local_id(0);
    for (uint p = get_group_id(0); p < count; p += get_num_groups(0)) {
        const uint root = INDEX(arcs_of[p].x, vertices, 63);
        const uint arc = INDEX(arcs_of[p].y, arcs, 64);
        const uint middle = INDEX(targets[arc], vertices, 65);
        // What both lead to lies beyond the arc's end.
        uint from = offsets[middle], to = offsets[middle + 1];
        uint other = arc + 1, limit = offsets[root + 1];
        if (to - from > limit - other) {
            const uint low = from, high = to;
            from = other;
            to = limit;
            other = low;
            limit = high;
        }
        const uint stretch = (to - from + LANES - 1) / LANES;
        const uint begin = min(from + lane * stretch, to), end = min(begin + stretch, to);
        uint own = 0;
        for (uint e = begin; e < end; e++) {
            const uint at = lower_bound(targets, other, limit, targets[e]);
            own += at < limit && targets[at] == targets[e] ? 1 : 0;
        }
        found[lane] = own;
        // For all lanes alike, since they wait for each other.
        if (lane == 0)
            ended = stopped(fault);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (ended)
            return;
        uint before = 0, all = 0;
        for (uint i = 0; i < LANES; i++) {
            before += i < lane ? found[i] : 0;
            all += found[i];
        }
#ifdef FILL
        uint to_write = sizes[p] + before;
        for (uint e = begin; e < end; e++) {
            const uint at = lower_bound(targets, other, limit, targets[e]);
            if (at < limit && targets[at] == targets[e])
                ends[to_write++] = targets[e];
        }
#else
        if (lane == 0)
            sizes[p] = all;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// The four layers of SGSI (Zeng et al., section 7): rows are divided by the length of their first edge's list, in
// intervals of 32, and each layer has its own way. A warp for a row is the kernel `first`, a block for a row
// the same kernel with more lanes; here are the layers between and above, and what dividing takes.

#define POOL_ROWS 16

// How many rows have lists of each interval.
__kernel void histogram(__global const uint *restrict capacity, const uint rows, const uint intervals,
                        volatile __global uint *counts) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        atomic_inc(counts + min(capacity[row] / 32, intervals - 1));
}

// Rows by layer: up to interval x3 a warp, up to 31 several warps, up to x1 a block, above that the device.
__kernel void divide(__global const uint *restrict capacity, const uint rows, const uint x3, const uint x1,
                     const uint limit, __global uint *restrict bins, volatile __global uint *control) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        const uint interval = capacity[row] / 32;
        if (capacity[row] == 0)
            continue;
        const uint layer = interval <= x3 ? 0 : interval < 32 ? 1 : interval <= x1 ? 2 : 3;
        bins[layer * limit + atomic_inc(control + 4 + layer)] = row;
    }
}

// Several rows for a block: their lists' elements are numbered through, and lanes take one each.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void first_pool(__global const uint *restrict graph, const uint words, __global const uint *restrict segments,
                const uint which, __global const uint *restrict table, const uint stride, const uint from,
                const uint rows, const uint depth, __constant uint *plan,
                __global const uint *restrict candidates, const uint candidate_from, const uint candidate_to,
                __global uint *restrict gba, const uint gba_words, __global const uint *restrict offsets,
                __global const uint *restrict chosen, __global uint *restrict fills,
                __global int *restrict flags, __global const uint *restrict bin, const uint bin_at,
                const uint store, volatile __global uint *control, __global uint *restrict sums,
                __global uint *restrict fault) {
    __local uint place[2], votes[VOTES], own[POOL_ROWS], begins[POOL_ROWS], ends[POOL_ROWS];
    __local uint fill[POOL_ROWS], before[POOL_ROWS], prefix[POOL_ROWS * MOST_DEPTHS];
    __local ulong totals[LANES];
    __global const uint *const segment = segments + which * SEGMENT_WORDS;
    const uint lane = get_local_id(0);
    work done = {0, 0, 0, 0};
    uint alive = 0;
    for (uint pool = get_group_id(0) * POOL_ROWS; pool < rows; pool += get_num_groups(0) * POOL_ROWS) {
        const uint size = min((uint)POOL_ROWS, rows - pool);
        uint all_elements = 0;
        for (uint r = 0; r < size; r++) {
            const uint row = bin[bin_at + pool + r];
            const int flag = flags[row];
            uint length = 0;
            if (chosen[row] == which && flag >= 0) {
                const uint v = table[which * stride + from + row];
                locate(graph, words, segment, v, lane, place, &done, fault);
                length = place[1] - place[0];
                const bool over = flag > 0 || v < segment[SEGMENT_FIRST];
                alive += length != 0 || !over ? 1 : 0;
                SYNC;
                if (lane == 0 && (length != 0 || over))
                    flags[row] = length != 0 ? 1 : -1;
            }
            all_elements += length;
            if (lane == 0) {
                own[r] = row;
                begins[r] = place[0];
                ends[r] = all_elements;
                fill[r] = fills[row];
            }
            for (uint j = lane; j < depth; j += LANES)
                prefix[r * MOST_DEPTHS + j] = table[j * stride + from + row];
            if (lane == 0)
                done.loads += depth;
            SYNC;
        }
        for (uint flat = 0; flat < all_elements; flat += LANES) {
            const uint f = flat + lane;
            uint r = 0;
            while (r < size && ends[r] <= f)
                r += 1;
            bool fit = f < all_elements;
            uint x = 0;
            const uint start = r == 0 ? 0 : ends[min(r, size) - 1];
            if (fit) {
                const uint e = begins[r] + f - start;
                x = graph[INDEX(e, words, 135)];
                done.tested += 1;
                done.loads += lane % LINE == 0 ? 1 : 0;
                fit = has_label(graph, segment, e, &done);
                DIFFERS(plan, depth, x, prefix[r * MOST_DEPTHS + j], fit)
                fit = fit && is_candidate(candidates, candidate_from, candidate_to, x, &done);
            }
            uint all;
            const uint mine = place_of(votes, lane, fit, &all);
            const bool last = f < all_elements && (f + 1 == ends[r] || lane + 1 == LANES || f + 1 == all_elements);
            if (f < all_elements && (f == start || lane == 0))
                before[r] = mine;
            SYNC;
            if (fit && store != 0)
                gba[INDEX(offsets[own[r]] + fill[r] + mine - before[r], gba_words, 136)] = x;
            SYNC;
            if (last)
                fill[r] += mine + (fit ? 1 : 0) - before[r];
            if (lane == 0 && store != 0)
                done.stores += (all + LINE - 1) / LINE;
            SYNC;
        }
        for (uint r = lane; r < size; r += LANES)
            fills[own[r]] = fill[r];
        SYNC;
    }
    if (lane == 0 && alive != 0)
        atomic_add(control + 3, alive);
    report(totals, lane, &done, sums);
}

// One row for the whole device: elements that don't fit are marked in the buffer. Lists are whole.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void first_row(__global const uint *restrict graph, const uint words, __global const uint *restrict segments,
               const uint which, __global const uint *restrict table, const uint stride, const uint from,
               const uint row, const uint depth, __constant uint *plan,
               __global const uint *restrict candidates, const uint candidate_from, const uint candidate_to,
               __global uint *restrict gba, const uint gba_words, __global const uint *restrict offsets,
               __global uint *restrict sums, __global uint *restrict fault) {
    __local uint place[2], prefix[MOST_DEPTHS];
    __local ulong totals[LANES];
    __global const uint *const segment = segments + which * SEGMENT_WORDS;
    const uint lane = get_local_id(0);
    work done = {0, 0, 0, 0};
    locate(graph, words, segment, table[which * stride + from + row], lane, place, &done, fault);
    for (uint j = lane; j < depth; j += LANES)
        prefix[j] = table[j * stride + from + row];
    SYNC;
    const uint begin = place[0], end = place[1], base = offsets[row];
    for (uint e = begin + get_global_id(0); e < end; e += get_global_size(0)) {
        const uint x = graph[INDEX(e, words, 137)];
        done.tested += 1;
        done.loads += lane % LINE == 0 ? 1 : 0;
        done.stores += lane % LINE == 0 ? 1 : 0;
        bool fit = has_label(graph, segment, e, &done);
        DIFFERS(plan, depth, x, prefix[j], fit)
        fit = fit && is_candidate(candidates, candidate_from, candidate_to, x, &done);
        gba[INDEX(base + e - begin, gba_words, 138)] = fit ? x : NONE;
    }
    report(totals, lane, &done, sums);
}

// What `first_row` left of a row moves to the front. One work-group.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void squeeze(__global uint *gba, const uint gba_words, __global const uint *restrict offsets,
             __global const uint *restrict capacity, const uint row, __global uint *restrict fills,
             __global int *restrict flags, __global uint *restrict sums, __global uint *restrict fault) {
    __local uint votes[VOTES];
    __local ulong totals[LANES];
    const uint lane = get_local_id(0), base = offsets[row], size = capacity[row];
    work done = {0, 0, 0, 0};
    uint fill = 0;
    for (uint at = 0; at < size; at += LANES) {
        const uint x = at + lane < size ? gba[INDEX(base + at + lane, gba_words, 139)] : NONE;
        done.loads += lane % LINE == 0 ? 1 : 0;
        uint all;
        const uint mine = place_of(votes, lane, x != NONE, &all);
        if (x != NONE)
            gba[INDEX(base + fill + mine, gba_words, 140)] = x;
        fill += all;
        if (lane == 0)
            done.stores += (all + LINE - 1) / LINE;
    }
    if (lane == 0) {
        fills[row] = fill;
        flags[row] = 1;
    }
    report(totals, lane, &done, sums);
}

// What the cost model weighs: `steps` steps of a block, each reading a line for each of its warps, and with
// `waits` as many barriers.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void probe(__global const uint *restrict items, const uint mask, const uint steps, const uint waits,
           __global uint *restrict out) {
    uint at = get_global_id(0), sum = 0;
    for (uint step = 0; step < steps; step++) {
        sum += items[(at + step * LANES) & mask];
        for (uint i = 0; i < waits; i++)
            SYNC;
    }
    if (sum == NONE)
        out[0] = sum;
}

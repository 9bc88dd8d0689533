// Prefix sums of rows' sizes (GSI, Alg. 3), and how many rows of a batch fit into the room there is.
//
// Sums that are 2^32 and more stay at the largest word: they never fit.

#define SCAN_EACH 8

// Places within a part of SCAN · SCAN_EACH rows, and the part's sum.
__kernel __attribute__((reqd_work_group_size(SCAN, 1, 1)))
void scan_parts(__global const uint *restrict sizes, const uint rows, __global uint *restrict places,
                __global ulong *restrict parts) {
    __local ulong sums[SCAN];
    const uint lane = get_local_id(0);
    const uint from = get_group_id(0) * SCAN * SCAN_EACH + lane * SCAN_EACH;
    const uint to = min(rows, from + SCAN_EACH);
    ulong sum = 0;
    for (uint row = from; row < to; row++)
        sum += sizes[row];
    sums[lane] = sum;
    ADD_UP_LANES(ulong, sums, lane)
    ulong place = sums[lane] - sum;
    for (uint row = from; row < to; row++) {
        places[row] = (uint)min(place, (ulong)NONE);
        place += sizes[row];
    }
    if (lane == SCAN - 1)
        parts[get_group_id(0)] = sums[lane];
}

// The same of the parts' sums, in place; the sum of all comes behind them. One work-group.
__kernel __attribute__((reqd_work_group_size(SCAN, 1, 1)))
void scan_sums(__global ulong *restrict parts, const uint count) {
    __local ulong sums[SCAN];
    const uint lane = get_local_id(0), each = (count + SCAN - 1) / SCAN;
    const uint from = min(count, lane * each), to = min(count, from + each);
    ulong sum = 0;
    for (uint part = from; part < to; part++)
        sum += parts[part];
    sums[lane] = sum;
    ADD_UP_LANES(ulong, sums, lane)
    ulong place = sums[lane] - sum;
    for (uint part = from; part < to; part++) {
        const ulong size = parts[part];
        parts[part] = place;
        place += size;
    }
    if (lane == SCAN - 1)
        parts[count] = sums[lane];
}

// Places among all rows; behind them the sum of all.
__kernel void scan_add(const uint rows, __global uint *restrict places, __global const ulong *restrict parts) {
    for (uint row = get_global_id(0); row <= rows; row += get_global_size(0)) {
        const uint part = row / (SCAN * SCAN_EACH), count = (rows + SCAN * SCAN_EACH - 1) / (SCAN * SCAN_EACH);
        const ulong place = row == rows ? parts[count] : parts[part] + places[row];
        places[row] = (uint)min(place, (ulong)NONE);
    }
}

// How many rows fit: control[0]; and what they take: control[1].
__kernel void cut(__global const uint *restrict places, const uint rows, const uint room,
                  __global uint *restrict control) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        if (places[row + 1] <= room && (row + 1 == rows || places[row + 2] > room)) {
            control[0] = row + 1;
            control[1] = places[row + 1];
        }
}

// What a device does at most: launches, reads of memory, and the elementary tests of bitmaps and tables.
//
// The host sets LANES, OF_STEP (words or lookups of a step), and WORDS of local memory (2 to the power of WORDS_BITS). What
// is found is written if it is a number that it never is, so that no loop is left out.

#define NEVER 0x12345678u

__kernel void nothing(__global uint *restrict out, const uint never) {
    if (never == NEVER)
        out[0] = never;
}

__kernel void read_all(__global const uint4 *restrict items, const uint count, __global uint *restrict out) {
    uint4 all = (uint4)(0, 0, 0, 0);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        all ^= items[i];
    if ((all.x ^ all.y ^ all.z ^ all.w) == NEVER)
        out[0] = all.x;
}

// Reads a power of two of items again and again, from another place in each round.
__kernel void read_again(__global const uint4 *restrict items, const uint count, const uint rounds,
                         __global uint *restrict out) {
    uint4 all = (uint4)(0, 0, 0, 0);
    for (uint round = 0; round < rounds; round++)
        for (uint i = get_global_id(0); i < count; i += get_global_size(0))
            all ^= items[(i + 0x9e3779b1u * round) & (count - 1)];
    if ((all.x ^ all.y ^ all.z ^ all.w) == NEVER)
        out[0] = all.x;
}

// Members that a set of registers shares with rows of local memory, a word at a time; lanes read neighbouring words.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_words(__global uint *restrict out, const uint steps) {
    __local uint row[WORDS];
    const uint lane = get_local_id(0);
    for (uint i = lane; i < WORDS; i += LANES)
        row[i] = i * 0x9e3779b1u + steps;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint set = get_global_id(0) * 0x85ebca6bu;
    uint found = 0;
    for (uint s = 0; s < steps; s++) {
#pragma unroll
        for (uint x = 0; x < OF_STEP; x++)
            found += popcount((set ^ s) & row[(lane + OF_STEP * s + x) & (WORDS - 1)]);
    }
    if (found == NEVER)
        out[0] = found;
}

// Numbers that are not in a table of local memory: a hash and a read each.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void look_up(__global uint *restrict out, const uint steps) {
    __local uint table[WORDS];
    const uint lane = get_local_id(0);
    for (uint i = lane; i < WORDS; i += LANES)
        table[i] = steps == NEVER;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint found = 0;
    for (uint s = 0; s < steps; s++) {
#pragma unroll
        for (uint x = 0; x < OF_STEP; x++) {
            const uint number = OF_STEP * (get_global_id(0) + s * LANES) + x;
            found += table[(number * 0x9e3779b1u) >> (32 - WORDS_BITS)] == number + 1;
        }
    }
    if (found == NEVER)
        out[0] = found;
}

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

// Reads lists of `length` words at random places of an array of `count`; `tile` lanes read one together.
__kernel void read_lists(__global const uint *restrict items, const uint count, const uint length,
                         const uint tile, const uint lists, __global uint *restrict out) {
    uint all = 0;
    for (uint list = get_global_id(0) / tile; list < lists; list += get_global_size(0) / tile) {
        const uint begin = mul_hi(list * 0x9e3779b1u, count - length + 1);
        for (uint i = get_global_id(0) % tile; i < length; i += tile)
            all ^= items[begin + i];
    }
    if (all == NEVER)
        out[0] = all;
}

// Writes its own place into each word.
__kernel void count_up(__global uint *restrict items, const uint count) {
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        items[i] = i;
}

// Searches numbers in lists of 2^`levels` - 1 numbers at random places of an ascending array of `count`, with a comparison
// for each level; `tile` lanes search the same list.
__kernel void search_lists(__global const uint *restrict items, const uint count, const uint levels,
                           const uint tile, const uint searches, __global uint *restrict out) {
    const uint length = (1u << levels) - 1;
    uint all = 0;
    for (uint search = get_global_id(0); search < searches; search += get_global_size(0)) {
        const uint begin = mul_hi(search / tile * 0x9e3779b1u, count - length + 1);
        const uint number = begin + mul_hi(search * 0x85ebca6bu, length);
        uint low = begin, high = begin + length;
        while (low < high) {
            const uint middle = low + (high - low) / 2;
            if (items[middle] < number)
                low = middle + 1;
            else
                high = middle;
        }
        all ^= low;
    }
    if (all == NEVER)
        out[0] = all;
}

// Where `tile` lanes begin in WORDS counters of their work-group, of which each takes every `gap`-th.
#define BEGIN(step) mul_hi(((uint)get_global_id(0) / tile * OF_STEP + (step)) * 0x9e3779b1u, WORDS - tile * gap + 1)

// Increments of counters in global memory; lanes that take a list together meet counters near each other.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_far(__global uint *counters, const uint gap, const uint tile, const uint steps,
               __global uint *restrict out) {
    __global uint *const own = counters + get_group_id(0) * WORDS + get_local_id(0) % tile * gap;
    uint found = 0;
    for (uint s = 0; s < steps; s++)
#pragma unroll
        for (uint x = 0; x < OF_STEP; x++)
            found += atomic_inc(own + BEGIN(s * LANES * 8 + x));
    if (found == NEVER)
        out[0] = found;
}

// The same counters, only read.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void look_far(__global uint *counters, const uint gap, const uint tile, const uint steps,
              __global uint *restrict out) {
    __global const uint *const own = counters + get_group_id(0) * WORDS + get_local_id(0) % tile * gap;
    uint found = 0;
    for (uint s = 0; s < steps; s++)
#pragma unroll
        for (uint x = 0; x < OF_STEP; x++)
            found += own[BEGIN(s * LANES * 8 + x)];
    if (found == NEVER)
        out[0] = found;
}

// Writes i · factor + salt into each word.
inline void fill(__local uint *words, const uint factor, const uint salt) {
    for (uint i = get_local_id(0); i < WORDS; i += LANES)
        words[i] = i * factor + salt;
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Common members of a set in registers and random rows of local memory. Rows have an odd length, which spreads their words
// over the banks.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_words(__global uint *restrict out, const uint steps) {
    __local uint rows[WORDS];
    fill(rows, 0x9e3779b1u, steps);
    const uint set = get_global_id(0) * 0x85ebca6bu;
    uint found = 0;
    for (uint s = 0; s < steps; s++) {
        const uint row = mul_hi((set + s) * 0x9e3779b1u, WORDS / (OF_STEP | 1)) * (OF_STEP | 1);
#pragma unroll
        for (uint x = 0; x < OF_STEP; x++)
            found += popcount((set ^ s) & rows[row + x]);
    }
    if (found == NEVER)
        out[0] = found;
}

// The 16 members of a word, one at a time, and for each the common members of a set and one word of the member's row.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_members(__global uint *restrict out, const uint steps) {
    __local uint rows[WORDS];
    fill(rows, 0x9e3779b1u, steps);
    const uint set = get_global_id(0) * 0x85ebca6bu;
    uint found = 0;
    for (uint s = 0; s < steps; s++) {
        const uint first = mul_hi((set + s) * 0x9e3779b1u, WORDS - 32 * (OF_STEP | 1));
        for (uint bits = 0x55555555u << (s & 1); bits != 0; bits &= bits - 1)
            found += popcount((set ^ s) & rows[first + (31 - clz(bits & -bits)) * (OF_STEP | 1)]);
    }
    if (found == NEVER)
        out[0] = found;
}

// Increments of counters at random places of local memory.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void increment(__global uint *restrict out, const uint steps) {
    __local uint counters[WORDS];
    fill(counters, 0, 0);
    uint found = 0;
    for (uint s = 0; s < steps; s++) {
#pragma unroll
        for (uint x = 0; x < OF_STEP; x++) {
            const uint number = OF_STEP * (get_global_id(0) + s * LANES) + x;
            found += atomic_inc(counters + ((number * 0x9e3779b1u) >> (32 - WORDS_BITS)));
        }
    }
    if (found == NEVER)
        out[0] = found;
}

// Numbers that are not in a table of local memory: a hash and a read each.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void look_up(__global uint *restrict out, const uint steps) {
    __local uint table[WORDS];
    // Zeros, which the compiler does not know.
    fill(table, 0, steps == NEVER);
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

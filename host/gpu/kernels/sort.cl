// Sorting of records in core, and sums of equal ones (GAMMA, section 6.2).
//
// A record has a key of KEY_WORDS words, the lower one first, and a weight of WEIGHT_WORDS words, which are added up where
// keys are equal; without any, equal keys are one. Keys and weights lie in arrays of their own in the arena, at places
// in words. Kernels of SCAN lanes take tiles of SCAN * EACH elements, a lane EACH of them that follow each other.

#define EACH 16u
#define DIGIT_BITS 4u
#define DIGITS (1u << DIGIT_BITS)
#define TILE (SCAN * EACH)
#define NONE 0xffffffffu
#define GROUP_OF_SCAN __attribute__((reqd_work_group_size(SCAN, 1, 1)))

inline ulong key_of(__global const uint *arena, const uint at, const uint i) {
#if KEY_WORDS == 2
    return arena[at + 2 * i] | (ulong)arena[at + 2 * i + 1] << 32;
#else
    return arena[at + i];
#endif
}

inline void put_key(__global uint *arena, const uint at, const uint i, const ulong key) {
#if KEY_WORDS == 2
    arena[at + 2 * i] = (uint)key;
    arena[at + 2 * i + 1] = (uint)(key >> 32);
#else
    arena[at + i] = (uint)key;
#endif
}

// How many keys of each tile have each digit: all tiles of the first digit, then those of the next.
__kernel GROUP_OF_SCAN
void count_digits(__global uint *arena, const uint keys, const uint size, const uint shift,
                  const uint counts, const uint tiles) {
    __local uint own[DIGITS];
    const uint lane = get_local_id(0), tile = get_group_id(0);
    for (uint digit = lane; digit < DIGITS; digit += SCAN)
        own[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = tile * TILE + lane; i < min(size, tile * TILE + TILE); i += SCAN)
        atomic_inc(own + (uint)(key_of(arena, keys, i) >> shift & (DIGITS - 1)));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = lane; digit < DIGITS; digit += SCAN)
        arena[counts + digit * tiles + tile] = own[digit];
}

// Sums of all words before each; the sum of all comes behind them. One work-group.
__kernel GROUP_OF_SCAN
void sum_before(__global uint *arena, const uint words, const uint size) {
    __local uint sums[SCAN];
    const uint lane = get_local_id(0);
    const uint each = (size + SCAN - 1) / SCAN, from = min(size, lane * each);
    const uint to = min(size, from + each);
    uint sum = 0;
    for (uint i = from; i < to; i++)
        sum += arena[words + i];
    sums[lane] = sum;
    ADD_UP_LANES(uint, sums, lane)
    uint before = sums[lane] - sum;
    for (uint i = from; i < to; i++) {
        const uint word = arena[words + i];
        arena[words + i] = before;
        before += word;
    }
    if (lane == SCAN - 1)
        arena[words + size] = sums[lane];
}

// Moves keys to their places by a digit; equal digits stay in order. `from_index` may be NONE: then each key's
// number is its place. Without `to_index` numbers aren't kept. A single tile needs no counts.
__kernel GROUP_OF_SCAN
void move_by_digit(__global uint *arena, const uint keys, const uint from_index, const uint size,
                   const uint shift, const uint counts, const uint tiles, const uint to_keys,
                   const uint to_index, __global uint *restrict fault) {
    __local uint places[DIGITS * SCAN];
    __local uint begins[DIGITS];
    __local uint sums[SCAN];
    const uint lane = get_local_id(0), tile = get_group_id(0);
    const uint from = min(size, tile * TILE + lane * EACH), to = min(size, from + EACH);
    for (uint digit = 0; digit < DIGITS; digit++)
        places[digit * SCAN + lane] = 0;
    for (uint i = from; i < to; i++)
        places[(uint)(key_of(arena, keys, i) >> shift & (DIGITS - 1)) * SCAN + lane] += 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Places in the tile: all lanes of the first digit, then those of the next.
    uint sum = 0;
    for (uint i = lane * DIGITS; i < (lane + 1) * DIGITS; i++)
        sum += places[i];
    sums[lane] = sum;
    ADD_UP_LANES(uint, sums, lane)
    uint before = sums[lane] - sum;
    for (uint i = lane * DIGITS; i < (lane + 1) * DIGITS; i++) {
        const uint own = places[i];
        places[i] = before;
        before += own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = lane; digit < DIGITS; digit += SCAN)
        begins[digit] = places[digit * SCAN];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = from; i < to; i++) {
        const ulong key = key_of(arena, keys, i);
        const uint digit = (uint)(key >> shift & (DIGITS - 1));
        const uint own = places[digit * SCAN + lane]++;
        const uint at = tiles == 1 ? own : arena[counts + digit * tiles + tile] + own - begins[digit];
        const uint place = INDEX(at, size, 181);
        put_key(arena, to_keys, place, key);
        if (to_index != NONE)
            arena[to_index + place] = from_index == NONE ? i : arena[from_index + i];
    }
}

inline bool begins_run(__global const uint *arena, const uint keys, const uint i) {
    return i == 0 || key_of(arena, keys, i) != key_of(arena, keys, i - 1);
}

// How many different keys begin in each tile.
__kernel GROUP_OF_SCAN
void count_runs(__global uint *arena, const uint keys, const uint size, const uint counts) {
    __local uint sums[SCAN];
    const uint lane = get_local_id(0), tile = get_group_id(0);
    const uint from = min(size, tile * TILE + lane * EACH), to = min(size, from + EACH);
    uint sum = 0;
    for (uint i = from; i < to; i++)
        sum += begins_run(arena, keys, i) ? 1 : 0;
    sums[lane] = sum;
    ADD_LANES(sums, lane, SCAN)
    if (lane == 0)
        arena[counts + tile] = sums[0];
}

__kernel void clear_words(__global uint *arena, const uint words, const uint size) {
    for (uint i = get_global_id(0); i < size; i += get_global_size(0))
        arena[words + i] = 0;
}

#if WEIGHT_WORDS > 0
// Adds sums of words to a weight. A carry goes on by the old value that the atomic returned.
inline void add_weight(volatile __global uint *weight, const ulong *sums) {
    ulong carry = 0;
    for (uint w = 0; w < WEIGHT_WORDS; w++) {
        const ulong more = sums[w] + carry;
        const uint low = (uint)more;
        carry = more >> 32;
        if (low != 0) {
            const uint old = atomic_add(weight + w, low);
            carry += old + low < old ? 1 : 0;
        }
    }
}
#endif

// Each key once, and the sum of its weights (to words that were cleared). `index`: where weights are by number.
// A weight has `own` words, from `weights` on, `stride` words from the next; without any each key weighs 1. A single tile
// needs no counts, and says at `counts` how many keys there are.
__kernel GROUP_OF_SCAN
void reduce_runs(__global uint *arena, const uint keys, const uint index, const uint size,
                 const uint weights, const uint own, const uint stride, const uint counts,
                 const uint tiles, const uint to_keys, const uint to_weights,
                 __global uint *restrict fault) {
    __local uint heads[SCAN];
    const uint lane = get_local_id(0), tile = get_group_id(0);
    const uint from = min(size, tile * TILE + lane * EACH), to = min(size, from + EACH);
    uint mine = 0;
    for (uint i = from; i < to; i++)
        mine += begins_run(arena, keys, i) ? 1 : 0;
    heads[lane] = mine;
    ADD_UP_LANES(uint, heads, lane)
    // How many keys began before this lane's.
    uint run = (tiles == 1 ? 0 : arena[counts + tile]) + heads[lane] - mine;
    if (tiles == 1 && lane == SCAN - 1)
        arena[counts] = heads[lane];
#if WEIGHT_WORDS > 0
    const uint in_tile = heads[SCAN - 1];
    const bool one = in_tile == 0 || (in_tile == 1 && begins_run(arena, keys, tile * TILE));
    ulong sums[WEIGHT_WORDS];
    for (uint w = 0; w < WEIGHT_WORDS; w++)
        sums[w] = 0;
    bool any = false;
#endif
    for (uint i = from; i < to; i++) {
        if (begins_run(arena, keys, i)) {
#if WEIGHT_WORDS > 0
            if (any)
                add_weight(arena + to_weights + WEIGHT_WORDS * INDEX(run - 1, size, 182), sums);
            for (uint w = 0; w < WEIGHT_WORDS; w++)
                sums[w] = 0;
#endif
            put_key(arena, to_keys, INDEX(run, size, 183), key_of(arena, keys, i));
            run += 1;
        }
#if WEIGHT_WORDS > 0
        any = true;
        if (own == 0) {
            sums[0] += 1;
        } else {
            const uint number = index == NONE ? i : arena[index + i];
            const uint at = weights + stride * INDEX(number, size, 184);
            for (uint w = 0; w < min(own, (uint)WEIGHT_WORDS); w++)
                sums[w] += arena[at + w];
        }
#endif
    }
#if WEIGHT_WORDS > 0
    if (!one) {
        if (any)
            add_weight(arena + to_weights + WEIGHT_WORDS * INDEX(run - 1, size, 185), sums);
        return;
    }
    // The tile is one run: its lanes add up before they go to the weight, which all tiles of a large group share.
    __local ulong parts[SCAN];
    for (uint w = 0; w < WEIGHT_WORDS; w++) {
        parts[lane] = sums[w];
        ADD_LANES(parts, lane, SCAN)
        sums[w] = parts[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        add_weight(arena + to_weights + WEIGHT_WORDS * INDEX(run - 1, size, 186), sums);
#endif
}

// What keys of rows stand for (GAMMA's dictionary of pattern codes): a table of keys with VALUES words for each, found
// by a hash of the key. The host says what a key stands for when it is met first.
//
// The dictionary has, one after the other, a state for each of its slots, their values and their keys of KEY words. A
// state is FREE, KNOWN, or one more than the number of the row that brought the key: keys of rows are whole before a
// lane compares one, so that lanes which bring the same key take one slot. `slots` is a power of two.

#define FREE 0u
#define KNOWN 0xffffffffu
#define NONE 0xffffffffu
#define MOST_PROBES 16u

inline uint hash_of(__global const uint *key) {
    uint hash = 0x811c9dc5u;
    for (uint w = 0; w < KEY; w++) {
        hash = (hash ^ key[w]) * 0x9e3779b1u;
        hash ^= hash >> 15;
    }
    return hash;
}

inline bool same_key(__global const uint *a, __global const uint *b) {
    for (uint w = 0; w < KEY; w++)
        if (a[w] != b[w])
            return false;
    return true;
}

// Finds the slot of each row's key. Rows with a new key go to the list at `fresh`, rows without a slot to the list at
// `left`; their numbers are written to `said`. A row's key is the first words of `width`.
__kernel void find_keys(__global uint *arena, __global uint *dictionary, const uint slots,
                        const uint rows, const uint keys, const uint width, const uint found,
                        const uint fresh, const uint left, const uint said,
                        __global uint *restrict fault) {
    volatile __global uint *const states = dictionary;
    __global const uint *const known = dictionary + (1 + VALUES) * slots;
    volatile __global uint *const counts = arena + said;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        __global const uint *const key = arena + keys + row * width;
        const uint hash = hash_of(key);
        uint slot = NONE;
        for (uint probe = 0; probe < min(slots, MOST_PROBES) && slot == NONE; probe++) {
            const uint at = (hash + probe) & (slots - 1);
            uint state = states[at];
            if (state == FREE) {
                state = atomic_cmpxchg(states + at, FREE, row + 1);
                if (state == FREE) {
                    slot = at;
                    arena[fresh + INDEX(atomic_inc(counts), rows, 191)] = row;
                    break;
                }
            }
            __global const uint *const other =
                state == KNOWN ? known + at * KEY
                               : arena + keys + INDEX(state - 1, rows, 192) * width;
            if (same_key(key, other))
                slot = at;
        }
        arena[found + row] = slot;
        if (slot == NONE)
            arena[left + INDEX(atomic_inc(counts + 1), rows, 193)] = row;
    }
}

// The keys of the rows of a part of a list, one after the other.
__kernel void take_keys(__global uint *arena, const uint list, const uint from, const uint to,
                        const uint keys, const uint width, const uint taken) {
    for (uint i = from + get_global_id(0); i < to; i += get_global_size(0)) {
        const uint row = arena[list + i];
        for (uint w = 0; w < KEY; w++)
            arena[taken + (i - from) * KEY + w] = arena[keys + row * width + w];
    }
}

// Puts the keys of the rows of a part of a list into the slots that they took, with the values at `said`.
__kernel void learn_keys(__global uint *arena, __global uint *dictionary, const uint slots,
                         const uint list, const uint from, const uint to, const uint keys,
                         const uint width, const uint found, const uint said,
                         __global uint *restrict fault) {
    __global uint *const known = dictionary + (1 + VALUES) * slots;
    for (uint i = from + get_global_id(0); i < to; i += get_global_size(0)) {
        const uint row = arena[list + i], slot = INDEX(arena[found + row], slots, 194);
        for (uint w = 0; w < KEY; w++)
            known[slot * KEY + w] = arena[keys + row * width + w];
        for (uint v = 0; v < VALUES; v++)
            dictionary[slots + slot * VALUES + v] = arena[said + (i - from) * VALUES + v];
        dictionary[slot] = KNOWN;
    }
}

// The values of each row that has a slot.
__kernel void give_values(__global uint *arena, __global const uint *dictionary, const uint slots,
                          const uint rows, const uint found, const uint values,
                          __global uint *restrict fault) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        if (arena[found + row] == NONE)
            continue;
        const uint slot = INDEX(arena[found + row], slots, 195);
        for (uint v = 0; v < VALUES; v++)
            arena[values + row * VALUES + v] = dictionary[slots + slot * VALUES + v];
    }
}

// The values at `said` to the rows of a part of a list.
__kernel void give_left(__global uint *arena, const uint list, const uint from, const uint to,
                        const uint values, const uint said) {
    for (uint i = from + get_global_id(0); i < to; i += get_global_size(0))
        for (uint v = 0; v < VALUES; v++)
            arena[values + arena[list + i] * VALUES + v] = arena[said + (i - from) * VALUES + v];
}

// The first word of each row's key.
__kernel void give_numbers(__global uint *arena, const uint rows, const uint keys, const uint width,
                           const uint values) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        arena[values + row] = arena[keys + row * width];
}

// Donations of the strategy `plan`: between launches of `search`, groups without work take parts of the
// work of others. Three kernels follow each other: who gives and who takes; what is taken; what stays.
//
// A giver divides the shallowest thing that it can: edges that wait, else the candidates that are left at
// a depth. Its takers get parts of about the same size, and it keeps one. Each branch belongs to exactly
// one group at any time: what is taken is read from states that only `donate_keep` changes.

// The shallowest depth at which a state can be divided, and the `items` there: waiting edges (depth 0) or
// candidates. A state keeps one part for itself. ANY if it cannot be divided.
inline uint divisible(__global const uint *state, uint *items) {
    const uint depth = state[0];
    *items = popcount(state[1]);
    if (*items > (depth == 0 ? 1u : 0u))
        return 0;
    for (uint d = 2; d <= depth; d++) {
        *items = state[STATE_ENDS + d] - state[STATE_AT + d];
        if (*items > (d == depth ? 1u : 0u))
            return d;
    }
    return ANY;
}

// Takers of the giver with this number, of this many of each.
inline uint takers_of(uint giver, uint givers, uint takers) {
    return takers > giver ? (takers - 1 - giver) / givers + 1 : 0;
}

// How many items a giver keeps of `items` when it has this many takers.
inline uint kept(__global const uint *state, uint depth, uint items, uint takers) {
    const uint keep = items / (takers + 1);
    return max(keep, depth == state[0] ? 1u : 0u);
}

// Whether a giver keeps some of the edges that wait: unless it works on something else and there is one.
inline uint keeps(__global const uint *state, uint items) {
    return state[0] == 0 || items > 1 ? 1 : 0;
}

// One lane for each group: `roles` begins with givers, and takers are in its second half.
__kernel void donate_roles(__global const uint *restrict states, const uint groups,
                           volatile __global uint *control, __global uint *restrict roles,
                           __global uint *restrict fault) {
    const uint group = get_global_id(0);
    if (group >= groups)
        return;
    __global const uint *const state = states + group * STATE_WORDS;
    uint items;
    if (state[0] == 0 && state[1] == 0)
        roles[groups + INDEX(atomic_inc(control + CONTROL_TAKERS), groups, 56)] = group;
    else if (divisible(state, &items) != ANY)
        roles[INDEX(atomic_inc(control + CONTROL_GIVERS), groups, 57)] = group;
}

// A work-group for each taker.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void donate_take(__global uint *restrict states, __global uint *lists, const uint groups, const uint depths,
                 const uint span, volatile __global uint *control, __global const uint *restrict roles,
                 __global uint *restrict fault) {
    const uint number = get_group_id(0), lane = get_local_id(0);
    const uint givers = control[CONTROL_GIVERS], takers = control[CONTROL_TAKERS];
    if (givers == 0 || number >= takers)
        return;
    const uint from = number % givers, part = number / givers;
    const uint giver = INDEX(roles[from], groups, 58), taker = INDEX(roles[groups + number], groups, 59);
    __global const uint *const theirs = states + giver * STATE_WORDS;
    __global uint *const mine = states + taker * STATE_WORDS;
    uint items;
    const uint depth = divisible(theirs, &items);
    const uint parts = takers_of(from, givers, takers);
    if (depth == 0) {
        // Of the edges that wait every n-th, the giver's first.
        const uint own = keeps(theirs, items);
        uint waiting = 0;
        for (uint rank = part + own; rank < items; rank += parts + own)
            waiting |= 1u << select_bit(theirs[1], rank);
        if (lane == 0 && waiting != 0) {
            mine[1] = waiting;
            mine[2] = theirs[2];
            atomic_inc(control + CONTROL_GIVEN);
        }
        return;
    }
    const uint keep = kept(theirs, depth, items, parts);
    const uint given = items - keep;
    const uint begin = (uint)((ulong)given * part / parts), end = (uint)((ulong)given * (part + 1) / parts);
    if (begin == end)
        return;
    const uint first = theirs[STATE_AT + depth] + keep;
    __global const uint *const source = lists + ((ulong)giver * depths + depth) * span;
    __global uint *const own = lists + ((ulong)taker * depths + depth) * span;
    for (uint i = begin + lane; i < end; i += LANES)
        own[INDEX(i - begin, span, 60)] = source[INDEX(first + i, span, 61)];
    if (lane == 0) {
        mine[0] = depth;
        for (uint d = 0; d < depth; d++) {
            mine[STATE_IMAGES + d] = theirs[STATE_IMAGES + d];
            // What is above belongs to the giver.
            mine[STATE_ENDS + d] = mine[STATE_AT + d] = 0;
        }
        mine[STATE_AT + depth] = 0;
        mine[STATE_ENDS + depth] = end - begin;
        atomic_inc(control + CONTROL_GIVEN);
    }
}

// One lane for each giver: what was taken is its no more.
__kernel void donate_keep(__global uint *restrict states, const uint groups,
                          volatile __global uint *control, __global const uint *restrict roles,
                          __global uint *restrict fault) {
    const uint number = get_global_id(0);
    const uint givers = control[CONTROL_GIVERS], takers = control[CONTROL_TAKERS];
    const uint parts = takers_of(number, givers, takers);
    if (number >= givers || parts == 0)
        return;
    __global uint *const state = states + INDEX(roles[number], groups, 62) * STATE_WORDS;
    uint items;
    const uint depth = divisible(state, &items);
    if (depth != 0) {
        state[STATE_ENDS + depth] = state[STATE_AT + depth] + kept(state, depth, items, parts);
        return;
    }
    uint waiting = 0;
    if (keeps(state, items) != 0)
        for (uint rank = 0; rank < items; rank += parts + 1)
            waiting |= 1u << select_bit(state[1], rank);
    state[1] = waiting;
}

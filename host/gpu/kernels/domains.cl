// Domains of patterns: the vertices that a vertex of a pattern is mapped to by some embedding, as bits over
// the vertices of its label, from upper bounds that become exact.
//
// Vertices are numbered by label, so that a label's vertices, and a vertex' neighbours of one label, follow
// each other. Vertices of a pattern that its automorphisms exchange share a domain. Bits are only ever
// cleared, so that kernels may read domains that others change.
//
// A domain's entry:    first word, first vertex and number of vertices of its label, neighbours in the
//                      pattern, and for each the entry of its domain and the label of the edge.
// A head's entry:      words of the heads before, its plan, and first word, first vertex and number of vertices.
// A plan:              number of positions, and for each its domain's first word, first vertex and number of
//                      vertices, the earlier positions next to it, those that may be the same vertex, and the
//                      label of the edge to each.
// A search's state:    head, position (0: it is done), anchors (four bits each), and for each position its
//                      image, the next entry of its list, and the list's end.

#define MOST 8
#define DOMAIN_WORDS 18
#define HEAD_WORDS 5
#define POSITION_WORDS 12
#define PLAN_WORDS (1 + MOST * POSITION_WORDS)
#define STATE_WORDS (3 + 3 * MOST)

#define GRAPH                                                                                      \
    __global const uint *restrict offsets, __global const uint *restrict targets,                  \
        __global const uint *restrict labels, const uint vertices, const uint entries
#define GRAPH_ARGUMENTS offsets, targets, labels, vertices, entries

#ifdef EDGE_LABELS
#define HAS_LABEL(e, label) (labels[e] == (label))
#else
#define HAS_LABEL(e, label) 1
#endif

inline int has_bit(volatile __global const uint *domains, uint first, uint at) {
    return domains[first + at / 32] >> (at % 32) & 1;
}

// The last entry whose first word isn't above `word`; entries ascend, and the first one's is 0.
inline uint entry_of(__global const uint *restrict table, uint words, uint count, uint word) {
    uint low = 0, high = count;
    while (high - low > 1) {
        const uint middle = (low + high) / 2;
        if (table[middle * words] <= word)
            low = middle;
        else
            high = middle;
    }
    return low;
}

inline int has_edge(GRAPH, uint u, uint v, uint label) {
    if (offsets[v + 1] - offsets[v] < offsets[u + 1] - offsets[u]) {
        const uint other = u;
        u = v;
        v = other;
    }
    const uint end = offsets[u + 1];
    const uint at = lower_bound(targets, offsets[u], end, v);
    return at < end && targets[at] == v && HAS_LABEL(at, label);
}

// A pair: first word to change, first word of `source`, words. A lane a pair.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void narrow(volatile __global uint *domains, __global const uint *restrict source,
            __global const uint *restrict pairs, const uint count) {
    const uint at = get_global_id(0);
    if (at >= count)
        return;
    for (uint i = 0; i < pairs[3 * at + 2]; i++)
        atomic_and(domains + pairs[3 * at] + i, source[pairs[3 * at + 1] + i]);
}

// As `narrow`, but the words are replaced.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void keep(__global uint *restrict domains, __global const uint *restrict source,
          __global const uint *restrict pairs, const uint count) {
    const uint at = get_global_id(0);
    if (at >= count)
        return;
    for (uint i = 0; i < pairs[3 * at + 2]; i++)
        domains[pairs[3 * at] + i] = source[pairs[3 * at + 1] + i];
}

// All vertices of each domain's label.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void fill(__global uint *restrict domains, __global const uint *restrict table, const uint count) {
    const uint at = get_global_id(0);
    if (at >= count)
        return;
    __global const uint *const entry = table + at * DOMAIN_WORDS;
    const uint size = entry[2];
    for (uint i = 0; 32 * i < size; i++)
        domains[entry[0] + i] = size - 32 * i < 32 ? (1u << (size - 32 * i)) - 1 : 0xffffffffu;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void sizes(__global const uint *restrict domains, __global const uint *restrict table, const uint count,
           __global uint *restrict sizes) {
    const uint at = get_global_id(0);
    if (at >= count)
        return;
    __global const uint *const entry = table + at * DOMAIN_WORDS;
    uint size = 0;
    for (uint i = 0; 32 * i < entry[2]; i++)
        size += popcount(domains[entry[0] + i]);
    sizes[at] = size;
}

// Takes out what has no fitting neighbour in the domain of a neighbouring vertex. A lane a bit, of the words
// from `from` on.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void consistent(GRAPH, volatile __global uint *domains, __global const uint *restrict table,
                const uint count, const uint from, const uint to, volatile __global uint *status,
                __global uint *restrict fault) {
    const uint word = from + get_global_id(0) / 32;
    if (word >= to)
        return;
    __global const uint *const entry = table + entry_of(table, DOMAIN_WORDS, count, word) * DOMAIN_WORDS;
    const uint at = 32 * (word - entry[0]) + get_global_id(0) % 32;
    if (at >= entry[2] || !has_bit(domains, entry[0], at))
        return;
    const uint v = INDEX(entry[1] + at, vertices, 61);
    for (uint i = 0; i < entry[3]; i++) {
        __global const uint *const other = table + INDEX(entry[4 + 2 * i], count, 62) * DOMAIN_WORDS;
        const uint first = other[1], size = other[2];
        const uint end = INDEX(offsets[v + 1], entries + 1, 63);
        int found = 0;
        for (uint e = lower_bound(targets, offsets[v], end, first); !found && e < end; e++) {
            const uint w = targets[e] - first;
            if (w >= size)
                break;
            found = has_bit(domains, other[0], w) && HAS_LABEL(e, entry[5 + 2 * i]);
        }
        if (!found) {
            atomic_and(domains + word, ~(1u << (at % 32)));
            status[0] = 1;
            return;
        }
    }
}

// Goes on with a search for `limit` steps: 1 once there is an embedding, 0 if there is none, 2 if it isn't
// known yet.
inline int advance(GRAPH, volatile __global const uint *domains, __global const uint *restrict plan,
                   uint *image, uint *at, uint *end, uint *anchors, uint *position, const uint limit) {
    const uint positions = plan[0];
    uint d = *position;
    for (uint steps = 0;; steps++) {
        if (at[d] == end[d]) {
            if (--d == 0)
                return 0;
            continue;
        }
        if (steps >= limit) {
            *position = d;
            return 2;
        }
        __global const uint *const words = plan + 1 + d * POSITION_WORDS;
        const uint e = at[d]++;
        const uint w = targets[e];
        const uint anchor = *anchors >> (4 * d) & 15;
        int fits = has_bit(domains, words[0], w - words[1]) && HAS_LABEL(e, words[5 + anchor]);
        for (uint q = 0; fits && q < d; q++) {
            if ((words[4] >> q & 1) != 0)
                fits = image[q] != w;
            if (fits && q != anchor && (words[3] >> q & 1) != 0)
                fits = has_edge(GRAPH_ARGUMENTS, image[q], w, words[5 + q]);
        }
        if (!fits)
            continue;
        image[d] = w;
        if (++d == positions)
            return 1;
        // The shortest list of its earlier neighbours.
        __global const uint *const next = plan + 1 + d * POSITION_WORDS;
        uint shortest = 0xffffffffu;
        for (uint q = 0; q < d; q++)
            if ((next[3] >> q & 1) != 0) {
                const uint v = image[q];
                const uint low = lower_bound(targets, offsets[v], offsets[v + 1], next[1]);
                const uint high = lower_bound(targets, low, offsets[v + 1], next[1] + next[2]);
                if (high - low < shortest) {
                    shortest = high - low;
                    at[d] = low;
                    end[d] = high;
                    *anchors = (*anchors & ~(15u << (4 * d))) | q << (4 * d);
                }
            }
    }
}

// What a finished search says of its images.
inline void conclude(volatile __global uint *domains, volatile __global uint *confirmed,
                     __global const uint *restrict plan, const uint *image, int found) {
    for (uint d = 0; d < (found ? plan[0] : 1); d++) {
        __global const uint *const words = plan + 1 + d * POSITION_WORDS;
        const uint at = image[d] - words[1];
        if (found)
            atomic_or(confirmed + words[0] + at / 32, 1u << (at % 32));
        else
            atomic_and(domains + words[0] + at / 32, ~(1u << (at % 32)));
    }
}

// Looks for an embedding through each vertex of the heads' domains, a lane each. Searches that take longer
// than `limit` steps are left in `states`, which has room for all lanes; `status[0]` counts them.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void confirm(GRAPH, volatile __global uint *domains, volatile __global uint *confirmed,
             __global const uint *restrict heads, const uint count, __global const uint *restrict plans,
             const uint from, const uint to, const uint limit, volatile __global uint *status,
             __global uint *restrict states, __global uint *restrict fault) {
    const uint word = from + get_global_id(0) / 32;
    if (word >= to)
        return;
    const uint number = entry_of(heads, HEAD_WORDS, count, word);
    __global const uint *const head = heads + number * HEAD_WORDS;
    const uint bit = 32 * (word - head[0]) + get_global_id(0) % 32;
    if (bit >= head[4] || !has_bit(domains, head[2], bit) || has_bit(confirmed, head[2], bit))
        return;
    __global const uint *const plan = plans + head[1] * PLAN_WORDS;
    uint image[MOST], at[MOST], end[MOST];
    for (uint d = 0; d < MOST; d++)
        image[d] = at[d] = end[d] = 0;
    const uint v = INDEX(head[3] + bit, vertices, 64);
    image[0] = v;
    __global const uint *const second = plan + 1 + POSITION_WORDS;
    at[1] = lower_bound(targets, offsets[v], offsets[v + 1], second[1]);
    end[1] = lower_bound(targets, at[1], offsets[v + 1], second[1] + second[2]);
    uint anchors = 0, position = 1;
    const int found =
        advance(GRAPH_ARGUMENTS, domains, plan, image, at, end, &anchors, &position, limit);
    if (found != 2) {
        conclude(domains, confirmed, plan, image, found);
        return;
    }
    __global uint *const state = states + (size_t)atomic_inc(status) * STATE_WORDS;
    state[0] = number;
    state[1] = position;
    state[2] = anchors;
    for (uint d = 0; d < MOST; d++) {
        state[3 + d] = image[d];
        state[3 + MOST + d] = at[d];
        state[3 + 2 * MOST + d] = end[d];
    }
}

// Goes on with the first `count` states; `status[0]` counts those that aren't done yet.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void confirm_more(GRAPH, volatile __global uint *domains, volatile __global uint *confirmed,
                  __global const uint *restrict heads, __global const uint *restrict plans,
                  const uint count, const uint limit, volatile __global uint *status,
                  __global uint *restrict states) {
    const uint lane = get_global_id(0);
    if (lane >= count)
        return;
    __global uint *const state = states + (size_t)lane * STATE_WORDS;
    if (state[1] == 0)
        return;
    __global const uint *const plan = plans + heads[state[0] * HEAD_WORDS + 1] * PLAN_WORDS;
    uint image[MOST], at[MOST], end[MOST];
    for (uint d = 0; d < MOST; d++) {
        image[d] = state[3 + d];
        at[d] = state[3 + MOST + d];
        end[d] = state[3 + 2 * MOST + d];
    }
    uint position = state[1], anchors = state[2];
    const int found =
        advance(GRAPH_ARGUMENTS, domains, plan, image, at, end, &anchors, &position, limit);
    if (found != 2) {
        conclude(domains, confirmed, plan, image, found);
        state[1] = 0;
        return;
    }
    atomic_inc(status);
    state[1] = position;
    state[2] = anchors;
    for (uint d = 0; d < MOST; d++) {
        state[3 + d] = image[d];
        state[3 + MOST + d] = at[d];
        state[3 + 2 * MOST + d] = end[d];
    }
}

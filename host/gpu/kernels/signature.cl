// Signatures of vertices, and candidates of a pattern's vertices by them (GSI, section 3).
//
// A signature has 512 bits: in the first word the bit of the vertex' label, and 240 pairs of bits, one for
// each hash of an edge's label and its other end's: 00 no such edge, 01 one, 11 more. The table is
// column by column, so that lanes read next to each other. A vertex can only be an image if it has all
// bits of the pattern's vertex; labels and numbers of neighbours are then compared as they are.
//
// Rows and table are those of a segment of `vertices` vertices from `first` on (GSI, section 6.1); labels of
// vertices and candidates are those of all.

#define ANY 0xffffffffu
#define COLUMNS 16
#define GROUPS 240
// A pattern's vertex: label, degree, number of needs; the signature; and needs of three words each: the
// label of an edge, of its other end, and how many such edges there are.
#define NEED_WORDS (3 + COLUMNS + 3 * 32)

// MurmurHash3 of two words.
inline uint murmur(uint a, uint b) {
    uint h = 17;
    for (int i = 0; i < 2; i++) {
        uint k = (i == 0 ? a : b) * 0xcc9e2d51u;
        k = rotate(k, 15u) * 0x1b873593u;
        h = rotate(h ^ k, 13u) * 5 + 0xe6546b64u;
    }
    h ^= 8;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

inline void add_edge(uint *signature, uint edge_label, uint label) {
    const uint group = murmur(edge_label, label) % GROUPS;
    const uint one = 1u << (2 * (group % 16));
    uint *const word = signature + 1 + group / 16;
    *word |= (*word & one) != 0 ? one << 1 : one;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void signatures(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                __global const uint *restrict vertex_labels, __global const uint *restrict edge_labels,
                const uint vertices, const uint first, __global uint *restrict table) {
    const uint v = get_global_id(0);
    if (v >= vertices)
        return;
    uint signature[COLUMNS];
    for (uint i = 0; i < COLUMNS; i++)
        signature[i] = 0;
#ifdef VERTEX_LABELS
    signature[0] = 1u << (murmur(vertex_labels[first + v], 0) % 32);
#endif
    for (uint e = offsets[v]; e < offsets[v + 1]; e++) {
#ifdef EDGE_LABELS
        const uint edge_label = edge_labels[e];
#else
        const uint edge_label = 0;
#endif
#ifdef VERTEX_LABELS
        const uint label = vertex_labels[neighbours[e]];
#else
        const uint label = 0;
#endif
        add_edge(signature, edge_label, label);
    }
    for (uint i = 0; i < COLUMNS; i++)
        table[i * vertices + v] = signature[i];
}

// Sets the bit of each vertex that may be the image of the pattern's vertex `needs`; sizes[0] counts those
// with a fitting signature, sizes[1] those that are left.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void candidates(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                __global const uint *restrict vertex_labels, __global const uint *restrict edge_labels,
                const uint vertices, const uint first, __global const uint *restrict table, const uint words,
                __global const uint *restrict all_needs, const uint vertex,
                volatile __global uint *candidates, volatile __global uint *sizes) {
    const uint v = get_global_id(0);
    if (v >= vertices)
        return;
    __global const uint *const needs = all_needs + vertex * NEED_WORDS;
    for (uint i = 0; i < COLUMNS; i++) {
        const uint wanted = needs[3 + i];
        if (wanted != 0 && (table[i * vertices + v] & wanted) != wanted)
            return;
    }
    atomic_inc(sizes + 2 * vertex);
#ifdef VERTEX_LABELS
    if (needs[0] != ANY && vertex_labels[first + v] != needs[0])
        return;
#endif
    const uint begin = offsets[v], end = offsets[v + 1];
    if (end - begin < needs[1])
        return;
    for (uint i = 0; i < needs[2]; i++) {
        __global const uint *const need = needs + 3 + COLUMNS + 3 * i;
        uint found = 0;
        for (uint e = begin; e < end && found < need[2]; e++) {
            uint fits = 1;
#ifdef EDGE_LABELS
            fits = need[0] == ANY || edge_labels[e] == need[0];
#endif
#ifdef VERTEX_LABELS
            fits = fits && (need[1] == ANY || vertex_labels[neighbours[e]] == need[1]);
#endif
            found += fits;
        }
        if (found < need[2])
            return;
    }
    atomic_inc(sizes + 2 * vertex + 1);
    const uint own = first + v;
    atomic_or(candidates + vertex * words + own / 32, 1u << (own % 32));
}

// Tables of edges, for programs of users (GAMMA, definition 1: edge extension). An element is an edge: its
// place in the list of its smaller vertex. It needs no memory beside the graph's lists, and edges compare as
// their places do.
//
// The new edge hangs on a vertex of the embedding: it is met at that of its vertices there that came first, so
// that it is met once. Words of the plan: the edge's label, the most vertices of the new embedding, and whether
// only the canonical order is made. With KEEP, KEEP(e, u, v) is what users say of the edge from u, which the
// embedding has, to v; with KEY and VALUE, KEY(e) and VALUE(e) are what they say of whole rows.

#define PLAN_LABEL 0
#define PLAN_VERTICES 1
#define PLAN_CANONICAL 2

// The vertex whose list has this entry.
inline uint list_of_entry(__global const uint *offsets, const uint vertices, const uint entry) {
    uint low = 0, high = vertices - 1;
    while (low < high) {
        const uint middle = high - (high - low) / 2;
        if (offsets[middle] <= entry)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// The number of a vertex in the embedding; a new vertex is added with this edge.
inline void add_vertex(embedding *e, const uint v, const uint edge) {
    for (uint i = 0; i < e->size; i++)
        if (e->vertex[i] == v)
            return;
    if (e->size < MOST_DEPTHS) {
        e->vertex[e->size] = v;
        e->since[e->size] = edge;
        e->size += 1;
    }
}

inline void add_edge(embedding *e, const uint u, const uint v) {
    const uint at = e->edges;
    e->from[at] = u;
    e->to[at] = v;
    e->edges = at + 1;
    add_vertex(e, u, at);
    add_vertex(e, v, at);
}

// A row, without its last `but` edges, whose ends go to `u` and `v`.
inline void read_edges(embedding *e, __global const uint *arena, __constant uint *shape, uint row,
                       const uint but, uint *u, uint *v, __global uint *restrict fault) {
    const uint words = shape[SHAPE_ARENA], depth = shape[SHAPE_DEPTH];
    const uint entries = shape[SHAPE_ENTRIES];
    uint entry[MOST_DEPTHS];
    for (uint j = depth; j-- > 0;) {
        __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
        entry[j] = arena[INDEX(c[0] + row, words, 161)];
        row = c[1] == NONE ? 0 : arena[INDEX(c[1] + row, words, 162)];
    }
    for (uint j = 0; j < depth; j++) {
        const uint at = INDEX(entry[j], entries, 163);
        const uint from = list_of_entry(e->offsets, e->vertices, at);
        const uint to = read_list(e->lists_of, at, 0);
        if (j + but < depth) {
            add_edge(e, from, to);
        } else {
            *u = from;
            *v = to;
        }
    }
}

// Whether the edge from vertex number `i` of the embedding to `y` is new, and met there first; whether it
// comes in canonical order, if that is requested: after the first edge and all after the first that it meets.
inline bool is_new_edge(const embedding *e, const uint i, const uint y, const uint canonical) {
    const uint w = e->vertex[i], since = e->since[i], a = min(w, y), b = max(w, y);
    for (uint j = 0; j < i; j++)
        if (e->vertex[j] == y)
            return false;
    for (uint j = 0; j < e->edges; j++) {
        const uint from = e->from[j], to = e->to[j];
        if (from == a && to == b)
            return false;
        if (canonical != 0 && (j == 0 || j > since) && (a < from || (a == from && b < to)))
            return false;
    }
    return true;
}

inline bool fits_degrees(__constant uint *shape, const uint degree) {
    return degree >= shape[SHAPE_DEGREES] && degree <= shape[SHAPE_DEGREES + 1];
}

// True if an edge with this entry fits the built-in conditions of the filter.
inline bool fits_edge(const embedding *e, __constant uint *shape, const uint u, const uint v,
                      const uint entry) {
    __constant uint *const plan = shape + SHAPE_PLAN;
    if (plan[PLAN_LABEL] != NONE && read_list(e->lists_of, entry, 1) != plan[PLAN_LABEL])
        return false;
    if (!fits_degrees(shape, degree(e, u)) || !fits_degrees(shape, degree(e, v)))
        return false;
    uint size = e->size + 2;
    for (uint j = 0; j < e->size; j++)
        size -= (e->vertex[j] == u || e->vertex[j] == v) ? 1 : 0;
    return size <= plan[PLAN_VERTICES];
}

// A column of edges is extended, in the same way as one of vertices (table.cl): windows of rows, blocks of a
// warp's own, and a launch that ends where the steps or the blocks do. Its arguments are the same.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void extend_edges(__global const uint *restrict offsets, __global const uint *slots,
                  __global const uint *pages, __global const uint *cold,
                  __global const uint *labels, __global uint *arena, __constant uint *shape,
                  volatile __global uint *control, __global uint *states, const uint budget,
                  const uint fresh, __global uint *restrict sums, __global uint *restrict fault) {
    __local uint votes[3], shared[2];
    __local ulong totals[LANES];
    const uint lane = get_local_id(0), lower = (1u << lane) - 1u;
    const uint rows = shape[SHAPE_ROWS], words = shape[SHAPE_ARENA];
    const uint windows = (rows + WINDOW - 1) / WINDOW;
    const uint out_block = shape[SHAPE_OUT_BLOCK], entries = shape[SHAPE_ENTRIES];
    const uint canonical = shape[SHAPE_PLAN + PLAN_CANONICAL];
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED], entries, 0, 0};

    __global uint *const state = states + get_group_id(0) * STATE_WORDS;
    bool active = state[0] != 0, has_block = fresh == 0 && state[7] != 0;
    uint window = state[1], row = state[2], flat = state[4], block = state[5], used = state[6];
    uint work = 0, phase = 0;
    ulong total = 0;
    bool cut = false;
    for (uint i = lane; i < 3; i += LANES)
        votes[i] = 0;
    SYNC;

    while (!cut) {
        if (!active) {
            if (work >= budget)
                break;
            if (lane == 0)
                shared[0] = atomic_inc(control + CONTROL_NEXT);
            SYNC;
            window = shared[0];
            SYNC;
            if (window >= windows)
                break;
            row = flat = 0;
        }
        active = false;
        const uint size = min(WINDOW, rows - window * WINDOW);
        while (row < size && !cut) {
            embedding e;
            uint u = 0, v = 0;
            begin_embedding(&e, offsets, labels, shape[SHAPE_VERTICES], &g);
            read_edges(&e, arena, shape, window * WINDOW + row, 0, &u, &v, fault);
            uint in_lists = 0;
            for (uint i = 0; i < e.size; i++)
                in_lists += degree(&e, e.vertex[i]);
            work += 1;
            while (flat < in_lists) {
                if (work >= budget) {
                    cut = true;
                    break;
                }
                bool hit = false;
                uint found = 0;
                if (flat + lane < in_lists) {
                    uint place = flat + lane, i = 0;
                    while (place >= degree(&e, e.vertex[i])) {
                        place -= degree(&e, e.vertex[i]);
                        i += 1;
                    }
                    const uint w = e.vertex[i], at = INDEX(offsets[w] + place, entries, 164);
                    const uint y = read_list(&g, at, 0);
                    hit = is_new_edge(&e, i, y, canonical) && fits_edge(&e, shape, w, y, at);
#ifdef KEEP
                    hit = hit && KEEP(&e, w, y);
#endif
                    found = at;
                    if (hit && y < w)
                        found = first_not_below(&g, offsets[y], offsets[y + 1], w);
                }
                const uint all = vote(votes, &phase, lane, hit);
                const uint hits = popcount(all);
                if (shape[SHAPE_COUNTED] == 0 && hits != 0) {
                    const uint left = has_block ? out_block - used : 0;
                    uint second = block;
                    if (hits > left) {
                        if (lane == 0)
                            shared[1] = atomic_inc(control + CONTROL_BLOCKS);
                        SYNC;
                        second = shared[1];
                        SYNC;
                        if (second >= shape[SHAPE_OUT_BLOCKS]) {
                            cut = true;
                            break;
                        }
                    }
                    if (hit) {
                        const uint i = popcount(all & lower);
                        const uint at =
                            i < left ? block * out_block + used + i : second * out_block + i - left;
                        arena[INDEX(shape[SHAPE_OUT_IDS] + at, words, 165)] = found;
                        arena[INDEX(shape[SHAPE_OUT_PARENTS] + at, words, 166)] =
                            window * WINDOW + row;
                    }
                    if (hits > left) {
                        if (lane == 0 && has_block)
                            arena[INDEX(shape[SHAPE_OUT_FILLS] + block, words, 167)] = out_block;
                        block = second;
                        used = hits - left;
                        has_block = true;
                    } else {
                        used += hits;
                    }
                }
                if (lane == 0)
                    total += hits;
                flat += LANES;
                work += 1;
            }
            if (!cut) {
                row += 1;
                flat = 0;
            }
        }
    }
    if (lane == 0) {
        state[0] = cut ? 1 : 0;
        state[1] = window;
        state[2] = row;
        state[4] = flat;
        state[5] = block;
        state[6] = used;
        state[7] = has_block ? 1 : 0;
        if (has_block)
            arena[INDEX(shape[SHAPE_OUT_FILLS] + block, words, 168)] = used;
        if (cut)
            atomic_inc(control + CONTROL_CUT);
    }
    add_up(totals, lane, total, sums, shape[SHAPE_COUNTED] != 0 ? SUM_COUNT : SUM_ROWS);
}

// How many elements of each page an extension will read (pages.cl).
__kernel void heat_of_edges(__global const uint *restrict offsets, __global uint *arena,
                            __constant uint *shape, const uint from, const uint to,
                            volatile __global uint *heat, __global const uint *slots,
                            __global const uint *pages, __global const uint *cold) {
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED],
               shape[SHAPE_ENTRIES], 0, 0};
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        uint at = row, entry = 0;
        for (uint j = shape[SHAPE_DEPTH]; j-- > 0;) {
            __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
            entry = arena[c[0] + at];
            at = c[1] == NONE ? 0 : arena[c[1] + at];
            warm(offsets, heat, list_of_entry(offsets, shape[SHAPE_VERTICES], entry), g.bits);
            warm(offsets, heat, read_list(&g, entry, 0), g.bits);
        }
    }
}

// Marks the rows whose last edge fits those before it.
__kernel void keep_edges(__global const uint *restrict offsets, __global const uint *slots,
                         __global const uint *pages, __global const uint *cold,
                         __global const uint *labels, __global uint *arena,
                         __constant uint *shape, __global uint *restrict fault, const uint from,
                         const uint to, const uint marks_at, const uint canonical) {
    const uint words = shape[SHAPE_ARENA];
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED],
               shape[SHAPE_ENTRIES], 0, 0};
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        embedding e;
        uint u = 0, v = 0;
        begin_embedding(&e, offsets, labels, shape[SHAPE_VERTICES], &g);
        read_edges(&e, arena, shape, row, 1, &u, &v, fault);
        __constant uint *const c = shape + SHAPE_COLUMNS + (shape[SHAPE_DEPTH] - 1) * COLUMN_WORDS;
        bool fits = fits_edge(&e, shape, u, v, arena[c[0] + row]);
        // The vertex of the two that the embedding had first.
        uint first = e.size;
        for (uint j = e.size; j-- > 0;)
            if (e.vertex[j] == u || e.vertex[j] == v)
                first = j;
        if (first < e.size) {
            if (e.vertex[first] == v) {
                v = u;
                u = e.vertex[first];
            }
            fits = fits && is_new_edge(&e, first, v, canonical);
        }
#ifdef KEEP
        fits = fits && KEEP(&e, u, v);
#endif
        arena[INDEX(marks_at + row, words, 169)] = fits ? 1 : 0;
    }
}

// What rows are aggregated by: `width` words for each. Without KEY it is the pattern of its edges: a byte for
// each edge, with the numbers of its vertices, then labels of vertices and of edges.
__kernel void keys_of_edges(__global const uint *restrict offsets, __global const uint *slots,
                            __global const uint *pages, __global const uint *cold,
                            __global const uint *labels, __global uint *arena,
                            __constant uint *shape, __global uint *restrict fault,
                            const uint from, const uint to, const uint keys_at,
                            const uint width) {
    const uint words = shape[SHAPE_ARENA];
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED],
               shape[SHAPE_ENTRIES], 0, 0};
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        embedding e;
        uint u = 0, v = 0;
        begin_embedding(&e, offsets, labels, shape[SHAPE_VERTICES], &g);
        read_edges(&e, arena, shape, row, 0, &u, &v, fault);
        const uint first = INDEX(keys_at + (row - from) * width, words - width + 1, 170);
        __global uint *const key = arena + first;
        uint at = 0;
#ifdef KEY
        key[at++] = KEY(&e);
#else
        for (uint j = 0; j < e.edges; j += 4) {
            uint packed = 0;
            for (uint i = j; i < min(j + 4, e.edges); i++) {
                uint ends = 0;
                for (uint n = 0; n < e.size; n++) {
                    ends |= e.vertex[n] == e.from[i] ? n : 0;
                    ends |= e.vertex[n] == e.to[i] ? n << 4 : 0;
                }
                packed |= ends << 8 * (i - j);
            }
            key[at++] = packed;
        }
#ifdef VERTEX_LABELS
        for (uint n = 0; n < e.edges + 1; n++)
            key[at++] = n < e.size ? label(&e, e.vertex[n]) : NONE;
#endif
#ifdef EDGE_LABELS
        for (uint j = 0; j < e.edges; j++)
            key[at++] = edge_label(&e, e.from[j], e.to[j]);
#endif
#endif
#ifdef VALUE
        const ulong value = VALUE(&e);
        key[at++] = (uint)value;
        key[at++] = (uint)(value >> 32);
#endif
    }
}

// Pairs of a vertex and the number of an image, for each vertex of the rows from `from` to `to`, and of 0 and 0 for each
// that a row has fewer than the most. Numbers of images lie at `images`, as many for a row.
__kernel void images_of_edges(__global const uint *restrict offsets, __global const uint *slots,
                              __global const uint *pages, __global const uint *cold,
                              __global const uint *labels, __global uint *arena,
                              __constant uint *shape, __global uint *restrict fault,
                              const uint from, const uint to, const uint images,
                              const uint pairs) {
    const uint most = shape[SHAPE_DEPTH] + 1, words = shape[SHAPE_ARENA];
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED],
               shape[SHAPE_ENTRIES], 0, 0};
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        embedding e;
        uint u = 0, v = 0;
        begin_embedding(&e, offsets, labels, shape[SHAPE_VERTICES], &g);
        read_edges(&e, arena, shape, row, 0, &u, &v, fault);
        for (uint j = 0; j < most; j++) {
            const uint i = (row - from) * most + j;
            const uint at = INDEX(pairs + 2 * i, words - 1, 171);
            arena[at] = j < e.size ? e.vertex[j] : 0;
            arena[at + 1] = j < e.size ? arena[images + i] : 0;
        }
    }
}

// Rows of tables of vertices, for programs of users: which of them fit a filter, and what they are aggregated
// by (GAMMA, sections 4.2.2 and 4.2.3).
//
// With KEEP, KEEP(e, u) is what users say of the last vertex; with KEY and VALUE, KEY(e) and VALUE(e) are what
// they say of whole rows.

// With DEFER kernels that read lists take only rows whose pages are here.
#ifdef DEFER
#define WAITS , __global const uint *restrict marks, const uint first_mark
#define IS_ADMITTED(row) ((marks[2 * (first_mark + (row) / WINDOW) + 1] >> (row) % WINDOW & 1) != 0)
#else
#define WAITS
#define IS_ADMITTED(row) true
#endif

// The vertices of a row, from the last column to the first.
inline void read_row(__global const uint *arena, __constant uint *shape, uint row, uint *vertex,
                     __global uint *restrict fault) {
    const uint words = shape[SHAPE_ARENA];
    for (uint j = shape[SHAPE_DEPTH]; j-- > 0;) {
        __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
        vertex[j] = arena[INDEX(c[0] + row, words, 151)];
        row = c[1] == NONE ? 0 : arena[INDEX(c[1] + row, words, 152)];
    }
}

// Whether each set of vertices is made in this order alone: `x` is greater than the first, and than all after
// the first of its neighbours (Arabesque's canonical extension).
inline bool is_canonical(lists *g, __global const uint *offsets, const uint *vertex, const uint count,
                         const uint x) {
    bool met = count == 0;
    for (uint j = 0; j < count; j++) {
        const uint v = vertex[j];
        if ((j == 0 || met) && x <= v)
            return false;
        met = met || in_list(g, offsets[v], offsets[v + 1], x, NONE);
    }
    return met;
}

// Whether the last vertex fits the ones before it, by the words of a plan.
inline bool fits_row(lists *g, __global const uint *offsets, __global const uint *labels,
                     __constant uint *shape, const uint *vertex, const uint canonical) {
    __constant uint *const plan = shape + SHAPE_PLAN;
    const uint last = shape[SHAPE_DEPTH] - 1, x = vertex[last];
    const uint own = offsets[x + 1] - offsets[x];
    if (own < shape[SHAPE_DEGREES] || own > shape[SHAPE_DEGREES + 1])
        return false;
    if (plan[0] != NONE && labels[x] != plan[0])
        return false;
    for (uint j = 0; j < last; j++) {
        const uint v = vertex[j];
        if (((plan[3] >> j & 1) != 0 && x <= v) || ((plan[4] >> j & 1) != 0 && x == v))
            return false;
    }
    for (uint j = 0; j < last; j++) {
        const uint v = vertex[j];
        const bool near = (plan[1] >> j & 1) != 0, far = (plan[2] >> j & 1) != 0;
        if ((near || far) &&
            in_list(g, offsets[v], offsets[v + 1], x, near ? plan[5 + j] : NONE) != near)
            return false;
    }
    return canonical == 0 || is_canonical(g, offsets, vertex, last, x);
}

// Marks the rows that fit.
__kernel void keep_rows(__global const uint *restrict offsets, __global const uint *slots,
                        __global const uint *pages, __global const uint *cold,
                        __global const uint *labels, __global uint *arena, __constant uint *shape,
                        __global uint *restrict fault, const uint from, const uint to,
                        const uint marks_at, const uint canonical WAITS) {
    const uint vertices = shape[SHAPE_VERTICES], words = shape[SHAPE_ARENA];
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED],
               shape[SHAPE_ENTRIES], 0, 0};
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        if (!IS_ADMITTED(row))
            continue;
        uint vertex[MOST_DEPTHS];
        read_row(arena, shape, row, vertex, fault);
        bool fits = fits_row(&g, offsets, labels, shape, vertex, canonical);
#ifdef KEEP
        if (fits) {
            embedding e;
            begin_embedding(&e, offsets, labels, vertices, &g);
            e.size = shape[SHAPE_DEPTH] - 1;
            for (uint j = 0; j < e.size; j++)
                e.vertex[j] = vertex[j];
            fits = KEEP(&e, vertex[e.size]);
        }
#endif
        arena[INDEX(marks_at + row, words, 153)] = fits ? 1 : 0;
    }
}

// What rows are aggregated by: `width` words for each of the rows from `from` to `to`. Without KEY it is the
// pattern of its vertices: bits of pairs, labels of vertices, labels of pairs.
__kernel void keys_of_rows(__global const uint *restrict offsets, __global const uint *slots,
                           __global const uint *pages, __global const uint *cold,
                           __global const uint *labels, __global uint *arena,
                           __constant uint *shape, __global uint *restrict fault, const uint from,
                           const uint to, const uint keys_at, const uint width WAITS) {
    const uint depth = shape[SHAPE_DEPTH], words = shape[SHAPE_ARENA];
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED],
               shape[SHAPE_ENTRIES], 0, 0};
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        if (!IS_ADMITTED(row))
            continue;
        embedding e;
        begin_embedding(&e, offsets, labels, shape[SHAPE_VERTICES], &g);
        e.size = depth;
        read_row(arena, shape, row, e.vertex, fault);
        const uint first = INDEX(keys_at + (row - from) * width, words - width + 1, 154);
        __global uint *const key = arena + first;
        uint at = 0;
#ifdef KEY
        key[at++] = KEY(&e);
#else
        uint bits = 0, filled = 0;
        for (uint j = 1; j < depth; j++)
            for (uint i = 0; i < j; i++) {
                bits |= (uint)adjacent(&e, e.vertex[i], e.vertex[j]) << filled;
                if (++filled == 32) {
                    key[at++] = bits;
                    bits = filled = 0;
                }
            }
        // A single vertex has no pairs, and a word all the same.
        if (filled != 0 || at == 0)
            key[at++] = bits;
#ifdef VERTEX_LABELS
        for (uint j = 0; j < depth; j++)
            key[at++] = label(&e, e.vertex[j]);
#endif
#ifdef EDGE_LABELS
        for (uint j = 1; j < depth; j++)
            for (uint i = 0; i < j; i++)
                key[at++] = edge_label(&e, e.vertex[i], e.vertex[j]);
#endif
#endif
#ifdef VALUE
        const ulong value = VALUE(&e);
        key[at++] = (uint)value;
        key[at++] = (uint)(value >> 32);
#endif
    }
}

// Pairs of a vertex and the number of an image, for each vertex of the rows from `from` to `to`. Numbers of images lie at
// `images`, as many for a row as it has vertices.
__kernel void images_of_rows(__global const uint *restrict offsets, __global const uint *slots,
                             __global const uint *pages, __global const uint *cold,
                             __global const uint *labels, __global uint *arena,
                             __constant uint *shape, __global uint *restrict fault, const uint from,
                             const uint to, const uint images, const uint pairs) {
    const uint depth = shape[SHAPE_DEPTH], words = shape[SHAPE_ARENA];
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        uint vertex[MOST_DEPTHS];
        read_row(arena, shape, row, vertex, fault);
        for (uint j = 0; j < depth; j++) {
            const uint i = (row - from) * depth + j;
            const uint at = INDEX(pairs + 2 * i, words - 1, 155);
            arena[at] = vertex[j];
            arena[at + 1] = arena[images + i];
        }
    }
}

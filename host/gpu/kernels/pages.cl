// The pages of a graph that doesn't fit on the device (strategy `table`): which are worth a slot, and their way
// there.

// How many elements of each page an extension will read: the lists of the elements, and those of the
// prefix once for each group (GAMMA, equation 3).
inline void warm(__global const uint *offsets, volatile __global uint *heat, const uint v,
                 const uint bits) {
    const uint from = offsets[v], to = offsets[v + 1];
    for (uint at = from; at < to;) {
        const uint page = at >> bits;
        const uint next = min(to, (page + 1) << bits);
        atomic_add(heat + page, next - at);
        at = next;
    }
}

__kernel void heat(__global const uint *restrict offsets, __global const uint *restrict arena,
                   __constant uint *shape, const uint from, const uint to,
                   volatile __global uint *heat) {
    const uint depth = shape[SHAPE_DEPTH], last = depth - 1;
    const uint bits = shape[SHAPE_PAGE_BITS];
    __constant uint *const column = shape + SHAPE_COLUMNS + last * COLUMN_WORDS;
    const uint near = shape[SHAPE_PLAN + 1] | shape[SHAPE_PLAN + 2];
    for (uint row = from + get_global_id(0); row < to; row += get_global_size(0)) {
        if (column[2] != NONE && row % column[3] >= arena[column[2] + row / column[3]])
            continue;
        const uint id = column[0] == NONE ? row : arena[column[0] + row];
        if ((near >> last & 1) != 0)
            warm(offsets, heat, id, bits);
        if (last == 0)
            continue;
        uint at = arena[column[1] + row];
        if (row % WINDOW != 0 && arena[column[1] + row - 1] == at)
            continue;
        for (uint j = last; j-- > 0;) {
            __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
            const uint v = c[0] == NONE ? at : arena[c[0] + at];
            if ((near >> j & 1) != 0)
                warm(offsets, heat, v, bits);
            at = c[1] == NONE ? 0 : arena[c[1] + at];
        }
    }
}

// Copies pages to slots: pairs of a page and its slot, a work-group each.
__kernel void fill_pages(__global const uint *restrict cold, __global uint *restrict slots,
                         __global const uint *restrict pairs, const uint bits, const uint labelled,
                         const uint entries) {
    const uint page = pairs[2 * get_group_id(0)], slot = pairs[2 * get_group_id(0) + 1];
    const uint from = page << bits, size = min(1u << bits, entries - from);
    for (uint part = 0; part <= labelled; part++)
        for (uint i = get_local_id(0); i < size; i += get_local_size(0))
            slots[(((ulong)slot * (1 + labelled) + part) << bits) + i] =
                cold[(ulong)part * entries + from + i];
}

#ifdef DEFER
// Elements that wait until the pages of their lists are on the device. `marks` has two words for each window of
// 32 elements: those that are done, and those of the pass at hand. A work-item takes a window.

// Elements of a window that are there, as bits.
inline uint present(__global const uint *arena, __constant uint *column, const uint window, const uint rows) {
    uint size = min(WINDOW, rows - window * WINDOW);
    if (column[2] != NONE) {
        const uint first = window * WINDOW, fill = arena[column[2] + first / column[3]];
        const uint before = first % column[3];
        size = fill > before ? min(size, fill - before) : 0;
    }
    return size == 0 ? 0 : NONE >> (WINDOW - size);
}

// The pages of the elements that wait, by how much of them these read, and the first such element.
__kernel void waiting(__global const uint *restrict offsets, __global const uint *restrict arena,
                      __constant uint *shape, const uint from, const uint to,
                      volatile __global uint *heat, __global const uint *restrict marks,
                      const uint first_mark, volatile __global uint *first) {
    const uint depth = shape[SHAPE_DEPTH], last = depth - 1, bits = shape[SHAPE_PAGE_BITS];
    __constant uint *const column = shape + SHAPE_COLUMNS + last * COLUMN_WORDS;
    const uint near = shape[SHAPE_PLAN + 1] | shape[SHAPE_PLAN + 2];
    const uint windows = (to + WINDOW - 1) / WINDOW;
    for (uint window = from / WINDOW + get_global_id(0); window < windows; window += get_global_size(0)) {
        const uint there = present(arena, column, window, shape[SHAPE_ROWS]);
        const uint waits = there & ~marks[2 * (first_mark + window)];
        if (waits == 0)
            continue;
        atomic_min(first, window * WINDOW + (31u - clz(waits & -waits)));
        uint before = NONE;
        for (uint i = 0; i < WINDOW; i++) {
            if ((waits >> i & 1) == 0)
                continue;
            const uint row = window * WINDOW + i;
            if ((near >> last & 1) != 0)
                warm(offsets, heat, column[0] == NONE ? row : arena[column[0] + row], bits);
            if (last == 0)
                continue;
            uint at = arena[column[1] + row];
            if (at == before)
                continue;
            before = at;
            for (uint j = last; j-- > 0;) {
                __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
                if ((near >> j & 1) != 0)
                    warm(offsets, heat, c[0] == NONE ? at : arena[c[0] + at], bits);
                at = c[1] == NONE ? 0 : arena[c[1] + at];
            }
        }
    }
}

// The entries that the first element that waits needs, from and to for each of its lists.
__kernel void needs(__global const uint *restrict offsets, __global const uint *restrict arena,
                    __constant uint *shape, __global uint *restrict first) {
    const uint last = shape[SHAPE_DEPTH] - 1, near = shape[SHAPE_PLAN + 1] | shape[SHAPE_PLAN + 2];
    uint at = first[0];
    for (uint j = 0; j < 2 * MOST_DEPTHS; j++)
        first[2 + j] = 0;
    if (at == NONE)
        return;
    for (uint j = last + 1; j-- > 0;) {
        __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
        const uint v = c[0] == NONE ? at : arena[c[0] + at];
        if ((near >> j & 1) != 0) {
            first[2 + 2 * j] = offsets[v];
            first[3 + 2 * j] = offsets[v + 1];
        }
        at = c[1] == NONE ? 0 : arena[c[1] + at];
    }
}

inline bool is_here(__global const uint *offsets, __global const uint *pages, const uint v, const uint bits) {
    const uint from = offsets[v], to = offsets[v + 1];
    if (from == to)
        return true;
    for (uint page = from >> bits; page <= (to - 1) >> bits; page++)
        if (pages[page] == NONE)
            return false;
    return true;
}

// Takes the elements whose pages are all here into the pass; `first[1]` is 1 where others wait.
__kernel void admit(__global const uint *restrict offsets, __global const uint *restrict arena,
                    __constant uint *shape, __global const uint *restrict pages,
                    __global uint *restrict marks, const uint first_mark, volatile __global uint *first) {
    const uint depth = shape[SHAPE_DEPTH], last = depth - 1, bits = shape[SHAPE_PAGE_BITS];
    __constant uint *const column = shape + SHAPE_COLUMNS + last * COLUMN_WORDS;
    const uint near = shape[SHAPE_PLAN + 1] | shape[SHAPE_PLAN + 2];
    const uint windows = (shape[SHAPE_ROWS] + WINDOW - 1) / WINDOW;
    for (uint window = get_global_id(0); window < windows; window += get_global_size(0)) {
        const uint there = present(arena, column, window, shape[SHAPE_ROWS]);
        const uint done = marks[2 * (first_mark + window)];
        uint now = 0, before = NONE;
        bool prefix_here = true;
        for (uint i = 0; i < WINDOW; i++) {
            if ((there & ~done) >> i == 0)
                break;
            if (((there & ~done) >> i & 1) == 0)
                continue;
            const uint row = window * WINDOW + i;
            bool here = (near >> last & 1) == 0 ||
                        is_here(offsets, pages, column[0] == NONE ? row : arena[column[0] + row], bits);
            uint at = last == 0 ? 0 : arena[column[1] + row];
            if (last != 0 && at != before) {
                before = at;
                prefix_here = true;
                for (uint j = last; j-- > 0;) {
                    __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
                    if ((near >> j & 1) != 0)
                        prefix_here = prefix_here &&
                                      is_here(offsets, pages, c[0] == NONE ? at : arena[c[0] + at], bits);
                    at = c[1] == NONE ? 0 : arena[c[1] + at];
                }
            }
            if (here && prefix_here)
                now |= 1u << i;
        }
        marks[2 * (first_mark + window)] = done | now;
        marks[2 * (first_mark + window) + 1] = now;
        if ((there & ~(done | now)) != 0)
            atomic_or(first + 1, 1u);
    }
}
#endif

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

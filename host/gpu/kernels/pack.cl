// Compaction of a table (GAMMA, section 5.2): elements are marked, a prefix scan of the marks gives them
// their new places, and they are gathered there, one after the other. It cascades: only parents of
// elements that stay are marked.

#define NONE 0xffffffffu

// Marks elements of a column of blocks: those before the fill.
__kernel void mark_filled(__global uint *arena, const uint marks_at,
                          const uint fills, const uint block, const uint rows) {
    __global uint *const marks = arena + marks_at;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        marks[row] = fills == NONE || row % block < arena[fills + row / block] ? 1 : 0;
}

__kernel void clear_marks(__global uint *arena, const uint marks_at, const uint rows) {
    __global uint *const marks = arena + marks_at;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        marks[row] = 0;
}

// Marks the parents of gathered elements.
__kernel void mark_parents(__global uint *arena, const uint marks_at,
                           const uint parents, const uint rows, const uint size,
                           __global uint *restrict fault) {
    __global uint *const marks = arena + marks_at;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        marks[INDEX(arena[parents + row], size, 81)] = 1;
}

// Places by marks: the number of marks before, or NONE without one. One work-group of SCAN lanes; the
// number of marks comes behind them.
__kernel __attribute__((reqd_work_group_size(SCAN, 1, 1)))
void scan_marks(__global uint *arena, const uint marks_at, const uint rows) {
    __global uint *const marks = arena + marks_at;
    __local uint sums[SCAN];
    const uint lane = get_local_id(0);
    const uint each = (rows + SCAN - 1) / SCAN, from = min(rows, lane * each);
    const uint to = min(rows, from + each);
    uint sum = 0;
    for (uint row = from; row < to; row++)
        sum += marks[row];
    sums[lane] = sum;
    ADD_UP_LANES(uint, sums, lane)
    uint place = sums[lane] - sum;
    for (uint row = from; row < to; row++) {
        const uint mark = marks[row];
        marks[row] = mark != 0 ? place : NONE;
        place += mark;
    }
    if (lane == SCAN - 1)
        marks[rows] = sums[lane];
}

// Moves the elements that have places.
__kernel void gather(__global uint *arena, const uint marks_at,
                     const uint ids, const uint parents, const uint to_ids, const uint to_parents,
                     const uint rows) {
    __global uint *const marks = arena + marks_at;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        const uint place = marks[row];
        if (place == NONE)
            continue;
        arena[to_ids + place] = arena[ids + row];
        arena[to_parents + place] = arena[parents + row];
    }
}

// Parents get their new places.
__kernel void place_parents(__global uint *arena, const uint marks_at,
                            const uint parents, const uint rows, const uint size,
                            __global uint *restrict fault) {
    __global uint *const marks = arena + marks_at;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        arena[parents + row] = marks[INDEX(arena[parents + row], size, 82)];
}

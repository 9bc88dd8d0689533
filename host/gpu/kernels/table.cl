// The strategy `table`: a column of an embedding table is extended by a vertex (GAMMA, section 6.1).
//
// A table is a prefix tree by columns: an element is a vertex and the place of its parent in the column
// before. All columns lie in one arena, in blocks with a fill each. A work-group is a warp of LANES lanes: 32,
// or 1 on a processor, whose compiler copies what follows a barrier for each way that leads there. It takes
// windows of 32 elements of the last column; elements of one parent form a group. The lists of a
// group's prefix are intersected once, in tiles of TILE vertices in local memory (prefix grouping), and
// the list of each element is intersected with the tile in three stages: a Bloom filter, collection of what
// passes, and a search. The elements of all lists of a group are numbered through, so that lanes have work
// where lists are short.
//
// New elements go to a block of the warp's own; with the last block of the pool taken, or after its share
// of steps, a warp writes down where it is, and the next launch goes on there.

#ifdef DEFER
#define WAITS , __global const uint *restrict marks, const uint first_mark
#define IS_ADMITTED(i) && (admitted >> (i) & 1u) != 0
#else
#define WAITS
#define IS_ADMITTED(i)
#endif

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void extend(__global const uint *restrict offsets, __global const uint *slots,
            __global const uint *pages, __global const uint *cold, __global const uint *labels,
            __global uint *arena, __constant uint *shape, volatile __global uint *control,
            __global uint *states, const uint budget, const uint fresh, __global uint *restrict sums,
            __global uint *restrict fault WAITS) {
    __local uint ids[WINDOW], parents[WINDOW], row_from[WINDOW], row_size[WINDOW], row_end[WINDOW];
    __local uint prefix[MOST_DEPTHS], found[TILE], tile[TILE], bloom[BLOOM_WORDS];
    __local uint queue[2 * LANES], queue_at[2 * LANES], queue_row[2 * LANES];
    __local uint votes[3], shared[4];
    __local ulong totals[LANES];
    const uint lane = get_local_id(0), lower = (1u << lane) - 1u;
    const uint depth = shape[SHAPE_DEPTH], last = depth - 1, rows = shape[SHAPE_ROWS];
    const uint vertices = shape[SHAPE_VERTICES], entries = shape[SHAPE_ENTRIES];
    const uint words = shape[SHAPE_ARENA], windows = (rows + WINDOW - 1) / WINDOW;
    __constant uint *const column = shape + SHAPE_COLUMNS + last * COLUMN_WORDS;
    __constant uint *const plan = shape + SHAPE_PLAN;
    const uint below = plan[3];
    const bool with_tile = (plan[1] & ((1u << last) - 1u)) != 0;
    const bool with_list = (plan[1] >> last & 1) != 0;
    const uint out_block = shape[SHAPE_OUT_BLOCK];
    lists g = {slots, pages, cold, shape[SHAPE_PAGE_BITS], shape[SHAPE_LABELLED], entries, 0, 0};

    __global uint *const state = states + get_group_id(0) * STATE_WORDS;
    bool active = state[0] != 0, has_block = fresh == 0 && state[7] != 0;
    uint window = state[1], start = state[2], tile_from = state[3], flat = state[4];
    uint block = state[5], used = state[6];
    uint work = 0, phase = 0;
    ulong total = 0, tested = 0, passed = 0;
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
            start = flat = 0;
            tile_from = NONE;
        }
        active = false;
        work += 1;

#ifdef DEFER
        const uint admitted = marks[2 * (first_mark + window) + 1];
#endif
        // The window's elements. A block's are at its front, so the window's are as well.
        uint size = min(WINDOW, rows - window * WINDOW);
        if (column[2] != NONE) {
            const uint block_rows = column[3], first = window * WINDOW;
            const uint fill = arena[INDEX(column[2] + first / block_rows, words, 61)];
            const uint before = first % block_rows;
            size = fill > before ? min(size, fill - before) : 0;
        }
        for (uint i = lane; i < size; i += LANES) {
            const uint row = window * WINDOW + i;
            ids[i] = column[0] == NONE ? row : arena[INDEX(column[0] + row, words, 62)];
            parents[i] = column[1] == NONE ? 0 : arena[INDEX(column[1] + row, words, 63)];
        }
        SYNC;

        while (start < size && !cut) {
            // A group: elements of one parent.
#ifdef NO_GROUPS
            const uint end = start + 1;
#elif LANES == 1
            uint end = start + 1;
            while (end < size && parents[end] == parents[start])
                end += 1;
#else
            const bool other = lane > start && (lane >= size || parents[lane] != parents[start]);
            const uint others = vote(votes, &phase, lane, other);
            const uint end = others == 0 ? WINDOW : 31u - clz(others & -others);
#endif
            if (lane == 0) {
                uint at = parents[start];
                for (uint j = last; j-- > 0;) {
                    __constant uint *const c = shape + SHAPE_COLUMNS + j * COLUMN_WORDS;
                    prefix[j] = c[0] == NONE ? at : arena[INDEX(c[0] + at, words, 64)];
                    at = c[1] == NONE ? 0 : arena[INDEX(c[1] + at, words, 65)];
                }
                uint base = NONE, shortest = NONE, least = 0;
                for (uint j = 0; j < last; j++) {
                    if ((plan[1] >> j & 1) != 0) {
                        const uint v = INDEX(prefix[j], vertices, 66);
                        const uint length = offsets[v + 1] - offsets[v];
                        if (base == NONE || length < shortest) {
                            base = j;
                            shortest = length;
                        }
                    }
                    if ((below >> j & 1) != 0)
                        least = max(least, prefix[j] + 1);
                }
                shared[0] = base;
                shared[1] = least;
            }
            SYNC;
            const uint base = shared[0], least = shared[1];
#ifdef DEFER
            // Those that wait for pages come in another pass; with none left the group does.
            if ((admitted >> start & (NONE >> (WINDOW - (end - start)))) == 0) {
                SYNC;
                start = end;
                flat = 0;
                tile_from = NONE;
                continue;
            }
#endif
            const uint base_end = with_tile ? offsets[prefix[base] + 1] : 0;
            if (with_tile && tile_from == NONE)
                tile_from = offsets[prefix[base]];

            for (;;) {
                // The next tile of the remaining prefix.
                uint in_all = 0, next_tile = NONE;
                if (with_tile) {
                    uint at = tile_from;
                    while (at < base_end && in_all + LANES <= TILE) {
                        const uint e = at + lane;
                        bool fits = false;
                        uint x = 0;
                        if (e < base_end) {
                            x = read_list(&g, INDEX(e, entries, 67), 0);
                            fits = x >= least &&
                                   (plan[5 + base] == NONE || read_list(&g, e, 1) == plan[5 + base]) &&
                                   fits_prefix(&g, offsets, labels, plan, prefix, last, base, x);
                        }
                        const uint all = vote(votes, &phase, lane, fits);
                        if (fits)
                            found[in_all + popcount(all & lower)] = x;
                        in_all += popcount(all);
                        at += LANES;
                        work += 1;
                    }
                    next_tile = at < base_end ? at : NONE;
                    SYNC;
                }
                const uint tile_rows = (in_all + COLUMNS - 1) / COLUMNS;
                if (!with_tile || in_all != 0) {
                    const uint tile_first = with_tile ? found[0] : 0;
                    const uint tile_last = with_tile ? found[in_all - 1] : NONE - 1;
                    if (with_tile) {
                        for (uint i = lane; i < BLOOM_WORDS; i += LANES)
                            bloom[i] = 0;
                        SYNC;
                        // From the order of the list to columns, and into the filter.
                        for (uint i = lane; i < tile_rows * COLUMNS; i += LANES) {
                            const uint x = i < in_all ? found[i] : NONE;
#ifdef PLAIN_LAYOUT
                            tile[i] = x;
#else
                            tile[i % tile_rows * COLUMNS + i / tile_rows] = x;
#endif
                            if (i < in_all)
                                for (uint h = 0; h < BLOOM_HASHES; h++) {
                                    const uint bit = bloom_bit(x, h);
                                    atomic_or(bloom + bit / 32, 1u << bit % 32);
                                }
                        }
                    }
                    // What each element of the group has to be intersected: its list, or the tile's
                    // elements where the list is much longer.
                    for (uint i = lane; i < WINDOW; i += LANES) {
                        uint mine = 0;
                        if (i >= start && i < end IS_ADMITTED(i)) {
                            const uint v = INDEX(ids[i], vertices, 68);
                            uint from = offsets[v], to = offsets[v + 1];
                            mine = with_list ? to - from : in_all;
                            if (with_list && to - from > SHORT && (with_tile || below >> last != 0)) {
                                const uint low = max(tile_first, below >> last != 0 ? v + 1 : 0);
                                from = first_not_below(&g, from, to, max(low, least));
                                to = first_not_below(&g, from, to, tile_last + 1);
                                mine = to - from;
                            }
                            // The highest bit: the tile's elements are searched in the list.
                            uint flip = with_list ? 0 : 1;
                            if (with_list && with_tile && mine / SKEW >= in_all) {
                                mine = in_all;
                                flip = 1;
                            }
                            if (depth == 1 && shape[SHAPE_FIRST_LABEL] != NONE &&
                                labels[v] != shape[SHAPE_FIRST_LABEL])
                                mine = 0;
                            row_from[i] = flip ? NONE : from;
                        }
                        row_size[i] = mine;
                        row_end[i] = mine;
                    }
                    SYNC;
#if LANES == 1
                    for (uint i = 1; i < WINDOW; i++)
                        row_end[i] += row_end[i - 1];
#else
                    for (uint step = 1; step < WINDOW; step *= 2) {
                        const uint before = lane >= step ? row_end[lane - step] : 0;
                        SYNC;
                        row_end[lane] += before;
                        SYNC;
                    }
#endif
                    const uint in_lists = row_end[WINDOW - 1];
                    uint queued = 0;
                    while ((flat < in_lists || queued != 0) && !cut) {
                        if (work >= budget && queued == 0) {
                            cut = true;
                            break;
                        }
                        // Filter and collect.
                        while (queued < LANES && flat < in_lists) {
                            const uint i = flat + lane;
                            bool fits = false;
                            uint x = 0, row = 0;
                            if (i < in_lists) {
                                for (uint step = WINDOW / 2; step != 0; step /= 2)
                                    if (row_end[row + step - 1] <= i)
                                        row += step;
                                const uint place = i - (row_end[row] - row_size[row]);
                                if (row_from[row] == NONE) {
                                    x = tile_element(tile, tile_rows, place);
                                    fits = true;
                                } else {
                                    x = read_list(&g, INDEX(row_from[row] + place, entries, 69), 0);
                                    fits = x >= max(least, tile_first) && x <= tile_last;
#ifndef NO_FILTER
                                    if (with_tile && fits)
                                        for (uint h = 0; h < BLOOM_HASHES; h++) {
                                            const uint bit = bloom_bit(x, h);
                                            fits = fits && (bloom[bit / 32] >> bit % 32 & 1) != 0;
                                        }
#endif
                                }
                                fits = fits && (below >> last == 0 || x > ids[row]);
                                tested += 1;
                            }
                            const uint all = vote(votes, &phase, lane, fits);
                            if (fits) {
                                const uint at = queued + popcount(all & lower);
                                queue[at] = x;
                                queue_at[at] = i;
                                queue_row[at] = row;
                                passed += 1;
                            }
                            queued += popcount(all);
                            flat += LANES;
                            work += 1;
                        }
                        SYNC;
                        // Search.
                        const uint now = min(queued, LANES);
                        const uint x = queue[lane], row = queue_row[lane], first_at = queue_at[0];
                        bool hit = lane < now;
                        if (hit) {
                            const uint v = ids[row], label = plan[5 + last];
                            const uint from = row_from[row];
                            if (from == NONE) {
                                if (with_list)
                                    hit = in_list(&g, offsets[v], offsets[v + 1], x, label);
                                else if ((plan[4] >> last & 1) != 0 && x == v)
                                    hit = false;
                                else if ((plan[2] >> last & 1) != 0)
                                    hit = !in_list(&g, offsets[v], offsets[v + 1], x, NONE);
                            } else {
                                if (with_tile)
                                    hit = in_tile(tile, tile_rows, in_all, x);
                                else
                                    hit = fits_prefix(&g, offsets, labels, plan, prefix, last, NONE, x);
                                const uint place = queue_at[lane] - (row_end[row] - row_size[row]);
                                hit = hit && (label == NONE || read_list(&g, from + place, 1) == label);
                            }
                        }
#ifdef DEGREES
                        if (hit) {
                            const uint degree_of_x = offsets[x + 1] - offsets[x];
                            hit = degree_of_x >= shape[SHAPE_DEGREES] &&
                                  degree_of_x <= shape[SHAPE_DEGREES + 1];
                        }
#endif
#ifdef KEEP
                        if (hit) {
                            embedding e;
                            begin_embedding(&e, offsets, labels, vertices, &g);
                            e.size = depth;
                            for (uint j = 0; j < last; j++)
                                e.vertex[j] = prefix[j];
                            e.vertex[last] = ids[row];
                            hit = KEEP(&e, x);
                        }
#endif
                        const uint all = vote(votes, &phase, lane, hit);
                        const uint hits = popcount(all);
                        if (shape[SHAPE_COUNTED] == 0 && hits != 0) {
                            const uint left = has_block ? out_block - used : 0;
                            uint second = block;
                            if (hits > left) {
                                if (lane == 0)
                                    shared[2] = atomic_inc(control + CONTROL_BLOCKS);
                                SYNC;
                                second = shared[2];
                                if (second >= shape[SHAPE_OUT_BLOCKS]) {
                                    // Again from the first that waits.
                                    flat = first_at;
                                    cut = true;
                                    break;
                                }
                            }
                            if (hit) {
                                const uint i = popcount(all & lower);
                                const uint at =
                                    i < left ? block * out_block + used + i : second * out_block + i - left;
                                arena[INDEX(shape[SHAPE_OUT_IDS] + at, words, 70)] = x;
                                arena[INDEX(shape[SHAPE_OUT_PARENTS] + at, words, 71)] =
                                    window * WINDOW + row;
                            }
                            if (hits > left) {
                                if (lane == 0 && has_block)
                                    arena[INDEX(shape[SHAPE_OUT_FILLS] + block, words, 72)] = out_block;
                                block = second;
                                used = hits - left;
                                has_block = true;
                            } else {
                                used += hits;
                            }
                        }
                        if (lane == 0)
                            total += hits;
                        // What is left of the queue moves to its front.
                        queued -= now;
                        const uint moved = lane < queued ? queue[now + lane] : 0;
                        const uint moved_at = lane < queued ? queue_at[now + lane] : 0;
                        const uint moved_row = lane < queued ? queue_row[now + lane] : 0;
                        SYNC;
                        queue[lane] = moved;
                        queue_at[lane] = moved_at;
                        queue_row[lane] = moved_row;
                        SYNC;
                    }
                    SYNC;
                }
                if (cut || next_tile == NONE)
                    break;
                tile_from = next_tile;
                flat = 0;
            }
            if (!cut) {
                start = end;
                flat = 0;
                tile_from = NONE;
            }
            SYNC;
        }
    }
    if (lane == 0) {
        state[0] = cut ? 1 : 0;
        state[1] = window;
        state[2] = start;
        state[3] = tile_from;
        state[4] = flat;
        state[5] = block;
        state[6] = used;
        state[7] = has_block ? 1 : 0;
        if (has_block)
            arena[INDEX(shape[SHAPE_OUT_FILLS] + block, words, 73)] = used;
        if (cut)
            atomic_inc(control + CONTROL_CUT);
    }
    add_up(totals, lane, total, sums, shape[SHAPE_COUNTED] != 0 ? SUM_COUNT : SUM_ROWS);
    add_up(totals, lane, tested, sums, SUM_TESTED);
    add_up(totals, lane, passed, sums, SUM_PASSED);
#ifdef PAGED
    add_up(totals, lane, g.hot_reads, sums, SUM_HOT);
    add_up(totals, lane, g.cold_reads, sums, SUM_COLD);
#endif
}

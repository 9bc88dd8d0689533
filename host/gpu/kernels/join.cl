// SGSI's join of a table with a pattern's next vertex (Zeng et al., GSI, section 5): Prealloc-Combine (Alg. 2
// and 3), over segments of the labels' edges (Alg. 4 and 5).
//
// A table has a column for each vertex; a row's column c lies at c · stride + row. Each row of a
// batch has a buffer in one array (GBA), as long as the shortest list that it needs, where `offsets` says.
// Element by element the buffer is made from that list, and then cut down list by list.

// Of each row how many neighbours a linking edge leads to, so far.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void lengths(__global const uint *restrict graph, const uint words, __global const uint *restrict segments,
             const uint which, __global const uint *restrict table, const uint stride, const uint from,
             const uint rows, const uint column, __global uint *restrict found, const uint at,
             __global uint *restrict sums, __global uint *restrict fault) {
    __local uint place[2];
    __local ulong totals[LANES];
    __global const uint *const segment = segments + which * SEGMENT_WORDS;
    const uint lane = get_local_id(0);
    work done = {0, 0, 0, 0};
    // Each lane reads the offsets of a separate row.
    const bool dense = segment[SEGMENT_GROUPS] == 0;
    for (uint row = get_global_id(0); dense && row < rows; row += get_global_size(0)) {
        const uint v = table[column * stride + from + row];
        if (segment[SEGMENT_EDGES] != 0 && v >= segment[SEGMENT_FIRST] && v <= segment[SEGMENT_LAST]) {
            const uint own = INDEX(segment[SEGMENT_AT] + v - segment[SEGMENT_FIRST], words - 1, 120);
            found[at + row] += graph[own + 1] - graph[own];
        }
        done.loads += 1;
    }
    for (uint row = get_group_id(0); !dense && row < rows; row += get_num_groups(0)) {
        locate(graph, words, segment, table[column * stride + from + row], lane, place, &done, fault);
        if (lane == 0)
            found[at + row] += place[1] - place[0];
    }
    report(totals, lane, &done, sums);
}

// The first edge of each row (Alg. 3): that with the shortest list, or `fixed`; its length is the capacity.
__kernel void choose(__global const uint *restrict found, const uint near, const uint fixed, const uint limit,
                     const uint rows, __global uint *restrict chosen, __global uint *restrict capacity,
                     __global uint *restrict fills, __global uint *restrict kept, __global int *restrict flags) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        uint best = NONE, least = NONE, at = 0;
        for (uint j = 0; j < MOST_DEPTHS; j++) {
            if ((near >> j & 1) == 0)
                continue;
            if (fixed == NONE || fixed == j) {
                const uint length = found[at * limit + row];
                if (best == NONE || length < least) {
                    best = j;
                    least = length;
                }
                at += 1;
            }
        }
        chosen[row] = best;
        capacity[row] = least;
        fills[row] = kept[row] = 0;
        flags[row] = 0;
    }
}

// The first linking edge: the list less the row's vertices, of which the candidates stay (lines 10 and 11 of
// Alg. 2; Alg. 4). With a bin only its rows; without `store` they are counted.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void first(__global const uint *restrict graph, const uint words, __global const uint *restrict segments,
           const uint which, __global const uint *restrict table, const uint stride, const uint from,
           const uint rows, const uint depth, __constant uint *plan, __global const uint *restrict candidates,
           const uint candidate_from, const uint candidate_to, __global uint *restrict gba, const uint gba_words,
           __global const uint *restrict offsets, __global const uint *restrict chosen,
           __global uint *restrict fills, __global int *restrict flags, __global const uint *restrict bin,
           const uint bin_at, const uint store, volatile __global uint *control, __global uint *restrict sums,
           __global uint *restrict fault) {
    __local uint place[2], votes[VOTES], prefix[MOST_DEPTHS], cache[LINE + LANES];
    __local ulong totals[LANES];
    __global const uint *const segment = segments + which * SEGMENT_WORDS;
    const uint lane = get_local_id(0);
    work done = {0, 0, 0, 0};
    uint alive = 0;
    for (uint i = get_group_id(0); i < rows; i += get_num_groups(0)) {
        const uint row = bin_at == NONE ? i : bin[bin_at + i];
        const int flag = flags[row];
        if (chosen[row] != which || flag < 0)
            continue;
        const uint v = table[which * stride + from + row];
        locate(graph, words, segment, v, lane, place, &done, fault);
        const uint begin = place[0], end = place[1];
        SYNC;
        if (begin == end) {
            // Segments ascend by source: it was read whole, or isn't in any.
            const bool over = flag > 0 || v < segment[SEGMENT_FIRST];
            if (lane == 0 && over)
                flags[row] = -1;
            alive += over ? 0 : 1;
            continue;
        }
#ifndef NO_SETS
        for (uint j = lane; j < depth; j += LANES)
            prefix[j] = table[j * stride + from + row];
        if (lane == 0)
            done.loads += depth;
        SYNC;
#endif
        const uint base = offsets[row];
        uint fill = fills[row], cached = 0;
        for (uint e = begin; e < end; e += LANES) {
            bool fit = e + lane < end;
            uint x = 0;
            if (fit) {
                x = graph[INDEX(e + lane, words, 123)];
                done.tested += 1;
                done.loads += lane % LINE == 0 ? 1 : 0;
                fit = has_label(graph, segment, e + lane, &done);
            }
            if (fit) {
#ifdef NO_SETS
                done.loads += depth;
                DIFFERS(plan, depth, x, table[j * stride + from + row], fit)
#else
                DIFFERS(plan, depth, x, prefix[j], fit)
#endif
                fit = fit && is_candidate(candidates, candidate_from, candidate_to, x, &done);
            }
            uint all;
            const uint mine = place_of(votes, lane, fit, &all);
            if (store == 0) {
                fill += all;
                continue;
            }
#ifdef NO_CACHE
            if (fit)
                gba[INDEX(base + fill + mine, gba_words, 124)] = x;
            fill += all;
            if (lane == 0 && all != 0)
                done.stores += (all + LINE - 1) / LINE;
#else
            if (fit)
                cache[cached + mine] = x;
            cached += all;
            SYNC;
            // Whole lines go out; what is left moves to the front.
            const uint whole = cached / LINE * LINE;
            if (whole != 0) {
                for (uint i = lane; i < whole; i += LANES)
                    gba[INDEX(base + fill + i, gba_words, 125)] = cache[i];
                const uint rest = whole + lane < cached ? cache[whole + lane] : 0;
                SYNC;
                if (whole + lane < cached)
                    cache[lane] = rest;
#if LANES < 32
                for (uint i = lane + LANES; whole + i < cached; i += LANES)
                    cache[i] = cache[whole + i];
#endif
                SYNC;
                fill += whole;
                cached -= whole;
                if (lane == 0)
                    done.stores += whole / LINE;
            }
#endif
        }
#ifndef NO_CACHE
        for (uint i = lane; i < cached; i += LANES)
            gba[INDEX(base + fill + i, gba_words, 126)] = cache[i];
        fill += cached;
        if (lane == 0 && cached != 0)
            done.stores += 1;
#endif
        alive += 1;
        SYNC;
        if (lane == 0) {
            fills[row] = fill;
            flags[row] = 1;
        }
    }
    if (lane == 0 && alive != 0)
        atomic_add(control + 3, alive);
    report(totals, lane, &done, sums);
}

// Another linking edge: of the buffer stays what is in the list (line 13 of Alg. 2; Alg. 5), or with `far`
// what isn't. A flag is where the part of the buffer begins that is yet to be compared.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void narrow(__global const uint *restrict graph, const uint words, __global const uint *restrict segments,
            const uint which, __global const uint *restrict table, const uint stride, const uint from,
            const uint rows, const uint far, __global uint *restrict gba, const uint gba_words,
            __global const uint *restrict offsets, __global const uint *restrict chosen,
            __global uint *restrict fills, __global uint *restrict kept_of, __global int *restrict flags,
            volatile __global uint *control, __global uint *restrict sums, __global uint *restrict fault) {
    __local uint place[3], votes[VOTES];
    __local ulong totals[LANES];
    __global const uint *const segment = segments + which * SEGMENT_WORDS;
    const uint lane = get_local_id(0);
    work done = {0, 0, 0, 0};
    uint alive = 0;
    for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        const uint column = far != 0 ? which - MOST_DEPTHS : which;
        const uint size = fills[row];
        const int flag = far != 0 ? 0 : flags[row];
        if (size == 0 || flag < 0 || (far == 0 && chosen[row] == which))
            continue;
        const uint v = table[column * stride + from + row], base = offsets[row];
        locate(graph, words, segment, v, lane, place, &done, fault);
        const uint begin = place[0], end = place[1];
        SYNC;
        if (begin == end) {
            const bool over = flag > 0 || v < segment[SEGMENT_FIRST];
            if (lane == 0 && over && far == 0)
                flags[row] = -1;
            alive += over ? 0 : 1;
            continue;
        }
        if (lane == 0) {
            uint to = base + size;
            if (far == 0)
                found_in(gba, base + flag, base + size, graph[INDEX(end - 1, words, 127)] + 1, &to, &done);
            place[2] = to;
        }
        SYNC;
        const uint to = place[2];
        uint kept = far != 0 ? 0 : kept_of[row];
        for (uint at = base + flag; at < to; at += LANES) {
            bool fit = at + lane < to;
            uint x = 0;
            if (fit) {
                x = gba[INDEX(at + lane, gba_words, 128)];
                done.tested += 1;
                done.loads += lane % LINE == 0 ? 1 : 0;
                uint e;
                const bool near = found_in(graph, begin, end, x, &e, &done) &&
                                  has_label(graph, segment, e, &done);
                fit = far != 0 ? !near : near;
            }
            uint all;
            const uint mine = place_of(votes, lane, fit, &all);
            if (fit)
                gba[INDEX(base + kept + mine, gba_words, 129)] = x;
            kept += all;
            if (lane == 0)
                done.stores += (all + LINE - 1) / LINE;
        }
        const uint next = to - base;
        alive += next < size ? 1 : 0;
        SYNC;
        if (lane == 0) {
            if (far != 0) {
                fills[row] = kept;
            } else {
                kept_of[row] = kept;
                flags[row] = next < size ? (int)next : -1;
            }
        }
    }
    if (lane == 0 && alive != 0)
        atomic_add(control + 3, alive);
    report(totals, lane, &done, sums);
}

// After the last segment of an edge: rows that it narrowed keep their rest; all start again.
__kernel void settle(const uint which, const uint rows, __global const uint *restrict chosen,
                     __global uint *restrict fills, __global uint *restrict kept, __global int *restrict flags) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        if (which != NONE && chosen[row] != which)
            fills[row] = kept[row];
        kept[row] = 0;
        flags[row] = 0;
    }
}

// New rows: each row with each vertex of its buffer (lines 16 to 22 of Alg. 2).
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void link(__global const uint *restrict table, const uint stride, const uint from, const uint rows,
          const uint depth, __global const uint *restrict gba, __global const uint *restrict offsets,
          __global const uint *restrict fills, __global const uint *restrict places,
          __global uint *restrict next, const uint next_words, __global uint *restrict fault) {
    const uint lane = get_local_id(0);
    for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        const uint size = fills[row], to = places[row], base = offsets[row];
        for (uint j = 0; j < depth && size != 0; j++) {
            const uint v = table[j * stride + from + row];
            for (uint i = lane; i < size; i += LANES)
                next[INDEX(j * stride + to + i, next_words, 130)] = v;
        }
        for (uint i = lane; i < size; i += LANES)
            next[INDEX(depth * stride + to + i, next_words, 131)] = gba[base + i];
    }
}

// The number of new rows.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void add_fills(__global const uint *restrict fills, const uint rows, __global uint *restrict sums) {
    __local ulong totals[LANES];
    ulong mine = 0;
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0))
        mine += fills[row];
    add_up(totals, get_local_id(0), mine, sums, SUM_COUNT);
}

// The join of GSI-b, without Prealloc-Combine: all is done twice, first to count (`pass` 0), then to write new
// rows at the places that follow from that. Segments are whole.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void twice(__global const uint *restrict graph, const uint words, __global const uint *restrict segments,
           __global const uint *restrict table, const uint stride, const uint from, const uint rows,
           const uint depth, __constant uint *plan, __global const uint *restrict candidates,
           const uint candidate_from, const uint candidate_to, __global const uint *restrict chosen,
           const uint pass, __global uint *restrict fills, __global const uint *restrict places,
           __global uint *restrict next, const uint next_words, __global uint *restrict sums,
           __global uint *restrict fault) {
    __local uint place[2], votes[VOTES], begins[2 * MOST_DEPTHS], ends[2 * MOST_DEPTHS];
    __local ulong totals[LANES];
    const uint lane = get_local_id(0);
    const list_set all_lists = plan[1] | (list_set)plan[2] << MOST_DEPTHS;
    work done = {0, 0, 0, 0};
    for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        for (uint j = 0; j < 2 * MOST_DEPTHS; j++) {
            if ((all_lists >> j & 1) == 0)
                continue;
            const uint v = table[j % MOST_DEPTHS * stride + from + row];
            locate(graph, words, segments + j * SEGMENT_WORDS, v, lane, place, &done, fault);
            if (lane == 0) {
                begins[j] = place[0];
                ends[j] = place[1];
            }
            SYNC;
        }
        const uint base = chosen[row];
        __global const uint *const own = segments + base * SEGMENT_WORDS;
        const uint begin = begins[base], end = ends[base];
        uint fill = 0;
        for (uint e = begin; e < end; e += LANES) {
            bool fit = e + lane < end;
            uint x = 0;
            if (fit) {
                x = graph[INDEX(e + lane, words, 132)];
                done.tested += 1;
                done.loads += lane % LINE == 0 ? 1 : 0;
                fit = has_label(graph, own, e + lane, &done);
            }
            if (fit) {
                done.loads += depth;
                DIFFERS(plan, depth, x, table[j * stride + from + row], fit)
                fit = fit && is_candidate(candidates, candidate_from, candidate_to, x, &done);
            }
            for (uint j = 0; j < 2 * MOST_DEPTHS && fit; j++) {
                if ((all_lists >> j & 1) == 0 || j == base)
                    continue;
                uint at;
                const bool there = found_in(graph, begins[j], ends[j], x, &at, &done) &&
                                   has_label(graph, segments + j * SEGMENT_WORDS, at, &done);
                fit = there == (j < MOST_DEPTHS);
            }
            uint all;
            const uint mine = place_of(votes, lane, fit, &all);
            if (pass != 0 && fit) {
                const uint to = places[row] + fill + mine;
                for (uint j = 0; j < depth; j++)
                    next[INDEX(j * stride + to, next_words, 133)] = table[j * stride + from + row];
                next[INDEX(depth * stride + to, next_words, 134)] = x;
            }
            if (pass != 0 && lane == 0)
                done.stores += (depth + 1) * ((all + LINE - 1) / LINE);
            fill += all;
        }
        SYNC;
        if (lane == 0 && pass == 0)
            fills[row] = fill;
    }
    report(totals, lane, &done, sums);
}

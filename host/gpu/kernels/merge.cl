// The merge of sorted segments by warps (GAMMA, section 6.2, Alg. 3), behind `sort.cl`. No kernel here has an atomic on
// global memory.
//
// Each STRIDE-th element of a segment is a checkpoint. Checkpoints in the order of the output cut the segments into parts,
// each of a list from every segment. A part has the elements from one checkpoint up to the CHECKPOINTS-th behind it: at
// most STRIDE for each of these and STRIDE - 1 more for each segment. That many fit the local memory of a warp: PART.
// Equal keys keep the order of their segments.
//
// The host sets STRIDE; PART, the most elements of a part; WAYS, the most segments; WARP, the lanes of a group; and PATH or
// EVERY for one of the ways to merge the lists of a part.

#define CHECKPOINTS(segments) (PART / STRIDE - (segments))
#define WARP_OF_MERGE __attribute__((reqd_work_group_size(WARP, 1, 1)))

// First element of [low, high) whose key is above this one, or with `same` isn't below it.
#define FIRST_BEHIND(low, high, key, same, key_at)          \
    while (low < high) {                                    \
        const uint middle = low + (high - low) / 2;         \
        const ulong other = key_at(middle);                 \
        if (other < (key) || (!(same) && other == (key)))   \
            low = middle + 1;                               \
        else                                                \
            high = middle;                                  \
    }

// The matched index of each checkpoint in each segment, kept where a part begins: its number follows from the indices, so
// that checkpoints needn't be sorted. A word for each segment, counted from the segment's start.
__kernel void split_segments(__global uint *arena, const uint keys, const uint starts,
                             const uint segments, const uint checkpoints, const uint splits,
                             const uint parts, __global uint *restrict fault) {
#define KEY_AT(i) key_of(arena, keys, (i))
    for (uint c = get_global_id(0); c < checkpoints; c += get_global_size(0)) {
        uint own = 0, at = c;
        while (true) {
            const uint size = arena[starts + own + 1] - arena[starts + own];
            const uint more = (size + STRIDE - 1) / STRIDE;
            if (at < more)
                break;
            at -= more;
            own += 1;
        }
        at = arena[starts + own] + at * STRIDE;
        const ulong key = KEY_AT(at);
        uint cuts[WAYS];
        uint rank = 0;
        for (uint k = 0; k < segments; k++) {
            uint low = arena[starts + k], high = arena[starts + k + 1];
            const uint begin = low;
            if (k == own) {
                low = at;
            } else {
                FIRST_BEHIND(low, high, key, k > own, KEY_AT)
            }
            cuts[k] = low - begin;
            rank += (cuts[k] + STRIDE - 1) / STRIDE;
        }
        const uint part = rank / CHECKPOINTS(segments);
        if (rank % CHECKPOINTS(segments) == 0)
            for (uint k = 0; k < segments; k++)
                arena[splits + INDEX(part, parts, 187) * segments + k] = cuts[k];
    }
#undef KEY_AT
}

// The list that an element of a part is of.
inline uint list_of(__local const uint *from, const uint segments, const uint i) {
    uint low = 0, high = segments - 1;
    while (low < high) {
        const uint middle = (low + high + 1) / 2;
        if (from[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#define KEY_AT(i) own[i]
#if defined(PATH) || defined(EVERY)
#define COUNTERS 1u
#else
#define COUNTERS (PART + WAYS + WARP)
#endif

#ifdef PATH
// Merges neighbouring lists, until one is left. A lane writes a part of the output: it finds by a binary search along the
// diagonal how much of it is of either list. Returns the order of the elements.
inline __local ushort *merge_lists(__local const ulong *own, __local const uint *from,
                                   const uint segments, __local ushort *order,
                                   __local ushort *other, __local uint *counters) {
    const uint lane = get_local_id(0), size = from[segments];
    const uint each = (size + WARP - 1) / WARP;
    for (uint i = lane; i < size; i += WARP)
        order[i] = (ushort)i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = 1; width < segments; width *= 2) {
        uint out = min(size, lane * each), list = 0;
        const uint end = min(size, out + each);
        while (out < end) {
            while (from[min(list + 2 * width, segments)] <= out)
                list += 2 * width;
            const uint start = from[list], middle = from[min(list + width, segments)];
            const uint stop = from[min(list + 2 * width, segments)], across = out - start;
            uint low = across > stop - middle ? across - (stop - middle) : 0;
            uint high = min(across, middle - start);
            while (low < high) {
                const uint cut = (low + high) / 2;
                if (own[order[start + cut]] <= own[order[middle + across - 1 - cut]])
                    low = cut + 1;
                else
                    high = cut;
            }
            uint i = start + low, j = middle + across - low;
            for (; out < min(end, stop); out++) {
                const bool left = j >= stop || (i < middle && own[order[i]] <= own[order[j]]);
                other[out] = left ? order[i++] : order[j++];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        __local ushort *merged = other;
        other = order;
        order = merged;
    }
    return order;
}
#else
// Finds the place of each element by searches in the other lists. Unless EVERY is defined only those of earlier segments
// are searched: how many elements found a place is counted there, and sums of the counts are what a search of the
// later segments would find. A list has a place more than elements.
inline __local ushort *merge_lists(__local const ulong *own, __local const uint *from,
                                   const uint segments, __local ushort *order,
                                   __local ushort *other, __local uint *counters) {
    const uint lane = get_local_id(0), size = from[segments];
#ifndef EVERY
    __local uint *found = counters, *sums = counters + PART + WAYS;
    for (uint i = lane; i < size + segments; i += WARP)
        found[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint i = lane; i < size; i += WARP) {
        const uint list = list_of(from, segments, i);
        const ulong key = own[i];
        uint place = i - from[list];
        for (uint k = 0; k < list; k++) {
            uint low = from[k], high = from[k + 1];
            FIRST_BEHIND(low, high, key, false, KEY_AT)
            place += low - from[k];
#ifndef EVERY
            atomic_inc(found + low + k);
#endif
        }
#ifdef EVERY
        for (uint k = list + 1; k < segments; k++) {
            uint low = from[k], high = from[k + 1];
            FIRST_BEHIND(low, high, key, true, KEY_AT)
            place += low - from[k];
        }
#endif
        other[i] = (ushort)place;
    }
#ifndef EVERY
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = size + segments, each = (all + WARP - 1) / WARP;
    const uint begin = min(all, lane * each), end = min(all, begin + each);
    uint sum = 0;
    for (uint i = begin; i < end; i++) {
        sum += found[i];
        found[i] = sum;
    }
    sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0;
    for (uint l = 0; l < lane; l++)
        before += sums[l];
    for (uint i = begin; i < end; i++)
        found[i] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint i = lane; i < size; i += WARP) {
        uint place = other[i];
#ifndef EVERY
        const uint list = list_of(from, segments, i), first = from[list] + list;
        place += found[i + list] - (first == 0 ? 0 : found[first - 1]);
#endif
        order[place] = (ushort)i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return order;
}
#endif

// Merges a part with a warp. With `to_index` the numbers of the elements before the merge are written, too.
__kernel WARP_OF_MERGE
void merge_parts(__global uint *arena, const uint keys, const uint size, const uint starts,
                 const uint segments, const uint splits, const uint parts, const uint to_keys,
                 const uint to_index, __global uint *restrict fault) {
    __local ulong own[PART];
    __local ushort orders[2 * PART];
    __local uint from[WAYS + 1], first[WAYS];
    __local uint counters[COUNTERS], begins;
    const uint lane = get_local_id(0), part = get_group_id(0);
    for (uint k = lane; k < segments; k += WARP) {
        const uint start = arena[starts + k], begin = arena[splits + part * segments + k];
        const uint end = part + 1 < parts ? arena[splits + (part + 1) * segments + k]
                                          : arena[starts + k + 1] - start;
        first[k] = start + begin;
        from[k + 1] = end - begin;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        // What lies before the part in its segments lies before it in the output.
        uint sum = 0, before = 0;
        from[0] = 0;
        for (uint k = 0; k < segments; k++) {
            before += first[k] - arena[starts + k];
            sum = INDEX(sum + from[k + 1], PART + 1, 188);
            from[k + 1] = sum;
        }
        begins = before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < from[segments]; i += WARP) {
        const uint k = list_of(from, segments, i);
        own[i] = key_of(arena, keys, INDEX(first[k] + i - from[k], size, 189));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const ushort *order =
        merge_lists(own, from, segments, orders, orders + PART, counters);
    for (uint p = lane; p < from[segments]; p += WARP) {
        const uint i = order[p], place = INDEX(begins + p, size, 190);
        put_key(arena, to_keys, place, own[i]);
        if (to_index != NONE) {
            const uint k = list_of(from, segments, i);
            arena[to_index + place] = first[k] + i - from[k];
        }
    }
}

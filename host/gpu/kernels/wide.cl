// The strategy `wide`: DuMato's DFS-wide exploration (thesis, Alg. 10 to 18). A warp extends one
// embedding at a time by all its neighbours together, and keeps extensions that are not visited yet in
// its own arrays. Its phases are control, extend with filter, aggregate, and move.
//
// The arrays have a fixed size. An embedding with more extensions than that makes them in portions: a
// level keeps where in the lists of its vertices it stopped. Memory so depends on nothing but the number
// of warps.
//
// A launch is a slice: warps keep their state and end after this many steps, or once too many of them have
// nothing to do.
//
// Given by the host: K vertices, ARRAY extensions of a level, CODES codes of patterns, COUNTERS counters,
// DICTIONARY if codes have the numbers of their graphs there (canon.cl), LOCAL_CODES if they
// are counted in local memory first, CLIQUES for complete subgraphs alone, PICKED if roots
// are given instead of all vertices being roots, TILE lanes of a warp. Where that is less than 32, warps are virtual
// (5.2.5): with TILES of them in a work-group (LANES_PTX) they wait for themselves alone, elsewhere a work-group has one.
// With TILE and ARRAY 1 each lane searches depth-first by itself (DM_DFS, section 6.1): no level is stored.
#ifdef PICKED
#define ROOTS roots
#define ROOT(at) picked[at]
#else
#define ROOTS vertices
#define ROOT(at) (at)
#endif

// Lanes of `donate`.
#define LANES 32
#if TILE == 1
#define TILE_SYNC()
#define TILE_SYNC_ALL()
#elif TILES > 1
#define TILE_SYNC() tile_sync(((1u << TILE) - 1) << tile * TILE)
#define TILE_SYNC_ALL() TILE_SYNC()
inline void tile_sync(uint lanes) {
    asm volatile("bar.warp.sync %0;" ::"r"(lanes) : "memory");
}
#else
#define TILE_SYNC() barrier(CLK_LOCAL_MEM_FENCE)
#define TILE_SYNC_ALL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

// What the lanes of a warp share. By length of the embedding: its last vertex, the code of its edges, extensions that
// wait, and where the next ones come from.
typedef struct {
    uint length, base, steps, go, fill, popped, edges_of_popped;
    uint tr[K], codes[K], waiting[K], list[K], entry[K];
} shared_t;
// Words of a state: length, base, and for each length five words.
#define STATE (2 + 5 * K)
// Words of the status.
#define NEXT_ROOT 0
#define ACTIVE 1
#define IDLE 2
#define GIVEN 3
// First bit of vertex j's edges to earlier ones in a code; that between the first two is always there.
#define SHIFT(j) ((j) * ((j) - 1) / 2 - 1)

inline int is_edge(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                   uint u, uint v) {
    uint low = offsets[u], high = offsets[u + 1];
    const uint other = offsets[v + 1] - offsets[v];
    if (other < high - low) {
        low = offsets[v];
        high = low + other;
        v = u;
    }
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        const uint found = neighbours[middle];
        if (found == v)
            return 1;
        if (found < v)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

// The edges from u, which is in list i, to the `len` vertices of an embedding, a bit each; 0 if u doesn't
// extend it. Each set of vertices is made in one order only: u was not in an earlier list, and all
// vertices after the first of its neighbours are smaller (Arabesque's canonical extension).
inline uint extension(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                      __local const uint *tr, uint len, uint i, uint u) {
    if (u <= tr[0])
        return 0;
#ifdef CLIQUES
    if (u <= tr[len - 1])
        return 0;
    for (uint j = 1; j < len; j++)
        if (!is_edge(offsets, neighbours, u, tr[j]))
            return 0;
    return 1;
#else
    for (uint j = i + 1; j < len; j++)
        if (u <= tr[j])
            return 0;
    for (uint j = 0; j < i; j++)
        if (u == tr[j] || is_edge(offsets, neighbours, u, tr[j]))
            return 0;
    uint edges = 1u << i;
    for (uint j = i + 1; j < len; j++)
        edges |= (uint)is_edge(offsets, neighbours, u, tr[j]) << j;
    return edges;
#endif
}

// Lists that extensions of an embedding of `len` vertices come from.
#ifdef CLIQUES
#define LISTS(len) 1u
#else
#define LISTS(len) (len)
#endif

inline void add_count(__global uint *counts, uint code, uint more) {
    // A count is two words.
    const uint old = atomic_add(counts + 2 * code, more);
    if (old + more < old)
        atomic_inc(counts + 2 * code + 1);
}

__kernel __attribute__((reqd_work_group_size(TILE * TILES, 1, 1)))
void wide(__global const uint *restrict offsets, __global const uint *restrict neighbours,
          __global uint *states, __global uint *arrays, volatile __global uint *status,
          __global uint *counts, const uint vertices, const uint entries, const uint limit,
          const uint idle_limit, __global uint *restrict fault
#ifdef DICTIONARY
          , __global const uint *restrict dictionary
#endif
#ifdef PICKED
          , __global const uint *restrict picked, const uint roots
#endif
) {
    __local shared_t shared_[TILES];
#ifdef LOCAL_CODES
    __local uint found[COUNTERS];
#endif
    const uint lane = get_local_id(0) % TILE, tile = get_local_id(0) / TILE;
    const uint warp = get_group_id(0) * TILES + tile;
    __local shared_t *const my = shared_ + tile;
    __global uint *state = states + (size_t)warp * STATE;
    __global uint *own = arrays + (size_t)warp * (K - 2) * ARRAY;
    for (uint i = lane; i < K; i += TILE) {
        my->tr[i] = state[2 + i];
        my->codes[i] = state[2 + K + i];
        my->waiting[i] = state[2 + 2 * K + i];
        my->list[i] = state[2 + 3 * K + i];
        my->entry[i] = state[2 + 4 * K + i];
    }
#ifdef LOCAL_CODES
    for (uint i = get_local_id(0); i < COUNTERS; i += TILE * TILES)
        found[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (lane == 0) {
        my->length = state[0];
        my->base = state[1];
        my->steps = 0;
    }
    for (;;) {
        TILE_SYNC();
        // Control: the next job, or the end of the slice.
        if (lane == 0) {
            my->go = my->steps < limit && status[IDLE] <= idle_limit;
            if (my->go && my->length == 0) {
                const uint at = status[NEXT_ROOT] < ROOTS ? atomic_inc(status + NEXT_ROOT) : ROOTS;
                if (at < ROOTS) {
                    const uint root = ROOT(at);
                    my->length = my->base = 1;
                    my->tr[0] = root;
                    my->codes[1] = my->waiting[1] = my->list[1] = 0;
                    my->entry[1] = offsets[root];
                    my->steps++;
                } else {
                    atomic_inc(status + IDLE);
                    my->go = 0;
                }
            }
        }
        TILE_SYNC();
        if (!my->go)
            break;
        const uint len = my->length;
        if (len == K - 1) {
            // Aggregate: the last vertices are counted where they are found.
            uint lists = 0;
            for (uint i = 0; i < LISTS(len); i++) {
                const uint from = INDEX(my->tr[i], vertices, 41);
                const uint end = offsets[from + 1];
                lists += end - offsets[from];
                for (uint e = offsets[from] + lane; e < end; e += TILE) {
                    const uint u = INDEX(neighbours[INDEX(e, entries, 42)], vertices, 43);
                    const uint edges = extension(offsets, neighbours, my->tr, len, i, u);
                    if (edges != 0) {
#ifdef CLIQUES
                        const uint code = 0;
#else
                        const uint raw = INDEX(my->codes[len] | edges << SHIFT(K - 1), CODES, 44);
#ifdef DICTIONARY
                        const uint code = INDEX(dictionary[raw], COUNTERS, 50);
#else
                        const uint code = raw;
#endif
#endif
#ifdef LOCAL_CODES
                        // A slice is far too short for 2^32 of them.
                        atomic_inc(found + code);
#else
                        add_count(counts, code, 1);
#endif
                    }
                }
            }
            TILE_SYNC();
            if (lane == 0) {
                my->steps += 1 + lists / TILE;
                my->length = len - 1 < my->base ? 0 : len - 1;
            }
            continue;
        }
        // Extend, with the filter: as many extensions as there is room for.
        __global uint *array = own + (len - 1) * ARRAY;
        if (my->waiting[len] == 0 && my->list[len] < LISTS(len)) {
            TILE_SYNC();
            if (lane == 0)
                my->fill = 0;
            TILE_SYNC();
            for (;;) {
                const uint i = my->list[len], e = my->entry[len], room = my->fill + TILE <= ARRAY;
                TILE_SYNC();
                if (i >= LISTS(len) || !room)
                    break;
                const uint end = offsets[INDEX(my->tr[i], vertices, 45) + 1];
                if (e + lane < end) {
                    const uint u = INDEX(neighbours[INDEX(e + lane, entries, 46)], vertices, 47);
                    if (extension(offsets, neighbours, my->tr, len, i, u) != 0) {
                        const uint at = atomic_inc(&my->fill);
                        array[INDEX(at, ARRAY, 48)] = u;
                    }
                }
                TILE_SYNC();
                if (lane == 0) {
                    my->steps++;
                    if (e + TILE < end) {
                        my->entry[len] = e + TILE;
                    } else {
                        my->list[len] = i + 1;
                        my->entry[len] = i + 1 < len ? offsets[my->tr[i + 1]] : 0;
                    }
                }
                TILE_SYNC();
            }
            TILE_SYNC_ALL();
            if (lane == 0)
                my->waiting[len] = my->fill;
            TILE_SYNC();
        }
        // Move: to the last extension, or back.
        if (my->waiting[len] == 0) {
            TILE_SYNC();
            if (lane == 0) {
                my->steps++;
                my->length = len - 1 < my->base ? 0 : len - 1;
            }
            continue;
        }
        TILE_SYNC();
        if (lane == 0) {
            my->popped = INDEX(array[my->waiting[len] - 1], vertices, 49);
            my->waiting[len]--;
            my->edges_of_popped = 0;
            my->steps++;
        }
        TILE_SYNC();
#ifndef CLIQUES
        for (uint j = lane; j < len; j += TILE)
            if (is_edge(offsets, neighbours, my->popped, my->tr[j]))
                atomic_or(&my->edges_of_popped, 1u << j);
        TILE_SYNC();
#endif
        if (lane == 0) {
            my->tr[len] = my->popped;
            my->codes[len + 1] = len == 1 ? 0 : my->codes[len] | my->edges_of_popped << SHIFT(len);
            my->waiting[len + 1] = my->list[len + 1] = 0;
            my->entry[len + 1] = offsets[my->tr[0]];
            my->length = len + 1;
        }
    }
    for (uint i = lane; i < K; i += TILE) {
        state[2 + i] = my->tr[i];
        state[2 + K + i] = my->codes[i];
        state[2 + 2 * K + i] = my->waiting[i];
        state[2 + 3 * K + i] = my->list[i];
        state[2 + 4 * K + i] = my->entry[i];
    }
#ifdef LOCAL_CODES
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < COUNTERS; i += TILE * TILES)
        if (found[i] != 0)
            add_count(counts, i, found[i]);
#endif
    if (lane == 0) {
        state[0] = my->length;
        state[1] = my->base;
        if (my->length != 0)
            atomic_inc(status + ACTIVE);
    }
}

// Extensions of a warp that wait.
inline uint weight_of(__global const uint *state) {
    uint weight = 0;
    for (uint len = state[1]; len <= state[0] && len <= K - 2; len++)
        weight += state[2 + 2 * K + len];
    return state[0] == 0 ? 0 : weight;
}

// Donations (DuMato's Alg. 18): each warp without a job gets up to `donations` extensions of the shortest
// embedding of the warp with the most, which have the largest trees. One work-group does it all.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void donate(__global uint *states, __global uint *arrays, __global uint *weights,
            __global uint *status, const uint warps, const uint donations) {
    __local uint best[LANES], place[LANES];
    const uint lane = get_local_id(0);
    uint given = 0;
    for (uint w = lane; w < warps; w += LANES)
        weights[w] = weight_of(states + (size_t)w * STATE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint poor = 0; poor < warps; poor++) {
        __global uint *to = states + (size_t)poor * STATE;
        const int idle = to[0] == 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!idle)
            continue;
        uint most = 0, at = 0;
        for (uint w = lane; w < warps; w += LANES)
            if (weights[w] > most) {
                most = weights[w];
                at = w;
            }
        best[lane] = most;
        place[lane] = at;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = LANES / 2; step != 0; step /= 2) {
            if (lane < step && best[lane + step] > best[lane]) {
                best[lane] = best[lane + step];
                place[lane] = place[lane + step];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        // A warp keeps its last one.
        if (best[0] < 2)
            break;
        if (lane == 0) {
            const uint rich = place[0];
            __global uint *from = states + (size_t)rich * STATE;
            uint len = from[1];
            while (from[2 + 2 * K + len] == 0)
                len++;
            const uint have = from[2 + 2 * K + len];
            const uint some = min(donations, max(have / 2, 1u));
            __global const uint *source =
                arrays + ((size_t)rich * (K - 2) + len - 1) * ARRAY + have - some;
            __global uint *target = arrays + ((size_t)poor * (K - 2) + len - 1) * ARRAY;
            for (uint i = 0; i < some; i++)
                target[i] = source[i];
            from[2 + 2 * K + len] = have - some;
            to[0] = to[1] = len;
            for (uint i = 0; i < len; i++)
                to[2 + i] = from[2 + i];
            to[2 + K + len] = from[2 + K + len];
            to[2 + 2 * K + len] = some;
            // What its lists still hold is the giver's.
            to[2 + 3 * K + len] = len;
            to[2 + 4 * K + len] = 0;
            weights[rich] -= some;
            weights[poor] = some;
            given++;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    if (lane == 0)
        status[GIVEN] = given;
}

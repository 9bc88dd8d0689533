// The sums that the motifs of five vertices follow from, over arcs (u, v) with t triangles, vertices of degree d
// and pairs of vertices with n common neighbours. The numbers of the sums are defined by the host.
//
// The common neighbours of the ends of each arc are listed first, ascending, and where each of them stands among the
// neighbours of both ends. What is summed over pairs is tallied from one of the two: a group has a counter for each vertex,
// which is 0 between its tasks, or one in local memory for each neighbour of a vertex.

// Work-groups take one task after the other; tasks are sorted by falling work.
#define EACH_TASK(task) (uint task = get_group_id(0); task < count; task += get_num_groups(0))

typedef struct {
    ulong lo, hi;
} wide;

inline void more(wide *sum, ulong lo) {
    sum->lo += lo;
    sum->hi += sum->lo < lo ? 1 : 0;
}

inline void product(wide *sum, ulong a, ulong b) {
    more(sum, a * b);
    sum->hi += mul_hi(a, b);
}

// Adds times · C(n, 2).
inline void pairs_of(wide *sum, ulong n, ulong times) {
    if (n > 1)
        product(sum, n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n, times);
}

// Adds the lanes' parts of some sums to those of the run, from `number` on. A loop, since compilers take long for
// many barriers.
#define PUT(own, number, lanes)                                                                    \
    for (uint i = 0; i < sizeof(own) / sizeof(wide); i++) {                                        \
        low[lane] = own[i].lo;                                                                     \
        high[lane] = own[i].hi;                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint step = (lanes) / 2; step != 0; step /= 2) {                                      \
            if (lane < step) {                                                                     \
                const ulong lo = low[lane] + low[lane + step];                                     \
                high[lane] += high[lane + step] + (lo < low[lane] ? 1 : 0);                        \
                low[lane] = lo;                                                                    \
            }                                                                                      \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }                                                                                          \
        if (lane == 0 && (low[0] != 0 || high[0] != 0))                                            \
            add_wide(sums + 4 * (SLOTS * ((number) + i) + get_group_id(0) % SLOTS), low[0], high[0]); \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    }

// The arc between two neighbours.
inline uint arc_of(__global const uint *restrict starts, __global const uint *restrict targets, uint a, uint b) {
    return lower_bound(targets, starts[min(a, b)], starts[min(a, b) + 1], max(a, b));
}

// Lists the common neighbours of the ends of arcs, and their positions among the neighbours of both if there is room.
__kernel LANES_KERNEL __attribute__((reqd_work_group_size(LANES, 1, 1)))
void five_lists(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                __global const uint *restrict sources, __global const uint *restrict targets,
                __global const uint *restrict edges, __global const uint *restrict places,
                __global const uint *restrict tasks, const uint first, const uint count, const uint vertices,
                const uint entries, const uint words, __global uint *restrict lists,
                __global ushort *restrict at_sources, __global ushort *restrict at_targets, const uint positions,
                __global uint *restrict fault) {
    LANES_ROOM
    const uint lane = get_local_id(0);
    for EACH_TASK(task) {
        const uint arc = tasks[first + task];
        const uint source = INDEX(sources[arc], vertices, 101), target = INDEX(targets[arc], vertices, 102);
        // The shorter row is read, the other one searched.
        const bool turned = offsets[target + 1] - offsets[target] < offsets[source + 1] - offsets[source];
        const uint u = turned ? target : source, v = turned ? source : target;
        const uint from = offsets[v], to = offsets[v + 1], end = offsets[u + 1];
        uint written = places[arc];
        for (uint at = offsets[u]; at < end; at += LANES) {
            bool hit = false;
            uint w = 0, found = 0;
            if (at + lane < end) {
                w = neighbours[INDEX(at + lane, entries, 103)];
                found = lower_bound(neighbours, from, to, w);
                hit = found < to && neighbours[found] == w;
            }
            const uint all = lanes_ballot(hit);
            if (hit) {
                const uint place = INDEX(written + popcount(all & ((1u << lane) - 1)), words, 104);
                const uint at_u = at + lane - offsets[u], at_v = found - from;
                lists[place] = w;
                if (positions != 0) {
                    at_sources[place] = turned ? at_v : at_u;
                    at_targets[place] = turned ? at_u : at_v;
                }
            }
            written += popcount(all);
        }
    }
}

// Sums over triangles, each at its three arcs.
__kernel LANES_KERNEL __attribute__((reqd_work_group_size(LANES, 1, 1)))
void five_arcs(__global const uint *restrict starts, __global const uint *restrict sources,
               __global const uint *restrict targets, __global const uint *restrict degrees,
               __global const uint *restrict edges, __global const uint *restrict places,
               __global const uint *restrict lists, __global const uint *restrict tasks, const uint first,
               const uint count, const uint vertices, const uint arcs, const uint words,
               __global uint *restrict sums, __global uint *restrict fault) {
    __local ulong low[LANES], high[LANES];
    const uint lane = get_local_id(0);
    wide kite = {0, 0}, gem = {0, 0}, meeting = {0, 0};
    for EACH_TASK(task) {
        const uint arc = tasks[first + task];
        const uint u = sources[arc], v = targets[arc], t = edges[arc], own = places[arc];
        for (uint i = lane; i < t; i += LANES) {
            const uint w = INDEX(lists[INDEX(own + i, words, 105)], vertices, 106);
            const uint uw = INDEX(arc_of(starts, targets, u, w), arcs, 107);
            const uint vw = INDEX(arc_of(starts, targets, v, w), arcs, 108);
            const ulong d = degrees[w];
            product(&kite, t - 1, d - 2);
            product(&gem, edges[uw] - 1, edges[vw] - 1);
            // Paths from a vertex above all three that meet at one of them.
            if (w > v)
                more(&meeting, (ulong)(starts[u + 1] - uw - 1) + (starts[v + 1] - vw - 1) +
                                   (starts[w + 1] - starts[w]));
        }
    }
    // In the order of the sums, from KITE on.
    const wide own[] = {kite, gem, meeting};
    PUT(own, KITE, LANES);
}

// Sums over vertices, over arcs at their lower ends, and over pairs of vertices. ROOTS_TILE lanes take a list.
__kernel __attribute__((reqd_work_group_size(ROOTS_GROUP, 1, 1)))
void five_roots(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                __global const uint *restrict tasks, const uint first, const uint count, const uint vertices,
                const uint entries, __global uint *counters, __global uint *restrict sums,
                __global uint *restrict fault) {
    __local ulong low[ROOTS_GROUP], high[ROOTS_GROUP], third[ROOTS_GROUP];
    __global uint *const tally = counters + (ulong)get_group_id(0) * vertices;
    const uint lane = get_local_id(0), tile = lane / ROOTS_TILE, in_tile = lane % ROOTS_TILE;
    // Of the root's own.
    wide fork = {0, 0}, ends_pairs = {0, 0}, same = {0, 0}, tailed = {0, 0}, cricket = {0, 0};
    wide triangle_ends = {0, 0}, tails = {0, 0}, butterfly = {0, 0}, cycles = {0, 0}, banner = {0, 0};
    // Of its arcs, and of pairs with it.
    wide bull = {0, 0}, diamond = {0, 0}, dart = {0, 0}, book = {0, 0}, house = {0, 0};
    wide triples = {0, 0};
    for EACH_TASK(task) {
        const uint x = INDEX(tasks[first + task], vertices, 111);
        const uint begin = offsets[x], end = offsets[x + 1];
        const ulong d = end - begin;
        ulong met = 0;
        for (uint a = begin + tile; a < end; a += ROOTS_GROUP / ROOTS_TILE) {
            const uint u = neighbours[a];
            const uint stop = INDEX(offsets[u + 1], entries + 1, 112);
            for (uint e = offsets[u] + in_tile; e < stop; e += ROOTS_TILE) {
                const uint w = neighbours[e];
                if (w == x)
                    continue;
                const ulong before = atomic_inc(tally + w);
                met += before;
                if (w < x)
                    pairs_of(&triples, before, 1);
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        ulong near = 0, ends = 0;
        for (uint a = begin + tile; a < end; a += ROOTS_GROUP / ROOTS_TILE) {
            const uint u = neighbours[a];
            const ulong t = tally[u];
            const uint from = offsets[u], stop = offsets[u + 1];
            const ulong others = stop - from - 1;
            if (in_tile == 0) {
                near += t;
                ends += others;
                pairs_of(&same, others, 1);
                product(&tails, t, others);
            }
            if (u < x || t == 0)
                continue;
            if (in_tile == 0) {
                product(&bull, t * (d - 2), others - 1);
                if (t > 1) {
                    const ulong pairs = t * (t - 1) / 2;
                    more(&diamond, pairs);
                    product(&dart, pairs, d + others - 5);
                    if (pairs % 3 == 0)
                        product(&book, pairs / 3, t - 2);
                    else
                        product(&book, pairs, (t - 2) / 3);
                }
            }
            // 4-cycles with the arc: other ways from x to the neighbours of u.
            for (uint e = from + in_tile; e < stop; e += ROOTS_TILE) {
                const uint w = neighbours[e];
                if (w != x)
                    product(&house, tally[w] - 1, t);
            }
        }
        low[lane] = near;
        high[lane] = ends;
        third[lane] = met;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint step = ROOTS_GROUP / 2; step != 0; step /= 2) {
            if (lane < step) {
                low[lane] += low[lane + step];
                high[lane] += high[lane + step];
                third[lane] += third[lane + step];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lane == 0) {
            const ulong triangles = low[0] / 2;
            ends = high[0];
            met = third[0];
            pairs_of(&fork, d - 1, ends);
            pairs_of(&ends_pairs, ends, 1);
            product(&tailed, triangles, d - 2);
            pairs_of(&cricket, d - 2, triangles);
            product(&triangle_ends, triangles, ends);
            pairs_of(&butterfly, triangles, 1);
            more(&cycles, met);
            product(&banner, met, d - 2);
        }
        for (uint a = begin + tile; a < end; a += ROOTS_GROUP / ROOTS_TILE) {
            const uint u = neighbours[a];
            for (uint e = offsets[u] + in_tile; e < offsets[u + 1]; e += ROOTS_TILE)
                tally[neighbours[e]] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    // In the order of the sums, from FORK on.
    const wide own[] = {fork, ends_pairs, same, tailed, cricket, triangle_ends, tails, butterfly,
                        cycles, banner, bull, diamond, dart, book, house, triples};
    PUT(own, FORK, ROOTS_GROUP);
}

// Edges among the common neighbours of a vertex x and one below it, for each other common neighbour of the two. A task is x
// and which part of its neighbours (part | parts << 16) takes the first end of an edge.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void five_edges(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                __global const uint *restrict starts, __global const uint *restrict targets,
                __global const uint *restrict edges, __global const uint *restrict places,
                __global const uint *restrict lists, __global const ushort *restrict at_sources,
                __global const ushort *restrict at_targets, __global const uint2 *restrict tasks,
                const uint first, const uint count, const uint vertices, const uint entries, const uint arcs,
                const uint words, const uint positions, __global uint *counters, __global uint *restrict sums,
                __global uint *restrict fault) {
    __local ulong low[GROUP], high[GROUP];
    __global uint *const tally = counters + (ulong)get_group_id(0) * vertices;
    const uint lane = get_local_id(0), tile = lane / TILE, in_tile = lane % TILE;
    wide on_edges = {0, 0};
    for EACH_TASK(task) {
        const uint x = INDEX(tasks[first + task].x, vertices, 113), share = tasks[first + task].y;
        const uint part = share & 0xffff, parts = share >> 16;
        const uint begin = offsets[x], end = offsets[x + 1];
        for (uint clear = 0; clear < 2; clear++) {
            for (uint a = begin + tile; a < end; a += GROUP / TILE) {
                const uint u = neighbours[a];
                const uint stop = INDEX(offsets[u + 1], entries + 1, 114);
                for (uint e = offsets[u] + in_tile; e < stop; e += TILE) {
                    const uint w = neighbours[e];
                    if (w >= x)
                        break;
                    if (clear != 0)
                        tally[w] = 0;
                    else
                        atomic_inc(tally + w);
                }
            }
            barrier(CLK_GLOBAL_MEM_FENCE);
            if (clear != 0)
                break;
            ulong own = 0;
            for (uint a = begin + part * (GROUP / TILE) + tile; a < end; a += parts * (GROUP / TILE)) {
                const uint u = neighbours[a];
                const uint xu = INDEX(arc_of(starts, targets, x, u), arcs, 115);
                // The arcs from u begin behind its neighbours below. Positions are 16-bit: of more neighbours, the arc is searched.
                const uint degree = offsets[u + 1] - offsets[u], below = degree - (starts[u + 1] - starts[u]);
                __global const ushort *const at_u = u < x ? at_sources : at_targets;
                for (uint i = places[xu]; i < places[xu] + edges[xu]; i++) {
                    const uint v = INDEX(lists[INDEX(i, words, 116)], vertices, 117);
                    if (v < u)
                        continue;
                    const uint uv = INDEX(degree <= positions ? starts[u] + at_u[i] - below
                                                              : arc_of(starts, targets, u, v), arcs, 118);
                    const uint stop = places[uv] + edges[uv];
                    for (uint e = places[uv] + in_tile; e < stop; e += TILE) {
                        const uint y = lists[INDEX(e, words, 119)];
                        if (y >= x)
                            break;
                        own += tally[y] - 2;
                    }
                }
            }
            more(&on_edges, own);
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
    }
    const wide own[] = {on_edges};
    PUT(own, ON_EDGES, GROUP);
}

// 4-cycles among the neighbours of a vertex v, by pairs of opposite corners: from one of them, a, over the
// common neighbours b of v and a, the common neighbours c of v and b below a. Where c is a neighbour of a, its counter has the
// 4-cliques with the triangle v, a, c, which comes at each of its corners v. A task is an arc, twice: each of its ends is v
// once. Of those whose v has `least` to `most` neighbours.
#define EACH_WHEEL                                                                                  \
    for (uint task = get_group_id(0); task < 2 * count; task += get_num_groups(0)) {                \
        const uint arc = tasks[first + task / 2], t = edges[arc];                                   \
        const bool turned = task % 2 != 0;                                                          \
        const uint v = INDEX(turned ? targets[arc] : sources[arc], vertices, 121);                  \
        const uint a = INDEX(turned ? sources[arc] : targets[arc], vertices, 122);                  \
        const uint degree = offsets[v + 1] - offsets[v];                                            \
        if (t < 2 || degree < least || degree > most)                                               \
            continue;

#define WHEEL_SUMS                                                                                  \
    wide cliques = {0, 0}, tail = {0, 0}, roof = {0, 0}, nearly = {0, 0}, wheel_pairs = {0, 0}

// A triangle with q 4-cliques, whose arc from v to c is `vc`.
#define PUT_TRIANGLE(q, vc)                                                                         \
    if ((q) != 0) {                                                                                 \
        more(&cliques, q);                                                                          \
        product(&tail, q, degree - 3);                                                              \
        product(&roof, q, t + edges[INDEX(vc, arcs, 120)] - 4);                                     \
        pairs_of(&nearly, q, 1);                                                                    \
    }

// In the order of the sums, from CLIQUES on.
#define PUT_WHEELS(lanes)                                                                           \
    const wide own[] = {cliques, tail, roof, nearly, wheel_pairs};                                  \
    PUT(own, CLIQUES, lanes)

__kernel LANES_KERNEL __attribute__((reqd_work_group_size(LANES, 1, 1)))
void five_wheels(__global const uint *restrict offsets, __global const uint *restrict starts,
                 __global const uint *restrict sources, __global const uint *restrict targets,
                 __global const uint *restrict edges, __global const uint *restrict places,
                 __global const uint *restrict lists, __global const uint *restrict tasks, const uint first,
                 const uint count, const uint vertices, const uint arcs, const uint words, const uint least,
                 const uint most, __global uint *counters, __global uint *restrict sums,
                 __global uint *restrict fault) {
    __local ulong low[LANES], high[LANES];
    __global uint *const tally = counters + (ulong)get_group_id(0) * vertices;
    const uint lane = get_local_id(0), tile = lane / TILE, in_tile = lane % TILE;
    WHEEL_SUMS;
    EACH_WHEEL
        for (uint clear = 0; clear < 2; clear++) {
            for (uint i = places[arc] + tile; i < places[arc] + t; i += LANES / TILE) {
                const uint vb = INDEX(arc_of(starts, targets, v, lists[INDEX(i, words, 123)]), arcs, 124);
                const uint end = places[vb] + edges[vb];
                for (uint e = places[vb] + in_tile; e < end; e += TILE) {
                    const uint c = INDEX(lists[INDEX(e, words, 125)], vertices, 126);
                    if (c >= a)
                        break;
                    if (clear != 0)
                        tally[c] = 0;
                    else
                        more(&wheel_pairs, atomic_inc(tally + c));
                }
            }
            barrier(CLK_GLOBAL_MEM_FENCE);
            if (clear != 0)
                break;
            for (uint i = places[arc] + lane; i < places[arc] + t && lists[i] < a; i += LANES) {
                const uint c = lists[i];
                const ulong q = tally[c];
                PUT_TRIANGLE(q, arc_of(starts, targets, v, c))
            }
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
    }
    PUT_WHEELS(LANES);
}

// 5-cycles at their highest vertex a: pairs of paths a – b – c and a – e – d for an edge (c, d), all below a, less those
// with b = d or e = c. With p the paths to a vertex and n whether it is next to a, these are (p_c − n_d)(p_d − n_c).
// Those with b = e are the sum MEETING.
#define NEAR 0x80000000u
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void five_cycles(__global const uint *restrict offsets, __global const uint *restrict neighbours,
                 __global const uint *restrict tasks, const uint first, const uint count, const uint vertices,
                 const uint entries, __global uint *counters, __global uint *restrict sums,
                 __global uint *restrict fault) {
    __local ulong low[GROUP], high[GROUP];
    __local uint found;
    __global uint *const tally = counters + (ulong)get_group_id(0) * 2 * vertices;
    __global uint *const list = tally + vertices;
    const uint lane = get_local_id(0), tile = lane / TILE, in_tile = lane % TILE;
    wide pairs = {0, 0};
    for EACH_TASK(task) {
        const uint a = INDEX(tasks[first + task], vertices, 131);
        const uint begin = offsets[a], end = lower_bound(neighbours, begin, offsets[a + 1], a);
        for (uint i = begin + lane; i < end; i += GROUP)
            tally[neighbours[i]] = NEAR;
        if (lane == 0)
            found = 0;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint i = begin + tile; i < end; i += GROUP / TILE) {
            const uint b = neighbours[i];
            const uint stop = INDEX(offsets[b + 1], entries + 1, 132);
            for (uint e = offsets[b] + in_tile; e < stop; e += TILE) {
                const uint c = neighbours[e];
                if (c >= a)
                    break;
                if ((atomic_inc(tally + c) & ~NEAR) == 0)
                    list[INDEX(atomic_inc(&found), vertices, 133)] = c;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        const uint all = found;
        for (uint i = tile; i < all; i += GROUP / TILE) {
            const uint c = list[i];
            const ulong to_c = tally[c] & ~NEAR, near_c = tally[c] / NEAR;
            const uint stop = offsets[c + 1];
            for (uint e = offsets[c] + in_tile; e < stop; e += TILE) {
                const uint d = neighbours[e];
                if (d >= c)
                    break;
                const ulong to_d = tally[d] & ~NEAR, near_d = tally[d] / NEAR;
                product(&pairs, to_c - near_d, to_d - near_c);
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (uint i = lane; i < all; i += GROUP)
            tally[list[i]] = 0;
        for (uint i = begin + lane; i < end; i += GROUP)
            tally[neighbours[i]] = 0;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    const wide own[] = {pairs};
    PUT(own, CYCLE_PAIRS, GROUP);
}

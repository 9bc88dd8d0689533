// Cliques by the bitmaps of oriented neighbourhoods; one class of roots.
//
// The host sets K, W (words of a row), T (lanes that share a root), R (roots of a work-group),
// TILE (lanes that read one list together), HASH (size of the table, a power of two) and RESIDUES (`residues.clh`), and with
//   EDGES     the triangles of each arc are counted as well,
//   PER_TASK  the sum of each task is written, and no total,
//   NEST      the loops below a pair, and SETS, the words s0_0, s0_1, ... of the pair's set, or
//   TRIPLES   (for K of 6) lanes take triples instead of pairs. BLOCK lanes share theirs, and wait for each
//             other with BLOCK_SYNC; there is one root to a work-group.
//
// Arcs lead from the lower to the higher rank. A root with n targets gives a graph of n vertices: row
// j has a bit for each i < j that has an arc to j. A clique of K with this root is a clique of K − 1
// there. The arcs of the targets are looked up in a table of the targets (`targets.clh`), those whose residue a target has.

#define STRIDE (W | 1)

#if K > 4
// The pair (j, i) of a number: a row, and a member of it. `before` has the numbers of pairs before each row.
inline uint2 pair_of(const __local uint *before, const __local uint *rows, uint n, uint number) {
    uint low = 0, high = n;
    while (high - low > 1) {
        const uint middle = (low + high) / 2;
        if (before[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    uint rank = number - before[low], word = 0;
    const __local uint *const row = rows + low * STRIDE;
    for (; word < W - 1; word++) {
        const uint here = popcount(row[word]);
        if (rank < here)
            break;
        rank -= here;
    }
    return (uint2)(low, 32 * word + select_bit(row[word], rank));
}
#endif

__kernel __attribute__((reqd_work_group_size(T * R, 1, 1)))
void local_cliques(__global const uint *restrict offsets, __global const uint *restrict targets,
          __global const uint2 *restrict tasks, const uint first, const uint count,
          const uint vertices, const uint arcs, __global uint *restrict sums,
          __global uint *restrict edges, __global uint *restrict fault) {
    __local uint table_[R][HASH];
    __local uint residues_[R][RESIDUES / 32];
    __local uint ids_[R][32 * W];
    __local ulong totals[T * R];
#if K > 3
    __local uint rows_[R][32 * W * STRIDE];
#endif
#if K > 4
    __local uint before_[R][32 * W + 1];
#endif
#ifdef EDGES
    __local uint degrees_[R][32 * W];
#endif
#if K > 4
    // For all lanes alike, since they wait for each other.
    __local uint ended;
    if (get_local_id(0) == 0)
        ended = stopped(fault);
#endif

    const uint lane = get_local_id(0) % T;
    const uint place = get_local_id(0) / T;
    const uint number = get_group_id(0) * R + place;
    const bool busy = number < count;
    __local uint *const table = table_[place];
    __local uint *const residues = residues_[place];
    __local uint *const ids = ids_[place];

    uint root = 0, part = 0, parts = 1, begin = 0, n = 0;
    if (busy) {
        const uint2 task = tasks[first + number];
        root = INDEX(task.x, vertices, 1);
        part = task.y & 0xffff;
        parts = task.y >> 16;
        begin = offsets[root];
        n = INDEX(offsets[root + 1] - begin, 32 * W + 1, 2);
    }
    for (uint i = lane; i < HASH; i += T)
        table[i] = 0;
    for (uint i = lane; i < RESIDUES / 32; i += T)
        residues[i] = 0;
#if K > 3
    __local uint *const rows = rows_[place];
    for (uint i = lane; i < n * STRIDE; i += T)
        rows[i] = 0;
#endif
    for (uint i = lane; i < n; i += T) {
        ids[i] = targets[INDEX(begin + i, arcs, 3)];
#ifdef EDGES
        degrees_[place][i] = 0;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < n; i += T) {
        put_target(table, ids[i], i);
        put_residue(residues, ids[i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if K > 4
    if (ended)
        n = 0;
#endif

    ulong total = 0;
    // The last target leads to no other one.
    const uint last = n == 0 ? 0 : ids[n - 1];
    for (uint i = lane / TILE; i + 1 < n; i += T / TILE) {
        const uint source = INDEX(ids[i], vertices, 4);
        const uint end = INDEX(offsets[source + 1], arcs + 1, 5);
        // The next number is on its way while this one is looked up.
        uint next_e = offsets[source] + lane % TILE;
        uint next = next_e < end ? targets[next_e] : NO_TARGET;
        while (next <= last) {
            const uint e = next_e, id = next;
            next_e += TILE;
            next = next_e < end ? targets[next_e] : NO_TARGET;
            if (has_residue(residues, id) == 0)
                continue;
            const uint j = find_target(table, ids, id);
            if (j == NO_TARGET)
                continue;
#if K == 3
            total += 1;
#else
            atomic_or(rows + INDEX(j * STRIDE + i / 32, n * STRIDE, 6), 1u << (i % 32));
#endif
#ifdef EDGES
            atomic_inc(degrees_[place] + i);
            atomic_inc(degrees_[place] + j);
            atomic_inc(edges + e);
#endif
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef EDGES
    for (uint i = lane; i < n; i += T)
        if (degrees_[place][i] != 0)
            atomic_add(edges + begin + i, degrees_[place][i]);
#endif

#if K == 4
    // A lane takes a word of a row.
    for (uint item = lane + T * part; item < n * W; item += T * parts) {
        const uint j = item / W, word = item % W;
        const __local uint *const row = rows + j * STRIDE;
        uint found = 0;
        for (uint bits = row[word]; bits != 0; bits &= bits - 1) {
            const uint i = 32 * word + top_bit(bits & -bits);
            const __local uint *const other = rows + i * STRIDE;
#pragma unroll
            for (uint x = 0; x < W; x++)
                if (x <= word)
                    found += popcount(row[x] & other[x]);
        }
        total += found;
    }
#endif

#if K > 4
    // A lane takes a pair (i, j): the one of its number, found by the numbers of pairs before a row.
    __local uint *const before = before_[place];
    // The table has served.
    __local uint *const scan = table;
    const uint chunk = (n + T - 1) / T;
    uint own = 0;
    for (uint j = lane * chunk; j < min(n, (lane + 1) * chunk); j++)
        for (uint x = 0; x < W; x++)
            own += popcount(rows[j * STRIDE + x]);
    scan[lane] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < T; step *= 2) {
        const uint more = lane >= step ? scan[lane - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        scan[lane] += more;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint sum = scan[lane] - own;
    for (uint j = lane * chunk; j < min(n, (lane + 1) * chunk); j++) {
        before[j] = sum;
        for (uint x = 0; x < W; x++)
            sum += popcount(rows[j * STRIDE + x]);
    }
    const uint pairs = scan[T - 1];
    barrier(CLK_LOCAL_MEM_FENCE);

    uint p = lane + T * part;
    const uint step = T * parts;

#ifdef TRIPLES
    // Pairs differ much in what lies below them, and lanes that have little wait for the others. So BLOCK lanes find
    // the sizes of as many pairs, and then share out the members of all their sets, one at a time.
    __local uint ends_[T], pairs_[T];
    const uint in = lane % BLOCK;
    __local uint *const ends = ends_ + (lane - in);
    __local uint *const pair = pairs_ + (lane - in);
    for (p -= in; p < pairs; p += step) {
        uint size = 0;
        if (p + in < pairs) {
            const uint2 ends_of = pair_of(before, rows, n, p + in);
            const __local uint *const row = rows + ends_of.x * STRIDE;
            const __local uint *const other = rows + INDEX(ends_of.y * STRIDE, n * STRIDE, 9);
#pragma unroll
            for (uint x = 0; x < W; x++)
                size += popcount(row[x] & other[x]);
            pair[in] = ends_of.x << 16 | ends_of.y;
        }
        // Below a member there must be two more: the two lowest ones have none.
        ends[in] = size < 3 || STOPPED_OFTEN ? 0 : size - 2;
        BLOCK_SYNC
        for (uint by = 1; by < BLOCK; by *= 2) {
            const uint more = in >= by ? ends[in - by] : 0;
            BLOCK_SYNC
            ends[in] += more;
            BLOCK_SYNC
        }
        const uint all = ends[BLOCK - 1];
        for (uint q = in; q < all; q += BLOCK) {
            uint at = 0;
#pragma unroll
            for (uint by = BLOCK / 2; by != 0; by /= 2)
                if (ends[at + by - 1] <= q)
                    at += by;
            uint rank = q + 2 - (at == 0 ? 0 : ends[at - 1]), member = 0;
            const __local uint *const row = rows + (pair[at] >> 16) * STRIDE;
            const __local uint *const other = rows + (pair[at] & 0xffff) * STRIDE;
            uint set[W], chosen = 0;
            bool passed = false;
#pragma unroll
            for (uint x = 0; x < W; x++) {
                set[x] = row[x] & other[x];
                const uint here = popcount(set[x]);
                if (!passed && rank < here) {
                    passed = true;
                    chosen = set[x];
                    member = 32 * x;
                }
                if (!passed)
                    rank -= here;
            }
            member += select_bit(chosen, rank);
            const __local uint *const by = rows + INDEX(member * STRIDE, n * STRIDE, 10);
            uint size = 0;
#pragma unroll
            for (uint x = 0; x < W; x++) {
                set[x] &= by[x];
                size += popcount(set[x]);
            }
            if (size < 2)
                continue;
            uint found = 0;
#pragma unroll
            for (uint x = 0; x < W; x++)
                for (uint bits = set[x]; bits != 0; bits &= bits - 1) {
                    const uint last = 32 * x + top_bit(bits & -bits);
                    const __local uint *const less = rows + INDEX(last * STRIDE, n * STRIDE, 11);
#pragma unroll
                    for (uint y = 0; y < W; y++)
                        if (y <= x)
                            found += popcount(set[y] & less[y]);
                }
            total += found;
        }
        BLOCK_SYNC
    }
#elif defined(NEST)
    // The loops that the host wrote out.
    for (; p < pairs && !STOPPED_OFTEN; p += step) {
        const uint2 ends = pair_of(before, rows, n, p);
        const __local uint *const row = rows + ends.x * STRIDE;
        const __local uint *const other = rows + INDEX(ends.y * STRIDE, n * STRIDE, 7);
        uint found = 0;
        SETS
        NEST
    }
#else
// Sets are W words in registers. A lane's loops over the sets of all levels are one loop: what is
// empty is filled again from the level above, so that lanes with small sets don't wait for others.
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
// Its own, since a macro isn't expanded inside itself.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define EMPTY(set) PASTE(is_empty_, set)
#define DECLARE(set)                                                                               \
    uint set[W];                                                                                   \
    bool EMPTY(set) = true;                                                                        \
    for (uint x = 0; x < W; x++)                                                                   \
        set[x] = 0;
// Takes the highest member out of `set`: `member`.
#define POP(set, member)                                                                           \
    uint member = 0;                                                                               \
    {                                                                                              \
        bool taken = false;                                                                        \
        uint left = 0;                                                                             \
        _Pragma("unroll") for (int x = W - 1; x >= 0; x--) {                                       \
            if (!taken && set[x] != 0) {                                                           \
                const uint bit = top_bit(set[x]);                                                  \
                member = 32 * x + bit;                                                             \
                set[x] ^= 1u << bit;                                                               \
                taken = true;                                                                      \
            }                                                                                      \
            left |= set[x];                                                                        \
        }                                                                                          \
        EMPTY(set) = left == 0;                                                                    \
    }
// `inner` = the members of `outer` that row `member` has; left empty if fewer than needed.
#define NARROW(inner, outer, member, needed)                                                       \
    {                                                                                              \
        uint size = 0;                                                                             \
        const __local uint *const by = rows + INDEX((member) * STRIDE, n * STRIDE, 7);             \
        _Pragma("unroll") for (int x = 0; x < W; x++) {                                            \
            inner[x] = outer[x] & by[x];                                                           \
            size += popcount(inner[x]);                                                            \
        }                                                                                          \
        EMPTY(inner) = size < (needed);                                                            \
    }
#define REFILL0                                                                                    \
    while (EMPTY(s0) && p < pairs) {                                                               \
        const uint2 ends = pair_of(before, rows, n, p);                                            \
        const __local uint *const row = rows + ends.x * STRIDE;                                    \
        p += step;                                                                                 \
        NARROW(s0, row, ends.y, K - 3)                                                             \
    }
#define REFILL(inner, outer, needed, refill)                                                       \
    while (EMPTY(inner)) {                                                                         \
        refill if (EMPTY(outer)) break;                                                            \
        POP(outer, member)                                                                         \
        NARROW(inner, outer, member, needed)                                                       \
    }
#define REFILL1 REFILL(s1, s0, K - 4, REFILL0)
#define REFILL2 REFILL(s2, s1, K - 5, REFILL1)
#define REFILL3 REFILL(s3, s2, K - 6, REFILL2)
#define REFILL4 REFILL(s4, s3, K - 7, REFILL3)
#define REFILL5 REFILL(s5, s4, K - 8, REFILL4)
#define REFILL6 REFILL(s6, s5, K - 9, REFILL5)
#define REFILL7 REFILL(s7, s6, K - 10, REFILL6)
#define REFILL8 REFILL(s8, s7, K - 11, REFILL7)
#define REFILL9 REFILL(s9, s8, K - 12, REFILL8)
#define REFILL10 REFILL(s10, s9, K - 13, REFILL9)
#define REFILL11 REFILL(s11, s10, K - 14, REFILL10)

    DECLARE(s0)
#if LAST >= 1
    DECLARE(s1)
#endif
#if LAST >= 2
    DECLARE(s2)
#endif
#if LAST >= 3
    DECLARE(s3)
#endif
#if LAST >= 4
    DECLARE(s4)
#endif
#if LAST >= 5
    DECLARE(s5)
#endif
#if LAST >= 6
    DECLARE(s6)
#endif
#if LAST >= 7
    DECLARE(s7)
#endif
#if LAST >= 8
    DECLARE(s8)
#endif
#if LAST >= 9
    DECLARE(s9)
#endif
#if LAST >= 10
    DECLARE(s10)
#endif
#if LAST >= 11
    DECLARE(s11)
#endif
#define INNER JOIN(s, LAST)
    for (;;) {
        JOIN(REFILL, LAST)
        if (EMPTY(INNER) || STOPPED_OFTEN)
            break;
        POP(INNER, member)
        const __local uint *const row = rows + INDEX(member * STRIDE, n * STRIDE, 8);
        uint found = 0;
#pragma unroll
        for (uint x = 0; x < W; x++)
            found += popcount(INNER[x] & row[x]);
        total += found;
    }
#undef INNER
#endif
#endif

    totals[get_local_id(0)] = total;
    ADD_LANES(totals, lane, T)
#ifdef PER_TASK
    if (lane == 0 && busy)
        edges[first + number] = (uint)min(totals[place * T], (ulong)0xffffffff);
#else
    ADD_ROOTS(totals, T, R, sums)
#endif
}

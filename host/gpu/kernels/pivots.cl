// Cliques of K by pivots (Jain and Seshadhri, "The power of pivoting for exact clique counting", WSDM 2020),
// on the bitmaps of `local.cl`; one class of roots.
//
// The host sets K, W (words of a row), T (lanes of a work-group), HASH and HASH_BITS (the table's size), and the
// words of a level (the candidates that are left, the branches that wait, and held | pivots << 16), of a stack of
// levels, and of a work-group's state (whether it is on its way, its task, its depth, the branch of its first level).
//
// A state is a set of candidates, the vertices that are held, and the pivots, of which each may be taken or
// left. With the pivot u of a set, cliques are those with u or among u's neighbours, and for each other
// vertex v in turn those with v among what is left. Once the set is complete or empty a state stands for
// C(pivots, K − held) cliques at once. So the number of states follows the graph's structure, not its cliques.
//
// Parts of a root all walk over the states of its first level, and share the branches of the second.
//
// A work-group walks over the states of a task. What waits on its way lies in global memory: with its share
// of steps done it writes down where it is, and the next launch goes on there.

#define STRIDE (W | 1)
#define CONTROL_NEXT 0
#define CONTROL_CUT 1
// Vertices of a root's graph that a clique has.
#define SOUGHT (K - 1)
// The branches of two levels, numbered so that parts get some of each.
#define BRANCH(first, second) ((first) * 37 + (second))
#define SYNC barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

__kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void local_pivots(__global const uint *restrict offsets, __global const uint *restrict targets,
                  __global const uint2 *restrict tasks, const uint count, const uint vertices,
                  const uint arcs, __global const ulong2 *restrict binomials,
                  volatile __global uint *control, __global uint *states, __global uint *stacks,
                  const uint budget, __global uint *restrict sums, __global uint *restrict fault) {
    __local uint table[HASH], ids[32 * W], rows[32 * W * STRIDE];
    __local uint set[W], waiting[W];
    __local uint shared[2];

    const uint lane = get_local_id(0);
    __global uint *const state = states + get_group_id(0) * STATE_WORDS;
    __global uint *const stack = stacks + (ulong)get_group_id(0) * STACK_WORDS;
    bool active = state[0] != 0, cut = false;
    uint number = state[1], depth = state[2], first = state[3], work = 0;
    ulong low = 0, high = 0;

    while (!cut) {
        if (!active) {
            if (work >= budget)
                break;
            if (lane == 0)
                shared[0] = atomic_inc(control + CONTROL_NEXT);
            SYNC;
            number = shared[0];
            SYNC;
            if (number >= count)
                break;
            depth = 0;
        }
        const uint2 task = tasks[INDEX(number, count, 81)];
        const uint root = INDEX(task.x, vertices, 82), part = task.y & 0xffff, parts = task.y >> 16;
        const uint begin = offsets[root], n = INDEX(offsets[root + 1] - begin, 32 * W + 1, 83);

        // The graph of the root's targets, both ways.
        for (uint i = lane; i < HASH; i += T)
            table[i] = 0;
        for (uint i = lane; i < n * STRIDE; i += T)
            rows[i] = 0;
        for (uint i = lane; i < n; i += T)
            ids[i] = targets[INDEX(begin + i, arcs, 84)];
        SYNC;
        for (uint i = lane; i < n; i += T)
            put_target(table, ids[i], i);
        SYNC;
        const uint last = n == 0 ? 0 : ids[n - 1];
        for (uint i = 0; i + 1 < n; i++) {
            const uint source = INDEX(ids[i], vertices, 85);
            const uint end = INDEX(offsets[source + 1], arcs + 1, 86);
            for (uint e = offsets[source] + lane; e < end; e += T) {
                const uint id = targets[e];
                if (id > last)
                    break;
                const uint j = find_target(table, ids, id);
                if (j == NO_TARGET)
                    continue;
                atomic_or(rows + INDEX(j * STRIDE + i / 32, n * STRIDE, 87), 1u << i % 32);
                atomic_or(rows + INDEX(i * STRIDE + j / 32, n * STRIDE, 88), 1u << j % 32);
            }
        }
        // A group that goes on makes at least a step in each launch.
        if (!active)
            work += n;

        // At first all targets are candidates.
        bool enter = !active;
        uint held = 0, pivots = 0;
        if (enter)
            for (uint x = lane; x < W; x += T)
                set[x] = n >= 32 * x + 32 ? 0xffffffff : n > 32 * x ? (1u << n % 32) - 1 : 0;
        active = false;
        SYNC;
        for (;;) {
            if (enter) {
                enter = false;
                const bool mine = depth > 1 || (depth == 0 ? 0 : first) % parts == part;
                uint size = 0;
                for (uint x = 0; x < W; x++)
                    size += popcount(set[x]);
                work += 1;
                const uint need = SOUGHT - held;
                if (held + pivots + size < SOUGHT)
                    continue;
                if (need == 0 || size == 0) {
                    if (!mine)
                        continue;
                    const ulong2 ways = binomials[INDEX(pivots * K + need, (32 * W + 1) * K, 89)];
                    low += ways.x;
                    high += ways.y + (low < ways.x ? 1 : 0);
                    continue;
                }
                if (need == 1) {
                    if (!mine)
                        continue;
                    low += pivots + size;
                    high += low < pivots + size ? 1 : 0;
                    continue;
                }
                // The candidate with most neighbours among them, and how many all have together.
                if (lane == 0)
                    shared[0] = shared[1] = 0;
                SYNC;
                uint best = 0, ends = 0;
                for (uint v = lane; v < n; v += T)
                    if ((set[v / 32] >> v % 32 & 1) != 0) {
                        const __local uint *const row = rows + v * STRIDE;
                        uint near = 0;
                        for (uint x = 0; x < W; x++)
                            near += popcount(set[x] & row[x]);
                        best = max(best, near << 16 | v);
                        ends += near;
                    }
                atomic_max(shared + 1, best);
                atomic_add(shared, ends);
                SYNC;
                const uint pivot = shared[1] & 0xffff, near = shared[1] >> 16;
                if (shared[0] == size * (size - 1)) {
                    // A complete set.
                    if (!mine)
                        continue;
                    const uint all = pivots + size;
                    const ulong2 ways = binomials[INDEX(all * K + need, (32 * W + 1) * K, 90)];
                    low += ways.x;
                    high += ways.y + (low < ways.x ? 1 : 0);
                    continue;
                }
                if (near + 1 == size) {
                    // Nothing waits beside such a pivot.
                    SYNC;
                    if (lane == 0)
                        set[pivot / 32] ^= 1u << pivot % 32;
                    SYNC;
                    pivots += 1;
                    enter = true;
                    continue;
                }
                __global uint *const level = stack + INDEX(depth, 32 * W, 91) * LEVEL_WORDS;
                const __local uint *const row = rows + INDEX(pivot, n, 92) * STRIDE;
                SYNC;
                for (uint x = lane; x < W; x += T) {
                    const uint all = set[x], own = x == pivot / 32 ? 1u << pivot % 32 : 0;
                    level[x] = all & ~own;
                    level[W + x] = all & ~own & ~row[x];
                    set[x] = all & row[x];
                }
                if (lane == 0)
                    level[2 * W] = held | pivots << 16;
                SYNC;
                depth += 1;
                pivots += 1;
                if (depth == 1)
                    first = 0;
                enter = depth != 2 || BRANCH(first, 0) % parts == part;
                continue;
            }
            if (depth == 0)
                break;
            if (work >= budget) {
                cut = true;
                break;
            }
            work += 1;
            __global uint *const level = stack + INDEX(depth - 1, 32 * W, 93) * LEVEL_WORDS;
            for (uint x = lane; x < W; x += T)
                waiting[x] = level[W + x];
            SYNC;
            uint word = W, rest = 0;
            for (uint x = W; x-- > 0;) {
                rest += popcount(waiting[x]);
                if (waiting[x] != 0)
                    word = x;
            }
            if (word == W) {
                depth -= 1;
                SYNC;
                continue;
            }
            const uint bit = waiting[word] & -waiting[word];
            const __local uint *const row = rows + INDEX(32 * word + top_bit(bit), n, 94) * STRIDE;
            held = (level[2 * W] & 0xffff) + 1;
            pivots = level[2 * W] >> 16;
            for (uint x = lane; x < W; x += T) {
                const uint own = x == word ? bit : 0, all = level[x] & ~own;
                level[x] = all;
                level[W + x] = waiting[x] & ~own;
                set[x] = all & row[x];
            }
            SYNC;
            if (depth == 1)
                first = rest;
            enter = depth != 2 || BRANCH(first, rest) % parts == part;
        }
        SYNC;
    }
    SYNC;
    if (lane == 0) {
        state[0] = cut ? 1 : 0;
        state[1] = number;
        state[2] = depth;
        state[3] = first;
        if (cut)
            atomic_inc(control + CONTROL_CUT);
        if (low != 0 || high != 0)
            add_wide(sums + 4 * (get_group_id(0) % SLOTS), low, high);
    }
}

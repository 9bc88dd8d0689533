// Cliques of K by pivots (Jain and Seshadhri, "The power of pivoting for exact clique counting", WSDM 2020),
// on the bitmaps of `local.cl`; one class of roots.
//
// The host sets K, W (words of a row), LANES (lanes that walk together), WALKERS (of them in a work-group), HASH
// and HASH_BITS (the table's size), and the words of a level (the candidates that are left, the branches that wait,
// and held | pivots << 16), of a stack of levels, of a work-group's state (whether it is on its way, its task, the
// next branch that it deals out), and of a walker's (depth, branches of the first and second level, its turn).
//
// A state is a set of candidates, the vertices that are held, and the pivots, of which each may be taken or
// left. With the pivot u of a set, cliques are those with u or among u's neighbours, and for each other
// vertex v in turn those with v among what is left. Once the set is complete or empty a state stands for
// C(pivots, K − held) cliques at once. So the number of states follows the graph's structure, not its cliques.
//
// A work-group makes the rows of a root in local memory, and its walkers share the branches: those that hold one
// vertex are dealt out in turn, so that none waits long for another. What leads to them, the chain of states that
// hold nothing, each walks by itself. Parts of a root share those that hold two.
//
// All lanes of a walker have its set, word by word; each looks at candidates of its own for the pivot. What waits
// on its way lies in global memory: with its share of steps done it writes down where it is, and the next launch
// goes on there.

#define STRIDE (W | 1)
#define CONTROL_NEXT 0
#define CONTROL_CUT 1
#define T (LANES * WALKERS)
// Vertices of a root's graph that a clique has.
#define SOUGHT (K - 1)
// The branches of two levels, numbered so that parts get some of each.
#define BRANCH(first, second) ((first) * 37 + (second))
#define SYNC barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
// Words of sets lie in registers, which have no index; a lane alone has a cache, and its compiler is slow.
#if LANES == 1
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif
#define NO_TURN 0xffffffffu
// Adds C(of, need) to the walker's sum.
#define COUNT(of, code)                                                                              \
    {                                                                                                \
        const ulong2 ways = binomials[INDEX((of) * K + need, (32 * W + 1) * K, code)];               \
        low += ways.x;                                                                               \
        high += ways.y + (low < ways.x ? 1 : 0);                                                     \
    }

__kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void local_pivots(__global const uint *restrict offsets, __global const uint *restrict targets,
                  __global const uint2 *restrict tasks, const uint count, const uint vertices,
                  const uint arcs, __global const ulong2 *restrict binomials,
                  volatile __global uint *control, __global uint *states, __global uint *stacks,
                  const uint budget, __global uint *restrict sums, __global uint *restrict fault) {
    __local uint table[HASH], ids[32 * W], rows[32 * W * STRIDE];
    // The task's number, the next branch, the most steps of a walker, and whether one was cut.
    __local uint shared[4];
    LANES_ROOM

    const uint place = get_local_id(0), lane = place % LANES;
    __global uint *const state = states + get_group_id(0) * STATE_WORDS;
    const uint walker = get_group_id(0) * WALKERS + place / LANES;
    __global uint *const own = states + get_num_groups(0) * STATE_WORDS + walker * WALKER_WORDS;
    __global uint *const stack = stacks + (ulong)walker * STACK_WORDS;
    bool active = state[0] != 0, cut = false;
    uint number = state[1], work = 0;
    ulong low = 0, high = 0;

    while (!cut) {
        if (!active) {
            if (work >= budget)
                break;
            if (place == 0)
                shared[0] = atomic_inc(control + CONTROL_NEXT);
            SYNC;
            number = shared[0];
            if (number >= count)
                break;
        }
        if (place == 0) {
            shared[1] = active ? state[2] : 0;
            shared[2] = shared[3] = 0;
        }
        const uint2 task = tasks[INDEX(number, count, 81)];
        const uint root = INDEX(task.x, vertices, 82), part = task.y & 0xffff, parts = task.y >> 16;
        const uint begin = offsets[root], n = INDEX(offsets[root + 1] - begin, 32 * W + 1, 83);

        // The graph of the root's targets, both ways.
        for (uint i = place; i < HASH; i += T)
            table[i] = 0;
        for (uint i = place; i < n * STRIDE; i += T)
            rows[i] = 0;
        for (uint i = place; i < n; i += T)
            ids[i] = targets[INDEX(begin + i, arcs, 84)];
        SYNC;
        for (uint i = place; i < n; i += T)
            put_target(table, ids[i], i);
        SYNC;
        const uint last = n == 0 ? 0 : ids[n - 1];
        for (uint i = place / LANES; i + 1 < n; i += WALKERS) {
            const uint source = INDEX(ids[i], vertices, 85);
            const uint end = INDEX(offsets[source + 1], arcs + 1, 86);
            for (uint e = offsets[source] + lane; e < end; e += LANES) {
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
        SYNC;
        // A group that goes on makes at least a step in each launch.
        uint steps = active ? 0 : work + n;

        // At first all targets are candidates.
        uint set[W];
UNROLL
        for (uint x = 0; x < W; x++)
            set[x] = n >= 32 * x + 32 ? 0xffffffff : n > 32 * x ? (1u << n % 32) - 1 : 0;
        bool enter = !active, late = false;
        uint held = 0, pivots = 0;
        uint depth = 0, first = 0, second = 0, turn = NO_TURN;
        if (active) {
            depth = own[0];
            first = own[1];
            second = own[2];
            turn = own[3];
        }
        active = false;
        for (;;) {
            if (enter) {
                enter = false;
                uint size = 0;
UNROLL
                for (uint x = 0; x < W; x++)
                    size += popcount(set[x]);
                steps += 1;
                const uint need = SOUGHT - held;
                if (held + pivots + size < SOUGHT)
                    continue;
                // The end of a chain that holds nothing is everyone's, of one that holds a vertex all parts'.
                const bool mine = held > 1 || (held == 1 && BRANCH(first, 0) % parts == part) ||
                                  (held == 0 && part == 0 && place < LANES);
                if (need == 0 || size == 0) {
                    if (mine)
                        COUNT(pivots, 89)
                    continue;
                }
                if (need == 1) {
                    const ulong ways = mine ? pivots + size : 0;
                    low += ways;
                    high += low < ways ? 1 : 0;
                    continue;
                }
                // The candidate with most neighbours among them, and whether each is a neighbour of all.
                uint best = 0;
                bool lacks = false;
UNROLL
                for (uint word = 0; word < W; word++)
                    for (uint bit = lane; bit < 32; bit += LANES)
                        if ((set[word] >> bit & 1) != 0) {
                            const __local uint *const row = rows + (32 * word + bit) * STRIDE;
                            uint near = 0;
UNROLL
                            for (uint x = 0; x < W; x++)
                                near += popcount(set[x] & row[x]);
                            best = max(best, near << 16 | (32 * word + bit));
                            lacks = lacks || near + 1 != size;
                        }
                if (lanes_ballot(lacks) == 0) {
                    if (mine)
                        COUNT(pivots + size, 90)
                    continue;
                }
                best = lanes_max(best);
                const uint pivot = best & 0xffff, near = best >> 16;
                if (near + 1 == size) {
                    // Nothing waits beside such a pivot.
UNROLL
                    for (uint x = 0; x < W; x++)
                        set[x] &= x == pivot / 32 ? ~(1u << pivot % 32) : 0xffffffff;
                    pivots += 1;
                    enter = true;
                    continue;
                }
                __global uint *const level = stack + INDEX(depth, MOST_LEVELS, 91) * LEVEL_WORDS;
                const __local uint *const row = rows + INDEX(pivot, n, 92) * STRIDE;
                lanes_sync_all();
UNROLL
                for (uint x = 0; x < W; x++) {
                    const uint all = set[x] & (x == pivot / 32 ? ~(1u << pivot % 32) : 0xffffffff);
                    if (lane == x % LANES) {
                        level[x] = all;
                        level[W + x] = all & ~row[x];
                    }
                    set[x] = all & row[x];
                }
                if (lane == 0)
                    level[2 * W] = held | pivots << 16;
                lanes_sync_all();
                depth += 1;
                pivots += 1;
                enter = true;
                continue;
            }
            if (depth == 0)
                break;
            if (steps >= budget) {
                late = true;
                break;
            }
            steps += 1;
            __global uint *const level = stack + INDEX(depth - 1, MOST_LEVELS, 93) * LEVEL_WORDS;
            const uint kept = level[2 * W];
            held = kept & 0xffff;
            pivots = kept >> 16;
            uint waiting[W], waits = 0;
UNROLL
            for (uint x = 0; x < W; x++) {
                set[x] = level[x];
                waiting[x] = level[W + x];
                waits += popcount(waiting[x]);
            }
            // Branches of other walkers.
            uint skipped = 0;
            if (held == 0 && waits != 0) {
                if (turn == NO_TURN) {
                    const uint next = lane == 0 ? atomic_inc(shared + 1) : 0;
                    turn = lanes_from(next, 0);
                }
                skipped = min(waits, turn - first);
                first += skipped;
            }
            if (skipped == waits) {
                depth -= 1;
                continue;
            }
            uint word = W, bit = 0;
UNROLL
            for (uint x = 0; x < W; x++) {
                const uint here = popcount(waiting[x]), less = min(skipped, here);
                skipped -= less;
                uint left = waiting[x];
                for (uint i = 0; i < less; i++)
                    left &= left - 1;
                if (word == W && left != 0) {
                    word = x;
                    bit = left & -left;
                    left ^= bit;
                }
                // What has had its turn is no candidate any more.
                set[x] &= ~(waiting[x] ^ left);
                waiting[x] = left;
            }
            lanes_sync_all();
UNROLL
            for (uint x = 0; x < W; x++)
                if (lane == x % LANES) {
                    level[x] = set[x];
                    level[W + x] = waiting[x];
                }
            lanes_sync_all();
            const __local uint *const row = rows + INDEX(32 * word + top_bit(bit), n, 94) * STRIDE;
UNROLL
            for (uint x = 0; x < W; x++)
                set[x] &= row[x];
            enter = true;
            if (held == 0) {
                first += 1;
                second = 0;
                turn = NO_TURN;
            } else if (held == 1) {
                second += 1;
                enter = BRANCH(first, second) % parts == part;
            }
            held += 1;
        }
        if (lane == 0) {
            atomic_max(shared + 2, steps);
            if (late)
                atomic_or(shared + 3, 1u);
            own[0] = depth;
            own[1] = first;
            own[2] = second;
            own[3] = turn;
        }
        SYNC;
        work = shared[2];
        cut = shared[3] != 0;
        if (cut && place == 0) {
            state[1] = number;
            state[2] = shared[1];
        }
        SYNC;
    }
    if (place == 0) {
        state[0] = cut ? 1 : 0;
        if (cut)
            atomic_inc(control + CONTROL_CUT);
    }
    if (lane == 0 && (low != 0 || high != 0))
        add_wide(sums + 4 * (walker % SLOTS), low, high);
}

// Cliques of K by pivots (Jain and Seshadhri, "The power of pivoting for exact clique counting", WSDM 2020),
// on the bitmaps of `local.cl`; one class of roots.
//
// The host sets K, W (words of a row), LANES (lanes that walk together), WALKERS (of them in a work-group), HASH
// and HASH_BITS (the table's size), and the words of a level (the candidates that are left, the branches that wait,
// and held | pivots << 16), of a stack of levels, of a work-group's state (whether it is on its way, its task, the
// next turn; turn t is branch t · parts + part of those that hold one vertex), and of a walker's (depth, branches that
// hold one vertex so far, its turn).
//
// A state is a set of candidates, the vertices that are held, and the pivots, of which each may be taken or
// left. With the pivot u of a set, cliques are those with u or among u's neighbours, and for each other
// vertex v in turn those with v among what is left. Once the set is complete or empty a state stands for
// C(pivots, K − 1 − held) cliques at once. So the number of states follows the graph's structure, not its cliques.
//
// A work-group makes the rows of a root in local memory, and its walkers share the branches: those that hold one
// vertex are dealt out in turn; a walker that is out of work then is given half of the branches that wait lowest
// on another's stack. The chain of states that hold nothing each walks by itself. Of the branches that
// hold one vertex a part of a root takes each `parts`-th.
//
// The set of a walker is spread over its lanes, word by word; each lane examines other candidates for the pivot.
// Pending branches are in global memory: after its share of steps a walker saves its state, and the next launch
// continues there.

#define CONTROL_NEXT 0
#define CONTROL_CUT 1
#define T (LANES * WALKERS)
#if LANES == 1
#define SYNC
#else
#define SYNC barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
#define NO_TURN 0xffffffffu
#define NO_TASK 0xffffffffu
// Words that the walkers of a group share: the task's number, the next turn, the most steps of a walker, whether one
// was cut, walkers that have work, those that wait for it, and whether branches are on their way to one.
#define NUMBER 0
#define TURN 1
#define STEPS 2
#define CUT 3
#define RUNNING 4
#define HUNGRY 5
#define MAIL 6
#define MAIL_EMPTY 0
#define MAIL_HELD 1
#define MAIL_FULL 2
// Candidates of a level that is worth being shared.
#define WORTH 8

// The lowest level from `at` on, below `depth`, with branches to share, and their words and number; `depth` if there is
// none. A single branch is shared only if there is a level above: in dense graphs most levels have one. Levels that
// hold nothing are dealt out.
inline uint level_to_share(__global const uint *stack, uint at, const uint depth, uint *waiting, uint *waits) {
    for (; at < depth; at++) {
        __global const uint *const level = stack + at * LEVEL_WORDS;
        uint candidates = 0, sum = 0;
        UNROLL
        for (uint x = 0; x < W; x++) {
            waiting[x] = level[W + x];
            sum += popcount(waiting[x]);
            candidates += popcount(level[x]);
        }
        *waits = sum;
        if (sum > (at + 1 < depth ? 0 : 1) && candidates >= WORTH && (level[2 * W] & 0xffff) != 0)
            break;
    }
    return at;
}

// What of a word goes: all but its first bits, of which `keep` are still to stay.
inline uint given(const uint waiting, uint *keep) {
    const uint here = popcount(waiting), less = min(*keep, here);
    uint left = waiting;
    for (uint i = 0; i < less; i++)
        left &= left - 1;
    *keep -= less;
    return left;
}

#if WALKERS > 1
// Hands half of the branches that wait on the lowest level that has some to a walker of the group.
inline void give(__global uint *stack, const uint depth, uint *base, const uint lane,
                 volatile __local uint *shared, volatile __local uint *mail) {
    uint waiting[W], waits = 0;
    const uint at = level_to_share(stack, *base, depth, waiting, &waits);
    *base = at;
    if (at == depth)
        return;
    uint mine = 0;
    if (lane == 0 && atomic_cmpxchg(shared + MAIL, MAIL_EMPTY, MAIL_HELD) == MAIL_EMPTY) {
        // Who holds the mail is the only one that takes from the hungry.
        if (shared[HUNGRY] != 0) {
            atomic_dec(shared + HUNGRY);
            atomic_inc(shared + RUNNING);
            mine = 1;
        } else {
            atomic_xchg(shared + MAIL, MAIL_EMPTY);
        }
    }
    if (lanes_from(mine, 0) == 0)
        return;
    __global uint *const level = stack + at * LEVEL_WORDS;
    uint keep = waits / 2;
    UNROLL
    for (uint x = 0; x < W; x++) {
        const uint left = given(waiting[x], &keep);
        if (lane == x % LANES) {
            // To whom it is given what comes before is no candidate any more.
            mail[x] = level[x] & ~(waiting[x] ^ left);
            mail[W + x] = left;
            level[W + x] = waiting[x] ^ left;
        }
    }
    if (lane == 0)
        mail[2 * W] = level[2 * W];
    mem_fence(CLK_LOCAL_MEM_FENCE);
    lanes_sync_all();
    if (lane == 0)
        atomic_xchg(shared + MAIL, MAIL_FULL);
}
#endif

// Between launches, once all tasks have begun: from each walker of a group that goes on, half of the
// branches of its lowest level that has some to the same walker of a group that is out of work, which goes on
// with them. A pair is these two groups.
__kernel void share_branches(__global uint *states, __global uint *stacks,
                             __global const uint2 *restrict pairs, const uint number, const uint groups,
                             __global uint *restrict fault) {
    const uint at = get_global_id(0), walker = at % WALKERS;
    if (at / WALKERS >= number)
        return;
    const uint from = INDEX(pairs[at / WALKERS].x, groups, 95), to = INDEX(pairs[at / WALKERS].y, groups, 96);
    __global uint *const walkers = states + groups * STATE_WORDS;
    __global uint *const giver = walkers + (from * WALKERS + walker) * WALKER_WORDS;
    __global uint *const taker = walkers + (to * WALKERS + walker) * WALKER_WORDS;
    __global uint *const stack = stacks + (ulong)(from * WALKERS + walker) * STACK_WORDS;
    __global uint *const other = stacks + (ulong)(to * WALKERS + walker) * STACK_WORDS;
    const uint task = states[from * STATE_WORDS + 1];
    if (walker == 0) {
        states[to * STATE_WORDS] = 1;
        states[to * STATE_WORDS + 1] = task;
        states[to * STATE_WORDS + 2] = 0;
    }
    const uint depth = giver[0];
    uint waiting[W], waits = 0;
    const uint level = level_to_share(stack, 0, depth, waiting, &waits);
    taker[0] = level == depth ? 0 : 1;
    if (level == depth)
        return;
    __global uint *const shared = stack + level * LEVEL_WORDS;
    uint keep = waits / 2;
    UNROLL
    for (uint x = 0; x < W; x++) {
        const uint left = given(waiting[x], &keep);
        other[x] = shared[x] & ~(waiting[x] ^ left);
        other[W + x] = left;
        shared[W + x] = waiting[x] ^ left;
    }
    other[2 * W] = shared[2 * W];
}

__kernel LANES_KERNEL __attribute__((reqd_work_group_size(T, 1, 1)))
void local_pivots(__global const uint *restrict offsets, __global const uint *restrict targets,
                  __global const uint2 *restrict tasks, const uint count, const uint vertices,
                  const uint arcs, __global const ulong2 *restrict binomials,
                  volatile __global uint *control, __global uint *states, __global uint *stacks,
                  const uint budget, __global uint *restrict sums, __global uint *restrict fault) {
    __local uint table[HASH], ids[32 * W], rows[32 * W * STRIDE];
    __local uint small[WALKERS * SMALL_WORDS];
    volatile __local uint shared[7];
#if WALKERS > 1
    volatile __local uint mail[2 * W + 1];
#endif
    LANES_ROOM

    const uint place = get_local_id(0), lane = place % LANES;
    __global uint *const state = states + get_group_id(0) * STATE_WORDS;
    const uint walker = get_group_id(0) * WALKERS + place / LANES;
    __global uint *const own = states + get_num_groups(0) * STATE_WORDS + walker * WALKER_WORDS;
    __global uint *const stack = stacks + (ulong)walker * STACK_WORDS;
    bool active = state[0] != 0, cut = false;
    uint number = state[1], work = 0;
    ulong2 counted = 0;
    ulong2 *const sum = &counted;
    __local uint *const room = small + place / LANES * SMALL_WORDS;

    for (;;) {
        if (place == 0) {
            shared[NUMBER] = active ? number : work >= budget ? NO_TASK : atomic_inc(control + CONTROL_NEXT);
            shared[TURN] = active ? state[2] : 0;
            shared[STEPS] = shared[CUT] = 0;
            shared[RUNNING] = WALKERS;
            shared[HUNGRY] = 0;
            shared[MAIL] = MAIL_EMPTY;
        }
        SYNC;
        number = shared[NUMBER];
        if (number >= count)
            break;
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
        uint held = 0, pivots = 0, collected = 0;
        uint depth = 0, first = 0, turn = NO_TURN;
        // No level below has branches for others.
        uint base = 0;
        if (active) {
            depth = own[0];
            first = own[1];
            turn = own[2];
        }
        active = false;
        for (;;) {
            if (enter) {
                enter = false;
                // A compute unit makes 16 population counts per cycle, half a warp's, and most words of a set are empty.
                uint size = 0;
        UNROLL
                for (uint x = 0; x < W; x++)
                    if (set[x] != 0)
                        size += popcount(set[x]);
                steps += 1;
                const uint need = SOUGHT - held;
                if (held + pivots + size < SOUGHT)
                    continue;
                // Every walker of every part comes to the end of the chain that holds nothing; one counts it.
                const bool mine = lane == 0 && (held > 0 || (part == 0 && place < LANES));
                if (need == 0 || size == 0) {
                    if (mine)
                        COUNT(1, pivots, need, 89)
                    continue;
                }
                if (need == 1) {
                    if (mine)
                        COUNT(1, pivots + size, 1, 89)
                    continue;
                }
#if ENDS > 1
                // On the chain that holds nothing branches are dealt out, and every walker would count.
                if (held > 0 && need <= ENDS && (need == 2 || size <= LAST)) {
                    count_last(set, size, need, pivots, rows, lane, room, sum);
                    continue;
                }
#endif
                if (size <= SMALL && held > 0) {
                    collect_set(set, held, pivots, collected, rows, lane, room);
                    collected += 1;
                    if (collected == SMALL_SETS) {
                        steps += small_sets(collected, lane, room, binomials, sum, fault LANES_ARGUMENTS);
                        collected = 0;
                    }
                    continue;
                }
                // The candidate with most neighbours among them, and whether each is a neighbour of all.
                uint best = 0;
                bool lacks = false;
        UNROLL
                for (uint word = 0; word < W; word++)
                    UNROLL_BITS
                    for (uint bit = lane; bit < 32; bit += LANES)
                        if ((set[word] >> bit & 1) != 0) {
                            const __local uint *const row = rows + (32 * word + bit) * STRIDE;
                            uint near = 0;
        UNROLL
                            for (uint x = 0; x < W; x++)
                                if (set[x] != 0)
                                    near += popcount(set[x] & row[x]);
                            best = max(best, near << 16 | (32 * word + bit));
                            lacks = lacks || near + 1 != size;
                        }
                if (lanes_ballot(lacks) == 0) {
                    if (mine)
                        COUNT(1, pivots + size, need, 89)
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
            if (collected > 0 && (depth == 0 || steps >= budget)) {
                steps += small_sets(collected, lane, room, binomials, sum, fault LANES_ARGUMENTS);
                collected = 0;
            }
            if (depth == 0) {
#if WALKERS > 1
                uint got = 0;
                if (lane == 0) {
                    atomic_inc(shared + HUNGRY);
                    atomic_dec(shared + RUNNING);
                    for (;;) {
                        if (shared[MAIL] == MAIL_FULL &&
                            atomic_cmpxchg(shared + MAIL, MAIL_FULL, MAIL_HELD) == MAIL_FULL) {
                            got = 1;
                            break;
                        }
                        if (shared[RUNNING] == 0)
                            break;
                        // A read of global memory, for a pause.
                        (void)((volatile __global uint *)own)[0];
                    }
                }
                if (lanes_from(got, 0) == 0)
                    break;
                mem_fence(CLK_LOCAL_MEM_FENCE);
                for (uint i = lane; i < 2 * W + 1; i += LANES)
                    stack[i] = mail[i];
                lanes_sync_all();
                if (lane == 0)
                    atomic_xchg(shared + MAIL, MAIL_EMPTY);
                depth = 1;
                base = 0;
                continue;
#else
                break;
#endif
            }
            if (steps >= budget) {
                late = true;
#if WALKERS > 1
                if (lane == 0)
                    atomic_dec(shared + RUNNING);
#endif
                break;
            }
            steps += 1;
#if WALKERS > 1
            if (lanes_ballot(shared[HUNGRY] != 0 && shared[MAIL] == MAIL_EMPTY) != 0)
                give(stack, depth, &base, lane, shared, mail);
#endif
            __global uint *const level = stack + INDEX(depth - 1, MOST_LEVELS, 93) * LEVEL_WORDS;
            const uint kept = level[2 * W];
            held = kept & 0xffff;
            pivots = kept >> 16;
            uint waiting[W], any = 0;
        UNROLL
            for (uint x = 0; x < W; x++) {
                set[x] = level[x];
                waiting[x] = level[W + x];
                any |= waiting[x];
            }
            bool finished = any == 0;
            // Branches of other walkers. Elsewhere the number of branches is not needed.
            uint skipped = 0;
            if (held == 0 && !finished) {
                uint waits = 0;
        UNROLL
                for (uint x = 0; x < W; x++)
                    waits += popcount(waiting[x]);
                if (turn == NO_TURN) {
                    const uint next = lane == 0 ? atomic_inc(shared + TURN) : 0;
                    turn = lanes_from(next, 0);
                }
                skipped = min(waits, turn * parts + part - first);
                first += skipped;
                finished = skipped == waits;
            }
            if (finished) {
                depth -= 1;
                base = min(base, depth);
                continue;
            }
            uint word = W, bit = 0;
        UNROLL
            for (uint x = 0; x < W; x++) {
                uint left = waiting[x];
                if (skipped != 0)
                    left = given(left, &skipped);
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
                turn = NO_TURN;
            }
            held += 1;
        }
        if (lane == 0) {
            atomic_max(shared + STEPS, steps);
            if (late)
                atomic_or(shared + CUT, 1u);
            own[0] = depth;
            own[1] = first;
            own[2] = turn;
        }
        SYNC;
        work = shared[STEPS];
        cut = shared[CUT] != 0;
        if (cut && place == 0) {
            state[1] = number;
            state[2] = shared[TURN];
        }
        SYNC;
        if (cut)
            break;
    }
    if (place == 0) {
        state[0] = cut ? 1 : 0;
        if (cut)
            atomic_inc(control + CONTROL_CUT);
    }
    add_counted(counted, lane, sums + 4 * (walker % SLOTS) LANES_ARGUMENTS);
}

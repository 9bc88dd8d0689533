// The strategy `plan`: a depth-first search over sorted lists that interprets a plan.
//
// A work-group of LANES lanes walks one branch at a time. Its state (the images chosen, the candidates
// that are left at each depth) lies in global memory between launches, so that a launch may end after
// any step and the next one goes on. Tasks are edges both ways, taken in portions of LANES, those of the
// vertices with the largest degrees first. Once they are all taken, a launch ends when many groups are without
// work, and these take parts of the others' (`donate.cl`).
//
// Plans have up to MOST_DEPTHS depths, as `plan.rs` defines, and DEPTH_WORDS words for each:
//   0 label, or ANY      1 near: earlier depths that are neighbours     2 far: that must not be
//   3 below: earlier depths whose images have smaller numbers   4 distinct: that may be the same vertex
//   5... the label of the edge to each earlier depth, or ANY   5 + MOST_DEPTHS the pattern's vertex
// With CANDIDATES a bit for each vertex says whether it may be the image at a depth, in place of its label.
// With LIST the last depth's images are written to a ring instead of being counted alone. With PICKED
// the tasks are the edges of a list instead of all.
#ifdef PICKED
#define TASKS tasks
#define TASK(at) picked[TASKS - 1 - (at)]
#else
#define TASKS entries
#define TASK(at) (TASKS - 1 - (at))
#endif

#define ANY 0xffffffffu
#define DEPTH_WORDS (6 + MOST_DEPTHS)
#define PLAN_VERTEX (5 + MOST_DEPTHS)
// State of a group: depth, waiting edges as bits, their first, then images, list ends and positions.
#define STATE_WORDS (4 * MOST_DEPTHS)
#define STATE_IMAGES 3
#define STATE_ENDS (3 + MOST_DEPTHS)
#define STATE_AT (3 + 2 * MOST_DEPTHS)
#define CONTROL_NEXT 0
#define CONTROL_DONE 1
#define CONTROL_RESERVED 2
#define CONTROL_WRITTEN 3
// Who gave and took before this launch; how many of the takers have got something.
#define CONTROL_GIVERS 4
#define CONTROL_TAKERS 5
#define CONTROL_GIVEN 6
// Whether the launch ended for want of work.
#define CONTROL_WANT 7
// Steps that a group does before it looks whether others want work.
#define LEAST_STEPS 256

// Whether a vertex may be the image at a depth.
#ifdef CANDIDATES
#define MAY_BE(depth, id)                                                                          \
    ((candidates[plan[(depth) * DEPTH_WORDS + PLAN_VERTEX] * ((vertices + 31) / 32) + (id) / 32] >>          \
      ((id) % 32) & 1) != 0)
#else
#define MAY_BE(depth, id)                                                                          \
    (plan[(depth) * DEPTH_WORDS] == ANY || vertex_labels[id] == plan[(depth) * DEPTH_WORDS])
#endif

__kernel LANES_KERNEL __attribute__((reqd_work_group_size(LANES, 1, 1)))
void search(__global const uint *restrict offsets, __global const uint *restrict neighbours,
            __global const uint *restrict sources, __global const uint *restrict vertex_labels,
            __global const uint *restrict edge_labels, __constant uint *plan, const uint depths,
            const uint vertices, const uint entries, volatile __global uint *control,
            __global uint *states, __global uint *lists, const uint span, const uint budget,
            __global uint *ring, const uint ring_records, __global const uint *restrict candidates,
            __global uint *restrict sums, __global uint *restrict fault
#ifdef PICKED
            , __global const uint *restrict picked, const uint tasks
#endif
) {
    __local uint images[MOST_DEPTHS], ends[MOST_DEPTHS], at[MOST_DEPTHS];
    __local uint waiting, first, shared, base_from, base_to, base_depth, want;
    LANES_ROOM
    const uint lane = get_local_id(0);
    __global uint *const state = states + get_group_id(0) * STATE_WORDS;
    __global uint *const own = lists + (ulong)get_group_id(0) * depths * span;
    uint depth = state[0];
    // As many groups may be without work: those that got none, and a part of the others.
    uint idle = 0;
    if (lane == 0) {
        want = 0;
        idle = control[CONTROL_TAKERS] - control[CONTROL_GIVEN];
        idle += max(min((uint)get_num_groups(0) / 8, ((uint)get_num_groups(0) - idle) / 4), 1u);
        waiting = state[1];
        first = state[2];
        for (uint i = 0; i < MOST_DEPTHS; i++) {
            images[i] = state[STATE_IMAGES + i];
            ends[i] = state[STATE_ENDS + i];
            at[i] = state[STATE_AT + i];
        }
    }
    ulong total = 0;
    // The edge that lane 0 took last.
    uint work = 0, taken = 0;
    bool done = false;
    lanes_sync();
    while (work < budget && want == 0) {
        // The next image of the deepest vertex that has candidates left; depth 0 stands for the edges.
        uint next;
        if (depth == 0) {
            if (waiting == 0) {
                lanes_sync();
                if (lane == 0)
                    first = atomic_add(control + CONTROL_NEXT, LANES);
                lanes_sync();
                work += 1;
                if (first >= TASKS) {
                    done = true;
                    break;
                }
                bool fits = false;
                if (first + lane < TASKS) {
                    const uint e = TASK(first + lane);
                    const uint u = sources[e], v = neighbours[e];
                    fits = MAY_BE(0, u) && MAY_BE(1, v) && ((plan[DEPTH_WORDS + 3] & 1) == 0 || v > u);
                    const uint wanted = plan[DEPTH_WORDS + 5];
                    if (fits && wanted != ANY)
                        fits = edge_labels[e] == wanted;
                }
                const uint found = lanes_ballot(fits);
                if (lane == 0) {
                    if (depths == 2)
                        total += popcount(found);
                    else
                        waiting = found;
                }
                lanes_sync();
                continue;
            }
            lanes_sync();
            if (lane == 0) {
                const uint bit = top_bit(waiting);
                waiting ^= 1u << bit;
                images[0] = sources[TASK(first + bit)];
                images[1] = neighbours[TASK(first + bit)];
                taken = bit;
            }
            next = 2;
        } else {
            if (at[depth] == ends[depth]) {
                // The candidates at depth 2 came from an edge.
                depth = depth == 2 ? 0 : depth - 1;
                continue;
            }
            lanes_sync();
            if (lane == 0) {
                images[depth] = own[depth * span + INDEX(at[depth], span, 51)];
                at[depth] += 1;
            }
            next = depth + 1;
        }
        lanes_sync();

        // The candidates of `next`: the shortest list of its neighbours, tested.
        __constant uint *const words = plan + next * DEPTH_WORDS;
        if (lane == 0) {
            uint shortest = ANY, least = 0;
            for (uint d = 0; d < next; d++) {
                if ((words[1] >> d & 1) != 0) {
                    const uint v = INDEX(images[d], vertices, 52);
                    const uint length = offsets[v + 1] - offsets[v];
                    if (length < shortest) {
                        shortest = length;
                        base_depth = d;
                        base_from = offsets[v];
                    }
                }
                if ((words[3] >> d & 1) != 0)
                    least = max(least, images[d] + 1);
            }
            base_to = base_from + shortest;
            if (least != 0)
                base_from = lower_bound(neighbours, base_from, base_to, least);
            ends[next] = 0;
            at[next] = 0;
            if (work > LEAST_STEPS && control[CONTROL_DONE] >= idle) {
                want = 1;
                control[CONTROL_WANT] = 1;
            }
        }
        lanes_sync();
        const bool last = next + 1 == depths;
        const uint from = base_from, to = base_to, base = base_depth;
#ifdef LIST
        if (last) {
            // Room for all, or the step is taken back and the launch ends.
            if (lane == 0) {
                const uint old = atomic_add(control + CONTROL_RESERVED, to - from);
                shared = old + (to - from) > ring_records ? 1 : 0;
                if (shared != 0) {
                    atomic_sub(control + CONTROL_RESERVED, to - from);
                    if (depth == 0)
                        waiting |= 1u << taken;
                    else
                        at[depth] -= 1;
                }
            }
            lanes_sync();
            if (shared != 0)
                break;
        }
#endif
        work += 1 + (to - from) / LANES;
        for (uint e = from + lane; e < to; e += LANES) {
            const uint id = neighbours[INDEX(e, entries, 53)];
            bool fits = MAY_BE(next, id);
            if (fits && words[5 + base] != ANY)
                fits = edge_labels[e] == words[5 + base];
            for (uint d = 0; fits && d < next; d++) {
                const uint bit = 1u << d;
                if ((words[4] & bit) != 0)
                    fits = id != images[d];
                if (fits && d != base && ((words[1] | words[2]) & bit) != 0) {
                    const uint v = images[d];
                    const uint end = offsets[v + 1];
                    const uint found = lower_bound(neighbours, offsets[v], end, id);
                    const bool is = found < end && neighbours[found] == id;
                    fits = is == ((words[1] & bit) != 0) &&
                           (!is || words[5 + d] == ANY || edge_labels[found] == words[5 + d]);
                }
            }
            if (!fits)
                continue;
            if (!last) {
                own[next * span + INDEX(atomic_inc(ends + next), span, 54)] = id;
                continue;
            }
            total += 1;
#ifdef LIST
            const uint record = INDEX(atomic_inc(control + CONTROL_WRITTEN), ring_records, 55);
            for (uint d = 0; d < next; d++)
                ring[record * depths + d] = images[d];
            ring[record * depths + next] = id;
#endif
        }
        lanes_sync_all();
        if (!last && ends[next] != 0)
            depth = next;
    }
    lanes_sync();
    const ulong sum = lanes_sum(total);
    if (lane == 0) {
        if (sum != 0)
            add_wide(sums + 4 * (get_group_id(0) % SLOTS), sum, 0);
        if (done)
            atomic_inc(control + CONTROL_DONE);
        state[0] = depth;
        state[1] = waiting;
        state[2] = first;
        for (uint i = 0; i < MOST_DEPTHS; i++) {
            state[STATE_IMAGES + i] = images[i];
            state[STATE_ENDS + i] = ends[i];
            state[STATE_AT + i] = at[i];
        }
    }
}

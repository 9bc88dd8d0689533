// What each operation of `lanes.clh` gives, for the host to check: rounds of a number for each lane, after work of
// different lengths so that lanes come apart. By round and lane: ballot, the number of a lane, both halves of the
// sum, what the next lane wrote to local memory and to global memory, and the largest number.
#define ANSWERS 7

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void lanes(__global const uint *restrict given, const uint rounds, __global uint *room,
           __global uint *restrict answers) {
    LANES_ROOM
    __local uint written[LANES];
    const uint lane = get_local_id(0);
    for (uint round = 0; round < rounds; round++) {
        uint value = given[round * LANES + lane];
        const uint chosen = given[round * LANES] % LANES;
        const uint turns = value % 7 * (lane % 3);
        for (uint i = 0; i < turns; i++)
            value = (value << 1) | (value >> 31);
        __global uint *const answer = answers + (round * LANES + lane) * ANSWERS;
        answer[0] = lanes_ballot(value % 2 != 0);
        if (value % 5 == 0)
            value ^= 0x5bd1e995u;
        answer[1] = lanes_from(value, chosen);
        const ulong sum = lanes_sum((ulong)value * 0xffffffffu);
        answer[2] = (uint)sum;
        answer[3] = (uint)(sum >> 32);
        answer[6] = lanes_max(value);
        written[lane] = value;
        room[lane] = ~value;
        lanes_sync_all();
        answer[4] = written[(lane + 1) % LANES];
        answer[5] = room[(lane + 1) % LANES];
        lanes_sync_all();
    }
}

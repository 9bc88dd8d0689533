// Canonical relabelling of subgraphs' codes on the device (DuMato, section 5.2.4).
//
// A code has a bit for each pair of K vertices: j (j − 1) / 2 + i for i < j. Swapping two adjacent positions gives a
// code of an isomorphic graph, and such swaps reach all of them. Each round replaces the label of a code by the minimum
// over itself and the codes one swap away. At the fixed point the label is the canonical code.

__kernel void begin(__global uint *labels, const uint codes) {
    for (uint code = get_global_id(0); code < codes; code += get_global_size(0))
        labels[code] = code;
}

// The code with vertices a and a + 1 exchanged.
inline uint exchanged(uint code, const uint a) {
    // Their pairs with smaller vertices are two fields of a bits.
    const uint mask = (1u << a) - 1u, low = a * (a - 1) / 2, high = a * (a + 1) / 2;
    const uint fields = ((code >> low) ^ (code >> high)) & mask;
    code ^= fields << low | fields << high;
    // Those with a larger one lie next to each other.
    for (uint j = a + 2; j < K; j++) {
        const uint at = j * (j - 1) / 2 + a;
        const uint other = ((code >> at) ^ (code >> (at + 1))) & 1u;
        code ^= other << at | other << (at + 1);
    }
    return code;
}

// Lanes may read what others write meanwhile: labels only fall, and a launch that changes none has read the last.
__kernel void relabel(volatile __global uint *labels, const uint codes, __global uint *changed) {
    for (uint code = get_global_id(0); code < codes; code += get_global_size(0)) {
        const uint own = labels[code];
        uint least = labels[own];
        for (uint a = 0; a + 1 < K; a++)
            least = min(least, labels[exchanged(code, a)]);
        if (least < own) {
            labels[code] = least;
            changed[0] = 1;
        }
    }
}

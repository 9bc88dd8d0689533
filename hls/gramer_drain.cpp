// Stream to memory: the k-th beat goes to beat 1 + k of the result area while it fits. After
// TLAST, beat 0 says how many came ([63:0]) and whether some did not fit ([64]). Only this kernel
// writes to memory.
#include "gramer_movers.hpp"

extern "C" void gramer_drain(line_t* result, unsigned capacity, hls::stream<beat_t>& in) {
#pragma HLS INTERFACE m_axi port = result offset = slave bundle = result \
    max_widen_bitwidth = 512 max_write_burst_length = 64 num_write_outstanding = 16
#pragma HLS INTERFACE s_axilite port = result
#pragma HLS INTERFACE s_axilite port = capacity
#pragma HLS INTERFACE s_axilite port = return
#pragma HLS INTERFACE axis port = in
  ap_uint<64> received = 0;
  bool last = false;
  while (!last) {
#pragma HLS PIPELINE II = 1
    const beat_t beat = in.read();
    if (received + 1 < capacity) result[received + 1] = beat.data;
    received++;
    last = beat.last;
  }
  line_t head = 0;
  head.range(63, 0) = received;
  head[64] = received + 1 > capacity;
  result[0] = head;
}

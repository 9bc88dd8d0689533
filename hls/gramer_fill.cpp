// Memory to stream: the head of the in-stream (header, dictionary, scratchpad lines), which is
// written once for many runs, then the work units of this run. TLAST goes with the very last beat.
//
// Both buffers are read in bursts of 64 lines, one line a cycle.
#include "gramer_movers.hpp"

static void send(const line_t* lines, unsigned first, unsigned beats, bool last,
                 hls::stream<beat_t>& out) {
  for (unsigned i = 0; i < beats; i++) {
#pragma HLS PIPELINE II = 1
    beat_t beat;
    beat.data = lines[first + i];
    beat.keep = -1;
    beat.strb = -1;
    beat.last = last && i + 1 == beats;
    out.write(beat);
  }
}

extern "C" void gramer_fill(const line_t* head, unsigned head_beats, const line_t* units,
                            unsigned units_first, unsigned units_beats,
                            hls::stream<beat_t>& out) {
#pragma HLS INTERFACE m_axi port = head offset = slave bundle = head max_widen_bitwidth = 512 \
    max_read_burst_length = 64 num_read_outstanding = 16
#pragma HLS INTERFACE m_axi port = units offset = slave bundle = units max_widen_bitwidth = 512 \
    max_read_burst_length = 64 num_read_outstanding = 16
#pragma HLS INTERFACE s_axilite port = head
#pragma HLS INTERFACE s_axilite port = head_beats
#pragma HLS INTERFACE s_axilite port = units
#pragma HLS INTERFACE s_axilite port = units_first
#pragma HLS INTERFACE s_axilite port = units_beats
#pragma HLS INTERFACE s_axilite port = return
#pragma HLS INTERFACE axis port = out
  send(head, 0, head_beats, units_beats == 0, out);
  send(units, units_first, units_beats, true, out);
}

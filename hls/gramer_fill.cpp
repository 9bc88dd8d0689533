// Memory to stream: sends the head of the in-stream (header, dictionary, scratchpad lines), which is written once
// for many runs, then the work units of this run. TLAST is set on the last beat of all.
//
// Two processes: one reads both buffers in bursts of 64 lines (4 KiB, so that no burst crosses a 4 KiB boundary, as
// AXI requires); the other sends one beat per cycle. The queue between them hides the latency of late bursts.
#include "gramer_movers.hpp"

static void load(const line_t* head, unsigned head_beats, const line_t* units,
                 unsigned units_first, unsigned units_beats, hls::stream<line_t>& lines) {
  for (unsigned i = 0; i < head_beats; i++) {
#pragma HLS PIPELINE II = 1
    lines.write(head[i]);
  }
  for (unsigned i = 0; i < units_beats; i++) {
#pragma HLS PIPELINE II = 1
    lines.write(units[units_first + i]);
  }
}

static void send(unsigned head_beats, unsigned units_beats, hls::stream<line_t>& lines,
                 hls::stream<beat_t>& out) {
  const unsigned beats = head_beats + units_beats;
  for (unsigned i = 0; i < beats; i++) {
#pragma HLS PIPELINE II = 1
    beat_t beat;
    beat.data = lines.read();
    beat.keep = -1;
    beat.strb = -1;
    beat.last = i + 1 == beats;
    out.write(beat);
  }
}

extern "C" void gramer_fill(const line_t* head, unsigned head_beats, const line_t* units,
                            unsigned units_first, unsigned units_beats,
                            hls::stream<beat_t>& out) {
#pragma HLS INTERFACE mode = m_axi port = head offset = slave bundle = gmem \
    max_widen_bitwidth = 512 max_read_burst_length = 64 num_read_outstanding = 16
#pragma HLS INTERFACE mode = m_axi port = units offset = slave bundle = gmem \
    max_widen_bitwidth = 512 max_read_burst_length = 64 num_read_outstanding = 16
#pragma HLS INTERFACE mode = s_axilite port = head
#pragma HLS INTERFACE mode = s_axilite port = head_beats
#pragma HLS INTERFACE mode = s_axilite port = units
#pragma HLS INTERFACE mode = s_axilite port = units_first
#pragma HLS INTERFACE mode = s_axilite port = units_beats
#pragma HLS INTERFACE mode = s_axilite port = return
#pragma HLS INTERFACE mode = ap_ctrl_chain port = return
#pragma HLS INTERFACE mode = axis port = out
#pragma HLS DATAFLOW
  hls::stream<line_t> lines;
#pragma HLS STREAM variable = lines depth = 128
  load(head, head_beats, units, units_first, units_beats, lines);
  send(head_beats, units_beats, lines, out);
}

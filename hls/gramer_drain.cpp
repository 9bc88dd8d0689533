// Stream to memory: beat k is written to beat 1 + k of the result area while it fits. After TLAST, beat 0 holds
// the number of beats received ([63:0]) and an overflow flag ([64]). Only this kernel writes to memory.
//
// Two processes: one receives a beat per cycle until TLAST and cuts the beats that fit into pieces of 64 lines;
// the other writes each piece, whose length it then knows, as one burst.
#include "gramer_movers.hpp"

static const unsigned BURST = 64;
static const unsigned LAST = 1u << 31;  // flag in a piece's length: last piece

static void receive(unsigned capacity, hls::stream<beat_t>& in, hls::stream<line_t>& lines,
                    hls::stream<unsigned>& pieces, hls::stream<line_t>& summary) {
  ap_uint<64> received = 0;
  unsigned length = 0;
  bool last = false;
  while (!last) {
#pragma HLS PIPELINE II = 1
    const beat_t beat = in.read();
    if (received + 1 < capacity) {
      lines.write(beat.data);
      length++;
    }
    received++;
    last = beat.last;
    if (length == BURST || last) {
      pieces.write(last ? length | LAST : length);
      length = 0;
    }
  }
  line_t head = 0;
  head.range(63, 0) = received;
  head[64] = received + 1 > capacity;
  summary.write(head);
}

static void store(line_t* result, hls::stream<line_t>& lines, hls::stream<unsigned>& pieces,
                  hls::stream<line_t>& summary) {
  unsigned at = 1;
  bool last = false;
  while (!last) {
    const unsigned piece = pieces.read();
    const unsigned length = piece & ~LAST;
    for (unsigned i = 0; i < length; i++) {
#pragma HLS PIPELINE II = 1
#pragma HLS LOOP_TRIPCOUNT max = 64
      result[at + i] = lines.read();
    }
    at += length;
    last = (piece & LAST) != 0;
  }
  result[0] = summary.read();
}

extern "C" void gramer_drain(line_t* result, unsigned capacity, hls::stream<beat_t>& in) {
#pragma HLS INTERFACE mode = m_axi port = result offset = slave bundle = gmem \
    max_widen_bitwidth = 512 max_write_burst_length = 64 num_write_outstanding = 16
#pragma HLS INTERFACE mode = s_axilite port = result
#pragma HLS INTERFACE mode = s_axilite port = capacity
#pragma HLS INTERFACE mode = s_axilite port = return
#pragma HLS INTERFACE mode = ap_ctrl_chain port = return
#pragma HLS INTERFACE mode = axis port = in
#pragma HLS DATAFLOW
  // Room for a whole piece while the next one is received.
  hls::stream<line_t> lines;
#pragma HLS STREAM variable = lines depth = 128
  hls::stream<unsigned> pieces;
#pragma HLS STREAM variable = pieces depth = 4
  hls::stream<line_t> summary;
#pragma HLS STREAM variable = summary depth = 2
  receive(capacity, in, lines, pieces, summary);
  store(result, lines, pieces, summary);
}

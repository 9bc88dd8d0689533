// Parses the in-stream: header, filter, dictionary, vertex scratchpad lines, edge scratchpad lines, work units. A small
// FIFO buffers beats. Beats of 512 bits:
//
//   header      [31:0] dictionary beats  [63:32] vertex lines  [95:64] edge lines
//               [127:96] patterns = counters to clear and report
//   filter      one beat if the run has a filter: 8 words of 64 bits (filter_word_t)
//   dictionary  32 entries of 16 bits: [15] known, [14:0] pattern number
//   lines       line n of an array, in order
//   work units  4 of 128 bits: [31:0] start, [63:32] first, [95:64] limit, [96] valid;
//               at least one beat, and the last one has TLAST
//
// When the run stops early, the remaining units are drained and dropped. A stream without a beat for STREAM_WAIT cycles
// has lost its last beat and is ended here.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_prefetcher
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  input  logic   start_i,
  input  logic   stop_i, // dispatch no further unit; held until the next start
  input  logic   filters_i, // the run has a filter
  // Stream
  input  logic   tvalid_i,
  output logic   tready_o,
  input  line_t  tdata_i,
  input  logic   tlast_i,
  // Pattern counters
  output logic [31:0] patterns_o,
  output logic   count_clear_o,
  output logic [NUMBER_W-1:0] count_at_o,
  // Words of the filter
  output logic   filter_write_o,
  output logic [FILTER_AT_W-1:0] filter_at_o,
  output filter_word_t filter_word_o,
  // Dictionary
  output logic   dictionary_write_o,
  output key_t   dictionary_key_o,
  output entry_t dictionary_entry_o,
  // Scratchpads
  output logic [PARTITIONS-1:0] vertex_pad_write_o,
  output logic [PARTITIONS-1:0] edge_pad_write_o,
  output logic [31:0] pad_at_o,
  output line_t  pad_line_o,
  // Work units
  output logic   unit_valid_o,
  input  logic   unit_ready_i,
  output unit_t  unit_o,
  // State
  output logic   running_o, // units are being dispatched
  output logic   finished_o, // every unit has been dispatched
  output logic   cut_o // the stream was ended without its last beat; held until the next start
);

  logic [31:0] patterns_q;

  assign patterns_o = patterns_q;

  localparam int unsigned ENTRIES = 32; // per dictionary beat
  localparam int unsigned UNITS   = 4;  // per beat
  localparam int unsigned PART_SHIFT = PARTITIONS > 1 ? $clog2(PARTITIONS) : 0;

  typedef enum logic [3:0] {
    IDLE, HEADER, CLEAR, FILTER, DICTIONARY_, VERTEX_LINES, EDGE_LINES, WORK, FINISHED
  } state_e;

  state_e      state_q;
  logic        valid, take, last, full;
  line_t       beat;
  logic [31:0] at_q, dictionary_q, vertices_q, edges_q;
  logic [31:0] last_pattern_q; // last counter to clear; the first one if there are no patterns
  logic [4:0]  entry_q;
  logic [1:0]  unit_q;
  logic [15:0] entry;
  logic [127:0] unit;
  ordinal_t    ordinal_q;

  assign tready_o = !full;

  gramer_fifo #(.WIDTH(LINE_W + 1), .DEPTH(4)) i_ahead (
    .clk_i, .rst_i,
    .push_i (tvalid_i && !full), .data_i ({tlast_i, tdata_i}), .full_o (full),
    .pop_i (take), .valid_o (valid), .data_o ({last, beat})
  );

  assign entry = beat[32'(entry_q)*16 +: 16];
  assign unit  = beat[32'(unit_q)*128 +: 128];

  assign filter_write_o     = state_q == FILTER && valid;
  assign filter_at_o        = entry_q[FILTER_AT_W-1:0];
  assign filter_word_o      = filter_word_t'(beat[32'(filter_at_o)*64 +: $bits(filter_word_t)]);
  assign count_clear_o      = state_q == CLEAR;
  assign count_at_o         = NUMBER_W'(at_q);
  assign dictionary_write_o = state_q == DICTIONARY_ && valid;
  assign dictionary_key_o   = KEY_W'({at_q, entry_q});
  assign dictionary_entry_o = '{known: entry[15], number: entry[NUMBER_W-1:0]};
  assign pad_at_o           = at_q >> PART_SHIFT;
  assign pad_line_o         = beat;

  always_comb begin
    vertex_pad_write_o = '0;
    edge_pad_write_o   = '0;
    for (int p = 0; p < PARTITIONS; p++)
      if ((at_q & 32'(PARTITIONS - 1)) == 32'(p)) begin
        vertex_pad_write_o[p] = state_q == VERTEX_LINES && valid;
        edge_pad_write_o[p]   = state_q == EDGE_LINES && valid;
      end
  end

  assign unit_valid_o = state_q == WORK && valid && unit[96] && !stop_i;
  assign unit_o       = '{start: unit[31:0], first: unit[63:32], limit: unit[95:64],
                          ordinal: ordinal_q};
  assign running_o    = state_q == WORK || state_q == FINISHED;
  assign finished_o   = state_q == FINISHED;

  logic unit_done; // the current unit is dispatched, or invalid
  assign unit_done = state_q == WORK && valid && (unit_ready_i || !unit[96] || stop_i);

  always_comb begin
    unique case (state_q)
      HEADER:       take = valid;
      FILTER:       take = valid && filter_at_o == '1;
      DICTIONARY_:  take = valid && entry_q == 5'(ENTRIES - 1);
      VERTEX_LINES: take = valid;
      EDGE_LINES:   take = valid;
      WORK:         take = unit_done && unit_q == 2'(UNITS - 1);
      default:      take = 1'b0;
    endcase
  end

  // Whether the in-stream has such beats.
  logic   dictionary_some_q, vertices_some_q, edges_some_q;
  state_e after_filter, after_dictionary;
  assign after_filter     = dictionary_some_q ? DICTIONARY_ : after_dictionary;
  assign after_dictionary = vertices_some_q ? VERTEX_LINES : edges_some_q ? EDGE_LINES : WORK;

  // Before the header only a stopped run has a limit, since the kernel that reads the stream may start late.
  logic [$clog2(STREAM_WAIT):0] waited_q;
  logic waits_q, cut_q, cut;

  assign cut   = waited_q[$clog2(STREAM_WAIT)];
  assign cut_o = cut_q;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      IDLE, CLEAR, FINISHED: waits_q <= 1'b0;
      HEADER:                waits_q <= !valid && stop_i;
      default:               waits_q <= !valid;
    endcase
    if (rst_i || start_i || !waits_q) waited_q <= '0;
    else waited_q <= waited_q + 1'b1;
    if (rst_i || start_i) cut_q <= 1'b0;
    else if (cut) cut_q <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) state_q <= IDLE;
    else if (cut) begin
      state_q <= FINISHED;
      if (state_q == HEADER) patterns_q <= '0;
    end else begin
      unique case (state_q)
        IDLE, FINISHED: if (start_i) state_q <= HEADER;
        HEADER: if (valid) begin
          dictionary_q <= beat[31:0];
          vertices_q   <= beat[63:32];
          edges_q      <= beat[95:64];
          patterns_q   <= beat[127:96];
          dictionary_some_q <= beat[31:0] != '0;
          vertices_some_q   <= beat[63:32] != '0;
          edges_some_q      <= beat[95:64] != '0;
          last_pattern_q <= beat[127:96] - 32'(beat[127:96] != '0);
          ordinal_q    <= '0;
          at_q         <= '0;
          entry_q      <= '0;
          unit_q       <= '0;
          state_q      <= CLEAR;
        end
        CLEAR: begin
          at_q <= at_q + 1'b1;
          if (at_q == last_pattern_q) begin
            at_q    <= '0;
            state_q <= FILTER_WORDS != 0 && filters_i ? FILTER : after_filter;
          end
        end
        FILTER: if (valid) begin
          entry_q <= take ? '0 : entry_q + 1'b1;
          if (take) state_q <= after_filter;
        end
        DICTIONARY_: if (valid) begin
          entry_q <= entry_q + 1'b1;
          if (take) begin
            at_q <= at_q + 1'b1;
            if (at_q + 1'b1 == dictionary_q) begin
              at_q    <= '0;
              state_q <= after_dictionary;
            end
          end
        end
        VERTEX_LINES: if (valid) begin
          at_q <= at_q + 1'b1;
          if (at_q + 1'b1 == vertices_q) begin
            at_q    <= '0;
            state_q <= edges_some_q ? EDGE_LINES : WORK;
          end
        end
        EDGE_LINES: if (valid) begin
          at_q <= at_q + 1'b1;
          if (at_q + 1'b1 == edges_q) state_q <= WORK;
        end
        default: if (unit_done) begin // WORK
          unit_q <= unit_q + 1'b1;
          if (unit_valid_o) ordinal_q <= ordinal_q + 1'b1;
          if (take && last) state_q <= FINISHED;
        end
      endcase
    end
  end

endmodule

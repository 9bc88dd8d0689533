// Writes the results of a run to the out-stream, in this order. Beats of 512 bits:
//
//   records   of a listing search plan, during the run (gramer_set_recorder)
//   sums      beats of eight, 64 bits each, added up over the PUs
//   status    [31:0] status, [32] a sum is saturated, [127:64] address of the failed access or
//             offset of the argument, [191:128] next unit, [255:192] records
//   counters  8 of 64 bits: core, each PU, each partition, each channel's bank; the last beat has TLAST
module gramer_set_report
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_i,
  input  logic  start_i, // the run has ended: report
  output logic  done_o,  // pulse
  // Records, during the run
  input  logic  record_valid_i,
  output logic  record_ready_o,
  input  beat_t record_i,
  // Sums: value in the next cycle
  output logic [SUM_AT_W-1:0] sum_at_o,
  input  logic [COUNT_W-1:0] sum_i [PUS],
  input  logic  saturated_i,
  input  logic [31:0] status_i,
  input  logic [63:0] address_i,
  input  logic [63:0] next_i,
  input  logic [63:0] records_i,
  // Counters: same timing
  output logic [7:0]  counter_at_o,
  input  logic [63:0] core_counter_i,
  input  counter_t    pu_counter_i [PUS],
  input  counter_t    partition_counter_i [PARTITIONS],
  input  logic [63:0] bank_counter_i [CHANNELS],
  // Stream
  output logic  tvalid_o,
  input  logic  tready_i,
  output beat_t tdata_o,
  output logic  tlast_o
);

  logic done_q, tvalid_q, tlast_q;
  beat_t tdata_q;

  assign done_o   = done_q;
  assign tvalid_o = tvalid_q;
  assign tdata_o  = tdata_q;
  assign tlast_o  = tlast_q;

  localparam int unsigned WORDS = LINE_W / 64;
  localparam int unsigned WORD_AT_W = $clog2(WORDS);
  localparam int unsigned BEATS = (SUMS + PRODUCTS) / WORDS; // of sums
  localparam int unsigned BEAT_W = BEATS > 1 ? $clog2(BEATS) : 1;

  typedef enum logic [2:0] { IDLE, SUMS_, STATUS, COUNTERS, FINISH } state_e;
  typedef enum logic [1:0] { CORE, UNIT, PART, BANK } section_e;

  state_e      state_q;
  section_e    section_q;
  logic [1:0]  phase_q; // 0 select, 1 read, 2 write into the beat, 3 the beat leaves
  logic [WORD_AT_W-1:0] word_q;
  logic [BEAT_W-1:0]    sums_beat_q;
  logic [7:0]  unit_q, at_q, units_end, section_end;
  logic [63:0] value_q, counter;
  logic [COUNT_W-1:0] sum_q;
  logic [COUNT_W:0]   added;
  logic        over_q, free, last_value, last_pu, goes_on;
  beat_t       beat_q;

  assign free           = !tvalid_q || tready_i;
  assign record_ready_o = state_q == IDLE && free;
  assign sum_at_o       = SUM_AT_W'({sums_beat_q, word_q});
  assign counter_at_o   = at_q;
  assign last_pu        = unit_q == 8'(PUS - 1);
  // Saturates: all ones and a carry-out are sticky.
  assign added          = {1'b0, sum_q} + {1'b0, sum_i[PUS > 1 ? 32'(unit_q) % PUS : 0]};

  always_comb begin
    unique case (section_q)
      CORE:    begin section_end = 8'(CORE_COUNTERS - 1);      units_end = '0; end
      UNIT:    begin section_end = 8'(PU_COUNTERS - 1);        units_end = 8'(PUS - 1); end
      PART:    begin section_end = 8'(PARTITION_COUNTERS - 1); units_end = 8'(PARTITIONS - 1); end
      default: begin section_end = 8'(BANK_COUNTERS - 1);      units_end = 8'(CHANNELS - 1); end
    endcase
    unique case (section_q)
      CORE:    counter = core_counter_i;
      UNIT:    counter = 64'(pu_counter_i[32'(unit_q) % PUS]);
      PART:    counter = 64'(partition_counter_i[32'(unit_q) % PARTITIONS]);
      default: counter = bank_counter_i[32'(unit_q) % CHANNELS];
    endcase
  end

  assign last_value = section_q == BANK && unit_q == units_end && at_q == section_end;

  // Advances to the next counter once this one is in the beat or the beat has left.
  assign goes_on = state_q == COUNTERS && !last_value
                   && (phase_q == 2'd3 ? free : phase_q == 2'd2 && word_q != '1);

  always_ff @(posedge clk_i) begin
    done_q <= 1'b0;
    if (rst_i) begin
      state_q  <= IDLE;
      tvalid_q <= 1'b0;
      tlast_q  <= 1'b0;
    end else begin
      if (tready_i) tvalid_q <= 1'b0;
      unique case (state_q)
        IDLE: begin
          phase_q   <= '0;
          word_q    <= '0;
          sums_beat_q <= '0;
          unit_q    <= '0;
          at_q      <= '0;
          section_q <= CORE;
          sum_q     <= '0;
          over_q    <= saturated_i;
          tlast_q   <= 1'b0;
          if (start_i) state_q <= SUMS_;
          if (PLAN_LEVELS != 0 && record_valid_i && free) begin // otherwise there are no records
            tvalid_q <= 1'b1;
            tdata_q  <= record_i;
          end
        end
        SUMS_: unique case (phase_q)
          2'd0: phase_q <= 2'd1; // the sums of the PUs are valid from the next cycle on
          2'd1: begin
            sum_q  <= added[COUNT_W] ? '1 : added[COUNT_W-1:0];
            over_q <= over_q || added[COUNT_W];
            unit_q <= last_pu ? '0 : unit_q + 1'b1;
            if (last_pu) phase_q <= 2'd2;
          end
          2'd2: begin
            beat_q  <= {64'(sum_q), beat_q[LINE_W-1:64]};
            sum_q   <= '0;
            word_q  <= word_q + 1'b1;
            phase_q <= word_q == '1 ? 2'd3 : 2'd0;
          end
          default: if (free) begin
            tvalid_q <= 1'b1;
            tdata_q  <= beat_q;
            phase_q  <= '0;
            sums_beat_q <= sums_beat_q + 1'b1;
            if (sums_beat_q == BEAT_W'(BEATS - 1)) state_q <= STATUS;
          end
        endcase
        STATUS: if (free) begin
          tvalid_q <= 1'b1;
          tdata_q  <= beat_t'({records_i, next_i, address_i, 31'b0, over_q, status_i});
          state_q  <= COUNTERS;
        end
        COUNTERS: unique case (phase_q)
          2'd0: phase_q <= 2'd1;
          2'd1: begin
            value_q <= counter;
            phase_q <= 2'd2;
          end
          2'd2: begin
            beat_q  <= {value_q, beat_q[LINE_W-1:64]};
            value_q <= '0; // after the last one, padding of the beat
            phase_q <= word_q == '1 ? 2'd3 : last_value ? 2'd2 : 2'd0;
            if (word_q != '1) word_q <= word_q + 1'b1;
          end
          default: if (free) begin
            tvalid_q <= 1'b1;
            tdata_q  <= beat_q;
            tlast_q  <= last_value;
            phase_q  <= '0;
            word_q   <= '0;
            if (last_value) state_q <= FINISH;
          end
        endcase
        default: if (free) begin // FINISH: the last beat is taken
          state_q <= IDLE;
          done_q  <= 1'b1;
        end
      endcase
      if (goes_on) begin
        at_q <= at_q == section_end ? '0 : at_q + 1'b1;
        if (at_q == section_end) begin
          unit_q <= unit_q == units_end ? '0 : unit_q + 1'b1;
          if (unit_q == units_end) section_q <= section_e'(section_q + 1'b1);
        end
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(record_valid_i && (start_i || state_q != IDLE))) else $error("a record after the end");
  end
`endif

endmodule

// Output path: writes records, counts summed over the PUs, status and counters to the out-stream, in this
// order. Beats of 512 bits:
//
//   records   when listing, as they arrive: unit's ordinal, pattern number, ids, 32 bits each; 8 words
//             for up to 6 ids, 16 for up to 14, else 32. Unused words are all ones
//   counts    8 patterns of 64 bits, in the order of their numbers
//   status    [31:0] status (0 done, 1 full, 2 aborted, 3 error, 4 refused), [32] a count is
//             saturated, [127:64] address of the failed access or offset of the argument,
//             [191:128] next unit, [255:192] records
//   counters  8 of 64 bits: core, each PU, each partition, each bank; the last beat has TLAST.
//             Machines without performance counters omit PUs and partitions
//
// A record without room is dropped, and so is every later one: `full_o` ends the run, and `dropped_o`
// is the first unit that lost a record.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_pattern_buffer
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  input  logic   clear_i, // before a run
  input  logic   start_i, // the run has ended: report
  output logic   done_o, // pulse
  // Listed embeddings
  input  size_t  k_i,
  input  logic [31:0] beats_i, // capacity for records
  input  logic [PUS-1:0] listed_more_i, // in addition to the one being taken
  output logic [PUS-1:0] listed_take_o, // from one PU; it had more in the cycle before
  input  listed_t listed_i [PUS],
  output logic   listing_o, // a record is in flight
  output logic   full_o,
  output ordinal_t dropped_o,
  input  logic [31:0] patterns_i,
  // Pattern counters: value in the next cycle, plus the registers of both directions
  output logic [NUMBER_W-1:0] count_at_o,
  input  logic [COUNT_W-1:0] count_i [PUS],
  input  logic   saturated_i,
  input  logic [31:0] status_i,
  input  logic [63:0] address_i,
  input  logic [63:0] next_i,
  // Counters: same timing
  output logic [7:0]  counter_at_o,
  input  logic [63:0] core_counter_i,
  input  logic [63:0] pu_counter_i [PUS],
  input  logic [63:0] partition_counter_i [PARTITIONS],
  input  logic [63:0] bank_counter_i [BANKS],
  // Stream
  output logic   tvalid_o,
  input  logic   tready_i,
  output line_t  tdata_o,
  output logic   tlast_o
);

  logic done_q, full_q, tvalid_q, tlast_q;
  logic [PUS-1:0] listed_take_q;
  ordinal_t dropped_q;
  line_t tdata_q;

  assign done_o        = done_q;
  assign listed_take_o = listed_take_q;
  assign full_o        = full_q;
  assign dropped_o     = dropped_q;
  assign tvalid_o      = tvalid_q;
  assign tdata_o       = tdata_q;
  assign tlast_o       = tlast_q;

  typedef enum logic [2:0] { IDLE, REST, COUNTS, STATUS, COUNTERS_, FINISH } state_e;
  typedef enum logic [1:0] { CORE, UNIT, PART, BANK } section_e;

  state_e      state_q;
  logic [1:0]  phase_q;   // 0 ask, 1 answer, 2 add
  logic [2:0]  word_q;
  logic [31:0] pattern_q;
  section_e    section_q, next_section;
  logic [4:0]  unit_q;
  logic [7:0]  at_q;
  logic [63:0] value_q;
  logic        over_q, over;
  line_t       beat_q;
  logic        last_value, free;

  assign count_at_o   = NUMBER_W'(pattern_q);
  assign counter_at_o = at_q;
  assign free         = !tvalid_q || tready_i;

  // ---------------------------------------------------------------- records

  localparam int unsigned WORDS = 2 + DEPTH;                 // of the largest record
  localparam int LARGE = WORDS > 16 ? int'(WORDS) - 16 : 0; // in its second beat
  localparam int unsigned SMALL_IDS = 6, MIDDLE_IDS = 14;
  localparam int unsigned QUEUE = 4;                         // covers the latency from grant to beat

  logic             record_valid, record_done, record_done_q, half_q, second_q, small_q, large_q;
  logic             queue_room, begins, no_room, place;
  logic [PUS-1:0]   grant;
  logic [$clog2(QUEUE):0] queued_q; // records taken but not yet placed in a beat
  logic [31:0]      left_q;  // beats not yet started
  logic             fits_q;  // enough for a record
  logic [63:0]      records_q;
  line_t            first_beat, second_beat;
  listed_t          listed, record;

  // A PU is granted in one cycle, and its record is taken in the next; `queued_q` counts it after that,
  // so one more record may be in flight than it shows.
  assign queue_room = queued_q < ($clog2(QUEUE)+1)'(QUEUE - 1);

  gramer_rr_arbiter #(.REQUESTS(PUS)) i_turn (
    .clk_i, .rst_i,
    .request_i (listed_more_i), .take_i (queue_room),
    .valid_o (), .grant_o (grant), .index_o ()
  );

  always_comb begin
    listed = '0;
    for (int p = 0; p < PUS; p++) if (listed_take_q[p]) listed |= listed_i[p];
  end

  gramer_fifo #(.WIDTH($bits(listed_t)), .DEPTH(QUEUE)) i_records (
    .clk_i, .rst_i (rst_i || clear_i),
    .push_i (listed_take_q != '0), .data_i (listed), .full_o (),
    .pop_i (record_done), .valid_o (record_valid), .data_o (record)
  );

  // Words of the record, lowest first; a small record is repeated in the second half.
  always_comb begin
    first_beat = '1;
    first_beat[31:0]  = record.ordinal;
    first_beat[63:32] = 32'(record.number);
    for (int j = 0; j < DEPTH && j < MIDDLE_IDS; j++)
      first_beat[64 + 32*j +: 32] = record.ids[j];
    if (small_q) first_beat[511:256] = first_beat[255:0];
    second_beat = '1;
    for (int j = 0; j < LARGE; j++) second_beat[32*j +: 32] = record.ids[DEPTH - LARGE + j];
  end

  // A record being taken still counts in its PU.
  assign listing_o   = queued_q != '0;
  // The second half of a beat is already accounted for.
  assign begins      = !(small_q && half_q) && !second_q;
  assign no_room     = full_q || (begins && !fits_q);
  assign place       = record_valid && !no_room && (free || (small_q && !half_q));
  assign record_done = record_valid && (no_room || (place && (!large_q || second_q)));

  always_ff @(posedge clk_i) begin
    small_q <= k_i <= size_t'(SMALL_IDS);
    large_q <= 32'(k_i) > MIDDLE_IDS;
    if (rst_i || clear_i) begin
      listed_take_q <= '0;
      queued_q      <= '0;
      record_done_q        <= 1'b0;
      half_q        <= 1'b0;
      second_q      <= 1'b0;
      full_q        <= 1'b0;
      dropped_q     <= '1;
      left_q        <= beats_i;
      fits_q        <= 1'b0; // no record arrives this early
      records_q     <= '0;
    end else begin
      listed_take_q <= queue_room ? grant : '0;
      record_done_q        <= record_done;
      queued_q      <= queued_q + ($clog2(QUEUE)+1)'(listed_take_q != '0)
                       - ($clog2(QUEUE)+1)'(record_done_q);
      if (record_valid && no_room) begin
        full_q <= 1'b1;
        if (record.ordinal < dropped_q) dropped_q <= record.ordinal;
      end
      if (place) begin
        if (small_q) half_q <= !half_q;
        if (large_q) second_q <= !second_q;
        if (begins) left_q <= left_q - (large_q ? 32'd2 : 32'd1);
        if (record_done) records_q <= records_q + 1'b1;
      end
      fits_q <= place && begins ? left_q >= (large_q ? 32'd4 : 32'd2)
                                : left_q >= (large_q ? 32'd2 : 32'd1);
    end
  end

  // ---------------------------------------------------------------- report

  // Sum over the PUs; saturates instead of wrapping.
  logic [COUNT_W+PU_W:0] sum;
  always_comb begin
    sum = '0;
    for (int p = 0; p < PUS; p++) sum += (COUNT_W+PU_W+1)'(count_i[p]);
    over = sum[COUNT_W+PU_W:COUNT_W] != '0;
  end

  logic [63:0] counter;
  always_comb begin
    unique case (section_q)
      CORE:    counter = core_counter_i;
      UNIT:    counter = pu_counter_i[PU_W'(unit_q)];
      PART:    counter = partition_counter_i[PART_W'(unit_q)];
      default: counter = bank_counter_i[BANK_W'(unit_q)];
    endcase
  end

  logic [7:0] section_end;
  logic [4:0] units_end;
  always_comb begin
    unique case (section_q)
      CORE:    begin section_end = 8'(CORE_COUNTERS - 1);      units_end = '0; end
      UNIT:    begin section_end = 8'(PU_COUNTERS - 1);        units_end = 5'(PUS - 1); end
      PART:    begin section_end = 8'(PARTITION_COUNTERS - 1); units_end = 5'(PARTITIONS - 1); end
      default: begin section_end = 8'(BANK_COUNTERS - 1);      units_end = 5'(BANKS - 1); end
    endcase
  end
  assign next_section = PERFORMANCE_COUNTERS != 0 ? section_e'(section_q + 1'b1) : BANK;
  assign last_value = section_q == BANK && unit_q == units_end && at_q == section_end;

  localparam int unsigned AWAY   = 2 * SLR_REGISTERS; // round trip of index and value, in cycles
  localparam int unsigned AWAY_W = $clog2(AWAY + 2);

  logic [AWAY_W-1:0] away_q; // elapsed cycles of it
  logic              asking;
  assign asking = phase_q == 2'd0 && away_q != AWAY_W'(AWAY);
  always_ff @(posedge clk_i)
    away_q <= (state_q == COUNTS || state_q == COUNTERS_) && asking ? away_q + 1'b1 : '0;

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
          tlast_q <= 1'b0;
          if (place) begin
            if (small_q && !half_q) beat_q <= {{8{32'hffff_ffff}}, first_beat[255:0]};
            else begin
              tvalid_q <= 1'b1;
              tdata_q  <= small_q ? {first_beat[511:256], beat_q[255:0]}
                        : second_q ? second_beat : first_beat;
            end
          end
          if (start_i) state_q <= REST;
        end
        // The remaining half beat.
        REST: if (free) begin
          if (half_q) begin
            tvalid_q <= 1'b1;
            tdata_q  <= beat_q;
          end
          state_q   <= COUNTS;
          phase_q   <= '0;
          word_q    <= '0;
          pattern_q <= '0;
          section_q <= CORE;
          unit_q    <= '0;
          at_q      <= '0;
          over_q    <= saturated_i;
          beat_q    <= '0;
        end
        COUNTS: begin
          phase_q <= asking ? 2'd0 : phase_q + 1'b1;
          if (phase_q == 2'd1) begin
            value_q <= over ? 64'({COUNT_W{1'b1}}) : 64'(sum[COUNT_W-1:0]);
            // Counters beyond the run's patterns are stale.
            over_q  <= over_q || (over && pattern_q < patterns_i);
          end else if (phase_q == 2'd2) begin
            beat_q[32'(word_q)*64 +: 64] <= pattern_q < patterns_i ? value_q : '0;
            if (word_q == '1) phase_q <= 2'd3;
            else begin
              phase_q   <= '0;
              word_q    <= word_q + 1'b1;
              pattern_q <= pattern_q + 1'b1;
            end
          end else if (phase_q == 2'd3) begin
            phase_q <= 2'd3;
            if (free) begin
              tvalid_q  <= 1'b1;
              tdata_q   <= beat_q;
              phase_q   <= '0;
              word_q    <= '0;
              pattern_q <= pattern_q + 1'b1;
              if (pattern_q + 1'b1 >= patterns_i) state_q <= STATUS;
            end
          end
        end
        STATUS: if (free) begin
          tvalid_q <= 1'b1;
          tdata_q  <= line_t'({records_q, next_i, address_i, 31'b0, over_q, status_i});
          beat_q   <= '0;
          state_q  <= COUNTERS_;
        end
        COUNTERS_: begin
          phase_q <= asking ? 2'd0 : phase_q + 1'b1;
          if (phase_q == 2'd1) value_q <= counter;
          else if (phase_q == 2'd2) begin
            beat_q[32'(word_q)*64 +: 64] <= value_q;
            if (word_q == '1 || last_value) phase_q <= 2'd3;
            else phase_q <= '0;
          end else if (phase_q == 2'd3) begin
            phase_q <= 2'd3;
            if (free) begin
              tvalid_q <= 1'b1;
              tdata_q  <= beat_q;
              tlast_q  <= last_value;
              beat_q   <= '0;
              phase_q  <= '0;
              if (last_value) state_q <= FINISH;
            end
          end
          if (phase_q == 2'd2 && word_q != '1 && !last_value
              || phase_q == 2'd3 && free && !last_value) begin
            word_q <= word_q + 1'b1;
            if (at_q == section_end) begin
              at_q <= '0;
              if (unit_q == units_end) begin
                unit_q    <= '0;
                section_q <= next_section;
              end else unit_q <= unit_q + 1'b1;
            end else at_q <= at_q + 1'b1;
          end
        end
        default: if (free) begin // FINISH: the last beat is taken
          state_q <= IDLE;
          done_q  <= 1'b1;
        end
      endcase
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(state_q != IDLE && listing_o)) else $error("a record after the end of the run");
  end
`endif

endmodule

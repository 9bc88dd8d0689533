// Parses the in-stream and dispatches its units to the PUs: one header beat with the plans, beats with label
// ranges and words of a search plan (if any), then beats of eight units. Each half beat goes to the PU with the
// most room (round robin on ties) once the image is loaded up to the last line of all its lists, or completely.
// Half beats without units are skipped. When the run stops early, the rest of the stream is drained. A stream without
// a beat for STREAM_WAIT cycles has lost its last beat and is ended here.
module gramer_set_distributor
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  localparam int unsigned FREE_W = $clog2(UNIT_QUEUE/UNITS_A_GROUP) + 1,
  localparam int unsigned TOTAL_W = $clog2(PARTITION_LINES) + $clog2(PARTITIONS) + 1
) (
  input  logic  clk_i,
  input  logic  rst_i,
  input  logic  start_i,
  input  logic  stop_i, // dispatch no further unit; held until the next start
  // Stream
  input  logic  tvalid_i,
  output logic  tready_o,
  input  beat_t tdata_i,
  input  logic  tlast_i,
  // Image
  input  logic  whole_i, // units wait for the whole image
  input  logic  all_i,
  input  logic [TOTAL_W-1:0] loaded_i,
  // PUs
  output plan_t plan_o [PLANS],
  output logic  word_write_o, // ranges of labels, words of a search plan, before the first unit
  output logic [PLAN_AT_W-1:0] word_at_o,
  output plan_bits_t word_o,
  input  logic [FREE_W-1:0] free_i [PUS],
  output logic [PUS-1:0] push_o,
  output unit_t unit_o [UNITS_A_GROUP],
  // State
  output logic  finished_o, // the stream has ended and every unit has been dispatched
  output logic  cut_o,      // the stream was ended without its last beat; held until the next start
  output logic [63:0] places_o, // dispatched unit positions of the stream
  output logic [63:0] units_o
);

  logic [PUS-1:0] push_q;
  logic [63:0] places_q, units_q;
  plan_t plan_q [PLANS];
  unit_t unit_q [UNITS_A_GROUP];
  logic  write_q;
  logic [PLAN_AT_W-1:0] write_at_q;
  plan_bits_t word_q;

  assign push_o       = push_q;
  assign places_o     = places_q;
  assign units_o      = units_q;
  assign plan_o       = plan_q;
  assign unit_o       = unit_q;
  assign word_write_o = write_q;
  assign word_at_o    = write_at_q;
  assign word_o       = word_q;

  localparam int unsigned HALVES = UNITS_A_BEAT / UNITS_A_GROUP;
  localparam int unsigned HALF_W = $clog2(HALVES);
  localparam int unsigned GROUPS = UNIT_QUEUE / UNITS_A_GROUP;
  localparam int unsigned BLIND  = 2; // cycles until a PU's room reflects a dispatch

  typedef enum logic [1:0] { IDLE, HEADER, WORDS, UNITS } state_e;

  state_e state_q;
  logic   ended_q; // last beat of units taken; separate from the state, since it is known late
  logic   full, valid, last, take, step;
  beat_t  beat;
  logic [HALF_W-1:0] half_q;

  assign tready_o = !full;

  // ---------------------------------------------------------------- ranges of labels, words of a search plan

  plan_t header;
  logic  word, words_end;
  logic [PLAN_AT_W:0] word_at_q, words_q; // words_q: their number

  assign header    = beat[$bits(plan_t)-1:0];
  assign word      = state_q == WORDS && valid;
  assign words_end = word_at_q + 1'b1 == words_q;

  if (PLAN_LEVELS != 0) begin : gen_words
    always_ff @(posedge clk_i) begin
      if (state_q == HEADER) begin
        word_at_q <= '0;
        words_q   <= (PLAN_AT_W+1)'(header.k) << $clog2(WORDS_A_BEAT);
      end else if (word) word_at_q <= word_at_q + 1'b1;
      write_q    <= word;
      write_at_q <= word_at_q[PLAN_AT_W-1:0];
      word_q     <= beat[32'(word_at_q[$clog2(WORDS_A_BEAT)-1:0])*IN_WORD_EACH
                         +: $bits(plan_bits_t)];
    end
  end else begin : gen_no_words
    assign word_at_q  = '0;
    assign words_q    = '0;
    assign write_q    = 1'b0;
    assign write_at_q = '0;
    assign word_q     = '0;
  end

  gramer_fifo #(.WIDTH(LINE_W + 1), .DEPTH(4)) i_ahead (
    .clk_i, .rst_i,
    .push_i (tvalid_i && !full), .data_i ({tlast_i, tdata_i}), .full_o (full),
    .pop_i (take), .valid_o (valid), .data_o ({last, beat})
  );

  // ---------------------------------------------------------------- a stream without an end

  // Before the header only a stopped run has a limit, since the kernel that reads the stream may start late.
  logic [$clog2(STREAM_WAIT):0] waited_q;
  logic waits_q, cut_q, cut;

  assign cut   = waited_q[$clog2(STREAM_WAIT)];
  assign cut_o = cut_q;

  always_ff @(posedge clk_i) begin
    waits_q <= !valid && !ended_q && (state_q == HEADER ? stop_i : state_q != IDLE);
    if (rst_i || start_i || !waits_q) waited_q <= '0;
    else waited_q <= waited_q + 1'b1;
    if (rst_i || start_i) cut_q <= 1'b0;
    else if (cut) cut_q <= 1'b1;
  end

  // ---------------------------------------------------------------- half beats, lines they wait for

  logic   a_valid, a_ready, a_some, b_valid_q, b_some_q, b_there_q, b_take;
  unit_t  a_unit [UNITS_A_GROUP], b_unit_q [UNITS_A_GROUP], unit [UNITS_A_GROUP];
  logic [UNITS_A_GROUP-1:0] some;
  line_at_t b_wants_q [UNITS_A_GROUP];
  logic   a_take, there;

  always_comb
    for (int u = 0; u < UNITS_A_GROUP; u++) begin
      unit[u] = beat[(32'(half_q)*UNITS_A_GROUP + u)*$bits(unit_t) +: $bits(unit_t)];
      some[u] = unit[u].quarters != '0;
    end

  // Two entries: taking a half from the queue does not depend on a departure in the same cycle, which is known late.
  logic [UNITS_A_GROUP*$bits(unit_t)-1:0] unit_bits, a_bits;

  always_comb
    for (int u = 0; u < UNITS_A_GROUP; u++) begin
      unit_bits[u*$bits(unit_t) +: $bits(unit_t)] = unit[u];
      a_unit[u] = a_bits[u*$bits(unit_t) +: $bits(unit_t)];
    end

  gramer_set_skid_buffer #(.WIDTH(1 + UNITS_A_GROUP*$bits(unit_t))) i_half (
    .clk_i, .rst_i (rst_i || start_i || stop_i),
    .valid_i (step && !stop_i), .ready_o (a_ready), .data_i ({some != '0, unit_bits}),
    .valid_o (a_valid), .ready_i (a_take), .data_o ({a_some, a_bits})
  );

  assign step = state_q == UNITS && !ended_q && valid && (stop_i || a_ready);
  assign take = (state_q == HEADER && valid)
                || (word && word_at_q[$clog2(WORDS_A_BEAT)-1:0] == '1)
                || (step && half_q == HALF_W'(HALVES - 1));
  assign a_take = a_valid && (!b_valid_q || b_take);

  // The length of a root's list is at most the field's range, so checking the line after it suffices.
  always_comb begin
    there = all_i;
    if (!whole_i && !all_i) begin
      there = 1'b1;
      for (int u = 0; u < UNITS_A_GROUP; u++)
        if (b_unit_q[u].quarters != '0 && TOTAL_W'(b_wants_q[u]) >= loaded_i) there = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || start_i) begin
      state_q   <= rst_i ? IDLE : HEADER;
      ended_q   <= 1'b0;
      b_valid_q <= 1'b0;
      half_q    <= '0;
    end else begin
      if (state_q == HEADER && valid)
        state_q <= PLAN_LEVELS != 0 && header.operation == 4'(OP_PLAN) && header.k != '0 ? WORDS
                   : UNITS;
      else if ((word && words_end) || cut) state_q <= UNITS;
      if ((step && half_q == HALF_W'(HALVES - 1) && last) || cut) ended_q <= 1'b1;
      if (step) half_q <= half_q == HALF_W'(HALVES - 1) ? '0 : half_q + 1'b1;
      if (stop_i) b_valid_q <= 1'b0;
      else if (a_take) b_valid_q <= 1'b1;
      else if (b_take) b_valid_q <= 1'b0;
    end
    if (state_q == HEADER && valid)
      for (int p = 0; p < PLANS; p++) plan_q[p] <= beat[p*IN_PLAN_EACH +: $bits(plan_t)];
    if (a_take) begin
      b_unit_q <= a_unit;
      b_some_q <= a_some;
      for (int u = 0; u < UNITS_A_GROUP; u++)
        b_wants_q[u] <= LINE_AT_W'((a_unit[u].address + ID_W'(a_unit[u].quarters) - 1'b1)
                                   >> $clog2(LINE_QUARTERS));
    end
    // Loaded lines stay loaded; once the image is complete, every half is ready.
    b_there_q <= a_take ? all_i : b_valid_q && !b_take && there;
  end

  // ---------------------------------------------------------------- the PU with most room

  // A dispatch is visible in a PU's room three cycles later, and in the choice two cycles after that. The PU is
  // skipped for two cycles here, and was for two before.
  logic [PUS-1:0] blind, most, most_q, grant, blind_q [BLIND];
  logic [PUS-1:0] room_q [GROUPS]; // PUs with room for more halves than the index
  logic           picked;
  logic [2:0]     b_count;

  always_comb begin
    blind = '0;
    for (int s = 0; s < BLIND; s++) blind |= blind_q[s];
    most = '0;
    for (int g = 0; g < GROUPS; g++) if (room_q[g] != '0) most = room_q[g];
  end

  gramer_rr_arbiter #(.REQUESTS(PUS)) i_turn (
    .clk_i, .rst_i,
    .request_i (most_q & ~blind), .take_i (b_take && b_some_q),
    .valid_o (picked), .grant_o (grant), .index_o ()
  );

  always_comb begin
    b_count = '0;
    for (int u = 0; u < UNITS_A_GROUP; u++) b_count += 3'(b_unit_q[u].quarters != '0);
  end

  assign b_take = b_valid_q && b_there_q && (picked || !b_some_q) && !stop_i;

  always_ff @(posedge clk_i) begin
    for (int g = 0; g < GROUPS; g++)
      for (int p = 0; p < PUS; p++) room_q[g][p] <= free_i[p] > FREE_W'(g) && !blind[p];
    most_q     <= most;
    blind_q[0] <= !rst_i && b_take && b_some_q ? grant : '0;
    for (int s = 1; s < BLIND; s++) blind_q[s] <= rst_i ? '0 : blind_q[s-1];
    push_q     <= !rst_i && b_take && b_some_q ? grant : '0;
    unit_q     <= b_unit_q;
    if (rst_i || start_i) begin
      places_q <= '0;
      units_q  <= '0;
    end else if (b_take) begin
      places_q <= places_q + 64'(UNITS_A_GROUP);
      units_q  <= units_q + 64'(b_count);
    end
  end

  assign finished_o = ended_q && !a_valid && !b_valid_q && push_q == '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert ($onehot0(push_q)) else $error("a half for two PUs");
    for (int p = 0; p < PUS; p++)
      assert (!(push_q[p] && free_i[p] == '0)) else $error("a half for a PU without room");
  end
`endif

endmodule

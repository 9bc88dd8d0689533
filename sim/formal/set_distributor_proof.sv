// Half beats with units are dispatched once, in order and unchanged, each to one PU that has room, once all lines of its lists
// or the whole image are loaded; those without units are left out; after a stop none is dispatched. A dispatch may be visible
// in a PU's room two or three cycles later. Liveness: with the image loaded and every queue empty, a half that waits is
// dispatched after at most three cycles and those that the halves ahead of it take. One run; an arbitrary half is followed
// until the run is stopped or its stream is cut.
module set_distributor_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic           clk_i,
  input logic           start_i,
  input logic           stop_i,
  input logic           tvalid_i,
  input beat_t          tdata_i,
  input logic           tlast_i,
  input logic           whole_i, // always the same
  input logic           all_i,
  input logic [2:0]     loaded_i,
  input logic [PUS-1:0] late_i,  // the room is that of the cycle before
  input logic [PUS-1:0] pop_i,
  input logic           mark_i,  // follow a half of the beat that comes in now
  input logic           half_i
);
  localparam int unsigned GROUPS = UNIT_QUEUE / UNITS_A_GROUP;
  localparam int unsigned FREE_W = $clog2(GROUPS) + 1;
  localparam int unsigned HALF   = UNITS_A_GROUP * $bits(unit_t);
  localparam int unsigned AHEAD  = 2; // beats of the distributor's queue
  localparam int unsigned PLACES_ALL = 4 + 2 * AHEAD; // of halves in the distributor
  localparam int unsigned MOST   = 3 + 2 * AHEAD + 3; // cycles that a half may wait

  typedef logic [HALF-1:0] half_t;

  logic           started_q = 1'b0;
  logic           ran_q, head_q, last_q, void_q, stopped_q, marked_q, all_q, whole_q;
  logic [2:0]     loaded_q;
  logic [FREE_W-1:0] used_q [PUS], used_was_q [PUS], free [PUS];
  logic [PUS-1:0] push, late_q;
  logic           tready, finished, cut;
  plan_t          plan [PLANS];
  unit_t          unit [UNITS_A_GROUP];
  beat_t          header_q;
  half_t          kept_q, pushed;
  logic [4:0]     count_q, ahead_q, waits_q;

  always_comb
    for (int p = 0; p < PUS; p++) free[p] = FREE_W'(GROUPS) - (late_i[p] ? used_was_q[p] : used_q[p]);

  gramer_set_distributor dut (
    .clk_i, .rst_i (!started_q), .start_i, .stop_i,
    .tvalid_i, .tready_o (tready), .tdata_i, .tlast_i,
    .whole_i, .all_i, .loaded_i,
    .plan_o (plan), .word_write_o (), .word_at_o (), .word_o (),
    .free_i (free), .push_o (push), .unit_o (unit),
    .finished_o (finished), .cut_o (cut), .places_o (), .units_o ()
  );

  function automatic logic some_of(input half_t half);
    logic some;
    some = 1'b0;
    for (int u = 0; u < UNITS_A_GROUP; u++) begin
      unit_t one;
      one  = half[u*$bits(unit_t) +: $bits(unit_t)];
      some |= one.quarters != '0;
    end
    return some;
  endfunction

  // Whether all lines of a half's lists are loaded.
  function automatic logic there_of(input half_t half, input logic whole, input logic all, input logic [2:0] loaded);
    logic there;
    there = !whole;
    for (int u = 0; u < UNITS_A_GROUP; u++) begin
      unit_t one;
      one = half[u*$bits(unit_t) +: $bits(unit_t)];
      if (one.quarters != '0 && {1'b0, line_at_t'((one.address + ID_W'(one.quarters) - 1'b1) >> 2)} >= loaded) there = 1'b0;
    end
    return there || all;
  endfunction

  always_comb for (int u = 0; u < UNITS_A_GROUP; u++) pushed[u*$bits(unit_t) +: $bits(unit_t)] = unit[u];

  half_t half [2];
  assign half[0] = tdata_i[0 +: HALF];
  assign half[1] = tdata_i[HALF +: HALF];

  wire accept  = tvalid_i && tready && started_q;
  wire units   = accept && head_q;
  wire leaves  = push != '0;
  wire mark    = units && mark_i && !marked_q && some_of(half[half_i]);
  wire follows = leaves && marked_q && ahead_q == '0;

  logic empty; // every PU has all its room, for two cycles
  always_comb begin
    empty = 1'b1;
    for (int p = 0; p < PUS; p++) empty &= used_q[p] == '0 && used_was_q[p] == '0;
  end
  wire waits = ran_q && !void_q && !stop_i && !cut && count_q != '0 && all_i && empty && !leaves;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    {all_q, whole_q, loaded_q, late_q} <= {all_i, whole_i, loaded_i, late_i};
    for (int p = 0; p < PUS; p++) begin
      used_q[p]     <= !started_q ? '0 : used_q[p] + FREE_W'(push[p]) - FREE_W'(pop_i[p] && used_q[p] != '0);
      used_was_q[p] <= !started_q ? '0 : used_q[p];
    end
    if (!started_q) begin
      {ran_q, head_q, last_q, void_q, stopped_q, marked_q} <= '0;
      {count_q, ahead_q, waits_q} <= '0;
    end else begin
      if (start_i) ran_q <= 1'b1;
      if (stop_i) stopped_q <= 1'b1;
      if (stop_i || dut.cut || cut) void_q <= 1'b1;
      if (accept && !head_q) begin
        head_q   <= 1'b1;
        header_q <= tdata_i;
      end
      if (accept && tlast_i) last_q <= 1'b1;
      count_q <= count_q + (units ? 5'(some_of(half[0])) + 5'(some_of(half[1])) : '0) - 5'(leaves);
      if (mark) begin
        marked_q <= 1'b1;
        kept_q   <= half[half_i];
        ahead_q  <= count_q - 5'(leaves) + 5'(half_i && some_of(half[0]));
      end else if (follows) marked_q <= 1'b0;
      else if (marked_q && leaves) ahead_q <= ahead_q - 1'b1;
      waits_q <= waits ? waits_q + 1'b1 : '0;
    end
  end

`ifdef INVARIANTS
  // Halves with units by their places, the next to leave first: dispatched, waiting for lines and room, the two of the
  // buffer, those of the queue's beats.
  logic [PLACES_ALL-1:0] there;
  half_t      at [PLACES_ALL];
  logic [4:0] rank [PLACES_ALL], sum, first; // first: cycles until the first of them is dispatched
  logic [1:0] held;
  logic [AHEAD-1:0] lasts;
  beat_t      front;    // the beat at the queue's head
  logic       in_front; // the header is at the queue's head

  assign held     = dut.i_ahead.write_q - dut.i_ahead.read_q;
  assign in_front = 2'(dut.state_q) < 2'd2;

  always_comb begin
    front    = dut.i_ahead.mem[1'(dut.i_ahead.read_q)][LINE_W-1:0];
    at[0]    = pushed;
    there[0] = leaves;
    for (int u = 0; u < UNITS_A_GROUP; u++) at[1][u*$bits(unit_t) +: $bits(unit_t)] = dut.b_unit_q[u];
    there[1] = dut.b_valid_q && dut.b_some_q;
    at[2]    = dut.i_half.data_q[HALF-1:0];
    there[2] = dut.i_half.valid_q && dut.i_half.data_q[HALF];
    at[3]    = dut.i_half.spare_q[HALF-1:0];
    there[3] = dut.i_half.spare_valid_q && dut.i_half.spare_q[HALF];
    for (int unsigned g = 0; g < AHEAD; g++) begin
      logic [LINE_W:0] beat;
      beat = dut.i_ahead.mem[1'(32'(dut.i_ahead.read_q) + g)];
      lasts[g] = beat[LINE_W] && g < 32'(held);
      for (int unsigned h = 0; h < 2; h++) begin
        at[4+2*g+h]    = beat[h*HALF +: HALF];
        there[4+2*g+h] = g < 32'(held) && some_of(beat[h*HALF +: HALF])
                         && !(g == 0 && (in_front || h < 32'(dut.half_q)));
      end
    end
    sum   = '0;
    first = '0;
    for (int l = 0; l < PLACES_ALL; l++) begin
      rank[l] = sum;
      if (there[l] && sum == '0)
        first = l < 4 ? 5'(l) : 5'(l) - (in_front ? 5'd2 : 5'(dut.half_q) + 5'd1) + 5'(in_front)
                                + 5'(dut.i_half.spare_valid_q);
      sum += 5'(there[l]);
    end
  end
`endif

  always_comb begin
    if (started_q) begin
      // What the surroundings owe.
      assume (!(start_i && ran_q) && !(stop_i && !ran_q) && (stop_i || !stopped_q));
      assume (whole_i == whole_q && (all_i || !all_q) && loaded_i >= loaded_q);
      assume (!(tvalid_i && last_q) && !(tvalid_i && tlast_i && !head_q));
      // What the distributor owes.
      assert ($onehot0(push));
      for (int p = 0; p < PUS; p++) assert (!(push[p] && used_q[p] == FREE_W'(GROUPS)));
      if (stopped_q) assert (!leaves);
      if (leaves) begin
        assert (ran_q && some_of(pushed));
        assert (there_of(pushed, whole_q, all_q, loaded_q));
        for (int p = 0; p < PLANS; p++) assert (plan[p] == header_q[p*IN_PLAN_EACH +: $bits(plan_t)]);
      end
      if (!void_q) begin
        if (leaves) assert (count_q != '0);
        if (follows) assert (pushed == kept_q);
        if (finished) assert (last_q && count_q == '0);
        assert (32'(waits_q) <= MOST);
      end
`ifdef INVARIANTS
      // Room.
      for (int p = 0; p < PUS; p++) begin
        assert (used_q[p] <= FREE_W'(GROUPS) && used_was_q[p] <= FREE_W'(GROUPS));
        assert (used_q[p] <= used_was_q[p] + FREE_W'(dut.blind_q[1][p]));
        assert (dut.blind_q[0][p] == push[p]);
        for (int g = 0; g < GROUPS; g++) if (dut.room_q[g][p]) assert (used_q[p] < FREE_W'(GROUPS));
        if (dut.most_q[p] && !dut.blind_q[1][p]) assert (used_q[p] < FREE_W'(GROUPS));
      end
      // State.
      assert (2'(dut.state_q) != 2'd2 && ran_q == (2'(dut.state_q) != 2'd0));
      assert (32'(held) <= AHEAD && (head_q || held == '0));
      if (2'(dut.state_q) < 2'd3) begin
        assert (!dut.b_valid_q && !dut.i_half.valid_q && !leaves && dut.half_q == '0 && !dut.ended_q);
        assert (head_q == (held != '0));
        if (!ran_q) assert (dut.waited_q <= 3'd1 && !(dut.waited_q != '0 && dut.waits_q) && !cut && !void_q);
        if (2'(dut.state_q) == 2'd1 && (dut.waits_q || dut.waited_q != '0)) assert (stopped_q);
        if (head_q) assert (front == header_q && !lasts[0]);
      end else begin
        assert (head_q || stopped_q);
        for (int p = 0; p < PLANS; p++)
          if (!stopped_q) assert (plan[p] == header_q[p*IN_PLAN_EACH +: $bits(plan_t)]);
      end
      if (stopped_q) assert (!dut.b_valid_q && !dut.i_half.valid_q && void_q);
      if (dut.i_half.valid_q) assert (dut.i_half.data_q[HALF] == some_of(at[2]));
      if (dut.i_half.spare_valid_q) assert (dut.i_half.valid_q && dut.i_half.spare_q[HALF] == some_of(at[3]));
      if (dut.b_valid_q) assert (dut.b_some_q == some_of(at[1]));
      for (int u = 0; u < UNITS_A_GROUP; u++)
        if (dut.b_valid_q)
          assert (dut.b_wants_q[u] == line_at_t'((dut.b_unit_q[u].address + ID_W'(dut.b_unit_q[u].quarters) - 1'b1) >> 2));
      if (dut.b_there_q && dut.b_valid_q) assert (there_of(at[1], whole_q, all_q, loaded_q));
      if (!void_q) begin
        assert (!cut && (dut.half_q == '0 || held != '0));
        assert (dut.ended_q == (last_q && lasts == '0));
        for (int g = 0; g < AHEAD; g++) if (lasts[g]) assert (last_q && 32'(held) == g + 1);
        if (dut.ended_q) assert (held == '0);
        // What is followed.
        assert (count_q == sum);
        if (marked_q) begin
          assert (ahead_q < count_q && some_of(kept_q));
          for (int l = 0; l < PLACES_ALL; l++) if (there[l] && rank[l] == ahead_q) assert (at[l] == kept_q);
        end
        // Liveness: PUs can be chosen after three cycles; from then on a half leaves each place in each cycle.
        if (waits_q != '0) begin
          assert (dut.blind_q[1] == '0);
          if (dut.b_valid_q) assert (dut.b_there_q);
        end
        if (waits_q > 5'd1) assert (dut.room_q[GROUPS-1] == '1);
        if (waits_q > 5'd2) begin
          assert (dut.most_q == '1);
          if (count_q != '0) assert (32'(waits_q) + 32'(first) <= MOST);
        end
      end
`endif
      cover (finished && !void_q && marked_q == 1'b0 && count_q == '0 && places_seen_q);
      cover (leaves && !all_q && waits_q == '0 && void_q == 1'b0 && late_q != '0);
      cover (waits_q == 5'd4);
    end
  end

  // The followed half has left.
  logic places_seen_q;
  always_ff @(posedge clk_i) places_seen_q <= started_q && (places_seen_q || follows);
endmodule

// An operation on a stored set and a streamed list, each of up to three of five vertices in up to two lines of two: an intersection,
// a difference, a copy, or the set alone, in any range and without any one image. The members come out in order, each once,
// and no other; the end follows within a bounded number of cycles if the lines come. The intersector is the real one.
module set_plan_merger_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  parameter int unsigned MOST = 3 // members of a set or list
) (
  input logic       clk_i,
  // Anything, the same for the whole run
  input logic [MOST*ID_W-1:0] stored_i, // ids, in order
  input logic [1:0]     stored_count_i,
  input logic [MOST*ID_W-1:0] list_i,
  input logic [1:0]     list_count_i,
  input logic           makes_i, difference_i, uses_i, streams_i,
  input id_t            low_i, limit_i, image_i,
  // Anything at any time
  input logic       come_i // a line comes
);
  localparam int unsigned CYCLES = 15; // from the reset to the end, at the most
  localparam int unsigned IDS = 1 << ID_W;
  localparam id_t MEMBERS_OF = 5; // ids that sets and lists have members of

  logic        started_q = 1'b0;
  logic        running_q;
  logic [MOST*ID_W-1:0] stored_q, list_q;
  logic [1:0]  stored_count_q, list_count_q;
  logic        makes_q, difference_q, uses_q, streams_q;
  id_t         low_q, limit_q, image_q;

  logic        at_q, out_q, came_q; // the operation was taken, has ended, its lines have come
  logic        second_q;            // of its lines
  logic        stalled_q;
  logic [4:0]  time_q;
  logic [IDS-1:0] seen_q;

  // ---------------------------------------------------------------- what they mean

  logic [IDS-1:0] in_stored, in_list, in_range, wanted;
  always_comb begin
    in_stored = '0;
    in_list   = '0;
    for (int e = 0; e < MOST; e++) begin
      if (2'(e) < stored_count_q) in_stored[stored_q[ID_W*e +: ID_W]] = 1'b1;
      if (2'(e) < list_count_q) in_list[list_q[ID_W*e +: ID_W]] = 1'b1;
    end
    for (int i = 0; i < IDS; i++) in_range[i] = id_t'(i) >= low_q && id_t'(i) < limit_q && id_t'(i) != image_q;
    wanted = in_range & (!uses_q ? in_list : !streams_q ? in_stored
                      : difference_q ? in_stored & ~in_list : in_stored & in_list);
  end

  // ---------------------------------------------------------------- set, list and memory

  function automatic line_t line_of(input logic [MOST*ID_W-1:0] ids, input logic [1:0] count,
                                    input logic second);
    line_t made;
    made = '1;
    if (second) made[0 +: ENTRY_W] = ENTRY_W'(ids[2*ID_W +: ID_W]);
    else begin
      if (count >= 2'd1) made[0 +: ENTRY_W] = ENTRY_W'(ids[0 +: ID_W]);
      if (count >= 2'd2) made[ENTRY_W +: ENTRY_W] = ENTRY_W'(ids[ID_W +: ID_W]);
    end
    return made;
  endfunction

  function automatic id_t max_of(input logic second);
    return second ? stored_q[2*ID_W +: ID_W]
                  : stored_count_q >= 2'd2 ? stored_q[ID_W +: ID_W] : stored_q[0 +: ID_W];
  endfunction

  logic       valid, pop, line_valid, line_ready, read, step_valid, out_valid, busy, match_valid;
  set_op_t    op;
  meta_t      meta;
  stored_t    set;
  set_at_t    max_at, read_at, read_at_q;
  line_t      held_q, read_line_q, streamed, out_line;
  step_t      step, match_step;
  lanes_t     match, out_lanes;
  plan_step_t out_step;
  logic       read_q, cut, ends;
  plan_end_t  out_end;
  plan_walker_t walker;
  plan_events_t events;
  logic [SET_W-1:0] set_at;

  always_comb begin
    op                 = '0;
    op.word.kind       = makes_q ? 2'(WORD_MAKE) : 2'(WORD_COUNT);
    op.word.pairs      = 1'b1; // so that a count has an end, too
    op.word.stored     = uses_q;
    op.word.streams    = streams_q;
    op.word.difference = difference_q;
    op.low             = low_q;
    op.limit           = limit_q;
    op.images          = '1;
    op.images[0]       = image_q;
    meta      = '0;
    meta.high = 2'd1;
    meta.last = second_q || list_count_q <= 2'd2;
    set       = '{first_max: max_of(1'b0), lines: set_end_t'((3'(stored_count_q) + 3'd1) >> 1), base: '0};
  end

  assign valid      = running_q && !at_q;
  assign line_valid = running_q && !came_q && streams_q && come_i;

  gramer_set_plan_merger dut (
    .clk_i, .rst_i (!started_q),
    .valid_i (valid), .pop_o (pop), .op_i (op), .room_i (1'b1), // the bench takes it away
    .line_valid_i (line_valid), .line_ready_o (line_ready),
    .line_i (line_of(list_q, list_count_q, second_q)), .meta_i (meta),
    .set_walker_o (walker), .set_o (set_at), .set_i (set), .max_at_o (max_at), .max_i (max_of(max_at[0])),
    .read_o (read), .read_at_o (read_at), .held_i (held_q),
    .step_valid_o (step_valid), .step_o (step), .streamed_o (streamed), .match_i (match),
    .valid_o (out_valid), .line_o (out_line), .lanes_o (out_lanes), .plan_step_o (out_step),
    .ends_o (ends), .end_o (out_end), .cut_o (cut), .busy_o (busy), .events_o (events)
  );

  gramer_set_intersector i_intersector (
    .clk_i, .rst_i (!started_q), .valid_i (step_valid), .step_i (step), .held_i (held_q),
    .streamed_i (streamed), .valid_o (match_valid), .step_o (match_step), .match_o (match)
  );

  wire takes = line_valid && line_ready;

  logic [IDS-1:0] found; // by this line
  logic       behind; // a member isn't above all before it
  always_comb begin
    found  = '0;
    behind = 1'b0;
    for (int l = 0; l < LANES; l++)
      if (out_valid && out_lanes[l]) begin
        if ((seen_q | found) >> out_line[l*ENTRY_W +: ID_W] != '0) behind = 1'b1;
        found[out_line[l*ENTRY_W +: ID_W]] = 1'b1;
      end
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (read) read_at_q <= read_at;
    read_q      <= read;
    if (read_q) held_q <= line_of(stored_q, stored_count_q, read_at_q[0]);
    if (!started_q) begin
      running_q      <= 1'b1;
      stored_q       <= stored_i;
      stored_count_q <= stored_count_i;
      list_q         <= list_i;
      list_count_q   <= list_count_i;
      makes_q        <= makes_i;
      difference_q   <= difference_i;
      uses_q         <= uses_i;
      streams_q      <= streams_i;
      low_q          <= low_i;
      limit_q        <= limit_i;
      image_q        <= image_i;
      at_q           <= 1'b0;
      out_q          <= 1'b0;
      came_q         <= 1'b0;
      second_q       <= 1'b0;
      stalled_q      <= 1'b0;
      time_q         <= '0;
      seen_q         <= '0;
    end else begin
      if (pop) at_q <= 1'b1;
      if (takes) begin
        second_q <= 1'b1;
        came_q   <= meta.last;
      end
      stalled_q <= !came_q && streams_q && !come_i;
      time_q    <= time_q + 5'(!out_q);
      seen_q    <= seen_q | found;
      if (ends) out_q <= 1'b1;
    end
  end

  always_comb begin
    if (!started_q) begin
      // A set and a list: ids in order, a list has a member.
      assume (list_count_i != '0);
      for (int e = 0; e < MOST; e++) begin
        if (2'(e) < stored_count_i) assume (stored_i[ID_W*e +: ID_W] < MEMBERS_OF);
        if (2'(e) < list_count_i) assume (list_i[ID_W*e +: ID_W] < MEMBERS_OF);
        if (e > 0 && 2'(e) < stored_count_i)
          assume (stored_i[ID_W*(e-1) +: ID_W] < stored_i[ID_W*e +: ID_W]);
        if (e > 0 && 2'(e) < list_count_i)
          assume (list_i[ID_W*(e-1) +: ID_W] < list_i[ID_W*e +: ID_W]);
      end
      assume (uses_i || streams_i);
      // Of an empty set that is gone through there are no pairs to add up, and no end.
      if (stored_count_i == '0) assume (streams_i || makes_i);
    end else begin
      // What the port owes: a line at least every second cycle.
      assume (come_i || !stalled_q);
      // What the merger owes.
      if (out_valid) begin
        assert (!out_q);
        assert (out_step.kind == (makes_q ? 2'(WORD_MAKE) : 2'(WORD_COUNT)));
        assert ((found & ~wanted) == '0);                        // no other member
        assert (!behind);                                        // in order, once
      end
      if (ends) begin
        assert (!out_q && out_end.kind == (makes_q ? 2'(WORD_MAKE) : 2'(WORD_COUNT)));
        assert (seen_q == wanted && found == '0);              // none is missing
      end
      if (pop) assert (valid);
      if (out_q && came_q) assert (line_ready);                  // nothing is left inside
      assert (time_q < 5'(CYCLES));                              // and it ends
      cover (out_q && stored_count_q == '1 && list_count_q == '1 && uses_q && streams_q && difference_q
             && wanted != '0 && wanted != in_stored);
      cover (out_q && uses_q && streams_q && !difference_q && wanted == in_stored && stored_count_q == '1);
    end
  end
endmodule

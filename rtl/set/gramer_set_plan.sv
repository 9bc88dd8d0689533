// Executes search plans in a PU: walkers step through the plan, each with one unit; the asker requests lists; the
// merger computes sets from them and from stored sets; the packer stores sets, or their members are counted or listed.
// Walkers mostly wait for sets and lines of candidates; the other blocks process operations in the order of issue,
// interleaved over all walkers. Sets are stored in the list buffer and compared by the PU's intersector; nothing
// else uses these in a run of a plan.
//
//   unit ─► walkers ─► turn ─► asker ─► merger ─┬─► packer ─► list buffer
//             ▲                  ║ lines ▲      ├─► count ─► sum
//             │                  ║       ║      ├─► lister ─► records
//             └──────────────────║───────║──────┘ candidates
module gramer_set_plan
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  /// Bits of an increment of the sum.
  parameter int unsigned VALUE_W = 42
) (
  input  logic     clk_i,
  input  logic     rst_i,
  // Words of the plan
  input  logic     word_write_i,
  input  logic [PLAN_AT_W-1:0] word_at_i,
  input  plan_bits_t word_i, // a range of a label, or a word in its low bits
  // The first 1 << `parts_i` walkers are active, each with a part of the memory for sets
  input  parts_t   parts_i,
  // Units, from a register
  input  logic     unit_valid_i,
  output logic     unit_take_o,
  input  unit_t    unit_i,
  // Lines of the image
  output logic     issue_valid_o,
  input  logic     issue_ready_i,
  output line_at_t issue_line_o,
  output meta_t    issue_meta_o,
  input  logic     line_valid_i,
  output logic     line_ready_o,
  input  line_t    line_i,
  input  meta_t    meta_i,
  // List buffer
  output logic     write_o,
  output set_at_t  write_at_o,
  output line_t    write_line_o,
  output logic     read_o,
  output set_at_t  read_at_o,
  input  line_t    held_i,
  // Intersector
  output logic     step_valid_o,
  output step_t    step_o,
  output line_t    streamed_o,
  input  lanes_t   match_i,
  // Records
  output logic     record_valid_o,
  input  logic     record_ready_i,
  output record_t  record_o,
  // Sum, state and events
  output logic     add_o,
  output logic [VALUE_W-1:0] value_o,
  output logic     full_o, // no room for a set; sticky
  output logic     busy_o,
  output logic     unit_done_o,
  output logic     list_o,
  output plan_events_t events_o
);

  localparam int unsigned MEMBERS_W = 21; // of a set: more than a cluster's memory has entries

  logic       op_ready, waiting, pop, asker_busy, early_busy_q, merger_busy, packer_busy;
  logic       lists, held_back, listed, list_room, images_full, lister_busy;
  set_op_t    waiting_op;
  logic       out, cut;
  plan_walker_t    set_walker;
  logic [SET_W-1:0] merge_set;
  stored_t    merge_stored;
  set_at_t    max_at;
  id_t        max;
  line_t      out_line;
  lanes_t     out_lanes;
  plan_step_t out_step;
  logic       out_ends, makes_end, lists_end, counts_end;
  plan_end_t  out_end;

  // ---------------------------------------------------------------- walkers

  logic [PLAN_WALKERS-1:0] op_valid, op_take, made, empty, mark, rewind, walked, idle, ready;
  logic [PLAN_WALKERS-1:0] walker_busy;
  logic [PLAN_WALKERS-1:0] unit_take, done;
  set_op_t    op [PLAN_WALKERS];
  level_at_t  level [PLAN_WALKERS];
  logic [SET_W-1:0] walk_set [PLAN_WALKERS];
  stored_t    walk_stored [PLAN_WALKERS];
  parts_t     parts_q;

  // The next unit goes to the first idle walker, which is known a cycle early: it stays idle until it takes the unit.
  logic [PLAN_WALKERS-1:0] active, spare, first, offer_q;

  always_comb begin
    for (int w = 0; w < PLAN_WALKERS; w++) active[w] = 32'(w) < (32'd1 << parts_q);
    spare = idle & active & ~offer_q;
    first = spare & (~spare + 1'b1);
    ready = offer_q & active;
  end

  always_ff @(posedge clk_i)
    if (rst_i) offer_q <= '0;
    else if (ready == '0 || unit_valid_i) offer_q <= first;

  assign unit_take_o = unit_take != '0;

  for (genvar w = 0; w < PLAN_WALKERS; w++) begin : gen_walker
    assign walked[w] = out && out_step.kind == 2'(WORD_WALK) && out_step.walker == plan_walker_t'(w);

    gramer_set_plan_walker i_walker (
      .clk_i, .rst_i, .word_write_i, .word_at_i, .word_i,
      .unit_valid_i (unit_valid_i && ready[w]), .unit_take_o (unit_take[w]), .unit_i,
      .op_valid_o (op_valid[w]), .op_ready_i (op_take[w]), .op_o (op[w]),
      .made_i (made[w]), .empty_i (empty[w]), .set_o (walk_set[w]), .set_i (walk_stored[w]),
      .mark_o (mark[w]), .rewind_o (rewind[w]), .level_o (level[w]),
      .walked_i (walked[w]), .walked_line_i (out_line), .walked_lanes_i (out_lanes),
      .walked_cut_i (cut),
      .idle_o (idle[w]), .busy_o (walker_busy[w]), .unit_done_o (done[w])
    );
  end

  // Several walkers may finish in one cycle; their events are serialized.
  logic [$clog2(2*PLAN_WALKERS):0] done_q;

  assign unit_done_o = done_q != '0;

  always_ff @(posedge clk_i) begin
    parts_q <= 32'(parts_i) > $clog2(PLAN_WALKERS) ? parts_t'($clog2(PLAN_WALKERS)) : parts_i;
    if (rst_i) done_q <= '0;
    else done_q <= done_q + ($clog2(2*PLAN_WALKERS)+1)'($countones(done))
                   - ($clog2(2*PLAN_WALKERS)+1)'(unit_done_o);
  end

  // ---------------------------------------------------------------- arbitration

  logic    in_valid, in_take, turn_ready;
  set_op_t in_op, turn_op;
  logic [PLAN_WALKERS-1:0] turn_q;

  // A waiting operation persists, so the grant is registered; a granted walker has no operation in the next
  // cycle, since it issues at most one every second cycle.
  if (PLAN_WALKERS > 1) begin : gen_turn
    logic [PLAN_WALKERS-1:0] grant;

    gramer_rr_arbiter #(.REQUESTS(PLAN_WALKERS)) i_turn (
      .clk_i, .rst_i,
      .request_i (op_valid & ~turn_q), .take_i (turn_ready || turn_q == '0),
      .valid_o (), .grant_o (grant), .index_o ()
    );

    always_ff @(posedge clk_i)
      if (rst_i) turn_q <= '0;
      else if (turn_ready || turn_q == '0) turn_q <= grant;
  end else begin : gen_one
    assign turn_q = op_valid;
  end

  // Two entries, so that acceptance does not depend on the asker in the same cycle.
  assign op_take = turn_ready ? turn_q : '0;

  always_comb begin
    turn_op = '0;
    for (int w = 0; w < PLAN_WALKERS; w++)
      if (turn_q[w]) turn_op |= op[w];
    for (int w = 0; w < PLAN_WALKERS; w++)
      if (turn_q[w]) turn_op.walker = plan_walker_t'(w);
  end

  gramer_set_skid_buffer #(.WIDTH($bits(set_op_t))) i_turned (
    .clk_i, .rst_i,
    .valid_i (turn_q != '0), .ready_o (turn_ready), .data_i (turn_op),
    .valid_o (in_valid), .ready_i (in_take), .data_o (in_op)
  );

  // ---------------------------------------------------------------- sets

  assign lists     = in_op.word.kind == 2'(WORD_LIST);
  assign held_back = lists && images_full;
  assign in_take   = in_valid && op_ready && !held_back;
  assign listed    = lists && in_take;

  gramer_set_plan_asker i_asker (
    .clk_i, .rst_i,
    .valid_i (in_valid && !held_back), .ready_o (op_ready), .op_i (in_op),
    .issue_valid_o, .issue_ready_i, .issue_line_o, .issue_meta_o,
    .valid_o (waiting), .pop_i (pop), .op_o (waiting_op),
    .busy_o (asker_busy), .list_o
  );

  gramer_set_plan_merger i_merger (
    .clk_i, .rst_i,
    .valid_i (waiting), .pop_o (pop), .op_i (waiting_op), .room_i (list_room),
    .line_valid_i, .line_ready_o, .line_i, .meta_i,
    .set_walker_o (set_walker), .set_o (merge_set), .set_i (merge_stored), .max_at_o (max_at),
    .max_i (max), .read_o, .read_at_o, .held_i,
    .step_valid_o, .step_o, .streamed_o, .match_i,
    .valid_o (out), .line_o (out_line), .lanes_o (out_lanes), .plan_step_o (out_step),
    .ends_o (out_ends), .end_o (out_end), .cut_o (cut), .busy_o (merger_busy), .events_o
  );

  // An end arrives together with members of another operation, and has none itself.
  assign makes_end = out_ends && out_end.kind == 2'(WORD_MAKE);
  assign lists_end = out_ends && out_end.kind == 2'(WORD_LIST);
  assign counts_end = out_ends && out_end.kind == 2'(WORD_COUNT);

  gramer_set_plan_packer i_packer (
    .clk_i, .rst_i,
    .valid_i (makes_end || (out && out_step.kind == 2'(WORD_MAKE))), .line_i (out_line),
    .lanes_i (out_lanes), .ends_i (makes_end),
    .walker_i (makes_end ? out_end.walker : out_step.walker),
    .to_i (makes_end ? out_end.to : out_step.to),
    .write_o, .write_at_o, .write_line_o,
    .parts_i (parts_q), .mark_i (mark), .rewind_i (rewind), .level_i (level),
    .made_o (made), .empty_o (empty), .full_o,
    .set_walker_i (set_walker), .set_i (merge_set), .set_o (merge_stored), .walk_i (walk_set),
    .walk_o (walk_stored), .max_at_i (max_at), .max_o (max), .busy_o (packer_busy)
  );

  gramer_set_plan_lister i_lister (
    .clk_i, .rst_i,
    .listed_i (listed), .images_i (in_op.images), .full_o (images_full),
    .valid_i (lists_end || (out && out_step.kind == 2'(WORD_LIST))), .line_i (out_line),
    .lanes_i (lists_end ? '0 : out_lanes), .ends_i (lists_end),
    .wide_i (out_step.pairs), .room_o (list_room),
    .record_valid_o, .record_ready_i, .record_o, .busy_o (lister_busy)
  );

  // ---------------------------------------------------------------- count

  // Members, including listed ones, are added as they arrive; or the set is counted at its end, while the next one may
  // already start: pairs, n (n - 1) / 2, and terms. Each walker stores two terms; at the third, the product of the
  // two less the third is added.
  logic a_valid_q, a_kept_q, a_ends_q, b_valid_q, b_pairs_q, c_valid_q, c_pairs_q, d_valid_q;
  logic [4:0] a_count_q;
  logic [1:0] a_term_q;
  plan_walker_t a_walker_q;
  logic [MEMBERS_W-1:0] members_q, b_one_q, b_other_q, b_less_q, c_less_q;
  logic [MEMBERS_W-1:0] first_q [PLAN_WALKERS], second_q [PLAN_WALKERS];
  logic [2*MEMBERS_W-1:0] c_product_q;
  logic [VALUE_W-1:0] d_value_q;

  always_ff @(posedge clk_i) begin
    a_valid_q <= !rst_i && out
                 && (out_step.kind == 2'(WORD_COUNT) || out_step.kind == 2'(WORD_LIST));
    a_kept_q  <= out_step.kept;
    a_count_q <= 5'($countones(out_lanes));
    a_ends_q   <= !rst_i && counts_end;
    a_term_q   <= out_end.term;
    a_walker_q <= out_end.walker;
    if (rst_i) members_q <= '0;
    else if (a_valid_q && a_kept_q)
      members_q <= (a_ends_q ? '0 : members_q) + MEMBERS_W'(a_count_q);
    else if (a_ends_q) members_q <= '0;
    if (a_ends_q && a_term_q == TERM_FIRST) first_q[a_walker_q] <= members_q;
    if (a_ends_q && a_term_q == TERM_SECOND) second_q[a_walker_q] <= members_q;
    b_valid_q <= !rst_i && a_ends_q && (a_term_q == TERM_SUM || a_term_q == TERM_LAST);
    b_pairs_q <= a_term_q == TERM_SUM;
    if (a_term_q == TERM_SUM) begin
      b_one_q   <= members_q;
      b_other_q <= members_q == '0 ? '0 : members_q - 1'b1;
      b_less_q  <= '0;
    end else begin
      b_one_q   <= first_q[a_walker_q];
      b_other_q <= second_q[a_walker_q];
      b_less_q  <= members_q;
    end
    c_valid_q   <= !rst_i && b_valid_q;
    c_pairs_q   <= b_pairs_q;
    c_less_q    <= b_less_q;
    c_product_q <= (2*MEMBERS_W)'(b_one_q) * (2*MEMBERS_W)'(b_other_q);
    d_valid_q   <= !rst_i && c_valid_q;
    d_value_q   <= c_pairs_q ? VALUE_W'(c_product_q >> 1)
                             : VALUE_W'(c_product_q) - VALUE_W'(c_less_q);
    add_o   <= !rst_i && ((a_valid_q && !a_kept_q) || d_valid_q);
    value_o <= d_valid_q ? d_value_q : VALUE_W'(a_count_q);
  end

  // Busy of walkers and asker is registered: one cycle later their work has reached the other
  // blocks.
  always_ff @(posedge clk_i)
    early_busy_q <= !rst_i && (unit_valid_i || walker_busy != '0 || in_valid || asker_busy);

  // Counting ends within a few cycles, which the wait for the sums covers.
  assign busy_o = early_busy_q || done_q != '0 || merger_busy || packer_busy || lister_busy
                  || add_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(d_valid_q && a_valid_q && !a_kept_q)) else $error("two counts at once");
    assert (!(c_valid_q && !c_pairs_q && c_product_q < (2*MEMBERS_W)'(c_less_q)))
      else $error("more in common than there are pairs");
    assert ((turn_q & ~op_valid) == '0) else $error("a turn of a walker that has nothing");
    assert ($onehot0(unit_take)) else $error("a unit for two walkers");
  end
`endif

endmodule

// Search plans in a PU: the walker goes through the plan, the asker asks for lists, the merger makes sets of
// them and of what is stored, the packer stores sets, or their members are counted or listed. The list buffer is the
// memory for sets, and the intersector is that of the PU: nothing else uses them in a run of a plan.
//
//   unit ─► walker ─► asker ─► merger ─┬─► packer ─► list buffer
//             ▲         ║ lines ▲      ├─► count ─► sum
//             │         ║       ║      ├─► lister ─► records
//             └─────────║───────║──────┘ candidates
module gramer_set_plan
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  /// Bits of what is added to the sum.
  parameter int unsigned VALUE_W = 42
) (
  input  logic     clk_i,
  input  logic     rst_i,
  // Words of the plan
  input  logic     word_write_i,
  input  logic [PLAN_AT_W-1:0] word_at_i,
  input  plan_bits_t word_i, // a range of a label, or a word in its low bits
  // Units
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
  output logic     full_o, // a set had no room; stays
  output logic     busy_o,
  output logic     unit_done_o,
  output logic     list_o
);

  localparam int unsigned MEMBERS_W = 21; // of a set: more than a cluster's memory has entries

  logic       op_valid, op_ready, walker_busy, waiting, pop, asker_busy, merger_busy, packer_busy;
  logic       lists, held_back, listed, list_room, images_full, lister_busy;
  set_op_t    op, waiting_op;
  logic       made, empty, mark, rewind, out, cut, walked;
  level_at_t  level;
  logic [SET_W-1:0] walk_set, merge_set;
  stored_t    walk_stored, merge_stored;
  set_at_t    max_at;
  id_t        max;
  line_t      out_line;
  lanes_t     out_lanes;
  plan_step_t out_step;

  assign walked    = out && out_step.kind == 2'(WORD_WALK);
  assign lists     = op.word.kind == 2'(WORD_LIST);
  assign held_back = lists && images_full;
  assign listed    = lists && op_valid && op_ready && !held_back;

  gramer_set_plan_walker i_walker (
    .clk_i, .rst_i, .word_write_i, .word_at_i, .word_i,
    .unit_valid_i, .unit_take_o, .unit_i,
    .op_valid_o (op_valid), .op_ready_i (op_ready && !held_back), .op_o (op),
    .made_i (made), .empty_i (empty), .set_o (walk_set), .set_i (walk_stored),
    .mark_o (mark), .rewind_o (rewind), .level_o (level),
    .walked_i (walked), .walked_line_i (out_line), .walked_lanes_i (out_lanes),
    .walked_cut_i (cut),
    .busy_o (walker_busy), .unit_done_o
  );

  gramer_set_plan_asker i_asker (
    .clk_i, .rst_i,
    .valid_i (op_valid && !held_back), .ready_o (op_ready), .op_i (op),
    .issue_valid_o, .issue_ready_i, .issue_line_o, .issue_meta_o,
    .valid_o (waiting), .pop_i (pop), .op_o (waiting_op),
    .busy_o (asker_busy), .list_o
  );

  gramer_set_plan_merger i_merger (
    .clk_i, .rst_i,
    .valid_i (waiting), .pop_o (pop), .op_i (waiting_op), .room_i (list_room),
    .line_valid_i, .line_ready_o, .line_i, .meta_i,
    .set_o (merge_set), .set_i (merge_stored), .max_at_o (max_at), .max_i (max),
    .made_i (made), .read_o, .read_at_o, .held_i,
    .step_valid_o, .step_o, .streamed_o, .match_i,
    .valid_o (out), .line_o (out_line), .lanes_o (out_lanes), .plan_step_o (out_step),
    .cut_o (cut), .busy_o (merger_busy)
  );

  gramer_set_plan_packer i_packer (
    .clk_i, .rst_i,
    .valid_i (out && out_step.kind == 2'(WORD_MAKE)), .line_i (out_line), .lanes_i (out_lanes),
    .ends_i (out_step.ends), .to_i (out_step.to),
    .write_o, .write_at_o, .write_line_o,
    .mark_i (mark), .rewind_i (rewind), .level_i (level),
    .made_o (made), .empty_o (empty), .full_o,
    .set_i (merge_set), .set_o (merge_stored), .walk_i (walk_set), .walk_o (walk_stored),
    .max_at_i (max_at), .max_o (max), .busy_o (packer_busy)
  );

  gramer_set_plan_lister i_lister (
    .clk_i, .rst_i,
    .listed_i (listed), .images_i (op.images), .full_o (images_full),
    .valid_i (out && out_step.kind == 2'(WORD_LIST)), .line_i (out_line), .lanes_i (out_lanes),
    .ends_i (out_step.ends), .wide_i (out_step.pairs), .room_o (list_room),
    .record_valid_o, .record_ready_i, .record_o, .busy_o (lister_busy)
  );

  // ---------------------------------------------------------------- count

  // Members are added as they come, listed ones too, or, for pairs, together once the set has ended: n (n - 1) / 2.
  logic a_valid_q, a_pairs_q, a_ends_q, b_valid_q, c_valid_q, d_valid_q;
  logic [4:0] a_count_q;
  logic [MEMBERS_W-1:0] members_q, b_members_q, b_less_q;
  logic [2*MEMBERS_W-1:0] c_product_q;
  logic [VALUE_W-1:0] d_value_q;

  always_ff @(posedge clk_i) begin
    a_valid_q <= !rst_i && out
                 && (out_step.kind == 2'(WORD_COUNT) || out_step.kind == 2'(WORD_LIST));
    a_pairs_q <= out_step.pairs && out_step.kind == 2'(WORD_COUNT);
    a_ends_q  <= out_step.ends;
    a_count_q <= 5'($countones(out_lanes));
    if (rst_i || (a_valid_q && a_ends_q)) members_q <= '0;
    else if (a_valid_q && a_pairs_q) members_q <= members_q + MEMBERS_W'(a_count_q);
    b_valid_q   <= !rst_i && a_valid_q && a_ends_q && a_pairs_q;
    b_members_q <= members_q;
    b_less_q    <= members_q == '0 ? '0 : members_q - 1'b1;
    c_valid_q   <= !rst_i && b_valid_q;
    c_product_q <= (2*MEMBERS_W)'(b_members_q) * (2*MEMBERS_W)'(b_less_q);
    d_valid_q   <= !rst_i && c_valid_q;
    d_value_q   <= VALUE_W'(c_product_q >> 1);
    add_o   <= !rst_i && ((a_valid_q && !a_pairs_q) || d_valid_q);
    value_o <= d_valid_q ? d_value_q : VALUE_W'(a_count_q);
  end

  // What is counted ends within a few cycles: it is waited for with the sums.
  assign busy_o = walker_busy || asker_busy || merger_busy || packer_busy || lister_busy || add_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(d_valid_q && a_valid_q && !a_pairs_q)) else $error("two counts at once");
  end
`endif

endmodule

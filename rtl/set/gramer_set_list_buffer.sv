// Buffer of roots' lists: a slot holds the lines of one list, prefetched while others are processed. Two copies, since
// the streamer reads members and the intersector reads held lines in the same cycle. The intersector takes ids alone, so
// without search plans held lines have no sizes. Block RAM with an output register: read latency of two cycles.
module gramer_set_list_buffer
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   write_i,
  input  slot_t  write_slot_i,
  input  lline_t write_at_i,
  input  line_t  line_i,
  // Members
  input  logic   member_read_i,
  input  slot_t  member_slot_i,
  input  lline_t member_at_i,
  output line_t  member_line_o,
  // Held lines
  input  logic   held_read_i,
  input  slot_t  held_slot_i,
  input  lline_t held_at_i,
  output line_t  held_line_o
);

  // Of a held entry; a search plan copies entries whole.
  localparam int unsigned HELD_W = PLAN_LEVELS == 0 ? KEPT_ID_W : ENTRY_W;
  typedef logic [LANES-1:0][HELD_W-1:0] held_t;

  (* ram_style = "block" *) line_t members [LISTS*LIST_LINES];
  (* ram_style = "block" *) held_t held [LISTS*LIST_LINES];

  line_t member_q;
  held_t written, held_q, held_line_q;

  for (genvar l = 0; l < LANES; l++) begin : gen_lane
    assign written[l] = line_i[l*ENTRY_W +: HELD_W];
    assign held_line_o[l*ENTRY_W +: ENTRY_W] = ENTRY_W'(held_line_q[l]);
  end

  logic  member_read_q, held_read_q;

  always_ff @(posedge clk_i) begin
    member_read_q <= member_read_i;
    held_read_q   <= held_read_i;
    if (write_i) begin
      members[{write_slot_i, write_at_i}] <= line_i;
      held[{write_slot_i, write_at_i}]    <= written;
    end
    if (member_read_i) member_q <= members[{member_slot_i, member_at_i}];
    if (member_read_q) member_line_o <= member_q;
    if (held_read_i) held_q <= held[{held_slot_i, held_at_i}];
    if (held_read_q) held_line_q <= held_q;
  end

endmodule

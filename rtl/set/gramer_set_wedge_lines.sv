// Arriving lines for wedges, in order: lines of a root's list return to gramer_set_wedges, which visits its members; of
// marks and members' lists, the lanes that count go to the map with their purpose.
//
//   line ─► entries ─┬─► members
//                    └─► entries other than the root, or after it ─► map
module gramer_set_wedge_lines
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  input  logic   five_cycles_i, // 5-cycles; otherwise houses
  // Roots, in the order of their marks
  input  logic   root_push_i,
  input  root_unit_t root_i,
  output logic   root_full_o,
  // Lines of the image
  input  logic   line_valid_i,
  output logic   line_free_o,  // a line is taken if this is set or map_ready_i is
  input  line_t  line_i,
  input  meta_t  meta_i,
  // Lines of a root's list; there is room for them
  output logic   came_o,
  output line_t  came_line_o,
  output lanes_t came_lanes_o,
  output meta_t  came_meta_o,
  // Map
  output logic   map_valid_o,
  input  logic   map_ready_i,
  output line_t  map_line_o,
  output lanes_t map_lanes_o,
  output meta_t  map_meta_o,
  output list_t  map_list_o,
  output wedge_t map_wedge_o,
  output lanes_t map_counted_o, // entries to count for a degree
  output logic   busy_o
);

  localparam int unsigned QUARTER_W = $clog2(LINE_QUARTERS);

  logic       a_valid_q, line_ready, b_valid_q, b_ready;
  line_t      a_line_q, b_line_q;
  meta_t      a_meta_q, b_meta_q;
  lanes_t     a_lanes_q, b_lanes_q, b_counted_q, beside, after, earlier;
  root_unit_t root, b_root_q;
  // verilator lint_off UNUSEDSIGNAL
  logic       root_valid; // for the assertion, which some builds omit
  // verilator lint_on UNUSEDSIGNAL

  // The path through map_ready_i is long, so it is combined last.
  assign line_free_o  = !a_valid_q || a_meta_q.load || !b_valid_q;
  assign line_ready   = line_free_o || map_ready_i;
  assign b_ready      = !b_valid_q || map_ready_i;

  // Unit of the arriving lines, from its first line to mark until its end.
  gramer_fifo #(.WIDTH($bits(root_unit_t)), .DEPTH(WEDGE_UNITS)) i_roots (
    .clk_i, .rst_i,
    .push_i (root_push_i), .data_i (root_i), .full_o (root_full_o),
    .pop_i (a_valid_q && a_meta_q.none && b_ready), .valid_o (root_valid), .data_o (root)
  );

  assign came_o       = a_valid_q && a_meta_q.load;
  assign came_line_o  = a_line_q;
  assign came_lanes_o = a_lanes_q;
  assign came_meta_o  = a_meta_q;

  always_comb
    for (int l = 0; l < LANES; l++) begin
      beside[l] = a_lanes_q[l] && a_line_q[l*ENTRY_W +: PLACED_ID_W] != placed_t'(root.id);
      after[l]  = a_lanes_q[l] && a_line_q[l*ENTRY_W +: PLACED_ID_W] > placed_t'(root.id);
      earlier[l] = a_lanes_q[l] && !after[l];
    end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
    end else begin
      if (line_ready) a_valid_q <= line_valid_i;
      if (b_ready) b_valid_q <= a_valid_q && !a_meta_q.load;
    end
    if (line_ready && line_valid_i) begin
      a_line_q <= line_i;
      a_meta_q <= meta_i;
      a_lanes_q <= entries_of(line_i, meta_i);
    end
    if (b_ready) begin
      b_line_q    <= a_line_q;
      b_meta_q    <= a_meta_q;
      b_root_q    <= root;
      b_lanes_q   <= five_cycles_i ? after : a_meta_q.mark ? a_lanes_q : beside;
      // For 5-cycles: of the marks, the entries before the root are a degree; of a member's list, all.
      b_counted_q <= five_cycles_i && a_meta_q.mark ? earlier : a_lanes_q;
    end
  end

  assign map_valid_o   = b_valid_q;
  assign map_line_o    = b_line_q;
  assign map_lanes_o   = b_lanes_q;
  assign map_counted_o = b_counted_q;

  always_comb begin
    map_meta_o            = '0;
    map_meta_o.mark       = b_meta_q.mark;
    map_meta_o.last       = b_meta_q.last;
    map_meta_o.slot_last  = b_meta_q.slot_last;
    map_list_o            = '0;
    map_list_o.mapped     = 1'b1;
    map_list_o.counts     = 1'b1;
    map_list_o.root       = placed_t'(b_root_q.id);
    map_list_o.block_last = more_lines(b_root_q.size, b_root_q.id[QUARTER_W-1:0]);
    map_wedge_o             = '0;
    map_wedge_o.is          = 1'b1;
    map_wedge_o.five_cycles = five_cycles_i;
    map_wedge_o.keep        = b_meta_q.lengths;
    // For 5-cycles, the first part of a root counts the triangles.
    map_wedge_o.silent      = five_cycles_i ? b_meta_q.lengths || b_root_q.first != '0
                                            : !b_meta_q.lengths;
    map_wedge_o.note        = five_cycles_i && !b_meta_q.lengths && !b_meta_q.mark;
    {map_wedge_o.row_last, map_wedge_o.parity, map_wedge_o.bank} =
      b_meta_q.member[BANK_AT_W+1:0];
  end

  assign busy_o = a_valid_q || b_valid_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(a_valid_q && !a_meta_q.load && !root_valid)) else $error("a line of no root");
  end
`endif

endmodule

// Arriving lines for 5-motifs. Lines of a root's list for the second pass return to gramer_set_triples; of the other
// lines, the lanes that count go to the map with their purpose: mark, tag or look up, and whether the set's first
// vertex is among them.
module gramer_set_triple_lines
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  // Roots, and vertices whose lists are tagged, in the order of their requests
  input  logic   root_push_i,
  input  logic   near_push_i,
  input  id_t    id_i,
  input  logic [SIZE_W-1:0] size_i,
  output logic   full_o,
  // Lines of the image
  input  logic   line_valid_i,
  output logic   line_free_o,  // a line is taken if this is set or map_ready_i is
  input  line_t  line_i,
  input  meta_t  meta_i,
  // Lines of a root's list for the second pass; there is room for them
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
  output logic   busy_o
);

  localparam int unsigned QUARTER_W = $clog2(LINE_QUARTERS);
  localparam int unsigned NEARS     = 16; // vertices with lists in flight

  logic    a_valid_q, line_ready, b_valid_q, b_ready, root_full, near_full, near_pop;
  line_t   a_line_q, b_line_q;
  meta_t   a_meta_q, b_meta_q;
  lanes_t  a_lanes_q, b_lanes_q, same, b_same_q;
  placed_t near, near_q; // vertex of the tagged list
  id_t     root_id;
  logic [SIZE_W-1:0] root_size;
  line_at_t b_more_q;
  // verilator lint_off UNUSEDSIGNAL
  logic    root_valid, near_valid; // for the assertions, which some builds omit
  // verilator lint_on UNUSEDSIGNAL

  // The path through map_ready_i is long, so it is combined last.
  assign line_free_o  = !a_valid_q || a_meta_q.load || !b_valid_q;
  assign line_ready   = line_free_o || map_ready_i;
  assign b_ready      = !b_valid_q || map_ready_i;
  assign full_o       = root_full || near_full;

  // From the first line to mark until the unit's end.
  gramer_fifo #(.WIDTH(KEPT_ID_W + SIZE_W), .DEPTH(WEDGE_UNITS)) i_roots (
    .clk_i, .rst_i,
    .push_i (root_push_i), .data_i ({id_i, size_i}), .full_o (root_full),
    .pop_i (a_valid_q && a_meta_q.none && b_ready), .valid_o (root_valid),
    .data_o ({root_id, root_size})
  );

  gramer_fifo #(.WIDTH(PLACED_ID_W), .DEPTH(NEARS)) i_nears (
    .clk_i, .rst_i,
    .push_i (near_push_i), .data_i (placed_t'(id_i)), .full_o (near_full),
    .pop_i (near_pop), .valid_o (near_valid), .data_o (near)
  );

  // With the first tagged line.
  assign near_pop = a_valid_q && b_ready && !a_meta_q.load && a_meta_q.lengths
                    && a_meta_q.member[0];

  assign came_o       = a_valid_q && a_meta_q.load;
  assign came_line_o  = a_line_q;
  assign came_lanes_o = a_lanes_q;
  assign came_meta_o  = a_meta_q;

  always_comb
    for (int l = 0; l < LANES; l++)
      same[l] = a_lanes_q[l] && a_line_q[l*ENTRY_W +: PLACED_ID_W] == near_q;

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
    if (near_pop) near_q <= near;
    if (b_ready) begin
      b_line_q  <= a_line_q;
      b_meta_q  <= a_meta_q;
      b_lanes_q <= a_lanes_q;
      b_same_q  <= same;
      b_more_q  <= more_lines(root_size, root_id[QUARTER_W-1:0]);
    end
  end

  assign map_valid_o = b_valid_q;
  assign map_line_o  = b_line_q;
  assign map_lanes_o = b_lanes_q;

  always_comb begin
    map_meta_o            = '0;
    map_meta_o.mark       = b_meta_q.mark;
    map_meta_o.last       = b_meta_q.last;
    map_meta_o.slot_last  = b_meta_q.slot_last;
    map_list_o            = '0;
    map_list_o.mapped     = 1'b1;
    map_list_o.counts     = 1'b1; // a root takes one level per entry, for its tags
    map_list_o.block_last = b_more_q;
    map_wedge_o           = '0;
    map_wedge_o.is        = 1'b1;
    map_wedge_o.silent    = 1'b1;
    map_wedge_o.triples   = !b_meta_q.none;
    map_wedge_o.tags      = b_meta_q.lengths;
    map_wedge_o.fresh     = b_meta_q.lengths && b_meta_q.member[0];
    map_wedge_o.first     = b_meta_q.member[1];
    map_wedge_o.meets     = b_same_q != '0;
  end

  assign busy_o = a_valid_q || b_valid_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(a_valid_q && !a_meta_q.load && !root_valid)) else $error("a line of no root");
    assert (!(near_pop && !near_valid)) else $error("tags of no vertex");
  end
`endif

endmodule

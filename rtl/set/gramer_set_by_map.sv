// Units that use the map, selected by the plan: houses and 5-cycles (gramer_set_wedges) and 5-motifs
// (gramer_set_triples), whose sums of products are held here.
module gramer_set_by_map
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  input  logic   clear_i, // before a run
  input  plan_t  plan_i,
  output logic   is_o,    // units are of one of these kinds; held until the next header
  // Units, from a register
  input  logic   unit_valid_i,
  output logic   unit_take_o,
  input  unit_t  unit_i,
  // Lines of the image
  output logic   issue_valid_o,
  input  logic   issue_ready_i,
  output line_at_t issue_line_o,
  output meta_t  issue_meta_o,
  input  logic   line_valid_i,
  output logic   line_ready_o,
  input  line_t  line_i,
  input  meta_t  meta_i,
  // Map
  output logic   map_valid_o,
  input  logic   map_ready_i,
  output line_t  map_line_o,
  output lanes_t map_lanes_o,
  output meta_t  map_meta_o,
  output list_t  map_list_o,
  output wedge_t map_wedge_o,
  output lanes_t map_counted_o,
  output logic [RANGE_W-1:0] range_first_o,
  output logic [RANGE_W-1:0] range_last_o,
  input  logic   settled_i,
  output logic   look_o,
  output logic [MAP_BANKS-1:0] look_there_o,
  output map_at_t look_at_o [MAP_BANKS],
  input  logic [MAP_BANKS-1:0] note_i,
  input  map_at_t note_at_i [MAP_BANKS],
  input  up_t    note_up_i [MAP_BANKS],
  input  logic   row_done_i,
  input  logic   triple_i,
  input  triple_t triple_value_i,
  output logic   triple_done_o,
  // Sums of products, at the last cycle's position
  input  logic [SUM_AT_W-1:0] sum_at_i,
  output logic [COUNT_W-1:0]  sum_o,
  output logic   of_products_o, // the position belongs to them
  output logic   saturated_o,
  // State and events
  output logic   full_o, // no room for the ends of a root's wedges; sticky
  output logic   busy_o,
  output logic   list_o
);

  logic [NOTED_W:0]   rows;
  logic [NOTED_W-1:0] row;
  logic row_read, noting, reached_clear, five_cycles_q, triples_q, products_busy;
  logic       w_take, w_issue_valid, w_line_free, w_valid, w_busy, w_list;
  line_at_t   w_issue_line, t_issue_line;
  meta_t      w_issue_meta, w_meta, t_issue_meta, t_meta;
  line_t      w_line, t_line;
  lanes_t     w_lanes, w_counted, t_lanes, t_counted;
  list_t      w_root, t_root;
  wedge_t     w_wedge, t_wedge;
  logic       t_take, t_issue_valid, t_line_free, t_valid, t_busy, t_list;
  logic [MAP_BANKS-1:0] noted_there;
  map_at_t noted_at [MAP_BANKS];
  up_t     noted_up [MAP_BANKS];

  always_ff @(posedge clk_i) begin
    is_o          <= !rst_i && (plan_i.operation == 4'(OP_HOUSES)
                                || plan_i.operation == 4'(OP_FIVE_CYCLES)
                                || plan_i.operation == 4'(OP_MOTIFS5));
    triples_q     <= plan_i.operation == 4'(OP_MOTIFS5);
    five_cycles_q <= plan_i.operation == 4'(OP_FIVE_CYCLES);
  end

  gramer_set_wedges i_wedges (
    .clk_i, .rst_i, .five_cycles_i (five_cycles_q),
    .unit_valid_i (is_o && !triples_q && unit_valid_i), .unit_take_o (w_take), .unit_i,
    .issue_valid_o (w_issue_valid), .issue_ready_i,
    .issue_line_o (w_issue_line), .issue_meta_o (w_issue_meta),
    .line_valid_i (is_o && !triples_q && line_valid_i), .line_free_o (w_line_free),
    .line_i, .meta_i,
    .map_valid_o (w_valid), .map_ready_i, .map_line_o (w_line),
    .map_lanes_o (w_lanes), .map_meta_o (w_meta), .map_list_o (w_root),
    .map_wedge_o (w_wedge), .map_counted_o (w_counted),
    .range_first_o, .range_last_o, .settled_i,
    .rows_i (rows), .read_o (row_read), .row_o (row), .there_i (noted_there),
    .at_i (noted_at), .up_i (noted_up), .noting_i (noting),
    .look_o, .look_there_o, .look_at_o,
    .row_done_i, .clear_o (reached_clear),
    .busy_o (w_busy), .list_o (w_list)
  );

  gramer_set_triples i_triples (
    .clk_i, .rst_i,
    .unit_valid_i (triples_q && unit_valid_i), .unit_take_o (t_take), .unit_i,
    .issue_valid_o (t_issue_valid), .issue_ready_i,
    .issue_line_o (t_issue_line), .issue_meta_o (t_issue_meta),
    .line_valid_i (triples_q && line_valid_i), .line_free_o (t_line_free), .line_i,
    .meta_i,
    .map_valid_o (t_valid), .map_ready_i, .map_line_o (t_line),
    .map_lanes_o (t_lanes), .map_meta_o (t_meta), .map_list_o (t_root),
    .map_wedge_o (t_wedge), .map_counted_o (t_counted),
    .busy_o (t_busy), .list_o (t_list)
  );

  assign unit_take_o   = triples_q ? t_take : w_take;
  assign issue_valid_o = triples_q ? t_issue_valid : w_issue_valid;
  assign issue_line_o  = triples_q ? t_issue_line : w_issue_line;
  assign issue_meta_o  = triples_q ? t_issue_meta : w_issue_meta;
  assign line_ready_o  = (triples_q ? t_line_free : w_line_free) || map_ready_i;
  assign map_valid_o   = triples_q ? t_valid : w_valid;
  assign map_line_o    = triples_q ? t_line : w_line;
  assign map_lanes_o   = triples_q ? t_lanes : w_lanes;
  assign map_counted_o = triples_q ? t_counted : w_counted;
  assign map_meta_o    = triples_q ? t_meta : w_meta;
  assign map_list_o    = triples_q ? t_root : w_root;
  assign map_wedge_o   = triples_q ? t_wedge : w_wedge;
  assign busy_o        = w_busy || t_busy || products_busy;
  assign list_o        = w_list || t_list;

  gramer_set_triple_products i_products (
    .clk_i, .rst_i, .clear_i,
    .valid_i (triple_i), .triple_i (triple_value_i), .done_o (triple_done_o), .at_i (sum_at_i),
    .sum_o, .saturated_o, .busy_o (products_busy)
  );

  always_ff @(posedge clk_i) of_products_o <= sum_at_i >= SUM_AT_W'(SUMS);

  gramer_set_reached i_reached (
    .clk_i, .rst_i, .clear_i (reached_clear),
    .note_i, .at_i (note_at_i), .up_i (note_up_i),
    .rows_o (rows), .read_i (row_read), .row_i (row), .there_o (noted_there),
    .at_o (noted_at), .up_o (noted_up), .busy_o (noting), .full_o
  );

endmodule

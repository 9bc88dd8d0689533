// Processing unit of the set core: the streamer requests the lists of queued units and of their members; lines return
// in order through the port; stepper and intersector compare them, one pair per cycle; rows of matches form
// matrices, in which the level engine counts cliques.
//
// In a run of a search plan, units go to gramer_set_plan, which uses port, list buffer and intersector; for houses,
// 5-cycles and 5-motifs to gramer_set_by_map, which uses port and map.
//
//   units ─► queue ─► streamer ─► port ══► partitions
//                        ▲          ║ lines
//              list buffer ◄──── stepper ─► intersector ─► rows ─► level engine ─► sums
module gramer_set_pu
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  localparam int unsigned AT_W = $clog2(PARTITION_LINES),
  localparam int unsigned COUNTER_AT_W = $clog2(PU_COUNTERS)
) (
  input  logic  clk_i,
  input  logic  rst_i,     // drops everything in flight
  input  logic  clear_i,   // before a run: sums and counters
  input  logic  running_i, // enables the cycle counters
  input  plan_t plan_i [PLANS],
  // Words of a search plan
  input  logic  word_write_i,
  input  logic [PLAN_AT_W-1:0] word_at_i,
  input  plan_bits_t word_i,
  // Units
  input  logic  push_i,
  input  unit_t unit_i [UNITS_A_GROUP],
  output logic [$clog2(UNIT_QUEUE/UNITS_A_GROUP):0] free_o,
  // Lines of the image
  output logic [PARTITIONS-1:0] request_o,
  output logic [AT_W-1:0] request_at_o,
  output answer_at_t request_for_o,
  input  logic [PARTITIONS-1:0] answer_i,
  input  answer_at_t answer_for_i [PARTITIONS],
  input  line_t      answer_line_i [PARTITIONS],
  // Records of a search plan that lists
  output logic    record_valid_o,
  input  logic    record_ready_i,
  output record_t record_o,
  // Sums and counters, at the last cycle's positions
  input  logic [SUM_AT_W-1:0] sum_at_i,
  output logic [COUNT_W-1:0]  sum_o,
  output logic  saturated_o,
  output logic  full_o, // no room for a search plan's sets; sticky
  input  logic [COUNTER_AT_W-1:0] counter_at_i,
  output counter_t counter_o,
  output logic  busy_o
);

  // Bits of an increment; a product of wedges is wider than a plan's count or an edge's.
  localparam int unsigned PLAN_VALUE_W = 42;
  localparam int unsigned VALUE_W = REACHED != 0 ? 48 : PLAN_VALUE_W;

  logic     unit_valid, unit_take, idle_unit, member, streamer_busy;
  unit_t    unit;
  logic     issue_valid, issue_ready, line_valid, line_ready, port_busy;
  line_at_t issue_line;
  meta_t    issue_meta, meta;
  line_t    line, write_line, member_line, held_line, streamed;
  list_t    list;
  slot_t    list_slot;
  logic     list_write;
  logic     member_read, write, loaded, held_read, freed, lengths_valid;
  slot_t    member_slot, write_slot, held_slot;
  lline_t   member_at, write_at, held_at;
  logic     lengths_load;
  id_t      lengths_up, lengths_block;

  logic     other_take, held_valid_q; // units of plans, houses, 5-cycles and 5-motifs
  unit_t    held_unit_q;

  // ---------------------------------------------------------------- search plans

  logic       planning_q; // a run of a search plan; held until the next header
  logic       plan_take, plan_issue_valid, plan_line_ready, plan_write, plan_read, plan_step_valid;
  logic       plan_add, plan_busy, plan_done, plan_list;
  plan_events_t plan_events;
  line_at_t   plan_issue_line;
  meta_t      plan_issue_meta;
  set_at_t    plan_write_at, plan_read_at;
  line_t      plan_write_line, plan_streamed;
  step_t      plan_step;
  lanes_t     match;
  logic [PLAN_VALUE_W-1:0] plan_value;
  logic       plan_full, wedge_full;

  if (PLAN_LEVELS != 0) begin : gen_plan
    always_ff @(posedge clk_i) planning_q <= !rst_i && plan_i[0].operation == 4'(OP_PLAN);

    gramer_set_plan #(.VALUE_W(PLAN_VALUE_W)) i_plan (
      .clk_i, .rst_i, .word_write_i, .word_at_i, .word_i, .parts_i (parts_t'(plan_i[1].k)),
      .unit_valid_i (planning_q && held_valid_q), .unit_take_o (plan_take), .unit_i (held_unit_q),
      .issue_valid_o (plan_issue_valid), .issue_ready_i (issue_ready),
      .issue_line_o (plan_issue_line), .issue_meta_o (plan_issue_meta),
      .line_valid_i (planning_q && line_valid), .line_ready_o (plan_line_ready), .line_i (line),
      .meta_i (meta),
      .write_o (plan_write), .write_at_o (plan_write_at), .write_line_o (plan_write_line),
      .read_o (plan_read), .read_at_o (plan_read_at), .held_i (held_line),
      .step_valid_o (plan_step_valid), .step_o (plan_step), .streamed_o (plan_streamed),
      .match_i (match),
      .record_valid_o, .record_ready_i, .record_o,
      .add_o (plan_add), .value_o (plan_value), .full_o (plan_full), .busy_o (plan_busy),
      .unit_done_o (plan_done), .list_o (plan_list), .events_o (plan_events)
    );
  end else begin : gen_no_plan
    logic unused;
    assign unused = &{1'b0, word_write_i, word_at_i, word_i, record_ready_i};
    assign planning_q       = 1'b0;
    assign plan_take        = 1'b0;
    assign plan_issue_valid = 1'b0;
    assign plan_issue_line  = '0;
    assign plan_issue_meta  = '0;
    assign plan_line_ready  = 1'b0;
    assign plan_write       = 1'b0;
    assign plan_write_at    = '0;
    assign plan_write_line  = '0;
    assign plan_read        = 1'b0;
    assign plan_read_at     = '0;
    assign plan_step_valid  = 1'b0;
    assign plan_step        = '0;
    assign plan_streamed    = '0;
    assign plan_add         = 1'b0;
    assign plan_value       = '0;
    assign plan_busy        = 1'b0;
    assign plan_done        = 1'b0;
    assign plan_list        = 1'b0;
    assign plan_events      = '0;
    assign plan_full        = 1'b0;
    assign record_valid_o   = 1'b0;
    assign record_o         = '0;
  end

  assign full_o = plan_full || wedge_full;

  // ---------------------------------------------------------------- units and lines

  logic unit_own, line_taken;
  // Houses, 5-cycles and 5-motifs.
  logic       wedging_q, wedge_take, wedge_issue_valid, wedge_line_ready, wedge_busy, wedge_list;
  line_at_t   wedge_issue_line;
  meta_t      wedge_issue_meta;

  gramer_set_unit_queue i_queue (
    .clk_i, .rst_i, .clear_i (1'b0),
    .push_i, .unit_i, .free_o,
    .valid_o (unit_valid), .take_i (unit_take || other_take), .unit_o (unit)
  );

  // The paths from and to the queue are long: for blocks other than the streamer, a register holds the unit.
  if (PLAN_LEVELS != 0 || REACHED != 0) begin : gen_held
    logic taken;

    assign other_take = (planning_q || wedging_q) && unit_valid && !held_valid_q;
    assign taken      = planning_q ? plan_take : wedge_take;

    always_ff @(posedge clk_i) begin
      held_valid_q <= !rst_i && (held_valid_q ? !taken : other_take);
      if (!held_valid_q) held_unit_q <= unit;
    end
  end else begin : gen_none_held
    logic unused;
    assign unused       = &{1'b0, plan_take, wedge_take, held_unit_q};
    assign other_take   = 1'b0;
    assign held_valid_q = 1'b0;
    assign held_unit_q  = '0;
  end

  assign unit_own   = unit_valid && !planning_q && !wedging_q;
  assign line_taken = planning_q ? plan_line_ready : wedging_q ? wedge_line_ready : line_ready;

  gramer_set_streamer i_streamer (
    .clk_i, .rst_i, .plan_i,
    .unit_valid_i (unit_own), .unit_take_o (unit_take), .unit_i (unit),
    .issue_valid_o (issue_valid), .issue_ready_i (issue_ready), .issue_line_o (issue_line),
    .issue_meta_o (issue_meta),
    .list_write_o (list_write), .list_slot_o (list_slot), .list_o (list),
    .loaded_i (loaded), .freed_i (freed),
    .read_o (member_read), .read_slot_o (member_slot), .read_at_o (member_at),
    .line_i (member_line),
    .lengths_valid_i (lengths_valid), .lengths_load_i (lengths_load),
    .lengths_up_i (lengths_up), .lengths_block_i (lengths_block),
    .busy_o (streamer_busy), .idle_unit_o (idle_unit), .member_o (member)
  );

  gramer_set_port i_port (
    .clk_i, .rst_i,
    .issue_valid_i (planning_q ? plan_issue_valid : wedging_q ? wedge_issue_valid : issue_valid),
    .issue_ready_o (issue_ready),
    .issue_line_i (planning_q ? plan_issue_line : wedging_q ? wedge_issue_line : issue_line),
    .issue_meta_i (planning_q ? plan_issue_meta : wedging_q ? wedge_issue_meta : issue_meta),
    .request_o, .request_at_o, .request_for_o, .answer_i, .answer_for_i, .answer_line_i,
    .valid_o (line_valid), .ready_i (line_taken),
    .line_o (line), .meta_o (meta),
    .busy_o (port_busy)
  );

  gramer_set_list_buffer i_lists (
    .clk_i,
    .write_i (planning_q ? plan_write : write),
    .write_slot_i (planning_q ? plan_write_at[SET_AT_W-1:LLINE_W] : write_slot),
    .write_at_i (planning_q ? plan_write_at[LLINE_W-1:0] : write_at),
    .line_i (planning_q ? plan_write_line : write_line),
    .member_read_i (member_read), .member_slot_i (member_slot), .member_at_i (member_at),
    .member_line_o (member_line),
    .held_read_i (planning_q ? plan_read : held_read),
    .held_slot_i (planning_q ? plan_read_at[SET_AT_W-1:LLINE_W] : held_slot),
    .held_at_i (planning_q ? plan_read_at[LLINE_W-1:0] : held_at),
    .held_line_o (held_line)
  );

  // ---------------------------------------------------------------- steps, rows

  logic    step_valid, match_valid, stepper_busy, root_freed;
  step_t   step, match_step;
  logic [ROW_AT_W:0] root_words;
  logic    map_valid, map_ready;
  line_t   map_line;
  lanes_t  map_lanes;
  meta_t   map_meta;
  list_t   map_list;

  gramer_set_stepper i_stepper (
    .clk_i, .rst_i,
    .valid_i (line_valid && !planning_q && !wedging_q), .ready_o (line_ready),
    .line_i (line), .meta_i (meta),
    .list_write_i (list_write), .list_slot_i (list_slot), .list_i (list),
    .write_o (write), .write_slot_o (write_slot), .write_at_o (write_at),
    .write_line_o (write_line), .loaded_o (loaded),
    .lengths_valid_o (lengths_valid), .lengths_load_o (lengths_load),
    .lengths_up_o (lengths_up), .lengths_block_o (lengths_block),
    .map_valid_o (map_valid), .map_ready_i (map_ready), .map_line_o (map_line),
    .map_lanes_o (map_lanes), .map_meta_o (map_meta), .map_list_o (map_list),
    .read_o (held_read), .read_slot_o (held_slot), .read_at_o (held_at), .freed_o (freed),
    .step_valid_o (step_valid), .step_o (step), .streamed_o (streamed),
    .root_freed_i (root_freed), .root_words_i (root_words), .busy_o (stepper_busy)
  );

  gramer_set_intersector i_intersector (
    .clk_i, .rst_i,
    .valid_i (planning_q ? plan_step_valid : step_valid),
    .step_i (planning_q ? plan_step : step), .held_i (held_line),
    .streamed_i (planning_q ? plan_streamed : streamed),
    .valid_o (match_valid), .step_o (match_step), .match_o (match)
  );

  logic [ROW_BANKS-1:0] row_write;
  row_at_t row_at;
  word_t   row_data [ROW_BANKS];
  logic    root_valid, triangle, triangles_done, rows_busy;
  place_t  place;
  root_t   root;
  mask_t   mask;
  words_t  rows_words, first_words;
  logic [4:0] triangles;
  clique_sum_t triangles_sum;

  gramer_set_rows i_rows (
    .clk_i, .rst_i,
    .valid_i (match_valid && !planning_q), .step_i (match_step), .match_i (match),
    .write_o (row_write), .write_at_o (row_at), .write_word_o (row_data),
    .mask_o (mask), .root_valid_o (root_valid), .place_o (place), .root_o (root),
    .rows_words_o (rows_words), .first_words_o (first_words),
    .found_o (triangle), .found_count_o (triangles), .found_sum_o (triangles_sum),
    .unit_done_o (triangles_done),
    .busy_o (rows_busy)
  );

  logic clique, level_busy, level_event, level_set;
  logic [MEMBER_W:0] cliques;
  clique_sum_t cliques_sum;
  logic [3:0] level_rows;

  gramer_set_level_engine i_levels (
    .clk_i, .rst_i,
    .write_i (row_write), .write_at_i (row_at), .write_word_i (row_data),
    .mask_i (mask), .root_valid_i (root_valid), .place_i (place), .root_i (root),
    .rows_words_i (rows_words), .first_words_i (first_words),
    .freed_o (root_freed), .words_o (root_words),
    .found_o (clique), .found_count_o (cliques), .found_sum_o (cliques_sum), .busy_o (level_busy),
    .busy_event_o (level_event), .set_o (level_set), .rows_o (level_rows)
  );

  // ---------------------------------------------------------------- map, wedges

  localparam int unsigned PRODUCT_W = 48;

  logic        wedge_valid, map_settled, product, row_done, row_look;
  line_t       wedge_line;
  lanes_t      wedge_lanes, wedge_counted;
  meta_t       wedge_meta;
  list_t       wedge_root;
  wedge_t      wedge;
  logic [RANGE_W-1:0] range_first, range_last;
  logic [MAP_BANKS-1:0] note, row_there;
  map_at_t     note_at [MAP_BANKS], row_place [MAP_BANKS];
  up_t         note_up [MAP_BANKS];
  logic [PRODUCT_W-1:0] product_value;
  logic        triple_valid, triple_done, products_saturated, sums_saturated;
  triple_t     triple;
  logic [COUNT_W-1:0] products_sum, own_sum;
  logic        of_products_q; // the requested sum

  if (REACHED != 0) begin : gen_wedges
    gramer_set_by_map i_by_map (
      .clk_i, .rst_i, .clear_i, .plan_i (plan_i[0]), .is_o (wedging_q),
      .unit_valid_i (held_valid_q), .unit_take_o (wedge_take), .unit_i (held_unit_q),
      .issue_valid_o (wedge_issue_valid), .issue_ready_i (issue_ready),
      .issue_line_o (wedge_issue_line), .issue_meta_o (wedge_issue_meta),
      .line_valid_i (line_valid), .line_ready_o (wedge_line_ready), .line_i (line), .meta_i (meta),
      .map_valid_o (wedge_valid), .map_ready_i (map_ready), .map_line_o (wedge_line),
      .map_lanes_o (wedge_lanes), .map_meta_o (wedge_meta), .map_list_o (wedge_root),
      .map_wedge_o (wedge), .map_counted_o (wedge_counted),
      .range_first_o (range_first), .range_last_o (range_last), .settled_i (map_settled),
      .look_o (row_look), .look_there_o (row_there), .look_at_o (row_place),
      .note_i (note), .note_at_i (note_at), .note_up_i (note_up), .row_done_i (row_done),
      .triple_i (triple_valid), .triple_value_i (triple), .triple_done_o (triple_done),
      .sum_at_i, .sum_o (products_sum), .of_products_o (of_products_q),
      .saturated_o (products_saturated), .full_o (wedge_full), .busy_o (wedge_busy),
      .list_o (wedge_list)
    );
  end else begin : gen_no_wedges
    logic unused;
    always_comb begin
      unused = &{1'b0, note, product, product_value, row_done, map_settled, triple_valid, triple};
      for (int b = 0; b < MAP_BANKS; b++) begin
        unused &= &{note_at[b], note_up[b]};
        row_place[b] = '0;
      end
    end
    assign wedging_q         = 1'b0;
    assign wedge_take        = 1'b0;
    assign wedge_issue_valid = 1'b0;
    assign wedge_issue_line  = '0;
    assign wedge_issue_meta  = '0;
    assign wedge_line_ready  = 1'b0;
    assign wedge_busy        = 1'b0;
    assign wedge_list        = 1'b0;
    assign wedge_full        = 1'b0;
    assign wedge_valid       = 1'b0;
    assign wedge_line        = '0;
    assign wedge_lanes       = '0;
    assign wedge_counted     = '0;
    assign wedge_meta        = '0;
    assign wedge_root        = '0;
    assign wedge             = '0;
    assign range_first       = '0;
    assign range_last        = '0;
    assign triple_done        = 1'b0;
    assign products_saturated = 1'b0;
    assign products_sum       = '0;
    assign of_products_q      = 1'b0;
    assign row_look          = 1'b0;
    assign row_there         = '0;
  end

  logic member_done, counted, marked, map_root_done, map_busy, map_access;
  logic [19:0] map_triangles;
  logic [39:0] map_pairs;
  logic [41:0] map_degrees;
  logic [21:0] map_cycles;
  logic [4:0]  map_paths, map_marks, map_entries;

  gramer_set_map #(.PRODUCT_W(PRODUCT_W)) i_map (
    .clk_i, .rst_i,
    .valid_i (wedging_q ? wedge_valid : map_valid), .ready_o (map_ready),
    .line_i (wedging_q ? wedge_line : map_line), .lanes_i (wedging_q ? wedge_lanes : map_lanes),
    .meta_i (wedging_q ? wedge_meta : map_meta), .list_i (wedging_q ? wedge_root : map_list),
    .wedge_i (wedging_q ? wedge : '0), .counted_i (wedge_counted),
    .range_first_i (range_first), .range_last_i (range_last),
    .row_valid_i (row_look), .row_there_i (row_there), .row_at_i (row_place),
    .note_o (note), .note_at_o (note_at), .note_up_o (note_up),
    .product_o (product), .product_value_o (product_value), .row_done_o (row_done),
    .settled_o (map_settled),
    .triple_o (triple_valid), .triple_value_o (triple), .triple_done_i (triple_done),
    .member_o (member_done), .triangles_o (map_triangles), .pairs_o (map_pairs),
    .degrees_o (map_degrees), .counted_o (counted), .cycles_o (map_cycles),
    .paths_o (map_paths), .marked_o (marked), .marks_o (map_marks),
    .root_done_o (map_root_done), .busy_o (map_busy), .access_o (map_access),
    .entries_o (map_entries)
  );

  // ---------------------------------------------------------------- sums

  logic [SUMS-1:0]    add_q;
  logic [VALUE_W-1:0] value_q [SUMS];
  logic [PLANS-1:0]   of_triangles, of_cliques; // sums
  logic [VALUE_W-1:0] clique_sums [PLANS];
  // Cliques are added to the sum of their plan, which is sum 0 in a run with edges or paths.
  always_comb begin
    of_triangles = triangle ? PLANS'(1) << triangles_sum : '0;
    of_cliques   = clique ? PLANS'(1) << cliques_sum : '0;
    for (int p = 0; p < PLANS; p++)
      clique_sums[p] = (of_triangles[p] ? VALUE_W'(triangles) : '0)
                   + (of_cliques[p] ? VALUE_W'(cliques) : '0);
  end

  always_ff @(posedge clk_i) begin
    add_q <= '0;
    for (int s = 0; s < SUMS; s++) value_q[s] <= '0;
    if (!rst_i) begin
      for (int p = 0; p < PLANS; p++) begin
        add_q[p]   <= of_triangles[p] || of_cliques[p] || (p != SUM_CLIQUES && member_done);
        value_q[p] <= clique_sums[p];
      end
      if (member_done) begin
        value_q[SUM_TRIANGLES] <= VALUE_W'(map_triangles);
        value_q[SUM_PAIRS]     <= VALUE_W'(map_pairs);
        value_q[SUM_DEGREES]   <= VALUE_W'(map_degrees);
      end
      add_q[SUM_CYCLES]      <= counted;
      value_q[SUM_CYCLES]    <= VALUE_W'(map_cycles);
      add_q[SUM_PATHS]       <= counted;
      value_q[SUM_PATHS]     <= VALUE_W'(map_paths);
      add_q[SUM_MARKS]       <= marked;
      value_q[SUM_MARKS]     <= VALUE_W'(map_marks);
      add_q[SUM_EMBEDDINGS]  <= plan_add || (product && REACHED != 0);
      value_q[SUM_EMBEDDINGS] <= plan_add || REACHED == 0 ? VALUE_W'(plan_value)
                                                          : VALUE_W'(product_value);
    end
  end

  // A machine without plans does not use this sum.
  localparam logic [SUMS-1:0] USED
    = PLAN_LEVELS != 0 || REACHED != 0 ? '1 : ~(SUMS'(1) << SUM_EMBEDDINGS);

  gramer_set_sums #(.VALUE_W(VALUE_W), .USED(USED)) i_sums (
    .clk_i, .rst_i (1'b0), .clear_i,
    .valid_i (add_q), .value_i (value_q), .at_i ($clog2(SUMS)'(sum_at_i)), .sum_o (own_sum),
    .saturated_o (sums_saturated)
  );

  assign sum_o       = of_products_q ? products_sum : own_sum;
  assign saturated_o = sums_saturated || products_saturated;

  // ---------------------------------------------------------------- counters

  counter_t    counters_q [PU_COUNTERS];
  logic        busy, stepped_q, held_q;
  logic [1:0]  ended;

  // The core sees this three cycles later, when most results are in the sums; a plan's counts may arrive last.
  assign busy   = unit_valid || held_valid_q || streamer_busy || port_busy || stepper_busy
                  || rows_busy || level_busy || map_busy || plan_busy || wedge_busy
                  || add_q[SUM_EMBEDDINGS];
  assign ended  = 2'(idle_unit || plan_done) + 2'(triangles_done) + 2'(root_freed)
                  + 2'(map_root_done);

  always_ff @(posedge clk_i) begin
    busy_o    <= !rst_i && (busy || free_o != ($bits(free_o))'(UNIT_QUEUE / UNITS_A_GROUP));
    stepped_q <= (step_valid && step.compare) || (plan_step_valid && plan_step.compare);
    held_q    <= busy;
    counter_o <= counters_q[counter_at_i];
    if (clear_i) for (int c = 0; c < PU_COUNTERS; c++) counters_q[c] <= '0;
    else begin
      counters_q[CNT_PU_UNITS] <= counters_q[CNT_PU_UNITS] + counter_t'(ended);
      if (member || plan_list || wedge_list)
        counters_q[CNT_PU_MEMBERS] <= counters_q[CNT_PU_MEMBERS] + 1'b1;
      if (request_o != '0)
        counters_q[CNT_PU_LINES_REQUESTED] <= counters_q[CNT_PU_LINES_REQUESTED] + 1'b1;
      if (line_valid && line_taken && !meta.none)
        counters_q[CNT_PU_LINES_ANSWERED] <= counters_q[CNT_PU_LINES_ANSWERED] + 1'b1;
      if (stepped_q) counters_q[CNT_PU_STEPS] <= counters_q[CNT_PU_STEPS] + 1'b1;
      if (level_event) counters_q[CNT_PU_LEVEL_BUSY] <= counters_q[CNT_PU_LEVEL_BUSY] + 1'b1;
      if (level_set) counters_q[CNT_PU_LEVEL_SETS] <= counters_q[CNT_PU_LEVEL_SETS] + 1'b1;
      if (level_rows != '0)
        counters_q[CNT_PU_LEVEL_ROWS] <= counters_q[CNT_PU_LEVEL_ROWS] + counter_t'(level_rows);
      if (map_access) counters_q[CNT_PU_MAP_BUSY] <= counters_q[CNT_PU_MAP_BUSY] + 1'b1;
      if (map_entries != '0)
        counters_q[CNT_PU_MAP_ENTRIES] <= counters_q[CNT_PU_MAP_ENTRIES] + counter_t'(map_entries);
      if (marked) counters_q[CNT_PU_MARKS] <= counters_q[CNT_PU_MARKS] + counter_t'(map_marks);
      if (PLAN_LEVELS != 0) begin
        if (plan_events.step)
          counters_q[CNT_PU_PLAN_STEPS] <= counters_q[CNT_PU_PLAN_STEPS] + 1'b1;
        if (plan_events.pass)
          counters_q[CNT_PU_PLAN_PASSES] <= counters_q[CNT_PU_PLAN_PASSES] + 1'b1;
        if (plan_events.line)
          counters_q[CNT_PU_PLAN_NO_LINE] <= counters_q[CNT_PU_PLAN_NO_LINE] + 1'b1;
      end
      if (running_i && !held_q)
        counters_q[CNT_PU_IDLE_NO_WORK] <= counters_q[CNT_PU_IDLE_NO_WORK] + 1'b1;
      if (running_i && held_q && !stepped_q && !level_event && !map_access)
        counters_q[CNT_PU_IDLE_MEMORY] <= counters_q[CNT_PU_IDLE_MEMORY] + 1'b1;
    end
  end

`ifndef SYNTHESIS
  // Extends the run's cycles to its last sum, added in the cycle after `add_q`. (A plan's count extends the run again.)
  logic adds_q;

  always_ff @(posedge clk_i) begin
    adds_q <= !rst_i && (add_q & ~(SUMS'(1) << SUM_EMBEDDINGS)) != '0;
    if (!rst_i) assert (!member_done || ((of_triangles | of_cliques) & ~PLANS'(1)) == '0)
      else $error("cliques and edges in one sum");
    if (!rst_i) assert (running_i || !adds_q) else $error("a sum after the last cycle of a run");
  end
`endif

endmodule

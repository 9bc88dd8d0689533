// Processing unit (figures 6 and 9): scheduler, extender, filter, process stage and their counters.
//
//   units ─► scheduler ─► extender ─► filter program ─► filter ─► process
//                ▲            │                           │
//                └── ended ───┘                           │
//                └───────────────── result ───────────────┘
//
// The filter program is there if the machine has words for it (FILTER_WORDS). Then the end of a list waits for as long
// as a candidate may, so that no candidate outlives its slot's embedding.
//
// Listed embeddings leave through a FIFO; while it is nearly full, the extender accepts no new issue.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_pu
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    clear_i,   // before a run
  input  logic    running_i, // units are being dispatched
  input  logic    kill_i,    // end the run at once
  input  config_t config_i,
  // Work units
  input  logic    unit_valid_i,
  output logic    unit_ready_o,
  input  unit_t   unit_i,
  // Memory: requests have no back-pressure, responses wait
  output logic    edge_valid_o,
  output edge_request_t   edge_request_o,
  input  logic    edge_valid_i,
  output logic    edge_ready_o,
  input  edge_answer_t    edge_answer_i,
  output logic    vertex_valid_o,
  output vertex_request_t vertex_request_o,
  input  logic    vertex_valid_i,
  output logic    vertex_ready_o,
  input  vertex_answer_t  vertex_answer_i,
  // Dictionary and pattern counters
  input  logic    dictionary_write_i,
  input  key_t    dictionary_key_i,
  input  entry_t  dictionary_entry_i,
  input  logic    filter_write_i,
  input  logic [FILTER_AT_W-1:0] filter_at_i,
  input  filter_word_t filter_word_i,
  input  logic    count_clear_i,
  input  logic [NUMBER_W-1:0] count_at_i,
  output logic [COUNT_W-1:0] count_o,
  output logic    saturated_o,
  // Listed embeddings
  output logic    listed_more_o, // one more, in addition to the one being taken
  input  logic    listed_take_i, // takes listed_o
  output listed_t listed_o,
  output ordinal_t oldest_o, // oldest unit in flight when the run was killed
  // Counters: value in the next cycle; 0 on a machine without counters
  input  logic [$clog2(PU_COUNTERS)-1:0] counter_at_i,
  output logic [63:0] counter_o,
  output logic    busy_o
);

  logic busy_q;

  assign busy_o = busy_q;

  logic    issue_valid, ended_valid, list_ended, found_valid, tested_valid, refused, result_valid;
  issue_t  issue;
  ended_t  ended, list_end;
  found_t  found, tested;
  result_t result;
  slot_t   row, early_row, list_row, copy_to;
  id_t     row_ids [DEPTH];
  id_t     early_ids [MAX_MOTIF];
  pos_t    row_lane, row_key_lane, table_lane, list_lane;
  edge_t   row_offset, root_offset, table_offset, list_offset;
  logic [31:0] row_degree, root_degree, table_degree, list_degree;
  key_t    row_key, table_key, key;
  entry_t  entry;
  id_t     table_id, list_id;
  label_t  table_label;
  logic    table_write, table_copy, freed, stolen, scanned_valid, candidate;
  logic    passed, passed_last, passed_first, process_busy, pending;
  size_t   passed_size, candidate_size;
  logic [4:0] scanned;
  logic [SLOTS-1:0] busy;
  logic [NUMBER_W-1:0] number;
  slot_t    passed_slot;
  id_t      passed_vertex;
  id_t      listed_ids [DEPTH];
  ordinal_t listed_ordinal;
  slot_t    saved_row;
  row_t     saved, restored;
  logic     listed, pause, stall_q;

  gramer_scheduler i_scheduler (
    .clk_i, .rst_i, .clear_i, .kill_i, .config_i,
    .unit_valid_i, .unit_ready_o, .unit_i,
    .result_valid_i (result_valid), .result_i (result),
    .ended_valid_i (ended_valid), .ended_i (ended),
    .issue_valid_o (issue_valid), .issue_o (issue),
    .row_o (row), .row_ids_i (row_ids), .row_lane_o (row_lane),
    .row_offset_i (row_offset), .row_degree_i (row_degree),
    .row_key_lane_o (row_key_lane), .row_key_i (row_key),
    .root_offset_i (root_offset), .root_degree_i (root_degree),
    .table_write_o (table_write), .table_lane_o (table_lane), .table_id_o (table_id),
    .table_offset_o (table_offset), .table_degree_o (table_degree), .table_key_o (table_key),
    .table_label_o (table_label), .table_copy_o (table_copy), .table_copy_to_o (copy_to),
    .saved_row_o (saved_row), .saved_i (saved), .restored_o (restored),
    .listed_slot_i (passed_slot), .listed_ordinal_o (listed_ordinal), .oldest_o,
    .busy_o (busy), .pending_o (pending), .freed_o (freed), .stolen_o (stolen)
  );

  gramer_embedding_table i_table (
    .clk_i,
    .row_i (row), .row_ids_o (row_ids), .row_lane_i (row_lane),
    .row_offset_o (row_offset), .row_degree_o (row_degree),
    .row_key_lane_i (row_key_lane), .row_key_o (row_key),
    .root_offset_o (root_offset), .root_degree_o (root_degree),
    .write_i (table_write), .write_lane_i (table_lane), .write_id_i (table_id),
    .write_offset_i (table_offset), .write_degree_i (table_degree), .write_key_i (table_key),
    .copy_i (table_copy), .copy_to_i (copy_to),
    .saved_row_i (saved_row), .saved_o (saved), .restored_i (restored),
    .listed_row_i (passed_slot), .listed_ids_o (listed_ids),
    .early_row_i (early_row), .early_ids_o (early_ids),
    .list_row_i (list_row), .list_lane_i (list_lane), .list_id_o (list_id),
    .list_offset_o (list_offset), .list_degree_o (list_degree)
  );

  gramer_extender i_extender (
    .clk_i, .rst_i, .clear_i, .kill_i, .config_i,
    .issue_valid_i (issue_valid), .issue_i (issue),
    .ended_valid_o (list_ended), .ended_o (list_end),
    .found_valid_o (found_valid), .found_o (found), .stall_i (stall_q),
    .early_row_o (early_row), .early_ids_i (early_ids),
    .list_row_o (list_row), .list_lane_o (list_lane), .list_id_i (list_id),
    .list_offset_i (list_offset), .list_degree_i (list_degree),
    .edge_valid_o, .edge_request_o, .edge_valid_i, .edge_ready_o, .edge_answer_i,
    .vertex_valid_o, .vertex_request_o, .vertex_valid_i, .vertex_ready_o, .vertex_answer_i,
    .scanned_valid_o (scanned_valid), .scanned_o (scanned),
    .candidate_o (candidate), .candidate_size_o (candidate_size)
  );

  if (FILTER_WORDS != 0) begin : gen_filter_program
    // Cycles that the program takes at most: one a word, then its other stages.
    localparam int unsigned LATENCY = FILTER_WORDS + FILTER_STAGES - 1;
    logic [LATENCY-1:0] ended_q;
    ended_t             end_q [LATENCY];

    gramer_filter_program i_program (
      .clk_i, .rst_i, .filters_i (config_i.filters),
      .word_write_i (filter_write_i), .word_at_i (filter_at_i), .word_i (filter_word_i),
      .row_i (row), .write_i (table_write), .lane_i (table_lane),
      .degree_i (table_degree), .label_i (table_label), .copy_i (table_copy), .copy_to_i (copy_to),
      .valid_i (found_valid), .found_i (found), .pause_o (pause),
      .valid_o (tested_valid), .found_o (tested), .refused_o (refused)
    );

    always_ff @(posedge clk_i) begin
      ended_q <= rst_i || clear_i ? '0 : {ended_q[LATENCY-2:0], list_ended};
      end_q[0] <= list_end;
      for (int stage = 1; stage < LATENCY; stage++) end_q[stage] <= end_q[stage-1];
    end

    assign ended_valid = config_i.filters ? ended_q[LATENCY-1] : list_ended;
    assign ended       = config_i.filters ? end_q[LATENCY-1] : list_end;
  end else begin : gen_no_filter_program
    logic unused;
    assign unused = &{1'b0, filter_write_i, filter_at_i, filter_word_i, table_label};
    assign {pause, refused, tested_valid, tested} = {2'b0, found_valid, found};
    assign {ended_valid, ended} = {list_ended, list_end};
  end

  gramer_filter i_filter (
    .clk_i, .rst_i, .config_i,
    .found_valid_i (tested_valid), .found_i (tested), .refused_i (refused),
    .key_o (key), .entry_i (entry),
    .valid_o (passed), .last_o (passed_last), .size_o (passed_size), .first_o (passed_first),
    .number_o (number), .slot_o (passed_slot), .vertex_o (passed_vertex),
    .result_valid_o (result_valid), .result_o (result)
  );

  gramer_process_stage i_process (
    .clk_i, .rst_i,
    .dictionary_write_i, .dictionary_key_i, .dictionary_entry_i,
    .key_i (key), .entry_o (entry),
    .valid_i (passed && passed_last), .number_i (number),
    .clear_i (count_clear_i), .at_i (count_at_i), .count_o,
    .busy_o (process_busy), .saturated_o
  );

  // ---------------------------------------------------------------- listing

  localparam int unsigned LISTED  = 16; // capacity for waiting embeddings
  localparam int unsigned ROOM    = 8;  // exceeds the embeddings in flight from the extender

  listed_t listing;
  logic [$clog2(LISTED):0] listed_q, room_until; // waiting embeddings; from this number it pauses

  assign listed          = passed && passed_last && config_i.lists;
  always_comb begin
    listing.number  = number;
    listing.ordinal = listed_ordinal;
    for (int place = 0; place < DEPTH; place++)
      listing.ids[place] = size_t'(place) + 1'b1 < passed_size ? listed_ids[place]
                         : size_t'(place) + 1'b1 == passed_size ? passed_vertex : '1;
  end

  gramer_fifo #(.WIDTH($bits(listed_t)), .DEPTH(LISTED)) i_listed (
    .clk_i, .rst_i,
    .push_i (listed), .data_i (listing), .full_o (),
    .pop_i (listed_take_i), .valid_o (), .data_o (listed_o)
  );

  // With embeddings in the filter program it pauses earlier.
  assign room_until = ($clog2(LISTED)+1)'(LISTED - ROOM - (config_i.filters ? FILTER_STAGES : 0));
  assign listed_more_o = listed_q > ($clog2(LISTED)+1)'(listed_take_i);

  always_ff @(posedge clk_i) begin
    if (rst_i) listed_q <= '0;
    else listed_q <= listed_q + ($clog2(LISTED)+1)'(listed) - ($clog2(LISTED)+1)'(listed_take_i);
    stall_q <= !rst_i && (pause || listed_q >= room_until);
    busy_q  <= !rst_i && (busy != '0 || pending || tested_valid || process_busy || listed_q != '0);
  end

  // ---------------------------------------------------------------- counters

  logic [63:0] counters_q [PU_COUNTERS];

  if (PERFORMANCE_COUNTERS != 0) begin : gen_counters
    logic [63:0] counter_q;
    // Events by depth, registered: each counter has a separate enable.
    logic [DEPTH-1:0] candidates_q, embeddings_q;
    // Outstanding accesses: the reason for an idle cycle of the edge port.
    logic [$clog2(SLOTS+1)-1:0] waiting_q, tokens_q;
    logic [1:0] asked_q, answered_q;

    assign counter_o = counter_q;

    always_ff @(posedge clk_i) begin
      counter_q <= counters_q[counter_at_i];
      asked_q    <= 2'(edge_valid_o) + 2'(vertex_valid_o);
      answered_q <= 2'(edge_valid_i && edge_ready_o) + 2'(vertex_valid_i && vertex_ready_o);
      if (rst_i || clear_i) begin
        waiting_q <= '0;
        tokens_q  <= '0;
      end else begin
        waiting_q <= waiting_q + ($clog2(SLOTS+1))'(asked_q) - ($clog2(SLOTS+1))'(answered_q);
        tokens_q  <= ($clog2(SLOTS+1))'($countones(busy));
      end
      for (int depth = 0; depth < DEPTH; depth++) begin
        candidates_q[depth] <= candidate && candidate_size == size_t'(depth + 1);
        embeddings_q[depth] <= passed && passed_first && passed_size == size_t'(depth + 1);
      end
      if (clear_i) begin
        for (int c = 0; c < PU_COUNTERS; c++) counters_q[c] <= '0;
      end else begin
        for (int depth = 0; depth < DEPTH; depth++) begin
          if (candidates_q[depth]) counters_q[CNT_PU_CANDIDATES + depth] <=
              counters_q[CNT_PU_CANDIDATES + depth] + 1'b1;
          if (embeddings_q[depth]) counters_q[CNT_PU_EMBEDDINGS + depth] <=
              counters_q[CNT_PU_EMBEDDINGS + depth] + 1'b1;
        end
        if (issue_valid && !issue.root)
          counters_q[CNT_PU_EXTENSIONS] <= counters_q[CNT_PU_EXTENSIONS] + 1'b1;
        if (scanned_valid)
          counters_q[CNT_PU_ENTRIES_SCANNED] <= counters_q[CNT_PU_ENTRIES_SCANNED] + 64'(scanned);
        if (vertex_valid_o)
          counters_q[CNT_PU_VERTEX_ACCESSES] <= counters_q[CNT_PU_VERTEX_ACCESSES] + 1'b1;
        if (stolen) counters_q[CNT_PU_STEALS] <= counters_q[CNT_PU_STEALS] + 1'b1;
        if (freed)  counters_q[CNT_PU_SLOTS_FREED] <= counters_q[CNT_PU_SLOTS_FREED] + 1'b1;
        if (edge_valid_o)
          counters_q[CNT_PU_EDGE_ACCESSES] <= counters_q[CNT_PU_EDGE_ACCESSES] + 1'b1;
        if (running_i) begin
          if (edge_valid_o || vertex_valid_o)
            counters_q[CNT_PU_PORT_BUSY] <= counters_q[CNT_PU_PORT_BUSY] + 1'b1;
          else if (tokens_q == '0)
            counters_q[CNT_PU_IDLE_NO_WORK] <= counters_q[CNT_PU_IDLE_NO_WORK] + 1'b1;
          else if (waiting_q == tokens_q)
            counters_q[CNT_PU_IDLE_MEMORY] <= counters_q[CNT_PU_IDLE_MEMORY] + 1'b1;
          else
            counters_q[CNT_PU_IDLE_INSIDE] <= counters_q[CNT_PU_IDLE_INSIDE] + 1'b1;
        end
      end
    end
  end else begin : gen_no_counters
    logic unused;
    assign unused     = &{1'b0, counter_at_i, running_i, candidate, candidate_size, passed,
                          passed_first, passed_size, scanned_valid, scanned, stolen, freed,
                          counters_q[0]};
    assign counters_q = '{default: '0};
    assign counter_o  = '0;
  end

endmodule

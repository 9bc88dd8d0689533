// The scheduler with its embedding table, between registers: what is placed and routed to compare
// ancestor buffers that hold whole states with those that hold cursors alone (scripts/ecp5.py).
module scheduler_unit
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    clear_i,
  input  config_t config_i,
  input  logic    unit_valid_i,
  input  unit_t   unit_i,
  output logic    unit_ready_o,
  input  logic    result_valid_i,
  input  result_t result_i,
  input  logic    ended_valid_i,
  input  ended_t  ended_i,
  output logic    issue_valid_o,
  output issue_t  issue_o,
  input  slot_t   list_row_i,
  input  pos_t    list_lane_i,
  output id_t     list_id_o
);

  logic    rst_q, clear_q, unit_valid_q, result_valid_q, ended_valid_q, unit_ready, issue_valid;
  config_t config_q;
  unit_t   unit_q;
  result_t result_q;
  ended_t  ended_q;
  issue_t  issue;
  slot_t   list_row_q;
  pos_t    list_lane_q;
  id_t     list_id;

  always_ff @(posedge clk_i) begin
    rst_q          <= rst_i;
    clear_q        <= clear_i;
    config_q       <= config_i;
    unit_valid_q   <= unit_valid_i;
    unit_q         <= unit_i;
    result_valid_q <= result_valid_i;
    result_q       <= result_i;
    ended_valid_q  <= ended_valid_i;
    ended_q        <= ended_i;
    list_row_q     <= list_row_i;
    list_lane_q    <= list_lane_i;
    unit_ready_o   <= unit_ready;
    issue_valid_o  <= issue_valid;
    issue_o        <= issue;
    list_id_o      <= list_id;
  end

  slot_t row, copy_to, saved_row;
  id_t   row_ids [DEPTH];
  pos_t  row_lane, row_key_lane, table_lane;
  edge_t row_offset, root_offset, table_offset;
  logic [31:0] row_degree, root_degree, table_degree;
  key_t  row_key, table_key;
  id_t   table_id;
  logic  table_write, table_copy;
  row_t  saved, restored;

  gramer_scheduler i_scheduler (
    .clk_i, .rst_i (rst_q), .clear_i (clear_q), .kill_i (1'b0), .config_i (config_q),
    .unit_valid_i (unit_valid_q), .unit_ready_o (unit_ready), .unit_i (unit_q),
    .result_valid_i (result_valid_q), .result_i (result_q),
    .ended_valid_i (ended_valid_q), .ended_i (ended_q),
    .issue_valid_o (issue_valid), .issue_o (issue),
    .row_o (row), .row_ids_i (row_ids), .row_lane_o (row_lane),
    .row_offset_i (row_offset), .row_degree_i (row_degree),
    .row_key_lane_o (row_key_lane), .row_key_i (row_key),
    .root_offset_i (root_offset), .root_degree_i (root_degree),
    .table_write_o (table_write), .table_lane_o (table_lane), .table_id_o (table_id),
    .table_offset_o (table_offset), .table_degree_o (table_degree), .table_key_o (table_key),
    .table_copy_o (table_copy), .table_copy_to_o (copy_to),
    .saved_row_o (saved_row), .saved_i (saved), .restored_o (restored),
    .listed_slot_i ('0), .listed_ordinal_o (), .oldest_o (),
    .busy_o (), .pending_o (), .freed_o (), .stolen_o ()
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
    .listed_row_i ('0), .listed_ids_o (),
    .early_row_i ('0), .early_ids_o (),
    .list_row_i (list_row_q), .list_lane_i (list_lane_q), .list_id_o (list_id),
    .list_offset_o (), .list_degree_o ()
  );

endmodule

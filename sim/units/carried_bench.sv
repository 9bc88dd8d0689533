// carried_scheduler with the ports of the scheduler, for the scheduler's bench. The states of the
// tokens that the bench has are kept here. The embedding table is the bench's: it is told what is
// added and copied, and what is carried has to agree with it.
module carried_bench
  import gramer_pkg::*;
  import gramer_types_pkg::*;
  import carried_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    clear_i,
  input  logic    kill_i,
  input  config_t config_i,
  input  logic    unit_valid_i,
  output logic    unit_ready_o,
  input  unit_t   unit_i,
  input  logic    result_valid_i,
  input  result_t result_i,
  input  logic    ended_valid_i,
  input  ended_t  ended_i,
  output logic    issue_valid_o,
  output issue_t  issue_o,
  output slot_t   row_o,
  input  id_t     row_ids_i [DEPTH],
  output pos_t    row_lane_o,
  input  edge_t   row_offset_i,
  input  logic [31:0] row_degree_i,
  output pos_t    row_key_lane_o,
  input  key_t    row_key_i,
  input  edge_t   root_offset_i,
  input  logic [31:0] root_degree_i,
  output logic    table_write_o,
  output pos_t    table_lane_o,
  output id_t     table_id_o,
  output edge_t   table_offset_o,
  output logic [31:0] table_degree_o,
  output key_t    table_key_o,
  output logic    table_copy_o,
  output slot_t   table_copy_to_o,
  output slot_t   saved_row_o,
  input  row_t    saved_i,
  output row_t    restored_o,
  input  slot_t   listed_slot_i,
  output ordinal_t listed_ordinal_o,
  output ordinal_t oldest_o,
  output logic [SLOTS-1:0] busy_o,
  output logic    pending_o,
  output logic    freed_o,
  output logic    stolen_o
);

  state_t states [SLOTS];
  state_t issue_state;
  slot_t  thief_q;

  carried_scheduler i_scheduler (
    .clk_i, .rst_i, .clear_i, .kill_i, .config_i,
    .unit_valid_i, .unit_ready_o, .unit_i,
    .result_valid_i, .result_i, .result_state_i (states[result_i.slot]),
    .ended_valid_i, .ended_i, .ended_state_i (states[ended_i.slot]),
    .issue_valid_o, .issue_o, .issue_state_o (issue_state),
    .listed_slot_i, .listed_ordinal_o, .oldest_o,
    .busy_o, .pending_o, .freed_o, .stolen_o
  );

  always_ff @(posedge clk_i) begin
    if (issue_valid_o) states[issue_o.slot] <= issue_state;
    thief_q <= i_scheduler.b_thief_q;
  end

  // Stage C, in which rtl/gramer_scheduler.sv meets its table.
  assign row_o           = i_scheduler.c_q.slot;
  assign row_lane_o      = i_scheduler.c_q.cursor.i;
  assign row_key_lane_o  = i_scheduler.newest;
  assign table_write_o   = i_scheduler.c_valid_q && i_scheduler.grown;
  assign table_lane_o    = i_scheduler.newest;
  assign table_id_o      = i_scheduler.c_q.vertex;
  assign table_offset_o  = i_scheduler.c_q.record.offset;
  assign table_degree_o  = i_scheduler.c_q.record.degree;
  assign table_key_o     = i_scheduler.c_q.key;
  assign table_copy_o    = stolen_o;
  assign table_copy_to_o = thief_q;
  assign saved_row_o     = '0;
  assign restored_o      = '0;

  row_t carried;
  assign carried = i_scheduler.embedding;

  always_ff @(posedge clk_i)
    if (!rst_i && i_scheduler.c_valid_q && i_scheduler.c_q.size > size_t'(i_scheduler.grown)
        && i_scheduler.c_q.kind != i_scheduler.UNIT) begin
      for (int j = 0; j < DEPTH; j++)
        assert (32'(j) + 32'(i_scheduler.grown) >= 32'(i_scheduler.c_q.size)
                || carried.ids[j] == row_ids_i[j]) else $error("another vertex is carried");
      assert (carried.offsets[0] == root_offset_i && carried.degrees[0] == root_degree_i)
        else $error("another list of the start vertex is carried");
      assert (carried.offsets[row_lane_o] == row_offset_i
              && carried.degrees[row_lane_o] == row_degree_i) else $error("another list is carried");
      assert (i_scheduler.grown || carried.keys[row_key_lane_o] == row_key_i)
        else $error("another key is carried");
    end

endmodule

// The scheduler whose state is carried, between registers: what is placed and routed (scripts/ecp5.py).
// As in scheduler_unit, nothing is stopped from outside (kill_i), and no embeddings are listed.
module carried_unit
  import gramer_types_pkg::*;
  import carried_pkg::*;
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
  input  state_t  result_state_i,
  input  logic    ended_valid_i,
  input  ended_t  ended_i,
  input  state_t  ended_state_i,
  output logic    issue_valid_o,
  output issue_t  issue_o,
  output state_t  issue_state_o
);

  logic    rst_q, clear_q, unit_valid_q, result_valid_q, ended_valid_q, unit_ready, issue_valid;
  config_t config_q;
  unit_t   unit_q;
  result_t result_q;
  ended_t  ended_q;
  issue_t  issue;
  state_t  result_state_q, ended_state_q, issue_state;

  always_ff @(posedge clk_i) begin
    rst_q          <= rst_i;
    clear_q        <= clear_i;
    config_q       <= config_i;
    unit_valid_q   <= unit_valid_i;
    unit_q         <= unit_i;
    result_valid_q <= result_valid_i;
    result_q       <= result_i;
    result_state_q <= result_state_i;
    ended_valid_q  <= ended_valid_i;
    ended_q        <= ended_i;
    ended_state_q  <= ended_state_i;
    unit_ready_o   <= unit_ready;
    issue_valid_o  <= issue_valid;
    issue_o        <= issue;
    issue_state_o  <= issue_state;
  end

  carried_scheduler i_scheduler (
    .clk_i, .rst_i (rst_q), .clear_i (clear_q), .kill_i (1'b0), .config_i (config_q),
    .unit_valid_i (unit_valid_q), .unit_ready_o (unit_ready), .unit_i (unit_q),
    .result_valid_i (result_valid_q), .result_i (result_q), .result_state_i (result_state_q),
    .ended_valid_i (ended_valid_q), .ended_i (ended_q), .ended_state_i (ended_state_q),
    .issue_valid_o (issue_valid), .issue_o (issue), .issue_state_o (issue_state),
    .listed_slot_i ('0), .listed_ordinal_o (), .oldest_o (),
    .busy_o (), .pending_o (), .freed_o (), .stolen_o ()
  );

endmodule

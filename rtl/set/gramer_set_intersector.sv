// Which entries of a held line are in a streamed line: 16 × 16 equality of ids, a pair of lines a cycle.
// Lanes that don't belong to the lists don't count. The match comes two cycles after the lines.
module gramer_set_intersector
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  input  logic   valid_i,
  input  step_t  step_i,
  input  line_t  held_i,
  input  line_t  streamed_i,
  output logic   valid_o,
  output step_t  step_o,
  output lanes_t match_o // of the held line
);

  logic   valid_q;
  step_t  step_q;
  lanes_t equal_q [LANES]; // of each held entry, by lane of the streamed line

  always_ff @(posedge clk_i) begin
    valid_q <= !rst_i && valid_i;
    valid_o <= !rst_i && valid_q;
    if (valid_i) step_q <= step_i;
    if (valid_i && step_i.compare)
      for (int h = 0; h < LANES; h++)
        for (int s = 0; s < LANES; s++)
          equal_q[h][s] <= held_i[h*ENTRY_W +: ID_W] == streamed_i[s*ENTRY_W +: ID_W];
    if (valid_q) begin
      step_o <= step_q;
      for (int h = 0; h < LANES; h++)
        match_o[h] <= step_q.compare && step_q.held[h] && (equal_q[h] & step_q.streamed) != '0;
    end
  end

endmodule

// Sums of a PU. Several sums may grow per cycle, each by one value, which is added one cycle after its arrival. A sum
// saturates at its maximum: a flag records the overflow, and the read value is then the maximum.
module gramer_set_sums
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  /// Bits of a value, fewer than of a sum.
  parameter int unsigned VALUE_W = 32,
  /// Mask of the sums in use; the others are 0.
  parameter logic [SUMS-1:0] USED = '1,
  localparam int unsigned ADD_W = VALUE_W < COUNT_W ? VALUE_W : COUNT_W,
  localparam int unsigned AT_W  = $clog2(SUMS)
) (
  input  logic               clk_i,
  input  logic               rst_i,
  input  logic               clear_i, // before a run
  input  logic [SUMS-1:0]    valid_i,
  input  logic [VALUE_W-1:0] value_i [SUMS],
  input  logic [AT_W-1:0]    at_i,
  output logic [COUNT_W-1:0] sum_o, // at the last cycle's at_i
  output logic               saturated_o
);

  logic [COUNT_W-1:0] sum_q [SUMS];
  logic [SUMS-1:0]    valid_q, large_q, over, over_q;
  logic [ADD_W-1:0]   value_q [SUMS];
  logic [COUNT_W:0]   next [SUMS];

  always_comb
    for (int s = 0; s < SUMS; s++) begin
      next[s] = valid_q[s] ? {1'b0, sum_q[s]} + (COUNT_W+1)'(value_q[s]) : 'x;
      over[s] = valid_q[s] && (next[s][COUNT_W] || large_q[s]);
    end

  always_ff @(posedge clk_i) begin
    valid_q <= rst_i || clear_i ? '0 : valid_i & USED;
    for (int s = 0; s < SUMS; s++) begin
      value_q[s] <= ADD_W'(value_i[s]);
      large_q[s] <= VALUE_W > ADD_W && value_i[s] >> ADD_W != '0;
      if (rst_i || clear_i || !USED[s]) sum_q[s] <= '0;
      else if (valid_q[s]) sum_q[s] <= next[s][COUNT_W-1:0];
    end
    if (rst_i || clear_i) over_q <= '0;
    else over_q <= over_q | over;
    if (rst_i || clear_i) saturated_o <= 1'b0;
    else if (over != '0) saturated_o <= 1'b1;
    sum_o <= over_q[at_i] ? '1 : sum_q[at_i];
  end

endmodule

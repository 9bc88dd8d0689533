// The victim of equation (2): the way with the largest Rank + λ·Rec, a way without a line first.
// Rec counts the accesses to this memory since the line's last reference. λ comes in eighths, so
// both terms are taken eight times. With `lru_i` recency alone decides.
//
// λ·Rec is λ·now − λ·stamp, and λ·now is the same for every way. So the ways are compared by
// 8·Rank − weight, where a way's weight is λ·stamp (the stamp itself with `lru_i`), which is kept
// in the place of its stamp: no multiplier. All pairs are compared at once; of equal ones the
// lower way is taken. The victim is known a cycle later.
module gramer_replacement
  import gramer_types_pkg::*;
(
  input  logic       clk_i,
  input  logic       lru_i,
  input  logic [3:0] valid_i,
  input  id_t        rank_i   [4],
  input  weight_t    weight_i [4],
  output logic [1:0] victim_o // of the last cycle's ways
);

  localparam int unsigned SCORE_W = $bits(weight_t) + 2;

  logic signed [SCORE_W-1:0] score [4];
  logic [3:0][3:0] above_q; // [a][b]: a is the victim rather than b, for a < b
  logic [3:0] best;

  always_comb begin
    for (int w = 0; w < 4; w++)
      score[w] = (lru_i ? '0 : SCORE_W'({rank_i[w], 3'b0})) - SCORE_W'(weight_i[w]);
    for (int w = 0; w < 4; w++) begin
      best[w] = 1'b1;
      for (int b = w + 1; b < 4; b++) best[w] &= above_q[w][b];
      for (int a = 0; a < w; a++)     best[w] &= !above_q[a][w];
    end
    victim_o = {best[3] || best[2], best[3] || best[1]};
  end

  always_ff @(posedge clk_i)
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++)
        above_q[a][b] <= a < b && (!valid_i[a] || (valid_i[b] && score[a] >= score[b]));

endmodule

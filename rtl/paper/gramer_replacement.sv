// The victim of equation (2): the way with the largest Rank + λ·Rec, a way without a line first.
// Rec is the number of accesses to the whole vertex or edge memory since the line's last reference.
// The controller sees those of its own partition, so they are taken PARTITIONS times: lines are
// spread over the partitions one by one, and with them the accesses. λ comes in eighths, so both
// terms are taken eight times. With `lru_i` recency alone decides.
//
// λ·Rec is λ·now − λ·stamp, and λ·now is the same for every way. So the ways are compared by
// 8·Rank − PARTITIONS·weight, where a way's weight is λ·stamp (the stamp alone with `lru_i`), which
// is kept in the place of its stamp: no multiplier. All pairs are compared at once; of equal ones
// the lower way is taken. The victim is known a cycle later.
//
// Weights are exact until they are aged: once the accesses so far come to three quarters of the
// range, the controller takes half of the range from them and from every weight, down to 0 at the
// least. Differences stay, but for lines that were not referenced in the last quarter of the range
// (2^(WEIGHT_W-2) / λ accesses of the partition, λ in eighths): those are equally old afterwards.
module gramer_replacement
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic       clk_i,
  input  logic       lru_i,
  input  logic [3:0] valid_i,
  input  id_t        rank_i   [4],
  input  weight_t    weight_i [4],
  output logic [1:0] victim_o // of the last cycle's ways
);

  // Neither term overflows: a rank eight times, a weight PARTITIONS times, and a sign.
  localparam int unsigned SHIFT   = $clog2(PARTITIONS);
  localparam int unsigned SCORE_W = (WEIGHT_W + SHIFT > ID_W + 3 ? WEIGHT_W + SHIFT : ID_W + 3) + 1;

  logic signed [SCORE_W-1:0] score [4];
  logic [3:0][3:0] above_q; // [a][b]: a is the victim rather than b, for a < b
  logic [3:0] best;

  always_comb begin
    for (int w = 0; w < 4; w++)
      score[w] = (lru_i ? '0 : SCORE_W'({rank_i[w], 3'b0})) - (SCORE_W'(weight_i[w]) << SHIFT);
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

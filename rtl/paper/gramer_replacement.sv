// Victim selection by equation (2): the way with the largest Rank + λ·Rec; an invalid way first. Latency: one cycle.
// Rec is the number of accesses to the whole vertex or edge memory since the line's last reference. A controller
// sees only the accesses of its partition and scales them by PARTITIONS: lines, and thus accesses, are interleaved
// over the partitions. λ is in eighths, so both terms are scaled by eight. `lru_i` selects by recency alone.
//
// λ·Rec is λ·now − λ·stamp, and λ·now is the same for every way. So ways are compared by
// 8·Rank − PARTITIONS·weight, where the weight λ·stamp (or the stamp, with `lru_i`) is stored instead of the
// stamp: no multiplier is needed. All pairs are compared in parallel; the lower way wins a tie.
//
// Weights are exact until they are aged. When the current weight reaches three quarters of the range, the controller
// subtracts half of the range from it and from every stored weight, clamped at 0. This preserves differences,
// except between lines not referenced in the last quarter of the range (2^(WEIGHT_W-2) / λ accesses of the
// partition, λ in eighths), which become equally old.
module gramer_replacement
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic       clk_i,
  input  logic       lru_i,
  input  logic [3:0] valid_i,
  input  id_t        rank_i   [4],
  input  weight_t    weight_i [4],
  output logic [1:0] victim_o // for the last cycle's ways
);

  // Wide enough for 8 · rank, PARTITIONS · weight and a sign.
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

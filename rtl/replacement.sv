// The victim of equation (2): the way with the largest Rank + λ·Rec, a way without a line first.
// Rec counts the accesses to this memory since the line's last reference. λ comes in eighths, so
// both terms are taken eight times. With `lru_i` recency alone decides.
module replacement
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic        lru_i,
  input  logic [6:0]  lambda_i,
  input  logic [31:0] now_i, // accesses so far, saturating
  input  logic [3:0]  valid_i,
  input  id_t         rank_i  [4],
  input  logic [31:0] stamp_i [4], // now_i at the last reference
  output logic [1:0]  victim_o
);

  localparam int unsigned SCORE_W = 40;

  logic [SCORE_W-1:0] score [4];
  logic [31:0]        age   [4]; // Rec
  logic               high_pair;
  logic [1:0]         low_best, high_best;

  always_comb begin
    for (int w = 0; w < 4; w++) begin
      age[w]   = now_i - stamp_i[w];
      score[w] = lru_i ? SCORE_W'(age[w])
                       : (SCORE_W'(rank_i[w]) << 3) + SCORE_W'(lambda_i) * SCORE_W'(age[w]);
      if (!valid_i[w]) score[w] = '1;
    end
    low_best  = score[1] > score[0] ? 2'd1 : 2'd0;
    high_best = score[3] > score[2] ? 2'd3 : 2'd2;
    high_pair = score[high_best] > score[low_best];
    victim_o  = high_pair ? high_best : low_best;
  end

endmodule

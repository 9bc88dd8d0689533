// An entry of a bank of the map, read, changed and written in any cycles, consecutive ones too: each
// access sees what all accesses of its root before it left, and nothing of other roots. One entry is followed,
// from clearing on.
module set_map_bank_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic    clk_i,
  input logic    valid_i,
  input map_at_t at_i,
  input logic    mark_i,
  input logic    count_i,
  input logic    keep_i,    // what is counted is read alone
  input logic    next_i,    // a new root begins
  input level_t  step_i,    // its level is so much higher
  input map_at_t followed_i // the entry, always the same
);
  logic       started_q = 1'b0;
  logic [2:0] clear_q;
  map_at_t    followed_q;
  logic       root_q, marked_q, full_q, after_root_q;
  level_t     level_q, counted_q, most_q;
  level_t     levels_q [6];    // by stage
  logic       hit;
  level_t     value;
  logic [5:1] ours_q, hit_q, first_q; // by stage: an access to the entry, and what it has to see
  logic       first;
  map_at_t    at;
  level_t     value_q [6];
  logic [1:0] since_q;         // cycles since a root began, at most 3

  wire clears = clear_q < 3'(MAP_WORDS);
  wire ours   = valid_i && at_i == followed_i;

  gramer_set_map_bank dut (
    .clk_i, .rst_i (!started_q),
    .clear_i (started_q && clears), .clear_at_i (clear_q[$clog2(MAP_WORDS)-1:0]),
    .valid_i, .at_i, .mark_i, .count_i, .keep_i, .tag_i (1'b0), .root_i (root_q),
    .level2_i (levels_q[2]), .level4_i (levels_q[4]), .tag3_i ('0), .tag4_i ('0),
    .hit_o (hit), .near_o (), .value_o (value), .first_o (first), .at_o (at)
  );

  always_ff @(posedge clk_i) begin
    started_q  <= 1'b1;
    followed_q <= followed_i;
    ours_q     <= {ours_q[4:1], ours};
    hit_q      <= {hit_q[4:1], marked_q};
    first_q    <= {first_q[4:1], count_i && !keep_i && counted_q == '0};
    value_q[1] <= count_i ? level_q + counted_q : '0;
    for (int s = 2; s < 6; s++) value_q[s] <= value_q[s-1];
    levels_q[1] <= level_q;
    for (int s = 2; s < 6; s++) levels_q[s] <= levels_q[s-1];
    if (!started_q) begin
      clear_q      <= '0;
      root_q       <= 1'b0;
      level_q      <= level_t'(1);
      most_q       <= '0;
      marked_q     <= 1'b0;
      counted_q    <= '0;
      full_q       <= 1'b0;
      after_root_q <= 1'b0;
      ours_q       <= '0;
      since_q      <= '0;
    end else begin
      since_q <= next_i ? 2'd1 : since_q == 2'd3 ? since_q : since_q + 1'b1;
      if (clears) clear_q <= clear_q + 1'b1;
      if (next_i) begin
        root_q    <= !root_q;
        level_q   <= level_q + step_i;
        most_q    <= '0;
        marked_q  <= 1'b0;
        counted_q <= '0;
        if (counted_q != '0) after_root_q <= 1'b1;
      end else if (valid_i) begin
        // No counter of a root gets further than all of its accesses.
        most_q <= most_q + level_t'(count_i);
        if (ours && mark_i) marked_q <= 1'b1;
        if (ours && count_i && !keep_i) counted_q <= counted_q + 1'b1;
      end
      if (counted_q == level_t'(3)) full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What callers owe: nothing while the bank is cleared; a root begins in a cycle without an access,
      // three cycles after the one before it or later, and above what that one may have reached.
      assume (followed_i == followed_q);
      assume (!(clears && (valid_i || next_i)));
      assume (!(valid_i && next_i));
      assume (!(next_i && since_q < 2'd3));
      assume (!(next_i && step_i <= most_q));
      assume (!(next_i && {1'b0, level_q} + {1'b0, step_i} >= (LEVEL_W+1)'(1) << LEVEL_W));
      assume (!(valid_i && count_i && level_t'(level_q + most_q) == '1));
      // What the bank owes.
      if (ours_q[5]) begin
        assert (hit == hit_q[5]);
        assert (value == value_q[5]);
        assert (first == first_q[5]);
        assert (at == followed_i);
      end
      cover (full_q && ours_q == '1);
      cover (after_root_q && ours_q[5] && ours_q[4] && value > levels_q[5] && hit);
    end
  end
endmodule

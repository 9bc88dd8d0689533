// An entry of a bank of the map, read, changed and written in any cycles, consecutive ones too: each
// access sees what all accesses of its root before it left, and nothing of other roots. A root's accesses count, or
// they give the entry their tag and look whether it has it. One entry is followed, from clearing on.
module set_map_bank_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic    clk_i,
  input logic    valid_i,
  input logic    on_i,      // it need not rest
  input map_at_t at_i,
  input logic    mark_i,
  input logic    count_i,
  input logic    keep_i,    // what is counted is read alone
  input logic    tag_i,     // the entry gets the tag
  input logic    fresh_i,   // the tag is one higher than before
  input logic    next_i,    // a new root begins
  input logic    tags_i,    // its accesses have tags, and count nothing
  input level_t  step_i,    // its level is so much higher
  input map_at_t followed_i // the entry, always the same
);
  logic       started_q = 1'b0;
  logic [3:0] clear_q;
  logic [2:0] quiet_q;         // cycles since the last access
  logic       rested_q;
  map_at_t    followed_q;
  logic       root_q, marked_q, full_q, after_root_q, tags_q, again_q;
  level_t     level_q, counted_q, most_q;
  level_t     tag_q, last_q;   // of the accesses now; that the entry got last, or the level
  level_t     levels_q [6];    // by stage
  level_t     tagged_q [6];
  logic       hit, near;
  level_t     value;
  logic [5:1] ours_q, hit_q, first_q, near_q, tagging_q; // by stage: an access to the entry, and its expected answers
  logic       first;
  map_at_t    at;
  level_t     value_q [6];
  logic [1:0] since_q;         // cycles since a root began, at most 3

  wire clears = clear_q < 4'(MAP_WORDS);
  wire cleared = clear_q == 4'(MAP_WORDS + 4); // and the last word is written
  wire ours   = valid_i && at_i == followed_i;
  wire level_t tag = tag_q + level_t'(fresh_i);

  wire on = on_i || !started_q || clears || valid_i || quiet_q < 3'd5;

  gramer_set_map_bank dut (
    .clk_i, .rst_i (!started_q), .on_i (on),
    .clear_i (started_q && clears),
    .valid_i, .at_i (clears ? map_at_t'(clear_q * MAP_ENTRIES) : at_i), .mark_i, .count_i, .keep_i, .tag_i, .root_i (root_q),
    .level2_i (levels_q[2]), .level3_i (levels_q[3]), .level4_i (levels_q[4]), .tag3_i (tagged_q[3]), .tag4_i (tagged_q[4]),
    .hit_o (hit), .near_o (near), .value_o (value), .first_o (first), .at_o (at)
  );

  always_ff @(posedge clk_i) begin
    started_q  <= 1'b1;
    followed_q <= followed_i;
    ours_q     <= {ours_q[4:1], ours};
    hit_q      <= {hit_q[4:1], marked_q};
    first_q    <= {first_q[4:1], count_i && !keep_i && counted_q == '0};
    // Looked at in roots with tags alone, from the first tag on.
    tagging_q  <= {tagging_q[4:1], tags_q && tag > level_q};
    near_q     <= {near_q[4:1], last_q == tag};
    value_q[1] <= count_i ? level_q + counted_q : '0;
    for (int s = 2; s < 6; s++) value_q[s] <= value_q[s-1];
    levels_q[1] <= level_q;
    tagged_q[1] <= tag;
    for (int s = 2; s < 6; s++) begin
      levels_q[s] <= levels_q[s-1];
      tagged_q[s] <= tagged_q[s-1];
    end
    if (!started_q) begin
      quiet_q      <= '0;
      rested_q     <= 1'b0;
      clear_q      <= '0;
      root_q       <= 1'b0;
      level_q      <= level_t'(1);
      most_q       <= '0;
      marked_q     <= 1'b0;
      counted_q    <= '0;
      tags_q       <= 1'b0;
      tag_q        <= level_t'(1);
      last_q       <= level_t'(1);
      again_q      <= 1'b0;
      full_q       <= 1'b0;
      after_root_q <= 1'b0;
      ours_q       <= '0;
      since_q      <= '0;
    end else begin
      since_q <= next_i ? 2'd1 : since_q == 2'd3 ? since_q : since_q + 1'b1;
      quiet_q  <= valid_i || clears ? '0 : quiet_q == '1 ? quiet_q : quiet_q + 1'b1;
      rested_q <= !next_i && (rested_q || !on);
      if (!cleared) clear_q <= clear_q + 1'b1;
      if (next_i) begin
        root_q    <= !root_q;
        level_q   <= level_q + step_i;
        most_q    <= '0;
        marked_q  <= 1'b0;
        counted_q <= '0;
        tags_q    <= tags_i;
        tag_q     <= level_q + step_i;
        last_q    <= level_q + step_i;
        if (counted_q != '0) after_root_q <= 1'b1;
      end else if (valid_i) begin
        // No counter of a root gets further than all of its accesses,
        // and no tag beyond that of the last one.
        most_q <= most_q + level_t'(count_i) + level_t'(fresh_i);
        tag_q  <= tag;
        if (ours && tag_i) last_q <= tag;
        if (ours && tag_i && last_q > level_q && last_q < tag) again_q <= 1'b1;
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
      assume (cleared || !(valid_i || next_i));
      assume (!(valid_i && next_i));
      assume (!(next_i && since_q < 2'd3));
      assume (!(next_i && step_i <= most_q));
      assume (!(next_i && {1'b0, level_q} + {1'b0, step_i} >= (LEVEL_W+1)'(1) << LEVEL_W));
      assume (!(valid_i && (count_i || fresh_i) && level_t'(level_q + most_q) == '1));
      assume (!(valid_i && count_i && tags_q));
      // No tag exists before the first fresh one.
      assume (!(valid_i && (tag_i || fresh_i) && !(tags_q && tag > level_q)));
      // What the bank owes.
      if (ours_q[5]) begin
        assert (hit == hit_q[5]);
        assert (value == value_q[5]);
        assert (first == first_q[5]);
        if (tagging_q[5]) assert (near == near_q[5]);
        assert (at == followed_i);
      end
      cover (full_q && ours_q == '1);
      cover (rested_q && ours_q[5] && hit && value > levels_q[5]);
      cover (again_q && ours_q[5] && ours_q[4] && near && hit);
      cover (after_root_q && ours_q[5] && ours_q[4] && value > levels_q[5] && hit);
    end
  end
endmodule

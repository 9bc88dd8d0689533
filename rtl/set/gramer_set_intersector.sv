// Intersects a streamed line with a held line: 16 × 16 comparisons of ids. Throughput: one pair of lines per
// cycle; latency: two cycles. Lanes that don't belong to the lists are masked.
//
// Only the bits in which ids differ are compared: three per 6-input LUT, combined by a carry chain. Padding is all
// ones, which is also a possible id in these bits; a held lane with padding is masked. (Streamed lanes are
// entries: gramer_set_stepper removes padding.)
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

  localparam int unsigned THREES = (PLACED_ID_W + 2) / 3;

  typedef logic [3*THREES-1:0] bits_t;
  typedef logic [THREES-1:0] threes_t;

  // Whether a lane matches in all bits, by a carry chain.
  function automatic logic all_of(input lanes_t [THREES-1:0] threes, input int unsigned lane);
    threes_t           of_lane;
    logic [THREES+1:0] carry;
    for (int t = 0; t < THREES; t++) of_lane[t] = threes[t][lane];
    carry = {1'b0, of_lane, 1'b1} + 1'b1;
    return carry[THREES+1];
  endfunction

  logic   valid_q;
  step_t  step_q;
  lanes_t held_q; // lanes that may match
  lanes_t equal [LANES], equal_q [LANES]; // of each held entry, by lane of the streamed line

  // Streamed lanes with each id bit set.
  lanes_t with_bit [3*THREES];
  logic   compares;

  assign compares = valid_i && step_i.compare;

  always_comb
    for (int i = 0; i < 3*THREES; i++) begin
      with_bit[i] = compares ? '0 : 'x;
      if (compares && i < PLACED_ID_W)
        for (int s = 0; s < LANES; s++) with_bit[i][s] = streamed_i[s*ENTRY_W + i];
    end

  for (genvar h = 0; h < LANES; h++) begin : gen_held
    bits_t id;
    // Streamed lanes equal in each group of three bits. `keep`, since synthesis would otherwise use tables of two bits
    // each: half as many again.
    (* keep = "true" *) lanes_t [THREES-1:0] same;

    always_comb begin
      {id, same, equal[h]} = 'x;
      if (compares) begin
        id = bits_t'(held_i[h*ENTRY_W +: PLACED_ID_W]);
        for (int t = 0; t < THREES; t++)
          same[t] = ~((with_bit[3*t] ^ {LANES{id[3*t]}}) | (with_bit[3*t + 1] ^ {LANES{id[3*t + 1]}})
                      | (with_bit[3*t + 2] ^ {LANES{id[3*t + 2]}}));
`ifdef VERILATOR
        // Equivalent, and many times faster in simulation.
        equal[h] = '1;
        for (int t = 0; t < THREES; t++) equal[h] &= same[t];
`else
        for (int unsigned s = 0; s < LANES; s++) equal[h][s] = all_of(same, s);
`endif
      end
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= !rst_i && valid_i;
    valid_o <= !rst_i && valid_q;
    if (valid_i) step_q <= step_i;
    if (compares) begin
      equal_q <= equal;
      for (int h = 0; h < LANES; h++)
        held_q[h] <= step_i.held[h] && !is_padding(held_i[h*ENTRY_W +: KEPT_ID_W]);
    end
    if (valid_q) begin
      step_o <= step_q;
      for (int h = 0; h < LANES; h++)
        match_o[h] <= step_q.compare && held_q[h] && (equal_q[h] & step_q.streamed) != '0;
    end
  end

`ifndef SYNTHESIS
  // Compared ids lie in the partitions, or are padding of the held line.
  function automatic logic placed(input id_t id);
    return id >> PLACED_ID_W == '0;
  endfunction

  always_ff @(posedge clk_i) if (!rst_i && valid_i && step_i.compare)
    for (int l = 0; l < LANES; l++) begin
      assert (!step_i.streamed[l] || placed(streamed_i[l*ENTRY_W +: KEPT_ID_W]))
        else $error("a streamed id off chip");
      assert (!step_i.held[l] || placed(held_i[l*ENTRY_W +: KEPT_ID_W])
              || held_i[l*ENTRY_W +: KEPT_ID_W] == '1)
        else $error("a held id off chip");
    end
`endif

endmodule

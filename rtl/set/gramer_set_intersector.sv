// Which entries of a held line are in a streamed line: 16 × 16 equality of ids, a pair of lines a cycle.
// Lanes that don't belong to the lists don't count. The match comes two cycles after the lines.
//
// Only the bits in which ids differ are compared, three of them in a table of six inputs, and those by a carry chain. Padding is all ones, which could be the last of these ids: a held lane with it has no match.
// (Streamed lanes are entries: gramer_set_stepper leaves padding out.)
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

  logic   valid_q;
  step_t  step_q;
  lanes_t held_q; // lanes that may match
  lanes_t equal [LANES], equal_q [LANES]; // of each held entry, by lane of the streamed line

  for (genvar h = 0; h < LANES; h++) begin : gen_held
    for (genvar s = 0; s < LANES; s++) begin : gen_streamed
      bits_t unequal;
      // Kept as they are, so that no tool makes tables of two bits each: that takes half as many again.
      (* keep = "true" *) logic [THREES-1:0] same;
      logic [THREES+1:0] carry; // through all that are the same

      assign unequal = bits_t'(held_i[h*ENTRY_W +: PLACED_ID_W])
                       ^ bits_t'(streamed_i[s*ENTRY_W +: PLACED_ID_W]);
      for (genvar t = 0; t < THREES; t++) assign same[t] = unequal[3*t +: 3] == '0;
      assign carry       = {1'b0, same, 1'b1} + 1'b1;
      assign equal[h][s] = carry[THREES+1];
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= !rst_i && valid_i;
    valid_o <= !rst_i && valid_q;
    if (valid_i) step_q <= step_i;
    if (valid_i && step_i.compare) begin
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
  // Ids of the lanes that are compared are in the partitions, or padding in the held line.
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

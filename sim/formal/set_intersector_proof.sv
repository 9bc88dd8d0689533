// The held lanes that have an entry of the streamed line, two cycles after the lines; as ids are compared: by bits of all
// streamed lanes, three together, and a carry through those.
module set_intersector_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic  clk_i,
  input logic  valid_i,
  input step_t step_i,
  input line_t held_i,
  input line_t streamed_i
);
  logic       started_q = 1'b0;
  logic [2:1] valid_q;
  lanes_t     match_q [3], wanted, match;
  step_t      step_q [3], step;
  logic       valid, expected;

  function automatic id_t id_of(input line_t line, input int unsigned lane);
    return id_t'(line >> (lane * ENTRY_W));
  endfunction

  always_comb begin
    wanted = '0;
    for (int unsigned h = 0; h < LANES; h++)
      for (int unsigned s = 0; s < LANES; s++)
        if (step_i.compare && step_i.held[h] && step_i.streamed[s]
            && id_of(held_i, h) == id_of(streamed_i, s)) wanted[h] = 1'b1;
  end

  gramer_set_intersector dut (
    .clk_i, .rst_i (!started_q), .valid_i, .step_i, .held_i, .streamed_i,
    .valid_o (valid), .step_o (step), .match_o (match)
  );

  assign expected = started_q && valid_i;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    valid_q   <= {valid_q[1] && started_q, expected};
    match_q[1] <= wanted;
    match_q[2] <= match_q[1];
    step_q[1]  <= step_i;
    step_q[2]  <= step_q[1];
    if (!started_q) valid_q <= '0;
  end

  always_comb begin
    if (started_q) begin
      // Streamed lanes are entries, and ids in lanes that are compared are on chip, or padding of the held line.
      for (int unsigned l = 0; l < LANES; l++) begin
        assume (!step_i.streamed[l] || id_of(streamed_i, l) >> PLACED_ID_W == '0);
        assume (!step_i.held[l] || id_of(held_i, l) >> PLACED_ID_W == '0 || id_of(held_i, l) == '1);
      end
      assert (valid == valid_q[2]);
      if (valid_q[2]) begin
        assert (match == match_q[2]);
        assert (step == step_q[2]);
      end
      cover (valid_q[2] && match == '1 && valid_q[1]);
    end
  end
endmodule

// Round-robin arbiter: grants one request, starting after the last granted one.
// A pending request is granted within REQUESTS accepted grants.
module gramer_rr_arbiter #(
  /// Number of requests.
  parameter int unsigned REQUESTS = 4,
  localparam int unsigned INDEX_W = REQUESTS > 1 ? $clog2(REQUESTS) : 1
) (
  input  logic                clk_i,
  input  logic                rst_i,
  input  logic [REQUESTS-1:0] request_i,
  input  logic                take_i,  // the grant is accepted
  output logic                valid_o, // any request
  output logic [REQUESTS-1:0] grant_o, // one-hot, or 0
  output logic [INDEX_W-1:0]  index_o
);

  // Requests above the last granted one have priority; bit r is set for indices above the last grant.
  logic [REQUESTS-1:0] after_q, after, ahead;
  assign ahead = request_i & after_q;

  // x - 1 flips all bits up to the lowest set one, and carries if any is set. Both candidates (with and
  // without wrap-around) are computed in parallel and selected late, which shortens the path.
  logic [REQUESTS-1:0] ahead_less, less;
  logic                ahead_some;
  assign {ahead_some, ahead_less} = {1'b0, ahead} + {1'b0, {REQUESTS{1'b1}}};
  assign {valid_o, less}          = {1'b0, request_i} + {1'b0, {REQUESTS{1'b1}}};

  always_comb begin
    for (int unsigned r = 0; r < REQUESTS; r++) begin
      grant_o[r] = ahead_some ? ahead[r] && !ahead_less[r] : request_i[r] && !less[r];
      after[r]   = ahead_some ? ahead[r] == ahead_less[r] : request_i[r] == less[r];
    end
    index_o = '0;
    for (int unsigned r = 0; r < REQUESTS; r++) if (grant_o[r]) index_o |= INDEX_W'(r);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) after_q <= '0;
    else if (take_i && valid_o) after_q <= after;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert ($onehot0(grant_o)) else $error("more than one grant");
    assert ((grant_o & ~request_i) == '0) else $error("grant without request");
  end
`endif

endmodule

// At most one grant, only where a request is; a request that stays is granted within REQUESTS takes.
module rr_arbiter_proof (
  input logic       clk_i,
  input logic [3:0] request_i,
  input logic       take_i,
  input logic [1:0] watched_i // an arbitrary requester, always the same
);
  localparam int unsigned REQUESTS = 4;

  logic       started_q = 1'b0;
  logic [1:0] watched_q, index;
  logic       valid;
  logic [3:0] grant;
  logic [2:0] waits_q; // takes that went to others while the watched one asked

  gramer_rr_arbiter #(.REQUESTS(REQUESTS)) dut (
    .clk_i, .rst_i (!started_q), .request_i, .take_i,
    .valid_o (valid), .grant_o (grant), .index_o (index)
  );

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    watched_q <= watched_i;
    if (!started_q || !request_i[watched_i]) waits_q <= '0;
    else if (take_i && valid) waits_q <= grant[watched_i] ? '0 : waits_q + 1'b1;
  end

  // Requesters that may still go before the watched one.
  wire [3:0] below    = (4'd1 << watched_i) - 4'd1;
  wire [3:0] before_w = dut.after_q & below;
  wire [2:0] all_n    = 3'(dut.after_q[0]) + 3'(dut.after_q[1]) + 3'(dut.after_q[2]) + 3'(dut.after_q[3]);
  wire [2:0] before_n = 3'(before_w[0]) + 3'(before_w[1]) + 3'(before_w[2]) + 3'(before_w[3]);
  wire [3:0] turns    = dut.after_q[watched_i] ? 4'(before_n) : 4'(all_n) + 4'(watched_i);

  always_comb begin
    if (started_q) begin
      assume (watched_i == watched_q);
      assert ((grant & (grant - 4'd1)) == '0);
      assert ((grant & ~request_i) == '0);
      assert (valid == (request_i != '0));
      assert (valid == (grant != '0));
      if (valid) assert (grant == 4'd1 << index);
      assert (waits_q < 3'(REQUESTS));
`ifdef INVARIANTS
      // Invariants: the bits above the last grant are set, and each take brings the turn nearer.
      assert (((~dut.after_q) & (~dut.after_q + 4'd1)) == '0 && !dut.after_q[0]);
      assert (4'(waits_q) + turns < 4'(REQUESTS));
`endif
      cover (waits_q == 3'(REQUESTS - 1) && take_i && grant[watched_i]);
    end
  end
endmodule

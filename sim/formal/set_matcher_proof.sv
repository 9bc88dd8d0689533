// Two partitions are matched with two PUs. No partition serves two PUs, none serves a PU without a request, and no PU is
// served by two; a partition is idle only while the PU that it offers its turn to is served by another; and a
// request that stays is served within a round of all pairs. One pair is watched.
module set_matcher_proof
  import gramer_set_pkg::*;
(
  input logic                      clk_i,
  input logic [PUS*PARTITIONS-1:0] waiting_i,
  input logic                      pu_i,       // of the pair that is watched, always the same
  input logic                      partition_i
);
  localparam int unsigned ROUND  = PUS * PARTITIONS;
  localparam int unsigned WAIT_W = $clog2(ROUND + 1);

  logic           started_q = 1'b0;
  logic           pu_q, partition_q;
  logic [PUS-1:0] waiting [PARTITIONS], grant [PARTITIONS], held_q [PARTITIONS];
  logic [WAIT_W-1:0] waits_q;

  always_comb for (int q = 0; q < PARTITIONS; q++) waiting[q] = waiting_i[q*PUS +: PUS];

  gramer_set_matcher dut (.clk_i, .rst_i (!started_q), .waiting_i (waiting), .grant_o (grant));

  always_ff @(posedge clk_i) begin
    started_q   <= 1'b1;
    pu_q        <= pu_i;
    partition_q <= partition_i;
    for (int q = 0; q < PARTITIONS; q++) held_q[q] <= started_q ? waiting[q] & ~grant[q] : '0;
    if (!started_q || !waiting[partition_i][pu_i] || grant[partition_i][pu_i]) waits_q <= '0;
    else waits_q <= waits_q + 1'b1;
  end

  always_comb begin
    if (started_q) begin
      // What queues owe: a request stays until it is served.
      assume (pu_i == pu_q && partition_i == partition_q);
      for (int q = 0; q < PARTITIONS; q++) assume ((held_q[q] & ~waiting[q]) == '0);
      // What the match owes.
      for (int q = 0; q < PARTITIONS; q++) begin
        assert ((grant[q] & (grant[q] - 1'b1)) == '0);
        assert ((grant[q] & ~waiting[q]) == '0);
        assert ((dut.offer[q] == '0) == (waiting[q] == '0));
        if (grant[q] == '0) assert ((dut.offer[q] & ~(grant[0] | grant[1])) == '0);
      end
      assert ((grant[0] & grant[1]) == '0);
      assert (waits_q < WAIT_W'(ROUND));
      cover (grant[0] != '0 && grant[1] != '0 && waits_q != '0);
      cover (waiting[0] == '1 && waiting[1] == '1 && grant[1] == '0);
    end
  end
endmodule

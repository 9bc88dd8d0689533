// Two PUs ask a partition for lines. Each line answers one request: of its own PU, in the order of that
// PU's requests, with what is stored; no PU is served without a request, and none is passed over
// for longer than a round. One request of one PU is followed.
module set_partition_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic           clk_i,
  input logic [PUS-1:0] request_i,
  input logic [PUS-1:0] at_i,     // a line each
  input logic           write_i,
  input logic           write_at_i,
  input line_t          write_line_i,
  input logic           from_i,   // the PU that is watched, always the same
  input logic           mark_i    // follow its request that comes in now
);
  localparam int unsigned COUNT_AT_W = $clog2(ANSWERS) + 1;

  logic           started_q = 1'b0;
  logic           from_q;
  logic [0:0]     at [PUS];
  logic [PUS-1:0] answer;
  line_t          line;

  always_comb for (int p = 0; p < PUS; p++) at[p] = at_i[p];

  gramer_set_partition dut (
    .clk_i, .rst_i (!started_q), .write_i, .write_at_i, .write_line_i,
    .request_i, .at_i (at), .answer_o (answer), .line_o (line), .conflict_o ()
  );

  logic [COUNT_AT_W-1:0] counts_q [PUS]; // requests that have no answer
  logic [COUNT_AT_W-1:0] ahead_q;
  logic       marked_q, at_q, was_full_q;
  logic [3:0] waits_q; // cycles since the request that is followed came
  logic [1:0] passed_q [PUS]; // turns in a row in which a PU waited and another one was served

  wire mark = request_i[from_i] && mark_i && !marked_q;
  wire here = answer[from_i] && marked_q && ahead_q == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    from_q    <= from_i;
    if (!started_q) begin
      for (int p = 0; p < PUS; p++) begin
        counts_q[p] <= '0;
        passed_q[p] <= '0;
      end
      ahead_q    <= '0;
      marked_q   <= 1'b0;
      at_q       <= 1'b0;
      waits_q    <= '0;
      was_full_q <= 1'b0;
    end else begin
      for (int p = 0; p < PUS; p++) begin
        counts_q[p] <= counts_q[p] + COUNT_AT_W'(request_i[p]) - COUNT_AT_W'(answer[p]);
        if (!dut.waiting[p] || dut.grant[p]) passed_q[p] <= '0;
        else if (dut.grant != '0) passed_q[p] <= passed_q[p] + 1'b1;
      end
      if (mark) begin
        marked_q <= 1'b1;
        at_q     <= at_i[from_i];
        ahead_q  <= counts_q[from_i] - COUNT_AT_W'(answer[from_i]);
        waits_q  <= '0;
      end else begin
        if (here) marked_q <= 1'b0;
        if (marked_q && answer[from_i]) ahead_q <= ahead_q - 1'b1;
        waits_q <= waits_q + 1'b1;
      end
      if (counts_q[0] == COUNT_AT_W'(ANSWERS) && counts_q[1] == COUNT_AT_W'(ANSWERS)) was_full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What callers owe: no more under way than they have room for.
      assume (from_i == from_q);
      for (int p = 0; p < PUS; p++)
        assume (!(request_i[p] && counts_q[p] == COUNT_AT_W'(ANSWERS)));
      // And a line is there before it is asked for.
      assume (!(write_i && (request_i != '0 || counts_q[0] != '0 || counts_q[1] != '0)));
      // What the partition owes.
      assert (answer != '1);                                           // one grant of its port
      for (int p = 0; p < PUS; p++)
        if (answer[p]) assert (counts_q[p] != '0);                     // none without a request
      if (here) assert (line == dut.mem[at_q]);                        // in order
      assert ((dut.grant & ~dut.waiting) == '0);
      assert ((dut.waiting == '0) == (dut.grant == '0));               // never idle while one waits
      for (int p = 0; p < PUS; p++) assert (passed_q[p] < 2'(PUS));    // none starves
      // Four cycles for the memory, after at most all that others may ask before: an empty queue takes none.
      if (marked_q) assert (waits_q < 4'(4 + 2 * ANSWERS));
      cover (was_full_q && counts_q[0] == '0 && counts_q[1] == '0);
      cover (here && ahead_q == '0 && waits_q > 4'd5);
    end
  end
endmodule

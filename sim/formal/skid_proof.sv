// Messages pass in order and unchanged, one at most waits, and a message that is offered to the taker stays until it is
// taken. One arbitrary message is followed.
module skid_proof (
  input logic       clk_i,
  input logic       rst_i,
  input logic       valid_i,
  input logic       ready_i,
  input logic       mark_i, // follow the message that is taken in now
  input logic [2:0] data_i
);
  logic       started_q = 1'b0;
  logic       ready, valid;
  logic [2:0] data;
  logic       count_q;                // messages that were taken in and not handed on
  logic       marked_q, was_waiting_q;
  logic [2:0] kept_q, last_q;
  logic       offered_q, given_q;     // in the last cycle: on offer to this, and from this

  wire rst = !started_q || rst_i;

  gramer_skid #(.WIDTH(3)) dut (
    .clk_i, .rst_i (rst), .valid_i, .ready_o (ready), .data_i, .valid_o (valid), .ready_i, .data_o (data)
  );

  wire in   = valid_i && ready;
  wire out  = valid && ready_i;
  wire mark = in && mark_i && !marked_q;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    last_q    <= data;
    given_q   <= !rst && valid && !ready_i;
    if (rst) begin
      count_q       <= 1'b0;
      marked_q      <= 1'b0;
      was_waiting_q <= 1'b0;
    end else begin
      count_q <= 1'(count_q + in - out);
      if (mark && !(out && !count_q)) begin
        marked_q <= 1'b1;
        kept_q   <= data_i;
      end else if (out) marked_q <= 1'b0;
      if (count_q) was_waiting_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // Never more than there was, never less.
      assert (valid == (count_q || in));
      assert (!(in && count_q));
      if (mark && !count_q) assert (data == data_i);
      if (marked_q) assert (valid && data == kept_q);
      if (given_q) assert (valid && data == last_q);
`ifdef INVARIANTS
      assert (dut.full_q == count_q);
      assert (!(dut.full_q && dut.ready_q));
      if (marked_q) assert (count_q && dut.data_q == kept_q);
      if (given_q) assert (dut.full_q && dut.data_q == last_q);
`endif
      cover (was_waiting_q && !count_q && in && out);
      cover (rst_i && count_q);
    end
  end
endmodule

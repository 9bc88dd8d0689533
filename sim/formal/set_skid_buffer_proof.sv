// Messages pass once, in order and unchanged; two at most wait. Liveness: a message is on offer in the next cycle if none
// is ahead, and else in the cycle after the one ahead is taken. One arbitrary message is followed.
module set_skid_buffer_proof (
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
  logic [1:0] count_q;               // messages that were taken in and not handed on
  logic       marked_q, was_full_q, ahead_q; // ahead: one is before the marked one
  logic [2:0] kept_q, last_q;
  logic       given_q;               // on offer in the last cycle, and not taken

  wire rst = !started_q || rst_i;

  gramer_set_skid_buffer #(.WIDTH(3)) dut (
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
      count_q    <= '0;
      marked_q   <= 1'b0;
      ahead_q    <= 1'b0;
      was_full_q <= 1'b0;
    end else begin
      count_q <= count_q + 2'(in) - 2'(out);
      if (mark) begin
        marked_q <= 1'b1;
        kept_q   <= data_i;
        ahead_q  <= count_q - 2'(out) != '0;
      end else if (marked_q && out) begin
        if (!ahead_q) marked_q <= 1'b0;
        ahead_q <= 1'b0;
      end
      if (count_q == 2'd2) was_full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      assert (valid == (count_q != '0));
      assert (ready == (count_q != 2'd2));
      if (marked_q && !ahead_q) assert (valid && data == kept_q);
      if (given_q) assert (valid && data == last_q);
`ifdef INVARIANTS
      assert (count_q <= 2'd2);
      assert (dut.valid_q == (count_q != '0) && dut.spare_valid_q == (count_q == 2'd2));
      if (marked_q) assert (count_q > 2'(ahead_q));
      if (marked_q && ahead_q) assert (dut.spare_q == kept_q);
      if (given_q) assert (dut.valid_q && dut.data_q == last_q);
`endif
      cover (was_full_q && count_q == '0 && in);
      cover (count_q == 2'd2 && out && marked_q && ahead_q);
      cover (rst_i && count_q == 2'd2);
    end
  end
endmodule

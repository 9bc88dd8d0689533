// One arbitrary element is followed from push to pop: it comes out unchanged, in its place.
module fifo_proof (
  input logic       clk_i,
  input logic       push_i,
  input logic       pop_i,
  input logic       mark_i, // follow the element that is pushed now
  input logic [2:0] data_i
);
  localparam int unsigned DEPTH = 4;

  logic       started_q = 1'b0;
  logic [2:0] count_q, ahead_q;
  logic       marked_q;
  logic [2:0] kept_q;
  logic       full, valid, was_full_q;
  logic [2:0] data;

  gramer_fifo #(.WIDTH(3), .DEPTH(DEPTH)) dut (
    .clk_i, .rst_i (!started_q), .push_i, .data_i, .full_o (full),
    .pop_i, .valid_o (valid), .data_o (data)
  );

  wire mark = push_i && mark_i && !marked_q;
  wire out  = marked_q && pop_i && ahead_q == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      count_q    <= '0;
      ahead_q    <= '0;
      marked_q   <= 1'b0;
      kept_q     <= '0;
      was_full_q <= 1'b0;
    end else begin
      count_q <= count_q + 3'(push_i) - 3'(pop_i);
      if (mark) begin
        marked_q <= 1'b1;
        kept_q   <= data_i;
        ahead_q  <= count_q - 3'(pop_i);
      end else if (out) marked_q <= 1'b0;
      else if (marked_q && pop_i) ahead_q <= ahead_q - 1'b1;
      if (full) was_full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What callers owe.
      assume (!(pop_i && count_q == '0));
      assume (!(push_i && count_q == 3'(DEPTH) && !pop_i));
      // What the queue owes.
      assert (valid == (count_q != '0));
      assert (full == (count_q == 3'(DEPTH)));
      if (out) assert (data == kept_q);
`ifdef INVARIANTS
      // Invariants that make the induction go through.
      assert (count_q <= 3'(DEPTH));
      assert (3'(dut.write_q - dut.read_q) == count_q);
      if (marked_q) begin
        assert (ahead_q < count_q);
        assert (dut.mem[2'(dut.read_q[1:0] + ahead_q[1:0])] == kept_q);
      end
`endif
      cover (full && push_i && pop_i);
      cover (was_full_q && count_q == '0);
      cover (out && dut.read_q == 3'd7); // the last element before the pointer wraps round
    end
  end
endmodule

// A queue whose reader says a cycle later what it took: one arbitrary element is followed from push to pop; it comes out
// unchanged, in its place. Liveness: it is on offer in the cycle after the last one ahead was taken, or after its push;
// and its entry is free two cycles after it was taken.
module set_late_fifo_proof (
  input logic       clk_i,
  input logic       push_i,
  input logic       pop_i,  // the reader takes the head; the queue hears of it in the next cycle
  input logic       mark_i, // follow the element that is pushed now
  input logic [2:0] data_i
);
  localparam int unsigned DEPTH = 4;

  logic       started_q = 1'b0;
  logic       popped_q;
  logic [2:0] count_q, ahead_q;
  logic       marked_q;
  logic [2:0] kept_q;
  logic       full, valid, held, was_full_q;
  logic [2:0] data;
  logic [1:0] tail, head, read, head_q;

  gramer_set_late_fifo #(.WIDTH(3), .DEPTH(DEPTH)) dut (
    .clk_i, .rst_i (!started_q), .push_i, .data_i, .full_o (full), .tail_o (tail),
    .popped_i (popped_q), .valid_o (valid), .data_o (data), .held_o (held), .head_o (head), .read_o (read)
  );

  wire mark = push_i && mark_i && !marked_q;
  wire out  = marked_q && pop_i && ahead_q == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    head_q    <= head;
    if (!started_q) begin
      popped_q   <= 1'b0;
      count_q    <= '0;
      ahead_q    <= '0;
      marked_q   <= 1'b0;
      kept_q     <= '0;
      was_full_q <= 1'b0;
    end else begin
      popped_q <= pop_i;
      count_q  <= count_q + 3'(push_i) - 3'(pop_i);
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
      assume (!(push_i && count_q + 3'(popped_q) == 3'(DEPTH)));
      // What the queue owes.
      assert (valid == (count_q != '0));
      assert (held == (count_q != '0 || popped_q));
      assert (full == (count_q + 3'(popped_q) == 3'(DEPTH)));
      if (out) assert (data == kept_q);
      if (popped_q) assert (read == head_q);
      assert (tail == 2'(head + 2'(count_q)));
`ifdef INVARIANTS
      assert (count_q + 3'(popped_q) <= 3'(DEPTH));
      assert (3'(dut.write_q - dut.read_q) == count_q + 3'(popped_q));
      assert (dut.next_q == 3'(dut.read_q + 1'b1) && dut.after_q == 3'(dut.write_q + 1'b1));
      if (popped_q) assert (head_q == dut.read_q[1:0]);
      if (marked_q) begin
        assert (ahead_q < count_q);
        assert (dut.mem[2'(head + ahead_q[1:0])] == kept_q);
      end
`endif
      cover (was_full_q && count_q == '0);
      cover (full && pop_i && popped_q);
      cover (out && dut.read_q == 3'd7); // the last element before the pointer wraps round
    end
  end
endmodule

// First-in first-out queue with first-word fall-through: the head is visible without a request.
//
//   push_i ──► [ tail … head ] ──► data_o, valid_o; pop_i removes the head
//
// Small depths map to LUTRAM: synchronous write, asynchronous read.
module gramer_fifo #(
  /// Bits of an element.
  parameter int unsigned WIDTH = 8,
  /// Elements, a power of two, at least 2.
  parameter int unsigned DEPTH = 4
) (
  input  logic             clk_i,
  input  logic             rst_i,
  // In: a push into a full queue is lost and an error; callers check full_o or count credits.
  input  logic             push_i,
  input  logic [WIDTH-1:0] data_i,
  output logic             full_o,
  // Out
  input  logic             pop_i,
  output logic             valid_o,
  output logic [WIDTH-1:0] data_o
);

  localparam int unsigned PTR_W = $clog2(DEPTH);

  (* ram_style = "distributed" *) logic [WIDTH-1:0] mem [DEPTH];
  logic [PTR_W:0]   write_q, read_q; // one bit more than an index distinguishes full from empty

  assign valid_o = write_q != read_q;
  assign full_o  = write_q[PTR_W] != read_q[PTR_W] && write_q[PTR_W-1:0] == read_q[PTR_W-1:0];
  assign data_o  = mem[read_q[PTR_W-1:0]];

  always_ff @(posedge clk_i) begin
    if (push_i) mem[write_q[PTR_W-1:0]] <= data_i;
    if (rst_i) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (push_i) write_q <= write_q + 1'b1;
      if (pop_i)  read_q <= read_q + 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(push_i && full_o && !pop_i)) else $error("push into a full queue");
    assert (!(pop_i && !valid_o)) else $error("pop from an empty queue");
  end
`endif

endmodule

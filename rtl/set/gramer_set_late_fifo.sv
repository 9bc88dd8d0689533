// First-in first-out queue like gramer_fifo, with the pop registered by the reader.
//
//   push_i ──► [ tail … head ] ──► data_o, valid_o; popped_i: the head was removed in the previous cycle
//
// popped_i comes from a register of the reader, and data_o and valid_o already reflect it: a long path to the pop
// ends one cycle earlier, at the cost of one level of logic before the memory's read. A removed entry is free one
// cycle later (full_o, held_o).
module gramer_set_late_fifo #(
  /// Bits of an element.
  parameter int unsigned WIDTH = 8,
  /// Elements, a power of two, at least 2.
  parameter int unsigned DEPTH = 4,
  localparam int unsigned PTR_W = $clog2(DEPTH)
) (
  input  logic             clk_i,
  input  logic             rst_i,
  // In: a push into a full queue is lost and an error.
  input  logic             push_i,
  input  logic [WIDTH-1:0] data_i,
  output logic             full_o,
  output logic [PTR_W-1:0] tail_o, // address of the pushed element
  // Out
  input  logic             popped_i,
  output logic             valid_o,
  output logic [WIDTH-1:0] data_o,
  output logic             held_o, // valid_o, including the element removed in the last cycle
  output logic [PTR_W-1:0] head_o, // address of data_o
  output logic [PTR_W-1:0] read_o  // the same; with popped_i, address of the removed element
);

  (* ram_style = "distributed" *) logic [WIDTH-1:0] mem [DEPTH];
  // One bit more than an index distinguishes full from empty. `next_q` is `read_q` + 1, `after_q` is `write_q` + 1.
  logic [PTR_W:0]   write_q, read_q, next_q, after_q, head;
  // Values of full_o with and without a push in the last cycle.
  logic             pushed_q, full_pushed_q, full_else_q;

  assign head    = popped_i ? next_q : read_q;
  assign valid_o = write_q != head;
  assign held_o  = write_q != read_q;
  assign full_o  = pushed_q ? full_pushed_q : full_else_q;
  assign data_o  = mem[head[PTR_W-1:0]];
  assign tail_o  = write_q[PTR_W-1:0];
  assign head_o  = head[PTR_W-1:0];
  assign read_o  = read_q[PTR_W-1:0];

  /// Whether a queue with these pointers is full.
  function automatic logic full(input logic [PTR_W:0] to, input logic [PTR_W:0] from);
    return to[PTR_W] != from[PTR_W] && to[PTR_W-1:0] == from[PTR_W-1:0];
  endfunction

  // Both values are registered, and a register of push_i selects between them: the paths from full_o and to push_i
  // are long.
  always_ff @(posedge clk_i) begin
    pushed_q      <= push_i;
    full_pushed_q <= !rst_i && full(after_q, head);
    full_else_q   <= !rst_i && full(write_q, head);
  end

  always_ff @(posedge clk_i) begin
    if (push_i) mem[write_q[PTR_W-1:0]] <= data_i;
    if (rst_i) begin
      write_q <= '0;
      read_q  <= '0;
      next_q  <= (PTR_W+1)'(1);
      after_q <= (PTR_W+1)'(1);
    end else begin
      if (push_i) begin
        write_q <= after_q;
        after_q <= after_q + 1'b1;
      end
      read_q <= head;
      next_q <= head + 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (full_o == full(write_q, read_q)) else $error("full_o is not what the pointers say");
    assert (!(push_i && full_o)) else $error("push into a full queue");
    assert (!(popped_i && !held_o)) else $error("pop from an empty queue");
  end
`endif

endmodule

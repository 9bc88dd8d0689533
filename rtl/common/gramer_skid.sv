// Skid buffer of one entry on a valid/ready channel: `ready_o` is a register and depends on no input of the same
// cycle, as AXI4 requires (IHI0022, A3.1.1). Latency 0; an entry is stored only while the receiver is not ready.
//
//   valid_i, data_i ─┬─► [entry, while not ready] ─┬─► valid_o, data_o
//                    └─────────────────────────────┘
module gramer_skid #(
  /// Bits of the data.
  parameter int unsigned WIDTH = 8
) (
  input  logic clk_i,
  input  logic rst_i,
  // In
  input  logic valid_i,
  output logic ready_o,
  input  logic [WIDTH-1:0] data_i,
  // Out
  output logic valid_o,
  input  logic ready_i,
  output logic [WIDTH-1:0] data_o
);

  logic ready_q, full_q, waits; // full: the entry is in use; ready: it is free, and no reset
  logic [WIDTH-1:0] data_q;

  assign ready_o = ready_q;
  assign valid_o = full_q || (valid_i && ready_q);
  assign data_o  = full_q ? data_q : data_i;
  assign waits   = valid_o && !ready_i;

  always_ff @(posedge clk_i) begin
    full_q  <= !rst_i && waits;
    ready_q <= !rst_i && !waits;
    if (ready_q) data_q <= data_i;
  end

`ifndef SYNTHESIS
  logic waits_q;
  logic [WIDTH-1:0] waiting_q;
  always_ff @(posedge clk_i) begin
    waits_q   <= !rst_i && valid_o && !ready_i;
    waiting_q <= data_o;
    if (!rst_i && waits_q)
      assert (valid_o && data_o == waiting_q) else $error("what waits changes or is lost");
  end
`endif

endmodule

// Two-entry buffer on a valid/ready channel: ready does not depend on the receiver in the same cycle, and data stay
// registered until taken. Latency: one cycle.
//
//   valid_i, data_i ─► [second entry, while the first is not taken] ─► [first] ─► valid_o, data_o
module gramer_set_skid_buffer #(
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
  output logic [WIDTH-1:0] data_o // the second entry is empty if this one is
);

  logic valid_q, spare_valid_q, take;
  logic [WIDTH-1:0] data_q, spare_q;

  assign ready_o = !spare_valid_q;
  assign valid_o = valid_q;
  assign data_o  = data_q;
  assign take    = !valid_q || ready_i;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid_q       <= 1'b0;
      spare_valid_q <= 1'b0;
    end else if (take) begin
      valid_q       <= spare_valid_q || valid_i;
      spare_valid_q <= 1'b0;
    end else if (valid_i) spare_valid_q <= 1'b1;
    if (take) data_q <= spare_valid_q ? spare_q : data_i;
    if (ready_o) spare_q <= data_i;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(spare_valid_q && !valid_q)) else $error("something waits behind nothing");
  end
`endif

endmodule

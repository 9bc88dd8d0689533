// High-priority memory: lines pinned for the whole run, written before it. Block RAM; read latency of one cycle.
module gramer_scratchpad
  import gramer_types_pkg::*;
#(
  /// Lines, a power of two.
  parameter int unsigned LINES = 4,
  localparam int unsigned AT_W = LINES > 1 ? $clog2(LINES) : 1
) (
  input  logic            clk_i,
  input  logic            write_i,
  input  logic [AT_W-1:0] write_at_i,
  input  line_t           data_i,
  input  logic            read_i,
  input  logic [AT_W-1:0] read_at_i,
  output line_t           data_o // of the last cycle's read
);

  line_t data_q;

  assign data_o = data_q;

  (* ram_style = "block" *) line_t mem [LINES];

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_at_i] <= data_i;
    if (read_i) data_q <= mem[read_at_i];
  end

endmodule

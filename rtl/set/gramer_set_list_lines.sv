// Enumerates the lines of a list: the address of each, and which of its quarter-lines belong to the list. Sizes are
// in the encoding of the images for plans and wedges.
module gramer_set_list_lines
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   begin_i, // start of a list; its first line follows in the next cycle
  input  id_t    id_i,
  input  logic [SIZE_W-1:0] size_i, // not 0
  input  logic   next_i,  // the line was taken
  output line_at_t line_o,
  output logic [$clog2(LINE_QUARTERS)-1:0] low_o,  // its first quarter-line
  output logic [$clog2(LINE_QUARTERS)-1:0] high_o, // its last quarter-line
  output logic   first_o,
  output logic   last_o
);

  localparam int unsigned QUARTER_W = $clog2(LINE_QUARTERS);

  logic [QUARTER_W-1:0] low_q, high_q;
  line_at_t line_q, left_q, left;
  logic     first_q, last_q;

  assign left = more_lines(size_i, id_i[QUARTER_W-1:0]);

  always_ff @(posedge clk_i)
    if (begin_i) begin
      line_q  <= line_of(id_i);
      left_q  <= left;
      last_q  <= left == '0;
      first_q <= 1'b1;
      low_q   <= id_i[QUARTER_W-1:0];
      high_q  <= quarter_at_end(size_i, id_i[QUARTER_W-1:0]);
    end else if (next_i) begin
      line_q  <= line_q + 1'b1;
      left_q  <= left_q - 1'b1;
      last_q  <= left_q == line_at_t'(1);
      first_q <= 1'b0;
    end

  assign line_o  = line_q;
  assign low_o   = first_q ? low_q : '0;
  assign high_o  = last_q ? high_q : '1;
  assign first_o = first_q;
  assign last_o  = last_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    assert (!(next_i && last_q != (left_q == '0))) else $error("a list whose end is missed");
`endif

endmodule

// Ancestor buffers of a PU, one per slot (figure 10). An entry holds only the position of the extending vertex
// and its cursor; the embedding itself is stored once per slot, in the embedding table, since every ancestor is
// a prefix of it. LUTRAM with asynchronous read.
module gramer_ancestor_buffer
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  slot_t   slot_i,
  input  pos_t    level_i, // vertices of the ancestor embedding - 1
  input  logic    write_i,
  input  cursor_t cursor_i,
  output cursor_t cursor_o // before the write
);

  (* ram_style = "distributed" *) cursor_t mem [SLOTS * DEPTH];

  wire [$clog2(SLOTS*DEPTH)-1:0] at =
      ($clog2(SLOTS*DEPTH))'(slot_i) * ($clog2(SLOTS*DEPTH))'(DEPTH)
      + ($clog2(SLOTS*DEPTH))'(level_i);

  assign cursor_o = mem[at];

  always_ff @(posedge clk_i) if (write_i) mem[at] <= cursor_i;

endmodule

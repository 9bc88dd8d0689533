// Stealing buffer (section V-C): slots that have recently received an embedding, as candidates for stealing. A
// candidate that finds it full is dropped; entries are only hints where work may be.
module gramer_stealing_buffer
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_i,
  input  logic  clear_i,
  input  logic  push_i,
  input  slot_t slot_i,
  output logic  valid_o,
  output slot_t slot_o,
  input  logic  pop_i
);

  logic full;

  gramer_fifo #(.WIDTH(SLOT_W), .DEPTH(STEALING_BUFFER)) i_candidates (
    .clk_i,
    .rst_i   (rst_i || clear_i),
    .push_i  (push_i && !full),
    .data_i  (slot_i),
    .full_o  (full),
    .pop_i,
    .valid_o,
    .data_o  (slot_o)
  );

endmodule

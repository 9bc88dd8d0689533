// Hands the work units to the PUs round robin: to the next PU in turn that has a free slot.
module gramer_arbitrator
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_i,
  input  logic  unit_valid_i,
  output logic  unit_ready_o,
  output logic  handed_o, // a unit went to a PU
  output logic [PUS-1:0] pu_valid_o,
  input  logic [PUS-1:0] pu_ready_i
);

  logic [PUS-1:0] grant;

  gramer_rr_arbiter #(.REQUESTS(PUS)) i_turn (
    .clk_i, .rst_i,
    .request_i (pu_ready_i), .take_i (unit_valid_i),
    .valid_o (unit_ready_o), .grant_o (grant), .index_o ()
  );

  assign pu_valid_o = unit_valid_i ? grant : '0;
  assign handed_o   = unit_valid_i && unit_ready_o;

endmodule

// Distributes work units round robin over the PUs with a free slot (figure 6). A PU's state arrives SLR_REGISTERS
// cycles late, and a unit takes as long to reach the PU; until the PU has answered, it gets no further unit.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
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

  logic [PUS-1:0] grant, ready;

  if (SLR_REGISTERS == 0) begin : gen_near
    assign ready = pu_ready_i;
  end else begin : gen_far
    logic [2*SLR_REGISTERS-1:0][PUS-1:0] handed_q; // receivers of the last cycles' units

    always_ff @(posedge clk_i) begin
      handed_q[0] <= pu_valid_o;
      for (int c = 1; c < 2 * SLR_REGISTERS; c++) handed_q[c] <= handed_q[c-1];
      if (rst_i) handed_q <= '0;
    end

    always_comb begin
      ready = pu_ready_i;
      for (int c = 0; c < 2 * SLR_REGISTERS; c++) ready &= ~handed_q[c];
    end
  end

  gramer_rr_arbiter #(.REQUESTS(PUS)) i_turn (
    .clk_i, .rst_i,
    .request_i (ready), .take_i (unit_valid_i),
    .valid_o (unit_ready_o), .grant_o (grant), .index_o ()
  );

  assign pu_valid_o = unit_valid_i ? grant : '0;
  assign handed_o   = unit_valid_i && unit_ready_o;

endmodule

// Pipeline registers on a one-way path between regions of the die (SLRs): latency STAGES cycles, 0 is a wire. They
// have no reset: their driver is in reset for longer than STAGES cycles.
module gramer_slr_registers #(
  /// Bits.
  parameter int unsigned WIDTH = 1,
  /// Registers on the path.
  parameter int unsigned STAGES = 0
) (
  input  logic             clk_i,
  input  logic [WIDTH-1:0] data_i,
  output logic [WIDTH-1:0] data_o
);

  if (STAGES == 0) begin : gen_wire
    logic unused;
    assign unused = clk_i;
    assign data_o = data_i;
  end else begin : gen_stages
    // A shift register in LUTs (SRL) would keep all stages in one place, on one side of the border.
    (* shreg_extract = "no" *) logic [STAGES-1:0][WIDTH-1:0] stage_q;
    always_ff @(posedge clk_i) begin
      stage_q[0] <= data_i;
      for (int s = 1; s < STAGES; s++) stage_q[s] <= stage_q[s-1];
    end
    assign data_o = stage_q[STAGES-1];
  end

endmodule

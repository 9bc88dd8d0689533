// 16:1 multiplexer as two levels of 4:1 (one 6-input LUT per bit, protected by `keep`). From a plain array index
// synthesis builds one half larger.
module gramer_set_choice #(
  /// Bits of a value.
  parameter int unsigned WIDTH = 8
) (
  input  logic             on_i, // otherwise the value is a don't-care
  input  logic [WIDTH-1:0] value_i [16],
  input  logic [3:0]       at_i,
  output logic [WIDTH-1:0] value_o
);

  (* keep = "true" *) logic [WIDTH-1:0] four0, four1, four2, four3;

  // 4:1 multiplexer.
  function automatic logic [WIDTH-1:0] of4(
    input logic [1:0] at, input logic [WIDTH-1:0] a, input logic [WIDTH-1:0] b,
    input logic [WIDTH-1:0] c, input logic [WIDTH-1:0] d
  );
    return at[1] ? (at[0] ? d : c) : (at[0] ? b : a);
  endfunction

  always_comb begin
    {four0, four1, four2, four3, value_o} = 'x;
    if (on_i) begin
      four0   = of4(at_i[1:0], value_i[0], value_i[1], value_i[2], value_i[3]);
      four1   = of4(at_i[1:0], value_i[4], value_i[5], value_i[6], value_i[7]);
      four2   = of4(at_i[1:0], value_i[8], value_i[9], value_i[10], value_i[11]);
      four3   = of4(at_i[1:0], value_i[12], value_i[13], value_i[14], value_i[15]);
      value_o = of4(at_i[3:2], four0, four1, four2, four3);
    end
  end

endmodule

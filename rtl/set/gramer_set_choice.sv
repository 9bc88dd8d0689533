// One of sixteen values. By fours, each kept as it is: a table of six inputs for a bit. Of a plain index into an array a
// tool makes half as many again.
module gramer_set_choice #(
  /// Bits of a value.
  parameter int unsigned WIDTH = 8
) (
  input  logic [15:0][WIDTH-1:0] value_i,
  input  logic [3:0]             at_i,
  output logic [WIDTH-1:0]       value_o
);

  (* keep = "true" *) logic [3:0][WIDTH-1:0] four;

  always_comb
    for (int f = 0; f < 4; f++)
      four[f] = at_i[1] ? (at_i[0] ? value_i[4*f + 3] : value_i[4*f + 2])
                        : (at_i[0] ? value_i[4*f + 1] : value_i[4*f]);

  assign value_o = at_i[3] ? (at_i[2] ? four[3] : four[2]) : (at_i[2] ? four[1] : four[0]);

endmodule

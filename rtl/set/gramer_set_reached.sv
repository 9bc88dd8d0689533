// Vertices at the ends of a root's wedges, in the order in which they were reached, per bank of the map: their places
// there and the sizes of the lists before them. A row has one vertex of each bank that has enough of them.
// Block RAM with an output register: read latency of two cycles.
module gramer_set_reached
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    clear_i, // for the next root
  // Reached vertices, at most one per bank
  input  logic [MAP_BANKS-1:0] note_i,
  input  map_at_t at_i [MAP_BANKS],
  input  up_t     up_i [MAP_BANKS],
  // Rows
  output logic [NOTED_W:0] rows_o, // number of rows, two cycles after the last note
  input  logic    read_i,
  input  logic [NOTED_W-1:0] row_i,
  output logic [MAP_BANKS-1:0] there_o, // banks with a vertex in the row
  output map_at_t at_o [MAP_BANKS],
  output up_t     up_o [MAP_BANKS],
  output logic    busy_o, // a write is in flight
  output logic    full_o  // a bank is full; sticky
);

  localparam int unsigned EACH = MAP_AT_W + WEDGE_UP_W;

  logic [MAP_BANKS-1:0] note_q, full, longest, there, there_q;
  logic [NOTED_W:0]     rows_q;
  logic                 read_q;

  assign rows_o = rows_q;
  assign busy_o = note_q != '0;

  for (genvar b = 0; b < MAP_BANKS; b++) begin : gen_bank
    (* ram_style = "block" *) logic [EACH-1:0] mem [1 << NOTED_W];

    logic [NOTED_W:0] count_q;
    logic [EACH-1:0]  noted_q, out1_q, out2_q;

    assign full[b]    = count_q[NOTED_W];
    assign longest[b] = note_q[b] && !full[b] && count_q == rows_q;
    assign there[b]   = {1'b0, row_i} < count_q;
    assign {at_o[b], up_o[b]} = out2_q;

    always_ff @(posedge clk_i) begin
      noted_q <= {at_i[b], up_i[b]};
      if (note_q[b] && !full[b]) mem[count_q[NOTED_W-1:0]] <= noted_q;
      if (read_i) out1_q <= mem[row_i];
      if (read_q) out2_q <= out1_q;
      if (rst_i || clear_i) count_q <= '0;
      else if (note_q[b] && !full[b]) count_q <= count_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    note_q <= rst_i ? '0 : note_i;
    read_q <= read_i;
    if (read_i) there_q <= there;
    if (read_q) there_o <= there_q;
    // The longest list grows by at most one.
    if (rst_i || clear_i) rows_q <= '0;
    else if (longest != '0) rows_q <= rows_q + 1'b1;
    if (rst_i) full_o <= 1'b0;
    else if ((note_q & full) != '0) full_o <= 1'b1;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(clear_i && (note_q != '0 || note_i != '0)))
      else $error("cleared while something is noted");
    assert (!(read_i && {1'b0, row_i} >= rows_q)) else $error("a row that is not there");
  end
`endif

endmodule

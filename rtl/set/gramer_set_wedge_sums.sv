// Products of the map's counters in the second pass over a root's wedges.
//
// Houses: for each member b of the root's list, the number t(b) of its marked entries times the wedges to its entries
// except the root, less one each, accumulated over its lines. 5-cycles: wedges to c times those to the entries of a
// line of c's list; the wedges to c arrive first, with a row of vertices, one per bank of the map. Two rows are held.
//
//   line ─► sums of a member, wedges to c ─► two parts of the product ─► their sum
module gramer_set_wedge_sums
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  parameter int unsigned VALUE_W  = 48,
  localparam int unsigned COUNTS_W = LEVEL_W + 5
) (
  input  logic    clk_i,
  input  logic    rst_i,
  // Wedges to the vertices of a row, above the root's level
  input  logic    row_valid_i,
  input  level_t  row_value_i [MAP_BANKS],
  // A line, or the lanes of one access
  input  logic    valid_i,
  input  wedge_t  wedge_i,
  input  level_t  level_i,
  input  logic [4:0] hits_i,   // marked entries
  input  logic [4:0] paths_i,  // entries with counters read
  input  logic [COUNTS_W-1:0] counts_i, // wedges to those
  input  logic    last_i,      // last lanes of the list
  // Increment of the sum
  output logic    valid_o,
  output logic [VALUE_W-1:0] value_o,
  output logic    row_done_o  // a row is finished
);

  localparam int unsigned T_W    = 17;
  localparam int unsigned SUM_W  = 32;
  localparam int unsigned PART   = 16;

  // ---------------------------------------------------------------- rows

  level_t rows_q [2][MAP_BANKS];
  logic   parity_q; // buffer of the next row

  always_ff @(posedge clk_i) begin
    if (rst_i) parity_q <= 1'b0;
    else if (row_valid_i) parity_q <= !parity_q;
    if (row_valid_i) rows_q[parity_q] <= row_value_i;
  end

  // ---------------------------------------------------------------- sums of a member

  logic             begins_q; // the next line is the first of a list
  logic             a_valid_q;
  logic [T_W-1:0]   t_q, a_one;
  logic [SUM_W-1:0] sum_q, a_other;
  level_t           a_row_q, a_level_q;
  logic             a_five_cycles_q;

  always_ff @(posedge clk_i) begin
    a_valid_q     <= !rst_i && valid_i && (wedge_i.five_cycles || last_i);
    a_five_cycles_q <= wedge_i.five_cycles;
    a_level_q     <= level_i;
    a_row_q       <= rows_q[wedge_i.parity][wedge_i.bank];
    row_done_o    <= !rst_i && valid_i && wedge_i.five_cycles && wedge_i.row_last && last_i;
    if (rst_i) begins_q <= 1'b1;
    else if (valid_i) begins_q <= last_i || wedge_i.five_cycles;
    if (valid_i) begin
      t_q   <= (begins_q ? '0 : t_q) + T_W'(hits_i);
      // For houses, one wedge to each entry passes through the member itself.
      sum_q <= (begins_q ? '0 : sum_q) + SUM_W'(counts_i)
               - (wedge_i.five_cycles ? '0 : SUM_W'(paths_i));
    end
  end

  assign a_one   = a_five_cycles_q ? T_W'(a_row_q - a_level_q) : t_q;
  assign a_other = sum_q;

  // ---------------------------------------------------------------- product

  logic             b_valid_q, c_valid_q;
  logic [T_W-1:0]   b_one_q;
  logic [SUM_W-1:0] b_other_q;
  logic [T_W+PART-1:0]       c_low_q;
  logic [T_W+SUM_W-PART-1:0] c_high_q;

  always_ff @(posedge clk_i) begin
    b_valid_q <= !rst_i && a_valid_q;
    b_one_q   <= a_one;
    b_other_q <= a_other;
    c_valid_q <= !rst_i && b_valid_q;
    c_low_q   <= (T_W+PART)'(b_one_q) * b_other_q[PART-1:0];
    c_high_q  <= (T_W+SUM_W-PART)'(b_one_q) * b_other_q[SUM_W-1:PART];
    valid_o   <= !rst_i && c_valid_q;
    value_o   <= VALUE_W'(c_low_q) + (VALUE_W'(c_high_q) << PART);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(valid_i && !wedge_i.five_cycles && counts_i < COUNTS_W'(paths_i)))
      else $error("an entry without a wedge over the member");
    assert (!(c_valid_q && (T_W+SUM_W)'(c_low_q) + ((T_W+SUM_W)'(c_high_q) << PART)
                           >= (T_W+SUM_W)'(1) << VALUE_W))
      else $error("a product beyond its range");
  end
`endif

endmodule

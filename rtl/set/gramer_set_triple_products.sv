// Sums of products for 5-motifs. Given a connected set {a, b, c}, vertices outside are classified by their neighbours
// in it: a alone, b alone, a and b, and so on. A product is of two class sizes, or n (n - 1); the package defines all
// (PRODUCTS_0 and so on, by the code of each factor). A set takes four cycles with one product per multiplier each;
// a triangle has products in two of them.
//
//   queue ─► class sizes, in three stages ─► factors ─► products ─► sums, in one memory per multiplier
module gramer_set_triple_products
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,   // drops everything in flight
  input  logic    clear_i, // before a run
  input  logic    valid_i, // the sender has checked for room
  input  triple_t triple_i,
  output logic    done_o,
  input  logic [SUM_AT_W-1:0] at_i,
  output logic [COUNT_W-1:0]  sum_o, // at the last cycle's at_i, one of the products
  output logic    saturated_o,
  output logic    busy_o
);

  localparam int unsigned PHASES  = PRODUCTS_OPEN / MULTIPLIERS; // cycles per set
  localparam int unsigned PHASE_W = $clog2(PHASES);
  localparam int unsigned ROWS    = PRODUCTS / MULTIPLIERS;
  localparam int unsigned ROW_W   = PHASE_W + 1;
  localparam int unsigned WIDE_W  = NEAR_W + 2; // of a factor
  localparam int unsigned VALUE_W = 2 * WIDE_W;
  localparam int unsigned ADD_W   = VALUE_W < COUNT_W ? VALUE_W : COUNT_W;

  typedef logic [WIDE_W-1:0] wide_t;
  typedef logic [ROW_W-1:0]  row_t;

  // Factor codes of a row, per multiplier: the first factors, then the second ones.
  function automatic logic [2*MULTIPLIERS*FACTOR_W-1:0] codes_of(input row_t row);
    unique case (row)
      ROW_W'(0): return PRODUCTS_0;
      ROW_W'(1): return PRODUCTS_1;
      ROW_W'(2): return PRODUCTS_2;
      ROW_W'(3): return PRODUCTS_3;
      ROW_W'(4): return PRODUCTS_4;
      ROW_W'(5): return PRODUCTS_5;
      default:   return '0;
    endcase
  endfunction

  // ---------------------------------------------------------------- queue

  logic    waits, take;
  triple_t head;
  logic [PHASE_W-1:0] pause_q; // cycles until the next set may follow

  gramer_fifo #(.WIDTH($bits(triple_t)), .DEPTH(TRIPLES)) i_sets (
    .clk_i, .rst_i,
    .push_i (valid_i), .data_i (triple_i), .full_o (),
    .pop_i (take), .valid_o (waits), .data_o (head)
  );

  assign take   = waits && pause_q == '0;
  assign done_o = take;

  // ---------------------------------------------------------------- class sizes

  // Sizes of the classes, by stage, without the set's own vertices.
  logic  p1_valid_q, p1_triangle_q, p2_valid_q, p2_triangle_q, o_triangle_q;
  near_t p1_ab_q, p1_bc_q, p1_ac_q, p1_abc_q;
  near_t p2_a_q, p2_b_q, p2_c_q, p2_ab_q, p2_bc_q, p2_ac_q, p2_abc_q;
  logic [NEAR_W:0] p1_a_q, p1_b_q, p1_c_q; // all neighbours, plus the common ones of all three
  logic [NEAR_W:0] p1_of_a_q, p1_of_b_q, p1_of_c_q; // common neighbours with the others
  wide_t outside_q [1 << FACTOR_W];

  always_ff @(posedge clk_i) begin
    if (rst_i) pause_q <= '0;
    else pause_q <= take ? PHASE_W'(PHASES - 1) : pause_q - PHASE_W'(pause_q != '0);
    p1_valid_q    <= take && !rst_i;
    p1_triangle_q <= head.triangle;
    p1_ab_q  <= head.ab - head.abc - near_t'(head.triangle);
    p1_bc_q  <= head.bc - head.abc - near_t'(head.triangle);
    p1_ac_q  <= head.ac - head.abc - 1'b1;
    p1_abc_q <= head.abc;
    p1_a_q    <= (NEAR_W+1)'(head.a) + (NEAR_W+1)'(head.abc);
    p1_b_q    <= (NEAR_W+1)'(head.b) + (NEAR_W+1)'(head.abc)
                 - (NEAR_W+1)'({!head.triangle, 1'b0});
    p1_c_q    <= (NEAR_W+1)'(head.c) + (NEAR_W+1)'(head.abc);
    p1_of_a_q <= (NEAR_W+1)'(head.ab) + (NEAR_W+1)'(head.ac);
    p1_of_b_q <= (NEAR_W+1)'(head.ab) + (NEAR_W+1)'(head.bc);
    p1_of_c_q <= (NEAR_W+1)'(head.bc) + (NEAR_W+1)'(head.ac);

    p2_valid_q    <= p1_valid_q && !rst_i;
    p2_triangle_q <= p1_triangle_q;
    p2_a_q   <= near_t'(p1_a_q - p1_of_a_q);
    p2_b_q   <= near_t'(p1_b_q - p1_of_b_q);
    p2_c_q   <= near_t'(p1_c_q - p1_of_c_q);
    p2_ab_q  <= p1_ab_q;
    p2_bc_q  <= p1_bc_q;
    p2_ac_q  <= p1_ac_q;
    p2_abc_q <= p1_abc_q;

    if (p2_valid_q) begin
      o_triangle_q <= p2_triangle_q;
      for (int f = 0; f < 1 << FACTOR_W; f++) outside_q[f] <= '0;
      outside_q[FACTOR_A]     <= wide_t'(p2_a_q);
      outside_q[FACTOR_B]     <= wide_t'(p2_b_q);
      outside_q[FACTOR_C]     <= wide_t'(p2_c_q);
      outside_q[FACTOR_ENDS]  <= wide_t'(p2_a_q) + wide_t'(p2_c_q);
      outside_q[FACTOR_ONE]   <= wide_t'(p2_a_q) + wide_t'(p2_b_q) + wide_t'(p2_c_q);
      outside_q[FACTOR_SIDES] <= wide_t'(p2_ab_q) + wide_t'(p2_bc_q);
      outside_q[FACTOR_TWO]   <= wide_t'(p2_ab_q) + wide_t'(p2_bc_q) + wide_t'(p2_ac_q);
      outside_q[FACTOR_AB]    <= wide_t'(p2_ab_q);
      outside_q[FACTOR_BC]    <= wide_t'(p2_bc_q);
      outside_q[FACTOR_AC]    <= wide_t'(p2_ac_q);
      outside_q[FACTOR_ABC]   <= wide_t'(p2_abc_q);
    end
  end

  // ---------------------------------------------------------------- factors, products

  logic [PHASE_W-1:0] phase_q;
  logic   run_q, row_there;
  row_t   row, at1_q, at2_q, at3_q, at4_q;
  logic   v1_q, v2_q, v3_q, v4_q;
  logic [2*MULTIPLIERS*FACTOR_W-1:0] codes;

  assign row       = {o_triangle_q, phase_q};
  assign row_there = run_q && 32'(row) < ROWS;
  assign codes     = codes_of(row);
  assign busy_o    = waits || pause_q != '0 || p1_valid_q || p2_valid_q || run_q || v1_q || v2_q
                     || v3_q || v4_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) run_q <= 1'b0;
    else if (p2_valid_q) run_q <= 1'b1;
    else if (phase_q == '1) run_q <= 1'b0;
    phase_q <= p2_valid_q ? '0 : phase_q + 1'b1;
    {at4_q, at3_q, at2_q, at1_q} <= {at3_q, at2_q, at1_q, row};
    {v4_q, v3_q, v2_q, v1_q} <= rst_i ? '0 : {v3_q, v2_q, v1_q, row_there};
  end

  // ---------------------------------------------------------------- sums

  // Sums saturate at their maximum.
  typedef struct packed {
    logic               over;
    logic [COUNT_W-1:0] sum;
  } kept_t;

  logic [(1<<ROW_W)-1:0]  written_q; // written in this run
  logic [MULTIPLIERS-1:0] over;
  kept_t                  seen [MULTIPLIERS];
  row_t                   asked; // row of at_i
  logic [$clog2(MULTIPLIERS)-1:0] asked_q;

  assign asked = row_t'((at_i - SUM_AT_W'(SUMS)) >> $clog2(MULTIPLIERS));

  for (genvar m = 0; m < MULTIPLIERS; m++) begin : gen_multiplier
    (* ram_style = "distributed" *) kept_t mem [1 << ROW_W];

    wide_t first1_q, second1_q, first2_q, second2_q;
    logic  pairs1_q;
    logic [FACTOR_W-1:0]  code, other;
    logic [VALUE_W-1:0] product3_q, product4_q;
    kept_t old4_q, new4, seen_q;

    assign code  = codes[m*FACTOR_W +: FACTOR_W];
    assign other = codes[(MULTIPLIERS+m)*FACTOR_W +: FACTOR_W];
    assign over[m] = v4_q && new4.over;
    assign seen[m] = seen_q;

    always_comb begin
      {new4.over, new4.sum} = {1'b0, old4_q.sum} + (COUNT_W+1)'(ADD_W'(product4_q));
      if (old4_q.over || (VALUE_W > ADD_W && product4_q >> ADD_W != '0)) new4.over = 1'b1;
    end

    always_ff @(posedge clk_i) begin
      first1_q   <= outside_q[code];
      second1_q  <= outside_q[other];
      pairs1_q   <= code == other;
      first2_q   <= first1_q;
      second2_q  <= second1_q - wide_t'(pairs1_q);
      product3_q <= VALUE_W'(first2_q) * VALUE_W'(second2_q);
      product4_q <= product3_q;
      // Accesses to the same sum are four cycles apart.
      old4_q     <= written_q[at3_q] ? mem[at3_q] : '0;
      if (v4_q) mem[at4_q] <= new4;
      seen_q     <= written_q[asked] ? mem[asked] : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) written_q <= '0;
    else if (v4_q) written_q[at4_q] <= 1'b1;
    if (clear_i) saturated_o <= 1'b0;
    else if (over != '0) saturated_o <= 1'b1;
    asked_q <= at_i[$clog2(MULTIPLIERS)-1:0];
  end

  assign sum_o = seen[asked_q].over ? '1 : seen[asked_q].sum;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(valid_i && i_sets.full_o)) else $error("a set has no room");
    assert (!(p2_valid_q && run_q && phase_q != '1)) else $error("a set before the last is done");
    assert (!(p1_valid_q && (p1_a_q < p1_of_a_q || p1_b_q < p1_of_b_q || p1_c_q < p1_of_c_q)))
      else $error("more neighbours in common than there are");
    assert (!(v4_q && clear_i)) else $error("cleared while something is added");
  end
`endif

endmodule

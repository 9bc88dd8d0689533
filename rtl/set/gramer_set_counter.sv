// Counts the edges in sets: for each element of a set, how many elements of the set are in its row. As many
// rows are read in a cycle as have their words in different sub-banks: eight, four, two or one.
//
//   set ─► words with elements ─► elements of each class ─► next of each ─► its row ─► and ─► ones ─► sum
module gramer_set_counter
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Roots
  input  logic    root_valid_i,
  input  place_t  root_place_i,
  input  set_t    root_rows_i,
  input  root_t   root_i [PLACES],
  // Sets
  input  logic    set_valid_i,
  output logic    set_take_o,
  input  set_t    set_i,
  input  place_t  set_place_i,
  output logic    set_done_o, // its rows aren't needed any more
  output place_t  done_place_o,
  // Row memory
  output logic [ROW_BANKS-1:0] read_o,
  output row_at_t read_at_o [ROW_BANKS],
  input  word_t   word_i [ROW_BANKS],
  // Sum
  output logic    found_o,
  output logic [MEMBER_W:0] found_count_o,
  output logic [3:0] rows_o, // event: rows that are read
  output logic    busy_o
);

  localparam int unsigned WORDS     = MEMBERS / WORD_W;
  localparam int unsigned WORD_AT_W = $clog2(WORDS);
  localparam int unsigned BIT_W     = $clog2(WORD_W);

  (* ram_style = "distributed" *) set_t rows_mem [PLACES];

  // ---------------------------------------------------------------- a: elements that have a row

  logic   a_valid_q, a_take;
  set_t   a_set_q, a_left_q;
  place_t a_place_q;
  root_t  a_root_q;

  assign set_take_o = set_valid_i && (!a_valid_q || a_take);

  always_ff @(posedge clk_i) begin
    if (root_valid_i) rows_mem[root_place_i] <= root_rows_i;
    if (rst_i) a_valid_q <= 1'b0;
    else if (set_take_o) a_valid_q <= 1'b1;
    else if (a_take) a_valid_q <= 1'b0;
    if (set_take_o) begin
      a_set_q   <= set_i;
      a_left_q  <= set_i & rows_mem[set_place_i];
      a_place_q <= set_place_i;
      a_root_q  <= root_i[set_place_i];
    end
  end

  // ---------------------------------------------------------------- b: words with elements

  logic             b_valid_q, b_take, b_last;
  set_t             b_set_q, b_left_q;
  logic [WORDS-1:0] a_some, b_some_q, b_low;
  logic [WORD_AT_W-1:0] b_at;
  place_t           b_place_q;
  root_t            b_root_q;

  always_comb begin
    for (int w = 0; w < WORDS; w++) a_some[w] = a_left_q[w*WORD_W +: WORD_W] != '0;
    b_at = '0;
    for (int w = WORDS - 1; w >= 0; w--) if (b_some_q[w]) b_at = WORD_AT_W'(w);
  end

  always_comb
    for (int w = 0; w < WORDS; w++)
      b_low[w] = b_some_q[w] && (b_some_q & WORDS'((1 << w) - 1)) == '0;

  assign b_last = (b_some_q & ~b_low) == '0;
  assign a_take = a_valid_q && (!b_valid_q || (b_take && b_last));

  always_ff @(posedge clk_i) begin
    if (rst_i) b_valid_q <= 1'b0;
    else if (a_take) b_valid_q <= 1'b1;
    else if (b_take && b_last) b_valid_q <= 1'b0;
    if (a_take) begin
      b_set_q   <= a_set_q;
      b_left_q  <= a_left_q;
      b_some_q  <= a_some;
      b_place_q <= a_place_q;
      b_root_q  <= a_root_q;
    end else if (b_take) b_some_q <= b_some_q & ~b_low;
  end

  // ---------------------------------------------------------------- n: elements of each class

  logic        n_valid_q, n_take, n_last_q;
  word_t       b_word;
  word_t       b_set [ROW_BANKS], b_class [ROW_BANKS];
  word_t       n_set_q [ROW_BANKS];   // the set's word for each sub-bank
  word_t       n_class_q [ROW_BANKS]; // elements whose rows are there
  logic [WORD_AT_W-1:0] n_at_q;
  place_t      n_place_q;
  root_t       n_root_q;

  assign b_word = b_left_q[32'(b_at)*WORD_W +: WORD_W];

  always_comb begin
    for (int b = 0; b < ROW_BANKS; b++) begin
      b_set[b]   = b_set_q[(b & ((1 << b_root_q.size) - 1))*WORD_W +: WORD_W];
      b_class[b] = b_word & in_group(b_root_q.size, 3'(b) >> b_root_q.size);
    end
  end

  assign b_take = b_valid_q && (!n_valid_q || n_take);

  always_ff @(posedge clk_i) begin
    if (rst_i) n_valid_q <= 1'b0;
    else if (b_take) n_valid_q <= 1'b1;
    else if (n_take) n_valid_q <= 1'b0;
    if (b_take) begin
      n_at_q    <= b_at;
      n_last_q  <= b_last;
      n_place_q <= b_place_q;
      n_root_q  <= b_root_q;
      n_set_q   <= b_set;
      n_class_q <= b_class;
    end
  end

  // ---------------------------------------------------------------- c: an element of each class

  logic        c_valid_q, c_last_q;
  logic [ROW_BANKS/2-1:0] c_more_q;  // of each pair of classes one has more than the lowest
  logic [ROW_BANKS/2-1:0] n_more, c_more;
  logic        c_final;
  word_t       c_left_q [ROW_BANKS]; // elements of the class of each sub-bank
  word_t       c_less_q [ROW_BANKS]; // the same without the lowest
  word_t       c_set_q [ROW_BANKS];
  logic [WORD_AT_W-1:0] c_at_q;
  place_t      c_place_q;
  root_t       c_root_q;
  logic [ROW_BANKS-1:0] c_some;
  logic [BIT_W-1:0]     c_lowest [ROW_BANKS];

  always_comb begin
    n_more = '0;
    c_more = '0;
    for (int b = 0; b < ROW_BANKS; b++) begin
      c_some[b]   = c_left_q[b] != '0;
      c_lowest[b] = place_of(c_left_q[b] & ~c_less_q[b]);
      if (several(n_class_q[b])) n_more[b/2] = 1'b1;
      if (several(c_less_q[b])) c_more[b/2] = 1'b1;
    end
  end

  assign c_final = c_more_q == '0;
  assign n_take = n_valid_q && (!c_valid_q || c_final);

  always_ff @(posedge clk_i) begin
    if (rst_i) c_valid_q <= 1'b0;
    else if (n_take) c_valid_q <= 1'b1;
    else if (c_final) c_valid_q <= 1'b0;
    if (n_take) begin
      c_at_q    <= n_at_q;
      c_last_q  <= n_last_q;
      c_place_q <= n_place_q;
      c_root_q  <= n_root_q;
      c_set_q   <= n_set_q;
    end
    if (n_take) c_more_q <= n_more;
    else if (c_valid_q) c_more_q <= c_more;
    for (int b = 0; b < ROW_BANKS; b++) begin
      if (n_take) begin
        c_left_q[b] <= n_class_q[b];
        c_less_q[b] <= less_of(n_class_q[b]);
      end else if (c_valid_q) begin
        c_left_q[b] <= c_less_q[b];
        c_less_q[b] <= less_of(c_less_q[b]);
      end
    end
  end

  // ---------------------------------------------------------------- d to i: rows, ones

  localparam int unsigned D = 0, E = 1, F = 2, G = 3, H = 4, I = 5;

  logic [I:0]  valid_q;
  logic [ROW_BANKS-1:0] d_some_q, e_some_q, f_some_q;
  member_t     d_member_q [ROW_BANKS];
  word_t       d_set_q [ROW_BANKS], e_set_q [ROW_BANKS], f_set_q [ROW_BANKS], g_and_q [ROW_BANKS];
  root_t       d_root_q;
  logic [BIT_W-1:0]  h_ones_q [2*ROW_BANKS]; // of each half of a word
  logic [BIT_W:0]    i_ones_q [ROW_BANKS];
  logic [MEMBER_W:0] total;
  logic        d_done_q;
  place_t      d_place_q;

  always_comb begin
    for (int b = 0; b < ROW_BANKS; b++) begin
      read_o[b]    = valid_q[D] && d_some_q[b];
      read_at_o[b] = row_word(d_root_q.base, d_root_q.size, d_member_q[b]);
    end
    total = '0;
    for (int b = 0; b < ROW_BANKS; b++) total += (MEMBER_W+1)'(i_ones_q[b]);
  end

  always_ff @(posedge clk_i) begin
    valid_q  <= rst_i ? '0 : {valid_q[I-1:0], c_valid_q};
    d_done_q <= !rst_i && c_valid_q && c_final && c_last_q;
    d_place_q <= c_place_q;
    if (c_valid_q) begin
      d_some_q <= c_some;
      d_root_q <= c_root_q;
      d_set_q  <= c_set_q;
      for (int b = 0; b < ROW_BANKS; b++) d_member_q[b] <= {c_at_q, c_lowest[b]};
    end
    if (valid_q[D]) begin
      e_some_q <= d_some_q;
      e_set_q  <= d_set_q;
    end
    if (valid_q[E]) begin
      f_some_q <= e_some_q;
      f_set_q  <= e_set_q;
    end
    if (valid_q[F]) for (int b = 0; b < ROW_BANKS; b++)
      g_and_q[b] <= f_some_q[b] ? word_i[b] & f_set_q[b] : '0;
    if (valid_q[G]) for (int b = 0; b < ROW_BANKS; b++)
      for (int h = 0; h < 2; h++)
        h_ones_q[2*b + h] <= (BIT_W)'($countones(g_and_q[b][h*WORD_W/2 +: WORD_W/2]));
    if (valid_q[H]) for (int b = 0; b < ROW_BANKS; b++)
      i_ones_q[b] <= (BIT_W+1)'(h_ones_q[2*b]) + (BIT_W+1)'(h_ones_q[2*b + 1]);
    found_o       <= !rst_i && valid_q[I];
    found_count_o <= total;
    rows_o        <= '0;
    if (!rst_i && valid_q[D])
      rows_o <= 4'($countones(d_some_q) >> d_root_q.size);
  end

  assign set_done_o   = d_done_q;
  assign done_place_o = d_place_q;
  assign busy_o       = a_valid_q || b_valid_q || n_valid_q || c_valid_q || valid_q != '0 || found_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && c_valid_q)
    for (int b = 0; b < ROW_BANKS; b++)
      assert (!c_final || c_less_q[b] == '0) else $error("an element of a set is left out");
`endif

endmodule

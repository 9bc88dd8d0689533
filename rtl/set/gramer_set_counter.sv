// Counts the edges within a set: for each element, the elements of the set in its row. Throughput: one, two, four or
// eight rows per cycle, as many as have their words in different sub-banks.
//
//   set ─┬► [words] ─► word with elements ─► an element of each class ─► its row ─┐
//        └► [a word per sub-bank] ────────────────────────────────────────────────► and ─► popcount ─► sum
//
// A set is stored until it is counted, in two forms: by words, from which elements are taken, and as the words to
// combine with those of the rows.
module gramer_set_counter
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Roots
  input  mask_t   mask_i,
  input  logic    root_valid_i,
  input  place_t  root_place_i, // of the mask too
  input  root_t   root_i,
  input  words_t  root_words_i, // words with a member that has a row
  // Sets; capacity MADE_SETS
  input  logic    set_valid_i,
  input  set_t    set_i,
  input  words_t  set_words_i,  // words with an element
  input  place_t  set_place_i,
  input  class_t  set_size_i,   // of its root
  output logic    set_take_o,   // frees an entry
  output logic    set_done_o,   // its rows may be freed
  output place_t  done_place_o,
  // Row memory
  output logic [ROW_BANKS-1:0] read_o,
  output row_at_t read_at_o [ROW_BANKS],
  input  word_t   word_i [ROW_BANKS],
  // Sum
  output logic    found_o,
  output logic [MEMBER_W:0] found_count_o,
  output clique_sum_t found_sum_o, // of its root
  output logic [3:0] rows_o, // event: rows read
  output logic    busy_o
);

  localparam int unsigned LOW_W = $clog2(WORD_W);
  // Stored sets: waiting ones and those in progress, which are fewer.
  // LUT RAM: 64 deep, and wide.
  localparam int unsigned KEPT  = 2 * MADE_SETS;
  localparam int unsigned KEPT_W = $clog2(KEPT);

  typedef logic [KEPT_W-1:0] kept_t;

  // ---------------------------------------------------------------- waiting sets

  typedef struct packed {
    words_t words;
    place_t place;
  } waiting_t;

  typedef struct packed {
    words_t  words;
    row_at_t base;
    class_t  size;
  } counted_t;

  (* ram_style = "distributed" *) counted_t root_mem [PLACES];
  (* ram_style = "distributed" *) clique_sum_t sum_mem [PLACES];

  waiting_t head;
  counted_t head_root;
  logic     waits;
  kept_t    write_at_q, read_at_q;
  word_t    for_bank [ROW_BANKS];

  gramer_fifo #(.WIDTH($bits(waiting_t)), .DEPTH(MADE_SETS)) i_sets (
    .clk_i, .rst_i,
    .push_i (set_valid_i), .data_i ({set_words_i, set_place_i}), .full_o (),
    .pop_i (set_take_o), .valid_o (waits), .data_o (head)
  );

  assign head_root = root_mem[head.place];

  // Sub-bank b holds word b modulo the words of a row.
  always_comb
    for (int b = 0; b < ROW_BANKS; b++)
      for_bank[b] = set_valid_i ? word_for(set_i, set_size_i, b) : 'x;

  always_ff @(posedge clk_i) begin
    if (root_valid_i) begin
      root_mem[root_place_i] <= '{words: root_words_i, base: root_i.base, size: root_i.size};
      sum_mem[root_place_i]  <= root_i.sum;
    end
    if (rst_i) write_at_q <= '0;
    else if (set_valid_i) write_at_q <= write_at_q + 1'b1;
  end

  // ---------------------------------------------------------------- a: words with elements

  logic     a_valid_q, a_go, a_last, b_ready;
  words_t   a_words_q, a_low;
  word_at_t a_at;
  counted_t a_root_q;
  place_t   a_place_q;
  kept_t    a_kept_q;

  always_comb begin
    a_at = '0;
    for (int w = 0; w < SET_WORDS; w++) begin
      a_low[w] = a_words_q[w] && (a_words_q & SET_WORDS'((1 << w) - 1)) == '0;
      if (a_low[w]) a_at |= word_at_t'(w);
    end
  end

  assign a_last     = (a_words_q & ~a_low) == '0;
  assign a_go       = a_valid_q && b_ready;
  assign set_take_o = waits && (!a_valid_q || (a_go && a_last));

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      a_valid_q <= 1'b0;
      read_at_q <= '0;
    end else begin
      if (set_take_o) a_valid_q <= 1'b1;
      else if (a_go && a_last) a_valid_q <= 1'b0;
      if (set_take_o) read_at_q <= read_at_q + 1'b1;
    end
    if (set_take_o) begin
      a_words_q <= head.words & head_root.words;
      a_root_q  <= head_root;
      a_place_q <= head.place;
      a_kept_q  <= read_at_q;
    end else if (a_go) a_words_q <= a_words_q & ~a_low;
  end

  // ---------------------------------------------------------------- b, c: read of the words; w: one of them

  typedef struct packed {
    logic     none; // no element of the set has a row
    logic     last; // of the set
    word_at_t at;
    row_at_t  base; // of the rows of the word's members
    class_t   size;
    place_t   place;
    kept_t    kept;
  } word_of_t;

  logic     b_valid_q, c_valid_q, w_valid_q, c_ready, w_ready, e_ready, b_go, c_go;
  word_of_t b_q, c_q, w_q, n_q;
  word_t    c_word [SET_WORDS], c_rows, w_word_q;

  assign b_ready = !b_valid_q || c_ready;
  assign c_ready = !c_valid_q || w_ready;
  assign w_ready = !w_valid_q || e_ready;
  assign b_go    = b_valid_q && c_ready;
  assign c_go    = c_valid_q && w_ready;

  for (genvar w = 0; w < SET_WORDS; w++) begin : gen_word
    (* ram_style = "distributed" *) word_t words_mem [KEPT];
    word_t read_q, word_q;

    assign c_word[w] = word_q;

    always_ff @(posedge clk_i) begin
      if (set_valid_i) words_mem[write_at_q] <= set_i[w*WORD_W +: WORD_W];
      if (a_go) read_q <= words_mem[a_kept_q];
      if (b_go) word_q <= read_q;
    end
  end

  (* ram_style = "distributed" *) word_t rows_mem [PLACES*SET_WORDS];
  word_t rows_q;

  always_ff @(posedge clk_i) begin
    if (mask_i.valid) rows_mem[{root_place_i, mask_i.at}] <= mask_i.rows;
    if (a_go) rows_q <= rows_mem[{a_place_q, a_at}];
    if (b_go) c_rows <= rows_q;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      w_valid_q <= 1'b0;
    end else begin
      if (b_ready) b_valid_q <= a_valid_q;
      if (c_ready) c_valid_q <= b_valid_q;
      if (w_ready) w_valid_q <= c_valid_q;
    end
    if (a_go) b_q <= '{
      none: a_words_q == '0, last: a_last, at: a_at, base: a_root_q.base, size: a_root_q.size,
      place: a_place_q, kept: a_kept_q
    };
    if (b_go) c_q <= b_q;
    if (c_go) begin
      w_q      <= c_q;
      w_q.base <= row_word(c_q.base, c_q.size, member_t'({c_q.at, LOW_W'(0)}));
      w_word_q <= c_q.none ? '0 : c_word[c_q.at] & c_rows;
    end
    if (w_valid_q && e_ready) n_q <= w_q;
  end

  // ---------------------------------------------------------------- n: an element of each class

  logic                 n_valid, n_last;
  logic [ROW_BANKS-1:0] n_some;
  logic [LOW_W-1:0]     n_low [ROW_BANKS];
  logic [WORD_GROUPS-1:0]    n_taken;

  gramer_set_elements i_elements (
    .clk_i, .rst_i, .load_i (w_valid_q), .ready_o (e_ready), .word_i (w_word_q), .size_i (w_q.size),
    .valid_o (n_valid), .take_i (1'b1), .last_o (n_last), .some_o (n_some), .low_o (n_low),
    .taken_o (n_taken)
  );

  // ---------------------------------------------------------------- d to f: rows, with the set

  localparam int unsigned D = 0, F = 2, J = 6;

  logic [J:0]  valid_q; // of stages d to j
  logic [ROW_BANKS-1:0] d_some_q, e_some_q, f_some_q;
  logic [LOW_W-1:0]     d_low_q [ROW_BANKS];
  row_at_t     d_base_q;
  kept_t       d_kept_q;
  logic [WORD_GROUPS-1:0] d_taken_q;
  logic        d_done_q;
  place_t      d_place_q;
  clique_sum_t sum_q [J+1]; // of stages d to j
  word_t       f_set [ROW_BANKS];

  for (genvar b = 0; b < ROW_BANKS; b++) begin : gen_set
    (* ram_style = "distributed" *) word_t sets_mem [KEPT];
    word_t read_q, set_q;

    assign f_set[b] = set_q;

    always_ff @(posedge clk_i) begin
      if (set_valid_i) sets_mem[write_at_q] <= for_bank[b];
      if (valid_q[D]) read_q <= sets_mem[d_kept_q];
      if (valid_q[D + 1]) set_q <= read_q;
    end
  end

  always_comb
    for (int b = 0; b < ROW_BANKS; b++) begin
      read_o[b]    = valid_q[D] && d_some_q[b];
      read_at_o[b] = d_base_q + row_at_t'(d_low_q[b]);
    end

  always_ff @(posedge clk_i) begin
    valid_q   <= rst_i ? '0 : {valid_q[J-1:0], n_valid};
    d_done_q  <= !rst_i && n_valid && n_last && n_q.last;
    d_place_q <= n_q.place;
    sum_q[D]  <= sum_mem[n_q.place];
    for (int stage = D; stage < J; stage++) sum_q[stage+1] <= sum_q[stage];
    if (n_valid) begin
      d_some_q  <= n_some;
      d_low_q   <= n_low;
      d_base_q  <= n_q.base;
      d_kept_q  <= n_q.kept;
      d_taken_q <= n_taken;
    end
    e_some_q  <= d_some_q;
    f_some_q  <= e_some_q;
    rows_o    <= '0;
    if (!rst_i && valid_q[D])
      rows_o <= 4'($countones(d_taken_q));
  end

  // ---------------------------------------------------------------- f to j: popcount

  localparam int unsigned THREES = (WORD_W + 2) / 3; // groups of three columns of a word
  localparam int unsigned EIGHTEENS = (THREES + 5) / 6; // groups of six of those
  localparam int unsigned PART_W = $clog2(THREES + 1);
  localparam int unsigned PARTS  = 2 * ROW_BANKS;    // low and high bits of the threes of a word

  typedef logic [THREES-1:0] threes_t;

  // High bits of three-bit sums: at least two are set (majority).
  function automatic threes_t two_of(input threes_t a, input threes_t b, input threes_t c);
    return (a & b) | ((a | b) & c);
  endfunction

  threes_t                    f_ones [PARTS];
  threes_t [PARTS-1:0]        g_ones_q;
  logic [2:0][SIXES-1:0]      g_sums [PARTS], h_ones_q [PARTS]; // the lowest EIGHTEENS are used
  logic [PART_W-1:0]          h_sum [PARTS], i_ones_q [PARTS];
  logic [LOW_W:0]             j_ones_q [ROW_BANKS];
  logic [MEMBER_W:0]          total;

  always_comb
    for (int b = 0; b < ROW_BANKS; b++) begin
      word_t   both;
      threes_t x, y, z;
      {both, x, y, z, f_ones[2*b], f_ones[2*b + 1]} = 'x;
      if (valid_q[F]) begin
        both = word_i[b] & f_set[b];
        x = both[0 +: THREES];
        y = both[THREES +: THREES];
        z = THREES'(both >> (2*THREES));
        f_ones[2*b]     = x ^ y ^ z;
        f_ones[2*b + 1] = two_of(x, y, z);
      end
    end

  always_comb
    for (int p = 0; p < PARTS; p++) begin
      logic [6*EIGHTEENS-1:0] ones;
      {ones, g_sums[p]} = 'x;
      if (valid_q[F + 1]) begin
        ones = (6*EIGHTEENS)'(g_ones_q[p]);
        g_sums[p] = ones_of6(SIXES'(ones[0 +: EIGHTEENS]), SIXES'(ones[EIGHTEENS +: EIGHTEENS]),
                             SIXES'(ones[2*EIGHTEENS +: EIGHTEENS]),
                             SIXES'(ones[3*EIGHTEENS +: EIGHTEENS]),
                             SIXES'(ones[4*EIGHTEENS +: EIGHTEENS]),
                             SIXES'(ones[5*EIGHTEENS +: EIGHTEENS]));
      end
    end

  always_comb begin
    for (int p = 0; p < PARTS; p++) begin
      h_sum[p] = valid_q[F + 2] ? '0 : 'x;
      if (valid_q[F + 2])
        for (int s = 0; s < EIGHTEENS; s++)
          h_sum[p] += PART_W'({h_ones_q[p][2][s], h_ones_q[p][1][s], h_ones_q[p][0][s]});
    end
    total = valid_q[J] ? '0 : 'x;
    if (valid_q[J]) for (int b = 0; b < ROW_BANKS; b++) total += (MEMBER_W+1)'(j_ones_q[b]);
  end

  always_ff @(posedge clk_i) begin
    // Masked by the reset of the registers, so three columns need one table per bit of their sum.
    if (valid_q[F])
      for (int b = 0; b < ROW_BANKS; b++)
        for (int p = 2*b; p < 2*b + 2; p++) g_ones_q[p] <= f_some_q[b] ? f_ones[p] : '0;
    if (valid_q[F + 1]) h_ones_q <= g_sums;
    if (valid_q[F + 2]) i_ones_q <= h_sum;
    if (valid_q[F + 3])
      for (int b = 0; b < ROW_BANKS; b++)
        j_ones_q[b] <= (LOW_W+1)'(i_ones_q[2*b]) + ((LOW_W+1)'(i_ones_q[2*b + 1]) << 1);
    found_o       <= !rst_i && valid_q[J];
    found_count_o <= total;
    found_sum_o   <= sum_q[J];
  end

  assign set_done_o   = d_done_q;
  assign done_place_o = d_place_q;
  // Omits the last stages: the core sees busy with more delay than they take (gramer_set_pu).
  assign busy_o       = waits || a_valid_q || b_valid_q || c_valid_q || w_valid_q || n_valid
                        || valid_q[J-1:0] != '0;

endmodule

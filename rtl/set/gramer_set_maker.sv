// Makes the sets whose edges are counted: for cliques of k vertices, the common neighbours of k - 3 chosen members
// (and of the root). A walker descends from one member: its first set is the member's row; the row of an element,
// restricted to the set, is the set of the next level. Sets too small for a clique are dropped; those of the last
// level go to the counter.
//
// Sixteen walkers share a pipeline; each makes one set and returns twelve cycles later, so twelve active walkers
// make one set per cycle. A new member, whose row is a set, enters in the middle of the pipeline if no walker
// occupies that stage. The counter's queue has room for all sets in the pipeline, so it never stalls.
//
//   ready ─► set, limit ─► elements left ─► word ─► element ─► row ─► and ─► size ─► deeper, or counter
//                                                   member ─┘
module gramer_set_maker
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Roots
  input  mask_t   mask_i,
  input  logic    root_valid_i,
  input  place_t  root_place_i, // of the mask, too
  input  root_t   root_i,
  input  words_t  root_words_i, // words with a member that has a row
  input  logic    first_valid_i,
  output logic    first_take_o,
  input  place_t  first_place_i,
  input  member_t first_member_i,
  output logic    begun_done_o, // a started member is finished
  output place_t  begun_place_o,
  // Row memory
  output logic    read_o,
  output row_at_t read_at_o,
  input  word_t   word_i [ROW_BANKS],
  // Sets of the last level
  output logic    set_valid_o,
  output set_t    set_o,
  output words_t  set_words_o, // words with an element
  output place_t  set_place_o,
  output class_t  set_size_o,  // of its root
  input  logic    set_taken_i, // frees an entry of the queue
  output logic    made_o       // event: a row was read
);

  localparam int unsigned WALKERS  = 16;
  localparam int unsigned WALKER_W = $clog2(WALKERS);
  localparam int unsigned LEVELS   = 16; // K_MOST - 4 are used
  localparam int unsigned DEPTH_W  = $clog2(LEVELS);
  localparam int unsigned QUEUE    = MADE_SETS; // sets that wait for the counter
  localparam int unsigned QUEUE_W  = $clog2(QUEUE) + 1;
  localparam int unsigned BIT_W    = $clog2(WORD_W);
  localparam int unsigned SIZE_W_  = MEMBER_W + 1;

  typedef logic [WALKER_W-1:0] walker_t;
  typedef logic [DEPTH_W-1:0]  depth_t;

  // Pipeline token, without the set.
  typedef struct packed {
    walker_t walker;
    logic    begins; // the set is the row of `member`
    logic    fresh;  // no element of the set has been taken
    depth_t  level;  // of the walked set
    place_t  place;
    member_t member;
    k_t      wanted; // minimum of elements in the new set: vertices yet to be chosen
    class_t  size;
    row_at_t base;
    logic    found;
    logic    single; // the element is the last one
    logic    stays;  // its walker stays in place with the next element
  } token_t;

  typedef struct packed {
    root_t  root;
    words_t words;
  } maker_root_t;

  localparam int unsigned LAST = 12;
  localparam k_t EDGE = 5'd2; // vertices of the last level's embeddings

  token_t          token_q [LAST+1];
  logic [LAST:0]   valid_q;

  // ---------------------------------------------------------------- 0: select

  (* ram_style = "distributed" *) place_t place_mem [WALKERS];
  (* ram_style = "distributed" *) logic [DEPTH_W:0] state_mem [WALKERS]; // fresh, level

  logic    ready, idle_q, again, at_once, repeats, retire, walks, begins, room;
  walker_t next_walker, idle_walker, spare_q;
  logic    filling_q; // after reset: walkers not yet released
  logic [QUEUE_W-1:0] reserved_q;
  logic    dropped, spare;
  token_t  entering, last;
  logic    keep, deeper, level_done, gone;
  depth_t  level;

  gramer_fifo #(.WIDTH(WALKER_W), .DEPTH(WALKERS)) i_ready (
    .clk_i, .rst_i,
    .push_i (again && !at_once), .data_i (token_q[LAST].walker), .full_o (),
    .pop_i (walks && !at_once), .valid_o (ready), .data_o (next_walker)
  );

  gramer_fifo #(.WIDTH(WALKER_W), .DEPTH(WALKERS)) i_idle (
    .clk_i, .rst_i,
    .push_i (retire || filling_q), .data_i (filling_q ? spare_q : token_q[LAST].walker), .full_o (),
    .pop_i (begins), .valid_o (), .data_o (idle_walker)
  );

  // Availability is registered, since a long path starts here.
  logic [WALKER_W:0] idles_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      idles_q <= '0;
      idle_q  <= 1'b0;
    end else begin
      idles_q <= idles_q + (WALKER_W+1)'(retire || filling_q) - (WALKER_W+1)'(begins);
      idle_q  <= retire || filling_q || (begins ? idles_q > (WALKER_W+1)'(1) : idle_q);
    end
  end

  assign room   = reserved_q != QUEUE_W'(QUEUE);
  assign walks  = (ready || again) && room;
  // A returning walker continues immediately if no other waits.
  assign at_once = again && !ready && room;
  // With `repeats` three reservations may coincide, so the others leave room for three.
  assign spare  = reserved_q < QUEUE_W'(QUEUE - 2);
  assign begins = !valid_q[6] && idle_q && first_valid_i && spare && !filling_q;
  assign first_take_o = begins;

  always_comb begin
    entering        = '0;
    entering.walker = ready ? next_walker : last.walker;
    entering.place  = ready ? place_mem[next_walker] : last.place;
    {entering.fresh, entering.level} = ready ? state_mem[next_walker] : {deeper, level};
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      filling_q  <= 1'b1;
      spare_q    <= '0;
      reserved_q <= '0;
    end else begin
      spare_q <= spare_q + WALKER_W'(filling_q);
      if (spare_q == '1) filling_q <= 1'b0;
      reserved_q <= reserved_q + QUEUE_W'(walks) + QUEUE_W'(begins || repeats) - QUEUE_W'(dropped)
                    - QUEUE_W'(set_taken_i);
    end
    if (begins) place_mem[idle_walker] <= first_place_i;
  end

  // ---------------------------------------------------------------- 1 to 3: its set and position

  (* ram_style = "distributed" *) set_t set_mem [WALKERS*LEVELS];
  (* ram_style = "distributed" *) member_t limit_mem [WALKERS*LEVELS]; // last element taken
  (* ram_style = "distributed" *) maker_root_t root_mem [PLACES];
  (* ram_style = "distributed" *) root_t begun_mem [PLACES]; // for started members
  (* ram_style = "distributed" *) set_t walking_mem [WALKERS]; // set of each active walker

  maker_root_t root1;
  words_t  words2_q, words3_q;
  set_t    read_q, set3_q, rows2_q, rows3_q, left4_q, left5_q, new_set, set10_q, set11_q, set12_q;
  member_t limit2_q, limit3_q;
  logic    write;
  logic [WALKER_W+DEPTH_W-1:0] write_at;

  assign root1 = root_mem[token_q[1].place];

  // Members whose rows are sets, by words; words that never arrived have none.
  for (genvar w = 0; w < SET_WORDS; w++) begin : gen_rows
    (* ram_style = "distributed" *) word_t mem [PLACES];
    always_ff @(posedge clk_i) begin
      if (mask_i.valid && mask_i.at == word_at_t'(w)) mem[root_place_i] <= mask_i.walked;
      if (valid_q[1]) rows2_q[w*WORD_W +: WORD_W] <= mem[token_q[1].place];
    end
  end

  always_ff @(posedge clk_i) begin
    if (root_valid_i) root_mem[root_place_i] <= '{root: root_i, words: root_words_i};
    if (root_valid_i) begun_mem[root_place_i] <= root_i;
    words2_q <= root1.words;
    words3_q <= words2_q;
    if (valid_q[2]) rows3_q <= rows2_q;
    if (write) set_mem[write_at] <= set12_q;
    if (valid_q[1]) read_q <= set_mem[{token_q[1].walker, token_q[1].level}];
    limit2_q <= limit_mem[{token_q[1].walker, token_q[1].level}];
    if (valid_q[2]) set3_q <= read_q;
    limit3_q <= limit2_q;
    if (valid_q[3]) walking_mem[token_q[3].walker] <= set3_q;
  end

  // ---------------------------------------------------------------- 3 to 6: the next element

  logic [SET_WORDS-1:0]     some4, some5_q;
  logic [SET_WORD_W-1:0] at4, at5_q, at6_q;
  // Complement of the elements, so that a carry chain clears the lowest one; `keep` leaves one table before it.
  (* keep = "true" *) word_t free5;
  word_t                less5, word6_q, less6_q; // less: all but the lowest element
  logic                 several6_q;
  logic [BIT_W-1:0]     lowest;

  // Elements after the last one taken: all of later words, some of its own word.
  word_t  beyond3;
  words_t all3, some3;

  always_comb begin
    {beyond3, all3, some3} = 'x;
    if (valid_q[3]) begin
      for (int p = 0; p < WORD_W; p++) beyond3[p] = BIT_W'(p) > limit3_q[BIT_W-1:0];
      for (int w = 0; w < SET_WORDS; w++) begin
        all3[w]  = words3_q[w]
                   && (token_q[3].fresh || SET_WORD_W'(w) > SET_WORD_W'(limit3_q >> BIT_W));
        some3[w] = words3_q[w] && SET_WORD_W'(w) == SET_WORD_W'(limit3_q >> BIT_W);
      end
    end
  end

  always_comb begin
    {some4, at4} = 'x;
    if (valid_q[4]) begin
      for (int w = 0; w < SET_WORDS; w++) some4[w] = left4_q[w*WORD_W +: WORD_W] != '0;
      at4 = '0;
      for (int w = SET_WORDS - 1; w >= 0; w--) if (some4[w]) at4 = SET_WORD_W'(w);
    end
    {free5, less5} = 'x;
    if (valid_q[5]) begin
      free5 = ~left5_q[32'(at5_q)*WORD_W +: WORD_W];
      less5 = ~(free5 | (free5 + 1'b1));
    end
    lowest = 'x;
    if (valid_q[6]) begin
      lowest = '0;
      for (int unsigned p = 0; p < WORD_W; p++)
        if (word6_q[p] && !less6_q[p]) lowest |= BIT_W'(p);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q[3]) for (int w = 0; w < SET_WORDS; w++)
      left4_q[w*WORD_W +: WORD_W] <= set3_q[w*WORD_W +: WORD_W] & rows3_q[w*WORD_W +: WORD_W]
                                     & ({WORD_W{all3[w]}} | ({WORD_W{some3[w]}} & beyond3));
    if (valid_q[4]) begin
      left5_q <= left4_q;
      some5_q <= some4;
      at5_q   <= at4;
    end
    if (repeats) begin
      word6_q <= less6_q;
      less6_q <= less6_q & (less6_q - 1'b1);
    end else if (valid_q[5]) begin
      word6_q    <= ~free5;
      less6_q    <= less5;
      several6_q <= several(word_t'(some5_q));
      at6_q      <= at5_q;
    end
  end

  // ---------------------------------------------------------------- 7 to 9: its row

  assign read_o    = valid_q[7] && token_q[7].found;
  assign read_at_o = row_word(token_q[7].base, token_q[7].size, token_q[7].member);

  set_t       walking8_q, walking9_q;
  logic [2:0] bank9; // of the row's first word
  word_t      row9 [SET_WORDS];

  // A row of 2, 4 or 8 words starts at a sub-bank that is a multiple of its size: so word 1 is in an odd sub-bank,
  // words 2 and 3 are in one of two, and each later word has a fixed one.
  assign bank9 = 3'(row_group(token_q[9].size, token_q[9].member) << token_q[9].size);
  always_comb begin
    for (int w = 0; w < SET_WORDS; w++) begin
      logic [2:0] bank;
      {bank, row9[w]} = 'x;
      if (valid_q[9]) begin
        bank    = bank9 & 3'(7 << $clog2(w + 1)) | 3'(w);
        row9[w] = w >> token_q[9].size != 0 ? '0 : word_i[bank];
      end
    end
  end

  always_comb begin
    for (int w = 0; w < SET_WORDS; w++)
      new_set[w*WORD_W +: WORD_W] = row9[w] & walking9_q[w*WORD_W +: WORD_W];
  end

  // ---------------------------------------------------------------- 10 to 12: its size

  logic [BIT_W:0]       ones11_q [SET_WORDS];
  logic [SIZE_W_-1:0]   ones12_q, total;
  words_t               some12_q;

  always_comb begin
    total = '0;
    for (int w = 0; w < SET_WORDS; w++) total += SIZE_W_'(ones11_q[w]);
  end

  always_ff @(posedge clk_i) begin
    if (valid_q[7] && token_q[7].found && !token_q[7].begins)
      limit_mem[{token_q[7].walker, token_q[7].level}] <= token_q[7].member;
    if (valid_q[7]) walking8_q <= walking_mem[token_q[7].walker];
    if (valid_q[8] && token_q[8].begins) walking9_q <= '1;
    else if (valid_q[8]) walking9_q <= walking8_q;
    if (valid_q[9]) set10_q <= new_set;
    if (valid_q[10]) begin
      set11_q <= set10_q;
      for (int w = 0; w < SET_WORDS; w++)
        ones11_q[w] <= ones_of_word(set10_q[w*WORD_W +: WORD_W]);
    end
    if (valid_q[11]) begin
      set12_q  <= set11_q;
      for (int w = 0; w < SET_WORDS; w++) some12_q[w] <= ones11_q[w] != '0;
      ones12_q <= total;
    end
  end

  // ---------------------------------------------------------------- tokens

  token_t beginning;
  root_t  begun_root;

  assign begun_root = begun_mem[first_place_i];

  always_comb begin
    beginning        = '0;
    beginning.walker = idle_walker;
    beginning.begins = 1'b1;
    beginning.place  = first_place_i;
    beginning.member = first_member_i;
    beginning.wanted = begun_root.k - k_t'(2);
    beginning.size   = begun_root.size;
    beginning.base   = begun_root.base;
    beginning.found  = 1'b1;
    beginning.single = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    valid_q <= rst_i ? '0 : {valid_q[LAST-1:7], valid_q[6] || begins, valid_q[5] || repeats,
                             valid_q[4:1], walks, 1'b0};
    token_q[1] <= entering;
    for (int s = 2; s <= LAST; s++) if (valid_q[s-1]) token_q[s] <= token_q[s-1];
    if (valid_q[1]) begin
      token_q[2].size   <= root1.root.size;
      token_q[2].base   <= root1.root.base;
      // k - 2 vertices are chosen from the first set, one per level.
      token_q[2].wanted <= root1.root.k - k_t'(3) - k_t'(token_q[1].level);
    end
    if (valid_q[6]) begin // with `repeats` it also stays here: nothing follows it
      token_q[7].stays  <= repeats;
      token_q[7].member <= member_t'({at6_q, lowest});
      token_q[7].found  <= word6_q != '0;
      token_q[7].single <= !several6_q && less6_q == '0;
    end
    if (begins) token_q[7] <= beginning;
  end

  // ---------------------------------------------------------------- 6, 12: next step

  // On the last level a walker continues with the next element, independent of this one's result: if no walker
  // follows, it stays in its stage for the word's next element.
  assign repeats = valid_q[6] && token_q[6].wanted == EDGE && less6_q != '0 && !valid_q[5]
                   && spare;

  assign last        = token_q[LAST];
  assign keep        = valid_q[LAST] && last.found && ones12_q >= SIZE_W_'(last.wanted);
  assign set_valid_o = keep && last.wanted == EDGE;
  assign set_o       = set12_q;
  assign set_words_o = some12_q;
  assign set_place_o = last.place;
  assign set_size_o  = last.size;
  assign dropped     = valid_q[LAST] && !set_valid_o;
  assign deeper      = keep && last.wanted != EDGE;
  // The level's set is exhausted: the walker returns to the level above.
  assign level_done  = !deeper && (last.begins || last.single || !last.found);
  assign gone        = level_done && (last.begins || last.level == '0);
  assign level       = deeper ? (last.begins ? '0 : last.level + 1'b1)
                              : level_done ? last.level - 1'b1 : last.level;
  assign again       = valid_q[LAST] && !gone && !last.stays;
  assign retire      = valid_q[LAST] && gone;
  // Also a set that is dropped: no walker reads the levels below its own.
  assign write       = valid_q[LAST] && last.wanted != EDGE;
  assign write_at    = {last.walker, last.begins ? '0 : last.level + 1'b1};
  assign begun_done_o  = retire;
  assign begun_place_o = last.place;
  assign made_o        = read_o;

  always_ff @(posedge clk_i)
    if (valid_q[LAST]) state_mem[last.walker] <= {deeper, level};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i)
    assert (idle_q == (idles_q != '0)) else $error("walkers are idle, or none are");
`endif

endmodule

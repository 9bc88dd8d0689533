// The roots whose rows are in the row memory, in the order in which they came, and which of their
// members are still to be begun with. A root leaves when all of its sets are counted: its rows
// are free then, in order.
module gramer_set_roots
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // A root whose rows are complete
  input  logic    root_valid_i,
  input  place_t  place_i,
  input  root_t   root_i,
  input  set_t    first_i,
  // Members to begin with
  output logic    valid_o,
  input  logic    take_i,
  output place_t  place_o,
  output member_t member_o,
  // Work of a root: members that were begun with and sets, each until it is done
  input  logic    set_made_i,
  input  place_t  set_place_i,
  input  logic    begun_done_i,
  input  place_t  begun_place_i,
  input  logic    set_done_i,
  input  place_t  done_place_i,
  // Roots by place
  output root_t   root_o [PLACES],
  // Out of the row memory
  output logic    freed_o, // pulse
  output logic [ROW_AT_W:0] words_o,
  output logic    busy_o
);

  localparam int unsigned WORDS  = MEMBERS / WORD_W;
  localparam int unsigned AT_W   = $clog2(WORDS);
  localparam int unsigned WORK_W = 8;

  logic [PLACE_W:0] held_q, picked_q;  // roots in all, and those to be picked from
  place_t           pick_q, oldest_q;
  logic [AT_W-1:0]  at_q;
  // A word of a root's members: fetched, then the members that are left of it and, without the
  // lowest of them, less.
  word_t            word_q, left_q, less_q;
  logic             word_valid_q, some_q, any_q, more_q, fetch, fill; // any, more: of left, less
  logic             word_last_d, word_last_q, left_last_q;
  place_t           word_place_q, left_place_q;
  logic [AT_W-1:0]  word_at_q, left_at_q;
  logic [PLACES-1:0] taken_q; // every member of it was picked
  logic [WORK_W-1:0] work_q [PLACES];
  logic             free, step, emptied;

  // ---------------------------------------------------------------- members to begin with

  word_t first_word [WORDS];
  for (genvar w = 0; w < WORDS; w++) begin : gen_first
    (* ram_style = "distributed" *) word_t mem [PLACES];
    always_ff @(posedge clk_i) if (root_valid_i) mem[place_i] <= first_i[w*WORD_W +: WORD_W];
    assign first_word[w] = mem[pick_q];
  end

  assign word_last_d = {at_q, 2'b11} >= root_o[pick_q].last;
  assign fetch       = picked_q != '0 && (!word_valid_q || fill);
  assign step        = some_q && (!valid_o || take_i) && any_q;
  assign emptied     = some_q && (!any_q || (step && !more_q));
  assign fill        = word_valid_q && (!some_q || emptied);

  always_ff @(posedge clk_i) begin
    if (root_valid_i) root_o[place_i] <= root_i;
    if (rst_i) begin
      pick_q       <= '0;
      at_q         <= '0;
      word_valid_q <= 1'b0;
      some_q       <= 1'b0;
      valid_o      <= 1'b0;
      picked_q     <= '0;
    end else begin
      picked_q <= picked_q + (PLACE_W+1)'(root_valid_i) - (PLACE_W+1)'(fetch && word_last_d);
      if (fetch) begin
        word_valid_q <= 1'b1;
        at_q         <= word_last_d ? '0 : at_q + 1'b1;
        if (word_last_d) pick_q <= pick_q + 1'b1;
      end else if (fill) word_valid_q <= 1'b0;
      if (fill) some_q <= 1'b1;
      else if (emptied) some_q <= 1'b0;
      if (step) valid_o <= 1'b1;
      else if (take_i) valid_o <= 1'b0;
    end
    if (fetch) begin
      word_q       <= first_word[at_q];
      word_at_q    <= at_q;
      word_place_q <= pick_q;
      word_last_q  <= word_last_d;
    end
    if (fill) begin
      left_q       <= word_q;
      less_q       <= less_of(word_q);
      any_q        <= word_q != '0;
      more_q       <= several(word_q);
      left_at_q    <= word_at_q;
      left_place_q <= word_place_q;
      left_last_q  <= word_last_q;
    end else if (step) begin
      left_q <= less_q;
      less_q <= less_of(less_q);
      any_q  <= more_q;
      more_q <= several(less_q);
    end
    if (step) begin
      place_o  <= left_place_q;
      member_o <= {left_at_q, place_of(left_q & ~less_q)};
    end
  end

  // ---------------------------------------------------------------- what is left of each root

  assign free = held_q != '0 && taken_q[oldest_q] && work_q[oldest_q] == '0;

  always_ff @(posedge clk_i) begin
    freed_o <= !rst_i && free;
    words_o <= words_of(root_o[oldest_q].last, root_o[oldest_q].size);
    if (rst_i) begin
      held_q   <= '0;
      oldest_q <= '0;
      taken_q  <= '0;
      for (int p = 0; p < PLACES; p++) work_q[p] <= '0;
    end else begin
      held_q <= held_q + (PLACE_W+1)'(root_valid_i) - (PLACE_W+1)'(free);
      if (free) begin
        oldest_q          <= oldest_q + 1'b1;
        taken_q[oldest_q] <= 1'b0;
      end
      if (emptied && left_last_q) taken_q[left_place_q] <= 1'b1;
      for (int p = 0; p < PLACES; p++)
        work_q[p] <= work_q[p] + WORK_W'(step && left_place_q == place_t'(p))
                     + WORK_W'(set_made_i && set_place_i == place_t'(p))
                     - WORK_W'(begun_done_i && begun_place_i == place_t'(p))
                     - WORK_W'(set_done_i && done_place_i == place_t'(p));
    end
  end

  assign busy_o = held_q != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(root_valid_i && held_q == (PLACE_W+1)'(PLACES))) else $error("a root without a place");
    assert (!(begun_done_i && work_q[begun_place_i] == '0)) else $error("work done twice");
    assert (!(set_done_i && work_q[done_place_i] == '0)) else $error("a set counted twice");
  end
`endif

endmodule

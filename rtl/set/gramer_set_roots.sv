// Roots with rows in the row memory, in the order of arrival, and their members yet to be started. A root leaves when
// all of its sets are counted, in order; its rows are then freed.
module gramer_set_roots
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // A root with complete rows, and before it the masks of its members
  input  mask_t   mask_i,
  input  logic    root_valid_i,
  input  place_t  place_i, // of the mask, too
  input  root_t   root_i,
  input  words_t  first_words_i, // words with a member to start
  // Members to start
  output logic    valid_o,
  input  logic    take_i,
  output place_t  place_o,
  output member_t member_o,
  // Work of a root: started members and sets, each until it is finished
  input  logic    set_made_i,
  input  place_t  set_place_i,
  input  logic    begun_done_i,
  input  place_t  begun_place_i,
  input  logic    set_done_i,
  input  place_t  done_place_i,
  // Removal from the row memory
  output logic    freed_o, // pulse
  output logic [ROW_AT_W:0] words_o,
  output logic    busy_o
);

  localparam int unsigned WORK_W = 8;

  logic [PLACE_W:0] held_q, picked_q;  // all roots; roots with members to pick
  place_t           pick_q, oldest_q;
  logic [PLACES-1:0] taken_q; // every member has been picked
  logic [WORK_W-1:0] work_q [PLACES];
  logic             free, step, ends;

  // ---------------------------------------------------------------- words of members to start

  (* ram_style = "distributed" *) words_t words_mem [PLACES];
  (* ram_style = "distributed" *) lline_t last_mem [PLACES];
  (* ram_style = "distributed" *) word_t first_mem [PLACES*SET_WORDS];

  typedef struct packed {
    logic     none; // the root has no member to start
    logic     last; // of the root
    word_at_t at;
    place_t   place;
  } word_of_t;

  logic     a_valid_q, a_go, a_last, b_valid_q, b_ready, ready, pick;
  words_t   a_words_q, a_low;
  word_at_t a_at;
  place_t   a_place_q;
  word_of_t b_q, left_q;
  word_t    b_word_q;

  always_comb begin
    a_at = '0;
    for (int w = 0; w < SET_WORDS; w++) begin
      a_low[w] = a_words_q[w] && (a_words_q & SET_WORDS'((1 << w) - 1)) == '0;
      if (a_low[w]) a_at |= word_at_t'(w);
    end
  end

  assign a_last  = (a_words_q & ~a_low) == '0;
  assign a_go    = a_valid_q && b_ready;
  assign b_ready = !b_valid_q || ready;
  assign pick    = picked_q != '0 && (!a_valid_q || (a_go && a_last));

  always_ff @(posedge clk_i) begin
    if (root_valid_i) words_mem[place_i] <= first_words_i;
    if (root_valid_i) last_mem[place_i] <= root_i.last;
    if (mask_i.valid) first_mem[{place_i, mask_i.at}] <= mask_i.first;
    if (a_go) b_word_q <= first_mem[{a_place_q, a_at}];
    if (rst_i) begin
      pick_q    <= '0;
      picked_q  <= '0;
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
    end else begin
      picked_q <= picked_q + (PLACE_W+1)'(root_valid_i) - (PLACE_W+1)'(pick);
      if (pick) begin
        pick_q    <= pick_q + 1'b1;
        a_valid_q <= 1'b1;
      end else if (a_go && a_last) a_valid_q <= 1'b0;
      if (b_ready) b_valid_q <= a_valid_q;
    end
    if (pick) begin
      a_words_q <= words_mem[pick_q];
      a_place_q <= pick_q;
    end else if (a_go) a_words_q <= a_words_q & ~a_low;
    if (a_go) b_q <= '{none: a_words_q == '0, last: a_last, at: a_at, place: a_place_q};
    if (ready) left_q <= b_q;
  end

  // ---------------------------------------------------------------- members

  logic left_valid, left_last, some, room;
  logic [ROW_BANKS-1:0]      left_some;
  logic [$clog2(WORD_W)-1:0] left_low [ROW_BANKS];

  gramer_set_elements i_elements (
    .clk_i, .rst_i, .load_i (b_valid_q), .ready_o (ready), .word_i (b_q.none ? '0 : b_word_q),
    .size_i ('1), .valid_o (left_valid), .take_i (step), .last_o (left_last),
    .some_o (left_some), .low_o (left_low), .taken_o ()
  );

  assign some = left_some[0];
  assign step = left_valid && (room || !some);
  assign ends = step && left_last && left_q.last;

  // Two entries: a step does not depend on `take_i`, which is late in its cycle.
  gramer_set_skid_buffer #(.WIDTH(PLACE_W + $bits(member_t))) i_next (
    .clk_i, .rst_i,
    .valid_i (left_valid && some), .ready_o (room),
    .data_i ({left_q.place, member_t'({left_q.at, left_low[0]})}),
    .valid_o, .ready_i (take_i), .data_o ({place_o, member_o})
  );

  // ---------------------------------------------------------------- remaining work of each root

  // Net change from -2 to 2: one carry chain per root instead of four.
  typedef logic signed [2:0] change_t;

  function automatic change_t change(input logic more, input logic also, input logic less,
                                     input logic fewer);
    logic below;
    below = ((less || fewer) && !(more || also)) || (less && fewer && !(more && also));
    return {below, below || (more && also && !(less || fewer)), more ^ also ^ less ^ fewer};
  endfunction

  assign free = held_q != '0 && taken_q[oldest_q] && work_q[oldest_q] == '0;

  always_ff @(posedge clk_i) begin
    freed_o <= !rst_i && free;
    words_o <= words_of(last_mem[oldest_q], class_of(last_mem[oldest_q]));
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
      if (ends) taken_q[left_q.place] <= 1'b1;
      for (int p = 0; p < PLACES; p++)
        work_q[p] <= work_q[p] + WORK_W'(change(step && some && left_q.place == place_t'(p),
                                                set_made_i && set_place_i == place_t'(p),
                                                begun_done_i && begun_place_i == place_t'(p),
                                                set_done_i && done_place_i == place_t'(p)));
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

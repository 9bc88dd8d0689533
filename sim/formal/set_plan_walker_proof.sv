// A unit's walk along a plan of a set, along which one or two vertices go, with a set of no line or one or of two and any
// candidates: what is asked for comes in the order of a search, depth first. Each candidate is the image of its vertex
// once, in order; a unit ends when there is none left; nothing is dropped or kept while a set is made; an operation that
// waits stays; without stalls, something moves.
module set_plan_walker_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic       clk_i,
  // Anything, the same for the whole run
  input logic       deep_i,   // two vertices go along the set; else one
  input logic [1:0] lines_i,  // of the set
  input logic       stalls_i, // others may be late; else all of them answer at once
  // Anything at any time
  input logic       op_ready_i,
  input logic       made_i,
  input logic       walked_i,
  input lanes_t     lanes_i,
  input logic       cut_i
);
  localparam int unsigned WORDS = 4;

  logic       started_q = 1'b0;
  logic       deep_q, stalls_q, unit_q, unit_take, op_valid, mark, rewind, idle, busy, done, empty_q, asked_q;
  logic [1:0] lines_q;
  logic [2:0] written_q;
  line_t      line;
  set_op_t    op, op_q;
  plan_word_t word;
  unit_t      unit;
  stored_t    set;
  level_at_t  level;
  logic [SET_W-1:0] set_at;

  // The words: make, 0; walk, 1; count, 2. Or, of a set that is there, so that a search is short: walk, 1; walk, 2; count, 3.
  always_comb begin
    word        = '0;
    word.to     = SET_W'(written_q[1:0]) + SET_W'(deep_q);
    word.stored = 1'b1;
    word.kind   = word.to == '0 ? 2'(WORD_MAKE)
                  : word.to == SET_W'(1) || (word.to == SET_W'(2) && deep_q) ? 2'(WORD_WALK) : 2'(WORD_COUNT);
    unit        = '0;
    unit.last   = '1;
    unit.address = id_t'(5);
    unit.quarters = 12'd1;
    set         = '{first_max: '0, lines: set_end_t'(lines_q), base: set_at_t'(1)};
  end

  gramer_set_plan_walker dut (
    .clk_i, .rst_i (!started_q),
    .word_write_i (started_q && written_q < 3'(WORDS)), .word_at_i (PLAN_AT_W'(PLAN_LABELS) + PLAN_AT_W'(written_q[1:0])),
    .word_i (plan_bits_t'(word)),
    // Each word is there before it is read.
    .unit_valid_i (written_q != '0 && !unit_q), .unit_take_o (unit_take), .unit_i (unit),
    .op_valid_o (op_valid), .op_ready_i, .op_o (op),
    .made_i, .empty_i (empty_q || (made_i && lines_q == '0)), .set_o (set_at), .set_i (set),
    .mark_o (mark), .rewind_o (rewind), .level_o (level),
    .walked_i, .walked_line_i (line), .walked_lanes_i (lanes_i), .walked_cut_i (cut_i),
    .idle_o (idle), .busy_o (busy), .unit_done_o (done)
  );

  // What is left to do, by vertex: candidates of the line in hand, lines that were asked for.
  logic       made_once_q, making_q, waits_q, late_q, cut1_q, cut2_q, begun2_q;
  logic [1:0] next1_q, next2_q, made_stalls_q;
  lanes_t     left1_q, left2_q;
  line_t      line1_q, line2_q;
  id_t        image1_q;
  logic       inner_q; // the line that is waited for is the second vertex'
  logic [3:0] idle_q;
  logic [1:0] ended_q;
  logic [2:0] counts_q; // members that were counted

  // The entries of the set's first line, and of its second one, along which the second vertex goes, too.
  assign line = inner_q || next1_q == 2'd2 ? {ENTRY_W'(4), ENTRY_W'(3)} : {ENTRY_W'(2), ENTRY_W'(1)};

  wire push   = op_valid && op_ready_i;
  wire make   = op.word.kind == 2'(WORD_MAKE);
  wire count  = op.word.kind == 2'(WORD_COUNT);
  wire walk1  = op.word.kind == 2'(WORD_WALK) && op.word.to == SET_W'(1);
  wire walk2  = op.word.kind == 2'(WORD_WALK) && op.word.to == SET_W'(2);
  wire over2  = left2_q == '0 && (!begun2_q || cut2_q || next2_q == lines_q); // of this candidate
  wire over1  = left1_q == '0 && (cut1_q || next1_q == lines_q);
  wire fresh2 = walk2 && over2; // the second vertex begins again

  function automatic id_t first_of(input line_t line, input lanes_t lanes);
    for (int l = LANES - 1; l >= 0; l--) if (lanes[l]) first_of = line[l*ENTRY_W +: ID_W];
    if (lanes == '0) first_of = '0;
  endfunction

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    asked_q   <= op_valid && !op_ready_i;
    op_q      <= op;
    if (!started_q) begin
      deep_q        <= deep_i;
      lines_q       <= lines_i;
      stalls_q      <= stalls_i;
      written_q     <= '0;
      unit_q        <= 1'b0;
      empty_q       <= 1'b0;
      asked_q       <= 1'b0;
      made_once_q   <= deep_i;
      making_q      <= 1'b0;
      waits_q       <= 1'b0;
      late_q        <= 1'b0;
      cut1_q        <= 1'b0;
      cut2_q        <= 1'b0;
      begun2_q      <= 1'b0;
      next1_q       <= '0;
      next2_q       <= '0;
      made_stalls_q <= '0;
      left1_q       <= '0;
      left2_q       <= '0;
      inner_q       <= 1'b0;
      idle_q        <= '0;
      ended_q       <= '0;
      counts_q      <= '0;
    end else begin
      if (written_q < 3'(WORDS)) written_q <= written_q + 1'b1;
      if (unit_take) unit_q <= 1'b1;
      if (rewind) empty_q <= 1'b0;
      else if (made_i && lines_q == '0) empty_q <= 1'b1;
      late_q <= waits_q && !walked_i;
      if (push && make) begin
        made_once_q <= 1'b1;
        making_q    <= 1'b1;
      end else if (made_i) making_q <= 1'b0;
      made_stalls_q <= making_q && !made_i ? made_stalls_q + 1'b1 : '0;
      if (push && (walk1 || walk2)) begin
        waits_q <= 1'b1;
        inner_q <= walk2;
        if (walk1) next1_q <= next1_q + 1'b1;
        else next2_q <= fresh2 ? 2'd1 : next2_q + 1'b1;
        if (fresh2) begin
          begun2_q <= 1'b1;
          cut2_q   <= 1'b0;
          image1_q <= first_of(line1_q, left1_q);
          left1_q  <= left1_q & (left1_q - 1'b1);
        end
        if (walk1) begun2_q <= 1'b0;
      end else if (walked_i) begin
        waits_q <= 1'b0;
        if (inner_q) begin
          left2_q <= lanes_i;
          line2_q <= line;
          cut2_q  <= cut_i;
        end else begin
          left1_q <= lanes_i;
          line1_q <= line;
          cut1_q  <= cut_i;
        end
      end else if (push && count) begin
        if (deep_q) left2_q <= left2_q & (left2_q - 1'b1);
        else left1_q <= left1_q & (left1_q - 1'b1);
      end
      if (done) ended_q <= ended_q + 1'b1;
      if (push && count) counts_q <= counts_q + 1'b1;
      // Whoever stalls holds the clock.
      if (push || walked_i || made_i || unit_take || done || !unit_q || ended_q != '0) idle_q <= '0;
      else if (!(op_valid && !op_ready_i) && !making_q && !waits_q) idle_q <= idle_q + 1'b1;
    end
  end

  always_comb begin
    if (!started_q) begin
      assume (lines_i != 2'd3);
      // So that the longest search is no longer than the bound.
      if (deep_i || stalls_i) assume (lines_i != 2'd2);
      assume (!(deep_i && stalls_i));
    end else begin
      // What is owed to the walker: answers to what it asked for, and at most a cycle later than at once.
      assume (!(made_i && !making_q) && !(walked_i && !waits_q));
      assume (made_stalls_q == '0 || made_i);
      assume (!asked_q || op_ready_i);
      assume (!late_q || walked_i);
      if (stalls_q) assume (!cut_i);
      else assume (op_ready_i && made_i == making_q && walked_i == waits_q);
      // What the walker owes.
      if (op_valid) begin
        if (make) assert (!made_once_q);
        if (walk1) begin
          assert (!making_q && !waits_q && left1_q == '0 && over2 && !cut1_q && next1_q < lines_q);
          assert (op.at == set_at_t'(1) + set_at_t'(next1_q));
        end
        if (walk2) begin
          assert (deep_q && !waits_q);
          assert (op.at == set_at_t'(1) + set_at_t'(fresh2 ? 2'd0 : next2_q));
          if (fresh2) assert (left1_q != '0 && op.images[1] == first_of(line1_q, left1_q));
          else assert (left2_q == '0 && op.images[1] == image1_q);
        end
        if (count) begin
          assert (!waits_q);
          if (deep_q)
            assert (left2_q != '0 && op.images[1] == image1_q && op.images[2] == first_of(line2_q, left2_q));
          else assert (left1_q != '0 && op.images[1] == first_of(line1_q, left1_q));
        end
        assert (make || count || walk1 || walk2);
        assert (op.images[0] == id_t'(5));
      end
      if (asked_q) assert (op_valid && op == op_q);
      if (done) assert (made_once_q && !making_q && !waits_q && over1 && over2 && ended_q == '0);
      if (mark || (rewind && !unit_take)) assert (!making_q);
      if (unit_q && ended_q == '0 && !done) assert (busy && !idle);
      assert (idle_q < 4'd10); // from a vertex' last candidate to the next one of the vertex before
      cover (push && fresh2 && counts_q == 3'd1); // and on with the vertex before
      cover (done && !deep_q && lines_q == 2'd2 && counts_q == 3'd4);
      cover (done && lines_q == '0);
    end
  end
endmodule

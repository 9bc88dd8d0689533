// Walks through a search plan depth first, assigning an image to one vertex after another. The words of the plan name
// the sets to make once a vertex has its image, and the set whose members are the next vertex's candidates. Other
// blocks make and count sets, in order; the walker keeps the images and the remaining candidates.
//
//   unit ─► root ─► words ─► operations ─►
//             ▲        └─ walk ─► a line of candidates ─► next candidate ─┐
//             └────────────────────────── words of the next level ◄───────┘
//
// The walker waits for the sets it needs, not for counting or listing. A PU has several walkers, each with one unit:
// while one waits, others proceed.
module gramer_set_plan_walker
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_i,
  // Ranges of labels, then words of the plan, before the first unit
  input  logic  word_write_i,
  input  logic [PLAN_AT_W-1:0] word_at_i,
  input  plan_bits_t word_i, // a range of a label, or a word in its low bits
  // Units
  input  logic  unit_valid_i,
  output logic  unit_take_o,
  input  unit_t unit_i,
  // Operations with a complete stored set. The asker adds the limit (bounds and conflicts are masks of the images)
  // and the arbiter the walker's number
  output logic    op_valid_o,
  input  logic    op_ready_i,
  output set_op_t op_o,
  // Made sets
  input  logic    made_i,   // pulse: one is complete
  input  logic    empty_i,  // a set made since the last rewind is empty
  output logic [SET_W-1:0] set_o,
  input  stored_t set_i,    // the set selected in the previous cycle
  output logic    mark_o,   // keep the stored sets while `level_o` and deeper levels are walked
  output logic    rewind_o, // drop the sets stored by `level_o` and deeper levels
  output level_at_t level_o,
  // Requested line of candidates
  input  logic    walked_i,
  input  line_t   walked_line_i,
  input  lanes_t  walked_lanes_i,
  input  logic    walked_cut_i, // it has entries above the limit: later lines have no candidates
  // State and events
  output logic  idle_o, // ready for a unit
  output logic    busy_o,
  output logic    unit_done_o
);

  localparam int unsigned PENDING_W = $clog2(PLAN_WORDS + 1);

  typedef enum logic [3:0] {
    IDLE, FETCH, DECODE, WALK, ENTER, LINE_WORD, LINE, LINE_WAIT, PICK, POP, RESTORE
  } state_e;

  // Position of a level among its candidates.
  typedef struct packed {
    logic     cut;
    lanes_t   left;
    set_end_t last; // exclusive
    set_end_t at;   // current line
    logic [PLAN_AT_W-1:0] start; // address of its words
  } walk_place_t;

  state_e     state_q;
  level_at_t  level_q;
  plan_word_t word_q;
  logic [PLAN_AT_W-1:0] at_q; // of the current word
  entry_t     entry_q [PLACED];
  walk_place_t here_q, back_q, there; // of this level, the one above, the next
  walk_place_t places_q [PLACED];
  lanes_t     less_q, low;          // remaining candidates but the lowest; the lowest
  logic       any_q, tight_q;       // tight: this level has the current word alone
  logic [RANGE_W-1:0] first_q, last_q;
  logic [PENDING_W-1:0] pending_q;  // sets in the making
  logic       settled_q;            // none is, and none was issued in the last cycle
  logic [PLAN_SETS-1:0] making_q;   // superset of the sets in the making
  logic       wanting_q;            // the current word needs one of those
  line_t      line;
  entry_t     picked;
  logic       make, count, goes_on, pushed, nothing, pick, wanting;
  images_t    images;

  // ---------------------------------------------------------------- words

  (* ram_style = "distributed" *) plan_word_t words [1 << PLAN_AT_W];

  typedef struct packed {
    id_t high; // exclusive
    id_t low;
  } range_t;

  (* ram_style = "distributed" *) range_t ranges [PLAN_LABELS];

  logic [PLAN_AT_W-1:0] read_at;
  plan_word_t   word;
  range_t       range_q; // of the label of the current word

  label_range_t label;   // being written

  assign label   = word_i[$bits(label_range_t)-1:0];
  assign word    = words[read_at];
  assign read_at = state_q == LINE_WORD ? here_q.start - 1'b1 : at_q;

  always_ff @(posedge clk_i) begin
    if (word_write_i) words[word_at_i] <= word_i[$bits(plan_word_t)-1:0];
    if (word_write_i && 32'(word_at_i) < PLAN_LABELS)
      ranges[word_at_i[LABEL_AT_W-1:0]] <= '{high: kept_limit(label.high),
                                             low: kept_limit(label.low)};
    if (state_q == FETCH || state_q == LINE_WORD) begin
      word_q    <= word;
      range_q   <= ranges[word.label];
      wanting_q <= word.stored && making_q[word.from];
    end
  end

  assign make  = word_q.kind == 2'(WORD_MAKE);
  assign count = word_q.kind == 2'(WORD_COUNT) || word_q.kind == 2'(WORD_LIST);
  // A further word follows on this level.
  assign goes_on = make || (count && (word_q.term == TERM_FIRST || word_q.term == TERM_SECOND));

  // ---------------------------------------------------------------- operations

  always_comb begin
    for (int l = 0; l < PLACED; l++) images[l] = entry_q[l].id;
    op_o = '{walker: '0, word: word_q, at: set_at_t'(here_q.at), source: entry_q[0],
             low: range_q.low, limit: range_q.high, images: images};
    for (int l = 1; l < PLACED; l++) if (word_q.of == 3'(l)) op_o.source = entry_q[l];
  end

  // Waits here for a set in the making; waiting in a later block would stall other walkers.
  assign wanting    = wanting_q && !settled_q;
  assign op_valid_o = (state_q == DECODE && (make || count) && !wanting) || state_q == LINE;
  assign pushed     = op_valid_o && op_ready_i;
  assign set_o      = word_q.from;

  // ---------------------------------------------------------------- candidates

  (* ram_style = "distributed" *) line_t lines [1 << LEVEL_AT_W];

  assign line = lines[level_q];
  assign low  = here_q.left & ~less_q;

  always_comb begin
    picked = '0;
    for (int l = 0; l < LANES; l++) if (low[l]) picked |= line[l*ENTRY_W +: ENTRY_W];
  end

  always_ff @(posedge clk_i) if (walked_i) lines[level_q] <= walked_line_i;

  // Clips the root's candidates to the unit's range of lines.
  always_comb begin
    there = '{cut: 1'b0, left: '0, last: (SET_AT_W+1)'(set_i.base) + set_i.lines,
              at: (SET_AT_W+1)'(set_i.base), start: at_q + 1'b1};
    if (level_q == '0) begin
      there.at = (SET_AT_W+1)'(set_i.base) + set_end_t'(first_q);
      if (32'(last_q) < 32'(set_i.lines))
        there.last = (SET_AT_W+1)'(set_i.base) + set_end_t'(last_q);
    end
    nothing = empty_i || set_i.lines == '0
              || (level_q == '0 && (32'(first_q) >= 32'(set_i.lines) || first_q >= last_q));
  end

  assign pick        = state_q == PICK && any_q && settled_q;
  assign idle_o      = state_q == IDLE && settled_q;
  assign unit_take_o = idle_o && unit_valid_i;
  assign mark_o      = state_q == ENTER;
  assign rewind_o    = pick || unit_take_o;
  assign level_o     = state_q == IDLE ? '0 : level_q;
  assign busy_o      = state_q != IDLE || !settled_q;

  always_ff @(posedge clk_i) begin
    unit_done_o <= 1'b0;
    if (rst_i) begin
      state_q   <= IDLE;
      level_q   <= '0;
      pending_q <= '0;
      settled_q <= 1'b1;
      making_q  <= '0;
      any_q     <= 1'b0;
      tight_q   <= 1'b0;
    end else begin
      pending_q <= pending_q + PENDING_W'(pushed && make && state_q == DECODE)
                   - PENDING_W'(made_i);
      settled_q <= !(pushed && make) && pending_q == PENDING_W'(made_i);
      if (settled_q) making_q <= '0;
      if (pushed && make && state_q == DECODE) making_q[word_q.to] <= 1'b1;
      unique case (state_q)
        IDLE: if (unit_take_o) begin
          state_q <= FETCH;
          level_q <= '0;
          at_q    <= PLAN_AT_W'(PLAN_LABELS);
        end
        FETCH: state_q <= DECODE;
        DECODE: if (goes_on) begin
          if (pushed) begin
            at_q    <= at_q + 1'b1;
            state_q <= FETCH;
          end
        end else if (count) begin
          tight_q <= at_q == here_q.start;
          if (pushed) state_q <= level_q == '0 ? IDLE : PICK;
          unit_done_o <= pushed && level_q == '0;
        end else if (settled_q) state_q <= WALK;
        WALK: state_q <= nothing ? (level_q == '0 ? IDLE : PICK) : ENTER;
        ENTER: state_q <= LINE;
        LINE_WORD: state_q <= LINE;
        LINE: if (pushed) state_q <= LINE_WAIT;
        LINE_WAIT: if (walked_i) state_q <= PICK;
        PICK: if (any_q) begin
          if (settled_q) begin
            at_q    <= here_q.start;
            state_q <= tight_q ? DECODE : FETCH;
          end
        end else if (here_q.at != here_q.last && !here_q.cut) state_q <= LINE_WORD;
        else state_q <= POP;
        POP: begin
          // The root has a single candidate.
          state_q     <= level_q == 3'd1 ? IDLE : RESTORE;
          unit_done_o <= level_q == 3'd1;
          level_q     <= level_q - 1'b1;
        end
        default: state_q <= PICK; // RESTORE
      endcase
      if (state_q == WALK && nothing) unit_done_o <= level_q == '0;
      if (state_q == WALK && !nothing) level_q <= level_q + 1'b1;
      if (state_q == LINE_WORD || state_q == FETCH || state_q == POP) tight_q <= 1'b0;
      // `any_q` belongs to the current level.
      if (walked_i) any_q <= walked_lanes_i != '0;
      else if (state_q == RESTORE) any_q <= back_q.left != '0;
      else if (pick) any_q <= less_q != '0;
      else if (state_q == WALK && nothing && level_q == '0) any_q <= 1'b0;
    end

    if (unit_take_o) begin
      entry_q[0] <= '{size: unit_i.quarters[SIZE_W-1:0], id: id_t'(unit_i.address)};
      first_q    <= unit_i.first;
      last_q     <= unit_i.last;
      here_q     <= '0;
    end
    for (int l = 1; l < PLACED; l++) if (pick && level_q == level_at_t'(l)) entry_q[l] <= picked;
    if (state_q == WALK && !nothing) begin
      places_q[level_q] <= here_q;
      here_q            <= there;
    end
    // After a request, `at` is the line after the requested one.
    if (state_q == LINE && pushed) here_q.at <= here_q.at + 1'b1;
    if (walked_i) begin
      here_q.left <= walked_lanes_i;
      here_q.cut  <= walked_cut_i;
      less_q      <= walked_lanes_i & (walked_lanes_i - 1'b1);
    end else if (pick) begin
      here_q.left <= less_q;
      less_q      <= less_q & (less_q - 1'b1);
    end
    if (state_q == POP) back_q <= places_q[level_q - 1'b1];
    if (state_q == RESTORE) begin
      here_q <= back_q;
      less_q <= back_q.left & (back_q.left - 1'b1);
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(made_i && pending_q == '0)) else $error("a set that nobody asked for");
    assert (!(walked_i && state_q != LINE_WAIT)) else $error("a line that nobody asked for");
    assert (32'(level_q) < PLACED) else $error("a plan of more levels than there are");
    assert (state_q != PICK || any_q == (here_q.left != '0)) else $error("candidates are missed");
    assert (!(mark_o && pending_q != '0)) else $error("a mark while a set is made");
  end
`endif

endmodule

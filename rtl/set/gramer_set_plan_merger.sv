// Sets of a search plan: a stored set and a streamed list are merged line by line, in the order of ids. A step is a
// pair of lines, a cycle each; the line whose last id is lower gives way to its next one. What matches is
// found by the intersector; members that are left go on with their line, once it has met all that may
// match. A list without a stored set is copied, a stored set without a list is gone through.
//
//   op ─► first line ─┬─► step ─► read of the stored line ─► intersector ─► members ─► out
//   lines of the list ┘                                  └─► range, images ─┘
//
// Nothing waits behind the step: whoever takes members takes a line each cycle. Members that are listed take longer,
// so a step of theirs waits until there is room for all that are on their way.
module gramer_set_plan_merger
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Operations
  input  logic    valid_i,
  output logic    pop_o,
  input  set_op_t op_i,
  input  logic    room_i,   // for members that are listed
  // Lines of their lists
  input  logic    line_valid_i,
  output logic    line_ready_o,
  input  line_t   line_i,
  input  meta_t   meta_i,
  // Stored sets: the one that `set_o` names, and the last id of a line, at once
  output logic [SET_W-1:0] set_o,
  input  stored_t set_i,
  output set_at_t max_at_o,
  input  id_t     max_i,
  input  logic    made_i,   // pulse: a set is complete
  output logic    read_o,
  output set_at_t read_at_o,
  input  line_t   held_i,   // two cycles after the read
  // Intersector
  output logic    step_valid_o,
  output step_t   step_o,
  output line_t   streamed_o,
  input  lanes_t  match_i,  // two cycles after the step
  // Members of a line, or the end of an operation
  output logic       valid_o,
  output line_t      line_o,
  output lanes_t     lanes_o,
  output plan_step_t plan_step_o,
  output logic       cut_o, // entries of the line are above the limit
  output logic       busy_o
);

  // ---------------------------------------------------------------- streamed lines

  logic   a_valid_q, a_last_q, b_valid_q, b_last_q, b_take;
  line_t  a_line_q, b_line_q;
  lanes_t a_lanes_q, b_lanes_q;
  id_t    a_high, b_high_q;

  assign line_ready_o = !a_valid_q || !b_valid_q || b_take;

  // The lanes in use follow each other; a line of padding alone counts as the lowest.
  always_comb begin
    a_high = '0;
    for (int l = 0; l < LANES; l++)
      if (a_lanes_q[l] && (l == LANES - 1 || !a_lanes_q[(l + 1) % LANES]))
        a_high |= a_line_q[l*ENTRY_W +: ID_W];
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
    end else begin
      if (line_ready_o) a_valid_q <= line_valid_i;
      if (!b_valid_q || b_take) b_valid_q <= a_valid_q;
    end
    if (line_ready_o) begin
      a_line_q <= line_i;
      a_last_q <= meta_i.last;
      for (int l = 0; l < LANES; l++)
        a_lanes_q[l] <= line_i[l*ENTRY_W +: ID_W] != '1
                        && 2'(l / QUARTER) >= meta_i.low && 2'(l / QUARTER) <= meta_i.high;
    end
    if (!b_valid_q || b_take) begin
      b_line_q  <= a_line_q;
      b_lanes_q <= a_lanes_q;
      b_last_q  <= a_last_q;
      b_high_q  <= a_high;
    end
  end

  // ---------------------------------------------------------------- stored lines

  // h: the line in hand; m, n: last ids of the ones after it, fetched ahead.
  logic       h_valid_q, h_end_q, m_valid_q, m_end_q, n_valid_q, n_last_q;
  set_at_t    h_at_q, next_q, last_q; // next: to be fetched
  logic       left_q;                 // there is one to be fetched
  id_t        h_max_q, m_max_q, n_max_q;
  logic       start, advance, h_load, m_load, n_load;

  // ---------------------------------------------------------------- operations

  typedef enum logic [2:0] { IDLE, MERGE, COPY, THROUGH, DRAIN, FINISH } state_e;

  state_e     state_q, ended;
  set_op_t    op_q;
  logic       go, emit, low, high, walks, needs, none, finishes, waits;
  logic [SET_W:0] making_q; // sets that are not complete

  assign walks     = op_i.word.kind == 2'(WORD_WALK);
  assign needs     = op_i.word.stored && !walks;
  assign start     = state_q == IDLE && valid_i && !(needs && making_q != '0)
                     && !(op_i.word.kind == 2'(WORD_LIST) && !room_i);
  assign waits     = op_q.word.kind == 2'(WORD_LIST) && !room_i;
  assign pop_o     = start;
  assign set_o     = op_i.word.from;
  assign none      = needs && set_i.lines == '0;
  assign max_at_o  = next_q;

  assign low  = h_max_q <= b_high_q;
  assign high = b_high_q <= h_max_q;

  always_comb begin
    go      = 1'b0;
    emit    = 1'b0;
    advance = 1'b0;
    b_take  = 1'b0;
    unique case (state_q)
      MERGE: begin
        go      = b_valid_q && h_valid_q && !waits;
        emit    = low || b_last_q;
        advance = go && emit && !h_end_q;
        b_take  = go && high;
      end
      COPY: begin
        go      = b_valid_q && !waits;
        emit    = 1'b1;
        b_take  = go;
      end
      THROUGH: begin
        go      = h_valid_q && !waits;
        emit    = 1'b1;
        advance = go && !h_end_q;
      end
      DRAIN: b_take = b_valid_q;
      default: ;
    endcase
  end

  // After the last step of an operation. Sets that are stored or listed, and pairs, want a word of the end.
  assign finishes = op_q.word.kind == 2'(WORD_MAKE) || op_q.word.kind == 2'(WORD_LIST)
                    || (op_q.word.kind == 2'(WORD_COUNT) && op_q.word.pairs);
  assign ended    = finishes ? FINISH : IDLE;

  assign h_load = m_valid_q && (!h_valid_q || advance);
  assign m_load = n_valid_q && (!m_valid_q || h_load);
  assign n_load = left_q && (!n_valid_q || m_load);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q   <= IDLE;
      making_q  <= '0;
      h_valid_q <= 1'b0;
      m_valid_q <= 1'b0;
      n_valid_q <= 1'b0;
      left_q    <= 1'b0;
    end else begin
      making_q <= making_q + (SET_W+1)'(start && op_i.word.kind == 2'(WORD_MAKE))
                  - (SET_W+1)'(made_i);
      unique case (state_q)
        IDLE: if (start) begin
          if (walks) state_q <= THROUGH;
          else if (!op_i.word.stored) state_q <= COPY;
          else if (none)
            state_q <= op_i.word.streams ? DRAIN
                       : op_i.word.kind == 2'(WORD_MAKE) || op_i.word.kind == 2'(WORD_LIST) ? FINISH
                       : IDLE;
          else state_q <= op_i.word.streams ? MERGE : THROUGH;
        end
        MERGE: if (go && emit && h_end_q)
          state_q <= high && b_last_q ? ended : DRAIN;
        else if (go && high && b_last_q)
          state_q <= op_q.word.difference ? THROUGH : ended;
        COPY: if (go && b_last_q) state_q <= ended;
        THROUGH: if (go && h_end_q) state_q <= ended;
        DRAIN: if (b_valid_q && b_last_q) state_q <= ended;
        default: state_q <= IDLE; // FINISH
      endcase
      if (start) begin
        h_valid_q <= walks || (needs && !none);
        m_valid_q <= 1'b0;
        n_valid_q <= 1'b0;
        left_q    <= needs && set_i.lines > set_end_t'(1);
      end else begin
        h_valid_q <= h_load || (h_valid_q && !advance);
        m_valid_q <= m_load || (m_valid_q && !h_load);
        n_valid_q <= n_load || (n_valid_q && !m_load);
        if (n_load && next_q == last_q) left_q <= 1'b0;
      end
    end
    if (start) begin
      op_q    <= op_i;
      h_at_q  <= walks ? op_i.at : set_i.base;
      h_max_q <= set_i.first_max;
      h_end_q <= walks || set_i.lines == set_end_t'(1) || set_i.first_max >= op_i.limit;
      next_q  <= set_i.base + 1'b1;
      last_q  <= set_i.base + set_at_t'(set_i.lines) - 1'b1;
    end else begin
      if (advance) h_at_q <= h_at_q + 1'b1;
      if (h_load) begin
        h_max_q <= m_max_q;
        h_end_q <= m_end_q;
      end
      if (m_load) begin
        m_max_q <= n_max_q;
        m_end_q <= n_last_q || n_max_q >= op_q.limit;
      end
      if (n_load) begin
        n_max_q  <= max_i;
        n_last_q <= next_q == last_q;
        next_q   <= next_q + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- e, f: the stored line is read

  logic       e_valid_q, f_valid_q;
  line_t      e_line_q, f_line_q;
  lanes_t     e_lanes_q, f_lanes_q;
  plan_step_t e_step_q, f_step_q;

  assign read_o    = go && state_q != COPY;
  assign read_at_o = h_at_q;

  always_ff @(posedge clk_i) begin
    e_valid_q <= !rst_i && (go || state_q == FINISH);
    f_valid_q <= !rst_i && e_valid_q;
    e_line_q  <= b_line_q;
    e_lanes_q <= b_lanes_q;
    e_step_q  <= '{
      kind: op_q.word.kind, to: op_q.word.to, pairs: op_q.word.pairs,
      meet: op_q.word.stored && op_q.word.streams && !op_q.word.difference,
      compare: state_q == MERGE, copy: state_q == COPY, emit: go && emit,
      ends: state_q == FINISH, low: op_q.low, limit: op_q.limit, images: op_q.images
    };
    f_line_q  <= e_line_q;
    f_lanes_q <= e_lanes_q;
    f_step_q  <= e_step_q;
  end

  assign step_valid_o = f_valid_q;
  assign streamed_o   = f_line_q;

  always_comb begin
    step_o          = '0;
    step_o.compare  = f_step_q.compare;
    step_o.held     = '1;
    step_o.streamed = f_lanes_q;
  end

  // ---------------------------------------------------------------- g, i: range and images beside the intersector

  logic       g_valid_q, i_valid_q;
  line_t      g_line_q, i_line_q;
  lanes_t     g_lanes_q, i_lanes_q, i_above_q, i_below_q, match_q, matched, keep;
  plan_step_t g_step_q, i_step_q;
  logic [PLACED-1:0] i_equal_q [LANES];

  always_ff @(posedge clk_i) begin
    g_valid_q <= !rst_i && f_valid_q;
    g_line_q  <= f_step_q.copy ? f_line_q : held_i;
    g_lanes_q <= f_step_q.copy ? f_lanes_q : '1;
    g_step_q  <= f_step_q;
    i_valid_q <= !rst_i && g_valid_q;
    i_line_q  <= g_line_q;
    i_step_q  <= g_step_q;
    for (int l = 0; l < LANES; l++) begin
      i_lanes_q[l] <= g_lanes_q[l] && g_line_q[l*ENTRY_W +: ID_W] != '1;
      i_above_q[l] <= g_line_q[l*ENTRY_W +: ID_W] >= g_step_q.low;
      i_below_q[l] <= g_line_q[l*ENTRY_W +: ID_W] < g_step_q.limit;
      for (int v = 0; v < PLACED; v++)
        i_equal_q[l][v] <= g_line_q[l*ENTRY_W +: ID_W] == g_step_q.images[v];
    end
  end

  // What a stored line met in the steps before, and in this one.
  assign matched = match_q | (i_step_q.compare ? match_i : '0);

  always_comb
    for (int l = 0; l < LANES; l++)
      keep[l] = i_lanes_q[l] && i_above_q[l] && i_below_q[l] && i_equal_q[l] == '0
                && matched[l] == i_step_q.meet;

  always_ff @(posedge clk_i) begin
    if (rst_i) match_q <= '0;
    else if (i_valid_q) match_q <= i_step_q.emit || i_step_q.ends ? '0 : matched;
    valid_o     <= !rst_i && i_valid_q && (i_step_q.emit || i_step_q.ends);
    line_o      <= i_line_q;
    lanes_o     <= i_step_q.emit ? keep : '0;
    plan_step_o <= i_step_q;
    cut_o       <= (i_lanes_q & ~i_below_q) != '0;
  end

  assign busy_o = state_q != IDLE || e_valid_q || f_valid_q || g_valid_q || i_valid_q || valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(line_valid_i && line_ready_o && state_q == IDLE && !valid_i))
      else $error("a line without an operation");
    assert (!(made_i && making_q == '0)) else $error("a set is made twice");
    assert (!(start && needs && making_q != '0)) else $error("a set is used before it is there");
    assert (!(h_valid_q && m_valid_q && h_max_q >= m_max_q && !h_end_q && state_q == MERGE))
      else $error("a stored set is not in order");
    assert (!(state_q == IDLE && match_q != '0 && !e_valid_q && !f_valid_q && !g_valid_q
              && !i_valid_q)) else $error("matches are left over");
  end
`endif

endmodule

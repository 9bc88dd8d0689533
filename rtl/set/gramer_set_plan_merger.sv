// Sets of a search plan: merges a stored set and a streamed list line by line, in the order of ids. A step is a pair of
// lines, one per cycle; the line with the lower last id advances. The intersector finds matches; for a difference,
// the members of a line leave once it has met all lines that may match. A list without a stored set is copied, a
// stored set without a list is traversed.
//
//   op ─► its set ─► first line ─┬─► step ─► read of the stored line ─► intersector ─► members ─► out
//   lines of the list ───────────┘                                  └─► range, images ─┘
//
// No back-pressure behind the step: receivers accept one line of members per cycle. Listing takes longer, so a step of
// a listing operation waits until there is room for all members in flight.
module gramer_set_plan_merger
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Operations, whose stored sets are complete
  input  logic    valid_i,
  output logic    pop_o,
  input  set_op_t op_i,
  input  logic    room_i,   // for listed members
  // Lines of their lists
  input  logic    line_valid_i,
  output logic    line_ready_o,
  input  line_t   line_i,
  input  meta_t   meta_i,
  // Stored sets: the set `set_o` and the last id of a line, in the same cycle
  output plan_walker_t set_walker_o,
  output logic [SET_W-1:0] set_o,
  input  stored_t set_i,
  output set_at_t max_at_o,
  input  id_t     max_i,
  output logic    read_o,
  output set_at_t read_at_o,
  input  line_t   held_i,   // two cycles after the read
  // Intersector
  output logic    step_valid_o,
  output step_t   step_o,
  output line_t   streamed_o,
  input  lanes_t  match_i,  // two cycles after the step
  // Members of a line, and ends of operations; an end may coincide with members of the next operation
  output logic       valid_o,
  output line_t      line_o,
  output lanes_t     lanes_o,
  output plan_step_t plan_step_o,
  output logic       ends_o,
  output plan_end_t  end_o,
  output logic       cut_o, // entries of the line are above the limit
  output logic       busy_o,
  output plan_events_t events_o // use of the previous cycle
);

  // ---------------------------------------------------------------- streamed lines

  logic   a_valid_q, a_last_q, b_valid_q, b_last_q, b_take;
  line_t  a_line_q, b_line_q;
  lanes_t a_lanes_q, b_lanes_q;
  id_t    a_high, b_high_q;

  assign line_ready_o = !a_valid_q || !b_valid_q || b_take;

  // The lanes in use are contiguous; a line of padding alone counts as the lowest.
  always_comb begin
    a_high = '0;
    for (int l = 0; l < LANES; l++)
      if (a_lanes_q[l] && (l == LANES - 1 || !a_lanes_q[(l + 1) % LANES]))
        a_high |= a_line_q[l*ENTRY_W +: KEPT_ID_W];
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
        a_lanes_q[l] <= line_i[l*ENTRY_W +: KEPT_ID_W] != '1
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

  // h: the current line; m: the one after it, with its last id prefetched; next: the one after those, whose last id
  // is read combinationally and which may be current in the next cycle.
  logic       h_end_q, m_valid_q, m_end_q, next_end;
  set_at_t    h_at_q, next_q, last_q;
  logic       left_q;                 // a next line exists
  id_t        h_max_q, m_max_q;
  logic       start, advance, m_load, next_take;

  // ---------------------------------------------------------------- the next operation, and its set

  logic    walks, needs, p_valid_q, p_end_q, p_more_q, p_none_q;
  set_op_t p_op_q;
  set_at_t p_at_q, p_next_q, p_last_q;
  id_t     p_max_q;

  assign walks        = op_i.word.kind == 2'(WORD_WALK);
  assign needs        = op_i.word.stored && !walks;
  assign pop_o        = valid_i && (!p_valid_q || start);
  assign set_o        = op_i.word.from;
  assign set_walker_o = op_i.walker;

  always_ff @(posedge clk_i) begin
    p_valid_q <= !rst_i && (pop_o || (p_valid_q && !start));
    if (pop_o) begin
      p_op_q   <= op_i;
      p_at_q   <= walks ? op_i.at : set_i.base;
      p_max_q  <= set_i.first_max;
      p_none_q <= needs && set_i.lines == '0;
      p_end_q  <= walks || set_i.lines == set_end_t'(1) || set_i.first_max >= op_i.limit;
      p_more_q <= needs && set_i.lines > set_end_t'(1);
      p_next_q <= set_i.base + 1'b1;
      p_last_q <= set_i.base + set_at_t'(set_i.lines) - 1'b1;
    end
  end

  // ---------------------------------------------------------------- operations

  typedef enum logic [2:0] { IDLE, MERGE, COPY, THROUGH, DRAIN } state_e;

  state_e     state_q, begins;
  set_op_t    op_q;
  logic       go, emit, low, high, done, waits, wants_end, finishes_q, p_empty, owes, owed_q;
  plan_end_t  owed_of, owed_of_q;

  // Start of an operation. Stored and listed sets, pairs and terms need an end; an empty set has no
  // pairs.
  assign wants_end = p_op_q.word.kind == 2'(WORD_MAKE) || p_op_q.word.kind == 2'(WORD_LIST)
                     || (p_op_q.word.kind == 2'(WORD_COUNT) && p_op_q.word.term != TERM_SUM);

  assign p_empty   = p_none_q && !p_op_q.word.streams; // it consists of an end alone, or of nothing

  always_comb begin
    if (p_op_q.word.kind == 2'(WORD_WALK)) begins = THROUGH;
    else if (!p_op_q.word.stored) begins = COPY;
    else if (p_none_q) begins = p_op_q.word.streams ? DRAIN : IDLE;
    else begins = p_op_q.word.streams ? MERGE : THROUGH;
  end

  // An operation starts in the cycle of the previous one's last step. If that has an end, one cycle later, the next
  // one must be of another kind, so that a receiver gets one item per cycle; counting accepts both.
  assign start    = p_valid_q
                    && (state_q == IDLE
                        || (done && !(finishes_q
                                      && (p_empty || (p_op_q.word.kind == op_q.word.kind
                                                      && p_op_q.word.kind != 2'(WORD_COUNT))))))
                    && !(p_op_q.word.kind == 2'(WORD_LIST) && !room_i);
  assign owes     = (done && finishes_q) || (start && p_empty && wants_end);

  always_comb begin
    owed_of = '{walker: op_q.walker, kind: op_q.word.kind, term: op_q.word.term, to: op_q.word.to};
    if (!(done && finishes_q))
      owed_of = '{walker: p_op_q.walker, kind: p_op_q.word.kind, term: p_op_q.word.term,
                  to: p_op_q.word.to};
  end

  assign waits    = op_q.word.kind == 2'(WORD_LIST) && !room_i;
  assign max_at_o = next_q;

  assign low  = h_max_q <= b_high_q;
  assign high = b_high_q <= h_max_q;

  always_comb begin
    go      = 1'b0;
    emit    = 1'b0;
    advance = 1'b0;
    b_take  = 1'b0;
    done    = 1'b0; // after this step
    unique case (state_q)
      MERGE: begin
        go      = b_valid_q && !waits;
        emit    = low || b_last_q;
        advance = go && emit && !h_end_q;
        b_take  = go && (high || (emit && h_end_q));
        done    = go && b_last_q && (h_end_q || (high && !op_q.word.difference));
      end
      COPY: begin
        go      = b_valid_q && !waits;
        emit    = 1'b1;
        b_take  = go;
        done    = go && b_last_q;
      end
      THROUGH: begin
        go      = !waits;
        emit    = 1'b1;
        advance = go && !h_end_q;
        done    = go && h_end_q;
      end
      DRAIN: begin
        b_take  = b_valid_q;
        done    = b_valid_q && b_last_q;
      end
      default: ;
    endcase
  end

  assign next_take = left_q && (!m_valid_q || advance);
  assign m_load    = next_take && (m_valid_q || !advance);
  assign next_end  = next_q == last_q || max_i >= op_q.limit;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q   <= IDLE;
      owed_q    <= 1'b0;
      m_valid_q <= 1'b0;
      left_q    <= 1'b0;
    end else begin
      if (start) state_q <= begins;
      else unique case (state_q)
        MERGE: if (done) state_q <= IDLE;
        else if (go && emit && h_end_q) state_q <= DRAIN;
        else if (go && high && b_last_q) state_q <= THROUGH; // difference
        COPY, THROUGH, DRAIN: if (done) state_q <= IDLE;
        default: ;
      endcase
      owed_q <= owes;
      if (start) begin
        m_valid_q <= 1'b0;
        left_q    <= p_more_q;
      end else begin
        m_valid_q <= m_load || (m_valid_q && !advance);
        if (next_take && next_q == last_q) left_q <= 1'b0;
      end
    end
    owed_of_q <= owed_of;
    if (start) begin
      op_q       <= p_op_q;
      finishes_q <= wants_end || (p_op_q.word.kind == 2'(WORD_COUNT) && p_op_q.word.pairs);
      h_at_q     <= p_at_q;
      h_max_q    <= p_max_q;
      h_end_q    <= p_end_q;
      next_q     <= p_next_q;
      last_q     <= p_last_q;
    end else begin
      if (advance) begin
        h_at_q  <= h_at_q + 1'b1;
        h_max_q <= m_valid_q ? m_max_q : max_i;
        h_end_q <= m_valid_q ? m_end_q : next_end;
      end
      if (m_load) begin
        m_max_q <= max_i;
        m_end_q <= next_end;
      end
      if (next_take) next_q <= next_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- e, f: read of the stored line

  logic       e_valid_q, f_valid_q;
  line_t      e_line_q, f_line_q;
  lanes_t     e_lanes_q, f_lanes_q;
  plan_step_t e_step_q, f_step_q;

  assign read_o    = go && state_q != COPY;
  assign read_at_o = h_at_q;

  always_ff @(posedge clk_i) begin
    e_valid_q <= !rst_i && go;
    f_valid_q <= !rst_i && e_valid_q;
    e_line_q  <= b_line_q;
    e_lanes_q <= b_lanes_q;
    e_step_q  <= '{
      walker: op_q.walker, kind: op_q.word.kind, to: op_q.word.to, pairs: op_q.word.pairs,
      kept: op_q.word.kind == 2'(WORD_COUNT) && finishes_q,
      meet: op_q.word.stored && op_q.word.streams && !op_q.word.difference,
      compare: state_q == MERGE, copy: state_q == COPY, emit: emit, low: op_q.low,
      limit: op_q.limit, images: op_q.images
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

  // ---------------------------------------------------------------- g, i: range and images, during intersection

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
      i_lanes_q[l] <= g_lanes_q[l] && g_line_q[l*ENTRY_W +: KEPT_ID_W] != '1;
      i_above_q[l] <= g_line_q[l*ENTRY_W +: KEPT_ID_W] >= g_step_q.low;
      i_below_q[l] <= g_line_q[l*ENTRY_W +: KEPT_ID_W] < g_step_q.limit;
      for (int v = 0; v < PLACED; v++)
        i_equal_q[l][v] <= g_line_q[l*ENTRY_W +: KEPT_ID_W] == g_step_q.images[v];
    end
  end

  // Matches of a stored line, accumulated over its steps.
  assign matched = match_q | (i_step_q.compare ? match_i : '0);

  always_comb
    for (int l = 0; l < LANES; l++)
      keep[l] = i_lanes_q[l] && i_above_q[l] && i_below_q[l] && i_equal_q[l] == '0
                && matched[l] == i_step_q.meet;

  always_ff @(posedge clk_i) begin
    if (rst_i) match_q <= '0;
    else if (i_valid_q) match_q <= i_step_q.emit ? '0 : matched;
    valid_o     <= !rst_i && i_valid_q && i_step_q.emit;
    line_o      <= i_line_q;
    lanes_o     <= keep;
    plan_step_o <= i_step_q;
    cut_o       <= (i_lanes_q & ~i_below_q) != '0;
  end

  // ---------------------------------------------------------------- ends, behind the members

  localparam int unsigned STAGES = 4; // e, f, g, i

  logic [STAGES-1:0] ends_q;
  plan_end_t         end_q [STAGES];

  always_ff @(posedge clk_i) begin
    ends_q   <= rst_i ? '0 : STAGES'({ends_q, owed_q});
    end_q[0] <= owed_of_q;
    for (int s = 1; s < STAGES; s++) end_q[s] <= end_q[s-1];
    ends_o <= !rst_i && ends_q[STAGES-1];
    end_o  <= end_q[STAGES-1];
  end

  assign busy_o = state_q != IDLE || p_valid_q || e_valid_q || f_valid_q || g_valid_q || i_valid_q
                  || valid_o || owed_q || ends_q != '0 || ends_o;

  // At most one of these per cycle; none without an operation or while waiting for room for records.
  always_ff @(posedge clk_i) begin
    events_o.step <= !rst_i && go;
    events_o.pass <= !rst_i && ((state_q == IDLE && owed_q) || (state_q == DRAIN && b_valid_q));
    events_o.line <= !rst_i && !waits && !b_valid_q
                     && (state_q == COPY || state_q == DRAIN || state_q == MERGE);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(line_valid_i && line_ready_o && state_q == IDLE && !p_valid_q && !valid_i))
      else $error("a line without an operation");
    assert (!(advance && !m_valid_q && !left_q)) else $error("a stored set ends too early");
    assert (!(m_valid_q && h_max_q >= m_max_q && !h_end_q && state_q == MERGE))
      else $error("a stored set is not in order");
    assert (!(ends_o && valid_o && end_o.kind == plan_step_o.kind && end_o.kind != 2'(WORD_COUNT)))
      else $error("members beside an end of their kind");
    assert (!(done && finishes_q && start && p_empty && wants_end)) else $error("two ends at once");
    assert (!(state_q == IDLE && match_q != '0 && !e_valid_q && !f_valid_q && !g_valid_q
              && !i_valid_q)) else $error("matches are left over");
  end
`endif

endmodule

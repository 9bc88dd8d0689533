// Connected sets of three vertices for 5-motifs, by their middle vertex b (docs/reference/set-core.md, section
// 5-motifs). The neighbours of b are marked in the map. For each neighbour a of b, the neighbours of a are tagged
// there; then the lists of all neighbours c of b after a are looked up.
//
//   unit ─► lines with its a ─► a ─► second pass over b's list ─► c ─┐
//                                                       b, a, c ─► their lines ─► port
//   port ─► lanes that count (gramer_set_triple_lines) ─► map
//
// Lines of b's list are prefetched, also for the next a and the next unit. All lines are answered in order, so requests
// need no tags, and roots follow each other in the map.
module gramer_set_triples
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  // Units, from a register
  input  logic   unit_valid_i,
  output logic   unit_take_o,
  input  unit_t  unit_i,
  // Lines of the image
  output logic   issue_valid_o,
  input  logic   issue_ready_i,
  output line_at_t issue_line_o,
  output meta_t  issue_meta_o,
  input  logic   line_valid_i,
  output logic   line_free_o,  // a line is taken if this is set or map_ready_i is
  input  line_t  line_i,
  input  meta_t  meta_i,
  // Map
  output logic   map_valid_o,
  input  logic   map_ready_i,
  output line_t  map_line_o,
  output lanes_t map_lanes_o,
  output meta_t  map_meta_o,
  output list_t  map_list_o,
  output wedge_t map_wedge_o,
  output lanes_t map_counted_o,
  // State and events
  output logic   busy_o,
  output logic   list_o // a list is streamed
);

  localparam int unsigned QUARTER_W = $clog2(LINE_QUARTERS);
  localparam int unsigned AHEAD     = 4; // prefetched lines of roots' lists, per pass
  localparam int unsigned AHEAD_W   = $clog2(AHEAD) + 1;

  // Lanes but the lowest.
  function automatic lanes_t less_of(input lanes_t lanes);
    return lanes & (lanes - 1'b1);
  endfunction

  // ---------------------------------------------------------------- lines with the a of a unit

  // A unit: the lines of its list with its a's, from line `at` on.
  typedef struct packed {
    id_t               id;
    logic [SIZE_W-1:0] size;
    line_at_t          at;
  } known_t;

  known_t     known, own;
  logic       known_full, known_valid, known_pop;
  logic       o_valid_q, o_take, o_issued, o_room, o_first_q, o_last_q;
  line_at_t   o_line_q, o_left_q, own_last, own_more;
  logic [QUARTER_W-1:0] o_low_q, o_high_q;
  logic [AHEAD_W-1:0]   o_room_q;
  logic       head_pop;
  logic [SIZE_W-1:0]    own_size;
  logic [RANGE_W-1:0]   own_end; // last quarter of the range
  logic                 own_all;

  assign unit_take_o = o_take;
  assign o_take      = unit_valid_i && !o_valid_q && !known_full;
  assign own_size    = unit_i.quarters[SIZE_W-1:0];
  assign own_all     = unit_i.last == RANGE_W'(LAST_ALL);
  assign own_end     = unit_i.last - 1'b1;
  assign own         = '{id: id_t'(unit_i.address), size: own_size,
                         at: line_at_t'(unit_i.first[RANGE_W-1:QUARTER_W])};
  assign own_more    = more_lines(own_size, unit_i.address[QUARTER_W-1:0]);
  assign own_last    = own_all ? own_more : line_at_t'(own_end[RANGE_W-1:QUARTER_W]);
  assign o_room      = o_room_q != '0;
  assign o_issued    = o_valid_q && o_room && issue_ready_i;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      o_valid_q   <= 1'b0;
      o_room_q    <= AHEAD_W'(AHEAD);
    end else begin
      if (o_take) o_valid_q <= 1'b1;
      else if (o_issued && o_last_q) o_valid_q <= 1'b0;
      o_room_q <= o_room_q + AHEAD_W'(head_pop) - AHEAD_W'(o_issued);
    end
    if (o_take) begin
      o_line_q  <= line_of(id_t'(unit_i.address)) + own.at;
      o_left_q  <= own_last - own.at;
      // The selection comes last, since its inputs arrive late.
      o_last_q  <= own_all ? own_more == own.at
                           : own_end[RANGE_W-1:QUARTER_W] == unit_i.first[RANGE_W-1:QUARTER_W];
      // A part other than the first starts within its line.
      o_low_q   <= unit_i.first == '0 ? unit_i.address[QUARTER_W-1:0]
                                      : unit_i.first[QUARTER_W-1:0];
      o_high_q  <= own_all ? quarter_at_end(own_size, unit_i.address[QUARTER_W-1:0])
                           : own_end[QUARTER_W-1:0];
      o_first_q <= 1'b1;
    end else if (o_issued) begin
      o_line_q  <= o_line_q + 1'b1;
      o_left_q  <= o_left_q - 1'b1;
      o_last_q  <= o_left_q == line_at_t'(1);
      o_low_q   <= '0;
      o_first_q <= 1'b0;
    end
  end

  gramer_fifo #(.WIDTH($bits(known_t)), .DEPTH(WEDGE_UNITS)) i_known (
    .clk_i, .rst_i,
    .push_i (o_take), .data_i (own), .full_o (known_full),
    .pop_i (known_pop), .valid_o (known_valid), .data_o (known)
  );

  // ---------------------------------------------------------------- each a

  // Arrived line of a root's list.
  typedef struct packed {
    line_t  line;
    lanes_t lanes;
    logic   begins; // the first one of a unit
    logic   ends;   // the last one
  } visit_t;

  // Next step: start of a root, one of its a's, its end.
  typedef enum logic [1:0] { BEGIN_, NEAR, END_ } kind_e;

  typedef struct packed {
    kind_e             kind;
    id_t               id;
    logic [SIZE_W-1:0] size;
    line_at_t          at; // its line of the list
  } step_near_t;

  typedef enum logic [1:0] { TAKE, LANES_, CLOSE } near_e;

  near_e      near_q;
  visit_t     came, head, hand_q;
  logic       came_near, came_later, head_valid, begun_q, n_push, n_full, n_valid, n_pop;
  lanes_t     near_left_q, near_less_q, near_low; // less: all but the lowest
  logic       near_any_q;
  line_at_t   near_at_q;
  step_near_t n, s;
  entry_t     near_entry;

  gramer_fifo #(.WIDTH($bits(visit_t)), .DEPTH(AHEAD)) i_heads (
    .clk_i, .rst_i,
    .push_i (came_near), .data_i (came), .full_o (),
    .pop_i (head_pop), .valid_o (head_valid), .data_o (head)
  );

  assign near_low  = near_left_q & ~near_less_q;
  assign head_pop  = near_q == TAKE && head_valid && (!head.begins || begun_q);
  assign n_push    = !n_full && (near_q == CLOSE || (near_q == LANES_ && near_any_q)
                                 || (near_q == TAKE && head_valid && head.begins && !begun_q));
  assign known_pop = near_q == CLOSE && n_push;

  always_comb begin
    near_entry = '0;
    for (int l = 0; l < LANES; l++)
      if (near_low[l]) near_entry |= hand_q.line[l*ENTRY_W +: ENTRY_W];
    unique case (near_q)
      TAKE:    n = '{kind: BEGIN_, id: known.id, size: known.size, at: '0};
      LANES_:  n = '{kind: NEAR, id: id_t'(near_entry.id[WEDGE_ID_W-1:0]), size: near_entry.size,
                     at: near_at_q};
      default: n = '{kind: END_, id: '0, size: '0, at: '0};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      near_q  <= TAKE;
      begun_q <= 1'b0;
    end else unique case (near_q)
      TAKE: begin
        if (head_pop) near_q <= LANES_;
        if (n_push) begun_q <= 1'b1;
      end
      LANES_: if (!near_any_q) near_q <= hand_q.ends ? CLOSE : TAKE;
      default: if (n_push) begin
        near_q  <= TAKE;
        begun_q <= 1'b0;
      end
    endcase
    if (head_pop) begin
      hand_q      <= head;
      near_left_q <= head.lanes;
      near_less_q <= less_of(head.lanes);
      near_any_q  <= head.lanes != '0;
      near_at_q   <= head.begins ? known.at : near_at_q + 1'b1;
    end else if (n_push && near_q == LANES_) begin
      near_left_q <= near_less_q;
      near_less_q <= less_of(near_less_q);
      near_any_q  <= near_less_q != '0;
    end
  end

  gramer_fifo #(.WIDTH($bits(step_near_t)), .DEPTH(4)) i_near (
    .clk_i, .rst_i,
    .push_i (n_push), .data_i (n), .full_o (n_full),
    .pop_i (n_pop), .valid_o (n_valid), .data_o (s)
  );

  // ---------------------------------------------------------------- lines of b's list behind each a

  logic       i_valid_q, i_issued, i_room, i_last_q, t_full, t_valid, t_pop, later_pop;
  line_at_t   i_line_q, i_left_q, root_line_q, root_more_q;
  logic [QUARTER_W-1:0] i_low_q, root_low_q, root_high_q;
  logic [AHEAD_W-1:0]   i_room_q;
  step_near_t t;

  assign n_pop    = n_valid && !t_full && !i_valid_q;
  assign i_room   = i_room_q != '0;
  assign i_issued = i_valid_q && i_room && !(o_valid_q && o_room) && issue_ready_i;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      i_valid_q <= 1'b0;
      i_room_q  <= AHEAD_W'(AHEAD);
    end else begin
      if (n_pop && s.kind == NEAR) i_valid_q <= 1'b1;
      else if (i_issued && i_last_q) i_valid_q <= 1'b0;
      i_room_q <= i_room_q + AHEAD_W'(later_pop) - AHEAD_W'(i_issued);
    end
    if (n_pop && s.kind == BEGIN_) begin
      root_line_q <= line_of(s.id);
      root_low_q  <= s.id[QUARTER_W-1:0];
      root_more_q <= more_lines(s.size, s.id[QUARTER_W-1:0]);
      root_high_q <= quarter_at_end(s.size, s.id[QUARTER_W-1:0]);
    end
    if (n_pop) begin
      i_line_q <= root_line_q + s.at;
      i_left_q <= root_more_q - s.at;
      i_last_q <= root_more_q == s.at;
      i_low_q  <= s.at == '0 ? root_low_q : '0;
    end else if (i_issued) begin
      i_line_q <= i_line_q + 1'b1;
      i_left_q <= i_left_q - 1'b1;
      i_last_q <= i_left_q == line_at_t'(1);
      i_low_q  <= '0;
    end
  end

  gramer_fifo #(.WIDTH($bits(step_near_t)), .DEPTH(4)) i_turns (
    .clk_i, .rst_i,
    .push_i (n_pop), .data_i (s), .full_o (t_full),
    .pop_i (t_pop), .valid_o (t_valid), .data_o (t)
  );

  // ---------------------------------------------------------------- b, each a, each c

  // Next list to read, or a marker.
  typedef struct packed {
    id_t               id;
    logic [SIZE_W-1:0] size;
    logic              mark;
    logic              tags;
    logic              none;  // marker: the unit ends
    logic              first; // b comes before a and c
  } visitor_t;

  typedef enum logic [1:0] { TURN, NEXT, LATER, EACH } visit_e;

  visit_e   visit_q;
  visit_t   later, later_q;
  logic     later_valid, v_push, m_full, m_valid, x_take, only_q, first_q;
  lanes_t   behind, left_q, less_q, low;
  id_t      root_q;
  placed_t  near_id_q; // of the current a, valid two cycles before its comparison
  visitor_t v, m;
  entry_t   entry;

  gramer_fifo #(.WIDTH($bits(visit_t)), .DEPTH(AHEAD)) i_later (
    .clk_i, .rst_i,
    .push_i (came_later), .data_i (came), .full_o (),
    .pop_i (later_pop), .valid_o (later_valid), .data_o (later)
  );

  always_comb
    for (int l = 0; l < LANES; l++)
      behind[l] = later_q.lanes[l] && later_q.line[l*ENTRY_W +: PLACED_ID_W] > near_id_q;

  assign low       = left_q & ~less_q;
  assign later_pop = visit_q == NEXT && later_valid;
  assign v_push    = !m_full && (visit_q == EACH || (visit_q == TURN && t_valid));
  // An a is held until all of its c's have been issued.
  assign t_pop     = (visit_q == TURN && v_push && t.kind != NEAR)
                     || (later_q.ends && ((visit_q == LATER && behind == '0)
                                          || (visit_q == EACH && v_push && only_q)));

  always_comb begin
    entry = '0;
    for (int l = 0; l < LANES; l++) if (low[l]) entry |= later_q.line[l*ENTRY_W +: ENTRY_W];
    v = '{id: t.id, size: t.size, mark: t.kind == BEGIN_, tags: t.kind == NEAR,
          none: t.kind == END_, first: 1'b0};
    if (visit_q == EACH)
      v = '{id: id_t'(entry.id[WEDGE_ID_W-1:0]), size: entry.size, mark: 1'b0, tags: 1'b0,
            none: 1'b0, first: first_q};
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) visit_q <= TURN;
    else unique case (visit_q)
      TURN:  if (v_push && t.kind == NEAR) visit_q <= NEXT;
      NEXT:  if (later_valid) visit_q <= LATER;
      LATER: visit_q <= behind != '0 ? EACH : later_q.ends ? TURN : NEXT;
      default: if (v_push && only_q) visit_q <= later_q.ends ? TURN : NEXT;
    endcase
    if (visit_q == TURN && v_push && t.kind == BEGIN_) root_q <= t.id;
    near_id_q <= placed_t'(t.id);
    first_q   <= placed_t'(root_q) < placed_t'(t.id);
    if (later_pop) later_q <= later;
    if (visit_q == LATER) begin
      left_q <= behind;
      less_q <= less_of(behind);
      only_q <= !several(word_t'(behind));
    end else if (v_push) begin
      left_q <= less_q;
      less_q <= less_of(less_q);
      only_q <= !several(word_t'(less_q));
    end
  end

  gramer_fifo #(.WIDTH($bits(visitor_t)), .DEPTH(2)) i_members (
    .clk_i, .rst_i,
    .push_i (v_push), .data_i (v), .full_o (m_full),
    .pop_i (x_take), .valid_o (m_valid), .data_o (m)
  );

  // ---------------------------------------------------------------- their lines

  logic       x_valid_q, x_first, x_last, x_issued, lines_full;
  visitor_t   x_q;
  line_at_t   x_line;
  logic [QUARTER_W-1:0] x_low, x_high;

  assign x_issued = x_valid_q && !(o_valid_q && o_room) && !(i_valid_q && i_room) && issue_ready_i;
  assign x_take   = m_valid && (!x_valid_q || (x_issued && x_last))
                    && !((m.mark || m.tags) && lines_full);

  always_ff @(posedge clk_i) begin
    list_o <= !rst_i && x_take && !m.none && !m.mark;
    if (rst_i) x_valid_q <= 1'b0;
    else if (x_take) x_valid_q <= 1'b1;
    else if (x_issued && x_last) x_valid_q <= 1'b0;
    if (x_take) x_q <= m;
  end

  // A marker counts as one line.
  gramer_set_list_lines i_lists (
    .clk_i,
    .begin_i (x_take), .id_i (m.id), .size_i (m.none ? SIZE_W'(1) : m.size),
    .next_i (x_issued), .line_o (x_line), .low_o (x_low), .high_o (x_high),
    .first_o (x_first), .last_o (x_last)
  );

  // The purpose of a line is encoded in otherwise unused fields.
  always_comb begin
    issue_meta_o = '0;
    issue_line_o = x_line;
    if (o_valid_q && o_room) begin
      issue_line_o           = o_line_q;
      issue_meta_o.load      = 1'b1;
      issue_meta_o.mark      = o_first_q;
      issue_meta_o.low       = o_low_q;
      issue_meta_o.high      = o_last_q ? o_high_q : '1;
      issue_meta_o.slot_last = o_last_q;
    end else if (i_valid_q && i_room) begin
      issue_line_o           = i_line_q;
      issue_meta_o.load      = 1'b1;
      issue_meta_o.lengths   = 1'b1;
      issue_meta_o.low       = i_low_q;
      issue_meta_o.high      = i_last_q ? root_high_q : '1;
      issue_meta_o.slot_last = i_last_q;
    end else begin
      issue_meta_o.mark      = x_q.mark;
      issue_meta_o.lengths   = x_q.tags;
      issue_meta_o.none      = x_q.none;
      issue_meta_o.low       = x_low;
      issue_meta_o.high      = x_high;
      issue_meta_o.last      = x_last;
      issue_meta_o.slot_last = x_q.none;
      issue_meta_o.member    = member_t'({x_q.first, x_q.tags && x_first});
    end
  end

  assign issue_valid_o = (o_valid_q && o_room) || (i_valid_q && i_room) || x_valid_q;

  // ---------------------------------------------------------------- arriving lines

  logic   came_valid, lines_busy;
  meta_t  came_meta;
  line_t  came_line;
  lanes_t came_lanes;
  logic [6:0] asked_q; // lines and ends in flight to the map

  gramer_set_triple_lines i_lines (
    .clk_i, .rst_i,
    .root_push_i (x_take && m.mark), .near_push_i (x_take && m.tags), .id_i (m.id),
    .size_i (m.size), .full_o (lines_full),
    .line_valid_i, .line_free_o, .line_i, .meta_i,
    .came_o (came_valid), .came_line_o (came_line), .came_lanes_o (came_lanes),
    .came_meta_o (came_meta),
    .map_valid_o, .map_ready_i, .map_line_o, .map_lanes_o, .map_meta_o, .map_list_o,
    .map_wedge_o, .busy_o (lines_busy)
  );

  assign map_counted_o = map_lanes_o;
  assign came          = '{line: came_line, lanes: came_lanes, begins: came_meta.mark,
                           ends: came_meta.slot_last};
  assign came_near     = came_valid && !came_meta.lengths;
  assign came_later    = came_valid && came_meta.lengths;

  always_ff @(posedge clk_i) begin
    if (rst_i) asked_q <= '0;
    else asked_q <= asked_q + 7'(x_issued) - 7'(map_valid_o && map_ready_i);
    busy_o <= !rst_i && (unit_valid_i || known_valid || n_valid || t_valid
                         || m_valid || x_valid_q || lines_busy || asked_q != '0);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(unit_valid_i && !own_all && unit_i.last <= unit_i.first)) else $error("no range");
    assert (!(came_near && i_heads.full_o)) else $error("a line with an a has no room");
    assert (!(came_later && i_later.full_o)) else $error("a line behind an a has no room");
    assert (!(head_valid && !known_valid)) else $error("a line of no unit");
    assert (visit_q != EACH || (left_q != '0 && only_q == (less_q == '0))) else $error("no c");
    assert (near_q != LANES_ || near_any_q == (near_left_q != '0)) else $error("an a is missed");
  end
`endif

endmodule

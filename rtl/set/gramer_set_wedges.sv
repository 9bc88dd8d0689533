// Houses and 5-cycles in two passes over the wedges of a root, its paths of two edges, which the map counts
// (docs/reference/set-core.md, section Wedges). The root's list is marked; the lists of its members are streamed, and
// their entries counted; then, for houses, the lists of members after the root are streamed a second time; for
// 5-cycles, the lists before the reached vertices, one row of these after another (gramer_set_reached).
//
//   unit ─► lines of the root's list ─► members ─┐
//   rows of reached vertices ────────────────────┴─► lines of their lists ─► port
//   port ─► lanes that count (gramer_set_wedge_lines) ─► map
//
// Lines of a root's list are prefetched, also those of the next unit. Lines are answered in order, so passes and units
// follow each other in the map without tags. Only the rows of 5-cycles wait until the first pass has drained.
module gramer_set_wedges
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  input  logic   five_cycles_i, // 5-cycles; otherwise houses
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
  output lanes_t map_counted_o, // entries to count for a degree
  output logic [RANGE_W-1:0] range_first_o,
  output logic [RANGE_W-1:0] range_last_o,
  input  logic   settled_i,
  // Rows of reached vertices: read, then looked up in the map
  input  logic [NOTED_W:0] rows_i,
  output logic   read_o,
  output logic [NOTED_W-1:0] row_o,
  input  logic [MAP_BANKS-1:0] there_i,
  input  map_at_t at_i [MAP_BANKS],
  input  up_t    up_i [MAP_BANKS],
  input  logic   noting_i,
  output logic   look_o,
  output logic [MAP_BANKS-1:0] look_there_o,
  output map_at_t look_at_o [MAP_BANKS],
  input  logic   row_done_i,
  output logic   clear_o,
  // State and events
  output logic   busy_o,
  output logic   list_o // a list is streamed
);

  localparam int unsigned QUARTER_W = $clog2(LINE_QUARTERS);
  localparam int unsigned AHEAD     = 4; // prefetched lines of roots' lists

  // ---------------------------------------------------------------- lines of roots' lists

  // For houses, the list is read once per pass.
  logic       load_valid_q, load_take, load_issued, load_first, load_last, load_second_q;
  logic       load_end, known_full, ahead_room;
  root_unit_t load_q, own, again, known, here_q; // here: of the noted ends
  line_at_t   load_line;
  logic [QUARTER_W-1:0] load_low, load_high;
  logic       known_valid, known_pop;
  logic [$clog2(AHEAD):0] room_q;
  logic       next_take;

  assign own         = '{last: unit_i.last, first: unit_i.first,
                         size: unit_i.quarters[SIZE_W-1:0], id: id_t'(unit_i.address)};
  assign again       = load_valid_q ? load_q : own;
  assign load_take   = unit_valid_i && !load_valid_q && !known_full;
  assign unit_take_o = load_take;
  assign ahead_room  = room_q != '0;
  assign load_issued = load_valid_q && ahead_room && issue_ready_i;
  assign load_end    = load_issued && load_last;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      load_valid_q <= 1'b0;
      room_q       <= ($clog2(AHEAD)+1)'(AHEAD);
    end else begin
      if (load_take) load_valid_q <= 1'b1;
      else if (load_end && (five_cycles_i || load_second_q)) load_valid_q <= 1'b0;
      room_q <= room_q + ($clog2(AHEAD)+1)'(next_take) - ($clog2(AHEAD)+1)'(load_issued);
    end
    if (load_take) begin
      load_q        <= own;
      load_second_q <= 1'b0;
    end else if (load_end) load_second_q <= 1'b1;
  end

  // Starts before the unit is taken.
  gramer_set_list_lines i_load (
    .clk_i,
    .begin_i (!load_valid_q || load_end), .id_i (again.id), .size_i (again.size),
    .next_i (load_issued), .line_o (load_line), .low_o (load_low), .high_o (load_high),
    .first_o (load_first), .last_o (load_last)
  );

  gramer_fifo #(.WIDTH($bits(root_unit_t)), .DEPTH(WEDGE_UNITS)) i_known (
    .clk_i, .rst_i,
    .push_i (load_take), .data_i (own), .full_o (known_full),
    .pop_i (known_pop), .valid_o (known_valid), .data_o (known)
  );

  assign range_first_o = here_q.first;
  assign range_last_o  = here_q.last;

  // ---------------------------------------------------------------- members to visit

  // Arrived line of the root's list.
  typedef struct packed {
    line_t  line;
    lanes_t lanes;
    logic   begins; // first line of a unit
    logic   second; // of the second pass
    logic   ends;   // last line of a unit
  } visit_t;

  // Next list to read, or a marker.
  typedef struct packed {
    id_t               id;
    logic [SIZE_W-1:0] size;
    logic              mark;
    logic              none; // marker: the unit ends
    logic              keep; // the second pass
    logic              row_last;
    logic              parity;
    bank_at_t          bank;
  } visitor_t;

  typedef enum logic [1:0] { VISIT, DRAIN, ROWS, END } state_e;

  state_e   state_q;
  visit_t   came, head, next_q, hand_q;
  logic     came_valid, waits, next_valid_q, visit_next, hand_valid_q, begun_q, take, finishing;
  logic     left_behind;
  logic     any_q, only_q;
  lanes_t   left_q, less_q, low, later, next_lanes_q;
  logic [3:0] lane;
  visitor_t v;
  logic     v_push, m_full, m_valid, x_take, mark_push, end_push, drained, lines_full;
  visitor_t m;
  entry_t   entry;

  gramer_fifo #(.WIDTH($bits(visit_t)), .DEPTH(AHEAD)) i_ahead (
    .clk_i, .rst_i,
    .push_i (came_valid), .data_i (came), .full_o (),
    .pop_i (next_take), .valid_o (waits), .data_o (head)
  );

  // For houses, the wedges over every neighbour are counted; otherwise over those after the root.
  always_comb
    for (int l = 0; l < LANES; l++)
      later[l] = head.lanes[l] && ((!five_cycles_i && !head.second)
                 || head.line[l*ENTRY_W +: PLACED_ID_W] > placed_t'(known.id));

  // Rows: the current one; two are in use between this module and the sums.
  logic     row_have_q, row_wait_q, row_any, look;
  logic [NOTED_W:0] row_q;
  logic [1:0] used_q;
  logic     parity_q, row_parity_q;
  map_at_t  row_at_q [MAP_BANKS];
  up_t      row_up_q [MAP_BANKS];
  map_at_t  row_at;
  up_t      row_up;
  lanes_t   there, fresh;

  assign low         = left_q & ~less_q;
  // The first line of a unit is taken with its marks; from then on, the noted ends belong to its root.
  assign mark_push   = state_q == VISIT && waits && head.begins && !begun_q && !m_full
                       && !lines_full;
  assign next_take   = waits && (head.begins ? mark_push : !next_valid_q || visit_next);
  assign visit_next  = state_q == VISIT && next_valid_q
                       && (!hand_valid_q || (finishing && !hand_q.ends));
  assign take        = any_q && !m_full;
  assign finishing   = hand_valid_q && (!any_q || (take && only_q));
  assign left_behind = any_q && !(take && only_q);
  assign end_push    = state_q == END && !m_full;
  assign v_push      = mark_push || take || end_push;
  assign row_any     = row_q != rows_i;
  assign read_o      = state_q == ROWS && row_any && !row_wait_q && !row_have_q;
  assign row_o       = row_q[NOTED_W-1:0];
  assign look        = state_q == ROWS && row_have_q && !left_behind && used_q != 2'd2;
  assign look_at_o   = row_at_q;
  assign clear_o     = end_push;
  assign known_pop   = end_push;

  // Inverse of bank and place: the low bits of the id follow from both.
  function automatic id_t id_of(input bank_at_t bank, input map_at_t at);
    localparam int unsigned FOLD_W = $clog2(MAP_BANKS);
    id_t id;
    id = id_t'(at) << FOLD_W;
    if (FOLD_W > 0) begin
      bank_at_t fold;
      fold = bank;
      for (int unsigned b = FOLD_W; b < MAP_ID_W; b++) fold[b % BANK_AT_W] ^= id[b];
      id[BANK_AT_W-1:0] = fold;
    end
    return id;
  endfunction

  always_comb begin
    lane   = '0;
    entry  = '0;
    row_at = '0;
    row_up = '0;
    there  = lanes_t'(there_i);
    fresh  = look ? there : next_lanes_q;
    for (int l = 0; l < LANES; l++) if (low[l]) begin
      lane  |= 4'(l);
      entry |= hand_q.line[l*ENTRY_W +: ENTRY_W];
    end
    for (int b = 0; b < MAP_BANKS; b++) if (low[b]) begin
      row_at |= row_at_q[b];
      row_up |= row_up_q[b];
    end
    v = '0;
    unique case (state_q)
      VISIT: begin
        v.id   = mark_push ? known.id : id_t'(entry.id[WEDGE_ID_W-1:0]);
        v.size = mark_push ? known.size : entry.size;
        v.mark = mark_push;
        v.keep = hand_q.second && !mark_push;
      end
      ROWS: begin
        v.id       = id_of(bank_at_t'(lane), row_at);
        v.size     = SIZE_W'(row_up);
        v.keep     = 1'b1;
        v.row_last = only_q;
        v.parity   = row_parity_q;
        v.bank     = bank_at_t'(lane);
      end
      default: v.none = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    // Registered: the path in the map is long.
    look_o       <= look && !rst_i;
    look_there_o <= there_i;
    if (rst_i) begin
      state_q      <= VISIT;
      next_valid_q <= 1'b0;
      hand_valid_q <= 1'b0;
      begun_q      <= 1'b0;
      left_q       <= '0;
      less_q       <= '0;
      any_q        <= 1'b0;
      only_q       <= 1'b1;
      row_have_q   <= 1'b0;
      row_wait_q   <= 1'b0;
      row_q        <= '0;
      used_q       <= '0;
      parity_q     <= 1'b0;
    end else begin
      if (visit_next || look) begin
        left_q <= fresh;
        less_q <= fresh & (fresh - 1'b1);
        any_q  <= fresh != '0;
        only_q <= !several(word_t'(fresh));
      end else if (take) begin
        left_q <= less_q;
        less_q <= less_q & (less_q - 1'b1);
        any_q  <= !only_q;
        only_q <= !several(word_t'(less_q));
      end
      if (next_take) next_valid_q <= 1'b1;
      else if (visit_next) next_valid_q <= 1'b0;
      if (visit_next) hand_valid_q <= 1'b1;
      else if (finishing) hand_valid_q <= 1'b0;
      if (mark_push) begun_q <= 1'b1;
      else if (end_push) begun_q <= 1'b0;
      row_wait_q <= read_o;
      if (row_wait_q) row_have_q <= 1'b1;
      else if (look) row_have_q <= 1'b0;
      if (end_push) row_q <= '0;
      else if (look) row_q <= row_q + 1'b1;
      used_q <= used_q + 2'(look) - 2'(row_done_i);
      if (look) parity_q <= !parity_q;
      unique case (state_q)
        VISIT: if (finishing && hand_q.ends) state_q <= five_cycles_i ? DRAIN : END;
        DRAIN: if (drained) state_q <= row_any ? ROWS : END;
        ROWS:  if (!row_any && !left_behind && !row_have_q) state_q <= END;
        default: if (end_push) state_q <= VISIT;
      endcase
    end
    if (mark_push) here_q <= known;
    if (next_take) begin
      next_q       <= head;
      next_lanes_q <= later;
    end
    if (visit_next) hand_q <= next_q;
    if (look) begin
      row_parity_q <= parity_q;
      row_at_q     <= at_i;
      row_up_q     <= up_i;
    end
  end

  gramer_fifo #(.WIDTH($bits(visitor_t)), .DEPTH(2)) i_members (
    .clk_i, .rst_i,
    .push_i (v_push), .data_i (v), .full_o (m_full),
    .pop_i (x_take), .valid_o (m_valid), .data_o (m)
  );

  // ---------------------------------------------------------------- their lines

  logic       x_valid_q, x_last, x_issued;
  visitor_t   x_q;
  line_at_t   x_line;
  logic [QUARTER_W-1:0] x_low, x_high;

  assign x_issued = x_valid_q && !(load_valid_q && ahead_room) && issue_ready_i;
  assign x_take   = m_valid && (!x_valid_q || (x_issued && x_last));

  always_ff @(posedge clk_i) begin
    list_o <= !rst_i && x_take && !m.none && !m.mark;
    if (rst_i) x_valid_q <= 1'b0;
    else if (x_take) x_valid_q <= 1'b1;
    else if (x_issued && x_last) x_valid_q <= 1'b0;
    if (x_take) x_q <= m;
  end

  // A marker counts as one line.
  gramer_set_list_lines i_visits (
    .clk_i,
    .begin_i (x_take), .id_i (m.id), .size_i (m.none ? SIZE_W'(1) : m.size),
    .next_i (x_issued), .line_o (x_line), .low_o (x_low), .high_o (x_high),
    .first_o (), .last_o (x_last)
  );

  assign issue_valid_o = (load_valid_q && ahead_room) || x_valid_q;
  assign issue_line_o  = load_valid_q && ahead_room ? load_line : x_line;

  // The purpose of a line is encoded in otherwise unused fields.
  always_comb begin
    issue_meta_o = '0;
    if (load_valid_q && ahead_room) begin
      issue_meta_o.load      = 1'b1;
      issue_meta_o.mark      = load_first && !load_second_q;
      issue_meta_o.lengths   = load_second_q;
      issue_meta_o.low       = load_low;
      issue_meta_o.high      = load_high;
      issue_meta_o.slot_last = load_last && (five_cycles_i || load_second_q);
    end else begin
      issue_meta_o.mark      = x_q.mark;
      issue_meta_o.lengths   = x_q.keep;
      issue_meta_o.none      = x_q.none;
      issue_meta_o.low       = x_low;
      issue_meta_o.high      = x_high;
      issue_meta_o.last      = x_last;
      issue_meta_o.slot_last = x_q.none;
      issue_meta_o.member    = member_t'({x_q.row_last, x_q.parity, x_q.bank});
    end
  end

  // ---------------------------------------------------------------- arriving lines

  lanes_t came_lanes;
  line_t  came_line;
  meta_t  came_meta;
  logic   lines_busy;
  logic [6:0] asked_q; // lines and ends in flight to the map

  gramer_set_wedge_lines i_lines (
    .clk_i, .rst_i, .five_cycles_i,
    .root_push_i (mark_push), .root_i (known), .root_full_o (lines_full),
    .line_valid_i, .line_free_o, .line_i, .meta_i,
    .came_o (came_valid), .came_line_o (came_line), .came_lanes_o (came_lanes),
    .came_meta_o (came_meta),
    .map_valid_o, .map_ready_i, .map_line_o, .map_lanes_o, .map_meta_o, .map_list_o,
    .map_wedge_o, .map_counted_o, .busy_o (lines_busy)
  );

  assign came = '{line: came_line, lanes: came_lanes, begins: came_meta.mark,
                  second: came_meta.lengths, ends: came_meta.slot_last};

  always_ff @(posedge clk_i)
    if (rst_i) asked_q <= '0;
    else asked_q <= asked_q + 7'(x_issued) - 7'(map_valid_o && map_ready_i);

  assign drained = !m_valid && !x_valid_q && asked_q == '0 && settled_i && !noting_i;

  always_ff @(posedge clk_i)
    busy_o <= !rst_i && (unit_valid_i || load_valid_q || known_valid || m_valid
                         || x_valid_q || lines_busy || asked_q != '0);

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (any_q == (left_q != '0) && only_q == (less_q == '0)) else $error("members are missed");
    assert (!(look && there_i == '0)) else $error("a row without a vertex");
    assert (!(row_done_i && used_q == '0)) else $error("a row is done with twice");
    assert (!(take && state_q == ROWS && row_up == '0)) else $error("a list of nothing");
    assert (!(next_take && !known_valid)) else $error("a line of no unit");
    assert (!(mark_push && next_valid_q)) else $error("a line of the unit before is left");
    assert (!(visit_next && !begun_q)) else $error("a member before the marks");
  end
`endif

endmodule

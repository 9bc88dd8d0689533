// Requests the lines of lists. Lists of roots are prefetched many units ahead, whenever a slot of the list buffer is
// free; their requests have priority. The lists of the members of the oldest loaded list are streamed one after
// another. The memory answers in order, so requests need no slot tags.
//
//   unit ─► load ──────────────────────────────────────────┐
//   list buffer ─► lanes to visit ─► member ─► its lines ──┴─► issue
//
// A member is visited if it is in the unit's range (for cliques larger than triangles, also before it), is not the
// first of the list, and has a list. A unit without such members ends with a marker instead of a line.
module gramer_set_streamer
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  input  plan_t  plan_i [PLANS],
  // Units
  input  logic   unit_valid_i,
  output logic   unit_take_o,
  input  unit_t  unit_i,
  // Requests
  output logic   issue_valid_o,
  input  logic   issue_ready_i,
  output line_at_t issue_line_o,
  output meta_t  issue_meta_o,
  // Lists in the list buffer
  output logic   list_write_o, // descriptor of a list
  output slot_t  list_slot_o,
  output list_t  list_o,
  input  logic   loaded_i, // pulse: the oldest list in flight is complete
  input  logic   freed_i,  // pulse: the oldest list is released
  output logic   read_o,
  output slot_t  read_slot_o,
  output lline_t read_at_o,
  input  line_t  line_i,   // two cycles after the read
  // Requested lengths
  input  logic   lengths_valid_i,
  input  logic   lengths_load_i, // for a root's block
  input  id_t    lengths_up_i,
  input  id_t    lengths_block_i,
  // State and events
  output logic   busy_o,
  output logic   idle_unit_o, // a unit without operation was taken
  output logic   member_o     // a member is started
);

  localparam int unsigned USED_W = SLOT_W + 1;
  localparam int unsigned QUARTER_W = $clog2(LINE_QUARTERS);

  // ---------------------------------------------------------------- roots' lists

  // A block for the map may have more lines than a slot; it is loaded in parts.
  typedef enum logic [2:0] { NONE, LENGTHS, LENGTHS_WAIT, SLOT, LIST } load_e;

  load_e              load_q;
  plan_t              plan_q;
  logic               cliques, mapped, free, accept, load_issues, load_done, place;
  load_e              begun; // first state of the current unit
  line_at_t           load_line_q, load_left_q; // left: lines of the block after this one
  lline_t             load_at_q;
  list_t              load_list_q, own;
  slot_t              load_slot_q;
  logic [USED_W-1:0]  used_q;
  logic               unit_valid_q; // a unit taken from the queue, with its plan
  unit_t              unit_q;
  logic [RANGE_W:0]   last_quarter; // of the list, from its first line's first
  logic [RANGE_W:0]   offset;

  // The next unit follows the last line of a list. It leaves the queue earlier, since the request is known too
  // late for a path back to the queue.
  assign free         = load_q == NONE
                        || (load_q == LIST && issue_ready_i && load_done && !load_list_q.more);
  assign unit_take_o  = unit_valid_i && !unit_valid_q;
  assign cliques      = plan_q.operation == 4'(OP_CLIQUES);
  assign mapped       = plan_q.operation == 4'(OP_EDGES) || plan_q.operation == 4'(OP_PATHS);
  assign accept       = unit_valid_q && (cliques || mapped) && free;
  assign begun        = !accept ? NONE
                        : mapped && unit_q.quarters == RANGE_W'(QUARTERS_LONG) ? LENGTHS : SLOT;
  assign last_quarter = (RANGE_W+1)'(unit_q.quarters) + (RANGE_W+1)'(unit_q.address[1:0]) - 1'b1;
  assign offset       = (RANGE_W+1)'({unit_q.address[1:0], 2'b0});

  always_ff @(posedge clk_i) begin
    if (rst_i) unit_valid_q <= 1'b0;
    else unit_valid_q <= unit_valid_q ? !free : unit_valid_i;
    if (unit_take_o) begin
      unit_q <= unit_i;
      plan_q <= plan_i[unit_i.plan];
    end
  end

  assign place        = load_q == SLOT && used_q != USED_W'(LISTS);
  assign load_issues  = load_q == LENGTHS || load_q == LIST;
  assign load_done    = load_at_q == load_list_q.last;

  // Descriptors of the lists in the buffer, one copy per reader; gramer_set_stepper has one, too.
  (* ram_style = "distributed" *) list_t fetched_lists [LISTS];
  (* ram_style = "distributed" *) list_t visited_lists [LISTS];

  assign list_write_o = place;
  assign list_slot_o  = load_slot_q;
  assign list_o       = own;

  always_ff @(posedge clk_i) if (list_write_o) begin
    fetched_lists[list_slot_o] <= list_o;
    visited_lists[list_slot_o] <= list_o;
  end

  // A part of the list: the lines of a slot, or the remaining ones.
  always_comb begin
    own = load_list_q;
    own.more = load_left_q >= LINE_AT_W'(LIST_LINES);
    own.last = own.more ? LLINE_W'(LIST_LINES - 1) : LLINE_W'(load_left_q);
    own.high = own.more ? '1 : load_list_q.block_high;
  end

  always_ff @(posedge clk_i) begin
    idle_unit_o <= !rst_i && unit_valid_q && free && !(cliques || mapped);
    if (rst_i) begin
      load_q      <= NONE;
      load_slot_q <= '0;
      used_q      <= '0;
    end else begin
      unique case (load_q)
        NONE: load_q <= begun;
        LENGTHS: if (issue_ready_i) load_q <= LENGTHS_WAIT;
        LENGTHS_WAIT: if (lengths_valid_i && lengths_load_i) load_q <= SLOT;
        SLOT: if (place) load_q <= LIST;
        default: if (issue_ready_i && load_done) load_q <= load_list_q.more ? SLOT : begun;
      endcase
      if (place) load_slot_q <= load_slot_q + 1'b1;
      used_q <= used_q + USED_W'(place) - USED_W'(freed_i);
    end
    if (accept) begin
      load_line_q <= line_of(id_t'(unit_q.address));
      load_left_q <= LINE_AT_W'(last_quarter[RANGE_W:QUARTER_W]);
      load_list_q <= '{
        k: plan_q.k,
        sum: plan_q.sum,
        low: unit_q.address[1:0],
        high: last_quarter[1:0],
        last: '0,
        range_first: (RANGE_W+1)'(unit_q.first) + offset,
        range_last: unit_q.last == RANGE_W'(LAST_ALL) ? '1 : (RANGE_W+1)'(unit_q.last) + offset,
        mapped: mapped,
        counts: plan_q.operation == 4'(OP_PATHS),
        begins: 1'b1,
        more: 1'b0,
        root: placed_t'(unit_q.address),
        block_last: LINE_AT_W'(last_quarter[RANGE_W:QUARTER_W]),
        block_high: last_quarter[1:0]
      };
    end else if (load_q == LENGTHS_WAIT) begin
      // Blocks with lengths are line-aligned.
      load_left_q            <= LINE_AT_W'((lengths_block_i - 1'b1) >> QUARTER_W);
      load_list_q.block_last <= LINE_AT_W'((lengths_block_i - 1'b1) >> QUARTER_W);
      load_list_q.block_high <= 2'(lengths_block_i - 1'b1);
    end else if (place) begin
      load_list_q         <= own;
      load_at_q           <= '0;
    end else if (load_q == LIST && issue_ready_i) begin
      load_line_q <= load_line_q + 1'b1;
      load_left_q <= load_left_q - 1'b1;
      load_at_q   <= load_at_q + 1'b1;
      if (load_done) begin
        load_list_q.begins <= 1'b0;
        load_list_q.low    <= '0;
      end
    end
  end

  // ---------------------------------------------------------------- lines of members

  localparam int unsigned AHEAD = 16; // prefetched lines of members

  typedef struct packed {
    list_t  own;
    lline_t at;
    logic   last;
  } fetch_t;

  slot_t                  fetch_slot_q;
  lline_t                 fetch_at_q;
  logic [USED_W-1:0]      there_q;    // loaded lists, not yet fetched
  logic [$clog2(AHEAD):0] room_q;
  list_t                  fetch_list;
  logic                   fetch, fetch_last, next; // next: a fetched line is taken
  fetch_t                 f0_q, f1_q;
  logic                   f0_valid_q, f1_valid_q;
  lanes_t                 f1_lanes;
  entry_t                 entry [LANES];
  lanes_t                 f0_range;    // lanes that a unit of cliques visits
  lanes_t                 f1_range_q;  // lanes to visit if they have an entry

  assign fetch_list  = fetched_lists[fetch_slot_q];
  assign fetch_last  = fetch_at_q == fetch_list.last;
  assign fetch       = there_q != '0 && room_q != '0;
  assign read_o      = fetch;
  assign read_slot_o = fetch_slot_q;
  assign read_at_o   = fetch_at_q;

  always_comb
    for (int l = 0; l < LANES; l++) entry[l] = f1_valid_q ? line_i[l*ENTRY_W +: ENTRY_W] : 'x;

  // Lanes of a list's line before a position of the list.
  function automatic lanes_t lanes_before(input lline_t at, input logic [RANGE_W:0] bound);
    lanes_t lanes;
    for (int unsigned l = 0; l < LANES; l++)
      lanes[l] = (RANGE_W-3)'(at) < bound[RANGE_W:4]
                 || ((RANGE_W-3)'(at) == bound[RANGE_W:4] && 4'(l) < bound[3:0]);
    return lanes;
  endfunction

  // For cliques, the first member has no member before it.
  always_comb begin
    f0_range = 'x;
    if (f0_valid_q) begin
      f0_range = lanes_before(f0_q.at, f0_q.own.range_last);
      if (f0_q.own.k == TRIANGLE) f0_range &= ~lanes_before(f0_q.at, f0_q.own.range_first);
      for (int l = 0; l < LANES; l++)
        if (f0_q.at == '0 && 4'(l) <= {f0_q.own.low, 2'b0}) f0_range[l] = 1'b0;
    end
  end

  always_comb begin
    f1_lanes = 'x;
    if (f1_valid_q)
      for (int l = 0; l < LANES; l++)
        f1_lanes[l] = f1_range_q[l] && !is_padding(entry[l].id) && entry[l].size != '0
                      && (!f1_q.own.mapped || placed_t'(entry[l].id) > f1_q.own.root);
  end

  always_ff @(posedge clk_i) begin
    f0_valid_q <= !rst_i && fetch;
    f1_valid_q <= !rst_i && f0_valid_q;
    if (fetch) f0_q <= '{own: fetch_list, at: fetch_at_q, last: fetch_last};
    if (f0_valid_q) f1_q <= f0_q;
    if (f0_valid_q) for (int l = 0; l < LANES; l++)
      f1_range_q[l] <= !(f0_q.last && 2'(l / QUARTER) > f0_q.own.high)
                       && (f0_q.own.mapped ? !(f0_q.at == '0 && 2'(l / QUARTER) < f0_q.own.low)
                           : f0_range[l]);
    if (rst_i) begin
      fetch_slot_q <= '0;
      fetch_at_q   <= '0;
      there_q      <= '0;
      room_q       <= ($clog2(AHEAD)+1)'(AHEAD);
    end else begin
      there_q <= there_q + USED_W'(loaded_i) - USED_W'(fetch && fetch_last);
      room_q  <= room_q + ($clog2(AHEAD)+1)'(next) - ($clog2(AHEAD)+1)'(fetch);
      if (fetch) begin
        fetch_at_q <= fetch_last ? '0 : fetch_at_q + 1'b1;
        if (fetch_last) fetch_slot_q <= fetch_slot_q + 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- members

  typedef struct packed {
    line_t  line;
    lanes_t lanes;
    lline_t at;
    logic   last;
    logic   marks; // the root's block is marked first
  } visit_t;

  logic   more;
  logic   waits, take, ends_q, marks_q, x_take; // ends: only the end is left
  logic   any_q, only_q; // lanes are left; at most one
  slot_t  visit_slot_q;
  list_t  visit_list;
  visit_t head, hand_q;
  lanes_t left_q, less_q, low; // less: all but the lowest
  logic [3:0] lane;
  entry_t seen;

  gramer_fifo #(.WIDTH($bits(visit_t)), .DEPTH(AHEAD)) i_ahead (
    .clk_i, .rst_i,
    .push_i (f1_valid_q), .data_i ({line_i, f1_lanes, f1_q.at, f1_q.last,
               f1_q.own.mapped && f1_q.own.begins && f1_q.at == '0}), .full_o (),
    .pop_i (next), .valid_o (waits), .data_o (head)
  );

  // Next list to read: a member's, a block to mark, or a marker.
  typedef struct packed {
    entry_t     entry;
    member_t    member;
    logic       none;      // marker: the unit ends
    logic       slot_last;
    logic       mark;      // the root's block
    logic       mapped;
    line_at_t   left;      // of the block: its lines after the first
    logic [1:0] high;
  } visitor_t;

  visitor_t seen_next, m;
  logic     m_valid, m_full;

  gramer_fifo #(.WIDTH($bits(visitor_t)), .DEPTH(2)) i_members (
    .clk_i, .rst_i,
    .push_i (take), .data_i (seen_next), .full_o (m_full),
    .pop_i (x_take), .valid_o (m_valid), .data_o (m)
  );

  assign low  = left_q & ~less_q;
  assign take = (any_q || ends_q || marks_q) && !m_full;
  assign next = waits && ((!any_q && !ends_q && !marks_q) || (take && only_q && !more));
  assign more = marks_q && (any_q || ends_q); // in addition to the marks
  assign visit_list = visited_lists[visit_slot_q];

  entry_t in_hand [LANES];

  gramer_set_choice #(.WIDTH(ENTRY_W)) i_seen (
    .on_i (any_q), .value_i (in_hand), .at_i (lane), .value_o (seen)
  );

  always_comb begin
    for (int l = 0; l < LANES; l++) in_hand[l] = hand_q.line[l*ENTRY_W +: ENTRY_W];
    for (int i = 0; i < 4; i++) lane[i] = (low & lanes_with(i)) != '0;
  end

  always_comb begin
    seen_next = '{
      entry: seen, member: {hand_q.at, lane}, none: ends_q && !marks_q,
      slot_last: hand_q.last && only_q && !marks_q, mark: marks_q, mapped: visit_list.mapped,
      left: visit_list.block_last, high: visit_list.block_high
    };
    if (marks_q) seen_next.entry.id = id_t'(visit_list.root);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      left_q    <= '0;
      less_q    <= '0;
      any_q     <= 1'b0;
      only_q    <= 1'b1;
      ends_q    <= 1'b0;
      marks_q   <= 1'b0;
      visit_slot_q <= '0;
    end else begin
      if (next) begin
        left_q  <= head.lanes;
        less_q  <= lanes_t'(without_lowest(word_t'(head.lanes)));
        any_q   <= head.lanes != '0;
        only_q  <= !several(word_t'(head.lanes));
        ends_q  <= head.last && head.lanes == '0;
        marks_q <= head.marks;
      end else if (take) begin
        marks_q <= 1'b0;
        if (!marks_q) begin
          left_q <= less_q;
          less_q <= lanes_t'(without_lowest(word_t'(less_q)));
          any_q  <= !only_q;
          only_q <= !several(word_t'(less_q));
          ends_q <= 1'b0;
        end
      end
      if (take && !marks_q && hand_q.last && only_q) visit_slot_q <= visit_slot_q + 1'b1;
    end
    if (next) hand_q <= head;
  end

  // ---------------------------------------------------------------- their lines

  typedef enum logic [1:0] { LINES, ASK, WAIT } state_e;

  state_e     state_q;
  logic       x_valid_q, x_none_q, x_mark_q, x_map_q, x_slot_last_q, x_issued, x_last_q, first_q;
  line_at_t   line_q, left_lines_q;
  logic [1:0] low_q, high_q;
  member_t    member_q;
  logic [SIZE_W:0] end_quarter;
  id_t        length;

  assign end_quarter = (SIZE_W+1)'(m.entry.id[1:0]) + (SIZE_W+1)'(m.entry.size) - 1'b1;
  assign length      = x_map_q ? lengths_block_i : lengths_up_i;
  assign x_issued    = x_valid_q && !load_issues && issue_ready_i && state_q != WAIT;
  assign x_take      = m_valid && (!x_valid_q || (x_issued && x_last_q && state_q == LINES));

  always_ff @(posedge clk_i) begin
    member_o <= !rst_i && x_take && !m.none && !m.mark;
    if (rst_i) begin
      x_valid_q <= 1'b0;
      state_q   <= LINES;
    end else if (x_take) begin
      x_valid_q <= 1'b1;
      state_q   <= !m.none && !m.mark && m.entry.size == SIZE_W'(SIZE_LONG) ? ASK : LINES;
    end else unique case (state_q)
      ASK:  if (x_issued) state_q <= WAIT;
      WAIT: if (lengths_valid_i && !lengths_load_i) state_q <= LINES;
      default: if (x_issued && x_last_q) x_valid_q <= 1'b0;
    endcase
    if (x_take) begin
      line_q        <= line_of(m.entry.id);
      left_lines_q  <= m.none ? '0 : m.mark ? m.left
                       : LINE_AT_W'(end_quarter[SIZE_W:QUARTER_W]);
      x_last_q      <= m.none || (m.mark ? m.left == '0 : end_quarter[SIZE_W:QUARTER_W] == '0);
      low_q         <= m.entry.id[1:0];
      high_q        <= m.mark ? m.high : end_quarter[1:0];
      x_mark_q      <= m.mark;
      x_map_q       <= m.mapped;
      first_q       <= 1'b1;
      member_q      <= m.member;
      x_none_q      <= m.none;
      x_slot_last_q <= m.slot_last;
    end else if (state_q == WAIT) begin
      // A block with separate lengths is line-aligned.
      left_lines_q <= LINE_AT_W'((length - 1'b1) >> QUARTER_W);
      x_last_q     <= 1'b0; // such a block has many lines
      high_q       <= 2'(length - 1'b1);
    end else if (x_issued && state_q == LINES) begin
      line_q       <= line_q + 1'b1;
      left_lines_q <= left_lines_q - 1'b1;
      x_last_q     <= left_lines_q == LINE_AT_W'(1);
      first_q      <= 1'b0;
    end
  end

  assign issue_valid_o = load_issues || (x_valid_q && state_q != WAIT);
  assign issue_line_o  = load_q == LENGTHS ? load_line_q - 1'b1 : load_q == LIST ? load_line_q
                         : state_q == ASK ? line_q - 1'b1 : line_q;

  always_comb begin
    issue_meta_o = '0;
    if (load_issues) begin
      issue_meta_o.load    = 1'b1;
      issue_meta_o.lengths = load_q == LENGTHS;
      issue_meta_o.low     = load_at_q == '0 ? load_list_q.low : '0;
      issue_meta_o.high    = load_done ? load_list_q.high : '1;
      issue_meta_o.at      = load_at_q;
      issue_meta_o.last    = load_done;
    end else begin
      issue_meta_o.lengths   = state_q == ASK;
      issue_meta_o.none      = x_none_q;
      issue_meta_o.mark      = x_mark_q;
      issue_meta_o.low       = first_q ? low_q : '0;
      issue_meta_o.high      = x_last_q ? high_q : '1;
      issue_meta_o.member    = member_q;
      issue_meta_o.last      = x_last_q && !x_none_q;
      issue_meta_o.slot_last = x_last_q && x_slot_last_q;
    end
  end

  assign busy_o = used_q != '0 || load_q != NONE || unit_valid_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(x_valid_q && state_q == LINES && x_last_q != (left_lines_q == '0)))
      else $error("a list whose end is missed");
    assert (any_q == (left_q != '0) && only_q == (less_q == '0)) else $error("members are missed");
    assert (used_q <= USED_W'(LISTS)) else $error("more lists than slots");
    assert (!(freed_i && used_q == '0)) else $error("a slot is freed twice");
    assert (!(accept && cliques && last_quarter[RANGE_W:2] >= (RANGE_W-1)'(LIST_LINES)))
      else $error("a root's list does not fit into the list buffer");
    assert (!(lengths_valid_i && (lengths_load_i ? load_q != LENGTHS_WAIT : state_q != WAIT)))
      else $error("lengths that nobody asked for");
  end
`endif

endmodule

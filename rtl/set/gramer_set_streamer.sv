// Asks for the lines of lists. Roots' lists are asked for as soon as a slot of the list buffer is free,
// many units ahead. The members of the oldest list that is there follow: their own lists are streamed,
// one after another. Requests for roots' lists go first. The memory answers in order, so nothing here is
// marked with its slot.
//
//   unit ─► load ──────────────────────────────────────────┐
//   list buffer ─► lanes to visit ─► member ─► its lines ──┴─► issue
//
// A member is visited if it is in the unit's range (for larger cliques than triangles: or before it),
// isn't the list's first, and has a list. A unit without such a member ends with a mark without a line.
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
  output list_t  list_o [LISTS],
  input  logic   loaded_i, // pulse: the oldest that is being loaded is there
  input  logic   freed_i,  // pulse: the oldest is done with
  output logic   read_o,
  output slot_t  read_slot_o,
  output lline_t read_at_o,
  input  line_t  line_i,   // two cycles after the read
  // Lengths that were asked for
  input  logic   lengths_valid_i,
  input  logic [31:0] lengths_up_i,
  // State and events
  output logic   busy_o,
  output logic   idle_unit_o, // a unit of no operation was taken
  output logic   member_o     // a member is begun
);

  localparam int unsigned USED_W = SLOT_W + 1;
  localparam int unsigned QUARTER_W = $clog2(LINE_QUARTERS);

  // ---------------------------------------------------------------- roots' lists

  plan_t              plan;
  logic               load_q, cliques, accept, load_issued;
  line_at_t           load_line_q;
  lline_t             load_at_q;
  list_t              load_list_q, own;
  slot_t              load_slot_q;
  logic [USED_W-1:0]  used_q;
  logic [RANGE_W:0]   last_quarter; // of the list, from its first line's first
  logic [RANGE_W:0]   offset;

  assign plan         = plan_i[unit_i.plan];
  assign cliques      = plan.operation == 4'(OP_CLIQUES);
  assign accept       = unit_valid_i && cliques && (!load_q || load_issued)
                        && used_q != USED_W'(LISTS);
  assign unit_take_o  = unit_valid_i && (!cliques || accept);
  assign last_quarter = (RANGE_W+1)'(unit_i.quarters) + (RANGE_W+1)'(unit_i.address[1:0]) - 1'b1;
  assign offset       = (RANGE_W+1)'({unit_i.address[1:0], 2'b0});
  assign own          = '{
    k: plan.k,
    low: unit_i.address[1:0],
    high: last_quarter[1:0],
    last: last_quarter[2 +: LLINE_W],
    range_first: (RANGE_W+1)'(unit_i.first) + offset,
    range_last: unit_i.last == RANGE_W'(LAST_ALL) ? '1 : (RANGE_W+1)'(unit_i.last) + offset
  };
  assign load_issued  = load_q && issue_ready_i && load_at_q == load_list_q.last;

  always_ff @(posedge clk_i) begin
    idle_unit_o <= !rst_i && unit_valid_i && !cliques;
    if (rst_i) begin
      load_q      <= 1'b0;
      load_slot_q <= '0;
      used_q      <= '0;
    end else begin
      if (accept) begin
        load_q      <= 1'b1;
        load_slot_q <= load_slot_q + 1'b1;
      end else if (load_issued) load_q <= 1'b0;
      used_q <= used_q + USED_W'(accept) - USED_W'(freed_i);
    end
    if (accept) begin
      list_o[load_slot_q] <= own;
      load_list_q         <= own;
      load_line_q         <= unit_i.address[ID_W-1:QUARTER_W];
      load_at_q           <= '0;
    end else if (load_q && issue_ready_i) begin
      load_line_q <= load_line_q + 1'b1;
      load_at_q   <= load_at_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- lines of members

  localparam int unsigned AHEAD = 4; // lines of members that are fetched ahead

  typedef struct packed {
    list_t  own;
    lline_t at;
    logic   last;
  } fetch_t;

  slot_t                  fetch_slot_q;
  lline_t                 fetch_at_q;
  logic [USED_W-1:0]      there_q;    // lists that are there and not yet fetched
  logic [$clog2(AHEAD):0] room_q;
  list_t                  fetch_list;
  logic                   fetch, fetch_last;
  fetch_t                 f0_q, f1_q, p_q;
  logic                   f0_valid_q, f1_valid_q, p_valid_q;
  line_t                  p_line_q;
  lanes_t                 p_lanes_q;
  entry_t                 entry [LANES];

  assign fetch_list  = list_o[fetch_slot_q];
  assign fetch_last  = fetch_at_q == fetch_list.last;
  assign fetch       = there_q != '0 && room_q != '0;
  assign read_o      = fetch;
  assign read_slot_o = fetch_slot_q;
  assign read_at_o   = fetch_at_q;

  always_comb for (int l = 0; l < LANES; l++) entry[l] = line_i[l*ENTRY_W +: ENTRY_W];

  always_ff @(posedge clk_i) begin
    f0_valid_q <= !rst_i && fetch;
    f1_valid_q <= !rst_i && f0_valid_q;
    p_valid_q  <= !rst_i && f1_valid_q;
    f0_q <= '{own: fetch_list, at: fetch_at_q, last: fetch_last};
    f1_q <= f0_q;
    p_q  <= f1_q;
    if (f1_valid_q) begin
      p_line_q <= line_i;
      for (int l = 0; l < LANES; l++) begin
        logic [RANGE_W:0] place;
        place = (RANGE_W+1)'({f1_q.at, 4'(l)});
        p_lanes_q[l] <= entry[l].id != '1 && entry[l].size != '0
                        && place < f1_q.own.range_last
                        && place > (RANGE_W+1)'({f1_q.own.low, 2'b0})
                        && (f1_q.own.k != TRIANGLE || place >= f1_q.own.range_first)
                        && !(f1_q.last && 2'(l / QUARTER) > f1_q.own.high);
      end
    end
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
  } visit_t;

  logic   next, waits, take, ends_q, only, x_take; // ends: the unit has nothing left but its end
  visit_t head, hand_q;
  lanes_t left_q, low;
  logic [3:0] lane;
  entry_t seen;

  gramer_fifo #(.WIDTH($bits(visit_t)), .DEPTH(AHEAD)) i_ahead (
    .clk_i, .rst_i,
    .push_i (p_valid_q), .data_i ({p_line_q, p_lanes_q, p_q.at, p_q.last}), .full_o (),
    .pop_i (next), .valid_o (waits), .data_o (head)
  );

  logic    m_valid_q, m_none_q, m_unit_last_q;
  entry_t  m_entry_q;
  member_t m_member_q;

  assign low  = left_q & (~left_q + 1'b1);
  assign only = (left_q & ~low) == '0;
  assign take = (left_q != '0 || ends_q) && (!m_valid_q || x_take);
  assign next = waits && ((left_q == '0 && !ends_q) || (take && only));

  always_comb begin
    lane = '0;
    seen = '0;
    for (int l = 0; l < LANES; l++) if (low[l]) begin
      lane |= 4'(l);
      seen |= hand_q.line[l*ENTRY_W +: ENTRY_W];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      left_q    <= '0;
      ends_q    <= 1'b0;
      m_valid_q <= 1'b0;
    end else begin
      if (next) begin
        left_q <= head.lanes;
        ends_q <= head.last && head.lanes == '0;
      end else if (take) begin
        left_q <= left_q & ~low;
        ends_q <= 1'b0;
      end
      if (take) m_valid_q <= 1'b1;
      else if (x_take) m_valid_q <= 1'b0;
    end
    if (next) hand_q <= head;
    if (take) begin
      m_entry_q     <= seen;
      m_member_q    <= {hand_q.at, lane};
      m_none_q      <= ends_q;
      m_unit_last_q <= hand_q.last && only;
    end
  end

  // ---------------------------------------------------------------- their lines

  typedef enum logic [1:0] { LINES, ASK, WAIT } state_e;

  state_e     state_q;
  logic       x_valid_q, x_none_q, x_unit_last_q, x_issued, x_last, first_q;
  line_at_t   line_q, left_lines_q;
  logic [1:0] low_q, high_q;
  member_t    member_q;
  logic [SIZE_W:0] end_quarter;

  assign end_quarter = (SIZE_W+1)'(m_entry_q.id[1:0]) + (SIZE_W+1)'(m_entry_q.size) - 1'b1;
  assign x_last      = left_lines_q == '0;
  assign x_issued    = x_valid_q && !load_q && issue_ready_i && state_q != WAIT;
  assign x_take      = m_valid_q && (!x_valid_q || (x_issued && x_last && state_q == LINES));

  always_ff @(posedge clk_i) begin
    member_o <= !rst_i && x_take && !m_none_q;
    if (rst_i) begin
      x_valid_q <= 1'b0;
      state_q   <= LINES;
    end else if (x_take) begin
      x_valid_q <= 1'b1;
      state_q   <= !m_none_q && m_entry_q.size == SIZE_W'(SIZE_LONG) ? ASK : LINES;
    end else unique case (state_q)
      ASK:  if (x_issued) state_q <= WAIT;
      WAIT: if (lengths_valid_i) state_q <= LINES;
      default: if (x_issued && x_last) x_valid_q <= 1'b0;
    endcase
    if (x_take) begin
      line_q        <= m_entry_q.id[ID_W-1:QUARTER_W];
      left_lines_q  <= m_none_q ? '0 : LINE_AT_W'(end_quarter[SIZE_W:QUARTER_W]);
      low_q         <= m_entry_q.id[1:0];
      high_q        <= end_quarter[1:0];
      first_q       <= 1'b1;
      member_q      <= m_member_q;
      x_none_q      <= m_none_q;
      x_unit_last_q <= m_unit_last_q;
    end else if (state_q == WAIT) begin
      // A block whose size isn't in its entries begins at a line's start.
      left_lines_q <= LINE_AT_W'((lengths_up_i - 1'b1) >> QUARTER_W);
      high_q       <= 2'(lengths_up_i - 1'b1);
    end else if (x_issued && state_q == LINES) begin
      line_q       <= line_q + 1'b1;
      left_lines_q <= left_lines_q - 1'b1;
      first_q      <= 1'b0;
    end
  end

  assign issue_valid_o = load_q || (x_valid_q && state_q != WAIT);
  assign issue_line_o  = load_q ? load_line_q : state_q == ASK ? line_q - 1'b1 : line_q;

  always_comb begin
    issue_meta_o = '0;
    if (load_q) begin
      issue_meta_o.load = 1'b1;
      issue_meta_o.low  = load_at_q == '0 ? load_list_q.low : '0;
      issue_meta_o.high = load_at_q == load_list_q.last ? load_list_q.high : '1;
      issue_meta_o.at   = load_at_q;
      issue_meta_o.last = load_at_q == load_list_q.last;
    end else begin
      issue_meta_o.lengths   = state_q == ASK;
      issue_meta_o.none      = x_none_q;
      issue_meta_o.low       = first_q ? low_q : '0;
      issue_meta_o.high      = x_last ? high_q : '1;
      issue_meta_o.member    = member_q;
      issue_meta_o.last      = x_last && !x_none_q;
      issue_meta_o.unit_last = x_last && x_unit_last_q;
    end
  end

  assign busy_o = used_q != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (used_q <= USED_W'(LISTS)) else $error("more lists than slots");
    assert (!(freed_i && used_q == '0)) else $error("a slot is freed twice");
    assert (!(accept && last_quarter[RANGE_W:2] >= (RANGE_W-1)'(LIST_LINES)))
      else $error("a root's list does not fit into the list buffer");
    assert (!(lengths_valid_i && state_q != WAIT)) else $error("lengths that nobody asked for");
  end
`endif

endmodule

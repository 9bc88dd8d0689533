// Each unit's list is requested once, line after line, from its first to its last, each part with its descriptor, after the
// line of its lengths if it has one. Loaded lists are read line after line. Of each line that was read exactly the lanes in
// the unit's range with a list are visited, lowest first, unchanged; a block for the map is marked first, and a list
// without members to visit ends with a marker. The lines of each visited list are requested once, in order, with their
// quarters, the last one marked. No queue overflows, and no list is overwritten before it is freed. The queues are those
// of the proof fifo. Liveness: with room and a port that is ready, a unit has its first request on offer after at most two
// cycles, a loaded line is taken after at most three, and a visited list has its next request after at most two. Lines
// have four entries here, one a quarter; slots two lines, of which two are read ahead.
module set_streamer_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic       clk_i,
  input plan_t [PLANS-1:0] plan_i,
  input logic       unit_valid_i,
  input unit_t      unit_i,
  input logic       issue_ready_i,
  input logic       loaded_i,
  input logic       freed_i,
  input line_t      line_i,
  input logic       lengths_valid_i,
  input logic       lengths_load_i,
  input id_t        lengths_up_i,
  input id_t        lengths_block_i
);
  localparam int unsigned AHEAD = 2;
  localparam int unsigned END_W = RANGE_W + 1;

  typedef logic [3:0] number_t; // of a list in the slots, of the last 16

  logic     started_q = 1'b0;
  plan_t    plan [PLANS];
  logic     unit_take, issue_valid, list_write, read, busy, idle_unit, member;
  line_at_t issue_line;
  meta_t    issue;
  slot_t    list_slot, read_slot;
  list_t    list;
  lline_t   read_at;

  always_comb for (int p = 0; p < PLANS; p++) plan[p] = plan_i[p];

  gramer_set_streamer dut (
    .clk_i, .rst_i (!started_q), .plan_i (plan),
    .unit_valid_i, .unit_take_o (unit_take), .unit_i,
    .issue_valid_o (issue_valid), .issue_ready_i, .issue_line_o (issue_line), .issue_meta_o (issue),
    .list_write_o (list_write), .list_slot_o (list_slot), .list_o (list), .loaded_i, .freed_i,
    .read_o (read), .read_slot_o (read_slot), .read_at_o (read_at), .line_i,
    .lengths_valid_i, .lengths_load_i, .lengths_up_i, .lengths_block_i,
    .busy_o (busy), .idle_unit_o (idle_unit), .member_o (member)
  );

  // ---------------------------------------------------------------- units and their lists

  typedef struct packed {
    plan_t plan;
    unit_t unit;
  } job_t;

  job_t     next_q, job_q;     // the unit that was taken; the one that is loaded
  logic     loads_q, long_q, asked_q; // a unit is loaded; its lengths are not known, and were requested
  line_at_t all_q, sent_q;     // lines of its block after the first; lines that were requested
  logic [1:0] end_q;           // last quarter of its last line
  number_t  placed_q, complete_q, loaded_q, fetched_q, visited_q, freed_q; // lists
  logic     open_q;            // lines of the last list that was placed are missing
  lline_t   read_q;            // the line that is read next
  list_t    list_q [LISTS];

  function automatic logic [END_W-1:0] last_quarter(input unit_t unit);
    return END_W'(unit.address[1:0]) + END_W'(unit.quarters) - 1'b1;
  endfunction

  function automatic logic for_map(input plan_t p);
    return p.operation == 4'(OP_EDGES) || p.operation == 4'(OP_PATHS);
  endfunction

  // What is right for a list of the job from line `sent_q` on.
  list_t right;
  wire line_at_t left = all_q - sent_q;
  always_comb begin
    right             = '0;
    right.k           = job_q.plan.k;
    right.sum         = job_q.plan.sum;
    right.low         = sent_q == '0 ? job_q.unit.address[1:0] : '0;
    right.more        = 32'(left) >= LIST_LINES;
    right.high        = right.more ? 2'd3 : end_q;
    right.last        = right.more ? lline_t'(LIST_LINES - 1) : lline_t'(left);
    right.range_first = END_W'(job_q.unit.first) + END_W'(job_q.unit.address[1:0]);
    right.range_last  = job_q.unit.last == RANGE_W'(LAST_ALL) ? '1
                        : END_W'(job_q.unit.last) + END_W'(job_q.unit.address[1:0]);
    right.mapped      = for_map(job_q.plan);
    right.counts      = job_q.plan.operation == 4'(OP_PATHS);
    right.begins      = sent_q == '0;
    right.root        = placed_t'(job_q.unit.address);
    right.block_last  = all_q;
    right.block_high  = end_q;
  end

  wire        issues  = issue_valid && issue_ready_i;
  wire        loads   = issues && issue.load && !issue.lengths;
  wire list_t open    = list_q[slot_t'(placed_q - 1'b1)];
  wire lline_t at     = lline_t'(sent_q); // parts begin at multiples of a slot's lines
  wire        done    = loads && sent_q == all_q;
  wire        turns   = next_valid_q && (!loads_q || done); // the unit that was taken is next
  logic       next_valid_q, idle_q, member_q;
  wire        valid   = next_q.plan.operation == 4'(OP_CLIQUES) || for_map(next_q.plan);

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (unit_take) next_q <= '{plan: plan_i[unit_i.plan], unit: unit_i};
    if (list_write) list_q[list_slot] <= list;
    if (!started_q) begin
      {next_valid_q, idle_q, member_q, loads_q, long_q, asked_q, open_q, read_q} <= '0;
      {placed_q, complete_q, loaded_q, fetched_q, visited_q, freed_q} <= '0;
    end else begin
      idle_q       <= turns && !valid;
      member_q     <= dut.x_take && !dut.m.none && !dut.m.mark;
      next_valid_q <= unit_take || (next_valid_q && !turns);
      if (done) loads_q <= 1'b0;
      if (turns && valid) begin
        loads_q <= 1'b1;
        long_q  <= for_map(next_q.plan) && next_q.unit.quarters == RANGE_W'(QUARTERS_LONG);
        asked_q <= 1'b0;
        job_q   <= next_q;
        sent_q  <= '0;
        all_q   <= line_at_t'(last_quarter(next_q.unit) >> 2);
        end_q   <= 2'(last_quarter(next_q.unit));
      end else if (loads) sent_q <= sent_q + 1'b1;
      if (issues && issue.load && issue.lengths) asked_q <= 1'b1;
      if (lengths_valid_i && lengths_load_i) begin
        long_q <= 1'b0;
        all_q  <= line_at_t'((lengths_block_i - 1'b1) >> 2);
        end_q  <= 2'(lengths_block_i - 1'b1);
      end
      if (read) read_q <= read_at == list_q[read_slot].last ? '0 : read_q + 1'b1;
      if (list_write) open_q <= 1'b1;
      else if (loads && at == open.last) open_q <= 1'b0;
      placed_q   <= placed_q + number_t'(list_write);
      complete_q <= complete_q + number_t'(loads && at == open.last);
      loaded_q   <= loaded_q + number_t'(loaded_i);
      fetched_q  <= fetched_q + number_t'(read && read_at == list_q[read_slot].last);
      visited_q  <= visited_q + number_t'(dut.take && !hand_q.mark && hand_last);
      freed_q    <= freed_q + number_t'(freed_i);
    end
  end

  // ---------------------------------------------------------------- lines that were read, and their lanes

  typedef struct packed {
    number_t number;
    list_t   own;
    lline_t  at;
    logic    last;
  } fetch_t;
  typedef struct packed {
    fetch_t fetch;
    line_t  line;
    lanes_t lanes; // that are left
    logic   mark;
    logic   ends;
  } visit_t;

  fetch_t f0_q, f1_q;
  logic   f0_valid_q, f1_valid_q, ahead_valid;
  visit_t came, ahead, hand_q;

  function automatic entry_t entry_of(input line_t line, input int l);
    return line[l*ENTRY_W +: ENTRY_W];
  endfunction

  function automatic lanes_t visits(input fetch_t fetch, input line_t line);
    lanes_t lanes;
    for (int l = 0; l < LANES; l++) begin
      logic [31:0] place;
      entry_t      entry;
      place = 32'(fetch.at) * LANES + l;
      entry = entry_of(line, l);
      lanes[l] = !is_padding(entry.id) && entry.size != '0
                 && !(fetch.last && l > 32'(fetch.own.high)) && place >= 32'(fetch.own.low);
      if (fetch.own.mapped) lanes[l] &= entry.id > id_t'(fetch.own.root);
      else lanes[l] &= place > 32'(fetch.own.low) && place < 32'(fetch.own.range_last)
                       && (fetch.own.k != TRIANGLE || place >= 32'(fetch.own.range_first));
    end
    return lanes;
  endfunction

  always_comb begin
    came       = '0;
    came.fetch = f1_q;
    came.line  = line_i;
    came.lanes = visits(f1_q, line_i);
    came.mark  = f1_q.own.mapped && f1_q.own.begins && f1_q.at == '0;
    came.ends  = f1_q.last && came.lanes == '0;
  end

  gramer_fifo #(.WIDTH($bits(visit_t)), .DEPTH(AHEAD)) i_came (
    .clk_i, .rst_i (!started_q), .push_i (f1_valid_q), .data_i (came), .full_o (),
    .pop_i (dut.next), .valid_o (ahead_valid), .data_o (ahead)
  );

  wire lanes_t rest      = hand_q.lanes & (hand_q.lanes - 1'b1);
  wire         pending   = hand_q.mark || hand_q.ends || hand_q.lanes != '0;
  wire         single    = hand_q.mark ? !hand_q.ends && hand_q.lanes == '0 : rest == '0; // one visit is left
  wire         hand_last = hand_q.fetch.last && rest == '0;

  always_ff @(posedge clk_i) begin
    f0_valid_q <= started_q && read;
    f1_valid_q <= started_q && f0_valid_q;
    f0_q <= '{number: fetched_q, own: list_q[read_slot], at: read_at, last: read_at == list_q[read_slot].last};
    f1_q <= f0_q;
    if (!started_q) {hand_q.mark, hand_q.ends, hand_q.lanes} <= '0;
    else if (dut.next) hand_q <= ahead;
    else if (dut.take) begin
      if (hand_q.mark) hand_q.mark <= 1'b0;
      else {hand_q.lanes, hand_q.ends} <= {rest, 1'b0};
    end
  end

  // What is right for the next visit.
  logic [1:0] lane;
  always_comb begin
    lane = '0;
    for (int l = LANES - 1; l >= 0; l--) if (hand_q.lanes[l]) lane = 2'(l);
  end
  wire entry_t entry = entry_of(hand_q.line, 32'(lane));

  // ---------------------------------------------------------------- requests of the lists that are visited

  logic        x_q, x_none_q, x_mark_q, x_map_q, x_last_q, x_ask_q, x_wait_q;
  entry_t      x_entry_q;
  member_t     x_member_q;
  line_at_t    x_all_q, x_sent_q; // lines after the first; lines that were requested
  logic [1:0]  x_end_q;
  wire         x_issues = issues && !issue.load;
  wire         x_done   = x_issues && !x_ask_q && x_sent_q == x_all_q;
  wire [SIZE_W:0] x_quarter = (SIZE_W+1)'(dut.m.entry.id[1:0]) + (SIZE_W+1)'(dut.m.entry.size) - 1'b1;
  wire id_t    length = x_map_q ? lengths_block_i : lengths_up_i;

  always_ff @(posedge clk_i) begin
    if (!started_q) {x_q, x_ask_q, x_wait_q} <= '0;
    else begin
      if (x_done) x_q <= 1'b0;
      if (dut.x_take) begin
        x_q        <= 1'b1;
        x_none_q   <= dut.m.none;
        x_mark_q   <= dut.m.mark;
        x_map_q    <= dut.m.mapped;
        x_last_q   <= dut.m.slot_last;
        x_ask_q    <= !dut.m.none && !dut.m.mark && dut.m.entry.size == SIZE_W'(SIZE_LONG);
        x_entry_q  <= dut.m.entry;
        x_member_q <= dut.m.member;
        x_sent_q   <= '0;
        x_all_q    <= dut.m.none ? '0 : dut.m.mark ? dut.m.left : line_at_t'(x_quarter >> 2);
        x_end_q    <= dut.m.mark ? dut.m.high : 2'(x_quarter);
      end else if (x_issues) begin
        if (x_ask_q) {x_ask_q, x_wait_q} <= 2'b01;
        else x_sent_q <= x_sent_q + 1'b1;
      end
      if (lengths_valid_i && !lengths_load_i) begin
        x_wait_q <= 1'b0;
        x_all_q  <= line_at_t'((length - 1'b1) >> 2);
        x_end_q  <= 2'(length - 1'b1);
      end
    end
  end

  // ---------------------------------------------------------------- cycles of waiting

  logic [2:0] load_waits_q, line_waits_q, visit_waits_q;
  wire used_all    = placed_q - freed_q == number_t'(LISTS);
  wire load_waits  = (loads_q || (next_valid_q && valid)) && !(issue_valid && issue.load) && !(long_q && asked_q) && !used_all;
  wire line_waits  = (loaded_q != fetched_q || f0_valid_q || f1_valid_q || ahead_valid) && !pending && !dut.next;
  wire visit_waits = (pending || dut.m_valid || x_q) && !x_wait_q && issue_ready_i && !(issue_valid && issue.load) && !x_issues;

  always_ff @(posedge clk_i) begin
    load_waits_q  <= started_q && load_waits ? load_waits_q + 1'b1 : '0;
    line_waits_q  <= started_q && line_waits ? line_waits_q + 1'b1 : '0;
    visit_waits_q <= started_q && visit_waits ? visit_waits_q + 1'b1 : '0;
  end

`ifdef INVARIANTS
  // Lines that were read, the next to be visited first: in hand, in the queue, the two on their way.
  localparam int unsigned PLACES_ALL = 1 + AHEAD + 2;
  logic    there [PLACES_ALL];
  fetch_t  line  [PLACES_ALL];
  number_t number [PLACES_ALL], after;
  logic [1:0] held;
  assign held = i_came.write_q - i_came.read_q;
  always_comb begin
    there[0] = pending;
    line[0]  = hand_q.fetch;
    for (int unsigned g = 0; g < AHEAD; g++) begin
      visit_t one;
      one        = i_came.mem[1'(32'(i_came.read_q) + g)];
      there[1+g] = g < 32'(held);
      line[1+g]  = one.fetch;
    end
    there[AHEAD+1] = f1_valid_q;
    line[AHEAD+1]  = f1_q;
    there[AHEAD+2] = f0_valid_q;
    line[AHEAD+2]  = f0_q;
    after    = visited_q;
    for (int l = 0; l < PLACES_ALL; l++) begin
      number[l] = after;
      if (there[l]) after += number_t'(line[l].last);
    end
  end
`endif

  always_comb begin
    if (started_q) begin
      // Units: of cliques they fit a slot, blocks with lengths are line-aligned.
      if (unit_valid_i) begin
        assume (unit_i.quarters != '0);
        if (plan_i[unit_i.plan].operation == 4'(OP_CLIQUES)) assume (32'(last_quarter(unit_i)) < 4 * LIST_LINES);
        if (for_map(plan_i[unit_i.plan]) && unit_i.quarters == RANGE_W'(QUARTERS_LONG)) assume (unit_i.address[1:0] == '0);
      end
      // Lists are loaded after all their lines were requested, and freed after the last visit, in order.
      if (loaded_i) assume (loaded_q != complete_q);
      if (freed_i) assume (freed_q != visited_q);
      if (lengths_valid_i) begin
        assume (lengths_load_i ? long_q && asked_q : x_wait_q);
        assume (lengths_block_i != '0 && (lengths_load_i || length > id_t'(LINE_QUARTERS)));
      end

      // Units and events.
      assert (unit_take == (unit_valid_i && !next_valid_q) && idle_unit == idle_q && member == member_q);
      assert (busy == (placed_q != freed_q || loads_q || next_valid_q));
      // Requests for roots' lists.
      if (issue_valid && issue.load) begin
        assert (loads_q && issue.lengths == long_q && !(long_q && asked_q));
        if (long_q) assert (issue_line == line_of(id_t'(job_q.unit.address)) - 1'b1);
        else begin
          assert (open_q && issue_line == line_of(id_t'(job_q.unit.address)) + sent_q);
          assert (issue.at == at && issue.last == (at == open.last) && !issue.none && !issue.mark);
          assert (issue.low == (at == '0 ? open.low : '0) && issue.high == (at == open.last ? open.high : 2'd3));
        end
      end
      if (list_write) begin
        assert (loads_q && !long_q && !open_q && !used_all && at == '0);
        assert (list == right && list_slot == slot_t'(placed_q));
      end
      // Reads.
      if (read) assert (fetched_q != loaded_q && read_slot == slot_t'(fetched_q) && read_at == read_q);
      // Visits.
      if (f1_valid_q) assert (dut.f1_lanes == came.lanes && !dut.i_ahead.full_o);
      assert (dut.take == (pending && !dut.m_full));
      if (dut.next) assert (ahead_valid && (!pending || (dut.take && single)));
      if (dut.take) begin
        assert (dut.seen_next.mark == hand_q.mark && dut.seen_next.none == (!hand_q.mark && hand_q.ends));
        assert (dut.seen_next.mapped == hand_q.fetch.own.mapped);
        assert (dut.seen_next.slot_last == (!hand_q.mark && hand_last));
        if (hand_q.mark) begin
          assert (dut.seen_next.entry.id == id_t'(hand_q.fetch.own.root));
          assert (dut.seen_next.left == hand_q.fetch.own.block_last && dut.seen_next.high == hand_q.fetch.own.block_high);
        end else if (!hand_q.ends)
          assert (dut.seen_next.entry == entry && dut.seen_next.member == {hand_q.fetch.at, lane});
      end
      // Requests for the lists that are visited.
      if (issue_valid && !issue.load) begin
        assert (x_q && !x_wait_q && issue.lengths == x_ask_q);
        if (x_ask_q) assert (issue_line == line_of(x_entry_q.id) - 1'b1);
        else begin
          if (!x_none_q) assert (issue_line == line_of(x_entry_q.id) + x_sent_q);
          assert (issue.none == x_none_q && issue.mark == x_mark_q && issue.member == x_member_q);
          assert (issue.last == (x_sent_q == x_all_q && !x_none_q) && issue.slot_last == (x_sent_q == x_all_q && x_last_q));
          assert (issue.low == (x_sent_q == '0 ? x_entry_q.id[1:0] : '0));
          assert (issue.high == (x_sent_q == x_all_q ? x_end_q : 2'd3));
        end
      end
      if (dut.x_take) assert (!x_q || x_done);
      // Liveness.
      assert (!(load_waits && load_waits_q == 3'd2));
      assert (!(line_waits && line_waits_q == 3'd3));
      assert (!(visit_waits && visit_waits_q == 3'd2));
`ifdef INVARIANTS
      // Units and lists.
      assert (dut.unit_valid_q == next_valid_q && (!next_valid_q || {dut.plan_q, dut.unit_q} == next_q));
      assert ((3'(dut.load_q) == 3'd0) == !loads_q && 3'(dut.load_q) <= 3'd4);
      assert ((3'(dut.load_q) == 3'd1) == (loads_q && long_q && !asked_q));
      assert ((3'(dut.load_q) == 3'd2) == (loads_q && long_q && asked_q));
      assert ((3'(dut.load_q) == 3'd4) == open_q);
      if (long_q) assert (loads_q && sent_q == '0);
      if (next_valid_q) begin
        if (next_q.plan.operation == 4'(OP_CLIQUES)) assert (32'(last_quarter(next_q.unit)) < 4 * LIST_LINES);
        if (for_map(next_q.plan) && next_q.unit.quarters == RANGE_W'(QUARTERS_LONG)) assert (next_q.unit.address[1:0] == '0);
      end
      if (loads_q) begin
        assert (sent_q <= all_q || long_q);
        assert (dut.load_line_q == line_of(id_t'(job_q.unit.address)) + sent_q);
        assert (dut.load_list_q.k == right.k && dut.load_list_q.sum == right.sum
                && dut.load_list_q.range_first == right.range_first && dut.load_list_q.range_last == right.range_last
                && dut.load_list_q.mapped == right.mapped && dut.load_list_q.counts == right.counts && dut.load_list_q.root == right.root);
        if (!long_q) assert (dut.load_left_q == left && dut.load_list_q.block_last == all_q && dut.load_list_q.block_high == end_q);
        if (long_q) assert (job_q.unit.address[1:0] == '0);
        if (open_q) begin
          assert (dut.load_list_q == open && dut.load_at_q == at);
          assert (open.low == (32'(sent_q) < LIST_LINES ? job_q.unit.address[1:0] : '0));
          assert (open.begins == (32'(sent_q) < LIST_LINES) && at <= open.last);
          assert (open.more ? open.last == '1 && all_q - sent_q > line_at_t'(open.last - at)
                            : all_q - sent_q == line_at_t'(open.last - at));
        end else begin
          assert (at == '0);
          assert (dut.load_list_q.low == right.low && dut.load_list_q.begins == right.begins);
        end
      end
      // Numbers of lists.
      assert (placed_q - freed_q <= number_t'(LISTS) && dut.used_q == (SLOT_W+1)'(placed_q - freed_q));
      assert (complete_q == placed_q - number_t'(open_q));
      assert (complete_q - freed_q <= number_t'(LISTS) && loaded_q - freed_q <= complete_q - freed_q);
      assert (fetched_q - freed_q <= loaded_q - freed_q && visited_q - freed_q <= fetched_q - freed_q);
      assert (dut.there_q == (SLOT_W+1)'(loaded_q - fetched_q));
      assert (dut.load_slot_q == slot_t'(placed_q) && dut.fetch_slot_q == slot_t'(fetched_q));
      assert (dut.visit_slot_q == slot_t'(visited_q));
      for (int s = 0; s < LISTS; s++)
        if (number_t'(slot_t'(s) - slot_t'(freed_q)) < placed_q - freed_q)
          assert (dut.fetched_lists[s] == list_q[s] && dut.visited_lists[s] == list_q[s]);
      assert (dut.fetch_at_q == read_q);
      if (fetched_q != loaded_q) assert (dut.fetch_at_q <= list_q[slot_t'(fetched_q)].last);
      else assert (dut.fetch_at_q == '0);
      // Lines on their way.
      assert (dut.f0_valid_q == f0_valid_q && dut.f1_valid_q == f1_valid_q);
      if (f0_valid_q) assert ({dut.f0_q.own, dut.f0_q.at, dut.f0_q.last} == {f0_q.own, f0_q.at, f0_q.last});
      if (f1_valid_q) begin
        assert ({dut.f1_q.own, dut.f1_q.at, dut.f1_q.last} == {f1_q.own, f1_q.at, f1_q.last});
      end
      assert (32'(held) <= AHEAD && 32'(dut.room_q) + 32'(held) + 32'(f0_valid_q) + 32'(f1_valid_q) == AHEAD);
      assert (dut.i_ahead.write_q == i_came.write_q && dut.i_ahead.read_q == i_came.read_q);
      for (int unsigned g = 0; g < AHEAD; g++) begin
        visit_t one;
        one = i_came.mem[1'(32'(i_came.read_q) + g)];
        if (g < 32'(held)) begin
          assert (dut.i_ahead.mem[1'(32'(i_came.read_q) + g)]
                  == {one.line, one.lanes, one.fetch.at, one.fetch.last, one.mark});
          assert (one.ends == (one.fetch.last && one.lanes == '0));
        end
      end
      assert (after == fetched_q);
      for (int l = 0; l < PLACES_ALL; l++) if (there[l]) begin
        assert (line[l].number == number[l] && line[l].own == list_q[slot_t'(number[l])]);
        assert (number_t'(line[l].number - freed_q) < placed_q - freed_q);
      end
      // In hand.
      assert (dut.left_q == hand_q.lanes && dut.less_q == rest && dut.any_q == (hand_q.lanes != '0));
      assert (dut.only_q == (rest == '0) && dut.ends_q == hand_q.ends && dut.marks_q == hand_q.mark);
      if (hand_q.ends) assert (hand_q.lanes == '0 && hand_q.fetch.last);
      if (hand_q.mark && hand_q.fetch.last) assert (hand_q.ends == (hand_q.lanes == '0));
      if (pending)
        assert (dut.hand_q.line == hand_q.line && dut.hand_q.at == hand_q.fetch.at && dut.hand_q.last == hand_q.fetch.last);
      // Requests.
      assert (dut.i_members.write_q - dut.i_members.read_q <= 2'd2);
      assert (dut.x_valid_q == x_q && !(x_ask_q && x_wait_q) && (x_q || !(x_ask_q || x_wait_q)));
      assert (2'(dut.state_q) == (x_ask_q ? 2'd1 : x_wait_q ? 2'd2 : 2'd0));
      if (x_q) begin
        assert (dut.line_q == line_of(x_entry_q.id) + x_sent_q && dut.member_q == x_member_q && dut.low_q == x_entry_q.id[1:0]);
        assert (dut.x_none_q == x_none_q && dut.x_mark_q == x_mark_q && dut.x_map_q == x_map_q && dut.x_slot_last_q == x_last_q);
        assert (dut.first_q == (x_sent_q == '0));
        if (x_ask_q || x_wait_q) assert (x_sent_q == '0 && !x_none_q && !x_mark_q);
        else assert (x_sent_q <= x_all_q && dut.left_lines_q == x_all_q - x_sent_q && dut.x_last_q == (x_sent_q == x_all_q)
                     && dut.high_q == x_end_q);
        if (x_none_q) assert (x_all_q == '0);
      end
      // Waiting.
      if (line_waits_q >= 3'd1) assert (f0_valid_q || f1_valid_q || ahead_valid);
      if (line_waits_q >= 3'd2) assert (f1_valid_q || ahead_valid);
      if (line_waits_q >= 3'd3) assert (ahead_valid);
      if (visit_waits_q >= 3'd1) assert (dut.m_valid || x_q);
      if (visit_waits_q >= 3'd2) assert (x_q);
`endif
      cover (placed_q == 4'd3);
      cover (x_issues && x_mark_q);
      cover (issues && issue.slot_last && issue.last && x_sent_q == 4'd1);
      cover (loads && !open.begins && done);
    end
  end
endmodule

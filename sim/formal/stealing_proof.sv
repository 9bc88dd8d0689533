// Stealing on a reduced scheduler with abstract edges: the scheduler, its slots, candidates and
// ancestor buffers and the embedding table are the core's; what stands for extender, filter and
// process takes the edges of a token's list one by one, accepts or refuses each as it likes, and
// takes as long as it likes. A vertex is named by where it was found, so that an embedding's ids
// are its path in the tree. One arbitrary path is watched: root, first edge, second and third
// (position of the list, edge). Each of its edges must be taken once, and by the end each that is
// in reach must have been taken.
module stealing_proof
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input logic   clk_i,
  // Always the same: what is run
  input logic   ascending_i,
  input logic   clique_i,
  input edge_t [DEPTH-1:0] offset_i, // of the list of every vertex at position 0, 1, 2
  input edge_t [DEPTH-1:0] degree_i,
  input edge_t  first_i,           // the part of a root's list that a unit is
  input edge_t  limit_i,
  // Always the same: the path that is watched, and whether its first two edges are accepted
  input logic   root_i,
  input pos_t  [DEPTH-1:0] list_i,
  input edge_t [DEPTH-1:0] edge_i,
  input logic [1:0] accepted_i,
  // Any time: a unit is offered, a token takes an edge (and comes back, accepted or not), one ends
  input logic   unit_valid_i,
  input logic   start_i,
  input logic   take_i,
  input logic   send_i,
  input logic   accept_i,
  input slot_t  take_slot_i,
  input logic   end_i,
  input slot_t  end_slot_i
);
  localparam int unsigned MOST_OFFSET = 1;
  localparam int unsigned MOST_DEGREE = 3;

  logic [1:0] phase_q = 2'd0; // reset, clear, run
  wire        running = phase_q == 2'd2;

  always_ff @(posedge clk_i) if (!running) phase_q <= phase_q + 1'b1;

  config_t settings;
  always_comb begin
    settings           = '0;
    settings.app       = clique_i ? APP_CLIQUE : APP_MOTIF;
    settings.ascending = ascending_i;
    settings.stealing  = 1'b1;
    settings.slots     = ($clog2(SLOTS+1))'(SLOTS);
  end

  // ---------------------------------------------------------------- the design

  logic    unit_ready, result_valid, ended_valid, issue_valid, pending, freed, stolen;
  unit_t   unit;
  result_t result;
  ended_t  ended;
  issue_t  issue;
  logic [SLOTS-1:0] busy;

  slot_t row, copy_to, saved_row;
  id_t   row_ids [DEPTH];
  pos_t  row_lane, key_lane, lane;
  edge_t row_offset, root_offset, offset_in;
  logic [EDGE_W-1:0] row_degree, root_degree, degree_in;
  key_t  row_key, key_in;
  logic  write, copy;
  id_t   id_in;
  row_t  restored;

  gramer_scheduler dut (
    .clk_i, .rst_i (phase_q == 2'd0), .clear_i (phase_q == 2'd1), .kill_i (1'b0),
    .config_i (settings),
    .unit_valid_i (unit_valid_i && running), .unit_ready_o (unit_ready), .unit_i (unit),
    .result_valid_i (result_valid), .result_i (result),
    .ended_valid_i (ended_valid), .ended_i (ended),
    .issue_valid_o (issue_valid), .issue_o (issue),
    .row_o (row), .row_ids_i (row_ids), .row_lane_o (row_lane), .row_offset_i (row_offset),
    .row_degree_i (row_degree), .row_key_lane_o (key_lane), .row_key_i (row_key),
    .root_offset_i (root_offset), .root_degree_i (root_degree),
    .table_write_o (write), .table_lane_o (lane), .table_id_o (id_in),
    .table_offset_o (offset_in), .table_degree_o (degree_in), .table_key_o (key_in),
    .table_label_o (), .table_copy_o (copy), .table_copy_to_o (copy_to),
    .saved_row_o (saved_row), .saved_i ('0), .restored_o (restored),
    .listed_slot_i ('0), .listed_ordinal_o (),
    .oldest_o (), .busy_o (busy), .pending_o (pending), .freed_o (freed), .stolen_o (stolen)
  );

  id_t take_ids [DEPTH], end_ids [MAX_MOTIF];

  gramer_embedding_table table_dut (
    .clk_i, .row_i (row), .row_ids_o (row_ids), .row_lane_i (row_lane),
    .row_offset_o (row_offset), .row_degree_o (row_degree),
    .row_key_lane_i (key_lane), .row_key_o (row_key),
    .root_offset_o (root_offset), .root_degree_o (root_degree),
    .write_i (write), .write_lane_i (lane), .write_id_i (id_in),
    .write_offset_i (offset_in), .write_degree_i (degree_in), .write_key_i (key_in),
    .copy_i (copy), .copy_to_i (copy_to),
    .saved_row_i (saved_row), .saved_o (), .restored_i (restored),
    .listed_row_i (take_slot_i), .listed_ids_o (take_ids),
    .early_row_i (end_slot_i), .early_ids_o (end_ids),
    .list_row_i ('0), .list_lane_i ('0), .list_id_o (), .list_offset_o (), .list_degree_o ()
  );

  // ---------------------------------------------------------------- extender, abstract

  logic [SLOTS-1:0] token_q, root_q; // slots whose token is here; it asks for a root's record
  size_t            size_q [SLOTS];
  cursor_t          cursor_q [SLOTS];
  logic [1:0]       handed_q;        // roots that were handed out

  function automatic id_t name(input pos_t list, input edge_t position);
    return id_t'({list, position});
  endfunction

  function automatic logic between(input edge_t at, input edge_t from, input edge_t to);
    return at >= from && at < to;
  endfunction

  // The watched path as ids.
  id_t path [DEPTH];
  assign path[0] = id_t'(root_i);
  assign path[1] = name(list_i[0], edge_i[0]);
  assign path[2] = name(list_i[1], edge_i[1]);

  wire     fetch = root_q[take_slot_i]; // a root's record comes
  cursor_t taking, left, ending;
  size_t   size;
  assign taking = cursor_q[take_slot_i];
  assign ending = cursor_q[end_slot_i];
  assign size   = size_q[take_slot_i];
  wire edge_t took = ascending_i ? taking.hi - 1'b1 : taking.lo;

  always_comb begin
    left = taking;
    if (!fetch) begin
      if (ascending_i) left.hi = taking.hi - 1'b1;
      else             left.lo = taking.lo + 1'b1;
    end
  end

  // How much of the watched path is in the embedding of the token that takes, or ends.
  wire [2:0] same_take = {take_ids[2] == path[2], take_ids[1] == path[1], take_ids[0] == path[0]};
  wire [2:0] same_end  = {end_ids[2] == path[2], end_ids[1] == path[1], end_ids[0] == path[0]};

  logic [DEPTH-1:0] takes, covers; // the watched edge of each level: is taken now; is in `ending`
  always_comb begin
    for (int l = 0; l < DEPTH; l++) begin
      takes[l]  = take_i && !fetch && size == size_t'(l + 1) && taking.i == list_i[l]
                  && took == edge_i[l];
      covers[l] = size_q[end_slot_i] == size_t'(l + 1) && ending.i == list_i[l]
                  && between(edge_i[l], ending.lo, ending.hi);
      for (int j = 0; j <= l; j++) begin
        takes[l]  = takes[l] && same_take[j];
        covers[l] = covers[l] && same_end[j];
      end
    end
  end

  always_comb begin
    unit         = '0;
    unit.start   = id_t'(start_i);
    unit.first   = first_i;
    unit.limit   = limit_i;
    result_valid         = running && take_i && (fetch || send_i);
    result               = '0;
    result.slot          = take_slot_i;
    result.accept        = fetch || accept_i;
    result.size          = fetch ? '0 : size;
    result.vertex        = fetch ? id_t'(taking.i_last) : name(taking.i, took);
    result.record.offset = offset_i[fetch ? 0 : pos_t'(size)];
    result.record.degree = degree_i[fetch ? 0 : pos_t'(size)];
    result.cursor        = left;
    ended_valid  = running && end_i;
    ended        = '0;
    ended.slot   = end_slot_i;
    ended.i      = ending.i;
    ended.i_last = ending.i_last;
  end

  always_ff @(posedge clk_i) begin
    if (!running) begin
      token_q  <= '0;
      root_q   <= '0;
      handed_q <= '0;
    end else begin
      if (take_i && !result_valid) cursor_q[take_slot_i] <= left;
      if (result_valid) token_q[take_slot_i] <= 1'b0;
      if (ended_valid)  token_q[end_slot_i] <= 1'b0;
      if (issue_valid) begin
        token_q[issue.slot]  <= 1'b1;
        root_q[issue.slot]   <= issue.root;
        size_q[issue.slot]   <= issue.size;
        cursor_q[issue.slot] <= issue.cursor;
        // The root's name waits in a field that such a token does not use.
        if (issue.root) cursor_q[issue.slot].i_last <= pos_t'(issue.threshold);
      end
      if (unit_valid_i && unit_ready) handed_q[start_i] <= 1'b1;
    end
  end

  // ---------------------------------------------------------------- what must hold

  edge_t end_of [DEPTH];
  always_comb for (int l = 0; l < DEPTH; l++) end_of[l] = offset_i[l] + degree_i[l];

  // The watched edges that are in reach of the embedding before them.
  logic [DEPTH-1:0] reach;
  always_comb begin
    reach[0] = list_i[0] == '0 && between(edge_i[0], offset_i[0] + first_i,
        offset_i[0] + (limit_i < degree_i[0] ? limit_i : degree_i[0]));
    for (int l = 1; l < DEPTH; l++) begin
      reach[l] = list_i[l] <= (clique_i ? pos_t'(0) : pos_t'(l))
                 && between(edge_i[l], offset_i[list_i[l]], end_of[list_i[l]]);
      // Of the root's list what lies beyond the vertex before, if that came from it too.
      if (list_i[l] == '0 && list_i[l-1] == '0 && (ascending_i ? edge_i[l] <= edge_i[l-1]
                                                               : edge_i[l] >= edge_i[l-1]))
        reach[l] = 1'b0;
    end
  end

  logic [DEPTH-1:0] taken_q;
  logic [1:0]       steals_q; // up to three
  always_ff @(posedge clk_i) begin
    if (!running) begin
      taken_q  <= '0;
      steals_q <= '0;
    end else begin
      taken_q  <= taken_q | takes;
      if (stolen && steals_q != '1) steals_q <= steals_q + 1'b1;
    end
  end

  logic       ascending_q, clique_q, root_same_q;
  edge_t [DEPTH-1:0] offset_q, degree_q, edge_q;
  edge_t      first_q, limit_q;
  pos_t [DEPTH-1:0] list_q;
  logic [1:0] accepted_q;
  always_ff @(posedge clk_i) begin
    {ascending_q, clique_q, root_same_q} <= {ascending_i, clique_i, root_i};
    {offset_q, degree_q, edge_q, list_q} <= {offset_i, degree_i, edge_i, list_i};
    {first_q, limit_q, accepted_q}       <= {first_i, limit_i, accepted_i};
  end

  wire ended_all = running && handed_q[root_i] && busy == '0 && !pending;

  always_comb begin
    // What does not change; lists fit their numbers.
    if (phase_q != 2'd0) begin
      assume ({ascending_q, clique_q, root_same_q} == {ascending_i, clique_i, root_i});
      assume ({offset_q, degree_q, edge_q, list_q} == {offset_i, degree_i, edge_i, list_i});
      assume ({first_q, limit_q, accepted_q} == {first_i, limit_i, accepted_i});
    end
    for (int l = 0; l < DEPTH; l++) begin
      assume (offset_i[l] <= edge_t'(MOST_OFFSET) && degree_i[l] <= edge_t'(MOST_DEGREE));
      assume (list_i[l] < pos_t'(DEPTH));
    end
    assume (first_i <= edge_t'(MOST_DEGREE));
    assume (limit_i <= edge_t'(MOST_DEGREE));
    if (running) begin
      assume (!(unit_valid_i && handed_q[start_i])); // each root once
      // What extender, filter and process do.
      assume (!take_i || token_q[take_slot_i]);
      assume (!(take_i && !fetch) || taking.lo < taking.hi);
      assume (!(take_i && send_i && accept_i && !fetch) || size < size_t'(DEPTH));
      assume (!end_i || (token_q[end_slot_i] && !root_q[end_slot_i]));
      assume (!(end_i && take_i && take_slot_i == end_slot_i));
      // A list may end early, unless the watched edge is in what is left.
      assume (!end_i || covers == '0);
      assume (!takes[0] || ((send_i && accept_i) == accepted_i[0]));
      assume (!takes[1] || ((send_i && accept_i) == accepted_i[1]));
      // Never twice.
      assert ((takes & taken_q) == '0);
      // Only what is there.
      assert (!takes[0] || reach[0]);
      assert (!takes[1] || (reach[1] && taken_q[0] && accepted_i[0]));
      assert (!takes[2] || (reach[2] && taken_q[1] && accepted_i[1]));
      // None is lost.
      if (ended_all) begin
        assert (taken_q[0] == reach[0]);
        assert (taken_q[1] == (reach[1] && taken_q[0] && accepted_i[0]));
        assert (taken_q[2] == (reach[2] && taken_q[1] && accepted_i[1]));
      end
      // A steal divides the shallowest entry that may have work left, and one that has its bit.
      if (dut.a_valid && dut.a.kind == 3'd5 && !dut.nothing)
        assert ((dut.work << (DEPTH - 1 - dut.leveled.level)) == mask_t'(1) << (DEPTH - 1));
      // The tokens here are of busy slots.
      assert ((token_q & ~busy) == '0);
`ifdef DIRECTED
      // For traces from the reset on: cliques of one root, of what isn't watched only the first
      // edge is accepted, and nothing waits, except while no slot is on offer.
      assume (!ascending_i && clique_i && offset_i == '0 && list_i == '0 && first_i == '0);
      assume (degree_i == {3{edge_t'(MOST_DEGREE)}} && limit_i >= edge_t'(2));
      assume (root_i == 1'b0 && start_i == 1'b0 && unit_valid_i == !handed_q[0]);
      assume (take_i || end_i || token_q == '0 || !dut.i_receiver.slot_valid);
      assume (!end_i || ending.lo >= ending.hi);
      assume (send_i == accept_i && (!accept_i || fetch || takes[1:0] != '0 || took == '0));
`endif
      cover (ended_all && steals_q != '0 && taken_q[1:0] == '1);
      cover (ended_all && steals_q != '0 && taken_q[0] && edge_i[0] == edge_t'(2));
    end
  end

`ifdef INVARIANTS
  // ---------------------------------------------------------------- invariants
  //
  // A slot's token is at one place, and each watched edge that is in reach and not taken is in
  // exactly one place: a unit, a message, a token, an entry of an ancestor buffer.

  localparam int unsigned KINDS = 3; // width of the tokens' kind_e, whose values these are
  localparam logic [KINDS-1:0] ROOT = 0, GROWN = 1, AGAIN = 2, NEXT = 3, BACK = 4, STEAL = 5;

  wire [SLOTS-1:0] one = SLOTS'(1);
  wire [KINDS-1:0] a_kind = dut.a.kind, b_kind = dut.b_q.kind, c_kind = dut.c_q.kind;
  wire c_whole = dut.c_on_q || c_kind == NEXT;
  wire slot_t a_slot = a_kind == STEAL ? dut.a.thief : dut.a.slot;
  wire slot_t b_slot = b_kind == STEAL ? dut.b_q.thief : dut.b_q.slot;
  wire slot_t c_slot = c_kind == STEAL ? dut.c_q.thief : dut.c_q.slot;
  wire [SLOTS-1:0] at_a     = dut.a_valid ? one << a_slot : '0;
  wire [SLOTS-1:0] at_b     = dut.b_valid_q ? one << b_slot : '0;
  wire [SLOTS-1:0] at_c     = dut.c_valid_q ? one << c_slot : '0;
  wire [SLOTS-1:0] at_issue = issue_valid ? one << issue.slot : '0;
  // A steal that found nothing gives its slot back: from stage A by way of B, from B at once.
  wire [SLOTS-1:0] at_nothing = dut.b_nothing_q ? one << dut.b_q.thief : '0;
  wire [SLOTS-1:0] at_failed  = dut.c_failed_q ? one << dut.c_q.thief : '0;
  wire [SLOTS-1:0] at_back    = at_nothing | at_failed;
  wire [SLOTS-1:0] at_free  = dut.free_q ? one << dut.free_slot_q : '0;

  // The queue of ends: as many places as slots.
  ended_t           waits [SLOTS];
  logic [SLOTS-1:0] wait_valid, at_wait [SLOTS], at_waits;
  wire [SLOT_W:0]   waits_n = dut.i_receiver.i_ended.write_q - dut.i_receiver.i_ended.read_q;
  wire [1:0]        candidates_n = dut.i_receiver.i_candidates.i_candidates.write_q
                                   - dut.i_receiver.i_candidates.i_candidates.read_q;
  always_comb begin
    at_waits = '0;
    for (int p = 0; p < SLOTS; p++) begin
      waits[p]      = dut.i_receiver.i_ended.mem[SLOT_W'(dut.i_receiver.i_ended.read_q + (SLOT_W+1)'(p))];
      wait_valid[p] = (SLOT_W+1)'(p) < waits_n;
      at_wait[p]    = wait_valid[p] ? one << waits[p].slot : '0;
      at_waits     |= at_wait[p];
    end
  end

  // Slots whose token has passed stage A as a unit or a steal in this run: their bits have meaning.
  logic [SLOTS-1:0] ever_q;
  always_ff @(posedge clk_i)
    if (!running) ever_q <= '0;
    else if (dut.a_valid && (a_kind == ROOT || (a_kind == STEAL && !dut.nothing)))
      ever_q <= ever_q | at_a;

  function automatic logic in_list(input int l);
    return between(edge_i[l], offset_i[list_i[l]], offset_i[list_i[l]] + degree_i[list_i[l]]);
  endfunction

  function automatic logic has(input cursor_t c, input logic whole, input int l);
    if (whole) return c.i <= list_i[l] && list_i[l] <= c.i_last && in_list(l);
    return (c.i == list_i[l] && between(edge_i[l], c.lo, c.hi))
           || (c.i < list_i[l] && list_i[l] <= c.i_last && in_list(l));
  endfunction

  // What a grown embedding begins with, of the watched edge of its size.
  function automatic logic begins(input cursor_t c, input int l);
    if (l == 0) return reach[0];
    if (list_i[l] > (clique_i ? pos_t'(0) : pos_t'(l))) return 1'b0;
    if (list_i[l] == '0 && c.i == '0)
      return ascending_i ? between(edge_i[l], c.hi + 1'b1, offset_i[0] + degree_i[0])
                         : between(edge_i[l], offset_i[0], c.lo - 1'b1);
    return in_list(l);
  endfunction

  // What a cursor of an embedding of `n` vertices must be.
  function automatic logic fits(input cursor_t c, input size_t n);
    return c.i <= c.i_last && size_t'(c.i_last) < n && (!clique_i || c.i_last == '0)
           && c.hi <= edge_t'(MOST_OFFSET + MOST_DEGREE)
           && c.lo <= edge_t'(MOST_OFFSET + MOST_DEGREE + 1);
  endfunction

  // The cursor behind an edge that was accepted names that edge.
  function automatic logic behind(input cursor_t c, input id_t vertex);
    return ascending_i ? vertex == name(c.i, c.hi) && c.hi < edge_t'(MOST_OFFSET + MOST_DEGREE)
                       : vertex == name(c.i, c.lo - 1'b1) && c.lo != '0;
  endfunction

  // The table's lanes as rows.
  id_t   table_ids     [SLOTS][DEPTH];
  edge_t table_offsets [SLOTS][DEPTH], table_degrees [SLOTS][DEPTH];
  for (genvar s = 0; s < SLOTS; s++) begin : gen_row
    for (genvar j = 0; j < DEPTH; j++) begin : gen_lane
      assign table_ids[s][j]     = table_dut.gen_lane[j].ids[s];
      assign table_offsets[s][j] = table_dut.gen_lane[j].offsets[s];
      assign table_degrees[s][j] = table_dut.gen_lane[j].degrees[s];
    end
  end

  // Rows: the first `l + 1` vertices are those of the path.
  logic [DEPTH:0] same [SLOTS]; // [n]: the first n are
  always_comb for (int s = 0; s < SLOTS; s++) begin
    same[s][0] = 1'b1;
    for (int j = 0; j < DEPTH; j++)
      same[s][j+1] = same[s][j] && table_ids[s][j] == path[j];
  end

  // Lanes of each slot's row that are written.
  size_t lanes [SLOTS];
  always_comb for (int s = 0; s < SLOTS; s++) begin
    lanes[s] = '0;
    if (at_a[s])
      lanes[s] = (a_kind == ROOT || a_kind == STEAL) ? '0
                 : a_kind == GROWN ? dut.a.size : dut.size_q[s];
    else if (at_b[s])
      lanes[s] = (b_kind == ROOT || b_kind == STEAL) ? '0
                 : b_kind == GROWN ? dut.b_q.size - 1'b1 : dut.b_q.size;
    else if (at_c[s])
      lanes[s] = (c_kind == ROOT || c_kind == STEAL) ? '0
                 : c_kind == GROWN ? dut.c_q.size - 1'b1 : dut.c_q.size;
    else if (at_issue[s]) lanes[s] = issue.root ? '0 : issue.size;
    else if (token_q[s])  lanes[s] = root_q[s] ? '0 : size_q[s];
    else if (at_waits[s]) lanes[s] = dut.size_q[s];
  end

  // An entry counts if its bit is set and it is not just being written.
  function automatic logic entry_valid(input int s, input int l);
    return ever_q[s] && dut.work_q[s][l]
           && !(dut.b_valid_q && b_kind == GROWN && dut.b_q.slot == slot_t'(s)
                && dut.b_q.size > size_t'(1) && dut.b_q.level == pos_t'(l));
  endfunction

  // Places of the watched edge of each level.
  logic [3:0]       places [DEPTH];
  logic [DEPTH-1:0] expected;
  always_comb begin
    expected[0] = handed_q[root_i] && reach[0];
    expected[1] = reach[1] && taken_q[0] && accepted_i[0];
    expected[2] = reach[2] && taken_q[1] && accepted_i[1];
    for (int l = 0; l < DEPTH; l++) begin
      places[l] = '0;
      if (l == 0 && dut.i_receiver.unit_valid_q && dut.i_receiver.unit_q.start == path[0] && reach[0])
        places[l] += 1'b1;
      if (dut.a_valid) begin
        if (a_kind == ROOT && l == 0 && dut.a.vertex == path[0] && reach[0])
          places[l] += 1'b1;
        if (a_kind == GROWN && dut.a.size == size_t'(l) && same[dut.a.slot][l]
            && dut.a.vertex == path[l] && begins(dut.a.cursor, l))
          places[l] += 1'b1;
        if ((a_kind == GROWN || a_kind == AGAIN) && dut.a.size == size_t'(l + 1)
            && same[dut.a.slot][l+1] && has(dut.a.cursor, 1'b0, l))
          places[l] += 1'b1;
        if (a_kind == NEXT && dut.size_q[dut.a.slot] == size_t'(l + 1)
            && same[dut.a.slot][l+1] && dut.a.cursor.i < list_i[l]
            && list_i[l] <= dut.a.cursor.i_last && in_list(l))
          places[l] += 1'b1;
      end
      if (dut.b_valid_q) begin
        if (b_kind == ROOT && l == 0 && dut.b_q.vertex == path[0] && reach[0])
          places[l] += 1'b1;
        if (b_kind == GROWN && dut.b_q.size == size_t'(l + 1) && same[dut.b_q.slot][l]
            && dut.b_q.vertex == path[l] && begins(dut.b_q.cursor, l))
          places[l] += 1'b1;
        if (b_kind == GROWN && dut.b_q.size == size_t'(l + 2) && same[dut.b_q.slot][l+1]
            && has(dut.b_q.cursor, 1'b0, l))
          places[l] += 1'b1;
        if ((b_kind == AGAIN || b_kind == NEXT) && dut.b_q.size == size_t'(l + 1)
            && same[dut.b_q.slot][l+1] && has(dut.b_q.cursor, b_kind == NEXT, l))
          places[l] += 1'b1;
        if (b_kind == BACK && dut.b_q.size == size_t'(l + 1) && same[dut.b_q.slot][l+1]
            && has(dut.entry, 1'b0, l))
          places[l] += 1'b1;
      end
      if (dut.c_valid_q) begin
        if (c_kind == ROOT && l == 0 && dut.c_q.vertex == path[0] && reach[0])
          places[l] += 1'b1;
        if (c_kind == GROWN && dut.c_q.size == size_t'(l + 1) && same[dut.c_q.slot][l]
            && dut.c_q.vertex == path[l] && begins(dut.c_q.cursor, l))
          places[l] += 1'b1;
        if (c_kind != GROWN && c_kind != ROOT && dut.c_q.size == size_t'(l + 1)
            && same[dut.c_q.slot][l+1] && has(dut.c_q.cursor, c_whole, l))
          places[l] += 1'b1;
      end
      if (issue_valid) begin
        if (issue.root && l == 0 && issue.threshold == path[0] && reach[0]) places[l] += 1'b1;
        if (!issue.root && issue.size == size_t'(l + 1) && same[issue.slot][l+1]
            && has(issue.cursor, 1'b0, l))
          places[l] += 1'b1;
      end
      for (int s = 0; s < SLOTS; s++) begin
        if (token_q[s] && root_q[s] && l == 0 && id_t'(cursor_q[s].i_last) == path[0] && reach[0])
          places[l] += 1'b1;
        if (token_q[s] && !root_q[s] && size_q[s] == size_t'(l + 1) && same[s][l+1]
            && has(cursor_q[s], 1'b0, l))
          places[l] += 1'b1;
        if (wait_valid[s] && dut.size_q[waits[s].slot] == size_t'(l + 1)
            && same[waits[s].slot][l+1] && waits[s].i < list_i[l] && list_i[l] <= waits[s].i_last
            && in_list(l))
          places[l] += 1'b1;
        if (entry_valid(s, l) && same[s][l+1]
            && has(dut.i_ancestors.mem[s * DEPTH + l], 1'b0, l))
          places[l] += 1'b1;
      end
    end
  end

  always_comb if (!running) begin
    assert (phase_q <= 2'd2);
    if (phase_q == 2'd1)
      assert ({dut.a_valid, dut.b_valid_q, dut.c_valid_q, issue_valid, dut.b_nothing_q,
               dut.c_failed_q, dut.free_q, dut.changed_valid_q, dut.i_receiver.slot_valid,
               dut.i_receiver.unit_valid_q} == '0 && waits_n == '0 && candidates_n == '0 && token_q == '0
              && dut.i_receiver.i_slots.free_q == '0);
  end else begin
    // Slots and tokens.
    assert (2'(dut.b_valid_q) + 2'(dut.b_nothing_q) + 2'(dut.free_q) <= 2'd1);
    assert (!(dut.c_valid_q && dut.c_failed_q));
    assert ((dut.changed_valid_q ? one << dut.changed_slot_q : '0)
            == ((b_kind == AGAIN || b_kind == NEXT ? '0 : at_b) | at_nothing | at_free));
    assert (!dut.i_receiver.slot_valid || !busy[dut.i_receiver.next_slot]);
    assert ((dut.i_receiver.i_slots.free_q & busy) == '0);
    assert (waits_n <= (SLOT_W+1)'(SLOTS));
    assert (candidates_n <= 2'(STEALING_BUFFER));
    for (int s = 0; s < SLOTS; s++) begin
      assert (4'(at_a[s]) + 4'(at_b[s]) + 4'(at_c[s]) + 4'(at_issue[s]) + 4'(at_nothing[s])
              + 4'(at_failed[s]) + 4'(at_free[s]) + 4'(token_q[s]) + 4'(at_wait[0][s])
              + 4'(at_wait[1][s]) == 4'(busy[s]));
      // Bits of ancestors.
      if (ever_q[s]) begin
        if (!busy[s] || at_back[s] || at_free[s] || lanes[s] == '0) assert (dut.work_q[s] == '0);
        for (int l = 0; l < DEPTH; l++)
          if (dut.work_q[s][l]) assert (size_t'(l + 1) < dut.size_q[s]);
        // What is kept of them beside them, a cycle late.
        if (dut.changed_valid_q && dut.changed_slot_q == slot_t'(s))
          assert (dut.changed_q == dut.work_q[s]);
        else
          assert (!dut.levels_q[s].some ? dut.work_q[s] == '0
                  : dut.work_q[s][dut.levels_q[s].deepest] && dut.work_q[s][dut.levels_q[s].shallowest]
                    && dut.work_q[s] >> dut.levels_q[s].deepest == mask_t'(1)
                    && dut.work_q[s] << (DEPTH - 1 - dut.levels_q[s].shallowest)
                       == mask_t'(1) << (DEPTH - 1));
      end else begin
        assert (!busy[s] || at_back[s]
                || (at_a[s] && (a_kind == ROOT || a_kind == STEAL)));
      end
      for (int l = 0; l < DEPTH; l++)
        if (entry_valid(s, l))
          assert (fits(dut.i_ancestors.mem[s * DEPTH + l], size_t'(l + 1))
                  && dut.i_thresholds.bases[{slot_t'(s), pos_t'(l)}] == dut.i_ancestors.mem[s * DEPTH + l].i);
      // Rows.
      assert (lanes[s] <= size_t'(DEPTH));
      for (int j = 0; j < DEPTH; j++)
        if (size_t'(j) < lanes[s])
          assert (table_offsets[s][j] == offset_i[j] && table_degrees[s][j] == degree_i[j]);
    end
    // Candidates have had a token.
    for (int p = 0; p < STEALING_BUFFER; p++)
      if (2'(p) < candidates_n)
        assert (ever_q[dut.i_receiver.i_candidates.i_candidates.mem[
            1'(dut.i_receiver.i_candidates.i_candidates.read_q + 2'(p))]]);
    // Messages.
    assert (!(dut.i_receiver.unit_valid_q && unit_ready));
    if (dut.i_receiver.unit_valid_q)
      assert (dut.i_receiver.unit_q.first == first_i && dut.i_receiver.unit_q.limit == limit_i
              && dut.i_receiver.unit_q.start < id_t'(2) && handed_q[dut.i_receiver.unit_q.start[0]]);
    if (dut.a_valid) begin
      assert (a_kind <= STEAL && a_kind != BACK);
      if (a_kind == ROOT)
        assert (dut.a.cursor.lo == first_i && dut.a.cursor.hi == limit_i
                && dut.a.vertex < id_t'(2));
      if (a_kind == GROWN)
        assert (dut.a_left == (dut.a.cursor.lo < dut.a.cursor.hi
                                 || dut.a.cursor.i < dut.a.cursor.i_last));
      if (a_kind == NEXT) assert (dut.a_left == (dut.a.cursor.i < dut.a.cursor.i_last));
      if (a_kind == GROWN && dut.a.size == '0)
        assert (dut.a.cursor.lo == first_i && dut.a.cursor.hi == limit_i
                && dut.work_q[dut.a.slot] == '0);
      if (a_kind == GROWN)
        assert (dut.a.record.offset == offset_i[pos_t'(dut.a.size)]
                && dut.a.record.degree == degree_i[pos_t'(dut.a.size)]
                && dut.a.size < size_t'(DEPTH));
      if ((a_kind == GROWN && dut.a.size != '0) || a_kind == AGAIN)
        assert (dut.a.size == dut.size_q[dut.a.slot] && dut.a.size != '0
                && fits(dut.a.cursor, dut.a.size));
      if (a_kind == GROWN && dut.a.size != '0)
        assert (behind(dut.a.cursor, dut.a.vertex));
      if (a_kind == NEXT)
        assert (dut.a.cursor.i <= dut.a.cursor.i_last
                && size_t'(dut.a.cursor.i_last) < dut.size_q[dut.a.slot]
                && (!clique_i || dut.a.cursor.i_last == '0));
      if (a_kind == STEAL)
        assert (dut.a.slot != dut.a.thief && ever_q[dut.a.slot]);
    end
    if (dut.b_valid_q) begin
      assert (b_kind <= STEAL);
      if (b_kind == BACK || b_kind == STEAL) assert (dut.i_thresholds.b_base_q == dut.entry.i);
      if (b_kind == ROOT)
        assert (dut.b_q.cursor.lo == first_i && dut.b_q.cursor.hi == limit_i
                && dut.b_q.vertex < id_t'(2));
      else begin
        assert (dut.b_q.size == dut.size_q[b_slot]);
        assert (dut.b_q.size != '0 && dut.b_q.size <= size_t'(DEPTH));
      end
      if (b_kind == GROWN) begin
        assert (dut.b_q.record.offset == offset_i[pos_t'(dut.b_q.size - 1'b1)]
                && dut.b_q.record.degree == degree_i[pos_t'(dut.b_q.size - 1'b1)]);
        if (dut.b_q.size == size_t'(1))
          assert (dut.b_q.cursor.lo == first_i && dut.b_q.cursor.hi == limit_i);
        else
          assert (behind(dut.b_q.cursor, dut.b_q.vertex)
                  && fits(dut.b_q.cursor, dut.b_q.size - 1'b1)
                  && dut.b_q.level == pos_t'(dut.b_q.size - 2'd2)
                  && dut.work_q[dut.b_q.slot][dut.b_q.level]
                     == (dut.b_q.cursor.lo < dut.b_q.cursor.hi
                         || dut.b_q.cursor.i < dut.b_q.cursor.i_last));
      end
      if (b_kind == AGAIN || b_kind == NEXT) assert (fits(dut.b_q.cursor & {2'b11, 2'b11,
          {(2*EDGE_W){b_kind == AGAIN}}}, dut.b_q.size));
      if (b_kind == BACK || b_kind == STEAL) assert (dut.b_q.level == pos_t'(dut.b_q.size - 1'b1));
      if (b_kind == BACK) assert (fits(dut.entry, dut.b_q.size));
      if (b_kind == STEAL)
        assert (dut.b_q.slot != dut.b_q.thief && ever_q[dut.b_q.slot]
                && dut.work_q[dut.b_q.slot][dut.b_q.level]
                && lanes[dut.b_q.slot] >= dut.b_q.size);
    end
    if (dut.c_valid_q) begin
      assert (c_kind <= STEAL);
      if (c_kind == GROWN && dut.c_q.size == size_t'(1))
        assert (dut.c_clipped_q == (dut.c_q.cursor.hi >= dut.c_q.record.degree));
      if (c_kind == ROOT)
        assert (dut.c_q.cursor.lo == first_i && dut.c_q.cursor.hi == limit_i
                && dut.c_q.vertex < id_t'(2));
      else begin
        assert (dut.c_q.size == dut.size_q[c_slot]);
        assert (dut.c_q.size != '0 && dut.c_q.size <= size_t'(DEPTH));
      end
      if (c_kind == GROWN) begin
        assert (!c_whole);
        assert (dut.c_q.record.offset == offset_i[pos_t'(dut.c_q.size - 1'b1)]
                && dut.c_q.record.degree == degree_i[pos_t'(dut.c_q.size - 1'b1)]);
        if (dut.c_q.size == size_t'(1))
          assert (dut.c_q.cursor.lo == first_i && dut.c_q.cursor.hi == limit_i);
        else
          assert (behind(dut.c_q.cursor, dut.c_q.vertex)
                  && fits(dut.c_q.cursor, dut.c_q.size - 1'b1));
      end
      if (c_kind == ROOT) assert (!c_whole);
      if (c_kind != ROOT && c_kind != GROWN) assert (fits(dut.c_q.cursor & {2'b11, 2'b11,
          {(2*EDGE_W){!c_whole}}}, dut.c_q.size));
      if (c_kind == STEAL)
        assert (dut.c_q.slot != dut.c_q.thief && lanes[dut.c_q.slot] >= dut.c_q.size);
    end
    if (issue_valid) begin
      if (issue.root)
        assert (issue.cursor.lo == first_i && issue.cursor.hi == limit_i
                && issue.threshold < id_t'(2));
      else
        assert (issue.size == dut.size_q[issue.slot] && issue.size != '0
                && issue.size <= size_t'(DEPTH) && fits(issue.cursor, issue.size));
    end
    for (int s = 0; s < SLOTS; s++) begin
      if (token_q[s] && root_q[s])
        assert (cursor_q[s].lo == first_i && cursor_q[s].hi == limit_i
                && cursor_q[s].i_last < pos_t'(2));
      if (token_q[s] && !root_q[s])
        assert (size_q[s] == dut.size_q[s] && size_q[s] != '0 && size_q[s] <= size_t'(DEPTH)
                && fits(cursor_q[s], size_q[s]));
      if (wait_valid[s])
        assert (waits[s].i <= waits[s].i_last
                && size_t'(waits[s].i_last) < dut.size_q[waits[s].slot]
                && dut.size_q[waits[s].slot] <= size_t'(DEPTH)
                && (!clique_i || waits[s].i_last == '0));
    end
    // The watched edges.
    for (int l = 0; l < DEPTH; l++)
      assert (places[l] == 4'(expected[l] && !taken_q[l]));
    assert ((taken_q & ~expected) == '0);
  end
`endif
endmodule

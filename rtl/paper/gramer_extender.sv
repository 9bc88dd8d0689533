// Walks the list of the extending vertex line by line and determines each candidate's connectivity to the
// other vertices of the embedding.
//
// Interface: an issue enters; a candidate with its connectivity mask, or the end of the list, leaves. The other
// side is the memory port. An extender with another algorithm (merging lists, or pattern-aware) fits the
// same two interfaces.
//
//   select ─► 1: context ─► 2: compare ─► 3: decide ─► 4: next list ─► 5: request
//
// An event of a slot (an issue, an edge line, a vertex record) passes the pipeline once and leaves with the slot's
// next access, so the port is busy whenever an event is available. Candidates of a line that pass the tests on
// ids are kept as a mask. Connectivity to vertex j is tested by binary search of the lines of a list, one line
// per probe: j's for the candidate, or with CANDIDATE_CHECK the candidate's, whose record was read first, for j. A
// test that settles the candidate (a missing edge of a clique; an edge to a vertex before position i, whose list
// has already yielded this candidate) skips to the next; so does the last vertex of an embedding (no context).
module gramer_extender
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    clear_i,
  input  logic    kill_i, // send every token back
  input  config_t config_i,
  // From the scheduler
  input  logic    issue_valid_i,
  input  issue_t  issue_i,
  // To the scheduler
  output logic    ended_valid_o,
  output ended_t  ended_o,
  // To the filter; `stall_i` leaves room for candidates in the pipeline
  output logic    found_valid_o,
  output found_t  found_o,
  input  logic    stall_i,
  // Embedding table
  output slot_t   early_row_o,
  input  id_t     early_ids_i [MAX_MOTIF],
  output slot_t   list_row_o,
  output pos_t    list_lane_o,
  input  id_t     list_id_i,
  input  edge_t   list_offset_i,
  input  logic [31:0] list_degree_i,
  // Edge port: one access a cycle; at most one outstanding for each slot
  output logic    edge_valid_o,
  output edge_request_t   edge_request_o,
  input  logic    edge_valid_i,
  output logic    edge_ready_o,
  input  edge_answer_t    edge_answer_i,
  // Vertex port
  output logic    vertex_valid_o,
  output vertex_request_t vertex_request_o,
  input  logic    vertex_valid_i,
  output logic    vertex_ready_o,
  input  vertex_answer_t  vertex_answer_i,
  // Events for the counters
  output logic    scanned_valid_o,
  output logic [4:0] scanned_o,   // entries compared in this cycle
  output logic    candidate_o,    // a candidate was taken
  output size_t   candidate_size_o // vertices of the embedding with it
);

  logic            ended_valid_q, edge_valid_q, vertex_valid_q, scanned_valid_q;
  ended_t          ended_q;
  found_t          found_q;
  edge_request_t   edge_request_q;
  vertex_request_t vertex_request_q;
  logic [4:0]      scanned_q;

  assign {ended_valid_o, ended_o}           = {ended_valid_q, ended_q};
  assign found_o                            = found_q;
  assign {edge_valid_o, edge_request_o}     = {edge_valid_q, edge_request_q};
  assign {vertex_valid_o, vertex_request_o} = {vertex_valid_q, vertex_request_q};
  assign {scanned_valid_o, scanned_o}       = {scanned_valid_q, scanned_q};

  typedef enum logic [1:0] { SCAN, PROBE, RECORD } state_e;
  typedef enum logic [1:0] { ISSUE, LINE, VERTEX } event_e;
  typedef enum logic [2:0] {
    LEAVE,     // the token has left with a candidate
    END,       // the token leaves: the list is done
    READ,      // read the line to scan
    SEARCH_ON, // read another line of the searched list
    SEARCH,    // begin the search for the edge to position j
    TAKE,      // take the candidate at `spot`, then search or fetch
    FETCH      // fetch the candidate's record
  } action_e;

  typedef struct packed {
    state_e  state;
    size_t   size;
    logic    last;      // a candidate completes the embedding
    cursor_t cursor;    // rest of the list, including untaken candidates of this line
    id_t     threshold;
    key_t    key;
    eline_t  line;      // line being scanned
    logic    at_end;      // it is the last line of the list
    logic [IDS-1:0] pass; // its untaken candidates
    logic    final_line;  // no further line will be scanned
    id_t     vertex;    // the candidate
    mask_t   mask;      // its connectivity so far
    size_t   j;         // position under test
    edge_t   list_lo;   // bounds of the searched list
    edge_t   list_hi;
    eline_t  probe;     // line being probed
    eline_t  probe_lo;  // remaining lines
    eline_t  probe_hi;
  } context_t;

  // With CANDIDATE_CHECK, the rest of a context: the candidate's record, and the searched id, that of position j.
  typedef struct packed { record_t record; id_t id; } check_t;

  // ---------------------------------------------------------------- select

  logic   issue_valid, issue_take;
  issue_t issue;

  gramer_fifo #(.WIDTH($bits(issue_t)), .DEPTH(SLOTS)) i_issues (
    .clk_i, .rst_i (rst_i || clear_i),
    .push_i (issue_valid_i), .data_i (issue_i), .full_o (),
    .pop_i (issue_take), .valid_o (issue_valid), .data_o (issue)
  );

  assign edge_ready_o   = !stall_i;
  assign vertex_ready_o = !stall_i && !edge_valid_i;
  assign issue_take     = !stall_i && !edge_valid_i && !vertex_valid_i && issue_valid;

  logic    x1_valid_q;
  event_e  x1_event_q;
  slot_t   x1_slot_q;
  line_t   x1_line_q;
  record_t x1_record_q;
  issue_t  x1_issue_q;

  always_ff @(posedge clk_i) begin
    x1_valid_q <= !rst_i && !stall_i && (edge_valid_i || vertex_valid_i || issue_valid);
    x1_event_q <= edge_valid_i ? LINE : vertex_valid_i ? VERTEX : ISSUE;
    x1_slot_q  <= edge_valid_i ? edge_answer_i.slot : vertex_valid_i ? vertex_answer_i.slot
                : issue.slot;
    if (edge_valid_i)   x1_line_q <= edge_answer_i.line;
    if (vertex_valid_i) x1_record_q <= vertex_answer_i.record;
    if (issue_valid)    x1_issue_q <= issue;
  end

  // ---------------------------------------------------------------- 1: context

  (* ram_style = "distributed" *) context_t contexts [SLOTS];
  (* ram_style = "distributed" *) line_t    lines    [SLOTS]; // scanned line of each slot
  context_t context_read;
  check_t   check_read; // '0 without CANDIDATE_CHECK
  logic     x2_valid_q;
  event_e   x2_event_q;
  slot_t    x2_slot_q;
  line_t    x2_line_q;
  record_t  x2_record_q;
  context_t x2_q;
  logic     x2_root_q;
  id_t      x2_ids_q [MAX_MOTIF];
  id_t      x2_operand_q;
  size_t    x2_next_j_q; // position to test after j
  logic [SPOT_W-1:0] x2_first_q; // entries of the line that are in the list, from here
  logic [SPOT_W:0]   x2_limit_q; // up to here

  assign early_row_o = x1_slot_q;

  // For an edge line: the ids to compare its entries with, and the valid entries. Both cases (scan and
  // search) are computed in parallel and selected late.
  context_t asked;
  logic     probing;

  assign asked   = contexts[x1_slot_q];
  assign probing = asked.state == PROBE;

  always_comb begin
    context_read = asked;
    if (x1_event_q == ISSUE) begin
      context_read           = '0;
      context_read.size      = x1_issue_q.size;
      context_read.last      = x1_issue_q.size + 1'b1 == config_i.k;
      context_read.cursor    = x1_issue_q.cursor;
      context_read.threshold = x1_issue_q.threshold;
      context_read.key       = x1_issue_q.key;
      context_read.vertex    = x1_issue_q.threshold; // the root
      context_read.line      = config_i.ascending ? eline_t'((x1_issue_q.cursor.hi - 1'b1) >> 4)
                                                  : eline_t'(x1_issue_q.cursor.lo >> 4);
    end
  end

  always_ff @(posedge clk_i) begin
    x2_valid_q  <= !rst_i && x1_valid_q;
    x2_event_q  <= x1_event_q;
    x2_slot_q   <= x1_slot_q;
    x2_line_q   <= x1_line_q;
    x2_record_q <= x1_record_q;
    if (CANDIDATE_CHECK != 0 && x1_event_q == LINE) x2_record_q <= check_read.record;
    x2_q        <= context_read;
    x2_root_q   <= x1_issue_q.root;
    x2_ids_q    <= early_ids_i;
    // Positions are tested in order; position i is known to be adjacent.
    x2_next_j_q <= asked.j + 1'b1 == size_t'(asked.cursor.i) ? asked.j + size_t'(2) : asked.j + 1'b1;
    if (CANDIDATE_CHECK != 0 && x1_event_q == VERTEX) x2_next_j_q <= asked.j; // the first test
    x2_operand_q <= probing ? asked.vertex : asked.threshold;
    if (CANDIDATE_CHECK != 0 && probing) x2_operand_q <= check_read.id;
    x2_first_q  <= probing ? first_in(asked.probe, asked.list_lo)
                           : first_in(asked.line, asked.cursor.lo);
    x2_limit_q  <= probing ? limit_in(asked.probe, asked.list_hi)
                           : limit_in(asked.line, asked.cursor.hi);
    if (x1_valid_q && x1_event_q == LINE && context_read.state == SCAN)
      lines[x1_slot_q] <= x1_line_q;
  end

  // ---------------------------------------------------------------- 2: compare

  logic [IDS-1:0]  in_list, equal, less, known;
  logic            scans, probes; // the line is scanned; the line belongs to a search

  assign scans  = x2_event_q == LINE && x2_q.state == SCAN;
  assign probes = x2_event_q == LINE && x2_q.state != SCAN;

  always_comb begin
    known = '0;
    for (int e = 0; e < IDS; e++) begin
      in_list[e] = SPOT_W'(e) >= x2_first_q && (SPOT_W+1)'(e) < x2_limit_q;
      equal[e]  = x2_line_q[e*ID_W +: ID_W] == x2_operand_q;
      less[e]   = x2_line_q[e*ID_W +: ID_W] < x2_operand_q;
    end
    // Vertices of the embedding before position i; position 0 and those after i fail against the
    // threshold. Only counted patterns have lists after the first, and their size is bounded.
    if (scans && x2_q.cursor.i > pos_t'(1)) begin
      for (int j = 1; j < MAX_MOTIF - 2; j++)
        if (pos_t'(j) < x2_q.cursor.i)
          for (int e = 0; e < IDS; e++)
            if (x2_line_q[e*ID_W +: ID_W] == x2_ids_q[j]) known[e] = 1'b1;
    end
  end

  logic     x3_valid_q;
  slot_t    x3_slot_q;
  record_t  x3_record_q;
  context_t x3_q;
  // Masks of the line's entries: in the list; passing the tests on ids (for a line scanned earlier, the untaken
  // candidates); failing against the threshold; equal to the searched id; less; not less.
  logic [IDS-1:0] x3_in_list_q, x3_pass_q, x3_known_q, x3_fail_q, x3_hit_q, x3_less_q, x3_not_less_q;
  logic     x3_scan_q, x3_above_q, x3_below_q, x3_final_q;
  // Whether the candidate is settled, and emitted, on a hit and on a miss; and the next action if it is
  // not settled but the search has ended.
  logic     x3_over_hit_q, x3_over_miss_q, x3_emit_hit_q, x3_emit_miss_q;
  action_e  x3_else_q;
  size_t    x3_next_j_q;
  logic [IDS-1:0] good;
  logic     needs_record, fetches_last, last_test, tests_follow, clique, earlier, more, complete;

  assign good   = config_i.ascending ? ~less & ~equal : less;
  assign clique = config_i.app == APP_CLIQUE;

  assign earlier  = x2_q.j < size_t'(x2_q.cursor.i);
  assign more     = x2_next_j_q < x2_q.size;
  assign complete = !more && x2_q.last && !fetches_last; // no further access is needed
  assign needs_record = config_i.app == APP_FSM || config_i.filters; // a last vertex needs its record
  assign fetches_last = needs_record && CANDIDATE_CHECK == 0; // it is still to come
  // The last test of a candidate whose record is there or isn't needed; a record before the first test.
  assign last_test    = CANDIDATE_CHECK != 0 ? !more : complete;
  assign tests_follow = CANDIDATE_CHECK != 0 && x2_q.j < x2_q.size;

  // Precomputes the inputs of the decision, which takes the whole next stage.
  always_ff @(posedge clk_i) begin
    x3_pass_q     <= scans ? in_list & good : x2_q.pass;
    x3_known_q    <= known;
    x3_scan_q     <= scans;
    x3_fail_q     <= scans ? in_list & ~good : '0;
    x3_hit_q      <= probes ? in_list & equal : '0;
    x3_not_less_q <= in_list & ~less;
    x3_less_q     <= in_list & less;
    x3_above_q    <= probes && x2_q.probe < x2_q.probe_hi; // lines remain above the probed one
    x3_below_q    <= probes && x2_q.probe > x2_q.probe_lo;
    x3_final_q    <= scans ? x2_q.at_end : x2_q.final_line;
    x3_next_j_q   <= x2_next_j_q;
    unique case (x2_event_q)
      ISSUE: begin
        {x3_over_hit_q, x3_over_miss_q, x3_emit_hit_q, x3_emit_miss_q} <= '0;
        x3_else_q <= x2_root_q ? FETCH : x2_q.cursor.lo >= x2_q.cursor.hi ? END : READ;
      end
      VERTEX: begin
        {x3_over_hit_q, x3_over_miss_q} <= {2{x2_q.last && !tests_follow}};
        {x3_emit_hit_q, x3_emit_miss_q} <= {2{!tests_follow}};
        x3_else_q <= tests_follow ? SEARCH : LEAVE;
      end
      default: begin
        // A missing edge settles a clique; an edge to a vertex before position i settles the others.
        x3_over_hit_q  <= scans || complete || (!clique && earlier);
        x3_over_miss_q <= scans || complete || clique;
        x3_emit_hit_q  <= !scans && last_test && (clique || !earlier);
        x3_emit_miss_q <= !scans && last_test && !clique;
        x3_else_q      <= more ? SEARCH : FETCH;
        if (CANDIDATE_CHECK != 0 && !more) x3_else_q <= LEAVE;
      end
    endcase
    x3_valid_q  <= !rst_i && x2_valid_q;
    x3_slot_q   <= x2_slot_q;
    x3_record_q <= x2_record_q;
    x3_q        <= x2_q;
    x3_in_list_q <= in_list;
  end

  // ---------------------------------------------------------------- 3: decide

  context_t       next;
  action_e        action;
  logic           emit, advance, hit, lower, higher;
  logic [IDS-1:0] pass, ahead, taken, fails, failed; // failed: the first that fails
  logic [SPOT_W-1:0] spot;
  logic [SPOT_W:0] after_taken, after_fail;
  eline_t         line_after;
  mask_t          mask;
  size_t          first_j;

  assign first_j     = x3_q.cursor.i == '0 ? size_t'(1) : '0;
  assign pass        = x3_pass_q & ~x3_known_q;
  assign ahead       = walked(config_i.ascending, pass);
  assign taken       = walked(config_i.ascending, first_entry(ahead));
  assign spot        = spot_of(taken);
  assign after_taken = after(taken);
  assign fails       = walked(config_i.ascending, x3_fail_q);
  assign failed      = walked(config_i.ascending, first_entry(fails));
  assign after_fail  = after(failed);
  assign line_after  = x3_q.line + 1'b1;

  assign hit     = x3_hit_q != '0;
  assign higher  = x3_not_less_q == '0 && x3_above_q;
  assign lower   = x3_less_q == '0 && x3_below_q;
  assign advance = hit ? x3_over_hit_q : !(higher || lower) && x3_over_miss_q;
  assign emit    = !kill_i && (hit ? x3_emit_hit_q : !(higher || lower) && x3_emit_miss_q);
  assign mask    = x3_q.mask | (mask_t'(hit) << x3_q.j);

  // Fields that the action does not use are don't-cares.
  always_comb begin
    next            = x3_q;
    next.pass       = advance ? pass & ~taken : pass;
    // Lists are sorted: beyond the first entry that fails there is no candidate.
    next.final_line = x3_final_q || x3_fail_q != '0;
    if (higher) next.probe_lo = x3_q.probe + 1'b1;
    else        next.probe_hi = x3_q.probe - 1'b1;
    next.mask       = advance ? mask_t'(1) << x3_q.cursor.i : mask;
    // Entries of finished lines are no longer counted as work.
    if (config_i.ascending) begin
      if (x3_fail_q != '0)
        next.cursor.lo = {after_fail[SPOT_W] ? line_after : x3_q.line, after_fail[SPOT_W-1:0]};
      if (advance) next.cursor.hi = {x3_q.line, spot};
    end else begin
      if (x3_fail_q != '0) next.cursor.hi = {x3_q.line, spot_of(failed)};
      if (advance)
        next.cursor.lo = {after_taken[SPOT_W] || pass == '0 ? line_after : x3_q.line,
                          after_taken[SPOT_W-1:0]};
    end
    if (advance && pass == '0)
      next.line = config_i.ascending ? x3_q.line - 1'b1 : line_after;

    if (advance)                        next.j = first_j;
    else if (hit || !(higher || lower)) next.j = x3_next_j_q;

    if (kill_i)                         action = END;
    else if (advance && pass != '0)     action = TAKE;
    else if (advance)                   action = next.final_line ? END : READ;
    else if (!hit && (higher || lower)) action = SEARCH_ON;
    else                                action = x3_else_q;
  end

  logic     x4_valid_q, x4_emit_q;
  action_e  x4_action_q;
  slot_t    x4_slot_q;
  context_t x4_q;
  record_t  x4_record_q;
  logic [SPOT_W-1:0] x4_spot_q;

  always_ff @(posedge clk_i) begin
    x4_valid_q  <= !rst_i && x3_valid_q;
    x4_action_q <= action;
    x4_slot_q   <= x3_slot_q;
    x4_q        <= next;
    x4_record_q <= CANDIDATE_CHECK != 0 ? x3_record_q : '0;
    x4_spot_q   <= spot;
    x4_emit_q   <= !rst_i && x3_valid_q && emit;
    // The current candidate, before the next one is taken.
    found_q.slot   <= x3_slot_q;
    found_q.size   <= x3_q.size;
    found_q.last   <= x3_q.last;
    found_q.vertex <= x3_q.vertex;
    found_q.mask   <= mask;
    found_q.record <= x3_record_q;
    found_q.key    <= x3_q.key;
    found_q.cursor <= x3_q.cursor;
  end

  assign found_valid_o = x4_emit_q;

  always_ff @(posedge clk_i) begin
    scanned_valid_q <= !rst_i && x3_valid_q && x3_scan_q;
    scanned_q       <= 5'($countones(x3_in_list_q));
  end

  // ---------------------------------------------------------------- 4: next list

  logic     x5_valid_q;
  action_e  x5_action_q;
  slot_t    x5_slot_q;
  context_t x5_q;
  edge_t    x5_lo_q, x5_hi_q; // bounds of the searched list
  eline_t   x5_end_q; // last line of the remaining scanned list
  id_t      x5_id_q;
  line_t    line_read;

  assign line_read   = lines[x4_slot_q];
  assign list_row_o  = x4_slot_q;
  assign list_lane_o = x4_action_q == READ ? x4_q.cursor.i : pos_t'(x4_q.j);

  assign candidate_o      = x4_valid_q && x4_action_q == TAKE;
  assign candidate_size_o = x4_q.size + 1'b1;

  always_ff @(posedge clk_i) begin
    x5_valid_q  <= !rst_i && x4_valid_q;
    x5_action_q <= x4_action_q;
    x5_slot_q   <= x4_slot_q;
    x5_q        <= x4_q;
    x5_lo_q     <= list_offset_i;
    x5_hi_q     <= list_offset_i + edge_t'(list_degree_i);
    if (CANDIDATE_CHECK != 0)
      {x5_lo_q, x5_hi_q} <= {x4_record_q.offset, x4_record_q.offset + edge_t'(x4_record_q.degree)};
    x5_id_q     <= list_id_i;
    x5_end_q    <= config_i.ascending ? x4_q.cursor.lo[EDGE_W-1:4]
                                      : eline_t'((x4_q.cursor.hi - 1'b1) >> 4);
    if (x4_action_q == TAKE) begin
      x5_q.vertex <= line_read[x4_spot_q*ID_W +: ID_W];
      // The second vertex of an embedding needs no connectivity test.
      x5_action_q <= x4_q.j < x4_q.size ? SEARCH : FETCH;
      if (CANDIDATE_CHECK != 0) x5_action_q <= FETCH;
    end
  end

  // ---------------------------------------------------------------- 5: request

  context_t done;
  if (CANDIDATE_CHECK != 0) begin : gen_checks
    (* ram_style = "distributed" *) check_t checks [SLOTS];
    record_t record_q;

    assign check_read = checks[x1_slot_q];
    always_ff @(posedge clk_i) begin
      record_q <= x4_record_q;
      if (x5_valid_q) checks[x5_slot_q] <= '{record: record_q, id: x5_id_q};
    end
  end else begin : gen_no_checks
    assign check_read = '0;
  end

  always_comb begin
    done = x5_q;
    if (x5_action_q == SEARCH) begin
      done.list_lo  = x5_lo_q;
      done.list_hi  = x5_hi_q;
      done.probe_lo = eline_t'(done.list_lo >> 4);
      done.probe_hi = eline_t'((done.list_hi - 1'b1) >> 4);
    end
    done.at_end = x5_q.line == x5_end_q;
    done.probe = eline_t'(({1'b0, done.probe_lo} + {1'b0, done.probe_hi}) >> 1);
    unique case (x5_action_q)
      READ:    done.state = SCAN;
      FETCH:   done.state = RECORD;
      default: done.state = PROBE;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (x5_valid_q) contexts[x5_slot_q] <= done;
    edge_valid_q   <= !rst_i && x5_valid_q
                      && (x5_action_q == READ || x5_action_q == SEARCH || x5_action_q == SEARCH_ON);
    edge_request_q.slot <= x5_slot_q;
    edge_request_q.line <= x5_action_q == READ ? done.line : done.probe;
    edge_request_q.rank <= x5_id_q;
    if (CANDIDATE_CHECK != 0 && x5_action_q != READ) edge_request_q.rank <= x5_q.vertex;
    vertex_valid_q <= !rst_i && x5_valid_q && x5_action_q == FETCH;
    vertex_request_q.slot   <= x5_slot_q;
    vertex_request_q.vertex <= x5_q.vertex;
    ended_valid_q  <= !rst_i && x5_valid_q && x5_action_q == END;
    ended_q.slot   <= x5_slot_q;
    ended_q.i      <= x5_q.cursor.i;
    ended_q.i_last <= x5_q.cursor.i_last;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(x2_valid_q && x2_event_q == LINE && x2_q.state == RECORD))
    else $error("an edge line for a slot that waits for a record");
    assert (!(x2_valid_q && x2_event_q == VERTEX && x2_q.state != RECORD))
    else $error("a record for a slot that waits for a line");
    // Two events of one slot in the pipeline would read a context before it is written.
    assert (!(x1_valid_q && ((x2_valid_q && x2_slot_q == x1_slot_q)
                          || (x3_valid_q && x3_slot_q == x1_slot_q))))
    else $error("two tokens of one slot");
  end
`endif

endmodule

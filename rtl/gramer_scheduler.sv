// Decides what each slot extends next (figure 9). Every busy slot has exactly one token, which is
// at one place at a time: in a queue, in a pipeline, or under way as a memory access. A token that
// comes here leaves as an extension, or its slot becomes free; no slot meets itself in the
// pipeline, so stages need no forwarding.
//
//   select ─► A: level ─► B: ancestor entry ─► C: embedding table, threshold ─► issue
//
// Depth first: a grown embedding is extended at once and its parent's cursor goes into the
// ancestor buffer; a finished one traces back to the deepest ancestor with work left. `work`
// holds one bit an ancestor entry: it may have work left. A set bit of an entry that turns out
// empty is harmless (the extender bounces it); a clear bit of one with work never happens.
//
// Stealing (section V-C): of a candidate's ancestors the shallowest with work left is divided,
// since it moves the most. Of two or more remaining edges of its list the half that is farther
// from the cursor moves; else the lists after this one; else the last edge. The victim's entry is
// changed in the cycle that creates the thief's, so each edge stays with exactly one of them.
//
// With compaction an entry holds the cursor alone: the ancestors' states are prefixes of the slot's
// row in the embedding table. Without, the whole state is saved beside the entry and brought back.
//
// A run that is killed frees each slot as its token comes back. `oldest_o` is then the first of
// the units that were under way: all units before it are finished.
module gramer_scheduler
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    clear_i, // before a run
  input  logic    kill_i,  // end the run at once; stays until the next one
  input  config_t config_i,
  // From the arbitrator
  input  logic    unit_valid_i,
  output logic    unit_ready_o,
  input  unit_t   unit_i,
  // From process
  input  logic    result_valid_i,
  input  result_t result_i,
  // From the extender
  input  logic    ended_valid_i,
  input  ended_t  ended_i,
  // To the extender; never more than one token a slot, so it always has room
  output logic    issue_valid_o,
  output issue_t  issue_o,
  // Embedding table
  output slot_t   row_o,
  input  id_t     row_ids_i [DEPTH],
  output pos_t    row_lane_o,
  input  edge_t   row_offset_i,
  input  logic [31:0] row_degree_i,
  output pos_t    row_key_lane_o,
  input  key_t    row_key_i,
  input  edge_t   root_offset_i,
  input  logic [31:0] root_degree_i,
  output logic    table_write_o,
  output pos_t    table_lane_o,
  output id_t     table_id_o,
  output edge_t   table_offset_o,
  output logic [31:0] table_degree_o,
  output key_t    table_key_o,
  output logic    table_copy_o,
  output slot_t   table_copy_to_o,
  // Without compaction: the row that is saved with an ancestor entry, and the one that comes back
  output slot_t   saved_row_o,
  input  row_t    saved_i,
  output row_t    restored_o,
  // Unit of the embedding that is listed
  input  slot_t   listed_slot_i,
  output ordinal_t listed_ordinal_o,
  // State and events
  output ordinal_t oldest_o, // of the units that were under way when the run was killed
  output logic [SLOTS-1:0] busy_o,
  output logic    pending_o, // a unit waits for a slot
  output logic    freed_o,
  output logic    stolen_o
);

  typedef enum logic [2:0] {
    UNIT,   // a new start vertex: fetch its record
    GROWN,  // extend the grown embedding
    AGAIN,  // go on with the cursor of the message
    NEXT,   // go on with the next list
    BACK,   // go on with an ancestor
    STEAL   // divide an ancestor of another slot
  } kind_e;

  // A result and an end are never used together; the message keeps what later stages need.
  typedef struct packed {
    kind_e   kind;
    slot_t   slot;   // whose token it is; of a steal: the victim
    slot_t   thief;
    size_t   size;   // of the embedding to be extended
    pos_t    level;  // ancestor entry to be read or written
    id_t     vertex;
    record_t record;
    key_t    key;
    cursor_t cursor;
  } message_t;

  // ---------------------------------------------------------------- select

  logic    ended_valid, ended_take, unit_q_valid, unit_take, steal_take, steal_start;
  ended_t  ended;
  unit_t   unit_q;
  logic    slot_valid, candidate_valid;
  slot_t   slot_next, candidate;
  logic    free_q, c_failed_q;
  slot_t   free_slot_q, back_slot;
  logic    push_candidate;
  logic    kill_q;
  logic [SLOTS-1:0] killed_q; // busy slots that still have to be looked at

  gramer_fifo #(.WIDTH($bits(ended_t)), .DEPTH(SLOTS)) i_ended (
    .clk_i, .rst_i (rst_i || clear_i),
    .push_i (ended_valid_i), .data_i (ended_i), .full_o (),
    .pop_i (ended_take), .valid_o (ended_valid), .data_o (ended)
  );

  // A unit may come when none waits and, in the cycle before, a slot was free; if a steal has taken it
  // meanwhile, the unit waits for the next one. With registers on the way it was sent on what
  // `unit_ready_o` said then, and comes whatever it says now.
  logic unit_comes;
  assign unit_comes = unit_valid_i && (SLR_REGISTERS != 0 || unit_ready_o);

  always_ff @(posedge clk_i) begin
    if (unit_comes) unit_q <= unit_i;
    if (rst_i || clear_i) unit_q_valid <= 1'b0;
    else if (unit_comes) unit_q_valid <= 1'b1;
    else if (unit_take) unit_q_valid <= 1'b0;
    unit_ready_o <= !rst_i && !clear_i && slot_valid && !unit_q_valid && !unit_comes;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(unit_ready_o && unit_q_valid)) else $error("a unit would be lost");
    assert (!(unit_comes && unit_q_valid)) else $error("a unit is lost");
  end
`endif

  assign pending_o  = unit_q_valid;
  assign ended_take = !result_valid_i && ended_valid;
  // When the run is killed, the unit that waits is given to a slot only after the snapshot.
  assign unit_take  = !result_valid_i && !ended_valid && unit_q_valid && slot_valid
                      && (!kill_i || killed_q == '0 && kill_q);
  assign steal_take = !kill_i && !result_valid_i && !ended_valid && !unit_q_valid && config_i.stealing
                      && candidate_valid && slot_valid;
  assign steal_start = steal_take && busy_o[candidate];

  gramer_slot_buffer i_slots (
    .clk_i, .rst_i, .clear_i,
    .slots_i       (config_i.slots),
    .valid_o       (slot_valid),
    .slot_o        (slot_next),
    .take_i        (unit_take || steal_start),
    .free_i        (free_q),
    .free_slot_i   (free_slot_q),
    .return_i      (c_failed_q),
    .return_slot_i (back_slot),
    .busy_o
  );

  logic     a_valid_q, a_left_q;
  message_t a_q, selected;

  // From stage A: a steal that follows at once finds the slot's levels up to date in its own stage A.
  // A start vertex that was accepted is entered too, though it has nothing that could be stolen yet:
  // without it 4-motifs on citeseer take 3 % more cycles.
  assign push_candidate = config_i.stealing && slot_valid && a_valid_q && a_q.kind == GROWN;

  gramer_stealing_buffer i_candidates (
    .clk_i, .rst_i, .clear_i,
    .push_i  (push_candidate),
    .slot_i  (a_q.slot),
    .valid_o (candidate_valid),
    .slot_o  (candidate),
    .pop_i   (steal_take)
  );

  always_comb begin
    selected        = '0;
    selected.thief  = slot_next;
    selected.vertex = result_i.vertex;
    selected.record = result_i.record;
    selected.key    = result_i.key;
    selected.size   = result_i.size;
    selected.cursor = result_i.cursor;
    if (result_valid_i) begin
      selected.kind = result_i.accept ? GROWN : AGAIN;
      selected.slot = result_i.slot;
    end else if (ended_valid) begin
      selected.kind = NEXT; // or BACK, see stage A
      selected.slot = ended.slot;
      selected.cursor.i      = ended.i;
      selected.cursor.i_last = ended.i_last;
    end else if (unit_take) begin
      selected.kind   = UNIT;
      selected.slot   = slot_next;
      selected.vertex = unit_q.start;
      selected.cursor.lo = edge_t'(unit_q.first);
      selected.cursor.hi = edge_t'(unit_q.limit);
    end else begin
      selected.kind = STEAL;
      selected.slot = candidate;
    end
  end

  always_ff @(posedge clk_i) begin
    a_q <= selected;
    // Of a result: whether the entry that its cursor may go to has work. Of an end: further lists.
    a_left_q  <= result_valid_i ? result_i.cursor.lo < result_i.cursor.hi
                                  || result_i.cursor.i < result_i.cursor.i_last
                                : ended.i < ended.i_last;
    a_valid_q <= !rst_i && (result_valid_i || ended_valid || unit_take || steal_start);
  end

  // ---------------------------------------------------------------- units of the slots

  ordinal_t          ordinal_q [SLOTS]; // of the unit that each slot works for
  slot_t             look;
  logic              looked_q;
  ordinal_t          found_q; // of the slot that was looked at

  assign listed_ordinal_o = ordinal_q[listed_slot_i];

  always_comb begin
    look = '0;
    for (int s = SLOTS - 1; s >= 0; s--) if (killed_q[s]) look = slot_t'(s);
  end

  // A unit that waits for a slot is younger than all of this PU's others, but may be the only one.
  always_ff @(posedge clk_i) begin
    if (unit_take)   ordinal_q[slot_next] <= unit_q.ordinal;
    if (steal_start) ordinal_q[slot_next] <= ordinal_q[candidate];
    kill_q <= !rst_i && !clear_i && kill_i;
    if (rst_i || clear_i) begin
      oldest_o <= '1;
      killed_q <= '0;
      looked_q <= 1'b0;
    end else if (kill_i && !kill_q) begin
      // Nothing starts in this cycle or later (see `kill_i` at select), so the snapshot is whole.
      killed_q <= busy_o;
      if (unit_q_valid) oldest_o <= unit_q.ordinal;
    end else begin
      if (killed_q != '0) killed_q[look] <= 1'b0;
      looked_q <= killed_q != '0;
      if (looked_q && found_q < oldest_o) oldest_o <= found_q;
    end
    found_q <= ordinal_q[look];
  end

  // ---------------------------------------------------------------- A: level

  // What the bits of a slot say, a cycle after them. Its own token comes back later; a steal does not
  // trust it while it is old.
  typedef struct packed {
    logic some; // any bit is set
    pos_t deepest;
    pos_t shallowest;
  } levels_t;

  size_t    size_q   [SLOTS];
  mask_t    work_q   [SLOTS];
  levels_t  levels_q [SLOTS];
  mask_t    work, work_d, changed_q;
  levels_t  levels, levels_d;
  slot_t    a_owner, changed_slot_q;
  logic     finished, nothing, changes, changed_valid_q;
  message_t b_q, leveled;
  logic     b_valid_q, b_nothing_q;

  assign work = work_q[a_q.slot];

  assign levels  = levels_q[a_q.slot];
  assign a_owner = a_q.kind == STEAL ? a_q.thief : a_q.slot;
  assign changes = a_valid_q && a_q.kind != AGAIN && !(a_q.kind == NEXT && a_left_q);

  // The bits of the token's slot as they are after this stage.
  always_comb begin
    for (int l = 0; l < DEPTH; l++)
      unique case (a_q.kind)
        GROWN:   work_d[l] = a_q.size == size_t'(l + 1) ? a_left_q : work[l]; // the parent's entry
        NEXT:    work_d[l] = work[l] && levels.deepest != pos_t'(l); // which is resumed
        default: work_d[l] = 1'b0;
      endcase
  end

  // Position of the lowest bit that is set, or 0.
  function automatic pos_t first_of(input mask_t mask);
    first_of = '0;
    for (int j = DEPTH - 1; j >= 0; j--) if (mask[j]) first_of = pos_t'(j);
  endfunction

  always_comb begin
    levels_d.some       = changed_q != '0;
    levels_d.shallowest = first_of(changed_q);
    levels_d.deepest    = '0;
    for (int l = 0; l < DEPTH; l++) if (changed_q[l]) levels_d.deepest = pos_t'(l);
  end

  always_comb begin
    leveled  = a_q;
    leveled.level = pos_t'(a_q.size - 1'b1); // for `later`
    finished = kill_i && a_q.kind != STEAL;
    nothing  = kill_i && a_q.kind == STEAL;
    unique case (a_q.kind)
      GROWN: begin
        leveled.size  = a_q.size + 1'b1;
        leveled.level = pos_t'(a_q.size - 1'b1); // the parent's entry; none for a start vertex
      end
      NEXT: begin
        if (a_left_q) begin
          leveled.size  = size_q[a_q.slot];
          leveled.level = pos_t'(size_q[a_q.slot] - 1'b1);
          leveled.cursor.i = a_q.cursor.i + 1'b1;
        end else begin
          leveled.kind  = BACK;
          leveled.level = levels.deepest;
          leveled.size  = size_t'(levels.deepest) + 1'b1;
          finished = kill_i || !levels.some;
        end
      end
      STEAL: begin
        leveled.level = levels.shallowest;
        leveled.size  = size_t'(levels.shallowest) + 1'b1;
        nothing = kill_i || !levels.some || (changed_valid_q && changed_slot_q == a_q.slot);
      end
      default: ;
    endcase
  end

  assign freed_o = free_q;

  always_ff @(posedge clk_i) begin
    b_q <= leveled;
    b_valid_q   <= !rst_i && a_valid_q && !finished && !nothing;
    b_nothing_q <= !rst_i && a_valid_q && nothing;
    // The slot is free a cycle after its token: a steal from it finds no bit set.
    free_q      <= !rst_i && a_valid_q && finished;
    free_slot_q <= a_q.slot;
    // What a slot that becomes free keeps is void.
    if (changes) begin
      work_q[a_owner] <= work_d;
      if (a_q.kind != UNIT) size_q[a_owner] <= leveled.size;
    end
    changed_valid_q <= !rst_i && changes;
    changed_slot_q  <= a_owner;
    changed_q       <= work_d;
    if (changed_valid_q) levels_q[changed_slot_q] <= levels_d;
  end

  // ---------------------------------------------------------------- B: ancestor entry

  cursor_t  entry, rest, taken;
  edge_t    middle;
  logic [EDGE_W:0] left; // edges without two of them
  logic     whole, b_writes, empty, several, c_valid_q, failed, c_clipped_q;
  message_t c_q;

  assign b_writes = b_valid_q && ((b_q.kind == GROWN && b_q.size > size_t'(1)) || b_q.kind == STEAL);

  gramer_ancestor_buffer i_ancestors (
    .clk_i,
    .slot_i   (b_q.slot),
    .level_i  (b_q.level),
    .write_i  (b_writes),
    .cursor_i (rest),
    .cursor_o (entry)
  );

  assign saved_row_o = b_q.slot;

  if (COMPACTION == 0) begin : gen_states
    (* ram_style = "distributed" *) row_t states [SLOTS * DEPTH];
    row_t restored_q;

    wire [$clog2(SLOTS*DEPTH)-1:0] at = ($clog2(SLOTS*DEPTH))'(b_q.slot)
        * ($clog2(SLOTS*DEPTH))'(DEPTH) + ($clog2(SLOTS*DEPTH))'(b_q.level);

    always_ff @(posedge clk_i) begin
      if (b_valid_q && b_q.kind == GROWN && b_q.size > size_t'(1)) states[at] <= saved_i;
      restored_q <= states[at];
    end
    assign restored_o = restored_q;
  end else begin : gen_no_states
    assign restored_o = '0;
    logic unused;
    assign unused = &{1'b0, saved_i};
  end

  // Of an odd number of edges the entry keeps one more.
  assign middle = edge_t'(({1'b0, entry.lo} + {1'b0, entry.hi}
                           + (EDGE_W+1)'(!config_i.ascending)) >> 1);
  assign empty  = entry.lo >= entry.hi;
  assign left   = {1'b0, entry.hi} - {1'b0, entry.lo} - (EDGE_W+1)'(2);
  assign several = !empty && !left[EDGE_W];

  // `taken`: what is extended next, its whole list if `whole`; `rest`: what the entry keeps.
  always_comb begin
    taken  = b_q.cursor;
    rest   = b_q.cursor;
    whole  = b_q.kind == NEXT;
    failed = 1'b0;
    if (b_q.kind == BACK) begin
      taken = entry;
      if (empty && entry.i < entry.i_last) begin
        taken.i = entry.i + 1'b1;
        whole   = 1'b1;
      end
    end else if (b_q.kind == STEAL) begin
      taken = entry;
      rest  = entry;
      if (several) begin
        taken.i_last = entry.i;
        if (config_i.ascending) begin // the cursor comes down from hi
          taken.hi = middle;
          rest.lo  = middle;
        end else begin
          taken.lo = middle;
          rest.hi  = middle;
        end
      end else if (entry.i < entry.i_last) begin
        taken.i     = entry.i + 1'b1;
        whole       = 1'b1;
        rest.i_last = entry.i;
      end else if (!empty) begin
        rest.lo = entry.hi;
      end else begin
        failed = 1'b1;
      end
    end
  end

  // The threshold of list i is the farthest of the root and the vertices after position i. A bit of
  // `later` is set for each vertex that is farther than the root and than all vertices after it; so
  // the threshold is the vertex of the first bit above i, or the root. There is a mask for each prefix
  // of the embedding: a vertex that is added hides earlier ones, which come back when it is removed.
  (* ram_style = "distributed" *) mask_t later [SLOTS << POS_W];
  // Position i of each ancestor entry once more, for a look-up a stage earlier: an entry that is stolen
  // from keeps its i, and a steal does not look at a slot that has just written one.
  (* ram_style = "distributed" *) pos_t bases [SLOTS << POS_W];
  mask_t b_later_q, c_later_q;
  pos_t  b_base_q, c_farthest_q, c_farthest_on_q;
  logic  c_on_q;

  // Whether the entry's list is done is known late: for the list after it there is another answer.
  mask_t after_base; // positions after i

  assign after_base = ~mask_t'(1) << b_base_q;

  // A steal that finds nothing, in stage A or B, gives its slot back.
  assign back_slot = c_q.thief;

  always_ff @(posedge clk_i) begin
    c_q <= b_q;
    c_q.cursor <= taken;
    c_clipped_q  <= b_q.cursor.hi[31:0] >= b_q.record.degree;
    b_later_q    <= later[{a_q.slot, leveled.level}];
    c_later_q    <= b_later_q;
    b_base_q     <= leveled.kind == BACK || leveled.kind == STEAL ? bases[{a_q.slot, leveled.level}]
                    : leveled.kind == GROWN ? '0 : leveled.cursor.i;
    if (b_writes) bases[{b_q.slot, b_q.level}] <= rest.i;
    c_farthest_q <= first_of(b_later_q & after_base);
    c_farthest_on_q    <= first_of(b_later_q & (after_base << 1));
    c_on_q       <= whole && b_q.kind != NEXT;
    c_valid_q  <= !rst_i && b_valid_q && !failed;
    c_failed_q <= !rst_i && (b_nothing_q || (b_valid_q && failed));
  end

  // ---------------------------------------------------------------- C: embedding table

  logic    grown, from_root_list, steals, restores;
  cursor_t cursor;
  id_t     threshold;
  pos_t    newest;

  assign grown           = c_q.kind == GROWN;
  assign from_root_list  = c_q.cursor.i == '0;
  assign newest          = pos_t'(c_q.size - 1'b1);
  assign row_o           = c_q.slot;
  assign row_lane_o      = c_q.cursor.i;
  assign row_key_lane_o  = newest;
  assign table_write_o   = c_valid_q && grown;
  assign table_lane_o    = newest;
  assign table_id_o      = c_q.vertex;
  assign table_offset_o  = c_q.record.offset;
  assign table_degree_o  = c_q.record.degree;
  assign table_key_o     = c_q.key;
  assign steals          = c_valid_q && c_q.kind == STEAL;
  assign restores        = c_valid_q && (c_q.kind == BACK || c_q.kind == STEAL);
  assign table_copy_o    = COMPACTION == 0 ? restores : steals;
  assign table_copy_to_o = c_q.kind == STEAL ? c_q.thief : c_q.slot;

  // The state that is extended next: the table's, or the one that is just coming back.
  id_t         ids [DEPTH];
  edge_t       offset;
  logic [31:0] degree;
  key_t        old_key;

  always_comb begin
    ids     = row_ids_i;
    offset  = row_offset_i;
    degree  = row_degree_i;
    old_key = row_key_i;
    if (COMPACTION == 0 && restores) begin
      for (int j = 0; j < DEPTH; j++) ids[j] = restored_o.ids[j];
      offset  = restored_o.offsets[row_lane_o];
      degree  = restored_o.degrees[row_lane_o];
      old_key = restored_o.keys[row_key_lane_o];
    end
  end

  always_comb begin
    cursor = c_q.cursor;
    if (c_on_q || c_q.kind == NEXT) begin // the whole list
      cursor.lo = offset;
      cursor.hi = offset + edge_t'(degree);
    end
    if (grown) begin
      cursor.i      = '0;
      cursor.i_last = config_i.app == APP_CLIQUE ? '0 : newest;
      if (c_q.size == size_t'(1)) begin
        // The unit's part of the start vertex' list.
        cursor.lo = c_q.record.offset + c_q.cursor.lo;
        cursor.hi = c_q.record.offset
            + (c_clipped_q ? edge_t'(c_q.record.degree) : c_q.cursor.hi);
      end else begin
        cursor.lo = root_offset_i;
        cursor.hi = root_offset_i + edge_t'(root_degree_i);
        // The new vertex comes from this very list: what lies beyond it is on one side of it.
        if (from_root_list) begin
          if (config_i.ascending) cursor.lo = c_q.cursor.hi + 1'b1;
          else                    cursor.hi = c_q.cursor.lo - 1'b1;
        end
      end
    end
  end

  // Candidates lie beyond the threshold. Of a grown embedding all vertices count, the new one too.
  id_t   old_farthest;
  mask_t later_d;

  assign old_farthest = ids[c_on_q ? c_farthest_on_q : c_farthest_q];

  always_comb begin
    threshold = old_farthest;
    later_d   = c_later_q;
    if (grown) begin
      if (c_q.size == size_t'(1) || beyond(config_i.ascending, c_q.vertex, old_farthest))
        threshold = c_q.vertex;
      for (int j = 0; j < DEPTH; j++)
        later_d[j] = c_q.size != size_t'(1)
            && (pos_t'(j) == newest
                ? beyond(config_i.ascending, c_q.vertex, ids[0])
                : c_later_q[j] && beyond(config_i.ascending, ids[j], c_q.vertex));
    end
  end

  // A steal takes the mask along; what it divides is no deeper than the victim's ancestors, so
  // no entry is read in the cycle in which it is written.
  always_ff @(posedge clk_i)
    if (c_valid_q && (grown || steals)) later[{table_copy_to_o, newest}] <= later_d;

  assign stolen_o = steals;

  always_ff @(posedge clk_i) begin
    issue_valid_o     <= !rst_i && c_valid_q;
    issue_o.slot      <= c_q.kind == STEAL ? c_q.thief : c_q.slot;
    issue_o.root      <= c_q.kind == UNIT;
    issue_o.size      <= c_q.kind == UNIT ? '0 : c_q.size;
    issue_o.threshold <= c_q.kind == UNIT ? c_q.vertex : threshold;
    issue_o.key       <= c_q.kind == UNIT ? '0 : grown ? c_q.key : old_key;
    issue_o.cursor    <= cursor;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(result_valid_i && !busy_o[result_i.slot])) else $error("result of a free slot");
    assert (!(ended_valid_i && !busy_o[ended_i.slot])) else $error("end of a free slot");
    assert (!(steals && c_q.slot == c_q.thief)) else $error("a slot steals from itself");
    assert (!(b_valid_q && b_q.kind == GROWN && 32'(b_q.size) > DEPTH)) else $error("too deep");
    assert (!(a_valid_q && leveled.kind == STEAL && !nothing
              && (work & ((DEPTH'(2) << leveled.level) - 1'b1)) != DEPTH'(1) << leveled.level))
    else $error("a steal of another entry than the shallowest with work");
    assert (!(a_valid_q && leveled.kind == BACK && !finished
              && work >> leveled.level != DEPTH'(1)))
    else $error("an ancestor that isn't the deepest with work");
  end
`endif

endmodule

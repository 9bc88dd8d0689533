// Schedules the next extension of each slot (figure 9). Every busy slot has exactly one token, which is in
// one place at a time: a queue, a pipeline, or an outstanding memory access. A token that arrives here leaves as
// an extension, or its slot is freed; a slot has no two tokens in the pipeline, so stages need no forwarding.
//
//   receiver ─► A: level ─► B: ancestor entry ─► C: embedding table, threshold ─► issue
//
// Depth first: a grown embedding is extended immediately, and its parent's cursor is pushed to the ancestor buffer;
// a finished one backtracks to the deepest ancestor with work left. `work` holds one bit per ancestor entry: it
// may have work left. A set bit of an empty entry is harmless (the extender returns it); an entry with work
// always has its bit set.
//
// Stealing (section V-C) divides the shallowest ancestor with work left, which moves the most work. If two or more
// edges of its list remain, the half farther from the cursor moves; else the lists after this one; else the last
// edge. The victim's entry is updated in the cycle that creates the thief's, so each edge has one owner.
//
// With compaction an entry holds the cursor alone: the states of the ancestors are prefixes of the slot's row in the
// embedding table. Without it, the whole state is saved with the entry and restored.
//
// A killed run frees each slot when its token returns. `oldest_o` is then the oldest unit that was in flight:
// all units before it are finished.
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
  // To the extender, without back-pressure: at most one token per slot
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
  output label_t  table_label_o,
  output key_t    table_key_o,
  output logic    table_copy_o,
  output slot_t   table_copy_to_o,
  // Without compaction: the row to save with an ancestor entry, and the row to restore
  output slot_t   saved_row_o,
  input  row_t    saved_i,
  output row_t    restored_o,
  // Unit of the listed embedding
  input  slot_t   listed_slot_i,
  output ordinal_t listed_ordinal_o,
  // State and events
  output ordinal_t oldest_o, // oldest unit in flight when the run was killed
  output logic [SLOTS-1:0] busy_o,
  output logic    pending_o, // a unit waits for a slot
  output logic    freed_o,
  output logic    stolen_o
);

  logic   issue_valid_q;
  issue_t issue_q;

  assign issue_valid_o = issue_valid_q;
  assign issue_o       = issue_q;

  // ---------------------------------------------------------------- receiver

  logic     a_valid, a_left, b_nothing_q, c_failed_q, free_q, begins, steals, noted;
  token_t   a, b_q, c_q;
  slot_t    next_slot, victim, free_slot_q;
  ordinal_t waiting_ordinal;

  gramer_receiver i_receiver (
    .clk_i, .rst_i, .clear_i, .kill_i, .config_i,
    .unit_valid_i, .unit_ready_o, .unit_i, .result_valid_i, .result_i, .ended_valid_i, .ended_i,
    .free_i (free_q), .free_slot_i (free_slot_q),
    .return_i (c_failed_q), .return_slot_i (c_q.thief), // a steal that found no work, in stage A or B
    .noted_i (noted), .begins_o (begins), .steals_o (steals), .slot_o (next_slot),
    .victim_o (victim), .ordinal_o (waiting_ordinal),
    .valid_o (a_valid), .token_o (a), .left_o (a_left),
    .busy_o, .pending_o
  );

  gramer_unit_ledger i_ledger (
    .clk_i, .rst_i, .clear_i, .kill_i,
    .begins_i (begins), .steals_i (steals), .slot_i (next_slot), .victim_i (victim),
    .waits_i (pending_o), .ordinal_i (waiting_ordinal), .busy_i (busy_o), .noted_o (noted),
    .listed_slot_i, .listed_ordinal_o, .oldest_o
  );

  // ---------------------------------------------------------------- A: level

  // Summary of a slot's work bits, one cycle late. The slot's own token returns later than that; a steal
  // does not use it while it is stale.
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
  logic     finished, nothing, changes, changed_valid_q, b_valid_q;
  token_t   leveled;

  assign work = work_q[a.slot];

  assign levels  = levels_q[a.slot];
  assign a_owner = a.kind == STEAL ? a.thief : a.slot;
  assign changes = a_valid && a.kind != AGAIN && !(a.kind == NEXT && a_left);

  // Work bits of the token's slot after this stage.
  always_comb begin
    for (int l = 0; l < DEPTH; l++)
      unique case (a.kind)
        GROWN:   work_d[l] = a.size == size_t'(l + 1) ? a_left : work[l]; // the parent's entry
        NEXT:    work_d[l] = work[l] && levels.deepest != pos_t'(l); // the resumed entry
        default: work_d[l] = 1'b0;
      endcase
  end

  always_comb begin
    levels_d.some       = changed_q != '0;
    levels_d.shallowest = first_of(changed_q);
    levels_d.deepest    = '0;
    for (int l = 0; l < DEPTH; l++) if (changed_q[l]) levels_d.deepest = pos_t'(l);
  end

  always_comb begin
    leveled  = a;
    leveled.level = pos_t'(a.size - 1'b1); // entry of the threshold look-up
    finished = kill_i && a.kind != STEAL;
    nothing  = kill_i && a.kind == STEAL;
    unique case (a.kind)
      GROWN: begin
        leveled.size  = a.size + 1'b1;
        leveled.level = pos_t'(a.size - 1'b1); // the parent's entry; none for a start vertex
      end
      NEXT: begin
        if (a_left) begin
          leveled.size  = size_q[a.slot];
          leveled.level = pos_t'(size_q[a.slot] - 1'b1);
          leveled.cursor.i = a.cursor.i + 1'b1;
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
        nothing = kill_i || !levels.some || (changed_valid_q && changed_slot_q == a.slot);
      end
      default: ;
    endcase
  end

  assign freed_o = free_q;

  always_ff @(posedge clk_i) begin
    b_q <= leveled;
    b_valid_q   <= !rst_i && a_valid && !finished && !nothing;
    b_nothing_q <= !rst_i && a_valid && nothing;
    // The slot is freed one cycle after its token: a steal from it finds no bit set.
    free_q      <= !rst_i && a_valid && finished;
    free_slot_q <= a.slot;
    // The summary of a freed slot is void.
    if (changes) begin
      work_q[a_owner] <= work_d;
      if (a.kind != ROOT) size_q[a_owner] <= leveled.size;
    end
    changed_valid_q <= !rst_i && changes;
    changed_slot_q  <= a_owner;
    changed_q       <= work_d;
    if (changed_valid_q) levels_q[changed_slot_q] <= levels_d;
  end

  // ---------------------------------------------------------------- B: ancestor entry

  cursor_t  entry, rest, taken;
  edge_t    middle;
  logic [EDGE_W:0] left; // remaining edges less two
  logic     whole, b_writes, empty, several, c_valid_q, failed, c_clipped_q, c_on_q;

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

  // If the number of edges is odd, the entry keeps the extra one.
  assign middle = edge_t'(({1'b0, entry.lo} + {1'b0, entry.hi}
                           + (EDGE_W+1)'(!config_i.ascending)) >> 1);
  assign empty  = entry.lo >= entry.hi;
  assign left   = {1'b0, entry.hi} - {1'b0, entry.lo} - (EDGE_W+1)'(2);
  assign several = !empty && !left[EDGE_W];

  // `taken`: range to extend next, the whole list if `whole`; `rest`: range that stays in the entry.
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

  always_ff @(posedge clk_i) begin
    c_q <= b_q;
    c_q.cursor <= taken;
    c_clipped_q <= b_q.cursor.hi[31:0] >= b_q.record.degree;
    c_on_q      <= whole && b_q.kind != NEXT;
    c_valid_q   <= !rst_i && b_valid_q && !failed;
    c_failed_q  <= !rst_i && (b_nothing_q || (b_valid_q && failed));
  end

  // ---------------------------------------------------------------- C: embedding table

  logic    grown, from_root_list, divided, restores;
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
  assign table_label_o   = c_q.record.label;
  assign table_key_o     = c_q.key;
  assign divided         = c_valid_q && c_q.kind == STEAL;
  assign restores        = c_valid_q && (c_q.kind == BACK || c_q.kind == STEAL);
  assign table_copy_o    = COMPACTION == 0 ? restores : divided;
  assign table_copy_to_o = c_q.kind == STEAL ? c_q.thief : c_q.slot;

  // State to extend next: from the table, or the one being restored.
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
        // The unit's range of the start vertex' list.
        cursor.lo = c_q.record.offset + c_q.cursor.lo;
        cursor.hi = c_q.record.offset
            + (c_clipped_q ? edge_t'(c_q.record.degree) : c_q.cursor.hi);
      end else begin
        cursor.lo = root_offset_i;
        cursor.hi = root_offset_i + edge_t'(root_degree_i);
        // The new vertex comes from this list, so candidates beyond it lie on one side of it.
        if (from_root_list) begin
          if (config_i.ascending) cursor.lo = c_q.cursor.hi + 1'b1;
          else                    cursor.hi = c_q.cursor.lo - 1'b1;
        end
      end
    end
  end

  gramer_threshold_table i_thresholds (
    .clk_i, .config_i, .leveled_i (leveled),
    .write_i (b_writes), .write_slot_i (b_q.slot), .write_level_i (b_q.level), .base_i (rest.i),
    .valid_i (c_valid_q), .token_i (c_q), .on_i (c_on_q), .ids_i (ids), .copy_to_i (table_copy_to_o),
    .threshold_o (threshold)
  );

  assign stolen_o = divided;

  always_ff @(posedge clk_i) begin
    issue_valid_q     <= !rst_i && c_valid_q;
    issue_q.slot      <= c_q.kind == STEAL ? c_q.thief : c_q.slot;
    issue_q.root      <= c_q.kind == ROOT;
    issue_q.size      <= c_q.kind == ROOT ? '0 : c_q.size;
    issue_q.threshold <= c_q.kind == ROOT ? c_q.vertex : threshold;
    issue_q.key       <= c_q.kind == ROOT ? '0 : grown ? c_q.key : old_key;
    issue_q.cursor    <= cursor;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(result_valid_i && !busy_o[result_i.slot])) else $error("result of a free slot");
    assert (!(ended_valid_i && !busy_o[ended_i.slot])) else $error("end of a free slot");
    assert (!(divided && c_q.slot == c_q.thief)) else $error("a slot steals from itself");
    assert (!(b_valid_q && b_q.kind == GROWN && 32'(b_q.size) > DEPTH)) else $error("too deep");
    assert (!(a_valid && leveled.kind == STEAL && !nothing
              && (work & ((DEPTH'(2) << leveled.level) - 1'b1)) != DEPTH'(1) << leveled.level))
    else $error("a steal of another entry than the shallowest with work");
    assert (!(a_valid && leveled.kind == BACK && !finished
              && work >> leveled.level != DEPTH'(1)))
    else $error("an ancestor that isn't the deepest with work");
  end
`endif

endmodule

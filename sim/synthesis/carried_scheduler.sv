// The scheduler without ancestor buffers (paper, table IV, "w/o AB"), to be compared with the one in
// rtl/ (scripts/ecp5.py): an embedding, its ancestors and their cursors travel with their token, in
// registers through every stage, and leave and come back with it. There is no memory by slot but that
// of the units' ordinals, and no embedding table.
//
//   select ─► A: level ─► B: ancestor, division ─► C: threshold ─► issue, with the state
//
// Search and order are those of rtl/gramer_scheduler.sv. What differs is stealing: a state that is under
// way can't be reached, so a token that passes with a free slot at hand is divided, and what is
// stolen waits in a register for its turn.
module carried_scheduler
  import gramer_pkg::*;
  import gramer_types_pkg::*;
  import carried_pkg::*;
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
  input  state_t  result_state_i,
  // From the extender
  input  logic    ended_valid_i,
  input  ended_t  ended_i,
  input  state_t  ended_state_i,
  // To the extender
  output logic    issue_valid_o,
  output issue_t  issue_o,
  output state_t  issue_state_o,
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
    BACK    // go on with an ancestor
  } kind_e;

  typedef struct packed {
    kind_e   kind;
    slot_t   slot;
    size_t   size;   // of the embedding to be extended
    pos_t    level;  // ancestor to be read or written
    logic    whole;  // the list is walked from its begin
    id_t     vertex;
    record_t record;
    key_t    key;
    cursor_t cursor;
  } message_t;

  // ---------------------------------------------------------------- select

  logic     ended_valid, ended_take, unit_q_valid, unit_take, stolen_take, stolen_valid_q;
  ended_t   ended;
  state_t   ended_state, selected_state, stolen_state_q, a_state_q;
  unit_t    unit_q;
  logic     slot_valid, free, give_back, divides;
  slot_t    slot_next, free_slot, back_slot;
  logic     kill_q, a_valid_q;
  logic [SLOTS-1:0] killed_q; // busy slots that still have to be looked at
  message_t selected, stolen_q, a_q;

  gramer_fifo #(.WIDTH($bits(ended_t) + $bits(state_t)), .DEPTH(SLOTS)) i_ended (
    .clk_i, .rst_i (rst_i || clear_i),
    .push_i (ended_valid_i), .data_i ({ended_i, ended_state_i}), .full_o (),
    .pop_i (ended_take), .valid_o (ended_valid), .data_o ({ended, ended_state})
  );

  assign unit_ready_o = slot_valid && !unit_q_valid;

  always_ff @(posedge clk_i) begin
    if (unit_valid_i && unit_ready_o) unit_q <= unit_i;
    if (rst_i || clear_i) unit_q_valid <= 1'b0;
    else if (unit_valid_i && unit_ready_o) unit_q_valid <= 1'b1;
    else if (unit_take) unit_q_valid <= 1'b0;
  end

  assign pending_o   = unit_q_valid;
  assign ended_take  = !result_valid_i && ended_valid;
  // When the run is killed, the unit that waits is given to a slot only after the snapshot.
  assign unit_take   = !result_valid_i && !ended_valid && unit_q_valid && slot_valid
                       && (!kill_i || killed_q == '0 && kill_q);
  assign stolen_take = !result_valid_i && !ended_valid && !unit_take && stolen_valid_q;

  gramer_slot_buffer i_slots (
    .clk_i, .rst_i, .clear_i,
    .slots_i       (config_i.slots),
    .valid_o       (slot_valid),
    .slot_o        (slot_next),
    .take_i        (unit_take || divides),
    .free_i        (free),
    .free_slot_i   (free_slot),
    .return_i      (give_back),
    .return_slot_i (back_slot),
    .busy_o
  );

  always_comb begin
    selected        = '0;
    selected_state  = result_state_i;
    selected.vertex = result_i.vertex;
    selected.record = result_i.record;
    selected.key    = result_i.key;
    selected.size   = result_i.size;
    selected.cursor = result_i.cursor;
    if (result_valid_i) begin
      selected.kind = result_i.accept ? GROWN : AGAIN;
      selected.slot = result_i.slot;
    end else if (ended_valid) begin
      selected_state = ended_state;
      selected.kind  = NEXT; // or BACK, see stage A
      selected.slot  = ended.slot;
      selected.cursor.i      = ended.i;
      selected.cursor.i_last = ended.i_last;
    end else if (unit_take) begin
      selected.kind   = UNIT;
      selected.slot   = slot_next;
      selected.vertex = unit_q.start;
      selected.cursor.lo = edge_t'(unit_q.first);
      selected.cursor.hi = edge_t'(unit_q.limit);
    end else begin
      selected_state = stolen_state_q;
      selected       = stolen_q;
    end
  end

  always_ff @(posedge clk_i) begin
    a_q       <= selected;
    a_state_q <= selected_state;
    a_valid_q <= !rst_i && (result_valid_i || ended_valid || unit_take || stolen_take);
  end

  // ---------------------------------------------------------------- units of the slots

  ordinal_t ordinal_q [SLOTS]; // of the unit that each slot works for
  slot_t    look;

  assign listed_ordinal_o = ordinal_q[listed_slot_i];

  always_comb begin
    look = '0;
    for (int s = SLOTS - 1; s >= 0; s--) if (killed_q[s]) look = slot_t'(s);
  end

  always_ff @(posedge clk_i) begin
    if (unit_take) ordinal_q[slot_next] <= unit_q.ordinal;
    if (divides)   ordinal_q[slot_next] <= ordinal_q[a_q.slot];
    kill_q <= !rst_i && !clear_i && kill_i;
    if (rst_i || clear_i) begin
      oldest_o <= '1;
      killed_q <= '0;
    end else if (kill_i && !kill_q) begin
      killed_q <= busy_o;
      if (unit_q_valid) oldest_o <= unit_q.ordinal;
    end else if (killed_q != '0) begin
      killed_q[look] <= 1'b0;
      if (ordinal_q[look] < oldest_o) oldest_o <= ordinal_q[look];
    end
  end

  // ---------------------------------------------------------------- A: level

  mask_t    work;
  logic     finished, b_valid_q, b_divides_q, c_divides_q;
  pos_t     deepest, shallowest, b_shallowest_q;
  slot_t    b_thief_q;
  message_t b_q, leveled;
  state_t   b_state_q, leveled_state;

  assign work = a_state_q.work;

  always_comb begin
    deepest = '0;
    shallowest = '0;
    for (int l = 0; l < DEPTH; l++) if (work[l]) deepest = pos_t'(l);
    for (int l = DEPTH - 1; l >= 0; l--) if (work[l]) shallowest = pos_t'(l);
  end

  always_comb begin
    leveled       = a_q;
    leveled.level = pos_t'(a_q.size - 1'b1); // for `later`
    leveled_state = a_state_q;
    finished      = kill_i;
    unique case (a_q.kind)
      UNIT: leveled_state.work = '0;
      GROWN: begin
        leveled.size  = a_q.size + 1'b1; // the level is the parent's; none for a start vertex
        leveled_state.size = leveled.size;
        if (a_q.size != '0)
          leveled_state.work[leveled.level] =
              a_q.cursor.lo < a_q.cursor.hi || a_q.cursor.i < a_q.cursor.i_last;
      end
      NEXT: begin
        leveled.size = a_state_q.size;
        if (a_q.cursor.i < a_q.cursor.i_last) begin
          leveled.level    = pos_t'(a_state_q.size - 1'b1);
          leveled.cursor.i = a_q.cursor.i + 1'b1;
          leveled.whole    = 1'b1;
        end else begin
          leveled.kind  = BACK;
          leveled.level = deepest;
          leveled.size  = size_t'(deepest) + 1'b1;
          finished      = kill_i || work == '0;
          leveled_state.size = leveled.size;
          leveled_state.work[deepest] = 1'b0;
        end
      end
      default: ;
    endcase
  end

  // A unit that waits comes before a thief. An ancestor that is gone back to isn't divided.
  assign divides = a_valid_q && !kill_i && config_i.stealing && slot_valid && !unit_q_valid
                   && !stolen_valid_q && !b_divides_q && a_q.kind != UNIT && work != '0
                   && !(leveled.kind == BACK && shallowest == deepest);
  assign free      = a_valid_q && finished;
  assign free_slot = a_q.slot;
  assign freed_o   = free;

  always_ff @(posedge clk_i) begin
    b_q            <= leveled;
    b_state_q      <= leveled_state;
    b_shallowest_q <= shallowest;
    b_thief_q      <= slot_next;
    b_valid_q      <= !rst_i && a_valid_q && !finished;
    b_divides_q    <= !rst_i && divides;
  end

  // ---------------------------------------------------------------- B: ancestor, division

  cursor_t  entry, shallow, rest, taken;
  edge_t    left, half;
  logic     back, empty, failed, c_valid_q;
  message_t c_q, going, stolen;
  state_t   c_state_q, going_state, stolen_state;
  mask_t    later_b, above, c_later_q;
  pos_t     farthest, c_farthest_q;

  assign back    = b_q.kind == BACK;
  assign entry   = b_state_q.cursors[b_q.level];
  assign shallow = b_state_q.cursors[b_shallowest_q];
  assign left    = shallow.hi - shallow.lo;
  assign half    = left >> 1;
  assign empty   = shallow.lo >= shallow.hi;

  // The shallowest ancestor with work left: what is taken from it, and what it keeps.
  always_comb begin
    taken  = shallow;
    rest   = shallow;
    failed = 1'b0;
    stolen = '0;
    if (!empty && left > edge_t'(1)) begin
      taken.i_last = shallow.i;
      if (config_i.ascending) begin // the cursor comes down from hi
        taken.hi = shallow.lo + half;
        rest.lo  = shallow.lo + half;
      end else begin
        taken.lo = shallow.hi - half;
        rest.hi  = shallow.hi - half;
      end
    end else if (shallow.i < shallow.i_last) begin
      taken.i      = shallow.i + 1'b1;
      stolen.whole = 1'b1;
      rest.i_last  = shallow.i;
    end else if (!empty) begin
      rest.lo = shallow.hi;
    end else begin
      failed = 1'b1;
    end
    stolen.kind   = AGAIN;
    stolen.slot   = b_thief_q;
    stolen.size   = size_t'(b_shallowest_q) + 1'b1;
    stolen.cursor = taken;
    stolen_state           = b_state_q;
    stolen_state.embedding = b_state_q.ancestors[b_shallowest_q];
    stolen_state.work      = '0;
    stolen_state.size      = stolen.size;
  end

  always_comb begin
    going       = b_q;
    going_state = b_state_q;
    if (b_divides_q) going_state.cursors[b_shallowest_q] = rest;
    if (b_q.kind == GROWN && b_q.size > size_t'(1)) begin
      going_state.cursors[b_q.level]   = b_q.cursor;
      going_state.ancestors[b_q.level] = b_state_q.embedding;
    end
    if (back) begin
      going_state.embedding = b_state_q.ancestors[b_q.level];
      going.cursor          = entry;
      if (entry.lo >= entry.hi && entry.i < entry.i_last) begin
        going.cursor.i = entry.i + 1'b1;
        going.whole    = 1'b1;
      end
    end
  end

  // Lowest bit that is set, or 0.
  function automatic pos_t first_of(input mask_t mask);
    first_of = '0;
    for (int j = DEPTH - 1; j > 0; j--) if (mask[j]) first_of = pos_t'(j);
  endfunction

  // Thresholds as in rtl/gramer_scheduler.sv: a mask of the farthest vertices for each prefix.
  assign later_b = b_state_q.later[b_q.level];

  always_comb begin
    for (int j = 0; j < DEPTH; j++)
      above[j] = b_q.kind == GROWN ? j != 0 : pos_t'(j) > going.cursor.i;
    farthest = first_of(later_b & above);
  end

  assign give_back = b_divides_q && failed;
  assign back_slot = b_thief_q;

  always_ff @(posedge clk_i) begin
    c_q          <= going;
    c_state_q    <= going_state;
    c_later_q    <= later_b;
    c_farthest_q <= farthest;
    c_valid_q    <= !rst_i && b_valid_q;
    c_divides_q  <= !rst_i && b_divides_q && !failed;
    if (b_divides_q) begin
      stolen_q       <= stolen;
      stolen_state_q <= stolen_state;
    end
    if (rst_i || clear_i) stolen_valid_q <= 1'b0;
    else if (b_divides_q && !failed) stolen_valid_q <= 1'b1;
    else if (stolen_take) stolen_valid_q <= 1'b0;
  end

  // ---------------------------------------------------------------- C: threshold

  logic    grown;
  row_t    embedding;
  cursor_t cursor;
  id_t     threshold, old_farthest;
  pos_t    newest;
  mask_t   later_d;
  state_t  issue_state;

  assign grown        = c_q.kind == GROWN;
  assign newest       = pos_t'(c_q.size - 1'b1);
  assign embedding    = c_state_q.embedding;
  assign old_farthest = embedding.ids[c_farthest_q];
  assign stolen_o     = c_divides_q;

  always_comb begin
    cursor = c_q.cursor;
    if (c_q.whole) begin
      cursor.lo = embedding.offsets[c_q.cursor.i];
      cursor.hi = embedding.offsets[c_q.cursor.i] + edge_t'(embedding.degrees[c_q.cursor.i]);
    end
    if (grown) begin
      cursor.i      = '0;
      cursor.i_last = config_i.app == APP_CLIQUE ? '0 : newest;
      if (c_q.size == size_t'(1)) begin
        // The unit's part of the start vertex' list.
        cursor.lo = c_q.record.offset + c_q.cursor.lo;
        cursor.hi = c_q.record.offset
            + (c_q.cursor.hi[31:0] < c_q.record.degree ? c_q.cursor.hi
                                                       : edge_t'(c_q.record.degree));
      end else begin
        cursor.lo = embedding.offsets[0];
        cursor.hi = embedding.offsets[0] + edge_t'(embedding.degrees[0]);
        // The new vertex comes from this very list: what lies beyond it is on one side of it.
        if (c_q.cursor.i == '0) begin
          if (config_i.ascending) cursor.lo = c_q.cursor.hi + 1'b1;
          else                    cursor.hi = c_q.cursor.lo - 1'b1;
        end
      end
    end
  end

  always_comb begin
    threshold   = old_farthest;
    later_d     = c_later_q;
    issue_state = c_state_q;
    if (grown) begin
      if (c_q.size == size_t'(1) || beyond(config_i.ascending, c_q.vertex, old_farthest))
        threshold = c_q.vertex;
      for (int j = 0; j < DEPTH; j++)
        later_d[j] = c_q.size != size_t'(1)
            && (pos_t'(j) == newest
                ? beyond(config_i.ascending, c_q.vertex, embedding.ids[0])
                : c_later_q[j] && beyond(config_i.ascending, embedding.ids[j], c_q.vertex));
      issue_state.later[newest]             = later_d;
      issue_state.embedding.ids[newest]     = c_q.vertex;
      issue_state.embedding.offsets[newest] = c_q.record.offset;
      issue_state.embedding.degrees[newest] = c_q.record.degree;
      issue_state.embedding.keys[newest]    = c_q.key;
    end
  end

  always_ff @(posedge clk_i) begin
    issue_valid_o     <= !rst_i && c_valid_q;
    issue_o.slot      <= c_q.slot;
    issue_o.root      <= c_q.kind == UNIT;
    issue_o.size      <= c_q.kind == UNIT ? '0 : c_q.size;
    issue_o.threshold <= c_q.kind == UNIT ? c_q.vertex : threshold;
    issue_o.key       <= c_q.kind == UNIT ? '0 : issue_state.embedding.keys[newest];
    issue_o.cursor    <= cursor;
    issue_state_o     <= issue_state;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(result_valid_i && !busy_o[result_i.slot])) else $error("result of a free slot");
    assert (!(ended_valid_i && !busy_o[ended_i.slot])) else $error("end of a free slot");
    assert (!(b_divides_q && stolen_valid_q)) else $error("what was stolen is lost");
    assert (!(b_valid_q && b_q.kind == GROWN && 32'(b_q.size) > DEPTH)) else $error("too deep");
  end
`endif

endmodule

// Receiver (figure 6): selects the next work of a PU. In each cycle it accepts one of, by priority: a result of
// process, the end of a list, a work unit if a slot is free, a steal candidate, which gets the free slot.
// It holds the free slots and the candidates; a token leaves one cycle later.
module gramer_receiver
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
  // Freed slots: of a finished embedding tree, and of a steal that found no work
  input  logic    free_i,
  input  slot_t   free_slot_i,
  input  logic    return_i,
  input  slot_t   return_slot_i,
  // Assignment of a slot
  input  logic    noted_i,  // the snapshot of a killed run is complete: a waiting unit may start
  output logic    begins_o, // slot_o gets the waiting unit
  output logic    steals_o, // slot_o gets part of victim_o's work
  output slot_t   slot_o,
  output slot_t   victim_o,
  output ordinal_t ordinal_o, // of the waiting unit
  // Out
  output logic    valid_o,
  output token_t  token_o,
  output logic    left_o,   // result: its cursor has work; end: further lists exist
  // State
  output logic [SLOTS-1:0] busy_o,
  output logic    pending_o // a unit waits for a slot
);

  logic   unit_ready_q, valid_q, left_q;
  token_t token_q;

  assign unit_ready_o = unit_ready_q;
  assign valid_o      = valid_q;
  assign token_o      = token_q;
  assign left_o       = left_q;

  logic   ended_valid, ended_take, unit_valid_q, unit_take, steal_take;
  ended_t ended;
  unit_t  unit_q;
  logic   slot_valid, candidate_valid, push_candidate;
  slot_t  next_slot, candidate;
  token_t selected;

  gramer_fifo #(.WIDTH($bits(ended_t)), .DEPTH(SLOTS)) i_ended (
    .clk_i, .rst_i (rst_i || clear_i),
    .push_i (ended_valid_i), .data_i (ended_i), .full_o (),
    .pop_i (ended_take), .valid_o (ended_valid), .data_o (ended)
  );

  // A unit may arrive if none waits and a slot was free in the previous cycle; if a steal has taken that slot, the
  // unit waits for the next one. With registers in between, the sender saw an earlier `unit_ready_o`, so the
  // unit must be accepted regardless of its current value.
  logic unit_comes;
  assign unit_comes = unit_valid_i && (SLR_REGISTERS != 0 || unit_ready_q);

  always_ff @(posedge clk_i) begin
    if (unit_comes) unit_q <= unit_i;
    if (rst_i || clear_i) unit_valid_q <= 1'b0;
    else if (unit_comes) unit_valid_q <= 1'b1;
    else if (unit_take) unit_valid_q <= 1'b0;
    unit_ready_q <= !rst_i && !clear_i && slot_valid && !unit_valid_q && !unit_comes;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(unit_ready_q && unit_valid_q)) else $error("a unit would be lost");
    assert (!(unit_comes && unit_valid_q)) else $error("a unit is lost");
  end
`endif

  assign pending_o  = unit_valid_q;
  assign ended_take = !result_valid_i && ended_valid;
  // When the run is killed, the waiting unit gets a slot only after the snapshot.
  assign unit_take  = !result_valid_i && !ended_valid && unit_valid_q && slot_valid
                      && (!kill_i || noted_i);
  assign steal_take = !kill_i && !result_valid_i && !ended_valid && !unit_valid_q && config_i.stealing
                      && candidate_valid && slot_valid;

  assign begins_o  = unit_take;
  assign steals_o  = steal_take && busy_o[candidate];
  assign slot_o    = next_slot;
  assign victim_o  = candidate;
  assign ordinal_o = unit_q.ordinal;

  gramer_slot_buffer i_slots (
    .clk_i, .rst_i, .clear_i,
    .slots_i       (config_i.slots),
    .valid_o       (slot_valid),
    .slot_o        (next_slot),
    .take_i        (begins_o || steals_o),
    .free_i, .free_slot_i, .return_i, .return_slot_i,
    .busy_o
  );

  // Uses the registered token, so a steal in the next cycle sees up-to-date levels of the slot. An accepted start
  // vertex is pushed, too, although it has nothing to steal yet: without it 4-motifs on citeseer take 3 % more
  // cycles.
  assign push_candidate = config_i.stealing && slot_valid && valid_q && token_q.kind == GROWN;

  gramer_stealing_buffer i_candidates (
    .clk_i, .rst_i, .clear_i,
    .push_i  (push_candidate),
    .slot_i  (token_q.slot),
    .valid_o (candidate_valid),
    .slot_o  (candidate),
    .pop_i   (steal_take)
  );

  // A result and an end are never used together.
  always_comb begin
    selected        = '0;
    selected.thief  = next_slot;
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
      selected.kind   = ROOT;
      selected.slot   = next_slot;
      selected.vertex = unit_q.start;
      selected.cursor.lo = edge_t'(unit_q.first);
      selected.cursor.hi = edge_t'(unit_q.limit);
    end else begin
      selected.kind = STEAL;
      selected.slot = candidate;
    end
  end

  always_ff @(posedge clk_i) begin
    token_q <= selected;
    left_q  <= result_valid_i ? result_i.cursor.lo < result_i.cursor.hi
                                || result_i.cursor.i < result_i.cursor.i_last
                              : ended.i < ended.i_last;
    valid_q <= !rst_i && (result_valid_i || ended_valid || begins_o || steals_o);
  end

endmodule

// Work unit of each slot. When a run is killed, finds the oldest unit in flight: all units before it are finished.
module gramer_unit_ledger
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_i,
  input  logic     clear_i, // before a run
  input  logic     kill_i,  // end the run at once; stays until the next one
  // Assignment of a slot: the waiting unit, or that of another slot
  input  logic     begins_i,
  input  logic     steals_i,
  input  slot_t    slot_i,
  input  slot_t    victim_i,
  input  logic     waits_i,
  input  ordinal_t ordinal_i,
  input  logic [SLOTS-1:0] busy_i,
  output logic     noted_o, // killed run: all units in flight have been examined
  // Unit of the listed embedding
  input  slot_t    listed_slot_i,
  output ordinal_t listed_ordinal_o,
  output ordinal_t oldest_o // oldest unit in flight when the run was killed
);

  ordinal_t         ordinal_q [SLOTS]; // unit of each slot
  ordinal_t         oldest_q, found_q; // found: of the examined slot
  logic [SLOTS-1:0] killed_q;          // busy slots yet to be examined
  slot_t            look;
  logic             kill_q, looked_q;

  assign oldest_o         = oldest_q;
  assign noted_o          = killed_q == '0 && kill_q;
  assign listed_ordinal_o = ordinal_q[listed_slot_i];

  always_comb begin
    look = '0;
    for (int s = SLOTS - 1; s >= 0; s--) if (killed_q[s]) look = slot_t'(s);
  end

  // A unit that waits for a slot is younger than all others of this PU, but may be the only one.
  always_ff @(posedge clk_i) begin
    if (begins_i) ordinal_q[slot_i] <= ordinal_i;
    if (steals_i) ordinal_q[slot_i] <= ordinal_q[victim_i];
    kill_q <= !rst_i && !clear_i && kill_i;
    if (rst_i || clear_i) begin
      oldest_q <= '1;
      killed_q <= '0;
      looked_q <= 1'b0;
    end else if (kill_i && !kill_q) begin
      // Nothing starts from this cycle until the scan is complete, so the snapshot is consistent.
      killed_q <= busy_i;
      if (waits_i) oldest_q <= ordinal_i;
    end else begin
      if (killed_q != '0) killed_q[look] <= 1'b0;
      looked_q <= killed_q != '0;
      if (looked_q && found_q < oldest_q) oldest_q <= found_q;
    end
    found_q <= ordinal_q[look];
  end

endmodule

// A slot is given to one owner at a time and is free again once both ways back have returned it.
module slot_buffer_proof
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input logic  clk_i,
  input logic  clear_i,
  input logic [$clog2(SLOTS+1)-1:0] slots_i,
  input logic  take_i,
  input logic  free_i,
  input slot_t free_slot_i,
  input logic  return_i,
  input slot_t return_slot_i
);
  logic             started_q = 1'b0;
  logic [SLOTS-1:0] all_q, owned_q, busy;
  logic             valid, emptied_q, waits_q; // waits_q: some slot was free and none chosen
  slot_t            slot;

  gramer_slot_buffer dut (
    .clk_i, .rst_i (!started_q), .clear_i, .slots_i, .valid_o (valid), .slot_o (slot), .take_i,
    .free_i, .free_slot_i, .return_i, .return_slot_i, .busy_o (busy)
  );

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    waits_q   <= started_q && !clear_i && !valid && (all_q & ~owned_q) != '0;
    if (!started_q) begin
      all_q     <= '0;
      owned_q   <= '0;
      emptied_q <= 1'b0;
    end else if (clear_i) begin
      all_q     <= SLOTS'((1 << slots_i) - 1);
      owned_q   <= '0;
      emptied_q <= 1'b0;
    end else begin
      if (take_i)   owned_q[slot] <= 1'b1;
      if (free_i)   owned_q[free_slot_i] <= 1'b0;
      if (return_i) owned_q[return_slot_i] <= 1'b0;
      if (busy == '1) emptied_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What callers owe: they give back what they own, once.
      assume (slots_i <= ($clog2(SLOTS+1))'(SLOTS));
      assume (!(take_i && !valid));
      assume (!(free_i && !owned_q[free_slot_i]));
      assume (!(return_i && !owned_q[return_slot_i]));
      assume (!(free_i && return_i && free_slot_i == return_slot_i));
      // What the buffer owes.
      if (valid) assert (!owned_q[slot] && all_q[slot]); // never given twice
      if (waits_q) assert (valid);                       // never lost
      assert (busy == owned_q);
`ifdef INVARIANTS
      // Invariants.
      assert ((owned_q & ~all_q) == '0);
      for (int s = 0; s < SLOTS; s++)
        if (!(valid && slot == slot_t'(s))) assert (dut.free_q[s] == (all_q[s] && !owned_q[s]));
`endif
      cover (emptied_q && busy == '0 && all_q == '1);
      cover (take_i && free_i && return_i && !clear_i);
    end
  end
endmodule

// The free slots of a PU. A slot id is given out at most once until it comes back; ids come back
// from two places in one cycle: a finished embedding tree and a steal that found nothing.
module slot_buffer
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_i,
  input  logic  clear_i, // before a run: ids below slots_i are free
  input  logic [$clog2(SLOTS+1)-1:0] slots_i,
  // Out
  output logic  valid_o,
  output slot_t slot_o,
  input  logic  take_i,
  // Back
  input  logic  free_i,
  input  slot_t free_slot_i,
  input  logic  return_i,
  input  slot_t return_slot_i,
  // State
  output logic [SLOTS-1:0] busy_o
);

  logic [SLOTS-1:0] free_q, free_d, all_q;

  assign valid_o = free_q != '0;
  assign busy_o  = all_q & ~free_q;

  always_comb begin
    slot_o = '0;
    for (int s = SLOTS - 1; s >= 0; s--) if (free_q[s]) slot_o = slot_t'(s);
  end

  always_comb begin
    free_d = free_q;
    if (take_i)   free_d[slot_o] = 1'b0;
    if (free_i)   free_d[free_slot_i] = 1'b1;
    if (return_i) free_d[return_slot_i] = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      free_q <= '0;
      all_q  <= '0;
    end else if (clear_i) begin
      for (int s = 0; s < SLOTS; s++) begin
        free_q[s] <= ($clog2(SLOTS+1))'(s) < slots_i;
        all_q[s]  <= ($clog2(SLOTS+1))'(s) < slots_i;
      end
    end else begin
      free_q <= free_d;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(take_i && !valid_o)) else $error("a slot is taken while none is free");
    assert (!(free_i && free_q[free_slot_i])) else $error("a free slot is freed");
    assert (!(return_i && free_q[return_slot_i])) else $error("a free slot is returned");
    assert (!(free_i && return_i && free_slot_i == return_slot_i)) else $error("freed twice");
  end
`endif

endmodule

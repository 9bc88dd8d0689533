// Free slots of a PU. A slot id is allocated at most once until it is returned; two ids may return in one cycle, from
// a finished embedding tree and from a steal that found no work. The next id is chosen in advance: a returned
// id is available two cycles later, and one id is allocated every other cycle.
module gramer_slot_buffer
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

  logic valid_q;
  slot_t slot_q;
  logic [SLOTS-1:0] busy_q;

  assign valid_o = valid_q;
  assign slot_o  = slot_q;
  assign busy_o  = busy_q;

  logic [SLOTS-1:0] free_q, free_d, busy_d;
  slot_t            lowest;

  always_comb begin
    lowest = '0;
    for (int s = SLOTS - 1; s >= 0; s--) if (free_q[s]) lowest = slot_t'(s);
  end

  always_comb begin
    free_d = free_q;
    busy_d = busy_q;
    if (valid_q) free_d[slot_q] = 1'b0;
    if (take_i)  busy_d[slot_q] = 1'b1;
    if (free_i) begin
      free_d[free_slot_i] = 1'b1;
      busy_d[free_slot_i] = 1'b0;
    end
    if (return_i) begin
      free_d[return_slot_i] = 1'b1;
      busy_d[return_slot_i] = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      for (int s = 0; s < SLOTS; s++) free_q[s] <= !rst_i && ($clog2(SLOTS+1))'(s) < slots_i;
      busy_q  <= '0;
      valid_q <= 1'b0;
    end else begin
      free_q  <= free_d;
      busy_q  <= busy_d;
      valid_q <= valid_q ? !take_i : free_q != '0;
    end
    if (!valid_q) slot_q <= lowest;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(take_i && !valid_q)) else $error("a slot is taken while none is free");
    assert (!(free_i && !busy_q[free_slot_i])) else $error("a free slot is freed");
    assert (!(return_i && !busy_q[return_slot_i])) else $error("a free slot is returned");
    assert (!(free_i && return_i && free_slot_i == return_slot_i)) else $error("freed twice");
  end
`endif

endmodule

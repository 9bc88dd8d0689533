// Queue of a PU's units. They arrive as half beats of up to four units, and leave one at a time. Positions without a
// unit are skipped, at a cost of at most one cycle per half beat.
module gramer_set_unit_queue
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic  clk_i,
  input  logic  rst_i,
  input  logic  clear_i,   // drops all waiting units
  // A half of a beat
  input  logic  push_i,
  input  unit_t unit_i [UNITS_A_GROUP],
  output logic [$clog2(UNIT_QUEUE/UNITS_A_GROUP):0] free_o, // room, in half beats
  // Units
  output logic  valid_o,
  input  logic  take_i,
  output unit_t unit_o
);

  localparam int unsigned GROUPS  = UNIT_QUEUE / UNITS_A_GROUP;
  localparam int unsigned DEPTH   = GROUPS > 2 ? GROUPS : 2;
  localparam int unsigned FREE_W  = $clog2(GROUPS) + 1;
  localparam int unsigned GROUP_W = UNITS_A_GROUP * $bits(unit_t);

  typedef logic [UNITS_A_GROUP-1:0] units_t;

  logic               some, pop, valid_q;
  logic [GROUP_W-1:0] pushed, head;
  units_t             left_q, there, low; // left: units of the current half
  unit_t              group_q [UNITS_A_GROUP];

  always_comb begin
    for (int u = 0; u < UNITS_A_GROUP; u++) begin
      pushed[u*$bits(unit_t) +: $bits(unit_t)] = unit_i[u];
    end
  end

  gramer_fifo #(.WIDTH(GROUP_W), .DEPTH(DEPTH)) i_groups (
    .clk_i, .rst_i (rst_i || clear_i),
    .push_i (push_i), .data_i (pushed), .full_o (),
    .pop_i (pop), .valid_o (some), .data_o (head)
  );

  assign valid_o = valid_q;

  // A table instead of an adder, whose carry chain has more levels.
  always_comb
    for (int u = 0; u < UNITS_A_GROUP; u++)
      low[u] = left_q[u] && (left_q & units_t'((32'd1 << u) - 1)) == '0;

  // The next half is taken with the last unit of the current one.
  assign pop = some && (!valid_q || (take_i && left_q == low));

  always_comb begin
    for (int u = 0; u < UNITS_A_GROUP; u++) begin
      unit_t unit;
      unit     = head[u*$bits(unit_t) +: $bits(unit_t)];
      there[u] = unit.quarters != '0;
    end
  end

  // The first remaining unit. (Without a conditional statement: Verilator would build a table per PU, and PUs could not
  // share their functions.)
  localparam int unsigned FIRST_W = $clog2(UNITS_A_GROUP);

  logic [FIRST_W-1:0] first;

  for (genvar k = 0; k < FIRST_W; k++) begin : gen_first
    units_t odd; // units whose index has bit k set

    for (genvar u = 0; u < UNITS_A_GROUP; u++) assign odd[u] = 1'(u >> k);
    assign first[k] = (low & odd) != '0;
  end

  assign unit_o = group_q[first];

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      left_q  <= '0;
      valid_q <= 1'b0;
      free_o  <= FREE_W'(GROUPS);
    end else begin
      if (pop) left_q <= there;
      else if (take_i) left_q <= left_q & ~low;
      // Registered copy of `left_q` != 0, since a long path starts here.
      if (pop) valid_q <= there != '0;
      else if (take_i) valid_q <= left_q != low;
      free_o <= free_o + FREE_W'(pop) - FREE_W'(push_i);
    end
    if (pop) for (int u = 0; u < UNITS_A_GROUP; u++)
      group_q[u] <= head[u*$bits(unit_t) +: $bits(unit_t)];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(push_i && free_o == '0)) else $error("a half of a beat without room");
    assert (valid_q == (left_q != '0)) else $error("units are missed");
    assert (!(take_i && !valid_q)) else $error("a unit that isn't there");
  end
`endif

endmodule

// Units leave once, in order and unchanged, without those of no quarter-lines; a half beat's room comes back once it
// was begun. Liveness: a unit that waits is on offer after at most as many cycles as halves are ahead of it, and a queue
// without units has all its room after as many. One arbitrary unit is followed.
module set_unit_queue_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic clk_i,
  input logic clear_i,
  input logic push_i,
  input logic take_i,
  input logic mark_i, // follow a unit of the half that is pushed now
  input logic [$clog2(UNITS_A_GROUP)-1:0] place_i,
  input logic [UNITS_A_GROUP-1:0][$bits(unit_t)-1:0] units_i
);
  localparam int unsigned GROUPS = UNIT_QUEUE / UNITS_A_GROUP;
  localparam int unsigned ALL_W  = $clog2(UNIT_QUEUE + UNITS_A_GROUP) + 1;

  typedef logic [ALL_W-1:0] number_t;

  logic    started_q = 1'b0;
  unit_t   unit [UNITS_A_GROUP], taken, kept_q;
  logic    valid, marked_q;
  logic [$clog2(GROUPS):0] free;
  number_t count_q, ahead_q, pushed, earlier; // units in the queue; before the followed one
  logic [$clog2(GROUPS):0] waits_q, empty_q; // cycles

  for (genvar u = 0; u < UNITS_A_GROUP; u++) begin : gen_unit
    assign unit[u] = unit_t'(units_i[u]);
  end

  wire rst = !started_q;

  gramer_set_unit_queue dut (
    .clk_i, .rst_i (rst), .clear_i, .push_i, .unit_i (unit), .free_o (free),
    .valid_o (valid), .take_i, .unit_o (taken)
  );

  always_comb begin
    pushed = '0;
    earlier = '0;
    for (int unsigned u = 0; u < UNITS_A_GROUP; u++) begin
      pushed += number_t'(unit[u].quarters != '0);
      if (u < 32'(place_i)) earlier += number_t'(unit[u].quarters != '0);
    end
  end

  wire mark = push_i && mark_i && !marked_q && unit[place_i].quarters != '0;
  wire out  = marked_q && take_i && ahead_q == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (rst || clear_i) begin
      {count_q, ahead_q, waits_q, empty_q} <= '0;
      marked_q <= 1'b0;
    end else begin
      count_q <= count_q + (push_i ? pushed : '0) - number_t'(take_i);
      if (mark) begin
        marked_q <= 1'b1;
        kept_q   <= unit[place_i];
        ahead_q  <= count_q - number_t'(take_i) + earlier;
      end else if (out) marked_q <= 1'b0;
      else if (marked_q && take_i) ahead_q <= ahead_q - 1'b1;
      waits_q <= count_q != '0 && !valid ? waits_q + 1'b1 : '0;
      empty_q <= count_q == '0 && free != ($clog2(GROUPS)+1)'(GROUPS) && !push_i ? empty_q + 1'b1 : '0;
    end
  end

`ifdef INVARIANTS
  // Where the followed unit is: in the half in hand, or behind `group_q` halves that wait.
  logic hand_q;
  logic [$clog2(GROUPS):0] group_q, held;
  logic [$clog2(UNITS_A_GROUP)-1:0] place_q;
  number_t in_halves, in_hand, until_marked;
  logic [$clog2(GROUPS):0] to_first; // halves that wait before the first one with a unit

  assign held = dut.i_groups.write_q - dut.i_groups.read_q;

  always_ff @(posedge clk_i) begin
    if (mark) begin
      hand_q  <= 1'b0;
      group_q <= held - ($clog2(GROUPS)+1)'(dut.pop);
      place_q <= place_i;
    end else if (dut.pop && !hand_q) begin
      hand_q  <= group_q == '0;
      group_q <= group_q - 1'b1;
    end
  end

  function automatic logic real_of(input int unsigned group, input int unsigned place);
    unit_t one;
    one = dut.i_groups.mem[(32'(dut.i_groups.read_q) + group) % GROUPS][place*$bits(unit_t) +: $bits(unit_t)];
    return one.quarters != '0;
  endfunction

  always_comb begin
    {in_halves, in_hand, until_marked} = '0;
    to_first = '0;
    for (int unsigned g = GROUPS; g > 0; g--) begin
      logic some;
      some = 1'b0;
      for (int unsigned u = 0; u < UNITS_A_GROUP; u++) some |= real_of(g - 1, u);
      if (g <= 32'(held) && some) to_first = ($clog2(GROUPS)+1)'(g - 1);
    end
    for (int unsigned u = 0; u < UNITS_A_GROUP; u++) in_hand += number_t'(dut.left_q[u]);
    for (int unsigned g = 0; g < GROUPS; g++)
      for (int unsigned u = 0; u < UNITS_A_GROUP; u++) begin
        if (g < 32'(held)) in_halves += number_t'(real_of(g, u));
        if (!hand_q && (g < 32'(group_q) || (g == 32'(group_q) && u < 32'(place_q))))
          until_marked += number_t'(real_of(g, u));
      end
    for (int unsigned u = 0; u < UNITS_A_GROUP; u++)
      if (!hand_q || u < 32'(place_q)) until_marked += number_t'(dut.left_q[u]);
  end
`endif

  always_comb begin
    if (started_q) begin
      // What callers owe.
      assume (!(push_i && free == '0));
      assume (!(take_i && !valid));
      // What the queue owes.
      if (valid) assert (count_q != '0 && taken.quarters != '0);
      if (out) assert (taken == kept_q);
      assert (32'(waits_q) <= GROUPS);
      assert (32'(empty_q) <= GROUPS);
`ifdef INVARIANTS
      assert (32'(held) <= GROUPS && held == ($clog2(GROUPS)+1)'(GROUPS) - free);
      assert (count_q == in_hand + in_halves);
      assert (dut.valid_q == (dut.left_q != '0));
      for (int unsigned u = 0; u < UNITS_A_GROUP; u++)
        if (dut.left_q[u]) assert (dut.group_q[u].quarters != '0);
      assert (32'(waits_q) + 32'(to_first) < GROUPS || count_q == '0 || valid);
      assert (32'(empty_q) + 32'(held) <= GROUPS);
      if (marked_q) begin
        assert (ahead_q == until_marked && ahead_q < count_q);
        if (hand_q) assert (dut.left_q[place_q] && dut.group_q[place_q] == kept_q);
        else assert (group_q < held
                     && dut.i_groups.mem[(32'(dut.i_groups.read_q) + 32'(group_q)) % GROUPS]
                          [32'(place_q)*$bits(unit_t) +: $bits(unit_t)] == kept_q);
        assert (kept_q.quarters != '0);
      end
`endif
      cover (free == '0 && count_q == number_t'(1));
      cover (waits_q == ($clog2(GROUPS)+1)'(2) && valid);
      cover (out && clear_i);
    end
  end
endmodule

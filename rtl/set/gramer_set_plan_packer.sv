// Compacts members of lines into lines without holes and writes them to the memory for sets, one line per cycle. Each
// walker has a stack in its part of the memory: the sets of a level lie above those of earlier levels. Keeps the
// table of stored sets and the last id of each line, by which the merger steps. Sets arrive one after another,
// so one set is packed at a time.
//
//   line, lanes ─► holes below each ─► close holes of 1, 2 ─► of 4, 8 ─► rotate behind the rest ─► line full? write
module gramer_set_plan_packer
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Members of a set, or its end, whose lanes are ignored
  input  logic    valid_i,
  input  line_t   line_i,
  input  lanes_t  lanes_i,
  input  logic    ends_i,
  input  plan_walker_t walker_i,
  input  logic [SET_W-1:0] to_i,
  // Memory for sets
  output logic    write_o,
  output set_at_t write_at_o,
  output line_t   write_line_o,
  // The stacks
  // The memory has 1 << `parts_i` parts, for the first walkers; stable while sets exist
  input  parts_t  parts_i,
  input  logic [PLAN_WALKERS-1:0] mark_i,
  input  logic [PLAN_WALKERS-1:0] rewind_i,
  input  level_at_t level_i [PLAN_WALKERS],
  output logic [PLAN_WALKERS-1:0] made_o,  // pulse: a set is complete
  output logic [PLAN_WALKERS-1:0] empty_o, // a set made since the last rewind is empty
  output logic    full_o,  // no room for a set; sticky
  // Stored sets: for the merger in the same cycle, for the walkers one cycle later
  input  plan_walker_t set_walker_i,
  input  logic [SET_W-1:0] set_i,
  output stored_t set_o,
  input  logic [SET_W-1:0] walk_i [PLAN_WALKERS],
  output stored_t walk_o [PLAN_WALKERS],
  input  set_at_t max_at_i,
  output id_t     max_o,
  output logic    busy_o
);

  localparam int unsigned LANE_W = $clog2(LANES);

  typedef logic [LANE_W-1:0] lane_t;
  typedef logic [LANE_W:0]   lane_end_t;

  // ---------------------------------------------------------------- a: holes below each member

  logic      a_valid_q, a_ends_q;
  line_t     a_line_q;
  lanes_t    a_lanes_q;
  lane_t     holes [LANES], a_holes_q [LANES];
  lane_end_t a_count_q;
  logic [SET_W-1:0] a_to_q;
  plan_walker_t   a_walker_q;

  // By quarters, to keep the sums short.
  logic [2:0] quarter [LINE_QUARTERS]; // members of each
  lane_t      under [LINE_QUARTERS];  // holes in the quarters below it
  logic [LINE_QUARTERS-1:0][QUARTER-1:0] lanes;

  assign lanes = lanes_i;

  always_comb begin
    for (int q = 0; q < LINE_QUARTERS; q++) quarter[q] = 3'($countones(lanes[q]));
    under[0] = '0;
    under[1] = lane_t'($countones(~lanes[0]));
    under[2] = under[1] + lane_t'($countones(~lanes[1]));
    under[3] = under[2] + lane_t'($countones(~lanes[2]));
    for (int l = 0; l < LANES; l++)
      holes[l] = under[l / QUARTER]
                 + lane_t'($countones(~lanes[l / QUARTER] & QUARTER'((1 << (l % QUARTER)) - 1)));
  end

  always_ff @(posedge clk_i) begin
    a_valid_q <= !rst_i && valid_i;
    a_ends_q  <= ends_i;
    a_line_q  <= line_i;
    a_lanes_q <= lanes_i;
    a_holes_q <= holes;
    a_to_q    <= to_i;
    a_walker_q <= walker_i;
    a_count_q <= (lane_end_t'(quarter[0]) + lane_end_t'(quarter[1]))
                 + (lane_end_t'(quarter[2]) + lane_end_t'(quarter[3]));
  end

  // ---------------------------------------------------------------- b, c: members move down

  logic      b_valid_q, b_ends_q, c_valid_q, c_ends_q;
  line_t     b_line_q, c_line_q;
  lanes_t    b_lanes_q;
  lane_t     b_holes_q [LANES];
  lane_end_t b_count_q, c_count_q;
  logic [SET_W-1:0] b_to_q, c_to_q;
  plan_walker_t   b_walker_q, c_walker_q;

  // Shifts by one and two lanes.
  line_t  one_line, two_line, four_line, eight_line;
  lanes_t one_lanes, two_lanes, four_lanes;
  lane_t  one_holes [LANES], two_holes [LANES], four_holes [LANES];

  always_comb begin
    for (int l = 0; l < LANES; l++) begin
      one_line[l*ENTRY_W +: ENTRY_W] = a_line_q[l*ENTRY_W +: ENTRY_W];
      one_holes[l] = a_holes_q[l];
      one_lanes[l] = a_lanes_q[l] && !a_holes_q[l][0];
      if (l + 1 < LANES && a_lanes_q[(l + 1) % LANES] && a_holes_q[(l + 1) % LANES][0]) begin
        one_line[l*ENTRY_W +: ENTRY_W] = a_line_q[((l + 1) % LANES)*ENTRY_W +: ENTRY_W];
        one_holes[l] = a_holes_q[(l + 1) % LANES];
        one_lanes[l] = 1'b1;
      end
    end
    for (int l = 0; l < LANES; l++) begin
      two_line[l*ENTRY_W +: ENTRY_W] = one_line[l*ENTRY_W +: ENTRY_W];
      two_holes[l] = one_holes[l];
      two_lanes[l] = one_lanes[l] && !one_holes[l][1];
      if (l + 2 < LANES && one_lanes[(l + 2) % LANES] && one_holes[(l + 2) % LANES][1]) begin
        two_line[l*ENTRY_W +: ENTRY_W] = one_line[((l + 2) % LANES)*ENTRY_W +: ENTRY_W];
        two_holes[l] = one_holes[(l + 2) % LANES];
        two_lanes[l] = 1'b1;
      end
    end
  end

  // Shifts by four and eight lanes.
  always_comb begin
    for (int l = 0; l < LANES; l++) begin
      four_line[l*ENTRY_W +: ENTRY_W] = b_line_q[l*ENTRY_W +: ENTRY_W];
      four_holes[l] = b_holes_q[l];
      four_lanes[l] = b_lanes_q[l] && !b_holes_q[l][2];
      if (l + 4 < LANES && b_lanes_q[(l + 4) % LANES] && b_holes_q[(l + 4) % LANES][2]) begin
        four_line[l*ENTRY_W +: ENTRY_W] = b_line_q[((l + 4) % LANES)*ENTRY_W +: ENTRY_W];
        four_holes[l] = b_holes_q[(l + 4) % LANES];
        four_lanes[l] = 1'b1;
      end
    end
    for (int l = 0; l < LANES; l++) begin
      eight_line[l*ENTRY_W +: ENTRY_W] = four_line[l*ENTRY_W +: ENTRY_W];
      if (l + 8 < LANES && four_lanes[(l + 8) % LANES] && four_holes[(l + 8) % LANES][3])
        eight_line[l*ENTRY_W +: ENTRY_W] = four_line[((l + 8) % LANES)*ENTRY_W +: ENTRY_W];
    end
  end

  always_ff @(posedge clk_i) begin
    b_valid_q <= !rst_i && a_valid_q;
    b_ends_q  <= a_ends_q;
    b_line_q  <= two_line;
    b_lanes_q <= two_lanes;
    b_holes_q <= two_holes;
    b_count_q <= a_count_q;
    b_to_q    <= a_to_q;
    b_walker_q <= a_walker_q;
    c_valid_q <= !rst_i && b_valid_q;
    c_ends_q  <= b_ends_q;
    c_line_q  <= eight_line;
    c_count_q <= b_count_q;
    c_to_q    <= b_to_q;
    c_walker_q <= b_walker_q;
  end

  // ---------------------------------------------------------------- d, e: append to the waiting members

  logic      d_valid_q, d_ends_q, d_over_q, e_valid_q, e_ends_q, e_over_q;
  line_t     d_line_q, e_line_q;
  lane_t     filled_q, d_filled_q, e_filled_q; // members waiting for a full line
  lane_end_t filled;
  logic [SET_W-1:0] d_to_q, e_to_q;
  plan_walker_t   d_walker_q, e_walker_q;

  assign filled = lane_end_t'(filled_q) + c_count_q;

  always_ff @(posedge clk_i) begin
    d_valid_q <= !rst_i && c_valid_q;
    e_valid_q <= !rst_i && d_valid_q;
    if (rst_i) filled_q <= '0;
    else if (c_valid_q) filled_q <= c_ends_q ? '0 : filled[LANE_W-1:0];
    d_ends_q   <= c_ends_q;
    d_to_q     <= c_to_q;
    d_walker_q <= c_walker_q;
    d_filled_q <= filled_q;
    d_over_q   <= filled[LANE_W] && !c_ends_q;
    for (int l = 0; l < LANES; l++)
      d_line_q[l*ENTRY_W +: ENTRY_W]
        <= c_line_q[32'(lane_t'(lane_t'(l) - lane_t'(filled_q[1:0])))*ENTRY_W +: ENTRY_W];
    e_ends_q   <= d_ends_q;
    e_to_q     <= d_to_q;
    e_walker_q <= d_walker_q;
    e_filled_q <= d_filled_q;
    e_over_q   <= d_over_q;
    for (int l = 0; l < LANES; l++)
      e_line_q[l*ENTRY_W +: ENTRY_W]
        <= d_line_q[32'(lane_t'(lane_t'(l) - {d_filled_q[3:2], 2'b0}))*ENTRY_W +: ENTRY_W];
  end

  // ---------------------------------------------------------------- f: full lines, or the last one

  line_t  wait_q, merged, f_line_q;
  logic   f_write_q, f_ends_q;
  lane_t  f_last_q; // lane of the line's last member
  logic [SET_W-1:0] f_to_q;
  plan_walker_t f_walker_q;

  always_comb
    for (int l = 0; l < LANES; l++)
      merged[l*ENTRY_W +: ENTRY_W] = lane_t'(l) < e_filled_q ? wait_q[l*ENTRY_W +: ENTRY_W]
                                     : e_ends_q ? '1 : e_line_q[l*ENTRY_W +: ENTRY_W];

  always_ff @(posedge clk_i) begin
    if (e_valid_q) wait_q <= e_over_q ? e_line_q : merged;
    f_write_q <= !rst_i && e_valid_q && (e_ends_q ? e_filled_q != '0 : e_over_q);
    f_ends_q  <= !rst_i && e_valid_q && e_ends_q;
    f_to_q    <= e_to_q;
    f_walker_q <= e_walker_q;
    f_line_q  <= merged;
    f_last_q  <= e_ends_q ? e_filled_q - 1'b1 : '1;
  end

  // ---------------------------------------------------------------- the stacks, the table

  // Used lines of a walker's part, now and at each mark, not counting the part's offset.
  set_end_t at_q [PLAN_WALKERS], mark_q [PLAN_WALKERS][PLACED];
  set_end_t f_at, lines_q, lines; // lines: of the current set
  logic     f_over;
  set_at_t  f_line_at, base_q;    // base: its first line
  logic     g_write_q, g_first_q, g_ends_q, h_ends_q;
  set_at_t  g_at_q;
  id_t      g_max, g_max_q, first_max_q;
  set_end_t g_lines_q;
  logic [SET_W-1:0] g_to_q, h_to_q;
  plan_walker_t  g_walker_q, h_walker_q;
  stored_t  h_stored_q;
  set_at_t  g_base_q;

  (* ram_style = "distributed" *) stored_t merge_sets [PLAN_SETS << PLAN_WALKER_W];
  (* ram_style = "distributed" *) id_t     maxima [SET_LINES];

  assign f_at      = at_q[f_walker_q];
  assign f_over    = f_at[32'(SET_AT_W) - 32'(parts_i)];
  assign f_line_at = f_at[SET_AT_W-1:0] | (SET_AT_W'(f_walker_q) << (32'(SET_AT_W) - 32'(parts_i)));

  assign write_o      = f_write_q && !f_over;
  assign write_at_o   = f_line_at;
  assign write_line_o = f_line_q;
  assign lines        = lines_q + set_end_t'(write_o);

  always_comb begin
    g_max = '0;
    for (int l = 0; l < LANES; l++)
      if (f_last_q == lane_t'(l)) g_max |= f_line_q[l*ENTRY_W +: KEPT_ID_W];
  end

  always_ff @(posedge clk_i) begin
    for (int w = 0; w < PLAN_WALKERS; w++) begin
      if (rst_i) at_q[w] <= '0;
      else if (rewind_i[w]) at_q[w] <= level_i[w] == '0 ? '0 : mark_q[w][level_i[w]];
      else if (write_o && f_walker_q == plan_walker_t'(w)) at_q[w] <= at_q[w] + 1'b1;
      if (mark_i[w]) mark_q[w][level_i[w]] <= at_q[w];
    end
    if (rst_i) begin
      lines_q <= '0;
      full_o  <= 1'b0;
    end else begin
      lines_q <= f_ends_q ? '0 : lines;
      if (f_write_q && f_over) full_o <= 1'b1;
    end
    if (lines_q == '0) base_q <= f_line_at;

    g_write_q <= write_o;
    g_first_q <= lines_q == '0;
    g_at_q    <= f_line_at;
    g_max_q   <= g_max;
    g_ends_q  <= !rst_i && f_ends_q;
    g_to_q    <= f_to_q;
    g_walker_q <= f_walker_q;
    g_base_q  <= lines_q == '0 ? f_line_at : base_q;
    g_lines_q <= lines;
    if (g_write_q) maxima[g_at_q] <= g_max_q;
    if (g_write_q && g_first_q) first_max_q <= g_max_q;

    h_ends_q   <= !rst_i && g_ends_q;
    h_to_q     <= g_to_q;
    h_walker_q <= g_walker_q;
    h_stored_q <= '{first_max: g_write_q && g_first_q ? g_max_q : first_max_q,
                    lines: g_lines_q, base: g_base_q};
    if (h_ends_q) merge_sets[{h_walker_q, h_to_q}] <= h_stored_q;
    for (int w = 0; w < PLAN_WALKERS; w++) begin
      made_o[w] <= !rst_i && h_ends_q && h_walker_q == plan_walker_t'(w);
      if (rst_i || rewind_i[w]) empty_o[w] <= 1'b0;
      else if (h_ends_q && h_walker_q == plan_walker_t'(w) && h_stored_q.lines == '0)
        empty_o[w] <= 1'b1;
    end
  end

  for (genvar w = 0; w < PLAN_WALKERS; w++) begin : gen_walk
    (* ram_style = "distributed" *) stored_t walk_sets [PLAN_SETS];

    always_ff @(posedge clk_i) begin
      if (h_ends_q && h_walker_q == plan_walker_t'(w)) walk_sets[h_to_q] <= h_stored_q;
      walk_o[w] <= walk_sets[walk_i[w]];
    end
  end

  assign set_o  = merge_sets[{set_walker_i, set_i}];
  assign max_o  = maxima[max_at_i];
  assign busy_o = a_valid_q || b_valid_q || c_valid_q || d_valid_q || e_valid_q || f_ends_q
                  || g_ends_q || h_ends_q || made_o != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    for (int w = 0; w < PLAN_WALKERS; w++) begin
      assert (!(rewind_i[w]
                && ((a_valid_q && a_walker_q == plan_walker_t'(w))
                    || (b_valid_q && b_walker_q == plan_walker_t'(w))
                    || (c_valid_q && c_walker_q == plan_walker_t'(w))
                    || (d_valid_q && d_walker_q == plan_walker_t'(w))
                    || (e_valid_q && e_walker_q == plan_walker_t'(w))
                    || (f_write_q && f_walker_q == plan_walker_t'(w))
                    || (g_ends_q && g_walker_q == plan_walker_t'(w))
                    || (h_ends_q && h_walker_q == plan_walker_t'(w)))))
        else $error("a set is dropped while it is made");
      assert (!(rewind_i[w] && mark_i[w])) else $error("a mark and a rewind at once");
    end
    assert (!(d_valid_q && d_ends_q && d_over_q)) else $error("members after a set's end");
    assert (!(e_valid_q && f_write_q && !f_ends_q && lines_q != '0 && e_walker_q != f_walker_q))
      else $error("a set of two walkers");
  end
`endif

endmodule

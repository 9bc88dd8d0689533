// Marks and counters of vertices, for the motifs of a root a. Entries of a's block are marked. Entries of the blocks of
// a's later neighbours are looked up: a marked entry is a triangle; with paths, the counter of each entry after a
// is added to the 4-cycles and incremented. Each entry goes to its bank; entries of a line for the same bank are
// serialized, one line at a time.
//
//   line ─► banks, places ─► conflicting lanes ─► lanes, one of each bank ─► 16 banks ─► sums of each member
//
// A root's level lies above all values that counters of earlier roots can reach (gramer_set_map_levels,
// gramer_set_map_bank); when the banks are cleared, clearing uses the slots of accesses.
module gramer_set_map
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  parameter int unsigned PRODUCT_W = 48 // bits of a product of wedges
) (
  input  logic   clk_i,
  input  logic   rst_i,
  // Lines
  input  logic   valid_i,
  output logic   ready_o,
  input  line_t  line_i,
  input  lanes_t lanes_i,
  input  meta_t  meta_i,
  input  list_t  list_i,
  // Wedges: purpose of a line, lanes to count for a degree, and range of noted ends
  input  wedge_t wedge_i,
  input  lanes_t counted_i,
  input  logic [RANGE_W-1:0] range_first_i,
  input  logic [RANGE_W-1:0] range_last_i, // exclusive
  // Look-up of a row of noted ends, at most one per bank; possible in any cycle
  input  logic   row_valid_i,
  input  logic [MAP_BANKS-1:0] row_there_i,
  input  map_at_t row_at_i [MAP_BANKS],
  // Reached ends, and the size of the list before each
  output logic [MAP_BANKS-1:0] note_o,
  output map_at_t note_at_o [MAP_BANKS],
  output up_t    note_up_o [MAP_BANKS],
  // Product of wedges; a row is finished
  output logic   product_o,
  output logic [PRODUCT_W-1:0] product_value_o,
  output logic   row_done_o,
  output logic   settled_o, // every reached end is noted
  // 5-motifs: a set of three vertices; a set is finished
  output logic    triple_o,
  output triple_t triple_value_o,
  input  logic    triple_done_i,
  // Increments of the sums
  output logic   member_o, // a member is finished
  output logic [19:0] triangles_o,
  output logic [39:0] pairs_o,
  output logic [41:0] degrees_o,
  output logic   counted_o,
  output logic [21:0] cycles_o,
  output logic [4:0]  paths_o,
  output logic   marked_o,
  output logic [4:0]  marks_o,
  // State and events
  output logic   root_done_o,
  output logic   busy_o,
  output logic   access_o,
  output logic [4:0] entries_o // looked up
);

  localparam int unsigned BANK_W  = BANK_AT_W;
  localparam int unsigned FOLD_W  = $clog2(MAP_BANKS);
  localparam int unsigned LANE_W  = $clog2(LANES);
  localparam int unsigned WORD_AT_W = $clog2(MAP_WORDS);

  // Bank of a vertex: the low bits of its id, XOR-folded with those above, since ids are not dense.
  function automatic logic [BANK_W-1:0] bank_of(input id_t id);
    logic [BANK_W-1:0] bank;
    bank = '0;
    if (FOLD_W > 0)
      for (int unsigned b = 0; b < MAP_ID_W; b += BANK_W) bank ^= BANK_W'(id[MAP_ID_W-1:0] >> b);
    return bank;
  endfunction

  // ---------------------------------------------------------------- a: banks and places

  logic    a_valid_q, a_ready;
  lanes_t  a_lanes_q, a_after_q, a_counted_q;
  wedge_t  a_wedge_q;
  lanes_t  a_bank_q [BANK_W]; // lanes with each bit of their bank's number
  map_at_t a_at_q [LANES];
  meta_t   a_meta_q;
  list_t   a_list_q;

  // A machine without noted ends has no wedges.
  wedge_t wedge;
  logic   row_valid;

  assign wedge     = REACHED != 0 ? wedge_i : '0;
  assign row_valid = REACHED != 0 && row_valid_i;
  assign ready_o   = !a_valid_q || a_ready;

  lanes_t banks [BANK_W];

  always_comb
    for (int l = 0; l < LANES; l++) begin
      logic [BANK_W-1:0] bank;
      bank = valid_i ? bank_of(line_i[l*ENTRY_W +: KEPT_ID_W]) : 'x;
      for (int b = 0; b < BANK_W; b++) banks[b][l] = bank[b];
    end

  always_ff @(posedge clk_i) begin
    if (rst_i) a_valid_q <= 1'b0;
    else if (ready_o) a_valid_q <= valid_i;
    if (ready_o && valid_i) begin
      a_meta_q  <= meta_i;
      a_list_q  <= list_i;
      a_lanes_q <= lanes_i;
      a_wedge_q   <= wedge;
      a_counted_q <= wedge.is ? counted_i : lanes_i;
      a_bank_q    <= banks;
      for (int l = 0; l < LANES; l++) begin
        a_at_q[l]    <= map_at_t'(line_i[l*ENTRY_W +: KEPT_ID_W] >> FOLD_W);
        // For wedges, only lanes that count arrive.
        a_after_q[l] <= line_i[l*ENTRY_W +: PLACED_ID_W] > list_i.root || wedge.is;
      end
    end
  end

  // ---------------------------------------------------------------- b: bank conflicts

  logic    b_valid_q, b_ready;
  lanes_t  a_before [LANES], b_before_q [LANES]; // earlier lanes of the same bank
  lanes_t  b_left_q, b_left_d, b_after_q;
  lanes_t  b_taken_q; // of the remaining lanes, the first of each bank
  logic    b_last_q;  // no lane remains after these
  lanes_t  b_bank_q [BANK_W];
  map_at_t b_at_q [LANES];
  meta_t   b_meta_q;
  list_t   b_list_q;
  wedge_t  b_wedge_q;
  logic [4:0] b_entries_q;
  logic    b_first_q; // no lane of the line has left
  logic    go;        // the taken lanes go to their banks
  logic    crowded;   // no room for sets of three vertices
  // `keep`: the path from ready_o is long, which synthesis of this module alone does
  // not see.
  (* keep = "true" *) logic b_stays; // the line in b has more lanes, or is stalled

  // Remaining lanes without an earlier one of the same bank.
  function automatic lanes_t first_of(input lanes_t left, input lanes_t rivals [LANES]);
    lanes_t lanes;
    for (int unsigned l = 0; l < LANES; l++) lanes[l] = left[l] && (left & rivals[l]) == '0;
    return lanes;
  endfunction

  // Whether this holds for all remaining lanes.
  function automatic logic all_first(input lanes_t left, input lanes_t rivals [LANES]);
    logic every;
    every = 1'b1;
    for (int unsigned l = 0; l < LANES; l++)
      if (left[l] && (left & rivals[l]) != '0) every = 1'b0;
    return every;
  endfunction

  // Lanes of a bank, from the lanes with each bit of their bank's number.
  function automatic lanes_t of_bank(input logic [BANK_W-1:0] bank, input lanes_t with_bit [BANK_W]);
    lanes_t lanes;
    lanes = '1;
    for (int b = 0; b < BANK_W; b++) lanes &= bank[b] ? with_bit[b] : ~with_bit[b];
    return lanes;
  endfunction

  always_comb
    for (int l = 0; l < LANES; l++) begin
      logic [BANK_W-1:0] bank;
      {bank, a_before[l]} = 'x;
      if (a_valid_q) begin
        for (int b = 0; b < BANK_W; b++) bank[b] = a_bank_q[b][l];
        a_before[l] = of_bank(bank, a_bank_q) & LANES'((1 << l) - 1);
      end
    end

  assign b_left_d = b_left_q & ~b_taken_q;
  assign a_ready = REACHED != 0 ? !b_stays : !b_valid_q || b_ready;

  always_ff @(posedge clk_i) begin
    if (rst_i) b_valid_q <= 1'b0;
    else if (a_ready) b_valid_q <= a_valid_q;
    if (a_ready && a_valid_q) begin
      b_after_q <= a_after_q;
      b_at_q    <= a_at_q;
      b_meta_q  <= a_meta_q;
      b_list_q  <= a_list_q;
      b_wedge_q <= a_wedge_q;
      b_entries_q <= 5'($countones(a_counted_q));
      b_bank_q   <= a_bank_q;
      b_before_q <= a_before;
    end
    if (a_ready && a_valid_q) begin
      b_left_q  <= a_lanes_q;
      b_taken_q <= first_of(a_lanes_q, a_before);
      b_last_q  <= all_first(a_lanes_q, a_before);
      b_first_q <= 1'b1;
    end else if (go) begin
      b_left_q  <= b_left_d;
      b_taken_q <= first_of(b_left_d, b_before_q);
      b_last_q  <= all_first(b_left_d, b_before_q);
      b_first_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- levels and clearing

  logic    root_ends, rooted, root, clears, c_clears_q, clears_q, on, draining;
  level_t  level, tag;
  logic [WORD_AT_W-1:0] clear_at;

  assign go        = b_valid_q && rooted && !row_valid && !(b_wedge_q.triples && crowded);
  assign b_ready   = go && b_last_q;
  assign root_ends = b_ready && b_meta_q.slot_last && !b_list_q.more;

  gramer_set_map_levels i_levels (
    .clk_i, .rst_i, .valid_i (b_valid_q), .counts_i (b_list_q.counts),
    .block_last_i (b_list_q.block_last), .go_i (go), .fresh_i (b_wedge_q.fresh && b_first_q),
    .row_i (row_valid), .root_ends_i (root_ends), .rooted_o (rooted), .root_o (root),
    .level_o (level), .tag_o (tag), .clears_o (clears), .clear_at_o (clear_at), .on_o (on),
    .busy_o (draining)
  );

  // ---------------------------------------------------------------- c, d: to the banks

  typedef struct packed {
    logic    valid;
    logic    mark;
    logic    counts;
    logic    root;
    wedge_t  wedge;
    level_t  level;
    level_t  tag;
    lanes_t  taken;
    lanes_t  after;
    logic [4:0] entries;      // of the line, reported with its first lanes
    logic    member_last;
    logic [MAP_DEGREE_W-1:0] root_degree;
  } access_t;

  access_t c_q, stage_q [9]; // stage 0: at the banks
  logic [MAP_BANKS-1:0] to, c_to_q; // banks with an entry
  logic [LANE_W-1:0] lane [MAP_BANKS], c_lane_q [MAP_BANKS]; // lane of the entry
  map_at_t c_at_q [LANES];
  logic [MAP_DEGREE_W-1:0] degree_q; // entries marked for the root
  logic [MAP_BANKS-1:0] to_q, counts_q;
  logic [MAP_BANKS-1:0] counts;
  map_at_t bank_at_q [MAP_BANKS], bank_at [MAP_BANKS];
  logic [MAP_BANKS-1:0] hit, near, first;
  level_t  value [MAP_BANKS];
  map_at_t at5 [MAP_BANKS];
  // Look-up of a row: excludes accesses of lines in its cycle.
  logic    c_row_q, keep_q;
  logic [MAP_BANKS-1:0] c_row_there_q;
  map_at_t c_row_at_q [MAP_BANKS];

  // Access of a bank: place of the entry, and whether it comes after the root.
  logic [MAP_AT_W:0] c_entry [LANES];

  always_comb for (int l = 0; l < LANES; l++) c_entry[l] = {c_q.after[l], c_at_q[l]};

  for (genvar b = 0; b < MAP_BANKS; b++) begin : gen_to
    (* keep = "true" *) lanes_t own; // taken lanes of this bank: one table each
    logic    after;
    map_at_t at;

    always_comb begin
      {own, lane[b]} = 'x;
      if (b_valid_q) begin
        own = b_taken_q & of_bank(BANK_W'(b), b_bank_q);
        for (int i = 0; i < LANE_W; i++) lane[b][i] = (own & lanes_with(i)) != '0;
      end
      to[b] = go && own != '0;
    end

    gramer_set_choice #(.WIDTH(MAP_AT_W + 1)) i_entry (
      .on_i (on), .value_i (c_entry), .at_i (c_lane_q[b]), .value_o ({after, at})
    );

    assign bank_at[b] = c_row_q ? c_row_at_q[b] : at;
    assign counts[b]  = (c_q.counts && after) || c_row_q;
  end

  always_ff @(posedge clk_i) begin
    c_q <= '{
      valid: go && !rst_i, mark: b_meta_q.mark,
      counts: b_list_q.counts && !b_meta_q.mark && !b_wedge_q.triples, root: root,
      wedge: b_wedge_q, level: level, tag: tag, taken: go ? b_taken_q : '0, after: b_after_q,
      entries: b_first_q ? b_entries_q : '0,
      member_last: b_last_q && b_meta_q.last && !b_meta_q.mark, root_degree: degree_q
    };
    c_to_q   <= to;
    c_lane_q <= lane;
    c_at_q   <= b_at_q;
    if (clears) begin // all banks use the first lane's place
      c_at_q[0] <= {clear_at, (MAP_AT_W-WORD_AT_W)'(0)};
      for (int b = 0; b < MAP_BANKS; b++) c_lane_q[b] <= '0;
    end
    c_clears_q <= clears && !rst_i;
    clears_q   <= c_clears_q && !rst_i;
    if (!rooted) degree_q <= '0;
    else if (go && b_first_q && b_meta_q.mark) degree_q <= degree_q + MAP_DEGREE_W'(b_entries_q);
    if (on) begin
      stage_q[0] <= c_q;
      for (int s = 1; s < 9; s++) stage_q[s] <= stage_q[s-1];
      keep_q    <= c_q.wedge.keep || c_row_q;
      counts_q  <= counts;
      bank_at_q <= bank_at;
    end
    if (rst_i) begin
      for (int s = 0; s < 9; s++) stage_q[s].valid <= 1'b0;
    end
    to_q      <= rst_i ? '0 : c_row_q ? c_row_there_q : c_to_q;
  end

  for (genvar b = 0; b < MAP_BANKS; b++) begin : gen_bank
    gramer_set_map_bank i_bank (
      .clk_i, .rst_i, .on_i (on),
      .clear_i (clears_q),
      .valid_i (to_q[b]), .at_i (bank_at_q[b]), .mark_i (stage_q[0].mark),
      .count_i (counts_q[b]), .keep_i (keep_q), .tag_i (stage_q[0].wedge.tags),
      .root_i (stage_q[0].root),
      .level2_i (stage_q[2].level), .level3_i (stage_q[3].level),
      .level4_i (stage_q[4].level), .tag3_i (stage_q[3].tag),
      .tag4_i (stage_q[4].tag), .hit_o (hit[b]), .near_o (near[b]),
      .value_o (value[b]), .first_o (first[b]), .at_o (at5[b])
    );
  end

  // ---------------------------------------------------------------- sums of a member

  localparam int unsigned GROUPS = MAP_BANKS > 4 ? MAP_BANKS / 4 : 1;
  localparam int unsigned OF_GROUP = MAP_BANKS / GROUPS;

  logic [LEVEL_W+1:0]  group [GROUPS];
  logic [LEVEL_W+1:0]  group_q [GROUPS];
  logic [LEVEL_W+4:0]  cycles;
  logic [4:0]          hits6_q;
  logic [4:0]          paths5_q, paths6_q; // banks that counted
  logic [LEVEL_W+4:0]  levels6_q; // share of the levels in their values
  logic                begins_q; // the next line is a member's first
  logic [MAP_DEGREE_W-1:0] t_q, degree7_q;

  always_comb begin
    cycles = -levels6_q;
    for (int g = 0; g < GROUPS; g++) begin
      group[g] = '0;
      for (int b = 0; b < OF_GROUP; b++) group[g] += (LEVEL_W+2)'(value[g*OF_GROUP + b]);
      cycles += (LEVEL_W+5)'(group_q[g]);
    end
  end

  // The banks respond in stage 5.
  always_ff @(posedge clk_i) begin
    hits6_q  <= stage_q[5].valid && !stage_q[5].mark && !stage_q[5].wedge.silent
                ? 5'($countones(hit)) : '0;
    paths5_q <= stage_q[4].counts ? 5'($countones(stage_q[4].taken & stage_q[4].after)) : '0;
    paths6_q <= paths5_q;
    // The level is subtracted once for all banks, instead of in each bank.
    levels6_q <= (LEVEL_W+5)'(paths5_q) * (LEVEL_W+5)'(stage_q[5].level);
    group_q  <= group;
    // Stage 6.
    if (rst_i) begins_q <= 1'b1;
    else if (stage_q[6].valid && !stage_q[6].mark) begins_q <= stage_q[6].member_last;
    if (stage_q[6].valid && !stage_q[6].mark) begin
      t_q       <= (begins_q ? '0 : t_q) + MAP_DEGREE_W'(hits6_q);
      degree7_q <= (begins_q ? '0 : degree7_q) + MAP_DEGREE_W'(stage_q[6].entries);
    end
    counted_o <= !rst_i && stage_q[6].valid && stage_q[6].counts && !stage_q[6].wedge.keep;
    cycles_o  <= cycles;
    paths_o   <= paths6_q;
    marked_o  <= !rst_i && stage_q[6].valid && stage_q[6].mark;
    marks_o   <= stage_q[6].entries;
  end

  gramer_set_map_products i_edges (
    .clk_i, .rst_i,
    .valid_i (stage_q[7].valid && stage_q[7].member_last), .t_i (t_q),
    .degree_i (degree7_q), .twice_i (stage_q[7].wedge.five_cycles),
    .root_degree_i (stage_q[7].root_degree),
    .valid_o (member_o), .t_o (triangles_o), .pairs_o, .degrees_o
  );

  // ---------------------------------------------------------------- wedges

  if (REACHED != 0) begin : gen_wedges
    assign b_stays = b_valid_q && !(b_last_q && rooted && !row_valid
                                    && !(b_wedge_q.triples && crowded));

    up_t a_up_q [LANES], b_up_q [LANES], c_up_q [LANES];
    up_t up_q [MAP_BANKS][6]; // by stage
    logic [5:0] row_q;        // by stage: a row was looked up
    logic [4:0] hits7_q;

    always_ff @(posedge clk_i) begin
      if (ready_o && valid_i)
        for (int l = 0; l < LANES; l++) a_up_q[l] <= line_i[l*ENTRY_W+WEDGE_ID_W +: WEDGE_UP_W];
      if (a_ready && a_valid_q) b_up_q <= a_up_q;
      c_up_q <= b_up_q;
      for (int b = 0; b < MAP_BANKS; b++) begin
        up_q[b][0] <= c_up_q[c_lane_q[b]];
        for (int s = 1; s < 6; s++) up_q[b][s] <= up_q[b][s-1];
      end
      c_row_q       <= row_valid && !rst_i;
      c_row_there_q <= row_there_i;
      c_row_at_q    <= row_at_i;
      row_q         <= rst_i ? '0 : {row_q[4:0], c_row_q};
      hits7_q       <= hits6_q;
    end

    // The high bits of an entry's place in its bank select the range.
    localparam int unsigned RANGE_SHIFT = MAP_AT_W > RANGE_W ? MAP_AT_W - RANGE_W : 0;

    always_comb
      for (int b = 0; b < MAP_BANKS; b++) begin
        logic [RANGE_W-1:0] range;
        range = RANGE_W'(at5[b] >> RANGE_SHIFT);
        note_o[b]    = first[b] && stage_q[5].wedge.note && up_q[b][5] != '0
                       && range >= range_first_i
                       && (range < range_last_i || range_last_i == RANGE_W'(LAST_ALL));
        note_at_o[b] = at5[b];
        note_up_o[b] = up_q[b][5];
      end

    logic stages;

    always_comb begin
      stages = a_valid_q || b_valid_q || c_q.valid;
      for (int s = 0; s < 7; s++) stages |= stage_q[s].valid;
    end

    assign settled_o = !stages;

    gramer_set_wedge_sums i_products (
      .clk_i, .rst_i,
      .row_valid_i (row_q[5]), .row_value_i (value),
      .valid_i (stage_q[7].valid && stage_q[7].wedge.keep), .wedge_i (stage_q[7].wedge),
      .level_i (stage_q[7].level), .hits_i (hits7_q), .paths_i (paths_o), .counts_i (cycles_o),
      .last_i (stage_q[7].member_last),
      .valid_o (product_o), .value_o (product_value_o), .row_done_o
    );

    gramer_set_triple_sums i_triples (
      .clk_i, .rst_i,
      .valid_i (stage_q[5].valid && stage_q[5].wedge.triples && !stage_q[5].mark),
      .wedge_i (stage_q[5].wedge), .hit_i (hit), .near_i (near),
      .entries_i (stage_q[5].entries), .last_i (stage_q[5].member_last),
      .root_degree_i (near_t'(stage_q[5].root_degree)),
      .asked_i (b_ready && b_meta_q.last && b_wedge_q.triples && !b_wedge_q.tags && !b_meta_q.mark),
      .crowded_o (crowded), .valid_o (triple_o), .triple_o (triple_value_o),
      .done_i (triple_done_i)
    );
  end else begin : gen_no_wedges
    logic unused;
    always_comb begin
      unused = &{1'b0, range_first_i, range_last_i, row_there_i, first, near, triple_done_i};
      for (int b = 0; b < MAP_BANKS; b++) begin
        unused &= &{row_at_i[b], at5[b]};
        note_at_o[b]  = '0;
        note_up_o[b]  = '0;
        c_row_at_q[b] = '0;
      end
    end
    assign {b_stays, c_row_q, c_row_there_q, note_o, product_o, product_value_o} = '0;
    assign {row_done_o, settled_o, crowded, triple_o, triple_value_o} = '0;
  end

  assign busy_o = valid_i || a_valid_q || b_valid_q || draining;

  always_ff @(posedge clk_i) begin
    root_done_o <= !rst_i && root_ends;
    access_o    <= !rst_i && (go || row_valid);
    entries_o   <= go && !rst_i && !b_meta_q.mark ? 5'($countones(b_taken_q)) : '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!c_q.valid || $countones(c_q.taken) == $countones(c_to_q))
      else $error("two entries for a bank at once");
  end
`endif

endmodule

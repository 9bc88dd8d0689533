// Bank of the map: a mark and a counter for each vertex of the bank, for the current root. Read-modify-write in a
// pipeline; throughput: one access per cycle, also to the same entry, by forwarding from the later stages.
//
// Nothing is cleared between roots. A counter is stored as level + count, where each root has a level above all values
// that earlier roots can reach: an entry below the level counts 0 and is not marked. For 5-motifs it is stored as
// level + tag, which identifies the list that contained the vertex last.
//
//   0 read ─► 1 ─► 2 entry, newest but one, is it the root's? ─► 3 newest, modified ─► 4 written
module gramer_set_map_bank
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    on_i, // clock enable: an access is in flight
  // Stage 0: one access, or clearing of a word, while nothing else is in flight
  input  logic    clear_i, // clear; not an access
  input  logic    valid_i,
  input  map_at_t at_i,
  input  logic    mark_i,  // mark the entry
  input  logic    count_i, // count the entry
  input  logic    keep_i,  // read the counter without incrementing it
  input  logic    tag_i,   // tag the entry, keeping its mark
  input  logic    root_i,  // toggles with each root, at least three cycles apart
  // Level of the root of the access in stage 2, the same for all banks
  input  level_t  level2_i,
  input  level_t  level3_i, // stage 3
  input  level_t  level4_i, // stage 4, for first_o
  // Tags of these accesses, the same for all banks
  input  level_t  tag3_i,
  input  level_t  tag4_i,
  // Stage 5
  output logic    hit_o,   // the entry was marked
  output logic    near_o,  // the entry had the tag
  output level_t  value_o, // level + count before the access; 0 if the entry doesn't count
  output logic    first_o, // it counts, and its count was 0
  output map_at_t at_o
);

  localparam int unsigned ENTRY_AT_W = $clog2(MAP_ENTRIES);

  typedef struct packed {
    logic   mark;
    level_t value;
  } entry_t;

  typedef struct packed {
    logic    clear;
    logic    valid;
    logic    mark;
    logic    count;
    logic    keep;
    logic    tag;
    logic    root;
    map_at_t at;
  } access_t;

  (* ram_style = "ultra" *) logic [MAP_ENTRIES-1:0][LEVEL_W:0] mem [MAP_WORDS];

  logic [MAP_ENTRIES-1:0][LEVEL_W:0] read1_q, read2_q;
  access_t access1_q, access2_q, access3_q, access4_q, access5_q; // by stage
  // `keep`: one 6-input LUT per bit; merged with the following logic it takes three for two.
  (* keep = "true" *) entry_t entry2;
  entry_t  newest2, entry3_q, now3, new3;
  entry_t [6:4] entry_q; // results of the preceding accesses
  logic [6:4] same1;     // of stage 1: the access in that stage by then has the same entry
  logic       same2;     // of stage 2: the preceding access has the same entry
  logic [1:0] newest_q;  // of stage 2: the newest of them; 0: none
  logic       stale3_q;  // of stage 3: the value read belongs to an earlier root and counts as 0
  logic       before_q;  // of stage 3: the preceding access has the same entry
  logic [MAP_ENTRIES-1:0] write_q; // of stage 4
  entry_t  old4_q;

  always_comb begin
    if (on_i) begin
      entry2  = read2_q[access2_q.at[ENTRY_AT_W-1:0]];
      newest2 = newest_q[1] ? (newest_q[0] ? entry_q[6] : entry_q[5])
                            : (newest_q[0] ? entry_q[4] : entry2);
      now3 = before_q ? entry_q[4] : stale3_q ? '{mark: 1'b0, value: level3_i} : entry3_q;
      new3.mark  = now3.mark || access3_q.mark;
      new3.value = access3_q.tag ? tag3_i
                   : now3.value + level_t'(access3_q.count && !access3_q.keep);
    end else {entry2, newest2, now3, new3} = 'x;
  end

  // Whether two accesses have the same entry and root. `keep`: 6-input LUTs; merged with the following logic it takes
  // twice as many.
  localparam int unsigned THREES = (MAP_AT_W + 3) / 3;

  typedef logic [3*THREES-1:0] place_t;

  // Partial comparisons of two accesses.
  function automatic logic [THREES-1:0] alike_of(input access_t access, input access_t other);
    place_t differ;
    logic [THREES-1:0] threes;
    differ = place_t'({access.root, access.at}) ^ place_t'({other.root, other.at});
    for (int t = 0; t < THREES; t++) threes[t] = differ[3*t +: 3] == '0;
    return threes;
  endfunction

  (* keep = "true" *) logic [THREES-1:0] alike3, alike4, alike5, alike6;

  always_comb begin
    {alike3, alike4, alike5, alike6} = 'x;
    if (on_i) begin
      alike3 = alike_of(access3_q, access2_q);
      alike4 = alike_of(access3_q, access1_q);
      alike5 = alike_of(access4_q, access1_q);
      alike6 = alike_of(access5_q, access1_q);
    end
  end

  assign same2 = access3_q.valid && alike3 == '1;
  assign same1 = {access5_q.valid && alike6 == '1, access4_q.valid && alike5 == '1,
                  access3_q.valid && alike4 == '1};

  always_ff @(posedge clk_i) begin
    if (valid_i) read1_q <= mem[at_i[MAP_AT_W-1:ENTRY_AT_W]];
    if (on_i) begin
      read2_q   <= read1_q;
      access1_q <= '{clear: clear_i, valid: valid_i, mark: mark_i, count: count_i,
                     keep: REACHED != 0 && keep_i, tag: REACHED != 0 && tag_i,
                     root: root_i, at: at_i};
      access2_q <= access1_q;
      access3_q <= access2_q;
      access4_q <= access3_q;
      access5_q <= access4_q;
      entry3_q <= newest2;
      stale3_q <= newest_q == 2'd0 && entry2.value < level2_i;
      newest_q <= same1[4] ? 2'd1 : same1[5] ? 2'd2 : same1[6] ? 2'd3 : 2'd0;
      before_q <= same2;
      entry_q[4] <= access3_q.clear ? '0 : new3;
      for (int e = 0; e < MAP_ENTRIES; e++)
        write_q[e] <= access3_q.clear
                      || (access3_q.valid
                          && (access3_q.mark || access3_q.count || access3_q.tag)
                          && access3_q.at[ENTRY_AT_W-1:0] == ENTRY_AT_W'(e));
      for (int s = 5; s < 7; s++) entry_q[s] <= entry_q[s-1];
      old4_q <= now3;
    end
    if (rst_i) begin
      {access1_q.valid, access2_q.valid, access3_q.valid, access4_q.valid, access5_q.valid} <= '0;
      {access1_q.clear, access2_q.clear, access3_q.clear, access4_q.clear, access5_q.clear} <= '0;
    end
    hit_o   <= access4_q.valid && old4_q.mark;
    value_o <= access4_q.valid && access4_q.count ? old4_q.value : '0;
  end

  // A machine without noted ends has neither.
  if (REACHED != 0) begin : gen_first
    always_ff @(posedge clk_i) if (on_i) begin
      first_o <= access4_q.valid && access4_q.count && !access4_q.keep
                 && old4_q.value == level4_i;
      near_o  <= access4_q.valid && old4_q.value == tag4_i;
    end
    assign at_o = access5_q.at;
  end else begin : gen_no_first
    logic unused;
    assign unused  = &{1'b0, level4_i, tag3_i, tag4_i, access3_q.tag, access4_q.tag};
    assign first_o = 1'b0;
    assign near_o  = 1'b0;
    assign at_o    = '0;
  end

  always_ff @(posedge clk_i)
    for (int e = 0; e < MAP_ENTRIES; e++)
      if (write_q[e]) mem[access4_q.at[MAP_AT_W-1:ENTRY_AT_W]][e] <= entry_q[4];

`ifndef SYNTHESIS
  level_t level3_q, level4_q;

  always_ff @(posedge clk_i) begin
    level3_q <= level2_i;
    level4_q <= level3_q;
  end

  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (on_i || !(valid_i || clear_i)) else $error("an access while all stays");
    assert (!(clear_i && valid_i)) else $error("an access that clears");
    assert (!(clear_i && (access1_q.valid || access2_q.valid || access3_q.valid || access4_q.valid)))
      else $error("cleared while in use");
    assert (!(valid_i && (access1_q.clear || access2_q.clear || access3_q.clear || access4_q.clear)))
      else $error("used while it is cleared");
    assert (!(access4_q.valid && old4_q.value < level4_q)) else $error("below the level");
    assert (!(access4_q.valid && access4_q.count && old4_q.value == '1))
      else $error("a counter beyond its range");
  end
`endif

endmodule

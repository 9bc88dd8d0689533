// A bank of the map: for each vertex of the bank a mark and a counter, of the present root. An entry is read,
// changed and written back; one may begin in every cycle, on the same entry too: what is not yet written
// is taken from the stages behind.
//
// Nothing is cleared between roots. A counter is kept as level + count, where each root has a level above
// all that the roots before it could reach: an entry below the level counts 0 and is not marked. Of 5-motifs it is
// level + tag instead, which says in whose list the vertex was last.
//
//   0 read ─► 1 ─► 2 entry, newest but one, is it the root's? ─► 3 newest, changed ─► 4 written
module gramer_set_map_bank
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Stage 0: one access, or the entries of a word are cleared, while nothing else is under way
  input  logic    clear_i, // and it is no access
  input  logic    valid_i,
  input  map_at_t at_i,
  input  logic    mark_i,  // it is marked
  input  logic    count_i, // it is counted
  input  logic    keep_i,  // what is counted is read alone
  input  logic    tag_i,   // it gets the tag, and keeps its mark
  input  logic    root_i,  // changes from one root to the next, three cycles later at least
  // Of the root of the access in stage 2: it is the same for all banks.
  input  level_t  level2_i,
  input  level_t  level3_i, // of that in stage 3
  input  level_t  level4_i, // of that in stage 4, for first_o
  // The tags of the accesses there: they are the same for all banks, too.
  input  level_t  tag3_i,
  input  level_t  tag4_i,
  // Stage 5
  output logic    hit_o,   // it was marked
  output logic    near_o,  // it had the tag
  output level_t  value_o, // its root's level and what it had counted; 0 if it doesn't count
  output logic    first_o, // it counts, and had counted nothing
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
  access_t access_q [6]; // by stage
  // Kept as it is, a table of six inputs a bit: with what follows a tool makes three of two.
  (* keep = "true" *) entry_t entry2;
  entry_t  newest2, entry3_q, now3, new3;
  entry_t [6:4] entry_q; // what the accesses before left
  logic [6:4] same1;     // of stage 1: the access that will be there then was to the same entry
  logic       same2;     // of stage 2: the one before it was
  logic [1:0] newest_q;  // of stage 2: which of them is the newest; 0: none was
  logic       stale3_q;  // of stage 3: what was read belongs to an earlier root, and counts nothing
  logic       before_q;  // of stage 3: the access before it was
  logic [MAP_ENTRIES-1:0] write_q; // of stage 4
  entry_t  old4_q;

  assign entry2 = read2_q[access_q[2].at[ENTRY_AT_W-1:0]];

  always_comb begin
    newest2 = newest_q[1] ? (newest_q[0] ? entry_q[6] : entry_q[5])
                          : (newest_q[0] ? entry_q[4] : entry2);
    now3 = before_q ? entry_q[4] : stale3_q ? '{mark: 1'b0, value: level3_i} : entry3_q;
    new3.mark  = now3.mark || access_q[3].mark;
    new3.value = access_q[3].tag ? tag3_i
                 : now3.value + level_t'(access_q[3].count && !access_q[3].keep);
  end

  // Whether an access is to the same entry as an earlier one, and for the same root. Kept as tables of six inputs: with
  // what follows a tool makes twice as many.
  localparam int unsigned THREES = (MAP_AT_W + 3) / 3;

  typedef logic [3*THREES-1:0] place_t;

  for (genvar s = 3; s < 7; s++) begin : gen_same
    place_t differ;
    (* keep = "true" *) logic [THREES-1:0] alike;

    if (s == 3) begin : gen_before
      assign differ = place_t'({access_q[3].root, access_q[3].at})
                      ^ place_t'({access_q[2].root, access_q[2].at});
      assign same2  = access_q[3].valid && alike == '1;
    end else begin : gen_earlier
      assign differ   = place_t'({access_q[s-1].root, access_q[s-1].at})
                        ^ place_t'({access_q[1].root, access_q[1].at});
      assign same1[s] = access_q[s-1].valid && alike == '1;
    end
    for (genvar t = 0; t < THREES; t++) assign alike[t] = differ[3*t +: 3] == '0;
  end

  always_ff @(posedge clk_i) begin
    read1_q <= mem[at_i[MAP_AT_W-1:ENTRY_AT_W]];
    read2_q <= read1_q;
    access_q[1] <= '{clear: clear_i && !rst_i, valid: valid_i && !rst_i, mark: mark_i, count: count_i,
                     keep: REACHED != 0 && keep_i, tag: REACHED != 0 && tag_i,
                     root: root_i, at: at_i};
    for (int s = 2; s < 6; s++) begin
      access_q[s] <= access_q[s-1];
      if (rst_i) access_q[s].valid <= 1'b0;
      if (rst_i) access_q[s].clear <= 1'b0;
    end
    entry3_q <= newest2;
    stale3_q <= newest_q == 2'd0 && entry2.value < level2_i;
    newest_q <= same1[4] ? 2'd1 : same1[5] ? 2'd2 : same1[6] ? 2'd3 : 2'd0;
    before_q <= same2;
    entry_q[4] <= access_q[3].clear ? '0 : new3;
    for (int e = 0; e < MAP_ENTRIES; e++)
      write_q[e] <= access_q[3].clear
                    || (access_q[3].valid
                        && (access_q[3].mark || access_q[3].count || access_q[3].tag)
                        && access_q[3].at[ENTRY_AT_W-1:0] == ENTRY_AT_W'(e));
    for (int s = 5; s < 7; s++) entry_q[s] <= entry_q[s-1];
    old4_q  <= now3;
    hit_o   <= access_q[4].valid && old4_q.mark;
    value_o <= access_q[4].valid && access_q[4].count ? old4_q.value : '0;
  end

  // A machine that notes nothing has neither.
  if (REACHED != 0) begin : gen_first
    always_ff @(posedge clk_i) begin
      first_o <= access_q[4].valid && access_q[4].count && !access_q[4].keep
                 && old4_q.value == level4_i;
      near_o  <= access_q[4].valid && old4_q.value == tag4_i;
    end
    assign at_o = access_q[5].at;
  end else begin : gen_no_first
    logic unused;
    assign unused  = &{1'b0, level4_i, tag3_i, tag4_i, access_q[3].tag, access_q[4].tag};
    assign first_o = 1'b0;
    assign near_o  = 1'b0;
    assign at_o    = '0;
  end

  always_ff @(posedge clk_i)
    for (int e = 0; e < MAP_ENTRIES; e++)
      if (write_q[e]) mem[access_q[4].at[MAP_AT_W-1:ENTRY_AT_W]][e] <= entry_q[4];

`ifndef SYNTHESIS
  level_t level3_q, level4_q;

  always_ff @(posedge clk_i) begin
    level3_q <= level2_i;
    level4_q <= level3_q;
  end

  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(clear_i && valid_i)) else $error("an access that clears");
    for (int s = 1; s < 5; s++) begin
      assert (!(clear_i && access_q[s].valid)) else $error("cleared while in use");
      assert (!(valid_i && access_q[s].clear)) else $error("used while it is cleared");
    end
    assert (!(access_q[4].valid && old4_q.value < level4_q)) else $error("below the level");
    assert (!(access_q[4].valid && access_q[4].count && old4_q.value == '1))
      else $error("a counter beyond its range");
  end
`endif

endmodule

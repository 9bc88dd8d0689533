// A bank of the map: for each vertex of the bank a mark and a counter, of the present root. An entry is read,
// changed and written back; one may begin in every cycle, on the same entry too: what is not yet written
// is taken from the stages behind.
//
// Nothing is cleared between roots. A counter is kept as level + count, where each root has a level above
// all that the roots before it could reach: an entry below the level counts 0 and is not marked. Of 5-motifs it is
// level + tag instead, which says in whose list the vertex was last.
//
//   0 read ─► 1 ─► 2 entry, is it the root's? newest but one ─► 3 newest, changed ─► 4 written
module gramer_set_map_bank
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Clearing: a word a cycle, while nothing else is under way
  input  logic    clear_i,
  input  logic [$clog2(MAP_WORDS)-1:0] clear_at_i,
  // Stage 0: one access
  input  logic    valid_i,
  input  map_at_t at_i,
  input  logic    mark_i,  // it is marked
  input  logic    count_i, // it is counted
  input  logic    keep_i,  // what is counted is read alone
  input  logic    tag_i,   // it gets the tag, and keeps its mark
  input  logic    root_i,  // changes from one root to the next, three cycles later at least
  // Of the root of the access in stage 2: it is the same for all banks.
  input  level_t  level2_i,
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
  entry_t  entry2, newest2, entry3_q, now3, new3;
  entry_t [6:4] entry_q; // what the accesses before left
  logic [6:4] same_q;    // of stage 2: the access there was to the same entry
  logic       before_q;  // of stage 3: the access before it was
  entry_t  old4_q;

  assign entry2 = read2_q[access_q[2].at[ENTRY_AT_W-1:0]];

  always_comb begin
    // What belongs to an earlier root counts nothing.
    newest2 = entry2.value >= level2_i ? entry2 : '{mark: 1'b0, value: level2_i};
    for (int s = 6; s >= 4; s--) if (same_q[s]) newest2 = entry_q[s];
    now3 = before_q ? entry_q[4] : entry3_q;
    new3.mark  = now3.mark || access_q[3].mark;
    new3.value = access_q[3].tag ? tag3_i
                 : now3.value + level_t'(access_q[3].count && !access_q[3].keep);
  end

  // Whether an access is to the same entry as a later one, and for the same root.
  function automatic logic same(input access_t earlier, input access_t later);
    return earlier.valid && earlier.at == later.at && earlier.root == later.root;
  endfunction

  always_ff @(posedge clk_i) begin
    read1_q <= mem[at_i[MAP_AT_W-1:ENTRY_AT_W]];
    read2_q <= read1_q;
    access_q[1] <= '{valid: valid_i && !rst_i, mark: mark_i, count: count_i,
                     keep: REACHED != 0 && keep_i, tag: REACHED != 0 && tag_i,
                     root: root_i, at: at_i};
    for (int s = 2; s < 6; s++) begin
      access_q[s] <= access_q[s-1];
      if (rst_i) access_q[s].valid <= 1'b0;
    end
    entry3_q <= newest2;
    for (int s = 4; s < 7; s++) same_q[s] <= same(access_q[s-1], access_q[1]);
    before_q <= same(access_q[3], access_q[2]);
    entry_q[4] <= new3;
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

  always_ff @(posedge clk_i) begin
    if (clear_i) mem[clear_at_i] <= '0;
    else if (access_q[4].valid && (access_q[4].mark || access_q[4].count || access_q[4].tag))
      mem[access_q[4].at[MAP_AT_W-1:ENTRY_AT_W]][access_q[4].at[ENTRY_AT_W-1:0]] <= entry_q[4];
  end

`ifndef SYNTHESIS
  level_t level3_q, level4_q;

  always_ff @(posedge clk_i) begin
    level3_q <= level2_i;
    level4_q <= level3_q;
  end

  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(clear_i && (valid_i || access_q[4].valid))) else $error("cleared while in use");
    assert (!(access_q[4].valid && old4_q.value < level4_q)) else $error("below the level");
    assert (!(access_q[4].valid && access_q[4].count && old4_q.value == '1))
      else $error("a counter beyond its range");
  end
`endif

endmodule

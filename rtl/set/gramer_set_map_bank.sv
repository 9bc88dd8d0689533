// A bank of the map: for each vertex of the bank a mark and a counter, of the present root. An entry is read,
// changed and written back; one may begin in every cycle, on the same entry too: what is not yet written
// is taken from the stages behind.
//
// Nothing is cleared between roots. A counter is kept as level + count, where each root has a level above
// all that the roots before it could reach: an entry below the level counts 0 and is not marked.
//
//   0 read ─► 1 ─► 2 entry, is it the root's? ─► 3 newest, changed ─► 4 written
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
  input  logic    root_i,  // changes from one root to the next, three cycles later at least
  input  level_t  level_i, // of the root
  // Stage 5
  output logic    hit_o,   // it was marked
  output level_t  count_o  // what it had counted; 0 without an access that counts
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
    logic    root;
    level_t  level;
    map_at_t at;
  } access_t;

  (* ram_style = "ultra" *) logic [MAP_ENTRIES-1:0][LEVEL_W:0] mem [MAP_WORDS];

  logic [MAP_ENTRIES-1:0][LEVEL_W:0] read1_q, read2_q;
  access_t access_q [8]; // by stage
  entry_t  entry2, entry3_q, now3, new3, entry_q [8]; // what the accesses before left
  logic [7:4] same_q;    // of stage 3: the access there was to the same entry
  entry_t  old4_q;

  assign entry2 = read2_q[access_q[2].at[ENTRY_AT_W-1:0]];

  always_comb begin
    now3 = entry3_q;
    for (int s = 7; s >= 4; s--) if (same_q[s]) now3 = entry_q[s];
    new3 = now3;
    if (access_q[3].mark)  new3.mark  = 1'b1;
    if (access_q[3].count) new3.value = now3.value + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    read1_q <= mem[at_i[MAP_AT_W-1:ENTRY_AT_W]];
    read2_q <= read1_q;
    access_q[1] <= '{valid: valid_i && !rst_i, mark: mark_i, count: count_i, root: root_i,
                     level: level_i, at: at_i};
    for (int s = 2; s < 8; s++) begin
      access_q[s] <= access_q[s-1];
      if (rst_i) access_q[s].valid <= 1'b0;
    end
    // What belongs to an earlier root counts nothing.
    entry3_q <= entry2.value >= access_q[2].level ? entry2 : '{mark: 1'b0, value: access_q[2].level};
    for (int s = 4; s < 8; s++)
      same_q[s] <= access_q[s-1].valid && access_q[s-1].at == access_q[2].at
                   && access_q[s-1].root == access_q[2].root;
    entry_q[4] <= new3;
    for (int s = 5; s < 8; s++) entry_q[s] <= entry_q[s-1];
    old4_q  <= now3;
    hit_o   <= access_q[4].valid && old4_q.mark;
    count_o <= access_q[4].valid && access_q[4].count ? old4_q.value - access_q[4].level : '0;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) mem[clear_at_i] <= '0;
    else if (access_q[4].valid && (access_q[4].mark || access_q[4].count))
      mem[access_q[4].at[MAP_AT_W-1:ENTRY_AT_W]][access_q[4].at[ENTRY_AT_W-1:0]] <= entry_q[4];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(clear_i && (valid_i || access_q[4].valid))) else $error("cleared while in use");
    assert (!(access_q[4].valid && old4_q.value < access_q[4].level)) else $error("below the level");
    assert (!(access_q[4].valid && access_q[4].count && old4_q.value == '1))
      else $error("a counter beyond its range");
  end
`endif

endmodule

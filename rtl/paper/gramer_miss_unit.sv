// Miss status registers of a memory: lines in flight from DDR and the requests that wait for them, so that
// hits can pass misses.
//
//   miss ─┬─ its line is in flight ──► appended to the entry's chain
//         ├─ an entry is free ───────► starts a read, first of the entry's chain
//         └─ all entries are in use ─► a queue, whose head is looked up again when an entry is free
//
// An arriving line answers the whole chain: the first request with the fill, the others right behind it, one per
// cycle, from the held line, without access to tags, references or counters. Then the entry is freed.
// `walking_o` blocks the selection of other accesses meanwhile. Requests for this line that arrive during the
// walk are not lost: those selected before the fill miss in the first two cycles of the walk at the latest and join
// the chain, so a walk lasts at least two cycles; later ones are selected after the line has been written, and hit.
//
// Each slot has at most one outstanding access: one link per slot suffices for all chains, and the queue
// always has room.
module gramer_miss_unit
  import gramer_pkg::*;
  import gramer_types_pkg::*;
#(
  /// Bits of a line's address.
  parameter int unsigned ADDR_W = 8,
  /// Bits of the word index within the line.
  parameter int unsigned WORD_W = 1,
  localparam int unsigned TOKEN_W = PU_W + SLOT_W,
  localparam int unsigned HEAD_W  = WORD_W + ID_W + TOKEN_W
) (
  input  logic               clk_i,
  input  logic               rst_i,
  // Line of an access, in the cycle before hit or miss is known
  input  logic [ADDR_W-1:0]  look_line_i,
  // A miss: { word, rank, PU and slot }
  input  logic               miss_i,
  input  logic [ADDR_W-1:0]  miss_line_i,
  input  logic [HEAD_W-1:0]  miss_head_i,
  // Replay of a queued miss
  output logic               replay_valid_o,
  output logic [ADDR_W-1:0]  replay_line_o,
  output logic [HEAD_W-1:0]  replay_head_o,
  input  logic               replay_take_i,
  // Reads to start
  output logic               read_valid_o,
  input  logic               read_ready_i,
  output logic [MISS_W-1:0]  read_entry_o,
  output logic [ADDR_W-1:0]  read_line_o,
  // Arrived line, with the first of its chain; the walk begins when it is taken
  input  logic [MISS_W-1:0]  fill_entry_i,
  output logic [ADDR_W-1:0]  fill_line_o,
  output logic [HEAD_W-1:0]  fill_head_o,
  input  logic               fill_take_i,
  // The next of the chain; taken at once
  output logic               walking_o,
  output logic               chain_valid_o,
  output logic [WORD_W-1:0]  chain_word_o,
  output logic [TOKEN_W-1:0] chain_token_o
);

  logic read_valid_q;
  logic [MISS_W-1:0] read_entry_q;
  logic [ADDR_W-1:0] read_line_q;

  assign read_valid_o = read_valid_q;
  assign read_entry_o = read_entry_q;
  assign read_line_o  = read_line_q;

  typedef logic [TOKEN_W-1:0] token_t;

  logic [MISSES-1:0] taken_q, same, same_q; // same_q: entries in flight with the line of `miss_i`
  logic [ADDR_W-1:0] line_q [MISSES];
  logic [MISS_W-1:0] free_entry, same_entry;
  logic              free_some, under_way, begin_read, join_chain;
  token_t            miss_token;

  // Per entry: first request of the chain with its fields, and last request. Per token: word index of
  // the request, and next request of its chain.
  (* ram_style = "distributed" *) logic [HEAD_W-1:0] heads [MISSES];
  (* ram_style = "distributed" *) token_t            lasts [MISSES];
  (* ram_style = "distributed" *) logic [WORD_W-1:0] words [1 << TOKEN_W];
  (* ram_style = "distributed" *) token_t            links [1 << TOKEN_W];

  assign miss_token = miss_head_i[TOKEN_W-1:0];

  // ---------------------------------------------------------------- a miss

  // Lines are compared a cycle early, so a read that starts in this cycle takes part, too.
  always_comb begin
    free_entry = '0;
    same_entry = '0;
    for (int e = MISSES - 1; e >= 0; e--) begin
      if (!taken_q[e]) free_entry = MISS_W'(e);
      if (same_q[e]) same_entry |= MISS_W'(e);
    end
    for (int e = 0; e < MISSES; e++)
      same[e] = (taken_q[e] && line_q[e] == look_line_i)
                || (begin_read && free_entry == MISS_W'(e) && miss_line_i == look_line_i);
  end

  assign free_some  = taken_q != '1;
  assign under_way  = same_q != '0;
  assign begin_read = miss_i && !under_way && free_some;
  assign join_chain = miss_i && under_way;

  logic queue_valid, ready_q;

  gramer_fifo #(.WIDTH(ADDR_W + HEAD_W), .DEPTH(PUS * SLOTS)) i_waiting (
    .clk_i, .rst_i,
    .push_i  (miss_i && !under_way && !free_some),
    .data_i  ({miss_line_i, miss_head_i}),
    .full_o  (),
    .pop_i   (replay_take_i),
    .valid_o (queue_valid),
    .data_o  ({replay_line_o, replay_head_o})
  );

  // Registered: another access may take the entry first, and then the replay waits again.
  always_ff @(posedge clk_i) ready_q <= !rst_i && queue_valid && free_some && !replay_take_i;
  assign replay_valid_o = ready_q;

  always_ff @(posedge clk_i) begin
    same_q <= same;
    // The content of a free entry is a don't-care.
    if (miss_i && free_some) begin
      line_q[free_entry] <= miss_line_i;
      heads[free_entry]  <= miss_head_i;
    end
    if (miss_i) words[miss_token] <= miss_head_i[HEAD_W-1 -: WORD_W];
    if (join_chain) links[lasts[same_entry]] <= miss_token;
    if (join_chain || begin_read) lasts[under_way ? same_entry : free_entry] <= miss_token;
  end

  // ---------------------------------------------------------------- reads

  logic              asks_valid, ask;
  logic [MISS_W-1:0] ask_entry;

  gramer_fifo #(.WIDTH(MISS_W), .DEPTH(MISSES)) i_reads (
    .clk_i, .rst_i,
    .push_i  (begin_read),
    .data_i  (free_entry),
    .full_o  (),
    .pop_i   (ask),
    .valid_o (asks_valid),
    .data_o  (ask_entry)
  );

  assign ask = asks_valid && (!read_valid_q || read_ready_i);

  always_ff @(posedge clk_i) begin
    if (ask) begin
      read_entry_q <= ask_entry;
      read_line_q  <= line_q[ask_entry];
    end
    read_valid_q <= !rst_i && (asks_valid || (read_valid_q && !read_ready_i));
  end

  // ---------------------------------------------------------------- a line comes

  logic              walking_q, late_q; // late_q: no older access is in flight
  logic [MISS_W-1:0] walk_entry_q;
  token_t            walk_token_q, walk_last; // of the chain: last answered request, last request
  logic              walk_ends;

  assign fill_line_o = line_q[fill_entry_i];
  assign fill_head_o = heads[fill_entry_i];

  assign walk_last     = lasts[walk_entry_q];
  assign walking_o     = walking_q;
  assign chain_valid_o = walking_q && walk_token_q != walk_last;
  assign chain_token_o = links[walk_token_q];
  assign chain_word_o  = words[chain_token_o];
  assign walk_ends     = walking_q && late_q && !(miss_i && same_q[walk_entry_q])
                         && (!chain_valid_o || chain_token_o == walk_last);

  always_ff @(posedge clk_i) begin
    late_q <= walking_q;
    if (fill_take_i) begin
      walk_entry_q <= fill_entry_i;
      walk_token_q <= fill_head_o[TOKEN_W-1:0];
    end else if (chain_valid_o) walk_token_q <= chain_token_o;
    if (rst_i) begin
      walking_q <= 1'b0;
      taken_q   <= '0;
    end else begin
      if (fill_take_i) walking_q <= 1'b1;
      else if (walk_ends) walking_q <= 1'b0;
      if (begin_read) taken_q[free_entry] <= 1'b1;
      if (walk_ends) taken_q[walk_entry_q] <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic [(1 << TOKEN_W)-1:0] waits_q; // requests held in this unit
  logic                      third_q; // at least the third cycle of a walk
  always_ff @(posedge clk_i) begin
    third_q <= walking_q && late_q;
    if (miss_i) waits_q[miss_token] <= 1'b1;
    if (replay_take_i) waits_q[replay_head_o[TOKEN_W-1:0]] <= 1'b0;
    if (fill_take_i) waits_q[fill_head_o[TOKEN_W-1:0]] <= 1'b0;
    if (chain_valid_o) waits_q[chain_token_o] <= 1'b0;
    if (rst_i) waits_q <= '0;
    else begin
      assert (!(fill_take_i && !taken_q[fill_entry_i])) else $error("a line that nobody asked for");
      assert (!(fill_take_i && walking_q)) else $error("a line comes while a chain is answered");
      assert (!(replay_take_i && walking_q)) else $error("a look-up while a chain is answered");
      assert (!(miss_i && walking_q && third_q)) else $error("a late miss during a walk");
      assert (!(join_chain && !taken_q[same_entry])) else $error("joins a chain that was answered");
      assert (!(miss_i && waits_q[miss_token])) else $error("a slot waits for two accesses");
      assert (!(chain_valid_o && !waits_q[chain_token_o])) else $error("answered without a request");
      assert ($onehot0(same_q)) else $error("a line is read twice");
    end
  end
`endif

endmodule

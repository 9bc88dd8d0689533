// Vertex memory or edge memory of a partition (figure 7): controller, high-priority scratchpad, low-priority
// cache and its miss unit. Throughput: one access per cycle.
//
//   select ─► 1: set, tag look-up ─► 2: compare ─► 3: hit, line read or fill; missed ─► 4: answer
//
// A line from DDR passes the same stages, followed by the requests that wait for it (gramer_miss_unit). No access
// is selected for two cycles after it, so none sees stale tags or lines.
//
// When the weights of equation (2) reach three quarters of their range, selection stops, the stages drain, and a
// sweep over all sets ages the weights: SETS + 6 cycles, at most once in 2^STAMP_W accesses.
//
// The victim of a line from DDR is chosen by the weights read in stage 1, which do not yet include the references
// of the two preceding accesses.
module gramer_onchip_memory
  import gramer_pkg::*;
  import gramer_types_pkg::*;
#(
  /// Bits of a line's address in the whole array.
  parameter int unsigned ADDR_W = 8,
  /// Lines of the scratchpad; not used in the uniform layout.
  parameter int unsigned PAD_LINES = 4,
  /// Sets of the cache.
  parameter int unsigned SETS = 4,
  /// Bits of an answer: a line, or one of its 512 / ANSWER_W words.
  parameter int unsigned ANSWER_W = LINE_W,
  localparam int unsigned WORDS  = LINE_W / ANSWER_W,
  localparam int unsigned WORD_W = WORDS > 1 ? $clog2(WORDS) : 1,
  localparam int unsigned PAD_W  = PAD_LINES > 1 ? $clog2(PAD_LINES) : 1
) (
  input  logic              clk_i,
  input  logic              rst_i,
  // Run-time settings
  input  logic [ADDR_W:0]   bound_i,  // lines below it are high-priority
  input  logic [31:0]       sets_i,   // in use
  input  logic [LAMBDA_W-1:0] lambda_i,
  input  logic              lru_i,
  // Before a run
  input  logic              forget_i,
  input  logic [31:0]       forget_set_i,
  input  logic              pad_write_i,
  input  logic [31:0]       pad_at_i,
  input  line_t             pad_line_i,
  // Request
  input  logic              valid_i,
  output logic              ready_o,
  input  logic [ADDR_W-1:0] line_i,
  input  logic [WORD_W-1:0] word_i,
  input  id_t               rank_i,
  input  logic [PU_W-1:0]   pu_i,
  input  slot_t             slot_i,
  // Answer; always taken
  output logic              valid_o,
  output logic [PU_W-1:0]   pu_o,
  output slot_t             slot_o,
  output logic [ANSWER_W-1:0] answer_o,
  // DDR
  output logic              read_valid_o,
  input  logic              read_ready_i,
  output logic [MISS_W-1:0] read_entry_o,
  output logic [ADDR_W-1:0] read_line_o,
  input  logic              fill_valid_i,
  output logic              fill_ready_o,
  input  logic [MISS_W-1:0] fill_entry_i,
  input  line_t             fill_line_i,
  // Events: outcome of a request, in the cycle of its answer if it has one
  output logic              high_hit_o,
  output logic              low_hit_o,
  output logic              missed_o
);

  logic valid_q, high_hit_q, low_hit_q, missed_q;

  assign valid_o    = valid_q;
  assign high_hit_o = high_hit_q;
  assign low_hit_o  = low_hit_q;
  assign missed_o   = missed_q;

  localparam int unsigned LOCAL_W = ADDR_W - (PARTITIONS > 1 ? $clog2(PARTITIONS) : 0);
  localparam int unsigned SET_W   = SETS > 1 ? $clog2(SETS) : 1;

  typedef struct packed {
    logic [WORD_W-1:0] word;
    id_t               rank;
    logic [PU_W-1:0]   pu;
    slot_t             slot;
  } head_t;

  typedef enum logic [1:0] { NEW, REPLAY, FILL, CHAIN } op_e; // CHAIN: waited for a fill

  function automatic logic [LOCAL_W-1:0] local_line(input logic [ADDR_W-1:0] line);
    return LOCAL_W'(line >> (ADDR_W - LOCAL_W));
  endfunction

  // Set of a line: its low bits in reverse order, scaled to the sets in use. Neighbouring lines thus
  // take different sets, however few of the sets are in use and however few lines the graph has.
  function automatic logic [SET_W-1:0] set_of(input logic [ADDR_W-1:0] line,
                                              input logic [31:0] sets);
    logic [SET_W-1:0] low, reversed;
    logic [2*SET_W:0] product;
    low = SET_W'(local_line(line));
    for (int b = 0; b < SET_W; b++) reversed[b] = low[SET_W-1-b];
    product = (2*SET_W+1)'(reversed) * (2*SET_W+1)'(sets[SET_W:0]);
    return SETS > 1 ? SET_W'(product >> SET_W) : '0;
  endfunction

  // ---------------------------------------------------------------- select

  logic              replay_valid, replay_take, fill_take, walking, chain_valid;
  logic              fill_valid_q, fill_busy_q;
  logic [MISS_W-1:0] fill_entry_q;
  line_t             fill_line_q;
  logic [ADDR_W-1:0] replay_line, fill_line;
  head_t             replay_head, fill_head, chain_head;
  logic              c1_valid_q, c2_valid_q, c3_valid_q;
  op_e               c1_op_q, c2_op_q, c3_op_q;
  logic [ADDR_W-1:0] c1_line_q, c2_line_q, c3_line_q;
  head_t             c1_head_q, c2_head_q, c3_head_q;

  logic              hold_q; // weights are being aged; selection stops

  assign fill_take   = !walking && !hold_q && fill_valid_q && !fill_busy_q;
  assign replay_take = !walking && !hold_q && !fill_take && replay_valid;
  assign ready_o     = !walking && !hold_q && !fill_take && !replay_valid;

  // Buffer of one line from DDR, until it is written.
  assign fill_ready_o = !fill_valid_q;

  always_ff @(posedge clk_i) begin
    if (fill_valid_i && fill_ready_o) begin
      fill_line_q  <= fill_line_i;
      fill_entry_q <= fill_entry_i;
    end
    if (rst_i) begin
      fill_valid_q <= 1'b0;
      fill_busy_q  <= 1'b0;
    end else begin
      if (fill_valid_i && fill_ready_o) fill_valid_q <= 1'b1;
      else if (c3_valid_q && c3_op_q == FILL) fill_valid_q <= 1'b0;
      if (fill_take) fill_busy_q <= 1'b1;
      else if (c3_valid_q && c3_op_q == FILL) fill_busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    c1_valid_q <= !rst_i && (chain_valid || fill_take || replay_take || (valid_i && ready_o));
    c1_op_q    <= walking ? CHAIN : fill_take ? FILL : replay_valid ? REPLAY : NEW;
    c1_line_q  <= fill_take ? fill_line : replay_valid ? replay_line : line_i;
    c1_head_q  <= walking ? chain_head : fill_take ? fill_head : replay_valid ? replay_head
                                       : head_t'{word_i, rank_i, pu_i, slot_i};
  end

  // ---------------------------------------------------------------- 1: set, tag look-up

  logic [SET_W-1:0]   c1_set, c2_set_q, c3_set_q;
  logic [3:0]         valid;
  logic [LOCAL_W-1:0] tag   [4];
  id_t                rank  [4];
  weight_t            weight [4];

  assign c1_set = set_of(c1_line_q, sets_i);

  always_ff @(posedge clk_i) begin
    c2_valid_q <= !rst_i && c1_valid_q;
    c2_op_q    <= c1_op_q;
    c2_line_q  <= c1_line_q;
    c2_head_q  <= c1_head_q;
    c2_set_q   <= c1_set;
  end

  // ---------------------------------------------------------------- 2: compare

  logic        high;
  logic [3:0]  match, c3_match_q;
  logic [1:0]  victim;              // in stage 3
  weight_t     step;                // of an access
  weight_t     weight_q, c3_weight_q; // of all accesses since the weights were last aged
  logic        due, age_start;
  logic        c3_high_q;

  assign high = UNIFORM == 0 && {1'b0, c2_line_q} < bound_i;

  always_comb
    for (int w = 0; w < 4; w++) match[w] = valid[w] && tag[w] == local_line(c2_line_q);

  gramer_replacement i_replacement (
    .clk_i, .lru_i, .valid_i (valid), .rank_i (rank), .weight_i (weight), .victim_o (victim)
  );

  always_ff @(posedge clk_i) begin
    c3_valid_q  <= !rst_i && c2_valid_q;
    c3_op_q     <= c2_op_q;
    c3_line_q   <= c2_line_q;
    c3_head_q   <= c2_head_q;
    c3_set_q    <= c2_set_q;
    c3_high_q   <= high;
    c3_match_q  <= match;
    c3_weight_q <= weight_q;
    if (rst_i || forget_i) weight_q <= '0;
    else if (age_start) weight_q <= aged(weight_q);
    else if (c2_valid_q && c2_op_q == NEW) weight_q <= weight_q + step;
  end

  // LRU uses the largest step, so its stamps are as wide as those of the largest λ.
  assign step = lru_i ? weight_t'(LAMBDA_MOST) : weight_t'(lambda_i);

  // ---------------------------------------------------------------- ageing

  logic             sweep_q, age_q; // a set is read, and written in the next cycle
  logic [SET_W-1:0] sweep_set_q, age_set_q;

  assign due       = weight_q[WEIGHT_W-1 -: 2] == 2'b11;
  assign age_start = due && hold_q && !walking && !c1_valid_q && !c2_valid_q && !c3_valid_q;

  always_ff @(posedge clk_i) begin
    age_set_q   <= sweep_set_q;
    sweep_set_q <= sweep_q ? sweep_set_q + 1'b1 : '0;
    if (rst_i || forget_i) begin
      hold_q  <= 1'b0;
      sweep_q <= 1'b0;
      age_q   <= 1'b0;
    end else begin
      hold_q  <= due || sweep_q;
      sweep_q <= age_start || (sweep_q && sweep_set_q != SET_W'(SETS - 1));
      age_q   <= sweep_q;
    end
  end

  // ---------------------------------------------------------------- 3: hit, missed

  logic       looked, hit, missed, filling;
  logic [1:0] way;

  assign looked  = c3_valid_q && (c3_op_q == NEW || c3_op_q == REPLAY);
  assign filling = c3_valid_q && c3_op_q == FILL;
  assign hit     = looked && !c3_high_q && c3_match_q != '0;
  assign missed  = looked && !c3_high_q && c3_match_q == '0;
  assign way     = c3_op_q == FILL ? victim : {c3_match_q[3] || c3_match_q[2],
                                               c3_match_q[3] || c3_match_q[1]};

  always_ff @(posedge clk_i) begin
    high_hit_q <= !rst_i && looked && c3_op_q == NEW && c3_high_q;
    low_hit_q  <= !rst_i && hit && c3_op_q == NEW;
    missed_q   <= !rst_i && missed && c3_op_q == NEW;
  end

  gramer_miss_unit #(.ADDR_W(ADDR_W), .WORD_W(WORD_W)) i_misses (
    .clk_i, .rst_i,
    .look_line_i (c2_line_q),
    .miss_i (missed), .miss_line_i (c3_line_q), .miss_head_i (c3_head_q),
    .replay_valid_o (replay_valid), .replay_line_o (replay_line),
    .replay_head_o (replay_head), .replay_take_i (replay_take),
    .read_valid_o, .read_ready_i, .read_entry_o, .read_line_o,
    .fill_entry_i (fill_entry_q), .fill_line_o (fill_line), .fill_head_o (fill_head),
    .fill_take_i (fill_take),
    .walking_o (walking), .chain_valid_o (chain_valid), .chain_word_o (chain_head.word),
    .chain_token_o ({chain_head.pu, chain_head.slot})
  );

  assign chain_head.rank = '0; // don't-care: nothing is written

  // ---------------------------------------------------------------- 3: line read or fill

  line_t pad_line, cache_line, held_line_q;

  gramer_cache #(.SETS(SETS), .LOCAL_W(LOCAL_W)) i_cache (
    .clk_i,
    .forget_i     (forget_i && forget_set_i < SETS),
    .forget_set_i (SET_W'(forget_set_i)),
    .look_i (c1_valid_q || sweep_q), .look_set_i (sweep_q ? sweep_set_q : c1_set),
    .valid_o (valid), .tag_o (tag), .rank_o (rank), .weight_o (weight),
    .refer_i (hit),
    .fill_i  (filling),
    .set_i   (c3_set_q), .way_i (way), .weight_i (c3_weight_q),
    .tag_i   (local_line(c3_line_q)), .rank_i (c3_head_q.rank), .line_i (fill_line_q),
    .age_i (age_q), .age_set_i (age_set_q),
    .read_i  (looked), .line_o (cache_line)
  );

  if (UNIFORM == 0) begin : gen_pad
    gramer_scratchpad #(.LINES(PAD_LINES)) i_pad (
      .clk_i,
      .write_i (pad_write_i), .write_at_i (PAD_W'(pad_at_i)), .data_i (pad_line_i),
      .read_i  (looked), .read_at_i (PAD_W'(local_line(c3_line_q))), .data_o (pad_line)
    );
  end else begin : gen_no_pad
    logic unused;
    assign unused   = &{1'b0, pad_write_i, pad_at_i, pad_line_i};
    assign pad_line = '0;
  end

  // ---------------------------------------------------------------- 4: answer

  logic  c4_high_q, c4_held_q;
  head_t c4_head_q;
  line_t line;

  always_ff @(posedge clk_i) begin
    valid_q   <= !rst_i && c3_valid_q && !missed;
    c4_head_q <= c3_head_q;
    c4_high_q <= c3_high_q;
    c4_held_q <= c3_op_q == FILL || c3_op_q == CHAIN;
    if (filling) held_line_q <= fill_line_q;
  end

  assign line   = c4_held_q ? held_line_q : c4_high_q ? pad_line : cache_line;
  assign pu_o   = c4_head_q.pu;
  assign slot_o = c4_head_q.slot;

  if (WORDS > 1) begin : gen_word
    assign answer_o = line[c4_head_q.word*ANSWER_W +: ANSWER_W];
  end else begin : gen_line
    assign answer_o = line;
  end

`ifdef GRAMER_ACCESSES
  // Access trace for scripts/replay.py, in the order of look-ups.
  always_ff @(posedge clk_i)
    if (!rst_i && looked && c3_op_q == NEW)
      $fwrite(32'h8000_0002, "access %s %0d %0d %0d %0d\n", ADDR_W == VLINE_W ? "vertex" : "edge",
              c3_line_q, c3_head_q.rank, c3_high_q, hit);
`endif

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(filling && (c3_high_q || c3_match_q != '0))) else $error("a line comes that is there");
    assert (!(c2_valid_q && c2_op_q == NEW && weight_q > weight_t'('1) - step))
    else $error("the weights overflow");
    assert (!((sweep_q || age_q) && (c1_valid_q || c2_valid_q || c3_valid_q)))
    else $error("an access while the weights are aged");
    assert (!(looked && !$onehot0(c3_match_q))) else $error("a line is in two ways");
    assert (!(filling && ((c2_valid_q && c2_op_q != CHAIN) || (c1_valid_q && c1_op_q != CHAIN))))
    else $error("an access sees the tags from before a line");
  end
`endif

endmodule

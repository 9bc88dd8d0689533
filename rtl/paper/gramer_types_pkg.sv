// Messages between the modules of the paper's core. All sizes come from gramer_pkg, which gramer-machine generates
// from accelerator.yaml.
package gramer_types_pkg;

  import gramer_pkg::*;

  localparam int unsigned LINE_W   = 512; // one line: 16 vertex ids or 4 vertex records
  localparam int unsigned IDS      = 16;  // vertex ids in a line
  localparam int unsigned SPOT_W   = $clog2(IDS); // position of an id in a line
  localparam int unsigned RECORDS  = 4;   // vertex records in a line
  localparam int unsigned ID_W     = 32;  // vertex id = Rank(ON_1)
  localparam int unsigned EDGE_W   = 40;  // position in the edge array
  localparam int unsigned ELINE_W  = EDGE_W - 4; // line of the edge array
  localparam int unsigned VLINE_W  = ID_W - 2;   // line of the vertex array
  localparam int unsigned SLOT_W   = $clog2(SLOTS);
  localparam int unsigned SIZE_W   = $clog2(DEPTH + 1); // number of vertices of an embedding
  localparam int unsigned POS_W    = $clog2(DEPTH);     // position of a vertex in an embedding
  localparam int unsigned PU_W     = PUS > 1 ? $clog2(PUS) : 1;
  localparam int unsigned PART_W   = PARTITIONS > 1 ? $clog2(PARTITIONS) : 1;
  localparam int unsigned BANK_W   = BANKS > 1 ? $clog2(BANKS) : 1;
  localparam int unsigned MISS_W   = $clog2(MISSES);
  localparam int unsigned BANK_MEMORIES = 2 * PARTITIONS / BANKS; // memories per DDR bank
  localparam int unsigned READ_ID_W = $clog2(BANK_MEMORIES + 1); // AXI id of a read, by memory
  localparam int unsigned KEY_W    = $clog2(DICTIONARY);
  localparam int unsigned NUMBER_W = $clog2(COUNTERS);
  localparam int unsigned LAMBDA_W = $clog2(LAMBDA_MOST + 1);
  localparam int unsigned WEIGHT_W = STAMP_W + LAMBDA_W;
  localparam int unsigned FILTER_AT_W = $clog2(LINE_W / 64); // position of a word in a beat
  localparam int unsigned FILTER_STAGES = 3; // of gramer_filter_program: C, L, A

  typedef logic [ID_W-1:0]     id_t;
  typedef logic [EDGE_W-1:0]   edge_t;
  typedef logic [ELINE_W-1:0]  eline_t;
  typedef logic [SLOT_W-1:0]   slot_t;
  typedef logic [SIZE_W-1:0]   size_t;
  typedef logic [POS_W-1:0]    pos_t;
  typedef logic [DEPTH-1:0]    mask_t;
  typedef logic [KEY_W-1:0]    key_t;
  typedef logic [LINE_W-1:0]   line_t;
  typedef logic [LABEL_BITS-1:0] label_t;
  typedef logic [31:0]         ordinal_t; // of a work unit in its run

  typedef enum logic [1:0] {
    APP_CLIQUE = 2'd0, // clique finding
    APP_MOTIF  = 2'd1, // motif counting
    APP_FSM    = 2'd2  // frequent subgraph mining
  } app_e;

  // Settings of a run; stable from start to done.
  typedef struct packed {
    app_e       app;
    size_t      k;         // vertices of a processed embedding
    logic       ascending; // order of comparison: ascending rank instead of descending
    logic       stealing;
    logic       lru;       // replacement by recency alone (LRU)
    logic       lists;     // embeddings of k vertices leave as records
    logic       filters;   // candidates are tested by the words of the run
    logic       selects;   // embeddings whose pattern the dictionary lacks are dropped
    logic [LAMBDA_W-1:0] lambda;    // of equation (2), in eighths
    logic [$clog2(SLOTS+1)-1:0] slots; // in use
    logic [VLINE_W:0] vertex_bound; // vertex lines below it are high-priority
    logic [ELINE_W:0] edge_bound;   // edge lines below it are high-priority
    logic [31:0] vertex_sets; // in use
    logic [31:0] edge_sets;   // in use
  } config_t;

  // λ · stamp of equation (2), λ in eighths. At three quarters of the range, weights are aged by half of it,
  // so lines referenced in the last quarter stay exact (gramer_replacement).
  typedef logic [WEIGHT_W-1:0] weight_t;

  function automatic weight_t aged(input weight_t weight);
    return weight[WEIGHT_W-1] ? {1'b0, weight[WEIGHT_W-2:0]} : '0;
  endfunction

  // Fields of a vertex record that the PUs use.
  typedef struct packed {
    edge_t       offset; // first position in the edge array
    logic [31:0] degree;
    label_t      label;
  } record_t;

  // Memory requests of a PU for a slot, and their answers (figure 7). Line i of an array belongs to
  // partition i mod PARTITIONS.
  typedef struct packed {
    slot_t  slot;
    eline_t line;
    id_t    rank; // source of the list
  } edge_request_t;

  typedef struct packed {
    slot_t slot;
    line_t line;
  } edge_answer_t;

  typedef struct packed {
    slot_t slot;
    id_t   vertex;
  } vertex_request_t;

  typedef struct packed {
    slot_t   slot;
    record_t record;
  } vertex_answer_t;

  // Broadcast to all partitions.
  typedef struct packed {
    logic        clear; // before a run
    config_t     settings;
    logic        forget; // before a run: invalidate a set
    logic [31:0] forget_set;
    logic [PARTITIONS-1:0] vertex_pad_write;
    logic [PARTITIONS-1:0] edge_pad_write;
    logic [31:0] pad_at;
    line_t       pad_line;
    logic [7:0]  counter_at;
  } to_partition_t;

  // A start vertex with a range of positions in its list.
  typedef struct packed {
    id_t         start;
    logic [31:0] first;
    logic [31:0] limit; // exclusive; clipped to the degree
    ordinal_t    ordinal; // position among the units of the run
  } unit_t;

  // An extension in progress: the lists of the embedding that remain to be walked. This is the whole content of
  // an ancestor entry (figure 10 of the paper): the position of the extending vertex and its cursor, the
  // remaining range [lo, hi) of its list. Lists up to i_last belong to the entry; a stolen part may end
  // before the last vertex of the embedding.
  typedef struct packed {
    pos_t  i;      // position of the extending vertex in the embedding
    pos_t  i_last; // last position to extend
    edge_t lo;
    edge_t hi;
  } cursor_t;

  // The state of an embedding: a row of the embedding table.
  typedef struct packed {
    id_t   [DEPTH-1:0]       ids;
    edge_t [DEPTH-1:0]       offsets; // first position of each vertex' list
    logic  [DEPTH-1:0][31:0] degrees;
    key_t  [DEPTH-1:0]       keys;    // of each prefix
  } row_t;

  // Scheduler to extender: extend the embedding of a slot.
  typedef struct packed {
    slot_t   slot;
    logic    root;      // fetch the record of start vertex `threshold`; the cursor holds the unit
    size_t   size;      // vertices of the embedding
    id_t     threshold; // a candidate lies beyond it in the order of comparison
    key_t    key;       // adjacency bits and labels of the embedding
    cursor_t cursor;
  } issue_t;

  // Extender to filter: a candidate with its connectivity mask; the cursor is what remains.
  typedef struct packed {
    slot_t   slot;
    size_t   size;   // vertices of the embedding without the candidate
    logic    last;   // with it the embedding has k vertices
    id_t     vertex;
    mask_t   mask;   // bit j: adjacent to the embedding's vertex j
    record_t record; // valid unless `last` without labels
    key_t    key;
    cursor_t cursor;
  } found_t;

  // Process to scheduler: the embedding grew (accept), or continues without the candidate.
  typedef struct packed {
    slot_t   slot;
    logic    accept;
    size_t   size;   // before the candidate
    id_t     vertex;
    record_t record;
    key_t    key;    // with the candidate
    cursor_t cursor;
  } result_t;

  // Extender to scheduler: the list of position i is done.
  typedef struct packed {
    slot_t slot;
    pos_t  i;
    pos_t  i_last;
  } ended_t;

  // Action of a token in the scheduler's pipeline.
  typedef enum logic [2:0] {
    ROOT,   // a new start vertex: fetch its record
    GROWN,  // extend the grown embedding
    AGAIN,  // continue with the cursor of the token
    NEXT,   // continue with the next list
    BACK,   // continue with an ancestor
    STEAL   // divide an ancestor of another slot
  } kind_e;

  // A token in the scheduler's pipeline, with the fields that later stages need.
  typedef struct packed {
    kind_e   kind;
    slot_t   slot;   // owner of the token; for a steal, the victim
    slot_t   thief;
    size_t   size;   // of the embedding to extend
    pos_t    level;  // ancestor entry to read or write
    id_t     vertex;
    record_t record;
    key_t    key;
    cursor_t cursor;
  } token_t;

  // A listed embedding of k vertices; positions from k on are all ones.
  typedef struct packed {
    id_t [DEPTH-1:0]     ids;
    logic [NUMBER_W-1:0] number;  // of its pattern
    ordinal_t            ordinal; // of its unit
  } listed_t;

  // An entry of the dictionary.
  typedef struct packed {
    logic                known;  // the dictionary has the pattern
    logic [NUMBER_W-1:0] number; // of the pattern
  } entry_t;

  // Operands and relation of a word of the filter; its fields are those of the in-stream.
  typedef enum logic [1:0] {
    LEFT_LABEL  = 2'd0, // of the new vertex
    LEFT_DEGREE = 2'd1,
    LEFT_CONSTANT = 2'd2,
    LEFT_SIZE   = 2'd3 // vertices of the embedding with the new one
  } left_e;

  typedef enum logic [1:0] {
    RIGHT_LABEL    = 2'd0, // of an earlier vertex
    RIGHT_DEGREE   = 2'd1,
    RIGHT_ADJACENT = 2'd2, // 1 if it is a neighbour of the new vertex
    RIGHT_CONSTANT = 2'd3
  } right_e;

  typedef enum logic [1:0] {
    RELATION_EQUAL   = 2'd0,
    RELATION_LESS    = 2'd1,
    RELATION_GREATER = 2'd2
  } relation_e;

  typedef struct packed {
    logic        last;     // of the filter
    logic        pairs;    // its condition is about every earlier vertex with the new one
    logic        ends;     // its condition
    logic        negated;
    relation_e   relation;
    right_e      right;
    left_e       left;
    logic [31:0] constant;
  } filter_word_t;

  // Broadcast to all PUs.
  typedef struct packed {
    logic    clear; // before a run
    logic    running;
    logic    kill;
    config_t settings;
    logic [PUS-1:0] unit_valid;
    unit_t   unit;
    logic    dictionary_write;
    key_t    dictionary_key;
    entry_t  dictionary_entry;
    logic    filter_write;
    logic [FILTER_AT_W-1:0] filter_at;
    filter_word_t filter_word;
    logic    count_clear;
    logic [NUMBER_W-1:0] count_at;
    logic [7:0] counter_at;
  } to_pu_t;

  // Outputs of a PU to the shared modules.
  typedef struct packed {
    logic     busy;
    logic     saturated;
    logic     unit_ready;
    ordinal_t oldest;
    logic [COUNT_W-1:0] count;
    logic [63:0] counter;
  } from_pu_t;

  // Position of the lowest set bit, or 0.
  function automatic pos_t first_of(input mask_t mask);
    first_of = '0;
    for (int j = DEPTH - 1; j >= 0; j--) if (mask[j]) first_of = pos_t'(j);
  endfunction

  // First entry and limit of a line's entries in the list [lo, hi).
  function automatic logic [SPOT_W-1:0] first_in(input eline_t line, input edge_t lo);
    return lo[EDGE_W-1:4] == line ? lo[3:0] : '0;
  endfunction

  function automatic logic [SPOT_W:0] limit_in(input eline_t line, input edge_t hi);
    return hi[EDGE_W-1:4] == line ? {1'b0, hi[3:0]} : (SPOT_W+1)'(IDS);
  endfunction

  // Converts between line order and walk order.
  function automatic logic [IDS-1:0] walked(input logic down, input logic [IDS-1:0] entries);
    for (int e = 0; e < IDS; e++) walked[e] = down ? entries[IDS - 1 - e] : entries[e];
  endfunction

  // The first set entry alone.
  function automatic logic [IDS-1:0] first_entry(input logic [IDS-1:0] entries);
    logic [IDS-1:0] below;
    below = entries << 1;
    for (int step = 1; step < IDS; step *= 2) below |= below << step;
    return entries & ~below;
  endfunction

  // Its position in the line, or 0; and the position after it.
  function automatic logic [SPOT_W-1:0] spot_of(input logic [IDS-1:0] one);
    spot_of = '0;
    for (int e = 0; e < IDS; e++) if (one[e]) spot_of |= SPOT_W'(e);
  endfunction

  function automatic logic [SPOT_W:0] after(input logic [IDS-1:0] one);
    after = '0;
    for (int e = 0; e < IDS; e++) if (one[e]) after |= (SPOT_W+1)'(e + 1);
  endfunction

  // Whether `a` lies beyond `b` in the order of comparison.
  function automatic logic beyond(input logic ascending, input id_t a, input id_t b);
    return ascending ? a > b : a < b;
  endfunction

  localparam logic [31:0] STATUS_DONE    = 32'd0; // every unit was explored
  localparam logic [31:0] STATUS_FULL    = 32'd1; // the records don't fit
  localparam logic [31:0] STATUS_ABORTED = 32'd2; // the host set the abort word
  localparam logic [31:0] STATUS_ERROR   = 32'd3; // a read was answered with an error
  localparam logic [31:0] STATUS_REFUSED = 32'd4; // an argument is out of range; no run
  localparam logic [31:0] STATUS_CUT     = 32'd5; // the in-stream had no last beat

  // Cycles without a beat after which the in-stream has lost its last one: 1.3 ms at 200 MHz. A power of two.
  localparam int unsigned STREAM_WAIT = 1 << 18;

endpackage

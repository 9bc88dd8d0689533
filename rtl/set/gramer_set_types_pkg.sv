// What the modules of the set core pass on to each other, and what does not depend on the machine: the
// graph image's lines and entries, and the sizes of a list that fits into the list buffer.
package gramer_set_types_pkg;

  localparam int unsigned LINE_W     = 512; // one line: 16 entries
  localparam int unsigned LANES      = 16;  // entries of a line
  localparam int unsigned ENTRY_W    = 32;
  localparam int unsigned QUARTER    = 4;   // entries of a quarter-line
  localparam int unsigned ID_W       = 26;  // a vertex' id is the quarter-line where its list begins
  localparam int unsigned QUARTERS_W = 6;   // quarter-lines to read for it
  localparam int unsigned LINE_AT_W  = ID_W - 2; // a line of the image
  localparam int unsigned LIST_LINES = 32;  // of the longest list in the list buffer
  localparam int unsigned LLINE_W    = 5;
  localparam int unsigned MEMBERS    = LIST_LINES * LANES; // its entries, and columns of a row
  localparam int unsigned MEMBER_W   = 9;
  localparam int unsigned SETS_K_W   = 5;   // vertices of an embedding: 3 to 16
  localparam int unsigned PLANS      = 4;
  localparam int unsigned PLAN_W     = 2;
  localparam int unsigned SUMS       = 8;
  localparam int unsigned SUM_W      = 3;
  localparam int unsigned CONTEXTS   = 16;  // roots whose rows are in the row memory
  localparam int unsigned CONTEXT_W  = 4;
  localparam int unsigned ROW_BANKS  = 8;   // sub-banks of the row memory, a word each
  localparam int unsigned WORD_W     = 64;
  localparam int unsigned ROW_WORDS  = 512; // of a sub-bank
  localparam int unsigned ROW_AT_W   = 9;
  localparam int unsigned CLASS_W    = 2;   // a row has 1 << class words

  typedef logic [LINE_W-1:0]     line_t;
  typedef logic [ID_W-1:0]       id_t;
  typedef logic [LINE_AT_W-1:0]  line_at_t;
  typedef logic [MEMBER_W-1:0]   member_t;
  typedef logic [LLINE_W-1:0]    lline_t;
  typedef logic [LANES-1:0]      lanes_t;
  typedef logic [MEMBERS-1:0]    set_t;  // members of a list, by position
  typedef logic [WORD_W-1:0]     word_t;
  typedef logic [CONTEXT_W-1:0]  context_t;
  typedef logic [ROW_AT_W-1:0]   row_at_t;
  typedef logic [CLASS_W-1:0]    class_t;
  typedef logic [SETS_K_W-1:0]   k_t;
  typedef logic [SUM_W-1:0]      sum_t;

  // An entry of a list.
  typedef struct packed {
    logic [QUARTERS_W-1:0] quarters;
    id_t                   id;
  } entry_t;

  // A work unit as it comes in the in-stream: a root's list, and which of its members count.
  typedef struct packed {
    logic [11:0]       last;
    logic [11:0]       first;
    logic [PLAN_W-1:0] plan;
    logic [11:0]       quarters;
    id_t               address; // in quarter-lines
  } unit_t;

  // What is done with a unit.
  typedef struct packed {
    k_t   k;
    sum_t sum; // that it is added to
  } plan_t;

  // What goes with a line from its request to its use. The lanes of quarters [low, high] belong to
  // the list.
  typedef struct packed {
    logic       load;        // a line of a root's list; else of a member's
    logic       none;        // no line: the unit ends here
    logic [1:0] low;
    logic [1:0] high;
    lline_t     at;          // load: line of the list
    member_t    member;      // else: the member's position
    logic       last;        // load: of the list; else: of the member's list
    logic       unit_last;   // the last one of the unit
  } meta_t;

  // What is known of the list in a slot of the list buffer.
  typedef struct packed {
    plan_t      plan;
    logic [1:0] low;   // first quarter in its first line
    logic [1:0] high;  // last quarter in its last line
    lline_t     last;  // last line
    logic [11:0] first_member; // whose embeddings count
    logic [11:0] last_member;
  } list_t;

  // A root whose rows are, or will be, in the row memory.
  typedef struct packed {
    row_at_t base;
    class_t  size;
    lline_t  last; // last line of the list
    k_t      k;
    sum_t    sum;
  } root_t;

  // One step of the intersector: a streamed line against a held one.
  typedef struct packed {
    logic    compare;     // there are lines to compare
    lanes_t  held;        // lanes that belong to the list
    lanes_t  streamed;
    lline_t  at;          // the held line
    member_t member;      // whose list is streamed
    logic    counts;      // the member's embeddings count
    logic    member_last; // last step of its list
    logic    unit_last;   // last step of the unit
    context_t place;
    root_t   root;
  } step_t;

  // Words of 64 columns that a list of lines 0 to `last` needs, as a power of two.
  function automatic class_t class_of(input lline_t last);
    return last[4] ? 2'd3 : last[3] ? 2'd2 : last[2] ? 2'd1 : 2'd0;
  endfunction

  // Words of each sub-bank that its rows take.
  function automatic logic [ROW_AT_W:0] words_of(input lline_t last, input class_t size);
    return {4'b0, ({1'b0, last} + 6'd1)} << (3'd1 + {1'b0, size});
  endfunction

  // Where row `member` begins: the word, after `base`, of sub-banks group << size and up.
  function automatic row_at_t row_word(input row_at_t base, input class_t size, input member_t member);
    return base + row_at_t'(member >> (3 - 32'(size)));
  endfunction

  function automatic logic [2:0] row_group(input class_t size, input member_t member);
    return member[2:0] & (3'd7 >> size);
  endfunction

  // Vertices that a set needs for an embedding of k: a triangle is counted without sets.
  localparam k_t TRIANGLE = 5'd3;

  // Lanes that belong to quarters [low, high] of a line.
  function automatic lanes_t lanes_of(input logic [1:0] low, input logic [1:0] high);
    lanes_t lanes;
    for (int unsigned q = 0; q < 4; q++)
      lanes[q*QUARTER +: QUARTER] = {QUARTER{2'(q) >= low && 2'(q) <= high}};
    return lanes;
  endfunction

endpackage

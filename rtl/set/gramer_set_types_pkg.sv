// Messages between the modules of the set core, and constants independent of the machine: lines and entries of the
// graph image, and the size of a list in the list buffer.
package gramer_set_types_pkg;

  import gramer_set_pkg::*;

  localparam int unsigned LANES      = LINE_ENTRIES;
  localparam int unsigned QUARTER    = QUARTER_ENTRIES;
  // Bits in which ids differ: ids are below the number of quarter-lines in the partitions.
  localparam int unsigned PLACED_ID_W = $clog2(PARTITIONS * PARTITION_LINES * LINE_QUARTERS);
  // Bits of an id on chip: those, and the highest bit, which only padding has set. The image for wedges uses
  // the others for other fields.
  localparam int unsigned KEPT_ID_W
    = REACHED == 0 && PLACED_ID_W + 1 < ID_W ? PLACED_ID_W + 1 : ID_W;
  localparam int unsigned ENTRY_W    = KEPT_ID_W + SIZE_W;
  localparam int unsigned RANGE_W    = 12; // of a unit's range
  // Line address; at least wide enough for the maximum of lines of a unit, however small the partitions are.
  localparam int unsigned LINE_AT_W  = PLACED_ID_W > RANGE_W ? PLACED_ID_W - 2 : RANGE_W - 1;
  localparam int unsigned SLOT_W     = $clog2(LISTS);
  localparam int unsigned LLINE_W    = $clog2(LIST_LINES);
  localparam int unsigned MEMBERS    = LIST_LINES * LANES; // columns of a row
  localparam int unsigned MEMBER_W   = $clog2(MEMBERS);
  localparam int unsigned K_W        = $clog2(K_MOST + 1);
  localparam int unsigned PLAN_W     = $clog2(PLANS);
  localparam int unsigned SUM_AT_W   = $clog2(SUMS + PRODUCTS);
  localparam int unsigned PLACES     = 16; // roots with rows in the row memory
  // Cycles without a beat after which the in-stream has lost its last one: 1.3 ms at 200 MHz. A power of two.
  localparam int unsigned STREAM_WAIT = 1 << 18;
  localparam int unsigned PLACE_W    = $clog2(PLACES);
  localparam int unsigned WORD_W     = 64; // columns in a word of a row
  localparam int unsigned SET_WORDS  = MEMBERS / WORD_W; // maximum of words of a row
  localparam int unsigned SET_WORD_W = SET_WORDS > 1 ? $clog2(SET_WORDS) : 1;
  localparam int unsigned WORD_GROUPS  = 8; // of a word's members, by the low bits of their places
  localparam int unsigned WORD_PLACES  = WORD_W / WORD_GROUPS;
  localparam int unsigned WORD_PLACE_W = $clog2(WORD_PLACES);
  localparam int unsigned SIXES      = (WORD_W + 5) / 6; // groups of six columns of a word
  localparam int unsigned COUNTER_W  = 48; // of an event counter: over two weeks at 200 MHz
  localparam int unsigned MADE_SETS  = 32; // capacity for sets that wait for the counter
  localparam int unsigned ROW_AT_W   = $clog2(ROW_WORDS);

  localparam int unsigned MAP_AT_W   = $clog2(MAP_WORDS * MAP_ENTRIES); // an entry of a bank
  localparam int unsigned MAP_ID_W   = MAP_AT_W + $clog2(MAP_BANKS);
  localparam int unsigned LEVEL_W    = 17; // a counter of the map, above its root's level
  localparam int unsigned MAP_DEGREE_W = 20; // degree of a vertex, segmented ones included

  // A partition's memory has two ports, each for half of the PUs; a PU has a path from each half of the partitions.
  localparam int unsigned PORTS    = PUS > 1 ? 2 : 1;
  localparam int unsigned PORT_PUS = PUS / PORTS;
  localparam int unsigned SIDES    = PARTITIONS > 1 ? 2 : 1;
  localparam int unsigned SIDE_PARTITIONS = PARTITIONS / SIDES;
  // Turns of a round: each PU of a half meets each partition of a half once.
  localparam int unsigned TURNS    = PORT_PUS > SIDE_PARTITIONS ? PORT_PUS : SIDE_PARTITIONS;
  localparam int unsigned TURN_W   = TURNS > 1 ? $clog2(TURNS) : 1;

  // Search plans. (Unused on a machine without plans.)
  localparam int unsigned PLACED     = PLAN_LEVELS > 2 ? PLAN_LEVELS : 2; // vertices with an image
  localparam int unsigned LEVEL_AT_W = 3;
  localparam int unsigned SET_W      = $clog2(PLAN_SETS);
  localparam int unsigned PLAN_AT_W  = $clog2(PLAN_LABELS + PLAN_WORDS); // labels, then words
  localparam int unsigned LABEL_AT_W = $clog2(PLAN_LABELS);
  localparam int unsigned SET_AT_W   = SLOT_W + LLINE_W; // a line of the memory for sets
  localparam int unsigned SET_LINES  = 1 << SET_AT_W;
  localparam int unsigned PLAN_WALKER_W = PLAN_WALKERS > 1 ? $clog2(PLAN_WALKERS) : 1;
  localparam int unsigned PARTS_W    = 2; // log2 of its parts, one per walker

  // Wedges: paths of two edges from a root. (Unused on a machine without noted ends.)
  localparam int unsigned NOTED_W    = REACHED > 1 ? $clog2(REACHED) : 1;
  localparam int unsigned BANK_AT_W  = MAP_BANKS > 1 ? $clog2(MAP_BANKS) : 1;
  localparam int unsigned WEDGE_UNITS = 8; // units in progress in a PU

  typedef logic [LINE_W-1:0]     beat_t; // of a stream, or a line as it lies in DDR
  typedef logic [LANES*ENTRY_W-1:0] line_t; // on chip
  typedef logic [ID_W-1:0]       address_t; // id of the in-stream
  typedef logic [KEPT_ID_W-1:0]  id_t;
  typedef logic [PLACED_ID_W-1:0] placed_t; // id, not padding
  typedef logic [LINE_AT_W-1:0]  line_at_t;
  typedef logic [TURN_W-1:0]     turn_t;
  typedef logic [$clog2(ANSWERS)-1:0] answer_at_t; // buffer index of a PU's request
  typedef logic [MEMBER_W-1:0]   member_t;
  typedef logic [LLINE_W-1:0]    lline_t;
  typedef logic [LANES-1:0]      lanes_t;
  typedef logic [MEMBERS-1:0]    set_t;  // members of a list, by position
  typedef logic [WORD_W-1:0]     word_t;
  typedef logic [SET_WORDS-1:0]  words_t; // words of a row or a set, a bit for each
  typedef logic [SET_WORD_W-1:0] word_at_t;
  typedef logic [PLACE_W-1:0]    place_t;   // of a root in the row memory
  typedef logic [ROW_AT_W-1:0]   row_at_t;
  typedef logic [1:0]            class_t;   // a row has 1 << class words
  typedef logic [K_W-1:0]        k_t;
  typedef logic [PLAN_W-1:0]     clique_sum_t; // one of the first sums
  typedef logic [COUNTER_W-1:0]  counter_t;
  typedef logic [SLOT_W-1:0]     slot_t;    // of the list buffer

  typedef logic [MAP_AT_W-1:0]   map_at_t;
  typedef logic [LEVEL_W-1:0]    level_t;

  // Entry of a list.
  typedef struct packed {
    logic [SIZE_W-1:0] size; // quarter-lines to read
    id_t               id;
  } entry_t;

  // Work unit of the in-stream: a root's list, and the range of members that count.
  typedef struct packed {
    logic [RANGE_W-1:0] last; // exclusive
    logic [RANGE_W-1:0] first;
    logic [PLAN_W-1:0]  plan;
    logic [RANGE_W-1:0] quarters; // 0: no unit
    address_t           address;
  } unit_t;

  // Operation of a unit.
  typedef struct packed {
    clique_sum_t sum;     // cliques are added to it
    k_t         k;
    logic [3:0] operation;
  } plan_t;

  // Word of a search plan, in the layout of the in-stream.
  typedef struct packed {
    logic [1:0]       term;       // count: TERM_SUM and so on
    logic [LABEL_AT_W-1:0] label; // label of the members
    logic [6:0]       conflicts;  // vertices whose images are excluded
    logic [6:0]       bounds;     // vertices whose images are above all members
    logic [SET_W-1:0] to;         // make: the resulting set
    logic [SET_W-1:0] from;       // the stored set
    logic [2:0]       of;         // vertex; the list of its image is streamed
    logic             streams;    // a list is streamed
    logic             stored;     // there is a stored set
    logic             pairs;      // count: pairs of members; list: records take a beat
    logic             difference; // both: members outside the list; otherwise members in it
    logic [1:0]       kind;
  } plan_word_t;

  // Use of a word's count.
  localparam logic [1:0] TERM_SUM    = 2'd0; // added to the sum
  localparam logic [1:0] TERM_FIRST  = 2'd1; // stored; the next word follows
  localparam logic [1:0] TERM_SECOND = 2'd2; // stored; the next word follows
  localparam logic [1:0] TERM_LAST   = 2'd3; // the product of the stored two less this one is added

  // Range of the ids of vertices with a label, in the layout of the in-stream.
  typedef struct packed {
    address_t high; // exclusive
    address_t low;
  } label_range_t;

  // Either of the two, in the low bits.
  localparam int unsigned PLAN_BITS = $bits(label_range_t) > $bits(plan_word_t)
                                      ? $bits(label_range_t) : $bits(plan_word_t);
  typedef logic [PLAN_BITS-1:0] plan_bits_t;

  typedef logic [SET_AT_W-1:0]   set_at_t;  // a line of the memory for sets
  typedef logic [SET_AT_W:0]     set_end_t; // or the one after the last
  typedef logic [LEVEL_AT_W-1:0] level_at_t;
  typedef logic [PLAN_WALKER_W-1:0] plan_walker_t; // of a PU
  typedef logic [PARTS_W-1:0]    parts_t;
  typedef logic [PLACED-1:0][KEPT_ID_W-1:0] images_t; // images of the vertices

  // A listed embedding: the image of the last vertex, then the others in order.
  typedef struct packed {
    logic wide; // it takes a whole beat
    logic [PLACED:0][KEPT_ID_W-1:0] ids;
  } record_t;

  // Operation: make, count or list a set, or read a line of candidates.
  typedef struct packed {
    plan_walker_t    walker; // owner of the set
    plan_word_t word;
    set_at_t    at;     // walk: the line
    entry_t     source; // entry of the streamed list
    id_t        low;    // lower bound, inclusive
    id_t        limit;  // upper bound, exclusive
    images_t    images; // excluded ids; all ones: none
  } set_op_t;

  // Fields of an operation that a step of two lines needs.
  typedef struct packed {
    plan_walker_t          walker;
    logic [1:0]       kind;
    logic [SET_W-1:0] to;
    logic             pairs;
    logic             kept;    // count: passed on once complete
    logic             meet;    // members are the matches; otherwise the mismatches
    logic             compare; // the step has two lines
    logic             copy;    // the members come from the streamed line
    logic             emit;    // last step of a stored line, or of a copied streamed one
    id_t              low;
    id_t              limit;
    images_t          images;
  } plan_step_t;

  // End of a stored or listed set, or of one counted at its end.
  typedef struct packed {
    plan_walker_t     walker;
    logic [1:0]       kind;
    logic [1:0]       term;
    logic [SET_W-1:0] to;
  } plan_end_t;

  // Use of a merger cycle.
  typedef struct packed {
    logic line; // waiting for a line of a list
    logic pass; // a line without members, or the end of a set
    logic step;
  } plan_events_t;

  // A stored set.
  typedef struct packed {
    id_t      first_max; // last id of its first line
    set_end_t lines;
    set_at_t  base;
  } stored_t;

  // Metadata of a line, from its request to its use. The lanes of quarters [low, high] belong to the list.
  typedef struct packed {
    logic       load;        // line of a root's list; otherwise of a member's
    logic       lengths;     // line with the lengths of a block in its last quarter
    logic       mark;        // line of the root's block, to mark in the map
    logic       none;        // marker without a line: the unit ends
    logic [1:0] low;
    logic [1:0] high;
    lline_t     at;          // load: line of the list
    member_t    member;      // otherwise: the member's position
    logic       last;        // load: of the list; otherwise of the member's list
    logic       slot_last;   // last line of a slot of the list buffer
  } meta_t;

  // Descriptor of the list in a slot of the list buffer.
  typedef struct packed {
    k_t         k;
    clique_sum_t sum;
    logic [1:0] low;  // first quarter in its first line
    logic [1:0] high; // last quarter in its last line
    lline_t     last; // last line
    logic [RANGE_W:0] range_first; // members that count, by their lanes from the first line's first
    logic [RANGE_W:0] range_last;  // exclusive
    logic       mapped; // for the map instead of the intersector
    logic       counts; // paths: the map counts
    logic       begins; // the first part of a root's block
    logic       more;   // a further part follows in the next slot
    placed_t    root;
    line_at_t   block_last; // last line of the block, from its first
    logic [1:0] block_high; // last quarter in it
  } list_t;

  typedef logic [WEDGE_UP_W-1:0] up_t;      // size of a list before a vertex, in the image for wedges
  typedef logic [BANK_AT_W-1:0]  bank_at_t; // a bank of the map

  // Purpose of a line of wedges, in addition to the fields of every line of the map.
  typedef struct packed {
    logic     meets;       // 5-motifs: the line has the set's first vertex
    logic     first;       // 5-motifs: the middle vertex comes before the two others
    logic     fresh;       // 5-motifs: first line of a tagged list
    logic     tags;        // 5-motifs: tag the entries; otherwise look them up
    logic     triples;     // 5-motifs
    logic     is;          // a line of wedges; otherwise all fields are 0
    logic     five_cycles; // 5-cycles; otherwise houses
    logic     silent;      // triangles are not counted
    logic     keep;        // second pass: counters are read without change
    logic     note;        // entries counted for the first time are noted as reached
    logic     row_last;    // the list of the last vertex of a row
    logic     parity;      // of that row
    bank_at_t bank;        // of the vertex
  } wedge_t;

  // Connected set of three vertices, b adjacent to a and c: numbers of neighbours and common neighbours, including
  // those in the set.
  typedef logic [NEAR_W-1:0] near_t;
  typedef struct packed {
    logic  triangle; // a and c are neighbours
    near_t a;
    near_t b;
    near_t c;
    near_t ab;
    near_t bc;
    near_t ac;
    near_t abc;
  } triple_t;

  // Root of wedges, from its unit.
  typedef struct packed {
    logic [RANGE_W-1:0] last;
    logic [RANGE_W-1:0] first;
    logic [SIZE_W-1:0]  size;
    id_t                id;
  } root_unit_t;

  // Root with rows, complete or not, in the row memory.
  typedef struct packed {
    row_at_t base;
    class_t  size;
    lline_t  last; // last line of the list
    k_t      k;
    clique_sum_t sum; // of its cliques
  } root_t;

  // Word of the masks of a root's members, while its rows arrive: members with a row, with at least two entries
  // in it, and with enough for an embedding that counts. A repeated word replaces the previous one.
  typedef struct packed {
    logic     valid;
    word_at_t at;
    word_t    rows;
    word_t    walked;
    word_t    first;
  } mask_t;

  // Step of the intersector: a streamed line against a held one.
  typedef struct packed {
    logic    compare;     // the step compares lines
    lanes_t  held;        // lanes that belong to the list
    lanes_t  streamed;
    lline_t  at;          // the held line
    member_t member;      // owner of the streamed list
    logic    counts;      // the member's embeddings count
    logic    member_last; // last step of its list
    logic    unit_last;   // last step of the unit
    place_t  place;
    root_t   root;
  } step_t;

  // On-chip form of an id: only padding has the highest bit set.
  function automatic id_t kept_id(input address_t id);
    return KEPT_ID_W < ID_W ? {id[ID_W-1], (KEPT_ID_W-1)'(id)} : id_t'(id);
  endfunction

  // On-chip form of a line of the image.
  function automatic line_t kept_line(input beat_t line);
    logic [LANES-1:0][ID_W+SIZE_W-1:0] entry;
    logic [LANES-1:0][ENTRY_W-1:0]     kept;
    entry = ($bits(entry))'(line);
    for (int unsigned l = 0; l < LANES; l++)
      kept[l] = ENTRY_W'({entry[l][ID_W +: SIZE_W], kept_id(address_t'(entry[l][ID_W-1:0]))});
    return line_t'(kept);
  endfunction

  // On-chip form of an upper bound: a bound above all placed ids stays above all.
  function automatic id_t kept_limit(input address_t limit);
    return KEPT_ID_W < ID_W && (limit >> (KEPT_ID_W - 1)) != '0 ? '1 : id_t'(limit);
  endfunction

  // First line of a block.
  function automatic line_at_t line_of(input id_t id);
    return line_at_t'(id >> $clog2(LINE_QUARTERS));
  endfunction

  // In the images for plans and wedges, sizes are quarter-lines up to 31; larger ones are rounded, and their lists
  // line-aligned. Returns the lines of a list after its first one, and the last quarter of its last line.
  function automatic line_at_t more_lines(input logic [SIZE_W-1:0] size, input logic [1:0] low);
    logic [SIZE_W:0] last, lines;
    last  = (SIZE_W+1)'(low) + (SIZE_W+1)'(size) - 1'b1;
    lines = last >> 2;
    return size >= SIZE_W'(SIZE_ROUNDED)
           ? (line_at_t'({1'b1, 2'(size)}) << (4'd1 + 4'(3'(size >> 2)))) - 1'b1
           : line_at_t'(lines);
  endfunction

  function automatic logic [1:0] quarter_at_end(input logic [SIZE_W-1:0] size,
                                              input logic [1:0] low);
    logic [SIZE_W:0] last;
    last = (SIZE_W+1)'(low) + (SIZE_W+1)'(size) - 1'b1;
    return size >= SIZE_W'(SIZE_ROUNDED) ? '1 : 2'(last);
  endfunction

  // Words of 64 columns for a list of lines 0 to `last`, as a power of two.
  function automatic class_t class_of(input lline_t last);
    class_t size;
    size = '0;
    for (int unsigned c = 0; c + 2 < LLINE_W; c++) if (last[c + 2]) size = class_t'(c + 1);
    return size;
  endfunction

  // Words of each sub-bank taken by its rows.
  function automatic logic [ROW_AT_W:0] words_of(input lline_t last, input class_t size);
    return ((ROW_AT_W+1)'(last) + 1'b1) << (3'd1 + {1'b0, size});
  endfunction

  // First word of row `member`: relative to `base`, in sub-banks group << size and up.
  function automatic row_at_t row_word(input row_at_t base, input class_t size,
                                       input member_t member);
    return base + row_at_t'(32'(member) >> (3 - 32'(size)));
  endfunction

  function automatic logic [2:0] row_group(input class_t size, input member_t member);
    return member[2:0] & (3'd7 >> size);
  endfunction

  // Popcount of six vectors, columnwise: three bits each, every one a 6-input LUT. From a plain sum synthesis builds
  // adder chains with more LUTs.
  function automatic logic [2:0][SIXES-1:0] ones_of6(
    input logic [SIXES-1:0] a, input logic [SIXES-1:0] b, input logic [SIXES-1:0] c,
    input logic [SIXES-1:0] d, input logic [SIXES-1:0] e, input logic [SIXES-1:0] f);
    logic [SIXES-1:0] low, high, low_two, high_two, carry;
    low      = a ^ b ^ c;
    low_two  = (a & b) | ((a | b) & c);
    high     = d ^ e ^ f;
    high_two = (d & e) | ((d | e) & f);
    carry    = low & high;
    return {(low_two & high_two) | ((low_two | high_two) & carry), low_two ^ high_two ^ carry,
            low ^ high};
  endfunction

  // Popcount of a word.
  function automatic logic [$clog2(WORD_W):0] ones_of_word(input word_t bits);
    localparam int unsigned TWELFTH = (SIXES + 5) / 6;
    logic [6*SIXES-1:0]      wide;
    logic [2:0][SIXES-1:0]   sixes;
    logic [$clog2(WORD_W):0] ones;
    wide  = (6*SIXES)'(bits);
    sixes = ones_of6(wide[0 +: SIXES], wide[SIXES +: SIXES], wide[2*SIXES +: SIXES],
                     wide[3*SIXES +: SIXES],
                     wide[4*SIXES +: SIXES], wide[5*SIXES +: SIXES]);
    ones  = '0;
    for (int unsigned k = 0; k < 3; k++) begin
      logic [6*TWELFTH-1:0]  next;
      logic [2:0][SIXES-1:0] twelfths;
      next     = (6*TWELFTH)'(sixes[k]);
      twelfths = ones_of6(SIXES'(next[0 +: TWELFTH]), SIXES'(next[TWELFTH +: TWELFTH]),
                          SIXES'(next[2*TWELFTH +: TWELFTH]), SIXES'(next[3*TWELFTH +: TWELFTH]),
                          SIXES'(next[4*TWELFTH +: TWELFTH]), SIXES'(next[5*TWELFTH +: TWELFTH]));
      for (int unsigned t = 0; t < TWELFTH; t++)
        ones += ($clog2(WORD_W)+1)'({twelfths[2][t], twelfths[1][t], twelfths[0][t]}) << k;
    end
    return ones;
  endfunction

  // Whether at least two bits are set, by recursive halving: each half has one bit, or several.
  function automatic logic several(input word_t bits);
    word_t some, more;
    some = bits;
    more = '0;
    for (int unsigned half = WORD_W / 2; half > 0; half /= 2) begin
      more = more | (more >> half) | (some & (some >> half));
      some = some | (some >> half);
    end
    return more[0];
  endfunction

  // Clears the lowest set bit. As LUTs, since a subtraction takes a LUT per bit before its carry chain and another
  // one behind it. Works on groups of eight bits, with everything below a group reduced to one bit.
  function automatic word_t without_lowest(input word_t bits);
    localparam int unsigned GROUP = 8;
    word_t less;
    logic  below_group, below;
    less        = '0;
    below_group = 1'b0;
    for (int unsigned group = 0; group < WORD_W; group += GROUP) begin
      below = 1'b0;
      for (int unsigned bit_at = group; bit_at < group + GROUP; bit_at++) begin
        less[bit_at] = bits[bit_at] && (below_group || below);
        below        = below || bits[bit_at];
      end
      below_group = below_group || bits[group +: GROUP] != '0;
    end
    return less;
  endfunction

  // Word of a row or set for a sub-bank: its words repeat over the sub-banks.
  function automatic word_t word_for(input logic [MEMBERS-1:0] row, input class_t size,
                                     input int unsigned bank);
    unique case (size)
      2'd0: return row[0 +: WORD_W];
      2'd1: return row[bank % 2 % SET_WORDS * WORD_W +: WORD_W];
      2'd2: return row[bank % 4 % SET_WORDS * WORD_W +: WORD_W];
      default: return row[bank % SET_WORDS * WORD_W +: WORD_W];
    endcase
  endfunction

  // Size of a triangle, which is counted without sets.
  localparam k_t TRIANGLE = 5'd3;

  // Whether an id is padding. Ids of vertices leave the highest bit clear.
  function automatic logic is_padding(input id_t id);
    return PLACED_ID_W < KEPT_ID_W ? id[KEPT_ID_W-1] : id == '1;
  endfunction

  // Lanes whose index has a bit set.
  function automatic lanes_t lanes_with(input int unsigned number);
    lanes_t lanes;
    for (int unsigned l = 0; l < LANES; l++) lanes[l] = (l >> number & 1) != 0;
    return lanes;
  endfunction

  // Lanes that belong to quarters [low, high] of a line.
  function automatic lanes_t lanes_of(input logic [1:0] low, input logic [1:0] high);
    lanes_t lanes;
    for (int unsigned q = 0; q < LINE_QUARTERS; q++)
      lanes[q*QUARTER +: QUARTER] = {QUARTER{2'(q) >= low && 2'(q) <= high}};
    return lanes;
  endfunction

  // Lanes of an arrived line that are entries of the requested list.
  function automatic lanes_t entries_of(input line_t line, input meta_t meta);
    lanes_t lanes;
    for (int l = 0; l < LANES; l++)
      lanes[l] = !meta.none && !is_padding(id_t'(line >> (l * ENTRY_W)))
                 && 2'(l / QUARTER) >= meta.low && 2'(l / QUARTER) <= meta.high;
    return lanes;
  endfunction

endpackage

// What comes from the memory, in order. Lines of roots' lists go into the list buffer. A line of a
// member's list is compared with each line of the root's list whose range it overlaps, one a
// cycle; one that overlaps none takes a cycle too. The ranges are told from the last entries of the held
// lines, eight lines at a time.
//
//   line ─► lanes ─► first, last id ─► overlaps ─► steps ─► read of the held line ─► intersector
//
// A unit's first step waits until its rows have a place in the row memory, a ring whose roots
// are freed in order. Triangles need none.
module gramer_set_stepper
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  // Lines of the image
  input  logic   valid_i,
  output logic   ready_o,
  input  line_t  line_i,
  input  meta_t  meta_i,
  // The list of each slot, written before its lines come
  input  logic   list_write_i, // what is known of one, before its first line
  input  slot_t  list_slot_i,
  input  list_t  list_i,
  // List buffer
  output logic   write_o,
  output slot_t  write_slot_o,
  output lline_t write_at_o,
  output line_t  write_line_o,
  output logic   loaded_o, // pulse: the list that is written is complete
  // Lengths of a block
  output logic   lengths_valid_o,
  output logic   lengths_load_o, // for a root's block
  output logic [31:0] lengths_up_o,
  output logic [31:0] lengths_block_o,
  // Map: lines of roots' blocks and of their members' blocks
  output logic   map_valid_o,
  input  logic   map_ready_i,
  output line_t  map_line_o,
  output lanes_t map_lanes_o,
  output meta_t  map_meta_o,
  output list_t  map_list_o,
  output logic   read_o,
  output slot_t  read_slot_o,
  output lline_t read_at_o,
  output logic   freed_o,  // pulse: the oldest list is not needed any more
  // Intersector: with the held line
  output logic   step_valid_o,
  output step_t  step_o,
  output line_t  streamed_o,
  // Roots that left the row memory
  input  logic   root_freed_i,
  input  logic [ROW_AT_W:0] root_words_i,
  output logic   busy_o
);

  localparam int unsigned WINDOW   = 8; // held lines whose ranges are looked at in a cycle
  localparam int unsigned WINDOWS  = LIST_LINES / WINDOW;
  localparam int unsigned WINDOW_W = $clog2(WINDOWS);

  logic a_valid_q, b_valid_q, c_valid_q, d_valid_q;
  logic a_ready, b_ready, d_ready, d_waits;
  // Kept as they are, each a table before that of ready_o: what comes behind it is long, and a tool that maps
  // this module alone doesn't know it.
  (* keep = "true" *) logic c_ready, b_goes, b_asks; // whatever c does; if c takes what b gives

  // ---------------------------------------------------------------- a: which lanes hold entries

  line_t  a_line_q;
  meta_t  a_meta_q;
  lanes_t a_lanes_q;

  assign ready_o = !(a_valid_q && b_valid_q && !b_goes && !(b_asks && c_ready));

  always_ff @(posedge clk_i) begin
    if (rst_i) a_valid_q <= 1'b0;
    else if (ready_o) a_valid_q <= valid_i;
    if (ready_o && valid_i) begin
      a_line_q <= line_i;
      a_meta_q <= meta_i;
      a_lanes_q <= entries_of(line_i, meta_i);
    end
  end

  // ---------------------------------------------------------------- b: first and last id

  logic a_aside, b_aside, b_map, b_emits, b_last, map_taken;

  // The lanes in use follow each other.
  placed_t           a_lowest, a_highest;
  line_t             b_line_q;
  meta_t             b_meta_q;
  lanes_t            b_lanes_q;
  placed_t           b_low_q, b_high_q;
  slot_t             load_slot_q, a_slot_q, b_slot_q;
  list_t             b_list_q; // the list in that slot
  logic [WINDOW_W-1:0] b_window_q;

  always_comb begin
    a_lowest  = a_line_q[32'(a_meta_q.low)*QUARTER*ENTRY_W +: PLACED_ID_W];
    a_highest = '0;
    for (int l = 0; l < LANES; l++)
      if (a_lanes_q[l] && (l == LANES - 1 || !a_lanes_q[(l + 1) % LANES]))
        a_highest |= a_line_q[l*ENTRY_W +: PLACED_ID_W];
  end

  (* ram_style = "distributed" *) list_t lists [LISTS];

  always_ff @(posedge clk_i) if (list_write_i) lists[list_slot_i] <= list_i;

  assign a_aside = a_meta_q.load || a_meta_q.lengths;
  assign a_ready = !b_valid_q || b_ready;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      b_valid_q <= 1'b0;
      a_slot_q  <= '0;
    end else if (a_ready) begin
      b_valid_q <= a_valid_q;
      if (a_valid_q && !a_aside && a_meta_q.slot_last) a_slot_q <= a_slot_q + 1'b1;
    end
    if (a_ready) begin
      if (a_valid_q) begin
        b_line_q   <= a_line_q;
        b_meta_q   <= a_meta_q;
        b_lanes_q  <= a_lanes_q;
        b_low_q    <= a_lowest;
        b_high_q   <= a_highest;
        b_window_q <= '0;
        b_slot_q   <= a_slot_q;
        b_list_q   <= lists[a_slot_q];
      end
    end else if (b_emits && !b_last) b_window_q <= b_window_q + 1'b1;
  end

  // ---------------------------------------------------------------- lines of lists

  assign write_o      = b_valid_q && b_meta_q.load && !b_meta_q.lengths;
  assign write_slot_o = load_slot_q;
  assign write_at_o   = b_meta_q.at;
  assign write_line_o = b_line_q;

  // Last id of each held line, and of the line before a window.
  (* ram_style = "distributed" *) placed_t previous [LISTS*WINDOWS];
  placed_t window_max [WINDOW];
  placed_t before_max;

  for (genvar x = 0; x < WINDOW; x++) begin : gen_max
    (* ram_style = "distributed" *) placed_t mem [LISTS*WINDOWS];
    always_ff @(posedge clk_i)
      if (write_o && b_meta_q.at[2:0] == 3'(x)) mem[{load_slot_q, b_meta_q.at[4:3]}] <= b_high_q;
    assign window_max[x] = mem[{b_slot_q, b_window_q}];
  end

  always_ff @(posedge clk_i) begin
    lengths_valid_o <= !rst_i && b_valid_q && b_meta_q.lengths;
    lengths_load_o  <= b_meta_q.load;
    lengths_block_o <= b_line_q[((LINE_QUARTERS-1)*QUARTER + LENGTH_BLOCK)*ENTRY_W +: ENTRY_W];
    lengths_up_o    <= b_line_q[((LINE_QUARTERS-1)*QUARTER + LENGTH_UP)*ENTRY_W +: ENTRY_W];
    if (write_o && b_meta_q.at[2:0] == '1)
      previous[{load_slot_q, WINDOW_W'(b_meta_q.at[4:3] + 1'b1)}] <= b_high_q;
    loaded_o <= !rst_i && write_o && b_meta_q.last;
    if (rst_i) load_slot_q <= '0;
    else if (write_o && b_meta_q.last) load_slot_q <= load_slot_q + 1'b1;
  end

  assign before_max = previous[{b_slot_q, b_window_q}];

  // ---------------------------------------------------------------- c: a window of held lines

  line_t  c_line_q;
  meta_t  c_meta_q;
  lanes_t c_lanes_q;
  placed_t c_low_q, c_high_q;
  placed_t c_max_q [WINDOW];
  placed_t c_before_q;
  list_t  c_list_q;
  slot_t  c_slot_q;
  logic [ROW_AT_W:0] c_words_q; // of the row memory, for the list
  logic [WINDOW_W-1:0] c_window_q;
  logic   c_last_q;

  assign b_aside = b_meta_q.load || b_meta_q.lengths; // not for the intersector
  // Slots are freed in order: the map begins with one when no step of the one before is left.
  assign b_map   = !b_aside && b_list_q.mapped;
  assign map_valid_o = b_valid_q && b_map && !c_valid_q && !d_valid_q;
  assign map_line_o  = b_line_q;
  assign map_lanes_o = b_lanes_q;
  assign map_meta_o  = b_meta_q;
  assign map_list_o  = b_list_q;
  assign map_taken   = map_valid_o && map_ready_i;
  assign b_emits = b_valid_q && !b_aside && !b_map && c_ready;
  // A member's list has only members before it.
  assign b_last  = b_meta_q.none || b_window_q == b_meta_q.member[MEMBER_W-1 -: WINDOW_W];
  assign b_goes  = b_aside || map_taken;
  assign b_asks  = !b_map && b_last;
  assign b_ready = b_goes || (b_asks && c_ready);
  assign c_ready = !c_valid_q || d_ready;

  always_ff @(posedge clk_i) begin
    if (rst_i) c_valid_q <= 1'b0;
    else if (c_ready) c_valid_q <= b_emits;
    if (b_emits) begin
      c_line_q   <= b_line_q;
      c_meta_q   <= b_meta_q;
      c_lanes_q  <= b_lanes_q;
      c_low_q    <= b_low_q;
      c_high_q   <= b_high_q;
      c_max_q    <= window_max;
      c_before_q <= before_max;
      c_list_q   <= b_list_q;
      c_words_q  <= words_of(b_list_q.last, class_of(b_list_q.last));
      c_slot_q   <= b_slot_q;
      c_window_q <= b_window_q;
      c_last_q   <= b_last;
    end
  end

  // ---------------------------------------------------------------- d: steps

  logic [WINDOW-1:0] c_overlaps, d_left_q, d_less, d_low;
  line_t  d_line_q;
  meta_t  d_meta_q;
  lanes_t d_lanes_q;
  list_t  d_list_q;
  slot_t  d_slot_q;
  logic [WINDOW_W-1:0] d_window_q;
  logic   d_last_q, d_first_q, d_counts_q; // first: no step of the unit has been made
  logic   d_one_q;  // one line is left at the most
  logic   go, unit_done;
  logic [2:0] d_at;

  always_comb begin
    for (int x = 0; x < WINDOW; x++)
      c_overlaps[x] = !c_meta_q.none && {c_window_q, 3'(x)} <= c_list_q.last
                      && c_max_q[x] >= c_low_q
                      && (x == 0 ? c_window_q == '0 || c_before_q < c_high_q
                                 : c_max_q[(x + WINDOW - 1) % WINDOW] < c_high_q);
  end

  assign d_less = d_left_q & (d_left_q - 1'b1);
  assign d_low  = d_left_q & ~d_less;
  always_comb begin
    d_at = '0;
    for (int x = 0; x < WINDOW; x++) if (d_low[x]) d_at |= 3'(x);
  end

  // Room for the rows: reserved with the unit's first step.
  logic [ROW_AT_W:0] d_words_q;
  row_at_t           base;
  place_t            place;
  class_t            d_size_q;
  logic              d_wants_q, room;

  assign d_waits   = d_first_q && d_wants_q && !room;
  assign go        = d_valid_q && !d_waits;
  assign unit_done = go && d_one_q && d_last_q && d_meta_q.slot_last;
  assign d_ready   = !d_valid_q || (!d_waits && d_one_q);

  gramer_set_row_ring i_room (
    .clk_i, .rst_i,
    .wants_i (d_valid_q && d_first_q && d_wants_q), .words_i (d_words_q),
    .take_i (go && d_first_q && d_wants_q), .done_i (unit_done && d_wants_q),
    .room_o (room), .base_o (base), .place_o (place),
    .next_i (d_ready), .next_words_i (c_words_q),
    .freed_i (root_freed_i), .freed_words_i (root_words_i)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      d_valid_q <= 1'b0;
      d_first_q <= 1'b1;
    end else begin
      if (d_ready) d_valid_q <= c_valid_q;
      if (go) d_first_q <= unit_done;
    end
    if (d_ready) begin
      d_line_q   <= c_line_q;
      d_meta_q   <= c_meta_q;
      d_lanes_q  <= c_lanes_q;
      d_list_q   <= c_list_q;
      d_slot_q   <= c_slot_q;
      d_window_q <= c_window_q;
      d_last_q   <= c_last_q;
      d_left_q   <= c_overlaps;
      d_one_q    <= !several(word_t'(c_overlaps));
      d_words_q  <= c_words_q;
      d_size_q   <= class_of(c_list_q.last);
      d_wants_q  <= c_list_q.k != TRIANGLE;
      d_counts_q <= (RANGE_W+1)'(c_meta_q.member) >= c_list_q.range_first
                    && (RANGE_W+1)'(c_meta_q.member) < c_list_q.range_last;
    end else if (go) begin
      d_left_q <= d_less;
      d_one_q  <= !several(word_t'(d_less));
    end
    freed_o <= !rst_i && (unit_done || (map_taken && b_meta_q.slot_last));
  end

  assign read_o      = go && d_left_q != '0;
  assign read_slot_o = d_slot_q;
  assign read_at_o   = {d_window_q, d_at};

  // ---------------------------------------------------------------- e, f: the held line is read

  logic  e_valid_q;
  step_t e_step_q;
  line_t e_line_q;

  always_ff @(posedge clk_i) begin
    e_valid_q    <= !rst_i && go;
    step_valid_o <= !rst_i && e_valid_q;
    if (go) begin
      e_line_q <= d_line_q;
      e_step_q <= '{
        compare: d_left_q != '0,
        held: lanes_of(read_at_o == '0 ? d_list_q.low : 2'd0,
                       read_at_o == d_list_q.last ? d_list_q.high : 2'd3),
        streamed: d_lanes_q,
        at: read_at_o,
        member: d_meta_q.member,
        counts: d_counts_q,
        member_last: d_one_q && d_last_q && d_meta_q.last,
        unit_last: unit_done,
        place: place,
        root: '{base: base, size: d_size_q, last: d_list_q.last, k: d_list_q.k}
      };
    end
    if (e_valid_q) begin
      step_o     <= e_step_q;
      streamed_o <= e_line_q;
    end
  end

  assign busy_o = a_valid_q || b_valid_q || c_valid_q || d_valid_q || e_valid_q || step_valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(d_valid_q && d_one_q != (d_less == '0))) else $error("steps are left, or none are");
    // Entries, then padding: the lanes in use are one run that begins with the list.
    if (a_valid_q && !a_meta_q.none && !a_meta_q.lengths) begin
      assert (a_meta_q.mark || lists[a_slot_q].mapped
              || a_lanes_q[32'(a_meta_q.low)*QUARTER]) else $error("a line without an entry");
    end
  end
`endif

endmodule

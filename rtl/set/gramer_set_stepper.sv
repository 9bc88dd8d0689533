// Processes lines from the port in order. Lines of roots' lists are written to the list buffer. A line of a member's
// list is compared with each overlapping line of the root's list, one per cycle; a line without overlap takes one
// cycle. Ranges are the first and last ids of the held lines; eight of them form a window. Only windows that may
// overlap are examined, one per cycle.
//
//   line ─► lanes ─► first, last id ─► windows ─► overlaps ─► steps ─► read of both lines ─► intersector
//
// A unit's first step waits until its rows have room in the row memory, a ring that is freed in order. Triangles need
// none.
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
  input  logic   list_write_i, // descriptor of a list, before its first line
  input  slot_t  list_slot_i,
  input  list_t  list_i,
  // List buffer
  output logic   write_o,
  output slot_t  write_slot_o,
  output lline_t write_at_o,
  output line_t  write_line_o,
  output logic   loaded_o, // the list is complete with this line and readable from the next cycle on
  // Lengths of a block
  output logic   lengths_valid_o,
  output logic   lengths_load_o, // for a root's block
  output id_t    lengths_up_o,
  output id_t    lengths_block_o,
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
  output logic   freed_o,  // pulse: the oldest list is released
  // Intersector: with the held line
  output logic   step_valid_o,
  output step_t  step_o,
  output line_t  streamed_o,
  // Roots removed from the row memory
  input  logic   root_freed_i,
  input  logic [ROW_AT_W:0] root_words_i,
  output logic   busy_o
);

  // Held lines examined per cycle.
  localparam int unsigned WINDOW   = 8;
  localparam int unsigned WINDOWS  = LIST_LINES / WINDOW;
  localparam int unsigned WINDOW_W = WINDOWS > 1 ? $clog2(WINDOWS) : 1;
  localparam int unsigned IN_W     = $clog2(WINDOW);
  localparam int unsigned WAITING  = 32; // lines waiting for steps

  typedef logic [WINDOW_W-1:0] window_t;
  typedef logic [IN_W-1:0]     in_t; // a line of a window

  logic a_valid_q, b_valid_q, c_valid_q, d_valid_q;
  logic d_ready, d_waits, full;
  // `keep`: a separate table; the path behind it is long, which synthesis of this module
  // alone does not see.
  (* keep = "true" *) logic c_ready;

  // ---------------------------------------------------------------- a: which lanes hold entries

  line_t  a_line_q;
  meta_t  a_meta_q;
  lanes_t a_lanes_q;
  logic   a_aside, a_push; // bypasses the intersector

  assign a_aside = a_meta_q.load || a_meta_q.lengths;
  assign a_push  = a_valid_q && !a_aside && !full;
  assign ready_o = !(a_valid_q && !a_aside && full);

  always_ff @(posedge clk_i) begin
    if (rst_i) a_valid_q <= 1'b0;
    else if (ready_o) a_valid_q <= valid_i;
    if (ready_o && valid_i) begin
      a_line_q <= line_i;
      a_meta_q <= meta_i;
      a_lanes_q <= entries_of(line_i, meta_i);
    end
  end

  // First and last id. The lanes in use are contiguous.
  placed_t a_lowest, a_highest;

  always_comb begin
    {a_lowest, a_highest} = 'x;
    if (a_valid_q) begin
      a_lowest  = a_line_q[32'(a_meta_q.low)*QUARTER*ENTRY_W +: PLACED_ID_W];
      a_highest = '0;
      for (int l = 0; l < LANES; l++)
        if (a_lanes_q[l] && (l == LANES - 1 || !a_lanes_q[(l + 1) % LANES]))
          a_highest |= a_line_q[l*ENTRY_W +: PLACED_ID_W];
    end
  end

  // ---------------------------------------------------------------- lines of lists, lengths

  slot_t   load_slot_q;
  window_t a_window; // of the list's line
  in_t     a_in;

  assign write_o      = a_valid_q && a_meta_q.load && !a_meta_q.lengths;
  assign write_slot_o = load_slot_q;
  assign write_at_o   = a_meta_q.at;
  assign write_line_o = a_line_q;
  assign loaded_o     = write_o && a_meta_q.last;
  assign a_window     = window_t'(a_meta_q.at >> IN_W);
  assign a_in         = in_t'(a_meta_q.at);

  always_ff @(posedge clk_i) begin
    lengths_valid_o <= !rst_i && a_valid_q && a_meta_q.lengths;
    lengths_load_o  <= a_meta_q.load;
    lengths_block_o <= a_line_q[((LINE_QUARTERS-1)*QUARTER + LENGTH_BLOCK)*ENTRY_W +: KEPT_ID_W];
    lengths_up_o    <= a_line_q[((LINE_QUARTERS-1)*QUARTER + LENGTH_UP)*ENTRY_W +: KEPT_ID_W];
    if (rst_i) load_slot_q <= '0;
    else if (loaded_o) load_slot_q <= load_slot_q + 1'b1;
  end

  // ---------------------------------------------------------------- windows of a streamed line

  // A line overlaps neither windows whose last id is below the line's first, nor those after one whose last id is not
  // below the line's last.
  slot_t   a_slot_q;         // of the line's list
  window_t a_first, a_final; // range of windows that may overlap

  if (WINDOWS > 1) begin : gen_windows
    placed_t ends_q [WINDOWS-1]; // last id of each window but the last
    slot_t   slot_d;
    window_t own;                // the member's window: its list has earlier members only

    assign slot_d = a_push && a_meta_q.slot_last ? a_slot_q + 1'b1 : a_slot_q;
    assign own    = window_t'(a_meta_q.member >> (IN_W + $clog2(LANES)));

    for (genvar w = 0; w < WINDOWS - 1; w++) begin : gen_end
      (* ram_style = "distributed" *) placed_t mem [LISTS];
      always_ff @(posedge clk_i) begin
        if (write_o && a_in == '1 && a_window == window_t'(w)) mem[load_slot_q] <= a_highest;
        ends_q[w] <= mem[slot_d];
      end

`ifndef SYNTHESIS
      always_ff @(posedge clk_i) if (!rst_i && a_push && !a_meta_q.none && window_t'(w) < own)
        assert (ends_q[w] == mem[a_slot_q]) else $error("a window's end that is not there yet");
`endif
    end

    // Ends ascend, so the number of ends below an id is its window.
    always_comb begin
      a_first = '0;
      a_final = '0;
      for (int w = 0; w < WINDOWS - 1; w++) if (window_t'(w) < own && !a_meta_q.none) begin
        if (ends_q[w] < a_lowest)  a_first = window_t'(w + 1);
        if (ends_q[w] < a_highest) a_final = window_t'(w + 1);
      end
    end

    always_ff @(posedge clk_i) a_slot_q <= rst_i ? '0 : slot_d;
  end else begin : gen_one_window
    assign a_slot_q = '0;
    assign a_first  = '0;
    assign a_final  = '0;
  end

  // ---------------------------------------------------------------- b: queue of lines

  // Decouples lines that take several steps from lines of roots' lists, which bypass it and take none. A queue holds
  // the descriptors; the lines are in LUT RAM (32 deep) until their last step has read them.
  localparam int unsigned WAITING_W = $clog2(WAITING);

  typedef struct packed {
    meta_t   meta;
    lanes_t  lanes;
    placed_t low;
    placed_t high;
    window_t final_window;
  } waiting_t;

  waiting_t b;
  logic     b_map, b_emits, b_last, b_pop, m_load, d_read;
  slot_t    b_slot_q;
  list_t    b_list; // the list in that slot
  window_t  b_window_q;

  gramer_fifo #(.WIDTH($bits(waiting_t)), .DEPTH(WAITING)) i_waiting (
    .clk_i, .rst_i,
    .push_i (a_push), .data_i ({a_meta_q, a_lanes_q, a_lowest, a_highest, a_final}), .full_o (),
    .pop_i (b_pop), .valid_o (), .data_o (b)
  );

  (* ram_style = "distributed" *) line_t line_mem [WAITING];

  logic [WAITING_W:0]   lines_q; // occupied entries
  logic [WAITING_W-1:0] a_line_at_q, b_line_at_q, d_line_at_q;
  line_t                line_q;
  logic                 line_read;

  assign full      = lines_q[WAITING_W];
  assign line_read = d_valid_q || m_load;

  always_ff @(posedge clk_i) begin
    if (a_push) line_mem[a_line_at_q] <= a_line_q;
    if (line_read) line_q <= line_mem[d_valid_q ? d_line_at_q : b_line_at_q];
    if (rst_i) begin
      lines_q     <= '0;
      a_line_at_q <= '0;
      b_line_at_q <= '0;
    end else begin
      lines_q     <= lines_q + (WAITING_W+1)'(a_push) - (WAITING_W+1)'(d_read || m_load);
      a_line_at_q <= a_line_at_q + WAITING_W'(a_push);
      b_line_at_q <= b_line_at_q + WAITING_W'(b_pop);
    end
  end

  // Availability is registered, since a long path starts here.
  logic [$clog2(WAITING):0] waiting_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      waiting_q <= '0;
      b_valid_q <= 1'b0;
    end else begin
      waiting_q <= waiting_q + ($clog2(WAITING)+1)'(a_push) - ($clog2(WAITING)+1)'(b_pop);
      b_valid_q <= a_push || (b_pop ? waiting_q > ($clog2(WAITING)+1)'(1) : b_valid_q);
    end
  end

  (* ram_style = "distributed" *) window_t firsts [WAITING]; // first window of each line
  (* ram_style = "distributed" *) list_t lists [LISTS];

  always_ff @(posedge clk_i) if (list_write_i) lists[list_slot_i] <= list_i;

  assign b_list = lists[b_slot_q];

  // First and last id of each held line of the window.
  placed_t b_min [WINDOW], b_max [WINDOW];

  for (genvar x = 0; x < WINDOW; x++) begin : gen_range
    (* ram_style = "distributed" *) logic [2*PLACED_ID_W-1:0] mem [LISTS*WINDOWS];
    always_ff @(posedge clk_i) begin
      if (write_o && a_in == in_t'(x))
        mem[held_window(load_slot_q, a_window)] <= {a_lowest, a_highest};
    end
    assign {b_min[x], b_max[x]} = mem[held_window(b_slot_q, b_window_q)];

`ifndef SYNTHESIS
    // A skipped window, or one after the member's, has nothing to compare.
    always_ff @(posedge clk_i) if (!rst_i && b_emits && !b.meta.none)
      for (int w = 0; w < WINDOWS; w++)
        if (w <= 32'(b.meta.member) / (WINDOW*LANES) && w * WINDOW + x <= 32'(b_list.last)
            && (window_t'(w) < firsts[b_line_at_q] || window_t'(w) > b.final_window))
          assert (mem[held_window(b_slot_q, window_t'(w))][0 +: PLACED_ID_W] < b.low
                  || mem[held_window(b_slot_q, window_t'(w))][PLACED_ID_W +: PLACED_ID_W] > b.high)
            else $error("a pair of lines is left out");
`endif
  end

  function automatic logic [$clog2(LISTS*WINDOWS)-1:0] held_window(input slot_t slot,
                                                                    input window_t window);
    return ($clog2(LISTS*WINDOWS))'(32'(slot) * WINDOWS + 32'(window));
  endfunction

  // First window of the next line. A line that arrives in this cycle starts with window 0, since there is no time for
  // the look-up: if no line waits, the extra cycle does not matter.
  logic [WAITING_W-1:0] next_line_at_q;
  window_t next_first;

  assign next_first = waiting_q > ($clog2(WAITING)+1)'(1) ? firsts[next_line_at_q] : '0;

  always_ff @(posedge clk_i) begin
    if (a_push) firsts[a_line_at_q] <= a_first;
    if (rst_i) next_line_at_q <= WAITING_W'(1);
    else next_line_at_q <= next_line_at_q + WAITING_W'(b_pop);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      b_slot_q   <= '0;
      b_window_q <= '0;
    end else if (b_pop) begin
      b_window_q <= next_first;
      if (b.meta.slot_last) b_slot_q <= b_slot_q + 1'b1;
    end else if (b_emits) b_window_q <= b_window_q + 1'b1;
  end

  // ---------------------------------------------------------------- c: a window of held lines

  logic [WAITING_W-1:0] c_line_at_q;
  meta_t  c_meta_q;
  lanes_t c_lanes_q;
  placed_t c_low_q, c_high_q;
  placed_t c_min_q [WINDOW], c_max_q [WINDOW];
  list_t  c_list_q;
  slot_t  c_slot_q;
  logic [ROW_AT_W:0] c_words_q; // words of the row memory for the list
  window_t c_window_q;
  logic   c_last_q;

  // Slots are freed in order: the map starts on a slot when no step of the previous one is left. Its line is read, and
  // steps wait until the map has taken it.
  logic   m_valid_q;
  meta_t  m_meta_q;
  lanes_t m_lanes_q;
  list_t  m_list_q;

  assign b_map       = b_list.mapped;
  assign m_load      = b_valid_q && b_map && !c_valid_q && !d_valid_q && (!m_valid_q || map_ready_i);
  assign map_valid_o = m_valid_q;
  assign map_line_o  = line_q;
  assign map_lanes_o = m_lanes_q;
  assign map_meta_o  = m_meta_q;
  assign map_list_o  = m_list_q;
  assign b_emits     = b_valid_q && !b_map && c_ready && !m_valid_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) m_valid_q <= 1'b0;
    else m_valid_q <= m_load || (m_valid_q && !map_ready_i);
    if (m_load) begin
      m_meta_q  <= b.meta;
      m_lanes_q <= b.lanes;
      m_list_q  <= b_list;
    end
  end

  assign b_last  = b.meta.none || b_window_q == b.final_window;
  assign b_pop   = m_load || (b_emits && b_last);
  assign c_ready = !c_valid_q || d_ready;

  always_ff @(posedge clk_i) begin
    if (rst_i) c_valid_q <= 1'b0;
    else if (c_ready) c_valid_q <= b_emits;
    if (b_emits) begin
      c_line_at_q <= b_line_at_q;
      c_meta_q   <= b.meta;
      c_lanes_q  <= b.lanes;
      c_low_q    <= b.low;
      c_high_q   <= b.high;
      c_min_q    <= b_min;
      c_max_q    <= b_max;
      c_list_q   <= b_list;
      c_words_q  <= words_of(b_list.last, class_of(b_list.last));
      c_slot_q   <= b_slot_q;
      c_window_q <= b_window_q;
      c_last_q   <= b_last;
    end
  end

  // ---------------------------------------------------------------- d: steps

  logic [WINDOW-1:0] c_overlaps, d_left_q, d_less, d_low;
  meta_t  d_meta_q;
  lanes_t d_lanes_q;
  list_t  d_list_q;
  slot_t  d_slot_q;
  window_t d_window_q;
  logic   d_last_q, d_first_q, d_counts_q; // first: before the unit's first step
  logic   d_one_q;  // at most one line is left
  logic   go, unit_done;
  in_t    d_at;

  always_comb begin
    c_overlaps = 'x;
    if (c_valid_q) for (int x = 0; x < WINDOW; x++)
      c_overlaps[x] = !c_meta_q.none && lline_t'({c_window_q, in_t'(x)}) <= c_list_q.last
                      && c_max_q[x] >= c_low_q && c_min_q[x] <= c_high_q;
  end

  assign d_less = WINDOW'(without_lowest(word_t'(d_left_q)));
  assign d_low  = d_left_q & ~d_less;
  always_comb begin
    d_at = '0;
    for (int x = 0; x < WINDOW; x++) if (d_low[x]) d_at |= in_t'(x);
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
  assign d_read    = go && d_one_q && d_last_q; // last read of the line

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
      d_line_at_q <= c_line_at_q;
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
    freed_o <= !rst_i && (unit_done || (m_load && b.meta.slot_last));
  end

  assign read_o      = go && d_left_q != '0;
  assign read_slot_o = d_slot_q;
  assign read_at_o   = lline_t'({d_window_q, d_at});

  // ---------------------------------------------------------------- e, f: read of the lines

  logic  e_valid_q;
  step_t e_step_q;

  always_ff @(posedge clk_i) begin
    e_valid_q    <= !rst_i && go;
    step_valid_o <= !rst_i && e_valid_q;
    if (go) begin
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
        root: '{base: base, size: d_size_q, last: d_list_q.last, k: d_list_q.k, sum: d_list_q.sum}
      };
    end
    if (e_valid_q) begin
      step_o     <= e_step_q;
      streamed_o <= line_q;
    end
  end

  assign busy_o = a_valid_q || b_valid_q || m_valid_q || c_valid_q || d_valid_q || e_valid_q
                  || step_valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(d_valid_q && d_one_q != (d_less == '0))) else $error("steps are left, or none are");
    assert (b_valid_q == (waiting_q != '0)) else $error("lines wait, or none do");
    // Entries, then padding: the lanes in use are contiguous and start with the list.
    if (b_valid_q && !b.meta.none) begin
      assert (b.meta.mark || b_list.mapped
              || b.lanes[32'(b.meta.low)*QUARTER]) else $error("a line without an entry");
    end
  end
`endif

endmodule

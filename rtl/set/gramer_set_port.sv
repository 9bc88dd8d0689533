// A PU's way to the lines of the image. Requests leave in order, and lines come out in the same order,
// each with what was said of it. A request goes to the line's partition with the place that is kept here for the
// line. Partitions answer when it is their turn, one of them at a time (gramer_set_matcher); the line goes to its
// place, and lines are taken out place by place. There is a place for every line under way, so partitions never wait.
//
//   issue ─► place ─► partitions ─► answer, line ─► [lines by place] ─► line_o, meta_o
//        └─────────────► [what was said, by place] ─┘
module gramer_set_port
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  localparam int unsigned AT_W = $clog2(PARTITION_LINES)
) (
  input  logic            clk_i,
  input  logic            rst_i,
  // Requests of the PU
  input  logic            issue_valid_i,
  output logic            issue_ready_o,
  input  line_at_t        issue_line_i, // unused if there is none
  input  meta_t           issue_meta_i,
  // To the partitions
  output logic [PARTITIONS-1:0] request_o,
  output logic [AT_W-1:0] request_at_o,
  output answer_at_t      request_place_o,
  // From the partitions
  input  logic [PARTITIONS-1:0] answer_i, // at most one; its line is there in the next cycle
  input  answer_at_t      answer_place_i [PARTITIONS],
  input  line_t           answer_line_i [PARTITIONS],
  // To the PU
  output logic            valid_o,
  input  logic            ready_i,
  output line_t           line_o,
  output meta_t           meta_o,
  output logic            busy_o
);

  localparam int unsigned PART_W = PARTITIONS > 1 ? $clog2(PARTITIONS) : 1;
  localparam int unsigned SHIFT  = PARTITIONS > 1 ? $clog2(PARTITIONS) : 0;

  logic              full, take, some, issued, pop;
  logic [PART_W-1:0] part;
  logic [ANSWER_AT_W:0] write_q, read_q; // places: one bit more than an index, full differs from empty
  answer_at_t        last_place, next_place;

  assign last_place    = write_q[ANSWER_AT_W-1:0];
  assign next_place    = read_q[ANSWER_AT_W-1:0];
  assign some          = write_q != read_q;
  assign full          = write_q[ANSWER_AT_W] != read_q[ANSWER_AT_W] && last_place == next_place;
  assign issue_ready_o = !full;
  assign issued        = issue_valid_i && !full;
  assign part          = PARTITIONS > 1 ? issue_line_i[PART_W-1:0] : '0;

  (* ram_style = "distributed" *) meta_t metas [ANSWERS];

  always_ff @(posedge clk_i) begin
    if (issued) metas[last_place] <= issue_meta_i;
    if (rst_i) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      write_q <= write_q + (ANSWER_AT_W+1)'(issued);
      read_q  <= read_q + (ANSWER_AT_W+1)'(pop);
    end
    request_at_o    <= AT_W'(issue_line_i >> SHIFT);
    request_place_o <= last_place;
    for (int p = 0; p < PARTITIONS; p++)
      request_o[p] <= !rst_i && issued && !issue_meta_i.none && part == PART_W'(p);
  end

  // ---------------------------------------------------------------- answers

  (* ram_style = "distributed" *) line_t lines [ANSWERS];

  logic [PART_W-1:0] from, from_q; // the partition that answers
  answer_at_t        place, place_q, came_place_q;
  logic              answered_q, came_q; // the line comes over a register of its own
  line_t             came_line_q;
  logic [ANSWERS-1:0] there_q; // places whose line is there, or that have none
  logic              popped_q; // a place was taken out a cycle before: it can't be looked at again yet
  answer_at_t        popped_place_q;

  always_comb begin
    from  = '0;
    place = '0;
    for (int p = 0; p < PARTITIONS; p++) if (answer_i[p]) begin
      from  |= PART_W'(p);
      place |= answer_place_i[p];
    end
  end

  always_ff @(posedge clk_i) begin
    answered_q   <= !rst_i && answer_i != '0;
    from_q       <= from;
    place_q      <= place;
    came_q       <= !rst_i && answered_q;
    came_place_q <= place_q;
    came_line_q  <= answer_line_i[from_q];
    if (came_q) lines[came_place_q] <= came_line_q;
    popped_q       <= !rst_i && pop;
    popped_place_q <= next_place;
    for (int a = 0; a < ANSWERS; a++) begin
      if (popped_q && popped_place_q == answer_at_t'(a)) there_q[a] <= 1'b0;
      if ((came_q && came_place_q == answer_at_t'(a))
          || (issued && issue_meta_i.none && last_place == answer_at_t'(a))) there_q[a] <= 1'b1;
    end
    if (rst_i) there_q <= '0;
  end

  // ---------------------------------------------------------------- in order

  assign take = !valid_o || ready_i;
  assign pop  = some && take && there_q[next_place];

  always_ff @(posedge clk_i) begin
    if (rst_i) valid_o <= 1'b0;
    else if (take) valid_o <= pop;
    if (pop) begin
      line_o <= lines[next_place];
      meta_o <= metas[next_place];
    end
  end

  assign busy_o = some || valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert ($onehot0(answer_i)) else $error("two answers at once");
    assert (!(came_q && there_q[came_place_q])) else $error("an answer without room");
  end
`endif

endmodule

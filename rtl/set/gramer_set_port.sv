// Read port of a PU to the image. Requests are issued in order, and lines return in the same order, each with its
// request's metadata. Partitions answer in rotation (gramer_set_partition), at most one line per cycle from each half;
// so each half has a buffer, and an answer is stored at its request's index. The oldest request's line may bypass the
// buffer. Room is reserved for every line in flight, so partitions never stall.
//
//   issue ─► [order] ────────────────► index of the oldest ─► line_o, meta_o
//        └─► partitions ═► [buffer of each half, by index] ─┘
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
  input  line_at_t        issue_line_i, // unused if no line is read
  input  meta_t           issue_meta_i,
  // To the partitions
  output logic [PARTITIONS-1:0] request_o,
  output logic [AT_W-1:0] request_at_o,
  output answer_at_t      request_for_o,
  // From the partitions
  input  logic [PARTITIONS-1:0] answer_i, // for this PU: at most one per half
  input  answer_at_t      answer_for_i [PARTITIONS],
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

  logic              full, take, some, held, issued, pop, popped_q;
  // `keep`: a table before the last one. The path through ready_i is long, which synthesis of this module
  // alone does not see. It includes the reset, which then needs no table behind ready_i.
  (* keep = "true" *) logic comes; // the next line is available
  logic [PART_W-1:0] part;
  logic              side, head_side;
  answer_at_t        tail_at, head_at, read_at;
  meta_t             meta;

  assign issue_ready_o = !full;
  assign issued        = issue_valid_i && !full;
  assign part          = PARTITIONS > 1 ? issue_line_i[PART_W-1:0] : '0;
  assign side          = SIDES > 1 && part[PART_W-1];

  // Pops one cycle late: the ready path from the blocks behind the port is the longest of a PU, and ends
  // in registers here.
  gramer_set_late_fifo #(.WIDTH(1 + $bits(meta_t)), .DEPTH(ANSWERS)) i_order (
    .clk_i, .rst_i,
    .push_i (issued), .data_i ({side, issue_meta_i}), .full_o (full), .tail_o (tail_at),
    .popped_i (popped_q), .valid_o (some), .data_o ({head_side, meta}), .held_o (held),
    .head_o (head_at), .read_o (read_at)
  );

  always_ff @(posedge clk_i) begin
    request_at_o  <= AT_W'(issue_line_i >> SHIFT);
    request_for_o <= tail_at;
    for (int p = 0; p < PARTITIONS; p++)
      request_o[p] <= !rst_i && issued && !issue_meta_i.none && part == PART_W'(p);
  end

  // Buffers, and valid bits of their entries.
  logic [SIDES-1:0]  came;
  answer_at_t         came_at [SIDES];
  logic [SIDES-1:0]   now; // the awaited line arrives
  (* keep = "true" *) logic passes; // in one of the halves
  line_t              next_line [SIDES];
  logic [ANSWERS-1:0] there_q;

  for (genvar s = 0; s < SIDES; s++) begin : gen_side
    (* ram_style = "distributed" *) line_t mem [ANSWERS];

    // The answering partition and its line. `keep`: one 6-input LUT per bit of the line.
    (* keep = "true" *) turn_t from;
    (* keep = "true" *) line_t from_line;

    assign came[s] = answer_i[s*SIDE_PARTITIONS +: SIDE_PARTITIONS] != '0;

    always_comb begin
      from = '0;
      for (int p = 1; p < SIDE_PARTITIONS; p++)
        if (answer_i[s*SIDE_PARTITIONS + p]) from |= turn_t'(p);
    end

    assign came_at[s]   = answer_for_i[s*SIDE_PARTITIONS + 32'(from)];
    assign from_line    = came[s] ? answer_line_i[s*SIDE_PARTITIONS + 32'(from)] : 'x;

    always_ff @(posedge clk_i) if (came[s]) mem[came_at[s]] <= from_line;

    // Each partition's answer is compared by itself: which of them answers is known late.
    always_comb begin
      now[s] = 1'b0;
      for (int p = s * SIDE_PARTITIONS; p < (s + 1) * SIDE_PARTITIONS; p++)
        if (answer_i[p] && answer_for_i[p] == head_at) now[s] = 1'b1;
    end

    assign next_line[s] = !comes ? 'x : passes ? from_line : mem[head_at];
  end

  logic [ANSWERS-1:0] comes_now;

  always_comb begin
    comes_now = '0;
    for (int s = 0; s < SIDES; s++)
      if (came[s])
        for (int a = 0; a < ANSWERS; a++) if (came_at[s] == answer_at_t'(a)) comes_now[a] = 1'b1;
  end

  always_ff @(posedge clk_i)
    for (int a = 0; a < ANSWERS; a++)
      there_q[a] <= !rst_i && (comes_now[a]
                               || (there_q[a] && !(popped_q && read_at == answer_at_t'(a))));

  assign passes = now != '0;
  assign comes  = some && !rst_i && (meta.none || there_q[head_at] || passes);
  assign take   = !valid_o || ready_i;
  assign pop    = take && comes;

  always_ff @(posedge clk_i) begin
    popped_q <= pop;
    if (rst_i) valid_o <= 1'b0;
    else if (take) valid_o <= pop;
    if (pop) begin
      line_o <= next_line[head_side];
      meta_o <= meta;
    end
  end

  assign busy_o = held || valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    for (int s = 0; s < SIDES; s++)
      assert ($onehot0(answer_i[s*SIDE_PARTITIONS +: SIDE_PARTITIONS]))
        else $error("two answers of a half");
    for (int s = 0; s < SIDES; s++)
      assert (!(came[s] && there_q[came_at[s]])) else $error("a second answer to a request");
    assert (!(SIDES > 1 && came == '1 && came_at[0] == came_at[SIDES-1]))
      else $error("two answers to a request");
  end
`endif

endmodule

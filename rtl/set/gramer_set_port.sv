// A PU's way to the lines of the image. Requests leave in order, and lines come out in the same order,
// each with what was said of it. A request goes to the line's partition, which answers in order:
// so a queue for each partition, and one that says whose turn it is, restore the order
// without a tag. There is room for every line under way, so partitions never wait.
//
//   issue ─► [order] ──────────────► whose turn ─► line_o, meta_o
//        └─► partitions ─► [queue of each partition] ─┘
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
  // From the partitions
  input  logic [PARTITIONS-1:0] answer_i,
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
  // Kept as they are, each a table before the last one: what ready_i comes through is long, and a tool that maps
  // this module alone doesn't know it. The reset is in them, and needs no table behind ready_i then.
  (* keep = "true" *) logic comes;                 // the next line is there
  (* keep = "true" *) logic [PARTITIONS-1:0] from; // the partition's queue that it is in
  logic [PART_W-1:0] part, head_part;
  meta_t             meta;
  line_t             line;

  assign issue_ready_o = !full;
  assign issued        = issue_valid_i && !full;
  assign part          = PARTITIONS > 1 ? issue_line_i[PART_W-1:0] : '0;

  // Queues hear a cycle later what was taken: the way from what comes behind the port to its ready is the
  // longest of a PU, and ends in registers here.
  gramer_set_late_fifo #(.WIDTH(PART_W + $bits(meta_t)), .DEPTH(ANSWERS)) i_order (
    .clk_i, .rst_i,
    .push_i (issued), .data_i ({part, issue_meta_i}), .full_o (full),
    .popped_i (popped_q), .valid_o (some), .data_o ({head_part, meta}), .held_o (held)
  );

  always_ff @(posedge clk_i) begin
    request_at_o <= AT_W'(issue_line_i >> SHIFT);
    for (int p = 0; p < PARTITIONS; p++)
      request_o[p] <= !rst_i && issued && !issue_meta_i.none && part == PART_W'(p);
  end

  // The queues of the partitions' answers.
  logic [PARTITIONS-1:0] holds;
  line_t                 head [PARTITIONS];

  for (genvar p = 0; p < PARTITIONS; p++) begin : gen_queue
    // verilator lint_off UNUSEDSIGNAL
    // `no_room` is there for the assertion, and some builds have none.
    logic  taken_q, no_room, held_answers;
    // verilator lint_on UNUSEDSIGNAL

    assign from[p] = comes && !meta.none && head_part == PART_W'(p);

    always_ff @(posedge clk_i) taken_q <= take && from[p];

    gramer_set_late_fifo #(.WIDTH(LINE_W), .DEPTH(ANSWERS)) i_answers (
      .clk_i, .rst_i,
      .push_i (answer_i[p]), .data_i (answer_line_i[p]), .full_o (no_room),
      .popped_i (taken_q), .valid_o (holds[p]), .data_o (head[p]), .held_o (held_answers)
    );

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (!rst_i) begin
      assert (!(answer_i[p] && no_room)) else $error("an answer without room");
    end
`endif
  end

  assign line  = head[head_part];
  assign comes = some && !rst_i && (meta.none || holds[head_part]);
  assign take  = !valid_o || ready_i;
  assign pop   = take && comes;

  always_ff @(posedge clk_i) begin
    popped_q <= pop;
    if (rst_i) valid_o <= 1'b0;
    else if (take) valid_o <= pop;
    if (pop) begin
      line_o <= line;
      meta_o <= meta;
    end
  end

  assign busy_o = held || valid_o;

endmodule

// Lines under way from DDR, and the requests that wait for them, so that hits can pass.
//
// A request that misses either begins a read (an entry with the line and the requester) or, if its
// line is under way already or all entries are taken, goes into a queue. The head of the queue is
// looked up again once its line is not under way any more. Each slot has at most one access
// outstanding, so the queue always has room.
module miss_unit
  import gramer_pkg::*;
  import gramer_types_pkg::*;
#(
  /// Bits of a line's address.
  parameter int unsigned ADDR_W = 8,
  /// Bits of what has to come back with the line.
  parameter int unsigned HEAD_W = 8
) (
  input  logic              clk_i,
  input  logic              rst_i,
  // A miss
  input  logic              miss_i,
  input  logic [ADDR_W-1:0] miss_line_i,
  input  logic [HEAD_W-1:0] miss_head_i,
  // Look up again
  output logic              replay_valid_o,
  output logic [ADDR_W-1:0] replay_line_o,
  output logic [HEAD_W-1:0] replay_head_o,
  input  logic              replay_take_i,
  // Reads to be begun
  output logic              read_valid_o,
  input  logic              read_ready_i,
  output logic [MISS_W-1:0] read_entry_o,
  output logic [ADDR_W-1:0] read_line_o,
  // A line that came: its entry, asked for and then given back
  input  logic [MISS_W-1:0] fill_entry_i,
  output logic [ADDR_W-1:0] fill_line_o,
  output logic [HEAD_W-1:0] fill_head_o,
  input  logic              filled_i,
  input  logic [MISS_W-1:0] filled_entry_i
);

  logic [MISSES-1:0] taken_q;
  logic [ADDR_W-1:0] line_q [MISSES];
  logic [HEAD_W-1:0] head_q [MISSES];
  logic [MISS_W-1:0] free_entry;
  logic              free_some, under_way, waiting_free, begin_read, queue_valid;

  always_comb begin
    free_entry   = '0;
    under_way    = 1'b0;
    waiting_free = 1'b1;
    for (int e = MISSES - 1; e >= 0; e--) begin
      if (!taken_q[e]) free_entry = MISS_W'(e);
      if (taken_q[e] && line_q[e] == miss_line_i) under_way = 1'b1;
      if (taken_q[e] && line_q[e] == replay_line_o) waiting_free = 1'b0;
    end
  end

  assign free_some  = taken_q != '1;
  assign begin_read = miss_i && !under_way && free_some;

  fifo #(.WIDTH(ADDR_W + HEAD_W), .DEPTH(PUS * SLOTS)) i_waiting (
    .clk_i, .rst_i,
    .push_i  (miss_i && !begin_read),
    .data_i  ({miss_line_i, miss_head_i}),
    .full_o  (),
    .pop_i   (replay_take_i),
    .valid_o (queue_valid),
    .data_o  ({replay_line_o, replay_head_o})
  );

  // Registered: it may be out of date by a cycle, and then the replay misses and waits again.
  logic ready_q;
  always_ff @(posedge clk_i) ready_q <= !rst_i && queue_valid && waiting_free && free_some
                                        && !replay_take_i;
  assign replay_valid_o = ready_q && queue_valid;

  fifo #(.WIDTH(MISS_W), .DEPTH(MISSES)) i_reads (
    .clk_i, .rst_i,
    .push_i  (begin_read),
    .data_i  (free_entry),
    .full_o  (),
    .pop_i   (read_valid_o && read_ready_i),
    .valid_o (read_valid_o),
    .data_o  (read_entry_o)
  );

  assign read_line_o = line_q[read_entry_o];
  assign fill_line_o = line_q[fill_entry_i];
  assign fill_head_o = head_q[fill_entry_i];

  always_ff @(posedge clk_i) begin
    // Whether a read begins is known late. What a free entry holds matters to nobody, so it is
    // written in any case, and only its bit of `taken` waits.
    if (free_some) begin
      line_q[free_entry] <= miss_line_i;
      head_q[free_entry] <= miss_head_i;
    end
    if (rst_i) taken_q <= '0;
    else begin
      if (begin_read) taken_q[free_entry] <= 1'b1;
      if (filled_i) taken_q[filled_entry_i] <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(filled_i && !taken_q[filled_entry_i])) else $error("a line that nobody asked for");
  end
`endif

endmodule

// Lists the results of a search plan: each member of its last set with the images of the earlier vertices, one record
// after another. Images are captured when the operation is issued, since the walker continues with others, and
// dropped at the operation's end.
//
//   operation ─► [images] ──────────────────────────┐
//   line, lanes, end ─► [lines] ─► current line ─► member ─► record
//
// No back-pressure on the merger's pipeline: the buffer has room for every line in flight when `room_o` falls.
module gramer_set_plan_lister
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // A listing operation is issued
  input  logic    listed_i,
  input  images_t images_i,
  output logic    full_o, // no room for further images
  // Its members, a line at a time, and its end
  input  logic    valid_i,
  input  line_t   line_i,
  input  lanes_t  lanes_i,
  input  logic    ends_i,
  input  logic    wide_i,
  output logic    room_o,
  // Records
  output logic    record_valid_o,
  input  logic    record_ready_i,
  output record_t record_o,
  output logic    busy_o
);

  localparam int unsigned OPERATIONS = 16;
  localparam int unsigned LINES      = 16;
  // Lines that may still arrive: six stages between a step and this buffer, and an end without back-pressure. A
  // power of two, so that room is one bit of the line count.
  localparam int unsigned COMING     = 8;

  // Ids of a line, without the sizes of lists.
  typedef struct packed {
    logic   ends;
    logic   wide;
    lanes_t lanes;
    logic [LANES-1:0][KEPT_ID_W-1:0] ids;
  } members_t;

  // ---------------------------------------------------------------- queues

  logic     push, pop, popped_q, waiting, images_valid, images_pop, go;
  members_t in, head, here_q;
  images_t  images;
  logic     here_valid_q, here_ends;
  lanes_t   less_q, low; // remaining members but the lowest; the lowest
  logic [$clog2(LINES):0] lines_q;
  id_t      member;

  always_comb begin
    in = '{ends: ends_i, wide: wide_i, lanes: lanes_i, ids: '0};
    for (int l = 0; l < LANES; l++) in.ids[l] = line_i[l*ENTRY_W +: KEPT_ID_W];
  end

  assign push = valid_i && (ends_i || lanes_i != '0);

  gramer_fifo #(.WIDTH($bits(members_t)), .DEPTH(LINES)) i_lines (
    .clk_i, .rst_i,
    .push_i (push), .data_i (in), .full_o (),
    .pop_i (pop), .valid_o (waiting), .data_o (head)
  );

  gramer_fifo #(.WIDTH($bits(images_t)), .DEPTH(OPERATIONS)) i_images (
    .clk_i, .rst_i,
    .push_i (listed_i), .data_i (images_i), .full_o (full_o),
    .pop_i (images_pop), .valid_o (images_valid), .data_o (images)
  );

  // ---------------------------------------------------------------- members, one by one

  assign go         = !record_valid_o || record_ready_i;
  assign here_ends  = here_valid_q && (less_q == '0) && (go || here_q.lanes == '0);
  assign pop        = waiting && (!here_valid_q || here_ends);
  assign images_pop = here_ends && here_q.ends;
  assign low        = here_q.lanes & ~less_q;

  always_comb begin
    member = '0;
    for (int l = 0; l < LANES; l++) if (low[l]) member |= here_q.ids[l];
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      here_valid_q   <= 1'b0;
      record_valid_o <= 1'b0;
      popped_q       <= 1'b0;
      lines_q        <= '0;
      room_o         <= 1'b0;
    end else begin
      // The pop arrives late and counts one cycle later; overestimating the content is safe.
      popped_q <= pop;
      lines_q  <= lines_q + ($clog2(LINES)+1)'(push) - ($clog2(LINES)+1)'(popped_q);
      room_o   <= lines_q < ($clog2(LINES)+1)'(LINES - COMING);
      if (pop) here_valid_q <= 1'b1;
      else if (here_ends) here_valid_q <= 1'b0;
      if (go) record_valid_o <= here_valid_q && here_q.lanes != '0;
    end
    if (pop) begin
      here_q <= head;
      less_q <= head.lanes & (head.lanes - 1'b1);
    end else if (go) begin
      here_q.lanes <= less_q;
      less_q       <= less_q & (less_q - 1'b1);
    end
    if (go) begin
      record_o.wide   <= here_q.wide;
      record_o.ids[0] <= member;
      for (int v = 0; v < PLACED; v++) record_o.ids[v+1] <= images[v];
    end
  end

  assign busy_o = waiting || here_valid_q || record_valid_o || images_valid;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(here_valid_q && !images_valid)) else $error("members without an operation");
    assert (!(push && 32'(lines_q) == LINES && !popped_q)) else $error("a line without room");
    assert (!(here_valid_q && less_q != (here_q.lanes & (here_q.lanes - 1'b1))))
      else $error("members are missed");
    assert (!(valid_i && ends_i && lanes_i != '0)) else $error("members with an operation's end");
  end
`endif

endmodule

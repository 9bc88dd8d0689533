// Operations of a search plan on their way from the walker to the merger, of two images, with lists of up to two
// lines. Each comes out once, in order, with the lowest of its bounds and its range's end; its lines are asked for once, in
// order, and no others; a waiting line stays; without stalls, something moves. One operation is followed.
module set_plan_asker_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic       clk_i,
  input logic       valid_i,
  input logic [1:0] bounds_i,
  input logic [1:0] conflicts_i,
  input logic       streams_i,
  input entry_t     source_i,
  input id_t        image0_i,
  input id_t        image1_i,
  input id_t        limit_i,
  input logic [SET_W-1:0] to_i, // what else is said of it
  input logic       issue_ready_i,
  input logic       pop_i,
  input logic       mark_i      // follow the operation that comes in now
);
  localparam int unsigned OWED_W = 4;
  localparam int unsigned INSIDE_W = 4;

  logic       started_q = 1'b0;
  logic       ready, issue_valid, valid, busy, list;
  set_op_t    op, op_out;
  line_at_t   line;
  meta_t      meta;

  always_comb begin
    op                = '0;
    op.word.bounds    = 7'(bounds_i);
    op.word.conflicts = 7'(conflicts_i);
    op.word.streams   = streams_i;
    op.word.to        = to_i;
    op.source         = source_i;
    op.limit          = limit_i;
    op.low            = source_i.id;
    op.images[0]      = image0_i;
    op.images[1]      = image1_i;
  end

  gramer_set_plan_asker dut (
    .clk_i, .rst_i (!started_q),
    .valid_i, .ready_o (ready), .op_i (op),
    .issue_valid_o (issue_valid), .issue_ready_i, .issue_line_o (line), .issue_meta_o (meta),
    .valid_o (valid), .pop_i, .op_o (op_out), .busy_o (busy), .list_o (list)
  );

  // What an operation means.
  wire [3:0]          quarters = 4'(source_i.id[1:0]) + 4'(source_i.size);
  wire [OWED_W-1:0]   lines = !streams_i ? '0 : quarters > 4'd4 ? OWED_W'(2) : OWED_W'(1);
  wire [1:0]          high = 2'(quarters - 1'b1);
  id_t                low0, low1;
  assign low0 = bounds_i[0] && image0_i < limit_i ? image0_i : limit_i;
  assign low1 = bounds_i[1] && image1_i < limit_i ? image1_i : limit_i;

  logic [OWED_W-1:0] owed_q, before_q, left_q; // lines: of all, before those that are followed, of these
  logic [INSIDE_W-1:0] inside_q, ahead_q;        // operations: all, before the one that is followed
  logic [2:0]        idle_q;
  logic              marked_q, out_q, first_q, was_full_q, waited_q, op_waited_q;
  id_t               limit_q, image0_q, image1_q;
  entry_t            source_q;
  logic [SET_W-1:0]  to_q;
  logic [1:0]        high_q;
  line_at_t          next_q, line_q;
  meta_t             meta_q;
  set_op_t           op_q;

  wire in     = valid_i && ready;
  wire out    = valid && pop_i;
  wire issued = issue_valid && issue_ready_i;
  wire mark   = in && mark_i && !marked_q;
  wire ours   = marked_q && issue_valid && before_q == '0 && left_q != '0;
  wire leaves = marked_q && out && ahead_q == '0 && !out_q;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      owed_q      <= '0;
      inside_q    <= '0;
      idle_q      <= '0;
      marked_q    <= 1'b0;
      was_full_q  <= 1'b0;
      waited_q    <= 1'b0;
      op_waited_q <= 1'b0;
    end else begin
      owed_q   <= owed_q + (in ? lines : '0) - OWED_W'(issued);
      inside_q <= inside_q + INSIDE_W'(in) - INSIDE_W'(out);
      if (mark) begin
        marked_q <= 1'b1;
        out_q    <= 1'b0;
        first_q  <= 1'b1;
        before_q <= owed_q - OWED_W'(issued);
        ahead_q  <= inside_q - INSIDE_W'(out);
        left_q   <= lines;
        next_q   <= source_i.id[ID_W-1:2];
        source_q <= source_i;
        high_q   <= high;
        to_q     <= to_i;
        limit_q  <= low0 < low1 ? low0 : low1;
        image0_q <= conflicts_i[0] ? image0_i : '1;
        image1_q <= conflicts_i[1] ? image1_i : '1;
      end else if (marked_q) begin
        if (issued && before_q != '0) before_q <= before_q - 1'b1;
        if (ours && issued) begin
          left_q  <= left_q - 1'b1;
          next_q  <= next_q + 1'b1;
          first_q <= 1'b0;
        end
        if (out && ahead_q != '0) ahead_q <= ahead_q - 1'b1;
        if (leaves) out_q <= 1'b1;
        if (out_q && left_q == '0) marked_q <= 1'b0;
      end
      // Whoever stalls holds the clock.
      if (in || out || issued || !busy) idle_q <= '0;
      else if (!(issue_valid && !issue_ready_i) && !(valid && !pop_i)) idle_q <= idle_q + 1'b1;
      if (valid_i && !ready) was_full_q <= 1'b1;
      waited_q    <= issue_valid && !issue_ready_i;
      line_q      <= line;
      meta_q      <= meta;
      op_waited_q <= valid && !pop_i;
      op_q        <= op_out;
    end
  end

  always_comb begin
    if (started_q) begin
      // What the walker and the merger owe: lists of the image, and no pop of nothing.
      assume (source_i.size != '0 && source_i.size <= SIZE_W'(5));
      assume (!(pop_i && !valid));
      // What the asker owes.
      if (issue_valid) assert (owed_q != '0);                     // no line twice, none outside a list
      if (ours) begin
        assert (line == next_q && meta.last == (left_q == OWED_W'(1)));
        assert (meta.low == (first_q ? source_q.id[1:0] : 2'd0));
        assert (meta.high == (left_q == OWED_W'(1) ? high_q : 2'd3));
      end
      if (valid) assert (inside_q != '0);
      if (leaves) begin
        assert (op_out.limit == limit_q && op_out.images[0] == image0_q && op_out.images[1] == image1_q);
        assert (op_out.word.to == to_q && op_out.source == source_q && op_out.low == source_q.id);
      end
      if (marked_q && !out_q) assert (ahead_q < inside_q);        // not lost
      if (marked_q) assert (before_q + left_q <= owed_q);
      assert (busy == (inside_q != '0 || owed_q != '0));
      if (waited_q) assert (issue_valid && line == line_q && meta == meta_q);
      if (op_waited_q) assert (valid && op_out == op_q);
      assert (idle_q < 3'd5);
      cover (was_full_q && inside_q == '0 && owed_q == '0);
      cover (ours && issued && !first_q && inside_q > INSIDE_W'(2));
    end
  end
endmodule

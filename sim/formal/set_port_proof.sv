// A PU's way to two partitions that answer one at a time, in any order and each as late as they like. There is room
// for every answer; lines come out in the order of their requests, each with what was said of it and with what
// its partition answered; and when nothing is under way, nothing is held back. One request is followed.
module set_port_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic       clk_i,
  input logic       issue_i,
  input logic       part_i,   // of the line
  input logic       none_i,   // there is no line
  input logic       member_i, // what is said of it
  input logic [PARTITIONS-1:0] answer_i,
  input logic [PARTITIONS-1:0] place_i, // of the answers
  input logic [LINE_W*PARTITIONS-1:0] lines_i,
  input logic       ready_i,
  input logic       mark_i    // follow the request that is issued now
);
  localparam int unsigned TOTAL_W = $clog2(ANSWERS) + 3;

  logic     started_q = 1'b0;
  logic     ready, valid, busy;
  logic [PARTITIONS-1:0] request;
  logic [0:0] request_at;
  answer_at_t request_place, answer_place [PARTITIONS];
  line_t    answer_line [PARTITIONS];
  line_t    line;
  meta_t    meta, meta_out;
  line_at_t line_at;

  always_comb begin
    for (int p = 0; p < PARTITIONS; p++) begin
      answer_line[p]  = lines_i[LINE_W*p +: LINE_W];
      answer_place[p] = answer_at_t'(place_i[p]);
    end
    meta        = '0;
    meta.none   = none_i;
    meta.member = member_t'(member_i);
    line_at     = line_at_t'(part_i);
  end

  gramer_set_port dut (
    .clk_i, .rst_i (!started_q),
    .issue_valid_i (issue_i), .issue_ready_o (ready), .issue_line_i (line_at), .issue_meta_i (meta),
    .request_o (request), .request_at_o (request_at), .request_place_o (request_place),
    .answer_i, .answer_place_i (answer_place), .answer_line_i (answer_line),
    .valid_o (valid), .ready_i, .line_o (line), .meta_o (meta_out), .busy_o (busy)
  );

  logic [ANSWERS-1:0] asked_q [PARTITIONS]; // places for which a partition owes a line
  logic [TOTAL_W-1:0] inside_q, ahead_q; // that were issued and haven't left; those before it
  logic     marked_q, comes_q, answered_q, part_q, none_q, member_q, was_full_q, turned_q;
  answer_at_t place_q; // of the one that is followed
  line_t    line_q;

  wire in   = issue_i && ready;
  wire out  = valid && ready_i;
  wire mark = in && mark_i && !marked_q;
  wire here = out && marked_q && ahead_q == '0;
  wire takes = marked_q && !none_q && !answered_q && !comes_q && answer_i[part_q]
               && answer_place[part_q] == place_q;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      for (int p = 0; p < PARTITIONS; p++) asked_q[p] <= '0;
      inside_q   <= '0;
      ahead_q    <= '0;
      marked_q   <= 1'b0;
      comes_q    <= 1'b0;
      answered_q <= 1'b0;
      part_q     <= 1'b0;
      none_q     <= 1'b0;
      member_q   <= 1'b0;
      place_q    <= '0;
      line_q     <= '0;
      was_full_q <= 1'b0;
      turned_q   <= 1'b0;
    end else begin
      for (int p = 0; p < PARTITIONS; p++)
        for (int a = 0; a < ANSWERS; a++)
          if (request[p] && request_place == answer_at_t'(a)) asked_q[p][a] <= 1'b1;
          else if (answer_i[p] && answer_place[p] == answer_at_t'(a)) asked_q[p][a] <= 1'b0;
      inside_q <= inside_q + TOTAL_W'(in) - TOTAL_W'(out);
      if (mark) begin
        marked_q   <= 1'b1;
        comes_q    <= 1'b0;
        answered_q <= 1'b0;
        part_q     <= part_i;
        none_q     <= none_i;
        member_q   <= member_i;
        place_q    <= dut.last_place;
        ahead_q    <= inside_q - TOTAL_W'(out);
      end else if (marked_q) begin
        if (here) marked_q <= 1'b0;
        if (out) ahead_q <= ahead_q - 1'b1;
        comes_q <= takes;
        if (comes_q) begin
          answered_q <= 1'b1;
          line_q     <= answer_line[part_q];
        end
        if (takes && ahead_q > TOTAL_W'(valid)) turned_q <= 1'b1;
      end
      if (!ready) was_full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What partitions owe: one answer at a time, to a request of theirs.
      assume (answer_i != '1);
      for (int p = 0; p < PARTITIONS; p++) assume (!answer_i[p] || asked_q[p][answer_place[p]]);
      // What the port owes.
      if (dut.came_q) assert (!dut.there_q[dut.came_place_q]); // there is room for the answer
      for (int p = 0; p < PARTITIONS; p++)
        if (request[p]) assert (!asked_q[0][request_place] && !asked_q[1][request_place]); // a place of its own
      if (here) begin
        assert (meta_out.none == none_q && meta_out.member == member_t'(member_q));
        assert (none_q || (answered_q && line == line_q));
      end
      if (marked_q) assert (ahead_q < inside_q);             // not lost
      // Nothing is under way to a partition or in front of its place: something comes out, or nothing is left.
      if (request == '0 && asked_q[0] == '0 && asked_q[1] == '0 && !dut.answered_q && !dut.came_q && !valid
          && inside_q != '0) assert (dut.pop);
      assert (busy == (inside_q != '0));
      cover (was_full_q && inside_q == '0);
      cover (here && turned_q); // answers in another order than the requests'
    end
  end
endmodule

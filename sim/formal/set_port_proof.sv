// A PU's way to four partitions, of which one of each half at a time may answer: each its requests in their order, as late as it
// likes. There is room for every
// answer; lines come out in the order of their requests, each with what was said of it and with what
// its partition answered; and when nothing is under way, nothing is held back. One request is followed.
module set_port_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic       clk_i,
  input logic       issue_i,
  input logic [$clog2(PARTITIONS)-1:0] part_i, // of the line
  input logic       none_i,   // there is no line
  input logic       member_i, // what is said of it
  input logic [PARTITIONS-1:0] answer_i,
  input logic [PARTITIONS-1:0] answer_for_i,
  input logic [LINE_W*PARTITIONS-1:0] lines_i,
  input logic       ready_i,
  input logic       mark_i    // follow the request that is issued now
);
  localparam int unsigned COUNT_AT_W = $clog2(ANSWERS) + 2;
  localparam int unsigned TOTAL_W = COUNT_AT_W + 1;

  logic     started_q = 1'b0;
  logic     ready, valid, busy;
  logic [PARTITIONS-1:0] request;
  logic [0:0] request_at;
  line_t    answer_line [PARTITIONS];
  answer_at_t answer_for [PARTITIONS], request_for;
  line_t    line;
  meta_t    meta, meta_out;
  line_at_t line_at;

  always_comb begin
    for (int p = 0; p < PARTITIONS; p++) begin
      answer_line[p] = lines_i[LINE_W*p +: LINE_W];
      answer_for[p]  = answer_at_t'(answer_for_i[p]);
    end
    meta        = '0;
    meta.none   = none_i;
    meta.member = member_t'(member_i);
    line_at     = line_at_t'(part_i);
  end

  gramer_set_port dut (
    .clk_i, .rst_i (!started_q),
    .issue_valid_i (issue_i), .issue_ready_o (ready), .issue_line_i (line_at), .issue_meta_i (meta),
    .request_o (request), .request_at_o (request_at), .request_for_o (request_for),
    .answer_i, .answer_for_i (answer_for), .answer_line_i (answer_line),
    .valid_o (valid), .ready_i, .line_o (line), .meta_o (meta_out), .busy_o (busy)
  );

  logic [COUNT_AT_W-1:0] asked_q [PARTITIONS]; // requests at a partition
  logic [ANSWERS-1:0]    tags_q [PARTITIONS];  // places of the requests that it knows of, the oldest first
  logic [COUNT_AT_W-1:0] known_q [PARTITIONS]; // how many those are
  logic [PARTITIONS-1:0] came;
  logic [COUNT_AT_W-1:0] before_q; // answers of its partition before the one that is followed
  logic [TOTAL_W-1:0]    inside_q, ahead_q; // that were issued and haven't left; those before it
  logic     marked_q, answered_q, none_q, member_q, was_full_q;
  logic [$clog2(PARTITIONS)-1:0] part_q;
  line_t    line_q;

  for (genvar p = 0; p < PARTITIONS; p++) begin : gen_came
    assign came[p] = answer_i[p];

    always_ff @(posedge clk_i)
      if (!started_q) begin
        tags_q[p]  <= '0;
        known_q[p] <= '0;
      end else begin
        known_q[p] <= known_q[p] + COUNT_AT_W'(request[p]) - COUNT_AT_W'(came[p]);
        if (came[p]) tags_q[p] <= tags_q[p] >> 1;
        if (request[p]) tags_q[p][1'(known_q[p] - COUNT_AT_W'(came[p]))] <= request_for;
      end
  end

  wire in   = issue_i && ready;
  wire out  = valid && ready_i;
  wire mark = in && mark_i && !marked_q;
  wire here = out && marked_q && ahead_q == '0;
  wire takes = marked_q && !none_q && !answered_q && came[part_q] && before_q == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      for (int p = 0; p < PARTITIONS; p++) asked_q[p] <= '0;
      inside_q   <= '0;
      ahead_q    <= '0;
      before_q   <= '0;
      marked_q   <= 1'b0;
      answered_q <= 1'b0;
      part_q     <= '0;
      none_q     <= 1'b0;
      member_q   <= 1'b0;
      line_q     <= '0;
      was_full_q <= 1'b0;
    end else begin
      for (int p = 0; p < PARTITIONS; p++)
        asked_q[p] <= asked_q[p] + COUNT_AT_W'(in && !none_i && part_i == ($clog2(PARTITIONS))'(p)) - COUNT_AT_W'(came[p]);
      inside_q <= inside_q + TOTAL_W'(in) - TOTAL_W'(out);
      if (mark) begin
        marked_q   <= 1'b1;
        answered_q <= 1'b0;
        part_q     <= part_i;
        none_q     <= none_i;
        member_q   <= member_i;
        ahead_q    <= inside_q - TOTAL_W'(out);
        before_q   <= asked_q[part_i] - COUNT_AT_W'(came[part_i]);
      end else if (marked_q) begin
        if (here) marked_q <= 1'b0;
        if (out) ahead_q <= ahead_q - 1'b1;
        if (!none_q && !answered_q && came[part_q]) begin
          if (before_q == '0) answered_q <= 1'b1;
          else before_q <= before_q - 1'b1;
        end
        if (takes) line_q <= answer_line[part_q];
      end
      if (!ready) was_full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What partitions owe: an answer to each request, some cycles later, for its place.
      for (int h = 0; h < SIDES; h++) assume ($onehot0(came[h*SIDE_PARTITIONS +: SIDE_PARTITIONS]));
      for (int p = 0; p < PARTITIONS; p++) begin
        assume (!(came[p] && known_q[p] == '0));
        assume (!(came[p] && answer_for_i[p] != tags_q[p][0]));
      end
      // What the port owes.
      for (int p = 0; p < PARTITIONS; p++)
        if (came[p]) assert (!dut.there_q[answer_for_i[p]]); // there is room for the answer
      if (here) begin
        assert (meta_out.none == none_q && meta_out.member == member_t'(member_q));
        assert (none_q || (answered_q && line == line_q));
      end
      if (marked_q) assert (ahead_q < inside_q);             // not lost
      // Nothing is under way to a partition or in front of its queue: something comes out, or nothing is left.
      if (asked_q[0] == '0 && asked_q[1] == '0 && asked_q[2] == '0 && asked_q[3] == '0 && came == '0
          && !valid && inside_q != '0)
        assert (dut.pop);
      assert (busy == (inside_q != '0));
      cover (was_full_q && inside_q == '0);
      cover (here && !none_q && asked_q[0] != '0 && asked_q[PARTITIONS-1] != '0);
    end
  end
endmodule

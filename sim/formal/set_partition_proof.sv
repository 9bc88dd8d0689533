// Four PUs ask a partition for lines, two by each port of its memory, in turn. Each line answers one request: of the PU whose
// turn it was, in the order of that PU's requests, with what is stored and with what was said of it; no PU is served without a
// request, and each waiting one is served in its turn, unless the loader writes. One request of one PU is followed.
module set_partition_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic           clk_i,
  input turn_t          turn_i,
  input logic [PUS-1:0] request_i,
  input logic [PUS-1:0] at_i,     // a line each
  input logic [PUS-1:0] for_i,
  input logic           write_i,
  input logic           write_at_i,
  input line_t          write_line_i,
  input logic [$clog2(PUS)-1:0] from_i, // the PU that is watched, always the same
  input logic           mark_i    // follow its request that comes in now
);
  localparam int unsigned COUNT_AT_W = $clog2(ANSWERS) + 1;
  localparam int unsigned PU_W       = $clog2(PUS);

  logic             started_q = 1'b0;
  logic [PU_W-1:0]  from_q;
  logic [PUS-1:0]   answered;
  logic [0:0]       at [PUS];
  answer_at_t       for_what [PUS];
  answer_at_t       answer_for [PORTS];
  line_t            line [PORTS];

  always_comb
    for (int p = 0; p < PUS; p++) begin
      at[p]       = at_i[p];
      for_what[p] = answer_at_t'(for_i[p]);
    end

  gramer_set_partition dut (
    .clk_i, .rst_i (!started_q), .write_i, .write_at_i, .write_line_i, .turn_i,
    .request_i, .at_i (at), .for_i (for_what), .answer_o (answered), .for_o (answer_for), .line_o (line),
    .conflict_o ()
  );

  logic [COUNT_AT_W-1:0] counts_q [PUS]; // requests that have no answer
  logic [COUNT_AT_W-1:0] ahead_q;
  logic       marked_q, at_q, for_q, was_full_q;
  turn_t      turn_q;
  logic [1:0] asked_q;     // lines that were asked for
  logic [COUNT_AT_W:0] turns_q; // of the PU that is watched, since the request that is followed came

  wire port = 1'(32'(from_i) / PORT_PUS);
  wire turn = turn_i == turn_t'(32'(from_i) % PORT_PUS) && !(write_i && !port);
  wire mark = request_i[from_i] && mark_i && !marked_q;
  wire here = answered[from_i] && marked_q && ahead_q == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    from_q    <= from_i;
    turn_q    <= turn_i;
    if (!started_q) begin
      for (int p = 0; p < PUS; p++) counts_q[p] <= '0;
      ahead_q    <= '0;
      marked_q   <= 1'b0;
      at_q       <= 1'b0;
      for_q      <= 1'b0;
      turns_q    <= '0;
      asked_q    <= '0;
      was_full_q <= 1'b0;
    end else begin
      for (int p = 0; p < PUS; p++) begin
        counts_q[p] <= counts_q[p] + COUNT_AT_W'(request_i[p]) - COUNT_AT_W'(answered[p]);
        if (request_i[p]) asked_q[at_i[p]] <= 1'b1;
      end
      if (mark) begin
        marked_q <= 1'b1;
        at_q     <= at_i[from_i];
        for_q    <= for_i[from_i];
        ahead_q  <= counts_q[from_i] - COUNT_AT_W'(answered[from_i]);
        turns_q  <= (COUNT_AT_W+1)'(turn);
      end else begin
        if (here) marked_q <= 1'b0;
        if (marked_q && answered[from_i]) ahead_q <= ahead_q - 1'b1;
        turns_q <= turns_q + (COUNT_AT_W+1)'(turn);
      end
      if (counts_q[0] == COUNT_AT_W'(ANSWERS) && counts_q[PUS-1] == COUNT_AT_W'(ANSWERS)) was_full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What callers owe: turns go round, no more is under way than they have room for,
      assume (from_i == from_q);
      assume (turn_i == turn_t'(turn_q + 1'b1));
      for (int p = 0; p < PUS; p++)
        assume (!(request_i[p] && counts_q[p] == COUNT_AT_W'(ANSWERS)));
      // and a line is there before it is asked for.
      assume (!(write_i && asked_q[write_at_i]));
      for (int p = 0; p < PUS; p++) assume (!(write_i && request_i[p] && at_i[p] == write_at_i));
      // What the partition owes.
      for (int o = 0; o < PORTS; o++) assert ($onehot0(answered[o*PORT_PUS +: PORT_PUS])); // one line of a port
      for (int p = 0; p < PUS; p++)
        if (answered[p]) assert (counts_q[p] != '0);                   // none without a request
      if (here) assert (line[port] == dut.i_memory.gen_block[1].gen_memory.words[at_q]); // in order
      if (here) assert (answer_for[port] == answer_at_t'(for_q));
      for (int p = 0; p < PUS; p++)                                    // never idle in the turn of one that waits
        assert (dut.served[p] == (dut.waiting[p] && turn_i == turn_t'(p % PORT_PUS)
                                  && !(write_i && p < PORT_PUS)));
      // As many turns as there may be requests, and at most one more until the answer.
      if (marked_q) assert (turns_q <= (COUNT_AT_W+1)'(ANSWERS + 1));
      cover (was_full_q && counts_q[0] == '0 && counts_q[PUS-1] == '0);
      cover (here && turns_q == (COUNT_AT_W+1)'(ANSWERS));
    end
  end
endmodule

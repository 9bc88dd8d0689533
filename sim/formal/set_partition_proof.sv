// Two PUs ask a partition for lines, and are served as somebody else likes. Each line answers one request: of its own
// PU, in the order of that PU's requests, with the place that was said and what is stored, four cycles after its turn;
// a PU waits as long as it has a request without a turn. One request of one PU is followed.
module set_partition_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic           clk_i,
  input logic [PUS-1:0] request_i,
  input logic [PUS-1:0] at_i,     // a line each
  input logic [PUS-1:0] place_i,  // a place each
  input logic [PUS-1:0] grant_i,
  input logic           write_i,
  input logic           write_at_i,
  input line_t          write_line_i,
  input logic           from_i,   // the PU that is watched, always the same
  input logic           mark_i    // follow its request that comes in now
);
  localparam int unsigned COUNT_AT_W = $clog2(ANSWERS) + 1;

  logic           started_q = 1'b0;
  logic           from_q;
  logic [0:0]     at [PUS];
  answer_at_t     place [PUS], answer_place;
  logic [PUS-1:0] answer, waiting;
  line_t          line;

  always_comb
    for (int p = 0; p < PUS; p++) begin
      at[p]    = at_i[p];
      place[p] = answer_at_t'(place_i[p]);
    end

  gramer_set_partition dut (
    .clk_i, .rst_i (!started_q), .write_i, .write_at_i, .write_line_i,
    .request_i, .at_i (at), .place_i (place), .waiting_o (waiting), .grant_i,
    .answer_o (answer), .place_o (answer_place), .line_o (line), .conflict_o ()
  );

  logic [COUNT_AT_W-1:0] counts_q [PUS];  // requests that have no answer
  logic [COUNT_AT_W-1:0] waiting_q [PUS]; // and no turn
  logic [COUNT_AT_W-1:0] ahead_q;
  logic [PUS-1:0] granted_q [4];          // one to four cycles ago
  logic       marked_q, at_q, place_q, was_full_q, here_q, here_at_q;

  wire mark = request_i[from_i] && mark_i && !marked_q;
  wire here = answer[from_i] && marked_q && ahead_q == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    from_q    <= from_i;
    here_q    <= started_q && here;
    here_at_q <= at_q;
    if (!started_q) begin
      for (int p = 0; p < PUS; p++) begin
        counts_q[p]  <= '0;
        waiting_q[p] <= '0;
      end
      for (int s = 0; s < 4; s++) granted_q[s] <= '0;
      ahead_q    <= '0;
      marked_q   <= 1'b0;
      at_q       <= 1'b0;
      place_q    <= 1'b0;
      was_full_q <= 1'b0;
    end else begin
      for (int p = 0; p < PUS; p++) begin
        counts_q[p]  <= counts_q[p] + COUNT_AT_W'(request_i[p]) - COUNT_AT_W'(answer[p]);
        waiting_q[p] <= waiting_q[p] + COUNT_AT_W'(request_i[p]) - COUNT_AT_W'(grant_i[p]);
      end
      granted_q[0] <= grant_i;
      for (int s = 1; s < 4; s++) granted_q[s] <= granted_q[s-1];
      if (mark) begin
        marked_q <= 1'b1;
        at_q     <= at_i[from_i];
        place_q  <= place_i[from_i];
        ahead_q  <= counts_q[from_i] - COUNT_AT_W'(answer[from_i]);
      end else begin
        if (here) marked_q <= 1'b0;
        if (marked_q && answer[from_i]) ahead_q <= ahead_q - 1'b1;
      end
      if (counts_q[0] == COUNT_AT_W'(ANSWERS) && counts_q[1] == COUNT_AT_W'(ANSWERS)) was_full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What callers owe: no more under way than they have room for, and a turn at a time for one that waits.
      assume (from_i == from_q);
      assume (grant_i != '1 && (grant_i & ~waiting) == '0);
      for (int p = 0; p < PUS; p++)
        assume (!(request_i[p] && counts_q[p] == COUNT_AT_W'(ANSWERS)));
      // And a line is there before it is asked for.
      assume (!(write_i && (request_i != '0 || counts_q[0] != '0 || counts_q[1] != '0 || here_q)));
      // What the partition owes.
      assert (answer == granted_q[3]);
      for (int p = 0; p < PUS; p++) begin
        assert (waiting[p] == (waiting_q[p] != '0));                   // no request is lost
        if (answer[p]) assert (counts_q[p] != '0);                     // none without a request
      end
      if (here) assert (answer_place == answer_at_t'(place_q));        // in order
      if (here_q) assert (line == dut.mem[here_at_q]);
      cover (was_full_q && counts_q[0] == '0 && counts_q[1] == '0);
    end
  end
endmodule

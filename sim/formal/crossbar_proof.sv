// The messages of one arbitrary pair of input and output: each comes out once, in order, unchanged,
// and its input is never passed over for longer than a round. One of them is followed.
module crossbar_proof (
  input logic       clk_i,
  input logic [2:0] valid_i,
  input logic [2:0] target_i, // a bit an input: two outputs
  input logic [8:0] message_i, // three bits an input
  input logic [1:0] ready_i,
  input logic [1:0] from_i,   // the pair that is watched, always the same
  input logic       to_i,
  input logic       mark_i    // follow the message that comes in now
);
  localparam int unsigned INPUTS  = 3; // not a power of two
  localparam int unsigned OUTPUTS = 2;
  localparam int unsigned DEPTH   = 2;

  logic       started_q = 1'b0;
  logic [1:0] from_q;
  logic       to_q;

  logic [0:0] target [INPUTS];
  logic [1:0] valid;
  logic [1:0] source    [OUTPUTS];
  logic [2:0] message   [INPUTS];
  logic [2:0] message_out [OUTPUTS];
  logic [2:0] waiting   [OUTPUTS];

  always_comb for (int i = 0; i < INPUTS; i++) begin
    target[i]  = target_i[i];
    message[i] = message_i[3*i +: 3];
  end

  gramer_crossbar #(.INPUTS(INPUTS), .OUTPUTS(OUTPUTS), .WIDTH(3), .DEPTH(DEPTH)) dut (
    .clk_i, .rst_i (!started_q),
    .valid_i, .target_i (target), .message_i (message),
    .valid_o (valid), .ready_i, .source_o (source), .message_o (message_out),
    .waiting_o (waiting)
  );

  logic [INPUTS-1:0] grants [OUTPUTS];
  logic [2:0] held, later_all [OUTPUTS]; // inputs with messages for the watched output; after_q
  logic [2:0] some_all [OUTPUTS]; // inputs with messages, as the crossbar has noted it
  logic [1:0] levels [OUTPUTS][INPUTS];
  logic [2:0] kept   [OUTPUTS][INPUTS][DEPTH]; // messages from the oldest on

  for (genvar o = 0; o < OUTPUTS; o++) begin : gen_inside
    assign grants[o] = dut.gen_column[o].i_column.grant;
    assign some_all[o] = dut.gen_column[o].i_column.some_q;
    assign later_all[o]  = dut.gen_column[o].i_column.i_arbiter.after_q;
    for (genvar i = 0; i < INPUTS; i++) begin : gen_input
      assign levels[o][i] = dut.gen_column[o].i_column.gen_point[i].write_q
                            - dut.gen_column[o].i_column.gen_point[i].read_q;
      for (genvar d = 0; d < DEPTH; d++) begin : gen_place
        wire at = dut.gen_column[o].i_column.gen_point[i].read_q[0] ^ 1'(d);
        assign kept[o][i][d] = dut.gen_column[o].i_column.gen_point[i].mem[at];
      end
    end
  end

  logic [1:0] counts_q [INPUTS]; // messages that are under way to the watched output
  logic [1:0] ahead_q, waits_q;
  logic [2:0] others_q; // inputs that waited while another one was taken
  logic       marked_q, was_full_q;
  logic [2:0] kept_q;

  wire in   = valid_i[from_i] && target_i[from_i] == to_i;
  wire took = valid[to_i] && ready_i[to_i];
  wire out  = took && source[to_i] == from_i;
  wire mark = in && mark_i && !marked_q;
  wire here = out && marked_q && ahead_q == '0;

  always_comb for (int i = 0; i < INPUTS; i++) held[i] = counts_q[i] != '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    from_q    <= from_i;
    to_q      <= to_i;
    if (!started_q) begin
      for (int i = 0; i < INPUTS; i++) counts_q[i] <= '0;
      ahead_q    <= '0;
      waits_q    <= '0;
      others_q   <= '0;
      marked_q   <= 1'b0;
      was_full_q <= 1'b0;
      kept_q     <= '0;
    end else begin
      for (int i = 0; i < INPUTS; i++)
        counts_q[i] <= counts_q[i] + 2'(valid_i[i] && target_i[i] == to_i)
                       - 2'(took && source[to_i] == 2'(i));
      others_q <= took ? 3'(held[0]) + 3'(held[1]) + 3'(held[2]) - 3'd1 : 3'd0;
      if (!held[from_i] || out) waits_q <= '0;
      else if (took)              waits_q <= waits_q + 1'b1;
      if (mark) begin
        marked_q <= 1'b1;
        kept_q   <= message_i[3*from_i +: 3];
        ahead_q  <= counts_q[from_i] - 2'(out);
      end else if (here)          marked_q <= 1'b0;
      else if (marked_q && out)   ahead_q <= ahead_q - 1'b1;
      if (held == '1) was_full_q <= 1'b1;
    end
  end

  // Inputs that may still go before the watched one (see rr_arbiter_proof).
  wire [2:0] later    = later_all[to_i];
  wire [1:0] later_n  = 2'(later[0]) + 2'(later[1]) + 2'(later[2]);
  wire [1:0] before_n = 2'(later[0] && from_i > 2'd0) + 2'(later[1] && from_i > 2'd1);
  wire [2:0] turns    = later[from_i] ? 3'(before_n) : 3'(later_n) + 3'(from_i);

  always_comb begin
    if (started_q) begin
      // What callers owe: no more messages under way than a crosspoint holds.
      assume (from_i < 2'(INPUTS));
      assume (from_i == from_q && to_i == to_q);
      for (int i = 0; i < INPUTS; i++)
        assume (!(valid_i[i] && target_i[i] == to_i && counts_q[i] == 2'(DEPTH)));
      // What the crossbar owes.
      for (int o = 0; o < OUTPUTS; o++) begin
        assert ((grants[o] & (grants[o] - 3'd1)) == '0);
        assert (valid[o] == (grants[o] != '0));
        if (valid[o]) assert (grants[o] == 3'd1 << source[o]);
      end
      assert (valid[to_i] == (held != '0));         // an output idles only if nothing is there
      if (valid[to_i]) assert (held[source[to_i]]); // nothing comes out that did not go in
      if (here) assert (message_out[to_i] == kept_q);    // the next in its order
      if (marked_q) assert (ahead_q < counts_q[from_i]); // not lost
      assert (waits_q < 2'(INPUTS));
      assert (waiting[to_i] == others_q);
`ifdef INVARIANTS
      for (int i = 0; i < INPUTS; i++) begin
        assert (counts_q[i] <= 2'(DEPTH));
        assert (levels[to_i][i] == counts_q[i]);
        assert (some_all[to_i][i] == (counts_q[i] != '0));
      end
      if (marked_q) assert (kept[to_i][from_i][ahead_q[0]] == kept_q);
      assert (((~later) & (~later + 3'd1)) == '0 && !later[0]);
      if (held[from_i]) assert (3'(waits_q) + turns < 3'(INPUTS));
      if (!held[from_i]) assert (waits_q == '0);
`endif
      cover (waits_q == 2'(INPUTS - 1) && out);
      cover (was_full_q && held == '0);
      cover (here && in && counts_q[from_i] == 2'd1 && valid == '1 && ready_i == '1);
    end
  end
endmodule

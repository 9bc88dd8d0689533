// Queue between two regions of the die (SLRs) with credit-based back-pressure: the sender has one credit per entry
// of the receiver's queue and gets it back when the entry is taken. Both ends use the PU's handshake: more_*
// announces a message in addition to the one being taken, and take_* takes data_* one cycle later.
//
//   more_i ─► take_o, data_i ──[registers]──► [queue] ─► more_o, data_o ◄─ take_i
//                  ▲                              │
//                  └── credits ──[registers]──────┘
module gramer_slr_link #(
  /// Bits of a message.
  parameter int unsigned WIDTH = 8,
  /// Registers in each direction, at least one.
  parameter int unsigned STAGES = 1,
  /// Maximum of messages in flight, a power of two.
  parameter int unsigned DEPTH = 8
) (
  input  logic             clk_i,
  // Sender
  input  logic             rst_i,
  input  logic             more_i, // a message, in addition to the one being taken
  output logic             take_o, // takes data_i
  input  logic [WIDTH-1:0] data_i,
  output logic             busy_o, // a message is in flight or waits at the receiver
  // Receiver
  input  logic             far_rst_i,
  output logic             more_o,
  input  logic             take_i,
  output logic [WIDTH-1:0] data_o
);

  logic take_q;

  assign take_o = take_q;

  localparam int unsigned COUNT_W = $clog2(DEPTH) + 1;

  logic [COUNT_W-1:0] credits_q, waiting_q;
  logic               arrived, returned;
  logic [WIDTH-1:0]   message;

  always_ff @(posedge clk_i) begin
    take_q <= !rst_i && more_i && credits_q > COUNT_W'(take_q);
    if (rst_i) credits_q <= COUNT_W'(DEPTH);
    else credits_q <= credits_q - COUNT_W'(take_q) + COUNT_W'(returned);
  end

  assign busy_o = take_q || credits_q != COUNT_W'(DEPTH);

  gramer_slr_registers #(.WIDTH(1 + WIDTH), .STAGES(STAGES)) i_forth (
    .clk_i, .data_i ({take_q, data_i}), .data_o ({arrived, message})
  );

  gramer_slr_registers #(.WIDTH(1), .STAGES(STAGES)) i_back (
    .clk_i, .data_i (take_i), .data_o (returned)
  );

  (* keep_hierarchy = "yes" *)
  gramer_fifo #(.WIDTH(WIDTH), .DEPTH(DEPTH)) i_queue (
    .clk_i, .rst_i (far_rst_i),
    .push_i (arrived), .data_i (message), .full_o (),
    .pop_i (take_i), .valid_o (), .data_o
  );

  always_ff @(posedge clk_i) begin
    if (far_rst_i) waiting_q <= '0;
    else waiting_q <= waiting_q + COUNT_W'(arrived) - COUNT_W'(take_i);
  end

  assign more_o = waiting_q > COUNT_W'(take_i);

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (credits_q <= COUNT_W'(DEPTH)) else $error("a credit too many");
    assert (!(take_q && credits_q == '0)) else $error("a message without a credit");
  end
`endif

endmodule

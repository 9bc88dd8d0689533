// Crossbar with a FIFO at every crosspoint: no head-of-line blocking between outputs, and an output is
// idle only if no message waits for it.
//
//            output 0    output 1
//   input 0 ──[fifo]──────[fifo]──
//   input 1 ──[fifo]──────[fifo]──
//                │           │       round robin down each column
//
// Inputs have no back-pressure: DEPTH is the maximum of messages in flight between an input and an output,
// which the slots of a PU bound (one outstanding access each).
module gramer_crossbar #(
  /// Inputs.
  parameter int unsigned INPUTS = 2,
  /// Outputs.
  parameter int unsigned OUTPUTS = 2,
  /// Bits of a message.
  parameter int unsigned WIDTH = 36,
  /// Messages per crosspoint, a power of two.
  parameter int unsigned DEPTH = 4,
  localparam int unsigned IN_W  = INPUTS > 1 ? $clog2(INPUTS) : 1,
  localparam int unsigned OUT_W = OUTPUTS > 1 ? $clog2(OUTPUTS) : 1
) (
  input  logic              clk_i,
  input  logic              rst_i,
  // Inputs
  input  logic [INPUTS-1:0] valid_i,
  input  logic [OUT_W-1:0]  target_i [INPUTS],
  input  logic [WIDTH-1:0]  message_i [INPUTS],
  // Outputs
  output logic [OUTPUTS-1:0] valid_o,
  input  logic [OUTPUTS-1:0] ready_i,
  output logic [IN_W-1:0]    source_o [OUTPUTS],
  output logic [WIDTH-1:0]   message_o [OUTPUTS],
  /// Conflicts of the last cycle: messages that waited while another one of the same output was taken.
  output logic [IN_W:0]      waiting_o [OUTPUTS]
);

  logic [INPUTS-1:0][WIDTH-1:0] message;
  always_comb for (int i = 0; i < INPUTS; i++) message[i] = message_i[i];

  for (genvar o = 0; o < OUTPUTS; o++) begin : gen_column
    logic [INPUTS-1:0] push;
    always_comb for (int i = 0; i < INPUTS; i++) push[i] = valid_i[i] && target_i[i] == OUT_W'(o);

    gramer_crossbar_column #(.INPUTS(INPUTS), .WIDTH(WIDTH), .DEPTH(DEPTH)) i_column (
      .clk_i, .rst_i,
      .push_i    (push),
      .message_i (message),
      .valid_o   (valid_o[o]),
      .ready_i   (ready_i[o]),
      .source_o  (source_o[o]),
      .message_o (message_o[o]),
      .waiting_o (waiting_o[o])
    );
  end

endmodule

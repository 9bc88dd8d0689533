// Crossbar with a FIFO at every crosspoint: an input never waits for another input's output, and
// an output is idle only if nothing is there for it.
//
//            output 0    output 1
//   input 0 ──[fifo]──────[fifo]──
//   input 1 ──[fifo]──────[fifo]──
//                │           │       round robin down each column
//
// There is no back-pressure on the inputs: DEPTH is the most messages that can be under way
// between an input and an output, which the slots of a PU bound (one outstanding access each).
module crossbar #(
  /// Inputs.
  parameter int unsigned INPUTS = 2,
  /// Outputs.
  parameter int unsigned OUTPUTS = 2,
  /// Bits of the header that goes with the data.
  parameter int unsigned HEAD_W = 4,
  /// Bits of the data.
  parameter int unsigned DATA_W = 32,
  /// Messages a crosspoint, a power of two.
  parameter int unsigned DEPTH = 4,
  localparam int unsigned IN_W  = INPUTS > 1 ? $clog2(INPUTS) : 1,
  localparam int unsigned OUT_W = OUTPUTS > 1 ? $clog2(OUTPUTS) : 1
) (
  input  logic              clk_i,
  input  logic              rst_i,
  // Inputs
  input  logic [INPUTS-1:0] valid_i,
  input  logic [OUT_W-1:0]  target_i [INPUTS],
  input  logic [HEAD_W-1:0] head_i   [INPUTS],
  input  logic [DATA_W-1:0] data_i   [INPUTS],
  // Outputs
  output logic [OUTPUTS-1:0] valid_o,
  input  logic [OUTPUTS-1:0] ready_i,
  output logic [IN_W-1:0]    source_o [OUTPUTS],
  output logic [HEAD_W-1:0]  head_o   [OUTPUTS],
  output logic [DATA_W-1:0]  data_o   [OUTPUTS],
  /// Messages that waited while another one of the same output was taken in the last cycle.
  output logic [IN_W:0]      waiting_o [OUTPUTS]
);

  localparam int unsigned PTR_W = $clog2(DEPTH);

  for (genvar o = 0; o < OUTPUTS; o++) begin : gen_column
    logic [HEAD_W+DATA_W-1:0] first [INPUTS]; // in each crosspoint's FIFO
    logic [PTR_W:0]    write_q [INPUTS], read_q [INPUTS];
    logic [INPUTS-1:0] some_q, grant; // some_q: the FIFO has a message

    // A memory of its own for each crosspoint, with one write and one read port: LUTRAM.
    for (genvar i = 0; i < INPUTS; i++) begin : gen_point
      logic [HEAD_W+DATA_W-1:0] mem [DEPTH];
      assign first[i] = mem[read_q[i][PTR_W-1:0]];
      always_ff @(posedge clk_i)
        if (valid_i[i] && target_i[i] == OUT_W'(o))
          mem[write_q[i][PTR_W-1:0]] <= {head_i[i], data_i[i]};
    end

    rr_arbiter #(.REQUESTS(INPUTS)) i_arbiter (
      .clk_i, .rst_i,
      .request_i (some_q),
      .take_i    (ready_i[o]),
      .valid_o   (valid_o[o]),
      .grant_o   (grant),
      .index_o   (source_o[o])
    );

    always_comb begin
      {head_o[o], data_o[o]} = '0;
      for (int i = 0; i < INPUTS; i++) if (grant[i]) {head_o[o], data_o[o]} |= first[i];
    end
    // All that have a message, but for the one that is taken: not from the grant, which is late.
    always_ff @(posedge clk_i)
      waiting_o[o] <= (valid_o[o] && ready_i[o] && !rst_i)
                      ? (IN_W+1)'($countones(some_q) - 1) : '0;

    always_ff @(posedge clk_i) begin
      for (int i = 0; i < INPUTS; i++) begin
        if (valid_i[i] && target_i[i] == OUT_W'(o)) write_q[i] <= write_q[i] + 1'b1;
        if (grant[i] && ready_i[o]) read_q[i] <= read_q[i] + 1'b1;
        if (valid_i[i] && target_i[i] == OUT_W'(o)) some_q[i] <= 1'b1;
        else if (grant[i] && ready_i[o]) some_q[i] <= write_q[i] != (PTR_W+1)'(read_q[i] + 1'b1);
        if (rst_i) begin
          write_q[i] <= '0;
          read_q[i]  <= '0;
          some_q[i]  <= 1'b0;
        end
      end
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (!rst_i) begin
      for (int i = 0; i < INPUTS; i++)
        assert (!(valid_i[i] && target_i[i] == OUT_W'(o) &&
                  (PTR_W+1)'(write_q[i] - read_q[i]) == (PTR_W+1)'(DEPTH)))
        else $error("crosspoint overflow");
    end
`endif
  end

endmodule

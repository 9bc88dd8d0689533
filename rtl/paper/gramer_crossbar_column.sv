// Column of the crossbar: the crosspoint FIFOs of one output and their round-robin arbiter.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_crossbar_column #(
  /// Inputs.
  parameter int unsigned INPUTS = 2,
  /// Bits of a message.
  parameter int unsigned WIDTH = 36,
  /// Messages per crosspoint, a power of two.
  parameter int unsigned DEPTH = 4,
  localparam int unsigned IN_W = INPUTS > 1 ? $clog2(INPUTS) : 1
) (
  input  logic              clk_i,
  input  logic              rst_i,
  // Inputs
  input  logic [INPUTS-1:0] push_i, // a message for this output
  input  logic [INPUTS-1:0][WIDTH-1:0] message_i,
  // Output
  output logic              valid_o,
  input  logic              ready_i,
  output logic [IN_W-1:0]   source_o,
  output logic [WIDTH-1:0]  message_o,
  /// Conflicts of the last cycle: messages that waited while another one was taken.
  output logic [IN_W:0]     waiting_o
);

  logic [IN_W:0] waiting_q;

  assign waiting_o = waiting_q;

  localparam int unsigned PTR_W = $clog2(DEPTH);

  logic [WIDTH-1:0]  first [INPUTS]; // head of each crosspoint's FIFO
  logic [INPUTS-1:0] some_q, grant;  // some_q: the FIFO has a message

  for (genvar i = 0; i < INPUTS; i++) begin : gen_point
    logic [PTR_W:0] write_q, read_q;

    // One memory per crosspoint, with one write and one read port.
    (* ram_style = "distributed" *) logic [WIDTH-1:0] mem [DEPTH];
    assign first[i] = mem[read_q[PTR_W-1:0]];
    always_ff @(posedge clk_i) if (push_i[i]) mem[write_q[PTR_W-1:0]] <= message_i[i];

    always_ff @(posedge clk_i) begin
      if (push_i[i]) write_q <= write_q + 1'b1;
      if (grant[i] && ready_i) read_q <= read_q + 1'b1;
      if (push_i[i]) some_q[i] <= 1'b1;
      else if (grant[i] && ready_i) some_q[i] <= write_q != (PTR_W+1)'(read_q + 1'b1);
      if (rst_i) begin
        write_q   <= '0;
        read_q    <= '0;
        some_q[i] <= 1'b0;
      end
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (!rst_i)
      assert (!(push_i[i] && (PTR_W+1)'(write_q - read_q) == (PTR_W+1)'(DEPTH)))
      else $error("crosspoint overflow");
`endif
  end

  gramer_rr_arbiter #(.REQUESTS(INPUTS)) i_arbiter (
    .clk_i, .rst_i,
    .request_i (some_q),
    .take_i    (ready_i),
    .valid_o,
    .grant_o   (grant),
    .index_o   (source_o)
  );

  always_comb begin
    message_o = '0;
    for (int i = 0; i < INPUTS; i++) if (grant[i]) message_o |= first[i];
  end

  // Counts all waiting messages less the taken one; does not use the grant, which arrives late.
  always_ff @(posedge clk_i)
    waiting_q <= (valid_o && ready_i && !rst_i) ? (IN_W+1)'($countones(some_q) - 1) : '0;

endmodule

// A part of the graph image on chip: line n of the image is line n / PARTITIONS of partition
// n mod PARTITIONS. Each PU has a queue here with room for all that it may have under way, so nothing is
// held back; the PUs take turns. Answers go to the PU in the order of its requests and always fit
// there (gramer_set_port).
//
//   request, at ─► [queue of each PU] ─► turns ─► [URAM] ─► answer, line
module gramer_set_partition
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  localparam int unsigned AT_W = $clog2(PARTITION_LINES)
) (
  input  logic            clk_i,
  input  logic            rst_i,
  // Loader
  input  logic            write_i,
  input  logic [AT_W-1:0] write_at_i,
  input  line_t           write_line_i,
  // PUs
  input  logic [PUS-1:0]  request_i,
  input  logic [AT_W-1:0] at_i [PUS],
  output logic [PUS-1:0]  answer_o, // at most one
  output line_t           line_o,
  // Event
  output logic            conflict_o // a PU waits while another is served
);

  line_t line_q;
  logic conflict_q;

  assign line_o     = line_q;
  assign conflict_o = conflict_q;

  // From the turn to the answer: the memory and its two registers.
  localparam int unsigned STAGES = 4;

  (* ram_style = "ultra" *) line_t mem [PARTITION_LINES];

  logic [PUS-1:0]  waits, waiting, grant, turn_q;
  logic [AT_W-1:0] head [PUS];
  logic [AT_W-1:0] head_q [PUS];
  logic [AT_W-1:0] at, at_q;
  logic [PUS-1:0]  for_q [STAGES];
  line_t           read_q, piped_q;

  // A request that none waits before takes part in the turns at once.
  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    logic [AT_W-1:0] oldest;

    gramer_fifo #(.WIDTH(AT_W), .DEPTH(ANSWERS)) i_requests (
      .clk_i, .rst_i,
      .push_i (request_i[p] && (waits[p] || !grant[p])), .data_i (at_i[p]), .full_o (),
      .pop_i (grant[p] && waits[p]), .valid_o (waits[p]), .data_o (oldest)
    );
    assign waiting[p] = waits[p] || request_i[p];
    assign head[p]    = waits[p] ? oldest : at_i[p];
  end

  gramer_rr_arbiter #(.REQUESTS(PUS)) i_turn (
    .clk_i, .rst_i,
    .request_i (waiting), .take_i (1'b1), .valid_o (), .grant_o (grant), .index_o ()
  );

  always_comb begin
    at = '0;
    for (int p = 0; p < PUS; p++) if (turn_q[p]) at |= head_q[p];
  end

  always_ff @(posedge clk_i) begin
    turn_q     <= rst_i ? '0 : grant;
    head_q     <= head;
    conflict_q <= (waiting & ~grant) != '0;
    at_q       <= at;
    for_q[0]   <= rst_i ? '0 : turn_q;
    for (int s = 1; s < STAGES; s++) for_q[s] <= rst_i ? '0 : for_q[s-1];
    if (write_i) mem[write_at_i] <= write_line_i;
    if (for_q[0] != '0) read_q <= mem[at_q];
    if (for_q[1] != '0) piped_q <= read_q;
    if (for_q[2] != '0) line_q <= piped_q;
  end

  assign answer_o = for_q[STAGES-1];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert ($onehot0(answer_o)) else $error("a line for two PUs");
  end
`endif

endmodule

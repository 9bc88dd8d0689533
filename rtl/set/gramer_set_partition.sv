// A part of the graph image on chip: line n of the image is line n / PARTITIONS of partition
// n mod PARTITIONS. Each PU has a queue here with room for all that it may have under way, so nothing is
// held back. Which of them is served says gramer_set_matcher. Answers go to the PU in the order of its requests, with
// the place that it keeps for the line, and always fit there (gramer_set_port).
//
//   request, at ─► [queue of each PU] ─► waiting, grant ─► [URAM] ─► answer ─► line, a cycle later
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
  input  answer_at_t      place_i [PUS],
  output logic [PUS-1:0]  waiting_o,
  input  logic [PUS-1:0]  grant_i,  // one of them, or none
  output logic [PUS-1:0]  answer_o, // at most one; its line comes in the next cycle
  output answer_at_t      place_o,  // of the answer
  output line_t           line_o,
  // Event
  output logic            conflict_o // a PU waits while none or another is served
);

  line_t line_q;
  logic conflict_q;

  assign line_o     = line_q;
  assign conflict_o = conflict_q;

  // From the turn to the line: the memory and its two registers.
  localparam int unsigned STAGES = 4;

  (* ram_style = "ultra" *) line_t mem [PARTITION_LINES];

  typedef struct packed {
    answer_at_t      place;
    logic [AT_W-1:0] at;
  } asked_t;

  logic [PUS-1:0] turn_q, waited_q;
  asked_t         head [PUS];
  asked_t         head_q [PUS];
  asked_t         asked;
  logic [AT_W-1:0] at_q;
  answer_at_t     place_q [STAGES-1];
  logic [PUS-1:0] for_q [STAGES-1];
  line_t          read_q, piped_q;

  // A queue whose valid bit is a register: the match takes most of a cycle.
  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    (* ram_style = "distributed" *) asked_t requests [ANSWERS];
    answer_at_t last_q, next_q, after_q; // after: the one that follows next_q
    logic       some_q;

    assign head[p]      = requests[next_q];
    assign waiting_o[p] = some_q;

    always_ff @(posedge clk_i) begin
      if (request_i[p]) requests[last_q] <= '{place: place_i[p], at: at_i[p]};
      if (rst_i) begin
        last_q <= '0;
        next_q  <= '0;
        after_q <= answer_at_t'(1);
        some_q  <= 1'b0;
      end else begin
        if (request_i[p]) last_q <= last_q + 1'b1;
        if (grant_i[p]) begin
          next_q  <= after_q;
          after_q <= after_q + 1'b1;
        end
        some_q <= request_i[p] || (grant_i[p] ? last_q != after_q : some_q);
      end
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (!rst_i) begin
      assert (!(request_i[p] && some_q && last_q == next_q && !grant_i[p])) else $error("a request without room");
      assert (!(grant_i[p] && !some_q)) else $error("a grant without a request");
    end
`endif
  end

  always_comb begin
    asked = '0;
    for (int p = 0; p < PUS; p++) if (turn_q[p]) asked |= head_q[p];
  end

  always_ff @(posedge clk_i) begin
    turn_q     <= rst_i ? '0 : grant_i;
    head_q     <= head;
    waited_q   <= waiting_o;
    conflict_q <= (waited_q & ~turn_q) != '0;
    at_q       <= asked.at;
    place_q[0] <= asked.place;
    for_q[0]   <= rst_i ? '0 : turn_q;
    for (int s = 1; s < STAGES - 1; s++) begin
      for_q[s]   <= rst_i ? '0 : for_q[s-1];
      place_q[s] <= place_q[s-1];
    end
    if (write_i) mem[write_at_i] <= write_line_i;
    if (for_q[0] != '0) read_q <= mem[at_q];
    if (for_q[1] != '0) piped_q <= read_q;
    if (for_q[STAGES-2] != '0) line_q <= piped_q;
  end

  assign answer_o = for_q[STAGES-2];
  assign place_o  = place_q[STAGES-2];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert ($onehot0(answer_o)) else $error("a line for two PUs");
  end
`endif

endmodule

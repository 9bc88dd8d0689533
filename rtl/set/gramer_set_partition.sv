// Partition of the graph image on chip: line n of the image is line n / PARTITIONS of partition n mod PARTITIONS. The
// memory has two ports, one per half of the PUs; a fixed rotation assigns a port to the PUs of a half, whether they
// request or not. So a PU receives at most one line per cycle from each half of the partitions (gramer_set_port), and
// no matching is needed. Each PU has a queue with room for all its outstanding requests: there is no back-pressure.
//
//   request ─► [queue of each PU of a half] ─► turn ─► [port of the memory] ─► answer, line: 2 cycles after the turn
//
// A request with an empty queue may be served in the cycle in which it arrives. The loader writes through the first
// port and takes precedence there.
module gramer_set_partition
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  parameter int unsigned NARROW = 0, // columns of UltraRAM left out (gramer_set_partition_memory)
  localparam int unsigned AT_W = $clog2(PARTITION_LINES)
) (
  input  logic            clk_i,
  input  logic            rst_i,
  // Loader
  input  logic            write_i,
  input  logic [AT_W-1:0] write_at_i,
  input  line_t           write_line_i,
  // PUs
  input  turn_t           turn_i,       // PU served in each half
  input  logic [PUS-1:0]  request_i,
  input  logic [AT_W-1:0] at_i [PUS],
  input  answer_at_t      for_i [PUS],  // tag returned with the answer
  output logic [PUS-1:0]  answer_o,
  output answer_at_t      for_o [PORTS],
  output line_t           line_o [PORTS],
  // Event
  output logic            conflict_o // a PU waits while another is served
);

  typedef struct packed {
    answer_at_t      answer;
    logic [AT_W-1:0] at;
  } request_t;

  // Latency from turn to answer: memory and output register.
  localparam int unsigned STAGES = 2;

  logic [PUS-1:0]   waits, waiting, served;
  request_t         asked [PUS], oldest [PUS];
  logic [PORTS-1:0] takes, taken_q, passed;
  logic [PORTS-1:0][AT_W-1:0] at;
  logic             conflict_q;
  logic [STAGES-1:0][PUS-1:0] valid_q; // per PU
  answer_at_t [STAGES-1:0][PORTS-1:0] for_q;
  line_t [PORTS-1:0] read, line_q;

  assign waiting = waits | request_i;

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    assign served[p] = waiting[p] && turn_i == turn_t'(p % PORT_PUS) && (p >= PORT_PUS || !write_i);
    assign asked[p]  = {for_i[p], at_i[p]};

    gramer_fifo #(.WIDTH($bits(request_t)), .DEPTH(ANSWERS)) i_requests (
      .clk_i, .rst_i,
      .push_i (request_i[p] && (waits[p] || !served[p])), .data_i (asked[p]), .full_o (),
      .pop_i (served[p] && waits[p]), .valid_o (waits[p]), .data_o (oldest[p])
    );
  end

  for (genvar o = 0; o < PORTS; o++) begin : gen_port
    // `keep`: one 6-input LUT per bit each.
    (* keep = "true" *) request_t first, second;
    request_t            next;
    logic                queued;
    logic [PORT_PUS-1:0] now, others;

    assign now       = served[o*PORT_PUS +: PORT_PUS];
    assign others    = waiting[o*PORT_PUS +: PORT_PUS] & ~now;
    assign takes[o]  = now != '0;
    assign passed[o] = takes[o] && others != '0;

    always_comb begin
      first  = oldest[o * PORT_PUS];
      second = asked[o * PORT_PUS];
      queued = waits[o * PORT_PUS];
      for (int p = 1; p < PORT_PUS; p++) if (turn_i == turn_t'(p)) begin
        first  = oldest[o * PORT_PUS + p];
        second = asked[o * PORT_PUS + p];
        queued = waits[o * PORT_PUS + p];
      end
    end

    assign next  = queued ? first : second;
    assign at[o] = o == 0 && write_i ? write_at_i : next.at;

    always_ff @(posedge clk_i) begin
      taken_q[o]  <= takes[o];
      for_q[0][o] <= next.answer;
      for (int s = 1; s < STAGES; s++) for_q[s][o] <= for_q[s-1][o];
      if (taken_q[o]) line_q[o] <= read[o];
    end

    assign for_o[o]  = for_q[STAGES-1][o];
    assign line_o[o] = line_q[o];
  end

  assign answer_o = valid_q[STAGES-1];

  always_ff @(posedge clk_i) begin
    conflict_q <= passed != '0;
    valid_q[0] <= rst_i ? '0 : served;
    for (int s = 1; s < STAGES; s++) valid_q[s] <= rst_i ? '0 : valid_q[s-1];
  end

  gramer_set_partition_memory #(.NARROW(NARROW)) i_memory (
    .clk_i, .write_i, .line_i (write_line_i), .read_i (takes), .at_i (at), .line_o (read)
  );

  assign conflict_o = conflict_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    for (int o = 0; o < PORTS; o++)
      assert (!(write_i && takes[o] && at[o] == write_at_i))
        else $error("a line is read while it is written");
  end
`endif

endmodule

// A part of the graph image on chip: line n of the image is line n / PARTITIONS of partition
// n mod PARTITIONS. The memory has two ports, one for each half of the PUs, and the PUs of a half have a port in turn, whether
// they ask or not: so a PU has one line at a time from each half of the partitions (gramer_set_port), and nobody is
// to be matched. Each PU has a queue here with room for all that it may have under way, so nothing is held back.
//
//   request ─► [queue of each PU of a half] ─► turn ─► [port of the URAM] ─► answer, line: 3 cycles after its turn
//
// The loader writes by the first port, and takes its turn.
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
  input  line_t           write_line_i, // a cycle later
  // PUs
  input  turn_t           turn_i,       // the PU of each half
  input  logic [PUS-1:0]  request_i,
  input  logic [AT_W-1:0] at_i [PUS],
  input  answer_at_t      for_i [PUS],  // what goes with the answer
  output logic [PORTS-1:0] answer_o,
  output answer_at_t      for_o [PORTS],
  output line_t           line_o [PORTS],
  // Event
  output logic            conflict_o // a PU waits while another is served
);

  typedef struct packed {
    answer_at_t      answer;
    logic [AT_W-1:0] at;
  } request_t;

  // From the turn to the answer: the address, the memory and its register.
  localparam int unsigned STAGES = 3;

  (* ram_style = "ultra" *) line_t mem [PARTITION_LINES];

  logic [PUS-1:0]   waits, served;
  request_t         head [PUS];
  logic [PORTS-1:0] passed;
  logic             write_q, conflict_q;
  logic [AT_W-1:0]  at_q [PORTS];
  logic [STAGES-1:0][PORTS-1:0] valid_q;
  answer_at_t       for_q [STAGES][PORTS];
  line_t            read_q [PORTS], line_q [PORTS];

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    assign served[p] = waits[p] && turn_i == turn_t'(p % PORT_PUS) && (p >= PORT_PUS || !write_i);

    gramer_fifo #(.WIDTH($bits(request_t)), .DEPTH(ANSWERS)) i_requests (
      .clk_i, .rst_i,
      .push_i (request_i[p]), .data_i ({for_i[p], at_i[p]}), .full_o (),
      .pop_i (served[p]), .valid_o (waits[p]), .data_o (head[p])
    );
  end

  for (genvar o = 0; o < PORTS; o++) begin : gen_port
    request_t            next;
    logic [PORT_PUS-1:0] now, others;

    assign now       = served[o*PORT_PUS +: PORT_PUS];
    assign others    = waits[o*PORT_PUS +: PORT_PUS] & ~now;
    assign passed[o] = now != '0 && others != '0;

    always_comb begin
      next = head[o * PORT_PUS];
      for (int p = 1; p < PORT_PUS; p++)
        if (turn_i == turn_t'(p)) next = head[o * PORT_PUS + p];
    end

    always_ff @(posedge clk_i) begin
      at_q[o]       <= o == 0 && write_i ? write_at_i : next.at;
      valid_q[0][o] <= !rst_i && now != '0;
      for_q[0][o]   <= next.answer;
      for (int s = 1; s < STAGES; s++) begin
        valid_q[s][o] <= !rst_i && valid_q[s-1][o];
        for_q[s][o]   <= for_q[s-1][o];
      end
      if (valid_q[1][o]) line_q[o] <= read_q[o];
    end

    assign answer_o[o] = valid_q[STAGES-1][o];
    assign for_o[o]    = for_q[STAGES-1][o];
    assign line_o[o]   = line_q[o];
  end

  always_ff @(posedge clk_i) begin
    write_q    <= write_i;
    conflict_q <= passed != '0;
  end

  always_ff @(posedge clk_i) begin
    if (write_q) mem[at_q[0]] <= write_line_i;
    else if (valid_q[0][0]) read_q[0] <= mem[at_q[0]];
  end

  for (genvar o = 1; o < PORTS; o++) begin : gen_second
    always_ff @(posedge clk_i) if (valid_q[0][o]) read_q[o] <= mem[at_q[o]];
  end

  assign conflict_o = conflict_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    for (int o = 0; o < PORTS; o++)
      assert (!(write_q && valid_q[0][o] && at_q[o] == at_q[0])) else $error("a line is read while it is written");
  end
`endif

endmodule

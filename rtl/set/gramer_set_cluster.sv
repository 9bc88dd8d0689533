// Cluster: PUs and partitions, connected by a fixed rotation. In each cycle a PU is connected to one partition of
// each half, and a partition to one PU of each half; the next cycle advances by one.
module gramer_set_cluster
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  localparam int unsigned AT_W = $clog2(PARTITION_LINES),
  localparam int unsigned PU_COUNTER_AT_W = $clog2(PU_COUNTERS),
  localparam int unsigned PARTITION_COUNTER_AT_W = $clog2(PARTITION_COUNTERS)
) (
  input  logic  clk_i,
  input  logic  rst_i,     // drops everything in flight
  input  logic  clear_i,   // before a run: sums and counters
  input  logic  running_i,
  // Image
  input  logic [PARTITIONS-1:0] write_i,
  input  logic [AT_W-1:0] write_at_i [CHANNELS],  // partition p takes those of channel p mod CHANNELS
  input  beat_t write_line_i [CHANNELS],
  // Units
  input  plan_t plan_i [PLANS],
  input  logic  word_write_i,
  input  logic [PLAN_AT_W-1:0] word_at_i,
  input  plan_bits_t word_i,
  input  logic [PUS-1:0] push_i,
  input  unit_t unit_i [UNITS_A_GROUP],
  output logic [$clog2(UNIT_QUEUE/UNITS_A_GROUP):0] free_o [PUS],
  // Records
  output logic [PUS-1:0] record_valid_o,
  input  logic [PUS-1:0] record_ready_i,
  output record_t        record_o [PUS],
  // Sums and counters, at the last cycle's positions
  input  logic [SUM_AT_W-1:0] sum_at_i,
  output logic [COUNT_W-1:0]  sum_o [PUS],
  output logic [PUS-1:0] saturated_o,
  output logic [PUS-1:0] full_o,
  input  logic [7:0]  counter_at_i,
  output counter_t pu_counter_o [PUS],
  output counter_t partition_counter_o [PARTITIONS],
  output logic [PUS-1:0] busy_o
);

  logic [PARTITIONS-1:0] request [PUS];
  logic [AT_W-1:0]       request_at [PUS];
  answer_at_t            request_for [PUS];
  logic [PUS-1:0]        answer [PARTITIONS];
  // Per port: broadcast to the PUs of a half.
  answer_at_t            answer_for [PORTS][PARTITIONS];
  line_t                 answer_line [PORTS][PARTITIONS];
  logic [PARTITIONS-1:0] conflict;

  turn_t turn_q;
  line_t write_line [CHANNELS];

  always_comb
    for (int c = 0; c < CHANNELS; c++)
      write_line[c] = write_i != '0 ? kept_line(write_line_i[c]) : 'x;

  function automatic turn_t turn_of(input turn_t turn, input int unsigned later);
    return turn_t'((32'(turn) + later) % TURNS);
  endfunction

  // Partition i of a half serves PU j of a half at turn i + j.
  always_ff @(posedge clk_i) turn_q <= rst_i ? '0 : turn_of(turn_q, 1);

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    logic [PARTITIONS-1:0] answered;

    always_comb for (int q = 0; q < PARTITIONS; q++) answered[q] = answer[q][p];

    gramer_set_pu i_pu (
      .clk_i, .rst_i, .clear_i, .running_i, .plan_i, .word_write_i, .word_at_i, .word_i,
      .push_i (push_i[p]), .unit_i, .free_o (free_o[p]),
      .request_o (request[p]), .request_at_o (request_at[p]), .request_for_o (request_for[p]),
      .answer_i (answered), .answer_for_i (answer_for[p / PORT_PUS]),
      .answer_line_i (answer_line[p / PORT_PUS]),
      .record_valid_o (record_valid_o[p]), .record_ready_i (record_ready_i[p]),
      .record_o (record_o[p]),
      .sum_at_i, .sum_o (sum_o[p]), .saturated_o (saturated_o[p]),
      .full_o (full_o[p]),
      .counter_at_i (counter_at_i[PU_COUNTER_AT_W-1:0]), .counter_o (pu_counter_o[p]),
      .busy_o (busy_o[p])
    );
  end

  for (genvar q = 0; q < PARTITIONS; q++) begin : gen_partition
    logic [PUS-1:0] requests;
    turn_t          served_q;
    answer_at_t     answers_for [PORTS];
    line_t          answers_line [PORTS];
    counter_t       counters_q [PARTITION_COUNTERS], counter_q;

    assign partition_counter_o[q] = counter_q;

    always_comb for (int p = 0; p < PUS; p++) requests[p] = request[p][q];

    always_ff @(posedge clk_i) served_q <= turn_of(turn_q, TURNS - q % SIDE_PARTITIONS);

    // Two instances, since synthesis by blocks tells variants of a module apart by the instance's name.
    if (q < NARROW_PARTITIONS) begin : gen_narrow
      gramer_set_partition #(.NARROW(1)) i_narrow (
        .clk_i, .rst_i,
        .write_i (write_i[q]), .write_at_i (write_at_i[q % CHANNELS]),
        .write_line_i (write_line[q % CHANNELS]), .turn_i (served_q),
        .request_i (requests), .at_i (request_at), .for_i (request_for),
        .answer_o (answer[q]), .for_o (answers_for), .line_o (answers_line),
        .conflict_o (conflict[q])
      );
    end else begin : gen_whole
      gramer_set_partition #(.NARROW(0)) i_partition (
        .clk_i, .rst_i,
        .write_i (write_i[q]), .write_at_i (write_at_i[q % CHANNELS]),
        .write_line_i (write_line[q % CHANNELS]), .turn_i (served_q),
        .request_i (requests), .at_i (request_at), .for_i (request_for),
        .answer_o (answer[q]), .for_o (answers_for), .line_o (answers_line),
        .conflict_o (conflict[q])
      );
    end

    for (genvar o = 0; o < PORTS; o++) begin : gen_port
      assign answer_for[o][q]  = answers_for[o];
      assign answer_line[o][q] = answers_line[o];
    end

    always_ff @(posedge clk_i) begin
      counter_q <= counters_q[counter_at_i[PARTITION_COUNTER_AT_W-1:0]];
      if (clear_i) for (int c = 0; c < PARTITION_COUNTERS; c++) counters_q[c] <= '0;
      else begin
        if (answer[q] != '0)
          counters_q[CNT_PARTITION_LINES] <= counters_q[CNT_PARTITION_LINES]
                                             + counter_t'($countones(answer[q]));
        if (conflict[q])
          counters_q[CNT_PARTITION_CONFLICTS] <= counters_q[CNT_PARTITION_CONFLICTS] + 1'b1;
      end
    end
  end

endmodule

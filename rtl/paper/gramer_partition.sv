// Partition of the on-chip memory: a vertex memory and an edge memory, independent of each other, one
// access per cycle each (section IV-A). Line i of an array belongs to partition i mod PARTITIONS.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_partition
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  config_t config_i,
  // Before a run
  input  logic    forget_i,
  input  logic [31:0] forget_set_i,
  input  logic    vertex_pad_write_i,
  input  logic    edge_pad_write_i,
  input  logic [31:0] pad_at_i,
  input  line_t   pad_line_i,
  // Vertex accesses; the answer is one record
  input  logic    vertex_valid_i,
  output logic    vertex_ready_o,
  input  logic [PU_W-1:0] vertex_pu_i,
  input  vertex_request_t vertex_request_i,
  output logic    vertex_valid_o,
  output logic [PU_W-1:0] vertex_pu_o,
  output vertex_answer_t  vertex_answer_o,
  // Edge accesses; the answer is a line
  input  logic    edge_valid_i,
  output logic    edge_ready_o,
  input  logic [PU_W-1:0] edge_pu_i,
  input  edge_request_t   edge_request_i,
  output logic    edge_valid_o,
  output logic [PU_W-1:0] edge_pu_o,
  output edge_answer_t    edge_answer_o,
  // DDR: [0] vertices, [1] edges
  output logic [1:0] read_valid_o,
  input  logic [1:0] read_ready_i,
  output logic [MISS_W-1:0] read_entry_o [2],
  output eline_t  read_line_o  [2],
  input  logic [1:0] fill_valid_i,
  output logic [1:0] fill_ready_o,
  input  logic [MISS_W-1:0] fill_entry_i,
  input  line_t   fill_line_i,
  // Counters: value in the next cycle; 0 on a machine without counters
  input  logic    clear_i,
  input  logic [PU_W:0] vertex_waiting_i, // crossbar conflicts of the last cycle
  input  logic [PU_W:0] edge_waiting_i,
  input  logic [$clog2(PARTITION_COUNTERS)-1:0] counter_at_i,
  output logic [63:0] counter_o
);

  logic vertex_high, vertex_low, vertex_miss, edge_high, edge_low, edge_miss;
  logic [VLINE_W-1:0] vertex_read_line;
  logic [LINE_W/RECORDS-1:0] record; // in the layout of the image

  gramer_onchip_memory #(
    .ADDR_W(VLINE_W), .PAD_LINES(VERTEX_PAD_LINES), .SETS(VERTEX_SETS),
    .ANSWER_W(LINE_W / RECORDS)
  ) i_vertices (
    .clk_i, .rst_i,
    .bound_i (config_i.vertex_bound), .sets_i (config_i.vertex_sets),
    .lambda_i (config_i.lambda), .lru_i (config_i.lru),
    .forget_i, .forget_set_i,
    .pad_write_i (vertex_pad_write_i), .pad_at_i, .pad_line_i,
    .valid_i (vertex_valid_i), .ready_o (vertex_ready_o),
    .line_i (vertex_request_i.vertex[ID_W-1:2]), .word_i (vertex_request_i.vertex[1:0]),
    .rank_i (vertex_request_i.vertex), .pu_i (vertex_pu_i), .slot_i (vertex_request_i.slot),
    .valid_o (vertex_valid_o), .pu_o (vertex_pu_o), .slot_o (vertex_answer_o.slot),
    .answer_o (record),
    .read_valid_o (read_valid_o[0]), .read_ready_i (read_ready_i[0]),
    .read_entry_o (read_entry_o[0]), .read_line_o (vertex_read_line),
    .fill_valid_i (fill_valid_i[0]), .fill_ready_o (fill_ready_o[0]),
    .fill_entry_i, .fill_line_i,
    .high_hit_o (vertex_high), .low_hit_o (vertex_low), .missed_o (vertex_miss)
  );

  assign read_line_o[0] = eline_t'(vertex_read_line);

  // Fields that the core uses, of the record's 16 bytes.
  assign vertex_answer_o.record.offset = record[EDGE_W-1:0];
  assign vertex_answer_o.record.degree = record[95:64];
  assign vertex_answer_o.record.label  = record[96 +: LABEL_BITS];

  gramer_onchip_memory #(
    .ADDR_W(ELINE_W), .PAD_LINES(EDGE_PAD_LINES), .SETS(EDGE_SETS), .ANSWER_W(LINE_W)
  ) i_edges (
    .clk_i, .rst_i,
    .bound_i (config_i.edge_bound), .sets_i (config_i.edge_sets),
    .lambda_i (config_i.lambda), .lru_i (config_i.lru),
    .forget_i, .forget_set_i,
    .pad_write_i (edge_pad_write_i), .pad_at_i, .pad_line_i,
    .valid_i (edge_valid_i), .ready_o (edge_ready_o),
    .line_i (edge_request_i.line), .word_i (1'b0), .rank_i (edge_request_i.rank),
    .pu_i (edge_pu_i), .slot_i (edge_request_i.slot),
    .valid_o (edge_valid_o), .pu_o (edge_pu_o), .slot_o (edge_answer_o.slot),
    .answer_o (edge_answer_o.line),
    .read_valid_o (read_valid_o[1]), .read_ready_i (read_ready_i[1]),
    .read_entry_o (read_entry_o[1]), .read_line_o (read_line_o[1]),
    .fill_valid_i (fill_valid_i[1]), .fill_ready_o (fill_ready_o[1]),
    .fill_entry_i, .fill_line_i,
    .high_hit_o (edge_high), .low_hit_o (edge_low), .missed_o (edge_miss)
  );

  if (PERFORMANCE_COUNTERS != 0) begin : gen_counters
    logic [63:0] counters_q [PARTITION_COUNTERS];
    logic [63:0] counter_q;

    assign counter_o = counter_q;

    always_ff @(posedge clk_i) begin
      counter_q <= counters_q[counter_at_i];
      if (clear_i) begin
        for (int c = 0; c < PARTITION_COUNTERS; c++) counters_q[c] <= '0;
      end else begin
        if (vertex_high) counters_q[CNT_PARTITION_VERTEX_HIGH_HITS] <=
            counters_q[CNT_PARTITION_VERTEX_HIGH_HITS] + 1'b1;
        if (vertex_low) counters_q[CNT_PARTITION_VERTEX_LOW_HITS] <=
            counters_q[CNT_PARTITION_VERTEX_LOW_HITS] + 1'b1;
        if (vertex_miss) counters_q[CNT_PARTITION_VERTEX_MISSES] <=
            counters_q[CNT_PARTITION_VERTEX_MISSES] + 1'b1;
        if (vertex_waiting_i != '0) counters_q[CNT_PARTITION_VERTEX_CONFLICTS] <=
            counters_q[CNT_PARTITION_VERTEX_CONFLICTS] + 64'(vertex_waiting_i);
        if (edge_high) counters_q[CNT_PARTITION_EDGE_HIGH_HITS] <=
            counters_q[CNT_PARTITION_EDGE_HIGH_HITS] + 1'b1;
        if (edge_low) counters_q[CNT_PARTITION_EDGE_LOW_HITS] <=
            counters_q[CNT_PARTITION_EDGE_LOW_HITS] + 1'b1;
        if (edge_miss) counters_q[CNT_PARTITION_EDGE_MISSES] <=
            counters_q[CNT_PARTITION_EDGE_MISSES] + 1'b1;
        if (edge_waiting_i != '0) counters_q[CNT_PARTITION_EDGE_CONFLICTS] <=
            counters_q[CNT_PARTITION_EDGE_CONFLICTS] + 64'(edge_waiting_i);
      end
    end
  end else begin : gen_no_counters
    logic unused;
    assign unused    = &{1'b0, clear_i, counter_at_i, vertex_high, vertex_low, vertex_miss,
                         vertex_waiting_i, edge_high, edge_low, edge_miss, edge_waiting_i};
    assign counter_o = '0;
  end

endmodule

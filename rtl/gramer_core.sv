// The core (figure 6): control, prefetcher, arbitrator, PUs, crossbars, partitions, DDR readers,
// pattern buffer. Ports are flat; those of the DDR banks are packed, bank 0 in the low bits.
module gramer_core
  import gramer_pkg::*;
  import gramer_types_pkg::*;
#(
  localparam int unsigned MEMORIES = 2 * PARTITIONS / BANKS, // that read from a bank
  localparam int unsigned AXI_ID_W = $clog2(MEMORIES + 1) + MISS_W
) (
  input  logic        ap_clk,
  input  logic        ap_rst_n,
  output logic        interrupt,
  // AXI4-Lite control
  input  logic        s_axi_control_awvalid,
  output logic        s_axi_control_awready,
  input  logic [CONTROL_ADDR_W-1:0] s_axi_control_awaddr,
  input  logic        s_axi_control_wvalid,
  output logic        s_axi_control_wready,
  input  logic [31:0] s_axi_control_wdata,
  input  logic [3:0]  s_axi_control_wstrb,
  output logic        s_axi_control_bvalid,
  input  logic        s_axi_control_bready,
  output logic [1:0]  s_axi_control_bresp,
  input  logic        s_axi_control_arvalid,
  output logic        s_axi_control_arready,
  input  logic [CONTROL_ADDR_W-1:0] s_axi_control_araddr,
  output logic        s_axi_control_rvalid,
  input  logic        s_axi_control_rready,
  output logic [31:0] s_axi_control_rdata,
  output logic [1:0]  s_axi_control_rresp,
  // AXI4 read masters, one a DDR bank
  output logic [BANKS-1:0]       m_axi_arvalid,
  input  logic [BANKS-1:0]       m_axi_arready,
  output logic [BANKS*64-1:0]    m_axi_araddr,
  output logic [BANKS*8-1:0]     m_axi_arid,
  output logic [BANKS*8-1:0]     m_axi_arlen,
  output logic [BANKS*3-1:0]     m_axi_arsize,
  output logic [BANKS*2-1:0]     m_axi_arburst,
  input  logic [BANKS-1:0]       m_axi_rvalid,
  output logic [BANKS-1:0]       m_axi_rready,
  input  logic [BANKS*512-1:0]   m_axi_rdata,
  input  logic [BANKS*8-1:0]     m_axi_rid,
  input  logic [BANKS*2-1:0]     m_axi_rresp,
  input  logic [BANKS-1:0]       m_axi_rlast,
  // In-stream
  input  logic        s_axis_in_tvalid,
  output logic        s_axis_in_tready,
  input  logic [511:0] s_axis_in_tdata,
  input  logic        s_axis_in_tlast,
  // Out-stream
  output logic        m_axis_out_tvalid,
  input  logic        m_axis_out_tready,
  output logic [511:0] m_axis_out_tdata,
  output logic        m_axis_out_tlast
);

  localparam int unsigned SWEEP = VERTEX_SETS > EDGE_SETS ? VERTEX_SETS : EDGE_SETS;
  // Longer than the way from a candidate to its counter, and than the next unit is looked for.
  localparam int unsigned SETTLE = PUS > 8 ? PUS + 7 : 15;

  logic clk, rst_q;
  assign clk = ap_clk;
  always_ff @(posedge clk) rst_q <= !ap_rst_n;

  // ---------------------------------------------------------------- control

  logic        start, ready, done, idle, waiting;
  logic [31:0] registers [1 << (CONTROL_ADDR_W - 2)];

  gramer_control i_control (
    .clk_i (clk), .rst_i (rst_q),
    .awvalid_i (s_axi_control_awvalid), .awready_o (s_axi_control_awready),
    .awaddr_i (s_axi_control_awaddr),
    .wvalid_i (s_axi_control_wvalid), .wready_o (s_axi_control_wready),
    .wdata_i (s_axi_control_wdata), .wstrb_i (s_axi_control_wstrb),
    .bvalid_o (s_axi_control_bvalid), .bready_i (s_axi_control_bready),
    .bresp_o (s_axi_control_bresp),
    .arvalid_i (s_axi_control_arvalid), .arready_o (s_axi_control_arready),
    .araddr_i (s_axi_control_araddr),
    .rvalid_o (s_axi_control_rvalid), .rready_i (s_axi_control_rready),
    .rdata_o (s_axi_control_rdata), .rresp_o (s_axi_control_rresp),
    .interrupt_o (interrupt),
    .start_o (start), .ready_i (ready), .done_i (done), .idle_i (idle), .waiting_o (waiting),
    .registers_o (registers)
  );

  // ---------------------------------------------------------------- a run

  typedef enum logic [2:0] { IDLE, FORGET, RUN, SETTLE_, REPORT } state_e;

  state_e      state_q;
  logic [31:0] sweep_q;
  logic        clear, forget, work_finished, working, report, reported, saturated;
  logic [63:0] cycles_q, units_q;
  logic [PUS-1:0] pu_busy, pu_saturated;
  logic [31:0] status_q, result_beats_q;
  logic [63:0] error_address_q, abort_q, edge_base_q;
  logic [63:0] base_q [BANKS];
  logic        running, handed, stop_q, kill_q, poll_busy, listing;
  config_t     config_q;

  // Addresses of the banks follow each other in the register map.
  localparam int unsigned BANK_STEP = 3;

  function automatic logic [63:0] long(input logic [31:0] from [1 << (CONTROL_ADDR_W - 2)],
                                       input int unsigned at);
    return {from[(at >> 2) + 1], from[at >> 2]};
  endfunction

  assign idle    = state_q == IDLE && !waiting;
  assign ready   = state_q == IDLE && start;
  assign forget  = state_q == FORGET;
  assign report  = state_q == SETTLE_ && sweep_q == SETTLE;
  assign done    = state_q == REPORT && reported;
  assign working = pu_busy != '0 || poll_busy || listing;
  assign saturated = pu_saturated != '0;

  always_ff @(posedge clk) begin
    clear <= !rst_q && ready; // when the settings are there
    if (state_q == IDLE) cycles_q <= 64'd1;
    else cycles_q <= cycles_q + 1'b1;
    if (clear) units_q <= '0;
    else if (handed) units_q <= units_q + 1'b1;
    if (ready) begin
      config_q.app          <= app_e'(registers[ARG_APPLICATION >> 2][1:0]);
      config_q.k            <= SIZE_W'(registers[ARG_K >> 2]);
      config_q.ascending    <= registers[ARG_FLAGS >> 2][0];
      config_q.stealing     <= registers[ARG_FLAGS >> 2][1];
      config_q.lru          <= registers[ARG_FLAGS >> 2][2];
      config_q.lists        <= registers[ARG_FLAGS >> 2][3];
      config_q.slots        <= ($clog2(SLOTS+1))'(registers[ARG_SLOTS >> 2]);
      config_q.lambda       <= registers[ARG_LAMBDA_EIGHTHS >> 2][6:0];
      config_q.vertex_bound <= (VLINE_W+1)'(registers[ARG_VERTEX_BOUND >> 2]);
      config_q.edge_bound   <= (ELINE_W+1)'(long(registers, ARG_EDGE_BOUND));
      config_q.vertex_sets  <= registers[ARG_VERTEX_SETS >> 2];
      config_q.edge_sets    <= registers[ARG_EDGE_SETS >> 2];
      result_beats_q        <= registers[ARG_RESULT_BEATS >> 2];
      abort_q               <= long(registers, ARG_ABORT);
      edge_base_q           <= long(registers, ARG_EDGE_BASE);
      for (int unsigned b = 0; b < BANKS; b++)
        base_q[b] <= long(registers, ARG_BANK0 + 4 * BANK_STEP * b);
    end
    if (rst_q) begin
      state_q <= IDLE;
      sweep_q <= '0;
    end else begin
      unique case (state_q)
        IDLE: begin
          sweep_q <= '0;
          if (ready) state_q <= FORGET;
        end
        FORGET: begin
          sweep_q <= sweep_q + 1'b1;
          if (sweep_q == SWEEP - 1) begin
            sweep_q <= '0;
            state_q <= RUN;
          end
        end
        RUN: if (work_finished && !working) state_q <= SETTLE_;
        SETTLE_: begin
          sweep_q <= sweep_q + 1'b1;
          if (working) begin // a unit had just been handed on
            sweep_q <= '0;
            state_q <= RUN;
          end else if (sweep_q == SETTLE) state_q <= REPORT;
        end
        default: if (reported) state_q <= IDLE;
      endcase
    end
  end

  // ---------------------------------------------------------------- prefetcher, arbitrator

  logic                  unit_valid, unit_ready, dictionary_write, count_clear;
  logic [31:0]           patterns, pad_at;
  logic [NUMBER_W-1:0]   clear_at, report_at, count_at;
  unit_t                 unit;
  key_t                  dictionary_key;
  entry_t                dictionary_entry;
  logic [PARTITIONS-1:0] vertex_pad_write, edge_pad_write;
  line_t                 pad_line;
  logic [PUS-1:0]        unit_pu_valid, unit_pu_ready;

  gramer_prefetcher i_prefetcher (
    .clk_i (clk), .rst_i (rst_q), .start_i (ready), .stop_i (stop_q),
    .tvalid_i (s_axis_in_tvalid), .tready_o (s_axis_in_tready),
    .tdata_i (s_axis_in_tdata), .tlast_i (s_axis_in_tlast),
    .patterns_o (patterns), .count_clear_o (count_clear), .count_at_o (clear_at),
    .dictionary_write_o (dictionary_write), .dictionary_key_o (dictionary_key),
    .dictionary_entry_o (dictionary_entry),
    .vertex_pad_write_o (vertex_pad_write), .edge_pad_write_o (edge_pad_write),
    .pad_at_o (pad_at), .pad_line_o (pad_line),
    .unit_valid_o (unit_valid), .unit_ready_i (unit_ready && state_q == RUN), .unit_o (unit),
    .running_o (running), .finished_o (work_finished)
  );

  gramer_arbitrator i_arbitrator (
    .clk_i (clk), .rst_i (rst_q),
    .unit_valid_i (unit_valid && state_q == RUN), .unit_ready_o (unit_ready), .handed_o (handed),
    .pu_valid_o (unit_pu_valid), .pu_ready_i (unit_pu_ready)
  );

  // ---------------------------------------------------------------- PUs

  localparam int unsigned EHEAD_W = ELINE_W + ID_W + SLOT_W;
  localparam int unsigned VHEAD_W = ID_W + SLOT_W;
  localparam int unsigned RECORD_W = LINE_W / RECORDS;

  logic [PUS-1:0]    pu_edge_valid, pu_edge_back, pu_edge_ready;
  logic [PUS-1:0]    pu_vertex_valid, pu_vertex_back, pu_vertex_ready;
  logic [PART_W-1:0] pu_edge_part [PUS], pu_vertex_part [PUS];
  logic [EHEAD_W-1:0] pu_edge_head [PUS];
  logic [VHEAD_W-1:0] pu_vertex_head [PUS];
  logic [SLOT_W-1:0] pu_edge_slot [PUS], pu_vertex_slot [PUS];
  line_t             pu_edge_line [PUS];
  logic [RECORD_W-1:0] pu_vertex_record [PUS];
  logic [COUNT_W-1:0] pu_count [PUS];
  logic [63:0]       pu_counter [PUS];
  logic [7:0]        counter_at;
  logic [PUS-1:0]    listed_more, listed_take;
  listed_t           listed [PUS];
  ordinal_t          oldest [PUS];

  assign count_at = state_q == REPORT ? report_at : clear_at;

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    slot_t   edge_slot, vertex_slot;
    eline_t  edge_line;
    id_t     edge_rank, vertex_id;
    record_t record;

    assign record.offset = pu_vertex_record[p][EDGE_W-1:0];
    assign record.degree = pu_vertex_record[p][95:64];
    assign record.label  = pu_vertex_record[p][96 +: LABEL_BITS];

    gramer_pu i_pu (
      .clk_i (clk), .rst_i (rst_q), .clear_i (clear), .running_i (running),
      .kill_i (kill_q), .config_i (config_q),
      .unit_valid_i (unit_pu_valid[p]), .unit_ready_o (unit_pu_ready[p]), .unit_i (unit),
      .edge_valid_o (pu_edge_valid[p]), .edge_slot_o (edge_slot), .edge_line_o (edge_line),
      .edge_rank_o (edge_rank),
      .edge_valid_i (pu_edge_back[p]), .edge_ready_o (pu_edge_ready[p]),
      .edge_slot_i (pu_edge_slot[p]), .edge_line_i (pu_edge_line[p]),
      .vertex_valid_o (pu_vertex_valid[p]), .vertex_slot_o (vertex_slot),
      .vertex_id_o (vertex_id),
      .vertex_valid_i (pu_vertex_back[p]), .vertex_ready_o (pu_vertex_ready[p]),
      .vertex_slot_i (pu_vertex_slot[p]), .vertex_record_i (record),
      .dictionary_write_i (dictionary_write), .dictionary_key_i (dictionary_key),
      .dictionary_entry_i (dictionary_entry),
      .count_clear_i (count_clear), .count_at_i (count_at), .count_o (pu_count[p]),
      .saturated_o (pu_saturated[p]),
      .listed_more_o (listed_more[p]), .listed_take_i (listed_take[p]),
      .listed_o (listed[p]), .oldest_o (oldest[p]),
      .counter_at_i (($clog2(PU_COUNTERS))'(counter_at)), .counter_o (pu_counter[p]),
      .busy_o (pu_busy[p])
    );

    // Line i of an array belongs to partition i mod PARTITIONS.
    assign pu_edge_part[p]   = PARTITIONS > 1 ? edge_line[PART_W-1:0] : '0;
    assign pu_vertex_part[p] = PARTITIONS > 1 ? vertex_id[2 +: PART_W] : '0;
    assign pu_edge_head[p]   = {edge_line, edge_rank, edge_slot};
    assign pu_vertex_head[p] = {vertex_id, vertex_slot};
  end

  // ---------------------------------------------------------------- crossbars

  logic [PARTITIONS-1:0] edge_valid, edge_ready, vertex_valid, vertex_ready;
  logic [PARTITIONS-1:0] edge_back, vertex_back;
  logic [PU_W-1:0]     edge_pu [PARTITIONS], vertex_pu [PARTITIONS];
  logic [PU_W-1:0]     edge_back_pu [PARTITIONS], vertex_back_pu [PARTITIONS];
  logic [EHEAD_W-1:0]  edge_head [PARTITIONS];
  logic [VHEAD_W-1:0]  vertex_head [PARTITIONS];
  logic [SLOT_W-1:0]   edge_back_slot [PARTITIONS], vertex_back_slot [PARTITIONS];
  line_t               edge_back_line [PARTITIONS];
  logic [RECORD_W-1:0] vertex_back_record [PARTITIONS];
  logic [PU_W:0]       edge_waiting [PARTITIONS], vertex_waiting [PARTITIONS];
  logic [0:0]          none_in [PUS];
  always_comb for (int p = 0; p < PUS; p++) none_in[p] = '0;

  gramer_crossbar #(.INPUTS(PUS), .OUTPUTS(PARTITIONS), .HEAD_W(EHEAD_W), .DATA_W(1), .DEPTH(SLOTS))
  i_edge_requests (
    .clk_i (clk), .rst_i (rst_q),
    .valid_i (pu_edge_valid), .target_i (pu_edge_part), .head_i (pu_edge_head),
    .data_i (none_in),
    .valid_o (edge_valid), .ready_i (edge_ready), .source_o (edge_pu), .head_o (edge_head),
    .data_o (), .waiting_o (edge_waiting)
  );

  gramer_crossbar #(.INPUTS(PUS), .OUTPUTS(PARTITIONS), .HEAD_W(VHEAD_W), .DATA_W(1), .DEPTH(SLOTS))
  i_vertex_requests (
    .clk_i (clk), .rst_i (rst_q),
    .valid_i (pu_vertex_valid), .target_i (pu_vertex_part), .head_i (pu_vertex_head),
    .data_i (none_in),
    .valid_o (vertex_valid), .ready_i (vertex_ready), .source_o (vertex_pu),
    .head_o (vertex_head), .data_o (), .waiting_o (vertex_waiting)
  );

  gramer_crossbar #(.INPUTS(PARTITIONS), .OUTPUTS(PUS), .HEAD_W(SLOT_W), .DATA_W(LINE_W),
             .DEPTH(SLOTS))
  i_edge_answers (
    .clk_i (clk), .rst_i (rst_q),
    .valid_i (edge_back), .target_i (edge_back_pu), .head_i (edge_back_slot),
    .data_i (edge_back_line),
    .valid_o (pu_edge_back), .ready_i (pu_edge_ready), .source_o (), .head_o (pu_edge_slot),
    .data_o (pu_edge_line), .waiting_o ()
  );

  gramer_crossbar #(.INPUTS(PARTITIONS), .OUTPUTS(PUS), .HEAD_W(SLOT_W), .DATA_W(RECORD_W),
             .DEPTH(SLOTS))
  i_vertex_answers (
    .clk_i (clk), .rst_i (rst_q),
    .valid_i (vertex_back), .target_i (vertex_back_pu), .head_i (vertex_back_slot),
    .data_i (vertex_back_record),
    .valid_o (pu_vertex_back), .ready_i (pu_vertex_ready), .source_o (),
    .head_o (pu_vertex_slot), .data_o (pu_vertex_record), .waiting_o ()
  );

  // ---------------------------------------------------------------- partitions

  logic [1:0]        read_valid [PARTITIONS], read_ready [PARTITIONS];
  logic [1:0]        fill_valid [PARTITIONS], fill_ready [PARTITIONS];
  logic [MISS_W-1:0] read_entry [PARTITIONS][2];
  eline_t            read_line  [PARTITIONS][2];
  logic [MISS_W-1:0] fill_entry [BANKS];
  line_t             fill_line  [BANKS];
  logic [63:0]       partition_counter [PARTITIONS];

  for (genvar p = 0; p < PARTITIONS; p++) begin : gen_partition
    gramer_partition i_partition (
      .clk_i (clk), .rst_i (rst_q), .config_i (config_q),
      .forget_i (forget), .forget_set_i (sweep_q),
      .vertex_pad_write_i (vertex_pad_write[p]), .edge_pad_write_i (edge_pad_write[p]),
      .pad_at_i (pad_at), .pad_line_i (pad_line),
      .vertex_valid_i (vertex_valid[p]), .vertex_ready_o (vertex_ready[p]),
      .vertex_id_i (vertex_head[p][VHEAD_W-1:SLOT_W]), .vertex_pu_i (vertex_pu[p]),
      .vertex_slot_i (vertex_head[p][SLOT_W-1:0]),
      .vertex_valid_o (vertex_back[p]), .vertex_pu_o (vertex_back_pu[p]),
      .vertex_slot_o (vertex_back_slot[p]), .vertex_record_o (vertex_back_record[p]),
      .edge_valid_i (edge_valid[p]), .edge_ready_o (edge_ready[p]),
      .edge_line_i (edge_head[p][EHEAD_W-1 -: ELINE_W]),
      .edge_rank_i (edge_head[p][SLOT_W +: ID_W]), .edge_pu_i (edge_pu[p]),
      .edge_slot_i (edge_head[p][SLOT_W-1:0]),
      .edge_valid_o (edge_back[p]), .edge_pu_o (edge_back_pu[p]),
      .edge_slot_o (edge_back_slot[p]), .edge_line_o (edge_back_line[p]),
      .read_valid_o (read_valid[p]), .read_ready_i (read_ready[p]),
      .read_entry_o (read_entry[p]), .read_line_o (read_line[p]),
      .fill_valid_i (fill_valid[p]), .fill_ready_o (fill_ready[p]),
      .fill_entry_i (fill_entry[p % BANKS]), .fill_line_i (fill_line[p % BANKS]),
      .clear_i (clear),
      .vertex_waiting_i (vertex_waiting[p]), .edge_waiting_i (edge_waiting[p]),
      .counter_at_i (($clog2(PARTITION_COUNTERS))'(counter_at)),
      .counter_o (partition_counter[p])
    );
  end

  // ---------------------------------------------------------------- DDR

  logic [BANKS-1:0] beat, error;
  logic [63:0]      error_address [BANKS];
  logic [63:0]      beats_q [BANKS];
  logic [63:0]      bank_counter_q [BANKS];
  logic             poll_valid, poll_stop, poll_kill;
  logic [BANKS-1:0] poll_ready, word_valid;
  logic [31:0]      word [BANKS];

  for (genvar b = 0; b < BANKS; b++) begin : gen_bank
    logic [MEMORIES-1:0] bank_read_valid, bank_read_ready, bank_fill_valid, bank_fill_ready;
    logic [MISS_W-1:0]   bank_read_entry [MEMORIES];
    eline_t              bank_read_line  [MEMORIES];
    logic [AXI_ID_W-1:0] arid;

    for (genvar m = 0; m < MEMORIES; m++) begin : gen_memory
      localparam int unsigned P = (m / 2) * BANKS + b;
      assign bank_read_valid[m]    = read_valid[P][m % 2];
      assign read_ready[P][m % 2]  = bank_read_ready[m];
      assign bank_read_entry[m]    = read_entry[P][m % 2];
      assign bank_read_line[m]     = read_line[P][m % 2];
      assign fill_valid[P][m % 2]  = bank_fill_valid[m];
      assign bank_fill_ready[m]    = fill_ready[P][m % 2];
    end

    gramer_axi_reader #(.MEMORIES(MEMORIES)) i_reader (
      .clk_i (clk), .rst_i (rst_q),
      .base_i (base_q[b]), .edge_base_i (edge_base_q),
      .read_valid_i (bank_read_valid), .read_ready_o (bank_read_ready),
      .read_entry_i (bank_read_entry), .read_line_i (bank_read_line),
      .fill_valid_o (bank_fill_valid), .fill_ready_i (bank_fill_ready),
      .fill_entry_o (fill_entry[b]), .fill_line_o (fill_line[b]),
      .word_valid_i (poll_valid && b == 0), .word_ready_o (poll_ready[b]),
      .word_address_i (abort_q), .word_valid_o (word_valid[b]), .word_o (word[b]),
      .arvalid_o (m_axi_arvalid[b]), .arready_i (m_axi_arready[b]),
      .araddr_o (m_axi_araddr[b*64 +: 64]), .arid_o (arid),
      .rvalid_i (m_axi_rvalid[b]), .rready_o (m_axi_rready[b]),
      .rdata_i (m_axi_rdata[b*512 +: 512]), .rid_i (m_axi_rid[b*8 +: AXI_ID_W]),
      .rresp_i (m_axi_rresp[b*2 +: 2]),
      .beat_o (beat[b]), .error_o (error[b]), .error_address_o (error_address[b])
    );

    assign m_axi_arid[b*8 +: 8]    = 8'(arid);
    assign m_axi_arlen[b*8 +: 8]   = '0;   // one beat
    assign m_axi_arsize[b*3 +: 3]  = 3'd6; // of 64 bytes
    assign m_axi_arburst[b*2 +: 2] = 2'd1;

    always_ff @(posedge clk) begin
      if (clear) beats_q[b] <= '0;
      else if (beat[b]) beats_q[b] <= beats_q[b] + 1'b1;
      bank_counter_q[b] <= beats_q[b];
    end
  end

  gramer_abort_poller i_abort (
    .clk_i (clk), .rst_i (rst_q), .clear_i (clear),
    .running_i (state_q == FORGET || state_q == RUN), .address_i (abort_q),
    .valid_o (poll_valid), .ready_i (poll_ready[0]),
    .word_valid_i (word_valid[0]), .word_i (word[0]),
    .stop_o (poll_stop), .kill_o (poll_kill), .busy_o (poll_busy)
  );

  // ---------------------------------------------------------------- early ends

  logic        full;
  ordinal_t    dropped;
  logic [BANKS-1:0] failed_q;
  logic [63:0] failed_address_q [BANKS];

  // The first access that failed counts; an error hides everything else, and a full result area
  // that the host asked to stop, since records are missing.
  always_ff @(posedge clk) begin
    failed_q         <= error;
    failed_address_q <= error_address;
    if (rst_q || clear) begin
      status_q        <= STATUS_DONE;
      error_address_q <= '0;
      stop_q          <= 1'b0;
      kill_q          <= 1'b0;
    end else if (state_q == FORGET || state_q == RUN || state_q == SETTLE_) begin
      if (status_q != STATUS_ERROR) begin
        if (full) status_q <= STATUS_FULL;
        else if (poll_stop && !work_finished) status_q <= STATUS_ABORTED;
        else if (poll_kill && working) status_q <= STATUS_ABORTED;
        for (int b = BANKS - 1; b >= 0; b--) if (failed_q[b]) begin
          status_q        <= STATUS_ERROR;
          error_address_q <= failed_address_q[b];
        end
      end
      stop_q <= stop_q || poll_stop || full || failed_q != '0;
      kill_q <= kill_q || poll_kill || full || failed_q != '0;
    end
  end

  // Where to go on from. Units are handed out in order, so that all before the oldest one that was
  // under way or lost a record are finished. What the PUs and the pattern buffer say only ever
  // decreases in a run: one of them is looked at in each cycle.
  ordinal_t    lost [PUS + 1];
  ordinal_t    lost_q, first_q;
  logic [$clog2(PUS+1)-1:0] look_q;
  logic        before_q;
  logic [63:0] next_unit_q;

  always_comb begin
    for (int p = 0; p < PUS; p++) lost[p] = oldest[p];
    lost[PUS] = dropped;
  end

  always_ff @(posedge clk) begin
    if (rst_q || clear) begin
      look_q  <= '0;
      lost_q  <= '1;
      first_q <= '1;
    end else begin
      look_q <= look_q == ($clog2(PUS+1))'(PUS) ? '0 : look_q + 1'b1;
      lost_q <= lost[look_q];
      if (lost_q < first_q) first_q <= lost_q;
    end
    before_q    <= kill_q && 64'(first_q) < units_q;
    next_unit_q <= status_q == STATUS_ERROR ? '0 : before_q ? 64'(first_q) : units_q;
  end

`ifndef SYNTHESIS
  ordinal_t first; // all at once

  always_comb begin
    first = '1;
    for (int p = 0; p <= PUS; p++) if (lost[p] < first) first = lost[p];
  end

  always_ff @(posedge clk) if (!rst_q && state_q == REPORT) begin
    assert (!working && !handed) else $error("a report while something is under way");
    assert (next_unit_q == (status_q == STATUS_ERROR ? '0
                            : kill_q && 64'(first) < units_q ? 64'(first) : units_q))
      else $error("the next unit was reported too early");
  end
`endif

  // ---------------------------------------------------------------- pattern buffer

  logic [63:0] core_counter_q;

  always_ff @(posedge clk) begin
    unique case (32'(counter_at))
      CNT_CORE_CYCLES:     core_counter_q <= cycles_q;
      CNT_CORE_WORK_UNITS: core_counter_q <= units_q;
      default:             core_counter_q <= 64'(saturated);
    endcase
  end

  gramer_pattern_buffer i_patterns (
    .clk_i (clk), .rst_i (rst_q), .clear_i (clear), .start_i (report), .done_o (reported),
    .k_i (config_q.k), .beats_i (result_beats_q),
    .listed_more_i (listed_more), .listed_take_o (listed_take), .listed_i (listed),
    .listing_o (listing), .full_o (full), .dropped_o (dropped),
    .patterns_i (patterns), .count_at_o (report_at), .count_i (pu_count),
    .saturated_i (saturated), .status_i (status_q), .address_i (error_address_q),
    .next_i (next_unit_q),
    .counter_at_o (counter_at), .core_counter_i (core_counter_q), .pu_counter_i (pu_counter),
    .partition_counter_i (partition_counter), .bank_counter_i (bank_counter_q),
    .tvalid_o (m_axis_out_tvalid), .tready_i (m_axis_out_tready),
    .tdata_o (m_axis_out_tdata), .tlast_o (m_axis_out_tlast)
  );

  logic unused;
  assign unused = &{1'b0, m_axi_rlast, m_axi_rid};

endmodule

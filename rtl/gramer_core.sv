// The core (figure 6): control, prefetcher, arbitrator, PUs, crossbars, partitions, DDR readers,
// pattern buffer. Ports are flat; those of the DDR banks are packed, bank 0 in the low bits.
//
// PUs, partitions and readers may lie in other regions of the die (SLR) than what is here once. On every
// path between them there are SLR_REGISTERS registers, the first where it leaves. Where the receiver
// may be busy, it has a queue for all that can be under way. The columns of the crossbars belong to the
// region of their output: requests lie with the partition, answers with the PU.
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

  // Cycles in which the caches forget: a set each, and as long as the PUs may still speak of the run
  // before.
  localparam int unsigned SETS_MOST = VERTEX_SETS > EDGE_SETS ? VERTEX_SETS : EDGE_SETS;
  localparam int unsigned STALE = SLR_REGISTERS > 0 ? 2 * SLR_REGISTERS + 4 : 1;
  localparam int unsigned SWEEP = SETS_MOST > STALE ? SETS_MOST : STALE;
  // Longer than the way from a candidate to its counter, and than the next unit is looked for; and a
  // unit may be on its way to a PU, and what the PU says of it on its way back.
  localparam int unsigned SETTLE = (PUS > 8 ? PUS + 7 : 15) + 2 * SLR_REGISTERS;
  // Registers between regions: at the sender, and the others at each receiver where there are several.
  localparam int unsigned SLR_NEAR = SLR_REGISTERS > 0 ? 1 : 0;
  localparam int unsigned SLR_FAR  = SLR_REGISTERS - SLR_NEAR;

  logic clk, rst_q;
  assign clk = ap_clk;
  always_ff @(posedge clk) rst_q <= !ap_rst_n;

  // The reset as the other regions see it, each over registers of its own.
  logic crossbar_rst;
  logic [PUS-1:0]        pu_rst;
  logic [PARTITIONS-1:0] partition_rst;
  logic [BANKS-1:0]      bank_rst;

  gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_crossbar_reset (
    .clk_i (clk), .data_i (rst_q), .data_o (crossbar_rst)
  );

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
  logic        running, handed, stop_q, kill_q, poll_busy, listing, refused, refused_q;
  logic [31:0] refused_offset, refused_offset_q;
  config_t     config_q;

  gramer_settings_check i_settings (
    .registers_i (registers), .refused_o (refused), .offset_o (refused_offset)
  );

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
      config_q.lambda       <= registers[ARG_LAMBDA_EIGHTHS >> 2][LAMBDA_W-1:0];
      config_q.vertex_bound <= (VLINE_W+1)'(registers[ARG_VERTEX_BOUND >> 2]);
      config_q.edge_bound   <= (ELINE_W+1)'(long(registers, ARG_EDGE_BOUND));
      config_q.vertex_sets  <= registers[ARG_VERTEX_SETS >> 2];
      config_q.edge_sets    <= registers[ARG_EDGE_SETS >> 2];
      result_beats_q        <= registers[ARG_RESULT_BEATS >> 2];
      refused_q             <= refused;
      refused_offset_q      <= refused_offset;
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

  // ---------------------------------------------------------------- to the PUs and partitions

  typedef struct packed {
    logic    clear;
    logic    running;
    logic    kill;
    config_t settings;
    logic [PUS-1:0] unit_valid;
    unit_t   unit;
    logic    dictionary_write;
    key_t    dictionary_key;
    entry_t  dictionary_entry;
    logic    count_clear;
    logic [NUMBER_W-1:0] count_at;
    logic [7:0] counter_at;
  } to_pu_t;

  typedef struct packed {
    logic    clear;
    config_t settings;
    logic    forget;
    logic [31:0] forget_set;
    logic [PARTITIONS-1:0] vertex_pad_write;
    logic [PARTITIONS-1:0] edge_pad_write;
    logic [31:0] pad_at;
    line_t   pad_line;
    logic [7:0] counter_at;
  } to_partition_t;

  logic [7:0]    counter_at;
  to_pu_t        to_pus, to_pus_left; // left: after the register where it leaves
  to_partition_t to_partitions, to_partitions_left;

  assign to_pus = '{
    clear: clear, running: running, kill: kill_q, settings: config_q,
    unit_valid: unit_pu_valid, unit: unit, dictionary_write: dictionary_write,
    dictionary_key: dictionary_key, dictionary_entry: dictionary_entry,
    count_clear: count_clear, count_at: count_at, counter_at: counter_at
  };
  assign to_partitions = '{
    clear: clear, settings: config_q, forget: forget, forget_set: sweep_q,
    vertex_pad_write: vertex_pad_write, edge_pad_write: edge_pad_write,
    pad_at: pad_at, pad_line: pad_line, counter_at: counter_at
  };

  gramer_slr_registers #(.WIDTH($bits(to_pu_t)), .STAGES(SLR_NEAR)) i_to_pus (
    .clk_i (clk), .data_i (to_pus), .data_o (to_pus_left)
  );

  gramer_slr_registers #(.WIDTH($bits(to_partition_t)), .STAGES(SLR_NEAR)) i_to_partitions (
    .clk_i (clk), .data_i (to_partitions), .data_o (to_partitions_left)
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
  logic [PUS-1:0]    listed_more, listed_take;
  listed_t           listed [PUS];
  ordinal_t          oldest [PUS];

  assign count_at = state_q == REPORT ? report_at : clear_at;

  // What a PU says to what is here once, and its requests.
  typedef struct packed {
    logic     busy;
    logic     saturated;
    logic     unit_ready;
    ordinal_t oldest;
    logic [COUNT_W-1:0] count;
    logic [63:0] counter;
  } from_pu_t;

  typedef struct packed {
    logic   edge_valid;
    slot_t  edge_slot;
    eline_t edge_line;
    id_t    edge_rank;
    logic   vertex_valid;
    slot_t  vertex_slot;
    id_t    vertex_id;
  } request_t;

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    to_pu_t   in;
    from_pu_t said, said_here;
    request_t asks, asked; // asked: where the crossbars are
    logic     busy, more, take, link_busy;
    listed_t  embedding;
    record_t  record;

    gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_reset (
      .clk_i (clk), .data_i (rst_q), .data_o (pu_rst[p])
    );

    gramer_slr_registers #(.WIDTH($bits(to_pu_t)), .STAGES(SLR_FAR)) i_in (
      .clk_i (clk), .data_i (to_pus_left), .data_o (in)
    );

    assign record.offset = pu_vertex_record[p][EDGE_W-1:0];
    assign record.degree = pu_vertex_record[p][95:64];
    assign record.label  = pu_vertex_record[p][96 +: LABEL_BITS];

    gramer_pu i_pu (
      .clk_i (clk), .rst_i (pu_rst[p]), .clear_i (in.clear), .running_i (in.running),
      .kill_i (in.kill), .config_i (in.settings),
      .unit_valid_i (in.unit_valid[p]), .unit_ready_o (said.unit_ready), .unit_i (in.unit),
      .edge_valid_o (asks.edge_valid), .edge_slot_o (asks.edge_slot),
      .edge_line_o (asks.edge_line), .edge_rank_o (asks.edge_rank),
      .edge_valid_i (pu_edge_back[p]), .edge_ready_o (pu_edge_ready[p]),
      .edge_slot_i (pu_edge_slot[p]), .edge_line_i (pu_edge_line[p]),
      .vertex_valid_o (asks.vertex_valid), .vertex_slot_o (asks.vertex_slot),
      .vertex_id_o (asks.vertex_id),
      .vertex_valid_i (pu_vertex_back[p]), .vertex_ready_o (pu_vertex_ready[p]),
      .vertex_slot_i (pu_vertex_slot[p]), .vertex_record_i (record),
      .dictionary_write_i (in.dictionary_write), .dictionary_key_i (in.dictionary_key),
      .dictionary_entry_i (in.dictionary_entry),
      .count_clear_i (in.count_clear), .count_at_i (in.count_at), .count_o (said.count),
      .saturated_o (said.saturated),
      .listed_more_o (more), .listed_take_i (take),
      .listed_o (embedding), .oldest_o (said.oldest),
      .counter_at_i (($clog2(PU_COUNTERS))'(in.counter_at)), .counter_o (said.counter),
      .busy_o (busy)
    );

    assign said.busy = busy || link_busy;

    gramer_slr_registers #(.WIDTH($bits(from_pu_t)), .STAGES(SLR_REGISTERS)) i_out (
      .clk_i (clk), .data_i (said), .data_o (said_here)
    );

    assign pu_busy[p]       = said_here.busy;
    assign pu_saturated[p]  = said_here.saturated;
    assign unit_pu_ready[p] = said_here.unit_ready;
    assign oldest[p]        = said_here.oldest;
    assign pu_count[p]      = said_here.count;
    assign pu_counter[p]    = said_here.counter;

    if (SLR_REGISTERS == 0) begin : gen_near
      assign listed_more[p] = more;
      assign take           = listed_take[p];
      assign listed[p]      = embedding;
      assign link_busy      = 1'b0;
    end else begin : gen_far
      gramer_slr_link #(.WIDTH($bits(listed_t)), .STAGES(SLR_REGISTERS), .DEPTH(8)) i_listed (
        .clk_i (clk), .rst_i (pu_rst[p]),
        .more_i (more), .take_o (take), .data_i (embedding), .busy_o (link_busy),
        .far_rst_i (rst_q),
        .more_o (listed_more[p]), .take_i (listed_take[p]), .data_o (listed[p])
      );
    end

    gramer_slr_registers #(.WIDTH($bits(request_t)), .STAGES(SLR_REGISTERS)) i_requests (
      .clk_i (clk), .data_i (asks), .data_o (asked)
    );

    // Line i of an array belongs to partition i mod PARTITIONS.
    assign pu_edge_valid[p]   = asked.edge_valid;
    assign pu_vertex_valid[p] = asked.vertex_valid;
    assign pu_edge_part[p]    = PARTITIONS > 1 ? asked.edge_line[PART_W-1:0] : '0;
    assign pu_vertex_part[p]  = PARTITIONS > 1 ? asked.vertex_id[2 +: PART_W] : '0;
    assign pu_edge_head[p]    = {asked.edge_line, asked.edge_rank, asked.edge_slot};
    assign pu_vertex_head[p]  = {asked.vertex_id, asked.vertex_slot};
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
    .clk_i (clk), .rst_i (crossbar_rst),
    .valid_i (pu_edge_valid), .target_i (pu_edge_part), .head_i (pu_edge_head),
    .data_i (none_in),
    .valid_o (edge_valid), .ready_i (edge_ready), .source_o (edge_pu), .head_o (edge_head),
    .data_o (), .waiting_o (edge_waiting)
  );

  gramer_crossbar #(.INPUTS(PUS), .OUTPUTS(PARTITIONS), .HEAD_W(VHEAD_W), .DATA_W(1), .DEPTH(SLOTS))
  i_vertex_requests (
    .clk_i (clk), .rst_i (crossbar_rst),
    .valid_i (pu_vertex_valid), .target_i (pu_vertex_part), .head_i (pu_vertex_head),
    .data_i (none_in),
    .valid_o (vertex_valid), .ready_i (vertex_ready), .source_o (vertex_pu),
    .head_o (vertex_head), .data_o (), .waiting_o (vertex_waiting)
  );

  gramer_crossbar #(.INPUTS(PARTITIONS), .OUTPUTS(PUS), .HEAD_W(SLOT_W), .DATA_W(LINE_W),
             .DEPTH(SLOTS))
  i_edge_answers (
    .clk_i (clk), .rst_i (crossbar_rst),
    .valid_i (edge_back), .target_i (edge_back_pu), .head_i (edge_back_slot),
    .data_i (edge_back_line),
    .valid_o (pu_edge_back), .ready_i (pu_edge_ready), .source_o (), .head_o (pu_edge_slot),
    .data_o (pu_edge_line), .waiting_o ()
  );

  gramer_crossbar #(.INPUTS(PARTITIONS), .OUTPUTS(PUS), .HEAD_W(SLOT_W), .DATA_W(RECORD_W),
             .DEPTH(SLOTS))
  i_vertex_answers (
    .clk_i (clk), .rst_i (crossbar_rst),
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

  typedef struct packed {
    logic            edge_valid;
    logic [PU_W-1:0] edge_pu;
    slot_t           edge_slot;
    line_t           edge_line;
    logic            vertex_valid;
    logic [PU_W-1:0] vertex_pu;
    slot_t           vertex_slot;
    logic [RECORD_W-1:0] vertex_record;
  } answer_t;

  // A line from DDR, for which of both memories it is, and for which entry.
  typedef struct packed {
    logic [1:0]        valid;
    logic [MISS_W-1:0] entry;
    line_t             line;
  } fill_t;

  for (genvar p = 0; p < PARTITIONS; p++) begin : gen_partition
    to_partition_t in;
    answer_t       answers, answered; // answered: where the crossbars are
    fill_t         fill;
    logic [1:0]    fill_taken;
    logic [63:0]   counter;

    gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_reset (
      .clk_i (clk), .data_i (rst_q), .data_o (partition_rst[p])
    );

    gramer_slr_registers #(.WIDTH($bits(to_partition_t)), .STAGES(SLR_FAR)) i_in (
      .clk_i (clk), .data_i (to_partitions_left), .data_o (in)
    );

    gramer_partition i_partition (
      .clk_i (clk), .rst_i (partition_rst[p]), .config_i (in.settings),
      .forget_i (in.forget), .forget_set_i (in.forget_set),
      .vertex_pad_write_i (in.vertex_pad_write[p]), .edge_pad_write_i (in.edge_pad_write[p]),
      .pad_at_i (in.pad_at), .pad_line_i (in.pad_line),
      .vertex_valid_i (vertex_valid[p]), .vertex_ready_o (vertex_ready[p]),
      .vertex_id_i (vertex_head[p][VHEAD_W-1:SLOT_W]), .vertex_pu_i (vertex_pu[p]),
      .vertex_slot_i (vertex_head[p][SLOT_W-1:0]),
      .vertex_valid_o (answers.vertex_valid), .vertex_pu_o (answers.vertex_pu),
      .vertex_slot_o (answers.vertex_slot), .vertex_record_o (answers.vertex_record),
      .edge_valid_i (edge_valid[p]), .edge_ready_o (edge_ready[p]),
      .edge_line_i (edge_head[p][EHEAD_W-1 -: ELINE_W]),
      .edge_rank_i (edge_head[p][SLOT_W +: ID_W]), .edge_pu_i (edge_pu[p]),
      .edge_slot_i (edge_head[p][SLOT_W-1:0]),
      .edge_valid_o (answers.edge_valid), .edge_pu_o (answers.edge_pu),
      .edge_slot_o (answers.edge_slot), .edge_line_o (answers.edge_line),
      .read_valid_o (read_valid[p]), .read_ready_i (read_ready[p]),
      .read_entry_o (read_entry[p]), .read_line_o (read_line[p]),
      .fill_valid_i (fill.valid), .fill_ready_o (fill_taken),
      .fill_entry_i (fill.entry), .fill_line_i (fill.line),
      .clear_i (in.clear),
      .vertex_waiting_i (vertex_waiting[p]), .edge_waiting_i (edge_waiting[p]),
      .counter_at_i (($clog2(PARTITION_COUNTERS))'(in.counter_at)),
      .counter_o (counter)
    );

    gramer_slr_registers #(.WIDTH($bits(answer_t)), .STAGES(SLR_REGISTERS)) i_answers (
      .clk_i (clk), .data_i (answers), .data_o (answered)
    );

    assign edge_back[p]          = answered.edge_valid;
    assign edge_back_pu[p]       = answered.edge_pu;
    assign edge_back_slot[p]     = answered.edge_slot;
    assign edge_back_line[p]     = answered.edge_line;
    assign vertex_back[p]        = answered.vertex_valid;
    assign vertex_back_pu[p]     = answered.vertex_pu;
    assign vertex_back_slot[p]   = answered.vertex_slot;
    assign vertex_back_record[p] = answered.vertex_record;

    gramer_slr_registers #(.WIDTH(64), .STAGES(SLR_REGISTERS)) i_counter (
      .clk_i (clk), .data_i (counter), .data_o (partition_counter[p])
    );

    // Lines from DDR: each of both memories has no more of them under way than entries.
    if (SLR_REGISTERS == 0) begin : gen_near
      assign fill          = '{valid: fill_valid[p], entry: fill_entry[p % BANKS],
                               line: fill_line[p % BANKS]};
      assign fill_ready[p] = fill_taken;
    end else begin : gen_far
      fill_t sent, came;
      logic  waits;

      assign sent = '{valid: fill_valid[p], entry: fill_entry[p % BANKS],
                      line: fill_line[p % BANKS]};
      assign fill_ready[p] = '1;

      gramer_slr_registers #(.WIDTH($bits(fill_t)), .STAGES(SLR_REGISTERS)) i_fill (
        .clk_i (clk), .data_i (sent), .data_o (came)
      );

      fill_t first;
      gramer_fifo #(.WIDTH($bits(fill_t)), .DEPTH(2 * MISSES)) i_fills (
        .clk_i (clk), .rst_i (partition_rst[p]),
        .push_i (came.valid != '0), .data_i (came), .full_o (),
        .pop_i (waits && (first.valid & fill_taken) != '0), .valid_o (waits), .data_o (first)
      );

      assign fill = '{valid: waits ? first.valid : '0, entry: first.entry, line: first.line};
    end
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
    logic        reads_word, takes_word, came_word, came_beat, came_error;
    logic [31:0] word_here;
    logic [63:0] bank_base, bank_edge_base, word_address, came_address;

    gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_reset (
      .clk_i (clk), .data_i (rst_q), .data_o (bank_rst[b])
    );

    gramer_slr_registers #(.WIDTH(3 * 64), .STAGES(SLR_REGISTERS)) i_addresses (
      .clk_i (clk), .data_i ({base_q[b], edge_base_q, abort_q}),
      .data_o ({bank_base, bank_edge_base, word_address})
    );

    for (genvar m = 0; m < MEMORIES; m++) begin : gen_memory
      localparam int unsigned P = (m / 2) * BANKS + b;
      assign fill_valid[P][m % 2] = bank_fill_valid[m];
      assign bank_fill_ready[m]   = fill_ready[P][m % 2];

      // A memory asks for no more lines than it has entries.
      if (SLR_REGISTERS == 0) begin : gen_near
        assign bank_read_valid[m]   = read_valid[P][m % 2];
        assign read_ready[P][m % 2] = bank_read_ready[m];
        assign bank_read_entry[m]   = read_entry[P][m % 2];
        assign bank_read_line[m]    = read_line[P][m % 2];
      end else begin : gen_far
        logic              came;
        logic [MISS_W-1:0] entry;
        eline_t            line;

        assign read_ready[P][m % 2] = 1'b1;

        gramer_slr_registers #(.WIDTH(1 + MISS_W + ELINE_W), .STAGES(SLR_REGISTERS)) i_read (
          .clk_i (clk),
          .data_i ({read_valid[P][m % 2], read_entry[P][m % 2], read_line[P][m % 2]}),
          .data_o ({came, entry, line})
        );

        gramer_fifo #(.WIDTH(MISS_W + ELINE_W), .DEPTH(MISSES)) i_reads (
          .clk_i (clk), .rst_i (bank_rst[b]),
          .push_i (came), .data_i ({entry, line}), .full_o (),
          .pop_i (bank_read_valid[m] && bank_read_ready[m]), .valid_o (bank_read_valid[m]),
          .data_o ({bank_read_entry[m], bank_read_line[m]})
        );
      end
    end

    // The abort word: one read at a time.
    if (SLR_REGISTERS == 0) begin : gen_near
      assign reads_word    = poll_valid && b == 0;
      assign poll_ready[b] = takes_word;
    end else begin : gen_far
      logic came, some, unused;

      gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_poll (
        .clk_i (clk), .data_i (poll_valid && b == 0), .data_o (came)
      );

      gramer_fifo #(.WIDTH(1), .DEPTH(2)) i_polls (
        .clk_i (clk), .rst_i (bank_rst[b]),
        .push_i (came), .data_i (1'b1), .full_o (),
        .pop_i (reads_word && takes_word), .valid_o (reads_word), .data_o (some)
      );

      assign poll_ready[b] = 1'b1;
      assign unused        = some;
    end

    gramer_axi_reader #(.MEMORIES(MEMORIES)) i_reader (
      .clk_i (clk), .rst_i (bank_rst[b]),
      .base_i (bank_base), .edge_base_i (bank_edge_base),
      .read_valid_i (bank_read_valid), .read_ready_o (bank_read_ready),
      .read_entry_i (bank_read_entry), .read_line_i (bank_read_line),
      .fill_valid_o (bank_fill_valid), .fill_ready_i (bank_fill_ready),
      .fill_entry_o (fill_entry[b]), .fill_line_o (fill_line[b]),
      .word_valid_i (reads_word), .word_ready_o (takes_word),
      .word_address_i (word_address), .word_valid_o (came_word), .word_o (word_here),
      .arvalid_o (m_axi_arvalid[b]), .arready_i (m_axi_arready[b]),
      .araddr_o (m_axi_araddr[b*64 +: 64]), .arid_o (arid),
      .rvalid_i (m_axi_rvalid[b]), .rready_o (m_axi_rready[b]),
      .rdata_i (m_axi_rdata[b*512 +: 512]), .rid_i (m_axi_rid[b*8 +: AXI_ID_W]),
      .rresp_i (m_axi_rresp[b*2 +: 2]),
      .beat_o (came_beat), .error_o (came_error), .error_address_o (came_address)
    );

    gramer_slr_registers #(.WIDTH(3 + 32 + 64), .STAGES(SLR_REGISTERS)) i_out (
      .clk_i (clk), .data_i ({came_beat, came_error, came_word, word_here, came_address}),
      .data_o ({beat[b], error[b], word_valid[b], word[b], error_address[b]})
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
      // The in-stream is taken to its end, as in every run.
      if (!rst_q && refused_q) begin
        status_q        <= STATUS_REFUSED;
        error_address_q <= 64'(refused_offset_q);
        stop_q          <= 1'b1;
        kill_q          <= 1'b1;
      end
    end else if (state_q == FORGET || state_q == RUN || state_q == SETTLE_) begin
      if (status_q != STATUS_ERROR && status_q != STATUS_REFUSED) begin
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
    if (rst_q || clear || forget) begin
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

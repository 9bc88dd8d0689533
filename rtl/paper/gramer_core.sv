// Top of the paper's core (figure 6): control, prefetcher, arbitrator, PUs, memory system, pattern buffer.
// Ports are flat; those of the DDR banks are packed, bank 0 in the low bits.
//
// PUs may lie in other regions of the die (SLRs) than the shared modules. Every path between regions has
// SLR_REGISTERS registers, the first one at the sender. A receiver that may be busy has a queue with room
// for everything in flight. The memory system has registers for its own paths.
module gramer_core
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
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
  // AXI4 read masters, one per DDR bank
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

  // Cycles of the caches' invalidation, one set each; long enough for the last messages of the previous
  // run to arrive.
  localparam int unsigned SETS_MOST = VERTEX_SETS > EDGE_SETS ? VERTEX_SETS : EDGE_SETS;
  localparam int unsigned STALE = SLR_REGISTERS > 0 ? 2 * SLR_REGISTERS + 4 : 1;
  localparam int unsigned SWEEP = SETS_MOST > STALE ? SETS_MOST : STALE;
  // Exceeds the latency from a candidate to its counter and the search for the next unit, plus a unit's
  // way to a PU and the PU's answer.
  localparam int unsigned SETTLE = (PUS > 8 ? PUS + 7 : 15) + 2 * SLR_REGISTERS;
  // Registers between regions: one at the sender, the others at each receiver.
  localparam int unsigned SLR_NEAR = SLR_REGISTERS > 0 ? 1 : 0;
  localparam int unsigned SLR_FAR  = SLR_REGISTERS - SLR_NEAR;

  logic clk, rst_q;
  assign clk = ap_clk;
  always_ff @(posedge clk) rst_q <= !ap_rst_n;

  // ---------------------------------------------------------------- control

  logic        start, ready, done, idle, waiting;
  logic [31:0] registers [1 << (CONTROL_ADDR_W - 2)];

  gramer_control #(.ADDR_W(CONTROL_ADDR_W)) i_control (
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

  typedef enum logic [2:0] { IDLE, FORGET, RUN, SETTLING, REPORT } state_e;

  state_e      state_q;
  logic [31:0] sweep_q;
  logic        clear, forget, work_finished, cut, working, report, reported, saturated;
  logic [63:0] cycles_q, units_q;
  logic [PUS-1:0] pu_busy, pu_saturated;
  logic [31:0] status_q, result_beats_q;
  logic [63:0] error_address_q, abort_q, edge_base_q;
  logic [63:0] base_q [BANKS];
  logic        running, handed, stop_q, kill_q, poll_busy, listing, refused, refused_q;
  logic [31:0] refused_offset, refused_offset_q;
  config_t     config_q;
  app_e        app;

  assign app = app_e'(registers[ARG_APPLICATION >> 2][1:0]);

  gramer_settings_check i_settings (
    .registers_i (registers), .refused_o (refused), .offset_o (refused_offset)
  );

  // Bank addresses are contiguous in the register map.
  localparam int unsigned BANK_STEP = 3;

  function automatic logic [63:0] long(input logic [31:0] from [1 << (CONTROL_ADDR_W - 2)],
                                       input int unsigned at);
    return {from[(at >> 2) + 1], from[at >> 2]};
  endfunction

  assign idle    = state_q == IDLE && !waiting;
  assign ready   = state_q == IDLE && start;
  assign forget  = state_q == FORGET;
  assign report  = state_q == SETTLING && sweep_q == SETTLE;
  assign done    = state_q == REPORT && reported;
  assign working = pu_busy != '0 || poll_busy || listing;
  assign saturated = pu_saturated != '0;

  always_ff @(posedge clk) begin
    clear <= !rst_q && ready; // when the settings are valid
    if (state_q == IDLE) cycles_q <= 64'd1;
    else cycles_q <= cycles_q + 1'b1;
    if (clear) units_q <= '0;
    else if (handed) units_q <= units_q + 1'b1;
    if (ready) begin
      config_q.app          <= app;
      config_q.k            <= SIZE_W'(registers[ARG_K >> 2]);
      config_q.ascending    <= registers[ARG_FLAGS >> 2][0];
      config_q.stealing     <= registers[ARG_FLAGS >> 2][1];
      config_q.lru          <= registers[ARG_FLAGS >> 2][2];
      config_q.lists        <= registers[ARG_FLAGS >> 2][3];
      // The in-stream of refused settings is drained, whatever it has.
      config_q.filters      <= FILTER_WORDS != 0 && registers[ARG_FLAGS >> 2][4] && !refused;
      // Of frequent patterns it selects always, of cliques never.
      config_q.selects      <= app == APP_FSM || (app == APP_MOTIF && registers[ARG_FLAGS >> 2][5]);
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
        RUN: if (work_finished && !working) state_q <= SETTLING;
        SETTLING: begin
          sweep_q <= sweep_q + 1'b1;
          if (working) begin // a unit has just been dispatched
            sweep_q <= '0;
            state_q <= RUN;
          end else if (sweep_q == SETTLE) state_q <= REPORT;
        end
        default: if (reported) state_q <= IDLE;
      endcase
    end
  end

  // ---------------------------------------------------------------- prefetcher, arbitrator

  logic                  unit_valid, unit_ready, dictionary_write, filter_write, count_clear;
  logic [31:0]           patterns, pad_at;
  logic [NUMBER_W-1:0]   clear_at, report_at, count_at;
  unit_t                 unit;
  key_t                  dictionary_key;
  entry_t                dictionary_entry;
  logic [FILTER_AT_W-1:0] filter_at;
  filter_word_t          filter_word;
  logic [PARTITIONS-1:0] vertex_pad_write, edge_pad_write;
  line_t                 pad_line;
  logic [PUS-1:0]        unit_pu_valid, unit_pu_ready;

  gramer_prefetcher i_prefetcher (
    .clk_i (clk), .rst_i (rst_q), .start_i (ready), .stop_i (stop_q),
    .filters_i (config_q.filters),
    .tvalid_i (s_axis_in_tvalid), .tready_o (s_axis_in_tready),
    .tdata_i (s_axis_in_tdata), .tlast_i (s_axis_in_tlast),
    .patterns_o (patterns), .count_clear_o (count_clear), .count_at_o (clear_at),
    .filter_write_o (filter_write), .filter_at_o (filter_at), .filter_word_o (filter_word),
    .dictionary_write_o (dictionary_write), .dictionary_key_o (dictionary_key),
    .dictionary_entry_o (dictionary_entry),
    .vertex_pad_write_o (vertex_pad_write), .edge_pad_write_o (edge_pad_write),
    .pad_at_o (pad_at), .pad_line_o (pad_line),
    .unit_valid_o (unit_valid), .unit_ready_i (unit_ready && state_q == RUN), .unit_o (unit),
    .running_o (running), .finished_o (work_finished), .cut_o (cut)
  );

  gramer_arbitrator i_arbitrator (
    .clk_i (clk), .rst_i (rst_q),
    .unit_valid_i (unit_valid && state_q == RUN), .unit_ready_o (unit_ready), .handed_o (handed),
    .pu_valid_o (unit_pu_valid), .pu_ready_i (unit_pu_ready)
  );

  // ---------------------------------------------------------------- to the PUs and partitions

  logic [7:0]    counter_at;
  to_pu_t        to_pus, to_pus_left; // left: after the sender's register
  to_partition_t to_partitions;

  assign to_pus = '{
    clear: clear, running: running, kill: kill_q, settings: config_q,
    unit_valid: unit_pu_valid, unit: unit, dictionary_write: dictionary_write,
    dictionary_key: dictionary_key, dictionary_entry: dictionary_entry,
    filter_write: filter_write, filter_at: filter_at, filter_word: filter_word,
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

  // ---------------------------------------------------------------- PUs

  logic [PUS-1:0]  edge_asks, edge_comes, edge_ready, vertex_asks, vertex_comes, vertex_ready;
  edge_request_t   edge_request  [PUS];
  edge_answer_t    edge_answer   [PUS];
  vertex_request_t vertex_request [PUS];
  vertex_answer_t  vertex_answer [PUS];
  logic [COUNT_W-1:0] pu_count [PUS];
  logic [63:0]       pu_counter [PUS];
  logic [PUS-1:0]    listed_more, listed_take;
  listed_t           listed [PUS];
  ordinal_t          oldest [PUS];

  assign count_at = state_q == REPORT ? report_at : clear_at;

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    to_pu_t   in;
    from_pu_t said, said_here;
    logic     rst, busy, more, take, link_busy;
    listed_t  embedding;

    gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_reset (
      .clk_i (clk), .data_i (rst_q), .data_o (rst)
    );

    gramer_slr_registers #(.WIDTH($bits(to_pu_t)), .STAGES(SLR_FAR)) i_in (
      .clk_i (clk), .data_i (to_pus_left), .data_o (in)
    );

    gramer_pu i_pu (
      .clk_i (clk), .rst_i (rst), .clear_i (in.clear), .running_i (in.running),
      .kill_i (in.kill), .config_i (in.settings),
      .unit_valid_i (in.unit_valid[p]), .unit_ready_o (said.unit_ready), .unit_i (in.unit),
      .edge_valid_o (edge_asks[p]), .edge_request_o (edge_request[p]),
      .edge_valid_i (edge_comes[p]), .edge_ready_o (edge_ready[p]), .edge_answer_i (edge_answer[p]),
      .vertex_valid_o (vertex_asks[p]), .vertex_request_o (vertex_request[p]),
      .vertex_valid_i (vertex_comes[p]), .vertex_ready_o (vertex_ready[p]),
      .vertex_answer_i (vertex_answer[p]),
      .dictionary_write_i (in.dictionary_write), .dictionary_key_i (in.dictionary_key),
      .dictionary_entry_i (in.dictionary_entry),
      .filter_write_i (in.filter_write), .filter_at_i (in.filter_at), .filter_word_i (in.filter_word),
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
        .clk_i (clk), .rst_i (rst),
        .more_i (more), .take_o (take), .data_i (embedding), .busy_o (link_busy),
        .far_rst_i (rst_q),
        .more_o (listed_more[p]), .take_i (listed_take[p]), .data_o (listed[p])
      );
    end
  end

  // ---------------------------------------------------------------- memory

  logic [63:0]         partition_counter [PARTITIONS];
  logic [63:0]         bank_counter [BANKS];
  logic [BANKS-1:0]    error;
  logic [63:0]         error_address [BANKS];
  logic                poll_valid, poll_ready, poll_stop, poll_kill, word_valid;
  logic [31:0]         word;
  logic [63:0]         araddr [BANKS];
  logic [READ_ID_W-1:0] arid   [BANKS], rid [BANKS];
  line_t               rdata  [BANKS];
  logic [1:0]          rresp  [BANKS];

  gramer_memory_system i_memory (
    .clk_i (clk), .rst_i (rst_q), .control_i (to_partitions),
    .edge_valid_i (edge_asks), .edge_request_i (edge_request),
    .edge_valid_o (edge_comes), .edge_ready_i (edge_ready), .edge_answer_o (edge_answer),
    .vertex_valid_i (vertex_asks), .vertex_request_i (vertex_request),
    .vertex_valid_o (vertex_comes), .vertex_ready_i (vertex_ready), .vertex_answer_o (vertex_answer),
    .base_i (base_q), .edge_base_i (edge_base_q),
    .word_valid_i (poll_valid), .word_ready_o (poll_ready), .word_address_i (abort_q),
    .word_valid_o (word_valid), .word_o (word),
    .arvalid_o (m_axi_arvalid), .arready_i (m_axi_arready), .araddr_o (araddr), .arid_o (arid),
    .rvalid_i (m_axi_rvalid), .rready_o (m_axi_rready), .rdata_i (rdata), .rid_i (rid),
    .rresp_i (rresp),
    .error_o (error), .error_address_o (error_address),
    .partition_counter_o (partition_counter), .bank_counter_o (bank_counter)
  );

  for (genvar b = 0; b < BANKS; b++) begin : gen_bank
    assign m_axi_araddr[b*64 +: 64] = araddr[b];
    assign m_axi_arid[b*8 +: 8]     = 8'(arid[b]);
    assign m_axi_arlen[b*8 +: 8]    = '0;   // one beat
    assign m_axi_arsize[b*3 +: 3]   = 3'd6; // of 64 bytes
    assign m_axi_arburst[b*2 +: 2]  = 2'd1;
    assign rdata[b] = m_axi_rdata[b*512 +: 512];
    assign rid[b]   = m_axi_rid[b*8 +: READ_ID_W];
    assign rresp[b] = m_axi_rresp[b*2 +: 2];
  end

  gramer_abort_poller i_abort (
    .clk_i (clk), .rst_i (rst_q), .clear_i (clear),
    .running_i (state_q == FORGET || state_q == RUN), .address_i (abort_q),
    .valid_o (poll_valid), .ready_i (poll_ready), .word_valid_i (word_valid), .word_i (word),
    .stop_o (poll_stop), .kill_o (poll_kill), .busy_o (poll_busy)
  );

  // ---------------------------------------------------------------- early ends

  logic        full;
  ordinal_t    dropped;
  logic [BANKS-1:0] failed_q;
  logic [63:0] failed_address_q [BANKS];

  // The first failed access is reported. An error takes precedence over all else, then a stream without an end, and a
  // full result area over an abort by the host, since records are missing.
  always_ff @(posedge clk) begin
    failed_q         <= error;
    failed_address_q <= error_address;
    if (rst_q || clear) begin
      status_q        <= STATUS_DONE;
      error_address_q <= '0;
      stop_q          <= 1'b0;
      kill_q          <= 1'b0;
      // A refused run drains the in-stream to its end, too.
      if (!rst_q && refused_q) begin
        status_q        <= STATUS_REFUSED;
        error_address_q <= 64'(refused_offset_q);
        stop_q          <= 1'b1;
        kill_q          <= 1'b1;
      end
    end else if (state_q == FORGET || state_q == RUN || state_q == SETTLING) begin
      if (status_q != STATUS_ERROR && status_q != STATUS_REFUSED) begin
        if (full) status_q <= STATUS_FULL;
        else if (poll_stop && !work_finished) status_q <= STATUS_ABORTED;
        else if (poll_kill && working) status_q <= STATUS_ABORTED;
        if (cut) status_q <= STATUS_CUT;
        for (int b = BANKS - 1; b >= 0; b--) if (failed_q[b]) begin
          status_q        <= STATUS_ERROR;
          error_address_q <= failed_address_q[b];
        end
      end
      stop_q <= stop_q || poll_stop || full || cut || failed_q != '0;
      kill_q <= kill_q || poll_kill || full || cut || failed_q != '0;
    end
  end

  // First unit to resume from. Units are dispatched in order, so all units before the oldest one that was
  // in flight or lost a record are finished. The values of PUs and pattern buffer never increase in a
  // run, so examining one of them per cycle suffices.
  ordinal_t    lost [PUS + 1];
  ordinal_t    lost_q, first_q;
  logic [$clog2(PUS+1)-1:0] look_q;
  logic        before_q, void_units; // void: every unit has to be repeated
  logic [63:0] next_unit_q;

  assign void_units = status_q == STATUS_ERROR || status_q == STATUS_CUT;

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
    next_unit_q <= void_units ? '0 : before_q ? 64'(first_q) : units_q;
  end

`ifndef SYNTHESIS
  ordinal_t first; // reset value: no unit

  always_comb begin
    first = '1;
    for (int p = 0; p <= PUS; p++) if (lost[p] < first) first = lost[p];
  end

  always_ff @(posedge clk) if (!rst_q && state_q == REPORT) begin
    assert (!working && !handed) else $error("a report while something is under way");
    assert (next_unit_q == (void_units ? '0
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
    .partition_counter_i (partition_counter), .bank_counter_i (bank_counter),
    .tvalid_o (m_axis_out_tvalid), .tready_i (m_axis_out_tready),
    .tdata_o (m_axis_out_tdata), .tlast_o (m_axis_out_tlast)
  );

  logic unused;
  assign unused = &{1'b0, m_axi_rlast, m_axi_rid};

endmodule

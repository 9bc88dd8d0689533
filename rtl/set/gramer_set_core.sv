// Top of the set core: control registers, memory channels of the graph image, distributor of work units, one cluster (PUs
// and partitions), report. Ports are those of gramer_core with a DDR bank for each channel.
//
// A run: the settings are taken; units start as soon as their part of the image is loaded; records of a listing plan
// leave during the run; the sums follow once the stream has ended and every PU is idle. A killed run (abort word 2,
// a failed read, a stream without an end, no room for sets or records) resets the PUs and everything in flight to them.
module gramer_set_core
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
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
  // AXI4 read masters, one a channel
  output logic [CHANNELS-1:0]     m_axi_arvalid,
  input  logic [CHANNELS-1:0]     m_axi_arready,
  output logic [CHANNELS*64-1:0]  m_axi_araddr,
  output logic [CHANNELS*8-1:0]   m_axi_arid,
  output logic [CHANNELS*8-1:0]   m_axi_arlen,
  output logic [CHANNELS*3-1:0]   m_axi_arsize,
  output logic [CHANNELS*2-1:0]   m_axi_arburst,
  input  logic [CHANNELS-1:0]     m_axi_rvalid,
  output logic [CHANNELS-1:0]     m_axi_rready,
  input  logic [CHANNELS*512-1:0] m_axi_rdata,
  input  logic [CHANNELS*8-1:0]   m_axi_rid,
  input  logic [CHANNELS*2-1:0]   m_axi_rresp,
  input  logic [CHANNELS-1:0]     m_axi_rlast,
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

  localparam int unsigned REGISTERS = 1 << (CONTROL_ADDR_W - 2);
  // Registers between the addresses of two channels.
  localparam int unsigned BANK_STEP = 3;
  localparam int unsigned AT_W    = $clog2(PARTITION_LINES);
  localparam int unsigned TOTAL_W = AT_W + $clog2(PARTITIONS) + 1;
  localparam int unsigned FREE_W  = $clog2(UNIT_QUEUE/UNITS_A_GROUP) + 1;
  localparam int unsigned IMAGE_LINES = PARTITIONS * PARTITION_LINES;
  // Exceeds the latency from the last set to its sum, and the delay of the PUs' status.
  localparam int unsigned SETTLE = 31;
  // Cycles until the PUs leave their reset after an abort. It lasts through the report, which takes longer
  // than any line in flight to them.
  localparam int unsigned EMPTY  = 1;

  logic clk, rst_q;
  assign clk = ap_clk;
  always_ff @(posedge clk) rst_q <= !ap_rst_n;

  // ---------------------------------------------------------------- control

  logic        start, ready, done, idle, waiting;
  logic [31:0] registers [REGISTERS];

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

  typedef enum logic [2:0] { IDLE, CLEAR, RUN, SETTLING, REPORT } state_e;

  state_e      state_q;
  logic [4:0]  wait_q;
  logic        clear_q, begin_q, report, reported, working_q;
  logic [63:0] cycles_q, load_cycles_q;
  logic        whole_q;
  logic [31:0] lines_q, flags, lines, room, room_q; // room: capacity for records, in beats
  logic [63:0] abort_q, base_q [CHANNELS];
  logic        refused_q, stop_q, kill_q, over_q;
  logic [31:0] status_q, refused_offset_q;
  logic [63:0] error_address_q;

  function automatic logic [63:0] long(input logic [31:0] from [REGISTERS], input int unsigned at);
    return {from[(at >> 2) + 1], from[at >> 2]};
  endfunction

  assign flags  = registers[ARG_FLAGS >> 2];
  assign lines  = registers[ARG_IMAGE_LINES >> 2];
  assign room   = registers[ARG_RESULT_BEATS >> 2];
  assign idle   = state_q == IDLE && !waiting;
  assign ready  = state_q == IDLE && start;
  assign report = state_q == SETTLING && wait_q == 5'(SETTLE); // once the last record has left
  assign done   = state_q == REPORT && reported;

  logic finished, ended_short, cut, all, load_busy, poll_busy, recording;
  logic [PUS-1:0] pu_busy, saturated, no_room;

  always_ff @(posedge clk) begin
    // Settings are valid with `clear_q`, and the PUs are empty with `begin_q`.
    clear_q   <= !rst_q && ready;
    begin_q   <= !rst_q && state_q == CLEAR && wait_q == 5'(EMPTY);
    working_q <= pu_busy != '0 || load_busy || poll_busy || recording;
    if (state_q == IDLE) cycles_q <= 64'd1;
    else if (state_q == CLEAR || state_q == RUN) cycles_q <= cycles_q + 1'b1;
    if (clear_q) load_cycles_q <= '0;
    else if (state_q == RUN && !all && lines_q != '0) load_cycles_q <= cycles_q;
    if (ready) begin
      whole_q   <= flags[0];
      lines_q   <= lines;
      room_q    <= room;
      abort_q   <= long(registers, ARG_ABORT);
      for (int unsigned c = 0; c < CHANNELS; c++)
        base_q[c] <= long(registers, ARG_BANK0 + 4 * BANK_STEP * c);
      refused_q <= flags >> 1 != '0 || lines > IMAGE_LINES || (PLAN_LEVELS == 0 && room != '0);
      refused_offset_q <= flags >> 1 != '0 ? ARG_FLAGS
                          : lines > IMAGE_LINES ? ARG_IMAGE_LINES : ARG_RESULT_BEATS;
    end
    if (rst_q) begin
      state_q <= IDLE;
      wait_q  <= '0;
    end else unique case (state_q)
      IDLE: begin
        wait_q <= '0;
        if (ready) state_q <= CLEAR;
      end
      CLEAR: begin
        wait_q <= wait_q + 1'b1;
        if (wait_q == 5'(EMPTY)) begin
          wait_q  <= '0;
          state_q <= RUN;
        end
      end
      RUN: if (finished && !working_q && !begin_q) state_q <= SETTLING;
      SETTLING: begin
        wait_q <= wait_q + 1'b1;
        if (working_q) begin // a unit has just been dispatched
          wait_q  <= '0;
          state_q <= RUN;
        end else if (report) state_q <= REPORT;
      end
      default: if (reported) state_q <= IDLE;
    endcase
  end

  // ---------------------------------------------------------------- memory

  logic        poll_valid, poll_ready, poll_stop, poll_kill, word_valid, error;
  logic [31:0] word;
  logic [63:0] error_address, beats_q [CHANNELS];
  logic [CHANNELS-1:0] beat;
  logic [PARTITIONS-1:0] write;
  logic [AT_W-1:0] write_at [CHANNELS];
  beat_t       write_line [CHANNELS];
  logic [TOTAL_W-1:0] loaded;

  gramer_set_channels i_channels (
    .clk_i (clk), .rst_i (rst_q),
    .start_i (begin_q), .stop_i (kill_q), .lines_i (refused_q ? '0 : TOTAL_W'(lines_q)),
    .base_i (base_q),
    .write_o (write), .write_at_o (write_at), .write_line_o (write_line),
    .loaded_o (loaded), .all_o (all),
    .word_valid_i (poll_valid), .word_ready_o (poll_ready), .word_address_i (abort_q),
    .word_valid_o (word_valid), .word_o (word),
    .arvalid_o (m_axi_arvalid), .arready_i (m_axi_arready), .araddr_o (m_axi_araddr),
    .arlen_o (m_axi_arlen), .arid_o (m_axi_arid),
    .rvalid_i (m_axi_rvalid), .rready_o (m_axi_rready), .rdata_i (m_axi_rdata),
    .rid_i (m_axi_rid), .rresp_i (m_axi_rresp),
    .busy_o (load_busy), .beat_o (beat), .error_o (error), .error_address_o (error_address)
  );

  for (genvar c = 0; c < CHANNELS; c++) begin : gen_channel
    assign m_axi_arsize[c*3 +: 3]  = 3'd6; // beats of 64 bytes
    assign m_axi_arburst[c*2 +: 2] = 2'd1;
  end

  gramer_abort_poller i_abort (
    .clk_i (clk), .rst_i (rst_q), .clear_i (clear_q),
    .running_i (state_q == RUN), .address_i (abort_q),
    .valid_o (poll_valid), .ready_i (poll_ready), .word_valid_i (word_valid), .word_i (word),
    .stop_o (poll_stop), .kill_o (poll_kill), .busy_o (poll_busy)
  );

  assign cut = ended_short && !begin_q; // until the distributor has started it is of the last run

  logic no_room_q;   // for sets or records of a search plan
  logic half_full_q; // half of the record area is used
  logic records_soft, records_full;

  always_ff @(posedge clk) begin
    no_room_q   <= (no_room != '0 || records_full) && !rst_q && !clear_q;
    half_full_q <= records_soft && !rst_q && !clear_q;
  end

  // The first failed access is reported and takes precedence. A run that has filled up is not reported as aborted.
  always_ff @(posedge clk) begin
    if (rst_q || clear_q) begin
      status_q        <= !rst_q && refused_q ? STATUS_REFUSED : STATUS_DONE;
      error_address_q <= !rst_q && refused_q ? 64'(refused_offset_q) : '0;
      over_q          <= 1'b0;
      stop_q          <= !rst_q && refused_q;
      kill_q          <= !rst_q && refused_q;
      beats_q         <= '{default: '0};
    end else begin
      for (int c = 0; c < CHANNELS; c++) beats_q[c] <= beats_q[c] + 64'(beat[c]);
      if (state_q == RUN || state_q == SETTLING) begin
        if (status_q != STATUS_ERROR && status_q != STATUS_REFUSED) begin
          if (error) begin
            status_q        <= STATUS_ERROR;
            error_address_q <= error_address;
          end else if (cut) begin
            status_q <= STATUS_CUT;
          end else if (no_room_q) begin
            status_q <= STATUS_FULL;
            over_q   <= 1'b1;
          end else if (!over_q && ((poll_stop && !finished) || (poll_kill && working_q)))
            status_q <= STATUS_ABORTED;
          else if (status_q == STATUS_DONE && half_full_q && !finished) status_q <= STATUS_FULL;
        end
        stop_q <= stop_q || poll_stop || error || cut || no_room_q || half_full_q;
        kill_q <= kill_q || (poll_kill && (!finished || working_q)) || error || cut || no_room_q;
      end
    end
  end

  // ---------------------------------------------------------------- units

  plan_t       plan [PLANS];
  unit_t       unit [UNITS_A_GROUP];
  logic [PUS-1:0] push;
  logic [FREE_W-1:0] free [PUS];
  logic        word_write;
  logic [PLAN_AT_W-1:0] word_at;
  plan_bits_t  plan_word;
  logic [63:0] places, handed;

  gramer_set_distributor i_distributor (
    .clk_i (clk), .rst_i (rst_q), .start_i (begin_q), .stop_i (stop_q),
    .tvalid_i (s_axis_in_tvalid), .tready_o (s_axis_in_tready),
    .tdata_i (s_axis_in_tdata), .tlast_i (s_axis_in_tlast),
    .whole_i (whole_q), .all_i (all), .loaded_i (loaded),
    .plan_o (plan), .word_write_o (word_write), .word_at_o (word_at), .word_o (plan_word),
    .free_i (free), .push_o (push), .unit_o (unit),
    .finished_o (finished), .cut_o (ended_short), .places_o (places), .units_o (handed)
  );

  logic [SUM_AT_W-1:0] sum_at;
  logic [COUNT_W-1:0]  sum [PUS];
  logic [7:0]  counter_at;
  counter_t    pu_counter [PUS];
  counter_t    partition_counter [PARTITIONS];
  logic        empty_q; // the PUs are in reset
  logic [PUS-1:0] record_valid, record_ready;
  record_t     record [PUS];

  always_ff @(posedge clk) empty_q <= rst_q || kill_q;

  gramer_set_cluster i_cluster (
    .clk_i (clk), .rst_i (empty_q), .clear_i (clear_q), .running_i (state_q == RUN),
    .write_i (write), .write_at_i (write_at), .write_line_i (write_line),
    .plan_i (plan), .word_write_i (word_write), .word_at_i (word_at), .word_i (plan_word),
    .push_i (push), .unit_i (unit), .free_o (free),
    .record_valid_o (record_valid), .record_ready_i (record_ready), .record_o (record),
    .sum_at_i (sum_at), .sum_o (sum), .saturated_o (saturated), .full_o (no_room),
    .counter_at_i (counter_at), .pu_counter_o (pu_counter),
    .partition_counter_o (partition_counter), .busy_o (pu_busy)
  );

  // ---------------------------------------------------------------- records

  logic        beat_valid, beat_ready, recorded;
  beat_t       record_beat;
  logic [39:0] records;

  if (PLAN_LEVELS != 0) begin : gen_records
    gramer_set_recorder i_recorder (
      .clk_i (clk), .rst_i (rst_q), .clear_i (clear_q), .room_i (room_q),
      .valid_i (record_valid), .ready_o (record_ready), .record_i (record),
      .beat_valid_o (beat_valid), .beat_ready_i (beat_ready), .beat_o (record_beat),
      .end_i (report), .ended_o (recorded),
      .soft_o (records_soft), .full_o (records_full), .records_o (records), .busy_o (recording)
    );
  end else begin : gen_no_records
    logic unused_records;
    always_comb begin
      unused_records = &{1'b0, record_valid, room_q, beat_ready};
      for (int p = 0; p < PUS; p++) unused_records &= &record[p];
    end
    assign record_ready = '0;
    assign beat_valid   = 1'b0;
    assign record_beat  = '0;
    assign recorded     = report;
    assign records_soft = 1'b0;
    assign records_full = 1'b0;
    assign records      = '0;
    assign recording    = 1'b0;
  end

  // ---------------------------------------------------------------- report

  logic [63:0] core_counter_q, next_unit_q;

  always_ff @(posedge clk) begin
    unique case (32'(counter_at))
      CNT_CORE_CYCLES:     core_counter_q <= cycles_q;
      CNT_CORE_WORK_UNITS: core_counter_q <= handed;
      CNT_CORE_SATURATED:  core_counter_q <= 64'(saturated != '0);
      default:                         core_counter_q <= load_cycles_q;
    endcase
    next_unit_q <= kill_q ? '0 : places;
  end

  gramer_set_report i_report (
    .clk_i (clk), .rst_i (rst_q), .start_i (recorded), .done_o (reported),
    .record_valid_i (beat_valid), .record_ready_o (beat_ready), .record_i (record_beat),
    .sum_at_o (sum_at), .sum_i (sum), .saturated_i (saturated != '0),
    .status_i (status_q), .address_i (error_address_q), .next_i (next_unit_q),
    .records_i (64'(records)),
    .counter_at_o (counter_at), .core_counter_i (core_counter_q), .pu_counter_i (pu_counter),
    .partition_counter_i (partition_counter), .bank_counter_i (beats_q),
    .tvalid_o (m_axis_out_tvalid), .tready_i (m_axis_out_tready),
    .tdata_o (m_axis_out_tdata), .tlast_o (m_axis_out_tlast)
  );

  logic unused;
  assign unused = &{1'b0, m_axi_rlast};

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst_q && state_q == REPORT) begin
    assert (!working_q && finished) else $error("a report while something is under way");
  end
`endif

endmodule

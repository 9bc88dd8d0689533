// Memory system (figure 7): requests of the PUs for lines and records cross to their partition, and answers
// cross back; misses of a partition are read from DDR.
//
//   PUs ─► request crossbars ─► partitions ─► readers ─► DDR, a reader a bank
//    ▲                           │      ▲                 │
//    └──── answer crossbars ◄────┘      └───── lines ◄────┘
//
// PUs, partitions, readers and the shared modules may lie in different regions of the die (SLRs). Every path
// between regions has SLR_REGISTERS registers, the first one at the sender. A receiver that may be busy has a
// queue with room for everything in flight. Crossbar columns belong to the region of their output: request
// columns lie with the partition, answer columns with the PU.
module gramer_memory_system
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_i, // a register
  input  to_partition_t control_i,
  // PUs: at most one outstanding access per slot, so requests always find room
  input  logic [PUS-1:0]  edge_valid_i,
  input  edge_request_t   edge_request_i [PUS],
  output logic [PUS-1:0]  edge_valid_o,
  input  logic [PUS-1:0]  edge_ready_i,
  output edge_answer_t    edge_answer_o [PUS],
  input  logic [PUS-1:0]  vertex_valid_i,
  input  vertex_request_t vertex_request_i [PUS],
  output logic [PUS-1:0]  vertex_valid_o,
  input  logic [PUS-1:0]  vertex_ready_i,
  output vertex_answer_t  vertex_answer_o [PUS],
  // Addresses: of the vertex lines in each bank, of the edge lines after them
  input  logic [63:0]   base_i [BANKS],
  input  logic [63:0]   edge_base_i,
  // A word of bank 0: at most one outstanding read
  input  logic          word_valid_i,
  output logic          word_ready_o,
  input  logic [63:0]   word_address_i,
  output logic          word_valid_o,
  output logic [31:0]   word_o,
  // AXI4 read channels of the banks
  output logic [BANKS-1:0]    arvalid_o,
  input  logic [BANKS-1:0]    arready_i,
  output logic [63:0]         araddr_o [BANKS],
  output logic [READ_ID_W-1:0] arid_o   [BANKS],
  input  logic [BANKS-1:0]    rvalid_i,
  output logic [BANKS-1:0]    rready_o,
  input  line_t               rdata_i  [BANKS],
  input  logic [READ_ID_W-1:0] rid_i    [BANKS],
  input  logic [1:0]          rresp_i  [BANKS],
  // Reads that failed
  output logic [BANKS-1:0]    error_o,
  output logic [63:0]         error_address_o [BANKS],
  // Counters
  output logic [63:0]         partition_counter_o [PARTITIONS],
  output logic [63:0]         bank_counter_o [BANKS]
);

  // Registers between regions: one at the sender, the others at each receiver.
  localparam int unsigned SLR_NEAR = SLR_REGISTERS > 0 ? 1 : 0;
  localparam int unsigned SLR_FAR  = SLR_REGISTERS - SLR_NEAR;

  // Requests of a PU in a cycle, and answers of a partition.
  typedef struct packed {
    logic            edge_valid;
    edge_request_t   edges;
    logic            vertex_valid;
    vertex_request_t vertex;
  } requests_t;

  typedef struct packed {
    logic            edge_valid;
    logic [PU_W-1:0] edge_pu;
    edge_answer_t    edges;
    logic            vertex_valid;
    logic [PU_W-1:0] vertex_pu;
    vertex_answer_t  vertex;
  } answers_t;

  // Line to read from DDR, and the entry of the memory that waits for it.
  typedef struct packed {
    logic [MISS_W-1:0] entry;
    eline_t            line;
  } read_t;

  // Line from DDR, its memory (vertices or edges), and its entry.
  typedef struct packed {
    logic [1:0]        valid;
    logic [MISS_W-1:0] entry;
    line_t             line;
  } fill_t;

  to_partition_t control_left; // after the sender's register
  logic          crossbar_rst;

  gramer_slr_registers #(.WIDTH($bits(to_partition_t)), .STAGES(SLR_NEAR)) i_control (
    .clk_i, .data_i (control_i), .data_o (control_left)
  );

  gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_crossbar_reset (
    .clk_i, .data_i (rst_i), .data_o (crossbar_rst)
  );

  // ---------------------------------------------------------------- from the PUs

  logic [PUS-1:0]        asked_edge, asked_vertex;
  logic [PART_W-1:0]     edge_part [PUS], vertex_part [PUS];
  edge_request_t         edge_asked [PUS];
  vertex_request_t       vertex_asked [PUS];

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    requests_t asks, asked; // asked: at the crossbars

    assign asks = '{edge_valid: edge_valid_i[p], edges: edge_request_i[p],
                    vertex_valid: vertex_valid_i[p], vertex: vertex_request_i[p]};

    gramer_slr_registers #(.WIDTH($bits(requests_t)), .STAGES(SLR_REGISTERS)) i_requests (
      .clk_i, .data_i (asks), .data_o (asked)
    );

    // Line i of an array belongs to partition i mod PARTITIONS.
    assign asked_edge[p]   = asked.edge_valid;
    assign edge_asked[p]   = asked.edges;
    assign edge_part[p]    = PARTITIONS > 1 ? asked.edges.line[PART_W-1:0] : '0;
    assign asked_vertex[p] = asked.vertex_valid;
    assign vertex_asked[p] = asked.vertex;
    assign vertex_part[p]  = PARTITIONS > 1 ? asked.vertex.vertex[2 +: PART_W] : '0;
  end

  // ---------------------------------------------------------------- crossbars

  logic [PARTITIONS-1:0] edge_valid, edge_ready, vertex_valid, vertex_ready, edge_back, vertex_back;
  logic [PU_W-1:0]       edge_pu [PARTITIONS], vertex_pu [PARTITIONS];
  logic [PU_W-1:0]       edge_back_pu [PARTITIONS], vertex_back_pu [PARTITIONS];
  logic [PU_W:0]         edge_waiting [PARTITIONS], vertex_waiting [PARTITIONS];
  edge_request_t         edge_request [PARTITIONS];
  vertex_request_t       vertex_request [PARTITIONS];
  edge_answer_t          edge_answer [PARTITIONS];
  vertex_answer_t        vertex_answer [PARTITIONS];

  gramer_crossbar #(
    .INPUTS(PUS), .OUTPUTS(PARTITIONS), .WIDTH($bits(edge_request_t)), .DEPTH(SLOTS)
  ) i_edge_requests (
    .clk_i, .rst_i (crossbar_rst),
    .valid_i (asked_edge), .target_i (edge_part), .message_i (edge_asked),
    .valid_o (edge_valid), .ready_i (edge_ready), .source_o (edge_pu), .message_o (edge_request),
    .waiting_o (edge_waiting)
  );

  gramer_crossbar #(
    .INPUTS(PUS), .OUTPUTS(PARTITIONS), .WIDTH($bits(vertex_request_t)), .DEPTH(SLOTS)
  ) i_vertex_requests (
    .clk_i, .rst_i (crossbar_rst),
    .valid_i (asked_vertex), .target_i (vertex_part), .message_i (vertex_asked),
    .valid_o (vertex_valid), .ready_i (vertex_ready), .source_o (vertex_pu),
    .message_o (vertex_request), .waiting_o (vertex_waiting)
  );

  gramer_crossbar #(
    .INPUTS(PARTITIONS), .OUTPUTS(PUS), .WIDTH($bits(edge_answer_t)), .DEPTH(SLOTS)
  ) i_edge_answers (
    .clk_i, .rst_i (crossbar_rst),
    .valid_i (edge_back), .target_i (edge_back_pu), .message_i (edge_answer),
    .valid_o (edge_valid_o), .ready_i (edge_ready_i), .source_o (), .message_o (edge_answer_o),
    .waiting_o ()
  );

  gramer_crossbar #(
    .INPUTS(PARTITIONS), .OUTPUTS(PUS), .WIDTH($bits(vertex_answer_t)), .DEPTH(SLOTS)
  ) i_vertex_answers (
    .clk_i, .rst_i (crossbar_rst),
    .valid_i (vertex_back), .target_i (vertex_back_pu), .message_i (vertex_answer),
    .valid_o (vertex_valid_o), .ready_i (vertex_ready_i), .source_o (), .message_o (vertex_answer_o),
    .waiting_o ()
  );

  // ---------------------------------------------------------------- partitions

  logic [1:0]        read_valid [PARTITIONS], read_ready [PARTITIONS];
  logic [1:0]        fill_valid [PARTITIONS], fill_ready [PARTITIONS];
  read_t             read       [PARTITIONS][2];
  logic [MISS_W-1:0] fill_entry [BANKS];
  line_t             fill_line  [BANKS];

  for (genvar p = 0; p < PARTITIONS; p++) begin : gen_partition
    logic              rst;
    to_partition_t     in;
    answers_t          answers, answered; // answered: at the crossbars
    fill_t             fill;
    logic [1:0]        fill_taken;
    logic [MISS_W-1:0] read_entry [2];
    eline_t            read_line [2];
    logic [63:0]       counter;

    gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_reset (
      .clk_i, .data_i (rst_i), .data_o (rst)
    );

    gramer_slr_registers #(.WIDTH($bits(to_partition_t)), .STAGES(SLR_FAR)) i_in (
      .clk_i, .data_i (control_left), .data_o (in)
    );

    gramer_partition i_partition (
      .clk_i, .rst_i (rst), .config_i (in.settings),
      .forget_i (in.forget), .forget_set_i (in.forget_set),
      .vertex_pad_write_i (in.vertex_pad_write[p]), .edge_pad_write_i (in.edge_pad_write[p]),
      .pad_at_i (in.pad_at), .pad_line_i (in.pad_line),
      .vertex_valid_i (vertex_valid[p]), .vertex_ready_o (vertex_ready[p]),
      .vertex_pu_i (vertex_pu[p]), .vertex_request_i (vertex_request[p]),
      .vertex_valid_o (answers.vertex_valid), .vertex_pu_o (answers.vertex_pu),
      .vertex_answer_o (answers.vertex),
      .edge_valid_i (edge_valid[p]), .edge_ready_o (edge_ready[p]),
      .edge_pu_i (edge_pu[p]), .edge_request_i (edge_request[p]),
      .edge_valid_o (answers.edge_valid), .edge_pu_o (answers.edge_pu),
      .edge_answer_o (answers.edges),
      .read_valid_o (read_valid[p]), .read_ready_i (read_ready[p]),
      .read_entry_o (read_entry), .read_line_o (read_line),
      .fill_valid_i (fill.valid), .fill_ready_o (fill_taken),
      .fill_entry_i (fill.entry), .fill_line_i (fill.line),
      .clear_i (in.clear),
      .vertex_waiting_i (vertex_waiting[p]), .edge_waiting_i (edge_waiting[p]),
      .counter_at_i (($clog2(PARTITION_COUNTERS))'(in.counter_at)),
      .counter_o (counter)
    );

    for (genvar m = 0; m < 2; m++) begin : gen_read
      assign read[p][m] = '{entry: read_entry[m], line: read_line[m]};
    end

    gramer_slr_registers #(.WIDTH($bits(answers_t)), .STAGES(SLR_REGISTERS)) i_answers (
      .clk_i, .data_i (answers), .data_o (answered)
    );

    assign edge_back[p]      = answered.edge_valid;
    assign edge_back_pu[p]   = answered.edge_pu;
    assign edge_answer[p]    = answered.edges;
    assign vertex_back[p]    = answered.vertex_valid;
    assign vertex_back_pu[p] = answered.vertex_pu;
    assign vertex_answer[p]  = answered.vertex;

    gramer_slr_registers #(.WIDTH(64), .STAGES(SLR_REGISTERS)) i_counter (
      .clk_i, .data_i (counter), .data_o (partition_counter_o[p])
    );

    // Lines from DDR: each memory has at most as many in flight as it has entries.
    fill_t sent;

    assign sent = '{valid: fill_valid[p], entry: fill_entry[p % BANKS], line: fill_line[p % BANKS]};

    if (SLR_REGISTERS == 0) begin : gen_near
      assign fill          = sent;
      assign fill_ready[p] = fill_taken;
    end else begin : gen_far
      fill_t came, first;
      logic  waits;

      assign fill_ready[p] = '1;

      gramer_slr_registers #(.WIDTH($bits(fill_t)), .STAGES(SLR_REGISTERS)) i_fill (
        .clk_i, .data_i (sent), .data_o (came)
      );

      (* keep_hierarchy = "yes" *)
      gramer_fifo #(.WIDTH($bits(fill_t)), .DEPTH(2 * MISSES)) i_fills (
        .clk_i, .rst_i (rst),
        .push_i (came.valid != '0), .data_i (came), .full_o (),
        .pop_i (waits && (first.valid & fill_taken) != '0), .valid_o (waits), .data_o (first)
      );

      assign fill = '{valid: waits ? first.valid : '0, entry: first.entry, line: first.line};
    end
  end

  // ---------------------------------------------------------------- DDR

  // Outputs of a reader to modules outside the memory system.
  typedef struct packed {
    logic        beat;
    logic        error;
    logic [63:0] error_address;
    logic        word_valid;
    logic [31:0] word;
  } from_reader_t;

  // Base addresses of a reader.
  typedef struct packed {
    logic [63:0] base;
    logic [63:0] edge_base;
    logic [63:0] word;
  } addresses_t;

  logic [BANKS-1:0] word_ready, word_valid;
  logic [31:0]      word [BANKS];
  logic [63:0]      beats_q [BANKS], bank_counter_q [BANKS];

  assign word_ready_o = word_ready[0];
  assign word_valid_o = word_valid[0];
  assign word_o       = word[0];

  for (genvar b = 0; b < BANKS; b++) begin : gen_bank
    logic                rst, reads_word, takes_word;
    logic [BANK_MEMORIES-1:0] bank_read_valid, bank_read_ready, bank_fill_valid, bank_fill_ready;
    logic [MISS_W-1:0]   bank_read_entry [BANK_MEMORIES];
    eline_t              bank_read_line  [BANK_MEMORIES];
    addresses_t          given, addresses; // addresses: at the reader
    from_reader_t        says, said;       // said: outside the memory system

    gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_reset (
      .clk_i, .data_i (rst_i), .data_o (rst)
    );

    assign given = '{base: base_i[b], edge_base: edge_base_i, word: word_address_i};

    gramer_slr_registers #(.WIDTH($bits(addresses_t)), .STAGES(SLR_REGISTERS)) i_addresses (
      .clk_i, .data_i (given), .data_o (addresses)
    );

    for (genvar m = 0; m < BANK_MEMORIES; m++) begin : gen_memory
      localparam int unsigned P = (m / 2) * BANKS + b;
      read_t bank_read;

      assign fill_valid[P][m % 2] = bank_fill_valid[m];
      assign bank_fill_ready[m]   = fill_ready[P][m % 2];
      assign bank_read_entry[m]   = bank_read.entry;
      assign bank_read_line[m]    = bank_read.line;

      // A memory requests at most as many lines as it has entries.
      if (SLR_REGISTERS == 0) begin : gen_near
        assign bank_read_valid[m]   = read_valid[P][m % 2];
        assign read_ready[P][m % 2] = bank_read_ready[m];
        assign bank_read            = read[P][m % 2];
      end else begin : gen_far
        logic  came;
        read_t line;

        assign read_ready[P][m % 2] = 1'b1;

        gramer_slr_registers #(.WIDTH(1 + $bits(read_t)), .STAGES(SLR_REGISTERS)) i_read (
          .clk_i, .data_i ({read_valid[P][m % 2], read[P][m % 2]}), .data_o ({came, line})
        );

        (* keep_hierarchy = "yes" *)
        gramer_fifo #(.WIDTH($bits(read_t)), .DEPTH(MISSES)) i_reads (
          .clk_i, .rst_i (rst),
          .push_i (came), .data_i (line), .full_o (),
          .pop_i (bank_read_valid[m] && bank_read_ready[m]), .valid_o (bank_read_valid[m]),
          .data_o (bank_read)
        );
      end
    end

    // The word: one read at a time.
    if (SLR_REGISTERS == 0) begin : gen_near
      assign reads_word    = word_valid_i && b == 0;
      assign word_ready[b] = takes_word;
    end else begin : gen_far
      logic came, some, unused;

      gramer_slr_registers #(.WIDTH(1), .STAGES(SLR_REGISTERS)) i_poll (
        .clk_i, .data_i (word_valid_i && b == 0), .data_o (came)
      );

      (* keep_hierarchy = "yes" *)
      gramer_fifo #(.WIDTH(1), .DEPTH(2)) i_polls (
        .clk_i, .rst_i (rst),
        .push_i (came), .data_i (1'b1), .full_o (),
        .pop_i (reads_word && takes_word), .valid_o (reads_word), .data_o (some)
      );

      assign word_ready[b] = 1'b1;
      assign unused        = some;
    end

    gramer_axi_reader #(.MEMORIES(BANK_MEMORIES)) i_reader (
      .clk_i, .rst_i (rst),
      .base_i (addresses.base), .edge_base_i (addresses.edge_base),
      .read_valid_i (bank_read_valid), .read_ready_o (bank_read_ready),
      .read_entry_i (bank_read_entry), .read_line_i (bank_read_line),
      .fill_valid_o (bank_fill_valid), .fill_ready_i (bank_fill_ready),
      .fill_entry_o (fill_entry[b]), .fill_line_o (fill_line[b]),
      .word_valid_i (reads_word), .word_ready_o (takes_word),
      .word_address_i (addresses.word), .word_valid_o (says.word_valid), .word_o (says.word),
      .arvalid_o (arvalid_o[b]), .arready_i (arready_i[b]),
      .araddr_o (araddr_o[b]), .arid_o (arid_o[b]),
      .rvalid_i (rvalid_i[b]), .rready_o (rready_o[b]),
      .rdata_i (rdata_i[b]), .rid_i (rid_i[b]), .rresp_i (rresp_i[b]),
      .beat_o (says.beat), .error_o (says.error), .error_address_o (says.error_address)
    );

    gramer_slr_registers #(.WIDTH($bits(from_reader_t)), .STAGES(SLR_REGISTERS)) i_out (
      .clk_i, .data_i (says), .data_o (said)
    );

    assign error_o[b]         = said.error;
    assign error_address_o[b] = said.error_address;
    assign word_valid[b]      = said.word_valid;
    assign word[b]            = said.word;
    assign bank_counter_o[b]  = bank_counter_q[b];

    always_ff @(posedge clk_i) begin
      if (control_i.clear) beats_q[b] <= '0;
      else if (said.beat) beats_q[b] <= beats_q[b] + 1'b1;
      bank_counter_q[b] <= beats_q[b];
    end
  end

endmodule

// Memory channels of a cluster: line n of the graph image lies in channel n mod COUNT, and each channel has a reader for
// its own partitions, so that as many lines are loaded in a cycle as there are channels. The abort word lies in
// channel 0.
module gramer_set_channels
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  parameter int unsigned COUNT = CHANNELS, // a power of two up to PARTITIONS
  localparam int unsigned AT_W  = $clog2(PARTITION_LINES),
  localparam int unsigned PARTS = PARTITIONS / COUNT, // partitions of a channel
  localparam int unsigned PART_W = AT_W + $clog2(PARTS) + 1,  // lines of a channel
  localparam int unsigned TOTAL_W = AT_W + $clog2(PARTITIONS) + 1
) (
  input  logic        clk_i,
  input  logic        rst_i,
  // Image
  input  logic        start_i, // pulse: read `lines_i` lines, a channel's from its `base_i` on
  input  logic        stop_i,  // read no more
  input  logic [TOTAL_W-1:0] lines_i,
  input  logic [63:0] base_i [COUNT],
  output logic [PARTITIONS-1:0] write_o,
  output logic [AT_W-1:0] write_at_o [COUNT], // partition p takes those of channel p mod COUNT
  output beat_t       write_line_o [COUNT],
  /// Contiguous lines loaded, from the first on; may exceed the image once all are.
  output logic [TOTAL_W-1:0] loaded_o,
  output logic        all_o,
  // A word in channel 0: at most one read outstanding
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  logic [63:0] word_address_i,
  output logic        word_valid_o,
  output logic [31:0] word_o,
  // AXI4 read channels
  output logic [COUNT-1:0]     arvalid_o,
  input  logic [COUNT-1:0]     arready_i,
  output logic [COUNT*64-1:0]  araddr_o,
  output logic [COUNT*8-1:0]   arlen_o,
  output logic [COUNT*8-1:0]   arid_o,
  input  logic [COUNT-1:0]     rvalid_i,
  output logic [COUNT-1:0]     rready_o,
  input  logic [COUNT*512-1:0] rdata_i,
  input  logic [COUNT*8-1:0]   rid_i,
  input  logic [COUNT*2-1:0]   rresp_i,
  // State and events
  output logic        busy_o,
  output logic [COUNT-1:0] beat_o,
  output logic        error_o,
  output logic [63:0] error_address_o // of the first channel with an error
);

  logic [COUNT-1:0] all, word_ready, word_valid, busy, error;
  logic [31:0] word [COUNT];
  logic [63:0] error_address [COUNT];
  logic [PART_W-1:0] part [COUNT], loaded [COUNT];

  for (genvar c = 0; c < COUNT; c++) begin : gen_channel
    logic [PARTS-1:0] write;

    // Lines c, c + COUNT, …
    assign part[c] = PART_W'((lines_i + TOTAL_W'(COUNT - 1 - c)) >> $clog2(COUNT));

    gramer_set_loader #(.PARTS(PARTS)) i_loader (
      .clk_i, .rst_i, .start_i, .stop_i,
      .lines_i (part[c]), .base_i (base_i[c]),
      .write_o (write), .write_at_o (write_at_o[c]), .write_line_o (write_line_o[c]),
      .loaded_o (loaded[c]), .all_o (all[c]),
      .word_valid_i (c == 0 && word_valid_i), .word_ready_o (word_ready[c]), .word_address_i,
      .word_valid_o (word_valid[c]), .word_o (word[c]),
      .arvalid_o (arvalid_o[c]), .arready_i (arready_i[c]), .araddr_o (araddr_o[c*64 +: 64]),
      .arlen_o (arlen_o[c*8 +: 8]), .arid_o (arid_o[c*8 +: 8]),
      .rvalid_i (rvalid_i[c]), .rready_o (rready_o[c]), .rdata_i (rdata_i[c*512 +: 512]),
      .rid_i (rid_i[c*8 +: 8]), .rresp_i (rresp_i[c*2 +: 2]),
      .busy_o (busy[c]), .beat_o (beat_o[c]),
      .error_o (error[c]), .error_address_o (error_address[c])
    );

    for (genvar p = 0; p < PARTS; p++) begin : gen_partition
      assign write_o[p*COUNT + c] = write[p];
    end
  end

  assign word_ready_o = word_ready[0];
  assign word_valid_o = word_valid[0];
  assign word_o       = word[0];

  if (COUNT == 1) begin : gen_one
    assign busy_o          = busy[0];
    assign loaded_o        = loaded[0];
    assign all_o           = all[0];
    assign error_o         = error[0];
    assign error_address_o = error_address[0];
  end else begin : gen_several
    // First line of each channel that has not been loaded, in the leaves; above them the least of two, a cycle later.
    logic [TOTAL_W-1:0] least_q [2*COUNT-1];
    logic               start_q, busy_q, all_q, error_q;
    logic [63:0]        first, error_address_q;

    for (genvar c = 0; c < COUNT; c++) begin : gen_leaf
      always_ff @(posedge clk_i)
        least_q[COUNT - 1 + c] <= rst_i || start_i || start_q ? '0
                                     : (TOTAL_W'(loaded[c]) << $clog2(COUNT)) + TOTAL_W'(c);
    end

    for (genvar n = 0; n < COUNT - 1; n++) begin : gen_least
      always_ff @(posedge clk_i)
        least_q[n] <= rst_i || start_i || start_q ? '0
                      : least_q[2*n+1] < least_q[2*n+2] ? least_q[2*n+1] : least_q[2*n+2];
    end

    always_comb begin
      first = error_address[COUNT - 1];
      for (int c = COUNT - 2; c >= 0; c--) if (error[c]) first = error_address[c];
    end

    always_ff @(posedge clk_i) begin
      start_q         <= start_i;
      busy_q          <= !rst_i && busy != '0;
      all_q           <= !rst_i && !start_i && !start_q && all == '1;
      error_q         <= !rst_i && error != '0;
      error_address_q <= first;
    end

    assign busy_o          = busy_q;
    assign loaded_o        = least_q[0];
    assign all_o           = all_q;
    assign error_o         = error_q;
    assign error_address_o = error_address_q;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert ((word_valid & ~COUNT'(1)) == '0 && (word_ready & ~COUNT'(1)) == '0)
      else $error("a word of another channel");
  end
`endif

endmodule

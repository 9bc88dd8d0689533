// AXI4 read master of a DDR bank: single beats of 64 bytes, many outstanding. Each memory has one id, and so has the
// abort word: responses of an id arrive in order, so a queue per memory holds the entries that they belong to. More
// ids gain nothing on a port of one DDR controller, which answers in order (UG1700).
//
// Line i of an array is in bank i mod BANKS, at line i / BANKS of the bank's part of the array.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_axi_reader
  import gramer_pkg::*;
  import gramer_types_pkg::*;
#(
  /// Memories that read from this bank; bit 0 of the index distinguishes edges from vertices.
  parameter int unsigned MEMORIES = 4,
  localparam int unsigned AXI_ID_W = $clog2(MEMORIES + 1) // one more for the abort word
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic [63:0] base_i,      // of the vertex lines
  input  logic [63:0] edge_base_i, // offset of the edge lines from base_i
  // Memories
  input  logic [MEMORIES-1:0] read_valid_i,
  output logic [MEMORIES-1:0] read_ready_o,
  input  logic [MISS_W-1:0]   read_entry_i [MEMORIES],
  input  eline_t              read_line_i  [MEMORIES],
  output logic [MEMORIES-1:0] fill_valid_o,
  input  logic [MEMORIES-1:0] fill_ready_i,
  output logic [MISS_W-1:0]   fill_entry_o,
  output line_t               fill_line_o,
  // A word anywhere in the bank: at most one read outstanding
  input  logic                word_valid_i,
  output logic                word_ready_o,
  input  logic [63:0]         word_address_i,
  output logic                word_valid_o,
  output logic [31:0]         word_o,
  // AXI4 read channels
  output logic                arvalid_o,
  input  logic                arready_i,
  output logic [63:0]         araddr_o,
  output logic [AXI_ID_W-1:0] arid_o,
  input  logic                rvalid_i,
  output logic                rready_o,
  input  line_t               rdata_i,
  input  logic [AXI_ID_W-1:0] rid_i,
  input  logic [1:0]          rresp_i,
  // Events
  output logic                beat_o,
  output logic                error_o,
  output logic [63:0]         error_address_o
);

  logic arvalid_q;
  logic [63:0] araddr_q;
  logic [AXI_ID_W-1:0] arid_q;

  assign arvalid_o = arvalid_q;
  assign araddr_o  = araddr_q;
  assign arid_o    = arid_q;

  logic                free, valid;
  logic [MEMORIES:0]   grant;
  logic [AXI_ID_W-1:0] index, from;
  logic [63:0]         address;

  assign free = !arvalid_q || arready_i;

  gramer_rr_arbiter #(.REQUESTS(MEMORIES + 1)) i_arbiter (
    .clk_i, .rst_i,
    .request_i ({word_valid_i, read_valid_i}), .take_i (free),
    .valid_o (valid), .grant_o (grant), .index_o (index)
  );

  localparam logic [AXI_ID_W-1:0] WORD = AXI_ID_W'(MEMORIES);

  logic [MISS_W-1:0] entry;

  assign read_ready_o = free ? grant[MEMORIES-1:0] : '0;
  assign word_ready_o = free && grant[MEMORIES];
  always_comb begin
    entry   = '0;
    address = {word_address_i[63:6], 6'b0};
    for (int m = 0; m < MEMORIES; m++) if (grant[m]) begin
      entry   = read_entry_i[m];
      address = base_i + (m % 2 == 1 ? edge_base_i : '0)
                + ((64'(read_line_i[m]) >> $clog2(BANKS)) << 6);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) arvalid_q <= 1'b0;
    else if (free) arvalid_q <= valid;
    if (free && valid) begin
      araddr_q <= address;
      arid_q   <= index;
    end
  end

  // ---------------------------------------------------------------- responses

  // A response waits in the skid buffer until its memory is ready.
  logic       answer, take;
  logic [1:0] response;

  gramer_skid #(.WIDTH(AXI_ID_W + 2 + LINE_W)) i_answers (
    .clk_i, .rst_i, .valid_i (rvalid_i), .ready_o (rready_o), .data_i ({rid_i, rresp_i, rdata_i}),
    .valid_o (answer), .ready_i (take), .data_o ({from, response, fill_line_o})
  );

  // Outstanding reads of each memory: its entry, and the address for the error report.
  logic [MISS_W-1:0] oldest_entry [MEMORIES];
  logic [63:0]       oldest_address [MEMORIES];

  for (genvar m = 0; m < MEMORIES; m++) begin : gen_memory
    gramer_fifo #(.WIDTH(MISS_W + 64), .DEPTH(1 << MISS_W)) i_under_way (
      .clk_i, .rst_i,
      .push_i (read_valid_i[m] && read_ready_o[m]), .data_i ({entry, address}), .full_o (),
      .pop_i (answer && take && from == AXI_ID_W'(m)), .valid_o (),
      .data_o ({oldest_entry[m], oldest_address[m]})
    );
  end

  always_comb begin
    fill_valid_o    = '0;
    fill_entry_o    = '0;
    take            = from == WORD;
    error_address_o = {word_address_i[63:6], 6'b0};
    for (int m = 0; m < MEMORIES; m++) if (from == AXI_ID_W'(m)) begin
      fill_valid_o[m] = answer;
      fill_entry_o    = oldest_entry[m];
      take            = fill_ready_i[m];
      error_address_o = oldest_address[m];
    end
  end

  assign word_valid_o = answer && from == WORD;
  assign word_o       = fill_line_o[32'(word_address_i[5:2])*32 +: 32];

  assign beat_o  = answer && take;
  assign error_o = beat_o && response != '0;

`ifndef SYNTHESIS
  logic        stalled_q;
  logic [63:0] waiting_araddr_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= !rst_i && arvalid_q && !arready_i;
    waiting_araddr_q <= araddr_q;
    if (!rst_i && stalled_q) begin
      assert (arvalid_q && araddr_q == waiting_araddr_q)
      else $error("an address changes while it waits");
    end
  end
`endif

endmodule

// AXI4 read master of a DDR bank: single beats of 64 bytes, many at a time, in any order. The id
// says which memory asked and for which of its entries:  { memory, entry }.
//
// Line i of an array is in bank i mod BANKS, at line i / BANKS of the bank's part of the array.
module gramer_axi_reader
  import gramer_pkg::*;
  import gramer_types_pkg::*;
#(
  /// Memories that read from this bank: bit 0 of the index tells edges from vertices.
  parameter int unsigned MEMORIES = 4,
  localparam int unsigned MEMORY_W = $clog2(MEMORIES + 1), // the word's reads are one more
  localparam int unsigned AXI_ID_W = MEMORY_W + MISS_W
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic [63:0] base_i,      // of the vertex lines
  input  logic [63:0] edge_base_i, // offset of the edge lines from there
  // Memories
  input  logic [MEMORIES-1:0] read_valid_i,
  output logic [MEMORIES-1:0] read_ready_o,
  input  logic [MISS_W-1:0]   read_entry_i [MEMORIES],
  input  eline_t              read_line_i  [MEMORIES],
  output logic [MEMORIES-1:0] fill_valid_o,
  input  logic [MEMORIES-1:0] fill_ready_i,
  output logic [MISS_W-1:0]   fill_entry_o,
  output line_t               fill_line_o,
  // A word somewhere in the bank: at most one read outstanding
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
  logic [MEMORY_W-1:0] index, from;
  logic [63:0]         address;
  // For the error report.
  (* ram_style = "distributed" *) logic [63:0] addresses [1 << AXI_ID_W];

  assign free = !arvalid_q || arready_i;

  gramer_rr_arbiter #(.REQUESTS(MEMORIES + 1)) i_arbiter (
    .clk_i, .rst_i,
    .request_i ({word_valid_i, read_valid_i}), .take_i (free),
    .valid_o (valid), .grant_o (grant), .index_o (index)
  );

  localparam logic [MEMORY_W-1:0] WORD = MEMORY_W'(MEMORIES);

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
      arid_q   <= {index, entry};
      addresses[{index, entry}] <= address;
    end
  end

  assign from         = rid_i[AXI_ID_W-1:MISS_W];
  assign fill_entry_o = rid_i[MISS_W-1:0];
  assign fill_line_o  = rdata_i;

  always_comb begin
    fill_valid_o = '0;
    rready_o     = from == WORD;
    for (int m = 0; m < MEMORIES; m++) if (from == MEMORY_W'(m)) begin
      fill_valid_o[m] = rvalid_i;
      rready_o        = fill_ready_i[m];
    end
  end

  assign word_valid_o = rvalid_i && from == WORD;
  assign word_o       = rdata_i[32'(word_address_i[5:2])*32 +: 32];

  assign beat_o          = rvalid_i && rready_o;
  assign error_o         = beat_o && rresp_i != '0;
  assign error_address_o = addresses[rid_i];

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

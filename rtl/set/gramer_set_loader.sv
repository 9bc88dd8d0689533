// Reader of one memory channel: loads its lines of the graph image at the start of a run, in ascending order, into the
// partitions of the channel, and reads the abort word. Image bursts end at 4 KiB boundaries and share one id, so
// responses are in order; the abort word has a separate id.
module gramer_set_loader
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  /// Maximum of outstanding lines, a power of two of at least two bursts; exceeds a bank's latency in cycles.
  parameter int unsigned READS = 256,
  /// Partitions of the channel: line n of it goes to the one of number n mod PARTS.
  parameter int unsigned PARTS = PARTITIONS,
  localparam int unsigned SHIFT = $clog2(PARTS),
  localparam int unsigned AT_W  = $clog2(PARTITION_LINES),
  localparam int unsigned TOTAL_W = AT_W + SHIFT + 1 // lines of the channel's largest part
) (
  input  logic        clk_i,
  input  logic        rst_i,
  // Image
  input  logic        start_i, // pulse: read `lines_i` lines starting at `base_i`
  input  logic        stop_i,  // read no more
  input  logic [TOTAL_W-1:0] lines_i,
  input  logic [63:0] base_i,
  output logic [PARTS-1:0] write_o,
  output logic [AT_W-1:0] write_at_o,
  output beat_t       write_line_o,
  output logic [TOTAL_W-1:0] loaded_o, // contiguous lines loaded, from the first on
  output logic        all_o,   // all lines are loaded
  // A word anywhere in the bank: at most one read outstanding
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  logic [63:0] word_address_i,
  output logic        word_valid_o,
  output logic [31:0] word_o,
  // AXI4 read channels
  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [63:0] araddr_o,
  output logic [7:0]  arlen_o,
  output logic [7:0]  arid_o,
  input  logic        rvalid_i,
  output logic        rready_o,
  input  beat_t       rdata_i,
  input  logic [7:0]  rid_i,
  input  logic [1:0]  rresp_i,
  // State and events
  output logic        busy_o,
  output logic        beat_o,
  output logic        error_o,
  output logic [63:0] error_address_o
);

  logic [PARTS-1:0] write_q;
  logic [AT_W-1:0] write_at_q;
  beat_t write_line_q;
  logic [TOTAL_W-1:0] loaded_q;
  logic all_q, word_valid_q, arvalid_q, beat_q, error_q;
  logic [31:0] word_q;
  logic [63:0] araddr_q, error_address_q;
  logic [7:0] arid_q, arlen_q;

  assign write_o         = write_q;
  assign write_at_o      = write_at_q;
  assign write_line_o    = write_line_q;
  assign loaded_o        = loaded_q;
  assign all_o           = all_q;
  assign word_valid_o    = word_valid_q;
  assign word_o          = word_q;
  assign arvalid_o       = arvalid_q;
  assign araddr_o        = araddr_q;
  assign arlen_o         = arlen_q;
  assign arid_o          = arid_q;
  assign beat_o          = beat_q;
  assign error_o         = error_q;
  assign error_address_o = error_address_q;

  localparam int unsigned LINE_BYTES = LINE_W / 8;
  localparam int unsigned READ_W  = $clog2(READS);
  localparam int unsigned BURST   = 4096 / LINE_BYTES; // lines of a page
  localparam int unsigned BURST_W = $clog2(BURST);
  localparam logic [7:0]  IMAGE_ID = 8'd0, WORD_ID = 8'd1;

  typedef logic [BURST_W:0] burst_t;

  // Next line to request; oldest outstanding line; the same one cycle ago; total.
  logic [TOTAL_W-1:0] next_q, oldest_q, there_q, lines_q;
  logic [TOTAL_W-1:0] left_q;   // lines yet to be requested
  logic [READ_W:0]    reads_q;  // outstanding lines
  burst_t             burst_q;  // lines of the next burst
  logic               some_q;   // a next burst exists
  logic               free, window, asks, arrives, is_word;
  logic [63:0]        address_q;

  /// Lines of a burst: the remaining ones, up to the end of the first line's page.
  function automatic burst_t burst(input logic [TOTAL_W-1:0] left, input logic [BURST_W-1:0] first);
    burst_t room;
    room = burst_t'(BURST) - {1'b0, first};
    return left < TOTAL_W'(room) ? burst_t'(left) : room;
  endfunction

  // ---------------------------------------------------------------- requests

  assign free         = !arvalid_q || arready_i;
  assign window       = reads_q <= (READ_W+1)'(READS - BURST);
  assign word_ready_o = free && word_valid_i;
  assign asks         = free && !word_valid_i && some_q && window && !stop_i;

  always_ff @(posedge clk_i) begin
    if (rst_i) arvalid_q <= 1'b0;
    else if (free) arvalid_q <= word_valid_i || asks;
    if (free) begin
      araddr_q <= word_valid_i ? {word_address_i[63:6], 6'b0} : address_q;
      arid_q   <= word_valid_i ? WORD_ID : IMAGE_ID;
      arlen_q  <= word_valid_i ? '0 : 8'(burst_q - 1'b1);
    end
    if (rst_i) begin
      next_q <= '0;
      left_q <= '0;
      some_q <= 1'b0;
    end else if (start_i) begin
      next_q    <= '0;
      left_q    <= lines_i;
      address_q <= base_i;
      burst_q   <= burst(lines_i, base_i[6 +: BURST_W]);
      some_q    <= lines_i != '0;
    end else if (stop_i) begin
      left_q    <= '0; // does not resume after the stop, until the next start
      some_q    <= 1'b0;
    end else if (asks) begin
      next_q    <= next_q + TOTAL_W'(burst_q);
      left_q    <= left_q - TOTAL_W'(burst_q);
      address_q <= address_q + (64'(burst_q) << $clog2(LINE_BYTES));
      some_q    <= 1'b0;
    end else if (!some_q) begin
      burst_q   <= burst(left_q, address_q[6 +: BURST_W]);
      some_q    <= left_q != '0;
    end
    if (start_i) lines_q <= lines_i;
  end

  // ---------------------------------------------------------------- responses

  assign rready_o = 1'b1;
  assign is_word  = rid_i == WORD_ID;
  assign arrives  = rvalid_i && !is_word;

  always_ff @(posedge clk_i) begin
    if (rst_i || start_i) begin
      oldest_q <= '0;
      there_q  <= '0;
      reads_q  <= '0;
    end else begin
      reads_q  <= reads_q + (asks ? (READ_W+1)'(burst_q) : '0) - (READ_W+1)'(arrives);
      oldest_q <= oldest_q + TOTAL_W'(arrives);
      there_q  <= oldest_q; // the line is written in this cycle
    end
    for (int p = 0; p < PARTS; p++)
      write_q[p] <= !rst_i && arrives && (oldest_q & TOTAL_W'(PARTS - 1)) == TOTAL_W'(p);
    write_at_q   <= AT_W'(oldest_q >> SHIFT);
    write_line_q <= rdata_i;
    word_valid_q <= !rst_i && rvalid_i && is_word;
    word_q       <= rdata_i[32'(word_address_i[5:2])*32 +: 32];
    beat_q       <= !rst_i && rvalid_i;
    error_q      <= !rst_i && rvalid_i && rresp_i != '0;
    error_address_q <= is_word ? {word_address_i[63:6], 6'b0}
                               : base_i + (64'(oldest_q) << $clog2(LINE_BYTES));
    loaded_q     <= there_q;
    all_q        <= !rst_i && !start_i && there_q == lines_q;
  end

  // After a stop, only outstanding lines are awaited.
  assign busy_o = next_q != there_q || (left_q != '0 && !stop_i) || arvalid_q || write_q != '0;

`ifndef SYNTHESIS
  logic        stalled_q;
  logic [63:0] waiting_araddr_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= !rst_i && arvalid_q && !arready_i;
    waiting_araddr_q <= araddr_q;
    if (!rst_i) begin
      assert (!(stalled_q && !(arvalid_q && araddr_q == waiting_araddr_q)))
        else $error("an address changes while it waits");
      assert (reads_q == (READ_W+1)'(next_q - oldest_q)) else $error("lines under way are lost");
      assert (!(start_i && next_q != oldest_q)) else $error("an image before the last one is there");
      assert (!(arrives && oldest_q == next_q)) else $error("a line that nobody asked for");
      assert (!(asks && 32'(address_q[11:6]) + 32'(burst_q) > BURST))
        else $error("a burst beyond its page");
      assert (!(asks && burst_q == '0)) else $error("a burst of no line");
    end
  end
`endif

endmodule

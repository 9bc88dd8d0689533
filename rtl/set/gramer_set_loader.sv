// Reads from the cluster's DDR bank: the graph image at the beginning of a run, in ascending order of lines,
// and the abort word. Single beats of 64 bytes, many at a time, answered in any order; the id of a read
// is the low bits of its line, and there are never more lines under way than ids.
module gramer_set_loader
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  /// Lines under way, a power of two up to 128. The ids above are the abort word's.
  parameter int unsigned READS = 128,
  localparam int unsigned SHIFT = $clog2(PARTITIONS),
  localparam int unsigned AT_W  = $clog2(PARTITION_LINES),
  localparam int unsigned TOTAL_W = AT_W + SHIFT + 1 // lines of the largest image
) (
  input  logic        clk_i,
  input  logic        rst_i,
  // Image
  input  logic        start_i, // pulse: read `lines_i` lines from `base_i` on
  input  logic        stop_i,  // read no more
  input  logic [TOTAL_W-1:0] lines_i,
  input  logic [63:0] base_i,
  output logic [PARTITIONS-1:0] write_o,
  output logic [AT_W-1:0] write_at_o,
  output beat_t       write_line_o,
  output logic [TOTAL_W-1:0] loaded_o, // lines from the first on that are there
  output logic        all_o,   // all of them are
  // A word somewhere in the bank: at most one read outstanding
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  logic [63:0] word_address_i,
  output logic        word_valid_o,
  output logic [31:0] word_o,
  // AXI4 read channels
  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [63:0] araddr_o,
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

  logic [PARTITIONS-1:0] write_q;
  logic [AT_W-1:0] write_at_q;
  beat_t write_line_q;
  logic [TOTAL_W-1:0] loaded_q;
  logic all_q, word_valid_q, arvalid_q, beat_q, error_q;
  logic [31:0] word_q;
  logic [63:0] araddr_q, error_address_q;
  logic [7:0] arid_q;

  assign write_o         = write_q;
  assign write_at_o      = write_at_q;
  assign write_line_o    = write_line_q;
  assign loaded_o        = loaded_q;
  assign all_o           = all_q;
  assign word_valid_o    = word_valid_q;
  assign word_o          = word_q;
  assign arvalid_o       = arvalid_q;
  assign araddr_o        = araddr_q;
  assign arid_o          = arid_q;
  assign beat_o          = beat_q;
  assign error_o         = error_q;
  assign error_address_o = error_address_q;

  localparam int unsigned LINE_BYTES = LINE_W / 8;
  localparam int unsigned READ_W = $clog2(READS);
  localparam logic [7:0]  WORD_ID = 8'(READS);

  logic [TOTAL_W-1:0] next_q, oldest_q, lines_q; // to be read; not there yet; all
  logic [TOTAL_W-1:0] left_q;   // lines to be read
  logic [READ_W:0]    reads_q;  // lines under way
  logic [READS-1:0]   came_q;   // of the lines under way
  logic               some_q;   // a line is to be read
  logic               free, window, asks, takes, arrives, is_word;
  logic [TOTAL_W-1:0] line;
  logic [63:0]        address_q;

  // ---------------------------------------------------------------- requests

  assign free         = !arvalid_q || arready_i;
  assign window       = !reads_q[READ_W];
  assign word_ready_o = free && word_valid_i;
  assign asks         = free && !word_valid_i && some_q && window && !stop_i;

  always_ff @(posedge clk_i) begin
    if (rst_i) arvalid_q <= 1'b0;
    else if (free) arvalid_q <= word_valid_i || asks;
    if (free) begin
      araddr_q <= word_valid_i ? {word_address_i[63:6], 6'b0} : address_q;
      arid_q   <= word_valid_i ? WORD_ID : 8'(next_q[READ_W-1:0]);
    end
    if (rst_i) begin
      next_q <= '0;
      some_q <= 1'b0;
    end else if (start_i) begin
      next_q    <= '0;
      some_q    <= lines_i != '0;
      left_q    <= lines_i;
      address_q <= base_i;
    end else if (stop_i) begin
      some_q    <= 1'b0; // not again when the stop is over, before the next start
    end else if (asks) begin
      next_q    <= next_q + 1'b1;
      left_q    <= left_q - 1'b1;
      some_q    <= left_q != TOTAL_W'(1);
      address_q <= address_q + 64'(LINE_BYTES);
    end
    if (start_i) lines_q <= lines_i;
  end

  // ---------------------------------------------------------------- answers

  assign rready_o = 1'b1;
  assign is_word  = rid_i == WORD_ID;
  assign arrives  = rvalid_i && !is_word;
  assign takes    = came_q[oldest_q[READ_W-1:0]];
  // The line under way that has the id's low bits.
  assign line     = oldest_q + TOTAL_W'(READ_W'(rid_i[READ_W-1:0] - oldest_q[READ_W-1:0]));

  always_ff @(posedge clk_i) begin
    if (rst_i || start_i) begin
      oldest_q <= '0;
      reads_q  <= '0;
      came_q   <= '0;
    end else begin
      reads_q <= reads_q + (READ_W+1)'(asks) - (READ_W+1)'(takes);
      if (takes) oldest_q <= oldest_q + 1'b1;
      if (takes || arrives) for (int r = 0; r < READS; r++)
        came_q[r] <= (came_q[r] && !(takes && oldest_q[READ_W-1:0] == READ_W'(r)))
                     || (arrives && rid_i[READ_W-1:0] == READ_W'(r));
    end
    for (int p = 0; p < PARTITIONS; p++)
      write_q[p] <= !rst_i && arrives && (line & TOTAL_W'(PARTITIONS - 1)) == TOTAL_W'(p);
    write_at_q   <= AT_W'(line >> SHIFT);
    write_line_q <= rdata_i;
    word_valid_q <= !rst_i && rvalid_i && is_word;
    word_q       <= rdata_i[32'(word_address_i[5:2])*32 +: 32];
    beat_q       <= !rst_i && rvalid_i;
    error_q      <= !rst_i && rvalid_i && rresp_i != '0;
    error_address_q <= is_word ? {word_address_i[63:6], 6'b0}
                               : base_i + (64'(line) << $clog2(LINE_BYTES));
    loaded_q     <= oldest_q;
    all_q        <= !rst_i && !start_i && oldest_q == lines_q;
  end

  // After a stop only what is under way is waited for.
  assign busy_o = next_q != oldest_q || (some_q && !stop_i) || arvalid_q || write_q != '0;

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
      assert (!(arrives && line >= next_q)) else $error("a line that nobody asked for");
    end
  end
`endif

endmodule

// Memory of a partition, with two ports: one reads or writes, the other reads. A column of UltraRAM has 72 bits, and
// lines aren't multiples of it: the bits above the last whole column lie in block RAM, where they take fewer blocks.
// NARROW leaves out further columns, so that a cluster has as many UltraRAMs as its region of a card has room for.
// The data of a port stay until its next read.
module gramer_set_partition_memory
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  parameter int unsigned NARROW = 0, // columns left out
  localparam int unsigned AT_W = $clog2(PARTITION_LINES)
) (
  input  logic              clk_i,
  input  logic              write_i, // by port 0, which then doesn't read
  input  line_t             line_i,
  input  logic  [PORTS-1:0] read_i,
  input  logic  [PORTS-1:0][AT_W-1:0] at_i,
  output line_t [PORTS-1:0] line_o // in the next cycle
);

  // Block RAM with 4,096 or more words has words of nine bits (RAMB36 as 4K x 9) or of four (8K x 4).
  localparam int unsigned COLUMN_W = 72;
  localparam int unsigned NINE     = 9;
  localparam int unsigned FOUR     = 4;
  localparam int unsigned BITS     = $bits(line_t);
  localparam int unsigned COLUMNS  = BITS / COLUMN_W > NARROW ? BITS / COLUMN_W - NARROW : 0;
  localparam int unsigned ULTRA_W  = COLUMNS * COLUMN_W;
  localparam int unsigned BLOCK_W  = BITS - ULTRA_W;
  localparam int unsigned FEW_W    = BLOCK_W % NINE <= FOUR ? BLOCK_W % NINE : 0;
  localparam int unsigned WORDS_W  = BLOCK_W - FEW_W;

  if (ULTRA_W != 0) begin : gen_ultra
    (* ram_style = "ultra" *) logic [ULTRA_W-1:0] columns [PARTITION_LINES];
    logic [PORTS-1:0][ULTRA_W-1:0] read_q;

    always_ff @(posedge clk_i) begin
      if (write_i) columns[at_i[0]] <= line_i[ULTRA_W-1:0];
      else if (read_i[0]) read_q[0] <= columns[at_i[0]];
    end

    for (genvar o = 1; o < PORTS; o++) begin : gen_second
      always_ff @(posedge clk_i) if (read_i[o]) read_q[o] <= columns[at_i[o]];
    end

    for (genvar o = 0; o < PORTS; o++) begin : gen_port
      assign line_o[o][ULTRA_W-1:0] = read_q[o];
    end
  end

  // Words of nine bits, then the few bits above them.
  for (genvar b = 0; b < 2; b++) begin : gen_block
    localparam int unsigned W  = b == 0 ? WORDS_W : FEW_W;
    localparam int unsigned AT = b == 0 ? ULTRA_W : ULTRA_W + WORDS_W;

    if (W != 0) begin : gen_memory
      (* ram_style = "block" *) logic [W-1:0] words [PARTITION_LINES];
      logic [PORTS-1:0][W-1:0] read_q;

      always_ff @(posedge clk_i) begin
        if (write_i) words[at_i[0]] <= line_i[AT +: W];
        else if (read_i[0]) read_q[0] <= words[at_i[0]];
      end

      for (genvar o = 1; o < PORTS; o++) begin : gen_second
        always_ff @(posedge clk_i) if (read_i[o]) read_q[o] <= words[at_i[o]];
      end

      for (genvar o = 0; o < PORTS; o++) begin : gen_port
        assign line_o[o][AT +: W] = read_q[o];
      end
    end
  end

endmodule

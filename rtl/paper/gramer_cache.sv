// Storage of the low-priority memory: tags, reference stamps and lines of a four-way cache. The controller
// (gramer_onchip_memory) decides all reads and writes. Block RAM: tags and lines are read in one cycle.
module gramer_cache
  import gramer_pkg::*;
  import gramer_types_pkg::*;
#(
  /// Sets, a power of two.
  parameter int unsigned SETS = 4,
  /// Bits of a line's address in this partition.
  parameter int unsigned LOCAL_W = 8,
  localparam int unsigned SET_W = SETS > 1 ? $clog2(SETS) : 1
) (
  input  logic               clk_i,
  // Before a run: invalidate a set
  input  logic               forget_i,
  input  logic [SET_W-1:0]   forget_set_i,
  // Look up a set
  input  logic               look_i,
  input  logic [SET_W-1:0]   look_set_i,
  output logic [3:0]         valid_o,
  output logic [LOCAL_W-1:0] tag_o   [4],
  output id_t                rank_o  [4],
  output weight_t            weight_o [4],
  // Record a reference to a way, or fill it
  input  logic               refer_i,
  input  logic               fill_i,
  input  logic [SET_W-1:0]   set_i,
  input  logic [1:0]         way_i,
  input  weight_t            weight_i,
  input  logic [LOCAL_W-1:0] tag_i,
  input  id_t                rank_i,
  input  line_t              line_i,
  // Age the weights of the set that was looked up in the last cycle
  input  logic               age_i,
  input  logic [SET_W-1:0]   age_set_i,
  // Read a line (not while filling)
  input  logic               read_i,
  output line_t              line_o
);

  line_t line_q;

  assign line_o = line_q;

  wire [SET_W-1:0] weigh_set = age_i ? age_set_i : set_i;

  for (genvar w = 0; w < 4; w++) begin : gen_way
    (* ram_style = "block" *) logic               valid_mem [SETS];
    (* ram_style = "block" *) logic [LOCAL_W-1:0] tag_mem   [SETS];
    (* ram_style = "block" *) id_t                rank_mem  [SETS];
    (* ram_style = "block" *) weight_t            weight_mem [SETS];

    logic               valid_q;
    logic [LOCAL_W-1:0] tag_q;
    id_t                rank_q;
    weight_t            weight_q;

    assign valid_o[w]  = valid_q;
    assign tag_o[w]    = tag_q;
    assign rank_o[w]   = rank_q;
    assign weight_o[w] = weight_q;

    always_ff @(posedge clk_i) begin
      if (forget_i) valid_mem[forget_set_i] <= 1'b0;
      else if (fill_i && way_i == 2'(w)) valid_mem[set_i] <= 1'b1;
      if (fill_i && way_i == 2'(w)) begin
        tag_mem[set_i]  <= tag_i;
        rank_mem[set_i] <= rank_i;
      end
      if (age_i || ((fill_i || refer_i) && way_i == 2'(w)))
        weight_mem[weigh_set] <= age_i ? aged(weight_q) : weight_i;
      if (look_i) begin
        valid_q  <= valid_mem[look_set_i];
        tag_q    <= tag_mem[look_set_i];
        rank_q   <= rank_mem[look_set_i];
        weight_q <= weight_mem[look_set_i];
      end
    end
  end

  (* ram_style = "block" *) line_t lines [SETS*4];

  wire [SET_W+1:0] at = {set_i, way_i};

  always_ff @(posedge clk_i) begin
    if (fill_i) lines[at] <= line_i;
    if (read_i) line_q <= lines[at];
  end

endmodule

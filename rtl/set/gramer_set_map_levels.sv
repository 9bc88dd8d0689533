// Allocates the levels of the map's roots: each lies above all values that counters of earlier roots can reach. When
// the levels are exhausted, and after a reset, the banks are cleared, one word per cycle, once nothing is in
// flight; no access starts meanwhile.
module gramer_set_map_levels
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
#(
  localparam int unsigned WORD_AT_W = $clog2(MAP_WORDS)
) (
  input  logic     clk_i,
  input  logic     rst_i,
  // A line waits; it starts a root if none is in progress
  input  logic     valid_i,
  input  logic     counts_i,
  input  line_at_t block_last_i, // the last line of its block
  // Accesses of the banks
  input  logic     go_i,
  input  logic     fresh_i,      // a tagged list starts
  input  logic     row_i,        // a row is looked up
  input  logic     root_ends_i,
  output logic     rooted_o,     // a root is in progress
  output logic     root_o,       // toggles with each root
  output level_t   level_o,
  output level_t   tag_o,        // above the level, one per tagged list
  // A word is cleared
  output logic     clears_o,
  output logic [WORD_AT_W-1:0] clear_at_o,
  // State
  output logic     on_o,         // clock enable: an access is in flight, or clearing
  output logic     busy_o        // an access is in flight
);

  // Range of a level plus the entries of a block.
  localparam int unsigned REACH_W   = (LINE_AT_W + 4 > LEVEL_W ? LINE_AT_W + 4 : LEVEL_W) + 1;
  localparam int unsigned CLEAR_WAY = 6;  // cycles from the last cleared word to its write
  localparam int unsigned DRAIN     = 20; // cycles until a line's last effect

  typedef logic [REACH_W-1:0] reach_t;

  logic       begins, fits, clearing_q, rooted_q, root_q, on_q;
  level_t     level_q, tag_q;
  reach_t     reach_q, next_reach; // the level after the current root's
  logic [WORD_AT_W:0] clear_at_q;  // beyond the last word: waiting for its write
  logic [4:0] drain_q;             // cycles until nothing is in flight

  assign clears_o   = clearing_q && drain_q == '0 && !clear_at_q[WORD_AT_W];
  assign clear_at_o = clear_at_q[WORD_AT_W-1:0];
  assign begins     = valid_i && !rooted_q;
  // A machine without noted ends has no tags.
  assign tag_o      = REACHED != 0 ? tag_q + level_t'(fresh_i) : level_q;
  assign rooted_o   = rooted_q;
  assign root_o     = root_q;
  assign level_o    = level_q;
  assign on_o       = on_q;
  assign busy_o     = drain_q != '0 && !clearing_q;
  // A counter grows by at most the number of entries in the root's block.
  assign next_reach = reach_q + 1'b1 + (counts_i ? REACH_W'({block_last_i, 4'hf}) + 1'b1 : '0);
  assign fits       = next_reach >> LEVEL_W == '0;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      clearing_q <= 1'b1;
      clear_at_q <= '0;
      rooted_q   <= 1'b0;
      reach_q    <= REACH_W'(1);
      drain_q    <= 5'(DRAIN);
      on_q       <= 1'b1;
    end else begin
      on_q    <= clearing_q || go_i || row_i || drain_q > 5'd1;
      drain_q <= go_i || row_i ? 5'(DRAIN) : drain_q != '0 ? drain_q - 1'b1 : '0;
      if (clearing_q) begin
        if (drain_q == '0) begin
          clear_at_q <= clear_at_q + 1'b1;
          if (clear_at_q == (WORD_AT_W+1)'(MAP_WORDS + CLEAR_WAY)) begin
            clearing_q <= 1'b0;
            reach_q    <= REACH_W'(1);
          end
        end else clear_at_q <= '0;
      end else if (begins) begin
        if (fits) begin
          rooted_q <= 1'b1;
          reach_q  <= next_reach;
        end else clearing_q <= 1'b1;
      end else if (root_ends_i) rooted_q <= 1'b0;
    end
    if (begins && fits && !clearing_q) begin
      level_q <= level_t'(reach_q);
      root_q  <= !root_q;
      tag_q   <= level_t'(reach_q);
    end else if (go_i) tag_q <= tag_o;
    if (rst_i) root_q <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i)
    assert (!(clearing_q && reach_q == REACH_W'(1) && begins && !fits && drain_q == '0))
      else $error("a block with more entries than a counter has levels");
`endif

endmodule

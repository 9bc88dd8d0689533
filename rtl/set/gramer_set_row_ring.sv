// Ring allocator of the row memory: roots take words and a place in order, and return them in the same order. Room is
// known in the cycle of allocation: it is computed one cycle early, for the current root and, if that leaves, for
// the next one.
//
//   room_o ─► take_i (with wants_i) ─► … steps … ─► done_i ─► … ─► freed_i
module gramer_set_row_ring
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_i,
  // Current root
  input  logic              wants_i, // it needs words and has not taken them
  input  logic [ROW_AT_W:0] words_i, // number of words
  input  logic              take_i,  // only with wants_i and room_o
  input  logic              done_i,  // it leaves with words taken: the next root's follow them
  output logic              room_o,
  output row_at_t           base_o,  // its first word
  output place_t            place_o,
  // Root of the next cycle, if the current one needs nothing or takes it now
  input  logic              next_i,
  input  logic [ROW_AT_W:0] next_words_i,
  // The oldest root leaves
  input  logic              freed_i,
  input  logic [ROW_AT_W:0] freed_words_i
);

  localparam int unsigned WANTED_W = ROW_AT_W + 2;

  logic [ROW_AT_W:0]   free_q;
  logic [PLACE_W:0]    places_q; // free places
  logic [WANTED_W-1:0] wanted;
  logic                stays, comes;

  always_comb begin
    stays  = free_q >= words_i && places_q != '0;
    wanted = WANTED_W'(next_words_i) + (wants_i ? WANTED_W'(words_i) : '0);
    comes  = WANTED_W'(free_q) >= wanted && places_q > (PLACE_W+1)'(wants_i);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      room_o   <= 1'b0;
      free_q   <= (ROW_AT_W+1)'(ROW_WORDS);
      places_q <= (PLACE_W+1)'(PLACES);
      base_o   <= '0;
      place_o  <= '0;
    end else begin
      room_o   <= next_i ? comes : stays;
      free_q   <= free_q - (take_i ? words_i : '0) + (freed_i ? freed_words_i : '0);
      places_q <= places_q - (PLACE_W+1)'(take_i) + (PLACE_W+1)'(freed_i);
      if (done_i) begin
        base_o  <= base_o + row_at_t'(words_i);
        place_o <= place_o + 1'b1;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (free_q <= (ROW_AT_W+1)'(ROW_WORDS)) else $error("more rows freed than reserved");
    assert (places_q <= (PLACE_W+1)'(PLACES)) else $error("a root freed twice");
    assert (!(take_i && !(wants_i && room_o))) else $error("rows without room");
    assert (!(take_i && (free_q < words_i || places_q == '0))) else $error("room that isn't there");
    assert (!(next_i && wants_i && !take_i)) else $error("a root goes without its rows");
  end
`endif

endmodule

// Roots take words of the row memory one after another and leave in the same order: no word and no
// place belongs to two of them, and a root that fits into what is free gets its room.
module set_row_ring_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic              clk_i,
  input logic              wants_i,     // the root that comes wants words
  input logic [ROW_AT_W:0] words_i,     // their number
  input logic              take_i,      // the root in hand takes them if it may
  input logic              go_i,        // it goes if it may
  input logic              freed_i      // the oldest root leaves
);
  logic started_q = 1'b0;

  // The root in hand, and those that have words, the oldest first.
  logic              wants_q, has_q;
  logic [ROW_AT_W:0] words_q;
  row_at_t           base_q;       // where they were when it took them
  place_t            place_q;
  logic [ROW_AT_W:0] live_q [PLACES];
  logic [PLACE_W:0]  count_q;      // of them, the one in hand too
  row_at_t           oldest_q;     // where the oldest one's words begin
  place_t            oldest_place_q;
  logic              waited_q, fits_q, was_full_q, wrapped_q;

  logic              room, take, done, next;
  row_at_t           base;
  place_t            place;
  logic [ROW_AT_W+PLACE_W:0] sum;

  assign take = take_i && wants_q && room;
  assign done = go_i && (has_q || take);
  assign next = go_i && (!wants_q || take);

  gramer_set_row_ring dut (
    .clk_i, .rst_i (!started_q),
    .wants_i (wants_q), .words_i (words_q), .take_i (take), .done_i (done),
    .room_o (room), .base_o (base), .place_o (place),
    .next_i (next), .next_words_i (words_i),
    .freed_i, .freed_words_i (live_q[0])
  );

  always_comb begin
    sum = '0;
    for (int p = 0; p < PLACES; p++)
      if ((PLACE_W+1)'(p) < count_q) sum += (ROW_AT_W+PLACE_W+1)'(live_q[p]);
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      wants_q <= 1'b0;
      has_q   <= 1'b0;
      words_q <= '0;
      count_q <= '0;
      for (int p = 0; p < PLACES; p++) live_q[p] <= '0;
      oldest_q       <= '0;
      oldest_place_q <= '0;
      waited_q   <= 1'b0;
      fits_q     <= 1'b0;
      was_full_q <= 1'b0;
      wrapped_q  <= 1'b0;
    end else begin
      if (take) begin
        base_q  <= base;
        place_q <= place;
      end
      if (next) begin
        wants_q <= wants_i;
        has_q   <= 1'b0;
        words_q <= words_i;
      end else if (take) begin
        wants_q <= 1'b0;
        has_q   <= 1'b1;
      end
      for (int p = 0; p < PLACES; p++) begin
        if (freed_i && p + 1 < PLACES) live_q[p] <= live_q[(p + 1) % PLACES];
        if (take && (PLACE_W+1)'(p) == count_q - (PLACE_W+1)'(freed_i)) live_q[p] <= words_q;
      end
      count_q <= count_q + (PLACE_W+1)'(take) - (PLACE_W+1)'(freed_i);
      if (freed_i) begin
        oldest_q       <= oldest_q + row_at_t'(live_q[0]);
        oldest_place_q <= oldest_place_q + 1'b1;
      end
      // A root in hand that has waited a cycle with enough words and places free.
      waited_q <= wants_q && !take;
      fits_q   <= wants_q && !take && sum + (ROW_AT_W+PLACE_W+1)'(words_q) <= (ROW_AT_W+PLACE_W+1)'(ROW_WORDS)
                  && count_q < (PLACE_W+1)'(PLACES);
      if (count_q == (PLACE_W+1)'(PLACES)) was_full_q <= 1'b1;
      if (take && {1'b0, base} + words_q > (ROW_AT_W+1)'(ROW_WORDS)) wrapped_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      // What callers owe: a root wants at most what there is, and leaves once, when it is no longer in hand.
      assume (words_i != '0 && words_i <= (ROW_AT_W+1)'(ROW_WORDS));
      assume (!(freed_i && count_q <= (PLACE_W+1)'(has_q)));
      // Required of the ring: free words behind those of earlier roots, and a free place.
      if (take) begin
        assert (sum + (ROW_AT_W+PLACE_W+1)'(words_q) <= (ROW_AT_W+PLACE_W+1)'(ROW_WORDS));
        assert (count_q < (PLACE_W+1)'(PLACES));
        assert (base == row_at_t'(oldest_q + row_at_t'(sum)));
        assert (place == place_t'(oldest_place_q + place_t'(count_q)));
      end
      if (has_q) assert (base == base_q && place == place_q); // while the root is held
      if (waited_q && fits_q) assert (room);
`ifdef INVARIANTS
      assert (count_q <= (PLACE_W+1)'(PLACES));
      assert (!(wants_q && has_q) && !(has_q && count_q == '0));
      assert (sum <= (ROW_AT_W+PLACE_W+1)'(ROW_WORDS));
      assert ((ROW_AT_W+PLACE_W+1)'(dut.free_q) + sum == (ROW_AT_W+PLACE_W+1)'(ROW_WORDS));
      assert (dut.places_q + count_q == (PLACE_W+1)'(PLACES));
      assert (words_q <= (ROW_AT_W+1)'(ROW_WORDS));
      if (has_q) begin
        assert (live_q[place_t'(count_q - 1'b1)] == words_q);
        assert (row_at_t'(base + row_at_t'(words_q)) == row_at_t'(oldest_q + row_at_t'(sum)));
        assert (place_t'(place + 1'b1) == place_t'(oldest_place_q + place_t'(count_q)));
      end else begin
        assert (base == row_at_t'(oldest_q + row_at_t'(sum)));
        assert (place == place_t'(oldest_place_q + place_t'(count_q)));
      end
      if (wants_q && room) begin
        assert (dut.free_q >= words_q && dut.places_q != '0);
      end
      if (fits_q) assert (room && wants_q);
`endif
      cover (was_full_q && count_q == '0);
      cover (wrapped_q && count_q == (PLACE_W+1)'(3));
      cover (take && next && freed_i && wants_i);
    end
  end
endmodule

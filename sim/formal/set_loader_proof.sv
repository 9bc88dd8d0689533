// The set core's AXI4 read master (IHI0022, A3): an address stays until it is taken; bursts follow each other from the
// first line to the last, none beyond its page, no more under way than there may be; each line is written once, to its
// place, with the data that came for it; an answer that is not OKAY is an error with its address. While lines are left and
// there is room for a burst, the address of the next one is on offer within two cycles. Pages have two lines of eight
// bytes, and addresses ten bits here. One arbitrary line is followed, through one run.
module set_loader_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic        clk_i,
  input logic        start_i,
  input logic        stop_i,
  input logic [3:0]  lines_i,   // always the same, as those below
  input logic [6:0]  base_i,
  input logic [7:0]  word_i,
  input logic        word_valid_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input beat_t       rdata_i,
  input logic        rid_i,
  input logic [1:0]  rresp_i,
  input logic [2:0]  watched_i  // an arbitrary line, always the same
);
  localparam int unsigned READS = 4;

  logic [1:0]  resets_q = '0; // registers without reset are driven by ones with reset
  logic        ran_q, asked_word_q;
  wire         started_q = resets_q == 2'd2;
  logic [3:0]  lines_q;
  logic [6:0]  base_q;
  logic [7:0]  word_q;
  logic [2:0]  watched_q;
  wire  [9:0]  base = {base_i, 3'b0}, word_address = {word_i, 2'b0};

  logic [PARTITIONS-1:0] write;
  logic [1:0]  write_at;
  beat_t       write_line;
  logic [3:0]  loaded;
  logic        all, word_ready, word_valid, arvalid, rready, busy, beat, error;
  logic [31:0] word;
  logic [9:0]  araddr, error_address;
  logic [7:0]  arlen, arid;

  gramer_set_loader #(.READS(READS)) dut (
    .clk_i, .rst_i (!started_q), .start_i, .stop_i, .lines_i, .base_i (base),
    .write_o (write), .write_at_o (write_at), .write_line_o (write_line), .loaded_o (loaded), .all_o (all),
    .word_valid_i, .word_ready_o (word_ready), .word_address_i (word_address),
    .word_valid_o (word_valid), .word_o (word),
    .arvalid_o (arvalid), .arready_i, .araddr_o (araddr), .arlen_o (arlen), .arid_o (arid),
    .rvalid_i, .rready_o (rready), .rdata_i, .rid_i ({7'b0, rid_i}), .rresp_i,
    .busy_o (busy), .beat_o (beat), .error_o (error), .error_address_o (error_address)
  );

  logic        ar_waits_q, r_waits_q;
  logic [9:0]  waiting_araddr_q, came_address_q;
  logic [7:0]  waiting_arlen_q, waiting_arid_q;
  logic [3:0]  asked_q, came_q;             // lines of addresses that were taken; that came
  logic        word_bus_q;                  // the word's address was taken, and it has not come
  logic        came_line_q, came_word_q, bad_q, seen_q, full_q;
  logic [3:0]  came_at_q;
  beat_t       came_data_q, seen_data_q, waiting_data_q;
  logic        waiting_rid_q;
  logic        stopped_q;
  logic [1:0]  waited_q;                    // cycles in which the next burst could have been on offer
  logic [1:0]  waiting_rresp_q;

  wire asks    = arvalid && arready_i;
  wire arrives = rvalid_i && rready;
  wire waits   = ran_q && !stopped_q && !stop_i && !word_valid_i && !arvalid && asked_q < lines_i
                 && asked_q - came_q <= 4'(READS - 2);

  always_ff @(posedge clk_i) begin
    if (!started_q) resets_q <= resets_q + 2'd1;
    lines_q   <= lines_i;
    base_q    <= base_i;
    word_q    <= word_i;
    watched_q <= watched_i;
    ar_waits_q <= started_q && arvalid && !arready_i;
    r_waits_q  <= started_q && rvalid_i && !rready;
    {waiting_araddr_q, waiting_arlen_q, waiting_arid_q} <= {araddr, arlen, arid};
    {waiting_data_q, waiting_rid_q, waiting_rresp_q} <= {rdata_i, rid_i, rresp_i};
    came_line_q    <= started_q && arrives && !rid_i;
    came_word_q    <= started_q && arrives && rid_i;
    came_at_q      <= came_q;
    came_data_q    <= rdata_i;
    came_address_q <= rid_i ? {word_address[9:3], 3'b0} : base + (10'(came_q) << 3);
    bad_q          <= started_q && arrives && rresp_i != '0;
    if (!started_q) begin
      ran_q        <= 1'b0;
      asked_q      <= '0;
      came_q       <= '0;
      word_bus_q   <= 1'b0;
      asked_word_q <= 1'b0;
      seen_q       <= 1'b0;
      full_q       <= 1'b0;
      stopped_q    <= 1'b0;
      waited_q     <= '0;
    end else begin
      if (start_i) ran_q <= 1'b1;
      if (stop_i) stopped_q <= 1'b1;
      waited_q <= waits ? waited_q + 2'd1 : '0;
      if (asks && arid == '0) asked_q <= asked_q + 4'(arlen) + 4'd1;
      if (arrives && !rid_i) came_q <= came_q + 4'd1;
      if (asks && arid != '0) word_bus_q <= 1'b1;
      else if (arrives && rid_i) word_bus_q <= 1'b0;
      asked_word_q <= (word_valid_i && word_ready) || (asked_word_q && !word_valid);
      if (came_line_q && came_at_q == {1'b0, watched_i}) begin
        seen_q      <= 1'b1;
        seen_data_q <= came_data_q;
      end
      if (asked_q - came_q == 4'(READS)) full_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      assume (lines_i == lines_q && base_i == base_q && word_i == word_q && watched_i == watched_q);
      assume (lines_i <= 4'(PARTITIONS * PARTITION_LINES));
      assume (!(start_i && ran_q) && !(stop_i && !ran_q));
      if (asked_word_q) assume (!word_valid_i);
      // What the bus owes: answers for addresses that it took; those that wait stay.
      if (rvalid_i) assume (rid_i ? word_bus_q : asked_q != came_q);
      if (r_waits_q)
        assume (rvalid_i && rdata_i == waiting_data_q && rid_i == waiting_rid_q && rresp_i == waiting_rresp_q);

      // Addresses.
      if (ar_waits_q)
        assert (arvalid && araddr == waiting_araddr_q && arlen == waiting_arlen_q && arid == waiting_arid_q);
      if (arvalid && arid == '0) begin
        assert (ran_q && araddr == base + (10'(asked_q) << 3));
        assert (arlen < 8'd2 && 8'(araddr[3]) + arlen < 8'd2);
        assert (asked_q + 4'(arlen) + 4'd1 <= lines_i);
      end
      if (arvalid && arid != '0)
        assert (arid == 8'd1 && arlen == '0 && araddr == {word_address[9:3], 3'b0});
      assert (asked_q - came_q <= 4'(READS));
      assert (!(arvalid && arid != '0 && word_bus_q));
      // Answers.
      assert (beat == (came_line_q || came_word_q));
      assert (error == bad_q);
      if (error) assert (error_address == came_address_q);
      assert (word_valid == came_word_q);
      if (came_word_q) assert (word == came_data_q[32'(word_address[2])*32 +: 32]);
      assert (write == (came_line_q ? PARTITIONS'(1) << came_at_q[0] : '0));
      if (came_line_q) assert (write_at == came_at_q[2:1] && write_line == came_data_q);
      if (came_line_q && came_at_q == {1'b0, watched_i}) assert (!seen_q);
      assert (loaded <= came_q);
      if (loaded > {1'b0, watched_i}) assert (seen_q);
      if (all && ran_q && !stop_i && !start_i) assert (loaded == lines_i);
      assert (!(waits && waited_q == 2'd2));
`ifdef INVARIANTS
      assert (asked_q <= 4'(PARTITIONS * PARTITION_LINES) && came_q <= asked_q);
      assert (dut.oldest_q == came_q && dut.reads_q == 4'(dut.next_q - dut.oldest_q));
      assert (dut.next_q == asked_q + (arvalid && arid == '0 ? 4'(arlen) + 4'd1 : '0));
      assert (dut.reads_q <= READS);
      // Lines that came and were written.
      assert (came_q == came_at_q + 4'(came_line_q));
      assert (dut.there_q == came_at_q && loaded <= dut.there_q);
      assert (seen_q == (dut.there_q > {1'b0, watched_i}));
      assert (!(came_line_q && came_word_q));
      // Of the word: waiting for the bus, on it, or here.
      assert (2'(arvalid && arid != '0) + 2'(word_bus_q) + 2'(came_word_q) == 2'(asked_word_q));
      if (!ran_q) begin
        assert (asked_q == '0 && dut.next_q == '0 && dut.left_q == '0 && !dut.some_q && !stopped_q);
      end else begin
        assert (dut.lines_q == lines_i && dut.address_q == base + (10'(dut.next_q) << 3));
        assert (stopped_q ? dut.left_q == '0 : dut.left_q == 4'(lines_i - dut.next_q));
        assert (dut.next_q <= lines_i);
        if (all) assert (loaded == lines_i);
      end
      if (dut.some_q) begin
        assert (dut.left_q != '0);
        assert (dut.burst_q == (dut.left_q == 4'd1 || dut.address_q[3] ? 2'd1 : 2'd2));
      end
      if (waited_q != '0) assert (dut.some_q || arvalid || stopped_q);
`endif
      cover (full_q && asked_q == came_q && all && ran_q && lines_i == 4'd5);
      cover (error && came_word_q && asked_q != came_q);
    end
  end
endmodule
